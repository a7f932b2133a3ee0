-- lunarray.onnx: networks of ONNX files as modules, and modules as such files.
local la = require "lunarray"

local onnx = {}

local OPTIONS = {externals = true, freeze = true, bytes = true}

-- la.onnx.load(path or bytes[, {externals = function, freeze = true}])
function onnx.load(source, options)
  options = options or {}
  if type(options) ~= "table" then
    error("bad argument #2 to 'onnx.load' (table of options expected, got "
      .. type(options) .. ")", 2)
  end
  for key in pairs(options) do
    if not OPTIONS[key] then
      error("bad argument #2 to 'onnx.load' (unknown keyword '"
        .. tostring(key) .. "' (known: externals, freeze, bytes))", 2)
    end
  end
  local proto = la.onnx.read(source, {externals = options.externals,
    bytes = options.bytes})
  local model = require("lunarray.onnx.model").new(proto, options)
  return model
end

-- la.onnx.save(f, path, inputs[, {opset =, inputs =, outputs =, dims =}])
function onnx.save(f, path, inputs, options)
  if not la.onnx._program(f)
    and not tostring(f):find("^lunarray%.Compiled") then
    require("lunarray.tensors").check("onnx.save", 1, f, "function")
  end
  require("lunarray.tensors").check("onnx.save", 4, options, "options")
  return require("lunarray.onnx.save").save(f, path, inputs, options)
end

-- la.onnx.register(domain, name, function(inputs, attributes, outputs) ... end)
function onnx.register(domain, name, f)
  if type(domain) ~= "string" or type(name) ~= "string" then
    error("bad argument #1 to 'onnx.register' (domain and name of an operator "
      .. "expected)", 2)
  end
  require("lunarray.tensors").check("onnx.register", 3, f, "function")
  require("lunarray.onnx.rows").register(domain, name, f)
end

return onnx
