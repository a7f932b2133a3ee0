#!/bin/sh
# build.sh TARGET [make's arguments]: builds the library for aarch64, mingw,
# musl or wasm in build/cross/TARGET and runs the golden records there (under
# qemu, wine and node; of musl in a Lua that loads the module), and a sample
# with the library in one file, which is the same for all (docs/embedding.md).
# PAGE_ONLY=1: for wasm what pages load, and its check. Several at once may run,
# of one target one after the other.
set -eu
cd "$(dirname "$0")/../.."
target=$1
shift
top=$PWD/build/cross
out=$top/$target
. tools/cross/targets.sh
. tools/cross/sources.sh

# lunarray.js and lunarray.wasm for a page (tools/wasm/run.c)
page() {
    mkdir -p build/wasm
    $cc $level $flags -Iinclude -I"$out/include" tools/wasm/run.c \
        "$out/liblunarray.a" "$out/liblua.a" "$out/libz.a" $libs --no-entry \
        -sMODULARIZE -sEXPORT_NAME=lunarray -sALLOW_MEMORY_GROWTH \
        -sEXPORTED_RUNTIME_METHODS=ccall,cwrap,FS -o build/wasm/lunarray.js
}

# A Lua that loads the module, as that of a distribution does; it runs the
# records, for which the host has the library in it.
loading() {
    name=lua
    $cc -O1 -Wl,-E "$top/lua/src/$name".c "$out/liblua.a" $libs -o "$out/$name"
}

# lunarray.dll, which a program links or Lua loads by require, and lua54.dll,
# which it needs; the exported names are those of hosts. With import libraries
# for GCC (lib*.dll.a) and for MSVC (lunarray.lib).
dll() {
    $cc -shared -static-libgcc -o "$out/lua54.dll" \
        -Wl,--whole-archive "$out/liblua.a" -Wl,--no-whole-archive \
        -Wl,--export-all-symbols -Wl,--out-implib,"$out/liblua54.dll.a"
    exports=$out/lunarray".def"
    { echo "LIBRARY lunarray.dll"; echo EXPORTS; cat spec/abi_symbols.txt; } \
        > "$exports"
    $cc -shared -static-libgcc -o "$out/lunarray.dll" "$exports" \
        -Wl,--whole-archive "$out/liblunarray.a" -Wl,--no-whole-archive \
        "$out/libz.a" "$out/liblua54.dll.a" -Wl,-Bstatic $libs \
        -Wl,--out-implib,"$out/liblunarray.dll.a"
    x86_64-w64-mingw32-dlltool -d "$exports" -l "$out/lunarray.lib"
}

# The one file of a few families, for every system; it is written anew where a
# source is younger. Then it is compiled for the target, with a host.
one_file() {
    file=build/cross/embed/lunarray".c"
    (
        flock 8
        if [ ! -f $file ] || [ -n "$(find Makefile src include lua \
            tools/embed -newer $file)" ]; then
            make --no-print-directory embed CAPS="default avx2" \
                FAMILIES="matmul random io image" EMBED=build/cross/embed
        fi
    ) 8> "$top/lock"
    $cc -O0 -w -Wno-psabi -Werror=implicit-function-declaration $flags \
        -I"$out/include" -c $file -o "$out/lunarray.o"
    $cc -static $host -Ibuild/cross/embed -I"$out/include" spec/embed/host.c \
        "$out/lunarray.o" "$out/liblua.a" $libs -o "$single"
}

mkdir -p "$out"
exec 9> "$out/lock"
flock 9
# A make above this one has its own jobs (and descriptors 3 and 4).
unset MAKEFLAGS MFLAGS MAKELEVEL || :

# A step that fails ends the script, with the end of the log. (In a list of
# commands before "||" it would not.)
exec 6>&1 7>&2 > "$out/log" 2>&1
trap 'status=$?; tail -n 40 "$out/log" >&7
echo "build.sh $target: failed; all of it is in $out/log" >&7
exit $status' EXIT
libraries
make --no-print-directory CC="$cc" CAPS=default BUILD="build/cross/$target" \
    LUA_CFLAGS="-I$out/include" OPT_release="$level -DNDEBUG \$(TLS)" \
    OPT_core=$level AR="$ar" CFLAGS="$flags" LIBS="$out/libz.a $libs" "$@" \
    "build/cross/$target/liblunarray.a" \
    ${module:+"build/cross/$target/lunarray.so"}
if [ $target = mingw ]; then
    dll
    for source in tools/cross/host.c examples/host_mod.c \
        examples/host_particles.c; do
        $cc $level -DLA_DLL -static-libgcc -Iinclude -I"$out/include" \
            $source "$out/liblunarray.dll.a" "$out/liblua54.dll.a" \
            -o "$out/$(basename $source .c).exe"
    done
    $cc -O1 -static-libgcc "$top/lua/src/lua".c "$out/liblua54.dll.a" \
        -o "$out/lua.exe"
else
    $cc $level -static $host -Iinclude -I"$out/include" tools/cross/host.c \
        "$out/liblunarray.a" "$out/liblua.a" "$out/libz.a" $libs -o "$program"
fi
[ -z "$module" ] || loading
[ $target != wasm ] || page
[ -n "${PAGE_ONLY:-}" ] || one_file
trap - EXIT
exec >&6 2>&7 6>&- 7>&-

[ $target != wasm ] || $run tools/wasm/check.js build/wasm
[ -z "${PAGE_ONLY:-}" ] || exit 0

# Processes of wine outlive what they run: they get no lock.
on_target() { $run "$@" 9>&-; }

printf 'the one file: '
on_target "$single" spec/embed/smoke.lua

export LOCKSTEP_RECORDS="build/cross/$target/records"
find spec/golden modules/*/spec -name '*.jsonl' -path '*/golden/*' |
    LC_ALL=C sort > "$LOCKSTEP_RECORDS"
dkjson=$(lua5.4 -e 'print(package.searchpath("dkjson", package.path))')
export LUA_PATH="./?.lua;lua/?.lua;lua/?/init.lua;$(dirname "$dkjson")/?.lua"
unset LUA_CPATH || :
[ -z "$module" ] || {
    program=$out/lua
    export LUA_CPATH="$out/?.so"
}
[ $target != mingw ] || {
    printf 'lunarray.dll by require: '
    LUA_PATH=';;' LUA_CPATH="$out/?.dll" on_target "$out/lua.exe" -e \
        'print(require "lunarray".ones(2):sum())'
    for example in host_mod host_particles; do
        on_target "$out/$example.exe" | tail -n 1
    done
}
on_target "$program" tools/cross/golden.lua "$LOCKSTEP_RECORDS"

# In lockstep mode (docs/lockstep.md) the target's bits are this machine's: of a
# share of the operations, where there is a build to compare with.
if [ ! -f build/lunarray.so ]; then
    echo "lockstep bits: not compared, there is no build/lunarray.so (make)"
    exit 0
fi
bits="spec/support/values/lockstep_bits.lua lockstep 2 ${LOCKSTEP:-3/40}"
on_target "$program" $bits | tr -d '\r' > "$out/bits"
LUA_CPATH="build/?.so" lua5.4 $bits > "$out/bits.here"
cmp "$out/bits" "$out/bits.here" \
    || { diff "$out/bits" "$out/bits.here" | head -20; exit 1; }
echo "lockstep bits of $(wc -l < "$out/bits") operations and dtypes: the same"
