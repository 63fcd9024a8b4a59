"""Manual pages and completions cover everything in the program, and real readers and shells accept them."""
import glob
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest

from install_support import MANUAL, PROGRAM, SECONDS, main, need_tool, run, text

PAGES = sorted(glob.glob(os.path.join(MANUAL, "man[157]", "*.[157]")))
COMMANDS, TOPICS = (re.findall(r"^  ([a-z]+)  +\S", text(PROGRAM, "--help").split(title)[1].split("\n\n")[0], re.M)
                    for title in ("Commands:\n", "Topics (gcdumpc help TOPIC):\n"))


def options(command):
    """Options in its help, of which --help may be the short one: (letter, name, argument)."""
    rows = re.findall(r"^  (?:-(\w),|   ) --([\w-]+)(?: ([A-Z|=]+))?(?:  |$)", text(PROGRAM, "help", command), re.M)
    assert len(rows) > 2, command
    return rows


def page(name):
    with open(os.path.join(MANUAL, f"man{name[-1]}", name), encoding="utf-8") as f:
        return f.read()


def plain(name):
    """A page without roff, for searching words."""
    return re.sub(r"\\f[BIR]", "", page(name)).replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "").replace("\\e", "\\")


class Pages(unittest.TestCase):
    def test_one_for_each_command(self):
        self.assertGreater(len(COMMANDS), 5)
        wanted = {"gcdumpc.1", "gcdumpc-formats.5", "gcdumpc.conf.5", "gcdumpc-patterns.7", "gcdumpc-thresholds.7",
                  *(f"gcdumpc-{c}.1" for c in COMMANDS)}
        self.assertEqual({os.path.basename(p) for p in PAGES}, wanted)
        for name in wanted:
            self.assertTrue(name == "gcdumpc.1" or name[:-2] in plain("gcdumpc.1").split("SEE ALSO")[1], name)
            self.assertNotIn("PROSE", page(name))

    def test_every_option_and_format(self):
        for command in COMMANDS:
            for letter, name, argument in options(command):
                row = (f"-{letter}, " if letter else "") + f"--{name}" + (f" {argument}" if argument else "")
                self.assertIn(f".TP\n{row}\n", plain(f"gcdumpc-{command}.1"), command)
        for letter, name, argument in options("collect"):
            self.assertEqual(f".TP\n{name} = {argument or 'true|false'}\n" in plain("gcdumpc.conf.5"), name != "help", name)
        formats = text(PROGRAM, "help", "formats")
        for name, suffix in re.findall(r"^  (\w+) +(\.\w+)", formats, re.M):
            self.assertIn(f".TP\n{name} ({suffix})\n", plain("gcdumpc-formats.5"))

    def test_readers_have_no_complaint(self):
        tools = [["mandoc", "-T", "lint"], ["groff", "-ww", "-man", "-Kutf8", "-z"], ["man", "--warnings", "-E", "UTF-8", "-Z", "-l"]]
        tools = [t for t in tools if shutil.which(t[0])]
        if not tools:
            self.skipTest("no mandoc, groff or man on this machine")
        for tool in tools:
            for path in PAGES:
                r = subprocess.run([*tool, path], stdout=subprocess.DEVNULL if tool[0] == "man" else subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual((r.returncode, r.stdout or "", r.stderr), (0, "", ""), tool + [path])

    def test_compressed_like_the_plain_one(self):
        need_tool("gzip", "compressed pages")
        for path in PAGES:
            self.assertEqual(run("gzip", "-dc", path + ".gz").decode(), page(os.path.basename(path)))

    def test_examples_are_understood(self):
        """They fail because their files and processes do not exist, but not with a usage error."""
        found = 0
        with tempfile.TemporaryDirectory() as d:
            for path in PAGES:
                for block in re.findall(r"\.EX\n(.*?)\.EE", plain(os.path.basename(path)), re.S):
                    for line in block.split("\n"):
                        m = re.search(r"gcdumpc (?!run).*", line)
                        if m is None or "--listen" in line or "=" in line or m[0].endswith(" ps"):
                            continue
                        words = shlex.split(m[0].split(" | ")[0].replace("1234", "4294967295").replace("/var/", "var/"))
                        if words[1:2] == ["ps"]:
                            continue
                        r = subprocess.run([PROGRAM, *words[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=d,
                                           timeout=SECONDS, check=False)
                        self.assertEqual(r.returncode, 1, f"{line}: {r.stderr}")
                        found += 1
        self.assertGreater(found, 10)

    def test_wrong_usage(self):
        for words in (["help", "--format", "man"], ["help", "report", "--format", "bash"], ["help", "nothing"], ["help", "--format"],
                      ["help", "report", "--nothing"], ["completion"], ["completion", "sh"]):
            self.assertEqual(text(PROGRAM, *words, status=2), "")

    def test_two_ways_to_a_completion(self):
        for shell in ("bash", "zsh", "fish"):
            for words in (["completion", shell], ["help", f"--format={shell}"], ["help", "--format", shell]):
                self.assertIn("gcdumpc", text(PROGRAM, *words))
                self.assertEqual(text(PROGRAM, *words), text(PROGRAM, "completion", shell))


class Completion(unittest.TestCase):
    """The same requests for each shell; answers are sets of words."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name
        for name in ("heap one.nettrace", "two.gclog"):
            open(os.path.join(self.dir, name), "w", encoding="utf-8").close()
        os.symlink(PROGRAM, os.path.join(self.dir, "gcdumpc"))

    def environment(self):
        return {**os.environ, "PATH": f"{self.dir}:{os.environ['PATH']}", "TERM": "dumb", "HOME": self.dir, "LC_ALL": "C.UTF-8"}

    def shell(self, *args):
        return text(*args, env=self.environment(), cwd=self.dir)

    def bash(self, *words):
        """WORDS of the line, the last one incomplete, as bash splits it."""
        script = ('source "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); compopt() { echo "compopt $1 $2"; }; '
                  '_gcdumpc gcdumpc "${COMP_WORDS[COMP_CWORD]}"; printf "%s\\n" "${COMPREPLY[@]}"')
        out = self.shell("bash", "--norc", "-c", script, "bash", os.path.join(MANUAL, "bash", "gcdumpc"), *words)
        return {w.rstrip() for w in out.split("\n")} - {""}

    def fish(self, line):
        need_tool("fish", "its completion")
        out = self.shell("fish", "--no-config", "-c", f"source {MANUAL}/fish/gcdumpc.fish; complete -C {shlex.quote(line)}")
        return {w.split("\t")[0] for w in out.split("\n")} - {""}

    def type(self, args, line, wanted, setup):
        """Type LINE and TAB into an interactive shell; the line must become WANTED."""
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execvpe(args[0], args, self.environment())
        seen = b""

        def until(what):
            nonlocal seen
            end = time.monotonic() + SECONDS
            while what not in seen and time.monotonic() < end:
                if select.select([fd], [], [], 1)[0]:
                    seen = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]|[\x07\r]", b"", seen + os.read(fd, 65536))
            self.assertIn(what, seen)
            seen = b""
        try:
            os.write(fd, setup.encode() + b"\necho rea''dy\n")
            until(b"ready\n")
            os.write(fd, line.encode() + b"\t")
            until(wanted.encode())
        finally:
            os.kill(pid, 9)
            os.close(fd)
            os.waitpid(pid, 0)

    def test_bash_commands_and_options(self):
        self.assertEqual(self.bash("gcdumpc", ""), {*COMMANDS, "help"})
        self.assertEqual(self.bash("gcdumpc", "re"), {"report", "retained"})
        self.assertEqual(self.bash("gcdumpc", "help", "ret"), {"retained"})
        self.assertEqual(self.bash("gcdumpc", "help", ""), {*COMMANDS, *TOPICS})
        for command in COMMANDS:
            every = {f"--{name}" for _, name, _ in options(command)}
            self.assertEqual(self.bash("gcdumpc", command, "--"), every, command)
        self.assertIn("--pid", self.bash("gcdumpc", "--"))

    def test_bash_values(self):
        self.assertEqual(self.bash("gcdumpc", "report", "x", "--by", "mod"), {"module"})
        self.assertEqual(self.bash("gcdumpc", "report", "--by", "=", "ge"), {"generation"})
        self.assertEqual(self.bash("gcdumpc", "report", "--by", "="), self.bash("gcdumpc", "report", "--by", ""))
        self.assertEqual(self.bash("gcdumpc", "report", "--by=ge"), {"--by=generation"})
        self.assertEqual(self.bash("gcdumpc", "report", "-f", ""), {"text", "json", "csv", "prometheus"})
        formats = set(re.findall(r"^  (\w+) +\.", text(PROGRAM, "help", "formats"), re.M))
        self.assertEqual(self.bash("gcdumpc", "--format", ""), formats)
        self.assertEqual(self.bash("gcdumpc", "report", "--top", ""), set())
        self.assertEqual(self.bash("gcdumpc", "convert", "h"), {"compopt -o default"})
        self.assertEqual(self.bash("gcdumpc", "convert", "-o", ""), {"compopt -o default"})
        self.assertEqual(self.bash("gcdumpc", "ps", ""), set())
        self.assertIn("cat", self.bash("gcdumpc", "--on-success", "cat"))

    def test_bash_typed(self):
        args = ["bash", "--norc", "--noprofile", "-i"]
        setup = f"source {MANUAL}/bash/gcdumpc; bind 'set enable-bracketed-paste off'"
        self.type(args, "gcdumpc ret", "gcdumpc retained ", setup)
        self.type(args, "gcdumpc report --sort=coun", "--sort=count ", setup)
        self.type(args, "gcdumpc convert hea", "convert heap\\ one.nettrace", setup)

    def test_zsh_typed(self):
        need_tool("zsh", "its completion")
        args, setup = ["zsh", "-f", "-i"], f"fpath=({MANUAL}/zsh $fpath); autoload -U compinit; compinit -u -D; PS1='> '"
        self.type(args, "gcdumpc ret", "gcdumpc retained", setup)
        self.type(args, "gcdumpc help patt", "gcdumpc help patterns", setup)
        self.type(args, "gcdumpc report --sort coun", "--sort count", setup)
        self.type(args, "gcdumpc collect --keep-p", "--keep-partial", setup)
        self.type(args, "gcdumpc --if-rs", "--if-rss-above", setup)
        self.type(args, "gcdumpc convert hea", "convert heap\\ one.nettrace", setup)

    def test_fish(self):
        self.assertEqual(self.fish("gcdumpc "), {*COMMANDS, "help"})
        self.assertEqual(self.fish("gcdumpc help "), {*COMMANDS, *TOPICS})
        for command in COMMANDS:
            every = {f"--{name}" for _, name, _ in options(command)}
            self.assertEqual({w.rstrip("=") for w in self.fish(f"gcdumpc {command} --")}, every, command)
        self.assertEqual(self.fish("gcdumpc report --by mod"), {"module"})
        self.assertEqual(self.fish("gcdumpc report --by=mod"), {"--by=module"})
        self.assertIn("--pid", self.fish("gcdumpc --pi"))
        self.assertEqual(self.fish("gcdumpc convert hea"), {"heap one.nettrace"})
        self.assertEqual(self.fish("gcdumpc ps hea"), set())

    def test_processes(self):
        if os.environ.get("GCDUMPC_IPC") == "OFF":
            self.skipTest("this build has no support for living processes")
        from live_support import Process, heaplab, need
        need(heaplab)
        with Process() as target:
            pid = str(target.pid)
            self.assertIn(pid, self.bash("gcdumpc", "report", "--pid", ""))
            self.assertEqual(self.bash("gcdumpc", "-p", pid), {pid})
            self.assertIn("HeapLab", self.bash("gcdumpc", "--name", "Heap"))
            if shutil.which("zsh"):
                setup = f"fpath=({MANUAL}/zsh $fpath); autoload -U compinit; compinit -u -D; PS1='> '"
                self.type(["zsh", "-f", "-i"], f"gcdumpc --pid {pid[:-1]}", f"--pid {pid}", setup)
                self.type(["zsh", "-f", "-i"], "gcdumpc --name Heap", "--name HeapLab", setup)
            if shutil.which("fish"):
                self.assertIn(pid, self.fish("gcdumpc --pid "))


if __name__ == "__main__":
    main()
