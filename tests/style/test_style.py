"""The rules that a reader relies on: layers, self-contained headers, names, no paths of a machine."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ.get("GCDUMPC_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BUILD = os.environ.get("GCDUMPC_BUILD", "")


def run(*args, **kw):
    return subprocess.run(args, capture_output=True, text=True, **kw)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def text_files():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in (".git", "__pycache__", "corpus") and not f.startswith("build")]
        for name in names:
            if name.endswith((".c", ".h", ".py", ".md", ".txt", ".sh", ".cs", ".in", ".csproj")) or "." not in name:
                yield os.path.join(folder, name)



class Style(unittest.TestCase):
    def test_layers(self):
        r = run(os.path.join(ROOT, "tools", "check-includes"), ROOT)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)

    def test_the_layer_check_can_fail(self):
        with tempfile.TemporaryDirectory() as d:
            os.makedirs(os.path.join(d, "src", "clr"))
            with open(os.path.join(d, "src", "clr", "x.c"), "w") as f:
                f.write('#include "heap/heap.h"\n#include <uv.h>\nvoid f(void) { printf(""); }\n')
            r = run(os.path.join(ROOT, "tools", "check-includes"), d)
            self.assertEqual(r.returncode, 1)
            self.assertEqual(len(r.stdout.strip().split("\n")), 3, r.stdout)

    def test_public_headers_stand_alone_in_c_and_cpp(self):
        include = os.path.join(ROOT, "include")
        generated = os.path.join(BUILD, "include")
        headers = [os.path.join(folder, h) for folder, _, names in os.walk(include) for h in sorted(names) if h.endswith(".h")]
        self.assertGreater(len(headers), 5)
        for header in headers:
            for c in (["cc", "-std=c11", "-x", "c"], ["c++", "-std=c++17", "-x", "c++"]):
                r = run(*c, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", include, "-I", generated, "-include", header, "/dev/null")
                self.assertEqual(r.returncode, 0, f"{header}\n{r.stderr}")

    def test_every_public_function_is_documented(self):
        """As in the API reference: a comment above the function, after it, or above its group."""
        sys.path.insert(0, os.path.join(ROOT, "tools", "doxygen"))
        from plain_comments import documented, undocumented
        sample = "/* f */\nGCD_API int gcd_a(void);\n\n/* Two. */\nGCD_API int gcd_b(void);\nGCD_API int gcd_c(void);\n"
        self.assertEqual(undocumented(sample), ["gcd_a"])
        functions, include = 0, os.path.join(ROOT, "include", "gcdumpc")
        headers = [os.path.join(folder, n) for folder, _, names in os.walk(include) for n in sorted(names) if n.endswith((".h", ".h.in"))]
        for header in headers:
            text = read(header)
            self.assertEqual(undocumented(text), [], header)
            self.assertEqual(documented(text)[0], "/** @file", header)
            functions += text.count("\nGCD_API ")
        self.assertGreater(functions, 100)

    def test_code_does_not_decide_by_messages(self):
        """A reworded message must not change what the program does: callers distinguish causes by enum gcd_error_reason."""
        bad = re.compile(r"\b(strn?(case)?cmp|str(case|r|rr)?(str|chr)|strspn|strpbrk|memcmp|memmem|fnmatch|sscanf|regexec)\([^;]*(->|\.|\b)msg\b(?!\[0\])")
        self.assertRegex('if (strstr(err->msg, "x"))', bad)
        self.assertRegex("if (strncmp(name, e.msg, 3) == 0)", bad)
        self.assertNotRegex("memcpy(old, err->msg, sizeof old);", bad)
        for top in ("src", "ipc", "include"):
            for folder, _, names in os.walk(os.path.join(ROOT, top)):
                for n in names:
                    if n.endswith((".c", ".h")):
                        m = bad.search(read(os.path.join(folder, n)))
                        self.assertIsNone(m, f"{folder}/{n}: {m.group() if m else ''}")

    def test_the_umbrella_lists_and_includes_all_headers(self):
        """ipc.h belongs to the other library; unstable/ is for the program only."""
        folder = os.path.join(ROOT, "include/gcdumpc")
        text = read(os.path.join(folder, "gcdumpc.h"))
        headers = {re.sub(r"\.in$", "", n) for n in os.listdir(folder) if n.endswith((".h", ".h.in"))} - {"gcdumpc.h", "ipc.h"}
        self.assertGreater(len(headers), 15)
        self.assertEqual(set(re.findall(r"#include <gcdumpc/(\w+\.h)>", text)), headers)
        self.assertEqual(set(re.findall(r"\b(\w+\.h)\b", text[:text.index("*/")])) - {"ipc.h"}, headers)

    def test_file_names_are_unique(self):
        seen = {}
        for top in ("src", "ipc", "include"):
            for folder, _, names in os.walk(os.path.join(ROOT, top)):
                for n in names:
                    if n.endswith((".c", ".h")) and "include/gcdumpc" not in folder:
                        self.assertNotIn(n, seen, f"{folder}/{n} and {seen.get(n)}")
                        seen[n] = folder

    def test_top_level(self):
        """The top folder has nothing else; otherwise a file that a test left behind is easily committed."""
        if shutil.which("git") is None:
            self.skipTest("no git on this machine")
        tracked = run("git", "-C", ROOT, "ls-files", "-z")
        if tracked.returncode != 0:
            self.skipTest("no git repository")
        top = {name.split("/")[0] for name in tracked.stdout.split("\0") if name}
        if not top:
            self.skipTest("not under git")
        self.assertEqual({name for name in top if not name.startswith(".")},
                         {"CMakeLists.txt", "README.md", "LICENSE", "CHANGELOG.md", "include", "src", "ipc", "tests", "traces", "tools"})

    def test_every_folder_says_what_it_is(self):
        for d in sorted(os.listdir(os.path.join(ROOT, "src"))):
            self.assertTrue(os.path.exists(os.path.join(ROOT, "src", d, "README.md")), f"src/{d}/README.md")

    def test_no_machine_in_any_text(self):
        bad = re.compile(r"(?<![\w./$~])/(work|root|farm|Users)/|/home/[a-z]")
        for path in text_files():
            if path.endswith("test_style.py"):
                continue
            try:
                text = read(path)
            except UnicodeDecodeError:
                continue
            m = bad.search(text)
            self.assertIsNone(m, f"{path}: {m.group() if m else ''}")

    def test_source_lines(self):
        for top in ("src", "ipc", "include", "tests", "tools"):
            for folder, _, names in os.walk(os.path.join(ROOT, top)):
                for n in names:
                    if not n.endswith((".c", ".h")):
                        continue
                    path = os.path.join(folder, n)
                    lines = read(path).split("\n")
                    for i, line in enumerate(lines, 1):
                        self.assertLessEqual(len(line), 100, f"{path}:{i}")
                        self.assertEqual(line, line.rstrip(), f"{path}:{i}: space at the end")
                        self.assertNotIn("\t", line, f"{path}:{i}")


if __name__ == "__main__":
    unittest.main()
