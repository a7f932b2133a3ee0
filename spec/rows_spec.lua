-- Softmax, norms of rows, groups and batches, and statistics made of others,
-- against the formulas that define them.
local la = require "lunarray"

local function close(a, b, tol)
  assert.is_true(la.allclose(a, b, tol or 1e-8, tol or 1e-10))
end

local function f64(...) return la.rand(...):to("float64") end

-- Mean and 1 / sqrt(var + eps) of the last dim.
local function moments(x, eps)
  local m = x:mean(-1, true)
  return m, (x:var(-1, {correction = 0, keepdim = true}) + eps):pow(-0.5)
end

describe("layer norm", function()
  for _, n in ipairs {1, 7, 32, 100, 1000} do
    it("and its gradient, rows of " .. n, function()
      local x, dy, w, b = f64(5, n) * 3 + 2, f64(5, n), f64(n), f64(n)
      local m, r = moments(x, 1e-5)
      local y, mean, rstd = la.native_layer_norm(x, {n}, w, b, 1e-5)
      close(y, (x - m) * r * w + b)
      close(mean, m)
      close(rstd, r)
      local g, h = dy * w, (x - m) * r
      local dx = r * (g - g:mean(2, true) - h * (g * h):mean(2, true))
      close(la.native_layer_norm_backward(dy, x, {n}, mean, rstd, w), dx)
      close(la.layer_norm(x, {n}), h)
    end)
    it("by the root of the mean square, rows of " .. n, function()
      local x, dy, w = f64(5, n) + 1, f64(5, n), f64(n)
      local r = ((x * x):mean(2, true) + 1e-6):pow(-0.5)
      local y, rstd = la.native_rms_norm(x, {n}, w, 1e-6)
      close(y, x * r * w)
      close(rstd, r)
      local g, h = dy * w, x * r
      close(la.native_rms_norm_backward(dy, x, {n}, rstd, w),
            r * (g - h * (g * h):mean(2, true)))
      close(la.rms_norm(x, {n}, w, 1e-6), y)
    end)
  end
  it("refuses shapes that do not fit", function()
    assert.has_error(function() la.layer_norm(f64(2, 3), {4}) end)
    assert.has_error(function() la.layer_norm(f64(2, 3), {3}, f64(2)) end)
    assert.has_error(function() la.layer_norm(la.arange(3), {3}) end)
  end)
end)

describe("norms by channel", function()
  local x, w, b = f64(4, 6, 5), f64(6), f64(6)
  local function by_channel(v) return v:view(1, 6, 1) end

  it("in groups", function()
    local rows = x:reshape(4, 3, 10)
    local m, r = moments(rows, 1e-5)
    local want = ((rows - m) * r):reshape(4, 6, 5)
    close(la.group_norm(x, 3), want)
    close(la.group_norm(x, 3, w, b), want * by_channel(w) + by_channel(b))
    assert.has_error(function() la.group_norm(x, 4) end)
  end)
  it("in samples", function()
    close(la.instance_norm(x), la.group_norm(x, 6))
  end)
  it("in batches, with running moments", function()
    local mean, var = f64(6), f64(6) + 1
    local m0, v0 = mean:clone(), var:clone()
    local m = x:mean({1, 3}, true)
    local v = x:var({1, 3}, {correction = 0, keepdim = true})
    local y = la.batch_norm(x, mean, var, w, b, {training = true})
    local h = (x - m) * (v + 1e-5):pow(-0.5)
    close(y, h * by_channel(w) + by_channel(b))
    close(mean, m0 * 0.9 + m:reshape(-1) * 0.1)
    close(var, v0 * 0.9 + x:var({1, 3}) * 0.1)
    h = (x - by_channel(mean)) * (by_channel(var) + 1e-5):pow(-0.5)
    close(la.batch_norm(x, mean, var), h)
  end)
end)

describe("softmax", function()
  local TOLERANCE = {float32 = 1e-6, float64 = 1e-12, float16 = 2e-3,
                     bfloat16 = 1e-2}
  for dtype, tol in pairs(TOLERANCE) do
    it("along every dim, " .. dtype, function()
      local x = (la.rand(3, 45, 7) * 8 - 4):to(dtype)
      local z = x:to("float64")
      for d = 1, 3 do
        local e = (z - z:amax(d, true)):exp()
        e = e / e:sum(d, true)
        close(x:softmax(d):to("float64"), e, tol)
        close(x:log_softmax(d):to("float64"), e:log(), 4 * tol)
        close((-x):softmin(d):to("float64"), e, tol)
      end
    end)
  end
  it("does not overflow, and passes NaN on", function()
    assert.same({0.5, 0.5}, la.tensor {1000.0, 1000.0}:softmax(1):totable())
    assert.is_true(la.tensor {0 / 0, 1.0}:softmax(1):isnan():all())
    assert.same({0.0, 1.0}, la.tensor {-1 / 0, 1.0}:softmax(1):totable())
  end)
end)

describe("statistics made of others", function()
  it("scale to unit length, or down to a limit", function()
    local x = la.tensor {{3.0, 4.0}, {0.3, 0.4}}
    close(x:normalize(2, 2), la.tensor {{0.6, 0.8}, {0.6, 0.8}}, 1e-6)
    close(x:renorm(2, 1, 1), la.tensor {{0.6, 0.8}, {0.3, 0.4}}, 1e-6)
  end)
  it("integrate", function()
    local y, x = la.tensor {1.0, 2.0, 4.0}, la.tensor {0.0, 1.0, 3.0}
    assert.equal(4.5, la.trapezoid(y):item())
    assert.equal(7.5, la.trapezoid(y, x):item())
    assert.same({1.5, 7.5}, la.cumulative_trapezoid(y, x):totable())
  end)
  it("cut into quantiles", function()
    local x = la.tensor {1.0, 0 / 0, 3.0, 2.0}
    assert.equal(2.0, x:nanquantile(0.5):item())
    assert.is_true(x:quantile(0.5):isnan():all())
    local q = la.tensor {0.0, 0.25, 1.0}
    assert.same({1.0, 2.0, 5.0},
                la.tensor {5.0, 3.0, 1.0, 2.0, 4.0}:quantile(q):totable())
  end)
end)
