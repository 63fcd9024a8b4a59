#!/usr/bin/env python3
"""same_bytes.py NATIVE FOREIGN [TRACE ...]: checks that two builds write the same bytes and print the same text.

NATIVE and FOREIGN are build folders, the second for another architecture or C library.  The environment variable EMULATOR is the command
that it needs to run.  With LOADER=FILE it runs in a root folder (chroot) that contains only itself, that file and its inputs.
Formats that FOREIGN was built without (SQLite) are left out.  Without TRACE: all of traces/, one of them wrapped as .etl, and files made from them.
"""
import filecmp
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FORMATS = "gclog gcdump heapsnapshot dartheap pb pb.gz folded html csv sqlite".split()
READ_AGAIN = "gclog gcdump dartheap".split()
BY = "type module namespace kind generation length root".split()
QUESTIONS = [["info"], ["info", "--json"], ["report", "--csv"], ["report", "--json", "--retained"], ["report", "--format", "prometheus"],
             ["retained", "--tree", "50", "--json"], ["retained", "--type", "System.*"], ["paths", "--type", "System.String"],
             ["leaks", "--json", "--min-bytes", "1", "--share", "1"]] + [["report", "--by", by, "--json"] for by in BY]
EVENTS = ["info", "--events", "--json"]          # only for recordings
MUST_WORK = ("convert", "info", "leaks", "diff")     # the others may find nothing to report
OWN = re.compile(rb"^graph +[0-9]+ bytes of memory$", re.M)     # pointers differ in size


def run(command, arguments, folder):
    done = subprocess.run(command + arguments, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    return done.returncode, OWN.sub(b"", done.stdout), done.stderr


def same_files(a, b):
    if os.path.isdir(a) and os.path.isdir(b):
        names = sorted(os.listdir(a))
        return names == sorted(os.listdir(b)) and filecmp.cmpfiles(a, b, names, shallow=False)[0] == names
    return os.path.isfile(a) and os.path.isfile(b) and filecmp.cmp(a, b, shallow=False)


class Comparison:
    def __init__(self, native, foreign, folder, loader=None):
        self.programs = [[native], foreign]
        self.folders = [os.path.join(folder, name) for name in ("native", "foreign")]
        self.answers = self.files = 0
        self.problems = []
        for f in self.folders:
            os.mkdir(f)
        formats = subprocess.run([*foreign, "help", "formats"], capture_output=True, text=True, check=True).stdout
        self.formats = [f for f in FORMATS if f"  .{f} " in formats or f.endswith(".gz")]
        self.root = ""
        if loader:
            self.root = self.folders[1]          # also the working folder of programs in it
            for path in (loader, foreign[-1]):
                self.put(path)
            self.programs[1] = ["chroot", self.root, *foreign]

    def put(self, path):
        """Copies a file into the root folder, if there is one, under the same name."""
        if self.root:
            os.makedirs(self.root + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, self.root + path)

    def ask(self, *arguments):
        """Runs both programs with the same arguments; exit status, standard output and messages must be equal."""
        got = [run(p, list(arguments), f) for p, f in zip(self.programs, self.folders)]
        self.answers += 1
        if got[0] != got[1]:
            self.problems.append(f"gcdumpc {' '.join(arguments)}: {got[0][0]} {got[0][2][-300:]!r} against {got[1][0]} {got[1][2][-300:]!r}")
        elif got[0][0] not in (0, 3) and arguments[0] in MUST_WORK:
            self.problems.append(f"gcdumpc {' '.join(arguments)}: exit status {got[0][0]}, {got[0][2][-300:]!r}")

    def convert(self, source, name):
        self.ask("convert", source, "-o", name)
        self.files += 1
        if not same_files(*(os.path.join(f, name) for f in self.folders)):
            self.problems.append(f"{source}: {name} is not the same")

    def look_at(self, source, name, recording):
        self.put(source)
        for q in QUESTIONS + ([EVENTS] if recording else []):
            self.ask(q[0], source, *q[1:])
        for suffix in self.formats:
            self.convert(source, f"{name}.{suffix}")


def traces_of(native, folder):
    """(name, path) of the recordings, and of one of them as .etl."""
    found = [(os.path.basename(os.path.dirname(p)), p) for p in sorted(glob.glob(os.path.join(ROOT, "traces", "*", "heap.nettrace.gz")))]
    etl = os.path.join(folder, "wrapped.etl")
    subprocess.run([os.path.join(native, "nettrace2etl"), found[0][1], etl], check=True)
    return found + [("wrapped", etl)]


def main():
    native, foreign = (os.path.abspath(a) for a in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        c = Comparison(os.path.join(native, "gcdumpc"), os.environ.get("EMULATOR", "").split() + [os.path.join(foreign, "gcdumpc")], folder,
                       os.environ.get("LOADER"))
        traces = [(os.path.basename(p), os.path.abspath(p)) for p in sys.argv[3:]] or traces_of(native, folder)
        for name, path in traces:
            c.look_at(path, name, True)
        for suffix in READ_AGAIN:        # what the native program has written
            c.look_at(os.path.join(c.folders[0], f"{traces[0][0]}.{suffix}"), f"again-{suffix}", False)
        c.ask("diff", traces[0][1], traces[-1][1], "--json", "--retained")
    where = " in an empty root folder" if c.root else ""
    print("\n".join(c.problems + [f"{c.answers} answers and {c.files} files{where}, {len(c.problems)} differences"]))
    return 1 if c.problems or c.answers == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
