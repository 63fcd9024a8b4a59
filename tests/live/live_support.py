"""The target and the program for live tests."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ.get("GCDUMPC_SOURCE") or os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("GCDUMPC_BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.environ.get("GCDUMPC", os.path.join(BUILD, "gcdumpc"))
TARGET = os.path.join(ROOT, "tests", "target")
SKIP = 77


def build_target():
    """Once per build folder; the path of the executable."""
    r = subprocess.run(["sh", os.path.join(TARGET, "build.sh"), os.path.join(BUILD, "heaplab")], capture_output=True, text=True)
    if r.returncode == SKIP:
        print("skipped: live test: " + r.stdout.strip())
        sys.exit(SKIP)
    if r.returncode != 0:
        print(r.stdout + r.stderr)
        sys.exit(1)
    return r.stdout.strip().split("\n")[-1]


class Process:
    """The target, up to its line of counts."""

    executable = None

    def __init__(self, *args, **environment):
        self.process = subprocess.Popen([self.executable, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **environment})
        self.line = self.process.stdout.readline()
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


class LiveTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def gcdumpc(self, *args, status=0, **kw):
        r = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, timeout=120, **kw)
        self.assertEqual(r.returncode, status, r.stdout[-300:] + r.stderr)
        return r


def main():
    if os.environ.get("GCDUMPC_IPC") == "OFF":
        print("skipped: live test: this build has no support for living processes (GCDUMPC_IPC=OFF)")
        sys.exit(SKIP)
    Process.executable = build_target()
    unittest.main(module="__main__")
