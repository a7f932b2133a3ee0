-- lunarray.onnx.ahead: m:compile and m:program, which plan for given sizes
-- before anything is asked of the model.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"
local int8 = require "lunarray.onnx.int8"
local numbers = require "lunarray.numbers"

local ahead = {}

local is_tensor = rows.is_tensor
local OPTIONS = {quantize = true, calibrate = true, fast = true, cache = true,
  without = true}

local function fail(call, text, ...)
  error(("onnx.%s: "):format(call) .. text:format(...), 0)
end

local function check_options(call, options)
  if options == nil then return {} end
  if type(options) ~= "table" then
    fail(call, "table of options expected, got %s", type(options))
  end
  for key in pairs(options) do
    if not OPTIONS[key] then
      fail(call, "unknown keyword '%s' (known: quantize, calibrate, fast, "
        .. "cache, without)", numbers.text(key))
    end
  end
  if options.quantize ~= nil and options.quantize ~= "int8" then
    fail(call, "quantize: \"int8\" expected, got %s",
      numbers.text(options.quantize))
  end
  if options.calibrate and not options.quantize then
    fail(call, "calibrate goes with quantize = \"int8\"")
  end
  return options
end

-- ---- example inputs ----

-- Sizes of an input as the caller says them, or as the file does.
local function sizes_of(call, info, given)
  local sizes = given or info.shape
  if type(sizes) ~= "table" then
    fail(call, "sizes of input '%s' expected, got %s", info.name,
      type(sizes))
  end
  if info.shape and #sizes ~= #info.shape then
    fail(call, "input '%s': %d sizes expected, got %d", info.name,
      #info.shape, #sizes)
  end
  for d, size in ipairs(sizes) do
    if math.type(size) ~= "integer" or size < 0 then
      fail(call, "input '%s': a size for its dim %d (%s) is missing", info.name,
        d, numbers.text(size))
    end
    local fixed = info.shape and info.shape[d]
    if math.type(fixed) == "integer" and fixed ~= size then
      fail(call, "input '%s': dim %d has size %d, not %d", info.name, d, fixed,
        size)
    end
  end
  return sizes
end

-- A tensor for each input, in order: the given one, or zeros.
local function examples(call, infos, given)
  local known, list = {}, {}
  for _, info in ipairs(infos) do known[info.name] = true end
  for name in pairs(given) do
    if not known[name] then
      fail(call, "there is no input '%s'", numbers.text(name))
    end
  end
  for k, info in ipairs(infos) do
    local x = given[info.name]
    if is_tensor(x) then
      list[k] = x
    else
      local dtype = info.dtype or "float32"
      dtype = rows.unpacked[dtype] or dtype
      if dtype == "string" or dtype:find("(", 1, true) then
        fail(call, "input '%s' is no tensor of numbers (%s)", info.name, dtype)
      end
      list[k] = la.zeros(sizes_of(call, info, x), {dtype = dtype})
    end
  end
  return list
end

-- ---- plans ----

-- A program of the whole model on the examples; nil and the problem where
-- elements of its inputs choose what it computes.
local function whole(model, list, options)
  local step = la.compile(function(...)
    local note = la._recording()
    if note then note("names", model:_names()) end
    return model(...)
  end, {fast = options.fast, cache = options.cache, without = options.without})
  local ok, problem = pcall(function()
    for _ = 1, 2 do step(table.unpack(list)) end
  end)
  if ok then return step end
  if tostring(problem):find("of the compiled function", 1, true) then
    return nil, problem
  end
  error(problem, 0)
end

-- m:compile({name = sizes}[, options]): the compiled function of the inputs in
-- order; of a model whose parts depend on data a function that runs the parts.
function ahead.compile(model, sizes, options)
  options = check_options("compile", options)
  if sizes ~= nil and (type(sizes) ~= "table" or is_tensor(sizes)) then
    fail("compile", "table of sizes by name expected, got %s",
      is_tensor(sizes) and "tensor" or type(sizes))
  end
  local list = examples("compile", model:inputs(), sizes or {})
  if options.quantize then model = int8.model(model, options.calibrate) end
  return la.no_grad(function()
    local step = whole(model, list, options)
    if step then return step end
    for _ = 1, 2 do model(table.unpack(list)) end
    return function(...) return model(...) end
  end)
end

-- m:program(x, ...) or m:program({name = tensor or sizes}[, options]).
function ahead.program(model, first, ...)
  local given, options = {}, {}
  local infos = model:inputs()
  if is_tensor(first) then
    for k, x in ipairs{first, ...} do
      if not infos[k] then
        fail("program", "the model has %d inputs", #infos)
      end
      given[infos[k].name] = x
    end
  else
    given = first or {}
    if type(given) ~= "table" then
      fail("program", "tensors, or a table of tensors or sizes by name "
        .. "expected, got %s", type(given))
    end
    options = check_options("program", (...))
  end
  local list = examples("program", infos, given)
  if options.quantize then model = int8.model(model, options.calibrate) end
  return la.no_grad(function()
    local step, problem = whole(model, list, options)
    if step then return step:program() end
    fail("program", "elements of the inputs choose what is computed, so no one "
      .. "program has it all: %s",
      (tostring(problem):gsub("^onnx%.run: ", "")))
  end)
end

return ahead
