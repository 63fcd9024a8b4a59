#!/bin/sh
# Makes the packages of this version:
#
#   build.sh FOLDER [OPTION...]    three .deb, a .tar.gz with the static program, its manual, headers and archive; OPTIONs are for cmake
#
# Build folders are in FOLDER, too.  The same source and compiler make the same bytes.
set -eu
[ $# -ge 1 ] || { echo "usage: build.sh FOLDER [OPTION...]" >&2; exit 2; }
# before minutes of compiling
missing=
for need in cmake:cmake make:make pkg-config:pkg-config gzip:gzip file:file dpkg-deb:dpkg dpkg-shlibdeps:dpkg-dev strip:binutils; do
    command -v "${need%%:*}" >/dev/null || missing="$missing ${need#*:}"
done
[ -z "$missing" ] || { echo "build.sh: please install:$missing" >&2; exit 1; }
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
output=$(cd "$1" && pwd)
shift
# the time that dpkg-deb and tar write for each file
day=$(sed -n 's/^set(GCDUMPC_DATE \([0-9-]*\)).*/\1/p' "$source/CMakeLists.txt")
SOURCE_DATE_EPOCH=$(date -u -d "$day" +%s)
export SOURCE_DATE_EPOCH
# NAME, prefix in the package, generator of cpack, options of cmake
package() {
    build=$output/build-$1 prefix=$2 generator=$3
    shift 3
    cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DGCDUMPC_TESTS=OFF "$@" >"$build.log" 2>&1 &&
        cmake --build "$build" -j "$(nproc)" >>"$build.log" 2>&1 &&
        (cd "$build" && cpack -G "$generator" -D CPACK_PACKAGING_INSTALL_PREFIX="$prefix" -B "$output/cpack" >>"$build.log" 2>&1) ||
        { cat "$build.log" >&2; exit 1; }
}
package deb /usr DEB -DCMAKE_INSTALL_PREFIX=/usr "$@"
package static / TGZ -DGCDUMPC_STATIC=ON "$@"
mv "$output"/cpack/*.deb "$output"/cpack/*.tar.gz "$output"
rm -rf "$output/cpack"
ls "$output"/*.deb "$output"/*.tar.gz
