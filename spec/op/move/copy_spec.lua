-- Copies, conversions, fills and comparison of whole tensors.
local la = require "lunarray"

local function list(t) return t:totable() end

local raises = require "spec.support.raises"

local dtypes = {"bool", "uint8", "int8", "uint16", "int16", "uint32", "int32",
  "uint64", "int64", "float16", "bfloat16", "float32", "float64", "complex32",
  "complex64", "complex128"}

describe("copy_", function()
  it("broadcasts and converts", function()
    local x = la.zeros(2, 3)
    assert.equal(x, x:copy_(la.tensor{1, 2, 3}))
    assert.same({{1.0, 2.0, 3.0}, {1.0, 2.0, 3.0}}, list(x))
    local i = la.zeros(3, {dtype = "int8"})
    assert.same({1, -2, 0}, list(i:copy_(la.tensor{1.9, -2.9, 0.5})))
  end)

  it("refuses shapes that do not broadcast into self", function()
    raises("The size of tensor a (3) must match the size of tensor b (4)",
          la.zeros(3).copy_, la.zeros(3), la.zeros(4))
    raises("output with shape [3] doesn't match the broadcast shape [2, 3]",
          la.zeros(3).copy_, la.zeros(3), la.zeros(2, 3))
  end)

  it("does nothing between the same elements", function()
    local x = la.arange(6)
    assert.same({0, 1, 2, 3, 4, 5}, list(x:copy_(x:view(6))))
  end)

  it("refuses operands that overlap in part, and repeated targets", function()
    local x = la.arange(6)
    raises("some elements of the input tensor and the written-to tensor refer "
          .. "to a single memory location",
          x.copy_, x:narrow(1, 2, 5), x:narrow(1, 1, 5))
    raises("more than one element of the written-to tensor refers to a single "
          .. "memory location", x.copy_, la.zeros(1):expand(3), la.ones(3))
    assert.same({0, 1, 2, 3, 4, 5}, list(x))
  end)

  it("raises the version by one", function()
    local x = la.zeros(2)
    x:copy_(la.ones(2))
    assert.equal(1, x._version)
  end)

  it("settles conjugates", function()
    local z = la.view_as_complex(la.tensor{{1.0, 2.0}, {3.0, -4.0}})
    local plain = la.empty_like(z):copy_(z:conj())
    assert.is_false(plain:is_conj())
    assert.same({{1.0, -2.0}, {3.0, 4.0}}, list(la.view_as_real(plain)))
  end)

  it("gathers elements at any step and fills any length", function()
    for _, dtype in ipairs {"uint8", "int16", "float32", "float64",
      "complex128"} do
      local zero = la.zeros(1, {dtype = dtype}):tostring_raw()
      local five = la.full({1}, 5, {dtype = dtype}):tostring_raw()
      for _, n in ipairs {1, 2, 7, 33, 130} do
        for step = 2, 5 do
          local x = la.arange(n * step):remainder(251):to(dtype)
          local raw, want = x:tostring_raw(), {}
          for k = 0, n - 1 do
            want[k + 1] = raw:sub(k * step * #zero + 1,
                                  (k * step + 1) * #zero)
          end
          local y = x:slice(1, 1, n * step, step):contiguous()
          assert.equal(table.concat(want), y:tostring_raw())
        end
        local x = la.zeros(n + 2, {dtype = dtype})
        x[{{2, n + 1}}]:fill_(5)
        assert.equal(zero .. five:rep(n) .. zero, x:tostring_raw())
      end
    end
  end)

  it("reads a broadcast column and a transposed square", function()
    local n = 131
    local x = la.arange(n * n):view(n, n)
    assert.is_true(x.T:contiguous():equal(x.T))
    assert.is_true(la.zeros(n, n):copy_(x:narrow(2, 3, 1))
                   :equal(x:narrow(2, 3, 1):expand(n, n)))
  end)
end)

describe("clone", function()
  it("has its own storage and keeps a dense layout", function()
    local x = la.arange(6):view(2, 3).T
    local y = x:clone()
    assert.is_true(x:equal(y))
    assert.is_false(x:is_set_to(y))
    assert.equal(1, y:stride(1))
    assert.equal(3, y:stride(2))
  end)

  it("takes a memory format", function()
    local x = la.zeros(2, 3, 4, 5)
    local y = x:clone{memory_format = "channels_last"}
    assert.is_true(y:is_contiguous("channels_last"))
    raises("", x[1].clone, x[1], {memory_format = "channels_last"})
  end)
end)

describe("to and the casts", function()
  it("return self when nothing changes", function()
    local x = la.zeros(3)
    assert.is_true(x:to("float32"):is_set_to(x))
    assert.is_true(x:float():is_set_to(x))
    assert.is_true(x:to("cpu"):is_set_to(x))
    assert.is_true(x:cpu():is_set_to(x))
    assert.is_false(x:to("float32", {copy = true}):is_set_to(x))
    assert.is_false(x:astype("float32"):is_set_to(x))
  end)

  it("have a form for a dtype, a device, another tensor, options", function()
    local x = la.zeros(3)
    assert.equal("int16", x:to("int16").dtype)
    assert.equal("meta", x:to("meta").device)
    assert.equal("int8", x:to(la.zeros(1, {dtype = "int8"})).dtype)
    assert.equal("float64", x:to{dtype = "float64"}.dtype)
    assert.equal("float32", x:type())
    assert.equal("bool", x:type("bool").dtype)
    assert.equal("complex32", x:chalf().dtype)
    assert.equal("bool", x:type_as(la.zeros(1):bool()).dtype)
  end)

  it("cover all pairs of dtypes with small values", function()
    for _, from in ipairs(dtypes) do
      local x = la.tensor({0, 1, 1, 0, 1}):to(from)
      for _, to in ipairs(dtypes) do
        assert.is_true(x:to(to):to("int64")
                       :equal(la.tensor{0, 1, 1, 0, 1}), from .. to)
      end
    end
  end)

  it("give the documented integers for NaN and values out of range", function()
    local least = math.mininteger
    local x = la.tensor({0 / 0, 1 / 0, -1 / 0, 1e30, 3e9, -1.5},
                        {dtype = "float64"})
    assert.same({least, least, least, least, 3000000000, -1}, list(x:long()))
    assert.same({-2147483648, -2147483648, -2147483648, -2147483648,
                 -2147483648, -1}, list(x:int()))
    assert.same({0, 0, 0, 0, 0, -1}, list(x:short()))
    assert.same({0, 0, 0, 0, 0, 255}, list(x:byte()))
    assert.same({true, true, true, true, true, true}, list(x:bool()))
  end)

  it("drop imaginary parts and keep nothing of small halves", function()
    local z = la.view_as_complex(la.tensor{{1.5, 2.0}, {0.0, 3.0}})
    assert.same({1.5, 0.0}, list(z:float()))
    assert.same({true, true}, list(z:bool()))
    assert.equal(math.huge, la.full({}, 70000.0):half():item())
  end)

  it("refuse to leave the meta device", function()
    raises("Cannot copy out of meta tensor", function()
      return la.zeros(2, {device = "meta"}):to("cpu")
    end)
    raises("Cannot copy out of meta tensor", function()
      return la.zeros(2):copy_(la.zeros(2, {device = "meta"}))
    end)
  end)
end)

describe("contiguous", function()
  it("is self or a copy", function()
    local x = la.arange(6):view(2, 3)
    assert.is_true(x:contiguous():is_set_to(x))
    assert.same({{0, 3}, {1, 4}, {2, 5}}, list(x.T:contiguous()))
    assert.is_true(x.T:contiguous():is_contiguous())
    local y = la.zeros(2, 3, 4, 5):contiguous("channels_last")
    assert.equal(1, y:stride(2))
  end)
end)

describe("fill_ and zero_", function()
  it("cut fractions and refuse what is out of range", function()
    local x = la.zeros(2, {dtype = "uint8"})
    assert.same({2, 2}, list(x:fill_(2.75)))
    raises("300", x.fill_, x, 300)
    raises("", x.fill_, x, 0 / 0)
    assert.same({2, 2}, list(x))
    assert.same({0, 0}, list(x:zero_()))
  end)

  it("write through views", function()
    local x = la.zeros(3, 3)
    x:narrow(2, 2, 1):fill_(7)
    assert.same({{0.0, 7.0, 0.0}, {0.0, 7.0, 0.0}, {0.0, 7.0, 0.0}}, list(x))
  end)

  it("take a tensor without dims", function()
    assert.same({3.0, 3.0}, list(la.zeros(2):fill_(la.full({}, 3.0))))
    raises("", la.zeros(2).fill_, la.zeros(2), la.zeros(2))
  end)
end)

describe("equal", function()
  it("compares shapes and values after promotion", function()
    assert.is_true(la.tensor{1, 2}:equal(la.tensor{1.0, 2.0}))
    assert.is_false(la.tensor{1, 2}:equal(la.tensor{1, 3}))
    assert.is_false(la.tensor{1, 2}:equal(la.tensor{{1, 2}}))
    assert.is_true(la.zeros(0):equal(la.zeros(0)))
    assert.is_false(la.tensor{0 / 0}:equal(la.tensor{0 / 0}))
  end)

  it("sees one difference anywhere", function()
    local x = la.zeros(100003)
    for _, i in ipairs{1, 50000, 100003} do
      local y = x:clone()
      y:narrow(1, i, 1):fill_(1)
      assert.is_false(x:equal(y))
    end
  end)
end)
