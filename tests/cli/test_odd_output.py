"""Outputs that are not plain files: links to standard output, sockets, a standard output that does not block."""
import fcntl
import os
import socket
import subprocess

from cli_support import SECONDS, CliTest, main, small_trace


class OddOutput(CliTest):
    def setUp(self):
        super().setUp()
        self.put("in", small_trace())
        self.done("convert", "in", "-q", "-o", "whole")
        self.whole = self.get("whole")

    def test_a_link_to_standard_output(self):
        """The link stays, and the text goes to the redirected output, even into a file."""
        os.symlink("/dev/stdout", self.path("link"))
        with open(self.path("redirected"), "wb") as out:
            process = self.start("convert", "in", "-q", "-o", "link", stdout=out)
            run = self.finish(process)
        self.assertEqual(run.code, 0, run.err)
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(self.get("redirected"), self.whole)

    def test_a_socket_as_output_is_refused(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(self.path("socket"))
            self.refused(1, r"socket: cannot open: .*", "convert", "in", "-o", "socket")

    def test_standard_output_that_does_not_block(self):
        reader, writer = os.pipe()
        flags = fcntl.fcntl(writer, fcntl.F_GETFL)
        fcntl.fcntl(writer, fcntl.F_SETFL, flags | os.O_NONBLOCK)
        process = subprocess.Popen([os.environ["GCDUMPC"], "convert", os.path.join(os.environ["GCDUMPC_SOURCE"], "traces", "net10-wks",
                                    "heap.nettrace.gz"), "-o", "-"], stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            text = pipe.read()
        self.assertEqual(process.wait(timeout=SECONDS), 0, process.stderr.read())
        process.stderr.close()
        self.assertTrue(text.startswith(b"a 2 HeapLab "))
        self.assertGreater(len(text), 700000)

    def test_a_message_is_one_write(self):
        """Standard error keeps the ends of writes here.  Two programs with one file would mix the pieces of their lines."""
        reader, writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with reader:
            with writer:
                subprocess.run([os.environ["GCDUMPC"], "report", "nothing"], cwd=self.dir, stderr=writer, timeout=SECONDS, check=False)
            writes = list(iter(lambda: reader.recv(65536), b""))
        self.assertEqual(len(writes), 1, writes)
        self.assertRegex(writes[0], rb"^gcdumpc: nothing: .*\n$")

    def test_the_input_as_standard_output(self):
        """-o - redirected into the input recording would destroy it."""
        before = self.get("in")
        with open(self.path("in"), "r+b") as out:
            process = self.start("convert", "in", "-o", "-", stdout=out)
            run = self.finish(process)
        self.assertEqual(run.code, 2, run.err)
        self.assertEqual(self.get("in"), before)


if __name__ == "__main__":
    main()
