-- No alternating fused multiply-adds in the module. The kernels' own vectors
-- have none; gcc makes them of products of complex numbers that it vectorises,
-- in spite of -ffp-contract=off, and bits then differ between capabilities.
-- Such functions are SIMD_UNFUSED (simd/isa/unfused.h), or their file is
-- compiled with -fno-tree-vectorize (kernel/targets.mk).
--   lua5.4 spec/lint/contracted.lua [build]
package.path = "spec/lint/?.lua;" .. package.path

local function check(build)
  local found, name, seen = {}, nil, {}
  local pipe = assert(io.popen("objdump -d --no-show-raw-insn " .. build
    .. "/lunarray.so 2>/dev/null"))
  for line in pipe:lines() do
    name = line:match("^%x+ <(.*)>:$") or name
    local op = line:match("%s(vfmaddsub%w+)") or line:match("%s(vfmsubadd%w+)")
    if op and not seen[name] then
      seen[name] = true
      found[#found + 1] = ("%s has a %s: mark it SIMD_UNFUSED"):format(name, op)
    end
  end
  pipe:close()
  if not name then found[1] = build .. "/lunarray.so: no function found" end
  table.sort(found)
  return found
end

if arg and arg[0] and arg[0]:match("contracted%.lua$") then
  require "files".main(check, arg[1] or "build")
end
return check
