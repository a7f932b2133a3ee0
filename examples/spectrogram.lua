-- A spectrogram: a melody under noise, and a siren that rises through it. The
-- spectrogram shows both; the peaks of each frame name the notes again.
--
--     lunarray examples/spectrogram.lua [width of the picture [picture.png]]
local la = require "lunarray"
local plot = require "lunarray.plot"

local RATE = 8000                -- samples per second
local LENGTH = 0.25              -- seconds of each note
local melody = {"C5", "E5", "G5", "C6", "G5", "E5", "C5"}

local steps = {C = -9, D = -7, E = -5, F = -4, G = -2, A = 0, B = 2}
local names = {}                 -- of semitones from A4 on

local function frequency(note)
  local semitones = steps[note:sub(1, 1)] + 12 * (tonumber(note:sub(2)) - 4)
  names[semitones] = note
  return 440 * 2 ^ (semitones / 12)
end

-- Each note fades in and out, so that none clicks.
local function play(notes)
  local t = la.arange(RATE * LENGTH, {dtype = "float64"}) / RATE
  local fade = la.signal.window("tukey", t:numel(), {sym = true, alpha = 0.2,
    dtype = "float64"})
  local parts = {}
  for k, note in ipairs(notes) do
    parts[k] = (t * (2 * math.pi * frequency(note))):sin() * fade
  end
  return la.cat(parts)
end

la.manual_seed(1)
local song = play(melody)
local t = la.arange(song:numel(), {dtype = "float64"}) / RATE
local siren = la.signal.chirp(t, 1500, #melody * LENGTH, 3500)
local heard = song + 0.5 * siren + 0.2 * la.randn(song:numel(),
  {dtype = "float64"})

-- The siren is above the melody: a low pass of sections takes it out.
local quiet = la.signal.sosfiltfilt(la.signal.butter(8, 1250, {fs = RATE}),
  heard)

local _, _, power = la.signal.spectrogram(heard, {fs = RATE,
  window = "hann", nperseg = 512, noverlap = 256})
print(("%d samples, %d frequencies at %d times"):format(heard:numel(),
  power:size(1), power:size(2)))

-- Decibels, low frequencies at the bottom, few enough rows for a terminal.
local wide = tonumber(arg and arg[1]) or 38
local picture = la.signal.resample(power:log10() * 10, wide, {dim = 2})
picture = picture:narrow(1, 1, 256):view(16, 16, wide):mean(2):flip(1)
print(plot.image(picture, {low = picture:mean():item()}))

-- The strongest peak of each note's frames, in the filtered signal.
local found = {}
local f, times, filtered = la.signal.spectrogram(quiet, {fs = RATE,
  window = "hann", nperseg = 512, noverlap = 256})
for k = 1, #melody do
  local within = times:gt((k - 1) * LENGTH):logical_and(times:lt(k * LENGTH))
  local spectrum = filtered[{{}, within}]:mean(2)
  local at, about = la.signal.find_peaks(spectrum, {height = 0})
  local best = about.peak_heights:argmax():item()
  local hertz = f[at[best]:item()]:item()
  found[k] = names[math.floor(12 * math.log(hertz / 440, 2) + 0.5)] or "?"
end
if arg and arg[2] then
  local fig = plot.heatmap(power:log10() * 10, {y = {0, RATE / 2},
    x = {0, #melody * LENGTH}, low = -70, high = -20, colormap = "magma",
    xlim = {0, #melody * LENGTH}, xlabel = "seconds", ylabel = "Hz",
    title = "Decibels of a melody, a siren and noise"})
  for k, note in ipairs(found) do
    fig:annotate(note, {(k - 0.6) * LENGTH, frequency(melody[k]) + 150},
      {color = "white"})
  end
  fig:save(arg[2], {width = 800, height = 460, scale = 1})
end
print("heard:", table.concat(found, " "))
return found
