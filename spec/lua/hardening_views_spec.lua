-- HARDENING, "Sizes, views, aliasing": each line of it is a case here.
local la = require "lunarray"

local huge = math.maxinteger

-- The call raises a Lua error with this text in it.
local raises = require "spec.support.raises"

describe("sizes", function()
  it("too large are refused before any allocation", function()
    local _, before = la.memory()
    raises("size overflow", la.zeros, (1 << 48) + 1)
    raises("size overflow", la.zeros, 1 << 48, {dtype = "complex128"})
    raises("size overflow", la.empty, 1 << 40, 1 << 40)
    local many = {}
    for i = 1, 65 do many[i] = 1 end
    raises("size overflow", la.zeros, many)
    many[65] = nil
    assert.same(64, la.zeros(many).ndim)
    local _, after = la.memory()
    assert.truthy(after - before < 1 << 20)
  end)

  it("with a zero next to huge ones do not wrap", function()
    raises("size overflow", la.zeros, 0, 1 << 40, 1 << 40)
    assert.same(0, la.zeros(0, 1 << 30):numel())
  end)

  it("whose product wraps are refused", function()
    raises("size overflow", la.zeros, 4194305, 4194305, 211106198978564)
    raises("size overflow", la.zeros, huge, 2)
    raises("size overflow", la.zeros, huge)
    raises("size overflow", la.zeros(1).expand, la.zeros(1), 1 << 40, 1 << 40)
    raises("size overflow", la.zeros(1).tile, la.zeros(1), huge, huge)
    raises("size overflow", la.zeros(2).repeat_interleave, la.zeros(2), huge)
    raises("size overflow", la.zeros(2).pad, la.zeros(2), {huge, huge})
    raises("size overflow", la.zeros(2).diag_embed, la.zeros(2), huge)
  end)

  it("negative, or -1 where it is open, are refused", function()
    local x = la.zeros(6)
    raises("size -1 is negative", la.zeros, -1)
    raises("only one dimension", x.reshape, x, -1, -1)
    raises("ambiguous", la.zeros(0).reshape, la.zeros(0), -1, 0)
    raises("bad argument #2 to 'view'", x.view, x, 7)
    raises("bad argument #2 to 'reshape'", x.reshape, x, -2, 3)
    raises("number has no integer representation", x.view, x, 3.5)
    raises("number has no integer representation", x.view, x, 0 / 0)
    raises("number has no integer representation", x.view, x, 2 ^ 63)
  end)
end)

describe("as_strided", function()
  local x = la.arange(12)
  local function strided(...) return x:as_strided(...) end

  it("is checked against the storage", function()
    raises("bounds", strided, {2}, {1}, huge)
    raises("storage offset is out of bounds", strided, {2}, {1}, -1)
    raises("counting starts at 1", strided, {2}, {1}, 0)
    raises("egative", strided, {2}, {-1}, 3)
    raises("mismatch", strided, {2}, {})
    raises("bounds", strided, {13}, {1})
    raises("bounds", strided, {2}, {11}, 2)
    raises("bounds", strided, {2}, {huge}, 2)
    raises("size overflow", strided, {huge, 2}, {1, 1})
    raises("out of bounds", x.as_strided_, x, {13}, {1})
    raises("out of bounds", x.set_, x, x, 2, {12})
    assert.same({12}, {table.unpack(x.shape)})
  end)

  it("takes an exact fit", function()
    assert.same(11, strided({12}, {1})[12]:item())
    assert.same(11, strided({2}, {11})[2]:item())
    assert.same(11, strided({}, {}, 12):item())
    assert.same(0, strided({0}, {1}, 12):numel())
  end)

  it("is no way to sizes beyond all memory", function()
    local y = la.ones {2, 3}
    raises("size overflow", y.pad, y, {1, 1 << 62, 1, 1 << 62})
    raises("size overflow", y.set_, y, la.ones(6), 1,
           {1 << 32, 1 << 32, 1 << 32})
    raises("size overflow", la.empty, {1 << 32, 1 << 32, 1 << 32, 2},
           {memory_format = "channels_last"})
  end)

  it("takes any stride where nobody steps", function()
    for _, far in ipairs {1 << 60, 1 << 62, huge} do
      local y = strided({1, 2, 1}, {far, 3, far}, 2)
      assert.is_true(la.equal(y:reshape(2), la.tensor {1, 4} * 1.0))
      assert.same({{{4}, {1}}}, y:flip(1, 2, 3):totable())
      assert.same({{{2}, {8}}}, (y + y):totable())
      assert.same({{{1}, {4}}}, y:clone():totable())
      assert.same({{{1}, {4}}},
                  y:index_select(1, la.tensor {1}):totable())
      assert.same({0, 5}, {table.unpack(strided({0, 5}, {1, far}):clone()
                                        .shape)})
    end
  end)
end)

describe("views", function()
  it("outlive their base", function()
    local v
    do
      local x = la.ones(1000)
      v = x:narrow(1, 500, 3)
      x:free()
    end
    collectgarbage()
    collectgarbage()
    for _ = 1, 100 do la.zeros(1000) end
    assert.same({1.0, 1.0, 1.0}, v:totable())
    local small
    do
      local x = la.ones(4)
      small = x[2]
      x:free()
    end
    collectgarbage()
    assert.same(1.0, small:item())
  end)

  it("see their storage grow", function()
    local x = la.ones(4)
    local v = x:narrow(1, 2, 2)
    x:resize_(10000)
    x:zero_()
    assert.same({0.0, 0.0}, v:totable())
  end)

  it("of a detached tensor fix its storage", function()
    local x = la.ones(4)
    local d = x:detach()
    raises("detached", d.resize_, d, 100)
    raises("detached", d.set_, d, la.zeros(1))
    raises("detached", d.set_, d, x, 1, {2})
    raises("detached", d.resize_as_, d, la.zeros(100))
    assert.same({4}, {table.unpack(d.shape)})
  end)

  it("of a detached tensor may have other sizes and strides", function()
    for name, args in pairs{t_ = {}, transpose_ = {1, 2}, swapaxes_ = {1, 2},
      unsqueeze_ = {1}, squeeze_ = {}, as_strided_ = {{2}, {1}}} do
      local x = la.ones(2, 3)
      local d = x:detach()
      d[name](d, table.unpack(args))
      d:zero_()
      assert.same({2, 3}, {table.unpack(x.shape)}, name)
      assert.equal(name == "as_strided_" and 4 or 0, x:sum():item(), name)
    end
  end)

  it("of a detached tensor are given to other memory by set_data", function()
    local x = la.ones(3)
    local d = x:detach()
    d:set_data(la.zeros(2, 2))
    d:add_(5)
    assert.same({{5, 5}, {5, 5}}, d:totable())
    assert.same({1, 1, 1}, x:totable())
    d = x:detach()
    d.data = la.zeros(1)
    assert.same({0}, d:totable())
  end)
end)

describe("resize_", function()
  it("changes nothing when there is no memory", function()
    local x = la.ones(3)
    local version = x._version
    raises("not enough memory", x.resize_, x, 1 << 47)
    assert.same({1.0, 1.0, 1.0}, x:totable())
    assert.same(version, x._version)
    raises("negative dimension -1", x.resize_, x, -1)
    raises("size overflow", x.resize_, x, 1 << 40, 1 << 40)
    assert.same({3}, {table.unpack(x.shape)})
  end)
end)

describe("writing", function()
  it("into an expanded tensor is refused", function()
    local x = la.zeros(3, 1):expand(3, 4)
    raises("single memory location", x.add_, x, 1)
    raises("single memory location", x.copy_, x, la.ones(4))
    raises("single memory location", la.cat, {la.ones(6), la.ones(6)}, 1,
      {out = la.zeros(1):expand(12)})
    local one = la.zeros(1, 3):expand(1, 3)
    assert.same({{1.0, 1.0, 1.0}}, one:add_(1):totable())
    local strange = la.zeros(3):as_strided({1, 3}, {0, 1})
    assert.same({{1.0, 1.0, 1.0}}, strange:add_(1):totable())
  end)

  it("to out of another size or dtype is refused", function()
    local out = la.zeros(2)
    raises("out", la.cat, {la.ones(2), la.ones(2)}, 1, {out = out})
    raises("can't be cast", la.cat, {la.ones(1), la.ones(1)}, 1,
      {out = la.zeros(2):long()})
    assert.same({0.0, 0.0}, out:totable())
  end)

  it("with input and output shifted by one is refused or right", function()
    local x = la.arange(6)
    local a, b = x:narrow(1, 1, 5), x:narrow(1, 2, 5)
    local ok = pcall(b.add_, b, a)
    assert.same(ok and {0, 1, 3, 5, 7, 9} or {0, 1, 2, 3, 4, 5}, x:totable())
    x = la.arange(6)
    x:add_(x)
    assert.same({0, 2, 4, 6, 8, 10}, x:totable())
    local y = la.ones(2, 2)
    la.cat({y[1], y[1] * 2}, 1, {out = y:view(4)})
    assert.same({{1.0, 1.0}, {2.0, 2.0}}, y:totable())
  end)
end)

describe("printing views", function()
  it("of any kind is bounded and right", function()
    local sizes = {}
    for i = 1, 48 do sizes[i] = 2 end
    -- A walk over all the elements would not end.
    assert.truthy(#tostring(la.zeros(1):expand(sizes)) < 4 << 20)
    local big = la.zeros(1):expand(1000, 1000, 1000)
    assert.truthy(tostring(big):find("...", 1, true))
    for i = 49, 64 do sizes[i] = 1 end
    for i = 1, 48 do sizes[i] = 1 end
    assert.truthy(tostring(la.ones(sizes)):find("1.", 1, true))
    assert.same("tensor([2, 1, 0])", tostring(la.arange(3):flip(1)))
    assert.same("tensor([])", tostring(la.zeros(3):slice(1, 1, 0)))
    assert.same("tensor(1.)", tostring(la.ones(2)[1]))
  end)

  it("compares them", function()
    local x = la.arange(6):view(2, 3)
    assert.is_true(x:t() == x:t():contiguous())
    assert.is_true(la.ones(1):expand(4) == la.ones(4))
    assert.is_true(la.zeros(0, 3) == la.zeros(0, 3))
    assert.is_false(la.zeros(0, 3) == la.zeros(3, 0))
  end)
end)

describe("indices", function()
  it("outside are refused on both sides, the last ones work", function()
    local x = la.arange(4)
    for _, i in ipairs {0, 5, -5, math.mininteger, huge} do
      local why = i == 0 and "counting starts at 1" or "is out of range"
      raises(why, x.select, x, 1, i)
      raises(why, x.narrow, x, 1, i == 5 and 6 or i, 1)
      raises(why, x.unsqueeze, x, i == 5 and 3 or i)
      raises(why, x.transpose, x, i, 1)
    end
    assert.same(0, x:select(1, 1):item())
    assert.same(0, x:select(1, -4):item())
    assert.same(3, x:select(1, 4):item())
    assert.same(3, x:select(1, -1):item())
    assert.same(0, x:narrow(1, 5, 0):numel())
    raises("index 7 is out of range", la.unravel_index, la.tensor {7}, {2, 3})
    raises("index 0 is out of range", la.unravel_index, la.tensor {0},
           {2, 3})
  end)
end)
