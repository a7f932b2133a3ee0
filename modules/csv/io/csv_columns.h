/*
** Columns of numbers of a text in memory, filled by all threads.
**
** The text is cut into parts at the starts of rows, whose rows are counted
** first; then every part fills its rows. What the fields of a column have been
** is gathered on the way, so that a dtype that was guessed from few rows is
** known to be right, or which one would be, after one pass. Threads say only
** that something is amiss: where it is, one walk by la_csv_next finds.
*/
#ifndef LA_IO_CSV_COLUMNS_H
#define LA_IO_CSV_COLUMNS_H

#include <stdatomic.h>

#include "modules/csv/io/csv.h"
#include "modules/csv/io/csv_words.h"

/* Kinds of fields that a column had: bits. */
enum {
    LA_CSV_SEEN_TEXT = 1, LA_CSV_SEEN_FLOAT = 2, LA_CSV_SEEN_BOOL = 4,
    LA_CSV_SEEN_INTEGER = 8, LA_CSV_SEEN_GAP = 16,
    LA_CSV_SEEN_WIDE = 32,              /* an integer that is no int64 */
    LA_CSV_SEEN_ROUNDED = 64            /* an integer that is no double */
};

typedef struct la_csv_column {
    bool passed;                /* not read */
    la_dtype forced;            /* LA_UNDEFINED: found by its fields */
    la_dtype stored;            /* float64, bool, int64 or uint64 */
    char *data;                 /* of the rows, or NULL: only looked at */
    la_csv_words *words;        /* of each part: texts, the data are int32
                                ** numbers, 0 for gaps. NULL: others */
    atomic_uint seen;
} la_csv_column;

enum { LA_CSV_PARTS = 256 };    /* at most */
typedef struct la_csv_part {
    const char *begin, *end;
    int64_t first, rows;
} la_csv_part;

typedef struct la_csv_table {
    la_csv start;               /* the first row; 32 zeros stand behind 'end' */
    la_csv_column *columns;
    int64_t ncolumns, rows;
    const la_csv_text *gaps;    /* fields that stand for no value */
    int64_t ngaps;
    bool numbers_are_gaps;      /* some of them may be numbers */
    bool empty_is_gap;
    la_csv_marks marks;
    bool odd_numbers;           /* with other marks than a point, or between
                                ** separators that are bytes of numbers */
    int64_t nparts;
    la_csv_part parts[LA_CSV_PARTS];
} la_csv_table;

/* Cut and count: 'rows' and the parts. A region over the threads, after which
** la_region_status is due. */
void la_csv_split(la_csv_table *);
/* Look at some rows of each of some parts. */
void la_csv_sample(la_csv_table *);
/* Fill all columns that are not passed: numbers, and texts. False when a field
** or a row is not what it should be, where memory is out, or for a stop: then
** nothing in 'data' is of use. Also a region. */
bool la_csv_fill(la_csv_table *);

/* The sets of a column's parts become that of the first, and numbers those of
** it. False where memory is out. */
bool la_csv_join_words(const la_csv_table *, la_csv_column *);

bool la_csv_is_gap(const la_csv_table *, const la_csv_field *);
/* The bits of a value that is no gap. */
unsigned la_csv_seen(const la_csv_value *);
/* Element 'row' becomes the value, NULL for a gap. False where the column's
** dtype has no such value; then nothing was written. */
bool la_csv_store(la_csv_column *, int64_t row, const la_csv_value *);

#endif
