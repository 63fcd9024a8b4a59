#!/bin/sh
# Usage: run-tests.sh [STAGE ...], by default all of these but fast:
#
#     fast         unit tests, short tests of the program and style, in the build as it is shipped
#     release      all tests without living processes, in the build as it is shipped
#     sanitizers   most of them with sanitizers; unit tests and tests of the program without live processes compiled in; an analyser
#     live         tests with living processes, in the builds of release and sanitizers
#     fuzz         each fuzz target for GCDUMPC_FUZZ_SECONDS (40), beside live if both are asked for
#
# GCDUMPC_ANALYSERS are those of tools/analyse.sh to run (cppcheck).  Installs what is missing.
# Ends with "N passed, N failed, N skipped"; exit status 1 when something failed.
set -u
cd "$(dirname "$0")/.."
for stage; do
    case $stage in
        fast | release | sanitizers | live | fuzz) ;;
        *) echo "run-tests.sh: there is no stage \"$stage\"; there is: fast release sanitizers live fuzz" >&2; exit 2 ;;
    esac
done
[ $# -gt 0 ] || set -- release sanitizers live fuzz
stages=" $* "
wanted() { case $stages in *" $1 "*) ;; *) return 1 ;; esac; }
sh tools/install-deps.sh --tests || exit 1
mkdir -p build-tests
# The .NET programs of the live tests are the same in all builds.
export GCDUMPC_TEST_CACHE="$PWD/build-tests/live"
passed=0 failed=0 skipped=0

# FOLDER, ctest options; counts what came of it.
run_tests() {
    dir=build-tests/$1
    shift
    [ -e "$dir/built" ] || return
    ctest --test-dir "$dir" --output-on-failure -j "$(nproc)" --output-junit "$PWD/$dir/result.xml" "$@"
    # the one line <testsuite … tests= failures= skipped= > has the sums
    sums=$(tr '\n\t' '  ' <"$dir/result.xml" | sed 's/.*<testsuite \([^>]*\)>.*/\1/')
    value() { echo "$sums" | sed "s/.*[ \"]$1=\"\([0-9]*\)\".*/\1/"; }
    all=$(value tests) bad=$(value failures) not_run=$(value skipped)
    passed=$((passed + all - bad - not_run)) failed=$((failed + bad)) skipped=$((skipped + not_run))
    # what was skipped says why
    grep -h '^skipped: ' "$dir/Testing/Temporary/LastTest.log" 2>/dev/null
}

# FOLDER, cmake options
build() {
    dir=build-tests/$1
    echo "== $1 ($(minutes))"
    shift
    mkdir -p "$dir"
    rm -f "$dir/built"
    # one installation of the real readers for all builds
    if { cmake -S . -B "$dir" -DGCDUMPC_WERROR=ON -DGCDUMPC_READERS_DIR="$PWD/build-tests/readers" "$@" && cmake --build "$dir" -j "$(nproc)"; } >"$dir/build.log" 2>&1; then
        touch "$dir/built"
    else
        tail -n 40 "$dir/build.log"
        echo "== the build failed"
        failed=$((failed + 1))
    fi
}

# Since the beginning
began=$(date +%s)
minutes() { echo "$((($(date +%s) - began) / 60)) min"; }

build_release() { build release -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release; }
build_sanitizers() {
    build sanitizers -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGCDUMPC_SANITIZE=address,undefined
}

stage_fast() {
    build_release
    run_tests release -L fast
}

stage_release() {
    build_release
    run_tests release -LE live
}

# What the readers and browsers of others see does not depend on the build; fuzzing has sanitizers of its own; and the longest tests are
# left to "tools/analyse.sh asan", which runs all: all of this is to take 20 minutes at most.
stage_sanitizers() {
    build_sanitizers
    run_tests sanitizers -LE 'live|readers|browser|install|fuzz|docs|bench|style|linkage' \
        -E 'golden/test_formats|golden/test_devtools|sweep/sweep_(gzip|flip|dart|gcdump)|cli/test_(failing_calls|budget)'

    build no-ipc -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug -DGCDUMPC_IPC=OFF
    run_tests no-ipc -L 'unit|cli' -E 'cli/test_(failing_calls|budget|formats|threads|limits)'

    echo "== analysers ($(minutes))"
    # shellcheck disable=SC2086
    if GCDUMPC_ANALYSE=build-tests/analyse sh tools/analyse.sh ${GCDUMPC_ANALYSERS:-cppcheck}; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# One job more than there are processors, so that nobody waits for the last.  In a session of its own, so that all of it can be ended; where
# the scheduler divides the time by sessions, that is what has to be nice.
start_fuzz() {
    setsid sh -c '{ echo 19 >/proc/self/autogroup; } 2>/dev/null; exec nice -n 19 sh tools/fuzz.sh "$@"' sh \
        --build build-tests/fuzz --seconds "${GCDUMPC_FUZZ_SECONDS:-40}" --jobs $(($(nproc) + 1)) >build-tests/fuzzing.log 2>&1 &
    fuzzing=$!
    trap 'kill -- "-$fuzzing" 2>/dev/null' EXIT
    trap 'exit 130' INT TERM
}

# Other .NET programs and a busy machine can get into the way of these: the log shows what failed, a second failure counts.  Most of the time
# they wait, so twice as many run at once.
stage_live() {
    [ "$have_release" = yes ] || build_release
    [ "$have_sanitizers" = yes ] || build_sanitizers
    echo "== living processes ($(minutes))"
    run_tests release -L live -j $((2 * $(nproc))) --repeat until-pass:2
    run_tests sanitizers -L live -E 'live/test_(soak|matrix|job)' -j $((2 * $(nproc))) --repeat until-pass:2
}

stage_fuzz() {
    echo "== fuzzing ($(minutes))"
    if wait "$fuzzing"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    cat build-tests/fuzzing.log
}

# In this order, whatever order they were named in.
have_release=no have_sanitizers=no
if wanted fast && ! wanted release; then stage_fast; have_release=yes; fi
if wanted release; then stage_release; have_release=yes; fi
if wanted sanitizers; then stage_sanitizers; have_sanitizers=yes; fi
if wanted fuzz; then start_fuzz; fi
if wanted live; then stage_live; fi
if wanted fuzz; then stage_fuzz; fi

echo "== done ($(minutes))"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
