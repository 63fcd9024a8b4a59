#!/usr/bin/env python3
"""Time and memory of gcdumpc on generated recordings, as ratios to md5sum on the same file in the same run.

    bench.py [--build DIR] [--objects 10000000,40000000] [--runs 5] [--folder DIR]

The files are made by genheap in FOLDER (default: the build folder), read once to bring them into the page cache, then md5sum and each
command run in turn, RUNS times; the table has medians of wall time, its ratio to md5sum, processor time and peak resident memory.
Outputs go into FOLDER, too, and are synced to the disk like any output of the program.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

GNU_TIME = "/usr/bin/time"      # Debian package time; without it small peaks read too high


def measure(command, accepted=(0,), stderr=None):
    """Wall and processor seconds, peak KB.  A child starts with the peak of the process that forked it, so GNU time does it."""
    peak_file = None
    if os.path.exists(GNU_TIME):
        with tempfile.NamedTemporaryFile("r", delete=False) as f:
            peak_file = f.name
        command = [GNU_TIME, "-f", "%M", "-o", peak_file, *command]
    start = time.monotonic()
    with open(os.devnull, "w") as null:
        p = subprocess.Popen(command, stdout=null, stderr=stderr)
        _, status, usage = os.wait4(p.pid, 0)
    wall = time.monotonic() - start
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode not in accepted:
        sys.exit(f"{' '.join(command)}: exit {p.returncode}")
    peak_kb = usage.ru_maxrss
    if peak_file is not None:
        with open(peak_file) as f:
            peak_kb = int(f.read().split()[-1])          # behind "exited with non-zero status"
        os.unlink(peak_file)
    return wall, usage.ru_utime + usage.ru_stime, peak_kb


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--objects", default="10000000")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder")
    args = parser.parse_args()
    folder = args.folder or args.build
    program = os.path.join(args.build, "gcdumpc")
    print("| objects | file | command | wall s | × md5sum | cpu s | peak MB |\n|---:|---:|---|---:|---:|---:|---:|")
    for n in args.objects.split(","):
        trace, out = os.path.join(folder, f"bench-{n}.nettrace"), os.path.join(folder, "bench.gclog")
        if not os.path.exists(trace):
            subprocess.run([os.path.join(args.build, "genheap"), "-n", n, "-o", trace], check=True)
        commands = {
            "md5sum": ["md5sum", trace], "cat": ["cat", trace], "info": [program, "info", "-q", trace],
            "report": [program, "report", "-q", trace],
            "diff": [program, "diff", "-q", trace, trace], "convert -o x.gclog": [program, "convert", "-q", trace, "-o", out],
        }
        for c in commands.values():
            measure(c)
        figures = {name: [] for name in commands}
        for _ in range(args.runs):
            for name, c in commands.items():
                figures[name].append(measure(c))
        size = os.path.getsize(trace)
        base = statistics.median(f[0] for f in figures["md5sum"])
        for name, rows in figures.items():
            wall, cpu, rss = (statistics.median(r[i] for r in rows) for i in range(3))
            print(f"| {int(n):,} | {size / 1e6:,.0f} MB | `{name}` | {wall:.2f} | {wall / base:.2f} | {cpu:.2f} | {rss / 1024:.1f} |", flush=True)
        os.unlink(out)


if __name__ == "__main__":
    main()
