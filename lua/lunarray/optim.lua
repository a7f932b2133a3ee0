-- lunarray.optim: optimisers that change parameters in place, by PyTorch's
-- formulas, and schedules of the learning rate.
local la = require "lunarray"

local optim = {}

-- ---- the base: groups of parameters, state by parameter ----

local Optimizer = {}
optim.Optimizer = Optimizer

local function is_tensor(value) return type(value) == "userdata" end

local function check_params(name, list)
  if is_tensor(list) then return {list} end
  if type(list) ~= "table" then
    error(string.format("%s: a list of parameters expected, got %s", name,
      type(list)), 4)
  end
  if #list == 0 then error(name .. ": the list of parameters is empty", 4) end
  return list
end

local function add_group(self, given)
  local group = {}
  for key, value in pairs(self.defaults) do group[key] = value end
  for key, value in pairs(given) do
    if key ~= "params" and self.defaults[key] == nil
      and not self.known[key] then
      error(string.format("%s: unknown option '%s'", self.name,
        tostring(key)), 4)
    end
    group[key] = value
  end
  group.params = check_params(self.name, given.params)
  if group.lr == nil then error(self.name .. ": lr is needed", 4) end
  if group.lr < 0 or group.lr ~= group.lr then
    error(self.name .. ": Invalid learning rate: " .. tostring(group.lr), 4)
  end
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

local function run(self)
  local state, update = self.state, self.update
  for _, group in ipairs(self.param_groups) do
    for _, p in ipairs(group.params) do
      local g = p.grad
      if g then
        local own = state[p]
        if not own then
          own = {}
          state[p] = own
        end
        update(p, g, own, group)
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
        entry._scratch, entry._root = nil, nil
        state[n] = entry
      end
    end
    groups[k] = copy
  end
  return {state = state, param_groups = groups}
end

-- Tensors are copied, so that two optimisers never share state.
function Optimizer:load_state_dict(dict)
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
      local entry = dict.state[n] or dict.state[tostring(n)]
      if entry then
        local own = {}
        for key, value in pairs(entry) do
          own[key] = is_tensor(value) and value:clone() or value
        end
        self.state[p] = own
      end
    end
  end
end

-- A constructor: (parameters or list of groups, options).
local function define(name, defaults, known, update)
  optim[name] = function(params, options)
    local self = setmetatable({
      name = name, defaults = {}, known = known, update = update, run = run,
      state = setmetatable({}, {__mode = "k"}), seen = {}, param_groups = {},
    }, {__index = Optimizer, __name = "optim." .. name})
    for key, value in pairs(defaults) do self.defaults[key] = value end
    for key, value in pairs(options or {}) do
      if defaults[key] == nil and not known[key] then
        local names = {}
        for k in pairs(defaults) do names[#names + 1] = k end
        table.sort(names)
        error(string.format("%s: unknown option '%s' (known: %s)", name,
          tostring(key), table.concat(names, ", ")), 2)
      end
      self.defaults[key] = value
    end
    if type(params) == "table" and type(params[1]) == "table" then
      for _, group in ipairs(params) do add_group(self, group) end
    else
      add_group(self, {params = params})
    end
    return self
  end
end

-- The gradient with weight decay, in a buffer that is kept between steps.
local function decayed(p, g, own, group)
  if group.maximize then
    own._scratch = own._scratch or la.empty_like(g)
    g = own._scratch:copy_(g):neg_()
    if group.weight_decay ~= 0 then
      g:add_(p, {alpha = group.weight_decay})
    end
    return g
  end
  if group.weight_decay == 0 then return g end
  own._scratch = own._scratch or la.empty_like(g)
  return own._scratch:copy_(g):add_(p, {alpha = group.weight_decay})
end

local function spare(own, name, like)
  local t = own[name]
  if not t then
    t = la.zeros_like(like)
    own[name] = t
  end
  return t
end

-- A buffer for values within one step, no part of the state.
local function scratch(own, like)
  own._scratch = own._scratch or la.empty_like(like)
  return own._scratch
end

-- ---- optimisers ----

define("SGD", {lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0,
  nesterov = false, maximize = false}, {}, function(p, g, own, group)
  g = decayed(p, g, own, group)
  local momentum = group.momentum
  if momentum ~= 0 then
    local buffer = own.momentum_buffer
    if buffer then
      buffer:mul_(momentum):add_(g, {alpha = 1 - group.dampening})
    else
      buffer = g:clone()
      own.momentum_buffer = buffer
    end
    if group.nesterov then
      p:add_(g, {alpha = -group.lr})
      p:add_(buffer, {alpha = -group.lr * momentum})
      return
    end
    g = buffer
  end
  p:add_(g, {alpha = -group.lr})
end)

-- The common part of Adam and AdamW, after weight decay.
local function adam(p, g, own, group)
  local b1, b2 = group.betas[1], group.betas[2]
  local step = (own.step or 0) + 1
  own.step = step
  local mean = spare(own, "exp_avg", p)
  local square = spare(own, "exp_avg_sq", p)
  mean:lerp_(g, 1 - b1)
  square:mul_(b2):addcmul_(g, g, {value = 1 - b2})
  local most = square
  if group.amsgrad then
    most = spare(own, "max_exp_avg_sq", p)
    la.maximum(most, square, {out = most})
  end
  local root = scratch(own, p)
  root:copy_(most):sqrt_():div_(math.sqrt(1 - b2 ^ step)):add_(group.eps)
  p:addcdiv_(mean, root, {value = -group.lr / (1 - b1 ^ step)})
end

define("Adam", {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8,
  weight_decay = 0, amsgrad = false, maximize = false}, {},
  function(p, g, own, group)
    adam(p, decayed(p, g, own, group), own, group)
  end)

define("AdamW", {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8,
  weight_decay = 1e-2, amsgrad = false}, {},
  function(p, g, own, group)
    if group.weight_decay ~= 0 then
      p:mul_(1 - group.lr * group.weight_decay)
    end
    adam(p, g, own, group)
  end)

define("RMSprop", {lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0,
  momentum = 0, centered = false, maximize = false}, {},
  function(p, g, own, group)
    g = decayed(p, g, own, group)
    local square = spare(own, "square_avg", p)
    square:mul_(group.alpha):addcmul_(g, g, {value = 1 - group.alpha})
    own._root = own._root or la.empty_like(p)
    local root = own._root:copy_(square)
    if group.centered then
      local mean = spare(own, "grad_avg", p)
      mean:lerp_(g, 1 - group.alpha)
      root:addcmul_(mean, mean, {value = -1})
    end
    root:sqrt_():add_(group.eps)
    if group.momentum > 0 then
      local buffer = spare(own, "momentum_buffer", p)
      buffer:mul_(group.momentum):addcdiv_(g, root)
      p:add_(buffer, {alpha = -group.lr})
    else
      p:addcdiv_(g, root, {value = -group.lr})
    end
  end)

define("Adagrad", {lr = 1e-2, lr_decay = 0, weight_decay = 0,
  initial_accumulator_value = 0, eps = 1e-10, maximize = false}, {},
  function(p, g, own, group)
    g = decayed(p, g, own, group)
    local step = (own.step or 0) + 1
    own.step = step
    if not own.sum then
      own.sum = la.full_like(p, group.initial_accumulator_value)
    end
    own.sum:addcmul_(g, g)
    own._root = own._root or la.empty_like(p)
    local root = own._root:copy_(own.sum):sqrt_():add_(group.eps)
    p:addcdiv_(g, root, {value = -group.lr / (1 + (step - 1) * group.lr_decay)})
  end)

require "lunarray.schedule"(optim)

return optim
