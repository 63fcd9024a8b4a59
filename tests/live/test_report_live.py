"""Every kind of report of a real process, including those that need a second pass or the object graph."""
import json
import os
import stat
import unittest

from live_support import LiveTest, Process, main

HAVE_SQLITE = os.environ.get("GCDUMPC_SQLITE", "ON") not in ("OFF", "0", "FALSE", "NO")


class ReportLive(LiveTest):
    def test_every_view(self):
        with Process() as target:
            for words, key in ((["--by", "generation"], "generations"), (["--by", "length"], "lengths"), (["--retained"], "types"),
                               (["--by", "module", "--retained"], "modules")):
                got = json.loads(self.gcdumpc("report", "--pid", target.pid, "--json", *words).stdout)
                self.assertEqual((sum(r["count"] for r in got[key]), sum(r["bytes"] for r in got[key])), (got["objects"], got["bytes"]), words)
                self.assertTrue(got["verdict"]["complete"])
            generations = json.loads(self.gcdumpc("report", "--pid", target.pid, "--json", "--by", "generation").stdout)["generations"]
            by_name = {r["generation"]: r for r in generations}
            self.assertGreater(by_name["loh"]["count"], 0)           # HeapLab has arrays of 200,000 bytes and pinned ones
            self.assertGreater(by_name["poh"]["count"], 0)
            self.assertGreater(by_name["nongc"]["count"], 0)
            for r in generations:
                if r["ranges"]:
                    self.assertLessEqual(r["bytes"] + r["free_bytes"], r["used_bytes"])
            roots = json.loads(self.gcdumpc("report", "--pid", target.pid, "--json", "--by", "root", "--retained").stdout)
            self.assertEqual(sum(r["retained_bytes"] for r in roots["roots"]), roots["bytes"])
            self.check_sessions(target)

    @unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
    def test_questions_in_sql(self):
        """The same questions to the process and to a dump of it: types that do not change are the same."""
        question = "SELECT type, count(*), sum(size) FROM objects WHERE type GLOB 'HeapLab.*' GROUP BY type ORDER BY type"
        with Process() as target:
            live = json.loads(self.gcdumpc("sql", "--pid", target.pid, "--json", question).stdout)
            self.gcdumpc("--pid", target.pid, "-o", self.path("lab.nettrace"))
            recorded = json.loads(self.gcdumpc("sql", self.path("lab.nettrace"), "--json", question).stdout)
            self.assertTrue(live["verdict"]["complete"])
            self.assertGreater(len(live["rows"]), 10)
            self.assertEqual(live["rows"], recorded["rows"])
            generations = self.gcdumpc("sql", "--pid", target.pid, "--csv", "SELECT generation, count(*) > 0 FROM objects GROUP BY 1").stdout
            self.assertIn("3,1\n", generations)
            self.gcdumpc("sql", "--pid", target.pid, "SELECT nope", status=2)
            self.check_sessions(target)

    def test_metrics(self):
        with Process() as target:
            r = self.gcdumpc("report", "--pid", target.pid, "-o", self.path("heap.prom"))
            self.assertEqual(r.stdout, "")
            with open(self.path("heap.prom"), encoding="utf-8") as f:
                samples = dict(line.rstrip("\n").rsplit(" ", 1) for line in f if line[0] != "#")
            self.assertEqual(stat.S_IMODE(os.stat(self.path("heap.prom")).st_mode) & 0o400, 0o400)
            labels = f'{{process="HeapLab",pid="{target.pid}"}}'
            self.assertEqual(samples["gcdumpc_dump_complete" + labels], "1")
            self.assertGreater(float(samples["gcdumpc_dump_pause_seconds" + labels]), 0)
            self.assertGreater(float(samples["gcdumpc_dump_duration_seconds" + labels]), 0)
            total = sum(int(v) for k, v in samples.items() if k.startswith("gcdumpc_generation_bytes{"))
            self.assertEqual(total, int(samples["gcdumpc_heap_bytes" + labels]))
            self.assertEqual(self.files(), ["heap.prom"])

    def test_without_ranges(self):
        with Process() as target:
            r = self.gcdumpc("report", "--pid", target.pid, "--no-ranges", "--by", "generation", status=1)
            self.assertIn("it has no memory ranges", r.stderr)


if __name__ == "__main__":
    main()
