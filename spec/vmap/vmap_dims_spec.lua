-- la.vmap with every dim of arguments and results, one function in another, and
-- random operations one by one, against loops over the elements.
local la = require "lunarray"

local function same(want, got, what)
  assert.same({table.unpack(want.shape)}, {table.unpack(got.shape)}, what)
  assert.is_true(la.allclose(want, got, 1e-12, 1e-12), what)
end

-- Functions of one and of two elements of any shape.
local ONE = {
  sin = function(x) return x:sin() end,
  sum = function(x) return x:sum() end,
  ["sum over the last dim"] = function(x)
    return x.ndim > 0 and x:sum(-1) or x
  end,
  ["a view"] = function(x) return x:unsqueeze(1):transpose(1, -1) end,
  softmax = function(x) return x.ndim > 0 and x:softmax(1) or x:exp() end,
  ["in place"] = function(x)
    local y = x:clone()
    y:mul_(2)
    y:add_(x)
    return y
  end,
  constant = function() return la.full({2}, 3, {dtype = "float64"}) end,
  flipped = function(x) return x.ndim > 0 and x:flip(1) or x end
}
local TWO = {
  sub = function(x, y) return x - y end,
  ["broadcast with a row"] = function(x, y)
    return x:unsqueeze(-1) * y:new_ones({3}) + y:unsqueeze(-1)
  end,
  stack = function(x, y) return la.stack({x, y}, 1) end,
  ["write"] = function(x, y)
    local z = x * y
    z:copy_(y)
    return z + x
  end,
  where = function(x, y) return la.where(x:gt(y), x, y) end
}

local SHAPES = {{}, {2}, {2, 4}}
local N = 3

-- A batch of elements of 'shape' with the batch at dim d, and the element k.
local function batch_of(shape, d, seed)
  local sizes = {table.unpack(shape)}
  table.insert(sizes, d, N)
  la.manual_seed(seed)
  local x = la.rand(sizes, {dtype = "float64"}) + 0.1
  return x, function(k) return x:select(d, k) end
end

local function looped(f, dim)
  local list = {}
  for k = 1, N do list[k] = f(k) end
  return la.stack(list, dim)
end

describe("la.vmap of one argument", function()
  for name, f in pairs(ONE) do
    it("takes and gives every dim: " .. name, function()
      for _, shape in ipairs(SHAPES) do
        for d = 1, #shape + 1 do
          local x, element = batch_of(shape, d, d)
          local outs = f(element(1)).ndim + 1
          for _, given in ipairs {d, d - #shape - 2} do
            for out = 1, outs do
              for _, asked in ipairs {out, out - outs - 1} do
                same(looped(function(k) return f(element(k)) end, out),
                  la.vmap(f, given, asked)(x),
                  ("%s, dim %d of %d, out %d"):format(name, given, #shape + 1,
                    asked))
              end
            end
          end
        end
      end
    end)
  end

  it("refuses dims that are not there", function()
    for _, d in ipairs {0, 4, -4, 1.5} do
      assert.has_error(function() la.vmap(ONE.sin, d)(la.ones(2, 2, 2)) end)
    end
    for _, d in ipairs {0, 4, -4} do
      assert.has_error(function()
        la.vmap(ONE.sin, 1, d)(la.ones(2, 2, 2))
      end)
    end
  end)
end)

describe("la.vmap of two arguments", function()
  for name, f in pairs(TWO) do
    it("takes each by its dim, or for all: " .. name, function()
      for _, shape in ipairs(SHAPES) do
        for a = 0, #shape + 1 do
          for b = 0, #shape + 1 do
            local x, of_x = batch_of(shape, math.max(a, 1), 1)
            local y, of_y = batch_of(shape, math.max(b, 1), 2)
            if a == 0 then x = of_x(2) of_x = function() return x end end
            if b == 0 then y = of_y(3) of_y = function() return y end end
            local dims = {a > 0 and a, b > 0 and b}
            if a + b > 0 then
              local want = looped(function(k) return f(of_x(k), of_y(k)) end,
                1)
              same(want, la.vmap(f, dims)(x, y),
                ("%s, dims %d and %d"):format(name, a, b))
            end
          end
        end
      end
    end)
  end

  it("refuses batches of different sizes", function()
    assert.has_error(function()
      la.vmap(TWO.sub)(la.ones(3, 2), la.ones(4, 2))
    end)
    assert.has_error(function()
      la.vmap(TWO.sub, {1, 2})(la.ones(3, 2), la.ones(3, 2))
    end)
  end)
end)

describe("la.vmap of several results", function()
  it("gives each its dim", function()
    local x, element = batch_of({2, 4}, 2, 1)
    local function f(v) return v:sum(1), v, v:sum() end
    for a = 1, 2 do
      for b = 1, 3 do
        local p, q, r = la.vmap(f, 2, {a, b, 1})(x)
        same(looped(function(k) return element(k):sum(1) end, a), p)
        same(looped(function(k) return element(k) end, b), q)
        same(looped(function(k) return element(k):sum() end, 1), r)
      end
    end
  end)
end)

describe("la.vmap in la.vmap", function()
  it("takes every pair of dims", function()
    la.manual_seed(4)
    local x = la.rand(2, 3, 4, {dtype = "float64"})
    local y = la.rand(4, {dtype = "float64"})
    local function f(v, w) return (v * w):sum() + v:max() end
    for outer = 1, 3 do
      for inner = 1, 2 do
        local got = la.vmap(function(m)
          return la.vmap(function(v) return f(v, y[{{1, #v}}]) end, inner)(m)
        end, outer)(x)
        for i = 1, x:size(outer) do
          local m = x:select(outer, i)
          for j = 1, m:size(inner) do
            local v = m:select(inner, j)
            same(f(v, y[{{1, #v}}]), got[{i, j}],
              ("%d then %d"):format(outer, inner))
          end
        end
      end
    end
  end)

  it("writes to what belongs to the inner one", function()
    local x = la.rand(2, 3, 4, {dtype = "float64"})
    local got = la.vmap(function(m)
      return la.vmap(function(v)
        local w = v:clone()
        w[1] = v[2]
        w:add_(m:sum())
        return w
      end)(m)
    end)(x)
    for i = 1, 2 do
      for j = 1, 3 do
        local w = x[i][j]:clone()
        w[1] = x[i][j][2]
        w:add_(x[i]:sum())
        same(w, got[i][j])
      end
    end
  end)
end)

describe("random numbers in la.vmap", function()
  local DRAWS = {
    rand = function() return la.rand(8) end,
    randn = function() return la.randn(8) end,
    randint = function() return la.randint(0, 1 << 30, {8}) end,
    randperm = function() return la.randperm(40) end,
    rand_like = function(x) return la.rand_like(x) end,
    bernoulli = function() return la.bernoulli(la.full({60}, 0.5)) end,
    multinomial = function() return la.multinomial(la.ones(90), 9) end,
    dropout = function() return la.ones(60):dropout(0.5, true) end,
    normal = function() return la.normal(0, 1, {8}) end
  }
  local x = la.ones(4, 8)

  for name, draw in pairs(DRAWS) do
    it("are refused, the same, or others: " .. name, function()
      assert.has_error(function() la.vmap(draw)(x) end)
      assert.has_error(function()
        la.vmap(draw, 1, 1, {randomness = "error"})(x)
      end)
      la.manual_seed(3)
      local others = la.vmap(draw, 1, 1, {randomness = "different"})(x)
      for i = 1, 4 do
        for j = i + 1, 4 do
          assert.is_false(la.equal(others[i], others[j]), name)
        end
      end
      la.manual_seed(3)
      assert.is_true(la.equal(others,
        la.vmap(draw, 1, 1, {randomness = "different"})(x)))
      la.manual_seed(3)
      local equal = la.vmap(draw, 1, 1, {randomness = "same"})(x)
      la.manual_seed(3)
      local one = draw(x[1])
      for i = 1, 4 do assert.is_true(la.equal(one, equal[i]), name) end
      -- The generator is as far as after one draw.
      la.manual_seed(3)
      la.vmap(draw, 1, 1, {randomness = "same"})(x)
      local after = la.rand(3)
      la.manual_seed(3)
      draw(x[1])
      assert.is_true(la.equal(la.rand(3), after), name)
    end)
  end

  it("need a word that is known", function()
    assert.has_error(function()
      la.vmap(DRAWS.rand, 1, 1, {randomness = "others"})(x)
    end)
  end)
end)

describe("dims that an element has not, in la.vmap", function()
  local x = la.rand(3, 4, 5)

  -- The sizes are those of the element, the argument that of the call.
  it("are refused by the numbers of the call", function()
    for text, f in pairs{
      ["sum: dimension 1 appears twice in the list of dims"] =
        function(v) return v:sum{1, -2} end,
      ["#2 to 'sum' (dimension 3 is out of range, 1 to 2 or -2 to -1)"] =
        function(v) return v:sum(3) end,
      ["#2 to 'sum' (dimension -3 is out of range, 1 to 2 or -2 to -1)"] =
        function(v) return v:sum{1, -3} end,
      ["#3 to 'transpose' (dimension 3 is out of range, 1 to 2 or -2"] =
        function(v) return v:transpose(1, 3) end,
      ["#2 to 'softmax' (dimension -3 is out of range, 1 to 2 or -2"] =
        function(v) return v:softmax(-3) end,
      ["#2 to 'cumsum' (dimension 3 is out of range, 1 to 2 or -2"] =
        function(v) return v:cumsum(3) end,
    } do
      local ok, why = pcall(la.vmap(f), x)
      assert.is_false(ok)
      assert.truthy(why:find(text, 1, true), why)
    end
  end)
end)

describe("an element of a batch", function()
  it("has the layout of the element that it stands for", function()
    local base = la.rand(3, 4, 5)
    for _, x in ipairs {base, base:transpose(1, 3), base:permute {2, 3, 1},
      base:slice(2, 2, 4, 2), base:narrow(3, 2, 3), la.rand(4, 1):expand(4, 5),
      base:flip(2), base:double(), la.complex(base, base):conj()} do
      for d = 1, x.ndim do
        local one = x:select(d, 1)
        la.vmap(function(v)
          assert.same({one:stride()}, {v:stride()})
          for _, name in ipairs {"is_contiguous", "is_conj", "numel", "dim"} do
            assert.equal(one[name](one), v[name](v), name)
          end
          assert.is_true(one.shape == v.shape and one.dtype == v.dtype)
          return v * 1
        end, d)(x)
      end
    end
  end)
end)
