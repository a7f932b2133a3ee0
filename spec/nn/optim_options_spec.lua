-- Every combination of the options of the optimisers, in two groups of
-- different ones, against PyTorch's formulas in plain Lua, from a saved state
-- too.
local la = require "lunarray"
local optim = require "lunarray.optim"

local function decayed(o, p, g)
  if o.maximize then g = -g end
  return g + (o.weight_decay or 0) * p
end

local FORMULAS = {}

function FORMULAS.SGD(o, s, p, g)
  g = decayed(o, p, g)
  if o.momentum ~= 0 then
    s.b = s.b and o.momentum * s.b + (1 - o.dampening) * g or g
    g = o.nesterov and g + o.momentum * s.b or s.b
  end
  return p - o.lr * g
end

local function adam(o, s, p, g)
  s.k = (s.k or 0) + 1
  local b1, b2 = o.betas[1], o.betas[2]
  s.m = b1 * (s.m or 0) + (1 - b1) * g
  s.v = b2 * (s.v or 0) + (1 - b2) * g * g
  local v = s.v
  if o.amsgrad then
    s.most = math.max(s.most or 0, v)
    v = s.most
  end
  return p - o.lr / (1 - b1 ^ s.k) * s.m
    / (math.sqrt(v) / math.sqrt(1 - b2 ^ s.k) + o.eps)
end

function FORMULAS.Adam(o, s, p, g) return adam(o, s, p, decayed(o, p, g)) end

function FORMULAS.AdamW(o, s, p, g)
  return adam(o, s, p * (1 - o.lr * o.weight_decay), o.maximize and -g or g)
end

function FORMULAS.RMSprop(o, s, p, g)
  g = decayed(o, p, g)
  s.v = o.alpha * (s.v or 0) + (1 - o.alpha) * g * g
  local v = s.v
  if o.centered then
    s.m = o.alpha * (s.m or 0) + (1 - o.alpha) * g
    v = v - s.m * s.m
  end
  local step = g / (math.sqrt(v) + o.eps)
  if o.momentum > 0 then
    s.b = o.momentum * (s.b or 0) + step
    step = s.b
  end
  return p - o.lr * step
end

function FORMULAS.Adagrad(o, s, p, g)
  g = decayed(o, p, g)
  s.k = (s.k or -1) + 1
  s.v = (s.v or o.initial_accumulator_value) + g * g
  return p - o.lr / (1 + s.k * o.lr_decay) * g / (math.sqrt(s.v) + o.eps)
end

local CHOICES = {
  SGD = {lr = {0.1}, momentum = {0, 0.9}, dampening = {0, 0.5},
    weight_decay = {0, 0.1}, nesterov = {false, true},
    maximize = {false, true}},
  Adam = {lr = {0.1}, betas = {{0.9, 0.999}, {0.5, 0.8}}, eps = {1e-8, 0.1},
    weight_decay = {0, 0.2}, amsgrad = {false, true},
    maximize = {false, true}},
  AdamW = {lr = {0.1}, betas = {{0.9, 0.999}, {0.5, 0.8}}, eps = {1e-8, 0.1},
    weight_decay = {0, 0.2}, amsgrad = {false, true},
    maximize = {false, true}},
  RMSprop = {lr = {0.01}, alpha = {0.99, 0.5}, eps = {1e-8, 0.1},
    weight_decay = {0, 0.1}, momentum = {0, 0.5}, centered = {false, true},
    maximize = {false, true}},
  Adagrad = {lr = {0.1}, lr_decay = {0, 0.1}, weight_decay = {0, 0.1},
    initial_accumulator_value = {0, 0.5}, eps = {1e-10, 0.1},
    maximize = {false, true}}
}

-- f(options) for every combination.
local function each_choice(choices, f)
  local names = {}
  for name in pairs(choices) do names[#names + 1] = name end
  table.sort(names)
  local function walk(k, o)
    if k > #names then return f(o) end
    for _, value in ipairs(choices[names[k]]) do
      o[names[k]] = value
      walk(k + 1, o)
    end
  end
  walk(1, {})
end

local function copied(o)
  local out = {}
  for k, v in pairs(o) do out[k] = v end
  return out
end

local function leaf(v)
  return la.tensor({v}, {dtype = "float64", requires_grad = true})
end

local function steps(opt, leaves, n, seen)
  for _ = 1, n do
    opt:zero_grad()
    local loss = 0
    for _, p in ipairs(leaves) do loss = loss + ((p - 0.3) ^ 2):sum() end
    loss:backward()
    opt:step()
    for k, p in ipairs(leaves) do seen[k][#seen[k] + 1] = p:item() end
  end
end

local function check(name, o)
  if o.nesterov and (o.momentum == 0 or o.dampening ~= 0) then
    assert.has_error(function() optim[name]({leaf(1)}, o) end)
    return
  end
  local other = copied(o)
  other.lr = o.lr / 2
  other.weight_decay = 0.05
  local leaves, seen = {leaf(1), leaf(-2)}, {{}, {}}
  local groups = {{params = {leaves[1]}}, {params = {leaves[2]},
    lr = other.lr, weight_decay = other.weight_decay}}
  local opt = optim[name](groups, o)
  steps(opt, leaves, 4, seen)
  local fresh = {leaf(leaves[1]:item()), leaf(leaves[2]:item())}
  local again = optim[name]({{params = {fresh[1]}}, {params = {fresh[2]}}})
  again:load_state_dict(opt:state_dict())
  steps(again, fresh, 4, seen)
  for k, options in ipairs {o, other} do
    local p, s = k == 1 and 1 or -2, {}
    for i = 1, 8 do
      p = FORMULAS[name](options, s, p, 2 * (p - 0.3))
      assert.is_true(math.abs(p - seen[k][i]) <= 1e-9 * math.max(1,
        math.abs(p)), ("group %d, step %d: %.15g, not %.15g"):format(k, i,
        seen[k][i], p))
    end
  end
end

describe("with all options", function()
  for name, choices in pairs(CHOICES) do
    it(name .. " is its formula", function()
      each_choice(choices, function(o) check(name, o) end)
    end)
  end
end)
