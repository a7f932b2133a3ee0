-- lunarray.plot.font: letters of lines, for pictures of pixels.
--
-- A letter is its width and its strokes, pairs of digits x y on a grid: 2 is
-- the base line, 6 the height of an x, 8 that of a capital, 0 what hangs down.
local font = {}

local UP, ALONG = 0.118, 0.086      -- a unit of the grid, in sizes of the font

local source = [[
! 0 0804 0202
" 1 0806 1816
# 4 1812 3832 0646 0444
$ 4 473818070615354443321203 2921
% 4 0248 0818170708 3343423233
& 4 4206071827260403122244
' 0 0806
( 1 18070312
) 1 08171302
* 4 2824 0745 4705
+ 4 2723 0545
, 1 1201
- 3 0535
. 0 0202
/ 3 0238
0 4 183847433212030718
1 4 172822 1232
2 4 07183847460242
3 4 07183847463515 354443321203
4 4 32380444
5 4 480805354443321203
6 4 473818070312324344351504
7 4 084812
8 4 183847463515060718 153544433212030415
9 4 031232434738180706153546
: 0 0202 0505
; 1 1201 1515
< 3 370533
= 4 0646 0444
> 3 073503
? 3 071828373624 2222
@ 5 4312030718384754443435252434
A 4 022842 1434
B 4 02083847463505 3544433202
C 4 4738180703123243
D 4 02083847433202
E 4 48080242 0535
F 4 480802 0535
G 4 47381807031232434525
H 4 0802 4842 0545
I 0 0802
J 3 3833221203
K 4 0802 4804 1542
L 3 080232
M 4 0208254842
N 4 02084248
O 4 183847433212030718
P 4 02083847463505
Q 4 183847433212030718 2442
R 4 02083847463505 2542
S 4 473818070615354443321203
T 4 0848 2822
U 4 080312324348
V 4 082248
W 6 0812376268
X 4 0842 4802
Y 4 082548 2522
Z 4 08480242
[ 1 18080212
\ 3 0832
] 1 08181202
^ 2 061826
_ 4 0141
` 1 0817
a 4 4642 4536160503123243
b 4 0802 0516364543321203
c 4 4536160503123243
d 4 4842 4536160503123243
e 4 04444536160503123243
f 3 38281712 0626
g 4 4641301001 4536160503123243
h 4 0802 0516364542
i 0 0602 0808
j 1 161100 1818
k 3 0802 3603 1432
l 1 080312
m 6 0602 0516263532 3546566562
n 4 0602 0516364542
o 4 163645433212030516
p 4 0600 0516364543321203
q 4 4640 4536160503123243
r 3 0602 041636
s 4 45361605143443321203
t 3 18132232 0636
u 4 0603123243 4642
v 4 062246
w 4 0612253246
x 4 0642 4602
y 4 0622 4610
z 4 06460242
{ 2 28171605141322 1505
| 0 0801
} 2 08171625141302 1525
~ 4 04153445
]]

-- Signs that look like another.
local like = {["–"] = "-", ["—"] = "-", ["−"] = "-", ["×"] = "x", ["·"] = ".",
  ["’"] = "'", ["“"] = '"', ["”"] = '"', ["…"] = "...", ["µ"] = "u",
  ["μ"] = "u"}

local letters = {[" "] = {width = 2, strokes = {}}}

for name, width, rest in source:gmatch("(%S) (%d) ([^\n]*)\n") do
  local strokes = {}
  for stroke in rest:gmatch("%d+") do
    local points = {}
    for x, y in stroke:gmatch("(%d)(%d)") do
      points[#points + 1] = {tonumber(x), tonumber(y)}
    end
    strokes[#strokes + 1] = points
  end
  letters[name] = {width = tonumber(width), strokes = strokes}
end

local unknown = {width = 4,
  strokes = {{{0, 2}, {0, 8}, {4, 8}, {4, 2}, {0, 2}}}}

local function each(text)
  if not utf8.len(text) then text = text:gsub("[\x80-\xff]", "?") end
  for sign, other in pairs(like) do text = text:gsub(sign, other) end
  return text:gmatch(utf8.charpattern)
end

-- How wide a text of this size is, in pixels.
function font.width(text, size)
  local units = 0
  for sign in each(text) do
    units = units + (letters[sign] or unknown).width + 2
  end
  return math.max(units - 2, 0) * ALONG * size
end

-- The lines of a text: a list of {xs, ys} in pixels, y downwards. x, y: where
-- the base line begins; 'upwards': along the y axis, from below.
function font.strokes(text, size, x, y, upwards)
  local out, at = {}, 0
  for sign in each(text) do
    local letter = letters[sign] or unknown
    for _, points in ipairs(letter.strokes) do
      local xs, ys = {}, {}
      for k, p in ipairs(points) do
        local right = (at + p[1]) * ALONG * size
        local up = (p[2] - 2) * UP * size
        xs[k] = upwards and x - up or x + right
        ys[k] = upwards and y - right or y - up
      end
      out[#out + 1] = {xs, ys}
    end
    at = at + letter.width + 2
  end
  return out
end

return font
