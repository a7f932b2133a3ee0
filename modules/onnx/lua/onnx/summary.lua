-- lunarray.onnx.summary: what a model consists of, what it costs, and what of
-- it cannot run.
local la = require "lunarray"
local nn = require "lunarray.nn"
local rows = require "lunarray.onnx.rows"
local numbers = require "lunarray.numbers"

local summary = {}

-- "float32 (batch, 3, 48, width)"
function summary.type_text(info)
  local text = info.dtype or "any dtype"
  if not info.shape then return text end
  local list = {}
  for k, size in ipairs(info.shape) do list[k] = numbers.text(size) end
  return ("%s (%s)"):format(text, table.concat(list, ", "))
end

-- All problems, those of one kind together.
function summary.problems(list)
  local texts, count, order = {}, {}, {}
  for _, p in ipairs(list) do
    local text = p.text
    if not count[text] then
      order[#order + 1], count[text] = text, 0
      texts[text] = p.node
    end
    count[text] = count[text] + 1
  end
  for k, text in ipairs(order) do
    order[k] = ("%s: %s"):format(texts[text], text)
    if count[text] > 1 then
      order[k] = ("%s (and %d more)"):format(order[k], count[text] - 1)
    end
  end
  return "not supported: " .. table.concat(order, "; ")
end

local function operators(counts)
  local list = {}
  for name, n in pairs(counts) do list[#list + 1] = {name, n} end
  table.sort(list, function(a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[1] < b[1]
  end)
  for k, entry in ipairs(list) do
    list[k] = ("%s %d"):format(entry[1], entry[2])
  end
  return list
end

-- ---- multiply-adds ----

-- Those of one step, by the sizes that came out.
local WORK = {}
function WORK.Conv(ins, outs)
  local w = ins[2]
  return outs[1]:numel() * (w:numel() // math.max(w:size(1), 1))
end
WORK.ConvInteger, WORK.QLinearConv = WORK.Conv, function(ins, outs)
  return WORK.Conv({ins[1], ins[4]}, outs)
end
function WORK.ConvTranspose(ins)
  return ins[1]:numel() * (ins[2]:numel() // math.max(ins[2]:size(1), 1))
end
function WORK.MatMul(ins, outs)
  local a = ins[1]
  return outs[1]:numel() * (a.ndim > 0 and a:size(-1) or 1)
end
WORK.MatMulInteger, WORK.FusedMatMul = WORK.MatMul, WORK.MatMul
WORK.DynamicQuantizeMatMul = WORK.MatMul
function WORK.Gemm(ins, outs)
  return outs[1]:numel() * (ins[1]:numel() // math.max(outs[1]:size(1), 1))
end
function WORK.LSTM(ins)
  local x = ins[1]
  return x:size(1) * x:size(2) * (ins[2]:numel() + ins[3]:numel())
end
WORK.GRU, WORK.RNN = WORK.LSTM, WORK.LSTM
summary.work = WORK

-- ---- the object ----

local Summary = {}
Summary.__index = Summary

function Summary:__tostring()
  local lines = {}
  local function add(text, ...) lines[#lines + 1] = text:format(...) end
  add("%d nodes of %d operators: %s", self.nodes, #self.list,
    table.concat(self.list, ", "))
  add("%s parameters (%s), opset %d", nn._with_commas(self.parameters),
    nn._bytes_text(self.bytes), self.opset)
  for _, info in ipairs(self.inputs) do
    add("input %s: %s", info.name, summary.type_text(info))
  end
  for _, info in ipairs(self.outputs) do
    add("output %s: %s", info.name, summary.type_text(info))
  end
  if self.multiply_adds then
    add("%s multiply-adds", nn._with_commas(self.multiply_adds))
  end
  if #self.problems == 0 then
    add("everything is supported")
  else
    add("%d not supported:", #self.problems)
    for _, p in ipairs(self.problems) do add("  %s: %s", p.node, p.text) end
  end
  return table.concat(lines, "\n")
end

-- Inputs of zeros of the given sizes.
local function zeros(model, sizes)
  local inputs = {}
  for _, info in ipairs(model:inputs()) do
    local size = sizes[info.name] or sizes[1] and #model:inputs() == 1 and sizes
    if size then
      local dtype = rows.unpacked[info.dtype] or info.dtype
      inputs[info.name] = la.zeros(size, {dtype = dtype})
    end
  end
  return inputs
end

-- The steps run once, and say what they did.
local function count(model, sizes, execute)
  local total, undo = 0, {}
  local function watch(g)
    for _, step in ipairs(g.steps) do
      local work, f = WORK[step.op], step.run
      if work then
        undo[step] = f
        step.run = function(...)
          local out = table.pack(f(...))
          local ins = {select(step.row.state and 3 or 1, ...)}
          total = total + work(ins, out)
          return table.unpack(out, 1, out.n)
        end
      end
      for _, inner in ipairs(step.inner) do watch(inner) end
    end
    g.plans, g.single = {}, true
  end
  local function restore(g)
    for _, step in ipairs(g.steps) do
      step.run = undo[step] or step.run
      for _, inner in ipairs(step.inner) do restore(inner) end
    end
    g.plans, g.single = {}, nil
  end
  watch(model.plan.graph)
  local ok, problem = pcall(la.no_grad, function()
    execute(model, zeros(model, sizes), model.chosen)
  end)
  restore(model.plan.graph)
  if not ok then error(problem, 0) end
  return total
end

-- How many nodes there are, and of which operators; of a part that was cut,
-- those before it.
local function count_nodes(model)
  if not model.chosen then return model.plan.nodes, model.plan.counts end
  local steps, counts = model:_chosen_steps(), {}
  for _, s in ipairs(steps) do
    counts[s.step.op] = (counts[s.step.op] or 0) + 1
  end
  return #steps, counts
end

function summary.of(model, sizes, execute)
  local plan, parameters, bytes = model.plan, 0, 0
  local values = rawget(model, nn._STATE).values
  for _, w in ipairs(model.weights) do
    local t = model.data[w.index] or values[w.name]
    parameters, bytes = parameters + t:numel(), bytes + t:nbytes()
  end
  local nodes, counts = count_nodes(model)
  local self = {nodes = nodes, list = operators(counts),
    counts = counts, parameters = parameters, bytes = bytes,
    opset = plan.opsets[""], inputs = model:inputs(), outputs = model:outputs(),
    problems = plan.problems, unsupported = plan.problems}
  if sizes and #plan.problems == 0 then
    self.multiply_adds = count(model, sizes, execute)
  end
  return setmetatable(self, Summary)
end

return summary
