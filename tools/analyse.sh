#!/bin/sh
# analyse.sh WHAT...: finds defects without specific tests.  Prints one line for each step, "ok" or the findings; exit status 1 if there are any.
#
#   cppcheck clang-tidy fanalyzer    static analysers; tools/analyse/excused.txt lists the findings that are not defects, with reasons
#   asan tsan msan valgrind          the tests under sanitizers; msan with libraries built for it, without live processes
#   m32 s390x arm64                  32 bits, big-endian, ARM (the last two emulated): unit tests, sweeps, and the same files as on this machine,
#                                    byte for byte
#   musl                             the C library of Alpine: unit tests, and the same files, written in a root folder with nothing else
#   matrix                           gcc and clang, Debug and Release, each option off once: warnings and unit tests
#   short                            cppcheck, m32, s390x without the slow tests: a few minutes (.ci/run has cppcheck only)
#   all                              all of it
#
# Installs what is missing (Debian).  Builds in build-analyse/, or $GCDUMPC_ANALYSE; JOBS=N, default all processors.  GCDUMPC_NATIVE: an existing
# native build to compare with, instead of a new one.
set -u
cd "$(dirname "$0")/.."
base=${GCDUMPC_ANALYSE:-build-analyse}
jobs=${JOBS:-$(nproc)}
failed=0
mkdir -p "$base"
base=$(cd "$base" && pwd)
native=${GCDUMPC_NATIVE:-$base/native}

# Debian packages, if one of them is missing
need() {
    for p in "$@"; do
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' && continue
        as_root=
        [ "$(id -u)" -eq 0 ] || as_root=sudo
        echo "installing: $*"
        $as_root apt-get update -qq
        DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends "$@" >/dev/null
        return
    done
}

# NAME, command: its output only when it fails
step() {
    name=$1
    shift
    began=$(date +%s)
    if "$@" >"$base/$name.log" 2>&1; then
        echo "ok      $name ($(($(date +%s) - began)) s)"
    else
        grep -v '^\[[0-9]*/[0-9]*\] \(Building\|Linking\)' "$base/$name.log" | tail -n 60
        echo "FAILED  $name ($base/$name.log)"
        failed=1
    fi
}

# FOLDER, cmake options
build() {
    dir=$base/$1
    shift
    cmake -S . -B "$dir" -DGCDUMPC_WERROR=ON -DGCDUMPC_READERS_DIR="$base/readers" "$@" && cmake --build "$dir" -j "$jobs"
}

# FOLDER, ctest options
tests() {
    dir=$base/$1
    shift
    ctest --test-dir "$dir" --output-on-failure -j "$jobs" "$@"
}

native() {
    [ -n "${GCDUMPC_NATIVE-}" ] || build native -DCMAKE_BUILD_TYPE=Release
}

# ---- static ----

# LOG: its findings, "FILE:LINE: ... [CHECK]", that tools/analyse/excused.txt does not have
judge() {
    sed "s|^$PWD/||" "$1" | awk '
        NR == FNR { if ($1 != "" && $1 !~ /^#/) excused[$1 " " $2] = 1; next }
        /^[^ ]*:[0-9]+(:[0-9]+)?: .*\[[^][]*\]$/ && !/: note: / {
            check = $0; sub(/.*\[/, "", check); sub(/\]$/, "", check)
            file = $0; sub(/:.*/, "", file)
            n = split(check, part, ","); ok = 0
            for (i = 1; i <= n; i++) ok = ok || (part[i] " *") in excused || (part[i] " " file) in excused
            if (!ok && !seen[$0]++) { print; found = 1 }
        }
        END { exit found }' tools/analyse/excused.txt -
}

run_cppcheck() {
    cppcheck -q -j "$jobs" --std=c11 --language=c --enable=warning,performance,portability --library=posix --library=gnu \
        --template='{file}:{line}: {message} [{id}]' -D_GNU_SOURCE -DNDEBUG -DGCDUMPC_ANALYSED -DGCDUMPC_HAVE_IPC -DGCDUMPC_HAVE_SQLITE -DGCDUMPC_HAVE_BROWSE \
        -I include -I src -I src/cli -I . src ipc tools >"$base/cppcheck.found" 2>&1 || return 1
    judge "$base/cppcheck.found"
}

# its exit status says only that something was found, so the log must show that all files were checked
run_clang_tidy() {
    dir=$base/clang-tidy                 # without a build: the compile commands are enough
    cmake -S . -B "$dir" -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON || return 1
    find src ipc tools -name '*.c' -print0 | xargs -0 -n 4 -P "$jobs" clang-tidy -p "$dir" --quiet --extra-arg=-DGCDUMPC_ANALYSED \
        --extra-arg="-I$PWD/include" --extra-arg="-I$dir/include" >"$base/clang-tidy.found" 2>&1
    ! grep -E 'error:|Error while' "$base/clang-tidy.found" && judge "$base/clang-tidy.found"
}

run_fanalyzer() {
    dir=$base/fanalyzer
    rm -rf "$dir"                        # otherwise up-to-date files would be skipped
    cmake -S . -B "$dir" -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release -DGCDUMPC_TESTS=OFF -DCMAKE_C_FLAGS="-fanalyzer -DGCDUMPC_ANALYSED" &&
        cmake --build "$dir" -j "$jobs" >"$base/fanalyzer.found" 2>&1 && judge "$base/fanalyzer.found"
}

# ---- sanitizers ----

run_asan() {
    build asan -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGCDUMPC_SANITIZE=address,undefined &&
        tests asan -LE 'browser|install|style|linkage'
}

run_tsan() {
    build tsan -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGCDUMPC_SANITIZE=thread &&
        TSAN_OPTIONS="suppressions=$PWD/tools/analyse/tsan.txt" tests tsan -L 'unit|cli'
}

# SQLite and libuv are too large to build here; the other sanitizers cover the code that uses them.
run_msan() {
    CC=clang CFLAGS="-fsanitize=memory -fno-omit-frame-pointer" sh tools/analyse/source-root.sh "$base/root-msan" zlib jansson pcre2 cmocka &&
        PKG_CONFIG_PATH=$base/root-msan/lib/pkgconfig build msan -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo \
            -DGCDUMPC_SANITIZE=memory -DGCDUMPC_SQLITE=OFF -DGCDUMPC_BROWSE=OFF -DGCDUMPC_IPC=OFF -DZLIB_ROOT="$base/root-msan" \
            -DCMAKE_C_FLAGS="-D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -include $PWD/tools/analyse/msan_calls.h" &&
        tests msan -L 'unit|sweep|cli'
}

# Memcheck also sees what the libraries do, but takes 20 to 50 times as long, so it runs no sweeps.  It mistakes glibc's checked memmove for memcpy,
# so hardening is off.
run_valgrind() {
    build valgrind -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGCDUMPC_HARDEN=OFF \
        -DCMAKE_CROSSCOMPILING_EMULATOR='valgrind;-q;--error-exitcode=99;--leak-check=full;--errors-for-leak-kinds=definite;--trace-children=no' &&
        tests valgrind -L unit --timeout 3000 && native &&
        EMULATOR='valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite' \
            python3 tools/analyse/same_bytes.py "$native" "$base/valgrind" traces/net10-wks/heap.nettrace.gz
}

# ---- other machines ----

# ARCH, emulator or "", ctest options
foreign() {
    arch=$1 emulator=$2
    shift 2
    sh tools/analyse/foreign-root.sh "$arch" "$base/root-$arch" && native &&
        build "$arch" -DCMAKE_TOOLCHAIN_FILE="$PWD/tools/cmake/foreign.cmake" -DFOREIGN_TRIPLE="$(echo "$arch" | sed 's/arm64/aarch64/')-linux-gnu" \
            -DFOREIGN_ROOT="$base/root-$arch" -DCMAKE_BUILD_TYPE=Release &&
        tests "$arch" "$@" && EMULATOR=$emulator python3 tools/analyse/same_bytes.py "$native" "$base/$arch" $few
}

not_emulated='ipc_lock|cli_finder|cli_telling|spill'

# Only every eleventh position, or it would take hours.  sweep_damage starts another program, which the emulator cannot do.
emulated_sweeps() {
    GCDUMPC_SWEEP_STRIDE=11 tests "$1" -L sweep -E sweep_damage
}

# The program needs only this C library, and the library is its own loader.  SQLite and ncurses are too large to build here.
run_musl() {
    root=$base/root-musl
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    CC=musl-gcc CFLAGS="-isystem $root/kernel" sh tools/analyse/source-root.sh "$root" zlib jansson pcre2 libuv1 cmocka && native &&
        PKG_CONFIG_LIBDIR=$root/lib/pkgconfig build musl -DCMAKE_C_COMPILER=musl-gcc -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$root" \
            -DZLIB_ROOT="$root" -DCMAKE_C_FLAGS="-isystem $root/kernel" -DGCDUMPC_SQLITE=OFF -DGCDUMPC_BROWSE=OFF -DGCDUMPC_LIBEDIT=OFF &&
        tests musl -L unit && $as_root env LOADER=/lib/ld-musl-x86_64.so.1 python3 tools/analyse/same_bytes.py "$native" "$base/musl"
}

# ---- the rest ----

# COMPILER, kind of build, further options
combination() {
    compiler=$1 kind=$2
    shift 2
    name=matrix-$compiler-$kind$(echo "$*" | sed 's/-DGCDUMPC_/-/g; s/[= ]//g')
    step "$name" build "$name" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE="$kind" "$@"
    step "$name-tests" tests "$name" -L unit
}

# The packages with the compilers and libraries of other architectures; i386 needs no emulator.
need_foreign() {
    need cmake make pkg-config python3 gcc-i686-linux-gnu libc6-dev-i386-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user \
        gcc-aarch64-linux-gnu libc6-dev-arm64-cross
}

one() {
    few=
    case $1 in
    cppcheck) need cppcheck; step cppcheck run_cppcheck ;;
    clang-tidy) need clang-tidy; step clang-tidy run_clang_tidy ;;
    fanalyzer) need gcc; step fanalyzer run_fanalyzer ;;
    asan) need clang; step asan run_asan ;;
    tsan) need clang; step tsan run_tsan ;;
    msan) need clang cmake; step msan run_msan ;;
    valgrind) need valgrind; step valgrind run_valgrind ;;
    m32) need_foreign; step m32 foreign i386 '' -L 'unit|sweep' ;;
    # Limits of the emulator: it makes a file of its own of /proc/self, which breaks test_ipc_lock; it cannot start itself, does not report why
# another program cannot be started, and frees no space within a file.  On the other byte order it cannot read this machine's locales.
    s390x) need_foreign; step s390x foreign s390x qemu-s390x -L unit -E "$not_emulated|cli_browse"; step s390x-sweeps emulated_sweeps s390x ;;
    arm64) need_foreign; step arm64 foreign arm64 qemu-aarch64 -L unit -E "$not_emulated"; step arm64-sweeps emulated_sweeps arm64 ;;
    musl) need musl-tools dpkg-dev; step musl run_musl ;;
    matrix)
        for kind in Debug Release; do
            combination gcc "$kind"
            combination clang "$kind"
        done
        combination gcc Release -DGCDUMPC_IPC=OFF
        combination gcc Release -DGCDUMPC_SQLITE=OFF -DGCDUMPC_BROWSE=OFF
        combination gcc Release -DGCDUMPC_HARDEN=OFF
        ;;
    short)
        one cppcheck
        need_foreign
        few=traces/net10-wks/heap.nettrace.gz
        step m32 foreign i386 '' -L unit
        step s390x foreign s390x qemu-s390x -L unit -E "$not_emulated|cli_browse|ipc|dominators|tables|stacks|w_v8|tree_diff|gcdump|names"
        ;;
    all)
        for what in cppcheck clang-tidy fanalyzer asan tsan msan valgrind m32 s390x arm64 musl matrix; do
            one "$what"
        done
        ;;
    *)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
}

[ $# -gt 0 ] || set -- help
for what in "$@"; do
    one "$what"
done
exit "$failed"
