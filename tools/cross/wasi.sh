#!/bin/sh
# Are the sources C for WebAssembly, with addresses of 32 bits? By clang, with
# the headers of wasi-libc, and wasi/ for what POSIX has and WASI does not.
# Nothing is linked or run: that needs emscripten (make cross-wasm).
# wasi.sh [how many at a time; as many as there are processors]
set -eu
cd "$(dirname "$0")/../.."
flags="--target=wasm32-wasi -std=gnu11 -fsyntax-only -msimd128
    -Wno-everything -Werror=implicit-function-declaration -D_GNU_SOURCE
    -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_MMAN
    -D_WASI_EMULATED_PROCESS_CLOCKS -DLA_CAPS_BUILT=1
    -DLA_CAP=default -DLA_VERSION_TEXT=\"\" -Isrc -Iinclude -I. -Ibuild/obj
    -Itools/cross/wasi
    $(pkg-config --cflags lua5.4) -idirafter /usr/include
    -idirafter /usr/include/$(uname -m)-linux-gnu"
make -s module-lists
for source in $(find src modules/*/kernel modules/*/*.c modules/*/io \
    modules/*/lua -name '*.c' 2>/dev/null); do
    case $source in
    src/base/os/os_wasm.c|src/base/os/os_posix.c) echo "$source" ;;
    src/base/os/os_*|src/repl/*|src/lua/embed.c) ;;
    *) echo "$source" ;;
    esac
done | xargs -P "${1:-$(nproc)}" -I{} sh -c '
    if clang $1 $2; then echo passed; else echo "failed: $2"; fi' \
    sh "$flags" {} |
    awk '/^passed$/ {p++; next} {f++; print}
        END {printf "WebAssembly, as far as a syntax check goes: "
             printf "%d passed, %d failed\n", p, f; exit f > 0 || !p}'
