-- Indexing with brackets, and the operations that go by positions.
local la = require "lunarray"

local function list(t) return t:totable() end

-- f must raise an error that contains every text, and leave 'x' as it was.
local function refused(f, ...)
  local ok, message = pcall(f)
  assert.is_false(ok)
  for _, text in ipairs { ... } do
    assert.truthy(message:find(text, 1, true),
                  ("'%s' lacks '%s'"):format(message, text))
  end
end

local function grid() return la.arange(12):view(3, 4) end

describe("reading", function()
  it("selects with integers, from either end", function()
    local x = grid()
    assert.same({4, 5, 6, 7}, list(x[2]))
    assert.same({8, 9, 10, 11}, list(x[-1]))
    assert.equal(6, x[{2, 3}]:item())
    assert.equal(6, x(2, 3):item())
    assert.equal(6, x:item(2, 3))
    assert.equal(11, x:item(-1, -1))
    assert.equal(0, x[1][1].ndim)
  end)

  it("reads long keys, and keys that answer by metamethods", function()
    local sizes, key = {}, {}
    for d = 1, 60 do
      sizes[d] = 1
      key[d] = d % 2 == 0 and 1 or {1, 1}
    end
    local x = la.ones(sizes)
    assert.equal(30, x[key].ndim)
    assert.equal(30, x(table.unpack(key)).ndim)
    local range = setmetatable({}, {__len = function() return 2 end,
      __index = function(_, i) return ({2, 3})[i] end})
    assert.same({{4, 5, 6, 7}, {8, 9, 10, 11}}, list(grid()[{range}]))
    local keys = setmetatable({}, {__len = function() return 1 end,
      __index = function() return range end})
    assert.same({{4, 5, 6, 7}, {8, 9, 10, 11}}, list(grid()[keys]))
    refused(function() return grid()[{{1, "a"}}] end, "last",
            "number expected, got string")
  end)

  it("takes ranges, both ends included and cut to the size", function()
    local x = la.arange(5)
    assert.same({1, 2}, list(x[{{2, 3}}]))
    assert.same({0, 2, 4}, list(x[{{1, -1, 2}}]))
    assert.same({3, 4}, list(x[{{4, 99}}]))
    assert.same({0, 1}, list(x[{{-99, 2}}]))
    assert.same({}, list(x[{{1, 0}}]))
    assert.same({}, list(x[{{4, 3}}]))
    assert.same({2, 3, 4}, list(x[{{3, nil, 1}}]))
    assert.same({0, 1, 2}, list(x[{{nil, 3}}]))
    assert.same({0, 1, 2, 3, 4}, list(x[{{}}]))
  end)

  it("reverses with a negative step, as a copy", function()
    local x = la.arange(6)
    assert.same({5, 4, 3, 2, 1, 0}, list(x[{{nil, nil, -1}}]))
    assert.same({4, 2, 0}, list(x[{{5, 1, -2}}]))
    assert.same({3, 2}, list(x[{{4, 3, -1}}]))
    assert.same({}, list(x[{{1, 2, -1}}]))
    x[{{nil, nil, -1}}]:fill_(9)
    assert.same({0, 1, 2, 3, 4, 5}, list(x))
  end)

  it("adds axes and fills with an ellipsis", function()
    local x = la.zeros(2, 3, 4)
    assert.same({1, 2, 3, 4}, {table.unpack(x[{la.newaxis}].shape)})
    assert.same({2, 3}, {table.unpack(x[{"...", 1}].shape)})
    assert.same({2, 1, 3, 4},
                {table.unpack(x[{{}, la.newaxis, "..."}].shape)})
    assert.same({2, 3, 4}, {table.unpack(x["..."].shape)})
    assert.same({3, 4}, {table.unpack(x[{1, la.ellipsis}].shape)})
  end)

  it("makes views of integers and ranges", function()
    local x = grid()
    x[2]:fill_(0)
    x[{{}, {1, 2}}]:fill_(-1)
    assert.same({{-1, -1, 2, 3}, {-1, -1, 0, 0}, {-1, -1, 10, 11}}, list(x))
  end)

  it("goes through index tensors, broadcast together", function()
    local x = grid()
    assert.same({{8, 9, 10, 11}, {0, 1, 2, 3}}, list(x[la.tensor {3, 1}]))
    assert.same({9, 2}, list(x[{la.tensor {3, 1}, la.tensor {2, 3}}]))
    assert.same({{1, 3}, {9, 11}},
                list(x[{la.tensor {{1}, {3}}, la.tensor {2, -1}}]))
    assert.same({{1}, {5}, {9}}, list(x[{{}, la.tensor {2}}]))
  end)

  it("puts the index dims in place when neighbours, in front otherwise",
     function()
    local x, i = la.zeros(2, 3, 4, 5), la.tensor {{1, 2, 1}}
    assert.same({2, 1, 3, 5}, {table.unpack(x[{{}, i, i}].shape)})
    assert.same({1, 3, 2, 4}, {table.unpack(x[{{}, i, {}, i}].shape)})
    assert.same({1, 3, 3, 4}, {table.unpack(x[{i, {}, {}, 1}].shape)})
  end)

  it("takes masks", function()
    local x = grid()
    assert.same({8, 9, 10, 11}, list(x[x:gt(7)]))
    assert.same({{0, 1, 2, 3}, {8, 9, 10, 11}},
                list(x[la.tensor {true, false, true}]))
    assert.same({0, 8}, list(x[{la.tensor {true, false, true}, 1}]))
    assert.same({1, 3, 4}, {table.unpack(x[la.tensor(true)].shape)})
    assert.same({0, 3, 4}, {table.unpack(x[la.tensor(false)].shape)})
  end)

  it("selects with a 0-dim integer tensor", function()
    assert.same({4, 5, 6, 7}, list(grid()[la.tensor(2)]))
    assert.equal(1, grid()[la.tensor(2)].ndim)
  end)

  it("takes more index tensors than a kernel does", function()
    local sizes = {2, 2, 2, 2, 2, 2, 2, 2}
    local x = la.arange(256):view(sizes)
    local keys = {}
    for d = 1, 8 do keys[d] = la.tensor {1, 2, -1} end
    assert.same({0, 255, 255}, list(x[keys]))
    x[keys] = la.tensor {7, 8, 9}
    assert.equal(7, x:flatten():item(1))
    assert.equal(9, x:flatten():item(256))
  end)
end)

describe("a bad key", function()
  local x = grid()

  it("names position and range", function()
    refused(function() return x[0] end, "indices start at 1", "dimension 1")
    refused(function() return x[4] end, "index 4", "1 to 3 or -3 to -1")
    refused(function() return x[-4] end, "index -4")
    refused(function() return x[{1, 5}] end, "dimension", "1 to 4")
    refused(function() return x[math.mininteger] end, "out of bounds")
    refused(function() return x[math.maxinteger] end, "out of bounds")
    refused(function() return x[{{0, 2}}] end, "indices start at 1")
    refused(function() return x[la.tensor {1, 0}] end, "indices start at 1",
            "element 2")
    refused(function() return x[la.tensor {1, 4}] end, "index 4", "element 2",
            "1 to 3")
    refused(function() return x[{{}, la.tensor {-5}}] end, "index -5",
            "dimension 2")
  end)

  it("explains what it could mean", function()
    refused(function() return x[{{2}}] end, "one position 2", "{2, -1}")
    refused(function() return x[{{1, 2, 3, 4}}] end, "la.tensor")
    refused(function() return x[{{1, 3, 0}}] end, "step cannot be zero")
    refused(function() return x[{1, 2, 3}] end, "too many indices")
    refused(function() return x[{"...", "..."}] end, "single ellipsis")
    refused(function() return x[{"a"}] end, "expected at position 1")
    refused(function() return x[1.5] end, "no integer representation")
    refused(function() return x[{1, 0 / 0}] end, "no integer representation")
    refused(function() return x[true] end, "got boolean")
    refused(function() return la.tensor(1)[1] end, "0-dim")
    refused(function() return x:item() end, "12 elements")
    refused(function() return x:item(1) end, "2 indices expected")
    refused(function() return x:item(1, 0) end, "indices start at 1")
  end)

  it("has indices of the right dtype and shape", function()
    refused(function() return x[la.tensor {1.0}] end, "int64")
    refused(function() return x[la.tensor({1}, {dtype = "uint8"})] end, "bool")
    refused(function() return x[la.tensor {true}] end, "shape of the mask")
    refused(function()
      return x[{la.tensor {1, 2}, la.tensor {1, 2, 3}}]
    end, "shape mismatch", "[2], [3]")
  end)

  it("may raise or free from metamethods", function()
    local bad = setmetatable({}, {__index = function() error "from key" end,
                                  __len = function() return 1 end})
    refused(function() return x[bad] end, "from key")
    local y = grid()
    local frees = setmetatable({}, {__len = function() return 1 end,
      __index = function() y:free() return 1 end})
    refused(function() return y[frees] end, "freed")
  end)
end)

describe("writing", function()
  it("takes numbers and broadcastable tensors", function()
    local x = la.zeros(2, 3)
    x[1] = 5
    x[{{}, 3}] = la.tensor {7.0, 8.0}
    x[{2, {1, 2}}] = la.tensor {{1.0, 2.0}}
    assert.same({{5, 5, 7}, {1, 2, 8}}, list(x))
    x["..."] = 0
    assert.same({{0, 0, 0}, {0, 0, 0}}, list(x))
  end)

  -- The value is read before anything is written, though it lies in what is
  -- written: broadcast it meets elements of itself.
  it("takes a broadcast part of the tensor that is written", function()
    local x = la.arange(6.0):view(2, 3)
    x[1] = x[{{1, 1}, 3}]
    assert.same({{2, 2, 2}, {3, 4, 5}}, list(x))
    x = la.arange(6.0):view(2, 3)
    x["..."] = x[{1}]
    assert.same({{0, 1, 2}, {0, 1, 2}}, list(x))
    x = la.arange(4.0):view(2, 2)
    x["..."] = x[{{}, {2, 2}}]
    assert.same({{1, 1}, {3, 3}}, list(x))
  end)

  it("writes single elements of a list", function()
    for _, dtype in ipairs {"uint8", "int64", "float16", "float32", "float64",
                            "complex64"} do
      local base = la.zeros(6, {dtype = dtype})
      local x = base:slice(1, 2, nil, 2)        -- positions 2, 4 and 6
      local version = x._version
      x[1], x[-1] = 7, 9
      assert.equal(version + 2, x._version)
      assert.is_true(base == la.tensor({0, 7, 0, 0, 0, 9}):to(dtype))
      for _, i in ipairs {0, 4, -4, math.mininteger, math.maxinteger} do
        refused(function() x[i] = 1 end, "index", "dimension 1 with size 3")
      end
      refused(function() x[1] = "1" end, "number or tensor expected")
      assert.is_true(base == la.tensor({0, 7, 0, 0, 0, 9}):to(dtype))
    end
    local x = la.zeros(2, {dtype = "uint8"})
    refused(function() x[1] = 300 end, "uint8")
    refused(function() x[1] = -1 end, "uint8")
    assert.same({0, 0}, list(x))
    local flags = la.zeros(2):bool()
    flags[2] = 3
    assert.same({false, true}, list(flags))
    local z = la.complex(la.tensor {1.0, 2.0}, la.tensor {3.0, 4.0})
    z:conj()[1] = la.complex(5.0, 6.0)
    assert.same({{5, -6}, {2, 4}}, list(z))
    z.imag[2] = 8
    assert.same({{5, -6}, {2, 8}}, list(z))
    local w = la.ones(2, {requires_grad = true})
    refused(function() w[1] = 2 end, "leaf")
    local y = w * 2
    y[1] = 5
    y:sum():backward()
    assert.same({0, 2}, list(w.grad))
    y:free()
    refused(function() y[1] = 2 end, "freed")
  end)

  it("writes backwards through a negative step", function()
    local x = la.zeros(4)
    x[{{4, 1, -1}}] = la.tensor {1.0, 2.0, 3.0, 4.0}
    assert.same({4, 3, 2, 1}, list(x))
    local y = la.zeros(2, 4)
    y[{la.tensor {2}, {4, 1, -3}}] = la.tensor {{1.0, 2.0}}
    assert.same({{0, 0, 0, 0}, {2, 0, 0, 1}}, list(y))
  end)

  it("converts through slices, not through index tensors", function()
    local x = la.zeros(3)
    x[{{1, 2}}] = la.tensor {1, 2}
    assert.same({1, 2, 0}, list(x))
    refused(function() x[la.tensor {1}] = la.tensor {1} end,
            "dtypes match", "Float", "Long")
    x[la.tensor {3}] = 9
    assert.same({1, 2, 9}, list(x))
  end)

  it("keeps the last of several values for one index", function()
    local x = la.zeros(3)
    x[la.tensor {2, 2, 2}] = la.tensor {1.0, 2.0, 3.0}
    assert.same({0, 3, 0}, list(x))
    assert.same({0, 6, 0}, list(la.zeros(3):index_put({la.tensor {2, 2, 2}},
      la.tensor {1.0, 2.0, 3.0}, true)))
  end)

  it("goes through masks", function()
    local x = grid()
    x[x:gt(9)] = -1
    x[x:lt(2):logical_and(x:ge(0))] = la.tensor {100, 200}
    assert.same({{100, 200, 2, 3}, {4, 5, 6, 7}, {8, 9, -1, -1}}, list(x))
  end)

  it("changes nothing when an index is wrong", function()
    local x, version = la.zeros(3), nil
    version = x._version
    refused(function()
      x[la.tensor {1, 2, 4}] = la.tensor {1.0, 2.0, 3.0}
    end, "index 4")
    refused(function() x:scatter_(1, la.tensor {1, 0}, 5) end, "start at 1")
    refused(function()
      x:index_add_(1, la.tensor {1, -4}, la.ones(2))
    end, "index -4")
    refused(function() x:put_(la.tensor {1, 9}, la.ones(2)) end, "index 9")
    refused(function() x[{{1, 2}}] = la.ones(3) end, "size")
    refused(function() x[1] = "1" end, "number or tensor")
    assert.same({0, 0, 0}, list(x))
    assert.equal(version, x._version)
  end)

  it("checks that a number fits", function()
    local x = la.zeros(2, {dtype = "uint8"})
    refused(function() x[1] = 300 end, "300")
    refused(function() x[la.tensor {1}] = 300 end, "300")
    assert.same({0, 0}, list(x))
  end)

  it("refuses indices that share memory with what is written", function()
    local x = la.tensor {3, 2, 1}
    refused(function() x:scatter_(1, x, 0) end, "single memory location")
    assert.same({3, 2, 1}, list(x))
  end)
end)

describe("positions", function()
  it("that are none may have any dtype, in gradients too", function()
    local none = la.zeros({0}, {dtype = "uint8"})
    local x = la.rand(3):requires_grad_()
    x:gather(1, none):sum():backward()
    assert.same({0, 0, 0}, list(x.grad))
    assert.is_true(la.equal(x, x:scatter(1, none, la.zeros(0))))
    assert.is_true(la.equal(x, x:scatter_add(1, none, la.zeros(0))))
  end)
  local x = la.tensor {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}

  it("gather and scatter", function()
    assert.same({{1, 1}, {6, 5}},
                list(x:gather(2, la.tensor {{1, 1}, {-1, 2}})))
    assert.same({{0, 0, 9}, {9, 0, 0}},
                list(la.zeros(2, 3):scatter(2, la.tensor {{3}, {1}}, 9)))
    assert.same({{4, 0, 2}}, list(la.zeros(1, 3):scatter_add(2,
      la.tensor {{1, 3, 1}}, la.tensor {{1.0, 2.0, 3.0}})))
    assert.same({2, 7}, list(la.tensor {8.0, 7.0}:scatter_reduce(1,
      la.tensor {1, 1}, la.tensor {3.0, 1.0}, "mean",
      {include_self = false})))
    refused(function() return x:gather(2, la.tensor {{4}}) end, "index 4",
            "dimension 2", "1 to 3")
    refused(function() return x:gather(2, la.tensor {{0}}) end, "start at 1")
  end)

  it("lists of slices", function()
    assert.same({{3, 1}, {6, 4}},
                list(x:index_select(2, la.tensor {3, 1})))
    assert.same({{0, 8, 0}}, list(la.zeros(1, 3):index_add(2,
      la.tensor {2, 2}, la.tensor {{1.0, 3.0}}, {alpha = 2})))
    assert.same({6, 1}, list(x:take(la.tensor {-1, 1})))
    assert.same({{4, 5, 6}}, list(x:take(la.tensor {2}, 1)))
    assert.same({5, 0, 5}, list(la.zeros(3):index_fill(1,
      la.tensor {1, 3}, 5)))
  end)

  it("masks", function()
    local m = la.tensor {{true, false, true}, {false, true, false}}
    assert.same({1, 3, 5}, list(x:masked_select(m)))
    assert.same({{1, 1}, {1, 3}, {2, 2}}, list(m:nonzero()))
    assert.same({1, 1, 2}, list(la.where(m)[1]))
    assert.same({1, 3, 2}, list(m:nonzero {as_tuple = true}[2]))
    local whole = m:nonzero {as_tuple = false}
    assert.same({{1, 1}, {1, 3}, {2, 2}}, list(whole))
    assert.same({{7, 0, 8}, {0, 9, 0}}, list(la.zeros(2, 3):masked_scatter(m,
      la.tensor {7.0, 8.0, 9.0, 10.0})))
  end)

  it("embedding, one_hot, cross", function()
    local w = la.arange(6):view(3, 2)
    assert.same({{{4, 5}, {0, 1}}}, list(la.embedding(la.tensor {{3, 1}}, w)))
    refused(function() return la.embedding(la.tensor {0}, w) end,
            "start at 1")
    assert.same({{0, 0, 1}, {1, 0, 0}}, list(la.one_hot(la.tensor {3, 1})))
    refused(function() return la.one_hot(la.tensor {0}) end, "from 1")
    assert.same({0, 0, 1}, list(la.cross(la.tensor {1, 0, 0},
                                         la.tensor {0, 1, 0})))
    assert.same({{1, 2}, {6, 8}}, list(la.embedding_bag(la.tensor {2, 2, 3, 3},
      w:float(), la.tensor {1, 3}, "mean") * la.tensor {{.5, 2 / 3},
                                                        {1.5, 1.6}}))
  end)

  it("ravel_multi_index", function()
    local i, j = la.tensor {1, -1}, la.tensor {2, 3}
    assert.same({2, 6}, list(la.ravel_multi_index({i, j}, {2, 3})))
    refused(function() la.ravel_multi_index({i, j}, {2, 2}) end, "index 3")
  end)

  it("handles empty and 0-dim tensors", function()
    local none = la.zeros(0, {dtype = "int64"})
    assert.same({}, list(x[1][none]))
    assert.same({0, 2}, {table.unpack(la.zeros(0, 3):nonzero().shape)})
    assert.equal(5, la.tensor(5):gather(1, la.tensor(1)):item())
    refused(function() return la.zeros(0):take(la.tensor {1}) end, "empty")
    assert.same({}, list(la.zeros(0):masked_select(la.zeros(0):bool())))
  end)

  it("converts one element to a number or an integer", function()
    local function is(kind, value, got)
      assert.equal(kind, math.type(got))
      assert.equal(value, got)
    end
    is("float", 2.5, la.tensor(2.5):tonumber())
    is("float", 3.0, la.tensor{3}:tonumber())
    is("float", 1.0, la.tensor(true):tonumber())
    is("float", 2.0, la.complex(la.tensor(2.), la.tensor(0.)):tonumber())
    is("integer", -2, la.tensor{{-2.0}}:tointeger())
    is("integer", 1, la.tensor(true):tointeger())
    is("integer", math.maxinteger, la.tensor(math.maxinteger):tointeger())
    is("integer", math.mininteger, la.tensor(-2.0 ^ 63):double():tointeger())
    for _, v in ipairs{2.5, 2.0 ^ 63, 0 / 0, 1 / 0} do
      assert.error_matches(function()
        la.tensor(v, {dtype = "float64"}):tointeger()
      end, "tointeger: .* is not an integer of 64 bits")
    end
    local z = la.complex(la.tensor(2.), la.tensor(1.))
    assert.error_matches(function() z:tonumber() end, "imaginary")
    assert.error_matches(function() la.ones(2):tonumber() end,
      "tonumber: a Tensor with 2 elements")
    assert.error_matches(function()
      la.ones(1, {device = "meta"}):tointeger()
    end, "tointeger: .*no data")
  end)

  it("gives the same bits at any thread count", function()
    local n, threads = 200000, la.get_num_threads()
    la.manual_seed(3)
    local i, v = la.randint(1, 1000, n), la.randn(n)
    local first
    for _, t in ipairs {1, 2, 7} do
      la.set_num_threads(t)
      local sum = la.zeros(1000):scatter_add(1, i, v)
      local y = la.zeros(1000)
      y[i] = v
      local got = la.cat {sum, y, v[i], v:gather(1, i),
                          sum:index_add(1, i, v)}
      first = first or got
      assert.is_true(first == got)
    end
    la.set_num_threads(threads)
  end)
end)

describe("keys with all kinds of items", function()
  it("are the steps one after the other", function()
    local x = la.arange(120):view(2, 3, 4, 5)
    local new, all = la.newaxis, {}
    local function same(a, b)
      assert.same(b.shape, a.shape)
      assert.same({b:stride()}, {a:stride()})
      assert.equal(b:storage_offset(), a:storage_offset())
      assert.same(list(b), list(a))
    end
    same(x[{new, 2, {2, 3}, "...", new, 1}],
         x:unsqueeze(1):select(2, 2):narrow(2, 2, 2):unsqueeze(4):select(5, 1))
    same(x[{all, 1, new, {2, 4, 2}}],
         x:select(2, 1):unsqueeze(2):slice(3, 2, 4, 2))
    same(x[{"...", new}], x:unsqueeze(-1))
    same(x[{new}], x:unsqueeze(1))
    same(x[{la.tensor(2), new, 3}], x[2]:unsqueeze(1):select(2, 3))
    local wide = la.ones(2):expand(table.unpack((function()
      local s = {}
      for d = 1, 63 do s[d] = 1 end
      s[64] = 2
      return s
    end)()))
    refused(function() return wide[{new}] end, "64 dimensions")
    assert.equal(64, wide[{1, new}].ndim)
  end)

  it("write through lists what they read", function()
    local x, i = la.zeros(3, 4, 2), la.tensor {3, 1}
    x[{i}] = 1
    x[{"...", i, 2}] = 2
    x[{{2, 3}, 4, i:sub(2):abs()}] = 3
    local want = la.zeros(3, 4, 2)
    for _, k in ipairs {1, 3} do want:select(1, k):fill_(1) end
    for _, k in ipairs {1, 3} do want:select(3, 2):select(2, k):fill_(2) end
    want:narrow(1, 2, 2):select(2, 4):select(2, 1):fill_(3)
    assert.same(list(want), list(x))
  end)
end)

describe("positions in one or two dims", function()
  -- From few elements to more than go to a loop as they lie.
  it("read and write the same however many there are", function()
    for _, n in ipairs {1, 7, 33, 340, 342, 1024, 1025, 2000} do
      local flat = la.arange(n)
      local rows = la.arange(3 * n):view(n, 3)
      local indices = la.tensor((function()
        local t = {}
        for k = 1, n do t[k] = k % 2 == 0 and -k or n - k + 1 end
        return t
      end)())
      for _, at in ipairs {indices, indices:to "int32",
                           la.stack({indices, indices}, 2):select(2, 2)} do
        local a, b, c, d = flat[at], rows[at],
                           rows:t():index_select(2, at), flat:clone()
        local out = la.index_select(rows, 1, at, {out = la.empty({0},
                                                   {dtype = "int64"})})
        d[at] = flat
        local want, back = {}, {}
        for k, p in ipairs(list(at)) do
          want[k] = flat:item(p)
          back[p < 0 and p + n + 1 or p] = flat:item(k)
          if n < 400 then
            assert.same(list(rows[p]), list(b[k]))
            assert.same(list(rows[p]), list(out[k]))
            assert.same(list(rows[p]), list(c:select(2, k)))
          end
        end
        assert.same(want, list(a))
        for p, v in pairs(back) do assert.equal(v, d:item(p)) end
      end
      refused(function() return flat[la.tensor {1, n + 1}] end,
              "index " .. n + 1 .. " (element 2) is out of bounds")
      refused(function() return rows[la.tensor {0, 1}] end,
              "index 0 (element 1) is out of bounds")
    end
  end)
end)

describe("a number as the value", function()
  it("may come from the memory that is written", function()
    local x = la.tensor{{4}, {6}, {3}}
    x[2] = x[1][1]
    assert.same({{4}, {4}, {3}}, list(x))
    local q = la.arange(4.)
    q[{{4, 1, -1}}] = q[2]
    assert.same({1, 1, 1, 1}, list(q))
    local w = la.ones(3, {requires_grad = true})
    local y = w * 2
    y[3] = y[1]
    y:sum():backward()
    assert.same({4, 2, 0}, list(w.grad))
  end)

  it("is of any dtype that fits, through one mask", function()
    local mask = la.tensor{{true, false}, {false, true}}
    local x = la.zeros(2, 2)
    x[mask] = la.tensor{-5}
    assert.same({{-5, 0}, {0, -5}}, list(x))
    refused(function() x[mask] = la.complex(la.ones(1), la.ones(1)) end,
            "dtypes match")
    refused(function() x[mask] = la.tensor{1, 2} end, "dtypes match")
    assert.same({{-5, 0}, {0, -5}}, list(x))
  end)
end)
