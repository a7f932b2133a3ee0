-- lunarray.kernel: "lunarray kernel install" makes Jupyter know lunarray, and
-- "lunarray kernel run" is the child that its kernel runs cells in.
local la = require "lunarray"

local kernel = {}

local USAGE = [[
usage: lunarray kernel install [options]
  --user            for this user (as without options)
  --prefix=DIR      below DIR/share/jupyter
  --name=NAME       the kernel's folder (lunarray)
  --title=TEXT      what notebooks show (lunarray)
  --python=PROGRAM  the Python that has ipykernel (python3)
Jupyter starts the kernel by that Python, which needs the package ipykernel.
]]

-- ---- where ----

local function user_folder()
  local own, data = os.getenv "JUPYTER_DATA_DIR", os.getenv "XDG_DATA_HOME"
  if own and own ~= "" then return own end
  local user = os.getenv("HOME")
  if not user or user == "" then
    return nil, "no folder of the user is known: use --prefix"
  end
  local mac = io.open(user .. "/Library/Preferences", "r")
  if mac then
    mac:close()
    return user .. "/Library/Jupyter"
  end
  if data and data ~= "" then return data .. "/jupyter" end
  return user .. "/.local/share/jupyter"
end

-- The program by its whole path, where it was called by a path.
local function program()
  local path, k = nil, 0
  while arg and arg[k] do path, k = arg[k], k - 1 end
  path = path or "lunarray"
  if path:find "^/" or not path:find "/" then return path end
  return (os.getenv "PWD" or ".") .. "/" .. path
end

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function json(text)
  return '"' .. text:gsub('[%c"\\]', function(c)
    return ("\\u%04x"):format(c:byte())
  end) .. '"'
end

local function write(path, text)
  local file, why = io.open(path, "wb")
  if not file then return nil, why end
  local ok, problem = file:write(text)
  local closed, other = file:close()
  if ok and closed then return true end
  return nil, ("%s: %s"):format(path, problem or other)
end

-- ---- install ----

local OPTIONS = {prefix = true, name = true, title = true, python = true}

local function read_options(list)
  local o = {}
  for _, word in ipairs(list) do
    local key, value = word:match "^%-%-(%l+)=(.+)$"
    if key and OPTIONS[key] then o[key] = value
    elseif word ~= "--user" then
      return nil, ("unknown option '%s'\n%s"):format(word, USAGE)
    end
  end
  if o.name and not o.name:find "^[%w._-]+$" then
    return nil, "--name: letters, digits, '.', '_' and '-' expected"
  end
  return o
end

-- Writes the kernel's folder: its path, or nil and why not.
function kernel.install(list)
  local o, problem = read_options(list)
  if not o then return nil, problem end
  local base, why = o.prefix and o.prefix .. "/share/jupyter", nil
  if not base then base, why = user_folder() end
  if not base then return nil, why end
  local folder = base .. "/kernels/" .. (o.name or "lunarray")
  if not os.execute("mkdir -p " .. quote(folder)) then
    return nil, "cannot make " .. folder
  end
  local script = folder .. "/lunarray_kernel.py"
  local text = require "lunarray.kernel.python"
  text = text:gsub("@VERSION@", (la._VERSION:gsub("^%D*", "")))
  local ok
  ok, why = write(script, text)
  if not ok then return nil, why end
  ok, why = write(folder .. "/kernel.json", ([[{
  "argv": [%s, %s, "-f", "{connection_file}"],
  "display_name": %s,
  "language": "lua",
  "interrupt_mode": "signal",
  "env": {"LUNARRAY_PROGRAM": %s}
}
]]):format(json(o.python or "python3"), json(script),
    json(o.title or "lunarray"), json(program())))
  if not ok then return nil, why end
  return folder
end

-- ---- the program's word "kernel" ----

local function run(terminal, from, to)
  local input, output = io.open(from or "", "rb"), io.open(to or "", "wb")
  if not (input and output) then
    return nil, "run: two files for requests and answers expected"
  end
  require "lunarray.kernel.session".run(terminal, input, output)
  return true
end

-- True when all went well; what went wrong is on standard error.
function kernel.main(terminal, command, ...)
  local result, problem
  if command == "install" then
    result, problem = kernel.install{...}
    if result then print("the kernel is in " .. result) end
  elseif command == "run" and select("#", ...) == 2 then
    result, problem = run(terminal, ...)
  else
    io.stderr:write(USAGE)
    return command == "--help"
  end
  if not result then io.stderr:write("lunarray kernel: ", problem, "\n") end
  return result ~= nil
end

return kernel
