"""A program compiled ahead of time (Native AOT): names from its symbols, beside it, elsewhere, or not at all.  Needs the .NET SDK, and from NuGet the
compiler; without them the test is skipped."""
import contextlib
import json
import os
import re
import shutil
import subprocess

from lab_programs import native_lab, native_lab_assembly
from live_support import PROGRAM, SECONDS, LiveTest, Process, main, need
from mcp_client import Client

BOX = "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Threading.Tasks.VoidTaskResult>.AsyncStateMachineBox<NativeLab_Shop_Work__RunAsync_d__1>"
WANTED = {
    "NativeLab_Shop_Order": 100, "NativeLab_Shop_Order_Line": 101, "NativeLab_Shop_Crate_1<System.Int32>": 102,
    "NativeLab_Shop_Crate_1_Slot<NativeLab_Shop_Order>": 103, "NativeLab_Shop_Pair_2<System.String, NativeLab_Shop_Order>": 104,
    "NativeLab_Shop_My_Space_Under_Score": 105, "NativeLab_Shop_Order[,]": 106, "NativeLab_Shop_Order[][]": 107,
    "System.Collections.Generic.Dictionary<System.String, System.Collections.Generic.List<NativeLab_Shop_Order>>": 108,
    "System.Collections.Concurrent.ConcurrentDictionary<System.Int32, NativeLab_Shop_Order>": 109, "Boxed_NativeLab_Shop_Point": 110,
    "System.Collections.Generic.Queue<System.Nullable<System.Int64>>": 111,
    "NativeLab_Shop_Pair_2<System.Collections.Generic.Dictionary<System.String, NativeLab_Shop_Crate_1<System.Int32>>, NativeLab_Shop_Order[]>": 112,
    BOX: 113,
}


# With the assembly that the program was compiled from, its own names are as in the source.
EXACT = {
    "Shop.Order": 100, "Shop.Order.Line": 101, "Shop.Crate<System.Int32>": 102, "Shop.Crate<Shop.Order>.Slot": 103,
    "Shop.Pair<System.String, Shop.Order>": 104, "Shop.My_Space.Under_Score": 105, "Shop.Order[,]": 106, "Shop.Order[][]": 107,
    "System.Collections.Generic.Dictionary<System.String, System.Collections.Generic.List<Shop.Order>>": 108,
    "System.Collections.Concurrent.ConcurrentDictionary<System.Int32, Shop.Order>": 109, "Shop.Point": 110,
    "Shop.Pair<System.Collections.Generic.Dictionary<System.String, Shop.Crate<System.Int32>>, Shop.Order[]>": 112,
    BOX.replace("NativeLab_Shop_Work__RunAsync_d__1", "Shop.Work.<RunAsync>d__1"): 113,
}


class NativeTest(LiveTest):
    RUNTIME = None               # the SDK's own

    def setUp(self):
        super().setUp()
        self.program = need(native_lab, self.RUNTIME)

    def collect(self, name, program, *words, status=0):
        with Process(program=program) as target:
            return self.gcdumpc("collect", "--pid", target.pid, "-o", self.path(name), *words, status=status)

    def types(self, *words, status=0):
        return {t["type"]: t["count"] for t in json.loads(self.gcdumpc("report", *words, "--json", status=status).stdout)["types"]}

    def stripped(self):
        folder = self.path("stripped")
        os.makedirs(folder, exist_ok=True)
        return shutil.copy(self.program, folder)

    def symbols(self):
        folder = self.path("symbols")
        os.makedirs(folder)
        shutil.copy(self.program + ".dbg", folder)
        return folder

    def check_names(self, types):
        self.assertEqual({name: types.get(name) for name in WANTED}, WANTED)
        self.assertEqual([name for name in types if "UNKNOWN" in name], [])

    def check_recorded_names(self):
        r = self.collect("named.nettrace", self.program)
        self.assertRegex(r.stderr, r"without names; .*\n.* names written, complete\n")
        self.check_names(self.types(self.path("named.nettrace"), "--no-modules"))     # the recording has them
        info = json.loads(self.gcdumpc("info", self.path("named.nettrace"), "--no-modules", "--json").stdout)
        native, = info["names"]["native"]
        self.assertEqual((native["state"], native["path"]), ("recorded", os.path.realpath(self.program)))
        self.assertRegex(native["build_id"], "^[0-9a-f]{40}$")
        with Process(program=self.program) as target:
            self.check_names(self.types("--pid", target.pid))
            listed, = [p for p in json.loads(self.gcdumpc("ps", "--json").stdout)["processes"] if p["pid"] == target.pid]
            self.assertEqual(listed["ways"], ["events"])
        # its literals are in its file, where no root refers to them, and not garbage
        unreachable = json.loads(self.gcdumpc("leaks", self.path("named.nettrace"), "--json").stdout)["unreachable"]
        self.assertLess(unreachable["objects"], 30)
        self.assertGreater(unreachable["frozen_objects"], 100)


class NativeAot11(NativeTest):
    RUNTIME = 11

    def test_names_beside_the_program(self):
        self.check_recorded_names()


class NativeAot(NativeTest):
    def test_names_beside_the_program(self):
        self.check_recorded_names()

    def test_texts_need_no_types(self):
        why = r"no \.NET runtime that can be read: .*\(Native AOT and Mono have none\)"
        r = self.collect("x.nettrace", self.program, "--values", "all", "--fields", "exact")
        self.assertRegex(r.stderr, rf"values: only texts \(.*{why}\)\n")
        self.assertRegex(r.stderr, r"values: texts of [\d,]+ strings, read ")
        self.assertRegex(r.stderr, r"fields: exact, also in ")
        for kind, told in (("strings", "values: texts of "), ("all", why)):
            r = self.collect("y.nettrace", self.program, "--values", kind, "--strict", status=int(kind == "all"))
            self.assertRegex(r.stderr, told)
        answer = json.loads(self.gcdumpc("strings", self.path("x.nettrace"), "--json").stdout)
        self.assertGreater(answer["string_totals"]["count"], 500)
        self.assertEqual(answer["array_totals"]["count"], 0)
        self.assertIn("System.Diagnostics.Tracing.EventSource.IsSupported", [row["text"] for row in answer["strings"]])
        rows = json.loads(self.gcdumpc("sql", self.path("x.nettrace"), "--show-values", "--json", "select count(*) from strings").stdout)["rows"]
        self.assertEqual(rows, [[answer["string_totals"]["count"]]])

    def test_symbols_elsewhere(self):
        r = self.collect("bare.nettrace", self.stripped(), status=3)
        self.assertRegex(r.stderr, r"Native AOT sends none: --modules DIR finds them in NativeLab.dbg, .*; build id [0-9a-f]{40}\n")
        folder = self.symbols()
        self.check_names(self.types(self.path("bare.nettrace"), "--modules", folder))
        self.gcdumpc("convert", self.path("bare.nettrace"), "-o", self.path("converted.nettrace"), "--modules", folder)
        self.check_names(self.types(self.path("converted.nettrace")))
        info = self.gcdumpc("info", self.path("bare.nettrace"), status=3).stdout
        self.assertRegex(info, r"symbols +none, its symbols were not found: --modules DIR finds them in NativeLab.dbg")
        with open(os.path.join(folder, "NativeLab.dbg"), "r+b") as f:                 # another build
            content = f.read()
            build = re.search(rb"GNU\0", content[content.index(b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0"):])
            f.seek(content.index(b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0") + build.end())
            f.write(b"other")
        r = self.gcdumpc("report", self.path("bare.nettrace"), "--modules", folder, status=3)
        self.assertIn("of another build", r.stderr)

    def test_names_from_assemblies(self):
        self.collect("bare.nettrace", self.stripped(), status=3)
        folder = self.symbols()
        shutil.copy(need(native_lab_assembly), folder)
        types = self.types(self.path("bare.nettrace"), "--modules", folder)
        self.assertEqual({name: types.get(name) for name in EXACT}, EXACT)
        self.assertEqual([name for name in types if "NativeLab_" in name], [])

    def test_two_runs_without_symbols(self):
        program = self.stripped()
        for name in "ab":
            self.collect(f"{name}.nettrace", program, status=3)
        types = self.types(self.path("a.nettrace"), status=3)
        self.assertTrue(all(re.fullmatch(r"UNKNOWN (Array)?Type\(0x[0-9a-f]+\) of build [0-9a-f]{8}", name) for name in types), list(types)[:3])
        self.collect("named.nettrace", self.program)
        self.collect("place.nettrace", program, "--no-modules", status=3)                # does not know its build
        for other, status in (("b", 3), ("place", 3), ("named", 0)):
            r = self.gcdumpc("diff", self.path("a.nettrace"), self.path(f"{other}.nettrace"), "--json", "--no-modules", status=status)
            self.assertEqual("takes the names of types from" in r.stderr, other == "named")
            changed = json.loads(r.stdout)["types"]                                      # only what changed is listed
            self.assertEqual([row for row in changed if 100 <= max(row["count_before"], row["count_after"]) <= 113], [])
            self.assertLess(len(changed), len(types) / 2)
        for words in (("named", "place"), ("place", "named")):
            files = [self.path(f"{name}.nettrace") for name in words]
            r = self.gcdumpc("diff", *files, "--no-modules", "--filter", "NativeLab_*", "--json")
            self.assertEqual([row["count_delta"] for row in json.loads(r.stdout)["types"]], [])
            self.assertIn("place.nettrace: takes the names of types from", r.stderr)
        r = self.gcdumpc("leaks", self.path("a.nettrace"), self.path("named.nettrace"))
        self.assertIn("a.nettrace: takes the names of types from", r.stderr)

    def test_a_living_process_names_the_dump(self):
        self.collect("bare.nettrace", self.stripped(), status=3)
        self.collect("named.nettrace", self.program)
        filtered = ("--filter", "NativeLab_*", "--json")
        for program, name in ((self.program, "bare"), (self.stripped(), "named")):
            with Process(program=program) as target:
                r = self.gcdumpc("diff", self.path(f"{name}.nettrace"), "--pid", target.pid, *filtered)
                unnamed, namer = (f"{name}.nettrace", f"process {target.pid}")[::1 if name == "bare" else -1]
                self.assertRegex(r.stderr, f"{unnamed}: takes the names of types from .*{namer}, of the same build\n")
                self.assertEqual([row for row in json.loads(r.stdout)["types"] if row["count_delta"] != 0], [])
        with Process(program=self.program) as target:
            r = self.gcdumpc("leaks", self.path("bare.nettrace"), "--pid", target.pid)
            self.assertIn(f"bare.nettrace: takes the names of types from process {target.pid}", r.stderr)
            r = self.gcdumpc("diff", self.path("bare.nettrace"), "--pid", target.pid, "--no-modules", status=3)
            self.assertNotIn("takes the names", r.stderr)

    def test_mcp_compares_heaps_of_one_build(self):
        self.collect("bare.nettrace", self.stripped(), status=3)
        self.collect("named.nettrace", self.program)
        for tool, words in (("diff", {"old": "h1", "new": "h2"}), ("diff", {"old": "h2", "new": "h1"}), ("suspects", {"heap": "h1", "since": "h2"}),
                            ("suspects", {"heap": "h2", "since": "h1"})):
            with self.serve() as client:
                for name in ("bare", "named"):
                    client.call("open", file=f"{name}.nettrace")
                before = client.call("summary", heap="h1")
                self.assertFalse(before["complete"])
                client.call(tool, **words)
                after = client.call("summary", heap="h1")
                self.assertEqual(after["notes"][-1], "bare.nettrace: takes the names of types from named.nettrace, of the same build")
                self.assertEqual((after["objects"], after["bytes"]), (before["objects"], before["bytes"]))
                self.assertEqual(client.call("types", heap="h1", filter="NativeLab_Shop_Order_Line")["types"][0]["count"], WANTED["NativeLab_Shop_Order_Line"])
                found = [row for row in client.call("diff", old="h1", new="h2", filter="NativeLab_*")["types"] if row["count_delta"] != 0]
                self.assertEqual(found, [])
        with self.serve() as client:                                                     # without its file it stays as it is
            for name in ("bare", "named"):
                client.call("open", file=f"{name}.nettrace")
            os.unlink(self.path("named.nettrace"))
            self.assertNotIn("takes the names", str(client.call("diff", old="h1", new="h2")["notes"]))
            self.assertFalse(client.call("summary", heap="h1")["complete"])

    @contextlib.contextmanager
    def serve(self):
        process = subprocess.Popen([PROGRAM, "mcp", "--root", self.path("")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            client = Client(process, seconds=SECONDS)
            client.tools()
            yield client
        finally:
            process.stdin.close()
            process.stdout.close()
            process.wait()

    def test_another_build(self):
        newer = need(native_lab, 11)
        with Process(program=newer) as target:
            self.gcdumpc("collect", "--pid", target.pid, "-o", self.path("newer.nettrace"))
        self.collect("bare.nettrace", self.stripped(), status=3)
        self.collect("place.nettrace", self.stripped(), "--no-modules", status=3)
        for name, why in (("bare", "it is of another build"), ("place", "it is not known to be of the same build")):
            r = self.gcdumpc("diff", self.path(f"{name}.nettrace"), self.path("newer.nettrace"), "--no-modules", status=3)
            self.assertIn(f"its types have no names, and {why}; --modules DIR names them", r.stderr)
            self.assertNotIn("takes the names", r.stderr)


if __name__ == "__main__":
    main()
