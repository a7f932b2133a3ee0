# la.signal.unwrap is the operation unwrap.
NEEDS_signal := stats
# Lists of calls of other operations: for size (CALL_LISTS of src/targets.mk).
CALL_LISTS += $(addprefix modules/signal/,filter_composite.c convolve.c grads.c stft.c)
# Vectors of a short state are stored and read again too early.
OPT_signal/filter := -O3 -fno-tree-vectorize -fno-tree-slp-vectorize
