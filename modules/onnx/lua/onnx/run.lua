-- lunarray.onnx.run: runs the steps of a plan on a frame of values.
--
-- Intermediate tensors are freed with the last step that uses them: 'held' has
-- the number of slots that hold a tensor which a step tensor; inputs and
-- constants are in it with a number that never falls to zero.
local la = require "lunarray"
local graph = require "lunarray.onnx.graph"
local numbers = require "lunarray.numbers"
local parts = require "lunarray.onnx.parts"

local run = {}

local type, unpack = type, table.unpack
local HUGE = 1 << 40

-- What a step tensor goes into its slot.
local function put(held, v, slot, x)
  if slot == 0 then return end
  if type(x) == "userdata" then held[x] = (held[x] or 0) + 1 end
  v[slot] = x
end

local function release(held, v, free)
  for k = 1, #free do
    local slot = free[k]
    local x = v[slot]
    v[slot] = nil
    if type(x) == "userdata" then
      local n = held[x]
      if n == 1 then
        held[x] = nil
        x:free()
      elseif n then
        held[x] = n - 1
      end
    end
  end
end

local function keep(held, x)
  if type(x) == "userdata" then held[x] = HUGE end
end

local function gather(v, ins, n)
  local out = {}
  for k = 1, n do out[k] = v[ins[k]] end
  return out
end

-- Any number of inputs, more than one result, the run's state.
local function run_step(state, v, s)
  local held = state.held
  local given = gather(v, s.ins, s.nin)
  if s.keeps then
    for k = 1, s.nin do keep(held, given[k]) end
  end
  local results
  if s.state then
    results = table.pack(s.run(state, v, unpack(given, 1, s.nin)))
  elseif s.nout ~= 1 or s.keeps then
    results = table.pack(s.run(unpack(given, 1, s.nin)))
  else
    put(held, v, s.outs[1] or 0, (s.run(unpack(given, 1, s.nin))))
    return
  end
  for k = 1, s.nout do
    put(held, v, s.outs[k], results[k])
    if s.lasting then keep(held, results[k]) end
  end
end

local function run_steps(state, plan, v)
  local held, steps = state.held, plan.steps
  for k = 1, #steps do
    local s = steps[k]
    state.at = s
    local ins, nin = s.ins, s.nin
    if s.general or nin > 3 then
      run_step(state, v, s)
    elseif nin == 1 then
      put(held, v, s.outs[1], (s.run(v[ins[1]])))
    elseif nin == 2 then
      put(held, v, s.outs[1], (s.run(v[ins[1]], v[ins[2]])))
    else
      put(held, v, s.outs[1], (s.run(v[ins[1]], v[ins[2]], v[ins[3]])))
    end
    if s.free then release(held, v, s.free) end
  end
end

-- The constants of a graph, with those that follow from them, which are
-- computed once.
local function frame(state, g)
  local v = table.move(state.constants, g.first + 1, g.first + g.constants, 1,
    {})
  if state.mode == "whole" or state.computed[g] then return v end
  local wanted = {}
  for slot = 1, g.constants do
    local value = state.plan.constants[g.first + slot]
    if value.computed and (state.mode == "frozen" or value.const == "pure") then
      wanted[#wanted + 1] = value
    end
  end
  if #wanted > 0 then
    local computing = graph.plan(g, "whole", wanted)
    local _, outside = la._recording()
    if outside then
      outside(run_steps, state, computing, v)
    else
      run_steps(state, computing, v)
    end
    for _, value in ipairs(wanted) do
      local x = v[value.slot]
      state.constants[g.first + value.slot] = x
      state.fix(x)
      keep(state.held, x)
    end
  end
  state.computed[g] = true
  return v
end

-- The steps of a plan: by programs, where the state has parts for them.
local function run_plan(state, plan, v)
  local known = state.parts
  if not known or state.inside then return run_steps(state, plan, v) end
  local list = known[plan]
  if not list then
    list = parts.of(plan)
    known[plan] = list
  end
  return parts.run(state, list, plan, v, state.kit)
end

-- What parts need of this file.
function run.kit(fixed)
  return {run_steps = run_steps, put = put, release = release, fixed = fixed}
end

-- The results of a graph inside a node. 'v' is the frame around, inputs are in
-- order.
function run.inner(state, v, g, inputs)
  local key = state.mode
  local plan = g.plans[key]
  if not plan then
    local wanted = {}
    for k, output in ipairs(g.outputs) do wanted[k] = output.value end
    plan = graph.plan(g, state.mode, wanted)
    g.plans[key] = plan
  end
  local at, above = state.at, state.above
  state.above = above or at
  local w = frame(state, g)
  for _, capture in ipairs(plan.captures) do
    local x = v[capture[1]]
    w[capture[2]] = x
    keep(state.held, x)
  end
  for k, input in ipairs(plan.inputs) do
    w[input.slot] = inputs[k]
    keep(state.held, inputs[k])
  end
  run_plan(state, plan, w)
  state.at, state.above = at, above
  local out, held = {}, state.held
  for k, slot in ipairs(plan.outputs) do
    local x = w[slot]
    out[k] = x
    local n = type(x) == "userdata" and held[x]
    if n and n < HUGE then held[x] = n - 1 end
  end
  return out, #plan.outputs
end

-- The value of a name in the main graph once more, from given ones on; in
-- steps that do not free what they use.
local function replay(state, inputs, name)
  local g = state.plan.graph
  local v, given = frame(state, g), {}
  for slot, x in pairs(state.given) do v[slot] = x end
  for key, x in pairs(inputs) do
    given[g.scope[key].slot] = true
    v[g.scope[key].slot] = x
  end
  local plan, kept = graph.plan(g, "whole", {g.scope[name]}), {}
  for _, s in ipairs(plan.steps) do
    s.free = nil
    if not given[s.outs[1]] then kept[#kept + 1] = s end
  end
  plan.steps = kept
  run_steps(state, plan, v)
  return v[g.scope[name].slot]
end

-- The frame of the main graph before anything ran.
function run.frame(state) return frame(state, state.plan.graph) end

-- An error with the node in front; what is no text goes on as it is.
local function explain(state, problem)
  if type(problem) ~= "string" then error(problem, 0) end
  local s = state.at
  local text = problem:gsub("^[^\n:]*%.lua:%d+: ", "")
  if s then text = s.step.label .. ": " .. text end
  error("onnx.run: " .. text, 0)
end

-- Runs the main graph. inputs: slot -> value. The results in order.
function run.main(state, plan, inputs)
  local v
  local ok, problem = pcall(function()
    local g = state.plan.graph
    v = frame(state, g)
    state.given, state.replay = inputs, function(xs, name)
      return replay(state, xs, name)
    end
    for slot, x in pairs(inputs) do
      v[slot] = x
      keep(state.held, x)
    end
    run_plan(state, plan, v)
  end)
  if not ok then explain(state, problem) end
  local out = {}
  for k, slot in ipairs(plan.outputs) do out[k] = v[slot] end
  return out
end

run.numbers = numbers
return run
