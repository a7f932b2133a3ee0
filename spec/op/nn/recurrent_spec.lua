-- Recurrent layers over whole sequences, and cells.
local la = require "lunarray"
local nn = require "lunarray.nn"

local F64 = {dtype = "float64"}
local WIDTH = {tanh = 1, relu = 1, lstm = 4, gru = 3}

local function near(a, b, eps)
  assert.is_true(la.allclose(a, b, {rtol = eps or 1e-12, atol = eps or 1e-12}),
    tostring(a) .. " against " .. tostring(b))
end
local raises = require "spec.support.raises"

-- One step by operations, from the formulas.
local function step(kind, gi, gh, h, c)
  if kind == "tanh" or kind == "relu" then return la[kind](gi + gh) end
  if kind == "lstm" then
    local i, f, g, o = table.unpack((gi + gh):chunk(4, -1))
    c = f:sigmoid() * c + i:sigmoid() * g:tanh()
    return o:sigmoid() * c:tanh(), c
  end
  local ir, iz, inew = table.unpack(gi:chunk(3, -1))
  local hr, hz, hnew = table.unpack(gh:chunk(3, -1))
  local r, z = (ir + hr):sigmoid(), (iz + hz):sigmoid()
  local n = (inew + r * hnew):tanh()
  return (1 - z) * n + z * h
end

local function by_steps(gates, w, b, h, c, kind, reverse)
  local n, out, cells = #gates, {}, {}
  for k = 1, n do
    local t = reverse and n + 1 - k or k
    h, c = step(kind, gates[t], la.linear(h, w, b), h, c)
    out[t], cells[t] = h, c
  end
  return la.stack(out, 1), c and la.stack(cells, 1)
end

local function operands(kind, steps, rows, n, options)
  local g = WIDTH[kind] * n
  options = options or {}
  return la.randn(steps, rows, g, options), la.randn(g, n, options),
    la.randn(g, options), la.randn(rows, n, options),
    kind == "lstm" and la.randn(rows, n, options) or nil
end

describe("recurrent_layer", function()
  for kind in pairs(WIDTH) do
    it("of " .. kind .. " is its steps", function()
      la.manual_seed(1)
      for _, size in ipairs{{1, 1, 1}, {5, 3, 7}, {4, 2, 33}, {3, 40, 64},
        {2, 0, 3}} do
        for _, reverse in ipairs{false, true} do
          local gates, w, b, h, c = operands(kind, size[1], size[2], size[3],
            F64)
          local out, cells = la.recurrent_layer(gates, w, b, h, c, kind,
            reverse)
          local out2, cells2 = by_steps(gates, w, b, h, c, kind, reverse)
          near(out, out2)
          if c then near(cells, cells2) end
          near((la.recurrent_layer(gates, w, nil, h, c, kind, reverse)),
            (by_steps(gates, w, nil, h, c, kind, reverse)))
        end
      end
      -- Other layouts and dtypes.
      local gates, w, b, h, c = operands(kind, 3, 4, 6)
      local out = la.recurrent_layer(gates, w, b, h, c, kind)
      near(out, (by_steps(gates, w, b, h, c, kind)), 1e-5)
      local strided = la.recurrent_layer(gates:transpose(1, 2):contiguous()
        :transpose(1, 2), w:t():contiguous():t(), b, h:t():contiguous():t(), c,
        kind)
      assert.is_true(strided == out)
      local low = la.recurrent_layer(gates:bfloat16(), w:bfloat16(),
        b:bfloat16(), h:bfloat16(), c and c:bfloat16(), kind)
      assert.are.equal("bfloat16", low.dtype)
      near(low:float(), out, 0.3)
    end)

    it("of " .. kind .. " has the gradients of its steps", function()
      la.manual_seed(2)
      for _, reverse in ipairs{false, true} do
        local a, b = {operands(kind, 3, 2, 5, F64)}, {}
        for k, t in ipairs(a) do b[k] = t:clone():requires_grad_() end
        for _, t in ipairs(a) do t:requires_grad_() end
        local seed = la.randn(3, 2, 5, F64)
        local function run(f, x)
          local out, cells = f(x[1], x[2], x[3], x[4], x[5], kind, reverse)
          local loss = (out * seed):sum()
          if x[5] then loss = loss + (cells * cells):sum() end
          loss:backward()
        end
        run(la.recurrent_layer, a)
        run(by_steps, b)
        for k = 1, #a do near(a[k].grad, b[k].grad) end
      end
    end)

    it("of " .. kind .. " differentiates again", function()
      la.manual_seed(3)
      local list = {operands(kind, 2, 2, 3, F64)}
      for k, t in ipairs(list) do
        -- relu has no second difference near its corner
        list[k] = (kind == "relu" and t:abs() or t):requires_grad_()
      end
      local function run(gates, w, b, h, c)
        local out, cells = la.recurrent_layer(gates, w, b, h, c, kind)
        return c and out + 2 * cells or out
      end
      assert.is_true(la.gradcheck(run, list))
      assert.is_true(la.gradgradcheck(run, list))
    end)
  end

  it("keeps inputs apart that are made of each other", function()
    la.manual_seed(4)
    local w = la.randn(3, 3, F64):requires_grad_()
    local function run(v)
      local gates = (v * 2):unsqueeze(1)
      return (la.recurrent_layer(gates, v, nil, v + 1, nil, "tanh"))
    end
    assert.is_true(la.gradcheck(run, {w}))
    assert.is_true(la.gradgradcheck(run, {w}))
  end)

  it("gives the same bits for each row and number of threads", function()
    local gates, w, b, h, c = operands("lstm", 3, 64, 100)
    local threads = la.get_num_threads()
    la.set_num_threads(1)
    local out = la.recurrent_layer(gates, w, b, h, c)
    la.set_num_threads(2)
    assert.is_true(la.recurrent_layer(gates, w, b, h, c) == out)
    la.set_num_threads(threads)
  end)

  it("refuses what does not fit", function()
    local gates, w, b, h, c = operands("lstm", 3, 2, 4)
    raises("is no kind of cell", la.recurrent_layer, gates, w, b, h, c, "elman")
    raises("has a cell state", la.recurrent_layer, gates, w, b, h, nil, "lstm")
    local g1, w1, b1, h1 = operands("tanh", 3, 2, 4)
    raises("has a cell state", la.recurrent_layer, g1, w1, b1, h1, c, "tanh")
    raises("a state of", la.recurrent_layer, gates, w, b, h[1], c)
    raises("a weight of", la.recurrent_layer, gates, w:t(), b, h, c)
    raises("a bias", la.recurrent_layer, gates, w, b[{{1, 3}}], h, c)
    raises("at least one step", la.recurrent_layer, gates[1], w, b, h, c)
    raises("for 'Long'", la.recurrent_layer, gates:long(), w:long(),
      b:long(), h:long(), c:long())
    raises("dtype of the gates", la.recurrent_layer, gates, w:double(), b, h, c)
  end)
end)

describe("cells", function()
  it("are their formulas", function()
    la.manual_seed(5)
    local x = la.randn(2, 3, F64)
    for kind, name in pairs{tanh = "rnn", relu = "rnn", lstm = "lstm",
      gru = "gru"} do
      local gates, w, b, h, c = operands(kind, 1, 2, 4, F64)
      local wi = la.randn(gates:size(3), 3, F64)
      local gi, gh = la.linear(x, wi, b), la.linear(h, w, b)
      local wanted, cell = step(kind, gi, gh, h, c)
      if c then
        local out, next_c = la.lstm_cell(x, h, c, wi, w, b, b)
        near(out, wanted)
        near(next_c, cell)
      else
        local more = name == "rnn" and {nonlinearity = kind} or {}
        near(la[name .. "_cell"](x, h, wi, w, b, b, more), wanted)
      end
    end
    raises("nonlinearity", la.rnn_cell, x, la.randn(2, 4, F64),
      la.randn(4, 3, F64), la.randn(4, 4, F64), nil, nil, "sine")
    raises("gate(s)", la.gru_cell, x, la.randn(2, 4, F64), la.randn(4, 3, F64),
      la.randn(4, 4, F64))
  end)

  it("take a state without a batch", function()
    local cell = nn.LSTMCell(3, 4)
    local h, c = cell(la.randn(3))
    assert.are.same({4}, {table.unpack(h.shape)})
    assert.are.same({4}, {table.unpack(c.shape)})
  end)

  it("that have no choice of nonlinearities take none", function()
    for _, name in ipairs{"LSTM", "GRU", "LSTMCell", "GRUCell"} do
      raises("unknown option 'nonlinearity'", nn[name], 3, 4,
        {nonlinearity = "relu"})
    end
    assert.truthy(nn.RNNCell(3, 4, {nonlinearity = "relu"}))
  end)
end)
