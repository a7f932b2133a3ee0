/*
** The engine of tables: columns as arrays of one length, without Lua.
**
** A column is read through its key, an unsigned integer of 64 bits that orders
** its values: sorting, grouping, joining and extremes look at keys alone, so
** they are the same for numbers, codes of text and dates. Gaps (NaN, code 0,
** the least int64 of a date) have the greatest key, LA_TABLE_GAP. Rows are
** numbers from 0, -1 stands for a row that is not there.
**
** Functions return a status, raise nothing, and ask whether to stop while they
** work. What they allocate is charged to the state that calls.
*/
#ifndef LA_MODULES_FRAME_FRAME_H
#define LA_MODULES_FRAME_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/status.h"

/* How the gaps of a column are told. */
typedef enum la_table_kind {
    LA_TABLE_NUMBER, LA_TABLE_TEXT, LA_TABLE_DATE
} la_table_kind;

typedef struct la_table_column {
    const void *data;           /* contiguous */
    la_dtype dtype;             /* bool, int32, int64, uint64, float32/64 */
    la_table_kind kind;
    int64_t n;
} la_table_column;

#define LA_TABLE_GAP UINT64_MAX
#define LA_TABLE_DATE_GAP INT64_MIN
/* Rows of a table that is sorted, grouped or joined. */
#define LA_TABLE_ROWS ((int64_t)INT32_MAX - 1)
/* Columns are read in blocks of so many elements. */
enum { LA_TABLE_BLOCK = 1024 };

/* Memory that goes at the end of its scope; {NULL, 0} at first. */
typedef struct la_table_block { void *p; size_t bytes; } la_table_block;
void la_table_free(la_table_block *);
#define LA_TABLE_OWN __attribute__((cleanup(la_table_free))) la_table_block
/* n elements of 'size' bytes, zeros if 'zero'; LA_ENOMEM, LA_ESHAPE. */
la_status la_table_alloc(la_table_block *, int64_t n, size_t size, bool zero);

/* ---- reading (column.c) ---- */

/* Can the column have gaps? Integers and booleans have none. */
bool la_table_may_gap(const la_table_column *);
/* Keys, or values as doubles (gaps NaN), of the n elements from 'from' on. */
void la_table_keys(const la_table_column *, int64_t from, int64_t n,
                   uint64_t *out);
/* The least and the greatest key that is no gap, where there are 'any'. */
typedef struct la_table_range {
    uint64_t least, most;
    bool any, gaps;
} la_table_range;
la_table_range la_table_range_of(const uint64_t *k, int64_t n, bool may_gap);
void la_table_doubles(const la_table_column *, int64_t from, int64_t n,
                      double *out);
/* Element i as an integer; of integers and booleans. */
int64_t la_table_integer(const la_table_column *, int64_t i);
/* out[i] = from[rows[i]] of elements of 'size' bytes; 'gap' where rows[i] is
** -1. LA_EINDEX for rows that are not there. */
la_status la_table_take(const void *from, int64_t count, const int32_t *rows,
                        int64_t n, size_t size, const void *gap, void *out);

/* ---- order (order.c) ---- */

typedef struct la_table_key {
    la_table_column column;
    bool descending, missing_first;
} la_table_key;
/* The rows in a stable order of the keys, the first one leading. */
la_status la_table_order(const la_table_key *keys, int nkeys, int64_t n,
                         int32_t *rows);
/* Ascending order of keys of 'bits' bits, all n of them destroyed. */
la_status la_table_sort_keys(uint64_t *keys, int bits, int64_t n,
                             int32_t *rows);

/* ---- groups (group.c) ---- */

typedef struct la_table_grouping {
    int32_t *ids;               /* of each row, or -1 */
    int64_t count;              /* of groups */
    la_table_block first;       /* int32: the first row of each */
} la_table_grouping;
/* Groups by equal keys, by key ascending (gaps last) if 'sorted', else by
** their first rows. Rows with a gap in a key have id -1 if 'skip'. */
la_status la_table_group(const la_table_column *keys, int nkeys, int64_t n,
                         bool sorted, bool skip, la_table_grouping *out);
/* The rows group by group, in their order; offsets has count + 1 entries. */
la_status la_table_segments(const int32_t *ids, int64_t n, int64_t count,
                            int32_t *rows, int64_t *offsets);

/* ---- keys (keys.c) ---- */

/* Open addressing with linear steps: at most half of the slots are taken, so
** that a walk is short, and the keys by number stand apart, as ranking reads
** them without gaps. {.n = 0} at first. */
typedef struct la_table_set {
    la_table_block slots;       /* a power of two of them */
    la_table_block list;        /* uint64: the keys by number */
    int64_t size, n, capacity;
} la_table_set;
void la_table_set_free(la_table_set *);
/* out[i] = the number of k[i], in the order in which keys are met. */
la_status la_table_set_number(la_table_set *, const uint64_t *k, int64_t n,
                              int32_t *out);
/* Numbers of equal keys in both, -1 for gaps and for keys of the left that the
** right has not; 'count' of them. The columns have one dtype and kind, texts
** one list of categories. */
la_status la_table_match_keys(const la_table_column *left,
                              const la_table_column *right, int32_t *l,
                              int32_t *r, int64_t *count);

/* ---- values of groups (reduce.c) ---- */

typedef enum la_table_pick {
    LA_TABLE_FIRST, LA_TABLE_LAST, LA_TABLE_MIN, LA_TABLE_MAX
} la_table_pick;
/* The row that has the value for each group; -1 where all are gaps. NULL ids:
** one group. */
la_status la_table_pick_rows(const la_table_column *, const int32_t *ids,
                             int64_t count, la_table_pick, int32_t *rows);
/* How many are no gaps. */
la_status la_table_count(const la_table_column *, const int32_t *ids,
                         int64_t count, int64_t *out);
/* Sums (prod: products) as doubles, with the count; compensated. */
la_status la_table_sum(const la_table_column *, const int32_t *ids,
                       int64_t count, bool prod, double *out, int64_t *counts);
/* Sums and products of integers and booleans, which wrap. */
la_status la_table_sum_integers(const la_table_column *, const int32_t *ids,
                                int64_t count, bool prod, int64_t *out);
/* Squares of the distances from the means; counts as la_table_sum. */
la_status la_table_squares(const la_table_column *, const int32_t *ids,
                           int64_t count, const double *means, double *out);
/* Quantile q, linear between the nearest two; NaN of nothing. */
la_status la_table_quantile(const la_table_column *, const int32_t *ids,
                            int64_t count, double q, double *out);
/* Different values, gaps aside. */
la_status la_table_nunique(const la_table_column *, const int32_t *ids,
                           int64_t count, int64_t *out);

/* ---- rows of groups (window.c, scan.c) ---- */

typedef struct la_table_parts {
    const int32_t *rows;        /* NULL: as they are */
    const int64_t *offsets;     /* NULL: one part */
    int64_t n, count;
} la_table_parts;
typedef enum la_table_how {
    LA_TABLE_W_COUNT, LA_TABLE_W_SUM, LA_TABLE_W_MEAN, LA_TABLE_W_VAR,
    LA_TABLE_W_STD, LA_TABLE_W_MIN, LA_TABLE_W_MAX, LA_TABLE_W_MEDIAN
} la_table_how;
typedef struct la_table_window {
    la_table_how how;
    int64_t size;               /* rows, or units of 'times' */
    const int64_t *times;       /* of each row, ascending in each part */
    int64_t least;              /* values in a window that gives one */
    bool center;
} la_table_window;
/* Values of windows that end at each row; LA_EARG for times that fall. */
la_status la_table_rolling(const la_table_column *, const la_table_parts *,
                           const la_table_window *, double *out);
typedef enum la_table_scan {
    LA_TABLE_CUMSUM, LA_TABLE_CUMPROD, LA_TABLE_CUMMAX, LA_TABLE_CUMMIN
} la_table_scan;
/* Running values; gaps stay and are passed over. */
la_status la_table_scan_doubles(const la_table_column *,
                                const la_table_parts *, la_table_scan,
                                double *out);
la_status la_table_scan_integers(const la_table_column *,
                                 const la_table_parts *, la_table_scan,
                                 int64_t *out);
/* The row 'by' before each in its part, -1 for none. */
la_status la_table_shift(const la_table_parts *, int64_t by, int32_t *out);
/* The last row so far (back: the next) that is no gap. */
la_status la_table_fill(const la_table_column *, const la_table_parts *,
                        bool back, int32_t *out);
/* Numbers from 1 in each part. */
la_status la_table_number(const la_table_parts *, int64_t *out);
typedef enum la_table_ties {
    LA_TABLE_AVERAGE, LA_TABLE_LEAST, LA_TABLE_MOST, LA_TABLE_DENSE,
    LA_TABLE_AS_MET
} la_table_ties;
/* Ranks from 1 in each group; NaN for gaps. */
la_status la_table_rank(const la_table_column *, const int32_t *ids,
                        la_table_ties, bool descending, double *out);

/* ---- joins (join.c) ---- */

typedef struct la_table_match {
    la_table_block left, right; /* int32 rows, -1 for none */
    int64_t n;
} la_table_match;
/* Pairs of rows with equal ids, in the order of the left, then of the right;
** keep: a left row without a match comes once, with -1. */
la_status la_table_join(const int32_t *left, int64_t nleft,
                        const int32_t *right, int64_t nright, int64_t count,
                        bool keep, la_table_match *out);
/* The first row whose id was met before, or -1. */
la_status la_table_twice(const int32_t *ids, int64_t n, int64_t count,
                         int64_t *row);

/* ---- dates (dates.c, date_texts.c) ---- */

typedef enum la_table_unit {
    LA_TABLE_DAY, LA_TABLE_SECOND, LA_TABLE_MILLI, LA_TABLE_MICRO,
    LA_TABLE_NANO, LA_TABLE_HOUR, LA_TABLE_MINUTE, LA_TABLE_WEEK,
    LA_TABLE_MONTH, LA_TABLE_QUARTER, LA_TABLE_YEAR, LA_TABLE_UNITS
} la_table_unit;
extern const char *const la_table_unit_names[LA_TABLE_UNITS];
/* Units that a column can have come first. */
enum { LA_TABLE_STORED = LA_TABLE_NANO + 1 };
typedef enum la_table_field {
    LA_TABLE_F_YEAR, LA_TABLE_F_MONTH, LA_TABLE_F_DAY, LA_TABLE_F_HOUR,
    LA_TABLE_F_MINUTE, LA_TABLE_F_SECOND, LA_TABLE_F_WEEKDAY,
    LA_TABLE_F_YEARDAY, LA_TABLE_F_WEEK, LA_TABLE_F_QUARTER
} la_table_field;
/* An instant: days since 1970, seconds of the day, nanoseconds. */
typedef struct la_table_instant { int64_t day; int32_t second, nano; }
    la_table_instant;
/* v of a stored unit, seen 'offset' minutes east. */
la_table_instant la_table_split(int64_t v, la_table_unit, int offset);
/* The reverse; false where it does not fit. Fractions are cut. */
bool la_table_join_instant(la_table_instant, la_table_unit, int offset,
                           int64_t *out);
int64_t la_table_days(int64_t year, int64_t month, int64_t day);
void la_table_civil(int64_t days, int64_t *year, int *month, int *day);
int64_t la_table_field_of(la_table_instant, la_table_field);
/* Begin of the step of n units that holds it. False: does not fit. */
bool la_table_floor(la_table_instant, la_table_unit, int64_t n,
                    la_table_instant *out);
/* n units later; months end at their last day. */
bool la_table_add(la_table_instant, la_table_unit, int64_t n,
                  la_table_instant *out);
/* The instant that a text says, by a format of strftime's or ISO (NULL); the
** offset that it has, or 'offset', is taken off. False for others. */
bool la_table_parse(const char *text, size_t n, const char *format,
                    int offset, la_table_instant *out);
/* Digits of a second's fraction that the unit has, 0 for seconds and days. */
int la_table_decimals(la_table_unit);
/* Text of at most 'most' bytes by the format, else in ISO's form with a
** space; its length, or -1 where it does not fit or the format is none. */
int la_table_format(la_table_instant, la_table_unit, int offset,
                    const char *format, char *out, int most);

#endif
