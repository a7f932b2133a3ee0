-- Views that a custom function gives, or la.checkpoint: with the function's own
-- gradient as long as their memory is as forward left it, refused after that.
-- PyTorch refuses the same; the gradients follow from the functions' rule.
local la = require "lunarray"
local raises = require "spec.support.raises"

-- What forward makes of its argument of four elements, all of it in order.
local VIEWS = {
  argument = function(x) return x end,
  view = function(x) return x:view(2, 2) end,
  transposed = function(x) return x:view(2, 2):t() end,
  slice = function(x) return x[{{1, 4}}] end,
  part = function(x) return x[{{2, 3}}] end,
  of_its_own = function(x) return (x * 1)[{{1, 4}}] end,
}

local CHANGES = {
  ["the view without recording"] = function(_, y)
    la.no_grad(function() y:mul_(2) end)
  end,
  ["a part of the view without recording"] = function(_, y)
    la.no_grad(function() y[1]:mul_(2) end)
  end,
  ["the view"] = function(_, y) y:mul_(2) end,
  ["a part of the view"] = function(_, y) y[1]:mul_(2) end,
  ["an alias of the view"] = function(_, y) y:detach():mul_(2) end,
  ["the argument"] = function(x) x:mul_(2) end,
  ["the argument without recording"] = function(x)
    la.no_grad(function() x:mul_(2) end)
  end,
}

local USES = {
  itself = function(y) return y end,
  ["a slice"] = function(y) return y[1] end,
  ["a view by strides"] = function(y) return y:as_strided({2}, {1}) end,
  ["a part of a view"] = function(y) return y:unsqueeze(1)[1][1] end,
}

-- Gradients are five times what operations alone would give.
local function five(view)
  return la.Function{
    forward = function(_, x) return view(x) end,
    backward = function(_, g)
      local x = la.zeros(4, {requires_grad = true})
      la.enable_grad(function() (view(x) * g):sum():backward() end)
      return x.grad * 5
    end,
  }
end

local function gradient(call, view, use, change, early)
  local w = la.ones(4, {requires_grad = true})
  local x = w * 1
  local y = call(view)(x)
  local z = early and use(y)
  change(x, y)
  z = z or use(y)
  z:sum():backward()
  return w.grad
end

local function same(a, b) return la.equal(a, b) end

for name, view in pairs(VIEWS) do
  local function plain(use)
    return gradient(function(f) return f end, view, use, function() end)
  end

  describe("a custom function that returns a view: " .. name, function()
    for what, use in pairs(USES) do
      it("has its own gradient: " .. what, function()
        local got = gradient(five, view, use, function() end)
        assert.is_true(same(plain(use) * 5, got))
      end)

      it("has none after a change: " .. what, function()
        for how, change in pairs(CHANGES) do
          local copied = name == "of_its_own" and how:find("argument")
          for early = 0, 1 do
            if copied then
              local got = gradient(five, view, use, change, early == 1)
              assert.is_true(same(plain(use) * 5, got), how)
            else
              raises("a view that a custom function", function()
                gradient(five, view, use, change, early == 1)
              end)
            end
          end
        end
      end)
    end

    it("under la.checkpoint", function()
      local function again(f)
        return function(x) return la.checkpoint(f, x) end
      end
      for what, use in pairs(USES) do
        local got = gradient(again, view, use, function() end)
        assert.is_true(same(plain(use), got), what)
        raises("a view that a custom function", function()
          gradient(again, view, use, function(_, y)
            la.no_grad(function() y:mul_(2) end)
          end)
        end)
      end
    end)
  end)
end

describe("views of a custom function", function()
  local halves = la.Function{
    forward = function(_, x) return x[{{1, 2}}], x[{{3, 4}}] end,
    backward = function(_, a, b) return la.cat{a or la.zeros(2),
      b or la.zeros(2)} * 5 end,
  }

  it("that come together, one of them changed", function()
    local w = la.ones(4, {requires_grad = true})
    local a, b = halves(w)
    a:sum():backward{retain_graph = true}
    assert.same({5, 5, 0, 0}, w.grad:totable())
    la.no_grad(function() a:zero_() end)
    raises("a view that a custom function", function() return b:sum() end)
  end)

  it("are read, printed and copied after a change", function()
    local w = la.ones(4, {requires_grad = true})
    local a = halves(w)
    la.no_grad(function() w:mul_(3) end)
    assert.same({3, 3}, a:totable())
    assert.equal(6, la.no_grad(function() return a:sum():item() end))
    assert.equal(6, a:detach():sum():item())
    assert.is_string(tostring(a))
    assert.is_true(a.requires_grad)
  end)

  it("may be changed when they were cloned", function()
    local w = la.ones(4, {requires_grad = true})
    local a = halves(w):clone()
    a:mul_(2)
    a:sum():backward()
    assert.same({10, 10, 0, 0}, w.grad:totable())
  end)

  it("keep the names of an argument", function()
    local given = la.Function{forward = function(_, x) return x end,
      backward = function(_, g) return g end}
    local x = la.zeros(2, 3, {names = {"N", "C"}, requires_grad = true})
    assert.same({"N", "C"}, given(x).names)
  end)
end)
