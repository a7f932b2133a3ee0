-- Lockstep: the same bits on every CPU path, at every number of threads, for
-- every operation and dtype; what is refused, and by which names.
--   LOCKSTEP=all busted spec/registry/lockstep_spec.lua   all operations, not
--   a part; LOCKSTEP=3 ... the third of PARTS parts
local la = require "lunarray"
local raises = require "spec.support.raises"
local once = require "spec.support.once"
local stock = require "spec.support.interpreter"

local PARTS = 20

-- A part that changes by the day, unless the environment asks for another.
local function share()
  local word = os.getenv "LOCKSTEP"
  if word == "all" then return "1/1" end
  local day = os.time() // 86400
  return ("%d/%d"):format(tonumber(word) or day % PARTS + 1, PARTS)
end

local function bits_of(path, mode, threads, part)
  local pipe = assert(io.popen(("LUNARRAY_CPU=%s LUA_CPATH='%s' LUA_PATH='%s' "
    .. "%s spec/support/values/lockstep_bits.lua %s %d %s 2>&1"):format(
      path, package.cpath, package.path, stock.program, mode, threads, part)))
  local list = {}
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

-- The first few lines that differ.
local function differences(want, got)
  local list = {}
  for i = 1, math.max(#want, #got) do
    if want[i] ~= got[i] then
      list[#list + 1] = ("%s | %s"):format(want[i], got[i])
    end
    if #list == 8 then break end
  end
  return table.concat(list, "\n")
end

-- In a state of its own: the mode is for good there, whatever fails.
local function in_lockstep(f)
  la.use_deterministic("lockstep")
  local ok, why = pcall(f)
  la.use_deterministic(false)
  if not ok then error(why, 0) end
end

describe("lockstep", function()
  local part = share()
  local paths = la.config().cpu_available
  if paths[1] ~= "default" then
    it("is refused without the kernels of every machine", function()
      raises("CAPS", la.use_deterministic, "lockstep")
    end)
    return
  end

  once("has the same bits on every path and number of threads (part " .. part
    .. ")", function()
    local want = bits_of("default", "lockstep", 1, part)
    assert.truthy(#want > 50, table.concat(want, "\n"))
    for i, path in ipairs(paths) do
      local got = bits_of(path, "lockstep", i == #paths and 4 or 2, part)
      assert.equal("", differences(want, got))
    end
    local extensions = bits_of("", "lockstep", 1, part)
    assert.equal("", differences(want, extensions))
  end)

  -- gcc makes fused multiply-adds of products that are joined there.
  once("holds for running products of many complex numbers", function()
    local want
    for _, path in ipairs(paths) do
      local bits = bits_of(path, "lockstep", 1, "1/1 of.units")
      want = want or bits
      assert.equal(3, #bits, table.concat(bits, "\n"))
      assert.equal("", differences(want, bits))
    end
  end)

  it("is a setting of the state", function()
    in_lockstep(function()
      assert.equal("lockstep", la.are_deterministic_algorithms_enabled())
    end)
    assert.is_false(la.are_deterministic_algorithms_enabled())
  end)

  it("runs every operation in one of four ways", function()
    local ways = {}
    for _, op in ipairs(la.operations()) do
      ways[op.lockstep] = (ways[op.lockstep] or 0) + 1
      if op.lockstep == "steps" then assert.is_true(op.composite) end
    end
    assert.truthy(ways.native > 100 and ways.baseline > 50)
    assert.truthy(ways.refused > 0 and ways.steps > 100)
    assert.truthy(la.help("add"):find("lockstep: native", 1, true))
  end)

  it("refuses what the C library computes, by name", function()
    local a = la.eye(12, {dtype = "float64"})
    in_lockstep(function()
      raises("lockstep has no bessel_j0", la.special.bessel_j0, a)
      raises("the C library", la.special.bessel_j0, a)
      -- and goes on
      assert.equal(12.0, a:sum():item())
    end)
  end)

  it("holds for derivatives, recorded programs and batches", function()
    local x = la.linspace(-3, 3, 5001)
    local function f(v) return (v * 1.25):sin() * v:exp() + v:tanh() end
    local function gradient()
      local leaf = x:clone():requires_grad_()
      f(leaf):sum():backward()
      return leaf.grad
    end
    in_lockstep(function()
      local want = la.hash(f(x))
      assert.equal(want, la.hash(la.fuse(f)(x)))
      assert.equal(want, la.hash(la.vmap(f)(x:view(-1, 1)):view(-1)))
      assert.equal(la.hash(gradient()), la.hash(gradient()))
    end)
  end)
end)
