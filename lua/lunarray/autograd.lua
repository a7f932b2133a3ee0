-- lunarray.autograd: derivatives checked against differences, checkpoints.
-- Reached as la.gradcheck, la.checkpoint, ...
local la = require "lunarray"
local tensors = require "lunarray.tensors"
local numbers = require "lunarray.numbers"
local positions = require "lunarray.positions"

local autograd = {}

local is_tensor, is_float = tensors.is_tensor, tensors.is_float
local as_list, check_arg = tensors.as_list, tensors.check

-- The results of f that can have a gradient.
local function outputs_of(f, inputs)
  local out = {}
  local results = table.pack(f(table.unpack(inputs)))
  for k = 1, results.n do
    local r = results[k]
    if type(r) == "table" then
      for _, t in ipairs(r) do
        if is_tensor(t) and is_float(t) then out[#out + 1] = t end
      end
    elseif is_tensor(r) and is_float(r) then
      out[#out + 1] = r
    end
  end
  return out
end

-- <seed, output> summed over the outputs, real: what both sides differentiate.
local function inner(outputs, seeds)
  local sum = 0.0
  for k, y in ipairs(outputs) do
    if y:is_complex() then y = la.view_as_real(y:resolve_conj()) end
    sum = sum + (y * seeds[k]):sum():item()
  end
  return sum
end

local function random_seeds(outputs, g)
  local seeds = {}
  for k, y in ipairs(outputs) do
    local like = y:is_complex() and la.view_as_real(y:detach():resolve_conj())
      or y
    seeds[k] = la.randn(like.shape, {dtype = like.dtype, generator = g})
  end
  return seeds
end

local function complex_seeds(outputs, seeds)
  local out = {}
  for k, y in ipairs(outputs) do
    out[k] = y:is_complex() and la.view_as_complex(seeds[k]) or seeds[k]
  end
  return out
end

-- Leaves with the values and strides of the inputs; others as they are.
local function leaves_of(inputs)
  local leaves, all = {}, {}
  for k, x in ipairs(inputs) do
    all[k] = x
    if is_tensor(x) and x.requires_grad then
      all[k] = x:detach():requires_grad_(true)
      leaves[#leaves + 1] = {k, all[k]}
    end
  end
  return all, leaves
end

local function analytic(f, inputs, seeds)
  local all, leaves = leaves_of(inputs)
  local outputs, wanted = outputs_of(f, all), {}
  for k, leaf in ipairs(leaves) do wanted[k] = leaf[2] end
  local roots, with = {}, {}
  local given = complex_seeds(outputs, seeds)
  for k, y in ipairs(outputs) do
    if y.requires_grad then
      roots[#roots + 1], with[#with + 1] = y, given[k]
    end
  end
  if #roots == 0 then return leaves, {} end
  return leaves, {la.grad(roots, wanted, {grad_outputs = with,
    allow_unused = true})}
end

-- The difference quotient in each real component of input k.
local function numeric(f, inputs, k, seeds, eps)
  local x = inputs[k]:detach():clone()
  local parts = x:is_complex() and la.view_as_real(x) or x
  local flat, copy = parts:reshape(-1), {table.unpack(inputs)}
  local slope = la.zeros_like(flat)
  copy[k] = nil
  local function value(shift, i)
    local moved = flat:clone()
    moved[i] = moved:item(i) + shift
    moved = moved:reshape(parts.shape)
    copy[k] = x:is_complex() and la.view_as_complex(moved) or moved
    return inner(outputs_of(f, copy), seeds)
  end
  for i = 1, flat:numel() do
    slope[i] = (value(eps, i) - value(-eps, i)) / (2 * eps)
  end
  return slope:reshape(parts.shape)
end

-- The difference quotient along one random direction of input k, and that
-- direction (real components).
local function numeric_along(f, inputs, k, seeds, eps, g)
  local x = inputs[k]:detach():clone()
  local parts = x:is_complex() and la.view_as_real(x) or x
  local way = la.randn(parts.shape, {dtype = parts.dtype, generator = g})
  local copy = {table.unpack(inputs)}
  local function value(shift)
    local moved = parts + way * shift
    copy[k] = x:is_complex() and la.view_as_complex(moved) or moved
    return inner(outputs_of(f, copy), seeds)
  end
  return (value(eps) - value(-eps)) / (2 * eps), way
end

local function compare_along(k, leaf, grad, slope, way, o)
  if grad == nil then grad = la.zeros_like(leaf):detach() end
  if grad:is_complex() then grad = la.view_as_real(grad:resolve_conj()) end
  local own = (grad * way):sum():item()
  local size = math.sqrt(math.max(1, way:numel()))
  if math.abs(own - slope) <= o.atol * size + o.rtol * math.abs(slope) then
    return
  end
  return numbers.format("gradient of argument %d is wrong along a random "
    .. "direction: %.10g by backward, %.10g by differences", k, own, slope)
end

local function compare(k, leaf, grad, slope, o)
  if grad == nil then grad = la.zeros_like(leaf):detach() end
  if grad:is_complex() then grad = la.view_as_real(grad:resolve_conj()) end
  if la.allclose(grad, slope, {rtol = o.rtol, atol = o.atol}) then return end
  return string.format("gradient of argument %d is wrong:\nby backward %s\n"
    .. "by differences %s", k, numbers.text(grad), numbers.text(slope))
end

local defaults = {eps = 1e-6, atol = 1e-5, rtol = 1e-3, raise = true, seed = 1,
  fast_mode = false}

local function options_of(what, given)
  local o = {}
  for key, value in pairs(defaults) do o[key] = value end
  for key, value in pairs(positions.own(given or {}, defaults)) do
    if defaults[key] == nil then
      error(what .. ": unknown option '" .. numbers.text(key)
        .. "' (known: atol, eps, fast_mode, raise, rtol, seed)", 3)
    end
    o[key] = value
  end
  return o
end

local function check_inputs(what, inputs)
  local any = false
  for k, x in ipairs(inputs) do
    if is_tensor(x) and x.requires_grad then
      any = true
      if x.dtype ~= "float64" and x.dtype ~= "complex128" then
        error(string.format("%s: input %d is %s; differences need float64 or "
          .. "complex128", what, k, x.dtype), 3)
      end
    end
  end
  if not any then error(what .. ": no input requires a gradient", 3) end
end

local function check(f, inputs, o)
  local g = la.Generator(o.seed)
  local seeds = la.no_grad(function()
    return random_seeds(outputs_of(f, inputs), g)
  end)
  local leaves, grads = analytic(f, inputs, seeds)
  for i, leaf in ipairs(leaves) do
    local k = leaf[1]
    local why
    if o.fast_mode then
      local slope, way = la.no_grad(numeric_along, f, inputs, k, seeds, o.eps,
        g)
      why = compare_along(k, leaf[2], grads[i], slope, way, o)
    else
      local slope = la.no_grad(numeric, f, inputs, k, seeds, o.eps)
      why = compare(k, leaf[2], grads[i], slope, o)
    end
    if why then return false, why end
  end
  return true
end

-- gradcheck(f, inputs[, {eps=, atol=, rtol=, raise=, seed=, fast_mode=}]):
-- whether the derivatives of f(inputs...) along random weights of its results
-- agree with central differences. An error tells where not, unless raise is
-- false. fast_mode compares along one random direction of each input only.
function autograd.gradcheck(f, inputs, given)
  check_arg("gradcheck", 1, f, "function")
  check_arg("gradcheck", 2, inputs, "values")
  check_arg("gradcheck", 3, given, "options")
  local o = options_of("gradcheck", given)
  inputs = as_list(inputs)
  check_inputs("gradcheck", inputs)
  local ok, why = check(f, inputs, o)
  if not ok and o.raise then error("gradcheck: " .. why, 2) end
  return ok
end

-- The same for the gradients of f: f's backward, as a function of the inputs
-- and of the weights of the results.
function autograd.gradgradcheck(f, inputs, given)
  check_arg("gradgradcheck", 1, f, "function")
  check_arg("gradgradcheck", 2, inputs, "values")
  check_arg("gradgradcheck", 3, given, "options")
  local o = options_of("gradgradcheck", given)
  inputs = as_list(inputs)
  check_inputs("gradgradcheck", inputs)
  local n, all = #inputs, {table.unpack(inputs)}
  local g = la.Generator(o.seed + 1)
  local first = outputs_of(f, inputs)
  local live = {}
  for k, y in ipairs(first) do
    if y.requires_grad then live[#live + 1] = k end
  end
  if #live == 0 then return true end
  for i, k in ipairs(live) do
    all[n + i] = la.randn(first[k].shape, {dtype = first[k].dtype,
      generator = g}):requires_grad_(true)
  end
  local function gradients(...)
    local args = {...}
    return la.enable_grad(function()
      local own, wanted, roots, seeds = {}, {}, {}, {}
      for k = 1, n do
        local x = args[k]
        if is_tensor(inputs[k]) and inputs[k].requires_grad then
          if not x.requires_grad then x = x:detach():requires_grad_(true) end
          wanted[#wanted + 1] = x
        end
        own[k] = x
      end
      local outputs = outputs_of(f, own)
      for i, k in ipairs(live) do
        roots[i], seeds[i] = outputs[k], args[n + i]
      end
      local found = table.pack(la.grad(roots, wanted, {grad_outputs = seeds,
        create_graph = true, allow_unused = true}))
      local out = {}
      for i = 1, #wanted do
        if found[i] then out[#out + 1] = found[i] end
      end
      return table.unpack(out)
    end)
  end
  local ok, why = check(gradients, all, o)
  if not ok and o.raise then error("gradgradcheck: " .. why, 2) end
  return ok
end

-- ---- checkpoint ----

local function detached(args, n, needs)
  local own, leaves = {}, {}
  for k = 1, n do
    local x = args[k]
    if is_tensor(x) and needs[k] then
      x = x:detach():requires_grad_(true)
      leaves[#leaves + 1] = {k, x}
    end
    own[k] = x
  end
  return own, leaves
end

-- The state of the generator, which is no part of a program that is recorded:
-- where it is set to another one, there is none.
local function state_of_generator()
  local _, outside = la._recording()
  if outside then return outside(la.get_rng_state) end
  return la.get_rng_state()
end

local function again(ctx, n)
  local args = table.pack(ctx:saved())
  for k, value in pairs(ctx.plain) do args[k] = value end
  local now = state_of_generator()
  la.set_rng_state(ctx.rng)
  local own, leaves = detached(args, n, ctx.needs_input_grad)
  local ok, out = pcall(function()
    return table.pack(la.enable_grad(ctx.f, table.unpack(own, 1, n)))
  end)
  la.set_rng_state(now)
  if not ok then error(out, 0) end
  return out, leaves
end

-- The sum of results times gradients (real part), or nil.
local function weighed(out, ...)
  local total
  for k = 1, out.n do
    local g = select(k, ...)
    if g and is_tensor(out[k]) and out[k].requires_grad then
      local part = out[k] * g:conj()
      if part:is_complex() then part = la.real(part) end
      part = part:sum()
      total = total and total + part or part
    end
  end
  return total
end

-- box: f; and of what ran already, its results, how many arguments there were,
-- and the state of the generator before.
local run = la.Function{
  forward = function(ctx, box, ...)
    local n = box.n or select("#", ...)
    local saved, plain = {}, {}
    for k = 1, n do
      local x = select(k, ...)
      if is_tensor(x) then saved[k] = x else plain[k] = x end
    end
    ctx.f, ctx.n, ctx.plain = box.f, n, plain
    ctx.rng, ctx.at = box.rng or state_of_generator(), box.at
    ctx:save_for_backward(table.unpack(saved, 1, n))
    table.remove(ctx.needs_input_grad, 1)
    if box.out then return table.unpack(box.out) end
    return box.f(...)
  end,
  backward = function(ctx, ...)
    local out, leaves = again(ctx, ctx.n)
    if ctx.at then
      local some = {n = #ctx.at}
      for i, k in ipairs(ctx.at) do some[i] = out[k] end
      out = some
    end
    local total = la.enable_grad(weighed, out, ...)
    if total then total:backward() end
    local grads = {}
    for _, leaf in ipairs(leaves) do grads[leaf[1] + 1] = leaf[2].grad end
    return table.unpack(grads, 1, ctx.n + 1)
  end,
}

-- No argument needs a gradient: whether f uses a tensor that does is known from
-- its results. Their histories are dropped, and another argument stands for
-- those tensors.
local function without_leaves(f, ...)
  local n, rng = select("#", ...), state_of_generator()
  local all, out, at = table.pack(f(...)), {}, {}
  for k = 1, all.n do
    if is_tensor(all[k]) and all[k].requires_grad then
      at[#at + 1], out[#out + 1] = k, all[k]:detach()
    end
  end
  if #at == 0 then return table.unpack(all, 1, all.n) end
  local args = table.pack(...)
  args[n + 1] = la.zeros({0}):requires_grad_()
  local given = table.pack(run({f = f, out = out, at = at, n = n, rng = rng},
    table.unpack(args, 1, n + 1)))
  for i, k in ipairs(at) do all[k] = given[i] end
  return table.unpack(all, 1, all.n)
end

-- checkpoint(f, ...): f's results; what f computes in between is not kept but
-- computed again in backward, with the same random numbers. Parameters that f
-- uses get their gradients in any case.
function autograd.checkpoint(f, ...)
  check_arg("checkpoint", 1, f, "function")
  if not la.is_grad_enabled() then return f(...) end
  for k = 1, select("#", ...) do
    local x = select(k, ...)
    if is_tensor(x) and x.requires_grad then return run({f = f}, ...) end
  end
  return without_leaves(f, ...)
end

return autograd
