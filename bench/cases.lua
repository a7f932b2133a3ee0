-- The cases of bench/cases.json in lunarray: cases.make(case) gives the
-- function to time, how ("batches", "frames" or "growth"), and the same through
-- la.fuse where that is meant for it. It returns its
-- result, as a peer's lambda does: the caller drops it. Input values are random
-- where they matter (masks, sorting), from a fixed seed.
local la = require "lunarray"

local cases = {}

function cases.list(path)
  local json = require "dkjson"
  local file = assert(io.open(path or "bench/cases.json"))
  local text = file:read("a")
  file:close()
  return assert(json.decode(text)).cases
end

local function inputs(case)
  local g = la.Generator(7)
  local made = {}
  for i, shape in ipairs(case.shapes) do
    local x = la.rand(shape, {generator = g}) * 0.9 + 0.05
    local dtype = case.dtype
    if dtype == "int32" or dtype == "uint8" then
      x = (x * 100):to(dtype)
    elseif dtype:find("complex") then
      x = la.complex(x, x:flip(1)):to(dtype)
    elseif dtype == "bool" then
      x = la.full(shape, case.op ~= "any")
    elseif dtype ~= "float32" then
      x = x:to(dtype)
    end
    made[i] = x
  end
  if case.op == "where" then made[1] = made[1]:gt(0.5) end
  if case.group == "linalg" then      -- well conditioned, and symmetric
    local n = made[1]:size(-1)
    made[1] = (made[1] + made[1].mT) / 2 + n * la.eye(n, {dtype = case.dtype})
  end
  if case.op == "blackscholes" then
    made[1], made[2] = made[1] * 50 + 75, made[2] * 50 + 75
    made[3] = made[3] + 0.1
  end
  return made[1], made[2], made[3]
end

local make = {}

-- One operand, two operands; new result or `out`.
for _, name in ipairs{"exp", "log", "sin", "tanh", "sigmoid", "sqrt", "erf",
  "gelu"} do
  make[name] = function(case, x)
    local f = la[name]
    if case.variant == "new" then return function() return f(x) end end
    local options = {out = la.empty_like(x)}
    return function() f(x, options) end
  end
end

make["pow2.5"] = function(case, x)
  if case.variant == "new" then return function() return x ^ 2.5 end end
  local options = {out = la.empty_like(x)}
  return function() la.pow(x, 2.5, options) end
end

local function binary(f, case, x, y, new)
  if case.variant == "new" then
    return new or function() return f(x, y) end
  end
  local options = {out = f(x, y)}
  return function() f(x, y, options) end
end

function make.add(case, x, y)
  if case.variant == "inplace" then return function() x:add_(y) end end
  return binary(la.add, case, x, y, function() return x + y end)
end

function make.mul(case, x, y) return binary(la.mul, case, x, y) end
function make.lt(case, x, y) return binary(la.lt, case, x, y) end
function make.add_bt(case, x, y) return binary(la.add, case, x, y:t()) end

function make.add_strided(case, x, y)
  return binary(la.add, case, x:slice(1, 1, nil, 2), y)
end

function make.where(case, x, y, z)
  if case.variant == "new" then
    return function() return la.where(x, y, z) end
  end
  local options = {out = la.empty_like(y)}
  return function() la.where(x, y, z, options) end
end

function make.cast(case, x)
  local dtype = case.out_dtype
  if case.variant == "new" then return function() return x:to(dtype) end end
  local out = la.empty(x.shape, {dtype = dtype})
  return function() out:copy_(x) end
end

function make.copy_t(case, x)
  local t = x:t()
  if case.variant == "new" then return function() return t:contiguous() end end
  local out = la.empty_like(x)
  return function() out:copy_(t) end
end

function make.copy(_, x) return function() return x:clone() end end
function make.fill(_, x) return function() x:fill_(3.0) end end

-- Small calls.
function make.empty() return function() end end
function make.adds(_, x) return function() return x + 1 end end
function make.view(_, x) return function() return x:view(2, 2) end end
function make.slice(_, x) return function() return x:slice(1, 2, 3) end end
function make.transpose(_, x) return function() return x:t() end end
function make.select(_, x) return function() return x[1] end end
function make.item(_, x) return function() return x:item(2) end end

function make.fromlist()
  return function() return la.tensor{1.0, 2.0, 3.0} end
end

function make.autograd(_, x, w, b)
  w:requires_grad_()
  b:requires_grad_()
  return function()
    w.grad, b.grad = nil, nil
    ((x * w + b):tanh()):sum():backward()
  end
end

-- Reductions, order; dims count from 0 in the list.
for _, name in ipairs{"sum", "mean", "var", "norm", "any", "all", "argmax",
  "max", "softmax", "cumsum", "sort", "argsort"} do
  make[name] = function(case, x)
    local f = la[name]
    local dim = case.dim and case.dim + 1 or name == "cumsum" and 1 or nil
    if dim then return function() return f(x, dim) end end
    return function() return f(x) end
  end
end

function make.topk(case, x)
  local k = case.k
  return function() return x:topk(k) end
end

-- Products.
function make.matmul(_, x, y) return function() return x:matmul(y) end end
function make.bmm(_, x, y) return function() return x:bmm(y) end end

function make.matmul_nt(_, x, y)
  return function() return x:matmul(y:t()) end
end

function make.linear(_, x, w, b)
  return function() return la.linear(x, w, b) end
end

-- Factorizations.
for _, name in ipairs{"inv", "cholesky", "lu_factor", "qr", "eigh", "svd"} do
  make[name] = function(_, x)
    local f = la.linalg[name]
    if not f then return nil end
    return function() return f(x) end
  end
end

function make.solve(_, x, y)
  local f = la.solve
  return f and function() return f(x, y) end
end

-- Signals.
local signals = {
  sosfilt = function(x)
    local sos = la.signal.butter(8, 0.3, {dtype = x.dtype})
    return function() return la.signal.sosfilt(sos, x) end
  end,
  stft = function(x)
    return function() return x:stft(1024, {window = "hann"}) end
  end,
  istft = function(x)
    local z = x:stft(1024, {window = "hann"})
    return function() return z:istft(1024, {window = "hann"}) end
  end,
  find_peaks = function(x)
    return function()
      return (la.signal.find_peaks(x, {prominence = 0.5, width = 1}))
    end
  end,
  medfilt = function(x)
    return function() return la.signal.medfilt(x, 5) end
  end,
  savgol = function(x)
    return function() return la.signal.savgol_filter(x, 21, 3) end
  end,
  resample_poly = function(x)
    return function() return la.signal.resample_poly(x, 3, 2) end
  end,
  convolve = function(x, y)
    return function() return la.signal.convolve(x, y) end
  end,
}
for name, f in pairs(signals) do
  make[name] = function(_, x, y) return la.signal and f(x, y) end
end

-- Fourier transforms.
for _, name in ipairs{"fft", "rfft", "irfft", "fft2"} do
  make[name] = function(_, x)
    local f = la.fft[name]
    return function() return f(x) end
  end
end

function make.fft_columns(_, x)
  local f = la.fft.fft
  return function() return f(x, nil, 1) end
end

-- Images to sizes {height, width}, and at the points of an affine grid.
function make.interpolate(case, x)
  local options = {size = case.size, mode = case.mode,
    antialias = case.antialias}
  return function() return la.interpolate(x, options) end
end

local AFFINE = {{0.9, 0.2, 0.1}, {-0.2, 0.9, 0}}

function make.grid_sample(case, x)
  local n, shape = x:size(1), {x:size(1), 1, x:size(3), x:size(4)}
  local grid = la.affine_grid(la.tensor(AFFINE):expand{n, 2, 3}, shape)
  local options = {mode = case.mode}
  return function() return la.grid_sample(x, grid, options) end
end

-- A vector times weights of 4 bits; peers have no such thing.
function make.quantized_matmul(_, x, w)
  local q, scales, biases = la.quantize(w)
  return function() return la.quantized_matmul(x, q, scales, biases) end
end

-- Chains of element-wise steps, as they are and through la.fuse.
local function both(f, ...)
  local fused, args = la.fuse(f), table.pack(...)
  local x, y, z = table.unpack(args, 1, 3)
  return function() return f(x, y, z) end, "batches",
    function() return fused(x, y, z) end
end

function make.chain(_, x)
  return both(function(v)
    return (v * 1.1 + 0.3):tanh() * 0.7 + v * v
  end, x)
end

function make.layernorm(_, x, w, b)
  return both(function(v, scale, shift)
    local mean = v:mean(2, true)
    local var = v:var(2, {correction = 0, keepdim = true})
    return (v - mean) / (var + 1e-5):sqrt() * scale + shift
  end, x, w, b)
end

function make.blackscholes(_, s, k, t)
  local function normal(d) return ((d * 0.7071067811865475):erf() + 1) * 0.5 end
  return both(function(price, strike, time)
    local root = time:sqrt() * 0.3
    local d1 = ((price / strike):log() + time * 0.065) / root
    return price * normal(d1) - strike * (time * -0.02):exp()
      * normal(d1 - root)
  end, s, k, t)
end

-- Networks: forward, cross-entropy, backward, a step of SGD.
local function training(net, x)
  local optim = require "lunarray.optim"
  local target = la.randint(10, {x:size(1)}, {generator = la.Generator(3)})
  local opt = optim.SGD(net:parameters(), {lr = 0.1})
  return function()
    opt:zero_grad()
    la.cross_entropy(net(x), target):backward()
    opt:step()
  end
end

local function mlp()
  local nn = require "lunarray.nn"
  return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
end

function make.mlp(_, x) return training(mlp(), x) end

function make.logreg(_, x)
  return training(require "lunarray.nn".Linear(784, 10), x)
end

function make.conv(_, x)
  local nn = require "lunarray.nn"
  return training(nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(),
    nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1352, 10)), x)
end

function make.infer(_, x)
  local net = mlp()
  return function()
    local _ <close> = la.no_grad()
    return net(x)
  end
end

-- Resident memory of a loop that makes large temporaries.
function make.rssloop(_, x, y)
  return function() x = x + y end, "growth"
end

-- A frame of a game: drag, gravity, move, bounce at the walls. The steady
-- frame allocates nothing: in place, or into buffers made before.
function make.particles(_, x, y)
  local pos, vel = x:clone(), y - 0.5
  local vy = vel:select(2, 2)
  local bounced, dt = la.empty_like(pos), {alpha = 0.016}
  local low = la.empty(pos.shape, {dtype = "bool"})
  local high = la.empty_like(low)
  local to_low, to_high = {out = low}, {out = high}
  local to_bounced, to_vel = {out = bounced}, {out = vel}
  local lt, gt, neg, where = la.lt, la.gt, la.neg, la.where
  local function frame()
    vel:mul_(0.999)
    vy:sub_(0.0016)
    pos:add_(vel, dt)
    lt(pos, 0, to_low)
    gt(pos, 1, to_high)
    low:logical_or_(high)
    neg(vel, to_bounced)
    where(low, bounced, vel, to_vel)
    pos:clamp_(0, 1)
  end
  local fall = la.zeros_like(vel)
  fall:select(2, 2):fill_(-0.0016)
  local move = la.fuse(function(p, v)
    v = v * 0.999 + fall
    p = p + v * 0.016
    return p:clamp(0, 1), where(p:lt(0):logical_or(p:gt(1)), -v, v)
  end)
  -- State in a table, as games have it. In a variable outside of the function
  -- it would cost more: what Lua's generational collector finds assigned to an
  -- old one of those counts as old, and only whole collections free it.
  local own = {p = pos:clone(), v = vel:clone()}
  return frame, "frames", function() own.p, own.v = move(own.p, own.v) end
end

function cases.make(case)
  local body = make[case.op]
  if not body then return nil end
  return body(case, inputs(case))
end

return cases
