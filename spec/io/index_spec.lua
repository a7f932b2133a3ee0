-- Files in parts, by their index: every tensor of the parts, and what an index
-- may not name.
local la = require "lunarray"
local folder = require "spec.support.folder"
local raises = require "spec.support.raises"

local files
setup(function()
  files = folder.new()
  la.save({a = la.tensor{1, 2}, b = la.tensor(3)}, files:path "p-1.safetensors",
          {metadata = {format = "pt"}})
  la.save({c = la.ones(2, 2)}, files:path "p-2.safetensors")
end)
teardown(function() files:remove() end)

local FIRST, SECOND = "p-1.safetensors", "p-2.safetensors"
local MAP = ('"weight_map": {"a": "%s", "b": "%s", "c": "%s"}')
  :format(FIRST, FIRST, SECOND)

local function index(text)
  return files:write("p.safetensors.index.json", text)
end

it("gives the tensors of all parts", function()
  local path = index('{"metadata": {"total_size": 28, "x": [1.5e3, {"y": '
    .. 'null}, true, "s", {}, []]}, ' .. MAP .. "}")
  local t, notes = la.load(path, {metadata = true})
  assert.same({1, 2}, t.a:totable())
  assert.equal(3, t.b:item())
  assert.same({2, 2}, {t.c.shape[1], t.c.shape[2]})
  assert.equal("pt", notes.format)
  local mapped = la.mmap(path)
  assert.is_true(mapped.c == t.c)
  raises("read", function() mapped.c:zero_() end)
  assert.truthy(la.load(path, {limit = 100000}))
  raises("more than the limit", la.load, path,
    {limit = #files:read(FIRST) + #files:read(SECOND) - 1})
end)

it("opens no other folder", function()
  os.execute(("ln -s %s %s"):format(files:path(FIRST), files:path "link"))
  for name, why in pairs {
    ["../p-1.safetensors"] = "not that of a file in the same folder",
    ["/etc/passwd"] = "not that of a file in the same folder",
    ["a/p-1.safetensors"] = "not that of a file in the same folder",
    ["..\\\\p-1.safetensors"] = "not that of a file in the same folder",
    ["C:p-1.safetensors"] = "not that of a file in the same folder",
    [".."] = "not that of a file in the same folder",
    [""] = "not that of a file in the same folder",
    ["p-1\\u0000.safetensors"] = "not that of a file in the same folder",
    link = "cannot open", gone = "cannot open",
  } do
    raises(why, la.load, index('{"weight_map": {"a": "' .. name .. '"}}'))
  end
end)

it("says what does not fit", function()
  raises("does not hold the tensor 'd'", la.load,
    index(('{"weight_map": {"d": "%s"}}'):format(FIRST)))
  files:write("q.safetensors", files:read(FIRST))
  raises("the name 'a' is there twice", la.load,
    index(('{"weight_map": {"a": "%s", "b": "q.safetensors"}}')
      :format(FIRST)))
  files:write("q.safetensors", files:read(FIRST):sub(1, -2))
  raises("q.safetensors': truncated", la.load,
    index '{"weight_map": {"a": "q.safetensors"}}')
end)

it("refuses every damage of the text", function()
  local text = "{" .. MAP .. ', "metadata": {"n": [1, {"m": "s"}]}}'
  for n = 0, #text - 1 do
    raises("p.safetensors.index.json", la.load, index(text:sub(1, n)))
  end
  raises("text after", la.load, index(text .. "x"))
  raises("nested too deep", la.load,
    index('{"a": ' .. ("["):rep(65) .. ("]"):rep(65) .. "," .. MAP .. "}"))
  raises("weight_map", la.load, index '{"metadata": {}}')
  raises("twice", la.load, index("{" .. MAP .. "," .. MAP .. "}"))
end)
