-- lunarray.words.image: images. The format is in lunarray.help.rows.
return [==[
= Images
== image
: la.image
Images as tensors {..., channels, height, width}: files, colours, filters,
geometry. The functions consist of operations, so they have gradients and take
batches.
> x = la.zeros(3, 4, 6)
> x[1] = 1
> la.image.rgb_to_gray(x).shape
{1, 4, 6}
see: image.load, image.resize, image.gaussian_blur, plot.image
== image.load
: la.image.load(path[, {channels =, dtype =, apply_exif_orientation = true,
  frames = false, limit =}]) -> tensor[, tensor]
Reads a PNG, JPEG, BMP, TGA, GIF, PBM, PGM, PPM, PSD or HDR (Radiance) file as a
tensor {channels, height, width}; the bytes of the file tell its format. 1
channel is grey, 2 grey and alpha, 3 RGB, 4 RGBA (GIF and PSD always). The dtype
is uint8, uint16 for PNG, PGM and PPM with 16 bits, or float32 for HDR, where
values go beyond 1; a floating dtype gives 0 to 1. channels = 1 to 4 converts. A
JPEG is made upright as its EXIF says, unless apply_exif_orientation is false.
With frames = true all frames of a GIF come as {frames, channels, height,
width}, and behind them how many seconds each is shown; any other image is one
frame. An image whose samples take more than limit bytes is an error (256 MiB in
a sandbox that says nothing).
> la.image.save(la.rand(3, 2, 2), "dots.png")
> x = la.image.load("dots.png", {dtype = "float32"})
> x.shape, x.dtype
{3, 2, 2}    float32
see: image.decode, image.save, image.info
== image.decode
: la.image.decode(string[, {channels =, dtype =, apply_exif_orientation = true,
  frames = false, limit =}]) -> tensor[, tensor]
As image.load, from the bytes of a file, for example of a download or an
archive.
> bytes = la.image.encode(la.ones(1, 2, 2), "png")
> la.image.decode(bytes)
tensor([[[255, 255],
         [255, 255]]], dtype=uint8)
see: image.load, image.encode
== image.save
: la.image.save(x, path[, {quality = 90, format =}])
Writes {channels, height, width} or {height, width}. The format follows from the
path's end (.png, .jpg, .jpeg, .bmp, .tga) or from format. An existing file is
replaced as a whole, at the end. Values are uint8, uint16 (PNG), bool, or
floats, which are clamped to 0 to 1, multiplied by 255 and rounded. JPEG and BMP
hold 1 or 3 channels. quality is that of JPEG.
> la.image.save(la.linspace(0, 1, 64):view(8, 8), "ramp.png")
> la.image.info("ramp.png")
8    8    1    8
see: image.load, image.encode
== image.encode
: la.image.encode(x, format[, {quality = 90}]) -> string
Gives the bytes of the file that image.save would write. For a web server or an
archive that takes bytes.
> la.image.encode(la.zeros(1, 1), "png"):sub(2, 4)
PNG
see: image.decode
== image.info
: la.image.info(path) -> width: integer, height: integer, channels: integer,
  bits: integer
Width, height, channels and bits of a sample, from the file's header; of a JPEG
as image.load orients it.
> la.image.save(la.zeros(3, 4, 6), "black.png")
> la.image.info("black.png")
6    4    3    8
see: image.load
== image.rgb_to_gray
: la.image.rgb_to_gray(x) -> tensor
0.299 R + 0.587 G + 0.114 B of {..., 3 or 4, height, width}, as one channel;
floats, or uint8 and uint16, which are rounded.
> la.image.rgb_to_gray(la.tensor{1., 0, 0}:view(3, 1, 1))
tensor([[[0.2990]]])
source: ITU-R BT.601
see: image.rgb_to_hsv
== image.rgb_to_hsv
: la.image.rgb_to_hsv(x) -> tensor
Hue, saturation and value from 0 to 1 of {..., 3, height, width} in [0, 1], as
Python's colorsys.
> la.image.rgb_to_hsv(la.tensor{0., 1, 0}:view(3, 1, 1)):flatten()
tensor([0.3333, 1.0000, 1.0000])
see: image.hsv_to_rgb
== image.hsv_to_rgb
: la.image.hsv_to_rgb(x) -> tensor
Converts hue, saturation and value back to red, green and blue. Hues repeat
after 1.
> la.image.hsv_to_rgb(la.tensor{0.5, 1, 1}:view(3, 1, 1)):flatten()
tensor([0., 1., 1.])
see: image.rgb_to_hsv
== image.srgb_to_linear
: la.image.srgb_to_linear(x) -> tensor
Converts sRGB values to linear light, element by element; uint8 and uint16 are
divided by their largest value. Blur and blend in linear light.
> la.image.srgb_to_linear(la.tensor{0., 0.5, 1})
tensor([0.0000, 0.2140, 1.0000])
source: IEC 61966-2-1
see: image.linear_to_srgb
== image.linear_to_srgb
: la.image.linear_to_srgb(x) -> tensor
Converts linear light to the values that files and screens use: the inverse of
srgb_to_linear.
> la.image.linear_to_srgb(la.tensor{0., 0.2140, 1})
tensor([0.0000, 0.5000, 1.0000])
see: image.srgb_to_linear
== image.rgb_to_lab
: la.image.rgb_to_lab(x) -> tensor
Converts sRGB in [0, 1] to CIE L*a*b* (D65, 2 degree observer) with L from 0 to
100. Distances are then nearly those that eyes see.
> la.image.rgb_to_lab(la.ones(3, 1, 1))[1]
tensor([[100.]])
see: image.lab_to_rgb
== image.lab_to_rgb
: la.image.lab_to_rgb(x) -> tensor
Converts CIE L*a*b* back to red, green and blue, clamped to [0, 1]. After
changing lightness or colour as the eye sees them.
> la.image.lab_to_rgb(la.tensor{50., 0, 0}:view(3, 1, 1)):flatten()
tensor([0.4663, 0.4663, 0.4663])
see: image.rgb_to_lab
== image.gaussian_blur
: la.image.gaussian_blur(x, sigma[, {radius =, mode = "reflect"}]) -> tensor
Smooths the last two dims, up to four sigma or to radius; both may be {vertical,
horizontal}. mode is "reflect", "replicate", "circular" or "constant", as in
la.pad. uint8 stays uint8.
> x = la.zeros(5, 5)
> x[{3, 3}] = 1
> la.image.gaussian_blur(x, 0.5)[3]
tensor([4.1510e-04, 8.3731e-02, 6.1869e-01, 8.3731e-02, 4.1510e-04])
source: scipy.ndimage.gaussian_filter
see: image.sobel, image.resize
== image.sobel
: la.image.sobel(x[, {mode = "reflect"}]) -> right: tensor, down: tensor
The slopes to the right and downwards, as eight times the difference per pixel:
correlations with {-1 0 1; -2 0 2; -1 0 1} and its transpose.
> x = la.range(5):float():expand(5, 5)
> right, down = la.image.sobel(x)
> right[{3, 3}], down[{3, 3}]
tensor(8.)    tensor(0.)
see: image.gaussian_blur, hypot
== image.erode
: la.image.erode(x[, size = 3]) -> tensor
The smallest value of a window, whose size is a number, {height, width} or a
bool matrix. Pixels outside of the image do not count.
> la.image.erode(la.tensor{{1., 1, 1, 0}}, {1, 3})
tensor([[1., 1., 0., 0.]])
source: scipy.ndimage.grey_erosion
see: image.dilate, image.opening
== image.dilate
: la.image.dilate(x[, size = 3]) -> tensor
Grows bright parts: each pixel becomes the largest value of a window, the mirror
image of erode's.
> la.image.dilate(la.tensor{{0., 0, 1, 0, 0}}, {1, 3})
tensor([[0., 1., 1., 1., 0.]])
source: scipy.ndimage.grey_dilation
see: image.erode, image.closing
== image.opening
: la.image.opening(x[, size = 3]) -> tensor
erode, then dilate. It removes bright parts that are smaller than the window.
> la.image.opening(la.tensor{{0., 1, 0, 1, 1, 1}}, {1, 3})
tensor([[0., 0., 0., 1., 1., 1.]])
see: image.closing, image.erode
== image.closing
: la.image.closing(x[, size = 3]) -> tensor
dilate, then erode. It removes dark parts that are smaller than the window.
> la.image.closing(la.tensor{{1., 1, 0, 1, 1, 1}}, {1, 3})
tensor([[1., 1., 1., 1., 1., 1.]])
see: image.opening
== image.crop
: la.image.crop(x, top, left, height, width) -> tensor
A view of these rows and columns of the last two dims, from 1. To cut out what
was found; no pixel is copied.
> la.image.crop(la.range(9):view(3, 3), 2, 1, 2, 2)
tensor([[4, 5],
        [7, 8]])
see: image.center_crop
== image.center_crop
: la.image.center_crop(x, height, width) -> tensor
A view of the middle. If the rest is odd, one more row or column is left out
below and to the right.
> la.image.center_crop(la.range(9):view(3, 3), 1, 1)
tensor([[5]])
see: image.crop
== image.resize
: la.image.resize(x, height, width[, {mode = "bilinear", antialias = true}]) ->
  tensor
{..., height, width} in another size, as interpolate without align_corners.
mode: "nearest", "nearest-exact", "bilinear", "bicubic", "lanczos" or "area";
antialias smooths what shrinks. uint8 and uint16 stay.
> la.image.resize(la.tensor{{1., 3}, {5, 7}}, 1, 1)
tensor([[4.]])
see: interpolate, image.rotate
== image.rotate
: la.image.rotate(x, degrees[, {mode = "bilinear", fill = 0, expand = false}])
  -> tensor
Counter-clockwise about the middle; fill is what stands outside. expand makes
the result as large as the whole needs. Right angles move pixels only.
> la.image.rotate(la.tensor{{1., 2}, {3, 4}}, 90)
tensor([[2., 4.],
        [1., 3.]])
see: rot90, image.flip, grid_sample
== image.flip
: la.image.flip(x[, "horizontal"]) -> tensor
Exchanges left and right, or with "vertical" top and bottom. To double a
training set of photographs.
> la.image.flip(la.tensor{{1., 2}, {3, 4}})
tensor([[2., 1.],
        [4., 3.]])
see: flip, image.rotate
]==]
