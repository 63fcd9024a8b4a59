"""Ctrl-C, kill and a target that dies, at random moments: nothing is left behind, neither in the folder nor in the target."""
import os
import random
import select
import signal
import sys
import time

from live_support import MOST_SESSIONS, RUNTIMES, SECONDS, LiveTest, Missing, Process, free_sessions, heaplab, main, wait_for_lock

SIGNALS = 50
DEATHS = 20
STOPS = 6
OBJECTS = 200000                 # a dump of them takes about a third of a second


class Interrupts(LiveTest):
    def setUp(self):
        super().setUp()
        seed = int(os.environ.get("GCDUMPC_TEST_SEED") or random.randrange(1 << 32))
        print(f"{self.id()}: GCDUMPC_TEST_SEED={seed}", file=sys.stderr)
        self.random = random.Random(seed)

    def start_dump(self, target):
        return self.start_gcdumpc("--pid", target.pid, "-o", self.path("a.gclog"), "--timeout", SECONDS)

    def usual_seconds(self, target):
        """How long a dump of TARGET takes here; it is complete."""
        begun = time.monotonic()
        self.check_next_dump(target)
        return time.monotonic() - begun

    def check_next_dump(self, target):
        self.gcdumpc("--pid", target.pid, "-o", self.path("next.gclog"))
        self.check_whole("next.gclog", target)
        os.unlink(self.path("next.gclog"))

    def check_whole(self, name, target):
        with open(self.path(name), encoding="utf-8") as f:
            objects = sum(line.startswith("o ") for line in f)
        self.assertGreaterEqual(objects, target.counts()["objects"]["min"])

    def moments(self, count, seconds):
        """COUNT delays, spread evenly over a dump and a little more, in any order.  done() adapts to a machine that becomes faster."""
        parts = [(i + self.random.random()) / count * 1.1 for i in range(count)]
        self.random.shuffle(parts)
        self.seconds = seconds
        for part in parts:
            yield part * self.seconds

    def done(self, delay):
        """A dump was over after DELAY."""
        self.seconds = min(self.seconds, delay)

    def test_signals(self):
        with Process("--objects", str(OBJECTS)) as target:
            statuses, stopped = [], 0
            for i, delay in enumerate(self.moments(SIGNALS, self.usual_seconds(target))):
                p = self.start_dump(target)
                time.sleep(delay)
                p.send_signal((signal.SIGINT, signal.SIGTERM)[i % 2])
                _, err = p.communicate(timeout=SECONDS)
                stopped += target.session_threads() == 0
                with self.subTest(delay=delay, status=p.returncode):
                    # Before the program has installed its handlers, the signal itself ends it.
                    self.assertIn(p.returncode, (0, 130, -signal.SIGINT, -signal.SIGTERM), err)
                    self.check_sessions(target)
                    if p.returncode == 0:
                        self.done(delay)
                        self.check_whole("a.gclog", target)
                        os.unlink(self.path("a.gclog"))
                    self.assertEqual(self.files(), [])
                statuses.append(p.returncode)
            self.assertGreater(statuses.count(130), SIGNALS // 5, statuses)      # the others had finished
            # The runtime also notices a closed connection, but only after we have ended: most sessions must have been stopped properly.
            self.assertGreater(stopped, SIGNALS * 3 // 4, statuses)
            self.assertEqual(free_sessions(target), MOST_SESSIONS)
            self.check_next_dump(target)

    def test_the_target_dies(self):
        with Process("--objects", str(OBJECTS)) as target:
            seconds = self.usual_seconds(target)
        for delay in self.moments(DEATHS, seconds):
            with Process("--objects", str(OBJECTS)) as target, self.subTest(delay=delay):
                p = self.start_dump(target)
                time.sleep(delay)
                target.process.kill()
                _, err = p.communicate(timeout=SECONDS)
                self.assertIn(p.returncode, (0, 1, 3), err)
                if p.returncode == 1:
                    self.assertRegex(err, rf"^gcdumpc: process {target.pid}(: | is a zombie)[^\n]*\n$")
                    self.assertRegex(err, r"ended|zombie|no process|no diagnostic socket|closed")
                elif p.returncode == 3:
                    self.assertRegex(err, "incomplete: ")
                else:
                    self.check_whole("a.gclog", target)
                self.assertEqual(self.files(), [] if p.returncode == 1 else ["a.gclog"])
                for name in self.files():
                    os.unlink(self.path(name))

    def test_the_target_is_stopped(self):
        """It ends by itself if the stop follows the trigger's answer, else by --timeout; always with a message."""
        with Process("--objects", str(OBJECTS)) as target:
            seconds = self.usual_seconds(target)
            for delay in self.moments(STOPS, seconds):
                p = self.start_gcdumpc("--pid", target.pid, "-o", self.path("a.gclog"), "--timeout", 20)
                time.sleep(delay)
                os.kill(target.pid, signal.SIGSTOP)
                _, err = p.communicate(timeout=SECONDS)
                os.kill(target.pid, signal.SIGCONT)
                with self.subTest(delay=delay, status=p.returncode):
                    self.assertIn(p.returncode, (0, 1, 3), err)
                    if p.returncode == 1:
                        self.assertRegex(err, r"is stopped|did not end after|has not answered|no answer|nothing of a heap walk")
                        self.assertEqual(self.files(), [])
                    self.check_sessions(target)
                    for name in self.files():
                        os.unlink(self.path(name))
            self.check_next_dump(target)

    def test_gcdumpc_dies(self):
        with Process("--objects", str(OBJECTS)) as target:
            for delay in self.moments(DEATHS, self.usual_seconds(target)):
                with open(self.path("a.gclog"), "w", encoding="utf-8") as f:
                    f.write("of an earlier dump\n")
                p = self.start_dump(target)
                time.sleep(delay)
                p.kill()
                p.communicate(timeout=SECONDS)
                with self.subTest(delay=delay, status=p.returncode):
                    with open(self.path("a.gclog"), encoding="utf-8") as f:
                        old = f.read() == "of an earlier dump\n"
                    if p.returncode == 0 or not old:                 # it may have died after its last action
                        self.check_whole("a.gclog", target)
                    self.assertTrue(p.returncode != 0 or not old)
                    self.assertLessEqual(len(self.files()), 2)
                    self.check_next_dump(target)
                    self.assertEqual(self.files(), ["a.gclog"])      # it has removed the left-overs
            # killed clients have no session left after the next dumps
            self.check_sessions(target)
            self.assertEqual(free_sessions(target), MOST_SESSIONS)

    def test_gcdumpc_stops_and_dies_with_a_full_buffer(self):
        """.NET 11 could wait for its reader; it must not, because it would wait for a dead one, too, and without end."""
        newest = RUNTIMES[-1]
        try:
            program = heaplab(newest)
        except Missing as missing:
            self.skipTest(str(missing))
        for moment in range(3):
            with Process("--objects", str(20 * OBJECTS), "--stall", program=program) as target:
                p = self.start_gcdumpc("--pid", target.pid, "-o", self.path("a.gclog"), "--buffer", 16, "--timeout", SECONDS, "--force")
                wait_for_lock(target)
                time.sleep(0.2 + moment * self.random.random() / 2)
                p.send_signal(signal.SIGSTOP)
                if moment > 0:
                    time.sleep(0.5)
                    p.kill()
                target.process.stdin.write("stall\n")
                target.process.stdin.flush()
                answered, _, _ = select.select([target.process.stdout], [], [], SECONDS / 5)
                p.kill()
                p.communicate(timeout=SECONDS)
                self.assertTrue(answered, "the process hangs")


if __name__ == "__main__":
    main()
