-- Runs scripts of the folder scripts on several ranks of one machine.
local mpirun = {}

-- Of another MPI than the usual one (make mpi-check): its mpirun, and where the
-- module for it is.
local MPIRUN = os.getenv "MPIRUN" or "mpirun"
local FOLDER = os.getenv "LUNARRAY_MPI_BUILD" or "build"
mpirun.folder = FOLDER

-- Ranks share the processors, also as root, and report by pipes.
local SETTINGS = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
  .. "OMPI_MCA_rmaps_base_oversubscribe=1 "
  .. "OMPI_MCA_btl_vader_single_copy_mechanism=none "
  .. "LUNARRAY_NUM_THREADS=1 "
  .. "LUA_CPATH='" .. FOLDER .. "/?.so;build/?.so;;' "
  .. "LUA_PATH='./?.lua;lua/?.lua;lua/?/init.lua;;' "

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

-- nil, or why there is nothing to run: the specs say so then. Sanitizers look
-- at the library's own code, and find leaks in MPI's.
function mpirun.missing()
  local program = os.getenv "LUNARRAY_PROGRAM" or ""
  if program:find "san/" then return "MPI under a sanitizer" end
  -- What a rank computes is the matter of other specs.
  local path = os.getenv "LUNARRAY_CPU"
  local paths = require "lunarray".config().cpu_available
  if path and path ~= paths[#paths] then
    return "MPI on another CPU path than the best"
  end
  if not exists(FOLDER .. "/lunarray_mpi.so") then
    return "no lunarray_mpi.so (openmpi-bin, libopenmpi-dev)"
  end
  if not os.execute("command -v " .. MPIRUN .. " >/dev/null 2>&1") then
    return "no mpirun (openmpi-bin)"
  end
end

-- The options of Open MPI's mpirun; MPICH's has none of them.
local open_mpi

function mpirun.is_open_mpi()
  if open_mpi == nil then
    local pipe = io.popen(MPIRUN .. " --version 2>&1")
    open_mpi = pipe:read("a"):find("Open MPI", 1, true) ~= nil
    pipe:close()
  end
  return open_mpi
end

local function mpirun_options(hosts)
  local word = mpirun.is_open_mpi() and "--hostfile " or "-f "
  local list = hosts and word .. hosts or ""
  return mpirun.is_open_mpi() and "--bind-to none " .. list or list
end

-- A line of a file of hosts.
function mpirun.host_line(host, slots)
  return (mpirun.is_open_mpi() and "%s slots=%d" or "%s:%d"):format(host, slots)
end

-- The environment of ranks, as words for export.
function mpirun.settings() return SETTINGS end

-- What n ranks of a script printed on both streams, and whether all ended well.
-- options: program (lua5.4), settings (shell text in
-- front of the command: of the environment), hosts (a file).
function mpirun.run(n, script, given)
  given = given or {}
  local form = "export %s; %s timeout -k 5 120 %s %s -n %d %s %s 2>&1"
  local command = form:format(SETTINGS, given.settings or "", MPIRUN,
    mpirun_options(given.hosts), n,
    given.program or os.getenv "LUA" or "lua5.4", script)
  local pipe = assert(io.popen(command))
  local text = pipe:read "a"
  local ok = pipe:close()
  return text, ok == true
end

return mpirun
