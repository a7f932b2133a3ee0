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
  return os.getenv("LUNARRAY_CPU") or program ~= "build/lunarray"
end

describe("the library in one file", function()
  it("is compiled by one call and runs", function()
    if is_elsewhere() then
      pending("only for the plain build on its best CPU path")
      return
    end
    run(("env -u MAKEFLAGS make embed EMBED=%s CAPS=default "
         .. "FAMILIES='matmul random'"):format(folder))
    run(("gcc -O0 -w -c %s/lunarray.c -o %s/lunarray.o "
         .. "$(pkg-config --cflags lua5.4)"):format(folder, folder))
    run(("gcc spec/embed/host.c %s/lunarray.o -I%s -o %s/host "
         .. "$(pkg-config --cflags --libs lua5.4) -lm -lpthread")
        :format(folder, folder, folder))
    local text = run(folder .. "/host spec/embed/smoke.lua")
    assert.equal("2 present, 10 absent, default\n", text)
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
