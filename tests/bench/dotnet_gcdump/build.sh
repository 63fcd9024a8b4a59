#!/bin/sh
# build.sh SOURCE FOLDER: builds dotnet-gcdump from SOURCE, a checkout of https://github.com/dotnet/diagnostics, into FOLDER, and prints its path.
#
# The repository's own build needs its package feeds.  This project compiles the same files with the SDK and packages of nuget.org; where those
# are newer, one renamed property of System.CommandLine is replaced in a copy.
set -eu
[ $# -eq 2 ] || { echo "usage: build.sh SOURCE FOLDER" >&2; exit 2; }
mkdir -p "$2/source"
folder=$(cd "$2" && pwd)
cp -R "$1/src/Tools/dotnet-gcdump" "$1/src/Tools/Common" "$1/src/Microsoft.Diagnostics.NETCore.Client" "$folder/source"
sed -i 's/\.Configuration\.\(Output\|Error\)/.InvocationConfiguration.\1/g' "$folder/source/Common/Commands/ProcessStatus.cs"
cp "$(dirname "$0")/dotnet-gcdump.csproj" "$folder"
dotnet build "$folder/dotnet-gcdump.csproj" --configuration Release --output "$folder/bin" >"$folder/build.log" || { tail "$folder/build.log"; exit 1; }
echo "$folder/bin/dotnet-gcdump"
