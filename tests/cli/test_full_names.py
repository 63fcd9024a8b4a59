"""Names as in the source, in every output; and dumps with such names compared with dumps without."""
import csv
import io
import json
import re

from cli_support import CliTest, main
from sample_heaps import write
from test_recording import MODULE, STATIC, TYPE, layout, named_trace
from trace_bytes import Ev, Payloads, V4File

BASE = 0x7F0000001000
STORE, LIST_NODE, TREE_NODE, ORDER = 0x71, 0x72, 0x73, 0x74
NAMES = ((MODULE, 0x30, bytes(range(16)), "Shop", "", "/srv/Shop.dll"), (TYPE, LIST_NODE, "Shop.Lists`1"), (TYPE, TREE_NODE, "Shop.Trees"),
         (STATIC, 0xF10, "s_all", "Shop.Cache", "Shop.Cache.s_all"))
SEVERAL = NAMES[:3] + ((STATIC, 0xF10, "s_all", "", "Shop.A.s_all or Shop.B.s_all"),)


def heap(lists=1, trees=1):
    """A store held by a static variable; it refers to LISTS and TREES nodes, which share a name, and to an order."""
    p, start = Payloads(8), 1_000_000
    rows = [(BASE, 0x18, STORE, lists + trees + 1), (BASE + 0x18, 0x20, ORDER, 0)]
    rows += [(BASE + 0x40 + 0x30 * i, 0x30, LIST_NODE if i < lists else TREE_NODE, 0) for i in range(lists + trees)]
    return [Ev(1, start, p.gc_start()), Ev(16, start + 1, p.roots(0)), Ev(38, start + 1, p.statics((BASE, STORE, "s_all"))),
            Ev(18, start + 2, p.nodes(0, *rows)),
            Ev(19, start + 3, p.edges(0, *(row[0] for row in rows[1:]))),
            Ev(15, start + 4, p.types((STORE, "Shop.Store"), (LIST_NODE, "Node[System.Int32]"), (TREE_NODE, "Node[System.Int32]"),
                                      (ORDER, "Shop.Order"))),
            Ev(2, start + 5, p.gc_end()), Ev(99, start + 6, p.process_info("dotnet /srv/shop.dll"))]


class FullNames(CliTest):
    def setUp(self):
        super().setUp()
        self.put("bare", write(V4File(), heap(2, 1)))
        self.put("named", named_trace(*NAMES, heap=heap(3, 1)))
        self.put("more", named_trace(*NAMES, heap=heap(9, 2)))
        self.put("several", named_trace(*SEVERAL, heap=heap(1, 1)))

    def json(self, *words, code=0):
        return json.loads(self.done(*words, "--json", "-q", code=code).text)


class Shown(FullNames):
    def test_types(self):
        rows = {r["type"]: (r["raw_name"], r["count"]) for r in self.json("report", "named")["types"]}
        self.assertEqual(rows, {"Shop.Lists<System.Int32>.Node": ("Node[System.Int32]", 3), "Shop.Trees.Node<System.Int32>": ("Node[System.Int32]", 1),
                                "Shop.Store": ("Shop.Store", 1), "Shop.Order": ("Shop.Order", 1)})
        self.assertEqual([r["type"] for r in self.json("report", "named", "--names", "raw")["types"][:1]], ["Node[System.Int32]"])

    def test_namespaces(self):
        self.assertEqual({r["namespace"]: r["count"] for r in self.json("report", "bare", "--by", "namespace")["namespaces"]}, {"(none)": 3, "Shop": 2})
        self.assertEqual({r["namespace"]: r["count"] for r in self.json("report", "named", "--by", "namespace")["namespaces"]}, {"Shop": 6})

    def test_static_variables(self):
        for name, of, label in (("bare", None, "s_all"), ("named", "Shop.Cache", "Shop.Cache.s_all"), ("several", None, "Shop.A.s_all or Shop.B.s_all")):
            text = f"static variable {label}"
            for words in (["--object", f"{BASE + 0x18:#x}"], ["--type", "Shop.Order"]):
                root = [r for r in self.json("paths", name, *words)["paths"] if r["kind"] == "root"]
                self.assertEqual([(r["root"], r["field"], r["class"], r["label"]) for r in root], [("statics", "s_all", of, label)])
                self.assertRegex(self.done("paths", name, *words, "-q").text, rf" {re.escape(text)}\n")
            held = self.json("retained", name)["largest_objects"][0]
            self.assertEqual((held["held_by"], held["field"], held["class"], held["label"]), (text, "s_all", of, label))
            suspect = self.json("leaks", name, "--min-bytes", "1", "--share", "1")["suspects"][0]
            self.assertEqual((suspect["root"], suspect["field"], suspect["class"], suspect["label"]), (text, "s_all", of, label))
            self.assertIn(f"the static variable {label}", suspect["sentence"])
            self.done("convert", name, "-o", f"{name}.csv", "-q")
            roots = list(csv.DictReader(io.StringIO(self.get(f"{name}.csv/roots.csv").decode())))
            self.assertEqual([(r["name"], r["class"], r["label"]) for r in roots], [("s_all", of or "", label)])
            self.done("convert", name, "-o", "x.html", "-q")
            self.assertIn(label, self.get("x.html").decode())

    def test_formats(self):
        for suffix, words in (("heapsnapshot", [b'"Shop.Cache.s_all"', b'"Shop.Lists<System.Int32>.Node"']),
                              ("folded", [b";Shop.Cache.s_all;Shop.Store;Shop.Lists<System.Int32>.Node "]),
                              ("gcdump", [b"[static var Shop.Cache.s_all]", b"Shop.Lists<System.Int32>.Node"]),
                              ("gclog", [b"t 1 Shop.Cache\n", b"Shop.Lists`1+Node[System.Int32]\n", b" 4 0 1\n"]),
                              ("dartheap", [b"Shop.Lists<System.Int32>.Node"]),
                              ("prom", [b'type="Shop.Lists<System.Int32>.Node"'])):
            command = ("report", "named") if suffix == "prom" else ("convert", "named")
            self.done(*command, "-o", f"x.{suffix}", "-q")
            for word in words:
                self.assertIn(word, self.get(f"x.{suffix}"), suffix)

    def test_info(self):
        text = self.done("info", "named").text
        self.assertRegex(text, r"(?m)^full names +4 of 4 types, 1 of 1 static variables$")
        self.assertRegex(self.done("info", "several").text, r"(?m)^full names +4 of 4 types, 0 of 1 static variables, of 1 several classes are possible$")
        self.assertRegex(self.done("info", "bare", "--no-modules").text, r"(?m)^full names +none: no module was looked for\nfields +none: no module was looked for$")
        self.assertRegex(self.done("info", "bare", "--no-fields").text, r"(?m)^fields +none: --no-fields$")
        names = self.json("info", "named")["names"]
        self.assertEqual((names["types_resolved"], names["statics_resolved"], names["modules"]["recorded"], names["problems"]), (4, 1, 1, []))


class Around(CliTest):
    """A gateway with one session, whose callback is in the list of all, which a source has in another field."""

    def test_other_objects_of_the_type(self):
        p, gateway, source, session, callbacks = Payloads(8), 0x71, 0x72, 0x73, 0x74
        at = [BASE + 0x1000 * i for i in range(5)]
        rows = ((at[0], 64, gateway, 2), (at[1], 208, source, 1), (at[2], 300, callbacks, 2), (at[3], 400, session, 1), (at[4], 400, session, 0))
        events = [Ev(1, 1_000_000, p.gc_start()), Ev(16, 1_000_001, p.roots(0)), Ev(38, 1_000_001, p.statics((at[0], gateway, "s_all"))),
                  Ev(18, 1_000_002, p.nodes(0, *rows)),
                  Ev(19, 1_000_003, p.edges(0, at[3], at[1], at[2], at[3], at[4], at[2])),
                  Ev(15, 1_000_004, p.types((gateway, "Shop.Gateway"), (source, "System.Source"), (session, "Shop.Session"), (callbacks, "System.Callbacks"))),
                  Ev(2, 1_000_005, p.gc_end()), Ev(99, 1_000_006, p.process_info("dotnet /srv/shop.dll"))]
        layouts = layout(gateway, "o 1\n3 _live\n2 _shutdown"), layout(source, "o 2"), layout(session, "o 3\n4 _registered"), layout(callbacks, "o 4")
        self.put("in.nettrace", named_trace(NAMES[0], (STATIC, 0xF10, "s_all", "Shop.Gateway", "Shop.Gateway.s_all"), *layouts, heap=events))
        head, *lines = self.done("paths", "in.nettrace", "--type", "Shop.Session", "--mine", "Shop.*", "-q").text.splitlines()
        self.assertEqual([line[head.index("Path"):].strip() for line in lines],
                         ["static variable Shop.Gateway.s_all", "Shop.Gateway", "_live: Shop.Session", "_shutdown: ... 2 library steps", "Shop.Session"])


class ByField(CliTest):
    """What each field retains: two fields share a leaf, and a note is in one of two fields."""

    def setUp(self):
        super().setUp()
        p, cache, box, note, leaf = Payloads(8), 0x71, 0x72, 0x73, 0x74
        at = [BASE + 0x1000 * i for i in range(5)]
        rows = ((at[0], 64, cache, 3), (at[1], 104, box, 1), (at[2], 208, box, 1), (at[3], 400, note, 0), (at[4], 800, leaf, 0))
        events = [Ev(1, 1_000_000, p.gc_start()), Ev(16, 1_000_001, p.roots(0)), Ev(38, 1_000_001, p.statics((at[0], cache, "s_all"))),
                  Ev(18, 1_000_002, p.nodes(0, *rows)), Ev(19, 1_000_003, p.edges(0, at[1], at[2], at[3], at[4], at[4])),
                  Ev(15, 1_000_004, p.types((cache, "Shop.Cache"), (box, "Shop.Box"), (note, "Shop.Note"), (leaf, "Shop.Leaf"))),
                  Ev(2, 1_000_005, p.gc_end()), Ev(99, 1_000_006, p.process_info("dotnet /srv/shop.dll"))]
        layouts = (layout(cache, "o 1\n2 _first\n2 _second\n3 _other\n3 _spare"), layout(box, "o 2\n4 _leaf"), layout(note, "o 3"), layout(leaf, "o 4"))
        self.put("in.nettrace", named_trace(NAMES[0], (STATIC, 0xF10, "s_all", "Shop.Cache", "Shop.Cache.s_all"), *layouts, heap=events))

    def test_each_row(self):
        rows = json.loads(self.done("retained", "in.nettrace", "--by-field", "--json", "-q").text)["fields"]
        self.assertEqual([(r["retained_bytes"], r["count"], r["label"], r["class"], r["field"], r["other_field"], r["is_static"]) for r in rows],
                         [(1576, 1, "Shop.Cache.s_all", "Shop.Cache", "s_all", None, True),
                          (800, 1, "Shop.Cache._first and _second", "Shop.Cache", "_first", "_second", False),
                          (400, 1, "Shop.Cache (unknown field)", "Shop.Cache", None, None, False),
                          (208, 1, "Shop.Cache._second", "Shop.Cache", "_second", None, False),
                          (104, 1, "Shop.Cache._first", "Shop.Cache", "_first", None, False)])

    def test_without_fields_all_are_unknown(self):
        text = self.done("retained", "in.nettrace", "--by-field", "--no-fields", "-q").text
        self.assertRegex(text, r"(?m)^ *1,?512 .* 4  Shop\.Cache \(unknown field\)$")
        self.assertNotIn("_first", text)

    def test_what_leads_to_one_object_or_another(self):
        text = self.done("paths", "in.nettrace", "--type", "Shop.Note", "-q").text
        self.assertIn("Shop.Cache", text)
        self.assertNotIn("_first", text)
        field = json.loads(self.done("sql", "in.nettrace", "--json", "-q", "SELECT slot, field FROM edges WHERE from_id = 0").text)["rows"]
        self.assertEqual(field, [[0, "_first"], [1, "_second"], [2, None]])


class Mixed(FullNames):
    NOTE = "gcdumpc: {}: does not know the outer types of nested types, so all dumps are compared without them"

    def rows(self, *words, key="types"):
        """matched_by, {name: (before, after)}, notes on standard error."""
        run = self.done(*words, "--json")
        got = json.loads(run.text)
        return got["matched_by"], {r["type" if key == "types" else "name"]: (r["count_before"], r["count_after"]) for r in got[key]}, [n for n in run.lines if "nested" in n]

    def test_full_names_on_both_sides(self):
        self.assertEqual(self.rows("diff", "named", "more"),
                         ("name", {"Shop.Lists<System.Int32>.Node": (3, 9), "Shop.Trees.Node<System.Int32>": (1, 2)}, []))

    def test_without_any(self):
        self.put("bare2", write(V4File(), heap(5, 1)))
        self.assertEqual(self.rows("diff", "bare", "bare2"), ("name", {"Node<System.Int32>": (3, 6)}, []))

    def test_only_on_one_side(self):
        self.assertEqual(self.rows("diff", "bare", "more"), ("raw_name", {"Node<System.Int32>": (3, 11)}, [self.NOTE.format("bare")]))
        self.assertEqual(self.rows("diff", "more", "bare"), ("raw_name", {"Node<System.Int32>": (11, 3)}, [self.NOTE.format("bare")]))
        self.assertEqual(self.rows("diff", "bare", "more", "--names", "raw")[1], {"Node[System.Int32]": (3, 11)})
        self.assertEqual(self.rows("diff", "bare", "more", "--retained")[1]["Node<System.Int32>"], (3, 11))

    def test_trend(self):
        run = self.done("trend", "named", "bare", "more", "--json")
        got = json.loads(run.text)
        self.assertEqual((got["matched_by"], [(r["type"], r["count_1"], r["count_2"], r["count_3"]) for r in got["types"]]),
                         ("raw_name", [("Node<System.Int32>", 4, 3, 11)]))
        self.assertEqual(run.lines.count(self.NOTE.format("bare")), 1)
        self.assertEqual(json.loads(self.done("trend", "named", "more", "--json").text)["matched_by"], "name")

    def test_paths(self):
        by, rows, notes = self.rows("diff", "bare", "more", "--paths", key="paths")
        self.assertEqual((by, set(rows), notes), ("raw_name", {"static variables", "static variable s_all", "Shop.Store", "Node<System.Int32>"},
                                                  [self.NOTE.format("bare")]))
        by, rows, notes = self.rows("diff", "named", "more", "--paths", key="paths")
        self.assertEqual((by, set(rows), notes), ("name", {"static variables", "static variable Shop.Cache.s_all", "Shop.Store",
                                                           "Shop.Lists<System.Int32>.Node", "Shop.Trees.Node<System.Int32>"}, []))

    def test_thresholds_count_what_all_know(self):
        limit = "--fail-if=bytes(Shop.Lists*) > +10%"
        self.done("diff", "named", "more", limit, code=4)
        run = self.done("diff", "bare", "more", limit, code=1)
        self.assertIn('gcdumpc: no type matches "Shop.Lists*" by the names that all dumps know', run.lines)
        run = self.done("diff", "bare", "more", "--filter", "Shop.Lists*", code=1)
        self.assertIn('gcdumpc: no type matches "Shop.Lists*" by the names that all dumps know', run.lines)
        for metric, value in (("count", (3, 11)), ("bytes", (3 * 0x30, 11 * 0x30)), ("retained", (3 * 0x30, 11 * 0x30))):
            got = json.loads(self.done("diff", "bare", "more", f"--fail-if={metric}(Node*) > +1000%", "--json").text)["thresholds"][0]
            self.assertEqual((got["before"], got["after"]), value, metric)
        got = json.loads(self.done("diff", "bare", "more", "--fail-if=bytes(Shop.*) > +1000%", "--json").text)["thresholds"][0]
        self.assertEqual((got["before"], got["after"]), (0x38, 0x38))

    def test_files_of_graphs(self):
        """Files of graphs do not record whether their names are full."""
        self.put("bare", write(V4File(), heap(2, 0)))
        for suffix in ("gcdump", "gclog", "dartheap"):
            for name in ("bare", "named"):
                self.done("convert", name, "-o", f"{name}.{suffix}", "-q")
            self.assertEqual(self.rows("diff", f"named.{suffix}", "more")[0], "name", suffix)
            self.assertEqual(self.rows("diff", f"bare.{suffix}", "more")[0], "raw_name", suffix)

    def test_the_page(self):
        self.done("diff", "bare", "more", "-o", "x.html")
        compared, newer = self.get("x.html").decode().split('"newer":{')
        self.assertIn("static variable s_all", compared)
        self.assertNotIn("Shop.Cache.s_all", compared)
        self.assertIn("the static variable Shop.Cache.s_all", newer)     # what only the newer dump knows


if __name__ == "__main__":
    main()
