-- A byte other than 0 and 1 is true: memory of a host (b8 in a record), DLPack
-- and uint8 seen as bool may have any. Every function of la gives what it gives
-- for bytes of 0 and 1.
local la = require "lunarray"

local ROWS, COLUMNS = 9, 40
local bytes = {}
for i = 1, ROWS * COLUMNS do
  bytes[i] = ({0, 1, 2, 255, 128, 7, 0, 0, 64, 1, 0})[i % 11 + 1]
end
local as_bytes = la.tensor(bytes, {dtype = "uint8"}):view(ROWS, COLUMNS)

-- What is no function of elements: memory, addresses, handles, settings.
local EXEMPT = {snapshot = true, to_dlpack = true, empty_like = true,
                new_empty = true, save = true, load = true, tidy = true,
                profile = true, progress = true, help = true, seed = true,
                fuse = true, compile = true, vmap = true, empty = true,
                share = true, empty_strided = true, memory = true}

local function same(a, b)
  if la.is_tensor(a) then
    if not la.is_tensor(b) or a.dtype ~= b.dtype then return false end
    if a.dtype == "bool" then return la.equal(a, b) end
    a, b = a:to("complex128"), b:to("complex128")
    return la.equal(a:isnan(), b:isnan())
      and la.equal(la.where(a:isnan(), 0, a), la.where(b:isnan(), 0, b))
  end
  if type(a) ~= "table" then return a == b or (a ~= a and b ~= b) end
  for k, v in pairs(a) do if not same(v, b[k]) then return false end end
  return true
end

-- The calls of a function that are tried: with b and other, both bool, and x.
local calls = {
  function(f, b) return f(b) end,
  function(f, b, other) return f(b, other) end,
  function(f, b) return f(b, 1) end,
  function(f, b) return f(b, 2) end,
  function(f, b) return f(b, true) end,
  function(f, b, _, x) return f(x, b) end,
  function(f, b, _, x) return f(b, x) end,
  function(f, b, _, x) return f(x, b, 2) end,
  function(f, b, _, x) return f(b, x, x) end,
  function(f, b, other) return f{b, other} end,
  function(f, b) return f(b:t()) end,
  function(f, b) return f(b:t(), 1) end,
  function(f, b, other) return f(b[2], other[2]) end,
  function(f, b) return f(b[{{}, {1, 7}}], 2) end,
}

local function results(call, f, b, x)
  la.manual_seed(3)
  -- of its own: some functions write to their argument
  local r = table.pack(pcall(call, f, b:clone(), b:flip(1), x:clone()))
  return r
end

describe("bytes of bool", function()
  local raw, clean = as_bytes:view("bool"), as_bytes:ne(0)

  it("are true or false in every function", function()
    local x, faults, tried = la.randn(ROWS, COLUMNS), {}, 0
    for name, f in pairs(la) do
      if type(f) == "function" and not EXEMPT[name] then
        for k, call in ipairs(calls) do
          local expected = results(call, f, clean, x)
          local got = results(call, f, raw, x)
          local ok = expected[1] == got[1] and expected.n == got.n
          for i = 2, expected[1] and expected.n or 1 do
            tried = tried + 1
            if not ok or not same(expected[i], got[i]) then
              faults[#faults + 1] = ("%s, call %d"):format(name, k)
            end
          end
        end
      end
    end
    assert.same({}, faults)
    assert.is_true(tried > 1000)
  end)

  it("are 0 and 1 in what is computed and converted", function()
    assert.equal(raw:sum():item(), raw:to("int64"):sum():item())
    assert.equal(1, raw:to("float32"):max():item())
    for _, y in ipairs{raw:logical_or(raw), raw & true, ~raw, raw:eq(true),
                       raw * raw} do
      assert.is_true(y:view("uint8"):max():item() <= 1)
    end
    assert.same(la.fuse(function(b) return b * 2.5 end)(clean):totable(),
                la.fuse(function(b) return b * 2.5 end)(raw):totable())
  end)
end)
