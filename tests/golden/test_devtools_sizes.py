"""Retained sizes: the program's own answer compared with Chrome DevTools' model of the same heap as .heapsnapshot."""
import os
import sys
import tempfile
import unittest

from golden_support import BUILD, READERS, TRACES, gcdumpc, gcdumpc_json, run

sys.path.insert(0, READERS)
from real_readers import main, read_heapsnapshot                     # noqa: E402

LARGEST = 3000


class DevTools(unittest.TestCase):
    def compare(self, recording, share=1):
        with tempfile.TemporaryDirectory(prefix="gcdumpc-golden-") as folder:
            snapshot = os.path.join(folder, "heap.heapsnapshot")
            gcdumpc("convert", recording, "-o", snapshot, "-q", check=True)
            seen = read_heapsnapshot(snapshot, largest=LARGEST)
        ours, _ = gcdumpc_json("retained", recording, "--largest", "objects", "--top", "1000000000")
        made_up = seen["nodes"] - ours["objects"]                # first the root and the groups of roots
        retained = {o["node"]: o["retained_bytes"] for o in ours["largest_objects"]}
        compared = equal = 0
        for theirs in seen["retained"]:
            node = (theirs["id"] - 1) // 2 - made_up
            if node in retained:                                 # dead objects have a size in DevTools
                # DevTools does not know that local variables and the finalizer queue hold only what nothing else does
                self.assertGreaterEqual(retained[node], theirs["retained"], theirs)
                compared += 1
                equal += retained[node] == theirs["retained"]
        self.assertGreater(compared, 0.9 * min(LARGEST, len(retained)))
        self.assertGreaterEqual(equal, share * compared)

    def test_bundled_recordings(self):
        for name in ("net10-wks", "net9-svr", "net8-wks"):
            self.compare(os.path.join(TRACES, name, "heap.nettrace.gz"))

    def test_a_random_heap_with_dependent_handles(self):
        program = os.path.join(BUILD, "genheap")
        if not os.access(program, os.X_OK):
            self.skipTest("genheap is not built")
        with tempfile.TemporaryDirectory(prefix="gcdumpc-golden-") as folder:
            recording = os.path.join(folder, "heap.nettrace")
            run(program, "-n", "20000", "--dependent", "500", recording, check=True)
            self.compare(recording, 0.9)


if __name__ == "__main__":
    main()
