-- What the iterator decides, seen through element-wise operations: shapes,
-- layouts of results, mixed dtypes, overlap, names, threads.
local la = require "lunarray"

local raises = require "spec.support.raises"

local function strides(x)
  local s = {}
  for d = 1, x.ndim do s[d] = x:stride(d) end
  return s
end

-- A tensor of 'sizes' laid out in the order of 'order' (fastest last).
local function laid_out(sizes, order)
  local inner, back = {}, {}
  for k, d in ipairs(order) do
    inner[k] = sizes[d]
    back[d] = k
  end
  local n = 1
  for _, s in ipairs(sizes) do n = n * s end
  return la.arange(n, {dtype = "float32"}):view(inner):permute(back)
end

describe("layout of results", function()
  it("is the operands'", function()
    local x = laid_out({2, 3, 4}, {2, 3, 1})
    assert.same(strides(x), strides(x + x))
    assert.same(strides(x), strides(x + 1))
    assert.same(strides(x), strides(x + la.ones(3, 1)))
  end)

  it("is the first operand's where they differ", function()
    local a = laid_out({2, 3, 4}, {1, 2, 3})
    local b = laid_out({2, 3, 4}, {3, 1, 2})
    assert.same(strides(a), strides(a + b))
    assert.same(strides(b), strides(b + a))
    assert.is_true((a + b):equal(b + a))
  end)

  it("keeps channels_last", function()
    local x = la.ones(2, 3, 4, 5):contiguous("channels_last")
    assert.is_true((x * 2):is_contiguous("channels_last"))
    assert.is_true((x + la.ones(3, 1, 1)):is_contiguous("channels_last"))
  end)

  it("is dense where operands have gaps or repeat", function()
    local x = la.arange(24):view(4, 6)
    local y = x[{{}, {1, 6, 2}}] + 0
    assert.same({3, 1}, strides(y))
    assert.same({4, 1}, strides(la.zeros(3):expand(4, 3).T + 0))
  end)
end)

describe("shapes", function()
  it("broadcast", function()
    local x = la.arange(3):view(3, 1) + la.arange(4)
    assert.same({{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}}, x:totable())
    assert.equal(0, (la.zeros(0, 1) + la.zeros(3)):numel())
    assert.equal(0, (la.full({}, 1.0) + la.full({}, 2.0)).ndim)
    raises("The size of tensor a (2) must match the size of tensor b (3) at "
          .. "non-singleton dimension 1", la.add, la.zeros(2), la.zeros(3))
  end)

  it("go far beyond five dims", function()
    local sizes = {}
    for d = 1, 60 do sizes[d] = d % 20 == 0 and 2 or 1 end
    local x = la.ones(sizes)
    assert.equal(60, (x + x).ndim)
    assert.equal(16.0, (x + x):sum():item())
  end)
end)

describe("mixed dtypes", function()
  it("meet in the common one", function()
    local i, f = la.arange(5000), la.ones(5000, {dtype = "float16"})
    local r = i + f
    assert.equal("float16", r.dtype)
    assert.equal(11.0, r[11]:item())
    assert.equal("float64", (i + la.ones(5000):double()).dtype)
    assert.equal("int64", (i + 1).dtype)
    assert.equal("float32", (i + 1.5).dtype)
  end)

  it("are copied to narrower outputs when the category allows", function()
    local x = la.ones(5000, {dtype = "float16"})
    x:add_(la.ones(5000, {dtype = "float64"}))
    assert.is_true(x:equal(la.full({5000}, 2.0)))
    raises("result type Float can't be cast to the desired output type Long",
          la.arange(3).add_, la.arange(3), 1.5)
  end)

  it("keep numbers at full width", function()
    local x = la.zeros(1, {dtype = "float64"}) + 0.1
    assert.equal(0.1, x:item())
  end)
end)

describe("operands in the same memory", function()
  it("may coincide, not overlap", function()
    local x = la.ones(6)
    assert.equal(12.0, x:add_(x):sum():item())
    raises("some elements of the input tensor and the written-to tensor refer "
          .. "to a single memory location", function()
      x:narrow(1, 2, 5):add_(x:narrow(1, 1, 5))
    end)
    raises("more than one element of the written-to tensor", function()
      la.zeros(1):expand(3):add_(1)
    end)
    assert.equal(12.0, x:sum():item())
  end)
end)

describe("threads", function()
  it("do not change results", function()
    local before = la.get_num_threads()
    local a = laid_out({67, 129, 33}, {2, 3, 1})
    local b = la.linspace(0, 1, 33, {dtype = "float64"})
    local results = {}
    for _, n in ipairs{1, 2, 7} do
      la.set_num_threads(n)
      results[#results + 1] = a / (b + 1)
    end
    la.set_num_threads(before)
    assert.is_true(results[1]:equal(results[2]))
    assert.is_true(results[1]:equal(results[3]))
  end)
end)

describe("an operation in place", function()
  it("keeps the names of what it writes", function()
    local tried = 0
    for _, op in ipairs(la.operations()) do
      local method = op.forms & 4 ~= 0 and not op.metadata
        and la.ones(1)[op.name .. "_"]
      local lists = {{}, {1}, {la.ones(2, 3)}, {0, 1},
                     {la.ones(2, 3), la.ones(2, 3)}}
      for _, args in ipairs(method and lists or {}) do
        local x = la.ones(2, 3, {names = {"a", "b"}})
        if pcall(method, x, table.unpack(args)) then
          tried = tried + 1
          assert.same({"a", "b"}, {x.names[1], x.names[2]}, op.name)
          break
        end
      end
    end
    assert.is_true(tried > 90, tried)
  end)
end)
