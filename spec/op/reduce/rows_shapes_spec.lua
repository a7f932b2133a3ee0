-- Functions of rows and columns of every length, where kernels change their
-- way: against mathematics in Lua's doubles, and against longer and other
-- layouts of the same numbers.
local la = require "lunarray"

local FLOATS = {"float16", "bfloat16", "float32", "float64"}
local WITHIN = {float16 = 4e-3, bfloat16 = 3e-2, float32 = 3e-6,
  float64 = 1e-13}

local function soft(row)
  local top, sum = -math.huge, 0
  for _, x in ipairs(row) do top = math.max(top, x) end
  for _, x in ipairs(row) do sum = sum + math.exp(x - top) end
  local s, l = {}, {}
  for i, x in ipairs(row) do
    s[i] = math.exp(x - top) / sum
    l[i] = x - top - math.log(sum)
  end
  return s, l
end

local function near(want, got, within, what)
  for i, w in ipairs(want) do
    local g = got[i]
    if not (w ~= w and g ~= g) then
      assert.is_true(w == g or math.abs(w - g) <= within
        * math.max(1, math.abs(w)),
        ("%s, %d: %s, not %s"):format(what, i, g, w))
    end
  end
end

describe("softmax of short lines", function()
  for _, dtype in ipairs(FLOATS) do
    it("in rows, " .. dtype, function()
      la.manual_seed(3)
      for _, n in ipairs {1, 3, 8, 9, 16, 17, 31, 100, 128,
          129} do
        local x = (la.randn(35, n) * 3):to(dtype)
        local list = x:double():totable()
        local s, l = x:softmax(2):double():totable(),
          x:log_softmax(2):double():totable()
        for r = 1, 35 do
          local ws, wl = soft(list[r])
          near(ws, s[r], WITHIN[dtype], ("softmax of %d"):format(n))
          near(wl, l[r], WITHIN[dtype], ("log_softmax of %d"):format(n))
        end
        -- a row's bits are its own: whatever its neighbours
        for _, r in ipairs {1, 16, 32, 33, 35} do
          local one = x[{{r, r}}]:contiguous()
          assert.is_true(x:softmax(2)[{{r, r}}] == one:softmax(2))
          assert.is_true(x:log_softmax(2)[{{r, r}}] == one:log_softmax(2))
        end
      end
    end)

    it("in columns, " .. dtype, function()
      la.manual_seed(4)
      for _, cols in ipairs {1, 3, 10, 16, 31, 32, 40} do
        for _, n in ipairs {1, 16, 33, 101} do
          local x = (la.randn(2, n, cols) * 3):to(dtype)
          local list = x:double():transpose(2, 3):contiguous():totable()
          local s = x:softmax(2):double():transpose(2, 3):contiguous()
            :totable()
          local l = x:log_softmax(2):double():transpose(2, 3):contiguous()
            :totable()
          for b = 1, 2 do
            for k = 1, cols do
              local ws, wl = soft(list[b][k])
              local what = ("%d x %d"):format(n, cols)
              near(ws, s[b][k], WITHIN[dtype], what)
              near(wl, l[b][k], WITHIN[dtype], what)
            end
          end
        end
      end
    end)
  end

  it("keeps NaN and infinities to their line", function()
    local x = la.randn(40, 10)
    x[{3, 4}] = 0 / 0
    x[{5, 6}] = math.huge
    x[{7, {}}] = -math.huge
    for d = 1, 2 do
      local y = (d == 2 and x or x:t():contiguous()):softmax(d)
      if d == 1 then y = y:t() end
      for r = 1, 40 do
        local bad = r == 3 or r == 5 or r == 7
        assert.equal(bad, y[r]:sum():item() ~= y[r]:sum():item())
      end
    end
  end)
end)

describe("running extremes", function()
  local function naive(row, reaches)
    local v, at, p = {}, {}, 1
    for i, x in ipairs(row) do
      local best = row[p]
      if x ~= x or (best == best and reaches(x, best)) then p = i end
      v[i], at[i] = row[p], p
    end
    return v, at
  end
  local function same(want, got)
    for i, w in ipairs(want) do
      assert.is_true(w == got[i] or (w ~= w and got[i] ~= got[i]))
    end
  end
  local WAYS = {
    cummax = function(a, b) return a >= b end,
    cummin = function(a, b) return a <= b end
  }
  for _, dtype in ipairs {"uint8", "int16", "int32", "int64", "float16",
      "bfloat16", "float32", "float64"} do
    it("along rows and columns, " .. dtype, function()
      la.manual_seed(5)
      for _, n in ipairs {1, 31, 33, 100} do
        for _, kind in ipairs {"few", "rising", "falling", "odd"} do
          local x = la.randint(0, 9, {5, n}):double()
          local ramp = la.arange(n):double():mul(0.1):floor():reshape(1, n)
          if kind == "rising" then x = x + ramp end
          if kind == "falling" then x = x - ramp end
          if kind == "odd" and dtype:find "float" then
            x[{2, (n + 1) // 2}] = 0 / 0
            x[{3, n}] = math.huge
            x[{4, 1}] = -math.huge
          end
          if dtype == "uint8" then x = x:clamp(0, 200) end
          x = x:to(dtype)
          local list = x:double():totable()
          for name, reaches in pairs(WAYS) do
            local v, i = x[name](x, 2)
            local y = x:t():contiguous()
            local vc, ic = y[name](y, 1)
            local gap = la.stack({x, x}, 3):to(dtype)[{{}, {}, 1}]
            local vg, ig = gap[name](gap, 2)
            v, i = v:double():totable(), i:totable()
            vc, ic = vc:double():t():contiguous():totable(),
              ic:t():contiguous():totable()
            vg, ig = vg:double():totable(), ig:totable()
            for r = 1, 5 do
              local wv, wi = naive(list[r], reaches)
              same(wv, v[r]); same(wv, vc[r]); same(wv, vg[r])
              assert.same(wi, i[r])
              assert.same(wi, ic[r])
              assert.same(wi, ig[r])
            end
          end
        end
      end
    end)
  end
end)
