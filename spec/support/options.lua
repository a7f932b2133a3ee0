-- options(program, defaults): the program's arguments, "--name value", as a
-- table over the defaults; numbers where they read as such. Anything else ends
-- the program with a line that says so.
return function(program, option)
  local i = 1
  while arg[i] do
    local name = arg[i]:match("^%-%-(%a+)$")
    if not name or option[name] == nil or not arg[i + 1] then
      io.stderr:write(program, ": unknown option ", arg[i], "\n")
      os.exit(2)
    end
    option[name] = tonumber(arg[i + 1]) or arg[i + 1]
    i = i + 2
  end
  return option
end
