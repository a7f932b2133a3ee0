-- LUNARRAY_TRACE=1: the program shows each stage of a call on its error output.
local program = require "spec.support.program"

-- The lines that a script leaves, without those of the calls before "start".
local function trace(text)
  local r = program.run("-e \"" .. text .. "\"", "", "LUNARRAY_TRACE=1")
  assert.equal(0, r.status)
  local lines = {}
  for line in r.err:gmatch("[^\n]+") do lines[#lines + 1] = line end
  return lines
end

-- The position of the first line after 'from' that begins with 'start' and
-- has 'part' in it.
local function find(lines, start, part, from)
  for i = (from or 0) + 1, #lines do
    local line = lines[i]
    if line:sub(1, #start) == start and line:find(part or "", 1, true) then
      return i
    end
  end
  error(("no line '%s ... %s' in\n%s"):format(start, part or "",
    table.concat(lines, "\n")))
end

describe("a trace", function()
  it("shows the stages of a call in their order", function()
    local lines = trace("local a = la.ones(2, 3) local b = a + la.ones(3)")
    local call = find(lines, "call", "add(Tensor self, Tensor other")
    local args = find(lines, "args",
                      "add(self=float32[2, 3], other=float32[3])", call)
    local keys = find(lines, "keys", "cpu", args)
    local kernel = find(lines, "kernel", "add, ", keys)
    local iter = find(lines, "iter", "shape=[3,2]", kernel)
    local operand = find(lines, "  in 3", "float32 strides=[4,0]", iter)
    local result = find(lines, "result", "float32[2, 3]", operand)
    for i = result + 1, #lines do
      assert.not_equal("result", lines[i]:match("^%a+"))
    end
  end)

  it("shows the coalesced shape of an iteration", function()
    local lines = trace("local a = la.ones(4, 5) "
      .. "local b = a:to('float64'):add(a)")
    find(lines, "iter", "shape=[20]")
  end)

  it("shows all of an iteration: shape, dtypes, strides, what it does",
    function()
      -- The lines of the iterations behind 'text', as one text.
      local function iterations(text)
        local out, inside = {}, false
        for _, line in ipairs(trace("local a = la.ones(4, 5) local i = "
          .. "la.ones(4, 5, {dtype = 'int32'}) " .. text)) do
          inside = line:find("^iter ") or inside and line:find("^  ")
          if inside then out[#out + 1] = line end
        end
        return table.concat(out, "\n")
      end
      assert.equal("iter shape=[5,4] numel=20 common=float32 coalesced casts\n"
        .. "  out 1: float32 strides=[4,20] allocated\n"
        .. "  in 2: int32 as float32 strides=[4,20]\n"
        .. "  in 3: float32 strides=[4,0]",
        iterations("local b = i:t() + a[{1, {1, 5}}]:view(5, 1)"))
      assert.equal("iter shape=[20] numel=20 common=float32 coalesced casts\n"
        .. "  out 1: float32 strides=[4] read-write\n"
        .. "  in 2: float32 strides=[4]\n"
        .. "  in 3: int32 as float32 strides=[4]", iterations("a:add_(i)"))
      assert.equal("iter shape=[20] numel=20 common=float32 coalesced casts\n"
        .. "  out 1: float32 strides=[4] resized\n"
        .. "  in 2: float32 strides=[4]\n"
        .. "  in 3: int32 as float32 strides=[4]",
        iterations("la.add(a, i, {out = la.empty(0)})"))
      assert.equal("iter shape=[300,200] numel=60000 common=float32 inner=1 "
        .. "reduction coalesced\n"
        .. "  out 1: float32 strides=[0,4]\n"
        .. "  in 2: float32 strides=[4,1200]",
        (iterations("local s = la.ones(200, 300):sum(2)")
          :match("iter [^\n]*reduction.*")))
    end)

  it("shows that a node of the graph is recorded", function()
    local lines = trace("local a = la.ones(3, {requires_grad = true}); "
      .. "local c = a * 2")
    local call = find(lines, "call", "mul(")
    find(lines, "keys", "Autograd", call)
    find(lines, "graph", "node of mul, 2 edges", call)
  end)

  it("shows the plan of a fused pass", function()
    local lines = trace("local f = la.fuse(function(x) "
      .. "return (x * 2 + 1):tanh() end) f(la.ones(2000)) f(la.zeros(2000))")
    local call = find(lines, "call", "zeros(")
    find(lines, "fuse", "pass of ", call)
  end)

  it("is silent when the variable is not set, or 0", function()
    assert.equal("", program.run("-e 'local a = la.ones(3) + 1'").err)
    assert.equal("", program.run("-e 'local a = la.ones(3) + 1'", "",
                                 "LUNARRAY_TRACE=0").err)
  end)
end)
