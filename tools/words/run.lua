-- Runs the examples of words as a prompt would: one step after the other, each
-- a chunk; values of expressions are shown.
local la = require "lunarray"
local pretty = require "lunarray.repl.pretty"

local run = {}

local COLUMNS = 75

local function plain(_, text) return text end

-- What an example finds: the library, its modules and what Lua has.
local function new_environment(print_to, needs)
  local env = setmetatable({la = la, print = print_to}, {__index = _G})
  for _, name in ipairs{"nn", "optim", "data", "plot"} do
    env[name] = require("lunarray." .. name)
  end
  if needs == "mpi" then env.mpi = require "lunarray.mpi" end
  return env
end

local threads = la.get_num_threads()

-- The same state for every example.
local function reset()
  la.set_num_threads(threads)
  la.manual_seed(1)
  la.set_default_dtype("float32")
  la.set_printoptions {profile = "default"}
  la.set_printoptions {linewidth = COLUMNS}
  la.use_deterministic(false)
  la.set_grad_enabled(true)
end

local function compile(code, env)
  local f = load("return " .. code, "=stdin", "t", env)
  if f then return f end
  return load(code, "=stdin", "t", env)
end

-- The output of one step: its prints, its values, or its error.
local function step_output(code, env, printed)
  local f, message = compile(code, env)
  if not f then return message end
  local results = table.pack(pcall(f))
  if not results[1] then
    printed[#printed + 1] = tostring(results[2]):gsub("\nstack traceback.*", "")
  elseif results.n > 1 then
    local texts = {}
    for k = 2, results.n do
      texts[k - 1] = pretty.text(results[k], {width = COLUMNS, style = plain})
    end
    printed[#printed + 1] = table.concat(texts, "\t")
  end
  local text = table.concat(printed, "\n"):gsub("\t", "    ")
  return (text:gsub(" +%f[\n\0]", ""):gsub("\n+$", ""))
end

-- The outputs of the steps of an entry's example, as a list of texts.
function run.example(entry)
  local outputs, printed = {}, nil
  local env = new_environment(function(...)
    local texts = {}
    for k = 1, select("#", ...) do texts[k] = tostring((select(k, ...))) end
    printed[#printed + 1] = table.concat(texts, "\t")
  end, entry.needs)
  reset()
  for k, step in ipairs(entry.example) do
    printed = {}
    outputs[k] = step_output(step.code, env, printed)
  end
  reset()
  return outputs
end

-- Can the example run here? "mpi", or a module; a text says what is missing.
-- MPI begins where it is asked for: it has processes and output of its own.
function run.lacks(needs)
  if not needs then return nil end
  if needs == "mpi" then
    return not os.getenv "LUNARRAY_WORDS_MPI" and "not run by mpirun" or nil
  end
  for _, name in ipairs(la.config().modules) do
    if name == needs then return nil end
  end
  return needs:find(" ", 1, true) and needs or "no module " .. needs
end

return run
