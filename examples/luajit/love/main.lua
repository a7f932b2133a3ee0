-- LÖVE: two substances react and stencil (Gray and Scott); the picture's memory
-- is a tensor, so that nothing is copied. The mouse pours in more.
--   love examples/luajit/love [frames picture.png]
-- With arguments it runs that many frames, writes the picture and ends.
local sources = love.filesystem.getSource():match "^(.*)examples[/\\]" or ""
package.path = sources .. "luajit/?.lua;" .. sources .. "lua/?.lua;"
  .. package.path
local la = require "lunarray.ffi"

local N, SCALE, STEPS = 160, 3, 12
local frames, path = tonumber(arg[2]), arg[3]

local u, v, stencil, picture, image, pixels, drawn
drawn = 0

local function pour(row, column)
  local function span(i) return {math.max(i - 5, 1), math.min(i + 5, N)} end
  v[{1, 1, span(row), span(column)}] = 0.5
end

function love.load()
  love.window.setTitle "lunarray in LÖVE"
  love.window.setMode(N * SCALE, N * SCALE)
  u, v = la.ones(1, 1, N, N), la.zeros(1, 1, N, N)
  stencil = la.tensor {{0.05, 0.2, 0.05}, {0.2, -1, 0.2}, {0.05, 0.2, 0.05}}
    :view(1, 1, 3, 3)
  for _, at in ipairs {{40, 50}, {90, 100}, {120, 40}, {60, 120}} do
    pour(at[1], at[2])
  end
  picture = love.image.newImageData(N, N)
  pixels = la.wrap(picture:getFFIPointer(), "uint8", {N, N, 4})
  pixels[{"...", 4}] = 255
  image = love.graphics.newImage(picture)
  image:setFilter("linear", "linear")
end

local function around(x)
  return la.conv2d(la.pad(x, {1, 1, 1, 1}, "circular"), stencil)
end

local function step()
  local reaction = u * v * v
  local du = around(u):sub_(reaction):add_(0.037 * (1 - u))
  local dv = around(v) * 0.5 + reaction - v * 0.097
  u:add_(du)
  v:add_(dv)
end

function love.update()
  if love.mouse.isDown(1) then
    local x, y = love.mouse.getPosition()
    pour(math.floor(y / SCALE) + 1, math.floor(x / SCALE) + 1)
  end
  -- What a frame makes is freed at its end, in one go.
  la.tidy(function()
    for _ = 1, STEPS do step() end
    local heat = (v[{1, 1}] * 3):clamp(0, 1)
    pixels[{"...", 1}] = (heat ^ 0.6 * 255):to "uint8"
    pixels[{"...", 2}] = (heat ^ 1.5 * 255):to "uint8"
    pixels[{"...", 3}] = ((1 - heat) * heat * 400 + 30):to "uint8"
  end)
  image:replacePixels(picture)
end

function love.draw()
  love.graphics.draw(image, 0, 0, 0, SCALE, SCALE)
  love.graphics.print(("%d frames a second"):format(love.timer.getFPS()), 8, 8)
  drawn = drawn + 1
  if drawn ~= frames then return end
  love.graphics.captureScreenshot(function(shot)
    local file = assert(io.open(path, "wb"))
    file:write(shot:encode "png":getString())
    file:close()
    love.event.quit()
  end)
end
