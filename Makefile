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

# The Lua that is compiled for, 5.4 or 5.5; LUA above runs the tools.
LUA_VERSION ?= 5.4
LUA_CFLAGS := $(shell pkg-config --cflags lua$(LUA_VERSION) 2>/dev/null || echo -I/usr/include/lua$(LUA_VERSION))
LUA_LIBS := $(shell pkg-config --libs lua$(LUA_VERSION) 2>/dev/null || echo -llua$(LUA_VERSION))

MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
OS := $(or $(strip $(foreach o,mingw-windows darwin-macos emscripten-wasm,$(if $(findstring $(word 1,$(subst -, ,$o)),$(MACHINE)),$(word 2,$(subst -, ,$o))))),linux)

WARN := -Wall -Wextra -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wundef -Wvla \
  -Wno-unused-parameter -Wno-psabi $(if $(COMPILER),-Wno-pass-failed -Wno-unused-command-line-argument)
BASE := -std=gnu11 -fPIC -fvisibility=hidden -fno-math-errno -ffp-contract=off \
  -fno-semantic-interposition -Isrc -Iinclude -I. -I$(OBJ) $(LUA_CFLAGS) $(WARN) \
  -DLA_VERSION_TEXT='"$(VERSION)"' $(if $(filter windows,$(OS)),-include src/base/os/windows.h) -MMD -MP
# The loaders of musl and of Android give no module of a running program static
# thread-local storage, which is the cheapest elsewhere. The machine of musl-gcc,
# a wrapper, is that of the compiler inside.
MUSL := $(findstring musl,$(MACHINE) $(CC))
TLS := $(if $(MUSL)$(findstring android,$(MACHINE)),,-ftls-model=initial-exec)
# Kernels are vectors by hand: -O3 only copies their bodies once more. What a
# small call runs through, and the kernels with a line in src/kernel/targets.mk,
# are measurably slower without it; src/targets.mk names what gains nothing from
# it. The copy for the lowest capability, where there are others, is for old
# processors and small.
# Lua's errors unwind, as exceptions in a Lua that was compiled as C++, but never
# below src/lua.
OPT_release := -O2 -ftree-vectorize $(if $(COMPILER),,-fvect-cost-model=dynamic) -DNDEBUG $(TLS)
NO_UNWINDING := $(if $(filter release,$(KIND)),-fno-asynchronous-unwind-tables)
OPT_lowest := $(if $(filter release,$(KIND)),-Os)
# Kernels run through their loops, which stay aligned; before functions and what
# is jumped to, a thirtieth of the bytes would be gaps. (clang has other switches.)
DENSE := $(if $(COMPILER),,-fno-align-functions -fno-align-jumps -fno-align-labels)
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
ASKED_CAPS := $(filter command,$(origin CAPS))
CAPS := $(ALL_CAPS)
# Those that the target does not have fall away, a misspelt one does not.
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
FALLBACK := $(if $(filter-out $(LOWEST),$(CAPS)),-DLA_FALLBACK) # of the lowest
# What an object is for, in its name: avx2+avx512.
joined = $(subst $(subst ,, ),+,$(strip $(1) $(call served,$(1),$(2))))

# ISA extensions: sources in src/kernel/<extension>, with flags of their own;
# empty tables where the compiler does not know those, or CAPS lacks avx512.
EXTENSIONS := avx512_vnni avx512_bf16 amx
known = $(if $(shell echo | $(CC) $(1) -E - >/dev/null 2>&1 && echo yes),$(1))
ifneq ($(filter avx512,$(CAPS)),)
CAP_avx512_vnni := $(CAP_avx512) $(call known,-mavx512vnni)
CAP_avx512_bf16 := $(CAP_avx512) $(call known,-mavx512bf16)
CAP_amx := $(CAP_avx512_bf16) $(if $(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)),$(call known,-mamx-tile -mamx-bf16))
endif
# Modules: the folders of modules/ that are built, all by default; "-game" leaves
# one out. Those that others need (NEEDS_<name> in their module.mk) come along.
# What a module adds to a table of the core lies in a file of that table's name,
# and a list of these stands in the build folder: the core includes
# modules/ops.def and so on (modules/README.md).
ALL_MODULES := $(sort $(patsubst modules/%/README.md,%,$(wildcard modules/*/README.md)))
MODULES := $(ALL_MODULES)
include $(wildcard modules/*/module.mk)
UNKNOWN_MODULES := $(filter-out $(ALL_MODULES),$(MODULES:-%=%))
$(if $(UNKNOWN_MODULES),$(error MODULES: there is no $(UNKNOWN_MODULES), only $(ALL_MODULES)))
# $(call with_needed,<modules>): those and what they need
needed = $(sort $1 $(foreach m,$1,$(NEEDS_$m)))
with_needed = $(if $(filter-out $1,$(needed)),$(call with_needed,$(needed)),$1)
LEFT_OUT := $(patsubst -%,%,$(filter -%,$(MODULES)))
override MODULES := $(call with_needed,$(or $(filter-out -%,$(MODULES)),$(if $(LEFT_OUT),$(filter-out $(LEFT_OUT),$(ALL_MODULES)))))
MISSED := $(filter $(LEFT_OUT),$(MODULES))
$(foreach m,$(MISSED),$(error MODULES: without $m there is no $(strip $(foreach o,$(MODULES),$(if $(filter $m,$(NEEDS_$o)),$o)))))
MODULE_TABLES := ops.def grads.def grads.h aliases.def theme.def binding.def \
  readers.def
MODULE_LISTS := $(addprefix $(OBJ)/modules/,$(MODULE_TABLES) names.def)
MODULE_SRC := $(filter-out $(foreach m,$(MODULES),$(addprefix modules/$m/,kernel/% spec/% ranks/%)),$(wildcard $(foreach m,$(MODULES),modules/$m/*.c modules/$m/*/*.c)))
# Of the files about operating systems the one that the compiler is for, and
# what it shares with others.
OS_linux := posix unix
OS_macos := posix unix
OS_wasm := posix
# Replaces the binding in a library without Lua.
NO_LUA_SRC := src/api/no_lua.c
CORE_SRC := $(MODULE_SRC) $(filter-out src/base/os/os_%,$(filter-out $(NO_LUA_SRC),$(wildcard $(foreach f,base tensor iter op grad program fuse vmap io api lua,src/$(f)/*.c src/$(f)/*/*.c)))) \
  src/base/os/os_$(OS).c $(OS_$(OS):%=src/base/os/os_%.c)
# The binding of Lua.
LUA_SRC := $(filter src/lua/% $(MODULES:%=modules/%/lua/%),$(CORE_SRC))
EXTENSION_SRC := $(wildcard $(EXTENSIONS:%=src/kernel/%/*.c))
KERNEL_SRC := $(filter-out $(EXTENSION_SRC),$(wildcard src/kernel/*/*.c $(MODULES:%=modules/%/kernel/*.c)))
REPL_SRC := $(wildcard src/repl/*.c)
# src/op/sort/unique.c becomes op.sort.unique.o: members of the archive have
# names of their own. Kernels end in their capabilities: kernel.reduce.sum.avx2.o.
# The name of a source in the variables that say how it is compiled:
# op/sort/unique, modules/game/noise; of a kernel reduce/sum, game/rows.
key = $(patsubst src/%,%,$(1:%.c=%))
$(foreach s,$(CALL_LISTS),$(eval OPT_$(call key,$s) := -Os))
kernel_key = $(subst /kernel/,/,$(patsubst kernel/%,%,$(patsubst modules/%,%,$(call key,$(1)))))
object = $(OBJ)/$(subst /,.,$(call key,$(1)))$(addprefix .,$(2)).o
extension_of = $(word 3,$(subst /, ,$(1)))
extension_object = $(call object,$(1),$(call extension_of,$(1))$(if $(CAP_$(call extension_of,$(1))),,.off))
# BORROW=build/obj: objects that the build there has are linked here again, but
# those that the lists of modules and the embedded Lua files are compiled into,
# and those that see Lua's header, if it is another one (BORROW_LUA=no).
LISTED := $(if $(BORROW),lua.embed.o $(notdir $(patsubst %.d,%.o,$(shell grep -l -e $(BORROW)/modules/ $(if $(filter no,$(BORROW_LUA)),-e /lua.h) $(BORROW)/*.d))))
BORROWED := $(if $(BORROW),$(filter-out $(LISTED),$(notdir $(wildcard $(BORROW)/*.o))))
linked = $(if $(BORROW),$(foreach o,$1,$(if $(filter $(notdir $o),$(BORROWED)),$(BORROW)/$(notdir $o),$o)),$1)
CORE_OBJ := $(call linked,$(foreach s,$(CORE_SRC),$(call object,$(s))))
PLAIN_OBJ := $(call linked,$(foreach s,$(filter-out $(LUA_SRC),$(CORE_SRC)) $(NO_LUA_SRC),$(call object,$(s))))
KERNEL_OBJ := $(call linked,$(foreach s,$(KERNEL_SRC),$(foreach c,$(call source_caps,$(s)),\
  $(call object,$(s),$(call joined,$(c),$(call source_caps,$(s)))))) \
  $(foreach s,$(EXTENSION_SRC),$(call extension_object,$(s))))
REPL_OBJ := $(call linked,$(foreach s,$(REPL_SRC),$(call object,$(s))))
CTEST_SRC := $(wildcard spec/c/*/test_*.c $(MODULES:%=modules/%/spec/test_*.c))
CTESTS := $(addprefix $(BUILD)/ctest/,$(notdir $(CTEST_SRC:%.c=%)))
vpath test_%.c $(sort $(dir $(CTEST_SRC)))
# The baseline has vector math of its own.
LIBS := $(if $(filter-out default,$(CAPS)),-lsleef) -lz -lm -lpthread -ldl
# Tables of pointers are half a megabyte of relocations, or 10 KB packed, which
# loaders read from glibc 2.36 and musl 1.2.4 on: where the linker offers it, and
# for musl, where nothing says that the loader is too old, not at all.
PACKED := -Wl,-z,pack-relative-relocs
RELR := $(if $(MUSL),,$(if $(shell $(CC) -Wl,--help 2>/dev/null | grep pack-relative-relocs),$(PACKED)))
# The module stays mapped: threads and their last words live in it.
SHARED := -shared -Wl,-z,nodelete -Wl,--exclude-libs,ALL $(RELR)

MODULE := $(BUILD)/lunarray.so
STATIC := $(BUILD)/liblunarray.a
DYNAMIC := $(BUILD)/liblunarray.so.$(SOVERSION)
PROGRAM := $(BUILD)/lunarray
# The library without Lua (make core), for hosts in other languages.
PLAIN_STATIC := $(BUILD)/liblunarray-core.a
PLAIN_DYNAMIC := $(BUILD)/liblunarray-core.so.$(SOVERSION)
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

# The Lua modules are taken into embed.o, compressed and without indentation and
# lines of comments (where no string goes over several lines), whose lines stay,
# empty: one row per file, of an identifier, the module's name and the path
# (lua/a/init.lua is module "a").
LUA_FILES := $(sort $(shell find lua $(wildcard $(MODULES:%=modules/%/lua)) -name '*.lua' 2>/dev/null) $(wildcard $(MODULES:%=modules/%/words.lua)))
# lunarray/nn/layers of lua/lunarray/nn/layers.lua; of files of a module
# lunarray/signal/design (modules/signal/lua/signal/design.lua) and, of its
# words, lunarray/words/signal.
module_of = $(word 2,$(subst /, ,$(1)))
lua_path = $(if $(filter lua/%,$(1)),$(1:lua/%.lua=%),lunarray/$(if $(filter %/words.lua,$(1)),words/$(module_of),$(patsubst modules/$(module_of)/lua/%.lua,%,$(1))))
lua_module = $(subst /,.,$(patsubst %/init,%,$(call lua_path,$(1))))
lua_row = E($(subst .,_,$(call lua_module,$(1))),"$(call lua_module,$(1))","$(OBJ)/$(1).gz")
FLAGS_lua/embed := -D'LA_EMBEDDED=$(foreach f,$(LUA_FILES),$(call lua_row,$(f)))'
FLAGS_base/os/cpu := -D'LA_CAPS_BUILT=($(foreach c,$(CAPS),1u << LA_CAP_$(c) |) 0)'
LIBEDIT_CFLAGS := $(shell pkg-config --cflags libedit 2>/dev/null)
$(foreach f,$(patsubst src/%.c,%,$(wildcard src/repl/edit*.c)),$(eval FLAGS_$(f) := $(LIBEDIT_CFLAGS)))

# What a file was made by is kept in a text, which is written again when it is
# another now: so changed flags make anew what they touch, and nothing else.
# $(call RECORD,file,name of a variable with the text)
DRY := $(findstring n,$(firstword -$(MAKEFLAGS)))
differ = $(subst x$(1),,x$(2))$(subst x$(2),,x$(1))
define RECORD
$(1): $(if $(call differ,$(strip $(file <$(1))),$(strip $($(2)))),FORCE) | $(OBJ)/made-by
	$$(if $(DRY),,$$(file >$$@,$(subst $$,$$$$,$(strip $($(2))))))@:
endef
$(OBJ)/made-by:
	@mkdir -p $@

# $(call RULE,source,object,flags,what is printed)
define RULE
COMMAND := $(CC) $(BASE) $(OPT) $(CFLAGS) $(3)
$$(eval $$(call RECORD,$$(OBJ)/made-by/$$(notdir $(2)),COMMAND))
$(2): $(1) $(OBJ)/made-by/$(notdir $(2))
	$$(call say,CC,$(4))
	$$(Q)$$(CC) $$(BASE) $$(OPT) $$(CFLAGS) $(3) -c $$< -o $$@
endef
# The level of a core source: of the file, else of its folder or the one around it,
# else that of the core.
core_level = $(if $(filter release,$(KIND)),$(or $(OPT_$(call key,$(1))),$(OPT_$(patsubst %/,%,$(dir $(call key,$(1))))),\
  $(OPT_$(firstword $(subst /, ,$(call key,$(1))))),$(OPT_core)))
core_flags = $(if $(filter src/repl/%,$(1))$(findstring /lua/,$(1)),,$(NO_UNWINDING)) $(call core_level,$(1)) $$(FLAGS_$(call key,$(1)))
level_of = $(if $(filter release,$(KIND)),$(if $(filter 1,$(words $(call source_caps,$(1)))),$(OPT_$(call kernel_key,$(1))),$(if $(filter default,$(2)),$(OPT_lowest),$(OPT_$(call kernel_key,$(1))))))
kernel_flags = $(NO_UNWINDING) $(call level_of,$(1),$(2)) $(if $(filter release,$(KIND)),$(if $(filter $(ALIGNED),$(call kernel_key,$(1))),,$(DENSE))) $(FLAGS_kernel/$(firstword $(subst /, ,$(call kernel_key,$(1)))).$(2)) $$(IDLE_$(2)) $$(CAP_$(2)) -DLA_CAP=$(2) $(if $(filter $(2),$(LOWEST)),$(FALLBACK))
also_flag = $(if $(strip $(1)),-D'LA_CAP_ALSO(X,n)=$(foreach c,$(1),X($(c),n))')
$(foreach s,$(CORE_SRC) $(NO_LUA_SRC) $(REPL_SRC),$(eval $(call RULE,$(s),$(call object,$(s)),$(call core_flags,$(s)),$$<)))
$(foreach s,$(KERNEL_SRC),$(foreach c,$(call source_caps,$(s)),\
  $(eval $(call RULE,$(s),$(call object,$(s),$(call joined,$(c),$(call source_caps,$(s)))),\
    $(call kernel_flags,$(s),$(c)) $(call also_flag,$(call served,$(c),$(call source_caps,$(s)))),$$< $(c)))))
$(foreach s,$(EXTENSION_SRC),\
  $(eval $(call RULE,$(s),$(call extension_object,$(s)),$(call kernel_flags,$(s),$(call extension_of,$(s))),$$<)))

$(OBJ)/lua.embed.o: $(LUA_FILES:%=$(OBJ)/%.gz)
$(LUA_FILES:%=$(OBJ)/%.gz): $(OBJ)/%.gz: %
	@mkdir -p $(@D)
	$(Q)if grep -qE '\[=*\[|\\$$' $<; then cat $<; else sed -E 's/^ *(--.*)?//' $<; fi | gzip -9nc > $@

# Lists of what the modules have for each table; they exist before any object.
HASH := \#
module_rows = $(wildcard $(MODULES:%=modules/%/$1))
TABLE_ROWS := $(MODULES): $(foreach t,$(MODULE_TABLES),$(call module_rows,$t))
$(eval $(call RECORD,$(OBJ)/made-by/modules,TABLE_ROWS))
$(MODULE_LISTS): $(OBJ)/modules/%: $(OBJ)/made-by/modules
	@mkdir -p $(@D)
	@printf '%s\n' $(if $(filter %/names.def,$@),$(patsubst %,'MODULE(%)',$(MODULES)),$(patsubst %,'$(HASH)include "%"',$(call module_rows,$*))) > $@
$(CORE_OBJ) $(PLAIN_OBJ): | $(MODULE_LISTS)
module-lists: $(MODULE_LISTS)

# Other objects or flags of the linker: everything is linked again. The lints
# read which objects there are.
OBJECTS := $(CORE_OBJ) $(KERNEL_OBJ) $(REPL_OBJ)
$(eval $(call RECORD,$(OBJ)/made-by/objects,OBJECTS))
LINKING := $(CC) $(OPT) $(LDFLAGS) $(RELR) $(LIBS) $(LUA_LIBS)
$(eval $(call RECORD,$(OBJ)/made-by/linking,LINKING))
LINKED_BY := $(OBJ)/made-by/objects $(OBJ)/made-by/linking

$(MODULE): $(CORE_OBJ) $(KERNEL_OBJ) $(LINKED_BY)
	$(call say,LD,$@)
	$(Q)$(CC) $(SHARED) $(OPT) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)
# The library with Lua, and without.
core: $(PLAIN_STATIC) $(PLAIN_DYNAMIC)
$(STATIC) $(DYNAMIC): $(CORE_OBJ)
$(PLAIN_STATIC) $(PLAIN_DYNAMIC): $(PLAIN_OBJ)
$(STATIC) $(PLAIN_STATIC): $(KERNEL_OBJ) $(LINKED_BY)
	$(call say,AR,$@)
	$(Q)rm -f $@; $(AR) rcs $@ $(filter %.o,$^)
$(DYNAMIC): LINKED_LUA := $(LUA_LIBS)
$(DYNAMIC) $(PLAIN_DYNAMIC): $(KERNEL_OBJ) $(LINKED_BY)
	$(call say,LD,$@)
	$(Q)$(CC) $(SHARED) -Wl,-soname,$(@F) $(NO_UNDEFINED) $(OPT) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LINKED_LUA) $(LIBS)
	@ln -sf $(@F) $(basename $@)
# Sanitizers leave their symbols to the program that loads the library.
NO_UNDEFINED := $(if $(filter asan ubsan tsan,$(KIND)),,-Wl,--no-undefined)
# The program finds the library in its own folder (build/); installed it is
# linked anew, to find it in LIBDIR. link_program: program, where the library is
RPATH := -Wl,-rpath,
link_program = $(CC) $(OPT) $(if $2,'$(RPATH)$2') $(LDFLAGS) -o $1 $(REPL_OBJ) $(LINKED) $(DYNAMIC) -ledit $(LUA_LIBS) -lm
$(PROGRAM): $(REPL_OBJ) $(DYNAMIC) $(LINKED_BY)
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
PLAIN_EXAMPLES := $(addprefix $(BUILD)/examples/,host_no_lua host_program)
EXAMPLES := $(filter-out $(PLAIN_EXAMPLES),$(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c)))
$(PLAIN_EXAMPLES): $(BUILD)/examples/%: examples/%.c $(PLAIN_STATIC)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -std=c11 $(WARN) -Iinclude $(OPT) $(CFLAGS) $< $(LINKED) $(PLAIN_STATIC) -o $@ $(LIBS)
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
examples: $(EXAMPLES) $(PLAIN_EXAMPLES) $(CPP_EXAMPLES)

include $(sort $(wildcard tools/*.mk))
clean:
	rm -rf build

-include $(shell find $(OBJ) $(BUILD)/ctest -name '*.d' 2>/dev/null)
.PHONY: cross cross-aarch64 cross-mingw cross-musl cross-wasm cross-macos cross-wasi wasm \
  all core examples deps build-deps ctests ctest lint check test asan ubsan tsan debug \
  fuzz differential lua55-check release-check clang-check asan-check ubsan-check tsan-check valgrind luarocks demo bench bench-peers \
  bench-sweep fuel bench-mpi mpi-check deb install install-core install-luajit install-module install-mpi install-lua uninstall sizes coverage docs embed embed-check embed-host module-lists clean help FORCE
FORCE:
