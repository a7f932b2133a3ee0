-- lunarray.signal.convolve: convolutions by Fourier transforms along chosen
-- dims, of whole signals and of blocks. Modes, dims and sizes are SciPy's.
local la = require "lunarray"
local common = require "lunarray.signal.common"
local numbers = require "lunarray.numbers"

local convolve = {}

local fail = common.fail

-- The least product of 2, 3 and 5 that is not less than n.
local function fast_size(n)
  local best = math.maxinteger
  local five = 1
  while five < 5 * n do
    local three = five
    while three < 3 * n do
      local two = three
      while two < n do two = two * 2 end
      if two < best then best = two end
      three = three * 3
    end
    five = five * 5
  end
  return best
end

-- The dims as a list from 1 and as a set: all, or those of 'axes'.
local function read_axes(name, axes, ndim)
  local list, set = {}, {}
  if axes == nil then
    for d = 1, ndim do list[d] = d end
  else
    list = type(axes) == "table" and {table.unpack(axes)} or {axes}
  end
  if #list == 0 then fail(name, "axes: at least one dim expected") end
  for k, d in ipairs(list) do
    local at = math.tointeger(d)
    if not at or at == 0 or at > ndim or at < -ndim then
      fail(name, "axes: dims from 1 to %d expected, got %s", ndim,
        numbers.text(d))
    end
    if at < 0 then at = at + ndim + 1 end
    if set[at] then fail(name, "axes: a dim appears twice") end
    list[k], set[at] = at, true
  end
  return list, set
end

local function check_tensor(name, what, x)
  if common.is_tensor(x) then return x end
  fail(name, "%s: tensor expected, got %s", what, type(x))
end

-- Both signals in the dtype that is computed in, and that of the result:
-- float64 for integers.
local function typed(a, v)
  local dtype = la.result_type(a, v)
  if not (a:is_floating_point() or a:is_complex())
    and not (v:is_floating_point() or v:is_complex()) then
    dtype = "float64"
  end
  local wide = (dtype == "float16" or dtype == "bfloat16") and "float32"
    or dtype == "complex32" and "complex64" or dtype
  return a:to(wide), v:to(wide), dtype
end

-- What a call asks for. 'axes' leaves out the dims where one signal has a
-- single sample: the product does those.
local function read_call(name, a, v, mode, axes)
  if type(mode) == "table" then mode, axes = mode.mode, mode.axes end
  mode = mode or "full"
  check_tensor(name, "in1", a)
  check_tensor(name, "in2", v)
  if mode ~= "full" and mode ~= "same" and mode ~= "valid" then
    fail(name, "mode is full, same or valid, got '%s'",
      numbers.text(mode))
  end
  if a.ndim ~= v.ndim then
    fail(name, "two tensors of as many dims expected, got %d-D and %d-D",
      a.ndim, v.ndim)
  end
  local list, set = {}, {}
  if a.ndim > 0 then list, set = read_axes(name, axes, a.ndim) end
  local larger, smaller, used = true, true, {}
  for d = 1, a.ndim do
    local m, n = a:size(d), v:size(d)
    if not set[d] and m ~= n and m ~= 1 and n ~= 1 then
      fail(name, "sizes %d and %d of dim %d, which is not of the axes, "
        .. "broadcast not", m, n, d)
    end
    larger = larger and (not set[d] or m >= n)
    smaller = smaller and (not set[d] or m <= n)
  end
  if mode == "valid" and not larger and not smaller then
    fail(name, "with mode 'valid' one tensor must be at least as large as the "
      .. "other in every dim")
  end
  for _, d in ipairs(list) do
    if a:size(d) ~= 1 and v:size(d) ~= 1 then used[#used + 1] = d end
  end
  table.sort(used)
  return mode, list, used
end

-- The part of the full result that the mode asks for, along the axes.
local function part_of(full, a, v, mode, axes)
  for _, d in ipairs(axes) do
    local m, n = a:size(d), v:size(d)
    if mode == "same" then
      full = full:narrow(d, (n - 1) // 2 + 1, m)
    elseif mode == "valid" then
      local least = math.min(m, n)
      full = full:narrow(d, least, math.max(m, n) - least + 1)
    end
  end
  return full
end

-- The product of the spectra, of so many points along the dims.
local function by_spectra(a, v, sizes, dims)
  if #dims == 0 then return a * v end
  if a:is_complex() or v:is_complex() then
    return la.fft.ifftn(la.fft.fftn(a, sizes, dims)
      * la.fft.fftn(v, sizes, dims), sizes, dims)
  end
  return la.fft.irfftn(la.fft.rfftn(a, sizes, dims)
    * la.fft.rfftn(v, sizes, dims), sizes, dims)
end

-- How 'full' is made: run(a, v, dims) with signals that have elements.
local function run(name, a, v, mode, axes, full)
  local list, used
  mode, list, used = read_call(name, a, v, mode, axes)
  local x, y, dtype = typed(a, v)
  if a:numel() == 0 or v:numel() == 0 then
    return la.zeros({0}, {dtype = dtype})
  end
  local whole = part_of(full(x, y, used), a, v, mode, list)
  return whole:to(dtype):contiguous()
end

local function whole(a, v, dims)
  local sizes = {}
  for k, d in ipairs(dims) do
    sizes[k] = fast_size(a:size(d) + v:size(d) - 1)
  end
  local full = by_spectra(a, v, sizes, dims)
  for _, d in ipairs(dims) do
    full = full:narrow(d, 1, a:size(d) + v:size(d) - 1)
  end
  return full
end

function convolve.fftconvolve(a, v, mode, axes)
  return run("fftconvolve", a, v, mode, axes, whole)
end

-- ---- by blocks ----

-- The size of a block with the least work for each new sample, for a kernel of
-- n samples and a signal of m; nil where one transform of all is no more.
local function block_size(m, n)
  local best, least = nil, math.log(fast_size(m + n - 1), 2)
    * fast_size(m + n - 1) / m
  local size = fast_size(2 * n)
  while size < m + n - 1 do
    local work = size * math.log(size, 2) / (size - n + 1)
    if work < least then best, least = size, work end
    size = fast_size(size + size // 2)
  end
  return best
end

-- The list of la.pad for zeros along dims d and d + 1 of x, which come last in
-- it: before and behind dim d, and behind dim d + 1 (nil: there is none).
local function pads_of(x, d, before, behind, more)
  local pads = {}
  for k = 1, 2 * (x.ndim - d - (more and 1 or 0)) do pads[k] = 0 end
  if more then pads[#pads + 1], pads[#pads + 2] = 0, more end
  pads[#pads + 1], pads[#pads + 2] = before, behind
  return pads
end

-- Dim d of x, filled up with zeros, as two: blocks and their samples.
local function cut(x, d, step, blocks)
  return la.pad(x, pads_of(x, d, 0, step * blocks - x:size(d)))
    :unflatten(d, {blocks, step})
end

-- Blocks at dim d, of samples at dim d + 1, that begin 'step' samples one after
-- another, added up: 'count' samples. A block is at most twice as long.
local function overlap(x, d, step, count)
  local size = x:size(d + 1)
  local head = x:narrow(d + 1, 1, step)
  local tail = x:narrow(d + 1, step + 1, size - step)
  local sum = la.pad(head, pads_of(head, d, 0, 1, 0))
    + la.pad(tail, pads_of(tail, d, 1, 0, 2 * step - size))
  return sum:flatten(d, d + 1):narrow(d, 1, count)
end

-- The larger signal of each dim is cut, the other is its kernel.
local function by_blocks(a, v, dims)
  local shift, sizes, at, plans = 0, {}, {}, {}
  local m, n = {}, {}
  for k, d in ipairs(dims) do m[k], n[k] = a:size(d), v:size(d) end
  for k, d in ipairs(dims) do
    local long, short = math.max(m[k], n[k]), math.min(m[k], n[k])
    local size = block_size(long, short)
    d = d + shift
    if size then
      local step = size - short + 1
      local blocks = -(-long // step)
      if m[k] >= n[k] then
        a, v = cut(a, d, step, blocks), v:unsqueeze(d)
      else
        a, v = a:unsqueeze(d), cut(v, d, step, blocks)
      end
      shift, plans[k] = shift + 1, {step = step}
      sizes[k], at[k] = size, d + 1
    else
      sizes[k], at[k] = fast_size(m[k] + n[k] - 1), d
    end
  end
  local full = by_spectra(a, v, sizes, at)
  for k = #dims, 1, -1 do
    local count = m[k] + n[k] - 1
    if plans[k] then
      full = overlap(full, at[k] - 1, plans[k].step, count)
    else
      full = full:narrow(at[k], 1, count)
    end
  end
  return full
end

function convolve.oaconvolve(a, v, mode, axes)
  return run("oaconvolve", a, v, mode, axes, by_blocks)
end

return convolve
