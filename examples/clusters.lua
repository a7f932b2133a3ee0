-- A mixture of Gaussians fitted by expectation and maximisation: from points
-- without labels it finds how many belong to each cloud, where and how wide it
-- is, and how sure that is at every point of the plane.
--
--   lua5.4 examples/clusters.lua [points [rounds [picture.png]]]
local la = require "lunarray"

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
  local size = 240
  local line = la.linspace(-4, 4, size)
  local grid = la.stack(la.meshgrid({line, -line}, {indexing = "xy"}), 3)
  local s = scores(grid:reshape(-1, 2))
  local colours = la.tensor{{0.85, 0.3, 0.25}, {0.2, 0.55, 0.3},
    {0.2, 0.35, 0.8}}
  local dense = (s:logsumexp(2) + 7):clamp(0, 6):floor() / 7
  local rgb = 1 - dense:unsqueeze(2) * (1 - s:softmax(2):matmul(colours))
  local spot = ((x * la.tensor{1.0, -1.0} + 4) / 8 * size):long():clamp(1, size)
  rgb[(spot[{{}, 2}] - 1) * size + spot[{{}, 1}]] = 0.12
  la.image.save(((rgb * 16):round() / 16):view(size, size, 3):permute(3, 1, 2),
    picture)
end
return {miss = miss, right = right:item(), likelihood = likelihood}
