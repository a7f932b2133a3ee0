-- lunarray.frame: tables of named columns. Reached as la.frame, which makes
-- one: la.frame{x = {1, 2}}. The functions here are words for with, agg and
-- filter (lunarray.frame.recipes) and what makes columns and joins frames.
local la = require "lunarray"

-- One for each state: frames of two copies would not know each other.
local known = rawget(la.frame, "_module")
if known then return known end

local columns = require "lunarray.frame.columns"
local text = require "lunarray.frame.text"
local date = require "lunarray.frame.date"
local frame = require "lunarray.frame.table"
local recipes = require "lunarray.frame.recipes"
local concat = require "lunarray.frame.concat"
require "lunarray.frame.verbs"
local groups = require "lunarray.frame.groups"
require "lunarray.frame.join"
require "lunarray.frame.shape"
require "lunarray.frame.show"
local files = require "lunarray.frame.files"
local near = require "lunarray.near"

local F = {}
for name, word in pairs(recipes.words) do F[name] = word end

F.gap = columns.gap
F.text = columns.new_text
F.date = function(v, options) return columns.new_date(v, options) end
F.date_range = columns.date_range
F.concat = concat.concat
F.is_frame = frame.is_frame

-- Methods by class.
F.Frame = frame.methods
F.Text, F.Date = text, date
F.Groups = groups.methods

-- For the parts in C, and for the prompt and notebooks.
F._call = frame.new
F._parts = files.parts
F._csv = files.csv
F._of_csv = files.of_csv
F._of_lists = frame.of_lists
frame.Frame.__tree = files.tree
F._of_tree = files.of_tree

rawset(la.frame, "_module", F)

return setmetatable(F, {
  __call = function(_, ...) return frame.new(...) end,
  __index = function(_, name)
    if type(name) ~= "string" or name:find "^_" then return nil end
    local meant = near.nearest(name, F)
    if not meant then return nil end
    columns.fail("frame has no word '%s' (did you mean '%s'?)", name, meant)
  end,
})
