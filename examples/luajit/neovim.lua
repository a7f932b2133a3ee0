-- Neovim: the command :Fit draws a straight line through the numbers of a
-- buffer ("x y" in each line) and shows how far each line is from it, as text
-- behind the line. For a try without a window:
--   nvim --headless -u NONE -c "luafile examples/luajit/neovim.lua" \
--     -c "edit points.txt" -c Fit -c "w! fitted.txt" -c qa!
-- lunarray.ffi is found in the sources or, installed, on LuaJIT's path.
package.path = "luajit/?.lua;lua/?.lua;" .. package.path
local la = require "lunarray.ffi"

local space = vim.api.nvim_create_namespace "lunarray"

local function fit()
  local rows, at = {}, {}
  for i, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local x, y = line:match "^%s*(%S+)%s+(%S+)"
    if tonumber(x) and tonumber(y) then
      rows[#rows + 1], at[#at + 1] = {tonumber(x), tonumber(y)}, i - 1
    end
  end
  if #rows < 2 then error("Fit: two points at least", 0) end
  -- What is made in here is freed at its end, and none of it waits for the
  -- editor's collector.
  la.tidy(function()
    local points = la.tensor(rows, {dtype = "float64"})
    local x, y = points[{{}, 1}], points[{{}, 2}]
    local left = la.stack({x, la.ones_like(x)}, 2)
    local line = la.linalg.lstsq(left, y:unsqueeze(2))
    local slope, height = line[1]:item(), line[2]:item()
    local off = (y - x * slope - height):totable()
    vim.api.nvim_buf_clear_namespace(0, space, 0, -1)
    for k, row in ipairs(at) do
      vim.api.nvim_buf_set_extmark(0, space, row, 0,
        {virt_text = {{("%+.3f"):format(off[k]), "Comment"}}})
    end
    vim.api.nvim_buf_set_lines(0, -1, -1, false,
      {("# y = %.3f x %+.3f"):format(slope, height)})
  end)
end

vim.api.nvim_create_user_command("Fit", fit, {})
