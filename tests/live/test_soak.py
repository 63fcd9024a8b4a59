"""A target is dumped repeatedly by a gcdumpc that is often killed: exactly the files of --keep remain.  Needs the .NET SDK."""
import os
import random
import subprocess
import sys
import time

from live_support import MOST_SESSIONS, PROGRAM, SECONDS, LiveTest, Process, free_sessions, main, resident_mb

DUMPS = int(os.environ.get("GCDUMPC_TEST_SOAK") or 30)
KEEP = 5
WARM = 10                        # dumps until the memory of the target is stable
OBJECTS = 100000


class Soak(LiveTest):
    def setUp(self):
        super().setUp()
        seed = int(os.environ.get("GCDUMPC_TEST_SEED") or random.randrange(1 << 32))
        print(f"{self.id()}: GCDUMPC_TEST_SEED={seed}", file=sys.stderr)
        self.random = random.Random(seed)

    def dumps(self):
        return [n for n in os.listdir(self.path("HeapLab")) if not n.startswith(".")]

    def collect(self, target, seconds=None):
        """A dump; after SECONDS it is killed."""
        p = subprocess.Popen([PROGRAM, "--pid", str(target.pid), "-o", self.path("%n/%n-%p-%Y%m%dT%H%M%SZ.nettrace.gz"), "--keep", str(KEEP),
                              "--max-total", "100M", "--log", "text"], stderr=subprocess.PIPE, text=True)
        try:
            _, err = p.communicate(timeout=seconds or SECONDS)
        except subprocess.TimeoutExpired:
            self.assertIsNotNone(seconds)
            p.kill()
            p.communicate()
            return None
        self.assertEqual(p.returncode, 0, f"target: {target.process.poll()}; {err}")
        self.assertRegex(err, r" done name=HeapLab ")
        return err

    def test_many_dumps(self):
        killed, memory, target = 0, [], Process("--objects", str(OBJECTS))
        self.addCleanup(lambda: target.__exit__())
        to_kill, shortest = set(self.random.sample(range(DUMPS), DUMPS // 3)), float("inf")
        for i in range(-1, DUMPS):                       # the first one shows how long it takes
            begun, kill = time.monotonic(), i in to_kill
            if self.collect(target, self.random.random() * shortest if kill else None) is None:
                killed += 1
            else:
                shortest = min(shortest, time.monotonic() - begun)
            self.assertLessEqual(len(self.dumps()), KEEP)
            if i == DUMPS // 2:                          # it restarts with another pid
                target.__exit__()
                target, memory = Process("--objects", str(OBJECTS)), []
            memory.append(resident_mb(target.pid))
        self.assertGreater(killed, DUMPS // 10)
        time.sleep(1)                                    # another name: it must not replace the last one
        self.collect(target)
        names = self.dumps()
        self.assertEqual(len(names), KEEP)
        for name in names:
            r = self.gcdumpc("info", self.path("HeapLab/" + name))
            self.assertRegex(r.stdout, r"(?m)^verdict +complete$")
        self.assertEqual([n for n in os.listdir(self.path("HeapLab")) if n.startswith(".")], [])
        self.assertEqual(self.files(), [".HeapLab.gcdumpc-files", ".HeapLab.gcdumpc-last", "HeapLab"])
        self.check_sessions(target)
        self.assertEqual(free_sessions(target), MOST_SESSIONS)
        # the memory of the target does not grow with the number of dumps
        if len(memory) > 2 * WARM:
            early, late = memory[WARM:WARM + 5], memory[-5:]
            self.assertLess(min(late), max(early) * 1.05, memory)


if __name__ == "__main__":
    main()
