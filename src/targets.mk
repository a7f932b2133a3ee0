# How the core's sources are compiled: the level of folders and files (OPT_<folder>,
# OPT_<folder>/<file>) where it is not the core's. Kernels have theirs in
# src/kernel/targets.mk, modules in their module.mk.
#
# Folders that run once per call of a larger operation gain nothing from -O3.
PER_CALL := lua io fuse vmap modules $(addprefix op/,conv create fft index linalg move nn random rows scan sort)
$(foreach f,$(PER_CALL),$(eval OPT_$(f) := -O2))
# Lists of calls (derivatives, composites) and what is written for people gain
# nothing from -O2 either.
CALL_LISTS := $(wildcard src/grad/formulas/*.c src/grad/derivatives.c src/op/nn/loss*.c \
  $(patsubst %,src/op/%/*composite.c,conv fft linalg nn random rows) $(patsubst %,src/%.c,lua/info lua/names \
  op/fft/fft op/fft/freq op/fft/plans op/fft/roots op/linalg/ldl op/linalg/lu op/linalg/norms op/linalg/tensors \
  op/matmul/chain op/matmul/einsum op/matmul/tensordot op/nn/embedding op/nn/recurrent op/reduce/histogram \
  op/reduce/statistics op/sort/unique tensor/text/print))
