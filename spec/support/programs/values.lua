-- What the random programs share: tensors by formula, and the texts by which
-- two worlds are compared.
local la = require "lunarray"
local chains = require "spec.support.chains"
local tensors = require "lunarray.tensors"

local values = {nn = require "lunarray.nn", optim = require "lunarray.optim",
  is_tensor = tensors.is_tensor}

-- A tensor of these sizes whose elements depend on the seed: small, exact in
-- each dtype.
function values.T(dtype, sizes, seed)
  local n = 1
  for _, s in ipairs(sizes) do n = n * s end
  local at = (la.arange(n, {dtype = "int64"}) * (2 * (seed % 50) + 3) + seed)
    % 61
  if dtype == "bool" then return (at % 2):eq(0):reshape(sizes) end
  if dtype:find("^u?int") then
    return (dtype:find("^u") and at % 7 or at % 11 - 5):to(dtype)
      :reshape(sizes)
  end
  local x = at:to("float64"):div(32):sub(0.75)
  if dtype:find("complex") then
    return la.complex(x, x:flip(1)):to(dtype):reshape(sizes)
  end
  return x:to(dtype):reshape(sizes)
end

function values.same_sizes(a, b)
  if #a ~= #b then return false end
  for d = 1, #a do if a[d] ~= b[d] then return false end end
  return true
end

-- Of a tensor everything that a program must leave as eager calls do.
local function text_of(t, versions)
  local strides = {}
  for d = 1, t.ndim do strides[d] = t:size(d) > 1 and t:stride(d) or 0 end
  local plain = t:detach()
  if t.is_complex and t:is_complex() then
    plain = la.view_as_real(plain:resolve_conj():resolve_neg())
  end
  local words = {table.concat(strides, ","), tostring(t.requires_grad),
    tostring(t.is_leaf)}
  if versions then words[#words + 1] = "version " .. t._version end
  return t.dtype .. "{" .. table.concat(t.shape, ",") .. "} "
    .. table.concat(words, " "), chains.bits(plain)
end

-- Entries {name, form, bits} of a value and all in it.
local function note(list, name, value, versions, depth)
  if values.is_tensor(value) then
    local form, bits = text_of(value, versions)
    list[#list + 1] = {name, form, bits, value}
    local ok, grad = pcall(function() return value.is_leaf and value.grad end)
    if ok and grad then note(list, name .. ".grad", grad, false, depth + 1) end
  elseif type(value) == "table" and depth < 6 then
    local keys = {}
    for key in pairs(value) do keys[#keys + 1] = key end
    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
    for _, key in ipairs(keys) do
      note(list, ("%s[%s]"):format(name, key), value[key], versions, depth + 1)
    end
  elseif type(value) ~= "function" and type(value) ~= "userdata" then
    list[#list + 1] = {name, type(value) .. " " .. tostring(value), ""}
  end
end
values.note = note

-- The first difference of two lists of entries, or nil.
function values.difference(want, got)
  for i = 1, math.max(#want, #got) do
    local a, b = want[i], got[i]
    if not a or not b or a[1] ~= b[1] then
      return ("%s, want %s"):format(b and b[1] .. " " .. b[2] or "nothing",
        a and a[1] .. " " .. a[2] or "nothing")
    elseif a[2] ~= b[2] then
      return ("%s: %s, want %s"):format(a[1], b[2], a[2])
    elseif a[3] ~= b[3] then
      return ("%s: %s\n  want %s"):format(a[1], b[4], a[4])
    end
  end
end

return values
