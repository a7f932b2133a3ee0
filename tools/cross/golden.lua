-- All golden records on a target: host golden.lua <file with their paths>.
-- The last line is "N passed, N failed".
local records = require "spec.support.records"
local la = require "lunarray"

-- What a file system, threads and files do besides.
local function basics()
  local name = os.tmpname() .. ".npz"
  la.save({a = la.arange(10), text = "é"}, name)
  la.save({a = la.arange(10), text = "é"}, name)
  local t = la.load(name)
  assert(t.text == "é" and t.a:sum():item() == 45)
  os.remove(name)
  assert(la.ones(1 << 20):sum():item() == 1 << 20)
  assert(tostring(la.tensor(0.5)) == "tensor(0.5000)")
  assert(not pcall(la.load, "no such file.npy"))
  local x = la.tensor({2.0}, {requires_grad = true})
  x:exp():backward()
  assert(x.grad:item() > 7.38)
end

local passed, failed = 0, 0
local ok, why = pcall(basics)
if ok then passed = 1 else failed = 1 print(why) end
for path in io.lines(arg[1]) do
  for record in records.each(path) do
    ok, why = pcall(records.run, record)
    if ok and not why then passed = passed + 1
    else
      failed = failed + 1
      if failed < 40 then print(record.id, why) end
    end
  end
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0, true)
