#!/usr/bin/env python3
"""Breaks the product in one place at a time and reports what no test notices.

operators.py makes the mutants from the source, patches.txt holds some that no operator can make.
reach.py knows which tests run the lines of a mutant; for a patch, tests.txt names the tests of its
folder.  Everything happens in copies of the working tree below --scratch.  Results are kept there,
and a mutant with a result is not built again.
"""
import argparse
import difflib
import fnmatch
import json
import os
import queue
import random
import re
import resource
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import operators                                                        # noqa: E402
import patches                                                          # noqa: E402
from reach import LABELS, Reach                                                 # noqa: E402
from workshop import (FIRST_BUILD_SECONDS, Broken, Workshop,            # noqa: E402
                      product_digest, test_digest, tracked_files)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# A hanging test counts as noticed, but a slow machine must not look like a hang.
LIMIT_SECONDS, LIMIT_FACTOR, FIRST_SECONDS = 20, 6, 900
UNKNOWN_SECONDS = 20                      # of a test that has not been run
QUICK_SECONDS = 5
# A broken program may write endlessly.
FILE_BYTES = 4 << 30


def say(*words):
    print(*words, flush=True)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


# -- which mutants

def git(*words):
    r = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)
    if r.returncode != 0:
        raise SystemExit(f"git {words[0]}: {r.stderr.strip()}")
    return r.stdout


def commits_since(since):
    """SINCE is a commit or a date; lines that are not committed are always new."""
    is_commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "-q", "--verify",
                                since + "^{commit}"], capture_output=True).returncode == 0
    if re.fullmatch(r"[\d-]{10}", since):
        since += "T00:00"                     # for git a date alone means now, on that day
    chosen = [f"{since}..HEAD"] if is_commit else [f"--since={since}", "HEAD"]
    return {*git("rev-list", *chosen).split(), "0" * 40}


def new_lines(path, commits):
    """Line numbers of PATH that one of COMMITS wrote, not counting mere reformatting."""
    ignored = os.path.join(ROOT, ".git-blame-ignore-revs")
    words = ["--ignore-revs-file", ignored] if os.path.exists(ignored) else []
    blame = git("blame", "--line-porcelain", *words, "--", path)
    lines = [line.split() for line in blame.split("\n")]
    return {int(w[2]) for w in lines if len(w) in (3, 4) and len(w[0]) == 40 and w[0] in commits}


def generate(names, folders, since):
    """All mutants of the C files in FOLDERS."""
    commits, found = commits_since(since) if since else None, []
    for path in names:
        inside = any(path.startswith(f.rstrip("/") + "/") for f in folders)
        if inside and path.endswith(".c"):
            lines = new_lines(path, commits) if since else None
            found += [m for m in operators.mutants_of(path, read(path))
                      if lines is None or m.line in lines]
    return found


def draw(mutants, seed, count):
    """COUNT of them: a line at random, then an operator, then a mutant of it.  A larger sample
    begins with the smaller one of the same seed."""
    lines, rng, drawn = {}, random.Random(seed), []
    for m in mutants:
        lines.setdefault((m.path, m.line), {}).setdefault(m.operator, []).append(m)
    order = sorted(lines)
    rng.shuffle(order)
    for place in order:
        operator = rng.choice(sorted(lines[place]))
        drawn.append(rng.choice(lines[place][operator]))
    return drawn[:count]


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


def plan_of(plan, path):
    """A file or folder without its own line uses the line of its parent folder."""
    while path not in plan:
        if not path:
            raise SystemExit("tests.txt has no line for a folder of a mutant")
        path = os.path.dirname(path)
    return plan[path]


def expand(patterns, names):
    """Names of tests, and parts of scripts as SCRIPT:CLASS.TEST."""
    found = []
    for pattern in patterns:
        name, colon, part = pattern.partition(":")
        matches = [n + colon + part for n in names if fnmatch.fnmatch(n, name)]
        if not matches and "*" not in name:
            raise SystemExit(f"tests.txt or a patch names the test {pattern}, "
                             "which does not exist")
        found += [m for m in matches if m not in found]
    return found


# -- results

class Results:
    """One line of JSON per result; the last line of a mutant counts."""

    def __init__(self, path):
        self.path, self.lock, self.by_digest = path, threading.Lock(), {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                for line in f:
                    result = json.loads(line)
                    self.by_digest[result["digest"]] = result

    def of(self, m):
        return self.by_digest.get(m.digest())

    def state(self, m):
        result = self.of(m)
        return result["state"] if result else "not tried"

    def killed_by(self, m, test):
        """Whether TEST has killed a mutant of the same file."""
        return any(r["by"] == test and r["name"].startswith(m.path + ":")
                   for r in list(self.by_digest.values()))

    def add(self, m, state, by="", how="", diff="", seconds=0):
        result = {"name": m.name, "digest": m.digest(), "state": state, "by": by, "how": how,
                  "diff": diff, "seconds": round(seconds, 1)}
        with self.lock:
            self.by_digest[m.digest()] = result
            with open(self.path, "a", encoding="utf-8") as f:
                f.write(json.dumps(result) + "\n")
            say(f"{state:14} {seconds:5.1f} s {m.name}  {by} {how}".rstrip())


class Baseline:
    """How each test ends without a mutant, and after how many seconds.  Kept until it changes; a
    test that kills is run again if the product has changed."""

    def __init__(self, path, names):
        self.path, self.names, self.tests, self.lock = path, names, {}, threading.Lock()
        self.guess = {}                       # seconds of tests that have not been run here
        self.product = product_digest(ROOT, names)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                self.tests = json.load(f)

    def measure(self, shop, tests, limit):
        """Runs those that are not known yet."""
        digests = {t: test_digest(ROOT, self.names, t) for t in tests}
        missing = []
        for test in tests:
            known = self.tests.get(test, {"digest": "", "how": ""})
            was_cut = known["how"] == "time limit" and known["seconds"] < limit - QUICK_SECONDS
            if known["digest"] != digests[test] or was_cut:
                missing.append(test)
        if missing:
            say(f"{len(missing)} tests are run without a mutant first")
            shop.build([t.partition(":")[0] for t in missing], FIRST_BUILD_SECONDS)
        for test in missing:
            self._run(shop, test, digests[test], limit)

    def _run(self, shop, test, digest, limit):
        how, seconds = shop.run(test, limit)
        if how:
            say(f"left out: {test}: {how} without a mutant")
        with self.lock:
            self.tests[test] = {"digest": digest, "product": self.product, "how": how,
                                "seconds": round(seconds, 1)}
            with open(self.path, "w", encoding="utf-8") as f:
                json.dump(self.tests, f, indent=1)

    def passes(self, shop, test):
        """Whether TEST passes with the product as it is."""
        known, digest = self.tests.get(test), test_digest(ROOT, self.names, test)
        if known is None or known["product"] != self.product or known["digest"] != digest:
            shop.build([test.partition(":")[0]])
            self._run(shop, test, digest, self.limit(test))
        return self.usable(test, None)

    def usable(self, test, quick):
        """That it failed where it was run to see its lines does not count: passes() decides."""
        known = self.tests.get(test, {"how": "", "seconds": self.guess.get(test, 0)})
        is_slow = quick is not None and known["seconds"] > quick
        return known["how"] == "" and not is_slow

    def limit(self, test):
        seconds = (self.tests[test]["seconds"] if test in self.tests else
                   self.guess.get(test, UNKNOWN_SECONDS))
        return LIMIT_SECONDS + LIMIT_FACTOR * seconds


# -- one mutant

def fails(shop, test, limit):
    """How TEST fails; a script twice in a row: a flaky failure must not kill a mutant."""
    how, _ = shop.run(test, limit)
    if how and how not in ("skipped", "time limit") and not shop.is_program(test):
        how, _ = shop.run(test, limit)
    return "" if how == "skipped" else how


def unified(m, text):
    lines = difflib.unified_diff(text.split("\n"), m.apply(text).split("\n"), "a/" + m.path,
                                 "b/" + m.path, lineterm="")
    return "\n".join(lines)


def try_one(shop, m, tests, baseline, quick, unseen=()):
    """Returns the state, the test, how it failed, and the diff of a survivor.  UNSEEN: mutants
    whose tests are a guess."""
    text = shop.read(m.path)                  # the tree itself may have changed since
    is_c = m.path.endswith(".c")
    try:
        shop.write(m.path, m.apply(text))
        if is_c:
            shop.check(m.path)
        for test in tests:
            shop.build([test.partition(":")[0]])
            how = fails(shop, test, baseline.limit(test))
            if how:
                return "killed", test, how
        if is_c:                              # last, because few survive
            mutated = shop.optimized(m.path)
            shop.write(m.path, text)
            if shop.optimized(m.path) == mutated:
                return "equivalent", "", ""
        covered = tests and m not in unseen
        return ("survived" if covered else "not covered", "",
                "quick tests only" if quick else "", unified(m, text))
    except Broken as e:
        return "does not build", "", str(e)
    finally:
        shop.write(m.path, text)


def work(shop, jobs, tests_of, baseline, results, quick, unseen):
    while True:
        try:
            m = jobs.get_nowait()
        except queue.Empty:
            return
        result = None
        begun = time.monotonic()
        while result is None or result[0] == "killed" and not baseline.passes(shop, result[1]):
            result = try_one(shop, m, tests_of(m), baseline, quick, unseen)
        results.add(m, *result, seconds=time.monotonic() - begun)


def wanted(args, tests):
    return [t for t in tests
            if not args.tests or any(fnmatch.fnmatch(t, g) for g in args.tests)]


def reached(todo, args, names, baseline, known, unseen):
    """A function that tells the tests of a mutant, the cheapest first.  Of one that no test is seen
    to reach, which it puts into UNSEEN, those of tests.txt: a process that is killed leaves no
    coverage, nor does the end of a long script."""
    plan = read_plan(os.path.join(HERE, "tests.txt"))
    mutants = [m for m in todo if isinstance(m, operators.Mutant)]
    reach = Reach(ROOT, args.scratch, names)
    if mutants:
        reach.measure({m.path for m in mutants}, say)
    baseline.guess = {t: e["seconds"] for t, e in reach.entries.items()}

    def tests_of(m):
        found = sorted(reach.reaching(m.path, m.statement, m.line), key=reach.cost)
        if not found:
            unseen.add(m)
            found = [t for t in expand(plan_of(plan, m.path), known) if t.split("/")[0] in LABELS]
        return wanted(args, found)

    return tests_of


def plan_patches(todo, args, shop, baseline):
    """The tests of each patch."""
    plan, known = read_plan(os.path.join(HERE, "tests.txt")), list(shop.tests)
    planned = {m: wanted(args, expand(m.first + plan_of(plan, m.path), known))
               for m in todo if not isinstance(m, operators.Mutant)}
    limit = FIRST_SECONDS if args.quick is None else args.quick + QUICK_SECONDS
    baseline.measure(shop, sorted({t for tests in planned.values() for t in tests}), limit)
    return planned


def run(todo, args, results, names):
    shops = [Workshop(ROOT, args.scratch, i, names) for i in range(min(args.jobs, len(todo)))]
    for shop in shops:
        shop.copy()
        shop.configure()
    baseline = Baseline(os.path.join(args.scratch, "baseline.json"), names)
    unseen = set()
    tests_by_lines = reached(todo, args, names, baseline, list(shops[0].tests), unseen)
    planned = plan_patches(todo, args, shops[0], baseline)

    def tests_of(m):
        before, tests = results.of(m), planned[m] if m in planned else tests_by_lines(m)
        tests = [t for t in tests if baseline.usable(t, args.quick)]
        last = before["by"] if before else ""        # the test that noticed it last time
        return sorted(tests, key=lambda t: (t != last, not results.killed_by(m, t)))

    jobs, quick = queue.Queue(), args.quick is not None or bool(args.tests)
    for m in todo:
        jobs.put(m)
    threads = [threading.Thread(target=work, daemon=True,
                                args=(shop, jobs, tests_of, baseline, results, quick, unseen))
               for shop in shops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# -- output

STATES = ("killed", "survived", "not covered", "equivalent", "does not build", "not tried")
NOTICED_BY_NONE = ("survived", "not covered")


def report(chosen, results):
    """Prints the survivors, then the table in Markdown.  Returns whether all is well."""
    survivors = [m for m in chosen if results.state(m) in NOTICED_BY_NONE]
    for m in survivors:
        say(f"\n{results.state(m)}: {m.name}" + (f": {m.survives}" if m.survives else ""))
        say(results.of(m)["diff"])
    say("\n| folder | drawn | " + " | ".join(STATES) + " |\n" + "|---" * (2 + len(STATES)) + "|")
    total = [0] * (1 + len(STATES))
    for folder in sorted({m.folder for m in chosen}):
        states = [results.state(m) for m in chosen if m.folder == folder]
        row = [len(states), *map(states.count, STATES)]
        total = [a + b for a, b in zip(total, row)]
        say(f"| `{folder}` | " + " | ".join(map(str, row)) + " |")
    say("| **all** | " + " | ".join(f"**{n}**" for n in total) + " |")
    if sum(total[1:4]):
        say(f"\n{100 * total[1] / sum(total[1:4]):.1f} % killed of those that are not equivalent "
            "and build")
    return all(m.survives for m in survivors) and total[-1] == 0


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--seed", default="1", help="of the sample (default: %(default)s)")
    p.add_argument("--sample", type=int, default=60, metavar="N",
                   help="number of mutants to draw (default: %(default)s)")
    p.add_argument("--since", metavar="DATE|COMMIT", help="only lines that were written since then")
    p.add_argument("--folder", action="append", metavar="FOLDER",
                   help="only files below it; may be repeated (default: src and ipc)")
    p.add_argument("--patches", nargs="?", const=os.path.join(HERE, "patches.txt"), metavar="FILE",
                   help="try the written mutants of FILE (default: patches.txt), all of them")
    p.add_argument("--list", action="store_true", help="only show the mutants and their results")
    p.add_argument("--table", action="store_true", help="only show survivors and table")
    p.add_argument("--again", action="store_true", help="try again mutants that have a result")
    p.add_argument("--survivors", action="store_true", help="try again mutants that survived")
    p.add_argument("--quick", type=float, metavar="SECONDS",
                   help="skip tests that take longer; --survivors then tries the rest")
    p.add_argument("--tests", action="append", metavar="GLOB", default=[],
                   help="run only these tests; may be repeated")
    p.add_argument("--jobs", type=int, default=1, metavar="N",
                   help="number of copies and builds that run in parallel")
    p.add_argument("--scratch", metavar="FOLDER",
                   default=os.path.join(os.path.expanduser("~"), ".cache", "gcdumpc-mutate"),
                   help="folder of copies, builds and results; other users must be able to reach "
                   "it for some tests (default: %(default)s)")
    return p.parse_args()


def choose(args, names):
    if args.patches is None:
        mutants = generate(names, args.folder or ["src", "ipc"], args.since)
        chosen = draw(mutants, args.seed, args.sample)
        say(f"{len(chosen)} of {len(mutants)} mutants, seed {args.seed}")
        return chosen
    chosen = patches.read(args.patches)
    wrong = patches.check(ROOT, chosen)
    if wrong:
        raise SystemExit("\n".join(wrong))
    return [m for m in chosen if not args.folder or any(m.path.startswith(f) for f in args.folder)]


def main():
    args = options()
    names = tracked_files(ROOT)
    chosen = choose(args, names)
    args.scratch = os.path.abspath(args.scratch)
    os.makedirs(args.scratch, exist_ok=True)
    results = Results(os.path.join(args.scratch, "results.jsonl"))
    if args.list:
        for m in chosen:
            r = results.of(m) or {"by": "", "how": ""}
            say(f"{results.state(m):14} {m.name}  {r['by']} {r['how']}".rstrip())
        return 0
    again = NOTICED_BY_NONE if args.survivors else STATES if args.again else ("not tried",)
    todo = [m for m in chosen if results.state(m) in again]
    if todo and not args.table:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]     # also of processes that it starts
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, hard))
        run(todo, args, results, names)
    return 0 if report(chosen, results) else 1


if __name__ == "__main__":
    sys.exit(main())
