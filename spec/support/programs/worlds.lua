-- Runs a random program (draw.lua) in two worlds that are made alike: in one
-- its function is called, in the other what 'compile' makes of it, several
-- times with other arguments. After each call all must be equal to the bit:
-- results, arguments, what is captured, gradients, version counters,
-- generators, errors; then the gradients by a backward pass through results.
local la = require "lunarray"
local values = require "spec.support.programs.values"

local worlds = {refused = 0}

-- A function that looks at values is refused, and says so.
local REFUSED = "the value depends on an argument of the compiled function"
local NO_DERIVATIVE = "while_loop: a compiled loop has no derivative"

local HEAD = "local la, nn, optim, T, w = ... "

local function chunk(lines, head)
  local text = (head or HEAD) .. table.concat(lines, "\n")
  return assert(load(text, "=program", "t"), text)
end

-- The program as a file that can be read.
function worlds.text(p)
  local list = {"-- seed " .. p.seed}
  for _, line in ipairs(p.setup) do list[#list + 1] = line end
  for i, arg in ipairs(p.args) do
    list[#list + 1] = ("-- argument %d: %s"):format(i, arg)
  end
  list[#list + 1] = "local function f(...)\n  local v = {...}"
  for _, line in ipairs(p.body) do list[#list + 1] = "  " .. line end
  list[#list + 1] = "  return " .. p.result .. "\nend"
  for n = 1, 5 do
    if p.between[n] then
      list[#list + 1] = ("-- after call %d: %s"):format(n, p.between[n])
    end
  end
  return table.concat(list, "\n")
end

local function new_world(p)
  local w = {}
  local function run(lines)
    return chunk(lines)(la, values.nn, values.optim, values.T, w)
  end
  la.manual_seed(p.seed)
  run(p.setup)
  local f = run{"return function(...) local v = {...}",
    table.concat(p.body, "\n"), "return " .. p.result, "end"}
  return {w = w, f = f, p = p}
end

-- Arguments of call k, each made from those before it.
local function arguments(world, k)
  local v = {}
  for i, text in ipairs(world.p.args) do
    v[i] = chunk({"return " .. text}, HEAD:gsub("w = ...", "w, v, k = ..."))(la,
      values.nn, values.optim, values.T, world.w, v, k)
  end
  return v
end

-- The operation that raised: overloads of one may put it otherwise.
local function plain_error(text)
  text = tostring(text):gsub("^[^\n]-:%d+: ", "")
  return (text:find(REFUSED, 1, true) or text:find(NO_DERIVATIVE, 1, true))
    and REFUSED
    or text:match("^bad argument #%d+ to '([%w_]+)'")
    or text:match("^([%w_.]+):") or text
end

-- The sum over the results that have a history, differentiated.
local function backward(results)
  local list = {}
  values.note(list, "", results, false, 0)
  local sum
  for _, entry in ipairs(list) do
    local t = entry[4]
    if t and t.requires_grad and t:is_floating_point() and t.grad_fn then
      local part = (t:double() * 0.5):sum()
      sum = sum and sum + part or part
    end
  end
  if not sum then return end
  local ok, why = pcall(sum.backward, sum)
  return ok or plain_error(why)
end

-- Which entries share a storage: for each the first that does.
local function sharing(list)
  local first, out = {}, {}
  for i, entry in ipairs(list) do
    local t = entry[4]
    if t and t:numel() > 0 then
      local s = t:storage()
      first[s] = first[s] or i
      out[#out + 1] = ("%s in %s at %d"):format(entry[1], list[first[s]][1],
        t:storage_offset())
    end
  end
  return table.concat(out, "\n")
end

-- What a program captures, by name.
local function captured(w)
  local all, n = {}, 1
  while w["c" .. n] do
    all["c" .. n], n = w["c" .. n], n + 1
  end
  if w.net then all.state, all.net = w.net:state_dict(), w.net:parameters() end
  if w.opt then all.opt = w.opt:state_dict() end
  return all
end

-- One call of 'f' in a world: entries of everything afterwards.
local function call(world, f, k, grad)
  local args = arguments(world, k)
  local all = table.pack(pcall(grad and f or function(...)
    return la.no_grad(f, ...)
  end, table.unpack(args)))
  local list = {}
  if not all[1] then
    list[1] = {"error", plain_error(all[2]), ""}
    all = {}
  else
    table.remove(all, 1)
    all.n = nil
  end
  values.note(list, "result", all, false, 0)
  values.note(list, "argument", args, true, 0)
  values.note(list, "w", captured(world.w), true, 0)
  list[#list + 1] = {"sharing", sharing(list), ""}
  list[#list + 1] = {"generators",
    la.get_rng_state():tostring_raw()
      .. world.w.generator:get_state():tostring_raw(), ""}
  if grad and world.p.seed % 2 == 0 and #list > 0 then
    list[#list + 1] = {"backward", tostring((backward(all))), ""}
    values.note(list, "argument after backward", args, true, 0)
    values.note(list, "w after backward", captured(world.w), true,
      0)
  end
  return list
end

local function between(world, k)
  local line = world.p.between[k]
  if line then
    pcall(function()
      la.no_grad(function()
        chunk{line}(la, values.nn, values.optim, values.T, world.w)
      end)
    end)
  end
end

-- The lists of entries after each of the calls.
local function history(p, compile, calls)
  local world = new_world(p)
  local f, out = compile and compile(world.f) or world.f, {}
  la.manual_seed(p.seed + 1)
  for k, arg in ipairs(calls) do
    out[k] = call(world, f, math.abs(arg), arg > 0)
    between(world, k)
  end
  return out
end

-- Calls by the number of their arguments: those of the first again, others;
-- below 0 with gradients off.
local CALLS = {1, 2, 3, -2, 1}

-- nil, or what differs first.
function worlds.disagreement(p, compile)
  local want = history(p, nil, CALLS)
  local ok, got = pcall(history, p, compile, CALLS)
  if not ok then return "compiled: " .. tostring(got) end
  for k = 1, #CALLS do
    for _, entry in ipairs(got[k]) do
      if (entry[1] == "error" or entry[1] == "backward")
        and entry[2]:find(REFUSED, 1, true) then
        worlds.refused = worlds.refused + 1
        return
      end
    end
    local why = values.difference(want[k], got[k])
    if why then return ("call %d: %s"):format(k, why) end
  end
end

-- ---- ways to compile ----

local PASSES = {"fill", "fold", "dead", "same", "one", "views", "fuse",
  "epilogue", "pack", "layout", "memory", "threads"}

local function way(name, without)
  return {name = name, compile = function(f)
    return la.compile(f, {without = without})
  end}
end

-- With every pass ("all"), with none, by la.fuse, and with each pass left out
-- alone; or those of them that are named in 'only'.
function worlds.ways(only)
  local known, list = {}, {}
  for _, name in ipairs(PASSES) do
    if pcall(la.compile, print, {without = {name}}) then
      known[#known + 1] = name
    end
  end
  local all = {way("all", {}), way("none", known),
    {name = "fused", compile = la.fuse}}
  for _, name in ipairs(known) do all[#all + 1] = way(name, {name}) end
  for _, one in ipairs(all) do
    if not only or only == "" or only:find(one.name, 1, true) then
      list[#list + 1] = one
    end
  end
  return list
end

-- The ways in which a seed's program runs: the first, and another.
function worlds.some(ways, seed)
  if #ways < 2 then return ways end
  return {ways[1], ways[2 + seed % (#ways - 1)]}
end

-- A shorter program with a disagreement: lines are left out while there is
-- one of the same call.
function worlds.shrink(p, compile)
  local function still()
    local ok, why = pcall(worlds.disagreement, p, compile)
    return ok and why
  end
  for _, list in ipairs{p.body, p.setup} do
    for i = #list, 1, -1 do
      local line = table.remove(list, i)
      if not still() then table.insert(list, i, line) end
    end
  end
  for k = 1, 4 do
    local line = p.between[k]
    p.between[k] = nil
    if line and not still() then p.between[k] = line end
  end
  return still()
end

return worlds
