-- Parts of ONNX files as la.onnx.encode takes them.
local protos = {}

-- A value: sizes are numbers or names of dims, elem_type 1 is float.
function protos.info(name, shape, elem_type)
  local dims = {}
  for k, size in ipairs(shape) do
    dims[k] = type(size) == "string" and {dim_param = size}
      or {dim_value = size}
  end
  return {name = name, type = {tensor_type = {elem_type = elem_type or 1,
    shape = {dim = dims}}}}
end

-- A node; 'more' are further fields.
function protos.node(op, input, output, attribute, more)
  local n = {op_type = op, input = input, output = output,
    attribute = attribute}
  for key, v in pairs(more or {}) do n[key] = v end
  return n
end

return protos
