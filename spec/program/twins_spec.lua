-- Tensors of the same elements in a compiled function, of which some have a
-- history and some have none: each keeps its own in every call.
local la = require "lunarray"

describe("derivatives of a compiled function", function()
  it("stay where a tensor of the same elements has none", function()
    local function untracked(y)
      return la.no_grad(function() return y:view(-1) end)
    end
    local functions = {
      function(a) local y = a:clone() y[1] = 0 return y, y:detach() end,
      function(a)
        local y = a:clone()
        y[{{1, 2}}]:mul_(3)
        return y, y:detach()
      end,
      function(a) local y = a:clone() y[1] = 0 return y, y.data:sum() end,
      function(a)
        local y = a:clone()
        y[1] = 0
        local _ = y:detach()
        return y * y
      end,
      function(a) local y = a:clone() y:mul_(3) return y, y:detach() end,
      function(a)
        local y = a:clone()
        local z = y:view(-1)
        y[1] = 0
        return z * y, z, y:detach()
      end,
      function(a) local y = a:clone() y[1] = 0 return y, untracked(y) end,
      function(a)
        local y = a:clone()
        local z = y:view(-1)
        z[1] = 0
        return y, z, untracked(y)
      end,
      function(a)
        local y = a:detach():clone()
        y[1] = a[2]
        return y, y:detach()
      end,
      function(a)
        local y = a:detach():clone()
        local d = y:detach()
        y[1] = a[2]
        return y, d
      end,
      function(a)
        local y = la.zeros(3)
        local d = y:detach()
        y[{{1, 2}}] = a[{{1, 2}}]
        return y * 2, d, y
      end}
    -- Which results need a gradient, and that of their sum of squares.
    local function outcome(f, k)
      local a = la.tensor{k + 0.5, 2, 3}:requires_grad_()
      local all, sum = {f(a)}, 0
      for i, t in ipairs(all) do
        sum = sum + (t * t):sum()
        all[i] = t.requires_grad
      end
      return {all, la.grad(sum, a):totable()}
    end
    for i, f in ipairs(functions) do
      for _, g in ipairs{la.compile(f), la.fuse(f)} do
        for k = 1, 3 do
          assert.same(outcome(f, k), outcome(g, k), "function " .. i)
        end
      end
    end
  end)

  it("are those of a leaf that it makes, not of its detached twin", function()
    local f = la.compile(function()
      local a = la.eye(2, {requires_grad = true})
      return a:detach(), a, a.data
    end)
    for _ = 1, 3 do
      local d, a, data = f()
      assert.same({false, true, false},
        {d.requires_grad, a.requires_grad, data.requires_grad})
      assert.is_true(d.is_leaf and a.is_leaf)
      d[{1, 1}] = 5
      assert.equal(5, a[{1, 1}]:item())
    end
  end)
end)
