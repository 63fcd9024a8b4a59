"""--listen with a scripted runtime: a program waiting for its start is resumed when gcdumpc gives up."""
import os
import signal
import socket
import struct

from cli_support import SECONDS, CliTest, main

INFO, RESUME = (4, 8), (4, 1)
UNKNOWN_COMMAND = 0x80131385


class ConnectTest(CliTest):
    @classmethod
    def setUpClass(cls):
        if os.environ.get("GCDUMPC_IPC") == "OFF":
            cls.skipTest(cls, "this build has no support for living processes (GCDUMPC_IPC=OFF)")

    def connect(self):
        """A connection of the runtime that has advertised."""
        s = socket.socket(socket.AF_UNIX)
        self.addCleanup(s.close)
        s.settimeout(SECONDS)
        s.connect(self.path("port"))
        s.sendall(b"ADVR_V1\0" + b"0123456789abcdef" + struct.pack("<QH", 4711, 0))
        return s

    def asked(self, s):
        """The received command: set and number."""
        header = s.recv(20, socket.MSG_WAITALL)
        self.assertEqual(len(header), 20)
        self.assertEqual(header[:14], b"DOTNET_IPC_V1\0")
        return header[16], header[17]

    def listening(self):
        p = self.start("report", "--listen", "port")
        self.wait_until(lambda: os.path.exists(self.path("port")), "gcdumpc listens")
        return p

    def finish_resumed(self, p, code, pattern):
        """The next command is to resume it; only then P ends."""
        s = self.connect()
        self.assertEqual(self.asked(s), RESUME)
        self.assertIsNone(p.poll())
        s.sendall(b"DOTNET_IPC_V1\0" + struct.pack("<HBBHI", 24, 0xFF, 0, 0, 0))
        run = self.finish(p)
        self.assertEqual(run.code, code, run.err)
        self.assertRegex(run.err, pattern)

    def test_interrupted_before_the_start(self):
        p = self.listening()
        self.assertEqual(self.asked(self.connect()), INFO)
        p.send_signal(signal.SIGINT)
        self.finish_resumed(p, 130, rb"interrupted\n$")

    def test_an_answer_that_cannot_be_used(self):
        p = self.listening()
        s = self.connect()
        self.assertEqual(self.asked(s), INFO)
        s.sendall(b"HTTP/1.1 400 Bad Request\r\n")
        self.finish_resumed(p, 1, rb"not come from a .NET diagnostic port")

    def test_gone_before_the_start(self):
        """No runtime to resume: gcdumpc does not wait."""
        p = self.listening()
        s = self.connect()
        self.assertEqual(self.asked(s), INFO)
        s.close()
        run = self.finish(p)
        self.assertEqual(run.code, 1, run.err)
        self.assertRegex(run.err, rb"process \d+: .*ended")


if __name__ == "__main__":
    main()
