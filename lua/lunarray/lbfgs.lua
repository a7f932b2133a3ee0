-- lunarray.lbfgs: the quasi-Newton method L-BFGS by PyTorch's rules, with its
-- line search for the strong Wolfe conditions. All parameters are one vector
-- here. step(closure) does up to max_iter iterations; the closure clears the
-- gradients, computes the loss, calls backward and returns the loss.
local la = require "lunarray"

-- ---- parameters and gradients as one vector ----

local function flat_grad(params)
  local parts = {}
  for k, p in ipairs(params) do
    local g = p.grad
    parts[k] = g and g:reshape(-1) or p:new_zeros{p:numel()}
  end
  return la.cat(parts)
end

-- params = params + t * direction
local function move(params, t, direction)
  local from = 1
  for _, p in ipairs(params) do
    local n = p:numel()
    p:add_(direction:narrow(1, from, n):view_as(p), {alpha = t})
    from = from + n
  end
end

local function largest(v) return v:abs():max():item() end
local function dot(a, b) return a:dot(b):item() end

-- The loss as a number, and its gradient.
local function evaluate(params, closure)
  local loss = la.enable_grad(closure)
  if la.is_tensor(loss) then loss = loss:item() end
  return loss, flat_grad(params), loss
end

-- ---- the line search ----

local DECREASE, CURVATURE, MOST = 1e-4, 0.9, 25

-- The minimum of the cubic through two points with their slopes, within low
-- and high (by default between the points).
local function cubic(a, b, low, high)
  if not low then low, high = math.min(a.t, b.t), math.max(a.t, b.t) end
  local d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
  local square = d1 * d1 - a.slope * b.slope
  if not (square >= 0) then return (low + high) / 2 end
  local d2, left, right = math.sqrt(square), a, b
  if a.t > b.t then left, right = b, a end
  local t = right.t - (right.t - left.t) * ((right.slope + d2 - d1)
    / (right.slope - left.slope + 2 * d2))
  return math.min(math.max(t, low), high)
end

-- Longer steps from 'first' on, until the minimum lies between two points, or a
-- point is good (it is returned alone). The last result counts the tries.
local function bracket(ask, start, first)
  local before, now, tries = start, first, 0
  while tries < MOST do
    if now.loss > start.loss + DECREASE * now.t * start.slope
      or (tries > 1 and now.loss >= before.loss) then
      return {before, now}, tries
    end
    if math.abs(now.slope) <= -CURVATURE * start.slope then
      return {now}, tries
    end
    if now.slope >= 0 then return {before, now}, tries end
    local t = cubic(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10)
    before, now = now, ask(t)
    tries = tries + 1
  end
  return {start, now}, tries
end

-- A step within a tenth of the bracket of its ends is allowed once; the next,
-- or one outside, is moved a tenth inside.
local function keep_inside(t, ends, close)
  local low = math.min(ends[1].t, ends[2].t)
  local high = math.max(ends[1].t, ends[2].t)
  local gap = 0.1 * (high - low)
  if math.min(high - t, t - low) >= gap then return t, false end
  if not (close or t >= high or t <= low) then return t, true end
  if math.abs(t - high) < math.abs(t - low) then return high - gap, false end
  return low + gap, false
end

-- Narrows the bracket until a point is good; the point of the smaller loss.
local function zoom(ask, start, ends, tries, size, tolerance)
  local low, high, close = 1, 2, false
  local function sort_ends()
    if ends[1].loss <= ends[2].loss then low, high = 1, 2
    else low, high = 2, 1 end
  end
  sort_ends()
  while tries < MOST do
    if math.abs(ends[2].t - ends[1].t) * size < tolerance then break end
    local t
    t, close = keep_inside(cubic(ends[1], ends[2]), ends, close)
    local now = ask(t)
    tries = tries + 1
    if now.loss > start.loss + DECREASE * t * start.slope
      or now.loss >= ends[low].loss then
      ends[high] = now
      sort_ends()
    else
      local good = math.abs(now.slope) <= -CURVATURE * start.slope
      if not good and now.slope * (ends[high].t - ends[low].t) >= 0 then
        ends[high] = ends[low]
      end
      ends[low] = now
      if good then break end
    end
  end
  return ends[low]
end

-- A step along the direction that decreases loss and slope enough, as a point;
-- and how often the loss was computed for it.
local function strong_wolfe(self, closure, t, start, direction)
  local params, at, calls = self.params, {}, 0
  for k, p in ipairs(params) do at[k] = p:clone() end
  local function ask(step)
    move(params, step, direction)
    local loss, grad = evaluate(params, closure)
    for k, p in ipairs(params) do p:copy_(at[k]) end
    calls = calls + 1
    return {t = step, loss = loss, grad = grad, slope = dot(grad, direction)}
  end
  local ends, tries = bracket(ask, start, ask(t))
  local found = ends[1]
  if ends[2] then
    found = zoom(ask, start, ends, tries, largest(direction),
      self.param_groups[1].tolerance_change)
  end
  move(params, found.t, direction)
  return found, calls
end

-- ---- the direction ----

-- Another pair of change of gradient (y) and step (s), when it is curved.
local function remember(state, y, s, history)
  local ys = dot(y, s)
  if ys <= 1e-10 then return end
  if #state.old_dirs == history then
    table.remove(state.old_dirs, 1)
    table.remove(state.old_stps, 1)
    table.remove(state.ro, 1)
  end
  table.insert(state.old_dirs, y)
  table.insert(state.old_stps, s)
  table.insert(state.ro, 1 / ys)
  state.H_diag = ys / dot(y, y)
end

-- Minus the inverse of the Hessian times the gradient, by two loops.
local function newton(state, grad)
  local n, part = #state.ro, {}
  local q = grad:neg()
  for k = n, 1, -1 do
    part[k] = dot(state.old_stps[k], q) * state.ro[k]
    q:add_(state.old_dirs[k], {alpha = -part[k]})
  end
  q:mul_(state.H_diag)
  for k = 1, n do
    local back = dot(state.old_dirs[k], q) * state.ro[k]
    q:add_(state.old_stps[k], {alpha = part[k] - back})
  end
  return q
end

local function direction_of(state, grad, history)
  if state.n_iter == 1 then
    state.old_dirs, state.old_stps, state.ro = {}, {}, {}
    state.H_diag = 1
    return grad:neg()
  end
  remember(state, grad - state.prev_flat_grad, state.d * state.t, history)
  return newton(state, grad)
end

-- ---- a step ----

-- One iteration from point 'now': the next point, or nil when the direction
-- does not lead down any more.
local function iterate(self, closure, state, now, last)
  local group = self.param_groups[1]
  state.n_iter = (state.n_iter or 0) + 1
  local d = direction_of(state, now.grad, group.history_size)
  state.d, state.prev_flat_grad, state.prev_loss = d, now.grad, now.loss
  local t = group.lr
  if state.n_iter == 1 then
    t = math.min(1, 1 / now.grad:abs():sum():item()) * t
  end
  state.t = t
  now.t, now.slope = 0, dot(now.grad, d)
  if now.slope > -group.tolerance_change then return nil end
  if group.line_search_fn then
    local found, calls = strong_wolfe(self, closure, t, now, d)
    state.t = found.t
    return found, calls
  end
  move(self.params, t, d)
  if last then return now, 0 end
  local loss, grad = evaluate(self.params, closure)
  return {loss = loss, grad = grad}, 1
end

local function run(self, closure)
  local group, state = self.param_groups[1], self.state[self.params[1]]
  if not state then
    state = {func_evals = 0}
    self.state[self.params[1]] = state
  end
  local loss, grad, result = evaluate(self.params, closure)
  local now, evals = {loss = loss, grad = grad}, 1
  local most = group.max_eval or math.floor(group.max_iter * 5 / 4)
  local flat = largest(grad) <= group.tolerance_grad
  for k = 1, flat and 0 or group.max_iter do
    local before = now.loss
    local found, calls = iterate(self, closure, state, now,
      k == group.max_iter)
    if not found then break end
    now, evals = found, evals + calls
    if evals >= most or largest(now.grad) <= group.tolerance_grad
      or largest(state.d * state.t) <= group.tolerance_change
      or math.abs(now.loss - before) < group.tolerance_change then break end
  end
  state.func_evals = state.func_evals + evals
  la.keep(state)        -- where la.tidy runs
  return result
end

-- What optim.LBFGS adds to an optimiser: its step.
return function(self)
  if #self.param_groups ~= 1 then
    error("LBFGS: parameter groups are not supported, give one list", 4)
  end
  local group = self.param_groups[1]
  local search = group.line_search_fn
  if search and search ~= "strong_wolfe" then
    error("LBFGS: only 'strong_wolfe' is supported as line_search_fn", 4)
  end
  self.params = group.params
  -- The loss at the first call of the closure is the result.
  function self.step(_, closure)
    if type(closure) ~= "function" then
      error("LBFGS: step needs a closure that computes the loss", 2)
    end
    return la.no_grad(run, self, closure)
  end
end
