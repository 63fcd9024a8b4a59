"""Wall time, processor time and peak memory of one command, and a description of the machine."""
import os
import platform
import re
import subprocess
import sys
import tempfile
import time

GNU_TIME = "/usr/bin/time"      # Debian package time; without it small peaks read too high


def run(command, stdout=None, stderr=None):
    """Exit status, wall and processor seconds, peak KB.  A child starts with the peak of the process that forked it, so GNU time does it."""
    peak_file = None
    if os.path.exists(GNU_TIME):
        with tempfile.NamedTemporaryFile("r", delete=False) as f:
            peak_file = f.name
        command = [GNU_TIME, "-f", "%M", "-o", peak_file, *command]
    start = time.monotonic()
    with open(os.devnull, "w") as null:
        p = subprocess.Popen(command, stdout=stdout or null, stderr=stderr)
        _, status, usage = os.wait4(p.pid, 0)
    wall = time.monotonic() - start
    p.returncode = os.waitstatus_to_exitcode(status)
    peak_kb = usage.ru_maxrss
    if peak_file is not None:
        with open(peak_file) as f:
            peak_kb = int(f.read().split()[-1])          # behind "exited with non-zero status"
        os.unlink(peak_file)
    return p.returncode, wall, usage.ru_utime + usage.ru_stime, peak_kb


def measure(command, accepted=(0,), stderr=None):
    """The same for a command that must succeed, without the status."""
    status, *figures = run(command, stderr=stderr)
    if status not in accepted:
        sys.exit(f"{' '.join(command)}: exit {status}")
    return tuple(figures)


def machine():
    """Without names of the machine, its owner or its folders."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"architecture": platform.machine(), "system": platform.system(), "cores": len(os.sched_getaffinity(0)),
            "memory_gib": round(memory / 2**30, 1)}


def build(folder):
    """Compiler and build type, from CMakeCache.txt."""
    def find(path, pattern):
        try:
            with open(path, encoding="utf-8") as f:
                m = re.search(pattern, f.read())
        except OSError:
            m = None
        return m.group(1) if m else "unknown"

    folder_of_compiler = os.path.join(folder, "CMakeFiles")
    for name in sorted(os.listdir(folder_of_compiler)) if os.path.isdir(folder_of_compiler) else []:
        path = os.path.join(folder_of_compiler, name, "CMakeCCompiler.cmake")
        if os.path.exists(path):
            compiler = "{} {}".format(find(path, r'set\(CMAKE_C_COMPILER_ID "([^"]+)"'), find(path, r'set\(CMAKE_C_COMPILER_VERSION "([^"]+)"'))
            return {"compiler": compiler, "type": find(os.path.join(folder, "CMakeCache.txt"), r"CMAKE_BUILD_TYPE:\w+=(\w+)")}
    return {"compiler": "unknown", "type": "unknown"}
