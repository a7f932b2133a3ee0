-- lunarray.words.plot: figures. The format is in lunarray.help.rows.
return [==[
== plot.line
: plot.line([x, ]y[, {label=, color=, style = "-", marker=, linewidth = 1.8,
  markersize = 5, alpha = 1, points = 400, ...}]) -> figure
A figure with lines. y is a list or a tensor, several of them, the columns of a
matrix, or a function of a number, which is drawn over xlim; x is one for all or
one for each, else 1, 2, 3; texts such as "2024-05-17" or "2024-05-17 12:30"
are dates. What is not finite leaves a gap. la.plot(x, y) is
the same. tostring of a figure is its text for terminals and logs, and its
methods of the same names as these functions add marks to it.
- label: for the legend; with several lines a list
- color: "#rrggbb", a name, {r, g, b} from 0 to 1, or the number of a series
- style: "-", "--", ":", "-." or "" (none)
- marker: "o", "x", "+", "s" (square) or "^"
- points: where a function is drawn
- ...: of all figures: title, xlabel, ylabel, xlim and ylim ({low, high}),
  xscale and yscale ("linear", "log", "time": seconds since 1970, UTC), xticks
  and yticks (numbers, or texts for 1, 2, 3), grid (a boolean), legend (a
  boolean, "best", "upper left", "right", "outside", ...), aspect ("equal", or
  how much longer a unit of y is than one of x), font (the path of a TrueType
  file for pictures), size ({width, height} of pictures in
  pixels), width and height (of the text, in characters), ascii
> print(plot.line({1, 4, 9}, {width = 20, height = 4, ascii = true}))
7|                 ***
5|             ****
3|      *******
1|******
 +--------------------
  1                  3
! Options that it does not know, x and y of different lengths, complex numbers.
see: plot.scatter, plot.grid, plot.Figure:save
== plot.scatter
: plot.scatter([x, ]y[, {values=, colormap = "viridis", low=, high=, marker=,
  markersize = 5, color=, label=, alpha=}]) -> figure
Draws points. values (or color), one number for each point, colour them by a map
from low to high: "viridis", "magma", "coolwarm", "gray" or a list of colours.
markersize may be one for each point, too.
> print(plot.scatter({1, 2, 3}, {2, 0, 1}, {width = 12, height = 3,
>>   ascii = true}))
2|*
 |           *
0|      *
 +------------
  1          3
see: plot.line
== plot.bar
: plot.bar([names, ]values[, {label=, color=, alpha=, names=, stacked = false,
  horizontal = false}]) -> figure
Draws bars from 0 over names (texts), positions, or 1, 2, 3; bars of several
series are next to each other, or stacked; horizontal ones suit long names.
> print(plot.bar({"a", "b"}, {1, 2}, {width = 8, height = 2,
>>   ascii = true}))
2|    ####
0|########
 +--------
   a    b
see: plot.hist
== plot.hist
: plot.hist(values[, {bins=, range=, density = false, label=, color=,
  alpha=}])
  -> figure
Counts how many values fall into each bin. bins is their number, a list of
edges, or "auto" as in NumPy; range is {low, high}; density divides by the
number of values and the width of the bin.
> print(plot.hist({1, 2, 2, 3}, {bins = 2, width = 8, height = 3,
>>   ascii = true}))
3|    ####
 |    ####
0|########
 +--------
  1      3
see: histc, plot.bar, plot.box
== plot.box
: plot.box(values[, {names=, color=, label=}]) -> figure
For each series it draws the median, a box from the first to the third quartile,
and whiskers to the last values within 1.5 times the distance of the quartiles.
Values beyond are points.
> print(plot.box({{1, 2, 3, 4, 5}, {2, 3, 4}}, {names = {"a", "b"},
>>   width = 16, height = 5, ascii = true}))
5|   ***
 |  *****   ***
3|  *****  *****
 |  *****  *****
1|   ***
 +----------------
     a       b
source: Tukey, Exploratory Data Analysis, 1977
see: quantile, plot.hist
== plot.band
: plot.band(x, low, high[, {color=, alpha = 0.3, label=}]) -> figure
Draws the area between two curves: a confidence band, a range. x may be nil.
> fig = plot.line({1, 2, 3}, {2, 3, 2}, {ascii = true, width = 12,
>>   height = 5})
> print(fig:band({1, 2, 3}, {1, 2, 1}, {3, 4, 3}, {color = 1}))
4|      +
 |     ***
 |+ +*+ + +*+
 |**        **
1|
 +------------
  1          3
see: plot.line
== plot.heatmap
: plot.heatmap(matrix[, {low=, high=, colormap = "viridis", colorbar = true,
  x=, y=, xnames=, ynames=}]) -> figure
Draws the elements of a matrix as colours, with row 1 at the top. x and y are
{low, high} of the axes; with y the first row is at low. Elements that are not
finite stay empty.
> print(plot.heatmap(la.eye(3), {width = 12, height = 3, ascii = true}))
1|@@@@
 |    @@@@
3|        @@@@
 +------------
    1       3
see: plot.image, plot.contour
== plot.contour
: plot.contour(matrix[, {x=, y=, levels = 8, filled = false, labels = true,
  colormap = "viridis", colorbar=}]) -> figure
Draws lines of equal height through a matrix whose rows stand at y and whose
columns stand at x (increasing; else 1, 2, 3). levels is a list, or the
approximate number of round levels; filled draws the areas between them. labels
are the numbers of lines in pictures.
> x = la.linspace(-1, 1, 21)
> z = (x * x):unsqueeze(2) + x * x
> print(plot.contour(z, {x = x, y = x, levels = {0.5}, width = 16,
>>   height = 6, ascii = true}))
 1|
  |     *******
  |   **       **
 0|  *           *
  |   *         *
-1|    *********
  +----------------
  -1       0      1
see: plot.heatmap
== plot.errorbar
: plot.errorbar([x, ]y[, {yerr=, xerr=, label=, color=, marker = "o",
  markersize = 5, style = "", linewidth = 1.5, capsize = 3, alpha=}])
  -> figure
Draws points with bars of their errors: for measured values and means of
samples. yerr and xerr are a number, one for each point, or {below, above}. A
style such as "-" joins the points by a line.
> print(plot.errorbar({1, 2, 3}, {2, 4, 3}, {yerr = 1, width = 13,
>>   height = 5, ascii = true}))
5|      *
 |      *     *
3|*     *     *
 |*           *
1|*
 +-------------
  1           3
! Errors that are not as many as the points.
see: plot.band, plot.box, std
== plot.step
: plot.step([x, ]y[, {where = "post", label=, color=, style = "-",
  linewidth = 1.8, alpha=}]) -> figure
Draws a line of steps: for values that stay until they change. They change at
their x ("post"), at the x before ("pre") or half way ("mid").
> print(plot.step({1, 3, 2}, {width = 13, height = 3, ascii = true}))
3|      *******
 |      *     *
1|*******
 +-------------
  1           3
see: plot.line, plot.hist
== plot.stem
: plot.stem([x, ]y[, {label=, color=, marker = "o", markersize = 6,
  linewidth = 1.4, alpha=}]) -> figure
Draws a point and a line from 0 for each value: for signals of few samples,
impulse responses, coefficients.
> print(plot.stem({1, 3, 2}, {width = 13, height = 4, ascii = true}))
3|       *
 |       *
 |       *
0|*      *
 +-------------
  1           3
see: plot.bar, plot.line
== plot.fill_between
: plot.fill_between(x, low, high[, {color=, alpha = 0.3, label=}]) -> figure
Fills the area between two curves, as plot.band does.
> plot.fill_between({1, 2}, {0, 0}, {1, 2});
2.0┤                                                      ⠄⠄⠄⠄⠄⠄
   │                                         ⠄⠄⠄⠄⠄⠄⠄⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅
1.5┤                             ⠄⠄⠄⠄⠄⠄⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅
   │                 ⠄⠄⠄⠄⠄⠄⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅
1.0┤     ⠄⠄⠄⠄⠄⠄⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅
   │⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅
   │⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅
0.5┤⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅
   │⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅
0.0┤⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅⠅
   └┬──────────┬───────────┬───────────┬───────────┬───────────┬
   1.0        1.2         1.4         1.6         1.8        2.0
see: plot.band
== plot.quiver
: plot.quiver(x, y, u, v[, {scale = 1, color=, colormap=, linewidth = 1.5,
  label=, alpha=}]) -> figure
Draws arrows (u, v) at points (x, y): winds, gradients, flows. The longest is
about as long as points are apart, times scale; with a colormap their lengths
are colours.
> g = la.linspace(-1, 1, 5)
> x, y = table.unpack(la.meshgrid({g, g}, {indexing = "xy"}))
> plot.quiver(x, y, -y, x, {aspect = "equal"});
 1┤ ⡠⠂         ⢀⠄⣀⠤⠂        ⠐⠾⡓⠒⠒⠂         ⠘ ⠉⠒           ⣄⡈⠒
  │⠔⠁         ⠠⠾⠭⠄                          ⢠⣀            ⠏⢪⠁
  │⠂ ⡄            ⢀⠄          ⠠⣤⠤⠄           ⠋⠢             ⢣
  │⡀⡜            ⣧⠇                           ⢀            ⠠⢻⠆
 0┤⣟⠤⠂                                        ⢺⠃            ⢸
  │  ⡇            ⠠⣧                          ⠈             ⠨⠔⣾
  │ ⠰⣧⠂            ⠁                           ⢰⢺            ⡜⠈
  │  ⢣             ⠢⣠            ⠒⠓⠂          ⠐⠁            ⠘ ⠠
  │  ⢀⠱⣰            ⠙⠃                          ⠐⣒⢶⠂         ⢀⠔
-1┤  ⢄⡉⠛           ⠤⣀ ⡄          ⠤⠤⢬⡶⠄        ⠠⠒⠉⠐⠁         ⠠⠊
  └──┬────────────┬─────────────┬─────────────┬─────────────┬──
   -1.0         -0.5           0.0           0.5           1.0
see: plot.contour, gradient
== plot.surface
: plot.surface(matrix[, {x=, y=, azimuth = -60, elevation = 30,
  colormap = "viridis", colorbar = true}]) -> figure
Draws the elements of a matrix as heights over a plane, seen from an azimuth and
an elevation in degrees. For pictures; rows stand at y, columns at x.
> plot.surface(la.rand(8, 8), {azimuth = 30});
                          ⢀⢴⠢⠤⢄⣀
                        ⡠⠊⠁⣾⣿⣶⣶⣶⣭⡑⠒⠢⣤⣀⣀
                     ⢀⠤⠊⢀ ⢸⣿⣿⣿⣿⣿⣿⣷⡀⣼⣿⣆ ⢹
                    ⢰⠁  ⣼⣷⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣷⣾
                    ⢸ ⢀⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿
             0.75   ⢸⣠⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡟⣿⢿
             0.50   ⢸⠉⠻⢛⢿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⠤⠽⣸
             0.25   ⢸⡠⠒⠁⠈⣿⡿⢿⣿⣿⣿⠉⠟⠿⠻⣿⡏⡠⠔⠁
                    ⠈⠑⠒⠢⠤⣘⡁⠈⠉ ⠁    ⡹⠋
                          ⠈⠉⠑⠒⠤⠤⣀⠔⠉
see: plot.contour, plot.heatmap
== plot.hline
: plot.hline(y[, {color=, style = "--", linewidth = 1.4, label=, alpha=}])
  -> figure
Lines across the figure at heights (a number or several): limits, means.
> fig = plot.line({1, 3, 2}, {width = 12, height = 3, ascii = true})
> print(fig:hline(2))
3|     ****
 |************
1|**
 +------------
  1          3
see: plot.vline, plot.annotate
== plot.vline
: plot.vline(x[, {color=, style = "--", linewidth = 1.4, label=, alpha=}])
  -> figure
Lines from bottom to top at x (a number or several): events, thresholds.
> fig = plot.line({1, 3, 2}, {width = 12, height = 3, ascii = true})
> print(fig:vline(2))
3|     ****
 |  *** *  ***
1|**    *
 +------------
  1          3
see: plot.hline
== plot.note
: plot.note(x, y, text[, {color=, size = 13, anchor = "left"}]) -> figure
A text in the figure that begins, is centred ("center") or ends ("right") at a
point. fig:text(x, y, "peak") is fig:note(x, y, "peak").
> fig = plot.line({1, 3, 2}, {width = 12, height = 3, ascii = true})
> print(fig:note(1, 3, "up"))
3|up   ****
 |  ***    ***
1|**
 +------------
  1          3
see: plot.annotate
== plot.annotate
: plot.annotate(text, {x, y}[, {at=, color=, size = 13, anchor = "left"}])
  -> figure
A text about a point: at it, or where at ({x, y}) says, with an arrow to it.
> fig = plot.line({1, 3, 2}):annotate("peak", {2, 3}, {at = {2.4, 2.8}})
> fig:svg():find(">peak<", 1, true) ~= nil
true
see: plot.note, plot.hline
== plot.image
: plot.image(t[, {low=, high=, colormap = "gray", indent=}]) -> figure
Draws {height, width} or {1, height, width} in greys between low and high (else
the smallest and the largest value), {3, height, width} as RGB, {4, height,
width} as RGBA: uint8, uint16, or floats from 0 to 1. As text without colours
two characters are one pixel, and more ink means a larger value.
> print(plot.image(la.eye(3)))
@@
  @@
    @@
see: image.save, plot.heatmap
== plot.animate
: plot.animate(frames[, path, {fps = 10, loops = 0, scale = 1, width=,
  height=}]) -> string or nil
Figures or images of one size, one after the other, as an animated GIF: written
to the path, or given as bytes. loops says how often, 0 without end. Pictures of
more than 256 colours are brought to a cube of 252.
> frames = {}
> for k = 1, 4 do frames[k] = la.eye(8):roll(k, 1) end
> #plot.animate(frames) > 100
true
! No frames, frames of several sizes.
source: GIF89a
see: plot.live, plot.Figure:save
== plot.grid
: plot.grid{figure, ..., columns=} -> figure
Puts several figures into one, row by row; also rows of figures, {{a, b}, {c}}.
> a = plot.line({1, 2}, {height = 3, ascii = true})
> print(plot.grid{a, a, columns = 2}:text{width = 32, ascii = true})
2|          ****  2|          ****
 |    ******       |    ******
1|****            1|****
 +--------------   +--------------
  1            2    1            2
see: plot.Figure:save
== plot.live
: plot.live{steps=, every=, rate = 4, items = "items", write=, clock=, window=,
  ...} -> live
Curves of a training while it runs: update once in each step. On a terminal the
figure is redrawn in place, at most rate times a second, above a line with the
step, the last values, the speed and the time left; elsewhere that line is
written every so many steps. A series has at most 4096 points: beyond,
neighbours become their mean. Options of figures may stand there, too.
- steps: how many there will be, for the time left
- every: 20 lines in all, or one in 100 steps
- items: what update counts as items, for the speed: "images"
- write: called with texts instead of standard output
- clock: gives seconds, in place of the system's clock
- window: gives columns and rows, or nil for no terminal
> live = plot.live{steps = 2, every = 2, write = function() end}
> live:update{loss = 3}
> live:update{loss = 2}
> print(live:finish():text{width = 8, height = 2, ascii = true})
  * loss
3|****
2|    ****
 +--------
  1      2
    step
see: progress, plot.Live:update
== plot.Live:update
: live:update(values)
Records a step. values has numbers or tensors of one element by name; items says
how many items this step processed.
> live = plot.live{write = function() end}
> live:update{loss = la.tensor(0.5), items = 64}
> live.step
1
! Values that are no numbers; the step does not count then.
see: plot.live
== plot.Live:line
: live:line() -> string
The step, the last values, the speed and the time left, as one line.
> live = plot.live{steps = 9, clock = os.time, write = function() end}
> live:update{loss = 0.5}
> live:line():sub(1, 13)
1/9  loss 0.5
see: plot.live
== plot.Live:figure
: live:figure() -> figure
Gives a figure of the curves as they are so far.
> live = plot.live{write = function() end}
> live:update{loss = 1}
> #live:figure().marks
1
see: plot.Live:finish
== plot.Live:finish
: live:finish() -> figure
Shows the last state if it is not shown yet, and returns the curves. local live
<close> does that too.
> live = plot.live{write = function() end}
> live:update{loss = 1}
> #live:finish().marks
1
see: plot.Figure:save
== plot.window
: plot.window() -> integer, integer, integer, integer
Columns, rows, and width and height in pixels (0 if unknown) of the terminal on
standard output; nil if there is none.
> type(plot.window)
function
see: plot.Figure:text
== plot.Figure:save
: figure:save(path[, {width=, height=, scale = 2}]) -> figure
Writes a .svg, .pdf, .png, .jpg, .bmp, .tga or .txt file, as the path ends.
width and height are in pixels of the screen; pictures of pixels have scale
times as many.
> path = os.tmpname() .. ".svg"
> fig = plot.line({1, 2}):save(path)
> os.remove(path)
true
! Other endings, files that can't be written, more than 1e8 pixels.
see: plot.Figure:svg, plot.Figure:pdf, plot.Figure:png, plot.animate
== plot.Figure:svg
: figure:svg([{width=, height=}]) -> string
Gives the figure as a string of SVG, for web pages and reports: sharp at every
size, with text that can be searched.
> plot.line({1, 2}):svg():sub(1, 4)
<svg
see: plot.Figure:save
== plot.Figure:png
: figure:png([{width=, height=, scale = 2}]) -> string
Gives the bytes of a PNG file that shows the figure. For a web server or a chat
that takes bytes.
> plot.line({1, 2}):png():sub(2, 4)
PNG
needs: image
see: plot.Figure:pixels
== plot.Figure:pixels
: figure:pixels([{width=, height=, scale = 2}]) -> tensor
Draws the figure into an image: a uint8 tensor {3, height, width}. For films,
and figures inside of other pictures.
> fig = plot.line({1, 2}, {size = {300, 200}})
> fig:pixels().shape
{3, 400, 600}
see: image.save
== plot.Figure:text
: figure:text([{width=, height=, color=, ascii=}]) -> string
The figure for a terminal, without a newline at the end; tostring gives the
same. color is true or "24bit", "256", false or "none", else as the terminal
that standard output is (NO_COLOR, COLORTERM, TERM).
> print(plot.line({1, 2}):text{width = 8, height = 2, ascii = true})
2|    ****
1|****
 +--------
  1      2
see: plot.window
== plot.Figure:show
: figure:show([options])
Shows the figure on standard output. Notebooks, and terminals that say that they
know kitty's graphics or sixels, show a picture; others, and calls with options
(those of text), show text. LUNARRAY_GRAPHICS in the environment ("kitty",
"sixel", "none") decides without asking the terminal.
> fig = plot.line({1, 2})
> type(fig.show)
function
see: plot.Figure:text
== plot.Figure:set
: figure:set(options) -> figure
Changes options of the axes; plot.line lists them.
> fig = plot.line({1, 2}, {ascii = true}):set{width = 8, height = 2}
> print(fig)
2|    ****
1|****
 +--------
  1      2
see: plot.line
== plot.Figure:twin
: figure:twin([options]) -> figure
Gives a figure for marks that share x with this one and have numbers of their
own at the right; options, such as ylabel, are those of its axis. In text its
marks have no numbers.
> fig = plot.line({1, 2, 3}, {label = "m", ylabel = "m"})
> right = fig:twin{ylabel = "kg"}:line({30, 10, 20}, {label = "kg"})
> fig:svg():find(">kg<", 1, true) ~= nil
true
see: plot.line
== plot.Figure:pdf
: figure:pdf([{width=, height=}]) -> string
The figure as a page of PDF: lines and letters stay sharp in print.
> plot.line({1, 2}):pdf():sub(1, 4)
%PDF
see: plot.Figure:save, plot.Figure:svg
]==]
