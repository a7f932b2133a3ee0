/*
** A transform along one dim of a tensor.
*/
#ifndef LA_OP_FFT_FFT_RUN_H
#define LA_OP_FFT_FFT_RUN_H

#include "op/value.h"

typedef enum la_fft_form { LA_FFT_C2C, LA_FFT_R2C, LA_FFT_C2R } la_fft_form;

/* All sequences of a call. The two may be the same memory when the elements
** are. */
typedef struct la_fft_axis {
    la_fft_form form;
    la_dtype real;
    int64_t n;                /* real or complex elements of the transform */
    bool backward;
    double scale;
    char *in, *out;
    int64_t in_step, out_step;      /* bytes along the dim */
    int ndim;                       /* the other dims */
    int64_t sizes[LA_MAX_DIMS];
    int64_t in_strides[LA_MAX_DIMS], out_strides[LA_MAX_DIMS];   /* bytes */
} la_fft_axis;

/* LA_ENOMEM or LA_EINTR; 'out' is then partly written. */
la_status la_fft_run(la_fft_axis *a);

#endif
