-- lunarray.repl.elsewhere: how Lua writes what has another form in other
-- languages, for texts that Lua does not take.
local chunk = require "lunarray.repl.chunk"

local elsewhere = {}

-- Patterns of a text without strings and comments, and the advice; "%1" is what
-- the first capture took.
local ROWS = {
  {"([%a_][%w_.]*)%s*([-+*/%%])=[^=]",
    "Lua has no '%2=': write %1 = %1 %2 ..."},
  {"([%a_][%w_.]*)%+%+", "Lua has no '++': write %1 = %1 + 1"},
  {"!=", "'not equal' is ~= in Lua (of elements: a:ne(b))"},
  {"%*%*", "a power is written ^ : x ^ 2"},
  {"&&", "'and' is a word in Lua: a and b (of elements: a:logical_and(b))"},
  {"||", "'or' is a word in Lua: a or b (of elements: a:logical_or(b))"},
  {"^%s*from%s+[%w_.]+%s+import%s+", "modules are required: local nn = "
    .. "require \"lunarray.nn\""},
  {"^%s*import%s+([%w_.]+)", "modules are required: local %1 = require \"%1\""},
  {"^%s*print%s+[^%s%(\"'{%[]", "functions are called with brackets: "
    .. "print(x); at the prompt x alone shows its value"},
  {"([%a_][%w_]*)%s*@%s*([%a_][%w_]*)",
    "a product of matrices is %1:matmul(%2)"},
  {"([%a_][%w_]*)%[[^%[%]{}]*:[^%[%]{}]*%]",
    "ranges are tables: %1[{{1, 3}}] is the first three rows, %1[{{}, 2}] "
    .. "column 2"},
  {"^%s*def%s+([%w_]+)", "a function is: function %1(x) return x end"},
  {"^%s*fn%s+([%w_]+)", "a function is: function %1(x) return x end"},
  {"lambda%s+[%w_, ]*:", "a small function is: function(x) return x + 1 end"},
  {"=>%s*", "a small function is: function(x) return x + 1 end"},
  {"elif%f[%W]", "it is elseif in Lua"},
  {"else%s+if%f[%W].*$", "it is elseif in Lua, in one word"},
  {"^%s*for%s+[%w_]+%s+in%s+[^:]*:%s*$", "a loop is: for i = 1, 3 do ... end, "
    .. "over a list: for i, x in ipairs(list) do ... end"},
  {"^%s*for%s*%(", "a loop is: for i = 1, 3 do ... end"},
  {"^%s*if%s+[^\n]*:%s*$", "it is: if x then ... end"},
  {"^%s*if%s*%([^\n]*%)%s*{", "it is: if x then ... end"},
  {"^%s*while%s+[^\n]*:%s*$", "it is: while x do ... end"},
  {"^%s*let%s+([%w_]+)", "a variable is: local %1 = ..."},
  {"^%s*var%s+([%w_]+)", "a variable is: local %1 = ..."},
  {"^%s*const%s+([%w_]+)", "a variable is: local %1 = ..."},
  {"%f[%w_]not%s+in%f[%W]", "membership is asked of the table: t[key] == nil"},
  {"[^?]%?[^?]*:", "a choice is: a and b or c"},
  {"^%s*%%%a", "commands of the prompt begin with a colon: :time f(), :help"},
  {"^%s*#", "comments begin with --"},
  {"^%s*//", "comments begin with --"},
  {";;", "one semicolon does, or none"},
  {"%f[%w_]x%.T%f[^%w_]", "transposed is x:t()"},
}

-- The text with strings and comments left out.
local function bare(text)
  local parts, last = {}, 1
  for kind, _, at, after in chunk.tokens(text) do
    parts[#parts + 1] = text:sub(last, at - 1):gsub("%-%-.*", "")
    parts[#parts + 1] = kind == "string" and "\"\"" or text:sub(at, after - 1)
    last = after
  end
  return table.concat(parts)
end

-- Advice for a text that does not compile, or nil.
function elsewhere.hint(text)
  local code = bare(text) .. " "
  for _, row in ipairs(ROWS) do
    local from, to = code:find(row[1])
    if from then
      local captures = {code:sub(from, to):match(row[1]:gsub("^%^", ""))}
      return (row[2]:gsub("%%(%d)", function(k)
        return captures[tonumber(k)] or "x"
      end))
    end
  end
end

-- Names of other languages that are nil here.
local NAMES = {None = "nil", null = "nil", NULL = "nil", undefined = "nil",
  True = "true", False = "false", np = "la", torch = "la", len = "#x",
  str = "tostring", int = "math.tointeger or x:int()", float = "tonumber",
  list = "a table: {1, 2}", dict = "a table: {a = 1}", range = "la.arange",
  printf = "print(string.format(...))", echo = "print", this = "self"}

-- What a global name of another language is called here, or nil.
function elsewhere.name(word) return NAMES[word] end

return elsewhere
