-- la.fuse with writes into given tensors: in place, out=, copy_. Whatever is
-- recorded, the bits are those of the calls one by one.
local la = require "lunarray"

local function bits(x) return x:contiguous():tostring_raw() end

-- Structs of ten numbers, dense tensors, and views that overlap others.
local function memory(n, dtype)
  la.manual_seed(n)
  local m = la.randn(n, 10, {dtype = dtype})
  local t = {m = m, d = la.randn(n, 3, {dtype = dtype}),
             e = la.randn(n, 3, {dtype = dtype}),
             row = la.randn(3, {dtype = dtype}),
             q = la.randn(3, n, {dtype = dtype})}
  t.a, t.b, t.c = m[{{}, {1, 3}}], m[{{}, {4, 6}}], m[{{}, {7, 9}}]
  t.again, t.across = m[{{}, {1, 3}}], m[{{}, {2, 4}}]
  t.column, t.flat = m[{{}, 2}], t.q:t()
  return t
end

local shaped = {"a", "b", "c", "d", "e", "again", "across", "flat"}

-- One random call on t and the temporaries of the program.
local function random_call(random, t, temps)
  local function pick() return t[shaped[random(#shaped)]] end
  local function operand()
    local k = random(10)
    if k <= 3 and #temps > 0 then return temps[random(#temps)] end
    if k == 4 then return t.row end
    if k == 5 then return 0.75 end
    return pick()
  end
  local function tensor()
    local x = operand()
    return type(x) == "number" and t.d or x
  end
  local k = random(20)
  if k <= 5 then
    local op = ({"add_", "sub_", "mul_"})[random(3)]
    local x = pick()
    x[op](x, operand())
  elseif k <= 8 then
    temps[#temps + 1] = ({la.add, la.mul, la.sub})[random(3)](tensor(),
                                                              operand())
  elseif k == 9 then temps[#temps + 1] = tensor():abs()
  elseif k == 10 then
    temps[#temps + 1] = la.where(tensor():gt(0), tensor(), tensor())
  elseif k == 11 then pick():clamp_(-2, 2)
  elseif k == 12 then pick():neg_()
  elseif k == 13 then la.add(tensor(), operand(), {out = pick()})
  elseif k <= 15 then
    local x = tensor()
    if x.ndim == 2 then pick():copy_(x) end
  elseif k == 16 then t.column:mul_(0.5)
  elseif k == 17 then temps.seen = tensor():sum():item()
  elseif k == 18 then t.m[{{}, 5}] = 1
  elseif k == 19 then pick()[1]:fill_(0.25)
  else temps[#temps + 1] = pick() * 2 + operand() end
end

local function program(seed, length)
  return function(t)
    local state = seed
    local function random(n)
      state = (state * 1103515245 + 12345) % 2147483648
      return state // 65536 % n + 1
    end
    local temps = {}
    local done = {}
    for i = 1, length do
      done[i] = tostring(pcall(random_call, random, t, temps))
      if #temps > 6 then table.remove(temps, 1) end
    end
    temps.done = table.concat(done, " ")
    return temps
  end
end

describe("la.fuse with writes", function()
  for _, dtype in ipairs {"float32", "float64"} do
    it("gives the bits of single calls, " .. dtype, function()
      for seed = 1, 250 do
        local n = ({1, 2, 7, 40, 700})[seed % 5 + 1]
        local f = program(seed, seed % 23 + 2)
        local plain, fused = memory(n, dtype), memory(n, dtype)
        local g = la.fuse(f)
        g(memory(n, dtype))             -- records
        local temps, results = f(plain), g(fused)
        for _, k in ipairs {"m", "d", "e", "row", "q"} do
          assert.equal(bits(plain[k]), bits(fused[k]), seed .. " " .. k)
        end
        for i = 1, #temps do
          assert.equal(bits(temps[i]), bits(results[i]), seed .. " " .. i)
        end
        assert.equal(temps.seen, results.seen)
        assert.equal(temps.done, results.done)
      end
    end)
  end

  it("is one pass over fields of structs", function()
    local t = memory(100, "float32")
    local pos, vel = t.a, t.b
    local f = la.fuse(function()
      vel:mul_(0.5)
      pos:add_(vel * 0.25)
      vel:copy_(la.where(pos:gt(0), -vel, vel))
      return pos:clamp_(0, 1)
    end)
    local p, v = pos:clone(), vel:clone() * 0.5
    p = p + v * 0.25
    v = la.where(p:gt(0), -v, v)
    assert.is_true(rawequal(pos, f()))
    assert.equal(bits(p:clamp(0, 1)), bits(pos))
    assert.equal(bits(v), bits(vel))
  end)

  it("reads what was written, whoever asks", function()
    local t = memory(5, "float64")
    la.fuse(function()
      t.d:fill_(1)
      t.d:add_(2)
      assert.equal(3, t.d[{2, 3}]:item())
      t.d:mul_(2)
      assert.equal(6, t.d:totable()[5][3])
      t.d:mul_(2)
      assert.equal(12, t.d:item(1, 1))
      t.d:add_(1)
      assert.equal(13, t.d:t():contiguous()[{3, 2}]:item())
      t.d:add_(1)
      t.d[{1, 1}] = 5
      t.d:add_(1)
      assert.equal("6.", tostring(t.d):match("%d+%."))
      t.d:add_(1)
      assert.equal(5 * 3 * 8, t.d:storage():nbytes())
      assert.equal(7, t.d:view(15)[1]:item())
      t.d:add_(1)
      assert.equal(8, t.d:detach()[1][1]:item())
    end)()
    assert.equal(8, t.d[{1, 1}]:item())
  end)

  it("counts versions at the call", function()
    local x = la.zeros(4)
    local before = x._version
    la.fuse(function()
      x:add_(1)
      assert.equal(before + 1, x._version)
      x:add_(1)
    end)()
    assert.equal(before + 2, x._version)
  end)

  it("has done its writes when the function raises", function()
    local x = la.zeros(4)
    local ok = pcall(la.fuse(function()
      x:add_(1)
      error "stop"
    end))
    assert.is_false(ok)
    assert.same({1, 1, 1, 1}, x:totable())
    x:add_(1)
    assert.same({2, 2, 2, 2}, x:totable())
  end)

  it("refuses what single calls refuse", function()
    local x = la.zeros(4)
    local fails = la.fuse(function(f) return f() end)
    assert.has_error(function() fails(function() x:add_(la.zeros(5)) end) end)
    assert.has_error(function()
      fails(function() la.ones(1):expand(4):add_(1) end)
    end)
    assert.has_error(function()
      fails(function() la.zeros(4, {dtype = "int32"}):mul_(0.5) end)
    end)
    assert.same({0, 0, 0, 0}, x:totable())
  end)

  it("leaves tensors with gradients to autograd", function()
    local x = la.ones(3):requires_grad_()
    local y = la.fuse(function()
      local y = x * 2
      y:mul_(x)
      return y
    end)()
    y:sum():backward()
    assert.same({4, 4, 4}, x.grad:totable())
    local w = la.ones(3):requires_grad_()
    assert.has_error(la.fuse(function() w:add_(1) end))
    la.no_grad(function() la.fuse(function() w:sub_(w * 0.5) end)() end)
    assert.same({0.5, 0.5, 0.5}, w:totable())
  end)

  it("keeps dtypes, masks and other orders of dims", function()
    for _, dtype in ipairs {"int64", "uint8", "bool", "float16"} do
      local x = la.tensor({{1, 0, 1}, {0, 1, 1}}):to(dtype)
      local y = x:clone()
      local function f(t)
        t:logical_not_()
        t:copy_(la.where(t:eq(0), t, t:t():contiguous():t()))
        if dtype ~= "bool" then t:add_(t):mul_(3) end
        return la.eq(t, 0, {out = la.zeros(2, 3, {dtype = "bool"})})
      end
      assert.equal(bits(f(x)), bits(la.fuse(f)(y)))
      assert.equal(bits(x), bits(y))
    end
    local x = la.randn(2, 3, 4, 5):to {memory_format = "channels_last"}
    local y = x:clone()
    local function f(t) t:add_(1):mul_(t) return t:add_(t * 2) end
    f(x)
    la.fuse(f)(y)
    assert.equal(bits(x), bits(y))
  end)

  it("is stopped and resumed by many tensors", function()
    local list, fused = {}, {}
    for i = 1, 20 do
      list[i] = la.randn(30, 4)
      fused[i] = list[i]:clone()
    end
    local function f(t)
      for i = 2, 20 do t[i]:add_(t[i - 1] * t[(i * 7) % 20 + 1]) end
      for i = 1, 19 do t[i]:mul_(0.5):sub_(t[i + 1]) end
    end
    f(list)
    la.fuse(f)(fused)
    for i = 1, 20 do assert.equal(bits(list[i]), bits(fused[i]), i) end
  end)
end)
