-- la.fuse of every program of three steps from a small set of calls, writes
-- among them, on dense and strided tensors: results and what was written have
-- the bits of the calls one by one. What is chained, packed or freed too early,
-- or read after a write between, stands in one of them.
local la = require "lunarray"

local STEPS = {
  function(s) s.t = s.x * 2 end,
  function(s) s.t = s.t + s.y end,
  function(s) s.t = s.y - s.t end,
  function(s) s.t = s.x / s.t end,
  function(s) s.t = s.t:abs() end,
  function(s) s.t, s.u = s.u, s.t end,
  function(s) s.u = s.t * s.x end,
  function(s) s.t = la.where(s.t:gt(s.y), s.x, s.t) end,
  function(s) s.x:add_(1) end,
  function(s) s.x:copy_(s.y) end,
  function(s) s.x:mul_(s.t) end,
  function(s) s.y:copy_(s.t) end,
  function(s) s.y:copy_(s.x) end,
  function(s) s.y:sub_(s.u) end,
  function(s) la.add(s.t, s.x, {out = s.y}) end
}

-- What is returned: others' temporaries are dead where it is one.
local ENDS = {
  function(s) return s.t + s.y, s.x end,
  function(s) return s.u - s.t end,
  function(s) return s.t, s.u, s.x * 1, s.y * 1 end
}

local LAYOUTS = {
  {"dense", function(n) return la.rand(n), la.rand(n) end},
  {"a strided target", function(n)
    return la.rand(n, 3)[{{}, 2}], la.rand(n)
  end},
  {"a strided source", function(n)
    return la.rand(n), la.rand(n, 2)[{{}, 1}]
  end},
  {"columns of one matrix", function(n)
    local m = la.rand(n, 4)
    return m[{{}, {1, 2}}], m[{{}, {3, 4}}]
  end},
  {"columns that overlap", function(n)
    local m = la.rand(n, 4)
    return m[{{}, {1, 2}}], m[{{}, {2, 3}}]
  end},
  {"rows that one is moved from", function(n)
    local m = la.rand(n + 1)
    return m[{{1, n}}], m[{{2, n + 1}}]
  end}
}

-- Bits of all that a program makes and writes.
local function outcome(program, last, make, n, through)
  local x, y, t, u
  local function begin()
    la.manual_seed(3)
    x, y = make(n)
    t, u = la.rand_like(x), la.rand_like(y)
  end
  local function f()
    local s = {x = x, y = y, t = t, u = u}
    for _, step in ipairs(program) do STEPS[step](s) end
    return ENDS[last](s)
  end
  begin()
  local results = table.pack(pcall(through, f, begin))
  local out = {tostring(results[1])}
  for k = 2, results[1] and results.n or 1 do
    out[k] = results[k]:contiguous():tostring_raw()
  end
  out[#out + 1] = x:contiguous():tostring_raw()
  out[#out + 1] = y:contiguous():tostring_raw()
  return table.concat(out, "|")
end

local function direct(f) return f() end
local function fused(f, begin)
  local g = la.fuse(f)
  g()                                   -- records
  begin()
  return g()
end

local function check(program, last, layout, n)
  local make = layout[2]
  if outcome(program, last, make, n, direct)
      ~= outcome(program, last, make, n, fused) then
    error(("program %s, end %d, %d elements"):format(
      table.concat(program, " "), last, n))
  end
end

describe("la.fuse of three steps", function()
  for _, layout in ipairs(LAYOUTS) do
    it("on " .. layout[1], function()
      for a = 1, #STEPS do
        for b = 1, #STEPS do
          for c = 1, #STEPS do
            check({a, b, c}, (a + b + c) % #ENDS + 1, layout, 5)
          end
          for last = 1, #ENDS do check({a, b}, last, layout, 3001) end
        end
      end
    end)
  end

  it("reads the value before a write between", function()
    local x, y = la.rand(5), la.rand(5)
    local want = x * 2 + y
    local got = la.fuse(function(p, q)
      local s = p * 2
      p:add_(1)
      return s + q
    end)(x, y)
    assert.is_true(la.equal(want, got))
  end)
end)
