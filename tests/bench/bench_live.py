#!/usr/bin/env python3
"""The cost of a dump of a living process: for the process, its memory, and gcdumpc.

    bench_live.py [--build DIR] [--runtimes 8,9,10] [--gc workstation,server] [--objects 10000000] [--runs 5] [--ways NAME;...]
                  [--dotnet-gcdump PATH]

Needs the .NET SDK; runtimes other than its own come from NuGet.  HeapLab (tests/target) is started once for each group of rows, and all
ways take turns on the same process, RUNS times, after one round that does not count.  The table has medians; lost events are a range.

stall: the longest time that a thread of the target which wants to run every millisecond did not run.
GC pauses: what the runtime itself counts during the dump, all collections together, those of the stops included.
target +MB: growth of the target's resident memory at its peak, sampled every 10 ms.
own MB: peak resident memory of gcdumpc, by GNU time.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "live")]

from bench_measure import measure        # noqa: E402

WAYS = {
    "drain, 256 MB": ["--strategy", "drain", "--buffer", "256"],
    "drain, default": ["--strategy", "drain"],
    "single, 1024 MB": ["--strategy", "single", "--buffer", "1024"],
    "drain, 512 MB": ["--strategy", "drain", "--buffer", "512"],
    "drain, 1024 MB": ["--strategy", "drain", "--buffer", "1024"],
    "drain, 2048 MB": ["--strategy", "drain", "--buffer", "2048"],
    "single, 4095 MB": ["--strategy", "single", "--buffer", "4095"],
    "default, .gcdump": ["--format", "gcdump"],
    "direct": ["--direct"],
}
USUAL = "drain, 256 MB;drain, default;single, 1024 MB;dotnet-gcdump"
GCDUMP = "dotnet-gcdump"


class Memory:
    """Peak of the resident memory of PID while the block runs, in MB above the value before."""

    def __init__(self, pid):
        self.path, self.page_mb = f"/proc/{pid}/statm", os.sysconf("SC_PAGE_SIZE") / 1e6

    def now(self):
        with open(self.path, encoding="ascii") as f:
            return int(f.read().split()[1]) * self.page_mb

    def __enter__(self):
        self.before = self.peak = self.now()
        self.done = threading.Event()
        self.sampler = threading.Thread(target=self._sample)
        self.sampler.start()
        return self

    def _sample(self):
        while not self.done.wait(0.01):
            self.peak = max(self.peak, self.now())

    def __exit__(self, *_):
        self.done.set()
        self.sampler.join()
        self.growth = self.peak - self.before


def stall(target):
    target.process.stdin.write("stall\n")
    target.process.stdin.flush()
    return json.loads(target.process.stdout.readline())


def run(command, target, messages):
    """One dump: its figures, as a dictionary."""
    time.sleep(0.3)                      # left-overs of the last dump are gone
    stall(target)
    with Memory(target.pid) as memory:
        wall, _, peak_kb = measure(command, accepted=(0, 3), stderr=messages)
    cost = stall(target)
    messages.seek(0)
    lost = re.search(r"incomplete: (\d+) events? ", messages.read())
    return {"stall": cost["longest_stall_ms"], "pauses": cost["gc_pauses_ms"], "wall": wall, "growth": memory.growth,
            "own": peak_kb / 1024, "lost": int(lost.group(1)) if lost else 0}


def stream_bytes(program, target):
    """Size of a complete dump, taken with the smallest buffer."""
    r = subprocess.run([program, "info", "--pid", str(target.pid), "--json", "--buffer", "4095"], capture_output=True, text=True, check=True)
    return json.loads(r.stdout)["trace"]["bytes"]


def ways(args, live_support):
    """Name -> command, up to the number of the process."""
    output = os.path.join(args.folder, "bench-live")
    result = {}
    for way in args.ways.split(";"):
        if way == GCDUMP:
            try:
                program = args.dotnet_gcdump or live_support.dotnet_tool(GCDUMP)
                result[way] = [program, "collect", "--timeout", "600", "-o", output + ".gcdump", "-p"]
            except live_support.Missing as missing:
                print(f"skipped: {missing}", file=sys.stderr)
        else:
            result[way] = [os.path.join(args.build, "gcdumpc"), "-o", output + ".gclog", *WAYS[way], "--pid"]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--runtimes", default="8,9,10")
    parser.add_argument("--gc", default="workstation")
    parser.add_argument("--objects", type=int, default=10000000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--ways", default=USUAL, help=f"of these, with \";\" between: {'; '.join(WAYS)}; {GCDUMP}")
    parser.add_argument("--dotnet-gcdump", metavar="PATH", help="the program; else it is installed from NuGet")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    os.environ.setdefault("GCDUMPC_BUILD", args.build)
    import live_support                  # reads the environment

    print("| runtime | GC | way | stall ms | GC pauses ms | whole s | target +MB | own MB | lost |\n|---|---|---|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(dir=args.build) as folder, tempfile.TemporaryFile("w+", dir=folder) as messages:
        args.folder = folder
        commands = ways(args, live_support)
        for runtime in map(int, args.runtimes.split(",")):
            for gc in args.gc.split(","):
                environment = {"DOTNET_gcServer": "1" if gc == "server" else "0", "DOTNET_GCHeapCount": "2"}
                program = live_support.heaplab(runtime)
                with live_support.Process("--objects", str(args.objects), "--stall", program=program, **environment) as target:
                    version, figures = target.counts()["runtime"], {}
                    for i in range(args.runs + 1):
                        for way, command in commands.items():
                            messages.seek(0)
                            messages.truncate()
                            row = run([*command, str(target.pid)], target, messages)
                            if i > 0:
                                figures.setdefault(way, []).append(row)
                    size = stream_bytes(os.path.join(args.build, "gcdumpc"), target)
                for way, rows in figures.items():
                    m = {key: statistics.median(r[key] for r in rows) for key in rows[0]}
                    lost = sorted({min(r["lost"] for r in rows), max(r["lost"] for r in rows)})
                    print(f"| {version} | {gc} | {way} | {m['stall']:.0f} | {m['pauses']:.0f} | {m['wall']:.2f} | {m['growth']:.0f} | "
                          f"{m['own']:.0f} | {' to '.join(map(str, lost))} |", flush=True)
                print(f"{version}, {gc}: {args.objects:,} extra objects, {size / 1e6:.0f} MB of events", file=sys.stderr)


if __name__ == "__main__":
    main()
