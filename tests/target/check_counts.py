#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare a heap report with what HeapLab says it must show.

    check_counts.py [--incomplete] COUNTS REPORT [INFO]

COUNTS is the line that HeapLab printed, REPORT the output of "gcdumpc report --json", INFO that of "gcdumpc info
--json".  Prints every difference.  Exit: 0 none, 1 differences or unreadable input, 2 usage.
"""

import argparse
import collections
import json
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    if not isinstance(data, dict) or data.get("schema") not in (1, 2):
        raise ValueError(f"{path}: not of schema 1 or 2")
    return data


def check_types(counts, report, incomplete):
    """Rows of one name add up: names are not unique, types are."""
    found = collections.defaultdict(lambda: {"count": 0, "bytes": 0, "edges": 0})
    has_edges = True
    for row in report["types"]:
        sums = found[row["raw_name"]]
        sums["count"] += row["count"]
        sums["bytes"] += row["bytes"]
        sums["edges"] += row.get("edges", 0)
        has_edges &= "edges" in row

    for wanted in counts["types"]:
        name, sums = wanted["name"], found[wanted["name"]]
        if "min_count" in wanted:
            if sums["count"] < wanted["min_count"] and not incomplete:
                yield f"{name}: {sums['count']} objects, at least {wanted['min_count']} expected"
            continue
        for field, unit in (("count", "objects"), ("bytes", "bytes"), ("edges", "edges")):
            if field not in wanted or (field == "edges" and not has_edges):
                continue
            # Lost data may be missing, but nothing may appear that never existed.
            if sums[field] > wanted[field] or (sums[field] < wanted[field] and not incomplete):
                yield f"{name}: {sums[field]} {unit}, {wanted[field]} expected"


def check_info(counts, info, incomplete):
    dump = info["dump"]
    if dump["complete"] == incomplete:
        yield f"the dump is said to be {'complete' if dump['complete'] else 'incomplete'}"
    if incomplete:
        return
    minima = {
        "objects": counts["objects"]["min"],
        "edges": counts["edges"]["min"],
        "bytes": sum(t.get("bytes", 0) for t in counts["types"]),
        "statics": sum(s["min"] for s in counts["statics"]),
        "dependent_handles": counts["handles"]["dependent"]["min"],
    }
    for key, least in minima.items():
        if dump[key] < least:
            yield f"{key}: {dump[key]}, at least {least} expected"
    for kind, wanted in counts["roots"].items():
        if dump["roots"][kind] < wanted["min"]:
            yield f"{kind} roots: {dump['roots'][kind]}, at least {wanted['min']} expected"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--incomplete", action="store_true",
                        help="the dump has lost events: counts are upper limits, and INFO must say so")
    parser.add_argument("counts", metavar="COUNTS")
    parser.add_argument("report", metavar="REPORT")
    parser.add_argument("info", metavar="INFO", nargs="?")
    options = parser.parse_args()

    try:
        counts = load(options.counts)
        differences = list(check_types(counts, load(options.report), options.incomplete))
        if options.info:
            with open(options.info, encoding="utf-8") as file:
                differences += check_info(counts, json.load(file), options.incomplete)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"check_counts: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    for line in differences:
        print(line)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
