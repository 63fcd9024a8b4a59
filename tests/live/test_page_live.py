"""From opening the page of a program that leaks to the line of source that holds the memory, with the mouse: three clicks at most.

The clicks are those of a user who knows nothing about the program: the path of the first suspect, then the outermost name in it that is the
program's own.  The line is the declaration of that name in the source of the program (planted/).
"""
import glob
import os
import re
import sys
import unittest

from lab_programs import SOURCES
from live_support import LiveTest, main
from planted_runs import each, gcdumpc

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "browser"))
import page_test                                        # noqa: E402
from browser import Browser, find_browser               # noqa: E402

MOST_CLICKS = 3
# Scenario and the line that holds the memory.
LINES = {
    "concurrent-dictionary": "public static readonly SessionStore Instance = new();",
    "static-list": "static readonly List<Order> s_orders = new();",
    "static-closure": "static Func<int, decimal>? s_rule;",
    "closure-event": "public static readonly PriceFeed Instance = new();",
    "hosted-service": "sealed class MailSender",
}
# The scenario with a field that holds the memory, and where the page says so before and after the class is opened.
FIELD = "concurrent-dictionary"
BEFORE = {"the path": ("#panel .path", "SessionStore._sessions"), "the map": ("#map .map", "_sessions: ConcurrentDictionary"),
          "the tree": ("#tree", "_sessions: ConcurrentDictionary"), "largest objects": ("#largest", "SessionStore._sessions")}
AFTER = {"what the variable holds": ("#panel", "_sessions: ConcurrentDictionary")}
OF_CLASS = {"what the class refers to": ("#panel", " in _sessions")}
# Outermost first: static variables, then types; those of the program are in no namespace of the framework.
OWN = ("[...document.querySelectorAll('#panel .path li:not(.folded) a.open')]"
       ".findIndex(a => [...a.querySelectorAll('.kind-s, .kind-t')].some(name => (name.title || name.textContent).startsWith('Shop.')))")


def declarations(name):
    """Lines of the program's source that declare Class.Field or a class, whatever namespace is in front."""
    *_, owner, member = ("", *name.split("."))
    found = []
    for path in sorted(glob.glob(os.path.join(SOURCES["Shop"], "*.cs"))):
        with open(path, encoding="utf-8") as f:
            at = ""
            for line in f:
                declared = re.search(r"\b(?:class|record|struct) (\w+)", line)
                at = declared[1] if declared else at
                if declared and declared[1] == member or at == owner and re.search(rf"\bstatic\b[^(=]*\b{re.escape(member)}\b *[;={{]", line):
                    found.append(line.strip())
    return found


class Lines(LiveTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        find_browser()
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def page(self, target, scenario, *_):
        path = self.path(f"{scenario}.html")
        gcdumpc("collect", "--pid", target.pid, "-o", path)
        return path

    def check_field(self, page, places):
        for place, (selector, text) in places.items():
            with self.subTest(place=place):
                self.assertIn(text, page.run(f"document.querySelector({selector!r}).textContent"))

    def test_three_clicks_to_the_line(self):
        for runtime, scenario, result in each(LINES, self.page):
            with self.subTest(scenario=scenario, runtime=runtime):
                page = self.browser.open(result(), width=1400, height=900)
                clicks = 0
                for selector in ("#summary .answers .actions a", "#panel .path li:not(.folded) a.open"):
                    page.click(selector, 0 if clicks == 0 else page.run(OWN))
                    self.check_field(page, (BEFORE, AFTER)[clicks] if scenario == FIELD else {})
                    clicks += 1
                self.assertLessEqual(clicks, MOST_CLICKS)
                name = page.text("#panel .explanation") if page.count("#panel .explanation bdi") and "." in page.text("#panel .explanation") \
                    else page.text("#panel h2")
                if scenario == FIELD:
                    page.run("document.querySelector('#panel [title=\"Shop.SessionStore\"]').click()")
                    self.check_field(page, OF_CLASS)
                found = declarations(name)
                self.assertEqual(len(found), 1, (name, found))
                self.assertTrue(found[0].startswith(LINES[scenario]) or LINES[scenario] in found[0], (name, found))
                self.assertEqual(page.complaints, [])
                page.close()

    def test_declarations(self):
        self.assertEqual(declarations("Shop.OrderArchive.s_orders"), [LINES["static-list"]])
        self.assertEqual(declarations("Shop.OrderArchive.s_other"), [])


if __name__ == "__main__":
    page_test.main(main)
