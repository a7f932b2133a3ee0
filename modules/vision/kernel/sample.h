/*
** The contract of sampling kernels: an image or a volume read at points, a
** chunk of points at a time for all channels. Coordinates run from -1 to 1 over
** the input, x (the last dim) first, as PyTorch's grid_sample has them.
**
** An element's bits depend on its point and its plane alone.
*/
#ifndef LA_KERNEL_VISION_SAMPLE_H
#define LA_KERNEL_VISION_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"

#define LA_SAMPLE_POINTS 256  /* of a chunk, at most */

typedef enum la_sample_mode {
    LA_SAMPLE_LINEAR, LA_SAMPLE_NEAREST, LA_SAMPLE_CUBIC
} la_sample_mode;

/* Value that a point outside of the input reads. */
typedef enum la_sample_padding {
    LA_PAD_ZEROS, LA_PAD_BORDER, LA_PAD_REFLECTION
} la_sample_padding;

typedef struct la_sample {
    int nd;                   /* 2 or 3; cubic: 2 */
    la_sample_mode mode;
    la_sample_padding padding;
    bool align_corners;       /* -1 and 1 are centres of the outer pixels */
    int64_t size[3];          /* of the input: x, y, z; below 2^31 in all */
    int64_t points, channels;
    const char *grid;         /* [points][nd] */
    const char *direction;    /* NULL, or [points][nd]: in place of what is read
                              ** its derivative as the points move so (not for
                              ** the nearest: that is 0) */
    char *plane;              /* the first channel, contiguous, and */
    int64_t plane_step;       /* elements to the next */
    char *value;              /* of the first point in the first channel, */
    int64_t value_step;       /* elements to the next channel */
    char *slope;              /* [points][nd], of 'slope' alone */
} la_sample;

typedef struct la_sample_kernels {
    size_t scratch;           /* bytes that each call needs */
    /* value = plane at the points */
    void (*read)(const la_sample *s, void *scratch);
    /* plane += value, at the points: what reads gave goes back */
    void (*add)(const la_sample *s, void *scratch);
    /* slope = the gradient of the sum of value times what is read, by the
    ** points' coordinates */
    void (*slope)(const la_sample *s, void *scratch);
} la_sample_kernels;
LA_STUB_DECLARE(la_sample_kernels, sample_f32);
LA_STUB_DECLARE(la_sample_kernels, sample_f64);

#endif
