"""The rules of the code base: folders without cycles, short parameter lists, plain words.

No rule has an exception.  Do not add one: make a struct or a folder instead.
"""
import importlib.machinery
import importlib.util
import io
import os
import re
import tokenize
import unittest

ROOT = os.environ.get("GCDUMPC_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

MOST_PARAMETERS = 6

# Earlier names that nobody could understand, and their replacements.
BANNED = {
    "belt": "bounded queue", "planted": "untrusted link", "spot": "temporary file", "manners": "priority", "purpose": "workload",
    "stand_in": "pseudo-root", "keep_counts": "replay", "gcd_beside": "gcd_parallel_invoke",
}

# Phrases in comments and documents that read like a translation, and their replacements.
PHRASES = {
    r"for ever": "forever", r"leads? nowhere": "dangling", r"stands? in for": "replaces, represents", r"hangs? below": "is below",
    r"(begins?|began|starts?|started|made|makes?|defined|written|writes) anew": "again", r"in the midst": "in the middle, during",
    r"nobody knows": "unknown, ambiguous", r"what (comes|came) of": "the result of", r"what is no": "name the exception",
    r"(is|are) to be": "must be", r"somebody else": "another user, another process",
}


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def sources():
    """Path from the root and text."""
    for top in ("src", "ipc", "include"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    path = os.path.join(folder, name)
                    yield os.path.relpath(path, ROOT), read(path)


def code(text):
    """Without comments, strings and the preprocessor's lines."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
    return re.sub(r"^[ \t]*#(\\\n|.)*", "", text, flags=re.M)


def check_includes():
    loader = importlib.machinery.SourceFileLoader("check_includes", os.path.join(ROOT, "tools", "check-includes"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_includes", loader))
    loader.exec_module(module)
    return module


def circle(arrows):
    """A cycle in {from: {to}} as a list that begins and ends with the same element; None if there is none."""
    done = set()

    def visit(node, path):
        if node in path:
            return path[path.index(node):] + [node]
        if node not in done:
            for to in sorted(arrows.get(node, ())):
                found = visit(to, path + [node])
                if found:
                    return found
            done.add(node)
        return None
    return next((found for start in sorted(arrows) for found in [visit(start, [])] if found), None)


def room(folder, header):
    """The folder of a HEADER as a file in FOLDER includes it."""
    if os.path.dirname(header) == "":
        return folder
    if header.startswith("ipc/"):
        return os.path.dirname(header)
    return ("src/cli/" if folder.startswith("src/cli") else "src/") + os.path.dirname(header)


def problems(counts, exceptions, most):
    """What exceeds MOST, or its exception."""
    for name, n in sorted(counts.items()):
        if n > exceptions.get(name, most):
            yield f"{name}: {n}, at most {exceptions.get(name, most)}"


FUNCTION = re.compile(r"^(?!typedef\b|return\b|else\b)[A-Za-z_][\w\s*]*?[\s*](\w+)\(((?:[^(){};]|\([^(){};]*\))*)\)\s*[{;]", re.M)


def parameters(text):
    """Name and number of parameters of each function that TEXT declares or defines."""
    for m in FUNCTION.finditer(re.sub(r"GCD_PRINTF\([^()]*\)", "", code(text))):
        flat = re.sub(r"\([^()]*\)", "", m.group(2)).strip()
        yield m.group(1), 0 if flat in ("", "void") else flat.count(",") + 1


def words(text):
    for name in sorted(set(re.findall(r"[A-Za-z_]\w*", code(text)))):
        for word, instead in BANNED.items():
            if re.search(rf"(^|_){word}s?(_|$)", name.lower()):
                yield f"{name}: the word for it is {instead}"


def prose(path, text):
    """Comments and docstrings of a source, the whole text of a document; one string for each, with its line."""
    if path.endswith(".md"):
        return [(i, line) for i, line in enumerate(text.split("\n"), 1)]
    if path.endswith(".py"):
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return [(t.start[0], t.string) for t in tokens if t.type == tokenize.COMMENT or t.type == tokenize.STRING and t.string.startswith('"""')]
    if path.endswith((".c", ".h", ".cs")):
        found = re.finditer(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', text, re.S)
        return [(text.count("\n", 0, m.start()) + 1, m.group()) for m in found if m.group().startswith("/")]
    return [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.lstrip().startswith("#")]


def phrases(path, text):
    for line, s in prose(path, text):
        plain = re.sub(r"\s+(\*|#|//)?\s*", " ", s)
        for phrase, instead in PHRASES.items():
            if re.search(rf"\b{phrase}\b", plain, re.I):
                yield f"{path}:{line}: write {instead} for {phrase!r}"
        if path.startswith(("tests/", "tools/")) and re.match(r"[\W_]*Of ", s):
            yield f"{path}:{line}: begin with the subject, not with Of"


def texts():
    """Path from the root and text of everything with comments, documents of the folders included."""
    for top in ("src", "ipc", "include", "tests", "tools"):
        for folder, folders, names in os.walk(os.path.join(ROOT, top)):
            folders[:] = [f for f in folders if f not in ("corpus", "expected", "results", "dictionary", "node_modules", "bin", "obj", "man", "doc")]
            for name in sorted(names):
                if name.endswith((".c", ".h", ".cs", ".py", ".sh", ".md", ".cmake")) or name in ("CMakeLists.txt", "tests.txt"):
                    path = os.path.join(folder, name)
                    yield os.path.relpath(path, ROOT), read(path)


class House(unittest.TestCase):
    maxDiff = None

    def test_folders_have_no_cycle(self):
        """Neither the includes nor what tools/check-includes allows may have a cycle."""
        self.assertEqual(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}), ["a", "b", "c", "a"])
        self.assertIsNone(circle({"a": {"b", "c"}, "b": {"c"}}))
        allowed, there = {}, {}
        for folder, others in check_includes().MAY_INCLUDE.items():
            allowed[folder] = {room(folder, f"{other}/x.h") for other in others}
        for path, text in sources():
            folder = os.path.dirname(path)
            for header in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
                if room(folder, header) != folder:
                    there.setdefault(folder, set()).add(room(folder, header))
        self.assertGreater(len(there), 10)
        self.assertIsNone(circle(allowed))
        self.assertIsNone(circle(there))

    def test_short_parameter_lists(self):
        sample = ("GCD_API enum x\nf(int a, int b);\nGCD_API int g(void);\nvoid h(int (*f)(int, int), const char *s[2],\n    int c)\n"
                  "{\n    i(1, 2, 3, 4);\n    return j(1, 2);\n}\n")
        self.assertEqual(dict(parameters(sample)), {"f": 2, "g": 0, "h": 3})
        counts, functions = {}, 0
        for path, text in sources():
            for name, n in parameters(text):
                functions += 1
                if n > MOST_PARAMETERS:
                    counts[name] = max(n, counts.get(name, 0))
        self.assertGreater(functions, 1000)
        self.assertEqual(list(problems(counts, {}, MOST_PARAMETERS)), [])

    def test_names_have_no_banned_words(self):
        self.assertEqual(list(words("int gcd_belt_new(void); int x_stand_ins; /* belt */ int belted;")),
                         ["gcd_belt_new: the word for it is bounded queue", "x_stand_ins: the word for it is pseudo-root"])
        bad = [f"{path}: {w}" for path, text in sources() for w in [*words(text), *words(os.path.basename(path).split(".")[0])]]
        self.assertEqual(bad, [])

    def test_plain_english(self):
        self.assertEqual([x.split(":")[1] for x in phrases("tests/a.c", '/* It waits\n * for ever. */\nint a; /* fine */ char *s = "for ever";\n// Of two\n')],
                         ["1", "4"])
        self.assertEqual([x.split(":")[1] for x in phrases("tools/a.py", '"""Leads nowhere."""\nx = "are to be"  # are to be\n')], ["1", "2"])
        self.assertEqual(len(list(phrases("src/README.md", "Of these\nNobody knows.\n"))), 1)
        every = list(texts())
        self.assertGreater(len(every), 700)
        self.assertEqual([bad for path, text in every if not path.endswith("test_house.py") for bad in phrases(path, text)], [])


if __name__ == "__main__":
    unittest.main()
