-- DataLoader, DistributedSampler and random_split for every small number of
-- samples and batch size, with and without the last batch, against loops.
local la = require "lunarray"
local data = require "lunarray.data"

local function set_of(n)
  return data.TensorDataset(la.range(1, n, {dtype = "int64"}))
end

-- Batches of 1, 2, ..., n as lists.
local function batches_of(n, size, drop_last)
  local out, k = {}, 1
  while k <= n do
    local batch = {}
    for i = k, math.min(k + size - 1, n) do batch[#batch + 1] = i end
    if #batch == size or not drop_last then out[#out + 1] = batch end
    k = k + size
  end
  return out
end

local function loaded(loader)
  local out = {}
  for x in loader:batches() do out[#out + 1] = x:totable() end
  return out
end

-- f(n, size, drop_last) for all of them.
local function each(f)
  for n = 1, 9 do
    for size = 1, 10 do
      f(n, size, false)
      f(n, size, true)
    end
  end
end

describe("DataLoader", function()
  it("gives the batches of a loop, and says how many", function()
    each(function(n, size, drop_last)
      local loader = data.DataLoader(set_of(n), {batch_size = size,
        drop_last = drop_last})
      local want = batches_of(n, size, drop_last)
      local what = ("%d by %d, %s"):format(n, size, drop_last)
      assert.same(want, loaded(loader), what)
      assert.same(want, loaded(loader), what .. ", again")
      assert.equal(#want, #loader, what)
    end)
  end)

  it("gives the same batches of a shuffled order", function()
    each(function(n, size, drop_last)
      local loader = data.DataLoader(set_of(n), {batch_size = size,
        drop_last = drop_last, shuffle = true, generator = la.Generator(n)})
      local order = la.randperm(n, {generator = la.Generator(n)}):totable()
      local want = batches_of(n, size, drop_last)
      for _, batch in ipairs(want) do
        for k, i in ipairs(batch) do batch[k] = order[i] end
      end
      assert.same(want, loaded(loader))
    end)
  end)

  it("takes samples, collates them and follows a sampler", function()
    each(function(n, size, drop_last)
      local plain = setmetatable({get = function(_, k) return k, k * k end},
        {__len = function() return n end})
      local seen = {}
      local loader = data.DataLoader(plain, {batch_size = size,
        drop_last = drop_last, collate = function(samples)
          local out = {}
          for k, s in ipairs(samples) do
            assert.equal(s[1] * s[1], s[2])
            out[k] = s[1]
          end
          return out
        end})
      for list in loader:batches() do seen[#seen + 1] = list end
      assert.same(batches_of(n, size, drop_last), seen)
      local backwards = data.DataLoader(set_of(n), {batch_size = size,
        drop_last = drop_last, sampler = setmetatable({
          indices = function() return la.range(n, 1, -1, {dtype = "int64"}) end
        }, {__len = function() return n end})})
      local want = batches_of(n, size, drop_last)
      for _, batch in ipairs(want) do
        for k, i in ipairs(batch) do batch[k] = n + 1 - i end
      end
      assert.same(want, loaded(backwards))
      assert.equal(#want, #backwards)
    end)
  end)
end)

describe("DistributedSampler", function()
  -- Samples of all ranks, each in its order.
  local function distributed(n, ranks, drop_last)
    local lists = {}
    for rank = 1, ranks do
      lists[rank] = data.DistributedSampler(set_of(n), {rank = rank,
        size = ranks, shuffle = false, drop_last = drop_last})
    end
    return lists
  end

  it("distributes an order, begun anew or cut", function()
    for n = 1, 9 do
      for ranks = 1, 4 do
        for _, drop_last in ipairs {false, true} do
          local each_has = drop_last and n // ranks or (n + ranks - 1) // ranks
          for rank, sampler in ipairs(distributed(n, ranks, drop_last)) do
            local want = {}
            for k = 1, each_has do
              want[k] = ((k - 1) * ranks + rank - 1) % n + 1
            end
            assert.equal(each_has, #sampler)
            if each_has > 0 then
              assert.same(want, sampler:indices():totable())
            end
          end
        end
      end
    end
  end)

  it("cuts each batch, and weighs the parts", function()
    for n = 1, 9 do
      for ranks = 1, 3 do
        for size = ranks, 7 do
          for _, drop_last in ipairs {false, true} do
            local all, weights, count = {}, {}, nil
            for rank = 1, ranks do
              local s = data.DistributedSampler(set_of(n), {rank = rank,
                size = ranks, shuffle = false, batch_size = size,
                drop_last = drop_last})
              local k = 0
              for index in s:batches() do
                k = k + 1
                all[k], weights[k] = all[k] or {}, (weights[k] or 0)
                  + s:weight()
                for _, i in ipairs(index:totable()) do
                  table.insert(all[k], i)
                end
              end
              assert.equal(#s, k)
              count = count or k
              assert.equal(count, k)
            end
            local want = {}
            for _, batch in ipairs(batches_of(n, size, drop_last)) do
              if #batch >= ranks then want[#want + 1] = batch end
            end
            assert.same(want, all)
            for _, w in ipairs(weights) do
              assert.is_true(math.abs(w - ranks) < 1e-12)
            end
          end
        end
      end
    end
  end)
end)

describe("random_split", function()
  it("gives every sample once, in the lengths asked for", function()
    for n = 1, 9 do
      for first = 0, n do
        for _, lengths in ipairs {{first, n - first},
                                  {first / n, 1 - first / n}} do
          local a, b = data.random_split(set_of(n), lengths)
          local seen = {}
          for _, part in ipairs {a, b} do
            for k = 1, #part do seen[#seen + 1] = part:get(k):item() end
          end
          assert.equal(n, #a + #b)
          if math.type(lengths[1]) == "integer" then
            assert.equal(first, #a)
          end
          table.sort(seen)
          for k = 1, n do assert.equal(k, seen[k]) end
        end
      end
    end
  end)
end)
