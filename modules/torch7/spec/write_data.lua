-- The files of spec/data, which test_torch7.c damages:
--   lua5.4 modules/torch7/spec/write_data.lua
local write = require "modules.torch7.spec.write"

local weight = {storage = "Float", 1, 2, 3, 4, 5, 6}
local net = {
  name = "net", epoch = 3, rate = 0.5, done = false,
  ids = {storage = "Long", 1, -1, 1 << 30},
  forward = {code = "\27Lua", upvalues = {{"shared"}}, numbered = true},
  model = {class = "nn.Sequential", fields = {modules = {
    {class = "nn.Linear", fields = {
      weight = {tensor = "Float", sizes = {2, 3}, strides = {3, 1},
                data = weight},
      bias = {tensor = "Float", sizes = {2}, strides = {1}, offset = 5,
              data = weight}}},
    {class = "nn.ReLU", old = true, fields = {inplace = true}}}}},
}

for name, how in pairs {["net.t7"] = {}, ["net32.t7"] = {long = 4},
                        ["net.ascii.t7"] = {text = true}} do
  local file = assert(io.open("modules/torch7/spec/data/" .. name, "wb"))
  file:write(write(net, how))
  file:close()
end
