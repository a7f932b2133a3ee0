-- la.signal against SciPy: the calls of modules/signal/spec/data/scipy.jsonl;
-- then what SciPy can't say: derivatives, states, bits, errors.
local la = require "lunarray"
local json = require "dkjson"

local F64 = {dtype = "float64"}

---------------------------------------------------------------------------
-- Records

local exact = {bool = "bool", int64 = "int64", int32 = "int32"}

local function build(t)
  local part = ({complex128 = "float64", complex64 = "float32"})[t.dtype]
  local n = 1
  for _, size in ipairs(t.shape) do n = n * size end
  if n == 0 then return la.zeros(t.shape, {dtype = t.dtype}) end
  if part then
    return la.view_as_complex(la.tensor(t.data, {dtype = part})
      :view(n, 2)):view(t.shape)
  end
  return la.tensor(t.data, {dtype = t.dtype}):view(t.shape)
end

local function decode(v)
  if v == json.null then return nil end
  if type(v) ~= "table" then return v end
  if v.shape then return build(v) end
  if v.fields then
    local out = {}
    for k, t in pairs(v.fields) do out[k] = build(t) end
    return out
  end
  local out = {}
  for k, x in pairs(v) do out[k] = decode(x) end
  return out
end

local function same(got, want, eps)
  if type(want) == "table" then
    for k, t in pairs(want) do
      local why = got[k] == nil and "missing" or same(got[k], t, eps)
      if why then return k .. ": " .. why end
    end
    for k in pairs(got) do
      if want[k] == nil then return k .. ": not expected" end
    end
    return nil
  end
  if got.shape ~= want.shape then
    return "sizes {" .. table.concat(got.shape, ", ") .. "}"
  end
  if got.dtype ~= want.dtype then return "dtype " .. got.dtype end
  if not (exact[want.dtype] and la.equal(got, want)
      or la.allclose(got, want, {rtol = eps, atol = eps})) then
    return tostring(got) .. " against " .. tostring(want)
  end
end

local function run(r)
  local args, options = decode(r.args), decode(r.options)
  if next(options) then args[#args + 1] = options end
  local got = table.pack(la.signal[r.call](table.unpack(args)))
  if got.n ~= #r.expect then return got.n .. " results" end
  for k, e in ipairs(r.expect) do
    local why = same(got[k], decode(e), r.loose or 1e-12)
    if why then return ("result %d: %s"):format(k, why) end
  end
end

describe("la.signal against SciPy:", function()
  local calls, names = {}, {}
  for line in io.lines("modules/signal/spec/data/scipy.jsonl") do
    local r = json.decode(line, 1, json.null)
    if not calls[r.call] then
      calls[r.call] = {}
      names[#names + 1] = r.call
    end
    table.insert(calls[r.call], r)
  end
  for _, name in ipairs(names) do
    it(name, function()
      local faults = {}
      for k, r in ipairs(calls[name]) do
        local ok, why = pcall(run, r)
        if why then
          faults[#faults + 1] = ("%s %d %s: %s"):format(name, k,
            json.encode(r.options), why)
        end
      end
      assert(#faults == 0, ("%d of %d differ\n%s"):format(#faults,
        #calls[name], table.concat(faults, "\n", 1, math.min(#faults, 4))))
    end)
  end
end)

---------------------------------------------------------------------------
-- Filters

local function pole(dtype)
  return la.tensor({0.5, 0.25}, {dtype = dtype}),
    la.tensor({1, -0.75, 0.125}, {dtype = dtype})
end

-- sos from five free columns: a0 stays 1.
local function sections(free)
  local ones = la.ones(free:size(1), 1, {dtype = free.dtype})
  return la.cat({free:narrow(2, 1, 3), ones, free:narrow(2, 4, 2)}, 2)
end

local function free_sections(n)
  return la.randn(n, 5, F64) * 0.2
end

local function gives(text, f, ...)
  local ok, why = pcall(f, ...)
  assert.is_false(ok)
  assert.truthy(why:find(text, 1, true), why)
end

describe("filters:", function()
  before_each(function() la.manual_seed(3) end)

  it("signals side by side have the bits of one alone", function()
    for _, dtype in ipairs{"float32", "float64"} do
      local b, a = pole(dtype)
      for _, n in ipairs{1, 2, 4, 7, 8, 9, 16, 33} do
        local x = la.randn(n, 700, {dtype = dtype})
        for order = 1, 5 do
          local sos = la.signal.butter(2 * order, 0.3, {dtype = dtype})
          local whole = la.signal.sosfilt(sos, x)
          local columns = la.signal.sosfilt(sos, x:t():contiguous(), 1)
          assert.is_true(la.equal(columns:t(), whole))
          assert.is_true(la.equal(whole[n], la.signal.sosfilt(sos, x[n])))
        end
        local y = la.signal_lfilter(b, a, x)
        assert.is_true(la.equal(y[n], la.signal_lfilter(b, a, x[n])))
      end
    end
  end)

  it("any number of threads gives the same bits", function()
    local x, threads = la.randn(70, 3000), la.get_num_threads()
    local sos = la.signal.butter(6, 0.2, {dtype = "float32"})
    local y = la.signal_sosfilt(sos, x)
    la.set_num_threads(threads == 1 and 2 or 1)
    local z = la.signal_sosfilt(sos, x)
    la.set_num_threads(threads)
    assert.is_true(la.equal(y, z))
  end)

  it("a signal in pieces, with the state between them", function()
    local sos = la.signal.butter(5, 0.3)
    local x = la.randn(3, 41, 2, F64)
    local want = la.signal.sosfilt(sos, x, 2)
    local z, got = la.zeros(3, 3, 2, 2, F64), {}
    for first = 1, 41, 10 do
      local n = math.min(10, 42 - first)
      got[#got + 1], z = la.signal.sosfilt(sos, x:narrow(2, first, n), 2,
        {zi = z})
    end
    assert.is_true(la.equal(la.cat(got, 2), want))
    local b, a = la.signal.butter(5, 0.3, {output = "ba"})
    want = la.signal.lfilter(b, a, x, 2)
    local head, zf = la.signal.lfilter(b, a, x:narrow(2, 1, 7), 2,
      {zi = la.zeros(1, 5, 1, F64)})
    assert.same({3, 5, 2}, zf.shape)
    local tail = la.signal.lfilter(b, a, x:narrow(2, 8, 34), 2, {zi = zf})
    assert.is_true(la.equal(la.cat({head, tail}, 2), want))
  end)

  it("many taps are a convolution", function()
    for _, dtype in ipairs{"float32", "float64", "complex128"} do
      local b = la.randn(150, {dtype = dtype})
      local x = la.randn(2, 400, {dtype = dtype})
      local one = la.ones(1, {dtype = dtype})
      local want = la.conv1d(la.pad(x, {149, 0}):unsqueeze(2),
        b:flip(1):view(1, 1, -1)):squeeze(2)
      assert.is_true(la.allclose(la.signal.lfilter(b, one, x), want,
        {rtol = 1e-3, atol = 1e-3}))
    end
  end)

  it("dtypes: promoted together, 16 bits computed in 32", function()
    local b, a = pole("float64")
    assert.equal("float64", la.signal.lfilter(b, a, la.ones(4)).dtype)
    local whole = la.signal.lfilter(la.tensor{1, 2}, la.tensor{1}, la.arange(4))
    assert.equal(la.get_default_dtype(), whole.dtype)
    assert.same({0, 1, 4, 7}, whole:totable())
    local x = la.randn(2, 30)
    local half = la.signal.lfilter(b:half(), a:half(), x:half())
    local wide = la.signal.lfilter(b:half():float(), a:half():float(),
      x:half():float())
    assert.equal("float16", half.dtype)
    assert.is_true(la.equal(half, wide:half()))
    local z = la.complex(x, x * 2)
    local y = la.signal.lfilter(b:float(), a:float(), z)
    assert.is_true(la.allclose(y.imag, la.signal.lfilter(b:float(), a:float(),
      x * 2)))
  end)

  it("empty signals, no sections, leading coefficients", function()
    local b, a = pole("float64")
    assert.same({2, 0}, la.signal.lfilter(b, a, la.zeros(2, 0, F64)).shape)
    local zi = la.tensor({{1, 2}}, F64)
    local y, zf = la.signal.lfilter(b, a, la.zeros(1, 0, F64), -1, {zi = zi})
    assert.same({1, 0}, y.shape)
    assert.is_true(la.equal(zf, zi))
    assert.same({0, 3}, la.signal.lfilter(b, a, la.zeros(0, 3, F64)).shape)
    local x = la.randn(9, F64)
    assert.is_true(la.equal(la.signal.sosfilt(la.zeros(0, 6, F64), x), x))
    assert.is_true(la.allclose(la.signal.lfilter(b * 4, a * 4, x),
      la.signal.lfilter(b, a, x)))
    local every = la.signal.lfilter(b, a, la.cat{x, x}[{{1, 18, 2}}])
    assert.is_true(la.equal(every, la.signal.lfilter(b, a,
      la.cat{x, x}[{{1, 18, 2}}]:clone())))
  end)

  it("the meta device has the sizes", function()
    local x = la.zeros(2, 9, {device = "meta"})
    local b, a = pole("float32")
    local y, zf = la.signal.lfilter(b:to("meta"), a:to("meta"), x, -1,
      {zi = la.zeros(2, 2, {device = "meta"})})
    assert.same({2, 9}, y.shape)
    assert.same({2, 2}, zf.shape)
    assert.equal("meta", tostring(y.device))
  end)

  it("derivatives: of coefficients, signal and state, twice", function()
    local b, a = pole("float64")
    local x, zi = la.randn(2, 6, 2, F64), la.randn(1, 2, 2, F64)
    for _, t in ipairs{b, a, x, zi} do t:requires_grad_() end
    local function with_state(...)
      local p, q, v, z = ...
      return la.signal.lfilter(p, q, v, 2, {zi = z})
    end
    assert.is_true(la.gradcheck(with_state, {b, a, x, zi}))
    assert.is_true(la.gradgradcheck(with_state, {b, a, x, zi}))
    local s = free_sections(3):requires_grad_()
    local z = la.randn(3, 2, 2, 2, F64):requires_grad_()
    local function cascade(p, v, state)
      return la.signal.sosfilt(sections(p), v, 2, {zi = state})
    end
    assert.is_true(la.gradcheck(cascade, {s, x, z}))
    assert.is_true(la.gradgradcheck(cascade, {s, x, z}))
    local fixed = sections(s:detach())
    local function plain(v) return la.signal.sosfilt(fixed, v, 2) end
    assert.is_true(la.gradcheck(plain, {x}))
    assert.is_true(la.gradgradcheck(plain, {x}))
    local function only_state(v)
      return select(2, la.signal.lfilter(b:detach(), a:detach(), v, 2,
        {zi = zi:detach()}))
    end
    assert.is_true(la.gradcheck(only_state, {x}))
  end)

  it("running medians: all dtypes, long windows, NaN", function()
    local x = la.randint(-50, 50, {3, 200})
    for _, size in ipairs{3, 5, 9, 51, 399, 401, 999} do
      local want = la.signal.medfilt(x, {1, size})     -- int64: by sorting
      for _, dtype in ipairs{"int8", "int32", "float16", "float32",
        "float64"} do
        local got = la.signal_running_median(x:to(dtype), size)
        assert.equal(dtype, got.dtype)
        assert.is_true(la.equal(got:long(), want))
      end
      local columns = la.signal.medfilt(x:double():t():contiguous(), {size, 1})
      assert.is_true(la.equal(columns:t():long(), want))
    end
    local long = la.randn(70000, F64)
    local y = la.signal.medfilt(long, 7)
    assert.is_true(la.equal(y[{{30000, 50000}}], la.signal.medfilt(
      long[{{29990, 50010}}], 7)[{{11, 20011}}]))
    local holes = la.tensor({1, 2, 0 / 0, 4, 5, 6, -1 / 0, 1 / 0}, F64)
    local size = {3}
    la.signal.medfilt(la.ones(4, 4), size)
    assert.same({3}, size)                         -- the caller's stays
    local odd = la.tensor{{3, 1, 2}, {7, 5, 4}}
    for _, n in ipairs{7, 99, math.maxinteger} do  -- mostly zeros
      assert.same({0, 0, 0}, la.signal.medfilt(odd[1], n):totable())
      assert.same({{0, 0, 0}, {0, 0, 0}},
        la.signal.medfilt(odd, {3, n}):totable())
    end
    local got = la.signal.medfilt(holes)
    assert.same({false, true, true, true, false, false, false, false},
      got:isnan():totable())
    assert.same({5, 5, 6, 0}, got[{{5, 8}}]:totable())
    gives("an odd size of the window expected, got 4",
      la.signal_running_median, x:float(), 4)
  end)

  it("derivatives of what is made of them", function()
    local x = la.randn(2, 30, F64):requires_grad_()
    local b, a = la.signal.butter(2, 0.3, {output = "ba"})
    local sos = la.signal.butter(3, 0.3)
    for name, f in pairs{
      filtfilt = function(v) return la.signal.filtfilt(b, a, v) end,
      sosfiltfilt = function(v) return la.signal.sosfiltfilt(sos, v) end,
      savgol = function(v) return la.signal.savgol_filter(v, 5, 2) end,
      detrend = function(v) return la.signal.detrend(v, {bp = {9}}) end,
    } do assert.is_true(la.gradcheck(f, {x}), name) end
  end)

  it("errors say what is wanted", function()
    local b, a = pole("float64")
    local x = la.ones(3, 5, F64)
    gives("a signal of at least 1 dim expected", la.signal.lfilter, b, a,
      la.tensor(1))
    gives("the leading coefficient a[1] is 0", la.signal.lfilter, b,
      la.tensor{0.0, 1}, x)
    gives("the coefficients b are one vector, got 2-D", la.signal.lfilter, x,
      a, x)
    gives("at least one coefficient expected in a", la.signal.lfilter, b,
      la.zeros(0), x)
    gives("dimension 3 is out of range", la.signal.lfilter, b, a, x, 3)
    gives("states zi of the sizes [3, 2] expected, got [2, 2]",
      la.signal.lfilter, b, a, x, 2, {zi = la.zeros(2, 2)})
    gives("bad argument #1 to 'signal.sosfilt' (sections {n, 6}",
      la.signal.sosfilt, b, x)
    gives("bad argument #1 to 'signal.sosfilt' (a0, column 4, is 1 in every "
      .. "section", la.signal.sosfilt,
      la.ones(1, 6) * 2, x)
    gives("longer than padlen = 9", la.signal.filtfilt, b, a, x)
    gives("padtype is one of", la.signal.filtfilt, b, a, x, {padtype = "no"})
    gives("unknown option 'axis' (known: dim, padlen, padtype)",
      la.signal.filtfilt, b, a, x, {axis = 1})
    gives("polyorder must be less", la.signal.savgol_filter, x, 3, 3)
    gives("must not exceed the 5 samples", la.signal.savgol_filter, x, 7, 3)
    gives("kernel_size must be odd, got 4", la.signal.medfilt, x, 4)
    gives("one for each of 2 dims", la.signal.medfilt, x, {3, 3, 3})
    gives("positions 1 to 5 expected, got 9", la.signal.detrend, x, {bp = 9})
    gives("f0 and f1 of the same sign", la.signal.chirp, x, 0, 1, 2,
      {method = "log"})
    gives("between 0 and fs / 2 = 1, got 2", la.signal.butter, 2, 2)
    gives("two, {low, high}, got 1", la.signal.butter, 2, 0.2,
      {btype = "bandpass"})
    gives("fs: a number expected, got string", la.signal.butter, 2, 0.2,
      {fs = "1"})
    gives("an order of at most 500 expected, got 501", la.signal.butter, 501,
      0.2)
    gives("n: a number or real frequencies in 1 dim", la.signal.freqz, {1},
      {n = la.ones(2, 2)})
    gives("f0: a number expected, got no value", la.signal.chirp, x, nil, 1, 2)
    gives("f1: a number expected, got no value", la.signal.chirp, x, 1, 2)
    gives("real numbers expected, got complex64", la.signal.find_peaks,
      la.zeros(3, {dtype = "complex64"}))
    gives("up and down of at most", la.signal.resample_poly, x,
      math.maxinteger, 1)
    gives("up and down of at most", la.signal.resample_poly, x, 1,
      math.maxinteger)
    gives("an even number of taps", la.signal.firwin, 8, 0.2,
      {pass_zero = false})
    gives("unknown window 'nope' (known: boxcar", la.signal.firwin, 7, 0.2,
      {window = "nope"})
    gives("pass_zero", la.signal.firwin, 7, 0.2, {pass_zero = 3})
    gives("pass_zero", la.signal.firwin, 7, 0.2, {pass_zero = "nope"})
    gives("a table of options expected, got number", la.signal.butter, 2, 0.2,
      3)
    gives("a has no coefficient but 0", la.signal.lfilter_zi, {1}, {0, 0})
  end)
end)

---------------------------------------------------------------------------
-- Windows

describe("windows:", function()
  local function rounded(t)
    local out = {}
    for k, v in ipairs(t:totable()) do out[k] = ("%.5f"):format(v) end
    return table.concat(out, " ")
  end

  it("PyTorch's are periodic unless asked otherwise", function()
    assert.equal("0.00000 0.34549 0.90451 0.90451 0.34549",
      rounded(la.hann_window(5)))
    assert.equal("0.08000 0.77000 0.77000 0.08000",
      rounded(la.hamming_window(4, false)))
    assert.equal("0.20000 0.50000 0.80000 0.50000",
      rounded(la.hamming_window(4, true, 0.5, 0.3)))
    assert.equal("-0.00000 0.34000 1.00000 0.34000",
      rounded(la.blackman_window(4)))
    assert.equal("0.00000 0.50000 1.00000 0.50000",
      rounded(la.bartlett_window(4)))
    assert.equal("0.00005 0.21567 1.00000 0.21567",
      rounded(la.kaiser_window(4)))
    assert.equal("0.03671 0.55285 1.00000 0.55285",
      rounded(la.kaiser_window(4, true, 5)))
  end)

  it("are those of one more point without the last, at any length", function()
    for _, n in ipairs{1, 2, 3, 1022, 1023, 1024, 1025, 40000} do
      for _, name in ipairs{"hann", "blackman"} do
        local all = la.signal_window(name, n + 1, {sym = true})
        local w = la.signal_window(name, n, {sym = n == 1})
        assert.is_true(n == 1 and w[1]:item() == 1
          or la.equal(w, all:narrow(1, 1, n)))
      end
      local i = la.arange(n, {dtype = "float64"})
      local hann = 0.5 - 0.5 * (2 * math.pi / n * i):cos()
      assert.is_true(n == 1 or la.allclose(la.hann_window(n,
        {dtype = "float64"}), hann, {rtol = 0, atol = 1e-15}))
    end
  end)

  it("are symmetric to the last bit, of any floating dtype", function()
    for _, name in ipairs{"hann", "lanczos", "kaiser", "tukey", "parzen"} do
      local w = la.signal_window(name, 1001, {sym = true, dtype = "float64"})
      assert.is_true(la.equal(w, w:flip(1)))
      local half = la.signal_window(name, 1001, {sym = true,
        dtype = "bfloat16"})
      assert.is_true(la.equal(half, w:to("bfloat16")))
    end
    assert.equal(la.get_default_dtype(), la.hann_window(3).dtype)
    assert.same({0}, la.hann_window(0).shape)
    assert.same({3}, la.hann_window(3, {device = "meta"}).shape)
    assert.is_true(la.hann_window(3, {requires_grad = true}).requires_grad)
  end)

  it("errors", function()
    gives("no negative length, got -1", la.hann_window, -1)
    gives("not implemented for 'Long'", la.hann_window, 4, {dtype = "int64"})
    gives("unknown window 'foo' (known: boxcar, hann", la.signal.window,
      "foo", 4)
    gives("'hann' has no parameter beta", la.signal.window, "hann", 4,
      {beta = 2})
    gives("needs alpha=", la.signal.window, "general_hamming", 4)
  end)
end)

---------------------------------------------------------------------------
-- Peaks

describe("peaks:", function()
  it("maxima and what is apart", function()
    local x = la.tensor{0, 2, 2, 1, 3, 0, 1, 0}
    local at, left, right = la.signal_local_maxima(x)
    assert.same({2, 5, 7}, at:totable())
    assert.same({2, 5, 7}, left:totable())
    assert.same({3, 5, 7}, right:totable())
    local keep = la.signal_peaks_apart(at, la.tensor{3, 1, 2}, 3)
    assert.same({true, true, false}, keep:totable())
    local far = la.tensor{math.mininteger, 1, math.maxinteger}
    assert.same({true, true, true},
      la.signal_peaks_apart(far, la.tensor{1, 2, 3}, 3):totable())
    assert.is_false((pcall(la.signal_peaks_apart, far, far, 3)))
    local heights = la.signal_peak_prominences(x:float(), at)
    assert.equal("float32", heights.dtype)
    assert.same({1, 3, 1}, heights:totable())
    local widths = la.signal_peak_widths(x, at)
    assert.equal("float64", widths.dtype)
  end)

  it("one pass over all samples finds what a walk finds", function()
    la.manual_seed(6)
    local x = (la.randn(3000, F64):cumsum(1) * 2):round() / 2
    x[1500] = 0 / 0
    local at = la.signal_local_maxima(x)
    local p, left, right = la.signal_peak_prominences(x, at)
    local some = at:numel() // 20
    for k = 1, at:numel() - some, some do
      local q, l, r = la.signal_peak_prominences(x, at:narrow(1, k, 20))
      assert.is_true(la.equal(q, p:narrow(1, k, 20)))
      assert.is_true(la.equal(l, left:narrow(1, k, 20)))
      assert.is_true(la.equal(r, right:narrow(1, k, 20)))
    end
  end)

  it("limits may be tensors; NaN is no peak", function()
    local x = la.tensor({0, 1, 0, 2, 0, 0 / 0, 0, 3, 0}, F64)
    assert.same({2, 4, 8}, (la.signal.find_peaks(x)):totable())
    local low = la.tensor({0, 2, 0, 1, 0, 0, 0, 9, 0}, F64)
    assert.same({4}, (la.signal.find_peaks(x, {height = low})):totable())
    assert.same({2, 8}, (la.signal.find_peaks(la.tensor{0, 1, 0, 0, 0, 0, 0, 3,
      2}, {distance = 2})):totable())
  end)

  it("errors", function()
    local x = la.ones(5)
    gives("a signal of 1 dim expected, got 2-D", la.signal.find_peaks,
      la.ones(2, 2))
    gives("distance: a number of at least 1", la.signal.find_peaks, x,
      {distance = 0.5})
    gives("wlen must be larger than 1, got 1", la.signal.find_peaks, x,
      {prominence = 1, wlen = 1})
    gives("unknown option 'size'", la.signal.find_peaks, x, {size = 1})
    gives("peak 9 is out of range, 1 to 5", la.signal.peak_widths, x,
      la.tensor{9})
    gives("positions, int64 in 1 dim, expected, got float32",
      la.signal.peak_prominences, x, x)
    gives("the bases 1 and 9 are not around the peak 2",
      la.signal.peak_widths, x, la.tensor{2}, {prominences = la.ones(1),
        left_bases = la.tensor{1}, right_bases = la.tensor{9}})
    gives("a value for each of 1 peaks expected, got 2",
      la.signal.peak_widths, x, la.tensor{2}, {prominences = la.ones(2),
        left_bases = la.tensor{1}, right_bases = la.tensor{9}})
    gives("rel_height must not be negative", la.signal.peak_widths, x,
      la.tensor{1}, -1)
  end)
end)

---------------------------------------------------------------------------
-- Convolution

-- What of a signal in memory gives the sizes and dtypes of one on meta.
describe("meta:", function()
  local function alike(f, dtype)
    local x = la.rand(2, 40):to(dtype or "float32")
    local want = table.pack(f(x))
    local got = table.pack(f(x:to("meta")))
    assert.same(want.n, got.n)
    for k = 1, want.n do
      assert.same("meta", tostring(got[k].device))
      assert.same(want[k].shape, got[k].shape)
      assert.same(want[k].dtype, got[k].dtype)
    end
  end

  it("filters and spectra", function()
    local s = la.signal
    local b, a = s.butter(2, 0.3, {output = "ba"})
    local sos = s.butter(3, 0.3)
    alike(function(x) return s.filtfilt(b, a, x) end)
    alike(function(x) return s.sosfiltfilt(sos, x) end)
    alike(function(x) return s.hilbert(x, {n = 9}) end)
    alike(function(x) return s.detrend(x, {bp = {5}}) end)
    alike(function(x) return s.stft(x, 8, {window = {"kaiser", 3}}) end)
    for _, dtype in ipairs{"float32", "float64", "complex64"} do
      alike(function(x) return s.spectrogram(x, {nperseg = 8}) end, dtype)
      alike(function(x) return s.welch(x, {average = "median"}) end, dtype)
      alike(function(x) return s.periodogram(x) end, dtype)
      alike(function(x) return s.resample(x, 60, {window = "hann"}) end, dtype)
      alike(function(x) return s.resample(x, 20) end, dtype)
    end
  end)
end)

describe("convolution:", function()
  before_each(function() la.manual_seed(4) end)

  it("la.convolve is numpy's", function()
    local a, v = la.tensor{1, 2, 3, 4}, la.tensor{1, 0, -1}
    assert.same({1, 2, 2, 2, -3, -4}, la.convolve(a, v):totable())
    assert.same({2, 2, 2, -3}, la.convolve(v, a, "same"):totable())
    assert.same({2, 2}, la.convolve(v, a, {mode = "valid"}):totable())
    assert.equal("int64", la.convolve(a, v).dtype)
  end)

  it("every method gives the same, in any number of dims", function()
    for _, shapes in ipairs{{{40}, {9}}, {{3, 8}, {5, 2}}, {{2, 3, 4}, {2, 2,
        2}}, {{2, 3, 2, 4}, {2, 2, 1, 3}}} do
      local a, v = la.randn(shapes[1], F64), la.randn(shapes[2], F64)
      local direct = la.signal_convolve(a, v, "full", "direct")
      local fft = la.signal_convolve(a, v, "full", "fft")
      assert.is_true(la.allclose(direct, fft))
      assert.is_true(la.allclose(la.signal_correlate(a, v:flip()), direct))
    end
  end)

  it("the faster method is the right one too", function()
    local a, v = la.randn(5000, F64), la.randn(3000, F64)
    local direct = la.signal_convolve(a, v, {method = "direct"})
    assert.is_true(la.allclose(la.signal_convolve(a, v), direct,
      {rtol = 1e-10, atol = 1e-10}))
    assert.is_true(la.allclose(la.convolve(a, v), direct,
      {rtol = 1e-10, atol = 1e-10}))
  end)

  it("integers are exact, 16 bits computed in 32", function()
    local big = la.tensor{2 ^ 40 | 0, 3, 1}
    assert.same({2 ^ 41 | 0, 6 + (2 ^ 40 | 0) * 5, 17, 5},
      la.signal_convolve(big, la.tensor{2, 5}):totable())
    local a, v = la.randn(30):half(), la.randn(9):half()
    for _, method in ipairs{"direct", "fft"} do
      local got = la.signal_convolve(a, v, {method = method})
      assert.equal("float16", got.dtype)
      assert.is_true(la.allclose(got:float(), la.signal_convolve(a:float(),
        v:float()), {rtol = 2e-3, atol = 2e-3}))
    end
  end)

  it("numbers, empty and meta tensors", function()
    assert.equal(6, la.signal_convolve(la.tensor(2), la.tensor(3)):item())
    assert.same({0}, la.signal_convolve(la.zeros(0), la.ones(3)).shape)
    local m = la.zeros(4, 5, {device = "meta"})
    assert.same({5, 8}, la.signal_convolve(m, la.zeros(2, 4, {device = "meta"}))
      .shape)
  end)

  it("errors", function()
    local a = la.ones(3)
    gives("mode is full, same or valid, got 'x'", la.convolve, a, a, "x")
    gives("a signal must not be empty", la.convolve, a, la.zeros(0))
    gives("a signal of 1 dim expected, got 2-D", la.convolve, a, la.ones(2, 2))
    gives("method is direct, fft or auto, got 'x'", la.signal.convolve, a, a,
      "full", "x")
    gives("as many dims expected, got 1-D and 2-D", la.signal.correlate, a,
      la.ones(2, 2))
    gives("at least as large as the other in every dim", la.signal.convolve,
      la.ones(2, 3), la.ones(3, 2), "valid")
  end)
end)

---------------------------------------------------------------------------
-- Spectra

describe("spectra:", function()
  before_each(function() la.manual_seed(5) end)

  it("istft undoes stft", function()
    local x = la.randn(2, 3, 1001, F64)
    for _, o in ipairs{{window = "hann"}, {window = {"kaiser", 6},
        hop_length = 7}, {win_length = 20, hop_length = 5, window = "hamming",
        normalized = true}, {window = {"tukey", 0.5}, onesided = false}} do
      local z = la.signal.stft(x, 32, o)
      o.length = 1001
      local y = la.signal.istft(z, 32, o)
      assert.is_true(la.allclose(y, x, {rtol = 1e-10, atol = 1e-10}))
    end
    local z = la.complex(x, x:flip(-1))
    local s = z:stft(32, {window = "hann"})
    assert.is_true(la.allclose(s:istft(32, {window = "hann", length = 1001,
      return_complex = true}), z))
    assert.is_true(la.equal(x:stft(16, 4, 16, la.hann_window(16, F64)),
      la.signal.stft(x, 16, 4, 16, "hann")))
    assert.same({2, 9, 5}, la.zeros(2, 16, {device = "meta"}):stft(16).shape)
    assert.same({0, 9, 5}, la.zeros(0, 16):stft(16).shape)
  end)

  it("derivatives", function()
    local x = la.randn(2, 24, F64):requires_grad_()
    for name, f in pairs{
      spectrogram = function(v)
        return (select(3, la.signal.spectrogram(v, {nperseg = 8})))
      end,
      welch = function(v)
        return (select(2, la.signal.welch(v, {nperseg = 8,
          detrend = "linear"})))
      end,
      median = function(v)
        return (select(2, la.signal.welch(v, {nperseg = 8,
          average = "median"})))
      end,
      periodogram = function(v)
        return (select(2, la.signal.periodogram(v)))
      end,
      hilbert = la.signal.hilbert,
      resample = function(v) return la.signal.resample(v, 17) end,
      poly = function(v) return la.signal.resample_poly(v, 3, 2) end,
    } do assert.is_true(la.gradcheck(f, {x}), name) end
  end)

  it("dtypes: float32 stays, 16 bits and integers are computed", function()
    local x = la.randn(300)
    local f, t, s = la.signal.spectrogram(x)
    for _, r in ipairs{f, t, s} do assert.equal("float32", r.dtype) end
    assert.equal("float32", (select(2, la.signal.welch(la.arange(300)))).dtype)
    assert.equal("float16", la.signal.resample(x:half(), 100).dtype)
    assert.equal("complex64", la.signal.hilbert(x).dtype)
    assert.equal("bfloat16", la.signal.resample_poly(x:to("bfloat16"), 2, 3)
      .dtype)
  end)

  it("errors", function()
    local x = la.randn(50)
    gives("\"stft\" not implemented for 'Long'", la.stft, la.arange(5), 2)
    gives("n_fft must be positive, got 0", la.stft, x, 0)
    gives("hop_length must be positive", la.stft, x, 8, 0)
    gives("0 < win_length <= n_fft = 8 expected, got 9", la.stft, x, 8, 2, 9)
    gives("win_length = 20 points expected, got 1-D with 3", la.stft, x, 20,
      {window = la.ones(3)})
    gives("unknown window 'no'", la.signal.stft, x, 20, {window = "no"})
    gives("n_fft = 60 is more than the 50 samples", la.stft, x, 60,
      {center = false})
    gives("no second half", la.stft, la.complex(x, x), 8, {onesided = true})
    local z = x:stft(8)
    gives("9 bins expected of n_fft = 16, got 5", la.istft, z, 16)
    gives("the squared windows add up to 0", la.istft, z, 8,
      {center = false, window = "hann"})
    gives("\"istft\" not implemented for 'Float'", la.istft, x, 8)
    gives("return_complex needs all of them", la.istft, z, 8,
      {return_complex = true})
    gives("nfft must not be less than nperseg", la.signal.welch, x,
      {nperseg = 20, nfft = 10})
    gives("noverlap must be less than nperseg = 20, got 20", la.signal.welch,
      x, {nperseg = 20, noverlap = 20})
    gives("mode is one of psd, magnitude", la.signal.spectrogram, x,
      {mode = "x"})
    gives("average is one of mean, median", la.signal.welch, x,
      {average = "x"})
    gives("x has no samples", la.signal.periodogram, la.zeros(0))
    gives("a real signal expected", la.signal.hilbert, z)
    gives("n: an integer of at least 1", la.signal.resample, x, 0)
    gives("up: an integer of at least 1 expected, got 0.5",
      la.signal.resample_poly, x, 0.5, 1)
    gives("padtype is one of constant, mean", la.signal.resample_poly, x, 2, 1,
      {padtype = "x"})
  end)
end)
