"""Unattended dumps of processes that only answer like a runtime: several at once, earlier files, and the exit status."""
import contextlib
import glob
import json
import os
import re
import signal
import socket
import time
import unittest

from cli_support import CliTest, main, small_trace, trace_bytes
from fake_process import FakeProcess, socket_name

STRANGER = 12345                 # a user other than root and the one of the tests


@unittest.skipIf(os.environ.get("GCDUMPC_IPC") == "OFF", "this build has no support for living processes")
class Job(CliTest):
    def setUp(self):
        super().setUp()
        self.targets = []
        self.name = f"job-{os.getpid()}"         # --all must not reach the processes of other tests or users

    def process(self, recording, **options):
        """Sends RECORDING to every client."""
        target = FakeProcess(self.tmp, self.path(self.put("in", recording)), self.name, **options)
        os.unlink(self.path("in"))
        self.targets.append(target)
        return target

    def end_all(self):
        while self.targets:
            self.targets.pop().close()

    def tearDown(self):
        self.end_all()
        super().tearDown()

    def collect(self, *words, code=0):
        """The lines of --log json."""
        run = self.done("collect", *words, "--log", "json", code=code)
        return [json.loads(line) for line in run.lines]

    def old(self, *names):
        """Makes earlier files, the oldest first."""
        for i, name in enumerate(names):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.put(name, b"old")
            os.utime(self.path(name), (time.time() - 1000 + i,) * 2)

    def test_the_worst_of_several(self):
        """A failure is worse than a loss, whichever process comes first."""
        lossy, broken = trace_bytes("net10-wks-lossy"), b"Nettrace" + b"x" * 100
        for recordings in ((lossy, broken), (broken, lossy), (small_trace(), lossy), (lossy, small_trace())):
            targets = [self.process(data) for data in recordings]
            wanted = {target.pid: {lossy: 3, broken: 1}.get(data, 0) for target, data in zip(targets, recordings)}
            lines = self.collect("--all", "--name", self.name, "-o", "%p-%s.gclog", "--retries", "0", code=1 if broken in recordings else 3)
            self.assertEqual({line["pid"]: line["exit"] for line in lines}, wanted)
            self.end_all()

    def test_without_an_output_it_names_the_file(self):
        """By process and time, in the format that was asked for; no file is replaced, and the folder gets nothing else."""
        target = self.process(small_trace())
        name = rf"[\w.]+-{target.pid}-\d{{8}}T\d{{6}}Z"
        for words, suffix in ((), ".nettrace.gz"), ((), ".nettrace.gz"), (("--format", "gclog"), ".gclog"), (("-f", "nettrace"), ".nettrace"):
            before = set(os.listdir(self.dir))
            run = self.done("--pid", target.pid, *words)
            new, = set(os.listdir(self.dir)) - before
            self.assertRegex(new, rf"\A{name}{re.escape(suffix)}\Z")
            self.assertEqual(run.out, b"")
            self.assertIn(f"gcdumpc: {new}: ".encode(), run.err)
        self.assertEqual(len(os.listdir(self.dir)), 4)
        run = self.done("--pid", target.pid, "--quiet")              # else nobody would know
        self.assertRegex(run.err.decode(), rf"\Agcdumpc: {name}\.nettrace\.gz\n\Z")
        self.done("--pid", target.pid, "--dry-run")
        self.assertEqual(len(os.listdir(self.dir)), 5)

    def test_skipped_dumps(self):
        target = self.process(small_trace())
        for words, status in ((), 0), (("--skip-status", "4"), 4):
            line, = self.collect("--pid", target.pid, "-o", "%s.gclog", "--if-rss-above", "1000G", *words, code=status)
            self.assertEqual((line["status"], line["exit"], line["file"]), ("skipped", status, None))
        self.assertEqual(os.listdir(self.dir), [])

    def test_recordings_are_kept_like_outputs(self):
        """Outputs and recordings are kept in the same number, including the new one."""
        target = self.process(small_trace())
        self.old(*(f"{folder}/{i}.{folder}" for folder in ("gclog", "nettrace") for i in range(1, 5)))
        self.collect("--pid", target.pid, "-o", "gclog/%s.gclog", "--save-trace", "nettrace/%s.nettrace", "--keep", "3", "--adopt")
        for folder in ("gclog", "nettrace"):
            left = sorted((name for name in os.listdir(self.path(folder)) if name[0] != "."), key=lambda name: (len(name), name))
            self.assertEqual((left[0], left[1], len(left)), (f"3.{folder}", f"4.{folder}", 3), left)

    def run_job(self, target, job, output, keep, jobs=("nightly", "growing"), words=()):
        """Runs JOB of a configuration with JOBS, all of them with this OUTPUT; the names of its files."""
        text = f"pid = {target.pid}\noutput = {output}\nlog = json\nkeep = {keep}\n" + "".join(f"[{name}]\nquiet = true\n" for name in jobs)
        self.put("jobs.conf", text.encode())
        os.chmod(self.path("jobs.conf"), 0o600)
        run = self.done("run", job, "--config", "jobs.conf", *words)
        line, = [json.loads(line) for line in run.lines]
        self.assertIsNone(line["reason"])
        return line["file"]

    def test_each_job_keeps_its_own_files(self):
        """Also if both write into one folder: a job must not remove files that another job keeps."""
        target = self.process(small_trace())
        seconds = iter(range(2000, 3000))
        for output in ("%J/x-%s.gclog", "all/x-%s.gclog", "all/%F/x-%s.gclog"):
            made = {"nightly": [], "growing": []}
            for job in ("nightly",) * 3 + ("growing",) * 3 + ("nightly", "growing"):
                words = ("--adopt",) if job == "growing" else ()         # which takes nothing over that another job has
                file = self.run_job(target, job, output, 2 if job == "growing" else 3, words=words)
                made[job].append(f"{os.path.dirname(file)}/x-{next(seconds)}.gclog")
                stamp = (os.stat(self.path(file)).st_atime_ns, os.stat(self.path(file)).st_mtime_ns)
                os.rename(self.path(file), self.path(made[job][-1]))         # the next one is made in the same second
                os.utime(self.path(made[job][-1]), ns=stamp)
            kept = made["nightly"][-3:] + made["growing"][-2:]
            left = {os.path.relpath(os.path.join(f, n), self.dir) for f, _, names in os.walk(self.dir) for n in names if n.endswith(".gclog")}
            self.assertEqual(left, set(kept), output)
            for name in kept:
                os.unlink(self.path(name))

    def test_files_of_a_removed_job(self):
        """No other job removes them, until one takes them over."""
        target = self.process(small_trace())
        old = self.run_job(target, "nightly", "all/x-%s.gclog", 1)
        os.rename(self.path(old), self.path("all/x-1.gclog"))
        self.run_job(target, "growing", "all/x-%s.gclog", 1)
        self.assertTrue(os.path.exists(self.path("all/x-1.gclog")))
        new = self.run_job(target, "growing", "all/x-%s.gclog", 1, ("growing",), ("--adopt",))
        self.assertFalse(os.path.exists(self.path("all/x-1.gclog")))
        # by hand: nothing of a job is removed
        self.collect("--pid", target.pid, "-o", "all/x-%s.gclog.gz", "--keep", "1")
        self.assertTrue(os.path.exists(self.path(new)))

    def lists(self):
        """The lists of files, by path."""
        found = {}
        for path in glob.glob(self.path("**/.*.gcdumpc-files"), recursive=True, include_hidden=True):
            with open(path, encoding="utf-8") as f:
                found[os.path.relpath(path, self.dir)] = json.load(f)
        return found

    def left(self, folder):
        return {name for name in os.listdir(self.path(folder)) if name[0] != "."}

    def test_what_is_not_listed_is_never_removed(self):
        """A copy of a user, whose name fits; and everything when the list is lost or damaged, until it is taken over.  It is said each time."""
        words = ("--pid", self.process(small_trace()).pid, "-o", "d/%s.gclog", "--keep", "2")
        self.collect(*words)
        (path, made), = self.lists().items()
        self.assertEqual((os.path.dirname(path), made["job"], list(made["files"])), ("d", None, ["d/%s.gclog"]))
        self.assertEqual({entry[0] for entry in made["files"]["d/%s.gclog"]}, self.left("d"))
        self.assertEqual(os.stat(self.path(path)).st_mode & 0o777, 0o600)
        self.old("d/7.gclog")
        for _ in range(3):
            line, = self.collect(*words)
            self.assertRegex(line["reason"], r"\A1 earlier file is not in the list of this job, and not removed; --adopt takes over what has its names\Z")
            self.assertEqual(line["status"], "done")
        self.assertEqual((len(self.left("d")), "7.gclog" in self.left("d")), (3, True))
        for lose in (os.unlink, lambda name: self.put(os.path.relpath(name, self.dir), b"{"),
                     # that of another process, whose name makes the same path
                     lambda name: self.put(os.path.relpath(name, self.dir), self.get(path).replace(b'"process": "', b'"process": "x'))):
            before = self.left("d")
            lose(self.path(path))
            run = self.done("collect", *words)
            self.assertIn(f"{len(before)} earlier files are not in the list of this job, and not removed", run.err.decode())
            self.assertLess(before, self.left("d"))
        run = self.done("collect", *words, "--adopt")
        self.assertRegex(run.err.decode(), r"\d earlier files are of this job now\n")
        self.assertEqual(len(self.left("d")), 2)
        line, = self.collect(*words)
        self.assertIsNone(line["reason"])

    def test_a_run_that_was_killed_before_it_listed_its_file(self):
        """It has announced its name; a later file of that name, of before the announcement, is another one."""
        words = ("--pid", self.process(small_trace()).pid, "-o", "d/%s.gclog", "--keep", "1")
        self.collect(*words)
        (path, made), = self.lists().items()
        now = int(time.time())
        for name, changed in (("7.gclog", now - 1000), ("8.gclog", now - 1000)):
            self.put("d/" + name, b"old")
            os.utime(self.path("d/" + name), (changed,) * 2)
        made["files"]["d/%s.gclog"] += [["7.gclog", 0, now - 1000, 0], ["8.gclog", 0, now - 999, 0]]
        self.put(path, json.dumps(made).encode())
        line, = self.collect(*words)
        self.assertEqual((line["removed"], self.left("d")), (2, {"8.gclog", os.path.basename(line["file"])}))

    def test_two_names_in_one_folder(self):
        """Dumps without a configuration: each name has files of its own, also those that the other one could have named."""
        target = self.process(small_trace())
        for _ in range(3):
            for output in ("d/%s.gclog", "d/%Y%j%H%M%S.gclog"):
                line, = self.collect("--pid", target.pid, "-o", output, "--keep", "1")
                self.assertIsNone(line["reason"])
        made, = self.lists().values()
        self.assertEqual({name: len(files) for name, files in made["files"].items()}, {"d/%s.gclog": 1, "d/%Y%j%H%M%S.gclog": 1})
        self.assertEqual(len(self.left("d")), 2)

    def test_adopt_is_for_one_run(self):
        self.put("jobs.conf", b"[a]\npid = 1\noutput = %s.gclog\nadopt = true\n")
        os.chmod(self.path("jobs.conf"), 0o600)
        self.refused(2, "jobs.conf: job a: adopt is for one run: gcdumpc run JOB --adopt.*", "run", "a", "--config", "jobs.conf")
        self.refused(2, "--adopt changes a list of files, --dry-run nothing.*", "collect", "--pid", "1", "-o", "%s.gclog", "--adopt", "--dry-run")
        self.refused(2, "--keep, --keep-days, --max-total and --adopt need a name with .*", "collect", "--pid", "1", "-o", "x.gclog", "--adopt")

    def test_a_second_dump_within_a_second(self):
        """The second dump replaces no earlier one, and each of its files has its own name."""
        target = self.process(small_trace())
        now = int(time.time())
        taken = [f"gclog/{now + i}.gclog" for i in range(-1, 200, 2)] + [f"sum/{now + i}.json" for i in range(0, 200, 2)]
        self.old(*taken)
        line, = self.collect("--pid", target.pid, "-o", "gclog/%s.gclog", "--summary", "sum/%s.json")
        new = {f"{d}/{n}" for d in ("gclog", "sum") for n in os.listdir(self.path(d)) if n[0] != "."} - set(taken)
        free = max(int(time) for time in re.findall(r"[0-9]+", " ".join(taken))) + 1
        self.assertEqual(new, {f"gclog/{free}.gclog", f"sum/{free}.json"})
        self.assertEqual(line["file"], f"gclog/{free}.gclog")
        for name in taken:
            with open(self.path(name), "rb") as f:
                self.assertEqual(f.read(), b"old", name)
        # no dump is due for an hour
        self.old(*(f"gclog/{now + i}.gclog" for i in range(4000)))
        line, = self.collect("--pid", target.pid, "-o", "gclog/%s.gclog", code=1)
        self.assertRegex(line["reason"], "exists, as do the files of all seconds before it")
        # without a time it is the same name again
        for _ in range(2):
            line, = self.collect("--pid", target.pid, "-o", "%p.gclog")
        self.assertEqual(line["file"], f"{target.pid}.gclog")

    def test_growth_after_a_restart(self):
        """The last state of an earlier process with the same pid does not prevent the dump of a new one."""
        words = ("--pid", self.process(small_trace()).pid, "-o", "g/%s.gclog", "--if-grown", "1000%")
        self.assertEqual([line["status"] for _ in range(2) for line in self.collect(*words)], ["done", "skipped"])
        path, = glob.glob(self.path("g/.*.gcdumpc-last"))
        with open(path, encoding="utf-8") as f:
            state = json.load(f)
        for entry in state["processes"].values():
            entry["time"] -= 100000              # before this process started
        with open(path, "w", encoding="utf-8") as f:
            json.dump(state, f)
        self.assertEqual([line["status"] for line in self.collect(*words)], ["done"])

    def test_earlier_ones_that_cannot_be_removed(self):
        """The new dump is written, but the failed removal must be reported."""
        self.old("out/2020/1.gclog")
        os.chmod(self.path("out/2020"), 0o500)
        if os.geteuid() == 0:
            os.chown(self.path("out/2020"), 12345, -1)
        self.addCleanup(os.chmod, self.path("out/2020"), 0o700)
        for data, code in ((small_trace(), 0), (trace_bytes("net10-wks-lossy"), 3)):
            target = self.process(data)
            line, = self.collect("--pid", target.pid, "-o", "out/%Y/%s.gclog", "--keep", "1", "--adopt", "--retries", "0", code=1)
            self.assertEqual((line["status"], line["exit"], line["removed"]), ("incomplete" if code == 3 else "done", 1, 0))
            self.assertRegex(line["reason"], "earlier dumps (cannot be|are not) removed")
            self.done("info", line["file"], code=code)
            os.unlink(self.path(line["file"]))

    def test_a_name_that_is_no_regular_file(self):
        target = self.process(small_trace())
        for make in (lambda: os.symlink("elsewhere", name), lambda: os.mkfifo(name)):
            for suffix, words in (("gclog", ("-o", "%p.gclog")), ("nettrace", ("-o", "%s.gclog", "--save-trace", "%p.nettrace"))):
                name = self.path(f"{target.pid}.{suffix}")
                make()
                line, = self.collect("--pid", target.pid, *words, "--timeout", "60", code=1)
                self.assertRegex(line["reason"], rf"\A{target.pid}\.{suffix}: exists and is not a regular file")
                self.assertEqual(os.listdir(self.dir), [f"{target.pid}.{suffix}"])
                os.unlink(name)

    def pipe(self, name, owner):
        os.mkfifo(self.path(name))
        if owner != os.geteuid():
            os.chown(self.path(name), owner, owner)

    def test_pipes_of_another_user(self):
        """Nobody reads from them: the job does not wait for that."""
        if os.geteuid() != 0:
            self.skipTest("only root can make pipes of another user")
        target = self.process(small_trace())
        for option, name in (("-o", "x.gclog"), ("--metrics", "x.prom"), ("--summary", "x.json"), ("--save-trace", "x.nettrace")):
            self.pipe(name, STRANGER)
            words = ("-o", "%s.gclog") if option == "--metrics" else () if option == "-o" else ("-o", "y.gclog")
            for words in (words, (*words, "--if-free-disk", "1B")):
                run = self.done("collect", "--pid", target.pid, *words, option, name, code=1)
                self.assertRegex(run.lines[-1], rf"{name}: is a pipe of another user \({STRANGER}\)\Z")
            os.unlink(self.path(name))

    def test_the_state_is_never_a_pipe(self):
        target = self.process(small_trace())
        words = ("--pid", target.pid, "-o", "%s.gclog")
        self.collect(*words)
        state, = glob.glob(self.path(".*.gcdumpc-last"))
        for owner in {os.geteuid(), STRANGER if os.geteuid() == 0 else os.geteuid()}:
            os.unlink(state)
            self.pipe(state, owner)
            line, = self.collect(*words)
            self.assertEqual((line["status"], line["reason"]), ("done", None))
            self.assertTrue(os.path.isfile(state))

    def test_the_timeout_ends_the_wait_for_a_reader(self):
        target = self.process(small_trace())
        for option, name in (("-o", "x.gclog"), ("--metrics", "x.prom"), ("--summary", "x.json"), ("--save-trace", "x.nettrace")):
            self.pipe(name, os.geteuid())
            words = ("-o", "%s.gclog") if option == "--metrics" else () if option == "-o" else ("-o", "y.gclog")
            for words in (words, (*words, "--keep-partial")):
                run = self.done("collect", "--pid", target.pid, *words, option, name, "--timeout", "1", code=1)
                self.assertRegex(run.text + run.err.decode(), r"(nobody has opened it for reading within 1000 ms|the time is up \(--timeout\))")
            os.unlink(self.path(name))

    def test_the_timeout_ends_the_wait_for_a_slow_reader(self):
        """A pipe that is full, because nobody reads on."""
        target = self.process(trace_bytes("net10-wks"))
        self.pipe("x.gclog", os.geteuid())
        reader = os.open(self.path("x.gclog"), os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        for words in ((), ("--keep-partial",), ("--if-free-disk", "1B")):
            run = self.done("collect", "--pid", target.pid, "-o", "x.gclog", "--timeout", "3", *words, code=1)
            self.assertRegex(run.lines[-1], r"x\.gclog: the time is up \(--timeout\)\Z")

    def test_the_name_for_a_hook_is_shown(self):
        """A hook may print it."""
        run = self.done("collect", "--name", "No\x1b[31m\u202ebody\u009b", "-o", "%p.gclog", "--on-failure", "printenv GCDUMPC_NAME", code=1)
        self.assertEqual(run.lines[-1], "No?[31m?body?")

    def test_each_process_gets_its_share_of_the_time(self):
        """Two that never finish, before or after one that does."""
        endless = trace_bytes("net10-wks")[:2000]
        for order in ((endless, endless, small_trace()), (small_trace(), endless, endless)):
            targets = [self.process(data) for data in order]
            lines = self.collect("--all", "--name", self.name, "-o", "%p-%s.gclog", "--timeout", "9", code=1)
            self.assertEqual({line["pid"]: line["status"] for line in lines},
                             {target.pid: "failed" if data is endless else "done" for target, data in zip(targets, order)}, lines)
            self.end_all()

    def expected(self, *words, code=0):
        """The lines of --dry-run --log json, which changes nothing."""
        before = sorted(os.walk(self.dir))
        run = self.done("collect", *words, "--dry-run", "--log", "json", code=code)
        self.assertEqual(sorted(os.walk(self.dir)), before)
        return [json.loads(line) for line in run.text.splitlines()]

    def test_dry_run(self):
        """The estimate is based on the memory, later on the last dump; nothing is written, removed, run or remembered."""
        target = self.process(trace_bytes("net10-wks"))
        self.old("d/1.gclog", "d/2.gclog")
        words = ("--pid", target.pid, "-o", "d/%F/%s.gclog", "--on-success", "/bin/touch hooked", "--metrics", "metrics", "--keep", "1")
        first, = self.expected(*words)
        self.assertEqual((first["pid"], first["pause_by"], first["skipped"], first["refused"]), (target.pid, "heap", None, None))
        self.assertLess(abs(first["pause_ms"] - 2 * first["gc_heap_most_bytes"] / 2 ** 20), 20)     # the interpreter may grow meanwhile
        self.assertRegex(first["file"], r"^d/[\d-]+/\d+\.gclog$")
        self.assertEqual([p["folder"] for p in first["places"]][-1:], ["d"])
        skipped, = self.expected(*words, "--if-rss-above", "1000G", "--skip-status", "4", code=4)
        self.assertRegex(skipped["skipped"], "not more than")
        line, = self.collect("--pid", target.pid, "-o", "d/%F/%s.gclog")
        later, = self.expected(*words)
        self.assertEqual((later["pause_by"], line["status"]), ("last_dump", "done"))
        self.assertLess(abs(later["pause_ms"] - line["pause_ns"] / 1e6), 1 + line["pause_ns"] / 1e6)
        note, = glob.glob(self.path("d/**/.*gcdumpc-last"), recursive=True, include_hidden=True)
        with open(note, encoding="utf-8") as f:
            last = f.read()
        with open(note, "w", encoding="utf-8") as f:
            f.write(re.sub('"event_bytes": [0-9]+', f'"event_bytes": {2 ** 60}', last))
        refused, = self.expected(*words, code=1)
        self.assertEqual((refused["refused"], refused["skipped"]), ("too little room is left on the disk", None))
        self.assertIsNone(self.expected(*words, "--force")[0]["refused"])
        run = self.done("collect", "--pid", target.pid, "--dry-run")
        self.assertRegex(run.text, r"^process \d+ .*\n  memory  .* resident; GC heap at most .*\n  pause   about \d+ ms, .*\n  events  about .*\n"
                                   r"  buffer  \S+ MiB in the process, whose (machine|cgroup) has \S+ [KMGT]iB left\n")
        self.refused(1, f"there is no process {2 ** 22 + 1}; .*", "collect", "--pid", 2 ** 22 + 1, "--dry-run")

    def test_dry_run_of_several(self):
        targets = [self.process(small_trace()), self.process(small_trace())]
        lines = self.expected("--all", "--name", self.name, "-o", "%p-%s.gclog")
        self.assertEqual(sorted(line["pid"] for line in lines), sorted(t.pid for t in targets))

    def test_the_reason_is_the_error(self):
        """A line after the error, here that the recording was saved, is not the reason of the failure."""
        target = self.process(trace_bytes("net10-wks")[:2000])
        words = ("collect", "--pid", target.pid, "-o", "x.gclog", "--save-trace", "x.nettrace", "--keep-partial", "--timeout", "10", "--on-failure",
                 "printenv GCDUMPC_REASON")
        run = self.done(*words, code=1)
        self.assertRegex(run.lines[-2], r"x\.nettrace: 2,000 bytes of nettrace written\Z")
        self.assertRegex(run.lines[-1], r"\Athe heap walk was not over within \d+000 ms\Z")

    def test_the_interval_is_checked_again_after_waiting(self):
        """After the dump that it waits for, its own dump would be too early."""
        target, other = self.process(small_trace()), self.process(small_trace())
        other.process.send_signal(signal.SIGSTOP)
        first = self.start("info", "--pid", other.pid, "--exclusive", "--wait", "60")       # another test may hold the lock of the machine
        self.wait_until(lambda: self.is_locked(other.pid), "the first one has the machine")
        second = self.start("collect", "--pid", target.pid, "-o", "late/%s.gclog", "--exclusive", "--wait", "60", "--min-interval", "1h", "--log", "json")
        time.sleep(1)                            # it waits
        self.old("late/1.gclog")                 # as if the first one had been such a dump
        os.utime(self.path("late/1.gclog"))
        other.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.finish(first).code, 0)
        run = self.finish(second)
        self.assertEqual((run.code, json.loads(run.err)["status"]), (0, "skipped"), run.err)
        self.assertEqual(os.listdir(self.path("late")), ["1.gclog"])

    def test_a_name_taken_while_waiting_is_not_replaced(self):
        """Another run that began in the same second may take the name: neither of the two files is lost."""
        target, other = self.process(small_trace()), self.process(small_trace())
        other.process.send_signal(signal.SIGSTOP)
        first = self.start("info", "--pid", other.pid, "--exclusive", "--wait", "60")
        self.wait_until(lambda: self.is_locked(other.pid), "the first one has the machine")
        second = self.start("collect", "--pid", target.pid, "-o", "late/%s.gclog", "--exclusive", "--wait", "60", "--log", "json")
        self.wait_until(lambda: os.path.isdir(self.path("late")) and os.listdir(self.path("late")), "the second one has begun its file")
        now = int(time.time())
        self.old(*(f"late/{now + i}.gclog" for i in range(-100, 1)))
        other.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.finish(first).code, 0)
        run = self.finish(second)
        self.assertEqual((run.code, json.loads(run.err)["status"]), (1, "failed"), run.err)
        self.assertIn("another run that began in the same second", json.loads(run.err)["reason"])
        for name in os.listdir(self.path("late")):
            with open(self.path(f"late/{name}"), "rb") as f:
                self.assertEqual(f.read(), b"old", name)

    @staticmethod
    def is_locked(pid):
        with open("/proc/net/unix", encoding="utf-8", errors="replace") as f:
            names = f.read()
        return re.search(rf"@gcdumpc/process/\d+/{pid}/", names) and "@gcdumpc/machine" in names

    def test_server_gc(self):
        """The runtime's threads keep all processors busy during the heap walk.  They have priority over the reading thread, unless events could be lost."""
        cases, runs = ((".NET Server GC", 256, 10), (".NET Server GC", 1, 0), (".NET Server G", 256, 0), (".NET Server GCs", 256, 0)), []
        inherited = os.getpriority(os.PRIO_PROCESS, 0)
        ours = max(inherited, 0) + 1             # no thread has it by itself
        if ours + 10 > 19:
            self.skipTest(f"a thread cannot be 10 nicer than {ours} (this test runs with nice value {inherited})")
        for thread, buffer, nicer in cases:
            target = self.process(small_trace()[:-100], thread=thread)           # the rest is waited for
            runs.append((self.start("collect", "--pid", target.pid, "-o", f"{target.pid}-%s.gclog", "--buffer", buffer, "--nice", ours, "--retries", "0"),
                         {ours, ours + nicer}, set()))
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not runs[0][1] <= runs[0][2]:
            for run, _, seen in runs:
                seen |= self.nice_values(run.pid)
        time.sleep(0.5)                          # the others have come as far
        for (run, nice, seen), case in zip(runs, cases):
            self.assertEqual({n for n in seen | self.nice_values(run.pid) if n >= ours}, nice, case)
            run.send_signal(signal.SIGINT)
            self.assertEqual(self.finish(run).code, 130)

    @staticmethod
    def nice_values(pid):
        """All those that threads of process PID have."""
        found = set()
        for path in glob.glob(f"/proc/{pid}/task/*/stat"):
            with contextlib.suppress(OSError), open(path, encoding="ascii", errors="replace") as f:
                found.add(int(f.read().rpartition(")")[2].split()[16]))         # proc(5): field 19
        return found

    def test_it_does_not_dump_itself(self):
        """Even if its own socket could answer."""
        def listen():
            s = socket.socket(socket.AF_UNIX)
            s.bind(os.path.join(self.tmp, socket_name()))
            s.listen()
            s.set_inheritable(True)
            s.detach()
        process = self.start("collect", "--all", "--name", "gcdumpc", "-o", "%p.gclog", "--timeout", "2", preexec_fn=listen, close_fds=False)
        run = self.finish(process)
        self.assertEqual(run.code, 1)
        # there may be messages about other processes of the machine
        self.assertNotIn(f"process {process.pid}:", run.err.decode())
        self.assertEqual(os.listdir(self.dir), [])
        for name in os.listdir(self.tmp):
            os.unlink(os.path.join(self.tmp, name))


if __name__ == "__main__":
    main()
