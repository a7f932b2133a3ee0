/*
** The dispatcher computes the set of keys of a call from its arguments and runs
** the kernel of the highest; a key without a kernel falls through. Here is how
** kernels get there; la_dispatch is in op/frame.h.
*/
#ifndef LA_OP_DISPATCH_H
#define LA_OP_DISPATCH_H

#include "op/frame.h"

/* Registers the kernel of an operation for a key, or removes it (NULL), in the
** runtime where the thread is. New operations: op/host/hosted.h. */
la_status la_kernel_register(const la_op *op, la_key key, la_op_fn fn);
/* The kernel that was registered for the operation where the thread is; NULL:
** none. */
la_op_fn la_registered_kernel(const la_op *op, int key);

/* Set by src/grad and src/program: the kernels of their keys for all
** operations; NULL falls through. */
extern la_op_fn la_autograd_kernel;
extern la_op_fn la_record_kernel;
/* la_record_read of all tensors of a call. LA_OK where nothing is recorded. */
la_status la_check_reads(const la_frame *f);
/* A call for a device of the host's, which has kernel 'fn' for it or none
** (NULL). LA_EKEY for an operation that needs one. */
la_status la_run_remote(la_frame *f, la_device device, la_op_fn fn);
/* LA_EKEY where an argument is on such a device: for a composite whose body
** reads elements. */
la_status la_check_readable(const la_frame *f);
/* Set by src/vmap: runs a call with batched tensors, or one that draws numbers
** while a vmap runs. */
extern la_op_fn la_vmap_kernel;
/* The body of a composite, on the arguments of the frame as they are. */
la_status la_run_body(la_frame *f);

#endif
