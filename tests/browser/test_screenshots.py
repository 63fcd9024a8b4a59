#!/usr/bin/env python3
"""Pictures of the main views, into BUILD/screenshots for people to look at; and the one of the README.

    GCDUMPC=build/gcdumpc GCDUMPC_BUILD=$PWD/build python3 -B tests/browser/test_screenshots.py

tools/doc/page.png is the first screen, 1280 by 800, of `gcdumpc convert traces/shop/evening.nettrace.gz -o shop.html`.
"""
import os
import struct
import sys
import unittest
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from test_async import shop                             # noqa: E402

import page_test                                        # noqa: E402
from page_test import PageTest                          # noqa: E402

ROOT = os.environ.get("GCDUMPC_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FOLDER = os.path.join(os.environ.get("GCDUMPC_BUILD") or os.path.join(ROOT, "build"), "screenshots")
MOST_BYTES = 200_000


def chunks(png):
    """Name and content of each."""
    at = 8
    while at < len(png):
        size, name = struct.unpack_from(">I4s", png, at)
        yield name.decode(), png[at + 8:at + 8 + size]
        at += size + 12


def pixels(png):
    """Width, height and the rows of a picture with 8 bits a channel."""
    width, height, depth, kind = struct.unpack(">IIBB", next(data for name, data in chunks(png) if name == "IHDR")[:10])
    assert depth == 8 and kind in (2, 6), (depth, kind)
    step = 3 if kind == 2 else 4
    raw = zlib.decompress(b"".join(data for name, data in chunks(png) if name == "IDAT"))
    rows, above = [], bytes(width * step)
    for y in range(height):
        at = y * (width * step + 1)
        above = unfiltered(raw[at], bytearray(raw[at + 1:at + 1 + width * step]), above, step)
        rows.append(above)
    return width, height, rows, step


def unfiltered(kind, row, above, step):
    for i in range(len(row) if kind else 0):
        left, up, corner = row[i - step] if i >= step else 0, above[i], above[i - step] if i >= step else 0
        if kind == 4:
            guess = left + up - corner
            distances = abs(guess - left), abs(guess - up), abs(guess - corner)
            row[i] = (row[i] + (left, up, corner)[distances.index(min(distances))]) & 255
        else:
            row[i] = (row[i] + (0, left, up, (left + up) // 2)[kind]) & 255
    return row


class Pictures(PageTest):
    # Name, source, address of the page, size.
    VIEWS = [("first-screen", "net10-wks-ranges", "", {"width": 1400, "height": 900}),
             ("flame", "net10-wks-ranges", "#picture=flame&colour=module", {"width": 1400, "height": 900}),
             ("panel", "net10-wks-ranges", "#view=types&open=type:HeapLab.Leaf", {"width": 1400, "height": 900}),
             ("tree", "net10-wks-ranges", "#view=tree", {"width": 1400, "height": 900}),
             ("waiting", "in.gclog", "#view=waiting", {"width": 1400, "height": 900}),
             ("dark", "net10-wks-ranges", "", {"width": 1400, "height": 900, "dark": True}),
             ("phone", "net10-wks-ranges", "", {"width": 390, "height": 844}),
             ("lossy", "net10-wks-lossy", "", {"width": 1400, "height": 900})]

    def test_main_views(self):
        os.makedirs(FOLDER, exist_ok=True)
        self.put("in.gclog", shop())
        seen = {}
        for name, source, address, view in self.VIEWS:
            self.done("convert", source if source.endswith(".gclog") else self.link(source), "-o", "x.html", code=3 if name == "lossy" else 0)
            self.page = self.browser.open(self.path("x.html"), address=address, **view)
            picture = self.page.picture()
            with open(os.path.join(FOLDER, f"{name}.png"), "wb") as f:
                f.write(picture)
            width, height, rows, step = pixels(picture)
            self.assertEqual((width, height), (view["width"], view["height"]), name)
            colours = {bytes(row[x:x + 3]) for row in rows[::7] for x in range(0, len(row), 7 * step)}
            self.assertGreater(len(colours), 12, name)
            light = sum(sum(row[x:x + 3]) for row in rows[::50] for x in range(0, len(row), 50 * step)) / len(rows[::50]) / (width / 50) / 3
            (self.assertLess if name == "dark" else self.assertGreater)(light, 128, name)
            seen[name] = picture
            self.assertEqual(self.page.complaints, [])
        self.assertEqual(len(set(seen.values())), len(self.VIEWS))


class Readme(unittest.TestCase):
    def test_picture(self):
        with open(os.path.join(ROOT, "tools", "doc", "page.png"), "rb") as f:
            picture = f.read()
        self.assertLessEqual(len(picture), MOST_BYTES)
        self.assertEqual({name for name, _ in chunks(picture)} - {"IHDR", "IDAT", "IEND", "sRGB", "PLTE"}, set())      # no texts, no times
        width, height, rows, step = pixels(picture)
        self.assertEqual((width, height), (1280, 800))
        self.assertGreater(len({bytes(row[x:x + 3]) for row in rows[::7] for x in range(0, len(row), 7 * step)}), 50)
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
            self.assertIn("(tools/doc/page.png)", f.read())


if __name__ == "__main__":
    page_test.main()
