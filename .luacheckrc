-- What luacheck allows: the style of the house, and busted's names in specs.
std = "lua54"
max_line_length = 84
-- Calls are often made for what they do, not for what they return.
local unused = {"211", "213", "231", "311", "551"}
files["spec"] = {ignore = unused}
-- 'not (x < y)' is true for NaN, and meant so.
files["modules/*/spec"] = {ignore = unused}
files["lua"] = {ignore = {"212/self", "581", "582"}}
files["modules/*/lua"] = files["lua"]
files["bench"] = {ignore = {"211", "213", "231", "311", "421", "431"}}
files["spec/**/*_spec.lua"] = {std = "lua54+busted", ignore = unused}
files["modules/*/spec/*_spec.lua"] = files["spec/**/*_spec.lua"]
files["spec/luajit/cases.lua"] = {std = "luajit", ignore = unused}
exclude_files = {"build"}
files["examples/luajit/love/main.lua"] = {globals = {"love"}}
files["examples/luajit/neovim.lua"] = {read_globals = {"vim"}}
