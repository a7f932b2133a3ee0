-- Decompositions of matrices that are hard for them, and of random sizes, by
-- residuals in units of n * eps: graded, clustered, repeated, glued and tiny
-- values, no rank, Jordan blocks; conjugate pairs; values of known matrices.
local la = require "lunarray"
local program = require "spec.support.program"
local L = la.linalg
local D = {dtype = "float64"}

local EPS = {float64 = 2 ^ -52, complex128 = 2 ^ -52, float32 = 2 ^ -23,
  complex64 = 2 ^ -23}

local function most(x) return x:numel() == 0 and 0 or x:abs():max():item() end

-- a is at most 'bound' n eps, where n is its size; NaN is not.
local function small(what, a, n, dtype, bound)
  local e = most(a) / (n * EPS[dtype])
  assert(e <= bound, ("%s, %s, n = %d: %g n eps"):format(what, dtype, n, e))
end

local function unitary(what, q, dtype)
  local n = q:size(-1)
  small(what .. " Q^H Q", q.mH:matmul(q) - la.eye(n, {dtype = dtype}),
    math.max(n, q:size(-2)), dtype, 3)
end

local function check_eigh(what, a)
  local n, d = a:size(1), a.dtype
  local h = a:tril(-1) + a:tril(-1).mH + la.diag(a:diagonal().real)
  local w, q = L.eigh(h)
  local scale = most(w)
  if scale == 0 then scale = 1 end
  h, w = h / scale, w / scale
  small(what .. " residual", (q * w):matmul(q.mH) - h, n, d, 3)
  small(what .. " eigvalsh", L.eigvalsh(h) - w, n, d, 3)
  unitary(what .. " eigh", q, d)
  assert(n < 2 or w:diff():min():item() >= 0, what)
end

local function check_svd(what, a)
  local m, n, d = a:size(1), a:size(2), a.dtype
  local size = math.max(m, n)
  local scale = most(a)
  if scale == 0 then scale = 1 end
  a = a / scale
  for _, full in ipairs{false, true} do
    local u, s, vh = L.svd(a, full)
    local k = s:size(1)
    local b = (u:narrow(2, 1, k) * s):matmul(vh:narrow(1, 1, k))
    small(what .. " product", (b - a) / math.max(most(s), 1), size, d, 3)
    small(what .. " svdvals", (L.svdvals(a) - s) / math.max(most(s), 1), size,
      d, 3)
    unitary(what .. " U", u, d)
    unitary(what .. " V", vh.mH, d)
    assert(k < 2 or s:diff():max():item() <= 0 and s:min():item() >= 0, what)
  end
end

local function check_eig(what, a)
  local n, d = a:size(1), a.dtype
  local scale = most(a)
  if scale == 0 then scale = 1 end
  a = a / scale
  local w, v = L.eig(a)
  local z = a:to(v.dtype)
  small(what .. " eig", (z:matmul(v) - v * w) / math.max(1, most(w), most(a)
    * math.sqrt(n)), n, d, 4)
  small(what .. " norms", v:abs():square():sum(1) - 1, n, d, 4)
  small(what .. " trace", (w:sum() - z:trace()) / math.max(1, n * most(w)), n,
    d, 4)
end

local function orthogonal(n) return (L.qr(la.randn(n, n, D))) end
local function of_values(v)
  local q = orthogonal(v:size(1))
  return (q * v):matmul(q.mT)
end
local function three_diagonals(d, e)
  return la.diag(d) + la.diag(e, 1) + la.diag(e, -1)
end
local function wilkinson(n)
  return three_diagonals((la.arange(0, n, D) - (n - 1) / 2):abs(),
    la.ones(n - 1, D))
end
local function glued(blocks)
  local n = 21 * blocks
  local a, w = la.zeros(n, n, D), wilkinson(21)
  for k = 0, blocks - 1 do
    a[{{21 * k + 1, 21 * k + 21}, {21 * k + 1, 21 * k + 21}}] = w
    if k > 0 then
      a[21 * k][21 * k + 1], a[21 * k + 1][21 * k] = 1e-10, 1e-10
    end
  end
  return a
end

local HARD = {
  zeros = function(n) return la.zeros(n, n, D) end,
  ones = function(n) return la.ones(n, n, D) end,
  identity = function(n) return la.eye(n, D) end,
  wilkinson = function(n) return wilkinson(n | 1) end,
  glued = function() return glued(5) end,
  second_difference = function(n)
    return three_diagonals(la.full({n}, 2.0, D), -la.ones(n - 1, D))
  end,
  clustered = function(n)
    return of_values(la.cat{la.ones(n - 3, D),
      la.tensor({1 + 1e-12, 2, -1}, D)})
  end,
  geometric = function(n)
    return of_values(10 ^ (-la.arange(0, n, D) * (16 / n)))
  end,
  one_is_small = function(n)
    return of_values(la.cat{la.ones(n - 1, D), la.full({1}, 1e-16, D)})
  end,
  rank_one = function(n)
    return la.randn(n, 1, D):matmul(la.randn(1, n, D))
  end,
  rank_three = function(n)
    return la.randn(n, 3, D):matmul(la.randn(3, n, D))
  end,
  diagonal = function(n) return la.diag(la.randn(n, D)) end,
  permutation = function(n)
    return la.eye(n, D):index_select(1, la.randperm(n))
  end,
  jordan = function(n)
    return la.eye(n, D) * 1e-3 + la.diag(la.ones(n - 1, D), 1)
  end,
  kahan = function(n)
    return la.triu(la.ones(n, n, D) * -0.3, 1)
      + la.diag(0.95 ^ la.arange(0, n, D))
  end,
}

-- Beyond the range of single precision.
local WIDE = {
  graded = function(n)
    local g = 10 ^ (-la.arange(0, n, D) * (200 / n))
    return g:unsqueeze(2) * la.randn(n, n, D) * g
  end,
  graded_upwards = function(n)
    local g = 10 ^ (-(n - 1 - la.arange(0, n, D)) * (200 / n))
    return g:unsqueeze(2) * la.randn(n, n, D) * g
  end,
  tiny = function(n) return la.randn(n, n, D) * 1e-300 end,
  huge = function(n) return la.randn(n, n, D) * 1e305 end,
  spread = function(n)
    return la.diag(10 ^ ((la.rand(n, D) - 0.5) * 300))
  end,
}

local function names_of(t)
  local list = {}
  for name in pairs(t) do list[#list + 1] = name end
  table.sort(list)
  return list
end

-- A complex matrix with the same values.
local function turned(a)
  local phase = la.exp(la.randn(a:size(1), D) * la.complex(0, 1))
  return phase:unsqueeze(2) * a * phase:conj()
end

describe("hard matrices", function()
  for _, check in ipairs{"eigh", "svd", "eig"} do
    local f = ({eigh = check_eigh, svd = check_svd, eig = check_eig})[check]
    it("are decomposed: " .. check, function()
      la.manual_seed(3)
      for _, n in ipairs{9, 26, 50, 101} do
        for _, name in ipairs(names_of(HARD)) do
          local a = HARD[name](n)
          f(name, a)
          f(name, a:float())
          f(name, turned(a))
        end
        for _, name in ipairs(names_of(WIDE)) do f(name, WIDE[name](n)) end
      end
    end)
  end
end)

describe("matrices of any size", function()
  it("are decomposed", function()
    la.manual_seed(8)
    for _, dtype in ipairs{"float32", "float64", "complex64", "complex128"} do
      for _ = 1, 12 do
        local m = la.randint(1, 150, {1}):item()
        local n = la.randint(1, 150, {1}):item()
        local a = la.randn(m, n, {dtype = dtype})
        check_svd(m .. " x " .. n, a)
        local square = la.randn(n, n, {dtype = dtype})
        check_eigh("random", square)
        check_eig("random", square)
      end
    end
  end)

  it("have conjugate pairs and real vectors where they are real", function()
    for _, n in ipairs{6, 40, 90} do
      local w, v = L.eig(la.randn(n, n, D))
      local im, k = w.imag:totable(), 1
      while k <= n do
        if im[k] == 0 then
          assert.are.equal(0, most(v.imag:select(2, k)))
        else
          assert.is_true(im[k] > 0)
          assert.is_true(la.equal(w[k], w[k + 1]:conj()))
          assert.is_true(la.equal(v:select(2, k),
            v:select(2, k + 1):conj():resolve_conj()))
          k = k + 1
        end
        k = k + 1
      end
    end
  end)

  it("have the values of a companion matrix", function()
    -- z^n = 1
    local n = 40
    local a = la.zeros(n, n, D)
    a:diagonal(-1):fill_(1)
    a[1][n] = 1
    local w = L.eigvals(a)
    small("roots of unity", w ^ n - 1, n, "float64", 50)
  end)
end)

describe("bits of decompositions", function()
  it("are the same by AVX2 and AVX512, and everywhere in lockstep", function()
    local code = "local la = require 'lunarray' %s la.manual_seed(5) "
      .. "for _, d in ipairs{'float32', 'float64', 'complex128'} do "
      .. "for _, n in ipairs{5, 20, 75} do "
      .. "local a = la.randn(n, n, {dtype = d}) local L = la.linalg "
      .. "for _, r in ipairs{{L.eigh(a)}, {L.svd(a)}, {L.eig(a)}, "
      .. "{L.eigvalsh(a)}, {L.svdvals(a)}} do "
      .. "for _, x in ipairs(r) do io.write(la.hash(x), ' ') end end end end"
    local function bits(path, first)
      local p = io.popen(("LUNARRAY_CPU=%s %s -e \"%s\" 2>&1"):format(path,
        program.path, code:format(first)))
      local text = p:read("a")
      p:close()
      return text
    end
    local plain, lockstep = {}, {}
    for _, path in ipairs(la.config().cpu_available) do
      if path ~= "default" then plain[#plain + 1] = bits(path, "") end
      lockstep[#lockstep + 1] = bits(path, "la.use_deterministic('lockstep')")
    end
    for _, t in ipairs{plain, lockstep} do
      for _, text in ipairs(t) do
        assert.is_truthy(text:find("^[-%d ]+$"), text)
        assert.are.equal(t[1], text)
      end
    end
  end)
end)
