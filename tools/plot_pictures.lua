-- The pictures of docs/plot.md: lunarray tools/plot_pictures.lua
-- The page's own code writes them, into docs/pictures.
local documents = require "spec.support.documents"

local program = assert(documents.program "docs/plot.md")
local file = assert(io.open("docs/pictures/page.lua", "w"))
file:write(program)
file:close()
local ok = os.execute("cd docs/pictures && " .. (arg[-1] or "lunarray")
  :gsub("^[^/].*/", "../../%0") .. " page.lua > /dev/null")
os.remove "docs/pictures/page.lua"
os.remove "docs/pictures/plot-log.svg"
assert(ok, "the page failed")
