-- A call says what it refuses, and the dtypes, shapes and strides of its
-- results, without a look at elements: calls on the meta device agree with
-- those on the processor. The calls are those of the golden records and
-- variations of them: other dtypes, shapes, layouts, numbers, outputs.
local la = require "lunarray"
local modules = require "spec.support.modules"
local records = require "spec.support.records"
local vary = require "spec.support.vary"

local MOST_CALLS = 3        -- of one operation, plain ones and refused ones
local LARGEST = 2000        -- elements of an argument

-- What meta may say where the processor has an answer: it needs elements.
local NO_VALUES = {
  "depends on data", "has no data", "no data!", "meta tensor",
  "has no values", "needs a value",
}

-- What only elements, or the machine, can tell.
local OF_VALUES = {"is out of bounds for", "not enough memory", "is singular",
  "is not positive definite", "Weights sum to zero", "All-NaN slice",
  "edges must be monotonically", "percentiles must be"}

local function has_one_of(message, list)
  for _, words in ipairs(list) do
    if message:find(words, 1, true) then return true end
  end
  return false
end

local function described(v)
  if type(v) == "table" then
    local list = {}
    for i, x in ipairs(v) do list[i] = described(x) end
    return "{" .. table.concat(list, ", ") .. "}"
  elseif not vary.is_tensor(v) then
    return type(v)
  end
  return ("%s %s by %s"):format(v.dtype, table.concat(v.shape, "x"),
    table.concat(vary.strides_of(v), ","))
end

local function attempt(call, convert)
  local args, keywords = vary.converted(call, convert)
  local n = call.args.n
  if keywords then
    n = n + 1
    args[n] = keywords
  end
  local results = table.pack(pcall(call.fn, table.unpack(args, 1, n)))
  local ok = results[1]
  return ok, ok and described({table.unpack(results, 2, results.n)})
    or tostring(results[2])
end

-- nil, or how the two disagree.
local function disagreement(call)
  local on_cpu, here = attempt(call, vary.benign)
  local on_meta, there = attempt(call, vary.on_meta)
  if on_cpu and on_meta then
    return here ~= there and ("cpu %s, meta %s"):format(here, there) or nil
  elseif on_cpu and not has_one_of(there, NO_VALUES) then
    return "meta alone refuses: " .. there
  elseif on_meta and not has_one_of(here, OF_VALUES) then
    return "cpu alone refuses: " .. here
  end
end

local function small(call)
  for _, t in ipairs(vary.tensors(call)) do
    if t:numel() > LARGEST then return false end
  end
  return true
end

-- fn(call, what) for the calls of a file of records and their variations.
local function each_call(path, fn)
  local counts = {[true] = 0, [false] = 0}
  for r in records.each(path) do
    local refused = r.expect.error ~= nil
    if r.args and counts[refused] < MOST_CALLS then
      local found, f, args, keywords = pcall(records.call_of, r)
      local call = {fn = f, args = args, keywords = keywords, op = r.op,
        style = r.style}
      if found and small(call) then
        counts[refused] = counts[refused] + 1
        vary.each(call, function(other, what)
          fn(other, r.id .. " " .. what)
        end)
      end
    end
  end
end

describe("the meta device", function()
  it("agrees with the processor in refusals, dtypes, shapes and strides",
    function()
      local faults, total = {}, 0
      local only = os.getenv "META_OP"
      for _, path in ipairs(modules.golden()) do
        local name = path:match "([^/]+)%.jsonl$"
        if not only or name == only then
          local told = {}
          each_call(path, function(call, what)
            total = total + 1
            local why = disagreement(call)
            local kind = why and why:sub(1, 10)
            if why and (told[kind] or 0) < 3 then
              told[kind] = (told[kind] or 0) + 1
              faults[#faults + 1] = ("%s (%s): %s"):format(call.op, what, why)
            end
          end)
        end
      end
      assert.equal("", table.concat(faults, "\n"))
      assert.is_true(only ~= nil or total > 30000, "calls: " .. total)
    end)

  it("goes with tensors of its own, and with numbers", function()
    local m, x = la.zeros(2, 2, {device = "meta"}), la.ones(2, 2)
    local state = m[{{}, {1, 1}}]
    local other = "found at least two devices, meta and cpu"
    local calls = {
      function() return la.linalg.solve(m, x) end,
      function() return la.linalg.pinv(x, {rtol = m[1]}) end,
      function() return la.linalg.pinv(m, {rtol = x[1]}) end,
      function() return la.matmul(m, x) end,
      function() return la.cat {m, x} end,
      function() return x:clone():addmm_(m, x) end,
      function() return x:clone():scatter_(1, m:long(), x) end,
    }
    if modules.has "signal" then
      local lfilter = la.signal.lfilter
      calls[#calls + 1] = function() lfilter(x[1], x[1], m) end
      calls[#calls + 1] = function() lfilter(x[1], x[1], x, {zi = state}) end
    end
    for _, call in ipairs(calls) do
      assert.error_matches(call, other, 1, true)
    end
    assert.equal("meta", m:clone():copy_(x).device)
    assert.equal("meta", (m + 1):add(x[1][1]).device)
    assert.equal("meta", x:to({device = "meta"}).device)
    assert.equal("meta", x:new_zeros({2}, {device = "meta"}).device)
    for _, device in ipairs {"cpu", "meta"} do
      local tolerance = la.ones(1, {dtype = "complex64", device = device})
      assert.error_matches(function()
        la.linalg.pinv(x:to({device = device}), {rtol = tolerance})
      end, "real tolerances expected", 1, true)
    end
  end)

  -- A composite that reads elements between its calls finds none in one of its
  -- arguments.
  it("is found wherever it stands among the arguments", function()
    local frames, long = la.zeros(4, 1, 3):log_softmax(3), {dtype = "int64"}
    local two = la.tensor({2, 1}, long)
    local calls = {
      {la.ctc_loss, frames, la.tensor{{2, 3}}, la.tensor{4}, la.tensor{2}},
      {la.ctc_loss, frames, la.tensor{2, 3}, la.tensor{4}, la.tensor{2}},
      {la.repeat_interleave, la.ones(2), two},
      {la.tensor_split, la.arange(9), la.tensor({3, 6}, long)},
      {la.combinations, la.arange(4), 2},
      {la.embedding_bag, la.tensor({1, 2, 3}, long), la.ones(3, 2),
        la.tensor({1, 2}, long)},
      {la.narrow, la.arange(9), 1, la.tensor(2), 3},
      {la.nll_loss, la.ones(2, 3), two}, {la.cross_entropy, la.ones(2, 3), two},
      {la.gaussian_nll_loss, la.ones(3), la.ones(3), la.ones(3)},
      {la.binary_cross_entropy, la.full({3}, 0.5), la.ones(3)},
      {la.multi_margin_loss, la.ones(2, 3), two},
      {la.quantile, la.arange(5.), la.tensor(0.5)},
      {la.one_hot, two}, {la.bincount, two, la.ones(2)},
      {la.unravel_index, two, {2, 2}},
      {la.average, la.ones(2), {weights = la.ones(2)}},
      {la.allclose, two, two}, {la.equal, two, two}, {la.where, two},
      {la.masked_select, la.ones(2), two:bool()}, {la.trapezoid, two, two},
      {la.histogram, la.ones(4), la.tensor{0., 1, 2}}, {la.pad, two, {1, 1}},
    }
    local refused, total = 0, 0
    for _, call in ipairs(calls) do
      local fn = call[1]
      assert.has_no_error(function() fn(table.unpack(call, 2)) end)
      for i = 2, #call do
        if vary.is_tensor(call[i]) then
          local args = table.move(call, 2, #call, 1, {})
          args[i - 1] = args[i - 1]:to "meta"
          local ok, result = pcall(fn, table.unpack(args))
          total = total + 1
          if not ok then
            refused = refused + 1
            assert.equal("string", type(result))
          elseif vary.is_tensor(result) then
            assert.equal("meta", result.device)
          end
        end
      end
    end
    assert.is_true(total > 35 and refused > 20, total .. ", " .. refused)
  end)
end)
