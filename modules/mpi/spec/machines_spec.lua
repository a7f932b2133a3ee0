-- Ranks on two machines, which are network namespaces joined by a cable, TCP
-- between them: results, and what happens when a rank ends or the cable is
-- pulled.
local machines = require "modules.mpi.spec.machines"

local missing = machines.open()

local HEAD = "local la, mpi = require 'lunarray', require 'lunarray.mpi'\n"
  .. "local function host() local f = io.popen 'hostname' "
  .. "local name = f:read 'l' f:close() return name end\n"

local function run(n, code, limit)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(HEAD, code, "\n")
  file:close()
  local text, ok, seconds = machines.run(n, path, limit)
  os.remove(path)
  return text, ok, seconds
end

local function it_runs(name, f)
  if missing then
    pending(name .. ": left out, " .. missing)
  else
    it(name, f)
  end
end

-- How long a job may take to end once something has happened; starting the
-- ranks is part of what is measured, and other programs run too.
local ENDS, START = 5, 10

local function ends(n, code, what)
  local text, ok, seconds = run(n, code)
  assert.is_false(ok, text)
  assert.is_truthy(text:find(what, 1, true), text)
  assert.is_true(seconds <= ENDS + START, text .. "\n" .. seconds .. " s")
  return text
end

describe("two machines", function()
  teardown(machines.close)

  it_runs("give the results of one", function()
    local text, ok = run(4, [[
      local x = la.arange(1, 7):float() * mpi.rank
      assert(la.equal(mpi.all_reduce(x), la.arange(1, 7):float() * 10))
      local big = mpi.all_reduce(la.ones(300000) * mpi.rank)
      assert(big:eq(10):all())
      local from = (mpi.rank + 2) % mpi.size + 1
      local to = mpi.rank % mpi.size + 1
      local got = la.zeros(5)
      local wait = mpi.irecv(got, from)
      mpi.send(la.ones(5) * mpi.rank, to)
      wait:wait()
      assert(la.equal(got, la.ones(5) * from))
      local all = mpi.all_gather(la.tensor{mpi.rank})
      assert(la.equal(all:view(-1), la.tensor{1, 2, 3, 4}))
      mpi.barrier()
      print("rank " .. mpi.rank .. " on " .. host() .. " is done")]])
    assert.is_true(ok, text)
    for rank = 1, 4 do
      local name = machines.names[(rank - 1) % 2 + 1]
      assert.is_truthy(text:find(("rank %d on %s is done"):format(rank, name),
        1, true), text)
    end
  end)

  it_runs("end together when a rank fails", function()
    local text = ends(2, "mpi.barrier() if mpi.rank == 2 then error 'no more' "
      .. "end mpi.recv(la.ones(1), 2)", "no more")
    assert.is_truthy(text:find("rank 2 of 2 ended with status 1", 1, true),
      text)
    ends(2, "mpi.barrier() if mpi.rank == 1 then error 'no more' end "
      .. "mpi.recv(la.ones(1), 1)", "no more")
  end)

  it_runs("end together when a rank is killed", function()
    ends(2, "mpi.barrier() if mpi.rank == 2 then "
      .. "os.execute 'kill -9 $PPID' end mpi.recv(la.ones(1), 2)", "signal 9")
  end)

  -- The rank says in time which one it does not hear of. mpirun itself has lost
  -- its own connection to the machine, and is ended by the limit.
  it_runs("end by their timeouts when the cable is pulled", function()
    for call, what in pairs{
      ["mpi.barrier{timeout = 1}"] = "rank 2 did not come within 1 s",
      ["mpi.irecv(la.ones(1), 2):wait(1)"] = "1.0 seconds: rank 2 did not send",
    } do
      local text = run(2, ([[
        mpi.barrier()
        if mpi.rank == 1 then
          os.execute "%s"
          local before = os.time()
          local ok, why = pcall(function() %s end)
          print(ok, why, os.time() - before <= 4 and "in time" or "late")
          io.stdout:flush()
        end
        while true do end]]):format(machines.cable "down", call), 15)
      os.execute(machines.cable "up")
      assert.is_truthy(text:find(what, 1, true), text)
      assert.is_truthy(text:find("in time", 1, true), text)
    end
  end)
end)
