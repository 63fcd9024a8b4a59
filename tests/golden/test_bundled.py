"""The recordings in traces/: the target's own line, an independent reader and gcdumpc must agree."""
import gzip
import hashlib
import os
import re
import tempfile
import unittest

from golden_support import NAMED, ROOT, READERS, TRACES, bundled, differences, gcdumpc, gcdumpc_json, python

TARGET = os.path.join(ROOT, "tests", "target")
# recordings that are incomplete on purpose: the parts of the dump that are still complete
LOSSY = {"net10-wks-lossy"}
UNCLOSED = {"net10-wks-killed"}
NAMELESS = {"net10-wks-nonames"}


class Bundled(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_there_are_recordings_of_each_runtime(self):
        names = {n for n, _ in bundled()}
        self.assertLessEqual({f"net{v}-{gc}" for v in (8, 9, 10) for gc in ("wks", "svr")}, names)
        size = sum(os.path.getsize(p) for _, p in bundled())
        self.assertLess(size, 4 << 20)

    def test_checksums_of_the_readme(self):
        with open(os.path.join(TRACES, "README.md"), encoding="utf-8") as f:
            readme = f.read()
        for name, path in bundled():
            with open(path, "rb") as f:
                self.assertIn(hashlib.sha256(f.read()).hexdigest(), readme, name)

    def test_the_same_as_the_reference_reader(self):
        for name, path in bundled():
            with self.subTest(name):
                self.assertEqual(differences(path), [])

    def test_counts_of_the_target(self):
        for name, path in bundled():
            if name in NAMELESS:
                continue
            with self.subTest(name):
                args = [os.path.join(TARGET, "check_counts.py")]
                if name in LOSSY:
                    args.append("--incomplete")
                args += [os.path.join(TRACES, name, "counts.json"), self.path("report.json")]
                for command in ("report", "info"):
                    r = gcdumpc(command, "--json", "-q", path)
                    with open(self.path(command + ".json"), "wb") as f:
                        f.write(r.stdout)
                if name not in UNCLOSED:
                    args.append(self.path("info.json"))
                r = python(*args)
                self.assertEqual(r.returncode, 0, r.stdout.decode() + r.stderr.decode())

    def test_gclog_read_back(self):
        for name, path in bundled():
            if name in NAMED:                # static variables have their class there, not the type of the value
                continue
            with self.subTest(name):
                out = self.path(name + ".gclog")
                r = gcdumpc("convert", path, "-o", out)
                self.assertEqual(r.returncode, 3 if name in LOSSY | UNCLOSED | NAMELESS else 0, r.stderr.decode())
                r = python(os.path.join(READERS, "gclog_check.py"), path, out)
                self.assertEqual(r.returncode, 0, r.stdout.decode())
                self.assertRegex(r.stdout.decode(), r"gclog ok: \d{5,} objects")

    def test_second_dump_of_a_recording(self):
        path = dict(bundled())["net8-wks-two-dumps"]
        first, _ = gcdumpc_json("info", path)
        second, _ = gcdumpc_json("info", path, "--walk", "2")
        self.assertEqual((first["dumps"], second["dumps"]), (2, 2))
        self.assertTrue(second["dump"]["complete"])
        self.assertGreater(second["gc"]["number"], first["gc"]["number"])
        self.assertGreater(second["dump"]["objects"], 17000)
        # all its type records came with the first dump
        self.assertEqual(second["dump"]["types_undescribed"], 0)
        r = gcdumpc("info", path, "--walk", "3")
        self.assertEqual(r.returncode, 1)
        self.assertIn(b"2 heap dumps", r.stderr)

    def test_generation_ranges(self):
        info, _ = gcdumpc_json("info", dict(bundled())["net10-wks-ranges"])
        self.assertEqual(info["dump"]["ranges"], 6)
        plain, _ = gcdumpc_json("info", dict(bundled())["net10-wks"])
        self.assertEqual(plain["dump"]["ranges"], 0)

    def test_names_of_the_recording(self):
        path = dict(bundled())["net10-wks-names"]
        report, _ = gcdumpc_json("report", path)
        names = {t["type"]: t["raw_name"] for t in report["types"]}
        self.assertEqual(names["HeapLab.Cabinet.Drawer"], "Drawer")
        self.assertEqual(names["System.Collections.Generic.Dictionary<HeapLab.Key, HeapLab.Book>.Entry[]"], "Entry[HeapLab.Key,HeapLab.Book][]")
        r = gcdumpc("paths", path, "--type", "HeapLab.Registry[]")
        self.assertIn("static variable HeapLab.Statics.s_registries\n", r.stdout.decode())

    def test_server_gc_is_told_from_workstation(self):
        for name, path in bundled():
            info, _ = gcdumpc_json("info", path)
            self.assertEqual(info["gc"]["heaps"], 2 if name.endswith("-svr") else 1, name)

    def test_gclog_begins_and_ends_as_it_should(self):
        out = self.path("x.gclog.gz")
        self.assertEqual(gcdumpc("convert", dict(bundled())["net10-wks"], "-o", out).returncode, 0)
        with gzip.open(out, "rb") as f:
            lines = f.read().split(b"\n")
        self.assertRegex(lines[0], rb"^a 2 HeapLab [0-9a-f]{1,8}$")
        self.assertEqual(lines[-2], b"c " + lines[0][4:])
        self.assertEqual(lines[-1], b"")
        letters = re.sub(r"(.)\1*", r"\1", "".join(chr(line[0]) for line in lines[:-1]))
        self.assertEqual(letters, "atrotc")          # the second t is the checksum


if __name__ == "__main__":
    unittest.main()
