#!/usr/bin/env python3
"""The source of the page: its types by TypeScript's compiler, its habits by ESLint, and what the bundling of its modules relies on."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from page_tools import need_page_tools

ROOT = os.environ.get("GCDUMPC_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = os.path.join(ROOT, "src", "write", "html", "page")


def modules():
    """Name and text of each."""
    for name in sorted(os.listdir(PAGE)):
        if name.endswith(".js"):
            with open(os.path.join(PAGE, name), encoding="utf-8") as f:
                yield name, f.read()


def not_understood(text):
    """What tools/cmake/page-script.cmake would get wrong in a module."""
    code = re.sub(r"/\*\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    for number, line in enumerate(code.split("\n"), 1):
        if line.startswith("import") and not re.fullmatch(r'import (\{[\w, ]+\}|\* as \w+) from "\./[a-z_]+\.js";', line):
            yield number, "an import is one line and names a file beside it"
        if line.startswith("export") and not re.match(r"export (function|class|const) \w", line):
            yield number, "only functions, classes and constants that are declared there are exported"
        if line.count("`") % 2:
            yield number, "a text goes over two lines"
        if "/*" in line or "*/" in line:
            yield number, "a comment in a line with code begins with // or /**"


class Source(unittest.TestCase):
    def test_what_the_bundling_relies_on(self):
        sample = 'import {a, b} from "./x.js";\nimport * as c from "./y.js";\nimport {\n  d} from "./z.js";\nexport {a};\nexport let e;\n' \
                 'const f = `\n`;\n/** @type {a} */\nexport const g = /* h */ 1;\nexport class I {}\n'
        self.assertEqual([n for n, _ in not_understood(sample)], [3, 5, 6, 7, 8, 10])
        found = list(modules())
        self.assertGreater(len(found), 10)
        self.assertEqual([(name, *problem) for name, text in found for problem in not_understood(text)], [])
        self.assertEqual([name for name, text in found if not text.startswith("// @ts-check\n")], [])
        self.assertEqual([(name, line) for name, text in found for line in text.split("\n") if len(line) > 150], [])

    def test_only_one_place_rounds(self):
        self.assertEqual([name for name, text in modules() if re.search(r"\.toFixed\(|toLocaleString", text)], ["numbers.js"])

    def check(self, folder, *command):
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)

    def checked(self, change, program, *arguments):
        """Runs PROGRAM on the page's source after a CHANGE (a file name and the text to add)."""
        tools = need_page_tools()
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(PAGE, os.path.join(folder, "page"))
            for name in ("tsconfig.json", "eslint.config.mjs"):
                shutil.copy(os.path.join(tools, name), folder)
            if change:
                with open(os.path.join(folder, "page", change[0]), "a", encoding="utf-8") as f:
                    f.write(change[1])
            r = self.check(folder, "node", os.path.join(tools, "node_modules", program), *arguments)
        return r.returncode, r.stdout + r.stderr

    def test_types(self):
        arguments = ("typescript/bin/tsc", "-p", "tsconfig.json")
        self.assertEqual(self.checked(None, *arguments), (0, ""))
        code, said = self.checked(("numbers.js", "count('1');\n"), *arguments)
        self.assertNotEqual(code, 0)
        self.assertIn("numbers.js", said)

    def test_habits(self):
        arguments = ("eslint/bin/eslint.js", "--max-warnings", "0", "page")
        self.assertEqual(self.checked(None, *arguments), (0, ""))
        self.assertIn("eqeqeq", self.checked(("numbers.js", "export const x = UNITS == null;\n"), *arguments)[1])


if __name__ == "__main__":
    try:
        need_page_tools()
    except unittest.SkipTest:
        sys.exit(77)
    unittest.main()
