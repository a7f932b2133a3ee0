-- The kernel of Jupyter: its child by frames in files, and the whole with
-- nbclient where Python has it.
local folder = require "spec.support.folder"
local modules = require "spec.support.modules"
local program = require "spec.support.program"

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

-- What the child answers to requests, {kind, text} each.
local function answers(list)
  local files = folder.new()
  local parts = {}
  for k, request in ipairs(list) do
    parts[k] = ("%s %d\n%s"):format(request[1], #request[2], request[2])
  end
  write(files.name .. "/in", table.concat(parts))
  local result = program.run(("kernel run %s/in %s/out"):format(files.name,
    files.name))
  local out, at = {}, 1
  local file = assert(io.open(files.name .. "/out", "rb"))
  local text = file:read "a"
  file:close()
  files:remove()
  while at <= #text do
    local kind, size, after = text:match("^([^\n]*) (%d+)\n()", at)
    out[#out + 1] = {kind, text:sub(after, after + size - 1)}
    at = after + size
  end
  return out, result
end

local function cell(text) return {"execute", "1\n" .. text} end

describe("the kernel's child", function()
  it("gives the last expression of a cell", function()
    local out = answers{cell "x = 2\nx + 1", cell "local y = 3", cell "y",
      cell "y;", cell "nil", cell "1, 'a'", cell "local t = {1, 2}\nt"}
    assert.are.same({{"data text/plain", "3"}, {"result", ""}, {"done", ""},
      {"done", ""}, {"data text/plain", "3"}, {"result", ""}, {"done", ""},
      {"done", ""}, {"done", ""}, {"data text/plain", "1\ta"}, {"result", ""},
      {"done", ""}, {"data text/plain", "{1, 2}"}, {"result", ""},
      {"done", ""}}, out)
  end)

  it("leaves cells alone that no expression ends", function()
    local out, result = answers{cell "for i = 1, 2 do\n  print(i)\nend",
      cell "f = tostring\n('called')", cell "print(f) -- a remark",
      cell "  \n"}
    assert.are.same({{"done", ""}, {"done", ""}, {"done", ""}, {"done", ""}},
      out)
    assert.are.equal("1\n2\ncalled\n", result.out)
  end)

  modules.needing("image", it)("gives figures and images as pictures",
  function()
    local out = answers{cell "la.plot{1, 2}", cell "la.plot{1, 2}:show()",
      cell "la.zeros({3, 8, 9}, {dtype = 'uint8'})"}
    local kinds = {}
    for k, frame in ipairs(out) do kinds[k] = frame[1] end
    assert.are.same({"data image/svg+xml", "data image/png", "data text/plain",
      "result", "done", "data image/svg+xml", "data image/png",
      "data text/plain", "display", "done", "data image/png",
      "data text/plain", "result", "done"}, kinds)
    assert.truthy(out[1][2]:find("^<svg "))
    assert.are.equal("\137PNG", out[2][2]:sub(1, 4))
    assert.falsy(out[3][2]:find("\27", 1, true))
  end)

  it("tells errors with the cell, shapes and a traceback", function()
    local out = answers{cell "\nerror 'bad'", cell "x = ", cell "error{}",
      cell "setmetatable({}, {__tostring = function() error 'no' end})"}
    assert.truthy(out[1][2]:find("^In%[1%]:2: bad%z"))
    assert.truthy(out[1][2]:find("stack traceback:", 1, true))
    assert.truthy(out[3][2]:find("^In%[1%]:1: "))
    assert.truthy(out[5][2]:find("error object is a table", 1, true))
    assert.are.equal("error", out[7][1])
    assert.are.equal("done", out[8][1])
  end)

  it("answers the editor", function()
    local out = answers{{"complete", "la.linspa"}, {"is_complete", "f("},
      {"is_complete", "x = )"}, {"is_complete", "1"},
      {"inspect", "0 la.sum\0(x)"}, {"inspect", "0 \0"}, cell "?la.sum"}
    assert.are.same({"word", "linspa"}, out[1])
    assert.are.same({"match", "linspace"}, out[2])
    assert.are.same({"status", "incomplete"}, out[4])
    assert.are.same({"status", "invalid"}, out[6])
    assert.are.same({"status", "complete"}, out[8])
    assert.truthy(out[10][2]:find("sum(", 1, true))
    assert.are.equal("done", out[12][1])
    assert.are.equal(out[10][2], out[13][2])
  end)

  it("asks for input", function()
    local out = answers{cell "io.read()", {"line", "typed"},
      cell "io.read()", {"end", ""}, cell "io.read('n') + 1", {"line", "41"}}
    assert.are.same({{"input", ""}, {"data text/plain", "typed"},
      {"result", ""}, {"done", ""}, {"input", ""}, {"done", ""},
      {"input", ""}, {"data text/plain", "42"}, {"result", ""},
      {"done", ""}}, out)
  end)

  it("ends at nonsense and at half a frame", function()
    local files = folder.new()
    write(files.name .. "/in", "execute 99\n1\nprint(1)")
    local result = program.run(("kernel run %s/in %s/out"):format(files.name,
      files.name))
    assert.are.equal(0, result.status)
    assert.are.equal("", result.err)
    files:remove()
    assert.are_not.equal(0, program.run("kernel run /no/such /no/such").status)
    for _, paths in ipairs{"", "/no/such", "/no/such /no/such /no/such"} do
      result = program.run("kernel run " .. paths)
      assert.are.equal(1, result.status)
      assert.truthy(result.err:find "^usage: lunarray kernel")
    end
    assert.truthy(program.run("kernel install --bad=1").err:find(
      "unknown option '--bad=1'", 1, true))
  end)
end)

describe("lunarray kernel install", function()
  local python = os.getenv "LUNARRAY_JUPYTER" or "python3"
  local files, said
  setup(function()
    files = folder.new()
    said = program.run(("kernel install --prefix=%s --name=lunarray-spec "
      .. "--python=%s"):format(files.name, python))
  end)
  teardown(function() files:remove() end)

  local function read(name)
    local file = assert(io.open(files.name
      .. "/share/jupyter/kernels/lunarray-spec/" .. name, "rb"))
    local text = file:read "a"
    file:close()
    return text
  end

  it("writes what Jupyter reads", function()
    assert.are.equal(0, said.status)
    local spec = read "kernel.json"
    assert.truthy(spec:find('"language": "lua"', 1, true))
    assert.truthy(spec:find('"{connection_file}"', 1, true))
    assert.truthy(spec:find("lunarray_kernel.py", 1, true))
    assert.truthy(read("lunarray_kernel.py"):find("^\"\"\"Jupyter kernel"))
  end)

  local found = os.execute(python
    .. " -c 'import ipykernel, nbclient, nbformat' >/dev/null 2>&1")
  if not found then
    it("is not tried by a notebook: " .. python
      .. " has no ipykernel, nbclient (left out)", function() end)
    return
  end

  it("lets nbclient run a notebook", function()
    write(files.name .. "/cells", table.concat({"x = la.arange(3)\nx",
      "print('out')\nio.stderr:write('err')", "la.plot(x)", "error('bad')",
      "os.exit(3)", "x == nil", "('é'):rep(3)"}, "\n%%\n"))
    local pipe = assert(io.popen(("JUPYTER_PATH=%s/share/jupyter %s "
      .. "spec/support/notebook.py lunarray-spec %s/cells 2>%s/err"):format(
      files.name, python, files.name, files.name)))
    local text = pipe:read "a"
    local ok = pipe:close()
    assert.is_true(ok, text)
    for _, part in ipairs{"cell 1\ntext/plain tensor([0, 1, 2])\ncell 2\n",
      "stdout out\\n\n", "stderr err\n", "cell 3\nimage/png iVBORw0KGgo",
      "image/svg+xml <svg ", "error In[4]:1: bad\n",
      "error lunarray has ended (status 3)", "cell 6\ntext/plain true\n",
      "text/plain ééé\n", "complete ['linspace']\n", "inspect True\n",
      "status incomplete\nstatus invalid\nstatus complete\n",
      "interrupt begun\\n\ninterrupt ", "interrupted!\nafter 2\\n\n",
      "input typed\\n\n"} do
      assert.truthy(text:find(part, 1, true), part .. " in\n" .. text)
    end
  end)
end)
