"""gcdumpc sql: the same answers as the exported database, for known and random questions; output, the prompt, wrong and endless statements."""
import csv
import fcntl
import io
import json
import os
import random
import re
import select
import signal
import sqlite3
import subprocess
import termios
import unittest

from cli_support import HAVE_SQLITE, INCOMPLETE, PROGRAM, SANITIZED, SECONDS, SOURCE, CliTest, main, trace, types_trace
from terminal import Terminal

LONG = os.environ.get("GCDUMPC_LONG") == "1"
BUNDLED = sorted(n for n in os.listdir(os.path.join(SOURCE, "traces")) if os.path.exists(trace(n)))
ENDLESS = "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT max(x) FROM a"
QUESTIONS = 100 if not SANITIZED else 25
# What gcdumpc sql has besides the tables of the database.
MORE = """
CREATE TEMP VIEW refs AS SELECT from_id AS source, to_id AS target, slot AS ordinal FROM main.edges;
CREATE TEMP VIEW statics AS SELECT id, class, name, label, address, object_id, type_id FROM main.roots WHERE kind = 'static';
CREATE TEMP VIEW objects AS SELECT o.id, o.type_id, o.size_bytes, o.address, o.generation, t.name AS type, d.retained_bytes, d.parent_id,
    o.size_bytes AS size, d.retained_bytes AS retained, d.parent_id AS dominator
    FROM main.objects o JOIN main.types t ON t.id = o.type_id LEFT JOIN main.dominators d ON d.object_id = o.id;
"""


def documented():
    """The statements of tools/doc/sql.md: the numbered ones, and the others."""
    with open(os.path.join(SOURCE, "tools", "doc", "sql.md"), encoding="utf-8") as f:
        blocks = re.findall(r"^(\d+\. .*?|[^\n]*)\n\n```sql\n(.*?)```", f.read(), re.M | re.S)
    return [sql for title, sql in blocks if title[:1].isdigit()], [sql for title, sql in blocks if not title[:1].isdigit()]


def cpu(process):
    """The processor time used, in hundredths of a second."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii", errors="replace") as f:
        return sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))


class Questions:
    """Random joins and filters, from the values that are there."""
    COLUMNS = {
        "objects": ["id", "type_id", "size_bytes", "address", "generation", "type", "retained_bytes", "parent_id", "size", "dominator"],
        "types": ["id", "name", "module", "module_id", "method_table", "flags", "element_type", "objects", "bytes"],
        "edges": ["from_id", "slot", "to_id"], "refs": ["source", "target", "ordinal"],
        "dominators": ["object_id", "parent_id", "retained_bytes"],
        "roots": ["id", "kind", "root_group", "flags", "name", "address", "object_id", "type_id", "label"],
        "statics": ["id", "name", "object_id", "type_id"],
        "dependent_handles": ["id", "key_id", "value_id"], "ranges": ["id", "generation", "start", "used_bytes"],
        "facts": ["key", "value"], "v_dominated": ["object_id", "dominated_id", "type", "retained_bytes"],
        "v_who_references": ["object_id", "via", "from_id", "slot", "from_type"],
    }
    OBJECT = {"objects": ["id", "parent_id", "dominator"], "edges": ["from_id", "to_id"], "refs": ["source", "target"],
              "dominators": ["object_id", "parent_id"], "roots": ["object_id"], "statics": ["object_id"],
              "dependent_handles": ["key_id", "value_id"], "v_dominated": ["object_id", "dominated_id"], "v_who_references": ["object_id"]}
    TYPE = {"objects": ["type_id"], "types": ["id"], "roots": ["type_id"]}
    NAME = {"objects": ["type"], "types": ["name"], "v_dominated": ["type"]}

    def __init__(self, db, seed):
        self.random = random.Random(seed)
        self.values = {(t, c): [r[0] for r in db.execute(f"SELECT DISTINCT {c} FROM {t} LIMIT 400")]
                       for t, columns in self.COLUMNS.items() for c in columns}

    def literal(self, v):
        r = self.random.random()
        if v is None or r < 0.03:
            return "NULL"
        if isinstance(v, str):
            return "'" + v.replace("'", "''") + "'" if r < 0.95 else str(self.random.randrange(100))
        if r < 0.06:
            return f"'{v}'"              # a text that is a number
        if r < 0.09 and abs(v) < 2**53:
            return f"{v}.0" if r < 0.08 else f"{v}.5"
        return str(v + self.random.choice((-1, 0, 0, 0, 0, 0, 1))) if r < 0.97 else str(self.random.choice((-1, 2**63 - 1, -2**63, 2**40)))

    def filter(self, alias, table):
        column = self.random.choice(self.COLUMNS[table])
        known = self.values[table, column] or [None]
        def pick():
            return self.literal(self.random.choice(known))
        kind = self.random.randrange(10)
        name = f"{alias}.{column}"
        if kind < 5:
            return f"{name} {self.random.choice(('=', '=', '=', '==', 'IS'))} {pick()}"
        if kind == 5:
            return f"{name} IN ({', '.join(pick() for _ in range(self.random.randrange(1, 6)))})"
        if kind == 6:
            return f"{name} {self.random.choice(('<', '>', '<=', '>=', '<>', 'IS NOT'))} {pick()}"
        if kind == 7:
            return f"{name} BETWEEN {pick()} AND {pick()}"
        if kind == 8:
            return f"{name} = {pick()} COLLATE NOCASE" if isinstance(known[0], str) else f"{name} IS NOT NULL"
        return f"{name} LIKE '%{self.random.choice('aeiSL.[]')}%'"

    def statement(self):
        r = self.random
        tables, on = [r.choice(list(self.COLUMNS))], []
        for _ in range(r.choice((0, 0, 1, 1, 1, 2, 2))):
            keys = r.choice((self.OBJECT, self.OBJECT, self.TYPE, self.NAME))
            with_keys = [i for i, t in enumerate(tables) if t in keys]
            if not with_keys:
                continue
            i, other = r.choice(with_keys), r.choice(list(keys))
            on.append(f"t{len(tables)}.{r.choice(keys[other])} = t{i}.{r.choice(keys[tables[i]])}")
            tables.append(other)
        self.join = " FROM " + " ".join(f"{'' if i == 0 else 'JOIN '}{t} t{i}{'' if i == 0 else ' ON ' + on[i - 1]}" for i, t in enumerate(tables))
        parts = [f"{tables[0]} t0"] + [f"{r.choice(('JOIN', 'JOIN', 'LEFT JOIN'))} {t} t{i} ON {on[i - 1]}" for i, t in enumerate(tables) if i > 0]
        where = [self.filter(f"t{i}", t) for i, t in enumerate(tables) if r.random() < (0.9 if i == 0 else 0.4)]
        some = [f"t{i}.{c}" for i, t in enumerate(tables) for c in r.sample(self.COLUMNS[t], min(2, len(self.COLUMNS[t])))]
        text = " FROM " + " ".join(parts) + (" WHERE " + f" {r.choice(('AND', 'AND', 'OR'))} ".join(where) if where else "")
        kind = r.randrange(4)
        if kind == 0:
            return f"SELECT count(*), count(DISTINCT {some[0]}), min({some[-1]}), max({some[0]}), total({some[-1]})" + text
        if kind == 1:
            return f"SELECT {some[0]}, count(*), max({some[-1]})" + text + f" GROUP BY {some[0]} ORDER BY 1, 2, 3 LIMIT 30"
        if kind == 2:
            return f"SELECT DISTINCT {some[0]}" + text + f" ORDER BY {some[0]} {r.choice(('', 'DESC'))} LIMIT 30"
        return f"SELECT {', '.join(some)}" + text + f" ORDER BY {', '.join(map(str, range(1, len(some) + 1)))} LIMIT 30"


@unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
class SqlTest(CliTest):
    def database(self, name):
        """The export of a bundled recording, with what gcdumpc sql has besides."""
        path = self.path(name + ".sqlite")
        if not os.path.exists(path):
            self.done("convert", self.link(name), "-q", "-o", path, code=3 if name in INCOMPLETE else 0)
        db = sqlite3.connect(path)
        self.addCleanup(db.close)
        db.executescript(MORE)
        return db

    def ask(self, name, *statements, code=None):
        """(columns, rows) of each."""
        code = code if code is not None else 3 if name in INCOMPLETE else 0
        text = self.done("sql", self.link(name), "-q", "--json", "--file", "-", data=";\n".join(statements).encode(), code=code).text
        found, decoder = [], json.JSONDecoder()
        while text:
            document, end = decoder.raw_decode(text)
            self.assertEqual((document["schema"], document["recording"]), (2, self.link(name)))
            self.assertEqual(document["verdict"]["complete"], name not in INCOMPLETE)
            found.append((document["columns"], [tuple(r) for r in document["rows"]]))
            text = text[end:].lstrip()
        return found

    def compare(self, name, db, statements):
        for statement, (columns, rows) in zip(statements, self.ask(name, *statements), strict=True):
            cursor = db.execute(statement)
            self.assertEqual([c[0] for c in cursor.description], columns, statement)
            want = [tuple(r) for r in cursor.fetchall()]
            different = [(w, g) for w, g in zip(want, rows) if w != g][:2]      # unittest needs minutes to print the difference of two large lists
            self.assertEqual((len(want), different), (len(rows), []), f"{name}: {statement}")


class Answers(SqlTest):
    def test_documented_questions(self):
        numbered, others = documented()
        self.assertEqual((len(numbered), len(others)), (10, 1))
        for name in ("net10-wks-ranges", "net10-wks", "net8-svr", "net10-wks-lossy"):
            db = self.database(name)
            self.compare(name, db, numbered)
        rows = [len(r) for _, r in self.ask("net10-wks-ranges", *numbered)]
        self.assertTrue(all(rows[:9]), rows)             # each has an answer there
        self.assertEqual(rows[9], 0)                     # but for the last: what no root reaches there is frozen
        self.assertTrue(self.ask("net10-wks", numbered[9])[0][1])          # that is not known without ranges
        run = self.done("sql", self.link("net10-wks-ranges"), others[0]).text
        self.assertIn("static variable", run)
        self.assertIn("System.Object[]", run)

    def test_whole_tables(self):
        """Each row and column of the database, by scan."""
        for name in ("net10-wks-ranges", "net9-svr", "net10-wks-lossy"):
            db = self.database(name)
            statements = ["SELECT * FROM types", "SELECT id, type_id, size_bytes, address, generation FROM objects", "SELECT * FROM edges ORDER BY 1, 2",
                          "SELECT * FROM roots", "SELECT * FROM dependent_handles", "SELECT * FROM ranges", "SELECT * FROM dominators",
                          "SELECT * FROM facts ORDER BY key", "SELECT id, type, retained_bytes, parent_id, size, retained, dominator FROM objects",
                          "SELECT * FROM refs ORDER BY 1, 3", "SELECT * FROM statics"]
            views = [r[0] for r in db.execute("SELECT name FROM main.sqlite_schema WHERE type = 'view' ORDER BY name")]
            self.assertEqual(len(views), 9)
            statements += [f"SELECT * FROM (SELECT * FROM {v}) ORDER BY {', '.join(map(str, range(1, 4)))}, 2"
                           for v in views if v not in ("v_who_references", "v_largest_retained", "v_dominated")]
            statements += ["SELECT * FROM v_who_references ORDER BY 1, 2, 3, 4, 5", "SELECT * FROM v_dominated ORDER BY 2",
                           "SELECT * FROM v_largest_retained ORDER BY retained_bytes DESC, object_id"]
            self.compare(name, db, statements)

    def test_random_questions(self):
        for number, name in enumerate(BUNDLED if LONG else BUNDLED[::3]):
            db = self.database(name)
            questions, chosen = Questions(db, number), []
            while len(chosen) < QUESTIONS:
                statement = questions.statement()
                db.set_progress_handler(lambda left=iter(range(10)): next(left, None) is None, 100_000)
                try:                                     # some have millions of rows, which take each of both long in another case
                    if db.execute(f"SELECT count(*) FROM (SELECT 1 {questions.join} LIMIT 100001)").fetchone()[0] <= 100_000:
                        db.execute(statement).fetchall()
                        chosen.append(statement)
                except sqlite3.OperationalError as e:
                    self.assertIn("interrupted", str(e), statement)
            db.set_progress_handler(None, 0)
            self.compare(name, db, chosen)

    def test_lookups_are_no_scans(self):
        """What EXPLAIN QUERY PLAN calls index 0 is a scan of all rows."""
        lookups = ["objects WHERE id = 5", "objects WHERE rowid = 5", "objects WHERE address = 5", "objects WHERE type = 'x'", "objects WHERE type_id = 5",
                   "objects WHERE dominator = 5", "objects WHERE parent_id = 5", "types WHERE id = 5", "types WHERE name = 'x'", "objects WHERE type IS 'x'", "objects WHERE parent_id IS 5",
                   "refs WHERE source = 5", "refs WHERE target = 5", "edges WHERE to_id = 5", "dominators WHERE object_id = 5",
                   "dominators WHERE parent_id = 5", "roots WHERE object_id = 5", "roots WHERE id = 5", "dependent_handles WHERE key_id = 5",
                   "dependent_handles WHERE value_id = 5", "objects WHERE id IN (5, 6)"]
        scans = ["objects", "objects WHERE size = 5", "objects WHERE id > 5", "objects WHERE type = 'x' COLLATE NOCASE", "refs WHERE ordinal = 5", "edges"]
        plans = self.ask("net10-wks", *(f"EXPLAIN QUERY PLAN SELECT * FROM {q}" for q in lookups + scans))
        for question, (_, rows) in zip(lookups + scans, plans, strict=True):
            self.assertEqual(len(rows), 1, rows)
            self.assertEqual(rows[0][3].endswith("INDEX 0:"), question in scans, (question, rows))

    def test_order_costs_nothing(self):
        ordered = ["objects ORDER BY id", "edges ORDER BY from_id, slot", "refs ORDER BY source, ordinal", "types ORDER BY id", "types ORDER BY name",
                   "objects GROUP BY type", "objects GROUP BY type_id", "objects ORDER BY type DESC", "objects ORDER BY type_id DESC", "objects WHERE type_id = 5 ORDER BY id", "objects WHERE dominator = 5 ORDER BY id",
                   "roots ORDER BY id", "edges WHERE to_id = 5 ORDER BY from_id, slot", "refs GROUP BY target", "edges ORDER BY to_id, from_id",
                   "dominators GROUP BY parent_id", "dominators ORDER BY parent_id, object_id", "dominators ORDER BY object_id"]
        sorted_ = ["objects ORDER BY id DESC", "objects ORDER BY size", "edges ORDER BY slot", "facts ORDER BY key", "objects ORDER BY type_id DESC, id"]
        plans = self.ask("net10-wks", *(f"EXPLAIN QUERY PLAN SELECT 1 FROM {q}" for q in ordered + sorted_))
        for question, (_, rows) in zip(ordered + sorted_, plans, strict=True):
            self.assertEqual(any("TEMP B-TREE" in r[3] for r in rows), question in sorted_, (question, rows))

    def test_groups_downwards(self):
        """What SQLite asks for if the result has another order: groups must come complete, and in this order if the result has it, too."""
        for column in ("type", "type_id"):
            groups = f"SELECT {column}, count(*), min(id) FROM objects GROUP BY {column}"
            (_, up), (_, down), (_, by_count), (_, plan) = self.ask(
                "net10-wks", groups, f"{groups} ORDER BY {column} DESC", f"{groups} ORDER BY 2 DESC", f"EXPLAIN QUERY PLAN {groups} ORDER BY 2 DESC")
            self.assertEqual(down, up[::-1])
            self.assertEqual(sorted(by_count), sorted(up))
            self.assertEqual([r[3] for r in plan if "GROUP BY" in r[3]], [])

    def test_what_the_database_does_not_have(self):
        name = "net10-wks-ranges"
        db = self.database(name)
        (_, depths), (_, names), (_, paths), (_, reached), (_, modules) = self.ask(
            name, "SELECT depth, count(*) FROM objects GROUP BY depth ORDER BY 1", "SELECT id FROM types WHERE type_name(id) IS NOT name",
            "SELECT o.id, o.depth, p.step, p.object_id, p.type, p.root FROM objects o, path_from_root(o.id) p WHERE o.id % 500 = 0",
            "SELECT o.id, r.object_id FROM objects o, reachable_from(o.id) r WHERE o.id % 2500 = 7", "SELECT path FROM modules")
        self.assertEqual(names, [])
        dead = db.execute("SELECT count(*) FROM v_unreachable").fetchone()[0]
        frozen = db.execute("SELECT count(*) FROM objects WHERE generation IS NULL AND id NOT IN (SELECT object_id FROM dominators)").fetchone()[0]
        self.assertGreater(frozen, 0)                            # literals: no root leads to them, but they are not dead
        self.assertEqual(depths[0], (None, dead + frozen))
        strong = db.execute("SELECT count(DISTINCT object_id) FROM roots WHERE root_group <> 'weak_handles' AND flags & 2 = 0").fetchone()[0]
        self.assertEqual([d for d, _ in depths[1:]], list(range(len(depths) - 1)))
        self.assertLessEqual(depths[1][1], strong)
        edges = {}
        for source, target in db.execute("SELECT from_id, to_id FROM edges UNION SELECT key_id, value_id FROM dependent_handles"):
            edges.setdefault(source, set()).add(target)
        self.assertGreater(len(paths), 30)
        for i, (start, depth, step, node, kind, root) in enumerate(paths):
            self.assertEqual(root is not None, step == 0)
            if step > 0:
                self.assertIn(node, edges[paths[i - 1][3]])
            if step == depth:
                self.assertEqual(node, start)
        for start in {s for s, _ in reached}:
            found, queue = {start}, [start]
            for at in queue:
                queue.extend(edges.get(at, set()) - found)
                found.update(queue)
            self.assertEqual(sorted(n for s, n in reached if s == start), sorted(found))
        self.assertEqual({m[0] for m in modules if m[0]} >= {r[0] for r in db.execute("SELECT DISTINCT module FROM types WHERE module_id <> 0 AND module <> ''")}, True)

    def test_suspects_are_those_of_leaks(self):
        """In all bundled recordings; those of the shop have some."""
        columns = {"kind": "kind", "title": "title", "sentence": "sentence", "advice": "advice", "type": "type_name(type_id)", "node": "object_id",
                   "objects": "objects", "shallow_bytes": "shallow_bytes", "bytes": "bytes", "retained_bytes": "retained_bytes", "share": "share",
                   "overlaps": "overlaps", "owner": "type_name(owner_type_id)"}
        statement = f"SELECT {', '.join(columns.values())} FROM suspects ORDER BY id"
        shop = os.path.join(SOURCE, "traces", "shop")
        counts = {}
        for path in [*map(trace, BUNDLED), *(os.path.join(shop, name) for name in sorted(os.listdir(shop)) if name.endswith(".nettrace.gz"))]:
            leaks, rows = (self.gcdumpc(*words, "--json", "-q") for words in (("leaks", path), ("sql", path, statement)))
            self.assertEqual((leaks.code, rows.code), (leaks.code, leaks.code), (path, rows.err))
            want = [[s[k] for k in columns] for s in json.loads(leaks.text)["suspects"]]
            self.assertEqual(json.loads(rows.text)["rows"], want, path)
            counts[os.path.basename(path)] = len(want)
        self.assertGreaterEqual(counts["evening.nettrace.gz"], 2)

    def test_sampled_allocations(self):
        recording = os.path.join(SOURCE, "traces", "sites", "leaks.nettrace.gz")
        rows = lambda sql: json.loads(self.done("sql", recording, "--json", sql).text)["rows"]    # noqa: E731
        sites = json.loads(self.done("sites", recording, "--json").text)["sites"]
        same = {"objects": "count", "allocated_objects": "allocated_count"}
        columns = ["type", "method", "file", "line", "objects", "bytes", "allocated_objects", "allocated_bytes", "samples", "alive_samples", "dead_samples",
                   "lost_samples"]
        want = sorted([s[same.get(c, c)] for c in columns] for s in sites)
        self.assertEqual(sorted(rows(f"SELECT {', '.join(columns)} FROM sites WHERE alive_samples > 0")), want)
        self.assertEqual(rows("SELECT count(*), sum(o.size_bytes = s.size_bytes), sum(o.address = s.address), sum(o.type = sites.type), "
                              "sum(stack LIKE '%' || method || '%') FROM samples s JOIN objects o ON o.id = s.object_id JOIN sites ON sites.id = s.site_id"),
                         [[162, 162, 162, 162, 162]])
        self.assertEqual(rows("SELECT DISTINCT stack FROM samples JOIN sites ON sites.id = site_id WHERE line = 83"),
                         [["SiteLab.Archive.Keep (/src/SiteLab/SiteLab.cs:83) < SiteLab.Program.Main (/src/SiteLab/SiteLab.cs:150)"]])
        self.assertEqual(self.ask("net10-wks", "SELECT count(*) FROM sites", "SELECT count(*) FROM samples")[0][1], [(0,)])

    def test_values_of_other_kinds(self):
        """Values compare as in SQLite: a text that is a number is one, other texts and NULL equal nothing."""
        db = self.database("net10-wks")
        keys = ["'5'", "5.0", "5.5", "NULL", "'x'", "x'35'", "-1", "1e300", "9223372036854775807", "17645", "17646", "''", "'5 '", "' 5'", "0"]
        statements = [f"SELECT count(*) FROM {t} WHERE {c} = {k}" for k in keys
                      for t, c in (("objects", "id"), ("objects", "type_id"), ("objects", "type"), ("objects", "parent_id"), ("objects", "address"),
                                   ("edges", "from_id"), ("edges", "to_id"), ("types", "name"), ("roots", "object_id"), ("types", "id"))]
        self.compare("net10-wks", db, statements)


    def test_keys_that_are_null_or_between_two(self):
        """For example IS with a value known only at run time: it finds rows without a value, which a look-up does not."""
        name = "net10-wks"
        statements = ["SELECT count(*) FROM objects WHERE parent_id IS (SELECT NULL)", "SELECT count(*) FROM roots WHERE object_id IS (SELECT NULL)",
                      "SELECT count(*) FROM objects a JOIN objects b ON a.parent_id IS b.parent_id WHERE b.id = "
                      "(SELECT min(id) FROM objects WHERE parent_id IS NULL)"]
        self.compare(name, self.database(name), statements)
        self.assertGreater(self.ask(name, statements[0])[0][1][0][0], 100)
        for value, rows in (("0.0", 1), ("0.5", 0), ("-0.5", 0), ("1e300", 0)):
            (_, reached), (_, named) = self.ask(name, f"SELECT count(*) FROM reachable_from({value})",
                                                f"SELECT type_name({value}) IS NOT NULL, path_from_root({value}) IS NOT NULL")
            self.assertEqual((reached[0][0] > 0, named), (rows > 0, [(rows, rows)]), value)


class Output(SqlTest):
    def test_table(self):
        name = self.link("net10-wks")
        text = self.done("sql", name, "SELECT 1 AS one, 'text' AS t, NULL AS n, x'01ff' AS b, 0.5 AS r UNION ALL SELECT 1234567, 'a', 5, 6, -7.25").text
        self.assertEqual(text, "    one  t     n  b            r\n      1  text     X'01ff'    0.5\n1234567  a     5  6        -7.25\n")
        self.assertEqual(self.done("sql", name, "SELECT id, type FROM objects WHERE id < 0").text, "id  type\n")
        self.assertEqual(self.done("sql", name, "SELECT 1 AS a; ; SELECT 2 AS b").text, "a\n1\nb\n2\n")
        self.assertEqual(self.done("sql", name, "; -- nothing").out, b"")

    def test_long_tables_are_cut_into_several(self):
        lines = self.done("sql", self.link("net10-wks"), "SELECT id FROM objects").text.splitlines()
        self.assertEqual((lines[0], len(lines)), ("  id", 17646 + 2))
        self.assertEqual([i for i, line in enumerate(lines) if line.strip() == "id"], [0, 10001])
        self.assertEqual([int(line) for line in lines if line.strip() != "id"], list(range(17646)))

    def test_csv(self):
        name = self.link("net10-wks")
        out = self.done("sql", name, "--csv", "SELECT 1 AS a, 'x,\"y' AS b, NULL AS c, '=1' AS d, x'ab' AS e, -2 AS f").out.decode()
        self.assertEqual(out, '"a","b","c","d","e","f"\n1,"x,""y",,"\'=1","X\'ab\'",-2\n')
        rows = list(csv.reader(io.StringIO(self.done("sql", name, "--csv", "SELECT id, type FROM objects").out.decode())))
        self.assertEqual((rows[0], len(rows), rows[1][0]), (["id", "type"], 17647, "0"))

    def test_json(self):
        (columns, rows), = self.ask("net10-wks", "SELECT 1 AS a, 2 AS a, 9223372036854775807, 1e999, CAST(x'ff' AS TEXT), char(0, 65), NULL")
        self.assertEqual((columns[:2], rows), (["a", "a"], [(1, 2, 2**63 - 1, None, "?", "\0A", None)]))

    def test_incomplete(self):
        for form in ((), ("--json",), ("--csv",)):
            run = self.done("sql", self.link("net10-wks-lossy"), "SELECT 1", *form, code=3)
            self.assertIn("the dump is incomplete", run.err.decode())
        text = self.done("sql", self.link("net10-wks-lossy"), "SELECT 1", code=3).text
        self.assertEqual(text.split("\n")[0], "(INCOMPLETE dump: net10-wks-lossy.nettrace.gz)")

    def test_hostile_names(self):
        self.put("x.nettrace", types_trace(("Evil\x1b[31m'; DROP TABLE x; --", 2, 24), ("=cmd|' /C calc'!A0", 1, 24), ("a\u202eb", 1, 24)))
        run = self.done("sql", "x.nettrace", "SELECT type FROM objects ORDER BY type")
        self.assertNotIn("\x1b", run.text)
        self.assertIn("Evil?[31m'; DROP TABLE x; --", run.text)
        self.assertNotIn("\u202e", run.text)
        self.assertIn("\"'=cmd", self.done("sql", "x.nettrace", "--csv", "SELECT type FROM objects").text)
        rows = json.loads(self.done("sql", "x.nettrace", "--json", "SELECT count(*) FROM objects WHERE type = 'Evil\x1b[31m''; DROP TABLE x; --'").text)
        self.assertEqual(rows["rows"], [[2]])

    def test_statements_from_elsewhere(self):
        name = self.link("net10-wks")
        self.put("q.sql", b"-- two\nSELECT 1 AS a;\nSELECT 2 AS b -- without its semicolon")
        for words, data in (((name, "--file", "q.sql"), None), ((name, "--file", "-"), self.get("q.sql")), ((name,), self.get("q.sql"))):
            self.assertEqual(self.done("sql", *words, data=data).text, "a\n1\nb\n2\n")
        run = self.done("sql", name, "-f", "q.sql")                  # a letter that is a format everywhere else
        self.assertEqual((run.text, run.err), ("a\n1\nb\n2\n", b"gcdumpc: -f is --file only in this version; write --file\n"))
        with open(trace("net10-wks"), "rb") as f:
            heap = f.read()
        self.assertEqual(self.done("sql", "-", "SELECT count(*) FROM types", data=heap).text, self.done("sql", name, "SELECT count(*) FROM types").text)


class Wrong(SqlTest):
    def wrong(self, statement, message, place=None, *words, code=2):
        run = self.gcdumpc("sql", *(words or (self.link("net10-wks"),)), statement)
        lines = run.lines
        self.assertEqual((run.code, run.out), (code, b""), run)
        self.assertRegex(lines[0], rf"\Agcdumpc: (\S+: )?{message}\Z")
        if place is None:
            self.assertEqual(len(lines), 1, lines)
        else:
            self.assertEqual(len(lines), 3, lines)
            self.assertTrue(lines[1][lines[2].index("^"):].startswith(place), lines)

    def test_the_place_is_shown(self):
        self.wrong("SELECT typ FROM objects", "no such column: typ", "typ")
        self.wrong("SELECT 1;\nSELECT 'ü', typ\nFROM objects", "no such column: typ", "typ")
        self.wrong("SELECT 1; SELEC 2", 'near "SELEC": syntax error', "SELEC")
        self.wrong("SELECT 1 FROM objects WHERE type = 'x", "unrecognized token: .*", "'x")
        self.wrong("SELECT \x1b[31m", 'unrecognized token: "\\?"', "?[31m")
        self.wrong("SELECT " + "1, " * 200 + "typ FROM objects", "no such column: typ", "typ")
        self.wrong("SELECT (", "incomplete input")
        self.wrong("SELECT * FROM reachable_from", "an object is missing, .*")
        self.wrong("SELECT 1 FROM nope", "no such table: nope")

    def test_before_anything_is_read(self):
        """The program does not even look for the file."""
        self.wrong("SELECT typ FROM objects", "no such column: typ", "typ", "no-file.nettrace")
        if os.environ.get("GCDUMPC_IPC") != "OFF":
            self.wrong("SELECT typ FROM objects", "no such column: typ", "typ", "--pid", "4194304")

    def test_nothing_is_written(self):
        reads = r"a query only reads: .*|not authorized.*|.* may not be modified"
        self.put("other.sqlite", b"")
        before = self.folder()
        for statement in ("INSERT INTO objects(id) VALUES (1)", "DELETE FROM types", "UPDATE types SET name = 'x'", "CREATE TABLE x(a)",
                          "CREATE TEMP TABLE x(a)", "CREATE VIEW x AS SELECT 1", "DROP TABLE objects", "DROP VIEW refs", "ATTACH 'other.sqlite' AS x",
                          "ATTACH ':memory:' AS x", "DETACH main", "PRAGMA journal_mode = WAL", "PRAGMA writable_schema = 1", "PRAGMA temp_store_directory = '/'",
                          "BEGIN", "SAVEPOINT x", "ANALYZE", "ALTER TABLE objects RENAME TO x", "CREATE VIRTUAL TABLE x USING gcdumpc_objects",
                          "PRAGMA query_only = 0"):
            run = self.gcdumpc("sql", self.link("net10-wks"), statement)
            self.assertEqual((run.code, run.out), (2, b""), (statement, run))
            self.assertRegex(run.lines[0], rf"\Agcdumpc: ({reads})\Z", statement)
        for statement in ("SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT writefile('x', 'y')", "SELECT edit('x')"):
            run = self.gcdumpc("sql", self.link("net10-wks"), statement)
            self.assertEqual((run.code, run.out), (2, b""), (statement, run))
        self.gcdumpc("sql", self.link("net10-wks"), "VACUUM INTO 'copy.sqlite'")
        before["net10-wks.nettrace.gz"] = self.folder()["net10-wks.nettrace.gz"]
        self.assertEqual(self.folder(), before)
        self.assertIn("retained_bytes", self.done("sql", self.link("net10-wks"), "PRAGMA table_info(objects)").text)

    def test_endless(self):
        name = self.link("net10-wks")
        self.refused(1, r"net10-wks.nettrace.gz: the time is up \(--timeout\)", "sql", name, ENDLESS, "--timeout", "1")
        process = self.start("sql", name, f"SELECT 'begun' AS begun; {ENDLESS}", "--csv", stdout=subprocess.PIPE)
        # the first statement is not flushed, so wait until it computes
        self.wait_until(lambda: cpu(process) > 60, "it computes")
        process.send_signal(signal.SIGINT)
        run = self.finish(process)
        self.assertEqual(run.code, 130)
        self.assertIn("interrupted", run.err.decode())

    def test_large_results_of_small_statements(self):
        for statement in ("SELECT zeroblob(1000000000)", "SELECT hex(zeroblob(40000000))", "SELECT randomblob(2000000000)"):
            run = self.gcdumpc("sql", self.link("net10-wks"), statement)
            self.assertEqual(run.code, 1, run)
            self.assertRegex(run.lines[0], r"too big|out of memory")
        self.wrong("SELECT " + "(" * 5000 + "1" + ")" * 5000, r"parser stack overflow|Expression tree is too large.*|.*", code=2)

    def test_long_calls_can_be_canceled(self):
        """One call of SQLite's own function takes minutes, or longer; with these texts no answer is wrong."""
        long = "WITH a(t) AS (SELECT replace(hex(zeroblob(500000)), '0', 'a'))"
        for expression in ("instr(t, substr(t, 1, 500000) || 'b')", "length(replace(t, substr(t, 1, 500000) || 'b', 'x')) - length(t)",
                           "t LIKE '%' || replace(hex(zeroblob(500)), '0', 'a%') || 'b'", "t GLOB '*' || replace(hex(zeroblob(500)), '0', 'a*') || 'b'"):
            self.assertEqual(self.done("sql", self.link("net10-wks"), f"{long} SELECT {expression} FROM a", "--csv", "--timeout", "60").text.splitlines()[1], "0")
        # the pattern before the last star repeats itself
        endless = "t GLOB '*' || substr(t, 1, 300000) || 'b' || '*'"
        self.refused(1, r".*: the time is up \(--timeout\)", "sql", self.link("net10-wks"), f"{long} SELECT {endless} FROM a", "--timeout", "1")
        self.refused(1, r".*: string or blob too big", "sql", self.link("net10-wks"), f"{long} SELECT trim(t, t) FROM a")

    def test_memory_of_a_statement(self):
        """Neither the memory nor the disk of the machine."""
        for statement in ("WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x + 1 FROM c) SELECT count(*) FROM c",
                          "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(DISTINCT hex(randomblob(400000)) || x) FROM c"):
            self.refused(1, r".*the statement needs more than the 12 MiB of memory that SQL has; .*", "sql", self.link("net10-wks"), statement,
                         "--max-memory", "50M")

    def test_no_addresses_of_the_program(self):
        for statement in ("SELECT fts3_tokenizer('simple')", "SELECT hex(fts3_tokenizer('porter'))", "EXPLAIN SELECT * FROM objects",
                          "SELECT * FROM sqlite_stmt", "SELECT json_patch('{}', '{}')"):
            run = self.gcdumpc("sql", self.link("net10-wks"), statement)
            self.assertEqual((run.code, run.out), (2, b""), statement)

    def test_text_with_nul(self):
        """Nothing after the NUL is lost."""
        statement = "SELECT 'a' || char(0) || 'b' AS x"
        self.assertEqual(self.done("sql", self.link("net10-wks"), statement).text.split(), ["x", "a\\0b"])
        self.assertEqual(self.done("sql", self.link("net10-wks"), statement, "--csv").text.splitlines()[1], '"a?b"')
        self.assertEqual(json.loads(self.done("sql", self.link("net10-wks"), statement, "--json").text)["rows"], [["a\0b"]])

    def test_functions_of_texts_are_those_of_sqlite(self):
        """LIKE, GLOB, instr, replace and trim have other code, and the same results."""
        chance, other, expressions = random.Random(7), sqlite3.connect(":memory:"), []
        for _ in range(3000):
            text, part, set_ = ("".join(chance.choice(letters) for _ in range(chance.randrange(8)))
                                for letters in ("abAB]-^\xe4\u20ac", "abA%_*?[]^-\xe4\u20ac\\", "ab\xe4\u20ac"))
            expressions.append(chance.choice((f"'{text}' LIKE '{part}'", f"'{text}' LIKE '{part}' ESCAPE '\\'", f"'{text}' GLOB '{part}'", f"instr('{text}', '{set_[:2]}')",
                                              f"replace('{text}', '{set_[:1]}', '{part}')", f"trim('{text}', '{set_}')", f"ltrim('{text}', '{set_}')",
                                              f"rtrim('{text}', '{set_}')", f"instr(CAST('{text}' AS BLOB), CAST('{set_[:1]}' AS BLOB))")))
        expressions += ["NULL LIKE 'a'", "'a' LIKE NULL", "'a' GLOB NULL", "instr(NULL, 'a')", "instr('a', NULL)", "replace('a', 'a', NULL)", "trim(NULL)", "trim('  a ')",
                        "replace('', 'a', 'b')", "replace(12, 1, 3)", "instr('', '')", "'' LIKE '%'", "'' GLOB ''", "12 LIKE '1_'", "rtrim(12, 2)", "typeof(replace(12, '', 3))"]
        statements = ";".join("SELECT " + ", ".join(expressions[i:i + 100]) for i in range(0, len(expressions), 100))
        self.put("all.sql", statements.encode())
        mine = [value for line in self.done("sql", self.link("net10-wks"), "--file", "all.sql", "--json").text.split('"rows": [')[1:]
                for value in json.loads(line.split("\n  ],")[0])]
        theirs = [value for statement in statements.split(";") for value in other.execute(statement).fetchone()]
        for expression, a, b in zip(expressions, mine, theirs, strict=True):
            self.assertEqual(a, b, expression)

    def test_sums_that_overflow(self):
        run = self.gcdumpc("sql", self.link("net10-wks"), "SELECT sum(9223372036854775807) FROM objects")
        self.assertEqual(run.code, 1, run)
        self.assertIn("integer overflow", run.lines[0])

    def test_files_and_words(self):
        self.refused(1, r"nothing: cannot open: .*", "sql", "nothing", "SELECT 1")
        self.refused(1, r"nothing.sql: No such file or directory", "sql", self.link("net10-wks"), "--file", "nothing.sql")
        self.put("zero.sql", b"SELECT 1\0;")
        self.refused(1, r"zero.sql: is not text: .*", "sql", self.link("net10-wks"), "--file", "zero.sql")
        self.put("long.sql", b"SELECT 1;\n" * 2_000_000)
        self.refused(1, r"long.sql: .*16 MiB.*", "sql", self.link("net10-wks"), "--file", "long.sql")
        self.refused(2, r"give a statement or --file, not both; .*", "sql", self.link("net10-wks"), "SELECT 1", "--file", "zero.sql")
        self.refused(2, r'sql does not know what to do with "b"; .*', "sql", self.link("net10-wks"), "SELECT 1", "b")
        self.refused(2, r"give one of --json and --csv; .*", "sql", self.link("net10-wks"), "SELECT 1", "--json", "--csv")
        self.refused(2, r"standard input is the heap; .*", "sql", "-", data=b"SELECT 1")
        self.refused(2, r"a file is needed; .*", "sql")

    def test_a_file_that_disappears(self):
        """The recording is read before the statement runs, so its name does not matter any more."""
        with open(trace("net10-wks"), "rb") as f:
            self.put("gone.nettrace.gz", f.read())
        process = self.start("sql", "gone.nettrace.gz", stdin=subprocess.PIPE)
        process.stdin.write(b"SELECT count(*) FROM ")
        process.stdin.flush()
        os.unlink(self.path("gone.nettrace.gz"))
        run = self.finish(process, b"types;")
        self.assertEqual(run.code, 1)
        self.assertIn("cannot open", run.err.decode())

    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            run = self.gcdumpc("sql", self.link("net10-wks"), "SELECT id FROM objects", "--csv", stdout=full)
        self.assertEqual(run.code, 1)
        self.assertIn("standard output: cannot write", run.err.decode())


class Commands(SqlTest):
    def test_commands_of_the_prompt(self):
        """Those that only tell something are also an argument."""
        name = self.link("net10-wks")
        self.assertRegex(self.done("sql", name, ".schema refs").text, r"\Arefs:\n +source, target, ordinal")
        self.assertIn("\n  types ", self.done("sql", name, ".tables;").text)
        self.assertIn("A statement ends with a semicolon", self.done("sql", name, ".help").text)
        self.refused(1, 'there is no command ".nonsense"; .help lists them', "sql", name, ".nonsense")


class Prompt(SqlTest):
    def talk(self, *keys, code=0, early=b""):
        """Types KEYS at the prompt, each after the program has shown the prompt again, and EARLY before the program runs; all that was shown."""
        terminal = Terminal(columns=100)
        self.addCleanup(terminal.close)
        os.write(terminal.ours, early)
        process = self.start("sql", self.link("net10-wks"), stdin=terminal.theirs, stdout=terminal.theirs, stderr=terminal.theirs,
                             env={"TERM": "xterm"}, start_new_session=True,
                             preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        shown = ""
        for key in keys:
            if key == "\x03 while it computes":
                used = cpu(process)
                self.wait_until(lambda: cpu(process) > used + 30, "it computes")
                os.write(terminal.ours, b"\x03")
                shown += "\0"
                continue
            while not re.search(r"(sql|\.\.\.)> [^\n\0]*\Z", shown):
                self.assertTrue(select.select([terminal.ours], [], [], 4 * SECONDS)[0], shown)
                shown += os.read(terminal.ours, 65536).decode()
                self.assertLess(len(shown), 1 << 20)
            os.write(terminal.ours, key.encode())
            shown += "\0"
        process.wait(timeout=4 * SECONDS)
        shown += terminal.shown(process)
        self.assertEqual(process.returncode, code, shown)
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]", "", shown).replace("\r", "")

    def test_statements(self):
        shown = self.talk("SELECT count(*)\n", "FROM objects;\n", "SELECT 6 * 7 AS answer;\n", ".quit\n")
        self.assertRegex(shown, r"17646")
        self.assertRegex(shown, r"answer\n *42")
        self.assertIn("...> ", shown)

    def test_commands(self):
        shown = self.talk(".help\n", ".tables\n", ".schema refs\n", ".schema nothing\n", ".mode csv\n", "SELECT 'a' AS b;\n", ".nonsense\n", "\x04")
        for words in ("semicolon", "path_from_root(object)", "source, target, ordinal", 'there is no table "nothing"', '"b"\n"a"',
                      'there is no command ".nonsense"'):
            self.assertIn(words, shown)

    def test_quit_in_the_middle_of_a_statement(self):
        for word in (".quit", ".exit "):
            self.assertIn("...> ", self.talk("SELECT count(*)\n", word + "\n"))

    def test_mistakes_do_not_end_it(self):
        shown = self.talk("SELECT nope;\n", "SELECT 5 AS five;\n", "\x04")
        self.assertIn("no such column: nope", shown)
        self.assertRegex(shown, r"five\n *5")

    def test_interrupt(self):
        """Ctrl-C discards a line; while a statement runs, it ends the statement."""
        shown = self.talk("SELECT nonsense \n", "\x03", "SELECT 5 AS five;\n", "\x04")
        self.assertRegex(shown, r"five\n *5")
        shown = self.talk(ENDLESS + ";\n", "\x03 while it computes", "SELECT 6 AS six;\n", "\x04")
        self.assertIn("interrupted", shown)
        self.assertRegex(shown, r"six\n *6")

    def test_keys_before_the_prompt(self):
        """Typed while the heap loads: the terminal is not read key by key yet."""
        self.talk(early=b"\x04")
        shown = self.talk(early=b"SELECT 40 + 2 AS answer;\nSELECT 6 AS six;\n\x04")
        self.assertRegex(shown, r"(?s)answer\n *42.*six\n *6")

    def test_history(self):
        if b"libedit" not in subprocess.run(["ldd", PROGRAM], capture_output=True).stdout:
            self.skipTest("built without libedit, or static")
        shown = self.talk("SELECT 40 + 2 AS answer;\n", "\x1b[A\n", "\x04")
        self.assertEqual(len(re.findall(r"answer\n *42", shown)), 2, shown)


class Without(CliTest):
    @unittest.skipIf(HAVE_SQLITE, "built with SQLite")
    def test_without_sqlite(self):
        self.refused(1, r"this build has no SQLite, so there is no sql; .*", "sql", self.link("net10-wks"), "SELECT 1")


if __name__ == "__main__":
    main()
