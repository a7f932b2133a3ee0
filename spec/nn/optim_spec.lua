-- Optimisers and schedules against their formulas, by hand in Lua numbers.
local la = require "lunarray"
local optim = require "lunarray.optim"

local function leaf(value)
  return la.tensor({value}, {dtype = "float64", requires_grad = true})
end

-- Fifty steps on (p - 3)^2; 'by_hand(state, p, g, k)' gives the next p.
local function follow(make, by_hand)
  local p, number, state = leaf(1), 1.0, {}
  local opt = make{p}
  for k = 1, 50 do
    opt:zero_grad()
    ;((p - 3) ^ 2):sum():backward()
    opt:step()
    number = by_hand(state, number, 2 * (number - 3), k)
    assert.is_true(math.abs(p:item() - number) < 1e-10,
      k .. ": " .. p:item() .. " against " .. number)
  end
end

describe("optimisers", function()
  it("SGD", function()
    follow(function(p) return optim.SGD(p, {lr = 0.1}) end,
      function(_, p, g) return p - 0.1 * g end)
    follow(function(p)
      return optim.SGD(p, {lr = 0.01, momentum = 0.9, weight_decay = 0.1,
        nesterov = true})
    end, function(s, p, g)
      g = g + 0.1 * p
      s.b = s.b and 0.9 * s.b + g or g
      return p - 0.01 * (g + 0.9 * s.b)
    end)
    follow(function(p)
      return optim.SGD(p, {lr = 0.01, momentum = 0.9, dampening = 0.5})
    end, function(s, p, g)
      s.b = s.b and 0.9 * s.b + 0.5 * g or g
      return p - 0.01 * s.b
    end)
  end)

  local function adam(s, p, g, k, lr)
    s.m = 0.9 * (s.m or 0) + 0.1 * g
    s.v = 0.999 * (s.v or 0) + 0.001 * g * g
    return p - lr * (s.m / (1 - 0.9 ^ k))
      / (math.sqrt(s.v / (1 - 0.999 ^ k)) + 1e-8)
  end

  it("Adam and AdamW", function()
    follow(function(p) return optim.Adam(p, {lr = 0.1, weight_decay = 0.2}) end,
      function(s, p, g, k) return adam(s, p, g + 0.2 * p, k, 0.1) end)
    follow(function(p) return optim.AdamW(p, {lr = 0.1}) end,
      function(s, p, g, k) return adam(s, p * (1 - 0.1 * 0.01), g, k, 0.1) end)
  end)

  it("RMSprop", function()
    follow(function(p)
      return optim.RMSprop(p, {lr = 0.01, centered = true, momentum = 0.5})
    end, function(s, p, g)
      s.v = 0.99 * (s.v or 0) + 0.01 * g * g
      s.m = 0.99 * (s.m or 0) + 0.01 * g
      s.b = 0.5 * (s.b or 0) + g / (math.sqrt(s.v - s.m * s.m) + 1e-8)
      return p - 0.01 * s.b
    end)
  end)

  it("Adagrad", function()
    follow(function(p) return optim.Adagrad(p, {lr = 0.1, lr_decay = 0.01}) end,
      function(s, p, g, k)
        s.v = (s.v or 0) + g * g
        return p - 0.1 / (1 + (k - 1) * 0.01) * g / (math.sqrt(s.v) + 1e-10)
      end)
  end)

  it("have groups with rates of their own", function()
    local a, b = leaf(1), leaf(1)
    local opt = optim.SGD({{params = {a}}, {params = {b}, lr = 0}}, {lr = 1})
    ;(a + b):sum():backward()
    opt:step()
    assert.are.equal(0, a:item())
    assert.are.equal(1, b:item())
    opt.param_groups[2].lr = 2
    opt:step()
    assert.are.equal(-1, b:item())
    assert.has_error(function() optim.SGD({a, a}, {lr = 1}) end)
    assert.has_error(function() optim.SGD({a}, {rate = 1}) end)
    assert.has_error(function() optim.SGD({}, {lr = 1}) end)
    assert.has_error(function() optim.SGD({a * 2}, {lr = 1}) end)
  end)

  it("go on from a saved state", function()
    local function run(p, opt, n)
      for _ = 1, n do
        opt:zero_grad()
        ;((p - 3) ^ 2):sum():backward()
        opt:step()
      end
    end
    local p, q = leaf(1), leaf(1)
    local a = optim.Adam({p}, {lr = 0.1})
    run(p, a, 5)
    la.no_grad(function() q:copy_(p) end)
    local b = optim.Adam{q}
    b:load_state_dict(a:state_dict())
    run(p, a, 5)
    run(q, b, 5)
    assert.are.equal(p:item(), q:item())
  end)

  it("keep memory flat", function()
    local p = la.ones(100, {requires_grad = true})
    local opt = optim.Adam({p}, {weight_decay = 0.1})
    local function step()
      opt:zero_grad()
      ;(p * p):sum():backward()
      opt:step()
    end
    for _ = 1, 50 do step() end
    collectgarbage() collectgarbage()
    local before = la.memory()
    for _ = 1, 1000 do step() end
    collectgarbage() collectgarbage()
    assert.is_true(la.memory() - before <= 4096)
  end)
end)

describe("schedules", function()
  local function rates(name, options, n)
    local opt = optim.SGD({leaf(1)}, {lr = 1})
    local s, out = optim[name](opt, options), {}
    for k = 1, n do
      out[k] = s:get_last_lr()[1]
      s:step()
    end
    return out
  end
  local function same(want, got)
    for k, v in ipairs(want) do
      assert.is_true(math.abs(v - got[k]) < 1e-12, k .. ": " .. got[k])
    end
  end

  it("follow their formulas", function()
    same({1, 1, 0.5, 0.5, 0.25}, rates("StepLR",
      {step_size = 2, gamma = 0.5}, 5))
    same({1, 0.1, 0.1, 0.01}, rates("MultiStepLR", {milestones = {1, 3}}, 4))
    same({1, 0.9, 0.81}, rates("ExponentialLR", {gamma = 0.9}, 3))
    same({1, 0.75, 0.5}, {rates("CosineAnnealingLR", {T_max = 3}, 4)[1],
      rates("CosineAnnealingLR", {T_max = 3}, 4)[2], 0.5})
    same({0.5, 0.75, 1, 1}, rates("LinearLR", {start_factor = 0.5,
      total_iters = 2}, 4))
    local cycle = rates("OneCycleLR", {max_lr = 1, total_steps = 10}, 10)
    assert.is_true(math.abs(cycle[1] - 0.04) < 1e-12)
    assert.is_true(math.abs(cycle[3] - 1) < 1e-12)
    assert.is_true(math.abs(cycle[10] - 4e-6) < 1e-12)
  end)

  it("lower the rate on a plateau", function()
    local opt = optim.SGD({leaf(1)}, {lr = 1})
    local s = optim.ReduceLROnPlateau(opt, {patience = 1, factor = 0.5})
    for _, loss in ipairs{3, 2, 2, 2} do s:step(loss) end
    assert.are.equal(0.5, s:get_last_lr()[1])
    s:step(1)
    assert.are.equal(0.5, opt.param_groups[1].lr)
  end)
end)

describe("the state of an optimizer", function()
  it("comes back from a file", function()
    for _, kind in ipairs{"Adam", "SGD", "RMSprop"} do
      local function make()
        la.manual_seed(3)
        local p = {la.rand(3), la.rand(2, 2)}
        for _, t in ipairs(p) do t:requires_grad_() end
        return p, optim[kind](p, {lr = 0.1, weight_decay = 0.01})
      end
      local function step(p, opt)
        opt:zero_grad()
        local loss = (p[1] ^ 2):sum() + (p[2] ^ 4):sum()
        loss:backward()
        opt:step()
      end
      local p, opt = make()
      for _ = 1, 3 do step(p, opt) end
      local path = os.tmpname() .. ".npz"
      la.save(opt:state_dict(), path)
      local q, again = make()
      for k = 1, 2 do q[k].data:copy_(p[k]:detach()) end
      again:load_state_dict(la.load(path))
      os.remove(path)
      assert.equal(0.1, again.param_groups[1].lr)
      for _ = 1, 2 do
        step(p, opt)
        step(q, again)
      end
      for k = 1, 2 do
        assert.is_true(la.equal(p[k]:detach(), q[k]:detach()), kind)
      end
    end
  end)

  it("is a table", function()
    local opt = optim.SGD({la.rand(2):requires_grad_()}, {lr = 1})
    assert.has_error(function() opt:load_state_dict(nil) end,
                     "load_state_dict: table expected, got nil")
  end)
end)

describe("options by position", function()
  -- Values in PyTorch's order; nil keeps the default.
  local calls = {
    {"SGD", {"lr", 0.1}, {"momentum", 0.9}, {"dampening", 0},
      {"weight_decay", 0.01}, {"nesterov", true}},
    {"Adam", {"lr", 0.1}, {"betas", {0.5, 0.6}}, {"eps", 1e-3},
      {"weight_decay", 0.1}, {"amsgrad", true}},
    {"AdamW", {"lr", 0.1}, {"betas", {0.5, 0.6}}, {"eps", 1e-3},
      {"weight_decay", 0.1}, {"amsgrad", true}},
    {"RMSprop", {"lr", 0.1}, {"alpha", 0.9}, {"eps", 1e-3},
      {"weight_decay", 0.1}, {"momentum", 0.5}, {"centered", true}},
    {"Adagrad", {"lr", 0.1}, {"lr_decay", 0.1}, {"weight_decay", 0.1},
      {"initial_accumulator_value", 1}, {"eps", 1e-3}},
    {"LBFGS", {"lr", 0.1}, {"max_iter", 3}, {"max_eval", 4},
      {"tolerance_grad", 1e-3}, {"tolerance_change", 1e-4},
      {"history_size", 5}, {"line_search_fn", "strong_wolfe"}},
    {"StepLR", {"step_size", 3}, {"gamma", 0.5}},
    {"MultiStepLR", {"milestones", {2, 4}}, {"gamma", 0.5}},
    {"ConstantLR", {"factor", 0.5}, {"total_iters", 3}},
    {"LinearLR", {"start_factor", 0.5}, {"end_factor", 0.9},
      {"total_iters", 3}},
    {"ExponentialLR", {"gamma", 0.5}},
    {"PolynomialLR", {"total_iters", 3}, {"power", 2}},
    {"CosineAnnealingLR", {"T_max", 4}, {"eta_min", 0.01}},
    {"CosineAnnealingWarmRestarts", {"T_0", 2}, {"T_mult", 2},
      {"eta_min", 0.01}},
    {"LambdaLR", {"lr_lambda", function(k) return 0.5 ^ k end}},
    {"MultiplicativeLR", {"lr_lambda", {function() return 0.5 end}}},
    {"CyclicLR", {"base_lr", 0.1}, {"max_lr", 0.5}, {"step_size_up", 3},
      {"step_size_down", 2}, {"mode", "exp_range"}, {"gamma", 0.9},
      {"scale_fn", math.abs}, {"scale_mode", "iterations"},
      {"cycle_momentum", true}, {"base_momentum", 0.7}, {"max_momentum", 0.8}},
    {"OneCycleLR", {"max_lr", 0.5}, {"total_steps", 9}, {"epochs", 3},
      {"steps_per_epoch", 3}, {"pct_start", 0.4},
      {"anneal_strategy", "linear"}, {"cycle_momentum", true},
      {"base_momentum", 0.7}, {"max_momentum", 0.8}, {"div_factor", 10},
      {"final_div_factor", 100}, {"three_phase", true}},
    {"ReduceLROnPlateau", {"mode", "max"}, {"factor", 0.5}, {"patience", 0},
      {"threshold", 0.1}, {"threshold_mode", "abs"}, {"cooldown", 1},
      {"min_lr", 0.01}, {"eps", 1e-6}},
  }

  local function first(name)
    local p = leaf(1)
    if name:find "LR" or name:find "Restarts" then
      return optim.SGD({p}, {lr = 1, momentum = 0.9})
    end
    return {p}
  end

  local function options_of(made)
    return made.options or made.param_groups[1]
  end

  for _, call in ipairs(calls) do
    local name = call[1]
    it("are PyTorch's: " .. name, function()
      for n = 1, #call - 1 do
        local list, named = {}, {}
        for k = 1, n do
          list[k] = call[k + 1][2]
          named[call[k + 1][1]] = call[k + 1][2]
        end
        -- What is needed and comes later goes by name in both.
        local more = {}
        for k = n + 1, #call - 1 do
          if pcall(optim[name], first(name), named) then break end
          more[call[k + 1][1]] = call[k + 1][2]
          named[call[k + 1][1]] = call[k + 1][2]
        end
        list[n + 1] = next(more) and more or nil
        local want = options_of(optim[name](first(name), named))
        local got = options_of(optim[name](first(name),
          table.unpack(list, 1, n + 1)))
        for key, value in pairs(want) do
          if key ~= "params" then assert.same(value, got[key], key) end
        end
      end
      local list = {}
      for k = 1, #call do list[k] = 0.5 end
      assert.error_matches(function()
        optim[name](first(name), table.unpack(list, 1, #call))
      end, "too many arguments", 1, true)
    end)
  end

  it("say what they expect, and blame the caller", function()
    local opt = optim.SGD({leaf(1)}, 0.5)
    for _, case in ipairs {
      {"StepLR: step_size: number expected, got string", "StepLR", opt, "x"},
      {"StepLR: gamma: number expected, got table", "StepLR", opt, 1, {1}},
      {"StepLR: optimizer expected first, got number", "StepLR", 3},
      {"ReduceLROnPlateau: optimizer expected first", "ReduceLROnPlateau", 3},
      {"LambdaLR: lr_lambda: function or table expected", "LambdaLR", opt, 1},
      {"MultiStepLR: milestones: table expected, got number", "MultiStepLR",
        opt, 3},
      {"SGD: lr: number expected, got string", "SGD", {leaf(1)}, "x"},
      {"Adam: betas: table expected, got number", "Adam", {leaf(1)}, 1, 0.9},
      {"CyclicLR: scale_fn: function expected, got number", "CyclicLR",
        optim.SGD({leaf(1)}, 1, 0.9), 0.1, 1, 2, 2, "triangular", 1, 3},
    } do
      local ok, message = pcall(function()
        optim[case[2]](table.unpack(case, 3))
      end)
      assert.is_false(ok)
      assert.truthy(message:find(case[1], 1, true), message)
      assert.truthy(message:find("optim_spec.lua", 1, true), message)
    end
  end)

  it("scale the cycles of CyclicLR", function()
    for mode, want in pairs {cycle = {0.1, 0.35, 0.6, 0.35, 0.1, 0.225, 0.35},
      iterations = {0.1, 0.6, 0.6, 0.1 + 0.5 / 3, 0.1, 0.2, 0.1 + 1 / 6}} do
      local opt = optim.SGD({leaf(1)}, 1, 0.9)
      local schedule = optim.CyclicLR(opt, 0.1, 1.1, 2, nil, "triangular", 1,
        function(n) return mode == "cycle" and 2 ^ -n or 1 / math.max(n, 1) end,
        mode)
      for k, lr in ipairs(want) do
        assert.is_true(math.abs(lr - opt.param_groups[1].lr) < 1e-12, mode .. k)
        schedule:step()
      end
    end
  end)

  it("may be a list of functions, one for each group", function()
    local opt = optim.SGD{{params = {leaf(1)}, lr = 1},
      {params = {leaf(1)}, lr = 1}}
    local schedule = optim.LambdaLR(opt, {function() return 0.5 end,
      function() return 0.25 end})
    assert.same({0.5, 0.25}, schedule:get_last_lr())
  end)
end)
