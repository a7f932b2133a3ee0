/* Tensors to la_conv and windows: shared by conv.c and pool.c. */
#ifndef LA_OP_CONV_CONV_H
#define LA_OP_CONV_CONV_H

#include "op/conv/engine.h"
#include "op/frame.h"

/* A list of one integer or of 'nd' integers, each at least 'least'. */
la_status la_spatial(const la_value *v, int nd, const char *name,
                     int64_t least, int64_t *out);

/* Size of the output of a window; LA_ESHAPE when nothing fits. */
la_status la_window_out(la_window *w, bool ceil_mode);

/* 't' itself or a contiguous copy of it; records nothing. */
la_status la_as_contiguous(la_tensor *t, la_tensor **out);

/* la_as_contiguous in a given memory format. */
la_status la_in_format(la_tensor *t, la_memory_format format, la_tensor **out);

/* max_pool of the first six of its arguments without indices, as result 0 of
** 'f'; for calls that nothing records. */
la_status la_max_pool_values(la_frame *f, const la_value *args);

#endif
