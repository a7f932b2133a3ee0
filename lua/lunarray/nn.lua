-- lunarray.nn: networks as objects that hold parameters. What they compute is
-- operations of the library; modules only keep the state.
local nn = require "lunarray.nn.module"

require "lunarray.nn.initial"
require "lunarray.nn.layers"
require "lunarray.nn.norms"
require "lunarray.nn.containers"
require "lunarray.nn.recurrent"
require "lunarray.nn.attention"
require "lunarray.nn.losses"

return nn
