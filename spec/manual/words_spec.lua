-- The table of words is whole: everything that users can call has a row with a
-- text and an example, nothing has one that does not exist, and every example
-- shows what is written.
local la = require "lunarray"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"
local data = require "lunarray.data"
local help = require "lunarray.help"
local rows = require "lunarray.help.rows"
local folder = require "spec.support.folder"
local modules = require "spec.support.modules"
local stock = require "spec.support.interpreter"
local reach = require "spec.support.reach"

local MODULES = {nn = nn, optim = optim, data = data,
  plot = require "lunarray.plot", testing = require "lunarray.testing",
  parallel = require "lunarray.parallel"}

-- An object of each class whose methods have rows and that no module shows.
local set = data.TensorDataset(la.ones(2))
local OBJECTS = {
  ["data.DataLoader"] = data.DataLoader(set),
  Generator = la.Generator(1),
  ["plot.Figure"] = MODULES.plot.line{1},
  ["plot.Live"] = MODULES.plot.live{},
}

local function sorted(t)
  local list = {}
  for key in pairs(t) do list[#list + 1] = key end
  table.sort(list)
  return list
end

-- What a dotted name of a row stands for; nil where there is nothing.
local function value_of(name)
  local value = la
  for part in name:gsub("^la%.", ""):gmatch("[^.:]+") do
    if type(value) ~= "table" then return nil end
    local next_value = rawget(value, part)
    if next_value == nil and value == la then next_value = MODULES[part] end
    if next_value == nil and getmetatable(value) then
      local ok, found = pcall(function() return value[part] end)
      next_value = ok and found or nil
    end
    value = next_value
  end
  return value
end

local function exists(row, members)
  if row.op_name or row.family == "mpi" then return true end
  if row.owner == "tensor" then return members[row.short] ~= nil end
  if row.name == "..." then return true end
  local object = OBJECTS[row.owner]
  if object then return object[row.short] ~= nil end
  return value_of(row.name) ~= nil
end

-- The words of four letters and more in the texts of operations.
local function long_words(ops)
  local said = {}
  for _, op in ipairs(ops) do
    for word in op.doc:lower():gmatch("%a%a%a%a+") do said[word] = true end
  end
  return said
end

describe("the table of words", function()
  local list = rows.all().list

  it("has a text, an example with a result and a family in every row",
  function()
    local lacking = {}
    for _, row in ipairs(list) do
      local shown = false
      for _, step in ipairs(row.entry.example) do
        shown = shown or step.output ~= ""
      end
      local text = row.entry.text ~= "" or row.ops and row.ops[1].doc ~= ""
      if not (shown and text and row.family) then
        lacking[#lacking + 1] = row.name
      end
    end
    assert.same({}, lacking)
  end)

  -- The text of an operation stands in its row, where hosts without Lua read it
  -- too; the words tell what the row does not: when to use it, what not to do.
  it("says nothing again that the operation's own text says", function()
    local again = {}
    for _, row in ipairs(list) do
      local said, n = 0, 0
      local own = row.ops and long_words(row.ops) or {}
      for word in row.entry.text:lower():gmatch("%a%a%a%a+") do
        n = n + 1
        if own[word] then said = said + 1 end
      end
      if said > n / 2 and n > 2 then again[#again + 1] = row.name end
    end
    assert.same({}, again)
  end)

  it("has no row of what does not exist", function()
    local wrong, members = {}, reach.methods()
    for _, row in ipairs(list) do
      if not exists(row, members) then wrong[#wrong + 1] = row.name end
    end
    assert.same({}, wrong)
    assert.same({}, rows.all().unknown)
  end)

  it("points to words that exist", function()
    local wrong = modules.all() and rows.all().absent or {}
    for _, row in ipairs(list) do
      for _, name in ipairs(rows.words(row.entry.see)) do
        if name == row.name then
          wrong[#wrong + 1] = row.name .. " -> " .. name
        end
      end
    end
    assert.same({}, wrong)
  end)

  it("knows the methods of modules, optimisers and schedules", function()
    local missing = {}
    for owner, class in pairs{["nn.Module"] = nn.Module,
      ["optim.Optimizer"] = optim.Optimizer,
      ["optim.Scheduler"] = optim.Scheduler} do
      for _, name in ipairs(sorted(class)) do
        if type(class[name]) == "function"
          and not rows.all().by_name[owner .. ":" .. name] then
          missing[#missing + 1] = owner .. ":" .. name
        end
      end
    end
    for _, owner in ipairs{"nn.init", "testing", "parallel"} do
      for _, name in ipairs(sorted(value_of(owner))) do
        local known = rows.all().by_name[owner .. "." .. name]
        if not known and name ~= "worker" then
          missing[#missing + 1] = owner .. "." .. name
        end
      end
    end
    assert.same({}, missing)
  end)
end)

-- The keywords that a call says it knows when it is given one that it does not.
local function known_keywords(f, ...)
  local ok, message = pcall(f, ...)
  local known = not ok and tostring(message):match("%(known: ([^)]*)%)")
  if not known then return nil end
  local names = {}
  for name in known:gmatch("[%w_]+") do names[name] = true end
  return sorted(names)
end

local WRONG = {["?"] = 1}

local function weight() return {la.ones(1, {requires_grad = true})} end

describe("keywords of classes", function()
  local function same(name, known)
    local given = {}
    for _, call in ipairs(help.find(name).calls) do
      for k, p in ipairs(call.params) do
        -- The first argument of these is what they work on.
        if name:find("^nn%.") or k > 1 then given[p.name] = true end
      end
    end
    assert.same(known, sorted(given), name)
  end

  it("of nn are those of the row", function()
    local count = 0
    for _, name in ipairs(sorted(nn)) do
      local class = nn[name]
      if name:find("^%u") and class ~= nn.Module then
        local known = known_keywords(class, WRONG)
        count = count + (known and 1 or 0)
        if known then same("nn." .. name, known) end
      end
    end
    assert.is_true(count > 90)
  end)

  it("of optimisers, schedules, loaders and plots are, too", function()
    local opt = optim.SGD(weight(), {lr = 1, momentum = 0.5})
    local count = 0
    for _, name in ipairs(sorted(optim)) do
      if type(optim[name]) == "function" then
        local known = known_keywords(optim[name], weight(), WRONG)
          or known_keywords(optim[name], opt, WRONG)
        count = count + (known and 1 or 0)
        if known then same("optim." .. name, known) end
      end
    end
    assert.equal(20, count)
    same("data.DataLoader", known_keywords(data.DataLoader, set, WRONG))
    same("data.DistributedSampler", known_keywords(data.DistributedSampler, set,
      WRONG))
  end)

  -- Those of the axes stand in the text of plot.line.
  it("of plots, without those that all figures share, are, too", function()
    local figure, shared = MODULES.plot.line{1}, {}
    for _, name in ipairs(known_keywords(figure.set, figure, WRONG)) do
      shared[name] = true
    end
    local m = la.ones(2, 2)
    for name, values in pairs{line = {1}, scatter = {1}, bar = {1}, hist = {1},
      box = {1}, image = m, heatmap = m, contour = m} do
      local given = {}
      for _, param in ipairs(help.find("plot." .. name).calls[1].params) do
        given[param.name] = true
      end
      for _, key in ipairs(known_keywords(MODULES.plot[name], values, WRONG)) do
        assert.truthy(given[key] or shared[key], name .. ": " .. key)
      end
    end
  end)
end)

describe("examples of words", function()
  it("show what is written", function()
    local files = folder.new()
    local pipe = assert(io.popen "pwd")
    local here = pipe:read "l"
    pipe:close()
    local function absolute(path)
      return (path:gsub("%f[^;\0]%./", ""):gsub("%f[^;\0]([^/;][^;]*)",
        here .. "/%1"))
    end
    pipe = assert(io.popen(("cd %s && LUA_CPATH='%s' LUA_PATH='%s' %s "
      .. "%s/tools/words.lua check 2>&1"):format(files.name,
      absolute(package.cpath), absolute(package.path),
      stock.program:find "/" and absolute(stock.program) or stock.program,
      here)))
    local said = pipe:read "a"
    local ok = pipe:close()
    files:remove()
    assert.is_true(ok, said)
    assert.truthy(said:find("%d+ steps, 0 wrong"), said)
  end)
end)
