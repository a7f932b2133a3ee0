# Lists of calls of other operations: for size (CALL_LISTS in the Makefile).
CALL_LISTS += modules/game/grads.c
