"""The heap against all other memory of a living process: native memory is told from the heap, and both from garbage, on every runtime and GC."""
import json
import re

from live_support import RUNTIMES, LiveTest, Missing, Process, heaplab, main

MIB = 1 << 20
TAKEN = 300
HINT = re.compile(r"the GC heap is (\d+) MiB of (\d+) MiB resident: look for native memory \((\d+) MiB\)\n")


class ProcessMemory(LiveTest):
    def memory(self, kind, program=None, **environment):
        """What info says of a recording of a process with TAKEN MiB of memory of KIND, and what collect says."""
        with Process("--memory", kind, str(TAKEN), program=program, **environment) as target:
            self.assertEqual(target.line, kind + "\n")
            said = self.gcdumpc("collect", "--pid", target.pid, "-o", self.path("a.nettrace")).stderr
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
                self.assertRegex(said, r"; GC heap before [\d,]+ MiB; ")
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
            metrics = self.gcdumpc("report", "--pid", target.pid, "--format", "prometheus").stdout
        with open(self.path("a.html"), encoding="utf-8") as f:
            self.assertRegex(f.read(), r'"look_for_native":true,"text":"the GC heap is \d+ MiB of')
        self.assertRegex(page.stderr, HINT)
        self.assertRegex(metrics, r'\ngcdumpc_process_memory_bytes\{process="HeapLab",pid="\d+",kind="native_or_unknown"\} 3\d{8}\n')
        saved, plain = (json.loads(self.gcdumpc("info", "--json", self.path(name)).stdout) for name in ("a.nettrace", "plain.nettrace"))
        self.assertTrue(saved["process_memory"]["look_for_native"])
        self.assertIsNone(plain["process_memory"])
        self.assertNotIn("process memory", self.gcdumpc("info", self.path("plain.nettrace")).stdout)

    def test_without_ranges(self):
        with Process("--memory", "native", str(TAKEN)) as target:
            said = self.gcdumpc("collect", "--pid", target.pid, "-o", self.path("a.nettrace"), "--no-ranges").stderr
        memory = json.loads(self.gcdumpc("info", "--json", self.path("a.nettrace")).stdout)["process_memory"]
        self.assertEqual((memory["gc_heap"], memory["native_or_unknown"], memory["look_for_native"]), (None, None, False))
        self.assertIn("how much of it is the GC heap is not known", memory["text"])
        self.assertNotIn("GC heap", said)


if __name__ == "__main__":
    main()
