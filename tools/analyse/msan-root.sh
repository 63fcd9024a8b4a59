#!/bin/sh
# msan-root.sh FOLDER: zlib, jansson and cmocka from Debian's sources, built with clang -fsanitize=memory, installed into FOLDER.
# MemorySanitizer takes for uninitialized what a library wrote that was not built so.
set -eu
root=$1 flags='-fsanitize=memory -fno-omit-frame-pointer'
[ ! -e "$root/complete" ] || exit 0
# shellcheck source=tools/analyse/apt-apart.sh
. "$(dirname "$0")/apt-apart.sh"
apt_apart_new "$root" deb-src
apt_apart update
mkdir "$root/src"
(cd "$root/src" && apt_apart source --download-only zlib jansson cmocka)
for name in zlib jansson cmocka; do
    mkdir "$root/src/$name"
    for archive in "$root/src/${name}_"*.orig.tar.*; do
        case $archive in *.asc) continue ;; esac
        tar xf "$archive" -C "$root/src/$name" --strip-components=1
    done
    if [ "$name" = zlib ]; then      # its CMakeLists.txt wants files that Debian has left out
        (cd "$root/src/zlib" && CC=clang CFLAGS="$flags -O2 -fPIC" ./configure --static --prefix="$root" && make install)
        continue
    fi
    # the options of both: each takes its own
    cmake -S "$root/src/$name" -B "$root/src/$name/build" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DCMAKE_C_FLAGS="$flags" -DCMAKE_INSTALL_PREFIX="$root" -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON \
        -DJANSSON_EXAMPLES=OFF -DWITH_EXAMPLES=OFF -DUNIT_TESTING=OFF -Wno-dev
    cmake --build "$root/src/$name/build" --target install
done
rm -rf "$root/apt" "$root/src"
touch "$root/complete"
