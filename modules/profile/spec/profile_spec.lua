-- la.profile: what operations take, by operation and by line.
local la = require "lunarray"
local json = require "dkjson"

local function line_here() return debug.getinfo(2, "l").currentline end

-- The entries of a list with these fields.
local function rows_with(list, fields)
  local found = {}
  for _, row in ipairs(list) do
    local same = true
    for key, value in pairs(fields) do
      if key == "line" then
        same = same and row.line:match(":(%d+)$") == tostring(value)
          and row.line:find("profile_spec.lua", 1, true)
      else
        same = same and row[key] == value
      end
    end
    if same then found[#found + 1] = row end
  end
  return found
end

local function the_row(list, fields)
  local found = rows_with(list, fields)
  assert.equal(1, #found)
  return found[1]
end

describe("a profile", function()
  it("counts calls by operation and line, and passes results on", function()
    local a, first, second = la.ones(10), nil, nil
    local p, x, y, z = la.profile(function(n, ...)
      for _ = 1, n do local _ = a + 1 end first = line_here()
      local _ = a + 2; a:mul_(1) second = line_here()
      return n, ...
    end, 5, nil, "z")
    assert.same({5, nil, "z"}, {x, y, z})
    assert.equal(5, the_row(p.rows, {op = "add", line = first}).count)
    assert.equal(1, the_row(p.rows, {op = "add", line = second}).count)
    assert.equal(6, the_row(p:by_op(), {op = "add"}).count)
    assert.equal(1, the_row(p:by_op(), {op = "mul"}).count)
    assert.equal(2, the_row(p:by_line(), {line = second}).count)
    local sum = 0
    for _, row in ipairs(p.rows) do
      assert.equal("operation", row.kind)
      assert.is_true(row.self >= 0 and row.self <= row.total)
      sum = sum + row.self
    end
    assert.is_true(math.abs(sum - p.inside) < 1e-9)
    assert.is_true(p.inside <= p.time)
  end)

  it("tells the bytes that results hold", function()
    local a, kept = la.ones(1000), {}
    local p = la.profile(function()
      for k = 1, 3 do kept[k] = a + 1 end
    end)
    local row = the_row(p.rows, {op = "add"})
    assert.is_true(row.bytes >= 12000 and row.bytes < 14000)
    assert.equal(row.bytes, row.bytes_self)
    assert.equal(3, #kept)
  end)

  it("tells a composite's own part from what is inside of it", function()
    local a = la.ones(500)
    local p = la.profile(function() return la.stack{a, a} end)
    local whole = the_row(p.rows, {op = "stack"})
    local part = the_row(p.rows, {op = "cat"})
    assert.is_true(whole.total >= whole.self + part.total)
    assert.is_true(whole.bytes >= 4000 and part.bytes_self >= 4000)
    assert.is_true(whole.bytes_self < 4000)
    assert.equal(whole.line, part.line)
    -- The line has each nanosecond once.
    local line = p:by_line()[1]
    assert.is_true(line.self <= whole.total + 1e-9)
  end)

  it("shows derivatives with the line of their operation", function()
    local w = la.ones(20, {requires_grad = true})
    local forward, backward
    local p = la.profile(function()
      local y = w:exp() forward = line_here()
      local loss = y:sum()
      loss:backward() backward = line_here()
    end)
    local node = the_row(p.rows, {op = "ExpBackward"})
    assert.equal("gradient", node.kind)
    assert.is_truthy(rows_with({node}, {line = forward})[1])
    assert.equal(1, #rows_with(p.rows, {op = "mul", line = forward}))
    assert.equal(0, #rows_with(p.rows, {op = "ExpBackward", line = backward}))
    assert.equal(1, #rows_with(p.rows, {op = "AccumulateGrad"}))
  end)

  it("shows derivatives of what was recorded before, where backward is",
    function()
      local w = la.ones(3, {requires_grad = true})
      local loss, here = w:exp():sum(), nil
      local p = la.profile(function()
        loss:backward() here = line_here()
      end)
      the_row(p.rows, {op = "ExpBackward", line = here})
    end)

  it("shows functions with a derivative of their own", function()
    local twice = la.Function{
      forward = function(_, x) return x * 2 end,
      backward = function(_, g) return g * 2 end,
    }
    local w, here = la.ones(3, {requires_grad = true}), nil
    local p = la.profile(function()
      local y = twice(w) here = line_here()
      y:sum():backward()
    end)
    local found = rows_with(p.rows, {kind = "gradient", line = here})
    assert.equal(1, #found)
    assert.same({2, 2, 2}, w.grad:totable())
  end)

  it("shows a fused chain as one", function()
    local f = la.fuse(function(a, b) return (a * 2 + b):tanh() end)
    local a, here = la.ones(5000), nil
    f(a, a)                             -- records
    local p = la.profile(function()
      for _ = 1, 4 do local _ = f(a, a) end here = line_here()
    end)
    local row = the_row(p.rows, {op = "fused chain"})
    assert.same({"fused", 4}, {row.kind, row.count})
    assert.is_truthy(rows_with({row}, {line = here})[1])
    assert.is_true(row.bytes >= 4 * 5000 * 4)
  end)

  it("names the script's line, not one of the library's modules", function()
    local nn = require "lunarray.nn"
    local net, x, here = nn.Sequential(nn.Linear(4, 3), nn.ReLU()),
      la.ones(2, 4), nil
    local p = la.profile(function()
      local _ = net(x) here = line_here()
    end)
    assert.equal(#p.rows, #rows_with(p.rows, {line = here}))
  end)

  it("takes other files in folders of that name for scripts", function()
    local call = "local a = ... return a + 1"
    for _, path in ipairs {"nn.txt", "nn_mine.lua", ("a"):rep(300) .. ".lua",
                           "nn.lua/x", "nn"} do
      local f = assert(load(call, "@/x/lunarray/" .. path))
      local p = la.profile(f, la.ones(2))
      assert.equal(":1", (p.rows[1].line or ""):match ":%d+$", path)
    end
    local p = la.profile(assert(load(call, "@/x/lunarray/nn.lua")), la.ones(2))
    assert.is_nil(p.rows[1].line and p.rows[1].line:find "lunarray/nn")
  end)

  it("knows the lines of coroutines", function()
    local a, first, second = la.ones(3), nil, nil
    local p = la.profile(function()
      local next = coroutine.wrap(function()
        local _ = a + 1 first = line_here()
        coroutine.yield()
        _ = a + 2 second = line_here()
      end)
      next()
      next()
    end)
    the_row(p.rows, {op = "add", line = first})
    the_row(p.rows, {op = "add", line = second})
  end)

  it("ends with an error, which passes through", function()
    local own, a = setmetatable({}, {}), la.ones(3)
    local ok, value = pcall(la.profile, function()
      local _ = a + 1
      error(own)
    end)
    assert.is_false(ok)
    assert.equal(own, value)
    local traceback
    xpcall(la.profile, function() traceback = debug.traceback() end,
      function() local _ = a + la.ones(2) end)
    assert.is_truthy(traceback:find("profile_spec.lua", 1, true))
    local p = la.profile(function() local _ = a + 1 end)
    assert.equal(1, p.rows[1].count)
  end)

  it("counts a call that failed", function()
    local p = la.profile(function()
      pcall(function() return la.ones(2) + la.ones(3) end)
    end)
    assert.equal(1, the_row(p.rows, {op = "add"}).count)
  end)

  it("records inside of another, in both", function()
    local a, inner = la.ones(3), nil
    local outer = la.profile(function()
      local _ = a + 1
      inner = la.profile(function() local _ = a * 2 end)
      _ = a - 1
    end)
    assert.equal(1, #inner.rows)
    assert.equal(1, the_row(inner.rows, {op = "mul"}).count)
    assert.same({1, 1, 1}, {the_row(outer.rows, {op = "add"}).count,
      the_row(outer.rows, {op = "mul"}).count,
      the_row(outer.rows, {op = "sub"}).count})
    outer = nil
    collectgarbage()
    assert.is_truthy(tostring(inner):find("mul", 1, true))
  end)

  it("records inside of a derivative", function()
    local inner
    local f = la.Function{
      forward = function(_, x) return x * 2 end,
      backward = function(_, g)
        local r
        inner, r = la.profile(function() return g * 2 end)
        return r
      end,
    }
    local w = la.ones(3, {requires_grad = true})
    local p = la.profile(function() f(w):sum():backward() end)
    assert.equal(1, the_row(inner.rows, {op = "mul"}).count)
    assert.equal(2, the_row(p:by_op(), {op = "mul"}).count)
  end)

  it("is of one state: what others compute is not in it", function()
    local p = la.profile(function()
      la.parallel.map(function(k)
        return require "lunarray".ones(k):exp():sum():item()
      end, {1, 2, 3}, {threads = 2})
    end)
    assert.equal(0, #rows_with(p.rows, {op = "exp"}))
  end)

  it("works with tidy, in lockstep, and from a callable", function()
    local a, before = la.ones(3), la.are_deterministic_algorithms_enabled()
    local object = setmetatable({}, {__call = function(_, x) return x + 1 end})
    local p, b = la.profile(object, a)
    assert.same({2, 2, 2}, b:totable())
    assert.equal(1, the_row(p.rows, {op = "add"}).count)
    p = la.tidy(function()
      return (la.profile(function() local _ = a + 1 end))
    end)
    assert.equal(1, the_row(p.rows, {op = "add"}).count)
    if pcall(la.use_deterministic, "lockstep") then
      p = la.profile(function() local _ = a + 1 end)
      la.use_deterministic(before)
      assert.equal(1, the_row(p.rows, {op = "add"}).count)
    end
  end)

  it("has thousands of lines", function()
    local a, text = la.ones(2), {"local a = ...\n"}
    for k = 1, 3000 do text[k + 1] = "a:neg()\n" end
    local p = la.profile(load(table.concat(text), "=lines"), a)
    assert.equal(3000, #p.rows)
    assert.equal(3000, the_row(p:by_op(), {op = "neg"}).count)
  end)

  it("prints two tables", function()
    local a = la.ones(100)
    local p = la.profile(function()
      local _ = (a + 1) * 2 + a:exp()
    end)
    local text = tostring(p)
    assert.is_truthy(text:find("^operation +calls +self +%% +total +memory\n"))
    assert.is_truthy(text:find("\nline +calls"))
    assert.is_truthy(text:find("%(%d+ %%%) in operations$"))
    assert.is_truthy(p:table(1):find("... 2 more", 1, true))
    assert.is_true(#tostring((la.profile(function() end))) > 0)
    assert.has_error(function() p:table(0) end,
      "table: a number of rows expected")
  end)

  it("writes trace events", function()
    local a, path = la.ones(1000), os.tmpname()
    local p = la.profile(load("local la, a = ... \n"
      .. "return la.stack{a, a}",
      "=a \"line\"\\"), la, a)
    assert.equal(path, p:save(path))
    local file = assert(io.open(path))
    local trace = assert(json.decode(file:read "a"))
    file:close()
    os.remove(path)
    local names, spans = {}, 0
    for _, event in ipairs(trace.traceEvents) do
      if event.ph == "X" and event.cat ~= "profile" then
        names[event.name], spans = event, spans + 1
      end
    end
    assert.equal(p.events, spans)
    local outer, inner = names.stack, names.cat
    assert.equal('a "line"\\:2', inner.args.line)
    assert.is_true(inner.ts >= outer.ts - 0.001
      and inner.ts + inner.dur <= outer.ts + outer.dur + 0.001)
    assert.is_true(outer.args.bytes >= 8000)
  end)

  it("refuses what it can't do", function()
    assert.has_error(function() la.profile() end,
      "bad argument #1 to 'profile' (function expected, got no value)")
    assert.has_error(function() la.profile(3) end,
      "bad argument #1 to 'profile' (function expected, got number)")
    local p = la.profile(function() end)
    assert.has_error(function() p:save(3) end)
    assert.has_error(function() p:save("/no/such/folder/trace.json") end)
    local co = coroutine.create(function()
      la.profile(function() coroutine.yield() end)
    end)
    local ok, text = coroutine.resume(co)
    assert.is_false(ok)
    assert.is_truthy(text:find("yield across a C-call boundary", 1, true))
    assert.equal(0, #la.profile(function() end).rows)
  end)
end)
