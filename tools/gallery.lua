-- The pictures of docs/gallery.md: lunarray tools/gallery.lua [name...]
--
-- Runs the examples of the gallery, each of which writes a picture to the path
-- that is its last argument, into docs/pictures/gallery, and those of FILMS
-- again for a film. As a module it gives
-- the list, for the spec and the manual: name, arguments for the picture, those
-- for a run of a moment, and those for a web page where the first take long.
local LIST = {
  {"flock", "2000 300", "100 10"},
  {"fluid", "256 420", "32 5", "128 300"},
  {"terrain", "256 40", "48 2"},
  {"lenia", "192 250", "64 10"},
  {"reaction", "200 5000", "32 20"},
  {"bulb", "1640 110", "32 10"},
  {"maze", "64 300", "24 20"},
  {"pca", "20", "5"},
  {"clusters", "1200 60", "300 5"},
  {"eigenmaps", "300", "80"},
  {"fit", "150", "60"},
  {"spectrogram", "38", "20"},
  {"deconvolve", "0.005", "0.01"},
  {"kalman", "100", "20"},
  {"pyramid", "416", "64"},
  {"warp", "60", "2"},
  {"strokes", "12 4e-3", "1 4e-3", "4 4e-3"},
  {"letters", "500 64", "3 16", "60 32"},
  {"balance", "60 128", "2 8"},
  {"conduct", "120 32", "2 16"},
}

-- Where time is the point: arguments for an animation, and for a short one.
local FILMS = {
  {"fluid", "128 420", "32 14"},
  {"lenia", "160 280", "48 14"},
  {"flock", "900 260", "60 12"},
}

local gallery = {list = LIST, films = FILMS}

-- Runs the example in a world of its own; its value, and what it printed.
function gallery.run(name, arguments, picture)
  local path = "examples/" .. name .. ".lua"
  local list, lines = {[0] = path}, {}
  for word in arguments:gmatch("%S+") do list[#list + 1] = word end
  list[#list + 1] = picture
  local world = setmetatable({arg = list, print = function(...)
    local words = table.pack(...)
    for k = 1, words.n do words[k] = tostring(words[k]) end
    lines[#lines + 1] = table.concat(words, "\t")
  end}, {__index = _G})
  local value = assert(loadfile(path, "t", world))()
  return value, table.concat(lines, "\n")
end

if arg and arg[0] and arg[0]:match("gallery%.lua$") then
  local wanted = {}
  for _, name in ipairs(arg) do wanted[name] = true end
  local function make(row, suffix)
    if arg[1] and not wanted[row[1]] then return end
    local started = os.clock()
    local _, text = gallery.run(row[1], row[2],
      "docs/pictures/gallery/" .. row[1] .. suffix)
    print(("%-12s %5.1f s  %s"):format(row[1], os.clock() - started,
      text:match "[^\n]*$"))
  end
  for _, row in ipairs(LIST) do make(row, ".png") end
  for _, row in ipairs(FILMS) do make(row, ".gif") end
end

return gallery
