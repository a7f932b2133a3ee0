-- la.signal.fftconvolve and oaconvolve against the direct convolution, along
-- all dims and along some, in every mode; blocks on either side.
local la = require "lunarray"
local raises = require "spec.support.raises"

local signal = la.signal
local F64 = {dtype = "float64"}

local function near(want, got, what)
  assert.same(want.shape, got.shape, what)
  assert.is_true(la.allclose(want, got:to(want.dtype), 1e-9, 1e-9), what)
end

local function both(f)
  f(signal.fftconvolve, "fftconvolve")
  f(signal.oaconvolve, "oaconvolve")
end

describe("convolution by transforms", function()
  it("is the direct one, in every mode", function()
    la.manual_seed(1)
    for _, sizes in ipairs {{{1}, {1}}, {{5}, {3}}, {{3}, {5}}, {{400}, {7}},
      {{6}, {900}}, {{7, 300}, {5, 4}}, {{300, 3}, {4, 3}},
      {{300, 4}, {5, 280}}, {{2, 3, 4}, {1, 2, 2}}} do
      for _, complex in ipairs {false, true} do
        local options = {dtype = complex and "complex128" or "float64"}
        local a, v = la.randn(sizes[1], F64), la.randn(sizes[2], options)
        for _, mode in ipairs {"full", "same", "valid"} do
          local ok, want = pcall(signal.convolve, a, v, mode, "direct")
          both(function(f, name)
            if ok then
              near(want, f(a, v, mode), name .. " " .. mode)
            else
              raises("mode 'valid'", f, a, v, mode)
            end
          end)
        end
      end
    end
  end)

  it("goes along some dims, and broadcasts the others", function()
    la.manual_seed(2)
    local a, v = la.randn(3, 200, 2, F64), la.randn(1, 4, 2, F64)
    for _, mode in ipairs {"full", "same", "valid"} do
      both(function(f, name)
        for axes, got in pairs {[2] = f(a, v, mode, 2),
          [-2] = f(a, v, {mode = mode, axes = {-2}})} do
          for i = 1, 3 do
            for k = 1, 2 do
              near(signal.convolve(a[{i, {}, k}], v[{1, {}, k}], mode,
                "direct"), got[{i, {}, k}], name .. mode .. axes)
            end
          end
        end
        local planes = f(a, v, mode, {3, 2})
        for i = 1, 3 do
          near(signal.convolve(a[i], v[1], mode, "direct"), planes[i], name)
        end
      end)
    end
  end)

  it("gives SciPy's dtypes and sizes", function()
    both(function(f)
      local ints = la.tensor{1, 2, 3}
      assert.same({1, 3, 5, 3}, f(ints, la.tensor{1, 1}):round():totable())
      assert.equal("float64", f(ints, ints).dtype)
      assert.equal("float32", f(ints, la.ones(2)).dtype)
      assert.equal("float16", f(la.ones(3):half(), la.ones(2):half()).dtype)
      assert.equal("complex64", f(la.ones(3), la.ones(2):to("complex64")).dtype)
      assert.equal(0, f(la.zeros(0), la.ones(3)):numel())
      assert.equal(6, f(la.tensor(2.), la.tensor(3.)):item())
    end)
  end)

  it("has derivatives", function()
    la.manual_seed(3)
    local a = la.randn(2, 40, F64):requires_grad_()
    local v = la.randn(1, 3, F64):requires_grad_()
    both(function(f)
      assert.is_true(la.gradcheck(function(x, y) return f(x, y, "same", 2) end,
        {a, v}))
    end)
  end)

  it("says what does not fit", function()
    both(function(f, name)
      local x = la.ones(2, 3)
      raises(name .. ": two tensors of as many dims", f, x, la.ones(3))
      raises(name .. ": mode is full, same or valid", f, x, x, "half")
      raises(name .. ": axes: dims from 1 to 2", f, x, x, "full", 3)
      raises(name .. ": axes: a dim appears twice", f, x, x, "full", {2, -1})
      raises(name .. ": axes: at least one dim", f, x, x, "full", {})
      raises(name .. ": sizes 2 and 4 of dim 1", f, x, la.ones(4, 3), "full", 2)
      raises(name .. ": in2: tensor expected, got number", f, x, 3)
    end)
  end)
end)
