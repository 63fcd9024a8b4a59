"""The order of roots: no output shows an object reachable from a static variable as held by the finalizer queue."""
import json
import os

from cli_support import CliTest, main
from test_html import parts
from test_retained_paths import FINALIZER, HANDLE, PINNED, STACK, WEAK, heap

SESSIONS, EACH = 100, 60_000
REFCOUNTED = 8


def timers():
    """Sessions in a static list, four steps away; dropped timers in the queue refer to them, and every tenth session is in the queue itself."""
    objects = {"app": ("Shop.App", 24, ["store"]), "store": ("Shop.SessionStore", 24, ["list"]),
               "list": ("Shop.Session[]", 24 + 8 * SESSIONS, [f"session{i}" for i in range(SESSIONS)]),
               "alone": ("Shop.Session", EACH, [])}
    for i in range(SESSIONS):
        objects[f"timer{i}"] = ("System.Threading.TimerHolder", 24, [f"session{i}"])
        objects[f"session{i}"] = ("Shop.Session", EACH, [])
    queue = [f"timer{i}" for i in range(SESSIONS)] + [f"session{i}" for i in range(0, SESSIONS, 10)] + ["alone"]
    return heap(objects, [("app", "s_app")], [(o, FINALIZER, 0) for o in queue])


class RootOrder(CliTest):
    def setUp(self):
        super().setUp()
        data, self.at = timers()
        self.put("in", data)

    def json(self, *words):
        return json.loads(self.done(*words, "--json", "-q").text)

    def test_leaks(self):
        for threads in ("1", "2"):
            (s,) = self.json("leaks", "in", "--threads", threads)["suspects"]
            self.assertEqual((s["kind"], s["type"], s["objects"], s["root"]), ("object", "Shop.Session[]", 1, "static variable s_app"))
            self.assertEqual([p["type"] for p in s["path"]], ["Shop.App", "Shop.SessionStore", "Shop.Session[]"])
            self.assertIn(f"one SessionStore: {SESSIONS} Session in a Session[]", s["sentence"])
        self.assertNotIn("finalizer", self.done("leaks", "in").text)

    def test_paths(self):
        tops = [line for line in self.done("paths", "in", "--type", "Shop.Session").text.splitlines() if "s_app" in line or "finalizer" in line]
        self.assertEqual([line.split("  ")[-1].strip() for line in tops], ["static variable s_app", "finalizer queue"])
        self.assertEqual([line.split()[1] for line in tops], [str(SESSIONS * EACH), str(EACH)])     # and one that only the queue holds
        text = self.done("paths", "in", "--object", f"{self.at['session10']:#x}").text
        self.assertLess(text.index("Shop.Session[]"), text.index("TimerHolder"))       # its referrers, then its late roots
        self.assertEqual((text.count("finalizer queue"), text.rstrip().splitlines()[-2].split()[-2:]), (2, ["finalizer", "queue"]), text)

    def test_report(self):
        rows = self.json("report", "in", "--by", "root", "--retained")["roots"]
        self.assertEqual([r["group"] for r in rows][:2], ["statics", "finalizer"])
        statics, queue = rows[:2]
        self.assertEqual((statics["claimed_objects"], queue["claimed_objects"]), (3 + SESSIONS, SESSIONS + 1))
        self.assertEqual((queue["retained_objects"], queue["objects"]), (SESSIONS + 1, 2 * SESSIONS + 1))

    def test_retained(self):
        """What the queue leads to, too, it does not hold."""
        holders = {}
        for row in self.json("retained", "in", "--largest", "objects", "--top", "1000")["largest_objects"]:
            holders.setdefault((row["type"], row["held_by"]), []).append(row["address"])
        self.assertEqual(len(holders["Shop.Session", "Shop.Session[]"]), SESSIONS)
        self.assertEqual(holders["Shop.Session", "finalizer queue"], [f"{self.at['alone']:#x}"])
        self.assertEqual(len(holders["System.Threading.TimerHolder", "finalizer queue"]), SESSIONS)

    def test_profiles(self):
        session = "[static variables];s_app;Shop.App;Shop.SessionStore;Shop.Session[];Shop.Session"
        for how in ("dominators", "paths"):
            self.done("convert", "in", "-o", "x.folded", "-q", "--stack-by", how)
            lines = dict(line.rsplit(" ", 1) for line in self.get("x.folded").decode().splitlines())
            self.assertEqual((lines[session], lines["[finalizer queue];Shop.Session"]), (str(SESSIONS * EACH), str(EACH)), how)
            os.remove(self.path("x.folded"))

    def test_page(self):
        self.done("convert", "in", "-o", "x.html", "-q")
        page = json.loads(parts(self.get("x.html"))[1])
        (s,) = page["suspects"]
        self.assertEqual((page["root_groups"][s["root_group"]], s["root_name"]), ("static variables", "s_app"))
        names = page["names"]
        tops = [names[row[1]] for row in page["tree"] if row[0] == -1]
        self.assertEqual(tops, ["[static variables]", "[finalizer queue]"])

    def test_every_group(self):
        """One object held by all kinds of roots, which are removed one by one."""
        roots = [("x", FINALIZER, 0), ("x", HANDLE, REFCOUNTED), ("x", STACK, 0), ("x", 3, 0), ("x", HANDLE, PINNED), ("x", HANDLE, 0), ("x", HANDLE, WEAK)]
        words = ["finalizer queue", "ref-counted handle", "thread stack", "other root", "pinned handle", "strong handle"]
        for n in range(1, len(words) + 1):
            kept = roots[:n] + roots[-1:]
            self.put("one", heap({"x": ("Shop.X", 5_000_000, [])}, (), kept)[0])
            self.assertEqual(self.json("retained", "one", "--largest", "objects")["largest_objects"][0]["held_by"], words[n - 1])
            self.assertEqual(self.json("leaks", "one")["suspects"][0]["root"], words[n - 1])
            rows = self.json("report", "one", "--by", "root", "--retained")["roots"]
            self.assertEqual([r["group"] for r in rows if r["claimed_objects"]], [json_key(words[n - 1])])


def json_key(words):
    return {"finalizer queue": "finalizer", "ref-counted handle": "refcounted", "other root": "other", "thread stack": "locals"}.get(
        words, words.replace(" ", "_") + "s")


if __name__ == "__main__":
    main()
