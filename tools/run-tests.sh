#!/bin/sh
# Usage: run-tests.sh [STAGE ...].  Without arguments it runs all stages but fast:
#
#     fast         unit tests, short tests of the program and style, in a release build
#     release      all tests without living processes, in a release build
#     sanitizers   most of them with sanitizers, the fast ones in a build without live processes, and a static analyser
#     live         tests with living processes, in the builds of release and sanitizers
#     fuzz         each fuzz target for GCDUMPC_FUZZ_SECONDS (3); it runs beside live if both are wanted
#
# GCDUMPC_LONG=1: more of what rarely finds anything: every recording in every format, more failing calls, more losses, what fixed versions of other
# programs refuse; and with sanitizers every test, at more positions.
# GCDUMPC_ANALYSERS: the steps of tools/analyse.sh to run (cppcheck).  Installs missing packages.
# Ends with "N passed, N failed, N skipped"; exit status 1 if something failed.
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
# They share one C# compiler: to start one for each takes 10 s of processor time (measured).
export GCDUMPC_TEST_COMPILER="gcdumpc-tests-$$"
# With sanitizers, 16 instead of 256 MiB of freed memory are kept to notice its use: no test frees as much before it would use it, and each page of it
# costs system time (of three unit tests: 2.4 -> 1.5 s).
export ASAN_OPTIONS="quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
# Packages and other builds that tests make compile the same sources with the same options, but for -Werror and the path of their build folder, which
# -ffile-prefix-map removes.  Their paths are relative for the cache: some compile a copy of the sources.
if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_DIR="$PWD/build-tests/ccache" CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=locale CCACHE_IGNOREOPTIONS='-Werror -ffile-prefix-map=*'
    export CCACHE_BASEDIR="$PWD"
fi
results=build-tests/results
rm -rf "$results"
mkdir -p "$results"
# Make starts CMake for each object and program: 24 s of processor time for a build whose objects the cache has (50 instead of 26 s, measured).  The one
# that follows the README takes Make.
command -v ninja >/dev/null && export CMAKE_GENERATOR=Ninja
failed=0             # steps that are not tests
passed=0

# NAME, FOLDER, ctest options: runs tests, keeps log and result in $results.  Two tests more than processors at a time, because some tests wait.
# Other programs and a busy machine can disturb a test, so a second run counts.  The log shows the failure, and the last lines name the test.
# BEFORE: "exec setsid" gives it a session of its own, which can be killed.
before=
run_ctest() {
    name=$1 dir=build-tests/$2
    shift 2
    $before ctest --test-dir "$dir" --output-on-failure -j $(($(nproc) + 2)) --repeat until-pass:2 --output-junit "$PWD/$results/$name.xml" "$@" 2>&1
}
run_tests() {
    [ -e "build-tests/$2/built" ] || return
    echo "== tests in build-tests/$2 ($(seconds))"
    run_ctest "$@" | tee "$results/$1.log"
    say_skipped "$2"
}
say_skipped() {
    grep -h '^skipped: ' "build-tests/$1/Testing/Temporary/LastTest.log" >>"$results/skipped" 2>/dev/null
}

# Background jobs, each in its own session, end with this script, and so does the C# compiler, which else waits for work for 10 minutes.
live='' fuzzing='' building='' programs=''
stop_background() {
    for session in $live $fuzzing $building $programs; do kill -- "-$session" 2>/dev/null; done
    sdk=$(dotnet --list-sdks 2>/dev/null | tail -n 1 | sed 's|^\([^ ]*\) \[\(.*\)\]$|\2/\1|')
    [ -z "$sdk" ] || dotnet "$sdk/Roslyn/bincore/VBCSCompiler.dll" -shutdown "-pipename:$GCDUMPC_TEST_COMPILER" >/dev/null 2>&1
}
# Becomes COMMAND in a session of its own that computes only when nothing else does.  If the scheduler divides time by sessions, the session must be
# nice, too.
idle() {
    exec setsid sh -c '{ echo 19 >/proc/self/autogroup; } 2>/dev/null; exec nice -n 19 "$@"' sh "$@"
}
trap stop_background EXIT
trap 'exit 130' INT TERM

# Adds up the results of all runs, and names the tests that failed at least once.
add_results() {
    skipped=0
    for result in "$results"/*.xml; do
        [ -e "$result" ] || continue
        # the one line <testsuite … tests= failures= skipped= > has the sums
        sums=$(tr '\n\t' '  ' <"$result" | sed 's/.*<testsuite \([^>]*\)>.*/\1/')
        value() { echo "$sums" | sed "s/.*[ \"]$1=\"\([0-9]*\)\".*/\1/"; }
        all=$(value tests) bad=$(value failures) not_run=$(value skipped)
        passed=$((passed + all - bad - not_run)) failed=$((failed + bad)) skipped=$((skipped + not_run))
    done
    cat "$results"/*.log 2>/dev/null | sed -n 's/.*Test *#[0-9]*: \([^ ]*\) \.*\*\*\*\(Failed\|Timeout\|Exception\).*/failed at least once: \1/p' | sort -u
}

# One process builds all .NET programs of the live tests and the guides, which takes half as long as one build for each, beside the release build: it
# often waits for packages.  A test that needs one before waits for it, too.
start_programs() {
    setsid python3 -B tests/live/lab_programs.py >build-tests/programs.log 2>&1 &
    programs=$!
}
end_programs() {
    echo "== build the .NET programs of the tests ($(seconds))"
    wait "$programs"
    programs=
    cat build-tests/programs.log
}

# FOLDER, targets, cmake options.  All builds share one installation of the real readers.
run_build() {
    dir=build-tests/$1 targets=$2
    shift 2
    mkdir -p "$dir"
    rm -f "$dir/built"
    # shellcheck disable=SC2086
    cmake -S . -B "$dir" -DGCDUMPC_WERROR=ON -DGCDUMPC_READERS_DIR="$PWD/build-tests/readers" "$@" >"$dir/build.log" 2>&1 &&
        $before cmake --build "$dir" -j "$(nproc)" --target $targets >>"$dir/build.log" 2>&1
}
# FOLDER, exit status
end_build() {
    if [ "$2" -eq 0 ]; then
        touch "build-tests/$1/built"
    else
        tail -n 40 "build-tests/$1/build.log"
        echo "== the build failed"
        failed=$((failed + 1))
    fi
}
build() {
    echo "== build build-tests/$1 ($(seconds))"
    run_build "$@"
    end_build "$1" $?
}

# since the start
began=$(date +%s)
seconds() { echo "$(($(date +%s) - began)) s"; }

# Unit tests that sanitizers make slow.
slow_units='unit/test_(sql_plans|writers)'
# Other unit tests and fuzz targets run with sanitizers: with assertions, which a release build lacks, and once, since to build and run them takes
# 150 s of processor time.
build_release() {
    programs_made='.*'
    if wanted sanitizers && wanted fuzz && ! wanted fast && [ "${GCDUMPC_LONG-}" != 1 ]; then programs_made="^(sweep/|$slow_units\$)"; fi
    build release all -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release -DGCDUMPC_TEST_PROGRAMS="$programs_made"
}
# One build for tests with sanitizers and for fuzzing: instrumenting the product for libFuzzer costs its tests 4 % (measured), a build of its own
# 110 s of processor time.  It is also the build of the type Debug, so assertions are checked.  Nothing else compiles with these options, so it does
# without the compiler cache.  It runs in what the release stage leaves idle.
start_sanitizers_build() {
    targets=
    if wanted sanitizers || wanted live; then targets='tests_unit tests_sweep tests_cli'; fi
    if wanted fuzz; then targets="$targets tests_libfuzzer"; fi
    before=idle linker=
    # a third of the time for 200 programs with the whole library: 60 s of processor time less (measured)
    if command -v ld.lld >/dev/null; then linker=-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld; fi
    # shellcheck disable=SC2086
    run_build sanitizers "$targets" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG='-O2 -gline-tables-only' $linker \
        -DCMAKE_C_COMPILER_LAUNCHER= -DGCDUMPC_SANITIZE=address,undefined -DGCDUMPC_FUZZ=ON &
    building=$! before=
}
end_sanitizers_build() {
    echo "== build build-tests/sanitizers ($(seconds))"
    wait "$building"
    end_build sanitizers $?
    building=
}

stage_fast() {
    build_release
    run_tests fast release -L fast
}

stage_release() {
    run_tests release release -LE live
}

# Readers and browsers see the same files in every build, and fuzzing has sanitizers anyway.  "tools/analyse.sh asan" runs everything.  This stage
# leaves out slow tests whose code other tests here run, too: all stages together may take 20 minutes on 2 processors.
stage_sanitizers() {
    # release tries every position, and 1,000 cases for each group
    if [ "${GCDUMPC_LONG-}" = 1 ]; then
        export GCDUMPC_SWEEP_STRIDE=13 GCDUMPC_DAMAGE_CASES=150
        slow='^$'
    else
        export GCDUMPC_SWEEP_STRIDE=47 GCDUMPC_DAMAGE_CASES=50
        slow="golden/test_(formats|devtools|salvage|tables|synthetic|bundled|said|core)|$slow_units|sweep/sweep_hostile"
        slow="$slow|cli/test_(failing_calls|budget|hostile_stream|threads|usage|formats|sql|html|patterns|diff|report_views|retained_paths|summary)$"
        # cli/test_outputs runs every command with its options; browse, keys and texts have unit tests; these took 200 s of processor time
        slow="$slow|cli/test_(answers|browse|convert|job|leaks|report|signals|strings)$"
    fi
    run_tests sanitizers sanitizers -LE 'live|readers|browser|install|fuzz|docs|bench|style|linkage' -E "$slow"
    unset GCDUMPC_SWEEP_STRIDE GCDUMPC_DAMAGE_CASES

    # the library is the same without living processes, so the cache has it
    build no-ipc tests_cli -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release -DGCDUMPC_IPC=OFF
    run_tests no-ipc no-ipc -L fast -LE 'style|unit'

    echo "== analysers ($(seconds))"
    # shellcheck disable=SC2086
    if GCDUMPC_ANALYSE=build-tests/analyse sh tools/analyse.sh ${GCDUMPC_ANALYSERS:-cppcheck}; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# One job more than processors, so that none is idle near the end.
start_fuzz() {
    idle sh tools/fuzz.sh --no-build --build build-tests/sanitizers --seconds "${GCDUMPC_FUZZ_SECONDS:-3}" --jobs $(($(nproc) + 1)) >build-tests/fuzzing.log 2>&1 &
    fuzzing=$!
}

# These tests mostly wait, so twice as many run at once, beside the sanitizers stage, which mostly computes.  Their output comes afterwards.
at_once="-j $((2 * $(nproc)))"
start_live() {
    [ -e build-tests/release/built ] || return
    before='exec setsid'
    # shellcheck disable=SC2086
    run_ctest live release -L live $at_once >"$results/live.log" &
    live=$! before=
}

# With sanitizers, only the tests in which gcdumpc does something different, and of those not what unit tests and a scripted runtime do as well.
stage_live() {
    if [ -n "$live" ]; then
        wait "$live"
        live=
        cat "$results/live.log"
        say_skipped release
    fi
    # shellcheck disable=SC2086
    run_tests live-sanitizers sanitizers -L live -R 'live/test_(bad_targets|listen_tcp|live|recorded_names|report_live)' $at_once
}

stage_fuzz() {
    echo "== fuzzing ($(seconds))"
    if wait "$fuzzing"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    fuzzing=
    cat build-tests/fuzzing.log
}

# In this order, whatever the order of the arguments.
have_release=no
if wanted live; then start_programs; fi
if wanted fast && ! wanted release; then stage_fast; have_release=yes; fi
if wanted release || { wanted live && [ "$have_release" = no ]; }; then build_release; fi
if wanted live; then end_programs; fi
if wanted sanitizers || wanted live || wanted fuzz; then start_sanitizers_build; fi
if wanted release; then stage_release; fi
if wanted live; then start_live; fi
if [ -n "$building" ]; then end_sanitizers_build; fi
if wanted sanitizers; then stage_sanitizers; fi
if wanted fuzz; then start_fuzz; fi
if wanted live; then stage_live; fi
if wanted fuzz; then stage_fuzz; fi

add_results
times >"$results/times"         # its second line: of all that was started
echo "== done ($(seconds)); user and system time: $(tail -n 1 "$results/times")"
sort -u "$results/skipped" 2>/dev/null
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
