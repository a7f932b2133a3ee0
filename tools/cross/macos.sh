#!/bin/sh
# Are the core's sources C for both processors of macOS? There is no SDK in
# Debian: clang's targets, musl's headers for POSIX, macos/ for what is macOS's
# own. Nothing is linked or run.
set -eu
cd "$(dirname "$0")/../.."
headers=/usr/include/$(uname -m)-linux-musl
sources="src/base/os/os_macos.c src/base/os/os_posix.c src/base/os/os_unix.c"
make -s module-lists
for source in $(find src modules/*/*.c modules/*/io modules/*/lua \
    -name '*.c' ! -path 'src/kernel/*' 2>/dev/null); do
    case $source in
    src/base/os/os_*|src/repl/*|src/lua/embed.c) ;;
    *) sources="$sources $source" ;;
    esac
done
passed=0 failed=0
check() {
    clang -target "$1" -nostdlibinc -std=gnu11 -fsyntax-only -Wno-everything \
        -Werror=implicit-function-declaration -D_GNU_SOURCE -Isrc -Iinclude \
        -I. -Ibuild/obj \
        -DLA_CAPS_BUILT=1 -DLA_VERSION_TEXT='""' $(pkg-config --cflags lua5.4) \
        -isystem tools/cross/macos -isystem "$headers" -idirafter /usr/include \
        -idirafter "/usr/include/$(uname -m)-linux-gnu" "$2"
}
for target in arm64-apple-macos11 x86_64-apple-macos11; do
    for source in $sources; do
        if check $target "$source"; then passed=$((passed + 1))
        else failed=$((failed + 1)); fi
    done
done
echo "macOS, as far as a syntax check goes: $passed passed, $failed failed"
[ $failed = 0 ]
