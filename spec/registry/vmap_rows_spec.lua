-- Every operation that has golden records, on a batch: la.vmap gives what a
-- loop over the elements gives. LUNARRAY_GOLDEN=add,mul looks at these alone.
local batches = require "spec.support.batches"
local modules = require "spec.support.modules"
local records = require "spec.support.records"
local vary = require "spec.support.vary"

local MOST_CALLS = 6        -- of one operation, and of its refused ones
local LARGEST = 4000        -- elements of the arguments of a call

-- Where the two may differ. as_strided reads the storage of one element, which
-- in the loop is that of all; channels_last is a format of more dims behind;
-- isclose looks at dtypes before numbers adapt.
local OTHERWISE = {as_strided = true, to = true, isclose = true}

-- What vmap refuses by itself.
local REFUSED = {"sizes and storage of a tensor can't be changed"}

local function is_refused(why)
  for _, words in ipairs(REFUSED) do
    if why:find(words, 1, true) then return true end
  end
end

local function small(call)
  local n = 0
  for _, t in ipairs(vary.tensors(call)) do n = n + t:numel() end
  return n > 0 and n <= LARGEST
end

local function check(call, refused, fail)
  for mode in pairs(batches.modes) do
    local why, raised = batches.disagreement(call, mode, true)
    if raised and not refused then
      why = batches.disagreement(call, mode, false)
    end
    if why and not is_refused(why) and not OTHERWISE[call.op] then
      fail(("%s of the tensors: %s"):format(mode, why))
    end
  end
end

-- fn(call, refused, id)
local function each_call(path, fn)
  local counts = {[true] = 0, [false] = 0}
  for r in records.each(path) do
    local refused = r.expect.error ~= nil
    if r.args and counts[refused] < MOST_CALLS then
      counts[refused] = counts[refused] + 1
      local ok, f, args, keywords = pcall(records.call_of, r)
      local call = ok and {fn = f, args = args, keywords = keywords, op = r.op,
        style = r.style}
      if call and not (keywords and keywords.out) and small(call) then
        fn(call, refused, r.id)
      end
    end
  end
end

local only = os.getenv("LUNARRAY_GOLDEN")

describe("vmap of the calls of", function()
  for _, path in ipairs(modules.golden()) do
    local name = path:match("([^/]+)%.jsonl$")
    if not only or ("," .. only .. ","):find("," .. name .. ",", 1, true) then
      it(name, function()
        each_call(path, function(call, refused, id)
          check(call, refused, function(why) error(id .. ": " .. why, 0) end)
        end)
      end)
    end
  end
end)
