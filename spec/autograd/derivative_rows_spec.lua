-- Derivatives of every operation that has sample calls, where all inputs are
-- zero, equal, or tiny: wherever the function has slopes on both sides, its
-- gradient and the gradient's own gradient are numbers, and not missing. What
-- is between the slopes is checked by spec/autograd/derivative_points_spec.lua,
-- away from such points by spec/registry/derivatives_spec.lua.
local la = require "lunarray"
local samples = require "spec.support.samples"

local FILLS = {zeros = {0}, ties = {1}, mixed = {0, 0, 1, 1, -1, 2},
  tiny = {1e-300, -1e-300, 0, 1e-8}}
local MOST, LARGEST = 2, 120    -- calls per operation, elements of all inputs

-- NaN is right, or all that the formula can give: 0 / 0 where no direction is
-- the right one; factors of singular matrices; of det, whose gradient has a way
-- of its own there, the gradient that is recorded; vectors of equal singular
-- values; a filter that overflows, directions of tiny vectors and rays.
local NAN = {hypot = true, lu = true, lu_factor = true, lu_factor_ex = true,
  qr = true, det = true, linalg_svd = true, svdvals = true,
  svd_lowrank = true, pca_lowrank = true, signal_lfilter = true,
  game_quat_between = true, game_ray_box = true}

local function inputs_of(like, fill, k, far)
  local list = {}
  for j, t in ipairs(like) do
    local values = {}
    for i = 1, t:numel() do values[i] = fill[(i + j - 2) % #fill + 1] end
    if j == k and far then values[1] = values[1] + far end
    list[j] = la.tensor(values, {dtype = "float64"}):view(t.shape)
      :requires_grad_()
  end
  return list
end

local function first_tensor(v)
  if la.is_tensor(v) then return v.requires_grad and v or nil end
  if type(v) ~= "table" then return end
  for _, each in ipairs(v) do
    local t = first_tensor(each)
    if t then return t end
  end
end

-- Value and gradient of an output element, the gradient weighted, and the
-- derivatives of both by the first element of input k; nil where there is none.
local function evaluate(f, x, k)
  local outs = table.pack(f(table.unpack(x)))
  local y = first_tensor({table.unpack(outs, 1, outs.n)})
  y = y and y:is_floating_point() and y:reshape(-1)[1]
  if not y then return end
  local list = {la.grad(y, x, {create_graph = true, allow_unused = true})}
  local sum
  for j = 1, #x do
    local g = list[j]
    local w = g and la.arange(g:numel(), {dtype = "float64"}):cos()
    if g then sum = (sum or 0) + (g:reshape(-1) * w):sum() end
  end
  local second = sum and sum.requires_grad
    and la.grad(sum, x[k], {allow_unused = true})
  return {y:item(), sum and sum:item() or 0},
    {list[k] and list[k]:reshape(-1)[1]:item(),
      second and second:reshape(-1)[1]:item() or 0}
end

local function finite(v) return v == v and math.abs(v) < math.huge end

-- The one-sided slope of value 'which', nil where two steps disagree.
local function slope(f, like, fill, k, which, side, here)
  local found = {}
  for n = 1, 2 do
    local step = side * 1e-6 / 4 ^ (n - 1)
    local v = evaluate(f, inputs_of(like, fill, k, step), k)
    if not v or not finite(v[which]) then return end
    found[n] = (v[which] - here) / step
  end
  local close = math.abs(found[1] - found[2]) <= 1e-3 * (1
    + math.abs(found[1]))
  return close and found[2] or nil
end

-- Complaints about a call, and how much there was to compare with.
local function check(f, like, name, fill, bad)
  local n = 0
  for k = 1, math.min(#like, 3) do
    local here, got = evaluate(f, inputs_of(like, fill, k), k)
    for which = 1, here and like[k]:numel() > 0 and 2 or 0 do
      local v = here[which]
      local left = finite(v) and slope(f, like, fill, k, which, -1, v)
      local right = left and slope(f, like, fill, k, which, 1, v)
      local g = got[which]
      if right then n = n + 1 end
      local missing = not g and left ~= 0
      if right and (missing or g and not finite(g)) then
        bad[#bad + 1] = ("%s, input %d, derivative %d: %s, slopes %g and %g")
          :format(name, k, which, g, left, right)
      end
    end
  end
  return n
end

-- Real calls with few elements.
local function calls_of(name)
  local list = {}
  for _, s in ipairs(samples.of(name)) do
    local like, n, real = s.inputs(), 0, true
    for _, t in ipairs(like) do
      n, real = n + t:numel(), real and not t:is_complex()
    end
    if real and n > 0 and n <= LARGEST and #list < MOST then
      list[#list + 1] = {f = s.f, like = like}
    end
  end
  return list
end

describe("derivatives at zeros, ties and tiny values", function()
  local compared, seen = 0, {}
  for _, op in ipairs(la.operations()) do
    local name = op.name
    if op.differentiable and not op.metadata and not seen[name] then
      seen[name] = true
      it("of " .. name, function()
        local bad = {}
        for _, call in ipairs(NAN[name] and {} or calls_of(name)) do
          for what, fill in pairs(FILLS) do
            local ok, n = pcall(check, call.f, call.like, what, fill, bad)
            compared = compared + (ok and n or 0)
          end
        end
        assert.equal("", table.concat(bad, "\n"))
      end)
    end
  end

  it("were compared at thousands of points", function()
    assert.is_true(compared > 5000, compared)
  end)
end)
