-- Calls of every operation that has golden records, again and again under a
-- cap, their results kept: for spec/c/api/test_caps.c, which gives 'host':
-- set_cap, resident and text_is_right.
local la = require "lunarray"
local records = require "spec.support.records"

local MOST = 30000          -- calls of one word
local SLACK = 256 << 10     -- bytes that the process may grow by beyond that

local function words()
  local list = {}
  for path in io.popen("ls spec/golden/*.jsonl"):lines() do
    list[#list + 1] = path
  end
  return list
end

local function is_tensor(v) return la.is_tensor(v) end

local function has_tensor(v)
  if is_tensor(v) then return true end
  return type(v) == "table" and is_tensor(v[1])
end

-- The first call of the records that gives tensors, as a function; with
-- 'graphs' one whose result has a history.
local function call_of(path, graphs)
  for r in records.each(path) do
    local ok, fn, args, keywords = pcall(records.call_of, r)
    if ok and not (keywords and keywords.out) then
      local n, leaf = args.n, nil
      if keywords then n = n + 1; args[n] = keywords end
      if graphs then
        for k = 1, n do
          if is_tensor(args[k]) and args[k]:is_floating_point() then
            leaf = args[k]:detach():clone():requires_grad_()
            args[k] = leaf * 1
            break
          end
        end
      end
      local function call() return fn(table.unpack(args, 1, n)) end
      local fine, result = pcall(call)
      local one = type(result) == "table" and result[1] or result
      if fine and has_tensor(result) and not rawequal(one, args[1])
        and (not graphs or leaf and one.requires_grad) then
        return call
      end
    end
  end
end

-- What is wrong with the word, or nil. The first round is no attack: it brings
-- what is made once.
local function attack(call, host, more)
  for _ = 1, 3 do call() end
  collectgarbage()
  collectgarbage()
  la.set_num_threads(1)
  local before = host.resident()
  local cap = host.set_cap(more)
  local keep = {}
  local ok, why = pcall(function()
    for i = 1, MOST do keep[i] = call() end
  end)
  local right = ok or host.text_is_right(why, cap)
  local grown = host.resident() - before
  host.set_cap(0)
  if not right then return why end
  if grown > more * 1.3 + SLACK then
    return ("%d bytes resident, %d allowed"):format(grown, more)
  end
  return nil, keep
end

-- Of 'parts' parts of all words the one with this index (from 0).
return function(host, index, parts, graphs, more)
  local wrong = {}
  for k, path in ipairs(words()) do
    local call = k % parts == index and call_of(path, graphs)
    local why = call and attack(call, host, more)
    if why then
      wrong[#wrong + 1] = path:match("([^/]+)%.jsonl$") .. ": " .. why
    end
    call = nil
    collectgarbage()
  end
  return #wrong > 0 and table.concat(wrong, "\n") or nil
end
