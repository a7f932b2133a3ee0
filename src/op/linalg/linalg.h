/*
** What the operations of linear algebra share: batches of matrices as pointers
** and steps, results, the run over a batch.
*/
#ifndef LA_OP_LINALG_LINALG_H
#define LA_OP_LINALG_LINALG_H

#include "op/linalg/blocked.h"
#include "op/frame.h"
#include "tensor/shape.h"

/* 't', argument k, has two dims or more: LA_ESHAPE. */
la_status la_check_dims(const la_tensor *t, int k);
/* Argument k is a batch of matrices of a supported dtype; square ones.
** LA_ESHAPE or LA_EDTYPE. */
la_status la_check_matrix(const la_frame *f, int k);
la_status la_check_square(const la_frame *f, int k);
/* Arguments a and b are of one dtype: LA_EDTYPE. */
la_status la_check_one_dtype(const la_frame *f, int a, int b);

/* The dims before the last 'own', and the product of a shape's sizes. */
la_shape la_batch_shape(const la_tensor *t, int own);
int64_t la_shape_count(const la_shape *s);
/* The sizes of m x n matrices of a batch (n < 0: vectors of m). */
la_shape la_with_matrix(const la_shape *batch, int64_t m, int64_t n);
/* The results for matrices m x n in argument 0 (square ones), k the fewer of m
** and n: of each the sizes behind those of the batch, then ' for real numbers,
** c for complex ones, i for int32, l for int64, nothing for A's dtype. "mn,k'":
** a matrix like A, and a vector of k real numbers. */
la_status la_meta_matrices(la_frame *f, bool square, const char *results);
/* Result k with that shape. */
la_status la_matrix_result(la_frame *f, int k, const la_shape *batch,
                           int64_t m, int64_t n, la_dtype dtype);

/* Is B a batch of vectors: 1-d, or of the shape of A without its last dim? */
bool la_is_vector(const la_tensor *a, const la_tensor *b);
/* A X = B (left false: X A = B) for arguments ka and kb: the batch that both
** broadcast to; LA_ESHAPE where they don't fit. *vector: is B a batch of
** vectors? NULL: it must not be. */
la_status la_solve_shape(const la_frame *f, int ka, int kb, bool left,
                         bool *vector, la_shape *batch);
/* Result 0 of the shape of B in the batch. */
la_status la_solve_result(la_frame *f, int kb, const la_shape *batch,
                          bool vector);

/* 't' broadcast to a batch, as matrices; its last dim too when 'vector', as
** columns. 'keep' owns a copy where the strides of the batch are not those of
** one step. */
la_status la_matrices_of(la_tensor *t, const la_shape *batch, bool vector,
                         la_tensor **keep, la_mats *out);
/* A contiguous copy of the same, in 'keep'. */
la_status la_matrices_copy(la_tensor *t, const la_shape *batch, bool vector,
                           la_tensor **keep);
/* A view with the last two dims exchanged. */
la_status la_transposed(la_tensor *t, la_tensor **out);
/* The matrices of a contiguous tensor: m x n each. */
la_mats la_matrices_in(const la_tensor *t, int64_t m, int64_t n);
/* m x n row-major memory becomes a part of the identity matrix. */
void la_set_identity(const la_field *f, la_gemm_mat a, int64_t m, int64_t n);
/* Matrix i of the batch. */
static inline la_gemm_mat la_matrix_at(const la_field *f, const la_mats *a,
                                       int64_t i)
{
    la_gemm_mat m = a->mat;
    m.data += i * a->step * f->size;
    return m;
}

/* Result k as contiguous memory of the call's own: itself, or, where it has
** gaps or was given, a temporary of its shape in 'keep' that la_output_end
** copies to it. */
la_status la_output_of(la_frame *f, int k, la_tensor **keep);
la_status la_output_end(la_frame *f, int k, la_tensor *t);

/* Each operation on the matrices of argument 0 begins by opening a batch and
** returns its end. */
typedef struct la_batch {
    la_frame *f;
    la_tensor *a;             /* argument 0 */
    la_field field;
    la_shape shape;
    int64_t m, n, k, count;   /* k: the fewer of rows and columns */
    la_tensor *out[LA_MAX_RESULTS];   /* all results, by la_output_of */
    la_tensor *codes;         /* result or not; what 'info' points into */
    int32_t *info;
} la_batch;
/* Sets all of 'b', also where it fails. */
la_status la_batch_open(la_batch *b, la_frame *f);
/* 'info' is result k where there is one, or memory of the batch's own: a code
** for each matrix. */
la_status la_batch_codes(la_batch *b, int k);
/* The results are where they belong: la_output_end of all. */
la_status la_batch_end(const la_batch *b);
void la_batch_drop(la_batch *b);
/* A contiguous copy of A's transposes, in 'keep': matrices in columns. */
la_status la_columns_copy(const la_batch *b, la_tensor **keep);
/* Declares the batch 'b' of the frame f, open, which goes with its scope. */
#define LA_OPEN_BATCH(b, frame) \
    __attribute__((cleanup(la_batch_drop))) la_batch b; \
    LA_TRY(la_batch_open(&b, frame))

/* fn for each of 'count' matrices with 'bytes' of scratch; 'work' is the
** multiply-adds of one. Few large ones run one by one, with threads inside. */
typedef la_status (*la_matrix_fn)(void *context, int64_t i, char *scratch);
la_status la_each_matrix(int64_t count, double work, size_t bytes,
                         la_matrix_fn fn, void *context);
/* A kernel of small matrices over s->count of them. */
la_status la_small_run(const la_field *f, void (*fn)(const la_small *),
                       const la_small *s);

/* LA_EARG with 'what' (a format of the position in the matrix) for the first
** of 'count' matrices whose info is not 0. */
la_status la_check_info(const int32_t *info, int64_t count, const char *what);
/* LA_EARG for the first of 'count' matrices that has elements that are not
** finite (info negative), or that did not converge (positive). */
la_status la_check_finite(const int32_t *info, int64_t count);
#define LA_SINGULAR "is singular: the first zero pivot is pivot"

#endif
