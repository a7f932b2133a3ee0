-- Factorizations against their definitions: products of the factors, residuals
-- of solutions, orthogonality; on sizes around the limits of the kernels
-- (interleaved small matrices, panels, blocks), batches, layouts, no elements.
local la = require "lunarray"
local L = la.linalg

local DTYPES = {"float32", "float64", "complex64", "complex128"}
local SQUARE = {{1, 1}, {3, 3}, {5, 4, 4}, {33, 8, 8}, {2, 3, 16, 16},
  {17, 17}, {2, 40, 40}, {130, 130}, {0, 3, 3}, {2, 0, 0}}
local ANY = {{3, 5}, {5, 3}, {4, 5, 3}, {40, 20}, {20, 40}, {2, 130, 70},
  {70, 130}, {3, 200, 16}, {20, 3}, {3, 20}, {0, 4}, {4, 0}}

local function tolerance(dtype)
  return (dtype == "float32" or dtype == "complex64") and 1e-2 or 1e-9
end

local function eye(n, dtype) return la.eye(n, {dtype = dtype}) end

local function random(dtype, shape, cols, transposed)
  local s = {table.unpack(shape)}
  s[#s] = cols or s[#s]
  local x = la.randn(s, {dtype = dtype})
  return transposed and x.mT or x
end

local function regular(dtype, shape)
  return random(dtype, shape) + 2 * eye(shape[#shape], dtype)
end

local function near(what, dtype, a, b)
  if a:numel() == 0 then return end
  local e = (a - b):abs():max():item()
  assert(e <= tolerance(dtype), ("%s of %s %s: %g"):format(what, dtype,
    table.concat(a.shape, "x"), e))
end

-- f(dtype, shape, matrices) for all dtypes and the layouts of each shape.
local function each(shapes, make, f)
  la.manual_seed(11)
  for _, dtype in ipairs(DTYPES) do
    for _, shape in ipairs(shapes) do
      local a = make(dtype, shape)
      f(dtype, shape, a)
      f(dtype, shape, a.mT:contiguous().mT)
    end
  end
end

describe("linalg", function()
  it("inv and solve", function()
    each(SQUARE, regular, function(d, shape, a)
      local n = shape[#shape]
      near("inv", d, a:matmul(L.inv(a)), eye(n, d))
      local b = random(d, shape, 5)
      near("solve", d, a:matmul(L.solve(a, b)), b)
      near("solve_ex", d, a:matmul((L.solve_ex(a, b))), b)
      near("from the right", d,
        L.solve(a, b.mT, {left = false}):matmul(a), b.mT)
      local wide = random(d, shape, 37)
      near("many columns", d, a:matmul(L.solve(a, wide)), wide)
    end)
  end)

  it("solve with one matrix for a batch", function()
    for _, d in ipairs(DTYPES) do
      local a, b = regular(d, {20, 20}), random(d, {3, 20, 4})
      near("matrices", d, a:matmul(L.solve(a, b)), b)
      near("from the right", d,
        L.solve(a, b.mT, {left = false}):matmul(a), b.mT)
      local many, v = regular(d, {3, 20, 20}), random(d, {20})
      near("a vector", d, many:matmul(L.solve(many, v):unsqueeze(-1)),
        v:unsqueeze(-1))
      near("of size 1", d, a:matmul(L.solve(a:unsqueeze(1), b)), b)
    end
    assert.are.same({1}, select(2, L.solve_ex(la.zeros(1, 20, 20),
      la.ones(3, 20, 2))):totable())
  end)

  it("LU factors", function()
    each(SQUARE, regular, function(d, shape, a)
      local lu, pivots = L.lu_factor(a)
      local p, l, u = la.lu_unpack(lu, pivots)
      near("lu_unpack", d, p:matmul(l):matmul(u), a)
      local b = random(d, shape, 5)
      near("lu_solve", d, a:matmul(L.lu_solve(lu, pivots, b)), b)
      near("adjoint", d,
        a.mH:matmul(L.lu_solve(lu, pivots, b, {adjoint = true})), b)
      near("right", d,
        L.lu_solve(lu, pivots, b.mT, {left = false}):matmul(a), b.mT)
      near("right adjoint", d, L.lu_solve(lu, pivots, b.mT,
        {left = false, adjoint = true}):matmul(a.mH), b.mT)
    end)
    each(ANY, random, function(d, _, a)
      local p, l, u = L.lu(a)
      near("lu", d, p:matmul(l):matmul(u), a)
    end)
  end)

  it("determinants", function()
    each({{3, 3}, {2, 9, 9}, {20, 20}}, regular, function(d, shape, a)
      local n = shape[#shape]
      local p, l, u = L.lu(a)
      near("unit L", d, l:triu(1), la.zeros_like(l))
      local sign, log = L.slogdet(a)
      local det = L.det(a / 3)
      near("slogdet", d, sign * (log - n * math.log(3)):exp():to(d) / det,
        la.ones_like(det))
      near("by factors", d, L.det(p / 1) * (u / 3):diagonal(0, -2, -1):prod(-1)
        / det, la.ones_like(det))
    end)
    assert.are.equal(1, L.det(la.zeros(0, 0)):item())
    assert.are.equal(-math.huge, la.logdet(la.zeros(2, 2)):item())
    local x = la.logdet(la.tensor{{0., 1.}, {1., 0.}}):item()
    assert.is_true(x ~= x)
  end)

  it("Cholesky factors", function()
    each(SQUARE, regular, function(d, shape, a)
      local n = shape[#shape]
      local spd = a:matmul(a.mH) / math.max(n, 1) + eye(n, d)
      local low, up = L.cholesky(spd), L.cholesky(spd, {upper = true})
      near("cholesky", d, low:matmul(low.mH), spd)
      near("zeros above", d, low:tril(), low)
      near("upper", d, up.mH, low)
      local b = random(d, shape, 5)
      near("cholesky_solve", d, spd:matmul(la.cholesky_solve(b, low)), b)
      near("with upper", d, spd:matmul(la.cholesky_solve(b, up, true)), b)
      near("cholesky_inverse", d, spd:matmul(la.cholesky_inverse(low)),
        eye(n, d))
    end)
  end)

  it("LDL factors of indefinite matrices", function()
    each(SQUARE, random, function(d, shape, a)
      for _, o in ipairs{{hermitian = false}, {hermitian = true}} do
        local s = a + (o.hermitian and a.mH or a.mT)
        local b = random(d, shape, 3)
        local ld, pivots = L.ldl_factor(s, o)
        local x = L.ldl_solve(ld, pivots, b, o)
        local scale = x:numel() > 0 and x:abs():max():item() + 1 or 1
        near("ldl_solve", d, s:matmul(x) / scale, b / scale)
      end
    end)
  end)

  it("triangular systems", function()
    each(SQUARE, random, function(d, shape, a)
      local n = shape[#shape]
      a = a / math.max(n, 1) + 2 * eye(n, d)
      for k = 0, 7 do
        local o = {upper = k & 1 > 0, left = k & 2 > 0,
          unitriangular = k & 4 > 0}
        local m = o.upper and a:triu(1) or a:tril(-1)
        m = m + (o.unitriangular and eye(n, d)
          or la.diag_embed(a:diagonal(0, -2, -1)))
        local b = random(d, shape, 70, not o.left)
        local x = L.solve_triangular(a, b, o)
        near("case " .. k, d, o.left and m:matmul(x) or x:matmul(m), b)
      end
    end)
  end)

  it("QR factors", function()
    each(ANY, random, function(d, shape, a)
      for _, mode in ipairs{"reduced", "complete"} do
        local q, r = L.qr(a, mode)
        near(mode, d, q:matmul(r), a)
        near("Q^H Q", d, q.mH:matmul(q), eye(q:size(-1), d))
        near("zeros below", d, r:triu(), r)
      end
      local f, tau = la.geqrf(a)
      local q, c = L.qr(a, "complete"), random(d, shape, 6)
      near("ormqr", d, la.ormqr(f, tau, c), q:matmul(c))
      near("adjoint", d, la.ormqr(f, tau, c, true, true), q.mH:matmul(c))
      near("right", d, la.ormqr(f, tau, c.mT, false), c.mT:matmul(q))
      if a:size(-2) >= a:size(-1) then
        near("product", d, L.householder_product(f, tau), (L.qr(a)))
      end
    end)
  end)

  it("of columns with very large and very small elements", function()
    for _, scale in ipairs{1e-30, 1e30} do
      for _, n in ipairs{4, 20} do
        local a = la.randn(n, n) * scale
        local q = L.qr(a)
        near("Q^H Q", "float32", q.mH:matmul(q), eye(n, "float32"))
      end
    end
  end)

  it("of subnormal matrices", function()
    for d, tiny in pairs{float32 = 2^-130, float64 = 2^-1040,
        complex64 = 2^-130, complex128 = 2^-1040} do
      local a = la.full({3, 3}, tiny, {dtype = d})
      local w, v = L.eigh(a)
      local u, s, vh = L.svd(a)
      assert.are.equal(3 * tiny, w[3]:item(), d)
      assert.are.equal(3 * tiny, s[1]:item(), d)
      near("V", d, v.mH:matmul(v), eye(3, d))
      near("U", d, u.mH:matmul(u), eye(3, d))
      near("Vh", d, vh:matmul(vh.mH), eye(3, d))
      assert.are.equal(1, L.matrix_rank(a):item(), d)
    end
  end)

  it("the word of a norm needs a matrix", function()
    local ok, why = pcall(L.norm, la.ones(3), "fro")
    assert.is_false(ok)
    assert.is_truthy(why:find("a matrix norm needs two dims, got 1", 1, true))
  end)

  it("least squares", function()
    for _, d in ipairs(DTYPES) do
      local a, b = random(d, {2, 30, 7}), random(d, {2, 30, 3})
      local x, rest, rank = la.lstsq(a, b)
      near("normal equations", d, a.mH:matmul(a:matmul(x) - b),
        la.zeros(2, 7, 3))
      near("residuals", d, rest,
        (a:matmul(x) - b):abs():square():sum(-2))
      assert.are.same({7, 7}, rank:totable())
      local wide = random(d, {7, 30})
      local y, none = la.lstsq(wide, b[1][{{1, 7}}])
      near("least norm", d, y, wide.mH:matmul(L.solve(wide:matmul(wide.mH),
        b[1][{{1, 7}}])))
      assert.are.equal(0, none:numel())
      for _, driver in ipairs {"gels", "gelsy"} do
        local nothing, _, of = la.lstsq(a, b[{{}, {}, {}}]:narrow(3, 1, 0),
          {driver = driver})
        assert.are.same({2, 7, 0}, nothing.shape)
        assert.are.same({7, 7}, of:totable())
      end
    end
  end)

  it("functions of matrices", function()
    for _, d in ipairs(DTYPES) do
      local a = random(d, {3, 6, 6})
      near("exp", d, L.matrix_exp(a):matmul(L.matrix_exp(-a)), eye(6, d))
      near("powers", d, L.matrix_power(a, -3):matmul(L.matrix_power(a, 3)),
        eye(6, d))
      local e = L.matrix_exp(la.zeros(2, 2, {dtype = d}))
      near("exp 0", d, e, eye(2, d))
    end
    local t = L.matrix_exp(la.tensor{{0., -40.}, {40., 0.}}:double())
    near("rotation", "float64", t, la.tensor({{math.cos(40), -math.sin(40)},
      {math.sin(40), math.cos(40)}}, {dtype = "float64"}))
  end)
end)

describe("linalg on singular matrices", function()
  local some = la.stack{la.eye(3), la.eye(3), la.ones(3, 3), la.zeros(3, 3)}

  it("names the first", function()
    local ok, why = pcall(L.inv, some)
    assert.is_false(ok)
    assert.is_truthy(why:find("bad argument #1 to 'inv' (matrix 3 of the batch"
      .. " is singular: the first zero pivot is pivot 2)", 1, true), why)
    ok, why = pcall(L.cholesky, -la.eye(20))
    assert.is_false(ok)
    assert.is_truthy(why:find("the matrix is not positive definite: the first "
      .. "bad leading minor is of order 1", 1, true), why)
    ok, why = pcall(L.solve, some, la.ones(3, 1))
    assert.is_false(ok)
    assert.is_truthy(why:find("matrix 3 of the batch", 1, true), why)
  end)

  it("gives codes", function()
    local x, info = L.inv_ex(some)
    assert.are.same({0, 0, 2, 1}, info:totable())
    assert.are.equal("int32", info.dtype)
    near("the others", "float32", x[1], la.eye(3))
    assert.is_false((pcall(L.inv_ex, some, {check_errors = true})))
    for _, n in ipairs{5, 40} do
      local a = la.eye(n)
      a[3][3] = 0
      assert.are.equal(3, select(2, L.inv_ex(a)):item())
      assert.are.equal(3, select(3, L.lu_factor_ex(a)):item())
      assert.are.equal(3, select(2, L.solve_ex(a, la.ones(n, 2))):item())
      assert.are.equal(3, select(2, L.cholesky_ex(a)):item())
      assert.are.equal(0, L.det(a):item())
      local sign, log = L.slogdet(a)
      assert.are.same({0.0, -math.huge}, {sign:item(), log:item()})
    end
  end)

  it("differentiates the determinant", function()
    local a = la.tensor({{1, 2, 3}, {4, 5, 6}, {0, 0, 0}},
      {dtype = "float64", requires_grad = true})
    L.det(a):backward()
    near("adjugate", "float64", a.grad, la.tensor({{0, 0, 0}, {0, 0, 0},
      {-3, 6, -3}}, {dtype = "float64"}))
  end)
end)

describe("linalg refuses", function()
  it("a right side of more dims than the tensor", function()
    local ok, message = pcall(la.tensorsolve, la.ones({}), la.ones(1))
    assert.is_false(ok)
    assert.matches("at most the 0 dims of A expected, got 1", message)
    assert.is_false((pcall(la.tensorsolve, la.ones(2, 2), la.ones(2, 1, 1))))
  end)
  local function refuses(text, f, ...)
    local ok, why = pcall(f, ...)
    assert.is_false(ok)
    assert.is_truthy(why:find(text, 1, true), why)
  end

  it("other shapes and dtypes", function()
    refuses("a square matrix or a batch of them expected, got 3 x 2", L.inv,
      la.ones(3, 2))
    refuses("got 1-D", L.det, la.ones(3))
    refuses("3 rows expected for a matrix of 3 x 3, got 4", L.solve,
      la.eye(3), la.ones(4, 2))
    refuses("not implemented for 'Int'", L.inv, la.eye(3, {dtype = "int32"}))
    refuses("expected the dtype of argument 1, float32, got float64", L.solve,
      la.eye(3), la.ones(3, 1, {dtype = "float64"}))
    refuses("'reduced', 'complete' or 'r' expected", L.qr, la.eye(3), "full")
    refuses("is out of bounds for rows 1 to 2", L.lu_solve, la.eye(2),
      la.tensor({3, 2}, {dtype = "int32"}), la.ones(2, 1))
    for _, p in ipairs{{-1, -1}, {-2, 2}, {1, -2}, {2, 1}, {0, 1}} do
      refuses("is out of bounds for rows", L.ldl_solve, la.eye(2),
        la.tensor(p, {dtype = "int32"}), la.ones(2, 1))
    end
  end)

  it("derivatives without Q", function()
    local a = la.randn(3, 2):requires_grad_()
    local _, r = L.qr(a, "r")
    refuses("mode 'r' has no derivative", r.backward, r, la.ones_like(r))
  end)
end)

describe("linalg results", function()
  it("go to out=", function()
    local a, x = regular("float32", {4, 4}), la.zeros(4, 4).mT
    L.inv(a, {out = x})
    near("inv", "float32", a:matmul(x), la.eye(4))
    local wide = la.zeros(4, 8)[{{}, {1, 8, 2}}]
    L.solve(a, la.eye(4), {out = wide})
    near("solve", "float32", a:matmul(wide), la.eye(4))
  end)

  it("have shapes on the meta device", function()
    local a = la.empty(2, 5, 3, {device = "meta"})
    local q, r = L.qr(a, "complete")
    assert.are.same({2, 5, 5}, q.shape)
    assert.are.same({2, 5, 3}, r.shape)
    local s = la.empty(2, 3, 3, {device = "meta"})
    assert.are.same({2, 3, 3}, L.inv(s).shape)
    assert.are.same({2}, L.det(s).shape)
  end)

  it("are the same in every position of a batch", function()
    for _, n in ipairs{4, 12} do
      local a = regular("float32", {40, n, n})
      local all = L.inv(a)
      for i = 1, 40 do
        assert.is_true(la.equal(all[i], L.inv(a[i])))
      end
    end
  end)

  it("do not depend on threads", function()
    local a = regular("float64", {300, 300})
    local before, list = la.get_num_threads(), {}
    for k = 1, 2 do
      la.set_num_threads(k)
      list[k] = {L.inv(a), (L.qr(a)), L.cholesky(a:matmul(a.mT))}
    end
    la.set_num_threads(before)
    for i = 1, 3 do assert.is_true(la.equal(list[1][i], list[2][i])) end
  end)
end)

describe("forms of la.linalg", function()
  it("that differ from those of la", function()
    local x = la.arange(1, 19):view(2, 3, 3)
    assert.are.same({{1, 5, 9}, {10, 14, 18}}, L.diagonal(x):totable())
    assert.are.same({{1, 2, 4}}, L.vander(la.tensor{2}, {N = 3})[{{1, 1}}]
      :totable())
    assert.are.same({{1, 3}, {2, 4}},
      L.matrix_transpose(la.tensor{{1, 2}, {3, 4}}):totable())
    assert.are.equal(5.0, L.norm(la.tensor{3., 4.}):item())
    assert.are.equal(7.0, L.norm(la.tensor{{3., 4.}}, math.huge):item())
    assert.are.equal(math.huge, L.cond(la.zeros(2, 2), 1):item())
  end)
end)

describe("matrices at the edge of a definition", function()
  it("tensorinv of all dims", function()
    assert.same({{0.5}}, L.tensorinv(la.tensor{{2.0}}, 2):totable())
    assert.has_error(function() L.tensorinv(la.tensor{{2.0}}, 3) end)
    assert.has_error(function() L.tensorinv(la.tensor{{2.0}}, 0) end)
  end)

  it("norms of matrices without elements, vander of a number", function()
    local inf = math.huge
    for _, sizes in ipairs{{0, 0}, {0, 3}, {3, 0}} do
      for _, order in ipairs{1, inf} do
        assert.equal(0.0, L.matrix_norm(la.zeros(sizes), order):item())
        assert.equal(0.0, L.norm(la.zeros(sizes), order):item())
      end
    end
    assert.same({0.0, 0.0}, L.matrix_norm(la.zeros(2, 0, 3), 1):totable())
    assert.has_error(function() L.matrix_norm(la.zeros(0, 0), -1) end)
    assert.same({{1.0, 2.0, 4.0}}, L.vander(la.tensor(2.0), {N = 3}):totable())
  end)

  it("no reflections: inputs that get zeros", function()
    for _, f in ipairs{L.householder_product, function(a, t)
      return la.ormqr(a, t, la.ones(3, 2))
    end} do
      local a, tau = la.ones(3, 3):requires_grad_(), la.zeros(0)
      f(a, tau):sum():backward()
      assert.is_true(la.equal(la.zeros(3, 3), a.grad))
    end
  end)

  -- LAPACK's: numpy.linalg and torch read none of it either
  it("the imaginary diagonal of a Hermitian matrix is not read", function()
    for _, rows in ipairs{{{4, 1}, {2, 9}}, {{1, 9}, {3, 5}}} do
      local a = la.tensor(rows, {dtype = "complex128"})
        + la.tensor({{0, 0}, {1, 0}}, {dtype = "complex128"})
          * la.complex(0, 1)
      local odd = a + eye(2, "complex128") * la.complex(0, 7)
      local want, pivots = L.ldl_factor(a, {hermitian = true})
      local got, other = L.ldl_factor(odd, {hermitian = true})
      assert.is_true(la.equal(want, got) and la.equal(pivots, other))
      local b = la.ones(2, 1, {dtype = "complex128"})
      assert.is_true(la.equal(
        L.ldl_solve(want, pivots, b, {hermitian = true}),
        L.ldl_solve(want + eye(2, "complex128") * la.complex(0, 3), pivots, b,
          {hermitian = true})))
    end
  end)
end)

describe("det of singular matrices", function()
  -- Leibniz's formula, a polynomial that autograd differentiates by itself
  local function polynomial(a)
    if a:size(1) == 1 then return a[{1, 1}] end
    local sum = 0
    for j = 1, a:size(1) do
      local rest = {}
      for k = 1, a:size(1) do if k ~= j then rest[#rest + 1] = k end end
      local minor = a[{{2, -1}}]:index_select(2, la.tensor(rest))
      sum = sum + (j % 2 == 1 and 1 or -1) * a[{1, j}] * polynomial(minor)
    end
    return sum
  end

  local function second(f, a, w)
    local x = a:clone():requires_grad_()
    local g = la.grad(f(x), x, {create_graph = true})
    return g, la.grad(la.real(g * w):sum(), x)
  end

  it("has the derivatives of the polynomial that it is", function()
    la.manual_seed(3)
    for _, dtype in ipairs{"float64", "complex128", "float32"} do
      local low = la.randn(4, 2, {dtype = dtype})
        :matmul(la.randn(2, 4, {dtype = dtype}))
      for _, a in ipairs{la.zeros(3, 3, {dtype = dtype}),
        low, low[{{1, 3}, {1, 3}}],
        la.tensor({{1, 2}, {2, 4}}, {dtype = dtype}),
        la.tensor({{1, 2, 3}, {2, 4, 6}, {1, 0, 1}}, {dtype = dtype})} do
        local w = la.randn(a.shape, {dtype = dtype})
        local g, h = second(la.det, a, w)
        local want_g, want_h = second(polynomial, a, w)
        assert.is_true(la.allclose(g, want_g, 1e-4, 1e-4), tostring(g))
        assert.is_true(la.allclose(h, want_h, 1e-4, 1e-4), tostring(h))
      end
    end
  end)

  it("in a batch with others, of one element", function()
    local f64 = {dtype = "float64"}
    local g, h = second(la.det, la.zeros(1, 1, f64), la.ones(1, 1, f64))
    assert.same({{{1.0}}, {{0.0}}}, {g:totable(), h:totable()})
    local batch = la.stack{la.tensor({{1, 2}, {2, 4}}, f64), la.eye(2, f64),
      la.zeros(2, 2, f64)}
    assert.is_true(la.gradgradcheck(la.det, {batch:requires_grad_()}))
  end)
end)

describe("cdist of many rows", function()
  it("is that of few, which takes differences", function()
    local a = la.randn(2, 40, 5, {dtype = "float64"})
    local b = la.randn(7, 5, {dtype = "float64"})
    a[1][3] = b[2]
    local whole = la.cdist(a, b)
    for i = 1, 40, 10 do
      local part = la.cdist(a[{{}, {i, i + 9}}], b)
      assert.is_true(la.allclose(whole[{{}, {i, i + 9}}], part,
        {atol = 1e-7}))
    end
  end)

  it("has derivatives, 0 between equal rows", function()
    local a = la.randn(30, 3, {dtype = "float64"}):requires_grad_()
    local b = la.randn(4, 3, {dtype = "float64"}):requires_grad_()
    assert.is_true(la.gradcheck(la.cdist, {a, b}))
    assert.is_true(la.gradgradcheck(la.cdist, {a, b}))
    local same = la.ones(30, 2):requires_grad_()
    la.cdist(same, same):sum():backward()
    assert.are.equal(0, same.grad:abs():max():item())
  end)
end)
