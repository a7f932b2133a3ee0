/*
** unique and unique_consecutive, flat or by slices of a dim.
**
** Both come down to a list of items in which equal ones are neighbours (sorted
** or as they stand), and to its runs: where each starts, how long it is, and
** for every element the number of its run. NaN differs from itself.
**
** Flat tensors are compared by keys, as sort.c does; slices by all keys of a
** slice in lexicographic order. Positions are carried along only where inverse
** or first positions are asked for.
*/
#include "op/sort/order.h"

#include "base/runtime/thread_pool.h"

#define LA_ROWS "op/def/index.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"
#include "op/op.h"
#include "tensor/shape.h"

/* The request, and the results. */
typedef struct unique {
    la_order o;
    la_tensor *self;
    const la_tensor *shape;     /* whose sizes inverse has; NULL: n */
    int64_t n;                  /* elements or slices */
    bool sort, inverse, counts, first;
    la_tensor *positions;       /* of each item, from 1; NULL: in place */
    la_tensor *starts;          /* runs, and n at the end */
    int64_t runs;
} unique;

/* Both may be NULL: each is allocated when it is first needed. */
static void unique_drop(unique *u)
{
    la_tensor_drop(&u->positions);
    la_tensor_drop(&u->starts);
}
#define UNIQUE __attribute__((cleanup(unique_drop))) unique

/* A vector of int64, not initialised; owned. */
static la_status new_list(int64_t n, la_tensor **out)
{
    return la_tensor_empty(1, &n, LA_INT64, out);
}

/* The elements of such a vector. */
static int64_t *list(la_tensor *t) { return (int64_t *)la_data(t); }

/* ---- runs to results ---- */

/* The length of each run, from where the next one starts. */
static la_status make_counts(const unique *u, la_tensor **out)
{
    LA_TRY(new_list(u->runs, out));
    const int64_t *starts = list(u->starts);
    int64_t *to = list(*out);
    LA_EACH_POLLED(r, 0, u->runs) to[r] = starts[r + 1] - starts[r];
    return LA_OK;
}

/* The number of its run for every element, in the shape that is given. */
static la_status make_inverse(const unique *u, int ndim, const int64_t *sizes,
                              la_tensor **out)
{
    LA_TRY(la_tensor_empty(ndim, sizes, LA_INT64, out));
    const int64_t *starts = list(u->starts);
    const int64_t *at = u->positions ? list(u->positions) : NULL;
    int64_t *to = list(*out);
    /* Each page once, in their order: the first of positions in no order would
    ** have the kernel clear all of them in one stretch. */
    for (int64_t i = 0, end; at && (end = la_poll_piece(i, u->n)) > i; )
        for (; i < end; i += 512) to[i] = 0;
    for (int64_t r = 0, i = 0, end; (end = la_poll_piece(i, u->n)) > i; )
        for (; i < end; i++) {
            if (i == starts[r + 1]) r++;
            to[at ? at[i] - 1 : i] = r + 1;
        }
    return LA_OK;
}

/* The position of the first element of each run (sorting is stable). */
static la_status make_first(const unique *u, la_tensor **out)
{
    LA_TRY(new_list(u->runs, out));
    const int64_t *starts = list(u->starts);
    int64_t *to = list(*out);
    LA_EACH_POLLED(r, 0, u->runs)
        to[r] = u->positions ? list(u->positions)[starts[r]]
                             : starts[r] + 1;
    return LA_OK;
}

/* Results 1.. in the order of the array standard; 0 is set by the caller. */
static la_status unique_deliver(la_frame *f, const unique *u, int ndim,
                                const int64_t *sizes)
{
    int k = 1;
    la_tensor *t = NULL;
    if (u->first) {
        LA_TRY(make_first(u, &t));
        la_set_result(f, k++, t);
    }
    if (u->inverse) {
        LA_TRY(make_inverse(u, ndim, sizes, &t));
        la_set_result(f, k++, t);
    }
    if (u->counts) {
        LA_TRY(make_counts(u, &t));
        la_set_result(f, k++, t);
    }
    return LA_OK;
}

/* ---- flat ---- */

/* Both zeros are one key; the value that stays has the sign of the first. */
static void sign_of_zero(const unique *u, const la_tensor *plain,
                         la_tensor *values, const void *keys)
{
    uint64_t zero = la_key_of_zero(&u->o, 0), key[2];
    size_t item = la_itemsize(plain);
    int64_t i = 0, r = 0, left = la_poll_every(plain->numel);
    for (; i < plain->numel; i++) {
        if (la_poll_run(&left, 8)) return;
        u->o.key->encode(key, la_data(plain) + i * (int64_t)item, (int64_t)item,
                         1, 0);
        if (la_key_at(&u->o, key, 0) == zero) break;
    }
    for (int64_t end; (end = la_poll_piece(r, u->runs)) > r
         && la_key_at(&u->o, keys, r) != zero; )
        while (r < end && la_key_at(&u->o, keys, r) != zero) r++;
    if (r < u->runs && i < plain->numel && u->sort)
        memcpy(la_data(values) + r * (int64_t)item,
               la_data(plain) + i * (int64_t)item, item);
}

/* Keys in order; positions too when they are needed. LA_EINTR when that was
** interrupted: positions are then not to be read, they would lead anywhere. */
static la_status order_keys(unique *u, la_work *keys)
{
    LA_WORK items = {NULL, 0};
    LA_WORK spare = {NULL, 0};
    bool pairs = u->inverse || u->first;
    int64_t size = pairs ? u->o.item_bytes : u->o.key_bytes;
    if (!u->sort) return LA_OK;
    LA_TRY(la_work_get(&spare, pairs ? u->n : 2 * u->n, size));
    if (!pairs) {
        u->o.order->sort_keys(keys->block, spare.block, u->n);
        return la_poll();
    }
    if (!u->o.key->wide && u->n > UINT32_MAX)
        return la_error(LA_ESHAPE, "%lld elements are too many to be ordered "
                        "with positions", (long long)u->n);
    LA_TRY(la_work_get(&items, u->n, size));
    LA_TRY(new_list(u->n, &u->positions));
    u->o.order->sort_positions(keys->block, list(u->positions), 1, items.block,
                           spare.block, u->n);
    return la_poll();
}

/* All elements as one row, in row-major order. */
static la_status flat(la_frame *f, unique *u)
{
    LA_WORK keys = {NULL, 0};
    uint64_t nan = 0;
    la_dtype d = (la_dtype)u->self->dtype;
    u->n = u->self->numel;
    LA_LET(plain, la_run(contiguous, &plain, u->self));
    LA_TRY(la_work_get(&keys, u->n, u->o.key_bytes));
    bool signs = u->o.key->encode(keys.block, la_data(plain),
                                  (int64_t)la_itemsize(plain), u->n, 0);
    LA_TRY(order_keys(u, &keys));
    if (u->inverse || u->counts || u->first)
        LA_TRY(new_list(u->n + 1, &u->starts));
    bool has_nan = la_key_of_nan(&u->o, d, 0, &nan);
    u->runs = u->o.order->runs(keys.block, u->n, nan, has_nan,
                               u->starts ? list(u->starts) : NULL);
    LA_TRY(la_poll());
    LA_LET(values, la_tensor_empty(1, &u->runs, d, &values));
    u->o.key->decode(la_data(values), (int64_t)la_itemsize(values), keys.block,
                     u->runs, 0);
    if (signs) sign_of_zero(u, plain, values, keys.block);
    la_set_result(f, 0, la_tensor_retain(values));
    return unique_deliver(f, u, u->self->ndim, la_sizes(u->self));
}

/* ---- by slices ---- */

typedef struct slices {
    const unique *u;
    const char *keys;
    int64_t width;              /* keys in a slice */
    bool has_nan;
    uint64_t nan;
} slices;

/* Order of two slices (positions from 1): < 0, 0, > 0. */
static int compare(const slices *s, int64_t a, int64_t b)
{
    for (int64_t i = 0; i < s->width; i++) {
        uint64_t x = la_key_at(&s->u->o, s->keys, (a - 1) * s->width + i);
        uint64_t y = la_key_at(&s->u->o, s->keys, (b - 1) * s->width + i);
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

/* A slice with a NaN equals none, not even itself. */
static bool equal(const slices *s, int64_t a, int64_t b)
{
    for (int64_t i = 0; i < s->width && s->has_nan; i++)
        if (la_key_at(&s->u->o, s->keys, (a - 1) * s->width + i) == s->nan)
            return false;
    return compare(s, a, b) == 0;
}

/* Bottom-up merging of positions. Stable, without recursion; n positions of
** scratch. Slices are compared in their positions, only these move. */
static void sort_slices(const slices *s, int64_t *at, int64_t *spare, int64_t n)
{
    int64_t *from = at, *to = spare, cost = 16 + s->width;
    int64_t left = la_poll_every(n * cost);
    for (int64_t w = 1; w < n; w *= 2) {
        for (int64_t i = 0; i < n; i += 2 * w) {
            int64_t m = i + w < n ? i + w : n;
            int64_t e = i + 2 * w < n ? i + 2 * w : n;
            for (int64_t a = i, b = m, k = i; k < e; k++) {
                if (la_poll_run(&left, cost)) return;
                bool second = a == m
                    || (b < e && compare(s, from[b], from[a]) < 0);
                to[k] = second ? from[b++] : from[a++];
            }
        }
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != at) memcpy(at, from, (size_t)n * sizeof(int64_t));
}

/* Runs of equal neighbours, by their order in 'positions'. */
static void slice_runs(unique *u, const slices *s)
{
    const int64_t *at = list(u->positions);
    int64_t *starts = list(u->starts), cost = 16 + s->width;
    int64_t left = la_poll_every(u->n * cost);
    u->runs = 0;
    for (int64_t i = 0; i < u->n && !la_poll_run(&left, cost); i++)
        if (i == 0 || !equal(s, at[i - 1], at[i])) starts[u->runs++] = i;
    starts[u->runs] = u->n;
}

/* LA_ESHAPE where slices would be compared that have no elements. */
static la_status unique_check_slices(const unique *u, int dim)
{
    const la_tensor *x = u->self;
    if (x->numel > 0 || x->ndim == 0) return LA_OK;
    for (int d = 0; d < x->ndim; d++)
        if (d != dim && la_sizes(x)[d] == 0 && la_sizes(x)[dim] > 0)
            return la_error_at(LA_ESHAPE, 1, "There are 0 sized dimensions, "
                               "and they aren't selected, so unique cannot be "
                               "applied");
    return LA_OK;
}

/* Slices along a dim are compared in lexicographic order of keys; the
** first of each run is copied from self. */
static la_status unique_by_slices(la_frame *f, unique *u, int64_t asked)
{
    LA_WORK keys = {NULL, 0};
    la_tensor *values = NULL;
    int dim;
    LA_TRY(la_wrap_dim(asked, u->self->ndim, &dim));
    if (u->self->ndim == 0) return flat(f, u);
    LA_TRY(unique_check_slices(u, dim));
    u->n = la_sizes(u->self)[dim];
    int64_t from = dim, zero = 0;
    LA_LET(front, la_run(movedim, &front, u->self, la_v_ints(&from, 1),
                         la_v_ints(&zero, 1)));
    LA_LET(plain, la_run(contiguous, &plain, front));
    LA_TRY(la_work_get(&keys, plain->numel, u->o.key_bytes));
    u->o.key->encode(keys.block, la_data(plain), (int64_t)la_itemsize(plain),
                     plain->numel, 0);
    slices s = {.u = u, .keys = keys.block,
                .width = u->n ? plain->numel / u->n : 0};
    s.has_nan = la_key_of_nan(&u->o, (la_dtype)plain->dtype, 0, &s.nan);
    LA_TRY(new_list(u->n, &u->positions));
    LA_TRY(new_list(u->n + 1, &u->starts));
    for (int64_t i = 0; i < u->n; i++) list(u->positions)[i] = i + 1;
    if (u->sort)
        sort_slices(&s, list(u->positions), list(u->starts), u->n);
    LA_TRY(la_poll());
    slice_runs(u, &s);
    LA_TRY(la_poll());
    LA_LET(first, make_first(u, &first));
    LA_TRY(la_run(index_select, &values, u->self, dim, first));
    la_set_result(f, 0, values);
    return u->shape ? unique_deliver(f, u, u->shape->ndim, la_sizes(u->shape))
                    : unique_deliver(f, u, 1, &u->n);
}

/* ---- complex numbers: slices of two reals, ordered by the first ---- */

/* Unique complex numbers of self, or unique slices along 'dim' (NULL:
** numbers). */
static la_status of_complex(la_frame *f, unique *u, const int64_t *dim)
{
    LA_OWNED line = NULL;
    la_tensor *self = u->self, *out = NULL;
    int64_t all = self->numel;
    int along = 0;
    bool numbers = !dim || self->ndim == 0;
    LA_LET(plain, la_run(resolve_conj, &plain, self));
    if (dim) LA_TRY(la_wrap_dim(*dim, self->ndim, &along));
    if (numbers) LA_TRY(la_run(reshape, &line, plain, la_v_ints(&all, 1)));
    else line = la_tensor_retain(plain);
    LA_LET(parts, la_run(view_as_real, &parts, line));
    LA_TRY(la_order_of((la_dtype)parts->dtype, "unique", &u->o));
    u->self = parts;
    if (numbers) u->shape = self;
    LA_TRY(unique_by_slices(f, u, numbers ? 0 : along));
    LA_LET(values, la_run(view_as_complex, &values, la_result(f, 0)));
    LA_TRY(la_run(clone, &out, values));
    la_tensor_release(la_result(f, 0));
    return LA_GIVE(f, out);
}

/* ---- the operations ---- */

/* 'u' says what is asked for; of self flattened, or along argument 'dim' (-1:
** there is none). */
static la_status unique_run(la_frame *f, unique *u, int dim)
{
    la_dtype d = (la_dtype)la_arg(f, 0)->dtype;
    bool by_dim = dim >= 0 && la_has(f, dim);
    u->self = la_arg(f, 0);
    if (la_is_complex(d))
        return of_complex(f, u, by_dim ? &f->args[dim].i : NULL);
    LA_TRY(la_order_of(d, f->op->name, &u->o));
    return by_dim ? unique_by_slices(f, u, la_arg_int(f, dim)) : flat(f, u);
}

/* (self, sorted, return_inverse, return_counts, dim); the result is always
** sorted. Without a dim the tensor is flattened. */
la_status la_impl_unique(la_frame *f)
{
    UNIQUE u = {.sort = true, .inverse = la_arg_bool(f, 2),
                .counts = la_arg_bool(f, 3)};
    return unique_run(f, &u, 4);
}

/* Only neighbours are compared: (self, return_inverse, return_counts, dim). */
la_status la_impl_unique_consecutive(la_frame *f)
{
    UNIQUE u = {.sort = false, .inverse = la_arg_bool(f, 1),
                .counts = la_arg_bool(f, 2)};
    return unique_run(f, &u, 3);
}

/* The functions of the array standard: sorted values, first positions, inverse
** and counts, or some of these. */
la_status la_impl_unique_all(la_frame *f)
{
    UNIQUE u = {.sort = true, .inverse = true, .counts = true, .first = true};
    return unique_run(f, &u, -1);
}

/* Values and counts. */
la_status la_impl_unique_counts(la_frame *f)
{
    UNIQUE u = {.sort = true, .counts = true};
    return unique_run(f, &u, -1);
}

/* Values and, for each element of self, the position of its value. */
la_status la_impl_unique_inverse(la_frame *f)
{
    UNIQUE u = {.sort = true, .inverse = true};
    return unique_run(f, &u, -1);
}

/* The values alone. */
la_status la_impl_unique_values(la_frame *f)
{
    UNIQUE u = {.sort = true};
    return unique_run(f, &u, -1);
}
