-- la.frame: how tables are made, read, changed, printed; gaps, edges, errors.
-- Values are written down, or computed by a loop in Lua.
local la = require "lunarray"
local folder = require "spec.support.folder"
local modules = require "spec.support.modules"
local raises = require "spec.support.raises"

local F = la.frame
local gap = F.gap

local function list(c)
  if type(c) == "userdata" then return c:totable() end
  local out = {}
  for i = 1, #c do out[i] = c[i] or "nil" end
  return out
end

describe("la.frame", function()
  it("is made of columns, pairs, records and matrices", function()
    local f = F({b = {1, 2}, a = {"x", "y"}}, {names = {"b", "a"}})
    assert.same({"b", "a"}, f.names)
    assert.same({b = "int64", a = "text"}, f.kinds)
    assert.same({2, 2}, f.shape)
    assert.same({"a", "b"}, F{b = {1, 2}, a = {"x", "y"}}.names)
    assert.same({"z", "a"}, F{{"z", {1}}, {"a", {true}}}.names)
    local r = F{{b = 1, a = "x"}, {a = "y"}}
    assert.same({"a", "b"}, r.names)
    assert.is_nil(r[2].b)
    assert.equal("float64", r.b.dtype)
    local m = F(la.range(6):view(3, 2), {names = {"p", "q"}})
    assert.same({2, 4, 6}, m.q:totable())
    assert.same({7, 7, 7}, F{x = {1, 2, 3}, y = 7}.y:totable())
    assert.equal(1, #F{x = 1, y = "a"})
    local t = la.range(3)
    assert.is_true(rawequal(t, F{x = t}.x))
  end)

  it("takes lists by their types, with gaps", function()
    local f = F{i = {1, gap}, f = {0.5, gap}, b = {true, gap}, t = {"a", gap},
                n = {gap, gap}, m = {1, 2.5}}
    assert.same({i = "float64", f = "float64", b = "float64", t = "text",
                 n = "float64", m = "float64"}, f.kinds)
    assert.same({f = 0.5, i = 1.0, b = 1.0, t = "a", m = 1.0}, f[1])
    assert.same({m = 2.5}, f[2])
    raises("frame: column 'x': row 2 is a string", F, {x = {1, "a"}})
    raises("row 2, 9007199254740993", F, {x = {gap, 9007199254740993}})
    assert.equal("int64", F{x = {9007199254740993}}.x.dtype)
    raises("row 1: a number, boolean or string expected", F, {x = {{1}}})
  end)

  it("gives rows, ranges, masks, indices", function()
    local f = F{x = {10, 20, 30, 40}, t = {"a", "b", "c", "d"}}
    assert.same({x = 20, t = "b"}, f[2])
    assert.same({x = 40, t = "d"}, f[-1])
    assert.is_nil(f[5])
    assert.is_nil(f[0])
    assert.same({20, 30}, f[{2, 3}].x:totable())
    assert.same({30, 40}, f[{-2, -1}].x:totable())
    assert.same({"a", "d"}, list(f[f.x:ne(20):logical_and(f.x:ne(30))].t))
    assert.same({40, 10, 40}, f[la.tensor{4, 1, -1}].x:totable())
    raises("row 5 is out of range", function() return f[la.tensor{5}] end)
    raises("a mask of 2 rows", function() return f[la.tensor{true, false}] end)
    local rows = {}
    for i, row in f:rows() do rows[i] = row.t end
    assert.same({"a", "b", "c", "d"}, rows)
    local names = {}
    for name in pairs(f) do names[#names + 1] = name end
    assert.same({"t", "x"}, names)
    assert.same({{30, 3}, {40, 4}},
      f:tail(2):with{y = {3, 4}}:tensor("x", "y"):totable())
    assert.same({x = 30, t = "c"}, f:records()[3])
    assert.same({"a", "b", "c", "d"}, f:table().t)
  end)

  it("changes in place by f.x = v alone", function()
    local f = F{x = {1, 2}}
    local g = f:with{y = {3, 4}}
    assert.same({"x"}, f.names)
    f.y = "s"
    assert.same({"s", "s"}, list(f.y))
    f.x = nil
    assert.same({"y"}, f.names)
    assert.same({"x", "y"}, g.names)
    raises("frame: column 'z' has 3 rows, 'y' has 2",
      function() f.z = {1, 2, 3} end)
    local e = F{}
    e.a = {1, 2, 3}
    assert.equal(3, #e)
  end)

  it("compares names, kinds and values", function()
    local f = F{x = {1, gap}, t = {"a", gap}}
    assert.is_true(f == F{x = {1.0, gap}, t = {"a", gap}})
    assert.is_false(f == F{x = {1.0, 2.0}, t = {"a", gap}})
    assert.is_false(F{x = {1}} == F{x = {1.0}})
    assert.is_false(F{x = {1}} == F{y = {1}})
  end)

  it("is printed as its page says", function()
    local f = F{{"city", {"Bonn", "Kiel"}}, {"people", {330000, 247000}},
                {"area", {141.06, gap}}}
    assert.equal("   city  people     area\n   text   int64  float64\n"
      .. "1  Bonn  330000   141.06\n2  Kiel  247000      nil\n"
      .. "[2 rows, 3 columns]", f:tostring())
    assert.equal("   city  people\n   text   int64\n1  Bonn  330000\n"
      .. "2  Kiel  247000\n[2 rows, 3 columns; no…", f:tostring{width = 23})
    local long = F{x = la.range(100)}:tostring{rows = 4}
    assert.truthy(long:find("\n  2      2\n...    ...\n 99     99\n", 1, true))
    local odd = F{t = {"a\nb", ("é"):rep(40), "\xff"}}:tostring()
    assert.truthy(odd:find("a\\nb", 1, true))
    assert.truthy(odd:find(("é"):rep(31) .. "…", 1, true))
    assert.truthy(odd:find("\\xFF", 1, true))
    assert.truthy(F{x = {1.5, math.huge}, b = {true, false}}:html()
      :find("<td style=\"text-align: right\">inf</td>", 1, true))
  end)

  it("says what is wrong, and what was meant", function()
    local f = F{city = {"a", "b"}, age = {1, 2}}
    raises("frame has no column 'agee' (did you mean 'age'?)",
      function() return f.agee end)
    raises("bad argument #1 to 'sort' (no column 'agee'; did you mean 'age'?)",
      f.sort, f, "agee")
    raises("frame: column 'b' has 3 rows, 'a' has 2",
      F, {a = {1, 2}, b = {1, 2, 3}})
    raises("mean: column 'city' is text, a number is needed",
      f.agg, f, {m = F.mean"city"})
    raises("rename: two columns 'city'", f.rename, f, {age = "city"})
    raises("sort: unknown keyword 'up' (known: descending, missing)",
      f.sort, f, "age", {up = 1})
    raises("did you mean 'max'?", function() return F.maxx end)
    raises("did you mean 'sort'?", function() return f:sortt() end)
    raises("text has no 'uper' (did you mean 'upper'?)",
      function() return f.city.uper end)
    raises("date has no 'yeer' (did you mean 'year'?)",
      function() return F.date{"2024-01-01"}.yeer end)
    raises("to: column 'city', row 2: 'b' is no int64", f.to,
      f:with{city = {"1", "b"}}, {city = "int64"})
    local own = {}
    assert.equal(own, select(2, pcall(f.with, f,
      {x = function() error(own) end})))
    raises("met twice (row 2)", f.pivot, f:with{city = "a"},
      {index = "city", columns = "city", values = "age"})
  end)
end)

describe("la.frame of nothing", function()
  local f = F{x = {}, t = F.text{}, d = F.date{}}

  it("has its words, too", function()
    assert.same({x = "float64", t = "text", d = "date[day]"}, f.kinds)
    for _, g in ipairs{f:sort{"x", "t"}, f:unique(), f:dropna(), f:head(),
        f:filter(f.x:gt(0)), f:group("t"):agg{n = F.size(), m = F.mean"x"},
        f:group({"t", "d"}, {complete = true}):sum(), f:join(f, "t"),
        f:melt{id_vars = "t", value_vars = {"x"}}, f:value_counts"t",
        f:resample("d", "day"):agg{n = F.size()}, F.concat{f, f}, f:sample(0),
        f:pivot{index = "t", columns = "d", values = "x"},
        f:with{a = F.cumsum"x", b = F.rank"t", c = F.rolling("x", 2, "sum"),
               e = F.qcut("x", 2), g = function() return 1 end}} do
      assert.equal(0, #g)
    end
    assert.equal(1, #f:agg{n = F.size(), s = F.sum"x", m = F.min"t"})
    assert.equal("[0 rows, 0 columns]", tostring(F{}))
  end)

  it("refuses edges that do not rise, and shows the two", function()
    for text, edges in pairs{["3, then 1"] = {3, 1, 2},
        ["2, then 2"] = {1, 2, 2}, ["1, then %-?nan"] = {1, 0 / 0, 2}} do
      local ok, why = pcall(F.cut, "x", edges)
      assert.is_false(ok)
      assert.matches("cut: the edges do not rise: " .. text, why)
    end
    assert.is_false((pcall(F.cut, "x", {1})))
  end)

  it("has the values of nothing", function()
    assert.equal(0, F.sum{})
    assert.equal(0, F.count{gap})
    assert.is_nil(F.mean{gap, gap})
    assert.is_nil(F.min{})
    assert.is_false(F.any{})
    assert.is_true(F.all{})
    assert.equal(0, F.sum(la.zeros({0}, {dtype = "int64"})))
  end)
end)

describe("la.frame's gaps", function()
  it("are groups, last, and match nothing in joins", function()
    local f = F{k = {gap, "b", gap, "a"}, x = {1, 2, 3, 4}}
    local g = f:group"k":sum"x"
    assert.same({"a", "b", "nil"}, list(g.k))
    assert.same({4, 2, 4}, g.x:totable())
    assert.equal(2, #f:group("k", {dropna = true}))
    assert.equal(2, #f:join(f, "k"))
    assert.equal(4, #f:join(f, "k", {how = "left"}))
    assert.equal(6, #f:join(f, "k", {how = "outer"}))
    assert.same({1, 3}, f:join(f, "k", {how = "anti"}).x:totable())
    assert.same({2, 4}, f:join(f, "k", {how = "semi"}).x:totable())
  end)

  it("are last in both directions, or first", function()
    local f = F{x = {3, gap, 1}, i = {1, 2, 3}}
    assert.same({3, 1, 2}, f:sort"x".i:totable())
    assert.same({1, 3, 2}, f:sort("x", {descending = true}).i:totable())
    assert.same({2, 3, 1}, f:sort("x", {missing = "first"}).i:totable())
  end)

  it("are false in comparisons, true in ne", function()
    local t, d = F.text{"a", gap}, F.date{"2024-01-01", gap}
    assert.same({true, false}, t:eq"a":totable())
    assert.same({false, true}, t:ne"a":totable())
    assert.same({false, false}, t:lt"a":totable())
    assert.same({true, false}, d:le"2024-01-01":totable())
    assert.same({false, true}, d:ne"2024-01-01":totable())
  end)
end)

describe("la.frame's order", function()
  it("is stable, by any columns, as a loop has it", function()
    la.manual_seed(3)
    local n = 3000
    local f = F{a = la.randint(1, 20, {n}),
      b = la.randn{n}:double():round{decimals = 1}, i = la.range(n)}
    for _, dtype in ipairs{"float64", "float32", "int64", "int8", "uint8",
                           "float16"} do
      local g = f:with{b = (f.b * 3):to(dtype)}
      local s = g:sort({"a", "b"}, {descending = {false, true}})
      local a, b, i = s.a:totable(), s.b:totable(), s.i:totable()
      for k = 2, n do
        assert.is_true(a[k - 1] < a[k] or a[k - 1] == a[k]
          and (b[k - 1] > b[k] or b[k - 1] == b[k] and i[k - 1] < i[k]))
      end
    end
  end)

  it("holds every integer and float", function()
    local ints = {math.mininteger, -1, 0, 1, math.maxinteger}
    assert.same(ints, F{x = {0, math.maxinteger, 1, math.mininteger, -1}}
      :sort"x".x:totable())
    local f = F{x = {1e300, -math.huge, 5e-324, -0.0, 1.5, math.huge}}
    assert.same({-math.huge, 0, 5e-324, 1.5, 1e300, math.huge},
      f:sort"x".x:totable())
    local same = {}
    for k = 1, 200 do same[k] = 1 + (k * 7919 % 200) * 2^-52 end
    local sorted = F{x = same}:sort"x".x:totable()
    for k = 2, 200 do assert.is_true(sorted[k - 1] <= sorted[k]) end
    assert.equal(2, #F{x = {0.0, -0.0, 1}}:group"x")
  end)
end)

describe("la.frame's groups", function()
  it("of many keys are those of a loop", function()
    la.manual_seed(5)
    local n = 5000
    local f = F{a = la.randint(1, 5, {n}) * 1000003,
      b = la.randint(1, 900, {n}):double() * 0.37, x = la.randint(1, 9, {n})}
    local want, count = {}, 0
    for _, row in f:rows() do
      local key = row.a .. " " .. row.b
      if not want[key] then count = count + 1 end
      want[key] = (want[key] or 0) + row.x
    end
    local g = f:group{"a", "b"}:agg{s = F.sum"x"}
    assert.equal(count, #g)
    local before
    for _, row in g:rows() do
      assert.equal(want[row.a .. " " .. row.b], row.s)
      assert.is_true(not before or before.a < row.a
        or before.a == row.a and before.b < row.b)
      before = row
    end
  end)

  it("are complete where that is asked", function()
    local f = F{a = F.text{"S", "L"}:order{"S", "M", "L"}, b = {1, 2},
                x = {5, 6}}
    local g = f:group({"a", "b"}, {complete = true}):sum"x"
    assert.same({"S", "S", "M", "M", "L", "L"}, list(g.a))
    assert.same({1, 2, 1, 2, 1, 2}, g.b:totable())
    assert.same({5, 0, 0, 0, 0, 6}, g.x:totable())
    local many = la.arange(1300)
    f = F{a = many, b = many, c = many}
    assert.has_error(function()
      f:group({"a", "b", "c"}, {complete = true}):sum()
    end, "group: complete: more than 2^31 - 2 combinations")
  end)

  it("have every word that makes one value", function()
    local f = F{k = {"b", "a", "b", "b"}, x = {1, 2, 3, gap}}
    local g = f:group"k"
    for word in ("count sum prod mean median min max std var first last "
        .. "nunique any all"):gmatch "%S+" do
      assert.is_true(g[word](g, "x") == g:agg{x = F[word]"x"}, word)
    end
    assert.is_true(g:quantile("x", 0.25) == g:agg{x = F.quantile("x", 0.25)})
    assert.is_true(g:quantile(0.25, "x") == g:quantile(0.25))
    assert.same({1, 2}, g:count().x:totable())
    raises("quantile: a number from 0 to 1 expected", g.quantile, g, "x")
    assert.is_true(F.concat{f, f, dim = 1} == F.concat{f, f})
    raises("unknown keyword 'how'", F.concat, {f, f, how = "outer"})
    assert.equal(4, F.size(f.x))
    assert.equal(math.huge, F.median{0.9, math.huge})
    assert.equal(-math.huge, F.quantile({0.9, -math.huge}, 0.7))
    assert.equal(0, #F.diff(la.zeros({0}, {dtype = "bool"})))
    assert.same({1, 0}, F.diff({false, true, true})[{{2, 3}}]:totable())
  end)

  it("have a gap where a function gives nil", function()
    local t = F{k = {"x", "y", "x"}, a = {1, 2, 3}}
    local function none() return nil end
    for _, all in ipairs{t:with{b = F.apply("a", none)}, t:with{b = none},
      t:group("k"):with{b = none}} do
      assert.equal(3, all.b:isnan():sum():item())
    end
    assert.equal(2, t:group("k"):agg{b = none}.b:isnan():sum():item())
    local some = t:group("k"):with{b = F.apply("a", function(part)
      if #part == 1 then return 5 end
    end)}
    assert.same({true, false, true}, some.b:isnan():tolist())
    assert.equal(5, some.b:item(2))
  end)

  it("take functions, frames and records", function()
    local f = F{k = {"b", "a", "b"}, x = {1, 2, 3}}
    local g = f:group"k"
    assert.equal(2, #g)
    local a = g:agg{m = function(part) return part.x:max() end,
                    r = F.apply("x", function(x) return #x end)}
    assert.same({2, 3}, a.m:totable())
    assert.same({1, 2}, a.r:totable())
    assert.same({1, 2, 3}, g:with{y = function(part) return part.x end}
      .y:totable())
    assert.same({2, 1, 2}, g:with{n = function(part) return #part end}
      .n:totable())
    local stacked = g:apply(function(part) return part:head(1) end)
    assert.same({"a", "b"}, list(stacked.k))
    assert.same({2, 1}, stacked.x:totable())
    assert.same({1, 3},
      g:filter(function(part) return #part == 2 end).x:totable())
    assert.equal(0, #g:filter(F.any(F.isna"x")))
    raises("a value for each row", g.agg, g, {c = F.cumsum"x"})
  end)
end)

describe("la.frame's windows", function()
  local f = F{{"k", {"a", "b", "a", "b", "a"}}, {"v", {1, 2, 3, 4, 5}},
    {"w", {1.5, F.gap, 2.5, 1, 4}},
    {"d", F.date{"2024-01-01", "2024-01-01", "2024-01-02", "2024-01-05",
      "2024-01-06"}}}

  it("by a function are those of the words", function()
    for _, t in ipairs{f, f:group("k"), f:filter(f.v:gt(9))} do
      for _, column in ipairs{"v", "w"} do
        for _, window in ipairs{{2, {min = 1}}, {3, {center = true, min = 2}},
            {{2, "day"}, {on = "d"}}} do
          for how, fn in pairs{sum = la.sum, max = la.amax,
              median = function(x)
                return x:double():quantile(0.5):item()
              end} do
            local g = t:with{a = F.rolling(column, window[1], how, window[2]),
              b = F.rolling(column, window[1], fn, window[2])}
            assert.is_true(la.equal(g.a:nan_to_num(-1), g.b:nan_to_num(-1)),
              how .. " of " .. column)
          end
        end
      end
    end
  end)

  it("count values wherever there are rows enough, as pandas does", function()
    assert.same({0, 1, 1, 1}, F.rolling({gap, 1, gap, 2}, 2, "count",
      {min = 1}):totable())
    assert.same({2, 2, 1}, F.rolling({1, 2, gap}, 3, "count",
      {min = 2, center = true}):nan_to_num(-1):totable())
    assert.same({-1, 1, 0}, F.rolling({1, gap, gap}, 2, "count")
      :nan_to_num(-1):totable())
  end)

  it("pass a function's error on, and want a number", function()
    raises("own", F.rolling, {1, 2}, 1, function() error("own", 0) end)
    raises("rolling: the function gave string for row 1, a number is needed",
      F.rolling, {1, 2}, 1, function() return "x" end)
    raises("median or a function expected, got modus", F.rolling, {1}, 1,
      "modus")
  end)
end)

describe("la.frame's files", function()
  local files
  setup(function() files = folder.new() end)
  teardown(function() files:remove() end)

  local f = F{{"t", {'a,b', gap, "", "NA", 'q"\nz'}},
    {"d", F.date{"2024-01-01", gap, "2024-01-03T10:00:00", "1969-01-01",
                 "2024-01-01"}},
    {"x", {1.5, gap, 2, 1e-300, 4}}, {"i", {1, 2, 3, 4, 5}}, {"b", true},
    {"o", F.text{"S", "M", "S", "M", gap}:order{"S", "M"}}}

  it("come back from CSV, JSON lines and npz", function()
    la.write_csv(f, files:path"f.csv")
    local g = la.read_csv(files:path"f.csv", {dtypes = {d = "date"}})
    assert.is_true(g == f)
    la.write_jsonl(f, files:path"f.jsonl")
    assert.is_true(la.read_jsonl(files:path"f.jsonl"):to{d = "date"} == f)
    la.save(f, files:path"f.npz")
    local h = la.load(files:path"f.npz")
    assert.is_true(h == f)
    assert.is_true(h.o.ordered)
    la.save({x = la.ones(2)}, files:path"plain.npz")
    assert.equal("table", type(la.load(files:path"plain.npz")))
    assert.same({1, 1}, F(la.load(files:path"plain.npz")).x:totable())
  end)

  it("have commas for points, thousands, dates, gzip", function()
    files:write("g.csv", "a;d\n1.234,5;29.02.2024\n-7;\n")
    local g = la.read_csv(files:path"g.csv", {sep = ";", decimal = ",",
      thousands = ".", dtypes = {d = "date:%d.%m.%Y"}})
    assert.same({1234.5, -7}, g.a:totable())
    assert.equal("2024-02-29", g.d[1])
    assert.is_nil(g.d[2])
    files:write("bad.csv", "a,d\n1,2024-01-01\n\n2,2024-13-01\n")
    raises("line 4: column 'd': '2024-13-01' is no date", la.read_csv,
      files:path"bad.csv", {dtypes = {d = "date"}})
    files:write("odd.csv", "a\n1\n2\n-\n")
    assert.truthy(la.read_csv(files:path"odd.csv"):info()
      :find("line 4: '-'", 1, true))
    files:write("cut.csv.gz", "\31\139\8\0\0\0\0\0\0\3\75\228\50")
    raises("gzip", la.read_csv, files:path"cut.csv.gz")
    -- "a\n1\n2\n" in one stored block.
    files:write("ok.csv.gz", "\31\139\8\0\0\0\0\0\0\3\1\6\0\xf9\xffa\n1\n2\n"
      .. "\x80\xc2\x7f\x70" .. "\6\0\0\0")
    assert.same({1, 2}, la.read_csv(files:path"ok.csv.gz").a:totable())
  end)

  it("of CSV follow the rule of gaps", function()
    local function read(text, options)
      files:write("r.csv", text)
      return la.read_csv(files:path"r.csv", options)
    end
    local g = read"a,b\ntrue,1\n,2\nfalse,3\n"
    assert.equal("float64", g.a.dtype)
    assert.same({1, -1, 0}, g.a:nan_to_num(-1):totable())
    assert.equal("bool", read"a\ntrue\nfalse\n".a.dtype)
    assert.equal("text", read"a,b\ntrue,1\n,2\n1,3\n".kinds.a)
    local wide = "a,b\n9007199254740993,1\n,2\n9007199254740992,3\n"
    raises("line 2: column 'a': '9007199254740993' would be rounded", read,
      wide)
    assert.equal("9007199254740993", read(wide, {dtypes = {a = "text"}}).a[1])
    assert.equal(2^53, read(wide, {dtypes = {a = "float64"}}).a:item(1))
    assert.equal("int64", read"a\n9007199254740993\n".a.dtype)
    assert.equal(1e300, read"a,b\n1e300,1\n9007199254740993,1\n,2\n".a:item(1))
    raises("dtypes: column 'a': unknown dtype 'dat'", read, wide,
      {dtypes = {a = "dat"}})
    local ok, err = pcall(read, wide, {dtypes = {a = "int8"}})
    assert.is_false(ok)
    assert.equal(1, select(2, err:gsub("r%.csv", "")))
  end)

  it("of JSON lines are checked", function()
    local function read(text)
      files:write("x.jsonl", text)
      return la.read_jsonl(files:path"x.jsonl")
    end
    local g = read('{"b": 1, "a": "\\u00e9\\ud83d\\ude00\\n"}\n\n{"a": null}\n')
    assert.same({"b", "a"}, g.names)
    assert.equal("é😀\n", g.a[1])
    assert.equal(0, #read"")
    for text, why in pairs{['{"a": [1]}'] = "line 1: a list or an object",
        ['{"a": 1'] = "line 1: ',' or '}' expected", ['[1]'] = "an object",
        ['{"a": 1}\n{"a": x}'] = "line 2: a number", ['{"a": "x'] = "its end",
        ['{"a": 1} 2'] = "behind the object", ['{"a": "\\ud800"}'] = "escape",
        ['{a: 1}'] = "a name expected"} do
      raises(why, read, text)
    end
    raises("row 2", read, '{"a": 1}\n{"a": "x"}')
  end)

  modules.needing("image", it)("are drawn", function()
    local g = F{x = {1, 2, 3, 4}, y = {2, 1, 4, 3}, k = {"a", "a", "b", "b"}}
    for _, kind in ipairs{"line", "scatter", "bar", "hist"} do
      assert.truthy(g:plot(kind == "bar" and "k" or "x", "y", {kind = kind})
        :svg():find"<svg")
    end
    assert.truthy(g:plot("x", "y", {by = "k"}):svg():find(">b<", 1, true))
  end)

  it("is what la.describe describes by the frame's own words", function()
    local g = la.frame{a = {1, 2, 4}}
    assert.is_true(la.describe(g) == g:describe())
  end)
end)
