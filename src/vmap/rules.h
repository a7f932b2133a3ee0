/* The rules that rows of rules.def name; also what a rule is. */
#ifndef LA_VMAP_RULES_H
#define LA_VMAP_RULES_H

#include <stdbool.h>

#include "base/status.h"

typedef struct la_vcall la_vcall;   /* vmap/vmap_call.h */

/* Runs the call, with the tensors behind its headers, outside of the level.
** *done stays false where the rule does not apply. */
typedef la_status (*la_vmap_rule)(la_vcall *c, bool *done);

/* Rules that rows of modules alone name. */
la_status la_vmap_rule_rows(la_vcall *c, bool *done);
la_status la_vmap_rule_joined(la_vcall *c, bool *done);
la_status la_vmap_rule_joined_all(la_vcall *c, bool *done);

#define RULE(op, rule) la_status la_vmap_rule_##rule(la_vcall *c, bool *done);
#include "vmap/rules.def"
#undef RULE

#endif
