-- la.game at the ends of the range and at degenerate inputs: what is true of
-- vectors of ordinary size is true of tiny and huge ones, no NaN is passed
-- over, and matrices that flatten come apart. The truths are those of
-- ordinary sizes, scaled by hand.
local la = require "lunarray"
local game = la.game

local INF, NAN = math.huge, 0 / 0

local function vector(t) return la.tensor(t, {dtype = "float32"}) end

-- How far x is from what is wanted, by the size of that.
local function near(want, x, most)
  want = la.tensor(want, {dtype = "float64"})
  local size = want:abs():max():item()
  local off = ((x:to("float64") - want):abs():max() / size):item()
  assert.truthy(off <= (most or 3e-7), tostring(x))
end

local function is_nan(x) assert.truthy(x:isnan():any(), tostring(x)) end

describe("la.game at the ends of the range", function()
  it("has unit vectors of any length", function()
    near({0.6, 0.8}, game.normalize(vector{2.4e38, 3.2e38}))
    near({0.6, 0.8}, game.normalize(vector{3e-30, 4e-30}, {eps = 1e-37}))
    assert.equal(0, game.normalize(vector{0, 0}, {eps = 1e-60}):sum():item())
    near({0.6e-8, 0.8e-8}, game.normalize(vector{0.6e-20, 0.8e-20}))
    near({0.3, 0.4}, game.normalize(vector{3, 4}, {eps = 10}))
    near({0.6, 0.8}, game.clamp_length(vector{2.4e38, 3.2e38}, 1))
    near(math.pi / 4, game.angle(vector{3e38, 3e38}, vector{1, 0}))
    near(math.pi / 4, game.angle(vector{1e-44, 1e-44}, vector{1e38, 0}))
    near({0, 0, -math.sin(math.pi / 8), math.cos(math.pi / 8)},
      game.quat_between(vector{1e-44, 1e-44, 0}, vector{1, 0, 0}))
    near({3e37, 0}, game.project(vector{3e37, 3e37}, vector{1e38, 0}))
  end)

  -- normalize is v / max(|v|, eps), to the ends of the range: below eps it is
  -- a product with a constant, and its slope no infinity.
  it("has slopes of unit vectors of any length", function()
    local shape = la.tensor({0.48, -0.6, 0.64}, {dtype = "float64"})
    local by = la.tensor({1, 2, -3}, {dtype = "float64"})
    for dtype, lengths in pairs {
      float64 = {1e-310, 1e-300, 1e-30, 1e-13, 1e-3, 1, 1e30, 1e300},
      float32 = {1e-44, 1e-37, 1e-20, 1e-13, 1e-3, 1, 1e20, 1e38},
    } do
      for _, length in ipairs(lengths) do
        for _, eps in ipairs {1e-35, 1e-12, 0.5, 7.5} do
          local v = (shape * length):to(dtype):requires_grad_()
          local unit = game.normalize(v, {eps = eps})
          unit:mul(by):sum():backward()
          local want = by / eps
          if length > eps then want = (by - shape * shape:dot(by)) / length end
          if want:abs():max():item() < 1e38 then
            near(want:totable(), v.grad, 1e-5)
          end
        end
      end
    end
  end)

  it("inverts quaternions and matrices of any scale", function()
    for _, k in ipairs{1e-25, 1e-15, 1, 1e15, 1e25} do
      near({0, -0.6 / k, 0, 0.8 / k},
        game.quat_inverse(vector{0, 0.6 * k, 0, 0.8 * k}))
      local m = game.scaling(vector{k, 2 * k, -k})
      near({1 / k, 1 / 2 / k, -1 / k},
        game.inverse_affine(m):diagonal():narrow(1, 1, 3))
      near({0, -0.6, 0.8}, game.transform_normals(
        game.scaling(vector{k, 4 * k, -3 * k}), vector{0, -1, -1}), 1e-6)
    end
    near({1e20, 1, 1e-20}, game.inverse_affine(
      game.scaling(vector{1e-20, 1, 1e20})):diagonal():narrow(1, 1, 3))
  end)

  it("sees that a matrix mirrors at any scale", function()
    for _, k in ipairs{1e-16, 1, 1e16} do
      local _, q, s = game.decompose(game.scaling(vector{-k, 2 * k, 3 * k}))
      near({0, 0, 0, 1}, q)
      near({-k, 2 * k, 3 * k}, s)
    end
  end)

  it("meets spheres of any size at any speed", function()
    local c, d = vector{0, 0, 0}, vector{1, 0, 0}
    for _, k in ipairs{1e-30, 1e-25, 1, 1e25} do
      near(4 / k, game.ray_sphere(vector{-5, 0, 0}, d * k, c, 1))
    end
    for _, k in ipairs{1e-30, 1e-22, 1e20, 1e30} do
      near(4 * k, game.ray_sphere(vector{-5 * k, 0, 0}, d, c, k))
    end
  end)
end)

describe("la.game near degenerate directions", function()
  it("has orthogonal frames where up is nearly parallel", function()
    for _, k in ipairs{1e-3, 1e-4, 2e-5, 1e-6} do
      local forward = vector{0.3, 0.9, 0.2}
      local up = forward + vector{k, 0, 0}
      local m = game.look_at(vector{0, 0, 0}, forward, up)
      m = m:narrow(1, 1, 3):narrow(2, 1, 3)
      near({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, la.matmul(m, m:t()), 5e-7)
      local rotated = game.quat_rotate(game.quat_look(forward, up),
        vector{0, 0, -1})
      near(forward:tolist(), rotated * game.length(forward), 1e-6)
    end
  end)

  it("brings a vector to one that is nearly opposite", function()
    for _, k in ipairs{1e-3, 1e-4, 2e-5} do
      local a, b = vector{0.3, 0.9, 0.2}, vector{-0.3 - k, -0.9, -0.2}
      local q = game.quat_between(a, b)
      assert.truthy(game.angle(game.quat_rotate(q, a), b):item() < 1e-6)
    end
  end)

  it("takes matrices that flatten apart", function()
    local q = game.normalize(vector{1, 2, 3, 4})
    for _, s in ipairs{{1, 2, 0}, {0, 2, 3}, {2, 0, 1}, {0, 2, 0}, {3, 0, 0},
                       {0, 0, 1}, {0, 0, 0}, {-1, 2, 0}, {0, -1, 1}} do
      local m = game.compose(vector{5, 6, 7}, q, vector(s))
      local t, r, scale = game.decompose(m)
      near(m:tolist(), game.compose(t, r, scale))
      near(1, game.length(r))
    end
  end)
end)

describe("many points at one spot", function()
  it("are near by their indices", function()
    local n, most = 300, 5
    local p = la.zeros(n, 2)
    p[n][1] = 0.5
    local starts, indices = game.neighbors(p, 1, {max = most})
    assert.equal(n * most + 1, starts[n + 1]:item())
    for i = 1, n, 7 do
      local want = {}
      for k = 1, most + 1 do
        if k ~= i and #want < most then want[#want + 1] = k end
      end
      local at = starts[i]:item()
      assert.same(want, indices:narrow(1, at, most):tolist())
    end
    local _, found = game.nearest(p, p:narrow(1, n, 1), 3)
    assert.same({{n, 1, 2}}, found:tolist())
  end)
end)

describe("arguments of la.game", function()
  local function refuses(text, name, ...)
    local ok, message = pcall(game[name], ...)
    assert.is_false(ok)
    assert.truthy(message:find("'game." .. name .. "' (" .. text, 1, true),
      message)
  end

  it("are named where they are refused", function()
    local v, q, half = la.ones(5, 3), la.ones(5, 4), la.ones(5, 3):half()
    refuses("\"game_length\" not implemented for 'Half'", "length", half)
    refuses("\"game_neighbors\" not implemented for 'Half'", "neighbors", half,
      1)
    refuses("a batch [2] must match that of the arguments before it, [5]",
      "ray_triangle", v, v, v, v, la.ones(2, 3))
    refuses("a batch [2] must match that of the arguments before it, [5]",
      "slerp", q, q, la.ones(2))
    refuses("points of 2 or 3 components", "worley", q)
    refuses("points {N, 2} or {N, 3} expected", "nearest", q, v, 1)
    refuses("queries of 3 components", "nearest", v, la.ones(2, 2), 1)
    refuses("k must be 0 to 5", "nearest", v, v, 6)
    refuses("costs {H, W} expected", "flow_field", la.ones(3), {1, 1})
    refuses("costs must be 0 or more", "flow_field", -v, {1, 1})
    refuses("cell {6, 1} is out of range", "flow_field", v, {6, 1})
    local refused, why = pcall(game.flow_field, v:to("complex64"), {1, 1})
    assert.is_false(refused)
    assert.truthy(why:find("not implemented for 'ComplexFloat'", 1, true), why)
    local _, message = pcall(game.nearest, v, v, 6)
    assert.truthy(message:find("#3", 1, true))
  end)

  it("may be integers", function()
    local p = la.tensor{{0, 0}, {1, 0}, {5, 5}}
    local starts, indices = game.neighbors(p, 1)
    assert.same({1, 2, 3, 3}, starts:tolist())
    assert.same({2, 1}, indices:tolist())
  end)
end)

describe("noise", function()
  -- Coordinates of every size, and the largest of the dtype.
  local function points(dtype, n)
    local sizes = {0, 5e-324, 1e-30, 0.3, 7.9, 1e5, 2^30, 2^31, 2^53, 2^59.5,
                   2^60, 1e20, 3e38}
    local most = dtype == "float64" and {1e150, 1e200, 1e308, 0x1.fp1023} or
      {0x1.fffffep127}
    table.move(most, 1, #most, #sizes + 1, sizes)
    local rows = {}
    for i = 1, 500 do
      rows[i] = {}
      for j = 1, n do
        local at = (i * 7919 + j * 104729 * (i % 13 + 1)) % #sizes + 1
        rows[i][j] = sizes[at] * ((i + j) % 3 == 0 and -1 or 1)
      end
    end
    return la.tensor(rows, {dtype = dtype})
  end

  local function is_finite(x)
    return x:isfinite():all()
  end

  it("of all finite points is finite and within its range", function()
    local calls = {perlin = {{}}, simplex = {{}, {seed = 3}}, worley = {{}},
                   fbm = {{}, {octaves = 32}, {octaves = 32, gain = 1e300},
                          {octaves = 9, gain = -1e20},
                          {octaves = 3, lacunarity = 1e300}}}
    for _, dtype in ipairs{"float32", "float64"} do
      for n = 2, 3 do
        for name, options in pairs(calls) do
          for _, o in ipairs(options) do
            local p = points(dtype, n):requires_grad_()
            local y = game[name](p, o)
            assert.is_true(is_finite(y), name)
            assert.is_true(name == "worley" or y:abs():max():item() <= 1, name)
            y:sum():backward()
            assert.is_true(o.lacunarity ~= nil or is_finite(p.grad), name)
          end
        end
        assert.is_true(is_finite(game.curl(points(dtype, n))))
      end
    end
    for _, name in ipairs{"perlin", "simplex", "fbm"} do
      is_nan(game[name](vector{INF, 1}))
      is_nan(game[name](vector{1, NAN}))
    end
  end)
end)

describe("seeds of noise", function()
  it("differ in all of their bits", function()
    local p = la.rand(40, 3) * 9
    local seeds = {0, math.mininteger, math.maxinteger, -1, 1 << 57, 1 << 58,
                   1 << 59, 5, (1 << 58) + 5}
    for _, name in ipairs{"perlin", "simplex", "fbm", "curl", "worley"} do
      local seen = {}
      for _, seed in ipairs(seeds) do
        local bits = la.hash((game[name](p, {seed = seed})))
        assert.is_nil(seen[bits], name)
        seen[bits] = true
      end
    end
  end)
end)

describe("points of poisson_disc", function()
  it("fill thin boxes too", function()
    for _, case in ipairs{{{10, 0.01}, 0.5}, {{3, 2.1, 1.2}, 1},
                          {{4, 4, 0.001}, 0.5}, {{1e-12, 30}, 1}} do
      local sizes, radius = case[1], case[2]
      local any = la.rand(500, #sizes) * la.tensor(sizes)
      for seed = 0, 9 do
        local p = game.poisson_disc(sizes, radius, {seed = seed})
        local far = game.nearest(p, any, 1):max():item()
        assert.is_true(far < 1.6 * radius, far)
        assert.equal(0, select(2, game.neighbors(p:double(),
          radius * (1 - 1e-6))):numel())
      end
    end
  end)
end)

describe("cells of la.game", function()
  it("are tables and tensors, each for itself", function()
    local cost, start, goal = la.ones(2, 3), {1, 1}, {1, 3}
    local want = {{1, 1}, {1, 2}, {1, 3}}
    for _, a in ipairs{start, la.tensor(start)} do
      for _, b in ipairs{goal, la.tensor(goal)} do
        assert.same(want, game.astar(cost, a, b):tolist())
      end
    end
    assert.has_error(function() game.astar(cost, la.tensor{1, 9}, goal) end)
  end)

  it("may be several goals, in a table of tables", function()
    local cost, goals = la.ones(4, 5), {{1, 1}, {-1, 5}, {2, 3}}
    local want = {game.flow_field(cost, la.tensor(goals))}
    local got = {game.flow_field(cost, goals)}
    assert.is_true(la.equal(want[1], got[1]) and la.equal(want[2], got[2]))
    assert.same(game.astar(cost, {1, 1}, {2, 2}):tolist(),
      game.astar(cost, {{1, 1}}, {2, 2}):tolist())
    local function refuses(text, ...)
      local ok, message = pcall(...)
      assert.is_false(ok)
      assert.truthy(message:find(text, 1, true), message)
    end
    local what = "cell {row, column}"
    refuses("(tensor or " .. what .. " expected, got string)",
      game.flow_field, cost, "x")
    refuses("(tensor or " .. what .. " expected, got number)",
      game.flow_field, cost, 3)
    refuses("#2 to 'game.astar' (" .. what .. " or tensor expected",
      game.astar, cost, "x", {1, 1})
    for _, odd in ipairs{{2}, {1.5, 1}, {"1", 1}, 7} do
      local n = odd == 7 and 3 or 2
      local list = n == 3 and {{1, 1}, {1, 2}, 7} or {{1, 1}, odd}
      refuses(("([%d]: %s expected)"):format(n, what), game.flow_field, cost,
        list)
    end
    refuses("cell {5, 1} is out of range", game.flow_field, cost,
      {{1, 1}, {5, 1}})
    refuses("([1]: " .. what, game.flow_field, cost, {{1, 1, a = 1}})
    refuses("rows and columns expected, got 3", game.flow_field, cost,
      {1, 2, 3})
    refuses("a row and a column expected, got 4", game.astar, cost,
      {{1, 1}, {1, 2}}, {2, 2})
  end)
end)

describe("la.game with numbers that are none", function()
  it("passes NaN on", function()
    local o, x = vector{0, 0, 0}, vector{NAN, 1, 0}
    is_nan(game.sd_box(x, vector{1, 1, 1}))
    is_nan(game.sd_box(o, x))
    is_nan(game.clamp_length(vector{1, 2}, NAN))
    is_nan(game.look_at(o, x, vector{0, 1, 0}))
    is_nan(game.look_at(o, vector{0, 0, 1}, x))
    is_nan(game.quat_look(x, vector{0, 1, 0}))
  end)

  it("meets no box that is empty or no number", function()
    local o, d, one = vector{0, 0, 0}, vector{1, 1, 1}, vector{1, 1, 1}
    local x = vector{NAN, 0, 0}
    for _, r in ipairs{{o, d, one * INF, one * -INF}, {o, d, one, -one},
                       {o, vector{1, 0, -1}, one, -one}, {x, d, -one, one},
                       {o, d + x, -one, one}, {o, d, x - 1, one},
                       {o, d, -one, one + x}} do
      assert.equal(INF, game.ray_box(table.unpack(r)):item())
    end
    assert.equal(0, game.ray_box(o, d, one * -INF, one * INF):item())
  end)
end)

describe("second derivatives of la.game", function()
  -- Of f at x = 0, where f takes a number.
  local function second(f)
    local x = la.zeros(1, {dtype = "float64", requires_grad = true})
    local g = la.grad(f(x):sum(), x, {create_graph = true})
    return la.grad(g:sum(), x):item()
  end

  it("of slerp between equal quaternions", function()
    local p = la.tensor({0, 0, 0, 1}, {dtype = "float64"})
    local axis = la.tensor({1, 0, 0, 0}, {dtype = "float64"})
    for _, t in ipairs{0.25, 0.5, 3} do
      local s = 1 - t
      local want = (s * (1 - s * s) + t * (1 - t * t)) / 3
      local got = second(function(x)
        return game.slerp(p, p + axis * x, t)[4]
      end)
      assert.truthy(math.abs(got - want) < 1e-9)
    end
  end)

  it("of quat_integrate at rest", function()
    local q = la.tensor({0, 0, 0, 1}, {dtype = "float64"})
    local axis = la.tensor({0.6, 0, 0.8}, {dtype = "float64"})
    local got = second(function(x)
      return game.quat_integrate(q, axis * x, 2)[4]
    end)
    assert.truthy(math.abs(got + 1) < 1e-9)
  end)
end)
