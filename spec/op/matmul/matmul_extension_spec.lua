-- Products of 16-bit floats on the ISA extensions of this machine: kernels
-- above AVX512 with sums of their own order. Each runs
-- spec/support/values/extension_products.lua in a process of its own, since
-- LUNARRAY_CPU is read when the library starts.
local la = require "lunarray"
local once = require "spec.support.once"

local function run(cap, file, argument)
  local pipe = assert(io.popen(
    ("LUNARRAY_CPU=%s LUA_CPATH='%s' LUA_PATH='%s' lua5.4 "
     .. "spec/support/values/%s.lua %s 2>&1"):format(cap, package.cpath,
       package.path, file, argument or "")))
  local text = pipe:read "a"
  pipe:close()
  return text
end

-- What LUNARRAY_CPU may name, the levels' best included.
local paths = {""}
for _, name in ipairs(la.config().cpu_extensions_available) do
  if name ~= "amx_fp16" then paths[#paths + 1] = name end
end

describe("products of 16-bit floats", function()
  for _, path in ipairs(paths) do
    once("are sums in float32 on path '" .. path .. "'", function()
      assert.equal("ok\n", run(path, "extension_products"))
    end)

    once("have bits without threads on path '" .. path .. "'", function()
      local one = run(path, "product_bits", 1)
      assert.truthy(#one > 5000)
      assert.equal(one, run(path, "product_bits", 2))
      assert.equal(one, run(path, "product_bits", 3))
    end)
  end

  once("go to no extension where a level is named", function()
    local told = "-e 'print(#require[[lunarray]].config().cpu_extensions)'"
    for _, level in ipairs {"default", "avx2", "avx512"} do
      local pipe = assert(io.popen(("LUNARRAY_CPU=%s LUA_CPATH='%s' "
        .. "LUA_PATH='%s' lua5.4 %s"):format(level, package.cpath,
                                             package.path, told)))
      assert.equal("0\n", pipe:read "a")
      pipe:close()
    end
  end)

  it("are named by what runs", function()
    local c = la.config()
    for _, list in ipairs {c.cpu_extensions, c.cpu_extensions_available} do
      for _, name in ipairs(list) do
        assert.truthy(("avx512_vnni avx512_bf16 amx amx_fp16"):find(name, 1,
          true))
      end
    end
  end)
end)
