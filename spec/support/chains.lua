-- Random programs of 5 to 25 steps over tensors of which several share memory:
-- views, writes through them, element-wise calls, reductions, casts. A program
-- is a list of steps drawn from a seed; chains.run evaluates it as it stands
-- and next to it on copies alone, and says where the two disagree.
--
--   lua5.4 spec/support/chains.lua FIRST LAST [exact]
-- prints a line with the hash of all tensors for each seed: the specification
-- compares the lines of CPU capabilities.
local la = require "lunarray"

local chains = {}

local DTYPES = {"float32", "float32", "float64", "int32", "int64", "float16",
  "uint8"}

-- xorshift: math.random belongs to the test runner.
local function random_of(seed)
  local s = seed * 2654435769 + 88172645463325252
  local function draw(n)
    s = s ~ (s << 13)
    s = s ~ (s >> 7)
    s = s ~ (s << 17)
    return (s >> 11) % n + 1
  end
  for _ = 1, 8 do draw(2) end
  return draw
end

chains.random_of = random_of

---------------------------------------------------------------------------
-- Bits

local function is_real(t) return t:is_floating_point() end

-- Contiguous, with one kind of NaN.
local function plain(t)
  t = t:detach():clone({memory_format = "contiguous"})
  if is_real(t) then t = la.where(t:isnan(), 0 / 0, t):to(t.dtype) end
  return t
end

local function bits(t)
  return t.dtype .. table.concat(t.shape, "x") .. plain(t):tostring_raw()
end
chains.bits = bits

local function hash(t)
  local bytes = plain(t):view(-1):view("uint8"):to("int64")
  local weights = la.arange(bytes:numel(), {dtype = "int64"}) * 31 % 65521 + 1
  return ("%s %s %x"):format(t.dtype, table.concat(t.shape, "x"),
    (bytes * weights):sum():item())
end

---------------------------------------------------------------------------
-- Two worlds. In the first a variable is a tensor. In the second it is a list
-- of positions in a memory of its root, never strided and never shared: what
-- is read is gathered, what is written is put back.

local function root(t)
  local n = t:numel()
  return {memory = {t:clone({memory_format = "contiguous"}):view(n)},
    at = la.arange(1, n + 1, 1, {dtype = "int64"}):view(t.shape)}
end

local function value(v)
  if v.at:numel() == 0 then
    return la.zeros(v.at.shape, {dtype = v.memory[1].dtype})
  end
  return v.memory[1]:index_select(1, v.at:reshape(-1)):view(v.at.shape)
end

local function viewed(v, f) return {memory = v.memory, at = f(v.at):clone(
  {memory_format = "contiguous"})} end

local function put(v, t)
  while t.ndim > v.at.ndim do t = t[1] end      -- leading dims of size 1
  v.memory[1] = v.memory[1]:index_put({v.at:reshape(-1)},
    t:expand(v.at.shape):reshape(-1):to(v.memory[1].dtype))
end

-- Does a variable reach some element twice?
local function repeats(v)
  local sorted = v.at:reshape(-1):sort()
  local n = sorted:numel()
  return n > 1 and sorted:diff():eq(0):sum():item() > 0
end
chains.repeats = repeats

---------------------------------------------------------------------------
-- Steps: each draws what it needs from the shapes and gives a function of the
-- variable's tensor, or nil where none fits.

local function dims_of(t, draw)
  return draw(t.ndim), draw(t.ndim)
end

local views = {
  function(t, draw)
    if t.ndim < 2 then return end
    local a, b = dims_of(t, draw)
    return function(x) return x:transpose(a, b) end, "transpose " .. a .. b
  end,
  function(t, draw)
    if t.ndim < 1 then return end
    local d = draw(t.ndim)
    local n = t:size(d)
    if n < 2 then return end
    local first, step = draw(n), draw(3)
    local key = {}
    for k = 1, d - 1 do key[k] = {1, t:size(k)} end
    key[d] = {first, n, step}
    return function(x) return x[key] end, ("slice %d %d:%d"):format(d, first,
      step)
  end,
  function(t, draw)
    if t.ndim < 2 then return end
    local d = draw(t.ndim)
    if t:size(d) == 0 then return end
    local i = draw(t:size(d))
    return function(x) return x:select(d, i) end, "select " .. d
  end,
  function(t, draw)
    if t.ndim > 3 then return end
    local d = draw(t.ndim + 1)
    return function(x) return x:unsqueeze(d) end, "unsqueeze " .. d
  end,
  function(t, draw)
    if t.ndim < 2 then return end
    local a, b = dims_of(t, draw)
    if a == b then return end
    return function(x) return x:diagonal(0, a, b) end, "diagonal"
  end,
  function(t, draw)
    if t.ndim < 1 or t.ndim > 3 then return end
    local d = draw(t.ndim)
    if t:size(d) < 2 or t:numel() > 1000 then return end
    return function(x) return x:unfold(d, 2, 1) end, "unfold " .. d
  end,
  function(t, draw)
    if t.ndim > 3 or t:numel() > 1000 then return end
    local n, sizes = draw(3), {}
    for d = 1, t.ndim do sizes[d + 1] = t:size(d) end
    sizes[1] = n
    return function(x) return x:expand(sizes) end, "expand " .. n
  end,
}
chains.views = views

-- Exact for every capability; others are only between AVX2 and AVX512.
local exact = {
  {"abs", function(x) return x:abs() end},
  {"neg", function(x) return -x end},
  {"square", function(x) return x:square() end},
  {"times", function(x) return x * 3 end},
  {"minus", function(x) return 7 - x end},
  {"clamp", function(x) return x:clamp(-40, 40) end},
  {"floor", function(x) return x // 3 end},
  {"rest", function(x) return x % 5 end},
  {"relu", function(x) return x:relu() end},
  {"half", function(x) return x / 2 end},
}
local transcendental = {
  {"tanh", function(x) return x:tanh() end},
  {"exp", function(x) return (x * 0.0625):exp() end},
  {"log1p", function(x) return x:abs():log1p() end},
  {"sigmoid", function(x) return x:sigmoid() end},
  {"sin", function(x) return x:sin() end},
}
local binary = {
  {"add", function(x, y) return x + y end},
  {"sub", function(x, y) return x - y end},
  {"mul", function(x, y) return x * y end},
  {"max", function(x, y) return x:maximum(y) end},
  {"where", function(x, y) return la.where(x:gt(y), x, y) end},
  {"div", function(x, y) return x / (y:abs() + 1) end},
  {"idiv", function(x, y) return x // (y:clamp(0, 9) + 1) end},
  {"fmod", function(x, y) return x:fmod(y:clamp(0, 9) + 1) end},
  {"muladd", function(x, y) return x:addcmul(y, y, {value = 2}) end},
}
local reductions = {
  {"sum", function(x, d) return x:sum(d) end},
  {"mean", function(x, d) return x:double():mean(d, true) end},
  {"amax", function(x, d) return x:amax(d, true) end},
  {"cumsum", function(x, d) return x:cumsum(d) end},
  {"sort", function(x, d) return (x:sort(d)) end},
  {"argmin", function(x, d) return x:argmin(d) end},
  {"softmax", function(x, d) return x:float():softmax(d) end, true},
}
local casts = {"float32", "float64", "int32", "int64", "float16", "bfloat16",
  "uint8"}
local writes = {
  {"add_", function(x, y) return x:add_(y) end,
    function(x, y) return x + y end},
  {"mul_", function(x, y) return x:mul_(y) end,
    function(x, y) return x * y end},
  {"copy_", function(x, y) return x:copy_(y) end, function(_, y) return y end},
  {"sub_", function(x) return x:sub_(2) end, function(x) return x - 2 end},
  {"fill_", function(x) return x:fill_(3) end,
    function(x) return la.full_like(x, 3) end},
  {"[]=", function(x, y) x[{}] = y return x end, function(_, y) return y end},
  {"masked_fill_", function(x) return x:masked_fill_(x:gt(2), 1) end,
    function(x) return x:masked_fill(x:gt(2), 1) end},
  {"clamp_", function(x) return x:clamp_(0, 30) end,
    function(x) return x:clamp(0, 30) end},
}

-- Conversion to integers is defined for what they hold.
local function cast(x, dtype)
  if is_real(x) and not dtype:find "float" then
    x = x:float():nan_to_num():clamp(0, 100)
  end
  return x:to(dtype, {copy = true})
end

local function sample(draw, large)
  local shape = {}
  for d = 1, draw(4) - 1 do shape[d] = draw(5) end
  if large then shape = {draw(40) + 30, 200 + draw(500), draw(3)} end
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  local a, b = draw(50) * 2 + 1, draw(40)
  local x = (la.arange(n, {dtype = "int64"}) * a + b) % 41 / 4
  return x:view(shape):to(DTYPES[draw(#DTYPES)])
end

---------------------------------------------------------------------------
-- Drawing a program while it runs on copies

local function plan_step(vars, draw, options)
  local i, kind = draw(#vars), draw(10)
  local v = vars[i]
  local x = value(v)
  if kind <= 3 then
    local f, what = views[draw(#views)](v.at, draw)
    return f and {kind = "view", i = i, f = f, what = what}
  elseif kind <= 5 and not repeats(v) then
    local w, j = writes[draw(#writes)], draw(#vars)
    return {kind = "write", i = i, j = j, f = w[2], g = w[3], what = w[1]}
  elseif kind <= 7 then
    local b = binary[draw(#binary)]
    return {kind = "make", i = i, j = draw(#vars), f = b[2], what = b[1]}
  elseif kind == 8 and x.ndim > 0 and x:numel() > 0 then
    local r, d = reductions[draw(#reductions)], draw(x.ndim)
    if r[3] and options.exact then return end
    return {kind = "make", i = i, f = function(t) return r[2](t, d) end,
      what = r[1] .. " " .. d}
  elseif kind == 9 then
    local dtype = casts[draw(#casts)]
    return {kind = "make", i = i, what = "to " .. dtype,
      f = function(t) return cast(t, dtype) end}
  end
  local list = (not options.exact and draw(2) == 1) and transcendental or exact
  local u = list[draw(#list)]
  return {kind = "make", i = i, f = u[2], what = u[1]}
end

-- The step on tensors; a failing one leaves the variables as they are.
local function apply(step, vars)
  local x, y = vars[step.i], vars[step.j or step.i]
  local ok, made = pcall(step.f, x, y)
  if ok and step.kind ~= "write" then vars[#vars + 1] = made end
  return ok, made
end

local function apply_to_copies(step, vars)
  local v, w = vars[step.i], vars[step.j or step.i]
  if step.kind == "view" then
    vars[#vars + 1] = viewed(v, step.f)
  elseif step.kind == "make" then
    vars[#vars + 1] = root(step.f(value(v), value(w)))
  else
    put(v, step.g(value(v), value(w)))
  end
end

local function compare(vars, copies, text)
  for k, v in ipairs(vars) do
    local w = copies and value(copies[k])
    if bits(v) ~= bits(w) then
      return ("variable %d after\n%s\n%s\nwant\n%s"):format(k, text,
        tostring(v), tostring(w))
    end
  end
end

-- The steps of a seed, its first tensors, the tensors at the end; nil and why
-- where the evaluation on copies disagrees. A step that the first world refuses
-- (overlaps, zero divisors) must leave everything as it was.
function chains.run(seed, options)
  local draw = random_of(seed)
  local first, vars, copies, steps, texts = {}, {}, {}, {}, {}
  for k = 1, 1 + draw(2) do
    local x = sample(draw, options.large)
    first[k], vars[k], copies[k] = x:clone(), x, root(x)
    texts[k] = ("%d: %s %s"):format(k, x.dtype, table.concat(x.shape, "x"))
  end
  for _ = 1, 4 + draw(21) do
    local step = plan_step(copies, draw, options)
    if step then
      texts[#texts + 1] = ("%s of %d%s"):format(step.what, step.i,
        step.j and " and " .. step.j or "")
      steps[#steps + 1] = step
      step.refused = not apply(step, vars)
      if not step.refused then
        local ok, message = pcall(apply_to_copies, step, copies)
        if not ok then
          return nil, table.concat(texts, "\n") .. "\n" .. message
        end
      end
      local why = compare(vars, copies, table.concat(texts, "\n"))
      if why then return nil, why end
    end
  end
  return {steps = steps, first = first, vars = vars,
    text = table.concat(texts, "\n")}
end

-- The same steps once more, as the body of a function to fuse.
function chains.replay(p)
  local vars = {}
  for k, x in ipairs(p.first) do vars[k] = x:clone() end
  for _, step in ipairs(p.steps) do
    local ok, message = apply(step, vars)
    if ok == step.refused then
      error(step.what .. ": " .. (ok and "not refused" or tostring(message)), 0)
    end
  end
  return table.unpack(vars)
end

function chains.hash(p)
  local list = {}
  for k, t in ipairs(p.vars) do list[k] = hash(t) end
  return table.concat(list, ";")
end

if arg and arg[0] and arg[0]:find "support/chains%.lua$" then
  for seed = tonumber(arg[1]), tonumber(arg[2]) do
    local p, why = chains.run(seed, {exact = arg[3] == "exact",
      large = seed % 50 == 0})
    print(seed, p and chains.hash(p) or why:gsub("\n", " "))
  end
end

return chains
