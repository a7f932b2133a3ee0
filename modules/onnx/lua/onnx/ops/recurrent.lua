-- lunarray.onnx.ops.recurrent: RNN, GRU and LSTM. The usual functions run in
-- la.recurrent_layer; peepholes, clipping, other functions and sequences of
-- several lengths step by step.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("")
local unpack = table.unpack

local recurrent = {}

-- ---- functions of gates ----

local FUNCTIONS = {
  sigmoid = function(x) return x:sigmoid() end,
  tanh = function(x) return x:tanh() end,
  relu = function(x) return x:relu() end,
  affine = function(x, a, b) return x * (a or 1) + (b or 0) end,
  leakyrelu = function(x, a) return la.leaky_relu(x, a or 0.01) end,
  thresholdedrelu = function(x, a) return la.threshold(x, a or 1, 0) end,
  scaledtanh = function(x, a, b) return (x * (b or 1)):tanh() * (a or 1) end,
  hardsigmoid = function(x, a, b)
    return (x * (a or 0.2) + (b or 0.5)):clamp(0, 1)
  end,
  elu = function(x, a) return la.elu(x, a or 1) end,
  softsign = function(x) return la.softsign(x) end,
  softplus = function(x) return la.softplus(x) end,
}

-- Those of one direction, with their constants.
local function functions_of(node, defaults, direction)
  local names = node.attributes.activations
  local alphas = node.attributes.activation_alpha or {}
  local betas = node.attributes.activation_beta or {}
  local out, n = {}, #defaults
  for k = 1, n do
    local at = (direction - 1) * n + k
    local name = (names and (names[at] or names[k]) or defaults[k]):lower()
    local f = FUNCTIONS[name]
    if not f then return nil, name end
    local a, b = alphas[at], betas[at]
    out[k] = function(x) return f(x, a, b) end
  end
  return out
end

local function usual(node, defaults)
  local names = node.attributes.activations
  for k, name in ipairs(names or {}) do
    if name:lower() ~= defaults[(k - 1) % #defaults + 1] then return false end
  end
  return not node.attributes.clip
end

-- ---- kinds ----

-- gates: their number; order: where the library's gates stand in the file's.
local KINDS = {
  RNN = {gates = 1, defaults = {"tanh"}, order = {1}, kind = "tanh"},
  GRU = {gates = 3, defaults = {"sigmoid", "tanh"}, order = {2, 1, 3},
    kind = "gru"},
  LSTM = {gates = 4, defaults = {"sigmoid", "tanh", "tanh"},
    order = {1, 3, 4, 2}, kind = "lstm"},
}

local function clipped(x, limit)
  return limit and x:clamp(-limit, limit) or x
end

-- One step of each kind: the new states of gates (batch, gates * hidden).
local STEPS = {}
function STEPS.RNN(p, xt, h)
  return p.f[1](clipped(xt + h:matmul(p.r:t()), p.clip))
end
function STEPS.GRU(p, xt, h)
  local n = h:size(2)
  local rz, rr, rh = unpack(p.r:split(n, 1))
  local xz, xr, xh = unpack(xt:split(n, 2))
  local z = p.f[1](clipped(xz + h:matmul(rz:t()), p.clip))
  local r = p.f[1](clipped(xr + h:matmul(rr:t()), p.clip))
  local inner
  if p.linear then
    local rest = h:matmul(rh:t())
    if p.rbh then rest = rest + p.rbh end
    inner = xh + r * rest
  else
    inner = xh + (r * h):matmul(rh:t())
    if p.rbh then inner = inner + p.rbh end
  end
  local new = p.f[2](clipped(inner, p.clip))
  return (1 - z) * new + z * h
end

function STEPS.LSTM(p, xt, h, c)
  local n = h:size(2)
  local state = p.multiply and p.multiply(h) or h:matmul(p.r:t())
  local i, o, f, g = unpack((xt + state):split(n, 2))
  local pi, po, pf
  if p.peep then pi, po, pf = unpack(p.peep:split(n, 1)) end
  if pi then i, f = i + pi * c, f + pf * c end
  i = p.f[1](clipped(i, p.clip))
  f = p.forget and 1 - i or p.f[1](clipped(f, p.clip))
  local new = f * c + i * p.f[2](clipped(g, p.clip))
  if po then o = o + po * new end
  return p.f[1](clipped(o, p.clip)) * p.f[3](new), new
end

-- All steps of one direction: outputs in a list, and the last states.
local function stepwise(name, p, gates, h, c, reverse, lengths)
  local steps, out = gates:size(1), {}
  for k = 1, steps do
    local t = reverse and steps + 1 - k or k
    local new, cell = STEPS[name](p, gates:select(1, t), h, c)
    if lengths then
      local going = lengths:ge(t):unsqueeze(2)
      out[t] = la.where(going, new, la.zeros_like(new))
      h = la.where(going, new, h)
      c = cell and la.where(going, cell, c)
    else
      h, c, out[t] = new, cell, new
    end
  end
  return la.stack(out, 1), h, c
end

-- Blocks along a dim (the rows) in another order.
local function reordered(w, order, dim)
  dim = dim or 1
  if #order == 1 then return w end
  local parts, out = w:split(w:size(dim) // #order, dim), {}
  for k, from in ipairs(order) do out[k] = parts[from] end
  return la.cat(out, dim)
end
recurrent.reordered = reordered

-- Weights of direction d as la.recurrent_layer takes them.
local function arranged(spec, t, d)
  local wb, rb
  if t.b then
    wb, rb = unpack(t.b[d]:split(spec.gates * t.r:size(3), 1))
  end
  return {w = t.w, r = t.r, b = t.b, wo = reordered(t.w[d], spec.order),
    ro = reordered(t.r[d], spec.order),
    wbo = wb and reordered(wb, spec.order),
    rbo = rb and reordered(rb, spec.order)}
end

-- Constant ones are arranged once; that is no step of a program.
local function prepared(kept, spec, t, d)
  if not t.fixed then return arranged(spec, t, d) end
  local q = kept[d]
  if not q or not rawequal(q.w, t.w) or not rawequal(q.r, t.r)
    or not rawequal(q.b, t.b) then
    local _, outside = la._recording()
    if outside then q = outside(arranged, spec, t, d)
    else q = arranged(spec, t, d) end
    kept[d] = q
  end
  return q
end

-- Does direction d go from the last step to the first?
local function goes_back(node, d)
  return node:get("direction", "forward") == "reverse" or d == 2
end
recurrent.goes_back = goes_back

-- One direction of a layer.
local function direction(node, name, spec, d, x, t, kept, lengths)
  local hidden = t.r:size(3)
  local h = t.h and t.h[d] or la.zeros({x:size(2), hidden}, {dtype = x.dtype})
  local c = name == "LSTM" and (t.c and t.c[d] or la.zeros_like(h)) or nil
  local back = goes_back(node, d)
  local linear = name ~= "GRU" or node:get("linear_before_reset", 0) ~= 0
  if usual(node, spec.defaults) and linear and not t.p and not lengths
    and node:get("input_forget", 0) == 0 and x:size(1) > 0 then
    local q = prepared(kept, spec, t, d)
    local gates = la.linear(x, q.wo, q.wbo)
    local out, cells = la.recurrent_layer(gates, q.ro, q.rbo, h, c, spec.kind,
      back)
    local last = back and 1 or x:size(1)
    return out, out:select(1, last), cells and name == "LSTM"
      and cells:select(1, last) or nil
  end
  local w, r = t.w[d], t.r[d]
  local wb, rb
  if t.b then wb, rb = unpack(t.b[d]:split(spec.gates * hidden, 1)) end
  local f, unknown = functions_of(node, spec.defaults, d)
  if not f then error(("activation '%s'"):format(unknown), 0) end
  local p = {f = f, r = r, clip = node.attributes.clip, linear =
    node:get("linear_before_reset", 0) ~= 0, peep = t.p and t.p[d],
    forget = node:get("input_forget", 0) ~= 0}
  local bias = wb
  if name == "GRU" and rb then
    local z, reset, new = unpack(rb:split(hidden, 1))
    p.rbh = new
    bias = wb + la.cat({z, reset, la.zeros_like(new)}, 1)
  elseif rb then
    bias = wb + rb
  end
  return stepwise(name, p, la.linear(x, w, bias), h, c, back, lengths)
end

-- Where the library's gates stand in those of an LSTM that one operation
-- computes; nil: its steps do, in the file's order.
function recurrent.lstm_order(node)
  local spec = KINDS.LSTM
  return usual(node, spec.defaults) and node:get("input_forget", 0) == 0
    and spec.order or nil
end

-- All steps of direction d of an LSTM whose products p.multiply computes: gates
-- (time, batch, 4 hidden) are the input's part, p.peep peepholes. Both states
-- at the end.
function recurrent.lstm_steps(node, d, p, gates, h, c, lengths)
  local f, unknown = functions_of(node, KINDS.LSTM.defaults, d)
  if not f then error(("activation '%s'"):format(unknown), 0) end
  p.f, p.clip = f, node.attributes.clip
  p.forget = node:get("input_forget", 0) ~= 0
  return stepwise("LSTM", p, gates, h, c, goes_back(node, d), lengths)
end

-- Lengths of sequences as int64; nil where all have every step.
function recurrent.lengths(lengths, steps)
  for _, n in ipairs(lengths and rows.list(lengths) or {}) do
    if n ~= steps then return lengths:to("int64") end
  end
  return nil
end

-- The whole layer: Y (time, directions, batch, hidden), Y_h, Y_c.
function recurrent.layer(node, name)
  local spec = KINDS[name]
  local batch_first = node:get("layout", 0) == 1
  local kept, const = {}, node.const
  local constant = const[2] and const[3] and (node.nin < 4 or const[4]
    or not node.given[4])
  return function(state, _, x, w, r, b, lengths, h, c, p)
    if batch_first then
      x = x:transpose(1, 2)
      h, c = h and h:transpose(1, 2), c and c:transpose(1, 2)
    end
    local t = {w = w, r = r, b = b, h = h, c = c, p = p,
      fixed = constant and state.mode == "frozen"}
    lengths = recurrent.lengths(lengths, x:size(1))
    local ys, hs, cs = {}, {}, {}
    for d = 1, w:size(1) do
      ys[d], hs[d], cs[d] = direction(node, name, spec, d, x, t, kept, lengths)
    end
    local y, last = la.stack(ys, 2), la.stack(hs, 1)
    local cells = #cs > 0 and la.stack(cs, 1) or nil
    if batch_first then
      return y:permute(3, 1, 2, 4), last:transpose(1, 2),
        cells and cells:transpose(1, 2)
    end
    return y, last, cells
  end
end

for name in pairs(KINDS) do
  op[name] = {state = true, make = function(node)
    return recurrent.layer(node, name)
  end}
end

return recurrent
