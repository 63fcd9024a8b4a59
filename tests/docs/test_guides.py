"""The guides in tools/doc hold: every command in them runs, and prints what they show.

A command is a line that begins with "$ " in an indented block; its output follows, first standard output, then messages.  The commands of one
document run one after another in one folder.  Those that need the coffee shop (tests/shop) as a process are compared with every number replaced, all
others exactly.  "test_guides.py --bless" writes what commands print today into the documents: read the difference before you commit it.
"""
import glob
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("GCDUMPC_SOURCE") or os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(SOURCE, "tests", n) for n in ("cli", "live", "readers", "docs")]

from cli_support import BLESS, PROGRAM, SANITIZED, main                        # noqa: E402
from test_readme import loose, read                                     # noqa: E402
import lab_programs                                                     # noqa: E402
import live_support                                                     # noqa: E402

LIVE = ("--name CoffeeShop", "live.")            # a command with one of these needs the process, or a dump of it
STATUS = (("--fail-if", 4),)                     # a command with this option has this exit status, all others 0
MOST_COLUMNS = 100                               # of prose; tables, links and outputs are as wide as they are


def guides():
    """Documents with commands, relative to the sources."""
    paths = (os.path.relpath(path, SOURCE) for path in sorted(glob.glob(os.path.join(SOURCE, "tools", "doc", "*.md"))))
    return [path for path in paths if "\n    $ " in read(path)]


def blocks(text):
    """The text as a list of [command, lines]; command is None for prose."""
    found = [[None, []]]
    for line in text.split("\n"):
        if line.startswith("    $ "):
            found.append([line[6:].partition("    #")[0].strip(), [line]])
        elif found[-1][0] is not None and line and not line.startswith("    "):
            found.append([None, [line]])
        else:
            found[-1][1].append(line)
    return found


def output_of(lines):
    return "\n".join(line[4:] for line in lines[1:]).strip("\n")


class Guide:
    """A folder in which the commands of one document run."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="gcdumpc-guide-")
        folder = self.temporary.name
        os.mkdir(os.path.join(folder, "build"))
        os.symlink(PROGRAM, os.path.join(folder, "build", "gcdumpc"))
        for name in ("traces", "tools"):
            os.symlink(os.path.join(SOURCE, name), os.path.join(folder, name))

    def run(self, command):
        """Exit status, and what a reader sees."""
        environment = {k: v for k, v in os.environ.items() if k != "TERM"}
        run = subprocess.run(["sh", "-c", command], cwd=self.temporary.name, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=300)
        return run.returncode, (run.stdout + run.stderr).strip("\n")


def wanted_status(command):
    return next((status for option, status in STATUS if option in command), 0)


def is_live(command):
    return any(word in command for word in LIVE)


class Commands(unittest.TestCase):
    maxDiff = None

    def test_there_are_guides(self):
        self.assertGreaterEqual(len(guides()), 4)

    def test_nothing_is_shown_that_is_not_run(self):
        for name in guides():
            for line in read(name).splitlines():
                self.assertNotRegex(line, r"^ {4,}build/gcdumpc ", name)

    def test_of_recordings(self):
        for name in guides():
            guide = Guide()
            self.addCleanup(guide.temporary.cleanup)
            for command, lines in blocks(read(name)):
                if command is not None and not is_live(command):
                    with self.subTest(name, command=command):
                        self.assertEqual(guide.run(command), (wanted_status(command), output_of(lines)))

    @unittest.skipIf(os.environ.get("GCDUMPC_IPC") == "OFF", "this build cannot talk to processes")
    @unittest.skipIf(SANITIZED, "what a sanitizer adds to memory and time is not in the guides")
    def test_of_a_process(self):
        try:
            program = lab_programs.coffee_shop()
        except live_support.Missing as e:
            self.skipTest(str(e))
        with live_support.Process(program=program) as target:
            for name in guides():
                guide = Guide()
                self.addCleanup(guide.temporary.cleanup)
                for command, lines in blocks(read(name)):
                    if command is not None and is_live(command):
                        with self.subTest(name, command=command):
                            status, text = guide.run(command.replace("--name CoffeeShop", f"--pid {target.pid}"))
                            self.assertEqual((status, loose(text)), (wanted_status(command), loose(output_of(lines))), text)


def bless():
    for name in guides():
        guide, result = Guide(), []
        for command, lines in blocks(read(name)):
            if command is not None and not is_live(command):
                status, text = guide.run(command)
                if status != wanted_status(command):
                    print(f"{name}: {command}: exit status {status}", file=sys.stderr)
                ends_block = lines[-1] == ""
                lines = lines[:1] + ["    " + line if line else "" for line in text.split("\n") if text] + ([""] if ends_block else [])
            result += lines
        guide.temporary.cleanup()
        with open(os.path.join(SOURCE, name), "w", encoding="utf-8") as file:
            file.write("\n".join(result))


if __name__ == "__main__":
    if BLESS:
        bless()
    else:
        main()
