-- Eigenvalues and singular values against their definitions: products of the
-- factors, orthogonality, order; on both sides of the sizes at which methods
-- change, batches, layouts, no elements, matrices without full rank.
local la = require "lunarray"
local program = require "spec.support.program"
local raises = require "spec.support.raises"
local L = la.linalg

local DTYPES = {"float32", "float64", "complex64", "complex128"}
local SQUARE = {{1, 1}, {2, 2}, {3, 3}, {70, 4, 4}, {2, 3, 8, 8}, {9, 9},
  {2, 1, 20, 20}, {33, 33}, {130, 130}, {0, 3, 3}, {2, 0, 0}, {0, 20, 20}}
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
    assert.are.same({2, 2}, la.linalg_svd(la.ones(2, 3)).shape)
    assert.are.same({2, 2}, L.svd(la.ones(2, 3)).shape)
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

describe("eig", function()
  it("decomposes square matrices", function()
    each({{1, 1}, {3, 3}, {2, 3, 6, 6}, {40, 40}, {130, 130}, {0, 3, 3},
      {2, 0, 0}}, function(a) return a end, function(a)
        local w, v = la.eig(a)
        assert.is_true(w:is_complex())
        near("A V", a:to(v.dtype):matmul(v), v * w:unsqueeze(-2))
        if v:numel() > 0 then
          near("norms", v:abs():square():sum(-2),
            la.ones(w.shape, {dtype = la.real(v).dtype}))
        end
        -- in another order where sweeps go over less of the matrix
        local w1 = L.eigvals(a)
        for _, part in ipairs{"real", "imag"} do
          near("eigvals", (w1[part]:sort(-1)), (w[part]:sort(-1)))
        end
      end)
  end)

  it("gives complex pairs of real matrices", function()
    local w = L.eigvals(la.tensor({{0, -1}, {1, 0}}, {dtype = "float64"}))
    assert.are.same({-1.0, 1.0}, la.imag(w):sort():totable())
  end)

  it("names the first matrix with infinities", function()
    local a = la.randn(3, 4, 4)
    a[2][1][2] = math.huge
    raises("matrix 2 of the batch has an infinite element", L.eig, a)
    raises("a square matrix or a batch of them expected", L.eigvals,
      la.zeros(2, 3))
  end)
end)

describe("pinv", function()
  it("is the Moore-Penrose inverse", function()
    each({{3, 3}, {2, 3, 5}, {70, 4, 3}, {12, 10}, {0, 3}, {2, 0, 0}},
      function(a) return a end, function(a)
        local p = L.pinv(a)
        near("A P A", a:matmul(p):matmul(a), a + 0)
        near("P A P", p:matmul(a):matmul(p), p)
        near("A P", a:matmul(p), a:matmul(p).mH + 0)
      end)
  end)

  it("of Hermitian matrices reads their lower triangle", function()
    each({{3, 3}, {2, 12, 12}}, function(a) return a + a.mH end, function(a)
      near("hermitian", L.pinv(a:tril(), {hermitian = true}):matmul(a),
        eye(a:size(-1), a.dtype):expand(a.shape) + 0)
    end)
  end)

  it("and ranks count singular values above the tolerances", function()
    local a = la.diag(la.tensor({4, 1, 0.1, 1e-20}, {dtype = "float64"}))
    local function rank(o) return L.matrix_rank(a, o or {}):item() end
    assert.are.equal(3, rank())
    assert.are.equal(2, rank{rtol = 0.025})     -- not above: 0.025 * 4
    assert.are.equal(1, rank{rtol = 0.1, atol = 1})
    assert.are.equal(4, rank{rtol = 0})
    assert.are.equal(0, rank{atol = 10})
    assert.are.equal(3, rank{hermitian = true})
    near("pinv", L.pinv(a, 0.1), la.diag(la.tensor({0.25, 1, 0, 0},
      {dtype = "float64"})))
    assert.are.same({3, 2, 1}, L.matrix_rank(a, {rtol = la.tensor({
      1e-5, 0.025, 0.5}, {dtype = "float64"})}):totable())
    local p = L.pinv(a, la.tensor{1e-5, 0.5})
    assert.is_true(la.equal(p[1], L.pinv(a, 1e-5)))
    assert.is_true(la.equal(p[2], L.pinv(a, 0.5)))
    raises("must match", L.pinv, la.zeros(2, 3, 3), la.ones(3))
    near("pinverse", a:pinverse(0.1), L.pinv(a, 0.1))
  end)
end)

describe("norms of singular values", function()
  it("in 16 bits and of other orders are refused", function()
    raises("not implemented for 'Half'", L.matrix_norm,
      la.zeros(2, 2, {dtype = "float16"}), 2)
    raises("'nuc', 1, -1, 2, -2", L.matrix_norm, la.eye(2), 3)
    raises("'nuc', 1, -1, 2, -2", L.cond, la.eye(2), "two")
    raises("a square matrix", L.cond, la.ones(2, 3), "nuc")
    raises("a matrix expected, got 3-D", la.norm, la.ones(2, 2, 2), "nuc")
  end)

  it("of singular matrices", function()
    assert.are.equal(math.huge, L.cond(la.ones(2, 2), "nuc"):item())
    assert.is_true(L.cond(la.ones(3, 3)):item() > 1e6)
    assert.are.same({0.0, 0.0}, L.cond(la.zeros(2, 0, 0)):totable())
  end)
end)

describe("lstsq", function()
  local function deficient(d, shape)
    local a = la.randn(shape, {dtype = d})
    a:select(-1, 2):copy_(a:select(-1, 1) * 2)
    return a
  end

  it("has the solution of least norm by every driver", function()
    for _, d in ipairs(DTYPES) do
      for _, shape in ipairs{{6, 4}, {3, 20, 10}, {5, 5}, {4, 7}} do
        local a = deficient(d, shape)
        shape[#shape] = 3
        local b = la.randn(shape, {dtype = d})
        local want = L.pinv(a, 1e-4):matmul(b)
        for _, driver in ipairs{"", "gelsy", "gelsd", "gelss"} do
          local o = {rcond = 1e-4, driver = driver ~= "" and driver or nil}
          local x, rest, rank, values = L.lstsq(a, b, o)
          near(driver, x / 10, want / 10)
          assert.is_true(rank:eq(L.matrix_rank(a, {rtol = 1e-4})):all())
          if a:size(-2) > a:size(-1) then
            near("residuals", rest,
              (a:matmul(x) - b):abs():square():sum(-2))
          end
          if driver == "gelsd" or driver == "gelss" then
            near("values", values, L.svdvals(a))
          else
            assert.are.same({0}, values.shape)
          end
        end
      end
    end
  end)

  it("of vectors, of one matrix for a batch, of none", function()
    local a = la.randn(9, 4, {dtype = "float64"})
    local b = la.randn(3, 9, 2, {dtype = "float64"})
    for _, driver in ipairs{"gels", "gelsd"} do
      local x, _, rank = L.lstsq(a, b, {driver = driver})
      near(driver, x, L.pinv(a):matmul(b))
      assert.are.same({4, 4, 4}, rank:totable())
      local y = L.lstsq(a, b[1][{{}, 1}], {driver = driver})
      near("vector", y, x[1][{{}, 1}])
      local z, _, none = L.lstsq(la.zeros(0, 3), la.zeros(0, 2),
        {driver = driver})
      assert.are.same({{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}}, z:totable())
      assert.are.equal(0, none:item())
    end
    -- one dim less than A, but not its batch and rows: matrices
    local x = L.lstsq(la.ones(2, 1, 1) * 2, la.tensor{{4., 6.}})
    assert.are.same({{{2.0, 3.0}}, {{2.0, 3.0}}}, x:totable())
    assert.are.equal(0, select(3, L.lstsq(la.zeros(3, 2), la.ones(3, 1)))
      :item())
    raises("'gelsd' or 'gelss' expected", L.lstsq, a, b[1], {driver = "svd"})
    raises("infinite element or NaN", L.lstsq, a / 0, b[1],
      {driver = "gelsy"})
  end)

  it("gives singular values without a gradient", function()
    local a = la.randn(5, 3, {requires_grad = true})
    local x, rest, rank, values = L.lstsq(a, la.randn(5, 1),
      {driver = "gelsd"})
    assert.is_true(x.requires_grad and rest.requires_grad)
    assert.is_false(rank.requires_grad or values.requires_grad)
  end)
end)

describe("pivoted_cholesky", function()
  it("factors semidefinite matrices", function()
    each({{1, 1}, {4, 3}, {2, 9, 4}, {30, 30}, {0, 4, 2}}, function(a)
      return a:matmul(a.mH)
    end, function(a, dtype)
      for _, upper in ipairs{false, true} do
        local tol = tolerance(dtype) * 10
        local l, pivots, rank = L.pivoted_cholesky(a,
          {upper = upper, tol = tol})
        local at = pivots:long():unsqueeze(-1)
        local b = a:take_along_dim(at, -2):take_along_dim(at.mT, -1)
        near("L L^H", (upper and l.mH:matmul(l) or l:matmul(l.mH)) / 10,
          b / 10)
        near("triangle", upper and l:triu() or l:tril(), l)
        if a:numel() > 0 then
          assert.is_true(rank:le(a:size(-1)):all())
          assert.is_true(pivots:long():sort(-1):eq(
            la.arange(1, a:size(-1) + 1)):all())
        end
      end
    end)
  end)

  it("stops at the rank", function()
    local g = la.randn(12, 5, {dtype = "float64"})
    local l, _, rank = L.pivoted_cholesky(g:matmul(g.mT))
    assert.are.equal(5, rank:item())
    assert.are.equal(5, select(3, la.pivoted_cholesky(g:matmul(g.mT))):item())
    assert.are.equal(0, l[{{}, {6, 12}}]:abs():max():item())
    l, _, rank = L.pivoted_cholesky(-la.eye(3))
    assert.are.equal(0, rank:item())
    assert.are.equal(0, l:abs():max():item())
    raises("matrix 2 of the batch has an infinite element or NaN",
      L.pivoted_cholesky, la.stack({la.eye(2), la.eye(2) / 0}))
  end)
end)

describe("values on a random subspace", function()
  it("are those of matrices of low rank", function()
    for _, d in ipairs(DTYPES) do
      local a = la.randn(2, 60, 5, {dtype = d}):matmul(
        la.randn(2, 5, 40, {dtype = d}))
      for _, x in ipairs{a, a.mT} do
        local u, s, v = la.svd_lowrank(x, 7)
        near("product", (u * s:unsqueeze(-2)):matmul(v.mH), x + 0)
        near("values", s / 100, L.svdvals(x):narrow(-1, 1, 7) / 100)
        near("U^H U", u.mH:matmul(u), eye(7, d):expand(2, 7, 7) + 0)
        local mean = x:mean(-2, true)
        u, s, v = la.pca_lowrank(x)
        near("pca", (u * s:unsqueeze(-2)):matmul(v.mH), x - mean)
        u, s, v = la.svd_lowrank(x, {M = mean})
        near("M", (u * s:unsqueeze(-2)):matmul(v.mH), x - mean)
      end
    end
  end)

  it("depend on the generator alone", function()
    local x = la.randn(30, 20)
    local a, b = la.Generator(5), la.Generator(5)
    assert.is_true(la.equal(la.svd_lowrank(x, 4, {generator = a}),
      (la.svd_lowrank(x, 4, {generator = b}))))
    raises("at most 20 expected", la.pca_lowrank, x, 21)
    raises("0 to 1000 iterations expected, got -1", la.svd_lowrank, x, 3,
           {niter = -1})
    raises("0 to 1000 iterations", la.pca_lowrank, x, {niter = 1 << 62})
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

describe("LAPACK", function()
  local function run(library, code)
    local quoted = "'" .. ("local la = require 'lunarray'; " .. code)
      :gsub("'", [['\'']]) .. "'"
    local p = io.popen("LUNARRAY_LAPACK=" .. library .. " " .. program.path
      .. " -e " .. quoted .. " 2>&1")
    local text = p:read("a")
    p:close()
    return text
  end

  it("is not looked for unless the environment names it", function()
    assert.are.equal("none\n", run("''", "print(la.config().lapack)"))
    assert.are.equal("none\n", run("/none", "print(la.config().lapack)"))
    for _, f in ipairs{"eigh", "svd", "eig"} do
      local text = run("/none", "print(pcall(la.linalg." .. f .. ", la.eye(9)))")
      assert.is_truthy(text:find("LUNARRAY_LAPACK names was not found", 1,
        true), text)
    end
  end)

  it("agrees with our own methods", function()
    if run("liblapack.so.3", "print(la.config().lapack)") == "none\n" then
      return pending("no liblapack.so.3")
    end
    for _, d in ipairs(DTYPES) do
      local code = ("la.manual_seed(4) local a = la.randn(40, 30, "
        .. "{dtype = '%s'}) local h = a.mH:matmul(a) local L = la.linalg "
        .. "local w = L.eigh(h) local _, s = L.svd(a) "
        .. "local v = L.eigvals(h + a:narrow(1, 1, 30)):abs():sort() "
        .. "print(table.concat(la.cat{w, L.eigvalsh(h), s, L.svdvals(a), v}"
        .. ":double():totable(), ' '))"):format(d)
      local own, others = {}, {}
      for x in run("''", code):gmatch("%S+") do own[#own + 1] = tonumber(x) end
      for x in run("liblapack.so.3", code):gmatch("%S+") do
        others[#others + 1] = tonumber(x)
      end
      assert.are.equal(150, #own)
      near("values", la.tensor(own):to(d):abs() / 100,
        la.tensor(others):to(d):abs() / 100)
    end
  end)
end)
