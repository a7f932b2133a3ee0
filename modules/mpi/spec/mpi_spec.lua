-- Ranks of MPI: scripts in the folder scripts that run by mpirun, each on 2 and
-- 4 ranks.
local mpirun = require "modules.mpi.spec.mpirun"

local SCRIPTS = "modules/mpi/spec/scripts/"

local missing = mpirun.missing()

-- A test, or the word that it is left out.
local function it_runs(name, f)
  if missing then
    pending(name .. ": left out, " .. missing)
  else
    it(name, f)
  end
end

local function all_done(n, script, given)
  local text, ok = mpirun.run(n, script, given)
  assert.is_true(ok, text)
  for rank = 1, n do
    assert.is_truthy(text:find("rank " .. rank .. " is done", 1, true), text)
  end
end

-- n ranks run a line of Lua and end badly; what they said.
local function fails(n, code, given)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write("local la, mpi = require 'lunarray', require 'lunarray.mpi'\n",
    code, "\n")
  file:close()
  local text, ok = mpirun.run(n, path, given)
  os.remove(path)
  assert.is_false(ok, text)
  return text
end

describe("mpi", function()
  it_runs("has words, whose examples show what is written", function()
    all_done(1, SCRIPTS .. "words.lua")
    local text, ok = mpirun.run(1, "tools/words.lua check mpi",
      {settings = "LUNARRAY_WORDS_MPI=1"})
    assert.is_true(ok, text)
    assert.is_truthy(text:find(" 0 wrong"), text)
  end)

  it_runs("moves every dtype and layout between ranks", function()
    all_done(2, SCRIPTS .. "communicate.lua")
    all_done(4, SCRIPTS .. "communicate.lua",
      {settings = "LUNARRAY_MPI_DEBUG=1"})
  end)

  it_runs("cuts calls to parts that give the same", function()
    all_done(2, SCRIPTS .. "parts.lua")
    all_done(3, SCRIPTS .. "parts.lua")
  end)

  it_runs("ends all ranks when one ends in an error", function()
    local text = fails(2, "if mpi.rank == 2 then error 'no more' end "
      .. "mpi.recv(la.ones(1), 2)")
    assert.is_truthy(text:find("no more", 1, true), text)
    assert.is_truthy(text:find("rank 2 of 2 ended with status 1", 1, true),
      text)
    text = fails(2, "if mpi.rank == 2 then error 'no more' end mpi.barrier()",
      {program = "build/lunarray"})
    assert.is_truthy(text:find("rank 2 of 2: %S+:2: no more"), text)
  end)

  it_runs("names the ranks that nothing is heard of", function()
    -- All have begun at the first barrier, however busy the machine is.
    local text = fails(3, "mpi.barrier() while mpi.rank == 2 do end "
      .. "mpi.barrier{timeout = 3}")
    assert.is_truthy(text:find("rank 2 did not come within 3 s", 1, true), text)
    for call, who in pairs{
      ["irecv(la.ones(2), 2)"] = "rank 2 did not send",
      ["irecv(la.ones(2))"] = "no rank sent",
      ["isend(la.ones(1 << 20), 2)"] = "rank 2 did not receive",
    } do
      text = fails(2, "if mpi.rank == 1 then mpi." .. call
        .. ":wait(0.2) end mpi.barrier()")
      assert.is_truthy(text:find("not done within 0.2 seconds: " .. who, 1,
        true), text)
    end
  end)

  it_runs("starts ranks by a file of hosts", function()
    local path = os.tmpname()
    local function hosts(text)
      local file = assert(io.open(path, "w"))
      file:write(text, "\n")
      file:close()
      return mpirun.run(3, "--mpi-info", {program = "build/lunarray",
        hosts = path})
    end
    local text, ok = hosts(mpirun.host_line("localhost", 3))
    assert.is_true(ok, text)
    assert.is_truthy(text:find "3 ranks\n  rank 1 on ", text)
    -- A machine that cannot be reached is an error, not a wait (MPICH waits).
    if mpirun.is_open_mpi() then
      text, ok = hosts(mpirun.host_line("nowhere.invalid", 3))
      assert.is_false(ok, text)
      assert.is_nil(text:find "3 ranks")
    end
    os.remove(path)
  end)

  it_runs("tells what each rank was about to do when they differ", function()
    local text = fails(2, "mpi.debug() mpi.all_reduce(la.ones(mpi.rank))")
    assert.is_truthy(text:find("the ranks do not agree: rank 1: all_reduce "
      .. "float32 {1} sum; rank 2: all_reduce float32 {2} sum", 1, true), text)
    text = fails(2, "mpi.debug() local x = la.ones(1) "
      .. "if mpi.rank == 1 then mpi.bcast(x) else mpi.barrier() end")
    assert.is_truthy(text:find("rank 2: barrier", 1, true), text)
  end)

  it_runs("refuses a message of another length", function()
    local text = fails(2, "if mpi.rank == 1 then mpi.send(la.ones(2), 2) "
      .. "else mpi.recv(la.ones(3), 1) end")
    assert.is_truthy(text:find("rank 1 sent 8 bytes, the tensor has 12", 1,
      true), text)
  end)

  it_runs("averages gradients and keeps states in parts", function()
    -- A file that is too long is an error of the write, not the end.
    local lua = os.getenv "LUA" or "lua5.4"
    local given = {program = "sh -c \"trap '' XFSZ; exec " .. lua .. ' \\$0"'}
    all_done(2, SCRIPTS .. "gradients.lua", given)
    all_done(4, SCRIPTS .. "gradients.lua", given)
  end)

  -- The loss of each step, and the hash of the weights.
  local function trained(n, words)
    local text, ok = mpirun.run(n, SCRIPTS .. "train.lua " .. words)
    assert.is_true(ok, text)
    local list = {}
    for number in text:gmatch "0x%S+" do list[#list + 1] = tonumber(number) end
    assert.equal(12, #list)
    return list, text:match "weights (%S+)"
  end

  local function near(a, b, bound)
    for k = 1, #a do
      assert.is_true(math.abs(a[k] - b[k]) <= bound * math.abs(b[k]),
        ("step %d: %.17g, not %.17g"):format(k, a[k], b[k]))
    end
  end

  it_runs("trains on parts of a batch as one process on all", function()
    -- 12 sums of as many terms, each in another order; their errors grow with
    -- the steps.
    local whole = trained(1, "float64 12 whole")
    near(trained(2, "float64 12 whole"), whole, 1e-12)
    near(trained(4, "float64 12 zero"), whole, 1e-12)
    near(trained(4, "float32 12 whole"), trained(1, "float32 12 whole"), 1e-5)
  end)

  it_runs("gives the same bits for any number of ranks", function()
    local losses, weights = trained(1, "float32 12 shards")
    for _, n in ipairs{2, 3, 4} do
      local others, same = trained(n, "float32 12 shards")
      assert.same(losses, others)
      assert.equal(weights, same)
    end
  end)

  it_runs("goes on after a rank was killed, bit by bit", function()
    local path = os.tmpname()
    local file = path .. ".safetensors"
    local function run(n, words)
      return mpirun.run(n, SCRIPTS .. "resume.lua " .. file .. " " .. words)
    end
    local text, ok = run(2, "6")
    assert.is_true(ok, text)
    os.remove(file)
    local step = math.random(2, 6)
    local said, ended = run(2, "6 " .. step)
    assert.is_false(ended, said)
    -- Open MPI names the rank, MPICH the process.
    assert.is_truthy((said:find "rank %d" or said:find "PID %d")
      and said:find "[Kk]ill", said)
    local again, good = run(4, "6")
    assert.is_true(good, again)
    assert.equal(text:match "weights %S+", again:match "weights %S+",
      "killed before step " .. step)
    os.remove(file)
    os.remove(path)
  end)

  it_runs("keeps an array in blocks on all ranks", function()
    all_done(2, SCRIPTS .. "arrays.lua")
    all_done(4, SCRIPTS .. "arrays.lua")
  end)

  it_runs("hands the elements of a list to ranks that are free", function()
    all_done(2, SCRIPTS .. "farm.lua")
    all_done(4, SCRIPTS .. "farm.lua",
      {settings = ('LUA_CPATH="$PWD/%s/?.so;$PWD/build/?.so;;"'):format(
        mpirun.folder)})
  end)

  it_runs("runs the examples on two ranks, and tells about them", function()
    local program = {program = "build/lunarray"}
    local text, ok = mpirun.run(2, "examples/mpi_heat.lua 32 50", program)
    assert.is_true(ok and text:find "hottest point 0%.%d+" ~= nil, text)
    text, ok = mpirun.run(2, "examples/mpi_pi.lua 20 2000", program)
    assert.is_true(ok, text)
    assert.is_truthy(text:find("40000 points: ", 1, true), text)
    local path = os.tmpname()
    local file = path .. ".safetensors"
    text, ok = mpirun.run(2, "examples/mpi_digits.lua 1 " .. file, program)
    assert.is_true(ok and text:find "epoch  1" ~= nil, text)
    local both = mpirun.run(1, "examples/mpi_digits.lua 2", program)
    local more = mpirun.run(4, "examples/mpi_digits.lua 2 " .. file, program)
    assert.equal(both:match "epoch  2  loss (%d%.%d%d%d%d)",
      more:match "epoch  2  loss (%d%.%d%d%d%d)")
    assert.is_nil(more:find "epoch  1")
    os.remove(file)
    os.remove(path)
    text, ok = mpirun.run(2, "--mpi-info", program)
    assert.is_true(ok, text)
    assert.is_truthy(text:find "2 ranks\n  rank 1 on ", text)
  end)

  it_runs("runs the code of its page on two ranks", function()
    local file = assert(io.open "modules/mpi/docs/mpi.md")
    local page, path, blocks = file:read "a", os.tmpname(), {}
    file:close()
    for block in page:gmatch "\n```lua[^\n]*\n(.-)```" do
      -- Each is a chunk that sees the names of those before it.
      blocks[#blocks + 1] = block:gsub("local la = [^\n]*\n", "")
        :gsub("local mpi = [^\n]*\n", ""):gsub("local (%a)", "%1")
        :gsub("last.safetensors", path .. ".safetensors")
    end
    assert.is_true(#blocks >= 4)
    file = assert(io.open(path, "w"))
    file:write([[
la, mpi = require "lunarray", require "lunarray.mpi"
nn, optim = require "lunarray.nn", require "lunarray.optim"
data = require "lunarray.data"
function MyNet() return nn.Linear(4, 3) end
set = data.TensorDataset(la.randn(80, 4), la.randint(1, 3, {80}))
seeds = {1, 2, 3}
function compute(t) t:fill_(mpi.rank) end
]], table.concat(blocks, "\n"), [[

assert(x:eq(3):all() and results[3] > 3.1 and not errors)
print("rank " .. mpi.rank .. " is done")
]])
    file:close()
    all_done(2, path)
    os.remove(path)
    os.remove(path .. ".safetensors")
  end)

  it("names the packages when it was not built", function()
    local pipe = assert(io.popen("LUA_CPATH='/nowhere/?.so;;' "
      .. (os.getenv "LUNARRAY_PROGRAM" or "build/lunarray")
      .. " -e 'package.searchpath = function() end "
      .. "local open = io.open io.open = function(path, ...) "
      .. "if not path:find(\"mpi.so\") then return open(path, ...) end end "
      .. "require \"lunarray.mpi\"' 2>&1"))
    local text = pipe:read "a"
    pipe:close()
    assert.is_truthy(text:find("apt-get install openmpi-bin libopenmpi-dev", 1,
      true), text)
  end)
end)
