# How the sources of the core are compiled; src/kernel/targets.mk has kernels.
#
# OPT_<path without src/ and .c>, else OPT_<folder>, OPT_<first folder>, else
# OPT_core: the level in builds for release, in place of -O2. A file is compiled
# for size unless it shows in the profile of small calls, or computes over
# elements itself.
OPT_core := -Os

# A small call runs through these (0.3 % of a profile of calls of four to 64
# elements, or more): they gain from -O3, by up to a tenth.
PER_CALL := \
  $(addprefix base/runtime/,interrupt memory thread_pool runtime) \
  $(addprefix tensor/,geometry promote scalar shape storage tensor view) \
  $(addprefix iter/,build dtype items layout loop reduce_iter) \
  $(addprefix grad/,engine leaf node opnode grad_record) \
  $(addprefix op/,call chain formulas dispatch frame results pointwise/pointwise view/view reduce/ops) \
  $(addprefix op/matmul/,gemm gemm_problem linear matmul)
# These gain nothing beyond -O2: what binds such a call to Lua or C, operations that
# do more than a few elements' work in it, and what computes in its own loops.
# Functions of base/libm are the kernels of scalars.
IN_LOOPS := io fuse vmap modules base/decimal base/decimal_exact base/philox base/scratch \
  api/api_call $(addprefix lua/,args args_plain attr build_options call_op from_table bracket item meta state values) \
  $(addprefix op/,conv create eigen fft index linalg move nn random rows scan sort) \
  $(addprefix op/reduce/,argmax var_norm)
$(foreach f,$(PER_CALL) base/libm,$(eval OPT_$(f) := -O3))
$(foreach f,$(IN_LOOPS),$(eval OPT_$(f) := -O2 $(DENSE)))
# In a folder of the second list, but lists of calls (composites) and what runs
# once in a larger call, whose loops go over blocks and arguments.
CALL_LISTS := $(wildcard src/op/nn/loss*.c $(patsubst %,src/op/%/*composite.[c],conv fft linalg nn random rows) \
  $(patsubst %,src/op/%.c,fft/fft fft/freq fft/plans fft/roots linalg/distance linalg/lapack linalg/ldl \
    linalg/lowrank linalg/lstsq linalg/lu linalg/norms linalg/operands linalg/pinv linalg/spectral linalg/tensors \
    eigen/reduce move/combinations move/pad nn/embedding nn/quantize nn/recurrent nn/rope random/dropout \
    random/random sort/unique) \
  $(patsubst %,src/vmap/%.c,indexing special) modules/*/lua/*.c $(patsubst %,modules/%/io/*.c,gguf onnx pickle torch7))
