-- Values that each family must give, of those that are in the library; the
-- others must refuse.
local la = _G.lunarray

local function near(got, want, what)
  for i, w in ipairs(want) do
    local g = got:flatten()[i]:item()
    if math.abs(g - w) > 1e-5 * math.max(1, math.abs(w)) then
      error(("%s: element %d is %.9g, not %.9g"):format(what, i, g, w))
    end
  end
end

-- Does the call give these values, or say that its family was left out?
local present, absent = 0, 0
local function check(what, want, f, ...)
  local ok, got = pcall(f, ...)
  if ok then
    near(got, want, what)
    present = present + 1
  else
    local text = what .. ": " .. tostring(got)
    assert(text:find("not in this build", 1, true), text)
    absent = absent + 1
  end
end

local m = la.tensor{{1.0, 2.0}, {3.0, 4.0}}
near(m + 1, {2, 3, 4, 5}, "add")
near(m[{1}], {1, 2}, "select")
near(m:t(), {1, 3, 2, 4}, "t")
near(m:sum(1), {4, 6}, "sum")
for _, dtype in ipairs{"float16", "float32", "float64"} do
  local x = la.tensor({-2.0, -0.5, 0.0, 0.5, 2.0}, {dtype = dtype}):double()
  near(x:exp(), {0.135335283, 0.60653066, 1, 1.64872127, 7.3890561}, "exp")
  near(x:sin(), {-0.909297427, -0.479425539, 0, 0.479425539, 0.909297427},
       "sin")
  near(x:tanh(), {-0.96402758, -0.462117157, 0, 0.462117157, 0.96402758},
       "tanh")
  near(x:erf(), {-0.995322265, -0.520499878, 0, 0.520499878, 0.995322265},
       "erf")
end
-- tails and whole vectors, far arguments
local long = la.arange(1, 1001, {dtype = "float32"})
near((long * 1000):sin()[{1000}]:reshape(1), {-0.349993502}, "sin far")
near(long:lgamma()[{100}]:reshape(1), {359.134205}, "lgamma")
near(long:log():sum():reshape(1), {5912.128178}, "log")

local w = la.tensor({1.0, 2.0, 3.0}, {requires_grad = true});
(w * w):sum():backward()
near(w.grad, {2, 4, 6}, "backward")
la.add(la.ones(3), w, {alpha = 2}):sum():backward()
near(w.grad, {4, 6, 8}, "backward of alpha")
local fused = la.fuse(function(a) return a * 2 + 1 end)(m)
near(fused, {3, 5, 7, 9}, "fuse")

-- Pages of help keep their lines as they are written.
local unused
for _, k in ipairs(require "lunarray.help".keywords("grad")) do
  unused = unused or k.name == "allow_unused"
end
assert(unused, "a keyword in the second line of a signature")

local has_optim, why = pcall(require, "lunarray.optim")
assert(has_optim or why == "lunarray.optim: not in this build "
       .. "(family nn is left out)", why)

check("matmul", {7, 10, 15, 22}, la.matmul, m, m)
check("softmax", {0.26894142, 0.73105858}, la.softmax, m[{1}], 1)
check("cumsum", {1, 3, 6}, la.cumsum, la.tensor{1.0, 2.0, 3.0}, 1)
check("sort", {1, 2, 3}, la.sort, la.tensor{3.0, 1.0, 2.0})
check("conv1d", {3, 5}, la.conv1d, la.tensor{{{1.0, 2.0, 3.0}}},
      la.tensor{{{1.0, 1.0}}})
check("det", {-2}, function() return la.linalg.det(m):reshape(1) end)
check("fft", {10, -2}, function()
  return la.fft.fft(la.tensor{1.0, 2.0, 3.0, 4.0}).real[{{1, 4, 2}}]
end)
check("mse_loss", {7.5}, function()
  return la.mse_loss(m, la.zeros(2, 2)):reshape(1)
end)
check("interp", {1.5}, la.interp, la.tensor{0.5}, la.tensor{0.0, 1.0},
      la.tensor{1.0, 2.0})
check("convolve", {1, 3, 2}, la.convolve, la.tensor{1.0, 2.0},
      la.tensor{1.0, 1.0})
check("normalize", {0.6, 0.8}, function()
  return la.game.normalize(la.tensor{3.0, 4.0})
end)
check("rand", {1}, function()
  la.manual_seed(7)
  return (la.rand(1000):mean() * 2):round():reshape(1)
end)
-- family image, by a deflate of our own
if pcall(function() return la.image.encode end) then
  local picture = (la.arange(3 * 40 * 50):reshape(3, 40, 50) * 7 % 256)
    :to("uint8")
  local bytes = la.image.encode(picture, "png")
  assert(#bytes < 1000 and la.equal(la.image.decode(bytes), picture))
  -- bytes without a pattern, also where family random is left out
  local noise = (la.arange(150 * 300, {dtype = "float64"}) * 12.9898):sin()
    * 43758.5453
  noise = ((noise - noise:floor()) * 256):to("uint8"):reshape(1, 150, 300)
  assert(la.equal(la.image.decode(la.image.encode(noise, "png")), noise))
end
print(("%d present, %d absent, %s"):format(present, absent,
                                           la.config().cpu_capability))
