"""Mutants that no operator can make, written as small patches without line numbers:

    io-temp-exclusive: src/io/temporary_posix.c
    -O_RDWR | O_CREAT | O_EXCL, fd;
    +O_RDWR | O_CREAT, fd;
    first: unit/test_io
    survives: why no test can see it

"+" lines replace "-" lines; lines that begin with a space are context.  A line may be part of a
source line.  White space matches any white space, so re-indenting or re-wrapping the source does
not make a patch stale.  "first" (optional) names tests to run before those of tests.txt;
"survives" (optional) explains one that no test can notice.  "#" begins a comment.
"""
import hashlib
import os
import re

HEAD = re.compile(r"([a-z0-9][a-z0-9-]*): (\S+)$")
KEY = re.compile(r"(first|survives): (.*\S)$")


class Stale(Exception):
    """A patch no longer fits the source."""


class Patch:
    def __init__(self, name, path, where):
        self.name, self.path, self.where = name, path, where
        self.hunk, self.first, self.survives = [], [], ""

    folder = property(lambda self: os.path.dirname(self.path))
    old = property(lambda self: "\n".join(line[1:] for line in self.hunk if line[0] in " -"))
    new = property(lambda self: "\n".join(line[1:] for line in self.hunk if line[0] in " +"))

    def digest(self):
        return hashlib.sha256("\0".join([self.path, *self.hunk]).encode()).hexdigest()[:12]

    def apply(self, text):
        """TEXT of the file with the patch applied."""
        words = self.old.split()
        if not words:
            raise Stale("no text to look for")
        found = list(re.finditer(r"\s+".join(map(re.escape, words)), text))
        if len(found) != 1:
            raise Stale(f"its old text is in {self.path} {len(found)} times, not once")
        if words == self.new.split():
            raise Stale("old and new text are the same")
        begin, end = found[0].span()
        return text[:begin] + self.new.strip() + text[end:]


def parse(text, where):
    """The patches of one file, whose name is WHERE."""
    found, open_one = [], None
    for number, line in enumerate(text.split("\n"), 1):
        place = f"{where}:{number}"
        if line.startswith("#"):
            continue
        if not line.strip():
            open_one = None
            continue
        head, key = HEAD.match(line), KEY.match(line)
        if open_one is None:
            if not head:
                raise SystemExit(f"{place}: expected NAME: FILE, got {line!r}")
            open_one = Patch(head[1], head[2], place)
            found.append(open_one)
        elif line[0] in " -+":
            open_one.hunk.append(line)
        elif key and key[1] == "first":
            open_one.first = open_one.first + key[2].split()
        elif key:
            open_one.survives = key[2]
        else:
            raise SystemExit(f"{place}: not a line of a patch: {line!r}")
    return found


def read(path):
    with open(path, encoding="utf-8") as f:
        return parse(f.read(), os.path.basename(path))


def check(root, found):
    """What is wrong with the patches, one line per mistake."""
    wrong, names = [], {}
    for m in found:
        if m.name in names:
            wrong.append(f"{m.where}: {m.name} is also the name of {names[m.name]}")
        names[m.name] = m.where
        try:
            with open(os.path.join(root, m.path), encoding="utf-8") as f:
                m.apply(f.read())
        except OSError as e:
            wrong.append(f"{m.where}: {m.name}: cannot read {m.path}: {e.strerror}")
        except Stale as e:
            wrong.append(f"{m.where}: {m.name}: {e}")
    return wrong
