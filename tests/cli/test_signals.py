"""Ctrl-C and similar signals: exit status 130 within two seconds, nothing left behind, an existing output unchanged."""
import fcntl
import gzip
import os
import re
import signal
import subprocess
import termios
import threading
import time

from cli_support import CliTest, big_trace, main, small_trace, trace, trace_bytes

CORE = os.path.join(os.path.dirname(os.path.dirname(trace("net10-core"))), "net10-core", "heap.core.gz")
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PROMPT = 60                      # seconds; a fraction of one, except on a busy machine
TEMPORARY = re.compile(r"\.old(\.gz)?\.\d+-\d+\.gcdumpc-tmp")


def unread(pipe):
    """Unread bytes in a pipe."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), "little")


class SignalTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.big = big_trace(1_000_000)               # about 0.2 seconds of work for gzip

    def setUp(self):
        super().setUp()
        self.put("old", b"the output of another day")
        self.put("old.gz", b"another one")
        self.before = self.folder()

    def interrupted(self, process, number, subject=".*"):
        """NUMBER stops it: in time, with a message, leaving nothing."""
        process.send_signal(number)
        self.ends_interrupted(process, number, subject)

    def ends_interrupted(self, process, number, subject=".*"):
        try:
            self.assertEqual(process.wait(timeout=PROMPT), 130, number)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail(f"{signal.Signals(number).name} was not heeded")
        process.stdin = None
        run = self.finish(process)
        self.assertRegex(run.err.decode(), rf"\Agcdumpc: {subject}: interrupted\n\Z")
        self.unchanged()

    def unchanged(self, *more):
        self.assertEqual({k: v for k, v in self.folder().items() if k not in more}, self.before)

    def temporary(self):
        """Names of temporary files beside the output."""
        return [n for n in os.listdir(self.dir) if n.endswith("-tmp")]

    def begun(self):
        """The temporary file has contents."""
        return any(os.path.getsize(self.path(n)) > 0 for n in self.temporary())

    def writing(self, name, output="old.gz"):
        """A conversion stopped by SIGSTOP while it writes its output, so that the tests below have no race."""
        for _ in range(20):
            process = self.start("convert", name, "-o", output)
            self.wait_until(lambda p=process: p.poll() is not None or self.begun(), "the first output")
            process.send_signal(signal.SIGSTOP)
            self.wait_until(lambda p=process: p.poll() is not None or self.state(p) == "T", "the stop")
            if process.poll() is None and self.temporary():
                return process
            self.stop(process)                       # too late, it was done
            self.put(output, self.before[output])
        return self.skipTest("the program is too fast to be caught while it writes")

    @staticmethod
    def state(process):
        """The state of the process, a letter as in ps."""
        with open(f"/proc/{process.pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0]

    def sleeps(self, process):
        """It has started (it has a handler for SIGINT) and is waiting."""
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as f:
            caught = int(re.search(r"^SigCgt:\s*(\w+)", f.read(), re.M)[1], 16)
        return caught >> (signal.SIGINT - 1) & 1 and self.state(process) == "S"


class WhileReading(SignalTest):
    def fed(self, *words):
        """The program with half a recording in its standard input, waiting for the rest."""
        data = trace_bytes("net10-wks")
        process = self.start(*words, stdin=subprocess.PIPE)
        process.stdin.write(data[:len(data) // 2])
        process.stdin.flush()
        self.wait_until(lambda: unread(process.stdin) == 0, "the program reads")
        return process

    def test_pipe(self):
        for words in (["convert", "-", "-o", "old"], ["convert", "-", "-o", "new.gz"], ["convert", "-", "-o", "-"], ["info", "-"],
                      ["report", "-"]):
            for number in STOPS:
                process = self.fed(*words)
                self.unchanged(*self.temporary())    # the copy of the pipe has no name
                self.assertLessEqual(len(self.temporary()), 1)
                pipe = process.stdin
                self.interrupted(process, number, "standard input")
                pipe.close()

    def test_silent_pipe(self):
        process = self.start("convert", "-", "-o", "old", stdin=subprocess.PIPE)
        self.wait_until(lambda: self.sleeps(process), "the program waits")
        pipe = process.stdin
        self.interrupted(process, signal.SIGINT, "standard input")
        pipe.close()

    def test_named_pipe_without_a_writer(self):
        os.mkfifo(self.path("fifo"))
        self.before = self.folder()
        for words in (["info", "fifo"], ["convert", "fifo", "-o", "old"]):
            process = self.start(*words)
            self.wait_until(lambda p=process: self.sleeps(p), "the program waits")
            self.interrupted(process, signal.SIGTERM, "fifo")

    def test_ignored_hangup_stays_ignored(self):
        """nohup"""
        data = trace_bytes("net10-wks")
        process = self.start("convert", "-", "-o", "new", stdin=subprocess.PIPE,
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.stdin.write(data[:300000])
        process.stdin.flush()
        self.wait_until(lambda: unread(process.stdin) == 0, "the program reads")
        process.send_signal(signal.SIGHUP)
        self.assertEqual(self.finish(process, data[300000:]).code, 0)


class WhileMatching(SignalTest):
    def test_a_long_name(self):
        """Inside the match of a slow pattern and a long name, which takes more than a minute."""
        self.put("s", small_trace())
        self.done("convert", "s", "-o", "s.gclog")
        self.put("long.gclog", self.get("s.gclog").replace(b"Shop.Order", b"a" * 4_000_000))
        self.before = self.folder()
        for words in (("report", "long.gclog", "--filter"), ("paths", "long.gclog", "--type"), ("diff", "s.gclog", "long.gclog", "--filter")):
            process = self.start(*words, "/(a|b|c){1,1000}z/")
            self.wait_until(lambda p=process: self.seconds(p) > 1, "a second of work")
            self.interrupted(process, signal.SIGINT, r"long\.gclog")

    @staticmethod
    def seconds(process):
        """Processor seconds."""
        with open(f"/proc/{process.pid}/stat", encoding="utf-8") as f:
            return sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


class WhileWriting(SignalTest):
    def setUp(self):
        super().setUp()
        self.put("in", self.big)
        self.before = self.folder()

    def test_file(self):
        for number in STOPS:
            process = self.writing("in")
            self.assertEqual(len(self.temporary()), 1)
            self.assertRegex(self.temporary()[0], TEMPORARY)
            process.send_signal(number)
            process.send_signal(signal.SIGCONT)
            self.ends_interrupted(process, number)

    def test_comparing(self):
        """Two dumps, at several moments of a comparison that ends with a page."""
        begun = time.monotonic()
        self.assertEqual(self.comparing().wait(timeout=PROMPT), 0)
        whole = time.monotonic() - begun
        os.unlink(self.path("page.html"))
        interrupted = 0
        for part in (0.1, 0.4, 0.7):
            process = self.comparing()
            time.sleep(part * whole)
            process.send_signal(signal.SIGINT)
            if process.wait(timeout=PROMPT) == 0:        # faster than before, on a machine with other work
                os.unlink(self.path("page.html"))
                continue
            self.assertEqual(process.returncode, 130)
            self.unchanged()
            interrupted += 1
        self.assertGreater(interrupted, 0)

    def comparing(self):
        return self.start("diff", "in", "in", "-o", "page.html")

    def test_two_signals_at_once(self):
        """A shell and a wrapper often send one signal each."""
        process = self.writing("in")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        self.assertEqual(process.wait(timeout=PROMPT), 130)
        self.unchanged()

    def test_kill(self):
        """SIGKILL allows no clean-up, but existing files are intact, and the next run cleans up."""
        process = self.writing("in")
        process.kill()
        process.wait()
        left = self.temporary()
        self.assertEqual(len(left), 1)
        self.assertEqual(os.stat(self.path(left[0])).st_mode & 0o777, 0o600)
        self.unchanged(*left)
        self.put("in", small_trace())
        self.done("convert", "in", "-o", "old")
        self.assertTrue(self.get("old").startswith(b"a 2 shop "))
        self.assertEqual(self.temporary(), [])

    def test_a_core_that_is_cut(self):
        """Cut while it is mapped: a message and status 1, no crash and nothing left; or it was read before."""
        with gzip.open(CORE) as f:
            data = f.read()
        codes = []
        while codes.count(1) == 0 and len(codes) < 20:
            self.put("core", data)
            process = self.start("convert", "core", "-o", "old")
            while process.poll() is None and not self.maps(process, "core"):
                pass
            os.truncate(self.path("core"), 4096)
            run = self.finish(process)
            codes.append(run.code)
            os.remove(self.path("core"))
            if run.code == 1:
                self.assertEqual(run.err, b"gcdumpc: a file was cut while it was read, or its disk failed\n")
                self.unchanged()
            self.before = self.folder()
        self.assertLessEqual(set(codes), {0, 1, 3})
        self.assertIn(1, codes)

    def maps(self, process, name):
        try:
            with open(f"/proc/{process.pid}/maps", encoding="utf-8") as f:
                return f"/{name}\n" in f.read()
        except OSError:
            return False

    def test_standard_output_that_nobody_reads(self):
        for number in STOPS:
            process = self.start("convert", "in", "-o", "-")
            self.wait_until(lambda p=process: unread(p.stdout) >= 4096 and self.sleeps(p), "the pipe is full")
            self.interrupted(process, number, "standard output")

    def test_named_pipe_without_a_reader(self):
        os.mkfifo(self.path("fifo"))
        self.before = self.folder()
        process = self.start("convert", trace("net10-wks"), "-o", "fifo")
        self.wait_until(lambda: self.sleeps(process), "the program waits")
        self.interrupted(process, signal.SIGINT, "fifo")


class Parallel(CliTest):
    def test_same_output(self):
        name = self.put("in", big_trace(200_000))
        self.done("convert", name, "-o", "alone")
        for output in ("out", "out.gz"):
            runs = [self.start("convert", name, "-o", output) for _ in range(4)]
            for process in runs:
                run = self.finish(process)
                self.assertEqual(run.code, 0, run.err)
            self.assertEqual(self.done("convert", name, "-o", "alone" + output[3:]).code, 0)
            self.assertEqual(self.get(output), self.get("alone" + output[3:]))
        self.assertEqual(sorted(self.folder()), ["alone", "alone.gz", "in", "out", "out.gz"])

    def test_a_reader_never_sees_a_part(self):
        whole = self.done("convert", trace("net10-wks"), "-o", "out") and self.get("out")
        seen, done = set(), threading.Event()

        def watch():
            while not done.is_set():
                seen.add(self.get("out") == whole)
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            for _ in range(10):
                self.done("convert", trace("net10-wks"), "-o", "out")
        finally:
            done.set()
            watcher.join()
        self.assertEqual(seen, {True})


if __name__ == "__main__":
    main()
