-- Files of NumPy's .npy format: what is read, what is refused, how is written.
local la = require "lunarray"
local folder = require "spec.support.folder"

local files

local function path(name) return files:path(name) end
local function write(name, bytes) return files:write(name, bytes) end
local function read(name) return files:read(name) end

-- A file with the header text 'dict' (padded, newline) and 'data'.
local function npy(dict, data, major, minor)
  major = major or 1
  local head = "\x93NUMPY" .. string.char(major, minor or 0)
  local fixed = major == 1 and 10 or 12
  local pad = -(fixed + #dict + 1) % 64
  local text = dict .. (" "):rep(pad) .. "\n"
  return head .. string.pack(major == 1 and "<I2" or "<I4", #text) .. text
    .. (data or "")
end

local function dict(descr, fortran, shape)
  return ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }")
    :format(descr, fortran and "True" or "False", shape)
end

local function loaded(bytes)
  return la.load(write("x.npy", bytes))
end

local function refused(bytes, text)
  local ok, message = pcall(loaded, bytes)
  assert.is_false(ok)
  assert.truthy(message:find(text, 1, true),
                ("'%s' lacks '%s'"):format(message, text))
end

setup(function()
  files = folder.new()
end)

teardown(function() files:remove() end)

describe("la.load of .npy", function()
  local samples = {
    {"b1", "I1", "bool", {1, 0, 1}, {true, false, true}},
    {"u1", "I1", "uint8", {0, 7, 255}}, {"i1", "i1", "int8", {0, 7, -128}},
    {"u2", "I2", "uint16", {0, 7, 65535}}, {"i2", "i2", "int16", {1, 2, -3}},
    {"u4", "I4", "uint32", {0, 7, 4294967295}},
    {"i4", "i4", "int32", {0, 7, -2147483648}},
    {"i8", "i8", "int64", {0, 7, math.mininteger}},
    {"f4", "f", "float32", {0.5, -2.0, 3.25}},
    {"f8", "d", "float64", {0.1, -1e300, 5e-324}},
  }

  local function packed(format, values)
    local out = {}
    for i, v in ipairs(values) do out[i] = string.pack(format, v) end
    return table.concat(out)
  end

  it("reads the most dims, in both orders", function()
    local shape = {}
    for k = 1, 64 do shape[k] = k == 2 and 3 or k == 64 and 2 or 1 end
    local text = "(" .. table.concat(shape, ", ") .. ")"
    local data = string.pack("<ffffff", 1, 2, 3, 4, 5, 6)
    for order, want in pairs {[false] = {1, 2, 3, 4, 5, 6},
                              [true] = {1, 4, 2, 5, 3, 6}} do
      local x = loaded(npy(dict("<f4", order, text), data))
      assert.equal(64, x.ndim)
      assert.same(want, x:view(-1):totable())
    end
    shape[65] = 1
    refused(npy(dict("<f4", true, "(" .. table.concat(shape, ", ") .. ")"),
      data), "more than 64 dimensions")
  end)

  it("reads every dtype in both orders of bytes", function()
    for _, s in ipairs(samples) do
      for _, order in ipairs({"<", ">"}) do
        local x = loaded(npy(dict(order .. s[1], false, "(3,)"),
                             packed(order .. s[2], s[4])))
        assert.same(s[3], x.dtype)
        assert.same(s[5] or s[4], x:totable())
      end
    end
  end)

  it("reads halves and complex numbers", function()
    assert.same({1.0, -2.0}, loaded(npy(dict("<f2", false, "(2,)"),
                                        "\x00\x3c\x00\xc0")):totable())
    assert.same({1.0, -2.0}, loaded(npy(dict(">f2", false, "(2,)"),
                                        "\x3c\x00\xc0\x00")):totable())
    for _, c in ipairs({{"<c8", "<ff", "complex64"},
                        {">c8", ">ff", "complex64"},
                        {"<c16", "<dd", "complex128"},
                        {">c16", ">dd", "complex128"}}) do
      local x = loaded(npy(dict(c[1], false, "(1,)"),
                           string.pack(c[2], 1.5, -2.5)))
      assert.same(c[3], x.dtype)
      assert.same({{1.5, -2.5}}, x:totable())
    end
  end)

  it("reads versions 1 to 3 and all layouts of the header", function()
    local data = string.pack("<fffffff", 1, 2, 3, 4, 5, 6, 0):sub(1, 24)
    local want = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}
    for major = 1, 3 do
      assert.same(want, loaded(npy(dict("<f4", false, "(2, 3)"), data, major))
        :totable())
    end
    for _, text in ipairs({
      "{'shape':(2,3),'descr':'<f4','fortran_order':False}",
      '{"descr": "<f4", "shape": (2L, 3L,), "fortran_order": False}',
      "{ 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2 , 3 ) }",
    }) do
      assert.same(want, loaded(npy(text, data)):totable())
    end
  end)

  -- What stands in a header without the blanks and the newline that NumPy
  -- fills it up with.
  local function bare(text, data, major)
    local length = string.pack(major == 1 and "<I2" or "<I4", #text)
    return "\x93NUMPY" .. string.char(major, 0) .. length .. text .. data
  end

  it("reads headers however they are written", function()
    local data = string.pack("<ffffff", 1, 2, 3, 4, 5, 6)
    local want = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}
    local plain = "{'descr': '<f4', 'fortran_order': False, 'shape': %s}"
    local texts = {}
    for _, shape in ipairs {"(2, 3)", "(2,3)", "(2,3,)", "( 2 , 3 , )",
      "(2L, 3L)", "(2 L,3)", "(+2, 3)", "(2,\n 3)", "(2, # rows\n3)"} do
      texts[#texts + 1] = plain:format(shape)
    end
    local text = plain:format("(2, 3)")
    for _, before in ipairs {"", " ", "\n", "\r\n", "\f\t", "# note\n"} do
      for _, after in ipairs {"", " ", "\n", "   \n\n", "# note", "\r\n"} do
        texts[#texts + 1] = before .. text .. after
      end
    end
    for _, other in ipairs {
      "{u'descr': u'<f4', u'fortran_order': False, U'shape': (2, 3)}",
      '{"descr": r"<f4", "fortran_order": False, "shape": (2, 3)}',
      "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4',}",
      "{'descr':'<f4','fortran_order':False,'shape':(2,3)}",
      "{\n'descr'\n:\n'<f4',\n'fortran_order':False\n,'shape':(2,3)\n}",
    } do
      texts[#texts + 1] = other
    end
    for major = 1, 3 do
      for _, t in ipairs(texts) do
        assert.same(want, loaded(bare(t, data, major)):totable(), t)
      end
    end
    for shape, size in pairs {["(0,)"] = 0, ["(00,)"] = 0, ["(-0,)"] = 0,
      ["(0, 3)"] = 0, ["()"] = 1, ["(1,)"] = 1} do
      local x = loaded(bare(plain:format(shape), data:sub(1, 4 * size), 1))
      assert.equal(size, x:numel(), shape)
    end
    for _, wrong in ipairs {text .. "\0", text .. ",", plain:format("2, 3"),
      plain:format("(2, 3l)"), text:gsub("False", "false"), text:sub(2),
      text:gsub("'descr'", "b'descr'"), (text:gsub("}", ",,}"))} do
      assert.is_false(pcall(loaded, bare(wrong, data, 1)), wrong)
    end
  end)

  it("reads every name of a dtype", function()
    local kinds = {
      bool = "? bool b1", int8 = "b byte int8 i1", uint8 = "B ubyte uint8 u1",
      int16 = "h short int16 i2", uint16 = "H ushort uint16 u2",
      int32 = "i intc int32 i4", uint32 = "I uintc uint32 u4",
      int64 = "q longlong int64 i8", uint64 = "Q ulonglong uint64 u8",
      float16 = "e half float16 f2", float32 = "f single float32 f4 f04",
      float64 = "d double float float64 f8",
      complex64 = "F csingle complex64 c8",
      complex128 = "D cdouble complex complex128 c16",
    }
    local size = {bool = 1}
    for dtype, list in pairs(kinds) do
      size[dtype] = la.zeros(1, {dtype = dtype}):element_size()
      for name in list:gmatch "%S+" do
        local short = #name == 1 or name:find "^%a%d"
        for order in ("=|<>"):gmatch(short and "." or "$") do
          local data = string.pack((order == ">" and ">" or "<") .. "i"
            .. math.min(size[dtype], 8), 1) .. ("\0"):rep(size[dtype] - 8)
          local x = loaded(npy(dict(order .. name, false, "(1,)"), data))
          assert.equal(dtype, x.dtype, order .. name)
          if not x:is_floating_point() and not x:is_complex() then
            assert.equal(1, x:to("int64"):item(), order .. name)
          end
        end
        assert.equal(dtype, loaded(npy(dict(name, false, "(1,)"),
          ("\0"):rep(size[dtype]))).dtype, name)
      end
    end
  end)

  it("reads Fortran order", function()
    local data = string.pack("<i4i4i4i4i4i4", 1, 4, 2, 5, 3, 6)
    local x = loaded(npy(dict("<i4", true, "(2, 3)"), data))
    assert.same({{1, 2, 3}, {4, 5, 6}}, x:totable())
    assert.is_true(x:is_contiguous())
    local list = {}
    for k = 1, 24 do list[k] = string.pack("<i8", k) end
    x = loaded(npy(dict("<i8", true, "(2, 3, 4)"), table.concat(list)))
    assert.same(1 + 1 + 2 * 2 + 6 * 3, x:totable()[2][3][4])
    assert.same(1 + 2 * 1 + 6 * 2, x:totable()[1][2][3])
  end)

  it("reads 0-dim, empty and one-dim shapes", function()
    assert.same(2.5, loaded(npy(dict("<f8", false, "()"),
                                string.pack("<d", 2.5))):item())
    local x = loaded(npy(dict("<f8", true, "(0, 3)")))
    assert.same(0, x:size(1))
    assert.same(3, x:size(2))
    assert.same({7}, loaded(npy(dict("|u1", true, "(1,)"), "\7")):totable())
  end)

  it("normalises booleans", function()
    local x = loaded(npy(dict("|b1", false, "(4,)"), "\0\1\2\255"))
    assert.same({false, true, true, true}, x:totable())
  end)

  it("refuses headers that are malformed", function()
    local data = ("\0"):rep(24)
    for text, why in pairs({
      ["{'descr': '<f4', 'fortran_order': False}"] = "a key is missing",
      ["{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, "
        .. "'shape': (6,)}"] = "twice",
      ["{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'x': 1}"] =
        "unknown key",
      ["{'descr': '<f4', 'fortran_order': False, 'shape': ((6,),)}"] =
        "bad size",
      ["{'descr': '<f4', 'fortran_order': False, 'shape': (6)}"] = "tuple",
      ["{'descr': '<f4', 'fortran_order': False, 'shape': [6]}"] = "tuple",
      ["{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}"] =
        "negative",
      ["{'descr': '<f4', 'fortran_order': False, 'shape': (06,)}"] =
        "leading zeros",
      ["{'descr': '<f4', 'fortran_order': False, "
        .. "'shape': (9223372036854775808,)}"] = "2^63",
      ["{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}"] = "comma",
      ["{'descr': '<f4', 'fortran_order': 0, 'shape': (6,)}"] = "True or False",
      ["{'descr': '<f4' 'fortran_order': False, 'shape': (6,)}"] = "comma",
      ["{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} x"] = "after",
      ["{'descr': '<f4"] = "without end",
      ["{'de\\scr': '<f4'}"] = "escapes",
      ["['descr']"] = "'{' was expected",
      [""] = "'{' was expected",
    }) do
      refused(npy(text, data), why)
    end
    refused("\x93NUMPY\1\0\1\0{", "a string was expected")
    refused("\x93NUMPY\1\0\0\0", "'{' was expected")
    refused("\x93NUMPX\1\0\0\0", "first bytes")
    refused(npy(dict("<f4", false, "(6,)"), data, 4), "version 4.0")
    refused(npy(dict("<f4", false, "(6,)"), data, 1, 1), "version 1.1")
    refused("\x93NUMPY\2\0\xff\xff\xff\xff", "header of 4294967295 bytes")
    refused(npy(dict("<f4", false, "(" .. ("1,"):rep(65) .. ")"), data),
            "more than 64 dimensions")
  end)

  it("refuses dtypes that have no counterpart", function()
    for _, descr in ipairs({"|O", "|V4", "<U3", "|S5", "<f16", "<M8[ns]",
                            "<i3", "", "<", "x", "<float32", "f5", "f999",
                            "l", "long", "g", "f8,", " <f4", "<f4 "}) do
      refused(npy(dict(descr, false, "(1,)"), ("\0"):rep(16)),
              "cannot be read")
    end
    refused(npy("{'descr': [('a', '<f4')], 'fortran_order': False, "
      .. "'shape': (1,)}"), "structured")
  end)

  it("refuses sizes that overflow, and data behind the end", function()
    local big = "(4194305, 4194305, 211106198978564)"
    refused(npy(dict("<f4", false, big)), "overflow")
    refused(npy(dict("<f4", false, "(0, 1099511627776, 1099511627776)")), "")
    refused(npy(dict("<f4", false, "(1,)"), "\0\0\0\0\0"), "1 bytes behind")
    refused(npy(dict("<f4", false, "(281474976710656,)"), "\0\0\0\0"),
            "truncated")
  end)

  it("tells where a file is truncated, at every length", function()
    local whole = npy(dict("<f4", false, "(2, 3)"), ("\1"):rep(24))
    for n = 0, #whole - 1 do
      refused(whole:sub(1, n), "truncated at byte " .. n)
    end
    whole = npy(dict(">f8", true, "(2, 3)"), ("\1"):rep(48), 3)
    for n = 0, #whole - 1, 7 do
      refused(whole:sub(1, n), "truncated at byte " .. n)
    end
  end)

  it("never crashes on a changed byte of the header", function()
    local whole = npy(dict("<f4", false, "(2, 3)"), ("\1"):rep(24))
    for i = 1, #whole - 24 do
      for _, byte in ipairs({0, 1, 32, 39, 40, 57, 62, 125, 128, 255}) do
        pcall(loaded, whole:sub(1, i - 1) .. string.char(byte)
          .. whole:sub(i + 1))
      end
    end
  end)

  it("refuses what is no regular file", function()
    local function fails(what, text)
      local ok, message = pcall(la.load, what)
      assert.is_false(ok)
      assert.truthy(message:find(text, 1, true), message)
    end
    assert(os.execute("mkdir " .. path("dir.npy")))
    fails(path("dir.npy"), "Is a directory")
    assert(os.execute("mkfifo " .. path("fifo.npy")))
    fails(path("fifo.npy"), "regular file")
    fails(path("none.npy"), "No such file")
    fails(write("empty.npy", ""), "truncated at byte 0")
    fails(path("x.txt"), ".npy")
    fails("", ".npy")
    fails("a\0b.npy", "NUL")
    fails(nil, "path expected")
    fails(7, "path expected")
    fails(path("\27[31m.npy"), "\\x1B")
  end)
end)

describe("la.save of .npy", function()
  it("writes what NumPy writes", function()
    la.save(la.tensor({{1, 2, 3}, {4, 5, 6}}, {dtype = "int32"}),
            path("a.npy"))
    assert.same(npy(dict("<i4", false, "(2, 3)"),
                    string.pack("<i4i4i4i4i4i4", 1, 2, 3, 4, 5, 6)),
                read("a.npy"))
    la.save(la.tensor(2.5), path("b.npy"))
    assert.same(npy(dict("<f4", false, "()"), string.pack("<f", 2.5)),
                read("b.npy"))
    la.save(la.tensor{true}, path("c.npy"))
    assert.same(npy(dict("|b1", false, "(1,)"), "\1"), read("c.npy"))
  end)

  it("comes back the same, for every dtype and layout", function()
    for _, dtype in ipairs({"bool", "uint8", "int8", "uint16", "int16",
                            "uint32", "int32", "uint64", "int64", "float16",
                            "float32", "float64", "complex64", "complex128"})
    do
      local x = la.tensor({{1, 0, 1}, {0, 1, 1}}, {dtype = dtype})
      for _, y in ipairs({x, x:transpose(1, 2), x:select(1, 2),
                          x:expand(2, 2, 3), la.zeros({0, 3},
                          {dtype = dtype})}) do
        la.save(y, path("r.npy"))
        local z = la.load(path("r.npy"))
        assert.same(dtype, z.dtype)
        assert.is_true(z == y)
      end
    end
  end)

  it("resolves conjugated views", function()
    local x = la.complex(la.tensor{1.0, 2.0}, la.tensor{3.0, -4.0})
    la.save(x:conj(), path("conj.npy"))
    assert.same({{1.0, -3.0}, {2.0, 4.0}},
                la.load(path("conj.npy")):totable())
  end)

  it("understands the other order of arguments", function()
    la.save(path("o.npy"), la.tensor{1})
    assert.same({1}, la.load(path("o.npy")):totable())
  end)

  it("refuses dtypes without a counterpart, and what is no tensor", function()
    for _, dtype in ipairs({"bfloat16", "complex32"}) do
      local ok, message = pcall(la.save, la.zeros({1}, {dtype = dtype}),
                                path("no.npy"))
      assert.is_false(ok)
      assert.truthy(message:find("NumPy has no " .. dtype, 1, true))
    end
    assert.has_error(function() la.save({1}, path("no.npy")) end)
    assert.has_error(function() la.save(print, path("no.npy")) end)
    assert.has_error(function() la.save(la.zeros(2), nil) end)
    local meta = la.zeros({2}, {device = "meta"})
    assert.has_error(function() la.save(meta, path("no.npy")) end)
    assert.is_nil(io.open(path("no.npy")))
  end)

  it("leaves the old file when writing fails", function()
    la.save(la.tensor{1}, path("old.npy"))
    assert.has_error(function()
      la.save(la.zeros({1}, {dtype = "bfloat16"}), path("old.npy"))
    end)
    assert.same({1}, la.load(path("old.npy")):totable())
    local ok, message = pcall(la.save, la.zeros(1000), "/no/such/x.npy")
    assert.is_false(ok)
    assert.truthy(message:find("No such file", 1, true))
    ok, message = pcall(la.save, la.zeros(2), path("."):sub(1, -2) .. "dir.npy")
    assert.is_false(ok)
    assert.truthy(message:find("Is a directory", 1, true))
    local pipe = io.popen("ls -a " .. files.name)
    local list = pipe:read("a")
    pipe:close()
    assert.is_nil(list:find("tmp", 1, true))
  end)

  it("reports a full device", function()
    os.execute("ln -s /dev/full " .. path("full.npy"))
    local ok, message = pcall(la.save, la.zeros(10), path("full.npy"))
    assert.is_false(ok)
    assert.truthy(message:find("No space left", 1, true), message)
  end)

  it("writes into pipes and devices, which stay what they are", function()
    local x = la.rand(3, 4)
    for _, kind in ipairs {"npy", "npz", "safetensors"} do
      local fifo, plain = path("pipe." .. kind), path("plain." .. kind)
      os.execute("mkfifo " .. fifo)
      local reader, ok = io.popen("timeout 60 cat " .. fifo), false
      for _ = 1, 200 do             -- until somebody reads
        ok = ok or pcall(la.save, kind == "npy" and x or {x = x}, fifo)
        if ok then break end
        os.execute("sleep 0.05")
      end
      assert.is_true(ok)
      local bytes = reader:read("a")
      reader:close()
      la.save(kind == "npy" and x or {x = x}, plain)
      assert.equal(read("plain." .. kind), bytes)
      assert.is_true(os.execute("test -p " .. fifo))
    end
    os.execute("ln -s /dev/null " .. path("null.npy"))
    la.save(x, path("null.npy"))
    assert.is_true(os.execute("test -c " .. path("null.npy")))
  end)

  it("writes through symbolic links and keeps the mode", function()
    la.save(la.tensor{1}, path("real.npy"))
    os.execute(("chmod 600 %s; ln -s real.npy %s"):format(path("real.npy"),
                                                         path("link.npy")))
    la.save(la.tensor{2}, path("link.npy"))
    assert.same({2}, la.load(path("real.npy")):totable())
    local pipe = io.popen("stat -c %a " .. path("real.npy"))
    assert.same("600", pipe:read("l"))
    pipe:close()
  end)
end)
