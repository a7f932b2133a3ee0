-- lunarray.help.meanings: what people type who know a thing by another name
-- than the library's. Lines "phrase, phrase: word word"; the first word is what
-- they most likely want. help.search asks it first.
return [==[
moving average, rolling mean, running mean, sliding average, smooth a signal:
  avg_pool1d convolve signal.savgol_filter
rolling median, moving median, running median filter: signal.running_median
  signal.medfilt
smoothing, denoise, noise reduction, low pass: signal.savgol_filter
  image.gaussian_blur signal.butter
blur, soften, gaussian filter, smooth an image: image.gaussian_blur
edge detection, edges, find edges, sobel filter: image.sobel
sharpen, unsharp mask: image.gaussian_blur conv2d
resize an image, scale an image, thumbnail, rescale, downscale, upscale:
  image.resize interpolate
rotate an image: image.rotate rot90
mirror, flip horizontally, reverse an image: image.flip fliplr
crop, cut out, region of interest, roi: image.crop image.center_crop
grayscale, greyscale, black and white, gray, to gray: image.rgb_to_gray
hue, saturation, hsv, color space, colour space: image.rgb_to_hsv
  image.rgb_to_lab
morphology, erosion, dilation: image.erode image.dilate image.opening
read an image, load an image, open a picture, imread, read png, read jpeg,
  load png, load jpg: image.load
save an image, write png, write jpeg, imwrite, imsave: image.save
show an image, imshow, display a picture: plot.image
csv, read csv, load csv, spreadsheet, excel, parse csv, data file, tsv:
  read_csv
write csv, save csv, export csv, to_csv: write_csv
group by, groupby, aggregate, sum per group, mean per group, grouping, average
  by category, group rows, statistics by group, sum by month:
  frame.Frame:group frame.Frame:agg index_add bincount
count values, value counts, frequencies, count each, count by category:
  frame.Frame:value_counts unique bincount
pivot, pivot table, crosstab, contingency table, long to wide, unstack:
  frame.Frame:pivot bincount histogramdd
melt, unpivot, wide to long, stack columns: frame.Frame:melt
table, data table, data frame, pandas, make a table, table of columns,
  spreadsheet data, tabular data: frame read_csv
join, merge two tables, sql join, left join, inner join, outer join, lookup
  in another table, combine tables by key, vlookup: frame.Frame:join
stack tables, append rows, concatenate tables, union of tables, add rows:
  frame.concat
sort a table, sort rows by a column, order by, sort_values: frame.Frame:sort
filter rows, rows where, where clause, select rows by a condition, query:
  frame.Frame:filter masked_select
select columns, choose columns, keep columns: frame.Frame:select
remove a column, delete columns: frame.Frame:drop
rename a column, change column names: frame.Frame:rename
add a column, new column, compute a column, assign, mutate: frame.Frame:with
unique rows, remove duplicate rows, drop_duplicates: frame.Frame:unique
  frame.Frame:duplicated
first rows, preview of a table, peek: frame.Frame:head frame.Frame:info
summary statistics, summarise a table, describe data: frame.Frame:describe
missing values in a table, fill missing values, fill gaps, fillna, impute:
  frame.Frame:fillna frame.ffill nan_to_num
drop missing rows, rows with gaps, dropna: frame.Frame:dropna
forward fill, carry forward, last known value: frame.ffill frame.bfill
lag, lead, previous row, next row, shift rows: frame.shift roll
rolling mean of a table, rolling sum by time, moving window over rows:
  frame.rolling unfold
running total per group, cumulative total: frame.cumsum cumsum
rank within a group, rank rows: frame.rank argsort
iterate over rows, loop over rows, row by row: frame.Frame:rows
table to tensor, table to matrix, training data of a table:
  frame.Frame:tensor
text column, strings, list of strings, categories, categorical data, labels as
  text: frame.text frame.Text:isin
text contains, search in text, regular expression, pattern match:
  frame.Text:has frame.Text:match frame.Text:gsub
upper case, lower case, capitalise: frame.Text:upper frame.Text:lower
dates, parse dates, date column, timestamp, time stamps, strptime, to_datetime:
  frame.date frame.Date:format
format a date, strftime, date to text: frame.Date:format
day of week, weekday, year and month, month of a date, hour of day: frame.date
  frame.Date:floor
days between dates, difference of dates, age in days, elapsed time:
  frame.Date:since
add days, next month, date arithmetic: frame.Date:add
time zone, utc offset, local time: frame.Date:at
range of dates, every day, list of days: frame.date_range
by month, monthly totals, per day, time series, resample a time series,
  hourly means, downsample a time series: frame.Frame:resample
  frame.Date:floor
age groups, cut into categories, bin a column: frame.cut frame.qcut
json, json lines, read json, ndjson: read_jsonl write_jsonl
missing values, nan, ignore nan, skip nan, replace nan: nan_to_num
  nanmean isnan
drop nan, remove nan, filter nan: isnan masked_select
dot product, inner product, scalar product: dot vdot inner
matrix multiplication, matrix product, multiply matrices, matmul operator,
  gemm, @: matmul mm bmm
batch matrix multiply, batched product: bmm matmul
matrix vector product: mv
cross product, vector product: cross
outer product: outer
kronecker product: kron
einstein summation, einstein notation, tensor contraction: einsum tensordot
elementwise product, hadamard product, multiply: mul
one hot, one-hot encoding, onehot, dummy variables, get_dummies, categorical
  encoding, to_categorical: one_hot
transpose, swap axes, swapaxes, swap dims, exchange dims: transpose permute
  movedim
reorder dims, permute axes, channels first, channels last: permute movedim
  contiguous
reshape, change shape, resize a tensor, change size: reshape view flatten
flatten, to one dimension, ravel, vectorise: flatten ravel
add a dimension, expand dims, expand_dims, new axis: unsqueeze
remove a dimension, drop dims of size 1: squeeze
concatenate, concat, join tensors, append, combine, put together, merge
  tensors: cat stack
stack, make a batch: stack
split, divide into parts, cut into pieces: split chunk tensor_split
repeat, tile, duplicate: tile repeat repeat_interleave
broadcast, broadcasting rules: broadcast_to expand
copy, duplicate a tensor, deep copy, clone a tensor: clone
slice, sub tensor, part of a tensor, rows and columns: slice index narrow
select rows, choose rows, pick rows, fancy indexing, take rows: index_select
  take_along_dim index
select by mask, boolean mask, filter, boolean indexing, where true:
  masked_select nonzero where
if then else, conditional, ternary, choose elementwise: where
replace values, set where, assign by mask, masked assignment: masked_fill
  where
find index, index of, position of, which indices: nonzero argmax searchsorted
lookup, gather values: gather take_along_dim
scatter add, accumulate at indices, add at: index_add scatter_add
average, arithmetic mean, mean value: mean average
weighted average, weighted mean: average
standard deviation, stdev, deviation: std
variance: var
median, middle value: median
mode, most common value: mode
percentile, quantile, quartile, interquartile: quantile percentile
correlation, pearson, correlation coefficient: corrcoef
covariance, covariance matrix: cov
autocorrelation, cross correlation, correlate signals: signal.correlate
minimum and maximum, min max, range of values, extremes, span: aminmax ptp
largest, biggest, top k, k largest, best: topk max
smallest, least, k smallest: kthvalue min topk
index of the largest, argument of the maximum, position of the maximum: argmax
cumulative sum, running total, prefix sum, integral image: cumsum
cumulative product, running product: cumprod
running maximum, cumulative maximum: cummax
sum of a list, total, add up, sum all: sum
product of all, multiply all: prod
differences, first difference, consecutive differences: diff
derivative of data, numerical derivative, slope, finite differences: gradient
  diff
integrate, integral, numerical integration, quadrature, area under the curve,
  auc: trapezoid cumulative_trapezoid
interpolation, linear interpolation, interpolate between points: interp lerp
blend, mix, linear blend: lerp
sort, order, sort rows, arrange: sort argsort msort
rank, ranking, order of elements: argsort
reverse, backwards, flip: flip
unique values, distinct, remove duplicates, dedupe, set of values: unique
binary search, insert position, bisect: searchsorted bucketize
binning, bins, discretize, cut into bins: bucketize histc histogram
histogram, distribution of values: histogram plot.hist histc
clip, clamp, limit to a range, saturate, bound: clamp
round, round to integer, nearest integer: round
round down, integer part, floor: floor trunc
absolute value, magnitude, modulus: abs
remainder, modulo, mod: remainder fmod
square root, root: sqrt
power, exponent, raise to: pow
logarithm, natural log, ln: log
log sum exp, logsumexp trick: logsumexp
sigmoid, logistic function: sigmoid
rectifier, rectified linear, activation function: relu gelu nn.ReLU
swish: silu
normal distribution, gaussian distribution, bell curve, gaussian noise, white
  noise: randn normal
uniform random, random numbers, random floats: rand uniform_
random integers, dice, random int: randint
random permutation, shuffle rows, shuffle data: randperm shuffle
random choice, sample from a list, sampling, draw: choice multinomial
coin flip, bernoulli trial: bernoulli
set the seed, random seed, reproducible, same random numbers: manual_seed
random number generator, rng: Generator
identity matrix, unit matrix: eye
zeros, empty array, fill with zeros, allocate: zeros empty
filled with a value, constant tensor: full
range of numbers, sequence, arange, count up: arange range linspace
evenly spaced, steps between: linspace
logarithmically spaced, log spaced, logarithmic steps: logspace
grid of coordinates, mesh, coordinate grid: meshgrid
combinations, pairs, all pairs: combinations cartesian_prod
from a table, from a list, to a tensor, convert a table, make a tensor, array:
  tensor
to a table, to a list, tolist, convert to lua: x:totable
to a number, scalar value, get the value: x:item
type conversion, cast, change dtype, astype, to float: to type float
shape, size, dimensions, how many dims: x.shape x:size x:dim
number of elements, length, count elements: x:numel
determinant: det slogdet
inverse, invert a matrix, matrix inverse: inv pinv
pseudo inverse, moore penrose: pinv
solve linear equations, linear system, ax = b, solve a system: solve
least squares, linear regression, ordinary least squares, fit a line,
  regression: lstsq polyfit
polynomial fit, fit a curve, curve fitting, trend line: polyfit
evaluate a polynomial: polyval
roots of a polynomial, zeros of a polynomial: roots
eigenvalues, eigenvectors, spectrum of a matrix: eigh eig eigvals
singular values, singular value decomposition, svd: linalg.svd svdvals
principal components, pca, dimensionality reduction, dimension reduction:
  pca_lowrank linalg.svd
cholesky decomposition: cholesky
qr decomposition, orthogonalize, gram schmidt: qr
lu decomposition: lu
norm, length of a vector, euclidean length, l2 norm, magnitude of a vector:
  linalg.norm vector_norm
normalise vectors, unit length, unit vectors: normalize
standardise, z score, zscore, scale features: std_mean nn.BatchNorm1d
rank of a matrix: matrix_rank
condition number: cond
trace, sum of the diagonal: trace
diagonal, diagonal matrix: diag diagonal
upper triangle, triangular: triu tril
distance, euclidean distance, distance matrix, pairwise distances: cdist pdist
  dist
nearest neighbour, nearest neighbours, knn, k nearest, closest point: cdist
  topk game.nearest
cosine distance, similarity: cosine_similarity
fourier transform, frequency spectrum, fast fourier transform:
  fft.rfft fft.fft fft.rfftfreq
inverse fourier transform: fft.irfft fft.ifft
cosine transform, dct: fft.dct
spectrogram, short time fourier transform, time frequency: signal.spectrogram
  stft
power spectrum, spectral density, psd, periodogram: signal.welch
  signal.periodogram
band pass, bandpass, filter a signal, butterworth, highpass, lowpass filter:
  signal.butter signal.sosfilt signal.filtfilt
fir filter, filter design: signal.firwin
peaks, find peaks, local maximum, maxima: signal.find_peaks
  signal.local_maxima
envelope, hilbert transform, analytic signal: signal.hilbert
detrend, remove a trend: signal.detrend
resample, change the sample rate, downsample, upsample, decimate:
  signal.resample signal.resample_poly interpolate
window function, hann, hamming: hann_window signal.window
sweep, chirp signal: signal.chirp
unwrap phase: unwrap
convolution, filter kernel, kernel: conv2d convolve conv1d
deconvolution, transposed convolution: conv_transpose2d
read wav, load sound, load audio, wav file, sound file: audio.load
save sound, write wav: audio.save
padding, pad with zeros, zero padding, border: pad
sliding windows, windows of a signal, rolling window, strided windows: unfold
pooling, downsampling by maximum: max_pool2d avg_pool2d
upsampling: interpolate nn.Upsample
neural network, network, model, layers, mlp, perceptron, deep learning:
  nn.Module nn.Sequential nn.Linear
fully connected, dense layer: nn.Linear
convolutional network, cnn, convolution layer: nn.Conv2d
recurrent network, lstm, sequence model, rnn: nn.LSTM nn.GRU
attention, self attention, transformer: nn.MultiheadAttention
  scaled_dot_product_attention nn.Transformer
batch normalisation, batchnorm: nn.BatchNorm2d
layer normalisation, layernorm: nn.LayerNorm
regularisation, weight decay, overfitting: nn.Dropout optim.AdamW
word vectors, embeddings, lookup table: nn.Embedding
positional encoding, rotary embedding: rope
loss function, cost function, objective: nn.CrossEntropyLoss nn.MSELoss
  cross_entropy
mean squared error, squared loss, mse: mse_loss nn.MSELoss
mean absolute error, mae: l1_loss
classification loss, log loss, cross entropy loss: cross_entropy
  nn.CrossEntropyLoss
accuracy, fraction correct: eq mean
confusion matrix: bincount
train a model, training loop, train, optimiser, optimizer: optim.Adam
  optim.SGD optim.Optimizer:step
gradient descent, stochastic gradient descent: optim.SGD
learning rate schedule, learning rate decay, warmup: optim.CosineAnnealingLR
  optim.StepLR optim.OneCycleLR
minimise a function, optimise, minimize, quasi newton: optim.LBFGS optim.Adam
automatic differentiation, autodiff, gradients, derivative, backpropagation,
  backprop: x:backward grad x.grad
second derivative, hessian matrix: hessian
partial derivatives: jacobian
stop the gradient, no gradient, without gradients: no_grad detach
freeze layers, freeze parameters: nn.Module:requires_grad_
clip gradients, exploding gradients: nn.clip_grad_norm_
initialise weights, weight initialization, he initialization, glorot: nn.init
  nn.init.kaiming_uniform_
save a model, checkpoint a model, save weights, serialize, pickle: save
  nn.Module:state_dict
load a model, load weights, restore: load nn.Module:load_state_dict
number of parameters, model summary: nn.summary
batches, data loader, mini batches, dataset: data.DataLoader
  data.TensorDataset
train test split, validation split, hold out: data.random_split
progress bar: data.progress
gradient checking, check a derivative: gradcheck
vectorise a function, map over a batch: vmap
parallel, multithreading, threads, many processors, workers: parallel.map
  set_num_threads
distributed, cluster, several machines: mpi
speed up, make it faster, compile, jit, fast: fuse
timing, how long, measure time, benchmark: profile
memory use, out of memory, free memory: memory tidy x:free
save a tensor, write to file, npy, npz, store: save
load a tensor, read from file: load
plot, draw a curve, line chart, line plot, graph, chart: plot.line
scatter plot, points, dots: plot.scatter
bar chart, bars, column chart: plot.bar
heat map, matrix plot, colour map: plot.heatmap
box plot, whiskers: plot.box
contour lines, level curves: plot.contour
confidence band, shaded area, area between curves: plot.band
subplots, several plots, side by side: plot.grid
live plot, monitor training, watch a value: plot.live
save a figure, export a plot, savefig: plot.Figure:save
own derivative, own gradient, custom gradient, custom backward,
  derivative of my own: Function
quaternion, rotation in 3d: game.quat_mul game.quat_axis_angle
quaternion rotation, rotate by a quaternion: game.quat_rotate game.quat_mul
path finding, shortest path, a star: game.astar
perlin noise, noise texture, terrain: game.perlin game.fbm
collision, ray casting, ray intersection: game.ray_box game.ray_sphere
flocking, swarm: game.boids
euler angles: game.quat_euler
compare tensors, same values, approximately equal, almost equal: allclose
  isclose equal
assert equal in tests, unit tests: testing.assert_close
complex numbers, real part, imaginary part: complex real imag
phase, argument of a complex number: angle
gamma function, factorial: lgamma gamma
bessel function: bessel_j0 i0
error function: erf
normal quantile, inverse normal, probit: ndtri
cumulative normal, normal cdf: ndtr
entropy, information: entr
divide without remainder, integer division: floor_divide
greatest common divisor: gcd
least common multiple: lcm
bits, bitwise operations, bit shift: bitwise_and bitwise_left_shift
degrees to radians: deg2rad
radians to degrees: rad2deg
pythagoras, hypotenuse: hypot
print options, number of digits, decimals, precision: set_printoptions
version, build, cpu features: config
random matrix, random tensor, random weights: rand randn
mean of each row, column means, sum along an axis, reduce a dim, per row,
  row sums: mean sum amax
scale to 0 and 1, normalize between 0 and 1, min max scaling: aminmax
line colour, line width, line style, marker, colours of a figure: plot.line
save the state of training, resume later: save optim.Optimizer:state_dict
rotate a vector, rotate points: game.quat_rotate game.rotation
text to number, string to number, parse numbers, convert a column:
  frame.Frame:to
decimal comma, thousands separator, semicolon, separator, header: read_csv
mp3, flac, ogg, midi: audio.load
exponential fit, logarithmic fit, nonlinear fit: polyfit optim.LBFGS
apply a function to every element, map over elements, for each element:
  x:apply_ fuse
top 10, ten largest, highest values, leaderboard: topk sort
shuffle a list, random order, mix up: randperm shuffle
play a sound, record sound, microphone, speaker: audio.save audio.load
invert colours, negative of an image: rsub image.load
brightness, contrast, make brighter, gamma correction, exposure: mul clamp
  image.srgb_to_linear
threshold an image, binary image, otsu, segment: gt histc image.rgb_to_gray
draw on an image, draw text on an image, draw a rectangle: plot.image
  plot.note
3d plot, surface plot, wire frame, three dimensional: plot.surface
  plot.contour
contour plot, isolines, height lines: plot.contour
pie chart, donut, shares, proportions as a picture: plot.bar
log scale, logarithmic axis, loglog, semilogy: plot.line plot.Figure:set
axis limits, axis labels, title, legend, ticks, xlim: plot.Figure:set plot.line
two y axes, twin axis, second axis: plot.Figure:twin
arrows, vector field, wind: plot.quiver
error bars, uncertainty, confidence bars: plot.errorbar plot.band
horizontal line, vertical line, reference line: plot.hline plot.vline
annotation, label a point, arrow with text: plot.annotate plot.note
step plot, staircase: plot.step
animation, animated gif, movie, video, make a gif: plot.animate image.save
pdf, vector graphics, svg: plot.Figure:pdf plot.Figure:svg
plot in the terminal, ascii plot, text plot: plot.Figure:text plot.window
learning rate, lr, step size: optim.StepLR optim.SGD
dropout, dropout layer: nn.Dropout
k means, kmeans, clustering, clusters: cdist argmin index_add
turn off gradients, disable gradients, inference mode, evaluation mode:
  no_grad nn.Module:eval
checkpoint, load a checkpoint, resume training: load save
dtype, data type, type of a tensor, kind of number: x.dtype type
memory usage, how much memory, leak: memory profile
measure time, stopwatch, how fast, slow code, profiler: profile
use all cores, number of threads, number of cores, cpu cores, openmp:
  set_num_threads get_num_threads
gpu, cuda, run on gpu, device, graphics card: config fuse
onnx, export to onnx, run an onnx model: onnx.save onnx.load
gguf, quantised weights, ggml, 4 bit: gguf.load gguf.encode
large language model, chat with a model, chatbot, llm, generate text, gpt:
  llm.load tokenizer.load
tokens, tokenize text, token ids, byte pair encoding, bpe: tokenizer.load
pytorch weights, pth file, pt file, torch checkpoint, safetensors: load
path of an enemy, pathfinding, navigation, crowd: game.astar game.flow_field
random points, blue noise, scatter objects: game.poisson_disc
camera, projection matrix, view matrix: game.perspective game.look_at
t test, hypothesis test, p value, significance, confidence interval, student:
  var_mean ndtri std
absolute difference, error between: sub abs l1_loss
count zeros, how many non zero, count true: count_nonzero sum
sparse matrix, csr, sparse tensor: nonzero index_add
print more digits, print all rows, full output, truncated output:
  set_printoptions
logical and, logical or, combine masks, not: logical_and logical_or
  logical_not
any true, all true, check a condition: any all
swap rows, roll, rotate elements, circular shift: roll flip
softmax, probabilities, normalise scores: softmax
object detection, non maximum suppression, bounding boxes: vision.nms
  vision.roi_align
map reduce, parallel loop, background jobs: parallel.map parallel.run
help, documentation, manual: help
]==]
