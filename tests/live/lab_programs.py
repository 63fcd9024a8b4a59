"""The programs of test_full_names in all common ways of publishing, and the oracle that reads the names in a living process."""
import functools
import glob
import hashlib
import os
import shutil
import subprocess

from live_support import CACHE, ROOT, TARGET, Missing, made_once, sdk_version

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = {"HeapLab": TARGET, "WebLab": os.path.join(HERE, "web_lab"), "WebLab.Plugin": os.path.join(HERE, "web_lab_plugin"),
           "Shop": os.path.join(HERE, "planted"), "Shop.Pricing": os.path.join(HERE, "planted_plugin"),
           "WaitLab": os.path.join(HERE, "wait_lab"), "Waits": os.path.join(ROOT, "tests", "readers", "waits_cs"),
           "GateLab": os.path.join(HERE, "gate_lab"), "CollectionLab": os.path.join(HERE, "collection_lab"),
           "CompilerLab": os.path.join(ROOT, "tests", "bench", "compiler"),
           "CoffeeShop": os.path.join(ROOT, "tests", "shop"),
           "FullNames": os.path.join(ROOT, "tests", "readers", "full_names_cs"),
           "CollectionCounts": os.path.join(ROOT, "tests", "readers", "collection_counts_cs")}
# way of publishing -> options of dotnet publish; None: only built, for the SDK's own runtime
FLAVOURS = {
    "built": None,
    "contained": [],
    "r2r": ["-p:PublishReadyToRun=true"],
    "composite": ["-p:PublishReadyToRun=true", "-p:PublishReadyToRunComposite=true"],
    "single": ["-p:PublishSingleFile=true"],
    "compressed": ["-p:PublishSingleFile=true", "-p:EnableCompressionInSingleFile=true"],
    "trimmed": ["-p:PublishTrimmed=true"],
}
NOT_THERE = ("NU1301", "NU1101", "NU1102")       # server not reachable; package missing there


def _build(name, *options):
    """A folder with program NAME built with OPTIONS (after "build" or "publish"), at most once for the same sources."""
    digest = hashlib.sha256(repr((sdk_version(), options)).encode())
    project, = glob.glob(os.path.join(SOURCES[name], "*.csproj"))
    for path in sorted(glob.glob(os.path.join(SOURCES[name], "*.cs*"))):
        with open(path, "rb") as f:
            digest.update(f.read())
    folder_name = f"{name}-{digest.hexdigest()[:12]}"
    with made_once(folder_name) as (folder, there):
        if not there:
            r = subprocess.run(["dotnet", options[0], project, "--configuration", "Release", "--artifacts-path", os.path.join(folder, "artifacts"),
                                "--output", os.path.join(folder, "bin"), *options[1:], "-p:UseSharedCompilation=false", "-nodeReuse:false",
                                "--nologo", "--verbosity", "quiet"], capture_output=True, text=True)
            if r.returncode != 0 and any(code in r.stdout for code in NOT_THERE):
                raise Missing(f"what {name} needs cannot be had from NuGet")
            if r.returncode != 0:
                raise RuntimeError(r.stdout[-3000:] + r.stderr[-1000:])
            shutil.rmtree(os.path.join(folder, "artifacts"))
    return os.path.join(CACHE, folder_name, "bin")


@functools.cache
def program(name, runtime, flavour):
    """Path of HeapLab, WebLab or Shop for .NET RUNTIME."""
    framework = [f"-p:{'HeapLabFramework' if name == 'HeapLab' else 'LabFramework'}=net{runtime}.0"]
    options = FLAVOURS[flavour]
    words = ["build"] if options is None else ["publish", "--use-current-runtime", "--self-contained", "true"]
    return os.path.join(_build(name, *words, *framework, *(options or [])), name)


@functools.cache
def plugin(name="WebLab.Plugin"):
    return os.path.join(_build(name, "build"), name + ".dll")


@functools.cache
def oracle(name="FullNames"):
    return os.path.join(_build(name, "build"), name + ".dll")


@functools.cache
def wait_lab(runtime, configuration):
    """Path of WaitLab for .NET RUNTIME, built as "Release" or "Debug"."""
    words = ["build"] if runtime == int(sdk_version().split(".")[0]) else ["publish", "--use-current-runtime", "--self-contained", "true"]
    optimize = f"-p:Optimize={'true' if configuration == 'Release' else 'false'}"
    return os.path.join(_build("WaitLab", *words, f"-p:LabFramework=net{runtime}.0", optimize), "WaitLab")


@functools.cache
def coffee_shop():
    return os.path.join(_build("CoffeeShop", "build"), "CoffeeShop")


@functools.cache
def gate_lab():
    return os.path.join(_build("GateLab", "build"), "GateLab")


@functools.cache
def waits_oracle():
    return os.path.join(_build("Waits", "build"), "Waits.dll")


@functools.cache
def dac(runtime, flavour):
    """Path of the library that ClrMD needs for this runtime; a single-file program has none beside it, but uses the same one."""
    if flavour != "built":
        return os.path.join(os.path.dirname(program("HeapLab", runtime, "contained")), "libmscordaccore.so")
    listed = subprocess.run(["dotnet", "--list-runtimes"], capture_output=True, text=True, check=True).stdout
    found = [line.split(" ", 2) for line in listed.splitlines() if line.startswith(f"Microsoft.NETCore.App {runtime}.")]
    name, version, folder = found[-1]
    return os.path.join(folder.strip("[]"), version, "libmscordaccore.so")
