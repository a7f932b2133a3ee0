-- lunarray.words.files: files of tensors and of tables. The format is in
-- lunarray.help.rows.
return [==[
== save
: la.save(object, path[, {metadata =}])
Write a tensor (.npy) or a table (.npz, .safetensors); the path's end decides. A
table may hold tensors, numbers, strings, booleans and tables, and comes back
from load as it went; other programs see its tensors and numbers by their keys
joined with dots. metadata: a table of texts about the file. An existing file is
replaced at the end, whole.
> la.save(la.range(3), "x.npy")
> la.load("x.npy")
tensor([1, 2, 3])
> la.save({epoch = 3, w = la.ones(2), opt = {lr = 0.5}}, "ck.npz")
> la.load("ck.npz").opt.lr
0.5
! Functions and userdata in a table; net instead of net:state_dict().
see: load, mmap, image.save, write_csv, nn.Module:state_dict
== load
: la.load(path[, {metadata =}]) -> tensor or table
Read .npy (one tensor), .npz or .safetensors (a table by name). With metadata =
true also the table of the file's texts, and one of the tensors that were left
out, as there is no such dtype here: its word by their name (F8_E4M3 and other
dtypes below 16 bits). Nothing in a file is ever run. In a sandbox path is a
name that the host program understands, any text, and what it gives for it is
read; without such a host there are no files.
> la.save({w = la.ones(2)}, "net.safetensors",
>>   {metadata = {author = "me"}})
> t, texts = la.load("net.safetensors", {metadata = true})
> t.w, texts.author
tensor([1., 1.])    me
see: save, mmap, image.load, read_csv
== mmap
: la.mmap(path[, {metadata =}]) -> tensor or table
As load, but the tensors lie in the mapped file and are read-only: large files
at once, and only what is touched is read.
> la.save(la.range(3), "x.npy")
> la.mmap("x.npy")[2]
tensor(2)
see: load
]==]
