-- No operation leaves memory behind: plain, with gradients of its gradients, in
-- la.vmap and where it is refused. What is kept for later calls (plans, names)
-- is there after a first one.
local la = require "lunarray"
local samples = require "spec.support.samples"

local CALLS = 2             -- of each operation

local function each_tensor(v, f)
  if type(v) == "userdata" then f(v) return end
  if type(v) == "table" and not getmetatable(v) then
    for _, inner in ipairs(v) do each_tensor(inner, f) end
  end
end

-- A number that all results go into, or nil where none has a gradient.
local function total(results)
  local sum
  each_tensor(results, function(t)
    if not t.requires_grad then return end
    local one = (t:is_complex() and la.view_as_real(t:resolve_conj()) or t)
      :square():sum()
    sum = sum and sum + one or one
  end)
  return sum
end

local ways = {
  plain = function(s)
    la.no_grad(function() return s.f(table.unpack(s.inputs())) end)
  end,
  gradients = function(s)
    local leaves = s.inputs()
    local sum = total{s.f(table.unpack(leaves))}
    if not sum then return end
    local again = total{la.grad(sum, leaves,
      {create_graph = true, allow_unused = true})}
    if again then again:backward() end
  end,
  vmap = function(s)
    local batches = {}
    for k, t in ipairs(s.inputs()) do
      batches[k] = la.stack{t:detach(), t:detach()}
    end
    la.vmap(s.f, 1, 1, {randomness = "same"})(table.unpack(batches))
  end,
  refused = function(s)
    local inputs = s.inputs()
    for k = 1, #inputs do
      local wrong = {table.unpack(inputs)}
      wrong[k] = la.zeros(2, 0, 3, 1, 2, {device = "meta"})
      s.f(table.unpack(wrong))
    end
  end
}

-- Bytes that second calls of all leave; an error is a result as well.
local function left_by(way, list)
  local function run()
    for _, s in ipairs(list) do pcall(way, s) end
    collectgarbage()
    collectgarbage()
    return la.memory()
  end
  run()
  local before = run()
  return run() - before
end

-- {name =, the first calls ...} of each operation with a derivative.
local function all_calls()
  local list, seen = {}, {}
  for _, op in ipairs(la.operations()) do
    if op.differentiable and op.forms & 3 ~= 0 and not op.metadata
      and not seen[op.name] then
      seen[op.name] = true
      for k, s in ipairs(samples.of(op.name, CALLS)) do
        if k > CALLS then break end
        s.of = op.name
        list[#list + 1] = s
      end
    end
  end
  return list
end

describe("nothing stays", function()
  local list = all_calls()
  for name, way in pairs(ways) do
    it(name, function()
      local leaks = {}
      if left_by(way, list) ~= 0 then
        for _, s in ipairs(list) do
          local n = left_by(way, {s})
          if n ~= 0 then leaks[#leaks + 1] = s.of .. " " .. n end
        end
      end
      assert.equal("", table.concat(leaks, "\n"))
    end)
  end
end)
