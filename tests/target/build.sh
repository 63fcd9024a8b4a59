#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds HeapLab for the .NET runtime of this machine and prints the path of the executable.
#
#   build.sh [--framework netN.0] OUTPUT-DIRECTORY
#
# The default framework is that of the newest SDK; it needs no package, so no network.  The source tree is not written
# to.  Exit: 0 built, 1 failed, 2 usage, 77 no .NET SDK.
set -eu

usage() {
    echo "usage: build.sh [--framework netN.0] OUTPUT-DIRECTORY" >&2
    exit 2
}

framework=
if [ "${1-}" = --framework ]; then
    [ $# -ge 2 ] || usage
    framework=$2
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

# No build servers: nothing may stay behind when a test is over.
if ! dotnet build "$source/HeapLab.csproj" --configuration Release --artifacts-path "$output/artifacts" \
        --output "$output/bin" "-p:HeapLabFramework=$framework" -p:UseSharedCompilation=false -nodeReuse:false \
        --nologo --verbosity quiet > "$output/build.log" 2>&1; then
    cat "$output/build.log" >&2
    echo "build.sh: cannot build HeapLab for $framework" >&2
    exit 1
fi
echo "$output/bin/HeapLab"
