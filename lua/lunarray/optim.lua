-- lunarray.optim: optimisers that change parameters in place, by PyTorch's
-- formulas, and schedules of the learning rate.
local la = require "lunarray"
local numbers = require "lunarray.numbers"
local positions = require "lunarray.positions"
local is_tensor = require "lunarray.tensors".is_tensor

local optim = {}

-- ---- the base: groups of parameters, state by parameter ----

local Optimizer = {}
optim.Optimizer = Optimizer

local function check_params(name, list)
  if is_tensor(list) then return {list} end
  if type(list) ~= "table" then
    error(string.format("%s: a list of parameters expected, got %s", name,
      type(list)), 4)
  end
  if type(list.parameters) == "function" then
    error(name .. ": a list of parameters expected, got a module: "
      .. "net:parameters()", 4)
  end
  if #list == 0 then error(name .. ": the list of parameters is empty", 4) end
  return list
end

local function add_group(self, given)
  local group = {}
  for key, value in pairs(self.defaults) do group[key] = value end
  group.params = given.params
  for key, value in pairs(positions.own(given, self.known)) do
    if key ~= "params" and not self.known[key] then
      error(string.format("%s: unknown option '%s'", self.name,
        numbers.text(key)), 4)
    end
    group[key] = value
  end
  for key, default in pairs(self.kinds) do
    local kind = type(default)
    if kind == "number" or kind == "table" then
      positions.check(self.name, key, group[key], kind)
    end
  end
  group.params = check_params(self.name, given.params)
  if group.lr == nil then error(self.name .. ": lr is needed", 4) end
  if group.lr < 0 or group.lr ~= group.lr then
    error(self.name .. ": Invalid learning rate: " .. numbers.text(group.lr), 4)
  end
  local wrong = self.check and self.check(group)
  if wrong then error(self.name .. ": " .. wrong, 4) end
  for _, p in ipairs(group.params) do
    if not is_tensor(p) or not p.is_leaf then
      error(self.name .. ": parameters must be leaf tensors", 4)
    end
    if self.seen[p] then
      error(self.name .. ": a parameter appears twice", 4)
    end
    self.seen[p] = true
  end
  self.param_groups[#self.param_groups + 1] = group
end

function Optimizer:add_param_group(group) add_group(self, group) end

function Optimizer:zero_grad()
  local note = la._recording()
  if note then
    for k = 1, #self.param_groups + 1 do note("field", self.param_groups, k) end
    for _, group in ipairs(self.param_groups) do
      note("field", group, "params")
      for i = 1, #group.params + 1 do note("field", group.params, i) end
    end
  end
  for _, group in ipairs(self.param_groups) do
    for _, p in ipairs(group.params) do p.grad = nil end
  end
end

local no_grad = la.no_grad

-- One step over all parameters with a gradient; closure() computes the loss
-- again and is called first.
function Optimizer:step(closure)
  local loss
  if closure then loss = la.enable_grad(closure) end
  no_grad(self.run, self)
  return loss
end

-- While a program is recorded: what the optimiser keeps is looked at in each
-- later call, but for the numbers that a step reads anew (la.compile).
local recording = la._recording
local NUMBERS = {lr = true}

local function note_group(note, group)
  for key, value in pairs(group) do
    if not NUMBERS[key] then note("field", group, key) end
    if type(value) == "table" then
      for i = 1, #value + 1 do note("field", value, i) end
    end
  end
end

local function note_all(self, note)
  for k = 1, #self.param_groups + 1 do note("field", self.param_groups, k) end
  for _, group in ipairs(self.param_groups) do note_group(note, group) end
end

local function run(self)
  local state, update = self.state, self.update
  local note, outside = recording()
  if note then
    note("writes")
    note_all(self, note)
  end
  for _, group in ipairs(self.param_groups) do
    for _, p in ipairs(group.params) do
      local g = p.grad
      if g then
        local own = state[p]
        if not own then
          own = {}
          state[p] = own
        end
        if note then note("field", state, p) end
        update(p, g, own, group, note, outside)
      end
    end
  end
end

-- {state = {[number] = {...}}, param_groups = {{lr = ..., params = {1, 2}}}}:
-- parameters are numbered over all groups; only plain values and tensors.
function Optimizer:state_dict()
  local state, groups, n = {}, {}, 0
  for k, group in ipairs(self.param_groups) do
    local copy = {}
    for key, value in pairs(group) do copy[key] = value end
    copy.params = {}
    for i, p in ipairs(group.params) do
      n = n + 1
      copy.params[i] = n
      local own = self.state[p]
      if own then
        local entry = {}
        for key, value in pairs(own) do entry[key] = value end
        state[n] = entry
      end
    end
    groups[k] = copy
  end
  return {state = state, param_groups = groups}
end

local function copy_of(value)
  if is_tensor(value) then return value:clone() end
  if type(value) ~= "table" then return value end
  local out = {}
  for key, part in pairs(value) do out[key] = copy_of(part) end
  return out
end

-- The table of state_dict, or what la.load gives of it. Tensors are copied, so
-- that two optimisers never share state, and outlive the la.tidy around.
function Optimizer:load_state_dict(dict)
  if type(dict) ~= "table" then
    error("load_state_dict: table expected, got " .. type(dict), 2)
  end
  if type(dict.param_groups) ~= "table" then
    error("load_state_dict: a table of state_dict() expected, with "
      .. "'param_groups'", 2)
  end
  local groups, n = dict.param_groups, 0
  if #groups ~= #self.param_groups then
    error("load_state_dict: the number of parameter groups differs", 2)
  end
  for k, group in ipairs(self.param_groups) do
    if #groups[k].params ~= #group.params then
      error("load_state_dict: group " .. k .. " has " .. #groups[k].params
        .. " parameters, the optimizer's has " .. #group.params, 2)
    end
  end
  for k, group in ipairs(self.param_groups) do
    for key, value in pairs(groups[k]) do
      if key ~= "params" then group[key] = value end
    end
    for _, p in ipairs(group.params) do
      n = n + 1
      local entry = dict.state[n]
      if entry then
        self.state[p] = la.keep(copy_of(entry))
      end
    end
  end
end

-- A constructor: (parameters or list of groups, options), or options by
-- position, in the order of 'names'; the others go by name alone. check(group)
-- may say what is wrong with the options; complete(self) ends the construction.
local function define(name, names, defaults, update, check, complete)
  local known, list = positions.set(names), {}
  for key in pairs(defaults) do known[key] = true end
  for key in pairs(known) do list[#list + 1] = key end
  table.sort(list)
  optim[name] = function(params, ...)
    local options = positions.read(name, names, known, list, ...)
    local self = setmetatable({
      name = name, defaults = {}, kinds = defaults, known = known,
      update = update, run = run, check = check,
      state = setmetatable({}, {__mode = "k"}), seen = {}, param_groups = {},
    }, {__index = Optimizer, __name = "optim." .. name})
    for key, value in pairs(defaults) do self.defaults[key] = value end
    for key, value in pairs(options) do self.defaults[key] = value end
    if type(params) == "table" and type(params[1]) == "table" then
      for _, group in ipairs(params) do add_group(self, group) end
    else
      add_group(self, {params = params})
    end
    if complete then complete(self) end
    return self
  end
end

local function fresh(like) return la.keep(la.zeros_like(like)) end

-- A tensor of the state, made when it is first asked for: outside of a program
-- that is recorded, which finds it there. It outlives the la.tidy that the step
-- is made in.
local function spare(own, name, like, note, outside)
  local t = own[name]
  if not t then
    t = outside and outside(fresh, like) or fresh(like)
    own[name] = t
  end
  if note then note("field", own, name) end
  return t
end

-- The number of the step, argument 'arg' of the operation that follows.
local function count(own, note, arg)
  local step = (own.step or 0) + 1
  own.step = step
  if note then note("count", arg, own, "step") end
  return step
end

-- ---- optimisers: an operation each, which changes parameter and state ----

local sgd_step, adam_step = la.sgd_step_, la.adam_step_
local rmsprop_step, adagrad_step = la.rmsprop_step_, la.adagrad_step_

define("SGD", {"lr", "momentum", "dampening", "weight_decay", "nesterov"},
  {lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0,
  nesterov = false, maximize = false}, function(p, g, own, group, note, outside)
  local momentum, buffer, first = group.momentum, nil, false
  if momentum ~= 0 then
    first = own.momentum_buffer == nil
    buffer = spare(own, "momentum_buffer", p, note, outside)
    if note then note("number", 10, own, "first") end   -- later ones: false
  end
  if note then note("number", 4, group, "lr") end
  sgd_step(p, g, buffer, group.lr, momentum, group.dampening,
    group.weight_decay, group.nesterov, group.maximize, first)
end, function(group)
  if group.nesterov and (group.momentum <= 0 or group.dampening ~= 0) then
    return "Nesterov momentum requires a momentum and zero dampening"
  end
end)

-- Adam and AdamW differ in where the weight decay goes.
local function adam(decoupled)
  return function(p, g, own, group, note, outside)
    local betas = group.betas
    local mean = spare(own, "exp_avg", p, note, outside)
    local square = spare(own, "exp_avg_sq", p, note, outside)
    local most = group.amsgrad
      and spare(own, "max_exp_avg_sq", p, note, outside) or nil
    if note then note("number", 7, group, "lr") end
    adam_step(p, g, mean, square, most, count(own, note, 6), group.lr, betas[1],
      betas[2], group.eps, group.weight_decay, decoupled, group.maximize)
  end
end

local function check_betas(group)
  for k, beta in ipairs(group.betas) do
    if not (beta >= 0 and beta < 1) then
      return "Invalid beta parameter at index " .. k .. ": " .. beta
    end
  end
  if not (group.eps >= 0) then return "Invalid epsilon value: " .. group.eps end
end

local ADAM = {"lr", "betas", "eps", "weight_decay", "amsgrad"}

define("Adam", ADAM, {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8,
  weight_decay = 0, amsgrad = false, maximize = false}, adam(false),
  check_betas)

define("AdamW", ADAM, {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8,
  weight_decay = 1e-2, amsgrad = false, maximize = false}, adam(true),
  check_betas)

define("RMSprop", {"lr", "alpha", "eps", "weight_decay", "momentum",
  "centered"}, {lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0,
  momentum = 0, centered = false, maximize = false},
  function(p, g, own, group, note, outside)
    local square = spare(own, "square_avg", p, note, outside)
    local mean = group.centered and spare(own, "grad_avg", p, note, outside)
    local buffer = group.momentum > 0
      and spare(own, "momentum_buffer", p, note, outside)
    if note then note("number", 6, group, "lr") end
    rmsprop_step(p, g, square, mean or nil, buffer or nil, group.lr,
      group.alpha, group.eps, group.weight_decay, group.momentum,
      group.maximize)
  end)

define("Adagrad", {"lr", "lr_decay", "weight_decay",
  "initial_accumulator_value", "eps"}, {lr = 1e-2, lr_decay = 0,
  weight_decay = 0, initial_accumulator_value = 0, eps = 1e-10,
  maximize = false},
  function(p, g, own, group, note, outside)
    local sum = own.sum
    if not sum then
      local function full()
        return la.keep(la.full_like(p, group.initial_accumulator_value))
      end
      sum = outside and outside(full) or full()
      own.sum = sum
    end
    if note then
      note("field", own, "sum")
      note("number", 4, group, "lr")
    end
    adagrad_step(p, g, sum, group.lr, group.eps, group.weight_decay,
      group.maximize, group.lr_decay, count(own, note, 9))
  end)

define("LBFGS", {"lr", "max_iter", "max_eval", "tolerance_grad",
  "tolerance_change", "history_size", "line_search_fn"}, {lr = 1,
  max_iter = 20, tolerance_grad = 1e-7, tolerance_change = 1e-9,
  history_size = 100}, nil, nil, require "lunarray.lbfgs")
require "lunarray.schedule"(optim)

setmetatable(optim, {__index = function(_, name)
  return require("lunarray.foreign").missing(name, "optim")
end, __metatable = false})

return optim
