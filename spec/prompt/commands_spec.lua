-- Commands of the prompt one by one, on a prompt without a terminal.
local la = require "lunarray"
local commands = require "lunarray.repl.commands"
local chunk = require "lunarray.repl.chunk"
local paint = require "lunarray.repl.paint"

local folder

-- A prompt that keeps what it says; 'lines' are read, 'clock' steps by 0.25 s.
local function prompt_of(lines)
  local p = {locals = chunk.new_locals(), inputs = {}, said = {}, known = {},
    sources = {}, remembered = {}, ran = {}, ok = true}
  for name in pairs(_G) do p.known[name] = true end
  local at, time = 0, 0
  p.terminal = {
    clock = function() time = time + 0.25 return time end,
    flush = function() end,
    remember = function(text) table.insert(p.remembered, text) end,
    read = function() at = at + 1 return (lines or {})[at] end
  }
  function p.say(_, text) table.insert(p.said, text) end
  function p.style(_, _, text) return text end
  function p.new_name() return "=stdin" end
  function p.ask(_, text) table.insert(p.said, "asked " .. text) end
  function p.show(_, results, quiet)
    if not quiet then table.insert(p.said, tostring(results[1])) end
  end
  function p.run(_, text)
    table.insert(p.ran, text)
    local f = chunk.compile(text, p.locals, "=stdin")
    return p.ok and f ~= nil and pcall(f)
  end
  return p
end

local function run(p, text)
  p.said = {}
  commands.run(p, text)
  return table.concat(p.said, "\n")
end

local function refused(p, text, words)
  local ok, why = pcall(commands.run, p, text)
  assert.is_false(ok)
  assert.is_truthy(why:find(words, 1, true), why)
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

setup(function()
  folder = os.tmpname()
  os.remove(folder)
  os.execute("mkdir " .. folder)
end)

teardown(function() os.execute("rm -r " .. folder) end)

describe("numbers for people", function()
  it("are bytes in units of a thousand", function()
    local rows = {[0] = "0 bytes", [999] = "999 bytes", [1000] = "1 KB",
      [-5] = "-5 bytes", [-2000] = "-2 KB", [999400] = "999 KB",
      [999500] = "1 MB", [1234567] = "1.23 MB", [5000000000] = "5 GB",
      [7000000000000] = "7 TB", [7000000000000000] = "7e+03 TB"}
    for n, text in pairs(rows) do
      assert.equal(text, commands.bytes_text(n))
    end
  end)

  it("are seconds in four units", function()
    local rows = {[1] = "1.000 s", [12.3456] = "12.346 s", [0.5] = "500 ms",
      [0.001] = "1 ms", [0.00025] = "250 us", [1e-6] = "1 us",
      [2.5e-7] = "250 ns", [1e-9] = "1 ns"}
    for s, text in pairs(rows) do
      assert.equal(text, commands.seconds_text(s))
    end
  end)
end)

describe("a command", function()
  it("is found by a beginning that only one has", function()
    local p = prompt_of()
    assert.equal(run(p, ":help"), run(p, ":he"))
    refused(p, ":s", "may be")
    refused(p, ":nothing", ":nothing is no command")
    for name in pairs(commands.names()) do
      assert.is_truthy(commands.help_text():find(":" .. name, 1, true))
    end
  end)

  it("times a call once, and measures many", function()
    local p = prompt_of()
    local text = run(p, ":time 6 * 7")
    assert.is_truthy(text:find("^42\n250 ms, tensors %+0 bytes"), text)
    text = run(p, ":time x = 3")
    assert.is_truthy(text:find("^250 ms"), text)
    text = run(p, ":bench 1 + 1")
    assert.is_truthy(text:find("^250 ms %(median 250 ms of %d+ rounds of 1%)"),
      text)
    refused(p, ":time", ":time needs an expression")
    refused(p, ":bench  ", ":bench needs an expression")
    refused(p, ":time 1 +", "unexpected")
    assert.is_truthy(run(p, ":mem"):find("^tensors .*peak.*, Lua "))
    rawset(_G, "x", nil)
  end)

  it("lists and forgets the variables of the session", function()
    local p = prompt_of()
    assert.equal("no variables", run(p, ":who"))
    assert.equal("no tensors", run(p, ":shapes"))
    rawset(_G, "aa", la.zeros(2, 3))
    rawset(_G, "bb", "text")
    rawset(_G, "_2", 4)
    p:run "local cc = {1, 2, 3}"
    p:run "local dd = la"
    local text = run(p, ":who")
    assert.is_truthy(text:find "aa +global", text)
    assert.is_truthy(text:find "bb +global +string %(4%)", text)
    assert.is_truthy(text:find "cc +local +table %(3%)", text)
    assert.is_nil(text:find "_2")
    assert.is_true(text:find "aa" < text:find "bb")
    rawset(_G, "ee", la.ones(10, {requires_grad = true}))
    text = run(p, ":shapes")
    assert.is_truthy(text:find "ee .*40 bytes +requires grad", text)
    assert.is_truthy(text:find "together +64 bytes", text)
    run(p, ":reset")
    assert.is_nil(rawget(_G, "aa"))
    assert.is_nil(rawget(_G, "_2"))
    assert.equal("no variables", run(p, ":who"))
  end)

  it("saves what was entered as a script that runs", function()
    local p, path = prompt_of(), folder .. "/session.lua"
    p.inputs = {"a = 3", "a + 1;", "= a * 2", "return a", "local b = 5",
      "f = function() return 1 end", "a"}
    assert.equal(path .. ": 7 chunks", run(p, ":save " .. path))
    assert.equal("a = 3\n_ = a + 1\n_ = a * 2\n_ = a\nlocal b = 5\n"
      .. "f = function() return 1 end\n_ = a\n", read(path))
    refused(p, ":save", ":save needs a file")
    refused(p, ":save /no/such/file", "No such file")
    rawset(_G, "a", nil)
  end)

  it("loads a file, which counts as entered where it ran", function()
    local p, path = prompt_of(), folder .. "/load.lua"
    local file = assert(io.open(path, "w"))
    file:write "#!/usr/bin/lunarray\nlocal q = 7\n"
    file:close()
    run(p, ":load " .. path)
    assert.same({"\nlocal q = 7\n"}, p.ran)
    assert.equal(7, chunk.value(p.locals, "q"))
    assert.equal(1, #p.inputs)
    p.ok = false
    run(p, ":load " .. path)
    assert.equal(1, #p.inputs)
    refused(p, ":load", ":load needs a file")
    refused(p, ":load /no/such/file", "No such file")
  end)

  it("takes pasted lines up to :end", function()
    local p = prompt_of {"local r = 1", "", "  r = r + 1", " :end ", "later"}
    p.inputs = {"first"}
    run(p, ":paste")
    local text = "local r = 1\n\n  r = r + 1"
    assert.same({text}, p.ran)
    assert.same({"first", text}, p.inputs)
    assert.same({text}, p.remembered)
    assert.equal("later", p.terminal.read())
    p = prompt_of {"x", ":end"}
    p.ok = false
    run(p, ":paste")
    assert.same({}, p.inputs)
    assert.same({}, p.remembered)
    p = prompt_of {"   ", ":end"}
    run(p, ":paste")
    assert.same({}, p.ran)
    p = prompt_of {"y = 1"}
    run(p, ":paste")                       -- the input ends
    assert.same({"y = 1"}, p.ran)
    rawset(_G, "y", nil)
  end)

  it("tells the last error, and asks for a word", function()
    local p = prompt_of()
    assert.equal("no error so far", run(p, ":tb"))
    p.last_error = {message = "m", traceback = "stdin[3]:1: wrong"}
    assert.equal("stdin:1: wrong", run(p, ":tb"))
    p.last_error = {message = "only this"}
    assert.equal("only this", run(p, ":tb"))
    assert.equal("asked ?sum", run(p, ":doc sum"))
  end)
end)

describe("painted text", function()
  local function plain(text) return (text:gsub("\27%[[%d;]*m", "")) end

  it("has the characters of the text, whatever these are", function()
    local parts = {"local ", "x", " = ", "'a", "\"b\"", "[[", "]]", "--",
      "[==[", "\n", "\t", "1e3", "0x1p-3", "(", ")", "{", "}", "[", "]", "..",
      "end ", "\\", "ä", "\0", "~=", "::", "--[[", "and"}
    local state = 7
    local function random(n)
      state = (state * 1103515245 + 12345) % 2147483648
      return state // 65536 % n + 1
    end
    for _ = 1, 2000 do
      local list = {}
      for k = 1, random(20) do list[k] = parts[random(#parts)] end
      local text = table.concat(list)
      local from, cursor = random(#text + 1) - 1, random(#text + 1) - 1
      assert.equal(text:sub(from + 1), plain(paint.text(text, from, cursor)))
    end
    assert.is_nil(paint.text(("x"):rep(30000), 0))
  end)

  it("marks the bracket at the cursor and its partner", function()
    local function marks(text, cursor)
      local found = {}
      for mark in paint.text(text, 0, cursor):gmatch "\27%[1;4m(.)" do
        found[#found + 1] = mark
      end
      return table.concat(found)
    end
    assert.equal("()", marks("f(x)", 4))        -- behind the closing one
    assert.equal("()", marks("f(x)", 1))        -- on the opening one
    assert.equal("", marks("f(xy)", 3))
    assert.equal("", marks("f(')'", 4))         -- a string's is none
    assert.equal("", marks("f(x]", 4))          -- another kind
    assert.equal("{}", marks("f{(x), [1] = 2}", 15))
    assert.equal("", marks("f(x)", nil))
  end)
end)
