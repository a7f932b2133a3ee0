-- Gradients that are one element, repeated (what the backward pass of a sum
-- begins with), in chains and in the kernels of norms; results that nobody
-- reads.
local la = require "lunarray"

local function grad_of(f)
  return function(...)
    local leaves = {...}
    for k, x in ipairs(leaves) do leaves[k] = x:detach():requires_grad_() end
    return la.grad(f(table.unpack(leaves)):sum(), leaves)
  end
end

local function same(a, b)
  assert.equal(#a, #b)
  for k in ipairs(a) do assert.is_true(la.equal(a[k], b[k])) end
end

describe("a repeated gradient", function()
  it("is a part of the walk over memory", function()
    local f = grad_of(function(x, y) return ((x * 1.5 + y) * y - x):tanh() end)
    local step = la.compile(f)
    for _, sizes in ipairs{{2000}, {40, 50}, {3, 1, 700}, {1}, {0}, {}} do
      local x, y = la.randn(sizes), la.randn(sizes)
      for _ = 1, 3 do same({step(x, y)}, {f(x, y)}) end
    end
    step(la.randn(2000), la.randn(2000))
    local _, walks = step:explain():gsub("one walk over memory", "")
    assert.equal(1, walks)
  end)

  it("has the order of the other operands", function()
    local f = grad_of(function(x, y) return (x:t() * y:t() + 1):tanh() end)
    local step = la.compile(f)
    local x, y = la.randn(40, 50), la.randn(40, 50)
    for _ = 1, 3 do
      local got, want = {step(x, y)}, {f(x, y)}
      same(got, want)
      for k in ipairs(got) do
        assert.same(want[k]:stride(), got[k]:stride())
      end
    end
  end)

  it("gives norms the gradients that whole rows give", function()
    for _, dtype in ipairs{"float32", "float64", "bfloat16"} do
      local x = la.randn(6, 5, 40):to(dtype):requires_grad_()
      local w = la.randn(40):to(dtype):requires_grad_()
      local b = la.randn(40):to(dtype):requires_grad_()
      local u = la.randn(5, 40):to(dtype)
      local v = la.randn(6, 1, 40):to(dtype)
      for _, leaves in ipairs{{x}, {x, w}, {x, b}, {x, w, b}} do
        local weighs, shifts
        for _, t in ipairs(leaves) do
          weighs, shifts = weighs or t == w, shifts or t == b
        end
        local y = la.layer_norm(x, {40}, weighs and w or nil,
          shifts and b or nil)
        local z = la.rms_norm(x, {40}, weighs and w or nil)
        for _, g in ipairs{la.ones({}, {dtype = dtype}), u[1], u, v} do
          local flat = g:expand{6, 5, 40}
          for n, out in ipairs{y, z} do
            local of = {}
            for _, t in ipairs(leaves) do
              if n == 1 or t ~= b then of[#of + 1] = t end
            end
            local function grads(g_out)
              return {la.grad(out, of, {grad_outputs = g_out,
                retain_graph = true})}
            end
            same(grads(flat), grads(flat:contiguous()))
          end
        end
      end
    end
  end)
end)

describe("results that nobody reads", function()
  it("are not needed by those that somebody reads", function()
    for _, norm in ipairs{
      function(x, w) return la.layer_norm(x, {40}, w) end,
      function(x, w) return la.rms_norm(x, {40}, w) end} do
      for _, keeps in ipairs{false, true} do
        local g = grad_of(function(x, w)
          local y = norm(x, w)
          return keeps and y * y or y
        end)
        local step = la.compile(g)
        local x, w = la.randn(300, 40), la.randn(40)
        for _ = 1, 3 do same({step(x, w)}, {g(x, w)}) end
      end
    end
  end)

  it("of calls that repeat one another are read by whom either has", function()
    local function f(x)
      local a, i = x:max(2)
      local b, k = x:max(2)
      local _, mean = la.native_layer_norm(x, {40})
      local y = la.native_layer_norm(x, {40})
      return a, k, mean, y, i + 1, b * 2
    end
    local step = la.compile(f)
    local x = la.randn(30, 40)
    for _ = 1, 3 do same({step(x)}, {f(x)}) end
  end)
end)
