/*
** The gradient of a program over rows (op/game/program.h): the same inputs and
** the gradient of the output, the same code with one more word, the set of
** inputs that gradients are asked for. Its result holds these side by side.
*/
#include "grad/formulas.h"
#include "grad/formula_terms.h"

#define MOST_WORDS 48         /* of a code: far more than it can have */

la_status la_x_game_rows(la_formula *x, la_tensor **out)
{
    const la_value *code = &x->op->args[1];
    int64_t n = x->op->args[0].tensors.n, words[MOST_WORDS], mask = 0, at = 0;
    if (code->ints.n + 1 > MOST_WORDS || n + 1 > LA_MAX_DIMS)
        return la_error(LA_EGRAD, "no more gradients of gradients");
    for (int64_t i = 0; i < n; i++) {
        x->members[i] = la_x_member(x, i);
        if (x->node->edges[i].node) mask |= (int64_t)1 << i;
    }
    x->members[n] = G;
    if (x->status) return x->status;
    memcpy(words, code->ints.list, (size_t)code->ints.n * sizeof *words);
    words[code->ints.n] = mask;
    la_tensor *all = R(game_rows, la_v_tensors(x->members, n + 1),
                       la_v_ints(words, code->ints.n + 1));
    for (int64_t i = 0; i < n; i++) {
        if (!(mask >> i & 1)) continue;
        const la_tensor *t = x->members[i];
        int64_t width = x->status ? 0 : la_sizes(t)[t->ndim - 1];
        la_tensor *piece = R(narrow, all, -1, at, width);
        if (x->status) return x->status;
        out[i] = la_tensor_retain(piece);
        at += width;
    }
    return LA_OK;
}
