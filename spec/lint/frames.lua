-- Stack frames of the module, as objdump reads them: an operation has 32 KiB of
-- a host's stack (lunarray.h), and calls nest, so no function takes more than
-- 9. What is larger belongs to base/scratch.h or to the allocator.
--   lua5.4 spec/lint/frames.lua [build [bytes]]
package.path = "spec/lint/?.lua;" .. package.path

local MOST = 9 << 10

-- What an instruction takes off the stack pointer. The second form is that of
-- compilers that touch each page of a large frame.
local function taken(line)
  local bytes = line:match("sub +%$0x(%x+),%%rsp$")
    or line:match("lea +%-0x(%x+)%(%%rsp%),%%r11$")
  return bytes and tonumber(bytes, 16)
end

local function check(build, most)
  local found, name, any = {}, nil, false
  local pipe = assert(io.popen("objdump -d --no-show-raw-insn " .. build
    .. "/lunarray.so 2>/dev/null"))
  for line in pipe:lines() do
    name = line:match("^%x+ <(.*)>:$") or name
    local bytes = taken(line)
    any = any or bytes ~= nil
    if bytes and bytes > most then
      found[#found + 1] = ("%s has a frame of %d bytes, %d at most")
        :format(name, bytes, most)
    end
  end
  pipe:close()
  local machine = io.popen("uname -m"):read("l")
  if not any and machine == "x86_64" then
    found[1] = build .. "/lunarray.so: no frame found"
  end
  table.sort(found)
  return found
end

if arg and arg[0] and arg[0]:match("frames%.lua$") then
  require "files".main(function(build)
    return check(build, tonumber(arg[2]) or MOST)
  end, arg[1] or "build")
end
return function(build) return check(build, MOST) end
