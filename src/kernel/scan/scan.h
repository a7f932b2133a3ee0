/*
** The contract of scan kernels: running sums, products, extremes.
**
** 'line' scans n elements of one line, chunk by chunk: each chunk of
** LA_SCAN_CHUNK elements is scanned from the identity and joined with 'carry',
** which is what came before; what it holds after is of no use. So a long line
** may be cut at chunks and run by several threads: 'total' gives what a chunk
** adds to the carry.
** 'columns' scans many lines side by side, for dims that are not the fastest,
** 'lines' one after another, each from the identity.
** Long passes end early when the operation is interrupted
** (base/runtime/thread_pool.h). Output elements lie 'out_step' bytes apart,
** with the dtype of the result.
*/
#ifndef LA_KERNEL_SCAN_SCAN_H
#define LA_KERNEL_SCAN_SCAN_H

#include "base/runtime/interrupt.h"
#include "kernel/kernel.h"

#define LA_SCAN_CHUNK 8192

typedef struct la_scan_line {
    const char *in;
    int64_t step;
    char *out;
    int64_t out_step, n;
} la_scan_line;

typedef struct la_scan_columns {
    la_scan_line line;        /* along the scanned dim, of the first column */
    int64_t cols, col_step, out_col_step;
} la_scan_columns;

typedef struct la_scan {
    int carry_size;           /* at most 16 bytes */
    void (*start)(char *carry);
    void (*line)(const la_scan_line *s, char *carry);
    void (*total)(const la_scan_line *s, char *carry);
    void (*columns)(const la_scan_columns *s);
    void (*lines)(const la_scan_columns *s);
    void (*join)(char *carry, const char *next);   /* carry, then next */
} la_scan;

/* Indexed by the dtype of the input; results have it too, but integers and bool
** give int64. */
typedef la_scan la_scans[LA_NDTYPES];
LA_STUB_DECLARE(la_scans, scan_sum);
LA_STUB_DECLARE(la_scans, scan_prod);
LA_STUB_DECLARE(la_scans, scan_logsumexp);    /* floats and complex */

/* Running extremes with the last position where they stand, from 1. NaN wins.
** The outputs are of the input's dtype and int64, 'out_step' in elements. */
typedef struct la_scan_extreme_line {
    const char *in;
    int64_t step;
    char *value;
    int64_t *index;
    int64_t out_step, n;
} la_scan_extreme_line;
typedef struct la_scan_extreme {
    void (*line)(const la_scan_extreme_line *s);
    /* 'cols' lines side by side: 'step' bytes apart, in the outputs 'out'
    ** elements. */
    void (*columns)(const la_scan_extreme_line *s, int64_t cols, int64_t step,
                    int64_t out);
} la_scan_extreme;
typedef la_scan_extreme la_scan_extremes[LA_NDTYPES];
LA_STUB_DECLARE(la_scan_extremes, scan_max);
LA_STUB_DECLARE(la_scan_extremes, scan_min);

#endif
