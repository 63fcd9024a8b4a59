#!/usr/bin/env python3
"""The format html as a file: its contents, its size, no external resources.  For its behaviour in a browser see tests/browser."""
import base64
import gzip
import hashlib
import json
import os
import random
import re
import struct
import subprocess
import unittest

import cli_support
from cli_support import CliTest, Ev, Payloads, V4File, genheap, trace, types_trace, write

MOST_BYTES = 5 << 20
CORE = os.path.join(os.path.dirname(os.path.dirname(trace("net10-core"))), "net10-core", "heap.core.gz")


def parts(page):
    """Style sheet, data, script."""
    text = page.decode()
    return (re.search(r"<style>(.*?)</style>", text, re.S)[1], re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1],
            re.search(r"<script>(.*)</script>", text, re.S)[1])


class Html(CliTest):
    def page(self, source, *options, code=0):
        self.done("convert", source, "-o", "x.html", *options, code=code)
        page = self.get("x.html")
        self.assertLess(len(page), MOST_BYTES)
        return page

    def data(self, *args, **options):
        return json.loads(parts(self.page(*args, **options))[1])

    def test_keys_of_paths_need_permission(self):
        """A text that a dictionary of the runtime holds is a suspect here."""
        few = ("--share", "1", "--min-bytes", "1", "-o", "x.html")
        key = '._entries["TRUSTED_PLATFORM_ASSEMBLIES"]'
        for options, there in ([], False), (["--show-values"], True):
            self.done("leaks", CORE, *few, *options)
            data = json.loads(parts(self.get("x.html"))[1])
            self.assertEqual(key in [row[5] for s in data["suspects"] for row in s.get("path", []) if len(row) > 5], there)
        self.assertNotIn(b"no place", self.done("convert", CORE, "-o", "y.html", "--show-values").err)

    def test_fields_of_objects_need_permission(self):
        """They are as paths --object says them, for the largest objects of the heap and the largest of each type."""
        hidden, shown = self.data(CORE), self.data(CORE, "--show-values")
        self.assertEqual({len(row) for row in hidden["largest"]} | {2 * len(o) for d in hidden["details"] for o in d["largest"]}, {6})
        self.assertEqual({2 * len(o) for d in shown["details"] for o in d["largest"][1:]}, {6})
        told = {row[3]: row[6] for row in shown["largest"] if len(row) > 6} | {
            d["largest"][0][0]: d["largest"][0][3] for d in shown["details"] if d["largest"] and len(d["largest"][0]) > 3}
        self.assertGreater(len(told), 100)
        self.assertTrue(any(row[1].startswith('"') for rows in told.values() for row in rows))
        for address, rows in sorted(told.items())[::20]:
            fields = json.loads(self.done("paths", CORE, "--object", address, "--json").text)["fields"]
            names = [row[0] for row in rows if row[0] != "..."]      # of the first fields
            self.assertEqual(names, [f["field"] for f in fields][:len(names)])
            self.assertEqual(len(names) < len(rows), len(names) < len(fields))
            for row, f in zip(rows[:len(names)], fields, strict=False):
                self.assertEqual(len(row) > 2, f["kind"] == "object" and f.get("type") is not None)
                value = f["type"] if f["kind"] == "object" else f.get("name") or f.get("number") or (None if f["kind"] in ("string", "unknown") else row[1])
                self.assertEqual(row[1], value or row[1])
                if f["kind"] == "string" and f["text"] is not None and f["text"].isalnum():
                    self.assertEqual(row[1][1:-1][:19], f["text"][:len(row[1]) - 2][:19])
        self.assertLess(sum(map(len, told.values())), 6001)

    def check_tree(self, rows, whole=True):
        """Parents come first; a total is at least the step's own plus its children's, and more only if something was left out."""
        sums = [[row[2], row[3]] for row in rows]
        for number, (parent, _, _, _, objects, size, *_) in reversed(list(enumerate(rows))):
            self.assertLess(parent, number)
            (self.assertEqual if whole else self.assertLessEqual)(sums[number], [objects, size])
            if parent >= 0:
                sums[parent] = [sums[parent][0] + objects, sums[parent][1] + size]
        top = [row for row in rows if row[0] < 0]
        return sum(row[4] for row in top), sum(row[5] for row in top)

    def test_sums(self):
        for name in ("net8-svr", "net10-wks-ranges"):
            data = self.data(self.link(name))
            report = json.loads(self.done("report", self.link(name), "--json").out)
            total = (report["objects"], report["bytes"])
            self.assertEqual((data["totals"]["objects"], data["totals"]["bytes"]), total)
            self.assertEqual(self.check_tree(data["tree"]), total)
            types = {data["names"][t[0]]: t for t in data["types"]}
            self.assertEqual({n: (t[2], t[3]) for n, t in types.items()}, {t["type"]: (t["count"], t["bytes"]) for t in report["types"]})
            self.assertEqual(data["other_types"], [0, 0, 0])
            for path in data["paths"]:
                own = next(t for t in data["types"] if t[0] == path["type"])
                whole = len(path["tree"]) < 400
                (self.assertEqual if whole else self.assertLessEqual)(self.check_tree(path["tree"], whole), (own[2], own[3]))
            if data["generations"]:
                self.assertEqual((sum(g[0] for g in data["generations"]), sum(g[1] for g in data["generations"])), total)

    def test_the_page_and_retained_tree_agree(self):
        """Every path of types has the same objects and bytes in both; the page splits it by root."""
        for name in ("net8-svr", "net10-wks"):
            data = self.data(self.link(name))
            self.assertLess(len(data["tree"]), 12_000)
            page, path = {}, []
            for parent, label, _, own_bytes, objects, size in data["tree"]:
                above = path[parent] if parent >= 0 else ()
                skip = above is None or data["names"][label] == "[not reachable from roots]"
                path.append(None if skip else above + (data["names"][label],) if data["kinds"][label] == "t" else above)
                if not skip and data["kinds"][label] == "t":
                    sums = page.setdefault(path[-1], [0, 0])
                    sums[0] += own_bytes
                    sums[1] += size
            text, stack = {}, []
            answer = json.loads(self.done("retained", self.link(name), "--tree", "255", "--min-bytes", "1", "--json").out)
            for row in answer["tree"]:
                stack[row["depth"]:] = [row["type"]]
                self.assertIsNone(row["folded_types"])
                sums = text.setdefault(tuple(stack), [0, 0])
                sums[0] += row["bytes"]
                sums[1] += row["retained_bytes"]
            self.assertGreater(len(text), 100)
            self.assertEqual(page, text)

    def test_a_list_is_held_by_what_holds_it(self):
        data = self.data(self.link("net10-wks"))
        node = data["names"].index("HeapLab.Node")
        self.assertEqual(next(t[2:5] for t in data["types"] if t[0] == node), [5000, 160000, 160000])
        rows = [o for o in data["largest"] if o[0] == node]
        self.assertEqual([o[2] for o in rows], [160000])             # once, not once for each link
        holders = [data["names"][n] for n in rows[0][4]]
        self.assertEqual((holders[:3], holders[-1]), (["[static variables]", "s_lab", "HeapLab.Lab"], "HeapLab.Node"))
        self.assertEqual(rows[0][1], 32)

    def test_nothing_is_loaded_and_only_the_script_runs(self):
        page = self.page(self.link("net10-wks"))
        style, data, script = parts(page)
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page.decode())[1]
        digest = lambda text: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
        self.assertEqual(policy, f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; base-uri 'none'; form-action 'none'")
        self.assertLess(page.index(b"Content-Security-Policy"), page.index(b"<style>"))
        self.assertNotRegex(page, rb"https?://|\bsrc=|@import|url\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|@[A-Z]+@")
        self.assertNotIn("<", data)

    def test_same_dump_same_page(self):
        first = self.page(self.link("net10-wks-ranges"))
        self.done("convert", self.link("net10-wks-ranges"), "-o", "y.html")
        self.assertEqual(self.get("y.html"), first)
        self.assertEqual(self.done("convert", self.link("net10-wks-ranges"), "-o", "-", "--format", "html").out, first)
        self.done("convert", self.link("net10-wks-ranges"), "-o", "z.html.gz")
        self.assertEqual(subprocess.run(["gzip", "-dc", self.path("z.html.gz")], capture_output=True, check=True).stdout, first)

    def test_verdict(self):
        self.assertEqual(self.data(self.link("net10-wks"))["verdict"], {"complete": True, "unverified": False, "reasons": []})
        verdict = self.data(self.link("net10-wks-lossy"), code=3)["verdict"]
        self.assertFalse(verdict["complete"])
        self.assertTrue(any("171" in reason for reason in verdict["reasons"]), verdict)

    def test_what_is_known_of_single_types(self):
        """A store that holds an array of seven items with two notes each, and a list of three links with one item each."""
        items = [(0x10000 + 0x1000 * i, 100 + 8 * i) for i in range(7)]
        lines = ["a 2 shop 0", "t 1 Shop.Store", "t 2 Shop.Item[]", "t 3 Shop.Item", "t 4 Shop.Note", "t 5 Shop.Link", "r 1000 4 0 1", "r 3000 4 0 1",
                 "o 1000 1 18 2000", "o 2000 2 80 " + " ".join(f"{a:x}" for a, _ in items),
                 *(f"o {a:x} 3 {n:x} {a + 0x400:x} {a + 0x800:x}\no {a + 0x400:x} 4 20\no {a + 0x800:x} 4 20" for a, n in items),
                 "o 3000 5 20 3100 20000", "o 3100 5 20 3200 20400", "o 3200 5 20 20800",
                 *(f"o {a:x} 3 {n:x}" for a, n in ((0x20000, 500), (0x20400, 30), (0x20800, 40))), "c shop 0"]
        self.put("shop.gclog", "\n".join(lines).encode() + b"\n")
        data = self.data("shop.gclog")
        name = lambda n: data["names"][n] if n >= 0 else n
        details = {name(d["type"]): {key: [[name(row[0]), *row[1:]] for row in d[key]] for key in ("above", "below", "refs")} | {"largest": d["largest"]}
                   for d in data["details"]}
        sizes = [n + 64 for _, n in items]
        self.assertEqual(details["Shop.Item[]"]["below"], [["Shop.Item", 7, sum(sizes)]])
        self.assertEqual(details["Shop.Item[]"]["refs"], [["Shop.Item", 7, 0]])
        self.assertEqual(details["Shop.Item"]["above"], [["Shop.Item[]", 7, sum(sizes)], ["Shop.Link", 3, 570]])
        self.assertEqual(details["Shop.Item"]["largest"], [["0x20000", 500, 500]] + [[f"0x{a:x}", n, n + 64] for a, n in items[:2:-1]])
        self.assertEqual(details["Shop.Link"]["below"], [["Shop.Item", 3, 570]])         # not the links that follow
        self.assertEqual(details["Shop.Link"]["refs"], [["Shop.Item", 3, 0], ["Shop.Link", 2, 0]])
        self.assertEqual(details["Shop.Store"]["above"], [[-1, 1, 24 + 128 + sum(sizes)]])
        for detail in data["details"]:
            own = next(t for t in data["types"] if t[0] == detail["type"])
            if "tree" in detail:
                self.assertEqual(self.check_tree(detail["tree"], len(detail["tree"]) < 30), (own[2], own[3]))

    def test_large_parts_have_lines_of_their_own(self):
        """So that the page parses each only when a view needs it."""
        page = self.page(self.link("net10-wks"))
        lines = parts(page)[1].split("\n")
        large = re.findall(r"[a-z_]+", re.search(r"LARGE ?= ?[^\[]*\[(.*?)\]", parts(page)[2])[1])
        self.assertGreater(len(large), 2)
        for key in large:
            line, = [line for line in lines if line.startswith(f',"{key}":')]
            self.assertEqual([*json.loads("{" + line[1:] + "}")], [key])

    def test_memory_of_the_process(self):
        mib = 1 << 20
        memory = self.data(self.with_memory("net10-wks"))["memory"]
        self.assertEqual(memory.pop("text"), "the GC heap is 120 MiB of 900 MiB resident: look for native memory (680 MiB)")
        self.assertEqual(memory, {"resident": 900 * mib, "gc": 120 * mib, "native": 680 * mib, "file": 90 * mib, "shared": 10 * mib,
                                  "swapped": 5 * mib, "cgroup_limit": 1024 * mib, "cgroup_used": 950 * mib, "look_for_native": True})

    def test_generations_of_types(self):
        """Each type's objects by generation, as report counts them."""
        report = json.loads(self.done("report", self.link("net10-wks-ranges"), "--by", "generation", "--json").out)
        data = self.data(self.link("net10-wks-ranges"))
        self.assertEqual(len(data["details"]), len(data["types"]))
        sums = [[0, 0] for _ in data["generations"]]
        for detail in data["details"]:
            for number, objects, size in detail["generations"]:
                self.assertGreater(objects, 0)
                sums[number] = [sums[number][0] + objects, sums[number][1] + size]
        self.assertEqual(sums, [g[:2] for g in data["generations"]])
        self.assertGreater(sums[3][0], 0)
        self.assertIn("generations", report)
        self.assertEqual([d["generations"] for d in self.data(self.link("net10-wks"))["details"]], [[]] * len(data["types"]))

    def test_all_types_of_a_heap_with_very_many(self):
        """The first types are rows, the others are compressed; if there is no room for all, the page says how many are missing."""
        rows = [(f"Shop.Made.T{i:05}\"<\u202e", 1 + i % 3, 24 + 8 * (i % 50)) for i in range(6000)]
        self.put("x.nettrace", types_trace(*rows))
        data = self.data("x.nettrace", "--names", "raw")
        packed = json.loads(gzip.decompress(base64.b64decode(data["rest_packed"])))
        self.assertEqual((len(data["types"]), len(packed), data["other_types"]), (4000, 2000, [0, 0, 0]))
        found = {data["names"][t[0]]: (t[2], t[3]) for t in data["types"]} | {t[0]: (t[2], t[3]) for t in packed}
        self.assertEqual(found, {name: (n, n * size) for name, n, size in rows})
        self.assertEqual(data["rest_types"], [2000, sum(t[2] for t in packed), sum(t[3] for t in packed)])
        self.assertEqual([t[3] for t in packed], sorted((t[3] for t in packed), reverse=True))
        self.assertLessEqual(packed[0][3], min(t[3] for t in data["types"]))

    def test_types_without_room(self):
        noise = random.Random(1)
        types = range(1, 9001)
        lines = ["a 2 shop 0", *(f"t {i:x} T{noise.randbytes(450).hex()}" for i in types),
                 *(f"o {i * 0x10000:x} {i:x} {24 + i:x}" for i in types), "c shop 0"]
        self.put("many.gclog", "\n".join(lines).encode() + b"\n")
        run = self.done("convert", "many.gclog", "-o", "x.html")
        data = json.loads(parts(self.get("x.html"))[1])
        self.assertLess(len(self.get("x.html")), MOST_BYTES)
        packed = json.loads(gzip.decompress(base64.b64decode(data["rest_packed"])))
        self.assertEqual(len(packed), data["rest_types"][0])
        self.assertGreater(len(packed), 1000)
        self.assertGreater(data["other_types"][0], 1000)
        self.assertIn(f"{data['other_types'][0]:,} types share one row", run.err.decode())
        self.assertEqual((len(data["types"]) + data["rest_types"][0] + data["other_types"][0], sum(t[3] for t in data["types"]) +
                          data["rest_types"][2] + data["other_types"][2]), (9000, data["totals"]["bytes"]))

    def test_whose_the_memory_is(self):
        """An array that is suspected, another object of the program with an array that holds a framework's object, and one of the framework alone."""
        lines = ["a 2 shop 0", "t 1 Shop.Store", "t 2 System.Byte[]", "t 3 Shop.Cache", "t 4 System.Pool", "r 1000 4 0 1", "r 2000 4 0 1", "r 3000 4 0 1",
                 "o 1000 1 18 10000000", "o 10000000 2 800000", "o 2000 3 20 2100", "o 2100 2 100 2800", "o 2800 4 40", "o 3000 4 50",
                 "o 4000 3 60", "c shop 0"]
        self.put("shop.gclog", "\n".join(lines).encode() + b"\n")
        data = self.data("shop.gclog")
        self.assertEqual([(s["counted"], s["bytes"]) for s in data["suspects"]], [(True, 0x800000)])
        self.assertEqual(data["totals"]["own_bytes"], 0x18 + 0x20 + 0x100 + 0x40)
        self.assertEqual(self.data("shop.gclog", "--mine", "System.Pool")["totals"]["own_bytes"], 0x40 + 0x50)

    def test_what_is_shown_without_scripts_is_text(self):
        names = ["<img src=x>", "a & b", "Shop.\u202eredrO", "'\"", "C:\\x"]
        self.put("x.nettrace", types_trace(*((name, 1, 100 + 8 * i) for i, name in enumerate(names))))
        plain = re.search(r"<noscript>(.*?)</noscript>", self.page("x.nettrace", "--names", "raw").decode(), re.S)[1]
        shown = re.findall(r'<th scope="row"><bdi dir="ltr">(.*?)</bdi>', plain)
        self.assertEqual(sorted(shown), sorted(["&#60;img src=x&#62;", "a &#38; b", "Shop.\ufffdredrO", "&#39;&#34;", "C:\\x"]))
        self.assertIn("Complete.", plain)

    def test_very_many_types_with_long_names(self):
        types = range(1, 30_001)
        lines = ["a 2 shop 0", *(f"t {i:x} Shop.<{'<' * 400}{i:06}" for i in types),
                 *(f"o {i * 0x10000:x} {i:x} {24 + i:x}" for i in types), "c shop 0"]
        self.put("many.gclog", "\n".join(lines).encode() + b"\n")
        self.done("convert", "many.gclog", "-o", "x.html")
        page = self.get("x.html")
        self.assertLess(len(page), MOST_BYTES)
        data = json.loads(parts(page)[1])
        self.assertEqual((len(data["types"]), data["rest_types"][0], data["other_types"]), (4000, 26000, [0, 0, 0]))
        self.assertEqual(sum(t[2] for t in data["types"]) + data["rest_types"][1], data["totals"]["objects"])
        self.assertEqual(sum(t[3] for t in data["types"]) + data["rest_types"][2], data["totals"]["bytes"])
        self.assertLess(max(map(len, data["names"])), 500)

    def test_no_roots(self):
        self.put("x.nettrace", types_trace(("Shop.Order", 3, 100), ("Shop.Item", 1, 50)))
        data = self.data("x.nettrace")
        self.assertEqual((data["totals"]["stand_ins"], data["totals"]["reachable_bytes"]), (4, 350))
        self.assertEqual(self.data(self.link("net10-wks"))["totals"]["stand_ins"], 0)

    def test_sizes_beyond_what_numbers_hold(self):
        p = Payloads()
        big = [(0x1000 + 0x100 * i, (1 << 63) + i, 0x70, 0) for i in range(3)]
        self.put("big.nettrace", write(V4File(), [Ev(1, 2000, p.gc_start()), Ev(18, 2001, p.nodes(0, *big)), Ev(15, 2002, p.types((0x70, "Huge"))),
                                                  Ev(2, 2003, p.gc_end())]))
        data = self.data("big.nettrace")
        self.assertEqual(data["totals"]["bytes"], (1 << 64) - 1)

    def test_shapes(self):
        """Deep and wide heaps: never a page that grows with the heap."""
        for shape in ("list", "fan", "mix"):
            for objects in (2_000, 100_000):
                subprocess.run([genheap(self.dir), "-n", str(objects), "--shape", shape, self.path("h.nettrace")], check=True)
                data = self.data("h.nettrace")
                self.assertEqual(data["totals"]["objects"], objects)
                self.assertLessEqual(len(data["tree"]), 12_000)
                self.assertTrue(all(len(p["tree"]) <= 400 for p in data["paths"]))


class Leaks(CliTest):
    def test_the_page_with_suspects_first(self):
        """The data are the same as in the usual page, except for the first section and the limits for suspects."""
        name = self.link("net10-wks-ranges")
        self.done("convert", name, "-o", "x.html")
        self.done("leaks", name, "-o", "l.html")
        self.assertEqual(self.done("leaks", name, "-o", "-").out, self.get("l.html"))
        usual, leaks = (json.loads(parts(self.get(page))[1]) for page in ("x.html", "l.html"))
        self.assertEqual((usual.pop("start"), leaks.pop("start")), ("map", "suspects"))
        self.assertEqual(usual, leaks)

    def test_limits_and_mine(self):
        name = self.link("net10-wks-ranges")
        for words in (["--min-bytes=20K", "--mine", "System.*"], ["--share=2", "--min-bytes=1"], []):
            self.done("leaks", name, "-o", "l.html", *words)
            data = json.loads(parts(self.get("l.html"))[1])
            said = json.loads(self.done("leaks", name, "--json", *words).out)
            self.assertEqual([(s["sentence"], s["bytes"]) for s in data["suspects"]], [(s["sentence"], s["bytes"]) for s in said["suspects"]][:20])
            self.assertEqual(data["suspect_bytes"], said["threshold_bytes"])
            self.assertEqual(len(data["suspects"]) > 0, words != [])
            own = {data["names"][t[0]] for t in data["types"] if t[5] == 0}
            self.assertEqual("System.String" in own, "--mine" in words)

    def test_wrong_outputs_are_refused(self):
        name = self.link("net10-wks-ranges")
        self.refused(2, 'leaks -o writes a page for browsers: name it FILE.html, not "l.txt"', "leaks", name, "-o", "l.txt")
        self.refused(2, "--json is for tables, but -o writes a page", "leaks", name, "-o", "l.html", "--json")
        self.refused(1, r"no/l.html: .*", "leaks", name, "-o", "no/l.html")

    def test_incomplete(self):
        self.done("leaks", self.link("net10-wks-lossy"), "-o", "l.html", code=3)
        self.assertFalse(json.loads(parts(self.get("l.html"))[1])["verdict"]["complete"])
        self.done("leaks", self.link("net10-wks-lossy"), "-o", "m.html", "--strict", code=1)
        self.assertNotIn("m.html", self.folder())


class Diff(CliTest):
    def test_the_newer_dump_is_in_it(self):
        names = self.link("net8-wks"), self.link("net10-wks-ranges")
        self.done("diff", *names, "-o", "d.html")
        data = json.loads(parts(self.get("d.html"))[1])
        newer = data["newer"]
        self.assertEqual({s[1] for s in data["steps"] if s[0] == 0} - {*newer["root_groups"], "(no root)"}, set())
        self.done("convert", names[1], "-o", "x.html")
        alone = json.loads(parts(self.get("x.html"))[1])
        for totals in (newer["totals"], alone["totals"]):
            del totals["own_bytes"]                     # without those of the suspects, whose limits are lower if dumps are compared
        for key in ("totals", "verdict", "roots", "generations", "tree"):
            self.assertEqual(newer[key], alone[key], key)
        said = json.loads(self.done("leaks", *names, "--json").out)["suspects"]
        for suspect, other in zip(newer["suspects"], said):
            self.assertEqual((suspect["growth"], suspect["sentence"], suspect["bytes"]), (other["grown"], other["sentence"], other["bytes"]))
        self.assertEqual(sum(suspect["worth"] for suspect in newer["suspects"]), len(said))
        self.assertEqual(newer["names"][newer["types"][0][0]], alone["names"][alone["types"][0][0]])

    def test_sums_are_those_of_the_tables(self):
        names = self.link("net8-wks"), self.link("net8-wks-two-dumps")
        self.done("diff", *names, "-o", "d.html")
        data = json.loads(parts(self.get("d.html"))[1])
        table = json.loads(self.done("diff", *names, "--json", "--retained").out)
        self.assertEqual([(s["objects"], s["bytes"]) for s in data["sides"]], [(s["count"], s["bytes"]) for s in table["dumps"]])
        keys = [f"{what}_{when}" for when in ("before", "after") for what in ("count", "bytes", "retained")]
        changed = {row[0]: row[1:] for row in data["rows"] if row[1:4] != row[4:]}
        self.assertEqual(changed, {t["type"]: [t[k] for k in keys] for t in table["types"]})
        self.assertEqual([sum(row[i] for row in data["rows"]) for i in (1, 2, 4, 5)], [n for s in data["sides"] for n in (s["objects"], s["bytes"])])
        self.assertGreater(len(data["steps"]), 20)
        self.assertTrue(all(b[0] <= a[0] + 1 for a, b in zip(data["steps"], data["steps"][1:])))

    def test_wrong_outputs_are_refused(self):
        names = self.link("net8-wks"), self.link("net9-wks")
        self.refused(2, 'diff -o writes a page for browsers: name it FILE.html, not "d.csv"', "diff", *names, "-o", "d.csv")
        self.refused(2, "--json is for tables, but -o writes a page", "diff", *names, "-o", "d.html", "--json")
        self.refused(1, r"no/d.html: .*", "diff", *names, "-o", "no/d.html")

    def test_very_many_rows(self):
        for name, size in (("a", 24), ("b", 48)):
            lines = ["a 2 shop 0", *(f"t {i:x} Shop.<{'<' * 400}{i:06}" for i in range(1, 9001)),
                     *(f"o {i * 0x10000:x} {i:x} {size + i % 7:x}" for i in range(1, 9001)), "c shop 0"]
            self.put(f"{name}.gclog", "\n".join(lines).encode() + b"\n")
        self.done("diff", "a.gclog", "b.gclog", "-o", "d.html")
        page = self.get("d.html")
        self.assertLess(len(page), MOST_BYTES)
        data = json.loads(parts(page)[1])
        self.assertEqual((len(data["rows"]), data["other_rows"][0]), (5000, 4000))
        self.assertEqual(sum(row[5] for row in data["rows"]) + data["other_rows"][4], data["sides"][1]["bytes"])
        self.assertLessEqual(len(data["steps"]), 8000)

    def test_threshold_and_incomplete(self):
        self.done("diff", self.link("net8-wks"), self.link("net8-wks-two-dumps"), "-o", "d.html", "--fail-if", "bytes > +1%", code=4)
        self.assertTrue(self.get("d.html"))
        self.done("diff", self.link("net10-wks"), self.link("net10-wks-lossy"), "-o", "e.html", code=3)
        data = json.loads(parts(self.get("e.html"))[1])
        self.assertEqual([s["verdict"]["complete"] for s in data["sides"]], [True, False])


class Trend(CliTest):
    NAMES = "net8-wks-two-dumps.nettrace.gz#1", "net8-wks-two-dumps.nettrace.gz#2"

    def test_numbers_are_those_of_the_table(self):
        """Three dumps of different sizes; the first is a summary that lists few types."""
        self.done("convert", self.link("net10-wks"), "--summary", "a.json", "--top", "5")
        names = "a.json", self.link("net8-wks"), self.link("net9-wks")
        self.done("trend", *names, "-o", "t.html")
        page = self.get("t.html")
        data = json.loads(parts(page)[1])
        table = json.loads(self.done("trend", *names, "--json", "--retained").out)
        self.assertEqual([(d["name"], d["objects"], d["bytes"]) for d in data["dumps"]],
                         [(os.path.basename(name), d["count"], d["bytes"]) for name, d in zip(names, table["dumps"])])
        self.assertGreater(len(table["types"]), 50)
        self.assertLessEqual({"steady", "grows", "shrinks", "varies"}, {t["retained_trend"] for t in table["types"]})
        rows = {row[0]: dict(zip(("bytes", "count", "retained"), row[2:])) for row in data["rows"]}
        ways = ["steady", "grows", "shrinks", "varies", None]
        for t in table["types"]:
            for key, (way, hourly, *values) in rows[t["type"]].items():
                self.assertEqual((ways[way], hourly, values), (t[f"{key}_trend"], t[f"{key}_per_hour"], [t[f"{key}_{i}"] for i in (1, 2, 3)]))
        self.assertEqual(sum(row[2][4] for row in data["rows"]), table["dumps"][2]["bytes"])
        self.assertEqual(data["other_rows"], 0)
        plain = re.search(r"<noscript>(.*?)</noscript>", page.decode(), re.S)[1]
        self.assertEqual(re.findall(r"take (\d+) bytes", plain), [str(d["bytes"]) for d in table["dumps"]])

    def test_wrong_outputs_are_refused(self):
        names = self.link("net8-wks"), self.link("net9-wks")
        self.refused(2, 'trend -o writes a page for browsers: name it FILE.html, not "t.csv"', "trend", *names, "-o", "t.csv")
        self.refused(2, "--csv is for tables, but -o writes a page", "trend", *names, "-o", "t.html", "--csv")
        self.refused(1, r"no/t.html: .*", "trend", *names, "-o", "no/t.html")

    def test_threshold_and_incomplete(self):
        self.link("net8-wks-two-dumps")
        self.done("trend", *self.NAMES, "-o", "t.html", "--fail-if", "count(System.String) > 1", code=4)
        self.assertTrue(self.get("t.html"))
        self.done("trend", self.link("net10-wks"), self.link("net10-wks-lossy"), "-o", "e.html", code=3)
        self.assertEqual([d["verdict"]["complete"] for d in json.loads(parts(self.get("e.html"))[1])["dumps"]], [True, False])


if __name__ == "__main__":
    cli_support.main()
