-- Where one overload of a name takes a number and another a tensor, a tensor
-- without dimensions goes to the second, whether the call runs or is recorded:
-- results, generators and refusals are the same.
local la = require "lunarray"

local NUMBERS = {float = true, int = true, Scalar = true}

-- The types of the parameters by position.
local function types_of(signature)
  local types = {}
  for p in signature:match("%((.-)%)%s*%->"):gmatch("[^,]+") do
    local word = p:match("^%s*(%S+)")
    if word == "*" then break end
    types[#types + 1] = word
  end
  return types
end

-- {name =, at =} of each such parameter.
local function both_kinds()
  local rows, found, seen = {}, {}, {}
  for _, op in ipairs(la.operations()) do
    rows[op.name] = rows[op.name] or {}
    table.insert(rows[op.name], types_of(op.signature))
  end
  for name, list in pairs(rows) do
    for _, a in ipairs(list) do
      for _, b in ipairs(list) do
        for k = 2, math.min(#a, #b) do
          local key = name .. k
          if NUMBERS[a[k]] and b[k] == "Tensor" and not seen[key] then
            seen[key] = true
            found[#found + 1] = {name = name, at = k}
          end
        end
      end
    end
  end
  return found
end

local function all_of(...)
  local texts = {}
  for k = 1, select("#", ...) do
    local v = select(k, ...)
    texts[k] = type(v) == "table" and all_of(table.unpack(v)) or tostring(v)
  end
  return table.concat(texts, "; ")
end

local function outcome(f, ...)
  la.manual_seed(7)
  local results = table.pack(pcall(f, ...))
  if not results[1] then
    return tostring(results[2]):find("depends on an argument", 1, true)
      and "unknown" or "error"
  end
  return all_of(table.unpack(results, 2)) .. all_of(la.rand(1))
end

describe("overloads of a number and of a tensor", function()
  local found = both_kinds()

  it("are there", function()
    local names = {}
    for _, f in ipairs(found) do names[f.name] = true end
    assert.is_true(names["bernoulli_"] and names["tensor_split"]
                   and names["histogram"])
  end)

  for _, f in ipairs(found) do
    it(f.name .. " is the same call recorded as run", function()
      assert.equal(2, f.at)         -- the cases below give one argument more
      local of = la[f.name]
      for _, p in ipairs{la.tensor(0.5), la.tensor(3), la.tensor(true),
                         la.tensor(0.5, {dtype = "float64"}),
                         la.tensor{0.5, 0.25, 0.75, 1}, la.tensor{1, 2}} do
        local run = outcome(of, la.arange(4):float(), p)
        local recorded = la.compile(function(x, v) return of(x, v) end)
        local again = outcome(recorded, la.arange(4):float(), p)
        -- Where results go by the value, nothing can be recorded.
        if again ~= "unknown" then assert.equal(run, again) end
      end
    end)
  end

  it("the tensor's own rules hold", function()
    local wide = la.tensor(0.3, {dtype = "float64"})
    la.manual_seed(1)
    local one = la.zeros(64):bernoulli_(wide)
    la.manual_seed(1)
    assert.is_true(one:equal(la.zeros(64):bernoulli_(wide:expand(64))))
    assert.has_error(function() la.zeros(4):bernoulli_(la.tensor(1)) end,
      "bernoulli_: the probabilities must be floating, got int64")
  end)
end)
