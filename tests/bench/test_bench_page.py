#!/usr/bin/env python3
"""bench_page.py itself: each action finds what it clicks, and the table in README.md has its rows."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("GCDUMPC_BUILD") or os.path.join(HERE, "..", "..", "build")
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "browser"))

import bench_page                                       # noqa: E402
from browser import Browser                             # noqa: E402
import page_test                                        # noqa: E402

NAMES = [name for name, _ in bench_page.ACTIONS]


class Bench(unittest.TestCase):
    def page(self, folder):
        recording, page = os.path.join(folder, "heap.nettrace"), os.path.join(folder, "heap.html")
        subprocess.run([os.path.join(BUILD, "genheap"), "-n", "20000", recording], check=True, capture_output=True)
        subprocess.run([os.path.join(BUILD, "gcdumpc"), "convert", recording, "-o", page, "--quiet"], check=True)
        return page

    def test_every_action_does_something(self):
        """Else its time means nothing."""
        with tempfile.TemporaryDirectory() as folder, Browser() as browser:
            shown = browser.open(self.page(folder), width=1400, height=900, script=bench_page.WATCH)
            times = shown.run(bench_page.LOADED)
            self.assertEqual(times, sorted(times))
            still = []
            for name, action in bench_page.ACTIONS:
                before = shown.run("document.body.innerHTML + [...document.querySelectorAll('.scroll')].map(e => e.scrollTop)")
                self.assertGreater(shown.run(bench_page.TIMED.format(action=action)), 0)
                shown.settle()
                if shown.run("document.body.innerHTML + [...document.querySelectorAll('.scroll')].map(e => e.scrollTop)") == before:
                    still.append(name)
            self.assertEqual((still, shown.complaints), ([], []))

    def test_the_table_has_all_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = list(bench_page.table(self.page(folder), 1, folder, slower_times=1.5))      # slower burns processor time
        self.assertEqual([line.split("|")[1].strip() for line in lines[6:-1]], NAMES)
        self.assertEqual({len(line.split("|")) for line in lines}, {7})


if __name__ == "__main__":
    page_test.main(unittest.main)
