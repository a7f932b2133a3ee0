/*
** Columns of numbers, filled by all threads.
**
** A field is parsed where it begins, without a search for its end: whether what
** stands behind the number is a separator tells whether the field was one. All
** other fields go the way of la_csv_next and la_csv_read, so that there is one
** grammar. Nothing is allocated, and no error is made: whoever calls reads the
** text again, row by row, for the message.
*/
#include "modules/csv/io/csv_columns.h"

#include <math.h>
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "base/decimal.h"

/* ---- parts ---- */

enum { PART = 1 << 18 };        /* bytes of a part at least */

/* Behind the next end of a line. */
static const char *next_line(const char *p, const char *end)
{
    p = memchr(p, '\n', (size_t)(end - p));
    return p ? p + 1 : end;
}

/* Is the line p..end, its LF included, empty? */
static bool is_empty_line(const char *p, const char *end)
{
    return *p == '\n' || (end - p == 2 && *p == '\r' && p[1] == '\n');
}

/* Parts of 'step' bytes and the rest of a line. */
static void cut_anywhere(la_csv_table *t, int64_t step)
{
    const char *p = t->start.at, *end = t->start.end;
    for (t->nparts = 0; p < end; t->nparts++) {
        const char *to = end - p > step ? next_line(p + step, end) : end;
        t->parts[t->nparts] = (la_csv_part){.begin = p, .end = to};
        p = to;
    }
}

/* State that the threads share while they count. */
typedef struct counting { la_csv_table *table; atomic_bool quotes; } counting;

/* The rows of a part without quotes are its lines that are not empty. */
static void columns_count_rows(int64_t begin, int64_t end, void *context)
{
    counting *job = context;
    for (int64_t k = begin; k < end && !la_interrupted(); k++) {
        la_csv_part *part = &job->table->parts[k];
        const char *p = part->begin, *stop = part->end;
        if (memchr(p, '"', (size_t)(stop - p)))
            atomic_store_explicit(&job->quotes, true, memory_order_relaxed);
        while (p < stop) {
            const char *next = next_line(p, stop);
            part->rows += !is_empty_line(p, next);
            p = next;
        }
    }
}

/* Behind the row at p. A quote opens a field only where one begins; one without
** its end takes all. */
static const char *columns_next_row(const char *p, const char *end,
                                    char separator)
{
    const char *row = p;
    for (;;) {
        p = la_csv_find(p, end, '"', '\n');
        if (p == end) return end;
        if (*p == '\n') return p + 1;
        if (p != row && p[-1] != separator) {
            p++;
            continue;
        }
        p = la_csv_closing(p + 1, end, NULL);
        if (!p) return end;
        p++;
    }
}

/* Cuts one row after the other, because with quotes a line need not be a
** row. */
static void cut_between_rows(la_csv_table *t, int64_t step)
{
    la_csv at = t->start;
    la_csv_part *part = NULL;
    t->nparts = 0;
    for (int64_t row = 0; la_csv_more(&at); row++) {
        if (row % 1024 == 0 && la_interrupted()) return;
        if (!part || at.at - part->begin >= step) {
            part = &t->parts[t->nparts++];
            *part = (la_csv_part){.begin = at.at};
        }
        part->rows++;
        part->end = at.at = columns_next_row(at.at, at.end, at.separator);
    }
}

/* Which of the gaps need a look at fields that are numbers, or empty. */
static void look_at_gaps(la_csv_table *t)
{
    t->numbers_are_gaps = t->empty_is_gap = false;
    for (int64_t k = 0; k < t->ngaps; k++) {
        const la_csv_text *g = &t->gaps[k];
        if (!g->n) t->empty_is_gap = true;
        else if (memchr("+-.0123456789", *g->p, 13)) t->numbers_are_gaps = true;
    }
}

/* Parts of lines, unless a quote says that lines need not be rows. Where a byte
** of numbers separates fields, plain_number would read over their end. */
void la_csv_split(la_csv_table *t)
{
    counting job = {.table = t};
    int64_t step = (t->start.end - t->start.at) / (LA_CSV_PARTS - 1) + 1;
    if (step < PART) step = PART;
    look_at_gaps(t);
    t->odd_numbers = t->marks.decimal != '.' || t->marks.thousands
        || memchr("+-.0123456789eE", t->start.separator, 15);
    cut_anywhere(t, step);
    la_parallel_for(t->nparts, 1, columns_count_rows, &job);
    if (atomic_load(&job.quotes)) cut_between_rows(t, step);
    t->rows = 0;
    for (int64_t k = 0; k < t->nparts; k++) {
        t->parts[k].first = t->rows;
        t->rows += t->parts[k].rows;
    }
}

/* ---- values ---- */

bool la_csv_is_gap(const la_csv_table *t, const la_csv_field *f)
{
    for (int64_t k = 0; k < t->ngaps; k++)
        if (t->gaps[k].n == f->n && memcmp(t->gaps[k].p, f->text, f->n) == 0)
            return true;
    return false;
}

/* Has the integer at most 53 bits between its first and its last? */
static bool columns_is_double(uint64_t magnitude)
{
    const uint64_t most = UINT64_C(1) << 53;
    return magnitude <= most || magnitude / (magnitude & -magnitude) < most;
}

unsigned la_csv_seen(const la_csv_value *v)
{
    switch (v->kind) {
    case LA_CSV_FLOAT: return LA_CSV_SEEN_FLOAT;
    case LA_CSV_BOOL: return LA_CSV_SEEN_BOOL;
    case LA_CSV_INTEGER:
        return LA_CSV_SEEN_INTEGER
            | (v->magnitude > (uint64_t)INT64_MAX + v->negative
               ? LA_CSV_SEEN_WIDE : 0)
            | (columns_is_double(v->magnitude) ? 0 : LA_CSV_SEEN_ROUNDED);
    default: return LA_CSV_SEEN_TEXT;
    }
}

/* Does an integer fit the dtype? Compares with the greatest magnitude of either
** sign. */
static bool csv_fits(bool negative, uint64_t magnitude, la_dtype dtype)
{
    int bits = 8 * (int)la_dtype_size(dtype);
    bool is_signed = la_dtype_kind(dtype) == 'i';
    uint64_t most = UINT64_MAX >> (64 - bits + is_signed);
    if (negative && !is_signed) return magnitude == 0;
    return magnitude <= most + negative;
}

/* A gap is NaN among floats, and an error among integers. True and false are 1
** and 0 in a column with gaps. */
bool la_csv_store(la_csv_column *c, int64_t row, const la_csv_value *v)
{
    la_dtype want = c->forced == LA_UNDEFINED ? c->stored : c->forced;
    if (c->stored == LA_FLOAT64) {
        bool truth = v && v->kind == LA_CSV_BOOL && c->forced == LA_UNDEFINED;
        if (v && !truth && v->kind != LA_CSV_INTEGER && v->kind != LA_CSV_FLOAT)
            return false;
        double d = truth ? (double)v->magnitude : v ? v->number : NAN;
        memcpy(c->data + 8 * row, &d, sizeof d);
        return true;
    }
    if (!v) return false;
    if (want == LA_BOOL) {
        bool number = v->kind == LA_CSV_INTEGER && !v->negative;
        if (v->kind != LA_CSV_BOOL && !(number && v->magnitude <= 1))
            return false;
        c->data[row] = (char)v->magnitude;
        return true;
    }
    if (v->kind != LA_CSV_INTEGER
        || !csv_fits(v->negative, v->magnitude, want)) return false;
    uint64_t bits = v->negative ? -v->magnitude : v->magnitude;
    memcpy(c->data + 8 * row, &bits, sizeof bits);
    return true;
}

/* ---- fields ---- */

/* Threads share the bits, which are soon all set. */
static inline void columns_note(la_csv_column *c, unsigned seen)
{
    unsigned old = atomic_load_explicit(&c->seen, memory_order_relaxed);
    if ((old & seen) != seen)
        atomic_fetch_or_explicit(&c->seen, seen, memory_order_relaxed);
}

/* A value that disagrees with a guess is only noted. */
static inline bool columns_take(la_csv_column *c, int64_t row,
                                const la_csv_value *v)
{
    bool forced = c->forced != LA_UNDEFINED;
    if (!forced) columns_note(c, v ? la_csv_seen(v) : LA_CSV_SEEN_GAP);
    return !c->data || la_csv_store(c, row, v) || !forced;
}

/* The eight bytes at p: digits? Their value. Of a little-endian machine. Adding
** 6 carries out of the low half of a byte above '9'; pairs, then fours, then
** all eight are joined by one multiplication each. */
static inline bool eight_digits(const char *p, uint64_t *out)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t high = UINT64_C(0xf0f0f0f0f0f0f0f0);
    uint64_t v;
    memcpy(&v, p, sizeof v);
    if (((v & high) | ((v + UINT64_C(0x0606060606060606)) & high) >> 4)
        != UINT64_C(0x3333333333333333)) return false;
    v -= UINT64_C(0x3030303030303030);
    v = v * 10 + (v >> 8);      /* pairs in every other byte */
    const uint64_t pairs = UINT64_C(0x000000ff000000ff);
    *out = ((v & pairs) * (100 + (UINT64_C(1000000) << 32))
            + (v >> 16 & pairs) * (1 + (UINT64_C(10000) << 32))) >> 32;
    return true;
#else
    (void)p, (void)out;
    return false;
#endif
}

/* Digits at p go on in *v; behind them. */
static inline const char *digits(const char *p, uint64_t *v)
{
    uint64_t eight;
    while (eight_digits(p, &eight)) {
        *v = *v * 100000000 + eight;
        p += 8;
    }
    for (unsigned d; (d = (unsigned)*p - '0') <= 9; p++) *v = *v * 10 + d;
    return p;
}

/* e and an exponent at p, which is added. NULL for others. */
static const char *add_exponent(const char *p, int *exponent)
{
    bool down = p[1] == '-';
    uint64_t v = 0;
    const char *from = p + 1 + (p[1] == '-' || p[1] == '+');
    p = digits(from, &v);
    if (p == from || p - from > 4) return NULL;
    *exponent += down ? -(int)v : (int)v;
    return p;
}

/* The number at p, as most are written: behind it, or NULL where that is for
** la_csv_read to say. Zeros behind the text end all loops. */
static inline const char *plain_number(const char *p, la_csv_value *v,
                                       bool as_double)
{
    v->negative = *p == '-';
    p += v->negative;
    v->magnitude = 0;
    const char *from = p;
    for (unsigned d; (d = (unsigned)*p - '0') <= 9; p++)
        v->magnitude = v->magnitude * 10 + d;
    int n = p - from < 20 ? (int)(p - from) : 20, exponent = 0;
    v->kind = LA_CSV_INTEGER;
    if (*p == '.') {
        const char *point = ++p;
        v->kind = LA_CSV_FLOAT;
        p = digits(p, &v->magnitude);
        exponent = p - point < 20 ? -(int)(p - point) : -20;
        n -= exponent;
    }
    if (n == 0 || n > 19) return NULL;
    if (*p == 'e' || *p == 'E') {
        v->kind = LA_CSV_FLOAT;
        if (!(p = add_exponent(p, &exponent))) return NULL;
    }
    if (v->kind == LA_CSV_INTEGER || !v->magnitude)
        v->number = (double)v->magnitude;
    else if (as_double
             && !la_decimal_nearest(v->magnitude, exponent, &v->number))
        return NULL;
    if (v->negative) v->number = -v->number;
    return p;
}

/* Behind a field there is a separator or an end of line: passed over. */
static inline bool columns_end_plain(la_csv *c, const char *p, bool *last)
{
    *last = *p == '\n' || (*p == '\r' && p[1] == '\n');
    if (!*last && *p != c->separator) return false;
    c->at = p + 1 + (*p == '\r' && *last);
    return true;
}

/* Element 'row' becomes the number of the text in the set of the part. False
** where memory is out. */
static bool csv_store_text(const la_csv_table *t, la_csv_column *c,
                           int64_t part, int64_t row, const la_csv_field *f)
{
    int32_t code = !f->quoted && la_csv_is_gap(t, f) ? 0
        : la_csv_number(&c->words[part], f->raw, f->nraw, f->doubled);
    if (code < 0) return false;
    memcpy(c->data + 4 * row, &code, sizeof code);
    return true;
}

/* The bounds of a field in quotes. */
static bool quoted_bounds(la_csv *c, la_csv_field *f, bool *last)
{
    const char *from = c->at + 1;
    *f = (la_csv_field){.quoted = true, .raw = from};
    const char *p = la_csv_closing(from, c->end, &f->doubled);
    if (!p) return false;
    f->nraw = (size_t)(p - from);
    c->at = c->end;
    return p + 1 == c->end ? *last = true : columns_end_plain(c, p + 1, last);
}

/* The bounds of any field, which is passed over: its bytes as they are, also
** doubled quotes, and no line is counted. */
static inline bool field_bounds(la_csv *c, la_csv_field *f, bool *last)
{
    if (c->at < c->end && *c->at == '"') return quoted_bounds(c, f, last);
    const char *p = la_csv_find(c->at, c->end, c->separator, '\n');
    size_t n = (size_t)(p - c->at);
    if (n && p < c->end && *p == '\n' && p[-1] == '\r') p--, n--;
    *f = (la_csv_field){.text = c->at, .n = n, .raw = c->at, .nraw = n};
    if (p < c->end) return columns_end_plain(c, p, last);
    c->at = c->end;
    return *last = true;
}

bool la_csv_join_words(const la_csv_table *t, la_csv_column *c)
{
    int32_t *codes = (int32_t *)c->data;
    for (int64_t k = 1; k < t->nparts; k++) {
        la_csv_words *w = &c->words[k];
        const la_csv_part *part = &t->parts[k];
        /* Hashes are no longer needed: they become the numbers of the whole. */
        for (int64_t i = 0; i < w->n; i++) {
            la_csv_word *word = &w->list[i];
            int32_t to = la_csv_number(&c->words[0], word->p, word->n,
                                       word->doubled);
            if (to < 0) return false;
            word->hash = (uint32_t)to;
        }
        for (int64_t i = part->first; i < part->first + part->rows; i++)
            if (codes[i]) codes[i] = (int32_t)w->list[codes[i] - 1].hash;
        la_csv_words_free(w);
    }
    return true;
}

/* Any field. */
static bool columns_read_field(la_csv_table *t, la_csv *c,
                               la_csv_column *column, int64_t row, bool *last)
{
    la_csv_field f;
    la_csv_value v;
    if (la_csv_next(c, &f)) return false;
    *last = f.last;
    if (la_csv_is_gap(t, &f)) return columns_take(column, row, NULL);
    la_csv_read_as(f.text, f.n, t->marks, &v);
    return columns_take(column, row, &v);
}

/* Most fields are empty or plain numbers; the rest is read as ever. */
static inline bool fill_field(la_csv_table *t, la_csv *c, la_csv_column *column,
                              int64_t part, int64_t row, bool *last)
{
    la_csv_field f;
    la_csv_value v;
    const char *from = c->at;
    if (column->passed) return field_bounds(c, &f, last);
    if (column->words)
        return field_bounds(c, &f, last)
            && csv_store_text(t, column, part, row, &f);
    if (*from == c->separator && t->empty_is_gap) {
        c->at++;
        *last = false;
        return columns_take(column, row, NULL);
    }
    const char *p = t->odd_numbers ? NULL
        : plain_number(from, &v, column->stored == LA_FLOAT64);
    if (!p || t->numbers_are_gaps || !columns_end_plain(c, p, last)) {
        c->at = from;
        return columns_read_field(t, c, column, row, last);
    }
    return columns_take(column, row, &v);
}

/* Rows of a part, at most so many. Numbers whose quotes are doubled go through
** the scratch memory. */
static bool walk_rows(la_csv_table *t, const la_csv_part *part, int64_t most,
                      la_bytes *scratch)
{
    la_csv c = t->start;
    c.at = part->begin;
    c.end = part->end;
    c.scratch = scratch;
    int64_t row = 0;
    for (; row < most && la_csv_more(&c); row++) {
        bool last = false;
        if (row == part->rows || (row % 1024 == 0 && la_interrupted()))
            return false;
        for (int64_t k = 0; k < t->ncolumns; k++)
            if (last || !fill_field(t, &c, &t->columns[k], part - t->parts,
                                    part->first + row, &last)) return false;
        if (!last) return false;
    }
    return row == most || row == part->rows;
}

static bool columns_fill_rows(la_csv_table *t, const la_csv_part *part,
                              int64_t most)
{
    la_bytes scratch = {0};
    bool fine = walk_rows(t, part, most, &scratch);
    la_bytes_free(&scratch);
    return fine;
}

/* State that the threads share while they fill. */
typedef struct filling { la_csv_table *table; atomic_bool failed; } filling;

/* One failure ends all. */
static void fill_parts(int64_t begin, int64_t end, void *context)
{
    filling *job = context;
    for (int64_t k = begin; k < end; k++) {
        if (atomic_load_explicit(&job->failed, memory_order_relaxed)) return;
        la_csv_part *part = &job->table->parts[k];
        if (!columns_fill_rows(job->table, part, INT64_MAX))
            atomic_store_explicit(&job->failed, true, memory_order_relaxed);
    }
}

/* 64 rows each of at most 16 parts; errors are found later. */
void la_csv_sample(la_csv_table *t)
{
    int64_t step = t->nparts / 16 + 1;
    for (int64_t k = 0; k < t->nparts; k += step)
        columns_fill_rows(t, &t->parts[k], 64);
}

bool la_csv_fill(la_csv_table *t)
{
    filling job = {.table = t};
    la_parallel_for(t->nparts, 1, fill_parts, &job);
    return !atomic_load(&job.failed);
}
