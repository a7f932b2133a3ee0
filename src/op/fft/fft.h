/* Declarations that the files of the Fourier operations share. */
#ifndef LA_OP_FFT_FFT_H
#define LA_OP_FFT_FFT_H

#include "op/composite.h"
#include "op/frame.h"

/* LA_ESHAPE with PyTorch's sentence unless n >= 1. */
la_status la_fft_check_points(int64_t n);

/* Argument k, the norm, as the factor of a transform: 0 none, 1 divided by the
** root of the number of points, 2 by that number. LA_EARG. */
la_status la_fft_read_norm(const la_frame *f, int k, bool forward, int *norm);
/* Arguments k, a number of points or nil, and k + 1, a dim of argument 0.
** 'half': that has the first half of the points. LA_EINDEX or LA_ESHAPE. */
la_status la_fft_one_dim(const la_frame *f, int k, bool half, int *dim,
                         int64_t *n);
/* Argument 0 in a dtype to compute in: of what is no float the default one.
** 'complex': real ones become complex. */
la_tensor *la_fft_promoted(la_chain *w, const la_frame *f, bool complex);
/* 'x' with n elements along a dim, cut or filled up with zeros. */
la_tensor *la_fft_resized(la_chain *w, la_tensor *x, int dim, int64_t n);

#endif
