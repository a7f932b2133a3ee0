-- Curves while a training runs, and pictures in terminals.
local la = require "lunarray"
local modules = require "spec.support.modules"
local graphics = require "lunarray.plot.graphics"
local plot = require "lunarray.plot"
local tmux = require "spec.support.tmux"
local program = require "spec.support.program"

-- A live object with a clock that a step moves by 'pace' seconds; its output.
local function run(options, steps, pace)
  local out, now = {}, 0
  options.write = function(text) out[#out + 1] = text end
  options.clock = function() return now end
  options.window = options.window or function() end
  local live = plot.live(options)
  for k = 1, steps do
    now = now + pace
    live:update{loss = la.tensor(1 / k), items = 10}
  end
  return live, out
end

describe("plot.live", function()
  it("writes a line every so many steps where there is no terminal", function()
    local live, out = run({steps = 4, every = 2, items = "images"}, 4, 0.5)
    live:finish()
    assert.are.same({"2/4  loss 0.5  20 images/s  1 s left\n",
      "4/4  loss 0.25  20 images/s  took 2 s\n"}, out)
  end)

  it("shows the last step at the end, once", function()
    local live, out = run({every = 3}, 4, 0.5)
    assert.are.equal(1, #out)
    live:finish()
    live:finish()
    assert.are.equal(2, #out)
    assert.matches("^4  loss 0.25", out[2])
  end)

  it("draws in place, at a limited rate", function()
    local _, out = run({steps = 100, rate = 2, ascii = true,
      window = function() return 60, 30, 0, 0 end}, 100, 0.1)
    assert.is_true(#out >= 15 and #out <= 23, #out)
    assert.falsy(out[1]:find("A\r", 1, true))
    local _, lines = out[1]:gsub("\n", "")
    assert.are.equal(("\27[%dA\r"):format(lines), out[2]:match "^\27%[%d+A\r")
    for line in out[#out]:gmatch "([^\n]*)\27%[K" do
      assert.is_true(utf8.len((line:gsub("\27%[[%d;]*[mA]\r?", ""))) < 80)
    end
  end)

  it("keeps few points of a long training, and its mean", function()
    local live = run({every = 1000000}, 0, 1)
    for k = 1, 20000 do live:update{v = k} end
    local s = live.series.v
    assert.is_true(#s.x <= 4096 and #s.x > 1000)
    local fig = live:finish()
    assert.are.equal(1, #fig.marks)
    assert.is_true(math.abs(la.tensor(s.y):mean():item() - 10000) < 20)
  end)

  it("refuses what is no number, and counts no step", function()
    local live = run({}, 0, 1)
    for _, values in ipairs{{loss = "a"}, {loss = la.ones(2)}, 3} do
      assert.is_false((pcall(live.update, live, values)))
    end
    assert.are.equal(0, live.step)
    assert.is_false((pcall(plot.live, {steps = 0})))
    assert.is_string(live:finish():text())
  end)
end)

-- ---- decoders ----

local digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
  .. "+/"

local function from_base64(text)
  local out, word, bits = {}, 0, 0
  for c in text:gmatch "[^=]" do
    word, bits = word << 6 | (digits:find(c, 1, true) - 1), bits + 6
    if bits >= 8 then
      bits = bits - 8
      out[#out + 1] = string.char(word >> bits & 255)
    end
  end
  return table.concat(out)
end

-- Rows of colours {r, g, b} in percent.
local function from_sixels(text)
  local w, h = text:match '"1;1;(%d+);(%d+)'
  local body = text:match '"1;1;%d+;%d+(.*)\27\\$'
  local colours, rows = {}, {}
  for j = 1, h do rows[j] = {} end
  body = body:gsub("#(%d+);2;(%d+);(%d+);(%d+)", function(k, r, g, b)
    colours[k] = {tonumber(r), tonumber(g), tonumber(b)}
    return ""
  end)
  local x, y, colour = 1, 1, nil
  for mark, number, char in body:gmatch "([#!]?)(%d*)([^#!%d]?)" do
    if mark == "#" then colour = colours[number] end
    local count = mark == "!" and tonumber(number) or 1
    if char == "$" then x = 1
    elseif char == "-" then x, y = 1, y + 6
    elseif char ~= "" then
      for i = x, x + count - 1 do
        for k = 0, 5 do
          if char:byte() - 63 >> k & 1 == 1 then rows[y + k][i] = colour end
        end
      end
      x = x + count
    end
  end
  return rows, tonumber(w), tonumber(h)
end

describe("pictures in terminals", function()
  it("are chosen by what the terminal answers", function()
    assert.are.equal("kitty", graphics.read "\27_Gi=31;OK\27\\\27[?62;c")
    assert.are.equal("sixel", graphics.read "\27[?62;4;22c")
    assert.is_nil(graphics.read "\27[?1;2c")
    assert.is_nil(graphics.read "\27[?64;41c")
    assert.is_nil(graphics.read "")
  end)

  modules.needing("image", it)("kitty gets a PNG file in pieces",
  function()
    local fig = plot.line({1, 3, 2}, {size = {200, 100}})
    local png, parts = fig:png(), {}
    local text = graphics.kitty(png)
    for keys, data in text:gmatch "\27_G([^;]*);([^\27]*)\27\\" do
      assert.is_true(#data <= 4096)
      parts[#parts + 1] = {keys, data}
    end
    assert.are.equal("a=T,f=100,q=2,m=1", parts[1][1])
    assert.are.equal("m=0", parts[#parts][1])
    local whole = {}
    for k, part in ipairs(parts) do whole[k] = part[2] end
    assert.is_true(from_base64(table.concat(whole)) == png)
  end)

  it("sixels have the pixels of the picture, in 252 colours", function()
    local image = plot.line({1, 3, 2}, {size = {60, 46}}):pixels{scale = 1}
    local rows, w, h = from_sixels(graphics.sixel(image))
    assert.are.same({60, 46}, {w, h})
    local t = image:double():totable()
    for j = 1, h do
      for i = 1, w do
        for c = 1, 3 do
          -- Half a step of five or six, and of a percent.
          assert.is_true(math.abs(rows[j][i][c] / 100 - t[c][j][i] / 255)
            <= 0.106)
        end
      end
    end
  end)

  if not tmux.present() then
    it("asking is not tried: there is no tmux (left out)", function() end)
    return
  end

  it("a terminal is asked, and answers", function()
    local window = tmux.open(program.path .. " -E", 70)
    window:ready()
    window:enter "la.plot._ask('\\27[c', 5):sub(2, 3) .. ' answered'"
    window:wait "[? answered"
    window:enter "'columns ' .. la.plot.window()"
    window:wait "columns 70"
    window:close()
  end)
end)
