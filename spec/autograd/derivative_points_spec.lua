-- Derivatives where formulas have branches: at 0, near 0, at limits and ties,
-- far out and at infinities. The calls come from the registry. Where a function
-- has slopes on both sides, its gradient lies between them; the same holds for
-- the gradient's own gradient. So a kink may have any subgradient, and NaN or
-- an infinity from the branch that is not taken is found.
local la = require "lunarray"

local POINTS = {0.0, 1e-300, -1e-300, 1e-30, 1e-8, -1e-8, 1e-3, 0.3, -0.3, 0.5,
  -0.5, 1.0, -1.0, 2.0, 3.0, -3.0, 6.0, -20.0, 20.5, 50.0, -50.0, 120.0,
  -120.0, 800.0, -800.0, 1e10, -1e10, 1e200, -1e200}
local PAIRS = {0.0, 1e-300, -1e-8, 0.5, 1.0, -1.0, 2.0, -3.0, 120.0, -800.0,
  1e10, 1e200}

-- Arguments that a row needs besides its tensors.
local EXTRAS = {threshold = {0.5, 7.0}, polygamma = {1}, mvlgamma = {2},
  renorm = {2.0, 1, 1.0}, clamp = {-1.0, 2.0}, leaky_relu = {0.1}}

local SKIPPED = {
  dropout = "random", alpha_dropout = "random", rrelu = "random",
  shuffle = "random",
  floor_divide = "no derivative", partition = "needs a position",
  quantile = "q is in 0..1", nanquantile = "q is in 0..1",
  percentile = "q is in 0..100", nanpercentile = "q is in 0..100",
  trim_zeros = "other sizes", tensorsolve = "no solution at 0",
  remainder = "jumps", fmod = "jumps",
  game_clamp_length = "second ones of tiny vectors are beyond all numbers",
  game_project = "second ones of tiny vectors are beyond all numbers",
  igamma = "0 log 0 and huge arguments, as in PyTorch",
  igammac = "0 log 0 and huge arguments, as in PyTorch",
  -- The first tensor is a gradient, not a variable of a function.
  relu_backward = "gradient", tanh_backward = "gradient",
  sigmoid_backward = "gradient", softmax_backward = "gradient",
  log_softmax_backward = "gradient",
}

-- NaN first derivatives as in PyTorch: 0 / 0, and the logarithm of a negative
-- base.
local NAN = {hypot = true, xlogy = true, xlog1py = true, pow = true,
  float_power = true}

-- Differentiable in the second argument only, as in PyTorch.
local SECOND = {zeta = true}

local function leaf(v)
  return la.tensor({v}, {dtype = "float64"}):requires_grad_()
end

-- f's value, gradient and second gradient in variable k.
local function evaluate(f, values, k)
  local leaves = {}
  for i, v in ipairs(values) do leaves[i] = leaf(v) end
  local y = f(table.unpack(leaves))
  if not y.requires_grad then return y:item() end
  local g = la.grad(y:sum(), leaves[k], {create_graph = true,
    allow_unused = true})
  if not g then return y:item() end
  if not g.requires_grad then return y:item(), g:item(), 0.0 end
  local h = la.grad(g:sum(), leaves[k], {allow_unused = true})
  return y:item(), g:item(), h and h:item() or 0.0
end

local function finite(v) return v == v and math.abs(v) < math.huge end

local function close(a, b)
  return math.abs(a - b) <= 1e-3 * (1 + math.abs(a))
end

-- The one-sided slope of value 'which' in variable k; nil where quotients of
-- two steps differ (at a jump, at a pole, where the function oscillates) or
-- where the step is lost in the value's rounding.
local function slope(f, values, k, which, side)
  local step = side * 1e-6 * math.max(1, math.abs(values[k]))
  local here, found = (select(which, evaluate(f, values, k))), {}
  if not here or not finite(here) then return nil end
  if math.abs(here) * 4e-16 > 1e-4 * math.abs(step) then return nil end
  for n = 1, 2 do
    local moved = {table.unpack(values)}
    moved[k] = moved[k] + step / 4 ^ (n - 1)
    local there = (select(which, evaluate(f, moved, k)))
    if not there or not finite(there) then return nil end
    found[n] = (there - here) / (moved[k] - values[k])
  end
  return finite(found[1]) and close(found[1], found[2]) and found[2] or nil
end

-- The complaint about derivative 'which' (1, 2) of f, or nil; and whether there
-- was something to compare with.
local function fault(f, values, k, which, nan)
  local left = slope(f, values, k, which, -1)
  local right = slope(f, values, k, which, 1)
  if not left or not right then return nil, false end
  local got = (select(which + 1, evaluate(f, values, k)))
  if not got or nan and got ~= got then return nil, false end
  -- Far out a step is no neighbourhood: only NaN and infinities are wrong.
  if math.abs(values[k]) > 1e3 and finite(got) then return nil, true end
  local off = 1e-3 * (1 + math.abs(left) + math.abs(right))
  if got >= math.min(left, right) - off
    and got <= math.max(left, right) + off then return nil, true end
  return ("derivative %d at (%s) in argument %d: %s, slopes %g and %g"):format(
    which, table.concat(values, ", "), k, got, left, right), true
end

local function check_all(f, grid, arity, nan)
  local bad, compared = {}, 0
  local function try(values)
    for k = 1, arity do
      for which = 1, 2 do
        local why, done = fault(f, values, k, which, nan)
        if why then bad[#bad + 1] = why end
        if done then compared = compared + 1 end
      end
    end
  end
  for _, a in ipairs(grid) do
    if arity == 1 then try{a} end
    for _, b in ipairs(arity == 2 and grid or {}) do try{a, b} end
  end
  return bad, compared
end

local ONE = "^[%w_]+%(Tensor self[^T]*%) %-> Tensor$"
local TWO = "^[%w_]+%(Tensor %w+, Tensor %w+[^T]*%) %-> Tensor$"

-- Can it be called with one-element tensors, for one such result?
local function usable(f, arity)
  local ok, y = pcall(f, leaf(0.5), arity == 2 and leaf(0.25) or nil)
  return ok and type(y) == "userdata" and y:numel() == 1
    and y.dtype == "float64" and y.requires_grad
end

describe("derivatives at special points", function()
  local compared = 0
  for _, op in ipairs(la.operations()) do
    local arity = op.signature:find(ONE) and 1 or op.signature:find(TWO) and 2
    local plain = la[op.name] and op.differentiable and not op.metadata
    if arity and plain and not SKIPPED[op.name] then
      local extra = EXTRAS[op.name] or {}
      local function f(a, b)
        if arity == 1 then return la[op.name](a, table.unpack(extra)) end
        if SECOND[op.name] then a = a:detach() end
        return la[op.name](a, b, table.unpack(extra))
      end
      if usable(f, arity) then
        it("of " .. op.row, function()
          local bad, n = check_all(f, arity == 1 and POINTS or PAIRS, arity,
            NAN[op.name])
          compared = compared + n
          assert(#bad == 0, #bad .. ": " .. table.concat(bad, "\n  ", 1,
            math.min(#bad, 6)))
        end)
      end
    end
  end

  it("were compared at thousands of points", function()
    assert.is_true(compared > 8000, compared)
  end)
end)

-- Values of PyTorch, where more than one would be right.
local INF, NaN = math.huge, 0 / 0

local function grads(f, ...)
  local leaves, out = {}, {}
  for i, list in ipairs{...} do
    leaves[i] = la.tensor(list, {dtype = "float64"}):requires_grad_()
  end
  f(table.unpack(leaves)):sum():backward()
  for i, x in ipairs(leaves) do out[i] = x.grad:totable() end
  return out
end

local function second(f, list)
  local x = la.tensor(list, {dtype = "float64"}):requires_grad_()
  local g = la.grad(f(x):sum(), x, {create_graph = true})
  return la.grad(g:sum(), x):totable()
end

describe("the gradient at", function()
  it("a limit that is a number is 0, at a tensor half", function()
    local x = {0.0, 1.0, 2.0, 3.0}
    assert.are.same({{0.0, 0.0, 1.0, 1.0}},
      grads(function(v) return v:clamp_min(1) end, x))
    assert.are.same({{1.0, 0.0, 0.0, 0.0}},
      grads(function(v) return v:clamp_max(1) end, x))
    assert.are.same({{0.0, 0.0, 1.0, 0.0}},
      grads(function(v) return v:clamp(1, 3) end, x))
    local ones, threes = {1.0, 1.0, 1.0, 1.0}, {3.0, 3.0, 3.0, 3.0}
    assert.are.same({{0.0, 0.5, 1.0, 1.0}, {1.0, 0.5, 0.0, 0.0}},
      grads(la.clamp_min, x, ones))
    assert.are.same({{1.0, 0.5, 0.0, 0.0}, {0.0, 0.5, 1.0, 1.0}},
      grads(la.clamp_max, x, ones))
    assert.are.same({{0.0, 0.5, 1.0, 0.5}, {1.0, 0.5, 0.0, 0.0},
      {0.0, 0.0, 0.0, 0.5}}, grads(la.clamp, x, ones, threes))
    assert.are.same({{0.0, 1.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0},
      {0.0, 0.0, 1.0, 1.0}}, grads(la.clamp, x, ones, ones))
    assert.are.same({{0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0},
      {1.0, 1.0, 1.0, 1.0}}, grads(la.clamp, x, threes, ones))
  end)

  it("a tie is divided", function()
    for _, f in ipairs{la.maximum, la.minimum, la.fmax, la.fmin} do
      assert.are.same({{0.5}, {0.5}}, grads(f, {1.0}, {1.0}))
    end
    assert.are.same({{1.0, 0.0}, {0.0, 1.0}},
      grads(la.fmax, {1.0, NaN}, {NaN, 1.0}))
  end)

  it("the ends of hardswish is that of the outer piece", function()
    assert.are.same({{0.0, 1.0}}, grads(la.hardswish, {-3.0, 3.0}))
  end)

  it("NaN passes through pieces", function()
    for _, name in ipairs{"relu", "threshold", "hardtanh", "hardshrink",
      "softshrink"} do
      local extra = EXTRAS[name] or {}
      assert.are.same({{1.0}}, grads(function(x)
        return la[name](x, table.unpack(extra))
      end, {NaN}), name)
    end
    assert.are_not.equal(grads(la.logit, {1.5})[1][1], 0.0)
  end)

  it("infinities of logaddexp goes to the larger operand", function()
    for _, name in ipairs{"logaddexp", "logaddexp2"} do
      assert.are.same({{0.0, 0.0, 1.0, 0.5, 0.5}, {1.0, 1.0, 0.0, 0.5, 0.5}},
        grads(la[name], {0.0, -INF, INF, INF, -INF}, {INF, 0.0, 0.0, INF,
          -INF}), name)
    end
  end)

  it("an infinite row of logsumexp", function()
    local g = grads(function(x) return x:logsumexp(1) end, {INF, 1.0, 2.0})
    assert.are_not.equal(g[1][1], g[1][1])
    assert.are.same({0.0, 0.0}, {g[1][2], g[1][3]})
  end)

  it("a complex power of a negative number", function()
    local e = la.tensor({la.complex(0, 1)}, {dtype = "complex128"})
    assert.is_true(la.gradcheck(function(z) return la.pow(-1.0, z) end,
      {e:requires_grad_()}))
  end)
end)

describe("second derivatives", function()
  it("of prod with several zeros", function()
    for _, list in ipairs{{0., 0., 3., .5}, {0., 2., 0., .5}, {0., 0., 0., 1.},
      {0., 0., 0., 0.}, {2., 0., 3., 1.}, {1., 2., 3., 4.}, {5.}} do
      for _, f in ipairs{function(x) return x:prod() end,
        function(x) return x:prod(1) end,
        function(x) return x:unsqueeze(2):prod(1, true) end} do
        local x = la.tensor(list, {dtype = "float64"}):requires_grad_()
        assert.is_true(la.gradcheck(f, {x}))
        assert.is_true(la.gradgradcheck(f, {x}))
      end
    end
    assert.are.same({1.5, 1.5, 0.0, 0.0},
      second(function(x) return x:prod() end, {0., 0., 3., .5}))
    for _, v in ipairs{0.0, 1e-300, 1e-160, 3.0, 1e200} do
      for _, dim in ipairs{false, 1} do
        local y, g, h = evaluate(function(x) return x:prod(dim or nil) end,
          {v}, 1)
        assert.are.same({v, 1.0, 0.0}, {y, g, h})
      end
    end
  end)

  it("of rows with zeros and ties", function()
    local rows = {{0., 0., 3., .5}, {1., 1., 2., 2.}, {-3., 3., 1., 0.1}}
    local calls = {
      function(x) return la.linalg.vector_norm(x, 2.0, 1) end,
      function(x) return la.linalg.vector_norm(x, 3.0, 1) end,
      function(x) return x:cumprod(1) end,
      function(x) return x:logsumexp(1) end,
      function(x) return x:logcumsumexp(1) end,
      function(x) return x:std(1) end, function(x) return x:var(1) end,
      function(x) return x:softmax(1) end,
      function(x) return x:log_softmax(1) end,
      function(x) return la.normalize(x, 2.0, 1) end,
    }
    for _, list in ipairs(rows) do
      for n, f in ipairs(calls) do
        local x = la.tensor(list, {dtype = "float64"}):requires_grad_()
        assert.is_true(la.gradgradcheck(f, {x}), n)
      end
    end
  end)

  it("of a function with slope 0 are zeros, not missing", function()
    for _, name in ipairs{"relu", "threshold", "leaky_relu", "hardtanh",
      "hardshrink", "softshrink", "hardsigmoid"} do
      assert.are.same({0.0, 0.0, 0.0}, second(function(x)
        return la[name](x, table.unpack(EXTRAS[name] or {}))
      end, {-1.5, 0.25, 9.0}), name)
    end
  end)
end)

describe("the result of an operation that saves operands", function()
  it("may be changed in place", function()
    for _, f in ipairs{la.div, la.logaddexp, la.logaddexp2} do
      local a, b = leaf(0.5), leaf(0.25)
      local y = f(a, b)
      local both = grads(f, {0.5}, {0.25})
      local want = {both[1][1], both[2][1]}
      y:add_(1)
      y:sum():backward()
      assert.are.same(want, {a.grad:item(), b.grad:item()})
    end
    local x = leaf(0.5)
    local y = x:erfinv()
    y:mul_(2)
    y:sum():backward()
    assert.is_true(math.abs(x.grad:item() - 2.2252) < 1e-3)
  end)
end)
