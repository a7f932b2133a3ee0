-- lunarray.onnx.ops.microsoft: operators of the domain com.microsoft, which
-- exporters and optimisers of onnxruntime write: quantized products, fused
-- parts of transformers.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"
local quantize = require "lunarray.onnx.ops.quantize"
local recurrent = require "lunarray.onnx.ops.recurrent"
local filter = require "lunarray.onnx.ops.filter"

local op = rows.domain("com.microsoft")
local plain = rows.domain("")
local sizes = rows.sizes

-- ---- quantized products ----

-- A weight's scale is one number or one for each column.
function op.MatMulIntegerToFloat(node)
  local known = node.const[2]
  return function(a, b, a_scale, b_scale, a_zero, b_zero, bias)
    local y = quantize.matmul(a, b, a_zero, b_zero, known)
      * (a_scale * b_scale)
    return bias and y + bias or y
  end
end

function op.DynamicQuantizeMatMul(node)
  local known = node.const[2]
  return function(a, b, b_scale, b_zero, bias)
    local q, scale, zero = quantize.dynamic(a)
    local y = quantize.matmul(q, b, zero, b_zero, known) * (scale * b_scale)
    return bias and y + bias or y
  end
end

-- The gates of t, its last dim, in 'order'; one number stands for all.
local function arranged(t, order)
  if not order or t:numel() == 1 then return t end
  return recurrent.reordered(t, order, t.ndim)
end

-- Those of direction d: t is (directions, ..., gates), or a number for each.
local function part_of(t, d, order)
  return arranged(t.ndim > 1 and t[d] or t:numel() > 1 and t:narrow(1, d, 1)
    or t, order)
end

-- Weights (directions, inputs, gates) in bytes, with scales for all or for each
-- gate. Inputs are quantized as a whole, states before each step, both by their
-- own ranges, as onnxruntime does: the products are those of integers.
function op.DynamicQuantizeLSTM(node)
  local const = node.const
  local usual = not node.given[8] and recurrent.lstm_order(node) or nil
  -- What 'make' makes of input k, once where it is a weight.
  local function once(k, t, key, make)
    if not t then return nil end
    return const[k] and quantize.once(t, key, make) or make(t)
  end
  local function direction(d, x, w, r, b, lengths, h, c, p, ws, wz, rs, rz)
    local order = not lengths and usual or nil
    local key = order and d or -d
    local function part(t) return part_of(t, d, order) end
    local function packed(t)
      local matrix = part(t)
      return {matrix, la.integer_pack(matrix)}
    end
    local function multiply(a, weight, scale, zero)
      local q, own, own_zero = quantize.dynamic(a)
      return la.integer_matmul(q, weight[1], own_zero, zero, weight[2])
        * (own * scale)
    end
    local n, steps = r:size(2), x:size(1)
    local weight, state = once(2, w, key, packed), once(3, r, key, packed)
    local gates = multiply(x:reshape(-1, x:size(3)), weight,
      once(9, ws, key, part), once(10, wz, key, part))
    if b then
      gates = gates + once(4, b, key, function()
        local input, of_state = table.unpack(b[d]:split(4 * n, 1))
        return arranged(input + of_state, order)
      end)
    end
    gates = gates:reshape(steps, x:size(2), 4 * n)
    local scale, zero = once(11, rs, key, part), once(12, rz, key, part)
    local first = h and h[d] or la.zeros({x:size(2), n})
    local cell = c and c[d] or la.zeros_like(first)
    if not order then
      return recurrent.lstm_steps(node, d, {peep = p and p[d],
        multiply = function(a) return multiply(a, state, scale, zero) end},
        gates, first, cell, lengths)
    end
    local back = recurrent.goes_back(node, d)
    local last = back and 1 or steps
    local out, cells = la.integer_lstm(gates, state[1], scale, first, cell,
      zero, state[2], back)
    return out, out:select(1, last), cells:select(1, last)
  end
  return function(x, w, r, b, lengths, ...)
    local ys, hs, cs = {}, {}, {}
    lengths = recurrent.lengths(lengths, x:size(1))
    for d = 1, w:size(1) do
      ys[d], hs[d], cs[d] = direction(d, x, w, r, b, lengths, ...)
    end
    return la.stack(ys, 2), la.stack(hs, 1), la.stack(cs, 1)
  end
end

-- Element-wise operators of numbers with scales.
local function floating(x, scale, zero)
  return quantize.from(x, scale:reshape({}), zero and zero:reshape({}),
    "float32")
end

local function qlinear_binary(name, f)
  op[name] = function()
    return function(a, as, az, b, bs, bz, ys, yz)
      return quantize.to(f(floating(a, as, az), floating(b, bs, bz)),
        ys:reshape({}), yz and yz:reshape({}), a.dtype)
    end
  end
end
qlinear_binary("QLinearAdd", la.add)
qlinear_binary("QLinearMul", la.mul)

local function qlinear_unary(name, make)
  op[name] = function(node)
    local f = make(node)
    return function(x, xs, xz, ys, yz)
      return quantize.to(f(floating(x, xs, xz)), ys:reshape({}),
        yz and yz:reshape({}), x.dtype)
    end
  end
end
qlinear_unary("QLinearSigmoid", function() return la.sigmoid end)
qlinear_unary("QLinearLeakyRelu", plain.LeakyRelu)
qlinear_unary("QLinearSoftmax", plain.Softmax)
qlinear_unary("QLinearAveragePool", function(node)
  return plain.AveragePool(node)
end)
qlinear_unary("QLinearGlobalAveragePool", function(node)
  if node:get("channels_last", 0) == 1 then
    return function(x)
      local dims = {}
      for k = 2, x.ndim - 1 do dims[k - 1] = k end
      return x:mean(dims, true)
    end
  end
  return plain.GlobalAveragePool(node)
end)

function op.QLinearConcat(node)
  local dim = rows.dim(node:get("axis"))
  return function(ys, yz, ...)
    local given, parts = {...}, {}
    for k = 1, #given, 3 do
      parts[#parts + 1] = floating(given[k], given[k + 1], given[k + 2])
    end
    return quantize.to(la.cat(parts, dim), ys:reshape({}), yz:reshape({}),
      given[1].dtype)
  end
end

-- Weights of 2 to 8 bits in blocks along the inputs: B (outputs, blocks,
-- bytes), the first number in the lowest bits.
function op.MatMulNBits(node)
  local bits, block = node:get("bits", 4), node:get("block_size")
  local inputs, outputs = node:get("K"), node:get("N")
  if bits ~= 2 and bits ~= 4 and bits ~= 8 then
    return node:refuse("MatMulNBits of %d bits", bits)
  end
  local per, mask = 8 // bits, (1 << bits) - 1
  local function numbers_of(bytes, columns)
    local parts = {}
    for k = 0, per - 1 do
      parts[k + 1] = la.bitwise_and(la.bitwise_right_shift(bytes,
        rows.tensor(k * bits, "uint8")), rows.tensor(mask, "uint8"))
    end
    return la.stack(parts, -1):reshape(bytes:size(1), -1):narrow(2, 1, columns)
  end
  local kept = {}
  return function(a, b, scales, zeros, group, bias)
    if not rawequal(kept.b, b) then
      local blocks = (inputs + block - 1) // block
      local w = numbers_of(b:reshape(outputs, -1), blocks * block)
        :to("float32"):reshape(outputs, blocks, block)
      local z
      if not zeros then
        z = 1 << (bits - 1)
      elseif zeros.dtype == "uint8" then
        z = numbers_of(zeros:reshape(outputs, -1), blocks):to("float32")
          :unsqueeze(3)
      else
        z = zeros:to("float32"):reshape(outputs, blocks, 1)
      end
      w = ((w - z) * scales:to("float32"):reshape(outputs, blocks, 1))
        :reshape(outputs, -1)
      kept.b = b
      kept.w = w:narrow(2, 1, inputs):contiguous()
    end
    local w = kept.w
    if group then w = w:index_select(2, group:argsort(1)) end
    local y = la.linear(a:to("float32"), w, bias and bias:to("float32"))
    return y:to(a.dtype)
  end
end

-- ---- fused products and activations ----

local function oriented(x, on, batch)
  if batch then
    local order = {}
    for k = 2, x.ndim - 1 do order[#order + 1] = k end
    order[#order + 1] = 1
    order[#order + 1] = x.ndim
    x = x:permute(order)
  end
  return on and x:transpose(-1, -2) or x
end

function op.FusedMatMul(node)
  local alpha = node:get("alpha", 1.0)
  local ta, tb = node:get("transA", 0) ~= 0, node:get("transB", 0) ~= 0
  local ba, bb = node:get("transBatchA", 0) ~= 0,
    node:get("transBatchB", 0) ~= 0
  return function(a, b)
    local y = oriented(a, ta, ba):matmul(oriented(b, tb, bb))
    return alpha == 1 and y or y * alpha
  end
end
op.TransposeMatMul = op.FusedMatMul

local ACTIVATIONS = {Relu = la.relu, Tanh = la.tanh, Sigmoid = la.sigmoid}
local function activation(node)
  local name = node:get("activation", "")
  local a = node:get("activation_params", {})
  if name == "" then return function(x) return x end end
  if name == "LeakyRelu" then
    local alpha = a[1] or node:get("activation_alpha", 0.01)
    return function(x) return la.leaky_relu(x, alpha) end
  elseif name == "Clip" then
    return function(x) return x:clamp(a[1], a[2]) end
  elseif name == "HardSigmoid" then
    return function(x) return (x * a[1] + a[2]):clamp(0, 1) end
  end
  return ACTIVATIONS[name] or node:refuse("activation '%s'", name)
end

function op.FusedConv(node)
  local run, finish = filter.convolve(node), activation(node)
  return function(x, w, b, z)
    local y = run(x, w, b)
    return finish(z and y + z or y)
  end
end

function op.FusedGemm(node)
  local run, finish = plain.Gemm(node), activation(node)
  return function(a, b, c) return finish(run(a, b, c)) end
end

function op.Gelu() return function(x) return la.gelu(x) end end
function op.BiasGelu() return function(x, b) return la.gelu(x + b) end end
function op.FastGelu()
  local way = {approximate = "tanh"}
  return function(x, b) return la.gelu(b and x + b or x, way) end
end
function op.QuickGelu(node)
  local alpha = node:get("alpha", 1.702)
  return function(x) return x * (x * alpha):sigmoid() end
end

-- ---- layer norms ----

local function layer_norm(x, scale, bias, eps)
  return la.layer_norm(x, {x:size(-1)}, scale, bias, eps)
end

local function rms_norm(x, scale, eps)
  return x * ((x * x):mean({x.ndim}, true) + eps):rsqrt() * scale
end

-- The sum is the fourth result.
function op.SkipLayerNormalization(node)
  local eps = node:get("epsilon", 1e-12)
  return function(x, skip, scale, beta, bias)
    local sum = x + skip
    if bias then sum = sum + bias end
    return layer_norm(sum, scale, beta, eps), nil, nil, sum
  end
end

function op.SkipSimplifiedLayerNormalization(node)
  local eps = node:get("epsilon", 1e-12)
  return function(x, skip, scale, bias)
    local sum = x + skip
    if bias then sum = sum + bias end
    return rms_norm(sum, scale, eps), nil, nil, sum
  end
end

function op.SimplifiedLayerNormalization(node)
  local eps = node:get("epsilon", 1e-5)
  return function(x, scale) return rms_norm(x, scale, eps) end
end
plain.SimplifiedLayerNormalization = op.SimplifiedLayerNormalization
plain.SkipSimplifiedLayerNormalization = op.SkipSimplifiedLayerNormalization

function op.EmbedLayerNormalization(node)
  local eps = node:get("epsilon", 1e-12)
  local counted = node:get("mask_index_type", 0) ~= 0
  return function(ids, kinds, words, positions, segments, gamma, beta, mask, at)
    local function rows_of(table, index)
      return table:index_select(1, rows.positions(index):flatten())
        :reshape(ids:size(1), ids:size(2), -1)
    end
    local sum = rows_of(words, ids)
    local n = ids:size(2)
    if at then
      if at:size(1) ~= ids:size(1) then at = at:expand(ids:size(1), n) end
      sum = sum + rows_of(positions, at)
    else
      sum = sum + positions:narrow(1, 1, n):unsqueeze(1)
    end
    if segments and kinds then sum = sum + rows_of(segments, kinds) end
    local lengths = mask and counted ~= nil
      and mask:to("int32"):sum({2}):to("int32")
      or la.zeros({ids:size(1)}, {dtype = "int32"})
    return layer_norm(sum, gamma, beta, eps), lengths, sum
  end
end

function op.Inverse() return function(x) return la.linalg.inv(x) end end

function op.Trilu(node) return plain.Trilu(node) end
function op.DequantizeLinear(node) return plain.DequantizeLinear(node) end
function op.QuantizeLinear(node) return plain.QuantizeLinear(node) end
function op.GatherND(node) return plain.GatherND(node) end
function op.Pad(node) return plain.Pad(node) end
function op.Range(node) return plain.Range(node) end

return {layer_norm = layer_norm, rms_norm = rms_norm, sizes = sizes}
