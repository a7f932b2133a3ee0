/*
** Attention and positions of a language model: keys and values of all positions
** so far lie in pages, which sessions share, and are read where they are. A
** unit of work is one position and one group of heads.
*/
#include <string.h>

#include "base/runtime/memory.h"
#include "iter/items.h"
#include "modules/llm/kernel/attend.h"
#include "op/composite.h"
#include "op/conv/conv.h"
#include "op/move/copy.h"
#include "tensor/shape.h"

#define LA_ROWS "modules/llm/ops.def"
#include "op/call.h"
#include "op/impls.h"

/* llm_attention(self, pages, layer, start, scale, window, softcap) */
enum { SELF, PAGES, LAYER, START, SCALE, WINDOW, SOFTCAP };

/* Pages are alike, and hold the positions up to those of the queries. */
static la_status check_pages(const la_frame *f)
{
    const la_tensor *q = la_arg(f, SELF), *first;
    int64_t n = f->args[PAGES].tensors.n, start = la_arg_int(f, START);
    if (q->ndim != 3)
        return la_error_at(LA_ESHAPE, SELF + 1, "queries {rows, heads, "
                           "features} expected, got %d dims", q->ndim);
    if (n == 0) return la_error_at(LA_EARG, PAGES + 1, "pages expected");
    first = f->args[PAGES].tensors.list[0];
    for (int64_t i = 0; i < n; i++) {
        const la_tensor *p = f->args[PAGES].tensors.list[i];
        if (!p || p->dtype != LA_FLOAT32 || p->ndim != 5
            || !la_same_sizes(p, first) || !la_is_contiguous(p))
            return la_error_at(LA_ESHAPE, PAGES + 1, "page %lld: float32 "
                               "{layers, 2, length, groups, features} expected,"
                               " all alike", (long long)i + 1);
    }
    const int64_t *s = la_sizes(first), *of = la_sizes(q);
    if (s[1] != 2 || s[3] < 1 || of[2] != s[4] || of[1] % s[3])
        return la_error_at(LA_ESHAPE, SELF + 1, "heads in %lld groups with "
                           "%lld features expected", (long long)s[3],
                           (long long)s[4]);
    if (la_arg_int(f, LAYER) < 1 || la_arg_int(f, LAYER) > s[0])
        return la_error_at(LA_EINDEX, LAYER + 1, "layer %lld of %lld",
                           (long long)la_arg_int(f, LAYER), (long long)s[0]);
    int64_t most = 0;
    if (start < 0 || !la_mul_ok(n, s[2], &most) || of[0] > most
        || start > most - of[0])
        return la_error_at(LA_EINDEX, START + 1, "position %lld and %lld rows "
                           "with pages for %lld", (long long)start,
                           (long long)of[0], (long long)most);
    return LA_OK;
}

la_status la_meta_llm_attention(la_frame *f)
{
    LA_TRY(check_pages(f));
    return la_set_output(f, 0, 3, la_sizes(la_arg(f, SELF)), NULL, LA_FLOAT32);
}

typedef struct attention {
    la_attend like;           /* what all units share */
    const float *q;
    float *out;
    const float **parts;      /* [2][groups][pages]: of the layer */
    int64_t groups, pages, start, window, row;  /* row: floats of a query */
} attention;

/* One unit of work: a position of the new rows and a group of query heads that
** share keys. It sees the positions up to its own, and with a sliding window
** only the last ones of these. Units write apart, and each adds in the order of
** positions, so that the number of threads changes no bit. */
static la_status attention_unit(void *context, int64_t unit, char *scratch)
{
    const attention *j = context;
    int64_t r = unit / j->groups, group = unit % j->groups;
    int64_t at = r * j->row + group * j->like.heads * j->like.features;
    la_attend a = j->like;
    a.q = j->q + at;
    a.out = j->out + at;
    a.scores = (float *)(void *)scratch;
    a.keys = j->parts + group * j->pages;
    a.values = j->parts + (j->groups + group) * j->pages;
    a.last = j->start + r + 1;
    a.first = j->window > 0 && a.last > j->window ? a.last - j->window : 0;
    LA_STUB(llm_attend)->group(&a);
    return LA_OK;
}

/* The addresses of each group's keys and values in each page. */
static void find_parts(const la_frame *f, attention *j, const int64_t *s)
{
    int64_t half = s[2] * s[3] * s[4];
    for (int64_t i = 0; i < j->pages; i++) {
        const la_tensor *p = f->args[PAGES].tensors.list[i];
        const float *at = (const float *)(const void *)la_data(p)
            + (la_arg_int(f, LAYER) - 1) * 2 * half;
        for (int64_t g = 0; g < j->groups; g++) {
            j->parts[g * j->pages + i] = at + g * s[4];
            j->parts[(j->groups + g) * j->pages + i] = at + half + g * s[4];
        }
    }
}

/* Cuts the work over threads. Scratch holds the scores of one unit; a unit's
** cost is that of its dot products, from which the grain follows. */
static la_status attend_all(la_frame *f, attention *j, const int64_t *s,
                            int64_t rows)
{
    int64_t seen = j->start + rows;
    size_t bytes = (size_t)(2 * j->groups * j->pages) * sizeof *j->parts;
    j->parts = la_mem_alloc(bytes);
    if (!j->parts) return LA_ENOMEM;
    find_parts(f, j, s);
    int64_t work = seen * j->like.heads * j->like.features;
    la_unit_plan plan = {attention_unit, 32768 / (work + 1) + 1,
                         (size_t)(j->like.heads * seen) * sizeof(float)};
    la_status status = la_iter_units(rows * j->groups, &plan, j);
    la_mem_free(j->parts, bytes);
    return status;
}

/* A page is {layers, 2, length, groups, features}, as check_pages has found.
** Pages are borrowed: nothing of what was seen before is copied. */
la_status la_impl_llm_attention(la_frame *f)
{
    LA_TRY(check_pages(f));
    la_tensor *out = la_result(f, 0);
    const int64_t *s = la_sizes(f->args[PAGES].tensors.list[0]);
    LA_LET(q, la_as_contiguous(la_arg(f, SELF), &q));
    attention j = {
        .like = {.heads = la_sizes(q)[1] / s[3], .features = s[4],
                 .page = s[2], .step = s[3] * s[4],
                 .scale = (float)la_arg_float(f, SCALE),
                 .softcap = (float)la_arg_float(f, SOFTCAP)},
        .q = (const float *)(const void *)la_data(q),
        .out = (float *)(void *)la_data(out), .groups = s[3],
        .pages = f->args[PAGES].tensors.n, .start = la_arg_int(f, START),
        .window = la_arg_int(f, WINDOW), .row = la_sizes(q)[1] * s[4]};
    return attend_all(f, &j, s, la_sizes(q)[0]);
}

/* ---- positions ---- */

/* llm_rotate(self, table, traditional) */
la_status la_meta_llm_rotate(la_frame *f)
{
    const la_tensor *x = la_arg(f, 0), *t = la_arg(f, 1);
    if (x->ndim != 3 || t->ndim != 3 || t->dtype != LA_FLOAT32
        || la_sizes(t)[0] != la_sizes(x)[0] || la_sizes(t)[1] != 2
        || 2 * la_sizes(t)[2] > la_sizes(x)[2])
        return la_error_at(LA_ESHAPE, 2, "{rows, heads, features} and a "
                           "float32 table {rows, 2, pairs} expected");
    return la_set_output(f, 0, 3, la_sizes(x), NULL, LA_FLOAT32);
}

/* Rotary positions (Su et al., "RoFormer", 2021): an angle of the position
** rotates each pair of a head. 'near' pairs neighbours, as GPT-J does; else
** element i goes with i + pairs, as GPT-NeoX does. Features beyond the pairs
** pass unchanged. */
la_status la_impl_llm_rotate(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    if (out->numel == 0) return LA_OK;
    LA_LET(x, la_as_contiguous(la_arg(f, 0), &x));
    LA_LET(t, la_as_contiguous(la_arg(f, 1), &t));
    const float *from = (const float *)(const void *)la_data(x);
    const float *table = (const float *)(const void *)la_data(t);
    float *to = (float *)(void *)la_data(out);
    int64_t heads = la_sizes(x)[1], n = la_sizes(x)[2], pairs = la_sizes(t)[2];
    bool near = la_arg_bool(f, 2);
    if (2 * pairs < n)
        memcpy(to, from, (size_t)x->numel * sizeof *to);
    for (int64_t i = 0; i < la_sizes(x)[0] * heads; i++) {
        const float *row = table + i / heads * 2 * pairs;
        LA_STUB(llm_attend)->rotate(from + i * n, to + i * n, row, row + pairs,
                                    pairs, near ? 1 : pairs, near ? 2 : 1);
    }
    return LA_OK;
}
