#!/usr/bin/env python3
"""How long the page of a large heap takes to load, and to answer what a user does, in headless Chromium.

    python3 tests/bench/bench_page.py --build build [--objects 10000000] [--runs 5] [--input FILE ...] [--processor]

Prints a table for README.md: medians and the slowest, in milliseconds, without and with a processor four times as slow.  An interaction takes from the
event to the end of the next frame, so up to 17 ms are waiting.  With --processor, on a busy machine: instead of a slower processor, the time that the
page's thread had one.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "browser"))
from browser import Browser                             # noqa: E402

# Runs in the page from the beginning: the times, since navigation, of the first frame with the summary, of that with the map, and of that with all sections.
WATCH = """(() => {
    const times = window.benchTimes = {};
    const post = done => { const c = new MessageChannel(); c.port1.onmessage = done; c.port2.postMessage(0); };
    // what is made within a frame is drawn with it, like the map, which waits for its size; other things with the next one
    let within = false;
    const frame = () => {
        within = true;
        post(() => within = false);
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    const after = done => within ? post(done) : requestAnimationFrame(() => post(done));
    const seen = {};
    const at = (name, there) => {
        if (there && !seen[name]) {
            seen[name] = true;
            after(() => times[name] = performance.now());
        }
    };
    const look = () => {
        at('summary', document.getElementById('summary'));
        at('map', document.querySelector('#map .tile'));
        at('whole', document.documentElement?.dataset.ready);
    };
    new MutationObserver(look).observe(document, {childList: true, subtree: true, attributes: true, attributeFilter: ['data-ready']});
})()"""
LOADED = """new Promise(done => {
    const look = () => benchTimes.map && benchTimes.whole ? done([benchTimes.summary, benchTimes.map, benchTimes.whole]) : setTimeout(look, 10);
    look();
})"""

# Runs ACTION and waits until the frame after it is done.
TIMED = """new Promise(done => {{
    const start = performance.now();
    {action};
    requestAnimationFrame(() => {{
        const channel = new MessageChannel();
        channel.port1.onmessage = () => done(performance.now() - start);
        channel.port2.postMessage(0);
    }});
}})"""

FILL = "(() => {{ const e = document.querySelector('{0}'); e.value = {1!r}; e.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
CLICK = "[...document.querySelectorAll('{0}')].at({1})?.click()"

# Name, what is done; each on what the ones before have left behind.
ACTIONS = [
    ("map: into the largest rectangle", CLICK.format("#map .tile.branch", 0)),
    ("map: out again", CLICK.format("#map .crumbs button", 0)),
    ("map: as a flame graph", CLICK.format("#map .choice:nth-child(2) input", 1)),
    ("map: as a map", CLICK.format("#map .choice:nth-child(2) input", 0)),
    ("map: by namespaces", CLICK.format("#map .choice:first-child input", 1)),
    ("map: by what holds it", CLICK.format("#map .choice:first-child input", 0)),
    ("map: colours by module", CLICK.format("#map .choice:nth-child(3) input", 2)),
    ("map: search", FILL.format("#map-search", "byte")),
    ("map: as a table", CLICK.format("#map .as-table summary", 0)),
    ("map: without the table", CLICK.format("#map .as-table summary", 0)),
    ("types: first letter of a search", FILL.format("#type-search", "s")),
    ("types: second letter", FILL.format("#type-search", "sy")),
    ("types: no search", FILL.format("#type-search", "")),
    ("types: sort by name", CLICK.format("#types thead button", 0)),
    ("types: sort by retained size", CLICK.format("#types thead button", 4)),
    ("types: scroll to the end", "(() => { const e = document.querySelector('#types .scroll'); e.scrollTop = e.scrollHeight; })()"),
    ("types: open the panel", CLICK.format("#types tbody a", 0)),
    ("panel: another type", CLICK.format("#panel .parts a.open", 0)),
    ("panel: show in the map", CLICK.format("#panel .actions button", 0)),
    ("tree: open all below", CLICK.format("#tree .search button", 0)),
    ("tree: first letter of a search", FILL.format("#tree-search", "s")),
    ("tree: second letter", FILL.format("#tree-search", "st")),
    ("tree: no search", FILL.format("#tree-search", "")),
    ("paths: another type", "(() => { const s = document.querySelector('#path-type'); s.selectedIndex = 1; s.dispatchEvent(new Event('change')); })()"),
    ("paths: search", FILL.format("#path-search", "s")),
]


# What the browser takes for itself, in a process of its own.
EMPTY = "<!DOCTYPE html><html lang='en' data-ready='yes'><title>Empty</title><p id='summary'>Empty<p id='map'><b class='tile'>Empty</b>"


def opened(browser, page, slower):
    """The time until all sections are there."""
    shown = browser.open(page, width=1400, height=900, slower=slower, script=WATCH)
    times = shown.run(LOADED)
    shown.close()
    return times[-1]


def measured(browser, page, slower):
    """Milliseconds: [summary, map, all sections, *ACTIONS]."""
    shown = browser.open(page, width=1400, height=900, slower=slower, script=WATCH)
    times = shown.run(LOADED)
    for name, action in ACTIONS:
        times.append(shown.run(TIMED.format(action=action)))
        shown.settle()
        if shown.complaints:
            sys.exit(f"{name}: {shown.complaints}")
    shown.close()
    return times


def thread_ms(shown):
    """Milliseconds for which the page's thread has had a processor."""
    return 1000 * next(m["value"] for m in shown.call("Performance.getMetrics")["metrics"] if m["name"] == "TaskDuration")


def processor(browser, page):
    """Milliseconds of processor time of the page's thread: [until all sections are there, *ACTIONS]."""
    shown = browser.open("/dev/null", width=1400, height=900, scripts=False)
    shown.call("Emulation.setScriptExecutionDisabled", value=False)
    shown.call("Performance.enable", timeDomain="threadTicks")
    shown.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    last = thread_ms(shown)
    shown.call("Page.navigate", url="file://" + os.path.abspath(page))
    shown.run(f"new Promise(done => {{ const look = () => window.benchTimes ? {LOADED}.then(done) : setTimeout(look, 10); look(); }})")
    times = [thread_ms(shown) - last]
    for _, action in ACTIONS:
        last = thread_ms(shown)
        shown.run(TIMED.format(action=action))
        times.append(thread_ms(shown) - last)
        shown.settle()
    shown.close()
    return times


def processor_table(page, runs):
    """Lines of the table for --processor."""
    with Browser() as browser:
        walls, threads = [], []
        for i in range(runs + 1):                       # the first ones fill the caches of the browser
            walls.append(measured(browser, page, 1))
            threads.append(processor(browser, page))
    walls, threads = (list(zip(*times[1:])) for times in (walls, threads))
    yield "| | ms | slowest | processor, ms | slowest |"
    yield "|---|---:|---:|---:|---:|"
    names = ["load: the summary is there", "load: the map", "load: all sections", *(name for name, _ in ACTIONS)]
    for name, wall, thread in zip(names, walls, [None, None, *threads]):
        of_thread = f"{statistics.median(thread):.0f} | {max(thread):.0f}" if thread else " | "
        yield f"| {name} | {statistics.median(wall):.0f} | {max(wall):.0f} | {of_thread} |"
    worst = max((statistics.median(times), name) for times, name in zip(threads[1:], names[3:]))
    yield f"| slowest interaction, median |  |  | {worst[0]:.0f} | {worst[1]} |"


def table(page, runs, folder, slower_times=4):
    """Lines of the table."""
    columns = []
    empty = os.path.join(folder, "empty.html")
    with open(empty, "w", encoding="utf-8") as f:
        f.write(EMPTY)
    for slower in (1, slower_times):
        with Browser() as browser:
            measured(browser, page, slower)             # the first one fills the caches of the browser
            columns.append(list(zip(*([opened(browser, empty, slower), *measured(browser, page, slower)] for _ in range(runs)))))
    yield "| | ms | slowest | 4 times slower | slowest |"
    yield "|---|---:|---:|---:|---:|"
    for i, name in enumerate(["load: an empty page", "load: the summary is there", "load: the map", "load: all sections", *(name for name, _ in ACTIONS)]):
        yield f"| {name} | " + " | ".join(f"{statistics.median(c[i]):.0f} | {max(c[i]):.0f}" for c in columns) + " |"
    worst = [max((statistics.median(times), name) for times, (name, _) in zip(c[4:], ACTIONS)) for c in columns]
    yield f"| slowest interaction, median | {worst[0][0]:.0f} | {worst[0][1]} | {worst[1][0]:.0f} | {worst[1][1]} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--objects", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--input", nargs="*", help="recordings or pages instead of one from genheap")
    parser.add_argument("--processor", action="store_true", help="processor time of the page's thread, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        inputs = options.input
        if not inputs:
            inputs = [os.path.join(folder, f"genheap-{options.objects}.nettrace")]
            subprocess.run([os.path.join(options.build, "genheap"), "-n", str(options.objects), inputs[0]], check=True)
        for path in inputs:
            page = path
            if not path.endswith(".html"):
                page = os.path.join(folder, "page.html")
                subprocess.run([os.path.join(options.build, "gcdumpc"), "convert", path, "-o", page, "--quiet"], check=True)
            load = os.getloadavg()[0]
            lines = list(processor_table(page, options.runs) if options.processor else table(page, options.runs, folder))
            print(f"{os.path.splitext(os.path.basename(path))[0]}: {os.path.getsize(page):,} bytes; medians of {options.runs}, "
                  f"load {load:.1f} before and {os.getloadavg()[0]:.1f} after\n")
            print("\n".join(lines), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
