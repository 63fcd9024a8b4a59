#!/usr/bin/env python3
"""Does anything grow faster than the input?  Processor time of gcdumpc for hostile inputs of two sizes.

    growth.py [--build DIR] [--elements 25000] [--factor 8] [--shapes a_list,threads] [--commands info,leaks] [--list]

The inputs are those of growth_shapes.py, with --elements and with --factor times as many.  A command that takes more than 1.6 times what the growth of the
file explains, and more than a quarter of a second, is measured up to three more times; if it stays, it is shown, and the exit status is 1.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

from bench import ANSWERS, SUFFIXES
from bench_measure import run
from growth_shapes import SHAPES

MOST, NOTHING = 1.6, 0.25            # times the growth of the file; too few seconds to judge
START = 0.005                        # seconds of a program without work
COMPLETE, INCOMPLETE = 0, 3
# "paths" to all objects, not to one missing type
OTHER_ANSWERS = {"paths": ["paths", "--type", "*", "{0}"], "tree": ["retained", "--tree", "9", "{0}"],
                 "by-module": ["report", "--by", "module", "{0}"]}
# reads the converted files again
AGAIN = {f"{name}-again": name for name in ("gclog", "gcdump", "dart")}


class Command:
    def __init__(self, name, build):
        self.name, self.program = name, os.path.join(build, "gcdumpc")
        self.format = AGAIN.get(name) or (name if name in SUFFIXES else None)

    def seconds(self, path):
        """Processor seconds; an exit status other than complete or incomplete ends the program."""
        out = f"{path}.out.{SUFFIXES.get(self.format, '')}"
        if self.format:
            took = self.run("convert", "-q", path, "-o", out)
            if self.name in AGAIN:
                took = self.run("retained", out)
            shutil.rmtree(out) if os.path.isdir(out) else os.unlink(out)
            return took
        return self.run(*(word.format(path) for word in {**ANSWERS, **OTHER_ANSWERS}[self.name]))

    def run(self, *words):
        status, _, seconds, _ = run([self.program, *words], stderr=subprocess.DEVNULL)
        if status not in (COMPLETE, INCOMPLETE):
            sys.exit(f"gcdumpc {' '.join(words)}: exit {status}")
        return seconds


def faster(command, paths, growth):
    """(seconds for the small input, for the large one) if that is too much, even when measured again; else None."""
    for _ in range(4):
        small, large = (command.seconds(path) for path in paths)
        if large <= NOTHING or large <= MOST * growth * max(small, START):
            return None
    return small, large


def look_at(name, elements, factor, commands, folder):
    """Names of the commands that grew faster than the input NAME; prints them with their times."""
    suffix, make = SHAPES[name]
    paths, sizes, bad = [], [], {}
    for n in (elements, elements * factor):
        paths.append(os.path.join(folder, f"{n}.{suffix}"))
        with open(paths[-1], "wb") as f:
            sizes.append(f.write(make(n)))
    growth = sizes[1] / sizes[0]
    for command in commands:
        times = faster(command, paths, growth)
        if times is not None:
            bad[command.name] = times
    print(f"{name}: {sizes[0] / 1e6:.1f} MB, then {sizes[1] / 1e6:.1f} MB: {growth:.1f} times",
          *(f"  {c}: {small:.2f} s, then {large:.2f} s: {large / small:.1f} times" for c, (small, large) in bad.items()), sep="\n", flush=True)
    for path in paths:
        os.unlink(path)
    return list(bad)


def main():
    every = [*{**ANSWERS, **OTHER_ANSWERS}, *SUFFIXES, *AGAIN]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--elements", type=int, default=25000)
    parser.add_argument("--factor", type=int, default=8)
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--commands", default=",".join(every))
    parser.add_argument("--list", action="store_true", help="names of shapes and commands")
    options = parser.parse_args()
    if options.list:
        print("shapes:", *SHAPES, "commands:", *every, sep="\n  ")
        return 0
    shapes, names = options.shapes.split(","), options.commands.split(",")
    for word, known in ((shapes, SHAPES), (names, every)):
        unknown = [w for w in word if w not in known]
        if unknown:
            parser.error(f"not known: {', '.join(unknown)}; --list shows what there is")
    commands = [Command(name, options.build) for name in names]
    with tempfile.TemporaryDirectory() as folder:
        bad = sum(len(look_at(name, options.elements, options.factor, commands, folder)) for name in shapes)
    print(f"{len(shapes)} inputs, {len(commands)} commands: {bad or 'nothing'} grew faster than the input")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
