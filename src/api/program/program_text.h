/*
** The text of a program in its file: JSON in a fixed order of keys, which is
** read as it is written. program_write.c and program_read.c walk over the same
** things.
**
** Both remember their first failure, after which calls do nothing.
*/
#ifndef LA_API_PROGRAM_PROGRAM_TEXT_H
#define LA_API_PROGRAM_PROGRAM_TEXT_H

#include "io/json.h"
#include "tensor/tensor.h"

#include <stdbool.h>

/* Key of the metadata, and the number of the format in it. */
#define LA_PROGRAM_KEY "lunarray.program"
enum { LA_PROGRAM_FORMAT = 1 };

/* Bits of tensors in texts: their order is that of the letters. */
#define LA_PROGRAM_BITS "cnw"
static inline uint32_t la_program_bit(int k)
{
    return k == 0 ? LA_F_CONJ : k == 1 ? LA_F_NEG : LA_F_WRAPPED;
}

/* Bits of objects, views, slots and steps as numbers. */
enum {
    LA_TEXT_GRAD = 1, LA_TEXT_SET = 2, LA_TEXT_ASKED = 4, LA_TEXT_HAD = 8,
    LA_TEXT_PINNED = 16, LA_TEXT_GEOMETRY = 32,
    LA_TEXT_WHOLE = 2, LA_TEXT_ALIAS = 1, LA_TEXT_PURE = 2
};

/* Kinds of tensors in the file. */
enum {
    LA_TEXT_WEIGHT,         /* captured: its values are there */
    LA_TEXT_VIEW,           /* captured: a view of weight 'of' */
    LA_TEXT_GRADIENT,       /* of weight 'of' */
    LA_TEXT_CONSTANT,       /* of the recording */
    LA_TEXT_NUMBER          /* of no dim, float64 */
};

/* ---- writing ---- */

typedef struct la_jtext_writer {
    la_bytes *to;
    bool more;              /* a comma comes before the next value */
} la_jtext_writer;

void la_jtext_open(la_jtext_writer *w, char bracket);
void la_jtext_close(la_jtext_writer *w, char bracket);
void la_jtext_key(la_jtext_writer *w, const char *key);
void la_jtext_integer(la_jtext_writer *w, int64_t v);
void la_jtext_string(la_jtext_writer *w, const char *text, size_t n);
void la_jtext_word(la_jtext_writer *w, const char *text);
/* Sixteen digits: the bits. */
void la_jtext_double(la_jtext_writer *w, double v);
void la_jtext_form(la_jtext_writer *w, const la_tensor *t);

/* ---- reading ---- */

typedef struct la_jtext_reader {
    la_json json;
    char *text;             /* decoded strings, one behind the other */
    size_t used, capacity;
    bool more;
    la_status status;
    int depth;
} la_jtext_reader;

void la_jtext_fail(la_jtext_reader *r, const char *what);
void la_jtext_enter(la_jtext_reader *r, char bracket);
/* Is there another value in front of the closing bracket, which is taken where
** there is none? */
bool la_jtext_next(la_jtext_reader *r, char bracket);
/* A list is over: a value more is a failure. */
void la_jtext_leave(la_jtext_reader *r, char bracket);
/* The key that comes next has to be this one. */
void la_jtext_want(la_jtext_reader *r, const char *key);
int64_t la_jtext_read_integer(la_jtext_reader *r);
/* ... of this range, both ends in it. */
int64_t la_jtext_read_range(la_jtext_reader *r, int64_t low, int64_t high);
/* Stays with the reader, with a NUL behind it and none inside. */
const char *la_jtext_read_string(la_jtext_reader *r, size_t *n);
double la_jtext_read_double(la_jtext_reader *r);
/* A header of that form, owned; NULL behind a failure. */
la_tensor *la_jtext_read_form(la_jtext_reader *r);

#endif
