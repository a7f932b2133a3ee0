-- Which specs and C tests touch a source: they run first, those of the last row
-- whose pattern fits its path before others. {pattern, specs, C tests}, where
-- specs are folders or parts of paths, and a C test is a name without test_.
local ROWS = {
  {"^src/base", "spec/lua/parallel spec/lifetime spec/lua/safety",
   "base errors memory pool runtime token decimal libm background fault"},
  {"^src/base/os", "spec/lua/parallel", "base pool memory fault background"},
  {"^src/base/libm", "spec/op/elementwise/math spec/registry/lockstep",
   "libm"},
  {"^src/base/[df][%w_]*%.", "spec/lua/print spec/registry/locale",
   "decimal locale base"},
  {"^src/tensor", "spec/op/move spec/lua/print spec/lifetime",
   "copy dlpack order record snapshot strides tensor tensor_promote "
     .. "tensor_view view_faults"},
  {"^src/tensor/text", "spec/lua/print spec/lua/messages"},
  {"^src/iter", "spec/op/elementwise spec/op/reduce spec/registry/out "
     .. "spec/lua/trace", "iter reduce"},
  {"^src/op/%w+/", "spec/registry/golden spec/registry/out_ "
     .. "spec/registry/meta spec/registry/leaks"},
  {"^src/op/debug", "spec/lua/trace"},
  {"^src/op/%w+%.[ch]", "spec/lua spec/registry/out spec/registry/dtypes "
     .. "spec/profile", "call hosted registry sandbox"},
  {"^src/op/pointwise", "spec/op/elementwise", "iter"},
  {"^src/op/create", "spec/op/move/create spec/op/move/expanded"},
  {"^src/op/re", "spec/op/reduce", "reduce"},
  {"^src/op/rows", "spec/op/reduce"},
  {"^src/op/scan", "spec/op/reduce"},
  {"^src/op/[vimcs]", "spec/op/move", "index tensor_view view_faults"},
  {"^src/op/[fml]", "spec/op/matmul", "gemm"},
  {"^src/op/linalg", "spec/op/matmul"},
  {"^src/op/eigen", "spec/op/matmul"},
  {"^src/op/[nc]", "spec/op/nn spec/nn/nn_spec", "conv"},
  {"^src/op/random", "spec/op/random"},
  {"^src/kernel", "spec/registry/golden spec/registry/dtypes"},
  {"^src/kernel/[peas]", "spec/op/elementwise"},
  {"^src/kernel/r", "spec/op/reduce", "reduce"},
  {"^src/kernel/[msi]", "spec/op/move", "copy index"},
  {"^src/kernel/[mlfa]", "spec/op/matmul", "gemm"},
  {"^src/kernel/[nc]", "spec/op/nn", "conv"},
  {"^src/kernel/pointwise/two", "spec/fuse spec/program"},
  {"^src/kernel/random", "spec/op/random"},
  {"^src/simd", "spec/op/elementwise spec/registry/golden"},
  {"^src/grad", "spec/autograd spec/registry/derivatives spec/registry/leaks "
     .. "spec/vmap", "grad"},
  {"^src/program", "spec/program", "program"},
  {"^src/fuse", "spec/fuse spec/registry/chains"},
  {"^src/vmap", "spec/vmap spec/registry/vmap spec/registry/leaks "
     .. "modules/stats"},
  {"^src/io", "spec/io", "files flate io callbacks"},
  {"^src/io/narrow", "modules/pickle modules/onnx/spec/onnx_cases"},
  {"^src/lua", "spec/lua spec/op/move/index spec/op/move/from "
     .. "spec/lifetime spec/autograd/autograd"},
  {"^src/api", "spec/host", "abi api callbacks device host struct frames"},
  {"^src/lua/api", "spec/host", "abi api callbacks device host struct frames"},
  {"^src/lua/sandbox", "", "sandbox finalizers stack caps attacks"},
  {"^src/lua/files", "spec/io modules/frame", "files"},
  {"^src/lua/transform", "spec/vmap spec/fuse spec/lua/parallel "
     .. "spec/autograd"},
  {"^src/api/program", "spec/program", "program"},
  {"^src/lua/transform/host", "spec/program", "program"},
  {"^src/lua/transform/loaded", "spec/program", "program"},
  {"^src/lua/files/program", "spec/program", "program"},
  {"^src/lua/transform/compile", "spec/program"},
  {"^src/repl", "spec/prompt/repl spec/prompt/kernel spec/prompt/prompt"},
  {"^lua/lunarray", "spec/lua"},
  {"^lua/lunarray/nn", "spec/nn"},
  {"^lua/lunarray/optim", "spec/nn"},
  {"^lua/lunarray/schedule", "spec/nn"},
  {"^lua/lunarray/lbfgs", "spec/nn"},
  {"^lua/lunarray/multi_head", "spec/nn"},
  {"^lua/lunarray/data", "spec/nn"},
  {"^lua/lunarray/plot", "spec/prompt/plot spec/prompt/fig spec/prompt/raster "
     .. "spec/manual/gallery"},
  {"^lua/lunarray/graph", "spec/autograd/graph"},
  {"^lua/lunarray/jacobian", "spec/autograd"},
  {"^lua/lunarray/control", "spec/autograd/control spec/program"},
  {"^lua/lunarray/autograd", "spec/autograd"},
  {"^lua/lunarray/repl", "spec/prompt"},
  {"^lua/lunarray/kernel", "spec/prompt/kernel"},
  {"^lua/lunarray/help", "spec/manual/help spec/manual/ref"},
  {"^lua/lunarray/parallel", "spec/lua/parallel"},
  {"^lua/lunarray/foreign", "spec/lua/foreign"},
  {"^lua/lunarray/images", "modules/image"},
  {"^lua/lunarray/near", "spec/manual/help spec/prompt/repl_"},
}

local specs = {rows = ROWS}

-- Operations with golden records that the text of a source names: la_impl_x,
-- la_meta_x, #define NAME x.
function specs.operations(text, exists)
  local names, seen = {}, {}
  local function see(name)
    if not seen[name] and exists(name) then names[#names + 1] = name end
    seen[name] = true
  end
  for name in text:gmatch("la_impl_([%w_]+)") do see(name) end
  for name in text:gmatch("la_meta_([%w_]+)") do see(name) end
  for name in text:gmatch("#define NAME ([%w_]+)") do see(name) end
  for name in text:gmatch("GRAD%((%w+),") do see(name) end
  return names
end

-- Specs of 'all' and C tests (test_name) of one row that are not in 'seen'.
local function add_row(list, seen, all, parts, tests, seconds)
  local some = {}
  for name in (tests or ""):gmatch("%S+") do
    some[#some + 1] = "test_" .. name
  end
  for _, spec in ipairs(all) do
    for part in parts:gmatch("%S+") do
      if spec:find(part, 1, true) == 1 then
        some[#some + 1] = spec
        break
      end
    end
  end
  specs.quick_first(some, seconds)
  for _, name in ipairs(some) do
    if not seen[name] then list[#list + 1] = name end
    seen[name] = true
  end
end

-- Paths of 'all' that touch 'path', and names of C tests: those of the module,
-- then of the last row that fits and so on, as special rows stand behind
-- general ones; of a row what is quick by 'seconds' (by name) comes first.
function specs.of(path, all, seconds)
  local chosen, seen = {}, {}
  local module = path:match("^modules/%w+/")
  if module then add_row(chosen, seen, all, module, "", seconds) end
  for k = #ROWS, 1, -1 do
    local row = ROWS[k]
    if path:find(row[1]) then
      add_row(chosen, seen, all, row[2], row[3], seconds)
    end
  end
  return chosen
end

function specs.quick_first(list, seconds)
  table.sort(list, function(a, b)
    local x, y = seconds[a] or 1, seconds[b] or 1
    if x ~= y then return x < y end
    return a < b
  end)
end

return specs
