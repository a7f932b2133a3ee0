/*
** Calling operations from C.
*/
#ifndef LA_OP_CALL_H
#define LA_OP_CALL_H

#include "op/frame.h"

/* Call an operation with the first n arguments; the rest get defaults.
** A scalar where the schema says Tensor becomes a wrapped 0-dim tensor. */
la_status la_do(const la_op *op, la_tensor **out, int n, const la_value *args);
la_status la_do_(const la_op *op, la_tensor *self, int n,
                 const la_value *args);
la_status la_do_out(const la_op *op, la_tensor *out, int n,
                    const la_value *args);
la_status la_do_many(const la_op *op, la_value *results, int n,
                     const la_value *args);
/* Calls by a frame with op, form and outs (all of them set); results are the
** caller's. The frame's arguments are gone afterwards. */
la_status la_do_frame(la_frame *f, int n, const la_value *args);
/* The first result becomes result 0 of the composite 'f'. */
la_status la_do_result(la_frame *f, const la_op *op, int n,
                       const la_value *args);
/* Do numbers without a tensor next to them stay as they are? Element-wise rows
** promote them, complex numbers are numbers themselves, and one of n arguments
** may be a dtype that holds what a Lua number does. */
bool la_keeps_numbers(const la_op *op, int n, const la_value *args);
/* The value of a tensor of one element on the CPU; false, without an error, for
** others, and for one that needs a gradient. */
bool la_tensor_to_scalar(const la_tensor *t, la_scalar *out);
/* la_run(add, &r, a, b); la_run_ is the in-place form, whose self
** is passed as the first value as well; la_run_many has 4 results. A row with
** LA_MUTATES (copy_, fill_) is called through la_run_ too. */
#define la_run(name, out, ...) la_do(LA_OP(name), out, LA_ARGS_(__VA_ARGS__))
#define la_run_(name, self, ...) \
    la_do_(LA_OP(name), self, LA_ARGS_(self, __VA_ARGS__))
#define la_run_many(name, results, ...) \
    la_do_many(LA_OP(name), results, LA_ARGS_(__VA_ARGS__))
#define la_run_result(f, name, ...) \
    la_do_result(f, LA_OP(name), LA_ARGS_(__VA_ARGS__))

#endif
