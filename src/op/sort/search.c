/* searchsorted, bucketize, isin: binary searches among keys. */
#include <math.h>

#include "base/runtime/thread_pool.h"
#include "op/sort/order.h"
#include "op/scalar_range.h"
#include "tensor/promote.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/index.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/index/index.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* ---- a search in parallel ---- */

/* One binary search per key: 'm' sorted elements, results are 1-based
** positions. */
typedef struct search_job {
    const la_key_kernels *of;    /* the dtype of what is sorted */
    const char *sorted, *keys;
    int64_t key_bytes;
    int64_t m;
    bool right;
    int64_t *out;
} search_job;

/* Keys begin..end. */
static void search_range(int64_t begin, int64_t end, void *context)
{
    const search_job *j = context;
    j->of->search(j->sorted, j->m, j->keys + begin * j->key_bytes, end - begin,
                  j->right, j->out + begin);
}

/* n keys among m sorted elements, over threads. LA_EINTR or LA_OK. */
static la_status search(const la_key_kernels *of, const char *sorted, int64_t m,
                        const char *keys, int64_t n, bool right, int64_t *out)
{
    search_job j = {of, sorted, keys, of->wide ? 8 : 4, m, right, out};
    return la_iter_items(n, 4096, 65536, search_range, &j);
}

/* Sorted keys are searched as integers of their width. */
static const la_key_kernels *key_dtype(const la_order *o)
{
    return &(*LA_STUB(keys))[o->key->wide ? LA_UINT64 : LA_UINT32];
}

/* All elements of 't', in order, as keys. */
static la_status keys_of(la_tensor *t, const la_order *o, la_work *out)
{
    LA_LET(plain, la_run(contiguous, &plain, t));
    LA_TRY(la_work_get(out, t->numel, o->key_bytes));
    o->key->encode(out->block, la_data(plain), (int64_t)la_itemsize(t),
                   t->numel, 0);
    return la_poll();
}

/* ---- searchsorted ---- */

enum { SORTED, VALUES, INT32, RIGHT, SIDE, SORTER };

/* 'side' decides where it is given; LA_EARG when it contradicts 'right'. */
static la_status wants_right(const la_frame *f, bool *right)
{
    const la_value *side = &f->args[SIDE];
    *right = la_arg_bool(f, RIGHT);
    if (side->tag != LA_VSTR) return LA_OK;
    if (!la_str_is(side, "left") && !la_str_is(side, "right"))
        return la_error_at(LA_EARG, SIDE + 1, "side can only be 'left' or "
                           "'right'");
    if (*right && la_str_is(side, "left"))
        return la_error_at(LA_EARG, SIDE + 1, "side and right can't be set to "
                           "opposites, got side of left while right was true");
    *right = la_str_is(side, "right");
    return LA_OK;
}

/* One sorted row for all values, or a row per row of values; else LA_ESHAPE. */
static la_status check_shapes(const la_tensor *sorted, const la_tensor *values)
{
    bool same = sorted->ndim == values->ndim;
    if (sorted->ndim == 0)
        return la_error_at(LA_ESHAPE, 1, "the sorted tensor should have "
                           "positive dimension");
    for (int d = 0; same && d < sorted->ndim - 1; d++)
        same = la_sizes(sorted)[d] == la_sizes(values)[d];
    if (sorted->ndim == 1 || same) return LA_OK;
    return la_error_at(LA_ESHAPE, 2, "boundaries tensor should be 1 dimension "
                       "or the first N-1 dimensions of boundaries tensor and "
                       "input value tensor must match");
}

/* Tensors have one dtype; a scalar adapts to the sorted tensor, or promotes
** it. */
static la_status search_common_dtype(la_tensor *sorted, la_tensor *values,
                                     la_dtype *out)
{
    la_result_type type = LA_RESULT_TYPE_INIT;
    if (sorted->dtype != values->dtype && !(values->flags & LA_F_WRAPPED))
        return la_error_at(LA_EDTYPE, 2, "boundary tensor and input value "
                           "tensor should have same dtype, but got boundary "
                           "tensor dtype %s and input value tensor dtype %s",
                           la_dtype_name((la_dtype)sorted->dtype),
                           la_dtype_name((la_dtype)values->dtype));
    la_result_type_add(&type, sorted);
    la_result_type_add(&type, values);
    return la_result_type_get(&type, out);
}

/* (sorted, values, out_int32, right, side, sorter) -> for each value the
** 1-based position at which it keeps the row sorted: before equal elements, or
** after them with right. */
la_status la_meta_searchsorted(la_frame *f)
{
    la_tensor *sorted = la_arg(f, SORTED), *values = la_arg(f, VALUES);
    la_tensor *sorter = la_arg(f, SORTER);
    la_dtype d;
    la_order o;
    bool right;
    LA_TRY(wants_right(f, &right));
    LA_TRY(search_common_dtype(sorted, values, &d));
    LA_TRY(la_order_of(d, "searchsorted", &o));
    LA_TRY(check_shapes(sorted, values));
    if (sorter && !la_same_sizes(sorter, sorted))
        return la_error_at(LA_ESHAPE, SORTER + 1, "boundary and sorter must "
                           "have the same size");
    return la_set_output(f, 0, values->ndim, la_sizes(values), NULL,
                         la_arg_bool(f, INT32) ? LA_INT32 : LA_INT64);
}

/* Boundaries that are searched in: as they are, or as keys where that is paid
** back by many searches. */
typedef struct boundaries {
    la_tensor *plain;
    la_work keys;
    const la_key_kernels *of;
    const char *data;
    int64_t item;
} boundaries;

static void boundaries_drop(boundaries *b)
{
    la_tensor_drop(&b->plain);
    la_work_drop(&b->keys);
}

/* 't' in dtype 'd': a new reference where it has it. */
static la_status of_dtype(la_tensor *t, la_dtype d, la_tensor **out)
{
    if (t->dtype != d) return la_run(astype, out, t, la_v_dtype(d));
    return la_tensor_same(t, out);
}

/* Encoding all of the sorted elements costs as much as a pass over them: only
** worth it for at least a quarter as many searches. 'sorter' gives the order of
** an unsorted tensor. */
static la_status boundaries_of(la_frame *f, la_dtype d, const la_order *o,
                               int64_t searches, boundaries *b)
{
    la_tensor *sorted = la_arg(f, SORTED), *sorter = la_arg(f, SORTER);
    LA_OWNED ordered = NULL;
    if (sorter) {
        LA_TRY(la_run(gather, &ordered, sorted, -1, sorter));
        sorted = ordered;
    }
    LA_LET(typed, of_dtype(sorted, d, &typed));
    if (searches < sorted->numel / 4) {
        LA_TRY(la_run(contiguous, &b->plain, typed));
        b->of = o->key;
        b->data = la_data(b->plain);
        b->item = (int64_t)la_itemsize(b->plain);
        return LA_OK;
    }
    LA_TRY(keys_of(typed, o, &b->keys));
    b->of = key_dtype(o);
    b->data = b->keys.block;
    b->item = o->key_bytes;
    return LA_OK;
}

/* A number among integers is searched by its value: before an integer stands
** what is below the number rounded up, and after it (right) what is at most the
** number rounded down. *number is that integer; a number that the dtype can't
** hold stands at *end, in front of all elements or, as NaN does, behind. */
static la_status round_number(const la_tensor *sorted, const la_tensor *values,
                              bool right, la_tensor **number, int64_t *end)
{
    la_dtype d = (la_dtype)sorted->dtype;
    if (!(values->flags & LA_F_WRAPPED) || sorted->ndim != 1
        || !la_is_integral(d)) return LA_OK;
    la_scalar s = la_scalar_load((la_dtype)values->dtype, la_data(values));
    if (s.kind == LA_KFLOAT) s.re = right ? floor(s.re) : ceil(s.re);
    int side = s.re != s.re ? 1 : la_scalar_side(&s, d);
    if (side != 0) *end = side < 0 ? 1 : sorted->numel + 1;
    else LA_TRY(la_scalar_tensor(&s, d, number));
    return LA_OK;
}

/* Rows of values are searched in the boundaries' row of the same number, all of
** them in the only row where there is one. */
la_status la_impl_searchsorted(la_frame *f)
{
    la_tensor *sorted = la_arg(f, SORTED), *values = la_arg(f, VALUES);
    la_tensor *out = la_result(f, 0);
    la_dtype d;
    la_order o;
    bool right;
    __attribute__((cleanup(boundaries_drop))) boundaries b = {0};
    LA_WORK keys = {NULL, 0};
    int64_t end_of_all = 0;
    LA_OWNED number = NULL;
    LA_TRY(wants_right(f, &right));
    LA_TRY(search_common_dtype(sorted, values, &d));
    LA_TRY(la_order_of(d, "searchsorted", &o));
    LA_TRY(round_number(sorted, values, right, &number, &end_of_all));
    if (end_of_all)
        return la_run_(fill_, out, end_of_all);
    if (number) {
        values = number;
        d = (la_dtype)sorted->dtype;
        LA_TRY(la_order_of(d, "searchsorted", &o));
    }
    LA_TRY(boundaries_of(f, d, &o, values->numel, &b));
    LA_LET(typed, of_dtype(values, d, &typed));
    LA_TRY(keys_of(typed, &o, &keys));
    LA_LET(positions, la_tensor_empty(values->ndim, la_sizes(values), LA_INT64,
                                      &positions));
    int64_t m = la_sizes(sorted)[sorted->ndim - 1], n = values->numel;
    int64_t rows = sorted->ndim == 1 || m == 0 ? 1 : sorted->numel / m;
    int64_t each = rows ? n / rows : 0, *to = (int64_t *)la_data(positions);
    for (int64_t r = 0; r < rows && n > 0; r++)
        LA_TRY(search(b.of, b.data + r * m * b.item, m,
                      (char *)keys.block + r * each * o.key_bytes, each, right,
                      to + r * each));
    return la_run_(copy_, out, positions);
}

/* searchsorted with exchanged arguments and one row of boundaries. */
la_status la_impl_bucketize(la_frame *f)
{
    la_tensor *out = NULL, *edges = la_arg(f, 1);
    if (edges->ndim != 1)
        return la_error_at(LA_ESHAPE, 2, "boundaries tensor must be 1 "
                           "dimension, but got dim(%d)", edges->ndim);
    LA_TRY(la_run(searchsorted, &out, f->args[1], f->args[0], f->args[2],
                  f->args[3]));
    return LA_GIVE(f, out);
}

/* ---- isin ---- */

enum { FEW = 16,         /* so many are compared one by one */
       TABLE_BITS = 20 }; /* so many values are looked up */

/* The keys but those of NaN, which is in nothing; returns how many. */
static int64_t search_without_nan(const la_order *o, la_dtype d, void *keys,
                                  int64_t n)
{
    uint64_t nan, *wide = keys;
    uint32_t *narrow = keys;
    int64_t m = 0;
    if (!la_key_of_nan(o, d, 0, &nan)) return n;
    LA_EACH_POLLED(i, 0, n) {
        uint64_t key = la_key_at(o, keys, i);
        if (o->key->wide) wide[m] = key;
        else narrow[m] = (uint32_t)key;
        m += key != nan;
    }
    return m;
}

/* Which of n keys are among m sorted ones. */
static void search_mark(const la_order *o, const void *sorted, int64_t m,
                        const void *keys, const int64_t *at, int64_t n,
                            bool invert,
                        uint8_t *out)
{
    LA_EACH_POLLED(i, 0, n) {
        uint64_t key = la_key_at(o, keys, i);
        bool in = at[i] <= m && la_key_at(o, sorted, at[i] - 1) == key;
        out[i] = in != invert;
    }
}

/* The dtype that both tensors of isin are compared in. */
static la_status isin_dtype(const la_frame *f, la_dtype *out)
{
    la_result_type type = LA_RESULT_TYPE_INIT;
    la_result_type_add(&type, la_arg(f, 0));
    la_result_type_add(&type, la_arg(f, 1));
    return la_result_type_get(&type, out);
}

/* (elements, test_elements, assume_unique, invert) -> bool of elements'
** sizes. */
la_status la_meta_isin(la_frame *f)
{
    la_tensor *x = la_arg(f, 0);
    la_dtype common;
    la_order o;
    LA_TRY(la_order_of((la_dtype)x->dtype, "isin", &o));
    LA_TRY(la_order_of((la_dtype)la_arg(f, 1)->dtype, "isin", &o));
    LA_TRY(isin_dtype(f, &common));
    return la_set_output(f, 0, x->ndim, la_sizes(x), NULL, LA_BOOL);
}

/* One test, or one element: what eq says, by value. */
static la_status is_equal(la_frame *f, la_tensor *x, la_tensor *test)
{
    LA_LET(equal, la_run(eq, &equal, x, test));
    LA_OWNED any = NULL;
    if (equal->ndim > la_result(f, 0)->ndim) {
        LA_TRY(la_run(any_dim, &any, equal));
        la_tensor_drop(&equal);
        equal = la_tensor_retain(any);
    }
    if (la_arg_bool(f, 3)) LA_TRY(la_run_(logical_xor, equal, true));
    return la_run_(copy_, la_result(f, 0), equal);
}

/* Few tests are compared one by one; tests whose keys span few values are
** marked in a table; else the tests are sorted and searched. */
la_status la_impl_isin(la_frame *f)
{
    la_tensor *x = la_arg(f, 0), *tests = la_arg(f, 1), *out = la_result(f, 0);
    LA_WORK keys = {NULL, 0};
    LA_WORK sorted = {NULL, 0};
    LA_WORK spare = {NULL, 0};
    la_dtype d;
    la_order o;
    LA_TRY(isin_dtype(f, &d));
    LA_TRY(la_order_of(d, "isin", &o));
    if (tests->ndim == 0 || x->ndim == 0) return is_equal(f, x, tests);
    LA_LET(a, of_dtype(x, d, &a));
    LA_LET(b, of_dtype(tests, d, &b));
    LA_TRY(keys_of(a, &o, &keys));
    LA_TRY(keys_of(b, &o, &sorted));
    int64_t m = search_without_nan(&o, d, sorted.block, tests->numel);
    uint8_t *to = (uint8_t *)la_data(out);
    uint64_t low = 0;
    int width = m > 0 ? o.order->width(sorted.block, m, &low) : 64;
    LA_TRY(la_poll());
    bool few = m <= FEW, table = width <= TABLE_BITS && x->numel >> width > 0;
    if (table) {
        LA_TRY(la_work_get(&spare, (int64_t)1 << width, 1));
        o.order->looked_up(keys.block, x->numel, sorted.block, m, low, width,
                           spare.block, to);
    } else if (few) {
        o.order->member(keys.block, x->numel, sorted.block, m, to);
    }
    if (table || few) {
        for (int64_t i = 0; i < x->numel && la_arg_bool(f, 3); i++) to[i] ^= 1;
        return LA_OK;
    }
    LA_TRY(la_work_get(&spare, 2 * m, o.key_bytes));
    LA_LET(positions, la_tensor_empty(1, &x->numel, LA_INT64, &positions));
    o.order->sort_keys(sorted.block, spare.block, m);
    int64_t *at = (int64_t *)la_data(positions);
    LA_TRY(search(key_dtype(&o), sorted.block, m, keys.block, x->numel, false,
                  at));
    search_mark(&o, sorted.block, m, keys.block, at, x->numel,
                la_arg_bool(f, 3), to);
    return LA_OK;
}
