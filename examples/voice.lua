-- Where does somebody speak in a WAV file? The network of silero-vad, from its
-- TorchScript file: la.load gives the weights by attribute path, and the 30
-- lines below are what it computes, 32 ms of sound at a time.
--
--     tools/models.sh voice       (once: models/silero_vad.jit)
--     lunarray examples/voice.lua speech.wav [models/silero_vad.jit]
local la = require "lunarray"

local RATE, FRAME, CONTEXT = 16000, 512, 64

-- speaks(samples) -> the probability of a voice in each frame of 512 samples,
-- at 16,000 samples per second.
local function detector(path)
  local w = {}
  for name, value in pairs(la.load(path)) do
    local inner = name:match "^_model%.(.*)$"
    if inner then w[inner] = value:detach() end
  end

  -- A spectrum by a convolution, and four convolutions on its magnitudes.
  local function features(x)
    x = la.pad(x:view(1, 1, -1), {0, 64}, {mode = "reflect"})
    x = la.conv1d(x, w["stft.forward_basis_buffer"], {stride = 128})
    x = (x:narrow(2, 1, 129):square() + x:narrow(2, 130, 129):square()):sqrt()
    for k, stride in ipairs {1, 2, 2, 1} do
      local name = ("encoder.%d.reparam_conv."):format(k - 1)
      x = la.conv1d(x, w[name .. "weight"], w[name .. "bias"],
                    {stride = stride, padding = 1}):relu()
    end
    return x:squeeze(3)
  end

  return function(samples)
    local frames = samples:numel() // FRAME
    local h, c = la.zeros(1, 128), la.zeros(1, 128)
    local heard = la.pad(samples, {CONTEXT, 0})
    local out = la.zeros(frames)
    for k = 1, frames do
      la.tidy(function()
        local x = heard:narrow(1, (k - 1) * FRAME + 1, FRAME + CONTEXT)
        h, c = la.lstm_cell(features(x), h, c, w["decoder.rnn.weight_ih"],
          w["decoder.rnn.weight_hh"], w["decoder.rnn.bias_ih"],
          w["decoder.rnn.bias_hh"])
        local y = la.conv1d(h:relu():unsqueeze(3),
          w["decoder.decoder.2.weight"], w["decoder.decoder.2.bias"])
        out[k] = y:sigmoid():mean()
        return h, c
      end)
    end
    return out
  end
end

local wav, model = arg and arg[1], arg and arg[2] or "models/silero_vad.jit"
if not wav then return detector end
local samples, rate = la.audio.load(wav)
local mono = samples:mean(1)
if rate ~= RATE then
  mono = la.signal.resample(mono, mono:numel() * RATE // rate)
end
local speaks = detector(model)(mono):totable()
local from
for k = 1, #speaks + 1 do
  local yes = (speaks[k] or 0) > (from and 0.35 or 0.5)
  if yes and not from then from = k end
  if from and not yes then
    print(("%7.2f s to %7.2f s"):format((from - 1) * FRAME / RATE,
                                        (k - 1) * FRAME / RATE))
    from = nil
  end
end
