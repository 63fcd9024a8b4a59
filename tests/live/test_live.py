"""A real .NET process with known heap contents, dumped by gcdumpc.  Needs the .NET SDK; without it the test is skipped."""
import contextlib
import json
import os
import re
import signal
import time

from live_support import LiveTest, Process, gclog_sums, main, open_session, type_counts
from record_nettrace import PROVIDER


class Live(LiveTest):
    def test_workstation_gc(self):
        with Process() as target:
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("a.gclog"), "--names", "raw")
            self.assertIn("complete", r.stderr)
            found, roots = gclog_sums(self.path("a.gclog"))
            wanted = target.wanted()
            self.assertGreater(len(wanted), 90)
            for name, count in wanted.items():
                self.assertEqual(found.get(name, (0, 0))[0], count, name)
            self.assertGreaterEqual(sum(r[1] == "4" for r in roots), len(target.counts()["statics"]))
            with open(self.path("a.gclog"), encoding="utf-8") as f:
                self.assertRegex(f.readline(), r"^a 2 HeapLab [0-9a-f]+$")
            # a second and a third time: all names are present again
            self.check_counts(target)
            self.assertEqual(os.listdir(self.folder).count("a.gclog"), 1)

    def test_page(self):
        with Process() as target:
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("a.html"), "--names", "raw")
            self.assertIn("complete", r.stderr)
            with open(self.path("a.html"), encoding="utf-8") as f:
                page = f.read()
            data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
            found = {}
            for name, _, objects, *_ in data["types"]:
                found[data["names"][name]] = found.get(data["names"][name], 0) + objects
            wanted = target.wanted()
            self.assertGreater(len(wanted), 90)
            for name, count in wanted.items():
                self.assertEqual(found.get(name, 0), count, name)
            self.assertEqual((data["process"]["pid"], data["process"]["name"]), (target.pid, "HeapLab"))
            self.assertTrue(data["generations"])
            self.assertGreater(data["gc"]["pause_ns"], 0)

    def test_the_first_dump_does_not_see_the_tool(self):
        """The runtime describes its events when the first session opens, which is the dump's own, and its walk comes first."""
        with Process() as target:
            self.gcdumpc("collect", "--pid", target.pid, "--dry-run")        # asks for nothing
            for observed, name in ((False, "a.nettrace"), (True, "b.nettrace")):
                self.gcdumpc("collect", "--pid", target.pid, "-o", self.path(name))
                got = json.loads(self.gcdumpc("leaks", self.path(name), "--min-bytes", "1K", "--json").stdout)
                self.assertEqual(got["observed_bytes"] > 100_000, observed, got["observed_bytes"])
                self.assertNotIn("EventMetadata", json.dumps(got["suspects"]))

    def test_strategies_agree(self):
        with Process() as target:
            wanted = target.wanted()
            self.assertGreater(len(wanted), 90)
            for strategy in ("single", "drain", "auto"):
                for more in ((), ("--no-ranges",)):
                    report = json.loads(self.gcdumpc("report", "--pid", target.pid, "--json", "--strategy", strategy, *more).stdout)
                    found = type_counts(report)
                    for name, count in wanted.items():
                        self.assertEqual(found.get(name, 0), count, f"{strategy} {more} {name}")
                    info = json.loads(self.gcdumpc("info", "--pid", target.pid, "--json", "--strategy", strategy, *more).stdout)
                    self.assertEqual(info["dumps"], 1)

    def test_diff_with_a_process(self):
        old = self.path("old.nettrace")
        with Process("--objects", "3000") as first, Process("--objects", "7000") as second:
            self.gcdumpc("--pid", first.pid, "-o", old)
            before, after = first.wanted(), second.wanted()
            r = self.gcdumpc("diff", old, "--pid", second.pid, "--json")
            self.assertIn(f"process {second.pid}: comes from a different process than {old}: ", r.stderr)
            got = json.loads(r.stdout)
            self.assertEqual([d["recording"] for d in got["dumps"]], [old, f"process {second.pid}"])
            rows = {t["type"]: (t["count_before"], t["count_after"]) for t in got["types"]}
            changed = {n: (before.get(n, 0), after.get(n, 0)) for n in {**before, **after} if before.get(n, 0) != after.get(n, 0)}
            self.assertGreater(len(changed), 0)
            self.assertEqual({n: rows.get(n) for n in changed}, changed)
            r = self.gcdumpc("diff", old, "--pid", first.pid, "--filter", "HeapLab.*", "--fail-if", "count(HeapLab.*) > +0", "--json")
            self.assertEqual(json.loads(r.stdout)["types"], [])

    def test_draining_needs_less_buffer_than_the_dump_has_bytes(self):
        # 120 MB of events.  The runtime sends for a while, then sleeps for 100 ms: less than 80 MB was not always enough.
        with Process("--objects", "2000000") as target:
            size = ("--buffer", "100")
            single = json.loads(self.lossy("info", "--pid", target.pid, "--json", "--strategy", "single", *size).stdout)
            self.assertGreater(single["trace"]["lost_events"], 0)
            for attempt in range(3):     # on a busy machine we may read too slowly
                r = self.run_gcdumpc("info", "--pid", target.pid, "--json", "--strategy", "drain", *size)
                self.assertIn(r.returncode, (0, 3), r.stderr)
                if r.returncode == 0:
                    break
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertEqual(json.loads(r.stdout)["trace"]["lost_events"], 0)

    def test_types_are_there_again_while_another_session_is_open(self):
        # A session of the runtime provider without the keyword of the types keeps the runtime's table of described types.
        with Process() as target, open_session(target, PROVIDER, 0x1):
            for _ in range(3):
                for strategy in ("drain", "single"):
                    r = self.gcdumpc("report", "--pid", target.pid, "--json", "--strategy", strategy, "--quiet")
                    self.assertEqual(r.stderr, "")
                    names = [t["type"] for t in json.loads(r.stdout)["types"]]
                    self.assertIn("HeapLab.Item[]", names)
                    self.assertFalse([n for n in names if n.startswith("UNKNOWN 0x")])

    def test_server_gc(self):
        with Process(DOTNET_gcServer="1", DOTNET_GCHeapCount="2") as target:
            self.check_counts(target)
            info = json.loads(self.gcdumpc("info", "--pid", target.pid, "--json").stdout)
            self.assertEqual(info["gc"]["heaps"], 2)

    def test_modules_and_runtime_with_rundown(self):
        with Process() as target:
            info = json.loads(self.gcdumpc("info", "--pid", target.pid, "--json", "--rundown").stdout)
            self.assertRegex(info["process"]["runtime_version"], r"^\d+\.\d+\.\d+$")
            report = json.loads(self.gcdumpc("report", "--pid", target.pid, "--json", "--rundown").stdout)
            self.assertTrue(any((t["module"] or "").endswith("HeapLab.dll") for t in report["types"]))

    @staticmethod
    def in_memory(pid, data):
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for line in maps:
                begin, end = (int(x, 16) for x in line.split()[0].split("-"))
                if line.split()[1].startswith("rw") and end - begin < 1 << 28:
                    with contextlib.suppress(OSError):
                        memory.seek(begin)
                        if data in memory.read(end - begin):
                            return True
        return False

    def test_no_contents_of_strings(self):
        texts = ("a literal of HeapLab", "x" * 40, "\u6587" * 40)
        with Process() as target:
            for text in texts:
                self.assertTrue(self.in_memory(target.pid, text.encode("utf-16-le")), "the test looks for what is not there")
            for name in ("x.nettrace", "x.html", "x.gcdump", "x.heapsnapshot", "x.dartheap", "x.gclog", "x.pb", "x.folded"):
                self.gcdumpc("--pid", target.pid, "-o", self.path(name))
                with open(self.path(name), "rb") as f:
                    data = f.read()
                self.assertTrue(len(data) > 1000 and b"HeapLab" in data.replace(b"\0", b""))
                for text in texts:
                    self.assertFalse(text.encode("utf-16-le") in data or text.encode() in data, (name, text))

    def test_socket_in_another_folder(self):
        os.mkdir(self.path("tmp"))
        with Process(TMPDIR=self.path("tmp")) as target:
            self.gcdumpc("--pid", target.pid, "-o", self.path("b.gclog.gz"))

    def test_losses_of_a_small_buffer_are_reported(self):
        with Process("--objects", "1000000") as target:
            r = self.lossy("--pid", target.pid, "-o", self.path("c.gclog"), "--buffer", "1")
            self.assertRegex(r.stderr, r"incomplete: \d+ events? of \d+ threads? were lost")
            self.assertTrue(os.path.exists(self.path("c.gclog")))
            os.unlink(self.path("c.gclog"))
            self.gcdumpc("--pid", target.pid, "-o", self.path("c.gclog"), "--buffer", "1", "--retries", "0", "--strict", status=1)
            self.assertEqual(os.listdir(self.folder), [])
            self.gcdumpc("--pid", target.pid, "-o", self.path("c.gclog"))

    def test_no_answer_within_the_timeout(self):
        with Process() as target:
            target.process.send_signal(signal.SIGSTOP)
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("g.gclog"), "--timeout", "1", status=1)
            self.assertRegex(r.stderr, r"within 1000 ms")
            self.assertEqual(os.listdir(self.folder), [])
            target.process.send_signal(signal.SIGCONT)


if __name__ == "__main__":
    main()
