"""Processes whose memory is read, without .NET: a process that has the memory of a bundled core file gives what the file gives."""
import collections
import ctypes
import glob
import json
import os
import re
import signal
import subprocess
import tempfile
import unittest

from cli_support import BUILD, PROGRAM, SOURCE, CliTest, main
from statue import Statue

CORE = os.path.join(SOURCE, "traces", "net10-core", "heap.core.gz")
OBJECTS = "13,176"
PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17
NAME = "%n-%p-%Y%m%dT%H%M%SZ"


def on_a_disk():
    """A folder that is not in memory, or None."""
    for folder in ("/var/tmp", "/tmp"):
        kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=False).stdout.strip()
        if os.access(folder, os.W_OK) and kind not in ("", "tmpfs", "ramfs"):
            return folder
    return None


@unittest.skipUnless(Statue.can_be(), "the core file is one of x86-64")
class WithStatue(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.files = tempfile.TemporaryDirectory(prefix="gcdumpc-files-")
        cls.addClassCleanup(cls.files.cleanup)

    def statue(self, name="statue"):
        found = Statue(CORE, self.files.name, name)
        self.addCleanup(found.close)
        return found

    def states(self, target):
        found = set()
        for path in glob.glob(f"/proc/{target.pid}/task/*/stat"):
            with open(path, encoding="utf-8", errors="replace") as f:
                found.add(f.read().rsplit(")", 1)[1].split()[0])
        return found


class Direct(WithStatue):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.target = Statue(CORE, cls.files.name)
        cls.addClassCleanup(cls.target.close)
        cls.pid = cls.target.pid

    def both(self, *words):
        """The output of a command for the process, and for the core file."""
        r = self.done(words[0], "--pid", self.pid, "--direct", *words[1:])
        self.assertIn("no garbage collection", r.err.decode())
        return r.text, self.done(words[0], CORE, *words[1:]).text

    def test_it_has_what_the_core_file_has(self):
        for words in (("sql", "SELECT address, type, size_bytes, generation FROM objects ORDER BY address"),
                      ("sql", "SELECT kind, flags, CASE kind WHEN 'stack' THEN NULL ELSE label END, address, object_id FROM roots ORDER BY 1, 2, 3, 4, 5"),
                      ("sql", "SELECT * FROM edges"), ("sql", "SELECT * FROM dependent_handles"), ("sql", "SELECT * FROM ranges"),
                      ("strings", "--show-values"), ("exceptions", "--with-dead"), ("paths", "--type", "HeapLab.Lab"), ("async",)):
            direct, core = self.both(*words)
            self.assertEqual(direct, core, words)
            self.assertGreater(len(core), 0, words)
        self.assertNotIn("t", self.states(self.target))

    def test_which_process_it_is(self):
        process = json.loads(self.both("info", "--json")[0])["process"]
        with open(f"/proc/{self.target.pid}/cmdline", encoding="utf-8") as f:
            words = f.read().split("\0")[:-1]
        self.assertEqual(process, {"pid": self.target.pid, "name": os.path.basename(words[0]), "command_line": " ".join(words), "os": "Linux", "architecture": "x64",
                                   "runtime_version": "10.0.0"})

    def test_outputs(self):
        for options in ((), ("--with-dead",), ("--values", "all", "--max-string", 20)):
            self.done("convert", CORE, "-o", "core.nettrace", *options, "-q")
            r = self.done("collect", "--pid", self.pid, "--direct", "-o", "direct.nettrace", *options)
            self.assertRegex(r.err.decode(), r"stopped \d+ ms.*, no garbage collection; [\d,]+ objects, complete; ")
            for words in (("report", "--top", 1000), ("strings", "--show-values"), ("exceptions",), ("statics",)):
                direct, core = (self.gcdumpc(words[0], f"{name}.nettrace", *words[1:]).out for name in ("direct", "core"))
                self.assertEqual(re.sub(rb"\(before the dump.*\)\n", b"", direct), core, (options, words))
            os.unlink(self.path("direct.nettrace"))


    def test_what_it_would_cost(self):
        words = ("collect", "--pid", self.pid, "--direct", "--dry-run")
        self.assertRegex(self.done(*words).text, rf"\Aprocess {self.pid} [^\n]*\n  stop    about \d+ ms, no garbage collection\n  copy    1.3 MiB in memory\n\Z")
        line = json.loads(self.done(*words, "--log", "json", "-o", "x.gcdump").text)
        self.assertLess(line.pop("stop_ms"), 1000)
        self.assertIn("python", line["name"])
        self.assertEqual(line, {"schema": line["schema"], "pid": self.pid, "name": line["name"], "runtime": None, "direct": True, "copy_bytes": line["copy_bytes"],
                                "copy_folder": None, "file": "x.gcdump", "skipped": None, "refused": None})
        self.assertEqual(os.listdir(self.dir), [])

    @unittest.skipIf(on_a_disk() is None, "no folder on a disk")
    def test_a_copy_that_does_not_fit_into_memory_is_a_file(self):
        words = ("report", "--pid", self.pid, "--direct", "--memory", "32M", "--verbose")
        folder = on_a_disk()
        before = os.listdir(folder)
        r = self.done(*words, "--spill-dir", folder)
        self.assertIn(f"copied to {folder}", r.err.decode())
        self.assertEqual(os.listdir(folder), before)
        self.assertIn(f"  copy    1.3 MiB in {folder}\n", self.done("collect", *words[1:6], "--dry-run", "--spill-dir", folder).text)
        if os.path.isdir("/dev/shm"):
            self.assertIn(b"does not fit into the memory that may be used, and cannot be copied to a file: the folder /dev/shm is in memory itself",
                          self.done(*words, "--spill-dir", "/dev/shm", code=1).err)

    def test_a_process_with_a_debugger(self):
        libc = ctypes.CDLL(None, use_errno=True)
        target = self.statue()
        self.assertEqual(libc.ptrace(PTRACE_SEIZE, target.pid, 0, 0), 0)
        self.refused(1, r".*: cannot stop it: another debugger may be tracing it.*; without --direct and --max-stop the process itself sends its heap, paused for longer",
                     "report", "--pid", target.pid, "--direct")

    def test_a_stopped_process_stays_stopped(self):
        target = self.statue()
        os.kill(target.pid, signal.SIGSTOP)
        self.wait_until(lambda: self.states(target) == {"T"}, "it stops")
        self.assertIn(f"{OBJECTS} objects, complete", self.done("report", "--pid", target.pid, "--direct").err.decode())
        self.wait_until(lambda: self.states(target) == {"T"}, "it is stopped again")

    def test_what_is_no_heap(self):
        other = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        self.refused(1, ".*the process has no .NET runtime that can be read.*", "report", "--pid", other.pid, "--direct")
        other.kill()
        other.wait()
        self.refused(1, f".*there is no process {other.pid}.*", "report", "--pid", other.pid, "--direct")

    def test_a_heap_that_is_not_at_rest(self):
        """What is wrong in the copy is taken for a process that changes, until it has been stopped for too long.  On a busy machine the last stop may
        have been too short for anything; not each of several."""
        address = int(self.done("sql", CORE, "SELECT min(address) FROM objects WHERE type = 'HeapLab.Node'").text.split()[-1])
        words = ("report", "--direct", "--max-stop-total", 300, "--pid")
        busy = r"not all of its threads stopped within \d+ ms|it could not be stopped for longer|the heap could not be copied in time"
        for at, data, why in ((address + 8, b"\x11" * 8, r"1 reference led to nothing"), (address, b"\x10" * 8, r"[\d,]+ bytes of its heap could not be walked")):
            for attempt in range(8):
                target = self.statue()
                target.poke(at, data)
                told = self.refused(1, rf".*no copy of its heap counted: it was stopped \d+ times, \d+ ms in all; the last time ({why}|{busy}); --max-stop and .*", *words, target.pid)
                self.assertNotIn("t", self.states(target))
                if re.search(why, told.lines[0]):
                    break
            else:
                self.fail(f"none of 8 attempts says {why}")


class Values(WithStatue):
    """Values that are read beside a heap walk: the process sends the walk of the core file whose memory it has."""
    FIELDS = ("sql", "--show-values=raw", "--csv", "SELECT o.address, f.* FROM fields f JOIN objects o ON o.id = f.object_id")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = os.path.join(cls.files.name, "heap.nettrace")
        subprocess.run([PROGRAM, "convert", CORE, "--no-modules", "-q", "-o", cls.recording], check=True)

    def setUp(self):
        super().setUp()
        self.target = Statue(CORE, self.files.name, recording=self.recording)
        self.addCleanup(self.target.close)

    def collect(self, *options):
        return self.done("collect", "--pid", self.target.pid, *options, "-o", "x.nettrace").err.decode().replace(f"gcdumpc: process {self.target.pid}: ", "")

    def texts(self, name):
        """{address: (length, hash, text or "-")} of the strings."""
        out = subprocess.run([os.path.join(BUILD, "tests", "values_list"), self.path(name)], capture_output=True, check=True).stdout.decode(errors="replace")
        return {words[0]: tuple(words[1:]) for words in (line.split(" ", 3) for line in out.splitlines() if re.match(r"[0-9a-f]{9,} \d+ [0-9a-f]{16} ", line))}

    def from_file(self, kind, *options):
        self.done("convert", CORE, "--no-modules", "-q", "--values", kind, *options, "-o", f"{kind}.nettrace")

    def test_all_fields_are_those_of_the_file(self):
        """But those of types that can be unloaded, or are in memory only, which a running process may change."""
        self.from_file("all")
        said = self.collect("--values", "all")
        self.assertRegex(said, r"\nvalues: texts of 617 strings; fields of 12,376 objects, read [\d,]+ ms after the walk; 7 not: they were not read in time, or could not be\n")
        wanted, got = (set(self.done(self.FIELDS[0], name, *self.FIELDS[1:]).text.splitlines()) for name in ("all.nettrace", "x.nettrace"))
        self.assertEqual(got - wanted, set())
        self.assertEqual({re.sub(r"\d+", "N", line.split(",")[2]) for line in wanted - got}, {'"Friend"', '"[N].Colour"', '"[N].Density"'})
        self.assertGreater(len(got), 21500)

    def test_texts(self):
        self.from_file("strings", "--max-string", "20")
        self.assertRegex(self.collect("--values", "strings", "--max-string", "20"), r"\nvalues: texts of 617 strings, read [\d,]+ ms after the walk\n")
        wanted, got = self.texts("strings.nettrace"), self.texts("x.nettrace")
        self.assertEqual([(a, wanted[a], got[a]) for a in got if (wanted[a][0], wanted[a][2]) != (got[a][0], got[a][2])][:9], [])
        self.assertEqual((len(got), max(len(text) for _, _, text in got.values())), (617, 20))

    def test_hashes_and_nulls(self):
        self.from_file("hashes")
        self.collect("--values", "hashes", "--fields", "exact", "-q")
        wanted, got = self.texts("hashes.nettrace"), self.texts("x.nettrace")
        self.assertEqual((len(got), {text for _, _, text in got.values()}), (617, {"-"}))
        groups = [collections.defaultdict(set), collections.defaultdict(set)]
        for a in got:                            # each dump has another key of its hashes
            groups[0][wanted[a][1]].add(a)
            groups[1][got[a][1]].add(a)
        self.assertTrue(sorted(map(sorted, groups[0].values())) == sorted(map(sorted, groups[1].values())), "other texts are equal")
        self.assertTrue(all(wanted[a][0] == got[a][0] for a in got))
        self.assertRegex(self.done("info", "x.nettrace").text, r"\nvalues +hashes of 617 strings, read [\d,]+ ms after the walk\n"
                         r"exact fields +exact, also in 136 objects with null references, read [\d,]+ ms after the walk\n")


class Watch(WithStatue):
    def watch(self, *words):
        return self.start("watch", *words, text=True)

    def said(self, watcher, pattern):
        """Reads the messages of WATCHER up to one that matches."""
        for line in watcher.stderr:
            if re.search(pattern, line):
                return line
        return self.fail(f"no message {pattern}")

    def found(self, pattern):
        return sorted(glob.glob(self.path(pattern)))

    def end(self, watcher, status, sent=signal.SIGTERM):
        if sent is not None:
            watcher.send_signal(sent)
        _, messages = watcher.communicate(timeout=300)
        self.assertEqual(watcher.returncode, status, messages)
        return messages

    def test_growth_a_summary_first_and_two_outputs(self):
        target = self.statue()
        watcher = self.watch("--pid", target.pid, "--when", "growth/1m > 30M", "--once", "--keep", 2, "--summary-first", "--summary", f"{NAME}.json",
                             "-o", f"{NAME}.nettrace", "-o", f"{NAME}.gcdump")
        self.assertIn("it has no diagnostic socket, so only its memory can be read", self.said(watcher, "is watched"))
        target.grow(20)
        target.grow(20)
        self.assertRegex(self.said(watcher, "it is dumped"), r"growth/1m > 30M: rss ([\d.]+) MiB")
        self.end(watcher, 0, None)
        order = [os.stat(self.found(f"*-{target.pid}-*.{suffix}")[0]).st_mtime_ns for suffix in ("json", "nettrace", "gcdump")]
        self.assertEqual(order, sorted(order))
        self.assertEqual(json.loads(self.get(os.path.basename(self.found("*.json")[0])))["pid"], target.pid)
        self.assertIn("HeapLab.Leaf", self.done("report", os.path.basename(self.found("*.gcdump")[0])).text)

    def test_cool_down_and_the_end(self):
        target = self.statue("cool-down")
        watcher = self.watch("--name", "cool-down", "--when", "rss > 10M", "--cooldown", "1s", "-o", f"{NAME}.gcdump")
        self.said(watcher, rf"process {target.pid} \(.*\): is watched")
        for _ in range(2):
            self.said(watcher, rf"process {target.pid} .*it is dumped")
            self.said(watcher, "gcdump written")
        target.close()
        self.said(watcher, rf"process {target.pid} .*has ended\n")
        self.end(watcher, 0)
        times = [os.stat(path).st_mtime for path in self.found(f"*-{target.pid}-*.gcdump")]
        self.assertGreaterEqual(len(times), 2)
        self.assertGreater(max(times) - min(times), 0.8)

    def test_a_failed_dump_is_tried_again(self):
        target = self.statue()
        self.put("later", b"")                           # a file where a folder is wanted
        watcher = self.watch("--pid", target.pid, "--when", "rss > 10M", "--cooldown", "1s", "-o", f"later/{NAME}.gcdump")
        self.said(watcher, "a dump could not be written to later/.* now: later: ")
        self.said(watcher, "it is dumped")
        os.unlink(self.path("later"))
        os.mkdir(self.path("later"))
        self.said(watcher, "gcdump written")
        target.close()
        self.end(watcher, 0, None)                       # that of the last dump

    def test_a_summary_where_no_output_can_be_written(self):
        target = self.statue()
        self.put("file", b"")
        watcher = self.watch("--pid", target.pid, "--when", "rss > 10M", "--once", "--keep", 2, "--summary", f"{NAME}.json", "-o", f"file/{NAME}.gcdump")
        self.assertIn("trying the summary alone", self.end(watcher, 1, None))
        self.assertEqual(len(self.found("*.json")), 1)

    def test_it_waits_for_a_process(self):
        for sent, status in ((signal.SIGTERM, 0), (signal.SIGINT, 130)):
            watcher = self.watch("--name", "NoSuchProgram", "--when", "rss > 1M", "-o", f"{NAME}.gcdump")
            self.said(watcher, "NoSuchProgram: no such process yet; waiting for it")
            self.end(watcher, status, sent)
        self.refused(1, f"process {os.getpid()} is no .NET process that can be dumped; see gcdumpc ps", "watch", "--pid", os.getpid(), "--when", "rss > 1M",
                     "-o", f"{NAME}.gcdump")

    def test_what_would_be_watched(self):
        target = self.statue()
        words = ("watch", "--pid", target.pid, "--dry-run")
        self.assertRegex(self.done(*words, "--when", "rss > 1M", "--when", "left < 1K").text,
                         rf"\Aprocess {target.pid} \(.*\): rss > 1M: rss [\d.]+ MiB; true now\nprocess {target.pid} \(.*\): left < 1K: left [\d.]+ [MG]iB\n\Z")
        self.assertEqual(self.done(*words, "--when", "rss > 99G", "-o", f"{NAME}.gcdump").err, b"")
        self.assertEqual(self.done(*words, "--when", "rss > 99G", "-o", f"no/{NAME}.gcdump").err.decode(),
                         f"gcdumpc: a dump could not be written to no/{NAME}.gcdump now: no: No such file or directory\n")
        for options, why in ((("-o", "-"), "watch writes files: -o - is for collect; see gcdumpc watch --help"),
                             (("-o", "%n.gcdump"), "a later dump would replace %n.gcdump: its name needs a date and a time of day, .*"),
                             (("--summary", "x.json", "-o", f"{NAME}.gcdump"), "a later dump would replace x.json: .*")):
            self.refused(2, why, *words, "--when", "rss > 1M", *options)


if __name__ == "__main__":
    main()
