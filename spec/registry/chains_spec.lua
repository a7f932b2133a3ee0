-- Random programs (spec/support/chains.lua): on views and on copies alone, with
-- and without la.fuse, with one thread and with two, on every CPU capability.
-- With gradients (spec/support/gradient_chains.lua) also against differences.
-- CHAINS=20000 runs as many, CHAINS_FIRST=n begins with seed n.
local la = require "lunarray"
local chains = require "spec.support.chains"
local gradient_chains = require "spec.support.gradient_chains"
local once = require "spec.support.once"
local stock = require "spec.support.interpreter"

local COUNT = tonumber(os.getenv "CHAINS" or "") or 400
local FIRST = tonumber(os.getenv "CHAINS_FIRST" or "") or 1

local function options(seed)
  return {large = seed % 50 == 0, exact = seed % 3 == 0}
end

local function disagreement(p, results)
  for k, want in ipairs(p.vars) do
    local got = results[k]
    if chains.bits(want) ~= chains.bits(got) then
      return ("variable %d: %s, want %s"):format(k, got, want)
    end
    for d = 1, want.ndim do
      if want:stride(d) ~= got:stride(d) then
        return ("variable %d: stride %d, want %d"):format(k, got:stride(d),
          want:stride(d))
      end
    end
  end
end

-- nil, or the seed, the way and the program.
local function fault_of(seed)
  local p, why = chains.run(seed, options(seed))
  if not p then return ("%d on copies: %s"):format(seed, why) end
  local threads = la.get_num_threads()
  local ways = {fused = function() return la.fuse(chains.replay)(p) end}
  if options(seed).large then
    ways["one thread"] = function()
      la.set_num_threads(1)
      return chains.replay(p)
    end
    ways["two threads, fused"] = function()
      la.set_num_threads(2)
      return la.fuse(chains.replay)(p)
    end
  end
  for name, f in pairs(ways) do
    local results = table.pack(pcall(f))
    la.set_num_threads(threads)
    why = not results[1] and tostring(results[2])
      or disagreement(p, {table.unpack(results, 2, results.n)})
    if why then return ("%d %s: %s\n%s"):format(seed, name, why, p.text) end
  end
end

local function hashes(capability, first, last, exact)
  local pipe = assert(io.popen(("LUNARRAY_CPU=%s LUA_CPATH='%s' LUA_PATH='%s' "
    .. "%s spec/support/chains.lua %d %d %s 2>&1"):format(capability,
    package.cpath, package.path, stock.program, first, last,
    exact and "exact" or "")))
  local text = pipe:read "a"
  pipe:close()
  return text
end

describe("chains of operations", function()
  it("give the same bits on views and copies, fused and not", function()
    local faults = {}
    for seed = FIRST, FIRST + COUNT - 1 do
      faults[#faults + 1] = fault_of(seed)
      if #faults == 3 then break end
    end
    assert.equal("", table.concat(faults, "\n\n"))
  end)

  once("give the same bits on every CPU capability", function()
    local last = FIRST + COUNT // 4
    local best = la.cpu_capability()
    if best == "default" then return end
    assert.equal(hashes(best, FIRST, last, true),
      hashes("default", FIRST, last, true))
    assert.equal(hashes(best, FIRST, last), hashes("avx2", FIRST, last))
  end)

  it("have the gradients of copies, and those that differences find",
    function()
      local faults, checked, refused = {}, 0, 0
      for seed = FIRST, FIRST + COUNT - 1 do
        local p, why = gradient_chains.run(seed)
        faults[#faults + 1] = why
        if p.checked then checked = checked + 1 end
        if p.changed then refused = refused + 1 end
        if #faults == 3 then break end
      end
      assert.equal("", table.concat(faults, "\n\n"))
      assert.is_true(COUNT < 100 or checked > COUNT // 6)
      assert.is_true(COUNT < 100 or refused < COUNT // 4)
    end)
end)
