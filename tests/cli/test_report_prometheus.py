"""report --format prometheus, read by a parser as strict as Prometheus' own, and by promtool if there is one.

The format: https://prometheus.io/docs/instrumenting/exposition_formats/ (text, version 0.0.4).
"""
import json
import re
import shutil
import subprocess

from cli_support import INCOMPLETE, CliTest, Ev, Payloads, V4File, main, trace, types_trace, write

RECORDINGS = ("net8-wks", "net10-wks-ranges", "net10-wks-nonames", "net10-wks-lossy", "net10-wks-killed", "net9-svr")
NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
VALUE = re.compile(r"\d+(\.\d+)?")
EVIL = ('a"b', "a\\b", "a\nb", "a\\nb", "a{b}", "a,b=\"c\"", "#a", "ä😀", "a\rb", "a\x1b[31m", "a b", "A[\"\\\n]",
        "a\\u001b[31m", "\u202eA", "\u2028\U000e0041\x9b")
# What must not be in the file as it is, and the code of it in a label.
HIDDEN = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\U000e0000-\U000e007f]")
CODE = re.compile(r"(?:\\u[0-9a-f]{4})+")


def label_text(value):
    """What stands in the file as VALUE."""
    value = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), value)
    return CODE.sub(lambda m: json.loads(f'"{m[0]}"'), value)


def parsed(text):
    """metric -> {frozenset of labels: value}; fails on anything that Prometheus would reject."""
    metrics, helped, typed, current = {}, set(), set(), None
    assert text.endswith("\n") and not HIDDEN.search(text)
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# HELP "):
            name, help_text = line[7:].split(" ", 1)
            assert name not in helped and help_text and "\\" not in help_text, line
            helped.add(name)
        elif line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            assert name not in typed and name in helped and kind == "gauge", line
            typed.add(name)
            metrics[name], current = {}, name
        else:
            name = NAME.match(line)[0]
            assert name == current and name in typed, line           # all samples of a metric must be together
            labels, at = [], len(name)
            assert line[at] == "{", line
            while line[at] != "}":
                label = LABEL.match(line, at + 1)
                assert label, line
                labels.append((label[1], label_text(label[2])))
                at = label.end()
                assert line[at] in ",}", line
            assert line[at + 1] == " " and VALUE.fullmatch(line[at + 2:]), line
            assert len({k for k, _ in labels}) == len(labels) and frozenset(labels) not in metrics[name], line
            metrics[name][frozenset(labels)] = float(line[at + 2:])
    return metrics


class Prometheus(CliTest):
    def metrics(self, name, *words, code=None):
        path = trace(name) if name in RECORDINGS else name
        run = self.done("report", path, "--format", "prometheus", "-q", *words, code=code if code is not None else 3 if name in INCOMPLETE else 0)
        self.promtool(run.out)
        return parsed(run.text)

    def promtool(self, data):
        tool = shutil.which("promtool")
        if tool is not None:
            checked = subprocess.run([tool, "check", "metrics"], input=data, capture_output=True, timeout=60)
            self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, b"", b""))

    def json(self, name, *words):
        path = trace(name) if name in RECORDINGS else name
        return json.loads(self.done("report", path, "--json", "-q", *words, code=3 if name in INCOMPLETE else 0).text)

    @staticmethod
    def one(metrics, name, process="HeapLab"):
        """The only sample; it has only the labels of the process."""
        (labels, value), = metrics["gcdumpc_" + name].items()
        labels = dict(labels)
        assert labels.pop("process") == process and set(labels) <= {"pid"}, metrics["gcdumpc_" + name]
        return value

    @staticmethod
    def by(metrics, name, label):
        return {dict(labels)[label]: value for labels, value in metrics["gcdumpc_" + name].items()}

    def test_the_parser_refuses(self):
        """Otherwise the test would prove nothing."""
        good = '# HELP a b\n# TYPE a gauge\na{c="d"} 1\n'
        self.assertEqual(parsed(good), {"a": {frozenset({("c", "d")}): 1}})
        for bad in (good + 'a{c="d"} 2\n', good.replace("# HELP a b\n", ""), good + '# TYPE a gauge\n', good.replace('"d"', '"d\\x"'),
                    good.replace('"d"', '"d"e"'), good.replace(" 1", " x"), good[:-1], good.replace("# TYPE a gauge\n", ""),
                    good.replace("} 1", "} 1\n"), good + "b{} 1\n"):
            with self.assertRaises((AssertionError, TypeError, ValueError, IndexError, KeyError)):
                parsed(bad)

    def test_totals(self):
        for name in RECORDINGS:
            m = self.metrics(name)
            facts = json.loads(self.done("info", trace(name), "--json", "-q", code=3 if name in INCOMPLETE else 0).text)
            process = facts["process"]["name"] or "heap"      # else the name of the file
            for metric, key in (("heap_objects", "objects"), ("heap_bytes", "bytes"), ("heap_references", "edges"), ("heap_types", "types")):
                self.assertEqual(self.one(m, metric, process), facts["dump"][key])
            self.assertEqual(self.one(m, "dump_complete", process), name not in INCOMPLETE)
            self.assertEqual(self.one(m, "dump_unverified", process), 0)
            self.assertEqual(self.by(m, "dump_incomplete", "reason") if name in INCOMPLETE else {},
                             {r["code"]: r["amount"] for r in facts["verdict"]["reasons"]})
            self.assertEqual("gcdumpc_dump_incomplete" in m, name in INCOMPLETE)
            gc = facts["gc"]
            self.assertEqual(self.one(m, "dump_duration_seconds", process), (gc["end_ns"] - gc["start_ns"]) / 10**9)
            self.assertEqual("gcdumpc_dump_pause_seconds" in m, gc["pause_ns"] is not None)
            if gc["pause_ns"] is not None:
                self.assertEqual(self.one(m, "dump_pause_seconds", process), gc["pause_ns"] / 10**9)
            taken = facts["trace"]["start_unix_ms"] / 1000 + gc["start_ns"] / 10**9
            self.assertAlmostEqual(self.one(m, "dump_timestamp_seconds", process), taken, delta=0.0021)
            for metric, samples in m.items():             # two processes with the same name share no sample
                self.assertFalse(metric.startswith("gcdumpc_run_"), metric)      # those of collect --metrics
                self.assertEqual({dict(labels)["pid"] for labels in samples}, {str(facts["process"]["pid"])}, metric)
            self.assertEqual(self.by(m, "info", "runtime"), {facts["process"]["runtime_version"] or "": 1})

    def test_types(self):
        for words, shown in (((), 20), (("--top=3",), 3), (("--top=100000",), 201), (("--filter=HeapLab.*", "--top=5"), 5),
                             (("--sort=count", "--top=7"), 7), (("--min-bytes=100000",), 7)):
            types = self.json("net10-wks-ranges", *(words if words else ("--top=20",)))["types"]
            m = self.metrics("net10-wks-ranges", *words)
            self.assertEqual(len(types), shown)
            for metric, key in (("type_objects", "count"), ("type_bytes", "bytes")):
                self.assertEqual({(dict(k)["type"], dict(k)["module"]): v for k, v in m["gcdumpc_" + metric].items()},
                                 {(t["type"], (t["module"] or "").rpartition("/")[2]): t[key] for t in types})
            self.assertEqual(self.one(m, "heap_bytes"), 1378569)

    def test_generations_and_roots(self):
        m = self.metrics("net10-wks-ranges")
        rows = self.json("net10-wks-ranges", "--by=generation")["generations"]
        for metric, key in (("objects", "count"), ("bytes", "bytes"), ("used_bytes", "used_bytes"), ("free_bytes", "free_bytes"),
                            ("reserved_bytes", "reserved_bytes")):
            self.assertEqual(self.by(m, "generation_" + metric, "generation"), {r["generation"]: r[key] for r in rows if r[key] is not None})
        roots = {r["group"]: r["roots"] for r in self.json("net10-wks-ranges", "--by=root")["roots"]}
        self.assertEqual({k: v for k, v in self.by(m, "roots", "kind").items() if v}, roots)
        self.assertEqual(len(self.by(m, "roots", "kind")), 8)       # a series does not appear and disappear with its value
        m = self.metrics("net9-svr")
        self.assertFalse([k for k in m if "generation" in k])
        m = self.metrics("net10-wks-ranges", "--filter=HeapLab.Item")
        self.assertEqual(sum(self.by(m, "generation_objects", "generation").values()), 59)
        self.assertNotIn("gcdumpc_generation_free_bytes", m)

    def test_retained(self):
        m = self.metrics("net10-wks-ranges", "--retained", "--sort=retained")
        types = self.json("net10-wks-ranges", "--retained", "--sort=retained", "--top=20")["types"]
        self.assertEqual(self.by(m, "type_retained_bytes", "type"), {t["type"]: t["retained_bytes"] for t in types})
        roots = self.json("net10-wks-ranges", "--retained", "--by=root")["roots"]
        for key in ("retained_bytes", "claimed_bytes"):
            self.assertEqual({k: v for k, v in self.by(m, "root_" + key, "kind").items() if v},
                             {r["group"]: r[key] for r in roots if r[key] and r["group"] not in ("several", "none", "frozen")})
        self.assertNotIn("gcdumpc_type_retained_bytes", self.metrics("net10-wks-ranges"))

    def test_hostile_names(self):
        self.put("evil", types_trace(*((name, 1, 24 + i) for i, name in enumerate(EVIL)), command_line='/srv/"x\\y\n{}'))
        m = self.metrics("evil")
        found = self.json("evil")
        self.assertEqual(self.by(m, "type_bytes", "type"), {t["type"]: t["bytes"] for t in found["types"]})
        self.assertEqual(len(found["types"]), len(EVIL))
        (process,) = {dict(k)["process"] for samples in m.values() for k in samples}
        info = json.loads(self.done("info", "evil", "--json").text)
        self.assertEqual(process, info["process"]["name"])

    def test_hostile_modules(self):
        p = Payloads()
        module = 'C:\\srv\\a"b\n{c}.dll'
        loaded = (0x30).to_bytes(8, "little") + bytes(8) + bytes(8) + (module + "\0").encode("utf-16-le") + bytes(4)
        file = V4File()
        file.define((152, "Microsoft-Windows-DotNETRuntime", 152, 2))
        self.put("modules", write(file, [Ev(152, 1999, loaded), Ev(1, 2000, p.gc_start()), Ev(18, 2001, p.nodes(0, (16, 24, 0x70, 0))),
                                         Ev(15, 2002, p.types((0x70, "A"))), Ev(2, 2003, p.gc_end())]))
        self.assertEqual(self.by(self.metrics("modules"), "type_bytes", "module"), {'a"b\n{c}.dll': 24})

    def test_equal_names(self):
        """Two samples of the same labels would make Prometheus refuse the whole file."""
        self.put("equal", types_trace(("A", 1, 24), ("A", 2, 24), ("A", 3, 24)))
        self.assertEqual(len(self.metrics("equal")["gcdumpc_type_bytes"]), 3)

    def test_process_without_a_name(self):
        """Then it is named after the file, if that is valid text."""
        for name, label in (("plain", "plain"), (b'a\xff"\\b.nettrace'.decode(errors="surrogateescape"), 'a\ufffd"\\b')):
            self.put(name, types_trace(("A", 1, 24), command_line=""))
            self.assertEqual(self.one(self.metrics(name), "heap_bytes", label), 24)

    def test_empty_heap_of_the_filter(self):
        """Nothing reaches --min-bytes: metrics without samples, which is valid."""
        m = self.metrics("net10-wks-ranges", "--min-bytes=1G")
        self.assertEqual((m["gcdumpc_type_bytes"], self.one(m, "heap_objects")), ({}, 17646))

    def test_file(self):
        self.put("x.prom", b"old")
        self.done("report", trace("net10-wks-lossy"), "-o", "x.prom", code=3)
        self.assertEqual(self.get("x.prom"), self.done("report", trace("net10-wks-lossy"), "-f", "prometheus", code=3).out)
        self.assertEqual(list(self.folder()), ["x.prom"])

    def test_files_of_graphs(self):
        self.done("convert", trace("net10-wks-ranges"), "-o", "x.gclog", "-q")
        m = self.metrics("x.gclog")
        self.assertEqual((self.one(m, "heap_objects"), self.one(m, "dump_unverified")), (17646, 0))


if __name__ == "__main__":
    main()
