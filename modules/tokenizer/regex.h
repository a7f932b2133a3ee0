/*
** The patterns by which tokenizers cut texts into words: alternatives, groups,
** classes, categories (\p{L}), repetition (greedy, lazy, possessive), looking
** ahead. Matched by backtracking over an explicit list, in steps that are
** counted.
*/
#ifndef LA_TOKENIZER_REGEX_H
#define LA_TOKENIZER_REGEX_H

#include <stddef.h>
#include <stdint.h>

#include "io/bytes.h"

typedef struct la_regex_item {
    uint32_t first, last;     /* codes */
    uint32_t categories;      /* ... or, where not 0, a set of categories */
    uint8_t space, outside;   /* white space; what does not match counts */
} la_regex_item;

typedef struct la_regex_step {
    uint8_t op, mode;
    int32_t a, b;             /* of the operation, see regex.c */
    int32_t least, most;
} la_regex_step;

typedef struct la_regex {
    la_bytes steps, items;    /* arrays of the above */
} la_regex;

/* LA_EARG with the position in the pattern. */
la_status la_regex_compile(la_regex *, const char *pattern, size_t n);
void la_regex_free(la_regex *);

typedef struct la_regex_match {
    const char *begin, *end;  /* of the text */
    int64_t left;             /* steps that may be taken */
    la_bytes stack;
} la_regex_match;

/* The first match from 'at' on: its begin and end, or *first NULL. LA_EARG when
** no steps are left, LA_ENOMEM. */
la_status la_regex_find(const la_regex *, la_regex_match *, const char *at,
                        const char **first, const char **last);

#endif
