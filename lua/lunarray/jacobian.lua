-- lunarray.jacobian: products with the jacobian from either side, jacobians and
-- hessians. Reached as la.jvp, la.vjp, la.hvp, la.jacobian, la.hessian.
local la = require "lunarray"
local tensors = require "lunarray.tensors"

local jacobian = {}

local is_tensor, is_float = tensors.is_tensor, tensors.is_float
local as_list, check_arg = tensors.as_list, tensors.check

local function check_list(what, inputs, like, word)
  if #inputs ~= #like then
    error(("%s: %d inputs and %d %s"):format(what, #like, #inputs, word), 3)
  end
  for k, t in ipairs(inputs) do
    local same = is_tensor(t) and t.shape == like[k].shape
    if not same then
      error(("%s: %s %d: a tensor of its %s's shape expected"):format(what,
        word, k, word == "tangents" and "input" or "output"), 3)
    end
  end
end

-- Leaves to differentiate by. With create_graph the inputs themselves stay in
-- the graph.
local function fresh(what, inputs, graph)
  local own = {}
  for k, x in ipairs(inputs) do
    if not is_tensor(x) or not is_float(x) then
      error(("%s: input %d: a tensor of floats expected"):format(what, k), 3)
    end
    own[k] = graph and x.requires_grad and x:view_as(x)
      or x:detach():requires_grad_(true)
  end
  return own
end

-- f's float results, all of them tensors; and whether there was one only.
local function call(what, f, own)
  local results = table.pack(la.enable_grad(f, table.unpack(own)))
  for k = 1, results.n do
    if not is_tensor(results[k]) or not is_float(results[k]) then
      error(("%s: result %d of the function: a tensor of floats expected")
        :format(what, k), 3)
    end
  end
  return results
end

local function detached_results(results, graph)
  if graph then return results end
  local out = {n = results.n}
  for k = 1, results.n do out[k] = results[k]:detach() end
  return out
end

-- Gradients, zeros where nothing flows. Without seeds the outputs are numbers.
local function gradients_of(outputs, inputs, seeds, graph)
  local roots, with, out = {}, {}, {}
  for k, y in ipairs(outputs) do
    if y.requires_grad then
      roots[#roots + 1], with[#with + 1] = y, seeds and seeds[k]
    end
  end
  if #roots > 0 then
    out = {la.grad(roots, inputs, {grad_outputs = seeds and with,
      create_graph = graph, retain_graph = true, allow_unused = true})}
  end
  for k, x in ipairs(inputs) do
    if out[k] == nil then out[k] = la.zeros_like(x:detach()) end
  end
  return out
end

local function same_form(list, single)
  if single then return list[1] end
  return list
end

local function wants_graph(options)
  return options and options.create_graph or false
end

-- vjp(f, inputs, v[, {create_graph=}]): f's results, and v times the jacobian:
-- a tensor for a tensor, a list for a list.
function jacobian.vjp(f, inputs, v, options)
  check_arg("vjp", 1, f, "function")
  check_arg("vjp", 2, inputs, "tensors")
  if v ~= nil then check_arg("vjp", 3, v, "tensors") end
  check_arg("vjp", 4, options, "options")
  local graph, single = wants_graph(options), is_tensor(inputs)
  local own = fresh("vjp", as_list(inputs), graph)
  local y = call("vjp", f, own)
  if v == nil then
    if y.n ~= 1 or y[1]:numel() ~= 1 then
      error("vjp: v may only be left out for a single one-element result", 2)
    end
    v = la.ones_like(y[1]:detach())
  end
  v = as_list(v)
  check_list("vjp", v, y, "vectors")
  local g = gradients_of(y, own, v, graph)
  return same_form(detached_results(y, graph), y.n == 1), same_form(g, single)
end

-- jvp(f, inputs, tangents[, {create_graph=}]): f's results, and the jacobian
-- times the tangents: the change of the results as the inputs move along.
-- v times the jacobian is linear in v, so its own derivative by v, along the
-- tangents, is exactly the jacobian times the tangents; no differences are
-- taken. f must be twice differentiable by backward.
function jacobian.jvp(f, inputs, tangents, options)
  check_arg("jvp", 1, f, "function")
  check_arg("jvp", 2, inputs, "tensors")
  check_arg("jvp", 3, tangents, "tensors")
  check_arg("jvp", 4, options, "options")
  local graph = wants_graph(options)
  inputs, tangents = as_list(inputs), as_list(tangents)
  check_list("jvp", tangents, inputs, "tangents")
  local own = fresh("jvp", inputs, graph)
  local y = call("jvp", f, own)
  local v, out = {}, {}
  for k = 1, y.n do
    v[k] = la.zeros_like(y[k]:detach()):requires_grad_(true)
  end
  la.enable_grad(function()
    local g = gradients_of(y, own, v, true)
    out = gradients_of(g, v, tangents, graph)
  end)
  return same_form(detached_results(y, graph), y.n == 1),
    same_form(out, y.n == 1)
end

-- hvp(f, inputs, v): the single number f(inputs), and its hessian times v.
function jacobian.hvp(f, inputs, v, options)
  check_arg("hvp", 1, f, "function")
  check_arg("hvp", 2, inputs, "tensors")
  check_arg("hvp", 3, v, "tensors")
  check_arg("hvp", 4, options, "options")
  local graph, single = wants_graph(options), is_tensor(inputs)
  local own, y = fresh("hvp", as_list(inputs), graph), nil
  v = as_list(v)
  check_list("hvp", v, own, "tangents")
  local out
  la.enable_grad(function()
    y = call("hvp", f, own)
    out = gradients_of(gradients_of(y, own, nil, true), own, v, graph)
  end)
  return same_form(detached_results(y, graph), true), same_form(out, single)
end

local function one_jacobian(flat, leaf, shape, graph)
  local rows = {}
  if flat:numel() == 0 or not flat.requires_grad then
    return la.zeros(shape, {dtype = flat.dtype})
  end
  for k = 1, flat:numel() do
    rows[k] = la.grad(flat[k], leaf, {retain_graph = true,
      create_graph = graph, allow_unused = true}) or la.zeros_like(leaf)
  end
  return la.stack(rows):reshape(shape)
end

-- jacobian(f, x[, {create_graph=}]): sizes of f(x) followed by those of x, one
-- backward pass per element of the result. For a list of inputs, a list. With
-- create_graph it can be differentiated again.
function jacobian.jacobian(f, inputs, options)
  check_arg("jacobian", 1, f, "function")
  check_arg("jacobian", 2, inputs, "tensors")
  check_arg("jacobian", 3, options, "options")
  local graph, single = wants_graph(options), is_tensor(inputs)
  local own, out = fresh("jacobian", as_list(inputs), graph), {}
  la.enable_grad(function()
    local y = f(table.unpack(own))
    if not is_tensor(y) then
      error(("jacobian: the function must return a tensor, got %s")
        :format(type(y)), 0)
    end
    local flat = y:reshape(-1)
    for k, leaf in ipairs(own) do
      local shape = {table.unpack(y.shape)}
      for _, n in ipairs(leaf.shape) do shape[#shape + 1] = n end
      out[k] = one_jacobian(flat, leaf, shape, graph)
    end
  end)
  return same_form(out, single)
end

-- hessian(f, x[, {create_graph=}]): second derivatives of the one number
-- f(x): sizes of x twice. For a list of inputs a list of lists: the part of
-- inputs i and j at [i][j].
function jacobian.hessian(f, inputs, options)
  check_arg("hessian", 1, f, "function")
  check_arg("hessian", 2, inputs, "tensors")
  check_arg("hessian", 3, options, "options")
  local single, list, out = is_tensor(inputs), as_list(inputs), {}
  for i = 1, #list do
    out[i] = jacobian.jacobian(function(...)
      local own = {...}
      local y = f(...)
      if not is_tensor(y) or y:numel() ~= 1 then
        error("hessian: the function must return a tensor of one element", 0)
      end
      return gradients_of({y}, own, nil, true)[i]
    end, list, options)
  end
  return single and out[1][1] or out
end

return jacobian
