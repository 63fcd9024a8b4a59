"""The benchmark itself, at a meaningless size: what it measures, stores, shows and compares."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("GCDUMPC_BUILD") or os.path.join(HERE, "..", "..", "build")
COMMANDS = {"info": "info", "report": "report", "gclog": "convert -o x.gclog", "csv": "convert -o x.csv", "retained": "retained",
            "paths": "paths --type 'System.Byte[]'", "diff": "diff"}
OBJECTS, EDGES = 10000, 17701            # as genheap --truth says
sys.path.insert(0, HERE)

import bench_results        # noqa: E402

# stands for dotnet-gcdump: converts, but cannot report
THEIRS = '#!/bin/sh\n[ "$1" = convert ] && [ -f "$2" ] && [ "$3" = -o ] && echo heap >"$4" || exit 7\n'


def bench(*words):
    command = [sys.executable, "-B", os.path.join(HERE, "bench.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        theirs, cls.file = cls.path("theirs"), cls.path("new/x.json")
        with open(theirs, "w", encoding="utf-8") as f:
            f.write(THEIRS)
        os.chmod(theirs, 0o755)
        cls.made = bench("--build", BUILD, "--objects", str(OBJECTS), "--commands", ",".join(COMMANDS), "--runs", "1", "--folder", cls.path(),
                        "--dotnet-gcdump", theirs, "--output", cls.file)

    @classmethod
    def path(cls, name=""):
        return os.path.join(cls.folder.name, name)

    def results(self):
        self.assertEqual(self.made.returncode, 0, self.made.stderr)
        return bench_results.load(self.file)

    def changed(self, change, name="y.json"):
        results = self.results()
        change(results)
        with open(self.path(name), "w", encoding="utf-8") as f:
            json.dump(results, f)
        return self.path(name)

    def test_what_is_measured(self):
        results = self.results()
        size, = results["sizes"]
        self.assertEqual((size["objects"], size["edges"], size["bytes"], size["runs"]),
                         (OBJECTS, EDGES, os.path.getsize(self.path(f"bench-{OBJECTS}.nettrace")), 1))
        self.assertEqual([r["command"] for r in size["rows"]],
                         ["md5sum", "cat", *COMMANDS.values(), "dotnet-gcdump convert", "dotnet-gcdump report"])
        for row in size["rows"][:-1]:
            self.assertGreater(row["wall_s"], 0, row)
            self.assertGreater(row["peak_mib"], 0.5, row)
            self.assertEqual(row["inputs"], 2 if row["command"] == "diff" else 1)
        self.assertEqual(size["rows"][-1]["exit"], 7)        # a failure of another program is a result, too
        self.assertIn("dotnet-gcdump report: exit 7\n", self.made.stderr)
        self.assertEqual(set(results["machine"]), {"architecture", "system", "cores", "memory_gib"})     # no names

    def test_nothing_is_left_but_what_stays(self):
        self.results()
        left = {n for n in os.listdir(self.path()) if n.startswith("bench")}
        self.assertEqual(left, {f"bench-{OBJECTS}.nettrace"})

    def test_threads_and_a_recording_that_exists(self):
        """A row for each number, or a message if the program has no such option."""
        self.results()
        trace = self.path(f"bench-{OBJECTS}.nettrace")
        r = bench("--build", BUILD, "--input", trace, "--commands", "report", "--runs", "1", "--threads", "1,2", "--output", self.path("threads.md"))
        self.assertEqual(r.returncode, 0, r.stderr)
        help_text = subprocess.run([os.path.join(BUILD, "gcdumpc"), "report", "--help"], capture_output=True, text=True, check=True).stdout
        has = "--threads" in help_text
        self.assertEqual("has no --threads" in r.stderr, not has)
        with open(self.path("threads.md"), encoding="utf-8") as f:
            shown = re.findall(r"^\| (`report`.*?) \|", f.read(), re.M)
        self.assertEqual(shown, ["`report`, 1 thread", "`report`, 2 threads"] if has else ["`report`"])
        self.assertTrue(os.path.exists(trace))

    def test_a_core_file_beside_its_recording(self):
        """It is compared with md5sum of the recording; dotnet-dump runs once.  A recording stands for the core file here."""
        self.results()
        with open(self.path(f"bench-{OBJECTS}.nettrace"), "rb") as f:
            trace = f.read()
        for name, content in (("lab.nettrace", trace[:5000]), ("lab.core", trace)):
            with open(self.path(name), "wb") as f:
                f.write(content)
        with open(self.path("dump"), "w", encoding="utf-8") as f:
            f.write(f'#!/bin/sh\necho "$*" >>{self.path("calls")}\n')
        os.chmod(self.path("dump"), 0o755)
        r = bench("--build", BUILD, "--input", self.path("lab.core"), "--commands", "report", "--runs", "3", "--dotnet-dump", self.path("dump"),
                  "--dotnet-gcdump", self.path("theirs"), "--output", self.path("core.json"))
        self.assertEqual(r.returncode, 0, r.stderr)
        size, = bench_results.load(self.path("core.json"))["sizes"]
        self.assertEqual((size["heap"], size["objects"], size["bytes"]), ("lab core", OBJECTS, len(trace)))
        self.assertEqual([row["command"] for row in size["rows"]], ["md5sum", "cat", "report", "dotnet-dump dumpheap -stat"])
        with open(self.path("calls"), encoding="utf-8") as f:
            self.assertEqual(f.read(), f"analyze {self.path('lab.core')} -c dumpheap -stat -c exit\n")
        os.unlink(self.path("lab.nettrace"))     # the base is that file, and nothing else
        r = bench("--build", BUILD, "--input", self.path("lab.core"), "--commands", "report", "--runs", "1")
        self.assertEqual(r.returncode, 1)
        self.assertIn("lab.nettrace", r.stderr)

    def test_unwritable_results_are_refused_before_measuring(self):
        path = self.changed(lambda r: r.update(version="9.9.9"), "other.json")
        r = bench("--build", BUILD, "--objects", "1000", "--output", path)
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertEqual(r.stderr, f"bench.py: {path}: has figures of another version, machine or build\n")

    def test_table(self):
        def plain(results):
            size = results["sizes"][0]
            size.update(objects=1000, edges=2000, bytes=4000000)
            size["rows"] = [{"command": "md5sum", "inputs": 1, "wall_s": 2.0, "cpu_s": 1.0, "peak_mib": 2.0},
                            {"command": "diff", "inputs": 2, "threads": 2, "wall_s": 1.0, "cpu_s": 0.5, "peak_mib": 1234.5}]

        text = bench_results.table(bench_results.load(self.changed(plain)))
        rows = [[c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
        self.assertEqual(len({len(r) for r in rows}), 1)
        self.assertEqual(rows[2], ["`md5sum`", "2.00", "1.00", "2.0", "2", "2,000,000.0", "1,000,000.0", "1.00", "1.00"])
        self.assertEqual(rows[3], ["`diff`, 2 threads", "1.00", "0.50", "1,234.5", "8", "500,000.0", "250,000.0", "0.50", "0.50"])
        self.assertEqual(self.made.stdout, bench_results.table(self.results()))

    def test_heaps_of_programs_stand_beside_generated_ones(self):
        def with_service(results):
            results["sizes"].append({**results["sizes"][0], "heap": "service"})

        results = bench_results.load(self.changed(with_service))
        first = bench_results.table(results).split("\n\n")[2].splitlines()
        self.assertEqual(first[0], "| wall / CPU × md5sum, MiB | genheap, 0.01 million | service, 0.01 million |")
        self.assertEqual(len(first), 2 + len(results["sizes"][0]["rows"]))
        self.assertRegex(first[2], r"^\| `md5sum` \| 1\.00 / 1\.00, [\d.]+ \| 1\.00 / 1\.00, [\d.]+ \|$")
        bench_results.store(self.path("both.json"), self.results())
        bench_results.store(self.path("both.json"), {**results, "sizes": results["sizes"][1:]})
        self.assertEqual([s.get("heap") for s in bench_results.load(self.path("both.json"))["sizes"]], [None, "service"])

    def test_compare(self):
        def slower(results):
            results["version"] = "9.9.9"
            rows = results["sizes"][0]["rows"]
            rows[0]["cpu_s"] = 1.0
            rows[2]["cpu_s"] = 3.0                           # info
            del rows[3]                                      # report

        def base(results):
            rows = results["sizes"][0]["rows"]
            rows[0]["cpu_s"] = 2.0
            rows[2]["cpu_s"] = 2.0

        r = bench("--compare", self.changed(base, "old.json"), self.changed(slower, "changed.json"))
        self.assertEqual(r.returncode, 0, r.stderr)
        found = {line.split("|")[3].strip(): line for line in r.stdout.splitlines() if line.startswith("| genheap | 10,000")}
        self.assertIn("→ 9.9.9", r.stdout)
        self.assertRegex(found["`info`"], r"2\.00 → 3\.00 .* 1\.00 → 3\.00 \| 3\.00 \|$")
        self.assertIn("only in the old one", found["`report`"])
        self.assertEqual(len(found), len(COMMANDS) + 4)

    def test_sizes_are_collected_in_one_file(self):
        def other(results):
            results["sizes"][0]["objects"] = 5

        path = self.changed(other)
        bench_results.store(path, self.results())
        self.assertEqual([s["objects"] for s in bench_results.load(path)["sizes"]], [5, OBJECTS])
        bench_results.store(path, self.results())
        self.assertEqual(len(bench_results.load(path)["sizes"]), 2)
        with self.assertRaises(ValueError):
            bench_results.store(path, {**self.results(), "version": "9.9.9"})

    def test_the_document_has_the_newest_figures(self):
        with open(bench_results.README, encoding="utf-8") as f:
            text = f.read()
        self.assertEqual(bench_results.rendered(text), text, "run bench.py --render")
        for version in ("9.0.0", "10.0.0"):
            self.changed(lambda r: r.update(version=version), f"{version}.json")
        only = self.path("kept")
        os.mkdir(only)
        for version in ("9.0.0", "10.0.0"):
            os.replace(self.path(f"{version}.json"), os.path.join(only, f"{version}.json"))
        text = bench_results.rendered(text, only)
        self.assertIn("### 10.0.0\n", text)
        self.assertIn("Earlier: [9.0.0](results/9.0.0.json)", text)

    def test_wrong_usage(self):
        for words in (["--commands", "info,nonsense"], ["--objects", "0"], ["--threads", "x"]):
            r = bench("--build", BUILD, *words)
            self.assertEqual(r.returncode, 2, words)
            self.assertRegex(r.stderr, re.escape(words[0]))
        r = bench("--compare", self.path("theirs"), self.file)
        self.assertEqual((r.returncode, r.stderr.count("\n")), (1, 1), r.stderr)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(BUILD, "genheap")):
        print("skipped: genheap is not built")
        sys.exit(77)
    unittest.main()
