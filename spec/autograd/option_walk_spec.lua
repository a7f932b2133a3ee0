-- The derivative of every row with each of its optional arguments at other
-- values than the default, one and two at a time, against differences.
local la = require "lunarray"
local row_calls = require "spec.support.row_calls"

local is_tensor = la.is_tensor

local VALUES = {
  bool = {true, false}, ["bool?"] = {true, false}, Scalar = {0.75, -2},
  float = {0.5, 2}, ["float?"] = {0, 1, 2.5}, int = {1, 2, -1},
  ["int?"] = {1, 2}, index = {1, 2}, ["index?"] = {1, 2}, dim = {1, 2, -1},
  ["dim?"] = {1, 2}, ["dim[]"] = {{1}, {2}, {1, 2}},
  ["dim[]?"] = {{1}, {-1}, {1, 2}}, ["int[]"] = {{1}, {2}}
}
local WORDS = {
  approximate = {"none", "tanh"}, reduction = {"sum", "mean", "none"},
  interpolation = {"lower", "higher", "midpoint", "nearest"},
  reduce = {"sum", "prod", "mean", "amax", "amin"}, uplo = {"L", "U"},
  mode = {"complete", "reduced", "reflect", "replicate", "circular"},
  norm = {"forward", "backward", "ortho"}, side = {"left", "right"}
}
-- Random, or without a difference to compare with.
local LEFT_OUT = {training = true, dtype = true, device = true,
  memory_format = true, generator = true, p = true, inplace = true,
  seed = true}
-- Gradients that are not of what is computed: those of the soft sample, of a
-- matrix taken as symmetric, of values cut by rank or without a history; and
-- steps, at which numbers of few digits lie.
local NOT_OF = {round = "decimals", gumbel_softmax = "hard", pinv = "hermitian",
  pinverse = "rcond", gaussian_nll_loss = "eps"}
local MOST = 60             -- calls of a row

local function options_of(op)
  local list = {}
  for kind, name in op.signature:gmatch("(%a[%w%[%]%?]*) (%w+)=") do
    local values = WORDS[name] or VALUES[kind]
    if values and not LEFT_OUT[name] and NOT_OF[op.name] ~= name then
      list[#list + 1] = {name = name, values = values}
    end
  end
  return list
end

local RANGES = {{-1.7, 1.9}, {0.15, 0.85}, {1.2, 2.6}}

-- Distinct numbers, in random order.
local function numbers(shape, range, g)
  local n = 1
  for _, s in ipairs(shape) do n = n * s end
  local steps = la.randperm(n, {generator = g}):double() - 0.5
  return (steps * ((range[2] - range[1]) / math.max(n, 1)) + range[1])
    :view(shape)
end

-- The call's arguments with leaves in float64, and the leaves.
local function leaves_of(args, range, wider)
  local g, out, leaves = la.Generator(3), {n = args.n}, {}
  for k = 1, args.n do
    local v = args[k]
    if is_tensor(v) and v:is_floating_point() then
      local shape = {table.unpack(v.shape)}
      if wider then table.insert(shape, 1, 2) end
      v = numbers(shape, range, g):requires_grad_()
      leaves[#leaves + 1] = v
    elseif type(v) == "table" then
      return out, {}
    end
    out[k] = v
  end
  return out, leaves
end

local function results_of(fn, args, keywords)
  local call = {table.unpack(args, 1, args.n)}
  call[args.n + 1] = keywords
  la.manual_seed(1)
  return fn(table.unpack(call, 1, args.n + 1))
end

-- Are the results finite floats of float64?
local function is_fair(fn, args, keywords)
  local out = table.pack(pcall(results_of, fn, args, keywords))
  if not out[1] then return false end
  local found = false
  for k = 2, out.n do
    local t = out[k]
    if is_tensor(t) and t:is_floating_point() then
      if t.dtype ~= "float64" or not t.requires_grad
          or not t:detach():abs():lt(1e6):all() then
        return false
      end
      found = true
    elseif not is_tensor(t) or t:is_complex() then
      return false
    end
  end
  return found
end

local function fault(fn, args, leaves, keywords)
  local function f(...)
    local with, at = {...}, 0
    local call = {n = args.n}
    for k = 1, args.n do
      call[k] = args[k]
      if is_tensor(args[k]) and args[k].requires_grad then
        at = at + 1
        call[k] = with[at]
      end
    end
    local kept = {}
    for _, t in ipairs(table.pack(results_of(fn, call, keywords))) do
      if t:is_floating_point() then kept[#kept + 1] = t end
    end
    return table.unpack(kept)
  end
  local ok, why = pcall(la.gradcheck, f, leaves, {fast_mode = true})
  return not ok and why or nil
end

-- Sets of one or two options, at most MOST.
local function sets_of(options)
  local sets = {}
  for i, a in ipairs(options) do
    for _, x in ipairs(a.values) do
      sets[#sets + 1] = {[a.name] = x}
      for j = i + 1, #options do
        for _, y in ipairs(options[j].values) do
          sets[#sets + 1] = {[a.name] = x, [options[j].name] = y}
        end
      end
    end
  end
  if #sets <= MOST then return sets end
  local some = {}
  for k = 1, MOST do some[k] = sets[(k - 1) * #sets // MOST + 1] end
  return some
end

local function text_of(set)
  local words = {}
  for name, v in pairs(set) do
    words[#words + 1] = name .. " = " .. (type(v) == "table"
      and "{" .. table.concat(v, ", ") .. "}" or tostring(v))
  end
  table.sort(words)
  return table.concat(words, ", ")
end

-- Arguments for which the call with defaults is right; nil where there are
-- none.
local function base_of(fn, args, wider)
  for _, range in ipairs(RANGES) do
    local call, leaves = leaves_of(args, range, wider)
    if #leaves == 0 then return nil end
    if is_fair(fn, call, nil) and not fault(fn, call, leaves, nil) then
      return call, leaves
    end
  end
end

local function arguments_of(op)
  local call = row_calls.find(op)
  if not call then return nil end
  local fn, args = call.fn, nil
  call.fn = function(...) args = table.pack(...) end
  call.run("float32")
  call.fn = fn
  return args, fn
end

describe("the derivative with other options", function()
  local tried = 0

  for _, op in ipairs(la.operations()) do
    local options = op.differentiable and options_of(op) or {}
    if #options > 0 then
      it(op.row, function()
        local args, fn = arguments_of(op)
        if not args then return end
        local bad = {}
        for _, wider in ipairs {false, true} do
          local call, leaves = base_of(fn, args, wider)
          for _, set in ipairs(call and sets_of(options) or {}) do
            if is_fair(fn, call, set) then
              tried = tried + 1
              local why = fault(fn, call, leaves, set)
              if why then bad[#bad + 1] = text_of(set) .. ": " .. why end
            end
          end
        end
        assert.equal("", table.concat(bad, "\n"))
      end)
    end
  end

  it("was looked at often", function() assert.is_true(tried > 1000, tried) end)
end)
