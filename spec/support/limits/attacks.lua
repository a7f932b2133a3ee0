-- Scripts of a hostile author, for spec/c/api/test_attacks.c: each runs in a
-- sandbox of its own with fuel and a cap, as 'la' has the library and 'x' a
-- tensor of three ones. They may end in any way, but have to end; what reaches
-- the host says so by setting ESCAPED.
local attacks = {}

-- Ways out: files, programs, modules, bytecode, the debugger, the host's own.
attacks.escapes = {
  "ESCAPED = io or debug or package and package.loadlib",
  "ESCAPED = os and (os.execute or os.exit or os.getenv or os.remove"
    .. " or os.rename or os.tmpname)",
  "ESCAPED = dofile or loadfile or collectgarbage and"
    .. " pcall(collectgarbage, 'generational') and nil",
  "local ok, f = pcall(require, 'io') ESCAPED = ok and f.open",
  "for _, n in ipairs {'os', 'io', 'debug', 'package', 'ffi', 'posix'} do"
    .. " local ok, m = pcall(require, n) if ok and n ~= 'os' then ESCAPED = n"
    .. " end end",
  "local ok = pcall(require, '/etc/passwd') ESCAPED = ok or nil",
  "local ok = pcall(require, 'lunarray_mpi') ESCAPED = ok or nil",
  "local f = load('\\27Lua' .. ('\\0'):rep(100)) ESCAPED = f",
  "local d = string.dump and string.dump(function() end) ESCAPED = d and"
    .. " load(d, 'x', 'b')",
  "local n = 0 ESCAPED = load(function() n = n + 1 return n == 1 and"
    .. " '\\27Lua' .. ('\\0'):rep(100) or nil end, 'x', 'b')",
  "local t = setmetatable({}, {__index = function(_, k) return _G[k] end})"
    .. " local f = load('return io', 'x', 't', t) ESCAPED = f and f()",
  "for k, v in pairs(la) do if type(v) == 'table' then ESCAPED = ESCAPED or"
    .. " rawget(v, 'io') or rawget(v, 'debug') or rawget(v, 'package') end end",
  "local e = select(2, pcall(error, setmetatable({}, {__index = _G})))"
    .. " ESCAPED = e.io or e.debug",
  "ESCAPED = string.format('%p', {}) ~= '(null)' and"
    .. " string.format('%p', x):find '0x' and 'an address' or nil",
  "ESCAPED = tostring(x):find '0x' or tostring({}):find '0x%x%x%x%x%x'"
    .. " or tostring(print):find '0x%x%x%x%x%x'",
  "local ok = pcall(la.load, '/etc/passwd') ESCAPED = ok or nil",
  "local ok = pcall(la.save, x, '/tmp/lunarray_attack.npy')"
    .. " ESCAPED = ok or nil",
  "local ok = pcall(la.mmap, '/proc/self/mem') ESCAPED = ok or nil",
  "local ok = pcall(la.read_csv, '/etc/passwd') ESCAPED = ok or nil",
  "local ok = pcall(la.write_csv, {a = x}, '/tmp/lunarray_attack.csv')"
    .. " ESCAPED = ok or nil",
  "local ok = pcall(la.image.load, '/dev/zero') ESCAPED = ok or nil",
  "local ok = pcall(la.image.save, la.zeros(3, 2, 2), '/tmp/a.png')"
    .. " ESCAPED = ok or nil",
  "local ok = pcall(la.audio.load, '/dev/zero') ESCAPED = ok or nil",
  "local ok = pcall(la.load, 'a\\0b') ESCAPED = ok or nil",
  "local ok = pcall(la.load, ('../'):rep(5000) .. 'etc/passwd')"
    .. " ESCAPED = ok or nil",
  "for _, f in pairs {la.load, la.mmap, la.read_csv} do for _, n in ipairs"
    .. " {'/dev/mem', '/dev/stdin', 'con', [[\\\\.\\C:]]} do if"
    .. " pcall(f, n) then ESCAPED = n end end end",
  "local p = la.plot and la.plot.figure and pcall(function() la.plot.plot(x)"
    .. " la.plot.savefig('/tmp/lunarray_attack.svg') end) ESCAPED = p or nil",
  "local ok, t = pcall(la.parallel, function() return io end) ESCAPED = ok and"
    .. " type(t) == 'table' and t[1] or nil",
  "ESCAPED = getmetatable('').__index ~= string and 'strings' or nil",
  "local m = getmetatable(x) ESCAPED = type(m) == 'table' and 'open' or nil",
  "ESCAPED = pcall(setmetatable, x, {}) or pcall(rawset, x, 1, 2) or nil",
  "ESCAPED = pcall(rawget, x, 'data') or pcall(next, x) or nil",
  "ESCAPED = la._VERSION and rawequal(la.load, load) or nil",
  "warn('@on') warn('from a script')"
}

-- Sizes, strides and offsets that no memory has.
attacks.sizes = {
  "la.zeros(1 << 62)", "la.zeros(1 << 31, 1 << 31)", "la.zeros(-1)",
  "la.empty(math.maxinteger, 0)", "la.empty(0, math.maxinteger)",
  "la.empty(math.maxinteger, math.maxinteger, 0)",
  "la.ones(1):expand(1 << 40):contiguous()",
  "la.ones(1):expand(1 << 62):sum()",
  "la.ones(1):expand(1 << 40):clone()",
  "la.ones(1):expand(1 << 50):totable()",
  "tostring(la.ones(1):expand(1 << 50))",
  "la.ones(1):expand(1 << 40):sort()",
  "la.ones(1):expand(1 << 40):tostring_raw()",
  "la.ones(1):as_strided({1 << 40}, {1})",
  "la.ones(1):as_strided({2}, {math.maxinteger})",
  "la.ones(1):as_strided({2}, {math.mininteger}, 2)",
  "la.ones(1):as_strided({2}, {1}, math.maxinteger)",
  "x:repeat_interleave(math.maxinteger)", "x['repeat'](x, 1 << 40)",
  "x:pad({1 << 40, 0})", "x:pad({math.mininteger, 1})",
  "x:view(-1, math.maxinteger)", "x:reshape(math.mininteger)",
  "x:narrow(1, math.maxinteger, math.maxinteger)",
  "x:slice(1, math.mininteger, math.maxinteger, math.maxinteger)",
  "x[{{math.mininteger, math.maxinteger, math.maxinteger}}]",
  "x[{{math.maxinteger, math.mininteger, math.mininteger}}]",
  "x:roll(math.mininteger, 1)", "x:select(1, math.mininteger)",
  "x:unfold(1, 1, math.maxinteger)", "x:unfold(1, math.maxinteger, 1)",
  "la.eye(1 << 40)", "la.arange(1 << 60)", "la.arange(0, 1, 1e-300)",
  "la.arange(0, math.huge)", "la.linspace(0, 1, 1 << 40)",
  "la.logspace(0, 1, 1 << 50)", "la.full({1 << 40}, 1)",
  "la.randperm(1 << 50)", "la.rand(1 << 45)", "la.one_hot(la.tensor {1 << 50})",
  "la.bincount(la.tensor {1 << 50})", "la.tril_indices(1 << 40, 1 << 40)",
  "la.combinations(la.arange(100), 20)", "la.cartesian_prod {la.ones(1 << 14),"
    .. " la.ones(1 << 14), la.ones(1 << 14)}",
  "la.meshgrid {la.ones(1 << 20), la.ones(1 << 20), la.ones(1 << 20)}",
  "la.outer(la.ones(1 << 20), la.ones(1 << 20))",
  "la.kron(la.ones(1 << 10, 1), la.ones(1 << 10, 1 << 10))",
  "la.vander(la.ones(1 << 10), 1 << 30)", "la.block_diag {la.ones(1 << 13, 1),"
    .. " la.ones(1, 1 << 13)}",
  "la.conv1d(la.ones(1, 1, 4), la.ones(1, 1, 2), nil, 1, 1 << 60)",
  "la.conv1d(la.ones(1, 1, 4), la.ones(1, 1, 2), nil, math.maxinteger)",
  "la.max_pool1d(la.ones(1, 1, 4), 1 << 60)",
  "la.avg_pool1d(la.ones(1, 1, 4), 2, 1, 1 << 62)",
  "la.interpolate(la.ones(1, 1, 4), {1 << 40})",
  "la.fft.fft(x, 1 << 40)", "la.fft.irfft(x, 1 << 50)",
  "la.signal.resample(x, 1 << 40)", "la.histc(x, 1 << 40)",
  "la.histogram(x, 1 << 45)", "la.matrix_power(la.eye(2), math.maxinteger)",
  "la.matrix_power(la.rand(200, 200), math.maxinteger)",
  "la.ones(2):resize_(1 << 60)", "la.ones(2):set_(x:storage(), 1 << 60, {2})",
  "x:storage():resize_(1 << 50)", "la.empty_strided({2, 2}, {1 << 61, 1})",
  "la.from_raw(('x'):rep(8), 'float64', {1 << 61})",
  "la.zeros(table.unpack((function() local t = {} for i = 1, 200 do t[i] = 1"
    .. " end return t end)()))",
  "x:view(table.unpack((function() local t = {} for i = 1, 70 do t[i] = 1 end"
    .. " return t end)()))"
}

-- Depth: nested values, nested calls, long graphs.
attacks.depth = {
  "local t = {} for i = 1, 1e5 do t = {t} end la.tensor(t)",
  "local t = {} t[1] = t la.tensor(t)",
  "local t = {1} t[2] = t la.cat(t)",
  "local t = {x} for i = 1, 1e5 do t = {t} end la.stack(t)",
  "local t = {} for i = 1, 1e4 do t = {a = t} end la.snapshot(t)",
  "local t = {} t.t = t la.snapshot(t)",
  "local t = {} t.t = t la.tidy(function() return t end)",
  "local t = x for i = 1, 1e5 do t = {t} end la.tidy(function() return t end)",
  "local t = {} t[1] = t la.keep(t)",
  "local s = ('('):rep(1e5) load(s)",
  "local s = ('{'):rep(1e5) load('return ' .. s)",
  "load('return ' .. ('-'):rep(1e5) .. '1')",
  "load(('do '):rep(1e5))", "load(('a.'):rep(1e5) .. 'a = 1')",
  "load('local ' .. ('a,'):rep(1e4) .. 'a = 1')",
  "load('return ' .. ('function() return '):rep(1e4))",
  "local f f = function() return la.tidy(f) end f()",
  "local f f = function(v) return la.fuse(f)(v) end f(x)",
  "local f f = function(v) return la.vmap(f)(v) end f(la.ones(2, 2))",
  "local f f = function() return la.no_grad(f) end f()",
  "local f f = function(v) return la.checkpoint(f, v) end f(x)",
  "local f f = function() x:apply_(f) return 1 end f()",
  "local f f = function() return la.from_function({1}, f) end f()",
  "local F F = la.Function {forward = function(c, v) return F(v) end, backward"
    .. " = function(c, g) return g end} F(x:clone():requires_grad_())",
  "local y = x:clone():requires_grad_() y:register_hook(function(g)"
    .. " (y * 1):sum():backward() return g end); (y * 1):sum():backward()",
  "local f f = function(s) return (('a'):gsub('a', f)) end f()",
  "local t = {3, 1, 2} local f f = function(a, b) table.sort({2, 1}, f) return"
    .. " a < b end table.sort(t, f)",
  "local f f = function() return pcall(f) end f()",
  "local f f = function() return coroutine.wrap(f)() end f()",
  "local f f = function() return xpcall(error, f) end f()",
  "local m m = setmetatable({}, {__index = function(t, k) return m[k] end})"
    .. " return m.x",
  "local m = {} for i = 1, 1e5 do m = setmetatable({}, {__index = m}) end"
    .. " return m.x",
  "local m = setmetatable({}, {}) getmetatable(m).__index = m return m.x",
  "local y = x:clone():requires_grad_() for i = 1, 1e5 do y = y + 1 end"
    .. " y:sum():backward()",
  "local y = x for i = 1, 1e5 do y = y:view(3) end return y:sum()",
  "local y = x:clone():requires_grad_() for i = 1, 30 do y = la.grad((y * y)"
    .. ":sum(), y, {create_graph = true}) end"
}

-- Strings: bombs of length, formats, patterns, names.
attacks.strings = {
  "local s = ('x'):rep(1 << 20) la[s]()", "la.zeros(2, {dtype = ('x'):rep("
    .. "1 << 20)})",
  "la.zeros(2, {[('x'):rep(1 << 20)] = 1})",
  "la.einsum(('a'):rep(1 << 20), {x})", "la.einsum(('a,'):rep(1e5), {x})",
  "la.einsum('...' .. ('...'):rep(1e4), {x})", "la.einsum('', {})",
  "la.einsum('a->' .. ('a'):rep(1e5), {x})", "la.einsum('\\0a', {x})",
  "la.ones(2, {names = {('n'):rep(1 << 22)}})",
  "error(('x'):rep(1 << 23))", "error(setmetatable({}, {__tostring = function()"
    .. " return ('x'):rep(1 << 23) end}))",
  "('%99999999d'):format(1)", "('%s'):rep(1e5):format()",
  "('%.99f'):format(1e308)", "('%' .. ('0'):rep(1e5) .. 'd'):format(1)",
  "('x'):rep(1 << 62)", "('x'):rep(1 << 31, ('y'):rep(1 << 31))",
  "(''):rep(math.maxinteger)", "('x'):rep(-1):rep(math.maxinteger)",
  "string.pack(('s8'):rep(1e5))", "string.unpack('s8', ('\\255'):rep(8))",
  "string.unpack('z', ('x'):rep(1 << 20))", "string.pack('j', 1):rep(1 << 24)",
  "('a'):find(('[a-z]'):rep(1e5))", "('a'):find('[' .. ('%a'):rep(1e5))",
  "('a'):find(('('):rep(40))", "('a'):gsub('', ('x'):rep(1 << 22))",
  "('a'):rep(1e5):gsub('a', {a = ('b'):rep(1e4)})",
  "('a'):rep(1e5):gsub('.', function() return ('b'):rep(1e4) end)",
  "('x'):rep(1e6):byte(1, -1)", "string.char(table.unpack({('x'):byte(1, 1)},"
    .. " 1, 1e6))",
  "utf8.char(math.maxinteger)", "utf8.codepoint(('x'):rep(1 << 20), 1, -1)",
  "for _ in utf8.codes(('x'):rep(1 << 22)) do end",
  "tonumber(('1'):rep(1 << 22))", "tonumber('0x' .. ('f'):rep(1 << 22))",
  "tonumber(('1'):rep(1 << 20), 36)", "return 1 .. ('0'):rep(1 << 23) + 1",
  "la.tensor {('1'):rep(1 << 20)}", "la.hash(('x'):rep(1 << 20))",
  "la.help(('x'):rep(1 << 20))", "la.search and la.search(('x'):rep(1 << 20))",
  "local t = {} for i = 1, 1e6 do t[i] = 'x' end table.concat(t, ('y'):rep("
    .. "100))"
}

-- Coroutines and what is closed with them.
attacks.coroutines = {
  "local c c = coroutine.wrap(function() c() end) c()",
  "local c c = coroutine.create(function() coroutine.close(c) end)"
    .. " coroutine.resume(c)",
  "local t = {} for i = 1, 1e6 do t[i] = coroutine.create(error) end",
  "local t = {} for i = 1, 1e6 do t[i] = coroutine.wrap(function()"
    .. " coroutine.yield() end) t[i]() end",
  "local c = coroutine.create(function() la.no_grad(coroutine.yield) end)"
    .. " coroutine.resume(c) c = nil x:sum()",
  "local c = coroutine.wrap(function() la.tidy(function() local y = x + 1"
    .. " coroutine.yield(y) end) end) local y = c() return y:sum()",
  "coroutine.wrap(function() la.fuse(function(v) coroutine.yield(v) return v"
    .. " end)(x) end)()",
  "coroutine.wrap(function() la.vmap(function(v) coroutine.yield(v) return v"
    .. " end)(x) end)()",
  "coroutine.wrap(function() x:apply_(coroutine.yield) end)()",
  "coroutine.wrap(function() table.sort({3, 2, 1}, coroutine.yield) end)()",
  "coroutine.wrap(function() ('a'):gsub('a', coroutine.yield) end)()",
  "coroutine.wrap(function() load(coroutine.yield) end)()",
  "local y = x:clone():requires_grad_() y:register_hook(coroutine.yield)"
    .. " coroutine.wrap(function() (y * 1):sum():backward() end)()",
  "local a, b a = coroutine.create(function() coroutine.resume(b) end)"
    .. " b = coroutine.create(function() coroutine.resume(a) end)"
    .. " coroutine.resume(a)",
  "for i = 1, 1e6 do local c <close> = coroutine.create(function() end) end",
  "local c = coroutine.create(function() local y <close> = setmetatable({},"
    .. " {__close = function() error(c) end}) coroutine.yield() end)"
    .. " coroutine.resume(c) while true do coroutine.close(c) end",
  "local c = coroutine.create(function() local y <close> = setmetatable({},"
    .. " {__close = coroutine.yield}) coroutine.yield() end)"
    .. " coroutine.resume(c) for i = 1, 9 do coroutine.close(c) end",
  "coroutine.wrap(function() pcall(function() local y <close> ="
    .. " setmetatable({}, {__close = function() coroutine.yield() end})"
    .. " error() end) while true do end end)()",
  "local s = la.no_grad() local c = coroutine.wrap(function() local t <close>"
    .. " = s coroutine.yield() end) c() c = nil s = nil x:sum()",
  "coroutine.wrap(function() la.fork_rng(coroutine.yield) end)() la.rand(2)"
}

-- Callbacks that change what they are called for.
attacks.callbacks = {
  "local y = la.ones(1000) y:apply_(function(v) y:resize_(0) return v end)",
  "local y = la.ones(1000) y:apply_(function(v) y:set_(x) return v end)",
  "local y = la.ones(9) y:map_(y, function(a, b) y:resize_(0) return a end)",
  "local y = la.ones(9) for i, v in y:iter() do y:resize_(0) end",
  "local y = la.ones(9) for i, v in y:iter() do y:resize_(1 << 10) end",
  "local t = setmetatable({}, {__len = function() return 1 << 60 end, __index ="
    .. " function() return 1 end}) la.tensor(t)",
  "local n = 0 local t = setmetatable({}, {__len = function() n = n + 1 return"
    .. " n end, __index = function() return 1 end}) la.tensor {t, t, t}",
  "local t = {1, 2, 3} setmetatable(t, {__index = function() error(t) end})"
    .. " la.tensor {t, {1, 2, 3, 4}}",
  "local t = setmetatable({}, {__index = function(t, k) la.ones(1) return nil"
    .. " end, __len = function() return 3 end}) la.cat(t)",
  "local o = setmetatable({}, {__index = function(t, k) x:resize_(0) return nil"
    .. " end}) la.add(x, x, o)",
  "local o = setmetatable({}, {__pairs = function() return function() return"
    .. " 'dim', 1 end end}) la.sum(x, o)",
  "local y = la.ones(3):requires_grad_() y:register_hook(function(g)"
    .. " g:resize_(0) return g end); (y * 2):sum():backward()",
  "local y = la.ones(3):requires_grad_() y:register_hook(function(g)"
    .. " return la.ones(7) end); (y * 2):sum():backward()",
  "local y = la.ones(3):requires_grad_() y:register_hook(function(g)"
    .. " y.grad = y return g end); (y * 2):sum():backward()",
  "local y = la.ones(3):requires_grad_() local h h = y:register_hook("
    .. "function(g) h:remove() h:remove() end); (y * 2):sum():backward()",
  "local F = la.Function {forward = function(c, v) return v end, backward ="
    .. " function(c, g) return nil, g, g, g end} F(x:clone()"
    .. ":requires_grad_()):sum():backward()",
  "local F = la.Function {forward = function(c, v) v:resize_(0) return v end,"
    .. " backward = function(c, g) return g end} F(x:clone()"
    .. ":requires_grad_()):sum():backward()",
  "local F = la.Function {forward = function(c, v) KEPT = c return v * 1 end,"
    .. " backward = function(c, g) return g end} local y = F(x:clone()"
    .. ":requires_grad_()) y:sum():backward() KEPT:saved()"
    .. " KEPT:save_for_backward(x)",
  "la.fuse(function(v) local w = v + 1 KEPT = w error(w) end)(x)"
    .. " KEPT:sum()",
  "la.fuse(function(v) v:resize_(0) return v + 1 end)(x)",
  "la.vmap(function(v) KEPT = v return v end)(x) KEPT:sum()",
  "la.vmap(function(v) return la.ones(math.random(1, 5)) end)(x)",
  "la.tidy(function() KEPT = x + 1 end) KEPT:sum() KEPT = nil",
  "local s = la.snapshot {x} x:resize_(100) s:restore() s:restore()",
  "table.sort({5, 4, 3, 2, 1}, function(a, b) return true end)",
  "local t = {} for i = 1, 100 do t[i] = i end table.sort(t, function(a, b)"
    .. " t[#t] = nil return a < b end)",
  "table.sort(setmetatable({}, {__len = function() return math.maxinteger"
    .. " end}))",
  "local y <close> = setmetatable({}, {__close = function(...)"
    .. " la.ones(1 << 40) end})",
  "for k in pairs(la) do pcall(la[k], x, x, x) end",
  "for k in pairs(la) do pcall(la[k], setmetatable({}, {__index = function()"
    .. " while true do end end})) end",
  "for k in pairs(la) do pcall(la[k], function() end, x) end",
  "math.random = nil string.rep = nil la.rand(3)",
  "la.ones = la.zeros la.tensor = error la.nn.Linear(2, 2)",
  "setmetatable(_G, {__index = function(t, k) while true do end end}) la.nn"
    .. ".Nothing()",
  "setmetatable(_G, {__newindex = error}) require 'lunarray.optim'",
  "_G = nil _ENV = nil",
  "for k in pairs(_G) do _G[k] = nil end",
  "for k in pairs(string) do string[k] = nil end return ('x'):rep(3)",
  "local f = la.compile(function(x) local y = x * 2 x:free() return 1 end) for"
    .. " i = 1, 200 do f(la.ones(i)) end",
  "local f = la.compile(function(t) local y = t.x * 2 t.x = nil return y:sum()"
    .. " end) for i = 1, 200 do f{x = la.ones(i)} end",
  "local t, armed = {a = {b = x}} local function arm() setmetatable({}, {__gc ="
    .. " function() if armed then t.a = nil end arm() end}) end for i = 1, 200"
    .. " do arm() end local f = la.compile(function(t) local o = {} for i = 1,"
    .. " 100 do o[i] = t.a.b + i end return t.a.b, o end) for i = 1, 2000 do"
    .. " armed = false t.a = {b = x} pcall(f, t) armed = true pcall(f, t) end",
  "local f local function arm() setmetatable({}, {__gc = function() arm()"
    .. " pcall(f.advance, f, 1e7) pcall(f.begin, f, x) end}) end f ="
    .. " la.compile(function(a) local o = {} for i = 1, 10 do o[i] = a + i end"
    .. " return o end, {cache = 2}) x = la.ones(1 << 18) for i = 1, 50 do arm()"
    .. " end for k = 1, 300 do pcall(f.begin, f, x) for j = 1, 30 do"
    .. " pcall(f.advance, f, 100) end end",
  "local f, n = nil, 3 local function arm() setmetatable({}, {__gc ="
    .. " function() arm() n = n + 1 pcall(f, la.ones(n)) end}) end f ="
    .. " la.compile(function(a) local o = {} for i = 1, 50 do o[i] = a + i end"
    .. " return o end, {cache = 1}) arm() for k = 1, 2000 do pcall(f, x)"
    .. " pcall(f.into, f, {x}, x) end"
}

-- What belongs to others: the host's settings, generators and threads.
attacks.settings = {
  "la.set_num_threads(1 << 30)", "la.set_num_threads(0)",
  "la.set_num_threads(-1)", "la.set_default_dtype('float64')",
  "la.set_default_dtype('int8')", "la.manual_seed(7) la.rand(1000)",
  "la.set_grad_enabled(false)", "la.use_deterministic_algorithms(true)",
  "la.set_memory_limit(1)", "la.set_memory_limit(0)", "la.lockstep(true)",
  "la.set_printoptions {precision = 1 << 40}", "la.set_fuel(1 << 60)",
  "la.clear_cache()", "la.profile(function() while true do x:sum() end end)",
  "local g = la.Generator(1) g:set_state(la.zeros(3))",
  "local g = la.Generator(1) g:set_state(('x'):rep(100))",
  "la.background and la.background(function() while true do end end)",
  "la.parallel(function() while true do end end)",
  "la.parallel(1 << 40, function() end)",
  "la.log and la.log(('x'):rep(1 << 20))",
  "la.set_interrupt and la.set_interrupt(function() return true end)",
  "math.randomseed(1)", "la.progress(1 << 60)",
  "for _ in la.progress(1 << 60) do end",
  "la.data.DataLoader(la.data.TensorDataset(la.ones(1)), {batch_size = 1 <<"
    .. " 60}):batches()()",
  "la.nn.Linear(1 << 40, 1 << 40)", "la.nn.Embedding(1 << 50, 8)",
  "la.optim.Adam({x:clone():requires_grad_()}, {lr = -1 / 0})"
}

-- Themes that read formats, keep programs or call functions of the script.
-- Those that a build has not are nil here, and the script ends by that.
attacks.themes = {
  "local ok = pcall(la.onnx.load, '/etc/passwd') ESCAPED = ok or nil",
  "for _, f in pairs {la.onnx.load, la.onnx.read, la.llm.load,"
    .. " la.tokenizer.load, la.gguf.load, la.gguf.info, la.read_jsonl,"
    .. " la.gguf.map} do"
    .. " for _, n in ipairs {'/etc/passwd', '/dev/zero', '/proc/self/mem',"
    .. " ('../'):rep(2000), 'a\\0b', 'lunarray.onnx'} do if pcall(f, n) then"
    .. " ESCAPED = n end end end",
  "ESCAPED = pcall(la.onnx.save, function(v) return v * 2 end,"
    .. " '/tmp/lunarray_attack.onnx', {x}) or nil",
  "ESCAPED = pcall(la.onnx.write, 'x', '/tmp/lunarray_attack.onnx') or nil",
  "ESCAPED = pcall(la.gguf.save, {metadata = {}, tensors = {x = x}},"
    .. " '/tmp/lunarray_attack.gguf') or nil",
  "ESCAPED = pcall(la.write_jsonl, la.frame{a = x},"
    .. " '/tmp/lunarray_attack.jsonl') or nil",
  "for i = 1, 1e7 do pcall(la.onnx.read, string.char(i % 256,"
    .. " (i // 256) % 256, 255, 255, 127):rep(50)) end",
  "for i = 1, 1e7 do pcall(la.gguf.decode, 'GGUF\\3\\0\\0\\0' .."
    .. " string.pack('<i8i8', i % 3 - 1, 2^62 // 1 | 0)) end",
  "for i = 1, 1e7 do pcall(la.tokenizer.decode, ('['):rep(1e5)) end",
  "for i = 1, 1e7 do pcall(la.tokenizer.decode, '{\"model\":{\"type\":\"BPE\","
    .. "\"vocab\":{\"' .. ('a'):rep(1e5) .. '\":' .. i .. '},\"merges\":[]}}')"
    .. " end",
  "la.tokenizer.from_metadata(setmetatable({}, {__index = function(t) return t"
    .. " end, __len = function() return 1 << 40 end}))",
  "la.onnx.encode(setmetatable({}, {__index = function(t) return t end,"
    .. " __len = function() return 1 << 40 end}))",
  "local t = {} t.graph = t la.onnx.encode(t)",
  "local t = {} t.metadata = t t.tensors = {} la.gguf.encode(t)",
  "la.onnx.register('', 'Add', function() while true do end end)",
  "la.onnx.register('lunarray.attack', 'Loop', function() return _G end)"
    .. " ESCAPED = la.onnx.operators and la.onnx.operators.io",
  "la.onnx.trace(function(v) while true do v = v + 1 end end, x)",
  "la.gguf.quantized(('x'):rep(1e5), 'q4_0') la.gguf.quantized('', 'f32')",
  "for i = 1, 1e7 do la.compile(function(v) return v + i end)(x) end",
  "local f f = la.compile(function(v) return f(v) end) f(x)",
  "local f = la.compile(function(v) for i = 1, 1e9 do v = v + 1 end return v"
    .. " end) f(x)",
  "local f = la.compile(function(v) return v + 1 end) for i = 1, 1e7 do"
    .. " f(la.ones(i % 4000)) end",
  "local f = la.compile(function(v) return v * 2 end, {cache = 1 << 40}) for i"
    .. " = 1, 1e7 do f(la.ones(i)) end",
  "local keep = {} for i = 1, 1e7 do keep[i] = la.compile(function(v) return v"
    .. " * 2 end) keep[i](x) end",
  "local f = la.compile(function(v) coroutine.yield() return v end)"
    .. " coroutine.wrap(f)(x)",
  "local f = la.compile(function(v) error(setmetatable({}, {__tostring ="
    .. " function() while true do end end})) end) while true do pcall(f, x)"
    .. " end",
  "local f = la.compile(function(v) return v + 1 end) f(x) local p ="
    .. " f:program() for k, v in pairs(p) do ESCAPED = v == io end"
    .. " ESCAPED = type(getmetatable(p)) == 'table' and 'open' or nil",
  "local f = la.compile(function(v) return v + 1 end) ESCAPED ="
    .. " type(getmetatable(f)) == 'table' and 'open' or nil",
  "local f = la.compile(function(v) la.set_default_dtype('float64') return"
    .. " v:double() end) f(x) f(x)",
  "local f = la.compile(function(v) x:resize_(1e6) return v + x end)"
    .. " while true do f(x) end",
  "local f = la.compile(function(v) return v:matmul(v) end) while true do"
    .. " f(la.ones(200, 200)) end",
  "la.frame(setmetatable({}, {__index = function() return x end, __len ="
    .. " function() return 1 << 40 end, __pairs = function() return function()"
    .. " return 'a', x end end}))",
  "local f = la.frame{a = la.arange(3000)} while true do f = f:join(f, 'a',"
    .. " {suffix = 'b'}) end",
  "local f = la.frame{a = la.zeros(3000)} f:join(f, 'a')",
  "local f = la.frame{a = la.arange(1000)} while true do f = la.frame.concat{f,"
    .. " f} end",
  "local f = la.frame{a = la.arange(5)} f:map(function() while true do end"
    .. " end)",
  "local f = la.frame{a = la.arange(5)} f:group('a'):apply(function() while"
    .. " true do end end)",
  "local f = la.frame{a = la.arange(5)} f:group('a'):apply(function() return f"
    .. " end) f:group('a'):apply(function() coroutine.yield() end)",
  "local t = la.frame.text{('a'):rep(30) .. 'b'} while true do"
    .. " t:has(('a*'):rep(20) .. 'c') end",
  "while true do la.frame.date_range('0001-01-01', '9999-12-31', 'second') end",
  "la.frame.date(la.zeros(3):fill_(1e300)):format(('%c'):rep(1e5))",
  "local f = la.frame{a = la.arange(3)} while true do f:print{width = 1 << 40,"
    .. " rows = 1 << 40} end",
  "local f = la.frame{a = la.arange(3)} f:tostring{width = -1, rows = 0 / 0}",
  "local f = la.frame{a = la.arange(3000)} while true do f:rolling(2999,"
    .. " function(v) return v:sum() end) end",
  "while true do la.frame.rolling(la.arange(3000), 2999, 'median') end",
  "local f = la.frame{a = la.arange(2000), b = la.arange(2000)}"
    .. " f:pivot{index = 'a', columns = 'b', values = 'a'}",
  "local f = la.frame{['\\27[31m' .. ('x'):rep(1e6)] = x} tostring(f)"
    .. " f:describe() f:html()",
  "local f = la.frame{a = x} f.b = f",
  "local f = la.frame{a = x} ESCAPED = type(getmetatable(f)) == 'table' and"
    .. " rawequal(getmetatable(f).__index, io) and 'io' or nil",
  "local c = la.read_csv and pcall(la.read_csv, 'text:a,b') ESCAPED = c or nil"
}

-- Programs, loops, tables, tokenizers and files of models: what a mod brings
-- along, and what it does with it. The host's shelf (la.load) has "a.laprog",
-- "b.laprog", "a.npz", "a.safetensors", "a.gguf" and "a.onnx"; "17.a.npz" is
-- the same with damage number 17.
attacks.recent = {
  "local f = la.load('a.laprog') for i = 1, 1e7 do f(la.ones(2, 3)) end",
  "local f = la.load('b.laprog') while true do f(la.ones(2, 3)) end",
  "local keep = {} for i = 1, 1e7 do keep[i] = la.load('a.laprog') end",
  "for i = 1, 1e7 do local f = la.load('a.laprog') f(la.ones(2, 3)) f = nil"
    .. " end",
  "local f = la.load('a.laprog') for i = 1, 1e6 do pcall(f, la.ones(i % 7, i %"
    .. " 5)) pcall(f) pcall(f, f) pcall(f, io, x, x) end",
  "local f = la.load('a.laprog') for _, w in pairs(f:weights()) do w:resize_(0)"
    .. " end f(la.ones(2, 3))",
  "local f = la.load('a.laprog') for _, w in pairs(f:weights()) do"
    .. " w:set_(x) end pcall(f, la.ones(2, 3)) f(la.ones(2, 3))",
  "local f = la.load('a.laprog') for _, w in pairs(f:weights()) do w:free() end"
    .. " f(la.ones(2, 3))",
  "local f = la.load('a.laprog') local y = f(la.ones(2, 3)) f = nil for i = 1,"
    .. " 200 do la.ones(9, 9) end y:add_(1):sum():item()",
  "local f = la.load('a.laprog') ESCAPED = type(getmetatable(f)) == 'table' and"
    .. " 'open' or nil f.x = io f:steps().x = 1",
  "local f = la.load('b.laprog') local x = la.full({2, 3}, 0 / 0) while true do"
    .. " f(x) end",
  "local f = la.load('b.laprog') f(la.full({2, 3}, -1e30))",
  "for i = 1, 1e6 do for _, n in ipairs {'a.laprog', 'b.laprog'} do local ok, f"
    .. " = pcall(la.load, i .. '.' .. n) if ok then pcall(f, la.ones(2, 3)) end"
    .. " end end",
  "for i = 1, 1e6 do pcall(la.load, i .. '.a.npz') pcall(la.load, i .."
    .. " '.a.gguf') pcall(la.load, i .. '.a.safetensors') end",
  "for i = 1, 1e6 do local ok, m = pcall(la.onnx.load, i .. '.a.onnx') if ok"
    .. " then pcall(m, la.ones(2, 3)) end end",
  "for i = 1, 1e6 do local ok, g = pcall(la.gguf.load, i .. '.a.gguf') if ok"
    .. " then for _, t in pairs(g.tensors) do pcall(function() return t + 1"
    .. " end) end end end",
  "ESCAPED = pcall(la.load, '../etc/passwd') or pcall(la.load, '/dev/zero') or"
    .. " nil",
  "local keep = {} while true do keep[#keep + 1] = la.load('a.npz') end",
  "while true do la.load('a.npz', {limit = 1 << 62}) end",
  "la.while_loop(function() return la.tensor(true) end, function(i) return i +"
    .. " 1 end, la.tensor(0))",
  "la.compile(function(v) return la.while_loop(function(i) return i:ge(0) end,"
    .. " function(i) return i + 1 end, v) end)(la.tensor(0))",
  "la.while_loop(function(a) return a:sum():gt(0) end, function(a) return"
    .. " la.cat{a, a} end, la.ones(1))",
  "la.compile(function(v) return la.while_loop(function(a) return"
    .. " a:sum():gt(0) end, function(a) return la.cat{a, a} end, v)"
    .. " end)(la.ones(1))",
  "local f f = function(v) return la.while_loop(function(a) return"
    .. " a:sum():gt(0) end, f, v) end f(x)",
  "la.compile(function(v) local f f = function(a) return la.while_loop("
    .. "function(b) return b:sum():gt(0) end, f, a) end return f(v) end)(x)",
  "la.compile(function(v) return la.cond(v:sum():gt(0), function() while true"
    .. " do end end, function(a) return a end, v) end)(x)",
  "local list = {} for i = 1, 200 do list[i] = x end la.compile(function(v)"
    .. " return la.while_loop(function(a) return a:sum():lt(9) end,"
    .. " function(...) return ... end, table.unpack(list)) end)(x)",
  "la.while_loop(function(a) x:resize_(0) return a:sum():gt(0) end, function(a)"
    .. " a:resize_(0) return a end, x)",
  "la.while_loop(coroutine.yield, function(a) return a end, x)",
  "la.scan(function(c, v) while true do c = c + v end end, x, la.ones(4, 3))",
  "la.scan(function(c, v) return la.cat{c, c}, v end, x, la.ones(60, 3))",
  "local f = la.compile(function(v) for i = 1, 40 do v = v:tanh() end return v"
    .. " end) f(la.ones(400)) while true do f:begin(la.ones(400)) while not"
    .. " f:advance(0) do end end",
  "local f = la.compile(function(v) return v * 2 end) f(x) f:begin(x)"
    .. " f:begin(x) f:advance(1 / 0) f:advance(0 / 0) f:advance(-1)"
    .. " f:advance(1)",
  "local f = la.compile(function(v) return v:exp():sum() end) f(x) f:begin(x)"
    .. " x:resize_(0) f:advance(1e9)",
  "local f f = la.compile(function(v) f:begin(v) return v end) f(x)",
  "local f = la.compile(function(v) return v * 2 end) f(x) f:into(x, x)"
    .. " f:into(la.ones(1):expand(3), x) f:into({}, x) f:into(f, f)",
  "local f = la.compile(function(v) return v + 1 end) while true do f:profile("
    .. "x) f:explain() f:program():steps() end",
  "local t = {} t[1] = t la.compile(function(v) return t end)(x)",
  "local t = {} for i = 1, 1e5 do t = {t} end la.compile(function(v) return v"
    .. " end)(t)",
  "local f = la.compile(function(...) return ... end) f(table.unpack({}, 1,"
    .. " 2e5))",
  "local t = setmetatable({}, {__pairs = function() while true do end end,"
    .. " __index = function() while true do end end}) la.compile(function(v)"
    .. " return v[1] end)(t)",
  "local f = la.compile(function(v) return v:unfold(1, 2, 1) end) while true do"
    .. " f(la.ones(3)):add_(1) end",
  "local f = la.compile(function(v) return la.while_loop(function(y) return"
    .. " y:sum():lt(50) end, function(y) return y * 2 + 1 end, v:expand(50, 3))"
    .. " end) for i = 1, 1e5 do f(la.full({3}, 1e-3 * i)) end",
  "local f = la.frame{a = la.arange(300)} local keep = {} while true do"
    .. " keep[#keep + 1] = f:with{b = la.arange(300)} end",
  "local f = la.frame{a = la.arange(300)} while true do f:sample(1 << 40,"
    .. " {replace = true}) end",
  "la.frame.date_range(la.frame.date(la.tensor{0}), la.frame.date("
    .. "la.tensor{math.maxinteger}), 'second', 1)",
  "local f = la.frame{a = la.arange(3000), b = la.arange(3000) % 7} while true"
    .. " do f:group('a'):agg{c = la.frame.quantile('b', 0.5)}"
    .. " f:sort({'b', 'a'}):rows() end",
  "local f = la.frame{a = la.zeros(2000)} f:join(f, 'a', {suffix = ('x'):rep("
    .. "1e6)})",
  "local t = la.frame.text{('x'):rep(1e6)} while true do t = t:map(function(s)"
    .. " return s .. s end) end",
  "local f = la.frame{a = la.arange(20)} for i = 1, 30 do f = f:melt{id_vars ="
    .. " {}, value_vars = {'a'}} f = f:rename{value = 'a'} end",
  "local f = la.frame{a = la.arange(4)} for _, how in ipairs {'inner', 'left',"
    .. " 'outer', 1, {}, io} do pcall(f.join, f, f, {'a', 'a'}, {how = how,"
    .. " fill = f, validate = f}) end",
  "local t = la.tokenizer.decode('[UNK]\\na\\n##a\\n') while true do t:encode("
    .. "('a'):rep(1e5)) end",
  "local t = la.tokenizer.decode('[UNK]\\na\\n') t:decode{0, -1,"
    .. " math.maxinteger, 1 / 0, {}, 'x'}",
  "local t = la.tokenizer.decode('[UNK]\\na\\n') local keep = {} while true do"
    .. " keep[#keep + 1] = t:encode(('a '):rep(1e4)) end",
  "for name, f in pairs(la.tokenizer.native()) do for i = 1, 30 do pcall(f)"
    .. " pcall(f, ('\255'):rep(i), i) pcall(f, f, f, f) pcall(f, x, x, x)"
    .. " pcall(f, {}, {}, {}) pcall(f, setmetatable({}, {__index = function(t)"
    .. " return t end, __len = function() return 1 << 40 end})) end end",
  "for i = 1, 1e6 do pcall(la.tokenizer.native().pattern, ('('):rep(i) .."
    .. " ('a|b*'):rep(i)) end",
  "local native = la.tokenizer.native() local p = native.pattern('(a*)*b')"
    .. " for i = 1, 1e6 do pcall(native.split, p, ('a'):rep(i)) end",
  "for i = 1, 1e6 do pcall(la.gguf.parse, ('GGUF'):rep(i), 'x') end",
  "local g = la.gguf.encode{metadata = {a = {1, 2, 3}}, tensors = {w = x}} for"
    .. " i = 1, #g do local b = g:sub(1, i) pcall(la.gguf.decode, b) end"
    .. " while true do la.gguf.decode(g) end",
  "la.gguf.encode{metadata = {[('x'):rep(1e6)] = ('y'):rep(1e6)}, tensors ="
    .. " setmetatable({}, {__pairs = function() return function() return 'a', x"
    .. " end end})}",
  "local p = {la.zeros(2, 1, 64, 4, 2)} while true do la.llm.attention(la.ones("
    .. "1, 2, 2), p, 1, 0, 1.) pcall(la.llm.attention, la.ones(1, 2, 2), p,"
    .. " math.maxinteger, math.mininteger, 0 / 0) end",
  "pcall(la.llm.attention, x, {}, 1, 1, 1.) pcall(la.llm.rotate, x, x)"
    .. " pcall(la.llm.rotate, la.ones(2, 1 << 20), la.ones(1, 1, 1))",
  "local s = ('{%'):rep(1e4) for i = 1, 1e6 do pcall(la.llm.load, s) end",
  "la.bernoulli_(x, la.tensor(0 / 0)) la.bernoulli_(x, la.tensor(2))",
  "x:cumsum_(1, {dtype = 'int64'}) x:requires_grad_():cumsum_(1, {dtype ="
    .. " 'float64'})",
  "la.signal.lfilter(la.full({40}, 1 / 0), la.tensor{1}, la.ones(2, 9)) while"
    .. " true do la.signal.lfilter(la.ones(64), la.tensor{1.}, la.ones(3000))"
    .. " end"
}

-- Work in one instruction of Lua, chains of metatables above all. None ends by
-- itself, or before all limits.
attacks.chains = {
  "while true do lunarray.full({3000}, 1e6):mvlgamma(1000000) end",
  "local c = setmetatable({}, {}) getmetatable(c).__call = c while true do"
    .. " pcall(c) end",
  "local c = setmetatable({}, {}) getmetatable(c).__call = c while true do"
    .. " pcall(coroutine.wrap(function() c() end)) end",
  "local c = setmetatable({}, {}) local m = getmetatable(c) m.__call = c"
    .. " m.__lt = c m.__index = c while true do pcall(function() return c < c"
    .. " end) pcall(function() return c.x end) end",
  "local c = setmetatable({}, {}) local m = getmetatable(c) m.__call = c"
    .. " m.__close = c while true do pcall(function() local x <close> = c end)"
    .. " end",
  "local c = setmetatable({}, {}) getmetatable(c).__call = c local t = {} for"
    .. " i = 1, 4000 do t[i] = i end while true do pcall(c, table.unpack(t))"
    .. " end",
  "local c = setmetatable({}, {}) getmetatable(c).__call = c while true do"
    .. " pcall(function() for k in c do end end) end",
  "getmetatable('').__call = 'x' local s = 'y' while true do pcall(s) end",
  "local m = {} local c = setmetatable({}, m) local function f(n) if n > 0"
    .. " then return 1 + f(n - 1) end m.__call = c c() end while true do"
    .. " m.__call = nil pcall(f, 20000) end",
  "local m = {} local c = setmetatable({}, m) local function f(n) return n > 0"
    .. " and 1 + f(n - 1) or 0 end while true do m.__call = nil pcall(f, 20000)"
    .. " m.__call = c pcall(c) end",
  "local function f() end local function all(n) for i = 1, n do f ="
    .. " setmetatable({}, {__call = f}) end end all(2000) while true do"
    .. " pcall(f) end",
  "local t = {x = 1} for i = 1, 1900 do t = setmetatable({}, {__index = t})"
    .. " end while true do pcall(function() for i = 1, 1e6 do local y = t.x end"
    .. " end) end",
  "local t = {} for i = 1, 1900 do t = setmetatable({}, {__newindex = t}) end"
    .. " while true do pcall(function() for i = 1, 1e6 do t.x = 1 end end) end"
}

-- Deep, long and many, and yet fair: each gives true.
attacks.fair = {
  "local function f(n) return n == 0 and 0 or 1 + f(n - 1) end"
    .. " return f(50000) == 50000",
  "local t = {} for i = 1, 100000 do t[i] = i end"
    .. " return math.max(table.unpack(t)) == 100000",
  "return #{string.byte(('x'):rep(50000), 1, -1)} == 50000",
  "return select('#', utf8.codepoint(('x'):rep(50000), 1, -1)) == 50000",
  "local c = setmetatable({}, {__call = setmetatable({}, {__call = function()"
    .. " return 7 end})}) return c() == 7",
  "local all = {} for i = 1, 2000 do all[i] = setmetatable({}, {__call ="
    .. " function() return i end, __index = {}}) end return all[9]() == 9",
  "local up = {x = 1} for i = 1, 50 do up = setmetatable({}, {__index = up})"
    .. " end local n = 0 for i = 1, 20000 do n = n + up.x end return n == 2e4",
  "local all = {} for i = 1, 6 do all[i] = coroutine.wrap(function() local"
    .. " function f(n) if n > 0 then return 1 + f(n - 1) end coroutine.yield()"
    .. " return 0 end return f(10000) end) all[i]() end local n = 0 for i = 1,"
    .. " 6 do n = n + all[i]() end return n == 60000"
}

return attacks
