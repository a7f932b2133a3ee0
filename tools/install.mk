LUA_CMOD ?= $(PREFIX)/lib/lua/$(LUA_VERSION)
LUA_LMOD ?= $(PREFIX)/share/lua/$(LUA_VERSION)
MANDIR ?= $(PREFIX)/share/man
CMAKEDIR = $(LIBDIR)/cmake/lunarray
TYPESDIR = $(PREFIX)/share/lunarray/types
D := $(DESTDIR)
STRIP ?= strip
# From folder $1 to folder $2, where both are when installed.
relative = $(shell realpath -m --relative-to=$1 $2)
# Where the system looks for libraries anyway no program need say it.
INSTALL_RUNPATH = $(if $(filter /usr/lib /usr/lib/%-linux-gnu /lib,$(LIBDIR)),,$$ORIGIN/$(call relative,$(PREFIX)/bin,$(LIBDIR)))
# Files with the folders of this installation in them; $(call fill,from,to)
fill = sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' -e 's|@VERSION@|$(VERSION)|g' -e 's|@LUA_VERSION@|$(LUA_VERSION)|g' \
  -e 's|@LIBS@|$(LIBS)|g' -e 's|@INCLUDEDIR@|$(call relative,$(CMAKEDIR),$(PREFIX)/include)|g' \
  -e 's|@LIBRARY@|$(call relative,$(CMAKEDIR),$(LIBDIR))|g' packaging/$1.in > $(D)$2/$1 && chmod 644 $(D)$2/$1

# $(call install_library,shared,static): stripped, with the links of its version.
define install_library
install -s -m 644 $1 $(D)$(LIBDIR)/$(notdir $(basename $1)).$(VERSION)
	ln -sf $(notdir $(basename $1)).$(VERSION) $(D)$(LIBDIR)/$(notdir $1)
	ln -sf $(notdir $1) $(D)$(LIBDIR)/$(notdir $(basename $1))
	install -m 644 $2 $(D)$(LIBDIR)/$(notdir $2)
	$(STRIP) --strip-unneeded $(D)$(LIBDIR)/$(notdir $2)
endef

# One library serves the program, C hosts and, by a symbolic link, require.
# What is installed has no symbols but those to link with.
install: all install-lua types
	install -d $(D)$(PREFIX)/bin $(D)$(LIBDIR)/pkgconfig $(D)$(CMAKEDIR) $(D)$(PREFIX)/include \
	  $(D)$(LUA_CMOD) $(D)$(MANDIR)/man1
	$(call link_program,$(D)$(PREFIX)/bin/lunarray,$(INSTALL_RUNPATH))
	$(STRIP) $(D)$(PREFIX)/bin/lunarray && chmod 755 $(D)$(PREFIX)/bin/lunarray
	$(call install_library,$(DYNAMIC),$(STATIC))
	$(call fill,lunarray.pc,$(LIBDIR)/pkgconfig)
	$(call fill,lunarray-config.cmake,$(CMAKEDIR))
	$(call fill,lunarray-config-version.cmake,$(CMAKEDIR))
	$(call fill,lunarray.1,$(MANDIR)/man1)
	install -m 644 include/lunarray.h include/lunarray.hpp $(D)$(PREFIX)/include
	install -d $(D)$(TYPESDIR)/lunarray
	install -m 644 $(BUILD)/types/*.lua $(D)$(TYPESDIR)
	install -m 644 $(BUILD)/types/lunarray/*.lua $(D)$(TYPESDIR)/lunarray
	ln -sf $(call relative,$(LUA_CMOD),$(LIBDIR))/liblunarray.so.$(SOVERSION) $(D)$(LUA_CMOD)/lunarray.so

# The module alone, with nothing to link against (luarocks, which builds with
# one job).
luarocks:
	@$(MAKE) $(JOBS) --no-print-directory $(MODULE)
install-module: $(MODULE) install-lua
	install -d $(D)$(LUA_CMOD)
	rm -f $(D)$(LUA_CMOD)/lunarray.so
	install -s -m 755 $(MODULE) $(D)$(LUA_CMOD)/lunarray.so
# The library without Lua, for hosts in other languages.
install-core: core
	install -d $(D)$(LIBDIR)/pkgconfig $(D)$(PREFIX)/include
	$(call install_library,$(PLAIN_DYNAMIC),$(PLAIN_STATIC))
	$(call fill,lunarray-core.pc,$(LIBDIR)/pkgconfig)
	install -m 644 include/lunarray.h include/lunarray.hpp $(D)$(PREFIX)/include
# lunarray.ffi, for LuaJIT and what embeds it.
LUAJIT_LMOD ?= $(PREFIX)/share/lua/5.1
LUAJIT_FILES := $(wildcard luajit/lunarray/*.lua luajit/lunarray/*/*.lua)
# lunarray.nn, optim and data with what they need: the files of Lua 5.4.
LUAJIT_FILES += $(patsubst %,lua/lunarray/%.lua,nn optim lbfgs schedule data multi_head near numbers positions tensors additions foreign dialect) $(wildcard lua/lunarray/nn/*.lua)
# The names below LUAJIT_LMOD: without the first folder of the tree.
LUAJIT_NAMES := $(patsubst luajit/%,%,$(patsubst lua/%,%,$(LUAJIT_FILES)))
install-luajit:
	set -e; for f in $(LUAJIT_FILES); do install -D -m 644 $$f $(D)$(LUAJIT_LMOD)/$${f#*/}; done
# Ranks of MPI, apart: who has no MPI cannot load it.
install-mpi: $(MPI_MODULE)
	install -d $(D)$(LUA_CMOD)
	$(if $(MPI_MODULE),,$(error there is no $(MPICC): apt-get install openmpi-bin libopenmpi-dev))
	install -s -m 755 $(MPI_MODULE) $(D)$(LUA_CMOD)/lunarray_mpi.so
install-lua:
	set -e; for f in $(foreach f,$(LUA_FILES),$f:$(call lua_path,$f).lua); do install -D -m 644 $${f%%:*} $(D)$(LUA_LMOD)/$${f##*:}; done

# What install, install-core, install-luajit and install-module made, and the folders that are theirs alone.
LUA_FOLDERS := $(dir $(foreach f,$(LUA_FILES),$(call lua_path,$f)))
# Folders, each once, after what is in it.
inner_first = $$(printf '%s\n' $(sort $1) | sort -r)
uninstall:
	rm -f $(D)$(PREFIX)/bin/lunarray $(D)$(LIBDIR)/liblunarray.so.$(VERSION) \
	  $(D)$(LIBDIR)/liblunarray.so.$(SOVERSION) $(D)$(LIBDIR)/liblunarray.so \
	  $(D)$(LIBDIR)/liblunarray.a $(D)$(LIBDIR)/pkgconfig/lunarray.pc \
	  $(D)$(LIBDIR)/liblunarray-core.so.$(VERSION) $(D)$(LIBDIR)/liblunarray-core.so.$(SOVERSION) \
	  $(D)$(LIBDIR)/liblunarray-core.so $(D)$(LIBDIR)/liblunarray-core.a \
	  $(D)$(LIBDIR)/pkgconfig/lunarray-core.pc \
	  $(D)$(CMAKEDIR)/lunarray-config.cmake $(D)$(CMAKEDIR)/lunarray-config-version.cmake \
	  $(D)$(MANDIR)/man1/lunarray.1 $(D)$(PREFIX)/include/lunarray.h \
	  $(D)$(PREFIX)/include/lunarray.hpp $(D)$(LUA_CMOD)/lunarray.so $(D)$(LUA_CMOD)/lunarray_mpi.so \
	  $(foreach f,$(LUA_FILES),$(D)$(LUA_LMOD)/$(call lua_path,$f).lua) \
	  $(addprefix $(D)$(LUAJIT_LMOD)/,$(LUAJIT_NAMES))
	rm -rf $(D)$(TYPESDIR)
	@{ cd $(D)$(LUA_LMOD) && rmdir $(call inner_first,$(LUA_FOLDERS)); } 2>/dev/null || true
	@{ cd $(D)$(LUAJIT_LMOD) && rmdir $(call inner_first,$(dir $(LUAJIT_NAMES))); } 2>/dev/null || true
	@rmdir $(D)$(CMAKEDIR) $(D)$(PREFIX)/share/lunarray 2>/dev/null || true
