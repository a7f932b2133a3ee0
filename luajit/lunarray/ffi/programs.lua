-- Programs: what la.compile has made of a function in Lua 5.4 and saved, or a
-- host in C, runs here without Lua (docs/programs.md).
local ffi = require "ffi"
local kind = require "lunarray.ffi.declarations"

ffi.cdef [[
typedef struct lunarray_program { la_program *p; } lunarray_program;
]]

return function(C, tensors)
  local programs, methods = {}, {}
  local handle

  local function made(p, level)
    if p == nil then tensors.raise(level + 1) end
    return handle(p)
  end

  local function names_of(self, what)
    local list = {}
    local name = C.la_program_name(self.p, what, 0)
    while name ~= nil do
      list[#list + 1] = ffi.string(name)
      name = C.la_program_name(self.p, what, #list)
    end
    return list
  end
  function methods:inputs() return names_of(self, kind.INPUT) end
  function methods:weights() return names_of(self, kind.WEIGHT_NAME) end

  --- A weight by its name: the program's own, which writes change.
  function methods:weight(name)
    return tensors.made(C.la_program_weight(self.p, name), 2)
  end

  --- Another that shares the weights, to run at the same time.
  function methods:clone() return made(C.la_program_clone(self.p), 2) end

  -- Begins a call; the arrays stay until it has ended.
  local function begin(self, level, ...)
    local n, m = C.la_program_inputs(self.p), C.la_program_outputs(self.p)
    if select("#", ...) ~= n then
      error(("program: %d inputs expected, got %d"):format(n, select("#", ...)),
        level + 1)
    end
    local given, out = {...}, ffi.new("la_tensor *[?]", m + 1)
    local list = ffi.new("la_tensor *[?]", n + 1)
    for i = 1, n do
      list[i - 1] = tensors.pointer(given[i], "program", level)
    end
    tensors.check(C.la_program_begin(self.p, list, out), level + 1)
    return {out = out, count = m, keep = {given, list}}
  end

  local function results(call)
    local list = {}
    for i = 1, call.count do list[i] = tensors.made(call.out[i - 1], 3) end
    return unpack(list, 1, call.count)
  end

  local function step(self, call, nanoseconds, level)
    local status = C.la_program_step(self.p, nanoseconds)
    if status == kind.MORE then return false end
    tensors.check(status, level + 1)
    return true
  end

  --- program:begin(x): a function to be called with seconds, once a frame,
  -- which gives false until it gives true and the results.
  function methods:begin(...)
    local call = begin(self, 2, ...)
    return function(seconds)
      if not step(self, call, seconds * 1e9, 2) then return false end
      return true, results(call)
    end
  end

  handle = ffi.metatype("lunarray_program", {
    __index = methods,
    __call = function(self, ...)
      local call = begin(self, 2, ...)
      while not step(self, call, 1e18, 2) do end
      return results(call)
    end,
    __gc = function(self) C.la_program_release(self.p) end,
  })

  --- The program in a file of la.save or la_program_save_to; a call runs it.
  function programs.load(path)
    local file, why = io.open(path, "rb")
    if not file then error("load_program: " .. why, 2) end
    local bytes = file:read "*a"
    file:close()
    return made(C.la_program_load(nil, bytes, #bytes), 2)
  end

  return programs
end
