/*
** The gradient of a recurrent layer. In one pass where nothing is recorded;
** where the gradient shall differentiate again, the layer is unrolled into
** plain operations and their graph is run.
*/
#include "grad/formulas/formulas.h"
#include "op/call.h"
#include "op/nn/recurrent.h"
#include "grad/formulas/formula_terms.h"

enum { GATES, WEIGHT, BIAS, H, C, KIND, REVERSE };

/* The state before each step: (steps * batch) x hidden. */
static la_tensor *states_before(la_formula *x, la_tensor *h, la_tensor *out,
                                bool reverse)
{
    if (x->w.status || !h || !out) return NULL;
    int64_t steps = la_sizes(out)[0], from = reverse ? 1 : 0, last = -1;
    la_tensor *first = R(unsqueeze, h, 0);
    la_tensor *rest = R(narrow, out, 0, from, steps - 1);
    la_tensor *list[2] = {reverse ? rest : first, reverse ? first : rest};
    if (x->w.status) return NULL;
    la_tensor *all = R(cat, la_v_tensors(list, 2), 0);
    int64_t sizes[2] = {last, la_sizes(h)[1]};
    return R(reshape, all, la_v_ints(sizes, 2));
}

/* The gradient of the cells, or NULL. */
static la_tensor *grad_of_cells(const la_formula *x)
{
    return x->ngrads > 1 ? x->grads[1] : NULL;
}

/* One pass of recurrent_backward; the gradient of the weight is one product
** over all steps. */
static la_status recurrent_fused(la_formula *x, la_tensor **out)
{
    la_value r[LA_MAX_RESULTS];
    la_tensor *states = A(H), *output = RES(0);
    la_value args[] = {la_v_tensor(G), la_v_tensor(grad_of_cells(x)),
                       la_v_tensor(output),
                       la_v_tensor(RES(1)), la_v_tensor(RES(2)),
                       la_v_tensor(A(WEIGHT)),
                       la_v_tensor(states), la_v_tensor(A(C)), VAL(KIND),
                       VAL(REVERSE)};
    if (x->w.status) return x->w.status;
    LA_TRY(la_do_many(LA_OP(recurrent_backward), r, 10, args));
    la_tensor *gates = la_chain_own(&x->w, r[0].tensor);
    la_tensor *hidden = la_chain_own(&x->w, r[1].tensor);
    la_tensor *h = la_chain_own(&x->w, r[2].tensor);
    la_tensor *c = la_chain_own(&x->w, r[3].tensor);
    if (x->w.status) return x->w.status;
    if (hidden->ndim == 1) hidden = gates;
    int64_t flat[2] = {-1, la_sizes(gates)[2]};
    la_tensor *rows = R(reshape, hidden, la_v_ints(flat, 2));
    if (la_x_wants(x, WEIGHT))
        la_x_set(x, out, WEIGHT, R(mm, R(t, rows), states_before(
            x, states, output, VAL(REVERSE).b)));
    if (la_x_wants(x, BIAS)) {
        int64_t first = 0;
        la_x_set(x, out, BIAS, R(sum, rows, la_v_ints(&first, 1)));
    }
    la_x_set(x, out, GATES, gates);
    la_x_set(x, out, H, h);
    la_x_set(x, out, C, c);
    return x->w.status;
}

/* The layer as operations, whose graph is differentiated with create_graph. */
static la_status unrolled(la_formula *x, la_tensor **out)
{
    la_tensor *args[5], *inputs[5], *grads[5] = {NULL};
    LA_OWNED cells = NULL;
    int where[5], n = 0;
    la_recurrent_kind kind = (la_recurrent_kind)VAL(KIND).i;
    for (int k = GATES; k <= C; k++) {
        args[k] = A(k);
        if (!la_x_wants(x, k)) continue;
        /* A view of its own: one input may depend on another. */
        args[k] = R(view_as, args[k], args[k]);
        where[n] = k;
        inputs[n++] = args[k];
    }
    if (x->w.status) return x->w.status;
    LA_LET(output, la_recurrent_unrolled(kind, args[GATES], args[WEIGHT],
                                         args[BIAS], args[H], args[C],
                                         VAL(REVERSE).b, &output, &cells));
    la_tensor *roots[2] = {output, cells}, *seeds[2] = {G, grad_of_cells(x)};
    if (x->w.status) return x->w.status;
    LA_TRY(la_run_backward(seeds[1] ? 2 : 1, roots, seeds, n, inputs, grads,
                       LA_BW_CREATE_GRAPH | LA_BW_ALLOW_UNUSED));
    for (int k = 0; k < n; k++) *la_x_slot(x, out, where[k]) = grads[k];
    return LA_OK;
}

/* recurrent(gates, weight, bias, h, c, kind, reverse) */
la_status la_x_recurrent(la_formula *x, la_tensor **out)
{
    return la_grad_enabled() ? unrolled(x, out) : recurrent_fused(x, out);
}
