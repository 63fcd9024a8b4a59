#!/usr/bin/env python3
"""Prints how many lines of each folder were run, and lists those that were not: coverage_report.py LCOV-FILE LIST-TO-WRITE (see coverage.sh)."""
import collections
import os
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
# Code that decodes external bytes.
DECODERS = ("src/nettrace", "src/etl", "src/clr", "src/heap", "src/read", "src/base/cur.h", "src/base/dec.h")


def ours(path):
    """The path of a product file within the repository: its prefix depends on the build folder (-ffile-prefix-map)."""
    parts = path.split("/")
    names = ("/".join(parts[i:]) for i in range(len(parts)) if parts[i] in ("src", "ipc"))
    return next((n for n in names if os.path.exists(os.path.join(ROOT, n))), "")


def counts_of(lcov):
    """{file: {line: how often it was run}}, of this repository's product."""
    files = collections.defaultdict(dict)
    with open(lcov, encoding="utf-8") as f:
        for line in f:
            word, _, rest = line.strip().partition(":")
            if word == "SF":
                name = ours(rest)
            elif word == "DA" and name:
                number, count = map(int, rest.split(",")[:2])
                files[name][number] = max(count, files[name].get(number, 0))
    return files


def runs(numbers):
    """[3, 4, 5, 9] -> [(3, 5), (9, 9)]"""
    found = []
    for n in numbers:
        if found and found[-1][1] == n - 1:
            found[-1][1] = n
        else:
            found.append([n, n])
    return found


def write_uncovered(files, path):
    with open(path, "w", encoding="utf-8") as out:
        for name, lines in sorted(files.items()):
            missing = sorted(n for n, count in lines.items() if count == 0)
            if not missing:
                continue
            with open(os.path.join(ROOT, name), encoding="utf-8") as f:
                text = f.read().split("\n")
            out.write(f"{name}: {len(missing)} of {len(lines)}\n")
            for first, last in runs(missing):
                out.writelines(f"{n:6} {text[n - 1]}\n" for n in range(first, last + 1))


def show(title, lines):
    all_lines, run = len(lines), sum(count > 0 for count in lines)
    print(f"{title:24} {all_lines:6} {run:6} {100 * run / all_lines:7.2f} %" if all_lines else f"{title:24} nothing")


def main():
    files = counts_of(sys.argv[1])
    write_uncovered(files, sys.argv[2])
    folders = collections.defaultdict(list)
    for name, lines in files.items():
        folders[os.path.dirname(name)].extend(lines.values())
    print(f"{'':24} {'lines':>6} {'run':>6}")
    for folder in sorted(folders):
        show(folder, folders[folder])
    show("all", [count for lines in folders.values() for count in lines])
    show("decoders", [count for name, lines in files.items() if name.startswith(DECODERS) for count in lines.values()])
    print(f"what was not run: {os.path.relpath(sys.argv[2])}")


main()
