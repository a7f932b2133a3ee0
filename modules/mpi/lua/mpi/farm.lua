-- lunarray.mpi.farm: one function on the elements of a list, on all ranks.
--
-- Rank 1 hands out the elements as ranks get free, each with a second one to go
-- on with while its answer is under way, and works itself in between.
local values = require "lunarray.values"

local farm = {}

-- Tags of what goes to a worker, and of what it answers.
local WORK, ANSWER = 32001, 32002
local AHEAD = 2

local function traced(text)
  if type(text) ~= "string" then return tostring(text) end
  return text
end

-- f's result as packed bytes; false and a text where it raised, or gave what
-- has no bytes.
local function attempt(f, item, k)
  local ok, result = xpcall(f, traced, item, k)
  if not ok then return false, result end
  return pcall(values.pack, result)
end

local function work(comm, f)
  while true do
    local task = comm:recv_value(1, {tag = WORK})
    if not task.k then return end
    local ok, answer = attempt(f, task.item, task.k)
    comm:send_value({k = task.k, ok = ok, answer = answer}, 1, {tag = ANSWER})
  end
end

-- What rank 1 knows: elements that wait, what came, and how often each failed.
local function new_state(list, retries)
  local waiting = {}
  for k = 1, #list do waiting[k] = k end
  return {list = list, waiting = waiting, at = 1, open = #list, tries = {},
    retries = retries, results = {}, errors = {}}
end

local function take(state)
  local k = state.waiting[state.at]
  if k then state.at = state.at + 1 end
  return k
end

local function note(state, rank, k, ok, answer)
  if ok then
    state.results[k] = values.unpack(answer)
    state.open = state.open - 1
    return
  end
  local n = (state.tries[k] or 0) + 1
  state.tries[k] = n
  if n <= state.retries then
    state.waiting[#state.waiting + 1] = k
    return
  end
  state.errors[k] = ("rank %d: %s"):format(rank, answer)
  state.open = state.open - 1
end

local function send_task(comm, state, rank)
  local k = take(state)
  if not k then return end
  comm:send_value({k = k, item = state.list[k]}, rank, {tag = WORK})
end

local function lead(comm, f, state)
  for _ = 1, AHEAD do
    for rank = 2, comm.size do send_task(comm, state, rank) end
  end
  local idle = {}       -- how many more tasks a rank could have
  while state.open > 0 do
    -- Own work only where there is some; else wait for the others.
    local mine = state.waiting[state.at] ~= nil
    local told, rank = comm:recv_value(nil, {tag = ANSWER, wait = not mine})
    if told then
      note(state, rank, told.k, told.ok, told.answer)
      idle[rank] = (idle[rank] or 0) + 1
      for other, n in pairs(idle) do
        for _ = 1, n do
          if state.waiting[state.at] then
            send_task(comm, state, other)
            idle[other] = idle[other] - 1
          end
        end
      end
    else
      local k = take(state)
      if k then note(state, 1, k, attempt(f, state.list[k], k)) end
    end
  end
  for rank = 2, comm.size do
    comm:send_value({}, rank, {tag = WORK})
  end
end

-- f(item, k) for each item of rank 1's list, by whichever rank is free; every
-- rank calls it and gets the results in order, and, where f raised more than
-- 'retries' (0) times, a table of the texts by k. Items and results are values
-- (see send_value). options: retries, comm.
function farm.map(f, list, options)
  options = options or {}
  local comm = options.comm or farm.world
  if type(f) ~= "function" then
    error("mpi.map: function expected, got " .. type(f), 2)
  end
  if comm.rank > 1 then
    work(comm, f)
    local told = comm:bcast_value(nil)
    if told.wrong then error(told.wrong, 2) end
    return told.results, next(told.errors) and told.errors or nil
  end
  local wrong = type(list) ~= "table"
    and "mpi.map: rank 1 needs a list, got " .. type(list) or nil
  if not wrong then
    local ok, text = pcall(values.pack, list)
    if not ok then wrong = "mpi.map: " .. text end
  end
  local state = new_state(wrong and {} or list, options.retries or 0)
  lead(comm, f, state)
  comm:bcast_value{results = state.results, errors = state.errors,
    wrong = wrong}
  if wrong then error(wrong, 2) end
  return state.results, next(state.errors) and state.errors or nil
end

return farm
