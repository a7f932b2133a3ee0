-- Images as textures: resampling and sampling against their definitions, over
-- layouts, sizes that vectors do not divide, infinities, and numbers of
-- threads. Values of PyTorch are in spec/golden.
local la = require "lunarray"

local INF = math.huge

local function rand(...) return la.rand(..., {dtype = "float64"}) end

-- Resampling is a matrix per axis: columns are what unit vectors become.
local function axis_matrix(n, options)
  local eye = la.eye(n, {dtype = "float64"}):view(n, 1, 1, n)
  return la.interpolate(eye, options):view(n, -1)
end

local function close(a, b, tol)
  assert.are.same(b.shape, a.shape)
  if a:numel() == 0 then return end
  local gap = (a:double() - b:double()):abs():max():item()
  assert.is_true(gap <= (tol or 1e-12), "differs by " .. gap)
end

describe("interpolate", function()
  local modes = {{"bilinear", false}, {"bilinear", true}, {"bicubic", false},
    {"bicubic", true}, {"lanczos", true}}

  it("is a matrix along each axis, in every order of steps", function()
    for _, m in ipairs(modes) do
      for _, to in ipairs{{5, 40}, {40, 5}, {30, 61}, {7, 6}, {1, 1}} do
        local x = rand{2, 3, 13, 23}
        local function axis(n, size)
          return axis_matrix(n, {size = {1, size}, mode = m[1],
            antialias = m[2]})
        end
        local want = axis(13, to[1]):t():matmul(x):matmul(axis(23, to[2]))
        local options = {size = to, mode = m[1], antialias = m[2]}
        close(la.interpolate(x, options), want)
        local last = x:contiguous{memory_format = "channels_last"}
        local got = la.interpolate(last, options)
        close(got, want)
        assert.are.same({3 * to[1] * to[2], 1, 3 * to[2], 3},
          {got:stride(1), got:stride(2), got:stride(3), got:stride(4)})
        close(la.interpolate(x:transpose(3, 4), {size = {to[2], to[1]},
          mode = m[1], antialias = m[2]}), want:transpose(3, 4))
      end
    end
  end)

  it("blends slices of volumes", function()
    local x = rand{2, 2, 5, 7, 9}
    for _, to in ipairs{{9, 13, 17}, {3, 4, 5}, {8, 5, 20}} do
      local options = {size = to, mode = "trilinear"}
      local rows = la.interpolate(x:view(4, 5, 7, 9),
        {size = {to[2], to[3]}, mode = "bilinear"})
      local want = la.interpolate(rows:view(1, 4, 5, -1):transpose(3, 4)
        :reshape(1, -1, 5), {size = to[1], mode = "linear"})
      want = want:view(2, 2, to[2], to[3], to[1]):permute(1, 2, 5, 3, 4)
      close(la.interpolate(x, options), want)
      local last = x:contiguous{memory_format = "channels_last_3d"}
      close(la.interpolate(last, options), want)
    end
  end)

  it("takes the nearest element of any dtype", function()
    for _, dtype in ipairs{"bool", "uint8", "int16", "int32", "int64",
      "float16", "bfloat16", "float32", "float64"} do
      local x = la.randint(0, 2, {2, 3, 4, 5}):to(dtype)
      local y = la.interpolate(x, {scale_factor = {2, 3}})
      assert.are.equal(dtype, y.dtype)
      local want = x:repeat_interleave(2, 3):repeat_interleave(3, 4)
      assert.is_true(y:equal(want))
      local z = la.interpolate(y, {size = {4, 5}, mode = "nearest-exact"})
      assert.is_true(z:equal(x))
    end
  end)

  it("computes 16-bit floats in float32", function()
    local x = la.rand{1, 2, 9, 11}:half()
    for _, mode in ipairs{"bilinear", "bicubic", "area"} do
      local options = {size = {5, 20}, mode = mode}
      assert.is_true(la.interpolate(x, options)
        :equal(la.interpolate(x:float(), options):half()))
    end
  end)

  it("keeps infinities where they are", function()
    local x = la.zeros{1, 1, 1, 40}
    x[{1, 1, 1, 20}] = INF
    local y = la.interpolate(x, {size = {1, 90}, mode = "bilinear"})
    local touched = y:view(-1):ne(0)
    assert.is_true(touched:sum():item() <= 6)
    local leaf = la.rand{1, 1, 1, 40}:requires_grad_()
    local z = la.interpolate(leaf, {size = {1, 5}, mode = "bilinear"})
    local g = la.zeros{1, 1, 1, 5}
    g[{1, 1, 1, 3}] = INF
    z:backward(g)
    assert.is_true(leaf.grad:ne(0):sum():item() <= 2)
    assert.is_false(leaf.grad:isnan():any())
  end)

  it("has the same bits for any number of threads", function()
    local before = la.get_num_threads()
    local x = la.rand{1, 2, 150, 170}
    local grid = la.rand{1, 90, 70, 2} * 3 - 1.5
    local function all()
      local out = {}
      for _, m in ipairs(modes) do
        local leaf = x:clone():requires_grad_()
        local y = la.interpolate(leaf, {size = {211, 95}, mode = m[1],
          antialias = m[2]})
        y:backward(y)
        out[#out + 1], out[#out + 2] = y:detach(), leaf.grad
      end
      for _, mode in ipairs{"bilinear", "bicubic"} do
        local leaf, at = x:clone():requires_grad_(), grid:clone()
        at.requires_grad = true
        local y = la.grid_sample(leaf, at, {mode = mode})
        y:backward(y)
        out[#out + 1], out[#out + 2] = y:detach(), leaf.grad
        out[#out + 1] = at.grad
      end
      return out
    end
    la.set_num_threads(1)
    local one = all()
    la.set_num_threads(3)
    local three = all()
    la.set_num_threads(before)
    for k = 1, #one do assert.is_true(one[k]:equal(three[k])) end
  end)

  it("takes empty batches and the meta device", function()
    local y = la.interpolate(la.zeros{0, 3, 4, 5}, {size = 7})
    assert.are.same({0, 3, 7, 7}, y.shape)
    local z = la.interpolate(la.zeros({2, 3, 4}, {device = "meta"}),
      {scale_factor = 2.5, mode = "linear"})
    assert.are.same({2, 3, 10}, z.shape)
  end)

  it("says what is wrong", function()
    local x = la.zeros{1, 1, 4, 4}
    local function raises(text, t, options)
      local ok, why = pcall(la.interpolate, t, options)
      assert.is_false(ok)
      assert.is_truthy(why:find(text, 1, true), why)
    end
    raises("either size or scale_factor", x, {mode = "area"})
    raises("only one of", x, {size = 2, scale_factor = 2})
    raises("unknown mode 'cubic'", x, {size = 2, mode = "cubic"})
    raises("needs 3 dims", x, {size = 2, mode = "linear"})
    raises("align_corners is only", x, {size = 2, align_corners = false})
    raises("antialias is only", x, {size = 2, antialias = true})
    raises("needs antialias", x, {size = 2, mode = "lanczos"})
    raises("greater than 0", x, {size = 0})
    raises("greater than 0", x, {scale_factor = 0.1})
    raises("greater than 0", la.zeros{1, 1, 0, 4}, {size = 3})
    raises("a scale factor of", x, {scale_factor = 0 / 0})
    raises("a scale factor of", x, {scale_factor = 1e30})
    raises("a list of 2", x, {size = {1, 2, 3}})
    raises("list of numbers expected", x, {scale_factor = {1, "2"}})
    raises("no meaning where size", x, {size = 2,
      recompute_scale_factor = true})
    raises("3 to 5 dims", la.zeros{3, 4}, {size = 2})
    raises("not implemented", x:int(), {size = 2, mode = "bilinear"})
    raises("not implemented", la.zeros({1, 1, 4}, {dtype = "uint8"}),
      {size = 2, mode = "linear"})
  end)
end)

describe("grid_sample", function()
  it("reads an image back at its own pixels", function()
    for _, align in ipairs{false, true} do
      for _, size in ipairs{{2, 3, 17, 19}, {1, 2, 5, 6, 7}} do
        local nd = #size - 2
        local theta = la.eye(nd, nd + 1, {dtype = "float64"}):unsqueeze(1)
          :expand{size[1], nd, nd + 1}
        local grid = la.affine_grid(theta, size, align)
        for _, mode in ipairs{"bilinear", "nearest"} do
          local x = rand(size)
          close(la.grid_sample(x, grid, {mode = mode, align_corners = align}),
            x)
          local y = la.grid_sample(x:float(), grid:float(), {mode = mode,
            align_corners = align, padding_mode = "border"})
          close(y, x, 1e-4)
        end
      end
    end
  end)

  -- Point by point, with indices as the definition has them.
  local function bilinear(plane, x, y)
    local h, w = plane:size(1), plane:size(2)
    local px, py = ((x + 1) * w - 1) / 2, ((y + 1) * h - 1) / 2
    local sum = 0
    for i = math.floor(py), math.floor(py) + 1 do
      for j = math.floor(px), math.floor(px) + 1 do
        if i >= 0 and i < h and j >= 0 and j < w then
          sum = sum + plane[{i + 1, j + 1}]:item() * (1 - math.abs(px - j))
            * (1 - math.abs(py - i))
        end
      end
    end
    return sum
  end

  it("is bilinear between pixels, zero outside, in any layout", function()
    local x, grid = rand{1, 2, 6, 9}, rand{1, 5, 37, 2} * 2.6 - 1.3
    local want = la.zeros({1, 2, 5, 37}, {dtype = "float64"})
    for c = 1, 2 do
      for i = 1, 5 do
        for j = 1, 37 do
          want[{1, c, i, j}] = bilinear(x[1][c], grid[{1, i, j, 1}]:item(),
            grid[{1, i, j, 2}]:item())
        end
      end
    end
    close(la.grid_sample(x, grid), want)
    close(la.grid_sample(x:contiguous{memory_format = "channels_last"}, grid),
      want)
    close(la.grid_sample(x, grid:transpose(2, 3)), want:transpose(3, 4))
    close(la.grid_sample(x:float(), grid:float()), want, 1e-5)
  end)

  it("reads nothing that lies outside", function()
    local x = la.full({1, 1, 4, 4}, INF)
    x[{1, 1, {2, 3}, {2, 3}}] = 1
    local grid = la.zeros{1, 3, 40, 2}
    assert.is_true(la.grid_sample(x, grid):eq(1):all())
    local edge = la.ones{1, 1, 20, 2}
    for _, padding in ipairs{"border", "reflection"} do
      local y = la.grid_sample(la.ones{1, 1, 4, 4}, edge,
        {padding_mode = padding})
      assert.is_true(y:eq(1):all())
    end
    for _, odd in ipairs{INF, -INF, 0 / 0, 1e30} do
      for _, mode in ipairs{"bilinear", "nearest", "bicubic"} do
        for _, padding in ipairs{"zeros", "border", "reflection"} do
          la.grid_sample(x, la.full({1, 1, 20, 2}, odd), {mode = mode,
            padding_mode = padding})
        end
      end
    end
  end)

  it("takes no points, and says what is wrong", function()
    local x = la.zeros{2, 3, 4, 5}
    assert.are.same({2, 3, 0, 7},
      la.grid_sample(x, la.zeros{2, 0, 7, 2}).shape)
    local function raises(text, ...)
      local ok, why = pcall(la.grid_sample, ...)
      assert.is_false(ok)
      assert.is_truthy(why:find(text, 1, true), why)
    end
    raises("a grid of 4 dims", x, la.zeros{1, 6, 7, 2})
    raises("a grid of 4 dims", x, la.zeros{2, 6, 7, 3})
    raises("same dtype", x, la.zeros({2, 6, 7, 2}, {dtype = "float64"}))
    raises("without pixels", x[{{}, {}, {1, 0}}], la.zeros{2, 6, 7, 2})
    raises("unknown mode", x, la.zeros{2, 6, 7, 2}, {mode = "linear"})
    raises("unknown padding_mode", x, la.zeros{2, 6, 7, 2},
      {padding_mode = "wrap"})
    raises("not implemented", x:int(), la.zeros{2, 6, 7, 2}:int())
    raises("for 4 dims", la.zeros{1, 1, 2, 2, 2}, la.zeros{1, 1, 1, 1, 3},
      {mode = "bicubic"})
  end)
end)

describe("shuffles", function()
  it("undo each other in every layout", function()
    local x = rand{2, 12, 4, 6}
    for _, t in ipairs{x, x:contiguous{memory_format = "channels_last"},
      x:transpose(3, 4), x[1]} do
      local y = t:pixel_shuffle(2)
      close(y:pixel_unshuffle(2), t, 0)
      close(t:pixel_unshuffle(2):pixel_shuffle(2), t, 0)
    end
    close(x:channel_shuffle(3):channel_shuffle(4), x, 0)
    assert.are.same({0, 3, 8, 12}, la.zeros{0, 12, 4, 6}:pixel_shuffle(2).shape)
  end)

  it("say what does not divide", function()
    local x = la.zeros{1, 6, 3, 4}
    assert.has_error(function() x:pixel_shuffle(2) end)
    assert.has_error(function() x:pixel_shuffle(0) end)
    assert.has_error(function() x:pixel_shuffle(1 << 40) end)
    assert.has_error(function() x:pixel_unshuffle(2) end)
    assert.has_error(function() x:channel_shuffle(4) end)
    assert.has_error(function() la.zeros{2, 4}:channel_shuffle(2) end)
  end)
end)
