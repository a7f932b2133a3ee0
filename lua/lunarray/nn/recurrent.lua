-- lunarray.nn.recurrent: RNN, LSTM and GRU over sequences, and their cells.
-- Parameter names and the order of gates are PyTorch's.
local la = require "lunarray"
local dialect = require "lunarray.dialect"
local nn = require "lunarray.nn.module"
local init = require "lunarray.nn.initial"
local numbers = require "lunarray.numbers"

local linear = la.linear

-- gates: blocks of rows in the weights; cell: there is a cell state c as well
-- as h.
local kinds = {
  RNN = {gates = 1, step = la.rnn_cell},
  LSTM = {gates = 4, step = la.lstm_cell, cell = true},
  GRU = {gates = 3, step = la.gru_cell},
}

-- What la.recurrent_layer calls the kind.
local function kind_word(kind, nonlinearity)
  if kind ~= "RNN" then return kind:lower() end
  if nonlinearity == "relu" or nonlinearity == "tanh" then
    return nonlinearity
  end
  error("RNN: nonlinearity 'tanh' or 'relu' expected, got '"
    .. numbers.text(nonlinearity) .. "'", 4)
end

-- The arguments of a kind: only RNN has a choice of nonlinearities.
local function names_of(kind, list)
  if kind == "RNN" then return list end
  local out = {}
  for _, name in ipairs(list) do
    if name ~= "nonlinearity" then out[#out + 1] = name end
  end
  return out
end

-- ---- layers ----

local names = {"input_size", "hidden_size", "num_layers", "bias",
  "batch_first", "dropout", "bidirectional", "nonlinearity", "dtype"}

local function suffix(layer, backward)
  return "_l" .. (layer - 1) .. (backward and "_reverse" or "")
end

local function add_weights(self, tail, n_in, rows, o)
  local function new(...) return nn.Parameter(la.empty({...},
    {dtype = o.dtype})) end
  self["weight_ih" .. tail] = new(rows, n_in)
  self["weight_hh" .. tail] = new(rows, o.hidden_size)
  if o.bias then
    self["bias_ih" .. tail] = new(rows)
    self["bias_hh" .. tail] = new(rows)
  end
end

local function init_recurrent(self, kind, ...)
  local o = nn._options(kind, names_of(kind, names), {num_layers = 1,
    bias = true, batch_first = false, dropout = 0, bidirectional = false,
    nonlinearity = "tanh", ["!input_size"] = true, ["!hidden_size"] = true},
    ...)
  for _, key in ipairs(names) do
    if key ~= "bias" then rawset(self, key, o[key]) end
  end
  rawset(self, "word", kind_word(kind, o.nonlinearity))
  rawset(self, "directions", o.bidirectional and 2 or 1)
  local rows, n_in = kinds[kind].gates * o.hidden_size, o.input_size
  for layer = 1, o.num_layers do
    for d = 1, self.directions do
      add_weights(self, suffix(layer, d == 2), n_in, rows, o)
    end
    n_in = o.hidden_size * self.directions
  end
  self:reset_parameters()
end

-- One direction of one layer over x (time, batch, features): the outputs and
-- the last states.
local function run_layer(self, x, h, c, layer, backward)
  local tail = suffix(layer, backward)
  local gates = linear(x, self["weight_ih" .. tail], self["bias_ih" .. tail])
  local out, cells = la.recurrent_layer(gates, self["weight_hh" .. tail],
    self["bias_hh" .. tail], h, c, self.word, backward)
  local last = backward and 1 or -1
  return out, out[last], c and cells[last]
end

local function run_layers(self, x, h0, c0)
  local hs, cs, directions = {}, {}, self.directions
  for layer = 1, self.num_layers do
    local parts = {}
    for d = 1, directions do
      local k = (layer - 1) * directions + d
      parts[d], hs[k], cs[k] = run_layer(self, x, h0[k], c0 and c0[k], layer,
        d == 2)
    end
    x = directions == 2 and la.cat(parts, 3) or parts[1]
    if self.dropout > 0 and self.training and layer < self.num_layers then
      x = la.dropout(x, self.dropout, true)
    end
  end
  return x, la.stack(hs, 1), c0 and la.stack(cs, 1)
end

local function check_input(self, x, kind)
  if x.ndim ~= 2 and x.ndim ~= 3 then
    error(kind .. ": a sequence of 2 or 3 dims expected, got " .. x.ndim, 3)
  end
  if x:size(-1) ~= self.input_size then
    error(string.format("%s: input_size is %d, but the last dim has %d", kind,
      self.input_size, x:size(-1)), 3)
  end
  if x:size((x.ndim == 3 and self.batch_first) and 2 or 1) == 0 then
    error(kind .. ": a sequence of at least one step expected", 3)
  end
end

-- x: (time, batch, features), (batch, time, features) with batch_first, or
-- (time, features). States: (layers * directions, batch, hidden).
local function forward(self, kind, x, h, c)
  check_input(self, x, kind)
  local single, batch_first = x.ndim == 2, x.ndim == 3 and self.batch_first
  if single then
    x, h, c = x:unsqueeze(2), h and h:unsqueeze(2), c and c:unsqueeze(2)
  elseif batch_first then
    x = x:transpose(1, 2)
  end
  local shape = {self.num_layers * self.directions, x:size(2),
    self.hidden_size}
  h = h or x:new_zeros(shape)
  if kinds[kind].cell then c = c or x:new_zeros(shape) end
  local out
  out, h, c = run_layers(self, x, h, c)
  if single then
    out, h, c = out:squeeze(2), h:squeeze(2), c and c:squeeze(2)
  elseif batch_first then
    out = out:transpose(1, 2)
  end
  return out, h, c
end

local function reset(self)
  local bound = 1 / math.sqrt(self.hidden_size)
  for _, p in ipairs(self:parameters()) do init.uniform_(p, -bound, bound) end
end

for _, kind in ipairs{"RNN", "LSTM", "GRU"} do
  local Class = nn.class(kind)
  nn[kind] = Class
  function Class:init(...) init_recurrent(self, kind, ...) end
  Class.reset_parameters = reset
  if kinds[kind].cell then
    function Class:forward(x, h, c) return forward(self, kind, x, h, c) end
  else
    function Class:forward(x, h)
      local out, last = forward(self, kind, x, h)
      return out, last
    end
  end
  function Class:extra_repr()
    return self.input_size .. ", " .. self.hidden_size .. ", num_layers="
      .. self.num_layers
  end
end

-- ---- cells: one step with parameters of its own ----

local cell_names = {"input_size", "hidden_size", "bias", "nonlinearity",
  "dtype"}

for _, kind in ipairs{"RNN", "LSTM", "GRU"} do
  local Cell = nn.class(kind .. "Cell")
  nn[kind .. "Cell"] = Cell
  function Cell:init(...)
    local o = nn._options(kind .. "Cell", names_of(kind, cell_names),
      {bias = true, nonlinearity = "tanh", ["!input_size"] = true,
      ["!hidden_size"] = true}, ...)
    rawset(self, "input_size", o.input_size)
    rawset(self, "hidden_size", o.hidden_size)
    rawset(self, "word", kind_word(kind, o.nonlinearity))
    add_weights(self, "", o.input_size, kinds[kind].gates * o.hidden_size, o)
    self:reset_parameters()
  end
  Cell.reset_parameters = reset
  local step = kinds[kind].step
  function Cell:forward(x, h, c)
    local shape = {dialect.unpack(x.shape)}
    shape[#shape] = self.hidden_size
    h = h or x:new_zeros(shape)
    if kinds[kind].cell then
      return step(x, h, c or x:new_zeros(shape), self.weight_ih, self.weight_hh,
        self.bias_ih, self.bias_hh)
    end
    if kind == "RNN" then
      return step(x, h, self.weight_ih, self.weight_hh, self.bias_ih,
        self.bias_hh, self.word)
    end
    return step(x, h, self.weight_ih, self.weight_hh, self.bias_ih,
      self.bias_hh)
  end
  function Cell:extra_repr()
    return self.input_size .. ", " .. self.hidden_size
  end
end

return nn
