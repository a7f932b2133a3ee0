-- lunarray.signal.common: how the functions of la.signal read their arguments.
local la = require "lunarray"
local tensors = require "lunarray.tensors"
local numbers = require "lunarray.numbers"
local positions = require "lunarray.positions"

local common = {}

local is_tensor = tensors.is_tensor
common.is_tensor = is_tensor

-- Raise an error of signal.<name>, at the line of the user.
function common.fail(name, text, ...)
  error(("signal.%s: %s"):format(name, text:format(...)),
    tensors.user_level())
end
local fail = common.fail

local function kind_of(value)
  return value == nil and "no value" or is_tensor(value) and "tensor"
    or type(value)
end

function common.number(name, what, value)
  if type(value) == "number" then return value end
  fail(name, "%s: a number expected, got %s", what, kind_of(value))
end

-- The options of a call: 'given' (a table or nil) over 'defaults', where false
-- stands for none. An option that is not among them is an error, and so is
-- anything but a number where the default is one (n may be a tensor).
function common.options(name, given, defaults)
  if given ~= nil and type(given) ~= "table" then
    fail(name, "a table of options expected, got %s",
      is_tensor(given) and "tensor" or type(given))
  end
  local all = {}
  for key, value in pairs(defaults) do all[key] = value end
  for key, value in pairs(positions.own(given or {}, defaults)) do
    if defaults[key] == nil then
      local known = {}
      for k in pairs(defaults) do known[#known + 1] = k end
      table.sort(known)
      fail(name, "unknown option '%s' (known: %s)", numbers.text(key),
        table.concat(known, ", "))
    end
    if type(defaults[key]) == "number"
        and not (key == "n" and is_tensor(value)) then
      common.number(name, key, value)
    end
    all[key] = value
  end
  return all
end

-- A signal of at least one dim; integers become the default dtype unless
-- 'integers' are wanted.
function common.signal(name, what, x, integers)
  if not is_tensor(x) then
    fail(name, "%s: a tensor expected, got %s", what, kind_of(x))
  elseif x.ndim == 0 then
    fail(name, "%s: a signal of at least 1 dim expected, got a number", what)
  elseif integers or tensors.is_float(x) then
    return x
  end
  return x:to(la.get_default_dtype())
end

-- The real dtype that goes with x's, of at least 32 bits.
function common.real_dtype(x)
  if x.dtype == "float64" or x.dtype == "complex128" then return "float64" end
  return "float32"
end

-- t in that dtype, on x's device.
function common.matched(t, x)
  return t:to(common.real_dtype(x)):to(x.device)
end

-- What 16 bits are computed in: x itself or x in float32 (complex64).
function common.wide(x)
  if x.dtype == "float16" or x.dtype == "bfloat16" then return x:float() end
  return x.dtype == "complex32" and x:to("complex64") or x
end

-- A list of numbers from a number, a list or a tensor of one dim.
function common.numbers(name, what, value)
  if type(value) == "number" then return {value} end
  if is_tensor(value) then
    if value.ndim > 1 then
      fail(name, "%s: a tensor of 1 dim expected, got %d", what, value.ndim)
    end
    return value:detach():double():reshape(-1):totable()
  end
  if type(value) ~= "table" then
    fail(name, "%s: a number, a list or a tensor expected, got %s", what,
      kind_of(value))
  end
  for k, v in ipairs(value) do
    if type(v) ~= "number" then
      fail(name, "%s: a number expected at [%d], got %s", what, k, type(v))
    end
  end
  return value
end

-- A float64 vector of coefficients from the same.
function common.coefficients(name, what, value)
  if is_tensor(value) and value.ndim == 1 then
    return tensors.is_float(value) and value or value:double()
  end
  local list = common.numbers(name, what, value)
  if #list == 0 then fail(name, "%s: no coefficients", what) end
  return la.tensor(list, {dtype = "float64"})
end

function common.count(name, what, value, least)
  local n = math.tointeger(value)
  if not n or n < least then
    fail(name, "%s: an integer of at least %d expected, got %s", what, least,
      type(value) == "number" and numbers.text(value) or kind_of(value))
  end
  return n
end

-- A dim of x, counted from 1.
function common.dim(name, x, dim)
  local d = math.tointeger(dim)
  if not d or d == 0 or d > x.ndim or d < -x.ndim then
    fail(name, "dimension %s is out of range, 1 to %d or -%d to -1",
      numbers.text(dim), x.ndim, x.ndim)
  end
  return d > 0 and d or x.ndim + 1 + d
end

function common.choice(name, what, value, choices)
  for _, c in ipairs(choices) do if c == value then return value end end
  local words = {}
  for k, c in ipairs(choices) do words[k] = numbers.text(c) end
  fail(name, "%s is one of %s, got %s", what, table.concat(words, ", "),
    numbers.text(value))
end

local floats = {float16 = true, bfloat16 = true, float32 = true,
  float64 = true}

function common.float_dtype(name, dtype)
  if not floats[dtype] then
    fail(name, "dtype: a floating dtype expected, got %s", numbers.text(dtype))
  end
end

-- The parameter of a window that is written {name, parameter}.
local parameters = {kaiser = "beta", gaussian = "std", tukey = "alpha",
  exponential = "tau", general_hamming = "alpha"}

-- A window of n points from a name, {name, parameter}, a number (Kaiser's beta)
-- or a tensor of n points.
function common.window(name, window, n, sym, dtype)
  local options = {sym = sym, dtype = dtype}
  if is_tensor(window) then
    if window.ndim ~= 1 or window:size(1) ~= n then
      fail(name, "window: a tensor of 1 dim and %d points expected, got %s", n,
        "{" .. table.concat(window.shape, ", ") .. "}")
    end
    return window
  elseif type(window) == "number" then
    window = {"kaiser", window}
  elseif type(window) == "string" then
    window = {window}
  elseif type(window) ~= "table" or type(window[1]) ~= "string" then
    fail(name, "window: a name, {name, parameter}, a number or a tensor "
      .. "expected, got %s", kind_of(window))
  end
  if window[2] ~= nil then
    local parameter = parameters[window[1]]
    if not parameter then
      fail(name, "window: '%s' has no parameter", window[1])
    end
    options[parameter] = window[2]
  end
  local ok, result = pcall(la.signal_window, window[1], n, options)
  if not ok then
    fail(name, "%s", (result:gsub("^.-%((.*)%)$", "%1")))
  end
  return result
end

-- The part first .. last of dim d, and its reverse.
function common.part(x, d, first, last)
  return x:narrow(d, first, last - first + 1)
end

return common
