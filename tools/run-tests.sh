#!/bin/sh
# All tests, in three builds: as it is shipped; with sanitizers; without live processes.  Then a little fuzzing: GCDUMPC_FUZZ_SECONDS for each
# target (10); and an analyser: GCDUMPC_ANALYSERS of tools/analyse.sh (cppcheck).  Installs what is missing.
# Ends with "N passed, N failed, N skipped"; exit status 1 when something failed.
set -u
cd "$(dirname "$0")/.."
sh tools/install-deps.sh --tests || exit 1
# The .NET programs of the live tests are the same in all builds.
export GCDUMPC_TEST_CACHE="$PWD/build-tests/live"
passed=0 failed=0 skipped=0

# ctest options; counts what came of it.
run_tests() {
    ctest --test-dir "$dir" --output-on-failure -j "$(nproc)" --output-junit "$PWD/$dir/result.xml" "$@"
    # the one line <testsuite … tests= failures= skipped= > has the sums
    sums=$(tr '\n\t' '  ' <"$dir/result.xml" | sed 's/.*<testsuite \([^>]*\)>.*/\1/')
    value() { echo "$sums" | sed "s/.*[ \"]$1=\"\([0-9]*\)\".*/\1/"; }
    all=$(value tests) bad=$(value failures) not_run=$(value skipped)
    passed=$((passed + all - bad - not_run)) failed=$((failed + bad)) skipped=$((skipped + not_run))
    # what was skipped says why
    grep -h '^skipped: ' "$dir/Testing/Temporary/LastTest.log" 2>/dev/null
}

# NAME, tests, tests with living processes (ctest options; "" = none of these), then cmake options
check() {
    name=$1 tests=$2 living=$3
    shift 3
    dir=build-tests/$name
    echo "== $name"
    mkdir -p "$dir"
    # one installation of the real readers for all builds
    if ! { cmake -S . -B "$dir" -DGCDUMPC_WERROR=ON -DGCDUMPC_READERS_DIR="$PWD/build-tests/readers" "$@" && cmake --build "$dir" -j "$(nproc)"; } >"$dir/build.log" 2>&1; then
        tail -n 40 "$dir/build.log"
        echo "== $name: the build failed"
        failed=$((failed + 1))
        return
    fi
    # shellcheck disable=SC2086
    run_tests $tests
    # Other .NET programs and a busy machine can get into the way of these: the log shows what failed, a second failure counts.
    # shellcheck disable=SC2086
    [ -z "$living" ] || run_tests $living --repeat until-pass:2
}

check release '-LE live' '-L live' -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release
# What the readers and browsers of others see does not depend on the build; the fuzzing below has sanitizers of its own; and the longest
# tests are left to "tools/analyse.sh asan", which runs all: all of this is to take half an hour at most.
once='golden/test_formats|golden/test_devtools|sweep/sweep_(gzip|flip|dart|gcdump)|cli/test_(failing_calls|budget)'
once_living='live/test_(soak|matrix|job)'
check sanitizers "-LE live|readers|browser|install|fuzz|docs|bench|style|linkage -E $once" "-L live -E $once_living" \
    -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGCDUMPC_SANITIZE=address,undefined
check no-ipc '-LE fuzz|sweep|live|golden|readers|browser|install|docs|bench -E cli/test_(failing_calls|budget|formats|threads|limits)' '' -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug -DGCDUMPC_IPC=OFF

# NAME, command
one_more() {
    echo "== $1"
    shift
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

one_more fuzzing sh tools/fuzz.sh --build build-tests/fuzz --seconds "${GCDUMPC_FUZZ_SECONDS:-10}" --jobs "$(nproc)"
one_more analysers env GCDUMPC_ANALYSE=build-tests/analyse sh tools/analyse.sh ${GCDUMPC_ANALYSERS:-cppcheck}

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
