"""Every system call and every allocation fails in turn, and all are interrupted or made short: each command and format ends with a
status and one line, leaves no temporary file, and keeps the old output.  See tests/preload/fail_calls.c.

GCDUMPC_SWEEP_POINTS: how many failing calls of one kind to try for one command, spread over all of them (6, in a
long run 40; 0 = every one).
"""
import errno
import os
import shutil
import signal
import struct
import subprocess
import unittest

from cli_support import BUILD, HAVE_SQLITE, PROGRAM, SANITIZED, SECONDS, CliTest, big_trace, digest, main, small_trace
from scripted_runtime import Runtime

LIBRARY = os.path.join(BUILD, "tests", "fail_calls.so")
POINTS = int(os.environ.get("GCDUMPC_SWEEP_POINTS") or (40 if os.environ.get("GCDUMPC_LONG") == "1" else 6))
# as in fail_calls.c
KINDS = ("none", "open", "read", "write", "sync", "rename", "truncate", "mkdir", "close", "stat", "lock", "seek", "map", "socket", "send", "recv", "thread",
         "alloc")
# errors that a call of each kind may return
WAYS = {"open": (errno.EMFILE, errno.EACCES), "read": (errno.EIO,), "write": (errno.ENOSPC, errno.EIO), "sync": (errno.EIO,),
        "rename": (errno.EACCES,), "truncate": (errno.ENOSPC,), "mkdir": (errno.ENOSPC,), "close": (errno.EIO,), "stat": (errno.EIO,),
        "lock": (errno.ENOLCK,), "seek": (errno.EIO,), "map": (errno.ENOMEM,), "thread": (errno.EAGAIN,)}
LIVE_WAYS = {**WAYS, "socket": (errno.EMFILE,), "send": (errno.EPIPE,), "recv": (errno.ECONNRESET,)}
SUFFIXES = ["gclog", "gclog.gz", "gcdump", "heapsnapshot", "dartheap", "pb.gz", "folded", "html", "csv", *(["db"] if HAVE_SQLITE else [])]
TABLES = (["info"], ["info", "--events"], ["info", "--json"], ["report"], ["report", "--by", "length", "--csv"], ["report", "--retained"],
          ["report", "--by", "root", "--retained"], ["retained"], ["retained", "--tree", "3", "--json"], ["retained", "--type", "Shop.*"],
          ["paths", "--type", "*Order*"], ["paths", "--object", "0x7f0000001040", "--json"], ["leaks", "--min-bytes", "1"],
          ["leaks", "--min-bytes", "1", "--json"])


class SameTrace(list):
    """Sends a stream to each client."""
    def __init__(self, data):
        super().__init__([data])

    def pop(self, _):
        return self[0]


class FailingCalls(CliTest):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists(LIBRARY):
            raise unittest.SkipTest("the library tests/fail_calls.so was not built")

    def setUp(self):
        super().setUp()
        self.put("in.nettrace", small_trace())
        self.report = self.path("..", "report")
        self.runs = 0

    def failing(self, how, *args, data=None):
        """Run with GCDUMPC_FAIL=HOW; returns the run, the calls of each kind, and how many failed."""
        with open(self.report, "wb") as f:
            f.write(bytes(8 * (len(KINDS) + 1)))
        env = self.environment(GCDUMPC_FAIL=how, GCDUMPC_FAIL_REPORT=self.report, LD_PRELOAD=LIBRARY)
        options = {"input": data} if data is not None else {"stdin": subprocess.DEVNULL}
        run = subprocess.run([PROGRAM, *args], cwd=self.dir, env=env, capture_output=True, timeout=SECONDS, check=False, **options)
        self.runs += 1
        with open(self.report, "rb") as f:
            *calls, failed = struct.unpack(f"={len(KINDS) + 1}Q", f.read())
        return run, dict(zip(KINDS, calls)), failed

    def content(self):
        """Like folder(), including the contents of folders."""
        found = self.folder()
        for name in os.listdir(self.dir):
            if os.path.isdir(self.path(name)):
                found[name] = {n: digest(self.get(os.path.join(name, n))) for n in sorted(os.listdir(self.path(name)))}
        return found

    def reset(self, before):
        """Removes the new outputs."""
        if self.content() == before:
            return
        for name in os.listdir(self.dir):
            if os.path.isdir(self.path(name)):
                shutil.rmtree(self.path(name))
            elif name not in before:
                os.unlink(self.path(name))
        if "old" in before:
            self.put("old", b"old")

    def complaint(self, run, whole, before, after):
        """None, or the defect of the result.  WHOLE is the undisturbed run, AFTER the folder after it."""
        if b"Sanitizer" in run.stderr or b"runtime error:" in run.stderr:
            return "a sanitizer has found something"
        if os.listdir(self.tmp):
            return f"left in TMPDIR: {os.listdir(self.tmp)}"
        now = self.content()
        if run.returncode == whole.returncode and now == after:
            return None if run.stdout == whole.stdout else "it says that it succeeded, but the output is another one"
        if run.returncode not in (1, 3):
            return f"exit status {run.returncode}, and the files are {now}"
        if not run.stderr.startswith(b"gcdumpc: ") or not run.stderr.endswith(b"\n"):
            return "no line that says what is wrong"
        if run.returncode == 3:
            return None if b"incomplete" in run.stderr.lower() else "exit status 3 without a word"
        return None if now == before else f"it has failed, and left {sorted(now)}"

    def sweep(self, kinds, *args, data=None, points=POINTS, aborts=False):
        before = self.content()
        whole, all_calls, failed = self.failing("none:0:0", *args, data=data)
        after = self.content()
        self.reset(before)
        self.assertIn(whole.returncode, (0, 3), whole)
        self.assertEqual(failed, 0)
        for kind, ways in kinds.items():
            calls = all_calls[kind]
            step = max(1, -(-calls // points)) if points > 0 else 1
            for n in range(1, calls + 1, step):
                for way in ways:
                    # a file system may lack locks
                    run, _, failed = self.failing(f"{kind}:{n}{'+' if kind == 'lock' else ''}:{way}", *args, data=data)
                    wrong = self.complaint(run, whole, before, after)
                    if aborts and run.returncode == -signal.SIGABRT and not run.stderr:
                        wrong = None
                    self.reset(before)
                    for name in os.listdir(self.tmp):
                        os.unlink(os.path.join(self.tmp, name))
                    with self.subTest(call=f"{kind} {n}", errno=errno.errorcode.get(way), command=" ".join(args)):
                        self.assertIsNone(wrong, run)
                        self.assertTrue(failed <= 1 or kind == "lock", failed)

    def same(self, how, *args, data=None):
        """Calls that are only interrupted or short change nothing."""
        before = self.content()
        whole, _, _ = self.failing("none:0:0", *args, data=data)
        after = self.content()
        self.reset(before)
        run, _, _ = self.failing(how, *args, data=data)
        found, expected = ((r.returncode, r.stdout, r.stderr) for r in (run, whole))
        self.assertEqual((*found, self.content()), (*expected, after), (how, args))
        self.reset(before)

    def inputs(self):
        """The same small heap in every input format."""
        names = ["in.nettrace", "in.gclog", "in.gcdump", "in.dartheap"]
        for name in names[1:]:
            self.done("convert", "in.nettrace", "-q", "-o", name)
        self.done("convert", "in.gclog", "-q", "-o", "in.gclog.gz")
        subprocess.run([os.path.join(BUILD, "nettrace2etl"), "--buffer", "1024", "--tight", "--compress", self.path("in.nettrace"),
                        self.path("in.etl")], check=True, capture_output=True)
        return [*names, "in.gclog.gz", "in.etl"]

    # the library itself

    def test_it_lets_calls_fail(self):
        run, calls, failed = self.failing(f"read:1+:{errno.EIO}", "convert", "in.nettrace", "-o", "out")      # also those of the cgroup
        self.assertEqual((run.returncode, failed), (1, calls["read"]))
        self.assertRegex(run.stderr, rb"\Agcdumpc: in.nettrace: cannot read: Input/output error\n\Z")
        self.assertGreaterEqual(failed, 1)
        run, _, failed = self.failing(f"write:1+:{errno.ENOSPC}", "convert", "in.nettrace", "-o", "out")
        self.assertRegex(run.stderr, rb"\Agcdumpc: out: cannot write: No space left on device; make room, .*\n\Z")
        self.assertGreaterEqual(failed, 1)

    def test_wrong_answers_are_noticed(self):
        before = self.content()
        whole, _, _ = self.failing("none:0:0", "convert", "in.nettrace", "-q", "-o", "out")
        after = self.content()
        self.assertIsNone(self.complaint(whole, whole, before, after))
        self.put("out", b"half")
        self.assertRegex(self.complaint(whole, whole, before, after), "exit status 0")
        failed = subprocess.CompletedProcess([], 1, b"", b"gcdumpc: out: cannot write\n")
        self.assertRegex(self.complaint(failed, whole, before, after), "has failed, and left")
        os.unlink(self.path("out"))
        self.assertIsNone(self.complaint(failed, whole, before, after))
        failed.stderr = b""
        self.assertRegex(self.complaint(failed, whole, before, after), "no line")

    # the sweeps

    def test_every_call_for_an_output(self):
        self.put("old", b"old")
        for suffix in SUFFIXES:
            if suffix == "csv":
                self.sweep(WAYS, "convert", "in.nettrace", "-q", "-o", "out.csv/")
                continue
            self.sweep(WAYS, "convert", "in.nettrace", "-q", "-o", f"out.{suffix}")
        self.sweep(WAYS, "convert", "in.nettrace", "-q", "--format", "gclog", "-o", "old")
        self.sweep(WAYS, "report", "in.nettrace", "-o", "out.prom")
        self.sweep(WAYS, "diff", "in.nettrace", "in.nettrace", "-o", "out.html")

    def test_a_disk_that_fails(self):
        """An output that is not on the disk is not renamed; only syncing the folder may fail, or a file without fsync."""
        self.put("old", b"old")
        self.put("big.nettrace", big_trace(800000))          # its output goes to the disk while it is written
        for words in (("convert", "in.nettrace", "-q", "--format", "gclog", "-o", "old"), ("report", "in.nettrace", "-f", "prometheus", "-o", "old"),
                      ("convert", "big.nettrace", "-q", "--format", "gclog", "-o", "old"),
                      *([("convert", "in.nettrace", "-q", "--format", "sqlite", "-o", "old")] if HAVE_SQLITE else [])):
            before = self.content()
            whole, calls, _ = self.failing("none:0:0", *words)
            calls = calls["sync"]
            self.assertEqual(whole.returncode, 0)
            self.assertGreaterEqual(calls, 2)
            self.reset(before)
            for n in range(1, calls):
                run, _, failed = self.failing(f"sync:{n}:{errno.EIO}", *words)
                self.assertEqual((run.returncode, failed, self.content()), (1, 1, before), (words, n))
                self.assertRegex(run.stderr, rb"\Agcdumpc: old: cannot write: Input/output error\n\Z")
            run, _, _ = self.failing(f"sync:{calls}:{errno.EIO}", *words)        # of the folder
            self.assertEqual((run.returncode, run.stderr), (0, b""))
            for way in (errno.EINVAL, errno.ENOTSUP):
                self.reset(before)
                run, _, _ = self.failing(f"sync:1+:{way}", *words)
                self.assertEqual((run.returncode, run.stderr), (0, b""))
                self.assertNotEqual(self.content(), before)
            self.reset(before)

    def test_every_call_for_a_table(self):
        for words in TABLES:
            self.sweep(WAYS, words[0], "in.nettrace", *words[1:])
        self.sweep(WAYS, "diff", "in.nettrace", "in.nettrace", "--retained")
        self.sweep(WAYS, "trend", "in.nettrace", "in.nettrace", "--csv")

    def test_every_call_for_an_input(self):
        for name in self.inputs():
            self.sweep(WAYS, "convert", name, "-q", "-o", "out.gcdump")
            self.sweep(WAYS, "info", name)
        self.sweep(WAYS, "convert", "-", "-q", "-o", "out.gcdump", data=small_trace())

    def runtime(self):
        """The options that name a process; it answers all requests."""
        path = self.path("..", "port")
        target = Runtime(path, [], silent=True)
        target.streams = SameTrace(small_trace())
        self.addCleanup(target.close)
        return ["--port", path, "-q", "--timeout", "5"]

    @unittest.skipIf(os.environ.get("GCDUMPC_IPC") == "OFF", "this build has no support for living processes")
    def test_every_call_for_a_process(self):
        port = self.runtime()
        self.sweep(LIVE_WAYS, *port, "-o", "out.gclog", points=10)
        self.sweep(LIVE_WAYS, *port, "-o", "out.nettrace", points=10)
        self.sweep(LIVE_WAYS, "report", *port, points=10)
        if not SANITIZED:
            # libuv ends the program if it gets no memory for its own tables
            self.sweep({"alloc": (0,)}, *port, "-o", "out.gcdump", aborts=True)

    def test_interrupted_and_cut_short(self):
        inputs = self.inputs()
        for how in ("open:again", "read:again", "read:short", "write:again", "write:short", "sync:again"):
            for suffix in SUFFIXES:
                if suffix == "db" and how == "sync:again":
                    continue                         # SQLite's own calls
                self.same(how, "convert", "in.nettrace", "-q", "-o", "out.csv/" if suffix == "csv" else f"out.{suffix}")
            for name in inputs:
                self.same(how, "report", name)
            self.same(how, "convert", "-", "-q", "-o", "out.gcdump", data=small_trace())

    @unittest.skipIf(SANITIZED, "the sanitizer has an allocator of its own; tests/sweep/sweep_alloc.c and others let that of the library fail")
    def test_every_allocation(self):
        memory = {"alloc": (0,)}
        for suffix in SUFFIXES:
            self.sweep(memory, "convert", "in.nettrace", "-q", "-o", "out.csv/" if suffix == "csv" else f"out.{suffix}")
        for words in TABLES:
            self.sweep(memory, words[0], "in.nettrace", *words[1:])
        for name in self.inputs()[1:]:
            self.sweep(memory, "report", name)       # not info, which prints memory: a block that cannot shrink is no defect
        self.sweep(memory, "diff", "in.nettrace", "in.nettrace", "-o", "out.html")
        self.sweep(memory, "diff", "in.nettrace", "in.nettrace", "--paths", "--json")
        self.sweep(memory, "trend", "in.nettrace", "in.nettrace", "--json")


if __name__ == "__main__":
    main()
