"""paths: steps of the framework and the inside of collections are folded, in both directions; programs get all of them."""
import json

from cli_support import CliTest, main

# A file without modules: namespaces decide.
HOST, ENGINE, STORE, LIST, ARRAY, ORDER, NOTE, PART = 1, 2, 3, 4, 5, 6, 7, 8
NAMES = {HOST: "System.Host", ENGINE: "System.Engine", STORE: "Shop.Store", LIST: "System.Collections.Generic.List`1[Shop.Order]",
         ARRAY: "Shop.Order[]", ORDER: "Shop.Order", NOTE: "System.String", PART: "System.Part"}
CSHARP = "System.Collections.Generic.List<Shop.Order>"


def dump():
    """A host, an engine, a store with a list of orders, each with a part of the framework that has a note; and one more note of the engine."""
    orders = [0x10000 + 0x1000 * i for i in range(3)]
    objects = [(0x1000, HOST, 24, [0x1100]), (0x1100, ENGINE, 24, [0x1200, 0x1500]), (0x1200, STORE, 24, [0x1300]), (0x1300, LIST, 32, [0x1400]),
               (0x1400, ARRAY, 48, orders), (0x1500, NOTE, 40, [])]
    for o in orders:
        objects += [(o, ORDER, 32, [o + 0x100]), (o + 0x100, PART, 24, [o + 0x200]), (o + 0x200, PART, 24, [o + 0x300]), (o + 0x300, NOTE, 60, [])]
    lines = ["a 2 shop 0", *(f"t {number} {name}" for number, name in NAMES.items()), "r 1000 4 0 1",
             *(f"o {at:x} {kind} {size}" + "".join(f" {to:x}" for to in refs) for at, kind, size, refs in objects), "c shop 0"]
    return "\n".join(lines).encode() + b"\n"


class FoldedPaths(CliTest):
    def setUp(self):
        super().setUp()
        self.put("in.gclog", dump())

    def tree(self, *words):
        """(indent, text) of the column Path, counts of the column Count."""
        lines = self.done("paths", "in.gclog", *words).text.splitlines()
        at = lines[0].index("Path")
        return [((len(line) - len(line[at:].lstrip()) - at) // 2, line[at:].strip()) for line in lines[1:]]

    def test_from_the_roots(self):
        self.assertEqual(self.tree("--type", "Shop.Order"),
                         [(0, "static variable"), (1, "... 2 framework steps"), (2, "Shop.Store"), (3, CSHARP), (4, "Shop.Order")])

    def test_to_the_roots(self):
        self.assertEqual(self.tree("--type", "Shop.Order", "--to-root"),
                         [(0, "Shop.Order"), (1, CSHARP), (2, "Shop.Store"), (3, "... 2 framework steps"), (4, "static variable")])

    def test_all_steps(self):
        self.assertEqual([text for _, text in self.tree("--type", "Shop.Order", "--full")],
                         ["static variable", "System.Host", "System.Engine", "Shop.Store", CSHARP, "Shop.Order[]", "Shop.Order"])

    def test_what_is_asked_for_is_shown(self):
        self.assertEqual([text for _, text in self.tree("--type", "Shop.Order[]")],
                         ["static variable", "... 2 framework steps", "Shop.Store", CSHARP, "Shop.Order[]"])
        self.assertEqual([text for _, text in self.tree("--type", "System.Engine")], ["static variable", "System.Host", "System.Engine"])

    def test_paths_that_part(self):
        self.assertEqual(self.tree("--type", "System.String"),
                         [(0, "static variable"), (1, "System.Host"), (2, "System.Engine"), (3, "Shop.Store"), (4, CSHARP), (5, "Shop.Order"),
                          (6, "System.Part (repeated)"), (7, "System.String"), (3, "System.String")])

    def test_what_is_mine(self):
        self.assertEqual([text for _, text in self.tree("--type", "Shop.Order", "--mine", "*.Engine", "--mine", "*.Host")],
                         ["static variable", "System.Host", "System.Engine", "Shop.Store", CSHARP, "Shop.Order"])
        self.assertEqual([text for _, text in self.tree("--type", "Shop.Order", "--mine", "Shop.Order")],
                         ["static variable", "... 3 framework and library steps", CSHARP, "Shop.Order"])

    def test_one_object(self):
        lines = ["static variable", "... 2 framework steps", "Shop.Store", f"{CSHARP} (at least 3 elements)", "Shop.Order", "... 2 framework steps",
                 "System.String"]
        self.assertEqual([text for _, text in self.tree("--object", "0x10300")], lines)
        self.assertEqual([text for _, text in self.tree("--object", "0x10300", "--to-root")], lines[::-1])
        self.assertEqual([text for _, text in self.tree("--object", "0x1400")][-2:], [f"{CSHARP} (at least 3 elements)", "Shop.Order[]"])

    def test_programs_get_all(self):
        for words, kind in ((("--type", "Shop.Order"), "type"), (("--object", "0x10000"), "object")):
            steps = [s for s in json.loads(self.done("paths", "in.gclog", "--json", *words).text)["paths"] if s["kind"] == kind]
            self.assertEqual([(s["origin"], s["fold"]) for s in steps],
                             [("framework", "hidden"), ("framework", "hidden"), ("own", "shown"), ("framework", "shown"), ("own", "inside"), ("own", "shown")])
            self.assertEqual([s["type"] for s in steps][-2:], ["Shop.Order[]", "Shop.Order"])
            self.assertEqual(self.done("paths", "in.gclog", *words, "--csv").text, self.done("paths", "in.gclog", *words, "--csv", "--full").text)


if __name__ == "__main__":
    main()
