# Lists of calls of other operations: for size (CALL_LISTS of src/targets.mk).
CALL_LISTS += modules/game/grads.c modules/game/program.c
