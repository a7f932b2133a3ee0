-- What people type who know a thing by another name: every phrase of
-- lunarray.help.meanings is found, by la.help and by the prompt's search.
local la = require "lunarray"
local help = require "lunarray.help"
local modules = require "spec.support.modules"
local search = require "lunarray.help.search"

describe("phrases", function()
  local all_it = modules.all() and it or function() end

  it("are at least three hundred", function()
    assert.is_true(#search.phrases() >= 300, #search.phrases())
  end)

  all_it("mean words that exist", function()
    local wrong = {}
    for _, row in ipairs(search.phrases()) do
      for _, name in ipairs(row.names) do
        local found = help.find(name)
        if not found or found.name ~= name then
          wrong[#wrong + 1] = row.phrase .. ": " .. name
        end
      end
    end
    assert.same({}, wrong)
  end)

  all_it("are found by search and by la.help", function()
    local wrong = {}
    for _, row in ipairs(search.phrases()) do
      local list, has = help.search(row.phrase), false
      for k = 1, math.min(3, #list) do
        has = has or list[k].name == row.names[1]
      end
      local text = la.help(row.phrase)
      if not has or text:find("^nothing is known by that name\n") then
        wrong[#wrong + 1] = row.phrase
      end
    end
    assert.same({}, wrong)
  end)

  all_it("are found in other spellings, and as parts of questions", function()
    for phrase, name in pairs{
      ["moving averages"] = "avg_pool1d", ["Group By"] = "index_add",
      ["colour spaces"] = "image.rgb_to_hsv", ["standardize"] = "std_mean",
      ["how do I read a csv"] = "read_csv", ["one hot encoding"] = "one_hot",
      ["fit a straight line"] = "lstsq", ["blur an image"] =
      "image.gaussian_blur", ["neural networks"] = "nn.Module"} do
      local list = help.search(phrase)
      local names = {}
      for k = 1, math.min(5, #list) do names[list[k].name] = true end
      assert.truthy(names[name], phrase)
    end
  end)

  -- Questions as people type them; none of them is a line of the table.
  local QUESTIONS = [[
how to join two dataframes: frame.Frame:join
calculate the average per group: frame.Frame:group
remove rows with missing data: frame.Frame:dropna
smooth noisy data: signal.savgol_filter
make a random matrix: rand
count occurrences: frame.Frame:value_counts
change line color: plot.line
read an mp3: audio.load
mean of each row: mean
squared error: mse_loss
date to weekday: frame.date
averages by month: frame.Frame:resample
delete a row with gaps: frame.Frame:dropna
normalize data between 0 and 1: aminmax
euclidean norm: linalg.norm
replace negative values with zero: masked_fill
train on minibatches: optim.Adam
saving training state: save
load image as tensor: image.load
convert image to grayscale: image.rgb_to_gray
detect edges in image: image.sobel
apply function to every element: x:apply_
matrix times vector: mv
transposing a matrix: transpose
closest points: cdist
integrate function: trapezoid
minimize a function: optim.LBFGS
parse csv with semicolon: read_csv
unix timestamp: frame.date
sort by two columns: frame.Frame:sort
weighted sums: average
string to number: frame.Frame:to
merging tables: frame.Frame:join
sql join: frame.Frame:join
batch norm: batch_norm
turn off gradients: no_grad
using all cores: set_num_threads
chat with a model: llm.load
export onnx: onnx.save
top 10 values: topk
shuffling a list: randperm
pie charts: plot.bar
a 3d plot: plot.surface
load checkpoint: load
k means clustering: cdist
text column: frame.text
days of the week: frame.date
wide table to long: frame.Frame:melt
fill in missing values: frame.Frame:fillna
random order: randperm
]]

  all_it("may be questions that stand nowhere", function()
    local wrong = {}
    for phrase, name in QUESTIONS:gmatch "([^\n]-): ([^\n]+)" do
      local list, has = help.search(phrase), false
      for k = 1, math.min(3, #list) do has = has or list[k].name == name end
      if not has then wrong[#wrong + 1] = phrase end
    end
    assert.same({}, wrong)
  end)

  it("leave names first", function()
    assert.equal("sum", help.search("sum")[1].name)
    assert.equal("softmax", help.search("softmax")[1].name)
  end)
end)
