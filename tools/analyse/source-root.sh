#!/bin/sh
# source-root.sh FOLDER LIBRARY ...: static libraries from Debian's sources (zlib, jansson, pcre2, libuv1, cmocka), built with the compiler CC and its
# options CFLAGS, installed into FOLDER.  FOLDER/kernel has the Linux headers, for a compiler that knows only those of its C library.
set -eu
root=$1
shift
[ ! -e "$root/complete" ] || exit 0
# shellcheck source=tools/analyse/apt-apart.sh
. "$(dirname "$0")/apt-apart.sh"
apt_apart_new "$root" deb-src
apt_apart update
mkdir "$root/src" "$root/kernel"
ln -s /usr/include/linux /usr/include/asm-generic "/usr/include/$(gcc -print-multiarch)/asm" "$root/kernel"
(cd "$root/src" && apt_apart source --download-only "$@")
for name; do
    mkdir "$root/src/$name"
    for archive in "$root/src/${name}_"*.orig.tar.*; do
        case $archive in *.asc) continue ;; esac
        tar xf "$archive" -C "$root/src/$name" --strip-components=1
    done
    if [ "$name" = zlib ]; then      # its CMakeLists.txt needs files that Debian has removed
        (cd "$root/src/zlib" && CFLAGS="$CFLAGS -O2 -fPIC" ./configure --static --prefix="$root" && make install)
        continue
    fi
    # the options of all libraries: each uses its own
    cmake -S "$root/src/$name" -B "$root/src/$name/build" -DCMAKE_C_COMPILER="$CC" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_INSTALL_PREFIX="$root" -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON \
        -DJANSSON_EXAMPLES=OFF -DWITH_EXAMPLES=OFF -DUNIT_TESTING=OFF -DPCRE2_BUILD_TESTS=OFF -DPCRE2_BUILD_PCRE2GREP=OFF -Wno-dev
    cmake --build "$root/src/$name/build" --target install
done
# pkg-config's name for it; its options make the shared one, too
[ ! -e "$root/lib/libuv_a.a" ] || { rm -f "$root/lib/libuv".so*; ln -s libuv_a.a "$root/lib/libuv.a"; }
rm -rf "$root/apt" "$root/src"
touch "$root/complete"
