#!/bin/sh
# foreign-root.sh ARCH FOLDER: the libraries of another Debian architecture, unpacked into FOLDER.
set -eu
arch=$1 root=$2
packages='zlib1g-dev zlib1g libjansson-dev libjansson4 libpcre2-dev libpcre2-8-0 libpcre2-16-0 libpcre2-32-0 libpcre2-posix3 libcmocka-dev libcmocka0 libsqlite3-dev libsqlite3-0 libncurses-dev libncurses6 libncursesw6 libtinfo6
          libuv1-dev libuv1 libzstd-dev libzstd1 libedit-dev libedit2 libbsd-dev libbsd0 libmd-dev libmd0'
[ ! -e "$root/complete" ] || exit 0
# shellcheck source=tools/analyse/apt-apart.sh
. "$(dirname "$0")/apt-apart.sh"
apt_apart_new "$root" deb
set -- -o APT::Architecture="$arch" -o APT::Architectures="$arch"
apt_apart "$@" update
mkdir "$root/packages"
# shellcheck disable=SC2086
(cd "$root/packages" && apt_apart "$@" download $packages)
for p in "$root"/packages/*.deb; do
    dpkg-deb -x "$p" "$root"
done
# links such as libz.so -> /lib/ARCH/libz.so.1 must point into this folder
find "$root" -type l -lname '/*' | while IFS= read -r link; do
    ln -sfn "$root$(readlink "$link")" "$link"
done
# and so must linker scripts such as libbsd.so: GROUP(/usr/lib/ARCH/libbsd.so.0.11.7 AS_NEEDED(-lmd))
find "$root" -name 'lib*.so' -type f -size -4k -exec grep -lI 'GROUP *(' {} + | while IFS= read -r script; do
    sed -i "s|\([( ]\)/\(usr/\)\{0,1\}lib/|\1$root/\2lib/|g" "$script"
done
rm -rf "$root/apt" "$root/packages"
touch "$root/complete"
