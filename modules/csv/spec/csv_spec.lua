-- la.read_csv and la.write_csv: what columns become, what is refused, what
-- comes back.
local la = require "lunarray"
local raises = require "spec.support.raises"

local path

local function read(text, options)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  options = options or {}
  options.as = options.as or "table"
  return la.read_csv(path, options)
end

local function written(columns, options)
  la.write_csv(columns, path, options)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

local function same(want, dtype, got)
  assert.equal(dtype, got.dtype)
  local x = la.tensor(want, {dtype = dtype})
  assert.same({#want}, {got:numel()})
  assert.is_true(la.allclose(x, got, 0, 0, true))
end

setup(function()
  path = os.tmpname()
  local quick = "/dev/shm" .. path:gsub("/", "_")
  local file = io.open(quick, "w")
  if file then
    file:close()
    os.remove(path)
    path = quick
  end
end)

teardown(function() os.remove(path) end)

describe("la.read_csv", function()
  it("finds the kind of every column", function()
    local t = read("i,g,d,b,s,m,e,w\n"
      .. "1,1,1.5,true,x,true,,9223372036854775807\n"
      .. "-2,,2,False,NA,1,,9223372036854775808\n"
      .. "+03,3,-1e3,TRUE,,x,NA,-1\n")
    assert.same({"i", "g", "d", "b", "s", "m", "e", "w"}, t.names)
    same({1, -2, 3}, "int64", t.i)
    same({1, 0. / 0., 3}, "float64", t.g)
    same({1.5, 2, -1000}, "float64", t.d)
    same({true, false, true}, "bool", t.b)
    assert.same({"x", "", ""}, t.s)
    assert.same({"true", "1", "x"}, t.m)
    assert.is_true(t.e:isnan():all())
    same({2^63, 2^63, -1}, "float64", t.w)
  end)

  it("reads quotes, CRLF, a byte order mark, empty lines", function()
    local t = read("\xef\xbb\xbf\"a \"\"b\"\"\",\"c\r\nd\"\r\n"
      .. "\"1\",\"x,\"\"y\"\"\"\r\n\r\n\n\"2\",\"\"\"\"")
    assert.same({'a "b"', "c\r\nd"}, t.names)
    same({1, 2}, "int64", t['a "b"'])
    assert.same({'x,"y"', '"'}, t["c\r\nd"])
    assert.same({"a", "b"}, read("x\na\rb\n").x)
    assert.same({"a\0b"}, read("x\na\0b\n").x)
  end)

  it("reads rows by whatever ends their lines, mixed too", function()
    local ends = {"\n", "\r\n", "\r"}
    local rows = {'id,text,w', '1,plain,0.5', '2,"a %s b",1.5', '3,"x""%s",2',
      '4,"",-1', '', '5,"%s",3', '6, "q,7'}
    local function check(pick, last)
      local text, inside = {}, {}
      for k, row in ipairs(rows) do
        local e = pick(k)
        inside[k] = e
        text[#text + 1] = row:gsub("%%s", e)
        if k < #rows or last then text[#text + 1] = e end
      end
      local t = read(table.concat(text))
      assert.same({"id", "text", "w"}, t.names)
      same({1, 2, 3, 4, 5, 6}, "int64", t.id)
      assert.same({"plain", "a " .. inside[3] .. " b", 'x"' .. inside[4], "",
        inside[7], ' "q'}, t.text)
      same({0.5, 1.5, 2, -1, 3, 7}, "float64", t.w)
    end
    for k = 0, 3 ^ 3 - 1 do
      local order = {k % 3 + 1, k // 3 % 3 + 1, k // 9 + 1}
      local function pick(row) return ends[order[row % 3 + 1]] end
      check(pick, true)
      check(pick, false)
    end
    for _, e in ipairs(ends) do
      local t = read("note\rmore" .. e .. e .. "a;b" .. e .. "1;2" .. e,
        {skip = 2 + 1, sep = ";"})
      assert.same({"a", "b"}, t.names)
      same({1}, "int64", t.a)
      same({1, 3}, "int64", read("a" .. e .. "1" .. e .. e .. "3").a)
      raises("line 3 has 1 field", read, "a,b" .. e .. "1,2" .. e .. "3" .. e)
      raises("line 4 has 1 field", read,
        "a,b" .. e .. '1,"x' .. e .. 'y"' .. e .. "3" .. e)
    end
  end)

  it("reads lone CRs by all threads", function()
    local lines, n = {"k,v"}, 60000
    for k = 1, n do lines[k + 1] = k .. "," .. k * 0.5 end
    for _, e in ipairs {"\r", "\n", "\r\n"} do
      local t = read(table.concat(lines, e))
      assert.is_true(la.equal(la.range(n), t.k))
      assert.is_true(la.equal(la.range(n):double() * 0.5, t.v))
    end
    lines[n] = '1,"2\r"'
    local t = read(table.concat(lines, "\r"))
    assert.equal(n, #t.v)
    assert.equal("2\r", t.v[n - 1])
  end)

  it("reads columns of any name", function()
    local t = read("a,names,1\n1,x,5\n2,y,6\n")
    assert.same({"a", "names", "1"}, {t[1], t[2], t[3]})
    assert.same({"x", "y"}, t.names)
    same({5, 6}, "int64", t["1"])
    local text = written(t)
    assert.equal("a,names,1\n1,x,5\n2,y,6\n", text)
    assert.same({"a"}, read("a,names\n1,x\n", {columns = {"a"}}).names)
    assert.same({"x"}, read("a,names\n1,x\n", {columns = {"names"}}).names)
    same({7}, "int64", read("names\n7\n").names)
    for name in ("n __index __gc self shape 1 nil"):gmatch "%S+" do
      same({7}, "int64", read(name .. "\n7\n")[name])
    end
  end)

  it("reads every number as the nearest one", function()
    local numbers = {"0.1", "1e22", "1e23", "123456789012345678901234567890",
      "2.2250738585072011e-308", "4.9e-324", "1.7976931348623157e308", "1e400",
      "-0.0", ".5", "5.", "1E+2", "9007199254740993.0", "0.30000000000000004",
      "179769313486231580793728971405301e277", "8.5e-5", " 7.25 ", "\t3e0"}
    local x = read("x\n" .. table.concat(numbers, "\n")).x
    for k, text in ipairs(numbers) do
      assert.equal(tonumber(text) + 0.0, x[k]:item())
    end
    assert.is_true(1 / x[9]:item() < 0)
    local i = read("x\ninf\n-inf\nInfinity\n-INF\n1").x
    same({math.huge, -math.huge, math.huge, -math.huge, 1}, "float64", i)
    for _, text in ipairs{"1e", "e5", ".", "+", "0x10", "1_000", "1,5e", "--1",
                          "infin", "1 2", "1e+-2"} do
      assert.same({text}, read("x;\n" .. text .. ";1\n", {sep = ";"}).x)
    end
  end)

  it("takes options", function()
    local text = "# about\n# more\na\tb\tc\n1\t-\t3\n4\t5\t\n"
    local t = read(text, {skip = 2, sep = "\t", na = {"-", ""}})
    same({0. / 0., 5}, "float64", t.b)
    t = read("1,2\n3,4\n", {header = false})
    assert.same({"1", "2"}, t.names)
    same({1, 3}, "int64", t["1"])
    t = read("a,b,c\n1,x,2\n", {columns = {"c", "a"}})
    assert.same({"a", "c"}, t.names)
    assert.is_nil(t.b)
    t = read("a,b,c,d,e,f,g\n1,1,1,1,1,18446744073709551615,\n"
             .. "0,-5,,2.5,0,0,1e39\n",
             {dtypes = {a = "bool", b = "int8", c = "float32", d = "float16",
                        e = "string", f = "uint64", g = "bfloat16"}})
    same({true, false}, "bool", t.a)
    same({1, -5}, "int8", t.b)
    same({1, 0. / 0.}, "float32", t.c)
    same({1, 2.5}, "float16", t.d)
    assert.same({"1", "0"}, t.e)
    assert.equal("uint64", t.f.dtype)
    assert.is_true(la.equal(t.f, la.tensor({0, 0}, {dtype = "uint64"})
      :bitwise_not() * la.tensor({1, 0}, {dtype = "uint64"})))
    same({0. / 0., math.huge}, "bfloat16", t.g)
    assert.same({"NA", "x"}, read("a\nNA\nx", {na = {}}).a)
  end)

  it("takes what stands in quotes for a string", function()
    assert.same({"", "NA", "x"}, read('a\nNA\n"NA"\nx').a)
    same({1, 0. / 0.}, "float64", read('a\n1\n"NA"').a)
  end)

  it("reads files without rows or columns", function()
    assert.same({names = {}}, read(""))
    assert.same({names = {}}, read("\n\n"))
    local t = read("a,b")
    assert.same({"a", "b"}, t.names)
    assert.equal(0, t.a:numel())
    assert.same({"", "x"}, read(",x\n1,2\n").names)
  end)

  it("names line and column of what is wrong", function()
    local function refused(text, what, options)
      local message = raises(what, read, what and text or text, options)
      assert.truthy(message:find(path, 1, true), message)
    end
    refused("a,b\n1,2\n\n3\n", "line 4 has 1 field, 2 expected")
    refused("a,b\n1,\"x\ny\"\n3,4,5\n", "line 4 has 3 fields, 2 expected")
    refused("a\n\"x\n", "line 2: a quote without its end")
    refused("a\n\"x\"y\n", "line 2: 'y' behind a closing quote")
    refused("a,a\n", "column 'a' stands twice")
    refused("a,b\n1,300\n", "line 2: column 'b': '300' does not fit uint8",
            {dtypes = {b = "uint8"}})
    refused("a\n-1\n", "does not fit uint64", {dtypes = {a = "uint64"}})
    refused("a\n1.0\n", "'1.0' does not fit int32", {dtypes = {a = "int32"}})
    refused("a\n1\n\"\"\n", "line 3: column 'a': '' does not fit int64",
            {dtypes = {a = "int64"}})
    refused("a\nx\n", "'x' does not fit float32", {dtypes = {a = "float32"}})
    refused("a\n2\n", "'2' does not fit bool", {dtypes = {a = "bool"}})
    for line, text in pairs{[2] = "d\n2024-13-05\n",
        [5] = "k,d\n\"a\nb\",2024-01-05\n\nc,2024-13-05\nd,\n"} do
      read(text)
      if la.frame then
        raises(("line %d: column 'd': '2024-13-05' is no date"):format(line),
          la.read_csv, path, {as = "frame", dtypes = {d = "date"}})
      end
    end
    raises("dtypes: the file has no column 'z'", read, "a\n1",
           {dtypes = {z = "int8"}})
    raises("columns: the file has no column 'z'", read, "a\n1",
           {columns = {"z"}})
    raises("complex64 can't be read", read, "a\n1",
           {dtypes = {a = "complex64"}})
    raises("unknown dtype 'int7'", read, "a\n1", {dtypes = {a = "int7"}})
    raises("unknown keyword 'seq'", read, "", {seq = ","})
    for _, sep in ipairs{"", ",,", "\n", "\"", 3} do
      raises("sep: one character expected", read, "", {sep = sep})
    end
    raises("skip: number of lines", read, "", {skip = -1})
    raises("header: boolean", read, "", {header = 1})
    raises("na: list of strings", read, "", {na = {1}})
    raises("path expected", la.read_csv, la.ones(1))
    raises("cannot open", la.read_csv, path .. ".missing")
  end)

  it("survives any bytes, and a limit on memory", function()
    local seed = 7
    local function random(n)
      seed = (seed * 6364136223846793005 + 1442695040888963407)
      return (seed >> 33) % n + 1
    end
    local pieces = {",", "\n", "\r\n", "\"", "\"\"", "1", "-2.5e3", "x", "\0",
                    "true", "inf", "1e999", " ", "NA", "\xff", "\r"}
    for _ = 1, 2000 do
      local list = {}
      for k = 1, random(30) do list[k] = pieces[random(#pieces)] end
      local ok, t = pcall(read, table.concat(list), {header = random(2) == 1})
      assert.equal(ok and "table" or "string", type(t))
    end
    local text = "a,b\n" .. ("12345,0.25\n"):rep(20000)
    local good, bad = 0, 0
    for extra = 0, 1500000, 100000 do
      collectgarbage()
      la.set_memory_limit(la.memory() + extra)
      local ok, t = pcall(read, text)
      la.set_memory_limit(0)
      if ok then
        good = good + 1
        assert.equal(20000 * 12345, t.a:sum():item())
      else
        bad = bad + 1
        assert.truthy(t:find("memory", 1, true), t)
      end
    end
    assert.is_true(good > 0 and bad > 0)
  end)
end)

-- Longer than a part of one thread: every part sees only its rows.
describe("la.read_csv of long files", function()
  local N = 60000

  local function long(line, ending)
    local list = {}
    for k = 1, N do list[k] = line(k) end
    return table.concat(list, ending or "\n")
  end

  it("fills every row", function()
    for _, ending in ipairs{"\n", "\r\n", "\n\n"} do
      local t = read("i,f,b,e\n" .. long(function(k)
        return ("%d,%.17g,%s,"):format(k, k / 7, k % 2 == 0)
      end, ending))
      assert.equal("int64", t.i.dtype)
      assert.is_true(la.equal(la.arange(1, N + 1), t.i))
      assert.is_true(la.equal(la.arange(1, N + 1):double() / 7, t.f))
      assert.is_true(la.equal((la.arange(1, N + 1) % 2):eq(0), t.b))
      assert.is_true(t.e:isnan():all())
    end
  end)

  it("finds what only one row says", function()
    local text = long(function(k)
      return k ~= 41234 and "1,2,3,true,5,6"
        or "1.5,NA,x,1,9223372036854775808,\"a\nb\""
    end)
    local t = read("a,b,c,d,e,f\n" .. text)
    local row = la.arange(1, N + 1):eq(41234)
    assert.is_true(la.equal(t.a, la.where(row, 1.5, 1.):double()))
    assert.is_true(la.equal(t.b:isnan(), row))
    assert.equal(2, t.b[N]:item())
    assert.same({"3", "x", "3"}, {t.c[41233], t.c[41234], t.c[41235]})
    assert.same({"true", "1", "true"}, {t.d[1], t.d[41234], t.d[N]})
    assert.equal("float64", t.e.dtype)
    assert.equal(2^63, t.e[41234]:item())
    assert.same({"6", "a\nb", "6"}, {t.f[1], t.f[41234], t.f[N]})
  end)

  it("reads rows over several lines, and quotes inside of fields", function()
    local t = read("s,n\n" .. long(function(k)
      return k % 3 == 0 and ('"%d,\n""\n",%d'):format(k, k)
        or ('a"%d,"%d"'):format(k, k)
    end))
    assert.is_true(la.equal(la.arange(1, N + 1), t.n))
    assert.same({'a"1', '3,\n"\n', 'a"' .. N - 1},
                {t.s[1], t.s[3], t.s[N - 1]})
    t = read("n\n" .. long(function(k)
      return k == 50000 and '"1"""' or "1"
    end))
    assert.same({"1", '1"', "1"}, {t.n[1], t.n[50000], t.n[N]})
  end)

  it("names the line of what is wrong far behind", function()
    local function refused(what, odd, options)
      raises(what, read, "a,b\n" .. long(function(k)
        return k == 55555 and odd or "12,34.5"
      end), options)
    end
    refused("line 55556 has 1 field, 2 expected", "1")
    refused("line 55556 has 3 fields, 2 expected", "1,2,3")
    refused("line 55556: a quote without its end", '1,"2')
    refused("line 55556: 'x' behind a closing quote", '1,"2"x')
    refused("line 55556: column 'a': '300' does not fit uint8", "300,1",
            {dtypes = {a = "uint8"}})
    refused("line 55556: column 'b': 'x' does not fit float32", "1,x",
            {dtypes = {b = "float32"}})
  end)

  it("names the first of several faults", function()
    raises("line 3: column 'a': '300' does not fit uint8", read,
      "a,b\n1,2\n300,1\n5\n\"x", {dtypes = {a = "uint8"}})
    raises("line 3 has 1 field, 2 expected", read,
      "a,b\n1,2\n5\n300,1\n", {dtypes = {a = "uint8"}})
  end)

  it("halves doubled quotes in a column that was taken for numbers", function()
    local t = read("a\n" .. long(function(k)
      return k == 55555 and '"1""2"' or '"7"'
    end))
    assert.equal('1"2', t.a[55555])
    assert.equal("7", t.a[55556])
  end)

  it("takes numbers for gaps, and separators of numbers", function()
    local t = read("a,b\n" .. long(function(k) return k % 10 .. ",-999" end),
                   {na = {"3", "-999"}})
    assert.is_true(la.equal(t.a:isnan(), (la.arange(1, N + 1) % 10):eq(3)))
    assert.is_true(t.b:isnan():all())
    for sep in ("e.-7"):gmatch(".") do
      t = read(long(function() return "1" .. sep .. "2" end),
               {sep = sep, header = false})
      assert.same({"1", "2"}, t.names)
      assert.equal(3 * N, (t["1"] + t["2"]):sum():item())
    end
  end)

  it("does not depend on the number of threads", function()
    local text = "a,b\n" .. long(function(k)
      return k % 7 .. "," .. (k == 3 and "x" or "0.5")
    end)
    local threads = la.get_num_threads()
    for _, n in ipairs{1, 3} do
      la.set_num_threads(n)
      local t = read(text)
      assert.is_true(la.equal(la.arange(1, N + 1) % 7, t.a))
      assert.same({"0.5", "x", N}, {t.b[1], t.b[3], #t.b})
    end
    la.set_num_threads(threads)
  end)
end)

describe("la.write_csv", function()
  it("quotes strings that would be no value", function()
    local file = os.tmpname()
    local words = {"NA", "nan", "b", "", "NaN", "null"}
    la.write_csv({a = words}, file)
    assert.same(words, la.read_csv(file, {as = "table"}).a)
    os.remove(file)
  end)

  it("writes what comes back, dtype by dtype", function()
    local t = {
      names = {"i", "d", "b", "s"},
      i = la.tensor{1, -2, math.mininteger, math.maxinteger},
      d = la.tensor({0.1, 2, 1e300, 0. / 0.}, "float64"),
      b = la.tensor{true, false, true, true},
      s = {"x", "a,b", "say \"hi\"", " two\nlines "},
    }
    local text = written(t)
    assert.equal("i,d,b,s\n1,0.1,true,x\n-2,2.0,false,\"a,b\"\n"
      .. "-9223372036854775808,1e+300,true,\"say \"\"hi\"\"\"\n"
      .. "9223372036854775807,,true,\" two\nlines \"\n", text)
    local back = la.read_csv(path, {as = "table"})
    assert.same(t.names, back.names)
    assert.is_true(la.equal(t.i, back.i) and la.equal(t.b, back.b))
    assert.same(t.s, back.s)
    local mark = "\xef\xbb\xbfx"
    written{[mark] = {mark}}
    assert.same({names = {mark}, [mark] = {mark}},
                la.read_csv(path, {as = "table"}))
    assert.is_true(la.allclose(t.d, back.d, 0, 0, true))
  end)

  it("writes the fewest digits of every float", function()
    la.manual_seed(3)
    for _, dtype in ipairs{"float16", "bfloat16", "float32", "float64"} do
      local info = la.finfo(dtype)
      local scale = la.randn(300) * (dtype == "float16" and 4 or 30)
      local random = la.randn(300):double() * scale:double():exp()
      local x = la.cat{random:to(dtype), la.tensor({0., -0., 0.1,
        1. / 3, 1e4, info.max, info.tiny, info.smallest_subnormal,
        -math.huge}, dtype)}
      local text = written{x = x}
      local back = la.read_csv(path, {dtypes = {x = dtype}}).x
      assert.is_true(la.equal(back, x), dtype)
      assert.equal(-math.huge, 1 / back[302]:item())
      assert.truthy(text:find("\n0.1\n", 1, true), dtype)
      for line in text:gmatch("[^\n]+") do
        if line ~= "x" then assert.truthy(line:find("[.en]"), line) end
      end
    end
    assert.equal("x\n5e-324\n", written{x = la.tensor({5e-324}, "float64")})
  end)

  it("writes every integer dtype", function()
    for _, dtype in ipairs{"uint8", "int8", "uint16", "int16", "uint32",
                           "int32", "uint64", "int64"} do
      local zero = la.zeros({1}, {dtype = dtype})
      local ones = zero:bitwise_not()
      local x = la.cat{zero, ones, ones // 2, zero - (ones // 2)}
      written{x = x}
      local back = la.read_csv(path, {dtypes = {x = dtype}}).x
      assert.is_true(la.equal(back, x), dtype)
    end
  end)

  it("writes matrices, strided columns, names in order", function()
    local x = la.arange(6):view(2, 3)
    assert.equal("1,2,3\n0,1,2\n3,4,5\n", written(x))
    assert.equal("a;b\n0;3\n1;4\n2;5\n", written(x:t(), {sep = ";",
                                                names = {"a", "b"}}))
    assert.equal("0,1,2\n3,4,5\n", written(x, {header = false}))
    assert.equal("a,b\n0,2\n3,5\n", written{b = x:select(2, 3),
                                            a = x:select(2, 1)})
    assert.equal("x\n?\n1.0\n", written({x = la.tensor{0. / 0., 1.}},
                                        {na = "?"}))
    local leaf = la.ones(2):requires_grad_()
    assert.equal("x\n2.0\n2.0\n", written{x = leaf * 2})
    local z = la.view_as_complex(la.ones(2, 2)):conj().imag
    assert.equal("x\n-1.0\n-1.0\n", written{x = z})
  end)

  it("leaves no empty lines", function()
    local text = written{s = {"", "x", ""}}
    assert.equal("s\n\"\"\nx\n\"\"\n", text)
    assert.same({"", "x", ""}, la.read_csv(path, {as = "table"}).s)
    written{s = la.tensor{1., 0. / 0.}}
    assert.equal(2, la.read_csv(path, {as = "table"}).s:numel())
  end)

  it("refuses what has no rows of values, and keeps the old file", function()
    written{a = la.ones(1)}
    local function refused(what, columns, options)
      raises(what, la.write_csv, columns, path, options)
      assert.equal(1, la.read_csv(path, {as = "table"}).a:numel())
    end
    refused("column 'b' has 3 elements, the one before 2",
            {a = la.ones(2), b = la.ones(3)})
    refused("column 'a': a tensor of one dim", {a = la.ones(2, 2)})
    refused("column 'a': a tensor of one dim", {a = 3})
    refused("strings expected in a list, got a number", {a = {1, 2}})
    refused("complex numbers", {a = la.ones(2):to("complex64")})
    refused("no data to save", {a = la.ones(2):to("meta")})
    refused("there is no column 'b'", {a = la.ones(1), names = {"a", "b"}})
    refused("names of columns must be strings", {la.ones(1)})
    refused("2 dims or a table", la.ones(3))
    refused("names: 1 for 2 columns", la.ones(2, 2), {names = {"a"}})
    refused("table of columns or tensor expected", 3)
    refused("na: string expected", {a = la.ones(1)}, {na = 3})
    raises("path expected", la.write_csv, {a = la.ones(1)}, 3)
  end)
end)
