/* Self-check of a node of the graph in the debug build; nothing in others. */
#ifndef LA_GRAD_NODE_VERIFY_H
#define LA_GRAD_NODE_VERIFY_H

#include "grad/grad.h"

/* Before it runs: its parts lie inside of its block, and each edge leads to an
** output that a living node has. */
#ifdef LA_DEBUG
void la_node_verify(const la_node *n);
#else
static inline void la_node_verify(const la_node *n) {}
#endif

#endif
