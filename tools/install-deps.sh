#!/bin/sh
# Installs the Debian packages that a build needs; with --tests also those that the tests need.  Needs root or sudo only if
# something is missing.
set -eu
optional=
packages='gcc libc6-dev make cmake pkg-config zlib1g-dev libuv1-dev libjansson-dev libpcre2-dev libsqlite3-dev libzstd-dev libncurses-dev libedit-dev'
if [ "${1-}" = --tests ]; then
    packages="$packages g++ clang lld ninja-build ccache libclang-rt-14-dev libcmocka-dev python3 python3-numpy python3-pyte sqlite3 golang-go aspell aspell-en codespell cron mandoc zsh fish socat strace zstd"
    command -v chromium >/dev/null || packages="$packages chromium"
    # takes half of the processor time; older Debian versions lack it
    command -v chromium-headless-shell >/dev/null || optional=chromium-headless-shell
    # any Node will do: packages from elsewhere contain npm and conflict with Debian's
    command -v npm >/dev/null || packages="$packages nodejs npm"
fi

missing=
for p in $packages; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
done
[ -n "$missing$optional" ] || exit 0
if ! command -v apt-get >/dev/null; then
    [ -n "$missing" ] || exit 0
    echo "install-deps.sh: this is no Debian; please install:$missing" >&2
    exit 1
fi
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
echo "installing, which takes some minutes if there are many:$missing $optional"
export DEBIAN_FRONTEND=noninteractive
# Old package lists often suffice; if they do not, the installation fails.
$as_root apt-get update -qq || echo "install-deps.sh: the package lists could not be refreshed" >&2
# shellcheck disable=SC2086
[ -z "$missing" ] || $as_root apt-get install -y -qq --no-install-recommends $missing
[ -z "$optional" ] || $as_root apt-get install -y -qq --no-install-recommends "$optional" || echo "install-deps.sh: without $optional" >&2
