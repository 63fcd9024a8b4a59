"""The programs of test_full_names, published in all common ways, and the oracle that reads the names in a living process."""
import functools
import glob
import hashlib
import os
import shutil
import subprocess
import tempfile

from live_support import CACHE, ROOT, RUNTIMES, TARGET, Missing, framework, heaplab, heaplab_build, made_once, made_together, own_runtime, sdk_version
import dotnet_build                  # noqa: E402  live_support knows where it is

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = {"HeapLab": TARGET, "WebLab": os.path.join(HERE, "web_lab"), "WebLab.Plugin": os.path.join(HERE, "web_lab_plugin"),
           "Shop": os.path.join(HERE, "planted"), "Shop.Pricing": os.path.join(HERE, "planted_plugin"),
           "WaitLab": os.path.join(HERE, "wait_lab"), "Waits": os.path.join(ROOT, "tests", "readers", "waits_cs"),
           "SiteLab": os.path.join(HERE, "site_lab"), "GateLab": os.path.join(HERE, "gate_lab"), "AllocLab": os.path.join(HERE, "alloc_lab"), "ValueLab": os.path.join(HERE, "value_lab"),
           "NativeLab": os.path.join(HERE, "native_lab"), "RuntimeAsyncLab": os.path.join(HERE, "runtime_async_lab"),
           "CollectionLab": os.path.join(HERE, "collection_lab"),
           "CompilerLab": os.path.join(ROOT, "tests", "bench", "compiler"),
           "RandomLab": os.path.join(ROOT, "tests", "bench", "random"),
           "CoffeeShop": os.path.join(ROOT, "tests", "shop"),
           "FieldLab": os.path.join(HERE, "field_lab"), "FieldLab.Base": os.path.join(HERE, "field_lab_base"),
           "FieldList": os.path.join(ROOT, "tests", "readers", "fields_cs"),
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


def _folder(name, options):
    """The folder in CACHE for program NAME built with OPTIONS."""
    digest = hashlib.sha256(repr((sdk_version(), options)).encode())
    for path in sorted(glob.glob(os.path.join(SOURCES[name], "*.cs*"))):
        with open(path, "rb") as f:
            digest.update(f.read())
    return f"{name}-{digest.hexdigest()[:12]}"


def _project(name):
    project, = glob.glob(os.path.join(SOURCES[name], "*.csproj"))
    return project


def _build(name, *options):
    """A folder with program NAME built with OPTIONS (after "build" or "publish"), at most once for the same sources."""
    folder_name, project = _folder(name, options), _project(name)
    with made_once(folder_name) as (folder, there):
        if not there:
            r = subprocess.run(["dotnet", options[0], project, "--configuration", "Release", "--artifacts-path", os.path.join(folder, "artifacts"),
                                "--output", os.path.join(folder, "bin"), *options[1:], *dotnet_build.options(),
                                "--nologo", "--verbosity", "quiet"], capture_output=True, text=True, env=dotnet_build.environment())
            if r.returncode != 0 and any(code in r.stdout for code in NOT_THERE):
                raise Missing(f"what {name} needs cannot be had from NuGet")
            if r.returncode != 0:
                raise RuntimeError(r.stdout[-3000:] + r.stderr[-1000:])
            shutil.rmtree(os.path.join(folder, "artifacts"))
    return os.path.join(CACHE, folder_name, "bin")


def _framework_options(runtime, variable="LabFramework"):
    name, newer = framework(runtime)
    return [f"-p:{variable}={name}", *([f"-p:RuntimeFrameworkVersion={newer}"] if newer else [])]


def _options(name, runtime, flavour):
    options = FLAVOURS[flavour]
    words = ["build"] if options is None else ["publish", "--use-current-runtime", "--self-contained", "true"]
    return (*words, *_framework_options(runtime, "HeapLabFramework" if name == "HeapLab" else "LabFramework"), *(options or []))


@functools.cache
def program(name, runtime, flavour):
    """Path of HeapLab, WebLab, Shop or CoffeeShop for .NET RUNTIME."""
    if name == "HeapLab" and flavour == ("built" if runtime == own_runtime() else "contained"):
        return heaplab(runtime)
    return os.path.join(_build(name, *_options(name, runtime, flavour)), name)


@functools.cache
def plugin(name="WebLab.Plugin"):
    return os.path.join(_build(name, "build"), name + ".dll")


@functools.cache
def oracle(name="FullNames"):
    return os.path.join(_build(name, "build"), name + ".dll")


def _wait_options(runtime, configuration):
    words = ["build"] if runtime == own_runtime() else ["publish", "--use-current-runtime", "--self-contained", "true"]
    return (*words, *_framework_options(runtime), f"-p:Optimize={'true' if configuration == 'Release' else 'false'}")


@functools.cache
def wait_lab(runtime, configuration):
    """Path of WaitLab for .NET RUNTIME, built as "Release" or "Debug"."""
    return os.path.join(_build("WaitLab", *_wait_options(runtime, configuration)), "WaitLab")


@functools.cache
def coffee_shop():
    return program("CoffeeShop", own_runtime(), "built")


@functools.cache
def gate_lab():
    return os.path.join(_build("GateLab", "build"), "GateLab")


@functools.cache
def native_lab(runtime=None):
    """Path of NativeLab, compiled ahead of time for .NET RUNTIME or the SDK's own, with its symbols beside it."""
    if own_runtime() < 10:
        raise Missing("Native AOT sends heap dumps from .NET 10 on")
    if shutil.which("clang") is None and shutil.which("gcc") is None:
        raise Missing("Native AOT needs clang or gcc")
    newer = framework(runtime)[1] if runtime is not None else None
    return os.path.join(_build("NativeLab", "publish", "--use-current-runtime", *([f"-p:LabRuntime={newer}"] if newer else [])), "NativeLab")


@functools.cache
def native_lab_assembly():
    """Path of an assembly from the same sources as NativeLab."""
    return os.path.join(_build("NativeLab", "build"), "NativeLab.dll")


@functools.cache
def alloc_lab(runtime):
    """Path of AllocLab for .NET RUNTIME."""
    return program("AllocLab", runtime, "built" if runtime == own_runtime() else "contained")


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


# -- all at once -------------------------------------------------------------------------------------------------------

TOGETHER = """<Project>
  <ItemGroup>
{items}
  </ItemGroup>
  <Target Name="All">
    <MSBuild Projects="@(Build);@(Publish)" Targets="Restore" Properties="MSBuildRestoreSessionId=1" />
    <MSBuild Projects="@(Build)" Targets="Build" />
    <MSBuild Projects="@(Publish)" Targets="Build;Publish" />
  </Target>
</Project>
"""


def _item(project, folder, options):
    """OPTIONS ("build" or "publish" and more) in the form of MSBuild."""
    published = options[0] == "publish"
    properties = ["Configuration=Release", f"ArtifactsPath={folder}/artifacts", *(o.removeprefix("-p:") for o in options if o.startswith("-p:"))]
    properties += ["UseCurrentRuntimeIdentifier=true", "SelfContained=true", "_IsPublishing=true", f"PublishDir={folder}/bin/"] if published else \
                  [f"OutputPath={folder}/bin/"]
    return f'    <{"Publish" if published else "Build"} Include="{project}" AdditionalProperties="{";".join(properties)}" />'


def build_together():
    """Builds what the live tests need by default and CACHE has not, in one process: half of the time of one build for each.  Returns what went wrong,
    or None; then each test builds its own, and tells what is missing."""
    own = own_runtime()
    wanted = {}                      # folder in CACHE: project, options
    for runtime in RUNTIMES:
        wanted[heaplab_build(runtime)[0]] = _project("HeapLab"), _options("HeapLab", runtime, "built" if runtime == own else "contained")
    for name, options in [*((name, _options(name, runtime, "built" if runtime == own else "contained"))
                            for name, runtimes in (("AllocLab", {own, RUNTIMES[-1]}), ("CoffeeShop", {own, RUNTIMES[-1]}), ("SiteLab", RUNTIMES),
                                                   ("ValueLab", {own, RUNTIMES[-1]}), ("WebLab", {RUNTIMES[0], own, RUNTIMES[-1]})) for runtime in runtimes),
                          *((name, _options(name, own, "built")) for name in ("Shop", "CollectionLab", "FieldLab")),
                          ("RuntimeAsyncLab", _options("RuntimeAsyncLab", RUNTIMES[-1], "contained")),
                          *((name, ("build",)) for name in ("WebLab.Plugin", "Shop.Pricing", "FullNames", "FieldList", "CollectionCounts", "GateLab",
                                                            "Waits")),
                          *(("WaitLab", _wait_options(own, configuration)) for configuration in ("Release", "Debug"))]:
        wanted[_folder(name, options)] = _project(name), options
    with made_together(wanted) as folders, tempfile.NamedTemporaryFile("w", suffix=".proj", dir=CACHE) as all_of_them:
        if not folders:
            return None
        all_of_them.write(TOGETHER.format(items="\n".join(_item(wanted[name][0], folder, wanted[name][1]) for name, folder in folders.items())))
        all_of_them.flush()
        r = subprocess.run(["dotnet", "msbuild", all_of_them.name, "-t:All", "-maxCpuCount:1", *dotnet_build.options(),
                            "-nologo", "-verbosity:quiet"], capture_output=True, text=True, env=dotnet_build.environment())
        if r.returncode != 0:
            for folder in folders.values():
                shutil.rmtree(folder)
            folders.clear()
            return "\n".join(line for line in r.stdout.splitlines() if ": error " in line)[:2000] or r.stdout[-2000:]
        for folder in folders.values():
            shutil.rmtree(os.path.join(folder, "artifacts"))
        return None


if __name__ == "__main__":
    try:
        problem = build_together()
    except Missing as missing:
        problem = str(missing)
    if problem:
        print(f"lab_programs.py: not built together: {problem}")
