-- Random numbers: what they depend on, and their statistics at fixed seeds.
local la = require "lunarray"
local once = require "spec.support.once"

local N = 200000

-- Within 'times' standard errors: a fixed seed either passes or fails always.
local function near(got, want, error, times)
  assert.is_true(math.abs(got - want) <= (times or 5) * error,
                 ("got %g, want %g within %g"):format(got, want,
                                                      (times or 5) * error))
end

local function moments(x)
  x = x:double()
  return x:mean():item(), x:var():item()
end

before_each(function() la.manual_seed(1234) end)

describe("a generator", function()
  it("repeats with its seed", function()
    local a = la.randn(100)
    la.manual_seed(1234)
    assert.is_true(a == la.randn(100))
    assert.is_false(a == la.randn(100))
    assert.equal(1234, la.initial_seed())
  end)

  it("gives element k by seed, stream and k only", function()
    local a = la.rand(1000)
    la.manual_seed(1234)
    assert.is_true(la.rand(37) == a[{{1, 37}}])
    la.manual_seed(1234)
    assert.is_true(la.rand(10, 100):flatten() == a)
    local x = la.zeros(100, 10):t()
    la.manual_seed(1234)
    assert.is_true(x:uniform_():flatten() == a)
  end)

  it("stands apart from the state's own", function()
    local g, h = la.Generator(5), la.Generator(5)
    local a = la.randn(10, {generator = g})
    la.rand(3)
    assert.is_true(a == la.randn(10, {generator = h}))
    assert.equal(5, g:initial_seed())
    assert.equal(9, g:manual_seed(9):initial_seed())
    assert.is_false(g:seed() == h:seed())
    assert.has_error(function() la.rand(2, {generator = 1}) end)
    for _, dtype in ipairs {"uint32", "int64", "bool"} do
      local out = la.zeros(2):to(dtype)
      assert.has_error(function() la.rand({2}, {out = out}) end)
      assert.has_error(function() la.randn({2}, {out = out}) end)
    end
    assert.has_error(function()
      la.randint(1, 300, {2}, {out = la.zeros(2):to "uint8"})
    end)
  end)

  it("can be stored and put back", function()
    la.rand(10)
    local state = la.get_rng_state()
    local a = la.rand(5)
    la.set_rng_state(state)
    assert.is_true(a == la.rand(5))
    local g = la.Generator(3)
    state = g:get_state()
    a = la.rand(5, {generator = g})
    assert.is_true(a == la.rand(5, {generator = g:set_state(state)}))
    assert.has_error(function() la.set_rng_state(la.zeros(3)) end)
  end)

  it("jumps, and forks into others", function()
    local g, h = la.Generator(3), la.Generator(3, {kind = "philox"})
    local start = la.rand(4, {generator = h:jump()})
    assert.equal(tostring(g:jump()), "lunarray.Generator(seed=3, offset="
      .. (1 << 40) .. ")")
    assert.is_true(start == la.rand(4, {generator = g}))
    assert.is_false(start == la.rand(4, {generator = g:jump(0)}))
    assert.is_true(la.rand(4, {generator = la.Generator(3):jump(2)})
      == la.rand(4, {generator = la.Generator(3):jump():jump()}))
    local seen = {}
    for _ = 1, 100 do
      local seed = g:fork():initial_seed()
      assert.is_true(seed >= 0)
      assert.is_nil(seen[seed])
      seen[seed] = true
    end
    local a, b = la.Generator(9), la.Generator(9)
    assert.is_true(la.rand(5, {generator = a:fork()})
      == la.rand(5, {generator = b:fork()}))
    assert.is_false(la.rand(5, {generator = a}) ==
      la.rand(5, {generator = la.Generator(9)}))
    assert.has_error(function() a:jump(-1) end)
    assert.has_error(function() a:jump(1 << 24) end)
    assert.has_error(function() a:jump("far") end)
    assert.has_error(function() la.Generator(1, {kind = "mt19937"}) end)
    assert.has_error(function() la.Generator({seed = 1}) end)
    assert.equal(4, la.Generator(4, {}):initial_seed())
  end)

  it("is left alone by a fork", function()
    local a = la.rand(5)
    la.manual_seed(1234)
    do
      local _ <close> = la.fork_rng()
      la.rand(50)
    end
    la.fork_rng(function() la.rand(7) end)
    pcall(la.fork_rng, function() la.rand(7) error "x" end)
    assert.is_true(a == la.rand(5))
  end)

  it("gives an outer scope its generator back, in coroutines too", function()
    local function nested()
      local inner
      local _ <close> = la.fork_rng()
      la.manual_seed(1)
      do
        local _ <close> = la.fork_rng()
        la.manual_seed(2)
        if coroutine.isyieldable() then coroutine.yield() end
        inner = la.rand(3)
      end
      assert.is_true(inner == la.rand(3, {generator = la.Generator(2)}))
      assert.is_true(la.rand(3) == la.rand(3, {generator = la.Generator(1)}))
    end
    la.manual_seed(9)
    nested()
    local first, second = coroutine.create(nested), coroutine.create(nested)
    for _ = 1, 2 do
      for _, co in ipairs {first, second} do
        assert.is_true(select(1, coroutine.resume(co)))
      end
    end
    assert.are.equal("dead", coroutine.status(second))
    assert.is_true(la.rand(3) == la.rand(3, {generator = la.Generator(9)}))
  end)

  it("gives the same bits at any thread count", function()
    local threads, first = la.get_num_threads(), nil
    for _, t in ipairs {1, 2, 7} do
      la.set_num_threads(t)
      la.manual_seed(7)
      local got = la.stack {la.rand(N), la.randn(N),
        la.zeros(N):exponential_(), la.randint(1, 9, N):float(),
        la.poisson(la.full({N}, 3.0))}
      first = first or got
      assert.is_true(first == got)
    end
    la.set_num_threads(threads)
  end)

  once("gives the same bits on every CPU path", function()
    local outputs = {}
    for _, cap in ipairs {"default", "avx2", "avx512"} do
      local command = ("LUNARRAY_CPU=%s LUA_CPATH='%s' LUA_PATH='%s' "
        .. "lua5.4 spec/support/values/random_bits.lua"):format(cap,
          package.cpath, package.path)
      local pipe = assert(io.popen(command))
      outputs[#outputs + 1] = pipe:read "a"
      pipe:close()
    end
    assert.truthy(#outputs[1] > 100)
    assert.equal(outputs[1], outputs[2])
    assert.equal(outputs[1], outputs[3])
  end)
end)

describe("the distribution of", function()
  for _, dtype in ipairs {"float32", "float64", "float16", "bfloat16"} do
    it("uniform and normal " .. dtype, function()
      local x = la.rand(N, {dtype = dtype})
      assert.is_true(x:ge(0):all() and x:lt(1):all())
      local m, v = moments(x)
      near(m, 0.5, (1 / 12 / N) ^ 0.5 + (dtype == "bfloat16" and 1e-3 or 2e-4))
      near(v, 1 / 12, 2e-3)
      x = la.randn(N, {dtype = dtype})
      m, v = moments(x)
      near(m, 0, N ^ -0.5)
      near(v, 1, (2 / N) ^ 0.5)
    end)
  end

  it("normal numbers in the tails and between neighbours", function()
    local x = la.randn(N * 5)
    local n = x:numel()
    for limit, p in pairs {[1] = .317311, [2] = .0455003, [3] = .0026998,
                           [4] = 6.334e-5} do
      near(x:abs():gt(limit):double():mean():item(), p, (p / n) ^ 0.5)
    end
    local a, b = x[{{1, n - 1}}], x[{{2, n}}]
    near((a * b):mean():item(), 0, n ^ -0.5)
    near((a * a * b * b):mean():item(), 1, 8 / n ^ 0.5)
    local half = x[{{1, n - 16}}] * x[{{17, n}}]
    near(half:mean():item(), 0, n ^ -0.5)
  end)

  it("integers, with both ends", function()
    local x = la.randint(6, {N})
    assert.equal(1, x:min():item())
    assert.equal(6, x:max():item())
    for k = 1, 6 do
      near(x:eq(k):double():mean():item(), 1 / 6, (5 / 36 / N) ^ 0.5)
    end
    assert.equal("int64", x.dtype)
    x = la.randint(-3, -3, 10)
    assert.is_true(x:eq(-3):all())
    x = la.randint(math.mininteger, math.maxinteger, N)
    near(x:lt(0):double():mean():item(), 0.5, 0.5 / N ^ 0.5)
    x = la.randint(1, 3 << 40, N):double() / (3 << 40)
    near(x:mean():item(), 0.5, (1 / 12 / N) ^ 0.5)
    assert.equal("uint8", la.randint(0, 255, 9, {dtype = "uint8"}).dtype)
    assert.has_error(function() la.randint(0, 256, 9, {dtype = "uint8"}) end)
    assert.has_error(function() la.randint(3, 2, 9) end)
  end)

  it("the others", function()
    local x = la.zeros(N)
    local m, v = moments(x:exponential_(2))
    near(m, 0.5, 0.5 / N ^ 0.5)
    near(v, 0.25, 0.25 * (8 / N) ^ 0.5)
    near(x:cauchy_(3, 2):median():item(), 3, 2 * 1.6 / N ^ 0.5)
    m = moments(x:log_normal_(0, 0.5))
    near(m, math.exp(0.125), 0.61 / N ^ 0.5)
    m, v = moments(x:geometric_(0.25))
    near(m, 4, 12 ^ 0.5 / N ^ 0.5)
    near(v, 12, 100 / N ^ 0.5)
    near(moments(x:bernoulli_(0.3)), 0.3, (.21 / N) ^ 0.5)
    near(moments(la.full({N}, 0.7):bernoulli()), 0.7, (.21 / N) ^ 0.5)
    assert.is_true(x:bernoulli_(1):eq(1):all())
    assert.is_true(x:bernoulli_(0):eq(0):all())
  end)

  it("counts and gamma numbers", function()
    for _, rate in ipairs {0.5, 9.5, 10.5, 200} do
      local m, v = moments(la.poisson(la.full({N}, rate + 0.0)))
      near(m, rate, (rate / N) ^ 0.5)
      near(v, rate, rate * (3 / N) ^ 0.5 + (rate / N) ^ 0.5)
    end
    for _, p in ipairs {0.05, 0.3, 0.9} do
      local m, v = moments(la.binomial(la.full({N}, 40.0), p))
      near(m, 40 * p, (40 * p * (1 - p) / N) ^ 0.5)
      near(v, 40 * p * (1 - p), 40 * p * (1 - p) * (3 / N) ^ 0.5)
    end
    for _, shape in ipairs {0.3, 1, 4.5} do
      local m, v = moments(la.gamma(la.full({N}, shape + 0.0), 2.0))
      near(m, 2 * shape, 2 * (shape / N) ^ 0.5)
      near(v, 4 * shape, 4 * (3 * shape * (shape + 2) / N) ^ 0.5)
    end
    near(moments(la.beta(la.full({N}, 2.0), 3.0)), 0.4, 0.2 / N ^ 0.5)
    local d = la.dirichlet(la.tensor {1.0, 2.0, 3.0}:expand(N, 3))
    near(d:sum(2):sub(1):abs():max():item(), 0, 1e-6)
    near(d[{{}, 2}]:mean():item(), 1 / 3, 0.2 / N ^ 0.5)
  end)
end)

describe("a fill alike", function()
  it("has shape, dtype and layout of another", function()
    local x = la.zeros(3, 4, {dtype = "float64"}):t()
    for _, y in ipairs {la.rand_like(x), la.randn_like(x),
                        la.randint_like(x, 5), la.randint_like(x, -2, 2)} do
      assert.same({4, 3}, {table.unpack(y.shape)})
      assert.equal("float64", y.dtype)
      assert.equal(1, y:stride(1))
    end
    assert.is_true(la.randint_like(x, 5):ge(1):all())
    assert.equal("float32", la.rand_like(x, {dtype = "float32"}).dtype)
  end)
end)

describe("choices", function()
  it("multinomial draws by probability", function()
    local p = la.tensor {{0.1, 0.2, 0.7}, {1.0, 0.0, 0.0}}
    local x = p:multinomial(N // 4, true)
    near(x[1]:eq(3):double():mean():item(), 0.7, (.21 * 4 / N) ^ 0.5)
    assert.is_true(x[2]:eq(1):all())
    local y = la.tensor {1.0, 5.0, 0.0, 3.0}:multinomial(3)
    assert.same({1, 2, 4}, (y:sort()):totable())
    assert.has_error(function() p:multinomial(2) end)
    assert.has_error(function() p:multinomial(4) end)
    assert.has_error(function() la.tensor {-1.0, 2.0}:multinomial(1) end)
    local counts = 0
    for _ = 1, 2000 do
      counts = counts + (la.tensor {1.0, 3.0}:multinomial(1):item() == 2 and 1
                         or 0)
    end
    near(counts / 2000, 0.75, (.1875 / 2000) ^ 0.5)
  end)

  it("categorical draws by logits", function()
    local x = la.tensor {0, math.log(3)}:categorical(1, N // 4)
    near(x:eq(2):double():mean():item(), 0.75, (.1875 * 4 / N) ^ 0.5)
    assert.same({2}, {table.unpack(la.zeros(2, 5):categorical().shape)})
  end)

  it("permutations", function()
    local x = la.randperm(1000)
    assert.is_true((x:sort()) == la.range(1000))
    assert.is_false(x == la.range(1000))
    assert.same({}, la.randperm(0):totable())
    local first = la.zeros(4)
    for _ = 1, 4000 do
      local i = la.randperm(4):item(1)
      first[i] = first[i] + 1
    end
    near(first:max():item() / 4000, 0.25, (.1875 / 4000) ^ 0.5)
    local s = la.arange(100):shuffle()
    assert.is_true((s:sort()) == la.arange(100))
    assert.equal(5, #la.choice(la.arange(10), 5))
    assert.equal(10, #la.choice(la.arange(10), 10, {replace = false}):unique())
    assert.has_error(function()
      la.choice(la.arange(3), 4, {replace = false})
    end)
  end)

  it("numbers keep their width for dtype=float64", function()
    local wide = {dtype = "float64"}
    assert.equal(0.1, la.laplace(0.1, 0, {1}, wide):item())
    assert.equal(1e300, la.truncated_normal(1e300, 0, 0, 2e300, wide):item())
    assert.equal(0.1, la.truncated_normal(0.05, 1, 0.1, 0.1, {2}, wide)[2]
      :item())
    assert.is_true(la.gamma(1e300, 0.5, wide):item() < 1e300)
    assert.equal("float32", la.laplace(0.1, 0).dtype)
  end)

  it("dropout scales what it keeps", function()
    local x = la.ones(N):dropout(0.25)
    near(x:mean():item(), 1, (1 / 3 / N) ^ 0.5)
    near(x:max():item(), 4 / 3, 1e-6)
    local y = la.ones(3)
    assert.is_true(y:dropout(0.5, false) == y)
    assert.is_true(y:dropout(1) == la.zeros(3))
    assert.has_error(function() y:dropout(1.5) end)
  end)
end)

describe("what is drawn", function()
  local one = {poisson = true, bernoulli = true, categorical = true,
               dirichlet = true, normal = true}

  it("has no history, run or recorded", function()
    local count = 0
    for _, op in ipairs(la.operations()) do
      local f = one[op.name] and la[op.name]
      if f then
        count = count + 1
        local w = la.full({2, 3}, 0.5):requires_grad_()
        assert.is_false(f(w).requires_grad, op.name)
        local step = la.compile(function(v) return f(v) end)
        for _ = 1, 3 do assert.is_false(step(w).requires_grad, op.name) end
      end
    end
    assert.is_true(count >= 5)
    local w = la.ones(3):requires_grad_()
    assert.is_false(la.normal(la.zeros(3), w).requires_grad)
    assert.is_false(la.normal(w, 1).requires_grad)
    assert.is_nil((w * 1):bernoulli_(la.tensor(0.5)).grad)
  end)
end)

describe("integers in place", function()
  local function range(dtype, ...)
    local x = la.zeros(4000, {dtype = dtype}):random_(...)
    return {x:min():item(), x:max():item(), x:unique():numel()}
  end

  it("take every value of their range, both ends included", function()
    la.manual_seed(4)
    for _, dtype in ipairs{"int64", "uint8", "float32"} do
      assert.same({1, 6, 6}, range(dtype, 6))
      assert.same({3, 5, 3}, range(dtype, 3, 5))
    end
    assert.same({-2, 3, 6}, range("int16", -2, 3))
    assert.same({0, 255, 256}, range("uint8"))
  end)
end)

describe("a bad argument", function()
  it("is told", function()
    local x = la.zeros(3)
    for text, f in pairs {
      ["floating dtype"] = function() la.rand(2, {dtype = "int32"}) end,
      ["from=2 > to=1"] = function() x:uniform_(2, 1) end,
      ["std >= 0.0"] = function() x:normal_(0, -1) end,
      ["p to be in [0, 1]"] = function() x:bernoulli_(1.5) end,
      ["lambda > 0.0"] = function() x:exponential_(0) end,
      ["single memory location"] = function()
        la.zeros(1):expand(4):uniform_()
      end,
      ["must not be negative"] = function() la.randperm(-1) end,
    } do
      local ok, message = pcall(f)
      assert.is_false(ok)
      assert.truthy(message:find(text, 1, true), message)
    end
    assert.same({0, 0, 0}, x:totable())
  end)
end)
