-- lunarray.words.csv. The format is in lunarray.help.rows.
return [==[
= Tables of text
== read_csv
: la.read_csv(path[, {header = true, sep = ",", dtypes =, na =, skip = 0,
  columns =, limit =}]) -> table
Reads a table of columns by name, and names, a list in the order of the file.
Integers make int64; decimals and integers with gaps make float64 with NaN, true
and false bool, anything else a list of strings. dtypes = {name = dtype or
"string"} sets a dtype; na lists the texts of gaps ("", NA, NaN, nan, null);
skip leaves out lines at the start; header = false names the columns "1", "2",
...; columns = {names} reads only those; a file of more than limit bytes is an
error. Lines end with LF, CRLF or CR. Where a
column is called names, t.names is that column, and t[1], t[2], ... are the
names.
> file = io.open("cities.csv", "w")
> file:write("city,people\nBonn,330000\nKiel,247000\n"):close()
true
> t = la.read_csv("cities.csv")
> t.names, t.people:sum(), t.city[2]
{"city", "people"}    tensor(577000)    Kiel
see: write_csv, describe, load
== write_csv
: la.write_csv(columns, path[, {sep = ",", header = true, na = "", names =}])
Writes columns as read_csv gives them (sorted if there are no names), or a
matrix with names. Numbers have the fewest digits that read back the same; NaN
is written as na. An existing file is replaced as a whole, at the end.
> la.write_csv({x = la.range(2), y = la.tensor{0.5, 1.5}}, "xy.csv")
> io.open("xy.csv"):read("a")
x,y
1,0.5
2,1.5
see: read_csv
]==]
