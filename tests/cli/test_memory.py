"""Memory does not depend on the number of objects."""
import os
import subprocess
import tempfile
import unittest

from cli_support import PROGRAM, SANITIZED, CliTest, compiled, genheap, main

MIB = 1024                       # in KiB, as the system counts
MOST = 64 * MIB
SAME = 4 * MIB
# The peak of a child includes its parent's size at the fork, so the parent must be small.
MEASURE = """
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    (void)argc;
    pid_t child = fork();
    if (child == 0) {
        execv(argv[1], argv + 1);
        _exit(127);
    }
    struct rusage used;
    int status;
    if (wait4(child, &status, 0, &used) != child)
        return 1;
    fprintf(stderr, "peak %ld\\n", used.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
"""


@unittest.skipIf(SANITIZED, "sanitizers take memory of their own")
class Memory(CliTest):
    SIZES = (200_000, 1_000_000, 2_000_000)

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="gcdumpc-cli-")
        cls.addClassCleanup(folder.cleanup)
        source = os.path.join(folder.name, "measure.c")
        with open(source, "w", encoding="utf-8") as f:
            f.write(MEASURE)
        cls.measure = compiled(folder.name, "measure", source)
        generator = genheap(folder.name)
        cls.traces = {}
        for objects in cls.SIZES:
            cls.traces[objects] = os.path.join(folder.name, f"{objects}.nettrace")
            subprocess.run([generator, "--objects", str(objects), cls.traces[objects]], check=True)

    def peak(self, objects, *words, data=False):
        """Peak memory of the program in KiB.  DATA: the recording comes through a pipe."""
        words = [self.traces[objects] if w == "TRACE" else w for w in words]
        command = [self.measure, PROGRAM, *words, "-q"]
        if data:
            with subprocess.Popen(["cat", self.traces[objects]], stdout=subprocess.PIPE) as cat:
                run = subprocess.run(command, stdin=cat.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.dir,
                                     env=self.environment(), check=True)
        else:
            run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.dir, env=self.environment(),
                                 check=True)
        name, number = run.stderr.split()
        self.assertEqual(name, b"peak")
        return int(number)

    def bounded(self, *words, **options):
        small, middle, large = (self.peak(n, *words, **options) for n in self.SIZES)
        self.assertGreater(small, 512)               # else something else was measured
        self.assertLess(middle, MOST)
        self.assertLess(large, MOST)
        self.assertLess(abs(large - small), SAME, (small, middle, large))

    def test_report(self):
        self.bounded("report", "TRACE")
        self.bounded("report", "-", data=True)
        self.bounded("report", "--json", "TRACE")
        self.bounded("report", "--by=length", "TRACE")
        self.bounded("report", "--format=prometheus", "TRACE")

    def test_info(self):
        self.bounded("info", "TRACE")

    def test_convert(self):
        self.bounded("convert", "TRACE", "-o", "/dev/null")
        self.bounded("convert", "TRACE", "-o", "out.gclog.gz")
        self.bounded("convert", "-", "-o", "out", data=True)


if __name__ == "__main__":
    main()
