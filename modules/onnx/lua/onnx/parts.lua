-- lunarray.onnx.parts: the steps of a plan as programs of la.compile.
--
-- A part is a row of neighbouring steps. At first all steps are one part. Where
-- a recording finds that a step reads elements which depend on the inputs, the
-- part is cut before and behind that step, which runs by itself from then on:
-- what is around it stays a program. Steps that draw random numbers, loop, or
-- hold sequences are parts of their own from the beginning.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local parts = {}

local type, pack, unpack = type, table.pack, table.unpack
local is_strings = rows.is_strings

-- Signatures that a part keeps; inputs of a part; recordings after which a part
-- that hardly repeats is left alone, and calls for which it is.
local CACHE, WIDEST, TRIES, REST = 16, 120, 24, 256

-- ---- cutting ----

local function is_alone(s)
  local row = s.step.row
  if row.alone ~= nil then return row.alone end
  return row.random or row.keeps and not row.state or false
end

-- slot -> number of the step that makes it.
local function makers_of(plan)
  local maker = {}
  for k, s in ipairs(plan.steps) do
    for i = 1, s.nout do
      if s.outs[i] and s.outs[i] ~= 0 then maker[s.outs[i]] = k end
    end
  end
  return maker
end

-- Slots that a step reads, captured ones of graphs inside it too.
local function reads(s, see)
  for i = 1, s.nin do
    if s.ins[i] and s.ins[i] ~= 0 then see(s.ins[i]) end
  end
  for _, inner in ipairs(s.step.inner) do
    for _, value in ipairs(inner.captures) do see(value.captured.slot) end
  end
end

-- Values that come into steps first..last, and those that are needed behind.
local function ends_of(list, plan, first, last)
  local ins, outs, seen, later = {}, {}, {}, {}
  for k = first, last do
    reads(plan.steps[k], function(slot)
      local from = list.maker[slot]
      if seen[slot] or from and from >= first
        or not from and not list.given[slot] then return end
      seen[slot] = true
      ins[#ins + 1] = slot
    end)
  end
  for k = last + 1, #plan.steps do
    reads(plan.steps[k], function(slot) later[slot] = true end)
  end
  for _, slot in ipairs(plan.outputs) do later[slot] = true end
  for k = first, last do
    local s = plan.steps[k]
    for i = 1, s.nout do
      local slot = s.outs[i]
      if slot and slot ~= 0 and later[slot] then
        later[slot] = nil
        outs[#outs + 1] = slot
      end
    end
  end
  return ins, outs
end

-- Values from outside that the part is the last to use.
local function freed_by(list, plan, first, last)
  local free = {}
  for k = first, last do
    for _, slot in ipairs(plan.steps[k].free or {}) do
      if list.maker[slot] and list.maker[slot] < first then
        free[#free + 1] = slot
      end
    end
  end
  return free
end

-- The steps of a part as its recording runs them: they free what is of their
-- own alone.
local function own_steps(list, plan, first, last)
  local steps = {}
  for k = first, last do
    local s, free = plan.steps[k], {}
    for _, slot in ipairs(s.free or {}) do
      if list.maker[slot] and list.maker[slot] >= first then
        free[#free + 1] = slot
      end
    end
    local own = setmetatable({free = #free > 0 and free or false},
      {__index = s})
    steps[#steps + 1] = own
  end
  return steps
end

local function new_part(list, plan, first, last)
  local part = {first = first, last = last, alone = first == last
    and is_alone(plan.steps[first]), calls = 0, records = 0, rest = 0}
  part.ins, part.outs = ends_of(list, plan, first, last)
  part.free = freed_by(list, plan, first, last)
  part.steps = own_steps(list, plan, first, last)
  if first == last and not part.alone then
    part.alone = #plan.steps[first].step.inner == 0
  end
  if #part.ins > WIDEST or #part.outs > WIDEST then part.alone = true end
  return part
end

-- Parts of steps first..last, behind those that are in 'out'.
local function cut(list, plan, first, last, out)
  local from = first
  local function close(to)
    if from <= to then out[#out + 1] = new_part(list, plan, from, to) end
  end
  for k = first, last do
    if is_alone(plan.steps[k]) then
      close(k - 1)
      out[#out + 1] = new_part(list, plan, k, k)
      from = k + 1
    end
  end
  close(last)
end

-- The parts of a plan, which is run with these slots given.
function parts.of(plan)
  local list = {maker = makers_of(plan), given = {}}
  for _, input in ipairs(plan.inputs) do list.given[input.slot] = true end
  for _, capture in ipairs(plan.captures) do
    if not capture.constant then list.given[capture[2]] = true end
  end
  cut(list, plan, 1, #plan.steps, list)
  return list
end

-- Step k runs by itself; its part becomes two.
local function set_apart(list, plan, at, k)
  local part, new = list[at], {}
  if part.first < k then cut(list, plan, part.first, k - 1, new) end
  local alone = new_part(list, plan, k, k)
  alone.alone = true
  new[#new + 1] = alone
  if part.last > k then cut(list, plan, k + 1, part.last, new) end
  table.remove(list, at)
  for i = #new, 1, -1 do table.insert(list, at, new[i]) end
end

-- ---- running ----

-- The function that is recorded. 'part.now' has the frame and the state of the
-- call; without it 'part.fresh' makes them.
local function recorded(part, run_steps)
  return function(...)
    local now = part.now or part.fresh()
    part.records = part.records + 1
    local state = setmetatable({held = setmetatable({}, {__index = now.fixed}),
      inside = true, above = false}, {__index = now.state})
    for k, slot in ipairs(part.ins) do
      local x = select(k, ...)
      now.v[slot] = x
      if type(x) == "userdata" then state.held[x] = 1 << 40 end
    end
    now.inner = state
    run_steps(state, part, now.v)
    local out = {}
    for k, slot in ipairs(part.outs) do out[k] = now.v[slot] end
    return unpack(out, 1, #part.outs)
  end
end

local function has_strings(v, ins)
  for k = 1, #ins do
    local x = v[ins[k]]
    if type(x) == "table" and is_strings(x) then return true end
  end
  return false
end

-- Is a part that hardly repeats left alone for a while?
local function rests(part)
  if part.rest > 0 then
    part.rest = part.rest - 1
    return true
  end
  part.calls = part.calls + 1
  if part.records >= TRIES and part.records * 2 > part.calls then
    part.rest, part.records, part.calls = REST, 0, 0
  end
  return false
end

-- What a recording says of a value that chooses what is computed.
local function is_dynamic(problem)
  return type(problem) == "string"
    and problem:find("of the compiled function", 1, true) ~= nil
end

parts.is_dynamic = is_dynamic

-- The step of the plan at which a recording ended, as a number.
local function stopped_at(part, plan, state)
  local s = state.above or state.at
  for k = part.first, part.last do
    if s and plan.steps[k].step == s.step then return k end
  end
end

local function run_alone(state, part, v, run_steps)
  run_steps(state, part, v)
end

-- Runs part 'at'. False: it was cut, and what now stands there is to be run.
local function run_part(state, list, at, plan, v, kit)
  local part = list[at]
  local ins, outs = part.ins, part.outs
  if part.alone or rests(part) or has_strings(v, ins) then
    run_alone(state, part, v, kit.run_steps)
    return true
  end
  local step = part.step
  if not step then
    step = la.compile(recorded(part, kit.run_steps),
      {cache = CACHE, fast = state.fast})
    part.step = step
  end
  part.now = {v = v, state = state, fixed = kit.fixed}
  local given = {}
  for k = 1, #ins do given[k] = v[ins[k]] end
  local results = pack(pcall(step, unpack(given, 1, #ins)))
  local inner = part.now.inner
  part.now = nil
  if results[1] then
    for k = 1, #outs do kit.put(state.held, v, outs[k], results[k + 1]) end
    return true
  end
  if inner and is_dynamic(results[2]) and not la._recording() then
    local k = stopped_at(part, plan, inner)
    if k then
      set_apart(list, plan, at, k)
      return false
    end
  end
  if inner then
    state.at = inner.at
    error(results[2], 0)
  end
  run_alone(state, part, v, kit.run_steps)   -- the error names the node then
  return true
end

-- Runs the parts of a plan on the frame v. kit: {run_steps, put, release,
-- fixed}.
function parts.run(state, list, plan, v, kit)
  local at = 1
  while at <= #list do
    if run_part(state, list, at, plan, v, kit) then
      local free = list[at].free
      if #free > 0 then kit.release(state.held, v, free) end
      at = at + 1
    end
  end
end

-- The only part of a plan that is a program whole; nil where there are more.
-- fresh() gives what a recording begins with: {v, state, fixed}.
function parts.whole(list, fresh)
  local part = list[1]
  if #list ~= 1 or part.alone or not part.step then return nil end
  part.fresh = fresh
  return part
end

-- May such a part be called?
function parts.is_ready(part) return not rests(part) end

return parts
