-- Every function of lunarray.h as a careless engineer calls it: each argument
-- NULL, 0, negative or the largest number, with sound ones next to it and among
-- others that are NULL. The calls are made of the prototypes, each in a process
-- of its own: it ends, by itself, and prints nothing.
local once = require "spec.support.once"

-- What ends the process of the suite's own accord, raises a Lua error by its
-- contract, or is for functions of operations.
local LEFT_OUT = {luaopen_lunarray = true, la_check = true}

-- Sound values by their types.
local SOUND = {
  ["struct lua_State *"] = "L", ["la_tensor *"] = "t",
  ["const la_tensor *"] = "t", ["la_token *"] = "k",
  ["const char *"] = "\"add\"", ["void *"] = "bytes",
  ["const void *"] = "bytes", ["char *"] = "bytes",
  ["const int64_t *"] = "sizes", ["int64_t *"] = "numbers",
  ["la_tensor *const *"] = "tensors", ["la_tensor **"] = "results",
  ["const la_any *"] = "anys", ["la_any *"] = "any_results",
  ["la_op *"] = "op", ["const la_op *"] = "op", ["la_record *"] = "record",
  ["la_program *"] = "program", ["const la_program *"] = "program",
  ["la_snapshot *"] = "snapshot", ["la_slot *"] = "slot",
  ["const la_range *"] = "ranges", ["la_memory *"] = "&memory",
  ["uint64_t *"] = "&hash", ["la_generator_state *"] = "&generator",
  ["const la_generator_state *"] = "&generator",
  ["const double *"] = "doubles", ["const char *const *"] = "texts",
  ["const char **"] = "&text", ["const la_named *"] = "named",
}
local NUMBERS = {
  int = {"3", "0", "-1", "1", "INT_MAX", "INT_MIN"},
  unsigned = {"0", "1", "UINT_MAX"},
  int64_t = {"3", "0", "-1", "1", "INT64_MAX", "INT64_MIN"},
  size_t = {"8", "0", "1", "SIZE_MAX"}, uint64_t = {"0", "UINT64_MAX"},
  bool = {"false", "true"}, la_any = {"anys[0]"},
}

local function prototypes()
  local file = assert(io.open "include/lunarray.h")
  local text = file:read("a"):gsub("/%*.-%*/", ""):gsub("%s+", " ")
  file:close()
  local list = {}
  for head, tail in text:gmatch "LA_API ([^;{}()]+)(%b())%s*;" do
    local name = head:match "([%w_]+)%s*$"
    if not LEFT_OUT[name] and not (name:find "^la_frame_"
        and name ~= "la_frame_begin" and name ~= "la_frame_end") then
      list[#list + 1] = {name = name, arguments = tail:sub(2, -2)}
    end
  end
  return list
end

-- The values that each parameter takes, the sound one first.
local function choices(arguments)
  local list, depth, from = {}, 0, 1
  if arguments:match "^%s*void%s*$" then return list end
  for at, c in (arguments .. ","):gmatch "()([(),])" do
    depth = depth + (c == "(" and 1 or c == ")" and -1 or 0)
    if c == "," and depth == 0 then
      local part = arguments:sub(from, at - 1):match "^%s*(.-)%s*$"
      local kind = part:match "^(.-)%s*[%w_]+$"
      from = at + 1
      if part:find "%(%*" then list[#list + 1] = {"NULL"}
      elseif part:find "%*" then list[#list + 1] = {SOUND[kind], "NULL"}
      else list[#list + 1] = NUMBERS[kind] or {"0"} end
      if not list[#list][1] then list[#list] = {"NULL"} end
    end
  end
  return list
end

local function calls_of(f)
  local all, list, seen = choices(f.arguments), {}, {}
  local function add(values)
    local call = ("%s(%s)"):format(f.name, table.concat(values, ", "))
    if not seen[call] then list[#list + 1] = call end
    seen[call] = true
  end
  local sound, none = {}, {}
  for i, values in ipairs(all) do
    sound[i], none[i] = values[1], values[#values == 2 and 2 or 1]
  end
  add(sound)
  add(none)
  for i, values in ipairs(all) do
    for _, value in ipairs(values) do
      for _, others in ipairs{sound, none} do
        local call = table.move(others, 1, #others, 1, {})
        call[i] = value
        add(call)
      end
    end
  end
  return list
end

local HEAD = [[
#define _POSIX_C_SOURCE 200809L
#include <lauxlib.h>
#include <limits.h>
#include <lualib.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lunarray.h"
static lua_State *L;
static la_tensor *t, *tensors[8], *results[8];
static la_token *k;
static char bytes[4096];
static int64_t sizes[8] = {2, 3, 1, 1, 1, 1, 1, 1}, numbers[8];
static la_any anys[8], any_results[8];
static la_op *op;
static la_record *record;
static la_program *program;
static la_snapshot *snapshot;
static la_slot *slot;
static la_range ranges[8];
static la_memory memory = {.size = sizeof memory};
static uint64_t hash;
static la_generator_state generator;
static double doubles[8];
static const char *texts[8] = {"a", "b", "c", "d", "e", "f", "g", "h"}, *text;
static la_named named[8];
]]
local TAIL = [[
static int begin(void)
{
    L = luaL_newstate();
    luaL_openlibs(L);
    if (la_openlibs(L)) return 0;
    t = la_new("float32", 2, sizes);
    for (int i = 0; i < 8; i++) {
        tensors[i] = t;
        named[i] = (la_named){texts[i], t};
        anys[i] = la_any_tensor(t);
        ranges[i] = la_whole();
    }
    k = la_token_of(L);
    op = la_op_find("add");
    record = la_wrap_struct(bytes, 4, 12, "x:f32 y:f32 z:f32", 0, NULL, NULL);
    snapshot = la_snapshot_take(1, tensors);
    slot = la_slot_new();
    if (luaL_dostring(L, "local la = require 'lunarray' F = la.compile("
            "function(x) return x * 2 end) F(la.ones(2, 3)) return F"))
        return 0;
    program = la_program_of(L, -1);
    return t && op && record && snapshot && slot && program;
}

int main(void)
{
    int bad = !begin();
    for (int i = 0; i < CALLS; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            call(i);
            la_release(la_call(NULL, "ones", 2));      /* and goes on */
            _exit(0);
        }
        if (waitpid(child, &status, 0) == child && status == 0) continue;
        printf("%s: %d\n", written[i], status);
        bad++;
    }
    printf("%d calls, %d died\n", CALLS, bad);
}
]]

local function program_text()
  local list, cases, texts = {}, {}, {}
  for _, f in ipairs(prototypes()) do
    for _, call in ipairs(calls_of(f)) do list[#list + 1] = call end
  end
  for i, call in ipairs(list) do
    cases[i] = ("    case %d: (void)%s; break;"):format(i - 1, call)
    texts[i] = ("%q,"):format(call)
  end
  return ("%sstatic void call(int i)\n{\n    switch (i) {\n%s\n    }\n}\n"
    .. "static const char *const written[] = {\n%s\n};\n"
    .. "enum { CALLS = %d };\n%s"):format(HEAD, table.concat(cases, "\n"),
    table.concat(texts, "\n"), #list, TAIL), #list
end

describe("lunarray.h", function()
  once("takes any arguments", function()
    local name = os.tmpname()
    local text, count = program_text()
    local file = assert(io.open(name .. ".c", "w"))
    file:write(text)
    file:close()
    assert.is_true(count > 800, tostring(count))
    local flags = io.popen("pkg-config --cflags --libs lua5.4 2>/dev/null "
      .. "|| echo -llua5.4")
    local lua = flags:read("a"):gsub("%s+", " ")
    flags:close()
    local pipe = assert(io.popen(("cc -w -Iinclude %s.c -o %s -Lbuild "
      .. "-llunarray -Wl,-rpath,$PWD/build %s 2>&1 && %s 2>&1"):format(name,
      name, lua, name)))
    local said = pipe:read("a")
    pipe:close()
    os.remove(name)
    os.remove(name .. ".c")
    assert.equal(("%d calls, 0 died\n"):format(count), said)
  end)
end)
