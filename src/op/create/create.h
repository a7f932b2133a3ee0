/* The options that all creating operations share. */
#ifndef LA_OP_CREATE_CREATE_H
#define LA_OP_CREATE_CREATE_H

#include "op/frame.h"

/* Order of the options in a frame: argument 'first' is dtype, the others
** follow. */
enum { LA_OPT_DTYPE, LA_OPT_DEVICE, LA_OPT_GRAD, LA_OPT_FORMAT,
       LA_OPT_NAMES, LA_NOPTIONS };

/* set_output for result 0 with the options from argument 'first' on: format,
** names, and requires_grad (floating and complex dtypes only). 'like' NULL, or
** the tensor whose layout memory_format "preserve" (the default) keeps. */
la_status la_option_output(la_frame *f, int first, int ndim,
                           const int64_t *sizes, la_dtype otherwise,
                           const la_tensor *like);

#endif
