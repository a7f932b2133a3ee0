-- The share of lines with a comment in each folder of sources: printed, and a
-- failure below the folder's floor. The aim is 15 to 20 percent: a contract
-- before each exported function, the question and the invariant at the head of
-- a file, a reason where a reader would stop. Floors only rise.
-- And how comments begin: with a noun phrase, a verb or a question, because a
-- debugger or a search shows one without the comment before it. Those that lean
-- on another by their first word are counted; the limit only falls.
--   lua5.4 spec/lint/comments.lua
package.path = "spec/lint/?.lua;" .. package.path
local files = require "files"

local FLOORS = {
  ["modules/audio/io"] = 13, ["modules/audio/lua"] = 13,
  ["modules/csv/io"] = 14, ["modules/csv/lua"] = 9, ["modules/frame"] = 15,
  ["modules/frame/lua"] = 9, ["modules/game"] = 10, ["modules/game/grid"] = 11,
  ["modules/game/kernel"] = 16, ["modules/gguf"] = 9, ["modules/gguf/io"] = 10,
  ["modules/gguf/kernel"] = 9, ["modules/gguf/lua"] = 8,
  ["modules/gguf/spec"] = 9, ["modules/image/io"] = 11,
  ["modules/image/lua"] = 10, ["modules/llm"] = 13, ["modules/llm/kernel"] = 16,
  ["modules/mpi/ranks"] = 10, ["modules/onnx/io"] = 10,
  ["modules/onnx/lua"] = 12, ["modules/onnx/spec"] = 8,
  ["modules/pickle/io"] = 9, ["modules/pickle/lua"] = 8,
  ["modules/pickle/spec"] = 7, ["modules/profile"] = 15,
  ["modules/profile/lua"] = 10, ["modules/signal"] = 9,
  ["modules/signal/kernel"] = 12, ["modules/stats"] = 12,
  ["modules/tokenizer"] = 12, ["modules/tokenizer/lua"] = 13,
  ["modules/tokenizer/spec"] = 7, ["modules/torch7/io"] = 8,
  ["modules/torch7/lua"] = 7, ["modules/vision"] = 12,
  ["modules/vision/kernel"] = 13, ["src/api"] = 12, ["src/api/program"] = 10,
  ["src/base"] = 18, ["src/base/libm"] = 10, ["src/base/os"] = 14,
  ["src/base/runtime"] = 16, ["src/fuse"] = 15, ["src/grad"] = 15,
  ["src/grad/def"] = 17, ["src/grad/formulas"] = 14, ["src/io"] = 13,
  ["src/iter"] = 14, ["src/kernel"] = 32, ["src/kernel/amx"] = 13,
  ["src/kernel/avx512_bf16"] = 8, ["src/kernel/avx512_vnni"] = 19,
  ["src/kernel/conv"] = 11, ["src/kernel/each"] = 16, ["src/kernel/fft"] = 12,
  ["src/kernel/index"] = 11, ["src/kernel/linalg"] = 12,
  ["src/kernel/matmul"] = 12, ["src/kernel/move"] = 12, ["src/kernel/nn"] = 13,
  ["src/kernel/pointwise"] = 7, ["src/kernel/pointwise/complex"] = 10,
  ["src/kernel/pointwise/loops"] = 12, ["src/kernel/pointwise/special"] = 13,
  ["src/kernel/random"] = 14, ["src/kernel/reduce"] = 12,
  ["src/kernel/reduce/each"] = 8, ["src/kernel/reduce/loops"] = 11,
  ["src/kernel/rows"] = 12, ["src/kernel/scan"] = 12, ["src/kernel/sort"] = 13,
  ["src/lua"] = 15, ["src/lua/api"] = 14, ["src/lua/files"] = 13,
  ["src/lua/lifetime"] = 15, ["src/lua/sandbox"] = 14,
  ["src/lua/transform"] = 12, ["src/op"] = 17, ["src/op/conv"] = 15,
  ["src/op/cost"] = 19, ["src/op/create"] = 15, ["src/op/debug"] = 14,
  ["src/op/def"] = 6, ["src/op/eigen"] = 10, ["src/op/fft"] = 12,
  ["src/op/host"] = 15, ["src/op/index"] = 15, ["src/op/linalg"] = 12,
  ["src/op/matmul"] = 15, ["src/op/move"] = 13, ["src/op/nn"] = 13,
  ["src/op/pointwise"] = 15, ["src/op/random"] = 14, ["src/op/reduce"] = 13,
  ["src/op/rows"] = 13, ["src/op/scan"] = 15, ["src/op/sort"] = 14,
  ["src/op/view"] = 13, ["src/program"] = 12, ["src/repl"] = 15,
  ["src/simd"] = 16, ["src/simd/isa"] = 8, ["src/simd/math"] = 12,
  ["src/simd/permute"] = 10, ["src/tensor"] = 15, ["src/tensor/host"] = 12,
  ["src/tensor/text"] = 11, ["src/vmap"] = 11,
}

-- A row of a table of numbers or of bytes, about which there is nothing to say.
local function is_data(line)
  return line:find('^%s*[%x%sx,{}u+.-]+;?$') and line:find("%d.*,")
    or line:find('^%s*"[^"]*"[,;]?$')
end

-- Lines with a comment, and lines that are neither empty nor data.
local function count(path)
  local text = files.text(path)
  local commented, lines = 0, 0
  local comments = files.split(files.comments_c(text))
  for i, line in ipairs(files.split(text)) do
    if line:find("%S") and not is_data(line) then lines = lines + 1 end
    if comments[i]:find("%w") then commented = commented + 1 end
  end
  return commented, lines
end

local function shares(root)
  local list, folders = {}, {}
  for _, path in ipairs(files.list(root, "*.c", "*.h", "*.inc", "*.def")) do
    local name = path:match("^(.*)/[^/]+$")
    if not folders[name] then
      folders[name] = {name = name, commented = 0, lines = 0}
      list[#list + 1] = folders[name]
    end
    local folder, commented, lines = folders[name], count(path)
    folder.commented = folder.commented + commented
    folder.lines = folder.lines + lines
  end
  return list
end

-- First words of comments that lack a subject, and how many lines may still
-- begin so. A comment behind code annotates its field and may be short.
local LEANING = {"What", "Of", "By", "As", "From", "Where", "For", "Not",
                 "The same", "In", "At"}
local MOST_LEANING = 0

local function is_leaning(line)
  local text = line:match("^%s*/%*%s+(.*)")
  for _, word in ipairs(text and LEANING or {}) do
    if text:find("^" .. word .. "%f[%W]") then return true end
  end
  return false
end

local function check_beginnings(root, found)
  local list = {}
  for _, path in ipairs(files.list(root, "*.c", "*.h", "*.inc", "*.def")) do
    for i, line in ipairs(files.lines(path)) do
      if is_leaning(line) then
        list[#list + 1] = ("%s:%d: %s"):format(path, i, line)
      end
    end
  end
  if #list > MOST_LEANING then
    for _, line in ipairs(list) do found[#found + 1] = line end
    found[#found + 1] = ("%d comments begin without a subject, at most %d")
      :format(#list, MOST_LEANING)
  end
  print(("  comments that begin without a subject: %d of at most %d")
    :format(#list, MOST_LEANING))
end

local function check(root)
  local found, texts = {}, {}
  for _, f in ipairs(shares(root)) do
    local share = 100 * f.commented / math.max(1, f.lines)
    local floor = FLOORS[f.name] or 5
    texts[#texts + 1] = ("%s %.1f"):format(f.name:gsub("^src/", ""), share)
    if share < floor and f.lines > 10 then
      found[#found + 1] = ("%s: comments in %.1f %% of the lines, at least %d")
        :format(f.name, share, floor)
    end
  end
  print("  comments, percent of lines: " .. table.concat(texts, ", "))
  check_beginnings(root, found)
  return found
end

if arg and arg[0] and arg[0]:match("comments%.lua$") then
  files.main(check, arg[1] or "src modules")
end
return check
