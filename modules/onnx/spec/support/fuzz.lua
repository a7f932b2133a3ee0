-- Changes valid files at random and reads and runs what comes out:
--   build/asan/lunarray modules/onnx/spec/support/fuzz.lua [COUNT [SEED]]
-- Every change must give a model or an error, in bounded memory: the memory
-- that is left is capped, and a sanitizer watches. The files are the packed
-- cases of golden/cases.bin and golden/microsoft.bin.
local la = require "lunarray"
local cases = dofile("modules/onnx/spec/support/cases.lua")

local count = tonumber(arg and arg[1]) or 10000
local state = tonumber(arg and arg[2]) or 1

-- A generator of its own: xorshift, so that a seed names the same files.
local function random(n)
  state = state ~ (state << 13)
  state = state ~ (state >> 7)
  state = state ~ (state << 17)
  return (state >> 1) % n
end

local EXTREMES = {"\255\255\255\255\255\255\255\255\127", "\0", "\255",
  "\128\128\128\128\128\128\128\128\128\1", "\127", "\128\1",
  "\255\255\255\255\15"}

local CHANGES = {
  function(s, at)
    return s:sub(1, at - 1) .. string.char(random(256)) .. s:sub(at + 1)
  end,
  function(s, at)
    local byte = s:byte(at) ~ (1 << random(8))
    return s:sub(1, at - 1) .. string.char(byte) .. s:sub(at + 1)
  end,
  function(s, at) return s:sub(1, at - 1) end,
  function(s, at) return s:sub(1, at - 1) .. s:sub(at + 1 + random(8)) end,
  function(s, at)
    local value = EXTREMES[random(#EXTREMES) + 1]
    return s:sub(1, at - 1) .. value .. s:sub(at + #value)
  end,
  function(s, at)
    return s:sub(1, at) .. EXTREMES[random(#EXTREMES) + 1] .. s:sub(at + 1)
  end,
  function(s, at)
    local part = s:sub(at, at + random(40))
    return s:sub(1, at - 1) .. part .. s:sub(at)
  end,
}

-- Mostly such changes as leave the lengths right.
local function changed(s)
  for _ = 0, random(3) do
    if #s == 0 then return s end
    local kind = random(4) > 0 and random(2) or random(#CHANGES)
    s = CHANGES[kind + 1](s, random(#s) + 1)
  end
  return s
end

local list = cases.unpack("modules/onnx/spec/golden/cases.bin")
for _, case in ipairs(cases.unpack("modules/onnx/spec/golden/microsoft.bin")) do
  list[#list + 1] = case
end
local loaded, ran = 0, 0
la.set_memory_limit(256 << 20)
local function too_long() error("too many steps", 0) end
for k = 1, count do
  debug.sethook(too_long, "", 4000000)
  local case = list[random(#list) + 1]
  local text = changed(case.read("model.onnx"))
  local ok, model = pcall(la.onnx.load, text, {bytes = true})
  if ok then
    loaded = loaded + 1
    local good = pcall(cases.run, case.name, function(file)
      if file == "model.onnx" then return text end
      local own = case.read(file)
      return own and random(4) == 0 and changed(own) or own
    end)
    if good then ran = ran + 1 end
    pcall(tostring, model:summary())
  end
  debug.sethook()
  if k % 1000 == 0 then
    print(("%d files, %d loaded, %d ran"):format(k, loaded, ran))
  end
end
