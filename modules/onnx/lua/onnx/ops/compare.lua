-- lunarray.onnx.ops_compare: comparisons.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("")

-- Before opset 7 the second operand is aligned with an axis of the first.
local function comparison(name, f, strings)
  op[name] = function(node)
    local axis = node.version < 7 and node.attributes.axis
    return function(a, b)
      if rows.is_strings(a) then
        if not strings then error(name .. " of strings", 0) end
        return rows.equal_strings(a, b)
      end
      if axis and b.ndim > 0 then
        local shape = rows.sizes(b)
        for _ = axis + b.ndim + 1, a.ndim do shape[#shape + 1] = 1 end
        b = b:reshape(shape)
      end
      return f(a, b)
    end
  end
end

comparison("Equal", la.eq, true)
comparison("Greater", la.gt)
comparison("Less", la.lt)
comparison("GreaterOrEqual", la.ge)
comparison("LessOrEqual", la.le)
