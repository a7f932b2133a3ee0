# Lists of calls of other operations: for size (CALL_LISTS of src/targets.mk).
CALL_LISTS += $(addprefix modules/vision/,grads.c interpolate.c local_norm.c shuffle.c)
# Windows of a few elements at irregular steps: nothing for vectors.
TARGETS_vision/fraction := default
