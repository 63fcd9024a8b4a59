"""Core files of HeapLab, WebLab and the shop, read by gcdumpc and by ClrMD with the runtime's own DAC: the same objects, references, names, handles and
static variables, and nothing that lives is left out.

By default on the SDK's runtime, and WebLab, with its plugins, also on .NET 8, which knows modules in another way; GCDUMPC_TEST_CORES=all takes all
runtimes, each also with the server collector and with segments.
"""
import collections
import functools
import json
import os
import re
import sqlite3

from lab_programs import plugin, program
from live_support import RUNTIMES, LiveTest, Process, main, need, own_runtime, wait_for_frames
from test_core import ALL, SEGMENTS, SERVER, crash, createdump
from test_full_names import Compared, Oracle


WEAK = 2                         # GCRootFlags


class Truth:
    """What ClrMD says about a core file."""

    def __init__(self, oracle):
        self.objects, self.references, self.free, self.handles, self.roots = {}, {}, 0, {}, []
        self.dependents = collections.defaultdict(list)
        for words in map(str.split, oracle.lines("--heap")):
            if words[0] == "root":
                self.roots.append(int(words[1], 16))
                continue
            kind = words.pop(3) if words[0] == "handle" else ""
            numbers = [int(w, 16) for w in words[1:]]
            if words[0] == "object":
                self.objects[numbers[0]] = tuple(numbers[1:3])
                self.references[numbers[0]] = numbers[3:]
            elif words[0] == "handle":
                self.handles[numbers[0]] = numbers[1], kind
                if kind == "Dependent":
                    self.dependents[numbers[1]].append(numbers[2])
                elif "Weak" not in kind:
                    self.roots.append(numbers[1])

    def reached(self, more=()):
        found, todo = set(), [*self.roots, *more]
        while todo:
            o = todo.pop()
            if o not in found and o in self.objects:
                found.add(o)
                todo += self.references.get(o, ())
                todo += self.dependents.get(o, ())
        return found


class Ours:
    def __init__(self, database):
        with sqlite3.connect(database) as c:
            self.objects = {a: (t, n) for a, t, n in c.execute("SELECT o.address, t.method_table, o.size_bytes FROM objects o JOIN types t ON t.id = o.type_id")}
            address = dict(c.execute("SELECT id, address FROM objects"))
            self.allocators = {a for a, in c.execute("SELECT o.address FROM objects o JOIN types t ON t.id = o.type_id "
                                                     "WHERE t.name = 'System.Reflection.LoaderAllocator'")}
            self.references = collections.defaultdict(list)
            for a, b in c.execute("SELECT from_id, to_id FROM edges"):
                self.references[address[a]].append(address[b])
            self.ranges = list(c.execute("SELECT start, start + used_bytes FROM ranges"))
            self.roots, self.strong = collections.defaultdict(dict), {}
            self.dependents = [(address[k], address[v]) for k, v in c.execute("SELECT key_id, value_id FROM dependent_handles")]
            for kind, flags, at, o in c.execute("SELECT kind, flags, address, object_id FROM roots"):
                self.roots[kind][at] = address[o]
                if kind == "handle" and flags & WEAK == 0:
                    self.strong[at] = address[o]

    def frozen(self, o):
        """In no range of a generation."""
        return not any(start <= o < end for start, end in self.ranges)


def words(name):
    """The words of a method in either spelling: "N.Outer+<>c.<Run>b__0" and "N.Outer.Run (lambda)"."""
    return set(re.findall(r"\w+", name.replace("(lambda)", ""))) - {"async"}


class CoreClrMD(LiveTest):
    def check(self, what, target, runtime, flavour, server):
        self.check_core(what, createdump(self, target, "x.core", "--withheap"), runtime, flavour, server)

    def check_core(self, what, core, runtime, flavour, server):
        oracle = Oracle(core, runtime, flavour)
        truth = Truth(oracle)
        self.gcdumpc("convert", core, "--with-dead", "--no-modules", "-o", self.path("all.sqlite"))
        self.gcdumpc("convert", core, "--no-modules", "-o", self.path("live.sqlite"))
        ours, live = Ours(self.path("all.sqlite")), Ours(self.path("live.sqlite"))
        # objects; the empty string has 22 bytes (ClrMD: 24)
        self.assertEqual(set(ours.objects), set(truth.objects))
        self.assertEqual([o for o, (table, size) in truth.objects.items() if ours.objects[o] != (table, size) and (size, ours.objects[o][1]) != (24, 22)], [])
        # references; objects of collectible types have one to their LoaderAllocator, as in events
        collectible = 0
        for o, theirs in truth.references.items():
            more = collections.Counter(ours.references[o])
            more.subtract(theirs)
            more = [t for t, n in more.items() if n != 0]
            self.assertTrue(more == [] or len(more) == 1 and more[0] in ours.allocators, (o, more))
            collectible += bool(more)
        # handles: ClrMD looks at as many tables as there are heaps, gcdumpc at one for each processor (dotnet/runtime#124872)
        handles = {at: o for at, (o, kind) in truth.handles.items() if kind != "Dependent"}
        self.assertEqual({at: o for at, o in handles.items() if ours.roots["handle"].get(at) != o}, {})
        more = len(ours.roots["handle"]) - len(handles)
        if not server:
            self.assertEqual(more, 0)
        self.check_frames(what, runtime, core, oracle)
        # what lives; ClrMD has no variables of threads, and frozen objects always live
        self.assertEqual(truth.reached() - set(live.objects), set())
        for key, value in live.dependents:
            truth.dependents[key].append(value)
        variables = [o for at, o in live.roots["stack"].items() if at]    # of threads; words of stacks have no address
        reached = truth.reached([*live.strong.values(), *variables]) | {o for o in live.objects if live.frozen(o)}
        # stacks are searched for all that looks like a reference
        surplus = len(set(live.objects) - reached)
        self.assertLess(surplus, len(reached) / 100 + 20)
        names = Compared(self.path("all.sqlite"), oracle)
        # createdump leaves out the metadata of assemblies made in memory
        self.assertEqual([w for w in names.wrong if not re.match(r"type UNKNOWN 0x\w+ \(raw None\) is .*\b(Made\.|HeapLab\.[^A-Z])|type .*<\?> .* is .*<T1>$|type HeapLab\.<b>\"\\&", w)][:10], [])
        self.assertLess(names.n["types not known to ClrMD"], 10)
        self.assertGreater(names.n["statics certain"], 50)
        known = set(ours.roots["static"]) & set(oracle.statics)
        self.assertGreater(len(known), len(oracle.statics) * 0.99)
        print(f"{what}, .NET {runtime}: {len(truth.objects)} objects and {sum(map(len, truth.references.values()))} references equal, {collectible} collectible objects; {len(handles)} handles and "
              f"{more} that ClrMD misses; {len(reached)} live objects, {surplus} more; {len(known)} static variables of {len(oracle.statics)}; "
              + ", ".join(f"{n} {k}" for k, n in sorted(names.n.items())), flush=True)
        return surplus

    def check_frames(self, what, runtime, core, oracle):
        """The methods that roots on stacks are told by are on the stack of their thread."""
        frames = collections.defaultdict(list)
        for _, thread, _, _, _, _, name in (line.split("\t") for line in oracle.lines("--stacks")):
            frames[int(thread, 16)].append(words(name))
        query = "SELECT DISTINCT label FROM roots WHERE kind = 'stack' AND label LIKE '% in %'"
        rows = json.loads(self.gcdumpc("sql", core, "--json", "--no-modules", query).stdout)["rows"]
        told = [re.fullmatch(r"(\d+)(?: [(\"].*?[)\"])? in (.*)", label).groups() for label, in rows]
        others = [(thread, name) for thread, name in told if not any(words(re.sub(r"<[^<>]*>", "", name)) <= frame for frame in frames[int(thread)])]
        self.assertEqual(others, [])
        self.assertTrue(told)
        print(f"{what}, .NET {runtime}: {len(told)} methods on the stacks of {len({thread for thread, _ in told})} threads, "
              f"all among the {sum(map(len, frames.values()))} calls of ClrMD", flush=True)

    def test_programs(self):
        own, first = own_runtime(), RUNTIMES[0]
        if not ALL and first != own:
            with self.subTest("WebLab", runtime=first), Process(need(plugin), program=need(program, "WebLab", first, "contained")) as target:
                self.check("WebLab", target, first, "contained", True)
        for runtime in RUNTIMES if ALL else (own,):
            with self.subTest("HeapLab, ReadyToRun", runtime=runtime), Process(program=need(program, "HeapLab", runtime, "r2r")) as target:
                wait_for_frames(target)
                self.check("HeapLab, ReadyToRun", target, runtime, "r2r", False)
            flavour = "built" if runtime == own else "contained"
            for name, arguments in (("HeapLab", ()), ("WebLab", (need(plugin),)), ("Shop", ("healthy-web", need(plugin, "Shop.Pricing")))):
                for variables in ({}, SERVER, SEGMENTS) if ALL else ({},):
                    with self.subTest(name, runtime=runtime, **variables):
                        with Process(*arguments, program=need(program, name, runtime, flavour), **variables) as target:
                            if name == "HeapLab":
                                wait_for_frames(target)
                            server = variables == SERVER or not variables and name != "HeapLab"
                            self.check(" ".join([name, *variables]), target, runtime, flavour, server)

    def test_crashes(self):
        """Written by the runtime when a program ends, in the middle of whatever it did."""
        for runtime in RUNTIMES if ALL else (own_runtime(),):
            flavour = "built" if runtime == own_runtime() else "contained"
            for kind in ("exception", "failfast", "memory") if ALL else ("memory",):
                for variables in ({}, SERVER, SEGMENTS) if ALL else ({},):
                    with self.subTest(kind, runtime=runtime, **variables):
                        core = crash(self, kind, need(program, "HeapLab", runtime, flavour), **variables)
                        self.check_core(" ".join([kind, *variables]), core, runtime, flavour, variables == SERVER)
                        os.unlink(core)


class FieldsClrMD(LiveTest):
    """Every value of every field, without exception: numbers, enums, dates, nullables, references, and the parts of structs."""

    def ours(self, core):
        """(Address, field) -> what gcdumpc says: kind, integer, text, address of the target."""
        rows = json.loads(self.gcdumpc("sql", core, "--show-values=raw", "--with-dead", "--json", "-q", """
            SELECT o.address, f.field, f.kind, f.integer, f.text, t.address FROM fields f JOIN objects o ON o.id = f.object_id
            LEFT JOIN objects t ON t.id = f.target_id WHERE f.field IS NOT NULL""").stdout)["rows"]
        found = collections.defaultdict(list)        # classes and their base classes have fields of one name
        for address, field, *value in rows:
            found[address, field].append(value)
        return found

    @staticmethod
    def agree(said, value, ours):
        kind, integer, text, target = ours
        if said == "null" or said == "reference" and value == "0":
            return kind == "null"
        if said == "reference":
            return target == int(value)
        if value == "System.Void":                   # of a class that the program has not loaded
            return kind == "null"
        return kind in ("struct", "pointer") if said == "other" else value in (str(integer), text)

    @staticmethod
    @functools.lru_cache(None)
    def names(path):
        """As gcdumpc calls the fields of PATH."""
        return [re.sub(r"^<((?:[^<>]|<[^<>]*>)+)>.*|^(?:CS\$)?<>\w+__(.*)", r"\1\2", name) for name in path.split("/")]

    def compare(self, core, oracle):
        truth = [line.split("\t") for line in oracle.lines("--values")]
        ours, kinds, wrong = self.ours(core), collections.Counter(), []
        parts, unread, prefixes = collections.Counter(), collections.Counter(), set()
        for address, path, *_ in truth:
            if "/" in path:
                prefixes.add((address, path.rsplit("/", 1)[0]))
        for address, path, kind, value in truth:
            if (address, path) in prefixes:          # its parts are compared
                continue
            names = self.names(path)
            values = ours[int(address), ".".join(names)] or ours[int(address), path.replace("/", ".")]
            if not values and len(names) > 1:        # ClrMD has System.IntPtr and the like as structs, in their own assembly
                values = [v for v in ours[int(address), ".".join(names[:-1])] if v[0] != "struct"]
            if not values and kind == "null" and any(text == "false" for _, _, text, _ in ours[int(address), ".".join(names) + ".hasValue"]):
                values = [("null", None, None, None)]
            whole = [".".join(names[:i]) for i in range(1, len(names)) if not values and
                     any(k == "struct" for k, *_ in ours[int(address), ".".join(names[:i])])]
            if whole:
                unread[whole[0]] += 1
            elif not any(self.agree(kind, value, v) for v in values):
                wrong.append((hex(int(address)), path, kind, value, values))
            kinds[kind] += 1
            parts[kind] += len(names) > 1
        objects = len({address for address, *_ in truth})
        print(f"{objects} objects, {sum(kinds.values())} fields: {dict(kinds)}; in structs {dict(parts)}; {len(wrong)} wrong; structs not read: {dict(unread)}", flush=True)
        self.assertEqual(wrong[:20], [])
        return objects, kinds, parts, unread

    def core(self, target, runtime):
        for _ in iter(target.process.stdout.readline, "open\n"):
            pass
        core = createdump(self, target, "x.core", "--withheap")
        return core, Oracle(core, runtime, "built" if runtime == own_runtime() else "contained")

    def test_fields(self):
        runtime, n = own_runtime(), 10_500
        with Process("orders", str(n), program=need(program, "ValueLab", runtime, "built")) as target:
            objects, kinds, parts, unread = self.compare(*self.core(target, runtime))
        self.assertGreater(objects, 100_000)
        self.assertGreater(kinds["value"], 280_000)
        self.assertGreater(parts["value"], 20_000)
        self.assertEqual(sum(unread.values()), 0)


if __name__ == "__main__":
    main()
