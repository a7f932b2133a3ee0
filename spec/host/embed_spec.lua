-- The library in one file: written for a few families, compiled by one call
-- with a host in C, and run. (All of it: make embed-check.)

local once = require "spec.support.once"

local folder = "build/embed-spec"

local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read("a")
  assert(pipe:close(), command .. "\n" .. text)
  return text
end

-- Links the object with a host and runs that on every path.
local function try(object, flags, libraries)
  run(("gcc -w %s spec/embed/host.c %s/%s.o -I%s -o %s/host "
       .. "$(pkg-config --cflags lua5.4) %s -lm -lpthread"):format(flags,
       folder, object, folder, folder, libraries))
  for _, path in ipairs(require "lunarray".config().cpu_available) do
    local text = run(("LUNARRAY_CPU=%s %s/host spec/embed/smoke.lua")
      :format(path, folder))
    assert.truthy(text:find("2 present, 10 absent, %w+\n$"), text)
  end
end

-- What make says when it refuses.
local function refused(options)
  local pipe = assert(io.popen(("env -u MAKEFLAGS make embed EMBED=%s-refused "
    .. "%s 2>&1"):format(folder, options)))
  local text = pipe:read("a")
  assert.falsy(pipe:close())
  return text
end

describe("the library in one file", function()
  -- gcc, which takes ten times as long, does so in "embed-check".
  once("is compiled by one call and runs, linked statically too", function()
    run(("env -u MAKEFLAGS make embed EMBED=%s "
         .. "FAMILIES='matmul random nn io image -nn'"):format(folder))
    for _, name in ipairs({"lunarray.h", "lunarray.hpp"}) do
      run(("cmp include/%s %s/%s"):format(name, folder, name))
    end
    -- It is read by people: comments are there, and templates stand once.
    local file = assert(io.open(folder .. "/lunarray.c"))
    local text = file:read("a")
    file:close()
    assert.truthy(#text < 9e6, #text)
    assert.truthy(text:find("** Body of an operation on vectors", 1, true))
    local _, uses = text:gsub("const vec p0 = JOIN%(LANE, _scalar%)", "")
    assert.equal(1, uses)
    local cc = "clang"
    if not os.execute("command -v clang > /dev/null") then
      print("clang is not installed: the one file by gcc")
      cc = "gcc"
    end
    run(("%s -std=c11 -O0 -Wall -Wextra -Wno-unused-parameter -Werror "
         .. "-c %s/lunarray.c -o %s/it.o $(pkg-config --cflags lua5.4)")
        :format(cc, folder, folder))
    try("it", "", "$(pkg-config --libs lua5.4)")
    try("it", "-static", "$(pkg-config --static --libs lua5.4)")
  end)

  once("names the families and capabilities that there are", function()
    local text = refused "FAMILIES=nonsense"
    assert.truthy(text:find("there is no family 'nonsense', only audio conv",
                            1, true), text)
    text = refused "FAMILIES='-nn -nonsense'"
    assert.truthy(text:find("there is no family 'nonsense'", 1, true), text)
    text = refused "FAMILIES='-vision'"
    assert.truthy(text:find("without vision there is no image", 1, true), text)
    text = refused "CAPS='default avx3' FAMILIES=random"
    assert.truthy(text:find("there is no avx3, only default avx2 avx512",
                            1, true), text)
  end)
end)
