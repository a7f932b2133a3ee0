/*
** The different texts of a column, each with a number from 1 on, while it is
** read: every part of the text has a set of its own, which are joined at the
** end. A text is the bytes between its quotes, doubled ones as they are.
*/
#ifndef LA_IO_CSV_WORDS_H
#define LA_IO_CSV_WORDS_H

#include "modules/csv/io/csv.h"

typedef struct la_csv_word {
    const char *p;              /* borrowed from the text */
    size_t n;
    uint32_t hash;
    bool doubled;               /* has quotes to be halved */
} la_csv_word;

/* Empty at first ({0}). */
typedef struct la_csv_words {
    la_csv_word *list;
    int32_t *slots;             /* numbers; 0: empty; a power of two of them */
    int64_t n, capacity;
} la_csv_words;

/* The number of a text, behind which at least 8 bytes can be read; -1 where
** memory is out, or numbers. */
int32_t la_csv_number(la_csv_words *, const char *p, size_t n, bool doubled);
void la_csv_words_free(la_csv_words *);

#endif
