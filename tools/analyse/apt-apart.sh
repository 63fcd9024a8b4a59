# Source this file.  It downloads packages into a folder of their own: nothing is installed, and apt's own lists do not change (with a second
# architecture in them, every library must have exactly the same version for both).

# FOLDER, "deb" or "deb-src": creates the folder again, with package lists of this machine's Debian release; sets $root to its absolute path
apt_apart_new() {
    rm -rf "$1"
    mkdir -p "$1/apt/lists/partial" "$1/apt/archives/partial"
    root=$(cd "$1" && pwd)
    : >"$root/apt/status"
    # shellcheck disable=SC1091
    echo "$2 http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" >"$root/apt/sources.list"
}

# apt-get with these lists
apt_apart() {
    apt-get -qq -o Dir::State="$root/apt" -o Dir::State::status="$root/apt/status" -o Dir::Cache="$root/apt" \
        -o Dir::Etc::sourcelist="$root/apt/sources.list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User= "$@"
}
