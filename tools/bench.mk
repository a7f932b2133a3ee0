# A frame of particles next to a loop in C, what calls of a host cost, fields of structs.
HOST_BENCHES := $(addprefix $(BUILD)/bench/,particles hosts fields states)
$(HOST_BENCHES): $(BUILD)/bench/%: bench/c/%.c $(STATIC)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -std=c11 -D_POSIX_C_SOURCE=200809L $(WARN) -Iinclude $(LUA_CFLAGS) $(OPT) $(CFLAGS) $< $(STATIC) -o $@ $(LUA_LIBS) $(LIBS)

$(BUILD)/floor.so: bench/c/floor.c
	@mkdir -p $(@D)
	$(CC) -O3 -fPIC -shared $(LUA_CFLAGS) $< -o $@ -lpthread
bench: all $(BUILD)/floor.so
	$(LUA) bench/run.lua $(BENCH_ARGS)
# Peers come from PyPI into an environment of their own (gigabytes, minutes);
# BENCH_PYTHON names another one.
BENCH_PYTHON ?= build/peers/bin/python
bench-peers: all $(BUILD)/floor.so $(BENCH_PYTHON)
	BENCH_PYTHON=$(BENCH_PYTHON) $(LUA) bench/run.lua --peers $(BENCH_ARGS)
# Nanoseconds per unit of fuel, the worst call of each operation; FUEL=pattern.
fuel: $(BUILD)/ctest/test_fuel
	LUNARRAY_NUM_THREADS=1 $(BUILD)/ctest/test_fuel table $(FUEL)
# FUZZ="--calls 1000000 --seed 7"; with KIND=asan under the sanitizers.
fuzz: all
	LUNARRAY_PROGRAM=$(PROGRAM) $(PROGRAM) spec/registry/fuzz.lua $(FUZZ)
# Damaged files for every reader, DAMAGED of each sound one.
DAMAGED ?= 20000
READER_TESTS := test_readers test_file_parts test_program test_gguf test_pickle test_tokenizer test_torch7
.PHONY: fuzz-files
fuzz-files: $(READER_TESTS:%=$(BUILD)/ctest/%)
	@for t in $^; do LUNARRAY_MUTATIONS=$(DAMAGED) LUNARRAY_SEED=$(or $(SEED),1) $$t || exit 1; done
# Random calls of every operation against PyTorch, by the schemas of the
# registry: DIFFERENTIAL="--seeds 1-20 --calls 4000 --ops '^sum$$'".
differential: all $(BENCH_PYTHON)
	$(BENCH_PYTHON) tools/differential/run.py $(DIFFERENTIAL)
# Files of la.onnx.save in onnxruntime, by a Python that has it and onnx.
ONNX_PYTHON ?= $(BENCH_PYTHON)
onnx-files: all
	rm -rf $(BUILD)/onnx-files && mkdir -p $(BUILD)/onnx-files
	LUA_CPATH='$(BUILD)/?.so;;' $(LUA) tools/differential/onnx_files.lua $(BUILD)/onnx-files
	$(ONNX_PYTHON) tools/differential/onnx_files.py $(BUILD)/onnx-files
# Collective calls through tensors next to the bare ones of MPI; RANKS=4 for more.
RANKS ?= 2
MPIRUN ?= mpirun
# Specs of lunarray.mpi with another MPI: MPICC=mpicc.mpich MPIRUN=mpirun.mpich.
mpi-check: all $(MPI_OTHER)/lunarray_mpi.so
	LUNARRAY_MPI_BUILD=$(MPI_OTHER) MPIRUN=$(MPIRUN) LUNARRAY_PROGRAM=$(PROGRAM) LUA_CPATH='$(BUILD)/?.so;;' \
	  LUA_PATH='./?.lua;lua/?.lua;lua/?/init.lua;;' $(LUA) `command -v busted` modules/mpi/spec/mpi_spec.lua
bench-mpi: all
	$(MPICC) -O2 -fPIC -shared -Iinclude $(LUA_CFLAGS) bench/mpi/mpi_calls.c -o $(BUILD)/mpi_calls.so
	LUNARRAY_NUM_THREADS=1 $(MPIRUN) -n $(RANKS) $(PROGRAM) bench/mpi/mpi_calls.lua $(BUILD)/mpi_calls.so $(BENCH_ARGS)
# Has a change cost time? Counted instructions of fifty calls, against the list
# or the build in OLD=DIR; with OLD the times of all cases, too.
.PHONY: bench-guard
bench-guard: all $(BUILD)/floor.so
	$(LUA) bench/instructions.lua --build $(BUILD) $(if $(OLD),--old $(OLD))
	$(if $(OLD),$(LUA) bench/pairs.lua --old $(OLD) --new $(BUILD) $(BENCH_ARGS))
bench-sweep: all $(BUILD)/floor.so $(BENCH_PYTHON)
	BENCH_PYTHON=$(BENCH_PYTHON) $(LUA) bench/sweep.lua $(BENCH_ARGS)
build/peers/bin/python:
	python3 -m venv build/peers
	build/peers/bin/pip install -q numpy scipy numexpr jax ml_dtypes torch
