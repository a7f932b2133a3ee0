-- lunarray.signal.design: filters by their specification, and what they do to
-- frequencies. Coefficients are few: they are computed as Lua numbers, in
-- float64. Methods and order of sections are SciPy's.
local la = require "lunarray"
local common = require "lunarray.signal.common"
local cx = require "lunarray.signal.complex"

local design = {}

local fail, pi = common.fail, math.pi

---------------------------------------------------------------------------
-- Sections of second order from poles and zeros

local function is_real(v) return v[2] == 0 end

local function count_real(list)
  local n = 0
  for _, v in ipairs(list) do if is_real(v) then n = n + 1 end end
  return n
end

-- One of each conjugate pair (above the axis, by real then imaginary part) and
-- then the real ones in order.
local function half_of(list)
  local upper, real = {}, {}
  local function before(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    return a[2] < b[2]
  end
  for _, v in ipairs(list) do
    if math.abs(v[2]) <= 100 * 2.0 ^ -52 * cx.abs(v) then
      real[#real + 1] = {v[1], 0.0}
    elseif v[2] > 0 then
      upper[#upper + 1] = v
    end
  end
  table.sort(upper, before)
  table.sort(real, before)
  return table.move(real, 1, #real, #upper + 1, upper)
end

-- Take the first element out of the list for which 'distance' (nil: not this
-- one) is least.
local function take(list, distance)
  local best, at
  for k, v in ipairs(list) do
    local d = distance(v)
    if d and (not best or d < best) then best, at = d, k end
  end
  return table.remove(list, at)
end

local function take_worst(poles, only_real)
  return take(poles, function(v)
    return (not only_real or is_real(v)) and math.abs(1 - cx.abs(v))
  end)
end

-- kind: "real", "complex" or "any"
local function take_nearest(zeros, pole, kind)
  return take(zeros, function(v)
    return (kind == "any" or (kind == "real") == is_real(v))
      and cx.abs(cx.sub(v, pole))
  end)
end

local function section_of(z1, z2, p1, p2)
  local b, a = cx.polynomial{z1, z2}, cx.polynomial{p1, p2}
  return {b[1], b[2], b[3], a[1], a[2], a[3]}
end

-- Rows of sections, the poles nearest to the unit circle last.
local function sections_of(z, p, k)
  if #p == 0 then return {{k, 0.0, 0.0, 1.0, 0.0, 0.0}} end
  local zeros, poles = {}, {}
  for i, v in ipairs(z) do zeros[i] = v end
  for i, v in ipairs(p) do poles[i] = v end
  while #zeros < #poles do zeros[#zeros + 1] = {0.0, 0.0} end
  if #poles % 2 == 1 then
    poles[#poles + 1], zeros[#zeros + 1] = {0.0, 0.0}, {0.0, 0.0}
  end
  local n, rows = #poles // 2, {}
  zeros, poles = half_of(zeros), half_of(poles)
  for s = n, 1, -1 do
    local p1 = take_worst(poles)
    local p2, z1, z2
    if is_real(p1) and count_real(poles) == 0 then
      z1, z2, p2 = take_nearest(zeros, p1, "real"), {0.0, 0.0}, {0.0, 0.0}
    elseif #poles + 1 == #zeros and not is_real(p1)
        and count_real(poles) == 1 and count_real(zeros) == 1 then
      z1, p2 = take_nearest(zeros, p1, "complex"), cx.conj(p1)
      z2 = cx.conj(z1)
    else
      p2 = is_real(p1) and take_worst(poles, true) or cx.conj(p1)
      z1 = take_nearest(zeros, p1, "any")
      z2 = is_real(z1) and take_nearest(zeros, p1, "real") or cx.conj(z1)
    end
    rows[s] = section_of(z1, z2, p1, p2)
  end
  for c = 1, 3 do rows[1][c] = rows[1][c] * k end
  return rows
end

---------------------------------------------------------------------------
-- Butterworth

local band_kinds = {lowpass = 1, highpass = 1, bandpass = 2, bandstop = 2,
  low = 1, high = 1, lp = 1, hp = 1, band = 2, bp = 2, pass = 2, bs = 2,
  stop = 2}
local band_names = {low = "lowpass", lp = "lowpass", high = "highpass",
  hp = "highpass", band = "bandpass", bp = "bandpass", pass = "bandpass",
  bs = "bandstop", stop = "bandstop"}

-- An analogue low pass of cutoff 1 has the poles p and no zeros; the functions
-- give zeros, poles and gain of what it is moved to.
local moved = {}

local function repeated(n, v)
  local list = {}
  for k = 1, n do list[k] = v end
  return list
end

local function each(list, f)
  local out = {}
  for k, v in ipairs(list) do out[k] = f(v) end
  return out
end

function moved.lowpass(p, w)
  return {}, each(p, function(v) return cx.scale(v, w[1]) end), w[1] ^ #p
end

local function inverse_gain(p)
  local product = cx.product(each(p, function(v) return cx.scale(v, -1) end))
  return cx.div({1.0, 0.0}, product)[1]
end

function moved.highpass(p, w)
  local poles = each(p, function(v) return cx.div({w[1], 0.0}, v) end)
  return repeated(#p, {0.0, 0.0}), poles, inverse_gain(p)
end

-- The roots of s^2 - 2 v s + w0^2 for each v: those of all signs + first.
local function split(list, w0)
  local out = {}
  for _, sign in ipairs{1, -1} do
    for _, v in ipairs(list) do
      local root = cx.sqrt(cx.sub(cx.mul(v, v), {w0 * w0, 0.0}))
      out[#out + 1] = cx.add(v, cx.scale(root, sign))
    end
  end
  return out
end

function moved.bandpass(p, w)
  local bw, w0 = w[2] - w[1], math.sqrt(w[1] * w[2])
  local scaled = each(p, function(v) return cx.scale(v, bw / 2) end)
  return repeated(#p, {0.0, 0.0}), split(scaled, w0), bw ^ #p
end

function moved.bandstop(p, w)
  local bw, w0 = w[2] - w[1], math.sqrt(w[1] * w[2])
  local inverted = each(p, function(v) return cx.div({bw / 2, 0.0}, v) end)
  local zeros = repeated(#p, {0.0, w0})
  for k = 1, #p do zeros[#p + k] = {0.0, -w0} end
  return zeros, split(inverted, w0), inverse_gain(p)
end

-- From s to z, at two samples per unit of time.
local function bilinear(z, p, k)
  local function to(v) return cx.div(cx.add({4.0, 0.0}, v),
    cx.sub({4.0, 0.0}, v)) end
  local function rest(v) return cx.sub({4.0, 0.0}, v) end
  local gain = cx.div(cx.product(each(z, rest)), cx.product(each(p, rest)))[1]
  local zeros, poles = each(z, to), each(p, to)
  for n = #zeros + 1, #poles do zeros[n] = {-1.0, 0.0} end
  return zeros, poles, k * gain
end

local function tensor(list, dtype)
  return la.tensor(list, {dtype = dtype or "float64"})
end

local MOST_POLES = 500      -- far beyond what float64 can tell apart

-- A digital Butterworth filter.
function design.butter(order, cutoff, options)
  local o = common.options("butter", options, {btype = "lowpass", fs = 2,
    output = "sos", dtype = "float64"})
  common.float_dtype("butter", o.dtype)
  order = common.count("butter", "order", order, 0)
  if order > MOST_POLES then
    fail("butter", "an order of at most %d expected, got %d", MOST_POLES, order)
  end
  local bands = band_kinds[o.btype]
  if not bands then
    common.choice("butter", "btype", o.btype,
      {"lowpass", "highpass", "bandpass", "bandstop"})
  end
  common.choice("butter", "output", o.output, {"sos", "ba"})
  local w = common.numbers("butter", "cutoff", cutoff)
  if #w ~= bands then
    fail("butter", "a %s has %s, got %d", o.btype,
      bands == 1 and "one cutoff frequency" or "two, {low, high}", #w)
  end
  local warped = {}
  for k, f in ipairs(w) do
    if not (f > 0 and f < o.fs / 2) then
      fail("butter", "cutoff frequencies lie between 0 and fs / 2 = %g, got %g",
        o.fs / 2, f)
    end
    warped[k] = 4 * math.tan(pi * (2 * f / o.fs) / 2)
  end
  if warped[2] and warped[2] <= warped[1] then
    fail("butter", "cutoff: {low, high} with low < high expected")
  end
  local p = {}
  for m = -order + 1, order - 1, 2 do
    p[#p + 1] = {-math.cos(pi * m / (2 * order)),
      m == 0 and 0.0 or -math.sin(pi * m / (2 * order))}
  end
  local z, k
  z, p, k = moved[band_names[o.btype] or o.btype](p, warped)
  z, p, k = bilinear(z, p, k)
  if o.output == "sos" then return tensor(sections_of(z, p, k), o.dtype) end
  local b = cx.polynomial(z)
  for i = 1, #b do b[i] = b[i] * k end
  return tensor(b, o.dtype), tensor(cx.polynomial(p), o.dtype)
end

---------------------------------------------------------------------------
-- FIR filters by windows

-- Kaiser's beta for so many taps and that width of the transition.
local function kaiser_beta(taps, width)
  local a = 2.285 * (taps - 1) * pi * width + 7.95
  if a > 50 then return 0.1102 * (a - 8.7) end
  if a > 21 then return 0.5842 * (a - 21) ^ 0.4 + 0.07886 * (a - 21) end
  return 0.0
end

-- The edges of the passed bands, 1 being half the rate, with 0 and 1 where they
-- are passed.
local function edges_of(cutoff, o, taps)
  local edges, last = {}, 0
  for k, f in ipairs(common.numbers("firwin", "cutoff", cutoff)) do
    edges[k] = f / (o.fs / 2)
    if not (edges[k] > 0 and edges[k] < 1) then
      fail("firwin", "cutoff frequencies lie between 0 and fs / 2 = %g, got %g",
        o.fs / 2, f)
    end
    if edges[k] <= last then
      fail("firwin", "cutoff frequencies must be strictly increasing")
    end
    last = edges[k]
  end
  local kinds = {lowpass = true, bandstop = true, highpass = false,
    bandpass = false}
  local zero = o.pass_zero
  if type(zero) == "string" and kinds[zero] ~= nil then
    local want = (zero == "lowpass" or zero == "highpass") and #edges == 1
      or (zero == "bandpass" or zero == "bandstop") and #edges >= 2
    if not want then
      fail("firwin", "pass_zero '%s' does not go with %d cutoff frequencies",
        zero, #edges)
    end
    zero = kinds[zero]
  end
  common.choice("firwin", "pass_zero", zero, {true, false})
  if #edges == 0 then fail("firwin", "at least one cutoff frequency") end
  if zero then table.insert(edges, 1, 0.0) end
  if #edges % 2 == 1 then
    if taps % 2 == 0 then
      fail("firwin", "a filter with an even number of taps has no response at "
        .. "half the rate: one more tap, or other bands")
    end
    edges[#edges + 1] = 1.0
  end
  return edges
end

-- The taps of a filter of linear phase, by a window.
function design.firwin(numtaps, cutoff, options)
  local o = common.options("firwin", options, {window = "hamming",
    pass_zero = true, scale = true, fs = 2, width = false, dtype = "float64"})
  common.float_dtype("firwin", o.dtype)
  numtaps = common.count("firwin", "numtaps", numtaps, 1)
  if o.width then
    common.number("firwin", "width", o.width)
    o.window = {"kaiser", kaiser_beta(numtaps, o.width / (o.fs / 2))}
  end
  local edges = edges_of(cutoff, o, numtaps)
  local m = la.arange(numtaps, {dtype = "float64"}) - 0.5 * (numtaps - 1)
  local h = la.zeros(numtaps, {dtype = "float64"})
  for k = 1, #edges, 2 do
    h = h + (m * edges[k + 1]):sinc() * edges[k + 1]
      - (m * edges[k]):sinc() * edges[k]
  end
  h = h * common.window("firwin", o.window, numtaps, true, "float64"):double()
  if o.scale then
    local at = edges[1] == 0 and 0.0 or edges[2] == 1 and 1.0
      or 0.5 * (edges[1] + edges[2])
    h = h / (h * (m * (pi * at)):cos()):sum()
  end
  return h:to(o.dtype)
end

---------------------------------------------------------------------------
-- Frequency responses

-- w in units of fs, and the angles that go with it.
local function frequencies(name, options)
  local o = common.options(name, options, {n = 512, whole = false,
    fs = 2 * pi})
  if common.is_tensor(o.n) then
    if o.n.ndim ~= 1 or o.n:is_complex() then
      fail(name, "n: a number or real frequencies in 1 dim expected")
    end
    return o.n, o.n:double() * (2 * pi / o.fs)
  end
  local n = common.count(name, "n", o.n, 0)
  local angles = la.linspace(0, o.whole and 2 * pi or pi, n,
    {endpoint = false, dtype = "float64"})
  return angles * (o.fs / (2 * pi)), angles
end

-- The sum of c[k] exp(-i k angle).
local function response(c, angles)
  local phases = angles:unsqueeze(-1)
    * la.arange(c:size(1), {dtype = "float64"})
  local e = la.complex(phases:cos(), -phases:sin())
  return e:matmul(c:to("complex128"))
end

-- The response of the filter b / a.
function design.freqz(b, a, options)
  if type(a) == "table" and options == nil
      and (next(a) == nil or a[1] == nil) then
    a, options = nil, a
  end
  local w, angles = frequencies("freqz", options)
  local h = response(common.coefficients("freqz", "b", b), angles)
  if a == nil then return w, h end
  return w, h / response(common.coefficients("freqz", "a", a), angles)
end

local function check_sections(name, sos)
  if not common.is_tensor(sos) or sos.ndim ~= 2 or sos:size(2) ~= 6 then
    fail(name, "sos: sections {n, 6} with the columns b0 b1 b2 a0 a1 a2 "
      .. "expected")
  end
end

-- The response of a cascade of sections.
function design.sosfreqz(sos, options)
  check_sections("sosfreqz", sos)
  local w, angles = frequencies("sosfreqz", options)
  local h = la.ones(angles.shape, {dtype = "complex128"})
  for s = 1, sos:size(1) do
    h = h * response(sos[s]:narrow(1, 1, 3), angles)
      / response(sos[s]:narrow(1, 4, 3), angles)
  end
  return w, h
end

---------------------------------------------------------------------------
-- States of the step response

local function steady_state(b, a)
  while #a > 1 and a[1] == 0 do table.remove(a, 1) end
  local n, lead = math.max(#a, #b), a[1]
  for k = 1, n do a[k], b[k] = (a[k] or 0) / lead, (b[k] or 0) / lead end
  local zi, sum_a, sum_b = {}, 0, 0
  for k = 1, n do sum_a = sum_a + a[k] end
  for k = 2, n do sum_b = sum_b + b[k] - a[k] * b[1] end
  if n > 1 then zi[1] = sum_b / sum_a end
  local asum, csum = 1, 0
  for k = 2, n - 1 do
    asum, csum = asum + a[k], csum + b[k] - a[k] * b[1]
    zi[k] = asum * zi[1] - csum
  end
  return zi
end

local function copied(list) return table.move(list, 1, #list, 1, {}) end

-- The state of lfilter after an endless step of height 1.
function design.lfilter_zi(b, a)
  b = copied(common.numbers("lfilter_zi", "b", b))
  a = copied(common.numbers("lfilter_zi", "a", a))
  local any = false
  for _, v in ipairs(a) do any = any or v ~= 0 end
  if not any then fail("lfilter_zi", "a has no coefficient but 0") end
  local zi = steady_state(b, a)
  if #zi == 0 then return la.zeros(0, {dtype = "float64"}) end
  return tensor(zi)
end

-- The states of sosfilt after an endless step of height 1.
function design.sosfilt_zi(sos, name)
  check_sections(name or "sosfilt_zi", sos)
  local rows, scale = {}, 1
  for s, c in ipairs(sos:detach():double():totable()) do
    local zi = steady_state({c[1], c[2], c[3]}, {c[4], c[5], c[6]})
    rows[s] = {zi[1] * scale, zi[2] * scale}
    scale = scale * (c[1] + c[2] + c[3]) / (c[4] + c[5] + c[6])
  end
  if #rows == 0 then return la.zeros({0, 2}, {dtype = "float64"}) end
  return tensor(rows)
end

return design
