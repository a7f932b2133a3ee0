/* The rules of op/batch.def; also what a rule is. */
#ifndef LA_VMAP_RULES_H
#define LA_VMAP_RULES_H

#include <stdbool.h>

#include "base/status.h"

typedef struct la_vcall la_vcall;   /* vmap/vmap_call.h */

/* Runs the call, with the tensors behind its headers, outside of the level.
** *done stays false where the rule does not apply. */
typedef la_status (*la_vmap_rule)(la_vcall *c, bool *done);

#define BATCH(rule) la_status la_vmap_rule_##rule(la_vcall *c, bool *done);
#include "op/batch.def"
#undef BATCH

#endif
