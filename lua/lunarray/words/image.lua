-- lunarray.words.image: images.
-- The format is in lunarray.help.rows.
return [==[
== image.load
: image.load(path[, {channels=, dtype=}])
Read a PNG, JPEG, BMP or TGA file, which its bytes tell, as a tensor
{channels, height, width}: 1 channel is grey, 2 grey and alpha, 3 RGB, 4
RGBA. uint8, uint16 of PNG with 16 bits; a floating dtype gives 0 to 1.
channels = 1 to 4 converts.
== image.decode
: image.decode(string[, {channels=, dtype=}])
As image.load, from the bytes of a file.
== image.save
: image.save(x, path[, {quality = 90, format=}])
Write {channels, height, width} or {height, width} as the path's end (.png,
.jpg, .jpeg, .bmp, .tga) or format says; an existing file is replaced at
the end, whole. uint8, uint16 (PNG), bool, or floats: clamped to 0 to 1,
times 255, rounded. JPEG and BMP hold 1 or 3 channels. quality: JPEG's.
== image.encode
: image.encode(x, format[, {quality = 90}])
The bytes that image.save would write.
== image.info
: image.info(path)
Width, height, channels and bits of a sample, from the file's header.
== image.rgb_to_gray
: image.rgb_to_gray(x)
0.299 R + 0.587 G + 0.114 B of {..., 3 or 4, height, width}, as one channel;
floats, or uint8 and uint16, which are rounded.
== image.rgb_to_hsv
: image.rgb_to_hsv(x)
Hue, saturation and value from 0 to 1 of {..., 3, height, width} in [0, 1],
as Python's colorsys.
== image.hsv_to_rgb
: image.hsv_to_rgb(x)
What undoes rgb_to_hsv; hues repeat after 1.
== image.srgb_to_linear
: image.srgb_to_linear(x)
sRGB values as linear light (IEC 61966-2-1), element by element; uint8 and
uint16 are divided by their largest value.
== image.linear_to_srgb
: image.linear_to_srgb(x)
What undoes srgb_to_linear.
== image.rgb_to_lab
: image.rgb_to_lab(x)
sRGB in [0, 1] as CIE L*a*b* (D65, 2 degree observer) with L from 0 to 100:
the values of scikit-image.
== image.lab_to_rgb
: image.lab_to_rgb(x)
What undoes rgb_to_lab, clamped to [0, 1].
== image.gaussian_blur
: image.gaussian_blur(x, sigma[, {radius=, mode = "reflect"}])
The last two dims smoothed as by scipy.ndimage.gaussian_filter, to four
sigma or to radius; both may be {vertical, horizontal}. mode: "reflect",
"replicate", "circular" or "constant", as la.pad. uint8 stays uint8.
== image.sobel
: image.sobel(x[, {mode = "reflect"}])
Slopes to the right and downwards, eight times the difference per pixel:
correlations with {-1 0 1; -2 0 2; -1 0 1} and its transpose.
== image.erode
: image.erode(x[, size = 3])
The smallest value of a window of size, {height, width} or a bool matrix, as
scipy.ndimage.grey_erosion; what is outside of the image does not count.
== image.dilate
: image.dilate(x[, size = 3])
The largest value of the window's mirror image: scipy.ndimage.grey_dilation.
== image.opening
: image.opening(x[, size = 3])
erode, then dilate: what is smaller than the window and bright goes.
== image.closing
: image.closing(x[, size = 3])
dilate, then erode: what is smaller than the window and dark goes.
== image.crop
: image.crop(x, top, left, height, width)
A view of these rows and columns of the last two dims, from 1.
== image.center_crop
: image.center_crop(x, height, width)
A view of the middle; an odd rest leaves one more below and to the right.
== image.resize
: image.resize(x, height, width[, {mode = "bilinear", antialias = true}])
{..., height, width} in another size, as interpolate without align_corners.
mode: "nearest", "nearest-exact", "bilinear", "bicubic", "lanczos" or
"area"; antialias smooths what shrinks. uint8 and uint16 stay.
== image.rotate
: image.rotate(x, degrees[, {mode = "bilinear", fill = 0, expand = false}])
Counter-clockwise about the middle; fill is what stands outside. expand
makes the result as large as the whole needs. Right angles move pixels only.
== image.flip
: image.flip(x[, "horizontal"|"vertical"])
Left and right, or top and bottom, exchanged.
]==]
