-- la.fuse: the same bits as without it, whatever the chain and whatever f
-- captures; errors and writes in between leave nothing behind.
local la = require "lunarray"

-- Which NaN comes of two may differ: all are one here.
local function bits(x)
  x = x:contiguous()
  if x.dtype:find "float" then x = la.where(x:isnan(), 0 / 0, x):to(x.dtype) end
  return x:tostring_raw()
end

local raises = require "spec.support.raises"
local stock = require "spec.support.interpreter"

-- Both ways, while recording and later; every result must agree in dtype,
-- strides and bits.
local function same(f, ...)
  local plain, g = table.pack(f(...)), la.fuse(f)
  for _ = 1, 2 do
    local fused = table.pack(g(...))
    assert.same(plain.n, fused.n)
    for k = 1, plain.n do
      assert.same(plain[k].dtype, fused[k].dtype)
      assert.same({plain[k]:stride()}, {fused[k]:stride()})
      assert.same(bits(plain[k]), bits(fused[k]), "result " .. k)
    end
  end
end

-- Does the call run f itself, or another function of this file?
local function runs(g, ...)
  local debug, calls = debug, 0
  local here = debug.getinfo(1, "S").source
  debug.sethook(function()
    local source = debug.getinfo(2, "S").source
    if source == here or source == "=chunk" then calls = calls + 1 end
  end, "c")
  local result = g(...)
  debug.sethook()
  return calls > 0, result
end

local function sample(dtype, shape, seed)
  local g = la.Generator(seed)
  local x = la.rand(shape, {generator = g, dtype = "float64"}) * 6 - 3
  if dtype == "bool" then return x:gt(0) end
  if dtype:find "^uint" then x = x:abs() + 1 end
  if dtype:find "complex" then
    return la.complex(x, x:flip(1) + 0.5):to(dtype)
  end
  return x:to(dtype)
end

local unary = {
  function(x) return x:tanh() end, function(x) return x:neg() end,
  function(x) return x:abs() end, function(x) return x * 1.5 end,
  function(x) return 2 - x end, function(x) return x:sigmoid() end,
  function(x) return x:clamp(-1, 1) end, function(x) return x:relu() end,
  function(x) return x:sqrt() end, function(x) return x:gelu() end,
}
local binary = {
  function(x, y) return x + y end, function(x, y) return x * y end,
  function(x, y) return x - y end, function(x, y) return x / y end,
  function(x, y) return x:maximum(y) end,
  function(x, y) return la.where(x:gt(y), x, y * 2) end,
  function(x, y) return x:add(y, {alpha = 3}) end,
  function(x, y) return la.where(x:lt(0):logical_or(y:gt(1)), y, x) end,
}

-- A chain drawn from a seed: each step takes earlier values.
local function chain(seed, steps)
  return function(...)
    local state = seed
    local function draw(n)
      state = (state * 1103515245 + 12345) % 2147483648
      return state // 65536 % n + 1
    end
    local values = {...}
    for _ = 1, steps do
      local x = values[draw(#values)]
      if draw(2) == 1 then
        values[#values + 1] = unary[draw(#unary)](x)
      else
        values[#values + 1] = binary[draw(#binary)](x, values[draw(#values)])
      end
    end
    return values[#values], values[#values - 1]
  end
end

describe("fuse", function()
  it("takes two steps of arithmetic as one, each rounded by itself", function()
    local first = {function(a, b) return a + b end,
      function(a, b) return a - b end, function(a, b) return a * b end,
      function(a, b) return a / b end}
    for _, dtype in ipairs {"float32", "float64", "bfloat16", "int32"} do
      for n = 205, 305, 25 do       -- a walk of two steps pays
        local x, y = sample(dtype, {5, n}, 1), sample(dtype, {5, n}, 2)
        if dtype == "int32" then y = y:abs() + 1 end
        for _, z in ipairs {sample(dtype, {5, n}, 3), y:narrow(1, 2, 1),
                            sample(dtype, {5, 1}, 4):abs() + 1, 3, y} do
          for _, f in ipairs(first) do
            for _, g in ipairs(first) do
              same(function(a, b, c) return g(f(a, b), c) end, x, y, z)
              if dtype ~= "int32" then
                same(function(a, b, c) return g(c, f(a, b)) end, x, y, z)
              end
              same(function(a, b, c)      -- read twice, or wanted
                local t = f(a, c)
                return g(t, b), t
              end, x, y, z)
              same(function(a, b) return f(a, b) * f(a, b) + g(a, b) end, x, y)
              same(function(a, b)
                local t = f(a, b)
                return t * t
              end, x, y)
            end
          end
        end
      end
    end
  end)

  it("gives the bits of the same calls one by one", function()
    for seed = 1, 60 do
      for _, dtype in ipairs{"float32", "float64", "bfloat16", "float16"} do
        local a, b = sample(dtype, {7, 33}, seed), sample(dtype, {7, 33}, -seed)
        same(chain(seed, 3 + seed % 20), a, b)
      end
    end
  end)

  it("cuts and joins blocks of every length", function()
    local f = function(x, y) return (x * y + 1.5):exp() - x, x:gt(y) end
    for _, n in ipairs{1, 2, 63, 64, 65, 1023, 2047, 2048, 2049, 70001} do
      same(f, sample("float32", {n}, n), sample("float32", {n}, n + 1))
    end
  end)

  it("takes the order of memory from a smaller tensor at the front", function()
    local x = sample("float64", {4, 17, 30}, 5):transpose(1, -1)
    local row = sample("float64", {30, 17, 1}, 6)
    local plane = sample("float64", {17, 4}, 7)
    same(function() return row - x, (row * x + x):sum(), (plane / x):sum(1) end)
    same(function() return x - row, x * plane - 1, row[{1}] + x end)
    same(function() local s = x:sum(-1, {keepdim = true}) return s / x end)
  end)

  it("broadcasts, and keeps the order of memory", function()
    local f = function(x, y, z) return (x + y) * z - y, (x + y):lt(z) end
    local m = sample("float32", {37, 53}, 1)
    same(f, m, sample("float32", {53}, 2), sample("float32", {37, 1}, 3))
    same(f, sample("float32", {37, 1}, 3), sample("float32", {53}, 2), m)
    same(f, m, m:t():contiguous():t(), m)
    same(f, m:t(), sample("float32", {53, 37}, 4), m:t())
    same(f, m:slice(2, 1, 52, 2), m:slice(2, 1, 52, 2), m:slice(2, 2, 53, 2))
    local image = la.rand(2, 3, 5, 7):contiguous("channels_last")
    same(f, image, image * 2, la.rand(3, 1, 1))
    same(f, image, la.rand(2, 3, 5, 7), image)
    same(f, la.tensor(2.0), la.tensor(3.0), la.tensor(4.0))
    same(f, la.rand(0, 3), la.rand(3), la.rand(0, 1))
    same(f, la.rand(3, 1, 4):expand(3, 5, 4), la.rand(5, 4), la.rand(4))
  end)

  it("takes mixed dtypes, numbers and masks as they come", function()
    local f = function(x, y)
      local mask = x:gt(0):logical_and(y:ne(1))
      return la.where(mask, x * 2, x) + y, mask:logical_not(), y * y
    end
    for _, a in ipairs{"float32", "int64", "uint8", "bool", "complex64"} do
      for _, b in ipairs{"float32", "int32", "bool"} do
        if a ~= "complex64" then
          same(f, sample(a, {40}, 1), sample(b, {40}, 2))
        end
      end
    end
    same(function(x, y) return (x * y + x) / 2, x * x end,
      sample("complex64", {40}, 1), sample("complex64", {40}, 2))
    same(function(x) return (x + 1) // 2, x % 3, (x + 1) & 3 end,
      sample("int32", {40}, 1))
  end)

  it("goes past what one pass can hold", function()
    local many = {}
    for k = 1, 20 do many[k] = sample("float32", {100}, k) end
    same(function(...)
      local sum, product = 0, 1
      for _, x in ipairs{...} do sum, product = sum + x, product * (x + 2) end
      return sum, product, sum * product
    end, table.unpack(many))
    same(function(x)
      local y = x
      for k = 1, 200 do y = y * 0.99 + k * 0.001 end
      return y
    end, many[1])
    same(function(...)
      local list = {...}
      local results = {}
      for k = 1, 12 do results[k] = list[k] * list[k + 1] + list[20] end
      return table.unpack(results)
    end, table.unpack(many))
  end)

  it("computes what other operations need on the way", function()
    same(function(x)
      local e = (x - x:amax(2, true)):exp()
      return e / e:sum(2, true)
    end, sample("float32", {9, 31}, 1))
    same(function(x)
      local y = x * 2
      local z = y:view(-1) + 1
      return y, z, y:t() * 3, la.cat({y, y + 1})
    end, sample("float32", {4, 6}, 1))
    local g = la.fuse(function(x)
      local y = x * 2
      if y:item(1) > 1 then return y + 1, y:totable()[2], tostring(y) end
      return y - 1
    end)
    local r, second, text = g(la.tensor{1.0, 3.0})
    assert.same({3.0, 7.0}, r:totable())
    assert.same(6.0, second)
    assert.truthy(text:find("6", 1, true))
  end)

  it("sees writes in the order in which they are made", function()
    local function f(x, out)
      local a = x * 2
      local before = a + x
      x:add_(1)
      local after = a + x
      a:mul_(10)
      la.mul(x, 3, {out = out})
      local view = x[{{1, 2}}]
      local doubled = view * 2
      view:zero_()
      return before, after, a, after * a, out + 1, doubled, x + 0
    end
    local x, y = la.rand(5), la.rand(5)
    local x2, y2 = x:clone(), y:clone()
    local plain, fused = {f(x, y)}, {la.fuse(f)(x2, y2)}
    for k = 1, 7 do assert.same(bits(plain[k]), bits(fused[k]), k) end
    assert.is_true(x == x2 and y == y2)
  end)

  it("resizes and frees what steps read only after they ran", function()
    local x = la.rand(8)
    local expected = bits(x * 2)
    local r = la.fuse(function(t)
      local y = t * 2
      t:resize_(2)
      return y
    end)(x)
    assert.same(expected, bits(r))
    r = la.fuse(function(t)
      local y = t * 3
      t:free()
      return y
    end)(la.ones(3))
    assert.same({3.0, 3.0, 3.0}, r:totable())
  end)

  it("finds tensors in returned tables", function()
    local r = la.fuse(function(x)
      return {sum = x + x, deeper = {x * 3}, again = x}
    end)(la.ones(2))
    assert.same({2.0, 2.0}, r.sum:totable())
    assert.same({3.0, 3.0}, r.deeper[1]:totable())
  end)

  it("gives what f keeps for itself its value, in each call", function()
    local kept
    local g = la.fuse(function(x)
      kept = x * 2
      return kept + 1
    end)
    for k = 1, 3 do
      assert.same({2.0 * k + 1}, g(la.full({1}, k)):totable())
      assert.same({2.0 * k}, kept:totable())
    end
  end)

  it("runs from its recording, and f where it captures other values", function()
    local scale, setting = 2, {power = 2, deep = {by = 1}}
    local function inner(x) return x ^ setting.power + setting.deep.by end
    local g = la.fuse(function(x)
      return inner(x * scale)
    end)
    local function check(again)
      local x = la.tensor {1.0, 2.0}
      local ran, y = runs(g, x)
      assert.same(again, ran)
      assert.same(inner(x * scale):totable(), y:totable())
    end
    check(true)
    check(false)
    scale = 3
    check(true)
    check(false)
    setting.power = 1
    check(true)
    setting.deep.by = 0.5
    check(true)
    check(false)
    setting.deep = {by = 7}
    check(true)
    check(false)
    scale, setting.power = 2, 2
    setting.deep = {by = 1}
    check(true)
    inner = function(x) return x - scale end
    check(true)
    check(false)
    scale = 2.0
    check(true)
  end)

  it("reads globals anew", function()
    local env = setmetatable({la = la, math = math}, {__index = _G})
    local g, f = load([[
      factor = 2
      local f = la.fuse(function(x) return x * factor end)
      return function(x, k) factor = k return f(x) end, f
    ]], "=chunk", "t", env)()
    for _, k in ipairs {2, 3, 2, 2, 3} do
      assert.same({5.0 * k}, g(la.full({1}, 5.0), k):totable())
    end
    local ran = runs(f, la.ones(1))
    assert.is_false(ran)
  end)

  it("takes captured tensors of the same form as arguments", function()
    local state = {x = la.ones(40)}
    local v = la.full({40}, 0.5)
    local g = la.fuse(function()
      return state.x * 2 + v, state.x
    end)
    g()
    for k = 1, 4 do
      state.x, v = la.full({40}, k + 0.0), la.full({40}, -k + 0.0)
      local ran = runs(g)
      assert.is_false(ran)
      local y, x = g()
      assert.is_true(rawequal(x, state.x))
      assert.same(k + 0.0, y:item(1))
    end
    v = state.x
    assert.is_true((runs(g)))             -- one tensor now
    assert.same(4.0 * 3, g():item(1))
    state.x = la.ones(3, 40)
    assert.same({3, 40}, g().shape)
  end)

  it("runs f at each call where f changes what it captures", function()
    local count, log, x = 0, {}, la.ones(2)
    local g = la.fuse(function(t, list)
      count = count + 1
      if list then list.seen = true end
      log[#log + 1] = count
      x = x + t
      return x * 2
    end)
    for k = 1, 4 do
      assert.same({2.0 * (k + 1), 2.0 * (k + 1)}, g(la.ones(2)):totable())
    end
    assert.same(4, count)
    assert.same({1, 2, 3, 4}, log)
    local h = la.fuse(function(t, list)
      list.seen = (list.seen or 0) + 1
      return t * 2
    end)
    local list = {}
    for _ = 1, 3 do h(la.ones(1), list) end
    assert.same(3, list.seen)
  end)

  it("does not record for ever where numbers change in each call", function()
    local g = la.fuse(function(x, k) return x * k + 1 end)
    for k = 1, 200 do
      assert.same({3.0 * k + 1}, g(la.full({1}, 3.0), k):totable())
    end
    local big = {}
    for k = 1, 500 do big[k] = k end
    local h = la.fuse(function(x) return x * big[3] end)
    for _ = 1, 3 do
      assert.same({3.0 * big[3]}, h(la.full({1}, 3.0)):totable())
      big[3] = big[3] + 1
    end
  end)

  it("nests, and recovers from errors", function()
    local inner = la.fuse(function(x) return x * 2 + 1 end)
    same(function(x) return inner(x) - inner(x + 1) end, la.rand(10))
    local used = la.memory()
    local fails = la.fuse(function(x)
      local _ = inner(x) * 3
      error({code = 7})
    end)
    local ok, e = pcall(fails, la.rand(1000))
    assert.is_false(ok)
    assert.same(7, e.code)
    raises("must match the size", la.fuse(function(x)
      return x * 2 + la.ones(3)
    end), la.ones(4))
    raises("yield", function()
      local co = coroutine.wrap(la.fuse(function(x) coroutine.yield(x + 1) end))
      co(la.ones(2))
    end)
    collectgarbage()
    collectgarbage()
    assert.is_true(la.memory() <= used)
    assert.same({3.0}, inner(la.ones(1)):totable())
    raises("function expected, got no value", la.fuse)
    raises("function expected, got number", la.fuse, 3)
  end)

  it("records gradients as without it", function()
    local function f(x, w) return ((x * w + 1):tanh() * 2):sum() end
    local x = la.rand(20)
    local w1 = la.rand(20):requires_grad_()
    local w2 = w1:detach():clone():requires_grad_()
    f(x, w1):backward()
    la.fuse(f)(x, w2):backward()
    assert.same(bits(w1.grad), bits(w2.grad))
    la.no_grad(function() same(f, x, w1) end)
    local step = la.fuse(function(v, w)
      local seed = v * 2
      ((v * w):tanh()):backward(seed)
      return v + 1
    end)
    w1.grad, w2.grad = nil, nil
    step(x, w1);
    ((x * w2):tanh()):backward(x * 2)
    assert.same(bits(w1.grad), bits(w2.grad))
    local Twice = la.Function{
      forward = function(ctx, v)
        ctx:save_for_backward(v)
        return v * 2 + 1
      end,
      backward = function(_, g) return g * 2 end,
    }
    w1.grad = nil
    la.fuse(function(w) return Twice(w) * 3 end)(w1):sum():backward()
    assert.same(6.0, w1.grad:item(1))
    same(function(v) return Twice(v * 2) end, x)
  end)

  it("gives the same bits on any number of threads", function()
    local before = la.get_num_threads()
    local f = la.fuse(function(x, y) return (x * y):sin() + x, x:gt(y) end)
    local x, y = la.rand(300000), la.rand(300000)
    la.set_num_threads(1)
    local a, b = f(x, y)
    la.set_num_threads(4)
    local c, d = f(x, y)
    la.set_num_threads(before)
    assert.same(bits(a), bits(c))
    assert.same(bits(b), bits(d))
  end)

  it("leaves the dead alone: memory for results only", function()
    local x = la.rand(1000000)
    local f = la.fuse(function(t)
      for _ = 1, 10 do t = t * 1.01 + 0.5 end
      return t
    end)
    f(x)
    collectgarbage()
    local used = la.memory()
    local _ = f(x)
    local now = la.memory()
    assert.is_true(now - used < 4000000 + 300000)
  end)

  -- The results of a loop alternate between a few blocks, warm in the cache. A
  -- cycle of 5.5's takes a step more.
  it("has few dead results at a time", function()
    local f = la.fuse(function(t) return t * 0.5 + 1 end)
    for _, mode in ipairs{"generational", "incremental"} do
      local old = collectgarbage(mode)
      local x, most = la.ones(300000), 0
      for _ = 1, 40 do x = f(x) end
      collectgarbage()
      local live = la.memory()
      for _ = 1, 60 do
        x = f(x)
        most = math.max(most, la.memory() - live)
      end
      collectgarbage(old)
      assert.is_true(most // 1200000 <= (stock.is_55 and 9 or 8),
                     mode .. ": " .. most)
    end
  end)

  it("has the bits of plain calls for rows of any length", function()
    local function f(x, y) return (x * y + 0.5):abs():sqrt() - y end
    for _, n in ipairs{1, 3, 63, 64, 500, 511, 513, 700, 1500, 2100, 5000} do
      local x = la.rand(7, n + 3)[{{}, {1, n}}]
      same(f, x, la.rand(n))
      same(f, la.rand(n, 7):t(), la.rand(7, 1))
    end
  end)

  -- A step whose source got a value on the way reads that value too.
  it("counts what steps read again when a source has its value", function()
    local x = {}
    for k = 1, 12 do x[k] = sample("float32", {40, 30}, k) end
    local function sum(first, last)
      local s = x[first]
      for k = first + 1, last do s = s + x[k] end
      return s
    end
    for last = 9, 12 do
      same(function()                       -- together with others
        local s = x[1] + x[2]
        local early = s * x[1] * x[2]
        return s * sum(3, 8) + x[9], early, sum(10, last) * 2
      end)
      same(function()                       -- alone
        local s = x[1] + x[2]
        local early = s * x[1] * x[2] * sum(3, 7)
        return early, s * sum(3, 8) + x[9], (early + x[10]):sum(-1)
      end)
      same(function()                       -- one after another
        local s = x[1] + x[2]
        return s, s * x[1] * x[2] * sum(3, 7), sum(8, last) * s
      end)
    end
  end)

  it("looks at divisors when they have values", function()
    for _, dtype in ipairs {"uint8", "int8", "int16", "int32", "int64",
                            "uint16"} do
      local a = la.tensor({7, -7 % 5, 9, 1}, {dtype = dtype})
      for _, f in ipairs {function(x, y) return x // y end,
          function(x, y) return x % y end,
          function(x, y) return 2 // y + x end,
          function(x, y) return x:fmod(y) end,
          function(x, y) return x:remainder(y) end,
          function(x, y) return y // 2 + x % 3 end,
          function(x, y) return x:div(y, {rounding_mode = "trunc"}) end} do
        same(function() return f(a, a + 1), f(a + 1, a) end)
        raises("ZeroDivisionError", la.fuse(function()
          return f(a, a * 0) // (a * 0)
        end))
      end
    end
  end)

  it("keeps refusals and layouts of scalars with tensors", function()
    local small = la.tensor({1, 2}, {dtype = "int8"})
    raises("without overflow", la.fuse(function()
      return la.where(small:gt(1), small, 300)
    end))
    local x = la.rand(3, 4):t()
    local y = la.empty(2, 1, 4, 4, {memory_format = "channels_last"}):fill_(2)
    same(function() return 2 ^ x, x ^ 2, y + 1, y * y, (y + y) * 2 end)
    local z = la.rand(2, 5, 1):unfold(1, 2, 1)       -- dims of size 1
    same(function() return z:square(), z * 2, z + z, z[1] + z end)
  end)
end)
