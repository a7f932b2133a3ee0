/*
** Transforms in split buffers: what fft_run.c makes lines of a tensor of.
*/
#ifndef LA_OP_FFT_WORK_H
#define LA_OP_FFT_WORK_H

#include "op/fft/fft_plan.h"

/* One sequence in memory: element k has its real part at data + k * step, its
** imaginary part 'other' bytes behind it (0: it has none). */
typedef struct la_fft_line {
    char *data;
    int64_t step, other;
    double scale, scale_im;   /* times the parts: what is written; of what is
                              ** read only scale_im, 1 or -1 */
} la_fft_line;

/* Two split buffers for 's' transforms side by side. */
typedef struct la_fft_work {
    const la_fft_kernels *ker;
    int64_t size;             /* of a real number */
    int s;                    /* lanes: a multiple of a vector's, or one */
    int64_t im;               /* elements from real to imaginary parts */
    char *buffer[2];
} la_fft_work;

/* Bytes of both buffers, for 'lanes' transforms. */
size_t la_fft_scratch(const la_fft_plan *p, int lanes);
la_fft_work la_fft_work_in(const la_fft_plan *p, int lanes, char *scratch);
static inline void la_fft_swap(la_fft_work *w)
{
    char *t = w->buffer[0];
    w->buffer[0] = w->buffer[1];
    w->buffer[1] = t;
}

/* Can a transform of several lanes be made? */
bool la_fft_has_lanes(const la_fft_plan *p);
/* May the transform read the line itself, write it? Then 'in' or 'out' of
** la_fft_transform can be given. */
bool la_fft_reads(const la_fft_plan *p, const la_fft_work *w,
                  const la_fft_line *in);
bool la_fft_writes(const la_fft_plan *p, const la_fft_work *w,
                   const la_fft_line *out);
/* Transforms buffer 0 (or 'in') into buffer 0 again (or 'out'). LA_ENOMEM or
** LA_EINTR, which only long ones can meet. */
la_status la_fft_transform(const la_fft_plan *p, la_fft_work *w,
                           const la_fft_line *in, const la_fft_line *out);

/* One transform of p->n complex elements, by the threads there are. in and out
** may be one memory. LA_ENOMEM or LA_EINTR. */
la_status la_fft_line_run(const la_fft_plan *p, const la_fft_line *in,
                          const la_fft_line *out);

/* n elements of 'lanes' lines at these offsets, to or from row 'first' of
** buffer 0. */
void la_fft_load(const la_fft_work *w, const la_fft_line *a, const int64_t *at,
                 int lanes, int64_t first, int64_t n);
void la_fft_store(const la_fft_work *w, const la_fft_line *a,
                  const int64_t *at, int lanes, int64_t first, int64_t n);

static inline bool la_fft_is_pairs(const la_fft_line *a, int64_t size)
{
    return a->other == size && a->step == 2 * size;
}

#endif
