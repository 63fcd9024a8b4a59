"""async: stacks of asynchronous operations with known numbers; text, JSON and CSV say the same; what is refused."""
import csv
import io
import json
import re
import subprocess

from cli_support import SECONDS, CliTest, main, trace
from mcp_client import MODERN, Client
from test_retained_paths import heap

BUILDER = "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1"
CALL, SEND = f"{BUILDER}[System.Int32,Shop.Rpc+<Call>d__1]", f"{BUILDER}[System.Int32,Shop.Rpc+<Send>d__2]"
TASK = "System.Threading.Tasks.Task"


def shop(calls=5):
    """CALLS calls that wait for replies, two that wait for all of two delays, one that is over, one that probably waits for a bell."""
    objects = {"app": ("Shop.App", 40, []), "over": (CALL, 96, ["sentinel"]), "sentinel": ("System.Object", 24, []),
               "bell": ("Shop.Bell", 24, ["action"]), "action": ("System.Action", 64, ["rings"]),
               "rings": (f"{BUILDER}[System.Int32,Shop.Door+<RingAsync>d__0]", 112, ["action", "bell", "rings"])}
    kept = ["over", "bell"]
    for i in range(calls):
        objects[f"call{i}"] = (CALL, 120, [f"text{i}", f"call{i}", f"send{i}"])
        objects[f"send{i}"] = (SEND, 130, [f"call{i}", f"text{i}", f"send{i}", f"task{i}"])
        objects[f"task{i}"] = (f"{TASK}`1[Shop.Reply]", 72, [f"send{i}"])
        objects[f"text{i}"] = ("System.String", 1000 + i, [])
        kept += [f"call{i}", f"task{i}"]
    for i in range(2):
        objects[f"all{i}"] = (f"{BUILDER}[System.Int32,Shop.Batch+<>c+<<RunAsync>b__3>d]", 104, [f"all{i}", f"promise{i}"])
        objects[f"promise{i}"] = (f"{TASK}+WhenAllPromise", 72, [f"all{i}"])
        for k in "ab":
            objects[f"delay{i}{k}"] = (f"{TASK}+DelayPromise", 72, [f"promise{i}"])
            kept.append(f"delay{i}{k}")
    objects["app"] = ("Shop.App", 40, kept)
    return heap(objects, [("app", "s_app")])[0]


def deep():
    """A stack with a hundred methods."""
    objects = {"app": ("Shop.App", 40, ["delay"]), "delay": (f"{TASK}+DelayPromise", 72, ["box0"])}
    for i in range(100):
        above = [f"box{i + 1}"] if i < 99 else []
        objects[f"box{i}"] = (f"{BUILDER}[System.Int32,Shop.Deep+<M{i}>d__0]", 100, [*above, f"box{i}", f"box{i - 1}" if i > 0 else "delay"])
    return heap(objects, [("app", "s_app")])[0]


STACKS = [
    {"count": 5, "old": None, "bytes": 5 * (120 + 130 + 1000) + 10, "certain": True, "cut": False, "frames": [
        {"name": "TaskCompletionSource<Shop.Reply>", "kind": "task_source", "certain": True, "repeats": False},
        {"name": "Shop.Rpc.Send", "kind": "method", "certain": True, "repeats": False},
        {"name": "Shop.Rpc.Call", "kind": "method", "certain": True, "repeats": False}]},
    {"count": 4, "old": None, "bytes": 2 * (104 + 72), "certain": True, "cut": False, "frames": [
        {"name": "Task.Delay", "kind": "delay", "certain": True, "repeats": False},
        {"name": "Task.WhenAll", "kind": "when_all", "certain": True, "repeats": False},
        {"name": "Shop.Batch.RunAsync (lambda)", "kind": "method", "certain": True, "repeats": False}]},
    {"count": 1, "old": None, "bytes": 112, "certain": False, "cut": False, "frames": [
        {"name": "Shop.Bell", "kind": "other", "certain": True, "repeats": False},
        {"name": "Shop.Door.RingAsync", "kind": "method", "certain": False, "repeats": False}]},
]


class Async(CliTest):
    def json(self, *words, code=0):
        got = json.loads(self.done("async", *words, "--json", "-q", code=code).text)
        self.assertEqual(got["schema"], 2)
        for s in got["stacks"]:
            frames = s["frames"]
            self.assertEqual([s.pop(k) for k in ("waits_for", "kind", "depth", "stack")],
                             [frames[0]["name"], frames[0]["kind"], len(frames), " < ".join(f["name"] for f in frames)])
        return got

    def test_json(self):
        self.put("in", shop())
        got = self.json("in")
        self.assertEqual(got.pop("stacks"), STACKS)
        self.assertEqual(got.pop("completed"), [{"name": "Shop.Rpc.Call", "count": 1, "bytes": 96}])
        self.assertTrue(got.pop("verdict")["complete"])
        del got["schema"], got["recording"]
        heap_bytes = 40 + 96 + 24 + 24 + 64 + 112 + 5 * (120 + 130 + 72 + 1000) + 10 + 2 * (104 + 3 * 72)
        self.assertEqual(got, {"waiting": [], "names_missing": None, "heap_bytes": heap_bytes, "operations": 15, "stack_count": 10, "old_stacks": None, "probable_stacks": 1,
                               "bytes": sum(s["bytes"] for s in STACKS), "different": 3, "completed_count": 1, "completed_bytes": 96,
                               "runtime_async_calls": 0, "runtime_async_objects": 0, "fsharp_async_objects": 0})

    def test_text(self):
        self.put("in", shop())
        self.expected("async.txt", self.done("async", "in").text)
        self.expected("async-top.txt", self.done("async", "in", "--top", "1").text)
        self.expected("async-net10-wks-ranges.txt", self.done("async", self.link("net10-wks-ranges")).text)
        self.put("none", heap({"app": ("Shop.App", 40, [])}, [("app", "s_app")])[0])
        self.assertEqual(self.done("async", "none").text, "No asynchronous operation waits.\n")

    def test_async_of_fsharp(self):
        """Its computations are no tasks: they are not read, and that is said."""
        control = "Microsoft.FSharp.Control"
        self.put("in", heap({"app": ("Shop.App", 40, ["agent", "aux"]), "agent": (f"{control}.FSharpMailboxProcessor`1[Shop.Msg]", 72, []),
                             "aux": (f"{control}.AsyncActivationAux", 56, []), "other": (f"{control}.Latch", 24, [])}, [("app", "s_app")])[0])
        self.assertEqual(self.done("async", "in").text, "No async method with a state machine waits.\n\nF# async computations are not read: "
                         "what they and their agents wait for is not known (objects of them: 2).\n")
        self.assertEqual(self.json("in")["fsharp_async_objects"], 2)

    def test_runtime_async(self):
        """As .NET 10 makes it with DOTNET_RuntimeAsync=1: counted, and said to be unknown."""
        helpers = "System.Runtime.CompilerServices.AsyncHelpers+ThunkTask`1[System.Int32]"
        self.put("in", heap({"app": ("Shop.App", 40, ["task", "next"]), "task": (helpers, 72, []),
                             "next": ("System.Runtime.CompilerServices.Continuation", 56, [])}, [("app", "s_app")])[0])
        self.assertEqual(self.done("async", "in").text, "No async method with a state machine waits.\n\n"
                         "Objects of runtime async: 2. What those methods wait for is not known.\n")
        self.assertEqual(self.json("in")["runtime_async_objects"], 2)

    def test_csv(self):
        self.put("in", shop())
        rows = list(csv.DictReader(io.StringIO(self.done("async", "in", "--csv", "-q").text, newline="")))
        self.assertEqual([{"count": str(s["count"]), "old": "", "bytes": str(s["bytes"]), "certain": str(int(s["certain"])), "cut": str(int(s["cut"])),
                           "waits_for": s["frames"][0]["name"], "kind": s["frames"][0]["kind"], "depth": str(len(s["frames"])),
                           "stack": " < ".join(f["name"] for f in s["frames"])} for s in STACKS], rows)

    def test_chosen(self):
        """Stacks chosen by a pattern for any of the frames, by bytes, by number."""
        self.put("in", shop())
        for words, wanted in (("--filter=Shop.Rpc.*",), [0]), (("--filter=/WhenAll$/",), [1]), (("--filter=Task.Delay",), [1]), \
                (("--filter=Shop.*",), [0, 1, 2]), (("--filter=Shop.Rpc",), []), (("--min-bytes=300",), [0, 1]), (("--top=2",), [0, 1]), \
                (("--filter=Shop.*", "--top=1", "--min-bytes=112"), [0]):
            got = self.json("in", *words)
            self.assertEqual(got["stacks"], [STACKS[i] for i in wanted], words)
            self.assertEqual(got["operations"], 15)
        self.refused(2, '--filter /\\(/: a "\\(" is not closed', "async", "in", "--filter", "/(/")
        self.refused(2, "give one of --json and --csv; .*", "async", "in", "--json", "--csv")
        self.refused(2, "a file is needed; see gcdumpc async --help", "async")
        self.refused(2, r'there is no command "dumpasync" \(did you mean "async"\?\); see gcdumpc --help', "dumpasync", "in")

    def test_own_stacks_first(self):
        """Stacks with code of the program come first; an idle framework is one line, unless --top or --filter asks; JSON has all,
        and agents get it last."""
        http = f"{BUILDER}[System.Int32,System.Net.Http.HttpConnection+<SendAsync>d__1]"
        objects, kept = {}, ["wait"]
        for i in range(3):
            objects |= {f"send{i}": (http, 90, [f"send{i}", f"socket{i}"]),
                        f"socket{i}": ("System.Net.Sockets.Socket+AwaitableSocketAsyncEventArgs", 80, [f"send{i}"])}
            kept.append(f"socket{i}")
        objects |= {"call": (CALL, 90, ["call", "wait"]), "wait": (TASK, 64, ["call"]), "app": ("Shop.App", 40, kept)}
        self.put("in", heap(objects, [("app", "s_app")])[0])
        line = "(Only the framework waits for 3 sockets of HttpClient; --top lists them)"
        text = self.done("async", "in", "-q").text
        self.assertIn("Shop.Rpc.Call\n" + line, text)
        self.assertNotIn("System.Net.Http", text)
        for words in ("--top=9",), ("--filter=*",):
            text = self.done("async", "in", "-q", *words).text
            self.assertRegex(text, r"(?s)Shop\.Rpc\.Call.*System\.Net\.Http\.HttpConnection\.SendAsync")
            self.assertNotIn(line, text)
        self.assertEqual([s["count"] for s in self.json("in")["stacks"]], [3, 1])
        process = self.start("mcp", "--root", self.dir, stdin=subprocess.PIPE)
        client = Client(process, MODERN, 4 * SECONDS)
        client.call("open", file="in")
        self.assertEqual([s["count"] for s in client.call("async")["stacks"]], [1, 3])
        self.finish(process, b"")

    def test_framework_behind_own_code_is_one_line(self):
        """What differs only behind the last own method is one entry, and the more frequent comes first."""
        objects, kept = {}, []

        def wait(name, *methods):
            kept.append(f"{name}-task")
            objects[f"{name}-task"] = (f"{TASK}`1[Shop.Reply]", 72, [f"{name}0"])
            for k, m in enumerate(methods):
                below, above = f"{name}{k - 1}" if k > 0 else f"{name}-task", [f"{name}{k + 1}"] if k + 1 < len(methods) else []
                objects[f"{name}{k}"] = (f"{BUILDER}[System.Int32,{m}]", 100, [*above, f"{name}{k}", below])
        for i in range(3):
            wait(f"other{i}-", "Shop.Rpc+<Send>d__2")
        for i in range(4):
            wait(f"call{i}-", "Shop.Rpc+<Call>d__1", "System.Net.Hub+<Route>d__1", "System.Net.Hub+<Serve>d__2", *["System.Net.Hub+<Loop>d__3"][:i % 2])
        wait("one-", "Shop.Rpc+<One>d__4", "System.Net.Hub+<Serve>d__2")
        objects["app"] = ("Shop.App", 40, kept)
        self.put("in", heap(objects, [("app", "s_app")])[0])
        rows = [line.split(maxsplit=2) for line in self.done("async", "in", "-q").text.splitlines()[3:]]
        self.assertEqual([" ".join(r) for r in rows], [
            "4 1400 TaskCompletionSource<Shop.Reply>", "Shop.Rpc.Call", "... 3 framework steps or fewer", "3 300 TaskCompletionSource<Shop.Reply>",
            "Shop.Rpc.Send", "1 200 TaskCompletionSource<Shop.Reply>", "Shop.Rpc.One", "System.Net.Hub.Serve"])
        self.assertIn("System.Net.Hub.Loop", self.done("async", "in", "-q", "--filter=*").text)
        self.assertEqual([s["count"] for s in self.json("in")["stacks"]], [3, 2, 2, 1])

    def test_recordings(self):
        """Each of HeapLab's heaps has one method that waits."""
        for name in "net8-wks", "net8-svr", "net9-wks", "net10-svr", "net10-wks-names", "net10-wks-ranges":
            got = self.json(trace(name))
            self.assertEqual([[f["name"] for f in s["frames"]] for s in got["stacks"]], [["TaskCompletionSource<HeapLab.Point>", "HeapLab.Machines.WaitFor"]])
            self.assertEqual(got["old_stacks"], 1 if name.endswith(("names", "ranges")) else None)

    def test_flame_graphs(self):
        """Collapsed stacks begin with the outermost method and count what waits; pprof has both numbers."""
        self.put("in", shop())
        lines = ["Shop.Batch.RunAsync (lambda);Task.WhenAll;Task.Delay 4", "Shop.Door.RingAsync;Shop.Bell 1",
                 "Shop.Rpc.Call;Shop.Rpc.Send;TaskCompletionSource<Shop.Reply> 5"]
        self.done("async", "in", "-o", "out.folded", "-q")
        self.assertEqual(self.get("out.folded").decode().splitlines(), lines)
        self.assertEqual(self.done("async", "in", "-o", "-", "--format", "collapsed").text.splitlines(), lines)
        self.done("async", "in", "-o", "out.pb", "-q")
        self.done("convert", "in", "--stack-by", "waits", "-o", "other.pb", "-q")
        profile = self.get("out.pb")
        self.assertEqual(profile, self.get("other.pb"))
        for text in b"waiting", b"retained", b"stacks: what asynchronous operations wait for", b"Shop.Rpc.Send":
            self.assertIn(text, profile)
        # a sample: the locations of its three frames, the innermost first; 5 stacks with 6260 bytes
        self.assertRegex(profile, rb"\x12\x0a\x0a\x03...\x12\x03\x05\xf4\x30")
        self.put("deep", deep())
        run = self.done("async", "deep", "-o", "deep.folded")
        self.assertEqual(self.get("deep.folded").decode(), ";".join(["...", *(f"Shop.Deep.M{i}" for i in reversed(range(63))), "Task.Delay 1"]) + "\n")
        self.assertIn("1 stack has more frames, and its outer ones are counted in frames", run.err.decode())
        self.refused(2, "out.html: async writes flame graphs: .*", "async", "in", "-o", "out.html")
        self.refused(2, "async -o writes all stacks: .*", "async", "in", "-o", "out.pb", "--top", "1")

    def page(self, source):
        self.done("convert", source, "-o", "x.html", "-q")
        text = self.get("x.html").decode()
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])

    def test_page(self):
        """The page has the same stacks; when nothing waits it has none."""
        self.put("in", shop())
        page = self.page("in")
        waits = page["waits"]
        self.assertEqual({key: waits[key] for key in ("operations", "stacks", "different", "bytes", "ages")},
                         {"operations": 15, "stacks": 10, "different": 3, "bytes": sum(s["bytes"] for s in STACKS), "ages": False})
        self.assertEqual([row[1:] for row in waits["rows"]], [[s["count"], 0, s["bytes"]] for s in STACKS])
        self.assertEqual([self.frames(waits, row) for row in waits["rows"]], [
            [(f["name"], (0 if f["certain"] else 1) + (2 if f["repeats"] else 0)) for f in s["frames"]] for s in STACKS])
        types = [page["names"][f[3]] for f in waits["frames"] if waits["names"][f[1]] == "Shop.Rpc.Send"]
        self.assertTrue(types[0].endswith("Shop.Rpc.<Send>d__2>"), types)
        self.put("none", heap({"app": ("Shop.App", 40, [])}, [("app", "s_app")])[0])
        self.assertNotIn("waits", self.page("none"))
        self.put("deep", deep())
        waits = self.page("deep")["waits"]
        row, = waits["rows"]
        self.assertEqual([name for name, _ in self.frames(waits, row)], ["Task.Delay", *(f"Shop.Deep.M{i}" for i in range(100))])

    def test_page_with_many_stacks(self):
        """The page has only as many stacks as it has room for, the most frequent first; each frame once."""
        objects, kept = {"app": ("Shop.App", 40, [])}, []
        for i in range(1100):
            for k in range(2 if i < 3 else 1):
                objects[f"d{i}-{k}"] = (f"{TASK}+DelayPromise", 72, [f"b{i}-{k}"])
                objects[f"b{i}-{k}"] = (f"{BUILDER}[System.Int32,Shop.Many+<M{i}>d__0]", 100, [f"b{i}-{k}", f"d{i}-{k}"])
                kept.append(f"d{i}-{k}")
        objects["app"] = ("Shop.App", 40, kept)
        self.put("many", heap(objects, [("app", "s_app")])[0])
        waits = self.page("many")["waits"]
        self.assertEqual((waits["different"], len(waits["rows"]), len(waits["frames"])), (1100, 1000, 1001))
        self.assertEqual([row[1] for row in waits["rows"]], [2] * 3 + [1] * 997)

    def frames(self, waits, row):
        """The innermost first."""
        found, at = [], row[0]
        while at >= 0:
            parent, name, flags, _ = waits["frames"][at]
            self.assertLess(parent, at)
            found.append((waits["names"][name], flags))
            at = parent
        return found[::-1]

    def test_damaged(self):
        got = self.json(trace("net10-wks-lossy"), code=3)
        self.assertFalse(got["verdict"]["complete"])
        self.assertIn("INCOMPLETE", self.done("async", trace("net10-wks-lossy"), code=3).text)
        self.assertEqual(self.done("async", trace("net10-wks-lossy"), "--strict", code=1).text, "")


if __name__ == "__main__":
    main()
