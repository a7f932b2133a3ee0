-- Runs the program `lunarray` on given input and tells what came out.
local program = {}

program.path = os.getenv("LUNARRAY_PROGRAM") or "build/lunarray"

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

-- { out, err, status } of the program with 'arguments' (shell text) and
-- 'input' on its standard input. 'prefix' stands before the command.
function program.run(arguments, input, prefix)
  local base = os.tmpname()
  local stdin, out, err = base .. ".in", base .. ".out", base .. ".err"
  write(stdin, input or "")
  local _, _, status = os.execute(("%s %s %s <%s >%s 2>%s"):format(
    prefix or "", program.path, arguments, stdin, out, err))
  local result = {out = read(out), err = read(err), status = status}
  for _, path in ipairs({base, stdin, out, err}) do os.remove(path) end
  return result
end

return program
