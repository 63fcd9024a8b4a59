"""Runs processes of Shop (planted/) for test_planted and test_collection_counts.

They run on the SDK's own runtime.  GCDUMPC_TEST_PLANTED chooses other runtimes and patterns of scenarios: "8 9 10", "10 web-* event", "all" for all
runtimes.
"""
import concurrent.futures
import fnmatch
import os
import subprocess

from lab_programs import plugin, program
from live_support import PROGRAM, RUNTIMES, SECONDS, Process, need, sdk_version

CHOSEN = os.environ.get("GCDUMPC_TEST_PLANTED", "").split()
AT_A_TIME = 3


def runtimes():
    """(runtime, flavour) of all runs."""
    own = int(need(sdk_version).split(".")[0])
    for runtime in RUNTIMES:
        if str(runtime) in CHOSEN or "all" in CHOSEN or runtime == own and not any(c.isdigit() for c in CHOSEN):
            yield runtime, "built" if runtime == own else "contained"


def shop(runtime, flavour):
    return need(program, "Shop", runtime, flavour)


def _chosen(scenario):
    patterns = [c for c in CHOSEN if not c.isdigit() and c != "all"]
    return not patterns or any(fnmatch.fnmatch(scenario, p) for p in patterns)


def each(scenarios, look):
    """(runtime, scenario, function that returns LOOK(process, scenario, runtime, flavour)) of all that are chosen, several at a time."""
    scenarios = [s for s in dict.fromkeys(scenarios) if _chosen(s)]
    for runtime, flavour in runtimes():
        file, plugin_file = shop(runtime, flavour), need(plugin, "Shop.Pricing")

        def run(scenario, file=file, plugin_file=plugin_file, runtime=runtime, flavour=flavour):
            with Process(scenario, plugin_file, program=file) as target:
                if not target.line.startswith("ready"):
                    raise AssertionError(f"{scenario} did not start")
                return look(target, scenario, runtime, flavour)
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            jobs = [pool.submit(run, scenario) for scenario in scenarios]
            yield from ((runtime, scenario, job.result) for scenario, job in zip(scenarios, jobs))


def output(*words):
    """Standard output, for other threads than the test's: without assertions of unittest."""
    r = subprocess.run([*map(str, words)], capture_output=True, encoding="utf-8", timeout=SECONDS, check=False)
    if r.returncode != 0:
        raise AssertionError(f"{words}: status {r.returncode}\n{r.stderr[-2000:]}")
    return r.stdout


def gcdumpc(*words):
    return output(PROGRAM, *words, "--quiet")
