-- What modules need of each other, by NEEDS_<name> of their module.mk, and
-- whether their Lua files keep to it: a module uses operations and tables of
-- the modules that it needs, the core of none.
local files = require "files"
local needs = {}

-- What the core says of modules where they are there: advice for names of other
-- libraries, texts of the help, pictures, and the rank in MPI, if it is loaded.
local EXEMPT = {"^lua/lunarray/foreign%.lua$", "^lua/lunarray/words/",
                "^lua/lunarray/images%.lua$", "^lua/lunarray/data%.lua$"}

local function text_of(path)
  local file = io.open(path)
  local text = file and file:read("a") or ""
  if file then file:close() end
  return text
end

local function names()
  local list = {}
  for _, path in ipairs(files.list("modules", "README.md")) do
    list[#list + 1] = path:match("^modules/([%w_]+)/README%.md$")
  end
  return list
end

-- {module = set of the modules that it may use, itself too}; "core" none.
function needs.read()
  local allowed = {core = {}}
  for _, name in ipairs(names()) do
    local set = {[name] = true}
    local line = text_of(("modules/%s/module.mk"):format(name))
      :match("NEEDS_" .. name .. " := ([^\n]*)")
    for other in (line or ""):gmatch("[%w_]+") do set[other] = true end
    allowed[name] = set
  end
  return allowed
end

-- The module that a word of Lua belongs to: rows and other names of rows.
local function owners()
  local of = {}
  for _, name in ipairs(names()) do
    local folder = ("modules/%s/"):format(name)
    for row in text_of(folder .. "ops.def"):gmatch('\nOP%(.-"([%w_]+)[.(]') do
      of[row] = name
    end
    for word in text_of(folder .. "aliases.def"):gmatch("\nALIAS%(([%w_]+)") do
      of[word] = name
    end
  end
  return of
end

local function uses_of(line, of, allowed)
  local list = {}
  local function add(module)
    if module and allowed[module] and module ~= "core" then
      list[#list + 1] = module
    end
  end
  for word in line:gmatch("%f[%w_]la%.([%w_]+)") do add(of[word] or word) end
  for word in line:gmatch(":([%w_]+)[({\"]") do add(of[word]) end
  for word in line:gmatch('"lunarray%.([%w_]+)') do add(word) end
  return list
end

local function is_exempt(path)
  for _, pattern in ipairs(EXEMPT) do
    if path:find(pattern) then return true end
  end
  return false
end

function needs.check(found)
  local allowed, of = needs.read(), owners()
  for _, path in ipairs(files.list("lua modules", "*.lua")) do
    local here = path:match("^modules/([%w_]+)/lua/")
      or path:find("^lua/") and not is_exempt(path) and "core"
    for i, line in ipairs(here and files.lines(path) or {}) do
      local code = line:gsub("%-%-.*$", "")
      for _, module in ipairs(uses_of(code, of, allowed)) do
        if not allowed[here][module] then
          found[#found + 1] = ("%s:%d: %s uses the module %s%s"):format(path, i,
            here, module, here == "core" and ""
            or (": NEEDS_%s := %s in its module.mk"):format(here, module))
        end
      end
    end
  end
end

return needs
