-- la.gguf: blocks of every type against what the reference of the format makes
-- of them (blocks.py), to the bit; products against those with the numbers.
local la = require "lunarray"
local raises = require "spec.support.raises"

local function unhex(text)
  return (text:gsub("%x%x", function(h)
    return string.char(tonumber(h, 16))
  end))
end

local function records()
  local all = {}
  for line in io.lines("modules/gguf/spec/blocks.txt") do
    local type, blocks, crc, some = line:match("^(%S+) (%x+) (%x+) (%x+)$")
    all[#all + 1] = {type = type, blocks = unhex(blocks),
                     crc = tonumber(crc, 16), some = unhex(some)}
  end
  return all
end

-- CRC-32 (RFC 1952).
local function crc32(text)
  local crc = 0xffffffff
  for i = 1, #text do
    crc = crc ~ text:byte(i)
    for _ = 1, 8 do crc = (crc >> 1) ~ (0xedb88320 & -(crc & 1)) end
  end
  return crc ~ 0xffffffff
end

describe("blocks", function()
  for _, r in ipairs(records()) do
    local bytes = la.from_raw(r.blocks, "uint8", {1, #r.blocks})

    it("are the reference's numbers: " .. r.type, function()
      local x = la.gguf.unpack(bytes, r.type)
      local n = x:numel()
      assert.equal("float32", x.dtype)
      local some = {}
      for i = 1, n, 37 do some[#some + 1] = x[{1, i}]:item() end
      assert.equal(r.some, string.pack(("<" .. ("f"):rep(#some)),
                                       table.unpack(some)))
      assert.equal(r.crc, crc32(x:tostring_raw()))
    end)

    it("are multiplied as they are: " .. r.type, function()
      la.manual_seed(3)
      local w = la.gguf.unpack(bytes, r.type)
      local both = la.cat({bytes, bytes}, 1)
      for _, rows in ipairs{1, 3, 20} do
        local x = la.randn(rows, w:numel())
        local want = x:double():matmul(la.cat({w, w}, 1):double():t())
        local size = x:double():abs():matmul(
          la.cat({w, w}, 1):double():abs():t())
        local y = la.quantized_matmul(x, la.gguf.quantized(both, r.type))
        assert.same({rows, 2}, {table.unpack(y.shape)})
        assert.is_true((y:double() - want):abs():le(size * 1e-6):all())
      end
    end)
  end

  for _, r in ipairs(records()) do
    it("are multiplied by numbers of 8 bits: " .. r.type, function()
      la.manual_seed(5)
      local bytes = la.from_raw(r.blocks, "uint8", {1, #r.blocks})
      local w = la.gguf.unpack(bytes, r.type):double()
      local x = la.randn(2, w:numel())
      -- what rounding groups of 32 to 127 steps makes of x
      local parts = x:view(2, -1, 32)
      local scale = parts:abs():amax(3, true) / 127
      local rounded = ((parts / scale):round() * scale):view(2, -1):double()
      local q = la.gguf.quantized(bytes, r.type)
      local fast = la.quantized_matmul(x, q, true)
      local exact = la.quantized_matmul(x, q)
      local near = rounded:matmul(w:t())
      local size = rounded:abs():matmul(w:abs():t()) * 1e-5
      assert.is_true((fast:double() - near):abs():le(size):all()
                     or la.equal(fast, exact))
    end)
  end

  it("give one row the bits that it has among many", function()
    for _, r in ipairs(records()) do
      local bytes = la.from_raw(r.blocks, "uint8", {1, #r.blocks})
      local w = la.cat({bytes, bytes, bytes}, 1)
      local x = la.randn(12, la.gguf.unpack(bytes, r.type):numel())
      local all = la.gguf.product(x, w, r.type)
      for k = 1, 12 do
        assert.is_true(all[k]:equal(la.gguf.product(x[k], w, r.type)))
      end
    end
  end)

  it("may have any rows, gaps and no numbers", function()
    local r = records()[1]
    local n = #r.blocks
    local bytes = la.from_raw(r.blocks, "uint8", {1, n})
    local x = la.gguf.unpack(bytes, r.type)
    local wide = la.cat({bytes, bytes}, 2):narrow(2, 1, n)
    assert.is_true(la.equal(x, la.gguf.unpack(wide, r.type)))
    local empty = la.gguf.unpack(bytes:narrow(1, 1, 0), r.type)
    assert.same({0, x:numel()}, {table.unpack(empty.shape)})
    assert.same({2, 0}, {table.unpack(la.gguf.product(
      la.ones(2, x:numel()), bytes:narrow(1, 1, 0), r.type).shape)})
    assert.same({{0}}, la.gguf.product(la.ones(1, 0), bytes:narrow(2, 1, 0),
                                       r.type):totable())
  end)

  it("keep the dtype and the dims of what they are multiplied with", function()
    local r = records()[1]
    local q = la.gguf.quantized(la.from_raw(r.blocks, "uint8", {1, #r.blocks}),
                                r.type)
    local y = la.quantized_matmul(la.ones(2, 3, q.shape[2]):half(), q)
    assert.equal("float16", y.dtype)
    assert.same({2, 3, 1}, {table.unpack(y.shape)})
  end)

  it("refuse what is no block", function()
    raises("'Q4_K'", la.gguf.unpack, la.zeros(1, 18, {dtype = "uint8"}), "Q4")
    raises("blocks of 18 bytes", la.gguf.unpack,
          la.zeros(1, 17, {dtype = "uint8"}), "Q4_0")
    raises("uint8", la.gguf.product, la.ones(1, 32), la.ones(1, 18), "Q4_0")
    raises("rows of 32", la.gguf.product, la.ones(1, 31),
          la.zeros(1, 18, {dtype = "uint8"}), "Q4_0")
  end)
end)
