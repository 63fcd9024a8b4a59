#!/usr/bin/env python3
"""Pictures of the main views, into BUILD/screenshots for people to look at; and the one of the README.

    GCDUMPC=build/gcdumpc GCDUMPC_BUILD=$PWD/build python3 -B tests/browser/test_screenshots.py

tools/doc/page.png is the first screen, 1280 by 800, of `gcdumpc convert traces/shop/evening.nettrace.gz -o shop.html`.
"""
import base64
import os
import struct
import sys

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


# Width, height, how many colours, and how light it is (0 to 255): the browser decodes a picture faster than a script.
FACTS = """(async data => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), c => c.charCodeAt(0))]));
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    const bytes = context.getImageData(0, 0, image.width, image.height).data, colours = new Set();
    let light = 0;
    for (let i = 0; i < bytes.length; i += 4) {
        colours.add(bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2]);
        light += bytes[i] + bytes[i + 1] + bytes[i + 2];
    }
    return [image.width, image.height, colours.size, light / (3 * image.width * image.height)];
})("%s")"""


def facts(page, picture):
    return page.run(FACTS % base64.b64encode(picture).decode())


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
            width, height, colours, light = facts(self.page, picture)
            self.assertEqual((width, height), (view["width"], view["height"]), name)
            self.assertGreater(colours, 12, name)
            (self.assertLess if name == "dark" else self.assertGreater)(light, 128, name)
            seen[name] = picture
            self.assertEqual(self.page.complaints, [])
        self.assertEqual(len(set(seen.values())), len(self.VIEWS))

    def test_picture_of_the_readme(self):
        with open(os.path.join(ROOT, "tools", "doc", "page.png"), "rb") as f:
            picture = f.read()
        self.assertLessEqual(len(picture), MOST_BYTES)
        self.assertEqual({name for name, _ in chunks(picture)} - {"IHDR", "IDAT", "IEND", "sRGB", "PLTE"}, set())      # no texts, no times
        width, height, colours, _ = facts(self.show(), picture)
        self.assertEqual((width, height), (1280, 800))
        self.assertGreater(colours, 50)
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
            self.assertIn("(tools/doc/page.png)", f.read())


if __name__ == "__main__":
    page_test.main()
