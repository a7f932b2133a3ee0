-- lunarray.onnx.model: a network of an ONNX file as a module of lunarray.nn.
--
-- Its weights lie in the mapped file until somebody asks for parameters,
-- buffers or the state. Then they become parameters: leaves of their own that
-- want gradients, unless the model is frozen. Before that, and where nothing
-- wants a gradient, whatever follows from weights alone is computed once.
local la = require "lunarray"
local nn = require "lunarray.nn"
local graph = require "lunarray.onnx.graph"
local rows = require "lunarray.onnx.rows"
local parts = require "lunarray.onnx.parts"
local run = require "lunarray.onnx.run"
local summary = require "lunarray.onnx.summary"
local numbers = require "lunarray.numbers"

local is_tensor, unpack = rows.is_tensor, table.unpack
local STATE = nn._STATE

local Model = nn.class "OnnxModel"

-- model -> mode -> {constants, computed, fixed, versions, parts}: what follows
-- from its tensors. A copy of the model has none.
local caches = setmetatable({}, {__mode = "k"})

-- ---- parameters ----

-- Names of weights, each once, that are no fields or methods of a module.
local function name_weights(model, plan)
  local taken, list = {}, {}
  for index, value in ipairs(plan.constants) do
    if value.parameter or value.buffer then
      local name = value.name
      while taken[name] or Model[name] ~= nil or rawget(model, name) ~= nil
        or name == "" or name == STATE do
        name = name .. "_"
      end
      taken[name] = true
      list[#list + 1] = {name = name, index = index, value = value}
    end
  end
  return list
end

-- Running means and variances are buffers.
local function mark_buffers(g)
  for _, step in ipairs(g.steps) do
    if step.op == "BatchNormalization" then
      for k = 4, 5 do
        local value = step.ins[k]
        if value and value.parameter then
          value.parameter, value.buffer = nil, true
        end
      end
    end
    for _, inner in ipairs(step.inner) do mark_buffers(inner) end
  end
end

local function register(model, name, t, kind)
  local state = rawget(model, STATE)
  rawset(state.names, #state.names + 1, name)
  state.kinds[name] = kind
  rawset(state.values, name, t)
end

-- The weights become parameters and buffers of their own memory.
local function give_weights(model)
  local state = rawget(model, STATE)
  setmetatable(state.names, nil)
  setmetatable(state.values, nil)
  if rawget(model, "given") then return end
  rawset(model, "given", true)
  local data = model.data
  for _, w in ipairs(model.weights) do
    local t = data[w.index]
    data[w.index] = false
    t = la.no_grad(function() return t:clone() end)
    la.keep(t)
    if w.value.parameter and rows.floats[t.dtype] then
      register(model, w.name, nn.Parameter(t, not model.frozen), "parameter")
    else
      register(model, w.name, t, "buffer")
    end
  end
end

-- The module's own lists are filled when they are first looked at.
local function defer_weights(model)
  local state = rawget(model, STATE)
  setmetatable(state.names, {__index = function(_, k)
    give_weights(model)
    return rawget(state.names, k)
  end, __len = function()
    give_weights(model)
    return #state.names
  end})
  setmetatable(state.values, {__index = function(_, name)
    if not model.named[name] then return nil end
    give_weights(model)
    return rawget(state.values, name)
  end})
end

-- ---- what follows from the weights ----

local function is_live(model)
  if not rawget(model, "given") then return false end
  local values = rawget(model, STATE).values
  for _, w in ipairs(model.weights) do
    local t = values[w.name]
    if is_tensor(t) and t.requires_grad then return true end
  end
  return false
end

-- Have weights been replaced or changed in position since they were computed?
local function is_stale(model, cache)
  local values = rawget(model, STATE).values
  local live = cache.mode == "live"
  for k, w in ipairs(model.weights) do
    local t = values[w.name]
    if not rawequal(t, cache.constants[w.index])
      or not live and t._version ~= cache.versions[k] then return true end
  end
  return false
end

local function new_cache(model, mode)
  local cache = {mode = mode, constants = {}, computed = {}, versions = {},
    parts = setmetatable({}, {__mode = "k"}),
    fixed = setmetatable({}, {__mode = "k"})}
  cache.kit = run.kit(cache.fixed)
  local data, values = model.data, rawget(model, STATE).values
  for index in ipairs(model.plan.constants) do
    cache.constants[index] = data[index] or false
  end
  if rawget(model, "given") then
    for k, w in ipairs(model.weights) do
      local t = values[w.name]
      cache.constants[w.index] = t
      cache.versions[k] = t._version
    end
  end
  for _, x in ipairs(cache.constants) do
    if is_tensor(x) then cache.fixed[x] = 1 << 40 end
  end
  for index, value in ipairs(model.plan.constants) do
    local x = cache.constants[index]
    if value.const == "pure" and is_tensor(x) and x.dtype == "int64"
      and x:numel() < 256 then
      rows.constant_lists[x] = rows.constant_lists[x] or false
    end
  end
  caches[model] = caches[model] or {}
  caches[model][mode] = cache
  return cache
end

local function cache_of(model, mode)
  local cache = caches[model] and caches[model][mode]
  if not cache or rawget(model, "given") and is_stale(model, cache) then
    cache = new_cache(model, mode)
  end
  return cache
end

-- ---- running ----

-- The plan becomes the model's: its weights get names. Weights that were given
-- stay what they are.
local function install(model, plan)
  mark_buffers(plan.graph)
  plan.infos = {}
  for k, input in ipairs(plan.graph.inputs) do plan.infos[k] = input.info end
  rawset(model, "plan", plan)
  caches[model] = nil
  local data, named = {}, {}
  for index, value in ipairs(plan.constants) do
    data[index] = value.data == nil and false or value.data
    value.data = nil
  end
  rawset(model, "data", data)
  rawset(model, "weights", name_weights(model, plan))
  for _, w in ipairs(model.weights) do
    named[w.name] = true
    if rawget(model, "given") then data[w.index] = false end
  end
  rawset(model, "named", named)
  return plan
end

-- After la.onnx.register the operators are looked up anew.
local function plan_of(model)
  local plan = model.plan
  if #plan.problems > 0 and plan.version ~= rows.version and model.proto then
    plan = install(model, graph.compile(model.proto))
  end
  if #plan.problems > 0 then
    error("onnx.run: " .. summary.problems(plan.problems), 0)
  end
  return plan
end

local function names_of(list)
  local out = {}
  for k, entry in ipairs(list) do out[k] = "'" .. entry.name .. "'" end
  return table.concat(out, ", ")
end

-- The values of these names in the main graph.
local function wanted_of(plan, names, call)
  local wanted = {}
  for k, name in ipairs(names) do
    local value = plan.graph.scope[name]
    if not value or value.graph ~= plan.graph then
      error(("%s: there is no value '%s' in the graph"):format(call,
        numbers.text(name)), 0)
    end
    wanted[k] = value
  end
  return wanted
end

-- A value for an input: a tensor of its dtype, or numbers of it.
local function checked(info, x)
  local dtype, name = info.dtype, info.name
  if dtype == nil or dtype:find("^%a+%(") then return x end
  if dtype == "string" then
    if type(x) == "string" then return rows.strings({x}, {}) end
    if type(x) ~= "table" then
      error(("onnx.run: input '%s': list of strings expected, got %s")
        :format(name, type(x)), 0)
    end
    return x
  end
  dtype = rows.unpacked[dtype] or dtype
  if not is_tensor(x) then
    if type(x) ~= "table" and type(x) ~= "number" and type(x) ~= "boolean" then
      error(("onnx.run: input '%s': tensor of %s expected, got %s")
        :format(name, dtype, type(x)), 0)
    end
    x = la.tensor(x, {dtype = dtype})
  end
  if x.dtype ~= dtype then
    error(("onnx.run: input '%s': %s expected, got %s (x:to(\"%s\") converts)")
      :format(name, dtype, x.dtype, dtype), 0)
  end
  if info.shape and #info.shape ~= x.ndim then
    error(("onnx.run: input '%s': %d dims expected (%s), got a tensor of %s")
      :format(name, #info.shape, table.concat(info.shape, " x "),
        numbers.text(x.shape)), 0)
  end
  return x
end

-- slot -> value, and whether initializers are replaced.
local function given_inputs(plan, main, inputs)
  local out, known, whole = {}, {}, false
  local function convert(name)
    for _, input in ipairs(main.inputs) do
      if input.info.name == name then return input end
    end
  end
  for _, input in ipairs(plan.inputs) do
    known[input.name] = true
    local x = inputs[input.name]
    if x ~= nil then
      out[input.slot] = checked(input.info, x)
    elseif input.needed and not (input.info.dtype or ""):find("^optional") then
      error(("onnx.run: input '%s' is missing (%s)"):format(input.name,
        summary.type_text(input.info)), 0)
    end
  end
  for name, x in pairs(inputs) do
    if not known[name] then
      local value = main.scope[name]
      if not (value and value.overridable) or convert(name) then
        error(("onnx.run: there is no input '%s'; the model has %s")
          :format(numbers.text(name), names_of(plan.inputs)), 0)
      end
      out[value.slot] = x
      whole = true
    end
  end
  return out, whole
end

local function plan_for(model, main, mode, names)
  local key = mode .. "\0" .. (names and table.concat(names, "\0") or "")
  local plans = rawget(model, "plans") or main.plans
  local plan = plans[key]
  if plan then return plan end
  local wanted = {}
  if names then
    wanted = wanted_of(model.plan, names, "onnx.run")
  else
    for k, output in ipairs(main.outputs) do wanted[k] = output.value end
  end
  plan = graph.plan(main, mode, wanted, rawget(model, "swaps"))
  plans[key] = plan
  return plan
end

-- Do programs run it? Not where gradients are recorded.
local function by_programs(model, mode, given)
  if rawget(model, "plain") or mode == "whole"
    or model.training and model.given or la._recording() then return false end
  if not la.is_grad_enabled() then return true end
  if mode == "live" then return false end
  for _, x in pairs(given) do
    if is_tensor(x) and x.requires_grad then return false end
  end
  return true
end

-- In a program that somebody records, weights that can change are its objects:
-- nothing is computed from them ahead.
local function mode_of(model)
  local note = la._recording()
  if note then
    note("module", model)
    if rawget(model, "given") then return "live" end
  end
  return is_live(model) and "live" or "frozen"
end

-- Where one program is the whole model, later calls come to it directly.
local function shorten(model, cache, plan, new_state)
  rawset(model, "quick", nil)
  local part = cache.parts[plan] and parts.whole(cache.parts[plan], function()
    local state = new_state(true)
    return {v = run.frame(state), state = state, fixed = cache.fixed}
  end)
  if not part or rawget(model, "given") then return end
  local inputs, by_slot, outputs = {}, {}, {}
  for _, input in ipairs(plan.inputs) do by_slot[input.slot] = input.info end
  for k, slot in ipairs(part.ins) do
    local info = by_slot[slot]
    if not info or not info.dtype or not info.shape then return end
    inputs[k] = {name = info.name, ndim = #info.shape,
      dtype = rows.unpacked[info.dtype] or info.dtype}
  end
  for k, slot in ipairs(part.outs) do
    if slot ~= plan.outputs[k] then return end
    outputs[k] = model.plan.graph.outputs[k].info.name
  end
  if #inputs == #plan.inputs and #outputs == #plan.outputs then
    rawset(model, "quick", {inputs = inputs, part = part, given = {},
      outputs = outputs})
  end
end

local function execute(model, inputs, names)
  local compiled = plan_of(model)
  local main, mode = compiled.graph, mode_of(model)
  local cache = cache_of(model, mode)
  local plan = plan_for(model, main, mode, names)
  local given, whole = given_inputs(plan, main, inputs)
  if whole then
    mode = "whole"
    plan = plan_for(model, main, mode, names)
  end
  local function new_state(programs)
    return {model = model, plan = compiled, mode = mode,
      constants = cache.constants, computed = cache.computed,
      held = setmetatable({}, {__index = cache.fixed}),
      training = model.training, kit = cache.kit,
      parts = programs and cache.parts or nil,
      fix = function(x)
        if is_tensor(x) then cache.fixed[x] = 1 << 40 end
      end}
  end
  local programs = by_programs(model, mode, given)
  local out = run.main(new_state(programs), plan, given)
  if programs and not names then shorten(model, cache, plan, new_state) end
  return out
end

-- The results of the only program of a model, in order; nothing where the long
-- way has to be taken: other inputs than usual, weights that were asked for, a
-- recording around it.
local function finish(ok, ...)
  if ok then return ... end
end
local function by_quick(model, quick, inputs)
  local list, n, part = quick.inputs, 0, quick.part
  local grad = la.is_grad_enabled()
  for k = 1, #list do
    local info = list[k]
    local x = inputs[info.name]
    if not is_tensor(x) or x.dtype ~= info.dtype or x.ndim ~= info.ndim
      or grad and x.requires_grad then return nil end
    n = n + 1
    quick.given[k] = x
  end
  for _ in pairs(inputs) do n = n - 1 end
  if n ~= 0 or rawget(model, "given") or la._recording()
    or not parts.is_ready(part) then return nil end
  return finish(pcall(part.step, unpack(quick.given, 1, #list)))
end

-- Inputs in order as a table by name.
local function by_name(infos, given)
  if given.n > #infos then
    error(("onnx.run: %d inputs given, the model has %d: %s"):format(given.n,
      #infos, names_of(infos)), 0)
  end
  local inputs = {}
  for k = 1, given.n do inputs[infos[k].name] = given[k] end
  return inputs
end

local function infos_of(model)
  return model.chosen and model:inputs() or model.plan.infos
end

local function is_plain(x) return type(x) == "table" and not is_tensor(x) end

-- The names that the options of run want; nil for all results.
local function outputs_of(options)
  for key in pairs(options) do
    if key ~= "outputs" then
      error(("onnx.run: unknown keyword '%s' (known: outputs)"):format(
        numbers.text(key)), 0)
    end
  end
  local names = options.outputs
  if names ~= nil and not is_plain(names) then
    error("onnx.run: outputs: list of names expected, got "
      .. (is_tensor(names) and "tensor" or type(names)), 0)
  end
  return names
end

-- The inputs by name and the names of wanted results of a call of run. Its
-- first table may have the option, unless the graph has a value of that name.
local function run_arguments(model, first, ...)
  local more, options = table.pack(...), {}
  if is_plain(more[more.n]) and more[more.n][1] == nil then
    options, more.n = more[more.n], more.n - 1
  end
  if is_plain(first) and first.outputs ~= nil
    and not model.plan.graph.scope.outputs then
    local inputs = {}
    for name, x in pairs(first) do inputs[name] = x end
    options = {outputs = options.outputs or first.outputs}
    first, inputs.outputs = inputs, nil
  end
  local names = outputs_of(options)
  if is_plain(first) and first[1] == nil then
    if more.n == 0 then return first, names end
    error("onnx.run: inputs by name come in one table", 0)
  end
  local given = is_plain(first) and type(first[1]) ~= "string"
    and table.pack(unpack(first)) or {n = 1, first}
  for k = 1, more.n do given[given.n + k] = more[k] end
  given.n = given.n + more.n
  return by_name(infos_of(model), given), names
end

-- m:run({name = tensor, ...}[, {outputs = {names}}]) -> {name = tensor, ...};
-- inputs may come in order, and outputs in the first table.
function Model:run(...)
  local inputs, names = run_arguments(self, ...)
  names = names or self.chosen
  local out = {}
  local quick = not names and rawget(self, "quick")
  if quick then
    local list = {by_quick(self, quick, inputs)}
    if list[1] ~= nil then
      for k, name in ipairs(quick.outputs) do out[name] = list[k] end
      return out
    end
  end
  local list = execute(self, inputs, names)
  if names then
    for k, name in ipairs(names) do out[name] = list[k] end
  else
    for k, output in ipairs(self.plan.graph.outputs) do
      out[output.info.name] = list[k]
    end
  end
  return out
end

-- m(x, ...): inputs in order, results in order; m{name = tensor} as run.
function Model:forward(first, ...)
  local infos = infos_of(self)
  if type(first) == "table" and not is_tensor(first) and select("#", ...) == 0
    and infos[1] and first[infos[1].name] ~= nil then
    return self:run(first)
  end
  local inputs = by_name(infos, table.pack(first, ...))
  local quick = not self.chosen and rawget(self, "quick")
  if quick then
    local list = {by_quick(self, quick, inputs)}
    if list[1] ~= nil then return unpack(list, 1, #quick.outputs) end
  end
  local list = execute(self, inputs, self.chosen)
  local n = self.chosen and #self.chosen or #self.plan.graph.outputs
  return table.unpack(list, 1, n)
end

-- A model that shares the weights, with other functions for some steps. plain:
-- they see every call.
function Model:_swapped(swaps, plain)
  local part = nn._new(Model)
  for _, key in ipairs{"plan", "data", "weights", "named", "frozen", "proto",
    "path", "chosen"} do
    rawset(part, key, rawget(self, key))
  end
  rawset(part, "training", false)
  rawset(part, "data", table.move(self.data, 1, #self.data, 1, {}))
  rawset(part, "swaps", swaps)
  rawset(part, "plans", {})
  rawset(part, "plain", plain)
  if rawget(self, "given") then
    rawset(part, "given", true)
    local from = rawget(self, STATE)
    for _, w in ipairs(self.weights) do
      register(part, w.name, from.values[w.name], from.kinds[w.name])
    end
  else
    defer_weights(part)
  end
  return part
end

-- Names of inputs and outputs in order, and weights by name as they are used
-- now: for programs of the model.
function Model:_names()
  local all = {input = {}, output = {}, weight = {}}
  for k, info in ipairs(self:inputs()) do all.input[k] = info.name end
  for k, info in ipairs(self:outputs()) do all.output[k] = info.name end
  local cache = cache_of(self, mode_of(self))
  for index, value in ipairs(self.plan.constants) do
    local x = cache.constants[index]
    if is_tensor(x) and value.name ~= "" then all.weight[value.name] = x end
  end
  for _, w in ipairs(self.weights) do
    all.weight[w.value.name] = nil
    all.weight[w.name] = cache.constants[w.index] or nil
  end
  return all
end

-- m:compile({name = sizes}[, options]): the plan for these sizes, made now.
function Model:compile(sizes, options)
  return require("lunarray.onnx.ahead").compile(self, sizes, options)
end

-- m:program(x, ...), m:program({name = tensor or sizes}[, options]).
function Model:program(...)
  return require("lunarray.onnx.ahead").program(self, ...)
end

-- ---- questions ----

local function copy_infos(list)
  local out = {}
  for k, entry in ipairs(list) do
    local info = entry.info
    out[k] = setmetatable({name = info.name, dtype = info.dtype,
      shape = info.shape and table.move(info.shape, 1, #info.shape, 1, {})},
      getmetatable(info))
  end
  return out
end

-- Those that the chosen results need, of a part that was cut.
function Model:inputs()
  local main = self.plan.graph
  if not self.chosen then return copy_infos(main.inputs) end
  local plan, list = plan_for(self, main, "whole", self.chosen), {}
  for _, input in ipairs(main.inputs) do
    if plan.need[input.value] then list[#list + 1] = input end
  end
  return copy_infos(list)
end

function Model:outputs()
  local main = self.plan.graph
  if not self.chosen then return copy_infos(main.outputs) end
  local list = {}
  for k, name in ipairs(self.chosen) do
    list[k] = {info = setmetatable({name = name, dtype = nil}, {})}
    for _, output in ipairs(main.outputs) do
      if output.info.name == name then list[k] = output end
    end
  end
  return copy_infos(list)
end

-- The steps that lead to the chosen results, of a part that was cut.
function Model:_chosen_steps()
  return plan_for(self, self.plan.graph, "whole", self.chosen).steps
end

-- summary() or summary{input = {1, 3, 320, 320}}
function Model:summary(sizes)
  return summary.of(self, sizes, execute)
end

-- ---- training ----

-- Parameters whose names match the pattern (all without one) want no gradient.
function Model:freeze(pattern)
  give_weights(self)
  for name, p in self:named_parameters() do
    if not pattern or name:find(pattern) then p:requires_grad_(false) end
  end
  return self
end

function Model:clone()
  give_weights(self)
  return nn.Module.clone(self)
end

-- The part before a value of the graph, as a module that shares the weights.
function Model:cut(name)
  if type(name) ~= "string" then
    error("bad argument #1 to 'cut' (name of a value expected, got "
      .. type(name) .. ")", 2)
  end
  wanted_of(self.plan, {name}, "onnx.cut")
  give_weights(self)
  local part = nn._new(Model)
  for _, key in ipairs{"plan", "data", "weights", "named", "frozen", "proto",
    "path"} do
    rawset(part, key, rawget(self, key))
  end
  rawset(part, "training", self.training)
  rawset(part, "given", true)
  rawset(part, "chosen", {name})
  local need = plan_for(part, part.plan.graph, "whole", {name}).need
  local values, kinds = rawget(self, STATE).values, rawget(self, STATE).kinds
  local own = {}
  for _, w in ipairs(self.weights) do
    local state = rawget(part, STATE)
    if need[w.value] or w.value.graph ~= part.plan.graph then
      own[#own + 1] = w
      register(part, w.name, values[w.name], kinds[w.name])
      assert(state)
    end
  end
  rawset(part, "weights", own)
  return part
end

function Model:extra_repr()
  local list = {}
  for _, info in ipairs(self:inputs()) do
    list[#list + 1] = info.name .. " " .. summary.type_text(info)
  end
  return table.concat(list, ", ")
end

-- ---- making ----

local model = {}

function model.new(proto, options)
  local self = nn._new(Model)
  rawset(self, "training", false)
  rawset(self, "frozen", options.freeze == true)
  local plan = install(self, graph.compile(proto))
  if #plan.problems > 0 then rawset(self, "proto", proto) end
  defer_weights(self)
  return self
end

return model
