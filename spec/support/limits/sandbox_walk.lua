-- Runs inside of a sandbox (spec/c/api/test_finalizers.c), which passes
-- metatable_of_c(v): a number for the metatable of 'v', locked or not, where C
-- made that; else false. Walks all that a script can reach from its globals,
-- from what the examples of all words make and from what is handed to
-- callbacks; plants finalizers and the like wherever a metatable lies open, and
-- makes all anew.
local la, metatable_of_c, field, steps = ...
local next, type, pcall, load = next, type, pcall, load
local getmetatable, rawset = getmetatable, rawset
local rows = require "lunarray.help.rows"

local ATTRIBUTES = {"shape", "grad", "grad_fn", "strides", "dtype", "T",
  "storage", "iter", "get_state", "fork", "rows", "restore", "saved", "remove"}

-- Every value that has been seen, and every metatable that a script can get.
local seen, open, bare = {}, {}, {}
-- How many objects of a kind have been looked into: tensors lead to tensors.
local looked, ENOUGH = {}, 20

local queue = {}
local function see(value)
  local kind = type(value)
  if (kind == "table" or kind == "userdata" or kind == "function"
      or kind == "thread") and not seen[value] then
    seen[value] = true
    queue[#queue + 1] = value
  end
end

local function look_into(value)
  local meta, kind = getmetatable(value), metatable_of_c(value)
  if type(meta) == "table" then
    open[meta] = true
    if kind then bare[#bare + 1] = tostring(value) end
  end
  if kind then
    looked[kind] = (looked[kind] or 0) + 1
    if looked[kind] > ENOUGH then return end
  end
  see(meta)
  if type(value) == "table" then
    for key, part in next, value do see(key); see(part) end
  elseif type(value) == "userdata" then
    for _, name in next, ATTRIBUTES do
      local ok, part = pcall(function() return value[name] end)
      if ok then
        see(part)
        if type(part) == "function" then
          local results = {pcall(part, value)}
          for k = 2, #results do see(results[k]) end
        end
      end
    end
  end
end

-- What the callbacks of the library are given, and its scopes.
local function hand_over()
  for _, theme in pairs(la) do          -- makes what they have
    if type(theme) == "table" then for _ in pairs(theme) do end end
  end
  local x = la.ones(2, {requires_grad = true})
  see(la.no_grad()); see(la.fork_rng()); see(la.set_grad_enabled(true))
  see(la.Generator(1)); see(la.ones(2):storage()); see(la.snapshot{x})
  local square = la.Function{
    forward = function(ctx, v) see(ctx); ctx:save_for_backward(v) return v * v
      end,
    backward = function(ctx, g) see(ctx) return ctx:saved() * g * 2 end}
  see(square)
  local y = square(x):sum()
  see(y.grad_fn); see(y:register_hook(function(g) see(g) end))
  y:backward()
  la.vmap(function(v) see(v) return v * 2 end)(x:detach())
  la.fuse(function(v) see(v) return v * 2 end)(x:detach())
  la.tidy(function() see(la.ones(2)) end)
  local _, problem = pcall(la.ones, {})
  see(problem)
  see(la.ones(2):iter())
  for k, v in pairs(la.data.DataLoader(la.data.TensorDataset(x))) do
    see(k); see(v)
  end
end

-- All examples that work in a sandbox; their variables and results are seen.
local function run_examples()
  local ran = 0
  for _, row in ipairs(rows.all().list) do
    local env = setmetatable({la = la, nn = la.nn, optim = la.optim,
      data = la.data}, {__index = _G})
    for _, step in ipairs(row.entry.example) do
      local f = load("return " .. step.code, "example", "t", env)
        or load(step.code, "example", "t", env)
      local results = {pcall(f or error)}
      for k = 2, #results do see(results[k]) end
      if results[1] then ran = ran + 1 end
    end
    for _, value in next, env do see(value) end
  end
  return ran
end

local function everything()
  queue = {}
  see(_G); see(la); see("")
  for _, name in ipairs{"nn", "optim", "data", "plot", "help", "testing"} do
    local ok, module = pcall(require, "lunarray." .. name)
    if ok then see(module) end
  end
  hand_over()
  local ran = run_examples()
  while #queue > 0 do look_into(table.remove(queue)) end
  return ran
end

local ran = everything()
assert(ran > steps, ran .. " steps of examples ran")
assert(#bare == 0, table.concat(bare, ", "))

-- The rest is called under limits: what is planted in __index may loop. The
-- walk itself may not work any more afterwards.
return function()
  local loops = function() while true do end end
  local own = {[getmetatable("")] = true}
  for meta in next, open do
    if not own[meta] then
      rawset(meta, field, field == "__mode" and "kv" or loops)
    end
  end
  seen, queue, open = {}, {}, {}
  pcall(hand_over)
  pcall(run_examples)
end
