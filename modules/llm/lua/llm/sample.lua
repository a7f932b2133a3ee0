-- lunarray.llm.sample: the next token of logits. Ids count from 0.
local la = require "lunarray"
local numbers = require "lunarray.numbers"

local sample = {}

-- ---- random numbers: a generator of its own, so that a seed is enough ----

-- Numbers from 0 to 1 (splitmix64).
function sample.random(seed)
  local state = seed
  return function()
    state = state + 0x9e3779b97f4a7c15
    local z = state
    z = (z ~ (z >> 30)) * 0xbf58476d1ce4e5b9
    z = (z ~ (z >> 27)) * 0x94d049bb133111eb
    z = z ~ (z >> 31)
    return (z >> 11) * 2.0 ^ -53
  end
end

-- ---- what changes logits ----

-- Logits of tokens that were among the last 64 become less probable.
local function penalise(logits, ids, penalty)
  local seen, list = {}, {}
  for i = math.max(1, #ids - 63), #ids do
    if not seen[ids[i]] then
      seen[ids[i]] = true
      list[#list + 1] = ids[i] + 1
    end
  end
  if #list == 0 then return logits end
  local at = la.tensor(list)
  local old = logits:index_select(1, at)
  local new = la.where(old:gt(0), old / penalty, old * penalty)
  return logits:clone():index_copy_(1, at, new)
end

-- Only what 'allow' leaves: it changes a mask (true: allowed, position id + 1),
-- or returns a list of ids.
local function masked(logits, ids, allow)
  local mask = la.ones(logits.shape[1], {dtype = "bool"})
  local list = allow(ids, mask)
  if type(list) == "table" then
    mask:fill_(false)
    for _, id in ipairs(list) do mask[id + 1] = true end
  end
  if not mask:any() then
    error("llm: 'allow' leaves no token", 0)
  end
  return logits:masked_fill(mask:logical_not(), -math.huge)
end

-- ---- the choice ----

-- How many of the k most probable tokens top_p and min_p leave, by their
-- weights in order and the sum of all; and whether they cut the list.
local function cut(weights, k, total, o)
  local sum, floor = 0, (o.min_p or 0) * weights[1]
  for i = 1, k do
    if i > 1 and (weights[i] < floor or weights[i] == 0
                  or sum >= (o.top_p or 1) * total) then return i - 1, true end
    sum = sum + weights[i]
  end
  return k, false
end

local FIRST = 256             -- tokens that are put in order at first

-- The index of the token at which the sum of weights passes a fraction of all;
-- tokens are put in order as far as that takes. heat: the temperature.
local function pick(logits, o, heat, random)
  local n = logits.shape[1]
  local most = o.top_k and o.top_k > 0 and math.min(o.top_k, n) or n
  local narrows = (o.top_p or 1) < 1 or (o.min_p or 0) > 0
  local best = logits:amax():item()
  local function sum_of(values, by)
    return ((values - best) / by):exp():double():sum():item()
  end
  local point, k = random(), math.min(most, FIRST)
  while true do
    local values, at = logits:topk(k)
    local all = k == most and values or most == n and logits
      or logits:topk(most)
    local kept, is_cut = k, false
    if narrows then
      kept, is_cut = cut((values - best):exp():double():totable(), k,
                         sum_of(all, 1), o)
    end
    if is_cut or k == most or not narrows then
      local sum = narrows and sum_of(values:narrow(1, 1, kept), heat)
        or sum_of(all, heat)
      local left = point * sum
      local weights = ((values:narrow(1, 1, kept) - best) / heat):exp()
        :double():totable()
      for i = 1, kept do
        left = left - weights[i]
        if left < 0 then return at[i]:item() end
      end
      if is_cut or k == most then return at[kept]:item() end
    end
    k = math.min(most, 8 * k)
  end
end

-- ---- options ----

local function number(low, high)
  return function(v)
    return type(v) == "number" and v >= low and v <= high,
      high < math.huge and numbers.format("a number from %g to %g", low, high)
      or numbers.format("a number from %g on", low)
  end
end
local function of_type(word)
  return function(v) return type(v) == word, "a " .. word end
end
local function whole(v) return math.type(v) == "integer", "an integer" end
local function count(v)
  return math.type(v) == "integer" and v >= 0, "an integer from 0 on"
end

local KNOWN = {temperature = number(0, math.huge), top_k = count,
  top_p = number(0, 1), min_p = number(0, 1),
  repeat_penalty = number(1e-6, math.huge), seed = whole,
  allow = of_type "function"}
local TALK = {max = count, progress = of_type "function",
  template = of_type "function",
  session = of_type "table", tools = of_type "table",
  stop = function(v)
    return type(v) == "string" or type(v) == "table", "a text or a list of them"
  end}

-- Raises an error that names the option which is unknown or no good. talks: are
-- those of an answer known, too?
function sample.check(where, options, talks)
  if options == nil then return {} end
  if type(options) ~= "table" then
    error(("%s: options: a table expected, got %s"):format(where,
          type(options)), 3)
  end
  for key, v in pairs(options) do
    local rule = KNOWN[key] or talks and TALK[key]
    if not rule then
      error(("%s: %s: no such option (temperature, top_k, top_p, min_p, "
             .. "repeat_penalty, seed, allow%s)"):format(where, tostring(key),
            talks and ", max, stop, session, tools, "
              .. "template, progress" or ""), 3)
    end
    local good, want = rule(v)
    if not good then
      error(("%s: %s: %s expected, got %s"):format(where, key, want,
            type(v) == "number" and tostring(v) or type(v)), 3)
    end
  end
  return options
end

-- The id of the next token. ids: those so far. Options: temperature (0: the
-- most probable one), top_k, top_p, min_p, repeat_penalty, allow; random().
function sample.next(logits, ids, o, random)
  if o.repeat_penalty and o.repeat_penalty ~= 1 then
    logits = penalise(logits, ids, o.repeat_penalty)
  end
  if o.allow then logits = masked(logits, ids, o.allow) end
  local heat = o.temperature or 0.8
  if heat <= 0 or o.top_k == 1 then return logits:argmax():item() - 1 end
  return pick(logits, o, heat, random) - 1
end

return sample
