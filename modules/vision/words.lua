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
]==]
