-- Arguments that nobody takes are errors: every function and method in C that
-- an example of the help calls is called once more, with arguments behind those
-- of the example.
local la = require "lunarray"
local rows = require "lunarray.help.rows"
local reach = require "spec.support.reach"

-- These hand further arguments on to the function that they call ...
local HAND_ON = {"autograd.detect_anomaly", "autograd.no_grad", "la.fork_rng",
  "la.inference_mode", "la.profile", "la.tidy", "onnx.trace", "parallel.run"}
-- ... these are functions of Lua modules, loaded when they are called: as Lua's
-- own, they drop what they do not name. These addresses are used up.
local IN_LUA = {"autograd.checkpoint", "autograd.hessian", "autograd.hvp",
  "autograd.jacobian", "autograd.jvp", "autograd.vjp",
  "la.__array_namespace_info__", "la.progress", "la.scan", "x:describe",
  "x:summary"}
local ADDRESSES = {"la.from_dlpack"}

-- Functions in C by what they are called.
local function known_functions()
  local names = {}
  local function add(prefix, t)
    for name, f in pairs(t) do
      if type(f) == "function" and debug.getinfo(f, "S").what == "C" then
        names[f] = names[f] or prefix .. name
      end
    end
  end
  add("x:", reach.methods())
  for name, theme in pairs(la) do
    if type(theme) == "table" and name:find("^%l+$") then
      add(name .. ".", theme)
    end
  end
  add("la.", la)
  return names
end

-- The arguments of the first call of each function while the chunk runs.
local function record(names, calls, chunk)
  local function note()
    local f = debug.getinfo(2, "f").func
    if not names[f] or calls[f] then return end
    local args = {n = 0}
    while true do
      local name, value = debug.getlocal(2, args.n + 1)
      if not name then break end
      args.n = args.n + 1
      args[args.n] = value
    end
    calls[f] = args
  end
  debug.sethook(note, "c")
  pcall(chunk)
  debug.sethook()
end

local function calls_of_examples(names)
  local calls = {}
  for _, row in ipairs(rows.all().list) do
    local env = setmetatable({la = la, print = function() end}, {__index = _G})
    for _, step in ipairs(row.family == "mpi" and {} or row.entry.example) do
      local chunk = load("return " .. step.code, "=step", "t", env)
        or load(step.code, "=step", "t", env)
      if chunk then record(names, calls, chunk) end
    end
  end
  return calls
end

-- What the examples write lies in this folder.
local function files_here()
  local names = {}
  local pipe = assert(io.popen "ls")
  for name in pipe:lines() do names[name] = true end
  pipe:close()
  return names
end

describe("arguments behind the last", function()
  local before
  setup(function() before = files_here() end)
  teardown(function()
    for name in pairs(files_here()) do
      if not before[name] then os.remove(name) end
    end
  end)

  it("are errors in every function that the help shows", function()
    local names, count, taken = known_functions(), 0, {}
    local threads, left_out = la.get_num_threads(), {}
    for _, list in ipairs{HAND_ON, IN_LUA, ADDRESSES} do
      for _, name in ipairs(list) do left_out[name] = true end
    end
    for f, args in pairs(calls_of_examples(names)) do
      local more = table.pack(table.unpack(args, 1, args.n))
      for k = 1, 8 do more[args.n + k] = io.stdout end
      if not left_out[names[f]] then
        count = count + 1
        if pcall(f, table.unpack(more, 1, args.n + 8)) then
          taken[#taken + 1] = names[f]
        end
      end
    end
    la.set_num_threads(threads)
    la.set_default_dtype("float32")
    la.set_grad_enabled(true)
    la.use_deterministic(false)
    la.set_printoptions{profile = "default"}
    assert.same({}, taken)
    assert.is_true(count > 700)
  end)

  it("are errors in every method of what is no tensor", function()
    local step = la.compile(function(x) return x + 1 end)
    step(la.ones(2))
    local path = os.tmpname()
    la.save(step, path .. ".laprog")
    local context
    local f = la.Function{forward = function(ctx, x)
      context = ctx
      return x * 1
    end, backward = function(_, g) return g end}
    f(la.ones(1))
    local objects = {la.Generator(), la.snapshot{la.ones(1)}, step,
      step:program(), la.ones(1):storage(), la.load(path .. ".laprog"), context,
      la.ones(1):requires_grad_():register_hook(print)}
    os.remove(path)
    os.remove(path .. ".laprog")
    local hands_on = {profile = true, into = true, begin = true,
                      save_for_backward = true}
    local count, taken = 0, {}
    for _, object in ipairs(objects) do
      local index = debug.getmetatable(object).__index
      for name, method in pairs(type(index) == "table" and index or {}) do
        local more = {object}
        for k = 2, 9 do more[k] = io.stdout end
        local is_c = type(method) == "function"
          and debug.getinfo(method, "S").what == "C"
        count = count + (is_c and 1 or 0)
        if is_c and not hands_on[name]
           and pcall(method, table.unpack(more)) then
          taken[#taken + 1] = debug.getmetatable(object).__name .. "." .. name
        end
      end
    end
    assert.same({}, taken)
    assert.is_true(count >= 20)
  end)

  it("are refused with their number", function()
    local _, text = pcall(la.seed, 1)
    assert.equal("bad argument #1 to 'seed' (at most 0 arguments expected, got "
      .. "1)", text)
    _, text = pcall(la.ones(2).dim, la.ones(2), 1, 2)
    assert.equal("bad argument #2 to 'dim' (at most 1 arguments expected, got "
      .. "3)", text)
  end)
end)
