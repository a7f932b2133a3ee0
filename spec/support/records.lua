-- Runs reference records: one call, or one short program, with the result that
-- PyTorch gave. The records (spec/golden) count dims, indices and offsets from
-- 0; here they are handed over from 1, and results brought back.
--
-- records.run(record) returns nil when all is as recorded, else the reason.
local json = require "dkjson"
local la = require "lunarray"
local numbers = require "spec.support.numbers"
local compare = require "spec.support.compare"

local records = {}

-- Positions from 0 to positions from 1; negative ones stay.
local function from_one(i) return i >= 0 and i + 1 or i end

local function absent(v) return v == nil or v == json.null end

---------------------------------------------------------------------------
-- Tensors

local function count(shape)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  return n
end

-- The flat list of Lua values of an encoded tensor.
local function values_of(t)
  local list, real = {}, numbers.is_float(t.dtype) or numbers.part_of(t.dtype)
  for i, v in ipairs(t.data) do
    if t.dtype == "bool" then list[i] = v ~= 0
    elseif real then list[i] = numbers.decode(v)
    elseif t.index then list[i] = from_one(v)
    else list[i] = v end
  end
  return list
end

local function from_values(list, dtype, shape)
  if count(shape) == 0 then return la.zeros(shape, {dtype = dtype}) end
  local part = numbers.part_of(dtype)
  if not part then return la.tensor(list, {dtype = dtype}):view(shape) end
  local pairs_of = la.tensor(list, {dtype = part}):view(#list // 2, 2)
  return la.view_as_complex(pairs_of):view(shape)
end

-- With records.unit_stride, dims of size 1 have that stride, which no element
-- depends on.
local function with_unit_stride(x)
  if x:numel() == 0 then return x end
  local strides = {}
  for d = 1, x.ndim do
    strides[d] = x:size(d) == 1 and records.unit_stride or x:stride(d)
  end
  return x:as_strided(x.shape, strides)
end

-- A tensor of the record, and the tensor of its whole storage. Tensors with
-- the same 'sid' share one, kept in run.shared.
local function build(t, run)
  if not t.stride then
    local x = from_values(values_of(t), t.dtype, t.shape)
    return records.unit_stride and with_unit_stride(x) or x, x
  end
  local whole = t.sid and run.shared[t.sid]
  if not whole then
    local n = numbers.part_of(t.dtype) and #t.data // 2 or #t.data
    whole = from_values(values_of(t), t.dtype, {n})
    if t.sid then run.shared[t.sid] = whole end
  end
  local x = whole:as_strided(t.shape, t.stride, t.offset + 1)
  return t.conj and la.conj(x) or x, whole
end

-- Element i (from 0) is (i * p mod q - c) / scale.
local function from_formula(f)
  local list, part = {}, numbers.part_of(f.dtype)
  for i = 0, count(f.shape) - 1 do
    local v = i * f.p % f.q - f.c
    if f.dtype == "bool" then v = v % 3 == 0
    elseif part or numbers.is_float(f.dtype) then v = v / f.scale end
    list[#list + 1] = v
    if part then list[#list + 1] = 0.0 end
  end
  local x = from_values(list, f.dtype, f.shape)
  return f.transpose == 1 and x:transpose(1, -1) or x
end

---------------------------------------------------------------------------
-- Arguments: one function per tag

local function same(v) return v end

local function each(f)
  return function(list, run)
    local out = {}
    for i, v in ipairs(list) do out[i] = f(v, run) end
    return out
  end
end

-- [start, stop, step] from 0, half open, becomes first..last, both inside.
local function to_range(s)
  local start, stop, step = s[1], s[2], s[3]
  if absent(start) and absent(stop) and absent(step) then return {} end
  local last = -1
  if not absent(stop) then last = stop >= 0 and stop or stop - 1 end
  return {absent(start) and 1 or from_one(start), last,
          not absent(step) and step or nil}
end

local decode
local decoders = {
  int = same, bool = same, str = same, dtype = same, size = each(same),
  float = numbers.decode, dim = from_one, index = from_one,
  dims = each(from_one), slice = to_range, formula = from_formula,
  none = function() return nil end,
  ellipsis = function() return "..." end,
  newaxis = function() return la.newaxis end,
  ref = function(name, run) return run.vars[name] end,
  list = each(function(v, run) return decode(v, run) end),
  complex = function(c)
    return la.complex(numbers.decode(c[1]), numbers.decode(c[2]))
  end,
  t = function(t, run)
    local x, whole = build(t, run)
    run.last_whole = whole
    return x
  end,
}

function decode(argument, run)
  for tag, value in pairs(argument) do
    if decoders[tag] then return decoders[tag](value, run) end
  end
  error("unknown kind of argument in a record")
end

-- args (with n), keywords or nil, and by position or name the whole storages.
local function decode_call(r, run)
  local args, keywords, wholes = {n = #r.args}, nil, {}
  local function one(key, a)
    run.last_whole = nil
    local v = decode(a, run)
    wholes[key] = {tensor = run.last_whole, dtype = a.t and a.t.dtype}
    return v
  end
  for i, a in ipairs(r.args) do args[i] = one(i, a) end
  for name, a in pairs(r.kwargs or {}) do
    keywords = keywords or {}
    keywords[name] = one(name, a)
  end
  return args, keywords, wholes
end

---------------------------------------------------------------------------
-- Calls

local operators = {
  add = function(a, b) return a + b end, sub = function(a, b) return a - b end,
  mul = function(a, b) return a * b end, div = function(a, b) return a / b end,
  floor_divide = function(a, b) return a // b end,
  remainder = function(a, b) return a % b end,
  pow = function(a, b) return a ^ b end,
  bitwise_and = function(a, b) return a & b end,
  bitwise_or = function(a, b) return a | b end,
  bitwise_xor = function(a, b) return a ~ b end,
  bitwise_left_shift = function(a, b) return a << b end,
  bitwise_right_shift = function(a, b) return a >> b end,
  neg = function(a) return -a end, bitwise_not = function(a) return ~a end,
}

local function is_tensor(v) return type(v) == "userdata" end

-- A list of one integer or index tensor is written x[i].
local function to_key(items)
  local only = #items == 1 and items[1]
  if only and (math.type(only) == "integer" or is_tensor(only)) then
    return only
  end
  return items
end

local styles = {
  ["function"] = function(op) return la[op] end,
  method = function(op, self) return self[op] end,
  inplace = function(op, self) return self[op] end,
  operator = function(op) return operators[op] end,
  attr = function(op) return function(x) return x[op] end end,
  getitem = function()
    return function(x, items) return x[to_key(items)] end
  end,
  setitem = function()
    return function(x, items, v) x[to_key(items)] = v; return x end
  end,
}

-- The call of a record: a function, its arguments (with n), and the keywords or
-- nil. Raises where the operation is missing.
function records.call_of(r)
  local run = {shared = {}, vars = {}}
  local args, keywords = decode_call(r, run)
  return assert(styles[r.style](r.op, args[1])), args, keywords
end

-- true and the packed results, or false and the error.
local function call(r, args, keywords)
  local found, fn = pcall(styles[r.style], r.op, args[1])
  if not found or fn == nil then return nil, "no such operation" end
  local n = args.n
  if keywords then
    n = n + 1
    args[n] = keywords
  end
  local results = table.pack(pcall(fn, table.unpack(args, 1, n)))
  if not results[1] then return false, tostring(results[2]) end
  table.remove(results, 1)
  results.n = results.n - 1
  return true, results
end

-- A single table of results is opened.
local function opened(results)
  local only = results[1]
  if results.n == 1 and type(only) == "table" then
    only.n = #only
    return only
  end
  return results
end

---------------------------------------------------------------------------
-- What a single call must have done

-- Where our text has other words than PyTorch's: a part of its text, and one of
-- ours.
local OUR_WORDS = {
  {"aminmax over an empty dimension", "Expected reduction dim"},
  {"\"bincount_cpu\" not implemented", "'bincount' (bincount needs integers"},
  {"\"lerp_kernel_scalar\" not implemented", "'lerp' (lerp interpolates"},
  {"result type ComplexDouble can't be cast", "the result needs"},
  {"missing 1 required positional", "expected, got no value for"},
  {"integer multiplication overflow", "'resize_' (Trying to create tensor"},
  {"got (dims=int, )", "sum: unknown keyword 'dims'"},
  {"tried to access index", "is out of bounds for size"},
  {"tensor has no dimensions", "expects at least a 1-dimensional tensor"},
  {"multiply up to the size of dim", "is invalid for input of size"},
  {"imag is not implemented for", "\"imag\" not implemented for 'Float'"},
  {"linalg.vector_norm: Expected", "\"norm\" not implemented for 'Long'"},
  {"got (float), but expected one of", "no integer representation"},
}

-- Words of three letters and more of the first sentence.
local function words_of(text)
  local words, n = {}, 0
  for word in text:sub(1, 120):lower():gmatch("%a%a%a+") do
    if not words[word] then n = n + 1 end
    words[word] = true
  end
  return words, n
end

-- At least half of the words of PyTorch's text are in ours.
local function same_matter(want, message)
  for _, pair in ipairs(OUR_WORDS) do
    if want:find(pair[1], 1, true) and message:find(pair[2], 1, true) then
      return true
    end
  end
  local ours, common = message:lower(), 0
  local words, n = words_of(want)
  for word in pairs(words) do
    if ours:find(word, 1, true) then common = common + 1 end
  end
  return n > 0 and 2 * common >= n
end

-- Texts of broadcasting are PyTorch's; others name the same matter.
local function check_error(ok, message, e)
  if ok then return "no error, want: " .. e.error end
  if message:find(e.error1 or e.error, 1, true) then return nil end
  if message:find(e.error, 1, true) then return nil end
  if e.match ~= "broadcast" and same_matter(e.error, message) then return end
  return ("raised '%s', want '%s'"):format(message, e.error1 or e.error)
end

local function check_fields(object, fields)
  for name, want in pairs(fields) do
    local why = compare.value(object[name], want, {}, false)
    if why then return name .. ": " .. why end
  end
end

local function check_value(results, r)
  local got = results[1]
  if r.expect.value.list and type(got) ~= "table" then
    got = {table.unpack(results, 1, results.n)}
  end
  return compare.value(got, r.expect.value, r.tol or {}, r.index_value)
end

local function check_tensors(results, wanted, tol)
  results = opened(results)
  if results.n ~= #wanted then
    return ("%d results, want %d"):format(results.n, #wanted)
  end
  for i, want in ipairs(wanted) do
    local why = compare.tensor(results[i], want, tol)
    if why then return ("result %d: %s"):format(i, why) end
  end
end

-- Nothing outside of the view may have changed.
local function check_storages(r, wholes, tol)
  for _, p in ipairs(r.expect.post or {}) do
    local key = type(p.arg) == "number" and p.arg + 1 or p.arg
    local whole = wholes[key]
    local why = compare.storage(whole.tensor, p.data, whole.dtype, tol,
                                r.expect.tensors[1].index)
    if why then return ("storage of argument %s: %s"):format(p.arg, why) end
  end
end

-- Write through the result and look at the base, or the other way round.
local function check_sharing(alias, results, whole)
  local view, base = opened(results)[alias.out + 1], whole.tensor
  local why
  if alias.fill then
    view:fill_(alias.fill)
    why = compare.storage(base, alias.base_after, whole.dtype, {})
  else
    base:fill_(alias.base)
    why = compare.storage(view, alias.view_after, whole.dtype, {})
  end
  return why and "sharing of storage: " .. why
end

local function check_written(r, args, keywords, tol)
  local want = r.expect.tensors[1]
  if r.style == "inplace" or r.style == "setitem" then
    local why = compare.tensor(args[1], want, tol)
    if why then return "self afterwards: " .. why end
  end
  if keywords and is_tensor(keywords.out) then
    local why = compare.tensor(keywords.out, want, tol)
    if why then return "out afterwards: " .. why end
  end
end

local function run_call(r)
  local tol, run = r.tol or {}, {shared = {}, vars = {}}
  local args, keywords, wholes = decode_call(r, run)
  local ok, results = call(r, args, keywords)
  if ok == nil then return results end
  if r.expect.error then return check_error(ok, results, r.expect) end
  if not ok then return "error: " .. results end
  if r.expect.fields then return check_fields(results[1], r.expect.fields) end
  if r.expect.value then return check_value(results, r) end
  return check_tensors(results, r.expect.tensors, tol)
    or check_written(r, args, keywords, tol)
    or check_storages(r, wholes, tol)
    or (r.alias and check_sharing(r.alias, results, wholes[1]))
    or nil
end

---------------------------------------------------------------------------
-- Programs

local function bind(vars, names, results)
  results = opened(results)
  for i, name in ipairs(names) do
    if name ~= "" then vars[name] = results[i] end
  end
end

local function run_step(k, step, run)
  local args, keywords = decode_call(step, run)
  local ok, results = call(step, args, keywords)
  local where = ("step %d (%s): "):format(k, step.op)
  if ok == nil then return where .. results end
  if step.raises then
    return ok and where .. "no error, want: " .. step.raises or nil
  end
  if not ok then return where .. results end
  if step.out then bind(run.vars, step.out, results) end
end

local function make_inputs(r, run)
  local leaves = {}
  for _, input in ipairs(r.inputs) do
    local x, whole = build(input.t, run)
    run.keep[#run.keep + 1] = whole
    if input.requires_grad then
      x:requires_grad_(true)
      leaves[#leaves + 1] = input.name
    end
    run.vars[input.name] = x
  end
  return leaves
end

local function check_final(final, run, tol)
  for name, want in pairs(final) do
    local why = compare.tensor(run.vars[name], want, tol)
    if why then return name .. " at the end: " .. why end
  end
end

-- The gradients, then the weighted sum of them runs backward.
local function backward_twice(r, run, leaves, loss, weight, tol)
  local inputs = {}
  for i, name in ipairs(leaves) do inputs[i] = run.vars[name] end
  local grads = table.pack(la.grad(loss, inputs,
    {create_graph = true, grad_outputs = weight}))
  if grads.n == 1 and type(grads[1]) == "table" then grads = grads[1] end
  local sum
  for i, name in ipairs(leaves) do
    local why = compare.tensor(grads[i], r.expect.first[i], tol)
    if why then return "first gradient of " .. name .. ": " .. why end
    local term = (grads[i] * build(r.double.coef[i], run)):sum()
    sum = sum and sum + term or term
  end
  sum:backward()
end

local function check_grads(r, run, leaves, tol)
  for _, name in ipairs(leaves) do
    local got, want = run.vars[name].grad, r.expect.grads[name]
    local why
    if absent(want) then why = got ~= nil and "there is one, want nil" or nil
    elseif got == nil then why = "nil"
    else why = compare.tensor(got, want, tol) end
    if why then return "gradient of " .. name .. ": " .. why end
  end
end

local function check_failing_backward(e, loss, weight)
  if e.at == "step" then return "no error, want: " .. e.error end
  if pcall(function() loss:backward(weight) end) then
    return "backward: no error, want: " .. e.error
  end
end

local function check_loss(r, run, leaves, tol)
  local loss = run.vars[r.loss]
  local weight = r.grad_out and build(r.grad_out, run)
  if r.expect.error then
    return check_failing_backward(r.expect, loss, weight)
  end
  local why = compare.tensor(loss, r.expect.value, tol)
  if why then return "loss: " .. why end
  if r.double then
    why = backward_twice(r, run, leaves, loss, weight, tol)
    if why then return why end
  else
    loss:backward(weight)
  end
  return check_grads(r, run, leaves, tol)
end

local function run_program(r)
  local tol = r.tol or {}
  local run = {shared = {}, vars = {}, keep = {}}
  local leaves = make_inputs(r, run)
  for k, step in ipairs(r.steps) do
    local why = run_step(k, step, run)
    if why then return why end
    if step.raises and r.expect.error then return nil end
  end
  if r.expect.final then return check_final(r.expect.final, run, tol) end
  return check_loss(r, run, leaves, tol)
end

---------------------------------------------------------------------------

function records.run(r)
  local fn = r.op == "program" and run_program or run_call
  local ok, why = pcall(fn, r)
  if not ok then return "outside of the tested call: " .. tostring(why) end
  return why
end

-- Iterate the records of a file.
function records.each(path)
  local next_line = io.lines(path)
  return function()
    local line = next_line()
    while line == "" do line = next_line() end
    if line then return assert(json.decode(line, 1, json.null)) end
  end
end

return records
