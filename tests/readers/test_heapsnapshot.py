#!/usr/bin/env python3
"""The real readers of .heapsnapshot files, on files that gcdumpc did not write: V8's own, and the example of v8-heapsnapshot.md.

The last class pins what each loader refuses and what it silently accepts, so that no test trusts one of them alone.  As their versions are
fixed, most of it runs in a long run only.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import real_readers
from real_readers import Refused, devtools, memlab, read_heapsnapshot, strict

LONG = os.environ.get("GCDUMPC_LONG") == "1"
NODE_TYPES = ["hidden", "array", "string", "object", "code", "closure", "regexp", "number", "native", "synthetic",
              "concatenated string", "sliced string", "symbol", "bigint", "object shape"]
EDGE_TYPES = ["context", "element", "property", "internal", "hidden", "shortcut", "weak"]
META = {
    "node_fields": ["type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness"],
    "node_types": [NODE_TYPES, "string", "number", "number", "number", "number", "number"],
    "edge_fields": ["type", "name_or_index", "to_node"],
    "edge_types": [EDGE_TYPES, "string_or_number", "node"],
    "trace_function_info_fields": ["function_id", "name", "script_name", "script_id", "line", "column"],
    "trace_node_fields": ["id", "function_info_index", "count", "size", "children"],
    "sample_fields": ["timestamp_us", "last_assigned_id"],
    "location_fields": ["object_index", "script_id", "line", "column"],
}


def snapshot(*nodes):
    """The parts of a snapshot; a node is (type, name, size, [(edge type, name, target)...]), its id 2 * ordinal + 1."""
    strings, flat, edges = {"": 0}, [], []
    at = lambda name: strings.setdefault(name, len(strings))
    for ordinal, (kind, name, size, out) in enumerate(nodes):
        flat += [NODE_TYPES.index(kind), at(name), 2 * ordinal + 1, size, len(out), 0, 0]
        for edge, label, target in out:
            edges += [EDGE_TYPES.index(edge), label if edge == "element" else at(label), 7 * target]
    head = {"meta": META, "node_count": len(nodes), "edge_count": len(edges) // 3, "trace_function_count": 0}
    return {"snapshot": head, "nodes": flat, "edges": edges, "trace_function_infos": [], "trace_tree": [], "samples": [],
            "locations": [], "strings": list(strings)}


def shop():
    """v8-heapsnapshot.md section 6."""
    return snapshot(
        ("synthetic", "", 0, [("internal", "(GC roots)", 1)]),
        ("synthetic", "(GC roots)", 0, [("internal", "[static variables]", 2), ("internal", "[weak handles]", 3)]),
        ("synthetic", "[static variables]", 0, [("property", "Shop.Store.current", 4)]),
        ("synthetic", "[weak handles]", 0, [("weak", "0", 6)]),
        ("object", "Shop.Store", 24, [("property", "Shop.Order[]", 5)]),
        ("object", "Shop.Order[]", 40, [("property", "Shop.Order", 6)]),
        ("object", "Shop.Order", 32, []))


def in_a_long_run(test):
    """Else it is not there: nothing that matters is missing then."""
    return test if LONG else None


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        real_readers.need_node()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name

    def write(self, parts, name="x.heapsnapshot"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            if isinstance(parts, str):
                file.write(parts)
            else:
                json.dump(parts, file, ensure_ascii=False, separators=(",", ":"))
        return path


class NodesOwn(Files):
    """A snapshot of a Node process, which V8 writes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = os.path.join(cls.folder, "node.heapsnapshot")
        script = ("class Kept { constructor(i) { this.bytes = new Array(i); } };"
                  "globalThis.kept = Array.from({length: 137}, (_, i) => new Kept(i));"
                  "require('v8').writeHeapSnapshot(process.argv[1])")
        subprocess.run(["node", "-e", script, cls.path], check=True, stdout=subprocess.DEVNULL)
        cls.seen = read_heapsnapshot(cls.path, largest=5)
        with open(cls.path, encoding="utf-8") as file:
            cls.plain = json.load(file)

    def test_counts_are_those_of_the_file(self):
        fields = len(self.plain["snapshot"]["meta"]["node_fields"])
        sizes = self.plain["nodes"][self.plain["snapshot"]["meta"]["node_fields"].index("self_size")::fields]
        self.assertEqual(self.seen["nodes"], self.plain["snapshot"]["node_count"])
        self.assertEqual(self.seen["edges"], self.plain["snapshot"]["edge_count"])
        self.assertEqual((self.seen["bytes"], self.seen["facts"]["total_size"]), (sum(sizes), sum(sizes)))

    def test_objects_of_a_class(self):
        for reader in (self.seen, self.seen["memlab"], self.seen["strict"]):
            self.assertEqual(reader["types"]["Kept"][0], 137)

    def test_raw_sizes_of_memlab_and_the_strict_reader(self):
        self.assertEqual(self.seen["memlab"]["kinds"], self.seen["strict"]["kinds"])
        self.assertEqual(self.seen["memlab"]["types"], self.seen["strict"]["types"])

    def test_retained_sizes_add_up(self):
        for reader in (self.seen, self.seen["memlab"]):
            self.assertEqual(reader["facts"]["dominator_sums_wrong"], 0)
            self.assertEqual(reader["facts"]["root_retained"], self.seen["bytes"])
            self.assertEqual(len(reader["retained"]), 5)
            self.assertGreaterEqual(reader["retained"][0]["retained"], reader["retained"][4]["retained"])


class HeapOfDotNet(Files):
    """The way gcdumpc maps a .NET heap: the readers agree on everything."""

    def test_the_worked_example(self):
        seen = read_heapsnapshot(self.write(shop()), ids=[1, 3, 5, 7, 9, 11, 13])
        self.assertEqual((seen["nodes"], seen["edges"], seen["bytes"]), (7, 7, 96))
        self.assertEqual(seen["types"], {"Shop.Store": [1, 24], "Shop.Order[]": [1, 40], "Shop.Order": [1, 32]})
        self.assertEqual(seen["roots"], [{"name": "[static variables]", "edges": 1}, {"name": "[weak handles]", "edges": 1}])
        self.assertEqual(seen["edge_types"], {"internal": 3, "property": 3, "weak": 1})
        expected = [(1, 0, 96, 0), (3, 0, 96, 1), (5, 0, 96, 2), (7, 0, 0, 2), (9, 24, 96, 3), (11, 40, 72, 4), (13, 32, 32, 5)]
        for reader in (seen, seen["memlab"]):
            found = sorted((n["id"], n["self"], n["retained"]) for n in reader["retained"])
            self.assertEqual(found, [row[:3] for row in expected])
            self.assertEqual(reader["facts"]["dominator_sums_wrong"], 0)
        self.assertEqual(sorted((n["id"], n["distance"]) for n in seen["retained"]), [(row[0], row[3]) for row in expected])
        self.assertEqual((seen["facts"]["warnings"], seen["strict"]["facts"]["warnings"]), ([], []))
        self.assertEqual(seen["classes"], {"Shop.Store": [1, 24, 96, 3], "Shop.Order[]": [1, 40, 72, 4], "Shop.Order": [1, 32, 32, 5]})

    def test_every_field_comes_through(self):
        graph = strict(self.write(shop()), graph=True)["graph"]
        self.assertEqual(graph[2], ["synthetic", "[static variables]", 5, 0, [["property", "Shop.Store.current", 4]]])
        self.assertEqual(graph[4], ["object", "Shop.Store", 9, 24, [["property", "Shop.Order[]", 5]]])
        self.assertEqual(devtools(self.write(shop()), graph=True)["graph"], graph)
        self.assertEqual(memlab(self.write(shop()), graph=True)["graph"], graph)

    def heap(self, *objects):
        """Objects 2, 3, ... below (GC roots), the first of them rooted."""
        return self.write(snapshot(("synthetic", "", 0, [("internal", "(GC roots)", 1)]),
                                   ("synthetic", "(GC roots)", 0, [("internal", "[local variables]", 2)]),
                                   ("synthetic", "[local variables]", 0, [("element", 0, 3)]), *objects))

    def test_a_diamond_is_retained_by_its_top(self):
        path = self.heap(("object", "Top", 10, [("element", 0, 4), ("element", 1, 5)]), ("object", "Left", 100, [("element", 0, 6)]),
                         ("object", "Right", 1000, [("element", 0, 6), ("element", 1, 3)]), ("object", "Bottom", 10000, [("element", 0, 6)]))
        seen = read_heapsnapshot(path, largest=4)
        for reader in (seen, seen["memlab"]):
            self.assertEqual([(n["name"], n["retained"]) for n in reader["retained"]],
                             [("Top", 11110), ("Bottom", 10000), ("Right", 1000), ("Left", 100)])

    def test_a_long_chain(self):
        length = 100_000
        chain = [("object", "Link", 24, [("property", "Link", i + 1)] if i < length + 2 else []) for i in range(3, length + 3)]
        path = self.heap(*chain)
        seen = read_heapsnapshot(path, largest=1, ids=[2 * (length + 2) + 1])
        self.assertEqual((seen["nodes"], seen["bytes"]), (length + 3, 24 * length))
        for reader in (seen, seen["memlab"]):
            self.assertEqual([n["retained"] for n in reader["retained"]], [24 * length, 24])
        self.assertEqual([n["distance"] for n in seen["retained"]], [3, length + 2])
        self.assertEqual(len(strict(path, graph=True)["graph"]), length + 3)            # more than a pipe holds

    def test_sizes_up_to_4_gib(self):
        seen = read_heapsnapshot(self.heap(("object", "Big", 2**32 - 1, [("element", 0, 4)]), ("object", "Big", 2**32 - 1, [])), largest=1)
        self.assertEqual(seen["bytes"], 2 * (2**32 - 1))
        self.assertEqual(seen["memlab"]["retained"][0]["retained"], 2 * (2**32 - 1))

    def test_a_size_of_4_gib_is_lost(self):
        path = self.heap(("object", "Big", 2**32 + 5, []))
        self.assertEqual((devtools(path)["bytes"], memlab(path)["bytes"], strict(path)["bytes"]), (5, 5, 2**32 + 5))

    def test_names(self):
        names = ["<>f__AnonymousType0`2[[System.String, x]]", "<Main>d__0", "Detached <x y>", "Object", "__proto__", "é\U0001F600\"\\\n"]
        seen = read_heapsnapshot(self.heap(*[("object", name, 10, [("element", 0, i + 4)] if i < 5 else []) for i, name in enumerate(names)]))
        for reader in (seen, seen["memlab"], seen["strict"]):
            self.assertEqual(sorted(reader["types"]), sorted(names))
        # the Summary view cuts what it takes for HTML at the first space
        self.assertEqual(sorted(set(seen["classes"]) - set(names)), ["<>f__AnonymousType0`2[[System.String,>", "Detached <x>"])

    def test_unreachable_objects_count(self):
        path = self.heap(("object", "Kept", 10, []), ("object", "Lost", 7, [("element", 0, 5)]), ("object", "Lost", 7, [("element", 0, 4)]))
        seen = read_heapsnapshot(path, ids=[9])
        self.assertEqual((seen["bytes"], seen["facts"]["root_retained"], seen["memlab"]["facts"]["root_retained"]), (24, 24, 24))
        self.assertLess(seen["retained"][0]["distance"], 0)
        self.assertIn("unreachable", seen["facts"]["warnings"][0])


class Damage(Files):
    """Which of the three refuses a file."""

    def refused(self, parts):
        path, found = self.write(parts), []
        for name, reader in (("devtools", devtools), ("memlab", memlab), ("strict", strict)):
            try:
                reader(path)
            except Refused as reason:
                self.assertTrue(str(reason))
                found.append(name)
        return found

    def changed(self, change):
        parts = shop()
        change(parts)
        return self.refused(parts)

    def test_the_example_itself(self):
        self.assertEqual(self.refused(shop()), [])

    def test_everyone_refuses(self):
        whole = json.dumps(shop(), separators=(",", ":"))
        everyone = ["devtools", "memlab", "strict"]
        self.assertEqual(self.refused(""), everyone)
        self.assertEqual(self.refused("{}"), everyone)
        for part in ('"nodes"', '"edges"', '"strings"', '"Shop.Order[]"') if LONG else ('"edges"',):
            self.assertEqual(self.refused(whole[:whole.index(part) + 14]), everyone, part)
        self.assertEqual(self.changed(lambda p: p["edges"].__setitem__(2, 8)), everyone)        # no multiple of 7

    def test_only_the_strict_reader_counts(self):
        for key in ("node_count", "edge_count") if LONG else ("edge_count",):
            self.assertEqual(self.changed(lambda p: p["snapshot"].__setitem__(key, p["snapshot"][key] - 1)), ["strict"], key)
        self.assertIn("strict", self.changed(lambda p: p["nodes"].__setitem__(4, 0)))           # one edge has no owner

    @in_a_long_run
    def test_order_of_the_keys_matters_to_devtools(self):
        parts = shop()
        self.assertEqual(self.refused({"strings": parts.pop("strings"), **parts}), ["devtools"])

    @in_a_long_run
    def test_a_target_beyond_the_end(self):
        self.assertEqual(self.changed(lambda p: p["edges"].__setitem__(2, 7 * 70)), ["memlab", "strict"])

    @in_a_long_run
    def test_missing_arrays(self):
        self.assertEqual(self.changed(lambda p: p.pop("trace_tree")), ["strict"])
        self.assertEqual(self.changed(lambda p: p.pop("samples")), ["devtools", "strict"])

    @in_a_long_run
    def test_padding_after_a_count(self):
        text = json.dumps(shop()).replace('"node_count": 7', '"node_count": 7          ')
        self.assertEqual(self.refused(text), [])

    @in_a_long_run
    def test_a_byte_order_mark(self):
        self.assertEqual(self.refused("\ufeff" + json.dumps(shop())), ["memlab", "strict"])


if __name__ == "__main__":
    real_readers.main()
