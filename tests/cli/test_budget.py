"""--memory: the same output in less memory, or an error before the work if that is impossible."""
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
import unittest

from cli_support import PROGRAM, SANITIZED, CliTest, compiled, digest, genheap, main
from test_memory import MEASURE

OBJECTS = 400_000                # commands whose analysis takes more than the budget;
LARGE = 700_000                  # of these, the graph alone
HUGE = 1_000_000                 # of these, three times the budget
BUDGET = "16M"                   # the minimum
EVERY = os.environ.get("GCDUMPC_LONG") == "1"
# dart is written as v8 is, and collapsed stacks are what pprof has
FORMATS = ("gclog", "gcdump", "v8", "pprof", "html") + (("dart", "collapsed") if EVERY else ())
LONG = 600                       # seconds on a busy machine, with sanitizers


class Budget(CliTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="gcdumpc-cli-")
        cls.addClassCleanup(folder.cleanup)
        generator = genheap(folder.name)
        cls.old, cls.new, cls.large, cls.huge = (os.path.join(folder.name, f"{n}.nettrace") for n in (1, 2, 3, 4))
        subprocess.run([generator, "--objects", str(HUGE), cls.huge], check=True)
        subprocess.run([generator, "--objects", str(LARGE), cls.large], check=True)
        subprocess.run([generator, "--objects", str(OBJECTS), cls.old], check=True)
        subprocess.run([generator, "--objects", str(OBJECTS), "--seed", "2", cls.new], check=True)
        source = os.path.join(folder.name, "measure.c")
        with open(source, "w", encoding="utf-8") as f:
            f.write(MEASURE)
        cls.measure = compiled(folder.name, "measure", source)

    def budget(self, *words):
        return ("--memory", BUDGET, "--spill-dir", "/var/tmp", *words)

    def run_long(self, *words, **options):
        return self.finish(self.start(*words, **options), seconds=LONG)

    def same(self, *words):
        """Standard output is the same with and without a budget."""
        free = self.run_long(*words, "-q")
        self.assertIn(free.code, (0, 4), free.err)
        bound = self.run_long(*words, *self.budget("-q"))
        self.assertEqual((bound.code, digest(bound.out), bound.err), (free.code, digest(free.out), free.err), words)
        self.assertGreater(len(free.out), 0)

    def test_answers(self):
        self.same("retained", self.old, "--json")
        self.same("report", self.old, "--retained", "--by", "root")
        self.same("paths", self.old, "--type", "System.Byte*")
        self.same("leaks", self.old, self.new)
        if not EVERY:                   # the rest has the same analyses
            return
        self.same("diff", self.old, self.new, "--paths")
        self.same("retained", self.old)
        self.same("retained", self.old, "--type", "System.String")
        self.same("retained", self.old, "--tree", "4")
        self.same("report", self.old, "--retained")
        self.same("paths", self.old, "--object", "5")
        self.same("leaks", self.old)
        self.same("diff", self.old, self.new, "--retained")
        self.same("trend", self.old, self.new, "--retained")

    def test_formats(self):
        for name in FORMATS:
            with self.subTest(name):
                self.same("convert", self.large, "--format", name, "-o", "-")
        self.same("convert", self.old, "--format", "collapsed", "--stack-by", "paths", "-o", "-")

    def test_tables(self):
        """csv is a folder."""
        for name, words in (("free.csv", ()), ("bound.csv", self.budget())):
            self.assertEqual(self.run_long("convert", self.large, "--format", "csv", "-o", name, "-q", *words).code, 0)
        names = sorted(os.listdir(self.path("free.csv")))
        self.assertEqual(names, sorted(os.listdir(self.path("bound.csv"))))
        for name in names:
            with open(self.path("free.csv", name), "rb") as free, open(self.path("bound.csv", name), "rb") as bound:
                self.assertEqual(digest(free.read()), digest(bound.read()), name)

    def test_database(self):
        """The same bytes."""
        files = []
        for name, words in (("free.sqlite", ()), ("bound.sqlite", self.budget())):
            run = self.run_long("convert", self.old, "-o", name, "-q", *words)
            if b"there is no format" in run.err or b"cannot be told" in run.err:
                self.skipTest("built without sqlite")
            self.assertEqual(run.code, 0, run.err)
            with open(self.path(name), "rb") as f:
                files.append(digest(f.read()))
        self.assertEqual(*files)

    def test_graph_file(self):
        """The memory for a graph in a file is not known before it is read."""
        self.assertEqual(self.run_long("convert", self.old, "-o", "x.gcdump", "-q").code, 0)
        self.same("retained", "x.gcdump")
        with open(self.old, "rb") as f:
            data = f.read()
        free = self.finish(self.start("retained", "-", "-q", stdin=subprocess.PIPE), data, seconds=LONG)
        bound = self.finish(self.start("retained", "-", *self.budget("-q"), stdin=subprocess.PIPE), data, seconds=LONG)
        self.assertEqual((free.code, free.out, free.err), (bound.code, bound.out, bound.err))

    def test_messages_about_the_budget(self):
        run = self.run_long("retained", self.old, *self.budget())
        self.assertEqual(run.code, 0)
        self.assertRegex(run.err.decode(), r"\Agcdumpc: \S+: needs about [\d,]+ bytes of memory, more than --memory 16,777,216: the large part goes "
                                           r"to temporary files in /var/tmp\n\Z")
        self.assertEqual(self.run_long("retained", self.old, "--memory", "1G").err, b"")
        info = json.loads(self.run_long("info", self.old, "--json").out)["memory"]
        self.assertEqual(sorted(info), ["diff", "graph", "leaks", "page", "paths", "retained"])
        said = int(re.search(rb"about ([\d,]+)", run.err)[1].replace(b",", b""))
        self.assertEqual(info["retained"], said)
        self.assertTrue(16 * OBJECTS < info["graph"] < info["retained"] < info["page"] < 160 * OBJECTS, info)

    def anonymous(self, *words):
        """The largest observed anonymous memory of the program, in MiB."""
        most = 0
        process = self.start(*words, "-q", stdout=subprocess.DEVNULL)
        while process.poll() is None:
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as f:
                most = max([most] + [int(line.split()[1]) for line in f if line.startswith("RssAnon:")])
            time.sleep(0.002)            # leaves the processor to the program
        self.assertEqual(self.finish(process, seconds=LONG).code, 0)
        return most / 1024

    @unittest.skipIf(SANITIZED, "sanitizers take memory of their own")
    def test_anonymous_memory(self):
        """Only the allocator enforces the budget, so it holds for all commands and any number of threads."""
        for words in (("retained",), ("leaks",), ("leaks", self.large), ("paths", "--type", "*"), ("report", "--retained"), ("convert", "--format", "v8", "-o", "/dev/null"),
                      ("convert", "--format", "html", "-o", "/dev/null")):
            with self.subTest(words):
                self.assertLessEqual(self.anonymous(*words, self.huge, "--threads", "2", *self.budget()), 16 + 8)
        self.assertGreater(self.anonymous("retained", self.huge), 32)        # long enough to be observed

    def test_estimate(self):
        """The estimate is not below the measured value, and not far above: for paths it is the maximum, and these heaps take 2/3 of it."""
        if SANITIZED:
            self.skipTest("sanitizers take memory of their own")
        commands = {"graph": ("convert", "--format", "gcdump", "-o", "/dev/null"), "retained": ("retained",), "paths": ("paths", "--type", "*"),
                    "leaks": ("leaks",), "page": ("convert", "--format", "html", "-o", "/dev/null"), "diff": ("diff", "--paths", "--max-memory", "8G", self.new)}
        chosen = {self.huge: sorted(commands.keys() - {"diff"}),             # diff: of two smaller ones
                  self.old: sorted(commands) if EVERY else ["diff"]}
        for recording, purposes in chosen.items():
            needs = json.loads(self.run_long("info", recording, "--json").out)["memory"]
            self.assertEqual(set(needs), set(commands))
            for purpose in purposes:
                run = subprocess.run([self.measure, PROGRAM, *commands[purpose], recording, "-q"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                     env=self.environment(), cwd=self.dir, check=True, timeout=LONG)
                share = int(run.stderr.split()[1]) * 1024 / needs[purpose]
                self.assertTrue(0.5 < share < 1.15, (purpose, share))

    def test_too_small_budgets_and_folders_are_refused(self):
        """No disk space, no folder, too little memory: reported before the work begins, and nothing is written."""
        self.refused(1, r".*needs about .* cannot be spilled: the folder /dev/shm is in memory itself", "retained", self.old, "--memory", BUDGET,
                     "--spill-dir", "/dev/shm")
        self.refused(1, r".*cannot be spilled: cannot make a temporary file in /nowhere.*", "retained", self.old, "--memory", BUDGET,
                     "--spill-dir", "/nowhere")
        self.refused(2, r"--memory takes a number.*", "retained", self.old, "--memory", "15M")
        self.refused(1, r".*needs about.*", "convert", self.large, "-o", "x.gcdump", "--memory", BUDGET, "--spill-dir", "/nowhere")
        self.assertEqual(self.folder(), {})
        # without a file, no folder is needed either
        self.assertEqual(self.run_long("retained", self.old, "--memory", "1G", "--spill-dir", "/nowhere", "-q").code, 0)

    def test_full(self):
        """The disk fills up during the work."""
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        run = self.run_long("retained", self.old, *self.budget("-q"), preexec_fn=small_files)
        self.assertEqual((run.code, run.out), (1, b""))
        self.assertRegex(run.err.decode(), r"\Agcdumpc: \S+: out of memory.*: cannot reserve [\d,]+ bytes for a temporary file: "
                                           r"File too large\n\Z")

    def test_interrupted(self):
        for _ in range(20):
            process = self.start("retained", self.huge, *self.budget())
            self.assertIn(b"needs about", process.stderr.readline())         # now it builds the graph
            maps = ""
            while "/var/tmp/" not in maps and process.poll() is None:
                with open(f"/proc/{process.pid}/maps", encoding="utf-8") as f:
                    maps = f.read()
            process.send_signal(signal.SIGINT)
            run = self.finish(process, seconds=LONG)
            if run.code != 0:                        # else it was done before
                break
        self.assertRegex(maps, r" rw-s .* /var/tmp/\S+ \(deleted\)\n")
        self.assertEqual((run.code, run.out), (130, b""))
        self.assertIn(b"interrupted", run.err)


if __name__ == "__main__":
    main()
