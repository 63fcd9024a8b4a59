"""Core files that createdump writes of living processes: the same objects as the process says, and names without its files."""
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import unittest

from lab_programs import program as lab_program
from live_support import RUNTIMES, LiveTest, Process, check_counts, check_stacks, createdump_of, heaplab, main, need, own_runtime, wait_for_frames

ALL = os.environ.get("GCDUMPC_TEST_CORES") == "all"          # every runtime
SERVER = {"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2"}
SEGMENTS = {"DOTNET_GCName": "libclrgc.so"}                  # without regions
CRASHES = {"exception": "HeapLab.Refused", "memory": "System.OutOfMemoryException", "stack": "System.StackOverflowException"}
# createdump leaves the metadata of dynamic assemblies out
DYNAMIC = ("HeapLab.<b>\"&'</b>", "HeapLab.\U0001f600")


def createdump(test, target, name, *options):
    """A core file of TARGET by the program beside the runtime that it has loaded."""
    program = createdump_of(target.pid)
    if not os.path.exists(program):
        test.skipTest("this runtime has no createdump")
    r = subprocess.run([program, *options, "-f", test.path(name), str(target.pid)], capture_output=True, text=True, check=False)
    test.assertEqual(r.returncode, 0, r.stdout + r.stderr)
    return test.path(name)


def crash(test, kind, program, **variables):
    """The core file of a HeapLab that ends by KIND, written by its runtime in the middle of whatever its threads do."""
    core = test.path(f"{kind}.core")
    subprocess.run([program, "--crash", kind], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, cwd=test.folder,
                   env={**os.environ, "DOTNET_GCHeapHardLimit": "0x4000000", "DOTNET_DbgEnableMiniDump": "1", "DOTNET_DbgMiniDumpType": "2",
                        "DOTNET_DbgMiniDumpName": core, **variables})
    if not os.path.exists(core):
        test.skipTest("this runtime has left no core file")
    return core


def without_modules(core, program=None):
    """Removes the memory of mapped assemblies from the file CORE, as gcore and the kernel leave it out.  What is mapped from further back in a file
    can be written to, and they keep it.  PROGRAM contains its assemblies."""
    with open(core, "r+b") as f:
        data = f.read()
        off, n = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
        headers = [(off + 56 * i, *struct.unpack_from("<IIQQQQ", data, off + 56 * i)) for i in range(n)]
        mapped = []
        for _, kind, _, at, _, _, size in headers:
            end = at + size
            while kind == 4 and at < end:
                name, content, note = struct.unpack_from("<III", data, at)
                at += 12 + (name + 3) // 4 * 4
                if note == 0x46494C45:                           # NT_FILE
                    count = struct.unpack_from("<Q", data, at)[0]
                    paths = data[at + 16 + 24 * count:at + content].split(b"\0")
                    ranges = [struct.unpack_from("<QQQ", data, at + 16 + 24 * i) for i in range(count)]
                    mapped += [(start, end) for i, (start, end, page) in enumerate(ranges) if paths[i].endswith(b".dll") and page == 0]
                    inside = [(page, start, end) for i, (start, end, page) in enumerate(ranges) if paths[i] == os.fsencode(program or "")]
                at += (content + 3) // 4 * 4
        removed, images = 0, [page for page, start, _ in inside for _, kind, _, at, address, _, size in headers
                              if kind == 1 and address <= start < address + size and data[at + start - address:at + start - address + 2] == b"MZ"]
        first = min(images, default=0)
        mapped += [(start, end) for page, start, end in inside if page >= first]
        for header, kind, flags, _, address, _, size in headers:
            if kind == 1 and size > 0 and (flags & 2 == 0 or program is None) and any(start <= address < end for start, end in mapped):
                f.seek(header + 32)
                f.write(bytes(8))
                removed += 1
    return removed


class Core(LiveTest):
    def createdump(self, target, name, *options):
        wait_for_frames(target)
        return createdump(self, target, name, *options)

    def check(self, target, core):
        report = json.loads(self.gcdumpc("report", core, "--json", "--no-modules").stdout)
        counts = target.counts()
        counts["types"] = [t for t in counts["types"] if t["name"] not in DYNAMIC]
        self.assertTrue(report["verdict"]["complete"])
        self.assertEqual([], list(check_counts.check_types(counts, report, False)))
        paths = self.gcdumpc("paths", core, "--type", "HeapLab.Lab", "--no-modules").stdout
        self.assertIn("static variable HeapLab.Lab.s_lab", paths)
        threads = self.gcdumpc("sql", core, "SELECT DISTINCT name, label FROM roots WHERE kind = 'stack'", "--no-modules").stdout
        check_stacks(self, target, threads, str(target.pid))
        generic = self.gcdumpc("sql", core, "SELECT class FROM roots WHERE label LIKE '%EqualityComparer<%>.Default'", "--no-modules").stdout
        self.assertEqual("HeapLab.Book>" in generic, '"runtime":"8.' not in json.dumps(target.counts(), separators=(",", ":")), generic)
        fields = self.gcdumpc("retained", core, "--by-field", "--sysroot", os.path.dirname(core)).stdout    # from the core file alone
        self.assertRegex(fields, r" 4999  HeapLab\.Node\.Next\n")
        self.assertGreater(json.loads(self.gcdumpc("info", core, "--json").stdout)["names"]["types_with_fields"], len(counts["types"]) * 0.9)

    def test_heap_and_full_dumps_have_what_the_process_says(self):
        for runtime in RUNTIMES if ALL else (own_runtime(), RUNTIMES[-1]):
            with self.subTest(runtime), Process(program=need(heaplab, runtime)) as target:
                self.check(target, self.createdump(target, "heap.core", "--withheap"))
                self.check(target, self.createdump(target, "full.core", "--full"))

    def test_collectors(self):
        for runtime in RUNTIMES if ALL else (RUNTIMES[-1],):
            for variables in SERVER, SEGMENTS, SERVER | SEGMENTS:
                with self.subTest(runtime, **variables), Process(program=need(heaplab, runtime), **variables) as target:
                    self.check(target, self.createdump(target, "other.core", "--withheap"))

    def test_names_from_the_files_of_the_program(self):
        for runtime in RUNTIMES if ALL else (own_runtime(),):
            with self.subTest(runtime), Process(program=need(heaplab, runtime)) as target:
                core = self.createdump(target, "gcore.core", "--withheap")
                whole, stacks = self.gcdumpc("report", core, "--no-modules").stdout, self.stacks(core, "--no-modules")
                self.assertGreater(without_modules(core), 3)
                self.assertEqual(self.gcdumpc("report", core).stdout, whole)
                self.assertEqual(self.stacks(core), stacks)
                self.assertIn("HeapLab.Frames.SleepHoldingObject", stacks)
                unnamed = self.gcdumpc("report", core, "--no-modules", status=3)         # names: of assemblies made in memory
                self.assertRegex(unnamed.stderr, "no static variables were recorded|no type has a name")
                self.assertNotIn("HeapLab.Node", unnamed.stdout)
                # the same path below another folder: this build, then another one
                folder = os.path.dirname(os.path.realpath(f"/proc/{target.pid}/exe"))
                below = self.path("root") + folder
                os.makedirs(below)
                shutil.copy(os.path.join(folder, "HeapLab.dll"), below)
                options = ("info", core, "--sysroot", self.path("root"))
                self.assertNotIn("HeapLab.dll", self.gcdumpc(*options).stdout.split("\nmissing ")[1].split("\nobjects ")[0])
                other = next(r for r in RUNTIMES if r != runtime)
                shutil.copy(os.path.join(os.path.dirname(need(heaplab, other)), "System.Collections.dll"), os.path.join(below, "HeapLab.dll"))
                self.assertRegex(re.sub(r"\s+", " ", self.run_gcdumpc(*options).stdout), r"HeapLab\.dll \(its file is of another build\)")
                shutil.copy(os.path.join(folder, "HeapLab.dll"), below)
                self.check_other_code(target, core, os.path.join(os.path.dirname(need(heaplab, other)), "System.Private.CoreLib.dll"), runtime)
                shutil.rmtree(self.path("root"))

    def stacks(self, core, *options):
        """The labels of all roots on stacks."""
        return self.gcdumpc("sql", core, "SELECT label, count(*) FROM roots WHERE kind = 'stack' GROUP BY 1 ORDER BY 1", *options).stdout

    def check_other_code(self, target, core, other, runtime):
        """The code of another build tells nothing."""
        with open(f"/proc/{target.pid}/maps", encoding="utf-8") as f:
            used = next(line.split()[-1] for line in f if line.rstrip().endswith("/System.Private.CoreLib.dll"))
        options = ("--sysroot", self.path("root"))
        query = ("sql", core, "SELECT label FROM roots WHERE kind = 'stack'", *options)
        no_code = r"the methods of some calls on stacks: the image has no code of /\S+/System\.\S+\.dll\n"
        self.assertRegex(self.run_gcdumpc("info", core, *options).stdout, no_code)
        os.makedirs(self.path("root") + os.path.dirname(used), exist_ok=True)
        for file, known in (other, False), (used, True):
            shutil.copy(file, self.path("root") + used)
            stacks = self.run_gcdumpc(*query).stdout
            self.assertEqual(" in System." in stacks, known and runtime > 8, stacks)      # there, none has a root
            if known or runtime in (9, 10):          # where frame pointers do not lead to it
                self.assertEqual("HeapLab.Frames.SleepHoldingObject" in stacks, known, stacks)

    def core_of_the_kernel(self, target):
        """Quits TARGET.  The kernel leaves out what mapped files have, too."""
        with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as f:
            pattern = f.read().strip()
        if "|" in pattern or "/" in pattern or "%" in pattern:
            self.skipTest(f"this machine does not leave its core files in the working folder: {pattern}")
        resource.prlimit(target.pid, resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        target.process.send_signal(signal.SIGQUIT)
        target.process.wait(60)
        core = [name for name in os.listdir(self.folder) if name.startswith(pattern)]
        self.assertEqual(len(core), 1, core)
        os.rename(self.path(core[0]), self.path("kernel.crash"))
        return self.path("kernel.crash")

    def test_a_core_file_of_the_kernel(self):
        for runtime in RUNTIMES if ALL else (own_runtime(), RUNTIMES[-1]):
            program = os.path.realpath(need(heaplab, runtime))
            with self.subTest(runtime), Process(program=program, cwd=self.folder) as target:
                with open(f"/proc/{target.pid}/maps", encoding="utf-8") as f:
                    library = next(line.split()[-1] for line in f if line.rstrip().endswith("/libcoreclr.so"))
                wait_for_frames(target)
                core = self.core_of_the_kernel(target)
                report = json.loads(self.gcdumpc("report", core, "--json").stdout)
                counts = target.counts()
                counts["types"] = [t for t in counts["types"] if t["name"] not in DYNAMIC]
                self.assertTrue(report["verdict"]["complete"])
                self.assertEqual([], list(check_counts.check_types(counts, report, False)))
                self.assertRegex(self.gcdumpc("retained", core, "--by-field").stdout, r" 4999  HeapLab\.Node\.Next\n")
                self.assertRegex(self.gcdumpc("retained", core, "--type", "HeapLab.Extra", "--by", "Number", "--show-values").stdout, r" 1 +32  7\n")
                threads = self.gcdumpc("sql", core, "SELECT DISTINCT name, label FROM roots WHERE kind = 'stack'").stdout
                check_stacks(self, target, threads, str(target.pid))
                # the runtime's file: absent, of another build, elsewhere
                below, other = self.path("root"), need(heaplab, next(r for r in RUNTIMES if r not in (runtime, own_runtime())))
                lacks = rf"it leaves out memory of the file {re.escape(library)} \(build id [0-9a-f]{{40}}\), which is the runtime; --sysroot"
                os.makedirs(below + os.path.dirname(library))
                self.assertRegex(self.gcdumpc("report", core, "--sysroot", below, status=1).stderr, lacks)
                self.assertRegex(self.gcdumpc("report", core, "--no-modules", status=1).stderr, lacks)
                shutil.copy(os.path.join(os.path.dirname(other), "libcoreclr.so"), below + library)
                self.assertRegex(self.gcdumpc("report", core, "--sysroot", below, status=1).stderr, lacks)
                shutil.copy(library, below + library)
                self.assertEqual(self.run_gcdumpc("info", core, "--sysroot", below).returncode, 3)        # without names
                elsewhere = self.path("elsewhere")
                os.rename(below, elsewhere)
                os.makedirs(below)
                self.assertIn("\nobjects  ", self.run_gcdumpc("info", core, "--sysroot", below, "--modules", elsewhere).stdout)
                shutil.rmtree(below)
                shutil.rmtree(elsewhere)

    def test_a_program_of_one_file(self):
        """Its assemblies are parts of that file."""
        file = os.path.realpath(need(lab_program, "RuntimeAsyncLab", RUNTIMES[-1], "single"))
        with Process(program=need(heaplab)) as other:
            createdump = createdump_of(other.pid)                # a program of one file has none
        with Process(program=file) as target:
            core = self.path("one.core")
            subprocess.run([createdump, "--full", "-f", core, str(target.pid)], check=True, stdout=subprocess.DEVNULL)
        whole = self.gcdumpc("report", core, "--no-modules").stdout
        known = re.compile(r"(?m)^(?:full names|fields|static variables) .*$")
        wanted = known.findall(self.gcdumpc("info", core).stdout)
        self.assertEqual(len(wanted), 3)
        self.assertGreater(without_modules(core, file), 3)
        self.assertIn("UNKNOWN", self.run_gcdumpc("report", core, "--no-modules").stdout)
        self.assertEqual(self.gcdumpc("report", core).stdout, whole)
        said = self.gcdumpc("info", core).stdout
        self.assertEqual(known.findall(said), wanted)
        self.assertNotIn("no code of", said)

    def test_info_begins_with_how_the_process_ended(self):
        for runtime in RUNTIMES if ALL else (own_runtime(), RUNTIMES[-1]):
            for kind, exception in CRASHES.items():
                with self.subTest(kind, runtime=runtime):
                    core = crash(self, kind, need(heaplab, runtime))
                    said = self.gcdumpc("info", core, "--no-modules").stdout
                    self.assertRegex(said, rf"^ended by +signal 6 \(SIGABRT\), after {re.escape(exception)}\n")
                    os.unlink(core)

    def test_a_dump_without_heap_is_refused(self):
        with Process() as target:
            core = self.createdump(target, "mini.core", "--normal")
            r = self.gcdumpc("report", core, status=1)
            self.assertRegex(r.stderr, r"mini\.core: this dump has no heap .*: take one of type 2 \(heap\) or 4 \(full\)\n$")
            self.assertEqual(r.stdout, "")


if __name__ == "__main__":
    main()
