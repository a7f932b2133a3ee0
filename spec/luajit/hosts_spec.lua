-- The examples of lunarray.ffi in the programs that they are for, where these
-- are installed: Neovim, LÖVE under Xvfb, nginx with its Lua module.
local folder = require "spec.support.folder"
local once = require "spec.support.once"

local LIBRARY = "build/liblunarray-core.so.0"

local function output_of(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local said = pipe:read "a"
  return pipe:close(), said
end

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

local HERE = select(2, output_of "pwd"):gsub("\n", "")
local ENVIRONMENT = ("LUNARRAY_CORE='%s/%s' "):format(HERE, LIBRARY)

-- Why the host can't be tried here; nil where it can.
local function lacks(program)
  if not exists(LIBRARY) then return "no library (make core)" end
  if not output_of("command -v " .. program) then
    return "no " .. program .. " is installed"
  end
end

-- Where nginx and its Lua module are: installed, or unpacked in NGINX_ROOT.
local function nginx()
  local root = os.getenv "NGINX_ROOT" or ""
  local modules = root .. "/usr/lib/nginx/modules/"
  if exists(root .. "/usr/sbin/nginx")
    and exists(modules .. "ngx_http_lua_module.so") then
    return root, modules
  end
end

describe("lunarray.ffi in", function()
  local files
  before_each(function() files = folder.new() end)
  after_each(function() files:remove() end)

  once("Neovim fits a line", function()
    local why = lacks "nvim"
    if why then return pending(why) end
    local points = files:write("points.txt",
      "0 1\n1 3.1\n2 4.9\nno numbers\n3 7\n")
    local ok, said = output_of(ENVIRONMENT .. "timeout 60 nvim --headless -u "
      .. "NONE -c 'luafile examples/luajit/neovim.lua' -c 'edit " .. points
      .. "' -c Fit -c 'w! " .. files:path "fitted.txt" .. "' -c 'qa!'")
    assert(ok, said)
    assert.is_truthy(files:read "fitted.txt"
      :find("# y = 1.980 x +1.030", 1, true), said)
  end)

  once("LÖVE draws a picture that changes", function()
    local why = lacks "love" or lacks "xvfb-run"
    if why then return pending(why) end
    local la = require "lunarray"
    local pictures = {}
    for k, frames in ipairs {5, 60} do
      local shot = files:path(k .. ".png")
      local _, said = output_of(ENVIRONMENT .. "timeout 100 xvfb-run -a -s "
        .. "'-screen 0 800x600x24' love examples/luajit/love " .. frames .. " "
        .. shot)
      assert.is_true(exists(shot), said)
      pictures[k] = la.image.load(shot):double()
    end
    local first, later = pictures[1], pictures[2]
    assert.are.same({3, 480, 480}, {first[{{1, 3}}]:size()})
    -- Rings grow from four drops of 33 x 33 points.
    local function lit(t)
      return t[1]:gt(t:max():item() / 2):sum():item()
    end
    assert.is_true(lit(first) > 5000 and lit(first) < 30000, lit(first))
    assert.is_true(lit(later) > 3 * lit(first), lit(later))
  end)

  once("nginx answers requests", function()
    local root, modules = nginx()
    local why = lacks "curl"
      or not root and "no nginx with its Lua module is installed"
    if why then return pending(why) end
    local path, port = files.name, 20000 + math.random(20000)
    local file = assert(io.open "examples/luajit/nginx.conf")
    local text = file:read "a"
      :gsub("%$prefix", HERE):gsub("127%.0%.0%.1:8089", "127.0.0.1:" .. port)
      :gsub(';;"', (";%s/usr/share/lua/5.1/?.lua;;\""):format(root))
    file:close()
    files:write("nginx.conf", ("load_module %sndk_http_module.so;\n"
      .. "load_module %sngx_http_lua_module.so;\n"):format(modules, modules)
      .. text)
    assert(output_of(("mkdir %s/logs"):format(path)))
    local ask = ("curl -s --retry 40 --retry-connrefused --retry-delay 1 "
      .. "'http://127.0.0.1:%d/predict?x=%%s'"):format(port)
    local _, said = output_of(ENVIRONMENT
      .. ("LD_LIBRARY_PATH=%s/usr/lib/x86_64-linux-gnu "):format(root)
      .. ("timeout 100 %s/usr/sbin/nginx -p %s -c nginx.conf > %s/log & P=$!; ")
        :format(root, path, path)
      .. ask:format "0.5,0.8" .. "; " .. ask:format "0.5,z" .. "; kill $P")
    local y = tonumber(said:match '"y": (%S+)}')
    assert.is_truthy(y, said)
    assert.is_near(0.4, y, 0.05)
    assert.is_truthy(said:find("cannot be multiplied", 1, true), said)
  end)
end)
