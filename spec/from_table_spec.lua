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
    raises("got nil", la.tensor, {1, nil, 3})
    assert.same({1, 2}, la.tensor({1, 2, n = 2}):totable())
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
           .. "device, names)", la.tensor, {1, 2}, {offset = 3})
    raises("unknown keyword 'copy'", la.tensor, {1, 2}, {copy = false})
    raises("unknown keyword 'copy'", la.ones(2).new_tensor, la.ones(2), {1},
           {copy = true})
    raises("(known: dtype, requires_grad, device, names, copy)", la.asarray,
           {1, 2}, {offset = 3})
    raises("unknown keyword '5'", la.tensor, {1}, {[5] = true})
    raises("unknown keyword 'table'", la.tensor, {1}, {[{}] = true})
    raises("device: string expected, got table", la.tensor, {1},
           {device = {}})
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
