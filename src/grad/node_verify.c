/* The invariants of a node, for the debug build. */
#include "grad/node_verify.h"

#ifdef LA_DEBUG

#include "base/assert.h"

void la_node_verify(const la_node *n)
{
    la_assert(atomic_load(&n->refs) > 0);
    la_assert(n->class);
    la_assert(n->nedges >= 0 && n->noutputs >= 0);
    la_assert(n->extra <= n->bytes);
    for (int k = 0; k < n->nedges; k++) {
        const la_edge *e = &n->edges[k];
        if (!e->node) continue;
        la_assert(e->node != n);
        la_assert(atomic_load(&e->node->refs) > 0);
        la_assert(e->slot >= 0 && e->slot < e->node->noutputs);
    }
}

#endif
