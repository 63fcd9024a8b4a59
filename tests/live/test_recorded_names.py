"""Names found while a process is dumped are in its recording.  Needs the .NET SDK; without it the test is skipped."""
import json
import os
import sys

from live_support import LiveTest, Process, main

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "readers"))

import real_readers                                                     # noqa: E402

NESTED = "HeapLab.Cabinet.Drawer"


class RecordedNames(LiveTest):
    def names(self, *words):
        report = json.loads(self.gcdumpc("report", *words, "--json").stdout)
        self.assertTrue(report["verdict"]["complete"])
        return {t["id"]: t["type"] for t in report["types"]}

    def providers(self, path):
        return {e["provider"] for e in json.loads(self.gcdumpc("info", path, "--events", "--json").stdout)["events"]}

    def test_a_recording_needs_no_files(self):
        with Process() as target:
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("a.nettrace"))
            self.assertRegex(r.stderr, r"bytes of nettrace with [\d,]+ names written, complete\n")
            self.assertIn(NESTED, self.names(self.path("a.nettrace"), "--no-modules").values())
            self.assertIn("gcdumpc", self.providers(self.path("a.nettrace")))
            seen = real_readers.read_nettrace(self.path("a.nettrace"))
            self.assertEqual((seen["whole"], seen["lost"], seen["backwards"]), (True, 0, 0))
            self.assertIn("HeapLab.Cabinet", {event.get("DeclaringType") for event in seen["names"]})

    def test_beside_another_output(self):
        with Process() as target:
            live = self.names("--pid", target.pid, "--save-trace", self.path("a.nettrace.gz"))
            self.assertIn(NESTED, live.values())
            self.assertEqual(self.names(self.path("a.nettrace.gz"), "--no-modules"), live)

    def test_plain(self):
        with Process() as target:
            for words in (["-o", self.path("a.nettrace"), "--plain"], ["-o", self.path("x.gclog"), "--save-trace", self.path("b.nettrace"), "--plain"],
                          ["-o", self.path("c.nettrace"), "--no-modules"]):
                self.gcdumpc("--pid", target.pid, *words)
        for name in ("a.nettrace", "b.nettrace", "c.nettrace"):
            # without --plain, the memory of the process is recorded all the same
            self.assertEqual("gcdumpc" in self.providers(self.path(name)), name == "c.nettrace", name)
            self.assertNotIn(NESTED, self.names(self.path(name), "--no-modules").values())


if __name__ == "__main__":
    main()
