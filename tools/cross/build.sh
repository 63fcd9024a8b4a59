#!/bin/sh
# build.sh ARCH FOLDER: makes packages for another Debian architecture, and checks that they do the same as the native ones.
#
#   build.sh arm64 /tmp/arm64      three .deb, a .tar.gz with the static program; then the same commands and conversions with both programs
#
# ARCH is arm64 or s390x.  Debian's cross compiler, C library and emulator must be installed (a message names them); further libraries are
# unpacked into FOLDER.  GCDUMPC_NATIVE: an existing native build of the same sources, instead of a new one.  With TRACE=FILE only that recording is
# compared.  Exit status 77: something is missing.
set -eu
[ $# -eq 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d' >&2; exit 2; }
arch=$1
case $arch in
arm64) triple=aarch64-linux-gnu emulator=qemu-aarch64 ;;
s390x) triple=s390x-linux-gnu emulator=qemu-s390x ;;
*) echo "build.sh: $arch is not known" >&2; exit 2 ;;
esac
for tool in "$triple-gcc" "$triple-strip" "$emulator" dpkg-deb dpkg-shlibdeps cmake; do
    command -v "$tool" >/dev/null || {
        echo "build.sh: $tool is missing: apt-get install gcc-$triple libc6-dev-$arch-cross qemu-user cmake dpkg-dev"
        exit 77
    }
done
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
native=${GCDUMPC_NATIVE:-$folder/native}

if [ -z "${GCDUMPC_NATIVE:-}" ]; then
    cmake -S "$source" -B "$native" -DCMAKE_BUILD_TYPE=Release -DGCDUMPC_TESTS=OFF -DGCDUMPC_MANUAL=OFF >"$native.log" 2>&1 &&
        cmake --build "$native" -j "$(nproc)" >>"$native.log" 2>&1 || { cat "$native.log" >&2; exit 1; }
fi
sh "$source/tools/analyse/foreign-root.sh" "$arch" "$folder/root" || {
    echo "build.sh: Debian's packages for $arch cannot be downloaded"
    exit 77
}

# FILE: prints the dependencies of the native package
depends() {
    mkdir -p "$folder/depends/debian"
    printf 'Source: gcdumpc\nPackage: gcdumpc\nArchitecture: any\n' >"$folder/depends/debian/control"
    (cd "$folder/depends" && dpkg-shlibdeps -O --ignore-missing-info "$1" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}
sh "$source/tools/package/build.sh" "$folder" -DCMAKE_TOOLCHAIN_FILE="$source/tools/cmake/foreign.cmake" -DFOREIGN_TRIPLE="$triple" \
    -DFOREIGN_ROOT="$folder/root" -DFOREIGN_PACKAGE="$arch" -DFOREIGN_DEPENDS_PROGRAM="$(depends "$native/gcdumpc")" \
    -DFOREIGN_DEPENDS_LIBRARY="$(depends "$native/libgcdumpc.so")"

echo "the static program beside that of this machine:"
EMULATOR=$emulator python3 "$source/tools/analyse/same_bytes.py" "$native" "$folder/build-static" ${TRACE:+"$TRACE"}
