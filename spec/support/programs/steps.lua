-- Kinds of steps of the random programs, each a function of the program that is
-- drawn (draw.lua): it adds a line or none.
local values = require "spec.support.programs.values"

local steps = {}

local function is_float(t) return t:is_floating_point() end
local function has_dims(t) return t.ndim > 0 and t:numel() > 0 end
local function pick_of(draw, list) return list[draw(#list)] end
local function sizes_text(list)
  return "{" .. table.concat(list, ", ") .. "}"
end

-- ---- views ----

local views = {
  function(x, t, draw)
    return ("%s:transpose(%d, %d)"):format(x, draw(t.ndim), draw(t.ndim))
  end,
  function(x, t, draw)
    local d = draw(t.ndim)
    local n = t:size(d)
    local first = draw(n)
    local key = ("{}, "):rep(d - 1)
    return ("%s[{%s{%d, %d, %d}}]"):format(x, key, first,
      first + draw(n - first + 1) - 1, draw(2))
  end,
  function(x, t, draw)
    local d = draw(t.ndim)
    return ("%s:select(%d, %d)"):format(x, d, draw(t:size(d)))
  end,
  function(x, t, draw) return ("%s:unsqueeze(%d)"):format(x, draw(t.ndim)) end,
  function(x) return x .. ":squeeze()" end,
  function(x, t, draw)
    local sizes = {table.unpack(t.shape)}
    table.insert(sizes, 1, draw(3))
    return ("%s:expand(%s)"):format(x, sizes_text(sizes))
  end,
  function(x, t, draw)
    return ("%s:diagonal(0, %d, %d)"):format(x, draw(t.ndim), draw(t.ndim))
  end,
  function(x, t, draw)
    return ("%s:unfold(%d, 2, 1)"):format(x, draw(t.ndim))
  end,
  function(x) return x .. ":reshape(-1)" end,
  function(x) return x .. ":view(-1)" end,
  function(x, t, draw)
    return ("%s:flatten(1, %d)"):format(x, draw(t.ndim))
  end,
  function(x, t, draw)
    return ("(select(2, %s:chunk(2, %d)))"):format(x, draw(t.ndim))
  end,
  function(x, t, draw)
    return ("%s:chunk(2, %d)[1]"):format(x, draw(t.ndim))
  end,
  function(x, t, draw) return ("%s:unbind(%d)[1]"):format(x, draw(t.ndim)) end,
  function(x) return x .. ":detach()" end,
  function(x) return x .. ":contiguous()" end,
  function(x, t)
    local dims = {}
    for d = 1, t.ndim do dims[d] = t.ndim - d + 1 end
    return ("%s:permute(%s)"):format(x, sizes_text(dims))
  end,
  function(x) return x .. ":view_as_real()" end,
  function(x) return x .. ":conj()" end,
  function(x) return x .. ":real()" end,
}

local function view(p)
  local x, t = p:pick(has_dims)
  if x then p:let(pick_of(p.draw, views)(x, t, p.draw)) end
end

-- ---- element-wise chains, which plans join ----

local unary = {"exp", "tanh", "sin", "sigmoid", "abs", "neg", "square", "relu",
  "sqrt", "log1p", "gelu", "silu", "floor", "reciprocal", "erf", "cos",
  "softplus", "isnan", "sign", "rsqrt"}
local binary = {"%s + %s", "%s - %s", "%s * %s", "%s / %s",
  "%s:maximum(%s)", "%s:atan2(%s)", "%s:pow(%s)", "%s:gt(%s)", "%s:minimum(%s)",
  "%s:add(%s, {alpha = 2})", "%s // %s", "%s %% %s", "%s:eq(%s)",
  "la.where(%s:gt(0), %s, 1.5)", "%s:lerp(%s, 0.25)", "la.hypot(%s, %s)"}
local numbered = {"%s * 2", "%s + 1", "1 - %s", "%s / 3", "2 ^ %s", "%s ^ 2",
  "%s:clamp(-1, 1)", "%s:add(0.5)", "3.5 / %s", "-%s", "%s:clamp(0)",
  "%s:gt(0.25)", "%s:masked_fill(%s:gt(0), 0.5)", "%s ^ 3", "%s * -0.0"}

local function chain(p)
  local draw = p.draw
  local x = p:pick()
  for _ = 1, draw(5) do
    if not x then return end
    local way, text = draw(3), nil
    if way == 1 then
      text = ("%s:%s()"):format(x, pick_of(draw, unary))
    elseif way == 2 then
      local y = p:pick()
      text = draw(2) == 1 and pick_of(draw, binary):format(x, y)
        or pick_of(draw, binary):format(y, x)
    else
      text = pick_of(draw, numbered):format(x, x)
    end
    local n = p:let(text)
    if n then x = ("v[%d]"):format(n) end
  end
end

local reductions = {"sum", "mean", "amax", "amin", "prod", "var", "std",
  "logsumexp", "softmax", "log_softmax", "cumsum", "argmax", "norm_", "sort_",
  "all", "nansum", "cumprod", "max_", "any", "sum_all", "mean_all", "var_mean"}

local function reduction(p)
  local draw = p.draw
  local x, t = p:pick(has_dims)
  if not x then return end
  local d = draw(4) == 1 and -1 or draw(t.ndim)
  local name, keep = pick_of(draw, reductions), draw(2) == 1 and ", true" or ""
  local text
  if name == "norm_" then
    text = ("%s:norm(2, %d)"):format(x, d)
  elseif name == "sort_" then
    text = ("(select(%d, %s:sort(%d)))"):format(draw(2), x, d)
  elseif name == "max_" then
    text = ("(select(%d, %s:max(%d)))"):format(draw(2), x, d)
  elseif name == "var_mean" then
    text = ("(select(%d, %s:var_mean(%d)))"):format(draw(2), x, d)
  elseif name:find("_all$") then
    text = ("%s:%s()"):format(x, name:sub(1, -5))
  elseif name:find("softmax") or name:find("^cum") then
    text = ("%s:%s(%d)"):format(x, name, d)
  else
    text = ("%s:%s(%d%s)"):format(x, name, d, keep)
  end
  local n = p:let(text)
  -- What stands for its rows is used with them again.
  if n and keep ~= "" and draw(2) == 1 then
    p:let(pick_of(draw, {"%s - v[%d]", "%s / v[%d]", "%s * v[%d]"})
      :format(x, n))
  end
end

-- ---- what writes ----

local inplace = {"%s:add_(%s)", "%s:mul_(%s)", "%s:copy_(%s)", "%s:sub_(2)",
  "%s:fill_(1.5)", "%s:zero_()", "%s:tanh_()", "%s:clamp_(-1, 1)",
  "%s:add_(%s, {alpha = 0.5})", "%s:div_(3)", "%s:addcmul_(%s, %s)",
  "%s:lerp_(%s, 0.5)", "%s:relu_()", "%s:masked_fill_(%s:gt(0), 2)",
  "%s:neg_()", "%s:exp_()", "%s[1] = %s", "%s[{}] = %s", "%s[-1] = 0.5",
  "%s:select(1, 1):mul_(2)", "%s:t():add_(%s)"}
local outs = {"la.add(%s, %s, {out = %s})", "la.mul(%s, %s, {out = %s})",
  "la.exp(%s, {out = %3$s})", "la.maximum(%s, %s, {out = %s})",
  "la.matmul(%s, %s, {out = %s})", "la.sum(%s, 1, {out = %3$s})"}

local function write(p)
  local draw = p.draw
  local x, t = p:pick()
  local y = p:pick(function(o) return o.dtype == t.dtype end)
  if draw(6) == 1 then y = p:pick() end
  if draw(4) > 1 then
    p:line((pick_of(draw, inplace):format(x, y, y)))
    return
  end
  local z = p:pick(function(o) return values.same_sizes(o.shape, t.shape) end)
  local text = pick_of(draw, outs)
  text = text:find("3%$") and text:gsub("%%3%$s", z):format(x)
    or text:format(x, y, z)
  p:line(text)
end

-- ---- tensors of the same elements, one of them without a history ----

local twins = {"%s:detach()", "%s.data", "%s:view_as(%1$s)",
  "la.no_grad(function() return %s:view_as(%1$s) end)", "%s:detach():detach()",
  "%s:view_as(%1$s):detach()"}
local partly = {"%s[1] = 0", "%s[-1] = %s[1]", "%s[{{1, 1}}]:mul_(3)",
  "%s:select(1, 1):add_(1)", "%s:view(-1)[{{1, 1}}]:mul_(2)", "%s:mul_(3)",
  "%s:narrow(1, 1, 1):copy_(%s:narrow(1, 1, 1))",
  "%1$s:detach()[1] = 0.5"}

-- Twins before a write through a view, behind it, or both; results or dead.
local function twin(p)
  local draw = p.draw
  local x = p:pick(function(t) return has_dims(t) and is_float(t) end)
  local z = p:pick(function(t) return has_dims(t) and t.requires_grad end)
  local n = x and p:let(pick_of(draw, {"%s:clone()", "%s * 2",
    "%s:detach():clone()", "la.zeros_like(%s)"}):format(x))
  if not n then return end
  local y = ("v[%d]"):format(n)
  local before, made = draw(4), {n}
  local function add()
    made[#made + 1] = p:let((pick_of(draw, twins):gsub("%%1%$s", y)
      :gsub("%%s", y)))
  end
  if before <= 2 then add() end
  local text = pick_of(draw, partly):gsub("%%1%$s", y)
  p:line(text:format(y, z or y, z or y))
  if before >= 2 then add() end
  if draw(3) == 1 then p:let(y .. " * " .. y) end
  for _, i in ipairs(made) do if draw(4) > 1 then p.returned[i] = true end end
end

-- ---- dtypes, new tensors, random numbers ----

local function cast(p)
  local x = p:pick()
  local dtype = pick_of(p.draw, {"float32", "float64", "int64", "float16",
    "bfloat16", "int32", "uint8", "bool", "float32", "float64"})
  p:let(("%s:to(%q)"):format(x, dtype))
end

local creations = {"la.zeros(%s)", "la.ones(%s)", "la.full(%s, 2.5)",
  "la.zeros(%s):add(1)", "la.rand(%s)", "la.randn(%s)",
  "la.rand(%s, {generator = w.generator})", "la.randint(9, %s)",
  "la.randn(%s, {generator = w.generator, dtype = \"float64\"})",
  "la.eye(3)", "la.arange(6):reshape(2, 3)", "la.tensor{1.5, -2}",
  "la.randperm(5)", "la.tensor(0.5)"}
local random_of = {"la.rand_like(%s)", "la.dropout(%s, 0.5)",
  "la.bernoulli(%s:sigmoid())", "%s:clone():normal_()",
  "%s:clone():uniform_(-1, 1, {generator = w.generator})", "la.zeros_like(%s)",
  "la.normal(%s, 1)", "%s:clone():bernoulli_(0.5)", "la.full_like(%s, 0.25)",
  "%s:new_zeros(2, 3)", "la.multinomial(%s:abs() + 0.1, 1)",
  "la.poisson(%s:abs())"}

local function create(p)
  local draw = p.draw
  if draw(2) == 1 then
    local x, t = p:pick()
    local sizes = draw(2) == 1 and x and t.shape or p:sizes()
    p:let(pick_of(draw, creations):format(sizes_text(sizes)))
  else
    local x = p:pick(is_float)
    if x then p:let(pick_of(draw, random_of):format(x)) end
  end
end

-- ---- products, joins, indices ----

local function product(p)
  local draw = p.draw
  local x, t = p:pick(function(t) return t.ndim > 0 end)
  if not x then return end
  local y = p:pick(function(o)
    return o.dtype == t.dtype and o.ndim > 0
  end)
  if not y or draw(3) == 1 then
    local n = t:size(-1)
    local m = p:let(("T(%q, {%d, %d}, %d)"):format(t.dtype, n, draw(6),
      draw(60)))
    if not m then return end
    y = ("v[%d]"):format(m)
  end
  local way = pick_of(draw, {"%s:matmul(%s)", "%s:t():mm(%s)", "%s:bmm(%s)",
    "%s:matmul(%s:t())", "la.einsum(\"ij,kj->ik\", %s, %s)", "%s:outer(%s)",
    "%s:mv(%s)", "%s:dot(%s)", "la.linear(%s, %s)", "%s:t():matmul(%s)",
    "%s:matmul(%s):relu()", "%s:matmul(%s):add(1):tanh()", "la.cdist(%s, %s)"})
  p:let(way:format(x, y))
end

local function join(p)
  local draw = p.draw
  local x, t = p:pick()
  local y = p:pick(function(o) return values.same_sizes(o.shape, t.shape) end)
  p:let(pick_of(draw, {"la.cat({%s, %s}, 1)", "la.stack({%s, %s}, 1)",
    "la.cat({%s, %s, %1$s}, -1)", "la.stack({%s, %s}, -1)"})
    :gsub("%%1%$s", x):format(x, y))
end

local function index(p)
  local draw = p.draw
  local x, t = p:pick(has_dims)
  if not x then return end
  local d = draw(t.ndim)
  local list = {}
  for i = 1, draw(4) do list[i] = draw(t:size(d)) end
  local at = "la.tensor" .. sizes_text(list)
  p:let(pick_of(draw, {"%s:index_select(%d, %s)", "%s:gather(%d, %s)",
    "%1$s[%3$s]", "%s:index_add(%d, %s, %1$s:index_select(%2$d, %3$s))",
    "%s:index_fill(%d, %s, 2)", "%s:roll(1, %d)", "%s:flip(%d)",
    "%s:topk(1, %d)", "%1$s:tril()", "%1$s:tile(2)", "%1$s:take(%3$s)"})
    :gsub("%%(%d)%$%a", function(i)
      return ({x, tostring(d), at})[tonumber(i)]:gsub("%%", "%%%%")
    end):format(x, d, at))
end

-- ---- derivatives inside ----

local function backward(p)
  local draw = p.draw
  local x, t = p:pick(function(t) return t.requires_grad and is_float(t) end)
  if not x then return end
  local loss = ("%s:%s()"):format(x, draw(2) == 1 and "sum" or "mean")
  if t:numel() == 0 then return end
  local way = draw(5)
  if way <= 2 then
    p:line(loss .. ":backward()")
  elseif way == 3 then
    p:line(loss .. ":backward{retain_graph = true}")
  else
    local from = p:pick(function(o) return o.requires_grad end)
    p:let(("la.grad(%s, %s, {retain_graph = true, create_graph = %s, "
      .. "allow_unused = true})"):format(loss, from, tostring(way == 4)))
  end
end

local function switch(p)
  local x = p:pick(is_float)
  if not x then return end
  local n = p.draw(5)
  local text = pick_of(p.draw, {
    "la.no_grad(function() return %s:exp() * 2 end)",
    "%s:detach():requires_grad_()",
    "%s:clone():requires_grad_()",
    "la.enable_grad(function() return %s * 3 end)",
    "la.vmap(function(r) return r * 2 + r:sum() end)(%s)",
    "la.checkpoint(function(r) return (r * 2):tanh() end, %s)",
    "la.fuse(function(r) return (r * 2):tanh() + 1 end)(%s)",
    "la.tidy(function() return (%s * 2):tanh() end)"})
  if n > 1 then p:let(text:format(x)) end
end

local function control(p)
  local x, t = p:pick(is_float)
  if not x then return end
  local text = pick_of(p.draw, {
    "la.cond(%1$s:sum():gt(0), function(a) return a * 2 end, la.neg, %1$s)",
    "(la.while_loop(function(y) return y:abs():sum():lt(50) end, "
      .. "function(y) return y:abs() * 2 + 1 end, %1$s))",
    "select(%2$d, la.scan(function(c, r) return c * 0.5 + r, c * r end, "
      .. "%1$s[1], %1$s))"})
  if t:numel() == 0 or text:find("scan") and t.ndim == 0 then return end
  p:let((text:gsub("%%1%$s", (x:gsub("%%", "%%%%"))):gsub("%%2%$d",
    tostring(p.draw(2)))))
end

steps.all = {view, view, view, chain, chain, chain, chain, reduction,
  reduction, write, write, write, twin, cast, create, product, product, join,
  index, backward, switch, control}

-- ---- networks ----

local nets = {
  {"{2, 6}", "nn.Sequential(nn.Linear(6, 5), nn.%s(), nn.Linear(5, 3))"},
  {"{3, 6}", "nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.%s())"},
  {"{2, 4, 6}", "nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 3), nn.%s())"},
  {"{2, 2, 6, 6}", "nn.Sequential(nn.Conv2d(2, 3, 3), nn.%s(), "
    .. "nn.MaxPool2d(2), nn.Flatten())"},
  {"{2, 2, 5, 5}", "nn.Sequential(nn.Conv2d(2, 3, 3, {padding = 1}), "
    .. "nn.BatchNorm2d(3), nn.%s())"},
  {"{2, 5}", "nn.Sequential(nn.Linear(5, 5), nn.Dropout(0.5), nn.%s())"},
  {"{2, 6, 4}", "nn.Sequential(nn.Conv1d(6, 4, 2), nn.GroupNorm(2, 4), "
    .. "nn.%s())"},
}
local optims = {"SGD(%s, {lr = 0.1})",
  "SGD(%s, {lr = 0.1, momentum = 0.9, weight_decay = 0.01})",
  "Adam(%s, {lr = 0.01})", "AdamW(%s, {lr = 0.01})",
  "RMSprop(%s, {lr = 0.01})", "Adagrad(%s, {lr = 0.05})",
  "SGD(%s, {lr = 0.1, momentum = 0.9, nesterov = true})"}
local changes = {"w.net:eval()", "w.net:train()", "w.net[1].weight:mul_(0.5)",
  "w.net[1].weight = w.net[1].weight:detach():clone():requires_grad_()",
  "w.opt.param_groups[1].lr = 0.02", "w.opt:zero_grad()",
  "w.c1:mul_(0.5)", "w.c1:fill_(0.25)", "w.c1.grad = nil",
  "w.generator:manual_seed(5)", "la.manual_seed(3)",
  "w.net:zero_grad()"}

-- Of some programs: a network as what is captured, and an optimiser of its
-- parameters.
function steps.themes(p)
  local draw = p.draw
  if draw(4) > 1 then return end
  local net = pick_of(draw, nets)
  local act = pick_of(draw, {"ReLU", "Tanh", "GELU", "SiLU", "Sigmoid"})
  local n = p.n + 1
  p.args[n] = ("T(\"float32\", %s, %d + 3 * k)"):format(net[1], draw(50))
  p:try(("v[%d] = %s"):format(n, p.args[n]))
  p.n = n
  local made = ("la.manual_seed(%d) w.net = " .. net[2]):format(draw(99), act)
  if draw(4) == 1 then made = made .. " w.net:eval()" end
  if not p:add(p.setup, made) then return end
  local way = pick_of(draw, optims):format("w.net:parameters()")
  if draw(3) > 1 and p:add(p.setup, "w.opt = optim." .. way) then
    p:line("w.opt:zero_grad()")
  end
  p:let(("w.net(v[%d])"):format(n))
end

-- The end of a training step, and what happens between the calls.
function steps.finish(p)
  local draw = p.draw
  if p.w.opt and draw(5) > 1 then
    local x = p:pick(function(t) return t.requires_grad and is_float(t) end)
    local n = x and p:let(x .. ":square():mean()")
    if n and p:line(("v[%d]:backward()"):format(n)) then
      p:line("w.opt:step()")
    end
  end
  for n = 1, 4 do
    local text = pick_of(draw, changes)
    if draw(3) == 1 and p:try(text) then p.between[n] = text end
  end
end

return steps
