"""Elements of the collections of living processes (planted/), as ClrMD reads them from their fields.

An exact count must be equal, and a range must contain the count.  The collections of the shop itself must be recognized, with the right best number;
the few exceptions have a reason.  planted_runs.py says how to choose scenarios and runtimes.
"""
import collections
import os

from lab_programs import dac, oracle, program
from live_support import BUILD, LiveTest, Process, main, need
from planted_runs import each, gcdumpc, output, runtimes

SCENARIOS = ["concurrent-dictionary", "nested-dictionary", "event", "channel-readers", "memory-cache", "weak-table", "ef-tracker", "web-sessions"]
if os.environ.get("GCDUMPC_LONG") == "1":                # test_all_kinds has the kinds of the others
    SCENARIOS = [
        "concurrent-dictionary", "static-list", "dictionary", "nested-dictionary", "sorted-dictionary", "sorted-set", "sorted-list", "hash-set",
        "linked-list", "queue", "stack", "priority-queue", "concurrent-queue", "concurrent-bag", "concurrent-stack", "blocking-collection",
        "immutable-dictionary", "immutable-list", "byte-arrays", "strings", "sparse-dictionary", "boxed-values", "observable-collection",
        "keys-without-equals", "event", "channel", "channel-readers", "memory-cache", "weak-table", "hosted-service", "ef-tracker", "web-sessions",
        "web-distributed-cache", "healthy-web-load", "healthy-tables",
    ]
LARGE = 100
# The count is a number in a field: of characters; of entries whose keys live.
INSIDE = "System.Collections.Generic.TreeSet<"           # of a SortedDictionary
NO_BEST_NUMBER = ("System.Text.StringBuilder", "System.Runtime.CompilerServices.ConditionalWeakTable<")

Collection = collections.namedtuple("Collection", "elements at_least at_most")


def number(word, unknown):
    return unknown if word == "-" else int(word)


def counted(text):
    """Address -> what tests/collections_list says, without arrays."""
    found = {}
    for line in text.splitlines():
        address, kind, elements, at_least, at_most, *_ = line.split(" ", 9)
        if kind != "array":
            found[int(address, 16)] = Collection(int(elements), number(at_least, 0), number(at_most, float("inf")))
    return found


def read(text):
    """Address -> (elements, type) by ClrMD."""
    found = {int(address, 16): (int(n), name) for address, n, name in (line.split(" ", 2) for line in text.splitlines())}
    return {address: it for address, it in found.items() if not it[1].startswith(INSIDE)}


class Counts(LiveTest):
    def both(self, *words):
        """Repeats the comparison if the garbage collector has moved the objects between the two readings."""
        for _ in range(3):
            got, truth = self.both_once(*words)
            if not [1 for address, (n, name) in truth.items() if n >= LARGE and "Shop." in name and address not in got]:
                break
        return got, truth

    def both_once(self, target, scenario, runtime, flavour):
        dump = self.path(f"{runtime}-{scenario}.nettrace")
        for _ in range(2):       # the first one makes the runtime describe its events, in objects that only later readers see
            gcdumpc("collect", "--pid", target.pid, "-o", dump)
        truth = read(output("dotnet", need(oracle, "CollectionCounts"), target.pid, need(dac, runtime, flavour)))
        got = counted(output(os.path.join(BUILD, "tests", "collections_list"), dump))
        os.unlink(dump)
        return got, truth

    def test_counts(self):
        sums = collections.Counter()
        for runtime, scenario, result in each(SCENARIOS, self.both):
            with self.subTest(scenario=scenario, runtime=runtime):
                got, truth = result()
                self.assertGreater(len(truth), 10)
                wrong = [f"{name} at {address:x} has {n}: {got.get(address)}" for address, (n, name) in truth.items()
                         if not self.right(n, name, got.get(address), sums)]
                self.assertEqual(wrong, [])
        self.assertLess(sums["not recognized"], 0.02 * sum(sums.values()) + 5)
        print(", ".join(f"{n} {what}" for what, n in sorted(sums.items())), flush=True)

    def test_all_kinds(self):
        """Some ten thousand collections of all kinds, empty ones, with null elements, after removals, of values (collection_lab/)."""
        for runtime, flavour in runtimes():
            with Process(program=need(program, "CollectionLab", runtime, flavour)) as target:
                got, truth = self.both_once(target, "all", runtime, flavour)
            sums = collections.Counter()
            wrong = [f"{name} at {address:x} has {n}: {got[address]}" for address, (n, name) in truth.items()
                     if address in got and not self.within(n, got[address], sums)]
            self.assertEqual(wrong[:20], [], f"{len(wrong)} on .NET {runtime}")
            missing = [name for address, (n, name) in truth.items() if address not in got]
            self.assertLess(len(missing), 50, missing[:20])
            self.assertGreater(sums["exact"], 8000)
            print(f".NET {runtime}: {', '.join(f'{n} {what}' for what, n in sorted(sums.items()))}, {len(missing)} not recognized", flush=True)

    def within(self, n, got, sums):
        sums["exact" if got.at_least == got.at_most else "the best number of a range" if got.elements == n else "in a range"] += 1
        return got.at_least <= n <= got.at_most

    def right(self, n, name, got, sums):
        if got is None:
            sums["not recognized"] += 1
            return n < LARGE or "Shop." not in name
        exact = got.at_least == got.at_most
        sums["exact" if exact else "the best number of a range" if got.elements == n else "in a range"] += 1
        best = n < LARGE or "Shop." not in name or name.startswith(NO_BEST_NUMBER)
        return got.at_least <= n <= got.at_most and (got.elements == n or best and not exact)


if __name__ == "__main__":
    main()
