"""Shared by the tests of installation and packages."""
import os
import shutil
import subprocess
import sys
import unittest

ROOT = os.environ.get("GCDUMPC_SOURCE") or os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("GCDUMPC_BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.environ.get("GCDUMPC", os.path.join(BUILD, "gcdumpc"))
TRACE = os.path.join(ROOT, "traces", "net10-wks", "heap.nettrace.gz")
MANUAL = os.path.join(BUILD, "manual")
SECONDS = 300

sys.path[:0] = [os.path.join(ROOT, "tests", name) for name in ("live", "support")]


def run(*args, status=0, **kw):
    """Runs a program that must end with STATUS; returns its standard output."""
    r = subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, check=False, **kw)
    if r.returncode != status:
        raise AssertionError(f"{' '.join(map(str, args))}: exit {r.returncode}\n{r.stdout[-3000:]}\n{r.stderr[-3000:]}")
    return r.stdout


def text(*args, **kw):
    return run(*args, **kw).decode()


def need_tool(name, why):
    """Path of a program, or the test is skipped."""
    path = shutil.which(name)
    if path is None:
        raise unittest.SkipTest(f"no {name} on this machine, needed for {why}")
    return path


def cached(name):
    """A value of the build's CMakeCache.txt, "" when there is none."""
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as f:
        for line in f:
            if line.split(":", 1)[0] == name:
                return line.rstrip("\n").split("=", 1)[1]
    return ""


def main(reason=None):
    """unittest.main, with a line for everything that was skipped; 77 if that was all (REASON, or a build with sanitizers)."""
    name = "install/" + os.path.splitext(os.path.basename(sys.argv[0]))[0]
    if reason is None and os.environ.get("GCDUMPC_SANITIZE"):
        reason = "what is installed is built without sanitizers"
    if reason is None and os.environ.get("GCDUMPC_STATIC") == "ON":
        reason = "this build has no shared library; the static program is built by a test of any other"
    if reason is not None:
        print(f"skipped: {name}: {reason}")
        sys.exit(77)
    result = unittest.main(exit=False).result
    for test, why in result.skipped:
        print(f"skipped: {name}: {test}: {why}")
    sys.exit(0 if result.wasSuccessful() else 1)
