-- What the parts of the suite (spec/run.lua) share: what has passed and failed
-- so far, sections of the log, commands of the shell.
local tally = {passed = 0, failed = 0}

function tally.count(passed, failed)
  tally.passed = tally.passed + passed
  tally.failed = tally.failed + failed
end

function tally.headline(text)
  print("== " .. text)
  io.stdout:flush()
end

-- The output of a shell command, whether it succeeded, and its status.
function tally.capture(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read("a")
  local ok, _, status = pipe:close()
  return text, ok == true, status
end

return tally
