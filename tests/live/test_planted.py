"""gcdumpc finds leaks planted in a shop (planted/) and describes them with the shop's own names; healthy programs have no suspect.

Each scenario is a process of its own, dumped once; those that grow twice.  planted_table.py has the expectations; planted_runs.py says how to choose scenarios.
"""
import json
import os
import re
import subprocess

from live_support import SECONDS, LiveTest, main
from planted_runs import each, gcdumpc, runtimes, shop
from planted_table import EXPECTATIONS, HEALTHY, OF_TWO, problems

DIRECT = ("timer", "few-long-chains", "own-threads", "healthy-burst", "healthy-uploads", "healthy-own-pool", "healthy-object-pool",
          "generated-assemblies", "own-pool", "large-index")     # also from memory: guessed words of stacks change nothing
GROWING = {e.scenario for e in EXPECTATIONS if e.what in OF_TWO}
WITH_TEXTS = ("growth-many-owners",)                             # equal texts have grown, too: that is no answer to what holds them
ATTACHED = ("concurrent-dictionary", "timer", "service-provider")    # also without a file between


def _example(word):
    """A text that the regular expression WORD of the table matches."""
    plain = word.replace(r"\d", "7").replace(".*", " ").replace("s?", "").replace("(is|are)", "are").replace("\\", "")
    example = re.sub(r"\[(.).\]", r"\1", plain)
    assert re.search(word, example), f"no example of {word}"
    return example


class Planted(LiveTest):
    def leaks(self, target, scenario, *_):
        dump = self.path(f"{target.pid}.nettrace")
        gcdumpc("collect", "--pid", target.pid, "-o", dump)
        if scenario in GROWING:
            return self.growth(target, scenario, dump)
        said = json.loads(gcdumpc("leaks", dump, "--json", "--findings"))
        if scenario in ATTACHED:
            said["attached"] = json.loads(gcdumpc("leaks", "--pid", target.pid, "--json"))
        if scenario in DIRECT:
            said["direct"] = json.loads(gcdumpc("leaks", "--direct", "--pid", target.pid, "--json", "--findings"))
        os.unlink(dump)
        return said

    def growth(self, target, scenario, older):
        """DIRECT: the same pair from memory."""
        directly, dump = self.path(f"{target.pid}-direct.nettrace"), self.path(f"{target.pid}-2.nettrace")
        gcdumpc("collect", "--direct", "--pid", target.pid, "-o", directly)
        texts = [self.path(f"{target.pid}-texts{i}.nettrace") for i in (1, 2)] if scenario in WITH_TEXTS else []
        if texts:
            gcdumpc("collect", "--values", "all", "--pid", target.pid, "-o", texts[0])
        target.process.stdin.write("more\n")
        target.process.stdin.flush()
        if target.process.stdout.readline() != "grown\n":
            raise AssertionError(f"{older}: it did not grow")
        gcdumpc("collect", "--pid", target.pid, "-o", dump)
        said = json.loads(gcdumpc("leaks", older, dump, "--json"))
        if texts:
            gcdumpc("collect", "--values", "all", "--pid", target.pid, "-o", texts[1])
            said["texts"] = json.loads(gcdumpc("leaks", *texts, "--json"))["headline"]
        said["diff"] = gcdumpc("diff", older, dump, "--paths").split("\n")[0]
        said["direct"] = json.loads(gcdumpc("leaks", directly, "--direct", "--pid", target.pid, "--json"))
        said["by_events"] = True
        for file in (older, directly, dump, *texts):
            os.unlink(file)
        return said

    def test_leaks(self):
        """A line of the table that must fail and does not is a failure, too."""
        missed = []
        for runtime, scenario, result in each([e.scenario for e in EXPECTATIONS], self.leaks):
            for e in (e for e in EXPECTATIONS if e.scenario == scenario):
                with self.subTest(scenario=scenario, what=e.what, runtime=runtime):
                    said = result()
                    missed += self.check(e, said, runtime)
                    if e.what in OF_TWO:
                        self.assertEqual(said["diff"].removesuffix("."), said["headline"].removesuffix("."))
                    if "texts" in said:
                        self.assertEqual(said["texts"].split(",")[:3], said["headline"].split(",")[:3])
                    if "direct" in said and not (e.miss and runtime in e.on):
                        self.assertEqual(problems(e, said["direct"]), [], "directly")
                    if "attached" in said:
                        self.assertEqual(*([s["kind"] for s in x["suspects"]] for x in (said, said["attached"])))
        print("\n".join(["expected misses:", *missed]), flush=True)

    def check(self, e, said, runtime):
        found = problems(e, said)
        if e.miss and runtime in e.on:
            self.assertNotEqual(found, [], f"holds now: remove its miss ({e.miss})")
            return [f"    {e.scenario}, {e.what}: {e.miss}"]
        sentences = [s["sentence"] + " " + (s.get("advice") or "") for s in said["suspects"]]
        self.assertEqual(found, [], "\n".join(sentences[:3]))
        return []

    def test_healthy_programs(self):
        for runtime, scenario, result in each(HEALTHY, self.leaks):
            with self.subTest(scenario=scenario, runtime=runtime):
                said = result()
                self.assertEqual([s["sentence"] for s in said["suspects"]], [])
                self.assertEqual([f for f in said["findings"] if f["found"] > 0 and f["kind"] not in ("pools", "design")], [])
                self.assertGreater(len(said["findings"]), 10)

    def test_every_line_can_fail(self):
        """Each line requires a type or word of its own, and no word is a part of another."""
        one = {"kind": "none", "sentence": "One object keeps 9.3 GiB alive. It holds 15,0001 MyOrders, Order2 and 30,000,000 others."}
        said, nothing = ({"suspects": x, "notes": x, "waiting": x} for x in ([one], []))
        self.assertEqual([e.scenario for e in EXPECTATIONS if len(problems(e, said)) < len(e.words)], [])
        self.assertEqual([e.scenario for e in EXPECTATIONS if not problems(e, nothing)], [])

    def test_what_must_not_be_said(self):
        """A word of NEVER is found in the advice of any suspect, and ONLY allows no second one."""
        for e in EXPECTATIONS:
            for word in e.never:
                other = {"kind": "none", "sentence": "", "advice": None, "path": [{"type": _example(word)}]}
                self.assertIn(f"{word} is said", problems(e, {"suspects": [other, other], "notes": [other], "waiting": [other]}))
            if e.what == "only":
                other = {"kind": "none", "sentence": "Another."}
                self.assertIn("another suspect: Another.", problems(e, {"suspects": [other, other]}))

    def test_all_scenarios_are_expected(self):
        """The table covers exactly the scenarios of the program."""
        runtime, flavour = next(runtimes())
        r = subprocess.run([shop(runtime, flavour)], capture_output=True, text=True, timeout=SECONDS, check=False)
        self.assertEqual(sorted(r.stdout.split()), sorted({*(e.scenario for e in EXPECTATIONS), *HEALTHY}))
        self.assertGreater(len({e.scenario for e in EXPECTATIONS}), 40)
        self.assertGreater(len(HEALTHY), 10)


if __name__ == "__main__":
    main()
