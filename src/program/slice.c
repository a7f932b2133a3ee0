/*
** Slices: long calls of a recording become calls on rows of their results, so
** that a run may stop between them. A call with a result of its own becomes an
** empty one and calls with out=, which write its rows; a call in place becomes
** calls in place on rows.
**
** Only calls are cut whose elements do not depend on how many rows there are:
** element-wise ones, products of matrices, reductions and softmax along other
** dims than the first, steps of optimisers, convolutions of batches. Work is
** counted as fuel is (op/cost/fuel.h).
*/
#include "program/passes.h"

#include <string.h>

#include "base/runtime/memory.h"
#include "op/families.h"
#include "op/cost/fuel.h"
#include "op/matmul/gemm.h"
#include "op/op.h"
#include "op/schema.h"
#include "tensor/names.h"

enum { SLICE_MOST = 1 << 12,        /* pieces of a call */
       SLICE_COLUMNS = 256,         /* of a block of a few rows */
       SLICE_PRODUCT = 2000000 };   /* multiply-adds of a block */

/* How a tensor of a call is cut. */
typedef enum slice_way {
    SLICE_WHOLE,
    SLICE_DIM,          /* along 'dim' */
    SLICE_FLAT          /* as one dim of all elements */
} slice_way;

typedef struct slice_cut {
    const la_prog_step *step;
    int32_t result;             /* the view that is written */
    int dim;                    /* of the result */
    int64_t rows;               /* of that dim, or elements of a flat one */
    int64_t least;              /* rows of a piece */
    bool flat;
    uint8_t ways[LA_MAX_ARGS], dims[LA_MAX_ARGS];
    int product;                /* of a product of matrices: the argument that
                                ** is its first factor, from 1; else 0 */
} slice_cut;

typedef struct slicer {
    la_prog *p;
    la_prog_list steps;         /* the new ones */
    int64_t piece;
    int64_t total;              /* work of all calls */
    int32_t cuts;
} slicer;

static const la_tensor *slice_form(const slicer *w, int32_t view)
{
    return view < 0 ? NULL : la_prog_view_at(w->p, view)->form;
}

static const la_tensor *slice_arg(const slicer *w, const slice_cut *c, int k)
{
    return k < c->step->nargs ? slice_form(w, c->step->views[k]) : NULL;
}

/* ---- work ---- */

static int64_t slice_work(const slicer *w, const la_prog_step *s)
{
    la_value args[LA_MAX_ARGS];
    la_frame f = {.op = s->op, .form = (la_form)s->form, .nargs = s->nargs,
                  .args = args};
    for (int k = 0; k < s->nargs; k++) {
        args[k] = s->args[k];
        if (args[k].tag == LA_VTENSORS) return 0;
        if (s->views[k] >= 0)
            args[k].tensor = (la_tensor *)slice_form(w, s->views[k]);
    }
    for (int k = 0; k < s->nresults; k++) {
        int32_t view = s->results[k] >= 0 ? s->results[k] : s->outs[k];
        if (view < 0) break;
        f.results[k] = la_v_tensor((la_tensor *)slice_form(w, view));
        f.nresults = k + 1;
    }
    return la_cost_of(&f);
}

/* ---- which calls, and how ---- */

static bool slice_same_sizes(const la_tensor *a, const la_tensor *b)
{
    return a->ndim == b->ndim
        && memcmp(la_sizes(a), la_sizes(b), 8 * (size_t)a->ndim) == 0;
}

static void slice_along(slice_cut *c, int k, int dim)
{
    c->ways[k] = SLICE_DIM;
    c->dims[k] = (uint8_t)dim;
}

/* All operands in one row, so that a piece may end anywhere. */
static bool slice_flat(const slicer *w, slice_cut *c, const la_tensor *r)
{
    if (!la_is_contiguous(r)) return false;
    for (int k = 0; k < c->step->nargs; k++) {
        const la_tensor *t = slice_arg(w, c, k);
        if (!t || t->ndim == 0) continue;
        if (!slice_same_sizes(t, r) || !la_is_contiguous(t)) return false;
        c->ways[k] = SLICE_FLAT;
    }
    c->flat = true;
    c->rows = r->numel;
    return true;
}

/* Element-wise: operands that broadcast along the dim stay whole. */
static bool slice_each(const slicer *w, slice_cut *c, const la_tensor *r)
{
    if (slice_flat(w, c, r)) return true;
    memset(c->ways, 0, sizeof c->ways);
    while (c->dim < r->ndim && la_sizes(r)[c->dim] < 2) c->dim++;
    if (c->dim == r->ndim) return false;
    for (int k = 0; k < c->step->nargs; k++) {
        const la_tensor *t = slice_arg(w, c, k);
        int dim = t ? c->dim - (r->ndim - t->ndim) : -1;
        if (dim >= 0 && la_sizes(t)[dim] != 1) slice_along(c, k, dim);
    }
    c->rows = la_sizes(r)[c->dim];
    return true;
}

/* Rows of argument 'k' are rows of the result. */
static bool slice_rows(const slicer *w, slice_cut *c, const la_tensor *r,
                       int k)
{
    const la_tensor *t = slice_arg(w, c, k);
    if (!t || !t->ndim || !r->ndim || la_sizes(t)[0] != la_sizes(r)[0])
        return false;
    slice_along(c, k, 0);
    c->rows = la_sizes(r)[0];
    return true;
}

/* A product of matrices, arguments 'k' and the one behind it, is cut into
** blocks: slice_blocks. */
static bool slice_product(const slicer *w, slice_cut *c, const la_tensor *r,
                          int k)
{
    const la_tensor *a = slice_arg(w, c, k), *b = slice_arg(w, c, k + 1);
    bool wide = r->dtype == LA_FLOAT32 || r->dtype == LA_FLOAT64;
    c->product = k + 1;
    c->rows = r->numel;
    return a && b && wide && r->ndim == 2 && a->ndim == 2 && b->ndim == 2;
}

/* The dims of argument 1 are none of the first. */
static bool slice_spares_first(const slicer *w, const slice_cut *c)
{
    const la_tensor *t = slice_arg(w, c, 0);
    const la_value *v = &c->step->args[1];
    if (!t || t->ndim < 2) return false;
    if (v->tag == LA_VINT) return v->i != 0 && v->i != -t->ndim;
    if (v->tag != LA_VINTS || !v->ints.n) return false;
    for (int64_t i = 0; i < v->ints.n; i++)
        if (v->ints.list[i] == 0 || v->ints.list[i] == -t->ndim) return false;
    return true;
}

static bool slice_rule(const slicer *w, slice_cut *c, const la_tensor *r)
{
    const la_op *op = c->step->op;
    const la_family *family = op->family;
    if (family) return family->impl == la_pointwise_impl
        && slice_each(w, c, r);
    switch (la_is_reduction(op) ? LA_ROLE_rows : op->role) {
    case LA_ROLE_step: return slice_each(w, c, r);
    case LA_ROLE_product: return slice_product(w, c, r, 0);
    case LA_ROLE_add_product: return slice_product(w, c, r, 1);
    case LA_ROLE_products:
        c->least = 2;           /* one alone is a product as above */
        return slice_rows(w, c, r, 0) && slice_rows(w, c, r, 1);
    case LA_ROLE_rows:
        return c->step->nargs > 1 && slice_spares_first(w, c)
            && slice_rows(w, c, r, 0);
    case LA_ROLE_images: return slice_rows(w, c, r, 0);
    default: return false;
    }
}

/* The view that the call writes all of: a result of its own, or what it changes
** in place. */
static int32_t slice_written(const slicer *w, int32_t i, const la_prog_step *s)
{
    if (s->form != LA_FUNCTIONAL) return s->outs[1] < 0 ? s->outs[0] : -1;
    if (s->op->forms & LA_MUTATES)
        return s->op->role == LA_ROLE_step ? s->views[0] : LA_PROG_NONE;
    int32_t view = s->results[0];
    if (view < 0 || s->results[1] >= 0 || !(s->op->forms & LA_OUT_FORM))
        return LA_PROG_NONE;
    const la_prog_view *v = la_prog_view_at(w->p, view);
    const la_prog_slot *slot = la_prog_slot_at(w->p, v->slot);
    return slot->kind == LA_SLOT_STEP && slot->maker == i && !v->bytes
        && v->form->flags & LA_F_DENSE ? view : LA_PROG_NONE;
}

static bool slice_can(const slicer *w, int32_t i, slice_cut *c)
{
    const la_prog_step *s = c->step;
    if (s->kind != LA_STEP_CALL || s->alias || s->dead || s->early
        || s->nlisted || s->lists >= 0) return false;
    c->result = slice_written(w, i, s);
    if (c->result < 0) return false;
    for (int k = 0; k < s->nargs; k++)
        if (s->args[k].tag == LA_VTENSORS) return false;
    const la_tensor *r = slice_form(w, c->result);
    return r->ndim > 0 && slice_rule(w, c, r);
}

/* ---- pieces ---- */

/* Rows first..first+n-1 of a view. */
static la_status slice_view(slicer *w, int32_t view, slice_way way, int dim,
                            int64_t first, int64_t n, int32_t *out)
{
    const la_prog_view *v = la_prog_view_at(w->p, view);
    int64_t sizes[LA_MAX_DIMS], one = 1, step = 1;
    *out = view;
    if (way == SLICE_WHOLE) return LA_OK;
    LA_LET(form, la_tensor_form(v->form, &form));
    if (way == SLICE_FLAT) {
        la_tensor_set_names(form, NULL);
        LA_TRY(la_tensor_set_geometry(form, 1, &n, &one));
    } else {
        step = la_strides(form)[dim];
        memcpy(sizes, la_sizes(form), 8 * (size_t)form->ndim);
        sizes[dim] = n;
        int64_t strides[LA_MAX_DIMS];
        memcpy(strides, la_strides(form), 8 * (size_t)form->ndim);
        LA_TRY(la_tensor_set_geometry(form, form->ndim, sizes, strides));
    }
    la_prog_view like = {
        .step = LA_PROG_NONE, .object = LA_PROG_NONE,
        .bytes = v->bytes + first * step * (int64_t)la_itemsize(form)};
    *out = la_prog_view_of(w->p, v->slot, form, &like);
    return *out < 0 ? LA_ENOMEM : LA_OK;
}

static la_prog_step *slice_add(slicer *w, const la_prog_step *like, int nargs)
{
    la_prog_step *s = la_prog_add(&w->steps, sizeof *s);
    if (!s) return NULL;
    *s = (la_prog_step){.kind = LA_STEP_CALL, .line = like->line,
        .source = like->source, .lists = LA_PROG_NONE, .object = LA_PROG_NONE,
        .view = LA_PROG_NONE, .no_grad = like->no_grad,
        .nresults = 1, .op = like->op,
        .named = like->named};
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        s->results[k] = s->outs[k] = LA_PROG_NONE;
    return la_prog_take_arguments(w->p, s, nargs) ? NULL : s;
}

/* Memory for the result, as the call would have had it. */
static la_status slice_empty(slicer *w, const slice_cut *c)
{
    const la_op *op = LA_OP(empty_strided);
    const la_tensor *f = slice_form(w, c->result);
    const la_schema *schema = la_schema_of(op);
    la_prog_step *s = slice_add(w, c->step, schema->nparams);
    if (!s) return LA_ENOMEM;
    s->op = op;
    s->pure = true;
    s->results[0] = c->result;
    for (int k = 0; k < schema->nparams; k++)
        s->args[k] = schema->params[k].fallback;
    la_value sizes = la_v_ints(la_sizes(f), f->ndim);
    la_value strides = la_v_ints(la_strides(f), f->ndim);
    LA_TRY(la_prog_copy_value(&s->args[0], &sizes));
    LA_TRY(la_prog_copy_value(&s->args[1], &strides));
    int dtype = la_schema_find(schema, "dtype", 5);
    s->args[dtype] = la_v_dtype((la_dtype)f->dtype);
    return LA_OK;
}

/* ---- products of matrices ---- */

/* Rows and columns of a block. Sums of a few rows or columns run in another
** order than others (kernel/matmul/gemm.h): a block has either as many as the
** product. */
static bool slice_block(const la_tensor *r, int64_t k, int64_t *rows,
                        int64_t *columns)
{
    int64_t m = la_sizes(r)[0], n = la_sizes(r)[1], few = 2 * LA_GEMM_FEW;
    int64_t each = SLICE_PRODUCT / (k ? k : 1), side = few;
    *rows = m;
    *columns = n;
    if (m <= LA_GEMM_FEW) {
        int64_t least = m == 1 ? few : SLICE_COLUMNS;
        *columns = each / m < least ? least : each / m;
        return n >= 2 * least && *columns < n;
    }
    if (n <= LA_GEMM_FEW) return false;
    while (4 * side * side <= each) side *= 2;
    if (n >= 2 * few) *columns = side < n ? side : n;
    if (m >= 2 * few) *rows = each / *columns < few ? few : each / *columns;
    return *rows < m || *columns < n;
}

/* How many blocks a side has, so that none is smaller than that. */
static int64_t slice_sides(int64_t n, int64_t each)
{
    return n / each ? n / each : 1;
}

/* A new slot, made by the next step, and the view that is all of it. */
static int32_t slice_temporary(slicer *w, int32_t like, int64_t m, int64_t n)
{
    int64_t sizes[2] = {m, n}, strides[2] = {n, 1};
    const la_prog_view all = {.step = LA_PROG_NONE, .object = LA_PROG_NONE};
    la_tensor *form = NULL;
    la_prog_slot *s = la_prog_add(&w->p->slots, sizeof *s);
    if (!s || la_tensor_form(slice_form(w, like), &form)) return -1;
    *s = (la_prog_slot){.kind = LA_SLOT_STEP, .index = LA_PROG_NONE,
        .views = LA_PROG_NONE, .maker = w->steps.n, .first = LA_PROG_NONE,
        .last = LA_PROG_NONE, .varies = true,
        .nbytes = m * n * (int64_t)la_itemsize(form)};
    la_tensor_set_names(form, NULL);
    int32_t view = la_tensor_set_geometry(form, 2, sizes, strides) ? -1
        : la_prog_view_of(w->p, w->p->slots.n - 1, form, &all);
    la_tensor_release(form);
    return view;
}

/* The block goes to its position in the result. */
static la_status slice_copy(slicer *w, const la_prog_step *like, int32_t from,
                            int32_t to)
{
    const la_op *op = LA_OP(copy_);
    const la_schema *schema = la_schema_of(op);
    la_prog_step *s = slice_add(w, like, schema->nparams);
    if (!s) return LA_ENOMEM;
    s->op = op;
    for (int k = 0; k < schema->nparams; k++)
        s->args[k] = schema->params[k].fallback;
    s->args[0].tag = s->args[1].tag = LA_VTENSOR;
    s->args[0].given = s->args[1].given = true;
    s->views[0] = s->results[0] = to;
    s->views[1] = from;
    return LA_OK;
}

/* A part of both dims of a view; 'dims' says which of its dims are the rows and
** the columns of the result, or -1. */
static la_status slice_both(slicer *w, int32_t view, const int dims[2],
                            const int64_t at[2], const int64_t n[2],
                            int32_t *out)
{
    *out = view;
    for (int d = 0; d < 2; d++)
        if (dims[d] >= 0)
            LA_TRY(slice_view(w, *out, SLICE_DIM, dims[d], at[d], n[d], out));
    return LA_OK;
}

/* The dims of operand 'k' that are rows and columns of the result. */
static void slice_dims(const slicer *w, const slice_cut *c, int k, int dims[2])
{
    const la_tensor *t = slice_arg(w, c, k);
    dims[0] = dims[1] = -1;
    if (k == c->product - 1) dims[0] = 0;
    else if (k == c->product) dims[1] = 1;
    else for (int d = 0; t && d < 2; d++)           /* the addend */
        if (t->ndim - 2 + d >= 0 && la_sizes(t)[t->ndim - 2 + d] != 1)
            dims[d] = t->ndim - 2 + d;
}

static la_status slice_one_block(slicer *w, const slice_cut *c,
                                 const int64_t at[2], const int64_t n[2],
                                 bool direct)
{
    const la_prog_step *from = c->step;
    const int both[2] = {0, 1};
    int32_t to, result, views[LA_MAX_ARGS];
    int dims[2];
    for (int k = 0; k < from->nargs; k++) {
        views[k] = from->views[k];
        slice_dims(w, c, k, dims);
        if (views[k] >= 0)
            LA_TRY(slice_both(w, views[k], dims, at, n, &views[k]));
    }
    LA_TRY(slice_both(w, c->result, both, at, n, &to));
    result = direct ? to : slice_temporary(w, c->result, n[0], n[1]);
    la_prog_step *s = result < 0 ? NULL : slice_add(w, from, from->nargs);
    if (!s) return LA_ENOMEM;
    for (int k = 0; k < from->nargs; k++) {
        LA_TRY(la_prog_copy_value(&s->args[k], &from->args[k]));
        s->views[k] = views[k];
    }
    s->results[0] = result;
    s->form = direct ? LA_OUT : LA_FUNCTIONAL;
    if (direct) s->outs[0] = result;
    return direct ? LA_OK : slice_copy(w, from, result, to);
}

/* Blocks of rows are written as they are made; others are copied. */
static la_status slice_blocks(slicer *w, const slice_cut *c, int64_t rows,
                              int64_t columns)
{
    const la_tensor *r = slice_form(w, c->result);
    int64_t m = la_sizes(r)[0], n = la_sizes(r)[1];
    int64_t down = slice_sides(m, rows), across = slice_sides(n, columns);
    bool direct = la_is_contiguous(r) && (across == 1 || m == 1);
    LA_TRY(slice_empty(w, c));
    for (int64_t i = 0; i < down; i++)
        for (int64_t j = 0; j < across; j++) {
            int64_t at[2] = {m * i / down, n * j / across};
            int64_t size[2] = {m * (i + 1) / down - at[0],
                               n * (j + 1) / across - at[1]};
            LA_TRY(slice_one_block(w, c, at, size, direct));
        }
    w->cuts++;
    return LA_OK;
}

/* Numbers that count are counted by the first piece alone. */
static la_status slice_sources(la_prog_step *s, const la_prog_step *from,
                               bool again)
{
    if (!from->nsources) return LA_OK;
    size_t bytes = from->nsources * sizeof(la_prog_source);
    s->sources = la_mem_alloc(bytes);
    if (!s->sources) return LA_ENOMEM;
    memcpy(s->sources, from->sources, bytes);
    s->nsources = from->nsources;
    for (int k = 0; again && k < s->nsources; k++)
        s->sources[k].source |= LA_PROG_AGAIN;
    return LA_OK;
}

static la_status slice_piece(slicer *w, const slice_cut *c, int64_t first,
                             int64_t n)
{
    const la_prog_step *from = c->step;
    int32_t out;
    la_prog_step *s = slice_add(w, from, from->nargs);
    if (!s) return LA_ENOMEM;
    int32_t at = w->steps.n - 1;
    for (int k = 0; k < from->nargs; k++) {
        int32_t view = from->views[k];
        LA_TRY(la_prog_copy_value(&s->args[k], &from->args[k]));
        if (view >= 0)
            LA_TRY(slice_view(w, view, (slice_way)c->ways[k], c->dims[k],
                              first, n, &s->views[k]));
    }
    LA_TRY(slice_view(w, c->result, c->flat ? SLICE_FLAT : SLICE_DIM, c->dim,
                      first, n, &out));
    s = LA_PROG_AT(w->steps, la_prog_step, at);
    s->form = from->form == LA_FUNCTIONAL && !(from->op->forms & LA_MUTATES)
        ? LA_OUT : from->form;
    if (s->form != LA_FUNCTIONAL)
        s->outs[0] = s->form == LA_INPLACE ? s->views[0] : out;
    s->results[0] = out;
    return slice_sources(s, from, first > 0);
}

/* How many pieces: of equal sizes, but for a row. */
static int64_t slice_count(const slicer *w, const slice_cut *c, int64_t work)
{
    int64_t pieces = (work + w->piece - 1) / w->piece;
    if (pieces > c->rows / c->least) pieces = c->rows / c->least;
    return pieces > SLICE_MOST ? SLICE_MOST : pieces;
}

static la_status slice_cut_up(slicer *w, const slice_cut *c, int64_t pieces)
{
    if (c->step->form == LA_FUNCTIONAL && !(c->step->op->forms & LA_MUTATES))
        LA_TRY(slice_empty(w, c));
    int64_t n = c->rows / pieces, more = c->rows % pieces, at = 0;
    for (int64_t i = 0; i < pieces; i++) {
        LA_TRY(slice_piece(w, c, at, n + (i < more)));
        at += n + (i < more);
    }
    w->cuts++;
    return LA_OK;
}

/* *done: it became several. */
static la_status slice_try(slicer *w, const slice_cut *c, int64_t work,
                           bool *done)
{
    int64_t pieces = slice_count(w, c, work), rows, columns;
    if (!c->product) {
        *done = pieces > 1;
        return *done ? slice_cut_up(w, c, pieces) : LA_OK;
    }
    const la_tensor *a = slice_arg(w, c, c->product - 1);
    *done = c->step->form == LA_FUNCTIONAL && !c->step->nsources
        && slice_block(slice_form(w, c->result), la_sizes(a)[1], &rows,
                       &columns);
    return *done ? slice_blocks(w, c, rows, columns) : LA_OK;
}

/* ---- all steps ---- */

/* Step 'i' moves to the new list, or becomes several. */
static la_status slice_step(slicer *w, int32_t i, int32_t *map)
{
    la_prog_step *s = la_prog_step_at(w->p, i);
    slice_cut c = {.step = s, .least = 1};
    int64_t work = s->kind == LA_STEP_CALL && !s->alias ? slice_work(w, s) : 0;
    w->total = la_fuel_plus(w->total, work);
    map[i] = w->steps.n;
    if (work > w->piece && slice_can(w, i, &c)) {
        bool done = false;
        LA_TRY(slice_try(w, &c, work, &done));
        if (done) la_prog_cut_step(s);
        if (done) return LA_OK;
    }
    la_prog_step *to = la_prog_add(&w->steps, sizeof *to);
    if (!to) return LA_ENOMEM;
    *to = *s;
    s->args = NULL;
    s->views = NULL;
    s->sources = NULL;
    s->loop = NULL;
    return LA_OK;
}

static la_status slice_steps(slicer *w)
{
    size_t bytes = ((size_t)w->p->steps.n + 1) * sizeof(int32_t);
    int32_t *map = la_mem_alloc(bytes), slots = w->p->slots.n;
    la_status status = map ? LA_OK : LA_ENOMEM;
    for (int32_t i = 0; i < w->p->steps.n && !status; i++)
        status = slice_step(w, i, map);
    for (int32_t i = 0; i < slots && !status; i++) {
        la_prog_slot *s = la_prog_slot_at(w->p, i);
        if (s->kind == LA_SLOT_STEP) s->maker = map[s->maker];
    }
    if (map) la_mem_free(map, bytes);
    return status;
}

/* A copy of a recording in which calls of more work than 'piece' are calls on
** rows, where their kind can be cut. 'total' is the work of all calls. */
static la_status slice_recording(const la_prog *recorded, int64_t piece,
                                 la_prog **out, int64_t *total)
{
    slicer w = {.piece = piece};
    LA_TRY(la_prog_copy(recorded, &w.p));
    la_status status = slice_steps(&w);
    la_prog_list before = w.p->steps;
    w.p->steps = w.steps;
    for (int32_t i = 0; i < before.n; i++)
        la_prog_cut_step(LA_PROG_AT(before, la_prog_step, i));
    la_prog_drop_list(&before, sizeof(la_prog_step));
    *total = w.total;
    if (status) la_prog_free(w.p);
    else *out = w.p;
    return status;
}

/* Pieces of some 50 microseconds of a slow processor. Groups of calls are not
** joined there, which would be long. */
enum { SLICE_PIECE = 50000 };

la_status la_prog_parts(const la_prog *p, la_prog **out)
{
    static const char *const without[] = {"fuse", NULL};
    la_prog *parts = NULL;
    int64_t total;
    LA_TRY(slice_recording(p->recorded, SLICE_PIECE, &parts, &total));
    bool is_long = total > SLICE_PIECE;
    la_status status = is_long ? la_prog_plan(parts, without) : LA_OK;
    if (status || !is_long) la_prog_free(parts);
    *out = !status && is_long ? parts : NULL;
    return status;
}
