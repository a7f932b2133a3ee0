# Lists of calls of other operations: for size (CALL_LISTS of src/targets.mk).
CALL_LISTS += $(addprefix modules/stats/,average.c gradient.c nan.c polynomial.c)
