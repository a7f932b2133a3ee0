-- lunarray.onnx.ops.compare: comparisons.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("")

local function comparison(name, f, strings)
  op[name] = function(node)
    local axis = node.version < 7 and node.attributes.axis
    return function(a, b)
      if rows.is_strings(a) then
        if not strings then error(name .. " of strings", 0) end
        return rows.equal_strings(a, b)
      end
      return f(a, rows.aligned(a, b, axis))
    end
  end
end

comparison("Equal", la.eq, true)
comparison("Greater", la.gt)
comparison("Less", la.lt)
comparison("GreaterOrEqual", la.ge)
comparison("LessOrEqual", la.le)
