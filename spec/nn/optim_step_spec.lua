-- The operations of the optimisers: one step in place.
local la = require "lunarray"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"
local data = require "lunarray.data"

local F64 = {dtype = "float64"}

local function near(a, b, eps)
  assert.is_true(la.allclose(a, b, {rtol = eps or 1e-12, atol = eps or 1e-12}),
    tostring(a) .. " against " .. tostring(b))
end

-- The rules with tensor operations: (parameter, gradient, states) to the new
-- parameter and states, by PyTorch's documentation.
local rules = {}

rules.sgd_step_ = {states = 1, args = {0.1, 0.9, 0.25, 0.01, true, true, false},
  by_hand = function(p, g, b)
    g = -g + 0.01 * p
    b = 0.9 * b + 0.75 * g
    return p - 0.1 * (g + 0.9 * b), b
  end}

rules.adam_step_ = {states = 3, args = {3, 0.1, 0.8, 0.9, 1e-3, 0.02},
  by_hand = function(p, g, m, v, top)
    g = g + 0.02 * p
    m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g * g
    top = la.maximum(top, v)
    local root = (top / (1 - 0.9 ^ 3)):sqrt() + 1e-3
    return p - 0.1 * (m / (1 - 0.8 ^ 3)) / root, m, v, top
  end}

rules.rmsprop_step_ = {states = 3, args = {0.1, 0.9, 1e-3, 0.02, 0.5},
  by_hand = function(p, g, v, m, b)
    g = g + 0.02 * p
    v, m = 0.9 * v + 0.1 * g * g, 0.9 * m + 0.1 * g
    b = 0.5 * b + g / ((v - m * m):sqrt() + 1e-3)
    return p - 0.1 * b, v, m, b
  end}

rules.adagrad_step_ = {states = 1,
  args = {0.3, 1e-3, 0.02, true, 0.5, 5},      -- a rate of 0.3 / 3
  by_hand = function(p, g, s)
    g = -g + 0.02 * p
    s = s + g * g
    return p - 0.1 * g / (s:sqrt() + 1e-3), s
  end}

-- Parameter, gradient and states; squares are large enough for every root.
local function operands(rule, make)
  local list = {make(), make()}
  for k = 1, rule.states do list[k + 2] = make():abs_():add_(2) end
  list[3]:add_(50)
  return list
end

local function step(name, list)
  local args = {}
  for k, t in ipairs(list) do args[k] = t end
  for _, v in ipairs(rules[name].args) do args[#args + 1] = v end
  return la[name](table.unpack(args))
end

-- One step of tensors made by 'make' against the rule by hand.
local function check(name, make, eps)
  local rule = rules[name]
  local list, copies = operands(rule, make), {}
  for k, t in ipairs(list) do copies[k] = t:clone() end
  local wanted = {rule.by_hand(table.unpack(copies))}
  local result = step(name, list)
  assert.is_true(rawequal(result, list[1]))
  near(list[1], wanted[1], eps)
  for k = 1, rule.states do near(list[k + 2], wanted[k + 1], eps) end
  assert.is_true(list[2] == copies[2])
end

describe("optimiser steps", function()
  for name in pairs(rules) do
    it(name .. " is its formula, whatever the layout", function()
      la.manual_seed(1)
      check(name, function() return la.randn(5, 7, F64) end)
      check(name, function() return la.randn(70000, F64) end)
      check(name, function() return la.randn(F64) end)
      check(name, function() return la.randn(0, 3, F64) end)
      check(name, function() return la.randn(5, 7, F64):t() end)
      check(name, function() return la.randn(5, 14, F64)[{{}, {1, 14, 2}}] end)
      -- Layouts that differ within one call.
      local odd = false
      check(name, function()
        odd = not odd
        return odd and la.randn(4, 6, F64) or la.randn(6, 4, F64):t()
      end)
      check(name, function() return la.randn(33) end, 1e-5)
      check(name, function() return la.randn(33):bfloat16() end, 0.1)
      check(name, function() return la.randn(33):half() end, 2e-2)
    end)

    it(name .. " gives the same bits at every position", function()
      la.manual_seed(2)
      local rule = rules[name]
      for _, dtype in ipairs{"float32", "float64", "float16"} do
        local list = operands(rule, function()
          return la.randn(45):to(dtype)
        end)
        local single = {}
        for k, t in ipairs(list) do single[k] = t:clone() end
        step(name, list)
        for i = 1, 45 do
          local part = {}
          for k, t in ipairs(single) do part[k] = t[{{i, i}}] end
          step(name, part)
        end
        for k = 1, #list do assert.is_true(list[k] == single[k], dtype) end
      end
    end)

    it(name .. " refuses what does not fit", function()
      local rule = rules[name]
      local function refuses(text, change)
        local list = operands(rule, function() return la.randn(3, 2) end)
        change(list)
        local versions = list[1]:clone()
        local ok, why = pcall(step, name, list)
        assert.is_false(ok)
        assert.is_truthy(why:find(text, 1, true), why)
        assert.is_true(list[1] == versions)
      end
      refuses("shape [3, 2] is expected, got [2]", function(l)
        l[2] = la.randn(2)
      end)
      refuses("dtype float32 is expected, got float64", function(l)
        l[3] = l[3]:double()
      end)
      refuses("shares memory with argument", function(l) l[3] = l[1] end)
      refuses("shares memory with argument", function(l) l[2] = l[3] end)
      refuses("single memory location", function(l)
        l[3] = la.ones(1, 2):expand(3, 2)
      end)
      local list = operands(rule, function() return la.ones(2):long() end)
      assert.is_false((pcall(step, name, list)))
    end)
  end

  it("take complex numbers as pairs", function()
    la.manual_seed(3)
    local z = la.randn(9, {dtype = "complex128"})
    local g = la.randn(9, {dtype = "complex128"})
    local m, v = la.zeros_like(z), la.zeros_like(z)
    local zr, gr = la.view_as_real(z):clone(), la.view_as_real(g):clone()
    local mr, vr = la.zeros_like(zr), la.zeros_like(zr)
    for k = 1, 3 do
      la.adam_step_(z, g, m, v, nil, k, 0.1)
      la.adam_step_(zr, gr, mr, vr, nil, k, 0.1)
    end
    assert.is_true(la.view_as_real(z) == zr)
    -- A gradient that is conjugated lazily.
    local w = la.zeros(9, {dtype = "complex128"})
    la.sgd_step_(w, g:conj(), nil, 1)
    assert.is_true(w == -(g:conj():resolve_conj()))
  end)

  it("count as changes of what they write", function()
    local p, g, b = la.ones(2), la.ones(2), la.zeros(2)
    local versions = {p._version, g._version, b._version}
    la.sgd_step_(p, g, b, 0.1, 0.9)
    assert.is_true(p._version > versions[1])
    assert.are.equal(versions[2], g._version)
    assert.is_true(b._version > versions[3])
    local w = la.ones(2, {requires_grad = true})
    local loss = (w * w):sum()
    la.no_grad(function() la.sgd_step_(w, g, nil, 0.1) end)
    assert.is_false((pcall(loss.backward, loss)))
    assert.is_false((pcall(la.sgd_step_, w, g, nil, 0.1)))
  end)

  it("skip NaN nowhere", function()
    local p, top = la.ones(3), la.ones(3)
    local g = la.tensor{0 / 0, 1, 1}
    la.adam_step_(p, g, la.zeros(3), la.zeros(3), top, 1)
    assert.are.same({true, false, false}, p:isnan():totable())
    assert.are.same({true, false, false}, top:isnan():totable())
  end)
end)

describe("a training step", function()
  local function net_and_batch()
    la.manual_seed(4)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)),
      la.randn(5, 6), la.randint(1, 3, {5})
  end

  local makers = {
    SGD = {momentum = 0.9, weight_decay = 1e-3, nesterov = true},
    Adam = {amsgrad = true, weight_decay = 1e-3}, AdamW = {},
    RMSprop = {centered = true, momentum = 0.5}, Adagrad = {lr_decay = 0.1},
  }
  for name, options in pairs(makers) do
    it("of " .. name .. " allocates nothing after the first", function()
      local net, x, y = net_and_batch()
      local opt = optim[name](net:parameters(), options)
      la.cross_entropy(net(x), y):backward()
      opt:step()
      collectgarbage()
      collectgarbage "stop"
      local used = la.memory()
      for _ = 1, 50 do opt:step() end
      local after = la.memory()
      collectgarbage "restart"
      assert.are.equal(used, after)
    end)
  end

  it("leaves memory flat over 10,000 steps", function()
    local net, x, y = net_and_batch()
    local opt = optim.AdamW(net:parameters(), {lr = 1e-3})
    local g = la.Generator(1)
    local loader = data.DataLoader(data.TensorDataset(x, y), {batch_size = 2,
      shuffle = true, generator = g})
    local function epochs(n)
      for _ = 1, n do
        for xb, yb in loader:batches() do
          opt:zero_grad()
          la.cross_entropy(net(xb), yb):backward()
          opt:step()
        end
      end
      collectgarbage()
      collectgarbage()
      return la.memory(), collectgarbage "count"
    end
    epochs(20)
    local used, lua = epochs(20)
    local used_after, lua_after = epochs(3334)
    assert.is_true(used_after <= used + 4096, used .. " to " .. used_after)
    assert.is_true(lua_after <= lua + 64, lua .. " to " .. lua_after)
  end)
end)
