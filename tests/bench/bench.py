#!/usr/bin/env python3
"""Time and memory of gcdumpc on generated recordings, as ratios to md5sum on the same file in the same run.

    bench.py [--build DIR] [--objects 10000000,40000000] [--formats gclog,gcdump,...] [--runs 5] [--folder DIR]

The files are made by genheap in FOLDER (default: the build folder), read once to bring them into the page cache, then md5sum and each
command run in turn, RUNS times; the table has medians of wall and processor time, their ratios to md5sum, and peak resident memory.
Outputs go into FOLDER, too, and are synced to the disk like any output of the program.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SUFFIXES = {"gclog": "gclog", "gcdump": "gcdump", "v8": "heapsnapshot", "dart": "dartheap", "pprof": "pb.gz", "collapsed": "folded",
            "csv": "csv", "sqlite": "sqlite", "html": "html"}
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


def remove(path):
    shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--objects", default="10000000")
    parser.add_argument("--formats", default=",".join(SUFFIXES))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder")
    args = parser.parse_args()
    folder = args.folder or args.build
    program = os.path.join(args.build, "gcdumpc")
    print("| objects | file | command | wall s | × md5sum | cpu s | × md5sum | peak MB |\n|---:|---:|---|---:|---:|---:|---:|---:|")
    for n in args.objects.split(","):
        trace = os.path.join(folder, f"bench-{n}.nettrace")
        if not os.path.exists(trace):
            subprocess.run([os.path.join(args.build, "genheap"), "-n", n, "-o", trace], check=True)
        commands = {
            "md5sum": ["md5sum", trace], "cat": ["cat", trace], "info": [program, "info", "-q", trace],
            "report": [program, "report", "-q", trace],
            "diff": [program, "diff", "-q", trace, trace], "retained": [program, "retained", "-q", trace],
            "paths --type 'System.Byte[]'": [program, "paths", "-q", "--type", "System.Byte[]", trace],
            "report --retained": [program, "report", "--retained", "-q", trace], "leaks": [program, "leaks", "-q", trace],
        }
        outputs = {f"convert -o x.{SUFFIXES[f]}": os.path.join(folder, f"bench-out.{SUFFIXES[f]}") for f in args.formats.split(",") if f}
        commands.update({name: [program, "convert", "-q", trace, "-o", out] for name, out in outputs.items()})
        measure(commands["cat"])
        figures = {name: [] for name in commands}
        for _ in range(args.runs):
            for name, c in commands.items():
                figures[name].append(measure(c))
                if name in outputs:
                    remove(outputs[name])
        size = os.path.getsize(trace)
        base_wall, base_cpu = (statistics.median(f[i] for f in figures["md5sum"]) for i in range(2))
        for name, rows in figures.items():
            wall, cpu, peak = (statistics.median(r[i] for r in rows) for i in range(3))
            print(f"| {int(n):,} | {size / 1e6:,.0f} MB | `{name}` | {wall:.2f} | {wall / base_wall:.2f} | {cpu:.2f} | {cpu / base_cpu:.2f} | "
                  f"{peak / 1024:.1f} |", flush=True)


if __name__ == "__main__":
    main()
