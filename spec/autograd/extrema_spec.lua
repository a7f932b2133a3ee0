-- Gradients of extrema and medians over all rows of a few special values: NaN,
-- infinities, equal elements. Without an index they are shared by the elements
-- that are the result, with one they go there.
local la = require "lunarray"

local NAN = 0 / 0
local VALUES = {NAN, math.huge, -math.huge, 1., 2.}

local function is(a, b) return a == b or a ~= a and b ~= b end

-- f(row) for every row of 1 to 4 values.
local function each_row(f)
  for n = 1, 4 do
    for code = 0, (#VALUES) ^ n - 1 do
      local row, rest = {}, math.tointeger(code)
      for k = 1, n do
        row[k], rest = VALUES[rest % #VALUES + 1], rest // #VALUES
      end
      f(row)
    end
  end
end

local function leaf(row)
  return la.tensor({row}, {dtype = "float64", requires_grad = true})
end

local function same(want, got, row, what)
  for k, v in ipairs(want) do
    assert.is_true(is(v, got[k]), ("%s of {%s}: %s at %d, not %s"):format(what,
      table.concat(row, ", "), got[k], k, v))
  end
end

-- 'scale' shared by the elements that are 'value'.
local function shared(row, value, scale)
  local n, want = 0, {}
  for _, v in ipairs(row) do if is(v, value) then n = n + 1 end end
  for k, v in ipairs(row) do want[k] = is(v, value) and scale / n or 0 end
  return want
end

describe("the gradient is shared by the elements that are", function()
  local forms = {
    {"amax", function(x) return x:amax(2) end},
    {"amin", function(x) return x:amin(2) end},
    {"amax over both dims", function(x) return x:amax {1, 2} end},
    {"max", function(x) return x:max() end},
    {"min", function(x) return x:min() end},
    {"median", function(x) return x:median() end},
    {"nanmedian", function(x) return x:nanmedian() end},
    {"a keepdim", function(x) return x:amax(2, true) end}
  }
  for _, form in ipairs(forms) do
    it(form[1], function()
      each_row(function(row)
        local x = leaf(row)
        local y = form[2](x)
        ;(y * 3):sum():backward()
        same(shared(row, y:item(), 3), x.grad:view(-1):totable(), row,
          form[1])
      end)
    end)
  end

  it("aminmax, by both results", function()
    each_row(function(row)
      local x = leaf(row)
      local low, high = la.aminmax(x, {dim = 2})
      ;(low * 2 + high * 5):sum():backward()
      local want, more = shared(row, low:item(), 2),
        shared(row, high:item(), 5)
      for k = 1, #row do want[k] = want[k] + more[k] end
      same(want, x.grad:view(-1):totable(), row, "aminmax")
    end)
  end)
end)

describe("the gradient goes to the index of", function()
  local names = {"max", "min", "median", "nanmedian", "mode", "cummax",
    "cummin", "sort", "kthvalue", "topk"}
  for _, name in ipairs(names) do
    it(name, function()
      each_row(function(row)
        local x = leaf(row)
        local values, at
        if name == "kthvalue" then values, at = x:kthvalue((#row + 1) // 2, 2)
        elseif name == "topk" then values, at = x:topk((#row + 1) // 2, 2)
        else values, at = x[name](x, 2) end
        local scale = la.range(3, 2 + values:numel()):double()
          :view(values.shape)
        values:mul(scale):sum():backward()
        local want, list = {}, at:view(-1):totable()
        for k = 1, #row do want[k] = 0 end
        for k, i in ipairs(list) do
          want[i] = want[i] + 2 + k
          assert.is_true(is(row[i], values:view(-1):item(k)))
        end
        same(want, x.grad:view(-1):totable(), row, name)
      end)
    end)
  end
end)
