-- lunarray.words.csv. The format is in lunarray.help.rows.
return [==[
= Tables of text
== read_csv
: la.read_csv(path[, {header = true, sep = ",", dtypes =, na =, skip = 0,
  columns =, limit =, decimal = ".", thousands =, as = "frame"}]) -> frame
Reads a file of columns as a frame. Integers make int64; decimals and integers
with gaps make float64 with NaN, true and false bool, anything else text. dtypes
= {name = kind} sets one: a dtype, "text", "date" (ISO), "date[unit]" or
"date:%d.%m.%Y"; na lists the texts of gaps ("", NA, NaN, nan, null); decimal =
"," and thousands = "." are for numbers such as 1.234,5; skip leaves out lines
at the start; header = false names the columns "1", "2", ...; columns = {names}
reads only those; a file of more than limit bytes is an error. Lines end with
LF, CRLF or CR. A gzip file (.csv.gz) is unpacked.
as = "table" gives a table of tensors and lists of strings by name, and names, a
list in the order of the file; where a column is called names, t.names is that
column, and t[1], t[2], ... are the names.
! a cell that is not of its kind: the error names line, column and text
> file = io.open("cities.csv", "w")
> file:write("city,people\nBonn,330000\nKiel,247000\n"):close()
true
> t = la.read_csv("cities.csv")
> t.names, t.people:sum(), t.city[2]
{"city", "people"}    tensor(577000)    Kiel
see: frame, write_csv, describe, load
needs: frame
== write_csv
: la.write_csv(columns, path[, {sep = ",", header = true, na = "", names =}])
Writes a frame, a table of columns (sorted if there are no names), or a matrix
with names. Numbers have the fewest digits that read back the same; NaN
is written as na. An existing file is replaced as a whole, at the end.
> la.write_csv({x = la.range(2), y = la.tensor{0.5, 1.5}}, "xy.csv")
> io.open("xy.csv"):read("a")
x,y
1,0.5
2,1.5
see: read_csv
]==]
