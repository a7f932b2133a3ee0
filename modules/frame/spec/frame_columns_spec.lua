-- Columns of texts and dates of la.frame: each word against Lua's own string
-- functions, the calendar of os.date, and values that are written down.
local la = require "lunarray"
local raises = require "spec.support.raises"

local F = la.frame
local gap = F.gap

local function list(c)
  local out = {}
  for i = 1, #c do out[i] = c[i] or "nil" end
  return out
end

describe("Text", function()
  local words = {"b", "a", "", "é", "a b", "B", "ab", "\0x", "a"}
  local t = F.text(words)

  it("has sorted categories and codes from 1", function()
    local categories = t.categories
    for k = 2, #categories do
      assert.is_true(categories[k - 1] < categories[k])
    end
    for i, word in ipairs(words) do
      assert.equal(word, categories[t.codes:item(i)])
      assert.equal(word, t[i])
    end
    assert.equal("int32", t.codes.dtype)
    assert.equal(#words, #t)
    assert.same(words, t:totable())
    assert.equal("a", t[-1])
    assert.same({"a", ""}, t[{2, 3}]:totable())
  end)

  it("compares by bytes", function()
    local ops = {eq = function(a, b) return a == b end,
      ne = function(a, b) return a ~= b end,
      lt = function(a, b) return a < b end,
      le = function(a, b) return a <= b end,
      gt = function(a, b) return a > b end,
      ge = function(a, b) return a >= b end}
    local other = F.text{"a", "b", "", "z", "a", "B", "aa", "\0x", "é"}
    for op, f in pairs(ops) do
      for _, with in ipairs{"a", "", "aa", "zz", "é", "\0"} do
        local got = t[op](t, with):totable()
        for i, word in ipairs(words) do assert.equal(f(word, with), got[i]) end
      end
      local got = t[op](t, other):totable()
      for i, word in ipairs(words) do
        assert.equal(f(word, other[i]), got[i])
      end
    end
    assert.same({true, true, false}, F.text{"x", "y", "z"}:isin{"y", "x"}
      :totable())
    raises("2 texts, and 3", function()
      return F.text{"a", "b"}:eq(F.text{"a", "b", "c"})
    end)
  end)

  it("has string's functions", function()
    local calls = {{"upper"}, {"lower"}, {"sub", 2}, {"sub", -2, -1},
      {"rep", 2}, {"rep", 2, "-"}, {"gsub", "a", "%0%0"}, {"match", "^a(.?)"}}
    for _, call in ipairs(calls) do
      local got = t[call[1]](t, call[2], call[3])
      for i, word in ipairs(words) do
        assert.equal((string[call[1]](word, call[2], call[3])), got[i])
      end
    end
    local n = t:len():totable()
    for i, word in ipairs(words) do assert.equal(#word, n[i]) end
    assert.same({true, false, true}, F.text{"a.b", "ab", "a."}:has(".", true)
      :totable())
    raises("malformed pattern", t.has, t, "[")
    raises("malformed pattern", t.match, t, "[")
  end)

  it("is joined, mapped, and keeps gaps", function()
    local g = F.text{"x", gap, "y"}
    assert.same({"x-x", "nil", "y-y"}, list(g .. "-" .. g))
    assert.same({"<x>", "nil", "<y>"}, list("<" .. g .. ">"))
    assert.same({"X", "nil", "nil"}, list(g:map{x = "X"}))
    assert.same({1, 2}, F.text{"x", "y"}:map{x = 1, y = 2}:totable())
    assert.same({true, false},
      F.text{"x", "y"}:map(function(v) return v == "x" end):totable())
    assert.equal("float64", g:len().dtype)
    assert.same({"x", "nil"}, list(F.text{"x", gap}))
    local m = F.text{"a", "b"}:map(function() return "m" end)
    assert.same({"m", "m"}, list(m))
    assert.equal(1, #m.categories)
    raises("attempt to concatenate text", function() return g .. {} end)
    raises("row 2: a string expected", F.text, {"a", 1})
  end)

  it("has an order where one is given", function()
    local o = F.text{"L", "S", gap, "M"}:order{"S", "M", "L", "XL"}
    assert.same({true, false, false, false}, o:gt"M":totable())
    assert.same({false, true, false, true}, o:le"M":totable())
    local f = F{size = o, n = {1, 2, 3, 4}}
    assert.same({2, 4, 1, 3}, f:sort"size".n:totable())
    assert.same({"S", "M", "L", "nil"}, list(f:group"size":sum().size))
    assert.equal("S", F.min(o))
    assert.same({"S", "M"}, list(f:filter(o:lt"L"):sort"size".size))
    raises("'x' is not in its order", o.lt, o, "x")
    raises("'L' occurs and is not in the list", o.order, o, {"S", "M"})
    assert.same({false, false, false, false}, o:eq"x":totable())
  end)
end)

describe("Date", function()
  local DAY = 86400
  local seconds = {}
  for k = 1, 400 do
    seconds[k] = (k * 2654435761 % 8e9 // 1 | 0) - 4000000000
  end
  local d = F.date(la.tensor(seconds, {dtype = "int64"}), {unit = "second"})

  it("has the fields of the calendar", function()
    local form = {year = "%Y", month = "%m", day = "%d", hour = "%H",
      minute = "%M", second = "%S", yearday = "%j", week = "%V",
      weekday = "%u"}
    for name, directive in pairs(form) do
      local got = d[name]:totable()
      for i, s in ipairs(seconds) do
        assert.equal(tonumber(os.date("!" .. directive, s)), got[i])
      end
    end
  end)

  it("is written and read by formats", function()
    for _, form in ipairs{"%Y-%m-%d %H:%M:%S", "%d.%m.%Y %I:%M:%S %p",
        "%j %Y %H%M%S", "%A, %d %B %Y at %H:%M:%S", "%a %b %d %Y %H:%M:%S"} do
      local text = d:format(form)
      for i, s in ipairs(seconds) do
        assert.equal(os.date("!" .. form, s), text[i])
      end
      assert.is_true(F.date(text, {format = form}) == d, form)
    end
    assert.same(list(d), list(d:format()))
    raises("no format that is known", d.format, d, "%Q")
  end)

  it("reads ISO 8601, and finds the unit", function()
    for text, want in pairs{["2024-02-29"] = "2024-02-29",
        ["20240229"] = "2024-02-29", ["2024-02"] = "2024-02-01",
        ["2024-02-29T08:30"] = "2024-02-29 08:30:00",
        ["2024-02-29 08:30:15.25"] = "2024-02-29 08:30:15.250",
        ["2024-02-29 08:30:15.000001"] = "2024-02-29 08:30:15.000001",
        ["2024-02-29 08:30:15,000000001Z"] = "2024-02-29 08:30:15.000000001",
        ["2024-02-29T23:30:00-02:00"] = "2024-03-01 01:30:00",
        ["2024-02-29T23:30+0530"] = "2024-02-29 18:00:00"} do
      assert.equal(want, F.date{text}[1])
    end
    for _, text in ipairs{"2024-02-30", "2023-02-29", "2024-13-01", "x", "",
        "2024-01-01 24:00:00", "2024-01-01 10:61", "2024-01-01x", "2024-1-"} do
      raises("row 2: '" .. text .. "' is no date", F.date,
        {"2024-01-01", text})
    end
    assert.equal("date[day]", F{d = F.date{"2024-01-01"}}.kinds.d)
    assert.equal("date[nanosecond]",
      F{d = F.date({"2024-01-01"}, {unit = "nanosecond"})}.kinds.d)
    raises("does not fit", F.date, {"3024-01-01"}, {unit = "nanosecond"})
    raises("date: unit", F.date, {"2024-01-01"}, {unit = "sec"})
  end)

  it("is the same instant at other offsets", function()
    local e = F.date{"2024-02-29 23:30:00"}:at"+02:00"
    assert.equal("2024-03-01 01:30:00+02:00", e[1])
    assert.equal("+02:00", e.offset)
    assert.same({3}, e.month:totable())
    assert.equal("2024-03-01 00:00:00+02:00", e:floor"day"[1])
    assert.equal("2024-02-29 22:00:00", e:floor"day":at"+00:00"[1])
    assert.equal("2024-02-29 06:30:00",
      F.date({"2024-02-29 08:30"}, {offset = "+02:00"}):at"+00:00"[1])
    raises("an offset", e.at, e, "2h")
  end)

  it("floors and adds", function()
    local e = F.date{"2024-05-17 13:45:50", "1969-12-31 23:59:59"}
    local want = {year = {"2024-01-01", "1969-01-01"},
      quarter = {"2024-04-01", "1969-10-01"},
      month = {"2024-05-01", "1969-12-01"}, week = {"2024-05-13", "1969-12-29"},
      day = {"2024-05-17", "1969-12-31"}}
    for unit, days in pairs(want) do
      for i = 1, 2 do
        assert.equal(days[i] .. " 00:00:00", e:floor(unit)[i])
      end
    end
    assert.equal("2024-05-17 13:40:00", e:floor("minute", 20)[1])
    assert.equal("2024-05-17 12:00:00", e:floor("hour", 6)[1])
    assert.equal("2024-05-17 13:45:51", e:add(1, "second")[1])
    assert.equal("2024-02-29", F.date{"2024-01-31"}:add(1, "month")[1])
    assert.equal("2023-11-30", F.date{"2024-02-29"}:add(-1, "quarter"):add(1,
      "day")[1])
    assert.equal("2024-01-01 06:00:00", F.date{"2024-01-01"}:add(6, "hour")[1])
    local s = d:add(90, "minute")
    for i, v in ipairs(seconds) do
      assert.equal(v + 5400, s.values:item(i))
      assert.equal(v // DAY * DAY, d:floor"day".values:item(i))
      if i > 40 then break end
    end
    raises("floor: unit", e.floor, e, "fortnight")
  end)

  it("compares across units, and counts", function()
    local a = F.date{"2024-01-01", "2024-01-02", gap}
    local b = F.date{"2024-01-01 00:00:01", "2024-01-02", "2024-01-03"}
    assert.same({true, false, false}, a:lt(b):totable())
    assert.same({false, true, false}, a:eq(b):totable())
    assert.same({true, false, true}, a:ne(b):totable())
    local x = b:since("2024-01-01", "hour"):totable()
    assert.equal(1 / 3600, x[1])
    assert.equal(48, x[3])
    assert.is_true(a:since(b, "second")[3]:isnan():item())
    assert.same({"2024-01-31", "2024-02-29", "2024-03-31"},
      F.date_range("2024-01-31", "2024-04-01", "month"):totable())
    assert.same({"2024-01-01 00:00:00", "2024-01-01 12:00:00",
                 "2024-01-02 00:00:00"},
      F.date_range("2024-01-01", "2024-01-02", "hour", 12):totable())
    assert.equal(0, #F.date_range("2024-01-02", "2024-01-01", "day"))
  end)
end)
