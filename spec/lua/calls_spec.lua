-- The path of a call: arguments read the quick way and the long way agree,
-- what is no tensor is told apart, dead handles do not pile up.
local la = require "lunarray"
local cycles = require "spec.support.cycles"
local stock = require "spec.support.interpreter"

local raises = require "spec.support.raises"

describe("arguments by position and by name", function()
    local x = la.arange(1, 25):view(2, 3, 4):to("float32")

    local function same(a, b)
        if type(a) ~= "userdata" then return assert.equal(a, b) end
        assert.same(a.shape, b.shape)
        assert.same(a.dtype, b.dtype)
        assert.same(a:totable(), b:totable())
        assert.same({a:stride()}, {b:stride()})
    end

    local pairs_of_calls = {
        {"select", {2, -1}, {dim = 2, index = -1}},
        {"slice", {3, 2, 4, 2}, {dim = 3, first = 2, last = 4, step = 2}},
        {"slice", {-1, 2}, {dim = -1, first = 2}},
        {"narrow", {1, 2, 1}, {dim = 1, start = 2, length = 1}},
        {"transpose", {1, -1}, {dim0 = 1, dim1 = -1}},
        {"unsqueeze", {-1}, {dim = -1}},
        {"view", {4, -1}, {size = {4, -1}}},
        {"permute", {3, 1, 2}, {dims = {3, 1, 2}}},
        {"sum", {2}, {dim = 2}},
        {"sum", {2, true}, {dim = 2, keepdim = true}},
        {"addcmul", {x, 2}, {tensor1 = x, tensor2 = 2}},
        {"add", {2.5}, {other = 2.5}},
        {"clamp", {3, 7}, {min = 3, max = 7}},
        {"roll", {1, 2}, {shifts = 1, dims = 2}},
        {"diagonal", {1, 1, 2}, {offset = 1, dim1 = 1, dim2 = 2}},
        {"leaky_relu", {0.5}, {negative_slope = 0.5}},
    }
    for k, c in ipairs(pairs_of_calls) do
        it(("are the same to %s (%d)"):format(c[1], k), function()
            same(x[c[1]](x, table.unpack(c[2])), x[c[1]](x, c[3]))
            same(la[c[1]] and la[c[1]](x, table.unpack(c[2]))
                or x[c[1]](x, table.unpack(c[2])), x[c[1]](x, c[3]))
        end)
    end

    it("are refused in the same words", function()
        local y = la.zeros(2, 3)
        raises("bad argument #2 to 'select' (dimension expected, got '1': the "
            .. "tensor has no names)", y.select, y, "1", 1)
        raises("bad argument #2 to 'select' "
            .. "(dimension 0: counting starts at 1)",
            y.select, y, 0, 1)
        raises("bad argument #3 to 'select' (index 0: counting starts at 1)",
            y.select, y, 1, 0)
        raises("bad argument #3 to 'select' (number has no integer "
            .. "representation)", y.select, y, 1, 1.5)
        raises("(number has no integer representation)", y.view, y, 6.5)
        raises("bad argument #3 to 'permute' (dimension expected, got '1': the "
            .. "tensor has no names)", y.permute, y, 2, "1")
        raises("bad argument #3 to 'transpose'", y.transpose, y, 1)
        raises("bad argument #2 to 't' (at most 1 arguments expected, got 2)",
            y.t, y, 1)
        raises("bad argument #3 to 'sum' (boolean expected, got number)",
            y.sum, y, 1, 1)
        raises("bad argument #1 to 'select' (tensor expected, got number)",
            y.select, 3, 1, 1)
        raises("bad argument #2 to 'add' "
            .. "(tensor or number expected, got table: "
            .. "a tensor of a list is la.tensor{...})",
            y.add, y, {{}}, 1)
        assert.same({1, 3}, y:select(1.0, 2.0):view(1, 3).shape)
    end)

    it("name the function once when they are refused", function()
        for _, name in ipairs {"max", "min", "amax", "aminmax"} do
            local _, err = pcall(la[name], la.zeros(0))
            local _, count = err:gsub("%f[%w]" .. name .. "%f[%W]", "")
            assert.equal(1, count, err)
        end
    end)

    it("may be nil by position where nil is a value", function()
        local y = la.tensor {1.0, 2.0, 4.0}
        assert.equal(y:var(false):item(), y:var(nil, false):item())
        assert.equal(y:std(true):item(), y:std(nil, true, false):item())
        assert.same({1}, y:std(nil, true, true).shape)
        raises("bad argument #1 to 'select' "
            .. "(tensor or number expected, got nil)",
            la.select, nil, 1, 1)
        raises("bad argument #2 to 'select' (number expected, got nil)",
            la.select, y, nil, 1)
    end)

    it("knows the memory formats by one list", function()
        local y = la.zeros(2, 3, 4, 5):contiguous("channels_last")
        assert.is_true(y:is_contiguous("channels_last"))
        assert.is_true(y:is_contiguous {memory_format = "channels_last"})
        assert.is_false(y:is_contiguous())
        raises("bad argument #2 to 'is_contiguous' (memory format expected",
            y.is_contiguous, y, "channels_last\0")
        raises("bad argument #2 to 'is_contiguous' (memory format expected",
            y.is_contiguous, y, 3)
        raises("unknown memory format 'nhwc'", y.contiguous, y, "nhwc")
    end)

    it("sees a tensor that was freed, at each position", function()
        local dead = la.ones(2)
        dead:free()
        raises("bad argument #1 to 'select' (tensor was freed)", la.select,
            dead, 1, 1)
        raises("bad argument #2 to 'add' (tensor was freed)", la.add,
            la.ones(2), dead)
        raises("tensor was freed", function() return dead + 1 end)
        raises("tensor was freed", function() return 1 + dead end)
        raises("tensor was freed", function() return dead[1] end)
        raises("tensor was freed", function() return dead.shape end)
        raises("bad argument #1 to 'item' (tensor was freed)", dead.item, dead)
    end)

    it("frees in a finalizer between the arguments and the result", function()
        for _ = 1, 300 do
            local y = la.ones(3)
            setmetatable({}, {__gc = function() y:free() end})
            local ok, r
            stock.without_pause(function()
                ok, r = pcall(y.slice, y, 1, 2, 3)
            end)
            if ok then assert.equal(2, r:numel())
            else assert.truthy(r:find("tensor was freed", 1, true)) end
        end
    end)

    it("takes no light userdata or foreign userdata for a tensor", function()
        local up = {}
        local light = debug.upvalueid(function() return up end, 1)
        assert.equal("userdata", type(light))
        for _, v in ipairs {light, io.stdout} do
            raises("bad argument #1 to 'sum' (tensor expected", la.ones(2).sum,
                   v)
            raises("bad argument #2 to 'add' (tensor or number expected",
                la.add, la.ones(2), v)
            assert.is_false(la.ones(2) == v)
        end
    end)

    it("gives numbers back when the call is made again", function()
        -- A first try without memory, then one after a collection.
        local y = la.ones(100000)
        collectgarbage()
        local used = la.memory()
        la.set_memory_limit(used + 900000)
        collectgarbage("stop")
        for k = 1, 6 do
            local z = y + k
            assert.equal(1 + k, z:item(100000))
            z = (k + 0.25) - y
            assert.equal(k - 0.75, z:item(100000))
            z = y * true
            assert.equal(1, z:item(100000))
        end
        collectgarbage("restart")
        la.set_memory_limit(0)
    end)
end)

describe("a tensor from a list", function()
    it("is the same from a short list and from a long one", function()
        for _, n in ipairs {1, 2, 7, 8, 9, 15, 16, 17, 33} do
            local list, sum = {}, 0
            for k = 1, n do
                list[k] = k + 0.25
                sum = sum + list[k]
            end
            local x = la.tensor(list, "float64")
            assert.same(list, x:totable())
            assert.equal(sum, x:sum():item())
        end
        for _, shape in ipairs {{2, 3}, {4, 4}, {2, 3, 4}, {1, 16, 1}} do
            local n = 1
            for _, d in ipairs(shape) do n = n * d end
            local x = la.arange(0, n):view(table.unpack(shape))
            assert.same(x:totable(), la.tensor(x:totable()):totable())
            assert.equal("int64", la.tensor(x:totable()).dtype)
        end
    end)
    it("has the widest kind, wherever it stands", function()
        assert.equal("bool", la.tensor {true, false}.dtype)
        assert.equal("int64", la.tensor {true, 2}.dtype)
        assert.equal("float32", la.tensor {{1, 2}, {3, 0.5}}.dtype)
        assert.same({1, 2, 7}, la.tensor({1, la.tensor(2), 7}):totable())
    end)
    it("names the position of what does not fit", function()
        raises("[2][3]: number expected, got string", la.tensor,
            {{1, 2, 3}, {4, 5, "6"}})
        raises("[2]: table of 2 elements expected, got number", la.tensor,
            {{1, 2}, 3})
        raises("[2]: 2 elements expected, got 3", la.tensor,
            {{1, 2}, {3, 4, 5}})
        raises("[2][1]: ", la.tensor, {{1, 2}, {300, 4}}, "uint8")
        raises("[1][2]: number expected, got table", la.tensor,
               {{1, {}}, {2, 3}})
        local long = {}
        for k = 1, 20 do long[k] = k end
        long[19] = 256
        raises("[19]: ", la.tensor, long, "uint8")
        long[19] = {}
        raises("[19]: number expected, got table", la.tensor, long)
    end)
    it("asks a table's own length and elements", function()
        local t = setmetatable({}, {__len = function() return 3 end,
            __index = function(_, k) return k * 10 end})
        assert.same({10, 20, 30}, la.tensor(t):totable())
        assert.same({{10, 20, 30}, {1, 2, 3}}, la.tensor {t, {1, 2, 3}}
            :totable())
    end)
end)

describe("keys of a tensor", function()
    local x = la.arange(1, 7):view(2, 3)
    it("are methods, attributes, indices", function()
        assert.equal("function", type(x.sum))
        assert.equal(2, x.ndim)
        assert.is_nil(x.no_such_name)
        assert.is_nil(x[""])
        assert.same({4, 5, 6}, x[2]:totable())
        assert.same({4, 5, 6}, x[-1]:totable())
        assert.same(x:totable(), x["..."]:totable())
        assert.same({3, 6}, x[{"...", 3}]:totable())
        raises("index 3 is out of bounds", function() return x[3] end)
        raises("index 0 is out of bounds", function() return x[0] end)
    end)
    it("select through an operation where somebody is told", function()
        local y = la.arange(0, 6):view(2, 3):to("float64"):requires_grad_()
        ;(y[-1] * y[2]):sum():backward()
        assert.same({{0, 0, 0}, {6, 8, 10}}, y.grad:totable())
        raises("index 3 is out of bounds for dimension 1 with size 2",
            function() return y[3] end)
        assert.same({"C"}, la.zeros(2, 3, {names = {"N", "C"}})[1].names)
        local meta = la.zeros(2, 3, {device = "meta"})[2]
        assert.equal("meta", meta.device)
        assert.same({3}, meta.shape)
        raises("Use x:item() to convert a 0-dim tensor to a number",
            function() return la.tensor(1.0):requires_grad_()[1] end)
    end)
    it("can be written with '...'", function()
        local y = la.zeros(2)
        y["..."] = 3
        assert.same({3, 3}, y:totable())
    end)
end)

describe("t", function()
    it("is a view with a derivative of its own", function()
        local x = la.arange(1, 7):view(2, 3):to("float64"):requires_grad_()
        local y = x:t()
        assert.same({3, 2}, y.shape)
        assert.same({1, 3}, {y:stride()})
        local w = la.arange(1, 7):view(3, 2):to("float64")
        ;(y * w * y):sum():backward()
        assert.same((x:detach() * 2 * w:t()):totable(), x.grad:totable())
        local leaf = la.zeros(2, 2)
        leaf:t()[1] = la.tensor {1, 2}
        assert.same({{1, 0}, {2, 0}}, leaf:totable())
    end)
    it("leaves vectors and numbers as they are", function()
        assert.same({1, 2}, la.tensor({1, 2}):t():totable())
        assert.equal(7, la.tensor(7):t():item())
        raises("t() expects a tensor with <= 2 dimensions, but self is 3D",
            la.t, la.zeros(1, 1, 1))
    end)
    it("transposes names", function()
        assert.same({"C", "N"}, la.zeros(2, 3, {names = {"N", "C"}}):t().names)
    end)
end)

-- One view takes the same memory each time, so dead ones can be counted.
local function most_dead(live, rounds)
    local keep = {}
    for k = 1, live do keep[k] = {k} end
    local m = la.zeros(2, 2)
    collectgarbage()
    local before, most, s = la.memory(), 0, nil
    s = m[1]
    local size = la.memory() - before
    for k = 1, rounds do
        s = m[2]
        if k % 16 == 0 then
            most = math.max(most, (la.memory() - before) // size)
        end
    end
    assert.equal(2, s:numel())
    assert.equal(live, #keep)
    return most
end

describe("dead tensors", function()
    for _, mode in ipairs {"generational", "incremental"} do
        for _, live in ipairs {0, 20000} do
            it(("stay few in %s mode with %d tables"):format(mode, live),
            function()
                local old = collectgarbage(mode)
                assert.is_true(most_dead(live, 12000) <= 5000)
                collectgarbage(old)
            end)
        end
    end
    it("stay few when the mode changes on the way", function()
        local old = collectgarbage("generational")
        for k = 1, 6 do
            assert.is_true(most_dead(0, 4000) <= 5000)
            collectgarbage(k % 2 == 0 and "generational" or "incremental")
        end
        collectgarbage(old)
    end)
    it("are left alone while the host has stopped its collector", function()
        collectgarbage()
        collectgarbage("stop")
        local m, ended, s = la.zeros(2), 0, nil
        for k = 1, 9000 do
            s = m[1]
            if k == 1 then
                setmetatable({}, {__gc = function() ended = ended + 1 end})
            end
        end
        assert.equal(0, ended)
        collectgarbage("restart")
        assert.equal(0, s:item())
    end)
    it("are not paid with a walk over the heap for each result", function()
        local pipe = assert(io.popen(("LUA_CPATH='%s' LUA_PATH='%s' %s "
            .. "spec/support/cycles.lua"):format(package.cpath, package.path,
            stock.program)))
        local n, most = pipe:read("n", "n")
        pipe:close()
        assert.is_true(n > 1 and n < 200, n)
        assert.is_true(most < 20000000, most)
    end)
    it("do not make a script pay that keeps its tensors", function()
        -- Full collections while 60,000 are made and kept.
        local old, kept = collectgarbage("incremental"), {}
        local n = cycles.count(function()
            for k = 1, 60000 do kept[k] = la.zeros(1) end
        end)
        assert.equal(60000, #kept)
        assert.is_true(n < 60, n)
        collectgarbage(old)
    end)
end)

describe("a tensor handed back as it came", function()
  it("is no new data for the collector", function()
    local x = la.ones({1000000}, {dtype = "float64"})
    local function ends_a_cycle(f)
      local over = false
      for _ = 1, 20 do f() end       -- what was made before is seen to
      collectgarbage()
      setmetatable({}, {__gc = function() over = true end})
      for _ = 1, 50 do f() end
      return over
    end
    assert.is_true(ends_a_cycle(function() return x + 1 end))
    assert.is_false(ends_a_cycle(function() return x:to("float64") end))
    assert.is_false(ends_a_cycle(function() return x:contiguous() end))
  end)
end)

describe("a theme", function()
  it("has no functions for what only operations call", function()
    for _, theme in ipairs {"fft", "linalg", "special"} do
      for name, f in pairs(la[theme]) do
        assert.is_false(pcall(f), theme .. "." .. name)
      end
    end
    assert.is_nil(rawget(la.fft, "r2c"))
  end)
end)

describe("lists of numbers", function()
    it("mean the same in every table that holds them", function()
        local hash = {}
        for k = 3, 1, -1 do hash[k] = k + 1 end
        local x = la.arange(24)
        assert.same({2, 3, 4}, x:view(hash).shape)
        assert.same({2, 3, 4}, x:view({2, 3, 4}).shape)
        assert.same({2, 3, 4}, x:view({2.0, 3, 4}).shape)
        assert.same({2, 3}, la.zeros({2, 3, dtype = "int8"}).shape)
        assert.equal("int8", la.zeros({2, 3, dtype = "int8"}).dtype)
        assert.same({2, 3}, la.zeros({dtype = "int8", 2, 3}).shape)
        local mixed = {dtype = "int16"}
        mixed[1], mixed[2] = 4, 5
        assert.equal("int16", la.zeros(mixed).dtype)
        assert.same({4, 5}, la.zeros(mixed).shape)
        assert.same({}, la.zeros({}).shape)
        assert.same({3, 1, 2}, la.zeros(1, 2, 3):permute({3, 1, -2}).shape)
        assert.same(x:view(2, 12):sum({1, 2}):item(), 276)
        raises("counting starts at 1", x.permute, x, {0})
        raises("zeros", la.zeros, {2, "a"})
    end)

    it("go back to Lua whatever the dtype and the layout", function()
        local x = la.arange(6)
        for _, name in ipairs {"float32", "float64", "int64", "uint8",
                               "bfloat16"} do
            local y = x:to(name)
            assert.same({0, 1, 2, 3, 4, 5}, y:totable())
            assert.same({{0, 1, 2}, {3, 4, 5}}, y:view(2, 3):totable())
            assert.same({0, 2, 4}, y:slice(1, 1, 6, 2):totable())
            assert.same({{0, 3}, {1, 4}, {2, 5}}, y:view(2, 3):t():totable())
        end
        assert.same({true, false}, la.tensor({true, false}):totable())
        assert.same({}, la.zeros(0):totable())
        assert.same({{}, {}}, la.zeros(2, 0):totable())
        local z = la.complex(la.tensor({1.0, 2}), la.tensor({3.0, 4}))
        assert.same({{1, -3}, {2, -4}}, z:conj():totable())
        assert.same({-3, -4}, z:conj().imag:totable())
    end)
end)
