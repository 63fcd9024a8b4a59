"""gcdumpc watch: the dump before a process dies of its memory, cool-down, restarts, signals, two watchers."""
import glob
import json
import os
import re
import signal
import time

from lab_programs import alloc_lab
from live_support import NOBODY, SECONDS, LiveTest, Process, lock_of, main, need, own_runtime, resident_mb

LIMIT_MB = 400
RATE = 50                        # MB a second
# Dumps before the end; all 50 with GCDUMPC_TEST_WATCH=50.
DEATHS = int(os.environ.get("GCDUMPC_TEST_WATCH", "1"))
# Else .NET itself gives up at 75 % of the limit, which is no kill.
ENVIRONMENT = {"DOTNET_GCHeapHardLimitPercent": "63"}
NAME = "%n-%p-%Y%m%dT%H%M%SZ"


class Watch(LiveTest):
    def leaking(self, cgroup=None, rate=RATE):
        """AllocLab, which keeps RATE MB more each second after leak()."""
        program = need(alloc_lab, own_runtime())
        if cgroup is None:
            return Process("1000", "leak", str(rate), program=program, **ENVIRONMENT)
        # its memory is charged to the cgroup from its first page on
        return Process("-c", f'echo $$ > {cgroup}/cgroup.procs; exec "$@"', "sh", program, "1000", "leak", str(rate), program="/bin/sh", **ENVIRONMENT)

    @staticmethod
    def leak(target):
        target.process.stdin.write("\n")
        target.process.stdin.flush()

    def start_watch(self, *words):
        return self.start_gcdumpc("watch", *words)

    def said(self, watcher, pattern):
        """Reads the messages of WATCHER up to one that matches."""
        for line in watcher.stderr:
            if re.search(pattern, line):
                return line
        raise AssertionError(f"no message {pattern}")

    def found(self, pattern):
        return sorted(glob.glob(self.path(pattern)))

    def check_dump(self, path, least):
        r = self.gcdumpc("report", path, "--json")
        report = json.loads(r.stdout)
        self.assertTrue(report["verdict"]["complete"], r.stdout[:1000])
        counts = {t["type"]: t["count"] for t in report["types"]}
        self.assertGreaterEqual(counts["AllocLab.Node"], least)

    def test_the_dump_is_there_before_the_kill(self):
        cgroup = self.cgroup(LIMIT_MB)
        for i in range(DEATHS):
            with self.leaking(cgroup) as target:
                watcher = self.start_watch("--pid", target.pid, "--when", "rss > 80%", "-o", self.path(f"{i}-{NAME}.nettrace.gz"), "--once")
                self.said(watcher, "is watched")
                self.leak(target)
                target.process.wait(SECONDS)
                _, messages = watcher.communicate(timeout=SECONDS)
                self.assertEqual(watcher.returncode, 0, messages)
                # it was killed, or .NET gave up at 99 %: in any case after the dump
                self.assertIn(target.process.returncode, (-signal.SIGKILL, -signal.SIGABRT))
                figures = re.search(r"rss > 80%: rss ([\d.]+) MiB, limit 400\.0 MiB \(of its cgroup\)", messages)
                self.assertGreaterEqual(float(figures[1]), 320)  # rounded
                self.assertLess(float(figures[1]), 345)          # a third of a second late at most
                [path] = self.found(f"{i}-AllocLab-{target.pid}-*.nettrace.gz")
                self.check_dump(path, 15000)

    def test_events_where_the_memory_may_not_be_read(self):
        cgroup = self.cgroup(LIMIT_MB)
        with self.leaking(cgroup) as target:
            watcher = self.start_watch("--pid", target.pid, "--when", "rss > 70%", "-o", self.path(f"{NAME}.nettrace.gz"), "--once", "--strategy", "drain")
            self.said(watcher, "is watched")
            self.leak(target)
            _, messages = watcher.communicate(timeout=SECONDS)
            self.assertEqual(watcher.returncode, 0, messages)
            self.assertIn("paused", messages)
            self.check_dump(self.found("AllocLab-*.nettrace.gz")[0], 12000)

    def test_growth_a_summary_first_and_two_outputs(self):
        with self.leaking(rate=20) as target:
            watcher = self.start_watch("--pid", target.pid, "--when", "growth/1m > 30M", "--once", "--keep", "2", "--summary-first", "--summary",
                                       self.path(f"{NAME}.json"), "-o", self.path(f"{NAME}.nettrace.gz"), "-o", self.path(f"{NAME}.gcdump"))
            self.said(watcher, "is watched")
            before = resident_mb(target.pid)
            self.leak(target)
            line = self.said(watcher, "it is dumped")
            mib = float(re.search(r"growth/1m > 30M: rss ([\d.]+) MiB", line)[1])
            self.assertGreater(mib * 1.048576, before + 29)
            watcher.communicate(timeout=SECONDS)
            self.assertEqual(watcher.returncode, 0)
        order = [os.stat(self.found(f"AllocLab-*.{suffix}")[0]).st_mtime_ns for suffix in ("json", "nettrace.gz", "gcdump")]
        self.assertEqual(order, sorted(order))
        with open(self.found("*.json")[0], encoding="utf-8") as f:
            self.assertEqual(json.load(f)["pid"], target.pid)

    def test_cool_down_restarts_and_the_end(self):
        watcher = self.start_watch("--name", "AllocLab", "--when", "rss > 10M", "--cooldown", "2s", "-o", self.path(f"{NAME}.gcdump"))
        pids = []
        for _ in range(2):
            with self.leaking() as target:
                pids.append(target.pid)
                self.said(watcher, rf"process {target.pid} \(AllocLab\): is watched")
                self.said(watcher, rf"process {target.pid} .*it is dumped")
                first = time.monotonic()
                self.said(watcher, "gcdump written")
                self.said(watcher, rf"process {target.pid} .*it is dumped")
                self.assertGreater(time.monotonic() - first, 1.9)
                self.said(watcher, "gcdump written")
            self.said(watcher, rf"process {target.pid} .*has ended")
        watcher.send_signal(signal.SIGTERM)
        watcher.communicate(timeout=SECONDS)
        self.assertEqual(watcher.returncode, 0)
        for pid in pids:
            self.assertGreaterEqual(len(self.found(f"AllocLab-{pid}-*.gcdump")), 2)

    def test_signals(self):
        """A dump at hand is given up: no file is there, and the process goes on."""
        for sent, status in ((signal.SIGTERM, 0), (signal.SIGINT, 130)):
            with self.leaking() as target, lock_of(target):
                watcher = self.start_watch("--pid", target.pid, "--when", "rss > 10M", "--wait", SECONDS, "-o", self.path(f"{NAME}.gcdump"))
                self.said(watcher, "it is dumped")
                time.sleep(0.5)                                  # it waits for the lock
                watcher.send_signal(sent)
                watcher.communicate(timeout=SECONDS)
                self.assertEqual(watcher.returncode, status)
                self.assertEqual(self.found("*"), [])
                with open(f"/proc/{target.pid}/stat", encoding="ascii") as f:
                    self.assertNotIn(f.read().rsplit(")", 1)[1].split()[0], "Tt")

    def test_two_watchers(self):
        """One of them dumps, the other one tries again later."""
        with self.leaking() as target:
            watchers = [self.start_watch("--pid", target.pid, "--when", "rss > 10M", "-o", self.path(f"{i}-{NAME}.gcdump"), "--once", "--wait", "60")
                        for i in range(2)]
            for i, watcher in enumerate(watchers):
                _, messages = watcher.communicate(timeout=SECONDS)
                self.assertEqual(watcher.returncode, 0, messages)
                self.assertEqual(len(self.found(f"{i}-AllocLab-*.gcdump")), 1)

    def test_a_failed_dump_is_tried_again(self):
        with self.leaking() as target:
            folder = self.path("later")
            with open(folder, "w", encoding="ascii"):            # a file where a folder is wanted
                pass
            watcher = self.start_watch("--pid", target.pid, "--when", "rss > 10M", "--cooldown", "1s", "-o", f"{folder}/{NAME}.gcdump")
            self.said(watcher, "it is dumped")
            os.unlink(folder)
            self.said(watcher, "gcdump written")
            target.process.kill()
            watcher.communicate(timeout=SECONDS)
            self.assertEqual(watcher.returncode, 0)              # that of the last dump

    def test_a_summary_where_no_output_can_be_written(self):
        with self.leaking() as target:
            nowhere = self.path("file")                          # a file where a folder is wanted
            with open(nowhere, "w", encoding="ascii"):
                pass
            watcher = self.start_watch("--pid", target.pid, "--when", "rss > 10M", "--once", "--keep", "2", "--summary", self.path(f"{NAME}.json"),
                                       "-o", f"{nowhere}/{NAME}.gcdump")
            _, messages = watcher.communicate(timeout=SECONDS)
            self.assertEqual(watcher.returncode, 1, messages)
            self.assertIn("trying the summary alone", messages)
            self.assertEqual(len(self.found("AllocLab-*.json")), 1, messages)

    def test_it_waits_for_a_process(self):
        watcher = self.start_watch("--name", "NoSuchProgram", "--when", "rss > 1M", "-o", self.path(f"{NAME}.gcdump"))
        self.said(watcher, "NoSuchProgram: no such process yet; waiting for it")
        watcher.send_signal(signal.SIGTERM)
        watcher.communicate(timeout=SECONDS)
        self.assertEqual(watcher.returncode, 0)
        r = self.gcdumpc("watch", "--pid", os.getpid(), "--when", "rss > 1M", "-o", self.path(f"{NAME}.gcdump"), status=1)
        self.assertIn("is no .NET process that can be dumped", r.stderr)

    def test_a_process_of_another_user(self):
        """That it cannot be dumped is said at once, not when its memory runs out."""
        self.need_other_user()
        with self.leaking() as target:
            watcher = self.start_gcdumpc("watch", "--pid", target.pid, "--when", "rss > 99%", "-q", "-o", self.path(f"{NAME}.gcdump"), **NOBODY)
            self.said(watcher, f"process {target.pid} .*is watched, but cannot be dumped: it belongs to another user; run gcdumpc as that user or as root")
            watcher.send_signal(signal.SIGTERM)
            watcher.communicate(timeout=SECONDS)
            self.assertEqual(watcher.returncode, 0)

    def test_dry_run_and_conditions_of_collect(self):
        with self.leaking() as target:
            r = self.gcdumpc("watch", "--pid", target.pid, "--when", "rss > 1M", "--when", "left < 1K", "--dry-run")
            self.assertRegex(r.stdout, rf"\Aprocess {target.pid} \(AllocLab\): rss > 1M: rss [\d.]+ MiB; true now\n"
                                       rf"process {target.pid} \(AllocLab\): left < 1K: left [\d.]+ [MG]iB\n\Z")
            self.assertEqual(r.stderr, "")
            for name, bad in ((self.path("%n-%Y%m%dT%H%M%S.gcdump"), False), (self.path("no/%Y%m%dT%H%M%S.gcdump"), True)):
                r = self.gcdumpc("watch", "--pid", target.pid, "--when", "rss > 99G", "--dry-run", "-o", name)
                wanted = f"gcdumpc: a dump could not be written to {name} now: {self.path('no')}: No such file or directory\n" if bad else ""
                self.assertEqual(r.stderr, wanted)
            r = self.gcdumpc("collect", "--pid", target.pid, "--when", "rss > 99G", "-o", self.path("a.gcdump"), "--skip-status", 7, "--log", "text", status=7)
            self.assertIn("rss > 99G is not true: rss", r.stderr)
            self.assertEqual(self.found("*"), [])
            self.gcdumpc("collect", "--pid", target.pid, "--when", "rss > 99G", "--when", "rss > 1M", "-o", self.path("a.gcdump"), "-q")
            self.assertEqual(len(self.found("a.gcdump")), 1)
            r = self.gcdumpc("collect", "--pid", target.pid, "--when", "growth/1m > 1M", "-o", self.path("b.gcdump"), status=2)
            self.assertIn("only gcdumpc watch", r.stderr)

    def test_what_it_costs(self):
        """It sleeps: a few system calls a second, whatever it watches.  (Processor time is measured in tests/bench.)"""
        with self.leaking() as target:
            watcher = self.start_watch("--pid", target.pid, "--when", "rss > 90%", "-o", self.path(f"{NAME}.gcdump"))
            self.said(watcher, "is watched")
            switches = self.switches(watcher.pid)
            time.sleep(3)
            self.assertLess(self.switches(watcher.pid) - switches, 30)
            watcher.send_signal(signal.SIGTERM)
            watcher.communicate(timeout=SECONDS)

    @staticmethod
    def switches(pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", f.read(), re.M)[1])


if __name__ == "__main__":
    main()
