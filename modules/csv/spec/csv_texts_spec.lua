-- Texts and numbers of CSV files: short texts of every byte that means
-- something are quoted where they have to be, and come back; numbers of every
-- length are read as Lua reads them.
local la = require "lunarray"
local folder = require "spec.support.folder"

local files

setup(function() files = folder.new() end)
teardown(function() files:remove() end)

-- Fields of a text as RFC 4180 has them: a list of rows.
local function fields_of(text)
  local rows, row, at = {}, {}, 1
  while at <= #text do
    local field
    if text:sub(at, at) == '"' then
      local e = at + 1
      while true do
        e = text:find('"', e, true)
        if text:sub(e + 1, e + 1) ~= '"' then break end
        e = e + 2
      end
      field = text:sub(at + 1, e - 1):gsub('""', '"')
      at = e + 1
    else
      field = text:match("^[^,\r\n\"]*", at)
      at = at + #field
    end
    row[#row + 1] = field
    local mark = text:sub(at, at)
    at = at + 1
    if mark ~= "," then
      assert.equal("\n", mark)
      rows[#rows + 1], row = row, {}
    end
  end
  return rows
end

local function round_trip(texts)
  local path = files:path("texts.csv")
  local numbers = {}
  for k = 1, #texts do numbers[k] = k end
  la.write_csv({names = {"a", "n", "b"}, a = texts, n = la.tensor(numbers),
                b = texts}, path)
  local rows = fields_of(files:read("texts.csv"))
  assert.equal(#texts + 1, #rows)
  local back = la.read_csv(path)
  for k, text in ipairs(texts) do
    assert.equal(text, rows[k + 1][1])
    assert.equal(text, rows[k + 1][3])
    assert.equal(text, back.a[k])
    assert.equal(text, back.b[k])
    assert.equal(k, back.n:item(k))
  end
end

describe("texts of a CSV file", function()
  it("of every byte come back", function()
    local texts = {"text"}
    for byte = 0, 255 do
      local c = string.char(byte)
      for _, text in ipairs {c .. "x", "x" .. c, "x" .. c .. "y", c .. c} do
        texts[#texts + 1] = text
      end
    end
    round_trip(texts)
  end)

  it("of three marks come back", function()
    local marks, texts = {",", '"', "\r", "\n", "a", " ", ";", "'"}, {}
    for _, a in ipairs(marks) do
      for _, b in ipairs(marks) do
        texts[#texts + 1] = a .. b
        for _, c in ipairs(marks) do texts[#texts + 1] = a .. b .. c end
      end
    end
    round_trip(texts)
  end)

  it("stand in quotes where another reader needs them", function()
    for _, mark in ipairs {"\r", "\n", ",", '"', "\r\n"} do
      la.write_csv({a = {"x" .. mark .. "y", mark}}, files:path("one.csv"))
      local text = files:read("one.csv")
      local doubled = mark:gsub('"', '""')
      assert.equal('a\n"x' .. doubled .. 'y"\n"' .. doubled .. '"\n', text)
    end
  end)

  it("are names of columns too", function()
    for _, name in ipairs {"a\rb", "a\nb", "a,b", 'a"b', "a b"} do
      la.write_csv({[name] = la.tensor {1}}, files:path("name.csv"))
      assert.same({name}, la.read_csv(files:path("name.csv")).names)
    end
  end)
end)

-- Digits of every length: nines, a power of ten, and others.
local function digits_of(length, f)
  f(("9"):rep(length))
  f("1" .. ("0"):rep(length - 1))
  f(("8446744073709551616123456789"):sub(1, length))
  f(("1844674407370955161612345678"):sub(1, length))
  f(("9223372036854775808123456789"):sub(1, length))
  f(("9223372036854775807123456789"):sub(1, length))
end

local function column(texts)
  files:write("numbers.csv", "x\n" .. table.concat(texts, "\n") .. "\n")
  return la.read_csv(files:path("numbers.csv")).x
end

describe("numbers of a CSV file", function()
  it("of every length are whole where 64 bits hold them", function()
    for length = 1, 28 do
      digits_of(length, function(text)
        for _, sign in ipairs {"", "-", "+"} do
          local x = column {sign .. text}
          local value = tonumber(text)
          if sign == "-" and text == "9223372036854775808" then
            value = math.mininteger
          elseif sign == "-" then
            value = -value
          end
          local whole = math.type(value) == "integer"
          assert.equal(whole and "int64" or "float64", x.dtype, sign .. text)
          assert.equal(value, x:item(), sign .. text)
        end
      end)
    end
  end)

  it("of every length and point are the nearest doubles", function()
    for length = 1, 28 do
      digits_of(length, function(text)
        local texts, want = {}, {}
        for point = 0, length do
          local number = text:sub(1, point) .. "." .. text:sub(point + 1)
          for _, power in ipairs {"", "e5", "E-7", "e+22", "e-30"} do
            texts[#texts + 1] = number .. power
            want[#want + 1] = tonumber(number .. power)
          end
        end
        assert.same(want, column(texts):totable())
      end)
    end
  end)
end)
