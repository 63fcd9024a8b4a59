"""Help, version, and everything that can be wrong with a command line."""
import os
import re
import shlex
import unittest

from cli_support import COMMANDS, HAVE_SQLITE, SOURCE, CliTest, main, small_trace, trace


class Help(CliTest):
    def test_of_the_program(self):
        text = self.done("--help").text
        self.expected("help.txt", text)
        for words in (["-h"], ["help"]):
            self.assertEqual(self.done(*words).text, text)

    @unittest.skipUnless(HAVE_SQLITE, "the texts are those of a build with SQLite")
    def test_of_each_command(self):
        for command in COMMANDS:
            text = self.done(command, "--help").text
            self.expected(f"help-{command}.txt", text)
            full = self.done("help", command).text
            if command in ("collect", "watch"):
                self.expected(f"help-{command}-all.txt", full)
                self.assertLessEqual(len(text.splitlines()), 50 if command == "collect" else 60)
                self.assertLess(set(re.findall(r"--[\w-]+ ?[A-Z]* ", text)), set(re.findall(r"--[\w-]+ ?[A-Z]* ", full)))
            for words, wanted in (([command, "-h"], text), (["help", command], text if command not in ("collect", "watch") else full), (["--help", command], full),
                                  ([command, "-q", "--help"], text)):
                run = self.done(*words)
                self.assertEqual((run.text, run.err), (wanted, b""), words)

    def test_of_each_topic(self):
        topics = re.findall(r"^  (\w+)", self.done("help").text.partition("\nTopics ")[2].partition("\n\n")[0], re.M)
        self.assertGreaterEqual(len(topics), 5)
        for topic in topics:
            text = self.done("help", topic).text
            self.expected(f"help-{topic}.txt", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 110)

    def test_an_example_of_each_command(self):
        for command in COMMANDS:
            examples = self.done(command, "--help").text.partition("\nFor example:\n")[2].partition("\n\n")[0].splitlines()
            self.assertTrue(examples, command)
            for line in examples:
                words = shlex.split(line)
                self.assertIn(words[1], (command, "--name", "--pid") if command == "collect" else (command,))
                self.done(*words[1:], "--help")              # it is understood

    def test_two_screens(self):
        self.assertLessEqual(self.done("collect", "--help").text.count("\n"), 2 * 48)

    def test_every_status_is_documented(self):
        """The program lists all of src/cli/exit.h; a command lists those that it can return."""
        with open(os.path.join(SOURCE, "src", "cli", "exit.h"), encoding="utf-8") as f:
            every = set(re.findall(r"\bCLI_[A-Z]+ = (\d+)", f.read()))
        self.assertIn("4", every)
        for words in ((), *((c,) for c in COMMANDS)):
            told = set(re.findall(r"\b(\d+) [a-z]", self.done(*words, "--help").text.partition("\nExit status: ")[2]))
            self.assertEqual(told, every if words in ((), ("diff",), ("trend",)) else every - {"4"} - ({"3"} if words == ("mcp",) else set()), words)

    def test_fits_a_window(self):
        for words in ((), *((c,) for c in COMMANDS)):
            for line in self.done(*words, "--help").text.splitlines():
                self.assertLessEqual(len(line), 110, line)

    def test_without_arguments(self):
        run = self.done(code=2)
        text = run.err.decode()
        self.assertEqual(run.out, b"")
        self.assertLessEqual(text.count("\n"), 12)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        for words in re.findall(r"^  gcdumpc (.*?)  ", text, re.M):       # no line shows a missing feature
            command = words.split()[0]
            self.assertIn("collect" if command == "--pid" else command, COMMANDS)
        for command in ("ps", "--pid", "report", "leaks", "diff", "--help"):
            self.assertIn(f"gcdumpc {command}", text)

    def test_every_option_of_the_help_is_known(self):
        for command in COMMANDS:
            rows = re.findall(r"^  (?:-(\w), |    )--([\w-]+)( \w+)?  ", self.done(command, "--help").text, re.M)
            self.assertGreater(len(rows), 2)
            for letter, name, argument in rows:
                for option in filter(None, (f"--{name}", letter and f"-{letter}")):
                    if argument:
                        self.refused(2, rf"--{name} needs{argument}; see gcdumpc {command} --help", command, option)
                    else:
                        value = "=x" if option == f"--{name}" else "x"
                        why = "takes (1 or 2|none, masked or raw|keep, remove or hash), .*" if name in ("json", "show-values", "redact") else f"takes no value; see gcdumpc {command} --help"
                        self.refused(2, f"--{name} {why}", command, option + value)

    def test_version(self):
        with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as f:
            version = re.search(r"project\(gcdumpc VERSION ([\d.]+)", f.read())[1]
        run = self.done("--version")
        self.assertEqual((run.text, run.err), (f"gcdumpc {version}\n", b""))


class WrongUse(CliTest):
    def test_commands(self):
        for word in ("bogus", "-", "", "Convert"):
            meant = r' \(did you mean "convert"\?\)' if word == "Convert" else ""
            self.refused(2, rf'there is no command "{word}"{meant}; see gcdumpc --help', word)
        self.refused(2, r'there is no command "a\?b\?\[31m"; .*', "a\nb\x1b[31m")

    def test_options(self):
        for command in COMMANDS:
            for option in ("--bogus", "--bogus=1", "-x", "-xy", "--Help", "--outpu"):
                self.refused(2, rf'{command} has no option "{option}"(?: \(.*\))?; see gcdumpc {command} --help', command, option)
        self.refused(2, r'collect has no option "--bogus"; .*', "--bogus")
        self.refused(2, r'report has no option "--\?\?\[m"; .*', "report", "--\n\x1b[m")
        for command, option in (("info", "--output"), ("info", "--sort"), ("ps", "--strict"), ("collect", "--walk"),
                                ("collect", "--json"), ("convert", "--pid"), ("convert", "--sort")):
            self.refused(2, rf'{command} has no option "{option}" \(an option of .*\); .*', command, option, "1")

    def test_numbers(self):
        for option, least, most in (("--top", 1, 2**32 - 1), ("--walk", 1, 65536),
                                    ("--pid", 1, 2**32 - 1), ("--buffer", 1, 4095), ("--timeout", 1, 1000000),
                                    ("--max-block", 1024, 2**30), ("--max-objects", 1, 2**64 - 1), ("--max-buffer", 1, 4095), ("--retries", 0, 100)):
            for value in (least - 1, most + 1, 2**64, 2**64 + 1024, "", "x", "-1", "+1", " 1", "1 ", "0x400", "1.5", "1e3"):
                self.refused(2, rf'{option} takes a number from {least} to {most}(?: \(or as 64K, 16M, 16MB, 2GiB, by 1,024\))?, not "{re.escape(str(value))}"; '
                             r"see gcdumpc report --help", "report", option, value)

    def test_process_is_a_number_or_a_name(self):
        for value in (0, 2**32, 2**64, ""):
            self.refused(2, rf'--process takes a number from 1 to {2**32 - 1}, not "{value}"; see gcdumpc report --help',
                         "report", "--process", value)

    def test_sizes(self):
        for value in ("1023", "2G", "1T", "16Mb", "16Ki", "K", "18014398509481984K", "1 K"):
            self.refused(2, rf'--max-block takes a number .*, not "{value}"; see gcdumpc info --help', "info", "--max-block", value)
        name = self.put("small.nettrace", small_trace())
        for value in ("1024", "1K"):
            self.refused(1, r"small.nettrace: a block of \d+ bytes is larger than the limit of 1024.*", "info", name, "--max-block", value)
        for value in ("2K", "16M", "1G", "1073741824"):
            self.done("info", name, "--max-block", value)

    def test_names(self):
        for value in ("size", "", "Bytes", "byte"):
            self.refused(2, rf'--sort takes bytes, count, name or retained, not "{value}".*', "report", "--sort", value, "f")
        for value in ("two", "", "Drain"):
            self.refused(2, rf'--strategy takes auto, single, drain or direct, not "{value}".*', "report", "--strategy", value, "--pid", "1")
        self.refused(2, r'there is no format "bogus"; there is: gclog.*', "convert", "f", "-o", "x", "--format", "bogus")

    def test_folders_of_modules(self):
        name = self.put("small.nettrace", small_trace())
        self.refused(2, r"give one of --modules and --no-modules; .*", "report", name, "--modules", ".", "--no-modules")
        self.refused(1, r"nowhere: cannot search the folder of --modules: No such file or directory", "report", name, "--modules", ".",
                     "--modules", "nowhere")
        self.refused(1, rf"{name}: cannot search the folder of --modules: Not a directory", "diff", name, name, "--modules", name)
        self.refused(1, r"nowhere: cannot search .*", "info", "--pid", "1", "--modules", "nowhere")
        self.done("report", name, "--modules", ".", "--modules", self.tmp)

    def test_files(self):
        for command in ("convert", "info", "report"):
            self.refused(2, rf"a file is needed; see gcdumpc {command} --help", command)
            self.refused(2, rf"a file is needed; see gcdumpc {command} --help", command, "--")
            self.refused(2, rf'{command} does not know what to do with "9"; see gcdumpc {command} --help', command, *"123456789")
        for command in ("info", "report"):
            self.refused(2, rf"give a file or a process, not both; see gcdumpc {command} --help", command, "a", "--pid", "1")
        for words in (["collect"], ["collect", "-o", "x"], ["-o", "x"]):
            self.refused(2, r"collect needs the process: --pid N, --name NAME, --container ID, --port PATH, --listen ADDR or --all; see gcdumpc collect --help", *words)
        for words in (["collect", "--pid", "1", "x"], ["--pid=1", "x", "-o", "y"]):
            self.refused(2, r'collect does not know what to do with "x"; .*', *words)

    def test_processes(self):
        for command in ("collect", "info", "report"):
            for words in (["--pid", "1", "--name", "a"], ["--name", "a", "--port", "b"], ["--port", "b", "--pid", "1"], ["--listen", "c", "--pid", "1"]):
                self.refused(2, rf"give one of --pid, --name, --port and --listen; see gcdumpc {command} --help", command, *words, "-q")
            self.refused(2, rf"--name needs a name; see gcdumpc {command} --help", command, "--name", "")
            self.refused(2, rf"--delay needs --listen; see gcdumpc {command} --help", command, "--pid", "1", "--delay", "1")
        self.refused(2, r'ps does not know what to do with "x"; see gcdumpc ps --help', "ps", "x")

    def test_one_of_two_that_exclude_each_other(self):
        for command in ("report", "diff", "trend", "leaks", "retained"):
            inputs = ("missing", "missing")[:1 + (command in ("diff", "trend"))]
            for option in ("--json", "--json=1", "--csv"):
                self.refused(1, ".*missing: cannot open: .*", command, *inputs, option)

    def test_options_that_have_moved_to_collect(self):
        """Accepted by the analyses in this version, with a note; not in their help."""
        for words in (["--buffer=64"], ["--strategy", "drain"], ["--retries", "2"], ["--force"], ["--wait", "1"], ["-b4"]):
            name = "--buffer" if words == ["-b4"] else words[0].partition("=")[0]
            run = self.gcdumpc("report", "--port", "missing.sock", *words)
            self.assertEqual(run.code, 1, run.err)
            self.assertRegex(run.lines[0], rf"\Agcdumpc: {name} is an option of collect: .*; report takes it in this version only\Z")
            self.assertNotIn(name + " ", self.done("report", "--help").text)
            self.assertNotIn("is an option of", self.gcdumpc("collect", "--port", "missing.sock", "-o", "x", *words).err.decode())

    def test_what_is_for_processes_only(self):
        for words in (["--max-buffer", "5"], ["--retries", "0"], ["--retries", "7"], ["--keep-partial"], ["--force"]):
            for command in ("info", "report"):
                self.refused(2, r"--buffer, .*--force are for running processes \(--pid\); .*", command, "f", *words)
            self.refused(2, rf'convert has no option "{words[0]}" \(an option of collect, watch\); .*', "convert", "f", "-o", "x", *words)
        self.refused(2, r"--buffer is larger than --max-buffer; .*", "info", "--pid", "1", "--buffer", "6", "--max-buffer", "5")
        self.refused(2, r"give one of --keep-partial and --strict; .*", "--pid", "1", "-o", "x", "--keep-partial", "--strict")

    @unittest.skipIf(os.environ.get("GCDUMPC_IPC") == "OFF", "this build has no support for living processes")
    def test_names_with_fields(self):
        self.refused(2, r"names with fields, .* need --pid, --name, --container or --all.*", "--port", "x", "-o", "%p-%s.gclog")
        self.refused(2, r"several processes need a name with %p in it.*", "--all", "-o", "%s.gclog")
        self.refused(2, r"several processes need a --save-trace with %p in it.*", "--all", "-o", "%p-%s.gclog", "--save-trace", "x.nettrace")
        self.refused(2, r"--if-grown compares with .*; it needs a name with fields.*", "--pid", "1", "-o", "x.gclog", "--if-grown", "10%")
        for output in (("-o", "%n%s.gclog"), ("-o", "%n-%s.gclog", "--save-trace", "%n%s.nettrace")):
            for option in (("--keep", "1"), ("--min-interval", "1h")):
                self.refused(2, r"earlier dumps of one name cannot be told from those of another where %n or %h touches %p or %s; .*", "--pid", "1",
                             *output, *option)
        for option in ("--if-rss-above", "--if-free-disk", "--if-free-memory", "--max-total"):
            for value, refused in (("85", True), ("1048575", True), ("0085", True), ("1048576", False), ("85B", False), ("1K", False)):
                message = rf'{option} "{value}": without a unit these are {value} bytes: write {value}M, or {value}B if bytes are meant' if refused \
                    else "there is no process 4194303.*"
                self.refused(2 if refused else 1, message, "--pid", "4194303", "-o", "%p-%Y%m%d%H%M%S.gclog", option, value)
        self.refused(2, '--if-rss-above takes a number from 1 .*, not "85BB".*', "--pid", "1", "-o", "x.gclog", "--if-rss-above", "85BB")
        self.refused(2, r"--keep, --keep-days and --max-total are for outputs that are files.*", "--pid", "1", "-o", "%p-%Y%m%d%H%M%S.csv", "--keep", "1")

    def test_recordings(self):
        name = self.put("small.nettrace", small_trace())
        self.refused(2, r'convert has no option "--plain".*', "convert", name, "-o", "x.nettrace", "--plain")
        self.done("convert", name, "-o", "x.nettrace", "-f", "gclog")    # available on request
        self.refused(2, r'there is no format "bogus"; there is: gclog, .*, nettrace', "--pid", "1", "-o", "x", "--format", "bogus")
        for command in ("info", "report"):
            self.refused(2, rf"--save-trace keeps the stream of a process, not of a file; see gcdumpc {command} --help",
                         command, name, "--save-trace", "y")
            self.refused(2, r"--save-trace needs a file of its own; .*", command, "--pid", "1", "--save-trace", "-")
        os.symlink("small.nettrace", self.path("link"))
        for pair in (("y", "y"), ("y", "./y"), (self.path("y"), "y"), ("-", "-"), (name, "./" + name), ("link", name)):
            self.refused(2, r"--save-trace needs a file of its own; .*", "--pid", "1", "-o", pair[0], "--save-trace", pair[1])
        self.refused(1, r"no/such/t.nettrace: .*folder.*", "--pid", "1", "-o", "y", "--save-trace", "no/such/t.nettrace")
        for name in ("t.gcdump", "t.gclog.gz", "t.html", "t.sqlite", "t.db", "t.etl", "t.netperf"):
            self.put(name, b"a dump")
            self.refused(2, rf'--save-trace writes a recording, and "{name}" is the name of another file \([a-z]+\); name it FILE.nettrace',
                         "report", "--pid", "1", "--save-trace", name)
            self.assertEqual(self.get(name), b"a dump")

    def test_outputs(self):
        for name in ("f", "-"):
            self.refused(2, r"convert needs an output: -o FILE, .*; see gcdumpc convert --help", "convert", name)

    def test_the_version_has_a_letter(self):
        self.assertEqual(self.done("-V").text, self.done("--version").text)

    def test_sizes_with_and_without_the_unit(self):
        """All mean the same; a unit of something else, or half of one, is wrong."""
        name = self.link("net10-wks")
        few = {self.done("report", name, "--min-bytes", size).text for size in ("20K", "20KB", "20KiB", "20480", "20k", "20kb", "20kib")}
        self.assertEqual(len(few), 1)
        for wrong in ("20Ki", "20BB", "20KBB", "20Kb", "20iB"):
            self.refused(2, r"--min-bytes takes a number .* \(or as 64K, 16M, 16MB, 2GiB, by 1,024\), not .*", "report", name, "--min-bytes", wrong)

    def test_no_such_process(self):
        self.refused(1, r"(?:there is no process 4294967295; .+|process 4294967295: this build .+)", "--pid", "4294967295", "-o", "x")

    @unittest.skipIf(os.environ.get("GCDUMPC_IPC") == "OFF", "this build cannot talk to processes")
    def test_no_such_name_or_port(self):
        self.refused(1, r'no \.NET process is called "no such\?program".*; see gcdumpc ps', "--name", "no such\nprogram", "-o", "x")
        for form in ("missing", "unix:missing"):
            self.refused(1, r"missing: .*there is no diagnostic socket missing; gcdumpc ps .*", "--port", form, "-o", "x")
        self.refused(1, r"file: is not a socket; gcdumpc ps .*", "report", "--port", self.put("file", b""))
        for form in ("", "unix:", "x" * 5000):
            self.refused(2, r"--port takes the path of a socket, not \".*\"", "info", "--port", form)
        for form in ("", "unix:", "x" * 5000, "a,suspend", "a;b"):
            self.refused(2, r'--listen takes the path of a socket, without "," and ";", or tcp:HOST:PORT, not ".*"', "info", "--listen", form)
        self.refused(1, r"cannot listen at file: a file with that name exists and is not a socket", "report", "--listen", "unix:file")


class Forms(CliTest):
    """All spellings of one command line."""

    def setUp(self):
        super().setUp()
        self.put("in", small_trace())
        self.whole = self.done("convert", "in", "-o", "-").out

    def written(self, name, *words):
        self.done("convert", *words)
        self.assertEqual(self.get(name), self.whole, words)
        os.unlink(self.path(name))
        self.assertEqual(os.listdir(self.dir), ["in"])

    def test_of_options(self):
        for output in (["-o", "out"], ["-oout"], ["--output", "out"], ["--output=out"]):
            self.written("out", "in", *output)
            self.written("out", *output, "in")
            self.written("out", "-q", *output, "--", "in")
            for form in (["-f", "gclog"], ["-fgclog"], ["--format", "gclog"], ["--format=gclog"]):
                self.written("out", *form, "in", *output)
        self.written("a=b", "in", "--output=a=b")
        self.written("--out", "in", "-o", "--out")
        self.written("--", "in", "-o", "--")
        self.written("x.png", "in", "-o", "x.png", "--format", "gclog")

    def test_names_of_earlier_releases(self):
        """They work the same, and no help shows them."""
        for old, new, words in (("--dump", "--walk", ("info", trace("net10-wks"), "{}", "1")), ("--dump=1", "--walk=1", ("info", trace("net10-wks"), "{}")),
                                ("--fold", "--stack-by", ("convert", trace("net10-wks"), "-f", "collapsed", "-o", "-", "-q", "{}", "paths"))):
            runs = [self.done(*(w.replace("{}", name) for w in words)) for name in (old, new)]
            self.assertEqual(runs[0].out, runs[1].out)
            self.assertEqual(runs[0].err, runs[1].err)
            self.assertNotIn(old.split("=")[0] + " ", self.done(words[0], "--help").text)
        self.refused(2, r"give one of --pid, --name, --port and --listen; .*", "collect", "--pid", "1", "--connect", "a", "-o", "x.gclog")

    def test_words_after_the_double_dash(self):
        os.rename(self.path("in"), self.path("--in"))
        self.assertEqual(self.done("convert", "-o", "-", "--", "--in").out, self.whole)
        self.refused(2, r"convert needs an output: .*", "convert", "--", "--in", "-o", "out")

    def test_numbers(self):
        rows = self.done("report", "in", "--top=1").text
        self.assertIn("(2 more types)", rows)
        for form in (["-n1"], ["-n", "1"], ["--top", "01"]):
            self.assertEqual(self.done("report", *form, "in").text, rows)

    def test_the_output_must_not_be_the_input(self):
        os.symlink("in", self.path("symbolic"))
        os.link(self.path("in"), self.path("hard"))
        for output in ("in", "./in", "symbolic", "hard", self.path("in")):
            self.refused(2, r"in: is the input and the output; choose another name for -o", "convert", "in", "-o", output)
        self.refused(2, r"symbolic: is the input and the output; choose another name for -o", "convert", "symbolic", "-o", "in")
        with open(self.path("in"), "rb") as f:
            self.refused(2, r"standard input: is the input and the output; choose another name for -o", "convert", "-", "-o", "in", stdin=f)


if __name__ == "__main__":
    main()
