"""An investigation with only gcdumpc mcp: from the list of processes and the dump to the type and its holder, for leaks planted in a shop.

It uses only tools and knows no answer about the shop beforehand: each question follows from the previous answer.
"""
import os
import re
import subprocess

from live_support import PROGRAM, SECONDS, LiveTest, main
from mcp_client import Client
from planted_runs import each

MOST_CHARACTERS = 20_000
# What leaks, and what holds it.
LEAKS = {
    "concurrent-dictionary": ("UserSession", "SessionStore"),
    "static-list": ("Order", "OrderArchive"),
    "event": ("PriceListener", "PriceFeed"),
    "timer": ("PollJob", "timers"),
    "linked-list": ("Customer", "RecentlySeen"),
}


class Investigation:
    """What a client does that knows only the answers."""

    def __init__(self, client, pid):
        self.client = client
        self.steps = []
        found = client.all("list_processes", "processes", limit=200)
        assert pid in [p["pid"] for p in found], found
        asked = client.call("collect", pid=pid, file=f"{pid}.nettrace.gz")
        assert not asked["dumped"] and asked["expected_pause_ms"] > 0 and "confirm" in asked["next"], asked
        self.dumped = client.call("collect", pid=pid, file=f"{pid}.nettrace.gz", confirm=True)
        assert self.dumped["dumped"] and self.dumped["pause_ms"] is not None, self.dumped
        client.characters = 0            # from here on, the investigation
        self.words = ""
        self.look()

    def look(self):
        summary = self.client.call("summary")
        assert summary["complete"], summary
        suspects = self.client.call("suspects", limit=3)["suspects"]
        first = suspects[0]
        self.words = first["sentence"] + " " + (first["advice"] or "")
        own = [t["type"] for t in first["own_types"]] or [first["type"]]
        kept = self.client.call("type", type=own[0], limit=3)
        paths = self.client.call("paths", type=own[0], max_paths=3)
        one = self.client.call("object", object=kept["objects"][0]["object"], limit=5)
        self.client.call("paths", object=one["object"], limit=3)
        self.types = own
        self.holders = [line["step"] for line in paths["lines"]]


class Mcp(LiveTest):
    def investigate(self, target, scenario, *_):
        process = subprocess.Popen([PROGRAM, "mcp", "--root", self.path(""), "--allow-collect"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            client = Client(process, seconds=SECONDS)
            client.tools()
            found = Investigation(client, target.pid)
            used = client.characters
            again = client.error("collect", pid=target.pid, file=f"{target.pid}.nettrace.gz", confirm=True)
            process.stdin.close()
            code = process.wait(SECONDS)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        mode = os.stat(self.path(f"{target.pid}.nettrace.gz")).st_mode & 0o777
        return found, used, again, code, mode

    def test_five_leaks(self):
        for runtime, scenario, result in each(LEAKS, self.investigate):
            with self.subTest(scenario=scenario, runtime=runtime):
                found, used, again, code, mode = result()
                leaked, holder = LEAKS[scenario]
                self.assertRegex(found.words, rf"\b{re.escape(holder)}\b")
                self.assertRegex(" ".join([found.words, *found.types]), rf"\b{re.escape(leaked)}\b")
                self.assertTrue(any(re.search(rf"\b{re.escape(holder)}\b", step) for step in found.holders) or holder in found.words, found.holders)
                self.assertLessEqual(used, MOST_CHARACTERS)
                self.assertIn("exists already", again)
                self.assertEqual((code, mode), (0, 0o600))
                print(f"{scenario}: {used} characters", flush=True)


if __name__ == "__main__":
    main()
