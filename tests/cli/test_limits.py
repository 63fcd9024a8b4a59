"""Refusals requested by the user, --strict, --max-objects and --max-memory, and gzip bombs."""
import gzip
import os
import subprocess
import tempfile
import unittest

from cli_support import SANITIZED, CliTest, genheap, main, small_trace

LOSSY, WHOLE = "net10-wks-lossy", "net10-wks"
ANSWERS = (("info",), ("info", "--json"), ("info", "--events"), ("report",), ("report", "--retained"), ("retained",),
           ("paths", "--type", "System.String"), ("leaks",), ("trend", "ALSO"), ("diff", "ALSO"))


class Strict(CliTest):
    def words(self, words, name):
        """COMMAND followed by the recording NAME, and by another one for commands that compare."""
        command, *rest = words
        return [command, self.link(name), *(self.link(WHOLE) if w == "ALSO" else w for w in rest)]

    def test_an_answer_about_incomplete_data_is_refused(self):
        for words in ANSWERS:
            before = self.folder()
            run = self.done(*self.words(words, LOSSY), "--strict", code=1)
            self.assertEqual(run.out, b"", words)
            self.assertRegex(run.lines[-1], r"\Agcdumpc: net10-wks-lossy\.nettrace\.gz: refused by --strict: nothing is written or shown\Z")
            self.assertRegex(run.lines[0], r"171 events", words)
            self.assertEqual(self.folder().items() - before.items(), {(n, m) for n, m in self.folder().items() if n not in before})

    def test_complete_data_are_not(self):
        for words in ANSWERS:
            self.assertEqual(self.done(*self.words(words, WHOLE), "--strict").out, self.done(*self.words(words, WHOLE)).out, words)

    def test_notices_are_printed_once(self):
        """--strict decides before it writes anything, and prints each notice as often as without it."""
        for words in (*ANSWERS, ("convert", "-o", "x.gcdump")):
            plain, strict = (self.done(*self.words(words, "net8-wks-two-dumps"), *more) for more in ((), ("--strict",)))
            self.assertEqual(strict.err, plain.err, words)
            self.assertEqual(plain.err.count(b"2 heap dumps"), 0 if "--events" in words else 1, words)

    def test_the_second_of_two_counts(self):
        self.done("diff", self.link(WHOLE), self.link(LOSSY), "--strict", code=1)

    def test_an_old_output_is_not_touched(self):
        self.put("old.json", b"old")
        self.put("old.html", b"old")
        self.done("report", self.link(LOSSY), "-o", "old.json", "--strict", code=1)
        self.done("diff", self.link(WHOLE), self.link(LOSSY), "-o", "old.html", "--strict", code=1)
        self.assertEqual((self.get("old.json"), self.get("old.html")), (b"old", b"old"))

    def test_a_file_that_records_incompleteness_is_refused(self):
        self.done("convert", self.link(LOSSY), "-o", "x.gcdump", code=3)
        run = self.done("report", "x.gcdump", "--strict", code=1)
        self.assertIn(b"objects", run.err)
        self.assertEqual(run.out, b"")


class Objects(CliTest):
    def test_one_too_many(self):
        for words in (("report",), ("info",), ("retained",), ("convert", "-o", "x"), ("convert", "-o", "x.heapsnapshot")):
            self.refused(1, r"net10-wks\.nettrace\.gz: at most 17645 objects are allowed; --max-objects raises it",
                         words[0], self.link(WHOLE), *words[1:], "--max-objects", "17645")
            self.done(words[0], self.link(WHOLE), *words[1:], "--max-objects", "17646")
            if "-o" in words:
                os.remove(self.path(words[-1]))

    def test_of_graphs(self):
        self.done("convert", self.link(WHOLE), "-o", "x.gclog")
        self.done("convert", self.link(WHOLE), "-o", "x.gcdump")
        self.done("convert", self.link(WHOLE), "-o", "x.dartheap")
        for name in ("x.gclog", "x.gcdump", "x.dartheap"):
            self.refused(1, name.replace(".", r"\.") + r": at most 1000 objects are allowed; --max-objects raises it",
                         "report", name, "--max-objects", "1000")

    def test_the_dump_that_is_taken_counts(self):
        """The two of this recording have 20,717 objects each."""
        self.done("info", self.link("net8-wks-two-dumps"), "--max-objects", "20717")


class Memory(CliTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="gcdumpc-cli-")
        cls.addClassCleanup(folder.cleanup)
        cls.big = os.path.join(folder.name, "big.nettrace")
        subprocess.run([genheap(folder.name), "--objects", "1000000", cls.big], check=True)

    def test_the_message_names_the_needed_limit(self):
        os.symlink(self.big, self.path("big.nettrace"))
        for words in (("retained",), ("convert", "-o", "x.heapsnapshot"), ("convert", "-o", "x.gcdump"), ("leaks",)):
            self.refused(1, r"big\.nettrace: out of memory while [a-z ]+; at least [0-9]+ MiB are needed, and --max-memory allows 6: allow "
                         r"more, or use a command that needs no object graph \(info, report, convert to gclog\)",
                         words[0], "big.nettrace", *words[1:], "--max-memory", "6M")

    def test_analyses_count_against_the_limit(self):
        """Everything done with the graph counts against the same limit."""
        os.symlink(self.big, self.path("big.nettrace"))
        self.refused(1, r"big\.nettrace: out of memory while finding dominators; .*--max-memory allows 28: .*", "retained", "big.nettrace", "--max-memory", "28M")

    def test_streaming_commands_need_little(self):
        self.done("report", self.big, "--max-memory", "4M", "-q")
        self.done("convert", self.big, "-o", "x.gclog", "--max-memory", "24M", "-q")
        self.done("convert", self.big, "-o", "y.gclog", "-q")
        self.assertEqual(self.get("x.gclog"), self.get("y.gclog"))

    def test_a_sufficient_limit_changes_nothing(self):
        self.done("retained", self.big, "--max-memory", "200M", "-q")

    def test_sizes(self):
        for size in ("1048575", "1", "x"):
            self.refused(2, r"--max-memory takes a number from 1048576 to .*", "report", "x", "--max-memory", size)


@unittest.skipIf(SANITIZED, "two gigabytes take too long")
class Bombs(CliTest):
    def test_a_bomb_is_refused(self):
        """gcdumpc reads everything after the end of a recording to find its length; only the limit bounds that."""
        zeros = gzip.compress(bytes(16 << 20), 9)
        self.put("bomb.nettrace.gz", gzip.compress(small_trace()) + zeros * 256)
        self.assertLess(os.path.getsize(self.path("bomb.nettrace.gz")), 8 << 20)
        for words in (("report",), ("convert", "-o", "x")):
            self.refused(1, r"bomb\.nettrace\.gz: its compression ratio is above 512 to 1, which no heap reaches", words[0], "bomb.nettrace.gz", *words[1:])

    def test_zeros_after_the_recording_are_ignored(self):
        self.put("odd.nettrace.gz", gzip.compress(small_trace()) + gzip.compress(bytes(16 << 20), 9) * 32)
        self.assertIn(b"536,870,912 bytes after the end of the recording are ignored", self.done("report", "odd.nettrace.gz").err)


if __name__ == "__main__":
    main()
