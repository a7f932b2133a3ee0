-- Connectionist temporal classification against the sum over all paths.
local la = require "lunarray"

local F64 = {dtype = "float64"}
local raises = require "spec.support.raises"

-- Repetitions are joined, then blanks are left out.
local function spelled(path, blank)
  local out, before = {}, nil
  for _, c in ipairs(path) do
    if c ~= before and c ~= blank then out[#out + 1] = c end
    before = c
  end
  return table.concat(out, " ")
end

local function by_paths(logs, target, blank)
  local rows, total = logs:totable(), 0
  local path, wanted = {}, table.concat(target, " ")
  local function walk(t, log)
    if t > #rows then
      if spelled(path, blank) == wanted then total = total + math.exp(log) end
      return
    end
    for c = 1, #rows[1] do
      path[t] = c
      walk(t + 1, log + rows[t][c])
    end
  end
  walk(1, 0)
  return -math.log(total)
end

describe("ctc_loss", function()
  la.manual_seed(1)
  local logs = la.randn(5, 3, 4, F64):log_softmax(3)
  local targets = {{2, 3, 4}, {3, 3}, {}}
  local padded = la.tensor{{2, 3, 4}, {3, 3, 1}, {1, 1, 1}}
  local lengths = la.tensor{3, 2, 0}

  it("is the sum over all paths", function()
    local each = la.ctc_loss(logs, padded, la.tensor{5, 5, 4}, lengths,
      {reduction = "none"})
    for n = 1, 3 do
      local frames = logs[{{1, n == 3 and 4 or 5}, n}]
      local wanted = by_paths(frames, targets[n], 1)
      assert.is_true(math.abs(each:item(n) - wanted) < 1e-12)
    end
    local flat = la.ctc_loss(logs, la.tensor{2, 3, 4, 3, 3},
      la.tensor{5, 5, 4}, lengths, {reduction = "none"})
    assert.is_true(flat == each)
    local mean = la.ctc_loss(logs, padded, la.tensor{5, 5, 4}, lengths)
    local by_hand = (each / la.tensor({3, 2, 1}, F64)):mean()
    assert.is_true(la.allclose(mean, by_hand))
    assert.is_true(la.allclose(la.ctc_loss(logs, padded, la.tensor{5, 5, 4},
      lengths, {reduction = "sum"}), each:sum()))
  end)

  it("takes another blank, and one sequence", function()
    local one = logs[{{}, 1}]
    local loss = la.ctc_loss(one, la.tensor{1, 2}, la.tensor(5), la.tensor(2),
      {blank = 4, reduction = "sum"})
    assert.are.equal(0, loss.ndim)
    assert.is_true(math.abs(loss:item() - by_paths(one, {1, 2}, 4)) < 1e-12)
  end)

  it("is infinite where no path is long enough", function()
    local x = logs[{{1, 2}}]:clone():requires_grad_()
    local two = la.tensor{2, 2, 2}
    local each = la.ctc_loss(x, padded, two, lengths, {reduction = "none"})
    assert.are.same({true, true, false}, each:isinf():totable())
    local sum = la.ctc_loss(x, padded, two, lengths, {reduction = "sum",
      zero_infinity = true})
    assert.is_true(math.abs(sum:item() - each:item(3)) < 1e-12)
    sum:backward()
    assert.is_true(x.grad:isfinite():all())
    assert.are.equal(0, x.grad[{{}, 1}]:abs():sum():item())
    assert.is_true(x.grad[{{}, 3}]:abs():sum():item() > 0)
  end)

  it("takes sequences without frames, which spell no label alone", function()
    local function check(frames, labels, want, options)
      local x = la.randn(frames, 3, 4, F64):requires_grad_()
      options.reduction = "none"
      local each = la.ctc_loss(x:log_softmax(3), la.tensor{{2, 3}, {2, 4},
        {3, 3}}, la.tensor{0, frames, 0}, la.tensor(labels), options)
      assert.equal(want[1], each:item(1))
      assert.equal(want[3], each:item(3))
      each:sum():backward()
      for _, i in ipairs {1, 3} do
        assert.equal(0, x.grad[{{}, i}]:abs():sum():item())
      end
      if frames == 0 then return end
      assert.is_true(each:item(2) > 0 and each:item(2) < math.huge)
      assert.is_true(x.grad[{{}, 2}]:abs():sum():item() > 0)
    end
    local none = math.huge
    for frames = 0, 3, 3 do
      local labels = {0, frames // 2, 2}
      check(frames, labels, {0, 0, none}, {})
      check(frames, labels, {0, 0, 0}, {zero_infinity = true})
    end
    local one = la.ctc_loss(la.randn(3, 1, 4):log_softmax(3), la.tensor{{2}},
      la.tensor{0}, la.tensor{0})
    assert.equal("0.0", tostring(one:item()))
    assert.equal(none, la.ctc_loss(la.randn(0, 4), la.tensor{2}, {0},
      {1}):item())
    assert.equal(0, la.ctc_loss(la.randn(2, 1, 4):log_softmax(3),
      la.zeros({1, 0}, {dtype = "int64"}), {0}, {0}):item())
  end)

  it("refuses a negative number of frames", function()
    raises("the number of frames", la.ctc_loss, logs, padded,
      la.tensor{-1, 5, 5}, lengths)
  end)

  it("has derivatives of any order", function()
    local x = la.randn(4, 2, 3, F64):requires_grad_()
    local function run(v)
      return la.ctc_loss(v:log_softmax(3), la.tensor{{2, 2}, {3, 1}},
        la.tensor{4, 3}, la.tensor{2, 1})
    end
    assert.is_true(la.gradcheck(run, {x}))
    assert.is_true(la.gradgradcheck(run, {x}))
  end)

  it("refuses what does not fit", function()
    local five = la.tensor{5, 5, 5}
    raises("is no label", la.ctc_loss, logs, la.tensor{{2, 3, 1}, {1, 1, 1},
      {1, 1, 1}}, five, la.tensor{3, 0, 0})
    raises("is no label", la.ctc_loss, logs, padded + 2, five, lengths)
    raises("lengths of dtype int64", la.ctc_loss, logs, padded, la.tensor{5},
      lengths)
    raises("the number of frames", la.ctc_loss, logs, padded,
      la.tensor{6, 5, 5}, lengths)
    raises("does not fit", la.ctc_loss, logs, padded, five, la.tensor{4, 1, 1})
    raises("sum up to 4", la.ctc_loss, logs, la.tensor{2, 3, 4, 3, 3}, five,
      la.tensor{2, 1, 1})
    raises("blank", la.ctc_loss, logs, padded, five, lengths, {blank = 5})
    raises("not implemented for 'Long'", la.ctc_loss, logs:long(), padded, five,
      lengths)
  end)
end)
