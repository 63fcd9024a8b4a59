"""tools/ci/heap-gate.sh with real .NET programs: one that leaks, one that does not, and everything that can go wrong."""
import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import time

import lab_programs
from live_support import PROGRAM, ROOT, SECONDS, LiveTest, main, need

SCRIPT = os.path.join(ROOT, "tools", "ci", "heap-gate.sh")
LOAD = """before=$(grep -c done "$GATE_OUTPUT")
echo 2000 >"$GATE_INPUT"
while [ "$(grep -c done "$GATE_OUTPUT")" -eq "$before" ]; do sleep 0.1; done"""
SHELLS = [[name] for name in ("bash", "dash", "mksh", "yash") if shutil.which(name)] + [["busybox", "sh"]] * bool(shutil.which("busybox"))


class Gate(LiveTest):
    def setUp(self):
        super().setUp()
        self.program = need(lab_programs.gate_lab)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("GITHUB_")} | {"GCDUMPC": PROGRAM}

    def arguments(self, *options, program=("steady",), shell=("sh",)):
        if program[0] in ("steady", "leaky"):
            program = (self.program, *program)
        return [*shell, SCRIPT, "--out", self.path("out"), *map(str, options), "--", *program]

    def gate(self, *options, status, program=("steady",), load=LOAD, shell=("sh",), **environment):
        """Standard output and messages."""
        r = subprocess.run(self.arguments("--load", load, *options, program=program, shell=shell), capture_output=True, text=True, timeout=SECONDS * 2,
                           env=self.environment | environment, cwd=self.folder, stdin=subprocess.DEVNULL)
        self.assertEqual(r.returncode, status, r.stdout[-2000:] + r.stderr)
        return r.stdout, r.stderr

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def loads(self):
        """Numbers of living processes of a load."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/1").startswith(f"{self.folder}/out/load.log"):
                    found.append(int(pid))
        return found

    def processes(self):
        """Numbers of living processes of the lab."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as f:
                if f.read().split(b"\0")[0] == self.program.encode() and f"{self.folder}/out" in os.readlink(f"/proc/{pid}/fd/1"):
                    found.append(int(pid))
        return found

    def check_summary(self, markdown, result):
        self.assertTrue(markdown.startswith(f"## Heap gate: {result}\n\n"), markdown[:200])
        self.assertEqual(markdown.count("<details"), markdown.count("</details>"))
        self.assertEqual(markdown, self.text("out/summary.md"))
        self.assertEqual(self.processes(), [])


class Results(Gate):
    def test_no_growth(self):
        markdown, messages = self.gate(status=0)
        self.check_summary(markdown, "passed")
        self.assertIn("    ok        retained > +10%\n", markdown)
        self.assertIn("load 1\n", messages)
        self.assertIn("load 2\n", messages)
        self.assertNotIn("load 3\n", messages)
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["1.nettrace.gz", "2.nettrace.gz", "diff.html", "load.log", "program.log", "summary.md"])

    def test_growth(self):
        markdown, messages = self.gate("--fail-if", "retained > +10%", "--fail-if", "count(GateLab.Answer) > +0",
                                       "--fail-if", "count(GateLab.`Nothing`) > 0", program=("leaky",), status=4)
        self.check_summary(markdown, "grown")
        self.assertRegex(markdown, r"\n    exceeded  retained > \+10%: [\d,]+ -> [\d,]+ ")
        self.assertIn("\n    exceeded  count(GateLab.Answer) > +0: 2,000 -> 4,000 (+2,000, +100.00%)\n", markdown)
        self.assertIn("\n    ok        count(GateLab.`Nothing`) > 0\n", markdown)
        for words in ("What has grown", "What holds it", "Suspects", "GateLab.Answer"):
            self.assertIn(words, markdown)
        self.assertIn("threshold exceeded: count(GateLab.Answer)", messages)
        self.assertNotIn(self.folder, markdown)

    def test_shells(self):
        for shell in SHELLS:
            with self.subTest(shell):
                markdown, _ = self.gate(program=("leaky",), status=4, shell=shell)
                self.check_summary(markdown, "grown")
                self.fails_in(shell)

    def fails_in(self, shell):
        markdown, _ = self.gate(status=1, load="exit 5", shell=shell)
        self.check_summary(markdown, "failed")

    def test_the_first_load_may_add(self):
        self.gate("--fail-if", "count(GateLab.Answer) > +0", status=0)

    def test_more_loads_before(self):
        markdown, messages = self.gate("--warm-up", 3, "--fail-if", "count(GateLab.Answer) > +0", program=("leaky",), status=4)
        self.assertIn("6,000 -> 8,000", markdown)
        self.assertIn("load 4\n", messages)

    def test_github(self):
        with open(self.path("step.md"), "w", encoding="utf-8") as f:
            f.write("before\n")
        out, _ = self.gate(program=("leaky",), status=4, GITHUB_STEP_SUMMARY=self.path("step.md"), GITHUB_ACTIONS="true")
        self.assertRegex(out, r"\A::error title=Heap gate::.*grow.*\n\Z")
        text = self.text("step.md")
        self.assertTrue(text.startswith("before\n"))
        self.check_summary(text[len("before\n"):], "grown")

    def test_another_file(self):
        out, _ = self.gate("--summary", "s.md", status=0, GITHUB_STEP_SUMMARY=self.path("step.md"))
        self.assertEqual(out, "")
        self.check_summary(self.text("s.md"), "passed")
        self.assertFalse(os.path.exists(self.path("step.md")))

    def test_a_program_that_starts_the_process(self):
        markdown, _ = self.gate("--name", "GateLab", "--fail-if", "count(GateLab.Answer) > +0", status=4,
                                program=("sh", "-c", f"{shlex.quote(self.program)} leaky; exit 5"))
        self.check_summary(markdown, "grown")

    def test_the_workflow(self):
        with open(os.path.join(os.path.dirname(SCRIPT), "heap-gate.yml"), encoding="utf-8") as f:
            step = re.search(r"- name: Heap gate\n +run: \|\n((?: {10,}.*\n)+)", f.read())[1]
        command = re.sub(r"'(curl|sh) [^']*'", lambda m: "true" if m[1] == "curl" else shlex.quote(LOAD), step)
        command = command.replace("dotnet out/Shop.dll", self.program + " leaky").replace("$RUNNER_TEMP/gcdumpc/build/gcdumpc", PROGRAM)
        command = command.replace("$RUNNER_TEMP/gcdumpc", ROOT).replace("Shop.Session", "GateLab.Answer")
        r = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=SECONDS * 2, cwd=self.folder,
                           env=self.environment | {"GITHUB_STEP_SUMMARY": self.path("step.md")})
        self.assertEqual(r.returncode, 4, r.stderr)
        self.assertIn("exceeded  count(GateLab.Answer) > +0", self.text("step.md"))


class Failures(Gate):
    def fails(self, reason, *options, **kw):
        markdown, messages = self.gate(*options, status=1, **kw)
        self.assertRegex(markdown.split("\n")[2], reason)
        self.assertRegex(messages, reason)
        self.check_summary(markdown, "failed")
        return markdown

    def test_no_such_program(self):
        markdown = self.fails(r"ended before it was ready \(exit status 127\)", program=("/nowhere/Shop",))
        self.assertIn("Output of the program", markdown)
        self.assertRegex(markdown.split("Output of the program")[1], r"\n    heap-gate: .*/nowhere/Shop")

    def test_program_ends(self):
        self.fails(r"ended before it was ready \(exit status 3\)", program=("sh", "-c", "exit 3"))
        self.fails(r"ended during load 1 \(exit status 7\)", program=("steady", "crash"), load='echo 1 >"$GATE_INPUT"; sleep 1000')
        self.fails(r"ended (during load 2|before dump 2 was taken) \(exit status 0\)",
                   load=f'if [ "$GATE_LOAD" = 2 ]; then echo quit >"$GATE_INPUT"; sleep 1000; fi; {LOAD}')

    def test_load_fails(self):
        markdown = self.fails(r"Load 1 failed \(exit status 5\)", load="echo no answer; exit 5")
        self.assertIn("    no answer\n", markdown)
        self.fails(r"Load 2 was not done after 3 s", "--load-timeout", 3, load='[ "$GATE_LOAD" = 1 ] || sleep 1000')

    def test_the_socket_of_a_dead_process(self):
        """A killed process leaves its socket behind, and its pid is reused."""
        planted = 'socket.socket(socket.AF_UNIX).bind(f"{os.environ[\'TMPDIR\']}/dotnet-diagnostic-{os.getpid()}-1-socket")'
        self.fails(r"no diagnostic socket after 2 s", "--ready-timeout", 2, TMPDIR=self.folder,
                   program=("python3", "-c", f"import os, socket, time; {planted}; time.sleep(1000)"))
        self.assertEqual([name[-9:] for name in os.listdir(self.folder) if name.startswith("dotnet-diagnostic-")], ["-1-socket"])

    def test_no_socket(self):
        self.fails(r"no diagnostic socket after 3 s: .*DOTNET_EnableDiagnostics", "--ready-timeout", 3, DOTNET_EnableDiagnostics="0")
        self.fails(r"no diagnostic socket after 2 s", "--ready-timeout", 2, program=("sleep", "1000"))
        markdown = self.fails(r"Dump 1 failed \(exit status 1\)", "--ready", "true", program=("sleep", "1000"), load="true")
        self.assertIn("Messages", markdown)

    @staticmethod
    def with_word(word):
        """Numbers of living processes with WORD as their last argument."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as f:
                if word.encode() in f.read().split(b"\0")[-2:]:
                    found.append(int(pid))
        return found

    def test_a_program_that_does_not_end(self):
        """The script mistakes neither it nor a dump of an earlier run for one of this run."""
        self.gate(status=0)
        mark = self.path("still-there")
        self.fails(r"not ready after 1 s", "--ready", "false", "--ready-timeout", 1,
                   program=("sh", "-c", "trap '' TERM; while :; do sleep 1; done", mark))
        end = time.monotonic() + SECONDS         # the shell that waited for it has the same words, and a moment to live
        while self.with_word(mark) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(self.with_word(mark), [])
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["load.log", "program.log", "summary.md"])

    def test_program_output_cannot_break_the_markdown(self):
        markdown = self.fails(r"ended before it was ready", program=("sh", "-c", "echo '# passed'; exit 3"))
        self.assertIn("\n    # passed\n", markdown)
        self.assertNotIn("\n# passed", markdown)

    def test_never_ready(self):
        markdown = self.fails(r"not ready after 2 s", "--ready", "echo still closed; false", "--ready-timeout", 2)
        self.assertIn("    still closed\n", markdown)
        self.fails(r"not ready after 2 s", "--name", "NoSuchProcess", "--ready-timeout", 2)

    def test_incomplete_dump(self):
        with open(self.path("gcdumpc"), "w", encoding="utf-8") as f:
            f.write(f'#!/bin/sh\n{shlex.quote(PROGRAM)} "$@" || exit\n[ "$1" != --pid ] || exit 3\n')
        os.chmod(self.path("gcdumpc"), 0o755)
        markdown, _ = self.gate(status=3, GCDUMPC="./gcdumpc")
        self.check_summary(markdown, "incomplete")

    def test_summary_cannot_be_written(self):
        self.gate("--summary", "/nowhere/s.md", status=1)

    def test_wrong_usage(self):
        for options in (["--load"], ["--warm-up", "0"], ["--warm-up", "x"], ["--colour", "red"], ["--fail-if", "size > 3"],
                        ["--fail-if", "retained > +10%", "--fail-if", "count(A > 1"], ["--load", ""], ["--fail-if", "bytes > 1\nbytes > 2"],
                        ["--fail-if", "bytes > 1"] * 33):
            with self.subTest(options):
                out, messages = self.gate(*options, status=2)
                self.assertEqual(out, "")
                self.assertRegex(messages, r"\Aheap-gate: .*; see heap-gate.sh --help\n\Z")
        self.assertFalse(os.path.exists(self.path("out")))
        r = subprocess.run(["sh", SCRIPT, "--load", "true"], capture_output=True, text=True, env=self.environment)
        self.assertEqual((r.returncode, r.stdout), (2, ""))
        _, messages = self.gate(status=1, GCDUMPC="/nowhere/gcdumpc")
        self.assertEqual(messages, "heap-gate: there is no program /nowhere/gcdumpc (GCDUMPC)\n")

    def test_interrupted(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                p = subprocess.Popen(self.arguments("--load", 'echo > "$GATE_OUTPUT.loading"; sleep 1000'), env=self.environment, cwd=self.folder,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))    # a shell cannot trap what was ignored
                self.addCleanup(p.kill)
                end = time.monotonic() + SECONDS
                while not os.path.exists(self.path("out/program.log.loading")) and time.monotonic() < end:
                    time.sleep(0.05)
                self.assertEqual(len(self.processes()), 1)
                p.send_signal(number)
                self.assertEqual(p.wait(SECONDS), 130)
                self.assertEqual(self.processes(), [])
                end = time.monotonic() + SECONDS
                while self.loads() and time.monotonic() < end:
                    time.sleep(0.05)
                self.assertEqual(self.loads(), [])
                os.unlink(self.path("out/program.log.loading"))

    def test_help(self):
        r = subprocess.run(["sh", SCRIPT, "--help"], capture_output=True, text=True)
        self.assertEqual(r.returncode, 0)
        with open(SCRIPT, encoding="utf-8") as f:
            taken = set(re.findall(r"^    (--[a-z-]+)\) [a-z_]+=", f.read(), re.M)) | {"--fail-if", "--help"}
        self.assertEqual(set(re.findall(r"^  (--[a-z-]+)", r.stdout, re.M)), taken)


if __name__ == "__main__":
    main()
