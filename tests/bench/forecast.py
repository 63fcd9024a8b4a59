#!/usr/bin/env python3
"""Compares what "collect --dry-run" expects with what a dump then costs: six dumps of each of five programs, as a Markdown table.

The first dump of a program has no earlier one, so the pause follows from the heap; the others have the last one."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "live")]

import lab_programs                      # noqa: E402
from live_support import PROGRAM, Process        # noqa: E402

DUMPS = 6


def programs():
    """(title, path, arguments)"""
    heaplab, shop = lab_programs.program("HeapLab", 10, "built"), lab_programs.coffee_shop()
    return (("HeapLab, a small heap", heaplab, ()), ("HeapLab, 1 million objects", heaplab, ("--objects", "1000000")),
            ("HeapLab, 300 MiB in large arrays", heaplab, ("--memory", "managed", "300")),
            ("HeapLab, 300 MiB of native memory", heaplab, ("--memory", "native", "300")), ("CoffeeShop, leaking", shop, ()))


def run(folder, pid, *words):
    """The JSON of one line on either output."""
    command = [PROGRAM, "collect", "--pid", str(pid), "-o", os.path.join(folder, "%n-%s.nettrace.gz"), "--log", "json", *words]
    got = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(got.stdout or got.stderr)


def measure(title, program, arguments):
    """A row of factors, result / expectation, of each dump: pause, events, file."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, Process(*arguments, program=program) as target:
        for i in range(DUMPS):
            expected = run(folder, target.pid, "--dry-run")
            done = run(folder, target.pid, "--summary", os.path.join(folder, "summary.json"))
            with open(os.path.join(folder, "summary.json"), encoding="utf-8") as f:
                events = json.load(f)["event_bytes"]
            rows.append((expected["pause_ms"], done["pause_ns"] / 1e6, events / expected["event_bytes"], done["file_bytes"] / expected["file_bytes"],
                         expected["pause_by"], expected["gc_heap_most_bytes"]))
            print(f"  {title}: {rows[-1]}", file=sys.stderr)
    return rows


def factors(values):
    values = list(values)
    return f"{min(values):.2f} to {max(values):.2f}"


def main():
    print("| program | first: expected, was | others: was / expected | median error of the others | events: was / expected | file: was / expected |")
    print("|---|---|---|---|---|---|")
    errors = []
    for title, program, arguments in programs():
        first, *others = measure(title, program, arguments)
        off = [abs(was / max(expected, 1) - 1) for expected, was, *_ in others]
        errors += off
        print(f"| {title} | {first[0]} ms, {first[1]:.0f} ms | {factors(r[1] / max(r[0], 1) for r in others)} | {100 * statistics.median(off):.0f} % | "
              f"{first[2]:.2f}, then {factors(r[2] for r in others)} | {first[3]:.2f}, then {factors(r[3] for r in others)} |", flush=True)
    print(f"\nMedian error of all pauses with an earlier dump: {100 * statistics.median(errors):.0f} %, largest {100 * max(errors):.0f} %.")


if __name__ == "__main__":
    main()
