"""Attacks by other users: planted links and pipes, names that contain terminal escapes or formulas."""
import csv
import ctypes
import io
import json
import os
import re
import stat
import shutil
import subprocess
import sys
import unicodedata

from cli_support import HAVE_SQLITE, PROGRAM, CliTest, main, small_trace, trace, trace_bytes, types_trace
from scripted_runtime import Runtime, process_info
from terminal import Terminal

KINDS = ("gclog", "csv") + (("sqlite",) if HAVE_SQLITE else ())      # a stream, a folder, a file that others write
KINDS_OF_REPORT = ("module", "namespace", "kind", "length", "root")
STRANGER = 12345                 # a user other than root and the one of the tests
# right-to-left override and its end, isolate, marks, line separator, tag, annotation; a lone C1 byte cannot be in the UTF-16 of a recording
BIDI = "pay\u202etxt.\u202c\u2066x\u2069\u200e\u200f\u061c\u2028y\U000e0041\ufff9z"
FORMULAS = ("=1+1", "+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1", "'=1", '=cmd|" /c calc"!A1')


class Planted(CliTest):
    """In a folder where everybody may write, like /tmp."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("only root can make files of another user")
        self.put("in", small_trace())
        os.mkdir(self.path("shared"))
        os.chmod(self.path("shared"), 0o1777)
        self.put("secret", b"not to be touched")
        self.done("convert", "in", "-q", "-o", "whole.gclog")

    def plant(self, name, target):
        os.symlink(target, self.path(name))
        os.lchown(self.path(name), STRANGER, STRANGER)

    def secret_is_safe(self):
        self.assertEqual(self.get("secret"), b"not to be touched")

    def test_a_link_to_a_file(self):
        for owner in (0, STRANGER):
            os.symlink(self.path("secret"), self.path("shared/out.gclog"))
            os.lchown(self.path("shared/out.gclog"), owner, owner)
            self.done("convert", "in", "-q", "-o", "shared/out.gclog")
            self.secret_is_safe()
            found = os.lstat(self.path("shared/out.gclog"))
            self.assertTrue(stat.S_ISREG(found.st_mode))
            self.assertEqual((found.st_uid, found.st_mode & 0o777), (0, 0o600))
            os.unlink(self.path("shared/out.gclog"))

    def test_a_link_to_a_device_a_pipe_or_an_open_file(self):
        """Where root's own link is followed, a planted one is replaced."""
        os.mkfifo(self.path("pipe"))
        for target in ("/dev/null", "/dev/stdout", "/proc/self/fd/1", "/dev/fd/2", self.path("pipe")):
            self.plant("shared/out.gclog", target)
            run = self.done("convert", "in", "-q", "-o", "shared/out.gclog")
            self.assertEqual((run.out, run.err), (b"", b""))
            self.assertEqual(self.get("shared/out.gclog"), self.get("whole.gclog"))
            os.unlink(self.path("shared/out.gclog"))

    def test_a_link_to_a_folder(self):
        os.mkdir(self.path("target"))
        self.plant("shared/out.gclog", self.path("target"))
        self.done("convert", "in", "-q", "-o", "shared/out.gclog")
        self.assertEqual(os.listdir(self.path("target")), [])
        self.plant("shared/dir", self.path("target"))
        os.symlink("shared/dir", self.path("own"))               # reaches it by another link
        self.refused(1, r'.*a link of another user leads to the folder "own/".*', "convert", "in", "-o", "own/out.gclog")
        os.chmod(self.path("shared"), 0o777)                     # even where the kernel would follow, for any value of fs.protected_symlinks
        for name in [f"out.{kind}" for kind in KINDS] + ["deeper/../out.gclog"]:
            self.refused(1, r'.*a link of another user leads to the folder "shared/dir/.*"', "convert", "in", "-o", f"shared/dir/{name}")
        self.assertEqual(os.listdir(self.path("target")), [])

    def test_a_pipe_of_another_user(self):
        """The other user could read the dump."""
        os.mkfifo(self.path("shared/out.gclog"))
        os.chown(self.path("shared/out.gclog"), STRANGER, STRANGER)
        reader = os.open(self.path("shared/out.gclog"), os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.refused(1, r".*is a pipe of another user \(12345\)", "convert", "in", "-o", "shared/out.gclog")
        self.assertEqual(os.read(reader, 100), b"")

    def test_a_hard_link(self):
        os.link(self.path("secret"), self.path("shared/out.gclog"))
        self.done("convert", "in", "-q", "-o", "shared/out.gclog")
        self.secret_is_safe()

    def test_an_output_in_the_root_of_a_process(self):
        """A link to /etc in there does not mean our /etc."""
        os.mkdir(self.path("root"))
        os.mkdir(self.path("target"))
        os.symlink(self.path("target"), self.path("root/way"))           # as made by root in a container
        ready, go = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            os.chroot(self.path("root"))
            os.write(ready[1], b"1")
            os.close(go[1])
            os.read(go[0], 1)
            os._exit(0)
        try:
            os.read(ready[0], 1)
            root = f"/proc/{child}/root"
            self.refused(1, rf'.*cannot create a file in the folder "{root}/way/": No such file or directory; create that folder first, or choose another',
                         "convert", "in", "-o", f"{root}/way/out.gclog")
            self.assertEqual(os.listdir(self.path("target")), [])
            os.makedirs(self.path("root") + self.path("target"))
            for kind in KINDS:
                self.done("convert", "in", "-q", "-o", f"{root}/way/out.{kind}")
            self.assertEqual(os.listdir(self.path("target")), [])
            self.assertEqual(sorted(os.listdir(self.path("root") + self.path("target"))), sorted(f"out.{kind}" for kind in KINDS))
        finally:
            os.close(go[1])
            os.waitpid(child, 0)

    def test_temporary_names_that_are_taken(self):
        """An existing file with a temporary name is never used, for any number in the name."""
        for format in KINDS:
            process = subprocess.Popen(["/bin/sh", "-c", 'read go; exec "$0" "$@"', PROGRAM, "convert", "in", "-q", "-o", f"shared/o.{format}"],
                                       stdin=subprocess.PIPE, cwd=self.path(""))
            for n in range(3):
                self.plant(f"shared/.o.{format}.{process.pid}-{n}.gcdumpc-tmp", self.path("secret"))
            process.communicate(b"\n", timeout=60)
            self.assertEqual(process.returncode, 0)
            self.secret_is_safe()
            for n in range(3):
                self.assertTrue(os.path.islink(self.path(f"shared/.o.{format}.{process.pid}-{n}.gcdumpc-tmp")))

    def test_left_overs_of_others_stay(self):
        name = "shared/.out.gclog.1-0.gcdumpc-tmp"
        self.plant(name, self.path("secret"))
        self.done("convert", "in", "-q", "-o", "shared/out.gclog")
        self.assertTrue(os.path.islink(self.path(name)))
        self.secret_is_safe()


    def test_a_folder_of_ours_that_looks_like_a_left_over(self):
        """The owner may rename entries in the folder, but must not make us empty a folder."""
        os.chown(self.path("shared"), STRANGER, STRANGER)
        os.chmod(self.path("shared"), 0o755)
        name = "shared/.out.csv.1-0.gcdumpc-tmp"
        os.makedirs(self.path(name, "gcdumpc-folder"), 0o700)
        os.chmod(self.path(name), 0o700)
        for file in ("precious", "gcdumpc-folder/precious"):
            self.put(os.path.join(name, file), b"kept")
        for kind in KINDS:
            self.done("convert", "in", "-q", "-o", f"shared/out.{kind}")
            for file in ("precious", "gcdumpc-folder/precious"):
                self.assertEqual(self.get(os.path.join(name, file)), b"kept")
        self.assertEqual(sorted(os.listdir(self.path("shared"))), sorted([os.path.basename(name), *(f"out.{kind}" for kind in KINDS)]))
        os.chown(self.path("shared"), 0, 0)              # even our own folder stays if it was not made here
        os.unlink(self.path(name, "gcdumpc-folder/precious"))
        os.rmdir(self.path(name, "gcdumpc-folder"))
        self.done("convert", "in", "-q", "-o", "shared/out.gclog")
        self.assertEqual(self.get(os.path.join(name, "precious")), b"kept")

    def test_the_temporary_folder_is_swapped(self):
        """While it is filled, its name may be moved to another folder of ours: nothing is written there and nothing removed."""
        os.chown(self.path("shared"), STRANGER, STRANGER)
        os.chmod(self.path("shared"), 0o755)
        os.mkdir(self.path("shared/precious"))
        for table in ("objects", "types", "references"):
            self.put(f"shared/precious/{table}.csv", b"kept")
        for _ in range(20):
            process = self.start("convert", trace("net10-wks"), "-q", "-o", "shared/out.csv")
            found = f"shared/.out.csv.{process.pid}-0.gcdumpc-tmp"
            self.wait_until(lambda: os.path.lexists(self.path(found)) or process.poll() is not None, "a temporary folder")
            try:
                os.rename(self.path(found), self.path("shared/aside"))
                os.rename(self.path("shared/precious"), self.path(found))
            except FileNotFoundError:
                pass                                     # it finished before
            self.finish(process)
            if os.path.lexists(self.path(found)):
                os.rename(self.path(found), self.path("shared/precious"))
            shutil.rmtree(self.path("shared/aside"), ignore_errors=True)
            shutil.rmtree(self.path("shared/out.csv"), ignore_errors=True)
            self.assertEqual({name: self.get(f"shared/precious/{name}") for name in os.listdir(self.path("shared/precious"))},
                             {f"{table}.csv": b"kept" for table in ("objects", "types", "references")})


class NamesTest(CliTest):
    def on_terminal(self, *words, errors=False, **env):
        """The run, and the text on the terminal; ERRORS: messages, too."""
        terminal = Terminal()
        self.addCleanup(terminal.close)
        process = self.start(*words, stdout=terminal.theirs, env={"TERM": "xterm", "NO_COLOR": "1", **env},
                             **({"stderr": terminal.theirs} if errors else {}))
        text = terminal.shown(process)
        run = self.finish(process)
        return (run.code if errors else run), text

    def clean(self, text):
        self.assertEqual([c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")], [])

    def clean_on_terminal(self, *words, status=0, **env):
        """Data and messages of one command; headings are bold, and progress returns to the start of the line."""
        code, text = self.on_terminal(*words, errors=True, **env)
        with self.subTest(words=words):
            self.assertEqual(code, status, text)
            self.clean(text.replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\r\x1b[K", ""))
        return text


class Names(NamesTest):
    def whole_evil_trace(self, version):
        """A recording of a real program with its names of types, modules, statics and files replaced by others of the same length."""
        data = trace_bytes(version)
        for old, new in (("HeapLab", "H\x1b[3m\u009b\u202e"), ("s_lab", "\x1b]0;\x07"), ("System", "S\n\r\b\u2028\x7f"), ("Extra", "=\u2066\u200f\x1b\ud800")):
            old, new = (name.encode("utf-16-le", "surrogatepass") for name in (old, new))
            self.assertIn(old, data)
            data = data.replace(old, new)
        return data

    def test_every_command_on_a_terminal(self):
        name = "e\x1b[31m\u009b\u202e\n.nettrace"
        self.put("old", self.whole_evil_trace("net8-wks"))
        self.put(name, self.whole_evil_trace("net10-wks"))
        item, outputs = "H*.Item", ("gclog", "html", "heapsnapshot", "gcdump", "csv", "prom")
        for words in (("info",), ("info", "--events"), ("info", "--json"), ("report",), ("report", "--names=raw"), ("report", "--csv"),
                      ("report", "--json"), ("report", "--format", "prometheus"), ("report", "--retained", "--filter", "*Item*"), ("retained",),
                      ("retained", "--tree", "5"), ("retained", "--type", item), ("retained", "--json"), ("retained", "--csv"),
                      ("paths", "--type", item), ("paths", "--type", item, "--json"), ("leaks", "--min-bytes", "1"),
                      ("leaks", "--min-bytes", "1", "--json"), *(("report", "--by", kind) for kind in KINDS_OF_REPORT),
                      *(("report", "--by", kind, "--csv") for kind in KINDS_OF_REPORT)):
            text = self.clean_on_terminal(words[0], name, *words[1:])
            self.assertTrue("HeapLab" not in text and "System." not in text)
        for words in (("diff",), ("diff", "--csv"), ("diff", "--json"), ("diff", "--paths"), ("trend",), ("trend", "--csv"), ("trend", "--json")):
            self.clean_on_terminal(words[0], "old", name, *words[1:])
        self.clean_on_terminal("diff", "old", name, "--fail-if", "count(*Item*) > -1", status=4)
        for format in outputs:
            self.clean_on_terminal("report" if format == "prom" else "convert", name, "-o", f"o\x1b[31m\u009b{BIDI[:9]}.{format}")
        for words in (("paths", name, "--type", "none\x1b[5m\u202e"), ("info", "none\x1b[5m"), ("convert", name, "-o", "none\x1b[5m/x.gclog"),
                      ("--name", "none\x1b[5m\u202e", "-o", "x.gclog"), ("--port", "/none\x1b[5m", "-o", "x.gclog"), ("report", name, "-o", "/dev/full"),
                      ("--listen", "/none\x1b[5m/x", "-o", "x.gclog")):
            self.clean_on_terminal(*words, status=1)
        for words in (("inf\x1b[5mo",), ("--none\x1b[5m",), ("convert", name, "-o", "o.none\x1b[5m"), ("report", name, "--by", "\x1b[5m"),
                      ("report", name, "--top", "\x1b[5m"), ("diff", "old", name, "--fail-if", "\x1b[5m"), ("help", "\x1b[5m\u202e"),
                      ("run", "--config", name)):
            self.clean_on_terminal(*words, status=2)

    def test_the_order_of_what_is_shown(self):
        self.put("evil", types_trace((BIDI, 1, 24), command_line=f"/srv/{BIDI} --x"))
        for words in (("report", "evil", "--names=raw"), ("info", "evil"), ("retained", "evil"), ("leaks", "evil"), ("report", "evil", "--csv")):
            self.clean(self.done(*words).text)
        self.assertIn("pay?txt.??x?????y??z\n", self.done("report", "evil", "--names=raw").text)

    def test_invalid_utf8(self):
        """0x9b alone starts an escape sequence on terminals without UTF-8."""
        name = os.fsdecode(b"a\x9b31m\xc2\x9b\xe0\x82\x9b\xff\xf0\x9f")
        self.put(name, types_trace(("A", 1, 24)))
        for words in (("info", name), ("convert", name, "-o", "out.gclog"), ("info", name + "missing"), ("report", name, "--top", name)):
            run = self.gcdumpc(*words)
            self.clean(run.out.decode() + run.err.decode())
        self.assertIn("a?31m?", self.gcdumpc("info", name).text)

    def test_no_dump_on_a_terminal(self):
        """Names in it are unchanged."""
        self.put("evil", types_trace(("A\x1b[31m", 1, 24)))
        for format in ("gclog", "folded", "html", "heapsnapshot", "gcdump"):
            run, text = self.on_terminal("convert", "evil", "--format", {"folded": "collapsed", "heapsnapshot": "v8"}.get(format, format), "-o", "-")
            self.assertEqual((run.code, text), (2, ""), format)

    def test_reports_on_a_terminal(self):
        self.put("evil", types_trace(("A\x1b[31m\x7f\u009b1m" + BIDI, 1, 24), command_line=f"/srv/\u009b{BIDI} --x"))
        for words in (("--csv",), ("--json",), ("--format", "prometheus"), ()):
            run, text = self.on_terminal("report", "evil", *words)
            self.assertEqual(run.code, 0)
            self.clean(text.replace("\x1b[1m", "", 1).replace("\x1b[0m", "", 1))       # our own: headings are bold

    def test_json(self):
        """Escaped names are read back unchanged."""
        names = ['"', "\\", '\\"},{"', "\x01\x1b\x7f\u009b\n\r\t", BIDI, "</script>", *FORMULAS]
        self.put("evil", types_trace(*((f"{name}{i}", 1, 24) for i, name in enumerate(names)), command_line=names[2]))
        report = json.loads(self.done("report", "evil", "--json", "--names=raw").text)
        self.assertEqual({t["type"] for t in report["types"]}, {f"{name}{i}" for i, name in enumerate(names)})
        self.assertEqual(json.loads(self.done("info", "evil", "--json").text)["process"]["command_line"], names[2])

    def test_json_elsewhere(self):
        """A pipe may end at a terminal, a log or a page: the same rules as on a terminal, also in JSON files."""
        self.put("old", self.whole_evil_trace("net8-wks"))
        self.put("evil", self.whole_evil_trace("net10-wks"))
        for words in (("info",), ("info", "--events"), ("report",), *(("report", "--by", kind) for kind in KINDS_OF_REPORT), ("retained",),
                      ("retained", "--tree", "3"), ("paths", "--type", "H*.Item"), ("leaks", "--min-bytes", "1")):
            text = self.done(words[0], "evil", *words[1:], "--json").text
            self.clean(text)
            self.assertEqual(text, self.on_terminal(words[0], "evil", *words[1:], "--json")[1].replace("\r\n", "\n"))
            json.loads(text)
        for words in (("diff",), ("diff", "--paths"), ("trend",)):
            self.clean(self.done(words[0], "old", "evil", *words[1:], "--json").text)
        self.put("names", types_trace((f"A<\u009b{BIDI}\u00e9\u4e2d\U0001f600", 1, 24), command_line=f"/srv/\u009b{BIDI} --x"))
        for suffix in ("html", "heapsnapshot"):
            self.done("convert", "names", "-q", "-o", f"out.{suffix}")
            text = self.get(f"out.{suffix}").decode()
            self.clean(text)
            self.assertIn("\u00e9\u4e2d\U0001f600", text)       # plain data stays unchanged
            self.assertIn("\\u009bpay\\u202etxt", text)
            self.assertIn("\\udb40\\udc41", text)

    def test_text_files(self):
        """They may be printed or opened anywhere."""
        self.put("evil", self.whole_evil_trace("net10-wks"))
        for format in ("gclog", "collapsed"):
            self.done("convert", "evil", "-q", "--format", format, "-o", "out")
            self.clean(self.get("out").decode())
        self.done("convert", "evil", "-q", "-o", "tables.csv")
        for name in os.listdir(self.path("tables.csv")):
            self.clean(self.get(f"tables.csv/{name}").decode())

    def test_formulas(self):
        self.put("evil", types_trace(*((name, 1, 24 + i) for i, name in enumerate(FORMULAS))))
        self.done("convert", "evil", "-q", "-o", "tables.csv")
        with open(self.path("tables.csv/types.csv"), encoding="utf-8", newline="") as f:
            texts = [row["name"] for row in csv.DictReader(f)]
        report = self.done("report", "evil", "--names=raw", "--csv").text
        texts += [row["type"] for row in csv.DictReader(io.StringIO(report, newline=""))]
        self.assertGreaterEqual(len(texts), 2 * len(FORMULAS))
        self.assertIn("-1.1", texts)
        for text in texts:
            if not re.fullmatch(r"-[0-9]+(\.[0-9]+)?", text):               # numbers stay numbers
                self.assertNotIn(text.lstrip(" ")[:1], tuple("=+-@\t\r\n"), text)


EVIL = "e\x1b]0;x\x07\x9b31m\u009b1m" + BIDI


def live_as(name, arguments, stream):
    """Runs as a process called NAME, with a socket in TMPDIR that answers every request with such names."""
    ctypes.CDLL(None).prctl(15, os.fsencode(name), 0, 0, 0)          # PR_SET_NAME
    with open("/proc/self/stat", encoding="utf-8", errors="replace") as f:
        start = f.read().rpartition(")")[2].split()[19]
    info = process_info(*[arguments] * 5)
    path = os.path.join(os.environ["TMPDIR"], f"dotnet-diagnostic-{os.getpid()}-{start}-socket")
    with open(stream, "rb") as f:
        data = f.read()
    target = Runtime(path, [data] * 100, info=info)
    print("ready", flush=True)
    sys.stdin.read()
    target.close()
    os.unlink(path)


class Process(NamesTest):
    """A living process whose name, arguments and answers contain terminal escapes."""

    def setUp(self):
        super().setUp()
        if os.environ.get("GCDUMPC_IPC") == "OFF":
            self.skipTest("this build has no support for living processes (GCDUMPC_IPC=OFF)")
        self.put("evil", types_trace((EVIL, 3, 24), command_line=EVIL))
        self.process = subprocess.Popen(["e\x1b[5m\u202e", "-B", os.path.abspath(__file__), "live-as", "n\x1b[5m\u202e", EVIL, self.path("evil")],
                                        executable=sys.executable, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, "TMPDIR": self.tmp, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.addCleanup(self.stop, self.process)
        self.assertEqual(self.process.stdout.readline(), b"ready\n")

    def tearDown(self):
        self.process.communicate()
        super().tearDown()

    def test_every_command_on_a_terminal(self):
        pid = self.process.pid
        self.assertRegex(self.clean_on_terminal("ps", TMPDIR=self.tmp), rf"(?m)^ *{pid} .*e\?")
        self.assertIn(str(pid), self.clean_on_terminal("ps", "--json", TMPDIR=self.tmp))
        for words in (("info",), ("info", "--json"), ("report",), ("report", "--json"), ("leaks",), ("-o", "x.gclog"), ("-o", "x.html", "--log", "text"),
                      ("-o", "x.nettrace", "--log", "json")):
            text = self.clean_on_terminal(*words, "--pid", str(pid))
            self.assertTrue(words[0] == "-o" or "e?" in text or "e\\u" in text, text)
        self.assertRegex(self.clean_on_terminal("-o", "d/%n-%p.gclog", "--pid", str(pid)), "written")
        self.assertRegex(self.clean_on_terminal("info", "--name", EVIL, TMPDIR=self.tmp), "verdict")


if __name__ == "__main__" and sys.argv[1:2] == ["live-as"]:
    live_as(*sys.argv[2:])
elif __name__ == "__main__":
    main()
