-- Two machines made of network namespaces: each has a name and an address of
-- its own, and one cable joins them. For Open MPI, as root.
local mpirun = require "modules.mpi.spec.mpirun"

local machines = {}

-- Of this process, so that suites at the same time do not meet.
local ID = tostring(os.tmpname()):match("(%w%w%w%w)$") or "test"
local NAMES = {"lumpia" .. ID, "lumpib" .. ID}
local CABLES = {"lua" .. ID, "lub" .. ID}
local NETWORK = "10.213.47."
local agent

local function run(command)
  return os.execute("{ " .. command .. "; } >/dev/null 2>&1") == true
end

local function read(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  return text, pipe:close() == true
end

-- The shell command in the machine: its network, its name of the host.
local function inside(k, command)
  return ("ip netns exec %s unshare -u sh -c 'hostname %s; exec %s'"):format(
    NAMES[k], NAMES[k], command)
end

local SETUP = {
  "ip netns add " .. NAMES[1], "ip netns add " .. NAMES[2],
  ("ip link add %s type veth peer name %s"):format(CABLES[1], CABLES[2]),
}
for k = 1, 2 do
  SETUP[#SETUP + 1] = ("ip link set %s netns %s"):format(CABLES[k], NAMES[k])
  SETUP[#SETUP + 1] = ("ip -n %s addr add %s%d/24 dev %s"):format(NAMES[k],
    NETWORK, k, CABLES[k])
  SETUP[#SETUP + 1] = ("ip -n %s link set %s up"):format(NAMES[k], CABLES[k])
  SETUP[#SETUP + 1] = ("ip -n %s link set lo up"):format(NAMES[k])
end

-- Instead of ssh: the address, and the command on that machine.
local AGENT = [[#!/bin/sh
case $1 in %s1) name=%s ;; *) name=%s ;; esac
shift
exec ip netns exec $name unshare -u sh -c "hostname $name; $*"
]]

-- Ends what is left of a job that lost its cable, which holds our pipe.
local END_ALL = ("s=$?\nfor p in $(ip netns pids %s; ip netns pids %s); do\n"
  .. "test $p = $$ || kill -9 $p\ndone 2>/dev/null\nexit $s\n")
  :format(NAMES[1], NAMES[2])

function machines.close()
  for k = 1, 2 do run("ip netns del " .. NAMES[k]) end
  run("ip link del " .. CABLES[1])
  if agent then os.remove(agent) end
end

-- nil, or why there are none.
function machines.open()
  local missing = mpirun.missing()
  if missing then return missing end
  if not mpirun.is_open_mpi() then return "machines for Open MPI alone" end
  if not run "test $(id -u) = 0" then return "namespaces need root" end
  if not run("command -v ip && command -v unshare") then
    return "no ip (iproute2) or unshare"
  end
  for _, command in ipairs(SETUP) do
    if not run(command) then
      machines.close()
      return "no network namespaces here: " .. command
    end
  end
  agent = os.tmpname()
  local file = assert(io.open(agent, "w"))
  file:write(AGENT:format(NETWORK:gsub("%.", "."), NAMES[1], NAMES[2]))
  file:close()
  run("chmod 700 " .. agent)
  return nil
end

machines.names = NAMES

-- Pulls the cable of the second machine, or puts it in.
function machines.cable(state)
  return ("ip -n %s link set %s %s"):format(NAMES[2], CABLES[2], state)
end

-- n ranks of a script, by turns on the first and the second machine: what they
-- printed, whether all ended well, and how many seconds it took. After 'limit'
-- seconds (60) the job is ended.
function machines.run(n, script, limit)
  local parts = {mpirun.settings(), "timeout -k 1 " .. (limit or 60),
    "mpirun --bind-to none",
    "--mca plm_rsh_agent " .. agent, "--mca btl tcp,self",
    "--mca btl_tcp_if_include " .. NETWORK .. "0/24",
    "--mca oob_tcp_if_include " .. NETWORK .. "0/24",
    "--map-by node", ("--host %s1:%d,%s2:%d"):format(NETWORK, n, NETWORK, n),
    "-x LUA_PATH -x LUA_CPATH -x LUNARRAY_NUM_THREADS",
    "-n " .. n, os.getenv "LUA" or "lua5.4", script}
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write("export ", parts[1], "\n", table.concat(parts, " ", 2), "\n",
    END_ALL)
  file:close()
  local begin = os.time()
  local text, ok = read(inside(1, "sh " .. path))
  os.remove(path)
  return text, ok, os.time() - begin
end

return machines
