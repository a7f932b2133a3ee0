-- Options that an object gives: a table without keys of its own whose __index
-- has them, as settings that inherit others are. None may be passed over.
local la = require "lunarray"
local modules = require "spec.support.modules"
local raises = require "spec.support.raises"
local records = require "spec.support.records"

local function object(t) return setmetatable({}, {__index = t}) end

-- Results of a call as a list, after the same numbers have been drawn.
local function results(fn, args, n)
  la.manual_seed(1)
  return table.pack(pcall(fn, table.unpack(args, 1, n)))
end

local function same(a, b)
  if type(a) ~= type(b) then return false end
  if type(a) == "table" then
    for k, v in pairs(a) do if not same(v, b[k]) then return false end end
    return true
  end
  if type(a) ~= "userdata" or not pcall(la.is_tensor, a) then
    return type(a) == "userdata" or a == b or a ~= a
  end
  return a.dtype == b.dtype and a.shape == b.shape
    and a:tobytes() == b:tobytes()
end

-- The calls of one file of golden records that have keywords, three at most.
local function each_call(path)
  return coroutine.wrap(function()
    local lines, calls = 0, 0
    for r in records.each(path) do
      lines = lines + 1
      if lines > 40 or calls == 3 then return end
      local ok, fn, args, keywords = pcall(records.call_of, r)
      if ok and keywords and next(keywords) then
        calls = calls + 1
        coroutine.yield(fn, args, keywords)
      end
    end
  end)
end

describe("an object of options", function()
  it("counts in every operation that has keywords", function()
    local operations, faults = 0, {}
    for _, path in ipairs(modules.golden()) do
      local name, seen = path:match "([^/]+)%.jsonl$", false
      for fn, args, keywords in each_call(path) do
        local n = args.n + 1
        args[n] = keywords
        local plain = results(fn, args, n)
        args[n] = object(keywords)
        local other = results(fn, args, n)
        seen = true
        for k = 1, math.max(plain.n, other.n) do
          if not same(plain[k], other[k]) then faults[name] = true end
        end
      end
      operations = operations + (seen and 1 or 0)
    end
    assert.same({}, faults)
    assert.is_true(operations > 100, operations)
  end)

  it("counts next to keys of its own, and for one overload's names", function()
    local x = la.ones(2, 3)
    local t = setmetatable({keepdim = true}, {__index = {dim = 1}})
    assert.is_true(x:sum(t).shape == {1, 3})
    assert.is_true(x:max(object{dim = 2}).shape == {2})
    local out = la.zeros(2)
    assert.equal(out, la.add(la.ones(2), 1, object{out = out}))
    raises("unknown keyword 'odd'", la.sum, x,
           setmetatable({odd = 1}, {__index = {dim = 1}}))
  end)

  it("passes on what its __index raises", function()
    raises("boom", la.sum, la.ones(2), setmetatable({}, {
      __index = function() error("boom", 0) end}))
  end)

  it("counts in functions of C", function()
    la.set_printoptions(object{precision = 2})
    assert.equal("tensor([0.33])", tostring(la.ones(1) / 3))
    la.set_printoptions{profile = "default"}
    raises("'philox' expected", la.Generator, 1, object{kind = "mt"})
    assert.equal("int8", la.tensor({1}, object{dtype = "int8"}).dtype)
  end)

  it("counts in Lua modules", function()
    local nn, optim = require "lunarray.nn", require "lunarray.optim"
    local data = require "lunarray.data"
    local p = la.ones(1)
    assert.is_nil(nn.Linear(3, 2, object{bias = false}).bias)
    assert.equal(0.5, optim.SGD({p}, object{lr = 0.5}).defaults.lr)
    local group = setmetatable({params = {p}}, {__index = {lr = 0.25}})
    assert.equal(0.25, optim.SGD({group}, 1).param_groups[1].lr)
    local inherited = object{params = {p}, lr = 0.125}
    assert.equal(0.125, optim.SGD({inherited}, 1).param_groups[1].lr)
    assert.equal(4, data.DataLoader(la.ones(9, 1),
                                    object{batch_size = 4}).batch_size)
    local x = la.ones(1, {dtype = "float64", requires_grad = true})
    assert.is_false(la.gradcheck(function(t) return t:detach():mul(t) end, {x},
                                 object{raise = false}))
    if la.plot then
      local fig = la.plot.line({1, 2}, {1, 2}, object{title = "T"})
      assert.equal("T", fig.options.title)
    end
    if la.signal then
      local a = la.signal.firwin(5, 0.3, object{window = "boxcar"})
      assert.is_true(la.equal(a, la.signal.firwin(5, 0.3,
                                                  {window = "boxcar"})))
    end
  end)
end)
