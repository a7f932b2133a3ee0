-- The calls of the golden records with larger tensors: sizes that are equal in
-- a call stay equal, so that most operations take them.
--
-- grown_calls.each(path, elements, fn): fn(call, what) for plain calls of a
-- file of records with one size, or all of them, so much larger that the
-- tensors have about so many elements; call.half() is the same call with half
-- of the sizes, call.run() makes it, call.tensors is the list of its tensors.
local la = require "lunarray"
local records = require "spec.support.records"
local vary = require "spec.support.vary"

local grown_calls = {}

local MOST_CALLS = 3        -- records of an operation

local function elements_of(list)
  local n = 0
  for _, t in ipairs(list) do n = n + t:numel() end
  return n
end

-- Positive numbers, with a large diagonal where they may be a matrix.
local function values(t, sizes)
  if not (t:is_floating_point() or t:is_complex()) then
    return la.ones(sizes, {dtype = t.dtype})
  end
  local x = la.empty(sizes, {dtype = "float32"}):uniform_(0.25, 0.75)
  local n = #sizes
  if n >= 2 and sizes[n] == sizes[n - 1] and sizes[n] > 1 then
    x = x + la.eye(sizes[n]) * sizes[n]
  end
  return x:to(t.dtype)
end

-- 't' with each size that is in 'grown' so much larger.
local function larger(t, grown)
  local sizes = {}
  for d = 1, t.ndim do sizes[d] = grown[t:size(d)] or t:size(d) end
  return values(t, sizes)
end

local function with(call, args, keywords)
  local n = call.args.n
  if keywords then
    n = n + 1
    args[n] = keywords
  end
  return function()
    if call.style == "inplace" or call.style == "setitem" then
      args[1] = args[1]:clone()
    end
    return call.fn(table.unpack(args, 1, n))
  end
end

-- The call with every size of 'list' times a factor.
local function grown(call, list, factor)
  local map, tensors = {}, {}
  for _, size in ipairs(list) do
    map[size] = math.max(math.floor(size * factor), size)
  end
  la.manual_seed(1)
  local args, keywords = vary.converted(call, function(t)
    local x = larger(t, map)
    tensors[#tensors + 1] = x
    return x
  end)
  return {run = with(call, args, keywords), tensors = tensors,
    half = function() return grown(call, list, factor / 2) end}
end

-- The factor that brings the sizes of 'list' to so many elements: products of
-- them are found by trial.
local function factor_for(tensors, list, elements)
  local low, high = 1, elements
  for _ = 1, 40 do
    local f, n, map = (low + high) / 2, 0, {}
    for _, size in ipairs(list) do map[size] = size * f end
    for _, t in ipairs(tensors) do
      local one = 1
      for d = 1, t.ndim do one = one * (map[t:size(d)] or t:size(d)) end
      n = n + one
    end
    if n > elements then high = f else low = f end
  end
  return low
end

-- Sizes above 1 of all tensors: each alone, and all together.
local function choices(tensors)
  local seen, all, list = {}, {}, {}
  for _, t in ipairs(tensors) do
    for d = 1, t.ndim do
      local size = t:size(d)
      if size > 1 and not seen[size] then
        seen[size] = true
        all[#all + 1] = size
        list[#list + 1] = {size}
      end
    end
  end
  if #all > 1 then list[#list + 1] = all end
  return list
end

function grown_calls.each(path, elements, fn)
  local left = MOST_CALLS
  for r in records.each(path) do
    if left > 0 and r.args and not r.expect.error then
      local found, f, args, keywords = pcall(records.call_of, r)
      local call = found and {fn = f, args = args, keywords = keywords,
        style = r.style}
      local tensors = found and vary.tensors(call) or {}
      if #tensors > 0 and elements_of(tensors) < elements then
        left = left - 1
        for _, list in ipairs(choices(tensors)) do
          fn(grown(call, list, factor_for(tensors, list, elements)),
            r.id .. " " .. table.concat(list, ","))
        end
      end
    end
  end
end

return grown_calls
