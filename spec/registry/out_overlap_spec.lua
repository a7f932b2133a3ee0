-- out= that shares memory with an argument, or with a member of a list of
-- tensors: every operation that takes out= gives the result of the call alone,
-- or refuses and leaves its arguments as they were.
local la = require "lunarray"
local row_calls = require "spec.support.row_calls"

local OUT = 8                   -- the form's bit in 'forms'

local is_tensor = la.is_tensor

-- f(tensor, put) for each tensor among the arguments: put(t) replaces it.
local function each_tensor(args, f)
  for k = 1, args.n do
    local v = args[k]
    if is_tensor(v) then
      f(v, function(t) args[k] = t end)
      args[k] = v
    elseif type(v) == "table" then
      for i, member in ipairs(v) do
        if is_tensor(member) then
          f(member, function(t) v[i] = t end)
          v[i] = member
        end
      end
    end
  end
end

local function varied(t)
  if not (t:is_floating_point() or t:is_complex()) then return t end
  local steps = la.range(1, math.max(t:numel(), 1)) / 64
  return (steps[{{1, t:numel()}}] + 0.25):to(t.dtype):view(t.shape)
end

-- The call with 'x' in memory of which out= begins 'shift' elements behind.
local function overlapped(fn, args, x, put, want, shift)
  local n, m = x:numel(), want:numel()
  local memory = la.zeros({math.max(n, m + shift)}, {dtype = x.dtype})
  local here = memory[{{1, n}}]:view(x.shape)
  here:copy_(x)
  local out = memory[{{shift + 1, shift + m}}]:view(want.shape)
  put(here)
  local call = {table.unpack(args, 1, args.n)}
  call[args.n + 1] = {out = out}
  la.manual_seed(1)
  local ok, why = pcall(fn, table.unpack(call, 1, args.n + 1))
  put(x)
  if not ok then return la.equal(here, x), why end
  return la.allclose(want, out, 0, 0, true), "another result"
end

local function faults_of(args, fn)
  local bad, tried = {}, 0
  each_tensor(args, function(x, put) put(varied(x)) end)
  la.manual_seed(1)
  local ok, want = pcall(fn, table.unpack(args, 1, args.n))
  if not ok or not is_tensor(want) or want:numel() == 0 then return bad, 0 end
  each_tensor(args, function(x, put)
    if x.dtype ~= want.dtype or x:numel() == 0 then return end
    for _, shift in ipairs {0, 1, x:numel() // 2, x:numel() - 1} do
      tried = tried + 1
      local good, why = overlapped(fn, args, x, put, want, shift)
      if not good then
        bad[#bad + 1] = ("%d elements behind: %s"):format(shift, why)
      end
    end
  end)
  return bad, tried
end

describe("out= in the memory of an argument", function()
  it("is the result of the call alone, for every row", function()
    local bad, tried = {}, 0
    for _, op in ipairs(la.operations()) do
      if op.forms & OUT ~= 0 then
        local args, fn = row_calls.arguments_of(op)
        if args then
          local found, n = faults_of(args, fn)
          tried = tried + n
          for _, why in ipairs(found) do
            bad[#bad + 1] = op.row .. ", " .. why
          end
        end
      end
    end
    assert.equal("", table.concat(bad, "\n"))
    assert.is_true(tried > 800, tried)
  end)

  -- Members, in one piece of memory that out= begins in.
  local JOINS = {"cat", "stack", "hstack", "vstack", "dstack", "column_stack",
    "multi_dot"}

  for _, name in ipairs(JOINS) do
    it("is right at every offset of " .. name, function()
      for count = 2, 3 do
        local members = {}
        for k = 1, count do
          members[k] = la.arange(4 * k - 3, 4 * k + 1, {dtype = "float64"})
            :view(2, 2)
        end
        local want = la[name](members)
        for offset = 0, 4 * count do
          for step = 1, 2 do
            local memory = la.zeros({4 * count + 40}, {dtype = "float64"})
            local inside = {}
            for k = 1, count do
              inside[k] = memory[{{4 * k - 3, 4 * k}}]:view(2, 2)
              inside[k]:copy_(members[k])
            end
            local n = want:numel()
            local out = memory[{{offset + 1, offset + step * n, step}}]
              :view(want.shape)
            local ok, why = pcall(la[name], inside, {out = out})
            if ok then
              assert.is_true(la.equal(want, out), name .. " at " .. offset)
            else
              for k = 1, count do
                assert.is_true(la.equal(members[k], inside[k]), why)
              end
            end
          end
        end
      end
    end)
  end
end)
