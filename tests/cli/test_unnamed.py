"""Dumps whose types have no names: what is known by names is said to be unknown, not to be absent."""
import gzip
import json
import os

from cli_support import CliTest, main, trace
from test_mcp import McpTest

NONAMES = trace("net10-wks-nonames")
CORE = os.path.join(os.path.dirname(os.path.dirname(NONAMES)), "net10-core", "heap.core.gz")
WHY = "no type has a name"
BY_NAMES = "Timers, event handlers, collections and all else that is known by names cannot be told: no type has a name."


class Unnamed(CliTest):
    def json(self, *words, code=3):
        return json.loads(self.done(*words, "--json", "-q", code=code).text)

    def text(self, *words, code=3):
        return self.done(*words, "-q", code=code).text

    def core(self):
        """A core file whose metadata cannot be read."""
        with gzip.open(CORE) as f:
            data = f.read()
        return self.put("no.core", data.replace(b"BSJB", b"BSJX"))

    def forms(self):
        """The recording, and graph files made from it, which have words in place of names."""
        yield NONAMES
        for suffix in ("gcdump", "gclog"):
            self.done("convert", NONAMES, "-o", self.path(f"no.{suffix}"), "-q", code=3)
            yield self.path(f"no.{suffix}")

    def test_waiting_calls_and_exceptions(self):
        for file in self.forms():
            self.assertEqual(self.text("async", file).splitlines()[1:], [f"Which asynchronous operations wait cannot be told: {WHY}."])
            self.assertEqual(self.text("exceptions", file).splitlines()[1:], [f"Exceptions cannot be told: {WHY}."])
            waiting, thrown = self.json("async", file), self.json("exceptions", file)
            self.assertEqual({waiting[k] for k in ("operations", "stack_count", "bytes", "probable_stacks", "completed_count", "different")}, {None})
            self.assertEqual((waiting["names_missing"], thrown["names_missing"], thrown["count"]), (WHY, WHY, None))

    def test_names_that_are_there_hide_nothing(self):
        named = trace("net10-wks")
        self.assertEqual(self.json("exceptions", named, code=0)["names_missing"], None)
        self.assertEqual(self.json("async", named, code=0)["names_missing"], None)
        self.assertEqual(self.json("leaks", named, code=0)["names_missing"], None)
        self.assertNotIn("cannot be told", self.text("leaks", named, code=0))

    def test_leaks(self):
        self.assertIn(f"No single object or type looks like a leak. {BY_NAMES} Largest: ", " ".join(self.text("leaks", NONAMES).split()))
        self.assertIn(f"Note: {BY_NAMES}", " ".join(self.text("leaks", NONAMES, "--min-bytes", "100K").split()))     # beside suspects
        got = self.json("leaks", NONAMES, "--findings")
        self.assertEqual(got["names_missing"], WHY)
        known = {row["kind"]: row["known"] for row in got["findings"]}
        self.assertEqual([known[k] for k in ("object", "type", "timers", "handlers", "collections", "pools")], [True, True, False, False, False, False])

    def test_strings_are_found_by_their_texts(self):
        core = self.core()
        got, named = self.json("strings", core, "--no-modules"), self.json("strings", CORE, code=0)
        self.assertEqual([(r["count"], r["text"]) for r in got["strings"]], [(r["count"], r["text"]) for r in named["strings"]])
        self.assertEqual((got["names_missing"], got["string_totals"]), (None, named["string_totals"]))
        self.assertNotIn("told", self.text("strings", core, "--no-modules"))
        self.assertEqual(self.json("async", core, "--no-modules")["operations"], None)


class McpUnnamed(McpTest):
    def test_tools(self):
        client = self.opened("net10-wks-nonames")
        waiting, thrown, suspects = client.call("async"), client.call("exceptions"), client.call("suspects")
        self.assertEqual((waiting["operations"], waiting["stack_count"], waiting["names_missing"]), (None, None, WHY))
        self.assertEqual((thrown["count"], thrown["names_missing"]), (None, WHY))
        self.assertEqual(suspects["names_missing"], WHY)
        self.assertIn(BY_NAMES, suspects["none"])


if __name__ == "__main__":
    main()
