-- Hooks that run once a leaf has its gradient, and the scopes of anomaly mode.
local la = require "lunarray"

local raises = require "spec.support.raises"

local function leaf(values)
  return la.tensor(values, {dtype = "float64", requires_grad = true})
end

describe("backward", function()
  it("calls hooks of a leaf that has its gradient", function()
    local x, seen = leaf{1, 2}, {}
    local hook = x:register_post_accumulate_grad_hook(function(p)
      assert.is_true(rawequal(p, x))
      assert.is_false(la.is_grad_enabled())
      seen[#seen + 1] = p.grad:clone()
      p.grad = nil
      return 5                      -- has no meaning
    end)
    x:register_hook(function(g) return g * 10 end)
    for _ = 1, 2 do (x * x):sum():backward() end
    assert.is_nil(x.grad)
    assert.same({{20, 40}, {20, 40}}, {seen[1]:totable(), seen[2]:totable()})
    la.grad((x * 2):sum(), x)       -- adds to no gradient
    assert.equal(2, #seen)
    hook:remove()
    hook:remove();
    (x * 2):sum():backward()
    assert.equal(2, #seen)
    assert.same({20, 20}, x.grad:totable())
    local ended = leaf{1}           -- by one hook, before the next
    ended:register_post_accumulate_grad_hook(function(p) p:free() end)
    ended:register_post_accumulate_grad_hook(function()
      seen[#seen + 1] = 1
    end);
    (ended + 1):backward()
    assert.equal(2, #seen)
    local w = leaf{1}
    w:register_post_accumulate_grad_hook(function() error("in a hook", 0) end)
    raises("in a hook", function() (w * 2):backward() end)
    assert.same({2}, w.grad:totable())
    local name = "register_post_accumulate_grad_hook"
    raises("non-leaf tensors", w[name], w * 2, print)
    raises("doesn't require gradient", w[name], la.ones(1), print)
    raises("'" .. name .. "' (function expected", w[name], w, 1)
  end)

  it("keeps the shape of a gradient that a hook resizes", function()
    local shape = "a hook keeps the gradient's shape"
    for _, way in ipairs{function(g) return g end, function() end,
      function(g) return g:clone() end,
      function() return la.ones(3) end} do
      local function resize(g)
        g:resize_(100)
        return way(g)
      end
      local p = leaf{1, 2, 3}
      p:register_hook(resize)
      raises(shape, function() (p * 2):sum():backward() end)
      assert.is_nil(p.grad)
      raises(shape, function() la.grad((p * 2):sum(), p) end)
      local q = leaf{1, 2, 3}
      local y = q * 2
      y:register_hook(resize)
      raises(shape, function() (y * 2):sum():backward() end)
      assert.is_nil(q.grad)
    end
    local p = leaf{1, 2, 3}
    p:register_post_accumulate_grad_hook(function(x) x.grad:resize_(100) end)
    raises(shape, function() (p * 2):sum():backward() end)
    local q = leaf{1, 2, 3}
    q:register_hook(function(g) g:mul_(5) end);
    (q * 2):sum():backward()
    assert.same({10, 10, 10}, q.grad:totable())
  end)

  it("has anomaly mode in a scope, nested, and in coroutines", function()
    local function root() leaf{-1}:sqrt():sum():backward() end
    local why
    do
      local _ <close> = la.detect_anomaly()
      why = raises("derivative of sqrt has NaN", coroutine.wrap(root))
      la.detect_anomaly(function() end)
      do local _ <close> = la.detect_anomaly() end
      raises("derivative of sqrt has NaN", root)
    end
    assert.is_truthy(why:find("leaf_hooks_spec.lua:"
      .. debug.getinfo(root, "S").linedefined, 1, true), why)
    root()
    local other = coroutine.wrap(function()
      local _ <close> = la.detect_anomaly()
      coroutine.yield()
    end)
    other()
    raises("derivative of sqrt has NaN", root)   -- it is the state's
    other()
    root()
    raises("boolean", la.detect_anomaly, true)
  end)
end)
