# build/embed/lunarray.c and lunarray.h, and lunarray.hpp: the library of CAPS
# and FAMILIES (modules, folders of src/op, io and plot; all by default; "-nn"
# leaves one out, as in MODULES) for one call of a compiler, without SLEEF
# (docs/embedding.md). It is written by tools/embed, which asks
# the preprocessor what sources declare.
EMBED := $(BUILD)/embed
FAMILIES ?=
# LUA=no: the library without Lua, and a header that says so.
EMBED_LUA := $(if $(filter no,$(LUA)),no,yes)
EMBED_WITHOUT := $(if $(filter no,$(EMBED_LUA)),$(LUA_SRC))
EMBED_INTERPRETER := $(if $(filter no,$(LUA)),lua5.4,$(LUA))
empty :=
space := $(empty) $(empty)
# Kernels have fewer copies than in the module (src/kernel/targets.mk), with
# COPIES=all as many.
is_of = $(filter $(call kernel_key,$(1)),$(2))
dear = $(if $(call is_of,$(1),$(EMBED_lowest)),avx2 avx512,$(if $(filter avx2,$(CAPS)),$(if $(call is_of,$(1),$(EMBED_avx512)),,avx512)))
embed_caps = $(LOWEST) $(filter-out $(LOWEST) $(if $(filter all,$(COPIES)),,$(call dear,$(1))),$(call source_caps,$(1)))
EMBED_KERNELS = $(foreach s,$(KERNEL_SRC),$(foreach c,$(call embed_caps,$(s)),\
  $(s):$(c):$(subst $(space),+,$(strip $(call served,$(c),$(call embed_caps,$(s))))))) \
  $(foreach s,$(EXTENSION_SRC),$(s):$(call extension_of,$(s)))
EMBED_TARGETS = $(foreach c,$(CAPS) $(EXTENSIONS),$(if $(CAP_$(c)),$(c)))
EMBED_SYSTEMS = $(foreach o,linux macos wasm windows,$(o):$(subst $(space),+,$(OS_$(o))))
EMBED_CAPS = ($(subst $(space),,$(foreach c,$(CAPS),1u<<LA_CAP_$(c)|))0)
embed: $(MODULE_LISTS)
	$(call say,EMBED,$(EMBED)/lunarray.c)
	$(Q)$(EMBED_INTERPRETER) tools/embed/embed.lua LUA=$(EMBED_LUA) OUT='$(EMBED)' LISTS='$(OBJ)' CC='$(CC)' CFLAGS='-Isrc -Iinclude -I. -I$(OBJ) $(LUA_CFLAGS)' \
	  VERSION='$(VERSION)' CAPS='$(CAPS)' FAMILIES='$(FAMILIES)' NEEDS='$(foreach m,$(ALL_MODULES),$(addprefix $m:,$(NEEDS_$m)))' CORE='$(filter-out src/base/os/os_% $(EMBED_WITHOUT),$(CORE_SRC)) $(if $(EMBED_WITHOUT),$(NO_LUA_SRC)) $(wildcard tools/embed/flate/*.c)' SYSTEMS='$(EMBED_SYSTEMS)' \
	  KERNELS='$(EMBED_KERNELS)' TARGETS='$(EMBED_TARGETS)' COLD='$(CALL_LISTS)' LUA_FILES='$(if $(EMBED_WITHOUT),,$(LUA_FILES))' \
	  DEFINES='_GNU_SOURCE= LA_NO_SLEEF LA_NO_ZLIB LA_CAPS_BUILT=$(EMBED_CAPS) LA_VERSION_TEXT="$(VERSION)"'

# All of it, compiled by one call and tried, linked statically, too: its size, the
# compiler's time, of which warnings would be half.
# EMBED_LIMIT: a stripped program of more kilobytes is an error.
EMBED_CHECK := $(BUILD)/embed-check
EMBED_OPT ?= -Oz
EMBED_LIMIT ?= 1000000
# gcc collects its garbage less often: a sixth of its time.
EMBED_HEAP := $(if $(COMPILER),,--param ggc-min-expand=400 --param ggc-min-heapsize=1000000)
EMBED_COMPILE = $(CC) -std=c11 -w $(EMBED_OPT) $(EMBED_HEAP) -fno-asynchronous-unwind-tables -ffunction-sections
LUA_STATIC = $(shell pkg-config --static --libs lua5.4 2>/dev/null || echo -llua5.4 -ldl)
# With LUA=no the host is that of examples/, which asks for tanh and means.
ifeq ($(EMBED_LUA),no)
EMBED_LINK = $(CC) $(CURDIR)/examples/host_no_lua.c lunarray.o -I.
embed-check:
	@$(EMBED_CHECK)/host | grep -q 'after: 0.9'
else
EMBED_HEADERS := $(LUA_CFLAGS)
EMBED_LIBS := $(LUA_LIBS)
EMBED_LINK = $(CC) $(CURDIR)/spec/embed/host.c lunarray.o -I. $(LUA_CFLAGS)
embed-check:
	@for c in $(CAPS); do LUNARRAY_CPU=$$c $(EMBED_CHECK)/host spec/embed/smoke.lua || exit 1; done
	@cd $(EMBED_CHECK) && $(EMBED_LINK) -static -o static $(LUA_STATIC) -lm -lpthread 2> log || { cat log; exit 1; }
	@$(EMBED_CHECK)/static spec/embed/smoke.lua
endif
embed-check: embed-host
embed-host:
	@$(MAKE) --no-print-directory embed EMBED=$(EMBED_CHECK)
	@cd $(EMBED_CHECK) && $(SHELL) -c "CCACHE_DISABLE=1 $(EMBED_COMPILE) -c lunarray.c -o lunarray.o $(EMBED_HEADERS) && times" && \
	  $(EMBED_LINK) -o host $(EMBED_LIBS) -lm -lpthread -Wl,--gc-sections $(RELR) && \
	  $(STRIP) host && bytes=`wc -c < host` && echo "$$bytes bytes, at most $(EMBED_LIMIT) KB" && test $$bytes -le $(EMBED_LIMIT)000
