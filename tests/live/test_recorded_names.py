"""Names found while a process is dumped are in its recording.  Needs the .NET SDK; without it the test is skipped.

GCDUMPC_TEST_LAST_VERSION=1 also builds the last version from the history, which takes a minute and what it needs (libinih-dev): it must read new
recordings, and skip what they have for newer versions.
"""
import io
import json
import os
import subprocess
import sys
import tarfile

from live_support import CACHE, ROOT, LiveTest, Missing, Process, main, made_once, need

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "readers"))

import real_readers                                                     # noqa: E402

NESTED = "HeapLab.Cabinet.Drawer"
LAST, LAST_COMMIT = "0.2.0", "6d8e9434bd6dedcd2b8c26f76035503976222c91"


def last_version():
    """Path of the program of LAST."""
    with made_once(f"gcdumpc-{LAST}") as (folder, there):
        if not there:
            files = subprocess.run(["git", "-C", ROOT, "archive", LAST_COMMIT], capture_output=True)
            if files.returncode != 0:
                raise Missing(f"the history has no {LAST} here: {files.stderr.decode().strip()}")
            with tarfile.open(fileobj=io.BytesIO(files.stdout)) as archive:
                archive.extractall(os.path.join(folder, "source"))
            build = os.path.join(folder, "build")
            for words in (["-S", os.path.join(folder, "source"), "-B", build, "-DGCDUMPC_TESTS=OFF", "-DGCDUMPC_SQLITE=OFF", "-DGCDUMPC_BROWSE=OFF"],
                          ["--build", build, "--parallel", "2"]):
                r = subprocess.run(["cmake", *words], capture_output=True, text=True)
                if r.returncode != 0:
                    raise Missing(f"{LAST} cannot be built here: {r.stderr[-500:]}")
    return os.path.join(CACHE, f"gcdumpc-{LAST}", "build", "gcdumpc")


class RecordedNames(LiveTest):
    def names(self, *words):
        report = json.loads(self.gcdumpc("report", *words, "--json").stdout)
        self.assertTrue(report["verdict"]["complete"])
        return {t["id"]: t["type"] for t in report["types"]}

    def providers(self, path):
        return {e["provider"] for e in json.loads(self.gcdumpc("info", path, "--events", "--json").stdout)["events"]}

    def test_a_recording_needs_no_files(self):
        with Process() as target:
            r = self.gcdumpc("--pid", target.pid, "-o", self.path("a.nettrace"))
            self.assertRegex(r.stderr, r"bytes of nettrace with [\d,]+ names written, complete\n")
            self.assertIn(NESTED, self.names(self.path("a.nettrace"), "--no-modules").values())
            self.assertIn("gcdumpc", self.providers(self.path("a.nettrace")))
            seen = real_readers.read_nettrace(self.path("a.nettrace"))
            self.assertEqual((seen["whole"], seen["lost"], seen["backwards"]), (True, 0, 0))
            self.assertIn("HeapLab.Cabinet", {event.get("DeclaringType") for event in seen["names"]})

    def test_the_last_version_reads_new_recordings(self):
        if not os.environ.get("GCDUMPC_TEST_LAST_VERSION"):
            self.skipTest(f"builds {LAST}; GCDUMPC_TEST_LAST_VERSION=1 runs it")
        last = need(last_version)
        self.assertIn(LAST, subprocess.run([last, "--version"], capture_output=True, text=True, check=True).stdout)
        with Process() as target:
            for name, options in (("names", []), ("values", ["--values", "strings"]), ("samples", ["--window", "1s", "--settle", "1s"])):
                path = self.path(f"{name}.nettrace")
                self.gcdumpc("collect", "--pid", target.pid, "-o", path, *options)
                for command in ("report", "retained"):
                    words = command, path, "--top", "100000", "--json", "--no-modules"
                    r = subprocess.run([last, *words], capture_output=True, text=True)
                    self.assertEqual((r.returncode, r.stderr), (0, ""), (name, command))
                    before, now = json.loads(r.stdout), json.loads(self.gcdumpc(*words[:-2], "--json=1", words[-1]).stdout)
                    self.assertTrue(before["verdict"]["complete"])
                    for key in ("types", "largest_types", "largest_objects"):
                        self.assertEqual(*(sorted([row.get(k) for k in ("name", "address", "type", "count", "bytes", "retained")] for row in of.get(key, []))
                                           for of in (before, now)), (name, command, key))

    def test_beside_another_output(self):
        with Process() as target:
            live = self.names("--pid", target.pid, "--save-trace", self.path("a.nettrace.gz"))
            self.assertIn(NESTED, live.values())
            self.assertEqual(self.names(self.path("a.nettrace.gz"), "--no-modules"), live)

    def test_plain(self):
        with Process() as target:
            for words in (["-o", self.path("a.nettrace"), "--plain"], ["-o", self.path("x.gclog"), "--save-trace", self.path("b.nettrace"), "--plain"],
                          ["-o", self.path("c.nettrace"), "--no-modules"]):
                self.gcdumpc("--pid", target.pid, *words)
        for name in ("a.nettrace", "b.nettrace", "c.nettrace"):
            # without --plain, the memory of the process is recorded all the same
            self.assertEqual("gcdumpc" in self.providers(self.path(name)), name == "c.nettrace", name)
            self.assertNotIn(NESTED, self.names(self.path(name), "--no-modules").values())


if __name__ == "__main__":
    main()
