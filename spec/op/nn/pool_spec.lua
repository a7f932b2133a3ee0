-- Pooling against its definition, window by window: every layout, odd sizes,
-- ties and NaN, rows longer than a kernel takes at a time.
local la = require "lunarray"

local NAN = 0 / 0

-- Windows along a dim of n elements: their indices, and how many count
-- with the padding.
local function windows(n, c)
  local out, reach = {}, c.dilation * (c.kernel - 1) + 1
  local span = n + 2 * c.pad - reach
  local count = (span + (c.ceil and c.stride - 1 or 0)) // c.stride + 1
  if c.ceil and (count - 1) * c.stride >= n + c.pad then count = count - 1 end
  for o = 0, count - 1 do
    local w = {}
    for k = 0, c.kernel - 1 do
      local at = o * c.stride - c.pad + k * c.dilation
      if at >= 0 and at < n then w[#w + 1] = at + 1 end
    end
    w.counted = math.min(o * c.stride - c.pad + reach, n + c.pad)
      - (o * c.stride - c.pad)
    out[o + 1] = w
  end
  return out
end

local function shares(n, count)
  local out = {}
  for o = 0, count - 1 do
    local w = {}
    for at = o * n // count, ((o + 1) * n + count - 1) // count - 1 do
      w[#w + 1] = at + 1
    end
    w.counted = #w
    out[o + 1] = w
  end
  return out
end

-- Values, indices and means of one image's planes; rows, cols: windows.
local function naive(x, rows, cols, pads)
  local most, indices, means = {}, {}, {}
  for c, plane in ipairs(x) do
    most[c], indices[c], means[c] = {}, {}, {}
    local width = #plane[1]
    for i, r in ipairs(rows) do
      most[c][i], indices[c][i], means[c][i] = {}, {}, {}
      for j, k in ipairs(cols) do
        local best, at, sum = -math.huge, (r[1] - 1) * width + k[1], 0.0
        for _, y in ipairs(r) do
          for _, z in ipairs(k) do
            local v = plane[y][z]
            sum = sum + v
            if v > best or v ~= v then best, at = v, (y - 1) * width + z end
          end
        end
        most[c][i][j], indices[c][i][j] = best, at
        means[c][i][j] = sum / (pads and r.counted * k.counted or #r * #k)
      end
    end
  end
  return most, indices, means
end

local layouts = {
  contiguous = function(x) return x:contiguous() end,
  channels_last = function(x) return x:contiguous("channels_last") end,
  strided = function(x)      -- every second column of a wider tensor
    local wide = la.zeros(x:size(1), x:size(2), x:size(3), 2 * x:size(4))
      :to(x.dtype)
    local view = wide:slice(4, 1, 2 * x:size(4), 2)
    view:copy_(x)
    return view
  end,
}

local function same(a, b, what)
  local u, v = a:double():reshape(-1):totable(),
    b:double():reshape(-1):totable()
  assert.are.equal(#u, #v, what)
  for i = 1, #u do
    assert.is_true(u[i] == v[i] or (u[i] ~= u[i] and v[i] ~= v[i]), what)
  end
end

local function near(a, b, tol, what)
  local far = (a:double() - b:double()):abs():max():item()
  assert.is_true(far <= tol, ("%s: differs by %g"):format(what, far))
end

-- Small whole numbers: many ties, sums exact in every dtype.
local function sample(n, c, h, w, dtype)
  return la.randint(-4, 5, {n, c, h, w}):to(dtype)
end

local cases = {}   -- channels, height, width, kernel, stride, pad, dilation
for _, c in ipairs {
  {3, 5, 7, 2, 2, 0, 1}, {2, 9, 6, 3, 2, 1, 1}, {5, 8, 19, 3, 1, 1, 1},
  {17, 6, 5, 3, 2, 0, 1}, {40, 7, 7, 2, 1, 1, 1}, {2, 11, 33, 3, 3, 1, 1},
  {1, 12, 40, 4, 2, 2, 1}, {70, 5, 4, 3, 1, 1, 1}, {3, 6, 21, 5, 5, 2, 1},
  {2, 1, 1, 1, 1, 0, 1}, {2, 13, 18, 2, 5, 1, 1}, {1, 3, 1300, 3, 1, 1, 1},
  {1, 2, 2600, 2, 2, 1, 1}, {2, 3, 90, 3, 40, 1, 1},
} do cases[#cases + 1] = c end

local function options(c, ceil, dilation)
  return {kernel = c[4], stride = c[5], pad = c[6],
          dilation = dilation or c[7], ceil = ceil}
end

-- What 'naive' gives for all images, as tensors.
local function all_of(x, rows, cols, pads)
  local most, indices, means = {}, {}, {}
  for n = 1, x:size(1) do
    most[n], indices[n], means[n] = naive(x[n]:double():totable(), rows, cols,
                                         pads)
  end
  return la.tensor(most), la.tensor(indices), la.tensor(means)
end

-- Every dtype for some cases, two for all.
local function dtypes(number)
  if number % 4 == 1 then
    return {"float32", "float64", "bfloat16", "float16", "int32"}
  end
  return {number % 2 == 0 and "float32" or "float64", "bfloat16"}
end

describe("max pooling", function()
  it("is its definition in every layout, with ties and NaN", function()
    for number, c in ipairs(cases) do
      for _, dtype in ipairs(dtypes(number)) do
        local x = sample(2, c[1], c[2], c[3], dtype)
        if dtype ~= "int32" then
          x:view(-1)[1 + number % x:numel()]:fill_(NAN)
          x:view(-1)[x:numel()]:fill_(NAN)
        end
        local dilation = c[2] > 7 and c[5] > 1 and c[4] < 4 and 2 or 1
        local o = options(c, number % 2 == 0, dilation)
        local most, indices = all_of(x, windows(c[2], o), windows(c[3], o))
        for name, layout in pairs(layouts) do
          local y, at = la.max_pool2d(layout(x), o.kernel,
            {stride = o.stride, padding = o.pad, dilation = dilation,
             ceil_mode = o.ceil, return_indices = true})
          local what = ("case %d %s %s"):format(number, dtype, name)
          same(y:contiguous(), most, what)
          same(at:contiguous(), indices, what)
        end
      end
    end
  end)

  it("gives the same where nobody asks for indices", function()
    for number, c in ipairs(cases) do
      for _, dtype in ipairs(dtypes(number)) do
        local x = sample(2, c[1], c[2], c[3], dtype)
        if dtype ~= "int32" then x:view(-1)[x:numel()]:fill_(NAN) end
        for name, layout in pairs(layouts) do
          local what = ("case %d %s %s"):format(number, dtype, name)
          local with = {stride = c[5], padding = c[6], return_indices = true}
          local without = {stride = c[5], padding = c[6]}
          same((la.max_pool2d(layout(x), c[4], without)),
               (la.max_pool2d(layout(x), c[4], with)), what)
          -- one dim: rows apart, and rows that are one
          local row = layout(x):select(3, 1)
          if row:size(3) + 2 * c[6] >= c[4] then
            same((la.max_pool1d(row, c[4], without)),
                 (la.max_pool1d(row, c[4], with)), what)
          end
        end
      end
    end
    la.manual_seed(7)
    for _, s in ipairs {{3, 5, 50, 2}, {1, 70, 12, 3}, {2, 3, 64, 4}} do
      local x = la.randn(s[1], s[2], s[3])
      local parts = x:view(s[1], s[2], s[3] // s[4], s[4])
      same((la.max_pool1d(x, s[4])), parts:amax(-1), "shared out")
      near(la.avg_pool1d(x, s[4]), parts:mean(-1), 1e-6, "shared out")
      same((la.max_pool1d(x[1], s[4])), parts[1]:amax(-1), "no batch")
    end
  end)

  it("shares rows and columns out as adaptive pooling says", function()
    for _, c in ipairs {{3, 7, 9, 3, 4}, {20, 5, 6, 2, 6}, {1, 4, 300, 4, 7},
                        {2, 3, 2500, 2, 3}, {4, 2, 3, 5, 4}} do
      local x = sample(2, c[1], c[2], c[3], "float32")
      x:view(-1)[3]:fill_(NAN)
      x:view(-1)[4]:fill_(NAN)
      local most, indices, means = all_of(x, shares(c[2], c[4]),
                                         shares(c[3], c[5]))
      for name, layout in pairs(layouts) do
        local y, at = la.adaptive_max_pool2d(layout(x), {c[4], c[5]},
                                             {return_indices = true})
        local mean = la.adaptive_avg_pool2d(layout(x), {c[4], c[5]})
        same(y:contiguous(), most, name)
        same(at:contiguous(), indices, name)
        same(mean:isnan():contiguous(), means:isnan(), name)
        near(mean:nan_to_num(), means:nan_to_num(), 1e-5, name)
      end
    end
  end)

  it("sends gradients to the positions of its maxima", function()
    for number, c in ipairs(cases) do
      for _, dtype in ipairs {"float32", "float64"} do
        local x = sample(2, c[1], c[2], c[3], dtype)
        local o = {stride = c[5], padding = c[6], return_indices = true}
        local _, indices = la.max_pool2d(x, c[4], o)
        local g = la.randint(-3, 4, {table.unpack(indices.shape)}):to(dtype)
        local want = la.zeros(2, c[1], c[2] * c[3]):to(dtype)
        want:scatter_add_(3, indices:flatten(3), g:flatten(3))
        for name, layout in pairs(layouts) do
          local leaf = layout(x):detach()
          leaf.requires_grad = true
          local y = la.max_pool2d(leaf, c[4], o)
          y:backward(name == "strided" and g or layout(g))
          same(leaf.grad:contiguous(), want, number .. name)
        end
      end
    end
  end)
end)

describe("average pooling", function()
  it("is its definition in every layout", function()
    for number, c in ipairs(cases) do
      for _, dtype in ipairs(dtypes(number)) do
        local x = sample(2, c[1], c[2], c[3], dtype)
        local pads, o = number % 3 == 0, options(c, number % 2 == 0)
        local _, _, means = all_of(x, windows(c[2], o), windows(c[3], o), pads)
        for name, layout in pairs(layouts) do
          local y = la.avg_pool2d(layout(x), o.kernel,
            {stride = o.stride, padding = o.pad, ceil_mode = o.ceil,
             count_include_pad = pads})
          local tol = dtype == "int32" and 1 or dtype:find "16" and 0.02
            or 1e-6
          near(y, means, tol, number .. name .. dtype)
        end
      end
    end
  end)

  it("has the gradient of its definition in every layout", function()
    for number, c in ipairs(cases) do
      local x = sample(2, c[1], c[2], c[3], "float64")
      local o = {stride = c[5], padding = c[6], ceil_mode = number % 2 == 0,
                 count_include_pad = number % 3 ~= 0}
      local g = la.randn(table.unpack(la.avg_pool2d(x, c[4], o).shape))
        :double()
      local d = la.randn(2, c[1], c[2], c[3]):double()
      -- <g, pool(d)> = <gradient, d> for every d
      local want = (la.avg_pool2d(layouts.strided(d), c[4], o) * g):sum()
      for name, layout in pairs(layouts) do
        local leaf = layout(x):detach()
        leaf.requires_grad = true
        la.avg_pool2d(leaf, c[4], o):backward(name == "strided" and g
                                              or layout(g))
        near((leaf.grad * d):sum(), want, 1e-9 * (1 + want:abs():item()),
             number .. name)
        if name == "channels_last" and c[1] > 1 and c[2] * c[3] > 1 then
          assert.is_true(leaf.grad:is_contiguous "channels_last")
        end
      end
    end
  end)

  it("gives every layout the same bits", function()
    for _, c in ipairs(cases) do
      local x = la.randn(2, c[1], c[2], c[3])
      local o = {stride = c[5], padding = c[6]}
      local y = la.avg_pool2d(layouts.strided(x), c[4], o)
      assert.is_true(la.avg_pool2d(x, c[4], o) == y)
      assert.is_true(la.avg_pool2d(layouts.channels_last(x), c[4], o) == y)
    end
  end)

  it("divides by what it is told", function()
    local x = la.ones(1, 2, 5, 6)
    local y = la.avg_pool2d(x, 2, {divisor_override = 8})
    assert.is_true(y == la.full({1, 2, 2, 3}, 0.5))
    local z = la.avg_pool2d(layouts.channels_last(x), 2,
                            {divisor_override = 8})
    assert.is_true(z == y)
  end)

  it("of one window is the mean, with its gradient", function()
    local x = la.randn(3, 5, 4, 7):double()
    x.requires_grad = true
    local y = la.adaptive_avg_pool2d(x, 1)
    near(y:view(3, 5), x:detach():flatten(3):sum(3) / 28, 1e-12, "mean")
    y:sum():backward()
    near(x.grad, la.full({3, 5, 4, 7}, 1 / 28):double(), 1e-7, "gradient")
    assert.same({0, 3, 1, 1}, {table.unpack(
      la.adaptive_avg_pool2d(la.zeros(0, 3, 4, 4), 1).shape)})
  end)
end)

describe("pooling", function()
  it("of volumes keeps channels_last_3d", function()
    local x = la.randn(2, 6, 4, 5, 7)
    local last = x:contiguous "channels_last_3d"
    local o = {stride = 2, padding = 1, return_indices = true}
    local y, at = la.max_pool3d(x, 3, o)
    local z, there = la.max_pool3d(last, 3, o)
    assert.is_true(z:is_contiguous "channels_last_3d")
    assert.is_true(z == y and there == at)
    assert.is_true(la.avg_pool3d(last, 3, {padding = 1})
                   == la.avg_pool3d(x, 3, {padding = 1}))
  end)

  it("gives the same bits at any number of threads", function()
    local before = la.get_num_threads()
    for _, format in ipairs {"contiguous", "channels_last"} do
      local x = la.randn(1, 70, 40, 41):contiguous(format)
      x.requires_grad = true
      local function all()
        local y, at = la.max_pool2d(x, 3, {padding = 1, return_indices = true})
        local z = la.avg_pool2d(x, 3, {stride = 1})
        x.grad = nil
        z:backward(z:detach())
        return y:detach(), at, z:detach(), x.grad
      end
      la.set_num_threads(1)
      local one = {all()}
      for _, n in ipairs {2, 5} do
        la.set_num_threads(n)
        for k, t in ipairs {all()} do assert.is_true(t == one[k]) end
      end
      la.set_num_threads(before)
    end
  end)
end)
