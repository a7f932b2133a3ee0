-- How much stack calls take, for test_stack.c, which gives depth(f, ...): the
-- bytes below the call that it wrote, then the results of pcall. Every record
-- of an operation is called as it is and in larger sizes, in other layouts and
-- dtypes; then calls whose kernels change their way with sizes.
local la = require "lunarray"
local records = require "spec.support.records"
local samples = require "spec.support.samples"

local stack_walk = {}

local MOST = 5                  -- records of an operation
local LARGEST = 60000           -- elements of an enlarged tensor

local function is_tensor(v) return type(v) == "userdata" and la.is_tensor(v) end

-- The value with each tensor in it, at any depth, replaced by f(tensor).
local function each_tensor(v, f)
  if is_tensor(v) then return f(v) end
  if type(v) ~= "table" or getmetatable(v) then return v end
  local out = {}
  for k, inner in pairs(v) do out[k] = each_tensor(inner, f) end
  return out
end

-- Every dim but those of size 1 so many times as long.
local function enlarged(t, by)
  local times = {}
  for d = 1, t.ndim do times[d] = t:size(d) > 1 and by or 1 end
  return #times > 0 and t["repeat"](t, times) or t
end

local function numel_of(t, by)
  local n = 1
  for d = 1, t.ndim do n = n * (t:size(d) > 1 and t:size(d) * by or 1) end
  return n
end

local LAYOUTS = {
  plain = function(t) return t end,
  transposed = function(t)
    return t.ndim > 1 and t.mT:contiguous().mT or t
  end,
  gaps = function(t)
    return t.ndim > 0 and la.stack({t, t}, -1):select(-1, 1) or t
  end,
}

-- The first floating tensor in another dtype; the rest in their own.
local function mixed(dtype)
  local done = false
  return function(t)
    if done or not t:is_floating_point() then return t end
    done = true
    return t:to(dtype)
  end
end

local function variants(by)
  local list = {}
  for name, layout in pairs(LAYOUTS) do
    list[#list + 1] = {name, function(t) return layout(enlarged(t, by)) end}
  end
  for _, dtype in ipairs{"float16", "bfloat16", "float64"} do
    for _, name in ipairs{"plain", "transposed"} do
      local change = mixed(dtype)
      list[#list + 1] = {dtype .. " " .. name, function(t)
        return LAYOUTS[name](enlarged(change(t), by))
      end}
    end
  end
  return list
end

-- The factor with which no tensor of the arguments becomes too large.
local function factor(args)
  local by = 37
  local function fit(t)
    while by > 1 and numel_of(t, by) > LARGEST do by = by // 2 end
    return t
  end
  each_tensor(args, fit)
  return by
end

---------------------------------------------------------------------------

local deepest       -- by name: {bytes, what}

local function note(name, what, bytes)
  local best = deepest[name]
  if not best or bytes > best[1] then deepest[name] = {bytes, what} end
end

local function measure(depth, name, what, f, ...)
  la.manual_seed(7)
  note(name, what, (depth(f, ...)))
end

local function measure_variant(depth, r, variant, by)
  local ok, f, args, keywords = pcall(records.call_of, r)
  if not ok then return end
  local n = args.n
  local change = variant[2]
  local changed = {}
  for k = 1, n do
    ok, changed[k] = pcall(each_tensor, args[k], change)
    if not ok then return end
  end
  if keywords then
    n = n + 1
    ok, changed[n] = pcall(each_tensor, keywords, change)
    if not ok then return end
  end
  measure(depth, r.op, r.id .. " " .. variant[1] .. " times " .. by, f,
    table.unpack(changed, 1, n))
end

local function measure_record(depth, r)
  local ok, f, args, keywords = pcall(records.call_of, r)
  if not ok then return end
  local n = args.n
  if keywords then n = n + 1; args[n] = keywords end
  measure(depth, r.op, r.id, f, table.unpack(args, 1, n))
  local by = factor(args)
  for _, variant in ipairs(variants(by)) do
    measure_variant(depth, r, variant, by)
  end
end

local function paths()
  local pipe = assert(io.popen("LC_ALL=C ls spec/golden/*.jsonl "
    .. "modules/*/spec/golden/*.jsonl"))
  local list = {}
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

local function each_record(visit)
  for _, path in ipairs(paths()) do
    local n, dtypes = 0, {}
    for r in records.each(path) do
      if r.op ~= "program" then
        n = n + 1
        local key = r.id:match("float16") or r.id:match("complex")
          or r.id:match("int") or "other"
        if n <= MOST or not dtypes[key] then visit(r) end
        dtypes[key] = true
      end
    end
  end
end

local function finish(limit)
  local wrong, most = {}, 0
  for name, best in pairs(deepest) do
    most = math.max(most, best[1])
    if best[1] > limit then
      wrong[#wrong + 1] = ("%6d %s: %s"):format(best[1], name, best[2])
    end
  end
  table.sort(wrong, function(a, b) return a > b end)
  assert(#wrong == 0, ("%d need more than %d bytes of stack:\n%s"):format(
    #wrong, limit, table.concat(wrong, "\n")))
  return most
end

-- Every row of the registry by the records of its operation.
function stack_walk.operations(depth, limit)
  deepest = {}
  la.set_num_threads(1)
  each_record(function(r) measure_record(depth, r) end)
  return finish(limit)
end

-- Gradients of every differentiable operation, and those of gradients.
function stack_walk.gradients(depth, limit)
  deepest = {}
  la.set_num_threads(1)
  local seen = {}
  for _, op in ipairs(la.operations()) do
    if op.differentiable and not seen[op.name] then
      seen[op.name] = true
      local found, list = pcall(samples.of, op.name)
      for _, s in ipairs(found and list or {}) do
        local leaves = s.inputs()
        local ok, y = pcall(s.f, table.unpack(leaves))
        if ok and is_tensor(y) and y.requires_grad then
          local total = (y:is_complex() and la.view_as_real(y:resolve_conj())
            or y):square():sum()
          measure(depth, op.name, "gradient", la.grad, total, leaves,
            {create_graph = true, allow_unused = true})
        end
      end
    end
  end
  return finish(limit)
end

---------------------------------------------------------------------------

local FLOATS = {"float16", "bfloat16", "float32", "float64"}
local REALS = {"float16", "bfloat16", "float32", "float64", "int8", "int16",
  "int32", "int64", "uint8"}
local INEXACT = {"float32", "float64", "complex64", "complex128"}

local function random(dtype, ...)
  local t = la.rand({...}, {dtype = "float32"})
  if dtype:find "int" then return (t * 120):to(dtype) end
  return t:to(dtype)
end

local function rows(call)
  for _, d in ipairs(REALS) do
    for _, n in ipairs{20, 300, 4000, 70000, 500000} do
      local x = random(d, n)
      call("sort", la.sort, x)
      call("argsort", la.argsort, x, 1, true)
      call("topk", la.topk, x, n // 3)
      call("kthvalue", la.kthvalue, x, n // 2)
      call("unique", la.unique, x)
      call("median", la.median, x, 1)
      call("mode", la.mode, x, 1)
    end
    for _, s in ipairs{{5, 3000}, {3000, 5}, {3000, 40}, {40, 3000}} do
      local x = random(d, s[1], s[2])
      for _, t in ipairs{x, x:t(), x[{{}, {1, -1, 2}}]} do
        for dim = 1, 2 do
          for _, name in ipairs{"sum", "prod", "amax", "argmax", "any",
              "cumsum", "cummax", "sort", "mean", "var", "logsumexp",
              "softmax", "log_softmax", "norm", "unique"} do
            call(name, function() return la[name](t, dim) end)
          end
        end
      end
    end
  end
end

local function mixes(call)
  for _, d in ipairs(REALS) do
    local x, y = random(d, 300, 300), random("float32", 300, 300)
    for _, other in ipairs{x:t(), y:t(), y, y:t():double()} do
      call("add " .. d, la.add, x, other)
      call("mul " .. d, la.mul, x:t(), other)
      call("maximum " .. d, la.maximum, other, x:t())
      call("lerp " .. d, la.lerp, x, other, 0.3)
      call("where " .. d, la.where, x:gt(3), x:t(), other)
      call("addcmul " .. d, la.addcmul, x, x:t(), other)
      call("copy " .. d, x.copy_, x:clone(), other)
      call("kron " .. d, la.kron, x[{{1, 20}, {1, 20}}],
        other[{{1, 7}, {1, 9}}])
      call("cdist " .. d, la.cdist, x, other)
    end
  end
end

local function products(call)
  for _, d in ipairs{"float16", "bfloat16", "float32", "float64", "complex64",
      "complex128", "int64", "int32", "uint8", "int16"} do
    for _, s in ipairs{{3, 3, 3}, {40, 40, 40}, {100, 100, 100}, {1, 900, 2000},
        {2000, 900, 1}, {3, 900, 900}, {900, 900, 3}, {300, 400, 500}} do
      local a, b = random(d, s[1], s[2]), random(d, s[2], s[3])
      call("matmul " .. d, la.matmul, a, b)
      call("matmul " .. d, la.matmul, a:t():contiguous():t(), b)
      call("matmul " .. d, la.matmul, a, b:t():contiguous():t())
    end
    local x = random(d, 8, 30, 30)
    call("bmm " .. d, la.bmm, x, x.mT)
    call("einsum " .. d, la.einsum, "bij,bjk,bkl->il", x, x, x)
    call("einsum " .. d, la.einsum, "bij,cij->bc", x, x)
    local list = {}
    for k = 1, 40 do list[k] = random(d, 6, 6) end
    call("multi_dot " .. d, la.linalg.multi_dot, list)
    call("chain_matmul " .. d, la.chain_matmul, table.unpack(list))
  end
end

local function factors(call)
  for _, d in ipairs(INEXACT) do
    for _, s in ipairs{{2, 2}, {9, 9}, {16, 16}, {30, 30}, {60, 60}, {90, 40},
        {40, 90}, {200, 200}} do
      local a = random(d, 3, s[1], s[2])
      local b = random(d, 3, s[1], 5)
      for _, x in ipairs{a, a.mT:contiguous().mT} do
        for _, name in ipairs{"svd", "svdvals", "qr", "eigh", "eigvalsh", "eig",
            "inv", "det", "slogdet", "cholesky_ex", "lu_factor", "pinv",
            "matrix_rank", "cond", "matrix_exp", "inv_ex", "matrix_norm"} do
          call(name .. " " .. d, la.linalg[name], x)
        end
        for _, name in ipairs{"lstsq", "solve"} do
          call(name .. " " .. d, la.linalg[name], x, b)
        end
        call("solve_triangular " .. d, la.linalg.solve_triangular, x, b,
          {upper = true})
        call("cholesky " .. d, la.linalg.cholesky, x:matmul(x.mH or x.mT))
      end
    end
  end
end

local function layers(call)
  for _, d in ipairs(FLOATS) do
    local x, w = random(d, 2, 8, 40, 40), random(d, 8, 8, 3, 3)
    for _, t in ipairs{x, x.mT, x:to(d)[{{}, {}, {1, 40, 1}}]} do
      call("conv2d " .. d, la.conv2d, t, w)
      call("conv2d " .. d, la.conv2d, t, w, nil, 2, 1, 1)
      call("conv_transpose2d " .. d, la.conv_transpose2d, t, w)
      call("max_pool2d " .. d, la.max_pool2d, t, 3)
      call("max_pool2d " .. d, la.max_pool2d, t, 2, 1)
      call("avg_pool2d " .. d, la.avg_pool2d, t, 3)
      call("adaptive_avg_pool2d " .. d, la.adaptive_avg_pool2d, t, {7, 7})
      call("adaptive_max_pool2d " .. d, la.adaptive_max_pool2d, t, {7, 7})
      call("interpolate " .. d, la.interpolate, t, {scale_factor = 2,
        mode = "bicubic"})
      call("layer_norm " .. d, la.layer_norm, t, {40})
      call("group_norm " .. d, la.group_norm, t, 4)
      call("softmax " .. d, la.softmax, t, 4)
      call("unfold " .. d, la.unfold, t, 3)
    end
    local q = random(d, 2, 4, 70, 32)
    call("attention " .. d, la.scaled_dot_product_attention, q, q, q)
    call("cross_entropy " .. d, la.cross_entropy, random(d, 300, 30),
      la.randint(1, 31, {300}))
  end
end

local function transforms(call)
  for _, d in ipairs(INEXACT) do
    for _, n in ipairs{7, 16, 100, 128, 257, 243, 1009, 1024, 4096, 30030,
        65536, 100000, 251 * 241} do
      local x = random(d, 3, n)
      for _, name in ipairs{"fft", "ifft", "rfft", "irfft", "hfft",
          "fftshift"} do
        call(name .. " " .. d, la.fft[name], x)
        call(name .. " " .. d, la.fft[name], x:t():contiguous():t(), n, 2)
        call(name .. " " .. d, la.fft[name], x, nil, 1)
      end
    end
    call("fft2 " .. d, la.fft.fft2, random(d, 60, 70))
  end
end

-- Calls whose kernels have several ways, over dtypes and sizes.
function stack_walk.sizes(depth, limit)
  deepest = {}
  la.set_num_threads(1)
  local function call(name, f, ...)
    if f then measure(depth, name, "of sizes", f, ...) end
  end
  for _, part in ipairs{rows, mixes, products, factors, layers, transforms} do
    part(call)
  end
  return finish(limit)
end

return stack_walk
