"""Dumps of the memory of a living process: what it says itself, exactly, while it allocates without pause; and it never stays stopped."""
import glob
import json
import os
import random
import re
import signal
import subprocess
import time
import unittest

from lab_programs import alloc_lab
from live_support import NOBODY, PROGRAM, RUNTIMES, SECONDS, LiveTest, Process, check_counts, check_stacks, gclog_sums, heaplab, main, need, own_runtime, type_counts, wait_for_frames

LONG = os.environ.get("GCDUMPC_TEST_DIRECT") == "long"       # as the issue asks; else what CI has time for
ALL = range(8, 12) if LONG else sorted({own_runtime(), RUNTIMES[-1]})
DUMPS, KILLS, KEPT = (1000, 300, 200_000) if LONG else (30, 20, 20_000)
SERVER = {"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2"}
SEGMENTS = {"DOTNET_GCName": "libclrgc.so"}
DYNAMIC = ("HeapLab.<b>\"&'</b>", "HeapLab.\U0001f600")       # their metadata are in no file, and nowhere as one
NO_DIAGNOSTICS = {"DOTNET_EnableDiagnostics": "0"}
SAID = re.compile(r"stopped ([\d,]+) ms(?: \((\d+) tries, ([\d,]+) ms before\))?, no garbage collection; ")
# what makes a process refuse to be read by gcdumpc, in a message
REASONS = r"a garbage collection was under way|could not be walked|led to nothing|could not be copied in time|could not be stopped for longer|not all of its threads"


def states(pid):
    """The states of its threads (proc(5)): "t" = stopped by a debugger."""
    found = set()
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                found.add(f.read().rsplit(")", 1)[1].split()[0])
        except OSError:
            pass
    return found


def wait_until_it_runs(test, target):
    """No thread is stopped or traced, and it works."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with open(f"/proc/{target.pid}/status", encoding="utf-8", errors="replace") as f:
            traced = re.search(r"TracerPid:\s+(\d+)", f.read())[1] != "0"
        if not traced and not states(target.pid) & {"t", "T"}:
            return
        time.sleep(0.005)
    test.fail(f"the process stays stopped: {states(target.pid)}")


def processor_time(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


class Direct(LiveTest):
    def check(self, target, *options):
        """What the process says of itself, exactly."""
        wait_for_frames(target)
        r = self.gcdumpc("report", "--pid", target.pid, "--direct", "--json", *options)
        self.assertRegex(r.stderr, SAID)
        report = json.loads(r.stdout)
        self.check_report(target, report)
        self.assertNotIn("t", states(target.pid))
        self.check_threads(target)
        return report

    def check_threads(self, target):
        with open(f"/proc/{target.pid}/comm", encoding="utf-8") as f:
            name = f.read().strip()
        threads = self.gcdumpc("sql", "--pid", target.pid, "--direct", "SELECT DISTINCT name, label FROM roots WHERE kind = 'stack'").stdout
        check_stacks(self, target, threads, f"{target.pid} ({name})")

    def check_report(self, target, report):
        counts = target.counts()
        counts["types"] = [t for t in counts["types"] if t["name"] not in DYNAMIC]
        self.assertEqual([], list(check_counts.check_types(counts, report, False)))
        self.assertTrue(report["verdict"]["complete"])

    def test_it_has_what_the_process_says(self):
        for runtime in RUNTIMES if LONG else (own_runtime(), RUNTIMES[-1]):
            for variables in ({}, SERVER, SEGMENTS, NO_DIAGNOSTICS) if LONG or runtime == own_runtime() else ({}, NO_DIAGNOSTICS):
                with self.subTest(runtime, **variables), Process(program=need(heaplab, runtime), **variables) as target:
                    self.check(target)

    def test_all_outputs_and_questions(self):
        with Process() as target:
            wait_for_frames(target)
            direct = ("--pid", target.pid, "--direct")
            for name in "x.nettrace.gz", "x.gcdump", "x.heapsnapshot", "x.html", "x.gclog", "x.sqlite":
                said = self.gcdumpc("collect", *direct, "-o", self.path(name)).stderr
                self.assertRegex(said, SAID)
                self.assertRegex(said, "complete\n$")
            self.assertEqual(os.stat(self.path("x.nettrace.gz")).st_mode & 0o777, 0o600)
            recorded = json.loads(self.gcdumpc("report", self.path("x.nettrace.gz"), "--json").stdout)
            self.check_report(target, recorded)
            info = json.loads(self.gcdumpc("info", self.path("x.nettrace.gz"), "--json", "--no-modules").stdout)
            self.assertGreater(info["names"]["types_with_fields"], len(recorded["types"]) * 0.9)       # it needs no files
            self.assertEqual(info["image"]["made_from"], "process")
            self.assertGreater(info["gc"]["pause_ns"], 0)
            self.assertRegex(self.gcdumpc("info", *direct).stdout, r"\nstopped +[\d.]+ ms, without a garbage collection\n")
            self.assertIn("static variable HeapLab.Lab.s_lab", self.gcdumpc("paths", *direct, "--type", "HeapLab.Lab").stdout)
            for question in ("leaks",), ("retained",), ("sql", "SELECT count(*) FROM objects"):
                self.assertTrue(self.gcdumpc(question[0], *direct, *question[1:]).stdout)
            self.gcdumpc("report", *direct, "--save-trace", self.path("kept.nettrace"))
            self.assertIn("made from", self.gcdumpc("info", self.path("kept.nettrace")).stdout)
            self.gcdumpc("collect", "--pid", target.pid, "--strategy", "direct", "-o", self.path("y.gclog"))
            self.gcdumpc("collect", "--pid", target.pid, "--max-stop", "60000", "-o", self.path("z.gclog"))
            self.assertEqual(gclog_sums(self.path("y.gclog"))[0].keys(), gclog_sums(self.path("z.gclog"))[0].keys())
            wait_until_it_runs(self, target)

    def test_dead_objects_on_demand(self):
        with Process(str(KEPT), "quiet", program=need(alloc_lab, own_runtime())) as target:
            direct = ("report", "--pid", target.pid, "--direct", "--json")
            live = type_counts(json.loads(self.gcdumpc(*direct).stdout))
            dead = type_counts(json.loads(self.gcdumpc(*direct, "--with-dead").stdout))
            self.assertEqual(live["AllocLab.Node"], KEPT)
            self.assertEqual(dead["AllocLab.Node"], KEPT)
            self.assertLess(live.get("AllocLab.Scrap", 0), 10)         # a stack may still have some
            self.assertEqual(dead["AllocLab.Scrap"], 1000)
            r = self.gcdumpc("report", "--pid", target.pid, "--with-dead", status=2)
            self.assertIn("--with-dead needs --direct", r.stderr)

    def test_swallowed_exceptions(self):
        with Process(str(KEPT), "quiet", program=need(alloc_lab, own_runtime())) as target:
            seen = {}
            for options in ((), ("--show-values",), ("--show-values=raw",)):
                r = json.loads(self.gcdumpc("exceptions", "--pid", target.pid, "--direct", "--with-dead", "--json", *options).stdout)
                rows = [row for row in r["exceptions"] if row["thrown"]]
                either = {row["thrown_in"]: row for row in rows if row["type"] == "System.FormatException"}
                rows = [row for row in rows if row["type"] != "System.FormatException"]
                seen[options] = [tuple(row.get(k) for k in ("type", "inner_type", "text", "masked", "count", "thrown")) for row in rows]
                calls = {row["type"]: (row["thrown_in"], row["calls"]) for row in rows}
                self.assertEqual({m: (row["count"], row.get("text"), row["calls"]) for m, row in either.items()},
                                 {f"AllocLab.Program.{m}": (n, "no number" if options else None, [f"AllocLab.Program.{m}", "AllocLab.Program.SwallowEither"])
                                  for m, n in (("First", 3), ("Second", 2))})
                self.assertEqual({row["bytes"] / row["count"] for row in rows}, {row["bytes"] / row["count"] for row in either.values()})
            timeout, failed = "System.TimeoutException", "System.InvalidOperationException"
            thrown_in = "AllocLab.Program.Fail"                        # caught there, or by its caller
            self.assertEqual(calls, {timeout: (thrown_in, [thrown_in]), failed: (thrown_in, [thrown_in, "AllocLab.Program.Swallow"])})
            self.assertEqual(sorted(seen[()]), [(failed, timeout, None, None, 10, 10), (timeout, None, None, None, 10, 10)])
            outer = [(failed, timeout, f"attempt {i} failed", None, 5, 5) for i in (0, 1)]
            self.assertEqual(sorted(seen["--show-values",], key=str),
                             sorted(outer + 2 * [(timeout, None, None, "connection string", 5, 5)], key=str))
            self.assertEqual(sorted(seen["--show-values=raw",], key=str),
                             sorted(outer + [(timeout, None, f"password=hunter2;Server=db{i}", None, 5, 5) for i in (0, 1)], key=str))

    def test_comparison_with_a_dump_by_events(self):
        with Process(str(KEPT), "quiet", program=need(alloc_lab, own_runtime())) as target:
            self.gcdumpc("collect", "--pid", target.pid, "--direct", "--with-dead", "-o", self.path("memory.nettrace"))
            self.gcdumpc("collect", "--pid", target.pid, "-o", self.path("events.nettrace"))
            for inputs in (("memory.nettrace", "events.nettrace"), ("events.nettrace", "memory.nettrace")):
                r = self.gcdumpc("diff", *map(self.path, inputs), "--json")
                self.assertRegex(r.stderr, r"memory\.nettrace: has dead objects, too: only those that the roots reach are compared")
                self.assertRegex(r.stderr, r"memory\.nettrace was read from memory, .*events\.nettrace from events")
                changed = {row["type"] for row in json.loads(r.stdout)["types"]}
                self.assertFalse({"AllocLab.Node", "byte[]"} & changed, changed)

    def test_a_process_that_allocates_on_all_processors(self):
        for runtime in ALL:
            for variables in ({}, SERVER) if LONG else ({},):
                with self.subTest(runtime, **variables), Process(str(KEPT), program=need(alloc_lab, runtime), **variables) as target:
                    refused = []
                    dumps = DUMPS if LONG else DUMPS // len(ALL)
                    for i in range(dumps):
                        r = self.run_gcdumpc("report", "--pid", target.pid, "--max-stop", 30000, "--json", "--no-fields")
                        if r.returncode == 1:
                            self.assertRegex(r.stderr, REASONS)
                            refused.append(r.stderr)
                            continue
                        self.assertEqual(r.returncode, 0, r.stderr)
                        report = json.loads(r.stdout)
                        self.assertEqual(type_counts(report)["AllocLab.Node"], KEPT, f"dump {i}: {r.stderr}")
                        self.assertTrue(report["verdict"]["complete"])
                    self.assertLessEqual(len(refused), dumps // 20, refused)
                    wait_until_it_runs(self, target)

    def test_it_runs_on_when_gcdumpc_is_killed(self):
        draw = random.Random(1)
        with Process(str(KEPT), program=need(alloc_lab, own_runtime())) as target:
            start = time.monotonic()
            self.gcdumpc("report", "--pid", target.pid, "--direct")
            usual = time.monotonic() - start
            for i in range(KILLS):
                with self.subTest(i), self.start_gcdumpc("report", "--pid", target.pid, "--direct") as p:
                    time.sleep(draw.random() * usual)
                    p.send_signal(signal.SIGKILL)
                    wait_until_it_runs(self, target)
                    before, end = processor_time(target.pid), time.monotonic() + SECONDS
                    while processor_time(target.pid) == before and time.monotonic() < end:
                        time.sleep(0.01)
                    self.assertGreater(processor_time(target.pid), before)
            self.assertEqual(type_counts(json.loads(self.gcdumpc("report", "--pid", target.pid, "--direct", "--json").stdout))["AllocLab.Node"], KEPT)

    def test_it_runs_on_when_gcdumpc_is_stopped(self):
        """The child that stops the process has a clock of its own."""
        draw = random.Random(2)
        with Process(str(KEPT), program=need(alloc_lab, own_runtime())) as target:
            for i in range(10):
                with self.subTest(i), self.start_gcdumpc("report", "--pid", target.pid, "--direct", "--max-stop", "1000") as p:
                    end = time.monotonic() + SECONDS
                    while "t" not in states(target.pid) and p.poll() is None and time.monotonic() < end:
                        time.sleep(draw.random() / 1000)
                    p.send_signal(signal.SIGSTOP)
                    try:
                        wait_until_it_runs(self, target)
                    finally:
                        p.send_signal(signal.SIGKILL)

    def test_what_it_would_cost(self):
        with Process() as target:
            words = ("collect", "--pid", target.pid, "--direct", "--dry-run")
            said = self.gcdumpc(*words).stdout
            self.assertRegex(said, rf"^process {target.pid} .*\n  stop    about \d+ ms, no garbage collection\n  copy    \S+ MiB in memory\n$")
            line = json.loads(self.gcdumpc(*words, "--log", "json", "-o", "x.gcdump").stdout)
            self.assertEqual((line["direct"], line["copy_folder"], line["refused"], line["file"]), (True, None, None, "x.gcdump"))
            report = json.loads(self.gcdumpc("report", "--pid", target.pid, "--direct", "--with-dead", "--json").stdout)
            self.assertGreater(line["copy_bytes"], report["bytes"] * 0.9)
            self.assertLessEqual(line["stop_ms"], 2000)
            self.assertNotIn("t", states(target.pid))
            self.assertFalse(os.path.exists(self.path("x.gcdump")))

    def test_a_stop_that_is_too_long_is_refused_beforehand(self):
        with Process("--objects", "400000") as target:
            r = self.gcdumpc("collect", "--pid", target.pid, "--max-stop", "1", "-o", self.path("x.gclog"), status=1)
            self.assertRegex(r.stderr, r"its heap of [\d,]+ bytes would take about \d+ ms to copy, longer than it may be stopped \(1 ms\); --max-stop .* allow more")
            r = self.gcdumpc("collect", "--pid", target.pid, "--direct", "--max-stop-total", "1", "-o", self.path("x.gclog"), status=1)
            self.assertRegex(r.stderr, r"its heap of [\d,]+ bytes would take about \d+ ms to copy, longer than it may be stopped \(1 ms\); ")
            r = self.gcdumpc("collect", "--pid", target.pid, "--max-stop", "1", "--dry-run", status=1)
            self.assertRegex(r.stdout, r"\n  no dump: its heap of [\d,]+ bytes would take about \d+ ms to copy, longer than it may be stopped \(1 ms\)\n$")
            self.assertEqual(self.files(), [])

    def test_a_copy_that_does_not_fit_into_memory_is_a_file(self):
        disk = next((f for f in ("/var/tmp", "/tmp") if os.access(f, os.W_OK) and
                     subprocess.run(["stat", "-f", "-c", "%T", f], capture_output=True, text=True, check=True).stdout.strip() != "tmpfs"), None)
        if disk is None:
            self.skipTest("no folder on a disk")
        with Process("--objects", "400000") as target:
            wait_for_frames(target)
            before = os.listdir(disk)
            r = self.gcdumpc("report", "--pid", target.pid, "--direct", "--memory", "32M", "--spill-dir", disk, "--json", "--verbose")
            self.assertIn(f"copied to {disk}", r.stderr)
            self.check_report(target, json.loads(r.stdout))
            self.assertEqual(set(os.listdir(disk)) - set(before), set())
            r = self.gcdumpc("report", "--pid", target.pid, "--direct", "--memory", "32M", "--spill-dir", "/dev/shm", status=1)
            self.assertRegex(r.stderr, "does not fit into the memory that may be used, and cannot be copied to a file: the folder /dev/shm is in memory itself")

    def test_what_cannot_be_read_is_refused(self):
        with subprocess.Popen(["sleep", "1000"]) as other:
            try:
                for command in (("report",), ()):        # a collect asks for the name of the program, too
                    r = self.gcdumpc(*command, "--pid", other.pid, "--direct", status=1)
                    self.assertRegex(r.stderr, f"^gcdumpc: process {other.pid}: the process has no .NET runtime that can be read")
            finally:
                other.kill()
        r = self.gcdumpc("report", "--pid", other.pid, "--direct", status=1)
        self.assertRegex(r.stderr, f"there is no process {other.pid}")
        with Process() as target:
            self.need_other_user()
            r = subprocess.run([PROGRAM, "report", "--pid", str(target.pid), "--direct"], capture_output=True, text=True, check=False, **NOBODY)
            self.assertEqual(r.returncode, 1)
            self.assertRegex(r.stderr, "its memory may not be read: it belongs to another user; run gcdumpc as that user, as root, .*; without --direct")

    def test_a_process_with_a_debugger_is_refused(self):
        with Process() as target:
            tracer = subprocess.Popen(["python3", "-c", f"import ctypes, time; libc = ctypes.CDLL(None, use_errno=True); "
                                       f"print(libc.ptrace(0x4206, {target.pid}, 0, 0), flush=True); time.sleep(1000)"],
                                      stdout=subprocess.PIPE, text=True)
            try:
                self.assertEqual(tracer.stdout.readline(), "0\n")
                r = self.gcdumpc("report", "--pid", target.pid, "--direct", status=1)
                self.assertRegex(r.stderr, "cannot stop it: another debugger may be tracing it")
            finally:
                tracer.kill()
                tracer.communicate()
            self.check(target)

    def test_a_stopped_process_is_read_and_stays_stopped(self):
        with Process() as target:
            wait_for_frames(target)
            target.process.send_signal(signal.SIGSTOP)
            end = time.monotonic() + SECONDS
            while states(target.pid) != {"T"} and time.monotonic() < end:
                time.sleep(0.01)
            r = self.gcdumpc("report", "--pid", target.pid, "--direct", "--json")
            self.check_report(target, json.loads(r.stdout))
            while states(target.pid) != {"T"} and time.monotonic() < end:
                time.sleep(0.01)
            self.assertEqual(states(target.pid), {"T"})
            target.process.send_signal(signal.SIGCONT)
            wait_until_it_runs(self, target)


if __name__ == "__main__":
    main()
