-- When does somebody say "hey Jarvis" in a WAV file? Three networks of
-- openWakeWord: sound to spectrum, spectrum to features, features to the word.
--
--     tools/models.sh wake       (once: models/wake_*.onnx)
--     lunarray examples/wake.lua speech.wav
local la = require "lunarray"

local folder = os.getenv "LUNARRAY_MODELS" or "models"
local RATE, STEP, WINDOW, NEEDED = 16000, 8, 76, 16
local spectrum, features, word

-- listen(samples at 16 kHz) -> the probability of the word every 80 ms.
local function listen(samples)
  spectrum = spectrum or la.onnx.load(folder .. "/wake_spectrum.onnx")
  features = features or la.onnx.load(folder .. "/wake_features.onnx")
  word = word or la.onnx.load(folder .. "/wake_word.onnx")
  local x = spectrum((samples * 32767):round():unsqueeze(1))
  x = x:reshape(-1, 32) / 10 + 2
  local out, heard = {}, {}
  for at = 1, x.shape[1] - WINDOW + 1, STEP do
    local y = features(x:narrow(1, at, WINDOW):reshape(1, WINDOW, 32, 1))
    heard[#heard + 1] = y:reshape(96)
    if #heard > NEEDED then table.remove(heard, 1) end
    out[#out + 1] = #heard < NEEDED and 0
      or word(la.stack(heard, 1):unsqueeze(1)):item()
  end
  return la.tensor(out)
end

if not arg or not arg[1] then return listen end
local samples, rate = la.audio.load(arg[1])
local mono = samples:mean(1)
if rate ~= RATE then
  mono = la.signal.resample(mono, mono:numel() * RATE // rate)
end
for k, p in ipairs(listen(mono):totable()) do
  if p > 0.5 then
    print(("%6.2f s  %.0f %%"):format((k * STEP + WINDOW) / 100, 100 * p))
  end
end
