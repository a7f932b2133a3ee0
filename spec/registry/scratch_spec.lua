-- No operation needs much more memory than its arguments and results: four
-- times their bytes, and 16 MB for each thread. Calls of the golden records are
-- made under a memory limit with tensors of so many elements that differences
-- of all pairs, or columns of all windows, would be many times as large.
local la = require "lunarray"
local grown_calls = require "spec.support.limits.grown_calls"
local modules = require "spec.support.modules"
local vary = require "spec.support.vary"

local ELEMENTS = 20000      -- of the arguments of a call
local MOST = 1 << 28        -- bytes of results and scratch that are tried
local TIMES, EACH_THREAD = 4, 16 << 20
-- Indices of all pairs are 64-bit integers, made twice.
local MORE = {pdist = 12}

local function bytes_of(v)
  if vary.is_tensor(v) then return v:numel() * v:element_size() end
  local n = 0
  for _, x in pairs(type(v) == "table" and v or {}) do n = n + bytes_of(x) end
  return n
end

-- true and the bytes of the results, or false and the error.
local function run(call, limit)
  collectgarbage()
  collectgarbage()
  la.set_memory_limit(la.memory() + limit)
  local out = table.pack(pcall(call.run))
  la.set_memory_limit()
  if not out[1] then return false, tostring(out[2]) end
  out[1] = false
  return true, bytes_of(out)
end

local function short_of_memory(message)
  return message:find("not enough memory", 1, true)
end

-- nil, or what is wrong; a call that fails with such sizes says nothing.
local function excess(call, times)
  local ok, result = run(call, MOST)
  for _ = 1, 8 do
    if ok or not short_of_memory(result) then break end
    call = call.half()
    ok, result = run(call, MOST)
  end
  if not ok then
    return short_of_memory(result) and "too much for " .. MOST or nil
  end
  local all = bytes_of(call.tensors) + result
  local within, message = run(call, result + times * all + EACH_THREAD)
  if within then return nil, true end
  return ("with %d bytes of arguments and results: %s"):format(all, message)
end

describe("scratch of every operation", function()
  it("is bounded by its arguments, its results and the threads", function()
    local threads, faults, total = la.get_num_threads(), {}, 0
    la.set_num_threads(1)
    local only = os.getenv "SCRATCH_OP"
    for _, path in ipairs(modules.golden()) do
      local found
      local name = path:match "([^/]+)%.jsonl$"
      local wanted = not only or name == only
      grown_calls.each(path, wanted and ELEMENTS or 0, function(call, what)
        local why, ran
        if not found then why, ran = excess(call, MORE[name] or TIMES) end
        found = found or why
        if why then faults[#faults + 1] = what .. " " .. why end
        total = total + (ran and 1 or 0)
      end)
    end
    la.set_num_threads(threads)
    assert.equal("", table.concat(faults, "\n"))
    assert.is_true(only ~= nil or total > 1000, "calls: " .. total)
  end)
end)
