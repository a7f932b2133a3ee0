-- la.parallel.map: Lua states on threads.
local la = require "lunarray"

describe("parallel", function()
  it("gives results in order, whoever computes them", function()
    local scale, offset = la.full({3}, 2.0), {by = 10}
    local function plus(x) return x + offset.by end
    local list = {}
    for k = 1, 50 do list[k] = {la.full({3}, k), k} end
    for _, threads in ipairs{1, 2, 5} do
      local results, errors = la.parallel.map(function(item, k)
        assert(item[2] == k)
        return {plus((item[1] * scale):sum():item()), math.floor(2.5),
          item[1]}
      end, list, {threads = threads})
      assert.is_nil(errors)
      for k = 1, 50 do
        assert.equal(6 * k + 10, results[k][1])
        assert.equal(2, results[k][2])
        assert.is_true(results[k][3]:eq(k):all())
      end
    end
  end)

  it("shares the memory of tensors", function()
    local x = la.zeros(4, 1000)
    local rows = {}
    for k = 1, 4 do rows[k] = x[k] end
    la.parallel.map(function(row, k) row:fill_(k) end, rows, {threads = 2})
    assert.is_true(x:mean(2):eq(la.range(1, 4)):all())
  end)

  it("gives errors of some and results of the others", function()
    local results, errors = la.parallel.map(function(k)
      if k % 3 == 0 then error("no " .. k) end
      if k == 4 then return print end
      return k == 5 and nil or -k
    end, {1, 2, 3, 4, 5, 6}, {threads = 2, retries = 1})
    assert.same({-1, -2}, {results[1], results[2]})
    assert.is_truthy(errors[3]:find("no 3", 1, true))
    assert.is_truthy(errors[4]:find("function does not travel", 1, true))
    assert.is_nil(errors[5])
    assert.is_truthy(errors[6])
  end)

  it("calls itself and others that call it", function()
    local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
    assert.same({55, 89}, (la.parallel.map(fib, {10, 11})))
    assert.same({}, (la.parallel.map(fib, {})))
  end)

  it("records gradients in each state, and nests", function()
    local shared, list = la.randn(8, 8), {}
    for k = 1, 12 do list[k] = la.randn(5, 8) end
    local found = la.parallel.map(function(x)
      local lunarray = require "lunarray"
      local w = shared:clone():requires_grad_()
      x:matmul(w):square():sum():backward()
      return {w.grad, lunarray.parallel.map(function(y)
        return y * 2
      end, {1, 2}, {threads = 2})}
    end, list, {threads = 3})
    for k, x in ipairs(list) do
      assert.is_true(la.allclose(found[k][1],
        x:t():matmul(x:matmul(shared)) * 2, {rtol = 1e-4, atol = 1e-4}))
      assert.same({2, 4}, found[k][2])
    end
  end)

  it("refuses what has no bytes", function()
    local f = coroutine.wrap(function() end)
    assert.has_error(function() la.parallel.map(f, {1}) end)
    assert.has_error(function() la.parallel.map(print, {1}) end)
    assert.has_error(function() la.parallel.map(nil, {1}) end)
    assert.has_error(function() la.parallel.map(function() end, 1) end)
    assert.has_error(function() la.parallel.map(function() end, {print}) end)
    assert.has_error(function()
      la.parallel.map(function() end, {1}, {threads = 0})
    end)
    local cycle = {}
    cycle[1] = cycle
    assert.has_error(function() la.parallel.map(function() return cycle end,
      {1}) end)
  end)
end)
