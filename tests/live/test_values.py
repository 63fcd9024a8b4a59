"""collect --values: the texts of a living process are right or left out, whatever its collector does; what is kept of them; what happens without permission."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import unittest

from live_support import BUILD, PROGRAM, RUNTIMES, LiveTest, Process, main, need, own_runtime
import lab_programs

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
        """How many texts of pairs there are; each belongs to bytes of the number that it says."""
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

    def churn(self, runtime, **environment):
        """0 wrong values: pairs are replaced by the thousand, under forced compacting collections."""
        passes = right = all_of_them = dropped = 0
        with self.start("churn", PAIRS, "collect", runtime=runtime, **environment) as target:
            while passes < PASSES or right == 0 and passes < 5 * PASSES:    # how many texts outlive it, is chance
                name = f"{passes}.nettrace"
                passes += 1
                run = self.collect(target, name, "--values", "strings", "--quiet", "--timeout", 60)
                facts = self.facts(name)
                n, pairs = self.check_pairs(name)
                right, all_of_them = right + n, all_of_them + pairs
                if facts is not None:
                    self.assertEqual(facts["kind"], "strings")
                    dropped += facts["collected"] + facts["changed"]
                else:                                # on a slow machine another of the forced collections can be that of the dump
                    self.assertEqual(n, 0)
                    self.assertRegex(run.stderr, r"values: none \((the dump is of another heap walk|events were lost, or may have been)\)")
                os.unlink(self.path(name))
        self.assertEqual(all_of_them, passes * PAIRS)
        self.assertGreater(right, 0)
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
                found = {}
                for s in json.loads(self.gcdumpc(*leaks, "--show-values", "--json").stdout)["suspects"]:
                    if s["keys"]:
                        kind = re.search(r"/(\w+)-\d", s["keys"])[1]
                        found[kind] = {int(re.fullmatch(r"user:tenant-(\d+)/", g["beginning"])[1]): g["count"] for g in s["key_beginnings"]}
                self.assertEqual(found, wanted)
                notes = json.loads(self.gcdumpc(*leaks, "--json").stdout)["notes"]    # it cannot grow
                self.assertTrue(any("Frozen" in note["sentence"] for note in notes), notes)
                self.assertRegex(self.gcdumpc(*leaks, "--show-values").stdout, r'\n +\d+ keys, such as "user:tenant-3/')
                self.assertRegex(self.gcdumpc("leaks", "--pid", target.pid, *leaks[2:], "--show-values").stdout, r"\n +\d+ keys, such as ")

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

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root, to have less rights than the process")
    def test_without_permission_the_dump_is_taken_without_values(self):
        less = ["setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"]
        with self.start("still", 1000) as target:
            for options, status, files in (((), 0, ["x.nettrace"]), (("--strict",), 1, [])):
                r = subprocess.run([*less, PROGRAM, "collect", "--pid", str(target.pid), "-o", self.path("x.nettrace"), "--values", "strings",
                                    *options], capture_output=True, text=True, check=False)
                self.assertEqual(r.returncode, status, r.stderr)
                self.assertRegex(r.stderr, r"values: none \(its memory may not be read: .*CAP_SYS_PTRACE")
                self.assertEqual(self.files(), files)
                if files:
                    self.assertIsNone(self.facts("x.nettrace"))
                    os.unlink(self.path("x.nettrace"))


if __name__ == "__main__":
    main()
