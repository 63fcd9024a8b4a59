"""Stacks of async methods, compared with ClrMD attached to the same living process.

ClrMD reads fields: what a task resumes (m_continuationObject), and what the awaiters in a state machine refer to.  gcdumpc has references without
names.  Both must give the same stacks, with the same counts, whether gcdumpc calls them certain or not.

The tests use the SDK's own runtime.  GCDUMPC_TEST_ASYNC=all: every runtime, with and without optimization; or some of them: "8/Release 9/Debug".
"""
import collections
import json
import os
import re
import subprocess
import unittest

from lab_programs import dac, program, wait_lab, waits_oracle
from live_support import RUNTIMES, SECONDS, LiveTest, Process, main, need, sdk_version

CHOSEN = os.environ.get("GCDUMPC_TEST_ASYNC", "").split()
REQUESTS = 40                    # of each kind, to the web server
LEAVES = (                       # type without arguments -> what it is called
    (r"System\.Threading\.Tasks\.Task\+DelayPromise(WithCancellation)?", "Task.Delay"),
    (r"System\.Threading\.SemaphoreSlim\+TaskNode", "SemaphoreSlim.WaitAsync"),
    (r"System\.Net\.Sockets\.Socket\+AwaitableSocketAsyncEventArgs", "Socket"),
    (r"Microsoft\.AspNetCore\.Server\.Kestrel\.Transport\.Sockets\.Internal\.Socket(Receiver|Sender)", "Socket (Kestrel)"),
    (r"System\.Threading\.Channels\.(Blocked|Waiting)ReadAsyncOperation", "Channel reader"),
    (r"System\.Threading\.Channels\.(Blocked|Waiting)WriteAsyncOperation|.*VoidAsyncOperationWithData", "Channel writer"),
    (r"System\.Threading\.PeriodicTimer\+State", "PeriodicTimer"),
    (r"System\.IO\.Pipelines\.Pipe\+DefaultPipe(Reader|Writer)", r"Pipe\1"),
    (r"Microsoft\.Win32\.SafeHandles\.SafeFileHandle\+ThreadPoolValueTaskSource", "File"),
)
BLOCKS = "(a thread blocks in Wait or Result)"
WHOLE_PROGRAM = r".*\.Main|Microsoft\.Extensions\.Hosting\.HostingAbstractionsHostExtensions\.RunAsync"   # for which a thread blocks as it should
COMBINED = (
    (r".*WhenAllPromise", "Task.WhenAll"), (r".*(TwoTaskWhenAnyPromise|CompleteOnInvokePromise)", "Task.WhenAny"), (r".*UnwrapPromise", "Task.Run or Unwrap"),
    (r".*Continuation(Result)?TaskFrom(Result)?Task", "Task.ContinueWith"), (r".*CancellationPromise", "Task.WaitAsync"),
    (r".*\+SetOn(Invoke|Countdown)Mres", BLOCKS), (r".*ValueTaskSourceAsTask", ""),
)
NOTHING = "nothing"              # queued, running or ready: the fields do not show which


def runs():
    """(runtime, configuration) of all runs."""
    own = int(need(sdk_version).split(".")[0])
    for runtime in RUNTIMES:
        for configuration in "Release", "Debug":
            if f"{runtime}/{configuration}" in (CHOSEN or (f"{own}/Release", f"{own}/Debug")) or CHOSEN == ["all"]:
                yield runtime, configuration


# -- what the fields say ------------------------------------------------------------------------------------------------

def without_arguments(name):
    while (shorter := re.sub(r"(?<=\w)<[^<>]*>", "", name)) != name:
        name = shorter
    return name


def machine(box):
    """The last type argument of a box; the type of the field has no more than System.__Canon for its arguments."""
    arguments, depth = re.fullmatch(r".*?StateMachineBox<(.*)>", box)[1], 0
    for i in reversed(range(len(arguments))):
        depth += (arguments[i] in ">]") - (arguments[i] in "<[")
        if depth == 0 and arguments[i] == ",":
            return arguments[i + 1:].strip()
    return arguments


def method(machine):
    """The name "N.Outer.Method<T>" from "N.Outer+<Method>d__1<T>"."""
    m = re.match(r"(.*?)\+?((?:<>c[^+]*\+)*)<(<(?P<in>[^<>]*)>(?P<kind>[gb$])(__(?P<local>[^|<>]*))?[^<>]*|(?P<plain>[^<>]*(<[^<>]*>[^<>]*)?))>d(__\d+)?(?P<arguments><.*>)?$", machine)
    if m is None:
        return machine.replace("+", ".")
    inner = m["plain"].split(".")[-1] if m["plain"] is not None else m["in"]
    if m["kind"] == "g":
        inner += "." + m["local"]
    elif m["kind"] == "b":
        inner += " (lambda)"
    return ".".join(filter(None, (m[1], inner))).replace("+", ".") + (m["arguments"] or "").replace("+", ".")


# all that the program continues with is in lambdas of one class
CALLBACK = "lambda in WaitLab.Combined"


class Truth:
    """The operations of process PID by the oracle's lines."""

    def __init__(self, pid, runtime, configuration):
        r = subprocess.run(["dotnet", need(waits_oracle), str(pid), need(dac, runtime, "built" if runtime == int(need(sdk_version).split(".")[0]) else "contained")],
                           capture_output=True, encoding="utf-8", timeout=SECONDS)
        if r.returncode != 0:
            raise AssertionError(f"the oracle: status {r.returncode}\n{r.stderr[:2000]}")
        self.tasks, self.boxes, self.others = {}, {}, {}
        for line in r.stdout.splitlines():
            record = json.loads(line)
            for key, into in (("task", self.tasks), ("other", self.others), ("box", self.boxes)):
                if key in record:
                    into[record[key]] = record
                    break
        self.awaited = collections.defaultdict(list)     # operation -> what it waits for
        self.machines = {b["machine"]: a for a, b in self.boxes.items() if b["machine"]}
        for address, box in self.boxes.items():
            if not box["over"]:
                self.awaited[address] = [a for a in box["awaits"] if not self.over(a)]
        for address, task in self.tasks.items():
            if address not in self.boxes and self.combined(address) is not None and not task["over"]:
                self.awaited[address] += [task["source"]] if task["source"] else []
        for address, other in self.others.items():
            if self.combined(address) is not None:
                self.awaited[address] = []
        for address, task in self.tasks.items():
            for resumed in task["resumes"] if not task["over"] else ():
                if resumed in self.awaited and resumed not in self.boxes and not self.tasks.get(resumed, {"source": ""})["source"]:
                    self.awaited[resumed].append(address)
        self.stacks = self.merged()

    def over(self, address):
        return self.tasks[address]["over"] if address in self.tasks else False

    def type(self, address):
        return (self.tasks.get(address) or self.others[address])["type"]

    def combined(self, address):
        head = without_arguments(self.type(address))
        return next((name for pattern, name in COMBINED if re.fullmatch(pattern, head)), None)

    def operation(self, address):
        """The box that an async iterator belongs to, or the address itself."""
        other = self.others.get(address)
        address = other["box"] if other and other["box"] else address
        return address if address in self.awaited else None

    def name(self, operation):
        return method(machine(self.boxes[operation]["type"])) if operation in self.boxes else self.combined(operation)

    def leaf(self, address):
        task = self.tasks.get(address)
        name = self.type(address)
        head = without_arguments(name)
        if task and task["runs"]:
            return NOTHING
        for pattern, text in LEAVES:
            if m := re.fullmatch(pattern, head):
                return m.expand(text)
        if m := re.fullmatch(r"System\.Threading\.Tasks\.Task(<.*>)?", name):
            return "TaskCompletionSource" + (m[1] or "").replace("+", ".")
        return name.replace("+", ".")

    def merged(self):
        """Counter of stacks: names from the inside out."""
        waiters, left = collections.defaultdict(list), {}
        begin = collections.defaultdict(collections.Counter)     # operation -> stacks below it
        for o, awaited in self.awaited.items():
            inner = [self.operation(a) for a in awaited]
            for i in filter(None, inner):
                waiters[i].append(o)
            left[o] = sum(i is not None for i in inner)
            for a, i in zip(awaited, inner):
                if i is None:
                    begin[o][(self.leaf(a),)] += 1
            if not awaited:
                begin[o][(NOTHING,)] += 1
        done, stacks, ready = set(), collections.Counter(), [o for o, n in left.items() if n == 0]
        while len(done) < len(left):
            if not ready:
                circle = next(o for o in left if o not in done)
                begin[circle][("(a circle: it waits for itself)",)] += 1
                ready.append(circle)
            o = ready.pop()
            done.add(o)
            above = collections.Counter()
            for stack, n in begin.pop(o).items():
                name = self.name(o)
                names = (name, CALLBACK) if name == "Task.ContinueWith" else (name,)
                end = name == BLOCKS and re.fullmatch(WHOLE_PROGRAM, stack[-1])
                above[stack if name == "" or end or (len(stack) > 1 and stack[-1] == name) else (*stack, *names)] += n
            waiting = [w for w in waiters[o] if w not in done]
            for w in waiting:
                begin[w].update(above)
                left[w] -= 1
                if left[w] == 0:
                    ready.append(w)
            if not waiting:
                stacks.update(above)
        return stacks


# -- what the references say -----------------------------------------------------------------------------------------------

def seen(document):
    """(stacks, of them those that are certain)."""
    every, certain = collections.Counter(), collections.Counter()
    for stack in document["stacks"]:
        names = [f["name"] for f in stack["frames"]]
        if stack["frames"][0]["kind"] in ("queued", "running", "ready", "delegate"):
            names[0] = NOTHING
        every[tuple(names)] += stack["count"]
        if stack["certain"]:
            certain[tuple(names)] += stack["count"]
    return every, certain


class AsyncLive(LiveTest):
    def compare(self, runtime, configuration, *args):
        target = Process(*args, program=need(wait_lab, runtime, configuration))
        self.addCleanup(target.__exit__)
        self.assertEqual(target.line, "ready\n")
        got = json.loads(self.gcdumpc("async", "--pid", target.pid, "--json", "-q").stdout)
        truth = Truth(target.pid, runtime, configuration).stacks
        every, certain = seen(got)
        if runtime < 10:                                 # one type for both sides of a channel
            for counter in every, certain, truth:
                for stack in [s for s in counter if s[0].startswith("Channel") or "AsyncOperation<" in s[0]]:
                    counter[("Channel", *stack[1:])] += counter.pop(stack)
        both = every & truth
        print(f"async {' '.join(args)}, .NET {runtime}, {configuration}: {sum(truth.values())} stacks, {len(truth)} different; equal {sum(both.values())}, "
              f"called certain {sum(certain.values())}, of these wrong {sum((certain - truth).values())}", flush=True)
        self.assertEqual(dict(certain - truth), {}, "certain, and wrong")
        self.assertEqual((dict(every - truth), dict(truth - every)), ({}, {}))
        return got, truth

    def test_planted(self):
        for runtime, configuration in runs():
            with self.subTest(runtime=runtime, configuration=configuration):
                got, truth = self.compare(runtime, configuration)
                self.assertGreater(len(truth), 60)
                self.assertEqual(truth["TaskCompletionSource<WaitLab.RpcReply>", "WaitLab.RpcClient.SendAsync", "WaitLab.RpcClient.CallAsync"], 830)
                self.assertEqual(truth["Task.Delay", "WaitLab.Waits.DelayAsync"], 40)
                self.assertEqual(truth["TaskCompletionSource", "WaitLab.Combined.Part", "Task.WhenAll", "WaitLab.Combined.AllAsync"], 20)
                self.assertLess(got["probable_stacks"], 0.02 * got["stack_count"])
                self.assertEqual([(c["name"], c["count"]) for c in got["completed"]],
                                 [("WaitLab.Shapes.DoneAsync", 100), ("WaitLab.Shapes.FailedAsync", 4)])
                # Main awaits a task that it makes after the collections
                young = [[f["name"] for f in s["frames"]] for s in got["stacks"] if s["old"] < s["count"]]
                self.assertEqual(young, [["TaskCompletionSource", "WaitLab.Program.Main"]])
                self.assertEqual(got["old_stacks"], got["stack_count"] - 1)

    def test_web(self):
        for runtime, configuration in runs():
            with self.subTest(runtime=runtime, configuration=configuration):
                got, truth = self.compare(runtime, configuration, "web", str(REQUESTS))
                ends = collections.Counter()
                for stack, n in truth.items():
                    if any("WaitLab.Shop" in frame for frame in stack):
                        ends[stack[0]] += n
                self.assertEqual(ends["Task.Delay"], REQUESTS)
                self.assertEqual(ends["SemaphoreSlim.WaitAsync"], REQUESTS)

    def test_values_of_memory(self):
        for runtime, configuration in runs():
            with self.subTest(runtime=runtime, configuration=configuration):
                target = Process("web", str(REQUESTS), program=need(wait_lab, runtime, configuration))
                self.addCleanup(target.__exit__)
                self.assertEqual(target.line, "ready\n")
                core = "--pid", target.pid, "--direct", "-q"
                shown = json.loads(self.gcdumpc("async", *core, "--json", "--show-values").stdout)
                hidden = json.loads(self.gcdumpc("async", *core, "--json").stdout)
                upload = ("POST", "/upload")             # Kestrel ends them after some seconds, because no data comes
                self.assertEqual({(r["method"], r["text"], r["count"]) for r in shown["requests"] if (r["method"], r["text"]) != upload},
                                 {("GET", "/slow", REQUESTS), ("GET", "/locked", REQUESTS)})
                self.assertEqual({(r["method"], r.get("text"), r["count"]) for r in hidden["requests"] if r["method"] != "POST"}, {("GET", None, 2 * REQUESTS)})
                delay = "System.Threading.Tasks.Task.DelayPromise"
                timers = {(t["type"], t["due_ms"], t["period_ms"]): t["count"] for t in shown["timers"]}
                day = 24 * 3600 * 1000
                self.assertEqual({k[1]: n for k, n in timers.items() if k[0] == delay and k[1] in (3600 * 1000, day, 2 * day)},
                                 {3600 * 1000: REQUESTS, day: 7, 2 * day: 12})
                rows = self.gcdumpc("sql", *core, "--show-values", "--csv",
                                    "SELECT integer, count(*) FROM fields WHERE field = 'm_stateFlags' GROUP BY 1").stdout.split()[1:]
                states = collections.Counter()
                for row in rows:
                    flags, n = map(int, row.split(","))
                    over = {0x1000000: "completed", 0x400000: "canceled", 0x200000: "faulted"}.get(flags & 0x1600000)
                    states[over or ("waiting" if flags & 0x2800000 else "running" if flags & 0x20000 else "queued" if flags & 0x10000 else "created")] += n
                got = {t["state"]: t["count"] for t in shown["tasks"]}
                self.assertGreaterEqual(got["faulted"], 4)
                self.assertGreater(got["waiting"], 3 * REQUESTS)
                later = {t["state"]: t["count"] for t in json.loads(self.gcdumpc("async", *core, "--json").stdout)["tasks"]}
                for state in "faulted", "canceled", "created":   # which change slowly, with each upload that Kestrel ends
                    low, high = sorted((got.get(state, 0), later.get(state, 0)))
                    self.assertTrue(low <= states[state] <= high, (state, low, states[state], high))
                self.assertEqual([k for k in json.loads(self.gcdumpc("async", "--pid", target.pid, "--json", "-q").stdout) if k in ("tasks", "timers", "requests")], [])
                said = self.gcdumpc("leaks", *core, "--show-values").stdout
                self.assertRegex(said, rf'\d+ requests are at work: (GET|POST) "/\w+" \({REQUESTS} times\)')
                self.assertNotIn("requests are at work", self.gcdumpc("leaks", *core).stdout)


class RuntimeAsync(LiveTest):
    """Methods without state machines: a number of calls for each way to wait, as the program has made them."""
    RUNTIME = 11                 # the first that makes them without being asked
    ORDER, CART = (f"a runtime-async method with RuntimeAsyncLab.{kind}" for kind in ("Order", "Cart"))
    STACKS = {("TaskCompletionSource", ORDER, CART, ORDER): 300, ("Task.Delay", CART): 20,
              ("SemaphoreSlim.WaitAsync", "a runtime-async method", ORDER): 15,
              ("TaskCompletionSource", ORDER, CART, ORDER, CART): 12, ("TaskCompletionSource", ORDER, CART, ORDER, "Task.WhenAll", "a runtime-async method"): 8,
              ("Task.Delay", CART, "Task.WhenAll", "a runtime-async method"): 8, ("Channel reader", ORDER): 7,
              ("TaskCompletionSource", ORDER, CART, ORDER, "Task.Run or Unwrap"): 6, ("Channel writer", CART, CART): 5,
              ("TaskCompletionSource", *[ORDER] * 10): 4, ("Task.Delay", CART, "RuntimeAsyncLab.Calls.Items", ORDER): 3}

    def target(self):
        target = Process(program=need(program, "RuntimeAsyncLab", self.RUNTIME, "contained"))
        self.addCleanup(target.__exit__)
        self.assertEqual(target.line, "ready\n")
        return target

    def check(self, *words):
        got = json.loads(self.gcdumpc("async", *words, "--json", "-q").stdout)
        every, certain = seen(got)
        self.assertEqual(dict(every), self.STACKS)
        self.assertEqual(certain, every)
        calls = sum(n * sum("runtime-async" in name for name in stack) for stack, n in self.STACKS.items())
        self.assertEqual(got["runtime_async_calls"], calls - 8)        # who waits for two is in two stacks
        self.assertEqual(got["runtime_async_objects"], 0)
        kinds = {frame["kind"] for stack in got["stacks"] for frame in stack["frames"] if "runtime-async" in frame["name"]}
        self.assertEqual(kinds, {"runtime_method"})

    def test_planted(self):
        target = self.target()
        self.check("--pid", target.pid)
        leaks = self.gcdumpc("leaks", "--pid", target.pid, "-q").stdout
        self.assertIn("calls wait in a runtime-async method with RuntimeAsyncLab.Order for TaskCompletionSource", " ".join(leaks.split()))

    def test_memory(self):
        """Types of these calls have no metadata; no field of theirs gets a name of another one."""
        target, copy = self.target(), self.path("direct.nettrace")
        if os.geteuid() != 0:
            self.skipTest("reading the memory of a process needs root")
        listed, = [p for p in json.loads(self.gcdumpc("ps", "--json").stdout)["processes"] if p["pid"] == target.pid]
        self.assertEqual(listed["ways"], ["events", "direct"])
        self.gcdumpc("collect", "--direct", "--pid", target.pid, "-q", "-o", copy)
        self.check(copy)
        types = json.loads(self.gcdumpc("report", copy, "--json", "-q").stdout)["types"]
        self.assertEqual([t["type"] for t in types if t["type"].startswith("UNKNOWN")], [])
        layouts = [t["type"] for t in types if t["type"].startswith("System.Runtime.CompilerServices.Continuation")]
        self.assertEqual([name for name in layouts if not re.search(r" \(\d+ bytes( #\d)?\)$", name)], [])
        self.assertGreater(len(layouts), 4)
        fields = self.gcdumpc("sql", copy, "-q", "--csv", "SELECT DISTINCT e.field FROM edges e JOIN objects o ON o.id = e.from_id JOIN types t ON "
                              "t.id = o.type_id WHERE t.name LIKE 'System.Runtime.CompilerServices.Continuation%'").stdout.split()
        self.assertLessEqual(set(fields[1:]), {'"Next"'})


class Methods(unittest.TestCase):
    def test_names(self):
        for machine, name in (("N.Outer+<Go>d__1", "N.Outer.Go"), ("Program+<<Main>$>d__0", "Program.Main"),
                              ("N.A+<>c__DisplayClass0_0+<<Plant>b__0>d", "N.A.Plant (lambda)"), ("N.A+<<Local>g__Inner|3_0>d", "N.A.Local.Inner"),
                              ("N.G<System.String>+<Get>d__0<System.Guid>", "N.G<System.String>.Get<System.Guid>"),
                              ("N.S+<System.IAsyncDisposable.DisposeAsync>d__2", "N.S.DisposeAsync")):
            self.assertEqual(method(machine), name)


if __name__ == "__main__":
    main()
