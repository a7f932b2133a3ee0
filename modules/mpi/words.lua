-- lunarray.words.mpi: one script on many processes. The format is in
-- lunarray.help.rows; examples run on one rank.
return [==[
= Many processes
== mpi
: mpi
The module lunarray.mpi: one script on many processes, on one machine or
several: mpirun -n 4 lunarray script.lua. Requiring it begins MPI. The functions
below are those of mpi.world, the group of all ranks, and methods of every
group: mpi.barrier() is mpi.world:barrier(). All ranks must call collective
functions, in the same order.
> mpi = require "lunarray.mpi"
> mpi.rank, mpi.size
1    1
needs: mpi
see: mpi.all_reduce_, mpi.data_parallel, mpi.distribute, parallel
== mpi.rank
: mpi.rank -> integer
The number of this process, from 1. In a group it is the rank there.
> mpi.rank
1
needs: mpi
see: mpi.size
== mpi.size
: mpi.size -> integer
How many ranks (processes) run the program.
> mpi.size
1
needs: mpi
see: mpi.rank
== mpi.world
: mpi.world -> group
The group of all ranks: an object with rank, size and the functions of mpi as
methods.
> mpi.world
mpi group (rank 1 of 1)
needs: mpi
see: mpi.split, mpi.node
== mpi.Comm
: mpi.Comm
The class of groups of ranks, for tests of what an object is.
> mpi.Comm.part == mpi.part
true
needs: mpi
see: mpi.world
== mpi.info
: mpi.info() -> string
What MPI gave this job: library, ranks, machines, cores, threads.
> #mpi.info() > 0
true
needs: mpi
see: config
== mpi.abort
: mpi.abort(text)
Ends all ranks, with a text. A rank that ends in an error calls it
automatically.
> type(mpi.abort)
function
needs: mpi
see: mpi.barrier
== mpi.debug
: mpi.debug([on = true])
Compares before each collective call what the ranks are about to do. If they
differ, all raise an error that says so. LUNARRAY_MPI_DEBUG=1 does the same.
> mpi.debug()
> mpi.all_reduce(la.ones(1))
tensor([1.])
> mpi.debug(false)
needs: mpi
see: mpi.barrier
== mpi.clock
: mpi.clock() -> number
Seconds since an arbitrary moment, for differences. For how long a step takes on
this rank.
> mpi.clock() > 0
false
needs: mpi
see: profile
== mpi.part
: mpi.part(n, rank, size) -> count: integer, before: integer
Divides n things into size parts whose lengths differ by one at most. It gives
how many the rank has, and how many are before them.
> mpi.part(10, 2, 3)
3    4
needs: mpi
see: mpi.distribute, mpi.scatter
== mpi.split
: mpi.split(colour[, key]) -> group
Makes smaller groups: ranks of one colour (an integer from 0), in the order of
key. A rank whose colour is nil gets nil.
> mpi.split(0)
mpi group (rank 1 of 1)
needs: mpi
see: mpi.node, mpi.world
== mpi.node
: mpi.node() -> group
The group of the ranks that share the memory of this one, on one machine. For
memory and files that ranks of one machine share.
> mpi.node()
mpi group (rank 1 of 1)
needs: mpi
see: mpi.split
== mpi.barrier
: mpi.barrier()
Waits until all ranks have come to this call. For times that are measured, and
files that others wait for.
> mpi.barrier()
> mpi.rank
1
needs: mpi
see: mpi.debug
== mpi.send
: mpi.send(x, to[, {tag = 0}])
Sends a tensor to a rank, which receives it into one of the same dtype and as
many elements. It may return before the tensor has arrived.
> request = mpi.irecv(la.zeros(2), 1)
> mpi.send(la.ones(2), 1)
> request:wait()
1
needs: mpi
see: mpi.recv, mpi.isend, mpi.send_value
== mpi.recv
: mpi.recv(x, from[, {tag = 0}]) -> integer
Receives a tensor into x, from that rank or, with nil, from any rank, and
returns who sent it.
> request, x = mpi.isend(la.ones(2), 1), la.zeros(2)
> mpi.recv(x, 1)
1
> x
tensor([1., 1.])
! The message has another number of bytes than x.
needs: mpi
see: mpi.send, mpi.irecv
== mpi.isend
: mpi.isend(x, to[, {tag = 0}]) -> request
As send, without waiting. request:wait() returns when x may be changed,
request:test() says whether it may. The request keeps the memory alive.
> request, x = mpi.isend(la.ones(2), 1), la.zeros(2)
> mpi.recv(x, 1)
1
> request:test()
true
needs: mpi
see: mpi.irecv, mpi.send
== mpi.irecv
: mpi.irecv(x, from[, {tag = 0}]) -> request
As recv, without waiting. x is there after request:wait(), which returns who
sent it.
> x = la.zeros(2)
> request = mpi.irecv(x, 1)
> mpi.send(la.ones(2), 1)
> request:wait(), x
1    tensor([1., 1.])
needs: mpi
see: mpi.isend, mpi.recv
== mpi.sendrecv
: mpi.sendrecv(x, to, into, from[, {tag = 0}]) -> integer
Sends to one rank and receives from another without a deadlock. It returns who
sent the message.
> y = la.zeros(2)
> mpi.sendrecv(la.ones(2), 1, y, 1)
1
> y
tensor([1., 1.])
needs: mpi
see: mpi.send, mpi.recv
== mpi.send_value
: mpi.send_value(value, to[, {tag = 0}])
Sends nil, a boolean, a number, a string, a tensor or a table of these to a
rank.
> mpi.send_value({step = 3}, 1)
> mpi.recv_value(1)
{step = 3}    1
! Functions and userdata.
needs: mpi
see: mpi.recv_value, mpi.bcast_value
== mpi.recv_value
: mpi.recv_value([from[, {tag = 0, wait = true}]]) -> value, integer
Receives a value and returns it with its sender. With wait = false it returns
nothing if no message is there.
> select("#", mpi.recv_value(1, {wait = false}))
0
needs: mpi
see: mpi.send_value
== mpi.bcast
: mpi.bcast(x[, root = 1]) -> tensor
Copies the root's tensor into the tensor of every rank, in place.
> mpi.bcast(la.ones(2))
tensor([1., 1.])
needs: mpi
see: mpi.broadcast, mpi.bcast_value, mpi.bcast_init
== mpi.bcast_value
: mpi.bcast_value(value[, root = 1]) -> value
Gives every rank the value that the root passes. For settings that one rank has
read.
> mpi.bcast_value("go")
go
needs: mpi
see: mpi.send_value, mpi.bcast
== mpi.all_reduce_
: mpi.all_reduce_(x[, op = "sum"]) -> tensor
Combines the x of all ranks by "sum", "prod", "avg", "min", "max" (NaN wins),
"and" or "or" (bit by bit), in place. All ranks get the same bits. 16-bit floats
are summed in float32 and rounded once.
> mpi.all_reduce_(la.tensor{1., 2}, "max")
tensor([1., 2.])
! "avg" of integers.
needs: mpi
see: mpi.all_reduce, mpi.reduce, mpi.all_reduce_init
== mpi.all_reduce
: mpi.all_reduce(x[, op = "sum"]) -> tensor
Combines the tensors of all ranks element by element and gives each rank the
result in a new tensor.
> mpi.all_reduce(la.tensor{1., 2})
tensor([1., 2.])
needs: mpi
see: mpi.all_reduce_
== mpi.reduce
: mpi.reduce(x[, op = "sum", root = 1]) -> tensor
Combines the tensors of all ranks element by element; the root gets the result,
the others nil.
> mpi.reduce(la.tensor{1., 2})
tensor([1., 2.])
needs: mpi
see: mpi.all_reduce, mpi.reduce_scatter
== mpi.reduce_scatter
: mpi.reduce_scatter(x[, op = "sum"]) -> tensor
This rank's part, along dim 1, of the x of all ranks combined.
> mpi.reduce_scatter(la.tensor{1., 2})
tensor([1., 2.])
needs: mpi
see: mpi.reduce, mpi.part
== mpi.all_gather
: mpi.all_gather(x[, {ragged = false, out =}]) -> tensor, counts: table
The x of all ranks, one after the other along dim 1. With ragged their dims 1
may differ, and the second result lists them. out is a contiguous tensor for
equal parts.
> mpi.all_gather(la.tensor{1., 2})
tensor([1., 2.])
needs: mpi
see: mpi.gather, mpi.all_gather_value, mpi.all_gather_init
== mpi.gather
: mpi.gather(x[, root = 1, {ragged = false}]) -> tensor, counts: table
Collects the tensors of all ranks on the root; the others get nil.
> mpi.gather(la.tensor{1., 2})
tensor([1., 2.])
needs: mpi
see: mpi.all_gather, mpi.scatter
== mpi.all_gather_value
: mpi.all_gather_value(value) -> table
Gives every rank a table with the values of all ranks, by rank.
> mpi.all_gather_value("mine")
{"mine"}
needs: mpi
see: mpi.gather_value, mpi.all_gather
== mpi.gather_value
: mpi.gather_value(value[, root = 1]) -> table
Gives the root a table with the values of all ranks, by rank; the others get
nil.
> mpi.gather_value(7)
{7}
needs: mpi
see: mpi.all_gather_value
== mpi.scatter
: mpi.scatter(x[, root = 1, {counts =}]) -> tensor
Gives each rank its part of the root's x along dim 1; x is read on the root
alone. Parts differ by one row at most, or have the sizes of counts.
> mpi.scatter(la.range(3))
tensor([1, 2, 3])
needs: mpi
see: mpi.gather, mpi.part, mpi.scatter_value
== mpi.scatter_value
: mpi.scatter_value(list[, root = 1]) -> value
Gives each rank its entry list[rank] of the root's list: work that is not a
tensor, such as file names or options.
> mpi.scatter_value{"first"}
first
needs: mpi
see: mpi.scatter
== mpi.all_to_all
: mpi.all_to_all(x[, {counts =, out =}]) -> tensor, counts: table
Sends part k of x along dim 1 to rank k, and returns the parts that came, in the
order of ranks. Parts are equal, or counts lists the rows for each rank; then
the second result lists how many rows came.
> mpi.all_to_all(la.tensor{1., 2})
tensor([1., 2.])
needs: mpi
see: mpi.all_gather, mpi.all_to_all_init
== mpi.all_reduce_init
: mpi.all_reduce_init(x[, op = "sum"]) -> function
Prepares an all_reduce_ of this memory: sum() does it, again and again, without
checking arguments. Use it for messages of some hundred bytes.
> x = la.ones(2)
> sum = mpi.all_reduce_init(x, "sum")
> sum()
> x
tensor([1., 1.])
! A tensor that is not contiguous, or of a dtype that MPI does not reduce.
needs: mpi
see: mpi.all_reduce_, mpi.bcast_init
== mpi.bcast_init
: mpi.bcast_init(x[, root = 1]) -> function
Prepares a bcast of this memory, which can then be started many times.
> x = la.ones(2)
> mpi.bcast_init(x)()
> x
tensor([1., 1.])
needs: mpi
see: mpi.bcast, mpi.all_reduce_init
== mpi.all_gather_init
: mpi.all_gather_init(x, out) -> function
Prepares an all_gather of this memory, which can then be started many times.
> out = la.zeros(2)
> mpi.all_gather_init(la.ones(2), out)()
> out
tensor([1., 1.])
needs: mpi
see: mpi.all_gather, mpi.all_reduce_init
== mpi.all_to_all_init
: mpi.all_to_all_init(x, out) -> function
Prepares an all_to_all of this memory, which can then be started many times.
> out = la.zeros(2)
> mpi.all_to_all_init(la.ones(2), out)()
> out
tensor([1., 1.])
needs: mpi
see: mpi.all_to_all, mpi.all_reduce_init
== mpi.map
: mpi.map(f, list[, {retries = 0, comm =}]) -> results: table, errors: table
Calls f(item, k) for each item of rank 1's list, on whichever rank is free. All
ranks call it and get the results in order, and a table by k of the error texts.
> (mpi.map(function(v) return v * v end, {1, 2, 3}))
{1, 4, 9}
needs: mpi
see: parallel.map
== mpi.data_parallel
: mpi.data_parallel(module[, {bucket =, comm =}]) -> module
The module with gradients that are averaged over the ranks during backward.
Parameters and buffers become those of rank 1. Each rank computes the mean loss
of its part of the batch. Call net:reduce() after a backward that did not reach
all parameters; net:no_sync(f) leaves gradients on the rank. bucket is how many
bytes are sent together.
> net = mpi.data_parallel(nn.Linear(2, 1))
> net(la.ones(3, 2)).shape
{3, 1}
needs: mpi
see: data.DistributedSampler, mpi.zero, mpi.broadcast
== mpi.broadcast
: mpi.broadcast(module[, comm])
Gives all ranks the parameters and buffers of rank 1.
> net = nn.Linear(2, 1)
> mpi.broadcast(net)
> net.weight.shape
{1, 2}
needs: mpi
see: mpi.data_parallel, mpi.bcast
== mpi.backward_shards
: mpi.backward_shards(parameters, shards, n, f[, comm]) -> number
Computes gradients of n samples in a fixed number of shards, with the same bits
on any number of ranks. f(first, count) is the loss of those samples, a sum
divided by n. Shards are added as a binary tree.
> w = la.ones(1, {requires_grad = true})
> mpi.backward_shards({w}, 2, 4, function(_, count)
>>   return (w * count / 4):sum()
>> end)
1.0
> w.grad
tensor([1.])
needs: mpi
see: mpi.data_parallel, use_deterministic
== mpi.zero
: mpi.zero(class, parameters[, options]) -> optim.Optimizer
An optimiser whose states are divided: each rank keeps the states of its
parameters, steps these and sends them to all. Its state_dict is that of one
rank.
> opt = mpi.zero(optim.Adam, nn.Linear(2, 1):parameters(), {lr = 1e-3})
> type(opt.step)
function
source: Rajbhandari and others, ZeRO: Memory optimizations toward training
  trillion parameter models, 2020 (stage 1).
needs: mpi
see: optim.Adam, mpi.data_parallel
== mpi.save
: mpi.save(value, path[, comm])
Writes the value of rank 1 (tables, plain values, tensors) as a .safetensors or
.npz file. All ranks call it. An old file stays as it was until the new one is
complete.
> path = os.tmpname() .. ".npz"
> mpi.save({epoch = 3}, path)
> mpi.load(path).epoch
3
! On all ranks: what rank 1 could not write.
needs: mpi
see: mpi.load, save
== mpi.load
: mpi.load(path[, comm]) -> value
Gives the value to all ranks, however many there were when it was written. A run
may so go on with another number of ranks.
> path = os.tmpname() .. ".npz"
> mpi.save({epoch = 3}, path)
> mpi.load(path).epoch
3
! On all ranks: a file that is not whole.
needs: mpi
see: mpi.save, load
== mpi.distribute
: mpi.distribute(x[, dim = 1, comm]) -> mpi.array
Makes an array over the ranks of x, which is the same on all ranks: each keeps
its block along the dim. Operators, element-wise methods and reductions work on
arrays.
> a = mpi.distribute(la.range(4))
> (a * 2):sum()
tensor(20)
needs: mpi
see: mpi.from_blocks, mpi.from_function, mpi.array:full
== mpi.from_blocks
: mpi.from_blocks(block[, dim = 1, comm]) -> mpi.array
Joins the blocks of all ranks, of any lengths along the dim, to an array.
> mpi.from_blocks(la.range(3)):full()
tensor([1, 2, 3])
needs: mpi
see: mpi.distribute
== mpi.from_function
: mpi.from_function(shape, dim, f[, comm]) -> mpi.array
An array that no rank has as a whole: f(sizes, first) gives the block of those
sizes that begins at first along the dim.
> mpi.from_function({3}, 1, function(sizes, first)
>>   return la.range(first, first + sizes[1] - 1)
>> end):full()
tensor([1, 2, 3])
needs: mpi
see: mpi.rand, mpi.distribute
== mpi.rand
: mpi.rand(shape[, dim = 1, seed, options]) -> mpi.array
Uniform numbers in 0 .. 1, the same on any number of ranks.
> mpi.rand({2, 3}, 1, 7):numel()
6
needs: mpi
see: rand, mpi.randn
== mpi.randn
: mpi.randn(shape[, dim = 1, seed, options]) -> mpi.array
Normal numbers, the same on any number of ranks.
> mpi.randn({2, 3}, 1, 7):numel()
6
needs: mpi
see: randn, mpi.rand
== mpi.load_array
: mpi.load_array(path[, dim = 1, comm]) -> mpi.array
Reads a .npy in blocks along a dim; each rank reads its own block.
> path = os.tmpname() .. ".npy"
> mpi.distribute(la.range(3)):save(path)
> mpi.load_array(path):sum()
tensor(6)
needs: mpi
see: mpi.array:save, load
== mpi.is_array
: mpi.is_array(value) -> boolean
Tells whether the value is an array over ranks.
> mpi.is_array(mpi.distribute(la.ones(2))), mpi.is_array(la.ones(2))
true    false
needs: mpi
see: mpi.distribute
== mpi.array:full
: a:full() -> tensor
Gathers the whole array on all ranks. No other function does.
> mpi.distribute(la.range(3)):full()
tensor([1, 2, 3])
needs: mpi
see: mpi.array:to_block
== mpi.array:to_block
: a:to_block() -> tensor
The block of the array that this rank holds, as a plain tensor.
> mpi.distribute(la.range(3)):to_block()
tensor([1, 2, 3])
needs: mpi
see: mpi.array:full, mpi.from_blocks
== mpi.array:redistribute
: a:redistribute(dim) -> mpi.array
The same array in blocks along another dim.
> mpi.distribute(la.ones(2, 3), 1):redistribute(2)
mpi.array float32 {2, 3}, dim 2 over 1 ranks
needs: mpi
see: mpi.distribute
== mpi.array:halo
: a:halo(n[, edge = 0]) -> tensor
This rank's block with n more rows on each side, which are those of its
neighbours. At the ends of the array they are a number, "periodic" or "none".
> mpi.distribute(la.range(3)):halo(1, "periodic")
tensor([3, 1, 2, 3, 1])
needs: mpi
see: mpi.array:stencil
== mpi.array:stencil
: a:stencil(n, f[, edge = 0]) -> mpi.array
An array of the results of f for blocks with a halo of n. The result of f is as
long as the block without the halo.
> mean = function(x) return (x[{{1, -3}}] + x[{{3, -1}}]) / 2 end
> mpi.distribute(la.range(4.)):stencil(1, mean):full()
tensor([1.0000, 2.0000, 3.0000, 1.5000])
needs: mpi
see: mpi.array:halo, conv1d
== mpi.array:matmul
: a:matmul(b) -> mpi.array
The product of matrices: rows by rows, columns or a whole matrix (blocks go
round a ring), columns by rows.
> mpi.distribute(la.eye(2)):matmul(la.ones(2, 2)):full()
tensor([[1., 1.],
        [1., 1.]])
needs: mpi
see: matmul
== mpi.array:sort
: a:sort() -> mpi.array
The sorted array, ascending; for arrays of one dim.
> mpi.distribute(la.tensor{3, 1, 2}):sort():full()
tensor([1, 2, 3])
source: Shi and Schaeffer, Parallel sorting by regular sampling, 1992.
needs: mpi
see: sort
== mpi.array:save
: a:save(path)
Writes one .npy; all ranks write at once.
> path = os.tmpname() .. ".npy"
> mpi.distribute(la.range(3)):save(path)
> la.load(path)
tensor([1, 2, 3])
needs: mpi
see: mpi.load_array, save
]==]
