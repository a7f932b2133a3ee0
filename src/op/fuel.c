/* The price of a call: elements, and multiply-adds of products. */
#include "op/fuel.h"

#include "base/runtime/token.h"
#include "op/composite.h"
#include "op/op.h"

_Thread_local la_fuel_scope *la_fuel_running;
/* Fuel that the last call paid before it failed for want of memory. */
static _Thread_local int64_t failed_paid;

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t plus(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* Pays the cost of the work known so far, less what is paid already. */
static la_status pay(la_fuel_scope *root)
{
    int64_t work = root->elements > root->products ? root->elements
                                                   : root->products;
    int64_t due = la_fuel_price(work) - root->paid;
    if (due <= 0) return LA_OK;
    LA_TRY(la_token_take(root->token, due));
    root->paid += due;
    return LA_OK;
}

static void see(la_fuel_scope *root, int64_t elements)
{
    if (elements > root->elements) root->elements = elements;
}

static void see_value(la_fuel_scope *root, const la_value *v)
{
    if (v->tag == LA_VTENSOR && v->tensor) see(root, v->tensor->numel);
    if (v->tag != LA_VTENSORS) return;
    for (int64_t i = 0; i < v->tensors.n; i++)
        if (v->tensors.list[i]) see(root, v->tensors.list[i]->numel);
}

/* Element-wise results are as large as their inputs together. What does not
** broadcast is an error a little later. */
static int64_t broadcast(const la_frame *f)
{
    int64_t n = 1;
    for (int d = 0; d < LA_MAX_DIMS; d++) {
        int64_t size = 1;
        bool any = false;
        for (int k = 0; k < f->nargs; k++) {
            const la_tensor *t = f->args[k].tensor;
            if (f->args[k].tag != LA_VTENSOR || d >= t->ndim) continue;
            int64_t own = la_sizes(t)[t->ndim - 1 - d];
            if (own != 1) size = own;
            any = true;
        }
        if (!any) break;
        n = times(n, size);
    }
    return n;
}

la_status la_fuel_begin(la_fuel_scope *s, const la_frame *f, la_token *k)
{
    la_fuel_scope *outer = la_fuel_running;
    bool inside = outer && outer->root->token == k;
    s->counts = false;
    LA_TRY(la_token_ask(k));
    if (!la_token_counts(k)) return LA_OK;
    *s = (la_fuel_scope){.outer = outer, .token = k, .frame = f,
                         .counts = true};
    s->root = inside ? outer->root : s;
    la_fuel_running = s;
    if (inside) return LA_OK;
    failed_paid = 0;
    for (int i = 0; i < f->nargs; i++) see_value(s, &f->args[i]);
    if (f->op->family) see(s, broadcast(f));
    return pay(s);
}

la_status la_fuel_end(la_fuel_scope *s, la_status status)
{
    if (!s->counts) return status;
    la_fuel_running = s->outer;
    if (status == LA_ENOMEM && s->root == s) failed_paid = s->paid;
    if (status || s->root != s) return status;
    for (int k = 0; k < s->frame->nresults; k++)
        see_value(s, &s->frame->results[k]);
    return pay(s);
}

int64_t la_fuel_of_failure(void)
{
    int64_t paid = failed_paid;
    failed_paid = 0;
    return paid;
}

/* ---- products ---- */

static int64_t last(const la_frame *f, int arg)
{
    const la_tensor *t = f->args[arg].tensor;
    return t->ndim ? la_sizes(t)[t->ndim - 1] : 1;
}

static int64_t elements(const la_frame *f, int arg)
{
    return f->args[arg].tensor->numel;
}

/* A weight's elements for one of its first dim: what an element of a
** convolution's result sums, or one of a transposed one's input adds to. */
static int64_t window(const la_frame *f, int arg)
{
    const la_tensor *w = f->args[arg].tensor;
    return la_sizes(w)[0] ? w->numel / la_sizes(w)[0] : 0;
}

/* Multiply-adds of a row with n elements in its first result; 0 for rows that
** are no product. The arguments have been checked. */
static int64_t multiply_adds(const la_frame *f, int64_t n)
{
    const la_op *op = f->op;
    if (op == LA_OP(mm) || op == LA_OP(matmul) || op == LA_OP(bmm)
        || op == LA_OP(batched_mm) || op == LA_OP(mv) || op == LA_OP(dot)
        || op == LA_OP(vdot) || op == LA_OP(linear)
        || op == LA_OP(distance_rows))
        return times(n, last(f, 0));
    if (op == LA_OP(addmm) || op == LA_OP(addmv) || op == LA_OP(baddbmm))
        return times(n, last(f, 1));
    if (op == LA_OP(distance_rows_backward))
        return times(elements(f, 0), last(f, 1));
    if (op == LA_OP(addbmm)) return times(elements(f, 1), last(f, 2));
    if (op == LA_OP(convolution))
        return times(f->args[6].b ? elements(f, 0) : n, window(f, 1));
    if (op == LA_OP(convolution_grad_input)
        || op == LA_OP(convolution_grad_weight))
        return times(elements(f, f->args[6].b ? 1 : 0), window(f, 2));
    if (op != LA_OP(attention) && op != LA_OP(attention_backward)) return 0;
    int first = op == LA_OP(attention) ? 0 : 1;
    const la_tensor *key = f->args[first + 1].tensor;
    int64_t keys = la_sizes(key)[key->ndim - 2];
    int64_t width = last(f, first) ? last(f, first) : 1;
    int64_t rows = elements(f, first) / width;
    int64_t each = first ? 3 * last(f, 1) + 2 * last(f, 3)
                         : last(f, 0) + last(f, 2);
    return times(times(rows, keys), each);
}

/* Is this call a part of a product? */
static bool in_product(const la_fuel_scope *s)
{
    for (; s != s->root; s = s->outer)
        if (s->counted) return true;
    return s->counted;
}

la_status la_fuel_announce(const la_frame *f, int ndim, const int64_t *sizes)
{
    la_fuel_scope *s = la_fuel_running, *root = s->root;
    int64_t n = 1;
    if (s->frame != f) return LA_OK;
    for (int d = 0; d < ndim; d++) n = times(n, sizes[d]);
    if (root->frame == f) see(root, n);
    int64_t products = in_product(s) ? 0 : multiply_adds(f, n);
    if (products) s->counted = true;
    root->products = plus(root->products, products);
    return pay(root);
}
