-- Every layer, loss and optimiser that is made with too few arguments says
-- what it needs, in words of its own.
local la = require "lunarray"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"

-- Makes it with more and more numbers; every refusal is one of its own.
local function refusals_of(name, make)
  local bad = {}
  for n = 0, 4 do
    local args = {}
    for k = 1, n do args[k] = 2 end
    local ok, why = pcall(make, table.unpack(args))
    if ok then return bad end
    why = tostring(why)
    if why:find("attempt to", 1, true) or why:find("bad argument", 1, true)
        and not why:find("'", 1, true) then
      bad[#bad + 1] = ("%s of %d: %s"):format(name, n, why)
    end
  end
  return bad
end

-- A class is called; functions are not asked.
local function is_class(value)
  local meta = getmetatable(value)
  return type(value) == "table" and type(meta) == "table" and meta.__call
end

describe("too few arguments", function()
  it("are named by every layer and loss", function()
    local bad, count = {}, 0
    for name, class in pairs(nn) do
      if type(name) == "string" and name:find "^%u" and is_class(class) then
        count = count + 1
        for _, line in ipairs(refusals_of(name, class)) do
          bad[#bad + 1] = line
        end
      end
    end
    table.sort(bad)
    assert.equal("", table.concat(bad, "\n"))
    assert.is_true(count > 60, count)
  end)

  it("are named by recurrent cells", function()
    for _, name in ipairs {"RNNCell", "LSTMCell", "GRUCell", "RNN", "LSTM",
                           "GRU"} do
      local ok, why = pcall(nn[name])
      assert.is_false(ok)
      assert.is_truthy(why:find("input_size", 1, true), why)
      ok, why = pcall(nn[name], 3)
      assert.is_false(ok)
      assert.is_truthy(why:find("hidden_size", 1, true), why)
    end
  end)

  it("are named by stacks of layers", function()
    for _, name in ipairs {"TransformerEncoder", "TransformerDecoder"} do
      for _, args in ipairs {{}, {3}, {nn.Linear(2, 2)},
                             {nn.Linear(2, 2), 1.5}} do
        local ok, why = pcall(nn[name], args[1], args[2])
        assert.is_false(ok)
        assert.is_truthy(why:find("to '" .. name .. "' (", 1, true), why)
      end
    end
  end)

  it("are named by every schedule", function()
    local opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
    local needed = {StepLR = "step_size", MultiStepLR = "milestones",
      ExponentialLR = "gamma", CosineAnnealingLR = "T_max",
      LambdaLR = "lr_lambda", MultiplicativeLR = "lr_lambda",
      CosineAnnealingWarmRestarts = "T_0", CyclicLR = "base_lr",
      SequentialLR = "schedulers", OneCycleLR = "max_lr"}
    for name, key in pairs(needed) do
      for _, options in ipairs {false, {}} do
        local ok, why = pcall(optim[name], opt, options or nil)
        assert.is_false(ok, name)
        assert.is_truthy(why:find(key, 1, true), why)
        assert.is_truthy(why:find(name, 1, true), why)
      end
    end
    local ok, why = pcall(optim.CyclicLR, opt, {base_lr = 1})
    assert.is_false(ok)
    assert.is_truthy(why:find("max_lr", 1, true), why)
    ok, why = pcall(optim.SequentialLR, opt, {schedulers = {}})
    assert.is_false(ok)
    assert.is_truthy(why:find("milestones", 1, true), why)
  end)
end)
