-- lunarray.nn.summary: what a net is made of, and what comes out of each part.
--
-- Shapes come from a run of a copy on the meta device: no value is computed,
-- and the net, its buffers, modes and hooks stay as they are. Where a forward
-- needs values (x:item(), a tensor that it makes on the CPU) a copy runs on
-- zeros.
local la = require "lunarray"
local dialect = require "lunarray.dialect"
local nn = require "lunarray.nn.module"
local numbers = require "lunarray.numbers"
local is_tensor = require "lunarray.tensors".is_tensor

local STATE = nn._STATE

-- ---- a copy that notes what comes out ----

-- A module of its own with 'convert'ed tensors, without hooks. origin: copy ->
-- module, for what is one. Tables of Lua's modules stay themselves, as do
-- objects whose metatable is locked.
local function copy_of(net, convert)
  local done, origin = {[_G] = _G}, {}
  for _, loaded in pairs(package and package.loaded or {}) do
    done[loaded] = loaded
  end
  local function copy(value)
    if done[value] then return done[value] end
    if is_tensor(value) then
      done[value] = convert(value)
      return done[value]
    end
    local meta = type(value) == "table" and getmetatable(value)
    if type(value) ~= "table" or meta and type(meta) ~= "table" then
      return value
    end
    local out = {}
    done[value] = out
    for key, part in next, value do rawset(out, key, copy(part)) end
    if nn.is_module(value) then
      out[STATE].hooks, out[STATE].pre_hooks = nil, nil
      origin[out] = value
    end
    return setmetatable(out, meta)
  end
  return copy(net), origin
end

-- The tensors in a list of results, tables in it too.
local function tensors_in(values, n, list)
  for k = 1, n do
    local value = values[k]
    if is_tensor(value) then
      list[#list + 1] = {shape = value.shape, dtype = value.dtype,
        bytes = value:nbytes()}
    elseif type(value) == "table" and not nn.is_module(value) then
      tensors_in(value, #value, list)
    end
  end
  return list
end

-- Runs a copy of the net; module -> {outputs, calls} of what ran.
local function run(net, inputs, convert)
  local shadow, origin = copy_of(net, convert)
  local seen = {}
  for module, of in pairs(origin) do
    local forward = module.forward
    rawset(module, "training", false)
    rawset(module, "forward", function(self, ...)
      local results = dialect.pack(forward(self, ...))
      local note = seen[of] or {calls = 0}
      seen[of] = note
      note.calls = note.calls + 1
      note.outputs = note.outputs or tensors_in(results, results.n, {})
      return dialect.unpack(results, 1, results.n)
    end)
  end
  local list = {}
  for k, input in ipairs(inputs) do list[k] = convert(input) end
  la.no_grad(shadow, dialect.unpack(list))
  return seen
end

-- Random numbers that the forward draws are not drawn for the user.
local function shapes_of(net, inputs)
  local state = la.get_rng_state()
  local ok, seen = pcall(run, net, inputs, function(t)
    return t:detach():to("meta")
  end)
  if not ok then
    ok, seen = pcall(run, net, inputs, function(t)
      if t:is_meta() then return la.zeros(t.shape, {dtype = t.dtype}) end
      return t:detach():clone()
    end)
  end
  la.set_rng_state(state)
  if not ok then
    local shapes = {}
    for k, t in ipairs(inputs) do shapes[k] = numbers.text(t.shape) end
    error(("summary: %s on inputs %s: %s"):format(net._name,
      table.concat(shapes, ", "), numbers.text(seen)), 0)
  end
  return seen
end

-- ---- arguments ----

local KNOWN = {batch = true, dtype = true, dtypes = true}

local function check_options(options)
  for key in pairs(options) do
    if not KNOWN[key] then
      error(("summary: unknown option '%s' (known: batch, dtype, dtypes)")
        :format(numbers.text(key)), 4)
    end
  end
  local batch = options.batch
  if batch ~= nil and batch ~= false
    and (dialect.type(batch) ~= "integer" or batch < 0) then
    error("summary: batch: an integer or false expected, got "
      .. numbers.text(batch), 4)
  end
end

-- The dtype of the net's first floating parameter.
local function dtype_of(net)
  for _, p in ipairs(net:parameters()) do
    if p:is_floating_point() or p:is_complex() then return p.dtype end
  end
  return la.get_default_dtype()
end

-- Inputs on the meta device for a list of sizes, a list of such lists, tensors
-- among them, or one tensor.
local function inputs_of(net, given, options)
  if is_tensor(given) then return {given} end
  if type(given) ~= "table" then
    error("bad argument #2 to 'summary' (sizes, a list of sizes, or tensors "
      .. "expected, got " .. type(given) .. ")", 3)
  end
  local list = given
  if #given == 0 or dialect.type(given[1]) == "integer" then list = {given} end
  local inputs = {}
  for k, sizes in ipairs(list) do
    if is_tensor(sizes) then
      inputs[k] = sizes
    else
      local all = {}
      if options.batch ~= false then all[1] = options.batch or 1 end
      if type(sizes) ~= "table" then
        error(("summary: input %d: sizes expected, got %s"):format(k,
          type(sizes)), 3)
      end
      for _, size in ipairs(sizes) do all[#all + 1] = size end
      inputs[k] = la.zeros(all, {device = "meta", dtype = options.dtypes
        and options.dtypes[k] or options.dtype or dtype_of(net)})
    end
  end
  return inputs
end

-- ---- the summary ----

local Summary = {}
Summary.__index = Summary
Summary.__name = "lunarray.nn.Summary"

-- Numbers of a module's own tensors, each counted where it is met first.
local function count_own(module, counted, row)
  for _, t, kind in nn._fields(module) do
    if kind ~= "module" and is_tensor(t) and not counted[t] then
      counted[t] = true
      if kind == "parameter" then
        row.parameters = row.parameters + t:numel()
        row.bytes = row.bytes + t:nbytes()
        if t.requires_grad then row.trainable = row.trainable + t:numel() end
        row.dtype = row.dtype or t.dtype
      else
        row.buffers = row.buffers + t:numel()
        row.buffer_bytes = row.buffer_bytes + t:nbytes()
      end
    end
  end
end

local TOTALS = {"parameters", "trainable", "bytes", "buffers", "buffer_bytes"}

local function add_rows(self, module, name, depth, counted, seen)
  local again = counted[module]
  counted[module] = true
  local row = {name = name, class = module._name, depth = depth,
    module = module, again = again or nil}
  for _, field in ipairs(TOTALS) do row[field] = 0 end
  self.rows[#self.rows + 1] = row
  if again then return end
  count_own(module, counted, row)
  local note = seen[module]
  row.outputs, row.calls = note and note.outputs or {}, note and note.calls
  if row.outputs[1] then row.dtype = row.outputs[1].dtype end
  for _, field in ipairs(TOTALS) do self[field] = self[field] + row[field] end
  local leaf = true
  for child_name, child in module:named_children() do
    leaf = false
    add_rows(self, child, numbers.text(child_name), depth + 1, counted, seen)
  end
  for _, output in ipairs(leaf and row.outputs or {}) do
    self.output_bytes = self.output_bytes + output.bytes * row.calls
  end
end

-- nn.summary(net[, sizes[, {batch = 1, dtype =, dtypes =}]])
function nn.summary(net, sizes, options)
  if not nn.is_module(net) then
    error("bad argument #1 to 'summary' (module expected, got "
      .. type(net) .. ")", 2)
  end
  options = options or {}
  check_options(options)
  local self = setmetatable({rows = {}, input_bytes = 0, output_bytes = 0},
    Summary)
  for _, field in ipairs(TOTALS) do self[field] = 0 end
  local seen = {}
  if sizes ~= nil then
    local inputs = inputs_of(net, sizes, options)
    for _, t in ipairs(inputs) do
      self.input_bytes = self.input_bytes + t:nbytes()
    end
    seen = shapes_of(net, inputs)
    self.shaped = true
  end
  add_rows(self, net, "", 0, {}, seen)
  return self
end

-- ---- text ----

local with_commas, bytes_text = nn._with_commas, nn._bytes_text

local function cells_of(row, shaped)
  local name = ("  "):rep(row.depth)
    .. (row.name ~= "" and ("(%s) "):format(row.name) or "") .. row.class
  local cells = {name}
  if shaped then
    local shapes = {}
    for k, output in ipairs(row.outputs or {}) do
      shapes[k] = numbers.text(output.shape)
    end
    cells[2] = row.again and "as above" or #shapes > 0
      and table.concat(shapes, " ") or "-"
    if row.calls and row.calls > 1 then
      cells[2] = ("%s x %d"):format(cells[2], row.calls)
    end
  end
  cells[#cells + 1] = row.again and "" or row.dtype or ""
  cells[#cells + 1] = row.parameters > 0 and with_commas(row.parameters) or ""
  return cells
end

local function totals(self)
  local text = ("%s parameters (%s)"):format(with_commas(self.parameters),
    bytes_text(self.bytes))
  if self.trainable ~= self.parameters then
    text = ("%s, %s train"):format(text, with_commas(self.trainable))
  end
  if self.buffers > 0 then
    text = ("%s, buffers %s (%s)"):format(text, with_commas(self.buffers),
      bytes_text(self.buffer_bytes))
  end
  if not self.shaped then return text end
  return ("%s\ninputs %s, outputs of the layers %s"):format(text,
    bytes_text(self.input_bytes), bytes_text(self.output_bytes))
end

function Summary:__tostring()
  local lines, widths = {self.shaped and {"layer", "output", "dtype",
    "parameters"} or {"layer", "dtype", "parameters"}}, {}
  for _, row in ipairs(self.rows) do
    lines[#lines + 1] = cells_of(row, self.shaped)
  end
  for _, cells in ipairs(lines) do
    for k, cell in ipairs(cells) do
      widths[k] = math.max(widths[k] or 0, dialect.characters(cell) or #cell)
    end
  end
  local out = {}
  for i, cells in ipairs(lines) do
    for k, cell in ipairs(cells) do
      local gap = (" "):rep(widths[k] - (dialect.characters(cell) or #cell))
      cells[k] = k == #cells and gap .. cell or cell .. gap
    end
    out[i] = table.concat(cells, "  "):gsub("%s+$", "")
  end
  out[#out + 1] = totals(self)
  return table.concat(out, "\n")
end

return nn
