-- Files of Torch7, written by the description of the format: sound ones in all
-- their forms, and what is refused.
local la = require "lunarray"
local folder = require "spec.support.folder"
local raises = require "spec.support.raises"
local write = require "modules.torch7.spec.write"

local files
setup(function() files = folder.new() end)
teardown(function() files:remove() end)

local FORMS = {{}, {long = 4}, {text = true}}

local function load(bytes, options)
  return la.load(files:write("x.t7", bytes), options)
end

local function each_form(f)
  for _, form in ipairs(FORMS) do f(form) end
end

describe("a file of Torch7", function()
  it("holds numbers, texts, booleans and tables", function()
    local list = {10, 20, 30}
    local value = {x = 1, y = -2.5, z = 1e300, text = "a\nb\0c", empty = "",
                   yes = true, no = false, list = list, again = list,
                   [7] = "seven", [2.5] = "float", nested = {{{}}}}
    each_form(function(form)
      local got = load(write(value, form))
      assert.same(value, got)
      assert.is_true(rawequal(got.list, got.again))
      assert.equal("integer", math.type(got.x))
    end)
    assert.equal(5, load(write(5)))
    assert.equal("s", load(write("s", {text = true})))
    assert.is_nil(load(write(nil)))
  end)

  it("holds tensors of all types", function()
    local values = {1, 2, 3, 100, 5, 6}
    for kind, dtype in pairs {
      Byte = "uint8", Char = "int8", Short = "int16", Int = "int32",
      Long = "int64", Float = "float32", Double = "float64", Cuda = "float32",
      CudaDouble = "float64"} do
      each_form(function(form)
        local data = {storage = kind, table.unpack(values)}
        local got = load(write({
          x = {tensor = kind, sizes = {2, 3}, strides = {3, 1}, data = data},
          t = {tensor = kind, sizes = {3, 2}, strides = {1, 3}, data = data},
          last = {tensor = kind, sizes = {2}, strides = {1}, offset = 5,
                  data = data},
          none = {tensor = kind, sizes = {}, strides = {}, data = nil},
          flat = data}, form))
        assert.equal(dtype, got.x.dtype)
        assert.same({{1, 2, 3}, {100, 5, 6}}, got.x:totable())
        assert.same({{1, 100}, {2, 5}, {3, 6}}, got.t:totable())
        assert.same({5, 6}, got.last:totable())
        assert.same({0}, got.none.shape)
        assert.same(values, got.flat:totable())
        got.x:fill_(9)
        assert.same({9, 9}, got.last:totable())
        assert.equal(9, got.flat[1]:item())
      end)
    end
    local half = load(write {tensor = "Half", sizes = {2}, strides = {1},
                             data = {storage = "Half", 0x3c00, 0xc000}})
    assert.same({1, -2}, half:totable())
    assert.same({1.5, -math.huge}, load(write({storage = "Double", 1.5,
      -math.huge}, {text = true})):totable())
  end)

  it("maps tensors where they are aligned", function()
    local data = {storage = "Byte", 1, 2, 3, 4}
    files:write("x.t7", write {tensor = "Byte", sizes = {2, 2},
                               strides = {2, 1}, data = data})
    local x = la.mmap(files:path "x.t7")
    assert.same({{1, 2}, {3, 4}}, x:totable())
    raises("read", function() x:zero_() end)
  end)

  it("holds objects as tables with their class", function()
    local weight = {tensor = "Float", sizes = {1, 2}, strides = {2, 1},
                    data = {storage = "Float", 0.5, 0.25}}
    local linear = {class = "nn.Linear", fields = {weight = weight,
                                                   train = false}}
    each_form(function(form)
      local net = load(write({class = "nn.Sequential",
        fields = {modules = {linear, {class = "nn.ReLU", old = true,
                                      fields = {inplace = true}}}}}, form))
      assert.equal("nn.Sequential", net.__class)
      assert.equal("nn.Linear", net.modules[1].__class)
      assert.same({{0.5, 0.25}}, net.modules[1].weight:totable())
      assert.equal("nn.ReLU", net.modules[2].__class)
      assert.is_true(net.modules[2].inplace)
    end)
  end)

  it("leaves out functions, and names them", function()
    local inner = {1, 2}
    for _, numbered in ipairs {false, true} do
      each_form(function(form)
        local value = {a = {f = {code = "\27Lua bytecode", upvalues = {inner},
                                 numbered = numbered}}, z = 1}
        local got, texts, skipped = load(write(value, form), {metadata = true})
        assert.same({a = {}, z = 1}, got)
        assert.same({}, texts)
        assert.same({["a.f"] = "function"}, skipped)
      end)
    end
    -- an object that is read in the upvalues is meant again behind them
    local code = {code = "x", upvalues = {inner}, numbered = true}
    assert.same({[2] = {1, 2}, [3] = 3}, load(write({code, inner, 3})))
    -- a function may hold itself, and what holds it
    local loop = {code = "x", numbered = true}
    local outer = {f = loop, n = 1}
    loop.upvalues = {loop, outer}
    assert.same({n = 1}, load(write(outer)))
  end)
end)

describe("what is damaged", function()
  local sound = {
    name = "net", f = {code = "code", upvalues = {}},
    layer = {class = "nn.Linear", fields = {bias = {tensor = "Float",
      sizes = {3}, strides = {1}, data = {storage = "Float", 1, 2, 3}}}},
  }

  it("is refused when it is cut anywhere", function()
    for _, form in ipairs {{}, {text = true}} do
      local bytes = write(sound, form)
      for n = 0, #bytes - 2 do
        local message = raises("x.t7", load, bytes:sub(1, n))
        assert.truthy(message:find "byte" or message:find "truncated", message)
      end
    end
  end)

  it("gives an error or another value when a byte differs", function()
    for _, form in ipairs(FORMS) do
      local bytes = write(sound, form)
      for n = 1, #bytes do
        for _, flip in ipairs {1, 16, 128, 255} do
          pcall(load, bytes:sub(1, n - 1)
            .. string.char(bytes:byte(n) ~ flip) .. bytes:sub(n + 1))
        end
      end
    end
  end)

  it("is refused for counts that cannot be", function()
    for _, count in ipairs {math.maxinteger, 1 << 40, -1, 5, 1 << 62} do
      raises("more elements than there are bytes", load,
        write {storage = "Float", count = count, 1, 2, 3})
      raises("more elements than there are bytes", load,
        write({storage = "Float", count = count, 1, 2, 3}, {text = true}))
    end
    raises("more bytes than are left", load, "\2\0\0\0\xff\xff\xff\x7f")
    raises("more bytes than are left", load, "\3\0\0\0\1\0\0\0\xff\xff\xff\x7f")
    raises("tag", load, "\9\0\0\0\1\0\0\0")
    for _, bad in ipairs {
      {sizes = {4}, strides = {1}}, {sizes = {2}, strides = {3}},
      {sizes = {3}, strides = {1}, offset = 2},
      {sizes = {3}, strides = {1}, offset = 0},
      {sizes = {-1}, strides = {1}}, {sizes = {2}, strides = {-1}},
      {sizes = {math.maxinteger, 2}, strides = {1, 1}},
      {sizes = {2}, strides = {math.maxinteger}},
    } do
      bad.tensor = "Float"
      bad.data = {storage = "Float", 1, 2, 3}
      raises("w, byte", load, write {w = bad})
    end
    raises("its type", load, write {tensor = "Double", sizes = {1},
      strides = {1}, data = {storage = "Float", 1}})
    raises("a storage expected", load, write {tensor = "Float", sizes = {1},
      strides = {1}, data = "storage"})
  end)

  it("is at most 64 deep, and does not hold itself", function()
    local function nested(n)
      local t = {}
      for _ = 2, n do t = {t} end
      return t
    end
    assert.truthy(load(write(nested(64))))
    raises("nested too deep", load, write(nested(65)))
    local itself = {}
    itself[1] = itself
    raises("a cycle", load, write(itself))
    local f = {code = "", numbered = false, upvalues = nil}
    local bytes = ""
    for _ = 1, 100 do bytes = bytes .. "\6\0\0\0\0\0\0\0" end
    raises("nested too deep", load, bytes)
    assert.is_nil(load(write(f)))
  end)

  it("is refused by the limit", function()
    raises("more than the limit", load, write(sound), {limit = 10})
  end)
end)
