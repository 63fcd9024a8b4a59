#!/usr/bin/env python3
"""Self tests of gclog_check: it accepts the gclog texts written by hand and notices every kind of defect."""

import contextlib
import gzip
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import gclog_check
from gc_heap import assemble
from gclog_expect import file_name, process_name
from nettrace_ref import decode
from sample_heaps import RICH_GCLOG, SHOP_GCLOG, rich_events, shop_events, write
from trace_bytes import Ev, Payloads, V3File, V4File, V6File, z16


def differences(events, text, name, writer=V4File):
    trace = decode(write(writer(), events))
    data = text.encode() if isinstance(text, str) else text
    return gclog_check.check(trace, assemble(trace), name, data)


def rich(text):
    return differences(rich_events(), text, "rich app")[0]


class Accepted(unittest.TestCase):
    def test_worked_example(self):
        for writer in (V3File, V4File, V6File):
            self.assertEqual(differences(shop_events(), SHOP_GCLOG, "shop", writer),
                             ([], "gclog ok: 3 objects, 2 references, 2 roots, 3 types"))

    def test_rich_heap(self):
        self.assertEqual(differences(rich_events(), RICH_GCLOG, "rich app"),
                         ([], "gclog ok: 6 objects, 8 references, 11 roots, 7 types"))

    def test_objects_that_share_an_address_are_numbered(self):
        p = Payloads()
        events = [Ev(1, 1000, p.gc_start()), Ev(38, 1001, p.statics((0xA, 1, "s"), (0xE, 2, "gone"))),
                  Ev(18, 1002, p.nodes(0, (0xA, 8, 1, 2), (0xB, 8, 1, 2), (0xA, 8, 1, 0))),
                  Ev(19, 1003, p.edges(0, 0xB, 0xA, 0xC, 0xB)), Ev(17, 1004, p.dependents(0, (0xA, 0xB))),
                  Ev(2, 1005, p.gc_end())]
        text = "a 2 x 0\nt 1 Type(0x1)\nr 1 4 0 1\no 1 1 8 2 1 2\no 2 1 8 2\no 3 1 8\nc x 0\n"
        self.assertEqual(differences(events, text, "x")[0], [])

    def test_an_object_without_address_makes_all_be_numbered(self):
        p = Payloads()
        events = [Ev(1, 1000, p.gc_start()), Ev(18, 1002, p.nodes(0, (0xA, 8, 1, 2), (0, 8, 1, 1))),
                  Ev(19, 1003, p.edges(0, 0, 0xA, 0xA)), Ev(17, 1004, p.dependents(0, (0, 0xA))),
                  Ev(2, 1005, p.gc_end())]
        text = "a 2 x 0\nt 1 Type(0x1)\no 1 1 8 1\no 2 1 8 1\nc x 0\n"
        self.assertEqual(differences(events, text, "x")[0], [])

    def test_stamp_wraps_at_32_bits(self):
        p = Payloads()
        start = 1000 + ((1 << 32) + 5) * 1000
        events = [Ev(1, start, p.gc_start()), Ev(18, start, p.nodes(0, (0xA, 8, 1, 0))), Ev(2, start, p.gc_end())]
        self.assertEqual(differences(events, "a 2 x 5\nt 1 Type(0x1)\no a 1 8\nc x 5\n", "x")[0], [])


class EveryChange(unittest.TestCase):
    """The expected text is one and only one: whatever is changed has to be noticed."""

    def test_every_byte(self):
        for place, char in enumerate(RICH_GCLOG):
            for other in "0f \n":
                if other != char:
                    changed = RICH_GCLOG[:place] + other + RICH_GCLOG[place + 1:]
                    self.assertTrue(rich(changed), changed)

    def test_every_byte_missing_or_doubled(self):
        for place, char in enumerate(RICH_GCLOG):
            for middle in ("", char * 2):
                changed = RICH_GCLOG[:place] + middle + RICH_GCLOG[place + 1:]
                self.assertTrue(rich(changed), changed)

    def test_every_line_missing_doubled_or_exchanged(self):
        lines = RICH_GCLOG.splitlines(keepends=True)
        for place, line in enumerate(lines):
            before, after = lines[:place], lines[place + 1:]
            for changed in (before + after, before + [line, line] + after, before + after[:1] + [line] + after[1:]):
                if changed != lines:
                    self.assertTrue(rich("".join(changed)), changed)

    def test_every_prefix(self):
        for size in range(len(RICH_GCLOG)):
            self.assertTrue(rich(RICH_GCLOG[:size]), size)


class Defects(unittest.TestCase):
    """Mistakes a writer could well make: each is noticed, and for the right reason."""

    def changed(self, old, new, message):
        self.assertIn(old, RICH_GCLOG)
        found = rich(RICH_GCLOG.replace(old, new, 1))
        self.assertTrue(any(message in line for line in found), (new, found))

    def test_numbers(self):
        self.changed(" beef\n", " BEEF\n", "not by the grammar")
        self.changed("o 200 3 100000000", "o 200 3 0100000000", "not by the grammar")
        self.changed("o 200 3 100000000", "o 0x200 3 100000000", "not by the grammar")
        self.changed("o 200 3 100000000", "o 200 3 ffffffff", "size 'ffffffff' instead of '100000000'")
        self.changed("o 200 3 100000000", "o 200 3 10000000000000000", "not by the grammar")
        self.changed("o 200 3 100000000", "o 200 3 0", "size")
        self.changed("o 300 4 18", "o 300 4 24", "size '24' instead of '18'")       # decimal
        self.changed("o 100 2 1a", "o 100 2 20", "size")                            # rounded up

    def test_lines(self):
        self.changed("t 2 Key\n", "t 2 Key\r\n", "not by the grammar")
        self.changed("t 2 Key\n", "t 2 Key \n", "t 2: name 'Key ' instead of 'Key'")
        self.changed("r 200 4 0 2\n", "r 200 4 0 2\n\n", "no record")
        self.changed("a 2", "\ufeffa 2", "no record")
        self.changed("a 2", "a 3", "not by the grammar")
        self.changed("c rich app 5\n", "c rich app 5", "does not end in LF")
        self.changed("c rich app 5\n", "c rich app 5\n# end\n", "no record")
        self.changed("c rich app 5\n", RICH_GCLOG.splitlines()[-1] + "\n" + RICH_GCLOG, "2 a records instead of one")
        self.changed("c rich app 5\n", "", "0 c records")

    def test_name_and_stamp(self):
        self.changed("a 2 rich app 5", "a 2 rich 5", "name 'rich' instead of 'rich app'")
        self.changed("c rich app 5", "c rich app 6", "stamp '6' instead of '5'")
        self.changed("a 2 rich app 5", "a 2 rich app", "not by the grammar")
        self.changed("a 2 rich app 5", "a 2  rich app 5", "name")
        self.changed("a 2 rich app 5", "a 2 rich app 123456789", "not by the grammar")

    def test_types(self):
        self.changed("t 4 Type(0x99)", "t 4 Type(0X99)", "t 4: name")
        self.changed("t 6 ArrayType(0x2000056)", "t 6 Type(0x2000056)", "name")
        self.changed("a_b_c\ufffd", "a_b_c?", "name")
        self.changed("t 7 a_b_c\ufffd\n", "t 7 a_b_c\ufffd\nt 8 Unused\n", "too much: t 8 Unused")
        self.changed("t 2 Key\nt 3 Value\n", "t 3 Value\nt 2 Key\n", "too much: t 2 Key")
        self.changed("t 2 Key\nt 3 Value\n", "t 2 Value\nt 3 Key\n", "t 2: name 'Value' instead of 'Key'")
        self.changed("o 100 2 1a", "o 100 1 1a", "type '1' instead of '2'")
        self.changed("t 3 Value\n", "", "missing: t 3 Value")

    def test_roots(self):
        self.changed("r 100 1 5", "r 100 0 5", "kind '0' instead of '1'")           # the event's own number
        self.changed("r 100 1 5", "r 100 1 4", "flags '4' instead of '5'")
        self.changed("r 300 3 2\n", "", "missing: r 300 3 2")                       # weak ones belong there
        self.changed("r 300 3 8\n", "", "missing: r 300 3 8")                       # CCW
        self.changed("r 300 3 8\n", "r 300 3 8\nr 500 3 8\n", "too much: r 500 3 8")     # RCW
        self.changed("r 400 5 10", "r 400 4 10", "kind")
        self.changed("r 100 4 0 1", "r 100 4 0", "container '' instead of '1'")
        self.changed("r 100 1 5\n", "r 0 1 0\nr 100 1 5\n", "too much: r 0 1 0")
        self.changed("r 100 4 0 1\nr 200 4 0 2\n", "r 200 4 0 2\nr 100 4 0 1\n", "too much: r 100 4 0 1")
        self.changed("r 500 5 8\nr 300 3 8\n", "r 300 3 8\nr 500 5 8\n", "too much: r 500 5 8")
        self.changed("r 200 2 0\n", "r 200 7 0\n", "not by the grammar")

    def test_objects(self):
        self.changed("o 200 3 100000000\n", "", "missing: o 200")
        self.changed("o 200 3 100000000\n", "o 200 3 100000000\n" * 2, "too much: o 200")
        self.changed("o 600 7 0\n", "o 600 7 0\no 700 7 0\n", "too much: o 700")
        self.changed("o 400 5 18\no 500 6 18 100 300\n", "o 500 6 18 100 300\no 400 5 18\n", "too much: o 400")
        self.changed("o 600 7 0\n", "", "missing: o 600")

    def test_references(self):
        self.changed("1a 200 200", "1a 200", "4 references instead of 5")           # duplicates are kept
        self.changed("200 200 100 300 400", "200 200 300 100 400", "reference 3 is 300 instead of 100")
        self.changed("200 200 100 300 400", "200 200 100 300", "4 references instead of 5")   # the dependent value
        self.changed("18 100 300\n", "18 100 0 300\n", "3 references instead of 2")
        self.changed("18 beef", "18", "0 references instead of 1")                  # dangling ones are kept
        self.changed("o 300 4 18 beef", "o 300 4 18 beef 300", "2 references instead of 1")   # Mono's key = value

    def test_order_of_sections(self):
        self.changed("r 300 3 8\no 100 2 1a 200 200 100 300 400\n", "o 100 2 1a 200 200 100 300 400\nr 300 3 8\n",
                     "record r after record o")
        self.changed("t 1 Only", "r 100 4 0 1\nt 1 Only", "record t after record r")

    def test_one_missing_line_is_one_difference(self):
        self.assertEqual(rich(RICH_GCLOG.replace("o 300 4 18 beef\n", "")), ["missing: o 300 4 18 beef"])
        self.assertEqual(len(rich(RICH_GCLOG.replace("o 300 4 18 beef\n", "o 300 4 18 beef\n" * 2))), 1)

    def test_at_most_twenty(self):
        found = rich(RICH_GCLOG.replace(" ", "  "))
        self.assertEqual(len(found), 20)
        self.assertIn("not shown", found[-1])
        self.assertLess(max(map(len, found)), 400)

    def test_not_utf8(self):
        data = RICH_GCLOG.encode().replace(b"a_b_c\xef\xbf\xbd", b"a_b_c\xff")
        self.assertIn("not by the grammar", rich(data)[0])


class AfterLoss(unittest.TestCase):
    """Objects stay; references are given where it is certain whose they are."""

    def dump(self, *bulk):
        p = Payloads()
        return [Ev(1, 1000, p.gc_start()), *(Ev(kind, 1001 + at, payload) for at, (kind, payload) in enumerate(bulk)),
                Ev(2, 1100, p.gc_end())]

    def test_rule(self):
        p = Payloads()
        nodes = p.nodes(0, (0xA, 8, 1, 2), (0xB, 8, 1, 2), (0xC, 8, 1, 1))
        frame = "a 2 x 0\nt 1 Type(0x1)\n{}c x 0\n"
        gap_in_edges = self.dump((18, nodes), (19, p.edges(0, 1, 2, 3)), (19, p.edges(2, 5)))
        cut_tail = self.dump((18, nodes), (19, p.edges(0, 1, 2, 3)))
        gap_in_nodes = self.dump((18, nodes), (18, p.nodes(2, (0xD, 8, 1, 1))), (19, p.edges(0, 1, 2, 3, 4, 5, 6)))
        for events, objects, wrong in (
                (gap_in_edges, "o a 1 8 1 2\no b 1 8 3\no c 1 8\n", "o a 1 8 1 2\no b 1 8 3 5\no c 1 8\n"),
                (cut_tail, "o a 1 8 1 2\no b 1 8 3\no c 1 8\n", "o a 1 8 1 2\no b 1 8\no c 1 8\n"),
                (gap_in_nodes, "o a 1 8 1 2\no b 1 8 3 4\no c 1 8 5\no d 1 8\n",
                 "o a 1 8 1 2\no b 1 8 3 4\no c 1 8 5\no d 1 8 6\n")):
            self.assertEqual(differences(events, frame.format(objects), "x")[0], [])
            self.assertTrue(differences(events, frame.format(wrong), "x")[0])


class Names(unittest.TestCase):
    def test_process_name(self):
        for command_line, name in (
                ("/opt/shop", "shop"), ("shop.exe -v", "shop"), ("C:\\x/y\\shop.exe", "shop"),
                ("shop.dll.exe", "shop.dll"),
                ("dotnet /srv/shop.dll a.dll", "shop"), ("/usr/bin/dotnet exec --depsfile x.json d\\shop.dll", "shop"),
                ("dotnet.exe shop.dll", "shop"), ("dotnet run", "dotnet"), ("  spaced   out", "spaced"), ("", ""),
                ('"C:\\Program Files\\dotnet\\dotnet.exe" "My App.dll" x', "My App"), ("/weird/", ""),
                ("mydotnet shop.dll", "mydotnet")):
            self.assertEqual(process_name(command_line), name)

    def test_file_name(self):
        for path, name in (("a/b/heap.nettrace.gz", "heap"), ("heap.netperf", "heap"), ("heap.gz", "heap"),
                           ("heap.bin", "heap.bin"), ("x.nettrace.nettrace", "x.nettrace")):
            self.assertEqual(file_name(path), name)

    def test_sources(self):
        runtime = bytes(25) + z16("/opt/late") + bytes(16) + z16("")
        cases = (
            (shop_events(), "shop"),
            (shop_events()[:-1], "trace"),
            (shop_events()[:-1] + [Ev(98, 10**8, runtime)], "late"),
            (shop_events() + [Ev(98, 10**8, runtime)], "shop"),
            (shop_events()[:-1] + [Ev(99, 10**8, Payloads.process_info("")), Ev(98, 10**8, runtime)], "late"),
            (shop_events()[:-1] + [Ev(99, 10**8, b"x\0")], "trace"),
            (shop_events()[:-1] + [Ev(99, 10**8, Payloads.process_info("a\nb"))], "a_b"),
            (shop_events()[:-1] + [Ev(99, 10**8, Payloads.process_info('"/x/ my app .exe"'))], "my app"),
        )
        for events, name in cases:
            file = V4File()
            file.define((98, "Microsoft-Windows-DotNETRuntimeRundown", 187))
            trace = decode(write(file, events))
            self.assertEqual(gclog_check.application_name(trace, assemble(trace), "d/trace.nettrace.gz"), name)


class Program(unittest.TestCase):
    def run_on(self, text, *options, packed=False, events=shop_events):
        with tempfile.TemporaryDirectory() as folder:
            trace, gclog = os.path.join(folder, "t.nettrace"), os.path.join(folder, "t.gclog")
            with open(trace, "wb") as file:
                file.write(write(V4File(), events()))
            with open(gclog, "wb") as file:
                file.write(gzip.compress(text.encode())[:-packed or None] if packed is not False else text.encode())
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = gclog_check.main([trace, gclog, *options])
            return code, out.getvalue(), err.getvalue()

    def test_exit_codes(self):
        self.assertEqual(self.run_on(SHOP_GCLOG)[:2], (0, "gclog ok: 3 objects, 2 references, 2 roots, 3 types\n"))
        self.assertEqual(self.run_on(SHOP_GCLOG.replace("o 7f0000001040 3 20", "o 7f0000001040 3 24"))[:2],
                         (1, "line 9: o 7f0000001040: size '24' instead of '20'\n"))
        self.assertEqual(self.run_on("")[0], 1)

    def test_name_options(self):
        other = SHOP_GCLOG.replace(" shop ", " store ")
        self.assertEqual(self.run_on(other)[0], 1)
        self.assertEqual(self.run_on(other, "--name", "store")[0], 0)
        self.assertEqual(self.run_on(other, "--no-name-check")[0], 0)
        self.assertEqual(self.run_on(other.replace("c store", "c shop"), "--no-name-check")[0], 1)
        self.assertEqual(self.run_on(other.replace(" store ", "  store "), "--no-name-check")[0], 1)

    def test_gzip(self):
        self.assertEqual(self.run_on(SHOP_GCLOG, packed=0)[0], 0)
        self.assertIn("gzip data ends early", self.run_on(SHOP_GCLOG, packed=4)[1])

    def test_nothing_to_compare(self):
        code, _, err = self.run_on(SHOP_GCLOG, events=lambda: shop_events()[-1:])
        self.assertEqual(code, 2)
        self.assertIn("no heap dump", err)


if __name__ == "__main__":
    unittest.main()
