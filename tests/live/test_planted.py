"""Leaks planted in a shop (planted/) are found and told in its own words; programs in good health have no suspect.

Each scenario is a process of its own, dumped once.  What must be said of it is in planted_table.py.  By default on the SDK's own runtime;
GCDUMPC_TEST_PLANTED has runtimes and patterns of scenarios instead: "8 9 10", "10 web-* event", "all" for all runtimes.
"""
import concurrent.futures
import fnmatch
import json
import os
import subprocess

from lab_programs import plugin, program
from live_support import PROGRAM, RUNTIMES, SECONDS, LiveTest, Process, main, need, sdk_version
from planted_table import EXPECTATIONS, HEALTHY, problems

CHOSEN = os.environ.get("GCDUMPC_TEST_PLANTED", "").split()
AT_A_TIME = 3
ATTACHED = ("concurrent-dictionary", "timer", "service-provider")    # also without a file between


def runtimes():
    """(runtime, flavour) of all runs."""
    own = int(need(sdk_version).split(".")[0])
    for runtime in RUNTIMES:
        if str(runtime) in CHOSEN or "all" in CHOSEN or runtime == own and not any(c.isdigit() for c in CHOSEN):
            yield runtime, "built" if runtime == own else "contained"


def chosen(scenario):
    patterns = [c for c in CHOSEN if not c.isdigit() and c != "all"]
    return not patterns or any(fnmatch.fnmatch(scenario, p) for p in patterns)


class Planted(LiveTest):
    def each(self, scenarios):
        """(runtime, scenario, function that returns what leaks says) of all that are chosen."""
        scenarios = [s for s in scenarios if chosen(s)]
        for runtime, flavour in runtimes():
            words = [need(program, "Shop", runtime, flavour), need(plugin, "Shop.Pricing")]
            with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
                jobs = [pool.submit(self.leaks, scenario, runtime, *words) for scenario in scenarios]
                yield from ((runtime, scenario, job.result) for scenario, job in zip(scenarios, jobs))

    def leaks(self, scenario, runtime, file, plugin_file):
        with Process(scenario, plugin_file, program=file) as target:
            if not target.line.startswith("ready"):
                raise AssertionError(f"{scenario} did not start")
            dump = self.path(f"{runtime}-{scenario}.nettrace")
            self.json("collect", "--pid", target.pid, "-o", dump)
            said = self.json("leaks", dump, "--json")
            if scenario in ATTACHED:
                said["attached"] = self.json("leaks", "--pid", target.pid, "--json")
            os.unlink(dump)
            return said

    def json(self, *args):
        """Of another thread than the test's: no assertions of unittest."""
        r = subprocess.run([PROGRAM, *map(str, args), "--quiet"], capture_output=True, text=True, timeout=SECONDS, check=False)
        if r.returncode != 0:
            raise AssertionError(f"{args}: status {r.returncode}\n{r.stderr}")
        return json.loads(r.stdout or "null")

    def test_leaks(self):
        """A line of the table that must fail and does not is a failure, too."""
        missed = []
        for runtime, scenario, result in self.each(list(dict.fromkeys(e.scenario for e in EXPECTATIONS))):
            for e in (e for e in EXPECTATIONS if e.scenario == scenario):
                with self.subTest(scenario=scenario, what=e.what, runtime=runtime):
                    said = result()
                    missed += self.check(e, said)
                    if "attached" in said:
                        self.assertEqual(*([s["kind"] for s in x["suspects"]] for x in (said, said["attached"])))
        print("\n".join(["expected misses:", *missed]), flush=True)

    def check(self, e, said):
        found = problems(e, said["suspects"])
        if e.miss:
            self.assertNotEqual(found, [], f"holds now: remove its miss ({e.miss})")
            return [f"    {e.scenario}, {e.what}: {e.miss}"]
        sentences = [s["sentence"] + " " + (s.get("advice") or "") for s in said["suspects"]]
        self.assertEqual(found, [], "\n".join(sentences[:3]))
        return []

    def test_healthy_programs(self):
        for runtime, scenario, result in self.each(HEALTHY):
            with self.subTest(scenario=scenario, runtime=runtime):
                self.assertEqual([s["sentence"] for s in result()["suspects"]], [])

    def test_all_scenarios_are_expected(self):
        """What the program can do and the table do not drift apart."""
        runtime, flavour = next(runtimes())
        r = subprocess.run([need(program, "Shop", runtime, flavour)], capture_output=True, text=True, timeout=SECONDS, check=False)
        self.assertEqual(sorted(r.stdout.split()), sorted({*(e.scenario for e in EXPECTATIONS), *HEALTHY}))
        self.assertGreater(len({e.scenario for e in EXPECTATIONS}), 40)
        self.assertGreater(len(HEALTHY), 10)


if __name__ == "__main__":
    main()
