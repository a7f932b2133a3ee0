-- lunarray.onnx.patterns: steps that are one operation here and that exporters
-- write as several: a product with a bias, a layer norm of nine nodes. Results
-- differ from those of the single nodes by rounding only. A pattern is taken
-- where nobody else asks for a value inside it.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local patterns = {}

local is_tensor = rows.is_tensor

-- ---- who uses a value ----

-- value -> its only user, or false where there are others, an output or a graph
-- inside a node among them.
local function users_of(g)
  local users = {}
  local function use(value, step)
    users[value] = users[value] == nil and step or false
  end
  for _, step in ipairs(g.steps) do
    for k = 1, step.nin do
      local value = step.ins[k]
      if value and users[value] ~= step then use(value, step) end
    end
    for _, inner in ipairs(step.inner) do
      for _, value in ipairs(inner.captures) do
        users[value.captured] = false
      end
    end
  end
  for _, output in ipairs(g.outputs) do users[output.value] = false end
  return users
end

local function plain(step, op)
  return step and step.op == op and step.domain == "" and step.nout == 1
end

-- The only step that uses the result of 'step', if it is of that operator.
local function next_of(users, step, op)
  local user = step and step.outs[1] and users[step.outs[1]]
  return user and plain(user, op) and user or nil
end

-- The other operand of a step of two; nil where both are the value.
local function other_of(step, value)
  local a, b = step.ins[1], step.ins[2]
  if a == value and b ~= value then return b end
  if b == value and a ~= value then return a end
end

-- The number that a value of the file is.
local function number_of(value)
  local t = value and value.data
  if is_tensor(t) and t:numel() == 1 then return t:flatten()[1]:item() end
end

local function is_constant(value)
  return value ~= nil and value.const ~= nil
end

-- ---- MatMul, Add ----

local function product(x, w, b)
  local n = x.ndim
  if w.ndim ~= 2 or n < 2 or b.ndim ~= 1 or b:size(1) ~= w:size(2)
    or x.dtype ~= "float32" or w.dtype ~= "float32" or b.dtype ~= "float32" then
    return x:matmul(w) + b
  end
  if n == 2 then return la.addmm(b, x, w) end
  local shape = rows.sizes(x)
  shape[n] = w:size(2)
  return la.addmm(b, x:reshape(-1, x:size(n)), w):reshape(shape)
end

local function find_product(step, users)
  if not plain(step, "MatMul") or not is_constant(step.ins[2])
    or is_constant(step.ins[1]) then return nil end
  local add = next_of(users, step, "Add")
  local bias = add and other_of(add, step.outs[1])
  if not is_constant(bias) then return nil end
  return add, {step.ins[1], step.ins[2], bias}, {step.outs[1]}, product
end

-- ---- ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul, Add ----

local function is_last_mean(step)
  if not plain(step, "ReduceMean") then return false end
  local axes = step.attributes.axes
  local given = step.ins[2] and step.ins[2].data
  if not axes and is_tensor(given) and given.ndim == 1 then
    axes = given:totable()
  end
  return axes ~= nil and #axes == 1 and axes[1] == -1
    and step.attributes.keepdims ~= 0
end

local function norm_of(eps)
  return function(x, scale, bias)
    local n = x.ndim > 0 and x:size(-1)
    if x.dtype == "float32" and scale.ndim == 1 and bias.ndim == 1
      and scale:size(1) == n and bias:size(1) == n
      and scale.dtype == "float32" and bias.dtype == "float32" then
      return la.layer_norm(x, {n}, scale, bias, eps)
    end
    local d = x - x:mean({x.ndim}, true)
    return d / ((d * d):mean({x.ndim}, true) + eps):sqrt() * scale + bias
  end
end

-- The square of the values of 'sub', whose users are it and a division.
local function squares(g, sub)
  local square, division
  for _, step in ipairs(g.steps) do
    for k = 1, step.nin do
      if step.ins[k] == sub.outs[1] then
        if plain(step, "Pow") and k == 1 and number_of(step.ins[2]) == 2
          or plain(step, "Mul") and step.ins[1] == step.ins[2] then
          square = step
        elseif plain(step, "Div") and k == 1 and not division then
          division = step
        else
          return nil
        end
      end
    end
  end
  return square, division
end

local function find_norm(step, users, g)
  if not is_last_mean(step) then return nil end
  local sub = next_of(users, step, "Sub")
  if not sub or sub.ins[1] ~= step.ins[1] then return nil end
  local square, division = squares(g, sub)
  local mean = square and next_of(users, square, "ReduceMean")
  if not division or not is_last_mean(mean) then return nil end
  local add = next_of(users, mean, "Add")
  local eps = add and number_of(other_of(add, mean.outs[1]))
  local root = eps and next_of(users, add, "Sqrt")
  if not root or users[root.outs[1]] ~= division
    or division.ins[2] ~= root.outs[1] then return nil end
  local mul = next_of(users, division, "Mul")
  local scale = mul and other_of(mul, division.outs[1])
  local last = mul and next_of(users, mul, "Add")
  local bias = last and other_of(last, mul.outs[1])
  if not is_constant(scale) or not is_constant(bias) then return nil end
  return last, {step.ins[1], scale, bias}, {step.outs[1], sub.outs[1],
    square.outs[1], mean.outs[1], add.outs[1], root.outs[1], division.outs[1],
    mul.outs[1]}, norm_of(eps)
end

-- ---- of a graph ----

-- last step -> {step that stands for all, values inside}.
function patterns.of(g)
  local users, found = users_of(g), {}
  for _, step in ipairs(g.steps) do
    if not step.ahead then
      for _, find in ipairs{find_norm, find_product} do
        local last, ins, inside, run = find(step, users, g)
        if last and not last.ahead and not found[last] then
          found[last] = {inside = inside, step = {label = step.label,
            op = last.op, domain = "", row = {}, inner = {}, ins = ins,
            outs = last.outs, nin = #ins, nout = 1, run = run}}
        end
      end
    end
  end
  return found
end

return patterns
