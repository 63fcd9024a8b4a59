#!/usr/bin/env python3
"""gcdumpc mcp, asked by the official clients: both revisions, each tool, pages, progress, cancellation, two heaps, wrong arguments.

The clients check each structured answer by the schema that the server gave.
"""
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import real_readers

SOURCE = os.environ.get("GCDUMPC_SOURCE") or os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.environ.get("GCDUMPC") or os.path.join(os.environ.get("GCDUMPC_BUILD") or os.path.join(SOURCE, "build"), "gcdumpc")
HAVE_SQLITE = os.environ.get("GCDUMPC_SQLITE", "ON") not in ("OFF", "0", "FALSE", "NO")
SECONDS = 600
ENDLESS = "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT max(x) FROM a"


def heap(name):
    return f"{name}/heap.nettrace.gz"


class Clients(unittest.TestCase):
    def talk(self, which, *steps):
        """The client's answers to STEPS, (tool, arguments) or objects; the first is about the server, the last "closed"."""
        folder = real_readers.need_mcp_clients()
        lines = "".join(json.dumps(s if isinstance(s, dict) else {"tool": s[0], "arguments": s[1]}) + "\n" for s in steps)
        run = subprocess.run(["node", os.path.join(folder, "mcp_clients.mjs"), which, PROGRAM, "mcp", "--root", os.path.join(SOURCE, "traces")],
                             input=lines, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout[-2000:])
        answers = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertEqual(len(answers), len(steps) + 2, answers)
        self.assertEqual(answers[-1], {"result": "closed"})
        return answers

    def each_client(self, *steps):
        # the newer client needs a later Node than Debian 12 has
        for which in ("OLD", "NEW") if real_readers.version_of_node() >= real_readers.OLDEST_NEW_MCP_NODE else ("OLD",):
            with self.subTest(which):
                yield which, self.talk(which, *steps)

    def structured(self, answer):
        self.assertIn("result", answer, answer)
        self.assertFalse(answer["result"].get("isError"), answer)
        return answer["result"]["structuredContent"]

    def test_each_tool(self):
        steps = [{"list": True}, {"tool": "open", "arguments": {"file": heap("net10-wks-ranges")}, "progress": True}, ("open", {"file": heap("net8-wks")}),
                 *((tool, {"heap": "h1"}) for tool in ("summary", "suspects", "types", "retained", "tree", "async", "exceptions")),
                 ("tree", {"heap": "h1", "by": "types"}), ("type", {"heap": "h1", "type": "HeapLab.Lab"}), ("object", {"heap": "h1", "object": 700}),
                 ("paths", {"heap": "h1", "type": "HeapLab.Item"}), ("paths", {"heap": "h1", "object": 700}),
                 ("diff", {"old": "h2", "new": "h1", "retained": True}), ("retained", {"heap": "h1", "by": "content", "type": "string"}),
                 ("close", {"heap": "h2"})]
        steps += [("sql", {"statement": "SELECT * FROM types"})] if HAVE_SQLITE else []
        for which, answers in self.each_client(*steps):
            server = answers[0]["result"]
            self.assertEqual((server["server"]["name"], server["version"]), ("gcdumpc", "2026-07-28" if which == "NEW" else None))
            self.assertEqual(len(answers[1]["result"]["tools"]), 16)
            self.assertTrue(answers[2]["progress"])
            for answer in answers[2:-1]:
                self.structured(answer)
            self.assertEqual(self.structured(answers[4])["objects"], 17646)

    def test_pages_and_mistakes(self):
        for _, answers in self.each_client(("open", {"file": heap("net10-wks")}), ("types", {"limit": 150, "max_chars": 100000}), ("types", {"limit": "x"}),
                                           ("nothing", {}), ("open", {"file": "../x"})):
            page = self.structured(answers[2])
            self.assertEqual((len(page["types"]), page["total"], page["next_cursor"] is None), (150, 201, False))
            self.assertTrue(answers[3]["result"]["isError"])
            self.assertIn("no such tool", answers[4]["error"])
            self.assertTrue(answers[5]["result"]["isError"])

    @unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
    def test_cancellation(self):
        endless = {"tool": "sql", "arguments": {"statement": ENDLESS, "seconds": 3600}, "cancel_ms": 300}
        for _, answers in self.each_client(("open", {"file": heap("net10-wks")}), endless, ("summary", {}), endless, ("types", {})):
            self.assertIn("no more", answers[2]["error"])
            self.assertEqual(self.structured(answers[3])["objects"], 17646)
            self.assertIn("no more", answers[4]["error"])
            self.assertEqual(self.structured(answers[5])["total"], 201)


if __name__ == "__main__":
    real_readers.main()
