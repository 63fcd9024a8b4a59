"""Running the program and the independent reader on the same recording."""
import json
import os
import subprocess
import sys

ROOT = os.environ.get("GCDUMPC_SOURCE") or os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("GCDUMPC_BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.environ.get("GCDUMPC", os.path.join(BUILD, "gcdumpc"))
READERS = os.path.join(ROOT, "tests", "readers")
TRACES = os.path.join(ROOT, "traces")
# recordings with names that only gcdumpc can read
NAMED = {"net10-wks-names"}


def run(*args, **kw):
    return subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)


def gcdumpc(*args, **kw):
    """The result must not depend on other files of this machine, such as the program recorded in traces/."""
    return run(PROGRAM, *args, *["--no-modules"] * (args[0] in ("convert", "info", "report", "paths", "leaks")), **kw)


def python(script, *args):
    return run(sys.executable, "-B", script, *args)


def gcdumpc_json(command, trace, *options):
    r = gcdumpc(command, "--json", "-q", trace, *options)
    if r.returncode not in (0, 3):
        raise AssertionError(f"{command} {trace}: exit {r.returncode}\n{r.stderr.decode()}")
    return json.loads(r.stdout), r.returncode


def reference(trace):
    r = python(os.path.join(READERS, "nettrace_ref.py"), trace, "--json")
    if r.returncode != 0:
        raise AssertionError(f"reference reader on {trace}: {r.stderr.decode()}")
    return json.loads(r.stdout)


def bundled():
    for name in sorted(os.listdir(TRACES)):
        path = os.path.join(TRACES, name, "heap.nettrace.gz")
        if os.path.exists(path):
            yield name, path


def differences(trace):
    """The differences between gcdumpc and the reference reader for a recording with a heap dump."""
    info, status = gcdumpc_json("info", trace)
    report, _ = gcdumpc_json("report", trace, "--separate-loads")
    ref = reference(trace)
    dump, ours = info["dump"], info["trace"]
    pairs = [
        ("version", ours["version"], ref["version"]), ("pointer", ours["pointer_bytes"], ref["pointer_size"]),
        ("events", ours["events"], sum(ref["events"].values()) + ref["unknown_metadata"]),
        ("lost", ours["lost_events"], ref["lost_events"]),
        ("pid", info["process"]["pid"] or 0, ref["pid"] or 0),
        ("gc", info["gc"]["number"], ref.get("gc_number", info["gc"]["number"])), ("gc end", info["gc"]["end_seen"], ref.get("gc_end_seen", True)),
        ("complete", dump["complete"], ref["complete"]), ("exit status", status, 0 if ref["complete"] else 3),
        ("edges", dump["edges"], ref["edges_received"]),
    ]
    pairs += [(k, dump[k], ref[k]) for k in ("objects", "bytes", "edges_declared", "statics", "dependent_handles", "ccws", "rcws")]
    pairs += [(f"roots {k}", dump["roots"][k], ref["roots"][k]) for k in ("stack", "finalizer", "handle", "other")]
    pairs += [("weak", dump["roots"]["weak"], ref["weak_roots"]), ("null roots", dump["roots"]["null"], ref["null_roots"]),
              ("types undescribed", dump["types_undescribed"], ref["types_without_description"])]
    types = lambda rows: {(t["id"], t.get("raw_name", t.get("name")), t["count"], t["bytes"]) for t in rows if t["count"] > 0}
    found = [f"{what}: {a} here, {b} there" for what, a, b in pairs if a != b]
    odd = types(report["types"]) ^ types(ref["types"])
    return found + [f"type {t}" for t in sorted(odd)[:5]]
