-- Reductions inside la.fuse: over the last dims they are steps like the others,
-- and have the bits of the same calls one by one.
local la = require "lunarray"

local function bits(x) return x:contiguous():tostring_raw() end

local function same(what, f, ...)
  local plain, g = table.pack(f(...)), la.fuse(f)
  for run = 1, 2 do
    local fused = table.pack(g(...))
    assert.same(plain.n, fused.n)
    for k = 1, plain.n do
      local name = ("%s, run %d, result %d"):format(what, run, k)
      assert.same(plain[k].dtype, fused[k].dtype, name)
      assert.same(plain[k].shape, fused[k].shape, name)
      assert.same({plain[k]:stride()}, {fused[k]:stride()}, name)
      assert.is_true(bits(plain[k]) == bits(fused[k]), name)
    end
  end
end

local raises = require "spec.support.raises"

local seed = 0
local function random(dtype, ...)
  seed = seed + 1
  return la.randn({...}, {generator = la.Generator(seed)}):to(dtype)
end

-- By hand, as people write them.
local function layer_norm(x, w, b)
  local d = x - x:mean(-1, true)
  local v = (d * d):mean(-1, true)
  return d / (v + 1e-5):sqrt() * w + b
end
local function layer_norm_var(x, w, b)
  local v = x:var(-1, {correction = 0, keepdim = true})
  return (x - x:mean(-1, true)) / (v + 1e-5):sqrt() * w + b
end
local function softmax(x)
  local e = (x - x:amax(-1, true)):exp()
  return e / e:sum(-1, true)
end
local function rms_norm(x, w)
  return x * ((x ^ 2):mean(-1, true) + 1e-6):rsqrt() * w
end
local function cosine(x, y)
  return (x * y):sum(-1) / ((x * x):sum(-1):sqrt() * y:square():sum(-1):sqrt())
end
local function mse(x, y)
  return ((x - y) ^ 2):mean(), (x - y):abs():sum(), x - y
end
local function named(x)
  local y = x * 2
  return y / y:norm(2, -1, true), y:norm(), y:norm(1, -1), y:var(-1, false),
    y:std(-1, true, true) + y, y:var(true), y:norm("fro", -1)
end
local function many(x, y)
  local z = x * y + 1
  return z:sum(-1), z:amax(-1, true), z, z:amin(-1), x:prod(-1),
    z:std(-1, true), z:vector_norm(3, -1), x:nansum(-1), z:gt(1):sum(-1),
    z:var(-1) * 2
end

-- The bytes that a call takes at once, beyond what there was before it.
local function most_bytes(f, ...)
  for _ = 1, 2 do f(...) end
  collectgarbage()
  collectgarbage()
  local least, enough = 0, 1 << 30
  while enough - least > 4096 do
    local limit = (least + enough) // 2
    local _, _, before = la.memory()
    la.set_memory_limit(la.memory() + limit)
    local ok = pcall(f, ...)
    la.set_memory_limit(before)
    collectgarbage()
    collectgarbage()
    if ok then enough = limit else least = limit end
  end
  return enough
end

describe("fuse with reductions", function()
  for _, dtype in ipairs{"float32", "float64", "float16", "bfloat16"} do
    it("has the bits of the calls one by one: " .. dtype, function()
      for _, n in ipairs{1, 2, 3, 7, 16, 33, 63, 64, 65, 500, 768, 2047, 4096,
                         4097, 9000, 32768} do
        for _, rows in ipairs{1, 2, 5, 37} do
          if rows * n < 70000 then
            local x, y = random(dtype, rows, n), random(dtype, rows, n)
            local w, b = random(dtype, n), random(dtype, n)
            local what = rows .. " x " .. n
            same("layer norm " .. what, layer_norm, x, w, b)
            same("with var " .. what, layer_norm_var, x, w, b)
            same("softmax " .. what, softmax, x)
            same("rms norm " .. what, rms_norm, x, w)
            same("cosine " .. what, cosine, x, y)
            same("mse " .. what, mse, x, y)
            same("many " .. what, many, x, y)
            same("named " .. what, named, x)
          end
        end
      end
    end)
  end

  it("cuts long rows where the reduction does", function()
    for _, n in ipairs{32769, 65536, 65537, 100003} do
      local x, y = random("float32", n), random("float32", n)
      same("mse " .. n, mse, x, y)
      same("softmax " .. n, softmax, x)
      same("layer norm " .. n, layer_norm, x, y, y)
      same("rows of " .. n, many, random("float64", 2, n), y:double())
      same("one value " .. n, function(a, b)
        local d = a - b
        return (d * d):mean():sqrt() + d:amax(), d
      end, x, y)
    end
    local x, w, m = random("float32", 700, 100), random("float32", 100),
      random("float32", 700, 1)
    same("broadcast", function()
      return ((x - w) * m):sum(), (x * w + m):amax(), ((w + m) * w):mean()
    end)
  end)

  it("reduces more than one dim, and whole tensors", function()
    local x, y = random("float32", 3, 4, 5, 6), random("float32", 3, 4, 5, 6)
    for _, w in ipairs{random("float32", 4, 5, 6), random("float32", 4, 1, 1),
                       random("float32", 5, 6), random("float32", 3, 1, 1, 1),
                       random("float32", 6), random("float32", 3, 4, 5, 1)} do
      for _, dims in ipairs{{-1}, {3, 4}, {2, 3, 4}, {4, 3}, {1, 2, 3, 4}} do
        same("dims", function()
          local d = x * w - (x * w):mean(dims, true)
          local s = (d * d):sum(dims)
          return d / ((d * d):mean(dims, true) + 1):sqrt() + w, s, s + 1
        end)
      end
      same("other dims", function()
        local z = x * w
        return z:sum(1), z:amax({2, 3}), z:mean({1, 4}, true) - z,
          z:sum(2):exp()
      end)
      same("some after others", function()
        local z = x * w
        return z / z:sum(-1, true), z:sum({3, 4}) + 1, (z * y):sum(),
          z:max() - z:min(), z:sum(-1):sum(-1):sum()
      end)
    end
  end)

  it("broadcasts a row's result as the call alone does", function()
    local x, w = random("float32", 9, 9), random("float32", 9)
    same("square", function()
      local s = x:sum(-1)
      return x - s, s + w, s * 2 + s, x + s:sqrt(), x - x:sum(-1, true)
    end)
    same("kept and dropped", function()
      local s, k = (x * 2):sum(-1), (x * 2):sum(-1, true)
      return s + k, s * 2, k * 2, (k + 1) * x, x:mean(-1) * w
    end)
    same("with values of rows from outside", function()
      local column = w:view(9, 1)
      return (x * column):sum(-1, true) + column, x:sum(-1) - w, x * column
    end)
    same("one row", function()
      local r = x[{{1, 1}}]
      return r - r:sum(-1), r:sum(-1) + r:sum(-1, true), r:sum() * r
    end)
    same("no dims", function(s) return s:sum(), s * 2, (s * 2):mean() + s end,
      la.tensor(3.0))
  end)

  it("takes integers and masks where the calls do", function()
    for _, dtype in ipairs{"int32", "int64", "uint8", "bool", "int8"} do
      local x = la.arange(60):view(6, 10):remainder(7):to(dtype)
      same(dtype, function()
        return x:sum(-1), x:amax(-1, true), x:prod(-1), x:gt(3):sum(),
          x:gt(3):sum(-1, true) * 2, x:sum() + 1,
          x:sum(-1, true, {dtype = "float32"})
      end)
      raises("mean(): could not infer output dtype", la.fuse(function()
        return x:logical_not():mean(-1)
      end))
    end
    local z = la.complex(random("float32", 5, 7), random("float32", 5, 7))
    same("complex", function() return (z * z):sum(-1), z - z:mean(-1, true) end)
    same("another dtype", function(x)
      return (x * 2):sum(-1, {dtype = "float64"}),
        (x * 2):mean(-1, true, {dtype = "float32"})
    end, random("float32", 4, 5))
  end)

  it("meets empty and unusual tensors", function()
    for _, shape in ipairs{{0, 3}, {3, 0}, {0}, {2, 0, 4}} do
      same("empty", function(x) return (x * 2):sum(-1), (x + 1):mean() end,
        la.rand(shape))
    end
    raises("non-zero size", la.fuse(function(x) return (x * 2):amax(-1) end),
      la.rand(3, 0))
    local x = random("float32", 12, 10)
    for _, v in ipairs{x:t(), x[{{}, {1, 7}}], x:slice(1, 1, 12, 2),
                       x[{1}]:expand(4, 10),
                       x:view(3, 4, 10):transpose(1, 2)} do
      same("layout", function()
        return v:sum(-1), (v * 2):sum(-1), v - v:mean(-1, true), softmax(v)
      end)
    end
    local image = la.rand(2, 3, 5, 7):contiguous("channels_last")
    same("channels_last", function()
      return (image * 2):sum(-1), (image + 1):mean(), softmax(image)
    end)
    same("NaN", function(t)
      return (t * 2):amax(-1), (t - 1):sum(-1, true) + t
    end, la.tensor{{1, 0 / 0, 2}, {3, 4, 1 / 0}})
  end)

  it("goes past what one pass can hold", function()
    local list = {}
    for k = 1, 20 do list[k] = random("float32", 6, 50) end
    same("inputs", function()
      local sum = 0
      for _, x in ipairs(list) do sum = sum + x * x:sum(-1, true) end
      return sum, sum:mean(-1)
    end)
    same("results", function()
      local results = {}
      for k = 1, 12 do results[k] = (list[k] * list[k + 1]):sum(-1) + k end
      return table.unpack(results)
    end)
    same("steps", function(x)
      for _ = 1, 60 do x = x - x:mean(-1, true) * 0.5 + 0.01 end
      return x
    end, list[1])
  end)

  it("sees writes, uses and errors in their order", function()
    local function f(x, out)
      local s = (x * 2):sum(-1, true)
      local m = x:mean(-1, true)
      x:add_(1)
      local t = x:sum(-1)
      la.sum(x, -1, {out = out})
      local first = s:item(1, 1)
      s:mul_(2)
      return s, m, t, out + t, x - m, x:sum(-1) + first, s:view(-1) + out
    end
    local x, out = random("float32", 4, 9), la.empty(4)
    local x2, out2 = x:clone(), la.empty(4)
    local plain, fused = {f(x, out)}, {la.fuse(f)(x2, out2)}
    for k = 1, 7 do assert.same(bits(plain[k]), bits(fused[k]), k) end
    assert.is_true(x == x2 and out == out2)
    local fails = la.fuse(function(t)
      local _ = (t * 2):sum(-1) + t:mean(-1)
      error({code = 7})
    end)
    local ok, e = pcall(fails, x)
    assert.is_false(ok)
    assert.same(7, e.code)
    raises("must match the size", la.fuse(function(t)
      return t:sum(-1, true) + t + la.ones(3)
    end), x)
    assert.same(bits(x:sum(-1)), bits(la.fuse(function(t)
      return t:sum(-1)
    end)(x)))
  end)

  it("records gradients as without it", function()
    local x, b = random("float32", 6, 20), random("float32", 20)
    local w1 = random("float32", 20):requires_grad_()
    local w2 = w1:detach():clone():requires_grad_()
    local function loss(w)
      return (layer_norm(x * w, w, b) ^ 2):mean() + softmax(x * w):amax()
    end
    loss(w1):backward()
    la.fuse(loss)(w2):backward()
    assert.same(bits(w1.grad), bits(w2.grad))
    la.no_grad(function() same("no_grad", loss, w1) end)
  end)

  it("gives the same bits on any number of threads", function()
    local before = la.get_num_threads()
    local x, w = random("float32", 500, 300), random("float32", 300)
    local function f()
      local y = layer_norm(x, w, w)
      return y, softmax(x), (x * w):sum(), (y * x):sum(-1)
    end
    la.set_num_threads(1)
    local fused = la.fuse(f)
    local one = {fused()}
    for _, n in ipairs{2, 3, 4} do
      la.set_num_threads(n)
      for k, r in ipairs{fused()} do assert.same(bits(one[k]), bits(r)) end
    end
    la.set_num_threads(before)
  end)

  it("takes memory for results only", function()
    local before = la.get_num_threads()
    la.set_num_threads(1)
    local x, y = random("float32", 1000, 1000), random("float32", 1000, 1000)
    local row, few = random("float32", 1000), 1000000
    assert.is_true(most_bytes(la.fuse(mse), x, y) < 4000000 + few)
    assert.is_true(most_bytes(la.fuse(cosine), x, y) < few)
    assert.is_true(most_bytes(la.fuse(softmax), x) < 4000000 + few)
    assert.is_true(most_bytes(la.fuse(function(t)
      return t / t:norm(2, -1, true) + t:std(-1, true, true)
    end), x) < 4000000 + few)
    assert.is_true(
      most_bytes(la.fuse(layer_norm), x, row, row) < 4000000 + few)
    local function sums(t)
      return (t * 2 + 1):exp():sum(), (t - 1):abs():mean()
    end
    assert.is_true(most_bytes(la.fuse(sums), x:view(-1)) < few)
    la.set_num_threads(before)
  end)

  it("raises when there is no memory, and goes on", function()
    local x = random("float32", 1000, 1000)
    local _, _, before = la.memory()
    local fused = la.fuse(softmax)
    local expected = bits(softmax(x))
    collectgarbage()
    collectgarbage()
    la.set_memory_limit(la.memory() + 300000)
    raises("memory", fused, x)
    la.set_memory_limit(before)
    assert.is_true(bits(fused(x)) == expected)
  end)
end)
