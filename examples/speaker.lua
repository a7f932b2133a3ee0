-- Do two WAV files have the same voice? The network of Resemblyzer, an LSTM
-- whose weights are a PyTorch file.
--
--     tools/models.sh speaker    (once: models/speaker.pt)
--     lunarray examples/speaker.lua one.wav other.wav
local la = require "lunarray"
local nn = require "lunarray.nn"

local folder = os.getenv "LUNARRAY_MODELS" or "models"
local RATE, WINDOW, HOP, MELS, FRAMES = 16000, 400, 160, 40, 160

-- Slaney's scale: linear up to 1000 Hz, then logarithmic.
local LINEAR, STEP = 1000 / 15, math.log(6.4) / 27
local function hertz(mel)
  return mel < 15 and mel * LINEAR or 1000 * math.exp(STEP * (mel - 15))
end

-- Triangles over the frequencies of the transform, {mels, WINDOW / 2 + 1}.
local function mel_filters()
  local top = 15 + math.log(RATE / 2 / 1000) / STEP
  local at = {}
  for k = 0, MELS + 1 do at[k] = hertz(top * k / (MELS + 1)) end
  local f, rows = la.linspace(0, RATE / 2, WINDOW // 2 + 1), {}
  for k = 1, MELS do
    local up = (f - at[k - 1]) / (at[k] - at[k - 1])
    local down = (at[k + 1] - f) / (at[k + 1] - at[k])
    rows[k] = la.minimum(up, down):clamp_min(0) * (2 / (at[k + 1] - at[k - 1]))
  end
  return la.stack(rows, 1)
end

local lstm, linear, filters
local function load_model()
  local w = la.load(folder .. "/speaker.pt").model_state
  lstm, linear = nn.LSTM(MELS, 256, {num_layers = 3, batch_first = true}),
    nn.Linear(256, 256)
  local function part(module, name)
    local state = {}
    for key in pairs(module:state_dict()) do state[key] = w[name .. key] end
    module:load_state_dict(state)
  end
  part(lstm, "lstm.")
  part(linear, "linear.")
  filters = mel_filters()
end

-- voice(samples at 16 kHz) -> a tensor {256} of length 1.
local function voice(samples)
  if not lstm then load_model() end
  local x = la.pad(samples:view(1, 1, -1), {WINDOW // 2, WINDOW // 2},
                   {mode = "constant"}):view(-1)
  local power = la.fft.rfft(x:unfold(1, WINDOW, HOP) * la.hann_window(WINDOW))
    :abs():square()
  local mel = power:matmul(filters:t())
  local n = math.max(mel.shape[1] // FRAMES, 1)
  local size = math.min(mel.shape[1], FRAMES)
  local parts = mel:narrow(1, 1, n * size):view(n, size, MELS)
  local _, h = lstm(parts)
  local y = linear(h[3]):relu()
  y = (y / y:norm(2, 2, true)):mean(1)
  return y / y:norm()
end

if not arg or not arg[2] then return voice end
local voices = {}
for k = 1, 2 do
  local samples, rate = la.audio.load(arg[k])
  local mono = samples:mean(1)
  if rate ~= RATE then
    mono = la.signal.resample(mono, mono:numel() * RATE // rate)
  end
  voices[k] = la.no_grad(voice, mono)
end
local near = voices[1]:dot(voices[2]):item()
print(("%.2f: %s"):format(near, near > 0.75 and "the same voice, likely"
                          or "two voices, likely"))
