-- Products and convolutions of bytes against sums in int64 and float64, on the
-- paths of this machine; numbers to bytes against their definition.
local la = require "lunarray"
local raises = require "spec.support.raises"

local function bytes(dtype, ...)
  local low = dtype == "int8" and -128 or 0
  return la.randint(low, low + 256, {...}, {dtype = "int64"}):to(dtype)
end

-- One zero point, or a dim of them at 'dim' of n dims, taken off.
local function less(x, zero, n, dim)
  local wide = x:to("float64")
  if not zero then return wide end
  local shape = {}
  for k = 1, n do shape[k] = 1 end
  shape[dim] = zero:numel()
  return wide - zero:reshape(shape):to("float64")
end

local PAIRS = {{"uint8", "int8"}, {"uint8", "uint8"}, {"int8", "int8"},
  {"int8", "uint8"}}

describe("integer_matmul", function()
  it("is the exact product of bytes less their zero points", function()
    la.manual_seed(21)
    for _, pair in ipairs(PAIRS) do
      for _, s in ipairs{{1, 1, 1}, {1, 7, 5}, {3, 4, 16}, {5, 33, 17},
        {7, 64, 64}, {2, 9, 40}, {13, 130, 200}, {100, 257, 129},
        {1, 300, 300}} do
        local m, k, n = table.unpack(s)
        local a, b = bytes(pair[1], m, k), bytes(pair[2], k, n)
        local packed = la.integer_pack(b)
        for _, zeros in ipairs{{}, {bytes(pair[1]), bytes(pair[2], 1)},
          {bytes(pair[1], m), bytes(pair[2], n)}, {nil, bytes(pair[2], n)}} do
          local want = less(a, zeros[1], 2, 1):matmul(less(b, zeros[2], 2, 2))
            :to("int32")
          local got = la.integer_matmul(a, b, zeros[1], zeros[2])
          assert.are.equal("int32", got.dtype)
          assert.is_true(got:equal(want))
          assert.is_true(want:equal(la.integer_matmul(a, b, zeros[1],
            zeros[2], packed)))
          assert.is_true(want:equal(la.integer_matmul(a:t():contiguous():t(),
            b:t():contiguous():t(), zeros[1], zeros[2])))
        end
      end
    end
  end)

  it("takes batches, and the ends of the range without saturation",
  function()
    local a = bytes("uint8", 2, 3, 4, 9)
    local b, c = bytes("int8", 9, 5), bytes("int8", 2, 3, 9, 5)
    local zero = bytes("uint8", 4)
    local function want(right)
      return less(a, zero, 4, 3):matmul(right:to("float64")):to("int32")
    end
    assert.is_true(want(b):equal(la.integer_matmul(a, b, zero)))
    assert.is_true(want(c):equal(la.integer_matmul(a, c, zero)))
    local most = la.full({3, 513}, 255, {dtype = "uint8"})
    local least = la.full({513, 20}, -128, {dtype = "int8"})
    assert.are.equal(-513 * 255 * 128,
      la.integer_matmul(most, least)[3][20]:item())
    assert.are.same({0, 5}, la.integer_matmul(a[1][1]:narrow(1, 1, 0), b).shape)
    assert.is_true(la.integer_matmul(la.zeros({2, 0}, {dtype = "uint8"}),
      la.zeros({0, 3}, {dtype = "int8"})):sum():item() == 0)
  end)

  it("has the same result with more threads", function()
    local a, b = bytes("uint8", 200, 150), bytes("int8", 150, 700)
    local one = la.integer_matmul(a, b)
    local before = la.get_num_threads()
    la.set_num_threads(3)
    assert.is_true(one:equal(la.integer_matmul(a, b)))
    la.set_num_threads(before)
  end)

  it("says what is wrong", function()
    local a, b = bytes("uint8", 2, 3), bytes("int8", 3, 4)
    raises("expected, got [2, 3] and [2, 3]", la.integer_matmul, a, a)
    raises("not implemented for 'Float'", la.integer_matmul, a:float(), b)
    raises("int8 or uint8 expected, got float32", la.integer_matmul, a,
      b:float())
    raises("zero point: one uint8, or 2 of them", la.integer_matmul, a, b,
      bytes("uint8", 3))
    raises("zero point: one int8", la.integer_matmul, a, b, nil,
      bytes("uint8"))
    raises("integer_pack of other", la.integer_matmul, a, b, nil, nil,
      la.integer_pack(bytes("int8", 30, 4)))
    raises("a matrix (k, n) expected, got 1 dims", la.integer_pack, a[1])
  end)
end)

describe("integer_conv2d", function()
  -- n, c, h, w, outputs, kernel, strides, padding, dilation, groups
  local CASES = {{2, 3, 9, 10, 4, 3, 3, 1, 1, 1, 1, 1},
    {1, 4, 17, 5, 6, 3, 2, 2, 1, 0, 1, 2}, {1, 8, 30, 30, 16, 3, 3, 1, 1, 1,
    1, 1}, {1, 2, 40, 40, 3, 5, 5, 2, 1, 2, 2, 1}, {1, 6, 7, 7, 6, 1, 1, 1, 1,
    0, 1, 1}, {1, 3, 33, 70, 8, 3, 3, 2, 2, 1, 1, 1}, {2, 4, 3, 3, 4, 3, 3, 1,
    1, 1, 1, 4}, {1, 2, 4, 100, 3, 2, 1, 1, 3, 0, 1, 1}}

  it("is the exact convolution, with the zero point as padding", function()
    la.manual_seed(22)
    for _, pair in ipairs(PAIRS) do
      for _, c in ipairs(CASES) do
        local x = bytes(pair[1], c[1], c[2], c[3], c[4])
        local w = bytes(pair[2], c[5], c[2] // c[12], c[6], c[7])
        local xz, wz = bytes(pair[1]), bytes(pair[2], c[5])
        local p = c[10]
        local want = la.conv2d(la.pad(less(x, xz, 4, 1), {p, p, p, p}),
          less(w, wz, 4, 1), nil, {c[8], c[9]}, 0, c[11], c[12]):to("int32")
        local got = la.integer_conv2d(x, w, xz, wz, {c[8], c[9]}, p, c[11],
          c[12])
        assert.is_true(got:equal(want))
      end
    end
  end)

  it("pads each side for itself", function()
    local x, w = bytes("uint8", 1, 2, 6, 7), bytes("int8", 5, 2, 3, 3)
    local want = la.conv2d(la.pad(x:double(), {2, 3, 0, 1}), w:double())
    assert.is_true(want:to("int32"):equal(
      la.integer_conv2d(x, w, {padding = {0, 2, 1, 3}})))
  end)

  it("says what is wrong", function()
    local x, w = bytes("uint8", 1, 2, 6, 7), bytes("int8", 4, 2, 3, 3)
    raises("images (n, c, h, w)", la.integer_conv2d, x[1], w)
    raises("with 2 groups", la.integer_conv2d, x, w, {groups = 2})
    raises("one or two numbers from 1 on", la.integer_conv2d, x, w,
      {stride = 0})
    raises("one or two numbers from 0 on", la.integer_conv2d, x, w,
      {padding = {1, 2, 3}})
    raises("pads from 0 on", la.integer_conv2d, x, w,
      {padding = {1, 1, -1, 1}})
    raises("windows of 3 do not fit into 2", la.integer_conv2d,
      x:narrow(3, 1, 2), w)
    raises("zero point: one int8, or 4", la.integer_conv2d, x, w, nil,
      bytes("int8", 3))
  end)
end)

describe("integer_requantize", function()
  it("scales, rounds and keeps within the dtype", function()
    la.manual_seed(24)
    for _, dtype in ipairs{"uint8", "int8"} do
      local low = dtype == "int8" and -128 or 0
      for _, s in ipairs{{2, 5, 7, 3}, {4, 33}, {1, 1}, {300}} do
        local sums = la.randint(-90000, 90000, s, {dtype = "int64"}):int()
        local zero = la.tensor(low + 100, dtype)
        for dim = 1, #s do
          for _, n in ipairs{1, s[dim]} do
            local scale = (la.rand(n) * 0.01):double()
            local bias = la.randint(-500, 500, {n}, {dtype = "int64"}):int()
            local shape = {}
            for k = 1, #s do shape[k] = k == dim and n or 1 end
            local function want(add)
              return ((sums:double() + add) * scale:view(shape)):round():add(
                low + 100):clamp(low, low + 255):to(dtype)
            end
            assert.is_true(want(0):equal(la.integer_requantize(sums, scale,
              zero, {dim = dim})))
            assert.is_true(want(bias:view(shape):double()):equal(
              la.integer_requantize(sums, scale, zero, bias, dim)))
          end
        end
      end
    end
  end)

  it("says what is wrong", function()
    local x, one = la.zeros({2, 3}, {dtype = "int32"}), la.ones(1):double()
    local zero = la.tensor(0, "uint8")
    raises("one float64, or 3 of them", la.integer_requantize, x,
      la.ones(2):double(), zero)
    raises("one float64", la.integer_requantize, x, la.ones(1), zero)
    raises("one int32", la.integer_requantize, x, one, zero, la.ones(3))
    raises("int8 or uint8", la.integer_requantize, x, one, la.tensor(0.))
    raises("one zero point", la.integer_requantize, x, one,
      la.zeros({2}, {dtype = "uint8"}))
  end)
end)

describe("quantize_dynamic", function()
  it("has 255 steps for the range of all numbers, which holds 0",
  function()
    la.manual_seed(23)
    for _, x in ipairs{la.randn(7, 13) * 3, la.rand(40) + 1, -la.rand(5),
      la.randn(300):view(10, 30):t()} do
      local q, scale, zero = la.quantize_dynamic(x)
      local low = math.min(x:amin():item(), 0)
      local high = math.max(x:amax():item(), 0)
      assert.is_true(math.abs(scale:item() * 255 - (high - low)) < 1e-5)
      assert.are.equal("uint8", zero.dtype)
      assert.are.same(x.shape, q.shape)
      local want = ((x / scale):round() + zero:float()):clamp(0, 255)
      assert.is_true(want:equal(q:float()))
    end
  end)

  it("has scale 1 where there is nothing but zeros, and 0 for NaN", function()
    local q, scale, zero = la.quantize_dynamic(la.zeros(3))
    assert.are.same({0, 1, 0}, {q[1]:item(), scale:item(), zero:item()})
    q = la.quantize_dynamic(la.tensor{0 / 0, 255.})
    assert.are.same({0, 255}, q:totable())
  end)
end)

-- All steps by la.quantize_dynamic, la.integer_matmul and the functions.
local function lstm_by_steps(gates, w, scale, h, c, zero, reverse)
  local outs, cells, steps, n = {}, {}, gates:size(1), h:size(2)
  for k = 1, steps do
    local t = reverse and steps + 1 - k or k
    local q, own, own_zero = la.quantize_dynamic(h)
    local x = gates[t] + la.integer_matmul(q, w, own_zero, zero) * (own * scale)
    local i, f, g, o = table.unpack(x:split(n, 2))
    c = f:sigmoid() * c + i:sigmoid() * g:tanh()
    h = o:sigmoid() * c:tanh()
    outs[t], cells[t] = h, c
  end
  return la.stack(outs, 1), la.stack(cells, 1)
end

local function lstm_operands(steps, rows, n, dtype)
  return la.randn(steps, rows, 4 * n), bytes(dtype, n, 4 * n),
    la.rand(4 * n) * (0.02 / n ^ 0.5), la.rand(rows, n) - 0.5,
    la.randn(rows, n), bytes(dtype, 4 * n)
end

describe("integer_lstm", function()
  local function near(a, b)
    assert.are.same(b.shape, a.shape)
    assert.is_true(a:allclose(b, {atol = 1e-5, equal_nan = true}))
  end
  local function same(...)
    local out, cells = la.integer_lstm(...)
    local gates, w, scale, h, c, zero, _, reverse = ...
    local want, want_cells = lstm_by_steps(gates, w, scale, h, c, zero, reverse)
    near(out, want)
    near(cells, want_cells)
    return out, cells
  end

  it("is its steps", function()
    la.manual_seed(31)
    for _, dtype in ipairs{"int8", "uint8"} do
      for _, s in ipairs{{1, 1, 1}, {5, 3, 7}, {4, 2, 33}, {3, 40, 64},
        {20, 1, 16}, {2, 130, 5}} do
        local gates, w, scale, h, c, zero = lstm_operands(s[1], s[2], s[3],
          dtype)
        for _, reverse in ipairs{false, true} do
          same(gates, w, scale, h, c, zero, nil, reverse)
          local out = same(gates, w, scale:narrow(1, 1, 1), h, c,
            zero:narrow(1, 1, 1), la.integer_pack(w), reverse)
          near(out, (la.integer_lstm(gates:transpose(1, 2):contiguous()
            :transpose(1, 2), w:t():contiguous():t(),
            scale:narrow(1, 1, 1):reshape({}), h:t():contiguous():t(), c,
            zero:narrow(1, 1, 1):reshape({}), nil, reverse)))
          same(gates, w, scale, h, c, nil, nil, reverse)
        end
      end
    end
  end)

  it("knows no rows, NaN and states of zero", function()
    la.manual_seed(32)
    local gates, w, scale, h, c = lstm_operands(3, 2, 4, "int8")
    same(gates, w, scale, la.zeros(2, 4), la.zeros(2, 4))
    gates[{{}, 1}]:fill_(0 / 0)
    same(gates, w, scale, h, c)
    local out = la.integer_lstm(gates:narrow(2, 1, 0), w, scale,
      h:narrow(1, 1, 0), c:narrow(1, 1, 0))
    assert.are.same({3, 0, 4}, {table.unpack(out.shape)})
    local meta = {device = "meta"}
    out = la.integer_lstm(la.zeros({3, 2, 16}, meta), w:to("meta"),
      scale:to("meta"), la.zeros({2, 4}, meta), la.zeros({2, 4}, meta))
    assert.are.equal("meta", tostring(out.device))
    assert.are.same({3, 2, 4}, {table.unpack(out.shape)})
  end)

  it("gives the same bits for each number of threads", function()
    la.manual_seed(33)
    local gates, w, scale, h, c, zero = lstm_operands(3, 200, 100, "int8")
    local threads = la.get_num_threads()
    la.set_num_threads(1)
    local out, cells = la.integer_lstm(gates, w, scale, h, c, zero)
    la.set_num_threads(2)
    local out2, cells2 = la.integer_lstm(gates, w, scale, h, c, zero)
    la.set_num_threads(threads)
    assert.is_true(out:equal(out2) and cells:equal(cells2))
  end)

  it("refuses what does not fit", function()
    local g, w, scale, h, c, zero = lstm_operands(3, 2, 4, "int8")
    local run = la.integer_lstm
    raises("at least one step", run, g[1], w, scale, h, c)
    raises("at least one step", run, g:narrow(1, 1, 0), w, scale, h, c)
    raises("4 * hidden", run, g:narrow(3, 1, 15), w, scale, h, c)
    raises("a weight of", run, g, w:t(), scale, h, c)
    raises("int8 or uint8", run, g, w:float(), scale, h, c)
    raises("scale", run, g, w, scale:narrow(1, 1, 2), h, c)
    raises("scale", run, g, w, scale:double(), h, c)
    raises("a float32 state", run, g, w, scale, h:t(), c)
    raises("a float32 state", run, g, w, scale, h, c:double())
    raises("zero point", run, g, w, scale, h, c, zero:narrow(1, 1, 3))
    raises("integer_pack", run, g, w, scale, h, c, zero, la.integer_pack(w:t()))
    raises("for 'Double'", run, g:double(), w, scale, h, c)
  end)
end)
