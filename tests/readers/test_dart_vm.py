#!/usr/bin/env python3
"""The heap snapshot of a real Dart VM against what the VM itself counted a moment before, and against the reader in Python.

The snapshot is outside the repository, like the recordings of test_shared_traces.py, with the VM's own table in the README.md beside it.
The snapshot also holds the read-only pages of the VM, which its table leaves out: counts can be higher, never lower.
"""
import gzip
import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import dart_read                                                        # noqa: E402

FOLDER = os.environ.get("GCDUMPC_SHARED_TRACES", os.path.join(HERE, "..", "..", "..", "shared", "traces"))
SNAPSHOT = os.path.join(FOLDER, "dart-vm-3.4.0-ia32.dartheap.gz")
PROGRAM = os.path.join(os.environ.get("GCDUMPC_BUILD", os.path.join(HERE, "..", "..", "build")), "gcdumpc")


def setUpModule():
    if not os.path.isfile(SNAPSHOT):
        print("skipped: snapshot of a Dart VM: no such file (GCDUMPC_SHARED_TRACES)", file=sys.stderr)
        raise unittest.SkipTest("no snapshot of a Dart VM")


def report(*words, command="report"):
    return json.loads(subprocess.run([PROGRAM, command, SNAPSHOT, "--json", *words], stdout=subprocess.PIPE, check=True).stdout)


def table_of_the_vm():
    """Class -> (bytes, instances), and the heap usage."""
    with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as f:
        text = f.read().partition("dart-vm-3.4.0")[2].partition("\n## ")[0]
    rows = re.findall(r"\| *([\d,]+) \| *([\d,]+) \| *(\w+) *(?=\|)", text)
    used = re.search(r"heap usage ([\d,]+)", text)[1]
    return {name: (number(size), number(count)) for size, count, name in rows}, number(used)


def number(text):
    return int(text.replace(",", ""))


class DartVm(unittest.TestCase):
    def test_totals(self):
        got = report()
        _, used = table_of_the_vm()
        self.assertEqual((got["objects"], got["bytes"], got["verdict"]["complete"]), (153365, 12649464, True))
        self.assertEqual(got["bytes"] - used, 488)      # made between the two

    def test_the_largest_classes(self):
        types, largest = {t["type"]: t for t in report()["types"]}, table_of_the_vm()[0]
        self.assertEqual(len(largest), 10)
        for name, (size, count) in largest.items():
            got = types[name]
            self.assertTrue(size <= got["bytes"] <= 1.006 * size, (name, size, got["bytes"]))
            self.assertTrue(count <= got["count"] <= 1.07 * count, (name, count, got["count"]))
        exact = [n for n, (size, count) in largest.items() if (types[n]["bytes"], types[n]["count"]) == (size, count)]
        self.assertLessEqual({"Function", "_TwoByteString", "_Uint32List", "_FunctionType", "ICData"}, set(exact))

    def test_the_reader_in_python(self):
        with gzip.open(SNAPSHOT) as packed:
            other, got = dart_read.report(dart_read.Snapshot(packed.read())), report()
        mine = {}
        for t in got["types"]:
            name = re.sub(r" \[.*\]$", "", t["type"])       # classes of one name are told apart by their library
            mine[name] = [a + b for a, b in zip(mine.get(name, (0, 0)), (t["count"], t["bytes"]))]
        # the root of a snapshot is no object here
        self.assertEqual((other["nodes"] - 1, other["bytes"]), (got["objects"], got["bytes"]))
        self.assertEqual({name: row for name, row in other["types"].items() if name != "Root"}, mine)

    def test_what_holds_it(self):
        """The roots of a VM are in it, so retained sizes and suspects can be asked."""
        root = report("--by", "root", "--retained")
        self.assertEqual(sum(r["claimed_bytes"] or 0 for r in root["roots"]), root["bytes"])


if __name__ == "__main__":
    unittest.main()
