-- Curves, histograms and images as text.
local la = require "lunarray"
local plot = require "lunarray.plot"

local function lines_of(text)
  local lines = {}
  for line in (text .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = line end
  return lines
end

describe("plot", function()
  it("draws a line from corner to corner", function()
    local text = plot.line({1, 2, 3, 4}, {width = 4, height = 4, ascii = true,
      title = "up"})
    assert.are.same({
      "           up",
      "        4 |   *",
      "          |  *",
      "          | *",
      "        1 |*",
      "          +----",
      "           1  4"}, lines_of(text))
  end)

  it("joins the dots of a line in Braille", function()
    local lines = lines_of(plot.line(la.tensor{0, 1}, {width = 1, height = 2,
      ascii = false}))
    assert.are.equal("        1 |" .. utf8.char(0x28b8), lines[1])
    assert.are.equal("        0 |" .. utf8.char(0x28f8), lines[2])
  end)

  it("draws several series over one scale", function()
    local text = plot.line({{0, 0}, {2, 2}}, {width = 3, height = 3,
      ascii = true})
    assert.are.same({"        2 |+++", "          |", "        0 |***",
      "          +---", "           1 2"}, lines_of(text))
  end)

  it("lives with no values, one value and gaps", function()
    assert.are.equal(12, #lines_of(plot.line({})))
    assert.is_truthy(plot.line({5}, {ascii = true}):find("***", 1, true))
    local text = plot.line({1, 0 / 0, 1, 1, 1}, {width = 5, height = 1,
      ascii = true})
    assert.are.equal("      1.5 |* ***", (lines_of(text)[1]))
  end)

  it("counts values in a histogram", function()
    assert.are.same({"        0 |## 1", "        1 |#### 2"},
      lines_of(plot.hist({0, 1.5, 2}, {bins = 2, width = 4})))
    assert.is_truthy(plot.hist(la.ones(3)):find(" 3", 1, true))
  end)

  it("shades an image", function()
    assert.are.same({"-    @@", "-  ::  "}, lines_of(plot.image(
      la.tensor{{0, 1}, {0.22, 0}}, {indent = "-  "})))
    assert.are.same({"    "}, lines_of(plot.image(la.zeros(1, 2))))
  end)

  it("refuses what it can't draw", function()
    assert.has_error(function() plot.line({1}, {wide = 3}) end,
      "line: unknown option 'wide' (known: ascii, height, title, width)")
    assert.has_error(function() plot.line(la.zeros(2, 2)) end,
      "line: a tensor of 1 dim expected, got 2")
    assert.has_error(function() plot.image{1, 2} end,
      "image: a tensor of 2 dims expected")
  end)
end)
