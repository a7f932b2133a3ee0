-- lunarray.words.signal: filters, peaks, spectra. The format is in
-- lunarray.help.rows.
return [==[
= Signals
== signal
: la.signal
Filters, their design, peaks and spectra under the names of SciPy. The functions
consist of operations, so they have gradients and take batches. Frequencies are
in units of fs, the sampling rate.
> sos = la.signal.butter(4, 10, {fs = 100})
> sos.shape
{2, 6}
see: signal.butter, signal.sosfiltfilt, signal.find_peaks, signal.welch, fft
== signal.butter
: la.signal.butter(order, cutoff[, {btype = "lowpass", fs = 2, output = "sos",
  dtype =}]) -> tensor, ...
A digital Butterworth filter, as sections of second order for sosfilt, or with
output "ba" the coefficients b, a. cutoff is a frequency, {low, high} for
"bandpass" and "bandstop".
> b, a = la.signal.butter(1, 0.5, {output = "ba"})
> b
tensor([0.5000, 0.5000], dtype=float64)
source: scipy.signal.butter
see: signal.sosfiltfilt, signal.sosfilt, signal.firwin, signal.sosfreqz
== signal.firwin
: la.signal.firwin(numtaps, cutoff[, {window = "hamming", pass_zero = true,
  scale = true, fs = 2, width =, dtype =}]) -> tensor
Designs a filter of linear phase by the window method, and gives its taps. For
filters that must not bend the shape of a signal.
> la.signal.firwin(5, 0.5)
tensor([0.0000, 0.2037, 0.5926, 0.2037, 0.0000], dtype=float64)
source: scipy.signal.firwin
see: signal.butter, signal.lfilter, signal.convolve
== signal.freqz
: la.signal.freqz(b[, a[, {n = 512, whole = false, fs = 2 * pi}]]) ->
  frequencies: tensor, response: tensor
Frequencies and the complex response of the filter b / a there; n is their
number, or a tensor of frequencies.
> w, h = la.signal.freqz(la.tensor{0.5, 0.5}, nil, {n = 4})
> h:abs()
tensor([1.0000, 0.9239, 0.7071, 0.3827], dtype=float64)
source: scipy.signal.freqz
see: signal.sosfreqz
== signal.sosfreqz
: la.signal.sosfreqz(sos[, {n = 512, whole = false, fs = 2 * pi}]) ->
  frequencies: tensor, response: tensor
The frequency response of a cascade of second-order sections: frequencies and
complex values.
> w, h = la.signal.sosfreqz(la.signal.butter(2, 25, {fs = 100}),
>>   {n = 4, fs = 100})
> w
tensor([ 0.0000, 12.5000, 25.0000, 37.5000], dtype=float64)
> h:abs():round{decimals = 3}
tensor([1.0000, 0.9860, 0.7070, 0.1690], dtype=float64)
see: signal.freqz, signal.butter
== signal.lfilter
Filters in one pass from the first sample to the last, which delays the signal.
filtfilt does not delay it.
> la.signal.lfilter(la.tensor{0.5}, la.tensor{1., -0.5}, la.ones(4))
tensor([0.5000, 0.7500, 0.8750, 0.9375])
source: scipy.signal.lfilter
see: signal.filtfilt, signal.sosfilt, signal.lfilter_zi
== signal.sosfilt
> la.signal.sosfilt(la.signal.butter(2, 0.5), la.ones(6)).shape
{6}
see: signal.sosfiltfilt, signal.butter
== signal.lfilter_zi
: la.signal.lfilter_zi(b, a) -> tensor
The state of lfilter after an endless step of height 1. A filter that starts
with it begins without a jump.
> la.signal.lfilter_zi(la.tensor{0.5}, la.tensor{1., -0.5})
tensor([0.5000], dtype=float64)
see: signal.lfilter, signal.sosfilt_zi
== signal.sosfilt_zi
: la.signal.sosfilt_zi(sos) -> tensor
The states of sosfilt after an endless step of height 1. So a filter starts
without a jump.
> la.signal.sosfilt_zi(la.signal.butter(2, 0.5)).shape
{1, 2}
see: signal.sosfilt
== signal.filtfilt
: la.signal.filtfilt(b, a, x[, {dim = -1, padtype = "odd", padlen =}]) -> tensor
Applies lfilter to x and then to the result in reverse, so there is no delay. x
is extended by padlen samples at both ends: padtype "odd", "even", "constant" or
false.
> la.signal.filtfilt(la.tensor{0.5, 0.5}, la.tensor{1.},
>>   la.range(8):float())[{{1, 4}}]
tensor([1., 2., 3., 4.])
source: scipy.signal.filtfilt
see: signal.sosfiltfilt, signal.lfilter
== signal.sosfiltfilt
: la.signal.sosfiltfilt(sos, x[, {dim = -1, padtype = "odd", padlen =}]) ->
  tensor
The filter to take for recorded signals: sections forwards and backwards,
without delay.
> t = la.linspace(0, 1, 200)
> x = (2 * math.pi * 2 * t):sin() + 0.5 * (2 * math.pi * 40 * t):sin()
> y = la.signal.sosfiltfilt(la.signal.butter(4, 10, {fs = 200}), x)
> (y - (2 * math.pi * 2 * t):sin()):abs():mean():item() < 0.05
true
source: scipy.signal.sosfiltfilt
see: signal.butter, signal.filtfilt
== signal.find_peaks
: la.signal.find_peaks(x[, {height =, threshold =, distance =, prominence =,
  width =, wlen =, rel_height = 0.5, plateau_size =}]) -> positions: tensor,
  properties: table
Positions of the peaks that fulfil all conditions, and a table of their
properties (peak_heights, prominences, left_bases, widths, ...). A condition is
the least value or {min, max}.
> x = la.tensor{0., 2, 1, 5, 0, 3, 0}
> (la.signal.find_peaks(x, {height = 2.5}))
tensor([4, 6])
source: scipy.signal.find_peaks
see: signal.peak_prominences, signal.peak_widths, topk
== signal.local_maxima
> (la.signal.local_maxima(la.tensor{0., 2, 2, 1}))
tensor([2])
see: signal.find_peaks
== signal.peaks_apart
> la.signal.peaks_apart(la.tensor{1, 3, 9}, la.tensor{1, 2, 3}, 4)
tensor([False,  True,  True])
see: signal.find_peaks
== signal.peak_prominences
> x = la.tensor{0., 2, 1, 5, 0}
> (la.signal.peak_prominences(x, la.tensor{2, 4}))
tensor([1., 5.])
see: signal.find_peaks
== signal.peak_widths
> x = la.tensor{0., 1, 2, 1, 0}
> (la.signal.peak_widths(x, la.tensor{3}))
tensor([2.], dtype=float64)
see: signal.find_peaks
== convolve
> la.convolve(la.tensor{1., 2, 3}, la.tensor{1., 1})
tensor([1., 3., 5., 3.])
see: signal.convolve, conv1d
== signal.convolve
> la.signal.convolve(la.tensor{1., 2, 3, 4}, la.tensor{0.5, 0.5}, "same")
tensor([0.5000, 1.5000, 2.5000, 3.5000])
see: signal.correlate, convolve, conv2d
== signal.fftconvolve
: la.signal.fftconvolve(in1, in2[, mode = "full"[, axes]]) -> tensor
The convolution of two tensors by Fourier transforms, along all dims or those of
axes, a dim or a list; the other dims broadcast. mode is full, same (the middle,
of the sizes of in1) or valid (where they overlap whole). Integers give float64.
> x = la.tensor{{1., 2, 3}, {0, 1, 0}}
> la.signal.fftconvolve(x, la.ones(1, 2), "same", 2):round()
tensor([[1., 3., 5.],
        [0., 1., 1.]])
source: scipy.signal.fftconvolve
see: signal.oaconvolve, signal.convolve
== signal.oaconvolve
: la.signal.oaconvolve(in1, in2[, mode = "full"[, axes]]) -> tensor
fftconvolve by blocks that overlap and are added: faster and smaller where one
tensor is much longer than the other.
> x = la.rand(100000)
> y = la.signal.oaconvolve(x, la.ones(50), "same")
> y:allclose(la.signal.fftconvolve(x, la.ones(50), "same"), 1e-3, 1e-3)
true
source: scipy.signal.oaconvolve
see: signal.fftconvolve
== signal.correlate
> la.signal.correlate(la.tensor{1., 2, 3}, la.tensor{1., 2, 3})
tensor([ 3.,  8., 14.,  8.,  3.])
see: signal.convolve
== signal.running_median
> la.signal.running_median(la.tensor{1., 9, 2, 3}, 3)
tensor([1., 2., 3., 2.])
see: signal.medfilt
== signal.window
> la.signal.window("hann", 4)
tensor([0.0000, 0.5000, 1.0000, 0.5000])
> la.signal.window("kaiser", 5, {sym = true, beta = 6})
tensor([0.0149, 0.4830, 1.0000, 0.4830, 0.0149])
see: hann_window, signal.welch
== stft
> x = la.sin(la.linspace(0, 100, 400))
> x:stft(64, {window = la.hann_window(64)}).shape
{33, 26}
source: Griffin and Lim, Signal estimation from modified short-time Fourier
  transform, 1984.
see: istft, signal.stft, signal.spectrogram
== istft
> x = la.randn(256)
> w = la.hann_window(64)
> y = x:stft(64, {window = w}):istft(64, {window = w, length = 256})
> y:allclose(x, 0, 1e-5)
true
see: stft
== signal.stft
: la.signal.stft(x, n_fft[, {hop_length = n_fft // 4, win_length = n_fft, window
  =, center = true, pad_mode = "reflect", normalized = false, onesided =}]) ->
  tensor
Spectra of overlapping parts, {..., bins, frames}: la.stft, with a window that
may be a name, {name, parameter} or a tensor.
> la.signal.stft(la.randn(400), 64, {window = "hann"}).shape
{33, 26}
see: stft, signal.istft
== signal.istft
: la.signal.istft(X, n_fft[, {hop_length =, win_length =, window =, center =
  true, normalized = false, onesided =, length =, return_complex = false}]) ->
  tensor
The signal of such spectra: la.istft, with the same windows.
> X = la.signal.stft(la.ones(256), 64, {window = "hann"})
> la.signal.istft(X, 64, {window = "hann"}):round():unique_values()
tensor([1.])
see: signal.stft
== signal.spectrogram
: la.signal.spectrogram(x[, {fs = 1, window = {"tukey", 0.25}, nperseg = 256,
  noverlap =, nfft =, detrend = "constant", scaling = "density", mode = "psd"}])
  -> frequencies: tensor, times: tensor, power: tensor
Power over time and frequency, {..., frequencies, frames}; mode "psd",
"magnitude", "complex" or "angle".
> f, t, power = la.signal.spectrogram(la.randn(1024), {fs = 100})
> power.shape
{129, 4}
source: scipy.signal.spectrogram
see: signal.welch, stft, plot.image
== signal.welch
: la.signal.welch(x[, {fs = 1, window = "hann", nperseg = 256, noverlap =, nfft
  =, detrend = "constant", scaling = "density", average = "mean"}]) ->
  frequencies: tensor, power: tensor
The power at each frequency, averaged over segments (average "mean" or
"median").
> t = la.linspace(0, 10, 1000, false)
> f, power = la.signal.welch((2 * math.pi * 12.5 * t):sin(), {fs = 100})
> f[power:argmax()]
tensor(12.5000)
source: Welch, The use of fast Fourier transform for the estimation of power
  spectra, 1967.
see: signal.periodogram, signal.spectrogram
== signal.periodogram
: la.signal.periodogram(x[, {fs = 1, window = "boxcar", nfft =, detrend =
  "constant", scaling = "density"}]) -> frequencies: tensor, power: tensor
The power at each frequency, of all samples as one segment. For lines in a short
record; welch is less noisy for a long one.
> t = la.linspace(0, 1, 100, false)
> f, power = la.signal.periodogram((2 * math.pi * 5 * t):sin(), {fs = 100})
> f[power:argmax()]
tensor(5.)
see: signal.welch, fft.rfft
== signal.hilbert
: la.signal.hilbert(x[, {n =, dim = -1}]) -> tensor
The analytic signal, complex: its abs is the envelope of x. For the loudness of
a tone and the phase of an oscillation.
> t = la.linspace(0, 1, 64, false)
> la.signal.hilbert((2 * math.pi * 8 * t):cos())
>>   :abs():round():unique_values()
tensor([1.])
source: scipy.signal.hilbert
see: fft.fft, angle, unwrap
== signal.resample
: la.signal.resample(x, n[, {dim = -1, window =}]) -> tensor
x with n samples along the dim, treated as a periodic signal, by Fourier
transforms.
> la.signal.resample(la.tensor{0., 1, 0, -1}, 8)
>>   :round{decimals = 2}[{{1, 3}}]
tensor([0.0000, 0.7100, 1.0000])
source: scipy.signal.resample
see: signal.resample_poly, interp
== signal.resample_poly
: la.signal.resample_poly(x, up, down[, {dim = -1, window = {"kaiser", 5.0},
  padtype = "constant"}]) -> tensor
x at up / down times its rate, through a filter of linear phase. For sounds at
another rate: 48000 to 44100 is 147 / 160.
> la.signal.resample_poly(la.ones(100), 3, 2).shape
{150}
source: scipy.signal.resample_poly
see: signal.resample
== signal.medfilt
: la.signal.medfilt(x[, kernel_size = 3]) -> tensor
The median of the window around each element, with zeros outside; kernel_size is
odd, one number or one for each dim. Use it to remove single wrong samples.
> la.signal.medfilt(la.tensor{1., 1, 9, 1, 1})
tensor([1., 1., 1., 1., 1.])
source: scipy.signal.medfilt
see: signal.savgol_filter, median
== signal.savgol_filter
: la.signal.savgol_filter(x, window_length, polyorder[, {deriv = 0, delta = 1,
  dim = -1, mode = "interp", cval = 0}]) -> tensor
Smoothing, or a derivative, by polynomials fitted to sliding windows. mode
"interp", "mirror", "nearest", "constant" or "wrap" is for the ends.
> la.signal.savgol_filter(la.tensor{1.5, 4.5, 9.5, 16.5, 25.5}, 5, 2)
tensor([ 1.5000,  4.5000,  9.5000, 16.5000, 25.5000])
source: Savitzky and Golay, Smoothing and differentiation of data, 1964.
see: signal.medfilt, polyfit, gradient
== signal.detrend
: la.signal.detrend(x[, {dim = -1, type = "linear", bp =}]) -> tensor
Removes the straight line through x (with type "constant" its mean); bp holds
the first positions of further pieces.
> la.signal.detrend(la.tensor{1., 2, 3, 5}, {type = "constant"})
tensor([-1.7500, -0.7500,  0.2500,  2.2500])
source: scipy.signal.detrend
see: polyfit
== signal.chirp
: la.signal.chirp(t, f0, t1, f1[, {method = "linear", phi = 0,
  vertex_zero = true}]) -> tensor
A cosine whose frequency goes from f0 at time 0 to f1 at time t1; method
"linear", "quadratic", "logarithmic" or "hyperbolic", phi in degrees.
> la.signal.chirp(la.tensor{0., 0.25, 0.5}, 1, 1, 4)
tensor([ 1.0000, -0.5556,  0.7071])
source: scipy.signal.chirp
see: signal.spectrogram
]==]
