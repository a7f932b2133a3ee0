/*
** Formulas of borders that repeat the tensor's own elements (reflect,
** replicate, circular): dim by dim, the gradient of each run is added where its
** elements came from.
*/
#include "grad/formulas/formulas.h"

#include <string.h>

#include "op/call.h"
#include "op/move/move.h"
#include "tensor/shape.h"
#include "grad/formulas/formula_terms.h"

enum { SELF, PAD, MODE };

/* Zeros around dim d. */
static la_status move_widen(la_tensor *t, int d, int64_t before, int64_t after,
                            la_tensor **out)
{
    int64_t pads[2 * LA_MAX_DIMS] = {0};
    int n = 2 * (t->ndim - d);
    pads[n - 2] = before;
    pads[n - 1] = after;
    return la_run(constant_pad_nd, out, t, la_v_ints(pads, n));
}

/* Contribution of run k of dim d to the 'size' elements of that dim; the run
** begins at index 'first' of g. */
static la_status one_run(la_tensor *g, int64_t d, int64_t size,
                         const la_runs *r, int k, int64_t first,
                         la_tensor **out)
{
    int64_t n = r->run[k].n, from = r->run[k].from;
    LA_OWNED oriented = NULL;
    LA_LET(part, la_run(narrow, &part, g, d, first, n));
    if (r->run[k].step < 0) {
        from -= n - 1;
        LA_TRY(la_run(flip, &oriented, part, la_v_ints(&d, 1)));
    } else if (r->run[k].step == 0) {
        n = 1;
        LA_TRY(la_run(sum, &oriented, part, la_v_ints(&d, 1), la_v_bool(true)));
    } else {
        oriented = la_tensor_retain(part);
    }
    return move_widen(oriented, (int)d, from, size - from - n, out);
}

/* All runs of dim d, added up. */
static la_status one_dim(la_tensor *g, int d, int64_t size, const la_runs *r,
                         la_tensor **out)
{
    LA_OWNED sum = NULL;
    int64_t first = 0;
    if (r->n == 0)
        return move_widen(g, d, 0, size, out);
    for (int k = 0; k < r->n; k++) {
        LA_OWNED part = NULL;
        LA_OWNED before = sum;
        sum = NULL;
        LA_TRY(one_run(g, d, size, r, k, first, &part));
        first += r->run[k].n;
        if (!before)
            sum = la_tensor_retain(part);
        else
            LA_TRY(la_run(add, &sum, before, part));
    }
    return la_tensor_hand(&sum, out);
}

/* Dims are independent: the reverse order of pad's own dims is not needed. */
static la_status all_dims(la_formula *x, la_tensor *g, la_tensor **out)
{
    la_value pads = VAL(PAD), mode = VAL(MODE), sizes = SIZES(SELF);
    LA_OWNED now = la_tensor_retain(g);
    for (int64_t k = 0; k + 1 < pads.ints.n; k += 2) {
        int d = g->ndim - 1 - (int)(k / 2);
        la_tensor *next = NULL;
        la_runs run;
        if (pads.ints.list[k] == 0 && pads.ints.list[k + 1] == 0) continue;
        LA_TRY(la_border_runs(&pads, &mode, g->ndim, d, sizes.ints.list[d],
                              &run));
        LA_TRY(one_dim(now, d, sizes.ints.list[d], &run, &next));
        la_tensor_release(now);
        now = next;
    }
    return la_tensor_same(now, out);
}

/* border_pad_nd(self, pad, mode) */
la_tensor *la_x_border_pad(la_formula *x)
{
    la_tensor *g = G, *out = NULL;
    if (x->w.status) return NULL;
    la_status status = all_dims(x, g, &out);
    return la_chain_take(&x->w, status, out);
}
