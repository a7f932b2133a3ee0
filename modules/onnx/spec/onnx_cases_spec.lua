-- The ONNX project's own backend tests: models, inputs and results that its
-- generator wrote. A selection of small ones stands in golden/cases.bin
-- (modules/onnx/spec/support/cases.lua packs it). All of them run where the
-- package onnx can make them: ONNX_PYTHON names a Python that has it.
local cases = dofile("modules/onnx/spec/support/cases.lua")

describe("backend tests of the ONNX project", function()
  for _, case in ipairs(cases.unpack("modules/onnx/spec/golden/cases.bin")) do
    it(case.name, function()
      local ok, problem = cases.run(case.name, case.read)
      assert(ok, problem)
    end)
  end

  -- Operators of com.microsoft, with onnxruntime's results (microsoft.py).
  for _, case in ipairs(
    cases.unpack("modules/onnx/spec/golden/microsoft.bin")) do
    it(case.name, function()
      local ok, problem = cases.run(case.name, case.read)
      assert(ok, problem)
    end)
  end

  local python = os.getenv("ONNX_PYTHON")
  if python then
    it("pass but for a few, all that the package makes", function()
      local folder = os.tmpname()
      os.remove(folder)
      assert(os.execute(("%s modules/onnx/spec/support/cases.py %s >/dev/null")
        :format(python, folder)))
      local passed, failed = cases.run_all(folder, nil, print)
      os.execute("rm -rf " .. folder)
      print(("%d passed, %d failed"):format(passed, failed))
      assert.is_true(passed >= 1740)
    end)
  end
end)
