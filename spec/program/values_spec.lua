-- Values that decide something in a compiled function: composites that look at
-- elements, la.cond and la.while_loop. Compared with the functions as they are.
local la = require "lunarray"
local nn, optim = require "lunarray.nn", require "lunarray.optim"
local counted = require "spec.support.programs.counted"

-- Results of f and of f compiled are equal for each call; f ran so often.
local function agree(f, calls, runs)
  local step, count = counted(f)
  for k, call in ipairs(calls) do
    la.manual_seed(k)
    local want = table.pack(f(table.unpack(call)))
    local at = la.get_rng_state()
    la.manual_seed(k)
    local got = table.pack(step(table.unpack(call)))
    assert.equal(at, la.get_rng_state())
    for i = 1, want.n do assert.equal(want[i], got[i]) end
  end
  if runs then assert.equal(runs, count[1]) end
  return step
end

describe("labels of a compiled loss", function()
  local lists = {{1, 2, 3, 4, 1}, {1, 2, 3, 4, 1}, {1, -100, 3, 4, 1},
    {1, -100, -100, 4, 1}, {2, 2, 2, 2, 2}, {1, 2, -100, -100, -100}}
  local x = la.randn(5, 4)

  for _, reduction in ipairs{"mean", "sum", "none"} do
    for _, weighed in ipairs{false, true} do
      it("may be ignored: " .. reduction .. (weighed and ", weights" or ""),
         function()
        local weight = weighed and la.rand(4) or nil
        local w = la.randn(4, 4):requires_grad_()
        local function f(y)
          local loss = la.cross_entropy(x:matmul(w), y,
            {weight = weight, reduction = reduction})
          loss:sum():backward()
          local g = w.grad
          w.grad = nil
          return loss:detach(), g
        end
        local calls = {}
        for k, list in ipairs(lists) do calls[k] = {la.tensor(list)} end
        local step = agree(f, calls, 2)
        local ok, text = pcall(step, la.tensor{1, 2, 9, 1, 1})
        assert.is_false(ok)
        assert.matches("class label 9 is out of range", text)
      end)
    end
  end

  it("are looked at before anything is done", function()
    local net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5),
                              nn.Linear(8, 4))
    local opt = optim.SGD(net:parameters(), {lr = 0.1})
    local step, count = counted(function(y)
      opt:zero_grad()
      local loss = la.cross_entropy(net(x), y)
      loss:backward()
      opt:step()
      return loss
    end)
    for _, list in ipairs(lists) do step(la.tensor(list)) end
    assert.equal(2, count[1])
  end)
end)

describe("checks inside of composites", function()
  it("are made in each call", function()
    local function refuses(pattern, f, good, bad)
      local step, count = counted(f)
      for _ = 1, 3 do
        assert.equal(f(table.unpack(good)), step(table.unpack(good)))
      end
      local ok, text = pcall(step, table.unpack(bad))
      assert.is_false(ok)
      assert.matches(pattern, text)
      assert.equal(1, count[1])
    end
    refuses("between 0 and 1", la.binary_cross_entropy,
      {la.rand(3), la.ones(3)}, {la.full({3}, 2.), la.ones(3)})
    refuses("out of range", function(y) return la.one_hot(y, 5) end,
      {la.tensor{1, 5}}, {la.tensor{1, 6}})
    refuses("out of range", la.multi_margin_loss,
      {la.ones(2, 3), la.tensor{1, 3}}, {la.ones(2, 3), la.tensor{1, 7}})
    refuses("negative entries", la.gaussian_nll_loss,
      {la.ones(2), la.zeros(2), la.ones(2)},
      {la.ones(2), la.zeros(2), -la.ones(2)})
  end)

  it("refuse sizes that depend on values", function()
    for _, f in ipairs{function(x) return x:repeat_interleave(x:long()) end,
      function(x) return la.one_hot(x:long()) end,
      function(x) return x:trim_zeros() end} do
      local ok, text = pcall(la.compile(f), la.tensor{1., 2.})
      assert.is_false(ok)
      assert.matches("depends on an argument", text)
    end
    local list = la.tensor{1, 2}
    agree(function(x) return x:repeat_interleave(list), la.one_hot(list) end,
          {{la.ones(2)}, {la.zeros(2)}, {la.ones(2)}}, 1)
  end)
end)

describe("la.cond in a compiled function", function()
  it("is recorded once for each way, with derivatives", function()
    local w = la.ones(3):requires_grad_()
    local function f(x)
      local loss = la.cond((x * w):sum():gt(0),
        function(a) return (a * w):sum() end,
        function(a) return (a * w * w):sum() * 3 end, x)
      loss:backward()
      local g = w.grad
      w.grad = nil
      return loss:detach(), g
    end
    agree(f, {{la.ones(3)}, {-la.ones(3)}, {la.ones(3)}, {-la.ones(3)},
      {la.full({3}, 2.)}}, 2)
  end)

  it("is recorded once where nothing has derivatives", function()
    local w = la.full({3}, 1.5)
    agree(function(x)
      local y = x * 2
      local a, t = la.cond(x:sum():gt(0), function(v)
        return v + y, {w * 2, k = v:sum()}
      end, function(v) return v * w, {w + 1, k = v:prod()} end, x)
      return a, t[1], t.k
    end, {{la.ones(3)}, {-la.ones(3)}, {la.ones(3) * 3}, {-la.ones(3)}}, 1)
    agree(function(x)
      w:copy_(x)
      return (la.cond(w:sum():gt(0), function() return w * 2 end,
                      function() return w + 1 end))
    end, {{la.ones(3)}, {-la.ones(3)}, {la.ones(3)}}, 1)
  end)

  it("leaves nothing of a branch that is not taken", function()
    local n = la.zeros(1)
    local w = la.ones(3):requires_grad_()
    local function count() n:add_(1) return n + 0 end
    agree(function(x)
      return (la.cond(x:sum():gt(0), function(v) return v:sum():reshape(1) end,
                      count, x))
    end, {{la.ones(3)}, {la.ones(3)}, {la.ones(3)}}, 1)
    assert.equal(0, n:item())
    local loss = (w * w):sum()
    agree(function(x)
      return (la.cond(x:sum():gt(0), function(v) return v + 1 end, function(v)
        loss:backward()
        return v
      end, x))
    end, {{la.ones(3)}, {la.ones(3)}}, 1)
    assert.is_nil(w.grad)
    agree(function(x)
      return (la.cond(x:sum():gt(0), function(v) return v end, function(v)
        return v:sum()
      end, x))
    end, {{la.ones(3)}, {-la.ones(3)}, {la.ones(3)}}, 2)
  end)

  it("runs as it is where its value comes too late", function()
    local w = la.zeros(1)
    agree(function(x)
      w:copy_(x)
      w:add_(la.rand(1))
      return (la.cond(w:gt(0.5), function() return w:mul_(2) end,
                      function() return w + 1 end))
    end, {{la.zeros(1)}, {la.ones(1)}, {la.zeros(1)}, {la.zeros(1)}})
  end)
end)

describe("la.while_loop in a compiled function", function()
  it("is recorded once", function()
    local w = la.full({3}, 1.5)
    agree(function(x, limit)
      local twice = limit * 2
      local n, y = la.while_loop(function(_, y) return y:sum():lt(twice) end,
        function(n, y) return n + 1, y * w + x end, la.tensor(0), x)
      return n, y + 1
    end, {{la.ones(3), la.tensor(10.)}, {la.ones(3) * 2, la.tensor(20.)},
      {la.ones(3) * 3, la.tensor(300.)}}, 1)
    agree(function(x)
      local s = la.while_loop(function(s) return s.n:lt(5) end, function(s)
        return {n = s.n + 1, v = {s.v[1] * 2, s.v[2] + s.v[1]}, x = s.x}
      end, {n = la.tensor(0), v = {x, x * 0}, x = x})
      return s.n, s.v[1], s.v[2], s.x
    end, {{la.ones(2)}, {la.zeros(2)}, {la.ones(2)}}, 1)
  end)

  it("gives its carry where it makes no pass", function()
    local step, count = counted(function(x)
      return (la.while_loop(function(y) return y:sum():lt(50) end,
                            function(y) return y * 2 end, x))
    end)
    for _, n in ipairs{40, 1, 40, 2} do
      local x = la.full({3}, n * 1.)
      local y = step(x)
      assert.equal(n == 40, y:storage() == x:storage())
    end
    assert.equal(2, count[1])
  end)

  it("says that it has no derivative", function()
    local w = la.ones(2):requires_grad_()
    local step, count = counted(function(x)
      return (la.while_loop(function(y) return y:sum():lt(20) end,
                            function(y) return y * w * 2 end, x))
    end)
    for _ = 1, 3 do
      local y = step(la.ones(2))
      assert.is_true(y.requires_grad)
      local ok, text = pcall(function() y:sum():backward() end)
      assert.is_false(ok)
      assert.matches("while_loop: a compiled loop has no derivative", text)
      assert.is_false(la.no_grad(step, la.ones(2)).requires_grad)
    end
    assert.equal(2, count[1])
  end)

  it("runs as it is where it writes or draws", function()
    local n = la.zeros(1)
    agree(function(x)
      n:zero_()
      local y = la.while_loop(function(y) return y:sum():lt(20) end,
        function(y) n:add_(1) return y * 2 end, x)
      return y, n + 0
    end, {{la.ones(2)}, {la.ones(2) * 2}, {la.ones(2) * 3}})
    agree(function(x)
      return (la.while_loop(function(y) return y:sum():lt(20) end,
        function(y) return y + la.rand(2) end, x))
    end, {{la.ones(2)}, {la.zeros(2)}, {la.ones(2)}})
  end)

  it("hands on errors", function()
    local step = la.compile(function(x)
      return (la.while_loop(function(y) return y:sum():lt(20) end,
                            function() error("bad body") end, x))
    end)
    for _ = 1, 2 do
      local ok, text = pcall(step, la.ones(2))
      assert.is_false(ok)
      assert.matches("bad body", text)
    end
    step = la.compile(function(x, i)
      return (la.while_loop(function(y) return y:sum():lt(20) end,
        function(y) return y * 2 + y:index_select(1, i) * 0 end, x))
    end)
    for _ = 1, 3 do step(la.ones(2), la.tensor{1, 2}) end
    assert.is_false((pcall(step, la.ones(2), la.tensor{1, 5})))
    assert.equal(la.full({2}, 16.), step(la.ones(2), la.tensor{1, 2}))
  end)
end)

describe("states of generators", function()
  it("that f sets have f run each time", function()
    agree(function(x) la.manual_seed(5) return la.randn(3) + x end,
          {{la.ones(3)}, {la.zeros(3)}, {la.ones(3)}}, 3)
    agree(function(x)
      local y = la.fork_rng(function() return la.randn(3) end)
      return y + x + la.randn(3)
    end, {{la.ones(3)}, {la.zeros(3)}, {la.ones(3)}}, 3)
    agree(function(x)
      local s = la.get_rng_state()
      local a = la.randn(3)
      la.set_rng_state(s)
      return a + x, la.randn(3)
    end, {{la.ones(3)}, {la.zeros(3)}, {la.ones(3)}}, 3)
  end)

  it("are no matter of a checkpoint that draws nothing", function()
    local w = la.randn(8, 8):requires_grad_()
    agree(function(x)
      local y = la.checkpoint(function(a) return a:matmul(w):tanh() end, x)
      y:sum():backward()
      local g = w.grad
      w.grad = nil
      return y:detach(), g
    end, {{la.ones(2, 8):requires_grad_()}, {la.zeros(2, 8):requires_grad_()}},
    1)
  end)
end)

describe("a schedule that f steps", function()
  it("has f run each time", function()
    local function train(compiled)
      la.manual_seed(1)
      local net = nn.Linear(4, 2)
      local opt = optim.SGD(net:parameters(), {lr = 0.1})
      local sched = optim.StepLR(opt, {step_size = 2, gamma = 0.5})
      local function one(x)
        opt:zero_grad()
        net(x):square():mean():backward()
        opt:step()
        sched:step()
      end
      local step = compiled and la.compile(one) or one
      for _ = 1, 6 do step(la.randn(3, 4)) end
      return net.weight:detach()
    end
    assert.equal(train(false), train(true))
  end)
end)

describe("histories of tensors of the same elements", function()
  -- Gradients of f and of f compiled, by arguments that make() gives.
  local function same_gradients(f, make)
    local step = la.compile(f)
    for _ = 1, 3 do
      la.manual_seed(1)
      local x = make()
      local want = la.grad(f(x):sum(), x)
      la.manual_seed(1)
      local y = make()
      assert.equal(want, (la.grad(step(y):sum(), y)))
    end
  end
  local function matrix() return la.randn(4, 17):requires_grad_() end

  it("are told apart", function()
    same_gradients(function(x)
      local a, b = x[1], x:unbind(1)[1]
      return (a * b):exp() + a * 0.3 + b * x[2]
    end, matrix)
    same_gradients(function(x)
      local y = (x * 2):silu()
      local _ = y:conj_physical()
      y:asinh_()
      return y
    end, matrix)
    local w = la.ones(4, 17):requires_grad_()
    same_gradients(function(x)
      local y = x:detach() * 2
      y[1] = x[1] * w[1]
      return y
    end, matrix)
  end)

  it("are those of two arguments on one memory", function()
    local function f(x, y)
      y:mul_(x)
      return x, y
    end
    local step = la.compile(f)
    for _ = 1, 3 do
      local function errors(g)
        local x = la.ones(4):requires_grad_():mul(1)
        local a, b = g(x, x:t())
        return (pcall(function() (a + b):sum():backward() end))
      end
      assert.equal(errors(f), errors(step))
    end
  end)

  it("that a pass inside did not use up can be passed again", function()
    local inside = {
      function(x) return x:select(1, 1) end,
      function(x)               -- a copy into a view saves nothing
        local y = x:clone()
        y[-1] = x[1]
        return y
      end,
      function(x)               -- a product into a view does
        local y = x:clone()
        y[1]:mul_(x[2])
        return y
      end}
    for k, make in ipairs(inside) do
      local function f(x)
        local y = make(x)
        y:sum():backward()
        return y
      end
      local step = la.compile(f)
      for _ = 1, 3 do
        local a = matrix()
        local b = a:detach():clone():requires_grad_()
        local want = pcall(function() f(a):sum():backward() end)
        local got = pcall(function() step(b):sum():backward() end)
        assert.equal(k < 3, want)
        assert.equal(want, got)
        assert.equal(a.grad, b.grad)
      end
    end
  end)
end)

describe("an error of a composite's call", function()
  it("has the composite's name", function()
    local w = la.randn(4, 2)
    local step = la.compile(function(i) return la.embedding(i, w) end)
    for _ = 1, 2 do step(la.tensor{1, 2}) end
    local _, text = pcall(step, la.tensor{1, 7})
    local _, want = pcall(la.embedding, la.tensor{1, 7}, w)
    assert.equal(want:gsub("^.-:%d+: ", ""), (text:gsub("^.-:%d+: ", "")))
  end)
end)

-- set_data gives a tensor other memory, whose writes it counts as before.
describe("a captured tensor with other memory", function()
  -- Eager and compiled, the same calls: all that they leave must agree.
  local function both(body, change)
    local seen = {}
    for i, make in ipairs{function(f) return f end, la.compile} do
      local runs, list = 0, {}
      la.manual_seed(1)
      local s = {w = la.randn(16, 16), v = la.randn(16, 16)}
      local function note(...)
        for _, t in ipairs{...} do list[#list + 1] = la.hash(t) end
        list[#list + 1] = s.w._version
        list[#list + 1] = s.v._version
        list[#list + 1] = la.hash(s.w:detach())
        list[#list + 1] = s.w.grad and la.hash(s.w.grad) or "none"
      end
      local step = make(function(x)
        runs = runs + 1
        return body(s, x)
      end)
      for k = 1, 9 do
        note(step(la.full({16, 16}, 0.25 * k)))
        if k == 3 or k == 6 then change(s, k) end
      end
      seen[i], seen.runs = list, runs
    end
    assert.same(seen[1], seen[2])
    return seen.runs
  end
  local function other(s, k)
    s.w:set_data(la.full({16, 16}, k + 0.5))
  end

  it("is read in the same recording", function()
    assert.equal(1, both(function(s, x) return x * s.w + s.w[2] end, other))
    assert.equal(1, both(function(s, x) return x:mm(s.w:t()) end, other))
    assert.equal(1, both(function(s, x) return x * s.w:exp():sum() end, other))
  end)

  it("is written, also through views", function()
    assert.equal(1, both(function(s, x)
      s.w:add_(x)
      s.w:select(1, 2):mul_(0.5)
      return s.w * 2
    end, other))
  end)

  it("has a history", function()
    assert.equal(1, both(function(s, x)
      return (x * s.w:view(-1):view(16, 16)):tanh()
    end, function(s, k)
      other(s, k)
      s.w:requires_grad_(false)
    end))
    local w = la.ones(4):requires_grad_()
    local step = la.compile(function(x) return (x * w):exp() end)
    for k = 1, 6 do
      if k == 4 then la.no_grad(function() w:set_data(la.zeros(4)) end) end
      w.grad = nil
      step(la.full({4}, 0.5)):sum():backward()
      assert.equal(la.exp(la.tensor(k < 4 and 0.5 or 0.0)):item() * 0.5,
                   w.grad:item(1))
    end
  end)

  it("shares it with another one", function()
    both(function(s, x)
      s.w:add_(x)
      return s.v * 2
    end, function(s, k)
      if k == 3 then s.w:set_data(s.v) else s.w:set_data(la.zeros(16, 16)) end
    end)
  end)

  it("decided something by its elements", function()
    both(function(s, x)
      if s.w:item(1, 1) > 1 then return x * 2 end
      return x * 3
    end, other)
  end)
end)
