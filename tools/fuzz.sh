#!/bin/sh
# Fuzzes with libFuzzer: sh tools/fuzz.sh [--seconds N] [--max-len N] [--jobs N] [--build DIR] [--no-build] [TARGET ...]
#
# Builds the targets of tests/fuzz with clang, libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer in --build (build-fuzz), and
# runs all of them, or the TARGETs, for --seconds (60), --jobs (1) at a time, with inputs of up to --max-len bytes (30000).  It starts from
# tests/fuzz/corpus and from what earlier runs have left in BUILD/found.  Prints a line for each target: executions, program edges reached,
# result.  BUILD/found/executions.log has a line for each run, with its processor time.  Exit status 1 if something was found:
# the input is in BUILD/found/TARGET-crash-... (-leak-, -timeout-, -oom-).
set -u
cd "$(dirname "$0")/.." || exit 1
usage() { sed -n '2s/^# //p' tools/fuzz.sh >&2; exit 2; }
seconds=60 max=30000 jobs=1 build=build-fuzz make=yes
while [ $# -gt 0 ]; do
    case $1 in
    --no-build) make= ; shift; continue ;;
    --seconds | --max-len | --jobs | --build) [ $# -ge 2 ] || usage ;;
    -*) usage ;;
    *) break ;;
    esac
    case $1 in --seconds) seconds=$2 ;; --max-len) max=$2 ;; --jobs) jobs=$2 ;; --build) build=$2 ;; esac
    shift 2
done
found=$build/found
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(for f in tests/fuzz/fuzz_*.c; do basename "$f" .c; done)
mkdir -p "$found" || exit 1

if [ -n "$make" ]; then
    # shellcheck disable=SC2046
    if ! { cmake -S . -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGCDUMPC_FUZZ=ON -DGCDUMPC_SANITIZE=address,undefined &&
           cmake --build "$build" -j "$(nproc)" --target $(printf '%s_lf ' "$@"); } >"$build/build.log" 2>&1; then
        tail -n 40 "$build/build.log"
        exit 1
    fi
fi
if [ $# -gt 1 ]; then                # each target in its own run of this script
    printf '%s\n' "$@" | xargs -P "$jobs" -n 1 sh tools/fuzz.sh --no-build --seconds "$seconds" --max-len "$max" --build "$build" || exit 1
    exit 0
fi

words=tests/fuzz/dictionary/$1.dict
mkdir -p "$found/$1"
# A short quarantine, no allocation stacks, no feature statistics: twice as fast.  Findings are examined without these options.
export ASAN_OPTIONS="quarantine_size_mb=2:malloc_context_size=0:max_malloc_fill_size=0:max_free_fill_size=0:detect_stack_use_after_return=0"
"$build/tests/${1}_lf" -max_total_time="$seconds" -max_len="$max" -timeout=60 -rss_limit_mb=2500 -entropic=0 \
    -print_final_stats=1 -artifact_prefix="$found/$1-" $([ ! -f "$words" ] || echo "-dict=$words") \
    "$found/$1" "tests/fuzz/corpus/$1" >"$found/$1.log" 2>&1
status=$?
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$found/$1.log")
edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$found/$1.log" | tail -n 1)
times >"$found/$1.times"             # the last line has the times of child processes
used=$(tail -n 1 "$found/$1.times")
echo "$1 ${runs:-0} executions in $seconds s (user and system: $used), exit status $status" >>"$found/executions.log"
printf '%-14s %10s executions in %s s, %s edges: ' "$1" "${runs:-0}" "$seconds" "${edges:-no}"
if [ "$status" -eq 0 ]; then
    echo "nothing found"
else
    echo "FOUND something"
    grep -E '^property:|ERROR: |SUMMARY: |runtime error: |Test unit written' "$found/$1.log" || tail -n 5 "$found/$1.log"
    exit 1
fi
