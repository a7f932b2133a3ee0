-- What must not reach memory that is not its own, and must end: values of the
-- wrong type, dtypes without a kernel, tensors without elements, arguments for
-- which a loop never comes to its end.
local la = require "lunarray"
local modules = require "spec.support.modules"
local raises = require "spec.support.raises"
local records = require "spec.support.records"

-- f(record, fn, arguments, keywords) for every call of the golden records.
local function each_call(f)
  for _, path in ipairs(modules.golden()) do
    for r in records.each(path) do
      local found, fn, args, keywords = false, nil, nil, nil
      if r.args then found, fn, args, keywords = pcall(records.call_of, r) end
      if found then f(r, fn, args, keywords) end
    end
  end
end

describe("a value of another type than its parameter", function()
  it("is refused in place, where an overload begins with no tensor", function()
    raises("tensor expected", la.ones(2).polygamma_, 0x41414141, 2)
    raises("tensor expected", la.ones(2).polygamma_, 1, la.ones(2))
  end)

  it("leaves the form that works alone", function()
    local x = la.tensor{1., 2.}
    local want = x:polygamma(1)
    assert.equal(x, x:polygamma_(1))
    assert.is_true(la.equal(x, want))
  end)
end)

describe("a reduction without a kernel for the dtype", function()
  -- nansum of integers is their sum, which may be complex
  local sources = {nansum = {"float32", "float16"},
                   nanmean = {"float32", "float16", "int32", "bool"}}
  for name, dtypes in pairs(sources) do
    for _, dtype in ipairs{"complex32", "complex64", "complex128"} do
      it(name .. " to " .. dtype .. " is an error", function()
        for _, from in ipairs(dtypes) do
          local x = la.ones(2, 3):to(from)
          assert.has_error(function() la[name](x, 1, {dtype = dtype}) end)
          assert.has_error(function() la[name](x, {dtype = dtype}) end)
          assert.has_error(function()
            la[name](la.ones(0, 3):to(from), 1, {dtype = dtype})
          end)
        end
      end)
    end
  end
end)

describe("the meta device", function()
  local function meta(t) return t:to("meta") end
  local index = la.tensor{1, 2, 1}

  it("has no values for one_hot and embedding_bag", function()
    raises("depends on data", la.one_hot, meta(index))
    assert.same({3}, {la.one_hot(meta(index), 3):size(-1)})
    assert.equal("meta", la.one_hot(meta(index), 3).device)
    raises("depends on data", la.embedding_bag, meta(index),
           meta(la.ones(3, 3)), meta(index))
    raises("depends on data", la.embedding_bag, meta(index), la.ones(3, 3),
           index)
  end)

  it("has a shape for ravel_multi_index", function()
    local flat = la.ravel_multi_index({meta(index), meta(index)}, {3, 2})
    assert.same({3}, flat.shape)
    assert.same("meta", flat.device)
  end)
end)

describe("every call of the golden records", function()
  local moved
  local function to_meta(v)
    if type(v) == "table" and not getmetatable(v) then
      local out = {}
      for k, x in pairs(v) do out[k] = to_meta(x) end
      return out
    end
    if type(v) ~= "userdata" or v == la.newaxis then return v end
    moved = true
    return v:to("meta")
  end
  local DTYPES = {}
  for name in ([[bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16
    bfloat16 float32 float64 complex32 complex64 complex128]]):gmatch("%S+") do
    DTYPES[#DTYPES + 1] = name
  end

  it("gives a shape or an error on the meta device", function()
    local elsewhere = {}
    each_call(function(r, fn, args, keywords)
      local n = args.n
      moved = false
      args = to_meta(args)
      if keywords then n = n + 1; args[n] = to_meta(keywords) end
      local ok, y = pcall(fn, table.unpack(args, 1, n))
      if moved and ok and type(y) == "userdata" and y.device ~= "meta" then
        elsewhere[#elsewhere + 1] = r.id
      end
    end)
    assert.same({}, elsewhere)
  end)

  it("works or is refused with any dtype asked for", function()
    local takes_dtype = {}
    for _, op in ipairs(la.operations()) do
      if op.signature:find("dtype? dtype", 1, true) then
        takes_dtype[op.name] = true
      end
    end
    each_call(function(r, fn, args, keywords)
      if not takes_dtype[r.op] then return end
      keywords = keywords or {}
      for _, name in ipairs(DTYPES) do
        keywords.dtype = name
        args[args.n + 1] = keywords
        local ok, y = pcall(fn, table.unpack(args, 1, args.n + 1))
        if not ok then assert.is_string(y) end
      end
    end)
  end)
end)

describe("pad of a 0-dim tensor", function()
  it("is the tensor in every mode", function()
    for _, mode in ipairs{"constant", "reflect", "replicate", "circular"} do
      local y = la.pad(la.tensor(5), {}, {mode = mode})
      assert.same({}, y.shape)
      assert.same(5, y:item())
    end
    assert.same(5, la.border_pad_nd(la.tensor(5), {}, "replicate"):item())
  end)
end)

describe("sampling", function()
  local inf, nan, wide = math.huge, 0 / 0, {dtype = "float64"}

  it("ends for infinite and NaN parameters", function()
    assert.same(inf, la.gamma(la.tensor{inf}):item())
    assert.same(inf, la.gamma(inf, 2):item())
    assert.is_true(la.gamma(la.tensor{nan}):isnan():all())
    assert.is_true(la.gamma(la.tensor{1.}, la.tensor{nan}):isnan():all())
    assert.is_true(la.gamma(1e308):item() > 0)
    for _, p in ipairs{inf, nan, 1, 1e308} do
      for _, q in ipairs{inf, nan, 1, 1e-308} do
        local a, b = la.tensor({p}, wide), la.tensor({q}, wide)
        local y = la.beta(a, b)
        assert.is_true(y:isnan():all() or (y:ge(0):all() and y:le(1):all()))
        local d = la.dirichlet(la.cat{a, b})
        assert.is_true(d:isnan():any() or d:ge(0):all())
        la.poisson(la.cat{a, b})
        la.binomial(la.cat{a, b}, 0.5)
      end
    end
  end)

  it("of integers refuses complex numbers before it looks at limits",
     function()
    for _, dtype in ipairs{"complex32", "complex64", "complex128"} do
      raises("'Complex", la.random_, la.zeros(2, {dtype = dtype}))
      raises("'Complex", la.random_, la.zeros(2, {dtype = dtype}), 5)
    end
  end)
end)

describe("indices of a triangle", function()
  -- Row by row, as the definition says.
  local function count(rows, columns, k, lower)
    local n = 0
    for r = 1, rows do
      for c = 1, columns do
        local below = c - r <= k
        if lower and below or (not lower and c - r >= k) then n = n + 1 end
      end
    end
    return n
  end

  it("are as many as the definition says", function()
    for rows = 0, 4 do
      for columns = 0, 4 do
        for k = -6, 6 do
          local low = la.tril_indices(rows, columns, k)
          local up = la.triu_indices(rows, columns, k)
          assert.same({2, count(rows, columns, k, true)}, low.shape)
          assert.same({2, count(rows, columns, k, false)}, up.shape)
          local mask = la.ones(rows, columns):tril(k):nonzero()
          assert.is_true(la.equal(mask:t(), low))
          mask = la.ones(rows, columns):triu(k):nonzero()
          assert.is_true(la.equal(mask:t(), up))
        end
      end
    end
  end)

  it("are counted without a walk over the rows", function()
    assert.same({2, 1}, la.triu_indices(1 << 40, 1).shape)
    assert.same({2, 3}, la.triu_indices(1 << 40, 2).shape)
    assert.same({2, 1}, la.tril_indices(1 << 40, 1, 1 - (1 << 40)).shape)
  end)
end)

describe("isdtype", function()
  it("does not believe any length", function()
    local endless = setmetatable({}, {
      __len = function() return math.maxinteger end,
      __index = function() return "x" end
    })
    raises("more kinds", la.isdtype, "float64", endless)
  end)

  it("takes no name that begins with one and goes on behind a NUL", function()
    assert.is_nil(la.linalg["svd\0junk"])
    assert.is_nil(rawget(la.linalg, "svd\0junk"))
    assert.is_nil(la["sum\0junk"])
    assert.is_nil(la.autograd["grad\0junk"])
    assert.is_false((pcall(la.Generator, {["kind\0junk"] = "philox"})))
    assert.is_false((pcall(la.Generator, {kind = "philox\0junk"})))
    assert.is_truthy(la.Generator{kind = "philox"})
  end)
end)
