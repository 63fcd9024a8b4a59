"""tools/mutate: what the operators make of C code, how a sample is drawn, and the patches."""
import fnmatch
import os
import shutil
import sys
import tempfile
import unittest
import unittest.mock

ROOT = os.environ.get("GCDUMPC_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                        "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tools", "mutate"))
sys.dont_write_bytecode = True
import mutate                                                           # noqa: E402
import operators                                                        # noqa: E402
import patches                                                          # noqa: E402
import reach                                                            # noqa: E402


def made(body, operator=None):
    """The bodies that OPERATOR, or any, makes of BODY, with single spaces."""
    head, tail = "int f(void)\n{\n", "\n}\n"
    text = head + body + tail
    found = operators.mutants_of("src/x/y.c", text)
    return {" ".join(m.apply(text)[len(head):-len(tail)].split()) for m in found
            if operator in (None, m.operator)}


class Operators(unittest.TestCase):
    def test_comparisons_and_boundaries(self):
        self.assertEqual(made("return a < b;", "comparison"), {"return a >= b;"})
        self.assertEqual(made("return a < b;", "boundary"), {"return a <= b;"})
        self.assertEqual(made("return a != b;", "comparison"), {"return a == b;"})
        self.assertEqual(made("return a != b;", "boundary"), set())

    def test_statements_are_dropped(self):
        self.assertEqual(made("g(a); x->n = h(b);\nn++;", "statement"),
                         {"; x->n = h(b); n++;", "g(a); ; n++;", "g(a); x->n = h(b); ;"})
        self.assertEqual(made("while (a)\n    break;", "statement"), {"while (a) ;"})
        self.assertEqual(made("switch (a) {\ncase 1:\n    g(a);\n}", "statement"),
                         {"switch (a) { case 1: ; }"})
        self.assertEqual(made("for (i = 0; i < n; i++)\n    g(i);", "statement"),
                         {"for (i = 0; i < n; i++) ;"})
        self.assertEqual(made("out:\n    g(a);", "statement"), {"out: ;"})

    def test_error_paths_are_ignored(self):
        self.assertEqual(made("GCD_TRY(g(a, err));", "error"), {"(void)(g(a, err));"})
        self.assertEqual(made("if (st != 0)\n    return st;", "error"), {"if (st != 0) ;"})
        self.assertEqual(made("if (a) {\n    g();\n    goto out;\n}", "error"),
                         {"if (a) { g(); ; }"})
        self.assertEqual(made("if (a)\n    return gcd_fail(err, 1, \"no\");", "error"),
                         {"if (a) ;"})
        self.assertEqual(made("return st;", "error"), set())        # nothing would be returned

    def test_arguments_and_fields(self):
        self.assertEqual(made("g(a, b(c, 1), a);", "arguments"),
                         {"g(b(c, 1), a, a);", "g(a, a, b(c, 1));", "g(a, b(1, c), a);"})
        self.assertEqual(made("s = (struct s){ .a = x, .b = y };", "field"),
                         {"s = (struct s){ .b = y };", "s = (struct s){ .a = x };"})

    def test_arguments_that_commute_stay(self):
        self.assertEqual(made("return memcmp(a, b, n) == 0;", "arguments"),
                         {"return memcmp(a, n, b) == 0;"})
        self.assertEqual(made("return strcmp(a, b);", "arguments"), {"return strcmp(b, a);"})
        self.assertEqual(made("p = gcd_mem_new_array(a, n, k);", "arguments"),
                         {"p = gcd_mem_new_array(n, a, k);"})

    def test_constants(self):
        self.assertEqual(made("a = 0x1fu;", "constant"), {"a = 0x20u;", "a = 0x1eu;"})
        self.assertEqual(made("a = 0;", "constant"), {"a = 1;"})
        self.assertEqual(made("a = 1.5;", "constant"), {"a = (1.5 * 2);"})
        self.assertEqual(made("return true;", "constant"), {"return false;"})

    def test_conditions_are_negated_and_forced(self):
        self.assertEqual(made("if (a)\n    g();", "condition"),
                         {"if (!(a)) g();", "if (true) g();", "if (false) g();"})
        self.assertEqual(made("while (a)\n    g();", "condition"),
                         {"while (!(a)) g();", "while (false) g();"})
        self.assertEqual(made("g(a ? b : c ? d : e, x);", "condition"),
                         {"g(a ? c ? d : e : b, x);", "g(a ? b : c ? e : d, x);"})

    def test_logical_operators_and_their_operands(self):
        self.assertEqual(made("return a && !b || c;", "logical"),
                         {"return a || !b || c;", "return a || c;", "return !b || c;",
                          "return a && b || c;", "return a && !b && c;", "return a && !b ;",
                          "return c;"})

    def test_bits_and_arithmetic(self):
        self.assertEqual(made("return a | ~b;", "bits"),
                         {"return a & ~b;", "return ~b;", "return a ;", "return a | b;"})
        self.assertEqual(made("g(&a, *b, -c);\n*p = d;", "bits"), set())
        self.assertEqual(made("g(&a, *b, -c);\n*p = d;", "arithmetic"), set())
        self.assertEqual(made("if (a)\n    *p = d;", "arithmetic"), set())
        self.assertEqual(made("a <<= b & c;", "bits"), {"a >>= b & c;", "a <<= b | c;"})
        self.assertEqual(made("a += b * c;\nd++;", "arithmetic"),
                         {"a -= b * c; d++;", "a += b / c; d++;", "a += b * c; d--;"})
        self.assertEqual(made("for (;; i++) g();", "arithmetic"), set())      # would only hang

    def test_what_stays_as_it_is(self):
        for body in ("/* if (a < 1) return b + 2; */", "// a < 1;", 'const char *a = "a < 1 && b";',
                     "#if 1 < 2 && defined X\n#endif", "int *a, b[1 << 2], c;", "char c = '<';",
                     "_Static_assert(1 < 2, \"\");", "return sizeof(a + 1);",
                     "uint32_t n;", "struct x *y;", "switch (a) {\ncase 1 + 2:\n}", "(void)a;"):
            self.assertEqual(made(body), set(), body)
        self.assertEqual(made("int a[2], b = c + 1;"), {"int a[2], b = c - 1;",
                                                        "int a[2], b = c + 2;",
                                                        "int a[2], b = c + 0;"})
        text = "#define A(x) ((x) < 1)\nint a[1 + 2] = { 3 };\nstruct s { int b : 4; };\n"
        self.assertEqual(operators.mutants_of("src/x/y.c", text), [])

    def test_a_mutant_keeps_the_line_numbers(self):
        text = "int f(void)\n{\n    g(a,\n      b);\n    if (a &&\n        b)\n        h();\n}\n"
        for m in operators.mutants_of("src/x/y.c", text):
            self.assertEqual(m.apply(text).count("\n"), text.count("\n"), m.name)

    def test_all_operators_find_something_in_the_product(self):
        found, files = set(), 0
        for folder, _, names in os.walk(os.path.join(ROOT, "src", "heap")):
            for name in sorted(names):
                if name.endswith(".c"):
                    path, files = os.path.join(folder, name), files + 1
                    mutants = operators.mutants_of(os.path.relpath(path, ROOT), mutate.read(path))
                    found |= {m.operator for m in mutants}
        self.assertGreater(files, 5)
        self.assertEqual(found, set(operators.OPERATORS))


class Sample(unittest.TestCase):
    def draw(self, seed, count):
        text = "".join(f"int f{i}(int a)\n{{\n    return a < {i} && g(a + {i}, {i});\n}}\n"
                       for i in range(40))
        mutants = operators.mutants_of("src/x/y.c", text)
        return [m.digest() for m in mutate.draw(mutants, seed, count)]

    def test_the_seed_decides(self):
        self.assertEqual(self.draw("7", 20), self.draw("7", 20))
        self.assertNotEqual(self.draw("7", 20), self.draw("8", 20))

    def test_a_larger_sample_begins_with_the_smaller_one(self):
        self.assertEqual(self.draw("7", 30)[:20], self.draw("7", 20))
        self.assertEqual(len(set(self.draw("7", 1000))), 40)        # one for each line

    def test_a_result_survives_a_new_layout_but_no_other_change(self):
        def digests(text):
            return {m.digest() for m in operators.mutants_of("src/x/y.c", text)}
        before = digests("int f(int a)\n{\n    return a < 1;\n}\n")
        self.assertEqual(before, digests("\n\nint f(int a)\n{\n    return\n        a < 1;\n}\n"))
        self.assertFalse(before & digests("int f(int a)\n{\n    return 2 + (a < 1);\n}\n"))

    @unittest.skipUnless(shutil.which("git"), "no git on this machine")
    def test_a_date_means_its_midnight(self):
        with tempfile.TemporaryDirectory() as d, unittest.mock.patch.object(mutate, "ROOT", d):
            mutate.git("init", "-q")
            for when in ("2026-01-01T23:59:59", "2026-01-02T00:00:01"):
                with unittest.mock.patch.dict(os.environ, GIT_COMMITTER_DATE=when):
                    mutate.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q",
                               "--allow-empty", "-m", when)
            newest = mutate.git("rev-parse", "HEAD").strip()
            self.assertEqual(mutate.commits_since("2026-01-02"), {newest, "0" * 40})

    def test_every_folder_has_tests(self):
        plan = mutate.read_plan(os.path.join(ROOT, "tools", "mutate", "tests.txt"))
        for top in ("src", "ipc"):
            for folder, _, names in os.walk(os.path.join(ROOT, top)):
                if any(name.endswith(".c") for name in names):
                    self.assertTrue(mutate.plan_of(plan, os.path.relpath(folder, ROOT)), folder)

    def test_every_test_has_a_folder(self):
        """A test that tests.txt does not name kills nothing."""
        plan = mutate.read_plan(os.path.join(ROOT, "tools", "mutate", "tests.txt"))
        patterns = {p.partition(":")[0] for patterns in plan.values() for p in patterns}
        missing = []
        for kind, begin in (("unit", "test_"), ("sweep", "sweep_"), ("fuzz", "fuzz_"),
                            ("cli", "test_"), ("golden", "test_")):
            names = {f"{kind}/{file.partition('.')[0]}"
                     for file in os.listdir(os.path.join(ROOT, "tests", kind))
                     if file.startswith(begin) and file.endswith((".c", ".py"))}
            missing += [name for name in sorted(names)
                        if not any(fnmatch.fnmatch(name, p) for p in patterns)]
        self.assertEqual(missing, [])


class Reached(unittest.TestCase):
    def test_ranges(self):
        found = reach.ranges({9, 1, 3, 2, 5})
        self.assertEqual(found, [1, 3, 5, 5, 9, 9])
        self.assertEqual([n for n in range(12) if reach.touches(found, n, n)], [1, 2, 3, 5, 9])
        self.assertTrue(reach.touches(found, 6, 9))
        self.assertFalse(reach.touches(found, 6, 8))

    def test_a_mutant_knows_where_its_statement_begins(self):
        text = "int f(void)\n{\n    if (a)\n        g(b,\n          c + 1);\n}\n"
        self.assertEqual({(m.operator, m.line, m.statement)
                          for m in operators.mutants_of("src/x/y.c", text)},
                         {("condition", 3, 3), ("statement", 4, 4), ("arguments", 4, 4),
                          ("arithmetic", 5, 4), ("constant", 5, 4)})

    def test_the_tests_of_a_mutant(self):
        r = reach.Reach.__new__(reach.Reach)
        r.entries = {test: {"files": {"a.c": ("", [3, 4, 8, 8], run)}, "seconds": 1, "size": n}
                     for n, (test, run) in enumerate({"one": [3, 4], "two": [8, 8]}.items())}
        self.assertEqual(r.reaching("a.c", 4, 4), ["one"])
        self.assertEqual(r.reaching("a.c", 4, 8), ["one", "two"])
        self.assertEqual(r.reaching("a.c", 6, 7), ["one"])         # no code there: as before it
        self.assertEqual(r.reaching("a.c", 9, 9), ["two"])
        self.assertEqual((r.reaching("a.c", 1, 2), r.reaching("b.c", 3, 3)), ([], []))
        self.assertLess(r.cost("one"), r.cost("two"))


class Patches(unittest.TestCase):
    def test_they_fit_the_source(self):
        """If the product changes where a patch is, the patch changes in the same commit."""
        found = patches.read(os.path.join(ROOT, "tools", "mutate", "patches.txt"))
        self.assertEqual(patches.check(ROOT, found), [])
        self.assertLessEqual(len(found), 100)
        self.assertGreaterEqual(len(found), 50)

    def test_a_stale_one_is_found(self):
        def parse(hunk):
            return patches.parse(f"name: src/x/y.c\n{hunk}\n", "patches")[0]
        source = "int f(int a)\n{\n    return a < 1 ||\n        a > 2;\n}\n" \
                 "int g(int a) { return a < 1; }\n"
        self.assertIn("a <= 1 || a > 2", parse("-a < 1 || a > 2\n+a <= 1 || a > 2").apply(source))
        self.assertIn("g(int a) {\nreturn true; }",
                      parse(" g(int a) {\n-return a < 1;\n+return true;").apply(source))
        for hunk, why in (("-a < 1\n+a", "2 times"), ("-a < 3\n+a", "0 times"),
                          ("-a > 2\n+a  >  2", "the same"), ("+a", "no text")):
            with self.assertRaisesRegex(patches.Stale, why):
                parse(hunk).apply(source)
        with tempfile.TemporaryDirectory() as d:
            os.makedirs(os.path.join(d, "src", "x"))
            with open(os.path.join(d, "src", "x", "y.c"), "w", encoding="utf-8") as f:
                f.write(source)
            wrong = patches.check(d, [parse("-a > 2\n+a > 3"), parse("-a > 2\n+a > 4")])
            self.assertEqual(len(wrong), 1, wrong)                     # the name is taken twice


if __name__ == "__main__":
    unittest.main()
