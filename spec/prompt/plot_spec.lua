-- Figures: ticks, text for terminals, SVG, PNG, statistics, bad data.
local la = require "lunarray"
local modules = require "spec.support.modules"
local plot = require "lunarray.plot"
local axis = require "lunarray.plot.axis"
local contours = require "lunarray.plot.contours"
local statistics = require "lunarray.plot.statistics"
local ticks = require "lunarray.plot.ticks"

local function lines_of(text)
  local lines = {}
  for line in (text .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = line end
  return lines
end

-- A plain reader of XML: nested {name, attributes, children}; an error where
-- tags do not match.
local function parse(text)
  local root = {name = "", kids = {}}
  local stack, at = {root}, 1
  for before, close, name, rest, alone, after in
    text:gmatch "([^<]*)<(/?)([%w]+)([^<>]-)(/?)>()" do
    local top = stack[#stack]
    top.text = (top.text or "") .. before
    if close == "/" then
      assert(top.name == name, "</" .. name .. "> closes <" .. top.name .. ">")
      stack[#stack] = nil
    else
      local node = {name = name, kids = {}, at = {}}
      for key, value in rest:gmatch '([%w-]+)="([^"]*)"' do
        node.at[key] = value
      end
      top.kids[#top.kids + 1] = node
      if alone == "" then stack[#stack + 1] = node end
    end
    at = after
  end
  assert(#stack == 1 and not text:sub(at):find("%S"), "an open tag")
  return root.kids[1]
end

local function find_all(node, name, out)
  out = out or {}
  if node.name == name then out[#out + 1] = node end
  for _, kid in ipairs(node.kids) do find_all(kid, name, out) end
  return out
end

describe("ticks", function()
  it("are those of the paper's algorithm", function()
    -- R's labeling::extended gives 8 10 12 14 for its own example.
    assert.are.same({8, 10, 12, 14}, (ticks.linear(8.1, 14.1, 4)))
    assert.are.same({0, 25, 50, 75, 100}, (ticks.linear(0, 100, 5)))
  end)

  it("are even multiples of nice steps within the range", function()
    local generator = la.Generator(7)
    local draws = la.rand(200, 3, {generator = generator,
      dtype = "float64"}):totable()
    for _, d in ipairs(draws) do
      local size = 10 ^ (d[1] * 40 - 20)
      local low = (d[2] - 0.5) * size
      local high = low + (0.01 + d[3]) * size
      local list = ticks.of(low, high, 6)
      local what = ("%g %g"):format(low, high)
      assert.is_true(#list >= 2 and #list <= 16, what)
      local step = list[2] - list[1]
      local lead = tonumber((("%.6e"):format(step):match "^(.*)e"))
      assert.is_truthy(({[1] = 1, [2] = 1, [2.5] = 1, [3] = 1, [4] = 1, [5] = 1,
        [6] = 1, [7.5] = 1, [8] = 1})[lead], what .. " step " .. step)
      for k, v in ipairs(list) do
        assert.is_true(v >= low - 1e-9 * size and v <= high + 1e-9 * size)
        assert.is_true(math.abs(v - list[1] - (k - 1) * step)
          <= 1e-9 * math.abs(high - low) + 1e-12 * math.abs(low))
      end
    end
  end)

  it("are powers of ten, or 1, 2 and 5, on logarithmic axes", function()
    assert.are.same({1, 10, 100, 1000}, ticks.of(1, 1000, 5, true))
    assert.are.same({5, 10, 20, 50}, ticks.of(3, 80, 5, true))
    assert.are.same({2, 3, 4, 5, 6, 7, 8, 9, 20}, ticks.minor(2, 20))
  end)

  it("are written in as many digits as they need", function()
    local function labels(...) return ticks.labels(ticks.of(...)) end
    assert.are.same({"0.10", "0.15", "0.20", "0.25", "0.30", "0.35"},
      labels(0.1, 0.35, 6))
    assert.are.same({"0", "2e6", "4e6", "6e6", "8e6", "1e7"}, labels(0, 1e7, 6))
    assert.are.same({"1.0", "1.5", "2.0", "2.5", "3.0"}, labels(0.6, 3.4, 6))
    assert.are.same({"0", "5e-8", "1e-7", "1.5e-7", "2e-7"}, labels(0, 2e-7, 6))
    assert.are.same({"1e-6", "0.001", "1", "1e6"},
      ticks.labels({1e-6, 1e-3, 1, 1e6}, true))
  end)

  it("end for ranges at the limits of float64", function()
    for _, r in ipairs{{1e-298, 3e-298}, {-1e300, 1e300}, {1, 1 + 1e-9},
      {1e15, 1e15 + 8}, {-1e-290, 1e-290}} do
      local a = axis.new(r[1], r[2])
      local labels = a:labels(5)
      assert.is_true(#labels >= 2 and #labels < 20)
      assert.is_true(math.abs(a:at(r[1])) < 1e-6)
      assert.is_true(math.abs(a:at(r[2]) - 1) < 1e-6)
    end
  end)
end)

describe("plot as text", function()
  it("draws a line from corner to corner", function()
    local fig = plot.line({1, 2, 3, 4}, {width = 4, height = 4, ascii = true,
      title = "up"})
    assert.are.same({"   up", "4|   *", " |  *", " | *", "1|*", " +----",
      "  1  4"}, lines_of(tostring(fig)))
  end)

  it("joins dots in Braille", function()
    local fig = la.plot(la.tensor{0, 1}, {width = 1, height = 2, ascii = false})
    local lines = lines_of(fig:text())
    assert.are.equal("1┤" .. utf8.char(0x28b8), lines[1])
    assert.are.equal("0┤" .. utf8.char(0x2847), lines[2])
  end)

  it("draws several series, with a legend", function()
    local fig = plot.line({{0, 0}, {2, 2}}, {width = 9, height = 3,
      ascii = true, label = {"a", "b"}})
    assert.are.same({"  * a  + b", "2|+++++++++", " |", "0|*********",
      " +---------", "  1       2"}, lines_of(fig:text()))
  end)

  it("draws bars, with eighths of characters", function()
    local text = plot.bar({"a", "b"}, {1, 1.5}):text{width = 10, height = 2,
      ascii = false}
    assert.are.same({"1.5┤▃▃▃▃  ████", "0.0┤████  ████"},
      {table.unpack(lines_of(text), 1, 2)})
    assert.is_truthy(text:find("\n +a +b$"))
    text = plot.bar({-1, 1}):text{width = 8, height = 2, ascii = true}
    assert.are.same({" 1|    ####", "-1|####"},
      {table.unpack(lines_of(text), 1, 2)})
  end)

  it("shades an image, or colours it", function()
    assert.are.same({"-    @@", "-  ::"}, lines_of(plot.image(
      la.tensor{{0, 1}, {0.22, 0}}, {indent = "-  "}):text{color = false}))
    local text = plot.image(la.tensor{{0, 1}, {1, 0}}):text{color = true}
    assert.are.equal("\27[38;2;0;0;0;48;2;255;255;255m▀\27[0m"
      .. "\27[38;2;255;255;255;48;2;0;0;0m▀\27[0m", text)
    text = plot.image(la.tensor{{1, 1}}, {low = 0}):text{color = "256"}
    assert.is_truthy(text:find("38;5;231", 1, true))
  end)

  it("keeps control characters from the terminal, and columns even", function()
    local text = plot.line({1, 2}, {title = "a\27[2Jb", width = 20}):text()
    assert.falsy(text:find("\27", 1, true))
    assert.truthy(plot.line({1}, {title = "\255\254"}):text():find("??", 1,
      true))
    local lines = lines_of(plot.grid{plot.line({1, 2}, {title = "日本"}),
      plot.line{1, 2}, columns = 2}:text{width = 50, ascii = false})
    assert.truthy(lines[1]:find("日本", 1, true))
  end)

  it("has colours only when told to, where there is no terminal", function()
    local fig = plot.line({1, 2}, {color = "#ff0000"})
    assert.falsy(fig:text():find("\27", 1, true))
    assert.truthy(fig:text{color = true}:find("\27[38;2;255;0;0m", 1, true))
    assert.truthy(fig:text{color = "256"}:find("\27[38;5;196m", 1, true))
  end)

  it("puts figures next to each other", function()
    local a = plot.line({1, 2}, {height = 3})
    local lines = lines_of(plot.grid{{a, a}, {a}}:text{width = 42,
      ascii = true})
    assert.are.equal(10, #lines)
    assert.are.equal(22, lines[1]:find("|", 5, true)
      - lines[1]:find("|", 1, true))
  end)
end)

describe("plot as SVG", function()
  it("is XML whose line goes through the points", function()
    local fig = plot.line({0, 1, 2}, {0, 4, 0}, {title = "a < b & \"c\"",
      color = "#123456", label = "tri", size = {300, 200}})
    local svg = parse(fig:svg())
    assert.are.equal("svg", svg.name)
    assert.are.equal("300", svg.at.width)
    assert.truthy(fig:svg():find("a &lt; b &amp; &quot;c&quot;", 1, true))
    local line, frame
    for _, node in ipairs(find_all(svg, "polyline")) do
      if node.at.stroke == "#123456" and not line then line = node end
      if node.at.stroke == "#808080" then frame = frame or node end
    end
    local x, y = {}, {}
    for a, b in line.at.points:gmatch "([%d.-]+),([%d.-]+)" do
      x[#x + 1], y[#y + 1] = tonumber(a), tonumber(b)
    end
    assert.are.equal(3, #x)
    assert.is_true(math.abs(x[3] - 2 * x[2] + x[1]) < 0.03)
    assert.are.equal(y[1], y[3])
    assert.is_true(y[2] < y[1])
    assert.truthy(frame)
    local texts = {}
    for _, node in ipairs(find_all(svg, "text")) do
      texts[#texts + 1] = node.text
    end
    assert.truthy(table.concat(texts, " "):find("tri", 1, true))
  end)

  it("lays a legend where no bar of a stack is, and a band under its curve",
    function()
    local fig = plot.bar({"a", "b", "c"}, {{1, 2, 9}, {1, 1, 9}}, {
      stacked = true, label = {"one", "two"}})
    local x = fig:svg{width = 640, height = 420}:match
      '<text x="([%d.]+)"[^>]*>one<'
    assert.is_true(tonumber(x) < 300, x)
    local curve = plot.line({1, 2, 3}, {color = "#123456", label = "mean"})
    local svg = curve:band(nil, {0, 1, 2}, {2, 3, 4}, {label = "range"}):svg()
    assert.is_truthy(svg:find('<polygon[^>]*#123456'), svg)
  end)

  it("takes the ends of a map of colours as they are given", function()
    local z = {{0, 1}, {2, 3}}
    assert.has_error(function() plot.heatmap(z, {low = 4, high = 1}) end,
      "heatmap: low (4) is above high (1)")
    assert.has_error(function()
      plot.scatter({1, 2}, {1, 2}, {values = {0, 1}, low = 1, high = -1})
    end, "scatter: low (1) is above high (-1)")
    -- One end beyond all values: the other is the same, not 0 and 1.
    for _, o in ipairs{{low = 5}, {high = -5}, {low = 5, high = 5}} do
      assert.truthy(plot.heatmap(z, o):svg():find("<svg", 1, true))
      assert.falsy(plot.heatmap(z, o):svg():find("nan", 1, true))
    end
  end)

  it("draws every kind of mark", function()
    local z = la.rand(5, 6)
    for name, fig in pairs{
      circle = plot.scatter({1, 2}, {3, 4}),
      rect = plot.bar{1, 2}, polygon = plot.band(nil, {1, 2}, {2, 3}),
      } do
      assert.is_true(#find_all(parse(fig:svg()), name) > 0, name)
    end
    assert.truthy(parse(plot.heatmap(z):svg()))
    assert.truthy(parse(plot.contour(z):svg()))
    assert.truthy(parse(plot.box{{1, 2, 3}}:svg()))
    assert.truthy(parse(plot.grid{plot.hist{1, 2}, plot.image(z)}:svg()))
  end)
end)

describe("plot as pixels", function()
  local image_it = modules.needing("image", it)

  image_it("fills bars and cells with their colours", function()
    local fig = plot.heatmap({{0, 1}, {1, 0}}, {colormap = {"#ff0000",
      "#0000ff"}, colorbar = false})
    local t = la.image.decode(fig:png{width = 200, height = 200, scale = 1})
    assert.are.same({3, 200, 200}, {t:size(1), t:size(2), t:size(3)})
    assert.are.same({255, 0, 0}, t[{{}, 60, 70}]:totable())
    assert.are.same({0, 0, 255}, t[{{}, 60, 150}]:totable())
    assert.are.same({0, 0, 255}, t[{{}, 140, 70}]:totable())
    assert.are.same({255, 255, 255}, t[{{}, 1, 1}]:totable())
    t = plot.bar({1}, {color = "#00ff00"}):pixels{width = 100, height = 100,
      scale = 1}
    assert.are.same({0, 255, 0}, t[{{}, 50, 60}]:totable())
  end)

  it("lines have the width and the colour they should", function()
    local fig = plot.line({0, 1}, {1, 1}, {color = "black", linewidth = 4,
      xlim = {0, 1}, ylim = {0, 2}, grid = false})
    local t = fig:pixels{width = 200, height = 100, scale = 1}
    local column = t[{1, {}, 120}]:double()
    -- The darkness of a column inside of the frame is the line's width.
    local dark = ((255 - column[{{20, 65}}]) / 255):sum():item()
    assert.is_true(math.abs(dark - 4) < 0.1, dark)
  end)

  image_it("writes files that readers know, in one size", function()
    local path = os.tmpname()
    os.remove(path)
    local fig = plot.line({1, 3, 2}, {size = {320, 200}})
    assert.are.equal(fig, fig:save(path .. ".png"))
    assert.are.same({640, 400, 3},
      {table.unpack({la.image.info(path .. ".png")}, 1, 3)})
    fig:save(path .. ".svg")
    local file = assert(io.open(path .. ".svg", "rb"))
    assert.are.equal(fig:svg(), file:read "a")
    file:close()
    fig:save(path .. ".txt")
    for _, ending in ipairs{".png", ".svg", ".txt"} do
      os.remove(path .. ending)
    end
  end)

  it("a figure stays when its data change", function()
    local t = la.tensor({1, 2, 3}, {dtype = "float64"})
    local fig = plot.line(t)
    local before = fig:svg()
    t:fill_(7)
    assert.are.equal(before, fig:svg())
  end)

  it("a million points draw as their first, last and extremes", function()
    local n = 100000
    local y = la.zeros(n)
    y[777], y[50000] = 5, -3
    local svg = parse(plot.line(y, {color = "#010203", ylim = {-3, 5},
      size = {400, 300}}):svg())
    local low, high, count = math.huge, -math.huge, 0
    for _, node in ipairs(find_all(svg, "polyline")) do
      if node.at.stroke == "#010203" then
        for _, b in node.at.points:gmatch "([%d.-]+),([%d.-]+)" do
          b = tonumber(b)
          low, high = math.min(low, b), math.max(high, b)
          count = count + 1
        end
      end
    end
    assert.is_true(count < 2000)
    assert.is_true(high - low > 250)
  end)
end)

describe("statistics of plots", function()
  it("count values between edges", function()
    local edges = statistics.edges({la.tensor{0.0, 1.5, 2}}, 2)
    assert.are.same({0, 1, 2}, edges:totable())
    local _, _, counts = statistics.counts(la.tensor({0, 1, 1.5, 2, 0 / 0,
      5}, {dtype = "float64"}), edges)
    assert.are.same({1, 3}, counts:totable())
    _, _, counts = statistics.counts(la.tensor({0, 1.5, 2, 2}, {
      dtype = "float64"}), edges, true)
    assert.are.same({0.25, 0.75}, counts:totable())
  end)

  it("box: quartiles between values, whiskers, outliers", function()
    local box = statistics.box(la.tensor({1, 2, 3, 4, 100}, {
      dtype = "float64"}))
    assert.are.same({2, 3, 4, 1, 4, {100}}, {box.q1, box.median, box.q3,
      box.low, box.high, box.outliers})
  end)

  it("contours of a cone are circles", function()
    local x = la.linspace(-1, 1, 41, {dtype = "float64"})
    local z = ((x * x):unsqueeze(2) + x * x):sqrt()
    local lines = contours.lines({z = z, x = x, y = x}, 0.5)
    assert.are.equal(1, #lines)
    local xs, ys = lines[1][1], lines[1][2]
    assert.is_true(#xs > 50)
    for k = 1, #xs do
      assert.is_true(math.abs(math.sqrt(xs[k] ^ 2 + ys[k] ^ 2) - 0.5) < 2e-3)
    end
    assert.are.equal(xs[1], xs[#xs])
    assert.are.equal(ys[1], ys[#ys])
  end)
end)

describe("plot with bad data", function()
  local nan, inf = 0 / 0, math.huge
  local cases = {
    empty = function() return plot.line{} end,
    ["0-dim"] = function() return la.plot(la.tensor(3)) end,
    ["not finite"] = function() return plot.line{nan, inf, 1, -inf, 2} end,
    ["nothing finite"] = function() return plot.line{nan, inf} end,
    constant = function() return plot.line{5, 5} end,
    extremes = function() return plot.line{1e308, -1e308, 5e-324, 0} end,
    ["no log"] = function() return plot.line({-1, 0}, {yscale = "log"}) end,
    ["log bars"] = function()
      return plot.bar({1, 0, 100}, {yscale = "log"})
    end,
    ["empty hist"] = function() return plot.hist{} end,
    ["hist of nan"] = function() return plot.hist{nan, 3} end,
    ["empty box"] = function() return plot.box{{}, {1}} end,
    bars = function() return plot.bar{nan, 1e300, -5, inf} end,
    ["no rows"] = function() return plot.heatmap(la.zeros(0, 3)) end,
    cells = function() return plot.heatmap{{nan, inf}, {nan, 1}} end,
    flat = function() return plot.contour{{1, 1}, {1, 1}} end,
    holes = function()
      return plot.contour({{1, 2}, {nan, 1}}, {filled = true})
    end,
    ["no image"] = function() return plot.image(la.zeros(1, 0)) end,
    rgba = function() return plot.image(la.rand(4, 5, 5)) end,
    reversed = function() return plot.line({1, 2}, {ylim = {3, 0}}) end,
  }
  -- Cells with gaps and colours are pictures inside of an SVG.
  local pictures = {rgba = "image", holes = "image"}
  for name, make in pairs(cases) do
    modules.needing(pictures[name] or "", it)(name, function()
      local fig = make()
      assert.is_string(fig:text{height = 4})
      assert.is_string(fig:text{color = true, ascii = false})
      assert.are.equal("svg", parse(fig:svg()).name)
      assert.falsy(fig:svg():find("nan", 1, true))
      assert.are.equal(3, fig:pixels{width = 90, height = 70}.ndim)
    end)
  end

  local function says(text, f, ...)
    local ok, problem = pcall(f, ...)
    assert.is_false(ok)
    assert.truthy(tostring(problem):find(text, 1, true), problem)
  end

  it("refuses what it can't draw", function()
    says("line: unknown option 'wide' (known: alpha, ", plot.line, {1},
      {wide = 3})
    says("line: a tensor of 1 dim expected, got 3", plot.line,
      la.zeros(1, 1, 1))
    says("line: as many x as y expected, got 2 and 1", plot.line, {1, 2}, {1})
    says("line: real numbers expected, got complex64", plot.line,
      la.zeros(2, {dtype = "complex64"}))
    says("line: numbers expected, got string at [2]", plot.line, {1, "a"})
    says("line: unknown color 'nope'", plot.line, {1}, {color = "nope"})
    says("line: width: an integer from 1 to 10000", plot.line, {1}, {width = 0})
    says("image: a tensor of 2 dims expected", plot.image, {1, 2})
    says("hist: bins: an integer from 1", plot.hist, {1}, {bins = 0})
    says("contour: a matrix of at least 2 x 2", plot.contour, {{1}})
    says("grid: figures or rows of figures", plot.grid, {1})
    local fig = plot.line{1}
    says("save: x.gif: a path that ends with", fig.save, fig, "x.gif")
    says("save: /no/such/x.svg", fig.save, fig, "/no/such/x.svg")
    says("a logarithmic axis has numbers above 0", fig.set(plot.line{1},
      {xlim = {0, 1}, xscale = "log"}).text, fig:set{xlim = {0, 1},
      xscale = "log"})
  end)

  modules.needing("image", it)("refuses files that it can't write", function()
    local fig = plot.line{1}
    says("image.save: cannot create", fig.save, fig, "/no/such/x.png")
    says("at most 1e+08", fig.png, fig, {scale = 1000})
  end)

  it("errors are those of the caller's line", function()
    local _, problem = pcall(function() la.plot({1}, {wide = 3}) end)
    assert.truthy(problem:find("^[^\n]*plot_spec.lua:%d+: line: unknown"))
  end)
end)
