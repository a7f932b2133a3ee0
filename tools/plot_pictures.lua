-- The pictures of docs/plot.md and docs/figures.md: lunarray
-- tools/plot_pictures.lua. The pages' own code writes them, into docs/pictures.
local documents = require "spec.support.documents"

local program_name = (arg[-1] or "lunarray"):gsub("^([^/].*/)", (os.getenv "PWD"
  or ".") .. "/%1")

for page, folder in pairs{["docs/plot.md"] = "docs/pictures",
  ["docs/figures.md"] = "docs/pictures/figures"} do
  os.execute("mkdir -p " .. folder)
  local file = assert(io.open(folder .. "/page.lua", "w"))
  file:write((assert(documents.program(page))))
  file:close()
  local ok = os.execute(("cd %s && %s page.lua > /dev/null"):format(folder,
    program_name))
  os.remove(folder .. "/page.lua")
  assert(ok, page .. " failed")
end
os.remove "docs/pictures/plot-log.svg"
