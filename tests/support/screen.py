"""A program in a terminal that remembers what it shows: pyte, in a pseudo-terminal of any size."""
import fcntl
import glob
import os
import select
import struct
import subprocess
import sys
import termios
import time
import unittest

try:
    import pyte
except ImportError:
    sys.path.append("/usr/lib/python3/dist-packages")    # Debian's, also for a Python of another origin
    try:
        import pyte
    except ImportError:
        raise unittest.SkipTest("no pyte (Debian: python3-pyte)") from None

KEYS = {"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "page up": "\x1b[5~", "page down": "\x1b[6~", "home": "\x1b[H",
        "end": "\x1b[F", "back tab": "\x1b[Z", "delete": "\x1b[3~", "enter": "\r", "escape": "\x1b", "tab": "\t", "backspace": "\x7f",
        **{f"ctrl {c}": chr(ord(c) & 0x1f) for c in "abcdefghjklnopruvwxz"}}

ESCAPE_SECONDS = 0.05            # ESCAPE_MS of src/cli/browse/screen.c


class Screen:
    """ARGS run as the leader of a session on a terminal of COLUMNS x LINES; the terminal's other end stays open until close()."""

    def __init__(self, args, env, columns=110, lines=30, cwd=None, stdin=None):
        self.ours, self.theirs = os.openpty()
        self.bytes = b""
        self.size(columns, lines)
        self.before = termios.tcgetattr(self.theirs)

        def lead():
            os.setsid()
            fcntl.ioctl(1, termios.TIOCSCTTY, 0)
        self.process = subprocess.Popen(args, env=env, cwd=cwd, stdin=self.theirs if stdin is None else stdin, stdout=self.theirs, stderr=self.theirs,
                                        preexec_fn=lead)

    def size(self, columns, lines):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.columns, self.lines = columns, lines
        if hasattr(self, "screen"):
            self.screen.resize(lines, columns)
        else:
            self.screen = pyte.Screen(columns, lines)
            self.stream = pyte.ByteStream(self.screen)

    def read(self, seconds):
        """Takes what comes within SECONDS; False when nothing does."""
        if not select.select([self.ours], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.ours, 65536)
        except OSError:
            return False
        self.bytes += data
        self.stream.feed(data)
        return True

    def text(self):
        return [line.rstrip() for line in self.screen.display]

    def wait(self, what, seconds=60, working=False):
        """Until WHAT, a text that is shown or a function of the lines, holds, and the program waits for the next key: what is typed shows
        before its answer, and half a picture before the whole.  WORKING: while it still works."""
        found = what if callable(what) else lambda lines: what in "\n".join(lines)
        end = time.monotonic() + seconds
        while True:
            while self.read(0.02):
                pass
            if (working or self.idle()) and not self.read(0) and found(self.text()):
                return self.text()
            if time.monotonic() > end:
                raise AssertionError(f"in vain: {what}\n" + "\n".join(self.text()))

    def press(self, *keys):
        """Names of KEYS, or text.  After Esc nothing is typed before the program has taken it for the key, which it does after some time."""
        for key in keys:
            text = KEYS.get(key, key)
            os.write(self.ours, text.encode())
            if text.endswith("\x1b"):
                self.rest()
                time.sleep(2 * ESCAPE_SECONDS)           # it waited when this began, so its time is up
                self.rest()

    def rest(self, seconds=60):
        """Until the program waits."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and not self.idle() and time.monotonic() < end:
            self.read(0.005)

    def works(self):
        """Does a thread of the program run, or wait for a processor or a disk?"""
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/stat"):
            try:
                with open(path, encoding="utf-8", errors="replace") as f:
                    if f.read().rpartition(")")[2].split()[0] in "RD":
                        return True
            except OSError:
                pass                                 # it has ended
        return False

    def idle(self):
        """Has it taken every key, and does it wait for more?"""
        try:
            keys = struct.unpack("i", fcntl.ioctl(self.theirs, termios.FIONREAD, bytes(4)))[0]
        except OSError:                              # no terminal any more
            keys = 0
        return not keys and not self.works()

    def settled(self, seconds=0.15):
        """The lines once the program waits, and nothing has come for SECONDS."""
        while self.read(seconds) or not self.idle():
            pass
        return self.text()

    def cursor(self):
        """The text of the line in reverse between heads and status."""
        for y in range(1, self.lines - 2):
            line = self.screen.buffer[y]
            if all(line[x].reverse for x in range(min(8, self.columns))):
                return self.text()[y]
        return None

    def end(self, seconds=60):
        """Waits for the end; returns its status."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            self.read(0.02)
            if time.monotonic() > end:
                raise AssertionError("it does not end\n" + "\n".join(self.text()))
        while self.read(0.02):
            pass
        return self.process.returncode

    def restored(self):
        """Are the modes of the terminal as before, and is its cursor shown?"""
        return termios.tcgetattr(self.theirs) == self.before and not self.screen.cursor.hidden

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for fd in (self.ours, self.theirs):
            try:
                os.close(fd)
            except OSError:
                pass
