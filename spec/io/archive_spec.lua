-- Files of several tensors: .npz and .safetensors.
local la = require "lunarray"
local folder = require "spec.support.folder"

local files

local function path(name) return files:path(name) end
local function write(name, bytes) return files:write(name, bytes) end
local function read(name) return files:read(name) end

local function refused(name, bytes, text)
  local ok, message = pcall(la.load, write(name, bytes))
  assert.is_false(ok)
  assert.truthy(message:find(text, 1, true),
                ("'%s' lacks '%s'"):format(message, text))
end

setup(function()
  files = folder.new()
end)

teardown(function() files:remove() end)

local function sample()
  return {
    weight = la.tensor({{1.5, 2}, {3, 4}}),
    ["layer.0.bias"] = la.tensor({1, 2, 3}, {dtype = "int16"}),
    flag = la.tensor{true, false}, empty = la.zeros(0, 3),
    scalar = la.tensor(2.5, {dtype = "float64"}),
    ["../odd \"näme\"\n"] = la.tensor{7},
    transposed = la.tensor({{1, 2, 3}, {4, 5, 6}}):transpose(1, 2),
  }
end

local function assert_same_tensors(want, got)
  local n = 0
  for name, x in pairs(want) do
    assert.truthy(got[name], name .. " is missing")
    assert.same(x.dtype, got[name].dtype)
    assert.is_true(x == got[name], name .. " differs")
    n = n + 1
  end
  for _ in pairs(got) do n = n - 1 end
  assert.same(0, n)
end

for _, kind in ipairs({"npz", "safetensors"}) do
  describe("." .. kind, function()
    it("comes back the same", function()
      la.save(sample(), path("a." .. kind))
      assert_same_tensors(sample(), la.load(path("a." .. kind)))
      la.save({}, path("b." .. kind))
      assert.same({}, la.load(path("b." .. kind)))
    end)

    it("gives the same bytes for the same tensors", function()
      la.save(sample(), path("a." .. kind))
      la.save(sample(), path("b." .. kind))
      assert.same(read("a." .. kind), read("b." .. kind))
    end)

    it("comes back as it went: tables, lists, plain values", function()
      local went = {
        epoch = 3, lr = 0.1, done = false, name = "é\n\0", bytes = "\xff\0",
        [7] = "seven", ["k.e.y"] = true, least = math.mininteger,
        list = {1, -0.0, math.huge, {}, {{}}}, net = {["0.weight"] = la.eye(2)},
        deep = {{{x = la.tensor{true}}}},
      }
      la.save(went, path("n." .. kind))
      local came = la.load(path("n." .. kind))
      local weight, x = came.net["0.weight"], came.deep[1][1].x
      assert.same({{1, 0}, {0, 1}}, weight:totable())
      assert.same({true}, x:totable())
      assert.same(-math.huge, 1 / came.list[2])
      assert.same("float", math.type(came.list[3]))
      assert.same("integer", math.type(came.epoch))
      came.net["0.weight"], came.deep[1][1].x = nil, nil
      went.net["0.weight"], went.deep[1][1].x = nil, nil
      assert.same(went, came)
    end)

    it("keeps numbers as tensors for other readers", function()
      la.save({epoch = 3, lr = 0.5, list = {2}}, path("m." .. kind))
      local bytes = read("m." .. kind)
      for name in ("epoch lr list.1"):gmatch("%S+") do
        assert.truthy(bytes:find(name, 1, true))
      end
    end)

    it("has metadata", function()
      la.save({a = la.ones(1)}, path("d." .. kind),
              {metadata = {author = 'me "', ["ü"] = ""}})
      local t, metadata, skipped =
        la.load(path("d." .. kind), {metadata = true})
      assert.same({1}, t.a:totable())
      assert.same({author = 'me "', ["ü"] = ""}, metadata)
      assert.same({}, skipped)
      assert.same(1, select("#", la.load(path("d." .. kind))))
      for text, wrong in pairs({
        ["table of texts expected"] = 3, ["texts by texts"] = {1},
        ["got a number"] = {a = 1}, ["must be UTF-8"] = {a = "\xff"},
        ["are taken"] = {["lunarray.tree"] = "[]"},
      }) do
        local ok, message = pcall(la.save, {a = la.ones(1)},
                                  path("d." .. kind), {metadata = wrong})
        assert.is_false(ok)
        assert.truthy(message:find(text, 1, true), message)
      end
      assert.same({1}, la.load(path("d." .. kind)).a:totable())
    end)

    it("says so when its tree is damaged", function()
      la.save({a = {b = la.ones(2)}, c = "text"}, path("t." .. kind))
      local bytes = read("t." .. kind)
      local good = [=[[\"sa\",\"sb\",\"t\"]]=]
      local first = assert(bytes:find(good, 1, true))
      for _, wrong in ipairs({
        [=[[\"sa\",\"sc\",\"t\"]]=],
        [=[[\"sc\",\"sb\",\"t\"]]=],
        [=[[\"sa\",\"sb\",\"q\"]]=],
        [=[[\"ia\",\"sb\",\"t\"]]=],
        [=[[\"sa\",\"sb\",\"t\",]=],
        [=[{\"sa\",\"sb\",\"t\"]]=],
      }) do
        assert.same(#good, #wrong)
        local file = bytes:sub(1, first - 1) .. wrong ..
          bytes:sub(first + #good)
        local name = path("w." .. kind)
        local out = assert(io.open(name, "wb"))
        out:write(file)
        out:close()
        assert.is_false((pcall(la.load, name)), wrong)
      end
    end)

    it("refuses what cannot be saved, and keeps the old file", function()
      la.save({a = la.tensor{1}}, path("old." .. kind))
      local circle = {}
      circle.circle = circle
      local freed = la.tensor{1}
      freed:free()
      for text, object in pairs({
        ["a function cannot be saved"] = {f = print},
        ["a thread cannot be saved"] = {s = coroutine.create(print)},
        ["cannot be saved"] = {io.stdout},
        ["nested too deep"] = circle, ["was freed"] = {x = freed},
        ["names must be strings"] = {[1.5] = la.tensor{1}},
        ["is there twice"] = {["a.b"] = la.tensor{1}, a = {b = la.tensor{1}}},
      }) do
        local ok, message = pcall(la.save, object, path("old." .. kind))
        assert.is_false(ok)
        assert.truthy(message:find(text, 1, true), message)
      end
      assert.has_error(function() la.save(la.tensor{1}, path("x." .. kind)) end)
      assert.same({1}, la.load(path("old." .. kind)).a:totable())
    end)

    it("survives every truncation", function()
      la.save({a = la.tensor{1, 2, 3}, b = la.tensor{true}},
              path("t." .. kind))
      local whole = read("t." .. kind)
      for n = 0, #whole - 1 do
        refused("u." .. kind, whole:sub(1, n), "truncated")
      end
    end)

    it("survives any changed byte", function()
      la.save({a = la.tensor{1, 2, 3}, b = la.tensor{true}},
              path("t." .. kind))
      local whole = read("t." .. kind)
      for i = 1, #whole do
        for _, byte in ipairs({0, 255, whole:byte(i) ~ 1}) do
          write("u." .. kind, whole:sub(1, i - 1) .. string.char(byte)
            .. whole:sub(i + 1))
          pcall(la.load, path("u." .. kind))
        end
      end
    end)
  end)
end

---------------------------------------------------------------------------
-- zip files made by hand

local function crc32(s)
  local crc = 0xffffffff
  for i = 1, #s do
    crc = crc ~ s:byte(i)
    for _ = 1, 8 do crc = crc >> 1 ~ (crc & 1) * 0xedb88320 end
  end
  return ~crc & 0xffffffff
end

local function npy(value)
  la.save(la.tensor(value), path("one.npy"))
  return read("one.npy")
end

-- members: {name, bytes, [method, size, crc, flags, at]}
local function zip(members, change)
  local out, directory = "", ""
  for _, m in ipairs(members) do
    local size, method = m.size or #m.bytes, m.method or 0
    local crc, flags = m.crc or crc32(m.plain or m.bytes), m.flags or 0
    local at = m.at or #out
    out = out .. string.pack("<c4I2I2I2I2I2I4I4I4I2I2", "PK\3\4", 20, flags,
      method, 0, 0, crc, #m.bytes, size, #m.name, 0) .. m.name .. m.bytes
    directory = directory .. string.pack("<c4I2I2I2I2I2I2I4I4I4I2I2I2I2I2I4I4",
      "PK\1\2", 20, 20, flags, method, 0, 0, crc, m.packed or #m.bytes, size,
      #m.name, 0, 0, 0, 0, 0, at) .. m.name
  end
  local e = {count = #members, bytes = #directory, at = #out, comment = ""}
  for k, v in pairs(change or {}) do e[k] = v end
  return out .. directory .. string.pack("<c4I2I2I2I2I4I4I2", "PK\5\6", 0, 0,
    e.count, e.count, e.bytes, e.at, #e.comment) .. e.comment
end

describe("zip files", function()
  it("are read with any names and a comment", function()
    local bytes = zip({{name = "../x.npy", bytes = npy(1)},
                       {name = "/abs.npy", bytes = npy(2)},
                       {name = ".npy", bytes = npy(3)}},
                      {comment = "hello PK\5\6"})
    local t = la.load(write("z.npz", bytes))
    assert.same(1, t["../x"]:item())
    assert.same(2, t["/abs"]:item())
    assert.same(3, t[""]:item())
  end)

  it("are inflated", function()
    -- deflate's stored block: 1, length, its complement
    local plain = npy({1, 2, 3})
    local packed = string.pack("<BI2I2", 1, #plain, ~#plain & 0xffff) .. plain
    local function with(m)
      m.name, m.plain, m.bytes = "a.npy", plain, m.bytes or packed
      m.method, m.size = 8, m.size or #plain
      return zip({m})
    end
    assert.same({1, 2, 3}, la.load(write("d.npz", with{})).a:totable())
    refused("d.npz", with{size = #plain - 8}, "truncated")
    refused("d.npz", with{size = 1 << 30}, "larger than its bytes")
    refused("d.npz", with{bytes = packed:sub(1, -2)}, "corrupt")
    refused("d.npz", with{bytes = "\7" .. packed}, "corrupt")
    refused("d.npz", with{crc = 1}, "wrong checksum")
  end)

  it("may have no members", function()
    assert.same({}, la.load(write("e.npz", zip({}))))
    assert.same({}, la.load(write("e.npz", zip({}, {comment = "none"}))))
    refused("e.npz", zip({}, {at = 1}), "at a wrong offset")
    refused("e.npz", zip({}, {bytes = 1}), "at a wrong offset")
    refused("e.npz", zip({}, {count = 1}), "more members")
  end)

  it("are refused when any number of the end is another", function()
    local bytes = zip({{name = "a.npy", bytes = npy(1)},
                       {name = "b.npy", bytes = npy(2)}})
    local first = #bytes - 22
    for at = 4, 20, 2 do
      local old = string.unpack("<I2", bytes, first + at + 1)
      for _, new in ipairs{old + 1, old - 1, old ~ 0x8000, 0x7fff} do
        refused("n.npz", bytes:sub(1, first + at)
          .. string.pack("<I2", new & 0xffff) .. bytes:sub(first + at + 3), "")
      end
    end
  end)

  it("are refused when they lie", function()
    local one = npy(1)
    local function member(m)
      m.name, m.bytes = m.name or "a.npy", m.bytes or one
      return m
    end
    refused("l.npz", zip({member{}, member{}}), "twice")
    refused("l.npz", zip({member{crc = 5}}), "wrong checksum")
    refused("l.npz", zip({member{flags = 1}}), "encrypted")
    refused("l.npz", zip({member{method = 12}}), "method 12")
    refused("l.npz", zip({member{size = #one + 1}}), "sizes of a stored")
    refused("l.npz", zip({member{name = "a.txt"}}), "no .npy file")
    refused("l.npz", zip({member{name = "a\0b.npy"}}), "NUL byte")
    refused("l.npz", zip({member{}, member{name = "b.npy", at = 0}}), "")
    refused("l.npz", zip({member{at = 1}}), "differs from")
    refused("l.npz", zip({member{at = 0xfffffff0}}), "at a wrong offset")
    refused("l.npz", zip({member{bytes = one .. "x"}}), "behind the data")
    refused("l.npz", zip({member{}}, {count = 2}), "more members")
    refused("l.npz", zip({member{}}, {count = 0xffff}), "zip64")
    refused("l.npz", zip({member{}}, {at = 0}), "at a wrong offset")
    refused("l.npz", "", "truncated")
    refused("l.npz", ("x"):rep(1000), "not an .npz file")
    refused("l.npz", ("PK"):rep(500), "truncated")
  end)
end)

---------------------------------------------------------------------------

describe("safetensors files", function()
  local function file(header, data)
    return string.pack("<s8", header) .. (data or "")
  end
  local function entry(shape, b, e, dtype)
    return ('{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}')
      :format(dtype or "U8", shape, b, e)
  end

  it("are read with metadata, escapes and blanks", function()
    local text = '{ "__metadata__" : {"format":"pt"} ,\n"a\\u00e9\\n":'
      .. entry("[2]", 0, 2) .. ', "\\ud83d\\ude00": ' .. entry("[]", 2, 3)
      .. "}   "
    local t = la.load(write("m.safetensors", file(text, "\1\2\3")))
    assert.same({1, 2}, t["aé\n"]:totable())
    assert.same(3, t["😀"]:item())
  end)

  it("skip tensors of unknown dtypes, not the file", function()
    local text = '{"a":' .. entry("[2]", 0, 2) .. ',"f":' ..
      entry("[3]", 2, 5, "F8_E4M3") .. ',"q":' .. entry("[9]", 5, 6, "F4") ..
      ',"z":' .. entry("[1]", 6, 7) .. "}"
    local name = write("f8.safetensors", file(text, "\1\2xyzw\3"))
    for _, load in ipairs({la.load, la.mmap}) do
      local t, metadata, skipped = load(name, {metadata = true})
      assert.same({1, 2}, t.a:totable())
      assert.same({3}, t.z:totable())
      assert.same({f = "F8_E4M3", q = "F4"}, skipped)
      assert.same({}, metadata)
      assert.is_nil(t.f)
    end
  end)

  it("accept empty tensors inside the data only", function()
    local text = '{"a":' .. entry("[1]", 0, 1) .. ',"e":' ..
      entry("[0]", 1, 1) .. ',"f":' .. entry("[3,0]", 0, 0) .. "}"
    assert.same({0}, la.load(write("e.safetensors", file(text, "\1"))).e.shape)
    text = '{"a":' .. entry("[1]", 0, 1) .. ',"e":' .. entry("[0]", 5, 5) .. "}"
    refused("e.safetensors", file(text, "\1"), "holes")
  end)

  it("normalise booleans", function()
    local t = la.load(write("b.safetensors",
      file('{"b":' .. entry("[3]", 0, 3, "BOOL") .. "}", "\0\2\1")))
    assert.same({false, true, true}, t.b:totable())
  end)

  it("are refused when malformed", function()
    local good = entry("[1]", 0, 1)
    for text, why in pairs({
      ["[]"] = "'{' was expected", [" {}"] = "'{' was expected",
      ['{"a":' .. good .. ',"a":' .. entry("[0]", 1, 1) .. "}"] = "twice",
      ['{"a":' .. good .. "} x"] = "text after",
      ['{"a":' .. good .. ","] = "expected",
      ['{"a":' .. good .. ',}'] = "expected",
      ['{"a":{"dtype":"U8","shape":[1]}}'] = "missing",
      ['{"a":{"dtype":"U8","dtype":"U8"}}'] = "twice",
      ['{"a":{"x":1}}'] = "unknown key",
      ['{"a":' .. entry("[1]", 1, 0, "F8_E4M3") .. "}"] = "do not fit",
      ['{"a":' .. entry("[1]", 1, 2, "F8_E4M3") .. "}"] = "holes",
      ['{"a":' .. entry("[2]", 0, 1) .. "}"] = "do not fit",
      ['{"a":' .. entry("[1]", 1, 0) .. "}"] = "do not fit",
      ['{"a":' .. entry("[1]", 1, 2) .. "}"] = "holes",
      ['{"a":' .. good .. ',"b":' .. good .. "}"] = "overlap",
      ['{"a":' .. entry("[1e2]", 0, 1) .. "}"] = "plain integer",
      ['{"a":' .. entry("[-0]", 0, 1) .. "}"] = "plain integer",
      ['{"a":' .. entry("[01]", 0, 1) .. "}"] = "plain integer",
      ['{"a":' .. entry("[18446744073709551616]", 0, 1) .. "}"] = "2^63",
      ['{"a":' .. entry("[[1]]", 0, 1) .. "}"] = "plain integer",
      ['{"a":' .. entry("[4194305,4194305,211106198978564]", 0, 1) .. "}"] =
        "overflow",
      ['{"__metadata__":{"a":1}}'] = "expected",
      ['{"\xff":' .. good .. "}"] = "UTF-8",
      ['{"\xed\xa0\x80":' .. good .. "}"] = "UTF-8",
      ['{"\\ud800":' .. good .. "}"] = "escape",
      ['{"\\x":' .. good .. "}"] = "escape",
      ['{"a\1":' .. good .. "}"] = "control character",
      ['{"a'] = "without end", ['{}'] = "behind the last",
    }) do
      refused("m.safetensors", file(text, "\1"), why)
    end
    refused("m.safetensors", ("\0"):rep(8), "header of 0 bytes")
    refused("m.safetensors", ("\xff"):rep(8), "header of")
    refused("m.safetensors", string.pack("<I8", 50) .. "{}", "truncated")
  end)
end)
