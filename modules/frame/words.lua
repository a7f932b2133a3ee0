-- lunarray.words.frame. The format is in lunarray.help.rows.
return [==[
= Tables of columns
== frame
: la.frame(columns[, {names=}]) -> frame
A table: an ordered list of named columns of one length. Columns come by name
(in the order of names, else by bytes), as a list of pairs {{"a", {1, 2}}, ...},
as a list of records, or as a matrix with names. A list of integers is int64, of
floats float64, of booleans bool, of strings text; one value repeats next to a
column. f.x is the column: a tensor, a Text or a Date. f[i] is a row, f[{i, j}]
rows, f[mask] and f[indices] others; f.x = v sets a column, nil drops it;
f.names, f.kinds, f.shape, #f, pairs(f), f == g. Rows count from 1.
Words of la.frame take the name of a column and make recipes for with, agg and
filter; given a column, they compute now.
! lists of several types, columns of different lengths: the error names the row,
  the columns
> F = la.frame
> f = F{{"city", {"Bonn", "Kiel"}}, {"area", {141.06, F.gap}}}
> f
   city     area
   text  float64
1  Bonn   141.06
2  Kiel      nil
[2 rows, 2 columns]
> f.area, f.city[1], f[2].city
tensor([141.0600,      nan], dtype=float64)    Bonn    Kiel
see: frame.Frame:with, frame.Frame:group, read_csv, frame.gap
== frame.gap
: la.frame.gap -> value
Writes a gap (a missing value) into a list. In a column a gap is NaN among
floats, no text, no date; integers and booleans have none, so such a list is of
float64. Gaps read as nil; statistics pass over them, comparisons with one are
false (ne: true).
> la.frame{x = {1, la.frame.gap}}.x
tensor([1., nan], dtype=float64)
see: frame.isna, frame.Frame:fillna
== frame.text
: la.frame.text(list) -> Text
A column of texts, also of none: int32 codes from 1 into a list of categories.
Text has t[i], #t, totable(); eq ne lt le gt ge, isin and has give masks; upper
lower sub rep gsub match as string's, len, map, a .. "-" .. b, order.
> t = la.frame.text{"red", "blue", la.frame.gap, "red"}
> t, t.codes
text{"red", "blue", nil, "red"}    tensor([2, 1, 0, 2], dtype=int32)
> t.categories
{"blue", "red"}
> t:eq"red", t:upper() .. "!"
tensor([ True, False, False,  True])    text{"RED!", "BLUE!", nil, "RED!"}
see: frame.Text:order, frame.Text:has, frame.Text:map
== frame.date
: la.frame.date(x[, {format=, unit=, offset=}]) -> Date
A column of dates of a list of texts, a Text, or integers: int64 values since
1970 in UTC. Texts are ISO 8601, or of a format of strftime's (%Y %y %m %d %j %H
%I %p %M %S %f %z %b %B %a %A, in English). The unit is day, second,
millisecond, microsecond or nanosecond; without one the coarsest that holds all
(of integers: second). Offsets in texts are taken off; offset= is for those that
have none.
year month day hour minute second weekday (Monday 1) yearday week (ISO) quarter
are int64 tensors; eq ne lt le gt ge take a Date or a text.
! a text that is no date: the error names its row
> d = la.frame.date{"2024-02-29", "2024-12-30"}
> d.week, d:ge"2024-03-01"
tensor([9, 1])    tensor([False,  True])
> la.frame.date({"29.2.24 8:30"}, {format = "%d.%m.%y %H:%M"})
date[second]{2024-02-29 08:30:00}
see: frame.Date:floor, frame.Date:add, frame.Date:format, frame.date_range
== frame.date_range
: la.frame.date_range(first, last, unit[, n]) -> Date
Every n units from first to last, its end included; months end at their last
day.
> la.frame.date_range("2024-01-31", "2024-04-30", "month")
date[day]{2024-01-31, 2024-02-29, 2024-03-31, 2024-04-30}
see: frame.date, frame.Frame:resample
== frame.concat
: la.frame.concat(frames[, {dim = 1}]) -> frame
Frames one below the other, by name; where a column is absent there are gaps.
dim = 2 sets them side by side.
> la.frame.concat{la.frame{x = {1}}, la.frame{x = {2}, y = {3}}}
       x        y
   int64  float64
1      1      nil
2      2      3.0
[2 rows, 2 columns]
see: frame.Frame:join, cat
== frame.is_frame
: la.frame.is_frame(v) -> boolean
true for what la.frame made; for functions that take a table or a frame.
> la.frame.is_frame(la.frame{x = 1})
true
== frame.size
: la.frame.size()
A recipe: the number of rows, those with gaps too. For how many rows a group
has; count leaves gaps out.
> la.frame{k = {"a", "b", "a"}}:group"k":agg{n = la.frame.size()}
   k         n
   text  int64
1  a         2
2  b         1
[2 rows, 2 columns]
see: frame.count
== frame.count, frame.nunique
: la.frame.{count,nunique}(x)
Values that are no gaps; different ones. x is the name of a column (a recipe) or
a column (its value).
> F = la.frame
> F.count{1, F.gap, 1}, F.nunique{1, F.gap, 1}
2    1
see: frame.size, frame.Frame:value_counts
== frame.sum, frame.prod, frame.mean, frame.median, frame.var, frame.std
: la.frame.{sum,prod,mean,median,var,std}(x)
One value of the numbers of a column, or of each group; gaps are passed over.
The sum of nothing is 0; sums of integers are int64, all else float64 (float32
of float32). var and std divide by n - 1.
> F = la.frame
> F.sum{1, 2, 6}, F.mean{1, 2, 6}, F.median{1, 2, 6}
9    3.0    2.0
> F{k = {"a", "b", "a"}, x = {1, 2, 6}}:group"k":agg{total = F.sum"x"}
   k     total
   text  int64
1  a         7
2  b         2
[2 rows, 2 columns]
see: frame.Groups:agg, frame.Frame:describe
== frame.min, frame.max, frame.first, frame.last
: la.frame.{min,max,first,last}(x)
The least, greatest, first or last value that is no gap, also of texts and
dates; of nothing a gap.
> F = la.frame
> F.min{"b", "a"}, F.last{1, 2, F.gap}
a    2.0
see: frame.sum
== frame.quantile
: la.frame.quantile(x, q)
The value below which part q (0 to 1) lies, linear between the nearest two.
> la.frame.quantile({1, 2, 3, 4}, 0.25)
1.75
see: frame.median, quantile
== frame.any, frame.all
: la.frame.{any,all}(x)
Is one number other than 0, are all? Gaps count for neither.
> la.frame.any{0, 1}, la.frame.all{0, 1}
true    false
== frame.shift, frame.diff
: la.frame.{shift,diff}(x[, n = 1])
The value n rows above (below for n < 0) in the group, or the distance to it.
Between dates that is in the column's unit. The first rows are gaps.
> la.frame.shift{1, 2, 4}
tensor([nan, 1., 2.], dtype=float64)
> la.frame.diff{1, 2, 4}
tensor([nan, 1., 2.], dtype=float64)
see: frame.cumsum
== frame.cumsum, frame.cumprod, frame.cummax, frame.cummin
: la.frame.{cumsum,cumprod,cummax,cummin}(x)
Running values down the rows of each group; gaps stay and are passed over.
> la.frame.cumsum{1, 2, 4}, la.frame.cummax{1, 3, 2}
tensor([1, 3, 7])    tensor([1, 3, 3])
see: frame.rolling
== frame.ffill, frame.bfill
: la.frame.{ffill,bfill}(x)
Gaps become the last value above, or the next one below, within the group.
> F = la.frame
> F.ffill{1, F.gap, 3}, F.bfill{1, F.gap, 3}
tensor([1., 1., 3.], dtype=float64)    tensor([1., 3., 3.], dtype=float64)
see: frame.Frame:fillna
== frame.isna
: la.frame.isna(x)
true where there is a gap: NaN of numbers, nil of texts and dates. filter takes
it to find rows with gaps, its logical_not to drop them.
> la.frame.isna{1, la.frame.gap}
tensor([False,  True])
== frame.number
: la.frame.number()
A recipe: rows numbered from 1, within their group. For ranks by the order of
rows, and the first n of each group.
> la.frame{k = {"a", "b", "a"}}:group"k":with{n = la.frame.number()}.n
tensor([1, 1, 2])
== frame.rank
: la.frame.rank(x[, {method = "average", descending = false}])
The rank of each value from 1 in its group. Those that tie have their average
rank, or by method "min", "max", "dense" (without holes) or "first" (as met).
> la.frame.rank{10, 20, 10}
tensor([1.5000, 3.0000, 1.5000], dtype=float64)
see: frame.Frame:sort, argsort
== frame.rolling
: la.frame.rolling(x, n, how[, {min = n, center = false, on=}])
Windows of the last n rows: count, sum, mean, var, std, min, max or median of
them, or a function that gets the values of a window and gives a number. A
window with fewer than min values (count: rows) is a gap. n = {7, "day"} with on
= the name of a column of sorted dates takes the rows after t - 7 days, up to t,
with min = 1.
> la.frame.rolling({1, 2, 6, 4}, 2, "mean")
tensor([   nan, 1.5000, 4.0000, 5.0000], dtype=float64)
> la.frame.rolling({1, 2, 6, 4}, 3, "max", {min = 1, center = true})
tensor([2., 6., 6., 6.], dtype=float64)
see: frame.Frame:resample, avg_pool1d, convolve
== frame.cut
: la.frame.cut(x, edges[, {labels=, right = true}])
The bin of each number, as texts in the order of the bins: "(0, 18]", or your
labels. labels = false: int64 from 1. Outside of all: a gap.
> la.frame.cut({5, 30, 70}, {0, 18, 65, 120})
text{"(0, 18]", "(18, 65]", "(65, 120]"}
see: frame.qcut, bucketize
== frame.qcut
: la.frame.qcut(x, n[, {labels=}])
n bins of as many values each, by quantiles: quarters of customers by what they
spend. cut takes edges of your own.
> la.frame.qcut({1, 2, 3, 4}, 2, {labels = {"low", "high"}})
text{"low", "low", "high", "high"}
see: frame.cut, frame.quantile
== frame.apply
: la.frame.apply(x, fn)
A recipe: fn gets the column (of each group) and gives one value, or for with a
column.
> F = la.frame
> F{k = {"a", "b", "a"}, x = {1, 2, 6}}:group"k":agg{
>>   range = F.apply("x", function(x) return x:max() - x:min() end)}
   k     range
   text  int64
1  a         5
2  b         0
[2 rows, 2 columns]
see: frame.Groups:apply
== frame.Frame:select, frame.Frame:drop
: f:{select,drop}(name, ...)
These columns, or all others: names, a list of them, or a function of name and
kind.
> f = la.frame{a = {1}, b = {"x"}, c = {2.5}}
> f:select("c", "a").names, f:drop"a".names
{"c", "a"}    {"b", "c"}
> f:select(function(name, kind) return kind == "text" end).names
{"b"}
== frame.Frame:rename
: f:rename{old = "new"}
The frame with other names for the columns that {old = "new"} lists; order and
data stay. A name that is taken is an error.
> la.frame{a = {1}, b = {2}}:rename{a = "z"}.names
{"z", "b"}
== frame.Frame:to
: f:to({name = kind, ...}[, {strict = true}])
Columns as another kind: a dtype, "text", "date", "date[unit]" or "date:format".
! a cell that is none of it: the error names it; strict = false makes it a gap
> f = la.frame{x = {"1", "2.5", "?"}}
> f:to({x = "float64"}, {strict = false}).x
tensor([1.0000, 2.5000,    nan], dtype=float64)
see: frame.date
== frame.Frame:map
: f:map(fn[, names])
A frame in which each column is what fn(column, name) gives. For one change to
many columns: rounding, scaling.
> f = la.frame{a = {1, 2}, b = {3, 4}}
> f:map(function(c) return c * 10 end):tensor()
tensor([[10, 30],
        [20, 40]])
== frame.Frame:with
: f:with{name = value, ...}
A frame with more columns, or others: a tensor, list or one value, a recipe
(la.frame.cumsum"x"), or a function of the frame. All see the frame as it was. A
list of pairs says the order.
> F = la.frame
> f = F{x = {1, 2, 6}}
> f:with{total = F.sum"x", twice = function(f) return f.x * 2 end}
       x  total  twice
   int64  int64  int64
1      1      9      2
2      2      9      4
3      6      9     12
[3 rows, 3 columns]
see: frame.Groups:with
== frame.Frame:agg
: f:agg{name = recipe, ...}
A frame of one row, with a value for each recipe or function.
> F = la.frame
> F{x = {1, 2, 6}}:agg{n = F.size(), mean = F.mean"x"}
      mean      n
   float64  int64
1      3.0      3
[1 row, 2 columns]
see: frame.Groups:agg
== frame.Frame:filter
: f:filter(condition)
The rows where a mask, a recipe or a function of the frame is true.
> f = la.frame{x = {1, 5, 3}}
> f:filter(f.x:gt(2)).x
tensor([5, 3])
== frame.Frame:unique, frame.Frame:duplicated
: f:{unique,duplicated}([cols, {keep = "first"}])
Each combination once, by its first (or last) row; a mask of the other rows.
> f = la.frame{k = {"a", "b", "a"}}
> f:unique().k, f:duplicated()
text{"a", "b"}    tensor([False, False,  True])
== frame.Frame:dropna
: f:dropna([cols, {how = "any"}])
The rows without gaps; how = "all": those that have a value. For code that takes
no gaps; fillna keeps the rows.
> la.frame{x = {1, la.frame.gap, 3}}:dropna().x
tensor([1., 3.], dtype=float64)
== frame.Frame:fillna
: f:fillna(value)
: f:fillna{name = value, ...}
Gaps become the value, in the columns whose kind it has, or by name. For gaps
whose meaning is known, as 0 sold.
> la.frame{x = {1, la.frame.gap}}:fillna(0).x
tensor([1., 0.], dtype=float64)
see: frame.ffill
== frame.Frame:sort
: f:sort(cols[, {descending = false, missing = "last"}])
Rows by one column or several, stable. descending may be a list; gaps come last
in both directions, or first.
> f = la.frame{k = {"b", "a", "b"}, x = {1, 2, 3}}
> f:sort({"k", "x"}, {descending = {false, true}}).x
tensor([2, 3, 1])
see: frame.rank
== frame.Frame:group
: f:group(cols[, {dropna = false, sort = true, complete = false}])
Groups of rows with equal keys, by key ascending, gaps last. sort = false: by
first row; dropna: without gap keys; complete: every combination of the keys'
values. Then agg, with, filter, apply, iter, or sum, mean, ... of columns.
> F = la.frame
> f = F{k = {"b", "a", "b"}, x = {1, 2, 3}}
> f:group"k":sum"x"
   k         x
   text  int64
1  a         2
2  b         4
[2 rows, 2 columns]
> for part, k in f:group"k":iter() do print(k, #part) end
a    1
b    2
see: frame.Groups:agg, frame.Frame:pivot
== frame.Groups:agg
: g:agg{name = recipe, ...}
One row for each group: its keys, then a value of each recipe, or of each
function of the group's frame.
> F = la.frame
> f = F{k = {"b", "a", "b"}, x = {1, 2, 3}}
> f:group"k":agg{n = F.size(), mean = F.mean"x"}
   k        mean      n
   text  float64  int64
1  a         2.0      1
2  b         2.0      2
[2 rows, 3 columns]
see: frame.Groups:with
== frame.Groups:with
: g:with{name = recipe, ...}
All rows, in their order, with columns that are computed within the groups; one
value repeats in its group.
> F = la.frame
> f = F{k = {"b", "a", "b"}, x = {1, 2, 3}}
> f:group"k":with{sum = F.cumsum"x"}.sum
tensor([1, 2, 4])
== frame.Groups:filter
: g:filter(condition)
The rows of the groups for which a function of the group's frame, or a recipe,
is true.
> f = la.frame{k = {"b", "a", "b"}}
> f:group"k":filter(function(part) return #part > 1 end).k
text{"b", "b"}
== frame.Groups:apply
: g:apply(fn)
What fn makes of each group's frame, a frame or a record, stacked behind the
keys.
> f = la.frame{k = {"b", "a", "b"}, x = {1, 2, 3}}
> f:group"k":apply(function(part) return part:tail(1) end)
   k         x
   text  int64
1  a         2
2  b         3
[2 rows, 2 columns]
== frame.Groups:iter
: g:iter()
The groups one after the other: a frame, then its keys. For what no recipe does:
a figure or a file for each group.
> g = la.frame{k = {"b", "a", "b"}}:group"k"
> for part, k in g:iter() do print(k, #part) end
a    1
b    2
== frame.Groups:size, frame.Groups:sum, frame.Groups:prod, frame.Groups:mean
== frame.Groups:median, frame.Groups:min, frame.Groups:max, frame.Groups:std
== frame.Groups:var, frame.Groups:count, frame.Groups:first
== frame.Groups:last, frame.Groups:nunique, frame.Groups:any
== frame.Groups:all, frame.Groups:quantile
: g:word(cols)
The word of la.frame of these columns, which keep their names; without names, of
all that it can be of. g:quantile(q, cols).
> la.frame{k = {"b", "a", "b"}, x = {1, 2, 3}}:group"k":mean()
   k           x
   text  float64
1  a         2.0
2  b         2.0
[2 rows, 2 columns]
see: frame.Groups:agg
== frame.Frame:resample
: f:resample(name, unit[, n])
Groups by steps of n units of a column of dates, empty steps too. Rows of a
step are taken in the order of their dates, so that first and last are its
earliest and its latest value.
> F = la.frame
> f = F{t = F.date{"2024-01-01", "2024-01-03"}, x = {1, 2}}
> f:resample("t", "day"):agg{x = F.sum"x"}
   t               x
   date[day]   int64
1  2024-01-01      1
2  2024-01-02      0
3  2024-01-03      2
[3 rows, 2 columns]
see: frame.Date:floor, frame.rolling
== frame.Frame:join
: f:join(g, on[, {how = "inner", suffix = "_right", fill=, validate=}])
Rows of both with equal keys, in the order of f, then of g. on is a name, a list
or {left = "right"}; how is inner, left, right, outer, semi or anti. Gaps match
nothing. Keys come once; a name that both have gets the suffix. What has no
match is a gap, or of fill = {name = value}. validate "1:1", "1:m" or "m:1"
raises for a key that stands twice.
> a = la.frame{k = {"x", "y"}, v = {1, 2}}
> a:join(la.frame{k = {"y", "z"}, w = {3, 4}}, "k", {how = "left"})
   k         v        w
   text  int64  float64
1  x         1      nil
2  y         2      3.0
[2 rows, 3 columns]
see: frame.concat
== frame.Frame:pivot
: f:pivot{index=, columns=, values=, agg=, fill=}
A row for each value of index, a column for each of columns. agg says what
becomes of several values in a cell: a word ("mean" or la.frame.mean) or a
function.
! a cell that is met twice without agg
> f = la.frame{day = {1, 1, 2}, what = {"in", "out", "in"}, n = {5, 3, 4}}
> f:pivot{index = "day", columns = "what", values = "n", fill = 0}
     day     in    out
   int64  int64  int64
1      1      5      3
2      2      4      0
[2 rows, 3 columns]
see: frame.Frame:melt
== frame.Frame:melt
: f:melt{id_vars=, value_vars=, var_name = "variable", value_name = "value"}
A long frame: the columns one below the other, next to a column of their names.
> la.frame{id = {1, 2}, a = {3, 4}, b = {5, 6}}:melt{id_vars = "id"}
      id  variable  value
   int64  text      int64
1      1  a             3
2      2  a             4
3      1  b             5
4      2  b             6
[4 rows, 3 columns]
see: frame.Frame:pivot
== frame.Frame:value_counts
: f:value_counts(cols[, {normalize = false}])
How often each combination occurs, most first: column count, or proportion.
> la.frame{k = {"b", "a", "b"}}:value_counts"k"
   k     count
   text  int64
1  b         2
2  a         1
[2 rows, 2 columns]
== frame.Frame:head, frame.Frame:tail
: f:{head,tail}([n = 5])
The first n rows (5), or all where there are fewer: a look at a table, or the
best after a sort.
> la.frame{x = la.range(9)}:tail(2).x
tensor([8, 9])
== frame.Frame:sample
: f:sample(n[, {replace = false, generator=}])
n rows by chance, none twice unless replace is true; a generator makes the
choice repeatable. For a look into a long table and for bootstraps.
> #la.frame{x = la.range(9)}:sample(3)
3
see: Generator
== frame.Frame:describe
: f:describe()
count, mean, std, min, quartiles and max of the columns of numbers, as a frame.
> la.frame{x = {1, 2, 3, 4}}:describe()
   stat         x
   text   float64
1  count      4.0
2  mean       2.5
3  std    1.29099
4  min        1.0
5  25%       1.75
6  50%        2.5
7  75%       3.25
8  max        4.0
[8 rows, 2 columns]
see: describe
== frame.Frame:info
: f:info()
A text: kinds, gaps and bytes of the columns, and which cell of a file made one
a text.
> la.frame{x = {1, 2}}:info()
frame of 2 rows, 1 column: 16 bytes
column  kind   gaps     bytes
x       int64     0  16 bytes
== frame.Frame:print, frame.Frame:tostring, frame.Frame:html
: f:{print,tostring}([{width=, rows = 20}])
: f:html([{rows = 20}])
The frame fitted to the window (or width), with its first and last rows; as a
text; as a table of HTML, which notebooks show.
> f = la.frame{x = la.range(9)}
> print(f:tostring{rows = 4})
         x
     int64
  1      1
  2      2
...    ...
  8      8
  9      9
[9 rows, 1 column]
> #f:html() > 100
true
== frame.Frame:tensor
: f:tensor([name, ...])
: f:tensor{name, ..., dtype=}
Columns of numbers as a matrix, rows x columns, of a common dtype. For training,
and everything else that la has.
> la.frame{x = {1, 2}, y = {3, 4}}:tensor{"y", "x", dtype = "float32"}
tensor([[3., 1.],
        [4., 2.]])
see: data.TensorDataset
== frame.Frame:table, frame.Frame:records, frame.Frame:rows, frame.Frame:col
: f:{table,records}()
: f:rows() -> iterator
: f:col(name)
The columns as a table of tensors and lists, with names; the rows as a list of
tables; one after the other; the column of a name that a method has, too.
> f = la.frame{x = {1, 2}}
> f:records()[2].x, f:col"x"
2    tensor([1, 2])
== frame.Frame:plot
: f:plot(x, y[, {by=, kind = "line"}])
A figure of two columns: "line", "scatter", "bar" or "hist" (of x). by names a
column of groups, one mark for each.
> f = la.frame{x = {1, 2, 3}, y = {2, 4, 3}}
> #f:plot("x", "y"):svg() > 1000
true
see: plot.line
== frame.Text:eq, frame.Text:ne, frame.Text:lt, frame.Text:le, frame.Text:gt
== frame.Text:ge, frame.Text:isin
: t:eq(text)
: t:isin{text, ...}
Masks: compared with a string or another Text, by bytes (or by its order); is it
one of the list?
> t = la.frame.text{"b", "a"}
> t:lt"b", t:isin{"b", "c"}
tensor([False,  True])    tensor([ True, False])
== frame.Text:has
: t:has(pattern[, plain])
A mask: does string.find find the pattern?
> la.frame.text{"Bonn", "Kiel"}:has"nn$"
tensor([ True, False])
== frame.Text:upper, frame.Text:lower, frame.Text:sub, frame.Text:rep
== frame.Text:gsub, frame.Text:match, frame.Text:len
: t:upper()
Each text as string's function of the name has it; without a match: a gap.
> t = la.frame.text{"a-1", "b"}
> t:match"%d", t:sub(1, 1), t:len()
text{"1", nil}    text{"a", "b"}    tensor([3, 1])
== frame.Text:map
: t:map(fn)
Each different text as a function, or a table, has it: strings, numbers or
booleans.
> la.frame.text{"S", "M", "S"}:map{S = 1, M = 2}
tensor([1, 2, 1])
== frame.Text:order
: t:order{text, ...}
The same texts, in the order of the list for sort, group and comparisons. For
sizes and grades, whose order is not that of their letters.
! a text that is not in the list
> t = la.frame.text{"L", "S"}:order{"S", "M", "L"}
> t:lt"M"
tensor([False,  True])
== frame.Text:totable, frame.Date:totable
: t:totable()
A list of strings, with holes for gaps: the way into plain Lua. #t counts the
rows, the list's # may not.
> la.frame.text{"x", "y"}:totable()
{"x", "y"}
== frame.Date:eq, frame.Date:ne, frame.Date:lt, frame.Date:le, frame.Date:gt
== frame.Date:ge, frame.Date:isin
: d:eq(date)
Masks: compared with a Date or a text.
> la.frame.date{"2024-02-29", "2025-01-01"}:lt"2024-06-01"
tensor([ True, False])
== frame.Date:format
: d:format([format])
A Text by a format of strftime's; ISO 8601 without one.
> la.frame.date{"2024-02-29"}:format"%d %b %Y"
text{"29 Feb 2024"}
== frame.Date:floor
: d:floor(unit[, n = 1])
Begin of the step of n units that the instant is in; also week, month, quarter,
year.
> la.frame.date{"2024-02-29"}:floor"month"
date[day]{2024-02-01}
== frame.Date:add
: d:add(n, unit)
n units later. A month ends at its last day.
> la.frame.date{"2024-01-31"}:add(1, "month")
date[day]{2024-02-29}
== frame.Date:since
: d:since(date, unit)
How many units the instants are after the other: float64. For ages, durations
and the x of a fit.
> la.frame.date{"2024-02-29"}:since("2024-01-01", "day")
tensor([59.], dtype=float64)
== frame.Date:at
: d:at(offset)
The same instants, seen at an offset such as "+02:00". For how a clock on the
wall there showed them.
> la.frame.date{"2024-02-29 23:30:00"}:at"+02:00"
date[second]{2024-03-01 01:30:00+02:00}
== read_jsonl
: la.read_jsonl(path) -> frame
A table of lines that are JSON objects. Columns come as their names are met;
what a line lacks, and null, is a gap.
! what is no flat object: the error names the line
> file = io.open("rows.jsonl", "w")
> file:write('{"x": 1, "s": "a"}\n{"s": null}\n'):close()
true
> la.read_jsonl("rows.jsonl")
         x  s
   float64  text
1      1.0  a
2      nil  nil
[2 rows, 2 columns]
see: write_jsonl, read_csv
== write_jsonl
: la.write_jsonl(frame, path)
A line with a JSON object for each row; gaps are null, dates texts. For logs and
programs that read a record at a time.
> la.write_jsonl(la.frame{x = {1, 2}}, "rows.jsonl")
> io.open("rows.jsonl"):read"a"
{"x":1}
{"x":2}
see: read_jsonl, write_csv
]==]
