#!/usr/bin/env python3
"""Five leaks, from opening the page to the class and the field or variable that holds the memory: at most three clicks."""
import os

import page_test
from page_test import PageTest

SOURCE = os.environ.get("GCDUMPC_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EVENING = os.path.join(SOURCE, "traces", "shop", "evening.nettrace.gz")          # a living program with two leaks
MOST = 3


def many(kind, holder, root, type_name):
    """A HOLDER, with something of KIND between, keeps 2,000 objects of 8 KiB; ROOT: the lines of a gclog."""
    items = [f"{0x10000 + 0x4000 * i:x}" for i in range(2000)]
    return "\n".join(["a 2 shop 0", f"t 1 {holder}", f"t 2 {kind}", f"t 3 {type_name}", root, "o 1000 1 18 2000", "o 2000 2 4000 " + " ".join(items),
                      *(f"o {item} 3 2000" for item in items), "c shop 0"]) + "\n"


# name, recording or text, number of the suspect, what the answer says, what the path from the root names
LEAKS = [
    ("cache of sessions", EVENING, 0, ["SessionStore", "UserSession"], ["CoffeeShop.Services.Storefront", "SessionStore"]),
    ("event handlers", EVENING, 1, ["PriceFeed.Changed", "PriceWatch"], ["CoffeeShop.Services.Storefront", "PriceFeed"]),
    ("array of a static variable", many("Shop.Order[]", "Shop.Ledger", "r 1000 4 0 1", "Shop.Order"), 0, ["Ledger", "Order"],
     ["Static variables", "Ledger", "Order[]"]),
    ("list of a local variable", many("System.Object[]", "Shop.Batch", "r 1000 1 0 0", "Shop.Row"), 0, ["Batch", "Row"], ["Thread stacks", "Batch"]),
    ("buffers behind a handle", many("System.Byte[][]", "Shop.Recorder", "r 1000 3 0 0", "System.Byte[]"), 0, ["Recorder"],
     ["Strong handles", "Recorder"]),
]


class Clicks(PageTest):
    def test_to_what_holds_the_memory(self):
        for name, heap, suspect, answer, way in LEAKS:
            with self.subTest(name):
                if "\n" in heap:
                    self.put("leak.gclog", heap.encode())
                    heap = self.path("leak.gclog")
                page = self.show(heap)
                row = f"#summary .answers > li:nth-child({suspect + 1})"
                for said in answer:
                    self.assertIn(said, page.text(row))
                clicks = 0
                while not all(step in page.text("#panel") for step in way) and clicks < MOST:
                    page.click(f"{row} .actions a" if clicks == 0 else "#panel .path .chip, #panel .chip")
                    clicks += 1
                for step in way:
                    self.assertIn(step, page.text("#panel"))
                self.assertGreater(clicks, 0)


if __name__ == "__main__":
    page_test.main()
