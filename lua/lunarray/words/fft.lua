-- lunarray.words.fft: Fourier and cosine transforms. The format is in
-- lunarray.help.rows.
return [==[
== fft
: la.fft
Discrete Fourier transforms of any length and any number of dims, with
derivatives, under PyTorch's names. Real signals take half the work with rfft.
> x = la.tensor{1., 0, -1, 0}
> la.fft.rfft(x):abs()
tensor([0., 2., 0.])
see: fft.rfft, fft.fftfreq, stft, signal.welch
== fft.fft
> la.fft.fft(la.tensor{1.5, 2, 4})
tensor([ 7.5000+0.0000j, -1.5000+1.7321j, -1.5000-1.7321j])
source: Cooley and Tukey, An algorithm for the machine calculation of complex
  Fourier series, 1965; Bluestein's method for large prime factors.
see: fft.ifft, fft.rfft, fft.fftfreq
== fft.ifft
Takes a spectrum back to its signal, divided by its length unless norm says
otherwise. For real signals irfft is quicker.
> la.fft.ifft(la.fft.fft(la.tensor{1., 2, 3})).real
tensor([1., 2., 3.])
see: fft.fft
== fft.rfft
> t = la.linspace(0, 1, 8, false)
> spectrum = la.fft.rfft((2 * math.pi * 2 * t):sin())
> spectrum:abs():argmax(), la.fft.rfftfreq(8, 1 / 8)[3]
tensor(3)    tensor(2.)
see: fft.irfft, fft.rfftfreq, signal.periodogram
== fft.irfft
> la.fft.irfft(la.fft.rfft(la.tensor{1., 2, 3, 4}))
tensor([1., 2., 3., 4.])
> la.fft.irfft(la.fft.rfft(la.tensor{1., 2, 3}), 3)
tensor([1., 2., 3.])
- n: give it where the signal's length is odd
see: fft.rfft
== fft.hfft
> la.fft.hfft(la.complex(la.tensor{1., 2}, la.tensor{0., 1}), 3)
tensor([ 5.0000,  0.7321, -2.7321])
see: fft.ihfft, fft.irfft
== fft.ihfft
> la.fft.ihfft(la.tensor{1., 2, 3, 4}).real
tensor([ 2.5000, -0.5000, -0.5000])
see: fft.hfft
== fft.fft2
For images: blur, compare or filter them by products of spectra.
> la.fft.fft2(la.ones(2, 2)).real
tensor([[4., 0.],
        [0., 0.]])
see: fft.ifft2, fft.rfft2, fft.fftn
== fft.ifft2
Takes the spectrum of a picture or a field back, after a filter in frequencies.
> la.fft.ifft2(la.fft.fft2(la.eye(2))).real
tensor([[1., 0.],
        [0., 1.]])
see: fft.fft2
== fft.rfft2
> la.fft.rfft2(la.ones(4, 6)).shape
{4, 4}
see: fft.irfft2
== fft.irfft2
> la.fft.irfft2(la.fft.rfft2(la.eye(2)))
tensor([[1., 0.],
        [0., 1.]])
see: fft.rfft2
== fft.hfft2
> la.fft.hfft2(la.ones(2, 2)).shape
{2, 2}
see: fft.ihfft2
== fft.ihfft2
For spectra that are real, of signals with Hermitian symmetry; rarely needed
besides rfft2.
> la.fft.ihfft2(la.ones(2, 2)).real
tensor([[1., 0.],
        [0., 0.]])
see: fft.hfft2
== fft.fftn
> la.fft.fftn(la.ones(2, 2, 2)).shape
{2, 2, 2}
see: fft.ifftn, fft.rfftn
== fft.ifftn
Takes a spectrum over several dims back; fields and volumes after a filter in
frequencies.
> la.fft.ifftn(la.fft.fftn(la.ones(2, 2))).real
tensor([[1., 1.],
        [1., 1.]])
see: fft.fftn
== fft.rfftn
For volumes of real numbers, in about half the time and memory of fftn.
> la.fft.rfftn(la.ones(2, 4, 6)).shape
{2, 4, 4}
see: fft.irfftn
== fft.irfftn
> la.fft.irfftn(la.fft.rfftn(la.ones(2, 2)))
tensor([[1., 1.],
        [1., 1.]])
see: fft.rfftn
== fft.hfftn
> la.fft.hfftn(la.ones(2, 2)).shape
{2, 2}
see: fft.ihfftn
== fft.ihfftn
For spectra that are real, of signals with Hermitian symmetry; rarely needed
besides rfftn.
> la.fft.ihfftn(la.ones(2, 2)).real
tensor([[1., 0.],
        [0., 0.]])
see: fft.hfftn
== fft.dct
Its results are real, and most of a smooth signal is in the first elements. Use
it to compress.
> la.fft.dct(la.tensor{1., 2, 4, 8}, 2, nil, -1, "ortho")
tensor([ 7.5000, -5.1142,  1.5000, -0.5876])
see: fft.idct, fft.rfft
== fft.idct
To decode what dct packed: images, sounds.
> la.fft.idct(la.fft.dct(la.tensor{1.5, 2.5, 3.5}))
tensor([1.5000, 2.5000, 3.5000])
see: fft.dct
== fft.fftfreq
> la.fft.fftfreq(4, 1 / 100)
tensor([  0.,  25., -50., -25.])
see: fft.rfftfreq, fft.fftshift
== fft.rfftfreq
For the axis under a spectrum.
> la.fft.rfftfreq(4, 1 / 100)
tensor([ 0., 25., 50.])
see: fft.fftfreq
== fft.fftshift
For pictures of spectra, in whose middle one expects the frequency 0.
> la.fft.fftshift(la.fft.fftfreq(4, 1 / 4))
tensor([-2., -1.,  0.,  1.])
see: fft.ifftshift, roll
== fft.ifftshift
Puts the zero frequency back to the front, before a transform back.
> la.fft.ifftshift(la.tensor{-2., -1, 0, 1})
tensor([ 0.,  1., -2., -1.])
see: fft.fftshift
]==]
