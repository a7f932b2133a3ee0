-- lunarray.onnx.save: a module or function as an ONNX file.
--
-- It runs once on example inputs while la.onnx.trace writes its calls down, and
-- each becomes nodes (lunarray.onnx.export). Dims with names may have any size:
-- it runs once more with other sizes there, and numbers that differ between the
-- runs are asked of the inputs when the file is run.
local la = require "lunarray"
local nn = require "lunarray.nn"
local export = require "lunarray.onnx.export"
local numbers = require "lunarray.numbers"
local rows = require "lunarray.onnx.rows"

local is_tensor = rows.is_tensor

local save = {}

local OPTIONS = {opset = true, inputs = true, outputs = true, dims = true,
  check = true, name = true}

local function fail(text, ...) error("onnx.save: " .. text:format(...), 0) end

-- ---- tracing ----

-- Weights by name, in their order; of a program those that it took along.
local function weights_of(f, program)
  local names, list = {}, {}
  local function add(name, t)
    if is_tensor(t) then names[#names + 1], list[#list + 1] = name, t end
  end
  if program then
    local weights = program:weights()
    for name in pairs(weights) do names[#names + 1] = name end
    table.sort(names)
    for k, name in ipairs(names) do list[k] = weights[name] end
  elseif nn.is_module(f) then
    for name, p in f:named_parameters() do add(name, p) end
    for name, b in f:named_buffers() do add(name, b) end
  end
  return names, list
end

-- The tensors among results, also those in lists.
local function flat(out)
  local list = {}
  for k = 1, out.n do
    if is_tensor(out[k]) then list[#list + 1] = out[k] end
    if type(out[k]) == "table" then
      for _, x in ipairs(out[k]) do
        if is_tensor(x) then list[#list + 1] = x end
      end
    end
  end
  return list
end

-- Inputs are copies: f may write them.
local function trace(f, inputs, weights)
  local n, given = #inputs, {}
  for k, x in ipairs(inputs) do given[k] = x:clone() end
  for k, w in ipairs(weights) do given[n + k] = w end
  local function only(...)
    return table.unpack(flat(table.pack(f(table.unpack({...}, 1, n)))))
  end
  return la.no_grad(function()
    return la.onnx.trace(only, table.unpack(given))
  end)
end

-- Inputs whose named dims are one longer.
local function longer(inputs, dims)
  local out, size = {}, {}
  for k, x in ipairs(inputs) do
    out[k] = x
    for d = 1, x.ndim do
      local name = dims[k] and dims[k][d]
      if name then
        size[name] = size[name] or x:size(d) + 1
        local y, want = out[k], size[name]
        while y:size(d) < want do y = la.cat({y, y:narrow(d, 1, 1)}, d) end
        out[k] = y
      end
    end
  end
  return out
end

-- ---- the file ----

local function value_info(name, t, dims)
  local list = {}
  for d = 1, t.ndim do
    local word = dims and dims[d]
    list[d] = word and {dim_param = word} or {dim_value = t:size(d)}
  end
  return {name = name, type = {tensor_type = {
    elem_type = rows.codes[t.dtype], shape = {dim = list}}}}
end

-- Names of dims of a result: those whose sizes differ between the runs.
local function result_dims(first, second, t, inputs, dims)
  if not second then return nil end
  local out = {}
  for d = 1, t.ndim do
    if first:size(d) ~= second:size(d) then
      out[d] = "dim_" .. numbers.text(d)
      for k, x in ipairs(inputs) do
        for e = 1, x.ndim do
          if dims[k] and dims[k][e] and x:size(e) == t:size(d) then
            out[d] = dims[k][e]
          end
        end
      end
    end
  end
  return out
end

local function check_options(options)
  for key in pairs(options) do
    if not OPTIONS[key] then
      fail("unknown keyword '%s' (known: opset, inputs, outputs, dims, check,"
        .. " name)", numbers.text(key))
    end
  end
  local opset = options.opset or 17
  if math.type(opset) ~= "integer" or opset < 17 or opset > 21 then
    fail("opset: 17 to 21 expected, got %s", numbers.text(opset))
  end
  return opset
end

-- dims by the name of an input or by its number.
local function dims_of(options, names)
  local out = {}
  for k, name in ipairs(names) do
    out[k] = options.dims and (options.dims[name] or options.dims[k])
  end
  return out
end

local function names_for(list, given, word)
  local out = {}
  for k = 1, #list do
    out[k] = given and given[k] or #list == 1 and word or word .. k
  end
  return out
end

-- The message of a file.
function save.message(f, inputs, options, program)
  local opset = check_options(options)
  local input_names = names_for(inputs, options.inputs, "input")
  local dims = dims_of(options, input_names)
  local weight_names, weights = weights_of(f, program)
  local first = trace(f, inputs, weights)
  local again = next(dims) and trace(f, longer(inputs, dims), weights) or nil
  if again and #again.calls ~= #first.calls then
    fail("other sizes of the named dims lead to other calls")
  end
  local g = export.graph(first, again, opset)
  local graph = {name = options.name or "lunarray", input = {}, output = {}}
  for k, name in ipairs(input_names) do
    g:input(first.inputs[k], name)
    graph.input[k] = value_info(name, inputs[k], dims[k])
  end
  for k, name in ipairs(weight_names) do
    g:weight(first.inputs[#inputs + k], name)
  end
  for k, call in ipairs(first.calls) do
    g:call(call, again and again.calls[k])
  end
  local output_names = names_for(first.outputs, options.outputs, "output")
  for k, number in ipairs(first.outputs) do
    local t = first.tensors[number]
    g:output(number, output_names[k])
    local other = again and again.tensors[again.outputs[k]]
    graph.output[k] = value_info(output_names[k], t,
      result_dims(t, other, t, inputs, dims))
  end
  local problems = g:prune(output_names)
  if #problems > 0 then
    fail("no ONNX form: %s", table.concat(problems, ", "))
  end
  graph.node, graph.initializer = g.nodes, g.initializers
  return {ir_version = 8, producer_name = "lunarray",
    opset_import = {{domain = "", version = opset}}, graph = graph}, first,
    input_names, output_names
end

-- Does the file, read again, give for 'inputs' what was 'wanted'?
local function same_results(model, inputs, wanted, input_names, output_names)
  local given = {}
  for k, name in ipairs(input_names) do given[name] = inputs[k] end
  local out = la.no_grad(function() return model:run(given) end)
  for k, name in ipairs(output_names) do
    local want, got = wanted[k], out[name]
    local same = got.dtype == want.dtype and got.shape == want.shape
    if same and want:is_floating_point() then
      local y = want:to("float64")
      local finite = y[y:isfinite()]
      same = la.allclose(got:to("float64"), y, 1e-4, 1e-5
        * (1 + (finite:numel() > 0 and finite:abs():amax():item() or 0)), true)
    elseif same then
      same = la.equal(got, want)
    end
    if not same then return false, name end
  end
  return true
end

-- The file is read once more, and gives the same; also for other inputs, which
-- are these backwards: then nothing of their values became a constant.
local function check(bytes, f, traced, inputs, input_names, output_names)
  local model, wanted = la.onnx.load(bytes, {bytes = true}), {}
  for k, number in ipairs(traced.outputs) do
    wanted[k] = traced.tensors[number]
  end
  local same, name = same_results(model, inputs, wanted, input_names,
    output_names)
  if not same then
    fail("result '%s' differs when the file is read again", name)
  end
  local others = {}
  for k, x in ipairs(inputs) do
    others[k] = x:reshape(-1):flip(1):reshape(x.shape)
  end
  local given = {}
  for k, x in ipairs(others) do given[k] = x:clone() end
  local ok, out = pcall(function()
    return flat(table.pack(la.no_grad(f, table.unpack(given))))
  end)
  if not ok then return end
  same, name = same_results(model, others, out, input_names, output_names)
  if not same then
    fail("result '%s' of the file is right for these inputs alone: numbers "
      .. "that Lua or an operation read from tensors are constants in it",
      name)
  end
end

-- A program that was recorded with one tensor for several inputs has one
-- for them.
local function once_each(program, inputs)
  local list, order, index = {}, {}, {}
  for k, x in ipairs(inputs) do
    if not index[x] then list[#list + 1], index[x] = x, #list + 1 end
    order[k] = index[x]
  end
  if #list == #inputs then return program, inputs end
  return function(...)
    local given, all = {...}, {}
    for k, at in ipairs(order) do all[k] = given[at] end
    return program(table.unpack(all))
  end, list
end

-- onnx.save(f, path, inputs[, options]); a path of nil gives the bytes.
function save.save(f, path, inputs, options)
  options = options or {}
  if is_tensor(inputs) then inputs = {inputs} end
  if type(inputs) ~= "table" or not is_tensor(inputs[1]) then
    error("bad argument #3 to 'onnx.save' (tensor or list of tensors "
      .. "expected)", 3)
  end
  local program = la.onnx._program(f)
  if program then f, inputs = once_each(program, inputs) end
  local training = nn.is_module(f) and f.training
  if training then f:eval() end
  local ok, bytes = pcall(function()
    local message, traced, names, results = save.message(f, inputs, options,
      program)
    local out = la.onnx.encode(message)
    if options.check ~= false then
      check(out, f, traced, inputs, names, results)
    end
    return out
  end)
  if training then f:train() end
  if not ok then error(bytes, 0) end
  if not path then return bytes end
  la.onnx.write(bytes, path)
end

return save
