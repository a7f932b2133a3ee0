-- lunarray.onnx.host: models as programs of hosts (la_model_load).
--
-- A program is recorded for certain sizes. Where a file leaves sizes open, the
-- first ones are found here, and the model stays to plan for others.
local la = require "lunarray"

local rows = require "lunarray.onnx.rows"

local host = {}

-- Sizes that are tried for open dims: the least that every layer can take,
-- windows and pools among them.
local LADDER = {1, 2, 8, 32, 64, 256, 1024}

-- Bit d - 1 for a size that the file leaves open; all for a shape that it does
-- not tell.
local function open_bits(info)
  if not info.shape then return -1 end
  local bits = 0
  for d, size in ipairs(info.shape) do
    if math.type(size) ~= "integer" then bits = bits | 1 << d - 1 end
  end
  return bits
end

-- Names of first dims of several: batches, which are 1.
local function batch_names(infos)
  local names = {}
  for _, info in ipairs(infos) do
    local shape = info.shape
    if shape and #shape > 1 then names[shape[1]] = shape[1] ~= "?" end
  end
  return names
end

-- Sizes of all inputs by name: open ones are n, but for batches.
local function sizes_at(infos, n)
  local sizes, batches = {}, batch_names(infos)
  for _, info in ipairs(infos) do
    local list = {}
    for d, size in ipairs(info.shape or {}) do
      if math.type(size) ~= "integer" then
        local batch = d == 1 and #info.shape > 1 or batches[size]
        size = batch and 1 or n
      end
      list[d] = size
    end
    sizes[info.name] = list
  end
  return sizes
end

local function names_of(infos, outs)
  local all = {input = {}, output = {}, weight = {}}
  for k, info in ipairs(infos) do all.input[k] = info.name end
  for k, info in ipairs(outs) do all.output[k] = info.name end
  return all
end

-- Zeros of the sizes that the file says, 1 for open ones; what is no tensor of
-- numbers raises the problem.
local function zeros(infos, problem)
  local list = {}
  for k, info in ipairs(infos) do
    local dtype = info.dtype or "float32"
    if dtype == "string" or dtype:find("(", 1, true) then error(problem, 0) end
    list[k] = la.zeros(sizes_at({info}, 1)[info.name],
      {dtype = rows.unpacked[dtype] or dtype})
  end
  return list
end

-- A program of the same inputs and outputs, for what it says of them: the model
-- itself is run, as elements of its inputs choose what it computes.
local function form(infos, outs, problem)
  local step = la.compile(function()
    la._recording()("names", names_of(infos, outs))
    return table.unpack(zeros(outs, problem))
  end)
  la.no_grad(step, table.unpack(zeros(infos, problem)))
  return step:program()
end

-- The program. Where sizes are open also a function of lists of sizes, one for
-- each input, that plans for them, and the bits of open dims of all inputs and
-- outputs, as a list. Where no program has it all the function is the model's,
-- of its inputs, and a true follows.
function host.program(bytes)
  local model = la.onnx.load(bytes, {bytes = true})
  local infos, outs, bits, open = model:inputs(), model:outputs(), {}, false
  for _, info in ipairs(infos) do
    bits[#bits + 1] = open_bits(info)
    open = open or bits[#bits] ~= 0
  end
  for _, info in ipairs(outs) do bits[#bits + 1] = open_bits(info) end
  local problem
  for _, n in ipairs(open and LADDER or {1}) do
    local ok, result = pcall(model.program, model, sizes_at(infos, n))
    if ok and not open then return result end
    if ok then
      return result, function(...)
        local sizes = {}
        for k, info in ipairs(infos) do sizes[info.name] = (select(k, ...)) end
        return model:program(sizes)
      end, bits
    end
    problem = problem or result
  end
  if #model:summary().problems > 0 then error(problem, 0) end
  return form(infos, outs, problem), function(...)
    return la.no_grad(model, ...)
  end, bits, true
end

return host
