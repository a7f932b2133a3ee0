#!/bin/sh
# check.sh: installs what is built below build/installed and uses it from there
# as people do: the program, require, pkg-config, CMake (where it is); nothing
# may be left after uninstall. Prints what fails and ends with status 1.
set -eu
cd "$(dirname "$0")/.."
top=$PWD/build/installed
rm -rf "$top"
unset LUA_PATH LUA_CPATH LD_LIBRARY_PATH LUNARRAY_CPU || true
quiet() { "$@" > "$top.log" 2>&1 || { cat "$top.log"; exit 1; }; }
made() { quiet make --no-print-directory DESTDIR="$1" PREFIX="$2" LIBDIR="$3" "$4"; }

# Folders of our choice, in place: what people without root do.
home=$top/home
lib=$home/lib/$(cc -print-multiarch)
made "" "$home" "$lib" install
test "$("$home/bin/lunarray" -e 'print(la.ones(3):sum():item())')" = 3.0
LUA_CPATH="$home/lib/lua/5.4/?.so" LUA_PATH="$home/share/lua/5.4/?.lua" \
    lua5.4 -e 'assert(require "lunarray.nn" and require "lunarray".ones(1))'
LUA_CPATH="$home/lib/lua/5.4/?.so" LUA_PATH=";" \
    lua5.4 -e 'assert(require "lunarray.nn".Linear)'
test -s "$home/share/man/man1/lunarray.1"
test -s "$home/share/lunarray/types/lunarray/nn.lua"
export PKG_CONFIG_PATH="$lib/pkgconfig"
cc -Wall -Werror $(pkg-config --cflags lunarray) examples/host.c -o "$top/host" \
    $(pkg-config --libs lunarray lua5.4) -Wl,-rpath,"$lib"
"$top/host" > "$top.log"
made "" "$home" "$lib" install-core
cc -Wall -Werror $(pkg-config --cflags lunarray-core) examples/host_no_lua.c \
    -o "$top/plain" $(pkg-config --libs lunarray-core) -Wl,-rpath,"$lib"
"$top/plain" > "$top.log"
! nm -D "$lib/liblunarray-core.so" | grep -i ' lua'
made "" "$home" "$lib" install-luajit
if command -v luajit > /dev/null; then
    LUA_PATH="$home/share/lua/5.1/?.lua" LUNARRAY_CORE="$lib/liblunarray-core.so" \
        luajit -e 'assert(require("lunarray.ffi").ones(3):sum():item() == 3)'
fi
if command -v cmake > /dev/null; then
    mkdir -p "$top/cmake"
    # The manual's own list and program.
    block() {
        awk -v start="^\`\`\`$1\$" '$0 ~ start && !n++ { on = 1; next }
            /^```/ { on = 0 } on' docs/your-program.md
    }
    block cmake > "$top/cmake/CMakeLists.txt"
    block c > "$top/cmake/host.c"
    quiet cmake -S "$top/cmake" -B "$top/cmake/b" -DCMAKE_PREFIX_PATH="$home"
    quiet cmake --build "$top/cmake/b"
    "$top/cmake/b/host" > "$top.log"
    grep -q '^440 Hz' "$top.log"
    # A Lua of the program's own, and none at all.
    quiet cmake -S "$top/cmake" -B "$top/cmake/own" \
        -DCMAKE_PREFIX_PATH="$home" -Dlunarray_LUA=-llua5.4 \
        -DCMAKE_C_FLAGS="$(pkg-config --cflags lua5.4)"
    quiet cmake --build "$top/cmake/own"
    "$top/cmake/own/host" > "$top.log"
    ! PKG_CONFIG_LIBDIR=/nowhere cmake -S "$top/cmake" -B "$top/cmake/none" \
        -DCMAKE_PREFIX_PATH="$home" -DCMAKE_DISABLE_FIND_PACKAGE_Lua=ON \
        > "$top.log" 2>&1
    tr -s ' \n' ' ' < "$top.log" | grep -q 'headers of Lua 5.4 were not found'
fi
made "" "$home" "$lib" uninstall
left=$(find "$home" -type f -o -type l)
test -z "$left" || { echo "left by uninstall: $left"; exit 1; }
test ! -e "$home/share/lua/5.4/lunarray"
test ! -e "$home/share/lua/5.1/lunarray"
test ! -e "$home/share/lunarray"

# Below DESTDIR, as packages are made: no path of this tree in any text.
made "$top/root" /usr /usr/lib/x install
! grep -rIl "$top" "$top/root"
grep -qx 'libdir=/usr/lib/x' "$top/root/usr/lib/x/pkgconfig/lunarray.pc"
made "$top/root" /usr /usr/lib/x uninstall
test -z "$(find "$top/root" -type f -o -type l)"
rm -rf "$top" "$top.log"
