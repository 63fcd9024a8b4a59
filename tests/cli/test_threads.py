"""--threads: the result is the same for any number, byte for byte."""
import os
import resource
import signal
import subprocess

from cli_support import CliTest, genheap, main, trace
from test_formats import FORMATS

NUMBERS = (1, 2, 8)
# Enough objects and references for several threads; two heaps with losses and odd features.
HEAPS = {"mix": ["-n", "120000", "--server", "--heaps", "4", "--ranges"], "random": ["-n", "60000", "--shape", "random", "--drop-random", "30"],
         "list": ["-n", "70000", "--shape", "list"], "fan": ["-n", "70000", "--shape", "fan", "--dependent", "300"]}
ANSWERS = (["report"], ["report", "--retained"], ["report", "--by", "kind"], ["retained"], ["retained", "--tree", "3"],
           ["retained", "--type", "*e*"], ["paths", "--type", "*"], ["leaks"], ["info"])


class Threads(CliTest):
    def setUp(self):
        super().setUp()
        for name, options in HEAPS.items():
            self.make(name, *options)

    def make(self, name, *options):
        subprocess.run([genheap(self.dir), *options, self.path(name)], check=True)

    def files(self, name):
        """The contents of the file or folder NAME, which is removed."""
        path = self.path(name)
        paths = [os.path.join(top, n) for top, _, names in os.walk(path) for n in names] if os.path.isdir(path) else [path]
        found = {}
        for p in sorted(paths):
            with open(p, "rb") as f:
                found[os.path.relpath(p, path)] = f.read()
            os.unlink(p)
        if os.path.isdir(path):
            os.rmdir(path)
        return found

    def same_for_all(self, make, what):
        expected = make(NUMBERS[0])
        self.assertTrue(expected)
        for n in NUMBERS[1:]:
            self.assertTrue(make(n) == expected, f"{what} differs with {n} threads")

    def test_every_format(self):
        for heap in HEAPS:
            for suffix in [*FORMATS.values(), "gclog.gz"]:
                if suffix == "sqlite":               # a database has a change counter; its rows are compared by its own tests
                    continue

                def make(n, heap=heap, suffix=suffix):
                    run = self.gcdumpc("convert", heap, "-q", "--threads", str(n), "-o", f"made.{suffix}")
                    self.assertIn(run.code, (0, 3))
                    return self.files(f"made.{suffix}"), run.err
                self.same_for_all(make, f"{heap} as {suffix}")

    def test_messages_of_formats(self):
        for suffix in ("gclog", "gcdump", "heapsnapshot"):
            def make(n, suffix=suffix):
                run = self.gcdumpc("convert", "random", "--threads", str(n), "-o", f"made.{suffix}")
                return self.files(f"made.{suffix}"), run.err
            self.same_for_all(make, f"messages of {suffix}")

    def test_an_array_that_is_larger_than_a_batch(self):
        """In a gclog: the array has all objects but itself, 293 of them have a dependent handle."""
        for n in NUMBERS:
            self.done("convert", "fan", "-q", "--threads", str(n), "-o", "made.gclog")
            with open(self.path("made.gclog"), encoding="utf-8") as f:
                edges = [line.count(" ") - 3 for line in f if line.startswith("o ")]
            self.assertEqual((len(edges), max(edges), sum(edges)), (70000, 69999, 69999 + 293))

    def test_references_without_an_object_are_counted(self):
        for n in NUMBERS:
            run = self.gcdumpc("convert", "random", "--threads", str(n), "-o", "made.gclog")
            with open(self.path("made.gclog"), encoding="utf-8") as f:
                objects = [line.split() for line in f if line.startswith("o ")]
            there = {fields[1] for fields in objects}
            missing = sum(target not in there for fields in objects for target in fields[4:])
            self.assertGreater(missing, 1000)
            self.assertIn(f": {missing:,} references lead to addresses without an object".encode(), run.err)

    def test_every_answer(self):
        for heap in HEAPS:
            for command in ANSWERS:
                def make(n, heap=heap, command=command):
                    run = self.gcdumpc(*command, heap, "--threads", str(n))
                    self.assertIn(run.code, (0, 3), run)
                    return run.out, run.err
                self.same_for_all(make, f"{' '.join(command)} {heap}")

    def test_comparisons(self):
        for command in (["diff"], ["diff", "--retained"], ["diff", "--paths"], ["trend", "--retained"]):
            def make(n, command=command):
                run = self.gcdumpc(*command, "mix", "random", "--threads", str(n))
                self.assertIn(run.code, (0, 3), run.err)
                return run.out, run.err
            self.same_for_all(make, " ".join(command))

    def test_a_full_disk_is_found_by_the_thread_that_writes(self):
        """For a file; the old one is kept.  The heap is larger than the queue between the threads."""
        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
        self.make("large", "-n", "400000")
        self.put("old.gclog", b"the output of another day")
        self.refused(1, r"old\.gclog: cannot write: File too large.*", "convert", "large", "--threads", "2", "-o", "old.gclog", preexec_fn=small_files)

    def test_invalid_numbers(self):
        for n in ("0", "65", "-1", "two", ""):
            self.assertEqual(self.gcdumpc("report", trace("net10-wks"), "--threads", n).code, 2)


if __name__ == "__main__":
    main()
