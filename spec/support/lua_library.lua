-- What the functions of Lua's library give that a sandbox replaces, as a text:
-- the same in a state of Lua's own (spec/c/api/test_sandbox.c).
local out = {}
local function note(...) local t = table.pack(...)
  for i = 1, t.n do t[i] = tostring(t[i]) end
  out[#out + 1] = table.concat(t, '|') end
local function try(f, ...) note(pcall(f, ...)) end
local subjects = {'', 'a', 'hello world from Lua', 'key = value',
  'THE (quick) fox', '  trim  ', 'a,b,,c', 'f(a(b)c)d', 'x\0y',
  'aaab', '2024-01-31', '[[x]]', 'A1b2', '%d', 'ab\nab'}
local patterns = {'', '.', 'a', 'l+', '%w+', '^%s*(.-)%s*$', '%d+',
  '(%d+)-(%d+)-(%d+)', '%b()', '%f[%w]%w+', '[^,]*', '()', '(a*(.)%w',
  '(a)(b)?', 'o', '[a-c]+', '[]]', '[^]]', '[%a_]', '%', '[a', 'a-b',
  '(.)%1', '%1', '(()', 'x%z?', '^a', 'a$', '$', '^$', '.-b', '%f',
  '[%]]+', '[a%-z]', '%u%U', '%S+', '[%w_]+%s*=%s*', '(w)(o)(r)',
  'a?b', 'a*', '%b', '%bx', '[z-a]', '[-a]', '[a-]', '%g+', '^', '%$'}
for _, s in ipairs(subjects) do for _, p in ipairs(patterns) do
  try(string.find, s, p) try(string.find, s, p, 2)
  try(string.find, s, p, -3) try(string.find, s, p, 1, true)
  try(string.match, s, p) try(string.match, s, p, 3)
  try(string.gsub, s, p, '<%0>') try(string.gsub, s, p, '%1%%', 2)
  try(string.gsub, s, p, {a = 1, hello = true, [''] = 'e'})
  try(string.gsub, s, p, function(...) note(...) return false end)
  try(string.gsub, s, p, 'x%2')
  try(function() for a, b in s:gmatch(p) do note(a, b) end end)
  try(function() for a in s:gmatch(p, -2) do note(a) end end)
end end
try(string.find, 'a', 'a', 10) try(string.gsub, 'abc', 'b', 7)
try(string.gsub, 'a', 'a', '%')
try(string.gsub, 'a', 'a', {a = {}}) try(string.rep, 'ab', 3, '-')
try(string.rep, '', 5) try(string.rep, '', 3, ',')
try(string.rep, 'x', 0, ',') try(string.rep, 'x', 1, ',')
try(string.upper, 'aZ9\xe4') try(string.lower, 'aZ9\xc4')
try(string.reverse, 'abc') try(string.reverse, '')
try(string.format, '%5.2f %s %q %d', 1.5, true, 'a\n', 3)
try(utf8.char)
try(utf8.char, 0, 65, 0x7ff, 0x800, 0x10ffff, 0x110000, 0x7fffffff)
try(utf8.char, 65, -1)
try(utf8.char, 65, 0x80000000)
try(utf8.char, 65.5)
try(utf8.char, '66')
try(string.pack, '<i4 s2', 7, 'abc') try(string.packsize, 'i4 c10')
try(string.unpack, '<i4', '\1\0\0\0')
for _, s in ipairs{'', 'abc', 'äöü', 'a\xffb', 'ä\x80'} do
  for i = -4, 8 do for j = -4, 8 do try(utf8.len, s, i, j) end end end
try(utf8.len, ('ä'):rep(100000)) try(utf8.len, ('ä'):rep(70000)..'\xff')
local function list(...) return {...} end
local t = list(5, 2, 8, 1) table.sort(t) note(table.unpack(t))
table.sort(t, function(a, b) return a > b end) note(table.unpack(t))
try(table.sort, {3, 'a', 2}) try(table.sort, {}, 5)
t = {} for i = 1, 1000 do t[i] = (i * 7919) % 1009 end table.sort(t)
for i = 2, 1000 do assert(t[i - 1] <= t[i]) end
t = list(1, 2, 3) table.insert(t, 9) table.insert(t, 1, 0)
note(table.unpack(t)) try(table.insert, t, 9, 1) try(table.insert, t)
try(table.insert, t, 1, 2, 3) note(table.remove(t), table.remove(t, 1))
note(table.unpack(t)) try(table.remove, t, 7) note(table.remove({}))
note(table.remove({}, 0), table.remove({}, #{}))
for a = 1, 3 do for b = a - 1, 5 do for c = 1, 6 do
  note(table.unpack(table.move(list(1, 2, 3, 4, 5), a, b, c), 1, 11))
  note(table.unpack(table.move(list(1, 2, 3, 4, 5), a, b, c, {}), 1, 9))
end end end
try(table.move, {}, 1, math.maxinteger, 2) try(table.concat, {1, {}, 3})
note(table.concat({1, 2.5, 'x'}, ', '), table.concat({1, 2, 3}, '', 2))
note(table.concat({}, 'x'), table.concat({1, 2}, '-', 2, 1))
try(table.unpack, {1, 2, 3}, 2) try(table.unpack, {1, 2}, 1, 3)
try(table.unpack, {}, 1, 1e7) note(select('#', table.unpack({}, 3, 2)))
note(pcall(error, 'x', 0)) note(pcall(error)) note(pcall(pcall))
note(xpcall(error, function(m) return m .. '!' end, 'x', 0))
note(xpcall(string.rep, error, 'x', 3)) try(xpcall, error)
local co = coroutine.wrap(function(a) note(pcall(function()
  a = coroutine.yield(a + 1) error('in', 0) end)) return a, 'end' end)
note(co(1)) note(co(5)) try(co)
co = coroutine.create(function() local x <close> = setmetatable({},
  {__close = function(_, e) note('closed', e) end}) coroutine.yield() end)
note(coroutine.resume(co)) note(coroutine.close(co))
note(coroutine.status(co)) note(coroutine.resume(co))
co = coroutine.wrap(function() local x <close> = setmetatable({},
  {__close = function(_, e) note('closed', e) end}) error('w', 0) end)
try(co) note(coroutine.resume(coroutine.running()))
note(load('return 1 + 1')()) note(load('x ='))
note(load(function() return nil end)) local parts = {'return ', '4', '2'}
note(load(function() return table.remove(parts, 1) end, '=x')())
note(load('return y', 'c', 't', {y = 3})())
try(load, function() return {} end)
note(load('return ...', 'c', 't', nil)(8)) try(load, 5) try(load, {})
note(pcall(setmetatable, {}, 3)) note(getmetatable(setmetatable({}, nil)))
note(pcall(setmetatable, setmetatable({}, {__metatable = 1}), {}))
return table.concat(out, '\n')
