-- The library in one file: written for a few families, compiled by one call
-- with a host in C, and run. (All of it: make embed-check.)

local folder = "build/embed-spec"

local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read("a")
  assert(pipe:close(), command .. "\n" .. text)
  return text
end

-- It is the same whatever runs this: once is enough.
local function is_elsewhere()
  local program = os.getenv("LUNARRAY_PROGRAM") or "build/lunarray"
  local path = os.getenv "LUNARRAY_CPU"
  local paths = require "lunarray".config().cpu_available
  return program ~= "build/lunarray" or path and path ~= paths[#paths]
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

describe("the library in one file", function()
  it("is compiled by one call and runs, linked statically too", function()
    if is_elsewhere() then
      pending("only for the plain build on its best CPU path")
      return
    end
    run(("env -u MAKEFLAGS make embed EMBED=%s "
         .. "FAMILIES='matmul random io image'")
        :format(folder))
    -- by either compiler; linked as a program of its own libraries, too
    for _, cc in ipairs({"gcc", "clang"}) do
      if cc == "gcc" or os.execute("command -v clang > /dev/null") then
        run(("%s -O0 -Werror=implicit-function-declaration "
             .. "-c %s/lunarray.c -o %s/%s.o $(pkg-config --cflags lua5.4)")
            :format(cc, folder, folder, cc))
        try(cc, "", "$(pkg-config --libs lua5.4)")
      else
        print("clang is not installed: the one file by gcc alone")
      end
    end
    try("gcc", "-static", "$(pkg-config --static --libs lua5.4)")
  end)

  it("names the families that there are", function()
    if is_elsewhere() then
      pending("only for the plain build on its best CPU path")
      return
    end
    local pipe = assert(io.popen(("env -u MAKEFLAGS make embed EMBED=%s "
      .. "FAMILIES=nonsense 2>&1"):format(folder)))
    local text = pipe:read("a")
    assert.falsy(pipe:close())
    assert.truthy(text:find("there is no family 'nonsense', only conv create",
                            1, true), text)
  end)
end)
