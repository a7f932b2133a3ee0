/* Rules of single rows and of small groups of them. */
#include "vmap/rules.h"
#include "vmap/vmap_call.h"

#include "op/call.h"
#include "op/composite.h"
#include "op/scalar_range.h"
#include "tensor/shape.h"

static la_status special_behind(const la_vcall *c, int k, la_tensor **out)
{
    return la_vmap_behind(c->level, la_varg(c, k), 0, out);
}

static la_status put_behind(la_vcall *c, int k)
{
    la_tensor *t;
    LA_TRY(special_behind(c, k, &t));
    la_vmap_put(c, k, t);
    return LA_OK;
}

/* An owned tensor with the batch in front is the result of the call. */
static la_status special_give(la_vcall *c, la_tensor *owned, bool *done)
{
    *done = true;
    return la_vmap_result(c, 0, owned);
}

/* The batch in front of the integers of argument k. */
static void prepend(la_vcall *c, int k, int64_t first)
{
    const la_value *v = &c->f->args[k];
    int64_t *list = la_vmap_list(c, k, v->ints.n + 1);
    list[0] = first;
    memcpy(list + 1, v->ints.list, (size_t)v->ints.n * sizeof *list);
}

static bool is_long(const la_vcall *c, int k)
{
    return c->f->args[k].ints.n >= LA_MAX_DIMS;
}

/* ---- views ---- */

/* Composites view what they know to be contiguous, of one element; what the
** batch's memory does not allow is copied there. */
la_status la_vmap_rule_view(la_vcall *c, bool *done)
{
    const la_value *v = &c->f->args[1];
    la_tensor *t = la_varg(c, 0);
    la_shape shape;
    if (is_long(c, 1)) return LA_OK;
    LA_TRY(la_blame(la_view_infer(v->ints.list, (int)v->ints.n, t->numel,
                                  &shape), 2));
    int64_t *list = la_vmap_list(c, 1, shape.ndim + 1);
    list[0] = c->level->size;
    memcpy(list + 1, shape.sizes, (size_t)shape.ndim * sizeof *list);
    LA_TRY(put_behind(c, 0));
    *done = true;
    if (c->level->bodies > 0) c->g.op = LA_OP(reshape);
    return la_vmap_run(c);
}

/* All dims are named: the batch is the first of them. */
la_status la_vmap_rule_permute(la_vcall *c, bool *done)
{
    const la_value *v = &c->f->args[1];
    int rank = la_varg(c, 0)->ndim, d;
    if (v->ints.n != rank) return LA_OK;
    int64_t *list = la_vmap_list(c, 1, rank + 1);
    list[0] = 0;
    for (int i = 0; i < rank; i++) {
        LA_TRY(la_blame(la_wrap_dim(v->ints.list[i], rank, &d), 2));
        list[i + 1] = d + 1;
    }
    LA_TRY(put_behind(c, 0));
    *done = true;
    return la_vmap_run(c);
}

/* New dims come between the batch and the others; -1 keeps a size. */
la_status la_vmap_rule_expand(la_vcall *c, bool *done)
{
    const la_value *v = &c->f->args[1];
    int rank = la_varg(c, 0)->ndim;
    la_tensor *t;
    if (v->ints.n < rank || is_long(c, 1)) return LA_OK;
    for (int64_t i = 0; i < v->ints.n - rank; i++)
        if (v->ints.list[i] < 0) return LA_OK;
    LA_TRY(la_vmap_behind(c->level, la_varg(c, 0), (int)v->ints.n, &t));
    la_vmap_put(c, 0, t);
    prepend(c, 1, c->level->size);
    *done = true;
    return la_vmap_run(c);
}

/* Its dim is one of the result. */
la_status la_vmap_rule_unsqueeze(la_vcall *c, bool *done)
{
    int d;
    LA_TRY(la_blame(la_wrap_dim_end(c->f->args[1].i, la_varg(c, 0)->ndim, &d),
                    2));
    c->args[1].i = d + 1;
    LA_TRY(put_behind(c, 0));
    *done = true;
    return la_vmap_run(c);
}

/* The storage is read as if each element of the batch lay where its part does;
** an offset is that of the first. */
la_status la_vmap_rule_as_strided(la_vcall *c, bool *done)
{
    const la_value *stride = &c->f->args[2];
    if (is_long(c, 1) || is_long(c, 2)) return LA_OK;
    LA_TRY(put_behind(c, 0));
    prepend(c, 1, c->level->size);
    int64_t *list = la_vmap_list(c, 2, stride->ints.n + 1);
    list[0] = la_strides(c->args[0].tensor)[0];
    memcpy(list + 1, stride->ints.list, (size_t)stride->ints.n * sizeof *list);
    *done = true;
    return la_vmap_run(c);
}

/* Transposes; a vector is not exchanged. */
la_status la_vmap_rule_t(la_vcall *c, bool *done)
{
    la_tensor *t = la_varg(c, 0), *out = NULL;
    if (t->ndim > 2) return LA_OK;
    if (t->ndim < 2) LA_TRY(la_run(alias, &out, t->base));
    else LA_TRY(la_run(transpose, &out, t->base, 1, 2));
    return special_give(c, out, done);
}

/* x:new_zeros(sizes): one for every element of the batch. */
la_status la_vmap_rule_sized(la_vcall *c, bool *done)
{
    if (!la_vmap_arg(c, 0) || is_long(c, 1)) return LA_OK;
    LA_TRY(put_behind(c, 0));
    prepend(c, 1, c->level->size);
    *done = true;
    return la_vmap_run(c);
}

/* A list of tensors whose last dim is a row; the dims in front broadcast. */
la_status la_vmap_rule_rows(la_vcall *c, bool *done)
{
    const la_value *v = &c->f->args[0];
    for (int64_t i = 0; i < v->tensors.n; i++)
        if (v->tensors.list[i]->ndim > c->rank)
            c->rank = v->tensors.list[i]->ndim;
    LA_TRY(la_vmap_take(c, LA_ALIGN));
    *done = true;
    return la_vmap_run(c);
}

/* A value with a batch is copied: one number for each element. */
la_status la_vmap_rule_fill(la_vcall *c, bool *done)
{
    la_tensor *value;
    if (la_varg(c, 1)->ndim != 0) return LA_OK;
    LA_TRY(put_behind(c, 0));
    LA_TRY(la_vmap_behind(c->level, la_varg(c, 1), la_varg(c, 0)->ndim,
                          &value));
    la_vmap_put(c, 1, value);
    if (la_vmap_arg(c, 1)) c->g.op = LA_OP(copy_);
    *done = true;
    return la_vmap_run(c);
}

/* A value with a batch is no single number any more: where takes it. */
la_status la_vmap_rule_masked_fill(la_vcall *c, bool *done)
{
    enum { SELF, MASK, VALUE };
    LA_CHAIN(w);
    bool same = !la_vmap_arg(c, VALUE);
    if (la_varg(c, VALUE)->ndim != 0
        || (!same && c->f->form != LA_FUNCTIONAL)) return LA_OK;
    if (same) la_vmap_put(c, VALUE, la_tensor_retain(la_varg(c, VALUE)));
    if (c->f->form == LA_INPLACE && c->rank > la_varg(c, SELF)->ndim)
        return LA_OK;
    LA_TRY(la_vmap_take(c, LA_ALIGN));
    *done = true;
    if (same) return la_vmap_run(c);
    la_tensor *value = R(to_dtype, c->args[VALUE].tensor,
                         la_v_dtype((la_dtype)la_varg(c, SELF)->dtype));
    la_tensor *r = R(where, c->args[MASK].tensor, value, c->args[SELF].tensor);
    return w->status ? w->status : special_give(c, la_tensor_retain(r), done);
}

/* ---- random numbers ---- */

/* The parameter that says how many are drawn, or -1. */
static int sizes_at(const la_vcall *c)
{
    for (int k = 0; k < c->schema->nparams; k++) {
        la_type type = c->schema->params[k].type;
        if (type == LA_TYPE_SIZE || type == LA_TYPE_INTS_VARIADIC) return k;
    }
    return -1;
}

/* Numbers of its own for each element: drawn for the whole batch at once, where
** sizes or a tensor with it say how many. */
la_status la_vmap_rule_random(la_vcall *c, bool *done)
{
    bool batched = false, tensors = false;
    int at = sizes_at(c);
    for (int k = 0; k < c->f->nargs; k++) {
        tensors |= la_varg(c, k) != NULL;
        batched |= la_vmap_arg(c, k);
    }
    if (tensors ? !batched || (at >= 0 && la_has(c->f, at))
                : at < 0 || is_long(c, at) || c->f->form != LA_FUNCTIONAL)
        return LA_OK;
    if (!tensors) prepend(c, at, c->level->size);
    LA_TRY(la_vmap_take(c, LA_ALIGN));
    *done = true;
    return la_vmap_run(c);
}

/* ---- order ---- */

/* A statistic of everything is that of the rows of a flat batch, by 'op', of
** whose results only the first is asked for. */
static la_status special_flat(la_vcall *c, const la_op *op, la_value dim,
                              bool *done)
{
    la_tensor *t = la_varg(c, 0);
    int64_t sizes[2] = {c->level->size, t->numel};
    la_value results[LA_MAX_RESULTS] = {{0}};
    if (t->numel == 0) return LA_OK;
    LA_LET(flat, la_run(reshape, &flat, t->base, la_v_ints(sizes, 2)));
    la_value args[] = {la_v_tensor(flat), dim};
    LA_TRY(la_do_many(op, results, 2, args));
    la_value_drop(&results[1]);
    return special_give(c, results[0].tensor, done);
}

la_status la_vmap_rule_median(la_vcall *c, bool *done)
{
    return special_flat(c, LA_OP(median_dim), la_v_int(1), done);
}

la_status la_vmap_rule_nanmedian(la_vcall *c, bool *done)
{
    return special_flat(c, LA_OP(nanmedian_dim), la_v_int(1), done);
}

la_status la_vmap_rule_max(la_vcall *c, bool *done)
{
    int64_t dim = 1;
    return special_flat(c, LA_OP(amax), la_v_ints(&dim, 1), done);
}

la_status la_vmap_rule_min(la_vcall *c, bool *done)
{
    int64_t dim = 1;
    return special_flat(c, LA_OP(amin), la_v_ints(&dim, 1), done);
}

/* Several q come as dim 1: the batch is brought before them. */
la_status la_vmap_rule_quantile(la_vcall *c, bool *done)
{
    enum { Q = 1, DIM, KEEP };
    la_tensor *t = la_varg(c, 0), *out = NULL;
    LA_OWNED in = NULL;
    bool all = !la_has(c->f, DIM);
    int d = 0;
    if (la_vmap_arg(c, Q) || la_varg(c, Q)->ndim > 1 || t->ndim == 0
        || (all && (la_arg_bool(c->f, KEEP) || t->numel == 0))) return LA_OK;
    if (!all) LA_TRY(la_blame(la_wrap_dim(c->f->args[DIM].i, t->ndim, &d),
                              DIM + 1));
    int64_t sizes[2] = {c->level->size, t->numel};
    if (all) LA_TRY(la_run(reshape, &in, t->base, la_v_ints(sizes, 2)));
    else in = la_tensor_retain(t->base);
    la_value args[] = {la_v_tensor(in), c->f->args[Q], la_v_int(d + 1),
                       c->f->args[KEEP], c->f->args[4]};
    LA_TRY(la_do(c->f->op, &out, 5, args));
    if (la_varg(c, Q)->ndim == 1) {
        la_tensor *moved = NULL;
        la_status status = la_run(transpose, &moved, out, 0, 1);
        la_tensor_release(out);
        if (status) return status;
        out = moved;
    }
    return special_give(c, out, done);
}

/* Without dims everything is rolled as one row. */
la_status la_vmap_rule_roll(la_vcall *c, bool *done)
{
    if (c->f->args[2].ints.n == 0 || la_varg(c, 0)->ndim == 0) return LA_OK;
    return la_vmap_rule_dims(c, done);
}

/* Padding names the last dims. */
la_status la_vmap_rule_pad(la_vcall *c, bool *done)
{
    if (c->f->args[1].ints.n > 2 * (int64_t)la_varg(c, 0)->ndim) return LA_OK;
    return la_vmap_rule_whole(c, done);
}

/* Its dims are those of the result. */
la_status la_vmap_rule_diag_embed(la_vcall *c, bool *done)
{
    for (int k = 2; k < 4; k++) {
        int d;
        LA_TRY(la_blame(la_wrap_dim(c->f->args[k].i, la_varg(c, 0)->ndim + 1,
                                    &d), k + 1));
        c->args[k].i = d + 1;
    }
    return la_vmap_rule_vectors(c, done);
}

/* ---- norms ---- */

/* (grad, self, shape, mean or rstd, ..., weight): the weight is the same for
** all, the others are told apart by the batch. */
la_status la_vmap_rule_layer_gradient(la_vcall *c, bool *done)
{
    int last = -1;
    for (int k = 0; k < c->f->nargs; k++) {
        const la_word *name = &c->schema->params[k].name;
        if (name->n == 6 && memcmp(name->text, "weight", 6) == 0) last = k;
    }
    if (last >= 0 && la_vmap_arg(c, last)) return LA_OK;
    if (last >= 0 && la_varg(c, last)) LA_TRY(put_behind(c, last));
    return la_vmap_rule_whole(c, done);
}

/* ---- a batch of batches ---- */

/* Argument k with its batch and its own dim 1 as one. */
static la_status put_joined(la_vcall *c, int k)
{
    la_tensor *t = NULL;
    LA_LET(all, la_vmap_expanded(c->level, la_varg(c, k), 0, &all));
    if (all->numel == 0) {
        la_shape s = la_shape_of(all);
        s.sizes[1] *= s.sizes[0];
        LA_TRY(la_run(reshape, &t, all, la_v_ints(s.sizes + 1, s.ndim - 1)));
    } else {
        LA_TRY(la_run(flatten, &t, all, 0, 1));
    }
    la_vmap_put(c, k, t);
    return LA_OK;
}

/* Results whose first dim is so many times the batch are taken apart. */
static la_status run_joined(la_vcall *c)
{
    la_frame *g = &c->g;
    la_status status = la_dispatch(g);
    for (int k = 0; k < g->nresults && !status; k++) {
        la_tensor *t = g->results[k].tensor, *apart = NULL;
        int64_t n = c->level->size, each = n ? la_sizes(t)[0] / n : 0;
        status = la_run(unflatten, &apart, t, 0,
                        la_v_ints(((int64_t[]){n, each}), 2));
        if (!status) status = la_vmap_result(c, k, apart);
    }
    la_drop_results(g);
    if (status) la_drop_results(c->f);
    return status;
}

/* (images, ...): images of all batches at once, where they have a dim for a
** batch of their own besides those of an image; else la.vmap's is that dim. */
static la_status special_joined(la_vcall *c, int rank, bool *done)
{
    int own = la_varg(c, 0)->ndim - rank;
    if (!la_vmap_arg(c, 0) || own < 0 || own > 1 || c->level->size == 0)
        return LA_OK;
    if (own == 0) return la_vmap_rule_first(c, done);
    for (int k = 1; k < c->f->nargs; k++) {
        if (la_vmap_arg(c, k)) return LA_OK;
        if (la_varg(c, k)) LA_TRY(put_behind(c, k));
    }
    LA_TRY(put_joined(c, 0));
    *done = true;
    return run_joined(c);
}

/* The dims of an image: from the list of its sizes, of a convolution from the
** weight. */
la_status la_vmap_rule_joined(la_vcall *c, bool *done)
{
    const la_tensor *weight = la_varg(c, 1);
    return special_joined(c, weight ? weight->ndim - 1
                          : (int)c->f->args[1].ints.n + 1, done);
}

la_status la_vmap_rule_joined_columns(la_vcall *c, bool *done)
{
    return special_joined(c, 2, done);
}

/* Groups of samples are the batch's too; a norm over samples is not. */
la_status la_vmap_rule_channel_norm(la_vcall *c, bool *done)
{
    if (la_arg_int(c->f, 1) <= 0) return LA_OK;
    return special_joined(c, la_varg(c, 0)->ndim - 1, done);
}

/* la_vmap_rule_joined where all tensors have that dim. */
la_status la_vmap_rule_joined_all(la_vcall *c, bool *done)
{
    if (c->level->size == 0) return LA_OK;
    for (int k = 0; k < c->f->nargs; k++)
        if (la_varg(c, k) && la_varg(c, k)->ndim == 0) return LA_OK;
    for (int k = 0; k < c->f->nargs; k++)
        if (la_varg(c, k)) LA_TRY(put_joined(c, k));
    *done = true;
    return run_joined(c);
}

/* ---- products ---- */

/* mm, bmm, mv, dot, vdot by matmul, which knows batches: a vector with a batch
** next to it is a matrix of one column or row. The call's matrices have 'rank'
** dims; of its arguments the last 'vectors' are vectors. */
static la_status special_product(la_vcall *c, int rank, int vectors, bool conj,
                                 bool *done)
{
    int left = la_varg(c, 0)->ndim, right = la_varg(c, 1)->ndim;
    bool both = la_vmap_arg(c, 0) && la_vmap_arg(c, 1);
    if (left != (vectors == 2 ? 1 : rank) || right != (vectors ? 1 : rank))
        return LA_OK;
    LA_CHAIN(w);
    la_tensor *a, *b, *r;
    LA_TRY(put_behind(c, 0));
    LA_TRY(put_behind(c, 1));
    a = c->args[0].tensor;
    b = c->args[1].tensor;
    if (conj) a = R(conj, a);
    if (vectors == 2 && both) a = R(unsqueeze, a, 1);
    if (vectors && la_vmap_arg(c, 1)) b = R(unsqueeze, b, 2);
    if (vectors == 2 && !la_vmap_arg(c, 0)) a = R(unsqueeze, a, 0);
    r = R(matmul, a, b);
    while (r && vectors && r->ndim > 3 - vectors)
        r = R(select, r, r->ndim - 1, 0);
    return w->status ? w->status : special_give(c, la_tensor_retain(r), done);
}

la_status la_vmap_rule_product(la_vcall *c, bool *done)
{
    return special_product(c, 2, 0, false, done);
}

la_status la_vmap_rule_products(la_vcall *c, bool *done)
{
    return special_product(c, 3, 0, false, done);
}

la_status la_vmap_rule_mv(la_vcall *c, bool *done)
{
    return special_product(c, 2, 1, false, done);
}

la_status la_vmap_rule_dot(la_vcall *c, bool *done)
{
    return special_product(c, 2, 2, false, done);
}

la_status la_vmap_rule_vdot(la_vcall *c, bool *done)
{
    return special_product(c, 2, 2, true, done);
}

/* Is the scalar this number? Then the product with it is left out. */
static bool special_is_number(const la_value *v, int n)
{
    const la_scalar *s = &v->scalar;
    return s->kind == LA_KINT ? s->i == n : s->kind == LA_KFLOAT && s->re == n;
}

/* Can 'mul' take the scalar? The products themselves wrap integers around. */
static bool is_factor_of(const la_value *v, const la_tensor *t)
{
    return !la_is_integral((la_dtype)t->dtype)
        || la_scalar_side(&v->scalar, (la_dtype)t->dtype) == 0;
}

/* beta * self + alpha * product, inside of the level; 'sum' is over the
** products of a batch. */
static la_status special_add(la_vcall *c, const la_op *product, bool sum,
                             bool *done)
{
    LA_CHAIN(w);
    la_tensor *self = la_varg(c, 0), *a = la_varg(c, 1), *b = la_varg(c, 2), *r;
    la_value beta = c->f->args[3], alpha = c->f->args[4];
    if (!is_factor_of(&alpha, a) || !is_factor_of(&beta, a)) return LA_OK;
    la_vmap *before = la_vmap_enter(c->level);
    r = la_chain_call(w, product, 2,
                      (la_value[]){la_v_tensor(a), la_v_tensor(b)});
    if (sum) r = R(sum, r, la_v_ints((int64_t[]){0}, 1), false,
                   la_v_dtype((la_dtype)a->dtype));
    if (!special_is_number(&alpha, 1)) r = R(mul, r, alpha);
    if (!special_is_number(&beta, 1) && !special_is_number(&beta, 0))
        self = R(mul, self, beta);
    if (!special_is_number(&beta, 0)) r = R(add, self, r);
    la_vmap_enter(before);
    if (w->status) return w->status;
    *done = true;
    la_set_result(c->f, 0, la_tensor_retain(r));
    return LA_OK;
}

la_status la_vmap_rule_addmm(la_vcall *c, bool *done)
{
    return special_add(c, LA_OP(mm), false, done);
}

la_status la_vmap_rule_addmv(la_vcall *c, bool *done)
{
    return special_add(c, LA_OP(mv), false, done);
}

la_status la_vmap_rule_baddbmm(la_vcall *c, bool *done)
{
    return special_add(c, LA_OP(bmm), false, done);
}

la_status la_vmap_rule_addbmm(la_vcall *c, bool *done)
{
    return special_add(c, LA_OP(bmm), true, done);
}

/* (A, B): B is a matrix, or a vector for each A. */
la_status la_vmap_rule_solve(la_vcall *c, bool *done)
{
    int a = la_varg(c, 0)->ndim, b = la_varg(c, 1)->ndim;
    if (a < 2 || (a != b && !(a == 2 && b == 1))) return LA_OK;
    LA_TRY(la_vmap_take(c, LA_EXPAND));
    *done = true;
    return la_vmap_run(c);
}

/* (matrix, vector that belongs to it, matrix) */
la_status la_vmap_rule_factored(la_vcall *c, bool *done)
{
    int rank = la_varg(c, 0)->ndim;
    if (rank < 2 || la_varg(c, 1)->ndim != rank - 1
        || la_varg(c, 2)->ndim != rank) return LA_OK;
    return la_vmap_rule_whole(c, done);
}
