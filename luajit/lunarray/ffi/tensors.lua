-- Handles of tensors: what holds a reference, and when it is released.
--
-- A handle is a struct of LuaJIT's with one pointer, NULL once it was freed. One
-- that is made outside of la.tidy has a finalizer; those inside have none, and
-- stand in the list of their scope. So that LuaJIT's collector knows what hangs
-- on a handle of 24 bytes, it is told the bytes of the data.
local ffi = require "ffi"

ffi.cdef [[
typedef struct lunarray_owned { la_tensor *p; } lunarray_owned;
typedef struct lunarray_scoped { la_tensor *p; } lunarray_scoped;
]]

-- Bytes of data after which the collector makes a step.
local STEP = 1048576

return function(C)
  local tensors = {newaxis = setmetatable({}, {__name = "la.newaxis"})}
  local owned, scoped      -- the two types, once they have their metatables
  local scope              -- the innermost list of la.tidy
  local fresh = 0

  --- Error of the last call of C, for the caller at 'level': without the name
  -- of a function that scripts do not call.
  function tensors.raise(level)
    local text = ffi.string(C.la_error_text()):gsub("^la_[%w_]+: ", "")
    error(text, level + 1)
  end

  function tensors.check(status, level)
    if status ~= 0 then tensors.raise(level + 1) end
  end

  --- The handle of a new reference; an error where there is none.
  function tensors.made(p, level)
    if p == nil then tensors.raise(level + 1) end
    if scope then
      local t = scoped(p)
      scope[#scope + 1] = t
      return t
    end
    fresh = fresh + tonumber(C.la_tensor_numel(p)) * 4 + 64
    if fresh >= STEP then
      local kilobytes = fresh / 1024
      fresh = 0
      collectgarbage("step", kilobytes)
    end
    return owned(p)
  end

  function tensors.is(v)
    return ffi.istype(owned, v) or ffi.istype(scoped, v)
  end

  --- The pointer in a handle, for the function 'name'.
  function tensors.pointer(v, name, level)
    if not tensors.is(v) then
      error(("%s: tensor expected, got %s"):format(name, type(v)),
        (level or 2) + 1)
    end
    if v.p == nil then error(name .. ": tensor was freed", (level or 2) + 1) end
    return v.p
  end

  --- The reference goes back at once.
  function tensors.free(t)
    local p = t.p
    t.p = nil
    C.la_release(p)
  end

  -- Runs 'last' with its value after f, whatever f did.
  local function finish(last, value, level, ok, ...)
    last(value)
    if not ok then error((...), 0) end
    return ...
  end
  function tensors.ending(last, value, f, ...)
    return finish(last, value, 3, pcall(f, ...))
  end

  -- Tensors of a value, of tables at any depth: each at most once.
  local function each(v, f, seen)
    if tensors.is(v) then
      f(v)
    elseif type(v) == "table" and not seen[v] then
      seen[v] = true
      for _, entry in pairs(v) do each(entry, f, seen) end
    end
  end

  -- What is kept goes on in the scope around, or gets a finalizer there.
  local function outlive(t, outer)
    if not ffi.istype(scoped, t) or t.p == nil then return end
    if outer then
      outer[#outer + 1] = t
    else
      ffi.gc(t, tensors.free)
    end
  end

  -- A handle is one object of LuaJIT's, and so a key by itself.
  local function release(list, kept, outer)
    local all = next(kept) == nil
    for i = #list, 1, -1 do
      local t = list[i]
      if not all and kept[t] then outlive(t, outer)
      elseif t.p ~= nil then tensors.free(t) end
    end
  end

  local function mark(kept, v)
    each(v, function(t) kept[t] = true end, {})
  end

  local function leave(outer, ok, ...)
    local list = scope
    scope = outer
    if ok then
      for i = 1, select("#", ...) do mark(list.kept, (select(i, ...))) end
    end
    release(list, list.kept, outer)
    if not ok then error((...), 0) end
    return ...
  end

  function tensors.tidy(f, ...)
    local outer = scope
    scope = {kept = {}}
    return leave(outer, pcall(f, ...))
  end

  function tensors.keep(v)
    if scope then mark(scope.kept, v) end
    return v
  end

  --- Called once, with the metamethods of tensors.
  function tensors.finish(meta)
    scoped = ffi.metatype("lunarray_scoped", meta)
    local with_end = {}
    for name, f in pairs(meta) do with_end[name] = f end
    with_end.__gc = tensors.free
    owned = ffi.metatype("lunarray_owned", with_end)
  end

  return tensors
end
