-- flatten and unflatten with names: sizes and elements against reshape, names
-- against lists written out, errors by their words.
local la = require "lunarray"

local function raises(text, f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  assert.truthy(message:find(text, 1, true), message)
end

local function image()
  return la.arange(24):view(2, 3, 4):rename("N", "C", "H")
end

-- x has these names, and the elements of y in y's order.
local function is(names, y, x)
  assert.same(names, x.names)
  assert.is_true(la.equal(y, x:rename()))
end

describe("flatten", function()
  it("gives the dim that it makes a name", function()
    local x = image()
    local y = x:rename():reshape(2, 12)
    is({"N", "features"}, y, x:flatten({"C", "H"}, "features"))
    is({"N", "features"}, y, x:flatten({2, 3}, "features"))
    is({"N", "features"}, y, x:flatten({-2, "H"}, "features"))
    is({"N", "features"}, y, x:flatten("C", "H", "features"))
    is({"N", "features"}, y, x:flatten(2, -1, "features"))
    is({"N", "features"}, y, la.flatten(x, {"C", "H"}, "features"))
    is({"q", "H"}, x:rename():reshape(6, 4),
       x:flatten{dims = {"N", "C"}, out_dim = "q"})
    is({"N", "*"}, y, x:flatten("C", "H"))
    is({"*", "f"}, y, x:rename():flatten({2, 3}, "f"))
  end)

  it("names one dim alone, and that of a 0-dim tensor", function()
    local x = image()
    is({"N", "f", "H"}, x:rename(), x:flatten({"C"}, "f"))
    assert.same({"N", "C", "H"}, x.names)
    is({"f"}, la.tensor{3}, la.tensor(3):flatten({1}, "f"))
    is({"f"}, la.zeros(0), la.zeros(2, 0, 3):flatten(1, 3, "f"))
  end)

  it("shares memory, or copies where strides do not allow it", function()
    local x = image()
    assert.equal(x:data_ptr(), x:flatten({"C", "H"}, "f"):data_ptr())
    local t = x:transpose(2, 3)
    is({"N", "f"}, t:rename():reshape(2, 12), t:flatten({"H", "C"}, "f"))
  end)

  it("refuses dims that are no neighbours, and names that do not fit",
     function()
    local x = image()
    raises("dimension 2 is followed by 1", x.flatten, x, {"C", "N"}, "f")
    raises("dimension 1 is followed by 3", x.flatten, x, {1, 3}, "f")
    raises("dimension 2 is followed by 2", x.flatten, x, {2, 2}, "f")
    raises("dims must be non-empty", x.flatten, x, {}, "f")
    raises("no dimension named 'Z'", x.flatten, x, {"C", "Z"}, "f")
    raises("duplicate names: 'N'", x.flatten, x, {"C", "H"}, "N")
    raises("Invalid name", x.flatten, x, {"C", "H"}, "1 a")
    raises("start_dim cannot come after", x.flatten, x, "H", "C", "f")
    raises("string expected", x.flatten, x, {"C", "H"}, 3)
    raises("no value for 'out_dim'", x.flatten, x, {"C", "H"})
    raises("out of range", x.flatten, x, {3, 4}, "f")
  end)
end)

describe("unflatten", function()
  it("names the dims that it makes", function()
    local y = image():flatten({"C", "H"}, "features")
    local x = image():rename()
    is({"N", "C", "H"}, x, y:unflatten("features", {{"C", 3}, {"H", 4}}))
    is({"N", "C", "H"}, x, y:unflatten("features", {{"C", 3}, {"H", -1}}))
    is({"N", "C", "H"}, x, y:unflatten(-1, {{"C", 3}, {"H", 4}}))
    is({"N", "a", "b"}, x, y:unflatten("features", {3, 4}, {"a", "b"}))
    is({"N", "a", "*"}, x, y:unflatten("features", {3, 4}, {"a", "*"}))
    is({"N", "C", "H"}, x, la.unflatten(y, 2, {{"C", 3}, {"H", 4}}))
    is({"N", "*", "*"}, x, y:unflatten("features", {3, 4}))
    is({"*", "a", "b"}, x, y:rename():unflatten(2, {{"a", 3}, {"b", 4}}))
  end)

  it("says which entry is none, and what does not fit", function()
    local y = image():flatten({"C", "H"}, "f")
    for k, entry in ipairs{{3, "C"}, {"C"}, {"C", 3, 4}, {"C", 1.5}, "C", {}} do
      local list = {{"B", 1}, {"C", 3}, {"H", 4}}
      list[k % 2 + 2] = entry
      raises(("[%d]: {name, size} expected"):format(k % 2 + 2), y.unflatten, y,
             "f", list)
    end
    raises("'[3, 5]' is invalid for input of size 12", y.unflatten, y, "f",
           {{"C", 3}, {"H", 5}})
    raises("duplicate names: 'N'", y.unflatten, y, "f", {{"N", 3}, {"H", 4}})
    raises("a name for each of the 2 sizes", y.unflatten, y, "f", {3, 4}, {"a"})
    raises("no dimension named 'g'", y.unflatten, y, "g", {{"C", 3}, {"H", 4}})
    local many = {}
    for k = 1, 70 do many[k] = {"d" .. k, 1} end
    raises("{name, size} expected", y.unflatten, y, "f", many)
  end)
end)

describe("names of flatten and unflatten", function()
  local function both(v)
    return v:flatten({2, 3}, "f"):unflatten("f", {{"a", 4}, {"b", 3}}) * 2
  end

  it("stay in gradients and in compiled functions", function()
    local x = la.rand(2, 3, 4, {dtype = "float64", requires_grad = true})
    assert.same({"*", "a", "b"}, both(x).names)
    assert.is_true(la.gradcheck(both, x))
    local compiled = la.compile(both)
    for _ = 1, 3 do
      assert.same({"*", "a", "b"}, compiled(x:detach()).names)
    end
  end)

  it("are left out in la.vmap, where numbers find dims", function()
    local x = la.rand(5, 3, 4)
    local y = la.vmap(function(v)
      return v:flatten({1, 2}, "f"):unflatten(1, {{"a", 4}, {"b", 3}})
    end)(x)
    assert.is_true(la.equal(x:view(5, 4, 3), y))
    assert.is_nil(y.names)
  end)
end)
