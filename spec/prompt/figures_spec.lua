-- Figures for print: letters of the font against what fontTools reads of the
-- same file, marks by the pixels that they reach, dates against the civil
-- calendar of os.date, GIF by a decoder of its own, PDF by its parts.
local la = require "lunarray"
local folder = require "spec.support.folder"
local modules = require "spec.support.modules"
local raises = require "spec.support.raises"
local dates = require "lunarray.plot.dates"
local font = require "lunarray.plot.font"
local plot = la.plot

local function fails(part, f, ...)
  local ok, why = pcall(f, ...)
  assert.is_false(ok)
  assert.truthy(tostring(why):find(part, 1, true), why)
end

describe("letters", function()
  it("have the widths of the font", function()
    -- advances of DejaVu Sans in 2048ths (hmtx, by fontTools)
    for sign, units in pairs{A = 1401, i = 569, [" "] = 651, ["ß"] = 1290,
      ["µ"] = 1303, ["Ω"] = 1565, ["Ж"] = 2206, ["−"] = 1716, ["⁴"] = 821} do
      assert.near(units / 2048, font.width(sign, 1), 1e-9, sign)
    end
    assert.near(font.width("A", 1) + font.width("i", 1), font.width("Ai", 1),
      1e-9)
  end)

  it("are there for Latin, Greek and Cyrillic", function()
    local box = #font.outlines("\u{10fffd}", 10, 0, 0)
    assert.equal(2, box)
    for code in ("éàüßñçøåÆŁžőğαβγδΩΣабвгдЖЩёіїґ−≤≥≈∞→²⁻"):gmatch(
      utf8.charpattern) do
      local lines = font.outlines(code, 1, 0, 0)
      local letter = true
      for _, line in ipairs(lines) do
        if line[1][1] == 0.08 then letter = false end
      end
      assert.is_true(#lines > 0 and letter, code)
    end
  end)

  it("lie on the base line, y downwards, and go upwards", function()
    local low, high = math.huge, -math.huge
    for _, line in ipairs(font.outlines("H", 100, 10, 50)) do
      for _, y in ipairs(line[2]) do low, high = math.min(low, y),
        math.max(high, y) end
    end
    assert.near(50, high, 1e-6)
    assert.near(50 - 72.9, low, 0.1)        -- 1493 / 2048
    local left = math.huge
    for _, line in ipairs(font.outlines("H", 100, 10, 50, true)) do
      for _, x in ipairs(line[1]) do left = math.min(left, x) end
    end
    assert.near(10 - 72.9, left, 0.1)
  end)

  it("survive any bytes for a font", function()
    local truetype = require "lunarray.plot.truetype"
    assert.is_nil((truetype.open "no font"))
    assert.is_nil((truetype.open ""))
    local data = assert(plot.line({1}):svg())
    assert.is_nil((truetype.open(data)))
    fails("no TrueType font", function()
      plot.line({1}, {font = "/nowhere.ttf"}):pixels()
    end)
  end)
end)

-- Is some pixel of the rectangle (parts of the picture) about that colour?
local function has(image, c, x0, x1, y0, y1)
  local h, w = image:size(2), image:size(3)
  local part = image[{{}, {math.max(1, math.floor(y0 * h)),
    math.ceil(y1 * h)}, {math.max(1, math.floor(x0 * w)), math.ceil(x1 * w)}}]
    :int()
  local off = (part[1] - (c >> 16)):abs() + (part[2] - (c >> 8 & 255)):abs()
    + (part[3] - (c & 255)):abs()
  return off:lt(40):any()
end

describe("marks", function()
  local RED = 0xD62728
  local o = {xlim = {0, 10}, ylim = {0, 10}, size = {400, 300}, grid = false,
    color = "red"}
  local function with(more)
    local all = {}
    for k, v in pairs(o) do all[k] = v end
    for k, v in pairs(more or {}) do all[k] = v end
    return all
  end

  it("reach as far as they say", function()
    local bars = plot.errorbar({5}, {5}, with{yerr = {{2}, {4}}}):pixels()
    assert.is_true(has(bars, RED, 0.45, 0.6, 0.15, 0.25))
    assert.is_false(has(bars, RED, 0.1, 0.4, 0, 1))
    local lines = plot.hline(5, with()):vline(2, {color = "blue"}):pixels()
    assert.is_true(has(lines, RED, 0.7, 0.95, 0.4, 0.6))
    assert.is_false(has(lines, RED, 0.1, 1, 0.7, 0.9))
    assert.is_true(has(lines, 0x1F77B4, 0.2, 0.3, 0.7, 0.9))
    for across, box in pairs{vline = {0.8, 1, 0.3, 0.7},
                             hline = {0.3, 0.7, 0, 0.2}} do
      local far = plot.line({0, 1}, {0, 1}, {size = {400, 300}})
      far[across](far, 30, {color = "red"})
      assert.is_true(has(far:pixels(), RED, table.unpack(box)), across)
    end
    local stem = plot.stem({5}, {8}, with()):pixels()
    assert.is_true(has(stem, RED, 0.45, 0.6, 0.5, 0.8))
    local note = plot.line({0, 1}, with{style = ""}):text(5, 5, "HHHH",
      {color = "red"}):pixels()
    assert.is_true(has(note, RED, 0.5, 0.7, 0.35, 0.6))
    local arrow = plot.line({0, 1}, with{style = ""}):annotate("x", {9, 9},
      {at = {2, 2}, color = "red"}):pixels()
    assert.is_true(has(arrow, RED, 0.45, 0.6, 0.4, 0.6))
  end)

  it("stand side by side as bars of several series", function()
    local marks = plot.bar({{1, 2}, {3, 4}, {5, 6}}).marks
    for k = 1, 3 do
      local left = 0.6 + (k - 1) * 0.8 / 3
      assert.is_true(marks[k].left:double():allclose(
        la.tensor({left, left + 1}, {dtype = "float64"})))
      assert.is_true(marks[k].right:allclose(marks[k].left + 0.8 / 3))
    end
  end)

  it("have names of their own for what an SVG cuts off", function()
    local text = plot.grid{plot.line{1, 2}, plot.line{2, 1}, plot.bar{1, 2},
      columns = 2}:svg()
    local used, seen = 0, {}
    for id in text:gmatch ' id="([^"]+)"' do
      assert.is_nil(seen[id])
      seen[id] = true
    end
    for id in text:gmatch "url%(#([^)]+)%)" do
      assert.is_true(seen[id])
      used = used + 1
    end
    assert.is_true(used >= 3)
  end)

  it("are an error where the disk is full", function()
    local full = io.open("/dev/full", "w")
    if not full then return end
    full:close()
    local files = folder.new()
    for _, ending in ipairs{"svg", "png", "pdf"} do
      local path = files:path("x." .. ending)
      os.execute("ln -s /dev/full " .. path)
      local fig = plot.line{1, 2}
      raises("No space left", fig.save, fig, path)
    end
    files:remove()
  end)

  it("stand on steps where they are told", function()
    local function drawn(where)
      local mark = plot.step({0, 2}, {1, 3}, {where = where}).marks[1]
      return mark.x:totable(), mark.y:totable()
    end
    local x, y = drawn "post"
    assert.same({0, 2, 2, 2}, x)
    assert.same({1, 1, 3, 3}, y)
    x = drawn "pre"
    assert.same({0, 0, 0, 2}, x)
    x = drawn "mid"
    assert.same({0, 1, 1, 2}, x)
  end)

  it("stack bars of one sign, and lay them down", function()
    local fig = plot.bar({{1, 2, -1}, {3, -1, -2}}, {stacked = true})
    assert.same({0, 0, 0}, fig.marks[1].bases:totable())
    assert.same({1, 0, -1}, fig.marks[2].bases:totable())
    assert.same({4, -1, -3}, fig.marks[2].heights:totable())
    local lying = plot.bar({"a", "b"}, {1, 5}, {horizontal = true,
      color = "red", size = {400, 300}}):pixels()
    assert.is_true(has(lying, RED, 0.8, 0.95, 0.6, 0.8))
    assert.is_false(has(lying, RED, 0.5, 0.95, 0.15, 0.4))
  end)

  it("may have a colour and a size each", function()
    local fig = plot.scatter({1, 2, 3}, {1, 2, 3}, {color = {1, 5, 9, 2, 3}
      and la.tensor{1, 5, 9}, markersize = {4, 30, 8}, size = {400, 300}})
    assert.same({1, 5, 9}, fig.marks[1].values:totable())
    assert.is_true(has(fig:pixels(), 0x21918C, 0.3, 0.7, 0.3, 0.7))
    fails("as many x as y", plot.scatter, {1, 2}, {1, 2}, {markersize = {1}})
  end)

  it("share x with another axis", function()
    local fig = plot.line({1, 2, 3}, {color = "blue", size = {400, 300}})
    fig:twin{ylabel = "kg"}:line({1000, 3000, 2000}, {color = "red"})
    assert.is_true(has(fig:pixels(), RED, 0.4, 0.6, 0, 0.2))
    assert.truthy(fig:svg():find("3000", 1, true))
    assert.truthy(tostring(fig))
  end)

  -- A cone has the highest colour at its top, a funnel the lowest at its end.
  it("stand upright: tops of surfaces are above, from every side", function()
    local function height(p, rgb)
      local like = (p:int() - la.tensor(rgb):view(3, 1, 1)):abs():sum(1):lt(60)
      return like[{{}, {1, 1100}}]:nonzero()[{{}, 1}]:float():mean():item()
    end
    local line = la.linspace(-1, 1, 21)
    local z = (line:square():unsqueeze(2) + line:square()):sqrt()
    for _, azimuth in ipairs{-60, -30, 30, 60, 120} do
      for sign = -1, 1, 2 do
        local p = plot.surface(z * sign, {azimuth = azimuth}):pixels()
        local low, high = height(p, {68, 1, 84}), height(p, {253, 231, 37})
        assert.is_true(high < low - 50, ("%g, %g"):format(high, low))
      end
    end
  end)

  it("are refused when they make no sense", function()
    fails("where:", plot.step, {1, 2}, {where = "up"})
    fails("as many x as y", plot.errorbar, {1, 2, 3}, {yerr = {1, 2}})
    fails("as many x as y", plot.quiver, {1, 2}, {1, 2}, {1}, {1, 2})
    fails("at least 2 x 2", plot.surface, la.ones(1, 3))
    fails("that increase", plot.surface, la.ones(2, 2), {x = {2, 1}})
    fails("a text expected", plot.note, 1, 2, {})
    fails("numbers x and y", plot.note, "a", 2, "b")
    fails("the point {x, y}", plot.annotate, "b", 3)
    fails("legend: a boolean", plot.line, {1}, {legend = "somewhere"})
    fails('"equal" or a number', plot.line, {1}, {aspect = -1})
  end)
end)

describe("figures", function()
  it("are known by the module when that is loaded again", function()
    local fig, kept = la.plot.line{1, 2}, {}
    for name, module in pairs(package.loaded) do
      if name:find "^lunarray%.plot" then kept[name] = module end
    end
    for name in pairs(kept) do package.loaded[name] = nil end
    local again = require "lunarray.plot"
    local film = again.animate({fig})
    for name, module in pairs(kept) do package.loaded[name] = module end
    assert.equal("GIF89a", film:sub(1, 6))
  end)
end)

describe("axes", function()
  it("write powers and a real minus in pictures", function()
    local text = plot.line({1e-4, 1, 1e4}, {yscale = "log"}):svg()
    for _, part in ipairs{"10⁻⁴", "10⁰", "10⁴"} do
      assert.truthy(text:find(">" .. part .. "<", 1, true), part)
    end
    assert.truthy(plot.line({-2, 2}):svg():find(">−2", 1, true))
    assert.is_nil(plot.line({-2, 2}):svg():find(">-", 1, true))
  end)

  it("know dates", function()
    for _, days in ipairs{-719468, -1, 0, 59, 11016, 19782, 20000, 2932896} do
      local y, m, d = dates.civil(days)
      assert.equal(days, dates.days(y, m, d))
      if days >= 0 then
        assert.equal(os.date("!%Y-%m-%d", days * 86400),
          ("%04d-%02d-%02d"):format(y, m, d))
      end
    end
    assert.equal(1715947815.5, dates.parse "2024-05-17 12:10:15.5")
    assert.equal(1715947800, dates.parse "2024-05-17T12:10Z")
    assert.is_nil(dates.parse "2024-13-01")
    assert.is_nil(dates.parse "today")
    local text = plot.line({"2024-01-05", "2024-07-01", "2025-02-01"},
      {1, 2, 3}):svg()
    assert.truthy(text:find(">Mar<", 1, true))
    assert.truthy(text:find(">2025<", 1, true))
    text = plot.line({"2024-01-05 08:00", "2024-01-05 12:00"}, {1, 2}):svg()
    assert.truthy(text:find(">09:00<", 1, true))
    fails("dates", plot.line, {"2024-01-05", "soon"}, {1, 2})
    for low = 0, 6 do
      local list = dates.labels(0, 10.0 ^ (low + 2), 6)
      assert.is_true(#list >= 1 and #list <= 14, low)
    end
  end)

  it("keep squares square", function()
    local fig = plot.line({0, 1}, {0, 1}, {aspect = "equal", xlim = {0, 1},
      ylim = {0, 1}, size = {600, 300}})
    assert.near(1, fig:view(0).square, 1e-9)
  end)

  it("put legends where they hide least, or where told", function()
    local y = la.linspace(0, 1, 50)
    local falling = plot.line(1 - y, {label = "l"}):svg()
    local rising = plot.line(y, {label = "l"}):svg()
    local function left(text)
      return tonumber(text:match('<rect x="([%d.]+)" y="[%d.]+" '
        .. 'width="[%d.]+" height="[%d.]+" fill="#ffffff" '
        .. 'fill%-opacity="0.85"'))
    end
    assert.is_true(left(falling) > 400)
    assert.is_true(left(rising) < 200)
    assert.is_true(left(plot.line(y, {label = "l",
      legend = "lower right"}):svg()) > 400)
    assert.is_true(left(plot.line(y, {label = "l",
      legend = "outside"}):svg()) > 500)
  end)

  it("make panels of grids", function()
    local list = {columns = 4}
    for k = 1, 16 do list[k] = plot.image(la.rand(8, 8)) end
    local image = plot.grid(list):pixels{scale = 1}
    assert.is_true(image:size(3) <= 1200 and image:size(2) <= 1300)
  end)
end)

describe("files", function()
  it("are PDF with pages that add up", function()
    local text = plot.line({1, 3, 2}, {label = "größe", title = "α"})
      :scatter({1, 2}, {values = {1, 2}}):pdf()
    assert.equal("%PDF-1.4", text:sub(1, 8))
    local xref = tonumber(text:match "startxref\n(%d+)\n%%%%EOF\n$")
    assert.equal("xref", text:sub(xref + 1, xref + 4))
    local k = 0
    for at in text:sub(xref):gmatch "(%d%d%d%d%d%d%d%d%d%d) 00000 n" do
      k = k + 1
      assert.equal(("%d 0 obj"):format(k), text:match("^%d+ 0 obj",
        tonumber(at) + 1))
    end
    assert.is_true(k >= 4)
    for length, body in text:gmatch "/Length (%d+) >>\nstream\n(.-)\nendstream"
    do
      if not body:find "\0" then assert.equal(tonumber(length), #body) end
    end
  end)

  -- Codes of a GIF, decoded by the definition.
  local function indices(bytes, bits)
    local clear, stop = 1 << bits, (1 << bits) + 1
    local size, table_, out, old = bits + 1, nil, {}, nil
    local function reset()
      table_ = {}
      for k = 0, clear - 1 do table_[k] = string.char(k) end
      table_.n, size, old = stop, bits + 1, nil
    end
    reset()
    local at, buffer, filled = 1, 0, 0
    while true do
      while filled < size do
        buffer, filled = buffer | bytes:byte(at) << filled, filled + 8
        at = at + 1
      end
      local code = buffer & (1 << size) - 1
      buffer, filled = buffer >> size, filled - size
      if code == stop then return table.concat(out) end
      if code == clear then reset()
      else
        local text = table_[code] or old .. old:sub(1, 1)
        out[#out + 1] = text
        if old and table_.n < 4095 then
          table_.n = table_.n + 1
          table_[table_.n] = old .. text:sub(1, 1)
          if table_.n == (1 << size) - 1 and size < 12 then size = size + 1 end
        end
        old = text
      end
    end
  end

  it("are GIF, exact where there are few colours", function()
    la.manual_seed(3)
    local frames = {}
    for k = 1, 3 do
      frames[k] = (la.randint(0, 6, {3, 40, 61}) * 50):to("uint8")
      frames[k][{{2, 3}}] = frames[k][{{1, 1}}]:expand(2, -1, -1)
    end
    local bytes = plot.animate(frames, nil, {fps = 20})
    assert.equal("GIF89a", bytes:sub(1, 6))
    local w, h, flags = string.unpack("<I2I2B", bytes, 7)
    assert.same({61, 40}, {w, h})
    local colours = 2 << (flags & 7)
    local palette = bytes:sub(14, 13 + 3 * colours)
    local at, seen = 14 + 3 * colours, 0
    while bytes:byte(at) ~= 0x3B do
      if bytes:byte(at) == 0x21 then
        at = at + 2
        while bytes:byte(at) ~= 0 do at = at + 1 + bytes:byte(at) end
        at = at + 1
      else
        at = at + 10
        local bits, parts = bytes:byte(at), {}
        at = at + 1
        while bytes:byte(at) ~= 0 do
          parts[#parts + 1] = bytes:sub(at + 1, at + bytes:byte(at))
          at = at + 1 + bytes:byte(at)
        end
        at, seen = at + 1, seen + 1
        local list = indices(table.concat(parts), bits)
        local red = frames[seen][1]:reshape(-1):totable()
        assert.equal(#red, #list)
        for k = 1, #red do
          assert.equal(red[k], palette:byte(3 * list:byte(k) + 1))
        end
      end
    end
    assert.equal(3, seen)
    fails("frame 2 is 3 x 2", plot.animate, {la.ones(2, 2), la.ones(2, 3)})
    fails("a list of figures", plot.animate, {})
  end)

  modules.needing("image", it)("are saved by their endings", function()
    local path = os.tmpname()
    plot.line({1, 2}):save(path .. ".pdf")
    plot.animate({plot.line({1, 2}), plot.line({2, 1})}, path .. ".gif")
    for ending, head in pairs{pdf = "%PDF", gif = "GIF8"} do
      local file = assert(io.open(path .. "." .. ending, "rb"))
      assert.equal(head, file:read(4))
      file:close()
      os.remove(path .. "." .. ending)
    end
    os.remove(path)
  end)
end)
