# Trains on real digits, with the CPU path that calls take on this machine alone:
# half the compiler's time. "make" and installations build all, and so does this
# where a build of several is there, or CAPS is given.
CPU_FLAGS = $(shell grep -m1 '^flags' /proc/cpuinfo 2>/dev/null)
runs_here = $(if $(filter-out $(CPU_FLAGS) prefer-vector-width=512,$(patsubst -m%,%,$(CAP_$1))),,$1)
BEST_CAP = $(if $(CPU_FLAGS),$(lastword $(foreach c,$(CAPS),$(call runs_here,$c))))
HAS_SEVERAL = $(findstring .default.o,$(file <$(OBJ)/made-by/objects))
DEMO_CAPS = $(or $(if $(or $(ASKED_CAPS),$(HAS_SEVERAL)),,$(BEST_CAP)),$(CAPS))
demo: build-deps
	@$(MAKE) $(JOBS) --no-print-directory CAPS='$(DEMO_CAPS)' $(PROGRAM) $(MODULE) $(BUILD)/examples/host_digits
	$(PROGRAM) examples/digits.lua $(BUILD)/digits_weights.npy
	$(PROGRAM) examples/digits_cnn.lua $(BUILD)/digits_cnn.safetensors
	$(BUILD)/examples/host_digits $(BUILD)/digits_cnn.safetensors examples/data
