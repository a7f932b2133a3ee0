-- A mixture of Gaussians fitted by expectation and maximisation: from points
-- without labels it finds how many belong to each cloud, where and how wide it
-- is, and how sure that is at every point of the plane.
--
--   lua5.4 examples/clusters.lua [points [rounds [picture.png]]]
local la = require "lunarray"
local plot = require "lunarray.plot"

local n = tonumber(arg and arg[1]) or 1200
local rounds = tonumber(arg and arg[2]) or 60
local picture = arg and arg[3]
la.manual_seed(5)

-- Three clouds: centres, and what stretches and rotates the noise.
local K = 3
local centres = la.tensor{{-2.0, -1.0}, {2.0, -1.2}, {0.2, 1.8}}
local shapes = la.tensor{{{0.9, 0.5}, {0.0, 0.4}}, {{0.5, 0.0}, {0.3, 0.9}},
  {{1.3, 0.0}, {0.0, 0.3}}}
local truth = la.multinomial(la.tensor{0.5, 0.3, 0.2}, n, true)
local x = centres[truth] + (la.randn(n, 1, 2):matmul(shapes[truth])):squeeze(2)

-- Centres to start with: each is far from those before (k-means++).
local mean = x[{{1, 1}}]
for _ = 2, K do
  local gap = la.cdist(x, mean):amin(2):square()
  mean = la.cat{mean, x[la.multinomial(gap, 1)]}
end
local weight, cov = la.full({K}, 1 / K), la.eye(2):expand(K, 2, 2)

-- Log densities {points, K} of the clouds, by their weights.
local function scores(q)
  local l = la.linalg.cholesky(cov)
  local gap = (q:unsqueeze(2) - mean):permute(2, 3, 1)  -- {K, 2, points}
  local z = la.linalg.solve_triangular(l, gap, {upper = false})
  local size = l:diagonal(0, 2, 3):log():sum(2)
  return (weight:log() - size - math.log(2 * math.pi))
    - 0.5 * z:square():sum(2):t()
end

local likelihood
for _ = 1, rounds do
  local s = scores(x)
  likelihood = s:logsumexp(2):mean():item()
  local r = s:softmax(2)                        -- whose point it is, in parts
  local total = r:sum(1)
  weight, mean = total / n, r:t():matmul(x) / total:unsqueeze(2)
  local gap = x:unsqueeze(1) - mean:unsqueeze(2)        -- {K, points, 2}
  cov = (gap * r:t():unsqueeze(3)).mT:matmul(gap) / total:view(K, 1, 1)
    + 1e-4 * la.eye(2)
end

-- Clouds found and true ones in the same order: from left to right, then up.
local order, true_order = mean[{{}, 1}]:argsort(), centres[{{}, 1}]:argsort()
local miss = (mean[order] - centres[true_order]):norm(2, 2):max():item()
local rank, true_rank = order:argsort(), true_order:argsort()
local right = rank[scores(x):argmax(2)]:eq(true_rank[truth]):float():mean()
print(("%d points: log density %.3f, centres within %.2f, %.1f %% right")
  :format(n, likelihood, miss, right:item() * 100))
if picture then
  local line = la.linspace(-5, 5, 121)
  local grid = la.stack(la.meshgrid({line, line}, {indexing = "xy"}), 3)
  local dense = scores(grid:reshape(-1, 2)):logsumexp(2):view(121, 121)
  local fig = plot.contour(dense:clamp_min(-9), {x = line, y = line,
    levels = {-8, -7, -6, -5, -4, -3}, colormap = "gray", aspect = "equal",
    title = "Log density of the mixture, points by cloud"})
  local whose = scores(x):argmax(2)
  for k = 1, K do
    local p = x[whose:eq(order[k])]:t()
    fig:scatter(p[1], p[2], {markersize = 3, alpha = 0.7, color = k,
      label = ("%.0f %%"):format(weight[order[k]]:item() * 100)})
  end
  fig:set{xlim = {-4.5, 4.5}, ylim = {-4, 3.2}, legend = "upper left"}
  fig:save(picture, {width = 800, height = 640, scale = 1})
end
return {miss = miss, right = right:item(), likelihood = likelihood}
