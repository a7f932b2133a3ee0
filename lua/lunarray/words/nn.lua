-- lunarray.words.nn: what all modules of networks have, containers, initial
-- values. The format is in lunarray.help.rows.
return [==[
== nn.class
: nn.class(name[, base = nn.Module]) -> class
A class of modules of your own. Give it init(self, ...) and forward(self, ...).
Parameters (nn.Parameter) and modules that are assigned to fields are found
automatically: they train, move, and are saved with the object. Call the class
to make an object; call the object to run forward.
> Net = nn.class "Net"
> function Net:init(n)
>>   self.hidden = nn.Linear(n, 4)
>>   self.out = nn.Linear(4, 1)
>> end
> function Net:forward(x) return self.out(self.hidden(x):relu()) end
> net = Net(3)
> net(la.ones(5, 3)).shape, #net:parameters()
{5, 1}    4
see: nn.Module, nn.Parameter, nn.Sequential
== nn.Module
: nn.Module
The class of all modules; every net has its methods. Calling an object runs
forward with its hooks. net.training says whether it is in training mode.
> net = nn.Linear(2, 3)
> net.weight.shape, net.training
{3, 2}    true
see: nn.class, nn.Module:parameters, nn.Module:state_dict
== nn.Module:forward
: net:forward(...) -> ...
Computes the result of a module. Write it for a class of your own, but call
net(...), which runs the hooks too.
> net = nn.ReLU()
> net(la.tensor{-1., 2})
tensor([0., 2.])
! A class without one.
see: nn.class, nn.Module:register_forward_hook
== nn.Module:parameters
: net:parameters() -> list of tensors
The parameters of the module and of all modules in it, each once, in the order
of their assignment. Give them to an optimiser.
> #nn.Linear(2, 3):parameters()
2
see: nn.Module:named_parameters, nn.Module:buffers, optim.Optimizer
== nn.Module:named_parameters
: net:named_parameters() -> iterator
Iterates over all parameters: the name of each, as state_dict has it, and the
tensor.
> for name, p in nn.Linear(2, 3):named_parameters() do
>>   print(name, p.shape)
>> end
weight    {3, 2}
bias    {3}
see: nn.Module:parameters
== nn.Module:buffers
: net:buffers() -> list of tensors
The tensors that belong to the module but do not train, such as the running
means of norms.
> #nn.BatchNorm1d(4):buffers()
3
see: nn.Module:named_buffers, nn.Module:register_buffer
== nn.Module:named_buffers
: net:named_buffers() -> iterator
Iterates over all buffers (tensors that are saved but not trained): name and
tensor.
> for name, b in nn.BatchNorm1d(4):named_buffers() do
>>   print(name, b.shape)
>> end
running_mean    {4}
running_var    {4}
num_batches_tracked    {}
see: nn.Module:buffers
== nn.Module:children
: net:children() -> list of modules
The modules in the fields of this one, but not those inside of them. To replace
or freeze the parts of a net one by one.
> #nn.Sequential(nn.Linear(2, 3), nn.ReLU()):children()
2
see: nn.Module:modules, nn.Module:named_children
== nn.Module:named_children
: net:named_children() -> iterator
Iterates over the modules that are fields of this one: the field's name and the
module.
> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
> for name, child in net:named_children() do print(name, child) end
0    Linear(in_features=2, out_features=3, bias=true)
1    ReLU()
see: nn.Module:children
== nn.Module:modules
: net:modules() -> list of modules
The module itself and all modules in it, parents first, each once. To find every
layer of a kind, however deep.
> #nn.Sequential(nn.Linear(2, 3), nn.ReLU()):modules()
3
see: nn.Module:children, nn.Module:apply
== nn.Module:named_modules
: net:named_modules() -> iterator
Iterates over paths and modules; the path of the module itself is "". To list a
net, or to find a layer by its path.
> net = nn.Sequential(nn.Sequential(nn.ReLU()))
> for path in net:named_modules() do print(("%q"):format(path)) end
""
"0"
"0.0"
see: nn.Module:modules
== nn.Module:register_buffer
: net:register_buffer(name, tensor)
Adds a tensor that moves and is saved with the module but does not train. It is
read as the field of that name.
> net = nn.Identity()
> net:register_buffer("scale", la.tensor{2.})
> net.scale, #net:parameters()
tensor([2.])    0
see: nn.Module:register_parameter, nn.Module:buffers
== nn.Module:register_parameter
: net:register_parameter(name, parameter)
The same as an assignment to a field. Use it for names that a program makes, and
for nil, which keeps the name.
> net = nn.Identity()
> net:register_parameter("w", nn.Parameter(la.ones(2)))
> net.w
tensor([1., 1.], requires_grad=True)
see: nn.Parameter, nn.Module:register_buffer
== nn.Module:add_module
: net:add_module(name, module)
Makes a module a part of this one under a name, as an assignment to a field
does.
> net = nn.Identity()
> net:add_module("out", nn.Linear(2, 1))
> net
Identity(
  (out): Linear(in_features=2, out_features=1, bias=true)
) -- 3 parameters, 12 bytes
see: nn.class, nn.ModuleList
== nn.Module:register_forward_hook
: net:register_forward_hook(hook) -> handle
Calls hook(module, result, inputs...) after each forward. If it returns a value
other than nil, that replaces the result. handle.remove() removes the hook. Use
it to look into a net, or to change the result of a layer without a class of
your own.
> net = nn.ReLU()
> handle = net:register_forward_hook(function(_, y) print(y.shape) end)
> y = net(la.ones(2, 3))
{2, 3}
see: nn.Module:register_forward_pre_hook
== nn.Module:register_forward_pre_hook
: net:register_forward_pre_hook(hook) -> handle
Calls hook(module, inputs...) before each forward. What it returns is ignored.
> net = nn.ReLU()
> handle = net:register_forward_pre_hook(function(_, x) print(x.shape) end)
> y = net(la.ones(2, 3))
{2, 3}
see: nn.Module:register_forward_hook
== nn.Module:train
: net:train([on = true]) -> net
Switches the module and all modules in it to training mode: dropout drops, batch
norms use the batch's mean and update running ones. Modules begin in this mode.
> net = nn.Dropout(0.5):train(false)
> net(la.ones(3))
tensor([1., 1., 1.])
see: nn.Module:eval
== nn.Module:eval
: net:eval() -> net
Switches to the mode for use: train(false). It does not switch gradients off;
la.no_grad does.
> net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)):eval()
> net.training, net[2].training
false    false
see: nn.Module:train, no_grad
== nn.Module:requires_grad_
: net:requires_grad_([on = true]) -> net
Sets whether all parameters get gradients; false freezes them. To tune only the
last layers of a trained net.
> net = nn.Linear(2, 3):requires_grad_(false)
> net.weight.requires_grad
false
see: x:requires_grad_, nn.Module:zero_grad
== nn.Module:zero_grad
: net:zero_grad() -> net
Sets the gradients of all parameters to nil, so that the next backward starts
anew.
> net = nn.Linear(2, 1)
> net(la.ones(1, 2)):sum():backward()
> net:zero_grad().weight.grad
nil
see: optim.Optimizer:zero_grad
== nn.Module:apply
: net:apply(f) -> net
Calls f(module) on all modules, children first, for example to set initial
values by a rule of your own.
> net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
> net = net:apply(function(m)
>>   if m.weight then nn.init.ones_(m.weight) end
>> end)
> net[1].weight
tensor([[1., 1.],
        [1., 1.]], requires_grad=True)
see: nn.Module:modules, nn.init
== nn.Module:to
: net:to(target) -> net
Converts all floating and complex parameters and buffers to another dtype, or
moves them to another device. Parameters become new tensors, so make the
optimiser afterwards.
> nn.Linear(2, 3):to("bfloat16").weight.dtype
bfloat16
see: to, nn.Module:double, nn.Module:float
== nn.Module:double
: net:double() -> net
Converts all parameters and buffers to float64, as to("float64") does. For tests
of gradients; training seldom needs it.
> nn.Linear(2, 3):double().weight.dtype
float64
see: nn.Module:to
== nn.Module:float
: net:float() -> net
Converts all parameters and buffers to float32, as to("float32") does.
> nn.Linear(2, 3):double():float().weight.dtype
float32
see: nn.Module:to
== nn.Module:state_dict
: net:state_dict() -> table
All parameters and buffers by name, sharing memory with the net. la.save writes
them, and load_state_dict copies them back into a net.
> for name in pairs(nn.Linear(2, 3, {bias = false}):state_dict()) do
>>   print(name)
>> end
weight
see: nn.Module:load_state_dict, save
== nn.Module:load_state_dict
: net:load_state_dict(state[, {strict = true}]) -> missing, unexpected
Copies the tensors of a state_dict into the net. Names are those of PyTorch's
files. Without strict, names that only one side has are left alone and returned.
> a, b = nn.Linear(2, 2), nn.Linear(2, 2)
> missing, unexpected = b:load_state_dict(a:state_dict())
> b.weight:equal(a.weight), #missing
true    0
! Names that one side lacks, or sizes that differ: the message lists them, and
  nothing is changed.
see: nn.Module:state_dict, load
== nn.Module:clone
: net:clone() -> module
A copy with tensors of its own. Tensors that are shared within the net are
shared within the copy.
> a = nn.Linear(2, 2)
> b = a:clone()
> b.weight:equal(a.weight), b.weight:is_set_to(a.weight)
true    false
see: clone
== nn.Module:adopt
: Class:adopt(module) -> module
Gives the object the methods of this class; its fields and parameters stay. Use
it after the code of a class was loaded again.
> Old, New = nn.class "Net", nn.class "Net"
> function New.forward(_, x) return x + 1 end
> New:adopt(Old())(la.zeros(2))
tensor([1., 1.])
see: nn.class
== nn.summary
: nn.summary(net[, sizes[, {batch = 1, dtype =, dtypes =}]]) -> summary
The layers of a net with the shapes and dtypes of what comes out of them, their
parameters, and the sums of numbers and bytes; without sizes the counts alone.
sizes are of one input without the batch, which is put in front (false: none),
or a list of such lists, with tensors among them. A copy runs on the meta
device (on zeros where its forward looks at values): nothing of the net changes.
summary.rows has an entry for each layer (name, class, outputs, parameters,
trainable, bytes, calls), the summary the sums: parameters, bytes, buffers,
input_bytes, output_bytes. What is shared counts once.
- dtype: of the inputs; that of the parameters
- dtypes: one for each input
> net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Flatten(),
>>   nn.Linear(5408, 10))
> nn.summary(net, {1, 28, 28})
layer          output          dtype    parameters
Sequential     {1, 10}         float32
  (0) Conv2d   {1, 8, 26, 26}  float32          80
  (1) Flatten  {1, 5408}       float32
  (2) Linear   {1, 10}         float32      54,090
54,170 parameters (217 KB)
inputs 3.14 KB, outputs of the layers 43.3 KB
! A forward that fails on such inputs.
see: nn.Module:tostring, nn.Module:parameters
== nn.Module:tostring
: net:tostring() -> string
The tree of modules, as tostring and print show it: the parts of each module,
and how many parameters are inside. nn.summary shows the shapes of results.
> nn.Sequential(nn.Linear(2, 3), nn.ReLU()):tostring()
Sequential(
  (0): Linear(in_features=2, out_features=3, bias=true)
  (1): ReLU()
) -- 9 parameters, 36 bytes
see: nn.Module:extra_repr
== nn.Module:extra_repr
: net:extra_repr() -> string
The text between a module's parentheses when it is printed. A class may define
its own.
> Scale = nn.class "Scale"
> function Scale.extra_repr() return "by 2" end
> Scale()
Scale(by 2)
see: nn.Module:tostring
== nn.Parameter
: nn.Parameter(tensor[, requires_grad = true]) -> tensor
Makes the tensor a parameter: a leaf that records gradients, and that a module
finds in its fields. It shares memory with the tensor.
> w = nn.Parameter(la.zeros(2))
> w, nn.is_parameter(w)
tensor([0., 0.], requires_grad=True)    true
! What is no tensor.
see: nn.class, nn.is_parameter
== nn.is_module
: nn.is_module(value) -> boolean
Is the value an object of a class of modules?
> nn.is_module(nn.ReLU()), nn.is_module({})
true    false
see: nn.Module
== nn.is_parameter
: nn.is_parameter(value) -> boolean
Is the value a tensor that nn.Parameter made?
> nn.is_parameter(nn.Linear(2, 2).weight), nn.is_parameter(la.ones(2))
true    false
see: nn.Parameter
== nn.clip_grad_norm_
: nn.clip_grad_norm_(parameters, max_norm[, norm_type = 2]) -> tensor
Scales all gradients so that their joint norm is at most max_norm, and returns
the norm of before. Call it between backward and step, against steps that
explode (recurrent nets, attention).
> w = la.zeros(2, {requires_grad = true})
> (w * la.tensor{3., 4}):sum():backward()
> nn.clip_grad_norm_({w}, 1)
tensor(5.)
> w.grad
tensor([0.6000, 0.8000])
source: Pascanu, Mikolov, Bengio: On the difficulty of training recurrent neural
  networks (2013)
aka: clip_grad_norm_
see: nn.clip_grad_value_, optim.SGD
== nn.clip_grad_value_
: nn.clip_grad_value_(parameters, limit)
Clamps every element of all gradients to -limit .. limit. Against single huge
gradients; clip_grad_norm_ keeps the direction.
> w = la.zeros(2, {requires_grad = true})
> (w * la.tensor{3., -0.5}):sum():backward()
> nn.clip_grad_value_({w}, 1)
> w.grad
tensor([ 1.0000, -0.5000])
aka: clip_grad_value_
see: nn.clip_grad_norm_
== nn.Sequential
: nn.Sequential(module, ...) -> module
Modules one after the other; each gets the result of the one before. net[i] and
#net count from 1; names in a state_dict count from "0", as in PyTorch's files.
> net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
> net(la.ones(3, 2)).shape, #net
{3, 1}    3
! An argument that is no module.
see: nn.ModuleList, nn.class
== nn.ModuleList
: nn.ModuleList([list]) -> module
A list of modules that belong to the module which has it in a field: list[i],
#list, list:append(module), list:extend(modules). It has no forward.
> blocks = nn.ModuleList{nn.Linear(2, 2), nn.Linear(2, 2)}
> #blocks:append(nn.ReLU()), #blocks:parameters()
3    4
see: nn.Sequential, nn.ModuleDict
== nn.ModuleDict
: nn.ModuleDict([modules]) -> module
Modules by name, from a table (in alphabetical order) or a list of {name,
module}. heads.name and heads:get(name) give one module, pairs walks over all.
> heads = nn.ModuleDict{a = nn.Linear(2, 1), b = nn.Linear(2, 3)}
> heads.b(la.ones(2)).shape
{3}
see: nn.ModuleList
== nn.ParameterList
: nn.ParameterList([list]) -> module
A list of parameters that belong to the module which has it in a field. Tensors
in it become parameters.
> ws = nn.ParameterList{la.ones(2), la.ones(3)}
> #ws:append(la.zeros(1)), ws[1].requires_grad
3    true
see: nn.Parameter, nn.ModuleList
== nn.init
: nn.init
Initial values: functions that fill a tensor in place, without recording, and
return it. Layers call them; your own nets may too.
> nn.init.constant_(la.empty(2), 0.5)
tensor([0.5000, 0.5000])
see: nn.init.kaiming_uniform_, nn.init.xavier_uniform_, nn.Module:apply
== nn.init.uniform_
: nn.init.uniform_(x[, low = 0, high = 1, generator]) -> tensor
Fills the tensor with random numbers between low and high, all equally likely.
> nn.init.uniform_(la.empty(100), 2, 3):ge(2):all()
true
see: uniform_, nn.init.normal_
== nn.init.normal_
: nn.init.normal_(x[, mean = 0, std = 1, generator]) -> tensor
Fills the tensor with random numbers of the normal distribution with this mean
and standard deviation.
> nn.init.normal_(la.empty(2, 3)).shape
{2, 3}
see: normal_, nn.init.trunc_normal_
== nn.init.trunc_normal_
: nn.init.trunc_normal_(x[, mean = 0, std = 1, a = -2, b = 2, generator]) ->
  tensor
Normal, cut to a .. b. It uses the inverse of the distribution function, so no
draw is repeated.
> nn.init.trunc_normal_(la.empty(1000)):abs():le(2):all()
true
see: nn.init.normal_
== nn.init.constant_
: nn.init.constant_(x, value) -> tensor
Fills the tensor with one value in place: biases with 0, scales with 1, an
output with its prior.
> nn.init.constant_(la.empty(2), 3)
tensor([3., 3.])
see: fill_
== nn.init.zeros_
: nn.init.zeros_(x) -> tensor
Fills the tensor with zeros: the usual start for biases.
> nn.init.zeros_(la.empty(2))
tensor([0., 0.])
see: nn.init.ones_
== nn.init.ones_
: nn.init.ones_(x) -> tensor
Fills the tensor with ones: the usual start for the scales of norms.
> nn.init.ones_(la.empty(2))
tensor([1., 1.])
see: nn.init.zeros_
== nn.init.eye_
: nn.init.eye_(x) -> tensor
The identity matrix, for a square layer that begins by passing its input on.
> nn.init.eye_(la.empty(2, 2))
tensor([[1., 0.],
        [0., 1.]])
see: eye
== nn.init.xavier_uniform_
: nn.init.xavier_uniform_(x[, gain = 1, generator]) -> tensor
Uniform within gain sqrt(6 / (fan_in + fan_out)). Use it before tanh and
sigmoid: signals then keep their size in both directions.
> nn.init.xavier_uniform_(la.empty(3, 3)):abs():le(1):all()
true
source: Glorot, Bengio: Understanding the difficulty of training deep
  feedforward neural networks (2010)
see: nn.init.xavier_normal_, nn.init.kaiming_uniform_, nn.init.calculate_gain
== nn.init.xavier_normal_
: nn.init.xavier_normal_(x[, gain = 1, generator]) -> tensor
Normal of standard deviation gain sqrt(2 / (fan_in + fan_out)). For layers
before tanh or sigmoid; nn.init.kaiming_normal_ before relu.
> nn.init.xavier_normal_(la.empty(3, 4)).shape
{3, 4}
source: Glorot, Bengio (2010)
see: nn.init.xavier_uniform_
== nn.init.kaiming_uniform_
: nn.init.kaiming_uniform_(x[, {a = 0, mode = "fan_in", nonlinearity =
  "leaky_relu", generator =}]) -> tensor
Uniform within gain sqrt(3 / fan). Use it before relu and similar functions.
mode "fan_out" keeps the size of gradients instead of values; a is the slope of
leaky_relu.
> nn.init.kaiming_uniform_(la.empty(4, 6)):abs():le(1):all()
true
source: He, Zhang, Ren, Sun: Delving deep into rectifiers (2015)
see: nn.init.kaiming_normal_, nn.init.calculate_gain
== nn.init.kaiming_normal_
: nn.init.kaiming_normal_(x[, {a = 0, mode = "fan_in", nonlinearity =
  "leaky_relu", generator =}]) -> tensor
Fills the tensor with normal random numbers of standard deviation gain /
sqrt(fan), for layers before a ReLU.
> nn.init.kaiming_normal_(la.empty(8, 3, 3, 3),
>>   {nonlinearity = "relu"}).shape
{8, 3, 3, 3}
source: He, Zhang, Ren, Sun (2015)
see: nn.init.kaiming_uniform_
== nn.init.calculate_gain
: nn.init.calculate_gain(name[, slope]) -> number
The factor by which weights before this nonlinearity are larger: "linear",
"sigmoid", "tanh", "relu", "leaky_relu" (with its slope), "selu", "conv1d" to
"conv3d".
> nn.init.calculate_gain("tanh")
1.6666666666667
! A name that is not in this list.
see: nn.init.xavier_uniform_
== nn.init.fans
: nn.init.fans(x) -> fan_in: integer, fan_out: integer
How many inputs are summed for one output of this weight, and how many outputs
one input reaches. Sizes are (out, in, kernel...).
> nn.init.fans(la.empty(8, 3, 5, 5))
75    200
! Fewer than two dims.
see: nn.init.kaiming_uniform_
]==]
