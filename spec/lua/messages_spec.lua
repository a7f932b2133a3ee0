-- Errors are safe to show, say who speaks, and name what is at fault.
local la = require "lunarray"
local modules = require "spec.support.modules"
local program = require "spec.support.program"
local raises = require "spec.support.raises"

-- What a terminal would obey, and far too much of it.
local HOSTILE = "\27[31mred\7\0\127\255" .. ("x"):rep(5000)

-- {{type, name}, ...} of a signature.
local function parameters(signature)
  local list = {}
  for part in signature:match("%((.-)%) %->"):gmatch("[^,]+") do
    local kind, name = part:match("^%s*(%S+)%s+([%w_]+)")
    if kind then list[#list + 1] = {kind, name} end
  end
  return list
end

local values = {
  Tensor = function(n) return la.ones(table.unpack({3, 3, 3, 3}, 1, n)) end,
  Array = function(n) return la.ones(table.unpack({3, 3, 3, 3}, 1, n)) end,
  ["Tensor[]"] = function() return {la.ones(3, 3), la.ones(3, 3)} end,
  int = function() return 2 end, float = function() return 0.5 end,
  Scalar = function() return 0.5 end, bool = function() return true end,
  dim = function() return 1 end, index = function() return 1 end,
}

-- Signatures as the rows have them, which count dims and indices from zero, by
-- name: texts of C that stand one behind another are one.
local function written_signatures()
  local by_name = {}
  for path in io.popen "ls src/op/def/*.def modules/*/ops.def":lines() do
    local file = assert(io.open(path))
    local all = file:read("a"):gsub('"%s*\n%s*"', "")
    file:close()
    for signature in all:gmatch '"([%w_.]+%([^"]*%) %-> [^"]+)"' do
      by_name[signature:match "^[^(]+"] = signature
    end
  end
  return by_name
end

-- Numbers of the defaults of dims and indices one more, where they count from
-- the start.
local function from_one(signature)
  local head, inner, rest = signature:match "^([^(]+)(%b())(.*)$"
  inner = inner:gsub("%b[]", function(list) return (list:gsub(",", "\1")) end)
  inner = inner:gsub("[^,()]+", function(parameter)
    local kind = parameter:match "^ ?(%l+)"
    if kind ~= "dim" and kind ~= "index" then return end
    return (parameter:gsub("=.*", function(default)
      return (default:gsub("%-?%d+", function(n)
        return n:find "^%-" and n or tostring(math.tointeger(n) + 1)
      end))
    end))
  end)
  return head .. inner:gsub("\1", ",") .. rest
end

describe("a signature", function()
  it("counts dims and indices from one, and nothing else", function()
    local rows, tried = written_signatures(), 0
    for _, op in ipairs(la.operations()) do
      local row = rows[op.signature:match "^[^(]+"]
      if row then
        tried = tried + 1
        assert.equal(from_one(row), op.signature)
      end
    end
    assert.is_true(tried > 500, tried)
  end)
end)

-- An object whose name and text are hostile.
local OBJECT = setmetatable({}, {__name = HOSTILE,
                                 __tostring = function() return HOSTILE end})

-- What a call says that fails: no byte that a terminal obeys, and short.
local function is_safe(what, ok, text)
  if ok then return end
  text = tostring(text)
  assert.is_nil(text:find("[%z\1-\9\11-\31\127-\255]"), what .. ": " .. text)
  assert.truthy(#text < 900, what .. ": " .. #text .. " bytes")
end

describe("a text of a user in an error", function()
  it("is escaped and clipped, for an object in each position", function()
    local tried = 0
    for _, op in ipairs(la.operations()) do
      local list, f = parameters(op.signature), la
      for word in op.name:gmatch("[^.]+") do f = type(f) ~= "function" and f
        and f[word] or nil end
      for at, one in ipairs(f and list or {}) do
        local arguments = {}
        for k, p in ipairs(list) do
          local make = values[p[1]:gsub("%?$", "")]
          arguments[p[2]] = k == at and OBJECT or make and make(2) or nil
        end
        is_safe(op.name .. " " .. one[2], pcall(f, arguments))
        is_safe(op.name .. " " .. at, pcall(f, table.unpack(
          {la.ones(3, 3), [at] = OBJECT}, 1, at)))
        is_safe(op.name .. " list", pcall(f, table.unpack(
          {la.ones(3, 3), [at] = {OBJECT}}, 1, at)))
        tried = tried + 1
      end
    end
    assert.truthy(tried > 1000, tried)
    local x = la.ones(2, 3)
    for k, f in ipairs {
      function() return x + OBJECT end, function() return OBJECT * x end,
      function() return x[OBJECT] end, function() x[1] = OBJECT end,
      function() return x[{1, OBJECT}] end, function() x[OBJECT] = 1 end,
      function() return la.tensor{1, OBJECT} end,
      function() return la.tensor{1, [OBJECT] = 1} end,
      function() return la.tensor({1}, {[OBJECT] = 1}) end,
      function() return la.load("/no/such/x.npy", {limit = OBJECT}) end,
      function() return la.load(OBJECT) end,
      function() return la.save(OBJECT, "/no/such/x.npz") end,
      function() return la.save({OBJECT}, "/no/such/x.npz") end,
      function() return la.snapshot{[OBJECT] = 1, 2} end,
      function() return la.snapshot{la.ones(1), OBJECT} end,
      function() return la.from_raw(OBJECT, "float32", {1}) end,
      function() return la.grad(OBJECT, OBJECT) end,
      function() return x:to(OBJECT) end, function() return x:sum(OBJECT) end,
      function() return x:register_hook(OBJECT) end,
      function() return la.set_printoptions(OBJECT) end,
      function() return la.set_printoptions{precision = OBJECT} end,
      function() return la.Generator(OBJECT) end,
      function() return la.manual_seed(OBJECT) end,
      function() return la.finfo(OBJECT) end,
      function() return la.zeros(2, {device = OBJECT, dtype = OBJECT}) end,
      function() return la.vmap(OBJECT) end,
      function() return la.set_num_threads(OBJECT) end,
    } do
      is_safe(k, pcall(f))
    end
  end)

  it("is escaped and clipped, for each string of each operation", function()
    local reached, tried = 0, 0
    for _, op in ipairs(la.operations()) do
      local list, f = parameters(op.signature), la
      for word in op.name:gmatch("[^.]+") do f = type(f) ~= "function" and f
        and f[word] or nil end
      for at, one in ipairs(f and list or {}) do
        local seen = false
        for n = 1, one[1]:find("^str") and 4 or 0 do
          local arguments, count = {}, 0
          for k, p in ipairs(list) do
            local make = values[p[1]:gsub("%?$", "")]
            if k == at then arguments[p[2]] = HOSTILE
            elseif make and not p[1]:find("?", 1, true) then
              arguments[p[2]] = make(n)
            end
            count = k
          end
          local ok, text = pcall(f, arguments)
          assert.truthy(count > 0)
          if not ok then
            assert.is_nil(text:find("[%z\1-\9\11-\31\127-\255]"),
                          op.name .. ": " .. text)
            assert.truthy(#text < 800, op.name .. ": " .. #text .. " bytes")
            seen = seen or text:find("\\x1B[31mred", 1, true) ~= nil
          end
        end
        if one[1]:find("^str") then
          tried = tried + 1
          reached = reached + (seen and 1 or 0)
        end
      end
    end
    assert.truthy(tried > 20, tried)
    assert.truthy(reached > tried * 0.6, reached .. " of " .. tried)
  end)

  it("is escaped by the modules in Lua", function()
    local nn, optim = require "lunarray.nn", require "lunarray.optim"
    local calls = {
      function() nn.Linear(2, 2, {[HOSTILE] = 1}) end,
      function() return nn.init.calculate_gain(HOSTILE) end,
      function() optim.SGD({la.ones(1)}, {[HOSTILE] = 1, lr = 1}) end,
      function() la.describe(HOSTILE) end,
    }
    if modules.has "signal" then
      calls[#calls + 1] = function() la.signal.butter(2, 0.2, HOSTILE) end
    end
    for _, f in ipairs(calls) do
      local text = raises(nil, f)
      assert.is_nil(text:find("[%z\1-\9\11-\31\127]"), text)
    end
  end)
end)

describe("an error", function()
  it("names its function where Lua knows no name", function()
    raises("'set_grad_enabled'", la.set_grad_enabled, 1)
    raises("'set_printoptions'", la.set_printoptions, 1)
    raises("'Function'", la.Function, 1)
    local hook = la.ones(1):requires_grad_():register_hook(print)
    raises("'remove'", hook.remove, 1)
  end)

  it("names the dim of the tensor that was indexed", function()
    local x = la.zeros(3, 4, 2)
    raises("dimension 2 with size 4", function() return x[{1, 5}] end)
    raises("dimension 3 with size 2", function() return x[{1, {}, 3}] end)
    raises("dimension 3 with size 2", function() return x[{1, 1, 3}] end)
    raises("dimension 3 with size 2", function() return x[{{2, 3}, 2, 3}] end)
    raises("dimension 2 with size 4", function()
      return x[{la.tensor{1, 2}, 5}]
    end)
    raises("dimension 2 with size 4", function() x[{1, 5}] = 1 end)
    raises("dimension 1 with size 3", function() return x[4] end)
  end)

  it("does not pass over arguments that nobody takes", function()
    local calls = {finfo = {"float32"}, iinfo = {"int8"},
      can_cast = {"int8", "int8"}, promote_types = {"int8", "int8"},
      isdtype = {"int8", "int8"}, get_default_dtype = {},
      set_default_dtype = {la.get_default_dtype()}, get_num_threads = {},
      set_num_threads = {la.get_num_threads()}, cpu_capability = {},
      is_grad_enabled = {}, set_grad_enabled = {la.is_grad_enabled()},
      is_complex = {la.ones(1)}, is_floating_point = {la.ones(1)}}
    for name, arguments in pairs(calls) do
      la[name](table.unpack(arguments))
      for _, more in ipairs {7, {nonsense = 1}} do
        local n = #arguments + 1
        arguments[n] = more
        raises("'" .. name .. "' (at most", la[name], table.unpack(arguments))
        arguments[n] = nil
      end
    end
  end)

  it("says that grad has nothing to do", function()
    local x = la.ones(1):requires_grad_()
    raises("grad requires non-empty inputs", la.grad, x * 2, {})
  end)

  modules.needing("csv", it)("quotes what stands behind a closing quote of a "
    .. "CSV file", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "wb"))
    file:write('a,b\n"x"\27,2\n')
    file:close()
    raises("'\\x1B' behind a closing quote", la.read_csv, path)
    os.remove(path)
  end)
end)

describe("the prompt", function()
  it("goes on when all globals are gone", function()
    local r = program.run("-i", "local G, out = _G, io "
      .. "for k in next, G do if k ~= 'out' then G[k] = nil end end\n"
      .. "1 + 1\nnil + 1\n:who\n40 + 2\nout.write('alive')\n",
      "timeout 20")
    assert.same(0, r.status)
    assert.truthy(r.out:find("2\n", 1, true) and r.out:find("42", 1, true)
                  and r.out:find("alive", 1, true), r.out .. r.err)
  end)
end)
