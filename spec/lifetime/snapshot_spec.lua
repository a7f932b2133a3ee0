-- la.snapshot: data comes back whatever has written it since, into the same
-- tensors; nothing is restored where one has changed its shape or is gone.
local la = require "lunarray"
local optim = require "lunarray.optim"

local raises = require "spec.support.raises"

describe("la.snapshot of generators", function()
  it("gives their states back", function()
    local g, x = la.Generator():manual_seed(3), la.ones(2)
    la.rand(3, {generator = g})
    for _, list in ipairs {{g}, {deep = {rng = g}, x}, {g, g, x}} do
      local s = la.snapshot(list)
      local first = la.randn(5, {generator = g})
      s:restore()
      assert.is_true(la.equal(first, la.randn(5, {generator = g})))
      s:restore()
      assert.is_true(la.equal(first, la.randn(5, {generator = g})))
    end
    assert.truthy(tostring(la.snapshot{g, x}):find("and 1 generators", 1, true))
  end)

  it("leaves them when a tensor cannot be restored", function()
    local g, x = la.Generator():manual_seed(3), la.ones(2)
    local s = la.snapshot{g, x}
    local first = la.rand(1, {generator = g})
    x:resize_(7)
    raises(nil, s.restore, s)
    assert.is_false(la.equal(first, la.rand(1, {generator = g})))
  end)
end)

-- Calls that write the 4 x 6 float tensor x by every way there is.
local writes = {
  add_ = function(x) x:add_(1) end,
  element = function(x) x[{2, 3}] = 99 end,
  first = function(x) x[1] = 5 end,
  row = function(x) x[2] = la.full({6}, 7) end,
  mask = function(x) x[x:gt(3)] = -1 end,
  indices = function(x) x[{la.tensor{1, 3}}] = 0 end,
  out = function(x) la.add(x, 2, {out = x}) end,
  view = function(x) x:t():narrow(1, 2, 2):fill_(3) end,
  alias = function(x) x:detach():zero_() end,
  data = function(x) x.data:mul_(2) end,
  copy_ = function(x) x:copy_(la.zeros(4, 6)) end,
  apply_ = function(x) x:apply_(function(v) return v + 1 end) end,
  random = function(x) x:uniform_() end,
  index_fill_ = function(x) x:index_fill_(1, la.tensor{1, 2}, 4) end,
  scatter_ = function(x)
    x:scatter_(1, la.ones({1, 6}, {dtype = "int64"}), la.zeros(1, 6))
  end,
  fused = function(x)
    la.fuse(function(v) v:add_(v * 2) return v + 1 end)(x)
  end,
  sgd = function(x)
    local p = x:detach():requires_grad_()
    p.grad = la.ones(4, 6)
    optim.SGD({p}, {lr = 0.5}):step()
  end,
  cumsum = function(x) x:cumsum_(1) end,
}

local function sample() return la.arange(24, {dtype = "float32"}):view(4, 6) end

describe("snapshot", function()
  for name, write in pairs(writes) do
    it("restores after " .. name, function()
      local x = sample()
      local rows = x[{{2, 3}}]
      local want = x:clone()
      local s = la.snapshot{x}
      write(x)
      assert.is_false(la.equal(x, want))
      local changed = x:clone()
      local later = la.snapshot{x}
      s:restore()
      assert.is_true(la.equal(x, want))
      assert.is_true(la.equal(rows, want[{{2, 3}}]))
      later:restore()
      assert.is_true(la.equal(x, changed))
      write(x)
      s:restore()
      assert.is_true(la.equal(x, want))
      s:restore()
      assert.is_true(la.equal(x, want))
    end)
  end

  it("copies when something is written, not before, and once", function()
    local x = la.zeros(1000000)
    collectgarbage() collectgarbage()
    local before = (la.memory())
    local list = {}
    for k = 1, 10 do list[k] = la.snapshot{x, {y = x[{{1, 10}}]}} end
    assert.is_true((la.memory()) < before + 100000)
    x:add_(1)
    local after = (la.memory())
    assert.is_true(after > before + 3900000 and after < before + 4500000)
    x:add_(1)
    assert.is_true((la.memory()) < before + 4500000)
    list[3]:restore()
    assert.same(0, x:sum():item())
    for k = 1, 10 do list[k]:free() end
    assert.is_true((la.memory()) < before + 100000)
    x:add_(1)
    assert.is_true((la.memory()) < before + 100000)
    local part = la.snapshot{x[{{1, 1000}}]}
    x:add_(1)
    assert.is_true((la.memory()) < before + 100000)
    part:restore()
    assert.same({1, 2}, x[{{1000, 1001}}]:totable())
  end)

  it("restores any layout and dtype, only its own elements", function()
    for _, dtype in ipairs{"float64", "complex64", "int8", "bool",
                           "bfloat16"} do
      local base = la.arange(120):remainder(7):to(dtype):view(4, 5, 6)
      local first = base:clone()
      local views = {
        base:transpose(1, 3), base[{{}, {2, 4, 2}}], base[{2, 3}],
        base:select(3, 1), base:narrow(3, 2, 3):transpose(1, 2),
        base:as_strided({3, 2}, {7, 1}, 4), base:view(120)[5],
        base:narrow(1, 1, 0), base:unsqueeze(2):expand(4, 3, 5, 6),
      }
      for k, v in ipairs(views) do
        local want = v:clone()
        local s = la.snapshot{v}
        base:copy_(la.ones_like(base))
        s:restore()
        assert.is_true(la.equal(v, want), dtype .. " " .. k)
        local mark = la.zeros(4, 5, 6)
        if k <= 5 then
          local kept = base:clone()
          s:restore()
          assert.is_true(la.equal(base, kept))
        end
        if k == 3 then
          assert.is_true(la.equal(base[1], la.ones_like(base[1])))
        end
        assert.same(0, mark:sum():item())
        base:copy_(first)
        s:free()
      end
    end
  end)

  it("takes tables by name, nested, modules, single tensors", function()
    local nn = require "lunarray.nn"
    local layer = nn.Linear(3, 2)
    local state = {pos = la.zeros(3), deep = {vel = la.ones(2)}, n = 3,
                   layer = layer}
    state.self = state
    local weight = layer.weight:detach():clone()
    local s = la.snapshot(state)
    assert.same("lunarray.Snapshot of 4 tensors", tostring(s))
    la.no_grad(function() layer.weight:mul_(2) end)
    state.pos:fill_(4)
    state.deep.vel:fill_(4)
    s:restore()
    assert.is_true(la.equal(layer.weight, weight))
    assert.same({0, 0, 0}, state.pos:totable())
    assert.same({1, 1}, state.deep.vel:totable())
    local one = la.snapshot(state.pos)
    state.pos:fill_(1)
    one:restore()
    assert.same({0, 0, 0}, state.pos:totable())
    la.snapshot{}:restore()
    la.snapshot{la.empty(0), la.ones(2, {device = "meta"})}:restore()
    raises("table of tensors expected, got number", la.snapshot, 3)
    for what, value in pairs{number = 3, string = "x", boolean = true,
      ["function"] = print, ["FILE*"] = io.stdout,
      thread = coroutine.create(print)} do
      raises("'2' is a " .. what .. ", which a snapshot does not keep",
        la.snapshot, {la.ones(1), value})
      raises("does not keep", la.snapshot, {deep = {value}})
    end
    raises("'file' is a FILE*", la.snapshot, {file = io.stdout})
    raises("table of tensors expected", la.snapshot)
  end)

  it("counts as a write: versions rise, graphs notice", function()
    local x = la.ones(3)
    local s = la.snapshot{x}
    local w = la.ones(3):requires_grad_()
    x:add_(1)
    local y = (w * x):sum()
    local before = x._version
    s:restore()
    assert.is_true(x._version > before)
    raises("modified", function() y:backward() end)
    local p = la.ones(2):requires_grad_()
    local saved = la.snapshot{p}
    la.no_grad(function() p:mul_(3) end)
    saved:restore()
    assert.same({1, 1}, p:totable())
    assert.is_true(p.requires_grad)
  end)

  it("refuses changed shapes and freed tensors, and restores nothing",
     function()
    for _, change in ipairs{
      function(y) y:resize_(7) end, function(y) y:set_(la.ones(2, 2)) end,
      function(y) y:free() end, function(y) y:t_() end,
      function(y) y.data = la.ones(2, 3) end,
      function(y) y:resize_(3, 2) end,
    } do
      local x, y = la.zeros(3), la.zeros(2, 3)
      local s = la.snapshot{x, y}
      x:add_(1)
      y:add_(1)
      change(y)
      raises("tensor 2", s.restore, s)
      assert.same({1, 1, 1}, x:totable())
    end
    local kept
    local s
    la.tidy(function()
      kept = la.keep(la.ones(1))
      s = la.snapshot{kept, la.ones(2)}
      kept:fill_(2)
    end)
    raises("tensor 2 was freed", s.restore, s)
    assert.same({2}, kept:totable())
    raises("was freed", la.snapshot, {la.ones(1), y = (function()
      local z = la.ones(1)
      z:free()
      return z
    end)()})
  end)

  it("is freed by free, close and the collector", function()
    local x = la.zeros(100000)
    local inner
    do
      local s <close> = la.snapshot{x}
      inner = s
      x:add_(1)
      s:restore()
    end
    raises("the snapshot was freed", inner.restore, inner)
    inner:free()
    assert.truthy(tostring(inner):find "freed")
    collectgarbage() collectgarbage()
    local before = (la.memory())
    for _ = 1, 50 do
      la.snapshot{x}
      x:add_(1)
    end
    collectgarbage() collectgarbage()
    assert.is_true((la.memory()) < before + 100000)
    assert.same(50, x[1]:item())
    raises("Snapshot expected", inner.restore, 3)
  end)

  it("survives storages that grow, and tensors that die before it", function()
    local x = la.arange(4)
    local view = x[{{1, 2}}]
    local s = la.snapshot{view}
    x:resize_(1000)
    x:fill_(9)
    s:restore()
    assert.same({0, 1}, view:totable())
    local t = la.snapshot{la.ones(1000)}
    collectgarbage()
    t:restore()
    t = nil
    collectgarbage() collectgarbage()
    assert.is_nil(t)
  end)

  it("is taken and restored in each call of a fused function", function()
    for _, make in ipairs{la.fuse, la.compile} do
      local x = la.ones(2)
      local f = make(function(v)
        local s = la.snapshot{v}
        v:mul_(3)
        local changed = v * 2
        s:restore()
        return changed + v
      end)
      for k = 1, 3 do
        x:fill_(k)
        assert.same({7.0 * k, 7.0 * k}, f(x):totable())
        assert.same({1.0 * k, 1.0 * k}, x:totable())
      end
    end
  end)

  it("rolls a simulation back and plays it again", function()
    la.manual_seed(3)
    local pos, vel = la.randn(2, 50), la.randn(2, 50)
    local function step(k)
      vel:add_(pos * -0.1 + k * 0.01)
      pos:add_(vel * 0.1)
    end
    local ring, states = {}, {}
    for k = 1, 20 do
      ring[k] = la.snapshot{pos, vel}
      states[k] = {pos:clone(), vel:clone()}
      step(k)
    end
    local last = pos:clone()
    for _, back in ipairs{15, 3, 20, 1, 7} do
      ring[back]:restore()
      assert.is_true(la.equal(pos, states[back][1]))
      assert.is_true(la.equal(vel, states[back][2]))
      for k = back, 20 do
        ring[k]:free()
        ring[k] = la.snapshot{pos, vel}
        step(k)
      end
      assert.is_true(la.equal(pos, last))
    end
  end)
end)
