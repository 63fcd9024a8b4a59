"""tools/doc/fleet.md, and the examples for Kubernetes.

Every statement of the guide runs in DuckDB, over 10,000 generated summaries and 200 of real dumps, and answers what Python finds in the same files.

The 200 are the bundled recordings of real processes, each converted several times with other labels: nothing but the labels differs between those of
one recording."""
import base64
import collections
import concurrent.futures
import contextlib
import email
import glob
import gzip
import http.server
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
import urllib.parse

import real_readers
from real_readers import Missing

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("GCDUMPC_SOURCE") or os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.environ.get("GCDUMPC") or os.path.join(SOURCE, "build", "gcdumpc")
sys.path[:0] = [os.path.join(SOURCE, "tests", "support")]

import make_summaries                    # noqa: E402
from json_schema import problems         # noqa: E402

LONG = os.environ.get("GCDUMPC_LONG") == "1"
REAL = 200 if LONG else 50
WEEK_MS = 7 * 86400000


def need_duckdb():
    version = real_readers._version("node")
    if version < real_readers.OLDEST_NODE:
        raise Missing(f"DuckDB: no Node {real_readers.OLDEST_NODE} or later with npm")
    return real_readers._installed("fleet", os.path.join(HERE, "fleet"), version, [
        # not "ci": a lock file lists only those optional packages that the registry had, one for each platform
        (("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"), {"npm_config_update_notifier": "false"})],
        on=("package.json", "package-lock.json"))


def statements():
    """The view, and the ten questions, as the guide has them."""
    with open(os.path.join(SOURCE, "tools", "doc", "fleet.md"), encoding="utf-8") as f:
        return re.findall(r"(?ms)^```sql\n(.*?)^```$", f.read())


def ask(folder):
    """The rows of each question about the summaries in FOLDER."""
    run = subprocess.run(["node", os.path.join(need_duckdb(), "ask.mjs")], input=json.dumps(statements()), capture_output=True, text=True, cwd=folder,
                         timeout=600)
    if run.returncode != 0:
        raise AssertionError(run.stderr[-3000:])
    return json.loads(run.stdout)[1:]


# -- the same in Python ------------------------------------------------------------------------------------------------

def version_of(dump):
    return dump["labels"].get("version")


def groups(dumps, key):
    found = collections.defaultdict(list)
    for dump in sorted(dumps, key=lambda d: d["unix_ms"]):
        found[key(dump)].append(dump)
    return found


def by_name(dumps):
    return groups(dumps, lambda d: d["name"])


def growth(dumps):
    newest = max(d["unix_ms"] for d in dumps)
    week = by_name(d for d in dumps if d["unix_ms"] > newest - WEEK_MS)
    return sorted(((-(rows[-1]["bytes"] - rows[0]["bytes"]), name) for name, rows in week.items()))[:20]


def introduced(dumps):
    found = []
    for name, rows in by_name(dumps).items():
        having = [d for d in rows if any(t["name"] == "Shop.SessionCache" for t in d["types"])]
        if having:
            found.append((having[0]["unix_ms"], name, version_of(having[0])))
    return [(name, version) for _, name, version in sorted(found)]


def quantile(values, q):
    return sorted(values)[max(0, math.ceil(q * len(values)) - 1)]


def pauses(dumps):
    found = collections.defaultdict(list)
    for d in dumps:
        if d["pause_ns"] is not None:
            found[max(d["bytes"], 1).bit_length() - 1].append(d["pause_ns"])
    return [(power, len(v), quantile(v, 0.5), quantile(v, 0.99)) for power, v in sorted(found.items())]


def leaks(dumps):
    found = collections.defaultdict(lambda: (set(), [0]))
    for d in dumps:
        for f in d["findings"]:
            if f["owner"] is not None:
                names, most = found[f["owner"], f["kind"]]
                names.add(d["name"])
                most.append(f["retained_bytes"])
    return sorted((-len(names), -max(most), owner, kind) for (owner, kind), (names, most) in found.items())[:20]


def native(dumps):
    most = {}
    for d in dumps:
        if d["memory"]["resident_bytes"] and d["memory"]["native_or_unknown_bytes"] is not None:
            most[d["name"]] = max(most.get(d["name"], 0), d["memory"]["native_or_unknown_bytes"])
    return sorted((-n, name) for name, n in most.items())[:20]


def incomplete(dumps):
    found = collections.Counter((d["name"] or "", r["code"]) for d in dumps if not d["complete"] for r in d["reasons"])
    return sorted((-n, name, code) for (name, code), n in found.items())


def growing(dumps):
    found = []
    for (host, name, pid), rows in groups(dumps, lambda d: (d["host"], d["name"], d["pid"])).items():
        courses = collections.defaultdict(list)
        for d in rows:
            for t in d["types"]:
                courses[t["name"]].append(t["count"])
        found += [(-max(c), host, name, pid, kind, len(c)) for kind, c in courses.items() if len(c) >= 3 and all(a < b for a, b in zip(c, c[1:]))]
    return sorted(found)[:50]


def versions(dumps):
    return sorted((name, version, len(rows), round(statistics.median(d["bytes"] for d in rows)), round(statistics.median(d["objects"] for d in rows)))
                  for (name, version), rows in groups(dumps, lambda d: (d["name"], version_of(d))).items() if version)


def own_types(dumps):
    found = collections.defaultdict(lambda: [0, 0])
    for rows in groups(dumps, lambda d: (d["host"], d["name"], d["pid"])).values():
        for t in rows[-1]["types"]:
            if t["origin"] == "own":
                found[t["name"]][0] += 1
                found[t["name"]][1] += t["own_bytes"]
    return sorted((-size, name, n) for name, (n, size) in found.items())[:20]


def cost(dumps):
    return {name: (len(rows), sum(d["pause_ns"] or 0 for d in rows), sum(d["file_bytes"] or 0 for d in rows), sum(d["event_bytes"] for d in rows))
            for name, rows in by_name(dumps).items()}


# -- the comparison ----------------------------------------------------------------------------------------------------

def number(value):
    """DuckDB spells 64-bit numbers as texts in JSON."""
    return int(value or 0)


class Fleet(unittest.TestCase):
    maxDiff = None

    def compare(self, answers, dumps):
        self.assertEqual(len(answers), 10)
        q = [[{k: v for k, v in row.items()} for row in rows] for rows in answers]
        self.assertEqual([(-number(r["growth"]), r["name"]) for r in q[0]], growth(dumps), 1)
        self.assertEqual([(r["name"], r["version"]) for r in q[1]], introduced(dumps), 2)
        self.assertEqual([(r["power"], number(r["dumps"]), number(r["median_ns"]), number(r["p99_ns"])) for r in q[2]], pauses(dumps), 3)
        self.assertEqual([(-number(r["services"]), -number(r["most_bytes"]), r["owner"], r["kind"]) for r in q[3]], leaks(dumps), 4)
        self.assertEqual([(-number(r["native_bytes"]), r["name"]) for r in q[4]], native(dumps), 5)
        self.assertEqual([(-number(r["dumps"]), r["name"], r["code"]) for r in q[5]], incomplete(dumps), 6)
        self.assertEqual([(-number(r["count"]), r["host"], r["name"], number(r["pid"]), r["type"], number(r["dumps"])) for r in q[6]], growing(dumps), 7)
        self.assertEqual(sorted((r["name"], r["version"], *(number(r[k]) for k in ("dumps", "median_bytes", "median_objects"))) for r in q[7]),
                         versions(dumps), 8)
        self.assertEqual([(-number(r["bytes"]), r["type"], number(r["processes"])) for r in q[8]], own_types(dumps), 9)
        self.assertEqual({r["name"]: tuple(number(r[k]) for k in ("dumps", "pause_ns", "file_bytes", "event_bytes")) for r in q[9]}, cost(dumps), 10)

    @contextlib.contextmanager
    def folder(self):
        try:
            need_duckdb()
        except Missing as e:
            self.skipTest(str(e))
        with tempfile.TemporaryDirectory(prefix="gcdumpc-fleet-") as folder:
            os.mkdir(os.path.join(folder, "summaries"))
            yield folder

    def test_ten_thousand(self):
        dumps = list(make_summaries.fleet(dumps=50 if LONG else 12))
        self.assertEqual(len(dumps), 10000 if LONG else 2400)
        with open(os.path.join(SOURCE, "tools", "doc", "summary.schema.json"), encoding="utf-8") as f:
            schema = json.load(f)
        self.assertEqual([p for d in dumps[::97] for p in problems(d, schema)], [])
        with self.folder() as folder:
            for i in range(100):                 # a file can hold many
                make_summaries.write(os.path.join(folder, "summaries", f"{i}.json"), dumps[i::100])
            answers = ask(folder)
        self.compare(answers, dumps)
        self.assertEqual([len(a) > 0 for a in answers], [True] * 10)

    def test_two_hundred_real_ones(self):
        recordings = sorted(glob.glob(os.path.join(SOURCE, "traces", "*", "*.nettrace.gz")))
        with self.folder() as folder:
            def convert(i):
                path = os.path.join(folder, "summaries", f"{i}.json")
                run = subprocess.run([PROGRAM, "convert", "-q", recordings[i % len(recordings)], "--summary", path, "--label", f"version=1.{i % 3}"],
                                     capture_output=True, text=True)
                self.assertIn(run.returncode, (0, 3), run.stderr)        # 3: some lack events
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                list(pool.map(convert, range(REAL)))
            dumps = []
            for path in glob.glob(os.path.join(folder, "summaries", "*.json")):
                with open(path, encoding="utf-8") as f:
                    dumps.append(json.load(f))
            self.assertEqual(len(dumps), REAL)
            answers = ask(folder)
        self.assertEqual(sum(number(r["dumps"]) for r in answers[2]), sum(d["pause_ns"] is not None for d in dumps))
        self.assertEqual([(r["power"], number(r["dumps"]), number(r["median_ns"]), number(r["p99_ns"])) for r in answers[2]], pauses(dumps))
        self.assertEqual([(-number(r["services"]), -number(r["most_bytes"]), r["owner"], r["kind"]) for r in answers[3]], leaks(dumps))
        self.assertIn("CoffeeShop.SessionStore", [r["owner"] for r in answers[3]])
        self.assertEqual(sorted((-number(r["dumps"]), r["name"] or "", r["code"]) for r in answers[5]), incomplete(dumps))
        self.assertEqual({r["name"]: number(r["dumps"]) for r in answers[9]}, {name: n for name, (n, *_) in cost(dumps).items()})

    def test_there_are_ten(self):
        self.assertEqual(len(statements()), 11)


class Profiles(unittest.TestCase):
    """The requests to Pyroscope and Parca, as their documentation describes what they take."""

    class Server(http.server.BaseHTTPRequestHandler):
        seen = []

        def do_POST(self):
            self.seen.append((self.path, self.headers["Content-Type"], self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    def requests(self):
        """What arrives when the lines of the guide run, and the profile that they send."""
        with open(os.path.join(SOURCE, "tools", "doc", "fleet.md"), encoding="utf-8") as f:
            scripts = re.findall(r"(?ms)^```sh\n(.*?)^```$", f.read())
        self.Server.seen = []
        with tempfile.TemporaryDirectory(prefix="gcdumpc-upload-") as folder, http.server.HTTPServer(("127.0.0.1", 0), self.Server) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            os.symlink(PROGRAM, os.path.join(folder, "gcdumpc"))
            os.symlink(os.path.join(SOURCE, "traces", "shop", "evening.nettrace.gz"), os.path.join(folder, "shop.nettrace.gz"))
            for script in scripts:
                script = re.sub(r"localhost:\d+", f"127.0.0.1:{server.server_port}", script)
                run = subprocess.run(["sh", "-ec", script], cwd=folder, capture_output=True, text=True,
                                     env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "no_proxy": "*"})
                self.assertEqual(run.returncode, 0, run.stderr)
            server.shutdown()
            with open(os.path.join(folder, "shop.pb.gz"), "rb") as f:
                return self.Server.seen, f.read()

    @unittest.skipIf(shutil.which("curl") is None, "no curl")
    def test_uploads(self):
        (form, json_request), profile = self.requests()
        path, query = form[0].split("?")
        query = urllib.parse.parse_qs(query)
        self.assertEqual((path, query["name"], query["format"]), ("/ingest", ["shop.heap"], ["pprof"]))
        self.assertTrue(query["from"][0].isdigit() and query["until"][0].isdigit())
        message = email.message_from_bytes(b"Content-Type: " + form[1].encode() + b"\r\n\r\n" + form[2])
        part, = message.get_payload()
        self.assertEqual((part.get_param("name", header="content-disposition"), part.get_payload(decode=True)), ("profile", profile))
        self.assertEqual((json_request[0], json_request[1]), ("/profiles/writeraw", "application/json"))
        series, = json.loads(json_request[2])["series"]
        self.assertEqual({label["name"]: label["value"] for label in series["labels"]["labels"]}, {"__name__": "heap", "job": "shop"})
        self.assertEqual(base64.b64decode(series["samples"][0]["rawProfile"]), profile)
        self.assertEqual(profile[:2], b"\x1f\x8b")


class Kubernetes(unittest.TestCase):
    def text(self, name):
        with open(os.path.join(SOURCE, "tools", "container", name), encoding="utf-8") as f:
            return f.read()

    def problems(self, text):
        try:
            folder = need_duckdb()
        except Missing as e:
            self.skipTest(str(e))
        run = subprocess.run(["node", os.path.join(folder, "check_kubernetes.mjs")], input=text, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr[-2000:])
        return json.loads(run.stdout)

    def test_examples_fit_the_api(self):
        for name in ("cronjob.yaml", "sidecar.yaml", "crash.yaml"):
            self.assertEqual(self.problems(self.text(name)), [], name)

    def test_a_mistake_is_noticed(self):
        text = self.text("cronjob.yaml")
        for good, bad in (("concurrencyPolicy", "concurencyPolicy"), ("backoffLimit: 0", "backoffLimit: none"), ("kind: Role\n", "kind: Rolle\n"),
                          ("  schedule:", "  schedul:")):
            self.assertNotEqual(self.problems(text.replace(good, bad, 1)), [], bad)

    def test_what_the_job_may_do(self):
        rules = re.findall(r"resources: \[(.*)\]\n +verbs: \[(.*)\]", self.text("cronjob.yaml"))
        self.assertEqual(rules, [("pods", "get, list"), ("pods/exec", "create")])

    def test_what_a_sidecar_shares(self):
        """Processes, the folder of the sockets, and the user whom they belong to."""
        text = self.text("sidecar.yaml")
        pod, containers = text.split("\n  containers:\n")
        self.assertIn("\n  shareProcessNamespace: true\n", pod)
        self.assertRegex(pod, r"\n    runAsUser: [1-9]\d* ")
        self.assertNotIn("runAsUser", containers)
        self.assertEqual(re.findall(r"- \{ name: tmp, mountPath: (\S+) \}", containers), ["/tmp", "/tmp"])

    def test_the_script_after_a_crash(self):
        """A core file becomes a recording, one that is damaged is kept, one that may still be written waits."""
        script = textwrap.dedent(re.search(r"(?ms)^ +- \|\n(.*?)^ +resources", self.text("crash.yaml"))[1])
        with tempfile.TemporaryDirectory(prefix="gcdumpc-kube-") as folder:
            os.symlink(PROGRAM, os.path.join(folder, "gcdumpc"))
            with gzip.open(os.path.join(SOURCE, "traces", "net10-core", "heap.core.gz")) as f:
                core = f.read()
            for name, data in (("1.core", core), ("2.core", core[:len(core) // 2]), ("3.core", core[:len(core) // 2])):
                with open(os.path.join(folder, name), "wb") as f:
                    f.write(data)
                if name != "3.core":
                    os.utime(f.name, (0, 0))
            run = subprocess.run(["sh", "-c", script.replace("/dumps", folder).replace("while sleep 20", "for _ in 1 2")], capture_output=True, text=True,
                                 env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
            self.assertEqual((run.returncode, run.stderr.count("\n")), (0, 1), run.stderr)
            left = {name for name in os.listdir(folder) if not name.startswith("gcdumpc")} - {"2.core.nettrace.gz"}
            self.assertEqual(left, {"1.core.nettrace.gz", "2.core.kept", "3.core"})

    def test_the_script_of_the_job(self):
        """With a kubectl that answers like one with three pods: one is dumped, one has nothing to say, one fails."""
        script = textwrap.dedent(re.search(r"(?ms)^ +- \|\n(.*?)^ +volumeMounts", self.text("cronjob.yaml"))[1])
        with tempfile.TemporaryDirectory(prefix="gcdumpc-kube-") as folder:
            with open(os.path.join(folder, "kubectl"), "w", encoding="utf-8") as f:
                f.write(f"#!/bin/sh\ncase $1,$2 in get,pods) echo \"$*\" > {folder}/asked; printf 'pod/one\\npod/skipped\\npod/failing\\n' ;; exec,pod/failing) exit 1 ;;\n"
                        f"exec,pod/one) shift 8; echo \"$@\" > {folder}/options; exec {PROGRAM} convert -q {SOURCE}/traces/shop/morning.nettrace.gz"
                        " --summary - ;; esac\n")
            os.chmod(os.path.join(folder, "kubectl"), 0o755)
            os.mkdir(os.path.join(folder, "summaries"))
            run = subprocess.run(["sh", "-c", script.replace("/summaries", os.path.join(folder, "summaries"))], capture_output=True, text=True,
                                 env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
            self.assertEqual((run.returncode, run.stderr), (1, ""))
            file, = os.listdir(os.path.join(folder, "summaries"))
            self.assertRegex(file, r"^one-\d{8}T\d{6}Z\.json$")
            with open(os.path.join(folder, "summaries", file), encoding="utf-8") as f:
                self.assertEqual(json.load(f)["name"], "CoffeeShop")
            with open(os.path.join(folder, "options"), encoding="utf-8") as f:
                options = f.read().split()
            with open(os.path.join(folder, "asked"), encoding="utf-8") as f:
                self.assertEqual(f.read(), "get pods -l app=shop --field-selector=status.phase=Running -o name\n")
        self.assertIn("--max-pause-estimate", options)
        if os.environ.get("GCDUMPC_IPC") != "OFF":
            run = subprocess.run([PROGRAM, "--name", "no-such-program-here", *options], capture_output=True, text=True)
            self.assertEqual(run.returncode, 1, run.stderr)              # understood, but there is no such process


if __name__ == "__main__":
    unittest.main()
