-- lunarray.describe: what a person asks first about a tensor of data.
local la = require "lunarray"
local tensors = require "lunarray.tensors"
local numbers = require "lunarray.numbers"

local describe = {}

-- What describes an object of a metatable with __describe, as modules add it to
-- theirs. It lies there, not in a list of this file's: a host that loads the
-- library's files once more has two of such lists. A plain field of this name,
-- as la itself has, is not asked.
local function own_words(x)
  local mt = type(x) == "table" and getmetatable(x)
  return type(mt) == "table" and rawget(mt, "__describe") or nil
end

local BINS = 20
local BLOCKS = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

-- Zero is a space, whatever is above it at least the lowest block.
local function bars(counts)
  local top, list = math.max(1, table.unpack(counts)), {}
  for i, n in ipairs(counts) do
    list[i] = n == 0 and " " or BLOCKS[math.max(1, math.ceil(n * 8 / top))]
  end
  return table.concat(list)
end

local function text(d)
  local size = #d.shape == 0 and "no dims" or table.concat(d.shape, " x ")
  local lines = {("%s of %s%s"):format(d.dtype, size,
    d.complex and ", absolute values" or "")}
  if d.min then
    lines[2] = numbers.format("min %.6g, max %.6g, mean %.6g", d.min,
      d.max, d.mean)
      .. (d.std and numbers.format(", std %.6g", d.std) or "")
    lines[3] = numbers.format("%.4g |%s| %.4g", d.min, bars(d.histogram), d.max)
  end
  if d.nan and d.nan + d.inf > 0 then
    lines[#lines + 1] = ("%d NaN, %d infinite"):format(d.nan, d.inf)
  end
  return table.concat(lines, "\n")
end

local shown = {__tostring = text}

-- The fields that depend on values, which are finite.
local function measure(d, x)
  d.min, d.max = x:min():item(), x:max():item()
  d.mean = x:mean():item()
  d.std = x:numel() > 1 and x:std():item() or nil
  local counts = d.min < d.max and x:histc(BINS, d.min, d.max)
    or la.tensor {x:numel()}
  d.histogram = {}
  for i, n in ipairs(counts:totable()) do
    d.histogram[i] = math.tointeger(n)
  end
end

-- A table that prints itself: shape, dtype, nan and inf (how many), min, max,
-- mean, std and histogram of the finite elements, where there are any. Of
-- complex numbers the absolute values are described. A frame describes itself.
function describe.describe(x)
  local words = own_words(x)
  if words then return words(x) end
  if not tensors.is_tensor(x) then
    error("bad argument #1 to 'describe' (tensor expected, got " .. type(x)
      .. ")", tensors.user_level())
  end
  local d = setmetatable({shape = x.shape, dtype = x.dtype,
    complex = x:is_complex() or nil}, shown)
  if x.device == "meta" then return d end
  local all = x:detach():resolve_conj()
  all = (d.complex and all:abs() or all):double():flatten()
  local finite = all:isfinite()
  d.nan, d.inf = all:isnan():sum():item(), all:isinf():sum():item()
  if d.nan + d.inf > 0 then all = all[finite] end
  if all:numel() > 0 then measure(d, all) end
  return d
end

return describe
