"""Reused ids of types, modules and assemblies: HeapLab --reload unloads and loads while it is dumped several times into one recording."""
import itertools
import json
import os
import resource
import subprocess

from live_support import SECONDS, LiveTest, heaplab, main, need, record_nettrace

LIMIT = 1400 << 20               # limit of the address space: else ids repeat only after some 16,000 contexts
# The collector's reservation must fit.
SMALL = {"DOTNET_GCHeapHardLimit": "0x4000000", "DOTNET_GCRegionRange": "0x10000000", "DOTNET_GCRegionSize": "0x100000"}
RECORD, LOADER, COLLECT = 0x1180001, 0x8, 0x800000
ROUNDS = 4


class Reuse(LiveTest):
    def start(self):
        folder = self.path("copies")
        os.makedirs(folder, exist_ok=True)
        program = need(heaplab)
        self.target = subprocess.Popen([program, "--reload", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True, env={**os.environ, **SMALL},
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)))
        self.addCleanup(self.stop)
        line = self.target.stdout.readline()
        if line.strip() in ("", "none"):
            self.skipTest("this runtime does not use an id again, or does not start with so little address space")
        return line.split()

    def stop(self):
        self.target.kill()
        self.target.communicate()

    def next(self):
        self.target.stdin.write("next\n")
        self.target.stdin.flush()
        return self.target.stdout.readline().split()

    def session(self, keywords, buffer_mb, rundown, file):
        path = record_nettrace.find_socket(self.target.pid)
        requests = record_nettrace.collect_requests(buffer_mb, rundown, keywords, 4)
        return record_nettrace.Session(path, requests, file, SECONDS)

    def record_once(self, path, keywords):
        lines = []
        with open(path, "wb") as file:
            recorder = self.session(keywords, 16, "full", file)
            recorder.wait_for(lambda: recorder.received >= record_nettrace.STREAM_HEADER)
            for _ in range(ROUNDS):
                lines.append(self.next())
                self.session(COLLECT, 1, "none", None).stop()
            recorder.stop()
        return lines

    def record(self, path, keywords):
        """A recording with a walk for each of several types with the same id; returns their lines."""
        for _ in range(5):
            self.start()
            lines = self.record_once(path, keywords)
            self.assertEqual(len({line[0] for line in lines}), 3, lines)
            if len({line[1] for line in lines}) == 1:
                return lines
            self.stop()                          # the runtime had another place for one of them: on a busy machine it frees the old one later
        return self.fail(f"five processes that use an id again, but not for all types: {lines}")

    def dumps(self, path):
        """(name, file) of the type in each dump of a recording."""
        found = []
        count = json.loads(self.gcdumpc("info", path, "--json").stdout)["dumps"]
        for number in range(1, count + 1):
            rows = json.loads(self.gcdumpc("report", path, "--walk", number, "--json").stdout)["types"]
            mine = [t for t in rows if t["raw_name"] in ("HeapLab.Red", "HeapLab.Green", "HeapLab.Blue")]
            self.assertEqual(len(mine), 1, mine)
            name = mine[0]["raw_name"]
            others = {t["raw_name"] for t in rows if any(x in t["raw_name"] for x in ("Red", "Green", "Blue"))}
            self.assertEqual(others, {name, name + "[]", f"System.Collections.Generic.List`1[{name}]"})
            found.append((name, mine[0]["module"]))
        # .NET 8 and 9 dump once more when the requesting session ends
        return [key for key, _ in itertools.groupby(found)]

    def test_names_are_those_of_the_walk(self):
        path = self.path("heap.nettrace")
        lines = self.record(path, RECORD)
        found = self.dumps(path)
        self.assertEqual([name for name, _ in found], [line[0] for line in lines])
        # modules are described only at the end, when only the last one exists
        self.assertEqual([module for _, module in found[:-1]], [None] * (ROUNDS - 1))
        self.assertEqual(found[-1][1], lines[-1][2])

    def test_modules_are_those_of_the_walk(self):
        path = self.path("heap.nettrace")
        lines = self.record(path, RECORD | LOADER)
        self.assertEqual(self.dumps(path), [(line[0], line[2]) for line in lines])


if __name__ == "__main__":
    main()
