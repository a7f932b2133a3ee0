-- Every operation that the registry calls differentiable has its derivative,
-- and the derivative is right: against differences, once and twice, in float64
-- and complex128, on strided, expanded, broadcast, 0-dim and empty inputs.
-- LUNARRAY_GRAD=add,mul runs only these.
local la = require "lunarray"
local each_tensor = require "spec.support.each_tensor"
local samples = require "spec.support.samples"

local FN_OR_METHOD = 3

-- Rows by the name that users call.
local names, rows = {}, {}
for _, op in ipairs(la.operations()) do
  if not rows[op.name] then
    rows[op.name] = {}
    names[#names + 1] = op.name
  end
  table.insert(rows[op.name], op)
end

local function wanted(name)
  local only = os.getenv("LUNARRAY_GRAD")
  return not only or ("," .. only .. ","):find("," .. name .. ",", 1, true)
end

-- Not continuous, or never differentiated themselves: backward says so
-- instead of giving zeros.
local without = {floor_divide = true, native_layer_norm_backward = true,
  native_rms_norm_backward = true}

local function is_public(op) return op.forms & FN_OR_METHOD ~= 0 end

local function any(list, what)
  for _, op in ipairs(list) do if what(op) then return true end end
  return false
end

local function should_record(op)
  return op.differentiable and is_public(op) and not op.metadata
    and not without[op.name]
end

describe("the registry", function()
  it("has a derivative for every row that needs one", function()
    local missing = {}
    for _, op in ipairs(la.operations()) do
      if should_record(op) and not op.composite and not op.derivative then
        missing[#missing + 1] = op.row
      end
    end
    assert.are.equal("", table.concat(missing, " "))
  end)

  it("says what has none", function()
    local x = la.ones(2, {requires_grad = true})
    local y = x:floor_divide(2)
    assert.is_true(y.requires_grad)
    local ok, why = pcall(y.backward, y, la.ones(2))
    assert.is_false(ok)
    assert.is_truthy(why:find("derivative of floor_divide is not implemented",
      1, true), why)
  end)
end)

---------------------------------------------------------------------------

-- Conversions to a dtype with fewer digits: no differences to compare with.
local function converts(name)
  local x = la.ones(2, {dtype = "float64"})
  local found, y = pcall(function() return x[name](x) end)
  return found and type(y) == "userdata" and #rows[name] == 1
    and rows[name][1].signature:find("^%w+%(Tensor self, %*, "
      .. "memory_format%? memory_format=nil%) %-> Tensor$")
    and y.dtype ~= x.dtype
end

local seen = {}     -- rows whose nodes stood in a graph

local function note(t)
  for _, node in ipairs(la.grad_graph(t)) do seen[node.name] = true end
end

-- The graphs of the results, and of the gradients of their sum.
local function note_graphs(s)
  local leaves, total = s.inputs(), nil
  each_tensor({s.f(table.unpack(leaves))}, function(t)
    if not t.requires_grad then return end
    note(t)
    local sum = (t:is_complex() and la.view_as_real(t:resolve_conj()) or t)
      :square():sum()
    total = total and total + sum or sum
  end)
  if not total then return end
  local grads = table.pack(la.grad(total, leaves,
    {create_graph = true, allow_unused = true}))
  for k = 1, grads.n do if grads[k] then note(grads[k]) end end
end

local function faults_of(s)
  local first = {fast_mode = true}
  local second = {fast_mode = true, atol = 1e-4}
  local inputs = s.inputs()
  local ok, why = pcall(la.gradcheck, s.f, inputs, first)
  if not ok then return "first: " .. why end
  ok, why = pcall(la.gradgradcheck, s.f, s.inputs(), second)
  if not ok then return "second: " .. why end
  if #inputs < 2 then return nil end
  for k = 1, #inputs do     -- each alone: the others keep no history
    inputs = s.inputs()
    for i, x in ipairs(inputs) do x.requires_grad = i == k end
    ok, why = pcall(la.gradcheck, s.f, inputs, first)
    if not ok then return ("alone, argument %d: %s"):format(k, why) end
  end
end

local function never_records(list)
  return not any(list, function(op) return op.differentiable end)
end

-- Results of rows without a gradient have none, whatever the others have.
local function records_some(s)
  local some = false
  each_tensor({s.f(table.unpack(s.inputs()))}, function(t)
    some = some or t.requires_grad
  end)
  return some
end

describe("the derivative of", function()
  for _, name in ipairs(names) do
    local list = rows[name]
    if wanted(name) and any(list, should_record) then
      it(name, function()
        local found, bad = samples.of(name), {}
        local mixed = any(list, function(op) return not op.differentiable end)
        if #found == 0 then
          assert.is_truthy(converts(name), "no sample of " .. name)
        end
        for _, s in ipairs(found) do
          if not mixed or records_some(s) then
            local why = faults_of(s)
            if why then bad[#bad + 1] = s.what .. ": " .. why end
          end
          note_graphs(s)
        end
        assert(#bad == 0, ("%d of %d samples\n  %s"):format(#bad, #found,
          table.concat(bad, "\n  ", 1, math.min(#bad, 4))))
      end)
    elseif wanted(name) and never_records(list) then
      it(name .. " (none)", function()
        for _, s in ipairs(samples.of(name)) do
          if not s.inplace then assert.is_false(records_some(s), s.what) end
        end
      end)
    end
  end

  it("conversions is one in the dtype of the input", function()
    for _, name in ipairs{"float", "half", "bfloat16", "cfloat"} do
      local x = la.ones(3, {dtype = "float64", requires_grad = true})
      local y = x[name](x)
      assert.is_true(y.requires_grad, name)
      y:sum():abs():backward()
      assert.are.equal("float64", x.grad.dtype)
      assert.are.same({1.0, 1.0, 1.0}, x.grad:totable(), name)
    end
    local x = la.ones(3, {dtype = "float64", requires_grad = true})
    assert.is_false(x:long().requires_grad)
    assert.is_false(x:bool().requires_grad)
  end)
end)

describe("every row of derivatives", function()
  it("was used above", function()
    if os.getenv("LUNARRAY_GRAD") then return end
    -- Histories by position in the storage have a node of their own.
    local by_storage = {as_strided = true, unfold = true}
    local unused = {}
    for _, op in ipairs(la.operations()) do
      if op.derivative and not seen[op.row] and not by_storage[op.row] then
        unused[#unused + 1] = op.row
      end
    end
    assert.are.equal("", table.concat(unused, " "))
    assert.is_true(seen.AsStridedBackward)
  end)
end)
