-- la.gguf: files made by the writer below, byte by byte from the format's
-- description; damaged ones; what save writes.
local la = require "lunarray"
local folder = require "spec.support.folder"
local raises = require "spec.support.raises"

local files

setup(function() files = folder.new() end)
teardown(function() files:remove() end)

local FORMS = {[0] = "<B", "<b", "<I2", "<i2", "<I4", "<i4", "<f", "<B", "<s8",
               nil, "<I8", "<i8", "<d"}

local function value(kind, v)
  return string.pack("<I4", kind) .. string.pack(FORMS[kind], v)
end

local function list(kind, values)
  local parts = {string.pack("<I4I4I8", 9, kind, #values)}
  for i, v in ipairs(values) do
    parts[i + 1] = string.pack(FORMS[kind], v)
  end
  return table.concat(parts)
end

-- {{key, packed value}, ...}, {{name, sizes from the fastest, type, offset},
-- ...}, data.
local function file(values, tensors, data, options)
  options = options or {}
  local parts = {"GGUF", string.pack("<I4I8I8", options.version or 3,
                                     options.tensors or #tensors,
                                     options.values or #values)}
  for _, v in ipairs(values) do
    parts[#parts + 1] = string.pack("<s8", v[1]) .. v[2]
  end
  for _, t in ipairs(tensors) do
    parts[#parts + 1] = string.pack("<s8I4", t[1], #t[2])
    for _, size in ipairs(t[2]) do
      parts[#parts + 1] = string.pack("<I8", size)
    end
    parts[#parts + 1] = string.pack("<I4I8", t[3], t[4])
  end
  local head = table.concat(parts)
  local align = options.align or 32
  return head .. ("\0"):rep(-#head % align) .. (data or "")
end

local function write(name, bytes)
  local path = files:path(name)
  local out = assert(io.open(path, "wb"))
  out:write(bytes)
  out:close()
  return path
end

local KINDS = {{"u8", value(0, 255), 255}, {"i8", value(1, -3), -3},
  {"u16", value(2, 65535), 65535}, {"i16", value(3, -300), -300},
  {"u32", value(4, 4294967295), 4294967295}, {"i32", value(5, -70000), -70000},
  {"f32", value(6, 0.5), 0.5}, {"yes", value(7, 1), true},
  {"no", value(7, 0), false}, {"text", value(8, "a\0b\xff"), "a\0b\xff"},
  {"u64", value(10, 1 << 40), 1 << 40}, {"large", value(10, -1), 2.0 ^ 64},
  {"i64", value(11, -5), -5}, {"f64", value(12, 0.1), 0.1},
  {"ints", list(5, {1, -2, 3}), {1, -2, 3}},
  {"texts", list(8, {"x", "", "yz"}), {"x", "", "yz"}},
  {"none", list(4, {}), {}},
  {"lists", string.pack("<I4I4I8", 9, 9, 2) .. list(0, {1, 2}):sub(5)
     .. list(8, {"q"}):sub(5), {{1, 2}, {"q"}}}}

local FLOATS = string.pack("<ffffff", 1, 2, 3, 4, 5, 6)

it("reads values of all kinds", function()
  for _, version in ipairs{2, 3} do
    local bytes = file(KINDS, {}, "", {version = version})
    local got = la.gguf.load(write("kinds.gguf", bytes))
    for _, k in ipairs(KINDS) do assert.same(k[3], got.metadata[k[1]]) end
    assert.same({}, got.tensors)
    assert.equal(version, la.gguf.info(files:path("kinds.gguf")).version)
  end
end)

it("reads tensors, mapped, with the fastest dim last", function()
  local data = FLOATS .. ("\0"):rep(8) .. ("\17"):rep(36) .. ("\0"):rep(28)
    .. string.pack("<i8", -9)
  local path = write("tensors.gguf", file({}, {
    {"w", {3, 2}, 0, 0}, {"q", {32, 2}, 2, 32}, {"n", {}, 27, 96},
    {"empty", {0, 5}, 0, 0}}, data))
  local t = la.gguf.load(path).tensors
  assert.same({{1, 2, 3}, {4, 5, 6}}, t.w:totable())
  assert.same({32, t.n:item()}, {32, -9})
  assert.same({5, 0}, {table.unpack(t.empty.shape)})
  assert.equal("Q4_0", t.q.type)
  assert.same({2, 32}, {table.unpack(t.q.shape)})
  assert.equal("quantized({2, 32}, Q4_0)", tostring(t.q))
  assert.equal(64, t.q:numel())
  assert.equal(36, t.q:nbytes())
  assert.same({2, 32}, {table.unpack(t.q:dequantize().shape)})
  assert.is_true(la.equal(t.q:rows(la.tensor{2}), t.q:dequantize()[{{2, 2}}]))
  raises("read-only", t.w.add_, t.w, 1)
  local info = la.gguf.info(path)
  assert.is_nil(info.tensors)
  assert.same({name = "w", type = "F32", dtype = "float32", shape = {2, 3},
               offset = info.layout[1].offset, bytes = 24}, info.layout[1])
end)

it("knows the alignment", function()
  local path = write("aligned.gguf", file({{"general.alignment", value(4, 64)}},
    {{"a", {1}, 0, 0}, {"b", {2}, 0, 64}},
    string.pack("<f", 7) .. ("\0"):rep(60) .. string.pack("<ff", 8, 9),
    {align = 64}))
  assert.same({8, 9}, la.gguf.load(path).tensors.b:totable())
  for _, bad in ipairs{value(4, 0), value(4, 48), value(5, 32)} do
    raises("general.alignment", la.gguf.decode,
           file({{"general.alignment", bad}}, {}))
  end
end)

it("joins split files", function()
  local count = {"split.count", value(2, 2)}
  local first = write("m-00001-of-00002.gguf", file(
    {count, {"name", value(8, "m")}}, {{"a", {3}, 0, 0}}, FLOATS))
  raises("00002", la.gguf.load, first)
  local second = write("m-00002-of-00002.gguf", file(
    {count}, {{"b", {2}, 0, 0}}, FLOATS))
  local m = la.gguf.load(first)
  assert.equal("m", m.metadata.name)
  assert.same({1, 2, 3}, m.tensors.a:totable())
  assert.same({1, 2}, m.tensors.b:totable())
  raises("load the first", la.gguf.load, second)
  write("m-00002-of-00002.gguf", file({count}, {{"a", {2}, 0, 0}}, FLOATS))
  raises("tensor 'a' is in another part", la.gguf.load, first)
  raises("2 parts", la.gguf.load, write("other.gguf", file({count}, {})))
end)

it("writes what it reads", function()
  local path = files:path("saved.gguf")
  local metadata = {name = "m", n = 3, big = 1 << 40, minus = -2, x = 0.5,
    fine = 0.1, yes = true, words = {"a", "b"}, ints = {1, -2},
    floats = {0.5, 0.1}, none = {}}
  local q = la.gguf.quantized(la.zeros(2, 18, {dtype = "uint8"}), "Q4_0")
  local tensors = {w = la.randn(2, 3), h = la.randn(5):half(), q = q,
                   i = la.tensor({1, 2}, "int64")}
  la.gguf.save({metadata = metadata, tensors = tensors}, path)
  local got = la.gguf.load(path)
  assert.same(metadata, got.metadata)
  for _, name in ipairs{"w", "h", "i"} do
    assert.equal(tensors[name].dtype, got.tensors[name].dtype)
    assert.is_true(la.equal(tensors[name], got.tensors[name]))
  end
  assert.equal("Q4_0", got.tensors.q.type)
  assert.same({2, 32}, {table.unpack(got.tensors.q.shape)})
end)

describe("damage", function()
  local whole = file(KINDS, {{"w", {3, 2}, 0, 0}, {"q", {32}, 2, 32}},
                     FLOATS .. ("\0"):rep(8 + 18))

  it("of any length is named", function()
    la.gguf.decode(whole)
    for n = 1, #whole - 1 do
      local ok, message = pcall(la.gguf.decode, whole:sub(1, n), "x")
      assert.is_false(ok)
      assert.truthy(message:find("'x'", 1, true), message)
    end
  end)

  it("of a byte gives an error or other values", function()
    for at = 1, #whole do
      for _, byte in ipairs{0, 1, 127, 128, 255} do
        local bytes = whole:sub(1, at - 1) .. string.char(byte)
          .. whole:sub(at + 1)
        local ok, message = pcall(la.gguf.decode, bytes)
        assert.is_true(ok or type(message) == "string")
      end
    end
  end)

  local function refuses(text, ...)
    raises(text, la.gguf.decode, file(...))
  end

  it("in counts is found before anything is made", function()
    for _, n in ipairs{math.maxinteger, math.mininteger, -1, 1 << 40} do
      refuses("more than the file", {}, {}, "", {tensors = n})
      refuses("more than the file", {}, {}, "", {values = n})
      refuses("more than the file", {{"k", string.pack("<I4I4I8", 9, 0, n)}},
              {})
      refuses("more than the file", {{"k", string.pack("<I4I8", 8, n)}}, {})
      refuses("tensor 'w'", {}, {{"w", {n, 4}, 0, 0}}, FLOATS)
      refuses("tensor 'w'", {}, {{"w", {1}, 0, n}}, FLOATS)
    end
    refuses("overflows", {}, {{"w", {1 << 32, 1 << 32}, 0, 0}}, FLOATS)
    refuses("5 dims", {}, {{"w", {1, 1, 1, 1, 1}, 0, 0}}, FLOATS)
  end)

  it("in words is named", function()
    raises("no GGUF file", la.gguf.decode, "GGML" .. ("\0"):rep(20))
    refuses("version 1", {}, {}, "", {version = 1})
    refuses("big-endian", {}, {}, "", {version = 0x03000000})
    refuses("type of values 13", {{"k", string.pack("<I4", 13)}}, {})
    refuses("type 4 ", {}, {{"w", {1}, 4, 0}}, FLOATS)
    refuses("blocks of 32", {}, {{"w", {31}, 2, 0}}, FLOATS)
    refuses("multiple of 32", {}, {{"w", {1}, 0, 4}}, FLOATS)
    refuses("boolean 2", {{"k", value(7, 2)}}, {})
    refuses("'k': is there twice", {{"k", value(7, 1)}, {"k", value(7, 1)}}, {})
    refuses("'w': is there twice", {}, {{"w", {1}, 0, 0}, {"w", {1}, 0, 0}},
            FLOATS)
    local deep = string.pack("<I4I4I8", 9, 9, 1)
      .. string.pack("<I4I8", 9, 1):rep(100) .. string.pack("<I4I8", 0, 0)
    refuses("nest deeper", {{"k", deep}}, {})
  end)

  it("is what tensors without data are", function()
    local bytes = la.zeros(100, {dtype = "uint8", device = "meta"})
    raises("on the CPU", la.gguf.parse, bytes, "x")
    raises("on the CPU", la.gguf.decode, bytes)
    raises("on the CPU", la.gguf.parse, bytes:to("meta"):view(10, 10), "x")
  end)
end)
