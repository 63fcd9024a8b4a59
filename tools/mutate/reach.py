"""Which lines of the product each test runs: every test once, in a build of its own with gcov.

Kept in --scratch.  A test is run again if it changes, or if a file changes that it runs and that
is asked about.
"""
import bisect
import gzip
import hashlib
import json
import os
import subprocess

from workshop import FIRST_BUILD_SECONDS, Workshop, test_digest

FLAGS = "-O0 --coverage -fprofile-update=atomic"
LABELS = ("unit", "fuzz", "cli", "golden")    # not what needs a living process, or minutes
# whose parts run different commands, or which take longer than is waited for
IN_PARTS = tuple("cli/test_" + name for name in ("browse", "direct", "outputs", "sampling", "sql"))
FIRST_SECONDS = 40                            # of a script, whose commands leave what they run
PROGRAM_SECONDS = 200                         # which leaves nothing if it is cut
LIST_PARTS = """
import importlib, sys, unittest
sys.path.insert(0, sys.argv[1])
def show(suite):
    for test in suite:
        show(test) if isinstance(test, unittest.TestSuite) else print(test.id().partition(".")[2])
show(unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(sys.argv[2])))
"""


def ranges(numbers):
    """[first, last, first, last, ...] of NUMBERS."""
    found = []
    for n in sorted(numbers):
        if found and found[-1] == n - 1:
            found[-1] = n
        else:
            found += [n, n]
    return found


def touches(found, first, last):
    """Whether a number from FIRST to LAST is in the ranges FOUND."""
    at = bisect.bisect_left(found, first)
    return at % 2 == 1 or at < len(found) and found[at] <= last


def lines_of(build, source):
    """{path: ([lines with code], [lines that were run])} since the last call."""
    data = [os.path.join(folder, f) for folder, _, files in os.walk(build) for f in files
            if f.endswith(".gcda")]
    lines = {}
    for at in range(0, len(data), 500):
        out = subprocess.run(["gcov", "-j", "-t", *data[at:at + 500]], capture_output=True,
                             cwd=build).stdout
        for line in filter(None, out.split(b"\n")):
            for file in json.loads(line)["files"]:
                path = os.path.relpath(os.path.join(source, file["file"]), source)
                if path.startswith(("src/", "ipc/")) and path.endswith(".c"):
                    code, run = lines.setdefault(path, (set(), set()))
                    code.update(n["line_number"] for n in file["lines"])
                    run.update(n["line_number"] for n in file["lines"] if n["count"])
    for path in data:
        os.unlink(path)
    return {path: (ranges(code), ranges(run)) for path, (code, run) in lines.items()}


class Reach:
    def __init__(self, root, scratch, names):
        self.root, self.names = root, names
        self.path = os.path.join(scratch, "reach.jsonl.gz")
        self.shop = Workshop(root, scratch, "coverage", names, FLAGS)
        self.entries = {}                 # of the last run of each test
        if os.path.exists(self.path):
            with gzip.open(self.path, "rt", encoding="utf-8") as f:
                for line in f:
                    entry = json.loads(line)
                    self.entries[entry["test"]] = entry

    def digest(self, path):
        try:
            with open(os.path.join(self.shop.source, path), "rb") as f:
                return hashlib.sha256(f.read()).hexdigest()[:12]
        except OSError:
            return ""

    def tests(self):
        """Programs, and the parts of scripts."""
        found = []
        for name in sorted(self.shop.tests, key=lambda n: (not self.shop.is_program(n), n)):
            if name.split("/")[0] in LABELS:
                found += self._parts(name) if name in IN_PARTS else [name]
        return found

    def _parts(self, name):
        command = self.shop.tests[name]["command"]
        folder, file = os.path.split(command[-1])
        out = subprocess.run([command[0], "-B", "-c", LIST_PARTS, folder, file.partition(".")[0]],
                             capture_output=True, text=True, env=self.shop.environment(name)).stdout
        return [f"{name}:{part}" for part in out.split()] or [name]

    def measure(self, paths, say):
        """Runs the tests whose entry is missing or stale for the files PATHS."""
        shop = self.shop
        shop.copy()
        shop.configure()
        shop.build_all(LABELS, FIRST_BUILD_SECONDS)
        shop.read_tests()
        now = {path: self.digest(path) for path in paths}
        tests = self.tests()
        self.entries = {t: e for t, e in self.entries.items() if t in set(tests)}
        stale = []
        for test in tests:
            entry = self.entries.get(test)
            if entry is None or entry["digest"] != test_digest(self.root, self.names, test) or \
                    any(now.get(p, d) != d for p, (d, _, _) in entry["files"].items()):
                stale.append(test)
        if stale:
            say(f"{len(stale)} of {len(tests)} tests are run to see which lines they run")
            lines_of(shop.build_folder, shop.source)
        for test in stale:
            how, seconds = shop.run(test, PROGRAM_SECONDS if shop.is_program(test)
                                    else FIRST_SECONDS)
            files = {path: (self.digest(path), code, run) for path, (code, run)
                     in lines_of(shop.build_folder, shop.source).items()}
            entry = {"test": test, "digest": test_digest(self.root, self.names, test), "how": how,
                     "seconds": round(seconds, 2), "files": files}
            self.entries[test] = entry
            with gzip.open(self.path, "at", encoding="utf-8") as f:
                f.write(json.dumps(entry) + "\n")
        for entry in self.entries.values():
            entry["size"] = 1 + sum(run[i + 1] - run[i] + 1 for _, _, run in entry["files"].values()
                                for i in range(0, len(run), 2))

    def reaching(self, path, first, last):
        """The tests that run a line from FIRST to LAST, or if these have no code, the line with
        code before them."""
        found = [(t, *e["files"][path][1:]) for t, e in self.entries.items() if path in e["files"]]
        if found:
            code = found[0][1]
            while first > 1 and not touches(code, first, last):
                at = bisect.bisect_left(code, first)
                first = 1 if at == 0 else code[at - 1]
        return [t for t, _, run in found if touches(run, first, last)]

    def cost(self, test):
        """A test that is quick and runs little else goes first."""
        entry = self.entries[test]
        return (entry["seconds"] + 1) * entry["size"]
