-- The module and its Lua files; the program and the libraries for C hosts come
-- with `make install`. Needs SLEEF and zlib (tools/deps.sh build names the
-- packages of Debian).
rockspec_format = "3.0"
package = "lunarray"
version = "scm-1"
source = {url = "git+file://."}
description = {
  summary = "Tensors, vectorised kernels and autograd for Lua 5.4 and 5.5",
  license = "MIT",
}
dependencies = {"lua >= 5.4, < 5.6"}
external_dependencies = {
  SLEEF = {library = "sleef"},    -- its header may lie in another folder
  ZLIB = {header = "zlib.h"},
  STB = {header = "stb/stb_image.h"},
}
build = {
  type = "make",
  build_target = "luarocks",
  install_target = "install-module",
  build_variables = {LUA_CFLAGS = "-I$(LUA_INCDIR)"},
  install_variables = {
    LUA_CFLAGS = "-I$(LUA_INCDIR)",
    LUA_CMOD = "$(LIBDIR)",
    LUA_LMOD = "$(LUADIR)",
  },
}
