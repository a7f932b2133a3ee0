-- la.cond, la.while_loop and la.scan in compiled functions, against the same
-- functions as they are.
local la = require "lunarray"

local function agree(f, list)
  local step = la.compile(f)
  for _, x in ipairs(list) do
    local want, got = table.pack(f(x)), table.pack(step(x))
    for k = 1, want.n do
      assert.is_true(want[k]:equal(got[k]), tostring(got[k]))
    end
  end
end

describe("control flow in a compiled function", function()
  local values = {la.ones(3), la.full({3}, -2.), la.full({3}, 40.), la.ones(3)}

  it("chooses anew in each call", function()
    agree(function(x)
      return (la.cond(x:sum():gt(0), function(a) return a * 2 end, la.neg, x))
    end, values)
    agree(function(x)
      return la.while_loop(function(_, y) return y:abs():sum():lt(50) end,
        function(i, y) return i + 1, y * 2 end, la.tensor(0), x)
    end, values)
  end)

  it("takes views of every layout", function()
    local layouts = {
      function(x) return x:reshape(-1):unfold(1, 2, 1) end,
      function(x) return x[{{}, {2, 3}}] end,
      function(x) return x[{{1, -1, 2}}] end,
      function(x) return x[1][1]:expand(5, 4, 3) end,
      function(x) return x:permute(3, 1, 2) end,
      function(x) return x[1]:diagonal() end,
      function(x) return la.complex(x, x + 1):conj() end,
      function(x) return la.complex(x, x + 1):conj().imag end}
    for seed, view in ipairs(layouts) do
      la.manual_seed(seed)
      local list = {}
      for k = 1, 3 do list[k] = la.rand(5, 4, 3, {dtype = "float64"}) + 0.5 end
      list[3]:mul_(1e4)
      agree(function(x)
        local y = la.while_loop(
          function(v) return v:abs():sum():lt(1e3) end,
          function(v) return v * 2 + 1 end, view(x))
        return y, (la.cond(x:sum():gt(100), function(v) return v * 3 + 1 end,
                           function(v) return v * 5 - 1 end, view(x)))
      end, list)
    end
  end)

  it("sees a captured tensor that has changed", function()
    local limit = la.tensor(0.)
    local step = la.compile(function(x)
      return (la.cond(limit:gt(1), function(a) return a * 2 end, la.neg, x))
    end)
    for _, n in ipairs{0, 0, 3, 3, 0} do
      limit:fill_(n)
      assert.is_true(step(la.ones(2)):equal(la.ones(2) * (n > 1 and 2 or -1)))
    end
  end)

  it("gives a view from outside, where a loop makes no pass", function()
    local function small(y) return y:sum():lt(50) end
    local function twice(y) return y * 2 end
    local step = la.compile(function(x)
      return (la.while_loop(small, twice, x:t()))
    end)
    for _ = 1, 2 do step(la.ones(2, 3)) end
    local x = la.full({2, 3}, 100.)
    local y = step(x)
    step(la.ones(2, 3))
    x:add_(1)
    assert.is_true(y:equal(x:t()))
    local twins = la.compile(function(v)
      local z = v * 2
      z:detach()[1] = 0.5
      local data = z.data
      return z, data, (la.while_loop(small, twice, data))
    end)
    for k = 1, 4 do
      local a, b, c = twins(la.full({3}, k > 1 and 100. or 1.))
      assert.equal(a, b)
      if k > 1 then assert.equal(a, c) end
    end
    local w = la.tensor(30.):t():t()
    local grown = la.compile(function()
      w:add_(15)
      return (la.while_loop(small, twice, w))
    end)
    for k = 1, 4 do
      local got = grown()
      assert.equal(k == 1 and 90 or 30 + 15 * k, got:item())
      assert.equal(30 + 15 * k, w:item())
    end
  end)

  it("has the derivatives of a scan", function()
    local w = la.tensor({0.5}, {requires_grad = true})
    local function f(xs)
      return la.scan(function(c, x) return c * w + x, c end, la.zeros(1), xs)
    end
    local step = la.compile(f)
    for k = 1, 3 do
      local xs = la.ones(4, 1) * k
      local want = la.grad((f(xs)):sum(), w)
      assert.is_true(want:equal((la.grad((step(xs)):sum(), w))))
    end
  end)
end)

describe("a result of a compiled function", function()
  it("keeps its lazy conjugate", function()
    local z = la.complex(la.tensor{1., 2}, la.tensor{3., -4})
    local step = la.compile(function(x) return (x * 2):conj() end)
    for _ = 1, 3 do assert.is_true(step(z):equal((z * 2):conj())) end
  end)

  it("leaves what a loop's body writes in its carry, in the first call too",
    function()
      local function small(y) return y:abs():sum():lt(50) end
      local bodies = {
        function(y) return y:mul_(2) end,
        function(y) y:mul_(2):add_(0.5) return y + 1 end,
        function(y) y:view(-1):mul_(2) return y end,
        function(y, n) n:add_(1) return y * 2, n end,
        function(y)
          if y:mul_(2) then error "no more" end
        end}
      for _, body in ipairs(bodies) do
        for _, grad in ipairs{false, true} do
          local function f(x, n)
            local v = x * 1
            local ok, y, m = pcall(la.while_loop, small, body, v, n)
            return v, n, ok and y or v, ok and m or n
          end
          local step = la.compile(f, {partial = true})
          for k = 1, 3 do
            local list = {}
            for i, g in ipairs{f, step} do
              local x = (la.ones(3) * k):requires_grad_(grad)
              local n = la.zeros(1)
              list[i] = {g(x, n)}
              list[i].versions = {list[i][1]._version, n._version}
              if grad then
                list[i][3]:sum():backward()
                table.insert(list[i], x.grad)
              end
            end
            for i, t in ipairs(list[1]) do
              assert.is_true(la.equal(t, list[2][i]))
            end
            assert.same(list[1].versions, list[2].versions)
          end
        end
      end
    end)
end)
