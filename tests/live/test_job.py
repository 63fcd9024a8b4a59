"""Unattended dumps of real .NET processes: names, retention, conditions, locks, deadlines, reports.  Needs the .NET SDK."""
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

from live_support import NOBODY, PROGRAM, SECONDS, LiveTest, Process, heaplab, lock, lock_name, lock_of, main

NAME = "%n-%p-%Y%m%dT%H%M%SZ.gclog.gz"
STAMP = r"\d{8}T\d{6}Z"


class JobTest(LiveTest):
    @classmethod
    def setUpClass(cls):
        cls.target = Process()
        cls.addClassCleanup(cls.target.__exit__)
        cls.pid = cls.target.pid

    def out(self, name=NAME):
        return self.path(f"out/%n/{name}")

    def dumps(self):
        return sorted(n for n in os.listdir(self.path("out/HeapLab")) if not n.startswith("."))

    def collect(self, *options, status=0, pid=None, **kw):
        return self.gcdumpc("--pid", pid or self.pid, "-o", self.out(), *options, status=status, **kw)

    def log(self, *options, **kw):
        """The only line of --log json."""
        r = self.collect("--log", "json", *options, **kw)
        self.assertEqual((r.stdout, r.stderr.count("\n")), ("", 1), r.stderr)
        return json.loads(r.stderr)

    def put(self, name, age=0, size=0):
        """An earlier dump."""
        os.makedirs(self.path("out/HeapLab"), exist_ok=True)
        path = self.path("out/HeapLab/" + name)
        with open(path, "wb") as f:
            f.truncate(size)
        os.utime(path, (time.time() - age,) * 2)
        return path


class DryRun(JobTest):
    def test_before_and_after_a_dump(self):
        """The estimate uses the largest possible heap, later the last dump; it asks the process for nothing and writes no file."""
        r = self.collect("--dry-run", "--log", "json")
        first = json.loads(r.stdout)
        self.assertEqual((first["pause_by"], os.path.exists(self.path("out"))), ("heap", False))
        self.assertTrue(0 < first["gc_heap_most_bytes"] < first["resident_bytes"], first)
        line = self.log()
        later = json.loads(self.collect("--dry-run", "--log", "json").stdout)
        self.assertEqual((later["pause_by"], len(self.dumps())), ("last_dump", 1))
        self.assertLess(abs(later["event_bytes"] / first["most_event_bytes"]), 1)
        self.assertGreater(line["file_bytes"], 0)


class Names(JobTest):
    def test_folders_and_files(self):
        line = self.log()
        name, = self.dumps()
        self.assertRegex(name, rf"^HeapLab-{self.pid}-{STAMP}\.gclog\.gz$")
        self.assertEqual(line["file"], self.path("out/HeapLab/" + name))
        self.assertEqual(line["file_bytes"], os.path.getsize(line["file"]))
        for path, mode in (("out", 0o700), ("out/HeapLab", 0o700), (f"out/HeapLab/{name}", 0o600)):
            self.assertEqual(stat.S_IMODE(os.stat(self.path(path)).st_mode), mode, path)
        self.gcdumpc("info", line["file"])
        self.assertGreaterEqual(line["objects"], self.target.counts()["objects"]["min"])

    def test_the_recording_too(self):
        self.collect("--save-trace", self.path("raw/%h/%n-%s.nettrace"), "--quiet")
        host, = os.listdir(self.path("raw"))
        self.assertEqual(host, os.uname().nodename)
        recording, = os.listdir(self.path("raw/" + host))
        self.gcdumpc("info", self.path(f"raw/{host}/{recording}"))

    def lab(self):
        """HeapLab under a unique name: --all must not reach other processes."""
        bin_folder, name = os.path.dirname(heaplab()), f"Job{os.getpid()}"
        folder = self.path("bin")
        if not os.path.isdir(folder):
            os.mkdir(folder)
            for file in os.listdir(bin_folder):
                if file != "HeapLab":
                    os.symlink(os.path.join(bin_folder, file), os.path.join(folder, file))
            shutil.copy(os.path.join(bin_folder, "HeapLab"), os.path.join(folder, name))
        target = Process(program=os.path.join(folder, name))
        self.addCleanup(target.__exit__)
        return target, name

    def test_several_processes(self):
        (first, name), (second, _) = self.lab(), self.lab()
        both = {first.pid, second.pid}
        r = self.gcdumpc("--all", "--name", name[:-1] + "?", "-o", self.out(), "--keep", 9, "--log", "text", "--metrics", self.path("m.prom"))
        self.assertEqual({int(pid) for pid in re.findall(r" done name=HeapLab pid=(\d+) ", r.stderr)}, both)
        self.assertEqual(len(self.dumps()), 2)
        with open(self.path("m.prom"), encoding="utf-8") as f:
            text = f.read()
        for pid in both:
            self.assertRegex(text, rf'(?m)^gcdumpc_run_complete{{name="HeapLab",pid="{pid}"}} 1$')
        # a pattern with distinct output names needs no --all; otherwise the program asks for it
        r = self.gcdumpc("--name", name[:-1] + "*", "-o", self.out(), "--log", "text")
        self.assertEqual({int(pid) for pid in re.findall(r" pid=(\d+) ", r.stderr)}, both)
        r = self.gcdumpc("--name", name[:-1] + "*", "-o", self.path("%n-%s.gclog"), status=2)
        self.assertIn(f'2 processes are called "{name[:-1]}*"; choose one with --pid', r.stderr)

    def test_the_worst_status(self):
        (first, name), (second, _) = self.lab(), self.lab()
        second.process.send_signal(signal.SIGSTOP)
        r = self.gcdumpc("--all", "--name", name, "-o", self.out(), "--log", "text", "--timeout", SECONDS // 2, status=1)
        self.assertRegex(r.stderr, rf"(?m) failed name=\S+ pid={second.pid} .*reason=")
        if first.pid < second.pid:
            self.assertRegex(r.stderr, rf"(?m) done name=HeapLab pid={first.pid} ")

    def hook(self, text):
        path = self.path("hook")
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o700)
        return path

    def test_several_of_one_name(self):
        (first, name), (second, _) = self.lab(), self.lab()
        both = {first.pid, second.pid}
        for options in (("--keep", 1, "--min-interval", "1h"), ("--keep", 1)):
            r = self.gcdumpc("--all", "--name", name, "-o", self.out(), "--log", "json", *options)
            lines = [json.loads(line) for line in r.stderr.splitlines()]
            self.assertEqual([line["status"] for line in lines], ["done", "done"], r.stderr)
            self.assertEqual(set(self.dumps()), {os.path.basename(line["file"]) for line in lines})
            time.sleep(1)
        with open(self.path("out/.HeapLab.gcdumpc-last"), encoding="utf-8") as f:
            self.assertEqual(set(json.load(f)["processes"]), set(map(str, both)))
        r = self.gcdumpc("--all", "--name", name, "-o", self.out(), "--log", "json", "--min-interval", "1h")
        self.assertEqual([json.loads(line)["status"] for line in r.stderr.splitlines()], ["skipped"] * 2)
        third, _ = self.lab()                            # a new one beside them has no dump yet
        r = self.gcdumpc("--all", "--name", name, "-o", self.out(), "--log", "json", "--min-interval", "1h")
        self.assertEqual([line["pid"] for line in map(json.loads, r.stderr.splitlines()) if line["status"] == "done"], [third.pid])
        for target in (first, second, third):
            target.__exit__()
        after, _ = self.lab()                            # but one after them takes their place
        r = self.gcdumpc("--all", "--name", name, "-o", self.out(), "--log", "json", "--min-interval", "1h")
        self.assertEqual([(line["pid"], line["status"]) for line in map(json.loads, r.stderr.splitlines())], [(after.pid, "skipped")])

    def test_a_name_that_comes_late(self):
        target, name = self.lab()
        target.process.send_signal(signal.SIGSTOP)
        r = self.gcdumpc("--name", name, "-o", self.out(), "--timeout", SECONDS // 2, status=1)      # it has 10 s to tell its name
        self.assertIn("its name is unknown", r.stderr)
        self.assertEqual(self.files(), ["bin"])
        timer = threading.Timer(3, target.process.send_signal, [signal.SIGCONT])
        timer.start()
        self.addCleanup(timer.cancel)
        self.gcdumpc("--name", name, "-o", self.out())
        self.assertEqual(os.listdir(self.path("out/HeapLab"))[0][:8], "HeapLab-")
        self.check_sessions(target)

    def test_without_a_process_no_folder_is_made(self):
        with Process() as other:
            other.process.kill()
            other.process.wait()
            r = self.collect(pid=other.pid, status=1)
        self.assertIn("no process", r.stderr)
        self.assertEqual(self.files(), [])

    def test_a_process_killed_by_its_dump(self):
        (first, name), (second, _) = sorted((self.lab(), self.lab()), key=lambda lab: lab[0].pid)
        # which ends while it is dumped: once the dump has its lock
        dumped = f"grep -q @{lock_name(second)}/ /proc/net/unix"
        hook = self.hook(f"kill -STOP {second.pid}\n(until {dumped}; do sleep 0.1; done; sleep 1; kill -9 {second.pid}) >/dev/null 2>&1 &\n")
        threading.Thread(target=second.process.wait).start()         # no zombie is left
        r = self.gcdumpc("--all", "--name", name, "-o", self.out(), "--log", "json", "--on-success", hook, status=1)
        lines = [json.loads(line) for line in r.stderr.splitlines()]
        self.assertEqual([(line["pid"], line["status"]) for line in lines], [(first.pid, "done"), (second.pid, "failed")], r.stderr)

    def test_processes_that_were_not_tried(self):
        (first, name), (second, _) = sorted((self.lab(), self.lab()), key=lambda lab: lab[0].pid)
        for script, timeout, status, reason in (("kill -TERM $PPID\n", SECONDS, 130, "not tried: interrupted"),
                                                ("sleep 31\n", 30, 1, "not tried: the time is up (--timeout)")):
            r = self.gcdumpc("--all", "--name", name, "-o", self.out(), "--log", "json", "--on-success", self.hook(script), "--timeout", timeout,
                             "--metrics", self.path("m.prom"), status=status)
            lines = [json.loads(line) for line in r.stderr.splitlines() if line.startswith("{")]
            self.assertEqual([(line["pid"], line["status"], line["exit"]) for line in lines],
                             [(first.pid, "done", 0), (second.pid, "failed", status)], r.stderr)
            self.assertEqual((lines[1]["reason"], lines[1]["file"]), (reason, None))
            with open(self.path("m.prom"), encoding="utf-8") as f:
                self.assertRegex(f.read(), rf'(?m)^gcdumpc_run_success{{name="HeapLab",pid="{second.pid}"}} 0$')
        r = self.gcdumpc("--all", "--name", name, "-o", self.out(), "--on-success", self.hook("sleep 31\n"), "--timeout", 30, status=1)
        self.assertIn("2 processes: 1 dumped, 0 incomplete, 0 skipped, 1 failed", r.stderr)

    def test_one_of_several_ends(self):
        (first, name), (second, _) = sorted((self.lab(), self.lab()), key=lambda lab: lab[0].pid)
        hook = self.hook(f"kill -9 {second.pid}\nwhile [ -d /proc/{second.pid} ]; do sleep 0.05; done\n")
        threading.Thread(target=second.process.wait).start()         # no zombie is left
        r = self.gcdumpc("--all", "--name", name, "-o", self.out(), "--log", "json", "--on-success", hook)
        lines = [json.loads(line) for line in r.stderr.splitlines()]
        self.assertEqual([(line["pid"], line["status"]) for line in lines], [(first.pid, "done"), (second.pid, "skipped")])
        self.assertEqual(lines[1]["reason"], "it has ended")

    def test_a_folder_of_another_user(self):
        self.need_other_user()
        os.chmod(self.folder, 0o755)
        r = self.collect("--log", "text", status=1, **NOBODY)
        self.assertRegex(r.stderr, r'failed name=.* reason="the diagnostic socket of process .* Permission denied.*"$')
        self.assertEqual(self.files(), [])
        os.makedirs(self.path("out/HeapLab"))
        os.chown(self.path("out"), 65534, 65534)         # root can write there, but must not remove their files
        foreign = self.put("HeapLab-1-20260101T000000Z.gclog.gz", age=100)
        os.chown(foreign, 65534, 65534)
        self.assertEqual(self.log("--keep", "1", "--adopt")["removed"], 0)
        self.assertTrue(os.path.exists(foreign))

    def test_no_regular_file(self):
        name = self.path("out/%n-%p.gclog")
        path = self.path(f"out/HeapLab-{self.pid}.gclog")
        os.makedirs(self.path("out"))
        for make in (lambda: os.symlink("/dev/null", path), lambda: os.symlink(self.path("new"), path), lambda: os.mkfifo(path)):
            make()
            r = self.gcdumpc("--pid", self.pid, "-o", name, "--timeout", SECONDS // 2, status=1)
            self.assertIn("exists and is not a regular file", r.stderr)
            os.unlink(path)
        self.assertFalse(os.path.exists(self.path("new")))
        os.symlink("/dev/null", path)
        r = self.gcdumpc("--pid", self.pid, "-o", self.path("%p.gclog"), "--save-trace", self.path("out/%n-%p.gclog"), status=1)
        self.assertIn("exists and is not a regular file", r.stderr)

    def test_a_link_among_the_folders(self):
        os.makedirs(self.path("out"))
        os.makedirs(self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), self.path("out/HeapLab"))
        r = self.collect(status=1)
        self.assertRegex(r.stderr, "out/HeapLab: cannot be used as a folder: Not a directory")
        self.assertEqual(os.listdir(self.path("elsewhere")), [])


class Keeping(JobTest):
    def test_the_oldest_goes(self):
        strangers = ["notes.txt", "HeapLab-1-20260101T000000Z.gclog", "HeapLab-x-20260101T000000Z.gclog.gz", "HeapLab-1-20261301T000000Z.gclog.gz"]
        for name in strangers:
            self.put(name, age=10 ** 6)
        link = self.path("out/HeapLab/HeapLab-3-20260101T000000Z.gclog.gz")
        os.symlink("notes.txt", link)
        for i in range(4):
            self.put(f"HeapLab-{i + 10}-20260101T00000{i}Z.gclog.gz", age=1000 - i)
        line = self.log("--keep", "2", "--adopt")
        left = set(self.dumps()) - set(strangers) - {os.path.basename(link)}
        self.assertEqual(left, {"HeapLab-13-20260101T000003Z.gclog.gz", os.path.basename(line["file"])})
        self.assertEqual(line["removed"], 3)
        self.assertTrue(os.path.islink(link))
        self.assertLessEqual(set(strangers), set(self.dumps()))

    def test_by_size_and_age(self):
        self.put("HeapLab-1-20260101T000000Z.gclog.gz", age=100, size=10 << 20)
        self.put("HeapLab-2-20260101T000000Z.gclog.gz", age=50, size=3 << 20)
        self.assertEqual(self.log("--max-total", "8M", "--adopt")["removed"], 1)
        self.assertIn("HeapLab-2-20260101T000000Z.gclog.gz", self.dumps())
        self.put("HeapLab-2-20260101T000000Z.gclog.gz", age=3 * 86400, size=3 << 20)
        self.assertEqual(self.log("--keep-days", "2", "--adopt")["removed"], 1)

    def test_a_file_that_cannot_be_removed(self):
        old = [self.put(f"HeapLab-{i + 1}-20260101T000000Z.gclog.gz", age=1000 - i) for i in range(3)]
        if os.geteuid() != 0 or subprocess.run(["mount", "--bind", old[1], old[1]], capture_output=True, check=False).returncode != 0:
            self.skipTest("needs root, for a file that cannot be removed")
        self.addCleanup(subprocess.run, ["umount", old[1]], check=True)
        line = self.log("--keep", "1", "--adopt", "--metrics", self.path("m.prom"), status=1)
        self.assertEqual((line["status"], line["exit"], line["removed"]), ("done", 1, 2))
        self.assertRegex(line["reason"], "^earlier dumps cannot be removed: ")
        self.assertEqual(set(self.dumps()), {os.path.basename(old[1]), os.path.basename(line["file"])})
        self.gcdumpc("info", line["file"])

    def test_what_a_killed_run_left_in_another_folder(self):
        for kind in ("out", "raw"):
            os.makedirs(self.path(kind + "/2020"))
            with open(self.path(kind + "/2020/.x.gclog.1-0.gcdumpc-tmp"), "wb"):
                pass
        self.gcdumpc("--pid", self.pid, "-o", self.path("out/%Y/%s.gclog"), "--save-trace", self.path("raw/%Y/%s.nettrace"))
        for kind in ("out", "raw"):
            self.assertEqual([len(n) for n in os.listdir(self.path(kind)) if n[0] != "."], [4])
            self.assertFalse(os.path.exists(self.path(kind + "/2020")))

    def test_notes_cannot_be_written(self):
        os.makedirs(self.path("out/.HeapLab.gcdumpc-last"))
        line = self.log()
        self.assertEqual((line["status"], line["exit"]), ("done", 0))
        self.assertIn("is a directory", line["reason"])
        self.gcdumpc("info", line["file"])

    def test_recordings_of_failures(self):
        os.makedirs(self.path("raw"))
        for i in range(1, 4):
            with open(self.path(f"raw/HeapLab-{i}.nettrace"), "wb") as f:
                f.write(b"x")
            os.utime(f.name, (1000 + i,) * 2)
        os.mkdir(self.path("full"))
        self.small_disk("full", "100k")
        r = self.gcdumpc("--pid", self.pid, "-o", self.path("full/%n-%s.gclog"), "--save-trace", self.path("raw/%n-%s.nettrace"), "--keep", 2,
                         "--log", "json", "--force", "--adopt", status=1)
        self.assertIn("No space left", json.loads(r.stderr)["reason"])
        self.assertEqual(os.listdir(self.path("full")), [".HeapLab.gcdumpc-files"])
        left = sorted(os.listdir(self.path("raw")))
        self.assertEqual((len(left), left[-1]), (2, "HeapLab-3.nettrace"), left)

    def small_disk(self, name, size):
        if os.geteuid() != 0:
            self.skipTest("needs root, for a small file system")
        command = ["mount", "-t", "tmpfs", "-o", "size=" + size, "none", self.path(name)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", self.path(name)], check=True)

    def test_folders_are_not_kept(self):
        config = self.path("gcdumpc.conf")
        with open(config, "w", encoding="utf-8") as f:
            f.write(f"[tables]\npid = {self.pid}\nformat = csv\noutput = {self.path('%n-%s')}\nkeep = 2\n")
        os.chmod(config, 0o600)
        for options in (("--pid", self.pid, "-o", self.path("%n-%s.csv"), "--format", "csv", "--keep", 2), ("run", "--check", "--config", config)):
            r = self.gcdumpc(*options, status=2)
            self.assertRegex(r.stderr, r"\A[^\n]*are for outputs that are files; this format is a folder[^\n]*\n\Z")

    def test_a_failure_removes_nothing(self):
        old = self.put("HeapLab-1-20260101T000000Z.gclog.gz", age=100)
        with Process() as other:
            other.process.kill()
            other.process.wait()
            self.collect("--keep", "1", pid=other.pid, status=1)
        self.collect("--keep", "1", "--timeout", "1", "--listen", self.path("port"), status=2)
        self.assertTrue(os.path.exists(old))

    def test_a_full_disk(self):
        os.makedirs(self.path("out"))
        self.small_disk("out", "400k")
        old = self.put("HeapLab-1-20260101T000000Z.gclog.gz", size=350000)
        with open(old, "wb") as f:
            f.write(b"x" * 350000)
        line = self.log("--keep", "1", "--force", status=1)
        self.assertIn("No space left", line["reason"])
        self.assertEqual(self.dumps(), [os.path.basename(old)])
        self.assertEqual(os.listdir(self.path("out")), ["HeapLab"])


class Conditions(JobTest):
    def skipped(self, *options):
        line = self.log(*options)
        self.assertEqual((line["status"], line["exit"], line["file"]), ("skipped", 0, None))
        return line["reason"]

    def test_each(self):
        self.assertRegex(self.skipped("--if-rss-above", "1000G"), r"^it has \d+ MiB, not more than")
        self.assertRegex(self.skipped("--if-free-disk", "1000000G"), r"^its disk has \d+ MiB left")
        self.assertRegex(self.skipped("--if-free-memory", "1000000G"), r"has \d+ MiB of memory left")
        self.assertRegex(self.skipped("--max-pause-estimate", "1"), r"^it would pause for about \d+ ms \(by its (heap|memory), 2 ms for each MiB\)")
        self.assertFalse(os.path.exists(self.path("out")))
        self.assertEqual(self.log("--if-rss-above", "1M", "--if-free-disk", "1M", "--if-free-memory", "1M", "--max-pause-estimate", "60000",
                                  "--if-grown", "10%", "--min-interval", "1h")["status"], "done")
        self.assertRegex(self.skipped("--min-interval", "1h"), r"^the last dump is \d+ s old, not 3600 s$")
        self.assertRegex(self.skipped("--if-grown", "1000%"), r"^it has \d+ MiB, after \d+ MiB at the last dump; that is not 1000 % more$")
        self.assertRegex(self.skipped("--max-pause-estimate", "1"), r"stand still for about \d+ ms|\Z")
        r = self.collect("--min-interval", "1h", "--skip-status", "75", status=75)
        self.assertRegex(r.stderr, rf"^gcdumpc: process {self.pid}: no dump: the last dump is [^\n]*\n$")

    def test_notes_of_other_users_are_ignored(self):
        self.log()
        last = self.path("out/.HeapLab.gcdumpc-last")
        self.assertEqual(stat.S_IMODE(os.stat(last).st_mode), 0o600)
        for text in ("", "{", "[]", '{"time": "x", "rss_bytes": -5}', "\0" * 70000):
            with open(last, "w", encoding="utf-8") as f:
                f.write(text)
            self.assertEqual(self.log("--if-grown", "1%")["status"], "done")
            time.sleep(1)
        # a clock that was ahead: the last dump is in the future
        with open(last, "w", encoding="utf-8") as f:
            json.dump({"time": int(time.time()) + 10 ** 6, "rss_bytes": 1}, f)
        for name in self.dumps():
            os.utime(self.path("out/HeapLab/" + name), (time.time() + 10 ** 6,) * 2)
        self.assertEqual(self.log("--min-interval", "1h")["status"], "done")


    def test_a_link_of_another_user_to_the_notes(self):
        """The other user could decide whether there is a dump."""
        if os.geteuid() != 0:
            self.skipTest("only root can make links of another user")
        self.log()
        for name in self.dumps():
            os.unlink(self.path("out/HeapLab/" + name))
        os.rename(self.path("out"), self.path("real"))
        os.symlink("real", self.path("out"))
        self.assertRegex(self.skipped("--min-interval", "1h"), r"^the last dump is \d+ s old, not 3600 s$")
        os.lchown(self.path("out"), NOBODY["user"], -1)
        r = self.collect("--min-interval", "1h", status=1)
        self.assertRegex(r.stderr, r"out: cannot be used as a folder")


class Others(JobTest):
    def test_waiting_for_another_dump(self):
        with Process() as other, lock_of(other):
            r = self.run_gcdumpc("info", "--pid", other.pid, "--wait", 1)
            self.assertEqual(r.returncode, 1)
            self.assertIn(f"another dump of it is under way, by process {os.getpid()}", r.stderr)
        with lock("gcdumpc/machine"):
            line = self.log("--exclusive", status=1)
            self.assertEqual(line["reason"], f"another dump on this machine is under way, by process {os.getpid()}")
            self.assertEqual(self.log()["status"], "done")               # without --exclusive, other dumps are not blocked
            waiting = subprocess.Popen([PROGRAM, "--pid", str(self.pid), "-o", self.out(), "--exclusive", "--wait", str(SECONDS), "--log", "json"],
                                       stderr=subprocess.PIPE, text=True)
            late = subprocess.Popen([PROGRAM, "--pid", str(self.pid), "-o", self.path("late/%n-%s.gclog"), "--exclusive", "--wait", str(SECONDS), "--log",
                                     "json", "--min-interval", "1h"], stderr=subprocess.PIPE, text=True)
            time.sleep(1)
            self.assertIsNone(waiting.poll())
            self.assertIsNone(late.poll())
            os.makedirs(self.path("late"), exist_ok=True)
            with open(self.path("late/HeapLab-1.gclog"), "wb"):          # as if the one that it waits for had been such a dump
                pass
        _, err = waiting.communicate(timeout=SECONDS)
        self.assertEqual((waiting.returncode, json.loads(err)["status"]), (0, "done"), err)
        _, err = late.communicate(timeout=SECONDS)
        self.assertEqual((late.returncode, json.loads(err)["status"]), (0, "skipped"), err)
        self.assertEqual([n for n in os.listdir(self.path("late")) if n[0] != "."], ["HeapLab-1.gclog"])

    def test_the_interval_after_waiting(self):
        """Two runs at once, the second waits: there is one dump, however long the first one writes."""
        with Process("--objects", "300000") as big:
            runs = [self.start_gcdumpc("--pid", big.pid, "-o", self.path("out/%n-%s.sqlite"), "--wait", SECONDS, "--min-interval", "1h", "--log", "json")
                    for _ in range(2)]
            lines = [json.loads(run.communicate(timeout=SECONDS)[1]) for run in runs]
        self.assertEqual(sorted(line["status"] for line in lines), ["done", "skipped"], lines)
        self.assertEqual(len([n for n in os.listdir(self.path("out")) if n[0] != "."]), 1)

    def test_the_time_is_up(self):
        other = Process()
        self.addCleanup(other.__exit__)
        other.process.send_signal(signal.SIGSTOP)
        line = self.log("--timeout", "2", pid=other.pid, status=1)
        self.assertEqual(line["status"], "failed")
        self.assertRegex(line["reason"], r" within (2000|1?[0-9]{1,3}) ms|the time is up \(--timeout\)")
        other.process.send_signal(signal.SIGCONT)
        self.check_sessions(other)

    def test_priorities(self):
        script = "import os,sys; print(os.getpriority(os.PRIO_PROCESS, 0), open('/proc/self/stat').read().split()[18])"
        r = self.collect("--nice", "7", "--io-idle", "--log", "none", "--quiet", "--on-success", f"{sys.executable} {self.script(script)}")
        self.assertEqual((r.stdout, r.stderr), ("", "7 7\n"))

    def script(self, text):
        with open(self.path("hook.py"), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path("hook.py")


class Telling(Others):
    def test_hooks(self):
        show = self.script("import json,os,sys; json.dump([sys.argv[1:], {k: v for k, v in os.environ.items() if k[:8] == 'GCDUMPC_'}], sys.stdout)")
        os.environ["GCDUMPC_REASON"] = "from outside"
        self.addCleanup(os.environ.pop, "GCDUMPC_REASON")
        r = self.collect("--on-success", f"{sys.executable}  {show} one $HOME;two", "--on-failure", "false", "--log", "json")
        line, (words, env) = map(json.loads, r.stderr.splitlines())
        self.assertEqual(r.stdout, "")           # that is for data
        self.assertEqual(words, ["one", "$HOME;two"])
        for key in ("name", "file", "status"):
            self.assertEqual(env["GCDUMPC_" + key.upper()], line[key])
        self.assertEqual((int(env["GCDUMPC_PID"]), int(env["GCDUMPC_OBJECTS"]), env["GCDUMPC_REASON"]), (self.pid, line["objects"], ""))
        r = self.gcdumpc("--pid", self.pid, "-o", "/nonexistent/x.gclog", "--on-success", "false", "--on-failure", f"{sys.executable} {show}",
                         "--log", "text", status=1)
        _, env = json.loads(r.stderr.splitlines()[-1])
        self.assertEqual((env["GCDUMPC_STATUS"], env["GCDUMPC_FILE"], env["GCDUMPC_EXIT"]), ("failed", "", "1"))
        self.assertIn("No such file", env["GCDUMPC_REASON"])

    def test_hooks_that_fail(self):
        for command, message in (("false", "false: failed with status 1"), ("/nonexistent/x", "cannot be run: No such file"),
                                 (f"{sys.executable} {self.script('import os,signal; os.kill(os.getpid(), signal.SIGTERM)')}", "ended by signal 15")):
            r = self.collect("--on-success", command, "--log", "text", status=1)
            self.assertRegex(r.stderr, rf" done name=[^\n]*\ngcdumpc: [^\n]*{message}")
            time.sleep(1)                        # another name

    def test_a_hook_that_does_not_end(self):
        """The hook and its child ignore SIGTERM; they neither outlive us nor delay us."""
        script = self.script(f"""
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child:
    print("in the way", sys.stdin.read(), flush=True)
    with open({self.path("new")!r}, "w") as f:
        f.write(f"{{os.getpid()}} {{child}}")
    os.rename({self.path("new")!r}, {self.path("pids")!r})
time.sleep({2 * SECONDS})
""")
        words = ["-o", "-", "-f", "gclog", "--log", "text", "--on-success", f"{sys.executable} {script}"]
        with open(self.path("data"), "w+b") as data:
            run = subprocess.Popen([PROGRAM, "--pid", str(self.pid), *words], stdin=subprocess.PIPE, stdout=data, stderr=subprocess.PIPE, text=True)
            self.addCleanup(run.kill)
            end = time.monotonic() + SECONDS
            while not os.path.exists(self.path("pids")) and time.monotonic() < end:
                time.sleep(0.05)
            run.send_signal(signal.SIGTERM)
            try:
                _, err = run.communicate(timeout=SECONDS)        # until the other end is closed
            except subprocess.TimeoutExpired:
                with open(self.path("pids"), encoding="ascii") as f:
                    for pid in f.read().split():
                        os.kill(int(pid), signal.SIGKILL)
                raise
            self.assertEqual(run.returncode, 130, err)
            self.assertRegex(err, r" done name=HeapLab [^\n]*\nin the way \ngcdumpc: \S+: was stopped because gcdumpc was interrupted\n$")
            data.seek(0)
            self.assertNotIn(b"in the way", data.read())

    def test_lines_for_logs(self):
        r = self.collect("--log", "text")
        self.assertRegex(r.stderr, r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ gcdumpc done name=HeapLab pid=\d+ runtime=10[\d.]+ complete=yes objects=\d+ heap_bytes=\d+ "
                                   r"pause_ms=\d+ lost_events=0 seconds=[\d.]+ file_bytes=\d+ file=/\S+\n\Z")
        with Process("--objects", "1000000") as big:
            line = self.log("--buffer", "2", "--retries", "0", pid=big.pid, status=3)
            self.assertEqual((line["status"], line["complete"]), ("incomplete", False))
            self.assertRegex(line["reason"], "events? of .* lost")
            self.assertGreater(line["lost_events"], 0)
            line = self.log("--buffer", "2", "--retries", "0", "--strict", pid=big.pid, status=1)
            self.assertEqual((line["status"], line["file"]), ("failed", None))

    def test_no_such_process(self):
        r = self.gcdumpc("--name", "No-such-program", "-o", self.out(), "--log", "json", "--metrics", self.path("m.prom"), status=1)
        line = json.loads(r.stderr)
        self.assertEqual((line["status"], line["name"]), ("failed", "No-such-program"))
        with open(self.path("m.prom"), encoding="utf-8") as f:
            self.assertIn('gcdumpc_run_success{name="No-such-program",pid="0"} 0\n', f.read())
        self.run_gcdumpc("--name", 'No "such"\\\udcff', "-o", self.out(), "--log", "none", "--metrics", self.path("m.prom"), errors="replace")
        with open(self.path("m.prom"), encoding="utf-8") as f:
            self.assertIn(r'gcdumpc_run_success{name="No \"such\"\\\\ufffd",pid="0"} 0', f.read())

    def test_the_log_of_the_system(self):
        if os.geteuid() != 0 or os.path.lexists("/dev/log"):
            self.skipTest("needs root and a machine without a log of its own")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
            log.bind("/dev/log")
            self.addCleanup(os.unlink, "/dev/log")
            log.settimeout(SECONDS)
            for pid, status, severity, word in ((self.pid, 0, 6, "done name=HeapLab"), (1 << 22, 1, 3, "failed name=")):
                self.collect("--syslog", "--quiet", pid=pid, status=status)
                line = log.recv(8192).decode()
                self.assertRegex(line, rf"^<{3 << 3 | severity}>.* gcdumpc\[\d+\]: {word}")

    def test_metrics(self):
        metrics = self.path("gcdumpc.prom")
        line = self.log("--metrics", metrics)
        with open(metrics, encoding="utf-8") as f:
            text = f.read()
        samples = {}
        for row in text.splitlines():
            match = re.fullmatch(r'# (HELP|TYPE) (gcdumpc_run_\w+) .+|(gcdumpc_run_\w+)\{name="HeapLab",pid="(\d+)"\} (\d+(?:\.\d+)?)', row)
            self.assertIsNotNone(match, row)
            if match[3]:
                samples[match[3]] = float(match[5])
        self.assertEqual(samples["gcdumpc_run_objects"], line["objects"])
        self.assertEqual(samples["gcdumpc_run_file_bytes"], line["file_bytes"])
        self.assertGreater(samples["gcdumpc_run_pause_seconds"], 0)
        self.assertEqual((samples["gcdumpc_run_success"], samples["gcdumpc_run_complete"]), (1, 1))
        if shutil.which("promtool"):
            r = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
            self.assertEqual((r.returncode, r.stderr), (0, ""))


class Run(JobTest):
    def test_a_job_of_a_file(self):
        config = self.path("gcdumpc.conf")
        with open(config, "w", encoding="utf-8") as f:
            f.write(f"# all\nlog = json\noutput = {self.out()}\n\n[first]\npid = {self.pid}\nkeep = 1\nstrict = yes\n[second]\nname = Nobody\nlog=text\n")
        os.chmod(config, 0o600)
        r = self.gcdumpc("run", "first", "--config", config)
        self.assertEqual(json.loads(r.stderr)["status"], "done")
        time.sleep(1)
        r = self.gcdumpc("run", "first", "--config", config)
        self.assertEqual(json.loads(r.stderr)["removed"], 1)
        self.assertEqual(len(self.dumps()), 1)
        self.assertIn(" failed name=Nobody ", self.gcdumpc("run", "second", "--config", config, status=1).stderr)
        os.chmod(config, 0o666)
        self.assertIn("others may write it", self.gcdumpc("run", "first", "--config", config, status=1).stderr)


class Cron(JobTest):
    def test_a_real_cron(self):
        """In its own mount namespace, so that no crontab of the machine is read or changed."""
        if os.geteuid() != 0 or shutil.which("cron") is None or shutil.which("unshare") is None:
            self.skipTest("needs root, cron and unshare")
        os.makedirs(self.path("cron.d"))
        os.makedirs(self.path("empty"))
        config = self.path("gcdumpc.conf")
        with open(config, "w", encoding="utf-8") as f:
            f.write(f"log = text\noutput = {self.out()}\n[each]\npid = {self.pid}\nkeep = 2\n")
        with open(self.path("cron.d/gcdumpc"), "w", encoding="utf-8") as f:
            f.write(f"* * * * * root {PROGRAM} run each --config {config} >>{self.path('log')} 2>&1\n")
        for path in (config, self.path("cron.d/gcdumpc")):
            os.chmod(path, 0o600)
        script = ("mount --make-rprivate / && mount --bind \"$1/cron.d\" /etc/cron.d && mount --bind \"$1/empty\" /var/spool/cron && "
                  "mount -t tmpfs none /run && { [ ! -e /etc/crontab ] || mount --bind /dev/null /etc/crontab; } && exec cron -f")
        cron = subprocess.Popen(["unshare", "--mount", "sh", "-c", script, "sh", self.folder], stderr=subprocess.PIPE, text=True)
        try:
            for _ in range(10 * SECONDS):
                if cron.poll() is not None:
                    err = cron.stderr.read()
                    if "mount" in err or "unshare" in err:
                        self.skipTest("no mount namespace here: " + err.strip())
                    self.fail(err)
                if os.path.exists(self.path("log")) and os.path.getsize(self.path("log")) > 0:
                    break
                time.sleep(0.1)
        finally:
            cron.kill()
            cron.communicate()
        with open(self.path("log"), encoding="utf-8") as f:
            self.assertRegex(f.read(), rf"\A\S+Z gcdumpc done name=HeapLab pid={self.pid} ")
        self.assertEqual(len(self.dumps()), 1)


if __name__ == "__main__":
    main()
