-- la.fuse gives what f gives, whatever f captures and whatever becomes of it:
-- each case is run fused and plain, with the same changes between the calls.
local la = require "lunarray"

local Object = {}
Object.__index = Object

-- Each makes f, a change, and the arguments of its calls: new for each run, as
-- what they capture is changed.
local cases = {
  ["a field that f makes"] = function()
    local u = {}
    return function(x) u.n = (u.n or 0) + 1 return x + u.n end
  end,
  ["a global that f makes"] = function(env)
    env.count = nil
    return load("return function(x) count = (count or 0) + 1 "
      .. "return x + count end", "=f", "t", env)()
  end,
  ["a global that is not there yet"] = function(env)
    env.scale = nil
    return load("return function(x) if scale then return x * scale end "
      .. "return x * 2 end", "=f", "t", env)(), function() env.scale = 10 end
  end,
  ["a key that others add"] = function()
    local options = {}
    return function(x) return options.double and x * 2 or x * 1 end,
      function() options.double = true end
  end,
  ["a list that grows"] = function()
    local list = {la.ones(3)}
    return function(x)
      for _, t in ipairs(list) do x = x + t end
      return x
    end, function() list[#list + 1] = la.ones(3) * 5 end
  end,
  ["a field of an object that is an argument"] = function()
    local o = setmetatable({gain = 2}, Object)
    return function(x, self) return x * self.gain end,
      function() o.gain = o.gain + 1 end, o
  end,
  ["an object that f counts in"] = function()
    local o = setmetatable({n = 0}, Object)
    return function(x, self) self.n = self.n + 1 return x + self.n end, nil, o
  end,
  ["an upvalue of a function that is an argument"] = function()
    local by = 1
    return function(x, g) return g(x) * 1 end, function() by = by + 3 end,
      function(x) return x * by end
  end,
  ["another metatable of a captured table"] = function()
    local o = setmetatable({}, {__index = {a = 1}})
    return function(x) return x * o.a end,
      function() setmetatable(o, {__index = {a = 7}}) end
  end,
  ["draws of Lua's"] = function()
    return function(x) return x * math.random(1000) end
  end,
  ["draws of Lua's by a local name"] = function()
    local draw, m = math.random, math
    return function(x) return x * draw(1000) + m.random(1000) end
  end,
  ["a number that changes"] = function()
    local k = 1
    return function(x) return x * k end, function() k = k * 2 end
  end,
}

local function results_of(make, wrap)
  local f, change, argument = make(setmetatable({}, {__index = _G}))
  local g, list = wrap(f), {}
  math.randomseed(7)
  for k = 1, 6 do
    list[k] = g(la.range(1, 3), argument):totable()
    if change and k % 2 == 0 then change() end
  end
  return list
end

describe("la.fuse follows", function()
  for name, make in pairs(cases) do
    it(name, function()
      assert.same(results_of(make, function(f) return f end),
        results_of(make, la.fuse))
    end)
  end

  it("functions in C that it does not know", function()
    local f = la.fuse(load("local begun = os.clock() return function(x) "
      .. "return x * (os.clock() - begun) end", "=f", "t",
      setmetatable({}, {__index = _G}))())
    local x, sum = la.ones(1, {dtype = "float64"}), 0
    local first = f(x):item()
    for k = 1, 1e6 do sum = sum + k end
    assert.is_true(f(x):item() > first and sum > 0)
  end)

  it("still runs from its recording with functions that it knows", function()
    local lines, floor = 0, math.floor
    local f = la.fuse(load("local floor = ... return function(x) "
      .. "if select('#', 1, 2) ~= 2 or tostring(3) ~= '3' then return x end "
      .. "return (x * floor(2.5)):tanh() + math.sqrt(4) end", "=f", "t",
      setmetatable({}, {__index = _G}))(floor))
    local x = la.ones(3)
    f(x)
    debug.sethook(function()
      if debug.getinfo(2, "S").source == "=f" then lines = lines + 1 end
    end, "l")
    f(x)
    debug.sethook()
    assert.equal(0, lines)
  end)
end)
