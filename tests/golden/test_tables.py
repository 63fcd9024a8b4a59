"""The formats csv and sqlite have the contents of the graph: random graphs with hostile names, a bundled recording, and failures."""
import csv
import os
import re
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

ROOT = os.environ["GCDUMPC_SOURCE"]
WRITER = os.path.join(os.environ["GCDUMPC_BUILD"], "tests", "table_writer")
HAVE_SQLITE = os.environ.get("GCDUMPC_SQLITE", "ON") not in ("OFF", "0", "FALSE", "NO")
RECORDING = os.path.join(ROOT, "traces", "net10-wks", "heap.nettrace.gz")
TABLES = ["facts", "types", "objects", "edges", "roots", "dependent_handles", "ranges"]
MAX = 2 ** 63 - 1
KINDS = ["stack", "finalizer", "handle", "other", "static", "com"]
SEEDS = range(1, 121)

csv.field_size_limit(1 << 24)


def run(*args, **kw):
    return subprocess.run([WRITER, *map(str, args)], capture_output=True, text=True, **kw)


def write(format_, path, *source):
    r = run(format_, path, *source)
    if r.returncode != 0:
        raise AssertionError(f"{format_}: exit {r.returncode}\n{r.stderr}")
    return r.stdout


def truth(*source):
    """table -> rows as lists of numbers and texts, from the graph's accessors."""
    tables = {t: [] for t in TABLES[1:] + ["dominators"]}
    for line in write("graph", "-", *source).splitlines():
        name, *cells = line.split(" ")
        tables[name].append([bytes.fromhex(c[1:]).decode() if c.startswith("x") else int(c) for c in cells])
    return tables


def generation(ranges, address):
    """The range with the highest start not above the address counts; the last of equal ones."""
    below = [r for r in sorted(ranges, key=lambda r: r[2]) if r[2] <= address]
    return below[-1][1] if address and below and address - below[-1][2] < below[-1][3] else None


def group(kind, flags):
    if flags & 2:
        return "weak"
    if kind == "handle":
        return "refcounted" if flags & 8 else "pinned_handles" if flags & 1 else "strong_handles"
    return {"stack": "locals", "finalizer": "finalizer", "other": "other", "static": "statics", "com": "refcounted"}[kind]


def expected(t):
    """The truth in the columns of the formats.  None: empty; addresses unchanged."""
    e = {}
    e["types"] = [[i, shown, name if named else None, module or None, mid or None, table or None, token, flags, 0, described, n, size]
                  for i, n, size, table, mid, token, flags, described, named, name, module, shown in t["types"]]
    e["objects"] = [[i, type_, size, address or None, generation(t["ranges"], address)] for i, type_, size, address in t["objects"]]
    e["edges"] = [(*row, None, None) for row in t["edges"]]     # no type has a layout
    e["roots"] = []
    for i, k, flags, slot, node, type_, name in t["roots"]:
        # a static variable whose type is not that of its object: the class, as Mono has it
        class_name = t["types"][type_][-1] if KINDS[k] == "static" and type_ != t["objects"][node][1] else None
        label = ".".join(filter(None, (class_name, name))) if KINDS[k] == "static" and name else None
        e["roots"].append([i, KINDS[k], group(KINDS[k], flags), flags, name or None, slot or None, node, type_, class_name, label])
    e["dependent_handles"] = t["dependent_handles"]
    e["ranges"] = [[i, g, start or None, used, reserved] for i, g, start, used, reserved in t["ranges"]]
    e["dominators"] = [[i, None if p < 0 else p, size] for i, p, size in t["dominators"]]
    return e


def read_csv(folder, name):
    """(columns, rows) with types by quotes: a quoted cell is text."""
    with open(os.path.join(folder, name + ".csv"), encoding="utf-8", newline="") as f:
        columns, *rows = list(csv.reader(f, strict=True))
    return columns, rows


def shown(value):
    """A value as CSV has it: files that people read contain no control or direction characters."""
    if not isinstance(value, str):
        return value
    return re.sub("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\U000e0000-\U000e007f]", "?", value)


def typed(cell, like):
    if like is None:
        return None if cell == "" else cell
    if isinstance(like, str):
        return cell[1:] if cell.startswith("'") else cell
    return int(cell, 16) if cell.startswith("0x") else int(cell)


def signed(n):
    return n - 2 ** 64 if isinstance(n, int) and n > MAX else n


class Case(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def left(self):
        return sorted(os.listdir(self.dir.name))


class Csv(Case):
    def test_random_graphs(self):
        seen = set()
        for seed in SEEDS:
            e = expected(truth(seed, 300))
            write("csv", self.path(f"{seed}.csv"), seed, 300)
            for table in TABLES[1:]:
                columns, rows = read_csv(self.path(f"{seed}.csv"), table)
                self.assertEqual(len(rows), len(e[table]), f"{seed} {table}")
                for row, want in zip(rows, e[table]):
                    want = [shown(w) for w in want]
                    got = [typed(c, w) for c, w in zip(row, want)]
                    self.assertTrue(got == want, f"seed {seed} {table} {columns}: {got!s:.500} instead of {want!s:.500}")
            seen.update(r[2] for r in e["types"])
        hostile = {"=cmd()", "+1", "-1", "@x", " spaces ", "line\nbreak", 'a"b', "'quote'", "comma, semicolon; tab\t"}
        self.assertEqual(hostile - seen, set())      # else this test does not cover them
        self.assertGreater(max(len(s or "") for s in seen), 60000)

    def test_generations(self):
        ranges = os.path.join(ROOT, "traces", "net10-wks-ranges", "heap.nettrace.gz")
        want = [row[4] for row in expected(truth(ranges))["objects"]]
        self.assertGreaterEqual(len(set(want)), 3)
        write("csv", self.path("r.csv"), ranges)
        got = [int(row[4]) if row[4] else None for row in read_csv(self.path("r.csv"), "objects")[1]]
        self.assertTrue(got == want)

    def test_bytes(self):
        """Details that the csv module would tolerate."""
        for seed in SEEDS:
            write("csv", self.path(f"{seed}.csv"), seed, 50)
            for table in TABLES:
                with open(self.path(f"{seed}.csv/{table}.csv"), "rb") as f:
                    data = f.read()
                data.decode("utf-8")
                self.assertTrue(data.endswith(b"\n"))
                texts = re.findall(rb'"((?:[^"]|"")*)"', data)
                bare = re.sub(rb'"(?:[^"]|"")*"', b"", data.split(b"\n", 1)[1])
                self.assertRegex(bare, rb"\A[-0-9xa-f,\n]*\Z")
                for t in texts:
                    if not re.fullmatch(rb"-[0-9.]+", t):             # a number is none
                        self.assertNotRegex(t, rb"\A *[=+@\t\r\n-]", "a formula")

    def test_facts_and_verdict(self):
        write("csv", self.path("r.csv"), RECORDING)
        facts = dict(read_csv(self.path("r.csv"), "facts")[1])
        self.assertEqual({k: facts[k] for k in ("complete", "objects", "bytes", "edges", "process_name", "schema")},
                         {"complete": "1", "objects": "17646", "bytes": "1378569", "edges": "29364", "process_name": "HeapLab", "schema": "1"})
        lossy = os.path.join(ROOT, "traces", "net10-wks-lossy", "heap.nettrace.gz")
        write("csv", self.path("l.csv"), lossy)
        facts = dict(read_csv(self.path("l.csv"), "facts")[1])
        self.assertEqual(facts["complete"], "0")
        self.assertGreater(int(facts["amount.events_lost"]), 0)
        self.assertIn("events", facts["reason.events_lost"])

    def test_modes_and_replacing(self):
        os.umask(0)
        os.mkdir(self.path("a.csv"))
        write("csv", self.path("a.csv"), 1, 50)
        self.assertEqual(os.stat(self.path("a.csv")).st_mode & 0o777, 0o700)
        self.assertEqual(sorted(os.listdir(self.path("a.csv"))), sorted(t + ".csv" for t in TABLES))
        for name in TABLES:
            self.assertEqual(os.stat(self.path(f"a.csv/{name}.csv")).st_mode & 0o777, 0o600)
        before = {n: os.stat(self.path(f"a.csv/{n}")).st_mtime_ns for n in os.listdir(self.path("a.csv"))}
        r = run("csv", self.path("a.csv"), 2, 50)
        self.assertEqual((r.returncode, "not empty" in r.stderr), (1, True), r.stderr)
        self.assertEqual(before, {n: os.stat(self.path(f"a.csv/{n}")).st_mtime_ns for n in os.listdir(self.path("a.csv"))})
        self.assertEqual(self.left(), ["a.csv"])


@unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
class Sqlite(Case):
    def test_random_graphs(self):
        clamped = 0
        for seed in SEEDS:
            path, e = self.path(f"{seed}.sqlite"), expected(truth(seed, 300))
            said = write("sqlite", path, seed, 300)
            db = sqlite3.connect(path)
            self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            self.assertEqual(db.execute("PRAGMA foreign_key_check").fetchall(), [])
            for table in TABLES[1:] + ["dominators"]:
                address = {"types": (4, 5), "objects": (3,), "roots": (5,), "ranges": (2,)}.get(table, ())
                want = [tuple(signed(v) if i in address else min(v, MAX) if isinstance(v, int) else v for i, v in enumerate(row))
                        for row in e[table]]
                key = "from_id, slot" if table == "edges" else "1"
                got = db.execute(f"SELECT * FROM {table} ORDER BY {key}").fetchall()
                wrong = next((f"{g!s:.500} instead of {w!s:.500}" for g, w in zip(got, want) if g != w), "")
                self.assertEqual((wrong, len(got)), ("", len(want)), f"seed {seed} {table}")
                self.assertEqual([c[1] for c in db.execute(f"PRAGMA table_info({table})")], self.columns(seed, table))
            large = any(isinstance(v, int) and v > MAX for t in ("types", "objects", "dominators") for row in e[t] for v in row)
            self.assertEqual("larger than 2^63-1" in said, large, said)
            clamped += large
            self.assertEqual(db.execute("SELECT count(*) FROM edges").fetchone()[0],
                             db.execute("SELECT value FROM facts WHERE key = 'edges'").fetchone()[0])
            self.assertEqual(db.execute("SELECT sum(objects) FROM types").fetchone(), db.execute("SELECT count(*) FROM objects").fetchone())
            self.assertEqual(db.execute("SELECT sum(objects) FROM v_generations").fetchone()[0] or 0, len(e["objects"]))
            words = {row[0] for row in db.execute("SELECT generation FROM v_generations")}
            self.assertEqual({"unknown", "nongc"} & words, {"nongc" if e["ranges"] else "unknown"} if e["objects"] and None in
                             {row[4] for row in e["objects"]} else set())
            db.close()
        self.assertGreater(clamped, 0)

    def columns(self, seed, table):
        """As in CSV: one description of both."""
        if table == "dominators":
            return ["object_id", "parent_id", "retained_bytes"]
        folder = self.path(f"{seed}.csv")
        if not os.path.exists(folder):
            write("csv", folder, seed, 300)
        return read_csv(folder, table)[0]

    def test_documented_queries(self):
        """Each query in the README is answered by the sqlite3 program, and those that must find something do."""
        with open(os.path.join(ROOT, "src", "write", "README.md"), encoding="utf-8") as f:
            blocks = re.findall(r"```sql\n(.*?)```", f.read(), re.S)
        queries = [line for b in blocks for line in b.splitlines() if line.strip()]
        self.assertGreater(len(queries), 12)
        write("sqlite", self.path("a.sqlite"), RECORDING)
        write("sqlite", self.path("empty.sqlite"), 5, 0)
        db = sqlite3.connect(self.path("a.sqlite"))
        views = {r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'view'")}
        indexes = {r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")}
        # an object with everything: a referrer, a reference, and an object that it keeps alive
        some = db.execute("SELECT parent_id FROM dominators d WHERE EXISTS (SELECT 1 FROM edges WHERE to_id = d.parent_id) AND "
                          "EXISTS (SELECT 1 FROM edges WHERE from_id = d.parent_id) LIMIT 1").fetchone()[0]
        db.close()
        text = "\n".join(queries)
        for v in views:
            self.assertIn(v, text, "a view without a documented query")
        with open(os.path.join(ROOT, "src", "write", "README.md"), encoding="utf-8") as f:
            readme = f.read()
        for i in indexes:
            self.assertIn(f"`{i}`", readme)
        for q in queries:
            q = re.sub(r"\b42\b", str(some), q)
            for name in ("a", "empty"):
                r = subprocess.run(["sqlite3", "-bail", self.path(name + ".sqlite"), q], capture_output=True, text=True, timeout=60)
                self.assertEqual((r.returncode, r.stderr), (0, ""), q)
                if name == "a" and "v_unreachable" not in q:
                    self.assertNotEqual(r.stdout.strip(), "", q)

    def test_queries_use_the_indexes(self):
        write("sqlite", self.path("a.sqlite"), RECORDING)
        db = sqlite3.connect(self.path("a.sqlite"))
        for q in ("v_who_references WHERE object_id = 1", "v_objects WHERE id = 1", "v_dominated WHERE object_id = 1", "v_largest_retained LIMIT 5",
                  "objects WHERE address = 1", "objects WHERE type_id = 1"):
            plan = [r[3] for r in db.execute(f"EXPLAIN QUERY PLAN SELECT * FROM {q}")]
            scans = [p for p in plan if p.startswith("SCAN") and "USING INDEX" not in p and "SCAN v_" not in p]
            self.assertEqual(scans, [], f"{q}: {plan}")
            self.assertFalse(any("TEMP B-TREE" in p for p in plan), plan)
        db.close()

    def test_answers(self):
        write("sqlite", self.path("a.sqlite"), RECORDING)
        db = sqlite3.connect(self.path("a.sqlite"))
        self.assertEqual(db.execute("SELECT name, objects, bytes FROM v_types_by_bytes LIMIT 1").fetchone(), ("System.Byte[]", 6, 205247))
        self.assertEqual(db.execute("SELECT sum(bytes) FROM v_types_by_bytes").fetchone()[0], 1378569)
        self.assertEqual(db.execute("SELECT sum(roots) FROM v_roots_summary").fetchone(), db.execute("SELECT count(*) FROM roots").fetchone())
        self.assertEqual(db.execute("SELECT count(*) FROM v_who_references").fetchone()[0],
                         sum(db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in ("edges", "roots", "dependent_handles")))
        retained = [r[0] for r in db.execute("SELECT retained_bytes FROM v_largest_retained LIMIT 50")]
        self.assertEqual(retained, sorted(retained, reverse=True))
        address, text = db.execute("SELECT o.address, v.address FROM objects o JOIN v_objects v USING (id) LIMIT 1").fetchone()
        self.assertEqual(int(text, 16), address)
        db.close()

    def test_replacing_and_journals(self):
        path = self.path("a.db")
        os.umask(0)
        with open(path, "w", encoding="utf-8") as f:
            f.write("old")
        for journal in ("-journal", "-wal"):
            with open(path + journal, "w", encoding="utf-8") as f:
                f.write("pages")
            r = run("sqlite", path, 1, 50)
            self.assertEqual((r.returncode, journal in r.stderr), (1, True), r.stderr)
            os.unlink(path + journal)
        self.assertEqual(self.left(), ["a.db"])
        with open(path, encoding="utf-8") as f:
            self.assertEqual(f.read(), "old")
        write("sqlite", path, 1, 50)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assertEqual(self.left(), ["a.db"])

    def test_names_that_sqlite_would_take_for_something_else(self):
        for name in (":memory:", "file:x?mode=memory", "file:y.db", "%41?cache=shared#z"):
            r = run("sqlite", name, 1, 50, cwd=self.dir.name)
            self.assertEqual(r.returncode, 0, r.stderr)
            db = sqlite3.connect(self.path(name))
            self.assertEqual(db.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table'").fetchone(), (8,))
            db.close()
        self.assertEqual(len(self.left()), 4)
        deep = self.path("/".join(["d" * 200] * 3))
        os.makedirs(deep)
        r = run("sqlite", os.path.join(deep, "a.db"), 1, 50)
        self.assertEqual((r.returncode, r.stderr), (0, ""))      # SQLite itself would not open a path of that length
        self.assertEqual(os.listdir(deep), ["a.db"])


class Failures(Case):
    FORMATS = ["csv", "sqlite"] if HAVE_SQLITE else ["csv"]

    def test_folder_that_cannot_be_written(self):
        """For root: as another user."""
        os.chmod(self.dir.name, 0o755)
        os.mkdir(self.path("d"), 0o555)
        who = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        try:
            run(**who)
        except PermissionError:
            self.skipTest("root, and the program cannot be run by another user")
        for f in self.FORMATS:
            r = run(f, self.path("d/x"), 1, 50, **who)
            self.assertEqual((r.returncode, "Permission denied" in r.stderr), (1, True), r.stderr)
        self.assertEqual(os.listdir(self.path("d")), [])

    def test_full_disk(self):
        disk = self.path("disk")
        os.mkdir(disk)
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", disk], capture_output=True).returncode != 0:
            self.skipTest("a small file system cannot be made here")
        try:
            for f in self.FORMATS:               # 1 MB of CSV, 2 MB of database
                r = run(f, os.path.join(disk, "x"), RECORDING)
                self.assertEqual((r.returncode, bool(re.search("no space left", r.stderr, re.I))), (1, True), r.stderr)
                self.assertEqual(os.listdir(disk), [])
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_killed(self):
        """At most a temporary file is left, and the old output is unchanged."""
        for f in self.FORMATS:
            target = self.path("x")
            if f == "sqlite":
                with open(target, "w", encoding="utf-8") as o:
                    o.write("old")
            p = subprocess.Popen([WRITER, f, target, RECORDING])
            while p.poll() is None and not any(n.endswith(".gcdumpc-tmp") for n in self.left()):
                time.sleep(0.0005)
            p.send_signal(signal.SIGKILL)
            if p.wait() == 0:
                self.skipTest("it was faster than the signal")
            names = self.left()
            self.assertTrue(all(n == "x" or n.endswith(".gcdumpc-tmp") for n in names), names)
            self.assertEqual("x" in names, f == "sqlite")
            if f == "sqlite":
                with open(target, encoding="utf-8") as o:
                    self.assertEqual(o.read(), "old")


if __name__ == "__main__":
    unittest.main()
