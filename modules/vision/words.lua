-- lunarray.words.vision. The format is in lunarray.help.rows.
return [==[
= Images as grids: sizes and samples
== interpolate
> la.interpolate(la.tensor{{{1., 2}}}, {scale_factor = 2})
tensor([[[1., 1., 2., 2.]]])
> la.interpolate(la.tensor{{{1., 3}}}, {size = 4, mode = "linear",
>>   align_corners = false})
tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
see: image.resize, grid_sample, nn.Upsample, interp
== pixel_shuffle
> la.range(4):view(1, 4, 1, 1):pixel_shuffle(2)
tensor([[[[1, 2],
          [3, 4]]]])
source: Shi and others, Real-time single image and video super-resolution, 2016.
see: pixel_unshuffle, interpolate
== pixel_unshuffle
> la.ones(1, 1, 4, 4):pixel_unshuffle(2).shape
{1, 4, 2, 2}
see: pixel_shuffle
== channel_shuffle
> la.range(4):view(1, 4, 1, 1):channel_shuffle(2):flatten()
tensor([1, 3, 2, 4])
see: nn.ChannelShuffle
== affine_grid
> theta = la.tensor{{{1., 0, 0}, {0, 1, 0}}}
> la.affine_grid(theta, {1, 1, 2, 2}).shape
{1, 2, 2, 2}
see: grid_sample
== grid_sample
Reads an image at points that move. Use it to warp images, and to learn warps.
> image = la.tensor{{{{1., 2}, {3, 4}}}}
> la.grid_sample(image, la.tensor{{{{0., 0}}}})
tensor([[[[2.5000]]]])
source: Jaderberg and others, Spatial transformer networks, 2015.
see: affine_grid, interpolate, image.rotate
== local_response_norm
> la.local_response_norm(la.ones(1, 3, 1, 1), 3, 3, 1, 1):flatten()
tensor([0.3333, 0.2500, 0.3333])
see: nn.LocalResponseNorm
== fractional_max_pool2d
> la.fractional_max_pool2d(la.ones(1, 1, 7, 7), 2, {output_size = 4}).shape
{1, 1, 4, 4}
source: Graham, Fractional max-pooling, 2014.
see: max_pool2d
== fractional_max_pool3d
> la.fractional_max_pool3d(la.ones(1, 1, 7, 7, 7), 2,
>>   {output_size = 4}).shape
{1, 1, 4, 4, 4}
see: fractional_max_pool2d
== nn.FractionalMaxPool2d, nn.FractionalMaxPool3d
: nn.FractionalMaxPool{2d,3d}(kernel_size[, {output_size =, output_ratio =,
  return_indices =, random_samples =}]) -> module
The largest values of windows at random steps, so that sizes need not shrink by
a whole number.
> nn.FractionalMaxPool2d(2, {output_size = 3})(la.zeros(1, 1, 5, 5)).shape
{1, 1, 3, 3}
source: Graham: Fractional max-pooling (2014)
see: fractional_max_pool2d, fractional_max_pool3d, nn.MaxPool2d
== nn.LocalResponseNorm
: nn.LocalResponseNorm(size[, {alpha = 1e-4, beta = 0.75, k = 1}]) -> module
x / (k + alpha * the mean square over size neighbouring channels)^beta. Only old
nets (AlexNet) have it; new ones use BatchNorm2d.
> nn.LocalResponseNorm(2)(la.ones(1, 3, 2)).shape
{1, 3, 2}
source: Krizhevsky, Sutskever, Hinton: ImageNet classification (2012)
see: local_response_norm
== nn.Upsample
: nn.Upsample([{size =, scale_factor =, mode = "nearest", align_corners =,
  recompute_scale_factor =}]) -> module
interpolate as a layer: resizes images, signals and volumes. For decoders, and
for images to one size.
> nn.Upsample{scale_factor = 2}(la.zeros(1, 3, 4, 4)).shape
{1, 3, 8, 8}
see: interpolate, nn.ConvTranspose2d, nn.PixelShuffle
== nn.UpsamplingNearest2d
: nn.UpsamplingNearest2d([{size =, scale_factor =, mode = "nearest",
  align_corners =, recompute_scale_factor =}]) -> module
Enlarges images by repeating the nearest pixel. For labels and pixel art, in
which colours must not mix.
> nn.UpsamplingNearest2d{scale_factor = 2}(la.tensor{{{{1., 2}}}})
tensor([[[[1., 1., 2., 2.],
          [1., 1., 2., 2.]]]])
see: nn.Upsample
== nn.UpsamplingBilinear2d
: nn.UpsamplingBilinear2d([{size =, scale_factor =, mode = "bilinear",
  align_corners = true, recompute_scale_factor =}]) -> module
Upsample by interpolation between pixels; the corners stay where they are. For
heights and maps of scores.
> nn.UpsamplingBilinear2d{size = {1, 3}}(la.tensor{{{{1., 2}}}})
tensor([[[[1.0000, 1.5000, 2.0000]]]])
see: nn.Upsample
== nn.PixelShuffle
: nn.PixelShuffle(upscale_factor) -> module
Groups of r^2 channels become squares of r by r pixels: (C r^2, H, W) to
(C, H r, W r). A convolution before it enlarges without a checkerboard.
> nn.PixelShuffle(2)(la.zeros(1, 8, 3, 3)).shape
{1, 2, 6, 6}
source: Shi and others: Real-time single image super-resolution (2016)
see: pixel_shuffle, nn.PixelUnshuffle
== nn.PixelUnshuffle
: nn.PixelUnshuffle(downscale_factor) -> module
Rearranges squares of pixels as channels. It makes an image smaller without
losing anything.
> nn.PixelUnshuffle(2)(la.zeros(1, 2, 6, 6)).shape
{1, 8, 3, 3}
see: pixel_unshuffle, nn.PixelShuffle
== vision
: la.vision
Parts of images for detectors: boxes that stay, regions as grids, convolutions
whose taps move.
> boxes = la.tensor{{0., 0, 2, 2}, {0, 0, 2, 1.9}}
> la.vision.nms(boxes, la.tensor{0.4, 0.9}, 0.5)
tensor([2])
see: vision.nms, vision.roi_align, vision.deform_conv
== vision.nms
What every detector ends with. The result indexes boxes and scores.
> boxes = la.tensor{{0., 0, 2, 2}, {0, 0, 2, 1.9}, {5, 5, 6, 6}}
> la.vision.nms(boxes, la.tensor{0.4, 0.9, 0.2}, 0.5)
tensor([2, 3])
source: Neubeck and Van Gool, Efficient non-maximum suppression, 2006.
see: vision.roi_align, topk
== vision.roi_align
: la.vision.roi_align(input, boxes, output_size[, options]) -> tensor
Options: spatial_scale, sampling_ratio, aligned, mode. Regions of feature maps
(N, C, H, W) as grids of one size: means of bilinear samples. Boxes are (n, 5):
the number of the image, x1, y1, x2, y2, which spatial_scale brings to the map.
sampling_ratio samples each way for each cell; as many as it has elements where
that is not above 0. aligned: coordinates count from the corner of an element,
not from its centre. mode "max" takes the largest.
> x = la.range(16.):view(1, 1, 4, 4)
> box = la.tensor{{1., 0, 0, 2, 2}}
> la.vision.roi_align(x, box, 1, {sampling_ratio = 1})
tensor([[[[6.]]]])
source: He and others, Mask R-CNN, 2017.
see: vision.roi_pool, grid_sample
== vision.roi_pool
: la.vision.roi_pool(input, boxes, output_size[, spatial_scale]) -> tensor
The largest element of each cell of a region; boxes as of vision.roi_align,
rounded to elements.
> x = la.range(16.):view(1, 1, 4, 4)
> la.vision.roi_pool(x, la.tensor{{1., 0, 0, 1, 1}}, 1)
tensor([[[[6.]]]])
source: Girshick, Fast R-CNN, 2015.
see: vision.roi_align
== vision.deform_conv
: la.vision.deform_conv(input, offset, weight[, options]) -> tensor
Options: bias, stride, padding, dilation, mask, groups. A convolution of (N, C,
H, W) whose taps read where offset (N, 2 taps, H2, W2) moves them, y before x,
between elements too; mask (N, taps, H2, W2) weighs them. Several groups of
channels may have offsets of their own.
> x = la.range(9.):view(1, 1, 3, 3)
> offset = la.zeros(1, 2, 3, 3) + 0.5
> la.vision.deform_conv(x, offset, la.ones(1, 1, 1, 1))[1][1][1]
tensor([3.0000, 4.0000, 2.2500])
source: Dai and others, Deformable convolutional networks, 2017.
see: conv2d, grid_sample
== nn.ChannelShuffle
: nn.ChannelShuffle(groups) -> module
Mixes the channels of groups, one of each in turn, so that the next grouped
convolution sees all.
> nn.ChannelShuffle(2)(la.range(4.):view(1, 4, 1)):flatten()
tensor([1., 3., 2., 4.])
see: channel_shuffle
]==]
