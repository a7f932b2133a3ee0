-- Pickles and files that are damaged or lie: each is an error that says where,
-- and nothing of a file is run.
local la = require "lunarray"
local folder = require "spec.support.folder"
local raises = require "spec.support.raises"

local files
setup(function() files = folder.new() end)
teardown(function() files:remove() end)

local DATA = "modules/pickle/spec/data/"

local function read(name)
  local file = assert(io.open(DATA .. name, "rb"))
  local bytes = file:read "a"
  file:close()
  return bytes
end

local function load(bytes, options)
  return la.load(files:write("x.pt", bytes), options)
end

local function refused(why, bytes, options)
  local message = raises(why, load, bytes, options)
  assert.truthy(message:find("x.pt", 1, true), message)
  assert.falsy(message:find ": *:", message)          -- an empty path
end

local function bin(k) return string.pack("<I4", k) end
local function text(s) return "X" .. bin(#s) .. s end

it("keys that are NaN are errors that say where", function()
  local pair = "}G\x7f\xf8\0\0\0\0\0\0K\1s"
  refused("x.pt': NaN as a key", "\x80\2" .. pair .. ".")
  refused("x.pt': [1]: NaN as a key", "\x80\2]" .. pair .. "a.")
end)

describe("names", function()
  local marker = "cposix\nsystem\n(X" .. bin(12) .. "touch marker\x85R."
  local system = "\x80\x02cposix\nsystem\n" .. text "touch marker" .. "\x85R."

  it("that are not known are errors that name them", function()
    refused("'posix.system' is not known", system)
    refused("'os.system' is not known",
            "(S'touch marker'\nios\nsystem\n.")
    refused("'os.system' is not known", "\x80\x04\x8c\2os\x8c\6system\x93.")
    refused("'builtins.eval' is not known",
            "\x80\x02cbuiltins\neval\n" .. text "1" .. "\x85R.")
    refused("'builtins.getattr' is not known",
            "\x80\x02cbuiltins\ngetattr\n.")
    refused("nothing of a file is run", marker)
    assert.is_nil(io.open "marker")
  end)

  it("are plain tables where that is asked for", function()
    local t = load(system, {unknown = "table"})
    assert.same({__class = "posix.system", __args = {"touch marker"}}, t)
    assert.is_nil(io.open "marker")
    local object = "\x80\x02c__main__\nPoint\n)\x81}(" .. text "x" .. "K\1"
      .. text "y" .. "K\2ub."
    assert.same({__class = "__main__.Point", x = 1, y = 2},
                load(object, {unknown = "table"}))
    refused("'__main__.Point' is not known", object)
    raises("unknown: ", load, object, {unknown = "run"})
    raises("unknown keyword", load, object, {whatever = 1})
  end)

  -- dir(torch) of PyTorch 2.9, and what a file may not name.
  it("that name a dtype or a scheme of PyTorch are its word", function()
    for name in ([[bfloat16 bits16 bits1x8 bits2x4 bits4x2 bits8 bool
      complex128 complex32 complex64 float16 float32 float4_e2m1fn_x2 float64
      float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz
      float8_e8m0fnu int1 int16 int2 int3 int32 int4 int5 int6 int64 int7 int8
      qint32 qint8 quint2x4 quint4x2 quint8 uint1 uint16 uint2 uint3 uint32
      uint4 uint5 uint6 uint64 uint7 uint8 per_channel_affine
      per_channel_symmetric per_tensor_affine]]):gmatch "%S+" do
      assert.equal(name, load("\x80\x02ctorch\n" .. name .. "\n."))
    end
    for name in ([[int uint intx bits quint float4_ float8_ float8_e2m1
      float8_e9m9 float64x load save channel_affine]]):gmatch "%S+" do
      refused("'torch." .. name .. "' is not known",
              "\x80\x02ctorch\n" .. name .. "\n.")
    end
  end)

  it("of tensors that there are none of are refused", function()
    refused("only dense tensors",
            "\x80\x02ctorch._utils\n_rebuild_sparse_tensor\n)R.")
    refused("only dense tensors",
            "\x80\x02ctorch._utils\n_rebuild_qtensor\n)R.")
  end)
end)

describe("a pickle", function()
  it("that lies about lengths is refused before it is believed", function()
    for _, bytes in ipairs {
      "\x80\x04\x8d" .. string.pack("<I8", 1 << 62),
      "\x80\x04\x8e" .. string.pack("<I8", math.maxinteger),
      "\x80\x04\x95" .. string.pack("<I8", 1 << 63),
      "\x80\x02X\xff\xff\xff\xff", "\x80\x02\x8b\xff\xff\xff\xff",
      "\x80\x05\x96" .. string.pack("<i8", -1), "\x80\x02T\0\0\0\x80",
    } do
      refused("truncated", bytes .. "x.")
    end
    refused("memo 4294967295", "\x80\x02Nr\xff\xff\xff\xff.")
    refused("memo", "Np99999999999999999999999\n.")
    refused("nothing is in memo 7", "\x80\x02h\7.")
  end)

  it("that uses what is not on the stack is refused", function()
    for _, bytes in ipairs {"\x80\x02.", "\x80\x02\x85.", "\x80\x02(a.",
                            "\x80\x02]t.", "\x80\x02]a.", "\x80\x02K\1(e.",
                            "\x80\x02}(K\1u.", "\x80\x02K\1K\1R.",
                            "\x80\x02NNb.", "\x80\x02(N.", "\x80\x02s.",
                            "\x80\x02NQ.", "\x80\x02)Q.", "\x80\x02Po\n.",
                            "\x80\x02\x93.", "\x80\x02o.", "\x80\x02\x81.",
                            "\x80\x02)R.", "\x80\x02q\0.", "\x80\x020.",
                            "\x80\x02\xff.", "\x80\x02\x82\1.", "\x80\x061."} do
      refused("byte", bytes)
    end
  end)

  it("of protocol 0 that is damaged is refused", function()
    for _, bytes in ipairs {"I12x\n.", "I\n.", "F1.5z\n.", "F\n.", "L\n.",
                            "S'abc\n.", "Sabc\n.", "V\\u12\n.", "gx\n.",
                            "V\\Uffffffff\n.", "I12", "S'a'"} do
      raises("x.pkl", la.load, files:write("x.pkl", bytes))
    end
  end)

  it("is at most 64 deep", function()
    local function nested(n)
      return "\x80\x02" .. ("]"):rep(n) .. ("a"):rep(n - 1) .. "."
    end
    assert.truthy(load(nested(65)))
    refused("nested too deep", nested(66))
    refused("nested too deep", nested(100000))
    refused("nested too deep", "\x80\x02)" .. ("\x85"):rep(1000000) .. ".")
  end)

  it("that holds itself is refused", function()
    refused("a cycle", "\x80\x02]q\0h\0a.")
    refused("a cycle", "\x80\x02}q\0K\1h\0s.")
    refused("[1][1]: a cycle", "\x80\x02]q\0]h\0aa.")
  end)

  it("that shares is no larger than its file", function()
    local bytes = "\x80\x02]K\1aq\0"
    for k = 1, 50 do
      bytes = bytes .. "]h" .. string.char(k - 1) .. "ah" .. string.char(k - 1)
        .. "aq" .. string.char(k)
    end
    local t = load(bytes .. ".")
    for _ = 1, 50 do
      assert.is_true(rawequal(t[1], t[2]))
      t = t[1]
    end
    assert.equal(1, t[1])
  end)
end)

describe("tensors", function()
  local STORAGE = "(" .. text "storage" .. "ctorch\nFloatStorage\n" .. text "0"
    .. text "cpu"
  -- A legacy file of one tensor whose numbers are given.
  local function legacy(numel, offset, sizes, strides, count, data)
    local function long(v) return "\x8a\8" .. string.pack("<i8", v) end
    local function tuple(list)
      local all = "("
      for _, v in ipairs(list) do all = all .. long(v) end
      return all .. "t"
    end
    return "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
      .. "\x80\x02M\xe9\x03.\x80\x02}.\x80\x02}" .. text "w"
      .. "ctorch._utils\n_rebuild_tensor\n(" .. STORAGE .. long(numel) .. "tQ"
      .. long(offset) .. tuple(sizes) .. tuple(strides) .. "tRs."
      .. "\x80\x02]" .. text "0" .. "a." .. string.pack("<i8", count) .. data
  end
  local data = string.pack("<ffff", 1, 2, 3, 4)

  it("are read where the numbers are right", function()
    assert.same({{1, 2}, {3, 4}},
      load(legacy(4, 0, {2, 2}, {2, 1}, 4, data)).w:totable())
    assert.same({2, 4}, load(legacy(4, 1, {2}, {2}, 4, data)).w:totable())
  end)

  it("stay inside their storage, and storages inside the file", function()
    local max, huge = math.maxinteger, 1 << 40
    refused("w: ", legacy(4, 1, {4}, {1}, 4, data))
    refused("w: ", legacy(4, 0, {3}, {2}, 4, data))
    refused("w: ", legacy(4, max, {1}, {1}, 4, data))
    refused("w: ", legacy(4, -1, {1}, {1}, 4, data))
    refused("w: ", legacy(4, 0, {-1}, {1}, 4, data))
    refused("w: ", legacy(4, 0, {2}, {-1}, 4, data))
    refused("w: ", legacy(4, 0, {2}, {max}, 4, data))
    refused("w: ", legacy(4, 0, {max, max}, {1, 1}, 4, data))
    refused("w: ", legacy(4, 0, {4194305, 4194305, 211106198978564}, {0, 0, 0},
                          4, data))
    refused("w: ", legacy(4, 0, {2, 2}, {1}, 4, data))
    local sixty_five = {}
    for k = 1, 65 do sixty_five[k] = 1 end
    refused("64", legacy(4, 0, sixty_five, sixty_five, 4, data))
    for _, n in ipairs {5, huge, max, -1, math.mininteger} do
      refused("storage '0'", legacy(n, 0, {1}, {1}, n, data))
      refused("storage '0'", legacy(n, 0, {1}, {1}, 4, data))
    end
    assert.same({0, huge}, load(legacy(4, 0, {0, huge}, {1, 1}, 4,
                                       data)).w.shape)
  end)

  it("of a tar file are refused by its name", function()
    refused("a tar file", ("x"):rep(257) .. "ustar" .. ("\0"):rep(800))
  end)
end)

describe("files", function()
  it("are refused when they are cut anywhere", function()
    for _, name in ipairs {"endian.big.pt", "legacy.pt", "scalars/4.pkl"} do
      local bytes = read(name)
      for n = 0, #bytes - 1 do
        local ok, message = pcall(load, bytes:sub(1, n))
        assert.is_false(ok, name .. " " .. n)
        assert.truthy(message:find("x.pt", 1, true), message)
      end
    end
  end)

  it("that are damaged give an error or another file", function()
    for _, name in ipairs {"endian.big.pt", "deflated.pt"} do
      local bytes = read(name)
      for n = 1, #bytes, 3 do
        local other = string.char(bytes:byte(n) ~ (1 << n % 8))
        pcall(load, bytes:sub(1, n - 1) .. other .. bytes:sub(n + 1))
      end
    end
  end)

  it("that unpack to far more than they have are refused", function()
    refused("are packed into a file", read "bomb.pt")
    assert.equal(1 << 20, load(read "bomb.pt", {limit = 1 << 30}).x:numel())
    refused("more than the limit", read "dtypes.pt", {limit = 1000})
  end)
end)
