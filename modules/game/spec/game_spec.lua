-- la.game against NumPy and SciPy: the calls of
-- modules/game/spec/data/scipy.jsonl; then against plain loops in Lua, by what
-- must hold, and at the edges.
local la = require "lunarray"
local json = require "dkjson"
local once = require "spec.support.once"
local game = la.game

local F64 = {dtype = "float64"}
local inf, nan = math.huge, 0 / 0

local function near(got, want, eps)
  if want.dtype == "int64" then want = want:to(got.dtype) end
  return la.allclose(got, want, {rtol = eps or 1e-9, atol = eps or 1e-9,
    equal_nan = true})
end

local function rand(...)
  return la.rand({...}, F64) * 2 - 1
end

local function unit(x) return game.normalize(x) end

---------------------------------------------------------------------------
-- Records

local function build(t)
  for k, v in ipairs(t.data) do if v == "inf" then t.data[k] = inf end end
  if #t.data == 0 then return la.zeros(t.shape, {dtype = t.dtype}) end
  return la.tensor(t.data, {dtype = t.dtype}):view(t.shape)
end

local function run(r)
  local args = {}
  for k, v in ipairs(r.args) do
    args[k] = type(v) == "table" and build(v) or v
  end
  if next(r.options) then args[#args + 1] = r.options end
  local got = table.pack(game[r.call](table.unpack(args)))
  assert.equal(#r.expect, got.n)
  for k, e in ipairs(r.expect) do
    local want = build(e)
    assert.same(want.shape, got[k].shape, r.call)
    if want.dtype == "int64" then
      assert.is_true(la.equal(got[k], want), r.call)
    else
      local eps = got[k].dtype == "float32" and 1e-6 or 1e-11
      assert.is_true(near(got[k]:double(), want, eps), r.call)
    end
  end
end

describe("la.game against NumPy and SciPy:", function()
  local calls, names = {}, {}
  for line in io.lines("modules/game/spec/data/scipy.jsonl") do
    local r = json.decode(line)
    if not calls[r.call] then
      calls[r.call], names[#names + 1] = {}, r.call
    end
    table.insert(calls[r.call], r)
  end
  for _, name in ipairs(names) do
    it(name, function() for _, r in ipairs(calls[name]) do run(r) end end)
  end
end)

---------------------------------------------------------------------------
-- Derivatives: those of all calls are in spec/registry/derivatives_spec.lua

describe("gradients of la.game", function()
  it("are numbers at zero", function()
    local x = la.zeros(2, 4):requires_grad_()
    local v = x:narrow(2, 1, 3)
    for _, y in ipairs{game.length(v), game.normalize(v), game.angle(v, v),
                       game.quat_inverse(x), game.project(v, v),
                       game.quat_look(v, v), game.quat_between(v, v)} do
      x.grad = nil
      y:sum():backward()
      assert.is_true(la.isfinite(x.grad):all())
    end
  end)

  it("of a body at rest is that of one that spins slowly", function()
    local q = game.normalize(rand(4))
    local function slope(omega)
      omega = omega:clone():requires_grad_()
      game.quat_integrate(q, omega, 0.5)[1]:backward()
      return omega.grad
    end
    assert.is_true(near(slope(la.zeros(3, F64)), slope(rand(3) * 1e-9), 1e-7))
  end)
end)

---------------------------------------------------------------------------
-- What must hold

describe("la.game", function()
  it("rotates as the matrix does", function()
    local q, v = unit(rand(50, 4)), rand(50, 3)
    local want = la.matmul(game.quat_to_mat3(q), v:unsqueeze(-1)):squeeze(-1)
    assert.is_true(near(game.quat_rotate(q, v), want))
    local p = unit(rand(50, 4))
    assert.is_true(near(game.quat_rotate(game.quat_mul(p, q), v),
      game.quat_rotate(p, game.quat_rotate(q, v))))
    assert.is_true(near(game.quat_mul(q, game.quat_inverse(q)),
      la.tensor({0, 0, 0, 1}, F64):expand(50, 4)))
    assert.is_true(near(game.quat_conj(q), game.quat_inverse(q)))
  end)

  it("moves as dual quaternions do", function()
    local q, t, v = unit(rand(9, 4)), rand(9, 3), rand(9, 3)
    local d = game.dual_quat(q, t)
    assert.is_true(near(game.dual_quat_transform(d, v),
      game.quat_rotate(q, v) + t))
    local e = game.dual_quat(unit(rand(9, 4)), rand(9, 3))
    assert.is_true(near(game.dual_quat_transform(game.dual_quat_mul(e, d), v),
      game.dual_quat_transform(e, game.dual_quat_transform(d, v))))
    assert.is_true(near(game.transform_points(game.compose(t, q,
      la.ones(3, F64)), v), game.dual_quat_transform(d, v)))
  end)

  it("takes the shorter way between quaternions", function()
    local a, b = unit(rand(20, 4)), unit(rand(20, 4))
    for _, f in ipairs{game.slerp, game.nlerp} do
      assert.is_true(near(f(a, b, 0), a))
      local same = game.quat_to_mat3(f(a, b, 1))
      assert.is_true(near(same, game.quat_to_mat3(b)))
      assert.is_true(near(f(a, b, 0.3), f(a, -b, 0.3)))
      assert.is_true(near(game.length(f(a, b, 0.3)), la.ones(20, F64)))
    end
    assert.is_true(near(game.slerp(a, a, 0.5), a))
  end)

  it("brings one direction to another", function()
    local a, b = rand(20, 3), rand(20, 3)
    local q = game.quat_between(a, b)
    assert.is_true(near(game.quat_rotate(q, unit(a)), unit(b)))
    q = game.quat_between(a, -a * 3)
    assert.is_true(near(game.quat_rotate(q, unit(a)), -unit(a)))
    assert.is_true(near(game.length(q), la.ones(20, F64)))
    local forward, up = rand(20, 3), rand(20, 3)
    q = game.quat_look(forward, up)
    assert.is_true(near(game.quat_rotate(q, la.tensor({0, 0, -1}, F64)),
      unit(forward)))
    local side = game.quat_rotate(q, la.tensor({1, 0, 0}, F64))
    assert.is_true(near(game.dot(side, up), la.zeros(20, F64)))
    assert.is_true(game.dot(game.quat_rotate(q, la.tensor({0, 1, 0}, F64)),
      up):gt(0):all())
    local line = game.quat_look(forward, forward)
    assert.is_true(near(game.quat_rotate(line, la.tensor({0, 0, -1}, F64)),
      unit(forward)))
    assert.is_true(near(game.quat_look(la.zeros(3), la.zeros(3)),
      la.tensor{0, 0, 0, 1}))
  end)

  it("has cameras that look along -z", function()
    local view = game.look_at(la.tensor{3, 4, 5}, la.tensor{3, 4, -2},
      la.tensor{0, 1, 0})
    assert.is_true(near(game.transform_points(view, la.tensor{3, 4, -2}),
      la.tensor{0, 0, -7}, 1e-6))
    local clip = game.perspective(math.pi / 2, 2, 0.5, 10)
    assert.same({4, 4}, clip.shape)
    assert.is_true(near(game.transform_points(clip, la.tensor{{0, 0, -0.5},
      {0, 0, -10}, {20, 10, -10}}), la.tensor{{0, 0, 0}, {0, 0, 1}, {1, 1, 1}},
      1e-5))
    clip = game.perspective(1, 2, 0.5, 10, {depth = "minus_one_one"})
    assert.is_true(near(game.transform_points(clip, la.tensor{{0, 0, -0.5},
      {0, 0, -10}}), la.tensor{{0, 0, -1}, {0, 0, 1}}, 1e-5))
    local endless = game.perspective(1, 1, 0.5, inf)
    assert.equal(-1, endless[{3, 3}]:item())
    assert.equal(-0.5, endless[{3, 4}]:item())
    for depth, z in pairs{zero_one = 0, minus_one_one = -1} do
      clip = game.orthographic(-1, 3, -2, 4, 0.5, 10, {depth = depth})
      assert.is_true(near(game.transform_points(clip, la.tensor{{-1, -2, -0.5},
        {3, 4, -10}}), la.tensor{{-1, -1, z}, {1, 1, 1}}, 1e-5))
    end
    assert.is_true(near(game.translation(la.tensor{1, 2, 3})
      [{la.range(1, 3, {dtype = "int64"}), 4}], la.tensor{1, 2, 3}))
    assert.is_true(near(game.scaling(la.tensor{1, 2, 3}):diag(),
      la.tensor{1, 2, 3, 1}))
  end)

  it("knows mirrored and flattened matrices", function()
    local m = game.compose(la.tensor{1, 2, 3}, la.tensor{0, 0, 0, 1},
      la.tensor{2, -3, 4})
    local t, q, s = game.decompose(m)
    assert.is_true(near(game.compose(t, q, s), m, 1e-6))
    assert.is_true(s[1]:item() < 0)
    local flat = game.scaling(la.tensor{1, 1, 0})
    assert.is_true(near(game.transform_normals(flat, la.tensor{0, 0, 1}),
      la.tensor{0, 0, 1}))
    assert.is_true(near(game.transform_normals(game.scaling(la.tensor{1, 1,
      -1}), la.tensor{0, 0, 1}), la.tensor{0, 0, -1}))
  end)

  it("reflects, refracts and clamps", function()
    local n = la.tensor{0, 1}
    assert.is_true(near(game.reflect(la.tensor{1, -1}, n), la.tensor{1, 1}))
    local v = game.refract(unit(la.tensor{1, -1}), n, 1 / 1.5)
    assert.is_true(math.abs(v[1]:item() - math.sqrt(0.5) / 1.5) < 1e-6)
    assert.is_true(near(game.refract(unit(la.tensor{1, -0.1}), n, 1.5),
      la.zeros(2)))
    assert.is_true(near(game.clamp_length(la.tensor{{3, 4}, {0.3, 0.4}, {0,
      0}}, 1), la.tensor{{0.6, 0.8}, {0.3, 0.4}, {0, 0}}, 1e-6))
    assert.is_true(near(game.normalize(la.tensor{3e-30, 4e-30}, {eps = 1e-35}),
      la.tensor{0.6, 0.8}, 1e-6))
    assert.is_true(near(game.clamp_length(la.tensor{3, 4}, -1), la.zeros(2)))
    assert.equal(5e30, game.length(la.tensor({3e30, 4e30}, F64)):item())
    assert.is_true(near(game.length(la.tensor{3e30, 4e30}) / 5e30,
      la.tensor(1), 1e-6))
    assert.equal(0, game.angle(la.zeros(3), la.ones(3)):item())
    assert.is_true(near(game.angle(la.tensor({1, 0}, F64), la.tensor({1, 1e-9},
      F64)), la.tensor(1e-9, F64), 1e-24))
  end)

  it("casts rays", function()
    local o, d = la.tensor{0, 0, 5}, la.tensor{0, 0, -1}
    local lo, hi = la.tensor{-1, -1, -1}, la.tensor{1, 1, 1}
    assert.equal(4, game.ray_box(o, d, lo, hi):item())
    assert.equal(inf, game.ray_box(o, -d, lo, hi):item())
    assert.equal(0, game.ray_box(lo * 0.5, d, lo, hi):item())
    assert.equal(inf, game.ray_box(la.tensor{0, 2, 5}, d, lo, hi):item())
    assert.equal(4, game.ray_box(la.tensor{1, 1, 5}, d, lo, hi):item())
    assert.equal(4, game.ray_sphere(o, d, la.zeros(3), 1):item())
    assert.equal(2, game.ray_sphere(o, d * 2, la.zeros(3), 1):item())
    assert.equal(inf, game.ray_sphere(o, -d, la.zeros(3), 1):item())
    assert.equal(inf, game.ray_sphere(o, d * 0, la.zeros(3), 1):item())
    assert.equal(0, game.ray_sphere(o * 0, d * 0, la.zeros(3), 1):item())
    local a, b, c = la.tensor{0, 0, 0}, la.tensor{4, 0, 0}, la.tensor{0, 4, 0}
    local t, u, v = game.ray_triangle(la.tensor{1, 2, 3}, d, a, b, c)
    assert.same({3, 0.25, 0.5}, {t:item(), u:item(), v:item()})
    t = game.ray_triangle(la.tensor{1, 2, -3}, -d, a, b, c)
    assert.equal(3, t:item())
    t = game.ray_triangle(la.tensor{3, 3, 3}, d, a, b, c)
    assert.equal(inf, t:item())
    t = game.ray_triangle(la.tensor{0, 0, 3}, b, a, b, c)
    assert.equal(inf, t:item())
  end)

  it("measures signed distances", function()
    assert.equal(-1, game.sd_sphere(la.tensor{1, 0, 0}, 2):item())
    assert.is_true(near(game.sd_box(la.tensor{{4, 5}, {0, 0}, {0.5, 1.5}},
      la.tensor{1, 1}), la.tensor{5, -1, 0.5}))
    assert.is_true(near(game.sd_capsule(la.tensor{{-3, 4}, {2, 2}},
      la.tensor{0, 0}, la.tensor{5, 0}, 1), la.tensor{4, 1}))
    assert.equal(4, game.sd_capsule(la.tensor{3, 4}, la.zeros(2), la.zeros(2),
      1):item())
  end)
end)

---------------------------------------------------------------------------
-- Noise

describe("noise", function()
  local along = la.linspace(-3, 3, 4001, F64)

  it("is between -1 and 1, and not far from it", function()
    la.manual_seed(4)
    for d = 2, 3 do
      local p = la.rand(40000, d) * 200 - 100
      for _, name in ipairs{"perlin", "simplex", "fbm"} do
        local y = game[name](p, {seed = 5})
        assert.is_true(y:abs():max():item() <= 1, name)
        assert.is_true(y:abs():max():item() > 0.55, name)
        assert.is_true(math.abs(y:mean():item()) < 0.03, name)
      end
    end
  end)

  it("is continuous, and its own for each seed", function()
    for d = 2, 3 do
      local p = along:unsqueeze(-1) * la.tensor({1, 0.31, -0.7}, F64)
        :narrow(1, 1, d)
      for _, name in ipairs{"perlin", "simplex", "fbm", "curl", "worley"} do
        local y = game[name](p, {seed = 3})
        local step = y:diff(1, 1):abs():max():item()
        assert.is_true(step < 0.06, name .. step)
        assert.is_true(la.equal(y, (game[name](p, {seed = 3}))), name)
        assert.is_false(la.equal(y, (game[name](p, {seed = 4}))), name)
      end
    end
  end)

  it("of whole numbers is 0 (perlin), elsewhere that of the dtype", function()
    local whole = la.randint(-99, 99, {50, 3}):double()
    assert.equal(0, game.perlin(whole):abs():max():item())
    assert.equal(0, game.simplex(la.zeros(2)):item())
    local p = rand(50, 3) * 50
    for _, name in ipairs{"perlin", "simplex", "fbm"} do
      assert.is_true(near(game[name](p:float()):double(),
        game[name](p:float():double()), 1e-4), name)
    end
  end)

  it("flows without divergence", function()
    local h = 1e-5
    for d = 2, 3 do
      local p = rand(30, d) * 9
      local sum = la.zeros(30, F64)
      for k = 1, d do
        local step = la.zeros(d, F64)
        step[k] = h
        local y = game.curl(p + step) - game.curl(p - step)
        sum = sum + y:select(2, k) / (2 * h)
      end
      assert.is_true(sum:abs():max():item() < 1e-4)
      assert.is_true(game.length(game.curl(p)):max():item() > 0.3)
    end
  end)

  it("of cells: two distances, in order, with a slope of 1", function()
    for d = 2, 3 do
      local p = (rand(300, d) * 20):requires_grad_()
      local f1, f2 = game.worley(p)
      assert.is_true(f1:le(f2):all())
      assert.is_true(f2:max():item() < 2)
      f1:sum():backward()
      assert.is_true(near(game.length(p.grad), la.ones(300, F64)))
    end
  end)

  it("of infinity is no number", function()
    local p = la.tensor{{inf, 0}, {nan, 1}, {1e30, 1}}
    for _, name in ipairs{"perlin", "simplex", "fbm", "worley"} do
      local y = game[name](p)
      assert.is_true(y[1]:isnan():item() and y[2]:isnan():item(), name)
      assert.is_true(y[3]:isfinite():item(), name)
    end
  end)

  it("poisson_disc keeps its distance and leaves no gap", function()
    for _, sizes in ipairs{{3, 2}, {1.5, 1, 2}} do
      local p = game.poisson_disc(sizes, 0.2, {seed = 9})
      assert.is_true(la.equal(p, game.poisson_disc(sizes, 0.2, {seed = 9})))
      local _, near_by = game.neighbors(p, 0.19999)
      assert.equal(0, near_by:numel())
      for k, size in ipairs(sizes) do
        local x = p:select(2, k)
        assert.is_true(x:min():item() >= 0 and x:max():item() < size)
      end
      local any = la.rand(500, #sizes) * la.tensor(sizes)
      assert.is_true(game.nearest(p, any, 1):max():item() < 0.4)
    end
    assert.same({1, 2}, game.poisson_disc({0.1, 0.1}, 5).shape)
    for _, bad in ipairs{{{1, 1}, 0}, {{1, 1}, -1}, {{1, 0}, 1}, {{1}, 1},
                         {{1, 1}, 1e-9}, {{inf, 1}, 1}, {{1, 1}, nan}} do
      assert.is_false(pcall(game.poisson_disc, bad[1], bad[2]))
    end
  end)
end)

---------------------------------------------------------------------------
-- Batches, dtypes, bits

describe("la.game's batches", function()
  it("broadcast and need not be contiguous", function()
    local q, v = unit(rand(5, 1, 4)), rand(3, 2, 3)
    local got = game.quat_rotate(q:expand(5, 3, 4):unsqueeze(3), v)
    assert.same({5, 3, 2, 3}, got.shape)
    for i = 1, 5 do
      assert.is_true(la.equal(got[i], game.quat_rotate(q[i], v)))
    end
    local m = rand(4, 4, 6):permute(3, 2, 1)
    assert.is_true(la.equal(game.inverse_affine(m),
      game.inverse_affine(m:contiguous())))
    local wide = rand(3, 200):t()
    assert.is_true(la.equal(game.length(wide), game.length(wide:contiguous())))
    local part = rand(100, 2, 4):narrow(3, 1, 3):transpose(1, 2)
    assert.is_true(la.equal(game.normalize(part),
      game.normalize(part:contiguous())))
    assert.is_true(la.equal(game.perlin(part),
      game.perlin(part:contiguous())))
  end)

  it("may be empty, and have no dims but components", function()
    assert.same({0}, game.length(la.zeros(0, 3)).shape)
    assert.same({2, 0, 4, 4}, game.rotation(la.zeros(2, 0, 4)).shape)
    assert.same({}, game.dot(la.ones(3), la.ones(3)).shape)
    assert.same({0, 3}, game.skin(la.zeros(0, 3), la.zeros(1, 4, 4),
      la.zeros(0, 2, {dtype = "int64"}), la.zeros(0, 2)).shape)
    assert.same({2, 3}, game.skin(la.ones(2, 3), la.zeros(1, 4, 4),
      la.zeros(2, 0, {dtype = "int64"}), la.zeros(2, 0)).shape)
  end)

  it("are of float32 or float64", function()
    local a = la.ones(3)
    assert.equal("float32", game.length(a).dtype)
    assert.equal("float64", game.distance(a, a:double()).dtype)
    assert.equal("float32", game.length(la.tensor{3, 4}).dtype)
    assert.equal("float32", game.slerp(la.ones(4), la.ones(4), 0.5).dtype)
    for _, dtype in ipairs{"float16", "bfloat16", "complex64"} do
      local x = la.ones(4, 3):to(dtype)
      assert.is_false(pcall(game.length, x))
      assert.is_false(pcall(game.neighbors, x, 1))
      assert.is_false(pcall(game.boids, x, x))
    end
    assert.is_false(pcall(game.length, la.tensor(1)))
    assert.is_false(pcall(game.cross, la.ones(2), la.ones(2)))
    assert.is_false(pcall(game.dot, la.ones(2), la.ones(3)))
    assert.is_false(pcall(game.rotation, la.ones(3)))
    assert.is_false(pcall(game.inverse_affine, la.ones(3, 3)))
    assert.is_false(pcall(game.perlin, la.ones(4)))
    assert.is_false(pcall(game.fbm, la.ones(3), {octaves = 0}))
    assert.is_false(pcall(game.fbm, la.ones(3), {octaves = 1000}))
    assert.is_false(pcall(game.quat_euler, la.ones(3), {order = "xxy"}))
    assert.is_false(pcall(game.perspective, 1, 1, 1, 2, {depth = "one"}))
    assert.is_false(pcall(game.skin, la.ones(1, 3), la.ones(1, 4, 4),
      la.tensor{{2}}, la.ones(1, 1)))
    assert.is_false(pcall(game.neighbors, la.ones(4), 1))
    assert.is_false(pcall(game.neighbors, la.ones(4, 2), nan))
  end)

  it("have a shape on the meta device, and an output of the caller's",
  function()
    local x = la.empty(5, 3, {device = "meta"})
    assert.same({5}, game.length(x).shape)
    assert.same({5, 3}, game.align(x, x, 1).shape)
    assert.same({5, 3}, game.separate(x, 1).shape)
    assert.same({5, 2}, (game.nearest(x, x, 2)).shape)
    assert.same({5, 3}, (game.boids(x, x)).shape)
    assert.same({5}, (game.worley(x)).shape)
    local out = la.empty(5)
    assert.is_true(rawequal(out, game.length(la.ones(5, 3), {out = out})))
    assert.is_true(near(out, la.full({5}, math.sqrt(3)), 1e-6))
  end)

  it("have the same bits in loops of their own", function()
    local function same(a, b)
      assert.equal(la.hash(a:contiguous()), la.hash(b:contiguous()))
    end
    for _, dtype in ipairs{"float32", "float64"} do
      for _, n in ipairs{1, 3, 16, 255, 256, 257, 600} do
        local v, q = rand(n, 3):to(dtype), unit(rand(n, 4)):to(dtype)
        local across = v:t():contiguous():t()   -- goes through the program
        local fields = la.zeros(n, 7, {dtype = dtype}):narrow(2, 2, 3)
        fields:copy_(v)
        local m = game.compose(v[1], q[1], v[1])
        local flat = m:clone()
        flat[{4, 2}] = 0.25
        for _, by in ipairs{m, flat, m[{{1, 3}, {1, 3}}]} do
          for _, name in ipairs{"transform_points", "transform_vectors"} do
            if #by == 4 or name == "transform_vectors" then
              local want = game[name](by, across)
              same(want, game[name](by, v))
              same(want, game[name](by, fields))
              same(want, game[name](by:expand(n, -1, -1):contiguous(), v))
            end
          end
        end
        for _, by in ipairs{q, q[1]} do
          local want = game.quat_rotate(by, across)
          same(want, game.quat_rotate(by, v))
          same(want, game.quat_rotate(by, fields))
          same(want, game.quat_rotate(by:t():contiguous():t(), v))
        end
      end
    end
  end)

  it("have the same bits with a gradient", function()
    for _, dtype in ipairs{"float32", "float64"} do
      local p, m, w = rand(300, 3):to(dtype), rand(9, 4, 4):to(dtype),
        rand(300, 4):to(dtype)
      local joints = la.arange(1200):view(300, 4) % 9 + 1
      local want = game.skin(p, m, joints, w)
      assert.equal(la.hash(want), la.hash(game.skin(p, m, joints,
        w:clone():requires_grad_()):detach()))
      assert.equal(la.hash(want), la.hash(game.skin(p, m, joints - 10, w)))
    end
    assert.has_error(function()
      game.skin(la.ones(1, 3), la.ones(2, 4, 4), la.tensor{{3}}, la.ones(1, 1))
    end, "bad argument #3 to 'game.skin' (joint 3 at {1, 1} is out of " ..
      "range, 1 to 2 matrices)")
    assert.has_error(function()
      game.skin(la.ones(1, 3):requires_grad_(), la.ones(2, 4, 4),
        la.tensor{{3}}, la.ones(1, 1))
    end, "bad argument #3 to 'game.skin' (index 3 (element 1) is out of " ..
      "bounds for dimension 1 with size 2: 1 to 2 or -2 to -1)")
  end)

  once("have the same bits on every path and number of threads", function()
    local function digest(path, threads)
      local pipe = assert(io.popen(("LUNARRAY_CPU=%s LUA_CPATH='%s' "
        .. "LUA_PATH='%s' lua5.4 modules/game/spec/bits.lua %d"):format(path,
          package.cpath, package.path, threads)))
      local text = pipe:read "a"
      pipe:close()
      return text
    end
    local want = digest("default", 1)
    assert.truthy(#want > 500)
    for _, path in ipairs{"default", "avx2", "avx512"} do
      assert.equal(want, digest(path, 2))
    end
  end)
end)

describe("vmap of la.game", function()
  local v, w = rand(5, 4, 3), rand(5, 3)
  local q, r = unit(rand(5, 4)), unit(rand(5, 7, 4))
  local m = game.compose(w, q, rand(5, 3) + 2)
  for name, args in pairs{dot = {v, w}, quat_rotate = {q, v}, curl = {v},
    slerp = {q, r, rand(5)}, quat_to_axis_angle = {r}, decompose = {m},
    transform_points = {m, v}, sd_box = {v, rand(5, 3)}, worley = {v},
    nearest = {v, w:unsqueeze(2)}, seek = {v, v, w}} do
    it("gives what a loop over the batch gives: " .. name, function()
      local function f(...)
        if name ~= "nearest" then return game[name](...) end
        local a, b = ...
        return game.nearest(a, b, 2)
      end
      local got = table.pack(la.vmap(f)(table.unpack(args)))
      for i = 1, 5 do
        local one = {}
        for k, x in ipairs(args) do one[k] = x[i] end
        for k, want in ipairs{f(table.unpack(one))} do
          assert.is_true(got[k][i]:equal(want))
        end
      end
    end)
  end
end)
