"""All types and static fields of the assemblies of .NET: what src/metadata finds, and what System.Reflection.Metadata does.

The shared frameworks beside `dotnet`, and the runtime packs of other versions that NuGet has fetched (for the live tests).  Both programs print
a line for each thing, and the texts have to be equal.
"""
import glob
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import real_readers

BUILD = os.environ.get("GCDUMPC_BUILD", "build")
PACKAGES = os.environ.get("NUGET_PACKAGES") or os.path.join(os.path.expanduser("~"), ".nuget", "packages")
CHUNK = 50                      # assemblies for one run of the programs


def frameworks():
    """Name and version of each framework there is, with its assemblies."""
    listed = subprocess.run(["dotnet", "--list-runtimes"], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        name, version, folder = line.split(" ", 2)
        yield f"{name} {version}", sorted(glob.glob(os.path.join(glob.escape(folder.strip("[]")), version, "*.dll")))
    for name in ("microsoft.netcore.app.runtime.linux-x64", "microsoft.aspnetcore.app.runtime.linux-x64"):
        for folder in sorted(glob.glob(os.path.join(glob.escape(PACKAGES), name, "*"))):
            found = glob.glob(os.path.join(glob.escape(folder), "runtimes", "*", "*", "**", "*.dll"), recursive=True)
            yield f"{name} {os.path.basename(folder)}", sorted(found)


def lines(*words, status=0):
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=600)
    if done.returncode != status:
        raise AssertionError(f"{os.path.basename(words[0])}: status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout.splitlines()


def ours(files, status=0):
    return lines(os.path.join(BUILD, "tests", "metadata_list"), *files, status=status)


class Frameworks(unittest.TestCase):
    def test_all_names_are_equal(self):
        reader = real_readers.need_metadata_reader()
        types = statics = 0
        for name, files in frameworks():
            with self.subTest(name):
                self.assertGreater(len(files), 20)
                for at in range(0, len(files), CHUNK):
                    mine = ours(files[at:at + CHUNK])
                    self.assertEqual(mine, lines("dotnet", reader, *files[at:at + CHUNK]))
                    types += sum(line.startswith("type ") for line in mine)
                    statics += sum(line.startswith("static ") for line in mine)
                print(f"{name}: {len(files)} assemblies")
        print(f"{types} types, {statics} static fields")
        self.assertGreater(types, 10000)


class OtherFiles(unittest.TestCase):
    def test_no_assembly(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in ("text.dll", b"no PE\n" * 20), ("empty.dll", b""):
                path = os.path.join(folder, name)
                with open(path, "wb") as file:
                    file.write(content)
                if content:
                    self.assertEqual(ours([path]), [f"file {name}", "no metadata"])
                else:
                    self.assertEqual(ours([path], status=1), [f"file {name}"])


if __name__ == "__main__":
    real_readers.main()
