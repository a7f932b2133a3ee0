-- Errors that lead: what is wrong, what was expected, where the user's line is.
local la = require "lunarray"
local nn = require "lunarray.nn"

local raises = require "spec.support.raises"

describe("the error of a call", function()
  local x = la.ones(2, 3)

  it("names what any of the overloads expects there", function()
    raises("bad argument #2 to 'to' (dtype, device or tensor expected, got "
           .. "number)", x.to, x, 5)
    raises("at most 2 arguments expected, got 3", x.view, x, {2, 2}, 3)
  end)

  it("says so when an integer is divided by zero", function()
    local i = la.tensor{1}
    raises("integer division by zero", function() return i // 0 end)
    raises("integer division by zero", function() return i % i:mul(0) end)
  end)

  it("leads from ipairs and # to what ends", function()
    local v = la.ones(3)
    raises("pairs(x) ends there", function() for _ in ipairs(v) do end end)
    raises("x:numel()", function() return #la.tensor(1) end)
  end)

  it("is at the user's line, not inside of the library", function()
    local layer = nn.Linear(3, 2)
    local ok, text = pcall(function()
      local y = layer(la.ones(4))
      return y
    end)
    assert.is_false(ok)
    assert.truthy(text:find("errors_spec.lua", 1, true))
    ok, text = pcall(function()
      local y = nn.LSTM("a")
      return y
    end)
    assert.is_false(ok)
    assert.truthy(text:find("errors_spec.lua:%d+: LSTM: input_size: number "
                            .. "expected, got string"))
    raises("between 0 and 1, but got x", nn.Dropout, "x")
  end)
end)

describe("the error of a file", function()
  local function with(name, bytes)
    local path = os.tmpname() .. name
    local file = assert(io.open(path, "wb"))
    file:write(bytes)
    file:close()
    raises("not a", la.load, path)
    os.remove(path)
  end

  it("tells another kind from one that is cut off", function()
    with(".npy", "hello")
    with(".npz", "hello, this is a text and no archive at all")
    with(".safetensors", "hello, this is a text and no archive at all")
  end)

  it("leads from a module to its state", function()
    raises("got Linear: save its state_dict()", la.save, nn.Linear(2, 2),
           os.tmpname() .. ".npz")
  end)
end)
