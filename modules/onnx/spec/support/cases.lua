-- Runs the ONNX project's backend tests that cases.py has built:
--   lua5.4 modules/onnx/spec/support/cases.lua FOLDER [PATTERN]
-- prints how many pass, and what the others say.
--   lua5.4 modules/onnx/spec/support/cases.lua FOLDER --pack FILE
-- packs small ones that pass into a file: lines "case/file bytes", each with
-- its bytes behind it. As a module it gives run(name, read): true, or false and
-- what is wrong; read(file) gives the bytes of a file of the case or nil.
local la = require "lunarray"

local cases = {}

local function read_file(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("a")
  file:close()
  return text
end

local MISSING = {float8e4m3fn = true, float8e4m3fnuz = true, float8e5m2 = true,
  float8e5m2fnuz = true, float8e8m0 = true, float4e2m1 = true, int4 = true,
  uint4 = true, int2 = true, uint2 = true}

-- What a value of a file is as a value of Lua.
local function from_message(message, kind)
  if kind == "TensorProto" then
    if MISSING[message.type] then error("missing dtype " .. message.type, 0) end
    if message.strings then
      local list = message.strings
      if #message.shape ~= 1 then list.shape = message.shape end
      return list
    end
    return message.tensor
  elseif kind == "SequenceProto" then
    local out = {}
    for k, t in ipairs(message.tensor_values or {}) do
      out[k] = from_message(t, "TensorProto")
    end
    for k, s in ipairs(message.sequence_values or {}) do
      out[k] = from_message(s, "SequenceProto")
    end
    for k, s in ipairs(message.map_values or {}) do
      out[k] = from_message(s, "MapProto")
    end
    return out
  elseif kind == "OptionalProto" then
    if message.tensor_value then
      return from_message(message.tensor_value, "TensorProto")
    end
    if message.sequence_value then
      return from_message(message.sequence_value, "SequenceProto")
    end
    return nil
  end
  local out = {}
  local values = message.values and from_message(message.values,
    "SequenceProto")
  for k, key in ipairs(message.keys or message.string_keys or {}) do
    out[key] = values and values[k]
  end
  return out
end

local function kind_of(dtype)
  if dtype:find("^sequence") then return "SequenceProto" end
  if dtype:find("^optional") then return "OptionalProto" end
  if dtype:find("^map") then return "MapProto" end
  return "TensorProto"
end

local function load_value(text, info)
  if not text then return nil end
  local kind = kind_of(info.dtype or "")
  return from_message(la.onnx.read(text, {message = kind, bytes = true}), kind)
end

-- ---- comparing ----

local function same_numbers(a, b, rtol, atol)
  if a.dtype ~= b.dtype then
    return ("dtype %s, not %s"):format(a.dtype, b.dtype)
  end
  if tostring(a.shape) ~= tostring(b.shape) then
    return ("sizes %s, not %s"):format(tostring(a.shape), tostring(b.shape))
  end
  if a:numel() == 0 then return nil end
  if a:is_complex() then
    a, b = la.view_as_real(a:resolve_conj()), la.view_as_real(b)
  end
  if not a:is_floating_point() then
    if a.dtype == "uint8" or a.dtype == "int8" then
      local d = (a:to("int64") - b:to("int64")):abs():amax():item()
      return d > 1 and ("off by %d"):format(d) or nil
    end
    return not la.equal(a, b) and "other integers" or nil
  end
  a, b = a:to("float64"), b:to("float64")
  local scale = la.where(b:isfinite(), b:abs(), la.zeros_like(b))
  local limit = scale * rtol + atol
  local fine = a:eq(b):logical_or(a:isnan():logical_and(b:isnan()))
    :logical_or((a - b):abs():le(limit))
  if fine:all() then return nil end
  return ("largest difference %g"):format((a - b):abs():amax():item())
end

local function compare(a, b, rtol, atol)
  if type(b) == "userdata" then
    if type(a) ~= "userdata" then return "no tensor: " .. type(a) end
    return same_numbers(a, b, rtol, atol)
  end
  if b == nil then
    if a ~= nil then return "a value where none is expected" end
    return nil
  end
  if type(b) ~= "table" then
    if type(a) == "userdata" then a = a:item() end
    if a == b then return nil end
    if type(a) == "number" and type(b) == "number"
      and math.abs(a - b) <= atol + rtol * math.abs(b) then return nil end
    return ("%s, not %s"):format(tostring(a), tostring(b))
  end
  if type(a) ~= "table" then return "no list: " .. type(a) end
  for key, value in pairs(b) do
    local problem = compare(a[key], value, rtol, atol)
    if problem then return ("[%s]: %s"):format(tostring(key), problem) end
  end
  for key in pairs(a) do
    if b[key] == nil and key ~= "shape" then return "too many values" end
  end
end

-- Results that are drawn at random have only their sizes and dtype in common.
local function is_random(name)
  return name:find("^test_bernoulli") or name:find("training_dropout")
    and not name:find("zero_ratio")
end

-- A result of 16 bits may be two steps away: a step is 2^-8 or 2^-11 of it.
local STEPS = {bfloat16 = 2 ^ -6, float16 = 2 ^ -9}

local function check_results(got, outputs, read, base, limits, random)
  for i, info in ipairs(outputs) do
    local want = load_value(read(("%soutput_%d.pb"):format(base, i - 1)), info)
    local have = got[info.name]
    if random and type(have) == "userdata" then
      have, want = have:to(want.dtype):mul(0), want:mul(0)
    end
    local problem = compare(have, want,
      math.max(limits[1], STEPS[info.dtype] or 0), limits[2])
    if problem then return ("%s: %s"):format(info.name, problem) end
  end
end

-- true, or false and what is wrong.
function cases.run(name, read)
  local rtol, atol = (read("limits.txt") or ""):match("(%S+) (%S+)")
  local limits = {tonumber(rtol) or 1e-3, math.max(tonumber(atol) or 0, 1e-5)}
  local model = la.onnx.load(read("model.onnx"), {bytes = true})
  local inputs, outputs = model:inputs(), model:outputs()
  local k = 0
  while true do
    local base = ("test_data_set_%d/"):format(k)
    if not read(base .. "output_0.pb") then break end
    local given = {}
    for i, info in ipairs(inputs) do
      given[info.name] = load_value(read(("%sinput_%d.pb"):format(base, i - 1)),
        info)
    end
    -- The first run is recorded, those after it are the program's.
    for _, way in ipairs{"", "program: ", "program once more: "} do
      local got = la.no_grad(function() return model:run(given) end)
      local problem = check_results(got, outputs, read, base, limits,
        is_random(name))
      if problem then return false, way .. problem end
    end
    k = k + 1
  end
  if k == 0 then return false, "no data" end
  return true
end

-- ---- packed cases ----

-- {name, read} of all cases in a packed file.
function cases.unpack(path)
  local text, at, list, files = read_file(path), 1, {}, {}
  while at <= #text do
    local name, file, size, behind = text:match("^([^/\n]+)/(%S+) (%d+)\n()",
      at)
    if not files[name] then
      local own = {}
      files[name] = own
      list[#list + 1] = {name = name, read = function(f) return own[f] end}
    end
    files[name][file] = text:sub(behind, behind + size - 1)
    at = behind + size
  end
  return list
end

-- ---- the program ----

local function list_cases(folder)
  local pipe = io.popen("ls -d '" .. folder .. "'/*/*/ 2>/dev/null")
  local out = {}
  for line in pipe:lines() do out[#out + 1] = line:sub(1, -2) end
  pipe:close()
  return out
end

local function reader_of(path)
  return function(file) return read_file(path .. "/" .. file) end
end

-- Files of a case in a folder.
local function files_of(path)
  local pipe = io.popen("cd '" .. path .. "' && find . -type f | sort")
  local out = {}
  for line in pipe:lines() do out[#out + 1] = line:sub(3) end
  pipe:close()
  return out
end

-- Cases whose files are together at most 'most' bytes: of each first word of
-- the names, 'each' of them.
local function pack(folder, target, most, each)
  local file, seen = assert(io.open(target, "wb")), {}
  for _, path in ipairs(list_cases(folder)) do
    local name = path:match("([^/]+)$")
    local first = name:match("^test_([^_%d]+_?[^_%d]*)") or name
    local texts, total = {}, 0
    for _, f in ipairs(files_of(path)) do
      local text = read_file(path .. "/" .. f)
      texts[#texts + 1] = ("%s/%s %d\n%s"):format(name, f, #text, text)
      total = total + #text
    end
    local ok, good = pcall(cases.run, name, reader_of(path))
    if ok and good and total <= most and (seen[first] or 0) < each then
      seen[first] = (seen[first] or 0) + 1
      file:write(table.concat(texts))
    end
  end
  file:close()
end

-- Passed, failed, and those of dtypes that there are none of.
function cases.run_all(folder, pattern, say)
  local passed, failed, missing = 0, 0, 0
  for _, path in ipairs(list_cases(folder)) do
    local name = path:match("([^/]+)$")
    if not pattern or name:find(pattern) then
      local ok, good, problem = pcall(cases.run, name, reader_of(path))
      if not ok then good, problem = false, tostring(good) end
      if good then
        passed = passed + 1
      elseif problem:find("missing dtype", 1, true)
        or problem:find("float[48]") or problem:find("u?int[24]%f[%D]") then
        missing = missing + 1
      else
        failed = failed + 1
        if say then say(name, problem) end
      end
    end
  end
  return passed, failed, missing
end

if arg and arg[0] and arg[0]:find("cases%.lua$") then
  if arg[2] == "--pack" then
    pack(arg[1], arg[3], 1600, 1)
    os.exit(0)
  end
  local passed, failed, missing = cases.run_all(arg[1], arg[2],
    function(name, problem)
      print(("%s: %s"):format(name, problem:gsub("\n", " "):sub(1, 170)))
    end)
  print(("%d passed, %d failed, %d of dtypes that there are none of")
    :format(passed, failed, missing))
end

return cases
