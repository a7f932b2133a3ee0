/* What the files of the Fourier operations share. */
#ifndef LA_OP_FFT_FFT_H
#define LA_OP_FFT_FFT_H

#include "op/op.h"

/* LA_ESHAPE with PyTorch's sentence unless n >= 1. */
la_status la_fft_check_points(int64_t n);

#endif
