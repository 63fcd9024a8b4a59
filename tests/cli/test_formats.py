"""Formats as a user sees them: truncated and odd dumps, impossible outputs, full disks, Ctrl-C during each writer."""
import contextlib
import csv
import gzip
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile

from cli_support import HAVE_SQLITE, NO_ROOM, SECONDS, SPARSE, CliTest, genheap, main, small_trace, trace, types_trace

PLACES = {"csv": "csv", **({"sqlite": "sqlite"} if HAVE_SQLITE else {})}
STREAMS = {"gclog": "gclog", "gcdump": "gcdump", "v8": "heapsnapshot", "dart": "dartheap", "pprof": "pb", "collapsed": "folded", "html": "html"}
FORMATS = {**STREAMS, **PLACES}                      # name: suffix
READ = {name: STREAMS[name] for name in ("gclog", "gcdump", "dart")}
FULL = re.escape(NO_ROOM)
READING = (["info"], ["report", "--json"], ["convert", "-o", "old"], ["convert", "-o", "new.csv"])


class FormatTest(CliTest):
    def converted(self, source, **formats):
        """SOURCE in FORMATS, as bytes by name."""
        found = {}
        for name, suffix in formats.items():
            self.done("convert", source, "-q", "-o", f"made.{suffix}")
            found[name] = self.get(f"made.{suffix}")
            os.unlink(self.path(f"made.{suffix}"))
        return found

    @staticmethod
    def size_of(path):
        """0 if it has gone: the program may be running."""
        with contextlib.suppress(FileNotFoundError):
            return os.path.getsize(path)
        return 0

    def tree(self):
        """All files of the test and their sizes."""
        return {os.path.relpath(os.path.join(top, n), self.dir): self.size_of(os.path.join(top, n))
                for top, _, names in os.walk(self.dir) for n in names}


class Cut(FormatTest):
    """Truncated dumps.  Binary files are refused; the complete lines of a gclog are used, with exit status 3."""

    def setUp(self):
        super().setUp()
        self.put("in", small_trace())
        self.put("old", b"the output of another day")
        self.small, self.real = self.converted("in", **READ), self.converted(trace("net10-wks"), **READ)

    def cuts(self, whole, step):
        return sorted({*range(1, min(len(whole), 64)), *range(64, len(whole), step * SPARSE), len(whole) - 2, len(whole) - 1})

    def needs_nearly_all(self, whole, most, pattern, codes=(0, 3)):
        """If at most MOST bytes are missing at the end, all is still reported, with one of CODES (0: the cut is a file of an older version); if more are, the dump is refused."""
        text = self.done("report", "-", data=whole).text
        for n in self.cuts(whole, 5):
            run = self.gcdumpc("report", "-", data=whole[:n])
            if n >= len(whole) - most and run.code != 1:
                self.assertIn(run.code, codes, n)
                self.assertEqual(re.sub(r"\(INCOMPLETE .*\n", "", run.text), text, n)
            else:
                self.assertEqual((run.code, run.out), (1, b""), n)
                self.assertRegex(run.err.decode(), rf"\Agcdumpc: standard input: {pattern}\n\Z")

    def refused_by_all(self, data, pattern):
        for command in READING:
            self.refused(1, rf"cut: {pattern}", *command, self.put("cut", data))
        self.refused(1, rf"standard input: {pattern}", "convert", "-", "-o", "old", data=data)
        self.refused(1, rf"cut\.gz: {pattern}", "report", self.put("cut.gz", gzip.compress(data)))
        os.unlink(self.path("cut.gz"))

    def test_empty(self):
        self.refused_by_all(b"", r"the input is empty.*")

    def test_gcdump(self):
        """At the end are a checksum and the table of references, which no reader needs."""
        self.needs_nearly_all(self.small["gcdump"], 40, r"(the file ends within its header|.*ends early|is not a \.nettrace).*", codes=(3,))
        for n in (500, 20000, len(self.real["gcdump"]) * 2 // 3):
            self.refused_by_all(self.real["gcdump"][:n], rf"the \.gcdump ends early, at byte {n} \(at byte \d+\)")

    def test_dart(self):
        """At the end are identity hash codes, 4 bytes for each of 3 objects, their root and its groups, and a checksum."""
        self.needs_nearly_all(self.small["dart"], 4 * 6 + 12, r"(the data end early|is neither a recording).*")
        for n in (30, 5000, len(self.real["dart"]) // 2):
            self.refused_by_all(self.real["dart"][:n], rf"the data end early \(at byte {n}\)")

    def test_gclog(self):
        whole = self.real["gclog"]
        objects = 0
        for n in (len(whole) // 5, len(whole) // 2, len(whole) - 300, len(whole) - 30):
            run = self.done("convert", self.put("cut", whole[:n]), "-o", "new.gcdump", code=3)
            self.assertRegex(run.err.decode(), r"gcdumpc: cut: the dump is incomplete: the file ends before its last record, at line \d+")
            self.assertRegex(run.lines[-1], r"\Agcdumpc: new\.gcdump: [\d,]+ objects, .*, INCOMPLETE\Z")
            found = int(re.search(r"([\d,]+) objects", run.lines[-1])[1].replace(",", ""))
            self.assertGreater(found, objects)
            objects = found
            again = self.done("info", "new.gcdump", code=3)          # it stays known
            self.assertRegex(again.text, r"\nverdict +incomplete\n +the file ends before its last record")
        self.assertGreater(objects, 17000)

    def test_anywhere(self):
        for name, whole in self.small.items():
            for n in self.cuts(whole, 7):
                run = self.gcdumpc("convert", "-", "-q", "-o", "new.gclog", data=whole[:n])
                self.assertIn(run.code, (0, 1, 3), (name, n))
                self.assertEqual(os.path.exists(self.path("new.gclog")), run.code != 1)
                if run.code == 1:
                    self.assertEqual(len(run.lines), 1, run.lines)
                else:
                    os.unlink(self.path("new.gclog"))


class OtherFiles(FormatTest):
    def test_formats_that_are_written_only(self):
        self.put("in", small_trace())
        for name, data in self.converted("in", **{n: s for n, s in FORMATS.items() if n not in (*READ, "csv")}).items():
            for command in (["info"], ["report"], ["convert", "-o", "new.gclog"]):
                self.refused(1, rf"{name}: is neither a recording \(\.nettrace, \.etl\) nor a core file, nor a dump .*", *command, self.put(name, data))

    def test_a_folder_of_tables(self):
        self.done("convert", trace("net10-wks"), "-o", "x.csv")
        self.refused(1, r"x\.csv: is a directory, not a recording; name a file", "report", "x.csv")

    def test_more_than_one_dump(self):
        for suffix in READ.values():
            self.done("convert", trace("net10-wks"), "-o", f"x.{suffix}")
            for words in (["--walk", "2"], ["--process", "5"]):
                self.refused(1, rf"x\.{suffix}: contains only one dump; .*", "report", f"x.{suffix}", *words)


class Odd(FormatTest):
    """Any heap can be written in all formats, and the readable ones give the same heap again."""
    LONG = "N" * 65000
    NAMES = ['say "hi"\\ there', "lone\ud800 surrogate", LONG, "=cmd", "'quote", "a;b,c", "\x01\x1b[31m", "\U0001d4b3.Big",
             "<script> x", "Detached <b>", "x [y]", "Root", "[handles]"]

    def in_all(self, name, **more):
        for suffix in FORMATS.values():
            self.done("convert", name, "-o", f"out.{suffix}", **more)
        self.addCleanup(lambda: [shutil.rmtree(self.path("out.csv"), ignore_errors=True)])

    def rows(self, name):
        return [line.split(None, 3)[:3] for line in self.done("report", name).text.splitlines()[1:]]

    def test_names(self):
        self.put("in", types_trace(*((n, 2, 24 + 8 * i) for i, n in enumerate(self.NAMES)), ("two\nlines", 1, 2000)))
        self.in_all("in")
        whole = self.done("report", "in").text
        self.assertTrue("lone\ufffd surrogate" in whole)
        for name, suffix in READ.items():
            self.assertEqual(self.rows(f"out.{suffix}"), self.rows("in"), name)
            names = {t["type"] for t in json.loads(self.done("report", f"out.{suffix}", "--json").text)["types"]}     # whole ones
            for type_name in ('say "hi"\\ there', "\U0001d4b3.Big", "lone\ufffd surrogate", self.LONG):
                self.assertTrue(type_name in names, (name, type_name[:30]))
        with open(self.path("out.csv", "types.csv"), newline="", encoding="utf-8") as f:
            names = [row["name"] for row in csv.DictReader(f)]
        missing = {'say "hi"\\ there', "'=cmd", "''quote", "lone\ufffd surrogate", "a;b,c", "two?lines", self.LONG} - set(names)
        self.assertEqual({n[:30] for n in missing}, set())
        for line in self.get("out.folded").decode().splitlines():
            self.assertRegex(line, r"\A[^;]+;[^;]+ \d+\Z")

    def gclog(self, *lines):
        return self.put("in.gclog", "".join(line + "\n" for line in ("a 2 x 0", *lines, "c x 0")).encode())

    def test_no_object(self):
        self.in_all(self.gclog())
        for suffix in READ.values():
            self.assertRegex(self.done("info", f"out.{suffix}").text, r"objects +0\n")

    def test_no_root(self):
        self.in_all(self.gclog("t 1 Ring", "o 10 1 20 20", "o 20 1 18 10"))
        for suffix in READ.values():
            self.assertRegex(self.done("info", f"out.{suffix}").text, r"objects +2\n(?s:.*)roots +0")
        self.assertIn(b"[not reachable from roots];Ring 56", self.get("out.folded"))

    def test_an_object_of_8_eib(self):
        """Formats that cannot store it say so, once."""
        name = self.gclog("t 1 Big", "r 10 1 0", "o 10 1 8000000000000000 20", "o 20 1 18")
        said = {}
        for kind, suffix in FORMATS.items():
            run = self.done("convert", name, "-o", f"out.{suffix}")
            said[kind] = [line for line in run.lines if f"in the {kind} format, " in line]
        self.assertEqual({k for k, lines in said.items() if lines}, {"gcdump", "v8", "dart", "pprof", *(["sqlite"] if HAVE_SQLITE else [])})
        self.assertEqual({len(lines) for lines in said.values()}, {0, 1})
        self.assertRegex(said["v8"][0], "1 object is larger than 4 GiB")
        self.assertEqual(self.done("convert", name, "-q", "-o", "out.gcdump").err, b"")
        for kind, total in (("gclog", 2 ** 63 + 24), ("dart", 2 ** 63 + 24), ("gcdump", 2 ** 31 - 1 + 24)):
            self.assertRegex(self.done("report", f"out.{READ[kind]}").text, rf"2 +{total} ")

    def test_cycles_and_wrong_counts(self):
        """Very many types, dangling references and too large numbers are counted, not followed."""
        name = self.gclog("t 1 A", "t 1 B", "o 10 1 20 10 10 30", "o 10 1 20", "o 20 9 18", "r 99 1 0", "o 40 1 10000000000000000", "x")
        for suffix in FORMATS.values():
            run = self.gcdumpc("convert", name, "-o", f"out.{suffix}")
            self.assertEqual(run.code, 3, run.err)
            self.assertIn(b"in.gclog: the dump is incomplete: ", run.err)


class Options(FormatTest):
    def test_dangling_references(self):
        """Counted and dropped, or kept as one object that no format counts with the others."""
        self.put("in.gclog", b"a 2 x 0\nt 1 A\nr 99 1 0\no 10 1 18 88 20\no 20 1 18\nc x 0\n")
        counts = {}
        for option in ([], ["--keep-unknown"]):
            for suffix in ("csv", *READ.values()):
                run = self.done("convert", "in.gclog", "-o", f"out{len(option)}.{suffix}", *option)
                self.assertEqual(run.lines[:2], ["gcdumpc: in.gclog: 1 reference leads to addresses without an object",
                                                 "gcdumpc: in.gclog: 1 root holds addresses without an object"])
            with open(self.path(f"out{len(option)}.csv", "edges.csv"), encoding="utf-8") as f:
                counts[len(option)] = f.read().splitlines()[1:]
            for suffix in READ.values():
                self.assertRegex(self.done("report", f"out{len(option)}.{suffix}").text, r"\n +2 +48 .*total, 1 type\n\Z")
        self.assertEqual(counts, {0: ["0,0,1,,"], 1: ["0,0,2,,", "0,1,1,,"]})
        self.assertEqual(self.get("out0.gclog"), self.get("out1.gclog"))
        self.assertRegex(self.gcdumpc("report", "out1.gcdump").err.decode(), r"2 references lead to addresses without an object")

    def test_names(self):
        shown = {}
        for style in ("csharp", "raw"):
            for suffix in ("gcdump", "heapsnapshot", "dartheap", "folded"):
                self.done("convert", trace("net10-wks"), "-q", "-o", f"{style}.{suffix}", "--names", style)
                data = self.get(f"{style}.{suffix}")
                data = data.replace(b"\0", b"") if suffix == "gcdump" else data
                shown[style, suffix] = (b"Dictionary<System.Char, System.String>" in data, b"Dictionary`2[System.Char,System.String]" in data)
        self.assertEqual({k: v for k, v in shown.items() if v != (k[0] == "csharp", k[0] == "raw")}, {})
        self.refused(2, '--names takes default, csharp or raw, not "java"', "convert", "csharp.gcdump", "-o", "new.gclog", "--names", "java")

    def test_folds(self):
        for how in ("dominators", "paths"):
            self.done("convert", trace("net10-wks"), "-o", f"{how}.folded", "--stack-by", how)
        sums = [sum(int(line.rpartition(b" ")[2]) for line in self.get(f"{how}.folded").splitlines()) for how in ("dominators", "paths")]
        self.assertEqual(sums, [1378569] * 2)
        self.assertTrue(self.get("paths.folded") != self.get("dominators.folded"))
        self.refused(2, '--stack-by takes dominators, paths or waits, not "up"', "convert", "paths.folded", "-o", "new.folded", "--stack-by", "up")

    def test_losses(self):
        """Losses are one line with amounts; without losses there is no line."""
        weak, flags = "20 weak roots are not stored; ", "2 roots lose their flags (pinned, interior)"
        handles, statics = "7 dependent handles become references of their keys", "314 static variables lose their names; "
        expected = {"gclog": statics + handles, "gcdump": f"{weak}{flags}; {handles}", "dart": f"{weak}{flags}; {statics}{handles}",
                    "v8": f"{flags}; 17,646 objects lose their addresses"}
        for name, suffix in FORMATS.items():
            run = self.done("convert", trace("net10-wks"), "-o", f"out.{suffix}")
            losses = [f"gcdumpc: out.{suffix}: in the {name} format, {expected[name]}"] if name in expected else []
            self.assertEqual(run.lines[:-1], losses)


class WrongOutput(FormatTest):
    def setUp(self):
        super().setUp()
        self.put("in", small_trace())

    def test_names_of_formats(self):
        there = ", ".join((*FORMATS, "nettrace"))
        for wrong in ("xml", "GCDUMP", "gcdump ", "heapsnapshot", ""):
            self.refused(2, rf'there is no format "{wrong}"(?: \(did you mean "\w+"\?\))?; there is: {there}',
                         "convert", "in", "-o", "out", "-f", wrong)

    def test_suffixes(self):
        for wrong in ("out.foo", "out.gcdump.bak", "out.csv.gz", "out.sqlite.gz"):
            self.refused(2, rf'the name "{re.escape(wrong)}" does not tell the format; use --format with one of: .*',
                         "convert", "in", "-o", wrong)
        self.refused(2, r'no dump format has the suffix of "out\.json"; gcdumpc report .*',
                     "convert", "in", "-o", "out.json")
        for name, output in (("gcdump", "out.foo"), ("v8", "out.gcdump"), ("csv", "out.gclog")):
            run = self.done("convert", "in", "-o", output, "-f", name)
            self.assertRegex(run.lines[-1], rf"{output}: .*{name}( written)?, complete\Z")

    def test_the_input_as_output(self):
        for suffix in READ.values():
            self.done("convert", "in", "-o", f"x.{suffix}")
            self.refused(2, rf"x\.{suffix}: is the input and the output; choose another name for -o", "convert", f"x.{suffix}", "-o", f"x.{suffix}")

    def test_folders_and_databases_cannot_be_streamed(self):
        for name in PLACES:
            self.refused(2, rf"{name} is not a stream of bytes; give a name with -o", "convert", "in", "-o", "-", "-f", name)
        self.refused(1, r"/dev/full: exists and is not a folder", "convert", "in", "-o", "/dev/full", "-f", "csv")
        if HAVE_SQLITE:
            self.refused(1, r"/dev/full: is not a regular file, .*", "convert", "in", "-o", "/dev/full", "-f", "sqlite")

    def test_folders_that_are_there(self):
        """An empty name counts as none; the others lose nothing."""
        os.mkdir(self.path("x.csv"))
        self.done("convert", "in", "-o", "x.csv")
        whole = self.tree()
        self.assertIn("x.csv/objects.csv", whole)
        for output in ("x.csv", "x.csv/", "./x.csv"):
            self.refused(1, rf"{re.escape(output)}: is a folder that is not empty; name a new one", "convert", "in", "-o", output)
        self.put("y.csv", b"a file")
        self.refused(1, r"y\.csv: exists and is not a folder", "convert", "in", "-o", "y.csv")
        os.symlink("x.csv", self.path("link.csv"))
        self.refused(1, r"link\.csv: exists and is not a folder", "convert", "in", "-o", "link.csv")
        for output in (".", "..", "/"):
            self.refused(1, rf"{re.escape(output)}: names no folder of its own", "convert", "in", "-o", output, "-f", "csv")
        self.assertEqual({k: v for k, v in self.tree().items() if k in whole}, whole)

    def test_missing_folders(self):
        for suffix in FORMATS.values():
            self.refused(1, rf'no/x\.{suffix}: cannot create a f\w+ in the folder "no/": No such file or directory; create that folder .*',
                         "convert", "in", "-o", f"no/x.{suffix}")

    def test_folders_that_may_not_be_written(self):
        os.mkdir(self.path("locked"))
        os.chmod(self.path("in"), 0o644)
        options = self.as_nobody()
        os.chmod(self.path("locked"), 0o555)
        self.addCleanup(os.chmod, self.path("locked"), 0o755)
        for suffix in FORMATS.values():
            self.refused(1, rf"locked/x\.{suffix}: cannot create .*: Permission denied; .*", "convert", "in", "-o", f"locked/x.{suffix}", **options)
        self.assertEqual(os.listdir(self.path("locked")), [])

    def test_databases_in_use(self):
        if not HAVE_SQLITE:
            self.skipTest("built without SQLite")
        self.put("x.db", b"an older one")
        self.put("x.db-wal", b"what was not written back")
        self.refused(1, r'x\.db: an older database of that name is in use or was not closed: .*"-wal"', "convert", "in", "-o", "x.db")
        os.unlink(self.path("x.db-wal"))
        self.done("convert", "in", "-o", "x.db")
        self.assertEqual(self.get("x.db")[:15], b"SQLite format 3")


class FullDisk(FormatTest):
    """One line, exit status 1, nothing left; an older output stays."""

    def test_full_device(self):
        for name in STREAMS:
            for source in (self.put("in", small_trace()), trace("net10-wks")):
                self.refused(1, f"/dev/full: {FULL}", "convert", source, "-o", "/dev/full", "-f", name)
            with open("/dev/full", "wb") as full:
                self.refused(1, f"standard output: {FULL}", "convert", trace("net10-wks"), "-o", "-", "-f", name, stdout=full)

    def test_limit_of_file_sizes(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        for suffix in FORMATS.values():
            self.refused(1, rf"out\.{suffix}: .*(File too large|full|I/O error).*", "convert", trace("net10-wks"), "-o", f"out.{suffix}",
                         preexec_fn=limit)

    def test_small_disk(self):
        """A file system of 100 KB, in the program's own mount namespace."""
        script = ('mount -t tmpfs -o size=100k none "$1" || exit 77; cd "$1"; echo other >"old.$2"; "$3" convert "$4" -o "new.$2"; status=$?\n'
                  '"$3" convert "$4" -o "old.$2" -f "$5" 2>/dev/null && exit 99; ls -A; exit $status')
        os.mkdir(self.path("disk"))
        for name, suffix in FORMATS.items():
            words = ["unshare", "--mount", "sh", "-c", script, "sh", self.path("disk"), suffix, os.environ["GCDUMPC"], trace("net10-wks"), name]
            done = subprocess.run(words, capture_output=True, text=True, env=self.environment(), timeout=SECONDS)
            if done.returncode in (1, 77) and ("unshare" in done.stderr or "mount" in done.stderr):
                self.skipTest("no file system could be mounted")
            if name in ("pprof", "collapsed"):                       # small enough
                self.assertEqual(done.returncode, 99, done.stderr)
                continue
            self.assertEqual((done.returncode, done.stdout), (1, f"old.{suffix}\n"), (name, done.stderr))
            self.assertRegex(done.stderr, rf"\Agcdumpc: new\.{suffix}: .*([Nn]o space left).*\n\Z")


class Interrupted(FormatTest):
    """Ctrl-C while the graph is built, while the output is written, and at any other time; once or twice."""

    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.made)
        subprocess.run([genheap(cls.made), "-n", "300000", "-o", os.path.join(cls.made, "in")], check=True, stdout=subprocess.DEVNULL)

    def setUp(self):
        super().setUp()
        os.symlink(os.path.join(self.made, "in"), self.path("in"))
        self.before = self.tree()

    def temporary(self):
        """Sizes of the temporary output, or of the files in it."""
        return [size for name, size in self.tree().items() if "-tmp" in name]

    def begun(self):
        return any("-tmp" in name for name in os.listdir(self.dir))

    def stopped(self, process, condition):
        """Stops PROCESS as soon as CONDITION holds; False: it finished before that."""
        self.wait_until(lambda: process.poll() is not None or condition(), "the moment to interrupt")
        process.send_signal(signal.SIGSTOP)
        self.wait_until(lambda: process.poll() is not None or self.state(process) == "T", "the stop")
        return process.poll() is None and self.begun()

    @staticmethod
    def state(process):
        with open(f"/proc/{process.pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0]

    def caught(self, suffix, condition):
        for _ in range(20):
            process = self.start("convert", "in", "-o", f"out.{suffix}")
            if self.stopped(process, condition):
                return process
            self.stop(process)
            self.remove(f"out.{suffix}")
        return self.skipTest("the program is too fast to be caught")

    def remove(self, name):
        for n in [n for n in os.listdir(self.dir) if n.startswith((name, "."))]:
            shutil.rmtree(self.path(n)) if os.path.isdir(self.path(n)) else os.unlink(self.path(n))

    def ends(self, process, *signals):
        for number in signals:
            process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        run = self.finish(process)
        self.assertEqual((run.code, self.tree(), self.begun()), (130, self.before, False), run.err)
        return run

    def test_while_the_graph_is_built(self):
        for suffix in FORMATS.values():
            run = self.ends(self.caught(suffix, self.begun), signal.SIGINT)
            self.assertRegex(run.err.decode(), rf"\Agcdumpc: (in|out\.{suffix}): interrupted\n\Z")

    def test_while_it_is_written(self):
        for name, suffix in FORMATS.items():
            if name not in ("pprof", "collapsed", "html"):                   # these are written at once
                run = self.ends(self.caught(suffix, lambda: sum(self.temporary()) > 100_000), signal.SIGINT)
                self.assertRegex(run.err.decode(), rf"\Agcdumpc: (in|out\.{suffix}): (.*: )?interrupted\n\Z")

    def test_interrupted_twice(self):
        """A second Ctrl-C ends at once, and still leaves nothing."""
        for name, suffix in FORMATS.items():
            moment = self.begun if name in ("pprof", "collapsed", "html") else lambda: sum(self.temporary()) > 100_000
            self.ends(self.caught(suffix, moment), signal.SIGINT, signal.SIGTERM)

    def test_interrupted_at_any_moment(self):
        """Either the output is complete, or there is none."""
        for suffix in FORMATS.values():
            for part in range(1, 8, SPARSE):
                process = self.start("convert", "in", "-o", f"out.{suffix}")
                self.wait_for_handlers(process)
                try:
                    process.wait(timeout=0.09 * part)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGINT)
                run = self.finish(process)
                self.assertIn(run.code, (0, 130), run.err)
                if run.code == 0:
                    self.assertFalse(self.begun())
                    self.remove(f"out.{suffix}")
                self.assertEqual((self.tree(), self.begun()), (self.before, False))

    def test_dumps_that_are_read(self):
        for name, suffix in READ.items():
            self.done("convert", "in", "-q", "-o", f"dump.{suffix}")
            before = self.tree()
            for _ in range(3):
                process = self.start("convert", f"dump.{suffix}", "-o", "out.heapsnapshot")
                if self.stopped(process, self.begun):
                    process.send_signal(signal.SIGINT)
                    process.send_signal(signal.SIGCONT)
                    run = self.finish(process)
                    self.assertEqual((run.code, self.tree()), (130, before), (name, run.err))
                self.stop(process)
                self.remove("out.heapsnapshot")


if __name__ == "__main__":
    main()
