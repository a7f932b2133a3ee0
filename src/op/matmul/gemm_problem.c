/*
** A product as its kernels see it: which kernels there are for a dtype, and the
** part of a block's description that all blocks of a product share.
*/
#include "op/matmul/gemm_problem.h"

void la_gemm_init(la_gemm *g, la_dtype dtype)
{
    *g = (la_gemm){.dtype = dtype, .alpha = {1, 0, 1}};
}

la_gemm_scalar la_gemm_scalar_of(const la_scalar *s)
{
    bool whole = s->kind <= LA_KINT;
    return (la_gemm_scalar){s->re, s->kind == LA_KCOMPLEX ? s->im : 0,
                            whole ? s->i : (int64_t)s->re};
}

/* Signed integers share the unsigned kernels: products wrap, so the low bits
** are the same. */
const la_gemm_kernels *la_gemm_kernels_of(la_dtype dtype)
{
    switch (dtype) {
    case LA_FLOAT32: return LA_STUB(gemm_f32);
    case LA_FLOAT64: return LA_STUB(gemm_f64);
    case LA_COMPLEX64: return LA_STUB(gemm_c64);
    case LA_COMPLEX128: return LA_STUB(gemm_c128);
    case LA_FLOAT16: return LA_STUB(gemm_f16);
    case LA_BFLOAT16: return LA_STUB(gemm_bf16);
    case LA_UINT8: case LA_INT8: return LA_STUB(gemm_u8);
    case LA_UINT16: case LA_INT16: return LA_STUB(gemm_u16);
    case LA_UINT32: case LA_INT32: return LA_STUB(gemm_u32);
    case LA_UINT64: case LA_INT64: return LA_STUB(gemm_u64);
    default: return NULL;
    }
}

/* out += product, into itself: then the addend counts as the sum of an earlier
** block of k. Not for 16-bit results, whose sums are kept in float32
** elsewhere. */
static bool adds_onto(const la_gemm *g)
{
    return g->add.data == g->out.data && g->add.rs == g->out.rs
        && g->add.cs == g->out.cs && g->out.data && !g->conj_add
        && g->beta.re == 1 && g->beta.im == 0 && g->beta.i == 1
        && g->dtype != LA_FLOAT16 && g->dtype != LA_BFLOAT16;
}

/* The kernel's view of a product: everything but the position of one block. */
la_gemm_block la_gemm_block_of(const la_gemm *g)
{
    la_gemm_block b = {
        .m = g->m, .n = g->n, .k = g->k, .a = g->a.data, .b = g->b.data,
        .a_rs = g->a.rs, .a_cs = g->a.cs, .b_rs = g->b.rs, .b_cs = g->b.cs,
        .out = g->out, .add = g->add, .bias = g->bias, .alpha = g->alpha,
        .beta = g->beta, .first = true, .last = true, .conj_a = g->conj_a,
        .conj_b = g->conj_b, .conj_add = g->conj_add};
    if (adds_onto(g)) {
        b.add.data = NULL;
        b.onto = true;
        b.first = false;
    }
    b.plain = la_gemm_block_is_plain(&b);
    return b;
}
