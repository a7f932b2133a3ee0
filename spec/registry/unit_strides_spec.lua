-- Strides of dims of size 1 may be anything: every call of the golden records
-- has the same values when they are far beyond the storage.
local la = require "lunarray"
local modules = require "spec.support.modules"
local records = require "spec.support.records"

-- Calls that tell or take strides, or whose results hold nothing.
local STRIDES = {as_strided = true, as_strided_ = true, stride = true,
  is_contiguous = true, empty_like = true, as_strided_scatter = true}

local function text(v)
  if la.is_tensor(v) then
    if v:is_complex() then v = la.view_as_real(v:resolve_conj()) end
    return table.concat(v.shape, "x") .. " " .. v.dtype .. " "
      .. tostring(v:contiguous():view(-1))
  elseif type(v) == "table" then
    local parts = {}
    for k = 1, #v do parts[k] = text(v[k]) end
    return table.concat(parts, "; ")
  end
  return tostring(v)
end

local function outcome(r, stride)
  records.unit_stride = stride
  local ok, fn, args, keywords = pcall(records.call_of, r)
  records.unit_stride = nil
  if not ok then return nil end
  la.manual_seed(1)
  if keywords then
    args.n = args.n + 1
    args[args.n] = keywords
  end
  local results = table.pack(pcall(fn, table.unpack(args, 1, args.n)))
  if not results[1] then return "raises" end
  local parts = {}
  for k = 2, results.n do parts[k - 1] = text(results[k]) end
  return table.concat(parts, "; ")
end

describe("strides of dims of size 1", function()
  it("change no value", function()
    local faults, count = {}, 0
    for _, path in ipairs(modules.golden()) do
      for r in records.each(path) do
        if r.args and not r.expect.error and not STRIDES[r.op] then
          local want = outcome(r)
          if want and want ~= "raises" then
            local got = outcome(r, 3)
            count = count + 1
            if got ~= want then
              faults[#faults + 1] = ("%s %s: %s, not %s"):format(r.op, r.id,
                got, want)
            end
          end
        end
      end
    end
    assert.equal("", table.concat(faults, "\n", 1, math.min(#faults, 20)))
    assert.is_true(count > 2000, "calls: " .. count)
  end)

  it("change no image, kernel or gradient of convolutions", function()
    la.manual_seed(1)
    for _, name in ipairs {"conv2d", "conv_transpose2d"} do
      for _, sizes in ipairs {{1, 8}, {8, 1}, {1, 1}, {3, 1}} do
        for _, taps in ipairs {{1, 1}, {3, 1}, {1, 3}} do
          local x = la.rand(2, 3, sizes[1], sizes[2], {dtype = "float64"})
          local w = la.rand(3, 3, taps[1], taps[2], {dtype = "float64"})
          local o = {padding = {taps[1] // 2, taps[2] // 2}}
          for _, stride in ipairs {1, 5, 64} do
            local strides = {x:stride(1), x:stride(2), x:stride(3), x:stride(4)}
            for d = 1, 4 do
              if x:size(d) == 1 then strides[d] = stride end
            end
            local odd = x:as_strided(x.shape, strides)
            local function run(a)
              local leaf = w:clone():requires_grad_()
              local y = la[name](a, leaf, nil, o)
              y:backward(a:expand(y.shape))
              return y:detach(), leaf.grad
            end
            local want, want_grad = run(x)
            local got, got_grad = run(odd)
            assert.is_true(la.allclose(got, want, 1e-12))
            assert.is_true(la.allclose(got_grad, want_grad, 1e-12))
          end
        end
      end
    end
  end)
end)
