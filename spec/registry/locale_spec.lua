-- The library is the same in every locale: texts, errors, defaults and files,
-- whether the process sets the locale before or after it is loaded. The locales
-- are made here, from the sources of glibc's package locales.
local files = require("spec.support.folder")

-- The CPU path makes no difference: once is enough.
if (os.getenv("LUNARRAY_CPU") or "default") ~= "default" then return end

-- A comma for the point; another 'i'; bytes above 127 that are letters.
local LOCALES = {
  {"de_DE.UTF-8", "de_DE", "UTF-8"},
  {"tr_TR.UTF-8", "tr_TR", "UTF-8"},
  {"fr_FR.ISO-8859-1", "fr_FR", "ISO-8859-1"},
}

describe("under another locale", function()
  local folder

  setup(function()
    folder = files.new()
    for _, row in ipairs(LOCALES) do
      -- It warns of what a charset lacks, and says so by its status.
      os.execute(("localedef -c -i %s -f %s %s 2>/dev/null"):format(row[2],
        row[3], folder:path(row[1])))
    end
  end)
  teardown(function() folder:remove() end)

  -- The folder that the program wrote.
  local function run(name, arguments)
    assert(os.execute("mkdir " .. folder:path(name)))
    local pipe = assert(io.popen(("LOCPATH=%s %s "
      .. "spec/support/values/locale_texts.lua %s %s 2>&1"):format(folder.name,
      os.getenv("LUA") or "lua5.4", folder:path(name), arguments)))
    local said = pipe:read("a")
    assert.is_true(pipe:close(), said)
    return name
  end

  local function list(name)
    local pipe = assert(io.popen("ls " .. folder:path(name)))
    local text = pipe:read("a")
    pipe:close()
    return text
  end

  -- The first line that differs says more than two files.
  local function compare(want, got)
    local lines = (got .. "\n"):gmatch("(.-)\n")
    for line in (want .. "\n"):gmatch("(.-)\n") do
      assert.same(line, lines())
    end
  end

  local plain
  local function check(name, when, locale)
    plain = plain or run("plain", "")
    run(name, when .. " " .. locale)
    assert.same(list(plain), list(name))
    for file in list(plain):gmatch("%S+") do
      compare(folder:read(plain .. "/" .. file),
              folder:read(name .. "/" .. file))
    end
  end

  for k, row in ipairs(LOCALES) do
    it("that is set first: " .. row[1], function()
      check("early" .. k, "early", row[1])
    end)
  end

  it("that is set later: " .. LOCALES[1][1], function()
    check("late", "late", LOCALES[1][1])
  end)

  it("the numbers of Lua itself have a comma, so that this tests something",
     function()
    local pipe = assert(io.popen(("LOCPATH=%s %s -e 'assert(os.setlocale("
      .. "\"de_DE.UTF-8\")) print(0.5)'"):format(folder.name,
      os.getenv("LUA") or "lua5.4")))
    assert.same("0,5\n", pipe:read("a"))
    pipe:close()
  end)
end)
