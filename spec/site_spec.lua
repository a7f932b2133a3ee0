-- The manual in HTML (tools/site): its pages, links and search index; the
-- search box itself in a headless Chromium, where there is one.
local function capture(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  return text, pipe:close() == true
end

local function there(program)
  local _, ok = capture("command -v " .. program)
  return ok
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

local BUILD = "lua5.4 tools/site/build.lua "

describe("the manual in HTML", function()
  local out

  setup(function()
    out = capture "mktemp -d":match "%S+"
  end)

  teardown(function() os.execute("rm -rf " .. out) end)

  -- False, said once, where the page can't be made or looked at.
  local function needs(program)
    if there(program) then return true end
    pending(program .. " is not installed: left out")
  end

  it("is built, and all links lead somewhere", function()
    if not needs "cmark-gfm" then return end
    local text, ok = capture(BUILD .. out)
    assert.is_true(ok, text)
    local page = read(out .. "/first-hour.html")
    assert.is_truthy(page:find('<h2 id="parts-of-a-tensor">', 1, true))
    assert.is_truthy(page:find('<li class="here"><a href="first-hour.html">',
      1, true))
    assert.is_truthy(page:find('<a href="indexing.html">', 1, true))
    assert.is_truthy(page:find('<span class="k">local</span>', 1, true))
    assert.is_truthy(read(out .. "/search.js"):find(
      '"first-hour.html#parts-of-a-tensor"', 1, true))
    -- What readers don't see is there for a Run button.
    assert.is_truthy(read(out .. "/index.html"):find(
      '<script type="text/x-lua">', 1, true))
  end)

  it("takes pages of the reference, and refuses dead links", function()
    if not needs "cmark-gfm" then return end
    local folder = out .. "/reference"
    os.execute("mkdir -p " .. folder)
    local function page(text)
      local file = assert(io.open(folder .. "/words.md", "w"))
      file:write(text)
      file:close()
    end
    page "# All words\n\n[start](indexing.md#keys)\n"
    local text, ok = capture(BUILD .. out .. " " .. folder)
    assert.is_true(ok, text)
    assert.is_truthy(read(out .. "/words.html"):find(
      'href="indexing.html#keys"', 1, true))
    page "# All words\n\n[start](indexing.md#nothing)\n"
    text, ok = capture(BUILD .. out .. " " .. folder)
    assert.is_false(ok)
    assert.is_truthy(text:find("indexing.md#nothing", 1, true), text)
  end)

  it("finds a word in a browser", function()
    if not needs "cmark-gfm" or not needs "chromium" then return end
    assert.is_true(select(2, capture(BUILD .. out)))
    local text = capture(([[chromium --headless=new --no-sandbox \
      --disable-gpu --user-data-dir=%s/profile --dump-dom \
      'file://%s/index.html?q=gradcheck']]):format(out, out))
    local results = text:match '<div id="results">(.-)</div>'
    assert.is_truthy(results, text:sub(1, 2000))
    assert.is_truthy(results:find('href="autograd.html#is-it-right"', 1, true),
      results)
    assert.is_truthy(text:find(">Copy</button>", 1, true))
  end)
end)
