-- Names of PyTorch and NumPy that are not here raise an error which says what
-- to use; names that nobody has are nil.
local la = require "lunarray"
local modules = require "spec.support.modules"
local foreign = require "lunarray.foreign"

local raises = require "spec.support.raises"

local function get(t, name) return function() return t[name] end end

describe("a name that is not there", function()
  local x = la.ones(2, 2)

  it("is nil where nobody has it", function()
    assert.is_nil(la.no_such_name)
    assert.is_nil(la.linalg.no_such_name)
    assert.is_nil(x.no_such_name)
    assert.is_nil(la._private)
    assert.is_nil(x.__eq_)
    assert.is_nil(la[1])
    assert.is_nil(la[x])
    assert.is_nil(rawget(la, "numpy"))
    assert.is_nil(x[("n"):rep(300)])
  end)

  it("raises with what to use where PyTorch or NumPy has it", function()
    raises("lunarray has no la.from_numpy: la.tensor(table)",
           get(la, "from_numpy"))
    raises("a tensor has no 'numpy': x:totable()", get(x, "numpy"))
    raises("a tensor has no 'cuda': tensors are in main memory", get(x, "cuda"))
    raises("lunarray has no la.linalg.frobenius_norm: la.linalg.matrix_norm",
           get(la.linalg, "frobenius_norm"))
    raises("no la.data: local data = require", get(la, "data"))
    raises("no la.groupby: la.frame", get(la, "groupby"))
    raises("lunarray has no la.nn: local nn = require", get(la, "nn"))
    raises("la.float32 or \"float32\"", get(la, "intp"))
  end)

  it("raises in a context, for names that are nobody's field", function()
    la.Function {
      forward = function(ctx, t)
        raises("ctx of a la.Function has no 'saved_tensors': its method saved",
               get(ctx, "saved_tensors"))
        for _, name in ipairs {"mine", "data", "nn", "numpy", 1} do
          assert.is_nil(ctx[name])
        end
        ctx.saved_tensors = 1
        assert.equal(1, ctx.saved_tensors)
        return t
      end,
      backward = function(_, g) return g end}(la.ones(1))
  end)

  it("raises in every theme and module with what to use there", function()
    local nn, optim = require "lunarray.nn", require "lunarray.optim"
    local data = require "lunarray.data"
    for text, f in pairs {
      ["no la.linalg.expm: la.linalg.matrix_exp"] = get(la.linalg, "expm"),
      ["no la.fft.dst, which SciPy has"] = get(la.fft, "dst"),
      ["no la.special.j0: la.special.bessel_j0"] = get(la.special, "j0"),
      ["no la.testing.assert_equal: la.testing"] =
        get(la.testing, "assert_equal"),
      ["no optim.lr_scheduler: schedules stand in optim"] =
        get(optim, "lr_scheduler"),
      ["no data.Dataset: any table"] = get(data, "Dataset"),
      ["nn has no functional: its functions are those of la"] =
        get(nn, "functional"),
    } do
      raises(text, f)
    end
    for _, t in ipairs {la.linalg, la.fft, la.special, la.testing, la.plot, nn,
      optim, data} do
      assert.is_nil(t.no_such_name)
      assert.is_nil(t._no_such_name)
    end
    local text = raises(nil, get(optim, "lr_scheduler"))
    assert.truthy(text:find("foreign_spec.lua:%d+: "))
  end)

  modules.needing("signal image", it)("gives a whole theme to pairs", function()
    local program = [[
      local la = require "lunarray"
      local names = {}
      for name in pairs(la.signal) do names[name] = true end
      for name in pairs(la.image) do names[name] = true end
      io.write(tostring(names.butter), tostring(names.lfilter),
        tostring(names.resize), tostring(names.load))]]
    local pipe = assert(io.popen(("%s -e '%s'"):format(
      require "spec.support.program".path, program)))
    assert.equal("truetruetruetrue", pipe:read "a")
    pipe:close()
  end)

  modules.needing("signal image game", it)("raises in modules too", function()
    raises("no la.signal.wiener: la.signal.medfilt", get(la.signal, "wiener"))
    raises("no la.signal.lombscargle, which SciPy has",
           get(la.signal, "lombscargle"))
    raises("no la.image.imread: la.image.load", get(la.image, "imread"))
    for _, t in ipairs {la.signal, la.game, la.image} do
      assert.is_nil(t.no_such_name)
      assert.is_nil(t._no_such_name)
    end
  end)

  it("is found in a theme or in the module", function()
    raises("lunarray has no la.assert_close: use la.testing.assert_close",
           function() foreign.advice.assert_close = ""
             return la.assert_close end)
    foreign.advice.assert_close = nil
    raises("a tensor has no 'lu_solve': use la.", get(x, "lu_solve"))
  end)

  it("is nil in the module where an operation has a method alone", function()
    for _, op in ipairs(la.operations()) do
      assert.is_true(la[op.name] == rawget(la, op.name))
    end
  end)

  it("has no advice once it is there", function()
    local there = {}
    for name in pairs(foreign.advice) do
      local own, theme, member = name:match("^:(.*)"),
        name:match("^(%a+)%.(.*)")
      local ok, value = pcall(function()
        if own then return x[own] end
        if theme then
          local t = theme == "optim" or theme == "data"
            and require("lunarray." .. theme) or la[theme]
          return t[member]
        end
        return la[name]
      end)
      if ok and value ~= nil then there[#there + 1] = name end
    end
    table.sort(there)
    assert.same({}, there)
  end)

  it("is an attribute, not a method, where a tensor is called with itself",
    function()
      local z = la.complex(x, x)
      for name in ("T mT H mH real data"):gmatch "%S+" do
        local y = la.ones(2, 2, {dtype = "int64"})
        raises("'" .. name .. "' is no method but an attribute: write x."
          .. name, load("local y = ... return y:" .. name .. "()"), y)
      end
      raises("write x.imag, without", function() return z:imag() end)
      local t = {x = la.range(5)}
      assert.same({2, 3}, t.x(la.tensor{2, 3}):totable())
      assert.same({2, 3}, la.range(5)(la.tensor{2, 3}):totable())
    end)

  it("is blamed on the user's line", function()
    local text = raises(nil, get(la, "from_numpy"))
    assert.truthy(text:find("foreign_spec.lua:%d+: "))
    text = raises(nil, get(x, "numpy"))
    assert.truthy(text:find("foreign_spec.lua:%d+: "))
  end)

  it("may be assigned, and is then there", function()
    rawset(la, "from_numpy", 1)
    assert.equal(1, la.from_numpy)
    la.from_numpy = nil
    raises(nil, get(la, "from_numpy"))
  end)

  -- Whatever an advice names exists.
  local all_it = modules.all() and it or function() end
  all_it("is answered with names that exist", function()
    local missing = {}
    for name, text in pairs(foreign.advice) do
      for path in text:gmatch("la%.([%w_.]*%w)") do
        local value = la
        for word in path:gmatch("[%w_]+") do
          local ok, v = pcall(function() return value[word] end)
          value = ok and v or nil
          if value == nil then break end
        end
        if value == nil then missing[#missing + 1] = name .. ": la." .. path end
      end
      for word in text:gmatch("[%a%)]:([%a_][%w_]*)") do
        local ok, v = pcall(function() return x[word] end)
        if not ok or v == nil then missing[#missing + 1] = name .. ": " .. word
        end
      end
    end
    table.sort(missing)
    assert.same({}, missing)
  end)
end)
