#!/usr/bin/env python3
"""Breaks the product in one place at a time and reports the mutations that no test notices.

The mutations are in list/*.txt (see mutations.py), the tests of each folder in tests.txt.  Everything happens in copies of the working tree below
--scratch.  Results are kept there, and a mutation with a result is not built again.
"""
import argparse
import fnmatch
import json
import os
import queue
import resource
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutations                                                        # noqa: E402
from workshop import Broken, Workshop, test_digests, tracked_files      # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# A hanging test counts as noticed, but a slow machine must not look like a hang.
LIMIT_SECONDS, LIMIT_FACTOR, FIRST_SECONDS = 60, 6, 900
QUICK_SECONDS = 5
# A broken program may write endlessly.
FILE_BYTES = 4 << 30


def say(*words):
    print(*words, flush=True)


# -- which tests

def read_plan(path):
    """Folder -> patterns of tests, the quick ones first."""
    plan = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if words and line[0].isspace():
                plan[folder] += words
            elif words:
                folder = words[0]
                plan[folder] = words[1:]
    return plan


def plan_of(plan, folder):
    """A folder without its own line uses the line of its parent folder."""
    while folder not in plan:
        if not folder:
            raise SystemExit("tests.txt has no line for a folder of the list")
        folder = os.path.dirname(folder)
    return plan[folder]


def expand(patterns, names):
    """Names of tests, and parts of scripts as SCRIPT:CLASS.TEST."""
    found = []
    for pattern in patterns:
        name, colon, part = pattern.partition(":")
        matches = [n + colon + part for n in names if fnmatch.fnmatch(n, name)]
        if not matches and "*" not in name:
            raise SystemExit(f"tests.txt or a mutation names the test {pattern}, which does not exist")
        found += [m for m in matches if m not in found]
    return found


# -- results

class Results:
    """One line of JSON per result; the last line of a mutation counts."""

    def __init__(self, path):
        self.path, self.lock, self.by_name = path, threading.Lock(), {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                for line in f:
                    result = json.loads(line)
                    self.by_name[result["name"]] = result

    def of(self, m):
        result = self.by_name.get(m.name)
        return result if result and result["digest"] == m.digest() else None

    def add(self, m, state, by="", how=""):
        result = {"name": m.name, "digest": m.digest(), "state": state, "by": by, "how": how}
        with self.lock:
            self.by_name[m.name] = result
            with open(self.path, "a", encoding="utf-8") as f:
                f.write(json.dumps(result) + "\n")
            say(f"{state:9} {m.name:34} {m.path}  {by} {how}".rstrip())


class Baseline:
    """How long each test takes without a mutation.  Leaves out tests that then fail or are skipped.  Kept until a test or the product changes."""

    def __init__(self, path, digest):
        self.path, self.digest, self.kept, self.known = path, digest, {}, {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                self.kept = json.load(f)

    def measure(self, shop, tests, parallel, quick):
        """With QUICK, times above that limit do not matter."""
        self.known.update((t, self.kept[t]) for t in tests if t in self.kept and self.kept[t]["digest"] == self.digest(t))
        missing = [t for t in tests if t not in self.known]
        if missing:
            say(f"{len(missing)} tests are run without a mutation first")
            shop.build([t.partition(":")[0] for t in missing], parallel)
        for test in missing:
            how, seconds = shop.run(test, FIRST_SECONDS if quick is None else quick + QUICK_SECONDS)
            self.known[test] = {"digest": self.digest(test), "how": how, "seconds": round(seconds, 1)}
            if quick is not None and how == "time limit":
                continue
            self.kept[test] = self.known[test]
            if how:
                say(f"left out: {test}: {how} without a mutation")
            with open(self.path, "w", encoding="utf-8") as f:
                json.dump(self.kept, f, indent=1)

    def usable(self, test):
        return self.known[test]["how"] == ""

    def seconds(self, test):
        return self.known[test]["seconds"]

    def limit(self, test):
        return LIMIT_SECONDS + LIMIT_FACTOR * self.seconds(test)


# -- one mutation

def groups(shop, tests):
    """Groups of tests to build together: the next test alone, then all programs, then all scripts."""
    rest = tests[1:]
    yield tests[:1]
    yield [t for t in rest if shop.is_program(t)]
    yield [t for t in rest if not shop.is_program(t)]


def fails(shop, test, limit):
    """How TEST fails, twice in a row: a flaky failure must not kill a mutation."""
    how, _ = shop.run(test, limit)
    if how and how not in ("skipped", "time limit"):
        how, _ = shop.run(test, limit)
    return "" if how == "skipped" else how


def try_one(shop, m, tests, baseline, quick):
    """Returns the state, the test and how it failed."""
    path = os.path.join(ROOT, m.path)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    try:
        shop.write(m.path, m.apply(text))
        for group in groups(shop, tests):
            if group:
                shop.build([t.partition(":")[0] for t in group])
            for test in group:
                how = fails(shop, test, baseline.limit(test))
                if how:
                    return "killed", test, how
        return "survived", "", "quick tests only" if quick else ""
    except Broken as e:
        return "broken", "", str(e)
    finally:
        shop.write(m.path, text)


def work(shop, jobs, tests_of, baseline, results, quick):
    while True:
        try:
            m = jobs.get_nowait()
        except queue.Empty:
            return
        tests = tests_of(m)
        if tests:
            results.add(m, *try_one(shop, m, tests, baseline, quick))
        else:
            say(f"not tried {m.name:34} {m.path}  no tests are left for its folder")


def spread(todo):
    """Takes one mutation from each folder in turn, so that a run that is stopped early has covered all folders."""
    turn, seen = {}, {}
    for m in todo:
        turn[m.name] = seen[m.folder] = seen.get(m.folder, 0) + 1
    return sorted(todo, key=lambda m: turn[m.name])


def run(todo, args, results, names):
    shops = [Workshop(ROOT, args.scratch, i, names) for i in range(min(args.jobs, len(todo)))]
    for shop in shops:
        shop.copy()
        shop.configure()
    plan, known = read_plan(os.path.join(HERE, "tests.txt")), list(shops[0].tests)
    planned = {m.name: expand(m.first + plan_of(plan, m.folder), known) for m in todo}
    baseline = Baseline(os.path.join(args.scratch, "baseline.json"), test_digests(ROOT, names))
    baseline.measure(shops[0], sorted({t for tests in planned.values() for t in tests}), os.cpu_count(), args.quick)

    def tests_of(m):
        before = results.of(m)
        tests = [t for t in planned[m.name] if baseline.usable(t) and (args.quick is None or baseline.seconds(t) <= args.quick) and
                 (not args.tests or any(fnmatch.fnmatch(t, g) for g in args.tests))]
        if before and before["by"] in tests:         # the test that noticed it last time
            tests.sort(key=lambda t: t != before["by"])
        return tests

    jobs = queue.Queue()
    for m in spread(todo):
        jobs.put(m)
    threads = [threading.Thread(target=work, args=(shop, jobs, tests_of, baseline, results, args.quick is not None or bool(args.tests)), daemon=True) for shop in shops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# -- output

def table(chosen, results):
    """Prints the table in Markdown, then every survivor."""
    say("| folder | mutations | killed | by the time limit | survived | explained |\n|---|---|---|---|---|---|")
    total = [0] * 5
    for folder in [*sorted({m.folder for m in chosen}), None]:
        mine = [(m, results.of(m)) for m in chosen if m.folder == folder]
        row = [len(mine), sum(bool(r) and r["state"] == "killed" for _, r in mine), sum(bool(r) and r["how"] == "time limit" for _, r in mine),
               sum(bool(r) and r["state"] == "survived" for _, r in mine),
               sum(bool(r) and r["state"] == "survived" and bool(m.survives) for m, r in mine)]
        total = [a + b for a, b in zip(total, row)]
        if folder is not None:
            say(f"| `{folder}` | " + " | ".join(map(str, row)) + " |")
    say("| **all** | " + " | ".join(f"**{n}**" for n in total) + " |")
    if total[0]:
        say(f"\n{100 * total[1] / total[0]:.1f} % killed; {sum(results.of(m) is None for m in chosen)} not tried")
    for m in chosen:
        r = results.of(m)
        if r and r["state"] == "survived":
            say(f"\n{m.name}: {m.path}: survived" + (f" ({r['how']})" if r["how"] else "") + (f": {m.survives}" if m.survives else ", NOT explained"))
        elif r and r["state"] == "killed" and m.survives:
            say(f"\n{m.name}: {m.path}: is explained, but {r['by']} notices it: remove the explanation")
        elif r and r["state"] == "broken":
            say(f"\n{m.name}: {m.path}: {r['how']}")


def failed(chosen, results):
    states = [(m, (results.of(m) or {"state": "none"})["state"]) for m in chosen]
    return any(s == "broken" or s == "none" or (s == "survived" and not m.survives) for m, s in states)


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--check", action="store_true", help="only look whether every mutation fits the source, exactly once")
    p.add_argument("--list", action="store_true", help="only show the mutations and their results")
    p.add_argument("--table", action="store_true", help="only show the table of results")
    p.add_argument("--only", action="append", metavar="GLOB", default=[], help="mutations whose name or file matches; may be repeated")
    p.add_argument("--again", action="store_true", help="try again mutations that have a result")
    p.add_argument("--survivors", action="store_true", help="try again mutations that survived or did not build")
    p.add_argument("--quick", type=float, metavar="SECONDS", help="skip tests that take longer; --survivors then tries the rest with all tests")
    p.add_argument("--tests", action="append", metavar="GLOB", default=[],
                   help="run only these tests; may be repeated")
    p.add_argument("--jobs", type=int, default=1, metavar="N", help="number of copies and builds that run in parallel")
    p.add_argument("--scratch", default=os.path.join(os.path.expanduser("~"), ".cache", "gcdumpc-mutate"), metavar="FOLDER",
                   help="folder of copies, builds and results; other users must be able to reach it for some tests (default: %(default)s)")
    return p.parse_args()


def main():
    args = options()
    try:
        everything = mutations.read_list(ROOT)
        wrong = mutations.check(ROOT, everything)
    except mutations.Stale as e:
        wrong = [str(e)]
    if wrong:
        print("\n".join(wrong) + "\nThe list of mutations is out of date: update their old and new text to match the source.", file=sys.stderr)
        return 1
    if args.check:
        say(f"{len(everything)} mutations fit the source")
        return 0
    args.scratch = os.path.abspath(args.scratch)
    os.makedirs(args.scratch, exist_ok=True)
    results = Results(os.path.join(args.scratch, "results.jsonl"))
    chosen = [m for m in everything if not args.only or any(fnmatch.fnmatch(m.name, g) or fnmatch.fnmatch(m.path, g) for g in args.only)]
    if args.list:
        for m in chosen:
            r = results.of(m) or {"state": "-", "by": "", "how": ""}
            say(f"{m.name:34} {m.path:34} {r['state']} {r['by']} {r['how']}".rstrip())
        return 0
    if args.survivors:
        todo = [m for m in chosen if (results.of(m) or {"state": ""})["state"] in ("survived", "broken")]
    else:
        todo = [m for m in chosen if args.again or results.of(m) is None]
    if todo and not args.table:
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))      # also of the processes that it starts
        run(todo, args, results, tracked_files(ROOT))
    table(chosen, results)
    return 1 if failed(chosen, results) else 0


if __name__ == "__main__":
    sys.exit(main())
