-- Lines of every style as text: dots of Braille read back one by one, and
-- characters where there is ASCII alone; what stands in a traceback of the
-- prompt.
local la = require "lunarray"
local plot = require "lunarray.plot"
local errors = require "lunarray.repl.errors"

-- Dots of a text in Braille: a set of "x,y", from the upper left.
local BITS = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}
local function dots_of(text)
  local set, count, row = {}, 0, 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    local column = 0
    for _, code in utf8.codes(line) do
      if code >= 0x2800 and code < 0x2900 then
        for y = 1, 4 do
          for x = 1, 2 do
            if code - 0x2800 & BITS[y][x] ~= 0 then
              set[(column * 2 + x) .. "," .. (row * 4 + y)] = true
              count = count + 1
            end
          end
        end
      end
      column = column + 1
    end
    row = row + 1
  end
  return set, count
end

local function figure(style, options)
  local o = {width = 40, height = 6, style = style}
  for key, value in pairs(options or {}) do o[key] = value end
  return plot.line({1, 1}, o)
end

describe("a line in Braille", function()
  it("has all dots, or those of its dashes", function()
    local whole, n = dots_of(figure("-"):text {width = 40, height = 6,
      ascii = false})
    assert.is_true(n > 30)
    local share = {["--"] = 4 / 6, [":"] = 1 / 6, ["-."] = 4 / 6}
    for style, part in pairs(share) do
      local some, k = dots_of(figure(style):text {width = 40, height = 6,
        ascii = false})
      for at in pairs(some) do assert.is_true(whole[at], style .. at) end
      assert.is_true(math.abs(k / n - part) < 0.1, style .. " " .. k .. "/"
        .. n)
    end
  end)

  it("is whole in ASCII, whatever its style", function()
    local want = figure("-"):text {width = 40, height = 6, ascii = true}
    assert.is_truthy(want:find("***", 1, true))
    for _, style in ipairs {"--", ":", "-."} do
      assert.equal(want, figure(style):text {width = 40, height = 6,
        ascii = true})
    end
  end)
end)

describe("a traceback of the prompt", function()
  local function record_of(f)
    local handler = errors.handler {["=stdin[2]"] = "error 'boom'"}
    local ok, record = xpcall(f, handler)
    assert.is_false(ok)
    return record
  end

  local chunk = load("error 'boom'", "=stdin[2]")

  it("is whole where none of the frames are the prompt's", function()
    local record = record_of(chunk)
    assert.equal("stdin[2]:1: boom", record.message)
    assert.equal(1, record.traceback:find("stdin[2]:1: boom\nstack traceback:",
      1, true))
    assert.is_truthy(record.traceback:find("stdin[2]:1: in ", 1, true))
    assert.is_truthy(record.traceback:find "\n\t%[C%]: in %?$")
    assert.equal(1, record.at.line)
    assert.equal("error 'boom'", record.at.code)
    assert.is_true(record.at.whole)
  end)

  it("ends with the person's own frames", function()
    local terminal = {call = la.fuse(chunk)}      -- a function in C
    local record = record_of(function() terminal.call() end)
    -- la.fuse raises the error anew: above it are the prompt's frames alone.
    assert.equal("stdin[2]:1: boom\nstack traceback:", record.traceback)
  end)

  it("belongs to texts; other values have none", function()
    local record = record_of(function()
      error(setmetatable({}, {__tostring = function() return "mine" end}))
    end)
    assert.equal("mine", record.message)
    assert.is_nil(record.traceback)
    assert.equal("(error object is a table value)",
      record_of(function() error({}) end).message)
    assert.equal("(error object is a nil value)",
      record_of(function() error(nil) end).message)
    assert.equal("7", record_of(function() error(7) end).message)
  end)
end)
