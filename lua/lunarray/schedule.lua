-- lunarray.schedule: the schedulers of lunarray.optim. Each sets the learning
-- rate of the optimiser's groups when it is made and at every step().

local Scheduler = {}

function Scheduler:get_last_lr()
  local rates = {}
  for k, group in ipairs(self.optimizer.param_groups) do rates[k] = group.lr end
  return rates
end

local function set(self)
  for k, group in ipairs(self.optimizer.param_groups) do
    group.lr = self.rate(self, self.base_lrs[k], self.last_epoch, k)
  end
end

function Scheduler:step()
  self.last_epoch = self.last_epoch + 1
  set(self)
end

function Scheduler:state_dict()
  return {last_epoch = self.last_epoch,
    base_lrs = {table.unpack(self.base_lrs)}}
end

function Scheduler:load_state_dict(state)
  self.last_epoch = state.last_epoch
  self.base_lrs = {table.unpack(state.base_lrs)}
  set(self)
end

local function read_options(name, names, defaults, options)
  local known = {}
  for _, key in ipairs(names) do known[key] = true end
  for key in pairs(options or {}) do
    if not known[key] then
      error(string.format("%s: unknown option '%s' (known: %s)", name,
        tostring(key), table.concat(names, ", ")), 3)
    end
  end
  local out = {}
  for _, key in ipairs(names) do
    out[key] = options and options[key]
    if out[key] == nil then out[key] = defaults[key] end
    if out[key] == nil and defaults[key] == nil and defaults["!" .. key] then
      error(name .. ": " .. key .. " is needed", 3)
    end
  end
  return out
end

-- rate(self, base, epoch, group) is the learning rate after 'epoch' steps.
local function define(optim, name, names, defaults, rate, prepare)
  optim[name] = function(optimizer, options)
    local o = read_options(name, names, defaults, options)
    local self = setmetatable({optimizer = optimizer, options = o,
      rate = rate, last_epoch = 0, base_lrs = {}},
      {__index = Scheduler, __name = "optim." .. name})
    for k, group in ipairs(optimizer.param_groups) do
      self.base_lrs[k] = group.lr
    end
    if prepare then prepare(self, o) end
    set(self)
    return self
  end
end

local function cosine(from, to, part)
  return to + (from - to) * (1 + math.cos(math.pi * part)) / 2
end

local function linear(from, to, part) return from + (to - from) * part end

-- ---- one cycle ----

local function cycle_total(self, o)
  self.total = o.total_steps
  if not self.total and o.epochs and o.steps_per_epoch then
    self.total = o.epochs * o.steps_per_epoch
  end
  if not self.total then
    error("OneCycleLR: total_steps, or epochs and steps_per_epoch, is needed",
      4)
  end
  self.anneal = o.anneal_strategy == "linear" and linear or cosine
end

local function cycle_rate(self, _, epoch)
  local o = self.options
  local first = o.max_lr / o.div_factor
  local last = first / o.final_div_factor
  if epoch > self.total then
    error("OneCycleLR: more steps than total_steps (" .. self.total .. ")", 3)
  end
  local top, bottom = o.pct_start * self.total - 1, self.total - 1
  if o.three_phase then
    local turn = 2 * o.pct_start * self.total - 2
    if epoch <= top then return self.anneal(first, o.max_lr, epoch / top) end
    if epoch <= turn then
      return self.anneal(o.max_lr, first, (epoch - top) / (turn - top))
    end
    return self.anneal(first, last, (epoch - turn) / (bottom - turn))
  end
  if epoch <= top then return self.anneal(first, o.max_lr, epoch / top) end
  return self.anneal(o.max_lr, last, (epoch - top) / (bottom - top))
end

-- ---- plateau ----

local Plateau = {}

local function better(self, value)
  local o, best = self.options, self.best
  if best == nil then return true end
  if o.threshold_mode == "abs" then
    if o.mode == "min" then return value < best - o.threshold end
    return value > best + o.threshold
  end
  if o.mode == "min" then return value < best * (1 - o.threshold) end
  return value > best * (1 + o.threshold)
end

local function reduce(self)
  local o = self.options
  for _, group in ipairs(self.optimizer.param_groups) do
    local lr = math.max(group.lr * o.factor, o.min_lr)
    if group.lr - lr > o.eps then group.lr = lr end
  end
end

-- 'value' is the quantity that is watched, a number or a one-element tensor.
function Plateau:step(value)
  if type(value) == "userdata" then value = value:item() end
  self.last_epoch = self.last_epoch + 1
  if better(self, value) then
    self.best, self.num_bad_epochs = value, 0
  else
    self.num_bad_epochs = self.num_bad_epochs + 1
  end
  if self.cooldown_counter > 0 then
    self.cooldown_counter = self.cooldown_counter - 1
    self.num_bad_epochs = 0
  end
  if self.num_bad_epochs > self.options.patience then
    reduce(self)
    self.cooldown_counter = self.options.cooldown
    self.num_bad_epochs = 0
  end
end

local plateau_state = {"last_epoch", "best", "num_bad_epochs",
  "cooldown_counter"}

function Plateau:state_dict()
  local out = {}
  for _, key in ipairs(plateau_state) do out[key] = self[key] end
  return out
end

function Plateau:load_state_dict(state)
  for _, key in ipairs(plateau_state) do self[key] = state[key] end
end

Plateau.get_last_lr = Scheduler.get_last_lr

local function plateau(optimizer, options)
  local o = read_options("ReduceLROnPlateau", {"mode", "factor", "patience",
    "threshold", "threshold_mode", "cooldown", "min_lr", "eps"},
    {mode = "min", factor = 0.1, patience = 10, threshold = 1e-4,
    threshold_mode = "rel", cooldown = 0, min_lr = 0, eps = 1e-8}, options)
  if o.factor >= 1 then
    error("ReduceLROnPlateau: Factor should be < 1.0", 2)
  end
  return setmetatable({optimizer = optimizer, options = o, last_epoch = 0,
    num_bad_epochs = 0, cooldown_counter = 0},
    {__index = Plateau, __name = "optim.ReduceLROnPlateau"})
end

return function(optim)
  define(optim, "StepLR", {"step_size", "gamma"},
    {gamma = 0.1, ["!step_size"] = true}, function(self, base, epoch)
      return base * self.options.gamma ^ (epoch // self.options.step_size)
    end)
  define(optim, "MultiStepLR", {"milestones", "gamma"},
    {gamma = 0.1, ["!milestones"] = true}, function(self, base, epoch)
      local passed = 0
      for _, at in ipairs(self.options.milestones) do
        if epoch >= at then passed = passed + 1 end
      end
      return base * self.options.gamma ^ passed
    end)
  define(optim, "ExponentialLR", {"gamma"}, {["!gamma"] = true},
    function(self, base, epoch) return base * self.options.gamma ^ epoch end)
  define(optim, "CosineAnnealingLR", {"T_max", "eta_min"},
    {eta_min = 0, ["!T_max"] = true}, function(self, base, epoch)
      return cosine(base, self.options.eta_min, epoch / self.options.T_max)
    end)
  define(optim, "LinearLR", {"start_factor", "end_factor", "total_iters"},
    {start_factor = 1 / 3, end_factor = 1, total_iters = 5},
    function(self, base, epoch)
      local o = self.options
      local part = math.min(epoch / o.total_iters, 1)
      return base * linear(o.start_factor, o.end_factor, part)
    end)
  define(optim, "LambdaLR", {"lr_lambda"}, {["!lr_lambda"] = true},
    function(self, base, epoch)
      return base * self.options.lr_lambda(epoch)
    end)
  define(optim, "OneCycleLR", {"max_lr", "total_steps", "epochs",
    "steps_per_epoch", "pct_start", "anneal_strategy", "div_factor",
    "final_div_factor", "three_phase"}, {pct_start = 0.3,
    anneal_strategy = "cos", div_factor = 25, final_div_factor = 1e4,
    three_phase = false, ["!max_lr"] = true}, cycle_rate, cycle_total)
  optim.ReduceLROnPlateau = plateau
end
