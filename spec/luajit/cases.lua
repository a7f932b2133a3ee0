-- Run by LuaJIT (spec/luajit/ffi_spec.lua): lunarray.ffi against values of Lua
-- 5.4's lunarray. Prints "ok" and how many checks there were.
--   luajit spec/luajit/cases.lua <path of liblunarray-core>
package.path = "luajit/?.lua;lua/?.lua;" .. package.path
_G.LUNARRAY_CORE = arg[1]
local ffi = require "ffi"
local la = require "lunarray.ffi"

local checks = 0
local function same(got, want, what)
  checks = checks + 1
  if type(want) == "table" then
    for i = 1, math.max(#got, #want) do same(got[i], want[i], what) end
  elseif got ~= want and not (got ~= got and want ~= want) then
    error(("%s: %s, not %s"):format(what, tostring(got), tostring(want)), 2)
  end
end
local function raises(part, f, ...)
  local ok, text = pcall(f, ...)
  same(ok, false, part)
  same(tostring(text):find(part, 1, true) ~= nil, true, part .. ": " .. text)
end

local x = la.tensor {{1, 2, 3}, {4, 5, 6}}
same(x.dtype, "float32", "dtype")
same(x.shape, {2, 3}, "shape")
same(#x, 2, "#")
same((x + 1):totable(), {{2, 3, 4}, {5, 6, 7}}, "x + 1")
same((2 - x):totable(), {{1, 0, -1}, {-2, -3, -4}}, "2 - x")
same((x * x / 2 - -x):totable()[2], {12, 17.5, 24}, "operators")
same((x % 2):totable()[1], {1, 0, 1}, "%")
same((x ^ 2):totable()[2], {16, 25, 36}, "^")

-- keys
same(x[2]:totable(), {4, 5, 6}, "x[i]")
same(x[-1]:totable(), {4, 5, 6}, "x[-1]")
same(x[{2, 3}]:item(), 6, "x[{i, j}]")
same(x(1, 2):item(), 2, "x(i, j)")
same(x:item(2, 1), 4, "item(i, j)")
same(x[{{}, {2, 3}}]:totable(), {{2, 3}, {5, 6}}, "ranges")
same(x[{{}, {1, 3, 2}}]:totable(), {{1, 3}, {4, 6}}, "steps")
same(x[{"...", 1}]:totable(), {1, 4}, "...")
same(x[{la.newaxis, 1}].shape, {1, 3}, "newaxis")
same(x[x:gt(2)]:totable(), {3, 4, 5, 6}, "mask")
local y = x:clone()
y[{1, {2, 3}}] = 0
y[2] = la.tensor {7, 8, 9}
same(y:totable(), {{1, 0, 0}, {7, 8, 9}}, "writes")
raises("index 3 is out of bounds", function() return x[3] end)
raises("has no field 'colour'", function() x.colour = 1 end)

-- calls
same(x:sum(), x:sum {dim = {1, 2}}, "sum")
same(x:sum {dim = 2, keepdim = true}:totable(), {{6}, {15}}, "keywords")
local values, indices = x:max(2)
same(values:totable(), {3, 6}, "values")
same(indices:totable(), {3, 3}, "indices")
same(la.zeros {2, 3, dtype = "float64"}.dtype, "float64", "options")
same(la.cat({x, x}, 2).shape, {2, 6}, "cat")
same(#la.split(x, 1), 2, "lists")
same(x:gt(0):all(), true, "booleans")
same(rawequal(y:add_(1), y), true, "in place gives the same")
local out = la.zeros(2, 3)
same(rawequal(la.add(x, x, {out = out}), out), true, "out")
same(out, x * 2, "==")
same(x == 1, false, "== of others")
same(la.linalg.det(la.tensor {{2, 0}, {0, 3}}):item(), 6, "themes")
same(la.fft.fft(la.tensor {1, 0, 0}).real:totable(), {1, 1, 1}, "fft")
same(tostring(la.tensor {1, 2}), "tensor([1., 2.])", "tostring")
same(la.tensor({1, 2}, {dtype = "int64"}):sum():item(), 3, "int64")
same(la.tensor {true, false}:totable(), {true, false}, "bool")
same(la.tensor({0.5, 1.5}):to "float16":totable(), {0.5, 1.5}, "float16")
same(la.tensor {1} < 2, true, "<")
same((x:sum(1) + 1LL):totable(), {6, 8, 10}, "int64_t")
raises("must match the size", function() return x + la.zeros(2, 2) end)
raises("sum:", function() return x:sum(9) end)
raises("at most 16", function() return la.zeros(1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
  1, 1, 1, 1, 1, 1, 1) end)

-- gradients
local w = la.tensor({1, 2, 3}, {requires_grad = true});
(w * w):sum():backward()
same(w.grad:totable(), {2, 4, 6}, "grad")
w.grad = nil
same(w.grad, nil, "no grad")
same(la.no_grad(function() return (w * 2).requires_grad end), false, "no_grad")
same((w * 2).requires_grad, true, "after no_grad")
raises("inside", la.no_grad, function() error "inside" end)
same((w * 2).requires_grad, true, "after an error")

-- life
local freed = la.zeros(3)
freed:free()
freed:free()
raises("was freed", function() return freed + 1 end)
local inner
local kept = la.tidy(function()
  inner = x * 2
  return {inner + 1, la.keep(x * 3)}
end)
same(kept[1]:totable()[1], {3, 5, 7}, "tidy returns")
same(kept[2]:totable()[1], {3, 6, 9}, "keep")
raises("was freed", function() return inner + 1 end)
raises("oops", la.tidy, function() error "oops" end)
for _ = 1, 2000 do local _ = la.zeros(100, 100) end      -- the collector runs

-- memory and files
local memory = ffi.new("float[4]", {1, 2, 3, 4})
local shared = la.wrap(memory, "float32", {2, 2})
shared:mul_(2)
same(memory[3], 8, "wrap")
same(shared:data()[1], 4, "data")
local path = os.tmpname()
la.save({a = x, b = w:detach()}, path .. ".safetensors")
same(la.load(path .. ".safetensors", "a"), x, "files")
os.remove(path)
os.remove(path .. ".safetensors")
raises("cannot open", la.load, path .. ".npz", "a")

-- what there is
same(#la.operations() > 500, true, "operations")
same(la.schema "neg", "neg(Tensor self) -> Tensor", "schema")
same(la.help "exp":find("exp", 1, true) ~= nil, true, "help")
same(la.nonsense, nil, "no such name")
la.manual_seed(7)
local first = la.rand(3)
la.manual_seed(7)
same(la.rand(3), first, "seeds")

-- methods that are operations of their own, and questions
same(la.zeros(2):fill_(3):totable(), {3, 3}, "fill_")
same(la.zeros(2):uniform_(2, 3):ge(2):all(), true, "uniform_")
same(x:nbytes(), 24, "nbytes")
same({x:stride()}, {3, 1}, "stride")
same(x:is_floating_point(), true, "is_floating_point")
same(x:gt(1):is_floating_point(), false, "is_floating_point of bool")
same(x.shape == la.ones(2, 3).shape, true, "shapes")
same(tostring(x.shape), "{2, 3}", "shapes as texts")
same({w.is_leaf, (w * 2).is_leaf, x.is_leaf}, {true, false, true}, "is_leaf")
same(la.tensor {{1, 2}}.T.shape, {2, 1}, "T")
same(x:reshape {6}.shape, {6}, "lists")
same(la.empty({2}, {dtype = nil}).shape, {2}, "options without any")
local drawn = la.get_rng_state()
local again = la.rand(2)
la.set_rng_state(drawn)
same(la.rand(2), again, "states of the generator")

-- lunarray.nn, optim and data: the losses of Lua 5.4 (spec/luajit/ffi_spec.lua
-- runs spec/luajit/train.lua there)
local losses = dofile "spec/luajit/train.lua"(la, require "lunarray.nn",
  require "lunarray.optim", require "lunarray.data")
for i = 1, #losses do print(("loss %.9g"):format(losses[i])) end

-- programs
if arg[2] then
  local program = la.load_program(arg[2])
  local ones = la.ones(4, 3)
  local product, sum = program(ones)
  same(product, ones:matmul(program:weight(program:weights()[1])), "program")
  same(sum:item(), 12, "program")
  same(program:inputs(), {"x"}, "inputs")
  same(#program:weights(), 1, "weights")
  local go, done, p = program:begin(ones), nil, nil
  repeat done, p = go(1e-6) until done
  same(p, product, "in parts")
  same(program:clone()(ones), product, "clone")
  raises("1 inputs expected, got 0", program)
  raises("sizes [4, 3] expected, got [2]", program, la.ones(2))
end
raises("load_program:", la.load_program, "nowhere.laprog")
print(("ok, %d checks"):format(checks))
