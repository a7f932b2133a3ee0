-- The manual as HTML, for a browser without a network:
--
--   lua5.4 tools/site/build.lua OUT [REFERENCE [MODULES]]
--
-- Pages are README.md, docs/*.md, those of the modules (modules/*/docs/*.md; of
-- all, or of MODULES, a list of names: links to others are plain text),
-- CONTRIBUTING.md, CHANGELOG.md and the Markdown files of the folder REFERENCE
-- (one for each theme of operations), turned into HTML by cmark-gfm, with
-- navigation, anchors, colours and an index for the search box (site.js). A
-- link to a page, an anchor or a picture that is not there is an error.
-- `make wasm` before gives blocks of Lua a Run button.
local here = arg[0]:match("^(.*)/[^/]*$")
package.path = here .. "/?.lua;" .. here .. "/../../?.lua;" .. package.path
local documents = require "spec.support.documents"
local highlight = require "highlight"

local out, reference, module_names = arg[1], arg[2], arg[3]
if not out then
  io.stderr:write "build.lua: OUT [REFERENCE [MODULES]]\n"
  os.exit(2)
end

-- The order of pages; the first heading of a page is its title.
local GROUPS = {
  {"Start", "index first-hour cookbook gallery building jupyter"},
  {"Coming from", "from-pytorch from-numpy from-matplotlib from-torch7 "
    .. "differences"},
  {"Guides", "indexing numerics autograd performance programs plot "
    .. "figures lockstep"},
  {"Modules", ""},                             -- and the pages of modules/
  {"Hosts", "your-program engines embedding extending web platforms "
    .. "environment"},
  {"Reference", "coverage"},
  {"The project", "architecture CONTRIBUTING CHANGELOG"},  -- and those in none
}

-- ---- files ----

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local function list(pattern)
  local names = {}
  local pipe = assert(io.popen("ls " .. pattern .. " 2>/dev/null"))
  for name in pipe:lines() do names[#names + 1] = name end
  pipe:close()
  return names
end

local function run(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "a"
  if not pipe:close() then
    error("this failed: " .. command, 0)
  end
  return text
end

-- ---- one page ----

local ENTITIES = {["&amp;"] = "&", ["&lt;"] = "<", ["&gt;"] = ">",
  ["&quot;"] = '"'}

local function plain(html)
  return (html:gsub("<[^>]*>", ""):gsub("&%a+;", ENTITIES))
end

-- GitHub's anchors, so that links work there and here.
local function slug_maker()
  local seen = {}
  return function(text)
    local slug = text:lower():gsub("[^%w%- _]", ""):gsub(" ", "-")
    local n = seen[slug]
    seen[slug] = (n or 0) + 1
    return n and slug .. "-" .. n or slug
  end
end

local function with_anchors(html, page)
  local slug = slug_maker()
  return (html:gsub("<h(%d)>(.-)</h%d>", function(level, text)
    local id = slug(plain(text))
    page.anchors[id] = true
    page.title = page.title or plain(text)
    return ('<h%s id="%s">%s <a class="anchor" href="#%s">#</a></h%s>')
      :format(level, id, text, id, level)
  end))
end

-- Code is coloured; blocks of Lua that run have the line of the page, by which
-- site.js finds what comes before them.
local function with_code(html, page)
  local k, runnable = 0, {}
  for _, block in ipairs(page.blocks) do
    if block.language == "lua" then
      runnable[#runnable + 1] = block.flag ~= "parsed"
    end
  end
  return (html:gsub('<pre><code class="language%-(%w+)">(.-)</code></pre>',
    function(language, code)
      local data = ""
      if language == "lua" then
        k = k + 1
        if runnable[k] then data = ' data-run=""' end
      elseif code:find("^&gt; ") and page.reference then
        data = ' data-prompt=""'
      end
      return ('<div class="code"%s><pre><code>%s</code></pre></div>')
        :format(data, highlight.html(plain(code), language))
    end))
end

-- Code that readers don't see but a Run button needs.
local function with_hidden(html)
  return (html:gsub("<!%-%- lua\n(.-)%-%->", function(code)
    return '<script type="text/x-lua">' .. code:gsub("</", "<\\/")
      .. "</script>"
  end))
end

-- Programs of the gallery have pages of their own.
local function target(href)
  local name, anchor = href:match("^([^#]*)#?(.*)$")
  name = name:gsub("^%.%./examples/(%w+)%.lua$", "example-%1.html")
  name = name:gsub("^[./]*README%.md$", "index.html")
    :gsub("^%.%./(%u+%.md)$", "%1")
    :gsub("^.*/docs/([^/]+%.md)$", "%1"):gsub("^docs/", "")
    :gsub("%.md$", ".html")
  return name, anchor
end

-- Is it a path of a module that the manual is without?
local function is_left_out(path)
  local name = path:match "modules/([%w_]+)/docs/"
  return name and module_names ~= nil
    and not (" " .. module_names .. " "):find(" " .. name .. " ", 1, true)
end

local function with_links(html, page)
  html = html:gsub('href="([^"]*)"', function(href)
    if is_left_out(href) then return "" end
    if href:find("^%a+:") or href:find("^#") then
      if href:find("^#") then
        page.links[#page.links + 1] = {page.name, href:sub(2), href}
      end
      return
    end
    local name, anchor = target(href)
    page.links[#page.links + 1] = {name, anchor, href}
    return ('href="%s%s"'):format(name, anchor ~= "" and "#" .. anchor or "")
  end)
  return (html:gsub('src="([^"]*)"', function(src)
    local path = page.path:match("^modules/.*/") or "docs/"
    local from = path .. src:gsub("^docs/", "")
    local name = from:gsub("^docs/", ""):gsub("^modules/.*/", "pictures/")
    page.images[#page.images + 1] = {name = name, from = from}
    return ('src="%s" loading="lazy"'):format(name)
  end))
end

-- A page {key, name, title, html, anchors, links, images} of a Markdown file.
local function new_page(path, key, of_reference)
  local page = {key = key, name = key .. ".html", path = path, anchors = {},
    links = {}, images = {}, blocks = documents.blocks(path),
    reference = of_reference, family = key:find("^reference%-")}
  local html = run(("cmark-gfm --unsafe -e table -e strikethrough '%s'")
    :format(path))
  html = with_code(with_anchors(with_hidden(html), page), page)
  html = html:gsub("<table>", '<div class="table"><table>')
    :gsub("</table>", "</table></div>")
  page.html = with_links(html, page)
  page.title = page.title or key
  return page
end

-- ---- programs of the gallery ----

local EXAMPLE = [[
<h1 id="%s">%s</h1>
<p><img src="pictures/gallery/%s.png" alt="its picture"></p>
<p><code>%s</code>, also: <a href="gallery.html">the gallery</a></p>
<div class="code" data-example="%s"><pre><code>%s</code></pre></div>
]]

-- A page of one program; its Run button gives it these arguments.
local function example_page(row)
  local name, arguments = row[1], row[4] or row[2]
  local path = "examples/" .. name .. ".lua"
  return {key = "example-" .. name, name = "example-" .. name .. ".html",
    path = path, title = name, example = true, anchors = {[name] = true},
    links = {{"gallery.html", "", "gallery.md"}},
    images = {{from = "docs/pictures/gallery/" .. name .. ".png"}},
    blocks = {},
    html = EXAMPLE:format(name, name, name, path, arguments,
      highlight.html(read(path), "lua"))}
end

-- What these programs read, for the page's own files.
local function data_script()
  local lines = {"window.LUNARRAY_DATA = {"}
  for _, path in ipairs(list "examples/data/*") do
    lines[#lines + 1] = ('"%s": "%s",'):format(path,
      run(("base64 -w 0 '%s'"):format(path)))
  end
  lines[#lines + 1] = "};"
  return table.concat(lines, "\n")
end

-- ---- the site ----

local function collect()
  local pages = {new_page("README.md", "index")}
  for _, path in ipairs(list("CONTRIBUTING.md CHANGELOG.md " ..
                               "docs/*.md modules/*/docs/*.md")) do
    if not is_left_out(path) then
      pages[#pages + 1] = new_page(path, path:match("([^/]+)%.md$"))
    end
  end
  for _, row in ipairs(dofile("tools/gallery.lua").list) do
    pages[#pages + 1] = example_page(row)
  end
  if reference then
    for _, path in ipairs(list(reference .. "/*.md")) do
      pages[#pages + 1] = new_page(path, path:match("([^/]+)%.md$"), true)
    end
  end
  local by_key = {}
  for _, page in ipairs(pages) do by_key[page.key] = page end
  return pages, by_key
end

-- Groups of pages; pages of the reference join theirs.
local function grouped(pages, by_key)
  local groups, known = {}, {}
  for _, row in ipairs(GROUPS) do
    local group = {title = row[1]}
    for key in row[2]:gmatch("%S+") do
      known[key] = true
      if by_key[key] then group[#group + 1] = by_key[key] end
    end
    for _, page in ipairs(row[1] == "Modules" and pages or {}) do
      if page.path:find("^modules/") then
        known[page.key], group[#group + 1] = true, page
      end
    end
    groups[#groups + 1] = group
    if row[1] == "Reference" then
      for _, page in ipairs(pages) do
        if page.reference then group[#group + 1] = page end
      end
      table.sort(group, function(a, b)
        if a.family and b.family then return a.title < b.title end
        return not a.family and b.family ~= nil
          or not a.family and not b.family and a.title < b.title
      end)
    end
  end
  for _, page in ipairs(pages) do
    if not known[page.key] and not page.reference and not page.example then
      table.insert(groups[#groups], page)
    end
  end
  return groups
end

local function navigation(groups, current)
  local rows = {}
  for _, group in ipairs(groups) do
    rows[#rows + 1] = "<h2>" .. group.title .. "</h2>\n<ul>"
    for _, page in ipairs(group) do
      -- The many families only next to each other.
      if not page.family or current.reference then
        rows[#rows + 1] = ('<li%s><a href="%s">%s</a></li>'):format(
          page == current and ' class="here"' or "", page.name,
          highlight.escape(page.title))
      end
    end
    rows[#rows + 1] = "</ul>"
  end
  return table.concat(rows, "\n")
end

local FRAME = [[<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title$suffix</title>
<link rel="stylesheet" href="site.css">
<script src="search.js" defer></script>
<script src="site.js" defer></script>
</head>
<body$wasm>
<header>
<button id="menu" aria-label="Pages" aria-controls="pages">&#9776;</button>
<a class="name" href="index.html">lunarray</a>
<input id="search" type="search" placeholder="Search (press /)"
  autocomplete="off" aria-label="Search">
</header>
<div id="results" hidden></div>
<nav id="pages">
$navigation
</nav>
<main>
$html
</main>
</body>
</html>
]]

-- The sections of a page for the search: {title, heading, address, words}.
local function sections(page, rows)
  local heading, anchor = page.title, ""
  local function add(html)
    local text = plain(html:gsub("<script.-</script>", ""):gsub("<!%-%-.-%-%->",
      "")):gsub("%s+", " ")
    if text:find("%S") then
      rows[#rows + 1] = {page.title, heading, page.name .. anchor, text}
    end
  end
  local at = 1
  for first, id, text, after in page.html:gmatch(
    '()<h%d id="([^"]*)">(.-) <a class="anchor".-</h%d>()') do
    add(page.html:sub(at, first - 1))
    heading, anchor, at = plain(text), "#" .. id, after
  end
  add(page.html:sub(at))
end

local function quoted(text)
  return '"' .. text:gsub('[%c\\"<]', function(c)
    return ("\\u%04x"):format(c:byte())
  end) .. '"'
end

local function index_of(pages)
  local rows, lines = {}, {}
  for _, page in ipairs(pages) do sections(page, rows) end
  for _, row in ipairs(rows) do
    for i = 1, 4 do row[i] = quoted(row[i]) end
    lines[#lines + 1] = "[" .. table.concat(row, ",") .. "]"
  end
  return "window.SEARCH = [\n" .. table.concat(lines, ",\n") .. "\n];\n"
end

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

-- Links that lead nowhere: an error with all of them.
local function check(pages)
  local by_name, missing = {}, {}
  for _, page in ipairs(pages) do by_name[page.name] = page end
  for _, page in ipairs(pages) do
    for _, link in ipairs(page.links) do
      local to = by_name[link[1]]
      if not to or link[2] ~= "" and not to.anchors[link[2]] then
        missing[#missing + 1] = page.path .. ": " .. link[3]
      end
    end
    for _, image in ipairs(page.images) do
      if not exists(image.from) then
        missing[#missing + 1] = page.path .. ": " .. image.from
      end
    end
  end
  if missing[1] then
    error("links that lead nowhere:\n" .. table.concat(missing, "\n"), 0)
  end
end

local function copy(from, to)
  write(to, read(from))
end

-- A library for the browser gives every block of Lua a Run button.
local function copy_wasm()
  if not exists "build/wasm/lunarray.wasm" then return "" end
  for _, name in ipairs{"lunarray.js", "lunarray.wasm"} do
    copy("build/wasm/" .. name, out .. "/" .. name)
  end
  local text = run "base64 -w 0 build/wasm/lunarray.wasm"
  write(out .. "/lunarray.data.js", data_script())
  write(out .. "/lunarray.bytes.js", 'window.LUNARRAY_BYTES = "' .. text .. '"')
  return ' data-wasm="lunarray.js"'
end

local function build()
  local pages, by_key = collect()
  local groups = grouped(pages, by_key)
  check(pages)
  for _, folder in ipairs(list "-d docs/pictures/*/") do
    run(("mkdir -p '%s'"):format(out .. folder:match "^docs(.*)$"))
  end
  local wasm = copy_wasm()
  for _, page in ipairs(pages) do
    local values = {title = highlight.escape(page.title), html = page.html,
      suffix = page.key == "index" and "" or " - lunarray",
      navigation = navigation(groups, page), wasm = wasm}
    write(out .. "/" .. page.name, (FRAME:gsub("%$(%l+)", values)))
  end
  for _, name in ipairs{"site.css", "site.js"} do
    copy(here .. "/" .. name, out .. "/" .. name)
  end
  for _, path in ipairs(list "docs/pictures/*.* docs/pictures/*/*.*") do
    copy(path, out .. path:match("^docs(.*)$"))
  end
  for _, page in ipairs(pages) do
    for _, image in ipairs(page.path:find("^modules/") and page.images or {}) do
      copy(image.from, out .. "/" .. image.name)
    end
  end
  write(out .. "/search.js", index_of(pages))
  print(("%d pages in %s"):format(#pages, out))
end

local ok, message = pcall(build)
if not ok then
  io.stderr:write(tostring(message), "\n")
  os.exit(1)
end
