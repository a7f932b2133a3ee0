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
  it("makes nothing of rows whose squares are beyond the range", function()
    for _, n in ipairs {4, 9, 67} do
      local x = la.ones(3, n)
      x:narrow(2, 1, 1):fill_(1e30)
      assert.equal(0, la.layer_norm(x, {n}):abs():max():item())
    end
  end)
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
    local none = la.instance_norm(la.zeros(2, 0, 4))
    assert.same({2, 0, 4}, {table.unpack(none.shape)})
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

describe("norms of planes", function()
  -- (mean, 1 / sqrt(var + eps)) over 'dims' of x, in double.
  local function moments_of(x, dims)
    local m = x:mean(dims, true)
    return m, (x:var(dims, {correction = 0, keepdim = true}) + 1e-5):pow(-0.5)
  end
  local TOLERANCE = {float64 = 1e-9, float32 = 2e-4, float16 = 2e-2,
                     bfloat16 = 1e-1}
  local sizes = {{2, 4, 8}, {3, 4, 3, 5}, {2, 4, 17, 61}, {1, 4, 5000}}

  local function forward_and_back(call, x, w, b, dy)
    x, w, b = x:detach():requires_grad_(), w:detach():requires_grad_(),
      b:detach():requires_grad_()
    local y = call(x, w, b)
    y:backward(dy)
    return {y:detach(), x.grad, w.grad, b.grad}
  end

  for dtype, tol in pairs(TOLERANCE) do
    for _, size in ipairs(sizes) do
      it(("in one pass, %s, %d dims of %d"):format(dtype, #size, size[#size]),
      function()
        local n, dims, shape = 1, {1}, {1, 4}
        for d = 3, #size do
          dims[#dims + 1], shape[d], n = d, 1, n * size[d]
        end
        local x = (la.randn(size) * 2 + 3):to(dtype)
        local dy = la.randn(size):to(dtype)
        local w, b = la.rand(4):to(dtype), la.rand(4):to(dtype)
        local X, DY = x:double(), dy:double()
        local W, B = w:double():view(shape), b:double():view(shape)
        local ways = {
          {function(p, q, r)
            return la.batch_norm(p, nil, nil, q, r, true)
          end, function(t) return t end, function(t) return t end, dims},
          {function(p, q, r) return la.group_norm(p, 2, q, r) end,
            function(t) return t:reshape(size[1] * 2, -1) end,
            function(t) return t:reshape(size) end, {2}},
        }
        for _, way in ipairs(ways) do
          local call, to_rows, from_rows, over = table.unpack(way)
          local m, r = moments_of(to_rows(X), over)
          local hat = (to_rows(X) - m) * r
          local g = to_rows(DY * W)
          local dx = (g - g:mean(over, true)
            - hat * (g * hat):mean(over, true)) * r
          local flat = from_rows(hat)
          local want = {flat * W + B, from_rows(dx), (DY * flat):sum(dims),
            DY:sum(dims)}
          local got = forward_and_back(call, x, w, b, dy)
          for k = 1, 4 do
            local scale = k < 3 and 1 or math.sqrt(n * size[1])
            assert.is_true(la.allclose(got[k]:double(), want[k], 0,
              tol * scale * 4), "result " .. k)
            assert.equal(dtype, tostring(got[k].dtype):match("%w+$"))
          end
        end
      end)
    end
  end

  it("give the same bits on two threads", function()
    local x, w, b = la.randn(4, 6, 50, 50), la.rand(6), la.rand(6)
    local dy, had, all = la.randn(4, 6, 50, 50), la.get_num_threads(), {}
    for threads = 1, 2 do
      la.set_num_threads(threads)
      all[threads] = forward_and_back(function(p, q, r)
        return la.batch_norm(p, nil, nil, q, r, true)
      end, x, w, b, dy)
    end
    la.set_num_threads(had)
    for k = 1, 4 do assert.is_true(all[1][k]:equal(all[2][k])) end
  end)

  it("keep NaN within its group", function()
    local x = la.randn(2, 4, 8)
    x[{1, 1, 1}] = 0 / 0
    local y = la.group_norm(x, 2):isnan()
    assert.is_true(y[1]:slice(1, 1, 2):all())
    assert.is_false(y[1]:slice(1, 3, 4):any())
    assert.is_false(y[2]:any())
  end)

  it("run in the input's history twice", function()
    local x = f64(2, 2, 9):requires_grad_()
    local y = la.batch_norm(x, nil, nil, nil, nil, true)
    local g = la.autograd.grad((y * y * y):sum(), x, {create_graph = true})
    g = type(g) == "table" and g[1] or g
    g:square():sum():backward()
    assert.is_true(x.grad:isfinite():all())
  end)
end)

describe("gradients of row norms, with weights", function()
  for _, n in ipairs {3, 32, 75, 1000} do
    it("rows of " .. n, function()
      local x, w, b = la.randn(130, n):double(), f64(n), f64(n)
      local dy = la.randn(130, n):double()
      for _, p in ipairs {x, w, b} do p:requires_grad_() end
      la.layer_norm(x, {n}, w, b):backward(dy)
      local m, r = moments(x:detach(), 1e-5)
      local h = (x:detach() - m) * r
      local g = dy * w:detach()
      close(x.grad, r * (g - g:mean(2, true) - h * (g * h):mean(2, true)))
      close(w.grad, (dy * h):sum(1))
      close(b.grad, dy:sum(1))
      x.grad, w.grad = nil, nil
      la.rms_norm(x, {n}, w, 1e-6):backward(dy)
      r = ((x:detach():square()):mean(2, true) + 1e-6):pow(-0.5)
      h = x:detach() * r
      close(x.grad, r * (g - h * (g * h):mean(2, true)))
      close(w.grad, (dy * h):sum(1))
    end)
  end
end)

describe("cross entropy of labels", function()
  local TOLERANCE = {float64 = 1e-10, float32 = 1e-5, float16 = 2e-2,
                     bfloat16 = 2e-1}
  for dtype, tol in pairs(TOLERANCE) do
    for _, c in ipairs {1, 2, 10, 64, 65, 1000} do
      it(("in one pass, %d classes, %s"):format(c, dtype), function()
        local x = (la.randn(70, c) * 3):to(dtype)
        local label = la.randint(1, c, {70})
        local z = x:double()
        local lse = z:logsumexp(2)
        local each = lse - z:gather(2, label:unsqueeze(2)):squeeze(2)
        for _, how in ipairs {"mean", "sum", "none"} do
          local p = x:detach():requires_grad_()
          local loss = la.cross_entropy(p, label, {reduction = how})
          local want = how == "none" and each or each[how](each)
          assert.is_true(la.allclose(loss:double(), want, tol, tol))
          local seed = how == "none" and la.rand(70):to(dtype) or nil
          loss:backward(seed)
          local share = (z - lse:unsqueeze(2)):exp()
          share:scatter_add_(2, label:unsqueeze(2),
            la.full({70, 1}, -1, {dtype = "float64"}))
          if seed then share = share * seed:double():unsqueeze(2) end
          if how == "mean" then share = share / 70 end
          assert.is_true(la.allclose(p.grad:double(), share, tol, tol))
        end
      end)
    end
  end
  it("refuses labels that are no class", function()
    local x = la.randn(3, 4)
    assert.has_error(function() la.cross_entropy(x, la.tensor{1, 2, 5}) end)
    assert.has_error(function() la.cross_entropy(x, la.tensor{1, 0, 2}) end)
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
