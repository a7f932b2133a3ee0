-- lunarray.words.training: optimisers, data sets, plots, tests.
-- The format is in lunarray.help.rows.
return [==[
== optim.Optimizer
: optim.Optimizer
What all optimisers have: step, zero_grad, add_param_group, state_dict,
load_state_dict, param_groups.
== optim.SGD
: optim.SGD(parameters, {lr=, momentum=, dampening=, weight_decay=, nesterov=,
  maximize=})
Gradient descent with momentum. step() changes the parameters in place;
zero_grad(), state_dict(), param_groups[i].lr may be assigned.
== optim.Adam
: optim.Adam(parameters, {lr = 1e-3, betas=, eps=, weight_decay=, amsgrad=,
  maximize=})
Kingma and Ba's method. step() changes the parameters in place; zero_grad(),
state_dict(), param_groups[i].lr may be assigned.
== optim.AdamW
: optim.AdamW(parameters, {lr = 1e-3, betas=, eps=, weight_decay = 1e-2,
  amsgrad=, maximize=})
Adam with decoupled weight decay. step() changes the parameters in place;
zero_grad(), state_dict(), param_groups[i].lr may be assigned.
== optim.RMSprop
: optim.RMSprop(parameters, {lr = 1e-2, alpha=, eps=, weight_decay=, momentum=,
  centered=})
Hinton's method. step() changes the parameters in place; zero_grad(),
state_dict(), param_groups[i].lr may be assigned.
== optim.Adagrad
: optim.Adagrad(parameters, {lr = 1e-2, lr_decay=, weight_decay=,
  initial_accumulator_value=, eps=})
Steps that shrink with the sum of squares. step() changes the parameters
in place; zero_grad(), state_dict(), param_groups[i].lr may be assigned.
== optim.LBFGS
: optim.LBFGS(parameters, {lr = 1, max_iter=, max_eval=, tolerance_grad=,
  tolerance_change=, history_size=, line_search_fn=})
Limited-memory BFGS; step(closure) evaluates the closure several times.
step() changes the parameters in place; zero_grad(), state_dict(),
param_groups[i].lr may be assigned.
== optim.StepLR
: optim.StepLR(optimizer, {step_size=, gamma = 0.1})
Times gamma every step_size steps. step() once an epoch or batch;
get_last_lr(), state_dict().
== optim.MultiStepLR
: optim.MultiStepLR(optimizer, {milestones=, gamma = 0.1})
Times gamma at each milestone. step() once an epoch or batch; get_last_lr(),
state_dict().
== optim.ConstantLR
: optim.ConstantLR(optimizer, {factor=, total_iters=})
A factor for the first steps. step() once an epoch or batch; get_last_lr(),
state_dict().
== optim.LinearLR
: optim.LinearLR(optimizer, {start_factor=, end_factor=, total_iters=})
A factor that moves linearly: a warm-up. step() once an epoch or batch;
get_last_lr(), state_dict().
== optim.ExponentialLR
: optim.ExponentialLR(optimizer, {gamma=})
Times gamma every step. step() once an epoch or batch; get_last_lr(),
state_dict().
== optim.PolynomialLR
: optim.PolynomialLR(optimizer, {total_iters=, power=})
Falls to 0 by a power. step() once an epoch or batch; get_last_lr(),
state_dict().
== optim.CosineAnnealingLR
: optim.CosineAnnealingLR(optimizer, {T_max=, eta_min = 0})
Along half a cosine. step() once an epoch or batch; get_last_lr(),
state_dict().
== optim.CosineAnnealingWarmRestarts
: optim.CosineAnnealingWarmRestarts(optimizer, {T_0=, T_mult=, eta_min=})
Cosines that start again. step() once an epoch or batch; get_last_lr(),
state_dict().
== optim.OneCycleLR
: optim.OneCycleLR(optimizer, {max_lr=, total_steps=, pct_start=, ...})
Up and down once (Smith). step() once an epoch or batch; get_last_lr(),
state_dict().
== optim.CyclicLR
: optim.CyclicLR(optimizer, {base_lr=, max_lr=, step_size_up=, mode=, ...})
Up and down again and again. step() once an epoch or batch; get_last_lr(),
state_dict().
== optim.LambdaLR
: optim.LambdaLR(optimizer, {lr_lambda=})
Times what a function of the step says. step() once an epoch or batch;
get_last_lr(), state_dict().
== optim.MultiplicativeLR
: optim.MultiplicativeLR(optimizer, {lr_lambda=})
Times what a function of the step says, each time. step() once an epoch or
batch; get_last_lr(), state_dict().
== optim.ReduceLROnPlateau
: optim.ReduceLROnPlateau(optimizer, {mode=, factor=, patience=, threshold=,
  cooldown=, min_lr=})
Times factor when a quantity stops improving: step(value). step() once an
epoch or batch; get_last_lr(), state_dict().
== optim.SequentialLR
: optim.SequentialLR(optimizer, {schedulers=, milestones=})
One scheduler after another. step() once an epoch or batch; get_last_lr(),
state_dict().
== data.TensorDataset
: data.TensorDataset(x, y, ...)
Samples along dim 1 of tensors of one length.
== data.Subset
: data.Subset(dataset, indices)
Some samples of a dataset.
== data.random_split
: data.random_split(dataset, lengths[, {generator=}])
Disjoint subsets drawn by chance; lengths may be fractions.
== data.DataLoader
: data.DataLoader(dataset, {batch_size=, shuffle=, generator=, drop_last=,
  collate=, sampler=})
for xb, yb in loader:batches() do; #loader batches an epoch.
== data.DistributedSampler
: data.DistributedSampler(dataset, {batch_size=, shuffle=, seed=, drop_last=,
  rank=, size=})
Samples of this process, one of many (lunarray.mpi): for DataLoader's
sampler. With batch_size, that of all together, parts of one batch, and
weight(); set_epoch(k) draws another order.
== data.collate
: data.collate(samples)
Stacks the parts of samples to batches.
== data.fetch
: data.fetch(dataset, indices)
The samples of these indices, by the dataset's own batch when it has one.
== data.progress
: data.progress(n or list[, options])
The same as la.progress.
== parallel.map
: parallel.map(f, list[, {threads=, retries=}])
f(item, k) for each item, on threads with Lua states of their own: results
in order, and a table of error texts by k, or nil. Values around f are
copied, tensors of items and results shared.
== parallel.run
: parallel.run(code, argument, items, threads)
The strings, and whether each is a result, that Lua code in other states
makes of items, which are strings: chunk(argument)(item).
== testing.assert_close
: testing.assert_close(actual, expected[, {rtol=, atol=, equal_nan=false,
  check_dtype=true, check_device=true, check_stride=false, msg=}])
An error with a report unless both are of one shape and dtype and
|actual - expected| <= atol + rtol |expected| in every element: how many
are not, the greatest differences and where. Tensors, numbers, or tables
of them. Without rtol and atol those of the dtype, as in PyTorch.
== testing.luassert
: testing.luassert(assert)
Adds assert.tensors_close(actual, expected[, options]) to busted's assert.
== plot.line
: plot.line(values[, {width=, height=, title=, ascii=}])
A curve as text; plot.line{a, b} several over one scale.
== plot.hist
: plot.hist(values[, {bins=, width=}])
How many values fall into each of equal ranges, as text.
== plot.image
: plot.image(matrix[, {low=, high=, indent=}])
A matrix as text: more ink is a larger value.
]==]
