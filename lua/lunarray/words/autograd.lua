-- lunarray.words.autograd: gradients.
-- The format is in lunarray.help.rows.
return [==[
== grad
: grad(outputs, inputs[, {grad_outputs=, retain_graph=, create_graph=,
  allow_unused=}])
Gradients of the sum of outputs, one value per input; nothing is added to
x.grad. As a property, x.grad is what backward left.
== x:backward
: x:backward([gradient][, {retain_graph=, create_graph=, inputs=, gradient=}])
Add the gradients of x (one element, or weighted by 'gradient') to the grad
of the leaves behind it. The graph is given up unless retain_graph.
== no_grad
: no_grad(f, ...)
f's results, computed without recording gradients. Without f a scope: local
_ <close> = la.no_grad().
== inference_mode
: inference_mode(f, ...)
The same as no_grad.
== enable_grad
: enable_grad(f, ...)
f's results with gradients recorded, also inside no_grad; without f a scope.
== set_grad_enabled
: set_grad_enabled(on)
Switch recording; the value returned restores it as a scope.
== is_grad_enabled
: is_grad_enabled()
Are gradients recorded?
== detect_anomaly
: detect_anomaly(f, ...)
f's results; errors and NaN in backward then name the line that called the
operation.
== grad_graph
: grad_graph(x)
What was recorded for x: a list of {name, inputs}.
== Function
: Function{forward = function(ctx, ...), backward = function(ctx, ...)}
A callable with a derivative of its own. ctx:save_for_backward(...),
ctx:saved(), ctx.needs_input_grad and any field; backward returns one
gradient per argument, nil where there is none.
== checkpoint
: checkpoint(f, ...)
f's results without keeping what its backward needs: f runs again then.
== gradcheck
: gradcheck(f, inputs[, options])
Compare the gradients of f with finite differences in float64; true, or an
error that shows both.
== gradgradcheck
: gradgradcheck(f, inputs[, options])
The same for the gradients of gradients.
== jacobian
: jacobian(f, inputs[, {create_graph=}])
Derivatives of every output element by every input element.
== hessian
: hessian(f, inputs[, {create_graph=}])
Second derivatives of a function with one number as result.
== jvp
: jvp(f, inputs, tangents[, {create_graph=}])
f's outputs, and their change along the tangents (Jacobian times vector).
== vjp
: vjp(f, inputs, v[, {create_graph=}])
f's outputs, and v times the Jacobian.
== hvp
: hvp(f, inputs, v[, {create_graph=}])
f's output, one number, and its hessian times v.
== vmap
: vmap(f[, in_dims[, out_dims[, {randomness=}]]])
A function that runs f, written for one element, on a batch. in_dims: the
batch's dim, from 1, for all tensors, or a table of them for each argument;
false for one that is the same for all. out_dims: where it is in results.
randomness: "error", "different" (for each element) or "same". Operations
run on the whole batch; those that can't run once per element.
== reduce_grad
: reduce_grad(g, shape)
Sum a gradient over broadcast dims back to the shape; as sum_to.
== fuse
: fuse(f)
A function that does what f does, with f's element-wise chains computed
block by block in one pass over memory, and in them sums, means, extremes,
products, variances and norms over the last dims. The bits are the same. A
tensor that f makes but does not return (directly or in a table) has no
value afterwards.
== progress
: progress(n or list[, {desc=, file=, quiet=}])
for i in la.progress(100) do: a bar with rate and time left, quiet when
standard error is no terminal. Also an object with update(k[, text]) and
close().
== x:to_dlpack
: x:to_dlpack([{versioned=false, copy=false}])
Light userdata of a DLManagedTensor (DLManagedTensorVersioned) on x's
memory (copy = true: on a copy), for a C library that takes it over and
calls its deleter.
== from_dlpack
: from_dlpack(pointer[, {versioned=}])
A tensor on the memory of such a struct, which is taken over; a tensor is
returned as it is.
== open
: open(handle)
The tensor that x:share() gave the handle of, in this or another Lua state.
Each handle is opened once.
== hash
: hash(x)
An integer from dtype, shape and elements (XXH64), the same for every
layout and machine; -0.0 and 0.0 differ, and so do NaN of other bits.
== is_tensor
: is_tensor(v)
Is v a tensor? True also for one that was freed.
]==]
