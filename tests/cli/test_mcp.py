"""gcdumpc mcp: both revisions of the protocol, each tool against the command of the same name, paging, cancellation, files outside the root,
hostile messages and arguments."""
import json
import os
import re
import signal
import socket
import subprocess
import time
import unittest

from cli_support import HAVE_SQLITE, INCOMPLETE, SECONDS, SOURCE, CliTest, main, trace
from mcp_client import LEGACY, META, MODERN, Client, Ended
from test_leaks import cache

ROOT = os.path.join(SOURCE, "traces")
ENDLESS = "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT max(x) FROM a"
TOOLS = ["open", "summary", "suspects", "types", "type", "object", "paths", "retained", "tree", "async", "strings", "exceptions", "diff", "sql", "close", "list_processes"]


def file_of(name):
    return f"{name}/heap.nettrace.gz"


class McpTest(CliTest):
    def serve(self, *args, root=ROOT, revision=MODERN, **options):
        words = ("--root", root) if root else ()
        process = self.start("mcp", *words, *args, stdin=subprocess.PIPE, **options)
        return Client(process, revision, 4 * SECONDS)

    def opened(self, name="net10-wks-ranges", *args, **options):
        client = self.serve(*args, **options)
        client.call("open", file=file_of(name))
        return client

    def end(self, client, code=0):
        """The end of the input ends the server."""
        run = self.finish(client.process, b"")
        self.assertEqual((run.code, run.err), (code, b""))
        return run.out

    def json(self, *words, name="net10-wks-ranges", code=0):
        return json.loads(self.done(*words[:1], trace(name), *words[1:], "--json", code=code).text)


class Protocol(McpTest):
    def test_older_revision(self):
        client = self.serve(revision=LEGACY)
        result = client.initialized["result"]
        self.assertEqual((result["protocolVersion"], result["capabilities"], result["serverInfo"]["name"]), (LEGACY, {"tools": {}}, "gcdumpc"))
        self.assertIn("suspects", result["instructions"])
        self.assertEqual(client.request("ping")["result"], {})
        listed = client.request("tools/list")["result"]
        self.assertEqual(([t["name"] for t in listed["tools"]], set(listed)), (TOOLS, {"tools"}))
        self.assertEqual(set(client.result("open", file=file_of("net10-wks"))), {"content", "structuredContent"})
        self.assertEqual(client.request("server/discover")["error"]["code"], -32601)
        self.end(client)

    def test_newest_revision(self):
        client = self.serve()
        result = client.request("server/discover")["result"]
        self.assertEqual((result["resultType"], result["supportedVersions"], result["capabilities"]), ("complete", [MODERN, LEGACY], {"tools": {}}))
        self.assertEqual(result["_meta"][META + "serverInfo"]["name"], "gcdumpc")
        listed = client.request("tools/list")["result"]
        for answer in (result, listed):
            self.assertEqual((answer["resultType"], answer["cacheScope"], answer["ttlMs"] > 0), ("complete", "private", True))
        self.assertEqual([t["name"] for t in listed["tools"]], TOOLS)
        self.assertEqual(client.result("open", file=file_of("net10-wks"))["resultType"], "complete")
        self.assertEqual(client.result("open", file="nothing")["resultType"], "complete")
        for method in ("ping", "initialize", "resources/list"):
            self.assertEqual(client.request(method)["error"]["code"], -32601, method)
        self.end(client)

    def test_versions(self):
        client = self.serve()
        for version, code in (("1900-01-01", -32022), (7, -32022), (LEGACY, -32022)):
            answer = client.request("tools/list", {"_meta": {META + "protocolVersion": version}})["error"]
            self.assertEqual((answer["code"], answer["data"]), (code, {"supported": [MODERN, LEGACY], "requested": version}))
        self.assertEqual(client.request("tools/list", {"_meta": {META + "clientCapabilities": 5}})["error"]["code"], -32602)
        client.send({"id": 77, "method": "tools/list"})  # before initialize
        answer = client.answer(77)["error"]
        self.assertEqual(answer["code"], -32602)
        self.assertIn("begin with initialize", answer["message"])
        # a client of a revision before the two gets the older one, which it may refuse
        client.send({"id": 78, "method": "initialize", "params": {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {}}})
        self.assertEqual(client.answer(78)["result"]["protocolVersion"], LEGACY)
        self.end(client)

    def test_invalid_requests(self):
        client = self.serve()
        for line, code, number in ((b"nothing", -32700, None), (b"{}", -32600, None), (b"[]", -32600, None), (b"7", -32600, None), (b'"x"', -32600, None),
                                   (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}', -32700, None), (b"\xff\xfe", -32700, None),
                                   (b'{"jsonrpc":"1.0","id":3,"method":"x"}', -32600, 3), (b'{"jsonrpc":"2.0","id":1.5,"method":"x"}', -32600, None),
                                   (b'{"jsonrpc":"2.0","id":null,"method":"x"}', -32600, None), (b'{"jsonrpc":"2.0","id":{},"method":"x"}', -32600, None),
                                   (b'{"jsonrpc":"2.0","id":4,"method":5}', -32600, 4), (b'{"jsonrpc":"2.0","id":5,"method":"x","params":[1]}', -32602, 5),
                                   (b'{"jsonrpc":"2.0","id":6,"method":"tools/l\\u0000ist"}', -32600, 6), (b'{"a":1} {"b":2}', -32700, None),
                                   (b"[" * 100_000, -32700, None), (b'{"jsonrpc":"2.0","id":"9","method":"' + b"x" * 500_000 + b'"}', -32602, "9"),
                                   (b"x" * (1 << 20), -32700, None), (b"x" * ((1 << 20) + 1), -32600, None)):
            client.send(line + b"\n")
            answer = client.line()
            self.assertEqual((answer["error"]["code"], answer.get("id")), (code, number), (line[:80], answer))
        for line in (b"\n", b"\r\n", b'{"jsonrpc":"2.0","method":"notifications/unheard_of"}\n', b'{"jsonrpc":"2.0","id":9,"result":{}}\n',
                     b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}\n',
                     b'{"jsonrpc":"2.0","method":"notifications/cancelled"}\n'):
            client.send(line)
        client.send(b'{"jsonrpc":"2.0","id":"text","method":"server/discover","params":{"_meta":{"%sprotocolVersion":"%s","%sclientCapabilities":{}}}}\r\n'
                    % (META.encode(), MODERN.encode(), META.encode()))
        self.assertIn("result", client.answer("text"))
        self.assertEqual(client.others, [])
        self.end(client)

    def test_a_line_of_100_mb(self):
        client = self.serve()
        for _ in range(100):
            client.send(b"x" * 1_000_000)
        client.send(b"\n")
        self.assertIn("1,048,576 bytes", client.line()["error"]["message"])
        self.assertIn("tools", client.request("tools/list")["result"])
        status = open(f"/proc/{client.process.pid}/status", encoding="ascii").read()
        peak = int(status.split("VmHWM:")[1].split()[0])
        self.assertLess(peak, 60_000 if not os.environ.get("GCDUMPC_SANITIZE") else 10_000_000)
        self.end(client)

    def test_ids(self):
        """Ids are numbers and texts; the id of a call without an answer is refused, since the answers could not be told apart."""
        client = self.opened()
        if HAVE_SQLITE:
            client.ask("tools/call", {"name": "sql", "arguments": {"statement": ENDLESS}}, "one")
            client.ask("tools/call", {"name": "summary"}, "one")
            self.assertEqual(client.line()["error"]["code"], -32600)
            client.send({"method": "notifications/cancelled", "params": {"requestId": "one"}})
        for number in ("", "ü", -5, 2**53, 0):
            client.ask("tools/call", {"name": "summary"}, number)
            self.assertIn("result", client.answer(number))
        client.ask("tools/call", {"name": "no_such_tool"}, 50)
        self.assertEqual(client.answer(50)["error"]["code"], -32602)
        client.ask("tools/call", {"name": "summary", "arguments": []}, 51)
        self.assertEqual(client.answer(51)["error"]["code"], -32602)
        client.ask("tools/call", {}, 52)
        self.assertEqual(client.answer(52)["error"]["code"], -32602)
        self.end(client)

    def test_the_end(self):
        """Calls that wait when the input ends still get their answers; a signal or a client that has gone ends the server."""
        client = self.serve()
        client.ask("tools/call", {"name": "open", "arguments": {"file": file_of("net10-wks")}})
        client.ask("tools/call", {"name": "types"})
        client.process.stdin.close()
        self.assertEqual(client.answer(1)["result"]["structuredContent"]["objects"], 17646)
        self.assertEqual(client.answer(2)["result"]["structuredContent"]["total"], 201)
        with self.assertRaises(Ended):
            client.line()
        self.assertEqual(client.process.wait(SECONDS), 0)
        client = self.serve()
        client.request("server/discover")
        client.process.send_signal(signal.SIGTERM)
        self.assertEqual(client.process.wait(SECONDS), 130)
        client = self.opened()
        if HAVE_SQLITE:
            client.ask("tools/call", {"name": "sql", "arguments": {"statement": ENDLESS, "seconds": 3600}})
        client.process.stdout.close()
        self.assertEqual(client.process.wait(SECONDS), 0)

    def test_the_command_line(self):
        self.refused(2, r"--allow-collect needs --root, .*", "mcp", "--allow-collect")
        self.refused(2, r'mcp does not know what to do with "x"; .*', "mcp", "x")
        self.refused(1, r"nothing: is not a folder that can be opened; .*", "mcp", "--root", "nothing")
        self.assertEqual(self.done("mcp", data=b"").out, b"")


class Documents(McpTest):
    def test_calls_of_the_skill(self):
        """tools/agent/SKILL.md and tools/doc/mcp.md name only tools, arguments and statements that exist."""
        client = self.opened("net10-wks", "--allow-collect", root=ROOT)
        tools = client.tools()
        with open(os.path.join(SOURCE, "tools", "agent", "SKILL.md"), encoding="utf-8") as f:
            skill = f.read()
        calls = re.findall(r"`(\w+) (\{[^`]*\})`", skill)
        self.assertGreater(len(calls), 5)
        for tool, arguments in calls:
            given, known = json.loads(arguments), tools[tool]["inputSchema"]["properties"]
            self.assertLessEqual(set(given), set(known), (tool, arguments))
            for key, value in given.items():
                self.assertIn(value, known[key].get("enum", [value]))
        for name in re.findall(r"`([a-z_]+)`", skill):
            fields = {f for t in tools.values() for f in [*t["outputSchema"]["properties"], *t["inputSchema"]["properties"]]}
            nested = {"advice", "lines", "holds", "old_stacks", "retained_bytes", "bytes"}
            self.assertIn(name, {*tools, *fields, *nested}, name)
        if HAVE_SQLITE:
            for statement in re.findall(r"`(SELECT [^`]*)`", skill):
                self.assertEqual(len(client.call("sql", statement=statement)["rows"]), 10)
        with open(os.path.join(SOURCE, "tools", "doc", "mcp.md"), encoding="utf-8") as f:
            listed = {name for line in f if line.startswith("| `") for name in re.findall(r"`(\w+)`", line.split("|")[1])}
        self.assertEqual(listed, set(tools))


class Tools(McpTest):
    def test_summary(self):
        client = self.serve()
        opened = client.call("open", file=file_of("net10-wks-ranges"))
        summary, info = client.call("summary"), self.json("info")["dump"]
        self.assertEqual((opened["heap"], opened["objects"], opened["complete"], opened["notes"]), ("h1", info["objects"], True, []))
        self.assertEqual({k: summary[k] for k in opened}, opened)
        self.assertEqual((summary["objects"], summary["bytes"], summary["references"]), (info["objects"], info["bytes"], info["edges"]))

    def test_types(self):
        client = self.opened()
        rows = client.all("types", "types", retained=True, limit=50)
        want = {r["type"]: r for r in self.json("report", "--retained")["types"]}
        self.assertEqual({r["type"]: (r["count"], r["bytes"], r["retained_bytes"]) for r in rows},
                         {n: (r["count"], r["bytes"], r["retained_bytes"]) for n, r in want.items()})
        self.assertEqual([r["bytes"] for r in rows], sorted((r["bytes"] for r in rows), reverse=True))
        for sort, key in (("count", "count"), ("retained", "retained_bytes")):
            values = [r[key] for r in client.all("types", "types", sort=sort)]
            self.assertEqual(values, sorted(values, reverse=True), sort)
        names = [r["type"] for r in client.all("types", "types", sort="name")]
        self.assertEqual(names, sorted(names, key=str.encode))
        self.assertEqual([r["type"] for r in client.call("types", filter="HeapLab.Leaf")["types"]], ["HeapLab.Leaf"])
        self.assertIn("HeapLab.Leaf", client.error("types", filter="HeapLab.Leav"))
        self.assertIn("no type", client.error("types", filter="Nothing.*"))

    def test_retained_and_type(self):
        client = self.opened()
        want = self.json("retained", "--top", "30")
        objects = client.call("retained", limit=30)["objects"]
        self.assertEqual([(r["object"], r["type"], r["retained_bytes"]) for r in objects],
                         [(r["address"], r["type"], r["retained_bytes"]) for r in want["largest_objects"]])
        content = self.json("retained", "--content", "HeapLab.Lab")
        rows = client.all("retained", "content", by="content", type="HeapLab.Lab")
        self.assertEqual(sum(r["bytes"] for r in rows), client.call("type", type="HeapLab.Lab")["retained_bytes"])
        self.assertEqual([(r["type"], r["bytes"]) for r in rows][:5], [(r["type"], r["bytes"]) for r in content["content"]][:5])
        rows = client.all("retained", "dominators", by="dominators", type="System.String")
        self.assertEqual(sum(r["count"] for r in rows), client.call("type", type="System.String")["count"])
        self.assertIn('needs "type"', client.error("retained", by="content"))

    def test_suspects(self):
        client = self.opened()
        want, got = self.json("leaks"), client.call("suspects")
        self.assertEqual((got["suspects"], want["suspects"]), ([], []))
        self.assertEqual(got["largest"]["sentence"], want["largest"]["sentence"])
        self.assertEqual(got["largest"]["advice"] or "", want["largest"]["advice"])

    def test_suspects_of_a_leak(self):
        """The same as leaks, with the path from its root."""
        self.put("x.nettrace", cache()[0])
        client = self.serve(root=self.dir)
        client.call("open", file="x.nettrace")
        want, = json.loads(self.done("leaks", "x.nettrace", "--json").out)["suspects"]
        answer = client.call("suspects")
        got, = answer["suspects"]
        for key in ("number", "kind", "sentence", "advice", "bytes", "objects", "type", "owner"):
            self.assertEqual(got[key], want[key], key)
        self.assertEqual(got["object"], want["address"])
        self.assertEqual(got["share"], round(want["share"], 4))
        for key in ("holds", "own_types"):
            self.assertEqual(got[key], [{**part, "share": round(part["share"], 4)} for part in want[key]])
        self.assertEqual(got["lines"], want["lines"])
        lines = [f"{step['address']} {step['type']}" for step in want["path"]]
        self.assertEqual(got["lines"], [want["root"], *lines[:-1], lines[-1] + " (about 100 elements)"])
        self.assertNotIn("largest", answer)
        self.assertNotIn("none", answer)

    def test_object_and_tree(self):
        client = self.opened()
        top = client.call("tree", limit=1000, max_chars=1_000_000)
        self.assertEqual(sum(r["retained_bytes"] for r in top["objects"]), top["retained_bytes"])
        lab = next(r["object"] for r in top["objects"] if r["type"] == "HeapLab.Lab")
        below = client.call("tree", object=lab)
        self.assertEqual(sum(r["retained_bytes"] for r in below["objects"]) + 24, below["retained_bytes"])
        found = client.call("object", object=lab)
        self.assertEqual((found["type"], found["alive"], found["dominator"], found["roots"], found["retained_bytes"]),
                         ("HeapLab.Lab", True, None, ["static variable s_lab"], below["retained_bytes"]))
        child = client.call("object", object=below["objects"][0]["object"])
        self.assertEqual(child["dominator"]["object"], lab)
        self.assertRegex(child["elements"], r"elements?\Z")
        for which in ("referred_by", "refers_to", "dominates"):
            rows = client.all("object", "objects", object=lab, list=which, limit=5)
            self.assertEqual(len(rows), found[which + "_count"], which)
        for row in client.call("object", object=lab, list="refers_to")["objects"]:
            self.assertIn(lab, [r["object"] for r in client.all("object", "objects", object=row["object"], list="referred_by")])
        types = client.all("tree", "types", by="types", depth=3)
        want = self.json("retained", "--tree", "3")["tree"]
        self.assertEqual(types, [{k: round(v, 4) if k == "share" else v for k, v in r.items() if v is not None} for r in want])
        self.assertIn("no object", client.error("object", object="0x1"))
        self.assertIn("no object", client.error("object", object=10**9))
        self.assertIn("takes an address", client.error("object", object="x"))

    def test_paths(self):
        client = self.opened()
        lines = client.all("paths", "lines", type="HeapLab.Item", limit=3, full=True)
        want = self.json("paths", "--type", "HeapLab.Item")["paths"]
        self.assertEqual([(r["depth"], r["count"], r["bytes"]) for r in lines], [(r["depth"], r["count"], r["bytes"]) for r in want])
        self.assertEqual([r["step"] for r in lines if r["depth"] == 1], [r["type"] for r in want if r["depth"] == 1])
        to_root = client.all("paths", "lines", type="HeapLab.Item", to_root=True, full=True)
        want = self.json("paths", "--type", "HeapLab.Item", "--to-root")["paths"]
        self.assertEqual([(r["depth"], r["count"]) for r in to_root], [(r["depth"], r["count"]) for r in want])
        item = client.call("type", type="HeapLab.Item")["objects"][0]["object"]
        paths = client.all("paths", "paths", object=item, full=True)
        want = self.json("paths", "--object", item, "--sysroot", self.dir)["paths"]
        keys = ("path", "depth", "kind", "bytes", "object", "step")
        self.assertEqual(paths, [{k: r[k] for k in keys if r[k] is not None} for r in want])
        self.assertIn("one of", client.error("paths"))
        self.assertRegex(client.error("paths", object=99999999), r"there is no object 99999999; they are numbered from 0 to \d+")
        self.assertIn("there is no object at 0x10; addresses differ between dumps", client.error("paths", object="0x10"))
        self.assertIn("one of", client.error("paths", type="x", object=1))

    def test_lists_of_objects_name_the_field_of_each_reference(self):
        core = os.path.join(ROOT, "net10-core", "heap.core.gz")
        self.done("convert", core, "-o", self.path("fields.nettrace"))
        rows = json.loads(self.done("sql", "fields.nettrace", "--json", "select from_id, to_id, max(field) from edges where from_id in "
                                    "(select from_id from edges where field != '' limit 12) group by 1, 2 having count(*) = 1 and max(field) != ''"
                                    ).text)["rows"]
        client = self.serve(root=self.dir)
        client.call("open", file="fields.nettrace")
        self.assertGreater(len(rows), 10)
        for source, target, field in rows:
            for about, which, other in ((source, "refers_to", target), (target, "referred_by", source)):
                address = client.call("object", object=other)["object"]
                found = client.all("object", "objects", object=about, list=which)
                self.assertEqual([re.sub(r"^\[\d*\]\.", "", r["field"]) for r in found if r["object"] == address], [field], which)

    def test_keys_are_shown_only_if_the_operator_allows_it(self):
        """The key of a dictionary in a path, and texts in SQL: the client has no say in it."""
        core = os.path.join(ROOT, "net10-core", "heap.core.gz")
        self.done("convert", core, "-o", self.path("texts.nettrace"), "--values", "strings")       # it has them, whoever asks
        want = json.loads(self.done("sql", core, "--json", "select max(to_id) from edges join objects o on o.id = from_id "
                                    "where field = 'value' and o.type like '%OverrideEventProvider%Entry[]'").text)["rows"][0][0]
        for words, key in ((), None), (("--show-values",), "System.Diagnostics.Metrics"), (("--show-values=none",), None):
            client = self.serve(*words, root=self.dir)
            client.call("open", file="texts.nettrace")
            steps = " ".join(r["step"] for r in client.all("paths", "paths", object=want))
            self.assertEqual(f'["{key}"]' in steps, key is not None, steps)
            self.assertEqual('["' in steps, key is not None, steps)
            self.assertEqual(client.call("sql", statement="select count(*) from strings where text is not null")["rows"], [[617 if key else 0]])

    def test_strings_and_exceptions(self):
        """Numbers and fields without --show-values, but neither texts nor hashes of them, by which a client could try texts."""
        core = os.path.join(ROOT, "net10-core", "heap.core.gz")
        self.done("convert", core, "-o", self.path("texts.nettrace"), "--values", "strings")
        want = json.loads(self.done("strings", "texts.nettrace", "--json").text)
        thrown = json.loads(self.done("exceptions", "texts.nettrace", "--json", "--show-values").text)
        secret = {"text", "shown", "cut", "masked", "hash", "stack_trace"}
        for words in ((), ("--show-values",)):
            client = self.serve(*words, root=self.dir)
            client.call("open", file="texts.nettrace")
            got = client.call("strings")
            self.assertEqual((got["string_totals"], got["total"]), (want["string_totals"], len(want["strings"])))
            for list_name, more in (("strings", {}), ("arrays", {"arrays": True})):
                rows = client.all("strings", list_name, **more)
                self.assertEqual([(r["count"], r["wasted_bytes"], r.get("held_by")) for r in rows],
                                 [(r["count"], r["wasted_bytes"], r["held_by"]) for r in want[list_name]])
                self.assertEqual(bool(secret & set().union(*rows)), bool(words) and list_name == "strings", list_name)
            found = client.call("exceptions")
            self.assertEqual(found["count"], thrown["count"])
            rows = client.all("exceptions", "exceptions", limit=1)
            self.assertEqual([(r["type"], r["count"]) for r in rows], [(r["type"], r["count"]) for r in thrown["exceptions"]])
            self.assertEqual([r.get("text") for r in rows], [r["text"] if words else None for r in thrown["exceptions"]])
            asked = {"type": "*.OverrideEventProvider", "field": "_providerName", "by": "value"}
            rows = client.all("retained", "field_values", limit=3, **asked)
            if words:
                table = json.loads(self.done("retained", "texts.nettrace", "--type", asked["type"], "--by", asked["field"], "--json", "--show-values").text)
                self.assertEqual([(r["text"], r["count"]) for r in rows], [(r["text"], r["count"]) for r in table["field_values"]])
            else:
                self.assertEqual([(r["type"], r["count"]) for r in rows], [("System.String", 8)])
            self.assertIn("_providerName", client.error("retained", **{**asked, "field": "State"}))
            self.assertIn('needs "field"', client.error("retained", type="x", by="value"))
            self.assertIn("retained by value", client.error("retained", field="x"))
            if words:
                text = next(r["text"] for r in want["strings"] if r["text"] and r["text"].isalnum())
                self.assertEqual([r["text"] for r in client.call("strings", filter=text)["strings"]], [text])
                self.assertIn("/", client.error("strings", filter="/(/"))
            else:
                self.assertIn("--show-values", client.error("strings", filter="*"))
        client = self.serve("--show-values")
        client.call("open", file="net10-core/heap.core.gz")
        self.assertEqual({r["name"]: r["count"] for r in client.all("retained", "field_values", by="value", type="HeapLab.Colour", field="value__")},
                         {"Red": 5, "Green": 5})
        client = self.opened("net10-wks")
        self.assertIn("--values strings", client.error("strings"))
        self.assertEqual(client.call("exceptions")["count"], self.json("exceptions", name="net10-wks")["count"])

    def test_async(self):
        client = self.opened()
        want, got = self.json("async"), client.call("async")
        self.assertEqual([r["stack"] for r in got["stacks"]], [" < ".join(f["name"] for f in s["frames"]) for s in want["stacks"]])
        self.assertEqual((got["operations"], got["bytes"]), (want["operations"], want["bytes"]))
        self.assertEqual(client.call("async", filter="HeapLab.*")["total"], 1)
        self.assertEqual(client.call("async", filter="Nothing.*")["total"], 0)
        self.assertIn("/", client.error("async", filter="/(/"))

    def test_diff(self):
        client = self.opened("net8-wks")
        client.call("open", file=file_of("net10-wks"))
        want = json.loads(self.done("diff", trace("net8-wks"), trace("net10-wks"), "--json", "--retained").text)["types"]
        got = client.all("diff", "types", old="h1", new="h2", retained=True, limit=10)
        self.assertEqual([(r["type"], r["count_delta"], r["bytes_delta"], r["retained_delta"]) for r in got],
                         [(r["type"], r["count_delta"], r["bytes_delta"], r["retained_delta"]) for r in want])
        for sort in ("count", "name", "retained"):
            words = "--json", "--retained", "--sort", sort
            want = json.loads(self.done("diff", trace("net8-wks"), trace("net10-wks"), *words).text)["types"]
            got = client.all("diff", "types", old="h1", new="h2", retained=True, sort=sort, limit=100)
            self.assertEqual([r["type"] for r in got], [r["type"] for r in want], sort)
        page = client.call("diff", old="h1", new="h2", filter="System.String")
        self.assertEqual([r["type"] for r in page["types"]], ["System.String"])
        self.assertTrue(any("different program" in n for n in page["notes"]), page["notes"])
        self.assertIn('"new"', client.error("diff", old="h1"))
        self.assertIn("no heap", client.error("diff", old="h1", new="h9"))

    def test_what_has_grown(self):
        """suspects with since: the rows of leaks OLD NEW, in its order."""
        shop = [f"shop/{name}.nettrace.gz" for name in ("morning", "evening")]
        want = json.loads(self.done("leaks", *(os.path.join(ROOT, s) for s in shop), "--json").text)
        client = self.serve()
        for name in shop:
            client.call("open", file=name)
        got = client.call("suspects", heap="h2", since="h1")
        keys = "place", "grown", "bytes", "bytes_delta", "advice", "evidence"
        self.assertEqual([[r[k] for k in keys] for r in got["suspects"]], [[r[k] for k in keys] for r in want["suspects"]])
        self.assertEqual((got["older_heap_bytes"], got["heap_bytes"], got["total"]), (want["older_heap_bytes"], want["heap_bytes"], 2))
        self.assertEqual(len(client.all("suspects", "suspects", heap="h2", since="h1", limit=1)), 2)
        self.assertNotIn("grown", client.call("suspects", heap="h2")["suspects"][0])
        got = client.call("suspects", heap="h1", since="h2")
        self.assertEqual((got["suspects"], got["none"]), ([], "No suspect has grown much between the two dumps."))
        self.assertIn("the same heap", client.error("suspects", heap="h1", since="h1"))
        self.assertIn("no heap", client.error("suspects", heap="h1", since="h7"))

    @unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
    def test_sql(self):
        client = self.opened()
        statement = "SELECT type, count(*), sum(size) FROM objects GROUP BY type ORDER BY type"
        want = json.loads(self.done("sql", trace("net10-wks-ranges"), "--json", statement).text)
        self.assertEqual(client.all("sql", "rows", statement=statement, limit=20), want["rows"])
        page = client.call("sql", statement="SELECT NULL, 1, 0.25, 'text', x'01ff', 9223372036854775807 AS big")
        self.assertEqual((page["rows"], page["columns"][-1], page["total"]), ([[None, 1, 0.25, "text", "X'01ff'", 2**63 - 1]], "big", 1))
        many = client.call("sql", statement="SELECT a.id FROM objects a, objects b LIMIT 200000")
        self.assertEqual((len(many["rows"]), many["total"]), (25, None))
        error = client.error("sql", statement="SELECT typ FROM objects")
        self.assertRegex(error, r"\Ano such column: typ, at byte 8: typ FROM objects; there are objects, types, .*refs, .*reachable_from.*; PRAGMA table_xinfo")
        columns = {row[1] for row in client.all("sql", "rows", statement="PRAGMA table_xinfo(objects)")}
        self.assertLessEqual({"id", "type", "size", "retained", "dominator", "address", "generation", "depth"}, columns)
        for table, some in (("refs", {"source", "target", "ordinal"}), ("types", {"id", "name", "module", "objects", "bytes"})):
            self.assertLessEqual(some, {row[1] for row in client.all("sql", "rows", statement=f"PRAGMA table_xinfo({table})")})
        for wrong in ("", "-- nothing", "SELECT 1; SELECT 2", "DROP TABLE objects", "ATTACH 'x' AS y", "SELECT ("):
            self.assertNotEqual(client.error("sql", statement=wrong), "", wrong)
        self.assertIn("within 1 s", client.error("sql", statement=ENDLESS, seconds=1))
        self.assertEqual(client.call("sql", statement="SELECT count(*) FROM objects")["rows"], [[17646]])

    def test_incomplete(self):
        """Every answer about the heap says it, in the words of the commands."""
        for name in sorted(INCOMPLETE):
            client = self.serve()
            opened = client.call("open", file=file_of(name))
            self.assertEqual(opened["complete"], False)
            reasons = self.json("info", name=name, code=3)["verdict"]["reasons"]
            self.assertEqual(client.call("summary")["reasons"], [r["text"] if isinstance(r, dict) else r for r in reasons])
            for tool in ("summary", "suspects", "types", "retained", "tree", "async"):
                answer = client.call(tool)
                self.assertIn("incomplete", answer["incomplete"], tool)
                self.assertEqual(next(iter(answer)), "incomplete", tool)
            self.end(client)

    def test_processes(self):
        client = self.serve()
        result = client.result("list_processes")
        if os.environ.get("GCDUMPC_IPC") == "OFF":
            self.assertIn("cannot talk to processes", result["content"][0]["text"])
        else:
            self.assertIn("processes", result["structuredContent"])
        self.assertIn("--allow-collect", client.error("collect", pid=1, file="x.nettrace"))
        client = self.serve("--allow-collect", root=self.dir)
        self.assertIn("collect", client.tools())
        if os.environ.get("GCDUMPC_IPC") != "OFF":
            self.assertIn("list_processes", client.error("collect", pid=2**31 - 1, file="x.nettrace"))
            self.assertIn("ends with .nettrace", client.error("collect", pid=1, file="x.txt"))
            self.assertIn("below", client.error("collect", pid=1, file="../x.nettrace", confirm=True))


class Pages(McpTest):
    def test_pages(self):
        client = self.opened()
        first = client.call("types")
        self.assertEqual((len(first["types"]), first["total"]), (25, 201))
        self.assertRegex(first["cut"], r"rows 1 to 25 of 201; next_cursor .*limit")
        everything = client.call("types", limit=1000, max_chars=1_000_000)
        self.assertEqual((len(everything["types"]), everything["cut"], everything["next_cursor"]), (201, None, None))
        for limit in (1, 7, 200, 201):
            self.assertEqual(client.all("types", "types", limit=limit, max_chars=1_000_000), everything["types"], limit)
        self.assertEqual([r["bytes"] for r in client.all("types", "types", max_chars=1000)], [r["bytes"] for r in everything["types"]])
        last = {"next_cursor": None}
        for _ in range(3):
            last = client.call("types", limit=100, max_chars=100_000, cursor=last["next_cursor"])
        self.assertEqual(last["cut"], "rows 201 to 201 of 201")

    def test_size(self):
        """By default at most 25 rows and 8,000 characters for any call; a row that is larger comes alone."""
        client = self.opened("net10-wks-nonames")
        for words in (("types",), ("retained",), ("tree",), ("suspects",), ("paths", "type", "*"), ("object", "object", 5), ("type", "type", "*")):
            page = client.call(words[0], **({words[1]: words[2]} if len(words) > 1 else {}))
            rows = next(v for k, v in page.items() if isinstance(v, list) and v and isinstance(v[0], dict)) if page["total"] else []
            self.assertLessEqual(len(rows), 25, words)
            self.assertLessEqual(len(json.dumps(rows, separators=(",", ":"))), 8000 + 2 + len(rows), words)

    @unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
    def test_long_texts(self):
        client = self.opened()
        page = client.call("sql", statement="SELECT printf('%.*c', 5000, 'x'), 'ü' || printf('%.*c', 2000, 'y')")
        self.assertTrue(page["rows"][0][0].startswith("x" * 1000 + "... (4,000 more bytes)"), page["rows"][0][0][-80:])
        self.assertRegex(page["cut"], r"2 texts are shortened to 1000 characters; max_chars")
        page = client.call("sql", statement="SELECT printf('%.*c', 5000, 'x')", max_chars=64000)
        self.assertEqual((len(page["rows"][0][0]), page["cut"]), (5000, None))

    def test_cursors_of_other_questions(self):
        client = self.opened()
        cursor = client.call("types")["next_cursor"]
        for arguments in ({"sort": "name"}, {"retained": True}, {"filter": "*"}):
            self.assertIn("another question", client.error("types", cursor=cursor, **arguments))
        self.assertIn("another question", client.error("retained", cursor=cursor))
        for wrong in ("", "x", "0", "-1", cursor + "0", "ffffffffffffffff" + cursor[2:], cursor.upper() + " "):
            self.assertIn("another question", client.error("types", cursor=wrong))
        client.call("open", file=file_of("net10-wks"))
        self.assertIn("another question", client.error("types", cursor=cursor, heap="h2"))
        self.assertEqual(len(client.call("types", cursor=cursor, heap="h1", limit=3)["types"]), 3)


class Heaps(McpTest):
    def test_several(self):
        client = self.serve()
        self.assertIn("no heap is open", client.error("types"))
        for i, name in enumerate(("net8-wks", "net10-wks", "net9-svr")):
            self.assertEqual(client.call("open", file=file_of(name))["heap"], f"h{i + 1}")
        self.assertIn("h1, h2, h3", client.error("types"))
        self.assertIn("h1, h2, h3", client.error("types", heap="h4"))
        self.assertEqual(client.call("summary", heap="h2")["file"], file_of("net10-wks"))
        self.assertEqual(client.call("close", heap="h2"), {"closed": "h2", "open": 2})
        self.assertIn("h1, h3", client.error("types", heap="h2"))
        self.assertEqual(client.call("open", file=file_of("net10-wks"))["heap"], "h4")
        for _ in range(13):
            client.call("open", file=file_of("net10-wks"))
        self.assertIn("close one", client.error("open", file=file_of("net10-wks")))

    def test_walks_of_a_recording(self):
        client = self.serve()
        one = client.call("open", file=file_of("net8-wks-two-dumps"))
        two = client.call("open", file=file_of("net8-wks-two-dumps"), walk=2)
        self.assertNotEqual(one["heap"], two["heap"])
        self.assertIn("2", client.error("open", file=file_of("net8-wks-two-dumps"), walk=3))

    def test_memory(self):
        """Several heaps share --memory: what does not fit goes to a file."""
        client = self.serve("--memory", "64M", "--spill-dir", self.tmp)
        for _ in range(3):
            client.call("open", file=file_of("net10-wks"))
        self.assertEqual(client.call("types", heap="h3")["total"], 201)

    def test_a_file_that_disappears(self):
        with open(trace("net10-wks"), "rb") as f:
            self.put("gone.nettrace.gz", f.read())
        client = self.serve(root=self.dir)
        client.call("open", file="gone.nettrace.gz")
        os.unlink(self.path("gone.nettrace.gz"))
        self.assertEqual(client.call("summary")["objects"], 17646)
        self.assertIn("does not exist", client.error("open", file="gone.nettrace.gz"))
        self.assertEqual(client.call("types")["total"], 201)


class Root(McpTest):
    def test_files_outside_the_root_are_refused(self):
        for name in ("in/deep", "out"):
            os.makedirs(self.path(name))
        with open(trace("net10-wks"), "rb") as f:
            data = f.read()
        for name in ("in/heap.nettrace.gz", "in/deep/heap.nettrace.gz", "out/secret.nettrace.gz"):
            self.put(name, data)
        os.symlink("../out/secret.nettrace.gz", self.path("in/link.nettrace.gz"))
        os.symlink("../out", self.path("in/folder"))
        os.symlink("heap.nettrace.gz", self.path("in/inner.nettrace.gz"))
        client = self.serve(root=self.path("in"))
        for name in ("../out/secret.nettrace.gz", "deep/../../out/secret.nettrace.gz", self.path("out/secret.nettrace.gz"), "link.nettrace.gz",
                     "folder/secret.nettrace.gz", "inner.nettrace.gz", "/etc/passwd", "/proc/self/fd/0", "..", self.path("in") + "x/heap.nettrace.gz",
                     self.path("in") + "/../out/secret.nettrace.gz"):
            self.assertRegex(client.error("open", file=name), r"files are only read and written below .*/in, without links", name)
        for name in ("heap.nettrace.gz", "./heap.nettrace.gz", "deep//heap.nettrace.gz", self.path("in/heap.nettrace.gz"), self.path("in") + "//deep/heap.nettrace.gz"):
            client.call("open", file=name)
        self.assertRegex(client.error("open", file="nothing.gclog"), r"does not exist in .*; there are: deep/, heap.nettrace.gz\Z")
        for name in ("", ".", "deep", "heap.nettrace.gz/x", "x" * 300, "x" * 50000 + "/x", "a/" * 3000 + "x", "heap.nettrace.gz\n"):
            self.assertNotEqual(client.error("open", file=name), "", name)

    def test_links_pipes_and_devices_are_refused(self):
        os.mkfifo(self.path("fifo.nettrace"))
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(self.path("socket.nettrace"))
        self.put("text.nettrace", b"hello")
        self.put("empty.nettrace", b"")
        client = self.serve(root=self.dir)
        for name in ("fifo.nettrace", "socket.nettrace", "text.nettrace", "empty.nettrace"):
            error = client.error("open", file=name)
            self.assertIn(name, error)
            self.assertNotIn("/proc/self", error)

    def test_without_root(self):
        client = self.serve(root=None)
        self.assertIn("--root", client.error("open", file=trace("net10-wks")))


class Hostile(McpTest):
    def test_arguments(self):
        """Any value for any argument of any tool: an answer, or a sentence; never silence."""
        client = self.opened()
        values = [None, True, 0, -1, 1.5, 2**63 - 1, -2**63, "", "x", "\0", "x" * 70_000, "\u202e\x1b[31m", "%s%n", [], [1], {}, {"a": 1}, "0x", "0xffffffffffffffff",
                  "99999999999999999999", "*", "/(/", "//", "/" + "(a*)*" * 30 + "b/", "module(", "/[[:alpha:]]*/"]
        for name, tool in client.tools().items():
            if name in ("close", "open"):
                continue
            need = {"type": "System.String", "object": 5, "old": "h1", "new": "h1", "statement": "SELECT 1"}
            required = {k: need[k] for k in tool["inputSchema"]["required"]}
            for argument in tool["inputSchema"]["properties"]:
                for value in values:
                    if (name, argument, value) == ("sql", "seconds", None):
                        continue
                    result = client.result(name, **{**required, argument: value})
                    if result.get("isError"):
                        text = result["content"][0]["text"]
                        self.assertTrue(0 < len(text) < 100_000, (name, argument, value))
            self.assertIn("has no argument", client.error(name, **required, nonsense=1))
        self.assertIn("NUL", client.error("types", filter="*\0"))
        for limit in (0, -1, 1001, 2**63 - 1):
            self.assertIn("from 1 to 1000", client.error("types", limit=limit))
        self.assertIn("types has no argument \"filtre\" (did you mean \"filter\"?)", client.error("types", filtre="x"))
        self.end(client)

    @unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
    def test_cancel(self):
        client = self.opened()
        one = client.ask("tools/call", {"name": "sql", "arguments": {"statement": ENDLESS, "seconds": 3600}})
        two = client.ask("tools/call", {"name": "sql", "arguments": {"statement": ENDLESS, "seconds": 3600}})
        three = client.ask("tools/call", {"name": "types"})
        client.send({"method": "notifications/cancelled", "params": {"requestId": two}})   # it waits
        time.sleep(0.2)                  # so that the first one is more likely to run
        client.send({"method": "notifications/cancelled", "params": {"requestId": one, "reason": "no more"}})
        self.assertEqual(client.answer(three)["result"]["structuredContent"]["total"], 201)
        self.assertEqual(client.others, [])              # no answer to what was canceled
        client.send({"method": "notifications/cancelled", "params": {"requestId": three}})
        self.assertEqual(client.call("summary")["objects"], 17646)
        self.end(client)

    @unittest.skipUnless(HAVE_SQLITE, "built without SQLite")
    def test_too_many_calls(self):
        client = self.opened()
        numbers = [client.ask("tools/call", {"name": "sql", "arguments": {"statement": ENDLESS, "seconds": 3600}}) for _ in range(40)]
        refused = [client.line() for _ in range(7)]
        self.assertTrue(all("too many calls" in m["error"]["message"] for m in refused))
        for number in numbers:
            client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
        self.assertEqual(client.call("summary")["objects"], 17646)

    def test_progress(self):
        client = self.serve()
        client.ask("tools/call", {"name": "open", "arguments": {"file": file_of("net10-wks-lossy")}, "_meta": {"progressToken": "p"}}, 1)
        client.answer(1)
        progress = [m["params"] for m in client.notifications if m["method"] == "notifications/progress"]
        self.assertTrue(progress)
        self.assertTrue(all(p["progressToken"] == "p" for p in progress))
        values = [p["progress"] for p in progress]
        self.assertEqual(values, sorted(set(values)))
        client.notifications.clear()
        client.call("suspects")
        self.assertEqual(client.notifications, [])       # no call asked for progress

    def test_hostile_names(self):
        """A hostile name of a type reaches the client as JSON, nothing more."""
        from cli_support import types_trace
        self.put("x.nettrace", types_trace(("Evil\x1b[31m\n{\"jsonrpc\"", 2, 24), ("a\u202eb", 1, 24), ("long" * 4000, 1, 24)))
        client = self.serve(root=self.dir)
        client.call("open", file="x.nettrace")
        rows = client.all("types", "types")
        self.assertEqual(len(rows), 3)
        self.assertIn("Evil\x1b[31m\n{\"jsonrpc\"", [r["type"] for r in rows])


if __name__ == "__main__":
    main()
