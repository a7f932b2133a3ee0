-- lunarray.words.signal: signals.
-- The format is in lunarray.help.rows.
return [==[
== signal.butter
: signal.butter(order, cutoff[, {btype="lowpass", fs=2, output="sos", dtype=}])
A digital Butterworth filter as scipy.signal.butter: sections of second
order, or with output "ba" the coefficients b, a. cutoff is a frequency,
{low, high} for "bandpass" and "bandstop", in units of fs.
== signal.firwin
: signal.firwin(numtaps, cutoff[, {window="hamming", pass_zero=true, scale=true,
  fs=2, width=, dtype=}])
The taps of a filter of linear phase by a window, as scipy.signal.firwin.
== signal.freqz
: signal.freqz(b[, a[, {n=512, whole=false, fs=2*pi}]])
Frequencies and the complex response of the filter b / a there; n is their
number, or a tensor of frequencies.
== signal.sosfreqz
: signal.sosfreqz(sos[, {n=512, whole=false, fs=2*pi}])
The same of a cascade of sections.
== signal.lfilter_zi
: signal.lfilter_zi(b, a)
The state of lfilter after an endless step of height 1.
== signal.sosfilt_zi
: signal.sosfilt_zi(sos)
The states of sosfilt after an endless step of height 1.
== signal.filtfilt
: signal.filtfilt(b, a, x[, {dim=-1, padtype="odd", padlen=}])
lfilter over x and over the result in reverse: no delay. x is extended by
padlen samples at both ends: padtype "odd", "even", "constant" or false.
== signal.sosfiltfilt
: signal.sosfiltfilt(sos, x[, {dim=-1, padtype="odd", padlen=}])
The same with sosfilt.
== signal.find_peaks
: signal.find_peaks(x[, {height=, threshold=, distance=, prominence=, width=,
  wlen=, rel_height=0.5, plateau_size=}])
Positions of the peaks that fulfil all conditions, and a table of their
properties (peak_heights, prominences, left_bases, widths, ...), as
scipy.signal.find_peaks. A condition is the least value or {min, max}.
== signal.stft
: signal.stft(x, n_fft[, {hop_length=n_fft//4, win_length=n_fft, window=,
  center=true, pad_mode="reflect", normalized=false, onesided=}])
Spectra of overlapping parts, {..., bins, frames}: la.stft, with a window
that may be a name, {name, parameter} or a tensor.
== signal.istft
: signal.istft(X, n_fft[, {hop_length=, win_length=, window=, center=true,
  normalized=false, onesided=, length=, return_complex=false}])
The signal of such spectra: la.istft, with the same windows.
== signal.spectrogram
: signal.spectrogram(x[, {fs=1, window={"tukey", 0.25}, nperseg=256, noverlap=,
  nfft=, detrend="constant", scaling="density", mode="psd"}])
Frequencies, times and {..., freqs, frames}, as scipy.signal.spectrogram;
mode "psd", "magnitude", "complex" or "angle".
== signal.welch
: signal.welch(x[, {fs=1, window="hann", nperseg=256, noverlap=, nfft=,
  detrend="constant", scaling="density", average="mean"}])
Frequencies and the power at each, averaged over segments (average "mean"
or "median"), as scipy.signal.welch.
== signal.periodogram
: signal.periodogram(x[, {fs=1, window="boxcar", nfft=, detrend="constant",
  scaling="density"}])
The same of all samples as one segment.
== signal.hilbert
: signal.hilbert(x[, {n=, dim=-1}])
The analytic signal, complex: its abs is the envelope of x.
== signal.resample
: signal.resample(x, n[, {dim=-1, window=}])
x with n samples along the dim, as a periodic signal, by Fourier transforms.
== signal.resample_poly
: signal.resample_poly(x, up, down[, {dim=-1, window={"kaiser", 5.0},
  padtype="constant"}])
x at up / down times its rate, through a filter of linear phase.
== signal.medfilt
: signal.medfilt(x[, kernel_size=3])
The median of the window around each element, zeros outside; kernel_size is
odd, one number or one for each dim.
== signal.savgol_filter
: signal.savgol_filter(x, window_length, polyorder[, {deriv=0, delta=1, dim=-1,
  mode="interp", cval=0}])
Smoothing, or a derivative, by polynomials fitted to sliding windows. mode
"interp", "mirror", "nearest", "constant" or "wrap" is for the ends.
== signal.detrend
: signal.detrend(x[, {dim=-1, type="linear", bp=}])
x without the straight line through it (type "constant": without its mean);
bp holds the first positions of further pieces.
== signal.chirp
: signal.chirp(t, f0, t1, f1[, {method="linear", phi=0, vertex_zero=true}])
A cosine whose frequency goes from f0 at time 0 to f1 at time t1; method
"linear", "quadratic", "logarithmic" or "hyperbolic", phi in degrees.
]==]
