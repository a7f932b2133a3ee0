#!/bin/sh
# check_release.sh: what `make release` left in build/release, each artefact put
# into an empty tree, where a script runs with it. Prints what fails and ends
# with status 1.
set -eu
cd "$(dirname "$0")/.."
top=$PWD release=$PWD/build/release tree=$PWD/build/release/tree
unset LUA_PATH LUA_CPATH LD_LIBRARY_PATH LUNARRAY_CPU || true
empty() { rm -rf "$tree" && mkdir -p "$tree"; }
quiet() { "$@" > "$tree.log" 2>&1 || { cat "$tree.log"; exit 1; }; }

cat > "$release/script.lua" <<'END_OF_SCRIPT'
local la = require "lunarray"
local nn = require "lunarray.nn"
local x = la.tensor({{1, 2}, {3, 4}}, {dtype = "float32", requires_grad = true})
x:square():sum():backward()
assert(x.grad:equal(2 * x:detach()))
assert(nn.Linear(2, 3)(la.ones(4, 2)):size(2) == 3)
assert(la.plot.line(la.arange(5)):svg():find("<svg", 1, true))
print(_VERSION .. ": " .. la.config().version)
END_OF_SCRIPT

(cd "$release" && quiet sha256sum -c SHA256SUMS)
quiet luarocks lint "$release"/lunarray-*-1.rockspec
for lua in 5.4 5.5; do
    [ -d "$release/lua$lua" ] || { echo "no rock for Lua $lua"; continue; }
    empty
    program=lua$lua where=
    if [ $lua = 5.5 ]; then
        program=$top/build/lua55/bin/lua5.5
        where="--lua-dir $top/build/lua55"
    fi
    quiet luarocks --lua-version $lua --tree "$tree" $where install \
        "$release"/lua$lua/*.rock
    LUA_CPATH="$tree/lib/lua/$lua/?.so" LUA_PATH=";" \
        "$program" "$release/script.lua"
done

if ls "$release"/*.deb > /dev/null 2>&1; then
    empty
    for deb in "$release"/*.deb; do dpkg -x "$deb" "$tree"; done
    lib=$tree/usr/lib/$(cc -print-multiarch)
    export LD_LIBRARY_PATH="$lib"
    "$tree/usr/bin/lunarray" "$release/script.lua"
    LUA_CPATH="$lib/lua/5.4/?.so" LUA_PATH=";" lua5.4 "$release/script.lua"
    cc -Wall -Werror -I"$tree/usr/include" $(pkg-config --cflags lua5.4) \
        examples/host.c -o "$tree/host" -L"$lib" -llunarray \
        $(pkg-config --libs lua5.4)
    quiet "$tree/host"
    unset LD_LIBRARY_PATH
fi

for manual in "$release"/lunarray-*-manual.tar.gz; do
    [ -e "$manual" ] || continue
    empty
    tar -xzf "$manual" -C "$tree"
    test -s "$tree"/lunarray-*-manual/index.html
    test -s "$tree"/lunarray-*-manual/gallery.html
done
test -s "$release"/notes-*.txt
rm -rf "$tree" "$tree.log" "$release/script.lua"
echo "release: ok"
