-- The prompt as a person sees it, in a window of tmux.
local modules = require "spec.support.modules"
local program = require "spec.support.program"
local tmux = require "spec.support.tmux"

-- A window with the program in it, and a folder of its own as $HOME.
local function open(folder, columns, more)
  local window = tmux.open(("cd %s && env -u NO_COLOR -u XDG_CONFIG_HOME "
    .. "-u XDG_STATE_HOME HOME=%s %s %s"):format(folder, folder,
    more or "NO_COLOR=1", program.path:sub(1, 1) == "/"
    and program.path or "$OLDPWD/" .. program.path), columns)
  window:ready()
  return window
end

local function count(text, part)
  local n = 0
  for _ in text:gmatch(part) do n = n + 1 end
  return n
end

describe("the prompt in a terminal", function()
  if not tmux.present() then
    it("is not tried: there is no tmux (left out)", function() end)
    return
  end

  local folder, window
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    os.execute("mkdir " .. folder)
    window = open(folder)
  end)
  after_each(function()
    window:close()
    os.execute("rm -r " .. folder)
  end)

  it("shows values, and the last ones again", function()
    window:enter "6 * 7"
    window:wait "\n42"
    window:enter "_ + 1"
    window:wait "\n43"
    window:enter "_2 * 1000"
    window:wait "\n42000"
    window:enter "55 * 1000;"
    window:enter "_ + 11"
    assert.is_nil(window:wait("\n55011"):find("\n55000"))
  end)

  it("keeps the rows of tensors within the window, after a change too",
    function()
    for _, columns in ipairs{40, 60, 80, 100} do
      window:close()
      window = open(folder, columns)
      window:enter "print(la.rand(2, 2, 40)) print('done' .. 'it')"
      local screen = window:wait "doneit"
      for line in screen:gmatch("[^\n]+") do
        assert.falsy(line:find("^%s*%]+[,)]*$"), line)
      end
      window:ready()
    end
  end)

  it("keeps locals, as the same variables", function()
    window:enter "local n = 5; function inc() n = n + 1 return n end"
    window:enter "inc() * 100"
    window:wait "\n600"
    window:enter "n = 40"
    window:enter "inc() * 1000"
    window:wait "\n41000"
  end)

  it("edits and recalls a chunk as a whole", function()
    window:enter "for i = 1, 2 do"
    window:enter "print(i * 111)"
    window:enter "end"
    window:wait "\n222"
    window:ready()
    window:keys "Up"
    window:keys "Up"
    window:keys "Home"
    window:keys "C-e"
    window:keys "BSpace"
    window:type " + 5)"
    window:keys "Enter"
    window:wait "\n227"
    window:ready()
    window:keys "Up"
    window:keys "C-c"
    window:ready()
    window:enter "'still ' .. 'here'"
    window:wait "still here"
  end)

  it("goes on below its own prompt until a chunk is whole", function()
    window:enter "function f(a,"
    window:enter "b)"
    window:wait "> function f(a,\n>> b)\n>>"
    window:keys "BSpace"
    window:type " return a * b"
    window:keys "Enter"
    window:wait "b) return a * b"
    window:enter "end"
    window:ready()
    window:enter "f(11, 11)"
    window:wait "\n121"
    -- Up leads into the lines above, which are one text then.
    window:enter "for i = 1, 2 do"
    window:wait "\n>>"
    window:keys "Up"
    window:keys "C-e"
    window:type " print(i * 37)"
    window:keys "Down"
    window:type "end"
    window:keys "Enter"
    window:wait "\n74"
    window:ready()
    window:enter "for i = 1, 2 do"
    window:wait "do\n>>"
    window:keys "C-c"
    window:ready()
    window:enter "x = {5,"
    window:wait "5,\n>>"
    window:tmux "resize-window -x 50 -y 12"
    window:enter "6}"
    window:ready()
    window:enter "#x * 333"
    window:wait "\n666"
    window:enter "_PROMPT2 = '... '"
    window:enter "y = [["
    window:wait "y = [[\n..."
    window:enter "größe]]"
    window:enter "#y .. 'bytes'"
    window:wait "\n7bytes"
  end)

  it("edits in the user's editor and takes lines as they are", function()
    window:close()
    local editor = folder .. "/edit.sh"
    local file = assert(io.open(editor, "w"))
    file:write("#!/bin/sh\nsed -i s/21/55/ \"$1\"\n")
    file:close()
    os.execute("chmod +x " .. editor)
    window = open(folder, nil, "NO_COLOR=1 VISUAL=" .. editor)
    window:enter "x = 21 * 2"
    window:ready()
    window:enter ":edit"
    window:wait "x = 55 * 2"
    window:ready()
    window:enter "x"
    window:wait "\n110"
    window:enter ":edit 1"
    window:ready()
    window:enter "x + 1"
    window:wait "\n111"
    window:enter ":paste"
    window:enter "local function g(a)"
    window:enter "return a"
    window:enter "end y = g(3) +"
    window:enter "4"
    window:enter ":end"
    window:ready()
    window:enter "y * 100"
    window:wait "\n700"
    window:enter ":bench y + 1"
    window:wait "rounds of"
    window:enter ":bench"
    window:wait ":bench needs an expression"
    window:enter ":b = 3"
    window:ready()
  end)

  it("takes a paste as it is, and runs nothing before Enter", function()
    window:paste "function f(a)\n\tlocal s = 'x\ty'\n\treturn #s + a\nend\n"
    window:wait "return #s + a"
    window:keys "Enter"
    window:enter "f(100) * 10"
    window:wait "\n1030"
    window:ready()
    window:paste "pri\t= 3"
    window:keys "Enter"
    window:enter "pri * 111"
    window:wait "\n333"
  end)

  it("completes what results, modules and calls have", function()
    window:enter "nn = require 'lunarray.nn' net = nn.Linear(3, 2)"
    local rows = {{"la.zeros(2):requires_gr", "requires_grad"},
      {"net.wei", "net.weight"}, {"net:paramet", "net:parameters"},
      {"nn.Linear(2, 3):forw", ":forward"}, {"la.zeros(2, {memory_f",
        "memory_format ="}, {"x = {dtype = 'bfl", "bfloat16"},
      {"require 'lunarray.opt", "lunarray.optim"}, {":sha", ":shapes"}}
    for _, row in ipairs(rows) do
      window:ready()
      window:type(row[1])
      window:keys "Tab"
      window:wait(row[2])
      window:keys "C-u"
    end
  end)

  it("says errors in a line, with shapes and a hint", function()
    window:enter "x = la.ones(2, 3)"
    window:enter "x + la.ones(2)"
    local screen = window:wait "x: float32 [2, 3]"
    assert.is_nil(screen:find("traceback", 1, true))
    window:enter "x:sofmax()"
    window:wait "did you mean softmax?"
    window:enter "x.shpe"
    window:wait "did you mean shape?"
    window:enter "x:sum{kepdim = true}"
    window:wait "did you mean keepdim?"
    window:enter "zeros(2)"
    window:wait "did you mean la.zeros?"
    window:enter ":tb"
    window:wait "stack traceback"
  end)

  it("keeps the history on os.exit, for all sessions", function()
    local other = open(folder)
    other:enter "'from the ' .. 'other'"
    other:wait "from the other"
    other:close()
    window:enter "'from the ' .. 'first'"
    window:wait "from the first"
    window:enter "os.exit(0)"
    window:close()
    window = open(folder)
    window:keys "Up"
    window:keys "Up"
    window:wait "'first'"
    window:keys "Up"
    window:wait "'other'"
  end)

  it("fits the window and colours what it says", function()
    window:close()
    window = open(folder, 60, "TERM=screen-256color")
    window:enter "la.arange(0, 40)"
    for line in window:wait("39])"):gmatch("[^\n]+") do
      assert.is_true(#line <= 60)
    end
    window:enter "error 'red'"
    window:wait "stdin:1: red"
    assert.is_truthy(window:tmux("capture-pane -p -e"):find("\27%[31m"))
  end)

  -- The screen with its colours, once 'text' is on it.
  local function coloured(text)
    local screen
    for _ = 1, 100 do
      screen = window:tmux "capture-pane -p -e":gsub("\27%[39m\27%[49m", "")
      if screen:find(text, 1, true) then return screen end
      os.execute "sleep 0.05"
    end
    error(("%q is not shown:\n%s"):format(text, screen), 2)
  end

  it("colours what is typed, and marks the brackets of a pair", function()
    window:close()
    window = open(folder, 60, "TERM=screen-256color")
    window:type "for i = 1, 2 do f('a', (3)"
    local line = coloured "\27[32m'a'"
    assert.is_truthy(line:find("\27[35mfor", 1, true))
    assert.is_truthy(line:find("\27[36m1", 1, true))
    assert.is_truthy(line:find("\27[1;4m(", 1, true))
    window:type ") -- end"
    coloured "\27[2m-- end"
    window:keys "Enter"
    window:type "  local s = [[long"
    coloured "\27[32m[[long"
    window:keys "Enter"
    window:type "yet a string]] end"
    coloured "\27[32myet a string]]"
    -- Nothing of it is a part of the text, nor moves what stands there.
    assert.is_truthy(window:screen():find(">>   local s = [[long\n", 1, true),
      window:screen())
    window:keys "Enter"
    window:wait "'f'"
  end)

  it("paints lines that wrap, and wide characters, where they stand", function()
    window:close()
    window = open(folder, 40, "TERM=screen-256color")
    -- Waits until the last line of the screen, wraps undone, is the text: keys
    -- that come before the line is read would go to another state of it.
    local function last_line(text)
      local right, shown = text:match "^(.-) *$", nil
      for _ = 1, 1200 do
        shown = window:tmux "capture-pane -p -J":gsub("%s+$", "")
          :match "[^\n]*$"
        if shown == right then return end
        os.execute "sleep 0.05"
      end
      assert.equal(right, shown)
    end
    for _, text in ipairs{("'abc' .. 12 .. "):rep(6), "x = '漢字' .. 3",
      ("{"):rep(38), ("("):rep(39), ("{"):rep(77)} do
      last_line ">"
      window:type(text)
      last_line("> " .. text)
      window:keys "C-a"
      window:keys "C-e"
      window:keys "BSpace"
      last_line("> " .. text:sub(1, -2))
      window:keys "C-c"
    end
  end)

  it("offers how a chunk went on that began so", function()
    window:close()
    window = open(folder, 60, "TERM=screen-256color")
    window:enter "kept = 6 * 7"
    window:enter "other = 5"
    window:type "ke"
    coloured "ke\27[2mpt = 6 * 7"
    window:keys "Right"
    window:keys "Enter"
    window:type "ke"
    coloured "ke\27[2mpt = 6 * 7"
    window:keys "Enter"                   -- not taken: 'ke' alone is nil
    window:wait "> ke\nnil"
    window:enter "kept"
    window:wait "\n42"
  end)

  it("goes through the chunks that begin as the line does", function()
    for _, line in ipairs{"one = 11", "two = 22", "one = 111", "three = 3"} do
      window:enter(line)
    end
    window:type "on"
    window:keys "Up"
    local function line() return window:screen():match "[^\n]*$" end
    local function becomes(text)
      for _ = 1, 100 do
        if line() == text then return end
        os.execute "sleep 0.05"
      end
      assert.equal(text, line())
    end
    becomes "> one = 111"
    window:keys "Up"
    becomes "> one = 11"
    window:keys "Up"                      -- the oldest: it stays
    becomes "> one = 11"
    window:keys "Down"
    becomes "> one = 111"
    window:keys "Down"
    becomes "> on"
    window:keys "C-u"
    window:keys "Up"
    becomes "> three = 3"
    window:keys "Up"
    becomes "> one = 111"
    window:type "0"                       -- changed: a walk of its own begins
    window:keys "Up"
    becomes "> one = 1110"
    window:keys "Enter"
    window:enter "one + 1"
    window:wait "\n1111"
  end)

  it("has commands", function()
    window:enter "x = la.ones(1000); y = 3"
    window:enter ":who"
    assert.is_truthy(window:wait("float32 [1000]"):find("y +global +3"))
    window:enter ":time x:sum()"
    window:wait "tensors +"
    window:enter ":save s.lua"
    window:wait "s.lua: 1 chunks"
    window:enter ":reset"
    window:enter "x == nil and y == nil and 'all ' .. 'gone'"
    window:wait "all gone"
    window:enter ":load s.lua"
    window:enter "x:numel() * 7"
    window:wait "\n7000"
    window:enter "!echo out $((5 * 5))side"
    window:wait "out 25side"
    window:enter "?clamp"
    window:wait "min(max("
    assert.equal(0, count(window:screen(), "traceback"))
  end)

  it("saves a session as a script", function()
    window:enter "local k = 5"
    window:enter "k + 1"
    window:enter "return _ * 100, 7"
    window:enter "=_ + 1;"
    window:enter "z = _"
    window:enter "error 'not this'"
    window:wait "not this"
    window:enter ":save session.lua"
    window:wait "session.lua: 5 chunks"
    window:enter ":reset"
    window:enter ":load session.lua"
    window:ready()
    window:enter "z * 1000 + k"
    window:wait "\n601005"
  end)

  modules.needing("profile", it)("shows where time goes", function()
    window:enter "x = la.ones(50)"
    window:enter ":profile x:exp():sum()"
    local screen = window:wait "lunarray-trace.json: for"
    assert.is_truthy(screen:find "\nexp +1 +%d")
    assert.is_truthy(screen:find "\nx:exp%(%):sum%(%) +2 +%d")
    local file = assert(io.open(folder .. "/lunarray-trace.json"))
    assert.is_truthy(file:read "a":find('"name":"exp"', 1, true))
    file:close()
    window:enter "_:item() > 100"
    window:wait "\ntrue"
    window:enter ":time x:sum()"
    window:wait "(peak of the session"
    window:enter ":mem"
    window:wait ", Lua "
    window:enter ":profile x + la.ones(3)"
    window:wait "must match the size"
  end)

  it("runs the user's own start", function()
    window:close()
    os.execute(("mkdir -p %s/.config/lunarray"):format(folder))
    local file = assert(io.open(folder .. "/.config/lunarray/init.lua", "w"))
    file:write "started = 12 * 12"
    file:close()
    window = open(folder)
    window:enter "started * 2"
    window:wait "\n288"
  end)
end)
