-- Changes in place of an expanded tensor, whose elements share memory: each
-- call is refused, or gives what it gives for a clone.
local la = require "lunarray"
local raises = require "spec.support.raises"

local SHARED = "refers to a single memory location"

local function expanded(rows) return la.rand(1, 3):expand(rows, 3) end

local function mask(rows)
  local m = la.zeros(rows, 3, {dtype = "bool"})
  m[{1, 1}] = true
  return m
end

-- Arguments that some call in place takes, for a matrix of so many rows.
local function argument_lists(rows)
  local first, m = la.tensor {1}, mask(rows)
  local same, row = la.rand(rows, 3), la.rand(1, 3)
  return {
    {}, {0.5}, {1}, {2, 1}, {0.1, 0.4}, {same}, {same, 0.5}, {same, same},
    {m}, {m, 0.25}, {m, same}, {m, same:flatten()}, {1, first, 0.25},
    {1, first, row}, {1, first, row, "prod"}, {first, la.tensor {0.25}},
    {{first}, row}, {{first}, la.tensor(0.25)}, {{m}, la.tensor(0.25)},
    {1, la.tensor {{1, 1, 1}}, 0.25}, {1, la.tensor {{1, 1, 1}}, row},
    {1, la.tensor {{1, 1, 1}}, row, "sum"}, {la.rand(rows, 2), la.rand(2, 3)},
    {la.rand(rows), la.rand(3)}, {2, 1, 0.5}, {first, first},
  }
end

-- Names of all methods that end in one underscore.
local function written_names()
  local names, seen = {}, {}
  local list = assert(io.popen("ls spec/golden"))
  for file in list:lines() do
    local name = file:match("^(.-)_?%.jsonl$")
    if name and not seen[name] then
      seen[name] = true
      local method = name .. "_"
      local ok, f = pcall(function() return la.zeros(1)[method] end)
      if ok and type(f) == "function" then names[#names + 1] = method end
    end
  end
  list:close()
  return names
end

-- The geometry is changed, not elements: what it changes is the tensor itself.
local function same_geometry(a, b)
  if a.ndim ~= b.ndim then return false end
  for d = 1, a.ndim do
    if a:size(d) ~= b:size(d) then return false end
  end
  return true
end

describe("an expanded tensor", function()
  it("is refused by every call in place, or changes as a clone", function()
    local refused, names = 0, written_names()
    assert.is_true(#names > 80)
    for _, name in ipairs(names) do
      for rows = 2, 3 do
        for k, args in ipairs(argument_lists(rows)) do
          local x = expanded(rows)
          local before, copy = x:clone(), x:clone()
          la.manual_seed(1)
          if pcall(copy[name], copy, table.unpack(args)) then
            la.manual_seed(1)
            local ok, message = pcall(x[name], x, table.unpack(args))
            local what = ("%s, arguments %d"):format(name, k)
            if not ok then
              refused = refused + 1
              assert.is_truthy(message:find("memory") or message:find("stride"),
                what .. ": " .. message)
              assert.is_true(la.equal(x, before), what)
            elseif same_geometry(x, copy) then
              assert.is_true(la.allclose(x, copy, {equal_nan = true}), what)
            end
          end
        end
      end
    end
    assert.is_true(refused > 150)
  end)

  it("is refused by assignments through masks and lists", function()
    for rows = 2, 3 do
      local m, first = mask(rows), la.tensor {1}
      for _, key in ipairs {m, first, {first}, {first, 1}, {first, {1, 2}},
          {"...", first}} do
        for _, value in ipairs {0.25, la.tensor(0.25)} do
          local x = expanded(rows)
          local before = x:clone()
          raises(SHARED, function() x[key] = value end)
          assert.is_true(la.equal(x, before))
        end
      end
    end
  end)

  it("may be filled with one value", function()
    assert.same({{2, 2, 2}, {2, 2, 2}}, expanded(2):fill_(2):totable())
    assert.same({{0, 0, 0}, {0, 0, 0}}, expanded(2):zero_():totable())
  end)
end)
