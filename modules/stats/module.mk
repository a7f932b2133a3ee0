# Lists of calls of other operations: for size (CALL_LISTS of src/targets.mk).
CALL_LISTS += $(addprefix modules/stats/,average.c gradient.c histogramdd.c interp.c nan.c polynomial.c)
