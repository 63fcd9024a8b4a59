"""The heap and the other memory of a living process: gcdumpc distinguishes native memory, heap and garbage, on every runtime and GC."""
import json
import os
import re
import shlex
import shutil
import subprocess

from live_support import PROGRAM, RUNTIMES, LiveTest, Missing, Process, heaplab, main

MIB = 1 << 20
TAKEN = 300
HINT = re.compile(r"the GC heap is (?:less than )?(\d+) MiB of (\d+) MiB resident: look for native memory \((\d+) MiB\)\n")


class ProcessMemory(LiveTest):
    def memory(self, kind, program=None, **environment):
        """What info says of a recording of a process with TAKEN MiB of memory of KIND, and what collect says."""
        with Process("--memory", kind, str(TAKEN), program=program, **environment) as target:
            self.assertEqual(target.line, kind + "\n")
            said = self.gcdumpc("collect", "--pid", target.pid, "-o", self.path("a.nettrace"), "--verbose").stderr
        memory = json.loads(self.gcdumpc("info", "--json", self.path("a.nettrace")).stdout)["process_memory"]
        self.assertIsNotNone(memory["gc_heap"])
        self.assertLessEqual(memory["gc_heap"] + memory["native_or_unknown"] + memory["file"] + memory["shared"], 1.01 * memory["resident"])
        return memory, said

    def check(self, program=None, **environment):
        for kind in ("native", "managed", "garbage"):
            with self.subTest(kind, program=program, **environment):
                memory, said = self.memory(kind, program, **environment)
                larger, smaller = ("native_or_unknown", "gc_heap") if kind == "native" else ("gc_heap", "native_or_unknown")
                self.assertTrue(TAKEN * MIB <= memory[larger] <= (TAKEN + 100) * MIB, memory)
                self.assertLess(memory[smaller], 100 * MIB, memory)
                self.assertEqual(memory["look_for_native"], kind == "native")
                self.assertEqual(bool(HINT.search(said)), kind == "native", said)
                self.assertRegex(said, r"; GC heap before (?:less than )?[\d,]+ MiB; ")
                self.assertEqual(memory["text"] in self.gcdumpc("info", self.path("a.nettrace")).stdout, True)

    def test_runtimes(self):
        for runtime in RUNTIMES:
            try:
                self.check(heaplab(runtime))
            except Missing as missing:
                self.skipTest(str(missing))

    def test_other_gcs(self):
        self.check(DOTNET_gcServer="1")
        self.check(DOTNET_GCName="libclrgc.so")
        self.check(DOTNET_GCHeapHardLimit="0x30000000")

    def test_outputs(self):
        with Process("--memory", "native", str(TAKEN)) as target:
            page = self.gcdumpc("collect", "--pid", target.pid, "-o", self.path("a.html"), "--save-trace", self.path("a.nettrace"))
            self.gcdumpc("collect", "--pid", target.pid, "-o", self.path("plain.nettrace"), "--plain")
            self.gcdumpc("collect", "--pid", target.pid, "-o", self.path("direct.nettrace"), "--direct")
            self.gcdumpc("collect", "--pid", target.pid, "-o", self.path("plain-direct.nettrace"), "--direct", "--plain")
            metrics = self.gcdumpc("report", "--pid", target.pid, "--format", "prometheus").stdout
        with open(self.path("a.html"), encoding="utf-8") as f:
            self.assertRegex(f.read(), r'"look_for_native":true,"text":"the GC heap is (?:less than )?\d+ MiB of')
        self.assertRegex(page.stderr, HINT)
        self.assertRegex(metrics, r'\ngcdumpc_process_memory_bytes\{process="HeapLab",pid="\d+",kind="native_or_unknown"\} 3\d{8}\n')
        # once more: a copy of a recording that gcdumpc made of memory
        self.gcdumpc("convert", self.path("direct.nettrace"), "-o", self.path("again.nettrace"))
        for name in ("a", "direct", "again", "plain", "plain-direct"):
            memory = json.loads(self.gcdumpc("info", "--json", self.path(f"{name}.nettrace")).stdout)["process_memory"]
            self.assertEqual(memory is not None and memory["look_for_native"], "plain" not in name, name)
            self.assertEqual(memory is None, "plain" in name, name)
        self.assertRegex(self.gcdumpc("info", self.path("plain.nettrace")).stdout, r"\nprocess memory +not in this file")

    def need_root(self, tool):
        if os.geteuid() != 0 or shutil.which(tool) is None:
            self.skipTest(f"needs root and {tool}")

    def test_another_pid_namespace(self):
        """Like a container: outside, the process has another pid."""
        self.need_root("unshare")
        with subprocess.Popen(["unshare", "--pid", "--fork", "--mount-proc", heaplab(), "--memory", "native", str(TAKEN)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as outer:
            try:
                self.assertEqual(outer.stdout.readline(), "native\n")
                with open(f"/proc/{outer.pid}/task/{outer.pid}/children", encoding="utf-8") as f:
                    inner = int(f.read())
                said = self.gcdumpc("collect", "--pid", inner, "-o", self.path("a.nettrace")).stderr
            finally:
                outer.stdin.close()          # it ends by itself
        self.assertRegex(said, HINT)

    def test_mappings_that_may_not_be_read(self):
        """Root without the permission to inspect processes: it can connect, and says what it does not know."""
        self.need_root("capsh")
        self.need_root("setpriv")
        folder = self.path("theirs")
        shutil.copytree(os.path.dirname(heaplab()), folder)
        for path in (self.folder, folder):
            os.chmod(path, 0o755)
        with Process("--reuid=65534", "--regid=65534", "--clear-groups", os.path.join(folder, "HeapLab"), "--memory", "native", str(TAKEN),
                     program=shutil.which("setpriv")) as target:
            self.assertEqual(target.line, "native\n")
            command = f"exec {shlex.quote(PROGRAM)} collect --pid {target.pid} -o {shlex.quote(self.path('a.nettrace'))}"
            done = subprocess.run(["capsh", "--drop=cap_sys_ptrace,cap_perfmon,cap_sys_admin", "--", "-c", command], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"cannot tell how much of its memory is the GC heap: /proc/{target.pid}/smaps: Permission denied\n", done.stderr)
        self.assertNotIn("look for native", done.stderr)
        memory = json.loads(self.gcdumpc("info", "--json", self.path("a.nettrace")).stdout)["process_memory"]
        self.assertGreater(memory["resident"], TAKEN * MIB)
        self.assertIsNone(memory["gc_heap"])

    def test_without_ranges(self):
        with Process("--memory", "native", str(TAKEN)) as target:
            said = self.gcdumpc("collect", "--pid", target.pid, "-o", self.path("a.nettrace"), "--no-ranges").stderr
        memory = json.loads(self.gcdumpc("info", "--json", self.path("a.nettrace")).stdout)["process_memory"]
        self.assertEqual((memory["gc_heap"], memory["native_or_unknown"], memory["look_for_native"]), (None, None, False))
        self.assertIn("how much of it is the GC heap is not known", memory["text"])
        self.assertNotIn("GC heap", said)


if __name__ == "__main__":
    main()
