-- Eigenvalues and singular values against their definitions: products of the
-- factors, orthogonality, order; on both sides of the size from which LAPACK
-- computes, batches, layouts, no elements, matrices without full rank.
local la = require "lunarray"
local raises = require "spec.support.raises"
local L = la.linalg

local DTYPES = {"float32", "float64", "complex64", "complex128"}
local SQUARE = {{1, 1}, {2, 2}, {3, 3}, {70, 4, 4}, {2, 3, 8, 8}, {9, 9},
  {2, 1, 20, 20}, {130, 130}, {0, 3, 3}, {2, 0, 0}, {0, 20, 20}}
local ANY = {{1, 1}, {3, 2}, {2, 3}, {70, 3, 4}, {2, 3, 8, 5}, {16, 3},
  {2, 16}, {17, 2}, {2, 9, 12}, {130, 40}, {40, 130}, {0, 4}, {4, 0},
  {2, 0, 3}, {0, 20, 30}}

local function tolerance(dtype)
  return (dtype == "float32" or dtype == "complex64") and 1e-4 or 1e-12
end

local function eye(n, dtype) return la.eye(n, {dtype = dtype}) end

-- The largest difference relative to b's largest element, or 1.
local function near(what, a, b)
  assert.are.same(b.shape, a.shape, what)
  if a:numel() == 0 then return end
  local scale = math.max(1, b:abs():max():item())
  local e = ((a - b):abs():max() / scale):item()
  assert(e <= tolerance(b.dtype), ("%s of %s %s: %g"):format(what, b.dtype,
    table.concat(b.shape, "x"), e))
end

local function layouts_of(a)
  local wide = la.zeros({table.unpack(a.shape)}, {dtype = a.dtype})
  wide = la.stack({a, wide}, -1):select(-1, 1)
  return {a, a.mT:contiguous().mT, wide, a:conj():resolve_conj():conj()}
end

local function each(shapes, make, f)
  la.manual_seed(12)
  for _, dtype in ipairs(DTYPES) do
    for _, shape in ipairs(shapes) do
      local a = make(la.randn(shape, {dtype = dtype}))
      for _, x in ipairs(layouts_of(a)) do f(x, dtype) end
    end
  end
end

local function sorted(values, falling)
  if values:numel() == 0 or values:size(-1) < 2 then return end
  local d = values:diff(1, -1)
  if falling then d = -d end
  assert.is_true(d:min():item() >= 0)
end

local function check_eigh(a, dtype, uplo)
  local w, q = L.eigh(a, uplo)
  local n = a:size(-1)
  near("V diag(L) V^H", (q * w:unsqueeze(-2)):matmul(q.mH), a + 0)
  near("V^H V", q.mH:matmul(q), eye(n, dtype):expand(a.shape) + 0)
  sorted(w)
  near("eigvalsh", L.eigvalsh(a, uplo), w)
end

local function check_svd(a, dtype)
  local m, n = a:size(-2), a:size(-1)
  local k, values = math.min(m, n), L.svdvals(a)
  for _, full in ipairs{true, false} do
    local u, s, vh = L.svd(a, full)
    local product = (u:narrow(-1, 1, k) * s:unsqueeze(-2)):matmul(
      vh:narrow(-2, 1, k))
    near("U diag(S) Vh", product, a + 0)
    local p, q = u.mH:matmul(u), vh:matmul(vh.mH)
    near("U^H U", p, eye(full and m or k, dtype):expand(p.shape) + 0)
    near("V^H V", q, eye(full and n or k, dtype):expand(q.shape) + 0)
    sorted(s, true)
    near("svdvals", values, s)
  end
end

describe("eigh", function()
  it("decomposes Hermitian matrices", function()
    each(SQUARE, function(a) return a + a.mH end, check_eigh)
  end)

  it("reads one triangle", function()
    each({{3, 3}, {2, 12, 12}}, function(a) return a + a.mH end,
      function(a)
        local nan = la.full_like(a, 0 / 0)
        near("L", L.eigvalsh(a:tril():where(la.ones_like(a):tril():ne(0), nan)),
          L.eigvalsh(a))
        near("U", L.eigvalsh(a:triu():where(la.ones_like(a):triu():ne(0), nan),
          "U"), L.eigvalsh(a))
      end)
  end)

  it("has exact values of simple matrices", function()
    for _, n in ipairs{3, 12} do
      local w = L.eigvalsh(la.diag(la.arange(n, 0, -1, {dtype = "float32"})))
      near("diagonal", w, la.arange(1, n + 1, {dtype = "float32"}))
      assert.are.equal(0, L.eigvalsh(la.zeros(n, n)):abs():max():item())
    end
    -- of the path graph with n nodes: 2 - 2 cos(pi k / n)
    for _, n in ipairs{4, 8, 15} do
      local a = la.diag(la.full({n}, 2, {dtype = "float64"}))
        - la.diag(la.ones(n - 1, {dtype = "float64"}), 1)
        - la.diag(la.ones(n - 1, {dtype = "float64"}), -1)
      a[1][1], a[n][n] = 1, 1
      near("path", L.eigvalsh(a),
        2 - 2 * (la.arange(0, n, {dtype = "float64"}) * math.pi / n):cos())
    end
  end)
end)

describe("svd", function()
  it("is the form of la.linalg", function()
    assert.are.equal(la.linalg_svd, L.svd)
  end)

  it("decomposes matrices", function()
    each(ANY, function(a) return a end, check_svd)
  end)

  it("of matrices without full rank completes the vectors", function()
    for _, d in ipairs(DTYPES) do
      for _, n in ipairs{3, 12} do
        check_svd(la.ones(n, n, {dtype = d}), d)
        check_svd(la.zeros(n + 1, n, {dtype = d}), d)
        check_svd(la.randn(n, 1, {dtype = d}):matmul(
          la.randn(1, n + 1, {dtype = d})), d)
        check_svd(eye(n, d) + 0, d)
      end
    end
  end)

  it("of very large, very small and graded elements", function()
    for _, n in ipairs{4, 12} do
      local a = la.randn(n, n)
      for _, scale in ipairs{1e-36, 1e36} do
        near("scaled", L.svdvals(a * scale) / scale, L.svdvals(a))
      end
      local grades = 10 ^ -(la.arange(0, n) * (30 / n))
      local u, s, vh = L.svd(a * grades)
      near("graded", (u * s):matmul(vh), a * grades)
      near("U^H U", u.mH:matmul(u), eye(n, "float32"))
    end
  end)

  it("of small matrices: bits don't depend on the neighbours", function()
    for _, d in ipairs(DTYPES) do
      local a = la.randn(37, 4, 3, {dtype = d})
      a[5] = la.ones(4, 3, {dtype = d}) * 1e6
      local u, s = L.svd(a)
      local h = a.mH:matmul(a)
      local w, q = L.eigh(h)
      for _, i in ipairs{1, 4, 6, 20, 37} do
        local u1, s1 = L.svd(a[i])
        local w1, q1 = L.eigh(h[i])
        assert.is_true(la.equal(u1, u[i]) and la.equal(s1, s[i]))
        assert.is_true(la.equal(w1, w[i]) and la.equal(q1, q[i]))
      end
    end
  end)
end)

describe("eigenvalues and singular values", function()
  it("are the same with any number of threads", function()
    local threads = la.get_num_threads()
    for _, n in ipairs{3, 30} do
      local a = la.randn(300, n, n)
      local h, result = a + a.mT, {}
      for _, t in ipairs{1, 2, 5} do
        la.set_num_threads(t)
        local u, s = L.svd(a)
        local w, q = L.eigh(h)
        result[#result + 1] = {u, s, w, q}
      end
      for k = 1, 4 do
        assert.is_true(la.equal(result[1][k], result[2][k]))
        assert.is_true(la.equal(result[1][k], result[3][k]))
      end
    end
    la.set_num_threads(threads)
  end)

  it("go to given tensors of any layout", function()
    for _, n in ipairs{3, 12} do
      local a = la.randn(2, n, n, {dtype = "float64"})
      local h = a + a.mT
      local w, q = L.eigh(h)
      local w1 = la.zeros(n, 2, {dtype = "float64"}):t()
      local q1 = la.zeros(2, n, n, {dtype = "float64"}).mT
      L.eigh(h, {out = {w1, q1}})
      assert.is_true(la.equal(w, w1) and la.equal(q, q1))
      L.eigh(h, {out = {w1, h}})
      assert.is_true(la.equal(q, h))
      local u, s, vh = L.svd(a)
      local u1 = la.zeros(2, n, n, {dtype = "float64"}).mT
      L.svd(a, {out = {u1, w1, a}})
      assert.is_true(la.equal(u, u1) and la.equal(s, w1) and la.equal(vh, a))
    end
  end)

  it("of broadcast batches", function()
    local a = la.randn(12, 5)
    local u = L.svd(a:expand(3, 12, 5))
    assert.are.same({3, 12, 12}, u.shape)
    assert.is_true(la.equal(u[1], u[3]))
  end)

  it("have an error that names the first matrix with NaN", function()
    for _, n in ipairs{3, 12} do
      local a = la.randn(5, n, n)
      a[4][2][1], a[3][2][1] = 0 / 0, math.huge
      for _, f in ipairs{"eigh", "eigvalsh", "svd", "svdvals"} do
        raises("matrix 3 of the batch has an infinite element or NaN", L[f], a)
        raises("the matrix has an infinite element or NaN", L[f], a[4])
      end
    end
  end)

  it("refuse what is no matrix", function()
    raises("a square matrix or a batch of them expected, got 2 x 3", L.eigh,
      la.zeros(2, 3))
    raises("'L' or 'U' expected", L.eigh, la.zeros(2, 2), "M")
    raises("not implemented for 'Long'", L.eigh,
      la.zeros(2, 2, {dtype = "int64"}))
    raises("a matrix or a batch of matrices expected, got 0-D", L.svd,
      la.tensor(1.5))
    raises("not implemented for 'Half'", L.svdvals,
      la.zeros(2, 2, {dtype = "float16"}))
  end)
end)

describe("derivatives of vectors", function()
  it("are refused for losses that depend on a phase", function()
    for _, n in ipairs{3, 12} do
      local a = la.randn(n, n, {dtype = "complex128", requires_grad = true})
      local _, q = L.eigh(a + a.mH)
      local y = la.real((q * la.randn(n, n, {dtype = "complex128"})):sum())
      raises("the loss depends on it", function() y:backward() end)
      local u, _, vh = L.svd(a)
      y = la.real((u * la.randn(n, n, {dtype = "complex128"})):sum())
      raises("the loss depends on it", function() y:backward() end)
      y = (u:matmul(vh) * la.randn(n, n, {dtype = "complex128"})):sum()
      la.real(y):backward()
    end
  end)

  it("of values exist where they are equal", function()
    local a = la.eye(3, {dtype = "float64"}):requires_grad_()
    L.svdvals(a):sum():backward()
    near("svdvals", a.grad, eye(3, "float64"))
    a.grad = nil
    L.eigvalsh(a):sum():backward()
    near("eigvalsh", a.grad, eye(3, "float64"))
    a.grad = nil
    local _, s = L.svd(a)
    s:sum():backward()
    near("svd", a.grad, eye(3, "float64"))
  end)
end)

describe("without LAPACK", function()
  local function run(code)
    local quoted = "'" .. ("local la = require 'lunarray'; " .. code)
      :gsub("'", [['\'']]) .. "'"
    local p = io.popen("LUNARRAY_LAPACK=/none LUA_CPATH='" .. package.cpath
      .. "' lua5.4 -e " .. quoted .. " 2>&1")
    local text = p:read("a")
    p:close()
    return text
  end

  it("small matrices are decomposed, for others it says what to install",
    function()
      assert.are.equal("1.0\n", run("print(la.linalg.svdvals(la.eye(8)):min()"
        .. ":item())"))
      for _, f in ipairs{"eigh", "svd"} do
        local text = run("print(pcall(la.linalg." .. f .. ", la.eye(9)))")
        assert.is_truthy(text:find("install libopenblas0 or liblapack3", 1,
          true), text)
      end
    end)
end)
