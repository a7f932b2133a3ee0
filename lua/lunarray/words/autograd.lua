-- lunarray.words.autograd: gradients. The format is in lunarray.help.rows.
return [==[
== x:backward
: x:backward([gradient, {retain_graph =, create_graph =, inputs =, gradient =}])
Add the gradients of x (one element, or weighted by 'gradient') to the grad of
the leaves behind it. The graph is given up unless retain_graph.
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
Gradients of the sum of outputs, one value per input; nothing is added to
x.grad. create_graph records them too, for gradients of gradients.
> x = la.tensor({2.}, {requires_grad = true})
> g = la.grad(x ^ 3, x, {create_graph = true})
> g, (la.grad(g, x))
tensor([12.], grad_fn=<WhereBackward>)    tensor([12.])
see: x:backward, jacobian, vjp
== x:requires_grad_
: x:requires_grad_([on]) -> tensor
Record gradients for this leaf (floating or complex); returns x.
> la.ones(2):requires_grad_()
tensor([1., 1.], requires_grad=True)
see: x.requires_grad, no_grad
== x:retain_grad
: x:retain_grad()
backward also leaves the gradient of x, which is no leaf.
> w = la.ones(2, {requires_grad = true})
> y = w * 3
> y:retain_grad()
> y:sum():backward()
> y.grad
tensor([1., 1.])
see: x.grad, x:register_hook
== x:zero_grad
: x:zero_grad()
Forget x.grad: gradients of several backward calls add up otherwise.
> w = la.ones(1, {requires_grad = true})
> (w * 2):backward()
> w:zero_grad()
> w.grad
nil
see: x.grad, optim.Optimizer:zero_grad
== x:detach_
: x:detach_() -> tensor
Forget x's history; x becomes a leaf.
> y = la.ones(2, {requires_grad = true}) * 2
> y:detach_().is_leaf
true
see: detach
== x:register_hook
: x:register_hook(f) -> handle
f(grad) runs when x's gradient is known; what it returns replaces it. The value
returned has remove().
> w = la.ones(1, {requires_grad = true})
> hook = w:register_hook(function(g) return g:clamp(-1, 1) end)
> (w * 100):backward()
> w.grad
tensor([1.])
see: x:retain_grad, clip_grad_norm_
== no_grad
: la.no_grad([f, ...]) -> ...
f's results, computed without recording gradients. Without f a scope: local _
<close> = la.no_grad().
> w = la.ones(2, {requires_grad = true})
> la.no_grad(function() return (w * 2).requires_grad end)
false
see: enable_grad, inference_mode, detach
== inference_mode
: la.inference_mode([f, ...]) -> ...
The same as no_grad.
> la.inference_mode(function() return la.is_grad_enabled() end)
false
see: no_grad
== enable_grad
: la.enable_grad([f, ...]) -> ...
f's results with gradients recorded, also inside no_grad; without f a scope.
> la.no_grad(function() return la.enable_grad(la.is_grad_enabled) end)
true
see: no_grad
== set_grad_enabled
: la.set_grad_enabled(on) -> scope
Switch recording in this coroutine (on the main thread: in all); the value
returned restores it as a scope.
> before = la.set_grad_enabled(false)
> la.is_grad_enabled()
false
see: no_grad
== is_grad_enabled
: la.is_grad_enabled() -> boolean
Are gradients recorded?
> la.is_grad_enabled()
true
see: set_grad_enabled
== detect_anomaly
: la.detect_anomaly([f, ...]) -> ...
f's results; errors and NaN in backward then name the line that called the
operation. Slower: for the search.
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
A callable with a derivative of its own. ctx:save_for_backward(...),
ctx:saved(), ctx.needs_input_grad and any field; backward returns one gradient
per argument, nil where there is none.
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
f's results without keeping what its backward needs: f runs again then. Memory
for time, in deep networks.
> w = la.ones(2, {requires_grad = true})
> la.checkpoint(function(x) return x:exp():sum() end, w):backward()
> w.grad
tensor([2.7183, 2.7183])
source: Chen and others, Training deep nets with sublinear memory cost, 2016.
see: x:backward, no_grad
== gradcheck
: la.gradcheck(f, inputs[, options]) -> boolean
Compare the gradients of f with finite differences in float64; true, or an error
that shows both.
> x = la.tensor({0.5, 2}, {dtype = "float64", requires_grad = true})
> la.gradcheck(function(v) return v:log() end, x)
true
see: gradgradcheck, Function
== gradgradcheck
: la.gradgradcheck(f, inputs[, options]) -> boolean
The same for the gradients of gradients.
> x = la.tensor({0.5, 2}, {dtype = "float64", requires_grad = true})
> la.gradgradcheck(function(v) return v:log() end, x)
true
see: gradcheck
== jacobian
: la.jacobian(f, inputs[, {create_graph =}]) -> tensor
Derivatives of every output element by every input element.
> la.jacobian(function(x) return x * x end, la.tensor{1., 2})
tensor([[2., 0.],
        [0., 4.]])
see: hessian, jvp, vjp
== hessian
: la.hessian(f, inputs[, {create_graph =}]) -> tensor
Second derivatives of a function with one number as result.
> la.hessian(function(x) return (x ^ 3):sum() end, la.tensor{1., 2})
tensor([[ 6.,  0.],
        [ 0., 12.]])
see: jacobian, hvp
== jvp
: la.jvp(f, inputs, tangents[, {create_graph =}]) -> outputs: tensor, change:
  tensor
f's outputs, and their change along the tangents (Jacobian times vector).
> y, dy = la.jvp(function(x) return x * x end, la.tensor{1., 2},
>>   la.tensor{1., 0})
> y, dy
tensor([1., 4.])    tensor([2., 0.])
see: vjp, jacobian
== vjp
: la.vjp(f, inputs, v[, {create_graph =}]) -> outputs: tensor, product: tensor
f's outputs, and v times the Jacobian.
> y, g = la.vjp(function(x) return x * x end, la.tensor{1., 2},
>>   la.tensor{1., 1})
> g
tensor([2., 4.])
see: jvp, grad
== hvp
: la.hvp(f, inputs, v[, {create_graph =}]) -> output: tensor, product: tensor
f's output, one number, and its hessian times v.
> y, h = la.hvp(function(x) return (x ^ 3):sum() end, la.tensor{1., 2},
>>   la.tensor{1., 0})
> h
tensor([6., 0.])
source: Pearlmutter, Fast exact multiplication by the Hessian, 1994.
see: hessian
== vmap
: la.vmap(f[, in_dims[, out_dims[, {randomness =}]]]) -> function
A function that runs f, written for one element, on a batch. in_dims: the
batch's dim, from 1, for all tensors, or a table of them for each argument;
false for one that is the same for all. out_dims: where it is in results.
randomness: "error", "different" (for each element) or "same". Operations run on
the whole batch; those that can't run once per element.
> dots = la.vmap(function(a, b) return a:dot(b) end)
> dots(la.tensor{{1., 2}, {3, 4}}, la.tensor{{1., 1}, {1, 1}})
tensor([3., 7.])
see: jacobian, bmm
== fuse
: la.fuse(f) -> function
A function that does what f does, with f's element-wise chains computed block by
block in one pass over memory, and in them sums, means, extremes, products,
variances and norms over the last dims. The bits are the same. A tensor that f
makes but does not return (directly or in a table) has no value afterwards.
> step = la.fuse(function(x, v) return (x * 1.5 + v) * 0.5 end)
> step(la.tensor{1., 2}, la.tensor{3., 4})
tensor([2.2500, 3.5000])
see: addcmul, tidy
]==]
