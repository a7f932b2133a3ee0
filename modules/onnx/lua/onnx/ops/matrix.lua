-- lunarray.onnx.ops.matrix: products.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("")

function op.MatMul() return la.matmul end

-- alpha A' B' + beta C, where ' may be a transposition.
function op.Gemm(node)
  local alpha, beta = node:get("alpha", 1.0), node:get("beta", 1.0)
  local ta, tb = node:get("transA", 0) ~= 0, node:get("transB", 0) ~= 0
  local plain = alpha == 1 and beta == 1
  return function(a, b, c)
    if ta then a = a:t() end
    if plain and tb and a:is_floating_point()
      and (not c or c.ndim == 1 and c:size(1) == b:size(1)) then
      return la.linear(a, b, c)
    end
    local y = a:matmul(tb and b:t() or b)
    if alpha ~= 1 then y = (y * alpha):to(a.dtype) end
    if not c or beta == 0 then return y end
    return y + (beta == 1 and c or (c * beta):to(a.dtype))
  end
end
