-- Tensors in mapped files.
local la = require "lunarray"

local base

before_each(function() base = os.tmpname() end)
after_each(function()
  for _, e in ipairs({"", ".npy", ".npz", ".safetensors"}) do
    os.remove(base .. e)
  end
end)

describe("la.mmap", function()
  it("shows an .npy file's values without a copy", function()
    local x = la.tensor({{1.5, 2}, {3, 4}})
    la.save(x, base .. ".npy")
    local before = la.memory()
    local y = la.mmap(base .. ".npy")
    assert.is_true(la.memory() - before < 4096)
    assert.is_true(x == y)
    assert.is_true(y + 1 == x + 1)
  end)

  it("is la.load with mmap = true", function()
    la.save({a = la.ones(3)}, base .. ".safetensors")
    local path = base .. ".safetensors"
    local read, texts = la.load(path, {mmap = true, metadata = true})
    assert.is_true(read.a == la.ones(3))
    assert.equal("table", type(texts))
    assert.has_error(function() read.a:add_(1) end)
    assert.is_true(la.load(path, {mmap = false}).a:add_(1) == la.full({3}, 2.0))
    for options, why in pairs({
      [{mmap = 1}] = "mmap: boolean expected, got number",
      [{mmap = true, map = 1}] = "unknown keyword 'map'",
      [{mmap = true, limit = 9}] = "unknown keyword 'limit'",
    }) do
      local ok, message = pcall(la.load, path, options)
      assert.is_false(ok)
      assert.truthy(message:find(why, 1, true), message)
    end
  end)

  it("is read-only", function()
    la.save(la.tensor{1, 2}, base .. ".npy")
    local y = la.mmap(base .. ".npy")
    for _, write in ipairs({
      function() y:add_(1) end, function() y[1] = 5 end,
      function() y:zero_() end, function() y:view(2):fill_(1) end,
      function() la.add(y, y, {out = y}) end,
    }) do
      local ok, message = pcall(write)
      assert.is_false(ok)
      assert.truthy(message:find("read.only") or message:find("fixed"),
                    message)
    end
    assert.has_error(function() y:resize_(100) end)
    assert.same({1, 2}, y:totable())
    assert.same({2, 3}, y:clone():add_(1):totable())
  end)

  it("keeps the file's data after the name is gone", function()
    la.save(la.tensor{1, 2, 3}, base .. ".npy")
    local y = la.mmap(base .. ".npy"):narrow(1, 2, 2)
    os.remove(base .. ".npy")
    collectgarbage()
    assert.same({2, 3}, y:totable())
  end)

  it("maps every tensor of a .safetensors file", function()
    la.save({a = la.tensor{1, 2}, b = {c = la.tensor{0.5}}},
            base .. ".safetensors")
    local t = la.mmap(base .. ".safetensors")
    assert.same({1, 2}, t.a:totable())
    assert.same({0.5}, t.b.c:totable())
    assert.has_error(function() t.a:add_(1) end)
  end)

  it("refuses what it cannot show as it lies", function()
    la.save(la.tensor{true}, base .. ".npy")
    local ok, message = pcall(la.mmap, base .. ".npy")
    assert.is_false(ok)
    assert.truthy(message:find("use load", 1, true))
    assert.has_error(function() la.mmap(base .. ".npz") end)
    assert.has_error(function() la.mmap(base .. ".none.npy") end)
    local file = assert(io.open(base .. ".npy", "wb"))
    file:write("\x93NUMPY\1\0")
    file:close()
    assert.has_error(function() la.mmap(base .. ".npy") end)
  end)
end)
