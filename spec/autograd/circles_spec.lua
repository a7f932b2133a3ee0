-- Functions that reach the node which they hang on: memory stays flat, and what
-- is still in use keeps its functions.
local la = require "lunarray"

describe("memory of functions and graphs", function()
  -- Each leads from a function through handles to the node that it hangs on.
  local circles = {
    ["a hook holds a result of the hooked tensor"] = function(w)
      local x = w * 2
      local y = x:exp()
      x:register_hook(function(g) return g * y:detach() end)
    end,
    ["a model holds an activation and its gradient"] = function(w)
      local model = {act = w * 2}
      model.act:register_hook(function(g) model.grad = g end)
      model.out = (model.act:exp() * 3):sum()
      model.out:backward()
    end,
    ["a leaf's hook holds its result, the leaf is gone"] = function()
      local y
      do
        local x = la.ones(1000000, {requires_grad = true})
        y = x:exp()
        x:register_hook(function(g) return g * y:detach() end)
      end
    end,
    ["two hooks hold the other's result"] = function(w)
      local a, b = w * 2, w * 3
      local c, d = a:exp(), b:exp()
      a:register_hook(function(g) return g * d:detach() end)
      b:register_hook(function(g) return g * c:detach() end)
    end,
    ["a gradient with a history"] = function()
      local x = la.ones(1000000, {requires_grad = true});
      (x * x):sum():backward{create_graph = true}
      x:register_hook(function() return x.grad end)
    end,
    ["a view that was written"] = function(w)
      local x = w * 2
      local v = x:view(1000, 1000)
      v:mul_(3)
      x:register_hook(function() return v end)
    end,
    ["a custom function's table"] = function(w)
      local kept = {}
      local f = la.Function{
        forward = function(ctx, x)
          ctx.kept = kept
          ctx:save_for_backward(x)
          return x * 2
        end,
        backward = function(_, g) return g end,
      }
      kept.y = f(w):exp()
    end,
    ["a metatable"] = function(w)
      local x = w * 2
      local box = setmetatable({}, {__index = {x:exp()}})
      x:register_hook(function() return box[1] end)
    end,
    ["a coroutine that waits"] = function(w)
      local x = w * 2
      local y = x:exp()
      local co = coroutine.wrap(function(z)
        while true do coroutine.yield(y, z) end
      end)
      co(x:exp())
      x:register_hook(function() return co() end)
    end,
  }

  for name, circle in pairs(circles) do
    it("stays flat when " .. name, function()
      local w, most = la.ones(1000000, {requires_grad = true}), 0
      collectgarbage()
      local before = la.memory()
      for _ = 1, 100 do
        circle(w)
        most = math.max(most, la.memory() - before)
      end
      assert.is_true(most < 320 * 1024 * 1024, most)
    end)
  end

  it("keeps functions that a tensor in use needs", function()
    local w, calls = la.ones(100000, {requires_grad = true}), 0
    local results = {}
    for k = 1, 1500 do
      local x = w * 2
      local y = x:sum()
      x:register_hook(function(g)
        calls = calls + 1
        return y and g
      end)
      if k % 100 == 0 then results[#results + 1] = y end
    end
    for _, y in ipairs(results) do y:backward() end
    assert.equal(#results, calls)
    assert.same(#results * 2.0, w.grad[1]:item())
  end)
end)
