"""growth.py itself: gcdumpc reads its hostile inputs, and excessive growth is reported."""
import contextlib
import io
import math
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("GCDUMPC_BUILD") or os.path.join(HERE, "..", "..", "build")
sys.path.insert(0, HERE)

import growth                       # noqa: E402
from growth_shapes import SHAPES    # noqa: E402


class Stub:
    """A fake command that takes LAW(kilobytes) seconds."""

    def __init__(self, name, law):
        self.name, self.law, self.looks = name, law, 0

    def seconds(self, path):
        self.looks += 1
        return self.law(os.path.getsize(path) / 1000)


class Growth(unittest.TestCase):
    def test_every_input_is_read(self):
        """Else its figures mean nothing: a refused input takes no time."""
        r = subprocess.run([sys.executable, "-B", os.path.join(HERE, "growth.py"), "--build", BUILD, "--elements", "200", "--factor", "2",
                            "--commands", "report,leaks"], capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual(r.stdout.splitlines()[-1], f"{len(SHAPES)} inputs, 2 commands: nothing grew faster than the input")

    def test_they_grow_as_they_should(self):
        for name, (_, make) in SHAPES.items():
            small, large = len(make(400)), len(make(1600))
            self.assertTrue(2 < large / small < 5, (name, small, large))

    def test_excessive_growth_is_reported(self):
        commands = [Stub("straight", lambda n: n), Stub("square", lambda n: n * n), Stub("sorting", lambda n: n * math.log2(1000 * n)),
                    Stub("nothing", lambda n: n * n / 1e6)]
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as shown:
            self.assertEqual(growth.look_at("a_list", 400, 8, commands, folder), ["square"])
            self.assertEqual(os.listdir(folder), [])
        self.assertRegex(shown.getvalue(), r"\Aa_list: .* times\n  square: .* s, then .* s: [\d.]+ times\n\Z")
        self.assertEqual([c.looks for c in commands], [2, 8, 2, 2])         # a suspicious time is measured again

    def test_wrong_usage(self):
        for words in (["--shapes", "a_list,nonsense"], ["--commands", "nonsense"]):
            r = subprocess.run([sys.executable, "-B", os.path.join(HERE, "growth.py"), *words], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((r.returncode, "not known: nonsense" in r.stderr), (2, True))


if __name__ == "__main__":
    if not os.path.exists(os.path.join(BUILD, "gcdumpc")):
        print("skipped: gcdumpc is not built")
        sys.exit(77)
    unittest.main()
