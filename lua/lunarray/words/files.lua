-- lunarray.words.files: files of tensors, tables.
-- The format is in lunarray.help.rows.
return [==[
== save
: save(object, path[, {metadata=}])
Write a tensor (.npy) or a table (.npz, .safetensors); the path's end
decides. A table may hold tensors, numbers, strings, booleans and tables,
and comes back from load as it went; other programs see its tensors and
numbers by their keys joined with dots. metadata: a table of texts about
the file. An existing file is replaced at the end, whole.
== load
: load(path[, {metadata=}])
Read .npy (one tensor), .npz or .safetensors (a table by name). With
metadata = true also the table of the file's texts, and one of the tensors
that were left out, as there is no such dtype here: its word by their name
(F8_E4M3 and other dtypes below 16 bits). Nothing in a file is ever run.
In a sandbox path is a name that the host program understands, any text,
and what it gives for it is read; without such a host there are no files.
== mmap
: mmap(path[, {metadata=}])
As load, but the tensors lie in the mapped file and are read-only.
== read_csv
: read_csv(path[, {header = true, sep = ",", dtypes=, na=, skip = 0, columns=}])
A table of columns by name, and names, a list in the file's order. Integers
make int64, decimals and integers with gaps float64 with NaN, true and false
bool, anything else a list of strings. dtypes = {name = dtype or "string"}
forces one; na lists what is a gap ("", NA, NaN, nan, null); skip lines
first; header = false calls columns "1", "2", ...; columns = {names} reads
those alone.
== write_csv
: write_csv(columns, path[, {sep = ",", header = true, na = "", names=}])
Write columns as read_csv gives them (without names: sorted), or a matrix
with names; the fewest digits that read back the same, NaN as na. An
existing file is replaced at the end, whole.
]==]
