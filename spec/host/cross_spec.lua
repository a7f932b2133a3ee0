-- tools/cross/build.sh in a folder of its own, with compilers that only write
-- a file: a step that fails is a failure, whatever an earlier run left behind.

local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read("a")
  local ok = pipe:close()
  return text, ok == true
end

local folder

-- An executable that stands for a tool.
local function tool(name, body)
  local path = folder .. "/bin/" .. name
  local file = assert(io.open(path, "w"))
  file:write("#!/bin/sh\n", body, "\n")
  file:close()
  assert(os.execute("chmod +x " .. path))
end

local WRITES = [[
while [ $# -gt 1 ]; do [ "$1" != -o ] || echo object > "$2"; shift; done]]

local function build(target)
  return run(("cd %s && PATH='%s/bin:/usr/bin:/bin' PAGE_ONLY=1 "
    .. "sh tools/cross/build.sh %s"):format(folder, folder, target))
end

describe("a build for another system", function()
  before_each(function()
    folder = run("mktemp -d"):match("%S+")
    assert(os.execute(("cd %s && mkdir -p bin tools build/cross/lua/src "
      .. "build/cross/zlib && touch build/cross/lua/src/lua.h "
      .. "build/cross/zlib/zlib.h"):format(folder)))
    assert(os.execute("cp -r tools/cross " .. folder .. "/tools"))
    tool("musl-gcc", WRITES)
    tool("make", "touch build/cross/musl/liblunarray.a")
  end)
  after_each(function() assert(os.execute("rm -rf " .. folder)) end)

  it("ends at the first step that fails", function()
    local text, ok = build "musl"
    assert.truthy(ok, text)
    -- the library of the first run is still there
    tool("make", "echo no such instruction; exit 3")
    text, ok = build "musl"
    assert.falsy(ok, text)
    assert.truthy(text:find("no such instruction", 1, true), text)
    assert.truthy(text:find("build.sh musl: failed", 1, true), text)
  end)

  it("makes no library of what was not compiled", function()
    tool("musl-gcc", 'case "$*" in *lvm.c*) echo bad lvm; exit 1;; esac\n'
      .. WRITES)
    local text, ok = build "musl"
    assert.falsy(ok, text)
    assert.truthy(text:find("bad lvm", 1, true), text)
    tool("musl-gcc", WRITES)
    text, ok = build "musl"
    assert.truthy(ok, text)
    assert.truthy(run(("ar t %s/build/cross/musl/liblua.a"):format(folder))
      :find("lvm.o", 1, true))
  end)

  it("names the tool that is missing, and the targets there are", function()
    for _, name in ipairs{"make", "lua5.4", "flock", "dirname"} do
      tool(name, "exec /usr/bin/" .. name .. ' "$@"')
    end
    local text, ok = run(("cd %s && PATH='%s/bin' /bin/sh "
      .. "tools/cross/build.sh aarch64"):format(folder, folder))
    assert.falsy(ok, text)
    assert.truthy(text:find("no aarch64-linux-gnu-gcc here; tools/deps.sh "
      .. "aarch64 installs it", 1, true), text)
    text, ok = build "amiga"
    assert.falsy(ok, text)
    assert.truthy(text:find("unknown target 'amiga' (aarch64", 1, true), text)
  end)
end)
