"""Names that gcdumpc adds to a recording do not disturb other readers: TraceEvent, which PerfView and Visual Studio have, and our decoder in Python.

tests/named_recording adds made-up names, so no files of modules are needed.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import real_readers

BUILD = os.environ.get("GCDUMPC_BUILD", "build")
TRACES = os.path.join(HERE, "..", "..", "traces")
OUTER = "Tests.Outer`1"


def output_of(*words):
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"{os.path.basename(words[0])}: status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def python_reader(path):
    return json.loads(output_of(sys.executable, os.path.join(HERE, "nettrace_ref.py"), path, "--json"))


LAYOUT = "gcdumpc/7"        # of a type; the decoder knows what is in it


class Readers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="gcdumpc-")
        self.addCleanup(self.folder.cleanup)

    def recordings(self, name, outer=OUTER, walks=(1,)):
        """The bundled recording NAME, the same with names, and the fields of these."""
        bare, at, names = os.path.join(self.folder.name, "bare.nettrace"), None, []
        with open(bare, "wb") as file:
            file.write(subprocess.run(["gzip", "-dc", os.path.join(TRACES, name, "heap.nettrace.gz")], capture_output=True, check=True).stdout)
        for walk in walks:
            last, at = at or bare, os.path.join(self.folder.name, f"named-{walk}.nettrace")
            names += output_of(os.path.join(BUILD, "tests", "named_recording"), last, at, outer, str(walk)).splitlines()
        return bare, at, [line.split("\t") for line in names]

    def test_trace_event(self):
        real_readers.need_nettrace_reader()
        long_names = "x" * 5000              # several blocks
        for name, outer, walks in (("net8-wks", OUTER, (1,)), ("net9-svr", OUTER, (1,)), ("net10-wks", OUTER, (1,)),
                                   ("net10-wks", long_names, (1,)), ("net8-wks-two-dumps", OUTER, (1, 2))):
            with self.subTest(name, outer=outer[:20]):
                bare, named, wanted = self.recordings(name, outer, walks)
                before, after = real_readers.read_nettrace(bare), real_readers.read_nettrace(named)
                seen, counts = after.pop("names"), after.pop("events")
                ours = {key: counts.pop(key) for key in sorted(counts) if key.startswith("gcdumpc/")}
                self.assertGreater(ours.pop(LAYOUT), 0)
                self.assertEqual((before.pop("names"), before.pop("events")), ([], counts))
                self.assertEqual(before, after)
                self.assertEqual((after["whole"], after["lost"]), (True, 0))
                self.assertEqual((ours["gcdumpc/1"], sum(ours.values())), (len(walks), len(wanted) + len(walks)))
                fields = {"Module": ("ModuleID", "AssemblyName", "ModulePath"), "NestedType": ("TypeID", "DeclaringType"),
                          "StaticVariable": ("Address", "Field", "DeclaringType", "Label"),
                          "ProcessMemory": ("UnixMilliseconds", "ResidentBytes", "GCBytes", "CGroupUsedBytes")}
                self.assertEqual([[event["EventName"], *(event[field] for field in fields[event["EventName"]])]
                                  for event in seen if event["EventName"] not in ("Names", "Layout")], wanted)
                self.assertEqual([event["WalkNumber"] for event in seen if event["EventName"] == "Names"], [str(walk) for walk in walks])
                self.assertEqual({(event["Mvid"][:4], event["PublicKeyToken"]) for event in seen if event["EventName"] == "Module"} &
                                 {("0101", "a0" * 8), ("0202", "")}, {("0101", "a0" * 8), ("0202", "")})

    def test_the_decoder_in_python(self):
        for name in ("net8-svr", "net10-wks"):
            with self.subTest(name):
                bare, named, wanted = self.recordings(name)
                before, after = python_reader(bare), python_reader(named)
                counts = after.pop("events")
                ours = {key: counts.pop(key) for key in sorted(counts) if key.startswith("gcdumpc/")}
                self.assertGreater(ours.pop(LAYOUT), 0)
                self.assertEqual((before.pop("events"), sum(ours.values())), (counts, len(wanted) + 1))
                self.assertEqual(before.pop("sequence_points") + 1, after.pop("sequence_points"))
                self.assertEqual(before, after)


if __name__ == "__main__":
    real_readers.main()
