-- lunarray.llm.sample: the next token of logits. Ids count from 0.
local la = require "lunarray"
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

-- Probabilities of the k most probable tokens, the largest first, cut by top_p
-- and min_p; as two lists and their sum.
local function candidates(logits, o)
  local n = logits.shape[1]
  local k = o.top_k or 0
  k = k > 0 and math.min(k, n) or n
  local values, at = logits:topk(k)
  local best = values[1]:item()
  local weights = (values - best):exp():double()
  local total = weights:sum():item()
  weights, at = weights:totable(), at:totable()
  local sum, kept = 0, 0
  local floor = (o.min_p or 0) * weights[1]
  for i = 1, k do
    if i > 1 and (weights[i] < floor or weights[i] == 0
                  or sum >= (o.top_p or 1) * total) then break end
    sum, kept = sum + weights[i], i
  end
  return values, at, kept
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
  local values, at, kept = candidates(logits, o)
  local weights = ((values:narrow(1, 1, kept) - values[1]) / heat):exp()
    :double():totable()
  local sum = 0
  for i = 1, kept do sum = sum + weights[i] end
  local point = random() * sum
  for i = 1, kept do
    point = point - weights[i]
    if point < 0 then return at[i] - 1 end
  end
  return at[kept] - 1
end

return sample
