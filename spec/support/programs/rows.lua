-- Calls of operations from the registry, as text: arguments are made from the
-- signature of a row of la.operations(), tensors by a function of the caller's.
local la = require "lunarray"
local reach = require "spec.support.reach"

local rows = {}

local FN, METHOD, INPLACE, OUT = 1, 2, 4, 8

-- Left out: what has no values to compare, whose sizes depend on data, what
-- reads values, tells one NaN from another, or changes the tensor's memory.
local WITHOUT = {}
for name in ([[empty empty_like empty_strided new_empty new_empty_strided
  resize_ resize_as_ set_ set_data signbit copysign nonzero argwhere
  masked_select unique unique_consecutive unique_all unique_counts
  unique_inverse unique_values trim_zeros bincount equal allclose is_set_to
  positive any all item repeat_interleave poisson_disc game_poisson_disc
  game_astar game_flow_field rename as_strided as_strided_ as_strided_scatter
  histogramdd digitize cpu linspace roots segment_reduce choice
  game_worley_ways signal_local_maxima signal_peaks_apart
  signal_peak_prominences signal_peak_widths view_as_complex
  quantized_dots quantized_matmul quantize_groups dequantize_groups
  integer_conv2d integer_lstm integer_pack integer_requantize
  recurrent recurrent_layer batch_norm alias detach_ can_cast
  lobpcg svd_lowrank pca_lowrank eig eigvals]]):gmatch("%S+") do
  WITHOUT[name] = true
end

-- "Tensor self, *, Scalar alpha=1" as a list of {type, name, default, keyword}.
local function parameters(signature)
  local list, depth, from, keyword = {}, 0, 1, false
  local text = (signature:match("%((.*)%)%s*%->") or "") .. ","
  for at, c in text:gmatch("()(.)") do
    depth = depth + (c:match("[%[(]") and 1 or c:match("[%])]") and -1 or 0)
    if c == "," and depth == 0 then
      local part = text:sub(from, at - 1):match("^%s*(.-)%s*$")
      from = at + 1
      if part == "*" then
        keyword = true
      elseif part ~= "" then
        local kind, name, default = part:match("^(%S+)%s+([%w_]+)=?(.*)$")
        list[#list + 1] = {type = kind, name = name, keyword = keyword,
          default = part:find("=", 1, true) and default or nil}
      end
    end
  end
  return list
end

-- The list of rows that can be called: {name, call, method, inplace, out,
-- params}, in the registry's order.
function rows.all()
  local list, x = {}, la.zeros(1)
  for _, op in ipairs(la.operations()) do
    local forms = op.forms
    local has = {fn = forms & FN ~= 0, method = forms & METHOD ~= 0,
      inplace = forms & INPLACE ~= 0, out = forms & OUT ~= 0}
    local _, call = reach.of_row(op.name)
    has.fn = has.fn and call ~= nil
    has.method = has.method and type(reach.member(x, op.name)) == "function"
    if (has.fn or has.method) and not WITHOUT[op.name]
        and not op.name:find("_backward$") then
      list[#list + 1] = {name = op.name, call = call, has = has,
        params = parameters(op.signature)}
    end
  end
  return list
end

-- ---- arguments ----

local function pick(draw, list) return list[draw(#list)] end

local makers = {
  Scalar = function(draw) return pick(draw, {"2", "0.5", "-1.5", "3", "1"}) end,
  float = function(draw) return pick(draw, {"0.5", "0.25", "2.0", "1.0"}) end,
  int = function(draw) return pick(draw, {"1", "2", "3", "0"}) end,
  bool = function(draw) return pick(draw, {"true", "false"}) end,
  dim = function(draw, t)
    local n = t and t.ndim or 1
    return tostring(draw(2) == 1 and draw(math.max(n, 1)) or -1)
  end,
  Generator = function() return "w.generator" end,
  dtype = function(draw)
    return pick(draw, {'"float64"', '"float32"', '"int64"'})
  end,
}
makers.index = makers.dim

local function list_of(draw, param, t)
  local kind = param.type:match("^%a+")
  if kind == "dim" then return "{" .. makers.dim(draw, t) .. "}" end
  if kind == "size" or kind == "int" then
    return pick(draw, {"{2, 3}", "{1}", "{2}", "{3, 1}", "{-1}", "{1, 2}"})
  end
end

-- The text of an argument, or nil where there is none. 'tensor' gives the name
-- of a variable.
local function argument(draw, param, tensor, t)
  local kind = param.type:match("^%a+")
  local is_list = param.type:find("[", 1, true)
  if (kind == "Tensor" or kind == "Array") and not is_list then
    return (tensor(param.name))
  elseif kind == "Tensor" then
    return ("{%s, %s}"):format((tensor()), (tensor()))
  elseif is_list then
    return list_of(draw, param, t)
  end
  return makers[kind] and makers[kind](draw, t)
end

-- A call of 'row': text, or nil. 'tensor' draws a variable: its name and
-- tensor. form: "functional", "inplace" or "out", for which 'out' is a name.
function rows.text(draw, row, tensor, form, out)
  local first, t = tensor("self")
  local plain, keys, open = {}, {}, true
  for k, p in ipairs(row.params) do
    local wanted = p.default == nil or draw(4) == 1
    local text = k == 1 and p.type:find("^Tensor") and not
      p.type:find("[", 1, true) and first
      or wanted and argument(draw, p, tensor, t) or nil
    if text == nil and p.default == nil then return nil end
    if text == nil then
      open = false
    elseif p.keyword or not open then
      keys[#keys + 1] = p.name .. " = " .. text
    else
      plain[#plain + 1] = text
    end
  end
  if form == "out" then keys[#keys + 1] = "out = " .. out end
  local method = form == "inplace" or row.has.method
    and (not row.has.fn or draw(2) == 1) and form ~= "out"
  if not method and not row.has.fn then return nil end
  local name = method and plain[1] and ("%s:%s%s"):format(
    table.remove(plain, 1), row.name, form == "inplace" and "_" or "")
    or row.call
  if #keys > 0 then
    plain[#plain + 1] = "{" .. table.concat(keys, ", ") .. "}"
  end
  return ("%s(%s)"):format(name, table.concat(plain, ", "))
end

return rows
