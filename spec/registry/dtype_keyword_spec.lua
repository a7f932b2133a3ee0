-- Operations that take dtype= compute in it: integers with the dtype of floats
-- give what the floats give, in each row with that keyword.
local la = require "lunarray"

-- The dims and numbers that some of them ask for besides.
local WANTED = {softmax = {1}, log_softmax = {1}, softmin = {1}, cumsum = {1},
                cumprod = {1}, nancumsum = {1}, cumulative_sum = {1},
                cumulative_prod = {1}, full_like = {1},
                randint_like = {5}}

-- Norms and nanmean want floats all the same, as in PyTorch.
local FLOATS_ALONE = {norm = true, nanmean = true}

local function rows()
  local list = {}
  for _, op in ipairs(la.operations()) do
    local signature = op.signature
    if signature:find("dtype? dtype=nil", 1, true)
        and signature:find("^[%w_]+%(Tensor self[,)]")
        and (la[op.name] or WANTED[op.name]) then
      list[#list + 1] = op.name
    end
  end
  return list
end

local function call(name, x, keywords)
  la.manual_seed(5)
  local args = {table.unpack(WANTED[name] or {})}
  args[#args + 1] = keywords
  return pcall(la[name], x, table.unpack(args))
end

describe("dtype=", function()
  it("takes integers to floats in every row that has it", function()
    local known, tried = rows(), 0
    local x = la.tensor({{1, 2}, {3, 1}}, {dtype = "int32"})
    for _, name in ipairs(known) do
      local ok, floats = call(name, x:double(), {dtype = "float64"})
      if ok and not FLOATS_ALONE[name] and name ~= "empty_like"
          and type(floats) == "userdata" then
        local fits, y = call(name, x, {dtype = "float64"})
        assert.is_true(fits, name .. ": " .. tostring(y))
        assert.equal("float64", y.dtype)
        assert.is_true(la.equal(floats, y), name)
        tried = tried + 1
      end
    end
    assert.is_true(tried >= 12, tried)
  end)

  it("is asked for where integers have no result", function()
    local x = la.tensor({1, 2})
    for _, name in ipairs {"softmax", "log_softmax", "softmin"} do
      local ok, why = pcall(la[name], x:long(), 1)
      assert.is_false(ok)
      assert.truthy(why:find(name, 1, true), why)
      assert.truthy(why:find("floating point tensor expected, got int64; say "
        .. 'dtype = "float32"', 1, true), why)
    end
  end)
end)
