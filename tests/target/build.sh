#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds HeapLab for the .NET runtime of this machine and prints the path of the executable.
#
#   build.sh [--framework netN.0] [--self-contained [--runtime VERSION]] OUTPUT-DIRECTORY
#
# The default framework is that of the newest SDK; it needs no package, so no network.  --self-contained puts the runtime
# beside the program, from NuGet: for runtimes that this machine has not; --runtime takes one that is newer than the framework.
# The source tree is not written to.
# Exit: 0 built, 1 failed, 2 usage, 77 no .NET SDK or no NuGet.
set -eu

usage() {
    echo "usage: build.sh [--framework netN.0] [--self-contained [--runtime VERSION]] OUTPUT-DIRECTORY" >&2
    exit 2
}

framework=
if [ "${1-}" = --framework ]; then
    [ $# -ge 2 ] || usage
    framework=$2
    shift 2
fi
contained=
if [ "${1-}" = --self-contained ]; then
    contained=yes
    shift
fi
runtime=
if [ -n "$contained" ] && [ "${1-}" = --runtime ]; then
    [ $# -ge 2 ] || usage
    runtime=$2
    shift 2
fi
[ $# -eq 1 ] && [ -n "$1" ] || usage

# An SDK, not just a runtime.
if ! version=$(dotnet --version 2>/dev/null); then
    echo "build.sh: no .NET SDK (dotnet) on this machine"
    exit 77
fi
source=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
output=$(cd "$1" && pwd)
[ -n "$framework" ] || framework=net${version%%.*}.0

DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
export DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO

# No build servers: nothing may stay behind when a test is over.  A run of all tests has a compiler of its own and ends it.
if [ -n "${GCDUMPC_TEST_COMPILER-}" ]; then
    compiler="-p:UseSharedCompilation=true -p:SharedCompilationId=$GCDUMPC_TEST_COMPILER"
else
    compiler=-p:UseSharedCompilation=false
fi
# shellcheck disable=SC2086
set -- "$source/HeapLab.csproj" --configuration Release --artifacts-path "$output/artifacts" --output "$output/bin" \
    "-p:HeapLabFramework=$framework" $compiler -p:RunAnalyzers=false -nodeReuse:false --nologo --verbosity quiet
if [ -n "$contained" ]; then
    set -- publish "$@" --use-current-runtime --self-contained true ${runtime:+"-p:RuntimeFrameworkVersion=$runtime"}
else
    set -- build "$@"
fi
if ! dotnet "$@" > "$output/build.log" 2>&1; then
    # NU1301: the server cannot be reached; NU1101, NU1102: it does not have the package
    if [ -n "$contained" ] && grep -qE 'NU1301|NU110[12]' "$output/build.log"; then
        echo "build.sh: the runtime of $framework cannot be had from NuGet"
        exit 77
    fi
    cat "$output/build.log" >&2
    echo "build.sh: cannot build HeapLab for $framework" >&2
    exit 1
fi
echo "$output/bin/HeapLab"
