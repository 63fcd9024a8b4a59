"""strings: duplicates of a core file as text, CSV and JSON; filters; secrets are masked; what is refused."""
import collections
import contextlib
import csv
import gzip
import io
import json
import os
import shutil
import sqlite3
import unittest

from cli_support import HAVE_SQLITE, CliTest, main, trace

CORE = os.path.join(os.path.dirname(os.path.dirname(trace("net10-core"))), "net10-core", "heap.core.gz")
NONE = r".*: has no texts of strings: a core file has them, and a recording made with gcdumpc collect --values strings"


class Strings(CliTest):
    def rows(self, *args):
        return json.loads(self.done("strings", *args, "--json").text)["strings"]

    def with_texts(self, **texts):
        """The core file with other texts, of the same lengths, in place of some."""
        with gzip.open(CORE) as f:
            data = f.read()
        for old, new in texts.items():
            old, new = old.replace("_", " "), new.ljust(len(old))
            self.assertEqual(len(old), len(new))
            self.assertIn(old.encode("utf-16-le"), data)
            data = data.replace(old.encode("utf-16-le"), new.encode("utf-16-le", "surrogatepass"))
        return self.put("texts.core", data)

    def test_text_and_csv_say_the_same_as_json(self):
        rows = self.rows(CORE)
        table = list(csv.DictReader(io.StringIO(self.done("strings", CORE, "--csv").text)))
        keys = ("count", "wasted_bytes", "length")
        self.assertEqual([tuple(int(r[k]) for k in keys) for r in table], [tuple(r[k] for k in keys) for r in rows])
        words = [(t, r) for t, r in zip(table, rows) if r["text"][:1].isalpha()]
        self.assertEqual([t["text"] for t, _ in words], [r["text"] for _, r in words])
        self.expected("strings-top-5.txt", self.done("strings", CORE, "--top", "5").text)

    def test_what_wastes_most_comes_first(self):
        wasted = [r["wasted_bytes"] for r in self.rows(CORE)]
        self.assertEqual(wasted, sorted(wasted, reverse=True))
        self.assertGreater(wasted[0], 0)

    def test_fields_hold_and_not_their_collections(self):
        """What leads to an array or a collection holds what is in it; all copies together are those of all texts."""
        got = json.loads(self.done("strings", CORE, "--json").text)
        held = {r["text"]: r["holders"] for r in got["strings"] if r["text"] is not None}
        self.assertEqual([(h["label"], h["root"]) for h in held["System.Globalization.Invariant"]],
                         [("static variable System.AppContext.s_dataStore", "statics")])
        self.assertIn("HeapLab.Lab._kept", {h["label"] for r in got["arrays"] for h in r["holders"]})
        counts = collections.Counter()
        for row in got["strings"]:
            if row["wasted_bytes"] > 0:
                counts.update({h["label"]: h["count"] for h in row["holders"]})
        self.assertEqual({h["label"]: h["count"] for h in got["string_holders"]}, counts)
        self.assertEqual([h["count"] for h in got["string_holders"]], sorted(counts.values(), reverse=True))
        digits, = (h for h in got["string_holders"] if h["label"].endswith(".s_asciiDigits"))
        self.assertEqual((digits["count"], digits["bytes"]), (10, 240))
        self.assertIn("System.Globalization.NumberFormatInfo.s_asciiDigits", self.done("strings", CORE).text.split("What holds the copies of all texts:")[1])

    def test_filters_choose_texts(self):
        self.assertEqual([r["text"] for r in self.rows(CORE, "--filter", "System.Globalization.I*t")], ["System.Globalization.Invariant"])
        self.assertEqual({r["text"] for r in self.rows(CORE, "--filter", "/^(true|false)$/")}, {"true", "false"})
        self.assertEqual(self.rows(CORE, "--filter", "no such text"), [])
        self.assertTrue(all(r["bytes"] >= 1000 for r in self.rows(CORE, "--min-bytes", "1000")))
        text = self.done("strings", CORE, "--filter", "*Invariant*").text
        self.assertIn('"Invariant Country"', text)
        self.assertNotIn("Arrays of numbers", text)

    def test_secrets_are_masked_unless_they_are_asked_for(self):
        core = self.with_texts(a_literal_of_HeapLab="Pwd=hunter2-4711")
        masked, = (r for r in self.rows(core) if r["masked"] == "connection string")
        self.assertEqual((masked["text"], masked["count"], masked["length"]), (None, 1, 20))
        self.assertNotIn("hunter2", self.done("strings", core, "--json").text)
        self.assertIn("(connection string)", self.done("strings", core, "--filter", "*hunter2*").text)
        self.assertNotIn("hunter2", self.done("strings", core, "--csv", "--show-values").text)
        self.assertIn("hunter2-4711", self.done("strings", core, "--show-values=raw", "--json").text)
        self.refused(2, "--show-values takes none, masked or raw, not \"all\"", "strings", core, "--show-values=all")

    def test_control_characters_do_not_reach_a_terminal(self):
        core = self.with_texts(a_literal_of_HeapLab='x\x1b[31m\n"\u202ey')
        self.assertIn('"x\\u001b[31m\\n\\"\\u202ey', self.done("strings", core, "--filter", "x*y*").text)

    def test_outputs_without_a_place_for_values_say_so(self):
        said = self.done("convert", CORE, "-o", "x.gclog", "--show-values").err.decode()
        self.assertRegex(said, r"in the gclog format, .*; [\d,]+ values have no place")
        self.assertNotIn(b"no place", self.done("convert", CORE, "-o", "x.gclog").err)
        self.refused(2, "a recording keeps values with --values strings; --show-values is for formats that show them",
                     "convert", CORE, "-o", "x.nettrace", "--show-values")
        self.refused(2, "--show-values is for the output; the stream of --save-trace would keep the values, too; see gcdumpc collect --help",
                     "collect", "--pid", "1", "-o", "x.heapsnapshot", "--save-trace", "t.nettrace", "--show-values")
        self.assertIn(b"has no texts of strings, so none are shown", self.done("convert", trace("net10-wks"), "-o", "x.dartheap", "--show-values").err)

    def test_long_texts_are_cut(self):
        row, = self.rows(CORE, "--filter", "xxxx*", "--max-string", "10")
        self.assertEqual((row["text"], row["length"], row["cut"]), ("x" * 10, 10_000, True))
        self.refused(2, "--max-string takes a number from 1 to 8192, not \"9000\"; see gcdumpc strings --help", "strings", CORE, "--max-string", "9000")

    def test_other_files_have_no_texts(self):
        self.refused(1, NONE, "strings", trace("net10-wks"))
        self.done("convert", trace("net10-wks"), "-o", self.path("x.gcdump"))
        self.refused(1, NONE, "strings", "x.gcdump")

    def test_a_path_to_an_object_has_the_keys_of_dictionaries(self):
        """The key and the value of an entry are found by SQL, the text by the object that has it."""
        rows = json.loads(self.done("sql", CORE, "--json", """
            select ek.to_id, ev.to_id from edges ek join edges ev on ev.from_id = ek.from_id and ev.field = 'value'
            join objects o on o.id = ek.from_id where ek.field = 'key' and o.type like '%Entry[]'
            group by o.id having count(*) = 1""").text)["rows"]
        self.assertGreater(len(rows), 0)
        for _, value in rows:
            steps = json.loads(self.done("paths", CORE, "--object", value, "--json").text)["paths"]
            keys = {s["key"] for s in steps if s["key"]}
            self.assertTrue(keys <= {r["text"] for r in self.rows(CORE)}, keys)
            self.assertIn("System.Diagnostics.Metrics", keys)
            self.assertRegex(self.done("paths", CORE, "--object", value).text, r'OverrideEventProvider>\["System.Diagnostics.Metrics"\] \(1 element\)')
            self.assertIn('.Entry[][0].value["System.Diagnostics.Metrics"]', self.done("paths", CORE, "--object", value, "--full").text)

    @unittest.skipUnless(HAVE_SQLITE, "this build has no SQLite")
    def test_sql_has_the_same_strings(self):
        """The table has a row for each string, looked up by its object, and masks secrets; without --show-values it is empty."""
        core = self.with_texts(a_literal_of_HeapLab="Pwd=hunter2-4711")

        def ask(query, *options):
            return [tuple(r) for r in json.loads(self.done("sql", core, query, "--json", *options).text)["rows"]]
        self.assertEqual(ask("SELECT count(*) FROM strings"), [(0,)])
        query = "SELECT text, masked, length, hash, count(*), sum(size_bytes) FROM objects JOIN strings ON object_id = id GROUP BY hash"
        want = {(r["text"], r["masked"], r["length"], r["hash"], r["count"], r["bytes"]) for r in self.rows(core)}
        self.assertEqual(set(ask(query, "--show-values")), want)
        self.assertIn(("connection string", None), ask("SELECT masked, text FROM strings", "--show-values"))
        self.assertEqual(ask("SELECT text FROM strings WHERE text LIKE '%hunter2%'", "--show-values=raw"), [("Pwd=hunter2-4711    ",)])
        one, = ask("SELECT min(object_id) FROM strings WHERE text = 'System.Globalization.Invariant'", "--show-values")[0]
        self.assertEqual(ask(f"SELECT text FROM strings WHERE object_id IN ({one}, -1)", "--show-values"), [("System.Globalization.Invariant",)])

    def by_field(self, file, type, field, *options):
        return json.loads(self.done("retained", file, "--type", type, "--by", field, "--json", *options).text)["field_values"]

    @unittest.skipUnless(HAVE_SQLITE, "this build has no SQLite")
    def test_objects_by_the_value_of_a_field_are_those_of_sql(self):
        for type, field in (("*.OverrideEventProvider", "_providerName"), ("*.SortedSet<*>.Node", "Item.key")):
            query = f"""SELECT s.text, count(*), sum(o.size_bytes) FROM objects o JOIN edges e ON e.from_id = o.id AND e.field = '{field}'
                JOIN strings s ON s.object_id = e.to_id WHERE o.type GLOB '{type}' GROUP BY 1"""
            want = {tuple(r) for r in json.loads(self.done("sql", CORE, query, "--json", "--show-values").text)["rows"]}
            self.assertGreater(len(want), 3)
            rows = self.by_field(CORE, type, field, "--show-values", "--top", "1000")
            self.assertEqual({(r["text"], r["count"], r["bytes"]) for r in rows}, want)
            self.assertEqual({r["kind"] for r in rows}, {"string"})
            self.assertTrue(all(r["retained_bytes"] >= r["bytes"] for r in rows))
            table = csv.DictReader(io.StringIO(self.done("retained", CORE, "--type", type, "--by", field, "--show-values", "--csv", "--top", "1000").text))
            self.assertEqual([(r["text"], int(r["count"])) for r in table], [(r["text"], r["count"]) for r in rows])
            # without --show-values no text is told, not even which are equal
            row, = self.by_field(CORE, type, field)
            self.assertEqual((row["kind"], row["type"], row["count"], "text" in row), ("object", "System.String", sum(r["count"] for r in rows), False))

    def test_values_of_a_field_are_masked_and_kept_in_recordings(self):
        core = self.with_texts(**{"System.Diagnostics.Metrics": "Pwd=hunter2-4711"})
        self.done("convert", core, "-o", self.path("texts.nettrace"), "--values", "strings")
        asked = ("*.OverrideEventProvider", "_providerName")
        rows = self.by_field(core, *asked, "--show-values")
        self.assertEqual(rows, self.by_field("texts.nettrace", *asked, "--show-values"))
        secret, = (r for r in rows if r["masked"])
        self.assertEqual((secret["masked"], secret["text"]), ("connection string", None))
        raw = self.by_field(core, *asked, "--show-values=raw")
        self.assertIn("Pwd=hunter2-4711", {r["text"].strip() for r in raw})
        self.refused(1, r'.*: no field "State" refers to an object; those that do: .*_providerName.*', "retained", core, "--type", asked[0], "--by", "State")
        self.refused(1, r".*: no fields of these types are known: .*", "retained", core, "--type", "System.String", "--by", "State")
        self.refused(2, "--by needs --type PATTERN.*", "retained", core, "--by", "State")
        self.assertIn("No texts of strings: a core file has them", self.done("retained", self.bare(), "--type", asked[0], "--by", asked[1], "--show-values").text)

    def test_numbers_are_read_from_memory(self):
        """The program boxes ten points with X = 0 to 9, and keeps one with 3; five red and five green colours, enum : byte."""
        def numbers(type, field):
            rows = self.by_field(CORE, type, field, "--show-values", "--top", "1000")
            self.assertEqual({r["kind"] for r in rows}, {"number"})
            return {r["name"] or r["number"]: r["count"] for r in rows}
        self.assertEqual(numbers("HeapLab.Point", "X"), {str(i): 1 + (i == 3) for i in range(10)})
        self.assertEqual(numbers("HeapLab.Colour", "value__"), {"Red": 5, "Green": 5})
        self.assertEqual(numbers("*EventSource", "m_config"), {"EtwManifestEventFormat": 3})
        self.assertEqual(numbers("System.Globalization.CultureData", "_bUseOverrides"), {"false": 1})
        self.assertIn("Red", self.done("retained", CORE, "--type", "HeapLab.Colour", "--by", "value__", "--show-values").text)
        self.refused(1, ".*: no fields of these types are known: .*; numbers need --show-values", "retained", CORE, "--type", "HeapLab.Point", "--by", "X")
        self.refused(1, r'.*: no field "Z"; there are: X, Y', "retained", CORE, "--type", "HeapLab.Point", "--by", "Z", "--show-values")
        self.refused(1, ".*; numbers are known in a core file, with --direct, and with --values all",
                     "retained", self.bare(), "--type", "HeapLab.Point", "--by", "X", "--show-values")

    def test_exceptions_have_their_hresult_in_memory(self):
        def codes(file, *options):
            rows = json.loads(self.done("exceptions", file, "--json", *options).text)["exceptions"]
            return {r["type"]: r.get("hresult") for r in rows}
        core = codes(CORE, "--with-dead", "--show-values")
        self.assertEqual(core, {"System.OutOfMemoryException": "0x8007000e", "System.StackOverflowException": "0x800703e9",
                                "System.ExecutionEngineException": "0x80131506"})
        self.assertEqual(set(codes(CORE, "--with-dead").values()), {None})
        self.done("convert", CORE, "-o", self.path("texts.nettrace"), "--values", "strings")
        self.assertEqual(set(codes("texts.nettrace", "--show-values").values()), {None})

    def bare(self):
        self.done("convert", CORE, "-o", self.path("bare.nettrace"))
        return "bare.nettrace"

    def test_a_recording_of_a_core_file_keeps_what_is_asked_for(self):
        self.done("convert", CORE, "-o", self.path("texts.nettrace"), "--values", "strings")
        self.done("convert", CORE, "-o", self.path("hashes.nettrace.gz"), "--values", "hashes")
        core, texts, hashes = (json.loads(self.done("strings", file, "--json").text) for file in (CORE, "texts.nettrace", "hashes.nettrace.gz"))
        for key in ("strings", "arrays", "string_totals", "array_totals"):
            self.assertEqual(texts[key], core[key], key)
        self.assertEqual(hashes["values"]["kind"], "hashes")
        copies = ("count", "wasted_bytes", "length")
        self.assertEqual(sorted(tuple(r[k] for k in copies) for r in hashes["strings"]), sorted(tuple(r[k] for k in copies) for r in core["strings"]))
        self.assertEqual({(r["text"], r["masked"]) for r in hashes["strings"]}, {(None, None)})
        for file in (CORE, "texts.nettrace"):  # each file has a key of its own: nobody can find a text by trying
            self.done("convert", file, "-o", self.path("others.nettrace"), "--values", "hashes")
            others = json.loads(self.done("strings", "others.nettrace", "--json").text)
            self.assertEqual(others["values"], hashes["values"])
            self.assertEqual(others["string_totals"], hashes["string_totals"])
            for known in (core, hashes):
                self.assertEqual({r["hash"] for r in others["strings"]} & {r["hash"] for r in known["strings"]}, set())
        self.done("convert", "texts.nettrace", "-o", self.path("bare.nettrace"), "--redact")
        self.done("convert", CORE, "-o", self.path("none.nettrace"))
        for file in ("bare.nettrace", "none.nettrace"):
            self.refused(1, NONE, "strings", file)
        self.assertEqual(self.done("report", "bare.nettrace", "--csv").text, self.done("report", "none.nettrace", "--csv").text)

    @unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
    def test_tables_of_strings_and_fields(self):
        """sqlite and csv have those of sql where values may be shown, and else neither; masked and raw as elsewhere."""
        core = self.with_texts(a_literal_of_HeapLab='Pwd=hunter2-4711', **{"System.Diagnostics.Metrics": '=a"b\n\ud800\0c,\u00fc\u20ac"de'.ljust(26, "x")})
        for options, secret in ((("--show-values",), False), (("--show-values=raw",), True), ((), None)):
            with self.subTest(options):
                self.done("convert", core, "-o", self.path("x.sqlite"), *options)
                shutil.rmtree(self.path("x.csv"), ignore_errors=True)
                self.done("convert", core, "-o", self.path("x.csv"), *options)
                with contextlib.closing(sqlite3.connect(self.path("x.sqlite"))) as c:
                    tables = {name for name, in c.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
                    self.assertEqual({"strings", "fields"} <= tables, secret is not None)
                    self.assertEqual({name + ".csv" for name in tables - {"dominators"}}, set(os.listdir(self.path("x.csv"))))
                    if secret is None:
                        continue
                    for table, rows in (("strings", 500), ("fields", 10_000)):
                        want = [tuple(r) for r in json.loads(self.done("sql", core, f"SELECT * FROM {table}", "--json", "--quiet", *options).text)["rows"]]
                        got = c.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
                        self.assertEqual(got, want)
                        self.assertGreater(len(got), rows)
                        with open(self.path(f"x.csv/{table}.csv"), encoding="utf-8", newline="") as f:
                            text = f.read()
                        self.assertEqual(text.count("\n"), len(got) + 1)         # one line a row
                        read = list(csv.reader(text.splitlines()))[1:]
                        shown = [["" if v is None else v if isinstance(v, str) else f"{v:.17g}" if isinstance(v, float) else str(v) for v in row] for row in got]
                        self.assertEqual(len(read), len(shown))
                        for mine, theirs in zip(read, shown):                # what a spreadsheet takes for a formula begins with an apostrophe
                            self.assertTrue(all(m == t or m in ("'" + t, "'" + t.replace("\n", "?")) or not t.isprintable() for m, t in zip(mine, theirs)), (mine, theirs))
                        self.assertTrue(table != "strings" or any(row[2].startswith("'=a\"b?") for row in read))
                    texts = {text for text, in c.execute("SELECT text FROM strings")} | {text for text, in c.execute("SELECT text FROM fields")}
                    self.assertEqual(any((text or "").startswith("Pwd=hunter2-4711") for text in texts), secret)
                    self.assertIn('=a"b\n\ufffd\ufffdc,\u00fc\u20ac"de'.ljust(26, "x"), texts)

    def test_redact_hides_what_it_removes(self):
        """Formats with a place for texts wrote them with --redact --show-values."""
        self.done("convert", CORE, "-o", self.path("texts.nettrace"), "--values", "all")
        text = b"a literal of HeapLab"
        for redact in ("--redact", "--redact=hash", "--redact=remove"):
            for name in ("x.dartheap", "x.heapsnapshot", "x.html", "x.csv", "x.nettrace") + ("x.sqlite",) * HAVE_SQLITE:
                with self.subTest(redact, name=name):
                    self.refused(2, "--redact leaves no values: it cannot be combined with --show-values.*",
                                 "convert", "texts.nettrace", "-o", self.path(name), redact, "--show-values")
                    self.done("convert", "texts.nettrace", "-o", self.path(name), redact)
                    data = b"".join(self.get(f"{name}/{n}") for n in os.listdir(self.path(name))) if os.path.isdir(self.path(name)) else self.get(name)
                    self.assertNotIn(text, data)
                    self.assertNotIn(text.decode().encode("utf-16-le"), data)
                    (shutil.rmtree if os.path.isdir(self.path(name)) else os.unlink)(self.path(name))

    def test_equal_texts_stay_equal_in_one_file_only(self):
        """--redact=hash has a key for each file, whose hashes are of no use in another one."""
        self.done("convert", CORE, "-o", self.path("texts.nettrace"), "--values", "all")
        texts = self.rows("texts.nettrace")
        hashes = []
        for name in ("one.nettrace", "two.nettrace"):
            self.done("convert", "texts.nettrace", "-o", self.path(name), "--redact=hash")
            rows = self.rows(name)
            self.assertEqual({r["text"] for r in rows}, {None})
            self.assertEqual(sorted((r["count"], r["length"]) for r in rows), sorted((r["count"], r["length"]) for r in texts))
            self.assertEqual(len({r["hash"] for r in rows}), len(texts))
            hashes.append({r["hash"] for r in rows})
            fields = json.loads(self.done("sql", name, "SELECT count(*) FROM fields", "--show-values", "--json", "-q").text)["rows"]
            self.assertEqual(fields, [[0]])
        self.assertEqual(hashes[0] & hashes[1], set())
        self.assertEqual((hashes[0] | hashes[1]) & {r["hash"] for r in texts}, set())

    def test_nothing_else_has_texts_of_a_core_file(self):
        """Literals of the program, in no other output unless they are asked for."""
        text = "a literal of HeapLab"
        self.assertEqual([r["text"] for r in self.rows(CORE, "--filter", text)], [text])
        for name in ("x.nettrace", "x.gcdump", "x.gclog", "x.dartheap", "x.heapsnapshot", "x.html"):
            self.done("convert", CORE, "-o", self.path(name))
            data = self.get(name)
            self.assertNotIn(text.encode(), data, name)
            self.assertNotIn(text.encode("utf-16-le"), data, name)


if __name__ == "__main__":
    main()
