/*
** The contract of the matrix kernels.
**
** A product is cut into blocks by its caller (op/matmul/gemm.c) in the manner
** of Goto and van de Geijn ("Anatomy of high-performance matrix
** multiplication", ACM TOMS 2008) and BLIS: operands are packed into panels,
** one block of A and one of B at a time, and 'block' multiplies the two by
** register tiles of mr rows and nr columns. Every element of the result is the
** sum over k in rising order by fused multiply-add, in blocks of a fixed size
** that start from zero and are added in order: the bits depend neither on how
** rows and columns are cut, nor on threads, nor on the width of vectors.
** (Products with one row or column and a k that is contiguous and longer than
** LA_TINY_K use 'dot', those with a few against rows of more than LA_GEMM_LONG
** too; its order depends on k alone.)
**
** An ISA extension (base/os/isa_extension.h) has a table for the packed blocks
** of a 16-bit float on processors with more than AVX512; its source lies in a
** folder of its name and is compiled once, with the folder's own flags. Its
** sums are float32 too, but of pairs or more of k at a time, so its bits are
** others; they depend on how a product is cut as little as those above. float16
** has none for AVX512-FP16: its fused multiply-add rounds every sum to half
** precision, so products of it would have to be widened again to be added as
** float32, which is more work than to widen the operands once while packing.
** Only the tiles of AMX-FP16 multiply halves and add floats.
**
** Strides are in elements and may be anything, 0 and negative included.
*/
#ifndef LA_KERNEL_MATMUL_GEMM_H
#define LA_KERNEL_MATMUL_GEMM_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"

/* Steps of k per block at most: the same for every capability (see above). A
** panel of A and the lines of B that meet it pass through the first cache. */
enum { LA_GEMM_KC = 400, LA_GEMM_KC_F64 = 256 };
enum { LA_GEMM_PIECE = 16384 };  /* of a dot product, see 'dot' */
enum { LA_GEMM_FEW = 8, LA_GEMM_LONG = 64 };  /* see above */

/* Steps per block: even shares, so that no block is a rest of a few steps. */
static inline int64_t la_gemm_share(int64_t k, int64_t most)
{
    int64_t blocks = (k + most - 1) / most;
    if (k <= most) return k > 0 ? k : 1;
    return ((k + blocks - 1) / blocks + 3) & ~(int64_t)3;
}

typedef struct la_gemm_scalar {  /* one scalar, for every kind of element */
    double re, im;
    int64_t i;
} la_gemm_scalar;

/* One element matrix with strides in elements. */
typedef struct la_gemm_mat {
    char *data;
    int64_t rs, cs;
} la_gemm_mat;

/* out = alpha * (a @ b) + beta * add + bias for an m x n piece. 'add' and
** 'bias' may have strides of 0; add.data NULL when beta is 0 (nothing is read
** then); 'add' may be 'out' itself. */
typedef struct la_gemm_block {
    int64_t m, n, k;
    const void *a, *b;    /* packed; 'small' takes them as they are: */
    int64_t a_rs, a_cs, b_rs, b_cs;
    la_gemm_mat out, add, bias;
    float *part;          /* 16-bit floats with k > kc: sums so far */
    int64_t part_rs;
    la_gemm_scalar alpha, beta;
    bool plain;           /* alpha 1, no add or bias in this block */
    bool first, last;     /* which of the k blocks this is; 'first' stores */
    bool onto;            /* even the first adds to what is there */
    bool conj_a, conj_b;  /* of unpacked operands: packing conjugates */
    bool conj_add;        /* the addend is conjugated */
} la_gemm_block;

/* Does this block leave by a plain store or addition? */
static inline bool la_gemm_block_is_plain(const la_gemm_block *g)
{
    return g->alpha.re == 1 && g->alpha.im == 0 && g->alpha.i == 1
        && !(g->first && g->add.data)
        && !(g->last && g->bias.data);
}

/* Is all it does on the way out to add lines of 'add', once? */
static inline bool la_gemm_block_adds_lines(const la_gemm_block *g)
{
    return g->first && g->add.data && g->add.cs == 1
        && g->alpha.re == 1 && g->alpha.im == 0 && g->alpha.i == 1
        && g->beta.re == 1 && g->beta.im == 0 && g->beta.i == 1
        && !(g->last && g->bias.data);
}

typedef struct la_gemm_kernels {
    int mr, nr;           /* rows of an A panel, columns of a B panel */
    int packed_size;      /* bytes of one packed element */
    int kc;               /* steps of k per block at most */
    bool has_part;        /* result type is narrower than its sums */
    /* Panels of mr (nr), k after k, padded with zeros. 'dst' holds a
    ** whole number of panels and LA_GEMM_SLACK bytes. */
    void (*pack_a)(void *dst, const void *src, int64_t rs, int64_t cs,
                   int64_t m, int64_t k, bool conj);
    void (*pack_b)(void *dst, const void *src, int64_t rs, int64_t cs,
                   int64_t k, int64_t n, bool conj);
    /* One pair of packed blocks, added to (or stored in) its piece of the
    ** result. */
    void (*block)(const la_gemm_block *);
    /* The whole product without packed operands, for small sizes; NULL: use
    ** the blocks. */
    void (*small)(const la_gemm_block *);
    /* out[i, j] = sum over k of a[i*a_rs + k] * b[k + j*b_cs]; k contiguous in
    ** both. Pieces of LA_GEMM_PIECE are summed for themselves and added in
    ** order. Complex ones take one column. */
    void (*dot)(const la_gemm_block *);
    /* out[j] = sum over k of a[k*a_cs] * b[k*b_rs + j], columns contiguous. */
    void (*axpy)(const la_gemm_block *);
    /* Does an m x n matrix have an element that this table would misread (an
    ** ISA extension takes subnormals for 0)? NULL: never. Extensions have all
    ** but the three functions before this one. */
    bool (*mistakes)(const void *src, int64_t rs, int64_t cs, int64_t m,
                     int64_t n);
    int k_unit;           /* panels have a multiple of so many k; 0 is 1 */
} la_gemm_kernels;

/* k as panels hold it. */
static inline int64_t la_gemm_padded(const la_gemm_kernels *ker, int64_t k)
{
    int64_t unit = ker->k_unit > 1 ? ker->k_unit : 1;
    return (k + unit - 1) / unit * unit;
}
/* Bytes behind the panels that packing may overwrite, for whole vectors. */
#define LA_GEMM_SLACK 128

/* 'count' tiny products, the operands of each so many elements after those of
** the one before; the result of each contiguous. False, and nothing is done:
** not for products such as 'first'. A count of 0 only asks. NULL where the
** capability has none. */
enum { LA_TINY_K = 8 };  /* steps of k at most */
typedef struct la_tiny_steps { int64_t a, b, out; } la_tiny_steps;
typedef bool (*la_gemm_tiny)(const la_gemm_block *first,
                             const la_tiny_steps *steps, int64_t count);
typedef la_gemm_tiny la_gemm_tinies[LA_NDTYPES];

LA_STUB_DECLARE(la_gemm_tinies, gemm_tiny);
LA_STUB_DECLARE(la_gemm_kernels, gemm_f32);
LA_STUB_DECLARE(la_gemm_kernels, gemm_f64);
LA_STUB_DECLARE(la_gemm_kernels, gemm_c64);
LA_STUB_DECLARE(la_gemm_kernels, gemm_c128);
LA_STUB_DECLARE(la_gemm_kernels, gemm_f16);
LA_STUB_DECLARE(la_gemm_kernels, gemm_bf16);
/* Tables of ISA extensions; empty where the compiler did not know their
** instructions. */
extern const la_gemm_kernels la_avx512_bf16_gemm_bf16, la_amx_gemm_bf16,
    la_amx_gemm_f16;
LA_STUB_DECLARE(la_gemm_kernels, gemm_u8);
LA_STUB_DECLARE(la_gemm_kernels, gemm_u16);
LA_STUB_DECLARE(la_gemm_kernels, gemm_u32);
LA_STUB_DECLARE(la_gemm_kernels, gemm_u64);

#endif
