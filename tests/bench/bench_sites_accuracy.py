#!/usr/bin/env python3
"""How right gcdumpc sites is about five known leaks, on all runtimes: one run after the other.

    bench_sites_accuracy.py [--build DIR] [--runtimes 8,9,10,11] [--gc workstation,server]
                            [--runs 100,200,500,ring,storm,"storm large",--no-movement]

A run is a rate of churn in MB/s; the others have 100: words for SiteLab, and options of sites.  SiteLab and its counters are those of
tests/live/test_sites.

recall: samples of the leaks found alive.  lost: those counted and said as such; what is in neither is missing.
false: samples of the churn, or of the rings, called alive, of all that are alive (--no-movement: of a type and size that the heap has).
worst: of the five lines, the largest distance from the leaked bytes, in standard errors of the sampling.  bytes: found over leaked.
"""
import argparse
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = {"store": 2024, "listener": 1024, "journal": 4024, "archive": 120_024, "pinned": 16_024}
DEAD = {"SiteLab.Program." + name for name in ("Churn", "Turn", "TurnLarge", "TurnOld")}


def standard_error(name, leaked, every):
    """The error of an estimate of LEAKED bytes in objects of one size, each sampled by chance."""
    taken = 1 - math.exp(-SIZES[name] / every)
    return math.sqrt(leaked * SIZES[name] * (1 - taken) / taken)


def measure(live, program, runtime, gc, run):
    words = [] if run.isdigit() else [w for w in run.split() if not w.startswith("--")]
    options = [w for w in run.split() if w.startswith("--")]
    environment = {"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2"} if gc == "server" else {}
    with live.Lab(runtime, *words, run if run.isdigit() else "100", **environment) as target:
        r = subprocess.run([program, "sites", "--pid", str(target.pid), "--window", "6s", "--settle", "6s" if words else "3s", "--json", *options],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if r.returncode not in (0, 3):
            sys.exit(f"{runtime} {gc} {run}: {r.stderr}")
        got = json.loads(r.stdout)
        begin, end = got["window_begin_unix_ms"], got["window_begin_unix_ms"] + got["window_ms"]
        leaked = {name: target.leaked(name, begin, end) for name in SIZES}
    alive = samples = lost = found = 0
    worst = (0, "")
    for name, line in live.site_lines().items():
        rows = [s for s in got["sites"] if s["line"] == line and s["type"].endswith("[]")]
        alive += sum(s["alive_samples"] for s in rows)
        samples += sum(s["samples"] for s in rows)
        lost += sum(s["lost_samples"] for s in rows)
        estimate = sum(s["bytes"] for s in rows)
        found += estimate
        worst = max(worst, (abs(estimate - leaked[name]) / standard_error(name, leaked[name], live.EVERY), name))
    false = sum(s["alive_samples"] for s in got["sites"] if s["method"] in DEAD)
    total = sum(leaked.values())
    print(f"| {runtime} | {gc} | {run} | {alive:,} of {samples:,} | {lost} | {false:,} of {got['alive_samples']:,} | {worst[0]:.1f} ({worst[1]}) | "
          f"{found / total:.3f} |", flush=True)
    return found, total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    parser.add_argument("--runtimes", default="8,9,10,11")
    parser.add_argument("--gc", default="workstation,server")
    parser.add_argument("--runs", default="100,200,500,ring,storm,storm large,--no-movement")
    options = parser.parse_args()
    os.environ.setdefault("GCDUMPC_BUILD", os.path.abspath(options.build))
    sys.path[:0] = [os.path.join(HERE, "..", "live")]
    import test_sites as live
    print("| .NET | GC | run | recall | lost | false | worst, σ | bytes |\n|---:|---|---|---:|---:|---:|---|---:|")
    for run in options.runs.split(","):
        sums = [measure(live, os.path.join(options.build, "gcdumpc"), int(runtime), gc, run)
                for gc in options.gc.split(",") for runtime in options.runtimes.split(",")]
        print(f"| all | | {run} | | | | | {sum(s[0] for s in sums) / sum(s[1] for s in sums):.3f} |", flush=True)


if __name__ == "__main__":
    main()
