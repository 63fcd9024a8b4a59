"""collect --values: the texts and fields of a living process are right or left out, whatever its collector does; what is kept of them; what happens without permission."""
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import unittest

from live_support import BUILD, PROGRAM, RUNTIMES, LiveTest, Process, main, need, own_runtime
import lab_programs
from mcp_client import Client
from test_core import createdump

LONG = os.environ.get("GCDUMPC_TEST_VALUES") == "long"
PASSES, PAIRS = (100, 30_000) if LONG else (10, 20_000)
PAIR = re.compile(r"pair-(\d+)-[a-z]*")
COLLECTORS = {"workstation": {}, "server": {"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2"}, "not concurrent": {"DOTNET_gcConcurrent": "0"}}


def value_lab(runtime):
    return lab_programs.program("ValueLab", runtime, "built" if runtime == own_runtime() else "contained")


class Values(LiveTest):
    def start(self, *args, runtime=None, **environment):
        return Process(*map(str, args), program=need(value_lab, runtime or own_runtime()), **environment)

    def collect(self, target, name, *options, status=0):
        return self.gcdumpc("collect", "--pid", target.pid, "-o", self.path(name), *options, status=status)

    def texts(self, name):
        """Address -> (length, text) of a recording."""
        r = subprocess.run([os.path.join(BUILD, "tests", "values_list"), self.path(name)], capture_output=True, check=True)
        lines = (line.split(b" ", 3) for line in r.stdout.split(b"\n") if line)
        return {int(address, 16): (int(length), text.decode()) for address, length, _, text in lines}

    def facts(self, name):
        return json.loads(self.gcdumpc("info", self.path(name), "--json").stdout)["values"]

    def check_pairs(self, name):
        """How many texts of pairs there are, two of each; each belongs to bytes of the number that it says."""
        texts = self.texts(name)
        answer = json.loads(self.gcdumpc("sql", self.path(name), "--json", """
            select s.address, b.size_bytes - 24 from types t join objects p on p.type_id = t.id
            join edges es on es.from_id = p.id join objects s on s.id = es.to_id join types ts on ts.id = s.type_id and ts.raw_name = 'System.String'
            join edges eb on eb.from_id = p.id join objects b on b.id = eb.to_id join types tb on tb.id = b.type_id and tb.raw_name = 'System.Byte[]'
            where t.raw_name = 'ValueLab.Pair'""").stdout)
        right = 0
        for address, mark in answer["rows"]:
            if address in texts:
                length, text = texts[address]
                self.assertEqual(len(text), length)
                self.assertEqual(int(PAIR.fullmatch(text)[1]), mark, hex(address))
                right += 1
        return right, len(answer["rows"])

    def check_numbers(self, name):
        """How many pairs have their fields; each row has those of one pair, which has bytes of the number that its id says."""
        answer = json.loads(self.gcdumpc("sql", self.path(name), "--show-values", "--json", """
            select p.address, b.address, b.size_bytes - 24, f.field, f.text, case when f.target_id is null then f.kind else f.target_id = b.id end from types t join objects p on p.type_id = t.id
            join edges eb on eb.from_id = p.id join objects b on b.id = eb.to_id join types tb on tb.id = b.type_id and tb.raw_name = 'System.Byte[]'
            join fields f on f.object_id = p.id
            where t.raw_name = 'ValueLab.Pair'""").stdout)
        pairs = {}
        for address, _, mark, field, text, to_mark in answer["rows"]:
            pairs.setdefault(address, {"bytes": mark})[field] = to_mark if field == "Mark" else text
        for address, pair in pairs.items():
            if "Id" in pair:                                             # else only its references are known
                n = int(pair["Id"])
                price = f"{n // 100}" + (f".{n % 100:02}".rstrip("0") if n % 100 else "") if n % 2 else None
                key = f"{n:08x}-0001-0002-0304-050607{n & 255:02x}{n >> 8 & 255:02x}{n >> 16 & 255:02x}"
                self.assertEqual((n % 997, 2 * n + 1, key, price, str(-n)),
                                 (pair["bytes"], int(pair["Twice"]), pair["Key"], pair["Price"], pair["Both.Item1"]), hex(address))
                self.assertIn(pair["Mark"], (1, "object"), hex(address))     # "object": moved to where the walk met none
                for text in (pair["Text"], pair["Both.Item2"]):          # strings are read apart from what refers to them: one may be left out
                    self.assertTrue(text is None or int(PAIR.fullmatch(text)[1]) == n % 997, hex(address))
        return sum("Id" in pair for pair in pairs.values())

    def churn(self, runtime, **environment):
        """0 wrong values: pairs are replaced by the thousand, under forced compacting collections."""
        passes = right = numbers = all_of_them = dropped = 0
        with self.start("churn", PAIRS, "collect", runtime=runtime, **environment) as target:
            while passes < PASSES or (right == 0 or numbers == 0 and not environment) and passes < 5 * PASSES:    # how many values outlive it, is chance
                name = f"{passes}.nettrace"
                passes += 1
                kind = "strings" if passes % 4 == 0 else "all"
                run = self.collect(target, name, "--values", kind, "--quiet", "--timeout", 60)
                facts = self.facts(name)
                n, pairs = self.check_pairs(name)
                right, all_of_them = right + n, all_of_them + pairs
                if facts is not None:
                    self.assertEqual(facts["kind"], kind)
                    rows = self.check_numbers(name)
                    self.assertLessEqual(rows, facts["numbers"])
                    numbers += rows
                    dropped += facts["collected"] + facts["changed"]
                else:                                # on a slow machine another of the forced collections can be that of the dump
                    self.assertEqual(n, 0)
                    self.assertRegex(run.stderr, r"values: none \((the dump is of another heap walk|events were lost, or may have been)\)")
                os.unlink(self.path(name))
        self.assertIn(all_of_them - 2 * passes * PAIRS, range(2 * passes + 1))       # two each; it may just have made one that it has not stored yet
        self.assertGreater(right, 0)
        self.assertTrue(numbers > 0 or environment, "no fields")            # types take time to read, which other collectors may not leave
        return dropped

    def test_no_text_is_that_of_another_object(self):
        for runtime in {r for r in RUNTIMES if r >= 10} or {own_runtime()}:
            for collector, environment in COLLECTORS.items():
                if LONG or collector == "workstation":
                    with self.subTest(runtime=runtime, collector=collector):
                        self.churn(runtime, **environment)

    def test_texts_are_those_of_the_program(self):
        """By a sum over all of them, which the program computes."""
        n = 1_000_000
        with self.start("still", n) as target:
            self.collect(target, "x.nettrace", "--values", "strings")
        texts = [text for _, text in self.texts("x.nettrace").values() if re.match(r"text \d", text)]
        self.assertEqual(len(texts), n)
        total = sum(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") for text in texts) % 2 ** 64
        self.assertEqual(total, int(target.line))
        facts = self.facts("x.nettrace")
        self.assertEqual((facts["collected"], facts["changed"], facts["unread"]), (0, 0, 0))

    def keys(self, leaks):
        """Kind of collection -> tenant -> how many keys the answer says."""
        found = {}
        for s in json.loads(self.gcdumpc(*leaks, "--show-values", "--json").stdout)["suspects"]:
            kind = re.search(r"/(\w+)-\d", s["keys"] or "")
            if kind:                                 # not of the runtime
                found[kind[1]] = {int(re.fullmatch(r"user:tenant-(\d+)/", g["beginning"])[1]): g["count"] for g in s["key_beginnings"]}
        return found

    def test_suspects_have_the_keys_of_their_collections(self):
        """Each kind of collection has the keys that the program made, by their beginning; a dictionary with texts as values has those of other objects."""
        n = 500
        wanted = {kind: {42: 300, 3: 100, 4: 100} for kind in ("concurrent", "sorted", "listed", "immutable", "sortedimmutable", "seen")}
        wanted.update(plain={42: 270, 3: 70, 4: 110}, mixed={42: 150, 3: 50, 4: 50})
        wanted["plain"] = {42: 300, 3: 50, 4: 100}
        leaks = ("leaks", self.path("keys.nettrace"), "--min-bytes", "20K", "--share", 1)
        for runtime in RUNTIMES if LONG else {own_runtime(), RUNTIMES[-1]}:
            with self.subTest(runtime), self.start("keys", n, runtime=runtime) as target:
                self.collect(target, "keys.nettrace", "--values", "strings")
                self.assertNotIn("tenant", self.gcdumpc(*leaks).stdout + self.gcdumpc(*leaks, "--json").stdout)
                self.assertEqual(self.keys(leaks), wanted)
                self.collect(target, "exact.nettrace", "--values", "strings", "--fields", "exact")    # no null in between is unknown
                exact = self.keys(("leaks", self.path("exact.nettrace"), *leaks[2:]))
                self.assertEqual(exact, {**wanted, "hashed": {42: 300, 3: 100, 4: 100}, "mixed": {42: 300, 3: 100, 4: 100}})
                notes = json.loads(self.gcdumpc(*leaks, "--json").stdout)["notes"]    # it cannot grow
                self.assertTrue(any("Frozen" in note["sentence"] for note in notes), notes)
                note, = (n for n in json.loads(self.gcdumpc(*leaks, "--show-values", "--json").stdout)["notes"] if "Frozen" in n["sentence"])
                self.assertRegex(note["keys"], r'^500 keys, such as "user:tenant-3/frozen-')
                self.assertEqual(sum(g["count"] for g in note["key_beginnings"]), 500)
                text = self.gcdumpc(*leaks, "--show-values").stdout
                self.assertRegex(text, r'\n +\d+ keys, such as "user:tenant-3/')
                self.assertRegex(text, r'\nNote: [^\n]*(\n +[^\n]*)*Frozen[^\n]*(\n +[^\n]*)*\n +500 keys, such as "user:tenant-3/frozen-')
                self.assertRegex(self.gcdumpc("leaks", "--pid", target.pid, *leaks[2:], "--show-values").stdout, r"\n +\d+ keys, such as ")

    def keys_of(self, name, per_field):
        """How many fields have keys; the key by which each value is held is the one that it says."""
        rows = json.loads(self.gcdumpc("sql", self.path(name), "--show-values=raw", "--json", """
            select o.id, f.text from objects o join fields f on f.object_id = o.id and f.field = 'Of' where o.type = 'ValueLab.Leaf' order by o.id""").stdout)["rows"]
        fields = {}
        for node, text in rows:
            fields.setdefault(text.split("[")[0], []).append((node, text))
        known = set()
        for field, leaves in fields.items():
            for node, text in leaves[1 % len(leaves)::max(1, len(leaves) // per_field)][:per_field]:
                steps = json.loads(self.gcdumpc("paths", self.path(name), "--object", node, "--show-values=raw", "--max-paths", 10, "--json").stdout)["paths"]
                keys = {step["key"] for step in steps if step.get("key")}
                self.assertLessEqual(keys, {text[len(field) + 1:-1].strip('"')}, text)
                known |= {field} if keys else set()
        return known, set(fields)

    def test_keys_that_are_no_strings(self):
        """A path shows the key of a value, whatever type it is of, as the program has it."""
        for runtime in RUNTIMES if LONG else {own_runtime(), RUNTIMES[-1]}:
            with self.subTest(runtime), self.start("keyed", 40, runtime=runtime) as target:
                self.collect(target, "image.nettrace", "--values", "all", "--direct")
                self.collect(target, "events.nettrace", "--values", "all")
                createdump(self, target, "image.core", "--withheap")
                for name, without in (("image.core", set()), ("image.nettrace", set()), ("events.nettrace", {"Listed"})):
                    with self.subTest(name):
                        known, fields = self.keys_of(name, 2)
                        self.assertEqual(len(fields), 39)
                        self.assertEqual(fields - known, without)       # its keys and values are in two arrays, and may change in between
                text = self.gcdumpc("leaks", self.path("events.nettrace"), "--show-values", "--min-bytes", "1K", "--share", 1).stdout
                self.assertRegex(text, r"40 keys, such as 4700, 47\d\d,\s47\d\d\.")
        with self.start("keyed", 200_000) as target:                    # 4.8 MB of entries
            self.collect(target, "x.nettrace", "--values", "all", "--values-time", 20000)
            self.assertEqual(self.keys_of("x.nettrace", 7), ({"ByLong"}, {"ByLong"}))

    def test_keys_that_nobody_finds_again(self):
        """Keys by reference that only the dictionary has, not those of a comparer or those that others have; and how many contents they have."""
        for runtime in RUNTIMES if LONG else {own_runtime(), RUNTIMES[-1]}:
            with self.subTest(runtime), self.start("lost", 300, runtime=runtime) as target:
                self.collect(target, "events.nettrace", "--values", "all")
                self.collect(target, "image.nettrace", "--values", "all", "--direct")
            for name in ("events.nettrace", "image.nettrace"):
                with self.subTest(name):
                    leaks = json.loads(self.gcdumpc("leaks", self.path(name), "--min-bytes", "1K", "--share", 5, "--show-values", "--json").stdout)
                    said = {s["place"].split(".")[-1]: s for s in leaks["suspects"]}
                    lost = {place for place, s in said.items() if s["advice"].startswith("No lookup finds its keys again: nothing else refers to")}
                    self.assertEqual((lost, set(said) - lost), ({"Arrays", "Classes"}, {"Compared", "Identities"}))
                    for place in ("Arrays", "Classes", "Compared"):
                        self.assertRegex(said[place]["keys"], r"^300 keys, such as .* They have only 10 different contents\.$")
                    self.assertNotIn("different", said["Identities"]["keys"])
                    self.assertIn("ByArray, a record, compares Tags by reference", said["Arrays"]["advice"])
                    self.assertIn("Unequal has no Equals", said["Classes"]["advice"])

    def test_values_are_kept_only_if_they_are_asked_for(self):
        with self.start("still", 1000) as target:
            self.collect(target, "none.nettrace")
            r = self.collect(target, "texts.nettrace", "--values", "strings", "--max-string", 20)
            self.collect(target, "hashes.nettrace", "--values", "hashes")
        self.assertRegex(r.stderr, r"values: texts of [12],\d{3} strings, read [\d,]+ ms after the walk\n")
        self.assertIsNone(self.facts("none.nettrace"))
        self.assertEqual(self.texts("none.nettrace"), {})
        self.assertEqual(self.facts("hashes.nettrace")["kind"], "hashes")
        self.assertEqual({text for _, text in self.texts("hashes.nettrace").values()}, {"-"})
        self.assertLessEqual(max(len(text) for _, text in self.texts("texts.nettrace").values()), 20)
        self.assertGreater(max(length for length, _ in self.texts("texts.nettrace").values()), 20)
        r = self.gcdumpc("strings", self.path("hashes.nettrace"), "--filter", "x", status=1)
        self.assertIn("has only the hashes of its strings", r.stderr)
        for name in ("texts.nettrace", "hashes.nettrace"):
            with self.subTest(name):
                self.assertIn("values ", self.gcdumpc("info", self.path(name)).stdout)
                answer = json.loads(self.gcdumpc("strings", self.path(name), "--json").stdout)
                self.assertEqual(sum(r["count"] for r in answer["strings"]), answer["string_totals"]["count"])
                self.assertGreater(answer["string_totals"]["wasted_bytes"], 0)
        self.check_redacted()

    def check_redacted(self):
        """Values go from a recording, also after it was converted, packed and cut."""
        self.gcdumpc("convert", self.path("texts.nettrace"), "-o", self.path("copy.nettrace.gz"))
        self.assertEqual(self.texts("copy.nettrace.gz"), self.texts("texts.nettrace"))
        self.gcdumpc("convert", self.path("copy.nettrace.gz"), "-o", self.path("hashed.nettrace"), "--redact=hash")
        self.assertEqual(self.facts("hashed.nettrace")["kind"], "hashes")
        texts, hashed = self.texts("texts.nettrace"), self.texts("hashed.nettrace")
        self.assertEqual({a: length for a, (length, _) in hashed.items()}, {a: length for a, (length, _) in texts.items()})
        self.assertEqual({text for _, text in hashed.values()}, {"-"})
        for source in ("copy.nettrace.gz", "hashed.nettrace"):
            self.gcdumpc("convert", self.path(source), "-o", self.path("bare.nettrace"), "--redact")
            self.assertIsNone(self.facts("bare.nettrace"))
            info = json.loads(self.gcdumpc("info", self.path("bare.nettrace"), "--json").stdout)
            self.assertTrue(info["verdict"]["complete"])
            with open(self.path("bare.nettrace"), "rb") as f, open(self.path("texts.nettrace"), "rb") as g:
                bare, whole = f.read(), g.read()
            self.assertEqual(whole[:len(bare) - 1], bare[:-1])            # the end mark follows
            self.assertLess(len(bare), len(whole))
        for cut in (1, 100, (len(whole) - len(bare)) // 2):               # what is left of the values goes, too
            with open(self.path("cut.nettrace"), "wb") as f:
                f.write(whole[:-cut])
            self.gcdumpc("convert", self.path("cut.nettrace"), "-o", self.path("cut2.nettrace"), "--redact", status=3)
            with open(self.path("cut2.nettrace"), "rb") as f:
                self.assertEqual(f.read(), bare[:-1])

    def test_direct_dumps_have_all_texts(self):
        """Nothing can move while the process is stopped."""
        with self.start("still", 1000) as target:
            r = self.gcdumpc("collect", "--pid", target.pid, "--direct", "-o", self.path("x.nettrace"), "--values", "strings", "--strict")
        texts = {text for _, text in self.texts("x.nettrace").values()}
        self.assertLessEqual({f"text {i} " + chr(ord("A") + i % 26) * (i % 60) for i in range(1000)}, texts)
        self.assertRegex(r.stderr, r"values: texts of [12],\d{3} strings and arrays of numbers\n")

    def test_damaged_values_are_dropped(self):
        with self.start("still", 1000) as target:
            self.collect(target, "bare.nettrace")
            self.collect(target, "x.nettrace", "--values", "strings")
        with open(self.path("x.nettrace"), "rb") as f:
            data = bytearray(f.read())
        data[-3000] ^= 0x40
        with open(self.path("y.nettrace"), "wb") as f:
            f.write(data)
        r = self.gcdumpc("strings", self.path("y.nettrace"), status=1)
        self.assertIn("has no texts of strings", r.stderr)
        r = self.gcdumpc("report", self.path("y.nettrace"), "--json", status=3)
        self.assertEqual([reason["code"] for reason in json.loads(r.stdout)["verdict"]["reasons"]], ["events_damaged"])

    def test_without_time_the_rest_is_said(self):
        with self.start("still", 300_000) as target:
            r = self.collect(target, "x.nettrace", "--values", "strings", "--values-time", 1)
            facts = self.facts("x.nettrace")
            self.assertGreater(facts["unread"], 0)
            self.assertIn("were not read in time", r.stderr)
            self.collect(target, "y.nettrace", "--values", "strings", "--values-time", 1, "--strict", status=1)
        self.assertEqual(self.files(), ["x.nettrace"])

    def test_a_job_keeps_what_its_file_says(self):
        with self.start("still", 1000) as target:
            for kind, max_string in (("all", 20), ("hashes", 256), ("none", 256)):
                with open(self.path("jobs"), "w", encoding="utf-8") as f:
                    f.write(f"[one]\npid = {target.pid}\noutput = {self.path(kind)}.nettrace.gz\nvalues = {kind}\nmax-string = {max_string}\n")
                self.gcdumpc("run", "one", "--config", self.path("jobs"))
                facts = self.facts(f"{kind}.nettrace.gz")
                self.assertEqual((facts["kind"], facts["max_string"]) if facts else None, {"all": ("all", 20), "hashes": ("hashes", 256)}.get(kind))

    def test_a_client_sees_what_the_operator_of_the_server_says(self):
        """What the dumps of an MCP server keep and what it shows, whatever its client asks for."""
        with self.start("still", 1000) as target:
            for words, kept, shown in (((), None, False), (("--values", "hashes"), "hashes", False), (("--values", "all"), "all", False),
                                       (("--show-values",), None, False), (("--values", "all", "--show-values"), "all", True),
                                       (("--values", "strings", "--show-values=raw"), "strings", True), (("--values", "hashes", "--show-values"), "hashes", False)):
                name = "".join(words).replace("=", "") + "x.nettrace.gz"
                server = [PROGRAM, "mcp", "--root", self.path(""), "--allow-collect", *words]
                with self.subTest(words), subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
                    client = Client(process)
                    for more in ({"values": "all"}, {"show_values": "raw"}, {"show-values": True}, {"max_string": 1}):
                        self.assertIn("no argument", client.error("collect", pid=target.pid, file=name, confirm=True, **more))
                    notes = client.call("collect", pid=target.pid, file=name, confirm=True)["notes"]
                    self.assertEqual(any("values: " in note for note in notes), kept is not None, notes)
                    self.assertEqual((self.facts(name) or {"kind": None})["kind"], kept)
                    for more in ({"values": "all"}, {"show_values": "raw"}):
                        self.assertIn("no argument", client.error("strings", **more))
                    self.assertEqual(client.call("sql", statement="select count(*) > 1000 from strings where text is not null")["rows"], [[int(shown)]])
                    if kept in ("strings", "all"):
                        self.assertEqual("strings" in client.call("strings", filter="text 7 *"), True) if shown else self.assertIn("--show-values", client.error("strings", filter="text 7 *"))
                    process.stdin.close()
                    self.assertEqual(process.wait(), 0)
        self.assertIn("needs --allow-collect", self.gcdumpc("mcp", "--root", self.path(""), "--values", "all", status=2).stderr)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root, to have less rights than the process")
    def test_without_permission_the_dump_is_taken_without_values(self):
        less = ["setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"]
        with self.start("still", 1000) as target:
            for options, status, files in (((), 0, ["x.nettrace"]), (("--strict",), 1, [])):
                r = subprocess.run([*less, PROGRAM, "collect", "--pid", str(target.pid), "-o", self.path("x.nettrace"), "--values", "strings",
                                    "--summary", "-", *options], capture_output=True, text=True, check=False)
                self.assertEqual(r.returncode, status, r.stderr)
                self.assertTrue(status == 1 or "CAP_SYS_PTRACE" in json.loads(r.stdout)["values_missing"])
                self.check_refused(r.stderr, "CAP_SYS_PTRACE")
                self.assertEqual(self.files(), files)
                if files:
                    self.assertIsNone(self.facts("x.nettrace"))
                    os.unlink(self.path("x.nettrace"))
            for command in (("leaks", "--show-values"), ("exceptions", "--show-values"), ("sql", "--show-values", "select 1")):
                r = subprocess.run([*less, PROGRAM, command[0], "--pid", str(target.pid), "--json", *command[1:]], capture_output=True, text=True, check=True)
                self.assertRegex(json.loads(r.stdout)["values_missing"], "^EPERM: its memory may not be read: ")

    def check_refused(self, said, why):
        self.assertRegex(said, r"paused .* complete; .*; values: none \(EPERM\)\n")
        self.assertRegex(said, rf"\n.*: values: none \(EPERM: its memory may not be read: .*{why}")

    @contextlib.contextmanager
    def started_as_nobody(self, program, *prefix):
        """The number of a ValueLab of user nobody."""
        environment = {**os.environ, "TMPDIR": self.path("tmp"), "HOME": self.path("tmp")}
        with subprocess.Popen([*prefix, program, "still", "1000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as p:
            try:
                if p.stdout.readline() == "":
                    self.skipTest("nobody cannot run the program here")
                p.stdout.readline()
                pids = [int(n) for n in os.listdir("/proc") if n.isdigit() and self.parent_of(n) == p.pid and "ValueLab" in self.command(n)]
                yield pids[0] if pids else p.pid
            finally:
                p.stdin.close()

    @staticmethod
    def command(pid):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="utf-8") as f:
            return f.read()
        return ""

    @staticmethod
    def parent_of(pid):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return int(f.read().rpartition(")")[2].split()[1])
        return 0

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root, for processes of other users")
    def test_who_may_read(self):
        """A process that may be dumped but not read gives a dump without values, and why; root reads them all."""
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env"]       # setpriv itself still has capabilities
        poor = ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"]
        apart = ["unshare", "--user"]
        if subprocess.run([*nobody, PROGRAM, "--version"], capture_output=True, check=False).returncode != 0:
            self.skipTest("nobody cannot run gcdumpc here")
        os.chmod(self.folder, 0o711)
        os.mkdir(self.path("tmp"))
        os.chmod(self.path("tmp"), 0o777)
        plain, unread, capable = (os.path.join(self.path(name), "ValueLab") for name in ("plain", "unread", "capable"))
        source = os.path.dirname(need(value_lab, own_runtime()))
        for program in (plain, unread, capable):
            shutil.copytree(source, os.path.dirname(program))
        os.chmod(unread, 0o711)
        cases = [(plain, [], nobody, None), (plain, [], poor, "belongs to another user; run gcdumpc as that user, as root, or with the capability CAP_SYS_PTRACE"),
                 (unread, [], nobody, "is not dumpable .*; run gcdumpc as root, or with the capability CAP_SYS_PTRACE"), (unread, [], [], None)]
        if shutil.which("setcap") and subprocess.run(["setcap", "cap_net_bind_service+ep", capable], capture_output=True, check=False).returncode == 0:
            cases += [(capable, [], nobody, "is not dumpable .*its program has capabilities"), (capable, [], [], None)]
        if subprocess.run([*nobody, *apart, "true"], capture_output=True, check=False).returncode == 0:
            cases += [(plain, apart, nobody, None), (plain, [], [*nobody, *apart], "is in another user namespace; run gcdumpc in the parent namespace, as root")]
        for program, inside, reader, why in cases:
            with self.subTest(program=program, inside=inside, reader=reader), self.started_as_nobody(program, *nobody, *inside) as pid:
                for options in ((), ("--strict",)):
                    out = os.path.join(self.path("tmp"), "x.nettrace")
                    r = subprocess.run([*reader, PROGRAM, "collect", "--pid", str(pid), "-o", out, "--values", "strings", *options],
                                       capture_output=True, text=True, check=False, env={**os.environ, "TMPDIR": self.path("tmp")})
                    self.assertEqual(r.returncode, 1 if why and options else 0, r.stderr)
                    self.assertEqual(os.path.exists(out), r.returncode == 0)
                    if why:
                        self.check_refused(r.stderr, why)
                    else:
                        self.assertRegex(r.stderr, r"values: texts of [12],\d{3} strings, read [\d,]+ ms after the walk\n")
                    if os.path.exists(out):
                        os.unlink(out)


class NullReferences(LiveTest):
    """collect --fields exact: which references are null is read beside the walk, so that each has its field and its index, whatever the collector does."""

    def start(self, *args, runtime=None, **environment):
        return Process("holes", *map(str, args), program=need(value_lab, runtime or own_runtime()), **environment)

    def collect(self, target, name, *options, status=0):
        return self.gcdumpc("collect", "--pid", target.pid, "-o", self.path(name), *options, status=status)

    def facts(self, name):
        return json.loads(self.gcdumpc("info", self.path(name), "--json").stdout)["null_maps"]

    def references(self, name):
        """(address, number of the reference) -> (kind of object, length of the array of bytes, field, index)"""
        rows = json.loads(self.gcdumpc("sql", self.path(name), "--json", """
            select p.address, e.slot, t.raw_name, b.size_bytes - 24, e.field, e.element from types t join objects p on p.type_id = t.id
            join edges e on e.from_id = p.id join objects b on b.id = e.to_id join types tb on tb.id = b.type_id and tb.raw_name = 'System.Byte[]'
            where t.raw_name in ('ValueLab.Holder', 'ValueLab.Cell[]', 'System.Byte[][]')""").stdout)["rows"]
        return {(address, n): tuple(rest) for address, n, *rest in rows}

    def check(self, references):
        """How many have a field or an index, all of them the right ones."""
        known = 0
        for where, (kind, length, field, index) in references.items():
            wanted = {"ValueLab.Holder": (("First", "Second", "Third", "Fourth")[length % 8 % 4], None),
                      "ValueLab.Cell[]": ("Key" if length % 8 == 5 else "Value", length // 8), "System.Byte[][]": (None, length // 8)}[kind]
            if index is not None or kind == "ValueLab.Holder" and field is not None:
                self.assertEqual((field or None, index), wanted, where)
                known += 1
        return known

    def churn(self, runtime, how="collect", least=PASSES, **environment):
        known = read = dropped = passes = 0
        with self.start(PAIRS // 10, how, runtime=runtime, **environment) as target:
            while passes < least or known == 0 and passes < 5 * PASSES:
                name = f"{passes}.nettrace"
                self.collect(target, name, "--fields", "exact", "--quiet", "--timeout", 60, *(["--values", "all"] if passes % 4 == 3 else []))
                passes += 1
                facts = self.facts(name)
                if facts is not None:                # as with values: the dump is of another walk
                    known += self.check(self.references(name))
                    read += facts["count"]
                    dropped += facts["collected"] + facts["changed"]
                os.unlink(self.path(name))
        # 84 to 153 ms after the walk, when .NET 11 tells its end (measured), a collection each 5 ms has moved all of it
        if runtime == own_runtime() or how != "collect":
            self.assertGreater(read, 0)
        return read, dropped

    def test_no_reference_gets_the_field_of_another(self):
        for runtime in {r for r in RUNTIMES if r >= 10 or LONG} | {own_runtime()}:
            for collector, environment in COLLECTORS.items():
                if LONG or collector == "workstation":
                    with self.subTest(runtime=runtime, collector=collector):
                        read, dropped = self.churn(runtime, **environment)
                        print(f"{PASSES} passes, .NET {runtime}, {collector}: {read:,} read, {dropped:,} dropped", flush=True)
            with self.subTest(runtime=runtime, collector="without forced collections"):
                read, dropped = self.churn(runtime, "change", 2)
                print(f"2 passes, .NET {runtime}, no forced collections: {read:,} read, {dropped:,} dropped", flush=True)

    def test_all_references_have_fields_and_indexes(self):
        """As in a core file of the same process; before and after the recording is converted and its values are removed."""
        for runtime in RUNTIMES if LONG else {own_runtime(), RUNTIMES[-1]}:
            with self.subTest(runtime), self.start(2000, "still", runtime=runtime) as target:
                self.collect(target, "bare.nettrace")                        # then the next collection moves nothing
                r = self.collect(target, "x.nettrace", "--fields", "exact", "--strict")
                self.assertRegex(r.stderr, r"fields: exact, also in [\d,]+ objects with null references, read [\d,]+ ms after the walk\n")
                self.assertIn("\nexact fields       exact, also in", self.gcdumpc("info", self.path("x.nettrace")).stdout)
                core = createdump(self, target, f"{runtime}.core", "--withheap")
                r = self.collect(target, "direct.nettrace", "--direct", "--fields", "exact", "--strict")
                self.assertIn("fields: exact, as in each dump that is made of memory", r.stderr)
                self.collect(target, "both.nettrace.gz", "--fields", "exact", "--values", "all", "--strict")
            got = self.references("x.nettrace")
            self.assertEqual(self.check(got), len(got))
            self.assertLess(self.check(self.references("bare.nettrace")), len(got) * 3 // 4)
            self.assertEqual(sorted(got.values()), sorted(self.references("direct.nettrace").values()))
            self.assertEqual(sorted(got.values()), sorted(self.references(os.path.basename(core)).values()))
            self.assertEqual(sorted(got.values()), sorted(self.references("both.nettrace.gz").values()))
            self.gcdumpc("convert", self.path("both.nettrace.gz"), "-o", self.path("left.nettrace"), "--redact")
            self.gcdumpc("convert", self.path("left.nettrace"), "-o", self.path("copy.nettrace.gz"))
            self.assertIsNone(json.loads(self.gcdumpc("info", self.path("left.nettrace"), "--json").stdout)["values"])
            self.assertEqual(self.facts("copy.nettrace.gz"), self.facts("both.nettrace.gz"))
            self.assertEqual(self.references("copy.nettrace.gz"), self.references("both.nettrace.gz"))
            self.assertIn("fields: exact, also in", self.gcdumpc("convert", self.path("x.nettrace"), "-o", self.path("y.nettrace"), "--fields", "exact").stderr)
            self.assertIn("fields: not exact (", self.gcdumpc("convert", self.path("bare.nettrace"), "-o", self.path("y.nettrace"), "--fields", "exact").stderr)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root, to have less rights than the process")
    def test_without_permission_the_dump_is_taken_without_them(self):
        less = ["setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"]
        with self.start(100, "still") as target:
            for options, status in (((), 0), (("--strict",), 1)):
                r = subprocess.run([*less, PROGRAM, "collect", "--pid", str(target.pid), "-o", self.path("x.nettrace"), "--fields", "exact",
                                    *options], capture_output=True, text=True, check=False)
                self.assertEqual(r.returncode, status, r.stderr)
                self.assertRegex(r.stderr, r"fields: not exact \(EPERM\)\n(.*\n)*.*fields: not exact \(EPERM: its memory may not be read: .*CAP_SYS_PTRACE")
                self.assertNotIn("values:", r.stderr)
        self.assertIsNone(self.facts("x.nettrace"))


class Fields(LiveTest):
    """Values of all kinds of fields in memory, against what the program says of its own objects."""
    N = 2000

    def truth(self, target):
        """Number of an order -> field -> text."""
        lines = [target.line, *iter(target.process.stdout.readline, "open\n")]
        self.assertEqual(len(lines), self.N)
        return [dict(word.split("=", 1) for word in line.rstrip("\n").split("\t")[1:]) for line in lines]

    def sql(self, *args):
        return json.loads(self.gcdumpc("sql", *args, "--json", "--show-values", "--quiet").stdout)["rows"]

    def check(self, *source):
        orders = [{} for _ in range(self.N)]
        rows = self.sql(*source, """
            WITH x AS (SELECT to_id AS id, e.slot AS n FROM objects a JOIN edges e ON e.from_id = a.id WHERE a.type = 'ValueLab.Order[]')
            SELECT n, f.field, f.kind, f.text, f.target_id, (SELECT type FROM objects WHERE id = f.target_id), (SELECT text FROM fields WHERE object_id = f.target_id)
            FROM x JOIN fields f ON f.object_id = x.id""")
        for n, field, kind, text, target, type, content in rows:
            if kind == "object" and ("Box<" in type or "Maybe<" in type):
                text = content or "null"
            orders[n][field] = "null" if kind == "null" else f'"{text}"' if kind == "string" else text
            self.assertEqual(target is not None, kind in ("object", "string") or field == "Tag" and kind != "null", field)
            self.assertNotEqual(kind, "struct")
        return orders

    def same(self, ours, theirs):
        self.assertEqual(len(ours), len(theirs))
        for mine, said in zip(ours, theirs):
            del mine["Places"]
            self.assertEqual(set(mine), set(said))
            for field, text in said.items():
                if field in ("Rights", "Tag", "BoxedRights"):
                    self.assertEqual(mine[field], text.replace(", ", " | "), field)
                else:
                    self.assertEqual(mine[field], text, field)

    def test_values_of_fields_are_those_of_the_program(self):
        for runtime in RUNTIMES if LONG else {own_runtime(), RUNTIMES[-1]}:
            with self.subTest(runtime), Process("orders", str(self.N), program=need(value_lab, runtime)) as target:
                said = self.truth(target)
                core = createdump(self, target, f"{runtime}.core", "--withheap")
                self.same(self.check("--pid", target.pid, "--direct"), said)
                kept, direct, events = (self.path(f"{runtime}{way}.nettrace.gz") for way in ("", "-direct", "-events"))
                self.gcdumpc("convert", core, "--values", "all", "-o", kept)
                self.gcdumpc("collect", "--pid", target.pid, "--direct", "--values", "all", "-o", direct)
                r = self.gcdumpc("collect", "--pid", target.pid, "--values", "all", "-o", events, "--strict")
                self.assertRegex(r.stderr, r"values: texts of [\d,]+ strings; fields of [\d,]+ objects, read [\d,]+ ms after the walk\n")
                self.assertGreater(self.exceptions(core)[1], 0)
                for file in (kept, direct, events):
                    self.assertEqual(self.exceptions(file), self.exceptions(core))
                    self.assertEqual(self.held(file), self.held(core))
                for file in (core, kept, direct, events):
                    self.same(self.check(file), said)
                    for field in ("State", "MaybeDay", "Rights", "Tag", "Both.Item1", "Pair.value.Y", "Route.Last.Which"):
                        self.check_groups(file, field, said)
                    self.check_shown(file, said)
                    self.check_hidden(file)

    def exceptions(self, file):
        """What exceptions of the program say, and how many of all were thrown."""
        answer = json.loads(self.gcdumpc("exceptions", file, "--show-values", "--json").stdout)
        rows = {}
        for e in answer["exceptions"]:               # a core file also tells where they were thrown
            key = e["type"], e["inner_type"], e["text"], None if e["hresult"] in ("0x80131509", "0x80131600") else e["hresult"]
            count, thrown = rows.get(key, (0, 0))
            rows[key] = count + e["count"], thrown + e["thrown"]
        return rows, answer["thrown"]

    def held(self, file):
        """By which fields the texts of the orders and exceptions are held."""
        answer = json.loads(self.gcdumpc("strings", file, "--show-values", "--json", "--top", 100_000).stdout)
        held = {s["text"]: sorted((h["label"], h["count"]) for h in s["holders"]) for s in answer["strings"]
                if re.fullmatch(r"(customer|failure|help) \d+|lab|too late|no such thing|name", s["text"] or "")}
        self.assertEqual(len(held), sum(f"customer {i}" in held for i in range(self.N + 1)) + 14)
        return held

    def check_groups(self, core, field, said):
        rows = json.loads(self.gcdumpc("retained", core, "--type", "ValueLab.Order", "--by", field, "--show-values", "--json", "--top", 5000).stdout)["field_values"]
        ours = {"null" if r["kind"] == "null" else r["name"] or (f"'{chr(int(r['number']))}'" if field == "Tag" and r["number"] == "120" and r["count"] > 1 else r["number"]): r["count"] for r in rows}
        theirs = {}
        for order in said:
            text = order[field].replace(", ", " | ")
            theirs[text] = theirs.get(text, 0) + 1
        self.assertEqual(ours, theirs)

    def check_shown(self, core, said):
        """paths --object shows an order as a debugger does."""
        address, = self.sql(core, "SELECT printf('0x%x', o.address) FROM objects o JOIN fields f ON f.object_id = o.id WHERE f.field = 'Id' AND abs(f.integer) = 7 AND o.type = 'ValueLab.Order'")[0]
        text = self.gcdumpc("paths", core, "--object", address).stdout
        for field in ("Id", "Due", "Price", "MaybeState", "Key", "Customer"):
            self.assertIn(f"\n  {field} = {said[6][field]}", text)
        self.assertIn("\n  BoxedDue → ValueLab.Box<System.DateTime>,\n", text)
        fields = {f["field"]: f for f in json.loads(self.gcdumpc("paths", core, "--object", address, "--json").stdout)["fields"]}
        self.assertEqual((fields["Made"]["kind"], fields["Made"]["name"]), ("datetimeoffset", said[6]["Made"]))
        self.assertEqual((fields["Price"]["kind"], fields["Price"]["number"]), ("decimal", said[6]["Price"]))
        self.assertIn(f"\n  Route.To.Width = {said[6]['Route.To.Width']},\n", text)
        if core.endswith(".core"):          # recordings have no arrays
            elements = self.gcdumpc("paths", core, "--object", fields["Places"]["address"]).stdout
            self.assertRegex(elements, r"\[0\].X = 7, \[0\].Y = \d+, .*\[1\].X = -7, \[1\].Y = 0|\[0\].X = 7,\n(.*\n)*  \[1\].X = -7,\n")
        self.assertNotIn("Id = ", self.gcdumpc("paths", core, "--object", address, "--show-values=none").stdout)
        self.assertNotIn("fields", json.loads(self.gcdumpc("paths", core, "--object", address, "--show-values=none", "--json").stdout))

    def check_hidden(self, core):
        self.assertEqual(json.loads(self.gcdumpc("sql", core, "SELECT count(*) FROM fields", "--json", "--quiet").stdout)["rows"], [[0]])


if __name__ == "__main__":
    main()
