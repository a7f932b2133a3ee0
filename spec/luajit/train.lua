-- Read by Lua 5.4 and by LuaJIT: trains with what nn, optim and data have, and
-- gives the losses and a few other numbers, which must be the same.
return function(la, nn, optim, data)
  local numbers = {}
  local function note(v) numbers[#numbers + 1] = v end
  la.manual_seed(1)
  local x = la.rand(96, 2)
  local y = (x[{{}, 1}] * x[{{}, 2}]):unsqueeze(2)
  local makers = {
    {"SGD", {lr = 0.1, momentum = 0.9}}, {"Adam", {lr = 0.01}},
    {"AdamW", {lr = 0.01}}, {"RMSprop", {lr = 0.001}},
    {"Adagrad", {lr = 0.05}}}
  for _, maker in ipairs(makers) do
    local net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    local o = optim[maker[1]](net:parameters(), maker[2])
    local schedule = optim.StepLR(o, 2, 0.5)
    local set = data.TensorDataset(x, y)
    local loader = data.DataLoader(set, {batch_size = 40, shuffle = true})
    for _ = 1, 4 do
      for input, wanted in loader:batches() do
        o:zero_grad()
        local loss = la.mse_loss(net(input), wanted)
        loss:backward()
        o:step()
        note(loss:item())
      end
      schedule:step()
    end
    note(nn.clip_grad_norm_(net:parameters(), 0.1):item())
    local copy = net:clone()
    copy:load_state_dict(net:state_dict())
    note(la.no_grad(function() return copy(x):sum():item() end))
  end
  local point = nn.Parameter(la.tensor {-1.5, 2})
  local lbfgs = optim.LBFGS({point}, {lr = 0.5, max_iter = 12})
  note(lbfgs:step(function()
    lbfgs:zero_grad()
    local a, b = point[1], point[2]
    local loss = (1 - a) ^ 2 + 5 * (b - a * a) ^ 2
    loss:backward()
    return loss
  end))
  note(point[1]:item())
  note(nn.Conv2d(2, 4, 3, {groups = 2})(la.rand(1, 2, 6, 6)):sum():item())
  note(nn.LSTM(3, 4)(la.rand(5, 2, 3)):sum():item())
  note(nn.TransformerEncoderLayer(8, 2, {dropout = 0})(la.rand(2, 5, 8))
    :abs():sum():item())
  note(nn.BatchNorm1d(3)(la.rand(5, 3)):pow(2):sum():item())
  note(#tostring(nn.Sequential(nn.Linear(2, 3), nn.ReLU())))
  local first, second = data.random_split(data.TensorDataset(x), {60, 36})
  for _, part in ipairs {first, second} do
    for values in data.DataLoader(part, {batch_size = 60}):batches() do
      note(values:size(1))
    end
  end
  return numbers
end
