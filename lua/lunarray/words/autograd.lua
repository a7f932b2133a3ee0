-- lunarray.words.autograd: gradients. The format is in lunarray.help.rows.
return [==[
== x:backward
: x:backward([gradient, {retain_graph =, create_graph =, inputs =, gradient =}])
Adds the gradients of x to the grad of the leaves that it was computed from. x
has one element, or 'gradient' weighs its elements. The graph is freed unless
retain_graph is true.
> w = la.tensor({1., 2}, {requires_grad = true})
> (w * w):sum():backward()
> w.grad
tensor([2., 4.])
! More than one element without 'gradient'; a value that was changed in place
  after it was saved.
see: grad, x.grad, x:zero_grad, no_grad
== grad
: la.grad(outputs, inputs[, {grad_outputs =, retain_graph =, create_graph =,
  allow_unused =}]) -> tensor, ...
The gradients of the sum of outputs, one value per input. It changes no x.grad.
With create_graph the gradients are recorded too, for gradients of gradients.
> x = la.tensor({2.}, {requires_grad = true})
> g = la.grad(x ^ 3, x, {create_graph = true})
> g, (la.grad(g, x))
tensor([12.], grad_fn=<WhereBackward>)    tensor([12.])
see: x:backward, jacobian, vjp
== x:requires_grad_
: x:requires_grad_([on]) -> tensor
Records gradients for this leaf (floating or complex) from now on, and returns
x.
> la.ones(2):requires_grad_()
tensor([1., 1.], requires_grad=True)
see: x.requires_grad, no_grad
== x:retain_grad
: x:retain_grad()
Tells backward to store the gradient of x in x.grad, although x is not a leaf.
> w = la.ones(2, {requires_grad = true})
> y = w * 3
> y:retain_grad()
> y:sum():backward()
> y.grad
tensor([1., 1.])
see: x.grad, x:register_hook
== x:zero_grad
: x:zero_grad()
Removes x.grad. Call it between backward calls, whose gradients add up
otherwise.
> w = la.ones(1, {requires_grad = true})
> (w * 2):backward()
> w:zero_grad()
> w.grad
nil
see: x.grad, optim.Optimizer:zero_grad
== x:detach_
: x:detach_() -> tensor
Removes the history of x, which becomes a leaf. To cut a recurrent state off
from the steps before.
> y = la.ones(2, {requires_grad = true}) * 2
> y:detach_().is_leaf
true
see: detach
== x:register_hook
: x:register_hook(f) -> handle
Calls f(grad) when the gradient of x is known. A result of f replaces the
gradient. The returned object has remove().
> w = la.ones(1, {requires_grad = true})
> hook = w:register_hook(function(g) return g:clamp(-1, 1) end)
> (w * 100):backward()
> w.grad
tensor([1.])
see: x:retain_grad, clip_grad_norm_, x:register_post_accumulate_grad_hook
== x:register_post_accumulate_grad_hook
: x:register_post_accumulate_grad_hook(f) -> handle
Calls f(x) when a gradient has been added to x.grad in backward, for a leaf x: a
step of an optimiser there needs no second walk, and x.grad = nil gives its
memory back at once. The returned object has remove().
> w = la.ones(1, {requires_grad = true})
> hook = w:register_post_accumulate_grad_hook(function(p)
>>   p:detach():sub_(p.grad * 0.5)
>>   p.grad = nil
>> end)
> (w * 0.5):backward()
> w, w.grad
tensor([0.7500], requires_grad=True)    nil
see: x:register_hook, x.grad
== no_grad
: la.no_grad([f, ...]) -> ...
Calls f without recording gradients and returns its results. Without f it
returns a scope: local _ <close> = la.no_grad().
> w = la.ones(2, {requires_grad = true})
> la.no_grad(function() return (w * 2).requires_grad end)
false
see: enable_grad, inference_mode, detach
== inference_mode
: la.inference_mode([f, ...]) -> ...
Runs f without recording gradients, as no_grad does; here both are one. For
evaluation and for programs that only apply a network.
> la.inference_mode(function() return la.is_grad_enabled() end)
false
see: no_grad
== enable_grad
: la.enable_grad([f, ...]) -> ...
Calls f with gradients recorded, also inside no_grad, and returns its results.
Without f it returns a scope.
> la.no_grad(function() return la.enable_grad(la.is_grad_enabled) end)
true
see: no_grad
== set_grad_enabled
: la.set_grad_enabled(on) -> scope
Switches recording on or off in this coroutine, on the main thread in all. The
returned value restores the old state as a scope.
> before = la.set_grad_enabled(false)
> la.is_grad_enabled()
false
see: no_grad
== is_grad_enabled
: la.is_grad_enabled() -> boolean
false inside no_grad and inference_mode. Libraries ask it to skip what only
gradients need.
> la.is_grad_enabled()
true
see: set_grad_enabled
== detect_anomaly
: la.detect_anomaly([f, ...]) -> ...
Calls f and returns its results. Errors and NaN in backward then name the line
that called the operation. It is slow, so use it only to find a fault. Without f
it holds until the end of a block: local _ <close> = la.detect_anomaly().
> la.detect_anomaly(function() return la.ones(2):sum() end)
tensor(2.)
see: grad_graph, gradcheck
== grad_graph
: la.grad_graph(x[, names]) -> list
What was recorded for x: a list of {name, inputs, shape, dtype, label}; the
first node made x, inputs are indices into the list, 0 where nothing flows. It
prints as a tree, each node above its inputs; graph:text(n) has n lines (200),
graph:svg([path]) is a picture, graph:dot([path]) is for Graphviz. names, a
table of tensors by name or a module, gives labels to their nodes.
> w = la.ones(2, {requires_grad = true})
> graph = la.grad_graph((w * 2 + w:exp()):sum(), {w = w})
> print(graph)
SumBackward {}
AddBackward {2}
├─ MulBackward {2}
│  [5] AccumulateGrad {2} "w"
└─ ExpBackward {2}
   AccumulateGrad, see [5]
> graph[1].name, graph:svg():sub(1, 4)
sum    <svg
! svg of more than 2,000 nodes.
see: x.grad_fn, profile
source: layout: Sugiyama, Tagawa and Toda, Methods for visual understanding of
  hierarchical system structures, 1981
== Function
: la.Function{forward = function(ctx, ...), backward = function(ctx, ...)}
Makes a callable with a derivative of its own. In both functions there are
ctx:save_for_backward(...), ctx:saved(), ctx.needs_input_grad and any field;
backward returns one gradient per argument, nil where there is none.
> double = la.Function{
>>   forward = function(ctx, x) return x * 2 end,
>>   backward = function(ctx, g) return g * 2 end}
> w = la.ones(2, {requires_grad = true})
> double(w):sum():backward()
> w.grad
tensor([2., 2.])
see: gradcheck, x:register_hook
== checkpoint
: la.checkpoint(f, ...) -> ...
Calls f and returns its results, without keeping the values that its backward
needs: backward runs f again. It saves memory and costs time, in deep networks.
> w = la.ones(2, {requires_grad = true})
> la.checkpoint(function(x) return x:exp():sum() end, w):backward()
> w.grad
tensor([2.7183, 2.7183])
source: Chen and others, Training deep nets with sublinear memory cost, 2016.
see: x:backward, no_grad
== gradcheck
: la.gradcheck(f, inputs[, options]) -> boolean
Compares the gradients of f with finite differences in float64. It returns true,
or raises an error that shows both.
> x = la.tensor({0.5, 2}, {dtype = "float64", requires_grad = true})
> la.gradcheck(function(v) return v:log() end, x)
true
see: gradgradcheck, Function
== gradgradcheck
: la.gradgradcheck(f, inputs[, options]) -> boolean
As gradcheck, for the gradients of gradients. For an operation of one's own
whose gradient is itself differentiated.
> x = la.tensor({0.5, 2}, {dtype = "float64", requires_grad = true})
> la.gradgradcheck(function(v) return v:log() end, x)
true
see: gradcheck
== jacobian
: la.jacobian(f, inputs[, {create_graph =}]) -> tensor
The derivatives of every output element by every input element. For
sensitivities and Newton's method; of one number grad is enough.
> la.jacobian(function(x) return x * x end, la.tensor{1., 2})
tensor([[2., 0.],
        [0., 4.]])
see: hessian, jvp, vjp
== hessian
: la.hessian(f, inputs[, {create_graph =}]) -> tensor
The second derivatives of a function whose result is one number. For Newton's
method and error bars of a fit.
> la.hessian(function(x) return (x ^ 3):sum() end, la.tensor{1., 2})
tensor([[ 6.,  0.],
        [ 0., 12.]])
see: jacobian, hvp
== jvp
: la.jvp(f, inputs, tangents[, {create_graph =}]) -> outputs: tensor, change:
  tensor
The outputs of f, and their change along the tangents (the Jacobian times a
vector).
> y, dy = la.jvp(function(x) return x * x end, la.tensor{1., 2},
>>   la.tensor{1., 0})
> y, dy
tensor([1., 4.])    tensor([2., 0.])
see: vjp, jacobian
== vjp
: la.vjp(f, inputs, v[, {create_graph =}]) -> outputs: tensor, product: tensor
The outputs of f, and v times the Jacobian. Reverse mode for a function: what
backward does, without leaves.
> y, g = la.vjp(function(x) return x * x end, la.tensor{1., 2},
>>   la.tensor{1., 1})
> g
tensor([2., 4.])
see: jvp, grad
== hvp
: la.hvp(f, inputs, v[, {create_graph =}]) -> output: tensor, product: tensor
The output of f, one number, and its Hessian times v. For curvature along a
direction, without the whole Hessian.
> y, h = la.hvp(function(x) return (x ^ 3):sum() end, la.tensor{1., 2},
>>   la.tensor{1., 0})
> h
tensor([6., 0.])
source: Pearlmutter, Fast exact multiplication by the Hessian, 1994.
see: hessian
== vmap
: la.vmap(f[, in_dims[, out_dims[, {randomness =}]]]) -> function
Makes a function that runs f, written for one element, on a batch. in_dims is
the batch's dim, from 1, for all tensors, or a table with one for each argument
(false for an argument that is the same for all). out_dims is its dim in the
results. randomness is "error", "different" (for each element) or "same".
Operations run on the whole batch; those that can't run once per element.
> dots = la.vmap(function(a, b) return a:dot(b) end)
> dots(la.tensor{{1., 2}, {3, 4}}, la.tensor{{1., 1}, {1, 1}})
tensor([3., 7.])
see: jacobian, bmm
== while_loop
: la.while_loop(test, body, ...) -> ...
Replaces the values ... by body(...) while test(...) holds, and returns the last
ones. test returns a boolean or a tensor of one element; body returns as many
values as it takes, of the same sizes and dtypes. Within vmap a loop goes on
until all elements of the batch are done. A compiled function whose loop or cond
depends on its arguments runs as it is.
> la.while_loop(function(n, x) return n:lt(3) end,
>>   function(n, x) return n + 1, x * 2 end, la.tensor(0), la.ones(2))
tensor(3)    tensor([8., 8.])
! A value of body with other sizes or another dtype than the one before.
see: scan, cond
== scan
: la.scan(f, init, xs) -> carry, stacked
Calls carry, y = f(carry, x) for each x along dim 1 of xs, from carry = init,
and returns the last carry and all y stacked along dim 1. init, xs and y are
tensors or tables of them; y may be nil. The carry keeps its sizes and dtypes.
Where xs is empty, one call on zeros tells the sizes of y.
> la.scan(function(sum, x) return sum + x, sum end, la.tensor(0.),
>>   la.tensor{1., 2, 3})
tensor(6.)    tensor([0., 1., 3.])
! Tensors in xs with different sizes of dim 1; a carry that changes its sizes.
see: while_loop, cumsum, cond
== fuse
: la.fuse(f) -> function
Makes a function that records f's operations and computes chains of element-
wise ones block by block, in one pass over memory. Sums, means, extremes,
products, variances and norms over the last dims may be part of a chain. The
bits are the same. As with la.compile f runs while it is recorded, and later
calls run the recording; f is recorded anew for numbers, strings or functions
that are others than before, among its arguments or what it captures. It runs at
each call where it reads values, changes what it captures or calls functions
whose results are not of their arguments alone (math.random, os.time). Give
numbers that change in each call as tensors without dims.
> step = la.fuse(function(x, v) return (x * 1.5 + v) * 0.5 end)
> step(la.tensor{1., 2}, la.tensor{3., 4})
tensor([2.2500, 3.5000])
see: addcmul, tidy, compile
== compile
: la.compile(f[, {partial=, cache=, fast=, without=}]) -> compiled function
Makes a function that runs f once for each kind of arguments, records its
operations, and runs the recorded ones from then on: f itself (what it prints or
counts in Lua) runs only while recording. Backward passes, changes in place,
random numbers and steps of optimisers are recorded too, so that a training step
is one program. Sizes, dtypes, numbers, modes and the tensors that f uses are
looked at in each call; where they differ, f is recorded again. Bits are those
of f.
step:into(outs, ...) writes the results into given tensors, step:explain() is a
text about the plan, step:profile(...) the seconds of each step of a call.
step:begin(...) and then step:advance(microseconds), again and again, run a
call in parts: advance gives true and the results when all is done.
step:program() is the last program: #p counts its steps, p:steps() lists them.
la.save(step, "step.laprog") writes it to a file, for la.load and for hosts in C
without Lua.
- partial: where f reads values in Lua, f runs at each call; else an error
- cache: how many kinds of arguments are kept, 64 at most
- fast: batch norms may become a part of the weights before them, which rounds
  otherwise: errors are at most twice as large, and one unit in the last place
- without: names of passes to leave out
! compile: a value is read that the next call has another of: return it, or use
! la.where, la.cond, la.while_loop or la.scan
> step = la.compile(function(x, v) return (x * 1.5 + v) * 0.5 end)
> step(la.tensor{1., 2}, la.tensor{3., 4})
tensor([2.2500, 3.5000])
> #step:program()
3
see: fuse, no_grad, save, load
]==]
