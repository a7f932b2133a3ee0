# lunarray: run `make help` for the menu.
#
# One build folder per kind (build/, build/debug, build/asan, ...); sources are
# found by pattern, so that a new file needs no edit here. Files of src/kernel
# are compiled once per CPU capability.

KIND ?= release
ifeq ($(origin CC),default)
CC := gcc
endif
BUILD := $(if $(filter release,$(KIND)),build,build/$(KIND))
OBJ := $(BUILD)/obj
VERSION := 0.1.0
SOVERSION := 0
PREFIX ?= /usr/local

LUA_CFLAGS := $(shell pkg-config --cflags lua5.4 2>/dev/null || echo -I/usr/include/lua5.4)
LUA_LIBS := $(shell pkg-config --libs lua5.4 2>/dev/null || echo -llua5.4)

WARN := -Wall -Wextra -Wpointer-arith -Wstrict-prototypes -Wvla -Wno-unused-parameter -Wno-psabi
BASE := -std=gnu11 -fPIC -fvisibility=hidden -fno-math-errno -ffp-contract=off \
  -fno-semantic-interposition -Isrc -Iinclude $(LUA_CFLAGS) $(WARN) \
  -DLA_VERSION='"$(VERSION)"' -MMD -MP
OPT_release := -O3 -g -DNDEBUG -ftls-model=initial-exec
OPT_debug := -O0 -g -DLA_DEBUG
OPT_asan := -O1 -g -DLA_DEBUG -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPT_ubsan := -O1 -g -DLA_DEBUG -fsanitize=undefined -fno-sanitize-recover=undefined
OPT_tsan := -O1 -g -fsanitize=thread
OPT := $(OPT_$(KIND))

CAP_default :=
CAP_avx2 := -mavx2 -mfma -mf16c -mbmi2
CAP_avx512 := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mavx2 -mfma -mf16c -mbmi2 -mprefer-vector-width=512

CORE_SRC := $(wildcard src/base/*.c src/tensor/*.c src/iter/*.c src/op/*.c src/grad/*.c src/fuse/*.c src/io/*.c src/lua/*.c)
KERNEL_SRC := $(wildcard src/kernel/*.c)
REPL_SRC := $(wildcard src/repl/*.c)
CORE_OBJ := $(CORE_SRC:src/%.c=$(OBJ)/%.o)
KERNEL_OBJ := $(foreach c,default avx2 avx512,$(KERNEL_SRC:src/kernel/%.c=$(OBJ)/kernel/$(c)/%.o))
REPL_OBJ := $(REPL_SRC:src/%.c=$(OBJ)/%.o)
LIBS := -lsleef -lm -lpthread

all: $(BUILD)/lunarray.so $(BUILD)/liblunarray.a $(BUILD)/liblunarray.so.$(SOVERSION) $(BUILD)/lunarray

$(OBJ)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(OPT) $(CFLAGS) -c $< -o $@

define KERNEL_RULE
$(OBJ)/kernel/$(1)/%.o: src/kernel/%.c
	@mkdir -p $$(@D)
	$$(CC) $$(BASE) $$(OPT) $$(CFLAGS) $$(CAP_$(1)) -DLA_CAP=$(1) -c $$< -o $$@
endef
$(foreach c,default avx2 avx512,$(eval $(call KERNEL_RULE,$(c))))

$(BUILD)/liblunarray.a: $(CORE_OBJ) $(KERNEL_OBJ)
	rm -f $@; ar rcs $@ $^
$(BUILD)/lunarray.so: $(CORE_OBJ) $(KERNEL_OBJ)
	$(CC) -shared $(OPT) $(LDFLAGS) -o $@ $^ $(LIBS)

clean:
	rm -rf build

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
.PHONY: all clean
