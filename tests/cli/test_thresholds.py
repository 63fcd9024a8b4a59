"""--fail-if: syntax, comparisons, and the exit status."""
import json

from cli_support import CliTest, main, trace, types_trace


class Thresholds(CliTest):
    def setUp(self):
        super().setUp()
        self.put("old", types_trace(("Shop.Order", 10, 100), ("Shop.Item", 4, 50), ("List`1[Shop.Order]", 1, 32), ("Gone", 1, 24)))
        self.put("new", types_trace(("Shop.Order", 11, 100), ("Shop.Item", 2, 50), ("List`1[Shop.Order]", 1, 32), ("New", 3, 8)))

    def exceeded(self, *expressions):
        """One result for each threshold; status and messages agree."""
        words = [w for e in expressions for w in ("--fail-if", e)]
        run = self.gcdumpc("diff", "old", "new", "--json", *words)
        self.assertIn(run.code, (0, 4), run.err)
        rows = json.loads(run.text)["thresholds"]
        self.assertEqual([r["expression"] for r in rows], list(expressions))
        self.assertEqual(run.code, 4 if any(r["exceeded"] for r in rows) else 0)
        said = [line for line in run.lines if "threshold exceeded" in line]
        self.assertEqual(len(said), sum(r["exceeded"] for r in rows))
        for row, line in zip([r for r in rows if r["exceeded"]], said):
            self.assertIn(f"threshold exceeded: {row['expression']}: {row['before']:,} -> {row['after']:,} (", line)
        return [r["exceeded"] for r in rows]

    def test_comparisons(self):
        yes = ("bytes(Shop.Order) > +9%", "bytes(Shop.Order) >= +10%", "count(Shop.Order) >= 11", "count(Shop.Order) > +0", "count(Shop.Item) < 3",
               "count(Shop.Item) <= -2", "count(Shop.Item) < -49%", "bytes(Shop.Item)<=-50.0%", "count(New) > +1000000%", "count(New) > 2.5",
               "bytes(Shop.Order) > 1K", "bytes(Shop.Order)>1KB", "bytes(Shop.Order)>1.08KB", "bytes(Shop.Order)>1.0KiB", "bytes(Shop.Order)> 1099B",
               "bytes(Shop.Order) > +99", "bytes > 1", "count < 18", "count(Gone) <= 0", "count(Gone) < -99%", " count ( Gone ) <= -100 % ",
               "bytes(Shop.Order) < 1M", "bytes(Shop.Order) < 1MiB", "bytes(Shop.Order) < 1MB", "bytes < 1G", "bytes < 1GB", "bytes < 1GiB",
               "count(*) >= 17", "count(/Order/) > 11", "count(/^Shop\\.(Order|Item)$/) > 12", "count(List<Shop.Order>) >= 1", "count(New) < +1")
        no = ("bytes(Shop.Order) > +10%", "bytes(Shop.Order) > 1100", "bytes(Shop.Order) > 1.1KB", "bytes(Shop.Order) >= 2K", "count(Shop.Item) > -2",
              "count(Shop.Item) < -2", "count(Shop.Item) < -50%", "count(New) < +1000000%", "bytes(Shop.Order) > 1100.5", "count(New) < +3",
              "count > 17", "count(Gone) < -100%", "count(List<*>) > +0", "count(List<*>) < -0", "bytes(Shop.Order) > 1.08K")
        self.assertEqual([e for e, x in zip(yes, self.exceeded(*yes[:-1])) if not x], [])
        self.assertEqual([e for e, x in zip(no, self.exceeded(*no)) if x], [])
        self.assertEqual(self.exceeded(yes[-1]), [False])        # three more are not less than one more

    def test_units(self):
        """A type with exactly this many bytes: neither more nor less."""
        for unit, size in (("", 1), ("B", 1), ("K", 1 << 10), ("KiB", 1 << 10), ("KB", 1000), ("M", 1 << 20), ("MiB", 1 << 20), ("MB", 10 ** 6),
                           ("G", 1 << 30), ("GiB", 1 << 30), ("GB", 10 ** 9)):
            self.put("new", types_trace(("Shop.Order", 3, size)))
            self.assertEqual(self.exceeded(f"bytes(Shop.Order) >= 3{unit}", f"bytes(Shop.Order) > 3{unit}", f"bytes(Shop.Order) <= 3 {unit}",
                                           f"bytes(Shop.Order) < 3{unit}"), [True, False, True, False], unit)

    def test_no_object_before_and_after_is_no_growth(self):
        self.put("empty", types_trace(("Other", 1, 24)))
        got = json.loads(self.done("diff", "empty", "empty", "--json", "--fail-if", "count(Other) >= +1%", "--fail-if", "count(Other) > +0%").text)
        self.assertEqual([t["exceeded"] for t in got["thresholds"]], [False, False])

    def test_a_line_each(self):
        run = self.done("diff", "old", "new", "-q", "--fail-if", "bytes(Shop.Order) > +5%", "--fail-if", "bytes > 1G",
                        "--fail-if=count(Shop.Item) < 4", "--fail-if=count(New)>0", code=4)
        self.assertEqual(run.lines, ["gcdumpc: threshold exceeded: bytes(Shop.Order) > +5%: 1,000 -> 1,100 (+100, +10.00%)",
                                     "gcdumpc: threshold exceeded: count(Shop.Item) < 4: 4 -> 2 (-2, -50.00%)",
                                     "gcdumpc: threshold exceeded: count(New)>0: 0 -> 3 (+3)"])
        self.assertEqual(run.text, self.done("diff", "old", "new").text)

    def test_all_types_count_whatever_is_shown(self):
        self.done("diff", "old", "new", "--top=1", "--filter=New", "--fail-if", "count(Shop.Order) > +0", code=4)

    def test_exceeded_and_incomplete(self):
        pair = (trace("net10-wks"), trace("net10-wks-lossy"))
        run = self.done("diff", *pair, "--fail-if", "bytes > 1", code=4)
        self.assertEqual((any("the dump is incomplete" in line for line in run.lines), "threshold exceeded" in run.lines[-1]), (True, True))
        self.done("diff", *pair, "--fail-if", "bytes > 1G", code=3)

    def test_trend_compares_first_and_last(self):
        self.done("trend", "old", "new", "old", "--fail-if", "bytes > +0", code=0)
        self.done("trend", "old", "old", "new", "--fail-if", "count(New) > +2", code=4)

    def test_types_that_are_not_there(self):
        """They count as 0, so a condition can say "there must be none"; a note reveals a misspelt name, whose threshold could never be exceeded."""
        for command, metric in (("diff", "count"), ("diff", "bytes"), ("trend", "count"), ("diff", "retained")):
            run = self.done(command, "old", "new", "--fail-if", f"{metric}(Shop.Ordre) > 0", code=0)
            note, = [line for line in run.lines if "Ordre" in line]
            self.assertEqual(note, 'gcdumpc: no dump has a type that matches "Shop.Ordre", so it counts as 0; near it: "Shop.Order"')
        run = self.done("diff", "old", "new", "-q", "--fail-if", "count(Shop.Ordre) > 0", "--fail-if", "count(Shop.Ordre) < 1", code=4)
        self.assertEqual(run.lines, ["gcdumpc: threshold exceeded: count(Shop.Ordre) < 1: 0 -> 0 (+0)"])
        rows = json.loads(self.done("diff", "old", "new", "--json", "--fail-if", "count(module(Nowhere)) > 0").text)["thresholds"]
        self.assertEqual(rows, [{"expression": "count(module(Nowhere)) > 0", "before": 0, "after": 0, "exceeded": False}])

    def test_a_name_that_no_dump_has_is_an_error(self):
        """Such a gate could never fail.  A pattern with * or "there must be none" may match nothing."""
        for command, expression in (("diff", "count(Shop.Ordre) > +0"), ("diff", "bytes(Shop.Ordre) > 5"), ("trend", "count(Shop.Ordre) >= +10%"),
                                    ("diff", "retained(Shop.Ordre) > 1M")):
            run = self.done(command, "old", "new", "-q", "--fail-if", expression, code=1)
            self.assertEqual((run.out, run.lines[-1:]), (b"", [f'gcdumpc: no dump has a type "Shop.Ordre", so "{expression}" checks nothing; '
                                                          'near it: "Shop.Order"; only a pattern with * may match nothing']))
        for expression in ("count(Shop.Ordre) > 0", "count(Shop.Ordre) >= 1", "count(Shop.Ordre*) > +0", "count(/Ordre/) > 5", "count(module(No)) > +0"):
            self.assertIn("so it counts as 0", self.done("diff", "old", "new", "--fail-if", expression, code=0).lines[-1])
        self.done("diff", "old", "new", "--fail-if", "count(Shop.Ordre) < 1", code=4)

    def test_short_names_mean_one_type(self):
        for name in ("Order", "order", "Shop.order".lower(), "List<Order>", "List<Shop.Order>"):
            self.done("diff", "old", "new", "--fail-if", f"bytes({name}) > 31", "--fail-if", f"count({name}) > 99", code=4)
        run = self.done("diff", "old", "new", "--fail-if", "count(Order) > +0", "--fail-if", "count(Item) > +0", code=4)
        self.assertEqual(run.lines, ["gcdumpc: threshold exceeded: count(Order) > +0: 10 -> 11 (+1, +10.00%)"])
        self.done("diff", "old", "new", "--fail-if", "count(orDer) > 0", code=0)        # a capital letter: case matters
        self.put("other", types_trace(("Shop.Order", 1, 100), ("Depot.Order", 5, 24), ("Item", 1, 8)))
        both = '"Depot.Order" or "Shop.Order"|"Shop.Order" or "Depot.Order"'
        for pair in (("old", "other"), ("other", "old"), ("other", "other")):
            run = self.done("diff", *pair, "--fail-if", "count(Order) > +0", code=1)
            self.assertRegex(run.lines[-1], rf'^gcdumpc: "Order" can mean ({both}); give the whole name, or for all of them a pattern with \*$')
            self.done("diff", *pair, "--fail-if", "count(*.Order) > 99", code=0)
            self.done("diff", *pair, "--filter", "Order", code=1)
        for pair, code in ((("old", "other"), 1), (("other", "old"), 0)):               # a whole name wins, unless a dump before had only a short one
            self.done("diff", *pair, "--fail-if", "count(Item) > 99", code=code)

    def test_a_type_of_one_dump(self):
        """No note when any of them has it."""
        for pair in (("old", "new"), ("new", "old")):
            self.assertNotIn(b"no dump has", self.done("diff", *pair, "--fail-if", "count(Gone) > 5").err)

    def test_errors_name_the_place(self):
        metrics, units = "count, bytes or retained", "B, K, M, G, KB, MB, GB, KiB, MiB or GiB"
        for text, position, expected in (
                ("", 1, metrics), ("bytez > 3", 1, metrics), ("  Bytes > 3", 3, metrics),
                ("bytes", 6, ">, >=, < or <="), ("bytes = 3", 7, ">, >=, < or <="), ("bytes(A) 3", 10, ">, >=, < or <="),
                ("bytes(A > 3", 12, '"\\)"'), ("bytes()> 3", 7, "a pattern for names of types"), ("bytes(  ) > 3", 9, "a pattern for names of types"),
                ("bytes >", 8, "a number"), ("bytes > x", 9, "a number"), ("bytes > +", 10, "a number"), ("bytes > ++3", 10, "a number"),
                ("bytes > .5", 9, "a number"), ("bytes > nan", 9, "a number"), ("bytes >> 3", 8, "a number"),
                ("bytes > 5.", 11, "a digit"), ("bytes > 5.M", 11, "a digit"), ("bytes > 1234567890123456", 9, "a number of at most 15 digits"),
                ("bytes > 10%", 11, 'a number without "%", or with a sign,'),
                ("bytes > 1T", 10, units), ("bytes > 1 kB", 11, units), ("bytes > 1e9", 10, units), ("bytes > 0x10", 10, units),
                ("count > 1K", 10, "the end"), ("bytes > +1%%", 12, "the end"), ("bytes > 1 M x", 13, "the end"),
                ("bytes > 1.2.3", 12, "the end"), ("bytes > 3 && count > 2", 11, "the end")):
            rest = ', not ".+"' if position <= len(text) else ""
            self.refused(2, rf'--fail-if ".*": {expected} is expected at character {position}{rest}', "diff", "a", "b", "--fail-if", text)
        self.refused(2, r'"/\(/" is not a regular expression: .*', "diff", "a", "b", "--fail-if", "bytes(/(/) > 3")
        self.refused(2, r"a pattern for names is longer than 10000 characters", "diff", "a", "b", "--fail-if", f"bytes({'x' * 10001}) > 3")
        self.refused(2, r'--fail-if "\?\[m": .*', "diff", "a", "b", "--fail-if", "\x1b[m")

    def test_how_many(self):
        words = 32 * ["--fail-if", "bytes > 1G"]
        self.done("diff", "old", "new", *words)
        self.refused(2, r"--fail-if can be given 32 times at most", "diff", "old", "new", *words, "--fail-if", "bytes > 1G")


if __name__ == "__main__":
    main()
