#!/usr/bin/env python3
"""Recordings and core files of living heaps for bench.py: of a service, of the C# compiler with what it has made of generated sources, of objects
that are made and linked in random order, and of the coffee shop of the guides.

    record_heaps.py [--build DIR] [--objects 10000000] [--heaps service,compiler,random,shop] [--direct] [--cores] FOLDER

Writes FOLDER/HEAP.nettrace, about 530 MB for 10 million objects, for `bench.py --input`.  Of the same process, --direct writes FOLDER/HEAP-direct.nettrace,
read from its memory, and --cores FOLDER/HEAP.core.  Needs
the .NET SDK, no network.  The programs run from a folder below /tmp, so that no path of this machine is in a recording; the recordings are not
committed.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OBJECTS_PER_FILE = 9600                  # of the compiler, as measured
OBJECTS_PER_CUSTOMER = 10                # of the shop
# heap -> program, its arguments for N objects
HEAPS = {
    "service": ("HeapLab", lambda n: ["--service", str(n)]),
    "compiler": ("CompilerLab", lambda n: [str(max(1, n // OBJECTS_PER_FILE))]),
    "random": ("RandomLab", lambda n: [str(n)]),
    "shop": ("CoffeeShop", lambda n: [str(max(1, n // OBJECTS_PER_CUSTOMER))]),
}


def record(program, words, gcdumpc, dumps, core):
    """Dumps of PROGRAM once it has printed its line, of each file and its options, and the file CORE if it is not None."""
    target = subprocess.Popen([program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/",
                              env={**os.environ, "DOTNET_gcServer": "0"})
    try:
        if not target.stdout.readline():
            sys.exit(f"record_heaps.py: {os.path.basename(program)} ended with {target.wait()}")
        for output, options in dumps.items():
            subprocess.run([gcdumpc, "collect", "--pid", str(target.pid), "--plain", "--strict", "--max-objects", str(1 << 31), "--format", "nettrace",
                            "-o", output + ".new", *options], check=True)
            os.replace(output + ".new", output)
        if core:
            from live_support import createdump_of       # main has set what it reads
            subprocess.run([createdump_of(target.pid), "--withheap", "-f", core, str(target.pid)], check=True, stdout=subprocess.DEVNULL)
    finally:
        target.stdin.close()
        target.kill()
        target.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build", help="folder with gcdumpc; programs are built there, once")
    parser.add_argument("--objects", type=int, default=10000000, help="about this many objects in each heap")
    parser.add_argument("--heaps", default=",".join(HEAPS), help="which ones")
    parser.add_argument("--direct", action="store_true", help="a dump read from memory, too")
    parser.add_argument("--cores", action="store_true", help="core files, too")
    parser.add_argument("folder")
    args = parser.parse_args()
    os.environ["GCDUMPC_BUILD"] = os.path.abspath(args.build)
    sys.path[:0] = [os.path.join(HERE, "..", "live")]
    import lab_programs                  # reads the environment
    import live_support
    os.makedirs(args.folder, exist_ok=True)
    runtime = int(live_support.sdk_version().split(".")[0])
    for heap in args.heaps.split(","):
        name, words = HEAPS[heap]
        with tempfile.TemporaryDirectory(prefix="heaps-", dir="/tmp") as neutral:
            built = lab_programs.program(name, runtime, "built")
            shutil.copytree(os.path.dirname(built), os.path.join(neutral, "bin"))
            path = os.path.join(args.folder, heap)
            dumps = {f"{path}.nettrace": [], **({f"{path}-direct.nettrace": ["--direct"]} if args.direct else {})}
            record(os.path.join(neutral, "bin", name), words(args.objects), os.path.join(args.build, "gcdumpc"), dumps, f"{path}.core" if args.cores else None)


if __name__ == "__main__":
    main()
