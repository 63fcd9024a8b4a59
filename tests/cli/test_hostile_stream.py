"""A process that sends what is no dump, or more than any dump has: the stream is left as soon as that is seen, and does not fill the disk."""
import os
import socket
import struct
import threading

from cli_support import CliTest, main, trace_bytes
from test_partial import ERROR, OK, UNKNOWN_COMMAND, reply

MIB = 1 << 20
PIECE = b"\xff" * MIB


class Flood:
    """
    A runtime of .NET Core 3 at PATH: it answers the request for a session with HEAD, and then PIECE again and again: COUNT times, or for ever.
    It answers the stop, and the stream ends then, unless it is DEAF: then it reads nothing and goes on as long as somebody listens.
    """

    def __init__(self, path, head, piece=PIECE, count=None, deaf=False):
        self.head, self.piece, self.count, self.deaf = head, piece, count, deaf
        self.sessions, self.stopped, self.sent = 0, threading.Event(), 0
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(path)
        self.server.listen(8)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            try:
                header = connection.recv(20, socket.MSG_WAITALL)
                size, command_set, command = struct.unpack_from("<HBB", header, 14)
                connection.recv(size - 20, socket.MSG_WAITALL)
                if (command_set, command) == (2, 3):
                    self.sessions += 1
                    connection.sendall(reply(OK, struct.pack("<Q", 7)))
                    self.stream(connection)
                elif (command_set, command) == (2, 1):
                    self.stopped.set()
                    if not self.deaf:
                        connection.sendall(reply(OK, struct.pack("<Q", 7)))
                else:
                    connection.sendall(reply(ERROR, struct.pack("<I", UNKNOWN_COMMAND)))
            except (OSError, struct.error):
                pass

    def stream(self, connection):
        connection.sendall(self.head)
        while self.count is None or self.sent < self.count:
            if self.stopped.is_set() and not self.deaf:
                return
            connection.sendall(self.piece)
            self.sent += 1
        self.stopped.wait(30)

    def close(self):
        self.server.close()


class HostileStream(CliTest):
    port = None

    @classmethod
    def setUpClass(cls):
        if os.environ.get("GCDUMPC_IPC") == "OFF":
            cls.skipTest(cls, "this build has no support for living processes (GCDUMPC_IPC=OFF)")
        cls.whole = trace_bytes("net10-wks")
        cls.half = cls.whole[:len(cls.whole) // 2]       # in the middle of the objects
        cls.head = cls.whole[:2000]                      # before them

    def flood(self, head, **how):
        """The options that name it; the one before ends."""
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
        """Exit status 3, and one line that says where it ends."""
        self.assertEqual(run.code, 3, run.err)
        lines = [line for line in run.lines if "damaged" in line or "decoded" in line]
        self.assertEqual(len(lines), 1, run.err)
        self.assertRegex(lines[0], r"port: the dump is incomplete: the recording is damaged at byte [\d,]+")
        self.assertEqual(self.target.sessions, 1)        # a larger buffer does not help
        self.assertTrue(self.target.stopped.is_set())

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

    def test_behind_the_end(self):
        """The recording is whole, and has its end mark; nothing that comes then belongs to it."""
        for deaf in (False, True):
            run = self.gcdumpc(*self.flood(self.whole, deaf=deaf), "-o", "x.gclog", "--save-trace", "x.nettrace")
            self.assertEqual(run.code, 0, run.err)
            self.assertTrue(self.get("x.nettrace").startswith(self.whole))
            self.assertLess(len(self.get("x.nettrace")), len(self.whole) + MIB)


if __name__ == "__main__":
    main()
