-- lunarray.mpi.load: finds lunarray_mpi.so and opens it. The module is built
-- where an MPI compiler is, and uses the library only through lunarray.h.
local la = require "lunarray"

local ADVICE = "; on Debian: apt-get install openmpi-bin libopenmpi-dev (or "
  .. "mpich libmpich-dev), then make"

-- The file that the library itself was loaded from; nil in a program that was
-- linked with it.
local function library_path()
  local maps = io.open "/proc/self/maps"
  if not maps then return nil end
  local found
  for line in maps:lines() do
    found = found or line:match "(/%S*/lunarray%.so)$"
      or line:match "(/%S*/liblunarray%.so%S*)$"
  end
  maps:close()
  return found
end

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

-- On the search path of Lua, else next to the library.
local function module_path(library)
  local path = package.searchpath("lunarray_mpi", package.cpath)
  if path then return path end
  local near = library and library:match "^(.*/)" .. "lunarray_mpi.so"
  if near and exists(near) then return near end
  error("lunarray.mpi: lunarray_mpi.so was not built, for want of an MPI "
    .. "compiler (mpicc)" .. ADVICE, 0)
end

local function load()
  if not (package and package.loadlib and io) then
    error("lunarray.mpi: not available in a sandbox", 0)
  end
  local library = library_path()
  local path = module_path(library)
  local open, text = package.loadlib(path, "luaopen_lunarray_mpi")
  if not open and library and text:find("undefined symbol: la_", 1, true) then
    -- Lua loads modules with their symbols hidden from others, and would not
    -- load the same path again.
    package.loadlib((library:gsub("/([^/]*)$", "/./%1")), "*")
    open, text = package.loadlib(path, "luaopen_lunarray_mpi")
  end
  if not open then
    error("lunarray.mpi: " .. text .. (text:find("libmpi", 1, true)
      and ADVICE or ""), 0)
  end
  return open()
end

local raw = load()

-- A fair part of the processors that each rank of this machine may use: one
-- that several ranks may use is shared by them.
local function fair_threads()
  local here = raw.local_group(raw.world)
  local rank, size = raw.rank_of(here)
  local own = raw.cores()
  local users = la.zeros(#own, {dtype = "int32"})
  local mine = la.frombuffer(own, "uint8", {#own}):sub(48)
  users:copy_(mine)
  raw.all_reduce(here, users, "sum")
  raw.free(here)
  local share = mine:double():div(users:clamp(1)):sum():item()
  return math.max(1, math.floor(share + 1e-9)), rank, size
end

if not os.getenv "LUNARRAY_NUM_THREADS" then
  local _, size = raw.rank_of(raw.world)
  if size > 1 then
    la.set_num_threads(math.min((fair_threads()), la.get_num_threads()))
  end
end

return raw
