-- Fourier transforms against their definition, as a matrix product in double
-- precision: all short lengths, primes, long ones by their properties; batches,
-- strides and threads give the same bits.
local la = require "lunarray"
local F = la.fft

local TOLERANCE = {complex64 = 3e-6, complex128 = 1e-13}
local DTYPES = {"complex64", "complex128"}

local function random(dtype, ...)
  local p = {dtype = "float64"}
  local size = {...}
  return la.complex(la.randn(size, p), la.randn(size, p)):to(dtype)
end

local function reals(x) return la.real(x):contiguous() end

-- The definition, of a vector.
local function dft(x)
  local n = x:size(1)
  local k = la.arange(n, {dtype = "float64"})
  local angle = ((k:unsqueeze(2) * k:unsqueeze(1)) % n) * (2 * math.pi / n)
  return la.complex(angle:cos(), -angle:sin()):matmul(x:to("complex128"))
end

local function near(what, n, got, want, tolerance)
  local scale = math.max(want:abs():max():item(), 1)
  local e = (got:to(want.dtype) - want):abs():max():item()
  assert(e <= tolerance * scale, ("%s of %d: %g"):format(what, n, e / scale))
end

local function check_length(dtype, n)
  local tolerance = TOLERANCE[dtype]
  local x = random(dtype, n)
  local r, want = reals(x), dft(x)
  near("fft", n, F.fft(x), want, tolerance)
  near("ifft", n, F.ifft(F.fft(x)), x, tolerance)
  near("ifft by fft", n, F.ifft(x),
    la.conj(F.fft(la.conj(x))) / n, tolerance)
  local whole = dft(r)
  near("fft of reals", n, F.fft(r), whole, tolerance)
  near("rfft", n, F.rfft(r), whole:narrow(1, 1, n // 2 + 1), tolerance)
  near("irfft", n, F.irfft(F.rfft(r), n), r, tolerance)
  near("hfft", n, F.hfft(F.ihfft(r), n), r, tolerance)
end

local function same(what, n, a, b)
  assert(la.equal(a, b), ("bits of %s of %d"):format(what, n))
end

-- A line in a batch, along either dim, has the bits that it has alone.
local function check_layouts(dtype, n)
  local x = random(dtype, 21, n)
  local t, r = x:t():contiguous(), reals(x)
  local rt = r:t():contiguous()
  local m = 2 * n - 1
  for _, i in ipairs {1, 8, 16, 17, 21} do
    local one = F.fft(x[i])
    same("fft", n, one, F.fft(x)[i])
    same("fft of columns", n, one, F.fft(t, nil, 1):t()[i])
    same("fft of a view", n, one, F.fft(t:t()[i]))
    one = F.rfft(r[i])
    same("rfft", n, one, F.rfft(r)[i])
    same("rfft of columns", n, one, F.rfft(rt, nil, 1):t()[i])
    one = F.irfft(x[i], m)
    same("irfft", n, one, F.irfft(x, m)[i])
    same("irfft of columns", n, one, F.irfft(t, m, 1):t()[i])
  end
end

describe("fft", function()
  it("is its definition for all short lengths", function()
    la.manual_seed(1)
    for _, dtype in ipairs(DTYPES) do
      for n = 1, 200 do check_length(dtype, n) end
      for _, n in ipairs {211, 251, 256, 343, 512, 625, 1009, 1024, 1331} do
        check_length(dtype, n)
      end
    end
  end)

  it("gives the same bits in batches and along any dim", function()
    la.manual_seed(2)
    for _, dtype in ipairs(DTYPES) do
      for _, n in ipairs {2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 30, 32, 63, 64, 66,
        100, 131, 210, 256, 1000} do
        check_layouts(dtype, n)
      end
    end
  end)

  it("gives the same bits to any number of short lines", function()
    la.manual_seed(8)
    for _, dtype in ipairs(DTYPES) do
      for n = 1, 33 do
        for _, count in ipairs {2, 7, 15, 16, 17, 33, 64, 65, 131} do
          local x = random(dtype, count, n)
          local y = F.fft(x)
          local z = F.ifft(x, nil, nil, "ortho")
          for _, i in ipairs {1, count // 2 + 1, count} do
            same("of " .. count, n, F.fft(x[i]), y[i])
            same("inverse of " .. count, n,
                 F.ifft(x[i], nil, nil, "ortho"), z[i])
          end
          F.fft(x, nil, nil, {out = x})
          same("in place", n, x, y)
        end
      end
    end
  end)

  it("takes lines of two dims, each with gaps", function()
    local x = random("complex64", 5, 14, 20)
    local part = x:narrow(1, 2, 3):narrow(2, 3, 11):narrow(3, 2, 16)
    local y = F.fft(part)
    for i = 1, 3 do
      for j = 1, 11 do same("row", 16, F.fft(part[i][j]), y[i][j]) end
    end
  end)

  it("is right for long sequences", function()
    la.manual_seed(3)
    for _, n in ipairs {4096, 10007, 32768, 65536, 65537, 100000, 390625} do
      local x = random("complex128", n)
      local y = F.fft(x)
      near("inverse", n, F.ifft(y), x, 1e-12)
      for _, k in ipairs {0, 1, n // 3, n - 1} do
        local angle = ((la.arange(n, {dtype = "float64"}) * k) % n)
          * (2 * math.pi / n)
        local want = (x * la.complex(angle:cos(), -angle:sin())):sum()
        near("element", n, y:narrow(1, k + 1, 1):squeeze(), want, 1e-9)
      end
      local r = reals(x)
      near("rfft", n, F.rfft(r), F.fft(la.complex(r, r * 0)):narrow(1, 1,
        n // 2 + 1), 1e-12)
      near("irfft", n, F.irfft(F.rfft(r), n), r, 1e-12)
    end
  end)

  it("does not depend on the number of threads", function()
    local threads = la.get_num_threads()
    for _, size in ipairs {{1 << 17}, {100003}, {300, 100}, {64, 33, 40}} do
      local x = random("complex64", table.unpack(size))
      la.set_num_threads(1)
      local one = F.fftn(x)
      la.set_num_threads(4)
      local four = F.fftn(x)
      la.set_num_threads(threads)
      same("fftn", x:numel(), one, four)
    end
  end)

  it("takes several dims one after another", function()
    local x = random("complex128", 3, 4, 5)
    local y = F.fft(F.fft(F.fft(x, nil, 1), nil, 2), nil, 3)
    near("fftn", 3, F.fftn(x), y, 1e-13)
    near("fft2", 3, F.fft2(x), F.fft(F.fft(x), nil, -2), 1e-13)
    near("ifftn", 3, F.ifftn(y), x, 1e-13)
    local r = reals(x)
    near("rfftn", 3, F.rfftn(r), F.fftn(r):narrow(3, 1, 3), 1e-13)
    near("irfftn", 3, F.irfftn(F.rfftn(r), {3, 4, 5}), r, 1e-13)
    near("hfftn", 3, F.hfftn(F.ihfftn(r), {3, 4, 5}), r, 1e-13)
  end)

  it("writes to out, also over its input", function()
    local x = random("complex64", 8, 64)
    local want = F.fft(x, nil, 1)
    local out = la.empty(64, 8, {dtype = "complex64"}):t()
    F.fft(x, nil, 1, {out = out})
    same("out", 8, out, want)
    F.fft(x, nil, 1, {out = x})
    same("out that is the input", 8, x, want)
  end)

  it("has the dtypes of PyTorch", function()
    assert.equal("complex64", F.fft(la.tensor {1, 2, 3}).dtype)
    assert.equal("complex64", F.fft(la.tensor {true, false}).dtype)
    assert.equal("complex128", F.rfft(la.zeros(4, {dtype = "float64"})).dtype)
    assert.equal("float32", F.irfft(la.zeros(4)).dtype)
    assert.has_error(function() F.fft(la.zeros(4, {dtype = "float16"})) end)
    assert.has_error(function() F.fft(la.zeros(4, {dtype = "bfloat16"})) end)
    assert.has_error(function()
      F.rfft(la.zeros(4, {dtype = "complex64"}))
    end)
  end)

  it("names what is wrong", function()
    local function fails(text, f, ...)
      local ok, e = pcall(f, ...)
      assert(not ok and tostring(e):find(text, 1, true), tostring(e))
    end
    fails("Invalid number of data points (0)", F.fft, la.zeros(0))
    fails("Invalid number of data points (0)", F.fft, la.zeros(3), 0)
    fails("Invalid number of data points (0)", F.irfft, la.zeros(1))
    fails("no dimensions", F.fft, la.tensor(1.0))
    fails("Invalid normalization mode", F.fft, la.zeros(3), nil, -1, "x")
    fails("same length", F.fftn, la.zeros(3, 3), {3}, {1, 2})
    fails("only has 1 dim", F.fft2, la.zeros(3), {2, 2})
    fails("out of range", F.fft, la.zeros(3), nil, 2)
    fails("'ComplexFloat'", F.rfft, random("complex64", 3))
  end)

  it("of no lines is empty", function()
    assert.same({0, 5}, F.fft(la.zeros(0, 5)).shape)
    assert.same({0, 3}, F.rfft(la.zeros(0, 5)).shape)
    assert.same({0, 8}, F.irfft(la.zeros(0, 5)).shape)
    assert.same({0, 8}, F.fft(la.zeros(0, 5), 8).shape)
  end)

  it("shifts any dims there and back", function()
    local x = la.arange(30):reshape(5, 6)
    assert(la.equal(x, F.ifftshift(F.fftshift(x))))
    assert.same({0, 1, 2, -3, -2, -1}, (F.fftfreq(6) * 6):round():tolist())
    assert.same({3, 4, 0, 1, 2}, F.fftshift(la.arange(5)):tolist())
  end)

  it("has exact derivatives", function()
    local p = {dtype = "float64"}
    for _, n in ipairs {5, 6} do
      local r = la.randn({2, n}, p):requires_grad_()
      local x = random("complex128", 2, n):requires_grad_()
      local calls = {
        {function(a) return F.fft(a, nil, -1, "ortho") end, r},
        {function(a) return F.ifft(a, 4) end, x},
        {function(a) return F.rfft(a, 8) end, r},
        {function(a) return F.ihfft(a, nil, 1) end, r},
        {function(a) return F.irfft(a, 2 * n - 1) end, x},
        {function(a) return F.hfft(a) end, x},
        {function(a) return F.rfftn(a) end, r},
        {function(a) return F.irfft2(a) end, x},
        {function(a) return F.dct(a) end, r},
        {function(a) return F.idct(a, 2, nil, 1, "ortho") end, r},
        {function(a) return F.dct(a, 4) end, r},
      }
      for _, c in ipairs(calls) do
        assert(la.autograd.gradcheck(c[1], {c[2]}))
        assert(la.autograd.gradgradcheck(c[1], {c[2]}))
      end
    end
  end)

  it("of cosines is inverted by idct", function()
    for _, n in ipairs {2, 3, 16, 33, 100} do
      local x = la.randn({3, n}, {dtype = "float64"})
      for kind = 1, 4 do
        for _, norm in ipairs {"backward", "forward", "ortho"} do
          local y = F.dct(x, kind, nil, -1, norm)
          near("idct", n, F.idct(y, kind, nil, -1, norm), x, 1e-13)
          if norm == "ortho" then
            near("length", n, y:norm(), x:norm(), 1e-13)
          end
        end
      end
    end
    assert.has_error(function() F.dct(la.zeros(4), 5) end)
    assert.has_error(function() F.dct(la.zeros(1), 1) end)
  end)

  it("keeps plans within bounds", function()
    local before = la.memory()
    for n = 4000, 4400 do F.fft(random("complex128", n)) end
    collectgarbage()
    assert(la.memory() - before < 72 << 20)
  end)
end)
