"""The list of mutations: list/*.txt, a file for each folder of the product.

A mutation is a paragraph that looks like a small patch without line numbers:

    io-commit-sync: src/io/sink.c
    -    if (is_file(s))
    -        GCD_TRY(gcd_file_sync(s->fd, err));
    first: unit/test_io
    survives: why no test can see it

"+" lines replace "-" lines; lines that begin with a space are context.  A line may be part of a source line.  White space matches any white
space, so re-indenting or re-wrapping the source does not make the list stale.  "first" (optional) names tests to run before those of tests.txt;
"survives" (optional) explains a mutation that no test can notice.  "#" begins a comment.
"""
import glob
import hashlib
import os
import re

HEAD = re.compile(r"([a-z0-9][a-z0-9-]*): (\S+)$")
KEY = re.compile(r"(first|survives): (.*\S)$")


class Stale(Exception):
    """A mutation no longer fits the source."""


class Mutation:
    def __init__(self, name, path, where):
        self.name, self.path, self.where = name, path, where
        self.hunk, self.first, self.survives = [], [], ""

    folder = property(lambda self: os.path.dirname(self.path))
    old = property(lambda self: "\n".join(line[1:] for line in self.hunk if line[0] in " -"))
    new = property(lambda self: "\n".join(line[1:] for line in self.hunk if line[0] in " +"))

    def digest(self):
        return hashlib.sha256("\0".join([self.path, *self.hunk]).encode()).hexdigest()[:12]

    def apply(self, text):
        """TEXT of the file with the mutation applied."""
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
    """The mutations of one file of the list; WHERE is its name."""
    mutations, open_one = [], None
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
                raise Stale(f"{place}: expected NAME: FILE, got {line!r}")
            open_one = Mutation(head[1], head[2], place)
            mutations.append(open_one)
        elif line[0] in " -+":
            open_one.hunk.append(line)
        elif key and key[1] == "first":
            open_one.first += key[2].split()
        elif key:
            open_one.survives = key[2]
        else:
            raise Stale(f"{place}: not a line of a mutation: {line!r}")
    return mutations


def read_list(root):
    mutations = []
    for path in sorted(glob.glob(os.path.join(root, "tools", "mutate", "list", "*.txt"))):
        with open(path, encoding="utf-8") as f:
            mutations += parse(f.read(), os.path.relpath(path, root))
    return mutations


def folders_of_the_product(root):
    """All folders of src and ipc that hold C sources."""
    found = set()
    for top in ("src", "ipc"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            if any(name.endswith(".c") for name in names):
                found.add(os.path.relpath(folder, root))
    return found


def check(root, mutations):
    """What is wrong with the list, one line per mistake."""
    wrong, names = [], {}
    for m in mutations:
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
    for folder in sorted(folders_of_the_product(root) - {m.folder for m in mutations}):
        wrong.append(f"{folder}: no mutation")
    return wrong
