-- Random programs with gradients (float64, smooth operations): views, in-place
-- and keyed writes, buffers, joins, reductions, hooks, parts under no_grad.
-- Each runs twice. In the first world it stands as drawn. In the second nothing
-- is shared and nothing is written: a variable is a list of positions in a flat
-- memory, reading gathers, writing makes a new memory (index_put), so that its
-- gradients need no view and no version. Both must agree in values and
-- requires_grad after each step, in what is a leaf, and in first and second
-- gradients at the end; and the first ones with central differences.
local la = require "lunarray"
local chains = require "spec.support.chains"

local M = {}

local LIMIT = 30        -- differences of larger values lose their digits

---------------------------------------------------------------------------
-- The world of copies. memory: {flat tensor}, shared by a root and its views.

local function root(t)
  return {memory = {t:reshape(-1)}, root = true,
    at = la.arange(1, t:numel() + 1, 1, {dtype = "int64"}):view(t.shape)}
end

local function value(v)
  return v.memory[1]:index_select(1, v.at:reshape(-1)):reshape(v.at.shape)
end

local function put(v, t, silent)
  local old = v.memory[1]
  local new = old:index_put({v.at:reshape(-1)},
    t:expand(v.at.shape):reshape(-1))
  -- What is written under no_grad keeps the gradient of what was there.
  v.memory[1] = silent and old + (new - old):detach() or new
end

---------------------------------------------------------------------------
-- Steps

local function positions(draw, n, count)
  local list = {}
  for k = 1, count do list[k] = draw(n) end
  return la.tensor(list, {dtype = "int64"})
end

local function mask_of(t, draw)
  local a, b = draw(5), draw(3)
  return (la.arange(t:numel(), {dtype = "int64"}) * a + b):remainder(3):eq(0)
    :view(t.shape)
end

local unary = {
  tanh = function(x) return x:tanh() end,
  sin = function(x) return x:sin() end,
  sigmoid = function(x) return x:sigmoid() end,
  square = function(x) return x:square() end,
  exp = function(x) return (x * 0.25):exp() end,
  log1p = function(x) return x:square():log1p() end,
  half = function(x) return 0.5 - x / 2 end,
  sqrt = function(x) return (x:square() + 0.5):sqrt() end,
  erf = function(x) return x:erf() end,
  clone = function(x) return x:clone() end,
}
local binary = {
  add = function(x, y) return x + y end,
  sub = function(x, y) return x:sub(y, {alpha = 0.5}) end,
  mul = function(x, y) return x * y end,
  div = function(x, y) return x / (y:square() + 1) end,
  atan2 = function(x, y) return x:atan2(y:square() + 1) end,
  muladd = function(x, y) return x:addcmul(y, y, {value = 0.25}) end,
  lerp = function(x, y) return x:lerp(y, 0.3) end,
}
local along = {         -- of x and a dim
  sum = function(x, d) return x:sum(d) end,
  mean = function(x, d) return x:mean(d, true) end,
  logsumexp = function(x, d) return x:logsumexp(d) end,
  prod = function(x, d) return x:prod(d) end,
  softmax = function(x, d) return x:softmax(d) end,
  cumsum = function(x, d) return x:cumsum(d) end,
  flip = function(x, d) return x:flip(d) end,
  cat = function(x, d) return la.cat({x, x * 0.5}, d) end,
  stack = function(x, d) return la.stack({x, x:sin()}, d) end,
  norm = function(x, d) return (x:square() + 1):norm(2, d) end,
  roll = function(x, d) return x:roll(1, d) end,
  diff = function(x, d) return x:diff{dim = d} end,
  narrow = function(x, d) return x:narrow(d, 1, 1):clone() end,
  tile = function(x) return x:tile(2) end,
  repeated = function(x, d) return x:repeat_interleave(2, d) end,
  pad = function(x) return la.pad(x, {1, 2}, {value = 0.5}) end,
}
-- Writes: the form in place, and what is there afterwards.
local writes = {
  add_ = {function(x, y) x:add_(y, {alpha = 0.5}) end,
    function(x, y) return x + y * 0.5 end},
  mul_ = {function(x, y) x:mul_(y) end, function(x, y) return x * y end},
  copy_ = {function(x, y) x:copy_(y) end, function(_, y) return y end},
  lerp_ = {function(x, y) x:lerp_(y, 0.25) end,
    function(x, y) return x * 0.75 + y * 0.25 end},
  addcmul_ = {function(x, y) x:addcmul_(y, y) end,
    function(x, y) return x + y * y end},
  ["[]="] = {function(x, y) x[{}] = y end, function(_, y) return y end},
  tanh_ = {function(x) x:tanh_() end, function(x) return x:tanh() end},
  sigmoid_ = {function(x) x:sigmoid_() end,
    function(x) return x:sigmoid() end},
  exp_ = {function(x) x:mul_(0.25):exp_() end,
    function(x) return (x * 0.25):exp() end},
  sin_ = {function(x) x:sin_() end, function(x) return x:sin() end},
  zero_ = {function(x) x:zero_() end, function(x) return x * 0 end},
  fill_ = {function(x) x:fill_(0.75) end,
    function(x) return x * 0 + 0.75 end},
}

local function step_of_view(v, draw)
  local f, what = chains.views[draw(#chains.views)](v.at, draw)
  return f and {kind = "view", f = f, what = what}
end

-- In pairs' order a table of functions is none: the names, sorted.
local function names_of(t)
  local list = {}
  for name in pairs(t) do list[#list + 1] = name end
  table.sort(list)
  return list
end
local UNARY, BINARY, ALONG, WRITES = names_of(unary), names_of(binary),
  names_of(along), names_of(writes)

local function step_of_make(v, draw)
  local kind, nd = draw(8), v.at.ndim
  if kind <= 3 then
    local name = UNARY[draw(#UNARY)]
    return {kind = "make", f = unary[name], what = name}
  elseif kind <= 5 then
    local name = BINARY[draw(#BINARY)]
    return {kind = "make", f = binary[name], what = name, two = true}
  elseif nd == 0 or v.at:numel() == 0 then
    return
  elseif kind == 6 then
    local d, name = draw(nd), ALONG[draw(#ALONG)]
    return {kind = "make", what = name .. " " .. d,
      f = function(x) return along[name](x, d) end}
  elseif kind == 7 then
    local d = draw(nd)
    local at = positions(draw, v.at:size(d), draw(3))
    return {kind = "make", what = "index_select " .. d,
      f = function(x) return x:index_select(d, at) end}
  elseif nd == 2 then
    return {kind = "make", what = "matmul",
      f = function(x) return x:matmul(x.mT) * 0.25 end}
  end
end

-- Writes of rows by their positions: what is written is the last row and one
-- more, so that it is read where it is written.
local function step_of_rows(n, at, draw)
  local kind = draw(4)
  local function rows(x) return la.stack({x[n], x[n] * 2 + 0.25}, 1) end
  local two = la.cat({at, at % n + 1}, 1)
  if kind == 1 then
    return {kind = "write", what = "index_copy_",
      f = function(x) x:index_copy_(1, at, rows(x)[{{1, 1}}]) end,
      g = function(x) return x:index_copy(1, at, rows(x)[{{1, 1}}]) end}
  elseif kind == 2 then
    return {kind = "write", what = "index_put_",
      f = function(x) x:index_put_({two}, rows(x), true) end,
      g = function(x) return x:index_put({two}, rows(x), true) end}
  elseif kind == 3 then
    return {kind = "write", what = "[list]=",
      f = function(x) x[at] = rows(x)[{{1, 1}}] end,
      g = function(x) return x:index_put({at}, rows(x)[{{1, 1}}]) end}
  end
  return {kind = "write", what = "index_fill_",
    f = function(x) x:index_fill_(1, two, 0.5) end,
    g = function(x) return x:index_fill(1, two, 0.5) end}
end

-- Writes of a part: by a range, positions or a mask.
local function step_of_part(v, draw)
  if v.at.ndim == 0 or v.at:numel() == 0 then return end
  local kind, n = draw(6), v.at:size(1)
  local first, mask = draw(n), mask_of(v.at, draw)
  local at = la.tensor({first}, {dtype = "int64"})
  if kind > 4 then return step_of_rows(n, at, draw) end
  if kind == 1 then
    return {kind = "write", what = "[range]=", two = true,
      f = function(x, y) x[{{first, n}}] = y end,
      g = function(x, y)
        local inside = la.arange(1, n + 1, 1, {dtype = "int64"}):ge(first)
        local sizes = {n}
        for d = 2, x.ndim do sizes[d] = 1 end
        local all = y:expand(x[{{first, n}}].shape)
        if first > 1 then all = la.cat({x[{{1, first - 1}}], all}, 1) end
        return la.where(inside:view(sizes), all, x)
      end}
  elseif kind == 2 then
    return {kind = "write", what = "[mask]=",
      f = function(x) x[mask] = 0.5 end,
      g = function(x) return la.where(mask, 0.5, x) end}
  elseif kind == 3 then
    return {kind = "write", what = "index_add_",
      f = function(x) x:index_add_(1, at, x[{{n, n}}] * 2) end,
      g = function(x) return x:index_add(1, at, x[{{n, n}}] * 2) end}
  end
  return {kind = "write", what = "masked_fill_",
    f = function(x) x:masked_fill_(mask, 0.25) end,
    g = function(x) return la.where(mask, 0.25, x) end}
end

-- Changes of geometry in place: no element moves.
local function step_of_geometry(v, draw)
  if v.at.ndim < 1 then return end
  local a, b, kind = draw(v.at.ndim), draw(v.at.ndim), draw(3)
  if kind == 1 then
    return {kind = "geometry", what = "transpose_",
      f = function(x) x:transpose_(a, b) end}
  elseif kind == 2 then
    return {kind = "geometry", what = "squeeze_",
      f = function(x) x:squeeze_() end}
  elseif v.at.ndim < 4 then
    return {kind = "geometry", what = "unsqueeze_",
      f = function(x) x:unsqueeze_(a) end}
  end
end

local function step_of_write(v, draw)
  if draw(3) == 1 then return step_of_part(v, draw) end
  local name = WRITES[draw(#WRITES)]
  return {kind = "write", what = name, two = true, f = writes[name][1],
    g = writes[name][2]}
end

local function plan(copies, draw)
  local i, kind = draw(#copies), draw(13)
  local v = copies[i]
  local step
  if kind <= 3 then step = step_of_view(v, draw)
  elseif kind <= 6 then step = step_of_make(v, draw)
  elseif kind <= 10 and not chains.repeats(v) then step = step_of_write(v, draw)
  elseif kind == 11 and v.root then
    step = {kind = "hook", what = "hook", scale = draw(2)}
  elseif kind == 13 then
    step = step_of_geometry(v, draw)
  end
  if not step then return end
  step.i, step.j = i, step.two and draw(#copies) or nil
  step.silent = step.kind == "write" and draw(12) == 1
  step.what = ("%s of %d%s%s"):format(step.what, i,
    step.j and " and " .. step.j or "", step.silent and " (no_grad)" or "")
  return step
end

---------------------------------------------------------------------------
-- One step in each world

local function hook_of(step, seen)
  local n = #seen + 1
  seen[n] = false
  return function(g)
    seen[n] = g:detach():reshape(-1):clone()
    return step.scale == 2 and g * 1.5 or nil
  end
end

local function apply(step, vars, seen)
  local x, y = vars[step.i], vars[step.j or step.i]
  if step.kind == "hook" then
    if x.requires_grad then x:register_hook(hook_of(step, seen)) end
  elseif step.silent then
    la.no_grad(step.f, x, y)
  else
    local made = step.f(x, y)
    if step.kind == "make" or step.kind == "view" then
      vars[#vars + 1] = made
    end
  end
end

local function apply_to_copies(step, copies, seen)
  local v, w = copies[step.i], copies[step.j or step.i]
  if step.kind == "hook" then
    local t = v.memory[1]
    if t.requires_grad then t:register_hook(hook_of(step, seen)) end
  elseif step.kind == "view" then
    copies[#copies + 1] = {memory = v.memory,
      at = step.f(v.at):clone({memory_format = "contiguous"})}
  elseif step.kind == "geometry" then
    v.at, v.root = v.at:clone(), false  -- no more in the memory's order
    step.f(v.at)
  elseif step.kind == "make" then
    copies[#copies + 1] = root(step.f(value(v), value(w)))
  else
    put(v, step.g(value(v), value(w)), step.silent)
  end
end

-- Whether the step can be taken, found on copies: shapes fit, values stay tame.
local function is_tame(step, copies)
  if not (step.kind == "make" or step.kind == "write") then return true end
  local v, w = copies[step.i], copies[step.j or step.i]
  local ok, t = pcall(function()
    local f = step.kind == "make" and step.f or step.g
    local t = f(value(v):detach(), value(w):detach())
    return step.kind == "make" and t or t:expand(v.at.shape)
  end)
  return ok and t:numel() <= 400 and t.ndim <= 5
    and (t:numel() == 0 or t:abs():amax():item() < LIMIT)
end

---------------------------------------------------------------------------
-- Comparing

local function close(a, b, tolerance)
  if not a or not b then return not a and not b end
  return la.allclose(a:detach():reshape(-1), b:detach():reshape(-1),
    {rtol = tolerance, atol = tolerance})
end

local function compare(vars, copies, leaves)
  for k, x in ipairs(vars) do
    local y = value(copies[k])
    if not close(x, y, 1e-9) then return "value of " .. k end
    if x.requires_grad ~= y.requires_grad then
      return ("requires_grad of %d: %s"):format(k, x.requires_grad)
    end
    local leaf = not x.requires_grad or leaves[k] ~= nil
    if x.is_leaf ~= leaf or (x.grad_fn == nil) ~= leaf then
      return ("is_leaf of %d: %s, grad_fn %s"):format(k, x.is_leaf, x.grad_fn)
    end
  end
end

local function weighted(t)
  local w = (la.arange(t:numel(), {dtype = "float64"}) * 7 + 3):remainder(11)
  return (t:reshape(-1) * (w / 8 - 0.5)):sum()
end

-- The weighted sum of all variables that need a gradient; nil: none does.
local function loss_of(list, read)
  local loss
  for _, v in ipairs(list) do
    local t = read(v)
    if t.requires_grad then loss = (loss or 0) + weighted(t) end
  end
  return loss
end

local function itself(t) return t end

-- Gradients of the leaves, and of a sum of their squares by the leaves again.
local function gradients(loss, leaves, twice)
  local list = {la.grad(loss, leaves, {create_graph = twice,
    allow_unused = true, retain_graph = true})}
  local sum
  for k = 1, #leaves do
    local g = list[k]
    if twice and g then sum = (sum or 0) + weighted(g:square()) end
  end
  local second = sum and {la.grad(sum + loss, leaves, {allow_unused = true,
    retain_graph = true})} or {}
  return list, second
end

-- The loss when the leaves are moved by 'far' along fixed directions.
local function moved(p, far)
  local copies = {}
  for k, x in ipairs(p.first) do
    if p.leaves[k] then
      local d = (la.arange(x:numel(), {dtype = "float64"}) + k):sin()
      x = (x + d:view(x.shape) * far):requires_grad_()
    end
    copies[k] = root(x)
  end
  for _, step in ipairs(p.steps) do
    if step.kind ~= "hook" then apply_to_copies(step, copies, {}) end
  end
  return loss_of(copies, value):item()
end

local function along_directions(p, list)
  local sum = 0
  for n, k in ipairs(p.order) do
    if list[n] then
      local d = (la.arange(list[n]:numel(), {dtype = "float64"}) + k):sin()
      sum = sum + (list[n]:reshape(-1) * d):sum():item()
    end
  end
  return sum
end

-- Central differences of two widths; nil: they say nothing about this loss.
local function difference(p)
  local a = (moved(p, 1e-5) - moved(p, -1e-5)) / 2e-5
  local b = (moved(p, 1e-4) - moved(p, -1e-4)) / 2e-4
  if a ~= a or math.abs(a - b) > 1e-4 * (1 + math.abs(a)) then return end
  return a
end

---------------------------------------------------------------------------
-- A program

local function sample(draw)
  local shape = {}
  for d = 1, draw(4) - 1 do shape[d] = draw(4) end
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  local a, b = draw(50) * 2 + 1, draw(40)
  return ((la.arange(n, {dtype = "float64"}) * a + b):remainder(41) / 20 - 1)
    :view(shape):clone()
end

-- p.vars, p.copies: the variables of both worlds. The first one is a leaf, the
-- others leaves or buffers.
local function begin(draw)
  local p = {first = {}, vars = {}, copies = {}, leaves = {}, order = {},
    roots = {}, steps = {}, texts = {}, seen = {}, want = {}}
  for k = 1, 2 + draw(2) do
    local x = sample(draw)
    p.first[k] = x:clone()
    local y = x:clone()
    if k == 1 or draw(2) == 1 then
      p.leaves[k], p.order[#p.order + 1] = x:requires_grad_(), k
      y:requires_grad_()
    end
    p.vars[k], p.copies[k], p.roots[k] = x, root(y), y
    p.texts[k] = ("%d: %s%s"):format(k, table.concat(x.shape, "x"),
      p.leaves[k] and " leaf" or "")
  end
  return p
end

-- What may be refused, in words of the messages.
local REFUSED = {"leaf Variable", "single memory location", "leaf variable"}
local CHANGED = "modified by an inplace operation"

local function contains(message, list)
  for _, words in ipairs(list) do
    if tostring(message):find(words, 1, true) then return true end
  end
  return false
end

local function take(p, step)
  p.texts[#p.texts + 1] = step.what
  local ok, message = pcall(apply, step, p.vars, p.seen)
  if ok then
    p.steps[#p.steps + 1] = step
    apply_to_copies(step, p.copies, p.want)
  elseif not contains(message, REFUSED) then
    return tostring(message)
  end
  return compare(p.vars, p.copies, p.leaves)
end

local function leaves_of(p, list)
  local out = {}
  for n, k in ipairs(p.order) do out[n] = list[k] end
  return out
end

-- The results that shall keep their gradient. retain_grad follows a root
-- through later writes: x.grad is that of what it is at the end.
local function retained(p)
  local list = {}
  for k, v in ipairs(p.copies) do
    if v.root and not p.leaves[k] and p.vars[k].requires_grad then
      p.vars[k]:retain_grad()
      v.memory[1]:retain_grad()
      list[#list + 1] = k
    end
  end
  return list
end

local function compare_lists(a, b, n, what, tolerance)
  for k = 1, n do
    if not close(a[k], b[k], tolerance) then
      return ("%s %d: %s, want %s"):format(what, k, a[k], b[k])
    end
  end
end

-- What backward leaves in hooks, results and leaves.
local function compare_backward(p, a, b)
  local keep = p.silent and {} or retained(p)
  a:backward()
  b:backward()
  local why = compare_lists(p.seen, p.want, #p.want, "hook", 1e-8)
  for _, k in ipairs(keep) do
    why = why or compare_lists({p.vars[k].grad}, {p.copies[k].memory[1].grad},
      1, "retained gradient of variable " .. k, 1e-8)
  end
  for n, k in ipairs(p.order) do
    why = why or compare_lists({p.vars[k].grad}, {p.roots[k].grad}, 1,
      "grad of leaf " .. n, 1e-8)
  end
  return why
end

local function finish(p, seed)
  local a, b = loss_of(p.vars, itself), loss_of(p.copies, value)
  if not a then return end
  -- A hook on a result is not on the memory of copies made of it: a formula
  -- that reads the result would show it another gradient.
  local twice = seed % 2 == 0 and not p.hooked
  local leaves, roots = leaves_of(p, p.vars), leaves_of(p, p.roots)
  local ok, first, second = pcall(gradients, a, leaves, twice)
  if not ok then
    p.changed = contains(first, {CHANGED})
    return not p.changed and tostring(first) or nil
  end
  local first_want, second_want = gradients(b, roots, twice)
  local why = compare_lists(first, first_want, #leaves, "gradient", 1e-8)
    or compare_lists(second, second_want, #leaves, "second gradient", 1e-6)
    or compare_backward(p, a, b)
  if why or p.constant then return why end
  local d, g = difference(p), along_directions(p, first)
  p.checked = d ~= nil
  if d and math.abs(d - g) > 1e-4 * (1 + math.abs(d)) then
    return ("by differences %.9g, gradient %.9g"):format(d, g)
  end
end

-- Runs the program of a seed. The program (changed: a saved value was written,
-- which backward refused; checked: by differences), and why it fails or nil.
function M.run(seed)
  local draw = chains.random_of(seed * 31 + 7)
  local p = begin(draw)
  local why
  for _ = 1, 4 + draw(21) do
    local step = plan(p.copies, draw)
    local apart = step
      and (step.silent and p.hooked or step.kind == "hook" and p.silent)
    if step and not apart and #p.vars < 14 and is_tame(step, p.copies) then
      why = why or take(p, step)
      -- Differences see neither no_grad nor what a hook does; and after a
      -- write under no_grad the copies' memory is another tensor for hooks.
      p.hooked = p.hooked or step.kind == "hook"
      p.silent = p.silent or step.silent
      p.constant = p.hooked or p.silent
    end
  end
  why = why or finish(p, seed)
  return p, why and ("seed %d: %s\n%s"):format(seed, why,
    table.concat(p.texts, "\n"))
end

return M
