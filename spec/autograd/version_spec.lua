-- What counts as an in-place change, and who counts together. The numbers are
-- PyTorch's, but for x.data, which is x:detach() here: a change of it counts.
local la = require "lunarray"
local raises = require "spec.support.raises"

local MODIFIED = "modified by an inplace operation"

local function values(t) return t:detach():contiguous():view(-1):totable() end

local function versions(...)
  local list = {}
  for k, t in ipairs{...} do list[k] = t._version end
  return list
end

describe("the version", function()
  it("is shared by views, views of views and detached tensors", function()
    local x = la.zeros(4)
    local v = x:view(2, 2)
    local w, d = v[1], v:detach()
    local e = d[2]:detach()
    for k, t in ipairs{x, v, w, d, e} do
      t:add_(1)
      assert.same({k, k, k, k, k}, versions(x, v, w, d, e))
    end
  end)

  it("counts under no_grad and inference_mode, and views made there",
    function()
      for _, mode in ipairs{"no_grad", "inference_mode"} do
        local x, v = la.zeros(4), nil
        la[mode](function()
          x:add_(1)
          v = x:view(2, 2)
          v:add_(1)
        end)
        v:add_(1)
        assert.same({3, 3}, versions(x, v))
      end
    end)

  it("counts each change once", function()
    local x, list = la.zeros(2, 3), {}
    local function count() list[#list + 1] = x._version end
    count(x:t_())
    count(x:transpose_(1, 2))
    count(x:unsqueeze_(1))
    count(x:squeeze_())
    count(x:resize_(3, 2))
    count(x:resize_(30, 2))
    count(x:as_strided_({2}, {1}))
    count(x:requires_grad_())
    count(x:detach_())
    count(x:zero_())
    x[1] = 1
    count()
    x[x:gt(0)] = 2
    count()
    x[{{1, 2}}] = la.ones(2)
    count()
    count(x:copy_(x))
    count(la.add(x, 1, {out = x}))
    count(x:set_())
    assert.same({1, 2, 3, 4, 5, 6, 7, 7, 7, 8, 9, 10, 11, 12, 13, 14}, list)
  end)
end)

describe("a write through an index", function()
  -- 16-bit floats are accumulated in a float32 copy, means divided afterwards
  for _, dtype in ipairs{"float32", "float16", "bfloat16", "int32"} do
    it("counts once for " .. dtype, function()
      local x, i = la.zeros(4, {dtype = dtype}), la.tensor{1, 2}
      local s = la.ones(2, {dtype = dtype})
      local wide = la.zeros(100, {dtype = dtype})
      local function count(t, change)
        local before = t._version
        change(t)
        assert.equal(before + 1, t._version)
      end
      for _, t in ipairs{x, wide} do
        count(t, function(y) y:index_add_(1, i, s) end)
        count(t, function(y) y:scatter_add_(1, i, s) end)
        count(t, function(y) y:index_put_({i}, s, true) end)
        for _, kind in ipairs{"sum", "prod", "mean", "amax", "amin"} do
          count(t, function(y) y:scatter_reduce_(1, i, s, kind) end)
          count(t, function(y)
            y:index_reduce_(1, i, s, kind == "sum" and "mean" or kind)
          end)
        end
      end
    end)
  end
end)

describe("a tensor that was given other data", function()
  -- a counts 2, its view with it; b, whose memory a gets, counts 1.
  local function pair(give)
    local a, b = la.zeros(4), la.ones(4)
    a:add_(1):add_(1)
    b:add_(1)
    local view = a:view(2, 2)
    give(a, b)
    return a, b, view
  end

  local function walk(give, first)
    local a, b, view = pair(give)
    assert.same({first, 1, first}, versions(a, b, view))
    a:add_(1)
    assert.same({3, 3, 3, 3}, values(b))
    assert.same({first + 1, 1, first + 1}, versions(a, b, view))
    b:add_(1):add_(1)
    assert.same({first + 1, 3, first + 1}, versions(a, b, view))
    view:add_(1)
    assert.same({first + 2, 3, first + 2}, versions(a, b, view))
    local late = a:view(2, 2)
    late:add_(1)
    late:detach():add_(1)
    assert.same({first + 4, first + 4, 3, first + 4},
      versions(a, late, b, view))
    a, view = nil, nil
    collectgarbage()
    late:add_(1)
    assert.same({first + 5, 3}, versions(late, b))
    assert.same({8, 8, 8, 8}, values(b))
  end

  it("by set_data keeps its count", function()
    walk(function(a, b) a:set_data(b) end, 2)
    walk(function(a, b) a.data = b:detach() end, 2)
  end)

  it("by set_data gives gradients of the new shape, while graphs of the old "
    .. "one live", function()
    for _, new in ipairs {{4, 2}, {3, 5}, {2, 3}, {6}} do
      local x = la.ones(3, 2, {requires_grad = true})
      local old = (x * 2):sum()
      x:set_data(la.ones(table.unpack(new)))
      local sum = (x * 3):sum()
      sum:backward()
      assert.same(new, {table.unpack(x.grad.shape)})
      assert.is_true(x.grad:eq(3):all())
      assert.equal(12, old:item())
    end
  end)

  it("by set_ counts that once and goes on", function()
    walk(function(a, b) a:set_(b) end, 3)
    walk(function(a, b) a:set_(b, 1, {4}, {1}) end, 3)
  end)

  it("again and again counts on, also back at its own", function()
    local a, b, c = la.zeros(3), la.zeros(3), la.zeros(3)
    local d = a:detach()
    for k = 1, 20 do
      a:set_data(k % 3 == 0 and d or k % 2 == 0 and b or c)
      a:add_(1)
      assert.same({k, k}, versions(a, d))
    end
    assert.same({0, 0}, versions(b, c))
    a:set_data(a)
    a.data = a.data
    assert.equal(20, a._version)
  end)

  it("of any size, freed in any order, leaves no memory behind", function()
    local function round(n)
      local list = {}
      for k = 1, 6 do list[k] = la.zeros(n + k) end
      for k = 1, 6 do list[#list + 1] = list[k]:view(-1) end
      for k = 1, 30 do
        local from = list[(k * 7) % 12 + 1]
        list[(k * 5) % 6 + 1]:set_data(from:detach())
        list[#list + 1] = list[(k * 5) % 6 + 1]:detach()
        list[(k * 11) % #list + 1] = la.ones(n)
        list[(k * 3) % 6 + 1]:add_(1)
      end
    end
    local function used()
      collectgarbage()
      collectgarbage()
      return (la.memory())
    end
    round(3)
    local before = used()
    for n = 1, 40 do round(n * n) end
    assert.equal(before, used())
  end)

  it("as a view belongs to its root no more", function()
    local x, w = la.zeros(4), la.ones(4, {requires_grad = true})
    local v = x:view(2, 2)
    v.data = la.ones(4)
    v:mul_(w)
    assert.is_false(x.requires_grad)
    assert.is_true(v.requires_grad)
    assert.same({0, 0, 0, 0}, values(x))
    assert.same({1, 1}, versions(x, v))
    v:sum():backward()
    assert.same({1, 1, 1, 1}, values(w.grad))
  end)
end)

describe("a saved value", function()
  local function product()
    local w, b = la.ones(3, {requires_grad = true}), la.full({3}, 2.0)
    local a = la.zeros(3)
    local y = (w * b):sum()
    return w, b, a, y
  end

  it("stays valid when another tensor shares its memory", function()
    for _, give in ipairs{
      function(a, b) a:set_data(b:detach()) end,
      function(a, b) a:set_(b) end,
      function(a, b) b:view(3, 1):detach():set_data(a) end,
    } do
      local w, b, a, y = product()
      give(a, b)
      y:backward()
      assert.same({2, 2, 2}, values(w.grad))
      assert.equal(0, b._version)
    end
  end)

  it("is refused after a change through whatever counts with it", function()
    for name, change in pairs{
      itself = function(b) b:mul_(5) end,
      view = function(b) b:view(3, 1):mul_(5) end,
      detach = function(b) b:detach():mul_(5) end,
      data = function(b) b.data:mul_(5) end,
      no_grad = function(b) la.no_grad(function() b:mul_(5) end) end,
      inference = function(b)
        la.inference_mode(function() b:mul_(5) end)
      end,
      set_ = function(b) b:set_(la.zeros(3)) end,
      element = function(b) b[2] = 5 end,
      out = function(b) la.add(b, 1, {out = b}) end,
      ["view, after set_data"] = function(b)
        local v = b:view(3, 1)
        b:set_data(la.zeros(3))
        v:add_(1)
      end,
    } do
      local _, b, _, y = product()
      change(b)
      local ok, message = pcall(y.backward, y)
      assert.is_false(ok, name)
      assert.truthy(tostring(message):find(MODIFIED, 1, true), name)
    end
  end)

  it("is refused after a write through a tensor that was given its memory",
    function()
      local gives = {
        set_ = function(a, b) a:set_(b) end,
        part = function(a, b) a:set_(b, 2, {2}) end,
        set_data = function(a, b) a:set_data(b:detach()) end,
        data = function(a, b) a.data = b end,
        detached = function(a, b)
          local d = a:detach()
          d:set_data(b)
          return d
        end,
      }
      local saves = {
        itself = function(b) return b end,
        view = function(b) return b:view(3, 1):view(3) end,
        detached = function(b) return b:detach() end,
        -- counts elsewhere itself
        given = function(b) return la.zeros(3):set_(b) end,
      }
      local writes = {
        itself = function(a) a:add_(1) end,
        view = function(a) a:view(-1):add_(1) end,
        element = function(a) a[1] = 7 end,
        alias = function(a) a:detach():zero_() end,
      }
      for how, give in pairs(gives) do
        for what, save in pairs(saves) do
          for where, write in pairs(writes) do
            for late = 0, 1 do
              local name = ("%s %s %s %d"):format(how, what, where, late)
              local w = la.ones(3, {requires_grad = true})
              local b, a = la.full({3}, 2.0), la.zeros(3)
              if late == 0 then a = give(a, b) or a end
              local y = (w * save(b)):sum()
              if late == 1 then a = give(a, b) or a end
              y:backward{retain_graph = true}
              assert.same({2, 2, 2}, values(w.grad), name)
              write(a)
              local ok, message = pcall(y.backward, y)
              assert.is_false(ok, name)
              assert.truthy(tostring(message):find(MODIFIED, 1, true), name)
            end
          end
        end
      end
    end)

  it("of the tensor that was given memory, written through its owner",
    function()
      local w, b, a = la.ones(3, {requires_grad = true}), la.full({3}, 2.0)
      a = la.zeros(3):set_(b)
      local y = (w * a):sum()
      b:add_(1)
      local ok, message = pcall(y.backward, y)
      assert.is_false(ok)
      assert.truthy(tostring(message):find(MODIFIED, 1, true))
    end)

  it("is the new data after set_data: a leaf, a constant", function()
    local w, b, _, y = product()
    b.data = la.full({3}, 7.0)
    y:backward()
    assert.same({7, 7, 7}, values(w.grad))
    w = la.ones(3, {requires_grad = true})
    y = (w * w):sum()
    w.data = la.full({3}, 7.0)
    y:backward()
    assert.same({14, 14, 14}, values(w.grad))
  end)

  it("is the old data after set_data: a result, a view", function()
    local w = la.zeros(4, {requires_grad = true})
    local y = w:exp()
    local loss = y:sum()
    y.data = la.full({4}, 7.0)
    loss:backward()
    assert.same({1, 1, 1, 1}, values(w.grad))
    local v = la.full({4}, 2.0):view(2, 2)
    loss = (w:view(2, 2) * v):sum()
    v.data = la.full({2, 2}, 7.0)
    w.grad = nil
    loss:backward()
    assert.same({2, 2, 2, 2}, values(w.grad))
  end)
end)

-- PyTorch goes on and takes the root's new memory for the view's.
describe("a view whose root was given other data", function()
  local function parted()
    local w = la.ones(4, {requires_grad = true})
    local y = w * 3
    local v = y:view(2, 2)
    return w, y, v
  end

  it("keeps the history that it had", function()
    local w, y, v = parted()
    y.data = la.zeros(9)
    v:sum():backward()
    assert.same({3, 3, 3, 3}, values(w.grad))
  end)

  it("can't be written while recording", function()
    local _, y, v = parted()
    y.data = la.zeros(4)
    raises("given other data", function() v:mul_(3) end)
    la.no_grad(function() v:mul_(3) end)
    assert.same({9, 9, 9, 9}, values(v))
  end)

  it("is refused where its history is in doubt", function()
    local _, y, v = parted()
    y:mul_(2)
    y.data = la.zeros(4)
    raises("given other data", function() return v * 2 end)
    _, y, v = parted()
    y.data = la.zeros(4)
    y:mul_(2)
    raises("given other data", function() return v * 2 end)
    assert.same({6, 6, 6, 6}, values(y:view(2, 2) + 6))
  end)
end)
