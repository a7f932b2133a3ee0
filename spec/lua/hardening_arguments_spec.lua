-- What bad arguments get: an error that names function and argument, nothing
-- changed, a state that goes on working.
local la = require "lunarray"

local function raises(pattern, f, ...)
  local ok, why = pcall(f, ...)
  assert.is_false(ok)
  assert.is_string(why)
  assert.is_truthy(why:find(pattern), why .. "\n   does not match " .. pattern)
end

describe("self", function()
  local add = la.tensor({1.}).add

  it("is a tensor or an error", function()
    for _, bad in ipairs{false, true, 3, "x", {}, print, io.stdout,
                         coroutine.create(print)} do
      raises("bad argument #1 to 'add'.*tensor expected, got", add, bad, 1)
    end
    raises("tensor expected, got", add, nil, 1)
    raises("tensor expected, got", add)
  end)

  it("is recognised by its block, not by its metatable", function()
    local t = la.tensor{1.}
    local meta = debug.getmetatable(t)
    local fake = io.tmpfile()
    local own = debug.getmetatable(fake)
    debug.setmetatable(fake, meta)
    raises("tensor expected", add, fake, 1)
    raises("expected, got", function() return fake + fake end)
    debug.setmetatable(fake, own)
    fake:close()
  end)

  it("has a locked metatable", function()
    local t = la.tensor{1.}
    assert.is_string(getmetatable(t))
    assert.has_error(function() setmetatable(t, {}) end)
    assert.is_nil(t.__gc)
    assert.is_nil(t.__index)
    assert.is_nil(t.__close)
  end)
end)

describe("a freed tensor", function()
  it("answers with an error everywhere, and prints", function()
    local t, other = la.tensor{1., 2.}, la.tensor{1., 2.}
    local view = t[1]
    t:free()
    t:free()
    raises("tensor was freed", function() return t + 1 end)
    raises("tensor was freed", function() return 1 + t end)
    raises("tensor was freed", function() return -t end)
    raises("tensor was freed", function() return t == other end)
    raises("tensor was freed", function() return #t end)
    raises("tensor was freed", function() return t[1] end)
    raises("tensor was freed", function() t[1] = 2 end)
    raises("tensor was freed", function() return t.shape end)
    raises("tensor was freed", t.sum, t)
    raises("freed", la.add, other, other, {out = t})
    assert.is_string(tostring(t))
    assert.are.equal(1, view:item())
  end)

  it("closes at the end of its scope", function()
    local kept
    do
      local t <close> = la.tensor{1., 2.}
      kept = t
    end
    raises("tensor was freed", kept.sum, kept)
  end)

  it("survives its finalizer run by hand", function()
    local t = la.tensor{1.}
    local gc = debug.getmetatable(t).__gc
    gc(t)
    gc(t)
    raises("tensor was freed", t.sum, t)
    assert.has_no.errors(function() gc(nil) gc({}) gc(io.stdout) end)
  end)
end)

describe("numbers as sizes, dims and indices", function()
  local t = la.zeros(2, 3)

  it("must be whole", function()
    for _, bad in ipairs{0 / 0, 1 / 0, -1 / 0, 3.5, 2.0 ^ 53 + 0.5 * 3,
                         2.0 ^ 63} do
      if math.tointeger(bad) == nil then
        raises("number has no integer representation", t.sum, t, bad)
        raises("number has no integer representation", la.zeros, bad)
        raises("number has no integer representation", t.select, t, 1, bad)
      end
    end
    assert.are.same({3}, {table.unpack(t:sum(1.0).shape)})
  end)

  it("are never read from other types", function()
    for _, bad in ipairs{"1", true, print} do
      raises("expected, got", t.sum, t, bad)
      raises("expected, got", t.select, t, 1, bad)
      raises("expected, got", la.zeros, 2, bad)
    end
  end)

  it("have a valid range, told in the message", function()
    for _, bad in ipairs{0, 3, -3, math.mininteger, math.maxinteger} do
      assert.is_false(pcall(t.select, t, 1, bad), tostring(bad))
      assert.is_false(pcall(t.sum, t, bad))
    end
    for _, good in ipairs{1, 2, -1, -2} do
      assert.is_true(pcall(t.select, t, 1, good))
      assert.is_true(pcall(t.sum, t, good))
    end
    raises("counting starts at 1", t.sum, t, 0)
    raises("starts at 1", t.select, t, 1, 0)
  end)

  it("can't be negative sizes, nor -1 twice", function()
    assert.is_false(pcall(la.zeros, -1))
    assert.is_false(pcall(t.reshape, t, -1, -1))
    assert.is_false(pcall(t.reshape, t, 0, -1))
    raises("bad argument #2 to 'view'", t.view, t, 7)
  end)
end)

describe("tables of data", function()
  it("may not be ragged, have holes or other values", function()
    raises("%[2%].*3 elements expected, got 2", la.tensor, {{1, 2, 3}, {4, 5}})
    raises("%[1%]%[2%]", la.tensor, {{1, {2}}, {3, 4}})
    raises("%[2%]", la.tensor, {{1, 2}, 3})
    raises("%[2%].*got string", la.tensor, {1, "2"})
    -- the length of a list with a hole is another in Lua 5.5
    raises(_VERSION == "Lua 5.4" and "%[2%]" or "hole", la.tensor, {1, nil, 3})
    raises("%[1%]", la.tensor, {print})
  end)

  it("may not contain themselves or be too deep", function()
    local loop = {}
    loop[1] = loop
    raises("nested too deep", la.tensor, loop)
    local deep = 1
    for _ = 1, 65 do deep = {deep} end
    raises("nested too deep", la.tensor, deep)
    deep = 1
    for _ = 1, 64 do deep = {deep} end
    assert.are.equal(64, la.tensor(deep).ndim)
  end)

  it("pass on what their metamethods raise", function()
    local proxy = setmetatable({}, {__len = function() error("from __len") end})
    raises("from __len", la.tensor, proxy)
    proxy = setmetatable({1, 2}, {
      __index = function() error("from __index") end,
      __len = function() return 3 end,
    })
    raises("from __index", la.tensor, proxy)
    proxy = setmetatable({}, {__len = function() coroutine.yield() end})
    local co = coroutine.wrap(function() return la.tensor(proxy) end)
    raises("yield", co)
    assert.are.equal(6, la.tensor(setmetatable({}, {
      __len = function() return 3 end,
      __index = function(_, i) return i end})):sum():item())
  end)
end)

describe("calls", function()
  local t = la.zeros(2, 3)

  it("name unknown and repeated keywords", function()
    raises("unknown keyword 'dims' .*known: .*dim.*keepdim", t.sum, t,
      {dims = 1})
    raises("given twice", t.sum, t, 1, {dim = 2})
    raises("at most", t.sum, t, 1, true, 3, 4)
    local many = {}
    for i = 1, 250 do many[i] = i end
    assert.is_false(pcall(t.sum, t, table.unpack(many)))
    assert.is_false(pcall(t.sum, t, {dim = 1, 5}))
  end)

  it("print hostile text as data, clipped and escaped", function()
    local ok, why = pcall(t.sum, t, {["%d%s%n\0\27[31m"] = 1})
    assert.is_false(ok)
    assert.is_truthy(why:find("%d%s%n", 1, true))
    assert.is_nil(why:find("\27", 1, true))
    assert.is_nil(why:find("\0", 1, true))
    ok, why = pcall(t.to, t, ("x"):rep(1 << 20))
    assert.is_false(ok)
    assert.is_true(#why < 1000)
  end)

  it("refuse unknown dtypes and values that do not fit", function()
    local known = "unknown dtype 'float33' %(known: bool, uint8, int8, uint16, "
      .. "int16, uint32, int32, uint64, int64, float16, bfloat16, float32, "
      .. "float64, complex32, complex64, complex128%)"
    raises(known, la.zeros, 2, {dtype = "float33"})
    raises(known, la.tensor, {1}, {dtype = "float33"})
    raises(known, la.tensor, {1}, "float33")
    raises("#2 to 'to' %('float33' is no device and no dtype %(known: bool, ",
      la.ones(2).to, la.ones(2), "float33")
    raises(known, la.ones(2).sum, la.ones(2), {dtype = "float33"})
    raises(known, la.set_default_dtype, "float33")
    assert.is_false(pcall(la.tensor, {300}, {dtype = "uint8"}))
    assert.is_false(pcall(la.tensor, {-1}, {dtype = "uint8"}))
    assert.is_false(pcall(la.tensor, {1 << 31}, {dtype = "int32"}))
    assert.is_false(pcall(la.tensor, {1.5}, {dtype = "int64"}))
    assert.is_false(pcall(la.full, {2}, 300, {dtype = "uint8"}))
    assert.are.equal(255, la.tensor({255}, {dtype = "uint8"}):item())
    assert.are.equal(la.inf, la.tensor({1 / 0}, {dtype = "float16"}):item())
  end)

  it("check raw strings", function()
    assert.is_false(pcall(la.from_raw, "1234567", "float32", {2}))
    assert.is_false(pcall(la.from_raw, 5, "float32", {2}))
    assert.is_false(pcall(la.from_raw, "12345678", "nothing", {2}))
    local x = la.from_raw(la.tensor{1., 2.}:tostring_raw(), "float32", {2})
    assert.is_true(x == la.tensor{1., 2.})
  end)

  it("leave operands as they were", function()
    local a, b = la.ones(2, 3), la.ones(4)
    local version = a._version
    assert.is_false(pcall(a.add_, a, b))
    assert.is_false(pcall(la.add, a, a, {out = la.ones(5)}))
    assert.is_true(a == la.ones(2, 3))
    assert.are.equal(version, a._version)
  end)

  it("say PyTorch's sentence of broadcasting, counted from one", function()
    raises("The size of tensor a %(2%) must match the size of tensor b %(3%) "
      .. "at non%-singleton dimension 1", la.add, la.ones(2), la.ones(3))
  end)
end)

describe("operators", function()
  it("take numbers on either side and refuse the rest", function()
    local t = la.tensor{4., 6.}
    assert.is_true(10 - t == la.tensor{6., 4.})
    assert.is_true(12 / t == la.tensor{3., 2.})
    assert.is_true(t // 4 == la.tensor{1., 1.})
    assert.is_true(-7 % la.tensor{3, 4} == la.tensor{2, 1})
    raises("bad argument #2 to 'add'.*got string",
           function() return t + "x" end)
    raises("bad argument #1 to 'add'.*got table", function() return {} + t end)
    raises("lt", function() return t < t end)
    assert.is_true(la.tensor(1) < 2)
    assert.is_false(t == 1)
    assert.is_true(t == la.tensor({4, 6}))
    assert.is_false(t == la.tensor{{4., 6.}})
    raises("la.cat", function() return t .. t end)
    assert.is_string("x = " .. t)
  end)
end)
