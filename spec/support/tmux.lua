-- A program in a window of tmux: keys go in, the screen comes out.
local tmux = {}

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function output(command)
  local pipe = assert(io.popen(command .. " 2>/dev/null"))
  local text = pipe:read "a"
  pipe:close()
  return text
end

-- Is there a tmux?
function tmux.present() return output("command -v tmux") ~= "" end

local Window = {}
Window.__index = Window

-- A window of that size in which a shell command runs.
function tmux.open(command, columns, rows)
  local socket = os.tmpname()
  os.remove(socket)
  local self = setmetatable({socket = socket}, Window)
  self:tmux(("-f /dev/null new-session -d -x %d -y %d %s"):format(
    columns or 80, rows or 24, quote(command)))
  return self
end

function Window:tmux(rest)
  return output(("tmux -S %s %s"):format(self.socket, rest))
end

-- Characters as typed. tmux takes a last semicolon for its own.
function Window:type(text)
  self:tmux("send-keys -l -- " .. quote((text:gsub(";$", "\\;"))))
end

function Window:enter(text)
  self:type(text)
  self:keys "Enter"
end

-- Keys by tmux's names.
function Window:keys(names) self:tmux("send-keys " .. names) end

-- As a terminal pastes: between marks, where the program asked for them.
function Window:paste(text)
  self:tmux("set-buffer -- " .. quote(text))
  self:tmux "paste-buffer -p"
end

-- The screen as text, without blank lines at its end.
function Window:screen()
  return (self:tmux("capture-pane -p"):gsub("%s+$", ""))
end

-- The screen once 'text' is on it (a plain text); an error that shows the
-- screen when that does not come.
function Window:wait(text)
  local screen
  for _ = 1, 300 do
    screen = self:screen()
    if screen:find(text, 1, true) then return screen end
    os.execute "sleep 0.05"
  end
  error(("'%s' did not come on the screen:\n%s"):format(text, screen), 2)
end

-- Once the last line is an empty prompt: what is typed before goes to the
-- terminal's own line editing, and keys but letters are lost.
function Window:ready()
  for _ = 1, 600 do
    if self:screen():match "[^\n]*$" == ">" then return end
    os.execute "sleep 0.05"
  end
  error("no empty prompt:\n" .. self:screen(), 2)
end

function Window:close()
  self:tmux "kill-server"
  os.remove(self.socket)
end

return tmux
