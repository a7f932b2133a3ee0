-- la.game's neighbours, steering, paths and fields against plain loops in Lua.
-- (The calls that SciPy knows are in modules/game/spec/game_spec.lua.)
local la = require "lunarray"
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

---------------------------------------------------------------------------
-- Neighbours

local function loops(p, radius)
  local rows, t, d = {}, p:totable(), p:size(2)
  for i = 1, #t do
    rows[i] = {}
    for j = 1, #t do
      local square = 0
      for k = 1, d do square = square + (t[i][k] - t[j][k]) ^ 2 end
      if i ~= j and square <= radius * radius then
        table.insert(rows[i], {j = j, square = square})
      end
    end
  end
  return rows
end

local function rows_of(starts, indices)
  local s, list, rows = starts:totable(), indices:totable(), {}
  for i = 1, #s - 1 do
    rows[i] = table.move(list, s[i], s[i + 1] - 1, 1, {})
  end
  return rows
end

describe("neighbours", function()
  it("are those of a plain loop", function()
    for _, n in ipairs{1, 2, 50, 300} do
      for d = 2, 3 do
        for _, radius in ipairs{0, 0.05, 0.3, 4} do
          local p = rand(n, d):float()
          if n > 2 then p[2] = p[1] end
          local want, got = loops(p, radius),
            rows_of(game.neighbors(p, radius))
          for i, row in ipairs(want) do
            local js = {}
            for k, e in ipairs(row) do js[k] = e.j end
            assert.same(js, got[i])
          end
        end
      end
    end
  end)

  it("are the nearest ones where there is a most", function()
    local p = rand(200, 2)
    local want = loops(p, 0.4)
    local got = rows_of(game.neighbors(p, 0.4, {max = 3}))
    for i, row in ipairs(want) do
      table.sort(row, function(a, b)
        if a.square ~= b.square then return a.square < b.square end
        return a.j < b.j
      end)
      local js = {}
      for k = 1, math.min(3, #row) do js[k] = row[k].j end
      table.sort(js)
      assert.same(js, got[i])
    end
    local starts, none = game.neighbors(p, 0.4, {max = 0})
    assert.equal(0, none:numel())
    assert.is_true(la.equal(starts, la.ones(201, {dtype = "int64"})))
  end)

  it("are the same from long lists and from one cell after another", function()
    -- All points in one cell are more than a list takes; those of a part of
    -- them are not.
    local p = la.cat({la.rand(8300, 2), la.rand(40, 2) + 100}, 1)
    local starts, indices = game.neighbors(p, 3, {max = 4})
    local _, found = game.nearest(p, p, 5)
    for i = 1, 8340, 173 do
      local near_by = {}
      for k, other in ipairs(found[i]:tolist()) do
        if k > 1 then near_by[#near_by + 1] = other end
      end
      table.sort(near_by)
      assert.same(near_by, indices:narrow(1, starts[i]:item(), 4):tolist())
    end
    local part = game.neighbors(p:narrow(1, 8301, 40), 3)
    assert.equal(40 * 39 + 1, part[41]:item())
  end)

  it("need no grid of all cells", function()
    local p = rand(500, 3)
    local _, none = game.neighbors(p, 1e-12)
    assert.equal(0, none:numel())
    _, none = game.neighbors(p * 1e300, 1e-300)
    assert.equal(0, none:numel())
    p[1] = 1e30
    local starts, list = game.neighbors(p, 0.1)
    local want = loops(p, 0.1)
    for i, row in ipairs(rows_of(starts, list)) do
      assert.equal(#want[i], #row)
    end
  end)

  it("of what is no number are none", function()
    local p = la.tensor{{0, 0}, {nan, 0}, {inf, 0}, {-inf, 0}, {0.5, 0},
      {inf, 0}}
    assert.same({{5}, {}, {}, {}, {1}, {}}, rows_of(game.neighbors(p, 1)))
    assert.same({{5}, {}, {}, {}, {1}, {}}, rows_of(game.neighbors(p, inf)))
    local _, index = game.nearest(p, la.tensor{{0.4, 0}, {nan, 1}}, 6)
    assert.same({{5, 1, 2, 3, 4, 6}, {1, 2, 3, 4, 5, 6}}, index:totable())
    local next_p = game.boids(p, la.ones(6, 2))
    assert.is_true(next_p[1]:isfinite():all())
    assert.is_true(next_p[2][1]:isnan():item())
  end)

  it("k nearest are those of a plain loop", function()
    for d = 2, 3 do
      for _, n in ipairs{1, 7, 200} do
        -- a lattice: many equal distances
        local p = la.randint(-3, 3, {n, d}):double()
        local q = la.randint(-3, 3, {20, d}):double()
        local k = math.min(n, 9)
        local distance, index = game.nearest(p, q, k)
        local all = game.distance(q:unsqueeze(2), p)
        for i = 1, 20 do
          local list, row = {}, all[i]:totable()
          for j = 1, n do list[j] = j end
          table.sort(list, function(a, b)
            if row[a] ~= row[b] then return row[a] < row[b] end
            return a < b
          end)
          local want = table.move(list, 1, k, 1, {})
          assert.same(want, index[i]:totable())
          assert.equal(row[want[k]], distance[{i, k}]:item())
        end
      end
    end
    local p = rand(5, 2)
    assert.same({3, 0}, game.nearest(p, rand(3, 2), 0).shape)
    assert.same({0, 2}, game.nearest(p, la.zeros(0, 2), 2).shape)
    assert.is_false(pcall(game.nearest, p, p, 6))
    assert.is_false(pcall(game.nearest, p, rand(3, 3), 1))
  end)

  it("push, align and gather", function()
    local p, v = rand(60, 2), rand(60, 2)
    local rows, away, mean, middle = loops(p, 0.5), {}, {}, {}
    for i, row in ipairs(rows) do
      local a, m, c = la.zeros(2, F64), la.zeros(2, F64), la.zeros(2, F64)
      for _, e in ipairs(row) do
        a = a + (p[i] - p[e.j]) / e.square
        m, c = m + v[e.j], c + p[e.j]
      end
      if #row > 0 then m, c = m / #row - v[i], c / #row - p[i] end
      away[i], mean[i], middle[i] = a, m, c
    end
    assert.is_true(near(game.separate(p, 0.5), la.stack(away)))
    assert.is_true(near(game.align(p, v, 0.5), la.stack(mean)))
    assert.is_true(near(game.cohere(p, 0.5), la.stack(middle)))

    local dt = 0.1
    local force = game.clamp_length(1.5 * la.stack(away) + la.stack(mean)
      + la.stack(middle), 1)
    local new_v = game.clamp_length(v + force * dt, 1)
    local got_p, got_v = game.boids(p, v, {dt = dt, radius = 0.5})
    assert.is_true(near(got_v, new_v))
    assert.is_true(near(got_p, p + new_v * dt))
    local a, b = p:clone(), v:clone()
    local c = game.boids(a, b, {dt = dt, radius = 0.5, out = {a, b}})
    assert.is_true(rawequal(a, c))
    assert.is_true(la.equal(a, got_p) and la.equal(b, got_v))
  end)

  it("a step of a flock has the derivatives of its forces", function()
    for d = 2, 3 do
      for _, options in ipairs{{}, {force = 100, speed = 100}, {radius = 0},
        {force = 0.3, speed = 0.2, dt = 0.5}, {force = 0, speed = 0}} do
        options.radius = options.radius or 0.7
        local p, v = rand(7, d):requires_grad_(), rand(7, d):requires_grad_()
        local function step(x, y) return game.boids(x, y, options) end
        assert.is_true(la.autograd.gradcheck(step, {p, v}))
        assert.is_true(la.autograd.gradgradcheck(step, {p, v}))
        -- one input, one result
        local function moved(x) return (step(x, v:detach())) end
        local function steered(y) return (select(2, step(p:detach(), y))) end
        assert.is_true(la.autograd.gradcheck(moved, {p}))
        assert.is_true(la.autograd.gradcheck(steered, {v}))
      end
    end
    local p, v = rand(9, 2):float():requires_grad_(), rand(9, 2)
    local new_p = game.boids(p, v)
    new_p:sum():backward()
    assert.equal("float32", p.grad.dtype)
    local wide = p:detach():double():requires_grad_()
    local want = la.grad((game.boids(wide, v)):sum(), wide)
    assert.is_true(near(p.grad, want:float(), 1e-5))
    local none = la.zeros(0, 2):requires_grad_()
    new_p = game.boids(none, none)
    new_p:sum():backward()
    assert.same({0, 2}, none.grad.shape)
  end)

  it("are few where there are few points", function()
    for d = 2, 3 do
      local none = la.zeros(0, d)
      assert.same({1}, (game.neighbors(none, 1)):totable())
      for _, f in ipairs{game.separate, game.cohere} do
        assert.same({0, d}, f(none, 1).shape)
        assert.is_true(la.equal(f(la.ones(1, d), 1), la.zeros(1, d)))
      end
      assert.same({0, d}, game.align(none, none, 1).shape)
      assert.same({0, d}, game.boids(none, none).shape)
    end
    local same = la.ones(5, 2)
    assert.is_true(la.equal(game.separate(same, 1), la.zeros(5, 2)))
    assert.is_true(la.equal((game.boids(same, la.zeros(5, 2))), same))
  end)
end)

---------------------------------------------------------------------------
-- Steering

describe("steering", function()
  it("changes velocities towards what is wanted", function()
    local p, v = la.tensor{{0, 0}, {3, 4}}, la.tensor{{0, 0}, {1, 0}}
    local to = la.tensor{3, 4}
    assert.is_true(near(game.seek(p, v, to, {speed = 2, force = 9}),
      la.tensor{{1.2, 1.6}, {-1, 0}}, 1e-6))
    assert.is_true(near(game.flee(p, v, to, {speed = 2, force = 9}),
      la.tensor{{-1.2, -1.6}, {-1, 0}}, 1e-6))
    assert.is_true(near(game.arrive(p, v, to, {speed = 2, force = 9,
      radius = 10}), la.tensor{{0.6, 0.8}, {-1, 0}}, 1e-6))
    assert.is_true(game.length(game.seek(rand(99, 3) * 9, rand(99, 3) * 9,
      rand(3))):le(1 + 1e-12):all())
  end)

  it("wanders by seed, step and row", function()
    for d = 2, 3 do
      local p, v = la.zeros(200, d), la.ones(200, d)
      local f = game.wander(p, v, {seed = 1, step = 4, force = 0.5})
      assert.is_true(near(game.length(f), la.full({200}, 0.5), 1e-6))
      assert.is_true(game.dot(f, v):gt(0):all())
      assert.is_true(la.equal(f, game.wander(p, v, {seed = 1, step = 4,
        force = 0.5})))
      assert.is_false(la.equal(f, game.wander(p, v, {seed = 1, step = 5,
        force = 0.5})))
      assert.is_true(f:std(1):min():item() > 0.05)
      assert.is_true(la.isfinite(game.wander(p, p)):all())
    end
  end)
end)

---------------------------------------------------------------------------
-- Grids

-- Distances to all cells by sweeps until nothing changes.
local function sweep(cost, start, diagonal)
  local h, w, d = #cost, #cost[1], {}
  for i = 1, h do
    d[i] = {}
    for j = 1, w do d[i][j] = inf end
  end
  d[start[1]][start[2]] = 0
  local changed = true
  while changed do
    changed = false
    for i = 1, h do
      for j = 1, w do
        for a = -1, 1 do
          for b = -1, 1 do
            local straight = (a == 0) ~= (b == 0)
            local from = d[i + a] and d[i + a][j + b]
            if from and (straight or (diagonal and a ~= 0 and b ~= 0)) then
              local way = from + cost[i][j] * (straight and 1 or math.sqrt(2))
              if way < d[i][j] - 1e-12 then
                d[i][j], changed = way, true
              end
            end
          end
        end
      end
    end
  end
  return d
end

local function maze(h, w)
  local cost = la.rand(h, w, F64) * 3 + 0.1
  cost[la.rand(h, w):lt(0.25)] = inf
  cost[{1, 1}], cost[{h, w}] = 1, 1
  return cost
end

describe("paths", function()
  it("are as cheap as can be", function()
    la.manual_seed(11)
    local found = 0
    for _, diagonal in ipairs{false, true} do
      for k = 1, 12 do
        local h, w = 5 + k, 20 - k
        local cost = maze(h, w)
        local t = cost:totable()
        local want = sweep(t, {1, 1}, diagonal)[h][w]
        local path = game.astar(cost, {1, 1}, {h, -1}, {diagonal = diagonal})
        if want == inf then
          assert.is_nil(path)
        else
          found = found + 1
          local sum, list = 0, path:totable()
          assert.same({1, 1}, list[1])
          assert.same({h, w}, list[#list])
          for i = 2, #list do
            local a = math.abs(list[i][1] - list[i - 1][1])
            local b = math.abs(list[i][2] - list[i - 1][2])
            assert.is_true(diagonal and math.max(a, b) == 1 or a + b == 1)
            sum = sum + t[list[i][1]][list[i][2]]
              * (a + b == 2 and math.sqrt(2) or 1)
          end
          assert.is_true(math.abs(sum - want) < 1e-9)
        end
      end
    end
    assert.is_true(found > 8)
  end)

  it("end where there is none", function()
    local cost = la.ones(3, 3)
    assert.same({{2, 2}}, game.astar(cost, {2, 2}, {2, 2}):totable())
    assert.same({{2, 2}, {2, 3}}, game.astar(cost, la.tensor{2, 2},
      la.tensor{2, 3}):totable())
    cost[{2, 2}] = inf
    assert.is_nil(game.astar(cost, {2, 2}, {1, 1}))
    assert.is_nil(game.astar(cost, {1, 1}, {2, 2}))
    assert.equal(3, game.astar(la.zeros(2, 2, {dtype = "int64"}), {1, 1},
      {2, 2}):size(1))
    for _, bad in ipairs{{cost, {0, 1}, {1, 1}}, {cost, {1, 1}, {4, 1}},
                         {cost, {1}, {1, 1}}, {-cost, {1, 1}, {1, 2}},
                         {cost * nan, {1, 1}, {1, 2}}, {la.ones(3), {1, 1},
                         {1, 1}}, {la.zeros(0, 3), {1, 1}, {1, 1}}} do
      assert.is_false(pcall(game.astar, table.unpack(bad)))
    end
  end)

  it("are the first of equal ones", function()
    local path = game.astar(la.ones(3, 3), {1, 1}, {3, 3}):totable()
    for _ = 1, 3 do
      assert.same(path, game.astar(la.ones(3, 3), {1, 1}, {3, 3}):totable())
    end
    local _, distance = game.flow_field(la.ones(3, 3), {3, 3})
    assert.same({{4, 3, 2}, {3, 2, 1}, {2, 1, 0}}, distance:totable())
  end)

  it("flow to the goals", function()
    la.manual_seed(12)
    local cost = maze(14, 11)
    local goals = la.tensor{{1, 1}, {14, 11}}
    local step, distance = game.flow_field(cost, goals)
    local t, s, d = cost:totable(), step:totable(), distance:totable()
    assert.equal(0, d[1][1])
    for i = 1, 14 do
      for j = 1, 11 do
        local a, b = i + s[i][j][1], j + s[i][j][2]
        if d[i][j] == inf or d[i][j] == 0 then
          assert.same({0, 0}, s[i][j])
        else
          assert.equal(1, math.abs(s[i][j][1]) + math.abs(s[i][j][2]))
          assert.is_true(math.abs(d[a][b] + t[a][b] - d[i][j]) < 1e-9)
        end
        if t[i][j] == inf then assert.equal(inf, d[i][j]) end
      end
    end
    local none, far = game.flow_field(cost, la.zeros(0, 2, {dtype = "int64"}))
    assert.equal(0, none:abs():max():item())
    assert.equal(inf, far:min():item())
    assert.same({0, 3, 2}, game.flow_field(la.zeros(0, 3),
      la.zeros(0, 2, {dtype = "int64"})).shape)
    assert.is_false(pcall(game.flow_field, cost, la.tensor{{15, 1}}))
    assert.is_false(pcall(game.flow_field, cost, la.tensor{{1.5, 1}}))
  end)
end)

describe("distance_field", function()
  it("is exact, also of nothing and of all", function()
    local mask = la.rand(13, 17):lt(0.05)
    mask[{4, 5}] = true
    local got, at = game.distance_field(mask), mask:nonzero():double()
    local cells = la.ones(13, 17):nonzero():double()
    local want = game.nearest(at, cells, 1):view(13, 17)
    assert.is_true(near(got:double(), want, 1e-6))
    assert.equal("float32", got.dtype)
    assert.equal(inf, game.distance_field(la.zeros(3, 4)):min():item())
    assert.equal(0, game.distance_field(la.ones(3, 4)):max():item())
    assert.same({0, 4}, game.distance_field(la.zeros(0, 4)).shape)
    assert.equal(0, game.distance_field(la.tensor(true)):item())
    assert.is_true(la.equal(game.distance_field(mask:t()), got:t()))
  end)
end)
