/*
** A transform along one dim of a tensor.
*/
#ifndef LA_OP_FFT_RUN_H
#define LA_OP_FFT_RUN_H

#include "op/fft/plan.h"

typedef enum la_fft_form { LA_FFT_C2C, LA_FFT_R2C, LA_FFT_C2R } la_fft_form;

/* One sequence in memory: element k has its real part at data + k * step, its
** imaginary part 'other' bytes behind it (0: it has none). */
typedef struct la_fft_line {
    char *data;
    int64_t step, other;
    double scale, scale_im;   /* times the parts: what is written; of what is
                              ** read only scale_im, 1 or -1 */
} la_fft_line;

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

/* One transform of p->n complex elements, by the threads there are. in and out
** may be one memory. LA_ENOMEM or LA_EINTR. */
la_status la_fft_line_run(const la_fft_plan *p, const la_fft_line *in,
                          const la_fft_line *out);

#endif
