"""Code shared by the tests of the page."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import cli_support                                      # noqa: E402
from cli_support import CliTest                         # noqa: E402

from browser import Browser, find_browser               # noqa: E402

# Names that look like markup, or like another name.
HOSTILE = ["<img src=x onerror=window.pwned=1>", "</script><script>window.pwned=1</script>", "<!--<script>", "\"'><svg onload=window.pwned=1>",
           "&lt;b&gt;", "Shop.\u202eredrO", "${window.pwned=1}", "__proto__", "constructor", "Long." + "x" * 100_000]


class PageTest(CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        super().setUp()
        self.page = None

    def tearDown(self):
        if self.page is not None:
            self.assertEqual(self.page.complaints, [])
        super().tearDown()

    def show(self, source="net10-wks-ranges", code=0, **options):
        """The page of a bundled recording or of a file."""
        self.done("convert", self.link(source) if not os.path.exists(self.path(source)) else source, "-o", "x.html", code=code)
        self.page = self.browser.open(self.path("x.html"), **options)
        return self.page

    def rows(self, section):
        return self.page.run(f"[...document.querySelectorAll('#{section} tbody tr')].map(r => [...r.cells].map(c => c.textContent))")

    def scroll_to_the_end(self, selector):
        """Opens rows until there are no more."""
        rows, before = -1, -2
        while rows != before:
            before = rows
            rows = self.page.run(f"(() => {{ const e = document.querySelector({selector!r}); e.scrollTop = e.scrollHeight; return e.querySelectorAll('tr').length; }})()")
            self.page.settle()


def main(run=cli_support.main):
    """Runs the tests with RUN; without a browser it says so and skips all of them."""
    try:
        find_browser()
    except unittest.SkipTest as reason:
        print("skipped:", reason)
        sys.exit(77)
    run()
