-- lunarray.nn.module: classes and the base of all modules. A module is a plain
-- table; parameters and submodules are found when they are assigned to fields,
-- in the order of first assignment.
local la = require "lunarray"
local dialect = require "lunarray.dialect"
local numbers = require "lunarray.numbers"
local positions = require "lunarray.positions"

local nn = {}

-- What a module keeps under its own key; all other fields are the user's. The
-- key and the set of parameters outlive a reload of this file, so that modules
-- made before are modules after it.
local STATE = "_registered"      -- key of the record {names, kinds, values}
nn._STATE = STATE

local KEPT = "lunarray.nn.parameters"
local kept = package and package.loaded or {}         -- none in a sandbox
local parameters = kept[KEPT]                         -- Parameter tensors
if not parameters then
  parameters = setmetatable({}, {__mode = "k"})
  kept[KEPT] = parameters
end

local is_tensor = require "lunarray.tensors".is_tensor
local user_level = require "lunarray.tensors".user_level
nn._is_tensor = is_tensor

-- A tensor as a parameter: a leaf that wants a gradient.
function nn.Parameter(t, requires_grad)
  if not is_tensor(t) then
    error("bad argument #1 to 'Parameter' (tensor expected, got "
      .. type(t) .. ")", 2)
  end
  t = t:detach()
  if requires_grad ~= false then t:requires_grad_(true) end
  parameters[t] = true
  return t
end

function nn.is_parameter(value)
  return is_tensor(value) and parameters[value] == true
end

local Module = {}
nn.Module = Module

function nn.is_module(value)
  return type(value) == "table" and rawget(value, STATE) ~= nil
end

local function kind_of(value)
  if nn.is_module(value) then return "module" end
  if nn.is_parameter(value) then return "parameter" end
end

local function register(state, name, value, kind)
  if not state.kinds[name] then state.names[#state.names + 1] = name end
  state.kinds[name] = kind
  state.values[name] = value
end

-- Assignment to a field. Registered names stay registered, so that a parameter
-- can be replaced; nil leaves the name registered without a value.
local function assign(self, name, value)
  local state = self[STATE]
  local kind = kind_of(value)
  local known = state.kinds[name]
  if known == nil and kind == nil then return rawset(self, name, value) end
  if known == "parameter" and kind == nil and is_tensor(value) then
    error("field '" .. numbers.text(name) .. "' is a parameter: assign "
      .. "nn.Parameter(tensor) or nil", 2)
  end
  if known == "buffer" and kind == nil then kind = "buffer" end
  if kind == nil and value ~= nil then
    state.values[name] = nil
    return rawset(self, name, value)
  end
  register(state, name, value, kind or known)
end

-- While a program is recorded (la.compile): notes what a module holds that is
-- asked for anything, so that a later call sees that it holds something else.
local note
la._recording(function(f) note = f end)

-- Every object has the field STATE: it is read without a call of rawget.
local function lookup(class)
  return function(self, name)
    if note then note("module", self) end
    local value = self[STATE].values[name]
    if value ~= nil then return value end
    return class[name]
  end
end

local function call(self, ...)
  local state = self[STATE]
  if not state.hooks then return self:forward(...) end
  for _, hook in ipairs(state.pre_hooks or {}) do hook(self, ...) end
  local results = dialect.pack(self:forward(...))
  for _, hook in ipairs(state.hooks) do
    local other = hook(self, results[1], ...)
    if other ~= nil then results = dialect.pack(other) end
  end
  return dialect.unpack(results, 1, results.n)
end

-- nn.class "Net" or nn.class("Net", Base): a class; its call makes an object
-- and runs init(...). Naming a class again (its code is reloaded) makes a new
-- one; objects of the old one keep working.
function nn.class(name, base)
  base = base or Module
  local class = {__name = name, _name = name, super = base}
  class._meta = {
    __index = lookup(class), __newindex = assign, __call = call,
    __tostring = function(self) return self:tostring() end,
    __name = name,
  }
  if base._meta then
    class._meta.__len = base._meta.__len
    class._meta.__pairs = base._meta.__pairs
  end
  return setmetatable(class, {
    __index = base,
    __call = function(self, ...)
      local object = nn._new(self)
      if self.init then self.init(object, ...) end
      return object
    end,
    __tostring = function() return "nn.class " .. name end,
  })
end

-- An object without its init run.
function nn._new(class)
  local object = {training = true}
  object[STATE] = {names = {}, kinds = {}, values = {}}
  return setmetatable(object, class._meta)
end

-- An object of another class (or of the same, loaded again) gets this class's
-- methods; its fields, parameters and children stay.
function Module.adopt(class, object)
  if not nn.is_module(object) then
    error("adopt: module expected, got " .. type(object), 2)
  end
  return setmetatable(object, class._meta)
end

-- A module of the same class and shape with copies of all tensors. Tensors and
-- modules that are registered several times are copied once; objects whose
-- metatable is locked (shapes, functions of la.Function) are shared.
function Module:clone()
  local done = {}
  local function copy(value)
    if done[value] then return done[value] end
    if is_tensor(value) then
      local t = value:detach():clone()
      if parameters[value] then t = nn.Parameter(t, value.requires_grad) end
      done[value] = t
      return t
    end
    local meta = type(value) == "table" and getmetatable(value)
    if type(value) ~= "table" or meta and type(meta) ~= "table" then
      return value
    end
    local out = {}
    done[value] = out
    for key, part in next, value do rawset(out, key, copy(part)) end
    return setmetatable(out, meta)
  end
  return copy(self)
end

-- ---- walking ----

-- name, value, kind of the registered fields, in order.
local function fields(self)
  local state, k = rawget(self, STATE), 0
  return function()
    while true do
      k = k + 1
      local name = state.names[k]
      if name == nil then return nil end
      local value = state.values[name]
      if value ~= nil then return name, value, state.kinds[name] end
    end
  end
end
nn._fields = fields

-- Every module under self, parents first, each once: list of {prefix, module}.
local function walk(self)
  local list, seen = {}, {}
  local function visit(module, prefix)
    if seen[module] then return end
    seen[module] = true
    list[#list + 1] = {prefix, module}
    for name, value, kind in fields(module) do
      if kind == "module" then
        local path = prefix == "" and numbers.text(name)
          or prefix .. "." .. numbers.text(name)
        visit(value, path)
      end
    end
  end
  visit(self, "")
  return list
end

-- {name, tensor, module, field} of every tensor of a kind, fields and what is
-- under them in order; shared ones once when 'once' is set.
local function tensors(self, wanted, once)
  local list, seen = {}, {}
  local function visit(module, prefix)
    if seen[module] then return end
    seen[module] = true
    for name, value, kind in fields(module) do
      if kind == "module" then
        visit(value, prefix .. name .. ".")
      elseif wanted[kind] and not (once and seen[value]) then
        seen[value] = true
        list[#list + 1] = {prefix .. name, value, module, name}
      end
    end
    if not once then seen[module] = nil end
  end
  visit(self, "")
  return list
end

local function each(list)
  local k = 0
  return function()
    k = k + 1
    local entry = list[k]
    if entry then return entry[1], entry[2] end
  end
end

local function seconds(list)
  local out = {}
  for k, entry in ipairs(list) do out[k] = entry[2] end
  return out
end

local PARAMETERS, BUFFERS = {parameter = true}, {buffer = true}
local STORED = {parameter = true, buffer = true}

function Module:parameters() return seconds(tensors(self, PARAMETERS, true)) end
function Module:named_parameters()
  return each(tensors(self, PARAMETERS, true))
end
function Module:buffers() return seconds(tensors(self, BUFFERS, true)) end
function Module:named_buffers() return each(tensors(self, BUFFERS, true)) end
function Module:modules() return seconds(walk(self)) end
function Module:named_modules() return each(walk(self)) end

function Module:named_children()
  local list = {}
  for name, value, kind in fields(self) do
    if kind == "module" then list[#list + 1] = {name, value} end
  end
  return each(list)
end

function Module:children()
  local list = {}
  for _, value in self:named_children() do list[#list + 1] = value end
  return list
end

-- ---- registration by name ----

function Module:register_buffer(name, tensor)
  register(rawget(self, STATE), name, tensor, "buffer")
end
function Module:register_parameter(name, tensor)
  register(rawget(self, STATE), name, tensor, "parameter")
end
function Module:add_module(name, module)
  register(rawget(self, STATE), name, module, "module")
end

local function add_hook(self, list, hook)
  local state = rawget(self, STATE)
  state.hooks = state.hooks or {}
  state[list] = state[list] or {}
  table.insert(state[list], hook)
  return {remove = function()
    for k, other in ipairs(state[list]) do
      if other == hook then return table.remove(state[list], k) end
    end
  end}
end

-- hook(module, result, inputs...) after forward; what it returns replaces the
-- result. hook(module, inputs...) before forward.
function Module:register_forward_hook(hook)
  return add_hook(self, "hooks", hook)
end
function Module:register_forward_pre_hook(hook)
  return add_hook(self, "pre_hooks", hook)
end

-- ---- modes and conversions ----

function Module:train(on)
  for _, module in ipairs(self:modules()) do
    rawset(module, "training", on ~= false)
  end
  return self
end

function Module:eval() return self:train(false) end

function Module:requires_grad_(on)
  for _, p in ipairs(self:parameters()) do p:requires_grad_(on ~= false) end
  return self
end

function Module:zero_grad()
  for _, p in ipairs(self:parameters()) do p.grad = nil end
  return self
end

-- f(module) on every module, children first.
function Module:apply(f)
  local list = walk(self)
  for k = #list, 1, -1 do f(list[k][2]) end
  return self
end

-- Every floating-point parameter and buffer as dtype (or moved to a device).
-- The new ones outlive the la.tidy around, as the module does.
function Module:to(target)
  local done = {}
  for _, entry in ipairs(tensors(self, STORED, false)) do
    local old, module, field = entry[2], entry[3], entry[4]
    local value = done[old]
    if not value then
      value = old
      local dtype = la[target] == target
      if not dtype or old:is_floating_point() or old:is_complex() then
        value = la.no_grad(function() return old:detach():to(target) end)
      end
      if parameters[old] then
        value = nn.Parameter(value, old.requires_grad)
      end
      if not rawequal(value, old) then la.keep(value) end
      done[old] = value
    end
    rawget(module, STATE).values[field] = value
  end
  return self
end

function Module:double() return self:to("float64") end
function Module:float() return self:to("float32") end

-- ---- state ----

-- A flat table of tensors by name; they share memory with the module's.
function Module:state_dict()
  local state = {}
  for _, entry in ipairs(tensors(self, STORED, false)) do
    state[entry[1]] = entry[2]:detach()
  end
  return state
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = numbers.text(key) end
  table.sort(keys)
  return keys
end

local function same_shape(a, b)
  return a.shape == b.shape
end

-- Names in one table and not in the other, and sizes that differ.
local function mismatches(entries, state)
  local missing, unexpected, wrong, known = {}, {}, {}, {}
  for _, entry in ipairs(entries) do
    local name, own = entry[1], entry[2]
    known[name] = true
    local given = state[name]
    if given == nil then
      missing[#missing + 1] = name
    elseif not same_shape(own, given) then
      wrong[#wrong + 1] = string.format("size mismatch for %s: %s in the "
        .. "state, %s in the module", name, numbers.text(given.shape),
        numbers.text(own.shape))
    end
  end
  for _, name in ipairs(sorted_keys(state)) do
    if not known[name] then unexpected[#unexpected + 1] = name end
  end
  return missing, unexpected, wrong
end

-- Copies the tensors of a state_dict in. strict = false allows missing and
-- unexpected names, which are returned. Nothing changes on an error.
function Module:load_state_dict(state, options)
  local strict = not options or options.strict ~= false
  local entries = tensors(self, STORED, false)
  local missing, unexpected, wrong = mismatches(entries, state)
  local lines = {dialect.unpack(wrong)}
  if strict and #missing > 0 then
    lines[#lines + 1] = "missing: " .. table.concat(missing, ", ")
  end
  if strict and #unexpected > 0 then
    lines[#lines + 1] = "unexpected: " .. table.concat(unexpected, ", ")
  end
  if #lines > 0 then
    error("load_state_dict of " .. self._name .. ": "
      .. table.concat(lines, "; "), 2)
  end
  la.no_grad(function()
    for _, entry in ipairs(entries) do
      local given = state[entry[1]]
      if given ~= nil then entry[2]:copy_(given) end
    end
  end)
  return missing, unexpected
end

-- ---- text ----

-- 62,826
function nn._with_commas(n)
  local text = numbers.text(n):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (text:gsub("^,", ""))
end

function nn._bytes_text(n)
  local units, k = {"bytes", "KB", "MB", "GB", "TB"}, 1
  while n >= 999.5 and k < #units do n, k = n / 1000, k + 1 end
  return numbers.format(k == 1 and "%d %s" or "%.3g %s", n, units[k])
end

-- What stands between the parentheses, in front of the children: of classes
-- that do not say, their own parameters with their shapes.
function Module:extra_repr()
  local parts = {}
  for name, value, kind in fields(self) do
    if kind == "parameter" then
      parts[#parts + 1] = ("%s %s"):format(name, numbers.text(value.shape))
    end
  end
  return table.concat(parts, ", ")
end

-- " -- 62,826 parameters, 251 KB", or nothing without any.
local function counts(self)
  local n, bytes = 0, 0
  for _, p in ipairs(self:parameters()) do
    n, bytes = n + p:numel(), bytes + p:nbytes()
  end
  if n == 0 then return "" end
  return (" -- %s parameters, %s"):format(nn._with_commas(n),
    nn._bytes_text(bytes))
end

function Module:tostring()
  local lines = {}
  for name, child in self:named_children() do
    local text = numbers.text(child):gsub("\n", "\n  ")
    lines[#lines + 1] = string.format("  (%s): %s", name, text)
  end
  local extra = self:extra_repr()
  if #lines == 0 then return self._name .. "(" .. extra .. ")" end
  if extra ~= "" then table.insert(lines, 1, "  " .. extra) end
  return self._name .. "(\n" .. table.concat(lines, "\n") .. "\n)"
    .. counts(self)
end

function Module:forward()
  error("module '" .. self._name .. "' has no forward: define "
    .. self._name .. ":forward(...)", 3)
end

-- Positional arguments and a trailing table of options as one table: names
-- in order, defaults by name. An unknown option is an error with the known.
function nn._options(what, names, defaults, ...)
  local out = positions.read(what, names, positions.set(names), names, ...)
  for _, name in ipairs(names) do
    if out[name] == nil then out[name] = defaults[name] end
    if out[name] == nil and defaults[name] == nil
      and defaults["!" .. name] then
      error(what .. ": " .. name .. " is needed", user_level())
    end
    local kind = type(out[name])
    if defaults["!" .. name] and (kind == "string" or kind == "boolean") then
      error(("%s: %s: number expected, got %s"):format(what, name, kind),
        user_level())
    end
  end
  return out
end

return nn
