-- einsum with random equations of small and capital letters, with an arrow and
-- without, against loops over all letters in Lua; tensordot's lists of dims.
local la = require "lunarray"
local raises = require "spec.support.raises"

local LETTERS = {"a", "b", "z", "A", "B", "Z"}
local SIZES = {a = 2, b = 3, z = 1, A = 3, B = 2, Z = 2}

local function letters_of(text)
  local list = {}
  for c in text:gmatch "%a" do list[#list + 1] = c end
  return list
end

-- Sums products over all values of all letters; {position text = sum}.
local function by_loops(terms, operands, output)
  local all, seen = {}, {}
  for _, c in ipairs(letters_of(table.concat(terms))) do
    if not seen[c] then all[#all + 1] = c end
    seen[c] = true
  end
  local at, sums = {}, {}
  local function walk(k)
    if k <= #all then
      for i = 1, SIZES[all[k]] do
        at[all[k]] = i
        walk(k + 1)
      end
      return
    end
    local product = 1
    for t, term in ipairs(terms) do
      local where = {}
      for n, c in ipairs(letters_of(term)) do where[n] = at[c] end
      product = product * operands[t]:item(table.unpack(where))
    end
    local where = {}
    for n, c in ipairs(letters_of(output)) do where[n] = at[c] end
    local key = table.concat(where, ",")
    sums[key] = (sums[key] or 0) + product
  end
  walk(1)
  return sums
end

-- Letters that occur once, in the order of their codes.
local function output_of(terms)
  local count, list = {}, {}
  for _, c in ipairs(letters_of(table.concat(terms))) do
    count[c] = (count[c] or 0) + 1
  end
  for c, n in pairs(count) do if n == 1 then list[#list + 1] = c end end
  table.sort(list, function(x, y) return x:byte() < y:byte() end)
  return table.concat(list)
end

local function agrees(terms, output, got)
  local operands, shape = got.operands, {}
  for n, c in ipairs(letters_of(output)) do shape[n] = SIZES[c] end
  assert.same(shape, {table.unpack(got.result.shape)}, got.equation)
  for key, sum in pairs(by_loops(terms, operands, output)) do
    local where = {}
    for i in key:gmatch "%d+" do where[#where + 1] = tonumber(i) end
    assert.equal(sum, got.result:item(table.unpack(where)),
      got.equation .. " at " .. key)
  end
end

-- 1 to 3 operands of at most 3 letters; small whole numbers add exactly.
local function random_call(draw)
  local terms, operands = {}, {}
  for t = 1, draw(1, 3) do
    local term, shape = "", {}
    for n = 1, draw(1, 3) do
      local c = LETTERS[draw(1, #LETTERS)]
      term = term .. c
      shape[n] = SIZES[c]
    end
    terms[t] = term
    operands[t] = la.randint(-3, 4, shape):double()
  end
  return terms, operands
end

describe("einsum", function()
  local state = 12345
  local function draw(low, high)
    state = (state * 1103515245 + 12345) % 2147483648
    return low + (state >> 8) % (high - low + 1)
  end

  setup(function() la.manual_seed(1) end)

  it("without an arrow orders the letters that occur once", function()
    for _ = 1, 300 do
      local terms, operands = random_call(draw)
      local equation = table.concat(terms, ",")
      agrees(terms, output_of(terms), {operands = operands,
        equation = equation, result = la.einsum(equation, operands)})
    end
  end)

  it("with an arrow takes any letters in any order", function()
    for _ = 1, 300 do
      local terms, operands = random_call(draw)
      local left, output = {}, ""
      for _, c in ipairs(letters_of(table.concat(terms))) do
        if not left[c] and draw(0, 1) == 1 then
          output = draw(0, 1) == 1 and output .. c or c .. output
        end
        left[c] = true
      end
      local equation = table.concat(terms, ",") .. "->" .. output
      agrees(terms, output, {operands = operands, equation = equation,
        result = la.einsum(equation, operands)})
    end
  end)

  it("puts the dims of ... first where there is no arrow", function()
    for _, equation in ipairs {"...aB,...Bc", "a...B,B...c", "aB...,...Bc"} do
      local x, y = la.randint(0, 5, {2, 2, 2}):double(),
        la.randint(0, 5, {2, 2, 2}):double()
      assert.is_true(la.equal(la.einsum(equation .. "->...ac", {x, y}),
        la.einsum(equation, {x, y})), equation)
    end
    local z = la.randint(0, 5, {3, 2, 4}):double()
    assert.is_true(la.equal(z:permute(1, 3, 2), la.einsum("...bA", {z})))
  end)
end)

describe("tensordot", function()
  it("pairs the dims of its lists, which have one length", function()
    local x, y = la.rand(2, 3, 4), la.rand(4, 3, 5)
    local want = la.einsum("abc,cbd->ad", {x, y})
    assert.is_true(la.allclose(want, la.tensordot(x, y, {{2, 3}, {2, 1}})))
    assert.is_true(la.allclose(want, la.tensordot(x, y, {{-1, 2}, {1, -2}})))
    raises("", la.tensordot, x, y, {{1}, {1}})
    local z = la.rand(3, 3, 3)
    for _, dims in ipairs {{{2, 3}, {2}}, {{2}, {2, 1}}, {{}, {1}}, {{3}, {}},
                           {{2, 3}, {2, 1, 3}}, {{1, 2, 3}, {1, 2}}} do
      raises("must have the same length", la.tensordot, z, z, dims)
    end
  end)
end)
