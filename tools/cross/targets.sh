# Sourced with $target and $out set: the compiler of a target, how its programs
# run, what its Lua needs. 'packages' is the part of deps.sh with the tools.
level=-O1 flags= suffix= host= module= packages=$target
case $target in
aarch64) cc=aarch64-linux-gnu-gcc ar=aarch64-linux-gnu-ar run=qemu-aarch64
    lua="-DLUA_USE_POSIX" libs="-lm -lpthread -ldl" ;;
mingw) cc=x86_64-w64-mingw32-gcc-posix ar=x86_64-w64-mingw32-ar run=wine
    suffix=.exe lua= libs="-lm -lpthread"
    export WINEPREFIX="$top/wine" WINEDEBUG=-all ;;
# musl's loader runs what it loads there, too: the module.
musl) cc=musl-gcc ar=ar run= lua="-DLUA_USE_LINUX" libs="-lm -lpthread"
    module=$out/lunarray.so ;;
wasm) cc=emcc ar=emar run="node --no-experimental-fetch" lua= libs=-lm
    level=-Os suffix=.js
    # What browsers have since 2021 (Safari: 2023). The program has the files of
    # this machine. Debian's modules of node are found by another node too.
    flags=-msimd128
    host="-O0 -sNODERAWFS -sALLOW_MEMORY_GROWTH -sEXIT_RUNTIME
        --pre-js tools/cross/node.js"
    export NODE_PATH=/usr/share/nodejs ;;
*) echo "build.sh: unknown target '$target' (aarch64, mingw, musl, wasm)" >&2
    exit 2 ;;
esac

program=$out/host$suffix single=$out/single$suffix

for tool in $cc $ar ${run%% *} make lua5.4 flock gcc; do
    command -v "$tool" > /dev/null || {
        echo "build.sh: no $tool here; tools/deps.sh $packages installs it" >&2
        exit 2
    }
done
