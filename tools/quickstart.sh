#!/bin/sh
# From a fresh checkout to a first answer: installs what is missing, builds, and asks a bundled recording what leaks.  Writes only into build/.
set -eu
cd "$(dirname "$0")/.."
echo "1. Looking for the packages that a build needs"
sh tools/install-deps.sh
echo "2. Building build/gcdumpc: one to five minutes, messages go to build/build.log"
mkdir -p build
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DGCDUMPC_TESTS=OFF >build/build.log 2>&1 && cmake --build build -j "$(nproc)" >>build/build.log 2>&1 ||
    { cat build/build.log; exit 1; }
echo "   built: $(wc -c <build/gcdumpc) bytes"
echo "3. Asking a recording of the coffee shop (tests/shop), a service with three bugs, what leaks"
echo
echo "\$ build/gcdumpc leaks traces/shop/evening.nettrace.gz --top 1"
build/gcdumpc leaks traces/shop/evening.nettrace.gz --top 1
echo
echo "Next, your own program:"
echo "    build/gcdumpc ps                         which .NET processes run here"
echo "    build/gcdumpc --pid N -o my.nettrace     take a dump of one"
echo "    build/gcdumpc leaks my.nettrace          what leaks in it"
echo "README.md, \"Find a leak in five minutes\", goes on with the coffee shop."
