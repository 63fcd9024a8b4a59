"""Inputs that are slow if anything is worse than linear: each function makes one of N elements.

Shapes are as hostile as possible: names that differ only at their end, addresses that share their low bits, graphs on
which simple algorithms for dominators, paths or retained sizes are quadratic, lists of the container that are searched for each event.
"""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "readers"))
from sample_heaps import close, define_all, write    # noqa: E402
from trace_bytes import Ev, Payloads, V4File         # noqa: E402

P = Payloads()
BASE, SIZE = 0x7F0000000000, 24
ROOT = [(BASE, 2, 0, 0x100)]
PLAIN = [(0x71, "A"), (0x72, "B[]", 8, 0x02000002, (0x71,))]
SHAPES = {}


def shape(suffix="nettrace"):
    def add(function):
        SHAPES[function.__name__] = (suffix, function)
        return function
    return add


# -- what shapes are made of -------------------------------------------------------------------------------------------

def at(i):
    return BASE + SIZE * i


def collection(events):
    return [Ev(1, 100, P.gc_start()), *events, Ev(2, 104, P.gc_end())]


def walk(events, in_block=50):
    """A recording of EVENTS within one collection."""
    return write(V4File(), collection(events), in_block)


def walk_behind(prepare):
    """One object; PREPARE(file) writes what comes before it."""
    file = V4File()
    define_all(file)
    prepare(file)
    return close(file, collection(bulk(18, P.nodes, objects(1))))


def bulk(kind, payload, rows, each=1000):
    rows = list(rows)
    return [Ev(kind, 102, payload(number, *rows[i:i + each])) for number, i in enumerate(range(0, len(rows), each))]


def heap(nodes, edges=(), roots=(), types=PLAIN, statics=(), dependents=(), ranges=()):
    return walk([
        *bulk(15, lambda _, *rows: P.types(*rows), types, 300), *bulk(38, lambda _, *rows: P.statics(*rows), statics, 500),
        *bulk(18, P.nodes, nodes), *bulk(19, P.edges, edges), *bulk(16, P.roots, roots), *bulk(17, P.dependents, dependents),
        *(Ev(23, 103, P.generation_range(*row)) for row in ranges)])


def objects(n, edges=0, address=at):
    return [(address(i), SIZE, 0x71, edges) for i in range(n)]


def graph(n, targets, roots=ROOT):
    """TARGETS(i): numbers of objects, the same count for each; numbers out of range are clamped."""
    lists = [targets(i) for i in range(n)]
    return heap(objects(n, len(lists[0])), [at(min(max(t, 0), n - 1)) for targets_of in lists for t in targets_of], roots)


def of_types(n, name, targets=None, roots=()):
    """A type and an object of it, N times; TARGETS(i): the one object that it refers to."""
    return heap([(at(i), SIZE, 0x1000 + 8 * i, targets is not None) for i in range(n)], [at(targets(i)) for i in range(n)] if targets else (),
                roots, [(0x1000 + 8 * i, *name(i)) for i in range(n)])


# -- types -------------------------------------------------------------------------------------------------------------

@shape()
def types_with_one_name(n):
    return of_types(n, lambda i: ("N.T",))


@shape()
def types_with_one_beginning(n):
    return of_types(n, lambda i: ("N" * 40 + str(i),))


@shape()
def types_without_names(n):
    return heap([(at(i), SIZE, 0x1000 + 8 * i, 0) for i in range(n)], types=())


@shape()
def a_type_with_many_names(n):
    return heap(objects(1), types=[(0x71, f"N.T{i}") for i in range(n)])


@shape()
def types_of_one_another(n):
    return of_types(n, lambda i: (f"N.T`1[[N.U{i}`1[[X]]]]", 0, 0x02000001, (0x1000 + 8 * (i - 1),)))


@shape()
def arrays_of_arrays(n):
    return of_types(n, lambda i: ("", 8, 0x02000001, (0x1000 + 8 * (i - 1),)))


@shape()
def names_of_brackets(n):
    return of_types(n // 100, lambda i: ("N`1[" * 100,))


@shape()
def a_path_of_types(n):
    return of_types(n, lambda i: (f"N.T{i}",), lambda i: min(i + 1, n - 1), ROOT)


# -- the container -----------------------------------------------------------------------------------------------------

@shape()
def threads(n):
    return walk([Ev(99, 101, b"", thread=100 + i) for i in range(n)] + bulk(18, P.nodes, objects(1)))


@shape()
def sequence_points(n):
    def points(file):
        for _ in range(n):
            file.sequence_point(10, ((7, 0),))
    return walk_behind(points)


@shape()
def kinds_of_events(n):
    def kinds(file):
        for i in range(0, n, 200):
            file.define(*((1000 + k, f"Provider{k}", k, 0) for k in range(i, i + 200)))
    return walk_behind(kinds)


@shape()
def dumps(n):
    return write(V4File(), [e for i in range(n) for e in (
        Ev(1, 100 + 10 * i, P.gc_start(number=i + 1)), Ev(18, 101 + 10 * i, P.nodes(0, *objects(1))), Ev(2, 103 + 10 * i, P.gc_end(i + 1)))], 50)


@shape()
def blocks(n):
    return walk(bulk(18, P.nodes, objects(n), 1), in_block=1)


# -- losses and order --------------------------------------------------------------------------------------------------

@shape()
def every_second_lost(n):
    return walk([Ev(18, 101, P.nodes(2 * i, (at(2 * i), SIZE, 0x71, 1))) for i in range(n)]
                + [Ev(19, 102, P.edges(2 * i, BASE)) for i in range(n)])


@shape()
def numbers_go_down(n):
    return walk([Ev(18, 101, P.nodes(n - i, (at(i), SIZE, 0x71, 0))) for i in range(n)])


@shape()
def edges_first(n):
    return walk(bulk(19, P.edges, [BASE] * n, 10) + bulk(18, P.nodes, [(BASE, 24 + 8 * n, 0x72, n)]))


@shape()
def events_of_nothing(n):
    return walk([Ev(19, 101, P.edges(i)) for i in range(n)] + bulk(18, P.nodes, objects(1)))


# -- addresses ---------------------------------------------------------------------------------------------------------

@shape()
def one_address(n):
    return heap(objects(n, address=lambda i: BASE))


@shape()
def descending(n):
    return heap(objects(n, 1, lambda i: at(n - i)), [at(n - n // 2)] * n)


@shape()
def pages_that_share_their_bits(n):
    def address(i):
        return (i + 1) << 34
    rng = random.Random(1)
    return heap(objects(n, 1, address), [address(rng.randrange(n)) for _ in range(n)])


@shape()
def strewn(n):
    rng = random.Random(2)
    places = sorted({rng.getrandbits(47) & ~7 for _ in range(n)})
    return heap(objects(len(places), 1, lambda i: places[i]), [rng.choice(places) for _ in places])


@shape()
def from_both_ends(n):
    return heap(objects(n, 1, lambda i: at(i // 2) if i & 1 else BASE + (1 << 32) - SIZE * (i // 2)), [at(n // 4)] * n)


# -- graphs ------------------------------------------------------------------------------------------------------------

@shape()
def a_list(n):
    return graph(n, lambda i: (i + 1,))


@shape()
def a_list_from_its_end(n):
    return graph(n, lambda i: (i - 1,), [(at(n - 1), 2, 0, 0x100)])


@shape()
def a_list_both_ways(n):
    return graph(n, lambda i: (i + 1, i - 1))


@shape()
def a_list_of_roots(n):
    return graph(n, lambda i: (i + 1,), [(at(i), 2, 0, 0x100) for i in range(n)])


@shape()
def ladder(n):
    return graph(n, lambda i: (i + 1, n - 1 - i))


@shape()
def grid(n):
    width = int(n ** 0.5)
    return graph(n, lambda i: (i + 1, i + width))


@shape()
def random_graph(n):
    rng = random.Random(3)
    return graph(n, lambda i: [rng.randrange(n) for _ in range(3)])


@shape()
def dominators_that_jump(n):
    """Makes the published Semi-NCA quadratic: a list, each of whose objects refers to one of a second list in reverse order."""
    half = n // 2
    return graph(2 * half, lambda i: (i + 1 if i < half - 1 else i, half + i) if i < half else (max(half, i - 1), i))


@shape()
def all_to_one(n):
    return graph(n, lambda i: (0,), [(at(i), 2, 0, 0x100) for i in range(n)])


@shape()
def one_to_itself(n):
    return heap([(BASE, 24 + 8 * n, 0x72, n)], [BASE] * n, ROOT)


# -- roots and what else holds -----------------------------------------------------------------------------------------

@shape()
def one_root_again(n):
    return heap(objects(1), roots=ROOT * n)


@shape()
def roots_to_nowhere(n):
    return heap(objects(1), roots=[(at(2 + i), 2, 0, 0x100) for i in range(n)])


@shape()
def static_variables(n):
    return heap(objects(n), statics=[(at(i), 0x71, "f" if i & 1 else f"f{i}") for i in range(n)])


@shape()
def dependents_of_one(n):
    return heap(objects(n), roots=ROOT, dependents=[(BASE, at(i)) for i in range(n)])


@shape()
def dependents_backwards(n):
    return heap(objects(n), roots=ROOT, dependents=[(at(i), at(i + 1)) for i in reversed(range(n - 1))])


@shape()
def ranges(n):
    return heap(objects(n), ranges=[(i % 4, at(i), SIZE) for i in range(n)])


@shape()
def ranges_over_each_other(n):
    return heap(objects(n), ranges=[(i % 4, BASE, SIZE * n + i) for i in range(n)])


# -- text --------------------------------------------------------------------------------------------------------------

def gclog(*parts):
    return "".join(["a 2 app 5\n", *parts, "c app 5\n"]).encode()


@shape("gclog")
def gclog_one_line(n):
    return gclog("t 1 A\n", "o 1000 1 18", " 1000" * n, "\n")


@shape("gclog")
def gclog_to_nowhere(n):
    return gclog("t 1 A\n", *(f"o {0x1000 + 24 * i:x} 1 18 {0x90000000 + 24 * i:x}\n" for i in range(n)))


@shape("gclog")
def gclog_types_again(n):
    return gclog(*(f"t 1 A{i}\n" for i in range(n)), "o 1000 1 18\n")


@shape("gclog")
def gclog_objects_again(n):
    return gclog("t 1 A\n", "o 1000 1 18 1000\n" * n)


@shape("gclog")
def gclog_types_that_are_not_told(n):
    return gclog(*(f"o {0x1000 + 24 * i:x} {i + 1:x} 18\n" for i in range(n)))
