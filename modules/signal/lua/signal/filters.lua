-- lunarray.signal.filters: filters made of operations and of other filters.
local la = require "lunarray"
local common = require "lunarray.signal.common"
local design = require "lunarray.signal.design"

local filters = {}

local fail, part = common.fail, common.part

---------------------------------------------------------------------------
-- Forwards and backwards

-- x with 'n' samples before and behind it along dim d.
local function extended(x, d, padtype, n)
  if n == 0 or padtype == false then return x end
  local size = x:size(d)
  local first, last = part(x, d, 1, 1), part(x, d, size, size)
  if padtype == "constant" then
    local sizes = x.shape
    sizes[d] = n
    return la.cat({first:expand(sizes), x, last:expand(sizes)}, d)
  end
  local head = part(x, d, 2, n + 1):flip(d)
  local tail = part(x, d, size - n, size - 1):flip(d)
  if padtype == "odd" then
    head, tail = 2 * first - head, 2 * last - tail
  end
  return la.cat({head, x, tail}, d)
end

-- filter(x, first) is the filter with its steady state scaled by the sample
-- 'first'.
local function both_ways(name, x, o, d, filter)
  common.choice(name, "padtype", o.padtype, {"odd", "even", "constant", false})
  local n = o.padtype == false and 0 or common.count(name, "padlen", o.padlen,
    0)
  local size = x:size(d)
  if size <= n then
    fail(name, "x must be longer than padlen = %d along the dim, got %d", n,
      size)
  end
  local y = extended(x, d, o.padtype, n)
  for _ = 1, 2 do
    y = filter(y, part(y, d, 1, 1)):flip(d)
  end
  return part(y, d, n + 1, n + size)
end

-- A vector (or rows of them) with the dims of x, along d.
local function along(zi, x, d)
  local sizes = {}
  for k = 1, x.ndim do sizes[k] = 1 end
  sizes[d] = zi:size(-1)
  if zi.ndim == 2 then table.insert(sizes, 1, zi:size(1)) end
  return zi:view(sizes)
end

-- lfilter over x and then over the result in reverse: no delay.
function filters.filtfilt(b, a, x, options)
  b = common.coefficients("filtfilt", "b", b)
  a = common.coefficients("filtfilt", "a", a)
  x = common.signal("filtfilt", "x", x)
  local o = common.options("filtfilt", options, {dim = -1, padtype = "odd",
    padlen = 3 * math.max(b:size(1), a:size(1))})
  local d = common.dim("filtfilt", x, o.dim)
  local zi = along(common.matched(design.lfilter_zi(b, a), x), x, d)
  b, a = b:to(x.device), a:to(x.device)
  return both_ways("filtfilt", x, o, d, function(v, first)
    return (la.signal_lfilter(b, a, v, d, {zi = zi * first}))
  end)
end

-- sosfilt over x and then over the result in reverse.
function filters.sosfiltfilt(sos, x, options)
  local zi = design.sosfilt_zi(sos, "sosfiltfilt")
  x = common.signal("sosfiltfilt", "x", x)
  local rows = sos:detach():totable()
  local zeros, poles = 0, 0
  for _, row in ipairs(rows) do
    zeros = zeros + (row[3] == 0 and 1 or 0)
    poles = poles + (row[6] == 0 and 1 or 0)
  end
  local taps = 2 * #rows + 1 - math.min(zeros, poles)
  local o = common.options("sosfiltfilt", options, {dim = -1, padtype = "odd",
    padlen = 3 * taps})
  local d = common.dim("sosfiltfilt", x, o.dim)
  zi, sos = along(common.matched(zi, x), x, d), sos:to(x.device)
  return both_ways("sosfiltfilt", x, o, d, function(v, first)
    return (la.signal_sosfilt(sos, v, d, {zi = zi * first}))
  end)
end

---------------------------------------------------------------------------
-- Savitzky and Golay

-- Powers 0 .. order of the positions, scaled to -1 .. 1 over 'half': a matrix
-- {positions, order + 1} in float64.
local function powers(positions, order, half)
  local u = positions / half
  local columns = {la.ones_like(u)}
  for k = 1, order do columns[k + 1] = columns[k] * u end
  return la.stack(columns, 2)
end

-- Row k: what the derivative at position at[k] of the polynomial through a
-- window takes of its samples. The polynomial is fitted by least squares at
-- the positions 0 .. window - 1 around 'centre'.
local function fit_rows(window, order, deriv, delta, at, centre)
  local half = math.max((window - 1) / 2, 1)
  local n = la.arange(window, {dtype = "float64"}) - centre
  local q, r = la.qr(powers(n, order, half))
  local columns = {}
  local u = (at - centre) / half
  for k = 0, order do
    local factor = 1.0
    for j = k - deriv + 1, k do factor = factor * j end
    columns[k + 1] = k < deriv and la.zeros_like(u)
      or u ^ (k - deriv) * (factor / (delta * half) ^ deriv)
  end
  local wanted = la.stack(columns, 2)
  return la.solve_triangular(r, wanted, {upper = true, left = false})
    :matmul(q:t())
end

local pad_modes = {nearest = "replicate", constant = "constant",
  interp = "constant"}

-- The last dim goes on at both ends, mirrored or from the other end, as often
-- as it takes: la.pad stops where the signal ends.
local function around(x, left, right, mode)
  local n = x:size(-1)
  if n == 0 then return la.pad(x, {left, right}) end
  local at = la.arange(-left, n + right, {device = x.device})
  if mode == "wrap" then return x:index_select(-1, at % n + 1) end
  local period = math.max(2 * (n - 1), 1)
  at = at % period
  return x:index_select(-1, la.minimum(at, period - at) % n + 1)
end

-- The ends of mode "interp": a polynomial through the first and the last
-- window.
local function fitted_ends(x, y, window, order, deriv, delta)
  local half = window // 2
  local at = la.arange(half, {dtype = "float64"})
  local rows = fit_rows(window, order, deriv, delta, at, (window - 1) / 2)
  local n = x:size(-1)
  local head = part(x, -1, 1, window):matmul(rows:t():to(x.dtype))
  rows = fit_rows(window, order, deriv, delta, at + (window - half),
    (window - 1) / 2)
  local tail = part(x, -1, n - window + 1, n)
    :matmul(rows:t():to(x.dtype))
  return la.cat({head, part(y, -1, half + 1, n - half), tail}, -1)
end

-- Smoothing (or a derivative) by polynomials fitted to sliding windows.
function filters.savgol_filter(x, window_length, polyorder, options)
  local name = "savgol_filter"
  x = common.signal(name, "x", x)
  local o = common.options(name, options, {deriv = 0, delta = 1.0, dim = -1,
    mode = "interp", cval = 0.0})
  local w = common.count(name, "window_length", window_length, 1)
  local order = common.count(name, "polyorder", polyorder, 0)
  local deriv = common.count(name, "deriv", o.deriv, 0)
  local d = common.dim(name, x, o.dim)
  common.choice(name, "mode", o.mode, {"interp", "mirror", "nearest",
    "constant", "wrap"})
  if order >= w then
    fail(name, "polyorder must be less than window_length")
  end
  if o.mode == "interp" and w > x:size(d) then
    fail(name, "with mode 'interp' window_length must not exceed the %d samples"
      .. " of x", x:size(d))
  end
  local wide = common.wide(x):movedim(d, -1)
  local sizes = wide.shape
  local left, right = (w - 1) // 2, w // 2
  local taps
  if deriv > order then
    taps = la.zeros(w, {dtype = wide.dtype})
  else
    local centre = la.tensor({(w - 1) / 2}, {dtype = "float64"})
    taps = fit_rows(w, order, deriv, o.delta, centre, (w - 1) / 2)
      :reshape(-1):to(wide.dtype)
  end
  local rows = wide:reshape(-1, 1, sizes[#sizes])
  local padded
  if o.mode == "mirror" or o.mode == "wrap" then
    padded = around(rows, left, right, o.mode)
  else
    padded = la.pad(rows, {left, right}, pad_modes[o.mode],
      o.mode == "constant" and o.cval or nil)
  end
  local y = la.conv1d(padded, taps:view(1, 1, -1)):view(sizes)
  if o.mode == "interp" and w > 1 then
    y = deriv > order and la.zeros_like(y)
      or fitted_ends(wide, y, w, order, deriv, o.delta)
  end
  return y:movedim(-1, d):to(x.dtype)
end

---------------------------------------------------------------------------
-- Medians

local MOST = 1 << 22        -- elements of the windows at one time

-- The median of the window around each element, with zeros outside.
function filters.medfilt(x, kernel_size)
  local name = "medfilt"
  x = common.signal(name, "x", x, true)
  if x.dtype == "bool" or x:is_complex() then
    fail(name, "x: real numbers expected, got %s", x.dtype)
  end
  local given = common.numbers(name, "kernel_size",
    kernel_size == nil and 3 or kernel_size)
  local sizes = table.move(given, 1, #given, 1, {})
  if #sizes == 1 then
    for k = 2, x.ndim do sizes[k] = sizes[1] end
  end
  if #sizes ~= x.ndim then
    fail(name, "kernel_size: a number or one for each of %d dims expected, got "
      .. "%d", x.ndim, #sizes)
  end
  local pads, total = {}, 1
  for k, size in ipairs(sizes) do
    size = common.count(name, "kernel_size", size, 1)
    if size % 2 == 0 then
      fail(name, "kernel_size must be odd, got %d", size)
    end
    -- More than half of a longer window is zeros.
    size = math.min(size, 2 * x:size(k) + 1)
    sizes[k], total = size, total * size
    pads[2 * (x.ndim - k) + 1], pads[2 * (x.ndim - k) + 2] = size // 2,
      size // 2
  end
  if x:numel() == 0 or total == 1 then return x:clone() end
  for k, size in ipairs(sizes) do
    if size == total and x.dtype ~= "int64" and x.dtype ~= "uint64" then
      return la.signal_running_median(x:movedim(k, -1), size):movedim(-1, k)
    end
  end
  local windows = la.pad(x:detach(), pads)
  for k, size in ipairs(sizes) do windows = windows:unfold(k, size, 1) end
  local rows = x:size(1)
  local step = math.max(1, MOST // (total * (x:numel() // rows)))
  local out = {}
  for first = 1, rows, step do
    local some = part(windows, 1, first, math.min(first + step - 1, rows))
    out[#out + 1] = (some:flatten(x.ndim + 1, -1):median(-1))
  end
  return #out == 1 and out[1] or la.cat(out, 1)
end

---------------------------------------------------------------------------
-- Trends

local function without_line(x)
  local n = x:size(-1)
  local t = la.arange(n, {dtype = "float64", device = x.device})
  t = (t - (n - 1) / 2):to(x.dtype)
  local y = x - x:mean(-1, true)
  if n < 2 then return y end
  local slope = (y * t):sum(-1, true) * (12 / (n * (n * n - 1)))
  return y - slope * t
end

-- x without its mean, or without the straight line through it.
function filters.detrend(x, options)
  x = common.signal("detrend", "x", x)
  local o = common.options("detrend", options, {dim = -1, type = "linear",
    bp = false})
  local d = common.dim("detrend", x, o.dim)
  common.choice("detrend", "type", o.type, {"linear", "constant", "l", "c"})
  if o.type:sub(1, 1) == "c" then return x - x:mean(d, true) end
  local n, starts = x:size(d), {1}
  local bp = o.bp and common.numbers("detrend", "bp", o.bp) or {}
  for _, b in ipairs(table.move(bp, 1, #bp, 1, {})) do
    b = common.count("detrend", "bp", b, 1)
    if b > n + 1 then
      fail("detrend", "bp: positions 1 to %d expected, got %d", n, b)
    end
    starts[#starts + 1] = b
  end
  table.sort(starts)
  local rows, pieces = common.wide(x):movedim(d, -1), {}
  for k, first in ipairs(starts) do
    local last = (starts[k + 1] or n + 1) - 1
    if last >= first then
      pieces[#pieces + 1] = without_line(part(rows, -1, first, last))
    end
  end
  if #pieces == 0 then return x:clone() end
  local y = #pieces == 1 and pieces[1] or la.cat(pieces, -1)
  return y:movedim(-1, d):to(x.dtype)
end

---------------------------------------------------------------------------

local phases = {}

function phases.linear(t, f0, t1, f1)
  return t * f0 + t * t * (0.5 * (f1 - f0) / t1)
end

function phases.quadratic(t, f0, t1, f1, vertex_zero)
  local beta = (f1 - f0) / t1 ^ 2
  if vertex_zero then return t * f0 + t ^ 3 * (beta / 3) end
  return t * f1 + ((t1 - t) ^ 3 - t1 ^ 3) * (beta / 3)
end

function phases.logarithmic(t, f0, t1, f1)
  if f0 * f1 <= 0 then
    fail("chirp", "a logarithmic one needs f0 and f1 of the same sign, not 0")
  end
  if f0 == f1 then return t * f0 end
  local beta = t1 / math.log(f1 / f0)
  return ((t * (math.log(f1 / f0) / t1)):exp() - 1) * (beta * f0)
end

function phases.hyperbolic(t, f0, t1, f1)
  if f0 == 0 or f1 == 0 then
    fail("chirp", "a hyperbolic one needs f0 and f1 other than 0")
  end
  if f0 == f1 then return t * f0 end
  local sing = -f1 * t1 / (f0 - f1)
  return (1 - t / sing):abs():log() * (-sing * f0)
end

-- A cosine whose frequency goes from f0 at time 0 to f1 at time t1.
function filters.chirp(t, f0, t1, f1, options)
  if not common.is_tensor(t) then
    local list = common.numbers("chirp", "t", t)
    t = la.tensor(table.move(list, 1, #list, 1, {}))
  end
  if t:is_complex() then fail("chirp", "t: real times expected") end
  if not t:is_floating_point() then t = t:to(la.get_default_dtype()) end
  common.number("chirp", "f0", f0)
  common.number("chirp", "t1", t1)
  common.number("chirp", "f1", f1)
  local o = common.options("chirp", options, {method = "linear", phi = 0,
    vertex_zero = true})
  local words = {lin = "linear", li = "linear", quad = "quadratic",
    q = "quadratic", log = "logarithmic", lo = "logarithmic",
    hyp = "hyperbolic"}
  local method = words[o.method] or o.method
  common.choice("chirp", "method", method, {"linear", "quadratic",
    "logarithmic", "hyperbolic"})
  local phase = phases[method](t:double(), f0, t1, f1, o.vertex_zero)
  return (phase * (2 * math.pi) + o.phi * (math.pi / 180)):cos():to(t.dtype)
end

return filters
