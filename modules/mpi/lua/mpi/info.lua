-- lunarray.mpi.info: what MPI gave this job, for lunarray --mpi-info.
local la = require "lunarray"
local raw = require "lunarray.mpi.load"

local function count(cores)
  return select(2, cores:gsub("1", ""))
end

-- Lines about the library, and about each rank: its machine, the cores that it
-- may use and the threads that it does. Every rank calls it; text on all.
return function(comm)
  local name, host, standard = raw.library()
  local list = comm:all_gather_value{host = host, cores = count(raw.cores()),
    threads = la.get_num_threads()}
  local lines = {"MPI " .. standard .. ": " .. name:match "^[^\n]*",
    ("%d rank%s"):format(comm.size, comm.size == 1 and "" or "s")}
  for rank, what in ipairs(list) do
    lines[#lines + 1] = ("  rank %d on %s: %d core%s, %d thread%s"):format(
      rank, what.host, what.cores, what.cores == 1 and "" or "s",
      what.threads, what.threads == 1 and "" or "s")
  end
  return table.concat(lines, "\n")
end
