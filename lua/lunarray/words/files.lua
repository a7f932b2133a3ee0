-- lunarray.words.files: files of tensors and of tables. The format is in
-- lunarray.help.rows.
return [==[
== save
: la.save(object, path[, {metadata =}])
Writes a tensor (.npy) or a table (.npz, .safetensors); the path's end decides.
A table may hold tensors, numbers, strings, booleans and tables. load gives the
same nested table back; other programs see its tensors and numbers under their
keys joined with dots. metadata is a table of texts about the file. An existing
file is replaced as a whole, at the end.
> la.save(la.range(3), "x.npy")
> la.load("x.npy")
tensor([1, 2, 3])
> la.save({epoch = 3, w = la.ones(2), opt = {lr = 0.5}}, "ck.npz")
> la.load("ck.npz").opt.lr
0.5
! Functions and userdata in a table; net instead of net:state_dict().
A compiled function goes to a .laprog: what was recorded last, with the tensors
that it captured as ordinary ones of a .safetensors file. {all = true} saves
every kind of arguments, {names = net:state_dict()} names tensors (tables in
tables join names with dots), and raises where the function captured none of
them; others go by numbers.
see: load, mmap, compile, image.save, write_csv, nn.Module:state_dict
== load
: la.load(path[, {metadata =, limit =, unknown =, mmap =}]) -> tensor or table
Reads .npy (one tensor), .npz or .safetensors (a table by name), and the parts
that a .safetensors.index.json names, which lie in its folder. Modules add
formats (la.config().modules): pickle those of PyTorch (.pt, .pth, .bin, .ckpt,
TorchScript's .jit), nested tables as they were saved; torch7 .t7. Classes that
PyTorch's own safe loading does not know are an error, or, with unknown =
"table", tables with the class in __class. With metadata =
true it also returns the table of the file's texts, and a table of the tensors
that were left out because their dtype does not exist here (F8_E4M3 and other
dtypes below 16 bits): the file's dtype by name; the host's log gets a line
about them. A file that holds more than limit bytes, unpacked, is an error; a
sandbox that says nothing has 256 MiB. With mmap = true it is la.mmap. Nothing
in a file is ever run.
A .laprog is a program: p(...) runs what la.compile recorded, with the values
that the function gave; p:weights() is a table of its tensors by name, to read
and to write; #p counts its steps and p:steps() lists them.
In a sandbox the path is a name, any text, for which the host program gives the
bytes; without such a host there are no files.
> la.save({w = la.ones(2)}, "net.safetensors",
>>   {metadata = {author = "me"}})
> t, texts = la.load("net.safetensors", {metadata = true})
> t.w, texts.author
tensor([1., 1.])    me
> f = la.compile(function(x) return x * 2 + la.ones(2) end)
> f(la.zeros(2))
tensor([1., 1.])
> la.save(f, "f.laprog")
> p = la.load("f.laprog")
> print(p)
program(x) -> output1: 3 steps, 0 weights
> p(la.tensor{1., 2})
tensor([3., 5.])
see: save, mmap, compile, image.load, read_csv
== mmap
: la.mmap(path[, {metadata =}]) -> tensor or table
As load, but the tensors lie in the mapped file and are read-only. A large file
opens at once, and only the parts that you use are read.
> la.save(la.range(3), "x.npy")
> la.mmap("x.npy")[2]
tensor(2)
see: load
]==]
