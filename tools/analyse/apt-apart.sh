# To be sourced.  Packages into a folder of their own: nothing is installed, and apt's own lists stay as they are (with a second
# architecture in them every library must be there in the very version of the first).

# FOLDER, "deb" or "deb-src": makes the folder anew, with lists of Debian as this machine runs it; sets $root to its absolute path
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
