-- docs/coverage.md: every operation with its dtypes, forms, derivative and what
-- a lockstep state does with it, from the rows of src/op/def as the library has
-- them. Without an argument the page goes to standard output.
--   LUA_CPATH="build/?.so;;" lua5.4 tools/coverage.lua [docs/coverage.md]
local la = require "lunarray"

-- Bits of an operation's forms, as in src/op/op.h.
local FN, METHOD, INPLACE, OUT = 1, 2, 4, 8

local GROUPS = {
  {"bool", {"bool"}},
  {"int", {"uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
    "int64"}},
  {"half", {"float16", "bfloat16"}},
  {"float", {"float32", "float64"}},
  {"complex", {"complex32", "complex64", "complex128"}},
}

-- "int, half, float", with single dtypes of a kind by name.
local function dtypes(op)
  local has, words, whole = {}, {}, true
  for _, name in ipairs(op.dtypes) do has[name] = true end
  for _, group in ipairs(GROUPS) do
    local some = {}
    for _, name in ipairs(group[2]) do
      if has[name] then some[#some + 1] = name end
    end
    if #some == #group[2] then words[#words + 1] = group[1]
    else
      whole = false
      for _, name in ipairs(some) do words[#words + 1] = name end
    end
  end
  return whole and "all" or #words > 0 and table.concat(words, ", ") or "-"
end

local function forms(op)
  local words = {}
  if op.forms & FN ~= 0 then words[#words + 1] = "la" end
  if op.forms & METHOD ~= 0 then words[#words + 1] = "x:" end
  if op.forms & INPLACE ~= 0 then words[#words + 1] = "x:_" end
  if op.forms & OUT ~= 0 then words[#words + 1] = "out" end
  return table.concat(words, " ")
end

local function derivative(op)
  if not op.differentiable then return "-" end
  return op.derivative and "yes" or op.composite and "by its steps" or "-"
end

-- Row to file: the titles of the page's tables are the files of src/op/def and
-- the modules.
local function themes()
  local pipe = assert(io.popen "ls src/op/def/*.def modules/*/ops.def")
  local list, of = {}, {}
  for path in pipe:lines() do
    local theme = path:match("^modules/([%w_]+)/")
      or path:match("([%w_]+)%.def$")
    list[#list + 1] = theme
    local macro, prefix = nil, {}        -- rows that a file's own macro begins
    for line in io.lines(path) do
      local row = line:match("^OP%(([%w_]+),")
      macro = line:match("^#define (%u[%u_]*)%(name") or macro
      if macro then
        prefix[macro] = prefix[macro] or line:match("OP%(([%w_]+)##name")
      end
      local head, name = line:match("^(%u[%u_]*)%(([%w_]+),")
      if prefix[head] then row = prefix[head] .. name end
      if row then of[row] = theme end
    end
  end
  pipe:close()
  return list, of
end

local HEAD = [[
# Operations: dtypes, forms, derivatives

Made from the rows of `src/op/def` and `modules` by `make coverage`: %d
operations in %d rows, one for each way to call them.

- **dtypes**: half is float16 and bfloat16, int the eight integer dtypes, float
  and complex the others of their kind. Inputs of other dtypes are refused, or
  converted where the operation promotes.
- **forms**: `la` is the function `la.name`, `x:` the method, `x:_` the method
  that works in place (`x:name_`), `out` the keyword.
- **derivative**: a formula of its own, which can be differentiated again, or
  those of the operations that it consists of; `-` where no gradient passes.
- **lockstep**: how it runs where bits must be those of every machine: native,
  baseline (kernels), by its steps, or refused (`docs/lockstep.md`).
- `name.kind` is a further way to call; `la.help(name)` shows all of them.
  `linalg_name` is `la.linalg.name`, and so are `fft_` and other themes.
]]

local function page()
  local list, of = themes()
  local tables, names, rows = {}, {}, 0
  for _, theme in ipairs(list) do tables[theme] = {} end
  for _, op in ipairs(la.operations()) do
    if op.forms & (FN | METHOD | INPLACE) ~= 0 then
      local t = tables[of[op.row]]
      t[#t + 1] = ("| `%s` | %s | %s | %s | %s |"):format(
        op.signature:match("^[%w_.]+"), dtypes(op), forms(op), derivative(op),
        op.lockstep == "steps" and "by its steps" or op.lockstep)
      rows, names[op.name] = rows + 1, true
    end
  end
  local count = 0
  for _ in pairs(names) do count = count + 1 end
  local out = {HEAD:format(count, rows)}
  for _, theme in ipairs(list) do
    if #tables[theme] > 0 then
      table.sort(tables[theme])
      out[#out + 1] = ("## %s\n\n| row | dtypes | forms | derivative "
        .. "| lockstep |\n| --- | --- | --- | --- | --- |\n%s\n"):format(theme,
        table.concat(tables[theme], "\n"))
    end
  end
  return table.concat(out, "\n")
end

local text = page()
if arg and arg[1] then
  local file = assert(io.open(arg[1], "w"))
  file:write(text)
  file:close()
else
  io.write(text)
end
