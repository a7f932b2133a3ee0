-- Calls of a compiled function while finalizers, or the function itself, free
-- what the call uses, take it out of its table, make recordings that replace
-- the one that runs, or begin and advance calls. A call gives what f
-- gives, or an error that says what happened; the next one is as ever.
local la = require "lunarray"
local stock = require "spec.support.interpreter"

local ran = 0           -- how many actions
local delays = {0, 1, 2, 3, 5, 8, 13, 21}

-- Runs 'call' with a collector that does a whole cycle at each of its steps,
-- whose finalizers run 'action' once after 'delay' others.
local function with_finalizers(delay, action, call)
  local rests = not collectgarbage("isrunning")
  collectgarbage()
  local restore = stock.busy()
  collectgarbage("restart")
  local armed = true
  local function arm()
    setmetatable({}, {__gc = function()
      if not armed then return end
      if delay <= 0 then
        armed = false
        ran = ran + 1
        pcall(action)
      else
        delay = delay - 1
        arm()
      end
    end})
  end
  arm()
  local results = table.pack(pcall(call))
  armed = false
  restore()
  if rests then collectgarbage("stop") end
  return table.unpack(results, 1, results.n)
end

-- f(t): tables of results, one of its arguments' own tables, one of its
-- tensors.
local function body(t)
  local out = {}
  for i = 1, 12 do out[i] = t.a.b * i + t.c end
  return out, t.a, t.a.b
end

local function arguments(n)
  return {a = {b = la.ones(n)}, c = la.full({n}, 2.)}
end

local function is_right(out, n)
  for i = 1, 12 do
    if not la.equal(out[i], la.full({n}, i + 2.)) then return false end
  end
  return true
end

-- Ways to call it: those that give f's results give the first one.
local calls = {
  call = function(step, t) return (step(t)) end,
  profile = function(step, t) return (select(2, step:profile(t))) end,
  advance = function(step, t)
    step:begin(t)
    for _ = 1, 1000 do
      local done, out = step:advance(5)
      if done then return out end
    end
  end,
  fresh = function(_, t) return (la.compile(body)(t)) end,
  fused = function(_, t) return (la.fuse(body)(t)) end,
  explain = function(step)
    step:explain()
    return nil
  end
}

-- What the finalizer does with the step and its arguments. 'keeps': the values
-- stay as they are.
local actions = {
  free = {function(_, t) t.a.b:free() t.c:free() end},
  resize = {function(_, t) t.a.b:resize_(1) t.c:resize_(1) end},
  set = {function(_, t) t.a.b:set_(la.zeros(5)) end},
  drop = {function(_, t) t.a.b, t.c = nil, nil end, keeps = true},
  tables = {function(_, t) t.a = nil collectgarbage() end, keeps = true},
  types = {function(_, t) t.a, t.c = 1, "x" end, keeps = true},
  evict = {function(step)
    for n = 11, 14 do step(arguments(n)) end
  end, keeps = true},
  begin = {function(step) step:begin(arguments(3)) end, keeps = true},
  advance = {function(step) step:advance(1e9) end, keeps = true},
  both = {function(step, t)
    step:advance(1e9)
    step:begin(t)
    step:advance(0)
  end, keeps = true}
}

describe("a compiled call and finalizers", function()
  for name, call in pairs(calls) do
    for what, action in pairs(actions) do
      it(name .. " while one does: " .. what, function()
        local step = la.compile(body, {cache = 1})
        for _, delay in ipairs(delays) do
          local t = arguments(3)
          for _ = 1, 2 do step(arguments(3)) end
          local ok, out = with_finalizers(delay, function()
            action[1](step, t)
          end, function() return call(step, t) end)
          if not ok then assert.is_string(out)
          elseif action.keeps and out then assert.is_true(is_right(out, 3)) end
          pcall(step.advance, step, 1e9)
        end
        for n = 3, 4 do
          for _ = 1, 3 do assert.is_true(is_right(step(arguments(n)), n)) end
        end
      end)
    end
  end

  it("into tensors that one frees", function()
    local step = la.compile(function(t) return t.a.b * 2, t.c + 1 end)
    for _, delay in ipairs(delays) do
      for _ = 1, 2 do step(arguments(3)) end
      local outs = {la.zeros(3), la.zeros(3)}
      local ok, e = with_finalizers(delay, function()
        outs[1]:free()
        outs[2] = nil
      end, function() return step:into(outs, arguments(3)) end)
      if not ok then assert.is_string(e) end
    end
  end)
end)

it("finalizers of this file run", function()
  assert.is_true(ran > 200)
end)

describe("a recorded function and its own arguments", function()
  it("frees them", function()
    local step = la.compile(function(x)
      local y = x * 2
      x:free()
      return y
    end)
    for i = 1, 80 do
      assert.is_true(la.equal(step(la.ones(i)), la.full({i}, 2.)))
    end
  end)

  it("takes them out of their table", function()
    local step = la.compile(function(t)
      local y = t.x * 2
      t.x = nil
      collectgarbage()
      return y
    end)
    for i = 1, 80 do
      assert.is_true(la.equal(step{x = la.ones(i)}, la.full({i}, 2.)))
    end
  end)

  it("gives them other memory", function()
    local step = la.compile(function(x)
      local y = x * 2
      x:set_(la.zeros(1000))
      return y
    end)
    for i = 1, 80 do
      assert.is_true(la.equal(step(la.ones(i)), la.full({i}, 2.)))
    end
  end)

  it("gives more results than the stack has", function()
    local many = {}
    for i = 1, 600000 do many[i] = i end
    local step = la.compile(function() return table.unpack(many) end)
    assert.error_matches(function() step(la.ones(1)) end, "too many results")
    assert.is_true(la.equal(la.compile(function(x) return x + 1 end)
                            (la.ones(2)), la.full({2}, 2.)))
  end)
end)

describe("step:advance", function()
  it("ends no call but its own", function()
    local step = la.compile(body)
    local t = arguments(3)
    for _ = 1, 2 do step(t) end
    for _, delay in ipairs(delays) do
      step:begin(t)
      local ok, e = with_finalizers(delay, function()
        step:advance(1e9)
        step:begin(t)
      end, function() repeat until step:advance(0) end)
      if not ok then assert.matches("advance: ", e) end
      pcall(step.advance, step, 1e9)
    end
  end)

  it("compares each tensor of the call with itself", function()
    local step = la.compile(function(x, again, y) return x + again + y end)
    local x, y = la.ones(2), la.ones(2)
    for _ = 1, 5 do y:add_(0) end
    for _ = 1, 2 do step(x, x, y) end
    step:begin(x, x, y)
    local done, out = step:advance(1e9)
    assert.is_true(done and la.equal(out, la.full({2}, 3.)))
  end)
end)
