-- Files of la.onnx.save for onnx_files.py:
--   lua tools/differential/onnx_files.lua FOLDER
-- Each module and function of modules/onnx/spec/support/exports.lua, as it is
-- and as a program, for opsets 17 and 21, with its inputs and results.
package.path = "./?.lua;" .. package.path
local la = require "lunarray"
local nn = require "lunarray.nn"

local folder = arg[1]
local list = dofile "modules/onnx/spec/support/exports.lua"

local function results_of(f, inputs)
  local list_of, out = {}, table.pack(la.no_grad(f, table.unpack(inputs)))
  for k = 1, out.n do
    for _, t in ipairs(type(out[k]) == "table" and out[k] or {out[k]}) do
      list_of[#list_of + 1] = t
    end
  end
  return list_of
end

local index = assert(io.open(folder .. "/index.txt", "w"))
for k, row in ipairs(list) do
  local name, f, inputs = table.unpack(row)
  if nn.is_module(f) then f:eval() end
  local out = results_of(f, inputs)
  for i, x in ipairs(inputs) do
    la.save(x, ("%s/%d.in%d.npy"):format(folder, k, i))
  end
  for i, y in ipairs(out) do
    la.save(y, ("%s/%d.out%d.npy"):format(folder, k, i))
  end
  local compiled = la.compile(function(...) return f(...) end)
  local is_program = pcall(la.no_grad, compiled, table.unpack(inputs))
  for _, opset in ipairs{17, 21} do
    local path = ("%d_%d.onnx"):format(k, opset)
    la.onnx.save(f, folder .. "/" .. path, inputs, {opset = opset})
    index:write(("%s\t%s\t%d\n"):format(name, path, k))
    if is_program then
      path = ("%d_%d_program.onnx"):format(k, opset)
      la.onnx.save(compiled:program(), folder .. "/" .. path, inputs,
        {opset = opset})
      index:write(("%s, program\t%s\t%d\n"):format(name, path, k))
    end
  end
end
index:close()
