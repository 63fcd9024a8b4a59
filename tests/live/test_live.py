"""A real .NET process with known heap contents, dumped by gcdumpc.  Needs the .NET SDK; without it the test is skipped."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.environ.get("GCDUMPC_SOURCE") or os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("GCDUMPC_BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.environ.get("GCDUMPC", os.path.join(BUILD, "gcdumpc"))
TARGET = os.path.join(ROOT, "tests", "target")
SKIP = 77


def build_target():
    """Once per build folder; the path of the executable."""
    r = subprocess.run(["sh", os.path.join(TARGET, "build.sh"), os.path.join(BUILD, "heaplab")], capture_output=True, text=True)
    if r.returncode == SKIP:
        print("skipped: live test: " + r.stdout.strip())
        sys.exit(SKIP)
    if r.returncode != 0:
        print(r.stdout + r.stderr)
        sys.exit(1)
    return r.stdout.strip().split("\n")[-1]


class Process:
    """The target, up to its line of counts."""

    def __init__(self, *args, **environment):
        self.process = subprocess.Popen([HEAPLAB, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **environment})
        self.line = self.process.stdout.readline()
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def gclog_sums(path):
    """Type name -> (objects, bytes) of a gclog, and its root lines."""
    names, sums, roots = {}, {}, []
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.rstrip("\n").split(" ")
            if words[0] == "t":
                names[words[1]] = line.rstrip("\n").split(" ", 2)[2]
            elif words[0] == "o":
                n, b = sums.get(words[2], (0, 0))
                sums[words[2]] = (n + 1, b + int(words[3], 16))
            elif words[0] == "r":
                roots.append(words[1:])
    by_name = {}
    for i, (n, b) in sums.items():
        m, c = by_name.get(names[i], (0, 0))
        by_name[names[i]] = (m + n, c + b)
    return by_name, roots


class Live(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def gcdumpc(self, *args, status=0, **kw):
        r = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, timeout=120, **kw)
        self.assertEqual(r.returncode, status, r.stdout[-300:] + r.stderr)
        return r

    def check_counts(self, target):
        """report and info of the living process against its own line."""
        with open(self.path("counts.json"), "w", encoding="utf-8") as f:
            f.write(target.line)
        for command in ("report", "info"):
            with open(self.path(command + ".json"), "w", encoding="utf-8") as f:
                f.write(self.gcdumpc(command, "--pid", target.pid, "--json").stdout)
        r = subprocess.run([sys.executable, "-B", os.path.join(TARGET, "check_counts.py"), *map(self.path, ("counts.json", "report.json", "info.json"))],
                           capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)

    def test_workstation_gc(self):
        with Process() as target:
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("a.gclog"))
            self.assertIn("complete", r.stderr)
            expected = json.loads(target.line)
            found, roots = gclog_sums(self.path("a.gclog"))
            wanted = {}
            for t in expected["types"]:
                if "count" in t:
                    wanted[t["name"]] = wanted.get(t["name"], 0) + t["count"]
            self.assertGreater(len(wanted), 90)
            for name, count in wanted.items():
                self.assertEqual(found.get(name, (0, 0))[0], count, name)
            self.assertGreaterEqual(sum(r[1] == "4" for r in roots), len(expected["statics"]))
            with open(self.path("a.gclog"), encoding="utf-8") as f:
                self.assertRegex(f.readline(), r"^a 2 HeapLab [0-9a-f]+$")
            # a second and a third time: all names are there again
            self.check_counts(target)
            self.assertEqual(os.listdir(self.folder).count("a.gclog"), 1)

    def test_strategies_agree(self):
        with Process() as target:
            wanted = {}
            for t in json.loads(target.line)["types"]:
                if "count" in t:
                    wanted[t["name"]] = wanted.get(t["name"], 0) + t["count"]
            self.assertGreater(len(wanted), 90)
            for strategy in ("single", "drain", "auto"):
                for more in ((), ("--no-ranges",)):
                    report = json.loads(self.gcdumpc("report", "--pid", target.pid, "--json", "--strategy", strategy, *more).stdout)
                    found = {}
                    for t in report["types"]:
                        found[t["name"]] = found.get(t["name"], 0) + t["count"]
                    for name, count in wanted.items():
                        self.assertEqual(found.get(name, 0), count, f"{strategy} {more} {name}")
                    info = json.loads(self.gcdumpc("info", "--pid", target.pid, "--json", "--strategy", strategy, *more).stdout)
                    self.assertEqual(info["dumps"], 1)

    def test_draining_needs_less_buffer_than_the_dump_has_bytes(self):
        # 120 MB of events.  The runtime sends for a while, then sleeps for 100 ms: less than 80 MB was not always enough.
        with Process("--objects", "2000000") as target:
            size = ("--buffer", "100")
            single = json.loads(self.gcdumpc("info", "--pid", target.pid, "--json", "--strategy", "single", "--retries", 0, *size, status=3).stdout)
            self.assertGreater(single["trace"]["lost_events"], 0)
            for attempt in range(3):     # a machine that is busy with something else may keep us from reading
                r = subprocess.run([PROGRAM, "info", "--pid", str(target.pid), "--json", "--strategy", "drain", "--retries", "0", *size],
                                   capture_output=True, text=True, timeout=120)
                self.assertIn(r.returncode, (0, 3), r.stderr)
                if r.returncode == 0:
                    break
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertEqual(json.loads(r.stdout)["trace"]["lost_events"], 0)

    def test_types_are_there_again_while_another_session_is_open(self):
        # A session of the runtime provider without the keyword of the types keeps the runtime's table of described types.
        recorder = [sys.executable, "-B", "-c",
                    "import sys; sys.path.insert(0, sys.argv[1]); import record_nettrace as r\n"
                    "path = r.find_socket(int(sys.argv[2]))\n"
                    "s = r.Session(path, list(r.collect_requests(16, 'none', 0x1, 4)), None, 60)\n"
                    "print('open', flush=True); sys.stdin.read(); s.stop()", os.path.join(ROOT, "tools")]
        with Process() as target:
            with subprocess.Popen([*recorder, str(target.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
                self.assertEqual(other.stdout.readline(), "open\n")
                for _ in range(3):
                    for strategy in ("drain", "single"):
                        r = self.gcdumpc("report", "--pid", target.pid, "--json", "--quiet", "--strategy", strategy)
                        self.assertEqual(r.stderr, "")
                        names = [t["name"] for t in json.loads(r.stdout)["types"]]
                        self.assertIn("HeapLab.Item[]", names)
                        self.assertFalse([n for n in names if n.startswith("Type(0x")])
                other.stdin.close()
                self.assertEqual(other.wait(timeout=60), 0)

    def test_server_gc(self):
        with Process(DOTNET_gcServer="1", DOTNET_GCHeapCount="2") as target:
            self.check_counts(target)
            info = json.loads(self.gcdumpc("info", "--pid", target.pid, "--json").stdout)
            self.assertEqual(info["gc"]["heaps"], 2)

    def test_modules_and_runtime_with_rundown(self):
        with Process() as target:
            info = json.loads(self.gcdumpc("info", "--pid", target.pid, "--json", "--rundown").stdout)
            self.assertRegex(info["process"]["runtime_version"], r"^\d+\.\d+\.\d+$")
            report = json.loads(self.gcdumpc("report", "--pid", target.pid, "--json", "--rundown").stdout)
            self.assertTrue(any((t["module"] or "").endswith("HeapLab.dll") for t in report["types"]))

    def test_socket_in_another_folder(self):
        os.mkdir(self.path("tmp"))
        with Process(TMPDIR=self.path("tmp")) as target:
            self.gcdumpc("--pid", target.pid, "-o", self.path("b.gclog.gz"))

    def test_losses_of_a_small_buffer_are_told(self):
        with Process("--objects", "1000000") as target:
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("c.gclog"), "--buffer", "1", "--retries", "0", status=3)
            self.assertRegex(r.stderr, r"incomplete: \d+ events? of \d+ threads? were lost")
            self.assertTrue(os.path.exists(self.path("c.gclog")))
            os.unlink(self.path("c.gclog"))
            self.gcdumpc("--pid", target.pid, "-o", self.path("c.gclog"), "--buffer", "1", "--retries", "0", "--strict", status=1)
            self.assertEqual(os.listdir(self.folder), [])
            self.gcdumpc("--pid", target.pid, "-o", self.path("c.gclog"))

    def test_interrupted(self):
        with Process("--objects", "1000000") as target:
            for delay in (0.05, 0.3, 0.8):
                p = subprocess.Popen([PROGRAM, "--pid", str(target.pid), "-o", self.path("d.gclog")], stderr=subprocess.PIPE, text=True)
                time.sleep(delay)
                p.send_signal(signal.SIGINT)
                _, err = p.communicate(timeout=30)
                self.assertIn(p.returncode, (0, 130), err)
                if p.returncode == 130:
                    self.assertEqual(os.listdir(self.folder), [])
                else:
                    os.unlink(self.path("d.gclog"))
            self.gcdumpc("--pid", target.pid, "-o", self.path("d.gclog"))    # no session was left behind

    def test_target_dies(self):
        for delay in (0.1, 0.6):
            with Process("--objects", "1000000") as target:
                p = subprocess.Popen([PROGRAM, "--pid", str(target.pid), "-o", self.path("e.gclog"), "--timeout", "60"],
                                     stderr=subprocess.PIPE, text=True)
                time.sleep(delay)
                target.process.kill()
                _, err = p.communicate(timeout=30)
                self.assertIn(p.returncode, (0, 1, 3), err)
                if p.returncode == 1:
                    self.assertEqual(len(err.strip().split("\n")), 1, err)
                    self.assertEqual(os.listdir(self.folder), [])
                else:
                    os.unlink(self.path("e.gclog"))

    def test_what_cannot_be_dumped(self):
        def refused(pid, pattern):
            r = self.gcdumpc("--pid", pid, "-o", self.path("f.gclog"), status=1)
            self.assertEqual(len(r.stderr.strip().split("\n")), 1, r.stderr)
            self.assertRegex(r.stderr, pattern)
            self.assertEqual(os.listdir(self.folder), [])
        refused(4194000, r"process 4194000: .*no process")
        sleeper = subprocess.Popen(["sleep", "60"])
        try:
            refused(sleeper.pid, r"\.NET")
        finally:
            sleeper.kill()
            sleeper.wait()
        with Process(DOTNET_EnableDiagnostics="0") as target:
            refused(target.pid, r"DOTNET_EnableDiagnostics")

    def test_no_answer_within_the_timeout(self):
        with Process() as target:
            target.process.send_signal(signal.SIGSTOP)
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("g.gclog"), "--timeout", "1", status=1)
            self.assertRegex(r.stderr, r"within 1000 ms")
            self.assertEqual(os.listdir(self.folder), [])
            target.process.send_signal(signal.SIGCONT)

    def test_output_that_cannot_be_written_costs_the_target_nothing(self):
        with Process() as target:
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("no/such/h.gclog"), status=1)
            self.assertIn("folder", r.stderr)


if __name__ == "__main__":
    if os.environ.get("GCDUMPC_IPC") == "OFF":
        print("skipped: live test: this build has no support for living processes (GCDUMPC_IPC=OFF)")
        sys.exit(SKIP)
    HEAPLAB = build_target()
    unittest.main()
