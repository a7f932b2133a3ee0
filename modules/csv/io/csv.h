/*
** Comma-separated values (RFC 4180): fields of a text, and what they say.
**
** Rows end with LF or CRLF, and with a lone CR once la_csv_unify has made LF of
** it. A field that begins with a quote goes on to the
** next quote that is not doubled, over separators and ends of lines. Empty
** lines are no rows.
*/
#ifndef LA_IO_CSV_H
#define LA_IO_CSV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"
#include "io/bytes.h"

typedef struct la_csv_text { const char *p; size_t n; } la_csv_text;

typedef struct la_csv {
    const char *at, *end;       /* what is left of the text; borrowed */
    char separator;
    int64_t line;               /* where 'at' is, from 1 */
    la_bytes *scratch;          /* for fields with doubled quotes; borrowed */
} la_csv;

typedef struct la_csv_field {
    const char *text;           /* in the text, or in scratch until the next */
    size_t n;
    bool last;                  /* of its row */
    bool quoted;
    const char *raw;            /* in the text, doubled quotes as they are */
    size_t nraw;
    bool doubled;               /* 'text' is in scratch */
} la_csv_field;

/* Is there another row? Passes over empty lines. */
bool la_csv_more(la_csv *);
/* The next field of a row. LA_EIO for a quote without its end, or with
** something behind it; LA_ENOMEM. */
la_status la_csv_next(la_csv *, la_csv_field *out);
/* The closing quote of a field whose text begins at p, or NULL. *doubled is set
** where the text has doubled ones; it may be NULL. */
const char *la_csv_closing(const char *p, const char *end, bool *doubled);
/* The first of two bytes from p on, or 'end'. */
const char *la_csv_find(const char *p, const char *end, char a, char b);
/* Pass over n lines, which may end with lone CRs. */
void la_csv_skip(la_csv *, int64_t n);
/* Lone CRs that end rows become LF, in 'text', which is what 'at' points to;
** those in quotes stay. Eight zeros stand behind the text. LA_EINTR, LA_OK. */
la_status la_csv_unify(const la_csv *, char *text);

typedef enum la_csv_kind {
    LA_CSV_TEXT, LA_CSV_INTEGER, LA_CSV_FLOAT, LA_CSV_BOOL
} la_csv_kind;

typedef struct la_csv_value {
    la_csv_kind kind;
    bool negative;              /* INTEGER */
    uint64_t magnitude;         /* INTEGER, and 0 or 1 of BOOL */
    double number;              /* INTEGER, FLOAT: the nearest double */
} la_csv_value;

/* Value of a field, blanks around it aside: an integer below 2^64, a number in
** decimal digits (also inf, infinity and nan in any case), true or false (also
** True, TRUE), or anything. Does not depend on the locale. */
void la_csv_read(const char *text, size_t n, la_csv_value *out);

/* How numbers are written: the byte before the decimals, and that between
** thousands (0: none). */
typedef struct la_csv_marks { char decimal, thousands; } la_csv_marks;
/* la_csv_read of a field with such marks. */
void la_csv_read_as(const char *text, size_t n, la_csv_marks, la_csv_value *);

/* Are the bytes a gzip file? All of them unpacked behind 'out', at most 'limit'
** bytes (0: any number). LA_EIO, LA_ENOMEM. */
bool la_csv_is_packed(const void *bytes, size_t n);
la_status la_csv_unpack(const void *bytes, size_t n, int64_t limit,
                        la_bytes *out);

/* Append an element of a real dtype: the fewest digits that read back the same
** value in that dtype; floats with a point or an exponent. */
void la_csv_put(la_bytes *, const void *element, la_dtype);
/* Append a text, in quotes where it needs them. */
void la_csv_put_text(la_bytes *, const char *text, size_t n, char separator);
/* Puts the text in quotes, whatever it is. */
void la_csv_put_quoted(la_bytes *out, const char *text, size_t n);

#endif
