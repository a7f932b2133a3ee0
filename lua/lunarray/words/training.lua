-- lunarray.words.training: optimisers, schedules, data sets, tests. The
-- format is in lunarray.help.rows.
return [==[
== optim.Optimizer
: optim.Optimizer
The methods of all optimisers. opt.param_groups is a list of tables with the
parameters (params) and their options, which you may assign:
opt.param_groups[1].lr = 0.01. Make an optimiser from a list of parameters, or
from a list of groups: {{params = a, lr = 0.1}, {params = b}}. Options go by
name or, in PyTorch's order, by position: optim.SGD({w}, 0.1, 0.9).
> w = la.ones(1, {requires_grad = true})
> opt = optim.SGD({w}, {lr = 0.5})
> (w * 2):sum():backward()
> opt:step()
nil
> w:detach()
tensor([0.])
! A module instead of its parameters, an empty list, a tensor that is no leaf,
  one that appears twice, an unknown option.
see: optim.SGD, optim.Adam, optim.Optimizer:step
== optim.Optimizer:step
: opt:step([closure]) -> value
Moves all parameters that have a gradient, in place. A closure is called first,
with gradients recorded, and its result is returned.
> w = la.ones(1, {requires_grad = true})
> w.grad = la.ones(1)
> optim.SGD({w}, {lr = 0.25}):step()
nil
> w:detach()
tensor([0.7500])
see: optim.Optimizer:zero_grad, x:backward
== optim.Optimizer:zero_grad
: opt:zero_grad()
Sets the gradients of all parameters to nil. Call it before each backward,
unless gradients are to add up.
> w = la.ones(1, {requires_grad = true})
> w.grad = la.ones(1)
> optim.SGD({w}):zero_grad()
> w.grad
nil
see: nn.Module:zero_grad
== optim.Optimizer:add_param_group
: opt:add_param_group(group)
Adds parameters with options of their own: {params = list, lr = 0.1}.
> opt = optim.SGD({la.ones(1, {requires_grad = true})})
> opt:add_param_group{params = la.ones(1, {requires_grad = true}),
>>   lr = 0.1}
> #opt.param_groups
2
see: optim.Optimizer
== optim.Optimizer:state_dict
: opt:state_dict() -> table
The state of the optimiser, for la.save: {state =, param_groups =}, parameters
by number.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 0.5})
> opt:state_dict().param_groups[1].lr
0.5
see: optim.Optimizer:load_state_dict, save
== optim.Optimizer:load_state_dict
: opt:load_state_dict(state)
Continues from the state of another run: options and state of the same groups of
parameters.
> w = la.ones(1, {requires_grad = true})
> opt = optim.SGD({w}, {lr = 0.5})
> opt:load_state_dict(optim.SGD({w}, {lr = 0.1}):state_dict())
> opt.param_groups[1].lr
0.1
! The number of groups or parameters differs.
see: optim.Optimizer:state_dict, load
== optim.SGD
: optim.SGD(parameters[, {lr = 1e-3, momentum = 0, dampening = 0, weight_decay =
  0, nesterov = false, maximize = false}]) -> optim.Optimizer
w := w - lr g; with momentum w := w - lr v, v := momentum v + (1 - dampening) g.
weight_decay adds weight_decay w to g. nesterov looks one step ahead.
> w = la.tensor({1., 2}, {requires_grad = true})
> opt = optim.SGD({w}, {lr = 0.5, momentum = 0.9})
> (w * w):sum():backward()
> opt:step()
nil
> w:detach()
tensor([0., 0.])
! nesterov without momentum, or with dampening.
source: Sutskever and others: On the importance of initialization and momentum
  (2013)
see: optim.Adam, optim.Optimizer:step, optim.OneCycleLR
== optim.Adam
: optim.Adam(parameters[, {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8,
  weight_decay = 0, amsgrad = false, maximize = false}]) -> optim.Optimizer
Steps of about lr in every parameter, whatever the size of its gradients: the
mean of gradients divided by the root of the mean of their squares. A good first
choice.
> w = la.tensor({1., 2}, {requires_grad = true})
> opt = optim.Adam({w}, {lr = 0.5})
> (w * w):sum():backward()
> opt:step()
nil
> w:detach()
tensor([0.5000, 1.5000])
source: Kingma, Ba: Adam (2014)
see: optim.AdamW, optim.SGD
== optim.AdamW
: optim.AdamW(parameters[, {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8,
  weight_decay = 1e-2, amsgrad = false, maximize = false}]) -> optim.Optimizer
Adam with a weight decay that is not divided: w shrinks by lr weight_decay each
step. Use it for transformers.
> w = la.tensor({1., 2}, {requires_grad = true})
> opt = optim.AdamW({w}, {lr = 0.5, weight_decay = 0.1})
> (w * w):sum():backward()
> opt:step()
nil
> w:detach()
tensor([0.4500, 1.4000])
source: Loshchilov, Hutter: Decoupled weight decay regularization (2017)
see: optim.Adam
== optim.RMSprop
: optim.RMSprop(parameters[, {lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay
  = 0, momentum = 0, centered = false, maximize = false}]) -> optim.Optimizer
Gradients divided by the root of the running mean of their squares (centered: of
their variance).
> w = la.tensor({1., 2}, {requires_grad = true})
> opt = optim.RMSprop({w}, {lr = 0.1})
> (w * w):sum():backward()
> opt:step()
nil
> w:detach()
tensor([5.9605e-08, 1.0000e+00])
source: Hinton: lecture 6e of Neural networks for machine learning (2012)
see: optim.Adam
== optim.Adagrad
: optim.Adagrad(parameters[, {lr = 1e-2, lr_decay = 0, weight_decay = 0,
  initial_accumulator_value = 0, eps = 1e-10, maximize = false}]) ->
  optim.Optimizer
Gradients divided by the root of the sum of all their squares so far, so that
rare features take large steps.
> w = la.tensor({1., 2}, {requires_grad = true})
> opt = optim.Adagrad({w}, {lr = 0.5})
> (w * w):sum():backward()
> opt:step()
nil
> w:detach()
tensor([0.5000, 1.5000])
source: Duchi, Hazan, Singer (2011)
see: optim.RMSprop, optim.SGD
== optim.LBFGS
: optim.LBFGS(parameters[, {lr = 1, max_iter = 20, max_eval =, tolerance_grad =
  1e-7, tolerance_change = 1e-9, history_size = 100, line_search_fn =}]) ->
  optim.Optimizer
Limited-memory BFGS, for smooth losses over all data. step(closure) evaluates
the closure, which computes the loss and calls backward, up to max_eval times
(5/4 max_iter). line_search_fn = "strong_wolfe" makes the steps safe.
> w = la.tensor({3.}, {requires_grad = true})
> opt = optim.LBFGS({w}, {line_search_fn = "strong_wolfe"})
> opt:step(function()
>>   opt:zero_grad()
>>   local loss = ((w - 1) ^ 2):sum()
>>   loss:backward()
>>   return loss
>> end)
4.0
> w:detach():round{decimals = 3}
tensor([1.])
! step without a closure, several groups of parameters.
source: Nocedal, Wright: Numerical optimization, ch. 7 and 3
see: optim.SGD
== optim.Scheduler
: optim.Scheduler
The methods of all schedules of the learning rate. A schedule sets
opt.param_groups[i].lr. Call its step() once an epoch (or a batch) after the
optimiser's. Options go by name or, in PyTorch's order, by position:
optim.StepLR(opt, 3, 0.5).
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.ExponentialLR(opt, {gamma = 0.5})
> schedule:step()
> opt.param_groups[1].lr
0.5
see: optim.StepLR, optim.CosineAnnealingLR, optim.Scheduler:step
== optim.Scheduler:step
: schedule:step()
Sets the next learning rate. ReduceLROnPlateau needs step(value).
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.StepLR(opt, {step_size = 1})
> schedule:step()
> schedule:get_last_lr()
{0.1}
see: optim.Optimizer:step
== optim.Scheduler:get_last_lr
: schedule:get_last_lr() -> list of numbers
A list with the current learning rate of each group.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> optim.StepLR(opt, {step_size = 1}):get_last_lr()
{1.0}
see: optim.Optimizer
== optim.Scheduler:state_dict
: schedule:state_dict() -> table
A table of the schedule's state, which la.save can write.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> optim.StepLR(opt, {step_size = 1}):state_dict().last_epoch
0
see: optim.Scheduler:load_state_dict
== optim.Scheduler:load_state_dict
: schedule:load_state_dict(state)
Makes the schedule continue from the state of another run.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.StepLR(opt, {step_size = 1})
> schedule:load_state_dict{last_epoch = 2, base_lrs = {1}}
> opt.param_groups[1].lr
0.01
see: optim.Scheduler:state_dict
== optim.StepLR
: optim.StepLR(optimizer, {step_size =, gamma = 0.1}) -> optim.Scheduler
Multiplies the learning rate by gamma after every step_size steps: the usual
drops of a long training.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.StepLR(opt, {step_size = 2, gamma = 0.5})
> for k = 1, 4 do schedule:step() print(opt.param_groups[1].lr) end
1.0
0.5
0.5
0.25
see: optim.MultiStepLR, optim.ExponentialLR
== optim.MultiStepLR
: optim.MultiStepLR(optimizer, {milestones =, gamma = 0.1}) -> optim.Scheduler
lr times gamma at each of a list of steps. For training whose plateaus are
known.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.MultiStepLR(opt, {milestones = {1, 3}, gamma = 0.5})
> for k = 1, 3 do schedule:step() print(opt.param_groups[1].lr) end
0.5
0.5
0.25
see: optim.StepLR
== optim.ConstantLR
: optim.ConstantLR(optimizer[, {factor = 1/3, total_iters = 5}]) ->
  optim.Scheduler
lr times factor for the first total_iters steps. For a cautious start.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.ConstantLR(opt, {factor = 0.5, total_iters = 1})
> schedule:step()
> opt.param_groups[1].lr
1
see: optim.LinearLR
== optim.LinearLR
: optim.LinearLR(optimizer[, {start_factor = 1/3, end_factor = 1, total_iters =
  5}]) -> optim.Scheduler
lr times a factor that goes from start_factor to end_factor in total_iters
steps. Use it as a warm-up.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.LinearLR(opt, {start_factor = 0.5, total_iters = 2})
> for k = 1, 2 do schedule:step() print(opt.param_groups[1].lr) end
0.75
1.0
see: optim.SequentialLR, optim.PolynomialLR
== optim.ExponentialLR
: optim.ExponentialLR(optimizer, {gamma =}) -> optim.Scheduler
Multiplies the learning rate by gamma at every step: 0.95 halves it in 14.
Steady decay without a plan for the end.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.ExponentialLR(opt, {gamma = 0.5})
> for k = 1, 2 do schedule:step() print(opt.param_groups[1].lr) end
0.5
0.25
see: optim.StepLR
== optim.PolynomialLR
: optim.PolynomialLR(optimizer[, {total_iters = 5, power = 1}]) ->
  optim.Scheduler
lr (1 - step / total_iters)^power, which ends at 0. For runs whose length is
known; power 1 is a straight line.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.PolynomialLR(opt, {total_iters = 2})
> for k = 1, 2 do schedule:step() print(opt.param_groups[1].lr) end
0.5
0.0
see: optim.LinearLR, optim.CosineAnnealingLR
== optim.CosineAnnealingLR
: optim.CosineAnnealingLR(optimizer, {T_max =, eta_min = 0}) -> optim.Scheduler
From lr to eta_min along half a cosine in T_max steps. The usual choice for runs
whose length is known.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.CosineAnnealingLR(opt, {T_max = 2})
> for k = 1, 2 do
>>   schedule:step()
>>   print(("%.3f"):format(opt.param_groups[1].lr))
>> end
0.500
0.000
source: Loshchilov, Hutter: SGDR (2016)
see: optim.CosineAnnealingWarmRestarts, optim.OneCycleLR
== optim.CosineAnnealingWarmRestarts
: optim.CosineAnnealingWarmRestarts(optimizer, {T_0 =, T_mult = 1, eta_min = 0})
  -> optim.Scheduler
Half cosines one after the other, of T_0, T_0 T_mult, T_0 T_mult^2 ... steps.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.CosineAnnealingWarmRestarts(opt, {T_0 = 2})
> for k = 1, 2 do
>>   schedule:step()
>>   print(("%.3f"):format(opt.param_groups[1].lr))
>> end
0.500
1.000
source: Loshchilov, Hutter: SGDR (2016)
see: optim.CosineAnnealingLR
== optim.OneCycleLR
: optim.OneCycleLR(optimizer, {max_lr =, total_steps =, epochs =,
  steps_per_epoch =, pct_start = 0.3, anneal_strategy = "cos", div_factor = 25,
  final_div_factor = 1e4, three_phase = false, cycle_momentum = true,
  base_momentum = 0.85, max_momentum = 0.95}) -> optim.Scheduler
lr rises from max_lr / div_factor to max_lr in the first pct_start of the steps,
then falls to almost 0; the momentum goes the other way. Call step() once a
batch.
> opt = optim.SGD({la.ones(1, {requires_grad = true})},
>>   {lr = 1, momentum = 0.9})
> schedule = optim.OneCycleLR(opt, {max_lr = 1, total_steps = 10})
> for k = 1, 2 do
>>   schedule:step()
>>   print(("%.3f"):format(opt.param_groups[1].lr))
>> end
0.520
1.000
! More steps than total_steps (or epochs * steps_per_epoch); an optimiser
  without momentum while cycle_momentum is true.
source: Smith, Topin: Super-convergence (2017)
see: optim.CyclicLR, optim.SGD
== optim.CyclicLR
: optim.CyclicLR(optimizer, {base_lr =, max_lr =, step_size_up = 2000,
  step_size_down =, mode = "triangular", gamma = 1, scale_fn =, scale_mode =
  "cycle", cycle_momentum = true, base_momentum = 0.8, max_momentum = 0.9}) ->
  optim.Scheduler
lr goes up and down between base_lr and max_lr again and again. "triangular2"
halves the height each time, "exp_range" shrinks it by gamma each step; scale_fn
gives the height of a cycle (from 1), or of a step with scale_mode "iterations".
> opt = optim.SGD({la.ones(1, {requires_grad = true})},
>>   {lr = 1, momentum = 0.9})
> schedule = optim.CyclicLR(opt, {base_lr = 0.5, max_lr = 1,
>>   step_size_up = 2})
> for k = 1, 3 do schedule:step() print(opt.param_groups[1].lr) end
0.75
1.0
0.75
source: Smith: Cyclical learning rates (2015)
see: optim.OneCycleLR
== optim.LambdaLR
: optim.LambdaLR(optimizer, {lr_lambda =}) -> optim.Scheduler
The learning rate is its first value times lr_lambda(step): for a schedule of
your own, such as warm-up with any decay.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.LambdaLR(opt, {
>>   lr_lambda = function(k) return 1 / (1 + k) end})
> schedule:step()
> opt.param_groups[1].lr
0.5
see: optim.MultiplicativeLR
== optim.MultiplicativeLR
: optim.MultiplicativeLR(optimizer, {lr_lambda =}) -> optim.Scheduler
lr times lr_lambda(1) lr_lambda(2) ... lr_lambda(step). For schedules that
depend on the last rate.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.MultiplicativeLR(opt, {
>>   lr_lambda = function() return 0.5 end})
> for k = 1, 2 do schedule:step() print(opt.param_groups[1].lr) end
0.5
0.25
see: optim.LambdaLR
== optim.ReduceLROnPlateau
: optim.ReduceLROnPlateau(optimizer[, {mode = "min", factor = 0.1, patience =
  10, threshold = 1e-4, threshold_mode = "rel", cooldown = 0, min_lr = 0, eps =
  1e-8}]) -> optim.Scheduler
lr times factor when a quantity has not improved for patience steps. Call
step(value) once an epoch. With mode "max" larger values are better.
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.ReduceLROnPlateau(opt, {patience = 1, factor = 0.5})
> for k = 1, 3 do schedule:step(7) print(opt.param_groups[1].lr) end
1
1
0.5
! A factor of 1 or more.
see: optim.StepLR
== optim.SequentialLR
: optim.SequentialLR(optimizer, {schedulers =, milestones =}) -> optim.Scheduler
One schedule after another: schedulers[k + 1] begins at the step milestones[k].
> opt = optim.SGD({la.ones(1, {requires_grad = true})}, {lr = 1})
> schedule = optim.SequentialLR(opt, {milestones = {2}, schedulers = {
>>   optim.LinearLR(opt, {start_factor = 0.5, total_iters = 2}),
>>   optim.ExponentialLR(opt, {gamma = 0.1})}})
> for k = 1, 3 do schedule:step() print(opt.param_groups[1].lr) end
0.75
1.0
0.1
! milestones that are not one less than schedulers; a schedule of another
  optimiser.
see: optim.LinearLR, optim.CosineAnnealingLR
== data.TensorDataset
: data.TensorDataset(x, ...) -> dataset
Samples along dim 1 of tensors of equal length. Its methods are #set, set:get(k)
and set:batch(indices). A dataset of your own is a table with __len and get(k),
or batch(indices).
> set = data.TensorDataset(la.range(3), la.range(3) * 10)
> #set
3
> set:get(2)
tensor(2)    tensor(20)
! Tensors of different lengths.
see: data.DataLoader, data.Subset
== data.Subset
: data.Subset(dataset, indices) -> dataset
A dataset of some samples of another, named by their numbers. For a part to test
with, or the parts of a cross-validation.
> set = data.Subset(data.TensorDataset(la.range(5)), {2, 4})
> #set, (set:get(2))
2    tensor(4)
see: data.random_split
== data.random_split
: data.random_split(dataset, lengths[, {generator =}]) -> dataset, ...
Divides a dataset at random into subsets without common samples, for training
and for testing. Lengths are numbers of samples, or fractions.
> train, test = data.random_split(data.TensorDataset(la.range(10)),
>>   {0.8, 0.2})
> #train, #test
8    2
! Lengths that do not sum to #dataset or to 1.
see: data.Subset, randperm
== data.DataLoader
: data.DataLoader(dataset[, {batch_size = 1, shuffle = false, generator =,
  drop_last = false, collate =, sampler =}]) -> loader
Batches of a dataset. for x, y in loader:batches() do ... end walks over it
once, with shuffle in a new order each time. #loader is the number of batches.
drop_last leaves out a shorter last batch; collate(samples) makes batches in a
way of your own.
> set = data.TensorDataset(la.range(5))
> loader = data.DataLoader(set, {batch_size = 2})
> for x in loader:batches() do print(x) end
tensor([1, 2])
tensor([3, 4])
tensor([5])
! An unknown option, a batch_size below 1.
see: data.TensorDataset, data.DataLoader:batches, data.DistributedSampler
== data.DataLoader:batches
: loader:batches() -> iterator
Iterates over one epoch and gives the parts of each batch.
> set = data.TensorDataset(la.range(2), la.range(2))
> for x, y in data.DataLoader(set):batches() do print(x, y) end
tensor([1])    tensor([1])
tensor([2])    tensor([2])
see: data.DataLoader
== data.DistributedSampler
: data.DistributedSampler(dataset[, {rank =, size =, shuffle = true, seed = 0,
  drop_last = false, batch_size =}]) -> sampler
The samples of this process, one of many (rank of size, those of lunarray.mpi
where it was required), for DataLoader's sampler. Without batch_size every rank
has as many samples. With it, each batch of that size is cut among the ranks:
together they do what one process does when the mean loss is multiplied by
sampler:weight(). sampler:set_epoch(k) draws another order, the same on all
ranks.
> set = data.TensorDataset(la.range(6))
> sampler = data.DistributedSampler(set, {rank = 2, size = 3,
>>   shuffle = false})
> sampler:indices()
tensor([2, 5])
! No rank and size; a batch_size below the number of ranks.
see: data.DataLoader, data.random_split
== data.collate
: data.collate(samples) -> ...
Makes a batch of samples (a list with n). Tensors are stacked, numbers make a
tensor, and the rest stays a list.
> data.collate{table.pack(la.ones(2), 1), table.pack(la.zeros(2), 2)}
tensor([[1., 1.],
        [0., 0.]])    tensor([1, 2])
see: data.DataLoader, stack
== data.fetch
: data.fetch(dataset, indices) -> ...
Makes a batch of the samples of these indices (an int64 tensor), with the
dataset's own batch if it has one.
> data.fetch(data.TensorDataset(la.range(5)), la.tensor{5, 1})
tensor([5, 1])
see: data.collate
== data.progress
: data.progress(n[, {desc =, file =, quiet =}]) -> iterator
Shows how far a loop has come, as la.progress does.
> total = 0
> for k in data.progress(3, {quiet = true}) do total = total + k end
> total
6
see: progress
== testing.assert_close
: testing.assert_close(actual, expected[, {rtol =, atol =, equal_nan = false,
  check_dtype = true, check_device = true, check_stride = false, msg =}])
Raises an error with a report unless both have one shape and dtype and |actual -
expected| <= atol + rtol |expected| in every element. The report says how many
differ, the greatest differences and their positions. It compares tensors,
numbers, or tables of them. The default rtol and atol depend on the dtype
(1.3e-6 and 1e-5 for float32).
> testing = require "lunarray.testing"
> testing.assert_close(la.tensor{1., 2}, la.tensor{1., 2.000001})
> print(pcall(testing.assert_close, 1.0, 1.5))
false    stdin:1: Scalars are not close!
.
Expected 1.5 but got 1.0.
Absolute difference: 0.5 (up to 1e-07 allowed)
Relative difference: 0.33333333333333 (up to 1e-07 allowed)
see: allclose, isclose, testing.luassert
== testing.luassert
: testing.luassert(assert) -> assert
Adds assert.tensors_close(actual, expected[, options]) to busted's assert.
> testing = require "lunarray.testing"
> type(testing.luassert)
function
see: testing.assert_close
]==]
