-- lunarray.schedule: the schedulers of lunarray.optim. Each sets the learning
-- rate of the optimiser's groups when it is made and at every step().

local la = require "lunarray"
local dialect = require "lunarray.dialect"
local positions = require "lunarray.positions"
local user_level = require "lunarray.tensors".user_level

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
  local note = la._recording()
  if note then note("refuse") end
  self.last_epoch = self.last_epoch + 1
  set(self)
end

function Scheduler:state_dict()
  return {last_epoch = self.last_epoch,
    base_lrs = {dialect.unpack(self.base_lrs)}}
end

function Scheduler:load_state_dict(state)
  self.last_epoch = state.last_epoch
  self.base_lrs = {dialect.unpack(state.base_lrs)}
  set(self)
end

-- Options by position and by name. 'defaults' has values, and under "!name" the
-- type of what is needed; a default's own type is what others must have.
local function read_options(name, names, defaults, ...)
  local out = positions.read(name, names, positions.set(names), names, ...)
  for _, key in ipairs(names) do
    local default, needed = defaults[key], defaults["!" .. key]
    if out[key] == nil then out[key] = default end
    if out[key] == nil and needed then
      error(name .. ": " .. key .. " is needed", user_level())
    end
    local types = needed or default ~= nil and type(default)
    if types then positions.check(name, key, out[key], types) end
  end
  return out
end

local function check_optimizer(name, optimizer)
  if type(optimizer) == "table" and optimizer.param_groups then return end
  error(("%s: optimizer expected first, got %s"):format(name,
    type(optimizer)), user_level())
end

-- rate(self, base, epoch, group) is the learning rate after 'epoch' steps. The
-- base is the group's rate before its first scheduler.
local function define(optim, name, names, defaults, rate, prepare)
  optim[name] = function(optimizer, ...)
    check_optimizer(name, optimizer)
    local o = read_options(name, names, defaults, ...)
    local self = setmetatable({optimizer = optimizer, options = o,
      rate = rate, last_epoch = 0, base_lrs = {}},
      {__index = Scheduler, __name = "optim." .. name})
    for k, group in ipairs(optimizer.param_groups) do
      group.initial_lr = group.initial_lr or group.lr
      self.base_lrs[k] = group.initial_lr
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

-- ---- one cycle, and many: the momentum goes the other way ----

-- What the momentum of a group is called: its first beta, or momentum.
local function prepare_momentum(self)
  if self.options.cycle_momentum == false then return end
  for _, group in ipairs(self.optimizer.param_groups) do
    if group.betas then
      group.betas = {dialect.unpack(group.betas)}
    elseif group.momentum == nil then
      error("optimizer must support momentum or beta1 with cycle_momentum "
        .. "option enabled", user_level())
    end
  end
end

local function set_momentum(self, k, value)
  if self.options.cycle_momentum == false then return end
  local group = self.optimizer.param_groups[k]
  if group.betas then group.betas[1] = value else group.momentum = value end
end

-- An option for group k: one value for all, or a list.
local function of_group(option, k)
  return type(option) == "table" and option[k] or option
end

-- Each phase: its last step, the rates and the momenta at its ends. Rates are
-- parts of max_lr.
local function cycle_total(self, o)
  local total = o.total_steps
  if not total and o.epochs and o.steps_per_epoch then
    total = o.epochs * o.steps_per_epoch
  end
  if not total then
    error("OneCycleLR: total_steps, or epochs and steps_per_epoch, is needed",
      user_level())
  end
  self.total = total
  self.anneal = o.anneal_strategy == "linear" and linear or cosine
  local first = 1 / o.div_factor
  local last = first / o.final_div_factor
  local low, high = o.base_momentum, o.max_momentum
  local top = o.pct_start * total - 1
  if o.three_phase then
    self.phases = {{top, first, 1, high, low},
      {2 * o.pct_start * total - 2, 1, first, low, high},
      {total - 1, first, last, high, high}}
  else
    self.phases = {{top, first, 1, high, low}, {total - 1, 1, last, low, high}}
  end
  prepare_momentum(self)
end

local function cycle_rate(self, _, epoch, k)
  if epoch > self.total then
    error("OneCycleLR: more steps than total_steps (" .. self.total .. ")", 3)
  end
  local start = 0
  for n, phase in ipairs(self.phases) do
    if epoch <= phase[1] or n == #self.phases then
      local part = (epoch - start) / (phase[1] - start)
      set_momentum(self, k, self.anneal(phase[4], phase[5], part))
      return self.anneal(phase[2], phase[3], part)
        * of_group(self.options.max_lr, k)
    end
    start = phase[1]
  end
end

local function check_cyclic(self, o)
  if o.scale_fn then
    positions.check("CyclicLR", "scale_fn", o.scale_fn, "function")
  end
  local modes = {triangular = true, triangular2 = true, exp_range = true}
  if not modes[o.mode] then
    error("CyclicLR: mode 'triangular', 'triangular2' or 'exp_range' expected",
      user_level())
  end
  prepare_momentum(self)
end

local function cyclic_rate(self, _, epoch, k)
  local o = self.options
  local up, down = o.step_size_up, o.step_size_down or o.step_size_up
  local total = up + down
  local cycle = 1 + math.floor(epoch / total)
  local at = epoch % total
  local part = at <= up and at / up or (total - at) / down
  if o.scale_fn then
    part = part * o.scale_fn(o.scale_mode == "iterations" and epoch or cycle)
  elseif o.mode == "triangular2" then part = part / 2 ^ (cycle - 1)
  elseif o.mode == "exp_range" then part = part * o.gamma ^ epoch end
  set_momentum(self, k, linear(o.max_momentum, o.base_momentum, part))
  return linear(of_group(o.base_lr, k), of_group(o.max_lr, k), part)
end

-- Cycles of T_0, T_0 T_mult, T_0 T_mult^2, ... steps.
local function restart_rate(self, base, epoch)
  local o = self.options
  local length, at = o.T_0, epoch
  while at >= length do
    at, length = at - length, length * o.T_mult
  end
  return cosine(base, o.eta_min, at / length)
end

-- ---- one after another ----

local function check_sequence(self, o)
  if #o.milestones ~= #o.schedulers - 1 then
    error("SequentialLR: expected " .. #o.schedulers - 1 .. " milestones, got "
      .. #o.milestones, user_level())
  end
  for _, part in ipairs(o.schedulers) do
    if part.optimizer ~= self.optimizer or not part.rate then
      error("SequentialLR: every scheduler must be of this optimizer and "
        .. "have a rate of its own", user_level())
    end
  end
end

local function sequence_rate(self, base, epoch, k)
  local o, n = self.options, 1
  while o.milestones[n] and epoch >= o.milestones[n] do n = n + 1 end
  local part = o.schedulers[n]
  part.last_epoch = epoch - (o.milestones[n - 1] or 0)
  return part.rate(part, base, part.last_epoch, k)
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
  local note = la._recording()
  if note then note("refuse") end
  if la.is_tensor(value) then value = value:item() end
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

local function plateau(optimizer, ...)
  check_optimizer("ReduceLROnPlateau", optimizer)
  local o = read_options("ReduceLROnPlateau", {"mode", "factor", "patience",
    "threshold", "threshold_mode", "cooldown", "min_lr", "eps"},
    {mode = "min", factor = 0.1, patience = 10, threshold = 1e-4,
    threshold_mode = "rel", cooldown = 0, min_lr = 0, eps = 1e-8}, ...)
  if o.factor >= 1 then
    error("ReduceLROnPlateau: Factor should be < 1.0", 2)
  end
  return setmetatable({optimizer = optimizer, options = o, last_epoch = 0,
    num_bad_epochs = 0, cooldown_counter = 0},
    {__index = Plateau, __name = "optim.ReduceLROnPlateau"})
end

return function(optim)
  define(optim, "StepLR", {"step_size", "gamma"},
    {gamma = 0.1, ["!step_size"] = "number"}, function(self, base, epoch)
      local steps = math.floor(epoch / self.options.step_size)
      return base * self.options.gamma ^ steps
    end)
  define(optim, "MultiStepLR", {"milestones", "gamma"},
    {gamma = 0.1, ["!milestones"] = "table"}, function(self, base, epoch)
      local passed = 0
      for _, at in ipairs(self.options.milestones) do
        if epoch >= at then passed = passed + 1 end
      end
      return base * self.options.gamma ^ passed
    end)
  define(optim, "ExponentialLR", {"gamma"}, {["!gamma"] = "number"},
    function(self, base, epoch) return base * self.options.gamma ^ epoch end)
  define(optim, "CosineAnnealingLR", {"T_max", "eta_min"},
    {eta_min = 0, ["!T_max"] = "number"}, function(self, base, epoch)
      return cosine(base, self.options.eta_min, epoch / self.options.T_max)
    end)
  define(optim, "LinearLR", {"start_factor", "end_factor", "total_iters"},
    {start_factor = 1 / 3, end_factor = 1, total_iters = 5},
    function(self, base, epoch)
      local o = self.options
      local part = math.min(epoch / o.total_iters, 1)
      return base * linear(o.start_factor, o.end_factor, part)
    end)
  local lambda = {["!lr_lambda"] = "function or table"}
  define(optim, "LambdaLR", {"lr_lambda"}, lambda,
    function(self, base, epoch, k)
      return base * of_group(self.options.lr_lambda, k)(epoch)
    end)
  define(optim, "MultiplicativeLR", {"lr_lambda"}, lambda,
    function(self, base, epoch, group)
      local factor = of_group(self.options.lr_lambda, group)
      for k = 1, epoch do base = base * factor(k) end
      return base
    end)
  define(optim, "ConstantLR", {"factor", "total_iters"},
    {factor = 1 / 3, total_iters = 5}, function(self, base, epoch)
      local o = self.options
      return epoch < o.total_iters and base * o.factor or base
    end)
  define(optim, "PolynomialLR", {"total_iters", "power"},
    {total_iters = 5, power = 1}, function(self, base, epoch)
      local o = self.options
      return base * (1 - math.min(epoch / o.total_iters, 1)) ^ o.power
    end)
  define(optim, "CosineAnnealingWarmRestarts", {"T_0", "T_mult", "eta_min"},
    {T_mult = 1, eta_min = 0, ["!T_0"] = "number"}, restart_rate)
  define(optim, "CyclicLR", {"base_lr", "max_lr", "step_size_up",
    "step_size_down", "mode", "gamma", "scale_fn", "scale_mode",
    "cycle_momentum", "base_momentum", "max_momentum"},
    {step_size_up = 2000, mode = "triangular", gamma = 1,
    scale_mode = "cycle",
    cycle_momentum = true, base_momentum = 0.8, max_momentum = 0.9,
    ["!base_lr"] = "number or table", ["!max_lr"] = "number or table"},
    cyclic_rate, check_cyclic)
  define(optim, "SequentialLR", {"schedulers", "milestones"},
    {["!schedulers"] = "table", ["!milestones"] = "table"}, sequence_rate,
    check_sequence)
  define(optim, "OneCycleLR", {"max_lr", "total_steps", "epochs",
    "steps_per_epoch", "pct_start", "anneal_strategy", "cycle_momentum",
    "base_momentum", "max_momentum", "div_factor", "final_div_factor",
    "three_phase"}, {pct_start = 0.3, anneal_strategy = "cos",
    div_factor = 25, final_div_factor = 1e4, three_phase = false,
    cycle_momentum = true, base_momentum = 0.85, max_momentum = 0.95,
    ["!max_lr"] = "number or table"}, cycle_rate, cycle_total)
  optim.ReduceLROnPlateau = plateau
  optim.Scheduler = Scheduler
end
