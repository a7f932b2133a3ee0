# lunarray: run `make help` for the menu.
#
# One build folder per kind (build/, build/debug, build/asan, ...), with
# -clang behind it for CC=clang. Sources are found by pattern, so a new file
# needs no edit here. Files of src/kernel are compiled once per CPU capability.

KIND ?= release
ifeq ($(origin CC),default)
CC := gcc
endif
COMPILER := $(if $(findstring clang,$(CC))$(findstring emcc,$(CC)),-clang)
KINDDIR := $(if $(filter release,$(KIND)),,/$(KIND))
BUILD := build$(if $(COMPILER),$(or $(KINDDIR),/release)$(COMPILER),$(KINDDIR))
OBJ := $(BUILD)/obj
# The header's LA_VERSION: major * 10000 + minor * 100 + patch.
VERSION := $(shell awk '/^.define LA_VERSION /{v = $$3; printf "%d.%d.%d", v / 10000, v / 100 % 100, v % 100}' include/lunarray.h)
SOVERSION := 0
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
LUA ?= lua5.4

LUA_CFLAGS := $(shell pkg-config --cflags lua5.4 2>/dev/null || echo -I/usr/include/lua5.4)
LUA_LIBS := $(shell pkg-config --libs lua5.4 2>/dev/null || echo -llua5.4)

MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
OS := $(or $(strip $(foreach o,mingw-windows darwin-macos emscripten-wasm,$(if $(findstring $(word 1,$(subst -, ,$o)),$(MACHINE)),$(word 2,$(subst -, ,$o))))),linux)

WARN := -Wall -Wextra -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wundef -Wvla \
  -Wno-unused-parameter -Wno-psabi $(if $(COMPILER),-Wno-pass-failed -Wno-unused-command-line-argument)
BASE := -std=gnu11 -fPIC -fvisibility=hidden -fno-math-errno -ffp-contract=off \
  -fno-semantic-interposition -Isrc -Iinclude -I. -I$(OBJ) $(LUA_CFLAGS) $(WARN) \
  -DLA_VERSION_TEXT='"$(VERSION)"' $(if $(filter windows,$(OS)),-include src/base/os/windows.h) -MMD -MP
# Kernels are vectors by hand: -O3 only copies their bodies once more. Levels of
# files are in src/targets.mk and src/kernel/targets.mk. The copy for the lowest
# capability, where there are others, is for old processors and small.
# Lua's errors unwind, as exceptions in a Lua that was compiled as C++, but never
# below src/lua.
OPT_release := -O2 -ftree-vectorize $(if $(COMPILER),,-fvect-cost-model=dynamic) -DNDEBUG -ftls-model=initial-exec
NO_UNWINDING := $(if $(filter release,$(KIND)),-fno-asynchronous-unwind-tables)
OPT_lowest := $(if $(filter release,$(KIND)),-Os)
OPT_debug := -O0 -g -DLA_DEBUG -DLA_EAGER_GC
# NULL for no bytes is fine with memcpy and memcmp.
UNDEFINED := -fno-sanitize-recover=undefined -fno-sanitize=nonnull-attribute
OPT_asan := -O1 -g -DLA_DEBUG -fsanitize=address,undefined $(UNDEFINED) -fno-omit-frame-pointer
OPT_ubsan := -O1 -g -DLA_DEBUG -fsanitize=undefined $(UNDEFINED)
OPT_tsan := -O1 -g -fsanitize=thread
# Part of every program of such a build.
LINKED_tsan := spec/support/tsan_longjmp.c
OPT := $(OPT_$(KIND))
LINKED := $(LINKED_$(KIND))

# CPU capabilities, lowest first: the list of base/os/cpu.h and the flags of each.
# CAPS leaves some out: make CAPS="default avx2" for a smaller library, or
# CAPS=avx2 while developing. Only "default" exists on processors but x86.
ifneq ($(filter x86_64% i%86%,$(shell $(CC) -dumpmachine 2>/dev/null)),)
ALL_CAPS := default avx2 avx512
CAP_default :=
CAP_avx2 := -mavx2 -mfma -mf16c -mbmi2
CAP_avx512 := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mavx2 -mfma -mf16c -mbmi2 -mprefer-vector-width=512
else
ALL_CAPS := default
endif
CAPS := $(ALL_CAPS)
# Those that this processor does not have fall away, a misspelt one does not.
UNKNOWN_CAPS := $(filter-out default avx2 avx512,$(CAPS))
$(if $(UNKNOWN_CAPS),$(error CAPS: there is no $(UNKNOWN_CAPS), only $(ALL_CAPS)))
override CAPS := $(filter $(CAPS),$(ALL_CAPS))
$(if $(CAPS),,$(error CAPS: some of $(ALL_CAPS)))

# A kernel source is compiled for the lowest capability and for those of CAPS
# that src/kernel/targets.mk gives it (all by default). Each copy also serves
# the capabilities above it that have none of their own; the lowest one those
# below it too, so that every table has a symbol.
include src/targets.mk
include src/kernel/targets.mk
LOWEST := $(firstword $(CAPS))
source_caps = $(LOWEST) $(filter $(filter-out $(LOWEST),$(CAPS)),$(or $(TARGETS_$(call kernel_key,$(1))),$(CAPS)))
# $(call copy_of,<capability>,<those with copies>): who serves it
copy_of = $(or $(lastword $(filter $(2),$(call up_to,$(1),$(ALL_CAPS)))),$(LOWEST))
up_to = $(if $(filter $(1),$(firstword $(2))),$(1),$(firstword $(2)) $(call up_to,$(1),$(wordlist 2,9,$(2))))
# $(call served,<copy>,<those with copies>): the others that it serves
served = $(foreach c,$(filter-out $(1),$(ALL_CAPS)),$(if $(filter $(1),$(call copy_of,$(c),$(2))),$(c)))
# What an object is for, in its name: avx2+avx512.
joined = $(subst $(subst ,, ),+,$(strip $(1) $(call served,$(1),$(2))))

# ISA extensions: sources in src/kernel/<extension>, with flags of their own;
# empty tables where the compiler does not know those, or CAPS lacks avx512.
EXTENSIONS := avx512_bf16 amx
known = $(if $(shell echo | $(CC) $(1) -E - >/dev/null 2>&1 && echo yes),$(1))
ifneq ($(filter avx512,$(CAPS)),)
CAP_avx512_bf16 := $(CAP_avx512) $(call known,-mavx512bf16)
CAP_amx := $(CAP_avx512_bf16) $(if $(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)),$(call known,-mamx-tile -mamx-bf16))
endif
# Modules: the folders of modules/ that are built, all by default. What a module
# adds to a table of the core lies in a file of that table's name, and a list of
# these stands in the build folder: the core includes modules/ops.def and so on
# (modules/README.md).
ALL_MODULES := $(patsubst modules/%/README.md,%,$(wildcard modules/*/README.md))
MODULES := $(ALL_MODULES)
UNKNOWN_MODULES := $(filter-out $(ALL_MODULES),$(MODULES))
$(if $(UNKNOWN_MODULES),$(error MODULES: there is no $(UNKNOWN_MODULES), only $(ALL_MODULES)))
MODULE_TABLES := ops.def grads.def grads.h aliases.def rules.def theme.def binding.def
MODULE_LISTS := $(addprefix $(OBJ)/modules/,$(MODULE_TABLES) names.def)
MODULE_SRC := $(wildcard $(foreach m,$(MODULES),$(addprefix modules/$m/,*.c io/*.c lua/*.c)))
-include $(MODULES:%=modules/%/module.mk)
# Of the files about operating systems the one that the compiler is for, and
# what it shares with others.
OS_linux := posix unix
OS_macos := posix unix
OS_wasm := posix
CORE_SRC := $(MODULE_SRC) $(filter-out src/base/os/os_%,$(wildcard $(foreach f,base tensor iter op grad fuse vmap io lua,src/$(f)/*.c src/$(f)/*/*.c))) \
  src/base/os/os_$(OS).c $(OS_$(OS):%=src/base/os/os_%.c)
EXTENSION_SRC := $(wildcard $(EXTENSIONS:%=src/kernel/%/*.c))
KERNEL_SRC := $(filter-out $(EXTENSION_SRC),$(wildcard src/kernel/*/*.c $(MODULES:%=modules/%/kernel/*.c)))
REPL_SRC := $(wildcard src/repl/*.c)
# src/op/sort/unique.c becomes op.sort.unique.o: members of the archive have
# names of their own. Kernels end in their capabilities: kernel.reduce.sum.avx2.o.
# The name of a source in the variables that say how it is compiled:
# op/sort/unique, modules/game/noise; of a kernel reduce/sum, game/rows.
key = $(patsubst src/%,%,$(1:%.c=%))
kernel_key = $(subst /kernel/,/,$(patsubst kernel/%,%,$(patsubst modules/%,%,$(call key,$(1)))))
object = $(OBJ)/$(subst /,.,$(call key,$(1)))$(addprefix .,$(2)).o
extension_of = $(word 3,$(subst /, ,$(1)))
extension_object = $(call object,$(1),$(call extension_of,$(1))$(if $(CAP_$(call extension_of,$(1))),,.off))
CORE_OBJ := $(foreach s,$(CORE_SRC),$(call object,$(s)))
KERNEL_OBJ := $(foreach s,$(KERNEL_SRC),$(foreach c,$(call source_caps,$(s)),\
  $(call object,$(s),$(call joined,$(c),$(call source_caps,$(s)))))) \
  $(foreach s,$(EXTENSION_SRC),$(call extension_object,$(s)))
REPL_OBJ := $(foreach s,$(REPL_SRC),$(call object,$(s)))
CTEST_SRC := $(wildcard spec/c/*/test_*.c $(MODULES:%=modules/%/spec/test_*.c))
CTESTS := $(addprefix $(BUILD)/ctest/,$(notdir $(CTEST_SRC:%.c=%)))
vpath test_%.c $(sort $(dir $(CTEST_SRC)))
# The baseline has vector math of its own.
LIBS := $(if $(filter-out default,$(CAPS)),-lsleef) -lz -lm -lpthread -ldl
# Tables of pointers are half a megabyte of relocations, or 10 KB packed, which
# loaders read from glibc 2.36 on: where the linker offers it.
PACKED := -Wl,-z,pack-relative-relocs
RELR := $(if $(shell $(CC) -Wl,--help 2>/dev/null | grep pack-relative-relocs),$(PACKED))
# The module stays mapped: threads and their last words live in it.
SHARED := -shared -Wl,-z,nodelete -Wl,--exclude-libs,ALL $(RELR)

MODULE := $(BUILD)/lunarray.so
STATIC := $(BUILD)/liblunarray.a
DYNAMIC := $(BUILD)/liblunarray.so.$(SOVERSION)
PROGRAM := $(BUILD)/lunarray
# Ranks of MPI (lunarray.mpi), where its compiler is; never a part of the core.
# MPICC=mpicc.mpich builds for another MPI than the usual one.
MPICC ?= mpicc
MPI_MODULE := $(if $(or $(COMPILER),$(filter-out release,$(KIND)),$(filter-out $(MODULES),mpi)),,$(if $(shell command -v $(MPICC) 2>/dev/null),$(BUILD)/lunarray_mpi.so))

.DELETE_ON_ERROR:
all: $(MODULE) $(STATIC) $(DYNAMIC) $(PROGRAM) $(MPI_MODULE)

# ---- compiling and linking ----

# Short lines; V=1 shows the commands.
Q := $(if $(V),,@)
say = $(if $(V),,@echo '  $(1)  $(2)')

# With sanitizers, paths that do not run here anyway are compiled quickly.
ifneq ($(filter asan ubsan tsan,$(KIND)),)
IDLE_default := -O0
IDLE_avx512 := $(if $(shell grep -m1 -o avx512vl /proc/cpuinfo 2>/dev/null),,-O0)
endif

# $(call RULE,source,object,flags,what is printed)
define RULE
$(2): $(1)
	@mkdir -p $$(@D)
	$$(call say,CC,$(4))
	$$(Q)$$(CC) $$(BASE) $$(OPT) $$(CFLAGS) $(3) -c $$< -o $$@
endef
# The level of a core source: of the file, else of its folder or the one around it,
# else that of the core.
core_level = $(if $(filter release,$(KIND)),$(or $(OPT_$(call key,$(1))),$(OPT_$(patsubst %/,%,$(dir $(call key,$(1))))),\
  $(OPT_$(firstword $(subst /, ,$(call key,$(1))))),$(OPT_core)))
core_flags = $(if $(filter src/repl/%,$(1))$(findstring /lua/,$(1)),,$(NO_UNWINDING)) $(call core_level,$(1)) $$(FLAGS_$(call key,$(1)))
level_of = $(if $(filter release,$(KIND)),$(if $(filter 1,$(words $(call source_caps,$(1)))),$(OPT_$(call kernel_key,$(1))),$(if $(filter default,$(2)),$(OPT_lowest),$(OPT_$(call kernel_key,$(1))))))
kernel_flags = $(NO_UNWINDING) $(call level_of,$(1),$(2)) $(FLAGS_kernel/$(firstword $(subst /, ,$(call kernel_key,$(1)))).$(2)) $$(IDLE_$(2)) $$(CAP_$(2)) -DLA_CAP=$(2)
also_flag = $(if $(strip $(1)),-D'LA_CAP_ALSO(X,n)=$(foreach c,$(1),X($(c),n))')
$(foreach s,$(CORE_SRC) $(REPL_SRC),$(eval $(call RULE,$(s),$(call object,$(s)),$(call core_flags,$(s)),$$<)))
$(foreach s,$(KERNEL_SRC),$(foreach c,$(call source_caps,$(s)),\
  $(eval $(call RULE,$(s),$(call object,$(s),$(call joined,$(c),$(call source_caps,$(s)))),\
    $(call kernel_flags,$(s),$(c)) $(call also_flag,$(call served,$(c),$(call source_caps,$(s)))),$$< $(c)))))
$(foreach s,$(EXTENSION_SRC),\
  $(eval $(call RULE,$(s),$(call extension_object,$(s)),$(call kernel_flags,$(s),$(call extension_of,$(s))),$$<)))

# Lists of what the modules have for each table; they exist before any object.
HASH := \#
module_rows = $(foreach m,$(MODULES),$(if $(wildcard modules/$m/$1),'$(HASH)include "modules/$m/$1"'))
$(OBJ)/modules/names.def: module_rows = $(foreach m,$(MODULES),'MODULE($m)')
$(MODULE_LISTS): $(OBJ)/modules/%: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(call module_rows,$*) > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(CORE_OBJ): | $(MODULE_LISTS)
module-lists: $(MODULE_LISTS)

# Other CAPS or targets: other objects, so everything is linked again.
$(OBJ)/objects.list: FORCE
	@mkdir -p $(@D)
	@echo '$(KERNEL_OBJ)' | cmp -s - $@ || echo '$(KERNEL_OBJ)' > $@
FLAGS_base/os/cpu := -D'LA_CAPS_BUILT=($(foreach c,$(CAPS),1u << LA_CAP_$(c) |) 0)'
$(OBJ)/base.os.cpu.o: $(OBJ)/objects.list

# The Lua modules are taken into embed.o, compressed: one row per file, of an
# identifier, the module's name and the path (lua/a/init.lua is module "a").
LUA_FILES := $(sort $(shell find lua $(wildcard $(MODULES:%=modules/%/lua)) -name '*.lua' 2>/dev/null) $(wildcard $(MODULES:%=modules/%/words.lua)))
# lunarray/nn/layers of lua/lunarray/nn/layers.lua; of files of a module
# lunarray/signal/design (modules/signal/lua/signal/design.lua) and, of its
# words, lunarray/words/signal.
module_of = $(word 2,$(subst /, ,$(1)))
lua_path = $(if $(filter lua/%,$(1)),$(1:lua/%.lua=%),lunarray/$(if $(filter %/words.lua,$(1)),words/$(module_of),$(patsubst modules/$(module_of)/lua/%.lua,%,$(1))))
lua_module = $(subst /,.,$(patsubst %/init,%,$(call lua_path,$(1))))
lua_row = E($(subst .,_,$(call lua_module,$(1))),"$(call lua_module,$(1))","$(OBJ)/$(1).gz")
FLAGS_lua/embed := -D'LA_EMBEDDED=$(foreach f,$(LUA_FILES),$(call lua_row,$(f)))'
$(OBJ)/lua.embed.o: $(LUA_FILES:%=$(OBJ)/%.gz) $(OBJ)/lua.embed.list
$(LUA_FILES:%=$(OBJ)/%.gz): $(OBJ)/%.gz: %
	@mkdir -p $(@D)
	$(Q)gzip -9nc $< > $@
$(OBJ)/lua.embed.list: FORCE
	@mkdir -p $(@D)
	@echo '$(LUA_FILES)' | cmp -s - $@ || echo '$(LUA_FILES)' > $@

FLAGS_repl/edit := $(shell pkg-config --cflags libedit 2>/dev/null)

$(STATIC): $(CORE_OBJ) $(KERNEL_OBJ) $(OBJ)/objects.list
	$(call say,AR,$@)
	$(Q)rm -f $@; $(AR) rcs $@ $(filter %.o,$^)
$(MODULE): $(CORE_OBJ) $(KERNEL_OBJ) $(OBJ)/objects.list
	$(call say,LD,$@)
	$(Q)$(CC) $(SHARED) $(OPT) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)
$(DYNAMIC): $(CORE_OBJ) $(KERNEL_OBJ) $(OBJ)/objects.list
	$(call say,LD,$@)
	$(Q)$(CC) $(SHARED) -Wl,-soname,$(@F) $(NO_UNDEFINED) $(OPT) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LUA_LIBS) $(LIBS)
	@ln -sf $(@F) $(BUILD)/liblunarray.so
# Sanitizers leave their symbols to the program that loads the library.
NO_UNDEFINED := $(if $(filter asan ubsan tsan,$(KIND)),,-Wl,--no-undefined)
# The program finds the library in its own folder (build/); installed it is
# linked anew, to find it in LIBDIR. link_program: program, where the library is
RPATH := -Wl,-rpath,
link_program = $(CC) $(OPT) $(if $2,'$(RPATH)$2') $(LDFLAGS) -o $1 $(REPL_OBJ) $(LINKED) $(DYNAMIC) -ledit $(LUA_LIBS) -lm
$(PROGRAM): $(REPL_OBJ) $(DYNAMIC)
	$(call say,LD,$@)
	$(Q)$(call link_program,$@,$$ORIGIN)
# What it uses of the library is found when it is loaded. The second is that of
# another MPI than the usual one, for mpi-check.
MPI_OTHER := $(BUILD)/$(notdir $(MPICC))
$(BUILD)/lunarray_mpi.so $(MPI_OTHER)/lunarray_mpi.so: $(wildcard modules/mpi/ranks/*.[ch]) include/lunarray.h
	@mkdir -p $(@D)
	$(call say,MPICC,$@)
	$(Q)$(MPICC) -std=gnu11 -D_GNU_SOURCE -O2 -fPIC -fvisibility=hidden $(WARN) -Iinclude -I. $(LUA_CFLAGS) $(CFLAGS) \
	  -shared -Wl,-z,nodelete $(LDFLAGS) $(filter %.c,$^) -o $@

$(CTESTS): $(BUILD)/ctest/%: %.c $(STATIC)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(BASE) $(OPT) $(CFLAGS) $< $(LINKED) $(STATIC) -o $@ -lcmocka $(LUA_LIBS) $(LIBS)

# Examples see what a host sees: the public header and the library.
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))
$(BUILD)/examples/%: examples/%.c $(STATIC)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -std=c11 $(WARN) -Iinclude $(LUA_CFLAGS) $(OPT) $(CFLAGS) $< $(LINKED) $(STATIC) -o $@ $(LUA_LIBS) $(LIBS)
# Those in C++ where there is a compiler for it.
ifneq ($(shell command -v $(CXX) 2>/dev/null),)
  CPP_EXAMPLES := $(patsubst examples/%.cpp,$(BUILD)/examples/%,$(wildcard examples/*.cpp))
endif
$(CPP_EXAMPLES): $(BUILD)/examples/%: examples/%.cpp include/lunarray.hpp $(STATIC)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CXX) -std=c++17 -Wall -Wextra -Iinclude $(LUA_CFLAGS) $(OPT) $(CXXFLAGS) $< $(STATIC) -o $@ $(LUA_LIBS) $(LIBS)
examples: $(EXAMPLES) $(CPP_EXAMPLES)

# A frame of particles next to a loop in C, what calls of a host cost, fields of structs.
HOST_BENCHES := $(addprefix $(BUILD)/bench/,particles hosts fields)
$(HOST_BENCHES): $(BUILD)/bench/%: bench/%.c $(STATIC)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -std=c11 -D_POSIX_C_SOURCE=200809L $(WARN) -Iinclude $(LUA_CFLAGS) $(OPT) $(CFLAGS) $< $(STATIC) -o $@ $(LUA_LIBS) $(LIBS)

# ---- checking ----

deps:
	@tools/deps.sh build test
build-deps:
	@tools/deps.sh build

# The two commands of the README use every processor, unless -j was given.
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 2))

ctests: $(CTESTS)
ctest: ctests
	@$(LUA) spec/run.lua ctest

lint: $(KERNEL_OBJ) $(CORE_OBJ)
	@$(LUA) spec/run.lua lint

check: all ctests examples
	@$(LUA) spec/run.lua lint ctest specs

# Everything, in about ten minutes: each CPU path, and once with sanitizers.
test: deps
	@$(MAKE) $(JOBS) --no-print-directory all ctests examples
	@$(MAKE) $(JOBS) --no-print-directory KIND=asan $(ASAN_CAPS) all ctests
	@$(MAKE) $(JOBS) --no-print-directory CC=clang KIND=debug all ctests
	@$(LUA) spec/run.lua lint ctest clang specs-each-path asan rock packages cross sizes embed

# The sources are the same on every CPU path: under sanitizers two do, one of
# scalar and one of wide vectors, and the build takes half the time.
ASAN_CAPS := CAPS="default avx2"

asan ubsan tsan debug:
	@$(MAKE) --no-print-directory KIND=$@ $(if $(filter debug,$@),,$(ASAN_CAPS)) all ctests
clang-check:
	@$(MAKE) --no-print-directory CC=clang KIND=debug all ctests
	@$(LUA) spec/run.lua clang
asan-check: asan
	@$(LUA) spec/run.lua asan
tsan-check: tsan
	@$(LUA) spec/run.lua tsan
ubsan-check: ubsan
	@$(LUA) spec/run.lua ubsan
valgrind: debug
	@$(LUA) spec/run.lua valgrind

# For other systems, with their tests, in build/cross: under qemu, wine, natively,
# under node.
cross: cross-aarch64 cross-mingw cross-musl cross-wasm cross-macos cross-wasi
cross-aarch64 cross-mingw cross-musl cross-wasm: cross-%:
	@tools/deps.sh $*
	@tools/cross/build.sh $* $(JOBS)
# No more than a syntax check: Debian has no SDK for it.
cross-macos:
	@tools/deps.sh macos
	@tools/cross/macos.sh
# The same for WebAssembly, kernels as well, where emscripten is too large: by
# clang and 2 MB of headers, in seconds.
cross-wasi:
	@tools/deps.sh wasi
	@tools/cross/wasi.sh

# build/wasm/lunarray.js and lunarray.wasm: the library for web pages.
wasm:
	@tools/deps.sh wasm
	@PAGE_ONLY=1 tools/cross/build.sh wasm $(JOBS)
	@ls -l build/wasm

# ---- one file ----

# build/embed/lunarray.c and lunarray.h, and lunarray.hpp: the library of CAPS
# and FAMILIES (folders of src/op, io, image and plot; all by default; "-nn"
# leaves one out) for one call of a compiler,
# without SLEEF (docs/embedding.md). It is written by tools/embed, which asks
# the preprocessor what sources declare.
EMBED := $(BUILD)/embed
FAMILIES ?=
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
	$(Q)$(LUA) tools/embed/embed.lua OUT='$(EMBED)' LISTS='$(OBJ)' CC='$(CC)' CFLAGS='-Isrc -Iinclude -I. -I$(OBJ) $(LUA_CFLAGS)' \
	  VERSION='$(VERSION)' CAPS='$(CAPS)' FAMILIES='$(FAMILIES)' CORE='$(filter-out src/base/os/os_%,$(CORE_SRC))' SYSTEMS='$(EMBED_SYSTEMS)' \
	  KERNELS='$(EMBED_KERNELS)' TARGETS='$(EMBED_TARGETS)' COLD='$(foreach s,$(CORE_SRC),$(if $(filter -Os,$(call core_level,$s)),$s))' LUA_FILES='$(LUA_FILES)' \
	  DEFINES='_GNU_SOURCE= LA_NO_SLEEF LA_NO_ZLIB LA_CAPS_BUILT=$(EMBED_CAPS) LA_VERSION_TEXT="$(VERSION)"'

# All of it, compiled by one call and tried, linked statically, too: its size, the
# compiler's time, of which warnings would be half.
# EMBED_LIMIT: a stripped program of more megabytes is an error.
EMBED_CHECK := $(BUILD)/embed-check
EMBED_OPT ?= -Oz
EMBED_LIMIT ?= 1000
# gcc collects its garbage less often: a sixth of its time.
EMBED_HEAP := $(if $(COMPILER),,--param ggc-min-expand=400 --param ggc-min-heapsize=1000000)
EMBED_COMPILE = $(CC) -std=c11 -w $(EMBED_OPT) $(EMBED_HEAP) -fno-asynchronous-unwind-tables -ffunction-sections
LUA_STATIC = $(shell pkg-config --static --libs lua5.4 2>/dev/null || echo -llua5.4 -ldl)
EMBED_LINK = $(CC) $(CURDIR)/spec/embed/host.c lunarray.o -I. $(LUA_CFLAGS)
embed-check:
	@$(MAKE) --no-print-directory embed EMBED=$(EMBED_CHECK)
	@cd $(EMBED_CHECK) && $(SHELL) -c "CCACHE_DISABLE=1 $(EMBED_COMPILE) -c lunarray.c -o lunarray.o $(LUA_CFLAGS) && times" && \
	  $(EMBED_LINK) -o host $(LUA_LIBS) -lm -lpthread -Wl,--gc-sections $(RELR) && \
	  $(STRIP) host && bytes=`wc -c < host` && echo "$$bytes bytes, at most $(EMBED_LIMIT) MB" && test $$bytes -le $(EMBED_LIMIT)000000
	@for c in $(CAPS); do LUNARRAY_CPU=$$c $(EMBED_CHECK)/host spec/embed/smoke.lua || exit 1; done
	@cd $(EMBED_CHECK) && $(EMBED_LINK) -static -o static $(LUA_STATIC) -lm -lpthread 2> log || { cat log; exit 1; }
	@$(EMBED_CHECK)/static spec/embed/smoke.lua

# ---- showing ----

# The manual as HTML in build/docs, with a search box that needs no network.
docs: $(if $(wildcard tools/reference.lua),reference)
	@tools/deps.sh docs
	@$(LUA) tools/site/build.lua $(BUILD)/docs $(if $(wildcard tools/reference.lua),$(BUILD)/reference)

demo: build-deps
	@$(MAKE) $(JOBS) --no-print-directory $(PROGRAM) $(MODULE) $(BUILD)/examples/host_digits
	$(PROGRAM) examples/digits.lua $(BUILD)/digits_weights.npy
	$(PROGRAM) examples/digits_cnn.lua $(BUILD)/digits_cnn.safetensors
	$(BUILD)/examples/host_digits $(BUILD)/digits_cnn.safetensors examples/data

$(BUILD)/floor.so: bench/floor.c
	@mkdir -p $(@D)
	$(CC) -O3 -fPIC -shared $(LUA_CFLAGS) $< -o $@ -lpthread
bench: all $(BUILD)/floor.so
	$(LUA) bench/run.lua $(BENCH_ARGS)
# Peers come from PyPI into an environment of their own (gigabytes, minutes);
# BENCH_PYTHON names another one.
BENCH_PYTHON ?= build/peers/bin/python
bench-peers: all $(BUILD)/floor.so $(BENCH_PYTHON)
	BENCH_PYTHON=$(BENCH_PYTHON) $(LUA) bench/run.lua --peers $(BENCH_ARGS)
# FUZZ="--calls 1000000 --seed 7"; with KIND=asan under the sanitizers.
fuzz: all
	LUNARRAY_PROGRAM=$(PROGRAM) $(PROGRAM) spec/registry/fuzz.lua $(FUZZ)
# Random calls of every operation against PyTorch, by the schemas of the
# registry: DIFFERENTIAL="--seeds 1-20 --calls 4000 --ops '^sum$$'".
differential: all $(BENCH_PYTHON)
	$(BENCH_PYTHON) tools/differential.py $(DIFFERENTIAL)
# Collective calls through tensors next to the bare ones of MPI; RANKS=4 for more.
RANKS ?= 2
MPIRUN ?= mpirun
# Specs of lunarray.mpi with another MPI: MPICC=mpicc.mpich MPIRUN=mpirun.mpich.
mpi-check: all $(MPI_OTHER)/lunarray_mpi.so
	LUNARRAY_MPI_BUILD=$(MPI_OTHER) MPIRUN=$(MPIRUN) LUNARRAY_PROGRAM=$(PROGRAM) LUA_CPATH='$(BUILD)/?.so;;' \
	  LUA_PATH='./?.lua;lua/?.lua;lua/?/init.lua;;' $(LUA) `command -v busted` modules/mpi/spec/mpi_spec.lua
bench-mpi: all
	$(MPICC) -O2 -fPIC -shared -Iinclude $(LUA_CFLAGS) bench/mpi_calls.c -o $(BUILD)/mpi_calls.so
	LUNARRAY_NUM_THREADS=1 $(MPIRUN) -n $(RANKS) $(PROGRAM) bench/mpi_calls.lua $(BUILD)/mpi_calls.so $(BENCH_ARGS)
bench-sweep: all $(BUILD)/floor.so $(BENCH_PYTHON)
	BENCH_PYTHON=$(BENCH_PYTHON) $(LUA) bench/sweep.lua $(BENCH_ARGS)
build/peers/bin/python:
	python3 -m venv build/peers
	build/peers/bin/pip install -q numpy scipy numexpr jax ml_dtypes torch

# ---- installing ----

LUA_CMOD ?= $(PREFIX)/lib/lua/5.4
LUA_LMOD ?= $(PREFIX)/share/lua/5.4
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
fill = sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' -e 's|@VERSION@|$(VERSION)|g' \
  -e 's|@LIBS@|$(LIBS)|g' -e 's|@INCLUDEDIR@|$(call relative,$(CMAKEDIR),$(PREFIX)/include)|g' \
  -e 's|@LIBRARY@|$(call relative,$(CMAKEDIR),$(LIBDIR))|g' packaging/$1.in > $(D)$2/$1 && chmod 644 $(D)$2/$1

# One library serves the program, C hosts and, by a symbolic link, require.
# What is installed has no symbols but those to link with.
install: all install-lua types
	install -d $(D)$(PREFIX)/bin $(D)$(LIBDIR)/pkgconfig $(D)$(CMAKEDIR) $(D)$(PREFIX)/include \
	  $(D)$(LUA_CMOD) $(D)$(MANDIR)/man1
	$(call link_program,$(D)$(PREFIX)/bin/lunarray,$(INSTALL_RUNPATH))
	$(STRIP) $(D)$(PREFIX)/bin/lunarray && chmod 755 $(D)$(PREFIX)/bin/lunarray
	install -s -m 644 $(DYNAMIC) $(D)$(LIBDIR)/liblunarray.so.$(VERSION)
	ln -sf liblunarray.so.$(VERSION) $(D)$(LIBDIR)/liblunarray.so.$(SOVERSION)
	ln -sf liblunarray.so.$(SOVERSION) $(D)$(LIBDIR)/liblunarray.so
	install -m 644 $(STATIC) $(D)$(LIBDIR)/liblunarray.a
	$(STRIP) --strip-unneeded $(D)$(LIBDIR)/liblunarray.a
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
# Ranks of MPI, apart: who has no MPI cannot load it.
install-mpi: $(MPI_MODULE)
	install -d $(D)$(LUA_CMOD)
	$(if $(MPI_MODULE),,$(error there is no $(MPICC): apt-get install openmpi-bin libopenmpi-dev))
	install -s -m 755 $(MPI_MODULE) $(D)$(LUA_CMOD)/lunarray_mpi.so
install-lua:
	set -e; for f in $(foreach f,$(LUA_FILES),$f:$(call lua_path,$f).lua); do install -D -m 644 $${f%%:*} $(D)$(LUA_LMOD)/$${f##*:}; done

# What install and install-module made, and the folders that are theirs alone.
LUA_FOLDERS := $(sort $(dir $(foreach f,$(LUA_FILES),$(call lua_path,$f))))
uninstall:
	rm -f $(D)$(PREFIX)/bin/lunarray $(D)$(LIBDIR)/liblunarray.so.$(VERSION) \
	  $(D)$(LIBDIR)/liblunarray.so.$(SOVERSION) $(D)$(LIBDIR)/liblunarray.so \
	  $(D)$(LIBDIR)/liblunarray.a $(D)$(LIBDIR)/pkgconfig/lunarray.pc \
	  $(D)$(CMAKEDIR)/lunarray-config.cmake $(D)$(CMAKEDIR)/lunarray-config-version.cmake \
	  $(D)$(MANDIR)/man1/lunarray.1 $(D)$(PREFIX)/include/lunarray.h \
	  $(D)$(PREFIX)/include/lunarray.hpp $(D)$(LUA_CMOD)/lunarray.so $(D)$(LUA_CMOD)/lunarray_mpi.so \
	  $(foreach f,$(LUA_FILES),$(D)$(LUA_LMOD)/$(call lua_path,$f).lua)
	rm -rf $(D)$(TYPESDIR)
	-for f in $$(echo '$(LUA_FOLDERS)' | tr ' ' '\n' | sort -r); do \
	  rmdir $(D)$(LUA_LMOD)/$$f 2>/dev/null; done; rmdir $(D)$(CMAKEDIR) $(D)$(PREFIX)/share/lunarray 2>/dev/null; true

# Debian packages of this tree in build/deb, from what is built. They are made
# in a folder of their own with debian/ at its top, as dpkg-buildpackage wants.
deb: all
	@tools/deps.sh deb
	@rm -rf build/deb && mkdir -p build/deb/lunarray-$(VERSION)
	@git ls-files | cpio -pdm --quiet build/deb/lunarray-$(VERSION)
	@cp -a packaging/debian build/deb/lunarray-$(VERSION)/debian && ln -s ../.. build/deb/lunarray-$(VERSION)/build
	@packaging/changelog.sh $(VERSION) > build/deb/lunarray-$(VERSION)/debian/changelog
	cd build/deb/lunarray-$(VERSION) && dpkg-buildpackage -b -us -uc -d
	lintian --fail-on error --suppress-tags bad-distribution-in-changes-file build/deb/*.changes

# Bytes of what is installed, and of the kernels by folder and capability;
# SIZES_LIMIT: a module of more megabytes is an error.
sizes: all
	@STRIP=$(STRIP) $(LUA) tools/sizes.lua $(BUILD) $(SIZES_LIMIT)

# docs/coverage.md: operations by dtypes, forms and derivatives, from their rows.
coverage: all
	@LUA_CPATH="$(BUILD)/?.so;;" $(LUA) tools/coverage.lua docs/coverage.md

# The reference as Markdown, from lunarray.help.
.PHONY: reference
reference: all
	@LUA_CPATH="$(BUILD)/?.so;;" $(LUA) tools/reference.lua $(BUILD)/reference

# Annotations for editors, from lunarray.help.
.PHONY: types
types: all
	@LUA_CPATH="$(BUILD)/?.so;;" $(LUA) tools/types.lua $(BUILD)/types

clean:
	rm -rf build

help:
	@echo 'make              the module, the libraries and the program, in build/'
	@echo 'make demo         install what is missing, build, train on real digits, run from C'
	@echo 'make test         install what is missing, build, run everything'
	@echo 'make check        build, lint, C tests, specs on the best CPU path'
	@echo 'make lint ctest   one part of it; examples: the C examples'
	@echo 'make debug asan ubsan tsan    a build of that kind, in build/KIND'
	@echo 'make asan-check ubsan-check tsan-check valgrind    and its checks'
	@echo 'make clang-check  the C tests, all built by clang without optimisation'
	@echo 'make cross        for aarch64, Windows (mingw), musl and WebAssembly, in build/cross, and their tests'
	@echo 'make wasm         build/wasm/lunarray.js and .wasm, for web pages (docs/web.md)'
	@echo 'make bench        figures of this machine; bench-peers: with NumPy, PyTorch'
	@echo 'make fuzz         random calls: FUZZ="--calls N --seed N --ops PATTERN"; KIND=asan'
	@echo 'make differential random calls against PyTorch: DIFFERENTIAL="--seeds 1-20"'
	@echo 'make bench-mpi    collective calls of lunarray.mpi next to the bare ones: RANKS=2'
	@echo 'make bench-sweep  every dtype of whole families of operations, with them'
	@echo 'make install      to PREFIX ($(PREFIX)), below DESTDIR; uninstall'
	@echo 'make deb          Debian packages in build/deb'
	@echo 'make mpi-check    specs of lunarray.mpi with MPICC=mpicc.mpich MPIRUN=mpirun.mpich'
	@echo 'make install-mpi  lunarray.mpi, where mpicc is'
	@echo 'make install-module    the module and its Lua files alone (luarocks)'
	@echo 'make sizes        bytes of libraries, program, kernels by CPU capability'
	@echo 'make embed        the library as one C file: build/embed/lunarray.c; CAPS, FAMILIES'
	@echo 'make embed-check  that file compiled by one call and tried: size, time; EMBED_OPT'
	@echo 'make coverage     docs/coverage.md from the rows of the operations'
	@echo 'make docs         the manual as HTML in build/docs'
	@echo 'make types        annotations for editors: build/types, from the words'
	@echo 'make reference    pages of all words: build/reference/*.md'
	@echo 'make deps         install the packages to build and to test'
	@echo 'make clean        remove build/'
	@echo 'Variables: CC=gcc|clang KIND=release|debug|asan|ubsan|tsan CFLAGS LDFLAGS V=1'
	@echo '           CAPS="$(ALL_CAPS)" or fewer of these CPU capabilities: smaller, faster to build'

-include $(shell find $(OBJ) $(BUILD)/ctest -name '*.d' 2>/dev/null)
.PHONY: cross cross-aarch64 cross-mingw cross-musl cross-wasm cross-macos cross-wasi wasm \
  all examples deps build-deps ctests ctest lint check test asan ubsan tsan debug \
  fuzz differential clang-check asan-check ubsan-check tsan-check valgrind luarocks demo bench bench-peers \
  bench-sweep bench-mpi mpi-check deb install install-module install-mpi install-lua uninstall sizes coverage docs embed embed-check module-lists clean help FORCE
FORCE:
