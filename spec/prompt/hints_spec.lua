-- Errors of programs: the message, a hint where a name led to nil or a keyword
-- is unknown, the traceback. And the ten tasks of tools/ten_tasks.lua.
local modules = require "spec.support.modules"
local program = require "spec.support.program"

local function err_of(code)
  local got = program.run("-e '" .. code .. "'")
  assert.are.equal(1, got.status)
  return got.err
end

describe("an error of a program", function()
  for code, hint in pairs{
    ["la.ones(2):sofmax(1)"] = "softmax",
    ["la.sofmax(la.ones(2), 1)"] = "softmax",
    ["local x = la.ones(2) print(x.shpe.y)"] = "shape",
    ["string.form(1)"] = "format",
    ["prnt(1)"] = "print",
    ["la.sum(la.ones(2), 1, {keepdm = true})"] = "keepdim"} do
    it("has a hint: " .. code, function()
      local lines = {}
      for line in err_of(code):gmatch "[^\n]+" do lines[#lines + 1] = line end
      assert.truthy(lines[1]:find("lunarray: (command line):1: ", 1, true))
      assert.are.equal("  did you mean " .. hint .. "?", lines[2])
      assert.are.equal("stack traceback:", lines[3])
    end)
  end

  it("has none where nothing is near, or nothing is known", function()
    for _, code in ipairs{"wholly.elsewhere()", "error(\"a nil value (\")",
      "local f f()", "error({})", "error(setmetatable({}, {__tostring = "
      .. "function() return \"a nil value (global (\" end}))",
      "local function f() return f() + 1 end f()",
      "package.loaded[\"lunarray.repl.errors\"] = 1 require = nil prnt()",
      "debug = nil prnt()"} do
      local err = err_of(code)
      assert.falsy(err:find("did you mean", 1, true)
        and not code:find "^debug", code)
      assert.truthy(err:find("^lunarray: "), code)
    end
  end)

  it("is shown with the line of a file", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write "local t = {}\n\nt.tensor = la.ones(3)\nt.tensor:sofmax(1)\n"
    file:close()
    local got = program.run(path)
    os.remove(path)
    assert.truthy(got.err:find(path .. ":4: ", 1, true), got.err)
    assert.truthy(got.err:find("\n  did you mean softmax?\n", 1, true), got.err)
  end)
end)

local all_it = modules.all() and it or function() end

all_it("the ten tasks of somebody new give what they should", function()
  local got = program.run("tools/ten_tasks.lua")
  assert.are.equal("", got.err)
  assert.are.equal(0, got.status)
  local _, n = got.out:gsub(" lines ", "")
  assert.are.equal(11, n)
end)
