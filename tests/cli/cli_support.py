"""Runs the program as a user would, and checks everything it leaves behind: exit status, both outputs, the folder.

Every test has its own folder, which is also the working directory of the program, so that messages name files without the
paths of a machine.  Temporary files of the program go to a second folder, which must be empty after each test.
"""
import dataclasses
import gzip
import hashlib
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("GCDUMPC_SOURCE") or os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("GCDUMPC_BUILD") or os.path.join(SOURCE, "build")
PROGRAM = os.environ.get("GCDUMPC") or os.path.join(BUILD, "gcdumpc")
SANITIZED = bool(os.environ.get("GCDUMPC_SANITIZE"))
SPARSE = 3 if SANITIZED else 1           # the step through large sets of cases: the release build tries all
HAVE_SQLITE = os.environ.get("GCDUMPC_SQLITE", "ON") not in ("OFF", "0", "FALSE", "NO")
EXPECTED = os.path.join(HERE, "expected")
BLESS = "--bless" in sys.argv

sys.path[:0] = [os.path.join(SOURCE, "tests", n) for n in ("readers", "support")]
from sample_heaps import define_all, shop_events, write             # noqa: E402
from trace_bytes import Ev, Payloads, V4File, numbered               # noqa: E402

COMMANDS = ("collect", "convert", "info", "report", "retained", "paths", "leaks", "async", "sites", "browse", "sql", "mcp", "diff", "trend", "run", "watch", "ps")
INCOMPLETE = ("net10-wks-lossy", "net10-wks-killed", "net10-wks-nonames")      # of the bundled recordings
SANITIZER_EXIT = 99              # not one of our statuses, so a sanitizer report never looks like a refusal
NO_ROOM = "cannot write: No space left on device; make room, or write to another disk (TMPDIR moves temporary files)"
SECONDS = 300                    # enough for anything that should end by itself, even on a busy machine


# -- recordings ------------------------------------------------------------------------------------------------------

def trace(name):
    """Path of a bundled recording."""
    return os.path.join(SOURCE, "traces", name, "heap.nettrace.gz")


def trace_bytes(name):
    """The same, uncompressed."""
    with gzip.open(trace(name)) as f:
        return f.read()


def small_trace(process_name=True):
    """Three objects, complete.  Without the process's name the program must choose another one."""
    return write(V4File(), [e for e in shop_events() if process_name or e.kind != 99])


def types_trace(*types, command_line="dotnet /srv/shop.dll", described=None):
    """A complete recording; TYPES are rows (name, objects, bytes of each object), in the order of the walk.  DESCRIBED: how many have records."""
    p, nodes = Payloads(), []
    for i, (_, objects, size) in enumerate(types):
        nodes += [(0x1000 + 0x10 * (len(nodes) + n), size, 0x70 + i, 0) for n in range(objects)]
    return write(V4File(), [Ev(1, 2000, p.gc_start()), Ev(18, 2001, p.nodes(0, *nodes)),
                            Ev(15, 2002, p.types(*((0x70 + i, t[0]) for i, t in enumerate(types[:described])))),
                            Ev(2, 2003, p.gc_end()), Ev(99, 2004, p.process_info(command_line))])


def endless_trace():
    """A walk whose end was lost, and the event, again and again, of a program that goes on collecting."""
    p, file = Payloads(), V4File()
    define_all(file)
    file.events(Ev(1, 2000, p.gc_start()), Ev(18, 2001, p.nodes(0, (0x1000, 24, 0x70, 0)), number=2),
                Ev(15, 2002, p.types((0x70, "Shop.Order")), number=3))
    other = Ev(1, 3000, p.gc_start(2, depth=0, reason=0), thread=8, number=1)
    file.events(other)
    head = len(file.data)
    file.events(other)                            # from the second on they are of one size
    return bytes(file.data[:head]), bytes(file.data[head:])


def big_trace(objects):
    """A complete recording of OBJECTS objects (a multiple of 2,000) that is slow to process but fast to make."""
    p, at_once = Payloads(), 2000
    nodes = p.nodes(0, *((0x1000 + 24 * i, 24, 0x70 + i % 50, 0) for i in range(at_once)))
    events = numbered([Ev(1, 2000, p.gc_start())]
                      + [Ev(18, 2001, struct.pack("<I", k) + nodes[4:]) for k in range(objects // at_once)]
                      + [Ev(15, 2002, p.types(*((0x70 + i, f"Type{i}") for i in range(50)))), Ev(16, 2002, p.roots(0)),
                         Ev(38, 2002, p.statics()), Ev(2, 2003, p.gc_end())])
    file = V4File()
    define_all(file)
    for event in events:
        file.events(event)
    file.sequence_point(3000, ((7, len(events)),))
    return file.end()


def genheap(folder):
    """The generator of recordings: from the build, else compiled into FOLDER; skips the test if neither is possible."""
    built = os.path.join(BUILD, "genheap")
    if os.access(built, os.X_OK):
        return built
    sources = os.path.join(SOURCE, "tools", "genheap")
    return compiled(folder, "genheap", *(os.path.join(sources, n) for n in sorted(os.listdir(sources)) if n.endswith(".c")))


def compiled(folder, name, *sources):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise unittest.SkipTest(f"no C compiler, needed for {name}")
    path = os.path.join(folder, name)
    subprocess.run([compiler, "-std=gnu11", "-O1", "-o", path, *sources], check=True)
    return path


# -- the program -----------------------------------------------------------------------------------------------------

def digest(data):
    """A short form of DATA for comparisons: unittest needs minutes to print the difference of two large texts."""
    return data if len(data) < 200 else f"{len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()[:16]}"


@dataclasses.dataclass
class Run:
    code: int
    out: bytes
    err: bytes

    @property
    def text(self):
        return self.out.decode()

    @property
    def lines(self):
        """of standard error"""
        return self.err.decode(errors="replace").splitlines()


def is_called(text, name):
    """Is TEXT what people call the type NAME: its name, or the method of what a compiler has made?"""
    method = re.search(r"<(\w+)>d__\d+(<.*>)?>?\Z", name)
    return text == name or (method is not None and re.fullmatch(rf"(async|iterator|state of async) (\S+\.)?{method[1]}(<.*>)?", text) is not None)


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="gcdumpc-cli-")
        self.addCleanup(holder.cleanup)
        self.dir, self.tmp = os.path.join(holder.name, "dir"), os.path.join(holder.name, "tmp")
        os.mkdir(self.dir)
        os.mkdir(self.tmp)

    def tearDown(self):
        self.assertEqual(os.listdir(self.tmp), [], "left in TMPDIR")

    # files of the test

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def put(self, name, data):
        """Makes a file; returns its name."""
        with open(self.path(name), "wb") as f:
            f.write(data)
        return name

    def get(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def link(self, name):
        """A bundled recording under a name that does not depend on the folder of the sources."""
        target = self.path(name + ".nettrace.gz")
        if not os.path.lexists(target):
            os.symlink(trace(name), target)
        return os.path.basename(target)

    def folder(self):
        """Everything in the test's folder, for comparisons: names with (digests of) contents, or the kind if it is not a file."""
        found = {}
        for name in sorted(os.listdir(self.dir)):
            path = self.path(name)
            readable = os.path.isfile(path) and not os.path.islink(path) and os.access(path, os.R_OK)
            found[name] = digest(self.get(name)) if readable else os.lstat(path).st_mode
        return found

    # running

    def environment(self, **extra):
        env = {k: v for k, v in os.environ.items() if k not in ("TERM", "TMPDIR")}
        env.update({"LC_ALL": "C.UTF-8", "TMPDIR": self.tmp, **extra})
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            env[name] = f"{os.environ.get(name, '')}:exitcode={SANITIZER_EXIT}".lstrip(":")
        return env

    def start(self, *args, env=None, **options):
        """A subprocess.Popen of the program; killed at the end of the test if it still runs."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.dir, **options}
        process = subprocess.Popen([PROGRAM, *map(str, args)], env=self.environment(**(env or {})), **options)
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        process.kill()
        process.wait()
        for f in (process.stdin, process.stdout, process.stderr):
            if f is not None:
                try:
                    f.close()
                except BrokenPipeError:
                    pass

    def finish(self, process, data=None, seconds=SECONDS):
        out, err = process.communicate(data, timeout=seconds)
        return self.checked(Run(process.returncode, out or b"", err or b""))

    def checked(self, run):
        """No crash, nothing found by a sanitizer."""
        self.assertNotRegex(run.err, rb"Sanitizer|runtime error:")
        self.assertIn(run.code, (0, 1, 2, 3, 4, 130, -signal.SIGPIPE), run)
        return run

    def gcdumpc(self, *args, data=None, **options):
        """Runs to the end.  DATA goes to standard input through a pipe."""
        if data is not None:
            options["stdin"] = subprocess.PIPE
        return self.finish(self.start(*args, **options), data)

    def done(self, *args, code=0, **options):
        """The same, and checks the exit status."""
        run = self.gcdumpc(*args, **options)
        self.assertEqual(run.code, code, run.err.decode(errors="replace"))
        return run

    def refused(self, code, pattern, *args, **options):
        """Fails with CODE and one line that matches PATTERN entirely; no output, the folder is unchanged."""
        before = self.folder()
        run = self.gcdumpc(*args, **options)
        what = f"gcdumpc {' '.join(map(str, args))[:200]}"
        self.assertEqual(run.code, code, (what, run.err))
        self.assertEqual((len(run.lines), run.err[-1:]), (1, b"\n"), (what, run.err))
        self.assertRegex(run.lines[0], re.compile(rf"\Agcdumpc: {pattern}\Z"), what)
        self.assertEqual(run.out, b"", what)
        self.assertEqual(self.folder(), before, what)
        return run

    def with_memory(self, name):
        """The bundled recording NAME with names and the memory of its process, both made up: 120 of 900 MiB are the GC heap."""
        self.put_with_memory("memory.nettrace", subprocess.run(["gzip", "-dc", trace(name)], capture_output=True, check=True).stdout)
        return "memory.nettrace"

    def put_with_memory(self, name, data, more=0):
        """The recording DATA with such a memory, and MORE MiB outside of the heap."""
        self.put("bare.nettrace", data)
        subprocess.run([os.path.join(BUILD, "tests", "named_recording"), self.path("bare.nettrace"), self.path(name), "Outer`1", "1", str(more)],
                       capture_output=True, check=True)

    def expected(self, name, text):
        """TEXT must be the content of expected/NAME."""
        path = os.path.join(EXPECTED, name)
        if BLESS:
            with open(path, "w", encoding="utf-8", newline="") as f:
                f.write(text)
        self.assertTrue(os.path.exists(path), f"{name} is missing, see README.md about --bless")
        with open(path, encoding="utf-8", newline="") as f:
            self.assertEqual(text, f.read(), name)

    def wait_until(self, condition, what, seconds=SECONDS):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                self.fail(f"in vain: {what}")
            time.sleep(0.002)

    def wait_for_handlers(self, process):
        """Waits until PROCESS catches SIGINT, or has ended: before that, the signal would kill it."""
        def caught():
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as f:
                found = re.search(r"^SigCgt:\s*(\w+)", f.read(), re.M)
            return found is None or int(found[1], 16) >> (signal.SIGINT - 1) & 1
        self.wait_until(lambda: process.poll() is not None or caught(), "it has its handlers")

    def as_nobody(self):
        """Options of start() for a user who is bound by permissions: root drops its privileges."""
        if os.geteuid() != 0:
            return {}
        for folder in (os.path.dirname(self.dir), self.dir, self.tmp):
            os.chmod(folder, 0o777)
        options = {"user": 65534, "group": 65534, "extra_groups": []}
        try:
            self.start("--version", **options).communicate()
        except PermissionError:
            self.skipTest("root, and the program cannot be run by another user")
        return options


def main():
    if BLESS:
        sys.argv.remove("--bless")
    if not os.access(PROGRAM, os.X_OK):
        print("skipped: the program gcdumpc is missing; its path is expected in the environment variable GCDUMPC")
        sys.exit(77)
    # A test started in the background or by nohup would pass on its ignored signals.
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    result = unittest.main(module="__main__", exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    if result.testsRun > 0 and len(result.skipped) == result.testsRun:
        print("skipped:", "; ".join(sorted({reason for _, reason in result.skipped})))
        sys.exit(77)
    sys.exit(0)
