-- la.audio: what WAV files hold, what is written, what is refused.
local la = require "lunarray"
local folder = require "spec.support.folder"
local raises = require "spec.support.raises"
local audio = la.audio

local files

setup(function() files = folder.new() end)
teardown(function() files:remove() end)

local function unhex(text)
  return (text:gsub("%x%x", function(h)
    return string.char(tonumber(h, 16))
  end))
end

local function chunk(name, bytes, size)
  return name .. string.pack("<I4", size or #bytes) .. bytes
    .. (#bytes % 2 == 1 and "\0" or "")
end

-- A format chunk; tag 1 is PCM, 3 floats.
local function format(tag, channels, bits, rest)
  local frame = channels * ((bits + 7) // 8)
  return chunk("fmt ", string.pack("<I2I2I4I4I2I2", tag, channels, 48000,
                                   48000 * frame, frame, bits) .. (rest or ""))
end

local function riff(...)
  local body = "WAVE" .. table.concat{...}
  return "RIFF" .. string.pack("<I4", #body) .. body
end

-- Equal in dtype, shape and values.
local function same(want, x)
  assert.equal(want.dtype, x.dtype)
  assert.same(want.shape, x.shape)
  assert.is_true(la.equal(want, x))
end

describe("a WAV file", function()
  it("is read as Python's wave module wrote it", function()
    local bytes = unhex("524946463000000057415645666d7420100000000100020022560"
      .. "0008858010004001000646174610c0000000100feffff7f00800001ffff")
    local whole = la.tensor({{1, 32767, 256}, {-2, -32768, -1}}, "int16")
    local x, rate = audio.decode(bytes, {dtype = "int16"})
    same(whole, x)
    assert.equal(22050, rate)
    same(whole:float() / 32768, (audio.decode(bytes)))
    assert.equal(bytes, audio.encode(whole, 22050))
    local path = files:write("two.wav", bytes)
    same(whole:double() / 32768, (audio.load(path, {dtype = "float64"})))
    assert.same({3, 2, 22050, "int16"}, {audio.info(path)})
  end)

  it("is read as SciPy wrote it", function()
    local x, rate = audio.decode(unhex("524946463e00000057415645666d7420120000"
      .. "0003000100401f0000007d0000040020000000666163740400000003000000646174"
      .. "610c0000000000803e0000c0bf00004040"))
    same(la.tensor{{0.25, -1.5, 3}}, x)
    assert.equal(8000, rate)
  end)

  it("has samples of any size", function()
    local cases = {
      {1, 8, "B", {0, 128, 255}, 128, 128},
      {1, 16, "<i2", {-32768, 0, 32767}, 32768, 0},
      {1, 24, "<i3", {-8388608, 1, 8388607}, 8388608, 0},
      {1, 32, "<i4", {-2147483648, 2, 2147483647}, 2147483648, 0},
      {3, 32, "<f", {-1, 0.5, 1.5}, 1, 0},
      {3, 64, "<d", {-1, 1e-300, 2}, 1, 0}}
    for _, c in ipairs(cases) do
      local tag, bits, item, values, full, zero = table.unpack(c)
      local data, want = "", {}
      for i, v in ipairs(values) do
        data, want[i] = data .. item:pack(v), (v - zero) / full
      end
      local x = audio.decode(riff(format(tag, 1, bits), chunk("data", data)),
                             {dtype = "float64"})
      same(la.tensor({want}, "float64"), x)
    end
    -- twelve bits stand in sixteen
    same(la.tensor({{16}}, "int16"),
         (audio.decode(riff(format(1, 1, 12), chunk("data", "\16\0")),
                       {dtype = "int16"})))
  end)

  it("may have an extensible header, other chunks and a last part of a frame",
     function()
    local guid = unhex("0100000000001000800000aa00389b71")
    local wide = format(0xfffe, 2, 16, string.pack("<I2I2I4", 22, 16, 3)
                          .. guid)
    local bytes = riff(chunk("LIST", "odd"), wide, chunk("fact", "1234"),
                       chunk("data", "\1\0\2\0\3\0"), chunk("LIST", "INFO"))
    same(la.tensor({{1}, {2}}, "int16"),
         (audio.decode(bytes, {dtype = "int16"})))
  end)

  it("may be a stream, whose size was not known", function()
    local bytes = riff(format(1, 1, 8), chunk("data", "\1\2\3\4", 0xffffffff))
    same(la.tensor({{1, 2, 3, 4}}, "uint8"),
         (audio.decode(bytes, {dtype = "uint8"})))
  end)

  it("may have sizes of 64 bits", function()
    local sizes = string.pack("<I8I8I8I4", 100, 4, 2, 0)
    local body = "WAVE" .. chunk("ds64", sizes) .. format(1, 1, 16)
      .. chunk("data", "\1\0\2\0", 0xffffffff) .. chunk("LIST", "more")
    local bytes = "RF64\xff\xff\xff\xff" .. body
    same(la.tensor({{1, 2}}, "int16"),
         (audio.decode(bytes, {dtype = "int16"})))
  end)

  it("is read in part", function()
    local x = la.arange(1, 21):reshape(2, 10):to("int16")
    local path = files:path("part.wav")
    audio.save(x, path, 100, {format = "int24"})
    for _, part in ipairs{{1, -1}, {3, 5}, {-4, -2}, {10, 10}, {4, 3}} do
      local y = audio.load(path, {dtype = "int16", first = part[1],
                                  last = part[2]})
      local first = part[1] < 0 and 11 + part[1] or part[1]
      local last = part[2] < 0 and 11 + part[2] or part[2]
      same(x:narrow(2, first, last - first + 1), y)
    end
    raises("frames 3 to 11 of 10", audio.load, path, {first = 3, last = 11})
    raises("frames -11 to -1 of 10", audio.load, path, {first = -11})
    raises("first: the number of a frame expected", audio.load, path,
           {first = 0})
  end)
end)

describe("sound that is written", function()
  local formats = {"uint8", "int16", "int24", "int32", "float32", "float64"}

  it("comes back", function()
    la.manual_seed(1)
    local full = {uint8 = 2 ^ 7, int16 = 2 ^ 15, int24 = 2 ^ 23, int32 = 2 ^ 31}
    for _, f in ipairs(formats) do
      for _, sizes in ipairs{{1, 1}, {1, 7}, {3, 5}, {2, 0}, {2, 70001}} do
        local x = la.rand(sizes[1], sizes[2], {dtype = "float64"}) * 2 - 1
        local path = files:path("x.wav")
        audio.save(x, path, 44100, {format = f})
        local y, rate = audio.load(path, {dtype = "float64"})
        local want = x
        if full[f] then
          want = (x * full[f]):round():clamp(-full[f], full[f] - 1) / full[f]
        elseif f == "float32" then
          want = x:float():double()
        end
        same(want, y)
        assert.same({sizes[2], sizes[1], rate, f}, {audio.info(path)})
        assert.equal(44100, rate)
        assert.equal(files:read("x.wav"), audio.encode(x, 44100, {format = f}))
        assert.equal(0, #files:read("x.wav") % 2)
      end
    end
  end)

  it("keeps integers, and those of fewer bits in more", function()
    local samples = {
      uint8 = la.tensor({{0, 1, 127, 128, 255}}, "uint8"),
      int16 = la.tensor({{-32768, -1, 0, 32767}}, "int16"),
      int32 = la.tensor({{-2147483648, -1, 0, 2147483647}}, "int32")}
    for dtype, x in pairs(samples) do
      same(x, (audio.decode(audio.encode(x, 1), {dtype = dtype})))
      for _, f in ipairs{"int32", "float64"} do
        local bytes = audio.encode(x, 1, {format = f})
        same(x, (audio.decode(bytes, {dtype = dtype})))
      end
    end
  end)

  it("is cut at full scale, floats by 16 bits unless told", function()
    local x = la.tensor{2, -2, 1, -1, 0.5, la.inf, -la.inf}
    local bytes = audio.encode(x, 8000)
    same(la.tensor({{32767, -32768, 32767, -32768, 16384, 32767, -32768}},
                   "int16"), (audio.decode(bytes, {dtype = "int16"})))
    for _, dtype in ipairs{"float16", "bfloat16", "float64"} do
      assert.equal(bytes, audio.encode(x:to(dtype), 8000))
    end
    local real = audio.encode(x, 8000, {format = "float32"})
    same(x:unsqueeze(1), (audio.decode(real)))
  end)

  it("may be any view, with gradients", function()
    local x = la.rand(5, 4):t():requires_grad_()
    local half = x[{la.range(1, 3, 2)}]
    same(half:detach():float(), (audio.decode(
      audio.encode(half, 9, {format = "float32"}))))
    assert.equal(audio.encode(half, 9), audio.encode(half:contiguous(), 9))
  end)

  it("is refused with a reason", function()
    local path = files:path("no.wav")
    local x = la.zeros(2, 3)
    raises("expected, got 3 dims", audio.save, la.zeros(1, 2, 3), path, 8000)
    raises("int64 is no dtype of sound", audio.save, x:long(), path, 8000)
    raises("a meta tensor has no data", audio.save,
           la.zeros(2, {device = "meta"}), path, 8000)
    raises("NaN in the samples", audio.save, x * la.nan, path, 8000)
    for _, rate in ipairs{0, -1, 0.5, 2 ^ 32, "fast"} do
      raises("frames per second expected", audio.save, x, path, rate)
    end
    raises("frames per second expected", audio.save, x, path)
    raises("format: \"uint8\"", audio.save, x, path, 8000, {format = "mp3"})
    raises("unknown keyword 'bits'", audio.save, x, path, 8000, {bits = 8})
    for kind, bytes in pairs{uint8 = 1, int16 = 2, int24 = 3, int32 = 4,
                               float32 = 4, float64 = 8} do
      local most, how = 65535 // bytes, {format = kind}
      local sound = la.arange(most):reshape(most, 1) / most
      assert.same(sound.shape,
        audio.decode(audio.encode(sound, 8000, how)).shape)
      raises(("%d channels of %s: a WAV file holds 1 to %d"):format(most + 1,
        kind, most), audio.encode, la.zeros(most + 1, 1), 8000, how)
    end
    raises("0 channels", audio.encode, la.zeros(0, 1), 8000)
    assert.is_nil(io.open(path))
    raises("No such file", audio.save, x, files:path("none/x.wav"), 8000)
  end)
end)

describe("bytes that are no WAV file", function()
  local good = riff(chunk("LIST", "odd"), format(1, 2, 16),
                    chunk("data", "\1\0\2\0\3\0\4\0"))

  it("are refused with a reason", function()
    raises("string of a WAV file's bytes expected", audio.decode, {})
    raises("not a WAV file", audio.decode, "")
    raises("not a WAV file", audio.decode, ("x"):rep(100))
    raises("kind 7 (mu-law)", audio.decode,
           riff(format(7, 1, 8), chunk("data", "1")))
    raises("samples of 64 bits are not read", audio.decode,
           riff(format(1, 1, 64), chunk("data", "1")))
    raises("0 channels", audio.decode,
           riff(format(1, 0, 16), chunk("data", "1")))
    raises("samples before their format", audio.decode,
           riff(chunk("data", "1"), format(1, 1, 8)))
    raises("a WAV file without samples", audio.decode, riff(format(1, 1, 8)))
    raises("5000 bytes of samples said, 2 are there", audio.decode,
           riff(format(1, 1, 8), chunk("data", "12", 5000)))
    raises("WAV frames of 3 bytes", audio.decode,
           riff((format(1, 2, 16):gsub("\4\0\16\0$", "\3\0\16\0")),
                chunk("data", "123")))
    raises("dtype: uint8, int16", audio.decode, good, {dtype = "int64"})
    local path = files:write("bad.wav", "RIFF")
    raises("'" .. path .. "': not a WAV file (4 bytes)", audio.load, path)
    raises("'" .. path .. "': not a WAV file (4 bytes)", audio.info, path)
  end)

  it("never do harm", function()
    la.manual_seed(7)
    for n = 0, #good - 1 do
      assert.is_false((pcall(audio.decode, good:sub(1, n))))
    end
    for i = 1, #good do
      for _, byte in ipairs{0, 1, 127, 128, 255} do
        local bytes = good:sub(1, i - 1) .. string.char(byte)
          .. good:sub(i + 1)
        local ok, x = pcall(audio.decode, bytes)
        if ok then assert.is_true(x:numel() <= #good) end
      end
    end
  end)
end)
