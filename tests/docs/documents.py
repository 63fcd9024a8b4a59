"""The documents, and the commands in them.

A command is a line that begins with "$ " in an indented block.  Its output follows, as on a terminal with 100 columns, indentation included.
The commands of one document run one after another in one folder.  The output of commands that need the coffee shop (tests/shop) as a process is
compared with every number replaced, all others exactly.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("GCDUMPC_SOURCE") or os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(SOURCE, "tests", name) for name in ("cli", "live", "readers", "support")]

from cli_support import PROGRAM          # noqa: E402
from terminal import Terminal            # noqa: E402

COLUMNS, INDENT = 100, "    "
LIVE = ("--name CoffeeShop", "live.")            # a command with one of these needs the process, or a dump of it
STATUS = (("--fail-if", 4),)                     # a command with this option has this exit status, all others 0
SCRIPTS = ("sh tools/quickstart.sh", "sh tools/run-tests.sh")
NUMBER = re.compile(r"0x[0-9a-f]+|\d{8}T\d{6}Z|\d[\d,.:]*( [KM]iB)?")


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
        return f.read()


def guides():
    """Relative to the sources."""
    return sorted(glob.glob("tools/doc/*.md", root_dir=SOURCE))


def every_document():
    """All, also those in folders."""
    for path in glob.glob(os.path.join(SOURCE, "**", "*.md"), recursive=True) + glob.glob(os.path.join(SOURCE, ".github", "*.md")):
        name = os.path.relpath(path, SOURCE)
        if not name.startswith("build") and "node_modules" not in name:
            yield name


def with_commands():
    return ["README.md"] + [path for path in guides() if "\n    $ " in read(path)]


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


def commands(name):
    """(command, output) of each command of a document, without the two scripts."""
    return [(command, "\n".join(line[4:] for line in lines[1:]).strip("\n"))
            for command, lines in blocks(read(name)) if command is not None and command not in SCRIPTS]


def wanted_status(command):
    return 0 if command.endswith("; echo $?") else next((status for option, status in STATUS if option in command), 0)


def is_live(command):
    return any(word in command for word in LIVE)


def without_page_size(text):
    """The size of a page depends on its scripts, so it says nothing about the command."""
    return re.sub(r"[\d,]+ bytes of html", "N bytes of html", text)


def loose(text):
    """Words with numbers replaced; a terminal breaks lines elsewhere if a number has more digits."""
    return NUMBER.sub("<n>", text).split()


class Folder:
    """A folder in which the commands of one document run: as if a user had built the program there, or a given one."""

    def __init__(self, path=None):
        self.temporary = tempfile.TemporaryDirectory(prefix="gcdumpc-document-") if path is None else None
        self.path = path or self.temporary.name
        if path is None:
            os.mkdir(os.path.join(self.path, "build"))
            os.symlink(PROGRAM, os.path.join(self.path, "build", "gcdumpc"))
            for name in ("traces", "tools", "tests"):
                os.symlink(os.path.join(SOURCE, name), os.path.join(self.path, name))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.temporary:
            self.temporary.cleanup()

    def run(self, command):
        """Exit status, and what a reader sees."""
        terminal = Terminal(columns=COLUMNS - len(INDENT))
        try:
            process = subprocess.Popen(["sh", "-c", command], cwd=self.path, env={**os.environ, "NO_COLOR": "1", "TERM": "xterm"},
                                       stdin=subprocess.DEVNULL, stdout=terminal.theirs, stderr=terminal.theirs)
            text = re.sub(r"\r[^\r\n]*?\x1b\[K", "", terminal.shown(process))      # progress, on a slow machine
            return process.wait(), "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
        finally:
            terminal.close()


def bless():
    """Writes what the commands on recordings print today into the documents."""
    for name in with_commands():
        result = []
        with Folder() as folder:
            for command, lines in blocks(read(name)):
                if command is not None and command not in SCRIPTS and not is_live(command):
                    status, text = folder.run(command)
                    if status != wanted_status(command):
                        print(f"{name}: {command}: exit status {status}", file=sys.stderr)
                    ends_block = lines[-1] == ""
                    lines = lines[:1] + ["    " + line if line else "" for line in text.split("\n") if text] + ([""] if ends_block else [])
                result += lines
        with open(os.path.join(SOURCE, name), "w", encoding="utf-8") as file:
            file.write("\n".join(result))
