#!/usr/bin/env python3
"""What sampling of allocations (gcdumpc sites) costs the process.

    bench_sites.py [--build DIR] [--gc workstation,server] [--rates 100,5000] [--runs 3] [--window 6]

SiteLab (tests/live/site_lab) allocates RATE MB per second, or as much as it can, in requests of about 1.2 KB.  It runs undisturbed, then in the
window of sites, then in that of sites --no-movement, RUNS times in turn, and the table has medians.

requests: per second, and per second of processor time, which a busy machine hardly changes.
paused: how long garbage collections held the process, of each second; the heap walk is not in it.
hiccup: the longest time that a thread of the process which wants to run every millisecond did not run.
events: that gcdumpc received per second in the window.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "live")]
TICKS = os.sysconf("SC_CLK_TCK")
WAYS = {"alone": None, "sites": [], "sites --no-movement": ["--no-movement"]}


class Series:
    """Numbers with times in ms; between two of them they grow evenly."""

    def __init__(self):
        self.rows = []

    def add(self, number, when=None):
        self.rows.append((time.time() * 1000 if when is None else when, number))

    def at(self, when):
        before = [r for r in self.rows if r[0] <= when] or self.rows[:1]
        after = [r for r in self.rows if r[0] > when] or self.rows[-1:]
        (t, x), (u, y) = before[-1], after[0]
        return x + (y - x) * (when - t) / (u - t) if u > t else x

    def growth(self, begin, end):
        return self.at(end) - self.at(begin)


class Watched:
    def __init__(self, program, rate, server):
        environment = {**os.environ, **({"DOTNET_gcServer": "1", "DOTNET_GCHeapCount": "2"} if server else {})}
        self.process = subprocess.Popen([program, str(rate)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.requests, self.cpu, self.paused_us, self.hiccups = Series(), Series(), Series(), []
        threading.Thread(target=self.read, daemon=True).start()
        time.sleep(3)

    def read(self):
        for line in self.process.stdout:
            when, *words = line.split()
            if when.isdigit():
                now = dict(w.split("=") for w in words)
                self.requests.add(int(now["requests"]), int(when))
                self.paused_us.add(int(now["paused_us"]), int(when))
                self.hiccups.append((int(when), int(now["hiccup_us"]) / 1000))
                with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as f:
                    fields = f.read().rpartition(")")[2].split()
                self.cpu.add((int(fields[11]) + int(fields[12])) / TICKS)

    def result(self, begin, end, received):
        seconds, requests = (end - begin) / 1000, self.requests.growth(begin, end)
        return [requests / seconds, requests / self.cpu.growth(begin, end), self.paused_us.growth(begin, end) / seconds / 1000,
                max(h for when, h in self.hiccups if begin < when <= end + 200), received / seconds / 1000]


def received_by(process, series):
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/io", encoding="ascii") as f:
                series.add(int(f.readline().split()[1]))
        except OSError:
            return
        time.sleep(0.1)


def run(program, target, window, options):
    begin = time.time() * 1000
    if options is None:
        time.sleep(window)
        end = time.time() * 1000
        time.sleep(0.5)
        return target.result(begin, end, 0)
    p = subprocess.Popen([program, "sites", "--pid", str(target.process.pid), "--window", f"{window}s", "--settle", "0s", "--json", *options],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    received = Series()
    poller = threading.Thread(target=received_by, args=(p, received))
    poller.start()
    got = json.loads(p.communicate()[0])
    poller.join()
    begin = got["window_begin_unix_ms"]
    end = begin + got["window_ms"]
    return target.result(begin, end, received.growth(begin, end))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    parser.add_argument("--gc", default="workstation,server")
    parser.add_argument("--rates", default="100,5000")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--window", type=int, default=6)
    parser.add_argument("--lab", help="SiteLab, if it is built already")
    options = parser.parse_args()
    lab = options.lab
    if lab is None:
        import lab_programs
        from live_support import own_runtime
        lab = lab_programs.program("SiteLab", own_runtime(), "built")
    print("| GC, MB/s | | requests/s | per CPU s | paused, ms/s | hiccup, ms | events, KB/s |\n|---|---|---:|---:|---:|---:|---:|")
    for gc in options.gc.split(","):
        for rate in options.rates.split(","):
            target = Watched(lab, rate, gc == "server")
            rows = {way: [] for way in WAYS}
            for _ in range(options.runs):
                for way, words in WAYS.items():
                    rows[way].append(run(os.path.join(options.build, "gcdumpc"), target, options.window, words))
            target.process.kill()
            for way, found in rows.items():
                numbers = [statistics.median(column) for column in zip(*found)]
                print(f"| {gc}, {rate} | {way} | {numbers[0]:,.0f} | {numbers[1]:,.0f} | {numbers[2]:.1f} | {numbers[3]:,.0f} | "
                      f"{numbers[4]:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
