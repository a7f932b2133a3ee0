-- What luacheck allows: the style of the house, and busted's names in specs.
std = "lua54"
max_line_length = 84
files["spec/**/*_spec.lua"] = {std = "lua54+busted"}
files["spec/lint"] = {std = "lua54"}
exclude_files = {"build"}
