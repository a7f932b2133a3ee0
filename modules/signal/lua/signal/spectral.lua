-- lunarray.signal.spectral: spectra of segments, and what else goes by Fourier
-- transforms. Segments, scales and defaults are SciPy's.
local la = require "lunarray"
local common = require "lunarray.signal.common"

local spectral = {}

local fail, part = common.fail, common.part

---------------------------------------------------------------------------
-- la.stft and la.istft with windows by name and parameter

local function with_window(name, x, n_fft, ...)
  local args = table.pack(...)
  local options = args[args.n]
  if type(options) == "table" and options.window ~= nil then
    local copy = setmetatable({}, {__index = options})
    for k, v in pairs(options) do copy[k] = v end
    args[args.n], options = copy, copy
  else
    options = nil
  end
  local window = options and options.window or not options and args[3]
  if type(window) == "table" or type(window) == "number" then
    local n = options and options.win_length or args[2]
    window = common.window(name, window, math.tointeger(n) or n_fft, false,
      common.is_tensor(x) and common.real_dtype(x) or nil)
    if common.is_tensor(x) then window = window:to(x.device) end
    if options then options.window = window else args[3] = window end
  end
  return x, n_fft, table.unpack(args, 1, args.n)
end

function spectral.stft(x, n_fft, ...)
  return la.stft(with_window("stft", x, n_fft, ...))
end

function spectral.istft(x, n_fft, ...)
  return la.istft(with_window("istft", x, n_fft, ...))
end

---------------------------------------------------------------------------
-- Segments and their spectra

-- The window of a call and the length of its segments, which is that of a given
-- tensor, and no longer than x.
local function window_of(name, o, n, dtype)
  local length = o.nperseg and common.count(name, "nperseg", o.nperseg, 1)
  if common.is_tensor(o.window) then
    length = length or o.window:numel()
    if length > n then
      fail(name, "window: %d points are more than the %d samples of x", length,
        n)
    end
  else
    length = math.min(length or 256, n)
  end
  return common.window(name, o.window, length, false, dtype), length
end

local trends = {}

function trends.constant(x) return x - x:mean(-1, true) end

function trends.linear(x)
  return require("lunarray.signal.filters").detrend(x, {dim = -1})
end

trends[false] = function(x) return x end

-- Checked settings of a call on x: window, lengths, the scale of powers.
local function settings(name, x, o)
  local s = {fs = o.fs, onesided = not x:is_complex()}
  local dtype = common.real_dtype(x)
  local w
  w, s.nperseg = window_of(name, o, x:size(-1), dtype)
  s.window = common.matched(w, x)
  s.nfft = o.nfft and common.count(name, "nfft", o.nfft, 1) or s.nperseg
  if s.nfft < s.nperseg then
    fail(name, "nfft must not be less than nperseg = %d, got %d", s.nperseg,
      s.nfft)
  end
  s.noverlap = common.count(name, "noverlap",
    o.noverlap or s.nperseg // (o.share or 2), 0)
  if s.noverlap >= s.nperseg then
    fail(name, "noverlap must be less than nperseg = %d, got %d", s.nperseg,
      s.noverlap)
  end
  common.choice(name, "scaling", o.scaling, {"density", "spectrum"})
  common.choice(name, "detrend", o.detrend, {"constant", "linear", false})
  s.trend = trends[o.detrend]
  w = w:detach():to(dtype):double()
  s.scale = o.scaling == "density"
    and 1 / (s.fs * (w * w):sum():item()) or 1 / w:sum():item() ^ 2
  return s
end

-- {..., segments, bins}, complex, without a scale.
local function transforms(x, s)
  local segments = s.trend(x:unfold(-1, s.nperseg, s.nperseg - s.noverlap))
    * s.window
  if s.onesided then return la.fft.rfft(segments, s.nfft) end
  return la.fft.fft(segments, s.nfft)
end

-- Powers {..., segments, bins}; those of one side stand for both.
local function powers(x, s)
  local z = transforms(x, s)
  local p = (z.real:square() + z.imag:square()) * s.scale
  if not s.onesided then return p end
  local bins = p:size(-1)
  local twice = la.full({bins}, 2, {dtype = p.dtype, device = p.device})
  twice[1] = 1
  if s.nfft % 2 == 0 then twice[bins] = 1 end
  return p * twice
end

local function frequencies(x, s)
  local options = {d = 1 / s.fs, dtype = common.real_dtype(x),
    device = x.device}
  if s.onesided then return la.fft.rfftfreq(s.nfft, options) end
  return la.fft.fftfreq(s.nfft, options)
end

local modes = {}

function modes.psd(x, s) return powers(x, s) end

function modes.complex(x, s) return transforms(x, s) * math.sqrt(s.scale) end

function modes.magnitude(x, s) return modes.complex(x, s):abs() end

function modes.angle(x, s) return modes.complex(x, s):angle() end

-- Frequencies, times and spectra of consecutive segments.
function spectral.spectrogram(x, options)
  local name = "spectrogram"
  x = common.wide(common.signal(name, "x", x))
  local o = common.options(name, options, {fs = 1, window = {"tukey", 0.25},
    nperseg = false, noverlap = false, nfft = false, detrend = "constant",
    scaling = "density", mode = "psd"})
  o.share = 8
  common.choice(name, "mode", o.mode, {"psd", "magnitude", "complex", "angle"})
  if x:size(-1) == 0 then fail(name, "x has no samples") end
  local s = settings(name, x, o)
  local result = modes[o.mode](x, s):transpose(-1, -2)
  local times = (la.arange(result:size(-1),
    {dtype = common.real_dtype(x), device = x.device})
    * (s.nperseg - s.noverlap) + s.nperseg / 2) / s.fs
  return frequencies(x, s), times, result
end

-- How much less the median of n exponential variables is than their mean, as a
-- factor (B. Allen et al., FINDCHIRP, 2012).
local function median_bias(n)
  local bias = 1
  for k = 2, 2 * ((n - 1) // 2), 2 do bias = bias + 1 / (k + 1) - 1 / k end
  return bias
end

-- Over the last dim; the middle two are averaged.
local function median(x)
  local n, sorted = x:size(-1), x:sort(-1)
  return part(sorted, -1, (n + 1) // 2, n // 2 + 1):mean(-1)
end

local function averaged(name, x, s, average)
  common.choice(name, "average", average, {"mean", "median"})
  local p = powers(x, s):transpose(-1, -2)
  if average == "mean" then return p:mean(-1) end
  return median(p) / median_bias(p:size(-1))
end

-- Frequencies and the power at each, averaged over segments.
function spectral.welch(x, options)
  x = common.wide(common.signal("welch", "x", x))
  local o = common.options("welch", options, {fs = 1, window = "hann",
    nperseg = false, noverlap = false, nfft = false, detrend = "constant",
    scaling = "density", average = "mean"})
  if x:size(-1) == 0 then fail("welch", "x has no samples") end
  local s = settings("welch", x, o)
  return frequencies(x, s), averaged("welch", x, s, o.average)
end

-- The same of all samples as one segment.
function spectral.periodogram(x, options)
  x = common.wide(common.signal("periodogram", "x", x))
  local o = common.options("periodogram", options, {fs = 1, window = "boxcar",
    nfft = false, detrend = "constant", scaling = "density"})
  local n = x:size(-1)
  if n == 0 then fail("periodogram", "x has no samples") end
  local nfft = o.nfft and common.count("periodogram", "nfft", o.nfft, 1) or n
  if nfft < n then x = part(x, -1, 1, nfft) end
  o.nperseg, o.noverlap = math.min(n, nfft), 0
  local s = settings("periodogram", x, o)
  return frequencies(x, s), averaged("periodogram", x, s, "mean")
end

---------------------------------------------------------------------------

-- A row of factors 'first' (bin 0), 'middle', 'last' (bin n // 2 of even n),
-- for what is computed of x.
local function factors(n, bins, x, first, middle, last)
  local f = la.full({bins}, middle,
    {dtype = common.real_dtype(x), device = x.device})
  f[1] = first
  if n % 2 == 0 and n > 1 then f[n // 2 + 1] = last end
  return f
end

-- The analytic signal: x with the quadrature of x as its imaginary part.
function spectral.hilbert(x, options)
  x = common.signal("hilbert", "x", x)
  local o = common.options("hilbert", options, {n = false, dim = -1})
  if x:is_complex() then fail("hilbert", "x: a real signal expected") end
  local d = common.dim("hilbert", x, o.dim)
  local n = common.count("hilbert", "n", o.n or x:size(d), 1)
  local z = la.fft.rfft(common.wide(x):movedim(d, -1), n)
  z = z * factors(n, z:size(-1), x, 1, 2, 1)
  return la.fft.ifft(z, n):movedim(-1, d)
end

---------------------------------------------------------------------------
-- Other rates

-- What a window does to each bin; of one side the mean of both.
local function shape_of(window, n, bins, x)
  local w = common.window("resample", window, n, false, common.real_dtype(x))
  if not common.is_tensor(window) then w = la.fft.fftshift(w) end
  w = w:to(x.device)
  if not bins then return w end
  local other = w:flip(1):roll(1)
  return ((w + other) / 2):narrow(1, 1, bins)
end

local function resample_real(x, n, num, window)
  local z = la.fft.rfft(x)
  if window then z = z * shape_of(window, n, z:size(-1), x) end
  local m = math.min(n, num)
  z = part(z, -1, 1, m // 2 + 1)
  if m % 2 == 0 and num ~= n then
    z = z * factors(m, m // 2 + 1, x, 1, 1, num < n and 2 or 0.5)
  end
  return la.fft.irfft(z, num) * (num / n)
end

local function resample_complex(x, n, num, window)
  local z = la.fft.fft(x)
  if window then z = z * shape_of(window, n, nil, x) end
  local m = math.min(n, num)
  local half, upper = m // 2 + 1, m - m // 2 - 1
  local low, high = part(z, -1, 1, half), part(z, -1, n - upper + 1, n)
  local sizes = x.shape
  sizes[#sizes] = num - m
  if m % 2 == 0 and num < n then       -- two bins become one
    low = la.cat({part(low, -1, 1, m // 2), part(low, -1, half, half)
      + z:narrow(-1, n - m // 2 + 1, 1)}, -1)
  elseif m % 2 == 0 and num > n then   -- one becomes two
    local middle = part(low, -1, half, half) / 2
    low = la.cat({part(low, -1, 1, m // 2), middle}, -1)
    sizes[#sizes] = num - m - 1
    high = la.cat({middle, high}, -1)
  end
  local gap = la.zeros(sizes, {dtype = z.dtype, device = z.device})
  return la.fft.ifft(la.cat({low, gap, high}, -1)) * (num / n)
end

-- x with 'num' samples along a dim, as a periodic signal.
function spectral.resample(x, num, options)
  x = common.signal("resample", "x", x)
  local o = common.options("resample", options, {dim = -1, window = false})
  local d = common.dim("resample", x, o.dim)
  num = common.count("resample", "n", num, 1)
  local n = x:size(d)
  if n == 0 then fail("resample", "x has no samples along the dim") end
  local rows = common.wide(x):movedim(d, -1)
  local f = x:is_complex() and resample_complex or resample_real
  return f(rows, n, num, o.window):movedim(-1, d):to(x.dtype)
end

local MOST_STEPS = 1 << 40   -- of up and down: sizes stay integers

local function gcd(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end

-- Taps of the low pass between the rates, and how many stand before its middle.
local function low_pass(x, up, down, window)
  local h, half
  if common.is_tensor(window) then
    if window.ndim ~= 1 or window:numel() == 0 then
      fail("resample_poly", "window: a tensor of taps in 1 dim expected")
    end
    h, half = window, (window:numel() - 1) // 2
  else
    half = 10 * math.max(up, down)
    h = require("lunarray.signal.design").firwin(2 * half + 1,
      1 / math.max(up, down), {window = window})
  end
  return h:to(common.is_tensor(window) and window.dtype
    or common.real_dtype(x)) * up, half
end

-- The taps of each of 'up' outputs that one step of the input makes: a matrix
-- {up, 1, span} over the inputs from 'first' on.
local function phases(h, half, up, down)
  local n = h:numel()
  local first = -((n - 1 - half) // up)
  local span = ((up - 1) * down + half) // up - first + 1
  local r = la.arange(up):unsqueeze(-1) * down + half
  local at = r - (la.arange(span) + first) * up
  local inside = at:ge(0):logical_and(at:lt(n))
  local taps = h[la.where(inside, at, 0) + 1]
  return (taps * inside:to(h.dtype)):unsqueeze(2), first, span
end

local backgrounds = {
  mean = function(x) return x:mean(-1, true) end,
  median = function(x) return median(x):unsqueeze(-1) end,
  minimum = function(x) return x:amin(-1, true) end,
  maximum = function(x) return x:amax(-1, true) end,
}

-- The rate of x times up / down, through a filter of linear phase.
function spectral.resample_poly(x, up, down, options)
  local name = "resample_poly"
  x = common.signal(name, "x", x)
  local o = common.options(name, options, {dim = -1, window = {"kaiser", 5.0},
    padtype = "constant"})
  up = common.count(name, "up", up, 1)
  down = common.count(name, "down", down, 1)
  local d = common.dim(name, x, o.dim)
  common.choice(name, "padtype", o.padtype, {"constant", "mean", "median",
    "minimum", "maximum"})
  local divisor = gcd(up, down)
  up, down = up // divisor, down // divisor
  if up == 1 and down == 1 then return x:clone() end
  if math.max(up, down) > MOST_STEPS then
    fail(name, "up and down of at most %d expected, got %d and %d", MOST_STEPS,
      up, down)
  end
  local rows = common.wide(x):movedim(d, -1)
  local sizes, n = rows.shape, x:size(d)
  if n == 0 then fail(name, "x has no samples along the dim") end
  local taps, half = low_pass(x, up, down, o.window)
  local weight, first, span = phases(taps, half, up, down)
  weight = weight:to(rows.dtype)
  local ground = backgrounds[o.padtype]
  ground = ground and ground(rows)
  if ground then rows = rows - ground end
  local count = (n * up + down - 1) // down
  local steps = (count + up - 1) // up
  local flat = rows:reshape(rows:numel() // n, 1, n)
  flat = la.constant_pad_nd(flat,
    {-first, (steps - 1) * down + first + span - n})
  local y = la.conv1d(flat, weight, nil, {down}):transpose(2, 3)
  sizes[#sizes] = steps * up
  y = part(y:reshape(sizes), -1, 1, count)
  if ground then y = y + ground end
  return y:movedim(-1, d):to(x.dtype)
end

return spectral
