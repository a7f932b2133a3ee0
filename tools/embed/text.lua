-- The single file, from a plan:
--   core, kernels   paths; {path =, cap =, also =}
--   regions         capabilities and ISA extensions, in order; targets[region]
--   keep(path)      is the source in it?
--   renames         of renames.lua
--   rewrite         of rows (source.lua), or nil
--   systems         {path =, condition =}: sources between conditions
--   cold            what is compiled for size: {[path or path@region] =
--                   the macro that says so}
--   defines         lines for the top
--   lua, tail       the Lua modules; what stands at the end
local source = require("source")
local renames = require("renames")
local template = require("template")
local sorted = renames.sorted
local text = {}

local function flags(features)
  return "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi2"
    .. features
end
local MACROS2 = "__AVX__ __AVX2__ __FMA__ __F16C__ __BMI2__"
local MACROS512 = MACROS2 .. " __AVX512F__ __AVX512BW__ __AVX512DQ__"
  .. " __AVX512VL__ __AVX512CD__"
-- The features of a region, and the macros by which sources know them. On other
-- processors capabilities are left out, and ISA extensions are empty tables.
text.targets = {
  avx2 = {"avx2,fma,f16c,bmi2", MACROS2, is_x86 = true},
  avx512 = {flags(""), MACROS512, is_x86 = true},
  avx512_vnni = {flags(",avx512vnni"), MACROS512 .. " __AVX512VNNI__"},
  avx512_bf16 = {flags(",avx512bf16"), MACROS512 .. " __AVX512BF16__"},
  amx = {flags(",avx512bf16,amx-tile,amx-bf16"),
         MACROS512 .. " __AVX512BF16__ __AMX_TILE__ __AMX_BF16__"},
}

-- gcc's macros follow its pragma (but not where it only preprocesses, as for a
-- scan); clang's do not.
local X86 = "#if defined(__x86_64__) || defined(__i386__)"

local function open_region(w, cap, target, final)
  if target and target.is_x86 then w:put(X86) end
  w:put("#define LA_CAP " .. cap)
  if not target then return end
  w:put(X86)
  if final then w:put("#ifdef __clang__") end
  for macro in target[2]:gmatch("%S+") do
    w:put(("#ifndef %s\n#define %s 1\n#define LA_SET%s\n#endif")
          :format(macro, macro, macro))
  end
  if not final then return w:put("#endif") end
  w:put(('#pragma clang attribute push(__attribute__((target("%s"))), '
    .. "apply_to = function)"):format(target[1]))
  w:put("#else\n#pragma GCC push_options")
  local wide = target[1]:find("avx512f") and ",prefer-vector-width=512" or ""
  w:put(('#pragma GCC target("%s%s")\n#endif\n#endif')
        :format(target[1], wide))
end

local function close_region(w, target, final)
  w:put("#undef LA_CAP")
  if not target then return end
  w:put(X86)
  if final then w:put("#ifdef __clang__\n#pragma clang attribute pop") end
  for macro in target[2]:gmatch("%S+") do
    w:put(("#ifdef LA_SET%s\n#undef %s\n#undef LA_SET%s\n#endif")
          :format(macro, macro, macro))
  end
  if final then w:put("#else\n#pragma GCC pop_options\n#endif") end
  w:put(target.is_x86 and "#endif\n#endif" or "#endif")
end

-- For size gcc leaves upper halves of registers as they are: they are cleared
-- before calls of scalar functions (base/os/cpu.h).
local SCALAR = {"fmod", "fmodf", "j0", "j1", "y0", "y1"}
for path, prefix in pairs{["src/base/libm/libm.h"] = "la_m_",
                          ["src/base/libm/libm_complex.h"] = "la_m_c"} do
  for line in io.lines(path) do
    for name in line:gmatch("X%((%l%w*)%)") do
      SCALAR[#SCALAR + 1] = prefix .. name
      SCALAR[#SCALAR + 1] = prefix .. name .. "f"
    end
    local whole = line:match("(la_m_%l[%w_]*)%(")
    if whole and not line:find("^/?%*") then SCALAR[#SCALAR + 1] = whole end
  end
end
table.sort(SCALAR)
local function put_scalar(w, is_end)
  w:put("#ifdef LA_LEAVES_UPPER")
  for _, name in ipairs(SCALAR) do
    w:put((is_end and "#undef %s" or "#define %s(...) "
      .. "(__builtin_ia32_vzeroupper(), (%s)(__VA_ARGS__))")
          :format(name, name))
  end
  w:put("#endif")
end

local function put_renames(w, set)
  for _, name in ipairs(sorted(set and set.macro or {})) do
    w:put(("#undef %s\n#define %s %s"):format(name, name, set.macro[name]))
  end
end

-- 'outer': what the region calls them.
local function drop_renames(w, set, outer)
  for _, name in ipairs(sorted(set and set.macro or {})) do
    w:put("#undef " .. name)
    if outer and outer.macro[name] then
      w:put(("#define %s %s"):format(name, outer.macro[name]))
    end
  end
end

local function undefine(w, unit)
  for _, name in ipairs(sorted(w.macros[unit] or {})) do
    w:put("#undef " .. name)
  end
end

-- What is cold is compiled for size, as in the module: lists of calls, and on
-- x86 the loops for processors without better ones. Functions of headers stand
-- outside: a body of other flags is not expanded in place.
local function open_cold(w, macro, final)
  if final and macro then
    w:put("#if " .. macro .. "\n#pragma GCC push_options\n"
      .. '#pragma GCC optimize ("Os")\n#endif')
  end
end
local function close_cold(w, macro, final)
  if final and macro then
    w:put("#if " .. macro .. "\n#pragma GCC pop_options\n#endif")
  end
end

-- Macros of complex.h, for those alone who include it: others use the words.
local COMPLEX = {complex = "_Complex", I = "_Complex_I"}
local function complex_of(path)
  for _, line in ipairs(source.lines_of(path)) do
    if line:find("#include <complex.h", 1, true) then return COMPLEX end
  end
  return {}
end

-- The settings of whoever includes the file hold behind it again.
local RESTORE = [[
#pragma GCC diagnostic pop
#if !defined(__clang__)
#pragma GCC pop_options
#endif
]]
local HIDE = [[
#if defined(__GNUC__) && !defined(_WIN32)
#pragma GCC visibility push(hidden)
#endif
]]
local SHOW = HIDE:gsub("push%(hidden%)", "pop")

local function state_of(w)
  return template.state(function(line) w:put(line) end, function(name)
    return name:find("^__") or name:find("^LA_") or w.foreign[name] ~= nil
  end, function(name) return w.foreign[name] end)
end

-- 'kernel', from put_kernels: the condition of its regions (open, close), its
-- renamed names (set), and whether it is compiled for size (cold). Its headers
-- stand outside of that condition.
local function put_unit(w, path, id, plan, outer, final, kernel)
  local set = kernel and kernel.set or plan.renames[id]
  if final then
    w.state = state_of(w)
    w:put(("\n/* ---- %s */"):format(path))
  end
  local undefine_loose = w:loose_macros(path)
  w:headers(path)
  if kernel then w:put(kernel.open) end
  w:mark(id)
  local complex = complex_of(path)
  for _, name in ipairs(sorted(complex)) do
    w:put(("#define %s %s"):format(name, complex[name]))
  end
  put_renames(w, set)
  local cold = plan.cold[path] or plan.cold[id]
  if kernel then cold = kernel.cold end
  open_cold(w, cold, final)
  if path == "src/lua/embed.c" then w:put(plan.lua or "") end
  local before = w.textual
  if set and next(set.textual) then
    w.textual = setmetatable(set.textual, {__index = before})
  end
  w:inline(path)
  close_cold(w, cold, final)
  if final then w.state:settle_all() end
  w.textual, w.strings, w.in_struct = before, {}, false
  undefine(w, id)
  undefine_loose()
  for _, name in ipairs(sorted(complex)) do w:put("#undef " .. name) end
  drop_renames(w, set, outer)
  if kernel then w:put(kernel.close) end
  w.state = nil
  w:mark("<head>")
end

local function has_kernels(plan, cap)
  for _, kernel in ipairs(plan.kernels) do
    if kernel.cap == cap and plan.keep(kernel.path) then return true end
  end
  return false
end

local function put_region(w, cap, plan)
  if not has_kernels(plan, cap) then return end
  local target, outer = plan.targets[cap], plan.renames["@" .. cap]
  w:mark("<head>")
  w:open(cap)
  open_region(w, cap, target)
  put_renames(w, outer)
  w.textual = outer and next(outer.textual) and outer.textual
  for _, kernel in ipairs(plan.kernels) do
    if kernel.cap == cap and plan.keep(kernel.path) then
      local also = ""
      for _, other in ipairs(kernel.also) do
        also = also .. (" X(%s, n)"):format(other)
      end
      w:put("#undef LA_CAP_ALSO\n" .. X86 .. "\n#define LA_CAP_ALSO(X, n)"
        .. also .. "\n#else\n#define LA_CAP_ALSO(X, n)\n#endif")
      put_unit(w, kernel.path, kernel.path .. "@" .. cap, plan, outer)
    end
  end
  w.textual = nil
  for _, unit in ipairs(sorted(w.macros)) do
    if unit:match("%.h@" .. cap .. "$") then undefine(w, unit) end
  end
  drop_renames(w, outer)
  close_region(w, target)
  w.region = nil
end

-- In the file that is handed out kernels stand once: it includes itself for
-- each region, with LA_REGION, a bit.
local function bits_of(plan)
  local bits = {}
  for i, cap in ipairs(plan.regions) do bits[cap] = 1 << (i - 1) end
  return bits
end

local function put_self(w, cap, plan)
  if not has_kernels(plan, cap) then return end
  local target = plan.targets[cap]
  open_region(w, cap, target, true)
  if target then put_scalar(w) end
  local lowest = cap == "default" and plan.regions[2]
  w:put(("#undef LA_INLINE\n#define LA_INLINE %s\n#define LA_REGION %d\n"
    .. "#include LA_SELF\n#undef LA_REGION"):format(lowest
    and "LA_INLINE_LOWEST" or "LA_INLINE_BEST", bits_of(plan)[cap]))
  if target then put_scalar(w, true) end
  close_region(w, target, true)
end

-- The names that a unit of one path, or the headers, change in any region; of
-- one that is in a single region they are as long as the tail.
local function renamed_in(plan, ids, tail)
  local set = {macro = {}, textual = {}}
  for _, id in ipairs(ids) do
    local one = plan.renames[id] or {}
    for _, how in ipairs({"macro", "textual"}) do
      for name in pairs(one[how] or {}) do
        set[how][name] = ids[2] and ("LA_IN(%s, %s)"):format(name, tail)
          or name .. tail
      end
    end
  end
  return set
end

-- {path =, caps =, also = {[region] =}} in the order of the first regions.
local function kernels_of(plan)
  local list, by_path = {}, {}
  for _, kernel in ipairs(plan.kernels) do
    if plan.keep(kernel.path) then
      local is = by_path[kernel.path]
      if not is then
        is = {path = kernel.path, also = {}, caps = {}}
        by_path[kernel.path], list[#list + 1] = is, is
      end
      local also = ""
      for _, other in ipairs(kernel.also) do
        also = also .. (" X(%s, n)"):format(other)
      end
      is.caps[#is.caps + 1], is.also[kernel.cap] = kernel.cap, also
    end
  end
  return list
end

-- Headers of kernels that are the same for all regions.
local function put_shared(w, plan)
  w.state, w.fresh = state_of(w), {}
  for _, kernel in ipairs(plan.kernels) do
    local below = plan.keep(kernel.path) and source.headers_below(kernel.path)
    for _, header in ipairs(sorted(below or {})) do
      if w.shared[header] and source.guarded(source.lines_of(header)) then
        w:include(header, 0)
      end
    end
  end
  w.state:settle_all()
  for _, name in ipairs(w.fresh) do w:put("#undef " .. name) end
  w.state = nil
end

-- {[header] = the regions whose kernels include it}, nil for those of all.
local function masks_of(plan, bits, all)
  local masks = {}
  for _, kernel in ipairs(plan.kernels) do
    if plan.keep(kernel.path) then
      for header in pairs(source.headers_below(kernel.path)) do
        masks[header] = (masks[header] or 0) | bits[kernel.cap]
      end
    end
  end
  for header, mask in pairs(masks) do
    if mask == all then masks[header] = nil end
  end
  return masks
end

local function put_kernels(w, plan)
  local bits, all = bits_of(plan), 0
  for _, cap in ipairs(plan.regions) do
    if has_kernels(plan, cap) then all = all | bits[cap] end
  end
  w:mark("<head>")
  w:open("kernels")
  -- In one large file compilers stop expanding functions at some point.
  w.inline_word = "LA_INLINE"
  local headers = {}
  for i, cap in ipairs(plan.regions) do headers[i] = "@" .. cap end
  w.masks = masks_of(plan, bits, all)
  local outer = renamed_in(plan, headers, "_in_")
  put_renames(w, outer)
  w.textual = next(outer.textual) and outer.textual
  for number, kernel in ipairs(kernels_of(plan)) do
    local mask, ids, also = 0, {}, ""
    for _, cap in ipairs(kernel.caps) do
      mask = mask | bits[cap]
      ids[#ids + 1] = kernel.path .. "@" .. cap
      if kernel.also[cap] ~= "" then
        also = also .. ("#%s LA_REGION == %d\n#define LA_CAP_ALSO(X, n)%s\n")
          :format(also == "" and "if" or "elif", bits[cap], kernel.also[cap])
      end
    end
    local set = renamed_in(plan, ids, ("_at%d_"):format(number))
    local is_partial = mask ~= all
    put_unit(w, kernel.path, ids[1], plan, outer, true, {set = set,
      open = (is_partial and ("#if LA_REGION & %d\n"):format(mask) or "")
        .. "#undef LA_CAP_ALSO\n" .. (also == "" and "" or "#ifndef LA_ON_X86\n"
        .. "#define LA_CAP_ALSO(X, n)\n" .. also:gsub("^#if", "#elif")
        .. "#else\n") .. "#define LA_CAP_ALSO(X, n)"
        .. (also == "" and "" or "\n#endif"),
      close = is_partial and "#endif" or "",
      cold = plan.regions[2] and mask & (bits.default or 0) ~= 0
        and ("defined(LA_LEVELS_X86) && LA_REGION == %d"):format(bits.default)
        or nil})
  end
  w.textual, w.inline_word, w.masks = nil, nil, nil
  for _, unit in ipairs(sorted(w.macros)) do
    if unit:match("%.h@kernels$") then undefine(w, unit) end
  end
  drop_renames(w, outer)
  w.region = nil
end

local function body(plan, final, first)
  local w = source.writer(plan.shared)
  w.uses = {}
  for path, n in pairs(first and first.uses or {}) do
    w.is_template = w.is_template or {}
    w.is_template[path] = n > 1 or nil
  end
  w.rewrite = plan.rewrite
  w.on_system = function(name, line, depth)
    if depth > 0 then return line end
    if name:match("^stb/") then return w:inline("/usr/include/" .. name) end
    if not w.systems[name] then
      w.systems[name] = true
      w.systems[#w.systems + 1] = name
    end
  end
  for _, path in ipairs(plan.core) do
    if plan.keep(path) then put_unit(w, path, path, plan, nil, final) end
  end
  if final then put_shared(w, plan) end
  for _, cap in ipairs(plan.regions) do
    if final then put_self(w, cap, plan) else put_region(w, cap, plan) end
  end
  w:put(SHOW)
  w.base = 1      -- within a condition: what they include stays where it is
  for _, system in ipairs(plan.systems) do
    w:put("#if " .. system.condition)
    put_unit(w, system.path, system.path, plan, nil, final)
    w:put("#endif")
  end
  if final then
    w.base = 0
    w.main = table.concat(w.parts, "\n")
    w.parts = {}
    put_kernels(w, plan)
  end
  return w
end

local LATE = {["immintrin.h"] = true, ["emmintrin.h"] = true}
-- Passes that make the compiler slow and this code hardly faster are left out.
-- For speed (-O1 and more) what is not cold is compiled as in the module.
local TOP = [[
#define LA_INLINE_BEST static inline
#define LA_INLINE_LOWEST static inline
#define LA_INLINE LA_INLINE_LOWEST
#define LA_CAP_ALSO(X, n)
#define LA_EMBEDDED_ARRAYS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wunused-function"
#pragma clang diagnostic ignored "-Wpass-failed"
#pragma clang diagnostic ignored "-Wpsabi"
#else
#pragma GCC push_options
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wattributes"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wformat-truncation"
#define LA_PRAGMA(...) LA_PRAGMA_(GCC optimize (__VA_ARGS__))
#define LA_PRAGMA_(x) _Pragma(#x)
#define LA_FLAGS "no-math-errno", "fp-contract=off", "no-tree-pre", \
  "no-code-hoisting", "no-gcse", "no-schedule-insns2", "no-tree-vrp", \
  "no-thread-jumps"
#if defined(__OPTIMIZE_SIZE__)
LA_PRAGMA(LA_FLAGS, "no-ivopts", "no-tree-dominator-opts", "no-tree-ter",
  "no-tree-copy-prop", "no-tree-bit-ccp", "no-tree-pta", "no-shrink-wrap",
  "no-rerun-cse-after-loop", "no-tree-scev-cprop",
  "no-tree-loop-distribute-patterns",
  "ira-algorithm=priority")
#elif defined(__OPTIMIZE__)
#define LA_LEVELS
#if defined(__x86_64__) || defined(__i386__)
#define LA_LEVELS_X86
#endif
#undef LA_INLINE_BEST
#define LA_INLINE_BEST static inline __attribute__((always_inline))
LA_PRAGMA("O2", LA_FLAGS, "tree-vectorize", "vect-cost-model=dynamic")
#else
#pragma GCC optimize ("no-math-errno", "fp-contract=off")
#endif
#endif]]
-- Other processors have the lowest capability alone.
local ELSEWHERE = [[
#else
#undef LA_CAPS_BUILT
#define LA_CAPS_BUILT 1u
#endif
#ifdef _WIN32]]
local INTRINSICS = [[
#undef I
#undef complex
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#if defined(__GNUC__) && !defined(_WIN32)
#pragma GCC visibility push(hidden)
#endif]]

-- The two parts of the file, and names that are of a region.
local SELF = [[
#ifndef LA_SELF
#define LA_SELF "lunarray.c"
#endif
#ifndef LA_REGION
]]
local NAMES = [[
#define LA_IN_(name, tail, cap) name##tail##cap
#define LA_IN_CAP(name, tail, cap) LA_IN_(name, tail, cap)
#define LA_IN(name, tail) LA_IN_CAP(name, tail, LA_CAP)]]

function text.of(plan, final)
  local w = body(plan, final)
  if final then
    template.forget()
    w = body(plan, final, w)
  end
  local head = {plan.title or "", final and SELF or "",
    "#pragma LA_UNIT <head>"}
  for _, line in ipairs(plan.defines) do head[#head + 1] = line end
  head[#head + 1] = TOP
  head[#head + 1] = X86 .. "\n#define LA_ON_X86"
  local target = plan.targets[plan.regions[1]]
  if target and target.is_x86 then
    head[#head + 1] = '#else\n#error "only for x86: no CAPS=default in it"\n'
      .. "#endif\n" .. X86
  end
  head[#head + 1] = ELSEWHERE
  for _, line in ipairs(source.lines_of("src/base/os/windows.h")) do
    head[#head + 1] = line
  end
  head[#head + 1] = "#endif"
  for _, name in ipairs(w.systems) do
    if not LATE[name] then head[#head + 1] = ("#include <%s>"):format(name) end
  end
  head[#head + 1] = INTRINSICS
  if final then head[#head + 1] = NAMES .. "\n" .. template.definitions() end
  local whole = table.concat(head, "\n") .. "\n"
    .. (w.main or table.concat(w.parts, "\n")) .. "\n" .. HIDE
    .. (plan.tail or "") .. SHOW .. RESTORE
  if not final then return whole end
  return (whole .. "#else   /* the kernels, for one region */\n"
    .. table.concat(w.parts, "\n") .. "\n#endif\n")
    :gsub("#pragma LA_UNIT [^\n]*\n", "")
end

return text
