-- Lists of arguments that are objects: __len and __index give them.
local la = require "lunarray"

local raises = require "spec.support.raises"

-- A list that its metamethods give.
local function object(t)
  return setmetatable({}, {__len = function() return #t end,
                           __index = function(_, i) return t[i] end})
end

describe("a list as an argument", function()
  local x = la.ones(2, 3)

  it("may be an object with __len and __index", function()
    local named = la.zeros(2, 3, {names = object{"a", "b"}})
    for _, case in ipairs {
      {{2, 3}, la.zeros(object{2, 3})}, {{2, 3}, named},
      {{2, 3}, la.zeros(object{2, 3}, {dtype = "int8"})},
      {{3, 2}, x:view(object{3, 2})}, {{3, 2}, x:permute(object{2, 1})},
      {{}, x:sum(object{1, 2})}, {{1, 1}, x:sum{dim = object{1, 2},
                                                keepdim = true}},
      {{4, 3}, la.cat(object{x, x})}, {{}, x[object{1, 2}]},
      {{}, la.tensordot(x, x, object{object{1, 2}, object{1, 2}})},
      {{2}, la.from_raw(("x"):rep(8), "float32", object{2})},
      {{2, 3}, x:rename(object{"a", "b"})},
      {{2, 3}, x:refine_names(object{"a", "b"})},
      {{3, 2}, named:align_to(object{"b", "a"})},
      {{2}, la.tensor({1, 2}, {names = object{"a"}})},
    } do
      assert.is_true(case[2].shape == case[1])
      assert.is_true(case[2].shape == object(case[1]))
    end
    assert.same({"a", "b"}, named.names)
    raises("one dimension expected, got a table", x.argmax, x, object{1})
    raises("[2] of a list of 3 is nil", la.zeros, setmetatable({}, {
      __len = function() return 3 end, __index = {4, nil, 5}}))
    raises("an object may have 65536", la.zeros, setmetatable({}, {
      __len = function() return 65537 end, __index = math}))
  end)

  it("keeps its name where no list is expected", function()
    local named = setmetatable({}, {
      __len = error, __name = "\27Name" .. ("x"):rep(1000)})
    local why = raises("tensor or number expected, got", x.add, x, named)
    assert.truthy(#why < 400 and not why:find "\27", why)
    raises("one dimension expected, got a table", x.argmax, x, named)
  end)

  it("passes on what its metamethods raise", function()
    local function broken(f) return setmetatable({}, {__len = f}) end
    local calls = {
      function(t) la.zeros(t) end, function(t) x:view(t) end,
      function(t) x:sum(t) end, function(t) x:sum {dim = t} end,
      function(t) la.cat(t) end, function(t) x:rename(t) end,
      function(t) return x[t] end, function(t) la.tensor(t) end,
      function(t) la.zeros(2, 2, {names = t}) end,
    }
    for _, call in ipairs(calls) do
      raises("boom", call, broken(function() error("boom") end))
      assert.has_error(function() call(broken(function() return 1 << 40 end))
      end)
      local co = coroutine.wrap(pcall)
      local ok, why = co(call, broken(coroutine.yield))
      assert.is_false(ok)
      assert.truthy(tostring(why):find("across a C-call boundary", 1, true))
    end
    local y = la.ones(2, 3)
    raises("tensor was freed", y.sum, y, broken(function()
      y:free()
      return 0
    end))
  end)

  it("says when the length is negative", function()
    raises("the length of a list (__len) is negative: -5", la.zeros,
      setmetatable({}, {__len = function() return -5 end}))
  end)
end)
