-- Fuel of every operation that a small call is known of, for
-- spec/c/api/test_charged.c, which gives spent(f, ...): the fuel of a call, and
-- whether it succeeded. What is wrong is returned as a list of lines.
local spent = ...
local la = require "lunarray"
local row_calls = require "spec.support.row_calls"

local bad, count = {}, 0

local function note(...) bad[#bad + 1] = string.format(...) end

-- Every call costs something.
for _, op in ipairs(la.operations()) do
  local call = row_calls.find(op)
  if call then
    for _, dtype in ipairs {"float32", "complex64", "int64", "bool"} do
      local fuel, ok = spent(function() assert(call.run(dtype)) end)
      if ok then
        count = count + 1
        if fuel <= 0 then note("%s of %s is free", op.row, dtype) end
        break
      end
    end
  end
end
if count < 500 then note("only %d calls", count) end

-- Products cost their multiply-adds: twice the size is eight times the fuel,
-- where elements alone were four times.
local function square(n) return la.ones(n, n) end
local function batch(n) return la.ones(4, n, n) end
local products = {
  mm = function(n) return la.mm, square(n), square(n) end,
  matmul = function(n) return la.matmul, square(n), square(n) end,
  bmm = function(n) return la.bmm, batch(n), batch(n) end,
  addmm = function(n) return la.addmm, square(n), square(n), square(n) end,
  addbmm = function(n) return la.addbmm, square(n), batch(n), batch(n) end,
  baddbmm = function(n) return la.baddbmm, batch(n), batch(n), batch(n) end,
  linear = function(n) return la.linear, square(n), square(n) end,
  inner = function(n) return la.inner, square(n), square(n) end,
  tensordot = function(n) return la.tensordot, square(n), square(n), 1 end,
  chain_matmul = function(n)
    return la.chain_matmul, {square(n), square(n)}
  end,
  multi_dot = function(n) return la.multi_dot, {square(n), square(n)} end,
  einsum = function(n)
    return la.einsum, "ij,jk->ik", {square(n), square(n)}
  end,
  einsum_batch = function(n)
    return la.einsum, "bij,bjk->bik", {batch(n), batch(n)}
  end,
  matrix_power = function(n) return la.matrix_power, square(n), 2 end,
  attention = function(n)
    return la.scaled_dot_product_attention, batch(n), batch(n), batch(n)
  end
}

for name, make in pairs(products) do
  local small = spent(make(128))
  local large = spent(make(256))
  if large < 7 * small or large > 9 * small then
    note("%s: %d for 128, %d for 256", name, small, large)
  end
  if small < 128 ^ 3 // 8192 then note("%s: only %d", name, small) end
end

-- A matrix by a vector costs its elements: four times.
for _, name in ipairs {"mv", "addmv"} do
  local function fuel(n)
    local m, v = square(n), la.ones(n)
    if name == "mv" then return spent(la.mv, m, v) end
    return spent(la.addmv, v, m, v)
  end
  local small, large = fuel(128), fuel(512)
  if large < 12 * small or large > 20 * small then
    note("%s: %d for 128, %d for 512", name, small, large)
  end
end

return table.concat(bad, "\n")
