"""Patterns for names of types: typed by people, and copied from an output."""
import csv
import io
import json
import os
import re
import struct

from cli_support import SOURCE, SPARSE, CliTest, main, trace, types_trace
from sample_heaps import write
from test_full_names import NAMES, heap
from test_recording import named_trace
from trace_bytes import V4File

HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
                    "\u2028\u2029\ufff9-\ufffb\U000e0000-\U000e007f]")
ODD = ("Shop.Order", "Shop.Map`2[System.String,Shop.Order]", "Entry[System.Int32,Shop.Order][]", "Shop.Outer`1+Inner[System.Int32]", "<>c", "<>c",
       "<A b>d__0[Shop.Order,System.Byte]", "Detached <A b>", "Shop.Semi;colon", "Shop.New\nline", "Shop.Quote\"d'", "Shop.Back\\\\slash",
       "=cmd|'/c calc'!A0",
       "Shop.Rtl\u202eeman", "Shop.Stra\u00dfe\U0001f600", "Shop.Item[,][]", "Shop.Item[*]", "Shop.Sample*", "Shop.Under_score", "'quoted", "string",
       "Shop.[Closed]", "A, B")


class PatternTest(CliTest):
    def types(self, source, *words):
        """The types that match: {id: row}."""
        return {row["id"]: row for row in json.loads(self.done("report", source, "--json", *words).out)["types"]}

    def means(self, source, pattern):
        """The names of the types that PATTERN matches, perhaps an empty list."""
        run = self.gcdumpc("report", source, "--json", f"--filter={pattern}")
        self.assertIn(run.code, (0, 1), (pattern, run.err))
        return sorted(row["type"] for row in json.loads(run.out)["types"]) if run.code == 0 else []


class WhatPeopleWrite(PatternTest):
    def test_spellings(self):
        for pattern, wanted in (("string", ["System.String"]), ("int[]", ["System.Int32[]"]), ("byte[]", ["System.Byte[]"]),
                                ("HeapLab.Box<int>", ["HeapLab.Box<System.Int32>"]), ("HeapLab.Box`1[int]", ["HeapLab.Box<System.Int32>"]),
                                ("HeapLab.Box<HeapLab.Cabinet+Drawer>", ["HeapLab.Box<HeapLab.Cabinet.Drawer>"]),
                                ("Entry[System.Int32,*][]", None), ("System.Collections.Generic.List`1[*", None)):
            found = self.means(trace("net10-wks"), pattern)
            self.assertTrue(found == wanted if wanted else found, (pattern, found))
            for command in (("paths", "--type"), ("retained", "--type"), ("retained", "--filter")):
                self.done(command[0], trace("net10-wks"), command[1], pattern)
            self.done("diff", trace("net10-wks"), trace("net10-wks"), "--filter", pattern, "--fail-if", f"count({pattern}) < 1")

    def test_async_methods_as_outputs_spell_them(self):
        box = "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Threading.Tasks.VoidTaskResult>.AsyncStateMachineBox<{}>"
        shop = os.path.join(SOURCE, "traces", "shop", "evening.nettrace.gz")
        for name, machine in (("Checkout.PlaceOrder", "CoffeeShop.Checkout.<PlaceOrder>d__2"), ("async CoffeeShop.OrderDatabase.Insert",
                              "CoffeeShop.OrderDatabase.<Insert>d__2"), ("OrderDatabase.Execute", "CoffeeShop.OrderDatabase.<Execute>d__3")):
            self.assertEqual(self.means(shop, name), [box.format(machine)], name)
            self.done("diff", shop, shop, "--fail-if", f"count({name}) > 0", code=4)

    def test_modules(self):
        every = self.types(trace("net10-wks"))
        lab = {i for i, row in every.items() if (row["module"] or "").endswith("HeapLab.dll")}
        self.assertTrue(0 < len(lab) < len(every))
        for pattern in ("HeapLab", "HeapLab.dll", "Heap?ab", "*/HeapLab.dll", "/HeapLab$/", " HeapLab "):
            self.assertEqual(set(self.types(trace("net10-wks"), f"--filter=module({pattern})")), lab, pattern)
        size = sum(every[i]["bytes"] for i in lab)
        for limit, code in ((size, 0), (size - 1, 4)):
            self.done("diff", trace("net10-wks"), trace("net10-wks"), "--fail-if", f"bytes(module(HeapLab)) > {limit}", code=code)
        self.refused(1, r'.*: no type matches "module\(Heplab\)"; near it: "HeapLab.dll"', "report", trace("net10-wks"), "--filter=module(Heplab)")
        self.refused(1, r".*; gcdumpc report --by module lists all modules", "report", trace("net10-wks"), "--filter=module(Zzzzzzzzzzz)")
        for bad in ("module(", "module()", "module(HeapLab"):
            self.refused(2, r'".*" is not a pattern: module\( takes .*', "report", "missing", f"--filter={bad}")
        self.refused(2, r'".*" is not a pattern: a "\(" is not closed', "report", "missing", "--filter=module(/(/)")

    def test_suggestions_know_the_words_of_csharp(self):
        self.refused(1, r'.*; near it: .*"System\.Collections\.Generic\.List<System\.Char>".*', "report", trace("net10-wks"), "--filter=LIST<char>")


class FullNames(PatternTest):
    """Nested types by their names as in the source, and by the runtime's names, which older scripts use."""

    def setUp(self):
        super().setUp()
        self.put("bare", write(V4File(), heap(2, 1)))
        self.put("named", named_trace(*NAMES, heap=heap(3, 1)))
        self.put("more", named_trace(*NAMES, heap=heap(9, 2)))

    def test_of_nested_types(self):
        lists, trees = "Shop.Lists<System.Int32>.Node", "Shop.Trees.Node<System.Int32>"
        for pattern, wanted in (("Shop.Lists<int>.Node", [lists]), ("Shop.Lists<int>+Node", [lists]), ("Shop.Lists`1+Node[System.Int32]", [lists]),
                                ("Shop.Lists`1+*", [lists]), ("Shop.Trees+*", [trees]), ("/^Shop.*Node/", [lists, trees]),
                                ("Node<System.Int32>", [lists, trees]), ("Node<int>", [lists, trees]), ("Node[System.Int32]", [lists, trees]),
                                ("/^Node</", [lists, trees]), ("Node*", [lists, trees]), ("*.Node*", [lists, trees]),
                                ("Lists<int>.Node", [lists]), ("lists<int>.node", [lists]), ("Lists<Int32>.Node", [lists]), ("Trees.*", [trees]),
                                ("LISTS<int>.Node", []), ("xLists<int>.Node", []), ("Node", [lists]), ("Shop.*", [lists, "Shop.Order", "Shop.Store", trees])):
            self.assertEqual(self.means("named", pattern), wanted, pattern)
            self.assertEqual(len(self.means("bare", pattern)) > 0, pattern in ("Node<System.Int32>", "Node<int>", "Node[System.Int32]", "/^Node</",
                                                                              "Node*", "Shop.*"), pattern)

    def test_of_thresholds(self):
        """A namespace has grown although its own types have not: nested types belong to it, too."""
        for pattern, code in (("Shop.*", 4), ("Shop.Lists<*", 4), ("Shop.Order", 0), ("Node<*", 4), ("Shop.Lists`1+Node[int]", 4)):
            self.done("diff", "named", "more", "-q", "--fail-if", f"bytes({pattern}) > +10%", code=code)
        self.refused(1, r'.*no type matches "Shop.List<int>.Node"; near it: "Shop.Lists<System.Int32>.Node".*', "report", "named",
                     "--filter=Shop.List<int>.Node")


def text(name):
    return HIDDEN.sub("?", name)


def v8(name):
    head = "Detached " if name.startswith("Detached ") else ""
    return head + name[len(head):].replace(" ", "") if name[len(head):].startswith("<") else name


def label(name):
    name = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return HIDDEN.sub(lambda m: "".join(rf"\\u{unit:04x}" for unit in struct.unpack(f"<{len(m[0].encode('utf-16-le')) // 2}H", m[0].encode("utf-16-le"))), name)


def cell(name):
    return ("'" if name[0] in "'=+-@\t" else "") + name


# How a format writes a name, and how that is read back.
MADE = re.compile(r"<[^<>]*>[a-z]?__")
SPELLINGS = {
    "text": text, "json": lambda name: json.dumps(name)[1:-1], "csv": lambda name: text(cell(name).replace('"', '""')),
    "prometheus": label, "v8": v8,
    "collapsed": lambda name: text(name).replace(";", ":"), "page": lambda name: HIDDEN.sub("\ufffd", name),
}


class WhatIsCopied(PatternTest):
    def names_in(self, source):
        """{format: the text of its output}"""
        outputs = {"text": self.done("report", source).text, "json": self.done("report", source, "--json").text,
                   "csv": self.done("report", source, "--csv").text,
                   "prometheus": self.done("report", source, "-f", "prometheus", "--top=100000").text}
        for name, form in (("v8", "v8"), ("collapsed", "collapsed"), ("gclog", "gclog")):
            outputs[name] = self.done("convert", source, "-q", "-f", form, "-o", "-").text
        return outputs

    def check(self, source, sample):
        every = self.types(source)
        outputs = self.names_in(source)
        outputs["v8"] = "\n".join(json.loads(outputs["v8"])["strings"])
        outputs["page"] = None
        for i, row in list(every.items())[::sample * SPARSE]:
            for form, spell in (*SPELLINGS.items(), ("gclog", text), ("json", str)):
                name = spell(row["raw_name"] if form == "gclog" else row["type"])
                shown = form != "text" or not MADE.search(name)      # text calls what compilers make by its method
                if outputs[form] is not None and spell is not str and form != "json" and shown:
                    self.assertIn(name, outputs[form], form)
                if name.startswith("/") and name.endswith("/"):
                    continue
                found = self.types(source, f"--filter={name}")
                self.assertIn(i, found, (form, name))
                if not set("*?\ufffd") & set(name):
                    column = "raw_name" if form == "gclog" else "type"
                    same = {k for k, r in every.items() if spell(r[column]) == name}
                    self.assertEqual(set(found), same, (form, name))

    def test_what_compilers_make_is_found_as_it_is_shown(self):
        shown = re.findall(r"%  ((?:async|iterator|a lambda in|variables of) .*)", self.done("report", trace("net10-wks"), "-q").text)
        self.assertGreaterEqual(len(shown), 2)
        for name in shown:
            self.assertEqual(len(self.types(trace("net10-wks"), f"--filter={name}")), 1, name)

    def test_real_names(self):
        self.check(trace("net10-wks"), 5)

    def test_odd_names(self):
        self.put("odd", types_trace(*((name, 1, 24 + 8 * i) for i, name in enumerate(ODD))))
        self.check("odd", 1)

    def test_other_files_of_the_same_dump(self):
        """A name from the recording used with its conversion, and the other way round."""
        for form in ("gcdump", "dartheap", "gclog"):
            self.done("convert", trace("net10-wks"), "-q", "-o", f"x.{form}")
            here, there = self.types(trace("net10-wks")), self.types(f"x.{form}")
            for source, other in ((here, f"x.{form}"), (there, trace("net10-wks"))):
                for row in list(source.values())[::10 * SPARSE]:
                    for name in (row["type"], row["raw_name"]):
                        found = self.types(other, f"--filter={name}")
                        self.assertTrue(found, (form, name))

    def test_other_tables(self):
        name = trace("net10-wks")
        copied = {row["type"] for row in json.loads(self.done("retained", name, "--json").out)["largest_types"]}
        copied |= {row["type"] for row in csv.DictReader(io.StringIO(self.done("paths", name, "--type=HeapLab.*", "--csv").text)) if row["type"]}
        copied |= {row["type"] for row in json.loads(self.done("diff", trace("net8-wks"), name, "--json").out)["types"] if row["count_after"]}
        self.assertGreater(len(copied), 40)
        for pattern in sorted(copied)[::3]:
            self.assertTrue(self.means(name, pattern), pattern)


if __name__ == "__main__":
    main()
