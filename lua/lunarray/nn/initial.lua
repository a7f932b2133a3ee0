-- lunarray.nn.initial (nn.init): initial values, written in place, by
-- PyTorch's formulas.
local la = require "lunarray"
local dialect = require "lunarray.dialect"
local nn = require "lunarray.nn.module"
local numbers = require "lunarray.numbers"

local init = {}
nn.init = init

local function without_grad(f)
  return function(t, ...)
    local args = dialect.pack(...)
    la.no_grad(function() f(t, dialect.unpack(args, 1, args.n)) end)
    return t
  end
end

init.uniform_ = without_grad(function(t, low, high, g)
  t:uniform_(low or 0, high or 1, {generator = g})
end)
init.normal_ = without_grad(function(t, mean, std, g)
  t:normal_(mean or 0, std or 1, {generator = g})
end)
init.constant_ = without_grad(function(t, value) t:fill_(value) end)
init.ones_ = without_grad(function(t) t:fill_(1) end)
init.zeros_ = without_grad(function(t) t:fill_(0) end)
init.eye_ = without_grad(function(t)
  t:copy_(la.eye(t:size(1), t:size(2)))
end)

-- Normal within [a, b], by the inverse of the distribution function.
init.trunc_normal_ = without_grad(function(t, mean, std, a, b, g)
  mean, std = mean or 0, std or 1
  a, b = a or -2, b or 2
  local limits = la.tensor({(a - mean) / std, (b - mean) / std},
    {dtype = "float64"}):ndtr():totable()
  local u = la.empty(t.shape, {dtype = "float64"})
  u:uniform_(limits[1], limits[2], {generator = g})
  t:copy_((u:ndtri() * std + mean):clamp(a, b))
end)

-- Inputs and outputs of a weight (out, in, ...).
function init.fans(t)
  if t.ndim < 2 then
    error("fan in and fan out need a tensor of at least 2 dims", 2)
  end
  local field = 1
  for d = 3, t.ndim do field = field * t:size(d) end
  return t:size(2) * field, t:size(1) * field
end

local gains = {
  linear = 1, conv1d = 1, conv2d = 1, conv3d = 1, sigmoid = 1,
  tanh = 5 / 3, relu = math.sqrt(2), selu = 3 / 4,
}

function init.calculate_gain(name, slope)
  if name == "leaky_relu" then
    slope = slope or 0.01
    return math.sqrt(2 / (1 + slope * slope))
  end
  return gains[name] or error("no gain is known for '" .. numbers.text(name)
    .. "'", 2)
end

local function xavier_std(t, gain)
  local fan_in, fan_out = init.fans(t)
  return (gain or 1) * math.sqrt(2 / (fan_in + fan_out))
end

function init.xavier_uniform_(t, gain, g)
  local bound = math.sqrt(3) * xavier_std(t, gain)
  return init.uniform_(t, -bound, bound, g)
end

function init.xavier_normal_(t, gain, g)
  return init.normal_(t, 0, xavier_std(t, gain), g)
end

local kaiming_options = {
  a = true, mode = true, nonlinearity = true, generator = true,
}

local function kaiming_std(t, options)
  options = options or {}
  for key in pairs(options) do
    if not kaiming_options[key] then
      error("unknown option '" .. numbers.text(key)
        .. "' (known: a, mode, nonlinearity, generator)", 3)
    end
  end
  local fan_in, fan_out = init.fans(t)
  local fan = options.mode == "fan_out" and fan_out or fan_in
  local name = options.nonlinearity or "leaky_relu"
  return init.calculate_gain(name, options.a or 0) / math.sqrt(fan)
end

-- options: a (slope), mode ("fan_in", "fan_out"), nonlinearity, generator.
function init.kaiming_uniform_(t, options)
  local bound = math.sqrt(3) * kaiming_std(t, options)
  return init.uniform_(t, -bound, bound, options and options.generator)
end

function init.kaiming_normal_(t, options)
  return init.normal_(t, 0, kaiming_std(t, options),
    options and options.generator)
end

return init
