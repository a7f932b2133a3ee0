-- Every reader of bytes that has no C test of its own: sound files, and code
-- that reads them, for spec/c/io/test_readers.c, which damages the files.
--
-- A row: name; likely, bytes that mean something to the format; files, sound
-- ones; code, which gets the bytes and whether they are sound, and returns true
-- where all is as it has to be. It runs in a sandbox, where la.load gives the
-- bytes by every name; where 'plain' is set, in a state that may open files.
-- 'sums': the checksums of a damaged file are put right, so that a part of the
-- damage goes behind them.
local la = require "lunarray"

local PATH = os.tmpname()

-- What a function has written to a path.
local function written(extension, write)
  local path = PATH .. extension
  write(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read("a")
  file:close()
  os.remove(path)
  return bytes
end

local function saved(extension, value)
  return written(extension, function(path) la.save(value, path) end)
end

local BINARY = "\0\1\2\3\4\5\6\7\8\16\32\127\128\255"
local JSON = "{}[]\",:\\/0123456789-+.eEtruefalsn \255\200\1"

-- Loads, and looks at all that was loaded.
local LOOK = [[
local la, bytes, sound = require "lunarray", ...
local function look(v, left)
  if la.is_tensor(v) then
    if v:numel() < 10000 then
      v:detach():resolve_conj():clone() tostring(v)
    end
  elseif type(v) == "table" then
    for k, x in pairs(v) do
      left = left - 1
      if left < 0 then break end
      left = look(x, left)
    end
  end
  return left
end
local function judge(ok, value, ...)
  if not ok then return not sound and type(value) == "string" end
  look({value, ...}, 2000)
  return true
end
]]

local function loading(name)
  return LOOK .. ("return judge(pcall(la.load, %q))"):format(name)
end

-- The bytes as a file of this extension, read by 'call' of its path.
local function as_file(extension, call)
  return LOOK .. ([[
local path = %q
os.remove(path)         -- systems write out what replaces a file's bytes
local file = assert(io.open(path, "wb"))
file:write(bytes)
file:close()
return judge(pcall(function() %s end))]]):format(PATH .. extension, call)
end

local readers = {}
local function row(t) readers[#readers + 1] = t end

-- ---- arrays ----

local arrays = {}
for _, dtype in ipairs{"float64", "int16", "bool", "complex64", "uint8"} do
  arrays[#arrays + 1] = saved(".npy", la.ones(2, 3):to(dtype))
end
arrays[#arrays + 1] = saved(".npy", la.tensor(2.5))
arrays[#arrays + 1] = saved(".npy", la.zeros(0, 3))
-- of NumPy: the other byte order, columns first, version 2
local function array(version, header, data)
  header = header .. (" "):rep(-(#header + 11) % 64) .. "\n"
  return "\x93NUMPY" .. string.char(version, 0)
    .. string.pack(version == 1 and "<s2" or "<s4", header) .. data
end
arrays[#arrays + 1] = array(1, "{'descr': '>f4', 'fortran_order': True, "
  .. "'shape': (2, 3), }", string.pack(">ffffff", 1, 2, 3, 4, 5, 6))
arrays[#arrays + 1] = array(2, "{'descr': '<i8', 'fortran_order': False, "
  .. "'shape': (3,), }", string.pack("<i8i8i8", 1, 2, 3))
row{name = "npy", likely = "0123456789(),:'{}<>|=fiucb \n\0\1\255TrueFals",
    files = arrays, code = loading("x.npy")}

local some = {a = la.rand(3, 4), b = la.arange(5), c = la.tensor(true)}
local tree = {step = 3, list = {la.ones(2), "text", 0.5}, deep = {x = some.a}}
row{name = "npz", likely = BINARY .. "PK\1\2PK\3\4PK\5\6", sums = "zip",
    files = {saved(".npz", some), saved(".npz", tree)},
    code = loading("x.npz")}
row{name = "safetensors", likely = JSON .. "\0\0F32I64BO", files = {
      saved(".safetensors", some), saved(".safetensors", tree)},
    code = loading("x.safetensors")}

-- ---- images and sounds ----

if la.image then
  local pictures = {png = {}, others = {}}
  for _, channels in ipairs{1, 2, 3, 4} do
    local x = (la.rand(channels, 5, 7) * 255):to("uint8")
    table.insert(pictures.png, la.image.encode(x, "png"))
  end
  table.insert(pictures.png, la.image.encode(
    (la.rand(3, 4, 4) * 65535):to("uint16"), "png"))
  for _, name in ipairs{"jpeg", "bmp", "tga"} do
    local x = (la.rand(3, 9, 7) * 255):to("uint8")
    table.insert(pictures.others, la.image.encode(x, name))
  end
  for _, bytes in ipairs{
    "GIF89a\4\0\3\0\x80\0\0\0\0\0\255\255\255\44\0\0\0\0\4\0\3\0\0\2\5\x84\x8f"
      .. "\xa9\xcb\5\0\59",
    "P6\n2 2\n255\nabcdefghijkl", "P5\n3 1\n255\nabc",
    "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\nabcdefgh"} do
    local ok = pcall(la.image.decode, bytes)
    if ok then table.insert(pictures.others, bytes) end
  end
  local code = LOOK .. [[
pcall(la.image.info, bytes)
return judge(pcall(la.image.decode, bytes))]]
  row{name = "png", likely = BINARY .. "IHDRPLTEIDATIENDtRNS", sums = "png",
      files = pictures.png, code = code}
  row{name = "image", likely = BINARY .. "\xff\xd8\xff\xc0\xff\xc4\xff\xda"
        .. "\xff\xdb\xff\xdd\xff\xe1", files = pictures.others, code = code}
end

if la.audio then
  local sounds = {}
  for _, format in ipairs{"uint8", "int16", "int24", "int32", "float32"} do
    local ok, bytes = pcall(la.audio.encode, la.rand(2, 30) - 0.5, 8000,
                            {format = format})
    assert(ok, bytes)
    sounds[#sounds + 1] = bytes
  end
  row{name = "wav", likely = BINARY .. "RIFFWAVEfmt data", files = sounds,
      code = LOOK .. "return judge(pcall(la.audio.decode, bytes))"}
end

-- ---- tables ----

if la.read_csv then
  local texts = {
    "a,b,c\n1,2.5,x\n-3,1e-4,\"y \"\"z\"\", w\"\n,,\n",
    "name;when;n\r\nfoo;2024-01-02;1\r\nbar;2024-02-30;99999999999999999999\r",
    "a\tb\n1\t0x10\n-inf\tnan\nTrue\tfalse\n"}
  row{name = "csv", likely = "0123456789,;\t\"'\n\r.-+eEnaif \0\255\200",
      plain = true, files = texts,
      code = as_file(".csv", "return la.read_csv(path)")}
end
if la.frame and la.read_jsonl then
  row{name = "jsonl", likely = JSON .. "\n", plain = true, files = {
      '{"a": 1, "b": "x", "c": null}\n{"a": -2.5e3, "b": "\\u00e9\\n"}\n',
      '{"a": true}\n{"a": false, "d": 1}\n\n{"a": null}'},
      code = as_file(".jsonl", "return la.read_jsonl(path)")}
end

-- ---- models ----

if la.onnx then
  local nn = require "lunarray.nn"
  local net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
  local conv = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Flatten())
  local function model(module, x)
    return written(".onnx", function(path) la.onnx.save(module, path, {x}) end)
  end
  row{name = "onnx", likely = BINARY .. "\10\18\26\34\42\50\58\66\74",
      files = {model(net, la.ones(2, 3)), model(conv, la.ones(1, 1, 6, 6))},
      code = LOOK .. [[
local ok, m = pcall(la.onnx.load, bytes, {bytes = true})
if not ok then return not sound and type(m) == "string" end
tostring(m)
sound = false       -- one of both is of another model
return judge(pcall(m, la.ones(2, 3))) and judge(pcall(m, la.ones(1, 1, 6, 6)))
]]}
end

if la.llm then
  row{name = "template", likely = "{}%#-|.()[]'\"=+*/ \n012ifendforset",
      files = {
    "{% for m in messages %}{{ m.role }}: {{ m.content | trim }}\n{% endfor %}"
      .. "{% if add_generation_prompt %}assistant:{% endif %}",
    "{%- set ns = namespace(n=0) -%}{% macro f(a, b=2) %}{{ a + b }}"
      .. "{% endmacro %}{{ f(1) }}{{ messages[0]['content'][1:-1] }}"
      .. "{{ 'a' if messages | length > 1 else 'b' ~ 3 }}"},
      code = LOOK .. [[
local template = require "lunarray.llm.template"
local ok, run = pcall(template.compile, bytes)
if not ok then return not sound and type(run) == "string" end
return judge(pcall(run, {messages = {{role = "user", content = "hello"}},
                         add_generation_prompt = true}))]]}
end

if la.llm and la.gguf then
  local tiny = require "modules.llm.spec.tiny"
  local model = written(".gguf", function(path) tiny(path, {layers = 1}) end)
  row{name = "llm", likely = BINARY .. "GUFblk.attn_llama.context_length",
      files = {model}, head = 9000, code = LOOK .. [[
local ok, m = pcall(la.llm.load, "x.gguf", {context = 64})
if not ok then return not sound and type(m) == "string" end
local ok, text = pcall(m.chat, m, {{role = "user", content = "hi"}}, {
  temperature = 0, max = 3})
return judge(ok, text)]]}
end

return readers
