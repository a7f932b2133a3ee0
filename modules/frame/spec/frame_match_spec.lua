-- Joins by one key, which are looked up without grouping both sides, against
-- two loops in Lua; and groups of steps of time whose dates are not in order.
local la = require "lunarray"

local F = la.frame
local gap = F.gap

local function plain(c, i)
  if type(c) ~= "userdata" then return c[i] end
  local v = c:item(i)
  if v == v then return v end
end

-- Pairs of rows as a loop over all of them finds them; 0 for no partner.
local function pairs_of(f, g, how)
  local list, used = {}, {}
  for i = 1, #f do
    local a, met = plain(f.k, i), false
    for j = 1, #g do
      if a ~= nil and a == plain(g.k, j) then
        if how ~= "semi" and how ~= "anti" then
          list[#list + 1] = i .. " " .. j
        end
        met, used[j] = true, true
      end
    end
    if how == "semi" and met or how == "anti" and not met then
      list[#list + 1] = i .. " 0"
    elseif not met and (how == "left" or how == "outer") then
      list[#list + 1] = i .. " 0"
    end
  end
  for j = 1, #g do
    if how == "outer" and not used[j] then list[#list + 1] = "0 " .. j end
  end
  return list
end

local function joined(f, g, how)
  local r = f:with{i = F.number()}:join(g:with{j = F.number()}, "k",
    {how = how})
  local list = {}
  for k = 1, #r do
    local row = r[k]
    list[k] = ("%d %d"):format(row.i or 0, row.j or 0)
  end
  return list
end

-- Lists of n keys out of 'few' different ones, multiples of 'step'.
local function keys(random, n, few, step, make)
  local list = {}
  for i = 1, n do
    local v = random(few)
    list[i] = make(v * step - few // 2 * step, v)
  end
  return list
end

local KINDS = {
  integers = function(list) return la.tensor(list, {dtype = "int64"}) end,
  small = function(list) return la.tensor(list, {dtype = "int32"}) end,
  floats = function(list)
    for i, v in ipairs(list) do if v == list[1] then list[i] = gap end end
    list[#list + 1] = 0.5
    return list
  end,
  zeros = function(list)
    for i, v in ipairs(list) do list[i] = v == 0 and -0.0 or v + 0.0 end
    return list
  end,
  dates = function(list)
    local d = la.tensor(list, {dtype = "int64"})
    if #list > 0 then d[1] = math.mininteger end
    return F.date(d, {unit = "second"})
  end,
}

describe("la.frame joins by one key:", function()
  local generator = la.Generator(11)
  local function random(n)
    return la.randint(1, n + 1, {1}, {generator = generator}):item()
  end
  for name, column in pairs(KINDS) do
    for _, step in ipairs{1, 100003} do
      it(("%s, %d apart"):format(name, step), function()
        for _, size in ipairs{{0, 3}, {3, 0}, {1, 1}, {40, 25}, {25, 60}} do
          local few = size[1] == 25 and 200 or 12
          local function side(n)
            local list = keys(random, n, few, step, function(v) return v end)
            return F{{"k", n == 0 and la.zeros({0}, {dtype = "int64"})
              or column(list)}}
          end
          local f, g = side(size[1]), side(size[2])
          for _, how in ipairs{"inner", "left", "outer", "semi", "anti"} do
            if #f > 0 and #g > 0 or f.kinds.k == g.kinds.k then
              assert.same(pairs_of(f, g, how), joined(f, g, how), how)
            end
          end
        end
      end)
    end
  end

  it("the greatest and the least keys", function()
    local a = {math.maxinteger, math.mininteger, -1, 0}
    local f = F{k = a, i = {1, 2, 3, 4}}
    local g = F{k = {0, math.mininteger, math.maxinteger}, j = {1, 2, 3}}
    assert.same({3, 2, 1}, f:join(g, "k").j:totable())
    assert.same({1, 2, 4}, f:join(g, "k").i:totable())
  end)

  it("columns that keep all rows are shared", function()
    local f = F{k = {3, 1, 3}, x = {1, 2, 3}}
    local r = f:join(F{k = {1, 3}, y = {5, 6}}, "k")
    assert.is_true(rawequal(f.x, r.x))
    assert.same({6, 5, 6}, r.y:totable())
    r.x = {0, 0, 0}
    assert.same({1, 2, 3}, f.x:totable())
  end)

  it("validate sees keys that have no partner", function()
    local f, g = F{k = {7, 7}}, F{k = {1}}
    local fine, message = pcall(f.join, f, g, "k", {validate = "1:1"})
    assert.is_false(fine)
    assert.truthy(message:find("the key 7 stands twice on the left", 1, true))
    assert.equal(0, #f:join(g, "k", {validate = "m:1"}))
  end)
end)

describe("la.frame resample of dates in any order", function()
  local f = F{
    t = F.date{"2024-01-02 09:00", "2024-01-01 12:00", gap,
      "2024-01-02 08:00", "2024-01-01 12:00"},
    x = {1, 2, 3, 4, 5}}

  it("takes values in the order of time", function()
    local r = f:resample("t", "day"):agg{a = F.first "x", z = F.last "x",
      n = F.size(), own = function(part) return part.x:item(1) end}
    assert.same({2, 4, 3}, r.a:totable())
    assert.same({5, 1, 3}, r.z:totable())
    assert.same({2, 2, 1}, r.n:totable())
    assert.same({2, 4, 3}, r.own:totable())
    local first = {}
    for part in f:resample("t", "day"):iter() do
      first[#first + 1] = part.x:item(1)
    end
    assert.same({2, 4, 3}, first)
    assert.same({2, 4, 3}, f:resample("t", "day"):first().x:totable())
  end)

  it("keeps the rows where they stay", function()
    local r = f:resample("t", "day"):with{n = F.size(), s = F.sum "x"}
    assert.same({1, 2, 3, 4, 5}, r.x:totable())
    assert.same({5, 7, 3, 5, 7}, r.s:totable())
    assert.same({2, 5}, f:resample("t", "day"):filter(function(part)
      return part.x:item(1) == 2
    end).x:totable())
  end)

  it("says which column is of another kind", function()
    local g = F{i = {"a"}, u = {1}, v = {"x"}}
    local fine, message = pcall(g.melt, g, {id_vars = "i"})
    assert.is_false(fine)
    assert.truthy(message:find("melt: column 'u' is int64, 'v' is text", 1,
      true))
  end)
end)
