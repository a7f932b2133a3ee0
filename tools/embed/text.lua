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
    w:put("#ifdef " .. macro .. "\n#pragma GCC push_options\n"
      .. '#pragma GCC optimize ("Os")\n#endif')
  end
end
local function close_cold(w, macro, final)
  if final and macro then
    w:put("#ifdef " .. macro .. "\n#pragma GCC pop_options\n#endif")
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

local function put_unit(w, path, id, plan, outer, final)
  local set = plan.renames[id]
  local undefine_loose = w:loose_macros(path)
  w:headers(path)
  w:mark(id)
  local complex = complex_of(path)
  for _, name in ipairs(sorted(complex)) do
    w:put(("#define %s %s"):format(name, complex[name]))
  end
  put_renames(w, set)
  local cold = plan.cold[path] or plan.cold[id]
  open_cold(w, cold, final)
  if path == "src/lua/embed.c" then w:put(plan.lua or "") end
  local before = w.textual
  if set and next(set.textual) then
    w.textual = setmetatable(set.textual, {__index = before})
  end
  w:inline(path)
  close_cold(w, cold, final)
  w.textual, w.strings, w.in_struct = before, {}, false
  undefine(w, id)
  undefine_loose()
  for _, name in ipairs(sorted(complex)) do w:put("#undef " .. name) end
  drop_renames(w, set, outer)
  w:mark("<head>")
end

local function has_kernels(plan, cap)
  for _, kernel in ipairs(plan.kernels) do
    if kernel.cap == cap and plan.keep(kernel.path) then return true end
  end
  return false
end

local function put_region(w, cap, plan, final)
  -- clang refuses the target of a region without functions.
  if not has_kernels(plan, cap) then return end
  local target, outer = plan.targets[cap], plan.renames["@" .. cap]
  w:mark("<head>")
  w:open(cap)
  -- In one large file compilers stop expanding functions at some point.
  w.inline_word = final and (cap == "default" and plan.regions[2]
    and "LA_INLINE_LOWEST" or "LA_INLINE") or nil
  open_region(w, cap, target, final)
  if final and target then put_scalar(w) end
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
      put_unit(w, kernel.path, kernel.path .. "@" .. cap, plan, outer,
               final)
    end
  end
  w.textual, w.inline_word = nil, nil
  for _, unit in ipairs(sorted(w.macros)) do
    if unit:match("%.h@" .. cap .. "$") then undefine(w, unit) end
  end
  drop_renames(w, outer)
  if final and target then put_scalar(w, true) end
  close_region(w, target, final)
  w.region = nil
end

local function body(plan, final)
  local w = source.writer(plan.shared)
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
  for _, cap in ipairs(plan.regions) do put_region(w, cap, plan, final) end
  w:put(SHOW)
  w.base = 1      -- within a condition: what they include stays where it is
  for _, system in ipairs(plan.systems) do
    w:put("#if " .. system.condition)
    put_unit(w, system.path, system.path, plan, nil, final)
    w:put("#endif")
  end
  return w
end

local LATE = {["immintrin.h"] = true, ["emmintrin.h"] = true}
-- Passes that make the compiler slow and this code hardly faster are left out.
-- For speed (-O1 and more) what is not cold is compiled as in the module.
local TOP = [[
#define LA_INLINE static inline
#define LA_INLINE_LOWEST LA_INLINE
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
#undef LA_INLINE_LOWEST
#define LA_INLINE_LOWEST static inline
#endif
#undef LA_INLINE
#define LA_INLINE static inline __attribute__((always_inline))
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

function text.of(plan, final)
  local w = body(plan, final)
  local head = {plan.title or "", "#pragma LA_UNIT <head>"}
  for _, line in ipairs(plan.defines) do head[#head + 1] = line end
  head[#head + 1] = TOP
  head[#head + 1] = X86
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
  local whole = table.concat(head, "\n") .. "\n"
    .. table.concat(w.parts, "\n") .. "\n" .. HIDE .. (plan.tail or "") .. SHOW
    .. RESTORE
  return final and whole:gsub("#pragma LA_UNIT [^\n]*\n", "") or whole
end

return text
