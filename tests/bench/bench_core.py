#!/usr/bin/env python3
"""A core file: gcdumpc beside dotnet-dump, one after the other, and beside md5sum of a recording of the same heap.

    bench_core.py CORE RECORDING [--build DIR] [--runs 3] [--type NAME] [--no-dotnet-dump]

Reads both files once before, so that they are in the page cache.  "anonymous MB": peak of RssAnon, sampled every 10 ms.  dotnet-dump comes from
NuGet (dotnet tool install --tool-path) and runs once, because it takes minutes; its gcroot is that of the first object of NAME.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "live")]


def run(command):
    """Seconds, peak of anonymous memory in MB, and what it says."""
    start, peak = time.monotonic(), 0
    with tempfile.TemporaryFile("w+") as output, \
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT) as p:
        while p.poll() is None:
            try:
                with open(f"/proc/{p.pid}/status", encoding="utf-8") as f:
                    peak = max(peak, int((re.search(r"RssAnon:\s+(\d+) kB", f.read()) or (0, 0))[1]))
            except OSError:
                pass
            time.sleep(0.01)
        seconds = time.monotonic() - start
        output.seek(0)
        said = output.read()
    if p.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {p.returncode}: {said[-500:]}")
    return seconds, peak / 1024, said


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("core")
    parser.add_argument("recording")
    parser.add_argument("--build", default="build")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--type", default="HeapLab.Node")
    parser.add_argument("--no-dotnet-dump", action="store_true")
    args = parser.parse_args()
    os.environ.setdefault("GCDUMPC_BUILD", os.path.abspath(args.build))
    import live_support                  # reads the environment
    program = os.path.join(os.path.abspath(args.build), "gcdumpc")
    rows = [("md5sum of the recording", ["md5sum", args.recording]),
            ("gcdumpc report CORE", [program, "report", args.core, "--no-modules"]),
            (f"gcdumpc paths CORE --type {args.type}", [program, "paths", args.core, "--type", args.type, "--no-modules"])]
    for file in args.core, args.recording:
        with open(file, "rb") as f:
            while f.read(1 << 24):
                pass
    print("| command | s | anonymous MB |\n|---|---:|---:|", flush=True)
    for name, command in rows:
        figures = [run(command)[:2] for _ in range(args.runs)]
        print(f"| {name} | {statistics.median(f[0] for f in figures):.2f} | {max(f[1] for f in figures):.0f} |", flush=True)
    if args.no_dotnet_dump:
        return
    types = json.loads(run([program, "report", args.core, "--no-modules", "--json", "--top", "100000"])[2])["types"]
    table = next(t["id"] for t in types if t["raw_name"] == args.type)
    try:
        tool = live_support.dotnet_tool("dotnet-dump")
    except live_support.Missing as missing:
        sys.exit(f"skipped: {missing}")
    seconds, peak, said = run([tool, "analyze", args.core, "-c", "dumpheap -stat", "-c", "exit"])
    print(f"| dotnet-dump dumpheap -stat | {seconds:.1f} | {peak:.0f} |", flush=True)
    if not re.search(r"^Total [\d,]+ objects", said, re.M):
        sys.exit(said[-1000:])
    said = run([tool, "analyze", args.core, "-c", f"dumpheap -mt {table} -short", "-c", "exit"])[2]
    first = re.search(r"^([0-9a-f]{8,16})$", said, re.M)[1]
    before, _, _ = run([tool, "analyze", args.core, "-c", "exit"])
    seconds, peak, _ = run([tool, "analyze", args.core, "-c", f"gcroot {first}", "-c", "exit"])
    print(f"| dotnet-dump gcroot of one object, without its start ({before:.1f} s) | {seconds - before:.1f} | {peak:.0f} |")


if __name__ == "__main__":
    main()
