/*
** scaled_dot_product_attention as users call it: broadcasting, grouped heads,
** masks and dtypes. A composite over the tiled operation 'attention', or over
** matmul, softmax and dropout where dropout needs the scores.
*/
#include <math.h>

#include "op/matmul/matmul.h"
#include "op/view/view.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/attention.def"
#include "op/call.h"
#include "op/impls.h"

/* Batch dims of all three (and the mask), broadcast. The first three are blamed
** by their argument where they have fewer than two dims; a mask may have fewer
** and then broadcasts. */
static la_status batch_of(la_tensor *const *t, int n, la_shape *out)
{
    *out = (la_shape){.ndim = 0};
    for (int k = 0; k < n; k++) {
        la_shape own = {.ndim = t[k]->ndim - 2};
        if (own.ndim < 0) {
            if (k < 3)
                return la_error_at(LA_ESHAPE, k + 1, "at least 2 dims "
                                   "expected, got %d", t[k]->ndim);
            continue;
        }
        memcpy(own.sizes, la_sizes(t[k]), (size_t)own.ndim * 8);
        LA_TRY(la_shape_broadcast(out, &own, out));
    }
    return LA_OK;
}

/* 't' expanded to [batch, rows, cols] by strides of 0. *out is an owned view;
** nothing is copied. */
static la_status expand_to(la_tensor *t, const la_shape *batch, int64_t rows,
                           int64_t cols, la_tensor **out)
{
    int64_t sizes[LA_MAX_DIMS];
    memcpy(sizes, batch->sizes, (size_t)batch->ndim * sizeof *sizes);
    if (batch->ndim > LA_MAX_DIMS - 2)
        return la_error(LA_ESHAPE, "too many dims");
    sizes[batch->ndim] = rows;
    sizes[batch->ndim + 1] = cols;
    return la_run(expand, out, t, la_v_ints(sizes, batch->ndim + 2));
}

/* Key and value heads repeated so that they are as many as the query's.
** Grouped-query attention (J. Ainslie et al., GQA, 2023): heads are dim -3, and
** neighbouring queries share a key. *out is owned. LA_ESHAPE unless the heads
** divide. */
static la_status repeat_heads(la_tensor *q, la_tensor *t, la_tensor **out)
{
    if (q->ndim < 3 || t->ndim < 3)
        return la_error(LA_ESHAPE, "enable_gqa needs at least 3 dims");
    int64_t have = la_sizes(t)[t->ndim - 3], want = la_sizes(q)[q->ndim - 3];
    if (have == 0 || want % have != 0)
        return la_error(LA_ESHAPE, "the query's %lld heads are no multiple of "
                        "%lld", (long long)want, (long long)have);
    if (have == want) return la_tensor_same(t, out);
    return la_run(repeat_interleave, out, t, want / have, -3);
}

/* Inputs of both ways to compute: all of equal batch dims; a causal mask is
** only a flag, which the tiles need not store. */
typedef struct inputs {
    la_tensor *q, *k, *v, *mask;    /* owned */
    bool causal;
    double scale, dropout;
} inputs;

/* Owned tensors, on every way out. */
static void drop_inputs(inputs *in)
{
    la_tensor_drop(&in->q);
    la_tensor_drop(&in->k);
    la_tensor_drop(&in->v);
    la_tensor_drop(&in->mask);
}

/* *slot becomes a copy in dtype d, unless it has that dtype. */
static la_status as_dtype(la_tensor **slot, la_dtype d)
{
    la_tensor *converted;
    if ((*slot)->dtype == d) return LA_OK;
    LA_TRY(la_run(to_dtype, &converted, *slot, la_v_dtype(d)));
    la_tensor_drop(slot);
    *slot = converted;
    return LA_OK;
}

/* Arguments to owned tensors of equal batch dims. With enable_gqa (argument 7)
** heads of key and value are repeated first. */
static la_status read_inputs(la_frame *f, inputs *in)
{
    la_tensor *list[4] = {la_arg(f, 0), la_arg(f, 1), la_arg(f, 2),
                          la_arg(f, 3)};
    LA_OWNED key = NULL;
    LA_OWNED value = NULL;
    la_shape batch;
    if (la_arg_bool(f, 7)) {
        LA_TRY(repeat_heads(list[0], list[1], &key));
        LA_TRY(repeat_heads(list[0], list[2], &value));
        list[1] = key;
        list[2] = value;
    }
    LA_TRY(batch_of(list, list[3] ? 4 : 3, &batch));
    la_tensor **own[3] = {&in->q, &in->k, &in->v};
    for (int i = 0; i < 3; i++) {
        const int64_t *s = la_sizes(list[i]) + list[i]->ndim - 2;
        LA_TRY(expand_to(list[i], &batch, s[0], s[1], own[i]));
    }
    if (!list[3]) return LA_OK;
    /* A mask of fewer dims broadcasts over heads and batch. */
    int n = batch.ndim;
    return expand_to(list[3], &batch, la_sizes(in->q)[n], la_sizes(in->k)[n],
                     &in->mask);
}

/* PyTorch's conditions and messages. */
static la_status attention_check(const la_frame *f, const inputs *in)
{
    if (!la_is_float(in->q->dtype))
        return la_error_at(LA_EDTYPE, 1, "floating point tensor expected, got "
                           "%s", la_dtype_name(in->q->dtype));
    if (in->k->dtype != in->q->dtype || in->v->dtype != in->q->dtype)
        return la_error(LA_EDTYPE, "Expected query, key, and value to have the "
                        "same dtype, but got query.dtype: %s key.dtype: %s and "
                        "value.dtype: %s instead.",
                        la_dtype_name(in->q->dtype),
                        la_dtype_name(in->k->dtype),
                        la_dtype_name(in->v->dtype));
    if (in->mask && in->causal)
        return la_error(LA_EARG, "Explicit attn_mask should not be set when "
                        "is_causal=true");
    if (in->dropout < 0 || in->dropout > 1)
        return la_error_at(LA_EARG, 5, "dropout_p has to be between 0 and 1, "
                           "but got %g", in->dropout);
    if (in->mask && in->mask->dtype != LA_BOOL
        && in->mask->dtype != in->q->dtype)
        return la_error_at(LA_EDTYPE, 4, "Expected attn_mask dtype to be bool "
                           "or to match query dtype, but got attn_mask.dtype: "
                           "%s and query.dtype: %s instead.",
                           la_dtype_name(in->mask->dtype),
                           la_dtype_name(in->q->dtype));
    return LA_OK;
}

/* Attention by tiles; 16-bit floats are computed in float32 and converted back.
** Scores are never in memory as a whole (T. Dao et al., FlashAttention, 2022).
** *out is owned. */
static la_status tiled(inputs *in, la_tensor **out)
{
    la_dtype d = (la_dtype)in->q->dtype;
    la_dtype work = d == LA_FLOAT64 ? d : LA_FLOAT32;
    la_value r[LA_MAX_RESULTS];
    LA_TRY(as_dtype(&in->q, work));
    LA_TRY(as_dtype(&in->k, work));
    LA_TRY(as_dtype(&in->v, work));
    if (in->mask && in->mask->dtype != LA_BOOL)
        LA_TRY(as_dtype(&in->mask, work));
    LA_TRY(la_run_many(attention, r, in->q, in->k, in->v, in->mask,
                       la_v_bool(in->causal), la_v_float(in->scale)));
    /* The logsumexp is for the backward pass, which autograd has kept. */
    la_tensor_drop(&r[1].tensor);
    *out = r[0].tensor;
    return as_dtype(out, d);
}

/* All scores in memory, since dropout acts on them. [.., L, S] of them. What a
** bool mask leaves out scores -infinity, a weight of 0. *out is owned. */
static la_status attention_whole(inputs *in, la_tensor **out)
{
    LA_OWNED scores = NULL;
    LA_OWNED masked = NULL;
    int n = in->q->ndim;
    int64_t length = la_sizes(in->q)[n - 2], keys = la_sizes(in->k)[n - 2];
    int64_t sizes[2] = {length, keys};
    la_scalar out_of = la_scalar_float(-INFINITY);
    /* The causal mask as a tensor: dropout needs the scores anyway. */
    if (in->causal) {
        LA_OWNED ones = NULL;
        LA_TRY(la_run(ones, &ones, la_v_ints(sizes, 2), la_v_dtype(LA_BOOL)));
        LA_TRY(la_run(tril, &in->mask, ones));
    }
    LA_LET(transposed, la_run(transpose, &transposed, in->k, -2, -1));
    LA_LET(product, la_matmul(in->q, transposed, &product));
    LA_TRY(la_run(mul, &scores, product, la_scalar_float(in->scale)));
    if (in->mask && in->mask->dtype == LA_BOOL) {
        LA_OWNED out_mask = NULL;
        LA_TRY(la_run(logical_not, &out_mask, in->mask));
        LA_TRY(la_run(masked_fill, &masked, scores, out_mask, out_of));
    } else if (in->mask) {
        LA_TRY(la_run(add, &masked, scores, in->mask));
    }
    LA_LET(soft, la_run(softmax, &soft, masked ? masked : scores, -1));
    LA_LET(kept, la_run(dropout, &kept, soft, la_v_float(in->dropout),
                        la_v_bool(true)));
    return la_matmul(kept, in->v, out);
}

/* (query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa). The
** scale defaults to 1 / sqrt(E). */
la_status la_impl_scaled_dot_product_attention(la_frame *f)
{
    la_tensor *out = NULL;
    inputs in = {.causal = la_arg_bool(f, 5), .dropout = la_arg_float(f, 4)};
    la_status status = read_inputs(f, &in);
    if (!status) status = attention_check(f, &in);
    if (!status) {
        int64_t width = la_sizes(in.q)[in.q->ndim - 1];
        in.scale = la_has(f, 6) ? la_arg_float(f, 6)
                                : 1 / sqrt((double)width);
        status = in.dropout > 0 ? attention_whole(&in, &out) : tiled(&in, &out);
    }
    drop_inputs(&in);
    if (status) la_tensor_drop(&out);
    else la_set_result(f, 0, out);
    return status;
}
