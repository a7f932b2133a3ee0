-- Where tools/mutants plants mistakes, and what it leaves alone.
package.path = "tools/mutants/?.lua;" .. package.path
local plant = require "plant"
local specs = require "specs"

-- What became of each line, by rule, in order.
local function planted(text, language)
  local out = {}
  for _, site in ipairs(plant.sites(text, language)) do
    out[#out + 1] = site.rule .. ": " .. site.new:match "^%s*(.*)"
  end
  return out
end

local function has(list, line)
  for _, text in ipairs(list) do if text == line then return true end end
  return false
end

local function plants(language, text, ...)
  local list = planted(text, language)
  for _, line in ipairs {...} do
    assert.is_true(has(list, line), line .. " is not in\n"
      .. table.concat(list, "\n"))
  end
end

describe("planting", function()
  it("reverses comparisons, bounds, signs, factors and joints of C", function()
    plants("c", "    if (a < b && n != 0) n = m + 1;",
      "comparison: if (a <= b && n != 0) n = m + 1;",
      "comparison: if (a < b && n == 0) n = m + 1;",
      "joint: if (a < b || n != 0) n = m + 1;",
      "condition: if (!(a < b && n != 0)) n = m + 1;",
      "condition: if (0 && (a < b && n != 0)) n = m + 1;",
      "condition: if (a < b) n = m + 1;",
      "bound: if (a < b && n != 0) n = m;",
      "sign: if (a < b && n != 0) n = m - 1;")
    plants("c", "    for (int k = 0; k < n; k++) s -= x[k] * 2;",
      "bound: for (int k = 1; k < n; k++) s -= x[k] * 2;",
      "comparison: for (int k = 0; k <= n; k++) s -= x[k] * 2;",
      "factor: for (int k = 0; k < n; k++) s -= x[k];",
      "factor: for (int k = 0; k < n; k++) s -= x[k] + 2;")
  end)

  it("keeps texts in conditions", function()
    plants("c", '    if (f(a, "x")) g();', 'condition: if (!(f(a, "x"))) g();')
    plants("lua", "  if a == 'x' then f() end",
      "condition: if not (a == 'x') then f() end")
  end)

  it("leaves calls out, and exchanges truths", function()
    plants("c", "    la_tensor_release(t);", "call: ;")
    plants("c", "    LA_TRY(check(f, 0));", "call: ;")
    plants("c", "    p->done = true;", "truth: p->done = false;")
    plants("lua", "  close(file)", "call: ")
    plants("lua", "  self.done = false", "truth: self.done = true")
    assert.same({}, planted("    return release(t);", "c"))
    assert.same({}, planted("  local x = close(file)", "lua"))
  end)

  it("does the same in Lua", function()
    plants("lua", "  if a == b and not c then n = n - 1 end",
      "comparison: if a ~= b and not c then n = n - 1 end",
      "joint: if a == b or not c then n = n - 1 end",
      "condition: if not (a == b and not c) then n = n - 1 end",
      "condition: if false then n = n - 1 end",
      "condition: if a == b then n = n - 1 end",
      "bound: if a == b and not c then n = n end")
    plants("lua", "  for i = 1, #list // 2 do f(i / 3) end",
      "bound: for i = 2, #list // 2 do f(i / 3) end",
      "factor: for i = 1, #list * 2 do f(i / 3) end",
      "factor: for i = 1, #list // 2 do f(i * 3) end")
  end)

  it("leaves comments, texts and directives alone", function()
    assert.same({}, planted("/* a < b && c */\n// x + 1\n", "c"))
    assert.same({}, planted('    return "a < b \\" && c" [0];\n', "c"))
    assert.same({}, planted("#if A && B > 1\n#include <a.h>\n", "c"))
    assert.same({}, planted("-- a < b and c\n--[[ a + 1\n b - 1 ]]\n", "lua"))
    assert.same({}, planted("local s = 'a < b and c' .. [[\nx + 1\n]]", "lua"))
    plants("c", "#define EXPR(a, b) ((a) - (b))",
      "sign: #define EXPR(a, b) ((a) + (b))")
    plants("c", "int a; /* b < c */ int d = e < f;",
      "comparison: int a; /* b < c */ int d = e <= f;")
  end)

  it("takes no pointer for a product, no arrow for a comparison", function()
    assert.same({}, planted("static int *f(const char *p);", "c"))
    assert.same({}, planted("    x->y;", "c"))
    assert.same({}, planted("    a = b << 3 >> c;", "c"))
  end)

  it("changes one line, wherever it has moved", function()
    local text = "a\n  x = 1\nb\n  x = 1\nc\n"
    local site = {line = 5, old = "  x = 1", new = "  x = 2"}
    assert.equal("a\n  x = 1\nb\n  x = 2\nc\n", (plant.into(text, site)))
    assert.equal("new\na\n  x = 1\nb\n  x = 2\nc\n",
      (plant.into("new\n" .. text, site)))
    assert.is_nil(plant.into("nothing\n", site))
  end)

  it("keeps the length of what it reads", function()
    for _, path in ipairs {"src/op/cost/fuel.c", "src/io/json.c",
                           "tools/mutants/plant.lua"} do
      local file = assert(io.open(path))
      local text = file:read "a"
      file:close()
      local language = plant.language_of(path)
      assert.equal(#text, #plant.code(text, language))
      for _, site in ipairs(plant.sites(text, language)) do
        assert.are_not.equal(site.old, site.new)
      end
    end
  end)
end)

describe("the map of specs", function()
  it("has some for every folder", function()
    local all, known = {}, {}
    for path in io.popen "find spec modules -name '*_spec.lua'":lines() do
      all[#all + 1] = path
    end
    for path in io.popen "find spec/c -name 'test_*.c'":lines() do
      known[path:match "([^/]+)%.c$"] = true
    end
    for folder in io.popen "find src modules lua -type d":lines() do
      if folder:find "^src/%w" or folder:find "^lua/lunarray" then
        local found = specs.of(folder .. "/file", all, {})
        assert.is_true(#found > 0, folder)
        for _, name in ipairs(found) do
          if not name:find "/" then assert.is_true(known[name], name) end
        end
      end
    end
  end)

  it("has no row without a source", function()
    local paths = {}
    for path in io.popen "find src lua modules -type f":lines() do
      paths[#paths + 1] = path
    end
    for _, row in ipairs(specs.rows) do
      local fits = false
      for _, path in ipairs(paths) do fits = fits or path:find(row[1]) end
      assert.is_truthy(fits, row[1])
    end
  end)
end)
