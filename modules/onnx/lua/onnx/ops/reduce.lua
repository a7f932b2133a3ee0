-- lunarray.onnx.ops.reduce: reductions, positions of extremes, softmax.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("")
local dims = rows.dims

-- ---- reductions ----

-- Sums of integers keep their dtype.
local function same(x, y) return y.dtype == x.dtype and y or y:to(x.dtype) end

local function sum(x, d, keep) return same(x, x:sum(d, keep)) end

local function product(x, d, keep)
  local out = x
  local list = {}
  for k, dim in ipairs(d) do list[k] = dim < 0 and x.ndim + dim + 1 or dim end
  table.sort(list)
  for k = #list, 1, -1 do out = out:prod(list[k], true) end
  if not keep then out = out:squeeze(list) end
  return same(x, out)
end

-- An integer's mean is rounded towards zero.
local function mean(x, d, keep)
  if x:is_floating_point() then return x:mean(d, keep) end
  return x:to("float64"):mean(d, keep):to(x.dtype)
end

local function extreme(name)
  local run = la[name]
  local limit = name == "amax" and -math.huge or math.huge
  return function(x, d, keep)
    if x:numel() > 0 or x.ndim == 0 then return run(x, d, keep) end
    local shape = {}
    local gone = {}
    for _, dim in ipairs(d) do
      gone[dim < 0 and x.ndim + dim + 1 or dim] = true
    end
    for k = 1, x.ndim do
      if not gone[k] then shape[#shape + 1] = x:size(k)
      elseif keep then shape[#shape + 1] = 1 end
    end
    if x:is_floating_point() then
      return la.full(shape, limit, {dtype = x.dtype})
    end
    if x.dtype == "bool" then
      return la.full(shape, name == "amin", {dtype = "bool"})
    end
    local info = la.iinfo(x.dtype)
    return la.full(shape, name == "amax" and info.min or info.max,
      {dtype = x.dtype})
  end
end

local function in_float(f)
  return function(x, d, keep)
    if x:is_floating_point() then return f(x, d, keep) end
    return f(x:to("float64"), d, keep):to(x.dtype)
  end
end

local kinds = {
  ReduceSum = sum,
  ReduceProd = product,
  ReduceMean = mean,
  ReduceMax = extreme("amax"),
  ReduceMin = extreme("amin"),
  ReduceL1 = function(x, d, keep) return sum(x:abs(), d, keep) end,
  ReduceL2 = in_float(function(x, d, keep)
    return (x * x):sum(d, keep):sqrt()
  end),
  ReduceSumSquare = function(x, d, keep) return sum(x * x, d, keep) end,
  ReduceLogSum = in_float(function(x, d, keep)
    return x:sum(d, keep):log()
  end),
  ReduceLogSumExp = in_float(function(x, d, keep)
    return la.logsumexp(x, d, keep)
  end),
}

-- From opset 18 (sum: 13) on axes are an input; without any all dims, or none
-- with noop_with_empty_axes.
local function all_dims(x)
  local out = {}
  for k = 1, x.ndim do out[k] = k end
  return out
end

local SELF = {ReduceL1 = "abs", ReduceSumSquare = "square", ReduceLogSum =
  "log"}

for name, run in pairs(kinds) do
  op[name] = function(node)
    local keep = node:get("keepdims", 1) ~= 0
    local noop = node:get("noop_with_empty_axes", 0) == 1
    local fixed = node.attributes.axes and dims(node.attributes.axes)
    return function(x, axes)
      local d = fixed or axes and dims(rows.list(axes))
      if not d or #d == 0 then
        if noop then
          if SELF[name] then return x[SELF[name]](x) end
          if name == "ReduceL2" then return x:abs() end
          return x:clone()
        end
        d = all_dims(x)
      end
      if x.ndim == 0 then return run(x:reshape(1), {1}, false) end
      return run(x, d, keep)
    end
  end
end

-- ---- positions ----

local function position(name, run)
  op[name] = function(node)
    local axis = rows.dim(node:get("axis", 0))
    local keep = node:get("keepdims", 1) ~= 0
    local last = node:get("select_last_index", 0) == 1
    return function(x)
      if not last then return run(x, axis, keep) - 1 end
      local dim = axis < 0 and x.ndim + axis + 1 or axis
      return x:size(dim) - run(x:flip(dim), dim, keep)
    end
  end
end

position("ArgMax", la.argmax)
position("ArgMin", la.argmin)

function op.TopK(node)
  local dim = rows.dim(node:get("axis", -1))
  local largest = node:get("largest", 1) ~= 0
  local fixed = node.attributes.k
  return function(x, k)
    local n = fixed or rows.number(k)
    local values, positions = x:topk(n, dim, largest, true)
    return values, positions - 1
  end
end

-- ---- along a dim ----

-- Before opset 13 all dims from the axis on are one row.
local function along(name, run)
  op[name] = function(node)
    local old = node.version < 13
    local axis = node:get("axis", old and 1 or -1)
    return function(x)
      local dim = rows.dim(axis)
      if not old then return run(x, dim) end
      if dim < 0 then dim = x.ndim + dim + 1 end
      return run(rows.matrix(x, dim), 2):reshape(rows.sizes(x))
    end
  end
end

along("Softmax", la.softmax)
along("LogSoftmax", la.log_softmax)
-- One at the first largest element.
along("Hardmax", function(x, dim)
  return la.zeros_like(x):scatter(dim, x:argmax(dim, true), 1)
end)

function op.LpNormalization(node)
  local dim, p = rows.dim(node:get("axis", -1)), node:get("p", 2)
  return function(x)
    local norm = p == 1 and x:abs():sum({dim}, true)
      or (x * x):sum({dim}, true):sqrt()
    return la.where(norm:eq(0), la.zeros_like(x), x / norm)
  end
end
