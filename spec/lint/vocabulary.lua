-- The words that this project does not use, because its field has another that
-- a stranger can look up, and the phrases in which they are plain English or a
-- name of the interface. words.lua reads it.
--
-- banned: a word (with its plural and verb forms) and what to say instead.
-- 'names' holds those that are only bad as the name of something in code, and
-- 'file_names' those that do not tell what is in a file.
-- allowed: exact phrases, in lower case, with single spaces.
local banned = {
  ["argument error"] = "misfit misfits",
  ["variance"] = "spread spreads",
  ["capacity, scratch or workspace"] = "room rooms",
  ["transpose, flip, iteration or times i"] =
    "turn turns turned turning",
  ["index, position or offset"] = "place places placed placing",
  ["next to, with or along"] = "beside",
  ["origin or destination"] = "home homes",
  ["distribute or bucket"] = "deal deals dealt",
  ["interleave or shuffle"] = "weave weaves weaving woven",
  ["binding"] = "face faces",
  ["combine or horizontal sum"] = "fold folds folded",
}

local names = {
  ["result, output or composite"] = "made",
  ["message"] = "told",
}

-- Bad as a part of a file's name.
local file_names = {
  ["composite, or the theme"] = "made more small user few",
}

local allowed = {
  -- plain English
  "in place", "in-place", "in its place", "in their place", "takes place",
  "take place", "decimal place", "decimal places", "place value",
  "in turn", "turned on", "turned off", "turn on", "turn off", "turned into",
  "turns into", "turn into", "by turns",
  "spread over", "spread out", "great deal", "deal with", "deals with",
  "home directory", "home folder", "home key", "in the face of",
  -- the unit of rounding errors
  "in the last place", "place putmask",
  -- names of the interface and of the system
  "$home", '"home"',
  "mpi_in_place",
  "xdg_state_home", "xdg_data_home", "xdg_config_home", "home=%s",
  "f.fold", "la.fold", "col2im", "fold(", '"fold"',
  "fold.jsonl", "op fold", "nn.fold", "unfold and fold", "fold and unfold",
  "alias(fold", "__lsan_is_turned_off",
}

-- Folders whose names or comments still use them: none. A
-- folder leaves the list when it is clean, and stays out.
local pending = {}

return {banned = banned, names = names, file_names = file_names,
        allowed = allowed, pending = pending}
