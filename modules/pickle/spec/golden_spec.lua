-- Files that PyTorch wrote: every value, dtype, stride and bit is as torch.load
-- gives it (torch_files.py golden), read, mapped, and read for a sandbox.
local la = require "lunarray"
local same = require "modules.pickle.spec.same"

local DATA = "modules/pickle/spec/data/"

local function is_same(name, extension)
  local path = DATA .. name .. extension
  assert.is_nil(same(la.load(path), DATA .. name))
  assert.is_nil(same(la.mmap(path), DATA .. name))
end

it("reads zip files", function()
  for _, name in ipairs {"dtypes", "layouts", "plain", "training"} do
    is_same(name, ".pt")
  end
end)

it("reads legacy files", function() is_same("legacy", ".pt") end)

it("reads what other writers of zip files packed", function()
  is_same("deflated", ".pt")
  is_same("endian.big", ".pt")
end)

it("reads the parameters and buffers of TorchScript", function()
  is_same("script", ".pt")
end)

it("reads pickles of every protocol", function()
  for protocol = 0, 5 do
    is_same("protocols/" .. protocol, ".pkl")
    is_same("scalars/" .. protocol, ".pkl")
  end
end)

it("keeps shared memory shared", function()
  for _, name in ipairs {"layouts.pt", "legacy.pt"} do
    local t = la.load(DATA .. name)
    t.whole:fill_(7)
    assert.same({7, 7, 7, 7, 7}, t.first:totable())
    assert.equal(7, t.rest[1]:item())
  end
  local t = la.load(DATA .. "plain.pt")
  assert.is_true(rawequal(t.a, t.b))
end)

it("maps without copies", function()
  local t = la.mmap(DATA .. "dtypes.pt")
  assert.has_error(function() t.float32:zero_() end)
  local path = os.tmpname() .. ".npy"
  os.remove(path)
  local before = la.memory()
  local mapped = la.mmap(DATA .. "training.pt")
  assert.truthy(mapped.model.weight)
  assert.is_true(la.memory() - before < 20000)
end)
