#!/usr/bin/env python3
"""Time and memory of gcdumpc on recordings of any size, beside md5sum on the same file in the same run.

    bench.py [--build DIR] [--objects 1000000,10000000] [--input FILE]... [--commands info,report,...] [--threads 1,2] [--runs 5]
             [--folder DIR] [--dotnet-gcdump PATH] [--dotnet-dump PATH] [--output FILE.json|FILE.md]
    bench.py --render                      # the newest of tests/bench/results/ into README.md
    bench.py --compare OLD.json NEW.json

genheap makes the recordings, in FOLDER; with --folder they stay there for the next time, else they are removed.  --input measures one that
exists, and calls its heap by the name of the file: record_heaps.py makes some of living programs.  Of a core file HEAP.core the times are compared
with md5sum of HEAP.nettrace, the recording of the same heap beside it.  Each is read once to bring it into the page cache, then all commands run in turn, RUNS times.  Outputs go into FOLDER, too, and
are synced to the disk like any output of the program.  The table has medians; README.md explains it.
"""
import argparse
import datetime
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

import bench_results
from bench_measure import build, machine, measure, run

SUFFIXES = {"gclog": "gclog", "gcdump": "gcdump", "dart": "dartheap", "v8": "heapsnapshot", "pprof": "pb.gz", "collapsed": "folded",
            "csv": "csv", "sqlite": "sqlite", "html": "html"}
# name for --commands: words of gcdumpc; {0} is the recording
ANSWERS = {
    "info": ["info", "{0}"], "report": ["report", "{0}"], "retained": ["retained", "{0}"], "paths": ["paths", "--type", "System.Byte[]", "{0}"],
    "leaks": ["leaks", "{0}"], "report-retained": ["report", "--retained", "{0}"], "diff": ["diff", "{0}", "{0}"],
    "diff-retained": ["diff", "--retained", "{0}", "{0}"], "diff-paths": ["diff", "--paths", "{0}", "{0}"],
}
OTHERS = ("md5sum", "cat")
CORE = ".core"
USUAL = ["info", "report", *SUFFIXES, "retained", "paths", "diff"]


class Command:
    """Measures WORDS as NAME and removes its outputs.  A FOREIGN program may fail, and one that takes minutes runs only ONE_TIME."""

    def __init__(self, name, words, inputs=1, threads=None, output=None, foreign=False, one_time=False):
        self.name, self.words, self.inputs, self.threads, self.output, self.foreign = name, words, inputs, threads, output, foreign
        self.one_time, self.figures, self.exit = one_time, [], 0

    def once(self):
        if self.exit or (self.one_time and self.figures):
            return
        if self.foreign:
            self.exit, *figures = run(self.words, stderr=subprocess.DEVNULL)
        else:
            figures = measure(self.words)
        self.figures.append(figures)

    def clean(self):
        if self.output and os.path.exists(self.output):
            shutil.rmtree(self.output) if os.path.isdir(self.output) else os.unlink(self.output)

    def row(self):
        row = {"command": self.name, "inputs": self.inputs}
        if self.threads:
            row["threads"] = self.threads
        if self.exit:
            return {**row, "exit": self.exit}
        wall, cpu, peak = (statistics.median(f[i] for f in self.figures) for i in range(3))
        return {**row, "wall_s": round(wall, 4), "cpu_s": round(cpu, 4), "peak_mib": round(peak / 1024, 1),
                "wall_s_range": [round(f(x[0] for x in self.figures), 4) for f in (min, max)]}


def takes_threads(program, words):
    return "--threads" in subprocess.run([program, words[0], "--help"], capture_output=True, text=True, check=True).stdout


def base_of(trace):
    """The recording of the same heap."""
    return trace.removesuffix(CORE) + ".nettrace" if trace.endswith(CORE) else trace


def heap_name(path):
    return os.path.basename(path).split(".")[0] + (" core" if path.endswith(CORE) else "")


def commands(args, program, trace, folder):
    """In the order they run: the bases, gcdumpc, the others."""
    core = trace.endswith(CORE)
    out = [Command(name, [name, base_of(trace)]) for name in OTHERS]
    for name in args.commands:
        if name in SUFFIXES:
            shown, output = f"convert -o x.{SUFFIXES[name]}", os.path.join(folder, f"bench-out.{SUFFIXES[name]}")
            words, inputs = ["convert", trace, "-o", output], 1
        else:
            words, inputs, output = [w.format(trace) for w in ANSWERS[name]], ANSWERS[name].count("{0}"), None
            shown = shlex.join(w for w in ANSWERS[name] if w != "{0}")
        words = [words[0], "-q", *words[1:]]
        for threads in args.threads or [None]:
            more = ["--threads", str(threads)] if threads else []
            out.append(Command(shown, [program, *words, *more], inputs, threads, output))
    if args.dotnet_dump and core:
        words = [args.dotnet_dump, "analyze", trace, "-c", "dumpheap -stat", "-c", "exit"]
        out.append(Command("dotnet-dump dumpheap -stat", words, foreign=True, one_time=True))
    if args.dotnet_gcdump and not core:
        converted = os.path.join(folder, "bench-theirs.gcdump")
        out.append(Command("dotnet-gcdump convert", [args.dotnet_gcdump, "convert", trace, "-o", converted], foreign=True))
        out.append(Command("dotnet-gcdump report", [args.dotnet_gcdump, "report", converted], output=converted, foreign=True))
    return out


def measure_size(args, program, trace, folder):
    """An element of "sizes"."""
    info = json.loads(subprocess.run([program, "info", "--json", "-q", trace], capture_output=True, check=True).stdout)["dump"]
    todo = commands(args, program, trace, folder)
    for path in {trace, base_of(trace)}:
        measure(["cat", path])
    before = os.getloadavg()[0]
    for i in range(args.runs):
        for c in todo:
            c.once()
            c.clean()
            took = f"exit {c.exit}" if c.exit else f"{c.figures[-1][0]:.2f} s"
            print(f"{info['objects']:,} objects, run {i + 1}: {c.name}: {took}", file=sys.stderr)
    return {"objects": info["objects"], "edges": info["edges"], "bytes": os.path.getsize(trace), "runs": args.runs,
            "date": datetime.date.today().isoformat(), "load": [round(before, 1), round(os.getloadavg()[0], 1)], "rows": [c.row() for c in todo]}


def generate(args, n, folder):
    trace = os.path.join(folder, f"bench-{n}.nettrace")
    if not os.path.exists(trace):
        subprocess.run([os.path.join(args.build, "genheap"), "-n", str(n), "-o", trace + ".new"], check=True)
        os.replace(trace + ".new", trace)
    return trace


def measure_all(args):
    program = os.path.join(args.build, "gcdumpc")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    if args.threads and not takes_threads(program, ["info"]):
        print("this gcdumpc has no --threads, which is left out", file=sys.stderr)
        args.threads = []
    results = {"schema": 1, "version": version, "machine": machine(), "build": build(args.build), "sizes": []}
    if args.output:                          # an unwritable output is reported before the work
        bench_results.store(args.output, results)
    folder = args.folder or tempfile.mkdtemp(prefix="bench-", dir=args.build)
    try:
        for source in args.input + args.objects:
            trace = source if isinstance(source, str) else generate(args, source, folder)
            size = measure_size(args, program, trace, folder)
            if isinstance(source, str):
                size["heap"] = heap_name(source)
            results["sizes"].append(size)
            if not args.folder and trace not in args.input:
                os.unlink(trace)
            if args.output:                  # after each size, so that no result is lost
                bench_results.store(args.output, results)
    finally:
        if not args.folder:
            shutil.rmtree(folder)
    print(bench_results.table(results), end="")


def numbers(text):
    values = [int(n) for n in text.split(",")]
    if min(values) < 1:
        raise ValueError
    return values


def names(text):
    unknown = [n for n in text.split(",") if n not in ANSWERS and n not in SUFFIXES]
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: not one of {', '.join([*ANSWERS, *SUFFIXES])}")
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build", help="folder with gcdumpc and genheap (build)")
    parser.add_argument("--objects", type=numbers, help="sizes to generate (10000000, or none with --input)")
    parser.add_argument("--input", action="append", default=[], help="a recording or a core file that exists")
    parser.add_argument("--commands", type=names, default=USUAL, help=f"of {', '.join([*ANSWERS, *SUFFIXES])}")
    parser.add_argument("--threads", type=numbers, default=[], help="each command with each of these numbers of threads")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", help="for recordings, which stay, and outputs")
    parser.add_argument("--dotnet-gcdump", metavar="PATH", help="that program, for comparison")
    parser.add_argument("--dotnet-dump", metavar="PATH", help="that program, once for each core file")
    parser.add_argument("--output", metavar="FILE", help="keep the figures, as JSON or (.md) as a table")
    parser.add_argument("--render", action="store_true", help="put the figures of the newest version into README.md")
    parser.add_argument("--compare", nargs=2, metavar=("OLD", "NEW"), help="two files of figures")
    args = parser.parse_args()
    try:
        if args.render:
            with open(bench_results.README, encoding="utf-8") as f:
                text = bench_results.rendered(f.read())
            with open(bench_results.README, "w", encoding="utf-8") as f:
                f.write(text)
        elif args.compare:
            print(bench_results.compare(*(bench_results.load(p) for p in args.compare)), end="")
        else:
            args.objects = args.objects or ([] if args.input else [10000000])
            measure_all(args)
    except (OSError, ValueError, KeyError, subprocess.CalledProcessError) as e:
        sys.exit(f"bench.py: {e}")


if __name__ == "__main__":
    main()
