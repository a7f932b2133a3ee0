-- Chains over points, rows of two or three elements, which go as columns or
-- repeat what is one for each row: random programs give the bits that their
-- calls give one by one, also where elements are -0, infinite or no number.
local la = require "lunarray"

local random = 0
local function draw(n)      -- 1 .. n
  random = (random * 1103515245 + 12345) % 2147483648
  return random // 65536 % n + 1
end

local TWO = {"add", "sub", "mul", "div", "maximum", "minimum"}
local ONE = {"neg", "abs", "square", "sqrt", "exp", "reciprocal"}
local REDUCE = {"sum", "mean", "amax", "amin"}

-- One program as a list of functions of a pool of tensors.
local function program(n)
  local steps = {}
  for _ = 1, n do
    local kind, i, j, op = draw(10), draw(99), draw(99), draw(99)
    local keep = draw(4) > 1
    steps[#steps + 1] = function(pool)
      local x, y = pool[i % #pool + 1], pool[j % #pool + 1]
      local made
      if kind <= 5 then
        local ok, t = pcall(la[TWO[op % #TWO + 1]], x, y)
        made = ok and t or x
      elseif kind <= 7 then made = la[ONE[op % #ONE + 1]](x)
      elseif kind <= 9 and x.ndim > 1 then
        made = la[REDUCE[op % #REDUCE + 1]](x, x.ndim, keep)
      else
        x:add_(1)
        made = x * 2
      end
      pool[#pool + 1] = made
    end
  end
  return function(...)
    local pool = {...}
    for _, step in ipairs(steps) do step(pool) end
    return table.unpack(pool)
  end
end

local SPECIAL = {-0.0, 0.0, math.huge, -math.huge, 0 / 0, 1e-40, -1.5}
local function tensor(dtype, ...)
  local t = la.randn({...}, {dtype = dtype})
  local flat = t:view(-1)
  for _ = 1, draw(8) - 1 do
    flat[draw(t:numel())] = SPECIAL[draw(#SPECIAL)]
  end
  if draw(4) == 1 then t:fill_(-0.0) end
  return t
end

local function inputs(dtype, rows, n)
  local shapes = {{{rows, n}, {rows, n}, {rows, 1}},
    {{rows, n}, {1, n}, {rows, 1}},
    {{5, rows, n}, {rows, n}, {5, 1, n}}, {{5, rows, n}, {5, rows, 1}, {n}},
    {{rows, 5, n}, {rows, 1, n}, {5, n}}, {{rows, 1, n}, {1, rows, n}, {n}}}
  local list = {}
  for k, shape in ipairs(shapes[draw(#shapes)]) do
    list[k] = tensor(dtype, table.unpack(shape))
  end
  return list
end

-- Equal to the bit; a NaN is a NaN.
local function same(a, b)
  if a.dtype ~= b.dtype or a.ndim ~= b.ndim then return false end
  local nan = a:isnan()
  return la.equal(nan, b:isnan())
    and la.equal(a:signbit():logical_or(nan), b:signbit():logical_or(nan))
    and la.equal(a:where(nan:logical_not(), 0), b:where(nan:logical_not(), 0))
end

local function copies(list)
  local out = {}
  for k, t in ipairs(list) do out[k] = t:clone() end
  return out
end

local function check(seed)
  random = seed
  local dtype = draw(2) == 1 and "float32" or "float64"
  local list = inputs(dtype, draw(3) == 1 and draw(40) or 30 + draw(700),
    draw(4))
  local f = program(1 + draw(8))
  local plain = copies(list)
  local wanted = {f(table.unpack(plain))}
  for name, wrap in pairs{fuse = la.fuse, compile = la.compile} do
    local got, again = copies(list), copies(list)
    local g = wrap(f)
    local results = {g(table.unpack(got))}
    local more = {g(table.unpack(again))}
    for k = 1, #wanted do
      if not (same(wanted[k], results[k]) and same(wanted[k], more[k])) then
        return ("%s, seed %d, result %d"):format(name, seed, k)
      end
    end
    for k = 1, #list do
      if not same(plain[k], got[k]) then
        return ("%s, seed %d, argument %d"):format(name, seed, k)
      end
    end
  end
end

describe("la.fuse and la.compile of points", function()
  it("give the bits of the calls one by one", function()
    for seed = 1, tonumber(os.getenv "POINTS" or 300) do
      assert.is_nil(check(seed))
    end
  end)
end)
