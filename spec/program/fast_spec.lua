-- la.compile(f, {fast = true}): other roundings, within twice the error of the
-- plain calls against float64 and one unit in the last place of the largest
-- value.
local la = require "lunarray"
local nn = require "lunarray.nn"

-- The count that explain tells of the pass.
local function scaled(step)
  return tonumber(step:explain():match("scale: [^\n]*: (%d+)"))
end

local function within(net, step, x)
  local copy = la.no_grad(net, x)
  net:to("float64")
  local double = la.no_grad(net, x:double())
  net:to("float32")
  local function error_of(y) return (y:double() - double):abs():max():item() end
  local most = 2 * error_of(copy) + double:abs():max():item() * 2 ^ -23
  for _ = 1, 3 do assert.is_true(error_of(step(x)) <= most) end
end

local function layers(conv, norm)
  la.manual_seed(5)
  local net = nn.Sequential(conv, norm, nn.ReLU())
  net:train()
  for _ = 1, 4 do                       -- running means and variances
    la.no_grad(net, la.randn(4, 6, 12, 12) * 3 + 1)
  end
  la.no_grad(function()
    norm.weight:uniform_(0.5, 2)
    norm.bias:uniform_(-1, 1)
  end)
  return net:eval()
end

describe("a fast program", function()
  for _, case in ipairs{{"with a bias", {}}, {"without", {bias = false}},
      {"in groups", {groups = 2}}, {"in steps", {stride = 2, padding = 1}}} do
    it("has batch norms in the weights, " .. case[1], function()
      local net = layers(nn.Conv2d(6, 8, 3, case[2]), nn.BatchNorm2d(8))
      local step = la.compile(function(x) return la.no_grad(net, x) end,
                              {fast = true})
      local x = la.randn(2, 6, 12, 12)
      within(net, step, x)
      assert.equal(1, scaled(step))
    end)
  end

  it("follows its weights", function()
    local norm = nn.BatchNorm2d(8)
    local net = layers(nn.Conv2d(6, 8, 3), norm)
    local step = la.compile(function(x) return la.no_grad(net, x) end,
                            {fast = true})
    local x = la.randn(2, 6, 12, 12)
    within(net, step, x)
    la.no_grad(function()
      norm.running_mean:add_(2)
      net[1].weight:mul_(-3)
      net[1].bias:add_(1)
    end)
    within(net, step, x)
    within(net, step, x)
  end)

  it("leaves others alone", function()
    local net = layers(nn.Conv2d(6, 8, 3), nn.BatchNorm2d(8))
    local x = la.randn(2, 6, 12, 12)
    local function plain(v) return la.no_grad(net, v) end
    for _, options in ipairs{{}, {fast = true, without = {"scale"}}} do
      local step = la.compile(plain, options)
      for _ = 1, 3 do assert.equal(la.hash(plain(x)), la.hash(step(x))) end
    end
    local both = la.compile(function(v)       -- the convolution is a result
      local y = la.no_grad(net[1], v)
      return la.no_grad(net[2], y), y
    end, {fast = true})
    for _ = 1, 3 do both(x) end
    assert.equal(0, scaled(both))
    local own = la.compile(function(v, w)     -- the weight is an argument
      return la.no_grad(net[2], la.conv2d(v, w))
    end, {fast = true})
    for _ = 1, 3 do own(x, la.randn(8, 6, 3, 3)) end
    assert.equal(0, scaled(own))
  end)

  it("scales weights for no other call than a sum of a product", function()
    la.manual_seed(1)
    local x, w, b = la.randn(2, 3, 8, 8), la.randn(4, 3, 3, 3), la.randn(4)
    local scale, shift = la.rand(1, 4, 1, 1) + 0.5, la.randn(1, 4, 1, 1)
    for name, value in pairs {addcmul = 2, addcdiv = 1, lerp = 0.5} do
      for flipped = 1, 2 do
        local function call(input)
          local y = la.conv2d(input, w, b)
          if name == "lerp" then
            return la.lerp(flipped == 1 and y or shift, scale, value)
          elseif flipped == 2 then
            return la[name](shift, scale, y, {value = value})
          end
          return la[name](shift, y, scale, {value = value})
        end
        local f = la.compile(call, {fast = true})
        for _ = 1, 3 do
          assert.is_true(la.equal(call(x), f(x)), name .. flipped)
        end
      end
    end
  end)
end)
