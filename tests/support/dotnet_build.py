"""How tests build .NET programs."""
import os

# The compiler's process must not look like a program that can be dumped, and compiles too little to be worth optimizing.
VARIABLES = {"DOTNET_EnableDiagnostics": "0", "DOTNET_TieredPGO": "0"}


def options():
    """For "dotnet build", "publish" and "msbuild".  No build servers, as no process may remain after a test.  But a run of all tests
    (tools/run-tests.sh) has one compiler, named by GCDUMPC_TEST_COMPILER, and ends it: to start one takes 10 s of processor time."""
    server = os.environ.get("GCDUMPC_TEST_COMPILER")
    shared = ["-p:UseSharedCompilation=true", f"-p:SharedCompilationId={server}"] if server else ["-p:UseSharedCompilation=false"]
    return (*shared, "-p:RunAnalyzers=false", "-nodeReuse:false")


def environment():
    return {**os.environ, **VARIABLES}
