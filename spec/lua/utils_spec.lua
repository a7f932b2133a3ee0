-- Functions of Lua over elements, storages, hashes, settings of determinism.
local la = require "lunarray"
local stock = require "spec.support.interpreter"

local raises = require "spec.support.raises"

describe("apply_ and map_", function()
  it("call the function in row-major order", function()
    local seen, x = {}, la.arange(6):view(2, 3).mT
    local same = x:apply_(function(v)
      seen[#seen + 1] = v
      return v > 2 and v * 10 or nil
    end)
    assert.is_true(rawequal(same, x))
    assert.same({0, 3, 1, 4, 2, 5}, seen)
    assert.same({{0, 30}, {1, 40}, {2, 50}}, x:totable())
  end)

  it("give every dtype its own numbers", function()
    for _, name in ipairs(la.config().dtypes) do
      local kind = la.zeros(1, {dtype = name})
      local x = la.ones(3, {dtype = name})
      local want = kind:is_complex() and "float" or name == "bool" and "boolean"
        or kind:is_floating_point() and "float" or "integer"
      x:apply_(function(v, w)
        assert.equal(want, math.type(v) or type(v))
        assert.equal(kind:is_complex(), w ~= nil)
        return name ~= "bool" and 0 or false
      end)
      assert.is_false(x:any())
    end
    local c = la.zeros(2, {dtype = "complex64"})
    c:apply_(function(re, im) return re + 1, im + 2 end)
    assert.same({{1.0, 2.0}, {1.0, 2.0}}, c:totable())
    c:apply_(function() return la.complex(3.0, 4.0) end)
    assert.same({5.0, 5.0}, c:abs():totable())
  end)

  it("read lazy bits as values", function()
    local c = la.complex(la.tensor{1.0}, la.tensor{2.0}):conj()
    c:apply_(function(re, im) return re, im * 2 end)
    assert.same({{1.0, -4.0}}, c:totable())
  end)

  it("broadcast the other tensors", function()
    local x = la.zeros(2, 3, {dtype = "int64"})
    x:map_(la.tensor{1, 2, 3}, function(a, b) return a + b end)
    x:map2_(la.tensor{{10}, {20}}, la.tensor(100), function(a, b, c)
      return a + b + c
    end)
    assert.same({{111, 112, 113}, {121, 122, 123}}, x:totable())
    raises("expand", x.map_, x, la.ones(4), math.max)
  end)

  it("leave the tensor as it was after an error", function()
    local x = la.tensor{1, 2, 3}
    local version = x._version
    raises("stop", x.apply_, x, function(v)
      if v == 3 then error "stop" end
      return 0
    end)
    raises("1.5", x.apply_, x, function() return 1.5 end)
    raises("must return a number, got string", x.apply_, x, tostring)
    assert.same({1, 2, 3}, x:totable())
    assert.equal(version, x._version)
    x:apply_(function(v) return v end)
    assert.is_true(x._version > version)
  end)

  it("survive a function that frees or resizes", function()
    local x = la.ones(1000)
    raises("freed", x.apply_, x, function(v) x:free() return v end)
    local y, z = la.ones(1000), la.ones(1000)
    y:map_(z, function(a, b) z:free() collectgarbage "step" return a + b end)
    assert.equal(2000, y:sum():item())
    local w = la.ones(3)
    raises("changed the tensor's shape", w.apply_, w, function(v)
      w:resize_(100)
      return v
    end)
  end)

  it("refuse a yield, gradients, the meta device and other arguments",
     function()
    local x = la.ones(2)
    raises("yield", coroutine.wrap(function() x:apply_(coroutine.yield) end))
    local g = la.ones(2, {requires_grad = true})
    raises("requires grad", g.apply_, g, math.sqrt)
    raises("requires grad", x.map_, x, g, math.max)
    local m = la.ones(2, {device = "meta"})
    raises("has no data", m.apply_, m, math.sqrt)
    raises("function expected, got number", x.apply_, x, 3)
    raises("tensor expected", x.map_, x, math.max)
    local callable = setmetatable({}, {__call = function(_, v) return -v end})
    assert.same({-1.0, -1.0}, x:apply_(callable):totable())
    assert.equal(0, la.zeros(0, 3):apply_(error):numel())
    assert.equal(2.0, la.tensor(4.0):apply_(math.sqrt):item())
  end)
end)

describe("from_function", function()
  it("calls with coordinates from one", function()
    local x = la.from_function({2, 3}, function(i, j) return 10 * i + j end)
    assert.equal("int64", x.dtype)
    assert.same({{11, 12, 13}, {21, 22, 23}}, x:totable())
    assert.same({1, 2}, la.from_function(2, function(i) return i end):totable())
  end)

  it("takes the dtype of the values, as tensor does", function()
    local function of(...)
      local list = {...}
      return la.from_function({#list}, function(i) return list[i] end)
    end
    for _, list in ipairs{{true, false}, {1, 2}, {1, 2.5}, {true, 2}, {2, 1.5,
        1}} do
      local want = la.tensor(list)
      local got = of(table.unpack(list))
      assert.equal(want.dtype, got.dtype)
      assert.is_true(want == got)
    end
    assert.equal("complex64", of(1, la.complex(1.0, 2.0)).dtype)
    assert.equal("float32", la.from_function({0, 2}, error).dtype)
    assert.equal(7, la.from_function({}, function() return 7 end):item())
  end)

  it("takes options", function()
    local x = la.from_function({2}, function(i) return i end, {
      dtype = "float64", requires_grad = true, names = {"N"}})
    assert.equal("float64", x.dtype)
    assert.is_true(x.requires_grad)
    assert.same({"N"}, x.names)
    assert.equal("uint8", la.from_function(2, function(i) return i end,
      "uint8").dtype)
    raises("unknown keyword", la.from_function, {2}, print, {size = 3})
  end)

  it("names the element of a wrong value", function()
    raises("element {1, 2}: number expected, got nil", la.from_function, {2, 2},
           function(_, j) return j == 1 and 1 or nil end)
    raises("element {2}: ", la.from_function, {2},
           function(i) return i * 200 end, "uint8")
    raises("function expected", la.from_function, {2}, 3)
    raises(nil, la.from_function, {-2}, print)
  end)
end)

describe("la.describe", function()
  it("takes no table at its word", function()
    local own = {}
    own.describe = la.describe
    for _, x in ipairs{la, own, {describe = 3}, {}} do
      raises("(tensor expected, got table)", la.describe, x)
    end
  end)
end)

describe("storage", function()
  it("is one object for all tensors on the same memory", function()
    local x = la.ones(4)
    local s = x:storage()
    assert.is_true(rawequal(s, x[{{2, 3}}]:storage()))
    assert.is_true(rawequal(s, x:detach():storage()))
    assert.is_false(s == x:clone():storage())
    assert.equal(16, #s)
    assert.equal(16, s:nbytes())
    assert.is_false(s:is_fixed())
    assert.equal("lunarray.Storage of 16 bytes", tostring(s))
    assert.is_false(getmetatable(s) == nil)
    assert.equal("yes", ({[s] = "yes"})[x:view(2, 2):storage()])
  end)

  it("keeps the memory when the tensor is gone", function()
    local x = la.ones(1000)
    local s = x:storage()
    x:free()
    collectgarbage()
    assert.equal(4000, #s)
    raises("freed", x.storage, x)
    assert.equal(0, #la.zeros(0):storage())
    assert.truthy(tostring(la.ones(2, {device = "meta"}):storage()):find "meta")
  end)
end)

describe("share", function()
  it("gives the same elements under a handle, once", function()
    local x = la.arange(6):view(2, 3)
    local handle = x:t():share()
    assert.equal("string", type(handle))
    local y = la.open(handle)
    assert.same({3, 2}, {y:size()})
    assert.is_true(rawequal(x:storage(), y:storage()))
    y[{1, 2}] = 40
    assert.equal(40, x[{2, 1}]:item())
    y:t_()                                -- a header of its own
    assert.same({2, 3}, {x:size()})
    raises("opened once", la.open, handle)
    assert.not_equal(x:share(), x:share())
  end)

  it("keeps the memory of a tensor that is gone", function()
    local x = la.full({3}, 7)
    local handle = x:share()
    x:free()
    collectgarbage()
    assert.same({7, 7, 7}, la.open(handle):totable())
    assert.equal(0, la.open(la.zeros(0):share()):numel())
  end)

  it("gives a handle of many to any number of readers", function()
    local x = la.arange(6):view(2, 3)
    local handle = x:t():share{many = true}
    local a, b = la.open(handle), la.open(handle)
    assert.same({{0, 3}, {1, 4}, {2, 5}}, a:totable())
    a:t_()
    assert.same({3, 2}, {b:size()})
    x[{1, 2}] = 40
    assert.equal(40, a[{1, 2}]:item())
    raises("read-only", b.add_, b, 1)
    raises("read-only", b[1].zero_, b[1])
    raises("not resizable", x.resize_, x, 100)
    x:set_(la.arange(2))
    x:free()
    collectgarbage()
    assert.equal(40, b[{2, 1}]:item())
    la.unshare(handle)
    raises("no tensor waits", la.open, handle)
    raises("no tensor waits", la.unshare, handle)
    assert.equal(40, b[{2, 1}]:item())
    raises("unknown keyword", x.share, la.ones(1), {more = true})
    raises("many: boolean expected", x.share, la.ones(1), {many = 1})
    raises("table of options expected", x.share, la.ones(1), 1)
    raises("lazy bits", function()
      error(select(2, pcall(x.share, la.complex(la.ones(1), la.ones(1)):conj(),
        {many = true})):find("resolve_conj", 1, true) and "lazy bits", 0)
    end)
  end)

  it("leaves bytes to whom they were lent", function()
    local x = la.ones(200000)
    local y = la.from_dlpack(la.to_dlpack(x))
    raises("not resizable", x.resize_, x, 4000000)
    x:set_(la.zeros(3))
    collectgarbage()
    assert.equal(200000, y:sum():item())
  end)

  it("refuses what cannot go", function()
    raises("share x:detach()", function()
      la.ones(2, {requires_grad = true}):share()
    end)
    raises("no data", function() la.ones(2, {device = "meta"}):share() end)
    raises("handle of x:share() expected, got no value", la.open)
    raises("another string", la.open, "lunarray:zz")
    raises("no tensor waits", la.open, "lunarray:" .. ("0"):rep(32))
    raises("another string", la.open, "lunarray:" .. ("0"):rep(31) .. "\0")
  end)
end)

describe("hash", function()
  it("is XXH64 of dtype, sizes and elements", function()
    -- computed with the xxhash package of Python (64 bits, seed 0)
    assert.equal(-5415766489889988527, la.hash(la.zeros(0)))
    raises("tensor expected, got no value", la.hash)
    assert.equal(2405169974301245685, la.hash(la.eye(3)))
    assert.equal(4720198445261475585,
                 la.hash(la.arange(1000, {dtype = "int16"})))
    assert.equal(-8790425397297042354, la.hash(la.complex(la.tensor{1.0, 2.0},
                                                  la.tensor{3.0, 4.0})))
  end)

  it("is the same for every layout and differs by value", function()
    local x = la.arange(60):view(3, 4, 5)
    assert.equal(la.hash(x:permute(3, 1, 2):contiguous()),
                 la.hash(x:permute(3, 1, 2)))
    assert.equal(la.hash(x[2]), la.hash(x[2]:clone()))
    local c = la.complex(la.ones(2), la.ones(2))
    assert.equal(la.hash(c:conj():resolve_conj()), la.hash(c:conj()))
    assert.not_equal(la.hash(c), la.hash(c:conj()))
    assert.not_equal(la.hash(la.tensor{0.0}), la.hash(la.tensor{-0.0}))
    assert.not_equal(la.hash(x), la.hash(x:view(12, 5)))
    assert.not_equal(la.hash(la.zeros(2)), la.hash(la.zeros(2, {
      dtype = "int32"})))
    raises("meta", la.hash, la.ones(2, {device = "meta"}))
  end)
end)

describe("use_deterministic", function()
  it("is a setting of the state", function()
    assert.is_false(la.are_deterministic_algorithms_enabled())
    la.use_deterministic(true)
    assert.is_true(la.are_deterministic_algorithms_enabled())
    la.use_deterministic("strict")
    assert.equal("strict", la.are_deterministic_algorithms_enabled())
    la.use_deterministic(false)
    assert.is_false(la.are_deterministic_algorithms_enabled())
    raises("boolean, \"strict\" or \"lockstep\" expected, got nil",
           la.use_deterministic, nil)
  end)

  it("strict gives the bits of a processor without extensions", function()
    local code = [[
      local la = require "lunarray"
      if arg[1] then la.use_deterministic(arg[1]) end
      la.manual_seed(1)
      local x = la.randn(3, 70, 300, {dtype = "bfloat16"})
      local y = la.randn(3, 300, 90, {dtype = "bfloat16"})
      print(la.hash(x:matmul(y)), la.hash(x[1]:matmul(y[1])))]]
    local name = os.tmpname()
    local file = assert(io.open(name, "w"))
    file:write(code)
    file:close()
    local function run(cap, mode)
      local pipe = assert(io.popen(("%s LUA_CPATH='%s' %s %s %s 2>&1")
        :format(cap, package.cpath, stock.program, name, mode)))
      local text = pipe:read "a"
      pipe:close()
      return text
    end
    local cap = la.config().cpu_capability
    assert.equal(run("LUNARRAY_CPU=" .. cap, ""), run("", "strict"))
    assert.equal(run("LUNARRAY_CPU=" .. cap:upper(), ""), run("", "strict"))
    os.remove(name)
  end)
end)

describe("the size of a complex number", function()
  it("is right for one that came from Lua", function()
    local c = la.complex(3.0, 4.0)
    assert.equal(5.0, c:abs():item())
    assert.equal("float32", c:abs().dtype)
    assert.is_true(math.abs(c:angle():item() - math.atan(4, 3)) < 1e-6)
    assert.equal(5.0, c:to("complex128"):clone():abs():item())
  end)
end)

describe("DLPack", function()
  it("shares the memory through a pointer", function()
    local x = la.arange(6):view(2, 3).mT
    for _, versioned in ipairs{false, true} do
      local o = {versioned = versioned}
      local y = la.from_dlpack(x:to_dlpack(o), o)
      assert.is_true(y == x)
      assert.same({x:stride()}, {y:stride()})
      y[{1, 1}] = 9
      assert.equal(9, x:item(1, 1))
      x[{1, 1}] = 0
    end
    local y = la.from_dlpack(la.to_dlpack(la.ones(1000)))
    collectgarbage()
    assert.equal(1000, y:sum():item())
    assert.is_true(rawequal(x, la.from_dlpack(x)))
  end)

  it("tells the versioned struct from the older one", function()
    for _, o in ipairs{{versioned = true}, {versioned = false}, {}} do
      local x = la.arange(6):view(2, 3).mT
      assert.is_true(la.equal(x, la.from_dlpack(x:to_dlpack(o))))
      assert.is_true(la.equal(x, la.from_dlpack(x:to_dlpack(o), {})))
      local none = la.from_dlpack(la.empty(0, 3):to_dlpack(o))
      assert.same({0, 3}, {none:size()})
    end
    raises("table of options expected, got number", la.from_dlpack, 3, 5)
  end)

  it("refuses a struct that a tensor has already", function()
    for _, o in ipairs{{versioned = true}, {versioned = false}} do
      local pointer = la.ones(3):to_dlpack(o)
      local x = la.from_dlpack(pointer)
      raises("a tensor has this struct already", la.from_dlpack, pointer)
      raises("a tensor has this struct already", la.from_dlpack, pointer, o)
      raises("unknown keyword 'copy'", la.from_dlpack, pointer, {copy = true})
      assert.same({1, 1, 1}, x:totable())
    end
  end)

  it("copies where that is asked for, and knows its options", function()
    local x = la.arange(3)
    local y = la.from_dlpack(x:to_dlpack{copy = true})
    y[1] = 7
    assert.equal(0, x:item(1))
    raises("unknown keyword 'version'", la.to_dlpack, x, {version = true})
    raises("unknown keyword 'copy'", la.from_dlpack, x, {copy = true})
  end)

  it("refuses what has other bytes, a gradient or no data", function()
    local c = la.ones(2, {dtype = "complex64"})
    raises("resolve_conj", la.to_dlpack, c:conj())
    raises("requires grad", la.to_dlpack, la.ones(2, {requires_grad = true}))
    raises("on the CPU", la.to_dlpack, la.ones(2, {device = "meta"}))
    raises("light userdata", la.from_dlpack, 3)
  end)
end)
