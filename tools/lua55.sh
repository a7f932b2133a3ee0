#!/bin/sh
# lua55.sh FOLDER: the interpreter of Lua 5.5, its headers and library in FOLDER
# (bin, include, lib), for systems whose packages end with 5.4. The sources are
# those in the archive of lupa, which pip gives; LUPA_SDIST=file names one that
# is here already. Status 3 and a sentence where there is neither.
set -eu
folder=${1:?the folder to build in}
[ -x "$folder/bin/lua5.5" ] && exit 0
mkdir -p "$folder/src" "$folder/bin" "$folder/include" "$folder/lib"
folder=$(cd "$folder" && pwd)

sdist=${LUPA_SDIST:-}
if [ -z "$sdist" ]; then
    python3 -m pip --version > /dev/null 2>&1 || {
        echo "there is no pip, which would give the sources of Lua 5.5" >&2
        exit 3
    }
    python3 -m pip download -q --retries 1 --timeout 20 \
        --no-binary lupa --no-deps lupa -d "$folder/src" \
        > "$folder/pip.log" 2>&1 || {
        tail -n 3 "$folder/pip.log" >&2
        echo "pip did not give the sources of Lua 5.5 (lupa's)" >&2
        exit 3
    }
    sdist=$(ls "$folder"/src/lupa-*.tar.gz | tail -n 1)
fi
tar -xzf "$sdist" -C "$folder/src" --wildcards --strip-components=3 \
    '*/third-party/lua55/*'
cd "$folder/src"
# LuaRocks of before 5.5 looks for the number itself.
cp lua*.h lauxlib.h ../include
echo "/* LUA_VERSION_NUM 505 */" >> ../include/lua.h
# The interpreter exports its functions to modules, as Debian's does.
objects=""
for file in l*.c; do
    case $file in
    lua.*|luac.*|ltests.*) continue ;;
    esac
    ${CC:-cc} -std=gnu99 -O2 -w -fPIC -DLUA_USE_LINUX -c "$file" \
        -o "${file%.c}.o"
    objects="$objects ${file%.c}.o"
done
rm -f "$folder/lib/liblua5.5.a"
${AR:-ar} rcs "$folder/lib/liblua5.5.a" $objects
${CC:-cc} -std=gnu99 -O2 -w -DLUA_USE_LINUX lua.[c] -o "$folder/bin/lua5.5" \
    -Wl,-E $objects -lm -ldl
${CC:-cc} -shared -Wl,-soname,liblua5.5.so -o "$folder/lib/liblua5.5.so" \
    $objects -lm -ldl
