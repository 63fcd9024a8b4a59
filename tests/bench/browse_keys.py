"""How long a key of browse takes: until something is shown, and until all of it is.

    GCDUMPC=build/gcdumpc python3 tests/bench/browse_keys.py big.nettrace

Run by hand; a line for each key: milliseconds to the first byte and to the last one, the line of status, the title.
"""
import os
import select
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
from screen import Screen                # noqa: E402

# a name for the table, keys
KEYS = (("tree, first time", "2"), ("down", "down"), ("end", "end"), ("home", "home"), ("page down", "page down"), ("home", "home"), ("enter", "enter"),
        ("end", "end"), ("enter", "enter"), ("end", "end"), ("back", "left"), ("back", "left"), ("by bytes", "s"), ("by name", "s"), ("by retained", "s"),
        ("object, first time", "v"), ("end", "end"), ("back", "left"), ("object", "v"), ("back", "left"), ("type of it", "t"), ("end", "end"),
        ("back", "left"), ("types, first time", "3"), ("by count", "s"), ("a type", "enter"), ("end", "end"), ("back", "left"), ("async, first time", "4"),
        ("tree", "2"), ("search in vain", "/no such name\r"), ("address in vain", "/0xfffffffffff\r"), ("suspects", "1"), ("a suspect", "enter"),
        ("back", "left"), ("help", "?"), ("back", "q"))
# Nothing more comes after this time; of long work, which says so, after this one.
QUIET, LONG = 0.4, 60


def press(s, key):
    """Seconds to the first and the last byte of the answer."""
    while s.read(0.05):
        pass
    begin, first, last = time.monotonic(), None, None
    s.press(key)
    while select.select([s.ours], [], [], LONG if first is None or "gives up" in "\n".join(s.text()) else QUIET)[0]:
        s.read(0)
        last = time.monotonic()
        first = first or last
    return first - begin, last - begin


def main():
    program = os.environ.get("GCDUMPC") or os.path.join(ROOT, "build", "gcdumpc")
    begin = time.monotonic()
    s = Screen([program, "browse", sys.argv[1]], {**os.environ, "TERM": "linux", "LC_ALL": "C.UTF-8"}, 110, 40)
    s.wait(lambda lines: lines[0] == "Suspects", seconds=3600)
    print(f"suspects after {time.monotonic() - begin:.1f} s")
    most = 0
    for name, key in KEYS:
        first, last = press(s, key)
        most = max(most, first)
        print(f"{name:20} {first * 1000:7.1f} {last * 1000:9.1f}  {s.text()[-2][-28:]}  {s.text()[0][-50:]}")
    print(f"slowest first answer: {most * 1000:.1f} ms")
    s.press("q")
    s.end()
    s.close()


if __name__ == "__main__":
    main()
