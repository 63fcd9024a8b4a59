"""The README leads a new user to the line of source that leaks; links, options, formats and commands in the documents exist.

test_guides compares what the commands in it print.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]

from documents import COLUMNS, SCRIPTS, SOURCE, Folder, commands, every_document, guides, is_live, read      # noqa: E402
from cli_support import BUILD, COMMANDS, PROGRAM, SANITIZED, main       # noqa: E402

MOST_LINES = 120
# options of other programs
NOT_OURS = {"--bless", "--build", "--cflags", "--install", "--libs", "--objects", "--output-on-failure", "--project", "--target", "--test-dir", "--tests",
            "--now", "--urls"}


@unittest.skipIf(os.environ.get("GCDUMPC_IPC") == "OFF" or SANITIZED, "once is enough: it makes a build of its own")
class Scripts(unittest.TestCase):
    def test_scripts_exist(self):
        for command in SCRIPTS:
            self.assertIn(f"\n    $ {command} ", read("README.md"))
            subprocess.run(["sh", "-n", os.path.join(SOURCE, command.split()[1])], check=True)

    def test_the_readme_leads_to_the_leaking_line(self):
        """Starts with a copy of the sources, without permission to install anything, and follows only the README to the leaking line of source."""
        with tempfile.TemporaryDirectory(prefix="gcdumpc-quickstart-") as folder:
            copy = os.path.join(folder, "gcdumpc")
            shutil.copytree(SOURCE, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", "build*", "__pycache__"))
            # the compiler cache of a whole test run knows these compilations: same compiler, same relative paths as in its build-tests/release
            os.makedirs(os.path.join(copy, "build-tests", "release"))
            os.symlink(os.path.join("build-tests", "release"), os.path.join(copy, "build"))
            cached = {"CCACHE_BASEDIR": copy, **({"CC": "gcc"} if shutil.which("gcc") else {})}
            os.mkdir(os.path.join(folder, "bin"))
            for name in ("apt-get", "sudo"):
                with open(os.path.join(folder, "bin", name), "w", encoding="ascii") as f:
                    f.write("#!/bin/sh\nexit 100\n")
                os.chmod(os.path.join(folder, "bin", name), 0o755)
            environment = {**os.environ, **cached, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
            environment.pop("CMAKE_GENERATOR", None)        # Make, as a new user has
            run = subprocess.run(["sh", "tools/quickstart.sh"], cwd=copy, env=environment,
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=800)
            if run.returncode == 100:
                self.skipTest("not everything is installed that a build needs: " + run.stdout.strip())
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertTrue(os.access(os.path.join(copy, "build", "gcdumpc"), os.X_OK))
            for said in ("1. Looking for", "2. Building", "$ build/gcdumpc leaks traces/shop/evening.nettrace.gz --top 1\n",
                         "static variable CoffeeShop.Services.Storefront", "Next, your own program:\n    build/gcdumpc ps "):
                self.assertIn(said, run.stdout)
            self.follow_the_readme(copy)

    def follow_the_readme(self, copy):
        folder = Folder(copy)
        said = "".join(folder.run(command)[1] for command, _ in commands("README.md") if not is_live(command))
        place = re.search(r"look in (\w+) for what adds to it and never removes", " ".join(said.split()))
        self.assertIsNotNone(place, said)
        source = read(f"tests/shop/{place[1]}.cs")
        # in this file one line adds, and none removes
        self.assertEqual(re.findall(r"sessions\[.*\] =|\.TryAdd\(|\.(?:Try)?Remove\(|\.Clear\(", source), ["sessions[Guid.NewGuid()] ="])
        with open(os.path.join(copy, "shop.html"), encoding="utf-8") as f:
            page = f.read()
        self.assertTrue(page.startswith("<!"))
        self.assertNotRegex(page, r"""(src|href)=["']?https?:""")


class Text(unittest.TestCase):
    def test_length(self):
        lines = read("README.md").splitlines()
        self.assertLessEqual(len(lines), MOST_LINES)
        self.assertLessEqual(max(len(line.removeprefix("    ")) for line in lines), COLUMNS)     # outputs are indented

    def test_links(self):
        for name in every_document():
            for target in re.findall(r"\]\(([^)\s]+)\)", read(name)):
                path, _, part = target.partition("#")
                if "://" in path or path.startswith("mailto:"):
                    continue
                goal = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
                self.assertTrue(os.path.exists(os.path.join(SOURCE, goal)), f"{name}: {target}")
                if part and goal.endswith(".md"):
                    titles = {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in re.findall(r"^#+ (.*)$", read(goal), re.M)}
                    self.assertIn(part, titles, f"{name}: {target}")

    def test_options_exist(self):
        known = set()
        for command in COMMANDS:
            text = subprocess.run([PROGRAM, "help", command], capture_output=True, text=True, check=True).stdout
            known |= set(re.findall(r"--[a-z][a-z-]*", text))
        known.add("--version")
        for script in ("tools/ci/heap-gate.sh", "tools/mutate/mutate.py"):
            known |= set(re.findall(r"--[a-z][a-z-]*", read(script)))
        for name in ["README.md", *guides()]:
            used = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", read(name)))
            self.assertEqual(used - known - NOT_OURS, set(), name)

    def test_commands_of_the_guides_are_understood(self):
        """The program accepts them with all their options."""
        for name in [*guides(), "tools/unattended/README.md"]:
            for line in re.findall(r"^    (gcdumpc .*?)(?: +#.*| +&.*)?$", read(name), re.M):
                if ": " in line or line.startswith("gcdumpc help"):
                    continue                     # what it prints; help has no help
                words = shlex.split(line.partition("  #")[0].rstrip(" &"))[1:]
                run = subprocess.run([PROGRAM, *words, "--help"], capture_output=True, text=True)
                self.assertEqual((run.returncode, run.stderr), (0, ""), (name, line))

    def test_formats_and_commands_are_named(self):
        table, told = read("tools/doc/formats.md"), subprocess.run([PROGRAM, "help", "formats"], capture_output=True, text=True, check=True).stdout
        formats = re.findall(r"^  (\w+) +\.", told, re.M)
        self.assertGreater(len(formats), 5)
        for name in formats:
            self.assertRegex(table, rf"(?m)^\| {name} \|")
        for command in COMMANDS:
            self.assertIn(f"gcdumpc {command}`", read("README.md"))


if __name__ == "__main__":
    os.makedirs(BUILD, exist_ok=True)
    main()
