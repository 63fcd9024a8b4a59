"""Which lines allocated what is still alive, in programs with known leaks (SiteLab)."""
import concurrent.futures
import json
import math
import os
import re
import signal
import subprocess
import threading
import time

import lab_programs
from live_support import PROGRAM, RUNTIMES, SECONDS, LiveTest, Process, main, need, own_runtime

HERE = os.path.dirname(os.path.abspath(__file__))
WINDOW, SETTLE, RING_SETTLE = 5, 3, 6
EVERY = 102_400                       # mean distance of samples, in bytes
MEGABYTES = 60
ALL = os.environ.get("GCDUMPC_TEST_SITES") == "all"      # server GC and the ring on every runtime
TOGETHER = 3                          # programs side by side


def site_lines():
    """Name of a leak -> its line."""
    with open(os.path.join(HERE, "site_lab", "SiteLab.cs"), encoding="utf-8") as f:
        return {m[1]: number for number, line in enumerate(f, 1) if (m := re.search(r"// SITE (\w+)", line))}


def lab(runtime):
    return need(lab_programs.program, "SiteLab", runtime, "built" if runtime == own_runtime() else "contained")


class Lab(Process):
    """SiteLab, whose counters are read all the time."""

    def __init__(self, runtime, *args, **environment):
        super().__init__(*args, program=lab(runtime), **environment)
        self.counters = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        end = time.monotonic() + SECONDS
        while len(self.counters) < 5 and time.monotonic() < end:      # it is at work
            time.sleep(0.05)

    def _read(self):
        for line in self.process.stdout:
            words = line.split()
            self.counters.append((int(words[0]), {k: int(v) for k, _, v in (w.partition("=") for w in words[1:])}))

    def __exit__(self, *args):
        self.process.kill()
        self.reader.join()
        super().__exit__(*args)

    def leaked(self, site, begin, end):
        """Bytes that SITE leaked between two times, in ms."""
        def at(when):
            before = [c for c in self.counters if c[0] <= when][-1]
            after = [c for c in self.counters if c[0] > when][0]
            part = (when - before[0]) / (after[0] - before[0])
            return before[1][site] + part * (after[1][site] - before[1][site])
        return at(end) - at(begin)


class Sites(LiveTest):
    """All programs run side by side, because most of the time is waiting; each test has the results of its own."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        pool = concurrent.futures.ThreadPoolExecutor(TOGETHER)
        cls.addClassCleanup(pool.shutdown)
        cls.jobs = {("workstation", runtime): pool.submit(cls.alone, "check_runtime", runtime) for runtime in RUNTIMES}
        for runtime in RUNTIMES if ALL else [own_runtime()]:
            cls.jobs["server", runtime] = pool.submit(cls.alone, "check_runtime", runtime, DOTNET_gcServer="1", DOTNET_GCHeapCount="2")
            cls.jobs["ring", runtime] = pool.submit(cls.alone, "check_ring", runtime)
        cls.jobs["interrupts"] = pool.submit(cls.alone, "check_interrupts")

    @classmethod
    def alone(cls, work, *args, **environment):
        test = cls()
        test.setUp()
        try:
            getattr(test, work)(*args, **environment)
        finally:
            test.doCleanups()

    def sites(self, target, *options, status=0):
        r = self.gcdumpc("sites", "--pid", target.pid, "--window", f"{WINDOW}s", "--settle", f"{SETTLE}s", "--json", *options, status=status)
        return json.loads(r.stdout)

    def check_leaks(self, target, got):
        """Recall, lines, and bytes of each leak; how far all of them together are off, in standard errors."""
        begin, end = got["window_begin_unix_ms"], got["window_begin_unix_ms"] + got["window_ms"]
        for name, line in site_lines().items():
            rows = [s for s in got["sites"] if s["line"] == line and s["type"].endswith("[]") and s["file"].endswith("/SiteLab.cs")]
            with self.subTest(site=name):
                self.assertEqual(len(rows), 1, [(s["method"], s["line"], s["type"]) for s in got["sites"]])
                row, = rows
                self.assertGreater(row["alive_samples"], 3)
                self.assertEqual(row["alive_samples"], row["samples"])
                self.assertEqual((row["dead_samples"], row["lost_samples"]), (0, 0))
                wanted = target.leaked(name, begin, end)
                error = math.sqrt(wanted * EVERY * 1.2)
                self.assertLess(abs(row["bytes"] - wanted), 5 * error + wanted * 0.08, (row["bytes"], wanted))

    def check_churn(self, got):
        churn = [s for s in got["sites"] if s["method"] == "SiteLab.Program.Churn"]
        # what the program still holds of it: its last objects
        self.assertLessEqual(sum(s["alive_samples"] for s in churn), 2, churn)

    def check_runtime(self, runtime, **environment):
        with Lab(runtime, str(MEGABYTES), **environment) as target:
            got = self.sites(target, "-o", self.path("a.nettrace.gz"))
            time.sleep(0.5)
            self.check_sessions(target)
        self.assertEqual(got["source"], "sampled" if runtime >= 10 else "ticks")
        self.assertTrue(got["followed"])
        self.assertGreater(got["dead_samples"], 300)
        self.check_leaks(target, got)
        self.check_churn(got)
        again = json.loads(self.gcdumpc("sites", self.path("a.nettrace.gz"), "--json").stdout)
        self.assertEqual(again["sites"], got["sites"])
        leaks = self.gcdumpc("leaks", self.path("a.nettrace.gz"), "--share", "1", "--min-bytes", "1M").stdout
        line = site_lines()["store"]
        self.assertRegex(" ".join(leaks.split()), rf"Allocated in SiteLab\.SessionStore\.Open \(SiteLab\.cs:{line}\): (9\d|100) %")

    def check_ring(self, runtime):
        with Lab(runtime, "ring", "60") as target:
            got = self.sites(target, "--settle", f"{RING_SETTLE}s")
        ring = [s for s in got["sites"] if s["method"] == "SiteLab.Program.Turn"]
        alive = sum(s["alive_samples"] for s in ring)
        self.assertLessEqual(alive, 2 + 0.015 * got["alive_samples"], ring)

    def check_job(self, target):
        """A job takes sites, for its recording and its summary."""
        with open(self.path("run.conf"), "w", encoding="utf-8") as f:
            f.write(f"[nightly]\npid = {target.pid}\nwindow = 3s\nsettle = 1s\noutput = {self.path('job.nettrace.gz')}\n"
                    f"summary = {self.path('job.json')}\n")
        os.chmod(self.path("run.conf"), 0o600)
        self.gcdumpc("run", "--config", self.path("run.conf"), "nightly")
        self.check_sessions(target)
        lines = {s["line"] for s in json.loads(self.gcdumpc("sites", self.path("job.nettrace.gz"), "--json").stdout)["sites"]}
        with open(self.path("job.json"), encoding="utf-8") as f:
            self.assertEqual({s.get("line") for s in json.load(f)["sites"]} - {None}, lines - {None})
        self.assertIn(site_lines()["store"], lines)

    def check_interrupts(self):
        """Two leave nothing, one goes on to the walk; then the process ends while its objects settle."""
        with Lab(own_runtime(), str(MEGABYTES)) as target:
            status, out, err = self.interrupt(target, 3, 0.3)
            self.assertEqual((status, out, self.files()), (130, "", []), err)
            self.check_sessions(target)
            status, out, err = self.interrupt(target, 4)
            self.assertEqual(status, 0, err)
            self.assertRegex(err, "sampled for .* s instead of 60 s\n.*waited 0.0 s instead of 60 s for short-lived objects to die")
            self.assertIn("SiteLab.SessionStore.Open", out)
            self.assertEqual(self.files(), ["i.nettrace.gz"])
            self.check_sessions(target)
            self.check_job(target)
            threading.Timer(4, target.process.kill).start()
            before = self.files()
            r = self.run_gcdumpc("sites", "--pid", target.pid, "--window", "1s", "--settle", "1h", "-o", self.path("e.nettrace"))
            self.assertEqual((r.returncode, r.stdout, self.files()), (1, "", before), r.stderr)

    def wait_for(self, kind):
        for runtime in RUNTIMES:
            if (kind, runtime) in self.jobs:
                with self.subTest(runtime=runtime):
                    self.jobs[kind, runtime].result()

    def test_leaks_are_found_with_their_lines(self):
        self.wait_for("workstation")

    def test_server_gc(self):
        self.wait_for("server")

    def test_memory_that_is_used_again_makes_few_false_survivors(self):
        self.wait_for("ring")

    def test_interrupts_and_the_end_of_the_process(self):
        self.jobs["interrupts"].result()

    def interrupt(self, target, *delays):
        """The status and messages of a run that gets SIGINT after each of DELAYS seconds."""
        p = subprocess.Popen([PROGRAM, "sites", "--pid", str(target.pid), "--window", "60s", "--settle", "60s", "-o", self.path("i.nettrace.gz")],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for delay in delays:
            time.sleep(delay)
            p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=SECONDS)
        return p.returncode, out, err


if __name__ == "__main__":
    main()
