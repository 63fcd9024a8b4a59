#!/bin/sh
# Coverage of the product by the tests: sh tools/coverage.sh [--build DIR] [--no-live] [--fuzzed DIR] [--report]
#
# Builds with clang's source-based coverage in --build (build-coverage).  Runs the tests of all folders except those that read files with other
# programs (live tests need a .NET SDK; --no-live skips them).  Prints the share of lines of each folder that were run; DIR/uncovered.txt lists the
# other lines with their text.  Tests that take away the program's memory, disk or permissions, or make its calls fail, fail here, because the program
# cannot write its profile and reports that on standard error.
# --fuzzed: instead of the tests, each fuzz target replays its corpus and the inputs that tools/fuzz.sh left in DIR/TARGET.  --report: runs nothing,
# and prints the tables again.
set -u
cd "$(dirname "$0")/.." || exit 1
build=build-coverage live=yes run=tests fuzzed=
while [ $# -gt 0 ]; do
    case $1 in
    --build) [ $# -ge 2 ] && build=$2 && shift ;;
    --fuzzed) [ $# -ge 2 ] && fuzzed=$(cd "$2" && pwd) && run=fuzzed && shift ;;
    --no-live) live= ;;
    --report) run= ;;
    *) sed -n '2s/^# //p' tools/coverage.sh >&2; exit 2 ;;
    esac
    shift
done
mkdir -p "$build" || exit 1
build=$(cd "$build" && pwd)
profiles=$build/profiles${fuzzed:+-fuzzed}
command -v dotnet >/dev/null || live=

if [ -n "$run" ]; then
    if ! { cmake -S . -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug \
                 -DCMAKE_C_FLAGS='-O1 -fprofile-instr-generate -fcoverage-mapping' &&
           cmake --build "$build" -j "$(nproc)"; } >"$build/build.log" 2>&1; then
        tail -n 40 "$build/build.log"
        exit 1
    fi
    mkdir -p "$profiles" && rm -f "$profiles"/*
    chmod 777 "$profiles"                # for tests that run the program as another user
fi
# %4m: a few files for each program; each of its runs adds its counts to one of them, unless it is killed
export LLVM_PROFILE_FILE="$profiles/%4m.profraw"
if [ "$run" = fuzzed ]; then
    for f in tests/fuzz/fuzz_*.c; do
        target=$(basename "$f" .c)
        mkdir -p "$fuzzed/$target"
        "$build/tests/$target" "$fuzzed/$target" "tests/fuzz/corpus/$target"
    done
elif [ "$run" = tests ]; then
    # The program makes the manual pages and completions that tests/install checks.
    rm -rf "$build/manual"
    cmake --build "$build" --target manual >>"$build/build.log" 2>&1 || exit 1
    ctest --test-dir "$build" -j "$(nproc)" --output-on-failure -L "^(unit|sweep|fuzz|cli|golden${live:+|live})\$" >"$build/tests.log" 2>&1
    grep -E 'tests passed|\((Failed|Timeout|Not Run)' "$build/tests.log"
fi
llvm-profdata merge -o "$build/tests.profdata" "$profiles"/*.profraw &&
    llvm-cov export -format=lcov -instr-profile="$build/tests.profdata" "$build/gcdumpc" -object "$build/libgcdumpc_ipc.a" >"$build/tests.lcov" &&
    python3 -B tools/coverage_report.py "$build/tests.lcov" "$build/uncovered.txt"
