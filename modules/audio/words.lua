-- lunarray.words.audio: sound in files. The format is in lunarray.help.rows.
return [==[
= Sound
== audio
: la.audio
Sound in WAV files and strings. A tensor of sound is {channels, frames}. Floats
are full scale from -1 to 1; integers are the numbers of a file with such
samples.
> wave = (la.arange(0, 4) * math.pi / 2):sin()
> samples, rate = la.audio.decode(la.audio.encode(wave, 8000))
> samples.shape, rate
{1, 4}    8000
see: audio.load, audio.save, signal, stft
== audio.load
: la.audio.load(path[, {dtype = "float32", first = 1, last = -1}]) ->
  samples: tensor, rate: integer
Reads the samples {channels, frames} of a WAV file and its frames per second.
first and last, from 1 or from -1 backwards, read a part of a long file without
the rest. dtype is uint8, int16, int32 or a floating one.
> la.audio.save(la.zeros(2, 100), "quiet.wav", 8000)
> x, rate = la.audio.load("quiet.wav", {first = -10})
> x.shape, rate
{2, 10}    8000
! Frames outside the file; a file that is no WAV or compressed.
see: audio.info, audio.decode, audio.save, signal.resample
== audio.decode
: la.audio.decode(bytes[, {dtype = "float32", first = 1, last = -1}]) ->
  samples: tensor, rate: integer
Reads sound from a string with the bytes of a file, as audio.load does from a
file.
> bytes = la.audio.encode(la.tensor({1, -2, 3}, "int16"), 8000)
> la.audio.decode(bytes, {dtype = "int16"})
tensor([[ 1, -2,  3]], dtype=int16)    8000
see: audio.encode, audio.load
== audio.info
: la.audio.info(path) -> frames: integer, channels: integer, rate: integer,
  format: string
What the header of a WAV file says. format is a word that save takes. To see how
long a file is without reading its samples.
> la.audio.save(la.zeros(2, 100), "quiet.wav", 8000)
> la.audio.info("quiet.wav")
100    2    8000    int16
see: audio.load
== audio.save
: la.audio.save(x, path, rate[, {format =}])
Writes {channels, frames} or {frames} as a WAV file of rate frames per second.
format is "uint8", "int16", "int24", "int32", "float32" or "float64"; without it
integers keep their format, and floats become int16. Floats beyond full scale
are cut.
> la.audio.save((la.arange(0, 800) * 0.345):sin() * 0.5, "tone.wav", 8000)
> la.audio.info("tone.wav")
800    1    8000    int16
! NaN, dtypes that no format holds, more than two dims.
see: audio.load, audio.encode
== audio.encode
: la.audio.encode(x, rate[, {format =}]) -> string
Gives the bytes of the file that audio.save would write. For a web server or an
archive that takes bytes.
> #la.audio.encode(la.zeros(4), 8000)
52
see: audio.decode, audio.save
]==]
