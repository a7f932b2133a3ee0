-- The annotations for editors (tools/types.lua): Lua that loads, in the grammar
-- of LuaCATS, of everything that the library has, and of nothing else.
local la = require "lunarray"
local help = require "lunarray.help"
local types = require "tools.types"

local files = types.files()

-- ---- the part of LuaCATS that the files use ----

-- The names of types in an expression: unions, lists, functions, literals.
-- Raises what is none.
local expression

local function blanks(text, at) return text:match("^ *()", at) end

local function in_function(text, at, names)
  at = text:match("^%(()", at)
  while not text:find("^%)", at) do
    local after = text:match("^[%a_][%w_]*%??: ()", at)
      or text:match("^%.%.%.: ()", at)
    assert(after, "an argument expected: " .. text:sub(at))
    at = expression(text, after, names)
    at = text:match("^, ()", at) or at
  end
  at = at + 1
  if text:find("^: ", at) then
    at = at + 2
    repeat
      at = expression(text, at, names)
      local more = text:match("^, ()", at)
      at = more or at
    until not more
  end
  return at
end

function expression(text, at, names)
  repeat
    local name, after = text:match("^([%a_][%w_.]*)()", at)
    if name == "fun" and text:find("^%(", after) then
      at = in_function(text, after, names)
    elseif name then
      names[#names + 1] = name
      at = after
    else
      at = text:match('^"[%w_]+"()', at)
    end
    assert(at, "a type expected: " .. text)
    at = text:match("^%[%]()", at) or at
    local more = text:match("^|()", at)
    at = more or at
  until not more
  return blanks(text, at)
end

local KINDS = {}

function KINDS.meta() end
function KINDS.alias(rest, names)
  return expression(rest, rest:match("^[%w_.]+ ()"), names)
end
KINDS["class"] = function(rest, names)
  local parent = rest:match("^[%w_.]+()")
  local at = rest:match("^: ()", parent)
  return at and expression(rest, at, names) or parent
end
function KINDS.field(rest, names)
  local at = rest:match("^[%a_][%w_]*%?? ()")
    or rest:match('^%[[%w_"]+%]%?? ()')
  at = expression(rest, assert(at, rest), names)
  return rest:find("^#", at) and #rest + 1 or at
end
function KINDS.param(rest, names)
  local at = rest:match("^[%a_][%w_]*%?? ()") or rest:match("^%.%.%. ()")
  return expression(rest, assert(at, rest), names)
end
KINDS["return"] = function(rest, names)
  local at = expression(rest, 1, names)
  return rest:match("^[%w_]+()", at) or rest:match("^%.%.%.()", at) or at
end
function KINDS.overload(rest, names)
  assert(rest:find("^fun%("), rest)
  return expression(rest, 1, names)
end
function KINDS.operator(rest, names)
  local at = rest:match("^%l+()")
  if rest:find("^%(", at) then
    at = expression(rest, at + 1, names)
    at = assert(rest:match("^%)()", at), rest)
  end
  return expression(rest, assert(rest:match("^: ()", at), rest), names)
end
function KINDS.type(rest, names) return expression(rest, 1, names) end

local PLAIN = {}
for word in ([[any boolean function integer nil number self string table]])
  :gmatch("%S+") do
  PLAIN[word] = true
end

-- All lines of a file are annotations, comments or code; arguments that are
-- described are those of the function that follows.
local function check_file(text, names)
  local described = {}
  for line in text:gmatch("[^\n]+") do
    local kind, rest = line:match("^%-%-%-@(%l+) ?(.*)$")
    if kind then
      local parse = assert(KINDS[kind], line)
      local at = parse(rest, names)
      assert(not at or at == #rest + 1, line)
      if kind == "param" then
        described[#described + 1] = rest:match("^[%w_.]+")
      end
    elseif line:find("^function ") or line:find("= function%(") then
      local list = line:match("%(([^)]*)%) end$")
      assert.equal(list, table.concat(described, ", "), line)
      described = {}
    else
      assert(line:find("^%-%-") or #described == 0, line)
    end
  end
end

describe("annotations", function()
  it("follow the grammar, and name types that are declared", function()
    local declared, used = {}, {}
    for _, text in pairs(files) do
      check_file(text, used)
      for name in text:gmatch("\n%-%-%-@%l+ (lunarray[%w_.]*)") do
        declared[name] = true
      end
    end
    for _, name in ipairs(used) do
      assert.truthy(PLAIN[name] or declared[name], name)
    end
    assert.is_true(#used > 5000)
  end)

  it("load, and declare what the library has", function()
    -- The library is declared by three files, in one class for each table.
    local loaded, shared = {}, {la = {}, Tensor = {}}
    local function run(name, env)
      local text = files[name]
      if env then
        text = text:gsub("\nlocal la = {}\n", "\n")
          :gsub("\nlocal Tensor = {}\n", "\n")
      end
      loaded[name] = assert(load(text, "=" .. name, "t", env or {}))()
    end
    for _, name in ipairs{"tensor", "themes"} do
      run("lunarray/" .. name .. ".lua", shared)
    end
    run("lunarray.lua", shared)
    for name in pairs(files) do
      if loaded[name] == nil then run(name) end
    end
    local main, missing = loaded["lunarray.lua"], {}
    for name, row in pairs(help.names "la") do
      if type(la[name]) == "function" and row.family
        and row.owner ~= "nn" and type(main[name]) ~= "function" then
        missing[#missing + 1] = name
      end
    end
    for name in pairs(main) do
      if la[name] == nil then missing[#missing + 1] = "not there: " .. name end
    end
    assert.same({}, missing)
    for _, module in ipairs{"nn", "optim", "data", "plot", "testing",
      "parallel"} do
      local has = require("lunarray." .. module)
      for name in pairs(help.names(module)) do
        local ours = loaded["lunarray/" .. module .. ".lua"][name]
        assert.truthy(ours or type(has[name]) ~= "function", name)
      end
    end
  end)

  it("are in files that language servers read: below 300 kB", function()
    for name, text in pairs(files) do
      assert.is_true(#text < 300000, name .. ": " .. #text)
    end
  end)

  it("declare all methods and properties of tensors", function()
    local text = files["lunarray/tensor.lua"]
    for name, row in pairs(help.names "tensor") do
      if row.kind == "property" then
        assert.truthy(text:find("\n---@field " .. name .. " ", 1, true), name)
      elseif name:find("^%a") then
        assert.truthy(text:find("\nfunction Tensor." .. name .. "(", 1, true)
          or text:find("\nTensor." .. name .. " = ", 1, true)
          or text:find('\nTensor["' .. name .. '"] = ', 1, true), name)
      end
    end
  end)
end)
