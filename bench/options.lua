-- options(program, defaults [, flags]): the program's arguments as a table,
-- "--name value" over the defaults and "--name" for the flags. Anything else
-- ends the program with a line that says so.
return function(program, option, flags)
  local i = 1
  while i <= #arg do
    local name = arg[i]:match("^%-%-(%a+)$")
    local value = name and flags and flags[name] or arg[i + 1]
    if not name or not value then
      io.stderr:write(program, ": unknown argument ", arg[i], "\n")
      os.exit(2)
    end
    option[name] = value
    i = i + (value == true and 1 or 2)
  end
  return option
end
