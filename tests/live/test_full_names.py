"""Names as in the source, compared with ClrMD attached to the same living process.

Every type of the heap has the same full name.  If gcdumpc names a class for a static variable, it is right; if it names several, the right one is
among them.  ClrMD reads the metadata in the memory of the process, gcdumpc reads the files: they share nothing.

The tests use HeapLab and WebLab (a shop on ASP.NET Core and EF Core), built for the SDK's own runtime.  GCDUMPC_TEST_NAMES=all: every runtime,
published in every way; or some of them: "8/single 9/trimmed" (RUNTIME/FLAVOUR, lab_programs.FLAVOURS).
"""
import collections
import itertools
import json
import os
import re
import shutil
import sqlite3
import subprocess
import time

from lab_programs import FLAVOURS, dac, oracle, plugin, program
from live_support import RUNTIMES, SECONDS, LiveTest, Process, main, need, sdk_version

CHOSEN = os.environ.get("GCDUMPC_TEST_NAMES", "").split()


def runs():
    """(program, runtime, flavour) of all runs."""
    own = int(need(sdk_version).split(".")[0])
    for runtime, flavour in itertools.product(RUNTIMES, FLAVOURS):
        if flavour == "built" and runtime != own:
            continue                                    # the SDK's own runtime only
        if f"{runtime}/{flavour}" in (CHOSEN or (f"{own}/built",)) or CHOSEN == ["all"]:
            if flavour != "composite":                  # publishing takes minutes
                yield "HeapLab", runtime, flavour
            yield "WebLab", runtime, flavour


# -- the two sides ------------------------------------------------------------------------------------------------------

class Oracle:
    """The answers of ClrMD about process PID, or about the core file of that path."""

    def __init__(self, pid, runtime, flavour):
        self.modules, self.types, self.statics, self.of_threads = {}, {}, {}, {}
        self.words = ["dotnet", need(oracle), str(pid), need(dac, runtime, flavour)]
        self.read()
        if runtime > 8:                                # ClrMD crashes
            self.read("--threads")

    def lines(self, *more):
        r = subprocess.run([*self.words, *more], capture_output=True, encoding="utf-8", timeout=SECONDS)
        if r.returncode != 0:
            raise AssertionError(f"the oracle: status {r.returncode}\n{r.stderr[-2000:]}")
        return r.stdout.splitlines()

    def read(self, *more):
        for line in self.lines(*more):
            record = json.loads(line)
            for key, into in (("type", self.types), ("static", self.statics), ("thread_static", self.of_threads)):
                if key in record:
                    into[int(record[key], 16)] = record
                    break
            else:
                self.modules[record["module"]] = record["path"]


def csharp(name):
    """Converts ClrMD's spelling to C#: outer types before a dot, and the ranks of nested arrays from outside to inside."""
    name = name.replace("+", ".").replace("<*>", "[*]")
    return re.sub(r"(\[[,*]*\]){2,}", lambda m: "".join(re.findall(r"\[[,*]*\]", m[0])[::-1]), name)


def without_module(name):
    """Without the suffix that tells types of one name apart: a module, or the size of what a suspended call keeps (.NET 11), whose own class
    ClrMD names by a number, but their base class by the bare name."""
    return re.sub(r" (\[[^\[\]<>]+\]|\(\d+ bytes\))$", "", name)


def without_arguments(name):
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    return name


def head(name):
    return without_arguments(name).split("[")[0].rstrip("*")


def definition_name(name):
    """The full name of a definition in the spelling of C#, without type parameters."""
    return re.sub(r"`\d+", "", name).replace("+", ".")


def dump(test, pid, *options):
    """Dumps a process as a database and as a recording; returns the messages."""
    database, recording = test.path(f"{pid}.sqlite"), test.path(f"{pid}.nettrace")
    r = test.gcdumpc("collect", "--pid", pid, "-o", database, "--save-trace", recording, *options)
    return database, recording, r.stderr


def types_of(database):
    with sqlite3.connect(database) as c:
        return {t: (n, raw) for t, n, raw in c.execute("SELECT method_table, name, raw_name FROM types WHERE objects > 0 AND described")}


def statics_of(database):
    with sqlite3.connect(database) as c:
        return c.execute("SELECT address, name, class, label FROM roots WHERE kind = 'static'").fetchall()


# -- compared -----------------------------------------------------------------------------------------------------------

class Compared:
    """WITHOUT: names of files that gcdumpc must not use, or a folder.  TOLD: the runtime has sent the files of the modules."""

    def __init__(self, database, truth, without=(), told=True):
        self.without, self.told = without, told
        self.n = collections.Counter()
        self.wrong = []
        for address, (name, raw) in types_of(database).items():
            self.n[self.type(truth, truth.types.get(address), without_module(name), raw)] += 1
        for static in statics_of(database):
            self.n[self.static(truth, truth.statics.get(static[0]), *static)] += 1

    def has_file(self, truth, record):
        path = truth.modules.get(record["module"], "")
        if isinstance(self.without, str) and path.startswith(self.without):
            return False
        return os.path.isabs(path) and os.path.basename(path) not in self.without

    def type(self, truth, record, name, raw):
        if record is None:
            return "types not known to ClrMD"
        if "Made." in name + record["definition"] or not record["name"] or re.match(r".*\(\(null\)\)|Continuation_", record["name"]):
            return "types of which ClrMD has no name"  # made in memory; pointers to functions; frames of async methods (.NET 11)
        want = csharp(record["name"])
        if name == want and record["definition"] and head(name) != head(definition_name(record["definition"])):
            self.wrong.append(f"type {name} is {record['definition']} by its token")
        if name == want:
            return "types equal"
        if self.told and self.has_file(truth, record) or not without_arguments(want).endswith("." + without_arguments(name)):
            self.wrong.append(f"type {name} (raw {raw}) is {want}")
            return "types wrong"
        return "types bare"

    def static(self, truth, record, address, field, cls, label):
        if address in truth.of_threads:
            self.wrong.append(f"{label} is a variable of a thread")
        if record is None:
            return "statics not known to ClrMD"
        if record["field"] != field:
            self.wrong.append(f"static {field} at {address:x} is {record['class']}.{record['field']}")
            return "statics wrong"
        want = definition_name(record["class"])
        if cls:
            if cls in (want, record["class"]):
                return "statics certain"
            self.wrong.append(f"static {label} is {want}.{field}")
            return "statics wrong"
        if label == field:
            return "statics bare"
        possible = label.split(" or ")
        if re.fullmatch("another|one of .* others", possible[-1]) is None and f"{want}.{field}" not in possible and self.has_file(truth, record):
            self.wrong.append(f"static {label} is {want}.{field}")
            return "statics wrong"
        return "statics with or"

    def share(self, *keys, of):
        return sum(self.n[k] for k in keys) / max(1, sum(v for k, v in self.n.items() if k.startswith(of) and "ClrMD" not in k))


class FullNames(LiveTest):
    def start(self, name, runtime, flavour, file=None, before=()):
        """The running program; FILE: started from there."""
        file = file or need(program, name, runtime, flavour)
        args = [need(plugin)] if name == "WebLab" else []
        if before:
            target = Process(*before[1:], file, *args, program=before[0])
        else:
            target = Process(*args, program=file)
        self.addCleanup(target.__exit__)
        self.assertRegex(target.line, "^ready|^{", f"{name} did not start")
        return target

    def say(self, what, runtime, flavour, got):
        print(f"{what}, .NET {runtime}, {flavour}: " + ", ".join(f"{n} {k}" for k, n in sorted(got.n.items())), flush=True)
        self.assertEqual(got.wrong[:10], [], f"{len(got.wrong)} wrong names")

    def compare(self, what, target, runtime, flavour, *options):
        database, recording, said = dump(self, target.pid, *options)
        # else a module with, say, one closure in the heap may be any of several files
        got = Compared(database, Oracle(target.pid, runtime, flavour), told=runtime > 8 or "--rundown" in options)
        self.say(what, runtime, flavour, got)
        # The oracle has seen the same process.
        self.assertGreater(got.n["types equal"], 100)
        self.assertLess(got.n["types not known to ClrMD"], 10)
        # ClrMD lacks the addresses of a few classes: as a rule of one variable in 2,000, on a machine under load of one in 6.
        unknown = got.n["statics not known to ClrMD"]
        self.assertLess(unknown, sum(n for k, n in got.n.items() if k.startswith("statics")) / 2)
        return got, database, recording, said

    def check_whole(self, got):
        """Nearly everything is named, and most variables with certainty."""
        self.assertGreater(got.share("types equal", of="types"), 0.99)
        self.assertGreater(got.share("statics certain", of="statics"), 0.85)
        self.assertGreater(got.share("statics certain", "statics with or", of="statics"), 0.98)

    def check_recorded(self, database, recording):
        """The recording keeps the names: without the files it gives the same."""
        again = recording + ".sqlite"
        self.gcdumpc("convert", recording, "-o", again, "--no-modules")
        self.assertEqual(types_of(again), types_of(database))
        self.assertEqual(statics_of(again), statics_of(database))

    def test_all_programs(self):
        for name, runtime, flavour in runs():
            with self.subTest(program=name, runtime=runtime, flavour=flavour):
                target = self.start(name, runtime, flavour)
                got, database, recording, _ = self.compare(name, target, runtime, flavour)
                self.check_whole(got)
                self.check_recorded(database, recording)
                if runtime == 8:
                    got, *_ = self.compare(f"{name} with a rundown", self.start(name, runtime, flavour), runtime, flavour, "--rundown")
                    self.check_whole(got)

    # -- places: where the files are, and changes to them -------------------------------------------------------

    def copied(self, runtime, flavour):
        """WebLab and its folder, which the test may modify."""
        folder = self.path(f"app-{flavour}-{runtime}")
        shutil.copytree(os.path.dirname(need(program, "WebLab", runtime, flavour)), folder)
        time.sleep(2)                                    # a file without identity counts if it is older than the process, in whole seconds
        return os.path.join(folder, "WebLab"), folder

    def each(self, check, *args):
        """CHECK(RUNTIME, FLAVOUR, *ARGS) with every way WebLab is published."""
        for name, runtime, flavour in runs():
            if name == "WebLab":
                with self.subTest(runtime=runtime, flavour=flavour):
                    check(runtime, flavour, *args)

    def test_deleted(self):
        """The files are deleted while the program runs: only root can still read its mapped files; the plugin stays."""
        self.each(self.check_deleted)

    def check_deleted(self, runtime, flavour):
        file, folder = self.copied(runtime, flavour)
        target = self.start("WebLab", runtime, flavour, file)
        shutil.rmtree(folder)
        got, _, _, said = self.compare("deleted", target, runtime, flavour)
        if os.geteuid() == 0:
            self.check_whole(got)
        else:
            self.assertRegex(said, "only root")

    def test_replaced(self):
        """Replaced by another build of the same sources: same tokens, only the identity differs."""
        def other_identity(content):
            at = content.find(b"RSDS")
            while at >= 0:
                content = content[:at + 4] + bytes(b ^ 0x55 for b in content[at + 4:at + 20]) + content[at + 20:]
                at = content.find(b"RSDS", at + 4)
            return content
        self.each(self.check_replaced, other_identity)

    def test_replaced_by_something_else(self):
        """Replaced by a file without an identifying record."""
        with open(need(program, "HeapLab", int(need(sdk_version).split(".")[0]), "built") + ".dll", "rb") as f:
            other = f.read()
        self.each(self.check_replaced, lambda _: other)

    def check_replaced(self, runtime, flavour, change):
        file, folder = self.copied(runtime, flavour)
        target = self.start("WebLab", runtime, flavour, file)
        alone = flavour in ("single", "compressed")
        files = ("WebLab",) if alone else ("WebLab.dll", "Microsoft.EntityFrameworkCore.dll")
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                content = f.read()
            with open(path + ".new", "wb") as f:
                f.write(change(content))
            os.rename(path + ".new", path)               # as a deployment does it
        # A recording only has the paths: the files are refused, with one message.
        recording = self.path(f"{target.pid}-plain.nettrace")
        self.gcdumpc("collect", "--pid", target.pid, "-o", recording, "--plain", "--rundown")
        r = self.gcdumpc("convert", recording, "-o", recording + ".sqlite")
        truth = Oracle(target.pid, runtime, flavour)
        # trimmed assemblies have no identity
        got = Compared(recording + ".sqlite", truth, without=folder if alone or flavour == "trimmed" else files)
        self.say("refused", runtime, flavour, got)
        self.assertGreater(got.n["types bare"], 20)
        if not alone and flavour != "trimmed":
            self.assertEqual(len(re.findall(r"WebLab\.dll|EntityFrameworkCore\.dll", r.stderr)), 1, r.stderr)
        # Root can still read the files that the process maps.
        if os.geteuid() == 0:
            got, *_ = self.compare("replaced", target, runtime, flavour)
            self.check_whole(got)

    def need_root(self):
        if os.geteuid() != 0 or shutil.which("unshare") is None:
            self.skipTest("needs root and unshare")

    def test_mount_namespace(self):
        """Outside, the path of the program means another file or none."""
        self.need_root()
        self.each(self.check_mount_namespace)

    def check_mount_namespace(self, runtime, flavour):
        file, folder = self.copied(runtime, flavour)
        inside = self.path(f"inside-{flavour}-{runtime}")
        os.mkdir(inside)
        with open(os.path.join(inside, "WebLab.dll"), "wb") as f:
            f.write(b"no assembly")
        before = ("unshare", "-m", "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"', folder, inside)
        target = self.start("WebLab", runtime, flavour, os.path.join(inside, "WebLab"), before)
        got, *_ = self.compare("mount namespace", target, runtime, flavour)
        self.check_whole(got)

    def test_other_root(self):
        """Like a container, for files: another root folder."""
        self.need_root()
        self.each(self.check_other_root)

    def check_other_root(self, runtime, flavour):
        file, folder = self.copied(runtime, flavour)
        root = self.path(f"root-{flavour}-{runtime}")
        os.mkdir(root)
        mount = 'mount --rbind / "$1" && mount --bind "$0" "$1/mnt" && root=$1 && shift && exec chroot "$root" "$@"'
        before = ("unshare", "-m", "sh", "-c", mount, folder, root)
        target = self.start("WebLab", runtime, flavour, "/mnt/WebLab", before)
        got, *_ = self.compare("other root", target, runtime, flavour)
        self.check_whole(got)


if __name__ == "__main__":
    main()
