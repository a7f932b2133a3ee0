/*
** Tables of characters, unpacked from unicode_data.h when they are first asked
** for: sorted, as unicode.c searches them.
*/
#ifndef LA_TOKENIZER_UNICODE_TABLES_H
#define LA_TOKENIZER_UNICODE_TABLES_H

#include <stdint.h>

typedef struct la_small_letters {
    uint32_t first, last, step;
    int32_t difference;         /* from a letter to the small one */
} la_small_letters;

typedef struct la_unicode_tables {
    int ncategories, nlower, nclasses, ncanonical, ncompositions, ncompatible;
    const uint32_t *categories; /* the first of a run << 8 | category */
    const la_small_letters *lower;
    const uint32_t *classes;    /* code << 8 | combining class */
    /* canonical decompositions: a code, its first part, which may have parts
    ** itself, and the second (0: none), which has none */
    const uint32_t *canonical, *first, *second;
    /* which of them join their parts again, sorted by these: the first parts,
    ** indices of the lists above */
    const uint32_t *composing;
    const uint16_t *compositions;
    /* compatible decompositions: a code, and where its parts begin, the whole
    ** of them; those of the next end them */
    const uint32_t *compatible, *parts;
    const uint16_t *starts;
} la_unicode_tables;

const la_unicode_tables *la_unicode_tables_here(void);

#endif
