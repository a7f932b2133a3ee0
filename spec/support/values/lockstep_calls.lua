-- Calls for lockstep_bits.lua that the golden records have not, or only with a
-- few elements: products, convolutions, rows, random numbers. numbers(sizes,
-- dtype, salt) makes tensors.
local la = require "lunarray"

local function products(add, numbers, d)
  local function x(salt, ...) return numbers({...}, d, salt) end
  add("matmul", d, la.matmul, x(1, 70, 300), x(2, 300, 41))
  add("matmul", d, la.matmul, x(1, 3, 17, 129), x(2, 129))
  add("matmul", d, la.matmul, x(1, 129), x(2, 129))
  add("matmul", d, la.matmul, x(1, 5, 3, 3), x(2, 5, 3, 3))
  add("matmul", d, la.matmul, x(1, 600, 40).mT, x(2, 600, 9))
  add("addmm", d, la.addmm, x(1, 9, 21), x(2, 9, 33), x(3, 33, 21))
  add("dot", d, la.dot, x(1, 4099), x(2, 4099))
  add("outer", d, la.outer, x(1, 45), x(2, 51))
  add("einsum", d, la.einsum, "bij,bkj->bik", x(1, 3, 7, 19), x(2, 3, 8, 19))
end

local function layers(add, numbers, d)
  local function x(salt, ...) return numbers({...}, d, salt) end
  add("conv1d", d, la.conv1d, x(1, 2, 3, 60), x(2, 8, 3, 5))
  add("conv2d", d, la.conv2d, x(1, 2, 3, 20, 21), x(2, 8, 3, 3, 3))
  add("conv_transpose2d", d, la.conv_transpose2d, x(1, 2, 8, 9, 9),
      x(2, 8, 3, 3, 3))
  add("linear", d, la.linear, x(1, 33, 65), x(2, 40, 65), x(3, 40))
  add("softmax", d, la.softmax, x(1, 33, 515), 2)
  add("log_softmax", d, la.log_softmax, x(1, 33, 515), 2)
  add("layer_norm", d, la.layer_norm, x(1, 33, 515), {515})
  add("scaled_dot_product_attention", d, la.scaled_dot_product_attention,
      x(1, 2, 40, 24), x(2, 2, 50, 24), x(3, 2, 50, 24))
  add("cdist", d, la.cdist, x(1, 33, 5), x(2, 31, 5))
  add("index_add", d, la.index_add, x(1, 20, 33), 1,
      la.arange(400) % 20 + 1, x(2, 400, 33))
  add("backward", d, function(a, b)
    a, b = a:detach():requires_grad_(), b:detach():requires_grad_()
    local y = (a:sin() * b:exp():clamp(0, 3)):matmul(b.mT):tanh()
    y:square():sum():backward()
    return a.grad, b.grad
  end, x(1, 20, 30), x(2, 20, 30) / 8)
end

-- So many elements that threads share them.
local function large(add, numbers, d)
  local x, y = numbers({90, 2003}, d, 1), numbers({2003, 80}, d, 2)
  for _, name in ipairs{"exp", "sin", "sum", "mean", "clone", "sqrt"} do
    add(name, d, la[name], x:view(-1))
  end
  for _, name in ipairs{"cumsum", "sort", "logsumexp"} do
    add(name, d, la[name], x:view(-1), 1)
  end
  add("softmax", d, la.softmax, x, 2)
  add("matmul", d, la.matmul, x, y)
  add("add", d, la.add, x, x.mT.mT)
  add("mul", d, la.mul, x, x:flip(1))
end

local function draws(add, d)
  local o = {dtype = d}
  for _, name in ipairs{"rand", "randn"} do add(name, d, la[name], 5003, o) end
  add("normal", d, la.normal, 1.5, 0.3, {3001}, o)
  for name, args in pairs{exponential_ = {1.3}, cauchy_ = {0, 2},
      log_normal_ = {0, 0.5}, geometric_ = {0.3}, uniform_ = {-1, 2},
      normal_ = {0.5, 2}, bernoulli_ = {0.3}} do
    add(name, d, function()
      local x = la.zeros(3001, o)
      return x[name] and x[name](x, table.unpack(args))
    end)
  end
  add("poisson", d, la.poisson, la.linspace(0, 40, 999, o))
end

return function(numbers)
  local list = {}
  local function add(name, dtype, fn, ...)
    if not fn then return end
    list[#list + 1] = {name = name, dtype = dtype, fn = fn, ...}
  end
  for _, d in ipairs{"float32", "float64", "bfloat16", "complex64"} do
    products(add, numbers, d)
    large(add, numbers, d)
    if d ~= "complex64" then
      layers(add, numbers, d)
      draws(add, d)
    end
  end
  for _, d in ipairs{"complex32", "complex64", "complex128"} do
    local units = la.polar(la.ones(9001), la.linspace(0, 900, 9001)):to(d)
    add("cumprod of units", d, la.cumprod, units:view(1, -1), 2)
  end
  add("randint", "int64", la.randint, 1, 1000, {3001})
  add("randperm", "int64", la.randperm, 5000)
  add("multinomial", "int64", la.multinomial, la.linspace(1, 9, 99), 40)
  return list
end
