-- Every schedule of the learning rate with many options against its recurrence
-- or its definition in PyTorch, step by step, and from a saved state.
local la = require "lunarray"
local optim = require "lunarray.optim"

local function optimizer(rate, options)
  local o = {lr = rate}
  for key, value in pairs(options or {}) do o[key] = value end
  local p = la.tensor({1.}, {requires_grad = true})
  return optim.SGD({p}, o), p
end

local function near(want, got, what)
  assert.is_true(math.abs(want - got) <= 1e-12 * math.max(1, math.abs(want)),
    ("%s: %.17g, not %.17g"):format(what, got, want))
end

-- want(base, k) after k steps, over 'count' of them; state taken at every one
-- and given to a new schedule.
local function follows(name, options, want, count)
  for _, base in ipairs {1, 0.3} do
    local opt = optimizer(base)
    local s = optim[name](opt, options)
    for k = 0, count or 25 do
      near(want(base, k), opt.param_groups[1].lr, name .. " at " .. k)
      near(opt.param_groups[1].lr, s:get_last_lr()[1], name)
      local other = optimizer(base)
      local copy = optim[name](other, options)
      copy:load_state_dict(s:state_dict())
      near(opt.param_groups[1].lr, other.param_groups[1].lr, name)
      s:step()
    end
  end
end

describe("the schedule", function()
  it("StepLR", function()
    for size = 1, 4 do
      for _, gamma in ipairs {0.1, 0.5, 2} do
        follows("StepLR", {step_size = size, gamma = gamma},
          function(base, k)
            for i = 1, k do if i % size == 0 then base = base * gamma end end
            return base
          end)
      end
    end
  end)

  it("MultiStepLR", function()
    for _, at in ipairs {{1}, {3, 4}, {2, 2, 9}, {5, 10, 20}} do
      follows("MultiStepLR", {milestones = at, gamma = 0.5},
        function(base, k)
          for _, m in ipairs(at) do if m <= k then base = base * 0.5 end end
          return base
        end)
    end
  end)

  it("ExponentialLR, LambdaLR and MultiplicativeLR", function()
    follows("ExponentialLR", {gamma = 0.7}, function(base, k)
      return base * 0.7 ^ k
    end)
    follows("LambdaLR", {lr_lambda = function(k) return 1 / (k + 1) end},
      function(base, k) return base / (k + 1) end)
    follows("MultiplicativeLR", {lr_lambda = function(k)
      return k % 2 == 0 and 0.5 or 0.9
    end}, function(base, k)
      return base * 0.5 ^ (k // 2) * 0.9 ^ ((k + 1) // 2)
    end)
  end)

  it("ConstantLR, LinearLR and PolynomialLR", function()
    for total = 1, 6 do
      follows("ConstantLR", {factor = 0.25, total_iters = total},
        function(base, k) return k < total and base / 4 or base end)
      follows("LinearLR", {start_factor = 0.5, end_factor = 0.75,
        total_iters = total}, function(base, k)
          local part = k < total and k / total or 1
          return base * (0.5 + 0.25 * part)
        end)
      for power = 1, 3 do
        follows("PolynomialLR", {total_iters = total, power = power},
          function(base, k)
            return k >= total and 0 or base * ((total - k) / total) ^ power
          end)
      end
    end
  end)

  it("CosineAnnealingLR and its restarts", function()
    for top = 1, 6 do
      follows("CosineAnnealingLR", {T_max = top, eta_min = 0.05},
        function(base, k)
          return 0.05 + (base - 0.05) * (1 + math.cos(math.pi * k / top)) / 2
        end)
      for times = 1, 3 do
        follows("CosineAnnealingWarmRestarts", {T_0 = top, T_mult = times,
          eta_min = 0.01}, function(base, k)
            local length, at = top, 0
            for _ = 1, k do
              at = at + 1
              if at == length then at, length = 0, length * times end
            end
            return 0.01 + (base - 0.01)
              * (1 + math.cos(math.pi * at / length)) / 2
          end)
      end
    end
  end)

  it("SequentialLR", function()
    for first = 1, 4 do
      for second = first + 1, 6 do
        local opt = optimizer(1)
        local parts = {
          optim.ConstantLR(opt, {factor = 0.1, total_iters = 100}),
          optim.ExponentialLR(opt, {gamma = 0.5}),
          optim.ExponentialLR(opt, {gamma = 0.9})}
        local s = optim.SequentialLR(opt, {schedulers = parts,
          milestones = {first, second}})
        for k = 0, 10 do
          local want = 0.1
          if k >= second then want = 0.9 ^ (k - second)
          elseif k >= first then want = 0.5 ^ (k - first) end
          near(want, opt.param_groups[1].lr, "step " .. k)
          s:step()
        end
      end
    end
  end)
end)

describe("the cyclic schedule", function()
  -- PyTorch's: the cycle, and how far from its top.
  local function cyclic(o, k)
    local up, down = o.step_size_up, o.step_size_down or o.step_size_up
    local total = up + down
    local cycle = 1 + k // total
    local x = 1 + k / total - cycle
    local part = x <= up / total and x / (up / total)
      or (x - 1) / (up / total - 1)
    if o.mode == "triangular2" then part = part / 2 ^ (cycle - 1) end
    if o.mode == "exp_range" then part = part * o.gamma ^ k end
    return part
  end

  it("raises and lowers the rate, and the momentum the other way", function()
    for _, mode in ipairs {"triangular", "triangular2", "exp_range"} do
      for up = 1, 4 do
        for _, down in ipairs {up, up + 1, 1} do
          for _, momentum in ipairs {true, false} do
            local o = {base_lr = 0.1, max_lr = 0.9, step_size_up = up,
              step_size_down = down, mode = mode, gamma = 0.9,
              base_momentum = 0.5, max_momentum = 0.8,
              cycle_momentum = momentum}
            local opt = optimizer(0.7, {momentum = 0.65})
            local s = optim.CyclicLR(opt, o)
            for k = 0, 25 do
              local part = cyclic(o, k)
              local group = opt.param_groups[1]
              near(0.1 + 0.8 * part, group.lr, mode .. " at " .. k)
              near(momentum and 0.8 - 0.3 * part or 0.65, group.momentum,
                mode .. "'s momentum at " .. k)
              s:step()
            end
          end
        end
      end
    end
  end)
end)

describe("one cycle", function()
  local function between(from, to, part, linear)
    if linear then return from + (to - from) * part end
    return to + (from - to) / 2 * (1 + math.cos(math.pi * part))
  end

  -- PyTorch's phases: {end, rates, momenta}.
  local function phases(o)
    local first = o.max_lr / o.div_factor
    local last = first / o.final_div_factor
    local top = o.pct_start * o.total_steps - 1
    if o.three_phase then
      return {{top, first, o.max_lr, 0.95, 0.85},
        {2 * o.pct_start * o.total_steps - 2, o.max_lr, first, 0.85, 0.95},
        {o.total_steps - 1, first, last, 0.95, 0.95}}
    end
    return {{top, first, o.max_lr, 0.95, 0.85},
            {o.total_steps - 1, o.max_lr, last, 0.85, 0.95}}
  end

  it("follows its phases", function()
    for _, three in ipairs {false, true} do
      for _, strategy in ipairs {"cos", "linear"} do
        for _, part in ipairs {0.25, 0.3, 0.4} do
          local o = {max_lr = 2, total_steps = 20, pct_start = part,
            anneal_strategy = strategy, div_factor = 10,
            final_div_factor = 100, three_phase = three}
          local opt = optimizer(1, {momentum = 0.9})
          local s = optim.OneCycleLR(opt, o)
          for k = 0, 19 do
            local from, got = 0, opt.param_groups[1]
            local list = phases(o)
            for n, p in ipairs(list) do
              if k <= p[1] or n == #list then
                local at = (k - from) / (p[1] - from)
                local linear = strategy == "linear"
                near(between(p[2], p[3], at, linear), got.lr, "rate " .. k)
                near(between(p[4], p[5], at, linear), got.momentum,
                  "momentum " .. k)
                break
              end
              from = p[1]
            end
            s:step()
          end
          assert.has_error(function() s:step() end)
        end
      end
    end
  end)

  it("counts epochs and steps, and moves Adam's first beta", function()
    local p = la.tensor({1.}, {requires_grad = true})
    local opt = optim.Adam({p}, {lr = 1, betas = {0.9, 0.99}})
    optim.OneCycleLR(opt, {max_lr = 1, epochs = 2, steps_per_epoch = 5})
    near(0.95, opt.param_groups[1].betas[1], "beta")
    assert.equal(0.99, opt.param_groups[1].betas[2])
    near(0.04, opt.param_groups[1].lr, "rate")
  end)
end)

describe("a plateau", function()
  local function better(o, value, best)
    if best == nil then return true end
    local sign = o.mode == "max" and -1 or 1
    if o.threshold_mode == "abs" then
      return sign * value < sign * best - o.threshold
    end
    if o.mode == "max" then return value > best * (1 + o.threshold) end
    return value < best * (1 - o.threshold)
  end

  -- PyTorch's step(), on the state 'r'.
  local function step(o, r, value)
    if better(o, value, r.best) then r.best, r.bad = value, 0
    else r.bad = r.bad + 1 end
    if r.cooldown > 0 then r.cooldown, r.bad = r.cooldown - 1, 0 end
    if r.bad > o.patience then
      local lr = math.max(r.lr * o.factor, o.min_lr)
      if r.lr - lr > o.eps then r.lr = lr end
      r.cooldown, r.bad = o.cooldown, 0
    end
  end

  it("lowers the rate, waits and cools down", function()
    la.manual_seed(2)
    for _, mode in ipairs {"min", "max"} do
      for _, kind in ipairs {"rel", "abs"} do
        for patience = 0, 3 do
          for cooldown = 0, 3 do
            for _, eps in ipairs {1e-8, 0.06} do
              local o = {mode = mode, threshold_mode = kind, factor = 0.5,
                patience = patience, cooldown = cooldown, threshold = 0.05,
                min_lr = 0.02, eps = eps}
              local opt = optimizer(1)
              local s = optim.ReduceLROnPlateau(opt, o)
              local r = {lr = 1, bad = 0, cooldown = 0}
              for k, value in ipairs(la.rand(40):add(0.5):totable()) do
                if k == 20 then
                  local copy = optim.ReduceLROnPlateau(opt, o)
                  copy:load_state_dict(s:state_dict())
                  s = copy
                end
                s:step(k % 2 == 0 and value or la.tensor(value))
                step(o, r, la.tensor(value):item())
                near(r.lr, opt.param_groups[1].lr, mode .. " at " .. k)
              end
            end
          end
        end
      end
    end
  end)
end)
