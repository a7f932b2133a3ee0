-- Builds the module of docs/extending.md as its text says, in a tree of links
-- with the objects of the build, and runs its specs and the examples of its
-- words. What busted prints comes out.
--   lua5.4 spec/support/page_module.lua
package.path = "./?.lua;" .. package.path
local documents = require "spec.support.documents"

local TREE = "build/alone/page"

local function run(command, ...)
  local text = command:format(...)
  if not os.execute(text) then error("this failed: " .. text, 0) end
end

local function script_of(page)
  for _, block in ipairs((documents.blocks(page))) do
    if block.flag == "module" then return block.text end
  end
  error(page .. ": no block of a module", 0)
end

run("rm -rf %s && mkdir -p %s", TREE, TREE)
run("cp -as $PWD/lua $PWD/modules %s", TREE)
run("for f in $PWD/*; do test -e %s/${f##*/} || ln -s $f %s; done", TREE, TREE)
local file = assert(io.open(TREE .. "/module.sh", "w"))
file:write(script_of "docs/extending.md")
file:close()
run([[cd %s && sh -e module.sh && make -s MODULES=ease BUILD=out \
  BORROW=build/obj out/lunarray.so out/lunarray]], TREE)
run([[cd %s && LUA_CPATH='out/?.so;;' LUNARRAY_PROGRAM=out/lunarray \
  LUNARRAY_ALONE=ease LUA_PATH='./?.lua;lua/?.lua;lua/?/init.lua;;' \
  %s $(command -v busted) -o plainTerminal modules/ease/spec/ease_spec.lua \
  spec/registry/modules_spec.lua spec/manual/words_spec.lua]], TREE,
  os.getenv "LUA" or "lua5.4")
