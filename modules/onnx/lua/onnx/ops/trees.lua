-- lunarray.onnx.ops.trees: ensembles of decision trees. All samples go down all
-- trees together, a level at a time: a table of nodes by number, in which
-- leaves lead to themselves.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("ai.onnx.ml")

local trees = {}

-- ---- what becomes of scores ----

local function probit(x) return la.erfinv(x * 2 - 1) * math.sqrt(2) end

local TRANSFORMS = {
  NONE = function(x) return x end,
  SOFTMAX = function(x) return la.softmax(x, -1) end,
  LOGISTIC = function(x) return x:sigmoid() end,
  -- Zeros stay zeros.
  SOFTMAX_ZERO = function(x)
    local zero = x:eq(0)
    local y = la.softmax(x:masked_fill(zero, -math.huge), -1)
    return y:masked_fill(zero, 0)
  end,
  PROBIT = probit,
}

function trees.transform(node)
  local name = node:get("post_transform", "NONE")
  if type(name) == "number" then
    name = ({[0] = "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
      "PROBIT"})[name]
  end
  return TRANSFORMS[name] or node:refuse("post_transform '%s'", tostring(name)),
    name
end

-- Labels of a classifier for columns from 1.
function trees.labels(node)
  local words = node.attributes.classlabels_strings
  local numbers = node.attributes.classlabels_int64s
    or node.attributes.classlabels_ints
  local list = words and #words > 0 and words or numbers or {}
  local function pick(columns)
    local out = {}
    for k, column in ipairs(columns:totable()) do
      out[k] = list[column] or column - 1
    end
    if type(list[1]) == "string" then return out end
    return rows.tensor(out, "int64")
  end
  return pick, #list
end

-- ---- tables of nodes ----

local MODES = {BRANCH_LEQ = "le", BRANCH_LT = "lt", BRANCH_GTE = "ge",
  BRANCH_GT = "gt", BRANCH_EQ = "eq", BRANCH_NEQ = "ne", LEAF = "leaf"}
local CODES = {[0] = "le", "lt", "ge", "gt", "eq", "ne", "member"}

-- nodes: lists feature, value, yes, no (numbers from 1), mode, missing (a NaN
-- goes to yes); roots. Raises for a way that leads back.
local function check_depth(t)
  local depth, state = {}, {}
  local function visit(root)
    local stack = {root}
    while #stack > 0 do
      local k = stack[#stack]
      if t.mode[k] == "leaf" then
        depth[k], state[k] = 0, 2
        stack[#stack] = nil
      elseif state[k] == 1 then
        state[k] = 2
        depth[k] = 1 + math.max(depth[t.yes[k]], depth[t.no[k]])
        stack[#stack] = nil
      elseif state[k] == 2 then
        stack[#stack] = nil
      else
        state[k] = 1
        for _, child in ipairs{t.yes[k], t.no[k]} do
          if not t.mode[child] or state[child] == 1 then
            error("a tree leads to no node, or back to one", 0)
          end
          if not state[child] then stack[#stack + 1] = child end
        end
      end
    end
    return depth[root]
  end
  local most = 0
  for _, root in ipairs(t.roots) do most = math.max(most, visit(root)) end
  return most
end

local function finish(t)
  t.depth = check_depth(t)
  local kinds = {}
  for k, mode in ipairs(t.mode) do
    if mode == "leaf" then t.yes[k], t.no[k], t.feature[k] = k, k, 1 end
    if mode ~= "leaf" then kinds[mode] = true end
  end
  t.kinds = {}
  for mode in pairs(kinds) do
    local mask = {}
    for k, own in ipairs(t.mode) do mask[k] = own == mode end
    t.kinds[#t.kinds + 1] = {mode, rows.tensor(mask, "bool")}
  end
  for _, key in ipairs{"feature", "yes", "no", "roots"} do
    t[key] = rows.tensor(t[key], "int64")
  end
  t.value = rows.tensor(t.value, "float64")
  t.missing = t.missing and rows.tensor(t.missing, "bool")
  return t
end

local COMPARE = {le = la.le, lt = la.lt, ge = la.ge, gt = la.gt, eq = la.eq,
  ne = la.ne}

-- Is the value of each sample one of the set of its node?
local function member(t, at, x)
  local list, values = at:flatten():totable(), x:flatten():totable()
  local out = {}
  for k, n in ipairs(list) do
    out[k] = t.sets[n] and t.sets[n][values[k]] or false
  end
  return rows.tensor(out, "bool"):reshape(rows.sizes(at))
end

local function pick(table_of, at)
  return table_of:index_select(1, at:flatten()):reshape(rows.sizes(at))
end

-- The leaf of each sample in each tree (samples, trees).
local function leaves(t, x)
  x = x:to("float64")
  local n, m = x:size(1), t.roots:size(1)
  local at = t.roots:reshape(1, m):expand(n, m)
  for _ = 1, t.depth do
    local value = x:gather(2, pick(t.feature, at))
    local limit, yes = pick(t.value, at), nil
    for _, kind in ipairs(t.kinds) do
      local name, mask = kind[1], kind[2]
      local hit = name == "member" and member(t, at, value)
        or COMPARE[name](value, limit)
      if #t.kinds > 1 then hit = hit:logical_and(pick(mask, at)) end
      yes = yes and yes:logical_or(hit) or hit
    end
    if t.missing then
      yes = yes:logical_or(value:isnan():logical_and(pick(t.missing, at)))
    end
    at = la.where(yes, pick(t.yes, at), pick(t.no, at))
  end
  return at
end

-- How the weights of the trees come together: (samples, targets).
local function aggregate(t, x, how, targets)
  local at = leaves(t, x)
  local n, m = at:size(1), at:size(2)
  local w = t.weights:index_select(1, at:flatten()):reshape(n, m, targets)
  if how == "MIN" or how == 2 then return w:amin({2}) end
  if how == "MAX" or how == 3 then return w:amax({2}) end
  local sum = w:sum({2})
  if how == "AVERAGE" or how == 0 then return sum / m end
  return sum
end

-- Weights of all nodes by target.
local function weigh(t, count, targets, nodes_of, targets_of, values)
  local list = {}
  if targets < 1 then error("no targets", 0) end
  rows.check_count(rows.check_count(targets) * count)
  for k = 1, count * targets do list[k] = 0.0 end
  for k, node in ipairs(nodes_of) do
    local target = targets_of[k]
    if target < 0 or target >= targets then
      error("a leaf names a target that there is none of", 0)
    end
    local index = (node - 1) * targets + target + 1
    list[index] = list[index] + values[k]
  end
  t.weights = rows.tensor(list, "float64"):reshape(count, targets)
end

-- ---- the older operators: nodes by tree and number ----

local function tensor_list(t)
  return t and t.tensor and t.tensor:totable() or nil
end

local function old_tables(node, kind)
  local a = node.attributes
  local index, t = {}, {feature = {}, value = {}, yes = {}, no = {}, mode = {},
    roots = {}}
  local ids, members = a.nodes_treeids or {}, a.nodes_nodeids or {}
  local values = tensor_list(a.nodes_values_as_tensor) or a.nodes_values or {}
  local tracks = a.nodes_missing_value_tracks_true
  local is_child, seen = {}, {}
  for k, tree in ipairs(ids) do
    index[tree] = index[tree] or {}
    index[tree][members[k]] = k
  end
  if tracks and #tracks > 0 then t.missing = {} end
  for k, tree in ipairs(ids) do
    local mode = MODES[a.nodes_modes[k]]
    if not mode then error("mode " .. tostring(a.nodes_modes[k]), 0) end
    t.mode[k], t.feature[k] = mode, (a.nodes_featureids[k] or 0) + 1
    t.value[k] = values[k] or 0.0
    if t.missing then t.missing[k] = tracks[k] == 1 end
    t.yes[k] = mode ~= "leaf" and index[tree][a.nodes_truenodeids[k]] or k
    t.no[k] = mode ~= "leaf" and index[tree][a.nodes_falsenodeids[k]] or k
    if mode ~= "leaf" then
      is_child[t.yes[k]], is_child[t.no[k]] = true, true
    end
  end
  for k, tree in ipairs(ids) do
    if not is_child[k] and not seen[tree] then
      seen[tree] = true
      t.roots[#t.roots + 1] = k
    end
  end
  local weights = tensor_list(a[kind .. "_weights_as_tensor"])
    or a[kind .. "_weights"] or {}
  local nodes = {}
  for k, tree in ipairs(a[kind .. "_treeids"] or {}) do
    nodes[k] = (index[tree] or {})[a[kind .. "_nodeids"][k]]
    if not nodes[k] then error("a weight of no node", 0) end
  end
  return finish(t), nodes, a[kind .. "_ids"] or {}, weights, #ids
end

local function base_values(node)
  local list = tensor_list(node.attributes.base_values_as_tensor)
    or node.attributes.base_values
  return list and #list > 0 and rows.tensor(list, "float64") or nil
end

function op.TreeEnsembleRegressor(node)
  local t, nodes, ids, weights, count = old_tables(node, "target")
  local targets = node:get("n_targets", 1)
  weigh(t, count, targets, nodes, ids, weights)
  local base, transform = base_values(node), trees.transform(node)
  local how = node:get("aggregate_function", "SUM")
  return function(x)
    local y = aggregate(t, x, how, targets)
    if base then y = y + base end
    return transform(y):to("float32")
  end
end

-- Two classes may have the weights of one alone: the other's follow.
function op.TreeEnsembleClassifier(node)
  local t, nodes, ids, weights, count = old_tables(node, "class")
  local transform, name = trees.transform(node)
  local label, classes = trees.labels(node)
  local first, single, positive = ids[1], classes == 2, true
  for k, id in ipairs(ids) do
    single = single and id == first
    positive = positive and weights[k] >= 0
  end
  local base = base_values(node)
  if base and base:numel() == 2 then single = false end
  if single then
    for k in ipairs(ids) do ids[k] = 0 end
  end
  local targets = single and 1 or math.max(classes, 1)
  weigh(t, count, targets, nodes, ids, weights)
  return function(x)
    local y = aggregate(t, x, "SUM", targets)
    if base then y = y + base end
    if not single then
      return label(y:argmax(2)), transform(y):to("float32")
    end
    local yes = y:gt(positive and 0.5 or 0):to("int64"):flatten() + 1
    local pair
    if positive and name ~= "PROBIT" then
      pair = la.cat({1 - y, y}, 2)
    else
      pair = transform(la.cat({-y, y}, 2))
    end
    return label(yes), pair:to("float32")
  end
end

-- ---- the newer operator: inner nodes and leaves in lists of their own ----

function op.TreeEnsemble(node)
  local a = node.attributes
  local splits = tensor_list(a.nodes_splits)
  local modes = a.nodes_modes.tensor:totable()
  local weights = tensor_list(a.leaf_weights)
  local members = tensor_list(a.membership_values)
  local inner, targets = #modes, node:get("n_targets", 1)
  local t = {feature = {}, value = {}, yes = {}, no = {}, mode = {}, roots = {},
    sets = {}}
  local at = 1
  if a.nodes_missing_value_tracks_true then t.missing = {} end
  for k = 1, inner do
    t.mode[k] = CODES[modes[k]]
    t.feature[k], t.value[k] = a.nodes_featureids[k] + 1, splits[k]
    t.yes[k] = a.nodes_truenodeids[k] + 1
      + (a.nodes_trueleafs[k] ~= 0 and inner or 0)
    t.no[k] = a.nodes_falsenodeids[k] + 1
      + (a.nodes_falseleafs[k] ~= 0 and inner or 0)
    if t.missing then
      t.missing[k] = a.nodes_missing_value_tracks_true[k] ~= 0
    end
    if t.mode[k] == "member" then
      t.sets[k] = {}
      while members and members[at] and members[at] == members[at] do
        t.sets[k][members[at]] = true
        at = at + 1
      end
      at = at + 1
    end
  end
  local nodes = {}
  for k = 1, #weights do
    local n = inner + k
    t.mode[n], t.feature[n], t.value[n] = "leaf", 1, 0.0
    if t.missing then t.missing[n] = false end
    nodes[k] = n
  end
  for k, root in ipairs(a.tree_roots) do
    t.roots[k] = root + 1
    if a.nodes_trueleafs[root + 1] ~= 0 and a.nodes_falseleafs[root + 1] ~= 0
      and a.nodes_truenodeids[root + 1] == a.nodes_falsenodeids[root + 1] then
      t.roots[k] = t.yes[root + 1]
    end
  end
  finish(t)
  weigh(t, inner + #weights, targets, nodes, a.leaf_targetids, weights)
  local transform = trees.transform(node)
  local how = node:get("aggregate_function", 1)
  return function(x)
    return transform(aggregate(t, x, how, targets)):to(x.dtype)
  end
end

return trees
