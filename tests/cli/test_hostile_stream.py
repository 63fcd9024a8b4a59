"""A process that sends no dump, or more than any dump: gcdumpc closes the stream as soon as it notices, and the disk does not fill up."""
import os
import re
import struct
import subprocess
import sys

from cli_support import HAVE_SQLITE, PROGRAM, SECONDS, CliTest, Run, big_trace, main, trace_bytes
from scripted_runtime import Flood

MIB = 1 << 20


class HostileStream(CliTest):
    port = None

    @classmethod
    def setUpClass(cls):
        if os.environ.get("GCDUMPC_IPC") == "OFF":
            cls.skipTest(cls, "this build has no support for living processes (GCDUMPC_IPC=OFF)")
        cls.whole = trace_bytes("net10-wks")
        cls.half = cls.whole[:len(cls.whole) // 2]       # in the middle of the objects
        cls.head = cls.whole[:2000]                      # before them
        cls.begun = cls.head_of_blocks(len(cls.whole) // 2)
        cls.walked = cls.head_of_blocks(len(cls.whole))

    @classmethod
    def head_of_blocks(cls, most):
        """All blocks of the recording that end before MOST, without its end mark."""
        at, end = 32, 32
        while at < len(cls.whole) and cls.whole[at] == 5:
            name = struct.unpack_from("<I", cls.whole, at + 11)[0]
            kind, at = cls.whole[at + 15:at + 15 + name], at + 16 + name
            if kind == b"Trace":
                at += 48 + 1
            else:
                size = struct.unpack_from("<I", cls.whole, at)[0]
                at += 4
                at += -at % 4 + size + 1
            end = at if at <= most else end
        return cls.whole[:end]

    @staticmethod
    def endless(head):
        """A block that can follow HEAD any number of times, in .nettrace 4: of an unknown kind."""
        kind, body = b"NobodysBlock", MIB
        at = (len(head) + 20 + len(kind)) % 4
        pad = (4 - at) % 4
        body -= (20 + len(kind) + pad + 1) % 4           # the next one has the same alignment
        return (b"\5\5\1" + struct.pack("<III", 1, 1, len(kind)) + kind + b"\6" + struct.pack("<I", body) + b"\0" * pad + b"\0" * body + b"\6")

    def flood(self, head, **how):
        """The options that name it; ends the previous one."""
        self.end()
        self.port = os.path.join(self.tmp, "port")
        self.target = Flood(self.port, head, **how)
        return ("--port", self.port)

    def end(self):
        if self.port is not None:
            self.target.close()
            os.unlink(self.port)

    def tearDown(self):
        self.end()
        super().tearDown()


class Undecodable(HostileStream):
    def incomplete(self, run):
        """Exit status 3, and one line with the place of the cut."""
        self.assertEqual(run.code, 3, run.err)
        lines = [line for line in run.lines if "damaged" in line or "decoded" in line]
        self.assertEqual(len(lines), 1, run.err)
        self.assertRegex(lines[0], r"port: the dump is incomplete: the recording is damaged at byte [\d,]+")
        self.assertEqual(self.target.sessions, 1)        # a larger buffer does not help
        self.assertTrue(self.target.stopped.wait(SECONDS))      # read perhaps after the program has ended

    def test_what_came_before_is_kept(self):
        run = self.gcdumpc(*self.flood(self.half, count=64), "-o", "x.gclog", "--save-trace", "x.nettrace")
        self.incomplete(run)
        kept = self.get("x.nettrace")
        self.assertTrue(kept.startswith(self.half))
        self.assertLess(len(kept), len(self.half) + MIB)
        self.done("convert", "x.nettrace", "-o", "y.gclog", code=3)
        self.assertEqual(self.get("x.gclog"), self.get("y.gclog"))

    def test_one_that_does_not_stop(self):
        run = self.gcdumpc(*self.flood(self.half, deaf=True), "-o", "x.gclog", "--save-trace", "x.nettrace")
        self.incomplete(run)
        self.assertLess(len(self.get("x.nettrace")), len(self.half) + MIB)

    def test_without_a_heap_walk(self):
        for head in (b"", b"Nettrace", self.head):
            for output in (("-o", "x.gclog", "--save-trace", "x.nettrace"), ("-o", "x.nettrace")):
                self.refused(1, r".*port: the event stream cannot be decoded: .*", *self.flood(head, count=64), *output)

    def test_without_a_heap_walk_the_stream_is_kept_when_wanted(self):
        run = self.gcdumpc(*self.flood(self.head, count=64), "-o", "x.gclog", "--save-trace", "x.nettrace", "--keep-partial")
        self.assertEqual((run.code, len([line for line in run.lines if "decoded" in line])), (1, 1), run.err)
        self.assertTrue(self.get("x.nettrace").startswith(self.head))
        self.assertLess(len(self.get("x.nettrace")), len(self.head) + MIB)
        self.assertNotIn("x.gclog", self.folder())

    def test_a_report_needs_no_copy(self):
        run = self.gcdumpc("report", *self.flood(self.half, deaf=True), "--top", "1")
        self.incomplete(run)

    def test_strict(self):
        port = self.flood(self.half, count=64)
        run = self.gcdumpc(*port, "-o", "x.gclog", "--strict")
        self.assertEqual(run.code, 1, run.err)
        self.assertNotIn("x.gclog", self.folder())

    def test_bytes_after_the_end(self):
        """The recording is complete, with its end tag; later bytes do not belong to it."""
        for deaf in (False, True):
            run = self.gcdumpc(*self.flood(self.whole, deaf=deaf), "-o", "x.gclog", "--save-trace", "x.nettrace")
            self.assertEqual(run.code, 0, run.err)
            self.assertTrue(self.get("x.nettrace").startswith(self.whole))
            self.assertLess(len(self.get("x.nettrace")), len(self.whole) + MIB)


class TooMuch(HostileStream):
    """Blocks of an unknown kind can continue endlessly; the decoder skips them."""

    def test_more_than_asked_for(self):
        begun = ("--max-bytes", "4M", *self.flood(self.begun, piece=self.endless(self.begun), deaf=True))
        self.refused(1, r".*port: the process sends more than 4\.0 MiB of events \(--max-bytes\)", *begun, "-o", "x.gclog", "--save-trace", "x.nettrace")
        self.assertTrue(self.target.stopped.wait(SECONDS))      # read perhaps after the program has ended
        begun = ("--max-bytes", "4M", *self.flood(self.begun, piece=self.endless(self.begun)))
        run = self.gcdumpc(*begun, "-o", "x.gclog", "--save-trace", "x.nettrace", "--keep-partial")
        self.assertEqual(run.code, 3, run.err)
        self.assertRegex(run.err, rb"more than 4\.0 MiB of events \(--max-bytes\)\n")
        self.assertRegex(run.err, rb"x\.gclog: [\d,]+ objects, .* INCOMPLETE")
        self.assertEqual(self.target.sessions, 1)
        self.assertLessEqual(len(self.get("x.nettrace")), 4 * MIB)
        self.done("convert", "x.nettrace", "-o", "y.gclog", code=3)

    def test_after_the_walk(self):
        """The requested data is there, but not the end of the recording, which would show lost events."""
        run = self.gcdumpc("--max-bytes", "4M", *self.flood(self.walked, piece=self.endless(self.walked), deaf=True), "-o", "x.gclog",
                           "--save-trace", "x.nettrace")
        self.assertEqual(run.code, 3, run.err)
        self.assertRegex(run.err, rb"more than 4\.0 MiB of events")
        self.assertRegex(run.err, rb"the dump is incomplete: the recording ends early")
        self.assertLessEqual(len(self.get("x.nettrace")), 4 * MIB)

    def test_no_more_than_asked_for(self):
        run = self.gcdumpc("--max-bytes", len(self.whole), *self.flood(self.whole, count=0), "-o", "x.gclog")
        self.assertEqual(run.code, 0, run.err)
        self.refused(1, r".*--max-bytes.*", "--max-bytes", len(self.whole) - 1, *self.flood(self.whole, piece=b""), "-o", "y.gclog")

    def test_more_than_its_memory_explains(self):
        """For a process of some megabytes the limit is a little over 1 GiB; for an invisible one, four times the machine's memory."""
        self.put("head", self.begun)
        self.put("piece", self.endless(self.begun))
        target = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), "flood-as", self.path("head"), self.path("piece")],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  env={**os.environ, "TMPDIR": self.tmp, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.addCleanup(self.stop, target)
        self.assertEqual(target.stdout.readline(), b"ready\n")
        run = self.gcdumpc("info", "--pid", target.pid)
        self.assertEqual((run.code, run.out), (1, b""), run.err)
        size = re.search(rb"process \d+: the process sends more than (1\.[012]) GiB of events, which its memory cannot explain; --max-bytes", run.err)
        self.assertIsNotNone(size, run.err)
        target.communicate()
        self.flood(b"")


class Disk(HostileStream):
    """The disk fills up while the stream or its output is written; some room is left for others."""

    def on_a_disk(self, megabytes, *words):
        """gcdumpc in the empty folder of a file system of that size; what it left is listed on standard output."""
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            self.skipTest("a small file system needs root and unshare")
        script = 'mount -t tmpfs -o size="$1"m none "$2" || exit 77; cd "$2"; shift 2; "$@"; status=$?; ls -A; exit $status'
        command = ["unshare", "-m", "sh", "-c", script, "sh", str(megabytes), self.dir, PROGRAM, *map(str, words)]
        process = subprocess.Popen(command, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.stop, process)
        out, err = process.communicate(timeout=SECONDS)
        if process.returncode == 77:
            self.skipTest("no file system could be mounted")
        self.assertNotRegex(err, rb"Sanitizer|runtime error:")
        return Run(process.returncode, out, err)

    def test_the_copy_of_the_stream(self):
        for deaf in (False, True):
            run = self.on_a_disk(64, *self.flood(self.begun, piece=self.endless(self.begun), deaf=deaf), "-o", "x.gclog")
            self.assertEqual((run.code, run.out), (1, b""), run.err)
            self.assertRegex(run.err, rb"temporary copy of the stream: cannot write: the disk has only 1 MiB left, and 1 MiB must stay free; .* --force\n")
        run = self.on_a_disk(64, *self.flood(self.begun, piece=self.endless(self.begun)), "-o", "x.gclog", "--force")
        self.assertEqual((run.code, run.out), (1, b""), run.err)
        self.assertRegex(run.err, rb"temporary copy of the stream: cannot write: No space left on device")

    def test_the_output(self):
        """The stream is small enough to stay in memory."""
        data = big_trace(800000)
        self.assertLess(len(data), 30 * MIB)
        outputs = ("x.nettrace", "x.gclog", "x.csv", *(["x.db"] if HAVE_SQLITE else []))
        for output in outputs:
            for force in ((), ("--force",)):
                run = self.on_a_disk(9, *self.flood(data, count=0), "-o", output, "--max-bytes", "100M", *force)
                self.assertEqual((run.code, run.out), (1, b""), (output, run.err))
                self.assertEqual(b"stay free" in run.err, not force, (output, run.err))
                self.assertEqual(b"No space left" in run.err, bool(force), (output, run.err))

    def test_the_recording(self):
        run = self.on_a_disk(9, *self.flood(big_trace(400000), count=0), "-o", "/dev/null", "--format", "gclog", "--save-trace", "x.nettrace")
        self.assertEqual((run.code, run.out), (1, b""), run.err)
        self.assertRegex(run.err, rb"x\.nettrace: cannot write: the disk has only .* stay free")


def flood_as(head, piece):
    """Runs as a process with a socket in TMPDIR."""
    with open("/proc/self/stat", encoding="utf-8", errors="replace") as f:
        start = f.read().rpartition(")")[2].split()[19]
    path = os.path.join(os.environ["TMPDIR"], f"dotnet-diagnostic-{os.getpid()}-{start}-socket")
    with open(head, "rb") as h, open(piece, "rb") as p:
        target = Flood(path, h.read(), piece=p.read(), deaf=True)
    print("ready", flush=True)
    sys.stdin.read()
    target.close()
    os.unlink(path)


if __name__ == "__main__" and sys.argv[1:2] == ["flood-as"]:
    flood_as(*sys.argv[2:])
elif __name__ == "__main__":
    main()
