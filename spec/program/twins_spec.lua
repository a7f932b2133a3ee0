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

  -- The result of a composite may be a view of what nobody else has. A write
  -- then is one of a tensor of its own, not of a part of another.
  it("go through the same nodes where a composite gave a view", function()
    local functions = {
      function(x)
        local y = la.game_length(x)
        y:addcmul_(y, y)
        return y
      end,
      function(x)
        local y = la.game_length(x:reshape(2, 4))
        local z = y:view(-1)
        y:mul_(y)
        z:add_(1)
        return y * y, z
      end,
      function(x)
        local y = la.matmul(x:reshape(2, 4), x:narrow(1, 1, 4))
        y[1] = x[1]
        return y, y:detach()
      end,
      function(x)
        local y = la.vmap(function(r) return r:sum() * 2 end)(x:reshape(4, 2))
        y:narrow(1, 1, 2):mul_(3)
        return y
      end}
    local function outcome(f, a)
      local x = a:clone():requires_grad_()
      local all, sum = {f(x:reshape(-1))}, 0
      for i, t in ipairs(all) do
        sum = sum + (t * 0.3):sum()
        all[i] = tostring(t.grad_fn)
      end
      sum:backward()
      return all, x.grad
    end
    for i, f in ipairs(functions) do
      local g = la.compile(f)
      for k = 1, 30 do
        la.manual_seed(k)
        local a = la.randn({8}, {dtype = "float64"})
        local nodes, grad = outcome(f, a)
        local have, other = outcome(g, a)
        assert.same(nodes, have, "function " .. i)
        assert.is_true(la.equal(grad, other), "function " .. i)
      end
    end
  end)
end)
