-- Random programs for la.compile: functions of operations, as text. A line is
-- run when it is drawn, so that sizes fit; what raises is left out.
--
-- draw.program(seed) gives {seed, setup, args, body, between, result}: lists of
-- lines of Lua over
--   w      what the function captures: tensors w.c1, w.c2, ..., w.generator,
--          w.net and w.opt
--   v      its variables; v[1], v[2], ... are its arguments
--   k      the number of the call, from 1, of which arguments depend
-- setup makes w, args[i] is an expression of argument i, body fills v, result
-- is what it returns. between[n] is run before call n + 1.
local la = require "lunarray"
local chains = require "spec.support.chains"
local rows = require "spec.support.programs.rows"
local steps = require "spec.support.programs.steps"
local values = require "spec.support.programs.values"

local draw_program = {}

local LARGEST = 5000        -- elements of a variable
local DTYPES = {"float32", "float32", "float32", "float32", "float64",
  "float64", "int64", "int32", "bool", "float16", "bfloat16", "uint8",
  "complex64"}

local all_rows = rows.all()

-- ---- the program while it is drawn ----

local P = {}
P.__index = P

-- Run a line; true, or false and the error.
function P:try(line)
  local f = load("local la, nn, optim, T, w, v, k = ... " .. line, line, "t")
  if not f then return false end
  return pcall(f, la, values.nn, values.optim, values.T, self.w, self.v, 1)
end

-- The result of an expression.
function P:eval(text)
  local ok, value = self:try("return " .. text)
  return ok and value or nil
end

-- Keep a line where it runs. Variables that grow too large are taken back.
function P:add(list, line, makes)
  local ok = self:try(line)
  if not ok then return false end
  if makes then
    local t = self.v[makes]
    if not values.is_tensor(t) or t:numel() > LARGEST then
      self.v[makes] = nil
      return false
    end
  end
  list[#list + 1] = line
  return true
end

-- A new variable from an expression: its number, or nil.
function P:let(text)
  local n = self.n + 1
  if not self:add(self.body, ("v[%d] = %s"):format(n, text), n) then return end
  self.n = n
  return n
end

function P:line(text) return self:add(self.body, text) end

-- Name and tensor of a variable or captured tensor for which 'fits' holds;
-- newer ones more often. nil where there is none.
function P:pick(fits)
  local list = {}
  for n = 1, self.n do
    local t = self.v[n]
    if t and (not fits or fits(t)) then
      list[#list + 1] = {("v[%d]"):format(n), t}
    end
  end
  local newest = #list
  for n = 1, self.captured do
    local t = self.w["c" .. n]
    if t and (not fits or fits(t)) then list[#list + 1] = {"w.c" .. n, t} end
  end
  if #list == 0 then return end
  local at = self.draw(#list)
  if newest > 0 and self.draw(3) == 1 then at = newest end
  return list[at][1], list[at][2]
end

-- Sizes of a new tensor.
function P:sizes()
  local draw, list = self.draw, {}
  local n = ({0, 1, 1, 2, 2, 2, 2, 3, 3, 4})[draw(10)]
  for d = 1, n do list[d] = ({1, 2, 2, 3, 3, 4, 4, 5})[draw(8)] end
  if n > 0 and draw(40) == 1 then list[draw(n)] = 0 end
  if n > 0 and draw(12) == 1 then list[n] = ({17, 33, 70})[draw(3)] end
  return list
end

-- Sizes that broadcast with 'sizes'.
function P:broadcast(sizes)
  local list = {table.unpack(sizes)}
  for d = 1, #list do if self.draw(4) == 1 then list[d] = 1 end end
  while #list > 0 and self.draw(5) == 1 do table.remove(list, 1) end
  return list
end

local LAYOUTS = {"", "", "", "", "", ":t():contiguous():t()",
  ":contiguous{memory_format = \"channels_last\"}", ":repeat_interleave(2, -1)"
  .. ":unfold(-1, 1, 2):squeeze(-1)", ":flip(1)"}

-- The text of a tensor of these sizes; 'seed' is a number or an expression.
function P:tensor(dtype, sizes, seed)
  local text = ("T(%q, {%s}, %s)"):format(dtype, table.concat(sizes, ", "),
    seed)
  local laid = text .. LAYOUTS[self.draw(#LAYOUTS)]
  local t = self:eval(laid)
  if t and t.dtype == dtype and values.same_sizes(t.shape, sizes) then
    return laid
  end
  return text
end

-- ---- arguments and what is captured ----

local function draw_args(p)
  local draw = p.draw
  local base = p:sizes()
  for i = 1, draw(3) do
    local dtype = DTYPES[i == 1 and draw(6) or draw(#DTYPES)]
    local sizes = i == 1 and base or draw(2) == 1 and p:broadcast(base)
      or p:sizes()
    local text = p:tensor(dtype, sizes, ("%d + 7 * k"):format(draw(90)))
    if i > 1 and draw(8) == 1 then
      text = "v[1]" .. ({"", ":t()", ":reshape(-1)", ":detach()"})[draw(4)]
    elseif draw(3) == 1 and dtype:find("^float[36]") then
      text = text .. (draw(3) == 1 and ":requires_grad_():mul(1)"
        or ":requires_grad_()")
    end
    if p:try(("v[%d] = %s"):format(i, text)) then
      p.args[i], p.n = text, i
    else
      break
    end
  end
  if p.n == 0 then
    p.args[1], p.n = "T(\"float32\", {2, 3}, k)", 1
    assert(p:try("v[1] = " .. p.args[1]))
  end
end

local function draw_captured(p)
  local draw = p.draw
  p:add(p.setup, "w.generator = la.Generator(" .. draw(1000) .. ")")
  for n = 1, draw(4) - 1 do
    local dtype = DTYPES[draw(#DTYPES)]
    local like = p.v[draw(p.n)]
    local sizes = draw(2) == 1 and p:broadcast(like.shape) or p:sizes()
    local text = p:tensor(dtype, sizes, draw(90))
    if draw(3) == 1 and dtype:find("^float[36]") then
      text = text .. ":requires_grad_()"
    end
    if p:add(p.setup, ("w.c%d = %s"):format(n, text)) then p.captured = n
    else break end
  end
end

-- ---- the body ----

-- An operation of the registry, functional, in place or with out=.
function P:row()
  local draw = self.draw
  local row = all_rows[draw(#all_rows)]
  local function tensor()
    if draw(12) == 1 then return "v[1]", self.v[1] end
    return self:pick()
  end
  local form = "functional"
  if row.has.inplace and draw(4) == 1 then form = "inplace" end
  if row.has.out and row.has.fn and draw(6) == 1 then form = "out" end
  local out = form == "out" and self:pick() or nil
  local text = rows.text(draw, row, tensor, form, out)
  if not text then return false end
  if form ~= "functional" then return self:line(text) end
  -- Of several results one is kept: the call has all the same.
  local several = self:eval("select('#', " .. text .. ")") or 1
  if several > 1 and draw(2) == 1 then
    text = ("select(%d, %s)"):format(draw(several), text)
  end
  return self:let("(" .. text .. ")")
end

local function draw_body(p)
  local draw = p.draw
  local wanted = 2 + draw(14)
  local tries = 0
  while #p.body < wanted and tries < 150 do
    tries = tries + 1
    if draw(5) <= 2 then
      p:row()
    else
      local step = steps.all[draw(#steps.all)]
      step(p)
    end
  end
end

-- ---- results ----

local function draw_result(p)
  local draw, list = p.draw, {}
  for n = 1, p.n do
    if p.v[n] and (n == p.n or draw(3) == 1 or p.returned[n]) then
      list[#list + 1] = ("v[%d]"):format(n)
    end
  end
  if draw(6) == 1 and p.captured > 0 then
    list[#list + 1] = "w.c" .. draw(p.captured)
  end
  if draw(4) == 1 and #list > 1 then
    list[#list] = ("{%s, name = \"x\", %s}"):format(list[#list], draw(9))
  end
  p.result = table.concat(list, ", ")
end

function draw_program.program(seed)
  local p = setmetatable({seed = seed, draw = chains.random_of(seed),
    setup = {}, args = {}, body = {}, between = {}, w = {}, v = {}, n = 0,
    captured = 0, returned = {}}, P)
  la.manual_seed(seed)
  draw_args(p)
  draw_captured(p)
  steps.themes(p)
  draw_body(p)
  steps.finish(p)
  draw_result(p)
  p.w, p.v = nil, nil
  return p
end

return draw_program
