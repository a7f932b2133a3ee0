/*
** What the products share: checks, and the way from tensors to la_gemm.
*/
#ifndef LA_OP_MATMUL_MATMUL_H
#define LA_OP_MATMUL_MATMUL_H

#include "op/matmul/gemm.h"
#include "op/frame.h"

/* LA_EDTYPE where there is no product (bool, complex32). */
la_status la_matmul_supported(const la_tensor *a);

/* Has this call nothing that only the dispatcher can do: functional form, the
** CPU's key alone (nothing is recorded)? Then a composite may use the kernel
** function of another operation directly, on plain tensors. */
bool la_is_plain_call(const la_frame *f);
/* Is the tensor one without names and lazy bits? */
bool la_is_plain(const la_tensor *t);

la_status la_meta_mm(la_frame *f), la_impl_mm(la_frame *f);
la_status la_meta_mv(la_frame *f), la_impl_mv(la_frame *f);
la_status la_meta_dot(la_frame *f), la_impl_dot(la_frame *f);
la_status la_meta_batched_mm(la_frame *f), la_impl_batched_mm(la_frame *f);

/* matmul on tensors of any rank, through the dispatcher. */
la_status la_matmul(la_tensor *a, la_tensor *b, la_tensor **out);

#endif
