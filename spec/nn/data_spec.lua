-- Datasets, loaders, progress.
local la = require "lunarray"
local data = require "lunarray.data"

describe("data", function()
  local x, y = la.range(1, 10, {dtype = "float32"}), la.range(11, 20)
  local set = data.TensorDataset(x, y)

  it("loads batches in order", function()
    local loader = data.DataLoader(set, {batch_size = 4})
    assert.are.equal(3, #loader)
    local sizes, sum = {}, 0
    for xb, yb in loader:batches() do
      sizes[#sizes + 1] = xb:size(1)
      sum = sum + xb:sum():item()
      assert.is_true(yb:float() == xb + 10)
    end
    assert.are.same({4, 4, 2}, sizes)
    assert.are.equal(55, sum)
    loader = data.DataLoader(set, {batch_size = 4, drop_last = true})
    assert.are.equal(2, #loader)
    local n = 0
    for _ in loader:batches() do n = n + 1 end
    assert.are.equal(2, n)
  end)

  it("shuffles by a generator", function()
    local function order(seed)
      local g = la.Generator(seed)
      local loader = data.DataLoader(set, {batch_size = 10, shuffle = true,
        generator = g})
      return (loader:batches()())
    end
    assert.is_true(order(1) == order(1))
    assert.is_false(order(1) == order(2))
    assert.is_true(order(3):sort() == x)
  end)

  it("splits at random", function()
    local a, b = data.random_split(set, {7, 3}, {generator = la.Generator(1)})
    assert.are.equal(7, #a)
    assert.are.equal(3, #b)
    local c, d = data.random_split(set, {0.75, 0.25})
    assert.are.same({8, 2}, {#c, #d})
    local xa = a:batch(la.range(1, 7, {dtype = "int64"}))
    local xb = b:batch(la.range(1, 3, {dtype = "int64"}))
    assert.are.equal(55, (xa:sum() + xb:sum()):item())
    assert.has_error(function() data.random_split(set, {7, 4}) end)
  end)

  it("collates samples of plain sets", function()
    local squares = setmetatable({get = function(_, k)
      return la.tensor{k * 1.0}, k * k, "text"
    end}, {__len = function() return 5 end})
    local loader = data.DataLoader(squares, {batch_size = 3})
    local a, b, c = loader:batches()()
    assert.are.same({3, 1}, {table.unpack(a.shape)})
    assert.are.same({1, 4, 9}, b:totable())
    assert.are.same({"text", "text", "text"}, c)
    assert.has_error(function() data.DataLoader(set, {size = 1}) end)
    assert.has_error(function() data.DataLoader(set, {batch_size = 0}) end)
    assert.has_error(function()
      data.TensorDataset(la.ones(2), la.ones(3))
    end)
  end)

  it("shows progress, and nothing when nobody looks", function()
    local lines = {}
    local file = {flush = function() end, write = function(_, ...)
      lines[#lines + 1] = table.concat{...}
    end}
    local n = 0
    for i in la.progress(5, {file = file, desc = "steps"}) do n = n + i end
    assert.are.equal(15, n)
    assert.is_truthy(table.concat(lines):find("steps 100%", 1, true))
    assert.is_truthy(table.concat(lines):find("5/5", 1, true))
    local bar = la.progress(10, {quiet = true})
    bar:update(3, "loss 1")
    bar:close()
    local items = {}
    for item in la.progress({"a", "b"}, {quiet = true}) do
      items[#items + 1] = item
    end
    assert.are.same({"a", "b"}, items)
  end)

  it("shows progress over rows and batches", function()
    local sum, rows = 0, la.range(6):view(3, 2)
    for row in la.progress(rows, {quiet = true}) do
      sum = sum + row:sum():item()
    end
    assert.equal(21, sum)
    local loader = data.DataLoader(data.TensorDataset(rows, la.range(3)),
                                   {batch_size = 2})
    local sizes = {}
    for part, labels in la.progress(loader, {quiet = true}) do
      sizes[#sizes + 1] = #part * #labels
    end
    assert.same({4, 1}, sizes)
  end)
end)
