-- The option limit of what reads files: the bytes that a file holds, unpacked,
-- are compared before anything is made of them. And the note about tensors of
-- dtypes that there are none of here.
local la = require "lunarray"
local folder = require "spec.support.folder"
local raises = require "spec.support.raises"

local files
setup(function() files = folder.new() end)
teardown(function() files:remove() end)

-- A name, the bytes that count, and how it is read.
local function cases()
  local x = la.zeros(1000)
  la.save(x, files:path "x.npy")
  la.save({a = x, b = x}, files:path "x.npz")
  la.save({a = x}, files:path "x.safetensors")
  local file = assert(io.open(files:path "x.csv", "wb"))
  file:write("a\n" .. ("0\n"):rep(500))
  file:close()
  la.image.save(la.zeros(3, 200, 100), files:path "x.png")
  la.image.save(la.zeros(3, 200, 100), files:path "x.jpg")
  local function size(name)
    local f = assert(io.open(files:path(name), "rb"))
    local n = f:seek "end"
    f:close()
    return n
  end
  return {
    ["x.npy"] = {size "x.npy", la.load}, ["x.npz"] = {2 * 4128, la.load},
    ["x.safetensors"] = {size "x.safetensors", la.load},
    ["x.csv"] = {1002, la.read_csv}, ["x.png"] = {60000, la.image.load},
    ["x.jpg"] = {60000, la.image.load},
  }
end

describe("the option limit", function()
  it("refuses files that hold more", function()
    for name, case in pairs(cases()) do
      local bytes, read = table.unpack(case)
      local path = files:path(name)
      assert.truthy(read(path))
      assert.truthy(read(path, {limit = bytes}), name)
      raises(("%d bytes, more than the limit of %d"):format(bytes, bytes - 1),
        read, path, {limit = bytes - 1})
      for _, wrong in ipairs {0, -1, 0.5, "x"} do
        raises("limit: a number of bytes expected", read, path, {limit = wrong})
      end
    end
    local png = la.image.encode(la.zeros(3000, 3000), "png")
    assert.is_true(#png < 100000)
    raises("9000000 bytes, more than", la.image.decode, png, {limit = 8999999})
  end)
end)

describe("tensors of dtypes that there are none of", function()
  it("are noted", function()
    local header = '{"w":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},'
      .. '"x":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}'
    header = header .. (" "):rep(-#header % 8)
    local file = assert(io.open(files:path "w.safetensors", "wb"))
    file:write(string.pack("<I8", #header) .. header .. "\1\2\3\4")
    file:close()
    local t, _, skipped = la.load(files:path "w.safetensors",
      {metadata = true, limit = 1000})
    assert.same({3, 4}, t.x:totable())
    assert.is_nil(t.w)
    assert.same({w = "F8_E4M3"}, skipped)
  end)
end)
