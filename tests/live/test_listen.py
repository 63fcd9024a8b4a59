"""--listen with real .NET processes that connect to us.  Needs the .NET SDK; without it the test is skipped."""
import json
import os
import re
import signal
import socket
import stat
import subprocess
import time

from live_support import PROGRAM, SECONDS, LiveTest, Process, check_counts, gclog_sums, heaplab, main


class ReverseTest(LiveTest):
    def start(self, *args, command="report", port="port"):
        """gcdumpc, listening."""
        p = subprocess.Popen([PROGRAM, command, "--listen", self.path(port), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        for _ in range(1000):
            if os.path.exists(self.path(port)) or p.poll() is not None:
                break
            time.sleep(0.01)
        return p

    def finish(self, p, status=0):
        out, err = p.communicate(timeout=120)
        self.assertEqual(p.returncode, status, out[-300:] + err)
        self.assertFalse(os.path.exists(self.path("port")))
        return out, err

    def check_whole(self, target, report):
        self.assertEqual([], list(check_counts.check_types(target.counts(), json.loads(report), False)))


class Reverse(ReverseTest):
    def test_both_ways_to_start(self):
        for mode in ("", ",suspend", ",nosuspend", ",connect,suspend"):
            with self.subTest(mode=mode):
                p = self.start("--json", "--delay", "3")
                mode_of_file = os.stat(self.path("port")).st_mode
                self.assertTrue(stat.S_ISSOCK(mode_of_file))
                self.assertEqual(stat.S_IMODE(mode_of_file), 0o600)
                with Process(DOTNET_DiagnosticPorts=self.path("port") + mode) as target:
                    out, err = self.finish(p)
                    self.assertIn(f"DOTNET_DiagnosticPorts={self.path('port')}\n", err)
                    self.assertRegex(err, rf"process {target.pid}: has connected: {re.escape(heaplab())}")
                    self.check_whole(target, out)
                    self.assertIsNone(target.process.poll())
                    # it lives on, and both ways reach it
                    self.check_whole(target, self.gcdumpc("report", "--pid", target.pid, "--json").stdout)
                    out, err = self.finish(self.start("--json", "-q", "--strategy", "single"))
                    self.assertEqual(err, "")
                    self.check_whole(target, out)

    def test_at_once(self):
        # Without a delay the program has hardly started, but the dump is valid.
        for mode in ("suspend", "nosuspend"):
            p = self.start("-o", self.path("a.gclog"), command="collect")
            with Process(DOTNET_DiagnosticPorts=f"{self.path('port')},{mode}") as target:
                _, err = self.finish(p)
                self.assertRegex(err, r"a\.gclog: [\d,]+ objects, .*, complete\n")
                self.assertTrue(target.line.startswith("{"))

    def test_address_in_another_form(self):
        p = subprocess.Popen([PROGRAM, "info", "--json", "--listen", "unix:port"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             cwd=self.folder)
        with Process(DOTNET_DiagnosticPorts=self.path("port") + ",nosuspend") as target:
            out, err = self.finish(p)
            self.assertIn(f"DOTNET_DiagnosticPorts={self.path('port')}\n", err)
            self.assertEqual(json.loads(out)["process"]["pid"], target.pid)

    def test_two_programs(self):
        p = self.start("--json", "--delay", "3")
        environment = {"DOTNET_DiagnosticPorts": self.path("port") + ",nosuspend"}
        with Process(**environment) as a, Process(**environment) as b:
            out, err = self.finish(p)
            chosen, other = (a, b) if f"process {a.pid}: has connected" in err else (b, a)
            self.assertIn(f"process {chosen.pid}: has connected", err)
            self.assertNotIn(f"process {other.pid}", err)
            self.assertRegex(err, r"1 other program connected, too")
            self.check_whole(chosen, out)
            self.assertIsNone(other.process.poll())
            self.check_whole(other, self.gcdumpc("report", "--pid", other.pid, "--json").stdout)

    def test_interrupted(self):
        for signals in (1, 2):
            p = self.start()
            for _ in range(signals):
                p.send_signal(signal.SIGINT)
            _, err = self.finish(p, 130)
            if signals == 1:
                self.assertRegex(err.splitlines()[-1], r"port: interrupted$")
        p = self.start("--delay", "600")
        with Process(DOTNET_DiagnosticPorts=self.path("port") + ",nosuspend") as target:
            p.send_signal(signal.SIGTERM)
            self.finish(p, 130)
            self.check_whole(target, self.gcdumpc("report", "--pid", target.pid, "--json").stdout)

    def test_program_ends_before_the_dump(self):
        p = self.start("--delay", "600")
        with Process(DOTNET_DiagnosticPorts=self.path("port")) as target:
            target.process.kill()
            _, err = self.finish(p, 1)
            self.assertRegex(err.splitlines()[-1], rf"process {target.pid}: .*the process has ended$")

    def test_nobody_comes(self):
        _, err = self.finish(self.start("--timeout", "1", "-q"), 1)
        self.assertEqual(err, f"gcdumpc: {self.path('port')}: no runtime has connected within 1000 ms\n")

    def test_address_that_cannot_be(self):
        def refused(address, pattern, status=1):
            before = sorted(os.listdir(self.folder))
            r = self.gcdumpc("report", "--listen", address, status=status)
            self.assertRegex(r.stderr, pattern)
            self.assertEqual(len(r.stderr.splitlines()), 1, r.stderr)
            self.assertEqual(sorted(os.listdir(self.folder)), before)
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(self.path("live"))
            s.listen()
            refused(self.path("live"), r"cannot listen at .*live: another program does")
        with open(self.path("file"), "wb"):
            refused(self.path("file"), r"cannot listen at .*file: a file with that name exists and is not a socket")
        refused(self.path("none/port"), r"cannot listen at .*port: there is no such folder")
        refused("a,b", r"--listen takes the path of a socket", 2)
        # "live" is stale by now
        _, err = self.finish(self.start("--timeout", "1", port="live"), 1)
        self.assertIn("no runtime has connected", err)
        self.assertFalse(os.path.exists(self.path("live")))


class Limits(ReverseTest):
    """A dump by --listen has everything that one by --pid has: the process is known."""

    def collect(self, *options, status=0):
        """Dumps by --listen into a.gclog; returns the running target and the messages."""
        p = self.start("-o", self.path("a.gclog"), "--delay", "2", *options, command="collect")
        target = Process("--objects", "1000000", DOTNET_DiagnosticPorts=self.path("port"))
        self.addCleanup(target.__exit__)
        _, err = self.finish(p, status)
        return target, err

    def test_two_attempts_at_one_port(self):
        target, err = self.collect("--buffer", "4", "--names", "raw")
        self.assertRegex(err, rf"process {target.pid}: attempt 1: .* [1-9][\d,]* lost; drain, CollectTracing\d, buffer 4 MiB")
        self.assertRegex(err, r"events were lost; attempt 2 with a buffer of \d{3,} MiB")
        self.assertRegex(err, r"attempt 2: .* none lost; drain")
        found, _ = gclog_sums(self.path("a.gclog"))
        self.assertEqual({name: found.get(name, (0, 0))[0] for name in target.wanted()}, target.wanted())
        self.check_sessions(target)
        self.check_counts(target)

    def test_the_largest_buffer(self):
        target, err = self.collect("--buffer", "2", "--max-buffer", "3", "--retries", "5", status=3)
        self.assertIn("attempt 2 with a buffer of 3 MiB", err)
        self.assertIn("no further attempt: the buffer already had the largest size (3 MiB, --max-buffer)", err)
        self.check_sessions(target)

    def test_the_summary_has_the_memory(self):
        target, err = self.collect()
        summary = re.search(rf"process {target.pid}: pause [\d,]+ ms.*; [\d,]+ objects in \d+ MiB of events, none lost; "
                            r"memory ([\d,]+) MiB, peak ([\d,]+) MiB, after ([\d,]+) MiB; (?:GC heap before [\d,]+ MiB; )?drain, CollectTracing\d, buffer (\d+) MiB; ", err)
        self.assertIsNotNone(summary, err)
        before, peak, after, _ = map(int, summary.groups())
        self.assertTrue(before < peak and after <= peak, err)

    def test_one_dump_at_a_time(self):
        port = self.start("-o", self.path("a.gclog"), "--delay", "2", command="collect")
        with Process(DOTNET_DiagnosticPorts=self.path("port") + ",nosuspend") as target:
            target.process.send_signal(signal.SIGSTOP)
            first = self.start_gcdumpc("info", "--pid", target.pid, "--timeout", SECONDS)
            try:
                _, err = self.finish(port, 1)
                self.assertRegex(err, rf"process {target.pid}: another dump of it is under way, by process {first.pid}\n$")
                self.assertEqual(self.files(), [])
            finally:
                target.process.send_signal(signal.SIGCONT)
            _, err = first.communicate(timeout=SECONDS)
            self.assertEqual(first.returncode, 0, err)


if __name__ == "__main__":
    main()
