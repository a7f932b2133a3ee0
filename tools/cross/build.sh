#!/bin/sh
# build.sh TARGET [make's arguments]: builds the library for aarch64, mingw,
# musl or wasm in build/cross/TARGET and runs the golden records there (under
# qemu, wine and node). Lua and zlib for the target are built of Debian's source
# packages. PAGE_ONLY=1: for wasm what pages load, and its check.
set -eu
cd "$(dirname "$0")/../.."
target=$1
shift
top=$PWD/build/cross
out=$top/$target
log=$out/log
mkdir -p "$out" "$top/sources"

level=-O1 flags= program=$out/host host=
case $target in
aarch64) cc=aarch64-linux-gnu-gcc ar=aarch64-linux-gnu-ar run=qemu-aarch64
    lua="-DLUA_USE_POSIX" libs="-lm -lpthread -ldl" ;;
mingw) cc=x86_64-w64-mingw32-gcc-posix ar=x86_64-w64-mingw32-ar
    program=$out/host.exe
    run=$(command -v wine64 || command -v wine) lua= libs="-lm -lpthread"
    export WINEPREFIX="$top/wine" WINEDEBUG=-all ;;
musl) cc=musl-gcc ar=ar run= lua="-DLUA_USE_POSIX" libs="-lm -lpthread" ;;
wasm) cc=emcc ar=emar run="node --no-experimental-fetch" lua= libs=-lm
    level=-Os program=$out/host.js
    # What browsers have since 2021 (Safari: 2023). The program has the files of
    # this machine. Debian's modules of node are found by another node too.
    flags=-msimd128
    host="-O0 -sNODERAWFS -sALLOW_MEMORY_GROWTH -sEXIT_RUNTIME
        --pre-js tools/cross/node.js"
    export NODE_PATH=/usr/share/nodejs ;;
*) echo "build.sh: unknown target '$target' (aarch64, mingw, musl, wasm)" >&2
    exit 2 ;;
esac

# The sources of the distribution that this machine is of: its package lists,
# with "deb-src" for "deb", in a folder of their own.
fetch() {
    mkdir -p "$top/apt/lists/partial" "$top/apt/parts"
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        case $list in
        *.sources) grep -q /debian "$list" &&
            sed 's/^Types:.*/Types: deb-src/' "$list" \
                > "$top/apt/parts/$(basename "$list")" ;;
        *.list) [ ! -f "$list" ] || sed -n '/\/debian/s/^deb /deb-src /p' \
            "$list" > "$top/apt/parts/$(basename "$list")" ;;
        esac || :
    done
    apt="-qq -o Dir::Etc::SourceList=/dev/null
         -o Dir::Etc::SourceParts=$top/apt/parts
         -o Dir::State::Lists=$top/apt/lists -o APT::Sandbox::User=root"
    apt-get $apt update
    (cd "$top/sources" && apt-get $apt source --download-only lua5.4 zlib)
    for name in lua zlib; do
        mkdir -p "$top/$name.new"
        tar xf "$top"/sources/${name}*.orig.tar.* -C "$top/$name.new" \
            --strip-components=1
    done
    for name in lua zlib; do
        mv "$top/$name.new" "$top/$name"
    done
}

# library NAME FOLDER FLAGS SOURCES...: a static library for the target
library() {
    name=$1 folder=$2 flags=$3
    shift 3
    mkdir -p "$out/$name"
    for source in "$@"; do
        $cc -O2 -fPIC $flags -c "$folder/$source".c -o "$out/$name/$source".o
    done
    $ar rcs "$out/lib$name.a" "$out/$name"/*.o
}

# lunarray.js and lunarray.wasm for a page (tools/wasm/run.c)
page() {
    mkdir -p build/wasm
    $cc $level $flags -Iinclude -I"$out/include" tools/wasm/run.c \
        "$out/liblunarray.a" "$out/liblua.a" "$out/libz.a" $libs --no-entry \
        -sMODULARIZE -sEXPORT_NAME=lunarray -sALLOW_MEMORY_GROWTH \
        -sEXPORTED_RUNTIME_METHODS=ccall,cwrap,FS -o build/wasm/lunarray.js
}

{
    [ -d "$top/zlib" ] || fetch
    [ -f "$out/liblua.a" ] || library lua "$top/lua/src" "$lua" lapi lauxlib \
        lbaselib lcode lcorolib lctype ldblib ldebug ldo ldump lfunc lgc linit \
        liolib llex lmathlib lmem loadlib lobject lopcodes loslib lparser \
        lstate lstring lstrlib ltable ltablib ltm lundump lutf8lib lvm lzio
    [ -f "$out/libz.a" ] || library z "$top/zlib" "-DHAVE_UNISTD_H" adler32 \
        compress crc32 deflate inffast inflate inftrees trees uncompr zutil
    mkdir -p "$out/include"
    ln -sfn /usr/include/stb "$out/include/stb"
    cp "$top"/lua/src/*.h "$top"/zlib/z*.h "$out/include"
    make --no-print-directory CC="$cc" CAPS=default \
        BUILD="build/cross/$target" \
        LUA_CFLAGS="-I$out/include" OPT_release="$level -DNDEBUG" \
        OPT_core=$level AR="$ar" CFLAGS="$flags" "$@" \
        "build/cross/$target/liblunarray.a"
    $cc $level -static $host -Iinclude -I"$out/include" tools/cross/host.c \
        "$out/liblunarray.a" "$out/liblua.a" "$out/libz.a" $libs -o "$program"
    [ $target != wasm ] || page
} > "$log" 2>&1 || { tail -40 "$log"; exit 1; }
[ $target != wasm ] || $run tools/wasm/check.js build/wasm
[ -z "${PAGE_ONLY:-}" ] || exit 0

export LOCKSTEP_RECORDS="build/cross/$target/records"
LC_ALL=C ls spec/golden/*.jsonl > "$LOCKSTEP_RECORDS"
dkjson=$(lua5.4 -e 'print(package.searchpath("dkjson", package.path))')
export LUA_PATH="./?.lua;lua/?.lua;lua/?/init.lua;$(dirname "$dkjson")/?.lua"
unset LUA_CPATH || :
$run "$program" tools/cross/golden.lua "$LOCKSTEP_RECORDS"

# In lockstep mode (docs/lockstep.md) the target's bits are this machine's: of a
# share of the operations, where there is a build to compare with.
[ -f build/lunarray.so ] || exit 0
share=${LOCKSTEP:-3/40}
bits="spec/support/lockstep_bits.lua lockstep 2 $share"
$run "$program" $bits | tr -d '\r' > "$out/bits"
LUA_CPATH="build/?.so" lua5.4 $bits > "$out/bits.here"
grep -v LAPACK "$out/bits" | cmp - "$out/bits.here" \
    || { diff "$out/bits" "$out/bits.here" | head -20; exit 1; }
echo "lockstep bits of $(wc -l < "$out/bits") operations and dtypes: the same"
