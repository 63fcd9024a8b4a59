#!/bin/sh
# foreign-root.sh ARCH FOLDER: the libraries of another Debian architecture, unpacked into FOLDER.  Nothing is installed, and apt's own
# lists stay as they are: with a second architecture in them every library must be there in the very version of the first.
set -eu
arch=$1 root=$2
packages='zlib1g-dev zlib1g libjansson-dev libjansson4 libinih-dev libinih1 libcmocka-dev libcmocka0 libsqlite3-dev libsqlite3-0
          libuv1-dev libuv1'
[ ! -e "$root/complete" ] || exit 0
rm -rf "$root"
mkdir -p "$root/apt/lists/partial" "$root/apt/archives/partial" "$root/packages"
root=$(cd "$root" && pwd)
: >"$root/apt/status"
# shellcheck disable=SC1091
echo "deb http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" >"$root/apt/sources.list"
set -- -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State="$root/apt" -o Dir::State::status="$root/apt/status" \
    -o Dir::Cache="$root/apt" -o Dir::Etc::sourcelist="$root/apt/sources.list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=
apt-get "$@" update
# shellcheck disable=SC2086
(cd "$root/packages" && apt-get "$@" download $packages)
for p in "$root"/packages/*.deb; do
    dpkg-deb -x "$p" "$root"
done
rm -rf "$root/apt" "$root/packages"
touch "$root/complete"
