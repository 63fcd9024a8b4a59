"""The README holds: every command in it runs and prints what it shows; links and options exist.

A command is a line that begins with "$ " in an indented block; its output follows.  Commands on bundled recordings must match
exactly.  Commands on a living process run with HeapLab and are compared word by word with every number replaced: nothing else may
differ.
"""
import getpass
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("GCDUMPC_SOURCE") or os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(SOURCE, "tests", n) for n in ("cli", "live", "readers")]

from cli_support import BUILD, COMMANDS, PROGRAM, SANITIZED, main       # noqa: E402
import live_support                                                     # noqa: E402

PID, PROCESS = "1234", ("--leak", "events")      # in the README, and what it shows
LIVE = (PID, "HeapLab", "lab.nettrace", " ps")   # a command with one of these uses the process, or a dump of it
STATUS = (("--fail-if", 4),)                     # a command with this option has this exit status, all others 0
SCRIPTS = ("sh tools/quickstart.sh", "sh tools/run-tests.sh")
MOST_LINES = 250
NUMBER = re.compile(r"0x[0-9a-f]+|\d{8}T\d{6}Z|\d[\d,.:]*")
NOT_OURS = {"--install", "--leak", "--objects", "--tests"}    # options of other programs


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
        return f.read()


def examples(text):
    """(command, output) of each "$ " line of the indented blocks."""
    found = []
    for line in text.splitlines():
        if line.startswith("    $ "):
            found.append((line[6:].partition("    #")[0].strip(), []))
        elif line.startswith("    ") and found:
            found[-1][1].append(line[4:])
        elif not line and found and found[-1][1]:
            found[-1][1].append("")              # perhaps an empty line within an output
        elif line and not line.startswith("    ") and found:
            found.append(("", []))               # text: the block has ended
    return [(command, "\n".join(output).strip("\n")) for command, output in found if command]


def loose(text):
    return [NUMBER.sub("<n>", word) for word in text.split()]


class Commands(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.examples = examples(read("README.md"))
        cls.folder = tempfile.TemporaryDirectory(prefix="gcdumpc-readme-")
        cls.addClassCleanup(cls.folder.cleanup)
        os.mkdir(os.path.join(cls.folder.name, "build"))
        os.symlink(PROGRAM, os.path.join(cls.folder.name, "build", "gcdumpc"))
        os.symlink(os.path.join(SOURCE, "traces"), os.path.join(cls.folder.name, "traces"))

    def run_one(self, command):
        """What a reader sees: output, then messages."""
        environment = {k: v for k, v in os.environ.items() if k != "TERM"}
        run = subprocess.run(["sh", "-c", command], cwd=self.folder.name, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=120)
        status = next((s for option, s in STATUS if option in command), 0)
        self.assertEqual(run.returncode, status, (command, run.stderr))
        return (run.stdout + run.stderr).strip("\n")

    def test_there_are_some_of_each_kind(self):
        live = [c for c, _ in self.examples if any(w in c for w in LIVE)]
        self.assertGreaterEqual(len(live), 4)
        self.assertGreaterEqual(len(self.examples) - len(live) - len(SCRIPTS), 3)
        for word in ("ps", "--pid", "report", "diff", "leaks", "paths", "convert"):
            self.assertTrue(any(word in shlex.split(c) for c, _ in self.examples), word)

    def test_nothing_is_shown_that_is_not_run(self):
        for line in read("README.md").splitlines():
            self.assertNotRegex(line, r"^ {4,}(build/)?(gcdumpc|sh|cmake) (?!.*: )")

    def test_of_recordings(self):
        for command, shown in self.examples:
            if command not in SCRIPTS and not any(w in command for w in LIVE):
                with self.subTest(command):
                    self.assertEqual(self.run_one(command), shown)

    @unittest.skipIf(os.environ.get("GCDUMPC_IPC") == "OFF", "this build cannot talk to processes")
    @unittest.skipIf(SANITIZED, "what a sanitizer adds to memory and time is not in the README")
    def test_of_a_process(self):
        try:
            program = live_support.heaplab()
        except live_support.Missing as e:
            self.skipTest(str(e))
        shutil.copytree(os.path.dirname(program), os.path.join(self.folder.name, "lab"))
        here = os.path.join(self.folder.name, "lab", "HeapLab")      # what the README calls ./HeapLab
        with live_support.Process(*PROCESS, program=here, argv0="./HeapLab") as target:
            for command, shown in self.examples:
                if command in SCRIPTS or not any(w in command for w in LIVE):
                    continue
                command = command.replace(PID, str(target.pid)).replace("--name HeapLab", f"--pid {target.pid}")
                with self.subTest(command):
                    got = self.run_one(command)
                    if command.endswith(" ps"):          # other processes may run here, and another user may run the test
                        got = "\n".join(line for i, line in enumerate(got.splitlines()) if i == 0 or line.split()[0] == str(target.pid))
                        shown = shown.replace("root", getpass.getuser())
                    self.assertEqual(loose(got), loose(shown), got)

    def test_the_page(self):
        self.run_one("build/gcdumpc convert traces/net10-wks/heap.nettrace.gz -o page.html")
        with open(os.path.join(self.folder.name, "page.html"), encoding="utf-8") as f:
            page = f.read()
        self.assertTrue(page.startswith("<!"))
        self.assertNotRegex(page, r"""(src|href)=["']?https?:""")


@unittest.skipIf(os.environ.get("GCDUMPC_IPC") == "OFF" or SANITIZED, "once is enough: it makes a build of its own")
class Scripts(unittest.TestCase):
    def test_they_are_there(self):
        for command in SCRIPTS:
            self.assertIn(command, [c for c, _ in examples(read("README.md"))])
            subprocess.run(["sh", "-n", os.path.join(SOURCE, command.split()[1])], check=True)

    def test_quickstart(self):
        """From a copy of the sources, without the permission to install anything."""
        with tempfile.TemporaryDirectory(prefix="gcdumpc-quickstart-") as folder:
            copy = os.path.join(folder, "gcdumpc")
            shutil.copytree(SOURCE, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", "build*", "__pycache__"))
            os.mkdir(os.path.join(folder, "bin"))
            for name in ("apt-get", "sudo"):
                with open(os.path.join(folder, "bin", name), "w", encoding="ascii") as f:
                    f.write("#!/bin/sh\nexit 100\n")
                os.chmod(os.path.join(folder, "bin", name), 0o755)
            run = subprocess.run(["sh", "tools/quickstart.sh"], cwd=copy, env={**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"},
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=800)
            if run.returncode == 100:
                self.skipTest("not everything is installed that a build needs: " + run.stdout.strip())
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertTrue(os.access(os.path.join(copy, "build", "gcdumpc"), os.X_OK))
            for command in ("info", "report", "convert"):
                self.assertIn(f"$ build/gcdumpc {command} ", run.stdout)
            self.assertIn("17646  1378569  100.00%  total, 201 types", run.stdout)
            self.assertIn("recorded.gclog", os.listdir(os.path.join(copy, "build")))


class Text(unittest.TestCase):
    def documents(self):
        for path in glob.glob(os.path.join(SOURCE, "**", "*.md"), recursive=True):
            name = os.path.relpath(path, SOURCE)
            if not name.startswith("build") and "node_modules" not in name:
                yield name, read(name)

    def test_length(self):
        self.assertLessEqual(read("README.md").count("\n"), MOST_LINES)

    def test_links(self):
        for name, text in self.documents():
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
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
            text = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, check=True).stdout
            known |= set(re.findall(r"--[a-z][a-z-]*", text))
        known |= {"--version"}
        for name in ("README.md", "tools/doc/processes.md", "tools/doc/how-it-works.md", "tools/doc/compare.md", "tools/doc/sql.md"):
            used = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", read(name)))
            self.assertEqual(used - known - NOT_OURS, set(), name)

    def test_commands_of_the_other_pages(self):
        """They are understood, options and all."""
        for name in ("tools/doc/processes.md", "tools/unattended/README.md"):
            for line in re.findall(r"^    (gcdumpc .*?)(?: +#.*| +&.*)?$", read(name), re.M):
                if ": " in line:
                    continue                     # what it prints
                words = shlex.split(line.partition("  #")[0].rstrip(" &"))[1:]
                run = subprocess.run([PROGRAM, *words, "--help"], capture_output=True, text=True)
                self.assertEqual((run.returncode, run.stderr), (0, ""), (name, line))

    def test_formats_and_commands_are_named(self):
        text, told = read("README.md"), subprocess.run([PROGRAM, "collect", "--help"], capture_output=True, text=True, check=True).stdout
        formats = re.findall(r"^  (\w+) +\.", told.partition("Formats:\n")[2], re.M)
        self.assertGreater(len(formats), 5)
        for name in formats:
            self.assertRegex(text, rf"(?m)^\| {name} \|")
        for command in set(COMMANDS) - {"collect"}:
            self.assertRegex(text, rf"gcdumpc {command}\b|`{command}\b")


if __name__ == "__main__":
    os.makedirs(BUILD, exist_ok=True)
    main()
