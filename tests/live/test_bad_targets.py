"""Processes that cannot be dumped: one line with the reason and a hint, exit status 1, nothing left behind, the target unharmed."""
import os
import signal
import socket
import subprocess

from live_support import NOBODY, LiveTest, Process, main
from record_nettrace import find_socket


class BadTargets(LiveTest):
    def refused(self, pattern, *target, output="a.gclog", **kw):
        """PATTERN must match the only line."""
        before = self.files()
        r = self.gcdumpc(*target, "-o", self.path(output), status=1, **kw)
        self.assertEqual(r.stdout, "")
        self.assertRegex(r.stderr, r"^gcdumpc: [^\n]+\n$")
        self.assertRegex(r.stderr, pattern)
        self.assertEqual(self.files(), before)

    def check_untouched(self, target):
        self.check_sessions(target)
        self.assertEqual(self.gcdumpc("--pid", target.pid, "-o", self.path("whole.gclog")).returncode, 0)
        os.unlink(self.path("whole.gclog"))

    def test_no_such_process(self):
        p = subprocess.Popen(["true"])
        os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOWAIT)
        self.refused(rf"process {p.pid} is a zombie", "--pid", p.pid)
        p.wait()
        self.refused(rf"no process {p.pid}\b.*gcdumpc ps", "--pid", p.pid)

    def test_not_dotnet(self):
        sleeper = subprocess.Popen(["sleep", "600"])
        try:
            self.refused(r"not a \.NET process", "--pid", sleeper.pid)
        finally:
            sleeper.kill()
            sleeper.wait()

    def test_a_thread(self):
        with Process() as target:
            thread = max(map(int, os.listdir(f"/proc/{target.pid}/task")))
            self.refused(rf"thread of process {target.pid}", "--pid", thread)

    def test_diagnostics_off(self):
        for variable in ("DOTNET_EnableDiagnostics", "DOTNET_EnableDiagnostics_IPC", "COMPlus_EnableDiagnostics"):
            with self.subTest(variable=variable), Process(**{variable: "0"}) as target:
                self.refused(r"DOTNET_EnableDiagnostics=0", "--pid", target.pid)
                self.assertIsNone(target.process.poll())

    def test_other_user(self):
        self.need_other_user()
        os.chmod(self.folder, 0o777)
        with Process() as target:
            self.refused(r"root|owner", "--pid", target.pid, **NOBODY)
            self.refused(r"root|owner", "--port", find_socket(target.pid), **NOBODY)
            self.check_untouched(target)

    def test_nobody_listens(self):
        with Process() as target:
            path = find_socket(target.pid)
            os.rename(path, path + ".kept")
            try:
                self.refused(r"the file was removed", "--pid", target.pid)
                with socket.socket(socket.AF_UNIX) as s:
                    s.bind(path)                     # its owner never listens, like after a kill
                self.refused(r"nobody listens", "--pid", target.pid)
                self.refused(r"nobody listens", "--port", path)
                os.unlink(path)
            finally:
                os.rename(path + ".kept", path)
            self.check_untouched(target)

    def test_stopped(self):
        with Process() as target:
            os.kill(target.pid, signal.SIGSTOP)
            try:
                self.refused(r"has not answered within 10000 ms: it is stopped", "--pid", target.pid, "--quiet")
                r = self.gcdumpc("--pid", target.pid, "-o", self.path("a.gclog"), status=1)
                self.assertRegex(r.stderr, r"silent for 8 s: it is stopped by a signal or a debugger.*3600 s")
            finally:
                os.kill(target.pid, signal.SIGCONT)
            self.check_untouched(target)

    def test_port_is_held(self):
        with Process() as target, socket.socket(socket.AF_UNIX) as idle:
            idle.connect(find_socket(target.pid))    # and sends nothing: the runtime waits for its request forever
            self.refused(r"has not answered within 10000 ms: .*busy with another client", "--pid", target.pid, "--quiet")
            idle.close()
            self.check_untouched(target)

    def test_forged_socket(self):
        """Another process listens under the name of the process: no user, least of all root, may accept its data."""
        with Process() as target, socket.socket(socket.AF_UNIX) as forged:
            path = find_socket(target.pid)
            os.rename(path, path + ".kept")
            try:
                forged.bind(path)
                forged.listen()
                self.refused(rf"no diagnostic socket: .* belongs to process {os.getpid()}", "--pid", target.pid)
                if os.geteuid() == 0:
                    os.chown(path, NOBODY["user"], -1)
                    self.refused(rf"no diagnostic socket: .* belongs to user {NOBODY['user']}", "--pid", target.pid)
                self.assertNotRegex(self.gcdumpc("ps").stdout, rf"(?m)^ *{target.pid} .* events")     # only by its memory
                os.unlink(path)
            finally:
                os.rename(path + ".kept", path)
            self.check_untouched(target)

    def test_output_that_cannot_be_written(self):
        with Process() as target:
            self.refused(r"no/such: .*folder|folder.*no/such", "--pid", target.pid, output="no/such/a.gclog")
            self.refused(r"is a (folder|directory)", "--pid", target.pid, output=".")
            self.check_untouched(target)

    def test_folder_of_another_user(self):
        self.need_other_user()
        os.chmod(self.folder, 0o755)
        with subprocess.Popen(["sleep", "60"], **NOBODY) as own:
            self.refused(r"[Pp]ermission", "--pid", own.pid, **NOBODY)
            own.kill()


if __name__ == "__main__":
    main()
