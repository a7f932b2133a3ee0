-- la.tidy and la.keep: what is made inside is freed at the end, what leaves
-- lives on; errors, nesting, views, graphs, optimisers.
local la = require "lunarray"
local optim = require "lunarray.optim"

local cycles = require "spec.support.cycles"
local raises = require "spec.support.raises"

local function is_freed(x)
  local ok, text = pcall(function() return x + 1 end)
  return not ok and text:find("was freed", 1, true) ~= nil
end

local function used() return (la.memory()) end

describe("tidy", function()
  it("frees what f makes, and returns what f returns", function()
    local inner
    local a, b, n = la.tidy(function(x, y)
      inner = x + y
      return inner * 2, y, 7
    end, la.ones(3), 2)
    assert.same({6, 6, 6}, a:totable())
    assert.same(2, b)
    assert.same(7, n)
    assert.is_true(is_freed(inner))
    raises("tensor was freed", la.add, inner, 1)
    raises("tensor was freed", function() return inner[1] end)
    raises("tensor was freed", function() return inner:sum() end)
    assert.same("userdata", type(inner))
    assert.is_true(la.is_tensor(inner))
  end)

  it("gives the memory back at once", function()
    collectgarbage()
    collectgarbage("stop")
    local before = used()
    for _ = 1, 20 do
      la.tidy(function()
        local x = la.ones(1000, 100)
        for _ = 1, 5 do x = x * 2 + 1 end
        assert.is_true(used() >= before + 11 * 400000)
      end)
    end
    assert.is_true(used() < before + 100000)
    collectgarbage("restart")
  end)

  it("leaves tensors from outside alone", function()
    local x, same = la.ones(2), nil
    local y = la.tidy(function()
      same = x
      x:add_(1)
      return x
    end)
    assert.is_true(rawequal(x, y))
    assert.same({2, 2}, x:totable())
    assert.is_false(is_freed(same))
  end)

  it("keeps tensors of returned tables, at any depth, also in circles",
     function()
    local junk
    local t = la.tidy(function()
      local out = {la.ones(1), deep = {{{x = la.full({1}, 2)}}}}
      out.self = out
      out[la.full({1}, 3)] = "key"
      setmetatable(out, {__pairs = error, __index = error})
      junk = la.ones(1)
      return out, out
    end)
    assert.same({1}, rawget(t, 1):totable())
    assert.same({2}, rawget(t, "deep")[1][1].x:totable())
    for key in next, t do
      if la.is_tensor(key) then assert.same({3}, key:totable()) end
    end
    assert.is_true(is_freed(junk))
  end)

  it("frees what it kept when the collector finds it", function()
    collectgarbage()
    local before = used()
    local x = la.tidy(function() return la.ones(500000) end)
    local y = x[{{1, 10}}]
    assert.is_true(used() >= before + 2000000)
    x = nil
    collectgarbage() collectgarbage()
    assert.same(10, y:sum():item())
    y = nil
    collectgarbage() collectgarbage() collectgarbage()
    assert.is_true(used() < before + 100000, x, y)
    local z = la.tidy(function() return la.ones(500000) end)
    z:free()
    assert.is_true(used() < before + 100000)
    assert.is_true(is_freed(z))
  end)

  it("nests: inner results belong to the outer scope", function()
    local first, second, third
    local out = la.tidy(function()
      local a = la.ones(2)
      local list = la.tidy(function()
        local many = {}
        for i = 1, 50 do many[i] = a * i end
        second = many[7]
        first = a + 1
        third = la.keep(a * 100)
        return {many[3], many[50], a, many[3]}
      end)
      assert.is_true(is_freed(first))
      assert.is_true(is_freed(second))
      assert.same({3, 3}, list[1]:totable())
      assert.same({50, 50}, list[2]:totable())
      assert.is_false(is_freed(a))
      assert.is_true(rawequal(a, list[3]))
      first = list[1]
      return list[2] + list[1]
    end)
    assert.is_true(is_freed(first))
    assert.same({53, 53}, out:totable())
    assert.same({100, 100}, third:totable())
  end)

  it("survives collections in the middle", function()
    for _, mode in ipairs{"generational", "incremental"} do
      local before = collectgarbage(mode)
      local sum = la.tidy(function()
        local sum = la.zeros(1)
        for i = 1, 300 do
          sum = la.tidy(function()
            local t = {}
            for k = 1, 10 do t[k] = sum + k end
            if i % 10 == 0 then collectgarbage() end
            return t[1], t
          end)
          if i % 25 == 0 then collectgarbage() end
        end
        return sum
      end)
      assert.same({300}, sum:totable())
      collectgarbage(before)
    end
  end)

  it("closes on errors, which pass through", function()
    local inner
    local problem = {}
    local ok, e = pcall(la.tidy, function()
      inner = la.ones(2)
      la.tidy(function() error(problem) end)
    end)
    assert.is_false(ok)
    assert.is_true(rawequal(e, problem))
    assert.is_true(is_freed(inner))
    local x = la.ones(1)        -- no scope is open any more
    la.tidy(function() end)
    assert.is_false(is_freed(x))
    raises("function expected, got number", la.tidy, 3)
    raises("function expected", la.tidy)
    local callable = setmetatable({}, {__call = function(_, n) return n end})
    assert.same(5, la.tidy(callable, 5))
  end)

  it("closes on errors inside a coroutine, and is not yielded across",
     function()
    local inner
    local co = coroutine.create(function()
      la.tidy(function()
        inner = la.ones(2)
        error "in a coroutine"
      end)
    end)
    assert.is_false((coroutine.resume(co)))
    assert.is_true(is_freed(inner))
    co = coroutine.create(function()
      la.tidy(function()
        inner = la.ones(2)
        coroutine.yield()
      end)
    end)
    local ok, e = coroutine.resume(co)
    assert.is_false(ok)
    assert.truthy(e:find("yield", 1, true))
    assert.is_true(is_freed(inner))
    -- a coroutine that runs inside is a part of it
    la.tidy(coroutine.wrap(function() inner = la.ones(2) end))
    assert.is_true(is_freed(inner))
  end)

  it("frees lists of results, views, iterators, out= and in-place results",
     function()
    local parts, view, row
    local x = la.arange(6)
    local target = la.empty({0}, {dtype = "int64"})
    la.tidy(function()
      parts = x:split(2)
      view = x[{{2, 3}}]
      for _, r in x:iter() do row = r end
      local t = la.add(x, 1, {out = target})
      assert.is_true(rawequal(t, target))
      x:add_(1)
    end)
    for _, p in ipairs(parts) do assert.is_true(is_freed(p)) end
    assert.is_true(is_freed(view))
    assert.is_true(is_freed(row))
    assert.same({1, 2, 3, 4, 5, 6}, target:totable())
    assert.same({1, 2, 3, 4, 5, 6}, x:totable())
  end)

  it("graphs and views keep their data", function()
    local w = la.rand(4):requires_grad_()
    local want = (w * w):exp():sum()
    want:backward()
    local grad = w.grad:clone()
    w.grad = nil
    local hidden
    local loss = la.tidy(function()
      hidden = (w * w):exp()
      return hidden:sum()
    end)
    assert.is_true(is_freed(hidden))
    loss:backward()
    assert.is_true(la.equal(grad, w.grad))
    local view = la.tidy(function()
      local base = la.arange(10)
      return base[{{3, 5}}]
    end)
    assert.same({2, 3, 4}, view:totable())
    la.tidy(function() (w * 2):sum():backward() end)
    assert.is_true(la.allclose(w.grad, grad + 2))
  end)

  it("functions written in Lua keep what their ctx holds", function()
    local square = la.Function{
      forward = function(ctx, x)
        ctx.twice = x * 2
        ctx:save_for_backward(x * 1)
        return x * x
      end,
      backward = function(ctx, g)
        assert.same(2, (ctx:saved()):numel())
        return g * ctx.twice
      end,
    }
    local w = la.tensor{3.0, 4.0}:requires_grad_()
    local loss = la.tidy(function() return square(w):sum() end)
    collectgarbage()
    loss:backward()
    assert.same({6, 8}, w.grad:totable())
  end)

  it("optimisers keep their state", function()
    for _, make in ipairs{
      function(p) return optim.SGD(p, {lr = 0.1, momentum = 0.9}) end,
      function(p) return optim.Adam(p, {lr = 0.1, amsgrad = true}) end,
      function(p) return optim.Adagrad(p, {lr = 0.1}) end,
      function(p)
        return optim.RMSprop(p, {momentum = 0.5, centered = true})
      end,
      function(p) return optim.LBFGS(p, {line_search_fn = "strong_wolfe"}) end,
    } do
      local results = {}
      for k = 1, 2 do
        local w = la.tensor{1.0, -2.0}:requires_grad_()
        local o = make{w}
        local function loss()
          o:zero_grad()
          local l = (w * w * w:exp()):sum()
          l:backward()
          return l
        end
        local function step() return o:step(loss) end
        for _ = 1, 4 do
          if k == 1 then step() else la.tidy(step) end
        end
        results[k] = w:detach()
      end
      assert.is_true(la.equal(results[1], results[2]))
    end
  end)

  it("optimisers and modules keep what they take over", function()
    local nn = require "lunarray.nn"
    local net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    local opt = optim.Adam(net:parameters())
    local function step()
      opt:zero_grad()
      net(la.randn(4, 2)):square():sum():backward()
      opt:step()
    end
    step()
    la.tidy(function() opt:load_state_dict(opt:state_dict()) end)
    step()
    la.tidy(function() net:double() end)
    for name, t in pairs(net:state_dict()) do
      assert.is_false(is_freed(t), name)
    end
    la.tidy(function() net:to("float32"):to("float32") end)
    assert.equal("float32", net(la.randn(4, 2)).dtype)
  end)

  it("works inside and around la.fuse", function()
    local x = la.rand(1000)
    local f = la.fuse(function(v)
      local y = la.tidy(function() return v * 2, v + 1 end)
      return y + 1
    end)
    local got = la.tidy(function() return f(x) end)
    assert.is_true(la.equal(x * 2 + 1, got))
  end)

  for _, mode in ipairs{"generational", "incremental"} do
    it("starts no collection for its tensors, " .. mode, function()
      local before = collectgarbage(mode)
      local count = 0
      local function watch()
        setmetatable({}, {__gc = function() count = count + 1; watch() end})
      end
      local heap = {}
      for i = 1, 20000 do heap[i] = {i} end
      local text = ("x"):rep(20000000)      -- a large heap of Lua's
      local x, much = la.ones(100000), {}
      for i = 1, 5 do much[i] = la.ones(1000000) end    -- alive outside
      collectgarbage() collectgarbage()
      watch()
      for _ = 1, 300 do
        la.tidy(function() for _ = 1, 20 do local _ = x + x end end)
      end
      collectgarbage(before)
      assert.is_true(count <= 1, count)
      assert.same(20020005, #heap + #text + #much)
    end)
  end

  it("leaves results to a collector that keeps up", function()
    collectgarbage() collectgarbage()
    local before, most = used(), 0
    for _ = 1, 200 do
      la.tidy(function() return la.ones(1000000) end)
      most = math.max(most, used() - before)
    end
    assert.is_true(most < 400e6, most)
  end)
end)

describe("keep", function()
  it("takes tensors and tables of them out of all scopes", function()
    local a, list, junk
    la.tidy(function()
      la.tidy(function()
        a = la.keep(la.ones(2))
        local t = {la.zeros(1), {la.ones(1)}}
        list = la.keep(t)
        assert.is_true(rawequal(t, list))
        junk = la.ones(2)
        assert.is_true(rawequal(a, la.keep(a)))
      end)
    end)
    collectgarbage()
    assert.same({1, 1}, a:totable())
    assert.same({0}, list[1]:totable())
    assert.same({1}, list[2][1]:totable())
    assert.is_true(is_freed(junk))
    assert.same({2, 2}, (a + 1):totable())
  end)

  it("does nothing outside of scopes and to other values", function()
    local x = la.ones(1)
    assert.is_true(rawequal(x, la.keep(x)))
    assert.same(3, la.keep(3))
    assert.same("x", la.tidy(function() return la.keep("x") end))
    assert.is_nil(la.keep(nil))
    raises("value expected", la.keep)
    local closed
    la.tidy(function()
      local y <close> = la.ones(1)
      closed = y
      la.keep(y)
    end)
    assert.is_true(is_freed(closed))
  end)

  it("is too late for what was freed", function()
    local gone
    la.tidy(function() gone = la.ones(1) end)
    raises("tensor was freed", la.keep, gone)
    raises("tensor was freed", la.from_dlpack, gone)
    local t = {gone, la.ones(1)}
    assert.is_true(rawequal(t, la.keep(t)))
  end)

  it("keeps many, whatever else was made meanwhile", function()
    local list = la.tidy(function()
      local list, other = {}, {}
      for i = 1, 20000 do
        list[i] = la.zeros(1) + i
        other[i] = {i}
      end
      return list, #other
    end)
    assert.same({20000}, list[20000]:totable())
    assert.same({1}, list[1]:totable())
  end)
end)

describe("x:free()", function()
  it("leaves the collector in peace: what is freed is no garbage", function()
    local keep = {}
    for k = 1, 20000 do keep[k] = {k} end
    collectgarbage()
    local n = cycles.count(function()
      for _ = 1, 400 do la.zeros(1 << 18):free() end
    end)
    assert.equal(20000, #keep)
    assert.is_true(n < 40, n)
  end)
end)
