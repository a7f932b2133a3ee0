-- lunarray.parallel: one function on the elements of a list, on threads with
-- Lua states of their own. Reached as la.parallel.
--
-- A function goes to another state as its bytecode and the values around it:
-- plain values and tables are copied, tensors are shared (x:share()), functions
-- go the same way; modules, and functions of modules, are required there.
local la = require "lunarray"
local values = require "lunarray.values"

local parallel = {}

-- ---- functions as values ----

-- What is found in loaded modules by name: [value] = {module, name or false}.
local function known_values()
  local known = {}
  for module, loaded in pairs(package.loaded) do
    if type(loaded) == "table" and module ~= "_G" then
      for name, value in next, loaded do
        if type(value) == "function" and type(name) == "string" then
          known[value] = {module, name}
        end
      end
    end
  end
  for module, loaded in pairs(package.loaded) do
    if type(loaded) == "table" then known[loaded] = {module, false} end
  end
  for name, value in next, _G do
    if type(value) == "function" then known[value] = {"_G", name} end
  end
  return known
end

local function is_native(f) return debug.getinfo(f, "S").what == "C" end

-- A function as a table of plain values; 'done' numbers those that were met.
local function pack_function(f, known, done)
  if done[f] then return {again = done[f]} end
  if is_native(f) then
    error("a function in C that no module has does not travel between states",
      0)
  end
  done.n = done.n + 1
  done[f] = done.n
  local out = {code = string.dump(f, false), number = done.n, up = {}}
  local k = 1
  while true do
    local name, value = debug.getupvalue(f, k)
    if not name then break end
    if name == "_ENV" then
      out.up[k] = {env = true}
    elseif known[value] then
      out.up[k] = {module = known[value][1], name = known[value][2]}
    elseif type(value) == "function" then
      out.up[k] = {f = pack_function(value, known, done)}
    else
      out.up[k] = {value = value}
    end
    k = k + 1
  end
  return out
end

local function unpack_function(packed, done)
  if packed.again then return done[packed.again] end
  local f = assert(load(packed.code, "=parallel", "b"))
  done[packed.number] = f
  for k, up in pairs(packed.up) do
    local value = up.value
    if up.env then value = _G
    elseif up.module then
      value = up.module == "_G" and _G or require(up.module)
      if up.name then value = value[up.name] end
    elseif up.f then value = unpack_function(up.f, done) end
    debug.setupvalue(f, k, value)
  end
  return f
end

-- ---- values as strings ----

-- Tensors go by handles, each of which is opened once.
local function send(value)
  local tensors, handles = {}, {}
  local text = values.pack(value, tensors)
  for k, t in ipairs(tensors) do handles[k] = t:share() end
  return values.pack{text, handles}
end

local function receive(text)
  local parts = values.unpack(text)
  local tensors = {}
  for k, handle in ipairs(parts[2]) do tensors[k] = la.open(handle) end
  return values.unpack(parts[1], tensors)
end

-- In a state of a thread: the function of an item. 'argument' is a packed
-- function without tensors, and what they are is read from the first item.
function parallel._worker(argument)
  local f = unpack_function(values.unpack(argument), {})
  return function(item)
    local task = receive(item)
    return send{f(task.item, task.k)}
  end
end

local CODE = "return require('lunarray.parallel')._worker(...)"

-- f(item, k) for each item of a list, on threads (la.get_num_threads()) whose
-- Lua states share nothing but the memory of tensors: those of items and
-- results are not copied. f is a Lua function; what it uses from outside is
-- copied when map is called (tensors too), and its globals are fresh. Returns
-- the results in order, and, where f raised, a table of the texts by k. Results
-- and items are nil, booleans, numbers, strings, tensors and tables of them.
-- options: threads, retries (0).
function parallel.map(f, list, options)
  options = options or {}
  if type(f) ~= "function" then
    error("parallel.map: function expected, got " .. type(f), 2)
  end
  if type(list) ~= "table" then
    error("parallel.map: list expected, got " .. type(list), 2)
  end
  local ok, argument = pcall(function()
    return values.pack(pack_function(f, known_values(), {n = 0}))
  end)
  if not ok then error("parallel.map: " .. argument, 2) end
  local results, errors, left = {}, {}, {}
  for k = 1, #list do left[k] = k end
  for _ = 0, options.retries or 0 do
    local items, again = {}, {}
    for n, k in ipairs(left) do
      local good, text = pcall(send, {item = list[k], k = k})
      if not good then
        error(("parallel.map: item %d: %s"):format(k, text), 2)
      end
      items[n] = text
    end
    local texts, good = la.parallel.run(CODE, argument, items,
      options.threads or la.get_num_threads())
    for n, k in ipairs(left) do
      if good[n] then
        results[k], errors[k] = receive(texts[n])[1], nil
      else
        errors[k] = texts[n]
        again[#again + 1] = k
      end
    end
    left = again
    if #left == 0 then break end
  end
  return results, next(errors) and errors or nil
end

return parallel
