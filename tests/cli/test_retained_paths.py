"""retained and paths: known answers on a hand-made heap, sums everywhere, text, JSON and CSV agree."""
import csv
import io
import json
import subprocess

from cli_support import INCOMPLETE, NO_ROOM, CliTest, Ev, Payloads, V4File, genheap, main, trace, write

RECORDINGS = ("net8-wks", "net9-svr", "net10-wks", "net10-wks-ranges", "net10-wks-lossy", "net10-wks-killed")

STACK, FINALIZER, HANDLE, OTHER = 0, 1, 2, 3
PINNED, WEAK = 1, 2

# name of an object: type, size, references
SHOP = {
    "cache": ("Shop.Cache", 24, ["entries"]),
    "entries": ("Shop.Item[]", 40, ["one", "two"]),
    "one": ("Shop.Item", 100, ["shared"]),
    "two": ("Shop.Item", 200, ["shared", "two"]),
    "shared": ("Shop.Data", 1000, []),
    "late": ("Shop.Late", 32, ["buffer"]),
    "buffer": ("System.Byte[]", 5000, []),
    "extra": ("Shop.Extra", 48, ["text"]),
    "text": ("System.String", 60, []),
    "dead": ("Shop.Dead", 64, ["deader"]),
    "deader": ("Shop.Dead", 80, ["dead", "shared"]),
    "head": ("Shop.Node", 30, ["middle"]),
    "middle": ("Shop.Node", 30, ["tail"]),
    "tail": ("Shop.Node", 30, ["head"]),
    "pin": ("System.Char[]", 26, []),
    "lost": ("Shop.Lost", 16, []),
}
STATICS = [("cache", "s_cache")]
ROOTS = [("two", OTHER, 0), ("late", FINALIZER, 0), ("dead", HANDLE, WEAK), ("head", HANDLE, WEAK), ("head", HANDLE, 0), ("pin", HANDLE, PINNED)]
DEPENDENTS = [("cache", "extra"), ("dead", "lost")]          # the key of the second is dead
ALIVE = 24 + 40 + 100 + 200 + 1000 + 32 + 5000 + 48 + 60 + 90 + 26


def heap(objects, statics=(), roots=(), dependents=(), names=None, flags=None):
    """A complete recording of these; NAMES replace types, and FLAGS are those of types."""
    p, at, address = Payloads(), {}, 0x7F0000001000
    for name, (_, size, _) in objects.items():
        at[name] = address
        address += (size + 7) // 8 * 8
    types = sorted({t for t, _, _ in objects.values()})
    number = {t: 0x70 + i for i, t in enumerate(types)}
    events = [p.gc_start(), p.statics(*((at[o], number[objects[o][0]], field) for o, field in statics)),
              p.nodes(0, *((at[o], size, number[t], len(refs)) for o, (t, size, refs) in objects.items())),
              p.roots(0, *((at[o], kind, flags, 0xF20) for o, kind, flags in roots)),
              p.dependents(0, *((at[k], at[v]) for k, v in dependents)),
              p.edges(0, *(at[r] for _, _, refs in objects.values() for r in refs)),
              p.types(*((number[t], (names or {}).get(t, t), (flags or {}).get(t, 0), 0x02000001, ()) for t in types)), p.gc_end(), p.process_info("dotnet /srv/shop.dll")]
    ids = (1, 38, 18, 16, 17, 19, 15, 2, 99)
    return write(V4File(), [Ev(i, 2000 + k, e) for k, (i, e) in enumerate(zip(ids, events))]), at


def shop():
    return heap(SHOP, STATICS, ROOTS, DEPENDENTS)


class Held(CliTest):
    def code(self, name):
        return 3 if name in INCOMPLETE else 0

    def json(self, *words, code=0):
        got = json.loads(self.done(*words, "--json", "-q", code=code).text)
        self.assertEqual(got["schema"], 2)
        self.assertEqual(got["verdict"]["complete"], code == 0)
        return got

    def csv(self, *words, code=0):
        return list(csv.DictReader(io.StringIO(self.done(*words, "--csv", "-q", code=code).text, newline="")))

    def same(self, rows_of_csv, rows):
        """CSV and JSON hold the same."""
        self.assertEqual(len(rows_of_csv), len(rows))
        for a, b in zip(rows_of_csv, rows):
            self.assertEqual(list(a), list(b))
            for key, value in b.items():
                if isinstance(value, float):
                    self.assertAlmostEqual(float(a[key]), value, places=5)
                else:
                    self.assertEqual(a[key].removeprefix("'"), "" if value is None else str(value))


class Incomplete(Held):
    def test_streamed_output(self):
        """Without standard error.  The first line of text has the verdict; formats for programs have it as data, or only as exit status."""
        whole, lossy = self.link("net10-wks"), self.link("net10-wks-lossy")
        mark = f"(INCOMPLETE dump: {lossy})"
        one = (("report",), ("report", "--by", "root"), ("retained",), ("retained", "--tree", "2"), ("paths", "--type", "System.String"), ("leaks",))
        for command, *options in one:
            self.assertEqual(self.done(command, lossy, *options, "-q", code=3).text.splitlines()[0], mark, command)
            self.assertNotIn("INCOMPLETE", self.done(command, whole, *options, "-q").text)
            for format in ("--csv", "--json"):
                self.assertNotIn("INCOMPLETE", self.done(command, lossy, *options, "-q", format, code=3).text)
        self.done("report", lossy, "-o", "mail.txt", "-q", code=3)
        self.assertTrue(self.get("mail.txt").decode().startswith(f"{mark}\n"))
        for words in (("diff", whole, lossy), ("diff", lossy, whole, "--paths"), ("trend", whole, lossy, whole)):
            text = self.done(*words, "-q", code=3).text
            self.assertEqual((text.splitlines()[0], text.count("INCOMPLETE")), (mark, 1), words)
            self.assertNotIn("INCOMPLETE", self.done(*words, "-q", "--csv", code=3).text)
        self.assertEqual(self.done("diff", lossy, lossy, "-q", code=3).text.splitlines()[:2], [mark, mark])


class Retained(Held):
    def test_text(self):
        self.expected("retained-net10-wks.txt", self.done("retained", self.link("net10-wks"), "--top", "10").text)
        self.expected("retained-net10-wks-tree.txt", self.done("retained", self.link("net10-wks"), "--tree", "4").text)
        run = self.done("retained", self.link("net10-wks-lossy"), "--top", "5", code=3)
        self.expected("retained-net10-wks-lossy.txt", run.text)
        self.assertIn("the dump is incomplete", run.lines[-1])

    def test_known_sizes(self):
        data, at = shop()
        self.put("shop", data)
        got = self.json("retained", "shop", "--top", "100")
        self.assertEqual((got["alive_bytes"], got["alive_objects"], got["guessed_roots"]), (ALIVE, 13, 0))
        self.assertEqual((got["bytes"], got["objects"]), (ALIVE + 64 + 80 + 16, 16))
        objects = {o["address"]: o for o in got["largest_objects"]}
        want = {"cache": 24 + 40 + 100 + 48 + 60, "entries": 140, "one": 100, "two": 200, "shared": 1000, "late": 5032, "buffer": 5000,
                "extra": 108, "text": 60, "head": 90, "middle": 60, "tail": 30, "pin": 26}
        self.assertEqual({o: objects[f"{at[o]:#x}"]["retained_bytes"] for o in want}, want)
        self.assertEqual(len(objects), len(want))
        held = {o: objects[f"{at[o]:#x}"]["held_by"] for o in want}
        self.assertEqual(held, {"cache": "static variable s_cache", "entries": "Shop.Cache", "one": "Shop.Item[]", "two": "other root",
                                "shared": "(several)", "late": "finalizer queue", "buffer": "Shop.Late", "extra": "Shop.Cache",
                                "text": "Shop.Extra", "head": "strong handle", "middle": "Shop.Node", "tail": "Shop.Node",
                                "pin": "pinned handle"})
        types = {t["type"]: t["retained_bytes"] for t in got["largest_types"]}
        self.assertEqual((types["Shop.Item"], types["Shop.Node"], types["Shop.Dead"], types["Shop.Lost"]), (300, 90, 0, 0))

    def test_content(self):
        self.put("shop", shop()[0])
        got = self.json("retained", "shop", "--content", "Shop.Item")
        self.assertEqual([got[k] for k in ("set_objects", "set_bytes", "retained_objects", "retained_bytes")], [2, 300, 3, 1300])
        self.assertEqual([(c["type"], c["count"], c["bytes"], round(c["share"], 3), c["folded_types"]) for c in got["content"]],
                         [("Shop.Data", 1, 1000, 0.769, None), ("Shop.Item", 2, 300, 0.231, None)])
        self.same(self.csv("retained", "shop", "--content", "Shop.Item"), got["content"])
        text = self.done("retained", "shop", "--content", "Shop.Item", "--top", "1", "-q").text.splitlines()
        self.assertEqual(text[0], "2 objects with 300 bytes retain 3 objects with 1300 bytes, themselves included:")
        self.assertEqual([line.split() for line in text[2:]],
                         [["1000", "76.92%", "1", "Shop.Data"], ["300", "23.08%", "2", "(1", "more", "type)"]])
        alone = self.done("retained", "shop", "--content", "Shop.Data", "-q").text.splitlines()[0]
        self.assertRegex(alone, r"^1 object with \d+ bytes retains 1 object with \d+ bytes, itself included:$")
        [rest] = self.json("retained", "shop", "--content", "Shop.*", "--min-bytes", "100000")["content"]
        self.assertEqual((rest["bytes"], rest["count"], rest["folded_types"]), (ALIVE - 26, 12, 9))
        self.assertEqual(self.json("retained", "shop", "--content", "Shop.Dead")["content"], [])

    def test_immediate_dominators(self):
        self.put("shop", shop()[0])

        def rows(*words):
            got = self.json("retained", "shop", "--by-dominator", *words)["dominators"]
            self.same(self.csv("retained", "shop", "--by-dominator", *words), got)
            return [(r["type"], r["count"], r["bytes"], r["dominators"], r["dominator_bytes"]) for r in got]

        self.assertEqual(rows("Shop.Item"), [("(roots)", 1, 200, None, None), ("Shop.Item[]", 1, 100, 1, 40)])
        self.assertEqual(rows("Shop.Item", "--skip", "Microsoft.*"), [("(roots)", 1, 200, None, None), ("Shop.Item[]", 1, 100, 1, 40)])
        self.assertEqual(rows("Shop.Item", "--skip", "Shop.Item[]"), [("(roots)", 1, 200, None, None), ("Shop.Cache", 1, 100, 1, 24)])
        self.assertEqual(rows("Shop.Item", "--skip", "Shop.*"), [("(roots)", 2, 300, None, None)])
        self.assertEqual(rows("Shop.Node"), [("Shop.Node", 2, 60, 2, 60), ("(roots)", 1, 30, None, None)])
        self.assertEqual(rows("Shop.Node", "--skip", "Shop.Node"), [("(roots)", 3, 90, None, None)])
        self.assertEqual(rows("Shop.Dead"), [])
        self.assertEqual(rows("*", "--top", "1")[1:], [("(roots)", 6, 1312, None, None), ("(4 more types)", 6, 308, 5, 172)])
        text = self.done("retained", "shop", "--by-dominator", "Shop.Node", "-q").text.splitlines()
        self.assertEqual([line.split() for line in text], [["Bytes", "Of", "these", "Count", "Dominators", "Their", "bytes", "Dominated", "by"],
                                                           ["60", "66.67%", "2", "2", "60", "Shop.Node"], ["30", "33.33%", "1", "(roots)"]])

    def test_exact_sizes(self):
        self.put("shop", shop()[0])
        exact = {t["type"]: t for t in self.json("retained", "shop", "--type", "Shop.*")["types"]}
        self.assertEqual(exact["Shop.Item"]["retained_bytes"], 1300)           # both hold the data only together
        bounds = {t["type"]: t["retained_bytes"] for t in self.json("retained", "shop")["largest_types"]}
        self.assertEqual(bounds["Shop.Item"], 300)
        for heading, words in (("Retained", ("retained", "shop", "--type", "Shop.*")), ("Retained >=", ("retained", "shop", "--largest", "types")),
                               ("Retained >=", ("report", "shop", "--retained"))):
            self.assertRegex(self.done(*words).text.splitlines()[0], rf"(^|  ){heading}  ", words)
        self.assertEqual(exact["Shop.Cache"]["retained_bytes"], 272)
        self.assertEqual(exact["Shop.Dead"], {"retained_bytes": 0, "share": 144 / 6780, "count": 2, "bytes": 144, "type": "Shop.Dead"})
        together = exact["(9 types together)"]
        self.assertEqual((together["retained_bytes"], together["count"]), (ALIVE - 26, 13))
        [one] = self.json("retained", "shop", "--type", "/^Shop.Item$/")["types"]
        self.assertEqual((one["retained_bytes"], one["bytes"], one["count"]), (1300, 300, 2))
        self.assertEqual([t["type"] for t in self.json("retained", "shop", "--type", "Shop.*", "--top", "2")["types"]][-1],
                         "(9 types together)")

    def test_bounds(self):
        for name in RECORDINGS:
            code = self.code(name)
            bounds = {t["type"]: t["retained_bytes"] for t in
                      self.json("retained", trace(name), "--top", "100000", code=code)["largest_types"]}
            got = self.json("retained", trace(name), "--type", "System.*", code=code)
            for t in got["types"][:-1]:
                self.assertLessEqual(bounds[t["type"]], t["retained_bytes"])
                self.assertLessEqual(t["retained_bytes"], got["types"][-1]["retained_bytes"])
            self.assertLessEqual(got["types"][-1]["retained_bytes"], got["alive_bytes"])

    def tables(self, name):
        """Objects (type, bytes), their references, the objects of strong roots: from the CSV tables of convert."""
        self.done("convert", trace(name), "-o", "heap.csv", "-q")

        def rows(table):
            with open(self.path("heap.csv", table + ".csv"), encoding="utf-8", newline="") as f:
                return list(csv.DictReader(f))
        types = {t["id"]: t["name"] for t in rows("types")}
        objects = {int(o["id"]): (types[o["type_id"]], int(o["size_bytes"])) for o in rows("objects")}
        leads = {}
        for e in rows("edges"):
            leads.setdefault(int(e["from_id"]), []).append(int(e["to_id"]))
        for h in rows("dependent_handles"):
            leads.setdefault(int(h["key_id"]), []).append(int(h["value_id"]))
        return objects, leads, {int(r["object_id"]) for r in rows("roots") if r["root_group"] != "weak"}

    def test_against_its_definition(self):
        """The objects that become unreachable without one object, or without those of a type, in a real heap."""
        objects, leads, roots = self.tables("net10-wks")

        def alive(without):
            seen, stack = set(), [r for r in roots if r not in without]
            while stack:
                node = stack.pop()
                if node not in seen:
                    seen.add(node)
                    stack += [n for n in leads.get(node, ()) if n not in seen and n not in without]
            return seen
        everything = alive(())
        got = self.json("retained", trace("net10-wks"), "--top", "1000000")
        self.assertEqual(got["alive_objects"], len(everything))
        for row in got["largest_objects"][:10] + got["largest_objects"][10::700]:
            self.assertEqual(row["retained_bytes"], sum(objects[n][1] for n in everything - alive({row["node"]})), row)
        for name in ("System.String", "System.Object[]", "HeapLab.Node", "HeapLab.Item[]"):
            [row] = self.json("retained", trace("net10-wks"), "--type", name)["types"]
            of_type = {n for n, (t, _) in objects.items() if t == name}
            self.assertEqual(row["retained_bytes"], sum(objects[n][1] for n in everything - alive(of_type)), row)

    def test_order_top_filter_and_least(self):
        whole = self.json("retained", trace("net10-wks"), "--top", "1000000")
        for key in ("largest_objects", "largest_types"):
            sizes = [r["retained_bytes"] for r in whole[key]]
            self.assertEqual(sizes, sorted(sizes, reverse=True))
            self.assertEqual(self.json("retained", trace("net10-wks"), "--top", "7")[key], whole[key][:7])
            self.assertEqual(self.json("retained", trace("net10-wks"))[key], whole[key][:20])
            self.assertEqual(self.json("retained", trace("net10-wks"), "--filter", "HeapLab.*", "--top", "1000000")[key],
                             [r for r in whole[key] if r["type"].startswith("HeapLab.")])
            self.assertEqual(self.json("retained", trace("net10-wks"), "--min-bytes", "1K", "--top", "1000000")[key],
                             [r for r in whole[key] if r["retained_bytes"] >= 1024])
        self.assertEqual(len(whole["largest_objects"]), whole["alive_objects"])

    def test_csv(self):
        got = self.json("retained", trace("net10-wks"))
        self.same(self.csv("retained", trace("net10-wks")), got["largest_objects"])
        self.same(self.csv("retained", trace("net10-wks"), "--largest", "types"), got["largest_types"])
        for words in (("--tree", "3"), ("--type", "HeapLab.*")):
            key = words[0].removeprefix("--").replace("type", "types")
            self.same(self.csv("retained", trace("net10-wks"), *words), self.json("retained", trace("net10-wks"), *words)[key])

    def test_one_table(self):
        both = self.done("retained", trace("net10-wks")).text
        for which, title in (("objects", "Objects that"), ("types", "Types that")):
            one = self.done("retained", trace("net10-wks"), "--largest", which).text
            self.assertIn(one, both)
            self.assertNotIn(title, one)

    def test_tree_adds_up(self):
        for name in RECORDINGS:
            for words in (("--tree", "1"), ("--tree", "3"), ("--tree", "255"), ("--tree", "6", "--min-bytes", "1"),
                          ("--tree", "6", "--min-bytes", "1", "--top", "3")):
                got = self.json("retained", trace(name), *words, code=self.code(name))
                levels, below = int(words[1]), {}
                stack = []
                for i, row in enumerate(got["tree"]):
                    del stack[row["depth"]:]
                    self.assertEqual(len(stack), row["depth"])
                    parent = stack[-1] if stack else None
                    below[parent] = below.get(parent, 0) + row["retained_bytes"]
                    stack.append(i)
                self.assertEqual(below.pop(None), got["alive_bytes"])
                for i, row in enumerate(got["tree"]):
                    self.assertLess(row["depth"], levels)
                    if i in below:
                        self.assertEqual(row["bytes"] + below[i], row["retained_bytes"])
                if "--top" in words:
                    self.assertEqual(len([r for r in got["tree"] if r["depth"] == 0]), 4)        # and what is left out

    def test_tree_is_folded(self):
        self.put("shop", shop()[0])
        rows = [(r["depth"], r["type"], r["count"], r["retained_bytes"]) for r in
                self.json("retained", "shop", "--tree", "9", "--min-bytes", "1")["tree"]]
        self.assertEqual(rows[:4], [(0, "Shop.Late", 1, 5032), (1, "System.Byte[]", 1, 5000), (0, "Shop.Data", 1, 1000),
                                    (0, "Shop.Cache", 1, 272)])
        self.assertIn((0, "Shop.Node", 3, 90), rows)         # a list is one line
        [rest] = [r for r in self.json("retained", "shop", "--tree", "1", "--min-bytes", "1000")["tree"] if r["folded_types"]]
        self.assertEqual((rest["folded_types"], rest["retained_bytes"], rest["count"]), (4, ALIVE - 6032, None))
        two = {f"n{i}": ("Twin", 10, [f"l{i}"]) for i in range(5)} | {f"l{i}": ("Leaf", 3, []) for i in range(5)}
        self.put("twins", heap(two, [(f"n{i}", f"f{i}") for i in range(5)])[0])
        rows = [(r["depth"], r["type"], r["count"], r["retained_bytes"], r["bytes"]) for r in self.json("retained", "twins", "--tree", "5")["tree"]]
        self.assertEqual(rows, [(0, "Twin", 5, 65, 50), (1, "Leaf", 5, 15, 15)])


class Paths(Held):
    def rows(self, *words, code=0):
        return self.json("paths", *words, code=code)["paths"]

    def test_text(self):
        name = self.link("net10-wks")
        self.expected("paths-net10-wks-string.txt", self.done("paths", name, "--type", "System.String", "--max-paths", "4").text)
        self.expected("paths-net10-wks-item-to-root.txt", self.done("paths", name, "--type", "HeapLab.Item", "--to-root").text)
        self.expected("paths-net10-wks-object.txt", self.done("paths", name, "--object", "5000").text)

    def test_the_target_is_the_word_after_the_dump(self):
        name = trace("net10-wks")
        for short, option in (("HeapLab.Item", "--type"), ("Item", "--type"), ("/Item$/", "--type")):
            self.assertEqual(self.done("paths", name, short, "--to-root").text, self.done("paths", name, option, short, "--to-root").text)
        address = next(r["address"] for r in json.loads(self.done("retained", name, "--json").text)["largest_objects"])
        self.assertEqual(self.done("paths", name, address).text, self.done("paths", name, "--object", address).text)
        self.refused(2, r"paths needs a target after the dump: .*", "paths", name)
        self.refused(1, r'.*no type matches "Zzz".*', "paths", name, "Zzz")

    def test_known_paths(self):
        self.put("shop", shop()[0])

        def lines(*words):
            return [(r["depth"], r["root"] or r["type"] or r["kind"], r["count"], r["bytes"]) for r in self.rows("shop", *words)]
        self.assertEqual(lines("--type", "Shop.Item"),
                         [(0, "other", 1, 200), (1, "Shop.Item", 1, 200),
                          (0, "statics", 1, 100), (1, "Shop.Cache", 1, 100), (2, "Shop.Item[]", 1, 100), (3, "Shop.Item", 1, 100)])
        self.assertEqual(lines("--type", "Shop.Item", "--to-root"),
                         [(0, "Shop.Item", 2, 300), (1, "other", 1, 200),
                          (1, "Shop.Item[]", 1, 100), (2, "Shop.Cache", 1, 100), (3, "statics", 1, 100)])
        self.assertEqual(lines("--type", "Shop.Data"), [(0, "other", 1, 1000), (1, "Shop.Item", 1, 1000), (2, "Shop.Data", 1, 1000)])
        self.assertEqual(lines("--type", "Shop.Node"), [(0, "strong_handles", 3, 90), (1, "Shop.Node", 3, 90)])
        self.assertEqual(lines("--type", "Shop.Dead"), [(0, "dead", 2, 144)])
        self.assertEqual(lines("--type", "Shop.Lost"), [(0, "dead", 1, 16)])
        rows = self.rows("shop", "--type", "System.String")
        self.assertEqual([(r["type"] or r["field"], r["flags"]) for r in rows],
                         [("s_cache", None), ("Shop.Cache", None), ("Shop.Extra", "dependent"), ("System.String", None)])
        [_, node] = self.rows("shop", "--type", "Shop.Node")
        self.assertEqual((node["flags"], node["objects"], node["own_count"]), ("repeats", 3, 3))
        text = self.done("paths", "shop", "--type", "/Extra|Late|Char|Node/").text
        for wanted in ("static variable s_cache\n", "finalizer queue\n", "pinned handle\n", "strong handle\n",
                       "Shop.Extra (by a dependent handle)\n", "Shop.Node (repeated)\n"):
            self.assertIn(wanted, text)

    def check_sums(self, got, paths):
        rows, below, stack = got["paths"], {}, []
        for i, row in enumerate(rows):
            del stack[row["depth"]:]
            self.assertEqual(len(stack), row["depth"])
            key = stack[-1] if stack else None
            count, size = below.get(key, (0, 0))
            below[key] = (count + row["count"], size + row["bytes"])
            stack.append(i)
        self.assertEqual(below.pop(None), (got["objects"], got["bytes"]))
        for i, row in enumerate(rows):
            count, size = below.get(i, (0, 0))
            if row["kind"] in ("root", "type"):
                self.assertEqual((row["own_count"] + count, row["own_bytes"] + size), (row["count"], row["bytes"]))
        shown = sum(r["own_count"] > 0 and r["kind"] != "rest" for r in rows)
        self.assertGreater(shown, 0)
        if not any(r["kind"] == "rest" for r in rows):
            self.assertLessEqual(shown, paths)

    def test_sums(self):
        for name in RECORDINGS:
            types = {t["type"]: t for t in json.loads(self.done("report", trace(name), "--json", "-q", code=self.code(name)).text)["types"]}
            for pattern, paths in (("System.String", 10), ("System.Object*", 3), ("*", 1), ("*", 100000)):
                for words in ((), ("--to-root",)):
                    got = self.json("paths", trace(name), "--type", pattern, "--max-paths", str(paths), *words, code=self.code(name))
                    self.check_sums(got, paths)
                    matched = [t for n, t in types.items() if n == pattern or (pattern[-1] == "*" and n.startswith(pattern[:-1]))]
                    self.assertEqual((got["objects"], got["bytes"]), (sum(t["count"] for t in matched), sum(t["bytes"] for t in matched)))
                    self.assertEqual(got["orientation"], "to_root" if words else "from_root")

    def test_all_paths_hold_the_same_in_both_directions(self):
        def leaves(rows, end):
            """(types from the root, objects that end there)"""
            found, stack = {}, []
            for row in rows:
                del stack[row["depth"]:]
                stack.append((row["root"] or "", row["field"] or "") if row["kind"] == "root" else row["type"])
                if row["own_count"] and row["kind"] != "dead":
                    key = tuple(stack if end == "from_root" else reversed(stack))
                    found[key] = found.get(key, 0) + row["own_count"]
            return found
        words = (trace("net10-wks"), "--type", "System.*", "--max-paths", "1000000")
        self.assertEqual(leaves(self.rows(*words), "from_root"), leaves(self.rows(*words, "--to-root"), "to_root"))

    def test_csv(self):
        for words in (("--type", "HeapLab.*"), ("--type", "System.String", "--to-root"), ("--object", "4000")):
            self.same(self.csv("paths", trace("net10-wks"), *words), self.rows(trace("net10-wks"), *words))

    def test_one_object(self):
        data, at = shop()
        self.put("shop", data)

        def ways(name, *words):
            rows = self.rows("shop", "--object", f"{at[name]:#X}".replace("X", "x"), *words)
            paths = {}
            for r in rows:
                paths.setdefault(r["path"], []).append(r["root"] or r["address"] or r["kind"])
            return [[next((n for n, a in at.items() if f"{a:#x}" == x), x) for x in p] for p in paths.values()]
        self.assertEqual(ways("shared"), [["other", "two", "shared"], ["statics", "cache", "entries", "one", "shared"]])
        self.assertEqual(ways("shared", "--to-root"), [["shared", "two", "other"], ["shared", "one", "entries", "cache", "statics"]])
        self.assertEqual(ways("two"), [["other", "two"], ["statics", "cache", "entries", "two"]])       # not through itself
        self.assertEqual(ways("head"), [["strong_handles", "head"]])                                     # not round the circle
        self.assertEqual(ways("text"), [["statics", "cache", "extra", "text"]])
        self.assertEqual(ways("shared", "--max-paths", "1"), [["other", "two", "shared"], ["rest"]])
        extra = self.rows("shop", "--object", f"{at['extra']:#x}")
        self.assertEqual([r["flags"] for r in extra], [None, None, "dependent"])
        self.assertEqual(self.rows("shop", "--object", str(extra[-1]["node"])), extra)
        for name, kind in (("deader", "Shop.Dead"), ("lost", "Shop.Lost")):
            run = self.done("paths", "shop", "--object", f"{at[name]:#x}", "--json")
            self.assertEqual((json.loads(run.text)["paths"], json.loads(run.text)["reachable"]), ([], False))
            self.assertEqual(run.lines, [f"gcdumpc: shop: no root leads to the object {at[name]:#x}, a {kind}"])

    def test_the_middle_of_a_long_path(self):
        chain = {f"n{i}": ("Node", 24, [f"n{i + 1}"] if i < 99 else []) for i in range(100)}
        self.put("chain", heap(chain, [("n0", "head")])[0])
        for words in ((), ("--to-root",)):
            rows = self.rows("chain", "--object", "99", *words)
            nodes = [r["node"] for r in rows if r["kind"] == "object"]
            self.assertEqual(nodes, sorted([*range(20), *range(80, 100)], reverse=bool(words)))
            self.assertEqual([(r["more"], r["depth"]) for r in rows if r["kind"] == "rest"], [(60, 20 if words else 21)])
            self.assertEqual([r["depth"] for r in rows], list(range(42)))
        rows = self.rows("chain", "--object", "40")
        self.assertEqual([r["node"] for r in rows if r["kind"] == "object"], list(range(41)))

    def test_no_such_object(self):
        data, at = shop()
        self.put("shop", data)
        self.refused(1, "shop: there is no object at 0x10; gcdumpc retained shows addresses.*", "paths", "shop", "--object", "0x10")
        self.refused(1, f"shop: there is no object at {at['two'] + 8:#x};.*", "paths", "shop", "--object", f"{at['two'] + 8:#x}")
        self.refused(1, "shop: there is no object 16; they are numbered from 0 to 15", "paths", "shop", "--object", "16")
        for word in ("", "0x", "x", "12x", "-1", "0xg", "99999999999999999999", "0x10000000000000000", " 1"):
            self.refused(2, rf'--object takes an address \(0x...\) or the number of an object, not "{word}"', "paths", "shop", "--object", word)


class Both(Held):
    """Common to retained and paths."""
    COMMANDS = (("retained",), ("retained", "--tree", "3"), ("retained", "--type", "Shop.Item"), ("paths", "--type", "Shop.Item"),
                ("paths", "--object", "2"))

    def test_wrong_use(self):
        self.put("shop", shop()[0])
        self.refused(2, r"paths needs a target after the dump: a type like Shop\.Order, or --type PATTERN, or --object ADDRESS; .*", "paths", "shop")
        self.refused(2, "give a type or --object, not both; .*", "paths", "shop", "--type", "x", "--object", "1")
        self.refused(2, "give one of --to-root and --from-root; .*", "paths", "shop", "--type", "x", "--to-root", "--from-root")
        for words in (("--filter", "x"), ("--type", "x"), ("--largest", "types")):
            self.refused(2, "--tree shows all types: .*", "retained", "shop", "--tree", "2", *words)
        for words in (("--tree", "2"), ("--type", "X"), ("--filter", "X"), ("--largest", "types")):
            self.refused(2, "--content and --by-dominator show one table: .*", "retained", "shop", "--content", "X", *words)
        self.refused(2, "--content and --by-dominator show one table: .*", "retained", "shop", "--content", "X", "--by-dominator", "X")
        self.refused(2, "--skip is for --by-dominator.*", "retained", "shop", "--skip", "X")
        for words in (["--content", "X"], ["--by-dominator", "X"], ["--tree", "2"], ["--filter", "X"], ["--largest", "types"]):
            self.refused(2, "--by-field shows one table: .*", "retained", "shop", "--by-field", *words)
        self.refused(2, "--skip is for --by-dominator.*", "retained", "shop", "--content", "Y", "--skip", "X")
        self.refused(2, "--type shows one table: .*", "retained", "shop", "--type", "x", "--filter", "x")
        self.refused(2, '--largest takes both, objects or types, not "x"', "retained", "shop", "--largest", "x")
        for words in (("retained", "--tree", "0"), ("retained", "--tree", "256"), ("paths", "--max-paths", "0")):
            self.refused(2, "--[a-z-]+ takes a number from 1 .*", *words, "shop")
        for words in self.COMMANDS:
            self.refused(2, "give one of --json and --csv; .*", *words, "shop", "--json", "--csv")

    def test_no_such_type(self):
        self.put("shop", shop()[0])
        for words in (("retained", "--filter"), ("retained", "--type"), ("paths", "--type")):
            self.refused(1, 'shop: no type matches "Shop.Itme"; near it: "Shop.Item".*', *words, "Shop.Itme", "shop")
            self.put("unused", b"a 2 app 5\nt 1 Shop.Used\nt 2 Shop.Unused\nr 100 1 0\no 100 1 18\nc app 5\n")
            self.refused(1, r'unused: no type with objects matches "Shop\.Un\*"; gcdumpc report lists .*', *words, "Shop.Un*", "unused")
            self.refused(1, 'shop: no type matches "Zzyzx123"; gcdumpc report lists all types', *words, "Zzyzx123", "shop")
            self.refused(2, r'"/\(/" is not a regular expression: .*', *words, "/(/", "shop")
            self.refused(2, "a name pattern is empty; .*", *words, "", "shop")

    def test_incomplete(self):
        for words in (("retained",), ("retained", "--tree", "3"), ("paths", "--type", "*")):
            for name in INCOMPLETE:
                run = self.done(*words, trace(name), code=3)
                self.assertIn("the dump is incomplete", run.lines[-1])
                self.assertNotEqual(self.json(*words, trace(name), code=3)["verdict"]["reasons"], [])

    def test_without_roots(self):
        data, at = heap({**SHOP, "ring": ("Ring", 8, ["ring2"]), "ring2": ("Ring", 8, ["ring"])}, roots=[("dead", HANDLE, WEAK)])
        self.put("rootless", data)
        # nothing refers to cache, late, extra, pin and lost; of the cycles dead (weak roots do not count), head and ring come first
        for words in self.COMMANDS:
            run = self.done(*words, "rootless", "-q")
            self.assertEqual(len(run.lines), 1)
            self.assertRegex(run.lines[0], "rootless: the dump has no roots; 8 objects that nothing else refers to serve as pseudo-roots")
            self.assertEqual(self.json(*words, "rootless")["guessed_roots"], 8)
        got = self.json("retained", "rootless", "--top", "100")
        self.assertEqual((got["alive_bytes"], got["alive_objects"]), (got["bytes"], got["objects"]))
        [cache] = [o for o in got["largest_objects"] if o["address"] == f"{at['cache']:#x}"]
        self.assertEqual((cache["held_by"], cache["retained_bytes"]), ("(no root recorded)", 24 + 40 + 100 + 200))
        rows = self.rows_of("paths", "rootless", "--type", "Shop.Item")
        self.assertEqual([(r["depth"], r["root"] or r["type"]) for r in rows],
                         [(0, "stand_in"), (1, "Shop.Cache"), (2, "Shop.Item[]"), (3, "Shop.Item")])
        rows = self.rows_of("paths", "rootless", "--object", f"{at['cache']:#x}")
        self.assertEqual([r["root"] or r["address"] for r in rows], ["stand_in", f"{at['cache']:#x}"])

    def rows_of(self, *words):
        return self.json(*words)["paths"]

    def test_an_empty_heap(self):
        self.put("empty", b"a 2 app 5\nc app 5\n")
        for words in (("retained",), ("retained", "--tree", "2")):
            got = self.json(*words, "empty")
            self.assertEqual((got["alive_bytes"], got["guessed_roots"]), (0, 0))
            self.done(*words, "empty")
            self.done(*words, "empty", "--csv")
        self.refused(1, r'empty: no type matches "\*"; .*', "paths", "empty", "--type", "*")
        self.refused(1, "empty: there is no object 0.*", "paths", "empty", "--object", "0")

    def test_odd_names(self):
        odd = '=cmd|"x"\x1b[2J\r\n<img src=x onerror=1>,\u202e\u00e9'
        data, _ = heap(SHOP, [("cache", odd), ("late", "-1+1")], ROOTS, DEPENDENTS, {"Shop.Item": odd})
        self.put("odd", data)
        for words in (("retained",), ("retained", "--tree", "5", "--min-bytes", "1"), ("paths", "--type", "*cmd*"), ("paths", "--object", "2")):
            for run in (self.done(*words, "odd"), self.done(*words, "odd", "--csv")):
                self.assertNotRegex(run.out, rb"[\x00-\x09\x0b-\x1f\x7f]")
                self.assertIn("<img src=x onerror=1>", run.text)
            self.assertIn(odd, "\n".join(all_texts(self.json(*words, "odd"))))
        for row in self.csv("retained", "odd", "--top", "100"):
            self.assertNotRegex(row["type"], r"\A *[=+@-]")

    def test_inputs(self):
        """A pipe, gclog, gcdump and dartheap give the same results as the recording, as far as they can store it."""
        with open(trace("net10-wks"), "rb") as f:
            data = f.read()
        for words in (("retained", "--largest", "types"), ("paths", "--type", "HeapLab.Extra")):
            want = self.done(*words, trace("net10-wks"), "-q").text
            self.assertEqual(self.done(*words, "-", "-q", data=data).text, want)
            for suffix in (".gclog", ".gcdump"):
                self.done("convert", trace("net10-wks"), "-o", "copy" + suffix, "-q")
                self.assertEqual(self.done(*words, "copy" + suffix, "-q").text.count("\n"), want.count("\n"))

    def test_impossible_outputs(self):
        self.put("shop", shop()[0])
        for words in self.COMMANDS:
            for more in ((), ("--json",), ("--csv",)):
                with open("/dev/full", "wb") as full:
                    run = self.gcdumpc(*words, "shop", *more, stdout=full)
                self.assertEqual((run.code, run.lines), (1, ["gcdumpc: standard output: " + NO_ROOM]))

    def test_long_lists_and_wide_fans(self):
        program = genheap(self.dir)
        for shape in ("list", "fan"):
            subprocess.run([program, "-n", "200000", "--shape", shape, "--roots", "1", "--statics", "1", self.path("big")], check=True)
            got = self.json("retained", "big", "--top", "3")
            self.assertEqual(got["largest_objects"][0]["retained_bytes"], got["alive_bytes"])
            rows = self.json("paths", "big", "--type", "*")["paths"]
            self.assertLess(len(rows), 20)
            self.assertEqual(rows[0]["count"], 200000)
            self.assertLess(len(self.json("retained", "big", "--tree", "255")["tree"]), 600)


def all_texts(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [t for v in value for t in all_texts(v)]
    return [value] if isinstance(value, str) else []


if __name__ == "__main__":
    main()
