#!/bin/sh
# record.sh GCDUMPC FOLDER: builds the shop as /srv/coffeeshop and records it twice with GCDUMPC: FOLDER/morning.nettrace.gz and
# FOLDER/evening.nettrace.gz.
# The recordings in traces/shop were made in this way (root, .NET SDK 10).
set -eu
gcdumpc=$(readlink -f "$1") folder=$(readlink -f "$2")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'exec 7>&-; rm -rf "$work" /srv/coffeeshop' EXIT
dotnet publish -c Release --artifacts-path "$work/artifacts" -o /srv/coffeeshop >"$work/build.log" || { cat "$work/build.log"; exit 1; }
mkfifo "$work/input"
root=$(dirname "$(readlink -f "$(command -v dotnet)")")
cd /srv/coffeeshop
env -i DOTNET_ROOT="$root" ./CoffeeShop 1000 <"$work/input" >"$work/output" &
exec 7>"$work/input"
ready() { while [ "$(wc -l <"$work/output")" -lt "$1" ]; do sleep 0.1; done; }
ready 1
"$gcdumpc" --pid $! -o "$folder/morning.nettrace.gz"
sleep 120                        # growth per hour is then a sensible number
echo 2000 >&7
ready 2
"$gcdumpc" --pid $! -o "$folder/evening.nettrace.gz"
