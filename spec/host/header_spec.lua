-- The public headers under every warning of every compiler that is there.
local once = require "spec.support.once"

local warnings = "-Wall -Wextra -pedantic -Wconversion -Wshadow -Werror"

local function exists(compiler)
  return os.execute(compiler .. " --version > /dev/null 2>&1") == true
end

-- Compiles and does not link; fails with what the compiler says.
local function compiles(compiler, options, file)
  if not exists(compiler) then
    pending("no " .. compiler)
    return
  end
  local command = ("%s %s %s -Iinclude -fsyntax-only %s 2>&1"):format(
    compiler, options, warnings, file)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  local ok = pipe:close()
  assert(ok, command .. "\n" .. text)
end

-- Links with the static library and runs; the program prints "ok".
local function runs(compiler, options, file)
  if not exists(compiler) then
    pending("no " .. compiler)
    return
  end
  local program = os.tmpname()
  local pkg = io.popen("pkg-config --cflags --libs lua5.4 2>/dev/null "
    .. "|| echo -llua5.4")
  local lua = pkg:read("a"):gsub("%s+", " ")
  pkg:close()
  local command = ("%s -std=c++17 %s %s -Iinclude %s -o %s -Lbuild -llunarray "
    .. "-Wl,-rpath,$PWD/build %s 2>&1 && %s 2>&1"):format(compiler, options,
    warnings, file, program, lua, program)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  pipe:close()
  os.remove(program)
  assert.equal("ok\n", text)
end

describe("lunarray.hpp", function()
  local plain = "-std=c++20 -fno-exceptions -fno-rtti"
  for _, compiler in ipairs{"g++", "clang++"} do
    for _, options in ipairs{"", plain} do
      once("is clean with " .. compiler .. " " .. options, function()
        compiles(compiler, "-std=c++17 -Wold-style-cast -Wsign-conversion "
          .. options, "spec/cpp/header_hpp.cpp")
      end)
      once("works with " .. compiler .. " " .. options, function()
        runs(compiler, options, "spec/cpp/test_hpp.cpp")
      end)
    end
  end
end)

describe("lunarray.h", function()
  for _, compiler in ipairs{"gcc", "clang"} do
    for _, standard in ipairs{"c11", "c17"} do
      once("is clean in " .. standard .. " with " .. compiler, function()
        compiles(compiler, "-std=" .. standard, "spec/c/header.c")
      end)
    end
  end
  for _, compiler in ipairs{"g++", "clang++"} do
    for _, standard in ipairs{"c++11", "c++17", "c++20"} do
      once("is clean in " .. standard .. " with " .. compiler, function()
        compiles(compiler, "-Wold-style-cast -std=" .. standard,
                 "spec/cpp/header.cpp")
      end)
    end
  end
end)

describe("LA_NO_LUA", function()
  for _, compiler in ipairs{"g++", "clang++"} do
    once("leaves a clean header with " .. compiler, function()
      compiles(compiler, "-std=c++17 -Wold-style-cast", "spec/cpp/no_lua.cpp")
    end)
  end
  for _, compiler in ipairs{"gcc", "clang"} do
    once("is all that a host in C needs with " .. compiler, function()
      compiles(compiler, "-std=c11", "examples/host_no_lua.c")
    end)
  end
end)

-- Where check, verify, TEXT, None, small and the like are macros.
describe("headers among an engine's macros", function()
  for _, compiler in ipairs{"gcc", "clang"} do
    once("compile as C with " .. compiler, function()
      compiles(compiler, "-std=c11", "spec/c/macros.c")
    end)
  end
  for _, compiler in ipairs{"g++", "clang++"} do
    once("compile as C++ with " .. compiler, function()
      compiles(compiler, "-std=c++17", "spec/cpp/macros.cpp")
    end)
  end
end)
