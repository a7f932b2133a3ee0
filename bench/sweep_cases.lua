-- The list of bench/sweep.lua: whole families of operations over dtypes,
-- sizes and forms, to find what the chosen cases of bench/cases.json don't
-- show. A case is a call that reads the same in PyTorch: {name, op, args, dim,
-- out, number}. An argument is {shape, dtype, fill, view}; dims count from 0.
--
-- fill: "unit" (0.05 to 0.95; integers 1 to 99; a random mask), "over"
-- (1.05 to 1.95), "sign" (-0.95 to 0.85), "index" (indices below `below`,
-- "sorted" likewise), "shift" (0 to 6). view: "step" (every second element),
-- "t" (transposed).
local list = {}

local floats = {"float32", "float64", "float16", "bfloat16"}
local ints = {"uint8", "int8", "int16", "int32", "int64"}
local complexes = {"complex64", "complex128"}

local function joined(...)
  local all = {}
  for _, part in ipairs{...} do table.move(part, 1, #part, #all + 1, all) end
  return all
end

local reals = joined(floats, ints)
local numbers = joined(reals, complexes)
local all = joined(numbers, {"bool"})

local function words(text)
  local found = {}
  for word in text:gmatch("%S+") do found[#found + 1] = word end
  return found
end

local function add(family, case)
  local parts = {family, case.op, case.what}
  parts[#parts + 1] = case.args[1].dtype
  parts[#parts + 1] =
    table.concat(case.args[1].shape, "x")
  if case.number then parts[#parts + 1] = case.number end
  if case.dim then parts[#parts + 1] = "dim" .. case.dim end
  parts[#parts + 1] = case.out and "out" or "new"
  case.name = table.concat(parts, " ")
  list[#list + 1] = case
end

-- Element by element: `count` tensors of one shape.
local function pointwise(names, dtypes, count, options)
  options = options or {}
  for _, op in ipairs(words(names)) do
    for _, dtype in ipairs(dtypes) do
      for _, n in ipairs(options.sizes or {100000}) do
        for _, out in ipairs(options.forms or {true}) do
          local args = {}
          for i = 1, count do
            args[i] = {shape = {n}, dtype = dtype,
              fill = i > 1 and options.fill2 or options.fill or "unit"}
          end
          add("pointwise", {op = op, args = args, out = out,
            number = options.number})
        end
      end
    end
  end
end

local every = {sizes = {100000, 1000000}, forms = {false, true}}

local function with(options, more)
  local both = {}
  for k, v in pairs(options) do both[k] = v end
  for k, v in pairs(more) do both[k] = v end
  return both
end

pointwise("add mul", all, 2, every)
pointwise("sub div", numbers, 2, {sizes = every.sizes})
pointwise("maximum minimum lt eq", joined(reals, {"bool"}), 2,
  {sizes = every.sizes})
pointwise("neg abs square", numbers, 1, {sizes = every.sizes})
pointwise("exp log sin cos tanh sigmoid sqrt erf gelu", floats, 1, every)
pointwise("exp2 expm1 log2 log10 log1p tan asin acos atan sinh cosh asinh "
  .. "atanh rsqrt erfc erfinv lgamma digamma sinc i0 i1 i0e reciprocal frac "
  .. "logit deg2rad nan_to_num log_ndtr ndtri", floats, 1)
pointwise("silu mish softplus elu selu relu hardswish hardsigmoid logsigmoid "
  .. "softsign leaky_relu relu6", floats, 1, {fill = "sign"})
pointwise("acosh", floats, 1, {fill = "over"})
pointwise("floor ceil trunc round sign signbit isnan isfinite isinf",
  floats, 1)
pointwise("sign relu bitwise_not logical_not", ints, 1)
pointwise("exp log sin cos tanh sqrt reciprocal sigmoid angle conj_physical "
  .. "sgn isnan", complexes, 1)
pointwise("pow atan2 hypot copysign nextafter fmod remainder floor_divide "
  .. "logaddexp xlogy fmax heaviside", floats, 2)
pointwise("floor_divide remainder fmod bitwise_and bitwise_xor gcd "
  .. "logical_and ne ge", ints, 2)
pointwise("bitwise_left_shift bitwise_right_shift pow", ints, 2,
  {fill2 = "shift"})
pointwise("pow", complexes, 2)
pointwise("addcmul addcdiv lerp", joined(floats, complexes), 3)
pointwise("addcmul clamp", ints, 3)
pointwise("clamp", floats, 3)
pointwise("add mul div eq", numbers, 1,
  {number = 3, sizes = {1000000}})
pointwise("maximum lt", reals, 1,
  {number = 3, sizes = {1000000}})
pointwise("pow", numbers, 1, {number = 3})
pointwise("floor_divide remainder", reals, 1, {number = 7})
for _, dtype in ipairs(all) do
  for _, n in ipairs{100000, 1000000} do
    local mask = {shape = {n}, dtype = "bool", fill = "unit"}
    local x = {shape = {n}, dtype = dtype, fill = "unit"}
    add("pointwise", {op = "where", what = dtype, args = {mask, x, x},
      out = true})
  end
end

-- Layouts of two operands of 1000 x 1000.
for _, op in ipairs(words("add mul lt where")) do
  for _, dtype in ipairs(words("float32 float64 bfloat16 int8 int32 int64 "
    .. "uint8 complex64")) do
    if not (op == "lt" and dtype == "complex64") then
      for _, what in ipairs(words("row col step t both_t")) do
        local x = {shape = {1000, 1000}, dtype = dtype, fill = "unit"}
        local y = {shape = {1000, 1000}, dtype = dtype, fill = "unit"}
        if what == "row" then y.shape = {1000} end
        if what == "col" then y.shape = {1000, 1} end
        if what == "step" then y.view = "step" end
        if what == "t" or what == "both_t" then y.view = "t" end
        if what == "both_t" then x.view = "t" end
        local args = {x, y}
        if op == "where" then
          args = {x, x, y}
          args[1] = {shape = {1000, 1000}, dtype = "bool", fill = "unit",
            view = x.view}
          what = what .. " " .. dtype
        end
        add("layout", {op = op, what = what, args = args, out = true})
      end
    end
  end
end

for _, from in ipairs(all) do
  for _, to in ipairs(all) do
    if from ~= to then
      add("cast", {op = "copy_", what = "to " .. to, to = to,
        args = {{shape = {1000000}, dtype = from, fill = "unit"}}})
    end
  end
  add("cast", {op = "contiguous",
    args = {{shape = {1000, 1000}, dtype = from, fill = "unit", view = "t"}}})
end

-- Reductions.
local shapes = {{{1000000}}, {{1000, 1000}, 0}, {{1000, 1000}, 1},
  {{100, 100, 100}, 1}, {{1000000, 10}, 0}, {{1000000, 10}, 1},
  {{10, 100000}, 0},
  {{10, 100000}, 1}, {{10000, 100}, 1}, {{100000, 3}, 1}}

local function reductions(names, dtypes, needs_dim)
  for _, op in ipairs(words(names)) do
    for _, dtype in ipairs(dtypes) do
      for _, at in ipairs(shapes) do
        local dim = at[2] or needs_dim and 0 or nil
        add("reduction", {op = op, dim = dim,
          args = {{shape = at[1], dtype = dtype, fill = "unit"}}})
      end
    end
  end
end

reductions("sum prod", numbers)
reductions("mean var std", joined(floats, complexes))
reductions("amax amin argmax argmin", joined(reals, {"bool"}))
reductions("any all count_nonzero", {"bool", "float32", "uint8"})
reductions("norm", {"float32", "float64", "bfloat16"})
reductions("logsumexp", {"float32", "float64", "bfloat16"}, true)
reductions("softmax log_softmax", floats, true)
reductions("cumsum cumprod", numbers, true)
reductions("cummax", joined(reals, {"bool"}), true)

-- Order and index.
for _, dtype in ipairs(words("float32 float64 int32 int64 uint8 bfloat16")) do
  for _, shape in ipairs{{1000}, {100000}, {1000000}, {10000, 10}, {10000, 64},
    {1000, 256}, {1000, 1000}} do
    local x = {shape = shape, dtype = dtype, fill = "unit"}
    for _, op in ipairs(words("sort argsort")) do
      add("order", {op = op, args = {x}, dim = #shape - 1})
    end
    if #shape == 1 then
      add("order", {op = "unique", args = {x}})
      add("order", {op = "searchsorted", args = {{shape = {1000},
        dtype = dtype, fill = "sorted"}, x}})
    else
      add("order", {op = "topk", args = {x}, number = 5})
    end
    add("order", {op = "median", args = {x}})
  end
end

for _, dtype in ipairs(words("float32 float64 int64 uint8 bfloat16")) do
  for _, n in ipairs{100000, 1000000} do
    local function flat(fill)
      return {shape = {n}, dtype = dtype, fill = "unit"},
        {shape = {n}, dtype = "int64", fill = fill, below = n}
    end
    for _, fill in ipairs{"index", "sorted"} do
      local x, at = flat(fill)
      for _, op in ipairs(words("gather index_select")) do
        add("index", {op = op, what = fill, dim = 0, args = {x, at}})
      end
      add("index", {op = "take", what = fill, args = {x, at}})
      for _, op in ipairs(words("scatter scatter_add index_add")) do
        add("index", {op = op, what = fill, dim = 0, args = {x, at, x}})
      end
    end
    local x = flat("index")
    local mask = {shape = {n}, dtype = "bool", fill = "unit"}
    add("index", {op = "masked_select", args = {x, mask}})
    add("index", {op = "masked_fill", args = {x, mask}, number = 3})
    add("index", {op = "nonzero", args = {mask}, what = "mask"})
    add("index", {op = "flip", dims = {0}, args = {x}})
    add("index", {op = "roll", number = 7, args = {x}})
    add("index", {op = "cat", list = true, dim = 0, args = {x, x}})
    add("index", {op = "stack", list = true, dim = 0, args = {x, x}})
    add("index", {op = "stack", list = true, dim = 1, args = {x, x}})
    add("index", {op = "repeat_interleave", number = 3, args = {x}})
  end
  for _, w in ipairs{3, 16, 64, 1000} do
    local rows = 1000000 // w
    local x = {shape = {rows, w}, dtype = dtype, fill = "unit"}
    local at = {shape = {rows}, dtype = "int64", fill = "index", below = rows}
    add("index", {op = "index_select", what = "rows", dim = 0,
      args = {x, at}})
    add("index", {op = "index_add", what = "rows", dim = 0,
      args = {x, at, x}})
    add("index", {op = "gather", what = "columns", dim = 1, args = {x,
      {shape = {rows, w}, dtype = "int64", fill = "index", below = w}}})
    add("index", {op = "flip", what = "columns", dims = {1}, args = {x}})
    add("index", {op = "flip", what = "rows", dims = {0}, args = {x}})
    add("index", {op = "cat", list = true, what = "columns", dim = 1,
      args = {x, x}})
    add("index", {op = "pad", pads = {1, 1}, args = {x}})
  end
end
add("index", {op = "bincount", args = {{shape = {1000000}, dtype = "int64",
  fill = "index", below = 100}}})

return list
