"""--listen with real .NET processes that connect to us.  Needs the .NET SDK; without it the test is skipped."""
import json
import os
import re
import signal
import socket
import stat
import subprocess
import time

from live_support import PROGRAM, SECONDS, LiveTest, Process, check_counts, gclog_sums, heaplab, lock_of, main


DELAYS = 3, 10, 30, 90           # seconds until the dump; a process needs less than one for its start, on a busy machine many


class ReverseTest(LiveTest):
    def start(self, *args, command="report", port="port"):
        """gcdumpc, listening."""
        p = subprocess.Popen([PROGRAM, command, "--listen", self.path(port), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        end = time.monotonic() + SECONDS
        while not os.path.exists(self.path(port)) and p.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        return p

    def finish(self, p, status=0):
        out, err = p.communicate(timeout=SECONDS)
        self.assertEqual(p.returncode, status, (out or "")[-300:] + err)
        self.assertFalse(os.path.exists(self.path("port")))
        return out, err

    def dumped(self, start, mode="", status=0, count=1, words=()):
        """COUNT processes, dumped when they were ready, and gcdumpc's output and messages.  START(*options): gcdumpc, and the path where it listens."""
        for delay in DELAYS:
            p, path = start("--delay", str(delay))
            begun = time.monotonic()
            targets = [Process(*words, DOTNET_DiagnosticPorts=path + mode) for _ in range(count)]
            for target in targets:
                self.addCleanup(target.__exit__)
            if time.monotonic() - begun < delay:
                return targets, *self.finish(p, status)
            p.communicate(timeout=SECONDS)               # it has dumped a program that had hardly started
            for target in targets:
                target.__exit__()
        return self.fail("the machine is too busy: its processes are not ready in time")

    def at_port(self, *words, command="report"):
        """For dumped()."""
        return lambda *options: (self.start(*words, *options, command=command), self.path("port"))

    def check_whole(self, target, report):
        self.assertEqual([], list(check_counts.check_types(target.counts(), json.loads(report), False)))


class Reverse(ReverseTest):
    def test_both_ways_to_start(self):
        for mode in ("", ",suspend", ",nosuspend", ",connect,suspend"):
            with self.subTest(mode=mode):
                (target,), out, err = self.dumped(self.at_port("--json"), mode)
                self.assertIn(f"DOTNET_DiagnosticPorts={self.path('port')}\n", err)
                self.assertRegex(err, rf"process {target.pid}: has connected: {re.escape(heaplab())}")
                self.check_whole(target, out)
                self.assertIsNone(target.process.poll())
                # it lives on, and both ways reach it
                self.check_whole(target, self.gcdumpc("report", "--pid", target.pid, "--json").stdout)
                p = self.start("--json", "-q", "--strategy", "single")
                out, err = self.finish(p)
                self.assertEqual(err, "")
                self.check_whole(target, out)
                target.__exit__()                        # it would connect to the next one

    def test_the_file_of_the_port(self):
        p = self.start("--delay", "3")
        mode = os.stat(self.path("port")).st_mode
        self.assertTrue(stat.S_ISSOCK(mode))
        self.assertEqual(stat.S_IMODE(mode), 0o600)
        p.send_signal(signal.SIGINT)
        self.finish(p, 130)

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
        (a, b), out, err = self.dumped(self.at_port("--json"), ",nosuspend", count=2)
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
        port = self.at_port("-o", self.path("a.gclog"), *options, command="collect")
        (target,), _, err = self.dumped(port, status=status, words=("--objects", "1000000"))
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
        target, err = self.collect("--verbose")
        self.assertRegex(err, rf"process {target.pid}: paused [\d,]+ ms; [\d,]+ objects, complete; [\d.]+ s\n")
        summary = re.search(rf"process {target.pid}: pause [\d,]+ ms.*; [\d,]+ objects in \d+ MiB of events, none lost; "
                            r"memory ([\d,]+) MiB, peak ([\d,]+) MiB, after ([\d,]+) MiB; (?:GC heap before (?:less than )?[\d,]+ MiB; )?drain, CollectTracing\d, buffer (\d+) MiB; ", err)
        self.assertIsNotNone(summary, err)
        before, peak, after, _ = map(int, summary.groups())
        self.assertTrue(before <= peak and after <= peak, err)

    def test_one_dump_at_a_time(self):
        port = self.start("-o", self.path("a.gclog"), "--delay", "20", command="collect")
        with Process(DOTNET_DiagnosticPorts=self.path("port") + ",nosuspend") as target, lock_of(target):
            _, err = self.finish(port, 1)
            self.assertRegex(err, rf"process {target.pid}: another dump of it is under way, by process {os.getpid()}\n$")
            self.assertEqual(self.files(), [])


if __name__ == "__main__":
    main()
