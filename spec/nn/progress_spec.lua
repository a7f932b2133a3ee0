-- The line of la.progress by a clock of our own: percent, bar, rate, time left.
local la = require "lunarray"

local wall, cpu = os.time, os.clock
local now = 0

-- What is written while f runs, the clock at 'now'.
local function shown(f)
  local parts = {}
  local file = {flush = function() end, write = function(_, ...)
    parts[#parts + 1] = table.concat {...}
  end}
  now = 0
  rawset(os, "time", function() return 1000 + math.floor(now) end)
  rawset(os, "clock", function() return 0 end)
  local ok, why = pcall(f, file)
  rawset(os, "time", wall)
  rawset(os, "clock", cpu)
  assert.is_true(ok, why)
  return parts
end

local function last(parts)
  local text = parts[#parts]:gsub("%s+$", "")
  return (text:gsub("^\r", ""))
end

describe("a line of progress", function()
  it("has percent, bar, count, rate, time left and a text", function()
    local rows = {
      {total = 10, k = 4, at = 2, text = "step  40% [########            ] "
        .. "4/10, 2.0/s, 0:03 left"},
      {total = 10, k = 10, at = 5, text = "step 100% [####################] "
        .. "10/10, 2.0/s, 0:00 left"},
      {total = 200, k = 1, at = 1, text = "step   0% [                    ] "
        .. "1/200, 1.0/s, 3:19 left"},
      {total = 20000, k = 2, at = 1, text = "step   0% [                    "
        .. "] 2/20000, 2.0/s, 2:46:39 left"},
      {total = 3, k = 2, at = 60, text = "step  66% [#############       ] "
        .. "2/3, 0.0/s, 0:30 left"},
      {total = 7200, k = 3600, at = 3600, text = "step  50% [##########      "
        .. "    ] 3600/7200, 1.0/s, 1:00:00 left"},
      {total = 10, k = 0, at = 3, text = "step   0% [                    ] "
        .. "0/10, 0.0/s, ? left"}
    }
    for _, row in ipairs(rows) do
      local parts = shown(function(file)
        local bar = la.progress(row.total, {file = file, desc = "step"})
        now = row.at
        bar:update(row.k)
      end)
      assert.equal(row.text, last(parts))
    end
    local parts = shown(function(file)
      local bar = la.progress(4, {file = file})
      now = 1
      bar:update(2, "loss 0.5")
    end)
    assert.equal(" 50% [##########          ] 2/4, 2.0/s, 0:01 left loss 0.5",
      last(parts))
  end)

  it("is drawn at most ten times a second, and at the end", function()
    local parts = shown(function(file)
      local bar = la.progress(1000, {file = file})
      for k = 1, 999 do bar:update(k) end       -- the clock stands still
      bar:update(1000)
      bar:close()
      bar:close()
    end)
    local drawn, ends = 0, 0
    for _, text in ipairs(parts) do
      if text:find "^\r" then drawn = drawn + 1 end
      if text == "\n" then ends = ends + 1 end
    end
    assert.is_true(drawn <= 3, drawn)
    assert.equal(1, ends)
    assert.is_truthy(table.concat(parts):find("1000/1000", 1, true))
  end)

  it("covers a longer one that was there before", function()
    local parts = shown(function(file)
      local bar = la.progress(4, {file = file})
      now = 1
      bar:update(1, "a long text")
      now = 2
      bar:update(2, "short")
    end)
    local long, short = parts[#parts - 1], parts[#parts]
    assert.equal(#long, #short)
  end)

  it("takes a whole number of steps in either form", function()
    local n = 0
    for _ in la.progress(1e1, {quiet = true}) do n = n + 1 end
    assert.equal(10, n)
    for _, count in ipairs{1.5, "5", 0 / 0} do
      assert.is_false((pcall(la.progress, count)))
    end
  end)
end)
