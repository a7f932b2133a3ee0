#!/bin/sh
# Install the Debian packages that are missing: deps.sh PART...
# build: to build; test: to run the suite; rock: what only continuous
# integration has, LuaRocks and CMake; deb: to make Debian packages;
# mpi: for lunarray.mpi; docs: the manual in HTML; browser: to look at it;
# cross: to build for other systems and run there, or aarch64, mingw, musl,
# macos, wasi alone; wasm: for web pages (200 MB of packages, 1.3 GB unpacked);
# hosts: programs with LuaJIT that lunarray.ffi is tried in (Neovim, LÖVE);
# python: NumPy, to which the suite gives files, and takes some from it.
set -u
build="gcc libc6-dev make pkg-config lua5.4 liblua5.4-dev libsleef-dev"
build="$build libedit-dev zlib1g-dev libstb-dev"
rock="luarocks cmake zip"
mpi="openmpi-bin libopenmpi-dev"
deb="debhelper dpkg-dev fakeroot lintian cpio"
target="gcc libc6-dev make lua5.4 liblua5.4-dev lua-dkjson libstb-dev dpkg-dev"
aarch64="$target gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
mingw="$target gcc-mingw-w64-x86-64-posix wine wine64"
musl="$target musl-tools"
macos="clang musl-tools libc6-dev liblua5.4-dev zlib1g-dev libstb-dev"
macos="$macos pkg-config"
wasi="clang wasi-libc liblua5.4-dev zlib1g-dev libstb-dev pkg-config"
cross="$aarch64 $mingw $musl"
wasm="$target emscripten nodejs"
docs="cmark-gfm"
browser="chromium nodejs"
python="python3-numpy"
hosts="luajit neovim love xvfb xauth curl"
test="cmark-gfm lua-busted lua-check lua-dkjson libcmocka-dev clang tmux luajit"
test="$test python3-ipykernel python3-nbclient locales valgrind"

wanted=""
for part in "$@"; do
    case $part in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $test" ;;
    rock) wanted="$wanted $rock" ;;
    deb) wanted="$wanted $deb" ;;
    cross) wanted="$wanted $cross" ;;
    aarch64) wanted="$wanted $aarch64" ;;
    mingw) wanted="$wanted $mingw" ;;
    musl) wanted="$wanted $musl" ;;
    macos) wanted="$wanted $macos" ;;
    wasi) wanted="$wanted $wasi" ;;
    wasm) wanted="$wanted $wasm" ;;
    mpi) wanted="$wanted $mpi" ;;
    docs) wanted="$wanted $docs" ;;
    browser) wanted="$wanted $browser" ;;
    python) wanted="$wanted $python" ;;
    hosts) wanted="$wanted $hosts" ;;
    *) echo "deps.sh: unknown part '$part' (see its head)" >&2
       exit 2 ;;
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
    python3-numpy) python3 -c 'import numpy' ;;
    lua-dkjson) lua5.4 -e 'require "dkjson"' ;;
    gcc) command -v cc || command -v gcc || command -v clang ;;
    make|lua5.4|luajit|pkg-config|clang|tmux|luarocks|cmake|zip|fakeroot|\
    lintian|cpio|cmark-gfm|chromium|valgrind)
        command -v "$1" ;;
    python3-*) python3 -c "import ${1#python3-}" ;;
    debhelper) command -v dh ;;
    dpkg-dev) command -v dpkg-buildpackage ;;
    gcc-aarch64-linux-gnu) command -v aarch64-linux-gnu-gcc ;;
    libc6-dev-arm64-cross) echo '#include <stdio.h>' |
        aarch64-linux-gnu-gcc -E - ;;
    qemu-user) command -v qemu-aarch64 ;;
    gcc-mingw-w64-x86-64-posix) command -v x86_64-w64-mingw32-gcc-posix ;;
    wine|wine64) command -v wine ;;
    musl-tools) command -v musl-gcc ;;
    emscripten) command -v emcc ;;
    nodejs) command -v node ;;
    neovim) command -v nvim ;;
    love|xauth|curl) command -v "$1" ;;
    xvfb) command -v Xvfb ;;
    openmpi-bin) command -v mpirun ;;
    libopenmpi-dev) command -v mpicc ;;
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
    libstb-dev) echo stb/stb_image.h ;;
    libc6-dev) echo stdio.h ;;
    libcmocka-dev)
        printf '%s>\n#include <' setjmp.h stdarg.h stddef.h stdint.h
        echo cmocka.h ;;
    esac
}

missing=""
for package in $wanted; do
    # pkgconf took over the name pkg-config
    case $package in
    pkg-config) command -v pkg-config >/dev/null 2>&1 && continue ;;
    gcc) command -v "${CC:-gcc}" >/dev/null 2>&1 && continue ;;
    esac
    case "$missing " in *" $package "*) continue ;; esac
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
install="$root apt-get install -y -qq --no-install-recommends $missing"
$install >/dev/null 2>&1 || {
    $root apt-get update -qq >/dev/null 2>&1
    $install >/dev/null ||
        fail "apt-get could not; run as root: apt-get install$missing"
}
