#!/usr/bin/env python3
"""The reader of pprof profiles: on what pprof-format itself wrote, on the example of other-formats.md, on damaged ones;
and the profile of sampled allocations."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import real_readers
from real_readers import Refused, read_pprof

SOURCE = os.environ.get("GCDUMPC_SOURCE") or os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.environ.get("GCDUMPC") or os.path.join(SOURCE, "build", "gcdumpc")
RECORDING = os.path.join(SOURCE, "traces", "sites", "leaks.nettrace.gz")

# other-formats.md section 3, part by part
SAMPLE_TYPES = "0a04 0801 1002  0a04 0803 1004"
SAMPLES = ("1208 0a020201 12020118", "1209 0a03030201 12020128", "120a 0a0404030201 12020120")
LOCATIONS = "2206 0801 22020801  2206 0802 22020802  2206 0803 22020803  2206 0804 22020804"
FUNCTIONS = "2a04 0801 1005  2a04 0802 1006  2a04 0803 1007  2a04 0804 1008"
STRINGS = ("", "inuse_objects", "count", "inuse_space", "bytes", "[static variables]", "Shop.Store", "Shop.Order[]", "Shop.Order")
REST = "48 8080a8b1e39fe7cb17  5a04 0803 1004  6001  7003"


def profile(sample_types=SAMPLE_TYPES, samples=SAMPLES, locations=LOCATIONS, functions=FUNCTIONS, strings=STRINGS, rest=REST):
    table = b"".join(b"\x32" + bytes([len(text.encode())]) + text.encode() for text in strings)
    return bytes.fromhex(sample_types + "".join(samples) + locations + functions) + table + bytes.fromhex(rest)


class Pprof(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        real_readers.need_node()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name

    def path(self, name, data=None):
        path = os.path.join(self.folder, name)
        if data is not None:
            with open(path, "wb") as file:
                file.write(data)
        return path

    def test_what_pprof_format_wrote(self):
        for name in ("sample.pb", "sample.pb.gz"):
            real_readers.run_node("pprof_sample.mjs", self.path(name))
            seen = read_pprof(self.path(name), graph=True)
            self.assertEqual((seen["nodes"], seen["edges"], seen["bytes"]), (4, 11, 192))
            self.assertEqual(seen["types"], {"Shop.Store": [1, 24], "Shop.Order[]": [1, 40], "Shop.Order": [4, 128]})
            self.assertEqual(seen["cumulative"]["[static variables]"], [5, 160])
            self.assertEqual(seen["roots"], [{"name": "[static variables]", "count": 5, "bytes": 160},
                                             {"name": "[local variables]", "count": 1, "bytes": 32}])
            self.assertIn([["[static variables]", "Shop.Store", "Shop.Order[]", "Shop.Order"], [3, 96]], seen["stacks"])
            facts = seen["facts"]
            self.assertEqual((facts["gzip"], facts["totals"], facts["default_sample_type"]), (name.endswith(".gz"), [6, 192], "inuse_space"))
            self.assertEqual((facts["time_nanos"], facts["comments"], facts["files"]), ("1700000000000000000", ["by hand"], ["Shop.dll"]))

    def test_the_worked_example(self):
        self.assertEqual(len(profile()), 223)
        seen = read_pprof(self.path("x.pb", profile()))
        self.assertEqual((seen["nodes"], seen["bytes"], seen["facts"]["totals"]), (3, 96, [3, 96]))
        self.assertEqual({name: row[1] for name, row in seen["cumulative"].items()},
                         {"[static variables]": 96, "Shop.Store": 96, "Shop.Order[]": 72, "Shop.Order": 32})
        self.assertEqual((seen["facts"]["period"], seen["facts"]["system_names"]), (1, 0))

    def refused(self, data):
        with self.assertRaises(Refused) as caught:
            read_pprof(self.path("bad.pb", data))
        return str(caught.exception)

    def test_lies(self):
        cases = {
            "string 0 is not empty": {"strings": ("x",) + STRINGS[1:]},
            "unknown location 9": {"samples": SAMPLES[:2] + ("120a 0a0409030201 12020120",)},
            "with id 0": {"locations": LOCATIONS.replace("2206 0804", "2206 0800")},
            "two of location 3": {"locations": LOCATIONS.replace("2206 0804", "2206 0803")},
            "location 4 without its function": {"locations": LOCATIONS.replace("22020804", "22020809")},
            "string 40 of 9": {"functions": FUNCTIONS.replace("1008", "1028")},
            "with 1 values for 2 types": {"samples": SAMPLES[:2] + ("1209 0a0404030201 120120",)},
            "no value in bytes": {"sample_types": SAMPLE_TYPES.replace("1004", "1002")},
        }
        for reason, change in cases.items():
            self.assertIn(reason, self.refused(profile(**change)))

    def test_empty_and_cut(self):
        self.assertIn("empty", self.refused(b""))
        self.assertTrue(self.refused(gzip.compress(profile())[:-30]))
        # a cut between two fields can be a whole, smaller profile: the table of strings ends early
        self.assertTrue(self.refused(profile()[:0x80]))


class Sites(unittest.TestCase):
    """The heap profile of sampled allocations, as pprof-format and go tool pprof see it."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.profile = os.path.join(folder.name, "sites.pb.gz")
        subprocess.run([PROGRAM, "sites", "-q", RECORDING, "-o", cls.profile], check=True)
        cls.sites = json.loads(subprocess.run([PROGRAM, "sites", RECORDING, "--json"], check=True, capture_output=True).stdout)["sites"]

    def test_pprof_format(self):
        real_readers.need_node()
        seen = read_pprof(self.profile)
        self.assertIn("/src/SiteLab/SiteLab.cs", json.dumps(seen))
        self.assertEqual(seen["facts"]["default_sample_type"], "inuse_space")

    def test_go_tool_pprof(self):
        if shutil.which("go") is None:
            self.skipTest("no Go (golang-go) on this machine")
        shown = subprocess.run(["go", "tool", "pprof", "-sample_index=inuse_space", "-unit=B", "-lines", "-top", self.profile], check=True,
                               capture_output=True, text=True, env={**os.environ, "HOME": os.path.dirname(self.profile)}).stdout
        for line in (26, 41, 70, 83, 97):
            name, size = next((s["method"], s["bytes"]) for s in self.sites if s["line"] == line)
            row = next(r for r in shown.splitlines() if f"{name} /src/SiteLab/SiteLab.cs:{line}" in r)
            self.assertAlmostEqual(int(row.split()[3].rstrip("B")), size, delta=2)    # cumulated


if __name__ == "__main__":
    real_readers.main()
