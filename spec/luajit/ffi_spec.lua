-- lunarray.ffi (luajit/): its declarations are those of lunarray.h, and its
-- cases pass under LuaJIT.
local la = require "lunarray"
local once = require "spec.support.once"

local LIBRARY = "build/liblunarray-core.so.0"

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

-- One form for all spellings of a declaration.
local function plain(text)
  return (text:gsub("LA_API ", ""):gsub("struct lua_State", "lua_State")
    :gsub("%s+", " "):gsub(" ?([*(),;{}]) ?", "%1"))
end

describe("lunarray.ffi", function()
  it("declares what the header declares", function()
    local header = read("include/lunarray.h"):gsub("/%*.-%*/", "")
    header = plain(header)
    local own = read("luajit/lunarray/ffi/declarations.lua")
      :match("ffi%.cdef %[%[(.-)%]%]"):gsub("struct lua_State", "lua_State")
    local n = 0
    for declaration in own:gmatch("[%w_ *]+la_[%w_]+%b();") do
      local line = plain(declaration):gsub("^ ", "")
      assert(header:find(line, 1, true), "not in the header: " .. line)
      n = n + 1
    end
    for _, name in ipairs {"la_any", "la_range", "la_named",
      "la_generator_state"} do
      local pattern = "typedef struct " .. name .. "%b{}" .. name .. ";"
      local ours = plain(own):match(pattern)
      assert.is_truthy(ours and header:find(ours, 1, true), name)
      n = n + 1
    end
    assert.is_true(n > 35, n)
  end)

  it("has the numbers of the header's enums", function()
    local header = read("include/lunarray.h"):gsub("/%*.-%*/", "")
    local own = read("luajit/lunarray/ffi/declarations.lua")
    for prefix, first in pairs {LA_ARG_ = "LA_ARG_NONE", LA_ = "LA_AT"} do
      local list = header:match("enum {%s*(" .. first .. ".-)}")
      local number = 0
      for word in list:gmatch("[%w_]+") do
        local value = own:match("%f[%w]" .. word:sub(#prefix + 1)
          .. " = (%d+)")
        if word ~= "LA_ARG_TOO_LARGE" then
          assert.equal(number, tonumber(value), word)
        end
        number = number + 1
      end
    end
  end)

  once("gives the values of Lua 5.4's lunarray under LuaJIT", function()
    local library = io.open(LIBRARY)
    if not library or not os.execute "luajit -v > /dev/null 2>&1" then
      return pending "no luajit, or no library (make core)"
    end
    library:close()
    local program = os.tmpname()
    local weight = la.ones(3, 2)
    local f = la.compile(function(x) return x:matmul(weight), x:sum() end)
    f(la.ones(4, 3))
    la.save(f, program .. ".laprog")
    local losses = dofile "spec/luajit/train.lua"(la, require "lunarray.nn",
      require "lunarray.optim", require "lunarray.data")
    for _, options in ipairs {"", "-joff"} do
      local command = ("luajit %s spec/luajit/cases.lua %s %s.laprog 2>&1")
        :format(options, LIBRARY, program)
      local pipe = assert(io.popen(command))
      local said = pipe:read "a"
      assert(pipe:close(), said)
      assert.is_truthy(said:find "\nok, %d+ checks", said)
      local k = 0
      for loss in said:gmatch "loss (%S+)" do
        k = k + 1
        assert.equal(("%.9g"):format(losses[k]), loss)
      end
      assert.equal(#losses, k)
    end
    os.remove(program)
    os.remove(program .. ".laprog")
  end)
end)
