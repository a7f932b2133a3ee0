/*
** The contract of the convolution kernels.
**
** A convolution with stride 1 along a row of the (padded) input is a product
** whose B is never built: tap t of channel c is the same row of the input,
** shifted (an implicit im2col). 'tiles' takes packed weights, a table of those
** shifts and the position of every output row, and keeps mr channels x vectors
** of pixels in registers; 'channels' takes the same, and keeps pixels x vectors
** of channels. A stride above 1 is taken out before, by storing the columns of
** a row sorted by their remainder.
**
** Every sum takes its taps in the order of 'shift', by fused multiply-add: bits
** do not depend on the method, threads or the width of vectors.
*/
#ifndef LA_KERNEL_CONV_CONV_H
#define LA_KERNEL_CONV_CONV_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"

/* Offsets and strides are in elements. */
typedef struct la_conv_tiles {
    int64_t k;              /* taps x channels of this block */
    int64_t m;              /* output channels */
    const void *weights;    /* panels, k after k */
    int64_t panel;          /* channels of a panel: up to mr, or 2 * lanes */
    const void *source;     /* input rows with their padding */
    const int64_t *shift;   /* [k] from an output's position to its tap */
    int64_t row_step;       /* from an output row's position to the next */
    int64_t rows, cols;     /* output pixels */
    void *out;
    int64_t out_channel, out_row, out_col;
    const void *bias;       /* [m] or NULL; added in the first block */
    bool first;             /* store instead of add */
    bool triples;           /* shifts are s, s+1, s+2 and so on by threes */
} la_conv_tiles;

/* The gradient of the weight: out[t*out_tap + o] (+)= sum over rows r and
** columns c of source[position[r] + c + shift[t]] * grads[r, c][o], in
** order. */
typedef struct la_conv_gradient {
    int64_t taps;           /* channels x taps of this block */
    int64_t m;              /* output channels */
    const void *source;
    const int64_t *shift;
    int64_t rows, cols;
    const int64_t *position;
    const void *grads;      /* panels of 2 * lanes channels, pixel by pixel */
    void *out;
    int64_t out_tap;        /* a multiple of 2 * lanes */
    bool first, triples;    /* as above */
} la_conv_gradient;

/* out[o*taps + t] = the parts' sums[t*line + o], in order. */
typedef struct la_conv_sums {
    int64_t taps, m, line, parts, part_step;
    const void *sums;
    void *out;
} la_conv_sums;

/* out[c*out_channel + r*out_row + x] (+)= source[x % parts * part + c*channel +
** r*row + x / parts]: columns of 'parts' parts interleaved. */
typedef struct la_conv_interleave {
    int64_t parts, part, channel, row;
    const void *source;
    void *out;
    int64_t out_channel, out_row, channels, rows, cols;
    bool first;             /* store instead of add */
} la_conv_interleave;

typedef struct la_conv_kernels {
    int mr, lanes;        /* channels of a tile, elements of a vector */
    /* The convolution by rows of pixels, by vectors of channels; the gradient
    ** of the weight; its sums to the layout of the weight. */
    void (*tiles)(const la_conv_tiles *);
    void (*channels)(const la_conv_tiles *);
    void (*taps)(const la_conv_gradient *);
    void (*finish)(const la_conv_sums *);
    /* dst[c*line + x] = src[x*step + c], c < channels, x < n. */
    void (*unpack)(void *dst, int64_t line, const void *src, int64_t step,
                   int64_t channels, int64_t n);
    /* dst[t][i] = src[i*row + t*step] for i < valid, lines 'width' apart; 0
    ** up to a whole vector or the line's end. */
    void (*pack)(void *dst, const void *src, int64_t row, int64_t step,
                 int valid, int width, int64_t count);
    void (*interleave)(const la_conv_interleave *);
    /* even[c*line + x] = src[c*step + 2*x], odd[...] = src[c*step + 2*x + 1]:
    ** n elements of each of some channels. */
    void (*split)(void *even, void *odd, int64_t line, const void *src,
                  int64_t step, int64_t channels, int64_t n);
} la_conv_kernels;

LA_STUB_DECLARE(la_conv_kernels, conv_f32);
LA_STUB_DECLARE(la_conv_kernels, conv_f64);

/* One window's geometry along one of three dims (unused ones: all 1, pad 0). */
typedef struct la_window {
    int64_t in, out, kernel, stride, pad, dilation;
} la_window;

/* A depthwise convolution: channels side by side, pixels *_col and rows *_row
** elements apart. 'in' is at row in_first, 'out' at row 'first'; rows first to
** last - 1 are made. 'back': 'in' is y and 'out' is x of the windows, and every
** x gathers what the taps brought from it (dilation must be 1 where a stride is
** not). */
typedef struct la_conv_depth {
    const void *in;
    void *out;               /* depth_weight: the gradient of y, read only */
    int64_t in_row, in_col, in_first, out_row, out_col;
    int64_t first, last, channels;
    const void *weights, *bias;   /* weights[tap*tap_step + channel] */
    int64_t tap_step;
    void *sums;              /* depth_weight adds to it, laid out likewise */
    la_window h, w;
    bool back;
    bool add;                /* to what is in 'out', instead of the bias */
} la_conv_depth;

typedef struct la_depth_kernels {
    void (*run)(const la_conv_depth *);
    void (*weight)(const la_conv_depth *);
} la_depth_kernels;
LA_STUB_DECLARE(la_depth_kernels, conv_depth_f32);
LA_STUB_DECLARE(la_depth_kernels, conv_depth_f64);

/* Columns of an image: for line l = c*taps + t (channel c, tap t) from 'first'
** to last - 1 and output row r0 <= r < r1 (over the first two dims together),
** cols[(l - first)*col_step + (r - r0)*OW + w]. Padding reads as zero. in
** strides: channel, then the three dims. */
typedef struct la_columns {
    la_window w[3];
    int64_t first, last, r0, r1;
    char *image, *cols;
    int64_t image_step[4], col_step;
} la_columns;

typedef struct la_column_kernels {
    void (*gather)(const la_columns *);   /* image -> cols (im2col) */
    void (*scatter)(const la_columns *);  /* image += cols (col2im) */
} la_column_kernels;
typedef la_column_kernels la_column_table[LA_NDTYPES];
LA_STUB_DECLARE(la_column_table, columns);

#endif
