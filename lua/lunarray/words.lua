-- lunarray.words: the families of words in the order of the reference: the
-- module lunarray.words.<name> that has their text (its format is in
-- lunarray.help.rows), and a title.
local la = require "lunarray"

local families = {
  {"create", "Making and converting tensors"},
  {"tensor", "Properties and methods of a tensor"},
  {"index", "Indexing, sorting, sets"},
  {"view", "Shapes and views"},
  {"join", "Joining, repeating, padding"},
  {"arithmetic", "Arithmetic, comparison, logic"},
  {"math", "Mathematical and special functions"},
  {"reduce", "Reductions, running sums, statistics"},
  {"linalg", "Linear algebra"},
  {"fft", "Fourier transforms"},
  {"activation", "Activations"},
  {"layer", "Convolutions, pooling, norms, attention"},
  {"loss", "Losses"},
  {"dtypes", "Dtypes"},
  {"random", "Random numbers"},
  {"autograd", "Gradients"},
  {"nn", "Modules: classes, containers, initial values"},
  {"nn_layer", "Modules: layers"},
  {"nn_function", "Modules: activations and losses"},
  {"training", "Training, data, tests"},
  {"plot", "Plots"},
  {"files", "Files"},
  {"library", "The library"},
}

-- The words of a module (modules/<name>/words.lua) say their title themselves,
-- in a first line "= Title".
for _, name in ipairs(la.config().modules) do
  local found, text = pcall(require, "lunarray.words." .. name)
  if found then
    table.insert(families, #families, {name, text:match "^= ([^\n]+)"})
  end
end

return families
