-- lunarray.onnx.ops.ml: the operators of ai.onnx.ml but for trees: encoders,
-- scalers, linear models, support vectors.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"
local trees = require "lunarray.onnx.ops.trees"

local op = rows.domain("ai.onnx.ml")
local sizes = rows.sizes

local function matrix(x) return x.ndim == 1 and x:unsqueeze(1) or x end
local function as_float(x)
  return x:is_floating_point() and x or x:to("float32")
end

-- ---- encoders ----

-- Keys or values of a LabelEncoder, in any of the forms of its versions.
local function mapping(node, what)
  local a = node.attributes
  for _, suffix in ipairs{"strings", "int64s", "floats"} do
    local list = a[what .. "_" .. suffix]
    if list and #list > 0 then return list, suffix end
  end
  local t = a[what .. "_tensor"]
  if not t then return nil end
  if t.strings then return t.strings, "strings" end
  return t.tensor:totable(), t.tensor.dtype
end

local DTYPES = {int64s = "int64", floats = "float32"}

local function default_of(node, kind)
  local a = node.attributes
  local t = a.default_tensor
  if t then
    return t.strings and t.strings[1] or t.tensor:flatten()[1]:item()
  end
  if kind == "strings" then return a.default_string or "_Unused" end
  if kind == "int64s" then return a.default_int64 or -1 end
  if kind == "floats" then return a.default_float or 0.0 end
  return kind:find("float") and 0.0 or -1
end

local NAN = {}      -- stands for NaN as a key

local function encode(x, map, default, kind)
  local strings = rows.is_strings(x)
  local shape = strings and rows.string_shape(x) or sizes(x)
  local out = {}
  for k, value in ipairs(strings and x or x:flatten():totable()) do
    if value ~= value then value = NAN end
    local found = map[value]
    if found == nil then found = default end
    out[k] = found
  end
  if kind == "strings" then return rows.strings(out, shape) end
  return rows.tensor(out, DTYPES[kind] or kind):reshape(shape)
end

-- Strings become numbers by 'back', numbers strings by 'forth'.
local function either_way(a, forth, back)
  return function(x)
    if rows.is_strings(x) then
      return encode(x, back, a.default_int64 or -1, "int64s")
    end
    return encode(x, forth, a.default_string or "_Unused", "strings")
  end
end

function op.LabelEncoder(node)
  local a = node.attributes
  if a.classes_strings then
    local names, back = a.classes_strings, {}
    for k, name in ipairs(names) do back[name] = k - 1 end
    local forth = {}
    for k, name in ipairs(names) do forth[k - 1] = name end
    return either_way(a, forth, back)
  end
  local keys = mapping(node, "keys")
  local values, kind = mapping(node, "values")
  if not keys or not values then return node:refuse("no keys or no values") end
  local map, default = {}, default_of(node, kind)
  for k, key in ipairs(keys) do
    if key ~= key then key = NAN end
    if map[key] == nil then map[key] = values[k] end
  end
  return function(x) return encode(x, map, default, kind) end
end

function op.CategoryMapper(node)
  local a, forth, back = node.attributes, {}, {}
  for k, name in ipairs(a.cats_strings or {}) do
    back[name], forth[a.cats_int64s[k]] = a.cats_int64s[k], name
  end
  return either_way(a, forth, back)
end

function op.OneHotEncoder(node)
  local a = node.attributes
  local words = a.cats_strings and #a.cats_strings > 0
  local list = words and a.cats_strings or a.cats_int64s
  local zeros = node:get("zeros", 1) ~= 0
  return function(x)
    local shape = rows.is_strings(x) and rows.string_shape(x) or sizes(x)
    local flat = rows.is_strings(x) and x or x:flatten():totable()
    local out = {}
    for _, value in ipairs(flat) do
      local hit = false
      for _, category in ipairs(list) do
        local same = value == category
        hit = hit or same
        out[#out + 1] = same and 1.0 or 0.0
      end
      if not hit and not zeros then
        error("OneHotEncoder: no such category", 0)
      end
    end
    shape = table.move(shape, 1, #shape, 1, {})
    shape[#shape + 1] = #list
    return rows.tensor(out, "float32"):reshape(shape)
  end
end

-- Maps are tables.
function op.DictVectorizer(node)
  local a = node.attributes
  local list = a.string_vocabulary or a.int64_vocabulary or {}
  return function(map)
    local out, dtype = {}, "float32"
    for k, key in ipairs(list) do out[k] = map[key] or 0 end
    for _, value in pairs(map) do
      if type(value) == "string" then
        for k in ipairs(list) do out[k] = map[list[k]] or "" end
        return rows.strings(out, {1, #list})
      end
      dtype = math.type(value) == "integer" and "int64" or "float32"
    end
    return rows.tensor(out, dtype):reshape(1, #list)
  end
end

function op.CastMap(node)
  local to = node:get("cast_to", "TO_FLOAT")
  local sparse = node:get("map_form", "DENSE") == "SPARSE"
  local most = node:get("max_map", 1)
  return function(map)
    local keys, out = {}, {}
    for key in pairs(map) do keys[#keys + 1] = key end
    table.sort(keys)
    if sparse then
      for k = 1, most do out[k] = 0.0 end
      for _, key in ipairs(keys) do
        if key < most then out[key + 1] = tonumber(map[key]) end
      end
    else
      for k, key in ipairs(keys) do out[k] = map[key] end
    end
    if to == "TO_STRING" then
      for k, v in ipairs(out) do out[k] = tostring(v) end
      return rows.strings(out, {1, #out})
    end
    for k, v in ipairs(out) do out[k] = tonumber(v) end
    return rows.tensor(out, to == "TO_INT64" and "int64" or "float32")
      :reshape(1, #out)
  end
end

-- Probabilities as a list of tables by class.
op.ZipMap = {keeps = true, make = function(node)
  local a = node.attributes
  local keys = a.classlabels_strings and #a.classlabels_strings > 0
    and a.classlabels_strings or a.classlabels_int64s or {}
  return function(x)
    local out = {}
    for k, row in ipairs(matrix(x):totable()) do
      out[k] = {}
      for c, key in ipairs(keys) do out[k][key] = row[c] end
    end
    return out
  end
end}

-- ---- features ----

function op.ArrayFeatureExtractor()
  return function(x, index)
    local y = x.ndim == 1 and x:unsqueeze(1) or x
    return y:index_select(y.ndim, rows.positions(index):flatten())
  end
end

function op.Binarizer(node)
  local limit = node:get("threshold", 0.0)
  return function(x) return x:gt(limit):to(x.dtype) end
end

function op.FeatureVectorizer()
  return function(...)
    local list = {}
    for k, x in ipairs{...} do list[k] = matrix(x):to("float32") end
    return la.cat(list, 2)
  end
end

function op.Imputer(node)
  local a = node.attributes
  local values = a.imputed_value_floats or a.imputed_value_int64s
  local missing = a.replaced_value_float or a.replaced_value_int64
  if not values then return node:refuse("Imputer without values") end
  return function(x)
    local new = rows.tensor(values, x.dtype)
    local hit
    if missing == nil or missing ~= missing then hit = x:isnan()
    else hit = x:eq(missing) end
    return la.where(hit, new, x)
  end
end

function op.Normalizer(node)
  local norm = node:get("norm", "MAX")
  return function(x)
    local y = as_float(x)
    local d
    if norm == "L1" then d = y:abs():sum({y.ndim}, true)
    elseif norm == "L2" then d = (y * y):sum({y.ndim}, true):sqrt()
    else d = y:amax({y.ndim}, true) end
    return la.where(d:eq(0), y, y / d):to("float32")
  end
end

function op.Scaler(node)
  local offset = rows.tensor(node:get("offset", {0.0}), "float32")
  local scale = rows.tensor(node:get("scale", {1.0}), "float32")
  return function(x) return (x:to("float32") - offset) * scale end
end

-- ---- linear models ----

function op.LinearRegressor(node)
  local targets = node:get("targets", 1)
  local w = rows.tensor(node:get("coefficients"), "float32")
    :reshape(targets, -1)
  local b = node.attributes.intercepts
  b = b and #b > 0 and rows.tensor(b, "float32") or nil
  local transform = trees.transform(node)
  return function(x)
    return transform(la.linear(matrix(x):to("float32"), w, b))
  end
end

function op.LinearClassifier(node)
  local label, classes = trees.labels(node)
  local b = node:get("intercepts", {})
  local coefficients = node:get("coefficients")
  local single = classes == 2 and #b == 1
  local w = rows.tensor(coefficients, "float32")
    :reshape(single and 1 or math.max(classes, 1), -1)
  b = #b > 0 and rows.tensor(b, "float32") or nil
  local transform = trees.transform(node)
  return function(x)
    local y = la.linear(matrix(x):to("float32"), w, b)
    if single then y = la.cat({-y, y}, 2) end
    return label(y:argmax(2)), transform(y)
  end
end

-- ---- support vectors ----

local function kernel_of(node)
  local kind = node:get("kernel_type", "LINEAR")
  local p = node:get("kernel_params", {})
  local gamma, coefficient, degree = p[1] or 0, p[2] or 0, p[3] or 0
  if kind == "LINEAR" then
    return function(x, v) return x:matmul(v:t()) end
  elseif kind == "POLY" then
    return function(x, v)
      return (x:matmul(v:t()) * gamma + coefficient):pow(degree)
    end
  elseif kind == "RBF" then
    return function(x, v)
      local d = x:unsqueeze(2) - v:unsqueeze(1)
      return ((d * d):sum({3}) * -gamma):exp()
    end
  elseif kind == "SIGMOID" then
    return function(x, v)
      return (x:matmul(v:t()) * gamma + coefficient):tanh()
    end
  end
  return nil, kind
end

function op.SVMRegressor(node)
  local kernel, unknown = kernel_of(node)
  if not kernel then return node:refuse("kernel_type '%s'", unknown) end
  local n = node:get("n_supports", 0)
  local w = rows.tensor(node:get("coefficients"), "float32")
  local rho = node:get("rho", {0.0})[1]
  local transform = trees.transform(node)
  local one_class = node:get("one_class", 0) ~= 0
  local v = n > 0 and rows.tensor(node:get("support_vectors"), "float32")
    :reshape(n, -1)
  return function(x)
    x = matrix(x):to("float32")
    local y = v and kernel(x, v):matmul(w:unsqueeze(2))
      or x:matmul(w:unsqueeze(2))
    y = y + rho
    if one_class then
      y = la.where(y:gt(0), la.ones_like(y), -la.ones_like(y))
    end
    return transform(y)
  end
end

-- Probabilities of classes from those of pairs (T.-F. Wu, C.-J. Lin and
-- R. C. Weng, 2004): the fixed point of their second method.
local function coupled(r, k)
  local q, p = {}, {}
  for t = 1, k do
    q[t], p[t] = {}, 1 / k
    local sum = 0
    for j = 1, k do
      if j ~= t then
        sum = sum + r[j][t] * r[j][t]
        q[t][j] = -r[j][t] * r[t][j]
      end
    end
    q[t][t] = sum
  end
  for _ = 1, math.max(100, k) do
    local qp, pqp, worst = {}, 0, 0
    for t = 1, k do
      qp[t] = 0
      for j = 1, k do qp[t] = qp[t] + q[t][j] * p[j] end
      pqp = pqp + p[t] * qp[t]
    end
    for t = 1, k do worst = math.max(worst, math.abs(qp[t] - pqp)) end
    if worst < 0.005 / k then break end
    for t = 1, k do
      local d = (pqp - qp[t]) / q[t][t]
      p[t] = p[t] + d
      pqp = (pqp + d * (d * q[t][t] + 2 * qp[t])) / (1 + d) / (1 + d)
      for j = 1, k do
        qp[j] = (qp[j] + d * q[t][j]) / (1 + d)
        p[j] = p[j] / (1 + d)
      end
    end
  end
  return p
end

-- Scores of all pairs of classes, votes, and what pairs there are.
local function pair_scores(s, kernels)
  local scores, votes = {}, la.zeros({kernels:size(1), s.classes})
  for i = 1, s.classes do
    for j = i + 1, s.classes do
      local a = kernels:narrow(2, s.first[i] + 1, s.counts[i])
        :matmul(s.w[j - 1]:narrow(1, s.first[i] + 1, s.counts[i]))
      local b = kernels:narrow(2, s.first[j] + 1, s.counts[j])
        :matmul(s.w[i]:narrow(1, s.first[j] + 1, s.counts[j]))
      local y = a + b + s.rho[#scores + 1]
      scores[#scores + 1] = y
      votes:select(2, i):add_(y:gt(0):to("float32"))
      votes:select(2, j):add_(y:le(0):to("float32"))
    end
  end
  return la.stack(scores, 2), votes
end

local function probabilities(s, scores)
  local out = {}
  for n, row in ipairs(scores:totable()) do
    local r, k = {}, 0
    for i = 1, s.classes do r[i] = r[i] or {} end
    for i = 1, s.classes do
      for j = i + 1, s.classes do
        k = k + 1
        local v = 1 / (1 + math.exp(row[k] * s.prob_a[k] + s.prob_b[k]))
        v = math.min(math.max(v, 1e-7), 1 - 1e-7)
        r[i][j], r[j][i] = v, 1 - v
      end
    end
    out[n] = coupled(r, s.classes)
  end
  return rows.tensor(out, "float32")
end

function op.SVMClassifier(node)
  local kernel, unknown = kernel_of(node)
  if not kernel then return node:refuse("kernel_type '%s'", unknown) end
  local a = node.attributes
  local label, classes = trees.labels(node)
  local transform = trees.transform(node)
  local w = rows.tensor(node:get("coefficients"), "float32")
  local s = {classes = classes, counts = a.vectors_per_class or {}, first = {},
    rho = node:get("rho", {0.0}), prob_a = a.prob_a, prob_b = a.prob_b}
  local total = 0
  for k, n in ipairs(s.counts) do s.first[k], total = total, total + n end
  if total == 0 then
    w = w:reshape(math.max(classes, 1), -1)
    return function(x)
      local y = matrix(x):to("float32"):matmul(w:t()) + s.rho[1]
      return label(y:argmax(2)), transform(y)
    end
  end
  s.w = w:reshape(-1, total)
  local v = rows.tensor(a.support_vectors, "float32"):reshape(total, -1)
  return function(x)
    local scores, votes = pair_scores(s, kernel(matrix(x):to("float32"), v))
    local best = votes:argmax(2)
    if s.prob_a and #s.prob_a > 0 then
      return label(best), transform(probabilities(s, scores))
    end
    if classes == 2 then scores = la.cat({-scores, scores}, 2) end
    return label(best), transform(scores)
  end
end
