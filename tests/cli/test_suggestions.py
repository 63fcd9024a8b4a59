"""A misspelt word gets a suggestion; a word that resembles nothing gets none."""
import glob
import os
import re
import shlex
import unittest

from cli_support import SOURCE, CliTest, main, small_trace, trace, types_trace


class Meant(CliTest):
    def meant(self, word, *words, code=2):
        """The complaint about WORDS suggests WORD."""
        run = self.gcdumpc(*words)
        self.assertEqual((run.code, len(run.lines), run.out), (code, 1, b""), (words, run.err))
        self.assertIn(f'(did you mean "{word}"?)', run.lines[0])

    def nothing(self, *words):
        run = self.gcdumpc(*words)
        self.assertEqual((run.code, len(run.lines)), (2, 1), (words, run.err))
        self.assertNotIn("did you mean", run.lines[0])

    def test_commands(self):
        for wrong, right in (("reprot", "report"), ("repotr", "report"), ("REPORT", "report"), ("conver", "convert"), ("pahts", "paths"),
                             ("dif", "diff"), ("tredn", "trend"), ("leak", "leaks"), ("sp", "ps"), ("collekt", "collect"), ("ret", "retained")):
            for words in ([wrong], ["help", wrong], [wrong, "--help"]):
                self.meant(right, *words)
        for word in ("x", "", "bogus", "a" * 5000, "re port to"):
            self.nothing(word)

    def test_words_of_other_tools(self):
        for wrong, right in (("list", "ps"), ("gcroot", "paths"), ("dumpheap", "report"), ("version", "--version"), ("dump", "collect")):
            self.meant(right, wrong)

    def test_unknown_commands(self):
        self.refused(2, r'there is no command "1234"; to dump a process, use: gcdumpc --pid 1234 -o FILE', "1234")
        name = self.put("x.nettrace", small_trace())
        self.refused(2, rf'there is no command "{name}"; to read a file, use gcdumpc report FILE, .*', name)

    def test_options(self):
        for wrong, right in (("--tpo", "--top"), ("--filtre=x", "--filter"), ("--sotr", "--sort"), ("--Json", "--json"),
                             ("--min-byte", "--min-bytes")):
            self.meant(right, "report", wrong)
        self.meant("--output", "convert", "--out")
        self.meant("--help", "ps", "--hlep")
        self.nothing("report", "--bogus")
        self.nothing("report", "--" + "a" * 5000)
        self.nothing("report", "-y")

    def test_options_of_other_commands(self):
        self.refused(2, r'ps has no option "--fail-if" \(an option of diff, trend\); see gcdumpc ps --help', "ps", "--fail-if", "x")
        self.refused(2, r'convert has no option "--share" \(an option of leaks, browse\); see .*', "convert", "--share", "3")

    def test_values(self):
        for option, wrong, right in (("--by", "types", "type"), ("--by", "generatoin", "generation"), ("--sort", "byte", "bytes"),
                                     ("--names", "c#sharp", "csharp"), ("--strategy", "drian", "drain")):
            self.meant(right, "report", option, wrong, "f")
        self.nothing("report", "--by", "colour", "f")

    def test_formats(self):
        for wrong, right in (("gclgo", "gclog"), ("heapsnapshot", None), ("pporf", "pprof"), ("htm", "html")):
            words = ("convert", "f", "-o", "x", "--format", wrong)
            self.meant(right, *words) if right else self.nothing(*words)
        self.meant(".gclog", "convert", "f", "-o", "x.gclgo")
        self.meant(".heapsnapshot", "convert", "f", "-o", "x.heapsnapsot")
        self.meant("prometheus", "report", "f", "--format", "prom")
        self.nothing("convert", "f", "-o", "x.jpeg")

    def test_files(self):
        os.mkdir(self.path("dumps"))
        self.put("dumps/monday.nettrace", small_trace())
        self.put("dumps/.hidden", b"")
        self.put("monday.gclog", b"")
        self.meant("monday.gclog", "info", "mondey.gclog", code=1)
        self.meant("dumps/monday.nettrace", "report", "dumps/monday.netrace", code=1)
        self.meant("dumps/monday.nettrace", "diff", "dumps/monday.nettrace", "dumps/mon", code=1)
        self.refused(1, r"dumps/hidden: .*; gcdumpc --pid N .*", "info", "dumps/hidden")
        self.refused(1, r"no/such/folder: .*; gcdumpc --pid N .*", "info", "no/such/folder")

    def test_names_of_types(self):
        self.refused(1, r'.*: no type matches "HeapLab.Noed"; near it: "HeapLab.Node".*', "report", trace("net10-wks"), "--filter", "HeapLab.Noed")
        name = self.put("zoo.nettrace", types_trace(("Zebra", 1, 24)))
        for wrong, what in (("Zbru", 'near it: "Zebra"'), ("Zbxu", "gcdumpc report lists all types")):       # two letters of four, and three
            self.refused(1, rf'zoo.nettrace: no type matches "{wrong}"; {what}', "report", name, "--filter", wrong)
        name = self.put("zoo.nettrace", types_trace(("System.Collections.Generic.Dictionary<System.String,Shop.Cart>.Node", 1, 24), ("System.Records", 1, 24),
                                                    ("Shop.Chart.Records", 1, 24)))
        self.refused(1, r'.*; near it: "Shop.Chart.Records", "System.Records"', "report", name, "--filter", "Recods")     # first the program's own
        self.refused(1, r'.*"Nope"; gcdumpc report lists all types', "report", name, "--filter", "Nope")             # and no Node of a dictionary

    def test_jobs(self):
        self.put("x.conf", b"[nightly]\npid = 1\noutput = x.gclog\n")
        os.chmod(self.path("x.conf"), 0o600)
        self.meant("nightly", "run", "nigthly", "--config", "x.conf")
        self.meant("keep", "run", "nightly", "--config", self.put("y.conf", b"[nightly]\nkeeep = 1\n"))


class NextStep(CliTest):
    """Every error says how to continue: it names an option, a command or the valid values."""

    LEADS = re.compile(r"gcdumpc \S+|--[a-z]{3,}|-o |\(did you mean|; (?:name|choose|give|record|copy|make|create|use) |from \d+ to \d+|call it|is expected|"
                       r"takes (?:the path|an address)|comes one of|is needed|can be read only once|/REGEX/ are|"
                       r"without the slashes|with the keyword|are written only|there is: ")

    WRONG = """
        report
        report in.nettrace --json --csv
        report in.nettrace --sort retained
        report in.nettrace --by=root --top=3
        report in.nettrace --timeout 5
        report in.nettrace --pid 3
        report --pid=1 --name=x
        report --name ''
        report --pid=1 --walk=2
        report in.nettrace --filter ''
        report in.nettrace --filter '/(/'
        report in.nettrace --filter Zzzz
        report in.nettrace --min-bytes=3X
        report in.nettrace --walk 9
        report in.nettrace --process 9999
        report in.nettrace --by=generation
        report /dev/null
        report folder
        report text
        report missing
        paths in.nettrace
        paths in.nettrace --object=5x
        paths in.nettrace --object=0x1
        diff in.nettrace
        diff in.nettrace in.nettrace --fail-if 'size > 3'
        diff in.nettrace in.nettrace -o x.txt
        diff - -
        trend in.nettrace
        convert in.nettrace
        convert in.nettrace -o in.nettrace
        convert in.nettrace -o x.foo
        convert in.nettrace -o - -f sqlite
        convert in.nettrace -o no/x.gclog
        convert in.nettrace -o folder
        run
        run x --config missing
        --all -o x.gclog
        --pid 1
        --name x -o %q.gclog
        ps x
        leaks in.nettrace --share 200
    """

    def test_wrong_use(self):
        self.put("in.nettrace", small_trace())
        os.mkdir(self.path("folder"))
        self.put("text", b"hello")
        for line in self.WRONG.strip().splitlines():
            words = shlex.split(line)
            with self.subTest(words):
                run = self.gcdumpc(*words)
                self.assertIn(run.code, (1, 2), run)
                self.assertRegex(run.lines[-1], self.LEADS)

    def test_recommended_options(self):
        """What the texts of the program recommend exists: "gcdumpc COMMAND ... --option"."""
        seen, helps = set(), {}
        for path in glob.glob(os.path.join(SOURCE, "src", "**", "*.[ch]"), recursive=True):
            with open(path, encoding="utf-8") as f:
                text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
            for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r'"\s*"', "", text)):
                for command, rest in re.findall(r"gcdumpc ([a-z]+) ([^;:()\\]*)", literal):
                    seen |= {(command, option) for option in re.findall(r"(?<!\S)(--[a-z][a-z-]*|-[a-z])\b", rest)}
        seen = {(c, o) for c, o in seen if c != "more"}
        self.assertGreater(len(seen), 25)
        for command, option in sorted(seen):
            if command not in helps:
                helps[command] = self.done(command, "--help").text
            self.assertRegex(helps[command], rf"(?m)^  +(-[a-zA-Z], )?{option}\b|^  +{option}, ", command)

    def test_shares_of_the_heap(self):
        self.put("in.nettrace", small_trace())
        for share in "1", "0.1", "0.125", "2.5", "99.999", "100", "100.0":
            self.done("leaks", "in.nettrace", "--share", share)
        for share in "0", "0.099", "1.2345", "100.001", "1.", ".5", "1e1", "-1", "99999999", "1%", "":
            self.refused(2, "--share takes a number from 0.1 to 100, not .*; see gcdumpc leaks --help", "leaks", "in.nettrace", f"--share={share}")

    @unittest.skipIf(os.environ.get("GCDUMPC_IPC") == "OFF", "this build cannot talk to processes")
    def test_missing_processes(self):
        for words in (["--pid", "4294967295"], ["--name", "no such"], ["--port", "missing"], ["--port", self.put("file", b"")]):
            run = self.gcdumpc(*words, "-o", "x.gclog")
            self.assertEqual(run.code, 1)
            self.assertRegex(run.lines[-1], "gcdumpc ps")


if __name__ == "__main__":
    main()
