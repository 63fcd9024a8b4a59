"""Names of fields, compared with ClrMD attached to the same living process.

For each reference of each object that has not changed in between, gcdumpc names no field, or the one at which ClrMD finds the reference in memory.
ClrMD reads field descriptors in the process, gcdumpc reads the files of the modules and sees only the order of references.  Where ClrMD is known to
be wrong (CLRMD_WRONG), FieldLab itself says where its fields are.

The tests use FieldLab (difficult layouts), HeapLab, also as a service, WebLab and the coffee shop, built for the SDK's own runtime, the
last two and HeapLab also for the newest; GCDUMPC_TEST_FIELDS=all: all for every runtime, a larger service, and also the shop of test_planted (Kestrel,
Entity Framework).
"""
import collections
import json
import os
import re
import sqlite3
import subprocess

from lab_programs import dac, oracle, plugin, program
from live_support import RUNTIMES, SECONDS, LiveTest, Process, main, need, sdk_version

# ClrMD 4.2 takes the layout of shared code for a value with type arguments that are values, and knows no inline arrays: it names a number in a value,
# or a value itself.  FieldLab says where the fields of Twin are in Closed, which is a Generic<Pair<string, Root>>.
CLRMD_WRONG = re.compile(r"(\.|^)(m_value|_value|_element)(\.|$)|^FieldLab\.Base\.Generic<FieldLab\.Base\.Pair<.*\.Twin\.First|\.Players\._first$")

ALL = os.environ.get("GCDUMPC_TEST_FIELDS") == "all"


def runtimes(*more):
    own = int(need(sdk_version).split(".")[0])
    return [(r, "built" if r == own else "contained") for r in RUNTIMES if r == own or ALL or r in more]


def parts(path):
    """The fields in a path, which can have dots in them."""
    depth, part = 0, ""
    for c in path:
        depth += (c == "<") - (c == ">")
        if c == "." and depth == 0:
            yield part
            part = ""
        else:
            part += c
    yield part


def source_name(path):
    """As C# writes what its compiler calls PATH."""
    forms = (r"<(.+)>k__BackingField", r"<(.+)>i__Field", r"<(.+)>P", r"<(.+)>5__\d+", r"<>[234]__(.+)", r"CS\$<>8__(.+)")
    return ".".join("await" if part.startswith("<>u__") else next((m[1] for m in (re.fullmatch(form, part) for form in forms) if m), part)
                    for part in parts(path))


class Dump:
    """Objects of a database: address -> (method table, type, module, [(target, its type, field, element)])."""

    def __init__(self, database):
        with sqlite3.connect(database) as c:
            types = {i: (table, name, module or "") for i, table, name, module in c.execute("SELECT id, method_table, name, module FROM types")}
            nodes = [(address, types[t]) for address, t in c.execute("SELECT address, type_id FROM objects ORDER BY id")]
            self.objects = {address: (*t, []) for address, t in nodes}
            for source, target, field, element in c.execute("SELECT from_id, to_id, field, element FROM edges ORDER BY from_id, slot"):
                self.objects[nodes[source][0]][3].append((nodes[target][0], nodes[target][1][1], field, element))


class Compared:
    """OFFSETS: {(type, offset): field}, as the program itself says."""

    def __init__(self, dump, lines, offsets, own):
        self.n, self.wrong, self.offsets, self.own = collections.Counter(), [], offsets, own
        self.unknown = collections.Counter()
        for line in lines:
            address, table, *references = line.split(" ")
            known = dump.objects.get(int(address, 16))
            if known is not None and known[0] == int(table, 16):
                self.object(known, [self.reference(r) for r in references])

    @staticmethod
    def reference(text):
        offset, name, target = text.split(":")
        return int(offset, 16), name.replace("\u00a0", " ").replace("\u00a1", ":"), int(target, 16)

    def object(self, known, references):
        _, name, module, edges = known
        if len(edges) == len(references) + 1 and edges[0][1] == "System.Reflection.LoaderAllocator":
            self.n["loader allocators"] += 1
            if edges[0][2:] != (None, None):
                self.wrong.append(f"the loader allocator of {name} is {edges[0][2:]}")
            edges = edges[1:]
        if [e[0] for e in edges] != [r[2] for r in references]:
            self.n["objects changed"] += 1
            return
        self.n["objects"] += 1
        self.elements_of_values(name, edges, references)
        for (_, _, field, element), (offset, path, _) in zip(edges, references):
            if path == "" and (name, offset) not in self.offsets:
                if field is None:
                    self.element(name, offset, element)
            else:
                self.field(name, module.endswith(self.own), field, self.offsets.get((name, offset)) or source_name(path))

    def elements_of_values(self, name, edges, references):
        """ClrMD says only where they are: the same field of each is as far from that of the next one as their indexes differ."""
        sizes, last = set(), {}
        for (_, _, field, element), (offset, path, _) in zip(edges, references):
            if path == "" and field is not None and element is not None:
                if field in last:
                    steps = element - last[field][1]
                    sizes.add((offset - last[field][0]) / steps if steps else None)
                last[field] = offset, element
                self.n["elements of values"] += 1
        if len(sizes) > 1 or None in sizes:
            self.wrong.append(f"{name} has elements of {sizes} bytes")

    def element(self, name, offset, element):
        self.n["elements"] += 1
        if element is None:
            return
        self.n["elements known"] += 1
        if element not in ((offset - 8) // 8, (offset - 16) // 8):
            self.wrong.append(f"{name}[{element}] is at {offset}")

    def field(self, name, own, field, truth):
        self.n["fields"] += 1
        self.n["own"] += own
        if field is None:
            self.unknown[name] += 1
            return
        self.n["named"] += 1
        self.n["own named"] += own
        # once it did not look into a generic value of the framework (CerHashtable): then the value itself would be a reference
        stops = name.startswith("System.") and field.startswith(f"{truth}.")
        if field != truth and (stops or CLRMD_WRONG.search(f"{name}.{truth}")):
            self.n["ClrMD is wrong"] += 1
        elif name == "System.Threading.TimerQueueTimer" and {field, truth} == {"_prev", "_next"}:
            # one that has fired is put at the other end of its list: the same neighbour is on its other side when ClrMD looks
            self.n["timers moved"] += 1
        elif field != truth:
            self.wrong.append(f"{name}.{field} is {truth}")

    def share(self, part, of):
        return self.n[part] / max(1, self.n[of])


class Fields(LiveTest):
    def compare(self, name, runtime, flavour, *args):
        file = need(program, name, runtime, flavour)
        target = self.target = Process(*args, program=file)
        self.addCleanup(target.__exit__)
        lines, offsets = [target.line], {}
        while name == "FieldLab" and not lines[-1].startswith("ready"):
            lines.append(target.process.stdout.readline())
            self.assertNotEqual(lines[-1], "", "FieldLab did not start")
        for line in lines:
            if line.startswith("offset "):
                _, type_name, field, offset = line.split()
                offsets[type_name, int(offset)] = field
        self.base = f"/{name}.dll"
        database, direct, read = (self.path(f"{name}-{runtime}{way}.sqlite") for way in ("", "-direct", "-read"))
        for _ in range(2):                   # a collection after the first dump can move nearly everything
            r = self.gcdumpc("collect", "--pid", target.pid, "-o", read, "--fields", "exact")
        self.assertRegex(r.stderr, r"fields: exact, also in [\d,]+ objects with null references, read [\d,]+ ms after the walk")
        self.gcdumpc("collect", "--pid", target.pid, "-o", database)
        self.gcdumpc("collect", "--direct", "--pid", target.pid, "-o", direct)
        lines = self.in_memory(target, runtime, flavour)
        beside, got, exact = (Compared(Dump(d), lines, offsets, self.base) for d in (read, database, direct))
        for way, seen in (("events", got), ("memory", exact), ("events and null maps", beside)):
            print(f"{name}, .NET {runtime}, {way}: " + ", ".join(f"{n} {k}" for k, n in sorted(seen.n.items())) +
                  f"; named {seen.share('named', 'fields'):.1%}, of its own types {seen.share('own named', 'own'):.1%}", flush=True)
            self.assertEqual(seen.wrong[:10], [], f"{len(seen.wrong)} wrong names by {way}")
            self.assertGreater(seen.n["objects"], 1000)
        for seen in (exact, beside):
            self.assertGreater(seen.share("named", "fields"), 0.97)
            self.assertGreater(seen.share("elements known", "elements"), 0.99)
        self.assertGreater(got.n["named"], 50)
        for seen in (got, beside):
            self.assertLess(seen.share("objects changed", "objects"), 0.1)
        return got

    def in_memory(self, target, runtime, flavour):
        """What ClrMD finds."""
        r = subprocess.run(["dotnet", need(oracle, "FieldList"), str(target.pid), need(dac, runtime, flavour)], capture_output=True,
                           encoding="utf-8", timeout=SECONDS)
        self.assertEqual(r.returncode, 0, r.stderr[-2000:])
        return r.stdout.splitlines()

    def test_difficult_layouts(self):
        for runtime, flavour in runtimes():
            with self.subTest(runtime=runtime):
                got = self.compare("FieldLab", runtime, flavour)
                self.assertGreater(got.share("own named", "own"), 0.65)    # how much of the framework is in the heap changes
                self.assertGreater(got.n["loader allocators"], 20)
                for name in ("FieldLab.Explicit", "FieldLab.Sequential", "FieldLab.Person", "FieldLab.Captures", "FieldLab.Source"):
                    self.assertEqual(got.unknown[name], 0, name)
                self.assertGreater(got.unknown["FieldLab.Overlap"], 0)

    def test_programs(self):
        for runtime, flavour in runtimes(RUNTIMES[-1]):
            programs = [("HeapLab", [], 0.5, 0), ("WebLab", [need(plugin)], 0.5, 0.95), ("HeapLab", ["--service", "300000"], 0.9, 0.9)]
            if not ALL:                      # the largest in turn: ClrMD and Python compare each reference
                programs = programs[1:2] if flavour == "contained" else [("HeapLab", ["--service", "2000"], 0.9, 0.9)]
            for name, args, named, own in programs:
                with self.subTest(program=name, args=args, runtime=runtime):
                    got = self.compare(name, runtime, flavour, *args)
                    self.assertGreater(got.share("named", "fields"), named)
                    self.assertGreater(got.share("own named", "own"), own)

    def test_shop(self):
        for runtime, flavour in runtimes():
            with self.subTest(runtime=runtime):
                got = self.compare("CoffeeShop", runtime, flavour)
                self.assertGreater(got.share("named", "fields"), 0.8)
                self.assertGreater(got.share("own named", "own"), 0.95)
                self.grow()
                if ALL:
                    got = self.compare("Shop", runtime, flavour, "web-sessions", need(plugin, "Shop.Pricing"))
                    # from .NET 11 on, a delegate has two fields of type object in which its target can be
                    self.assertGreater(got.share("own named", "own"), 0.95 if runtime < 11 else 0.94)

    def grow(self):
        """The shop serves more; the fields are in what leaks, and in what has grown."""
        dumps = []
        for customers in (None, 2000):
            if customers:
                self.target.process.stdin.write(f"{customers}\n")
                self.target.process.stdin.flush()
                self.assertEqual(self.target.process.stdout.readline(), "ready\n")
            dumps.append(self.path(f"{customers}.nettrace"))
            self.gcdumpc("collect", "--pid", self.target.pid, "-o", dumps[-1])
        leaks = json.loads(self.gcdumpc("leaks", dumps[1], "--json").stdout)
        self.assertEqual({s["place"] for s in leaks["suspects"]} & {"SessionStore.sessions", "PriceFeed.Changed"},
                         {"SessionStore.sessions", "PriceFeed.Changed"})
        rows = json.loads(self.gcdumpc("diff", *dumps, "--paths", "--json").stdout)["paths"]
        grown = {(row["field"], row["name"]) for row in rows if row["bytes_delta"] > 100_000}
        self.assertLess({("sessions", "CoffeeShop.SessionStore"), ("prices", "CoffeeShop.PriceFeed"), ("Changed", "System.Action<System.String, "
                          "System.Decimal>")}, grown)


if __name__ == "__main__":
    main()
