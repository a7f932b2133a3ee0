-- lunarray.words.onnx: networks in ONNX files. The format is in
-- lunarray.help.rows.
return [==[
= Networks in ONNX files
== onnx
: la.onnx
Networks that were trained elsewhere: a file is a module of lunarray.nn, which
runs, names its parts, trains further and is cut where its features are.
> pcall(la.onnx.load, "", {bytes = true})
false    onnx.load: the file holds no graph
see: onnx.load, onnx.register, onnx.read
== onnx.load
: la.onnx.load(path or bytes[, {externals =, freeze =, bytes =}]) -> module
The network of an ONNX file. m:run({name = tensor}) gives the results by name,
m(x) those of inputs in order; {outputs = {names}} picks, inner values too.
m:inputs() and m:outputs() list {name, dtype, shape}. print(m:summary()) tells
operators, parameters and all that is not supported, before anything runs;
m:summary{input = sizes} counts multiply-adds. m:parameters() and the other
methods of modules work; m:freeze("pattern") takes gradients away, m:cut("name")
is the part before an inner value. Weights lie in the mapped file until they are
asked for; freeze = true keeps them without gradients. Weights in other files
are read from the model's folder, by relative names, or externals(name) gives
their bytes. bytes = true says that the string is no path.
It runs by programs, one for each signature, as la.compile makes them; what
depends on data runs between them. m:compile({name = sizes}[, {quantize =,
calibrate =, fast =}]) plans ahead and gives the compiled function;
m:program(x, ...) is the program for hosts. quantize = "int8" multiplies bytes:
a scale for each channel of the weights, activations by their own range or by
that of calibrate = {inputs, ...}.
> tiny = "\8\8:5\10\12\10\1x\18\1y\34\4Relu\18\1gZ\16\10\1x\18\11\10" ..
>>   "\9\8\1\18\5\10\3\18\1nb\16\10\1y\18\11\10\9\8\1\18\5\10\3" ..
>>   "\18\1nB\4\10\0\16\17"
> m = la.onnx.load(tiny, {bytes = true})
> m(la.tensor{-1., 2})
tensor([0., 2.])
> m:compile({x = {3}})(la.tensor{-1., 2, 3})
tensor([0., 2., 3.])
see: onnx.save, onnx.register, nn.Module, load
== onnx.register
: la.onnx.register(domain, name, f)
An operator of your own, or another in place of one: f(inputs, attributes, n)
gets the list of inputs (nil for one that is absent), the attributes by name and
the number of results, which it returns. Models look it up when they are loaded,
those that lack it once more when they run.
> twice = "\8\8::\10\17\10\1x\18\1y\34\5Twice:\2my\18\1gZ\16\10\1x\18" ..
>>   "\11\10\9\8\1\18\5\10\3\18\1nb\16\10\1y\18\11\10\9\8\1\18\5" ..
>>   "\10\3\18\1nB\6\10\2my\16\1"
> double = function(inputs) return inputs[1] * 2 end
> la.onnx.register("my", "Twice", double)
> la.onnx.load(twice, {bytes = true})(la.tensor{1., 2})
tensor([2., 4.])
see: onnx.load
== onnx.read
: la.onnx.read(path or bytes[, {message =, externals =, bytes =}]) -> table
The messages of an ONNX file as tables, with the names of the format: a graph's
node, input, output, initializer. A tensor is {name, type, tensor}, or has
strings and shape. message names another one to begin with: "TensorProto",
"SequenceProto".
> t = la.onnx.read("\8\2\16\1\74\8\0\0\128\63\0\0\0\64",
>>   {message = "TensorProto", bytes = true})
> t.type, t.tensor
float32    tensor([1., 2.])
see: onnx.load
== onnx.save
: la.onnx.save(f, path, inputs[, {opset =, inputs =, outputs =, dims =}])
Writes a module, a function of tensors, compiled or not, or a program, as an
ONNX file of opset 17 to 21 (17). It runs once on the example inputs, and its
calls become nodes; the file is read again and compared, also for the inputs
backwards. What has no ONNX form is named.
inputs and outputs are names; dims names sizes that may change: dims = {input =
{"batch"}} is the first dim of the input of that name. A path of nil gives the
bytes.
> nn = require "lunarray.nn"
> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
> bytes = la.onnx.save(net, nil, la.ones(1, 2), {dims = {{"batch"}}})
> m = la.onnx.load(bytes, {bytes = true})
> m(la.ones(5, 2)).shape, m:inputs()[1].shape[1]
{5, 3}    batch
! Loops over values of tensors, writes into views, random numbers.
see: onnx.load, onnx.trace, save
== onnx.write
: la.onnx.write(bytes, path)
Bytes as a file, which replaces an old one as a whole, at the end.
> la.onnx.write(la.onnx.encode({graph = {name = "g"}}), "g.onnx")
> la.onnx.read("g.onnx").graph.name
g
see: onnx.encode, onnx.save
== onnx.encode
: la.onnx.encode(table[, message]) -> string
The bytes of a message given as a table, as onnx.read gives it: "ModelProto", or
another one by its name. A tensor is {name, tensor}.
> #la.onnx.encode({graph = {name = "g"}})
5
see: onnx.read
== onnx.trace
: la.onnx.trace(f, inputs...) -> table
The calls of operations that f makes, from outside in: {calls, tensors,
storages, inputs, outputs}. A call has op, args by name, results, and inner: the
calls that the operation makes itself. Tensors are numbers into tensors; those
of one number in storages share memory. Dims count from zero there.
> t = la.onnx.trace(function(x) return x:relu() * 2 end, la.ones(2))
> t.calls[1].op, t.calls[2].op
relu    mul
see: onnx.read
]==]
