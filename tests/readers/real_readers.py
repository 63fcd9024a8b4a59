"""The real readers of heap dump formats, one call each, for the tests of whatever writes these formats.

    read_heapsnapshot(path, largest=0, ids=(), graph=False)     DevTools, memlab, v8-heapsnapshot
    read_gcdump(path, graph=False)                              FastSerialization (C#), gcdump_read.py
    read_nettrace(path)                                         TraceEvent (C#)
    read_dart(path, graph=False)                                dart_read.py
    read_pprof(path, graph=False)                               pprof-format
    gcdump_report(path)                                         dotnet-gcdump report

Each returns the dict described in README.md.  Refused: a real loader does not take the file, str() is what it says.
Disagreement: the loaders differ.  Missing (a unittest.SkipTest): Node, .NET or a package is not to be had; the line "skipped: ..."
is printed then.  What is needed is installed on first use, from the lock files, into GCDUMPC_READERS or `readers` in GCDUMPC_BUILD;
install(folder) chooses another folder.  Processes that come at the same time wait for each other.
"""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, os.pardir, "support"))
import dart_read                                                # noqa: E402
import dotnet_build                                             # noqa: E402
import gcdump_read                                              # noqa: E402
from byte_cursor import BadInput                                # noqa: E402

NODE_SOURCE, GCDUMP_SOURCE, METADATA_SOURCE, NETTRACE_SOURCE, TOOLS_SOURCE, MCP_SOURCE = (
    os.path.join(HERE, name) for name in ("node", "gcdump_cs", "metadata_cs", "nettrace_cs", "dotnet_tools", "mcp_node"))
OLDEST_NODE, OLDEST_NEW_MCP_NODE, OLDEST_SDK = 18, 20, 8
SKIP = 77
REGISTRY_SECONDS, REGISTRY_AGAIN = 20, 3600
SECONDS = 900                   # for an installation or a read that hangs

DOTNET_ENVIRONMENT = {**dotnet_build.VARIABLES, "DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1",
                      "DOTNET_CLI_UI_LANGUAGE": "en"}


class Refused(Exception):
    """A real loader does not take the file."""


class Disagreement(AssertionError):
    """Two loaders say different things of one file."""


class Missing(unittest.SkipTest):
    """A reader cannot run here.  Says so on stdout, once."""

    _said = set()

    def __init__(self, reason):
        super().__init__(reason)
        if reason not in self._said:
            self._said.add(reason)
            print(f"skipped: {reason}", flush=True)


def _folder():
    build = os.environ.get("GCDUMPC_BUILD") or os.path.join(HERE, "..", "..", "build")
    return os.environ.get("GCDUMPC_READERS") or os.path.join(build, "readers")


def _run(*words, folder=None, environment=None):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, encoding="utf-8", errors="replace",
                          cwd=folder, timeout=SECONDS, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})


def _version(program):
    """The major version a program gives, 0 when there is no such program."""
    try:
        found = re.match(r"v?(\d+)\.", _run(program, "--version").stdout)
    except OSError:
        return 0
    return int(found[1]) if found else 0


def version_of_node():
    return _version("node")


@contextlib.contextmanager
def _alone(target):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _installed(name, source, version, steps, *, on=None):
    """The folder `name` with a copy of `source`.  `steps`, commands that run in it, make the rest of it: on first use, and when
    `version` or one of the files in `on` (all by default) is another one."""
    target = os.path.join(os.path.abspath(_folder()), name)
    contents = {}
    for file in sorted(os.listdir(source)):
        path = os.path.join(source, file)
        if os.path.isfile(path):
            with open(path, "rb") as content:
                contents[file] = content.read()
    digest = hashlib.sha256(repr([version, [(file, contents[file]) for file in on or contents]]).encode()).hexdigest()
    stamp = os.path.join(target, "installed")
    with _alone(target):
        ready = _content(stamp) == digest.encode()
        if not ready and any(words[0] == "npm" for words, _ in steps):
            _need_registry()
        if not ready:
            shutil.rmtree(target, ignore_errors=True)
            os.makedirs(target)
        for file, content in contents.items():
            if _content(os.path.join(target, file)) != content:
                _put(os.path.join(target, file), content)
        if not ready:
            for words, environment in steps:
                done = _run(*words, folder=target, environment=environment)
                if done.returncode != 0:
                    raise RuntimeError(f"{' '.join(words[:2])} failed in {name}: {(done.stdout + done.stderr)[-2000:]}")
            _put(stamp, digest.encode())
    return target


def _need_registry():
    """Missing if npm cannot reach its registry.  Tried once, for at most 20 seconds, by all processes together."""
    stamp = os.path.join(os.path.abspath(_folder()), "no-registry")
    with _alone(stamp):
        try:
            known = time.time() - os.path.getmtime(stamp) < REGISTRY_AGAIN
        except FileNotFoundError:
            known = False
        if not known:
            try:
                done = subprocess.run(["npm", "ping", "--fetch-retries=0", f"--fetch-timeout={1000 * REGISTRY_SECONDS}"], capture_output=True,
                                      text=True, stdin=subprocess.DEVNULL, timeout=REGISTRY_SECONDS, check=False)
                # another error is an answer: some registries know no ping
                known = re.search(r"\b(ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT)\b", done.stderr) is not None
            except subprocess.TimeoutExpired:
                known = True
            if known:
                _put(stamp, b"")
    if known:
        raise Missing("npm packages: the registry of npm cannot be reached")


def _once(make):
    """One installation a process and folder: versions and files are not looked at again."""
    made = {}

    @functools.wraps(make)
    def cached():
        folder = _folder()
        if folder not in made:
            made[folder] = make()
        return made[folder]
    return cached


def _content(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _put(path, content):
    """Whole or not at all: another process may be running it."""
    with open(path + ".new", "wb") as file:
        file.write(content)
    os.replace(path + ".new", path)


@_once
def need_node():
    """The folder of the installed Node programs; Missing without Node."""
    version = _version("node")
    if version < OLDEST_NODE or not shutil.which("npm"):
        raise Missing(f"readers of .heapsnapshot and pprof: no Node {OLDEST_NODE} or later with npm")
    return _installed("node", NODE_SOURCE, version, [
        # without scripts: memlab would fetch a browser, the others do not need theirs
        (("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"), {"npm_config_update_notifier": "false"}),
        (("node", "devtools_bundle.mjs"), None)], on=("package.json", "package-lock.json", "devtools_bundle.mjs"))


@_once
def need_mcp_clients():
    """The folder of mcp_clients.mjs with the official clients; Missing without Node."""
    version = _version("node")
    if version < OLDEST_NODE or not shutil.which("npm"):
        raise Missing(f"clients of the Model Context Protocol: no Node {OLDEST_NODE} or later with npm")
    return _installed("mcp_node", MCP_SOURCE, version, [
        (("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"), {"npm_config_update_notifier": "false"})],
        on=("package.json", "package-lock.json"))


def _sdk():
    version = _version("dotnet")
    if version < OLDEST_SDK:
        raise Missing(f"C# readers: no .NET SDK {OLDEST_SDK} or later")
    return version


@_once
def need_gcdump_reader():
    """The C# reader of .gcdump, installed; Missing without .NET."""
    build = ("dotnet", "build", "GcDumpRead.csproj", "--configuration", "Release", "--output", "bin", "--nologo", "--verbosity", "quiet",
             "-p:RestoreLockedMode=true", *dotnet_build.options())
    return os.path.join(_installed("gcdump_cs", GCDUMP_SOURCE, _sdk(), [(build, DOTNET_ENVIRONMENT)]), "bin", "GcDumpRead.dll")


@_once
def need_metadata_reader():
    """The C# lister of assemblies, installed; Missing without .NET."""
    build = ("dotnet", "build", "MetadataList.csproj", "--configuration", "Release", "--output", "bin", "--nologo", "--verbosity", "quiet",
             *dotnet_build.options())
    return os.path.join(_installed("metadata_cs", METADATA_SOURCE, _sdk(), [(build, DOTNET_ENVIRONMENT)]), "bin", "MetadataList.dll")


@_once
def need_nettrace_reader():
    """The C# reader of recordings, installed; Missing without .NET."""
    build = ("dotnet", "build", "NettraceRead.csproj", "--configuration", "Release", "--output", "bin", "--nologo", "--verbosity", "quiet",
             "-p:RestoreLockedMode=true", *dotnet_build.options())
    return os.path.join(_installed("nettrace_cs", NETTRACE_SOURCE, _sdk(), [(build, DOTNET_ENVIRONMENT)]), "bin", "NettraceRead.dll")


@_once
def need_dotnet_gcdump():
    """The folder in which `dotnet dotnet-gcdump` runs; Missing without .NET, or where NuGet does not have the tool."""
    sdk = _sdk()
    try:
        return _installed("dotnet_tools", TOOLS_SOURCE, sdk, [(("dotnet", "tool", "restore"), DOTNET_ENVIRONMENT)])
    except RuntimeError as error:
        if "is not found in NuGet feeds" in str(error):
            raise Missing("dotnet-gcdump report: the NuGet feed does not have dotnet-gcdump") from error
        raise


def install(folder):
    """Installs what can be installed into `folder`, and makes it the one in use.  Returns what is missing, as a list of texts."""
    os.environ["GCDUMPC_READERS"] = os.path.abspath(folder)
    missing = []
    for each in (need_node, need_gcdump_reader, need_nettrace_reader, need_dotnet_gcdump):
        try:
            each()
        except Missing as reason:
            missing.append(str(reason))
    return missing


def _json_of(*words):
    done = _run(*words, environment=DOTNET_ENVIRONMENT)
    if done.returncode != 0:
        raise Refused(done.stderr.strip() or f"{words[1]}: exit status {done.returncode}")
    return json.loads(done.stdout)


def node_program(name, *words):
    """Runs node/NAME of the installed copy; its JSON object."""
    return _json_of("node", os.path.join(need_node(), name), *words)


def run_node(name, *words):
    """Runs node/NAME of the installed copy for its effect, such as a sample file."""
    done = _run("node", os.path.join(need_node(), name), *words)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


def gcdump_sample(kind, path):
    """A small .gcdump by FastSerialization's own writer; kind: plain, full, old (gcdump_cs/Sample.cs)."""
    done = _run("dotnet", need_gcdump_reader(), "--write-sample", kind, path, environment=DOTNET_ENVIRONMENT)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


def _compare(path, names, one, other, keys):
    for key in keys:
        if one.get(key) != other.get(key):
            shown = f"{one.get(key)!r:.300} and {other.get(key)!r:.300}"
            raise Disagreement(f"{path}: {key} of {names[0]} and {names[1]}: {shown}")


def devtools(path, largest=0, ids=(), graph=False):
    return node_program("devtools_read.mjs", path, *_choice(largest, ids, graph))


def memlab(path, largest=0, ids=(), graph=False):
    return node_program("memlab_read.mjs", path, *_choice(largest, ids, graph))


def strict(path, graph=False):
    return node_program("strict_read.mjs", path, *_choice(0, (), graph))


def _choice(largest, ids, graph):
    words = ["--largest", str(largest)]
    if ids:
        words += ["--id", ",".join(map(str, ids))]
    return words + ["--graph"] * graph


def read_heapsnapshot(path, largest=0, ids=(), graph=False):
    """What DevTools says, with "memlab" and "strict" beside it; all three agree on structure, names, sizes.

    Retained sizes are of the `largest` objects and of those in `ids`; DevTools and memlab agree on them in files that follow
    v8-heapsnapshot.md section 3, not in V8's own, where DevTools gives hidden nodes' bytes to their owners.
    """
    result = devtools(path, largest, ids, graph)
    result["memlab"], result["strict"] = memlab(path, largest, ids), strict(path)
    for name in ("memlab", "strict"):
        _compare(path, ("DevTools", name), result, result[name], ("nodes", "edges", "bytes", "roots", "edge_types"))
    return result


def fast_serialization(path, graph=False):
    """The result of the C# reader alone, which accepts much that it should not."""
    return _json_of("dotnet", need_gcdump_reader(), path, *["--graph"] * graph)


def read_gcdump(path, graph=False):
    """What the C# reader says, checked against gcdump_read.py, whose "container" is added.  Without .NET the latter alone."""
    try:
        ours = gcdump_read.read(path, graph)
    except BadInput as error:
        ours = Refused(f"gcdump_read.py: {error} (at {error.offset:#x})")
    try:
        need_gcdump_reader()
    except Missing:
        if isinstance(ours, Refused):
            raise ours from None
        return ours
    theirs = fast_serialization(path, graph)
    if isinstance(ours, Refused):
        raise ours
    _compare(path, ("the C# reader", "gcdump_read.py"), theirs, ours, theirs)
    theirs["container"] = ours["container"]
    return theirs


def read_nettrace(path):
    """What TraceEvent says of a recording: counts of events, losses, and the fields of the events with names."""
    return _json_of("dotnet", need_nettrace_reader(), path)


def read_dart(path, graph=False):
    try:
        return dart_read.read(path, graph)
    except BadInput as error:
        raise Refused(f"dart_read.py: {error} (at {error.offset:#x})") from error


def read_pprof(path, graph=False):
    return node_program("pprof_read.mjs", path, *["--graph"] * graph)


def gcdump_report(path):
    """`dotnet-gcdump report`: bytes, objects, and per "type [module]" the count and the size of the type's first object."""
    folder = need_dotnet_gcdump()
    done = _run("dotnet", "dotnet-gcdump", "report", os.path.abspath(path), folder=folder, environment=DOTNET_ENVIRONMENT)
    if done.returncode != 0:
        raise Refused(done.stdout + done.stderr)
    return parse_report(done.stdout)


def parse_report(text):
    """The sums and rows of the text that dotnet-gcdump prints; numbers have commas."""
    number = lambda digits: int(digits.replace(",", ""))
    sums = {name: number(digits) for digits, name in re.findall(r"^ *([\d,]+)  GC Heap (bytes|objects)\s*$", text, re.M)}
    if len(sums) != 2:
        raise Refused(f"no sums in the report: {text[:300]}")
    rows = re.findall(r"^ *([\d,]+)  +([\d,]+)  (.*?)\s*$", text, re.M)
    return {**sums, "types": {name: [number(count), number(size)] for size, count, name in rows}}


def main():
    """unittest.main with the project's exit status 77 when nothing could run."""
    result = unittest.main("__main__", exit=False).result
    ran = result.testsRun - sum(isinstance(test, unittest.TestCase) for test, _ in result.skipped)
    if result.wasSuccessful() and ran == 0 and result.skipped:
        sys.exit(SKIP)
    sys.exit(not result.wasSuccessful())
