-- lunarray.nn.norms: normalisation layers.
local la = require "lunarray"
local nn = require "lunarray.nn.module"
local numbers = require "lunarray.numbers"

local options = nn._options

local function ones(shape, dtype)
  return nn.Parameter(la.ones(shape, {dtype = dtype}))
end
local function zeros(shape, dtype)
  return nn.Parameter(la.zeros(shape, {dtype = dtype}))
end

-- ---- batch and instance ----

local batch_names = {"num_features", "eps", "momentum", "affine",
  "track_running_stats", "dtype"}

local function batch_init(self, what, defaults, ...)
  local o = options(what, batch_names, defaults, ...)
  self.num_features, self.eps, self.momentum = o.num_features, o.eps, o.momentum
  local shape = {o.num_features}
  if o.affine then
    self.weight = ones(shape, o.dtype)
    self.bias = zeros(shape, o.dtype)
  end
  if o.track_running_stats then
    self:register_buffer("running_mean", la.zeros(shape, {dtype = o.dtype}))
    self:register_buffer("running_var", la.ones(shape, {dtype = o.dtype}))
    self:register_buffer("num_batches_tracked", la.tensor(0))
  end
end

local function check_dims(self, x, allowed)
  if not allowed[x.ndim] then
    error(string.format("%s: a tensor of %s dims expected, got %d",
      self._name, allowed.text, x.ndim), 3)
  end
end

local function batch_class(name, allowed)
  local Norm = nn.class(name)
  nn[name] = Norm
  function Norm:init(...)
    batch_init(self, name, {eps = 1e-5, momentum = 0.1, affine = true,
      track_running_stats = true, ["!num_features"] = true}, ...)
    if self.momentum == false then rawset(self, "cumulative", true) end
  end
  function Norm:forward(x)
    check_dims(self, x, allowed)
    local momentum = self.momentum
    if self.training and self.running_mean then
      self.num_batches_tracked:add_(1)
      if self.cumulative then
        momentum = 1 / self.num_batches_tracked:item()
      end
    end
    return la.batch_norm(x, self.running_mean, self.running_var, self.weight,
      self.bias, self.training or not self.running_mean, momentum or 0,
      self.eps)
  end
  function Norm:extra_repr()
    return self.num_features .. ", eps=" .. numbers.text(self.eps)
  end
end

batch_class("BatchNorm1d", {[2] = true, [3] = true, text = "2 or 3"})
batch_class("BatchNorm2d", {[4] = true, text = "4"})
batch_class("BatchNorm3d", {[5] = true, text = "5"})

local function instance_class(name, allowed)
  local Norm = nn.class(name)
  nn[name] = Norm
  function Norm:init(...)
    batch_init(self, name, {eps = 1e-5, momentum = 0.1, affine = false,
      track_running_stats = false, ["!num_features"] = true}, ...)
  end
  function Norm:forward(x)
    check_dims(self, x, allowed)
    return la.instance_norm(x, self.running_mean, self.running_var, self.weight,
      self.bias, self.training or not self.running_mean, self.momentum,
      self.eps)
  end
  function Norm:extra_repr()
    return self.num_features .. ", eps=" .. numbers.text(self.eps)
  end
end

instance_class("InstanceNorm1d", {[3] = true, text = "3"})
instance_class("InstanceNorm2d", {[4] = true, text = "4"})
instance_class("InstanceNorm3d", {[5] = true, text = "5"})

-- ---- layer, rms, group ----

local function as_list(shape)
  return type(shape) == "table" and shape or {shape}
end

-- A list as first argument is the shape, whatever follows.
local LayerNorm = nn.class "LayerNorm"
nn.LayerNorm = LayerNorm
function LayerNorm:init(...)
  local o = options("LayerNorm", {"normalized_shape", "eps",
    "elementwise_affine", "bias", "dtype"}, {eps = 1e-5, bias = true,
    elementwise_affine = true, ["!normalized_shape"] = true}, ...)
  self.normalized_shape, self.eps = as_list(o.normalized_shape), o.eps
  if o.elementwise_affine then
    self.weight = ones(self.normalized_shape, o.dtype)
    if o.bias then self.bias = zeros(self.normalized_shape, o.dtype) end
  end
end
function LayerNorm:forward(x)
  return la.layer_norm(x, self.normalized_shape, self.weight, self.bias,
    self.eps)
end
function LayerNorm:extra_repr()
  return "{" .. table.concat(self.normalized_shape, ", ") .. "}, eps="
    .. numbers.text(self.eps)
end

local RMSNorm = nn.class "RMSNorm"
nn.RMSNorm = RMSNorm
function RMSNorm:init(...)
  local o = options("RMSNorm", {"normalized_shape", "eps",
    "elementwise_affine", "dtype"}, {elementwise_affine = true,
    ["!normalized_shape"] = true}, ...)
  self.normalized_shape, self.eps = as_list(o.normalized_shape), o.eps
  if o.elementwise_affine then
    self.weight = ones(self.normalized_shape, o.dtype)
  end
end
function RMSNorm:forward(x)
  return la.rms_norm(x, self.normalized_shape, self.weight, self.eps)
end
RMSNorm.extra_repr = function(self)
  return "{" .. table.concat(self.normalized_shape, ", ") .. "}"
end

local GroupNorm = nn.class "GroupNorm"
nn.GroupNorm = GroupNorm
function GroupNorm:init(...)
  local o = options("GroupNorm", {"num_groups", "num_channels", "eps",
    "affine", "dtype"}, {eps = 1e-5, affine = true, ["!num_groups"] = true,
    ["!num_channels"] = true}, ...)
  if o.num_channels % o.num_groups ~= 0 then
    error("num_channels must be divisible by num_groups", 3)
  end
  self.num_groups, self.eps = o.num_groups, o.eps
  if o.affine then
    self.weight = ones({o.num_channels}, o.dtype)
    self.bias = zeros({o.num_channels}, o.dtype)
  end
end
function GroupNorm:forward(x)
  return la.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)
end
function GroupNorm:extra_repr()
  return self.num_groups .. " groups, eps=" .. numbers.text(self.eps)
end

return nn
