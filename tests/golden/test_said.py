"""What is said about suspects, with the numbers behind it, in every heap that the unit tests of suspects and findings make: compared with said.txt,
so that any change is seen.  --bless writes that file: read the difference.  "all" is a digest of everything that the library tells about a heap;
with GCDUMPC_PILES=FILE GCDUMPC_PILES_WHOLE=1 the unit test writes what it is a digest of."""
import os
import sys
import tempfile
import unittest

from golden_support import BUILD, run

EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "said.txt")
BLESS = "--bless" in sys.argv
TESTS = ("suspects", "suspects_collections", "suspects_edges", "suspects_merge", "suspects_owner", "suspects_ways", "findings", "finding_rules")


def said(test):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "said")
        r = run(os.path.join(BUILD, "tests", "test_" + test), env={**os.environ, "GCDUMPC_PILES": path})
        if r.returncode != 0:
            raise AssertionError(f"test_{test} itself fails:\n{r.stderr.decode()[-2000:]}")
        with open(path, encoding="utf-8") as f:
            return f"==== test_{test}\n\n{f.read()}"


class Said(unittest.TestCase):
    maxDiff = 4000

    def test_suspects(self):
        if not os.path.exists(os.path.join(BUILD, "tests", "test_suspects")):
            self.skipTest("the unit tests are not built")
        text = "".join(map(said, TESTS))
        if BLESS:
            with open(EXPECTED, "w", encoding="utf-8") as f:
                f.write(text)
        with open(EXPECTED, encoding="utf-8") as f:
            expected = f.read()
        if text != expected:                  # one heap is enough: unittest compares long texts for minutes
            got, wanted = text.split("\n\n"), expected.split("\n\n")
            for g, w in zip(got, wanted):
                self.assertEqual(g, w, "--bless writes the file")
            self.fail(f"{len(got)} heaps instead of {len(wanted)}")


if __name__ == "__main__":
    if BLESS:
        sys.argv.remove("--bless")
    unittest.main()
