-- Parts of the suite that build, install and link, by name: {function, weight},
-- one job each; the heavier ones begin first (spec/run.lua).
local tally = require "spec.support.tally"
local capture, count, headline = tally.capture, tally.count, tally.headline

-- The rock in a clean clone of what is committed. What is the same there as
-- here has been compiled already: it is older than the objects that come along,
-- so that only what was changed, or is not committed, is compiled (or missed).
local ROCK = [[
set -e
rm -rf build/rock
env -u MAKEFLAGS -u MFLAGS make -s build/lunarray.so
git clone -q . build/rock/src
git -C build/rock/src ls-files -z | (cd build/rock/src &&
    xargs -0 touch -h -d 2000-01-01)
git diff --name-only --relative -z HEAD | (cd build/rock/src &&
    xargs -0 -r touch -c)
mkdir build/rock/src/build
cp -a build/obj build/rock/src/build
cd build/rock/src
env -u MAKEFLAGS -u MFLAGS luarocks make --lua-version 5.4 --tree ../tree \
    rockspec/lunarray-scm-1.rockspec
LUA_CPATH='../tree/lib/lua/5.4/?.so' LUA_PATH='../tree/share/lua/5.4/?.lua' \
    lua5.4 -e "local la = require 'lunarray'
        assert(la.ones(3):sum():item() == 3 and require 'lunarray.nn')"]]

local function rock()
  headline("rock")
  local _, ok = capture("command -v luarocks")
  local text
  if not ok then return print("luarocks is not installed: left out") end
  text, ok = capture("{ " .. ROCK .. "\n}")
  if not ok then print(text) end
  print(ok and "luarocks make: ok" or "luarocks make: failed")
  count(ok and 1 or 0, ok and 0 or 1)
end

local function packaging_step(name, command)
  local text, ok = capture("env -u MAKEFLAGS -u MFLAGS " .. command)
  if not ok then print(text) end
  print(("%s: %s"):format(name, ok and "ok" or "failed"))
  count(ok and 1 or 0, ok and 0 or 1)
end

-- What is installed.
local function packages()
  headline("packages")
  packaging_step("make install", "packaging/check.sh")
end

-- What is published, of what is committed, with rocks that compile quickly, and
-- each artefact in an empty tree. No more than the tools that are here make.
local function release()
  headline("release")
  local parts = "source"
  local function add_part(part, needed)
    local _, ok = capture("command -v " .. needed:gsub(" ",
                                                   " && command -v "))
    if ok then parts = parts .. " " .. part
    else print(needed .. " are not installed: no " .. part) end
  end
  add_part("rocks", "luarocks zip")
  add_part("debs", "dpkg-buildpackage lintian fakeroot")
  add_part("manual", "cmark-gfm")
  local variables = ("PARTS='%s' ROCK_CAPS=default ROCK_FLAGS='-O0 -fPIC -w' "
    .. "COMPILED=$PWD/build "):format(parts)
  packaging_step("make release", variables
    .. "make --no-print-directory release TAG=HEAD")
  packaging_step("its artefacts", "packaging/check_release.sh")
end

-- Is every source C for WebAssembly, with 32-bit addresses? Its headers are two
-- megabytes; emscripten's compiler (make cross-wasm) is a gigabyte.
local function wasi()
  local _, ok = capture("command -v clang && test -d /usr/include/wasm32-wasi")
  if not ok then return print("wasm is left out: no clang or wasi-libc") end
  local text = capture("tools/cross/wasi.sh 1")
  local passed, failed = text:match("(%d+) passed, (%d+) failed")
  if failed ~= "0" then print(text) end
  print(("%-28s %4s passed, %s failed")
    :format("wasm, syntax", passed or 0, failed or "not"))
  count(tonumber(passed) or 0, tonumber(failed) or 1)
end

-- Golden records on other systems: aarch64 under qemu, Windows under wine, in a
-- Lua whose module musl's loader has loaded.
-- Other jobs run as well, so that builds take a quarter of the processors.
local function cross(target, tools)
  return function()
    local text, ok = capture("command -v dpkg-source "
                               .. tools:gsub("%f[^%s]", "&& command -v "))
    if not ok then
      print(target .. " is left out: " .. tools .. " are not installed")
      return
    end
    text, ok = capture("env -u MAKEFLAGS -u MFLAGS tools/cross/build.sh "
                         .. target .. " -j$((($(nproc) + 3) / 4))")
    local passed, failed = text:match("(%d+) passed, (%d+) failed")
    if not ok then print(text) end
    print(("%-28s %4s passed, %s failed")
      :format(target, passed or 0, failed or "not"))
    count(tonumber(passed) or 0,
          math.max(tonumber(failed) or 1, ok and 0 or 1))
  end
end

-- What is installed, in megabytes and by folder. A module above the limit is a
-- failure: what makes it grow is to be decided, not to be found later.
local MODULE_LIMIT = 10.5   -- MB, stripped, every capability

local function sizes()
  headline("sizes")
  local text, ok = capture("lua5.4 tools/sizes.lua build " .. MODULE_LIMIT)
  print((text:gsub("\n$", "")))
  count(ok and 1 or 0, ok and 0 or 1)
end

-- Instructions of small calls and kernels against bench/instructions.tsv.
local function instructions()
  headline("instructions")
  local _, ok = capture("command -v valgrind")
  local text
  if not ok then return print("valgrind is not installed: left out") end
  text, ok = capture("lua5.4 bench/instructions.lua")
  print(ok and text:match("([^\n]*cases, geometric.*)\n$") or text)
  count(ok and 1 or 0, ok and 0 or 1)
end

-- The library in one file, small and whole, each for one call of the compiler:
-- processor time in seconds, and the size in kilobytes that it keeps below.
local function embed(name, limit, choice)
  return function()
    local text, ok = capture(("env -u MAKEFLAGS -u MFLAGS make "
      .. "--no-print-directory embed-check EMBED_CHECK=build/embed-check/%s "
      .. "EMBED_LIMIT=%d %s"):format(name, limit, choice))
    local m, s = text:match("\n(%d+)m([%d.]+)s %d+m[%d.]+s\n%d+ bytes")
    local seconds = m and ("%.1f"):format(m * 60 + s)
    local bytes = text:match("(%d+ bytes, at most %d+ KB)")
    if not (ok and seconds and bytes) then print(text) end
    print(("%-28s %4d passed, %d failed (gcc -Oz %s s, %s)"):format(
      "one file, " .. name, ok and 1 or 0, ok and 0 or 1, seconds, bytes))
    count(ok and 1 or 0, ok and 0 or 1)
  end
end

return {
  rock = {rock, 2},
  packages = {packages, 2},
  release = {release, 4},
  sizes = {sizes, 0},
  instructions = {instructions, 1},
  aarch64 = {cross("aarch64", "aarch64-linux-gnu-gcc qemu-aarch64"), 4},
  mingw = {cross("mingw", "x86_64-w64-mingw32-gcc-posix wine"), 4},
  musl = {cross("musl", "musl-gcc"), 3},
  wasi = {wasi, 2},
  whole = {embed("whole", 6000, ""), 3},
  small = {embed("small", 2200, "CAPS=default FAMILIES='matmul random'"), 2},
  ["no-lua"] = {embed("no-lua", 2150,
                      "LUA=no CAPS=default FAMILIES='io matmul nn random'"), 2},
}
