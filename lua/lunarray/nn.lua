-- lunarray.nn: networks as objects that hold parameters. What they compute is
-- operations of the library; modules only keep the state.
local nn = require "lunarray.nn.module"

require "lunarray.nn.initial"
require "lunarray.nn.layers"
require "lunarray.nn.norms"
require "lunarray.nn.containers"
require "lunarray.nn.recurrent"
require "lunarray.nn.attention"
require "lunarray.nn.losses"
require "lunarray.nn.summary"

-- What stands for a class of PyTorch that is not here.
local instead = {}
for names, text in pairs{
  ["ConstantPad ZeroPad ReflectionPad ReplicationPad CircularPad"] =
    "la.pad(x, {left, right, ...}, mode)",
  MaxUnpool = "la.max_unpool2d(x, indices, ...) and its kin",
  RReLU = "la.rrelu", CrossMapLRN = "nn.LocalResponseNorm",
  Softmax = "nn.Softmax(2)", NLLLoss = "nn.NLLLoss",
  LPPool = "(la.avg_pool3d(x:abs() ^ p, size) * count) ^ (1 / p)",
  TripletMarginWithDistanceLoss = "la.triplet_margin_loss",
  LinearCrossEntropyLoss = "nn.Linear, then nn.CrossEntropyLoss",
  AdaptiveLogSoftmaxWithLoss = "nn.Linear, then nn.CrossEntropyLoss",
  ["RNNBase RNNCellBase"] = "nn.RNN, nn.LSTM, nn.GRU and their cells",
  ["Container ParameterDict"] = "a field of a module holds what it is given",
  ["functional F"] = "its functions are those of la: la.relu(x)",
  ["utils modules"] = "all of it stands in nn itself: nn.clip_grad_norm_",
  parameter = "nn.Parameter(t)",
  attention = "nn.MultiheadAttention, la.scaled_dot_product_attention",
  Buffer = "module:register_buffer(name, tensor)",
  ["DataParallel SyncBatchNorm"] = "one processor is used by threads",
} do
  for name in names:gmatch("%S+") do instead[name] = text end
end

setmetatable(nn, {__index = function(_, name)
  if type(name) ~= "string" then return nil end
  local lazy = name:match("^Lazy(%u%w+)$")
  local text = instead[name] or instead[name:match("^(%a+)[123]d$")]
    or lazy and rawget(nn, lazy) and ("nn.%s with all sizes"):format(lazy)
  if text then error(("nn has no %s: %s"):format(name, text), 2, name) end
end})

return nn
