-- The program: scripts, options, the prompt through a pipe, Ctrl-C.
local program = require "spec.support.program"
local tmux = require "spec.support.tmux"

local function prompt(input) return program.run("-i", input) end

local function script(text, prefix)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local r = program.run(path .. " one two", "", prefix)
  os.remove(path)
  return r
end

describe("the program", function()
  it("runs a script with arguments and the library loaded", function()
    local r = script("print(#arg, arg[1], la ~= nil, ...)\n"
      .. "print(la == require 'lunarray')")
    assert.same("2\tone\ttrue\tone\ttwo\ntrue\n", r.out)
    assert.same(0, r.status)
  end)

  it("runs -e, -l and standard input", function()
    assert.same("3\n", program.run("-e 'print(1+2)'").out)
    assert.same("7\n", program.run("-e 'x = 7' -e 'print(x)'").out)
    assert.same("7\n", program.run("-l string -e 'print(7)'").out)
    assert.same("hi\n", program.run("", "print 'hi'").out)
    assert.same("a\n", program.run("- a", "print(...)").out)
  end)

  it("tells its version and its options", function()
    for _, option in ipairs{"-v", "--version"} do
      local out = program.run(option).out
      assert.truthy(out:find("^lunarray %d+%.%d+%.%d+  Lua 5"))
    end
    local r = program.run("--help")
    assert.same(0, r.status)
    assert.truthy(r.out:find("^usage: lunarray"))
  end)

  it("takes LUA_INIT and -l g=mod, as lua does", function()
    assert.same("7\n", program.run("-e 'print(x)'", "",
      "LUA_INIT='x = 7'").out)
    assert.same("8\n", program.run("-e 'print(x)'", "",
      "LUA_INIT='x = 7' LUA_INIT_5_4='x = 8'").out)
    assert.same("nil\n", program.run("-E -e 'print(x)'", "",
      "LUA_INIT='x = 7'").out)
    assert.same(1, program.run("-e ''", "", "LUA_INIT='error()'").status)
    assert.same("ab\n",
      program.run("-l s=string -e 'print(s.lower \"AB\")'").out)
  end)

  it("takes and refuses options as lua does", function()
    assert.same("5\n", program.run("-ex=5 -e 'print(x)'").out)
    assert.same("2\t-e\t3\n", program.run("- -e 3",
      "print(#arg, ...)").out)
    assert.same("w\n", program.run("-W -", "io.stderr:write 'w\\n'").err)
    assert.same("Lua warning: w\n", program.run("-W -e 'warn \"w\"'").err)
    assert.same("", program.run("-e 'warn \"w\"'").err)
    local r = program.run("-e 'x = 3' -i", "x\n")
    assert.same("3\n", r.out)
    for option, text in pairs{["-z"] = "unrecognized option '-z'",
      ["-e"] = "'-e' needs argument", ["-l"] = "'-l' needs argument"} do
      r = program.run(option)
      assert.same(1, r.status)
      assert.truthy(r.err:find("lunarray: " .. text .. "\nusage: ", 1, true))
    end
    r = program.run("/no/such/script.lua")
    assert.same(1, r.status)
    assert.truthy(r.err:find("cannot open /no/such/script.lua", 1, true))
  end)

  it("prompts in a terminal where nothing else is asked for", function()
    if not tmux.present() then return end
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write "x = 1"
    file:close()
    local ends, stays = {"-v", "-e 'x = 1'", path, "--help"},
      {"", "-E -W", "-l string", "-i -e 'x = 1'", "-i " .. path}
    local lines = {}
    for _, options in ipairs(ends) do
      lines[#lines + 1] = program.path .. " " .. options
    end
    lines[#lines + 1] = "echo over"
    for _, options in ipairs(stays) do
      lines[#lines + 1] = program.path .. " " .. options
    end
    lines[#lines + 1] = "cat"
    local window = tmux.open(table.concat(lines, "; "), 80, 50)
    window:wait "over"
    for k = 1, #stays do
      window:enter("print('at' .. " .. k .. ") os.exit()")
      window:wait("at" .. k)
    end
    window:close()
    os.remove(path)
  end)

  it("reports errors with a traceback and a status", function()
    local r = script("local function f() error 'boo' end f()")
    assert.truthy(r.err:find("boo", 1, true))
    assert.truthy(r.err:find("stack traceback", 1, true))
    assert.same(1, r.status)
    assert.same("", r.out)
    assert.same(1, script("x = = 1").status)
    assert.same(1, program.run("/no/such/file.lua").status)
    assert.same(1, program.run("-q").status)
  end)

  it("shows the operations of a call, of an index key too", function()
    local r = script([[local x = la.ones(3, 4)
      io.stderr:write("-- read\n")
      local y = x[2]
      io.stderr:write("-- write\n")
      x[{{1, 2}, 3}] = 7
      assert(x[{2, 3}]:item() == 7)]], "LUNARRAY_TRACE=1")
    assert.same(0, r.status)
    local read, write = r.err:match("%-%- read\n(.-)%-%- write\n(.*)")
    assert.truthy(read:find("call  select(", 1, true))
    assert.truthy(write:find("call  slice%(.-call  select%(.-call  fill_%("))
  end)

  it("keeps the status that a script asks for", function()
    assert.same(3, script("os.exit(3)").status)
    assert.same(3, script("os.exit(3, true)").status)
  end)

  it("runs in generational mode", function()
    local r = program.run("-e 'print(collectgarbage \"incremental\")'")
    assert.same("generational\n", r.out)
  end)

  it("has its Lua modules inside", function()
    local r = program.run("-e 'print(type(require \"lunarray.repl\"))'",
                          "", "cd / && LUA_PATH=/nowhere")
    if program.path:sub(1, 1) == "/" then assert.same("table\n", r.out) end
  end)
end)

describe("the prompt", function()
  it("prints the values of expressions", function()
    assert.same("3\n1\tnil\tx\n", prompt("1+2\nreturn 1, nil, 'x'\n").out)
  end)

  it("prints tensors", function()
    local out = prompt("la.tensor{1, 2} + 1\n").out
    assert.truthy(out:find("2", 1, true) and out:find("3", 1, true))
  end)

  it("answers ?? with the source, through a pipe too", function()
    assert.same("function f(a)\n return a + 1\nend\n",
      prompt("function f(a)\n return a + 1\nend\n??f\n").out)
    assert.same("local g = function() return 2 end\n",
      prompt("local g = function() return 2 end\n??g\n").out)
    local out = prompt("function f() end\n?f\nf?\n").out
    assert.same("function(), stdin:1\nfunction(), stdin:1\n", out)
  end)

  it("has no colours in a pipe", function()
    local r = prompt("{a = la.ones(2)}\nerror 'x'\n:help\n?softmax\n")
    assert.is_nil((r.out .. r.err):find("\27", 1, true))
  end)

  it("goes on while a chunk is unfinished", function()
    assert.same("1\n2\n", prompt("for i = 1, 2 do\nprint(i)\nend\n").out)
    assert.same("5\n", prompt("x =\n5\nx\n").out)
    assert.same("a\nb\n", prompt("[[a\nb]]\n").out)
  end)

  it("survives errors of every kind", function()
    local r = prompt("error 'boo'\nerror {}\nerror(nil)\nx = = 1\n"
      .. "setmetatable({}, {__tostring = function() error 'bad' end})\n"
      .. "setmetatable({}, {__gc = function() error 'gc' end}) ;"
      .. "collectgarbage()\nla.zeros(1, 2):add(la.zeros(3, 3))\n'alive'\n")
    assert.truthy(r.out:find("alive", 1, true))
    assert.truthy(r.err:find("boo", 1, true) and r.err:find("bad", 1, true))
    assert.truthy(r.err:find("error object is a table value", 1, true))
    assert.same(0, r.status)
  end)

  it("reports a chunk that the input leaves unfinished", function()
    local r = prompt("if x then\n")
    assert.truthy(r.err:find("'end' expected", 1, true))
  end)

  it("takes long lines, NUL bytes and bad UTF-8", function()
    local long = ("x"):rep(1 << 20)
    assert.same("1048576\n", prompt("#'" .. long .. "'\n").out)
    assert.truthy(prompt("\0\1\2 = 3\n'alive'\n").out:find("alive", 1, true))
    assert.same("3\n", prompt("#'a\0b'\n").out)
    assert.same("2\n", prompt("#'\xff\xfe'\n").out)
  end)

  it("ends with a status when the output is closed", function()
    local r = program.run("-i", ("1\n"):rep(100),
      "exec 3>&1; sh -c '\"$@\" | true; echo done' sh")
    assert.same("done\n", r.out)
  end)

  it("keeps locals between chunks", function()
    assert.same("2\n12\n7\n", prompt("local n = 1 function f() n = n + 1 "
      .. "return n end\nf()\nlocal a <const> = 7\nn = 11\nf()\na\n").out)
    assert.same("3\n3\n", prompt("local a, b = 1, 2 return a + b\n"
      .. "a + b\n").out)
    assert.same("nil\n", prompt("do local q = 1 end\nq\n").out)
    assert.same("9\n", prompt("local function g(x) return x * x end\n"
      .. "g(3) -- nine\n").out)
    assert.same("1\n", prompt("local keep__ = 1\nkeep__\n").out)
    assert.same("5\n", prompt("local x = 4\nlocal x = x + 1\nx\n").out)
  end)

  it("shows tables, and is quiet after a semicolon", function()
    assert.same("{1, 2, a = {b = \"c\"}}\n",
      prompt("{1, 2, a = {b = 'c'}}\n4;\n").out)
    assert.same("{x = int64 [2]}\n", prompt("{x = la.tensor{1, 2}}\n").out)
    assert.same("{\"a\\n\", {...}}\n",
      prompt("t = {'a\\n'} t[2] = t\nt\n").out:gsub("\\\\n", "\\n"))
    assert.same("5\n", prompt("print = 3\n5\n").out)
    assert.same("6\n7\n", prompt("6\n=_ + 1\n").out)
  end)

  it("keeps what ends in Lua's long forms together", function()
    assert.same("1\n", prompt("local s = [==[ ]] local q = 2 ]==] -- local z\n"
      .. "#s > 0 and q == nil and z == nil and 1\n").out)
  end)

  it("completes words", function()
    local r = prompt("repl = require 'lunarray.repl'\n"
      .. "table.concat(repl.complete('stri'), ' ')\n"
      .. "select(2, repl.complete('x = string.rever'))\n"
      .. "t = la.tensor{1}\n"
      .. "select(2, repl.complete('t:reshap'))\n"
      .. "#repl.complete('nothing.here')\n#repl.complete('')\n")
    assert.same("string\nse\n", r.out:sub(1, 10))
    assert.truthy(r.out:find("\n0\n0\n$"))
  end)

  it("completes what calls are known to give, and their keywords", function()
    local r = prompt("local complete = require 'lunarray.repl.complete'\n"
      .. "optim = require 'lunarray.optim'\n"
      .. "function c(text) print(table.concat(complete.words(text), ' ')) end\n"
      .. "c 'optim.SGD({}):ste' c 'la.fft.rfft(x, {nor' c 'la.rand(2).sha'\n"
      .. "c 'la.rand(2):sum():mea' c 'la.max(x, 1, {keep'\n"
      .. "c 'optim.SGD({}, {mom' c 'la.rand \"2\".sha' c 'la.rand{2}:mea'\n")
    assert.same("step\nnorm =\nshape share\nmean\nkeepdim =\nmomentum =\n"
      .. "shape share\nmean\n",
      r.out)
  end)

  it("answers ? with the page of a word, or a list of words", function()
    local r = prompt("?sum\n?fouri\n?sofmax\n")
    assert.truthy(r.out:find("^x:sum%("))
    assert.truthy(r.out:find("\nfft.fft +The discrete Fourier transform"))
    assert.truthy(r.out:find("\nnothing is known of 'sofmax': did you mean "
      .. "softmax?", 1, true))
  end)
end)

describe("Ctrl-C", function()
  -- The script starts a timer process that sends the signal to its parent.
  local function interrupted(body)
    local r = script("os.execute('(sleep 0.3; kill -INT '"
      .. " .. io.open('/proc/self/stat'):read('n') .. ') &')\n" .. body,
      "timeout 20")
    assert.same(1, r.status)
    assert.truthy(r.err:find("interrupted", 1, true))
    return r
  end

  it("stops a loop", function() interrupted("while true do end") end)

  it("is not swallowed by pcall", function()
    interrupted("while true do pcall(function() while true do end end) end")
  end)

  it("reaches coroutines", function()
    interrupted("coroutine.wrap(function() while true do end end)()")
    interrupted("local co = coroutine.create(function()"
      .. " while true do pcall(function() while true do end end) end end)\n"
      .. "while true do coroutine.resume(co) end")
  end)

  it("stops a long operation", function()
    interrupted("local x = la.ones(4000000)\n"
      .. "while true do x:add_(1) end")
  end)

  it("leaves coroutines as they are in stock Lua", function()
    local r = script([[
      local co = coroutine.create(function(a, b)
        local c = coroutine.yield(a + b)
        error({c})
      end)
      print(coroutine.resume(co, 1, 2))
      local ok, e = coroutine.resume(co, 5)
      print(ok, e[1], coroutine.status(co))
      print(coroutine.resume(co))
      print(pcall(coroutine.resume, 3))
      local w = coroutine.wrap(function() error "x" end)
      print(pcall(w))
      print(coroutine.wrap(function(...) return select("#", ...) end)(1, nil))
    ]])
    assert.same("true\t3\nfalse\t5\tdead\n"
      .. "false\tcannot resume dead coroutine\n", r.out:match("^.-\n.-\n.-\n"))
    assert.truthy(r.out:find("coroutine expected", 1, true))
    assert.truthy(r.out:find("\n2\n$"))
  end)
end)

describe("what one types first", function()
  it("ends at exit and quit, as words and as calls", function()
    for _, word in ipairs{"exit", "quit", "exit()", "quit()"} do
      local r = prompt(word .. "\nprint 'after'\n")
      assert.same("", r.out .. r.err)
      assert.same(0, r.status)
    end
    assert.same("5\n", prompt("exit = 5\nexit\n").out)
  end)

  it("helps at help", function()
    assert.truthy(prompt("help\n").out:find("?name", 1, true))
    assert.truthy(prompt("help()\n").out:find("?name", 1, true))
    assert.truthy(prompt("help sum\n").out:find("x:sum(", 1, true))
    assert.truthy(prompt("help('sum')\n").out:find("x:sum(", 1, true))
    assert.truthy(prompt("?moving average\n").out:find("avg_pool1d", 1, true))
  end)

  it("tells of strings and functions", function()
    assert.truthy(prompt("zz = 'hello'\n?zz\n").out
      :find('string of 5 bytes: "hello"', 1, true))
    assert.truthy(prompt("s = 'sum'\n?s\n").out
      :find('string of 3 bytes: "sum"', 1, true))
    assert.truthy(prompt("la.sum\n").out:find("function.*x:sum%("))
    assert.truthy(prompt("function f(a, ...) end\nf\n").out
      :find("function(a, ...), stdin:1", 1, true))
  end)

  it("completes what is loaded when it is asked for", function()
    local complete = require "lunarray.repl.complete"
    local set = {}
    rawset(_G, "la", require "lunarray")
    for _, name in ipairs((complete.words "la.plot.")) do set[name] = true end
    for _, name in ipairs{"line", "scatter", "heatmap", "grid"} do
      assert.is_true(set[name], name)
    end
    rawset(_G, "la", nil)
  end)

  it("has hints for what is Lua in another form", function()
    local elsewhere = require "lunarray.repl.elsewhere"
    for text, hint in pairs{
      ["x += 1"] = "write x = x + ...", ["a != b"] = "~=",
      ["x[1:2]"] = "x[{{1, 3}}]", ["x[:, 1]"] = "x[{{1, 3}}]",
      ["import numpy"] = "require \"numpy\"", ["print x"] = "print(x)",
      ["a @ b"] = "a:matmul(b)", ["x ** 2"] = "x ^ 2", ["i++"] = "i = i + 1",
      ["a && b"] = "a and b", ["a || b"] = "a or b",
      ["def f(x):"] = "function f(x)", ["lambda x: x"] = "function(x)",
      ["for x in y:"] = "for i = 1, 3 do", ["if x:"] = "if x then",
      ["let x = 1"] = "local x", ["a ? b : c"] = "a and b or c",
      ["from a import b"] = "require", ["# text"] = "--",
      ["%time f()"] = ":time", ["if a then elif b"] = "elseif"} do
      local said = elsewhere.hint(text)
      assert.truthy(said and said:find(hint, 1, true), text .. ": "
        .. tostring(said))
    end
    assert.is_nil(elsewhere.hint("print('a != b') x y"))
    assert.is_nil(elsewhere.hint("f( -- x += 1"))
  end)

  it("has hints for names that are nil", function()
    local errors = require "lunarray.repl.errors"
    rawset(_G, "la", require "lunarray")
    for text, hint in pairs{["string.form"] = "string.format",
      ["la.plot.scater"] = "scatter", ["pritn"] = "print", True = "true",
      None = "nil"} do
      local said = errors.hint_of_nil(text, {})
      local found = said and said:find(hint:match("[%w_]+$"), 1, true)
      assert.truthy(found, text .. ": " .. tostring(said))
    end
    local t = {column = 1, other = 2}
    rawset(_G, "t_of_spec", t)
    assert.truthy(errors.hint_of_nil("t_of_spec.colum", {}):find "column")
    assert.is_nil(errors.hint_of_nil("t_of_spec.zzzzzz", {}))
    rawset(_G, "t_of_spec", nil)
    rawset(_G, "la", nil)
  end)
end)
