-- lunarray.profile.commands: ":profile" at the prompt.
local la = require "lunarray"

-- The file of single calls, in the current folder.
local TRACE = "lunarray-trace.json"

-- A line of what was entered shows itself, others their file and number.
local function show_line(prompt, line)
  local name, n = line:match "^(stdin[%[%]%d]*):(%d+)$"
  local text = name and prompt.sources["=" .. name]
  if not text then return #line > 36 and "..." .. line:sub(-33) or line end
  for _ = 2, n do text = text:gsub("^[^\n]*\n", "", 1) end
  text = text:match "^%s*([^\n]*)":gsub("^:%a+%s*", "")
  local stop = utf8.offset(text, 34)
  return stop and stop <= #text and text:sub(1, stop - 1) .. "..." or text
end

return function(command, compile)
  command("profile", "code", "run it once: time and memory of each operation "
    .. "and line", function(p, rest)
      local f = compile(p, rest, "profile")
      collectgarbage()
      local results = table.pack(la.profile(f))
      local profile = table.remove(results, 1)
      results.n = results.n - 1
      if results[1] ~= nil then p:show(results, true) end
      p:say(profile:table(nil, function(line) return show_line(p, line) end))
      local ok, path = pcall(profile.save, profile, TRACE)
      p:say(p:style("dim", ok and path
        .. ": for chrome://tracing or ui.perfetto.dev" or path))
    end)
end
