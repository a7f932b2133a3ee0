-- What a view knows of its root's history. Expected values are PyTorch's.
local la = require "lunarray"
local raises = require "spec.support.raises"

local function values(t) return t:contiguous():view(-1):totable() end

local function leaf(...) return la.ones({...}, {requires_grad = true}) end

describe("a view whose root was written through another view", function()
  it("has the gradient of what was written", function()
    local m, b = la.zeros(2, 2), leaf(2)
    local x = m:view(4)
    x[{{1, 2}}] = b * 2
    assert.is_true(m.requires_grad)
    assert.is_true(x.requires_grad)
    local loss = (x * 3):sum() + b:sum()
    loss:backward()
    assert.same({7, 7}, values(b.grad))
  end)

  it("made before the write", function()
    local x, buffer = leaf(2), la.zeros(3, 2)
    local row = buffer[1]
    buffer[1] = x * 3
    local loss = (row * row):sum()
    loss:backward()
    assert.same({18, 18}, values(x.grad))
  end)

  it("as a buffer that is written step by step through a transposed view",
    function()
      local h, out = leaf(2, 3), la.zeros(2, 2, 3):transpose(1, 2)
      for t = 1, 2 do out[t] = h * t end
      local loss = (out * 2):sum()
      loss:backward()
      assert.same({6, 6, 6, 6, 6, 6}, values(h.grad))
    end)

  it("takes hooks and retain_grad, and is no leaf", function()
    local w, x = leaf(3), la.zeros(3):view(1, 3)
    x:copy_(w)
    assert.is_false(x.is_leaf)
    x:register_hook(function(g) return g * 10 end)
    x:retain_grad()
    x:sum():backward()
    assert.same({10, 10, 10}, values(w.grad))
    assert.same({10, 10, 10}, values(x.grad))
    raises("leaf variables", function() x:requires_grad_(false) end)
  end)
end)

-- sigmoid, tanh, exp and sqrt read their result in backward. Its history is the
-- written view's, not the node's own, which runs as a part of the root's.
describe("a view written by an operation that needs its result", function()
  local function twice(op, write)
    local w = la.tensor({0.3, 0.7, 0.9, 0.4}, {dtype = "float64",
      requires_grad = true})
    local x = write(w * 2, op)
    local loss = (x * x * x):sum()
    local g = la.grad(loss, w, {create_graph = true})
    local both = (g * g):sum() + (x * g):sum() + loss
    both:backward()
    return w.grad
  end

  for _, op in ipairs{"sigmoid", "tanh", "exp", "sqrt"} do
    it("differentiates again together with the first: " .. op, function()
      local got = twice(op, function(x)
        local v = x[{{2, 3}}]
        v[op .. "_"](v)
        return x
      end)
      local want = twice(op, function(x)
        return la.cat{x[{{1, 1}}], x[{{2, 3}}][op](x[{{2, 3}}]), x[{{4, 4}}]}
      end)
      assert.is_true(la.allclose(want, got, {rtol = 1e-12}))
    end)
  end
end)

describe("a view of another dtype", function()
  local function complex()
    local w = leaf(2)
    return w, la.complex(w * 1, w * 3)
  end

  for name, gradient in pairs({real = {10, 200}, imag = {30, 600}}) do
    it("written: " .. name, function()
      local w, z = complex()
      local part = z[name]
      part:mul_(la.tensor{10, 100})
      local loss = (part * la.tensor{1, 2}):sum()
      loss:backward()
      assert.same(gradient, values(w.grad))
    end)
  end

  it("written: view_as_real and view_as_complex", function()
    local w, z = complex()
    local both = la.view_as_real(z)
    both:mul_(2)
    both:sum():backward()
    assert.same({8, 8}, values(w.grad))

    w = leaf(2, 2)
    z = la.view_as_complex(w * 1)
    z:mul_(2)
    la.view_as_real(z):sum():backward()
    assert.same({2, 2, 2, 2}, values(w.grad))
  end)

  it("read after its root was written", function()
    local w, z = complex()
    local part = z.real
    z:mul_(10)
    local loss = (part * la.tensor{1, 2}):sum()
    loss:backward()
    assert.same({10, 20}, values(w.grad))
  end)

  it("with lazy bits", function()
    local w = leaf(3)
    local z = la.complex(w * 1, w * 2)
    local c = z:conj()
    z:mul_(2)
    c.imag:sum():backward()
    assert.same({-4, -4, -4}, values(w.grad))
  end)
end)

describe("the geometry of a view changed in place", function()
  it("by transpose_", function()
    local w = leaf(2, 2)
    local y = (w * 1):view(2, 2)
    y:transpose_(1, 2)
    local loss = (y * la.tensor{{1.0, 2.0}, {3.0, 4.0}}):sum()
    loss:backward()
    assert.same({1, 3, 2, 4}, values(w.grad))
  end)

  it("by unsqueeze_", function()
    local w = leaf(2, 3)
    local y = (w * 1):view(2, 3)
    y:unsqueeze_(1)
    local loss = (y * la.arange(6):view(1, 2, 3)):sum()
    loss:backward()
    assert.same({0, 1, 2, 3, 4, 5}, values(w.grad))
  end)
end)

describe("results of composite operations", function()
  it("are owners, not views of temporaries", function()
    local w = leaf(2, 3)
    assert.is_true(w:t():reshape(6):detach_().is_leaf)
    assert.is_true(w:tile(2, 2):detach_().is_leaf)
    local v = leaf(6)
    local y = la.kron(v, la.ones(2))
    y[1] = 0
    y:sum():backward()
    assert.same({1, 2, 2, 2, 2, 2}, values(v.grad))
  end)
end)

describe("a view that a composite operation gives back", function()
  it("keeps the history of its root, which nobody else holds", function()
    for _, call in ipairs{"contiguous", "double", "ravel"} do
      local x = la.rand(6, {dtype = "float64"}):reshape(6)
      local w = la.ones(6, {dtype = "float64", requires_grad = true})
      collectgarbage()
      x:mul_(w)
      x[call](x)
      assert.is_false(x.is_leaf)
      x:sum():backward()
      assert.truthy(w.grad)
    end
  end)
end)

describe("views that can't be written while recording", function()
  it("were made under no_grad", function()
    local w, v = leaf(4), nil
    la.no_grad(function() v = w:view(2, 2) end)
    assert.is_true(v.requires_grad)
    assert.is_true(v.is_leaf)
    raises("no_grad mode", function() v:mul_(w:view(2, 2)) end)
    la.no_grad(function() v:mul_(2) end)
    assert.same({2, 2, 2, 2}, values(w))
  end)

  it("came in a list", function()
    local w, halves = leaf(2), la.zeros(4):split(2)
    raises("several results", function() halves[1]:copy_(w) end)
    assert.same({0, 0}, values(halves[1]))
  end)
end)

describe("a view whose root was detached in place", function()
  local function detached()
    local w = leaf(4)
    local y = w * 2
    local v, sibling = y:view(2, 2), y:view(4)
    y:detach_()
    return w, y, v, sibling
  end

  local function gradient(w, v)
    local loss = v:sum() + (w * 0):sum()
    loss:backward()
    return values(w.grad)
  end

  it("keeps its history until the root is written", function()
    local w, y, v, sibling = detached()
    assert.is_false(y.requires_grad)
    assert.same({2, 2, 2, 2}, gradient(w, v))
    w, y, v = detached()
    y:mul_(2)
    assert.same({0, 0, 0, 0}, gradient(w, v))
    w, y, v, sibling = detached()
    la.no_grad(function() sibling:mul_(2) end)
    assert.same({0, 0, 0, 0}, gradient(w, v))
    w, y, v = detached()
    y:mul_(w)
    assert.same({2, 2, 2, 2}, gradient(w, v))
  end)

  it("can't be written while recording", function()
    local w, _, v = detached()
    raises("detached in place", function() v[1] = 5 end)
    raises("detached in place", function() v:mul_(w:view(2, 2)) end)
    w = leaf(4)
    v = w:view(2, 2)
    w.requires_grad = false
    raises("detached in place", function() v[1] = 5 end)
  end)
end)

describe("the bytes of a tensor as another dtype", function()
  it("have no gradient", function()
    local w = leaf(2)
    local bits = (w * 1):view("int32")
    assert.is_false(bits.requires_grad)
    assert.is_false(bits[1].requires_grad)
  end)
end)

describe("a root that was detached in place", function()
  it("does not take the gradients of its views along", function()
    for name, f in pairs{unfold = function(v) return v:unfold(1, 2, 1) end,
      as_strided = function(v) return v:as_strided({2, 2}, {1, 1}, 1) end,
      view = function(v) return v:view(8, 2) end} do
      local x = la.ones(4, 4, {requires_grad = true})
      local y = x * 2
      local v = y:view(2, 8)
      local want = la.grad(f(x * 2):sum(), x)
      if name == "unfold" then want = la.full({4, 4}, 2.0) end
      y:detach_()
      f(v):sum():backward()
      assert.is_true(la.equal(want, x.grad), name)
    end
  end)
end)
