-- Products with the jacobian, jacobians and hessians against mathematics.
local la = require "lunarray"

local F64 = {dtype = "float64"}
local function vector(...) return la.tensor({...}, F64) end
local function near(want, got)
  assert.is_true(la.allclose(want, got, {rtol = 1e-12, atol = 1e-12}),
    tostring(want) .. "\n" .. tostring(got))
end

local g = la.Generator(5)
local A = la.randn(3, 4, {dtype = "float64", generator = g})
local x = la.randn(4, {dtype = "float64", generator = g})
local t = la.randn(4, {dtype = "float64", generator = g})

-- tanh(A x), whose jacobian is diag(1 - y^2) A.
local function layer(v) return A:mv(v):tanh() end
local function jacobian_of_layer()
  local y = layer(x)
  return A * (1 - y * y):unsqueeze(2)
end

describe("jvp", function()
  it("is the jacobian times the tangent", function()
    local y, out = la.jvp(layer, x, t)
    near(layer(x), y)
    near(jacobian_of_layer():mv(t), out)
    assert.is_false(y.requires_grad)
    assert.is_false(out.requires_grad)
  end)

  it("takes and gives lists", function()
    local y, out = la.jvp(function(a, b) return a * b, a:sum() end,
      {vector(1, 2), vector(3, 4)}, {vector(1, 0), vector(0, 1)})
    near(vector(3, 8), y[1])
    near(vector(3, 2), out[1])
    near(la.tensor(1, F64), out[2])
  end)

  it("is zero where nothing depends on the input", function()
    local _, out = la.jvp(function(v) return la.ones_like(v) end, x, t)
    near(la.zeros(4, F64), out)
    local _, kinks = la.jvp(function(v) return v:relu() end, vector(-1, 2),
      vector(3, 3))
    near(vector(0, 3), kinks)
  end)

  it("moves complex numbers along", function()
    local z = la.complex(vector(1, 2), vector(-1, 0.5))
    local w = la.complex(vector(0.5, 1), vector(2, -1))
    local _, out = la.jvp(function(v) return v * v end, z, w)
    near(2 * z * w, out)
    local _, size = la.jvp(function(v) return v:abs() end, z, w)
    near(la.real(z:conj() * w) / z:abs(), size)
  end)

  it("can be differentiated by the inputs", function()
    local own = x:clone():requires_grad_()
    local _, out = la.jvp(function(v) return v ^ 3 end, own, t,
      {create_graph = true})
    near(6 * x * t, (la.grad(out:sum(), own)))
  end)

  it("works under no_grad, and tells what is wrong", function()
    la.no_grad(function()
      local _, out = la.jvp(layer, x, t)
      near(jacobian_of_layer():mv(t), out)
    end)
    assert.has_error(function() la.jvp(layer, x, vector(1, 2)) end)
    assert.has_error(function() la.jvp(layer, x, {t, t}) end)
    assert.has_error(function() la.jvp(function() return 3 end, x, t) end)
    assert.has_error(function() la.jvp(layer, la.tensor{1, 2, 3, 4}, t) end)
  end)
end)

describe("vjp", function()
  it("is the vector times the jacobian", function()
    local v = vector(1, -2, 3)
    local y, out = la.vjp(layer, x, v)
    near(layer(x), y)
    near(jacobian_of_layer():t():mv(v), out)
    local _, one = la.vjp(function(a) return (a * a):sum() end, x)
    near(2 * x, one)
  end)

  it("agrees with jvp: <v, J t> = <J' v, t>", function()
    local v = vector(0.5, 1, -1)
    local _, forward = la.jvp(layer, x, t)
    local _, back = la.vjp(layer, x, v)
    near(v:dot(forward), back:dot(t))
  end)
end)

describe("jacobian and hessian", function()
  it("are those of the function", function()
    near(jacobian_of_layer(), la.jacobian(layer, x))
    local B = A:t():mm(A)
    near(B + B:t(), la.hessian(function(v) return v:dot(B:mv(v)) end, x))
    local parts = la.jacobian(function(a, b) return a * b end,
      {vector(1, 2), vector(3, 4)})
    near(la.diag(vector(3, 4)), parts[1])
    near(la.diag(vector(1, 2)), parts[2])
  end)

  it("of a list are lists", function()
    local h = la.hessian(function(a, b) return (a * a * b):sum() end,
      {vector(1, 2), vector(3, 4)})
    near(la.diag(vector(6, 8)), h[1][1])
    near(la.diag(vector(2, 4)), h[1][2])
    near(la.diag(vector(2, 4)), h[2][1])
    near(la.zeros(2, 2, F64), h[2][2])
  end)

  it("times a vector needs no hessian", function()
    local function f(v) return (v ^ 3):sum() + v[1] * v[2] end
    local y, out = la.hvp(f, x, t)
    near(f(x), y)
    near(la.hessian(f, x):mv(t), out)
  end)
end)
