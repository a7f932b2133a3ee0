-- Mathematical functions: special values on each CPU path, and results that
-- depend neither on layout nor on position nor on threads.
local la = require "lunarray"
local once = require "spec.support.once"
local stock = require "spec.support.interpreter"

local functions = {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
  "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
  "asinh", "acosh", "atanh", "sigmoid", "sqrt", "rsqrt", "cbrt", "sinc",
  "erf", "erfc", "erfinv", "lgamma", "digamma", "i0", "i1", "ndtr",
  "log_ndtr", "ndtri", "silu", "mish",
  "gelu", "elu", "softplus", "logsigmoid", "hardswish"}

local dtypes = {"float32", "float64", "float16", "bfloat16"}

-- Numbers from about -1.5 to 3, some of which every function takes.
local function sample(n, dtype)
  return (la.arange(0, n, 1, {dtype = "float64"}):mul(0.6180339887):frac()
    :mul(4.5):sub(1.5)):to(dtype)
end

local function same(a, b)
  return a:nan_to_num(12345):equal(b:nan_to_num(12345))
end

local function child(capability, script)
  local command = "LUNARRAY_CPU=%s %s spec/support/values/%s.lua 2>&1"
  local pipe = assert(io.popen(command:format(capability, stock.program,
                                              script)))
  local text = pipe:read("a")
  pipe:close()
  return text
end

describe("special values", function()
  for _, capability in ipairs {"default", "avx2", "avx512"} do
    once("are right on " .. capability, function()
      local text = child(capability, "math_values")
      local used = text:match("done (%w+)\n$")
      assert.is_truthy(used, text)
      assert.equal("done " .. used .. "\n", text)
    end)
  end
end)

describe("results", function()
  -- The lines of a script but for the last, which names the path.
  local function values(capability)
    local text = child(capability, "exact_values")
    local lines = text:match("^(.*\n)done %w+\n$")
    assert.is_truthy(lines, text)
    return lines
  end
  for _, capability in ipairs {"default", "avx2", "avx512"} do
    once("are within a unit of the exact ones on " .. capability, function()
      assert.is_nil(values(capability):match("off [^\n]*"))
    end)
  end

  it("of two arguments do not depend on their neighbours", function()
    for _, dtype in ipairs {"float32", "float64"} do
      for _, name in ipairs {"atan2", "hypot"} do
        local x = sample(640, dtype)
        local y = sample(650, dtype):narrow(1, 11, 640):add(0.01)
        local want = la[name](x, y)
        local other = x:clone()
        other:view(40, 16):select(2, 1):fill_(math.huge)
        local got = la[name](other, y)
        local keep = other:eq(x)
        assert.is_true(got:masked_select(keep):equal(want:masked_select(keep)))
      end
    end
  end)

  it("of powers do not depend on their neighbours", function()
    for _, dtype in ipairs {"float32", "float64"} do
      local x = sample(64000, dtype):abs():add(0.01)
      local y = sample(64010, dtype):narrow(1, 11, 64000):mul(20):div(x:log())
      local want, other = x:pow(y), x:clone()
      other:view(4000, 16):select(2, 1):fill_(math.huge)
      local keep = other:eq(x)
      local got = other:pow(y):masked_select(keep)
      assert.is_true(got:equal(want:masked_select(keep)), dtype)
    end
  end)

  it("have the same bits wherever there is fused multiply-add", function()
    assert.equal(values("avx2"), values("avx512"))
  end)
end)

describe("an element's result", function()
  for _, dtype in ipairs(dtypes) do
    it("does not depend on layout or position, " .. dtype, function()
      local x = sample(67, dtype)
      local wide = la.zeros({67, 3}, {dtype = dtype})
      wide:select(2, 2):copy_(x)
      for _, name in ipairs(functions) do
        local want = la[name](x)
        assert.is_true(same(want, la[name](wide:select(2, 2))), name)
        for first = 1, 20 do
          local part = la[name](x:narrow(1, first, 40))
          assert.is_true(same(want:narrow(1, first, 40), part), name)
        end
        assert.is_true(same(want[5], la[name](x[5])), name)
      end
    end)
  end

  it("does not depend on threads", function()
    local threads = la.get_num_threads()
    local x = sample(200001, "float32")
    for _, name in ipairs(functions) do
      la.set_num_threads(1)
      local one = la[name](x)
      la.set_num_threads(4)
      local many = la[name](x)
      la.set_num_threads(threads)
      assert.is_true(same(one, many), name)
    end
  end)

  it("does not depend on its neighbours", function()
    -- A vector with a rare lane goes another way: the rest must not notice.
    local x = sample(16, "float32")
    for _, name in ipairs(functions) do
      local want = la[name](x)
      for _, rare in ipairs {1e5, 1e30, 1e-40, -1e30, 0 / 0, math.huge} do
        local y = x:clone()
        y:narrow(1, 7, 1):fill_(rare)
        local got = la[name](y)
        for _, k in ipairs {1, 6, 8, 16} do
          assert.is_true(same(want[k], got[k]), name .. " " .. rare)
        end
      end
    end
  end)
end)

-- The last arguments whose result is finite, and results of 50 digits.
describe("results next to the largest number", function()
  local function near(want, got)
    assert.is_true(math.abs(got:item() / want - 1) < 8e-16, got:item())
  end
  local function t(x) return la.tensor(x, {dtype = "float64"}) end
  it("are finite", function()
    near(1.7976931348620688438e308, t(709.7827128933839):exp())
    near(1.7976915288326597208e308, t(709.782712):exp())
    near(1.7975851435895589204e308, t(710.4758):sinh())
    near(-1.7975851435895589204e308, t(-710.4758):sinh())
    near(1.0107010280597819584e308, t(709.9):cosh())
    near(1.7976931348621740e308,
      t(0x1.fffffffffffffp1023):pow(t(0x1.fffffffffffffp-1)))
    near(-0x1.fffffffffffffp1023, t(-0x1.fffffffffffffp1023):pow(t(1.0)))
  end)
  it("are infinite beyond", function()
    for _, v in ipairs {709.7827128933841, 800, 1 / 0} do
      assert.equal(1 / 0, t(v):exp():item())
    end
    assert.equal(-1 / 0, t(-711.0):sinh():item())
    assert.equal(1 / 0, t(-711.0):cosh():item())
    assert.equal(-1 / 0, t(-2.0):pow(t(1025.0)):item())
    assert.equal(1 / 0, t(0.0):pow(t(-2.0)):item())
    for _, tiny in ipairs {5e-324, 1e-310} do
      assert.equal(1 / 0, t(-1 / 0):pow(t(tiny)):item())
      assert.equal(0.0, t(1 / 0):pow(t(-tiny)):item())
      assert.equal(0.0, t(0.0):pow(t(tiny)):item())
      assert.equal(1 / 0, t(0.0):pow(t(-tiny)):item())
    end
  end)
end)

-- A kernel of integers has integers as parameters.
describe("limits with a fraction", function()
  it("are cut for integers, as the dtype is the result's", function()
    for _, dtype in ipairs {"uint8", "int8", "int16", "int32", "int64"} do
      local x = la.tensor({0, 1, 2, 3}, {dtype = dtype})
      for _, cut in ipairs {0.25, 0.75} do
        assert.same({7, 7, 2, 3}, x:threshold(1 + cut, 7 + cut):totable())
        assert.same({1, 1, 2, 2}, x:hardtanh(1 + cut, 2 + cut):totable())
      end
    end
    local y = la.tensor {-3, -2, -1, 0}
    assert.same({9, 9, 9, 0}, y:threshold(-1.5, 9):totable())
  end)
end)

describe("arguments", function()
  it("are checked", function()
    local x = la.ones({3})
    assert.error_matches(function() la.polygamma(x, -1) end, "negative n")
    assert.error_matches(function() x:mvlgamma(0) end, "greater than or equal")
    assert.error_matches(function() x:gelu{approximate = "erf"} end, "tanh")
    assert.error_matches(function() x:softshrink(-1) end, "lambda")
    assert.error_matches(function() x:celu(0) end, "alpha cannot be 0")
    assert.error_matches(function() x:glu() end, "must be even")
    assert.error_matches(function() la.tensor({1}):silu() end, "silu")
  end)

  it("float_power is double precision, also in place", function()
    local x = la.tensor({1.5, 2}, {dtype = "float64"})
    assert.same({2.25, 4}, x:float_power_(2):totable())
    assert.equal("complex128", la.ones(2, {dtype = "complex128"})
      :float_power_(2).dtype)
    for _, dtype in ipairs{"float32", "int64", "complex64"} do
      assert.error_matches(function()
        la.ones(2, {dtype = dtype}):float_power_(2)
      end, dtype)
    end
    assert.error_matches(function()
      la.float_power(x, 2, {out = la.empty(2)})
    end, "float64")
  end)

  it("may be integers where a float comes out", function()
    assert.equal("float32", tostring(la.tensor({1, 2}):exp().dtype))
    assert.equal(2, la.tensor({4}):sqrt():item())
  end)

  it("keep the digits of gelu's tail, whatever stands next to it", function()
    local x = la.linspace(-12.9, 8, 40001, {dtype = "float32"})
    local exact = x:to("float64"):gelu()
    local off = x:gelu():to("float64"):sub(exact):div(exact):abs()
    assert.is_true(off:nan_to_num(0):max():item() < 1e-5)
    -- Near, far, a neighbour of another sign, and what is neither.
    local mixed = la.tensor({-6.5, 1, -5.99, -0.0, 0 / 0, -13, 6.5, -6.001},
      {dtype = "float32"}):tile{5}
    local alone = mixed:clone()
    for k = 1, 40 do alone[k] = mixed[k]:clone():gelu() end
    assert.is_true(same(mixed:gelu(), alone))
    assert.equal(-math.huge, 1 / mixed:gelu()[4]:item())
    assert.equal(6.5, mixed:gelu()[7]:item())
  end)
  it("keep the digits of digamma near its poles", function()
    local x = la.tensor({1, 0.5, -0.25, -264.99968569135433, 1e-300, 1e20},
      {dtype = "float64"})
    local want = la.tensor({-0.57721566490153286, -1.9635100260214235,
      2.9141391202135278, -3176.0033938946094, -1e300, 46.051701859880914},
      {dtype = "float64"})
    assert.is_true(x:digamma():allclose(want, {rtol = 4e-15, atol = 0}))
    assert.is_true(x:polygamma(0):equal(x:digamma()))
    local poles = la.tensor{0.0, -0.0, -1, -2, -1 / 0, 1 / 0}:digamma()
    assert.are.equal(-1 / 0, poles:item(1))
    assert.are.equal(1 / 0, poles:item(2))
    assert.is_true(poles:narrow(1, 3, 3):isnan():all())
    assert.are.equal(1 / 0, poles:item(6))
  end)

  it("keep the digits of both tails of log_ndtr", function()
    local x = la.tensor({0, 17.013134892936278, 35.646842747277787, -1, -26,
      -26.5, -40, -1e10}, {dtype = "float64"})
    local want = la.tensor({-0.69314718055994531, -3.281504017909712e-65,
      -1.3186023989547123e-278, -1.8410216450092635, -342.17850892992783,
      -355.32250222635599, -804.60844201375379, -5e19}, {dtype = "float64"})
    -- Without fused multiply-add the tail's argument is rounded.
    local rtol = la.cpu_capability() == "default" and 3e-13 or 4e-15
    assert.is_true(x:log_ndtr():allclose(want, {rtol = rtol, atol = 0}))
    assert.are.equal(-1 / 0, la.tensor(-1 / 0):log_ndtr():item())
    assert.are.equal(0, la.tensor(1 / 0):log_ndtr():item())
  end)

  it("give the quantiles of the normal distribution to the last", function()
    local p = la.tensor({1e-300, 5e-324, 0.025, 1e-16, 2e-16, 0.999, 0.3},
      {dtype = "float64"})
    local want = la.tensor({-37.047096299361201, -38.467405617144346,
      -1.9599639845400545, -8.2220822161304365, -8.1385620601997197,
      3.0902323061678132, -0.52440051270804078}, {dtype = "float64"})
    assert.is_true(p:ndtri():allclose(want, {rtol = 2e-15, atol = 0}))
    local float = p:float()
    assert.is_true(float:ndtri():allclose(float:double():ndtri():float(),
      {rtol = 3e-7, atol = 0}))
    local ends = la.tensor{0, 1, -0.5, 1.5, 0 / 0}:ndtri()
    assert.are.equal(-1 / 0, ends:item(1))
    assert.are.equal(1 / 0, ends:item(2))
    assert.is_true(ends:narrow(1, 3, 3):isnan():all())
  end)

  it("choose the form of gelu", function()
    local x = la.tensor({1.0}, {dtype = "float64"})
    assert.near(0.8413447460685429, x:gelu():item(), 1e-15)
    assert.near(0.8411919906082768, x:gelu{approximate = "tanh"}:item(),
      1e-14)
  end)

  it("order polygamma either way", function()
    local x = la.tensor({1.0}, {dtype = "float64"})
    local want = math.pi ^ 2 / 6
    assert.near(want, x:polygamma(1):item(), 1e-14)
    assert.near(want, la.polygamma(1, x):item(), 1e-14)
  end)
end)

describe("complex functions", function()
  it("undo each other", function()
    local z = la.complex(la.tensor({0.5, -0.25, 1.5}, {dtype = "float64"}),
      la.tensor({0.75, -1.25, 0.1}, {dtype = "float64"}))
    local pairs_ = {{"exp", "log"}, {"sin", "asin"}, {"tan", "atan"},
      {"sinh", "asinh"}, {"tanh", "atanh"}}
    for _, pair in ipairs(pairs_) do
      local back = la[pair[1]](la[pair[2]](z))
      assert.is_true((back - z):abs():max():item() < 1e-14, pair[1])
    end
    assert.is_true((z:sqrt():square() - z):abs():max():item() < 1e-15)
  end)

  it("have real angles", function()
    local z = la.complex(la.tensor({0.0, -1.0}), la.tensor({1.0, 0.0}))
    local angle = z:angle()
    assert.equal("float32", tostring(angle.dtype))
    assert.near(math.pi / 2, angle[1]:item(), 1e-6)
    assert.near(math.pi, angle[2]:item(), 1e-6)
  end)
end)

describe("atanh", function()
  it("is right up to the numbers next to 1", function()
    for dtype, bits in pairs{float32 = 24, float64 = 53} do
      for k = 1, bits do
        for m = 1, 3 do
          local x = 1 - m * 2.0 ^ -k
          -- 1 - x is exact, and so is m * 2^-k
          local want = 0.5 * (math.log(1 + x) - math.log(m * 2.0 ^ -k))
          if x > 0.5 and m < 2 ^ (bits - 1) and x == la.tensor({x},
              {dtype = dtype}):item() then
            local t = la.tensor({x, -x}, {dtype = dtype}):atanh()
            local limit = want * (dtype == "float32" and 1e-6 or 1e-15)
            assert.near(want, t[1]:item(), limit)
            assert.near(-want, t[2]:item(), limit)
          end
        end
      end
    end
  end)
end)
