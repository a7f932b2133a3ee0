/*
** Gradients of la.game. That of a program over rows (modules/game/program.h):
** the same inputs and the gradient of the output, the same code with one more
** word, the set of inputs that gradients are asked for. Its result holds these
** side by side.
*/
#include "modules/game/grads.h"
#include "grad/formulas/formula_terms.h"
#include "op/op.h"

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
    if (x->w.status) return x->w.status;
    memcpy(words, code->ints.list, (size_t)code->ints.n * sizeof *words);
    words[code->ints.n] = mask;
    la_tensor *all = R(game_rows, la_v_tensors(x->members, n + 1),
                       la_v_ints(words, code->ints.n + 1));
    for (int64_t i = 0; i < n; i++) {
        if (!(mask >> i & 1)) continue;
        const la_tensor *t = x->members[i];
        int64_t width = x->w.status ? 0 : la_sizes(t)[t->ndim - 1];
        la_tensor *piece = R(narrow, all, -1, at, width);
        if (x->w.status) return x->w.status;
        out[i] = la_tensor_retain(piece);
        at += width;
    }
    return LA_OK;
}

/* ---- a step of a flock ---- */

enum { P, V, DT, RADIUS, SEPARATE, ALIGN, COHERE, SPEED, FORCE };

/* The step by operations that have derivatives, in float64 as
** modules/game/boids.c computes it: the new positions and velocities. */
static void flock(la_formula *x, la_tensor *p, la_tensor *v, la_tensor **step)
{
    p = R(astype, p, la_v_dtype(LA_FLOAT64));
    v = R(astype, v, la_v_dtype(LA_FLOAT64));
    la_tensor *away = R(game_separate, p, VAL(RADIUS));
    la_tensor *align = R(game_align, p, v, VAL(RADIUS));
    la_tensor *cohere = R(game_cohere, p, VAL(RADIUS));
    la_tensor *force = R(add, R(add, R(mul, away, VAL(SEPARATE)),
                                R(mul, align, VAL(ALIGN))),
                                    R(mul, cohere, VAL(COHERE)));
    force = R(game_clamp_length, force, VAL(FORCE));
    step[1] = R(add, v, R(mul, force, VAL(DT)));
    step[1] = R(game_clamp_length, step[1], VAL(SPEED));
    step[0] = R(add, p, R(mul, step[1], VAL(DT)));
}

/* The step is recorded anew, also where the gradient itself is not. */
static la_status flock_backward(la_formula *x, la_tensor **out, int flags)
{
    la_tensor *args[2], *inputs[2], *grads[2], *step[2], *roots[2], *seeds[2];
    int where[2], n = 0, nroots = 0;
    for (int k = P; k <= V; k++) {
        args[k] = A(k);
        if (!la_x_wants(x, k)) continue;
        /* A view of its own: one input may depend on another. */
        args[k] = R(view_as, args[k], args[k]);
        where[n] = k;
        inputs[n++] = args[k];
    }
    flock(x, args[P], args[V], step);
    for (int k = 0; k < 2; k++) {
        if (!la_x_has_grad(x, k)) continue;
        roots[nroots] = step[k];
        seeds[nroots++] = R(astype, GR(k), la_v_dtype(LA_FLOAT64));
    }
    if (x->w.status) return x->w.status;
    LA_TRY(la_run_backward(nroots, roots, seeds, n, inputs, grads, flags));
    for (int k = 0; k < n; k++) *la_x_slot(x, out, where[k]) = grads[k];
    return LA_OK;
}

/* boids(p, v, dt, radius, separate, align, cohere, speed, force) */
la_status la_x_game_boids(la_formula *x, la_tensor **out)
{
    bool on = la_switch_grad(true);
    la_status status = flock_backward(
        x, out, LA_BW_ALLOW_UNUSED | (on ? LA_BW_CREATE_GRAPH : 0));
    la_switch_grad(on);
    return status;
}
