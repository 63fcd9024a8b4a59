#!/bin/sh
# What the tests run of the product: sh tools/coverage.sh [--build DIR] [--no-live] [--report]
#
# Builds with clang's source-based coverage in --build (build-coverage), runs the tests of all folders but those that look at files with the
# readers and browsers of others (the live ones only where there is a .NET SDK, not with --no-live), and prints the lines of each folder that
# were run; DIR/uncovered.txt lists those that were not, with their text.  --report: no tests, only the tables again.  Tests that take away
# the program's memory, disk or rights fail here: it cannot write its profile then, and says so on standard error.
set -u
cd "$(dirname "$0")/.." || exit 1
build=build-coverage live=yes tests=yes
while [ $# -gt 0 ]; do
    case $1 in
    --build) [ $# -ge 2 ] && build=$2 && shift ;;
    --no-live) live= ;;
    --report) tests= ;;
    *) sed -n '2s/^# //p' tools/coverage.sh >&2; exit 2 ;;
    esac
    shift
done
mkdir -p "$build/profiles" || exit 1
build=$(cd "$build" && pwd)
command -v dotnet >/dev/null || live=

if [ -n "$tests" ]; then
    if ! { cmake -S . -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug \
                 -DCMAKE_C_FLAGS='-O1 -fprofile-instr-generate -fcoverage-mapping' &&
           cmake --build "$build" -j "$(nproc)"; } >"$build/build.log" 2>&1; then
        tail -n 40 "$build/build.log"
        exit 1
    fi
    rm -f "$build"/profiles/*
    chmod 777 "$build/profiles"          # for the tests that run the program as somebody else
    # %4m: a few files for each program, into which all its runs merge what they did; not those that are killed
    LLVM_PROFILE_FILE="$build/profiles/%4m.profraw" ctest --test-dir "$build" -j "$(nproc)" --output-on-failure \
        -L "^(unit|sweep|fuzz|cli|golden${live:+|live})\$" >"$build/tests.log" 2>&1
    grep -E 'tests passed|\((Failed|Timeout|Not Run)' "$build/tests.log"
fi
llvm-profdata merge -o "$build/tests.profdata" "$build"/profiles/*.profraw &&
    llvm-cov export -format=lcov -instr-profile="$build/tests.profdata" "$build/gcdumpc" -object "$build/libgcdumpc_ipc.a" >"$build/tests.lcov" &&
    python3 -B tools/coverage_report.py "$build/tests.lcov" "$build/uncovered.txt"
