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
    assert.is_truthy(page:find('<script type="text/x-lua">', 1, true))
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

  -- The value of an expression of JavaScript in the page, as JSON.
  local function seen(address, expression, width)
    local text, ok = capture(([[node tools/site/browser.js %s/profile \
      'file://%s/%s' '%s' %s]]):format(out, out, address, expression,
      width or ""))
    assert.is_true(ok, text)
    return text
  end

  it("finds a word in a browser", function()
    if not needs "cmark-gfm" or not needs "chromium" or not needs "node" then
      return
    end
    assert.is_true(select(2, capture(BUILD .. out)))
    local text = seen("index.html?q=gradcheck",
      'document.getElementById("results").innerHTML')
    assert.is_truthy(text:find("autograd.html#is-it-right", 1, true), text)
    text = seen("index.html", [[{
      const box = document.getElementById("search");
      box.value = "unheardof";
      box.dispatchEvent(new Event("input"));
      document.getElementById("results").textContent }]])
    assert.are.equal('"Nothing was found."\n', text)
  end)

  it("is as wide as the window", function()
    if not needs "cmark-gfm" or not needs "chromium" or not needs "node" then
      return
    end
    assert.is_true(select(2, capture(BUILD .. out)))
    for _, width in ipairs{400, 1400} do
      for _, page in ipairs{"from-numpy", "gallery"} do
        local text = seen(page .. ".html",
          "document.documentElement.scrollWidth", width)
        assert.is_true(tonumber(text) <= width, page .. ": " .. text)
      end
    end
  end)

  -- Of this library, not of one before.
  local function has_wasm()
    local _, ok = capture("test build/wasm/lunarray.wasm "
      .. "-nt build/lunarray.so")
    if not ok then
      pending "there is no new build/wasm (make wasm): left out"
    end
    return ok
  end

  it("runs every block as the Run buttons do", function()
    if not needs "cmark-gfm" or not needs "node" or not has_wasm() then
      return
    end
    assert.is_true(select(2, capture(BUILD .. out)))
    local text, ok = capture("node --no-experimental-fetch "
      .. "tools/site/run_blocks.js build/wasm " .. out)
    assert.is_true(ok, text)
    assert.is_true(tonumber(text:match "(%d+) blocks ran") > 50, text)
  end)

  it("has a Run button that works in a browser", function()
    if not needs "cmark-gfm" or not needs "chromium" or not needs "node"
      or not has_wasm() then
      return
    end
    assert.is_true(select(2, capture(BUILD .. out)))
    local text = seen("first-hour.html", [[new Promise((done) => {
      const block = document.querySelectorAll(".code[data-run]")[2];
      const look = () => {
        const out = block.nextElementSibling;
        if (out && "done" in out.dataset) done(out.textContent);
        else setTimeout(look, 50);
      };
      block.querySelector("button").click();
      look();
    })]])
    assert.are.equal([["tensor([ 2.,  5., 10.])\n]], text:match "^.-\\n")
    -- A program of the gallery, and the picture that it makes.
    text = seen("example-maze.html", [[new Promise((done) => {
      const block = document.querySelector(".code[data-example]");
      const look = () => {
        const out = block.nextElementSibling, image = document.querySelector(
          ".output img");
        if (image && image.naturalWidth) done([out.textContent,
          image.naturalWidth]);
        else setTimeout(look, 50);
      };
      block.querySelector("button").click();
      look();
    })]])
    assert.is_truthy(text:find("walkers from", 1, true), text)
    assert.is_true(tonumber(text:match ",(%d+)%]") >= 800, text)
  end)
end)
