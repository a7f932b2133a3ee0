-- lunarray.words.csv. The format is in lunarray.help.rows.
return [==[
= Tables of text
== read_csv
: la.read_csv(path[, {header = true, sep = ",", dtypes =, na =, skip = 0,
  columns =}]) -> table
A table of columns by name, and names, a list in the file's order. Integers make
int64, decimals and integers with gaps float64 with NaN, true and false bool,
anything else a list of strings. dtypes = {name = dtype or "string"} forces one;
na lists what is a gap ("", NA, NaN, nan, null); skip lines first; header =
false calls columns "1", "2", ...; columns = {names} reads those alone.
> file = io.open("cities.csv", "w")
> file:write("city,people\nBonn,330000\nKiel,247000\n"):close()
true
> t = la.read_csv("cities.csv")
> t.names, t.people:sum(), t.city[2]
{"city", "people"}    tensor(577000)    Kiel
see: write_csv, describe, load
== write_csv
: la.write_csv(columns, path[, {sep = ",", header = true, na = "", names =}])
Write columns as read_csv gives them (without names: sorted), or a matrix with
names; the fewest digits that read back the same, NaN as na. An existing file is
replaced at the end, whole.
> la.write_csv({x = la.range(2), y = la.tensor{0.5, 1.5}}, "xy.csv")
> io.open("xy.csv"):read("a")
x,y
1,0.5
2,1.5
see: read_csv
]==]
