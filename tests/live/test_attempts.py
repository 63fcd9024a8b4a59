"""Attempts, limits and left-overs after a failure: gcdumpc on a real .NET process.  Needs the .NET SDK; without it the test is skipped."""
import contextlib
import json
import os
import re
import signal
import subprocess
import time

from live_support import PROGRAM, SECONDS, LiveTest, Process, lock_of, main, resident_mb, wait_for_lock
from record_nettrace import find_socket

MILLION = ("--objects", "1000000")       # 57 MB of events, in a process of 75 MB
# The ranges of the GC, and with them its memory, may be among the lost events, and so may the end of the pause.
SUMMARY = (r"process \d+: pause (?P<pause>unknown|[\d,]+ ms)(?: \(\d+ pauses [^)]*\))?; (?P<objects>[\d,]+) objects in (?:less than )?(?P<mb>[\d,]+) MiB of events, "
           r"(?P<lost>\S+) lost; memory (?P<before>[\d,]+) MiB, peak (?P<peak>[\d,]+) MiB, after (?P<after>[\d,]+) MiB; "
           r"(?:GC heap before (?:less than )?(?P<gc>[\d,]+) MiB; )?(?P<strategy>single|drain), CollectTracing\d, buffer (?P<buffer>\d+) MiB; [\d.]+ s")


def number(text):
    return 0 if text == "none" else int(text.replace(",", ""))


class Attempts(LiveTest):
    def summary(self, text):
        found = re.findall(SUMMARY, text)
        self.assertEqual(len(found), 1, text)
        return re.search(SUMMARY, text)

    def test_a_retry_with_a_larger_buffer_after_a_loss(self):
        with Process(*MILLION) as target:
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("a.gclog"), "--save-trace", self.path("a.nettrace"), "--buffer", 4, "--verbose")
            self.assertRegex(r.stderr, r"attempt 1: .* [1-9][\d,]* lost; drain, CollectTracing\d, buffer 4 MiB")
            self.assertRegex(r.stderr, r"events were lost; attempt 2 with a buffer of \d{3,} MiB")
            self.assertRegex(r.stderr, r"attempt 2: .* none lost; drain")
            figures = self.summary(r.stderr)
            self.assertGreater(number(figures["objects"]), 1000000)
            # the recording belongs to the attempt that was kept
            kept = json.loads(self.gcdumpc("info", self.path("a.nettrace"), "--json").stdout)
            self.assertEqual(kept["dump"]["objects"], number(figures["objects"]))
            self.gcdumpc("convert", self.path("a.nettrace"), "-o", self.path("b.gclog"))
            with open(self.path("a.gclog"), "rb") as a, open(self.path("b.gclog"), "rb") as b:
                self.assertTrue(a.read() == b.read())

    def test_no_retry_when_none_is_wanted(self):
        with Process(*MILLION) as target:
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("a.gclog"), "--buffer", 4, "--retries", 0, "--verbose", status=3)
            self.assertRegex(r.stderr, r"process \d+: (?:pause unknown|paused [\d,]+ ms); [\d,]+ objects?, [1-9][\d,]* events? lost; ")
            self.assertNotIn("attempt", r.stderr)
            self.assertGreater(number(self.summary(r.stderr)["lost"]), 0)
            # quiet: losses are reported, costs are not
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("a.gclog"), "--buffer", 4, "--retries", 0, "--quiet", status=3)
            self.assertRegex(r.stderr, r"the dump is incomplete: .* lost.*; dump it again with --buffer [1-9]\d+\n")
            self.assertNotIn("pause", r.stderr)

    def test_the_largest_buffer_ends_the_attempts(self):
        with Process(*MILLION) as target:
            r = self.gcdumpc("info", "--pid", target.pid, "--buffer", 2, "--max-buffer", 4, "--retries", 5, status=3)
            self.assertRegex(r.stderr, r"attempt 2 with a buffer of 4 MiB")
            self.assertRegex(r.stderr, r"no further attempt: the buffer already had the largest size \(4 MiB, --max-buffer\)")
            self.assertNotIn("attempt 3", r.stderr)

    def test_the_buffer_follows_the_memory_of_the_process(self):
        with Process(*MILLION) as target:
            self.assertEqual(self.summary(self.gcdumpc("info", "--pid", target.pid, "--verbose").stderr)["buffer"], "256")
        with Process("--objects", "4000000") as target:
            before = resident_mb(target.pid)
            figures = self.summary(self.gcdumpc("info", "--pid", target.pid, "--verbose").stderr)
            self.assertAlmostEqual(int(figures["buffer"]), 2 * number(figures["before"]), delta=2)      # of the same look, rounded
            self.assertAlmostEqual(number(figures["before"]) * 2**20 / 1e6, before, delta=before / 3)
            self.assertEqual(self.summary(self.gcdumpc("info", "--pid", target.pid, "--max-buffer", 300, "--verbose").stderr)["buffer"], "300")

    def test_the_summary_is_plausible(self):
        with Process(*MILLION) as target:
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("a.gclog"), "--save-trace", self.path("a.nettrace"), "--verbose")
            now = resident_mb(target.pid)
            f = self.summary(r.stderr)
            info = json.loads(self.gcdumpc("info", self.path("a.nettrace"), "--json").stdout)
            self.assertEqual(number(f["pause"].removesuffix(" ms")), (info["gc"]["pause_ns"] + 500000) // 1000000)
            self.assertGreaterEqual(info["gc"]["pause_ns"], info["gc"]["end_ns"] - info["gc"]["start_ns"])
            self.assertGreaterEqual(info["gc"]["pauses_ns"], info["gc"]["pause_ns"])
            self.assertEqual(number(f["objects"]), info["dump"]["objects"])
            self.assertEqual(number(f["mb"]), (os.path.getsize(self.path("a.nettrace")) + 2**19) >> 20)
            self.assertIsNotNone(f["gc"], r.stderr)
            self.assertLessEqual(number(f["gc"]), number(f["before"]), r.stderr)
            self.assertLessEqual(number(f["before"]), number(f["peak"]), r.stderr)
            self.assertLessEqual(number(f["after"]), number(f["peak"]), r.stderr)
            self.assertAlmostEqual(number(f["after"]) * 2**20 / 1e6, now, delta=30, msg=r.stderr)
            # the socket alone does not identify the process
            r = self.gcdumpc("info", "--port", find_socket(target.pid), "--verbose")
            self.assertRegex(r.stderr, r"none lost; memory unknown; drain, CollectTracing\d, buffer \d+ MiB")

    def test_the_time_is_shared_by_the_attempts(self):
        with Process(*MILLION) as target:
            r = self.gcdumpc("info", "--pid", target.pid, "--buffer", 2, "--retries", 100, "--max-buffer", 3, "--timeout", SECONDS // 2, status=3)
            self.assertIn("attempt 2 with a buffer of 3 MiB", r.stderr)


class Together(LiveTest):
    def test_a_second_dump_is_refused(self):
        with Process() as target:
            os.kill(target.pid, signal.SIGSTOP)          # the first one waits for an answer
            first = subprocess.Popen([PROGRAM, "--pid", str(target.pid), "-o", self.path("a.gclog"), "--timeout", str(SECONDS)],
                                     stderr=subprocess.PIPE, text=True)
            try:
                wait_for_lock(target)
                for way in (("--pid", target.pid), ("--port", find_socket(target.pid))):
                    r = self.gcdumpc("info", *way, status=1)
                    self.assertRegex(r.stderr, rf"\Agcdumpc: [^\n]*: another dump of it is under way, by process {first.pid}\n\Z")
            finally:
                os.kill(target.pid, signal.SIGCONT)
            _, err = first.communicate(timeout=SECONDS)
            self.assertEqual(first.returncode, 0, err)
            self.gcdumpc("info", "--pid", target.pid)    # the lock is gone

    def test_a_long_wait_for_the_lock(self):
        """Waiting does not fill the queue of the lock's holder, which would then look like another program."""
        with Process() as target:
            with lock_of(target):
                p = subprocess.Popen([PROGRAM, "info", "--pid", str(target.pid), "--wait", "300"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
                time.sleep(4)                            # 20 looks
                self.assertIsNone(p.poll())
            _, err = p.communicate(timeout=SECONDS)
            self.assertEqual(p.returncode, 0, err)
            self.assertNotIn("continuing without it", err)

    def test_force_ignores_the_lock(self):
        """Any process of the same user could hold it forever."""
        with Process() as target:
            with lock_of(target):
                r = self.gcdumpc("info", "--pid", target.pid, status=1)
                self.assertRegex(r.stderr, rf"another dump of it is under way, by process {os.getpid()}\n\Z")
                r = self.gcdumpc("info", "--pid", target.pid, "--force")
                self.assertRegex(r.stderr, rf"by process {os.getpid()}; continuing anyway \(--force\)\n")

    def test_a_holder_that_is_killed_leaves_nothing(self):
        with Process() as target:
            os.kill(target.pid, signal.SIGSTOP)
            first = subprocess.Popen([PROGRAM, "info", "--pid", str(target.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_for_lock(target)
            first.kill()
            first.wait()
            os.kill(target.pid, signal.SIGCONT)
            self.gcdumpc("info", "--pid", target.pid)


class Breaks(LiveTest):
    def broken_off(self, *args):
        """Kills a process once bytes of the heap walk have arrived; gcdumpc's exit status and messages."""
        for _ in range(10):
            with Process("--objects", "4000000") as target:
                p = subprocess.Popen([PROGRAM, "--pid", str(target.pid), "--timeout", str(SECONDS), *map(str, args)], stderr=subprocess.PIPE, text=True)
                while p.poll() is None and not self.has_much(p):
                    pass
                target.process.kill()
                _, err = p.communicate(timeout=SECONDS)
            if p.returncode != 0:
                return p.returncode, err
            # everything had arrived: on a busy machine the test may look too late
            self.assertRegex(err, r"a\.gclog: [4-9],\d{3},\d{3} objects, .*, complete")
            for name in os.listdir(self.folder):
                os.unlink(self.path(name))
        return self.skipTest("the dump was over before it could be broken off")

    @staticmethod
    def has_much(p):
        """The spool moves to disk at 32 MiB."""
        with contextlib.suppress(FileNotFoundError):
            for fd in os.listdir(f"/proc/{p.pid}/fd"):
                sb = os.stat(f"/proc/{p.pid}/fd/{fd}")
                if sb.st_nlink == 0 and sb.st_size > 32 << 20:
                    return True
        return False

    def test_nothing_is_left_of_a_dump_that_breaks_off(self):
        code, err = self.broken_off("-o", self.path("a.gclog"), "--save-trace", self.path("a.nettrace"))
        self.assertEqual(code, 1, err)
        self.assertEqual(len(err.strip().split("\n")), 1, err)
        self.assertEqual(os.listdir(self.folder), [])

    def test_what_was_received_is_kept_when_wanted(self):
        code, err = self.broken_off("-o", self.path("a.gclog"), "--save-trace", self.path("a.nettrace"), "--keep-partial")
        self.assertEqual(code, 3, err)
        self.assertRegex(err, r"the recording ends early")
        self.assertRegex(err, r"a\.gclog: [\d,]+ objects, .* INCOMPLETE")
        info = json.loads(self.gcdumpc("info", self.path("a.nettrace"), "--json", status=3).stdout)
        self.assertEqual(info["trace"]["end"], "truncated")
        self.assertGreater(info["dump"]["objects"], 100000)
        with open(self.path("a.gclog"), encoding="utf-8") as f:
            self.assertEqual(sum(line.startswith("o ") for line in f), info["dump"]["objects"])

    def test_without_a_heap_walk_only_the_recording_is_kept(self):
        # Stopped by the timeout before anything was recorded; without any answer there is nothing to keep.
        with Process() as target:
            os.kill(target.pid, signal.SIGSTOP)
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("a.gclog"), "--timeout", 1, "--keep-partial", status=1)
            os.kill(target.pid, signal.SIGCONT)
            self.assertEqual(len(r.stderr.strip().split("\n")), 1, r.stderr)
            self.assertEqual(os.listdir(self.folder), [])

    def test_interrupted_is_interrupted(self):
        with Process() as target:
            os.kill(target.pid, signal.SIGSTOP)
            p = subprocess.Popen([PROGRAM, "--pid", str(target.pid), "-o", self.path("a.gclog"), "--keep-partial"], stderr=subprocess.PIPE, text=True)
            wait_for_lock(target)
            p.send_signal(signal.SIGTERM)
            _, err = p.communicate(timeout=SECONDS)
            os.kill(target.pid, signal.SIGCONT)
            self.assertEqual(p.returncode, 130, err)
            self.assertEqual(os.listdir(self.folder), [])


class Room(LiveTest):
    def on_a_small_disk(self, megabytes, *args):
        """gcdumpc with -o on a file system of this size, in its own mount namespace; lists the files left on standard output."""
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            self.skipTest("a small file system needs root and unshare")
        script = ('mount -t tmpfs -o size="$1"m none "$2" || exit 77; cd "$2"; shift 2; "$@"; status=$?; ls -A; exit $status')
        r = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", str(megabytes), self.folder, PROGRAM, *map(str, args)],
                           capture_output=True, text=True, timeout=SECONDS)
        if r.returncode == 77:
            self.skipTest("no file system could be mounted")
        return r

    def test_too_little_disk_space_is_seen_before(self):
        with Process(*MILLION) as target:
            r = self.on_a_small_disk(4, "--pid", target.pid, "-o", "a.gclog")
            self.assertEqual((r.returncode, r.stdout), (1, ""), r.stderr)
            self.assertRegex(r.stderr, r"\Agcdumpc: process \d+: the dump needs about \d+ MiB in \., where \d MiB are free; --force [^\n]*\n\Z")

    def test_what_a_format_takes_is_known(self):
        with Process(*MILLION) as target:
            needs = {}
            for output in ("a.gcdump", "a.nettrace", "a.csv", *([] if os.environ.get("GCDUMPC_SQLITE") == "OFF" else ["a.db"])):
                r = self.on_a_small_disk(2, "--pid", target.pid, "-o", output)
                self.assertEqual((r.returncode, r.stdout), (1, ""), r.stderr)
                needs[output] = int(re.search(r"the dump needs about (\d+) MiB in \., where", r.stderr)[1])
            self.assertEqual(sorted(needs, key=needs.get), list(needs))
            if "a.db" in needs:
                self.assertGreater(needs["a.db"], 1.5 * needs["a.csv"])      # with the stream, which is in the same place

    def test_native_memory_needs_no_disk(self):
        """Estimated by its memory, the dump of a process with 300 MiB of native memory would not fit."""
        with Process("--memory", "native", "300") as target:
            r = self.on_a_small_disk(40, "--pid", target.pid, "-o", "a.nettrace")
            self.assertEqual((r.returncode, r.stdout), (0, "a.nettrace\n"), r.stderr)
            self.assertNotIn("are free", r.stderr)

    def test_a_disk_that_fills_up(self):
        with Process(*MILLION) as target:
            r = self.on_a_small_disk(4, "--pid", target.pid, "-o", "a.gclog", "--force")
            self.assertEqual((r.returncode, r.stdout), (1, ""), r.stderr)
            self.assertRegex(r.stderr, r"temporary copy of the stream: cannot write: No space left on device")
            self.gcdumpc("info", "--pid", target.pid)    # no session was left behind

    def test_a_small_dump_needs_no_disk_for_its_stream(self):
        with Process("--objects", "1000") as target:
            r = self.on_a_small_disk(1, "report", "--pid", target.pid, "--top", 1, "--save-trace", "a.nettrace.gz", "--force")
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertIn("a.nettrace.gz", r.stdout)


class Limits(LiveTest):
    def test_the_limit_of_its_cgroup(self):
        path = self.cgroup(400, versions=(1,))
        with Process(*MILLION) as target:
            with open(path + "/cgroup.procs", "w", encoding="ascii") as f:
                f.write(str(target.pid))
            with open(path + "/memory.limit_in_bytes", "w", encoding="ascii") as f:
                f.write(str(120 << 20))
            r = self.gcdumpc("info", "--pid", target.pid, "--buffer", 4)
            # earlier memory stays charged to the old group: this one is almost empty, an eighth of it stays free
            retry = re.search(r"attempt 2 with a buffer of (\d+) MiB", r.stderr)
            self.assertTrue(60 < int(retry[1]) <= 105, r.stderr)
            r = self.gcdumpc("info", "--pid", target.pid, "--buffer", 500, "-q", status=1)
            self.assertRegex(r.stderr, r"\Agcdumpc: process \d+: a buffer of 500 MiB is more than its cgroup can give: \d+ MiB are left, .*--force[^\n]*\n\Z")
            with open(path + "/memory.limit_in_bytes", "w", encoding="ascii") as f:
                f.write(str(40 << 20))
            # without draining: on a busy machine the walk may be slow enough for the small buffer
            r = self.gcdumpc("collect", "--pid", target.pid, "--strategy", "single", "-o", self.path("x.nettrace"), status=3)
            self.assertRegex(r.stderr, r"events may be lost: the buffer is limited to \d+ MiB, [^\n]*; --direct reads its heap without a buffer\n")
            self.assertRegex(r.stderr, r"the dump is incomplete: [^\n]*; --direct reads its heap without a buffer\n")
            with open(path + "/memory.limit_in_bytes", "w", encoding="ascii") as f:
                f.write(str(12 << 20))
            r = self.gcdumpc("info", "--pid", target.pid, status=1)
            self.assertRegex(r.stderr, r"\Agcdumpc: process \d+: its cgroup has only \d+ MiB of memory left, too little [^\n]*; --direct reads [^\n]*; --force[^\n]*\n\Z")
            self.gcdumpc("info", "--pid", target.pid, "--direct", "--max-stop", 30000, "--max-stop-total", 60000)
            with open("/sys/fs/cgroup/memory/cgroup.procs", "w", encoding="ascii") as f:
                f.write(str(target.pid))

    def test_the_limit_of_our_own_cgroup(self):
        """The dump works within it, or is refused before the pause; the kernel never ends gcdumpc."""
        path = self.cgroup(64, versions=(1,))
        with Process("--objects", "1500000") as target:
            for words, status in ((["--spill-dir", "/var/tmp"], 0), (["--spill-dir", "/dev/shm"], 1)):
                r = subprocess.run(["sh", "-c", f'echo $$ > {path}/cgroup.procs; exec "$@"', "sh", PROGRAM, "leaks", "--pid", str(target.pid), *words],
                                   capture_output=True, text=True, timeout=SECONDS, check=False)
                self.assertEqual(r.returncode, status, r.stderr)
                self.assertIn("bytes that gcdumpc may use of its cgroup", r.stderr)
                self.assertEqual("pause" in r.stderr, status == 0, r.stderr)
            self.assertRegex(r.stderr, r"the folder /dev/shm is in memory itself; .*--force continues anyway\n\Z")


if __name__ == "__main__":
    main()
