-- lunarray.dialect: what it stands in for where Lua lacks it gives what Lua 5.4
-- gives.
local PATH = assert(package.searchpath("lunarray.dialect", package.path))

-- The file without the words that LuaJIT has not.
local function elsewhere()
  local bare = setmetatable({math = {floor = math.floor}, utf8 = false,
    table = {concat = table.concat}, unpack = table.unpack}, {__index = _G})
  return assert(loadfile(PATH, "t", bare))()
end

describe("the dialect of nn, optim and data", function()
  local dialect = elsewhere()

  it("counts what is packed", function()
    local t = dialect.pack(nil, 2, nil)
    assert.same({3, 2}, {t.n, t[2]})
    assert.equal(0, dialect.pack().n)
    assert.same({1, 2}, {dialect.unpack {1, 2}})
  end)

  it("tells integers from floats", function()
    for _, v in ipairs {3, -7, 0, 2 ^ 40} do
      assert.equal("integer", dialect.type(v))
      assert.equal(v, dialect.tointeger(v))
    end
    for _, v in ipairs {2.5, -0.5, 1 / 0, 0 / 0} do
      assert.equal("float", dialect.type(v))
      assert.is_nil(dialect.tointeger(v))
    end
    assert.is_nil(dialect.type "3")
  end)

  it("counts characters and elements", function()
    assert.equal(4, dialect.characters "a\u{e4}\u{20ac}\u{1f600}")
    assert.equal(0, dialect.characters "")
    assert.equal(2, dialect.length {5, 6})
    assert.equal(9, dialect.length(setmetatable({}, {__len = function()
      return 9
    end})))
  end)
end)
