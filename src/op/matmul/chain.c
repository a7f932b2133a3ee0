/*
** Products of many matrices: matrix_power by repeated squaring, chain_matmul
** and multi_dot in the order with the fewest multiplications (dynamic
** programming over the sizes, O(n^3) for n matrices).
*/
#include "base/runtime/memory.h"
#include "op/composite.h"
#include "op/matmul/matmul.h"
#include "op/view/view.h"

#define LA_ROWS "op/def/matmul.def"
#include "op/call.h"
#include "op/impls.h"

/* t^0: identity matrices of t's shape and dtype, batch dims included. */
static la_status identity_like(la_tensor *t, la_tensor **out)
{
    int64_t n = la_sizes(t)[t->ndim - 1];
    LA_LET(eye, la_run(eye, &eye, n, n, 0, la_v_dtype((la_dtype)t->dtype),
                       la_v_device((la_device)t->device)));
    LA_LET(wide, la_run(expand, &wide, eye, la_v_ints(la_sizes(t), t->ndim)));
    return la_clone_contiguous(wide, out);
}

/* *slot = a @ b */
static la_status chain_replace(la_tensor **slot, la_tensor *a, la_tensor *b)
{
    la_tensor *product;
    LA_TRY(la_matmul(a, b, &product));
    la_tensor_drop(slot);
    *slot = product;
    return LA_OK;
}

/* t^n by squaring, n >= 1: one product per bit of n and one more per bit that
** is set. n == 1 still gives a tensor of its own. */
static la_status chain_power(la_tensor *t, int64_t n, la_tensor **out)
{
    LA_OWNED square = la_tensor_retain(t);
    LA_OWNED result = NULL;
    for (; n > 0; n >>= 1) {
        if ((n & 1) && !result) result = la_tensor_retain(square);
        else if (n & 1) LA_TRY(chain_replace(&result, result, square));
        if (n > 1) LA_TRY(chain_replace(&square, square, square));
    }
    if (result == t) return la_clone_contiguous(t, out);
    return la_tensor_same(result, out);
}

/* The identity; its gradient is zero, but t takes part in the graph. */
static la_status zeroth_power(la_frame *f, la_tensor *t)
{
    la_tensor *out = NULL;
    LA_LET(eye, identity_like(t, &eye));
    if (!la_grad_flag(t)) {
        out = la_tensor_retain(eye);
        return la_give(f, LA_OK, &out);
    }
    LA_LET(never, la_run(zeros_like, &never, eye, la_v_dtype(LA_BOOL)));
    return la_give(f, la_run(where, &out, never, t, eye), &out);
}

/* matrix_power(t [*, m, m], n): LA_ESHAPE unless square; n < 0 are powers of
** the inverse. */
la_status la_impl_matrix_power(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out = NULL;
    int64_t n = la_arg_int(f, 1);
    int d = t->ndim;
    if (d < 2 || la_sizes(t)[d - 1] != la_sizes(t)[d - 2])
        return la_error_at(LA_ESHAPE, 1, "a square matrix or a batch of them "
                           "expected");
    if (n < 0) {
        LA_OWNED inverse = NULL;
        if (n == INT64_MIN)
            return la_error_at(LA_EARG, 2, "the power is too large");
        LA_TRY(la_run(inv, &inverse, t));
        return la_give(f, chain_power(inverse, -n, &out), &out);
    }
    if (n == 0) return zeroth_power(f, t);
    return la_give(f, chain_power(t, n, &out), &out);
}

/* The positions to cut matrices first..last at, from the table that order()
** fills. */
typedef struct chain {
    la_tensor **list;
    int n;
    double *cost;       /* [n * n], least cost of first..last */
    int *cut;           /* [n * n] */
} chain;

/* The matrix chain order: cost[i][j] is the least number of multiplications for
** the product of i..j, over every way to split it. Costs are doubles: sizes
** may be 2^62 and their product is only compared. */
static void chain_order(chain *c)
{
    int n = c->n;
    for (int i = 0; i < n; i++) c->cost[i * n + i] = 0;
    for (int length = 2; length <= n; length++)
        for (int i = 0; i + length <= n; i++) {
            int j = i + length - 1;
            c->cost[i * n + j] = 1e300;
            for (int k = i; k < j; k++) {
                double q = c->cost[i * n + k] + c->cost[(k + 1) * n + j]
                    + (double)la_sizes(c->list[i])[0]
                    * (double)la_sizes(c->list[k])[1]
                    * (double)la_sizes(c->list[j])[1];
                if (q >= c->cost[i * n + j]) continue;
                c->cost[i * n + j] = q;
                c->cut[i * n + j] = k;
            }
        }
}

/* The product of matrices i..j as the table splits it. Recursion is at most
** MAX_CHAIN deep. */
static la_status chain_product(const chain *c, int i, int j, la_tensor **out)
{
    if (i == j) return la_tensor_same(c->list[i], out);
    int k = c->cut[i * c->n + j];
    LA_LET(left, chain_product(c, i, k, &left));
    LA_LET(right, chain_product(c, k + 1, j, &right));
    return la_run(mm, out, left, right);
}

/* Bounds the tables below and the depth of chain_product. */
#define MAX_CHAIN 64

/* Checks the sizes of 'n' matrices, then multiplies them in the cheapest order.
** LA_ESHAPE where an operand is no matrix or neighbours don't fit. */
static la_status chain_of(la_tensor **list, int n, la_tensor **out)
{
    for (int i = 0; i < n; i++) {
        if (list[i]->ndim != 2)
            return la_error(LA_ESHAPE, "tensor %d must be a matrix, got %d-D",
                            i + 1, list[i]->ndim);
        if (i > 0 && la_sizes(list[i - 1])[1] != la_sizes(list[i])[0])
            return la_error(LA_ESHAPE, "mat1 and mat2 shapes cannot be "
                            "multiplied (%lldx%lld and %lldx%lld)",
                            (long long)la_sizes(list[i - 1])[0],
                            (long long)la_sizes(list[i - 1])[1],
                            (long long)la_sizes(list[i])[0],
                            (long long)la_sizes(list[i])[1]);
    }
    size_t bytes = (size_t)(n * n) * (sizeof(double) + sizeof(int));
    double *cost = la_mem_alloc(bytes);
    if (!cost) return LA_ENOMEM;
    chain c = {list, n, cost, (int *)(cost + n * n)};
    chain_order(&c);
    la_status status = chain_product(&c, 0, n - 1, out);
    la_mem_free(cost, bytes);
    return status;
}

static la_status check_chain(const la_frame *f, int least)
{
    int64_t n = f->args[0].tensors.n;
    if (n >= least && n <= MAX_CHAIN) return LA_OK;
    return la_error_at(LA_EARG, 1, "%d to %d tensors expected, got %lld",
                       least, MAX_CHAIN, (long long)n);
}

/* chain_matmul(m_1, ..., m_n): 1 to MAX_CHAIN matrices. */
la_status la_impl_chain_matmul(la_frame *f)
{
    la_tensor *out = NULL;
    LA_TRY(check_chain(f, 1));
    return la_give(f, chain_of(f->args[0].tensors.list,
                            (int)f->args[0].tensors.n, &out), &out);
}

/* multi_dot: as chain_matmul, but the first and the last operand may be vectors
** (a row and a column), whose dim of size 1 leaves the result. */
la_status la_impl_multi_dot(la_frame *f)
{
    la_tensor *list[MAX_CHAIN], *out;
    LA_TRY(check_chain(f, 2));
    int n = (int)f->args[0].tensors.n, last = n - 1;
    memcpy(list, f->args[0].tensors.list, (size_t)n * sizeof *list);
    int64_t removed[2];
    int nremoved = 0;
    LA_OWNED row = NULL;
    LA_OWNED column = NULL;
    if (list[0]->ndim == 1) {
        LA_TRY(la_run(unsqueeze, &row, list[0], 0));
        list[0] = row;
        removed[nremoved++] = 0;
    }
    if (list[last]->ndim == 1) {
        LA_TRY(la_run(unsqueeze, &column, list[last], 1));
        list[last] = column;
        removed[nremoved++] = 1;
    }
    LA_LET(product, chain_of(list, n, &product));
    return la_give(
        f, la_run(squeeze, &out, product, la_v_ints(removed, nremoved)),
        &out);
}
