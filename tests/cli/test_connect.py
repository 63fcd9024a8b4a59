"""--listen with a scripted runtime, at a path and over TCP: a program waiting for its start is resumed when gcdumpc gives up."""
import contextlib
import os
import re
import signal
import socket
import struct
import unittest

from cli_support import SECONDS, CliTest, main

INFO, RESUME = (4, 8), (4, 1)
UNKNOWN_COMMAND = 0x80131385


class Connect(CliTest):
    @classmethod
    def setUpClass(cls):
        if os.environ.get("GCDUMPC_IPC") == "OFF":
            cls.skipTest(cls, "this build has no support for living processes (GCDUMPC_IPC=OFF)")

    def plain_connection(self):
        s = socket.socket(socket.AF_UNIX)
        self.addCleanup(s.close)
        s.settimeout(SECONDS)
        s.connect(self.path("port"))
        return s

    def connect(self):
        """A connection of the runtime that has advertised."""
        s = self.plain_connection()
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
        """The next command resumes it; P ends only after that."""
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


class ConnectOverTcp(Connect):
    """All tests of a path again, and those that only TCP needs."""

    def plain_connection(self):
        s = socket.create_connection(self.address, timeout=SECONDS)
        self.addCleanup(s.close)
        return s

    def listening(self, listen="tcp:127.0.0.1:0", *more):
        p = self.start("report", "--listen", listen, *more)
        text = b""
        while not text.endswith(b"\n"):
            byte = os.read(p.stderr.fileno(), 1)         # and leaves the rest for finish()
            self.assertTrue(byte, text)
            text += byte
        self.said = text.decode()
        where = re.search(r"waiting at (?:\[(.*)\]|([\d.]+)):(\d+) for", self.said)
        self.assertIsNotNone(where, self.said)
        self.address = where[1] or where[2], int(where[3])
        return p

    def test_says_where(self):
        p = self.listening()
        self.assertEqual(self.said, f"gcdumpc: waiting at 127.0.0.1:{self.address[1]} for a program started with "
                                    f"DOTNET_DiagnosticPorts=127.0.0.1:{self.address[1]}\n")
        self.assertNotEqual(self.address[1], 0)
        p.kill()

    @unittest.skipUnless(os.path.exists("/proc/net/if_inet6"), "this machine has no IPv6")
    def test_ipv6(self):
        p = self.listening("tcp:[::1]:0")
        self.assertIn(f"waiting at [::1]:{self.address[1]} for", self.said)
        self.assertIn(f"DOTNET_DiagnosticPorts=::1:{self.address[1]}\n", self.said)
        s = self.connect()
        self.assertEqual(self.asked(s), INFO)
        s.close()
        self.assertEqual(self.finish(p).code, 1)

    def test_strangers_do_no_harm(self):
        p = self.listening()
        for junk in (b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"ADVR_V1\0short", b"\xff" * 100000):
            s = self.plain_connection()
            try:
                s.sendall(junk)
            except OSError:
                pass                     # it was cut off already
        silent = self.plain_connection()
        self.assertEqual(self.asked(self.connect()), INFO)
        silent.close()
        p.send_signal(signal.SIGINT)
        self.finish_resumed(p, 130, rb"interrupted\n$")

    def test_only_strangers_connect_until_the_timeout(self):
        p = self.listening("tcp:127.0.0.1:0", "--timeout", "10")
        self.plain_connection().sendall(b"x" * 34)
        run = self.finish(p)
        self.assertEqual(run.code, 1)
        self.assertIn(b"no runtime has connected within 10000 ms, only 1 others that do not speak its protocol", run.err)

    def test_the_first_of_two(self):
        p = self.listening()
        first = self.connect()
        self.assertEqual(self.asked(first), INFO)
        other = self.plain_connection()
        other.sendall(b"ADVR_V1\0" + b"another runtime!" + struct.pack("<QH", 4712, 0))
        first.close()
        run = self.finish(p)
        self.assertEqual(run.code, 1)
        self.assertRegex(run.err, rb"process 4711: ")
        with contextlib.suppress(ConnectionResetError):
            self.assertEqual(other.recv(1), b"")         # got no command

    def test_refused(self):
        for address, words in (("127.0.0.1", "HOST:PORT is expected"), ("shop.example.org:9000", "not \"shop.example.org:9000\""),
                               ("127.0.0.1:99999", "HOST:PORT"), ("0.0.0.0:9000", "(--any-address allows it)"), ("", "HOST:PORT")):
            run = self.gcdumpc("info", "--listen", f"tcp:{address}")
            self.assertEqual(run.code, 2, run.err)
            self.assertIn(words, run.err.decode())
        for options in (["--pid", "1"], ["--listen", "port"]):
            run = self.gcdumpc("info", "--any-address", *options)
            self.assertEqual(run.code, 2)
            self.assertIn(b"--any-address needs --listen tcp:HOST:PORT", run.err)

    def test_port_in_use(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            port = s.getsockname()[1]
            run = self.gcdumpc("info", "--listen", f"tcp:127.0.0.1:{port}")
            self.assertEqual((run.code, run.err), (1, f"gcdumpc: cannot listen at 127.0.0.1:{port}: another program does\n".encode()))

    def test_a_warning_for_all_addresses(self):
        run = self.gcdumpc("info", "--listen", "tcp:0.0.0.0:0", "--any-address", "--timeout", "1", "-q")
        self.assertEqual(run.code, 1)
        self.assertRegex(run.err, rb"^gcdumpc: whoever can reach 0\.0\.0\.0:\d+ can connect and pass for the program, and nothing is encrypted\n")


if __name__ == "__main__":
    main()
