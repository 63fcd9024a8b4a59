"""A terminal for a program started by a test, and everything that the program prints there."""
import fcntl
import os
import pty
import select
import struct
import termios


class Terminal:
    """Give `theirs` to the program; shown() reads to its end.

    The other end stays open here until the program has ended, and our own mark shows where its text ends: the kernel checks for
    text first and then for a closed other end, so a reader between a program's last write and its exit can get the end (EIO)
    without the text (Linux 6.18: about one program in 100,000).
    """
    END = b"\x04the program has ended\x04"

    def __init__(self, columns=None, lines=40):
        self.ours, self.theirs = pty.openpty()
        if columns is not None:
            fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def shown(self, process):
        """All that PROCESS (subprocess.Popen) has shown or will show until it ends, as text."""
        data = b""
        if process.poll() is None:
            ended = os.pidfd_open(process.pid)
            try:
                while ended not in select.select([self.ours, ended], [], [])[0]:
                    data += os.read(self.ours, 65536)
            finally:
                os.close(ended)
        while select.select([self.ours], [], [], 0)[0]:          # so that there is room for the mark
            data += os.read(self.ours, 65536)
        os.write(self.theirs, self.END)
        while not data.endswith(self.END):
            data += os.read(self.ours, 65536)
        return data.removesuffix(self.END).decode().replace("\r\n", "\n")

    def close(self):
        os.close(self.ours)
        os.close(self.theirs)
