-- Recording and the engine: rules that single derivatives do not show.
local la = require "lunarray"
local modules = require "spec.support.modules"

local function leaf(values)
  return la.tensor(values, {dtype = "float64", requires_grad = true})
end
local raises = require "spec.support.raises"

describe("backward", function()
  it("takes no gradient whose memory a hook has kept", function()
    for _, view in ipairs {"t", "mT", "flatten", "ravel", "detach"} do
      local x, weights = la.randn(3, 3):requires_grad_(), la.randn(3, 3)
      local kept
      local function run()
        local y = view == "mT" and x.mT or view == "detach" and x:t():t()
          or x[view](x)
        y:register_hook(function(g) kept = g:detach() end);
        (y * weights:view(y.shape)):sum():backward()
      end
      run()
      local first = kept
      local before = first:clone()
      run()
      assert.is_true(first == before, view)
      assert.is_true(x.grad:sum():sub(2 * before:sum()):abs():lt(1e-5)
        :all(), view)
    end
  end)

  it("accumulates into leaves; zero_grad and nil forget", function()
    local x = leaf{1, 2}
    ;(x * 3):sum():backward()
    ;(x * 4):sum():backward()
    assert.is_true(x.grad == la.tensor({7, 7}, {dtype = "float64"}))
    x:zero_grad()
    assert.is_nil(x.grad)
    x.grad = la.tensor({1, 1}, {dtype = "float64"})
    x.grad = nil
    assert.is_nil(x.grad)
    assert.has_error(function() x.grad = la.ones(3) end)
  end)

  it("sums over shared inputs, diamonds and broadcasting", function()
    local x, b = leaf{2}, leaf{{1}, {2}}
    local y = x * x + x * b
    y:sum():backward()
    assert.are.equal(2 * 2 * 2 + 3, x.grad:item())
    assert.are.same({{2}, {2}}, b.grad:totable())
  end)

  it("has three errors of its own", function()
    raises("does not require grad", la.ones(1).backward, la.ones(1))
    local x = leaf{1, 2}
    raises("implicitly created only for scalar outputs", function()
      ;(x * 2):backward()
    end)
    local y = (x * x):sum()
    y:backward()
    raises("second time", y.backward, y)
    y = (x * x):sum()
    y:backward{retain_graph = true}
    assert.has_no.errors(function() y:backward() end)
    raises("unknown keyword", y.backward, y, {retain = true})
  end)

  it("sees what was changed in place after it was saved", function()
    local x = leaf{1, 2}
    local y = x * 1
    local z = (y * y):sum()
    y:add_(1)
    raises("modified by an inplace operation", z.backward, z)
    raises("leaf Variable that requires grad", x.add_, x, 1)
    raises("view of a leaf", function() x[1]:add_(1) end)
    la.no_grad(function() x:add_(1) end)
    assert.are.same({2, 3}, x:totable())
  end)

  it("follows changes through views", function()
    local x = leaf{1, 2, 3}
    local base = la.zeros(4, {dtype = "float64"})
    base[{{2, 4}}] = x * x
    assert.is_true(base.requires_grad)
    local view = base[2]
    ;(base * base):sum():backward()
    assert.are.same({4, 32, 108}, x.grad:totable())
    assert.are.equal(1, view:item())
    local y = x * 2
    local part = y[{{1, 2}}]
    part:mul_(10)
    x:zero_grad()
    y:sum():backward()
    assert.are.same({20, 20, 2}, x.grad:totable())
  end)

  it("computes the formulas of the requested inputs alone", function()
    local s, q = leaf{2, 3}, leaf{1, 1}
    local y = la.zeta(s, q):sum()       -- has no derivative by s
    raises("the derivative of zeta", la.grad, y, s, {retain_graph = true})
    assert.are.same(la.zeta(s + 1, q):mul(-s):totable(),
      la.grad(y, q):totable())
    local function random(...)
      return la.randn({...}, {dtype = "float64", requires_grad = true})
    end
    local calls = {
      {la.matmul, random(3, 4), random(4, 2)},
      {la.clamp, random(9), random(9), random(9)},
      {function(...) return la.cat({...}, 1) end, random(2), random(3),
        random(1)},
      {la.linalg.solve, random(3, 3), random(3, 2)},
      {la.linalg.lstsq, random(4, 2), random(4, 3)},
      {function(x, w, b) return la.layer_norm(x, {4}, w, b) end,
        random(3, 4), random(4), random(4)},
      {function(x, w, b) return la.group_norm(x, 2, w, b) end,
        random(3, 4), random(4), random(4)},
      {la.scaled_dot_product_attention, random(2, 3, 4), random(2, 3, 4),
        random(2, 3, 4)},
      {function(x, w)                   -- written through a view
        local buffer = x * 1
        buffer[{{2, 3}}]:mul_(w):addcmul_(w, w)
        return buffer
      end, random(4), random(2)},
    }
    if modules.has "signal" then
      calls[#calls + 1] = {la.signal.lfilter, random(2), random(3), random(8)}
    end
    for number, call in ipairs(calls) do
      local f, inputs = call[1], {table.unpack(call, 2)}
      for _, create in ipairs{false, true} do
        local options = {retain_graph = true, create_graph = create}
        local loss = f(table.unpack(inputs)):square():sum()
        local all = {la.grad(loss, inputs, options)}
        for k, input in ipairs(inputs) do
          local alone = la.grad(loss, input, options)
          assert(la.allclose(alone, all[k], 1e-12, 1e-12),
            "call " .. number .. ", input " .. k)
        end
      end
    end
  end)

  it("differentiates again", function()
    local x = leaf{2}
    local g = la.grad(x ^ 4, x, {create_graph = true})
    local g2 = la.grad(g, x, {create_graph = true})
    local g3 = la.grad(g2, x)
    assert.are.same({32, 48, 48}, {g:item(), g2:item(), g3:item()})
    raises("not have been used", la.grad, (x * 1), leaf{1})
    assert.is_nil((la.grad(x * 1, leaf{1}, {allow_unused = true})))
  end)

  it("stops at detach and under no_grad", function()
    local x = leaf{3}
    assert.is_false(x:detach().requires_grad)
    la.no_grad(function()
      assert.is_false((x * 2).requires_grad)
      la.enable_grad(function() assert.is_true((x * 2).requires_grad) end)
      assert.is_false(la.is_grad_enabled())
    end)
    assert.is_false(pcall(la.no_grad, function() error("inside") end))
    assert.is_true(la.is_grad_enabled())
    do
      local _ <close> = la.no_grad()
      assert.is_false(la.is_grad_enabled())
    end
    assert.is_true(la.is_grad_enabled())
    assert.has_error(function() leaf{1}:long().requires_grad = true end)
  end)
end)

describe("hooks", function()
  it("see and replace gradients, and can be removed", function()
    local x = leaf{1, 2}
    local seen
    local h = x:register_hook(function(g)
      seen = g:totable()
      return g * 10
    end)
    ;(x * 3):sum():backward()
    assert.are.same({3, 3}, seen)
    assert.are.same({30, 30}, x.grad:totable())
    h:remove()
    x:zero_grad()
    local y = x * 2
    y:retain_grad()
    y:register_hook(function(g) return g + 1 end)
    y:sum():backward()
    assert.are.same({4, 4}, x.grad:totable())
    assert.are.same({1, 1}, y.grad:totable())
  end)

  it("of leaves change what grad gives, too", function()
    local x = leaf{1, 2}
    local seen
    x:register_hook(function(g)
      seen = g:totable()
      return g * 10
    end)
    assert.are.same({20, 20}, la.grad((x * 2):sum(), x):totable())
    assert.are.same({2, 2}, seen)
    assert.is_nil(x.grad)
    local y = (x * 3):sum()
    y:backward(nil, {inputs = {x}})
    assert.are.same({30, 30}, x.grad:totable())
  end)

  it("that fail leave the engine usable", function()
    local x = leaf{1, 2}
    local hooks = {
      {"from the hook", function() error("from the hook") end},
      {"attempt to yield", function() coroutine.yield() end},
      {"hook", function() return 3 end},
      {"hook", function(g) return g:sum() end},
    }
    for _, row in ipairs(hooks) do
      local h = x:register_hook(row[2])
      raises(row[1], function() (x * 2):sum():backward() end)
      h:remove()
    end
    x:zero_grad()
    ;(x * 2):sum():backward()
    assert.are.same({2, 2}, x.grad:totable())
  end)

  it("may raise a value whose text is an error too", function()
    local odd = setmetatable({}, {__tostring = function() error("boom") end})
    for _ = 1, 50 do
      local x = leaf{1, 2}
      x:register_hook(function() error(odd) end)
      local ok, e = pcall(function() (x * 2):sum():backward() end)
      assert.is_false(ok)
      assert.is_true(rawequal(odd, e))
    end
  end)

  it("may call backward themselves", function()
    local x, inner = leaf{1}, leaf{5}
    x:register_hook(function()
      la.enable_grad(function() (inner * inner):sum():backward() end)
    end)
    ;(x * 2):sum():backward()
    assert.are.same({10}, inner.grad:totable())
    local z = leaf{1}
    local deep
    deep = function() (z * 1):sum():backward() end
    z:register_hook(function() la.enable_grad(deep) end)
    raises("stack overflow", deep)
  end)

  it("may ask for other gradients of the graph that runs", function()
    local x, w = leaf{2}, leaf{3}
    local y = x * w
    local inner
    y:register_hook(function()
      local z = la.enable_grad(function() return (x * w * w):sum() end)
      inner = la.grad(z, x):item()
    end)
    local gx, gw = la.grad((y * y):sum(), {x, w})
    assert.are.same({36, 24}, {gx:item(), gw:item()})
    assert.are.equal(9, inner)
  end)

  it("inside of a formula leave the others their gradients", function()
    local x = la.linspace(-1, 1, 6):view(2, 1, 3):requires_grad_()
    local w, h = la.eye(3):requires_grad_(), la.zeros(1, 3)
    local y = (la.recurrent_layer(x, w, nil, h, nil, "tanh"))
    local plain = {la.grad(y:sum(), {x, w}, {retain_graph = true})}
    local again = {la.grad(y:sum(), {x, w}, {create_graph = true})}
    for k = 1, 2 do
      assert.is_true(again[k].requires_grad)
      assert.is_true(la.allclose(plain[k], again[k]))
    end
  end)
end)

describe("Function", function()
  local cube = la.Function{
    forward = function(ctx, x, k)
      ctx:save_for_backward(x)
      ctx.k = k
      return x * x * x * k
    end,
    backward = function(ctx, g)
      local x = ctx:saved()
      return g * x * x * 3 * ctx.k
    end,
  }

  it("records, saves and passes plain values", function()
    local x = leaf{2}
    local y = cube(x, 5)
    assert.are.equal(40, y:item())
    y:backward()
    assert.are.equal(60, x.grad:item())
    assert.is_false(cube(x:detach(), 1).requires_grad)
  end)

  it("reports errors of its backward", function()
    local bad = la.Function{
      forward = function(_, x) return x * 1 end,
      backward = function() error("from backward") end,
    }
    raises("from backward", function() bad(leaf{1}):backward() end)
    local wrong = la.Function{
      forward = function(_, x) return x * 1 end,
      backward = function(_, g) return g, g, g end,
    }
    raises("3 gradients for 1 inputs", function() wrong(leaf{1}):backward() end)
    assert.has_error(function() la.Function{forward = print} end)
  end)
end)

describe("graphs", function()
  it("of many nodes run and are freed without recursion", function()
    local x = leaf{1}
    local y = x
    for _ = 1, 200000 do y = y + 1 end
    y:backward()
    assert.are.equal(1, x.grad:item())
    y = x
    for _ = 1, 200000 do y = y * 1 end
    y = nil
    collectgarbage()
  end)

  it("keep memory flat", function()
    local x = leaf{1, 2, 3}
    local function step()
      x.grad = nil
      ;((x * x):tanh() + 1):sum():backward()
    end
    for _ = 1, 200 do step() end
    collectgarbage() collectgarbage()
    local before = la.memory()
    for _ = 1, 3000 do step() end
    collectgarbage() collectgarbage()
    assert.is_true(la.memory() - before < 64 * 1024)
  end)
end)
