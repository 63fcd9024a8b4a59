#!/bin/sh
# From a fresh checkout to a first dump: installs what is missing, builds, converts a bundled recording, and dumps a living process
# if the .NET SDK is installed.  Writes only into build/.
set -eu
cd "$(dirname "$0")/.."
sh tools/install-deps.sh
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DGCDUMPC_TESTS=OFF >build.log 2>&1 && cmake --build build -j "$(nproc)" >>build.log 2>&1 ||
    { cat build.log; rm -f build.log; exit 1; }
rm -f build.log
run() {
    echo
    echo "\$ $*"
    "$@"
}
echo "built: build/gcdumpc, $(wc -c <build/gcdumpc) bytes"
run build/gcdumpc info traces/net10-wks/heap.nettrace.gz
run build/gcdumpc report traces/net10-wks/heap.nettrace.gz --top 10
run build/gcdumpc convert traces/net10-wks/heap.nettrace.gz -o build/recorded.gclog
run head -n 3 build/recorded.gclog

if ! heaplab=$(sh tests/target/build.sh build/heaplab); then
    echo
    echo "no .NET SDK here: the live dump is left out ($heaplab)"
    exit 0
fi
# The target lives as long as its standard input is open.
mkfifo build/heaplab.in
trap 'rm -f build/heaplab.in' EXIT
"$heaplab" <build/heaplab.in >build/heaplab.out &
pid=$!
exec 3>build/heaplab.in
while [ ! -s build/heaplab.out ]; do sleep 0.1; done
run build/gcdumpc --pid "$pid" -o build/live.gclog
run build/gcdumpc report --pid "$pid" --top 5
exec 3>&-
wait "$pid"
