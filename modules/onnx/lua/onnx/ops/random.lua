-- lunarray.onnx.ops.random: numbers drawn at random. A seed in the file is one
-- of a generator of its own; without one they come from the state's.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("")

local function generator_of(node)
  local seed = node.attributes.seed
  if not seed then return nil end
  local whole = math.tointeger(seed) or string.unpack("<i4",
    string.pack("<f", seed))
  return la.Generator(whole)
end

local function drawing(name, make)
  op[name] = {random = true, make = make}
end

local function dtype_of(node, default)
  return rows.dtypes[node:get("dtype", 0)] or default
end

local function normal(node, shape, dtype)
  local x = la.randn(shape, {generator = generator_of(node)})
  return (x * node:get("scale", 1.0) + node:get("mean", 0.0)):to(dtype)
end

local function uniform(node, shape, dtype)
  local low, high = node:get("low", 0.0), node:get("high", 1.0)
  local x = la.rand(shape, {generator = generator_of(node)})
  return (x * (high - low) + low):to(dtype)
end

for name, draw in pairs{RandomNormal = normal, RandomUniform = uniform} do
  drawing(name, function(node)
    local dtype = dtype_of(node, "float32")
    return function() return draw(node, node:get("shape"), dtype) end
  end)
  drawing(name .. "Like", function(node)
    return function(x)
      return draw(node, rows.sizes(x), dtype_of(node, x.dtype))
    end
  end)
end

drawing("Bernoulli", function(node)
  return function(x)
    local u = la.rand(rows.sizes(x), {generator = generator_of(node)})
    return u:to("float64"):lt(x:to("float64")):to(dtype_of(node, x.dtype))
  end
end)

-- Categories by unnormalized log-probabilities: the largest of scores with
-- noise of Gumbel's distribution.
drawing("Multinomial", function(node)
  local n, dtype = node:get("sample_size", 1), dtype_of(node, "int32")
  return function(x)
    local u = la.rand({x:size(1), n, x:size(2)},
      {generator = generator_of(node)})
    local noise = -(-(u + 1e-20):log() + 1e-20):log()
    return (x:to("float32"):unsqueeze(2) + noise):argmax(3):add(-1):to(dtype)
  end
end)
