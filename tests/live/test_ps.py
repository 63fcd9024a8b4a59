"""ps, --name, --port and --save-trace with real .NET processes.  Needs the .NET SDK; without it the test is skipped."""
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import time

from lab_programs import program
from live_support import NOBODY, PROGRAM, SECONDS, LiveTest, Process, gclog_sums, heaplab, main, need, wait_for_lock
from terminal import Terminal


class PsTest(LiveTest):
    def rows(self, *answering, **kw):
        """Repeats until the processes ANSWERING do answer: ps gives each half a second, which is not always enough on a busy machine."""
        end = time.monotonic() + SECONDS
        while True:
            rows = {p["pid"]: p for p in json.loads(self.gcdumpc("ps", "--json", **kw).stdout)["processes"]}
            if all(rows[pid]["answer"] == "ok" for pid in answering) or time.monotonic() > end:
                return rows

    def other_name(self, name):
        """HeapLab with an executable file called NAME."""
        if not os.path.exists(self.path("bin")):
            shutil.copytree(os.path.dirname(heaplab()), self.path("bin"))
        shutil.copy(heaplab(), self.path("bin/" + name))
        return self.path("bin/" + name)


class Ps(PsTest):
    def test_fields(self):
        os.mkdir(self.path("tmp"))
        with Process("--objects", "5") as a, Process(TMPDIR=self.path("tmp")) as b:
            rows = self.rows(a.pid, b.pid)
            self.assertEqual(list(rows), sorted(rows))
            for target, arguments, folder in ((a, " --objects 5", None), (b, "", self.path("tmp"))):
                row = rows[target.pid]
                self.assertEqual(row["answer"], "ok")
                self.assertEqual(row["command_line"], heaplab() + arguments)
                self.assertEqual((row["name"], row["entry_assembly"], row["uid"]), ("HeapLab", "HeapLab", os.geteuid()))
                self.assertRegex(row["runtime_version"], r"^\d+\.\d+\.\d+")
                self.assertRegex(row["architecture"], r"^(x64|arm64|x86|arm32)$")
                self.assertTrue(0 < row["uptime_ms"] < 1000 * SECONDS, row)
                self.assertTrue(5 << 20 < row["resident_bytes"] < 4 << 30, row)
                if folder:
                    self.assertEqual(os.path.dirname(row["socket"]), folder)
            for _ in range(100):
                text = self.gcdumpc("ps").stdout.splitlines()
                line = next(t for t in text if t.split()[0] == str(a.pid))
                if "(no answer)" not in line:
                    break
            self.assertRegex(text[0], r"^ *PID  User +Runtime +Uptime +Memory  Ways +Assembly +Command line$")
            self.assertRegex(line, rf" \d+\.\d+\.\d+\S* +00:0\d:\d\d +\d{{7,}}  events, direct  HeapLab +{re.escape(heaplab())} --objects 5$")

    def test_one_file_without_diagnostics(self):
        """The runtime of .NET 11 is in the program, has no thread that Native AOT has not, and no socket."""
        if os.geteuid() != 0:
            self.skipTest("reading the memory of a process needs root")
        with Process(program=need(program, "RuntimeAsyncLab", 11, "single"), DOTNET_EnableDiagnostics="0") as target:
            self.assertEqual(target.line, "ready\n")
            row = self.rows()[target.pid]
            self.assertEqual((row["answer"], row["ways"]), ("no socket", ["direct"]))
            self.gcdumpc("collect", "--pid", target.pid, "--direct", "-q", "-o", self.path("one.gcdump"))

    def test_a_stopped_process_is_not_waited_for(self):
        with Process() as a, Process() as b:
            a.process.send_signal(signal.SIGSTOP)
            try:
                rows = self.rows(b.pid)
                self.assertEqual((rows[a.pid]["answer"], rows[a.pid]["runtime_version"]), ("no answer", None))
                self.assertEqual((rows[a.pid]["name"], rows[a.pid]["command_line"]), ("HeapLab", heaplab()))
                self.assertEqual(rows[b.pid]["answer"], "ok")
                self.assertIn("(no answer)", self.gcdumpc("ps").stdout)
            finally:
                a.process.send_signal(signal.SIGCONT)
            self.assertEqual(self.rows(a.pid)[a.pid]["answer"], "ok")        # nothing was left in its queue
            self.gcdumpc("--pid", a.pid, "-o", self.path("a.gclog"))

    def test_other_users_and_control_characters(self):
        self.need_other_user()
        with Process(argv0="a\x1b[31m\nb\u0085c") as a:
            shown = self.gcdumpc("ps").stdout
            self.assertRegex(shown, rf"(?m)^ *{a.pid} .* HeapLab +a\?\[31m\?b\?c$")
            row = self.rows(**NOBODY)[a.pid]
            self.assertEqual((row["answer"], row["socket"], row["uid"]), ("no access", None, 0))

    def test_window(self):
        with Process(argv0="x" * 300) as a:
            terminal = Terminal(90)
            self.addCleanup(terminal.close)
            p = subprocess.Popen([PROGRAM, "ps"], stdout=terminal.theirs)
            lines = terminal.shown(p).splitlines()
            self.assertEqual(p.wait(), 0)
            self.assertLessEqual(max(map(len, lines)), 90)
            self.assertTrue(any(len(t) == 90 and t.split()[0] == str(a.pid) for t in lines), lines)

    def check_container(self, options, script, folder, **environment):
        """HeapLab in its own namespaces, made by unshare OPTIONS and SCRIPT, with its socket in FOLDER, which others cannot see."""
        if os.geteuid() != 0:
            self.skipTest("needs root, to make namespaces")
        unshare = ["unshare", "--fork", "--kill-child", "--mount", "--propagation", "private", *options]
        if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("namespaces cannot be made here")
        name = f"Inner{os.getpid()}"
        p = subprocess.Popen([*unshare, "sh", "-c", f"{script} && exec {self.other_name(name)}"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
        try:
            counts = json.loads(p.stdout.readline())
            inner = next(r["pid"] for r in self.rows().values() if r["name"] == name)
            row = self.rows(inner)[inner]
            self.assertRegex(row["socket"], rf"^/proc/{row['pid']}/root{re.escape(folder)}/dotnet-diagnostic-{counts['pid']}-\d+-socket$")
            self.assertNotEqual(counts["pid"], row["pid"])
            self.assertEqual((row["answer"], row["entry_assembly"]), ("ok", "HeapLab"))
            for words in (["--name", name], ["--pid", row["pid"]], ["--port", row["socket"]]):
                self.gcdumpc(*words, "-o", self.path("c.gclog"))
                found, _ = gclog_sums(self.path("c.gclog"))
                self.assertEqual(found["HeapLab.Extra"][0], counts["extra_objects"])
        finally:
            p.kill()
            p.communicate()

    def test_another_container(self):
        new = self.path("new")
        os.mkdir(new)
        script = f"mount -t tmpfs none {new} && mkdir {new}/real && ln -s {new}/real {new}/tmp"
        self.check_container(["--pid"], script, new + "/tmp", TMPDIR=new + "/tmp")

    def test_another_container_with_a_tmp_of_its_own(self):
        new, program = self.path("new"), os.path.realpath(os.path.dirname(self.other_name(f"Inner{os.getpid()}")))
        os.mkdir(new)
        script = f"mount -t tmpfs none {new}"
        if os.path.commonpath([program, "/tmp"]) == "/tmp":      # hiding /tmp must not hide the program
            inside = os.path.join(new, os.path.relpath(program, "/tmp"))
            script += f" && mkdir -p {inside} && mount --bind {program} {inside}"
        script += f" && mount --rbind {new} /tmp"
        self.check_container(["--pid", "--mount-proc"], script, "/tmp", TMPDIR="/tmp")


class Name(PsTest):
    """Other tests may run at the same time, so only processes with these names belong to this test."""

    def test_exact_before_pattern(self):
        name = f"Shop{os.getpid()}"
        program = self.other_name(name)
        with Process(program=program) as a, Process(program=self.other_name(name + "Two")) as b:
            for pattern, pid in ((name, a.pid), (name + "Two", b.pid), (f"S?op{os.getpid()}Tw[o]", b.pid)):
                r = self.gcdumpc("info", "--name", pattern, "--json")
                self.assertEqual(json.loads(r.stdout)["process"]["pid"], pid)
            r = self.gcdumpc("report", "--name", name + "*", status=2)
            lines = r.stderr.splitlines()
            self.assertEqual(lines[0], f'gcdumpc: 2 processes are called "{name}*"; choose one with --pid:')
            self.assertEqual([t.split() for t in lines[1:]],
                             [[str(p), c] for p, c in sorted([(a.pid, program), (b.pid, program + "Two")])])
            self.assertEqual(r.stdout, "")
            # both have the same assembly
            r = self.gcdumpc("--name", "HeapLab", "-o", self.path("a.gclog"), status=2)
            self.assertLessEqual({str(a.pid), str(b.pid)}, {t.split()[0] for t in r.stderr.splitlines()})
            r = self.gcdumpc("--name", name.lower(), "-o", self.path("a.gclog"), status=1)
            self.assertRegex(r.stderr, rf'^gcdumpc: no \.NET process is called "{name.lower()}".*\n$')

    def test_a_stopped_process_is_known_by_its_program(self):
        name = f"Stopped{os.getpid()}"
        with Process(program=self.other_name(name)) as a:
            a.process.send_signal(signal.SIGSTOP)
            try:
                r = self.gcdumpc("info", "--name", name, "--timeout", "1", status=1)
                self.assertRegex(r.stderr, rf"process {a.pid}: .*within 1000 ms")
                r = self.gcdumpc("info", "--name", name + "x", status=1)
                self.assertIn("do not answer", r.stderr)
                self.assertNotIn("another user", r.stderr)
            finally:
                a.process.send_signal(signal.SIGCONT)


class Port(PsTest):
    def test_path(self):
        with Process() as a:
            socket = self.rows(a.pid)[a.pid]["socket"]
            for port in (socket, "unix:" + socket, os.path.relpath(socket, self.folder)):
                r = self.gcdumpc("info", "--port", port, "--json", cwd=self.folder)
                self.assertEqual(json.loads(r.stdout)["process"]["pid"], a.pid)


class Recordings(PsTest):
    def read(self, name):
        with open(self.path(name), "rb") as f:
            data = f.read()
        return gzip.decompress(data) if name.endswith(".gz") else data

    def check_equal(self, target, *options, status=0, suffix=""):
        """Converting the kept recording gives the same output."""
        a, b, t = self.path("a.gclog"), self.path("b.gclog"), self.path("t.nettrace" + suffix)
        r = self.gcdumpc("--pid", target.pid, "-o", a, "--save-trace", t, *options, status=status)
        self.gcdumpc("convert", t, "-o", b, status=status)
        self.assertTrue(self.read("a.gclog") == self.read("b.gclog"))
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(map(os.path.basename, (a, b, t))))
        self.assertEqual(os.stat(t).st_mode & 0o777, 0o600)
        data = self.read("t.nettrace" + suffix)
        self.assertEqual(data[:8], b"Nettrace")
        self.assertIn(f"{os.path.getsize(t):,} bytes of nettrace written", r.stderr)
        return r

    def test_converted_they_give_the_same(self):
        with Process() as target:
            self.check_equal(target)
            self.check_equal(target, "--rundown")
        os.unlink(self.path("t.nettrace"))
        with Process("--objects", "200000", DOTNET_gcServer="1", DOTNET_GCHeapCount="2") as target:
            self.check_equal(target, suffix=".gz")

    def test_incomplete_ones_too(self):
        with Process("--objects", "1000000") as target:
            r = self.check_equal(target, "--buffer", "1", "--retries", "0", status=3)
            self.assertIn("INCOMPLETE", r.stderr)
            for name in os.listdir(self.folder):
                os.unlink(self.path(name))
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("x.nettrace"), "--buffer", "1", "--retries", "0", status=3)
            self.assertIn("written, INCOMPLETE", r.stderr)
            self.gcdumpc("info", self.path("x.nettrace"), status=3)
            os.unlink(self.path("x.nettrace"))
            for words in (["-o", "x.nettrace"], ["-o", "x.gclog", "--save-trace", "y.nettrace"]):
                self.gcdumpc("--pid", target.pid, *words, "--buffer", "1", "--retries", "0", "--strict", status=1, cwd=self.folder)
                self.assertEqual(os.listdir(self.folder), [])

    def test_only_recorded(self):
        with Process() as target:
            for words in (["-o", "x.nettrace"], ["-o", "x.nettrace.gz"], ["-o", "x.gz", "-f", "nettrace"]):
                r = self.gcdumpc("--pid", target.pid, *words, cwd=self.folder)
                self.assertRegex(r.stderr, r"objects, .* bytes of nettrace with [\d,]+ names written, complete\n$")
                found = json.loads(self.gcdumpc("info", self.path(words[1]), "--json").stdout)
                self.assertTrue(found["verdict"]["complete"])
                self.assertEqual(found["trace"]["end"], "closed")
                self.assertEqual(found["trace"]["bytes"], len(self.read(words[1])))
                self.assertEqual(os.listdir(self.folder), [words[1]])
                os.unlink(self.path(words[1]))
            out = subprocess.run([PROGRAM, "--pid", str(target.pid), "-o", "-", "-f", "nettrace"], stdout=subprocess.PIPE, check=True).stdout
            self.assertEqual(out[:8], b"Nettrace")

    def test_beside_a_report(self):
        with Process() as target:
            kept = self.path("t.nettrace")
            live = json.loads(self.gcdumpc("report", "--pid", target.pid, "--json", "--save-trace", kept).stdout)
            again = json.loads(self.gcdumpc("report", kept, "--json").stdout)
            self.assertEqual({**live, "recording": 0}, {**again, "recording": 0})

    def test_a_failure_leaves_nothing(self):
        with Process() as target:
            words = ["--pid", target.pid, "-o", "x.gclog", "--save-trace", "y.nettrace"]
            target.process.send_signal(signal.SIGSTOP)
            r = self.gcdumpc(*words, "--timeout", "1", status=1, cwd=self.folder)
            self.assertRegex(r.stderr, r"within 1000 ms")
            self.assertEqual(os.listdir(self.folder), [])
            p = subprocess.Popen([PROGRAM, *map(str, words)], stderr=subprocess.PIPE, text=True, cwd=self.folder)
            wait_for_lock(target)
            end = time.monotonic() + SECONDS
            while len(os.listdir(self.folder)) < 2 and time.monotonic() < end:
                time.sleep(0.01)
            self.assertEqual(len(os.listdir(self.folder)), 2)        # temporary files
            p.send_signal(signal.SIGINT)
            p.send_signal(signal.SIGINT)
            p.send_signal(signal.SIGTERM)                            # a second Ctrl-C does not wait
            _, err = p.communicate(timeout=SECONDS)
            self.assertEqual((p.returncode, os.listdir(self.folder)), (130, []), err)
            target.process.send_signal(signal.SIGCONT)
            full = ["--pid", target.pid, "-o", self.path("x.gclog"), "--save-trace", "/dev/full"]
            self.assertIn("/dev/full: ", self.gcdumpc(*full, status=1).stderr)
            self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    main()
