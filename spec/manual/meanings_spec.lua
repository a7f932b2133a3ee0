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

  it("leave names first", function()
    assert.equal("sum", help.search("sum")[1].name)
    assert.equal("softmax", help.search("softmax")[1].name)
  end)
end)
