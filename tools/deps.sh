#!/bin/sh
# Install the Debian packages that are missing: deps.sh [build] [test]
set -u
build="gcc make pkg-config lua5.4 liblua5.4-dev libsleef-dev libedit-dev zlib1g-dev"
test="lua-busted lua-check lua-dkjson libcmocka-dev clang"

wanted=""
for part in "$@"; do
    case $part in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $test" ;;
    *) echo "deps.sh: unknown part '$part' (build, test)" >&2; exit 2 ;;
    esac
done

# Where there is no dpkg the tools themselves tell what is there.
present() {
    if command -v dpkg-query >/dev/null 2>&1; then
        dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q ' installed$'
        return
    fi
    case $1 in
    lua-busted) command -v busted ;;
    lua-check) command -v luacheck ;;
    lua-dkjson) lua5.4 -e 'require "dkjson"' ;;
    gcc) command -v cc || command -v gcc || command -v clang ;;
    make|lua5.4|pkg-config|clang) command -v "$1" ;;
    *) echo '#include <'"$(header "$1")"'>' | ${CC:-cc} -E - \
        -I/usr/include/lua5.4 ;;
    esac >/dev/null 2>&1
}

header() {
    case $1 in
    liblua5.4-dev) echo lua.h ;;
    libsleef-dev) echo sleef.h ;;
    libedit-dev) echo histedit.h ;;
    zlib1g-dev) echo zlib.h ;;
    libcmocka-dev) printf 'setjmp.h>\n#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <cmocka.h' ;;
    esac
}

missing=""
for package in $wanted; do
    # pkgconf took over the name pkg-config
    [ "$package" = pkg-config ] && command -v pkg-config >/dev/null 2>&1 && continue
    [ "$package" = gcc ] && command -v "${CC:-gcc}" >/dev/null 2>&1 && continue
    present "$package" || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

fail() {
    echo "These packages are needed:$missing" >&2
    echo "$1" >&2
    exit 1
}

command -v apt-get >/dev/null 2>&1 ||
    fail "There is no apt-get here: install them (or their like) by hand."
root=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 ||
        fail "Run as root: apt-get install$missing"
    root="sudo"
fi
echo "Installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$root apt-get install -y -qq $missing >/dev/null 2>&1 || {
    $root apt-get update -qq >/dev/null 2>&1
    $root apt-get install -y -qq $missing >/dev/null ||
        fail "apt-get could not install them; run as root: apt-get install$missing"
}
