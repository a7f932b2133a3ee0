-- Products of 16-bit floats against float64 arithmetic, with the bound of plain
-- summation in float32: run once for each path, prints "ok" or what is off.
local la = require "lunarray"
local inf, nan = math.huge, 0 / 0

local found = 0
local function off(what, ...)
  found = found + 1
  if found < 20 then print(what, ...) end
end

-- Four ways to lie in memory, and one with steps in both directions.
local layouts = {
  function(x) return x end,
  function(x) return x:t():contiguous():t() end,
  function(x) return la.cat({x, x}, 2):narrow(2, 1, x:size(2)) end,
  function(x) return la.cat({x, x}, 1):t():contiguous():t()
                     :narrow(1, 1, x:size(1)) end,
  function(x) return la.stack({x, x}, -1):select(-1, 2) end,
}

local unit = {bfloat16 = 2.0 ^ -8, float16 = 2.0 ^ -11}
local smallest = {bfloat16 = 2.0 ^ -133, float16 = 2.0 ^ -24}

-- |got - want| <= k + 3 roundings of the sum of sizes in float32, and one of
-- the result; 'sizes' is the product of the absolute values.
local function compare(got, want, sizes, k, dtype, ...)
  local bound = sizes * ((k + 3) * 2.0 ^ -24) + want:abs() * unit[dtype]
                + smallest[dtype]
  local within = (got:double() - want):abs():le(bound)  -- false for NaN
  if not within:all() then off("error", dtype, ...) end
end

local number = 0
local function one(m, k, n, dtype)
  number = number + 1
  local a = (la.rand(m, k) - 0.5):to(dtype)
  local b = (la.rand(k, n) - 0.5):to(dtype)
  local want, sizes = a:double():mm(b:double()),
                      a:double():abs():mm(b:double():abs())
  local x = layouts[number % 5 + 1](a)
  local y = layouts[number // 5 % 5 + 1](b)
  compare(x:mm(y), want, sizes, k, dtype, "mm", m, k, n)
  if number % 3 ~= 0 then return end
  local add = (la.rand(m, n) - 0.5):to(dtype)
  local whole = want * 0.5 + add:double() * 2
  local more = sizes * 0.5 + add:double():abs() * 2
  compare(la.addmm(add, x, y, {beta = 2, alpha = 0.5}), whole, more, k, dtype,
          "addmm", m, k, n)
  local into = add:clone()
  into:addmm_(x, y, {beta = 2, alpha = 0.5})
  compare(into, whole, more, k, dtype, "addmm_", m, k, n)
  local bias = (la.rand(n) - 0.5):to(dtype)
  compare(la.linear(x, y:t(), bias), want + bias:double(),
          sizes + bias:double():abs(), k, dtype, "linear", m, k, n)
  local out = la.zeros(n, m, {dtype = dtype}):t()
  la.mm(x, y, {out = out})
  compare(out, want, sizes, k, dtype, "out=", m, k, n)
end

-- An infinity or a NaN opposite of the padding of an odd k, of rows and of
-- columns that do not exist; and where it must be seen.
local function specials(m, k, n, dtype)
  local a, b = la.ones(m, k, {dtype = dtype}), la.ones(k, n, {dtype = dtype})
  local plain = a:mm(b)
  local i, j = math.random(m), math.random(n)
  for _, v in ipairs {inf, -inf, nan} do
    local x, y = a:clone(), b:clone()
    x[{i, k}] = v
    y[{k, j}] = v
    local left, right = x:mm(b), a:mm(y)
    for r = 1, m do
      for c = 1, n do
        local want = r == i and v or plain:item(r, c)
        local got = left:item(r, c)
        if got ~= want and (got == got or want == want) then
          off("left", v, m, k, n, r, c, got)
        end
        want = c == j and v or plain:item(r, c)
        got = right:item(r, c)
        if got ~= want and (got == got or want == want) then
          off("right", v, m, k, n, r, c, got)
        end
      end
    end
  end
end

-- Subnormal operands count for what they are, even where nothing else is there
-- or the other factor is huge.
local function subnormals(dtype, tiny, huge)
  for _, s in ipairs {{20, 33, 40}, {64, 64, 64}, {9, 20, 17}} do
    local m, k, n = s[1], s[2], s[3]
    local a = la.zeros(m, k, {dtype = dtype})
    local b = la.ones(k, n, {dtype = dtype})
    a[{2, 3}] = tiny
    b[{3, 5}] = huge
    if a:mm(b):item(2, 5) ~= tiny * huge then
      off("subnormal", dtype, m, k, n, a:mm(b):item(2, 5))
    end
    b[{3, 5}] = inf
    if a:mm(b):item(2, 5) ~= inf then off("subnormal times infinity", m) end
    if b:t():mm(a:t()):item(5, 2) ~= inf then off("on the right", m) end
  end
end

la.manual_seed(17)
math.randomseed(17)
for _, dtype in ipairs {"bfloat16", "float16"} do
  for m = 0, 40, 3 do
    for n = 0, 40, 3 do
      for k = 0, 40, 3 do one(m, k + (m + n) % 3, n, dtype) end
    end
  end
  for _ = 1, 150 do
    one(math.random(90), math.random(130), math.random(150), dtype)
  end
  -- about the borders of blocks of k, which threads cut too
  for _, k in ipairs {399, 401, 799, 800, 801, 1024, 1025, 1601, 2403} do
    one(37, k, 45, dtype)
    one(16, k, 100, dtype)
    one(130, k, 140, dtype)
  end
  for _, s in ipairs {{9, 9, 9}, {20, 33, 40}, {15, 1, 33}, {31, 65, 31},
                      {33, 801, 18}} do
    specials(s[1], s[2], s[3], dtype)
  end
  local a, b = la.rand(5, 30, 41):to(dtype), la.rand(5, 41, 50):to(dtype)
  local all = la.bmm(a, b)
  for i = 1, 5 do
    local same = all[i] == a[i]:mm(b[i])
    if not same then off("bmm", dtype, i) end
  end
end
subnormals("bfloat16", 2.0 ^ -130, 2.0 ^ 126)
subnormals("float16", 2.0 ^ -24, 2.0 ^ 14)
if found == 0 then print "ok" end
