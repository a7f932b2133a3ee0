-- Tensors from Lua values: what is in a table is in the tensor, and what an
-- option asks for is done; everything else is refused in words.
local la = require "lunarray"
local raises = require "spec.support.raises"

describe("a nested table", function()
  it("has one shape all through, tables without elements too", function()
    raises("0 elements expected, got 1", la.tensor, {{}, {1}})
    raises("0 elements expected, got 2", la.tensor, {{{}, {}}, {{}, {1, 2}}})
    raises("table of 0 elements expected", la.tensor, {{}, 1})
    raises("1 elements expected, got 0", la.tensor, {{1}, {}})
    for _, dims in ipairs {{0}, {2, 0}, {2, 3, 0}} do
      local empty = la.tensor(la.zeros(dims):totable())
      assert.same(dims, {table.unpack(empty.shape)})
    end
  end)

  it("has no holes", function()
    raises("[1000000]: the table has a hole", la.tensor,
           {[1] = 1, [1000000] = 2})
    raises("hole", la.tensor, {[2] = 1})
    raises("hole", la.tensor, {[0] = 1})
    raises("hole", la.tensor, {[-3] = 1, 5})
    raises("[2][7]", la.tensor, {{1, 2}, {1, 2, [7] = 3}})
    -- the length of a list with a hole is another in Lua 5.5
    raises(_VERSION == "Lua 5.4" and "got nil" or "hole", la.tensor,
           {1, nil, 3})
    assert.same({1, 2}, la.tensor(setmetatable({1, 2, n = 2}, {})):totable())
    local filled = {}
    for i = 100, 1, -1 do filled[i] = i end
    assert.equal(5050, la.tensor(filled):sum():item())
    for i = 100, 51, -1 do filled[i] = nil end
    assert.equal(1275, la.tensor(filled):sum():item())
  end)
end)

describe("the options of la.tensor", function()
  it("are those that it follows", function()
    raises("tensor: unknown keyword 'offset' (known: dtype, requires_grad, "
           .. "device, names, memory_format)", la.tensor, {1, 2}, {offset = 3})
    raises("unknown keyword 'copy'", la.tensor, {1, 2}, {copy = false})
    raises("unknown keyword 'copy'", la.ones(2).new_tensor, la.ones(2), {1},
           {copy = true})
    raises("(known: dtype, requires_grad, device, names, memory_format, copy)",
           la.asarray, {1, 2}, {offset = 3})
    raises("unknown keyword '5'", la.tensor, {1}, {[5] = true})
    raises("unknown keyword 'table'", la.tensor, {1}, {[{}] = true})
    raises("device: string expected, got table", la.tensor, {1},
           {device = {}})
  end)

  it("may stand next to the data", function()
    local x = la.tensor{1, 2, dtype = "float64", requires_grad = true}
    assert.equal("float64", x.dtype)
    assert.is_true(x.requires_grad)
    assert.same({1.0, 2.0}, x:detach():totable())
    assert.equal("int8", la.asarray{{1, 2}, {3, 4}, dtype = "int8"}.dtype)
    assert.equal("meta", la.ones(2):new_tensor{1, device = "meta"}.device)
    assert.same({0}, {table.unpack(la.tensor{dtype = "int32"}.shape)})
    assert.same({"t"}, {table.unpack(la.tensor{1, 2, names = {"t"}}.names)})
    for n = 1, 80 do            -- wherever Lua keeps elements and names
      local data = {dtype = "int16", names = {"t"}, requires_grad = false}
      for i = 1, n do data[i] = i end
      assert.equal("int16", la.tensor(data).dtype)
      data.record = 1
      raises("unknown keyword 'record'", la.tensor, data)
    end
  end)

  it("are the only names in a table of data", function()
    for _, f in ipairs{la.tensor, la.asarray} do
      raises("unknown keyword 'x'", f, {x = 1})
      raises("unknown keyword 'x'", f, {1, 2, x = 3})
      raises("unknown keyword 'copies'", f, {{1, 2}, copies = 3})
      raises("[1]['x']: a table of data has no such keys", f, {{x = 1}})
      raises("[2]['x']", f, {{1, 2}, {3, 4, x = 1}})
      raises("[2]['dtype']", f, {{1}, {3, dtype = "int8"}})
      raises("unknown keyword '1.5'", f, {1, [1.5] = 3})
      raises("unknown keyword 'boolean'", f, {1, [true] = 3})
      raises("not in both", f, {1, dtype = "int8"}, {device = "meta"})
      raises("not in both", f, {1, dtype = "int8"}, "int8")
    end
    raises("unknown keyword 'copy'", la.tensor, {1, copy = true})
  end)

  it("lay elements out", function()
    local data = {{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}}
    local x = la.tensor(data, {memory_format = "channels_last"})
    assert.same({8, 1, 4, 2}, {x:stride()})
    assert.same(la.tensor(data):totable(), x:totable())
    raises("memory format", la.tensor, {1}, {memory_format = "rows"})
    raises("memory format", la.tensor, {1}, {memory_format = 1})
    raises("rank 4", la.tensor, {1}, {memory_format = "channels_last"})
  end)

  it("give names to dims", function()
    local x = la.tensor({{1, 2}}, {names = {"row", "*"}})
    assert.same({"row", "*"}, {table.unpack(x.names)})
    assert.same({"t"}, {table.unpack(la.asarray(la.ones(2),
                                                {names = {"t"}}).names)})
    raises("1 names for a tensor of dimension 2", la.tensor, {{1}},
           {names = {"a"}})
    raises("names: [2]: string expected", la.tensor, {{1}},
           {names = {"a", 2}})
  end)
end)

describe("text of users in an error", function()
  local long, odd = ("x"):rep(1 << 20), "a\27[31m\0b"

  it("is clipped and escaped", function()
    local x = la.ones(2)
    for _, f in ipairs {
      function(word) x[word] = 1 end,
      function(word) la.tensor({1}, {[word] = 1}) end,
      function(word) la.tensor({1}, {device = word}) end,
      function(word) la.sum(x, {[word] = 1}) end,
      function(word) la.set_printoptions {[word] = 1} end,
      function(word) la.set_printoptions {profile = word} end,
      function(word) x:backward(nil, {[word] = 1}) end,
    } do
      local ok, message = pcall(f, long)
      assert.is_false(ok)
      assert.is_true(#message < 600, message:sub(1, 80))
      ok, message = pcall(f, odd)
      assert.is_false(ok)
      assert.truthy(message:find("a\\x1B[31m", 1, true), message)
      assert.falsy(message:find("%c"))
    end
  end)
end)
