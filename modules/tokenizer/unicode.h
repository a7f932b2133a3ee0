/*
** What tokenizers know of Unicode: UTF-8, categories, small letters, normal
** forms. Bytes that are no UTF-8 count as a character of one byte, U+FFFD.
*/
#ifndef LA_TOKENIZER_UNICODE_H
#define LA_TOKENIZER_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/bytes.h"

/* General categories, as unicode.py numbers them. */
typedef enum la_letter_kind {
    LA_CAT_CN, LA_CAT_CC, LA_CAT_CF, LA_CAT_CO, LA_CAT_CS, LA_CAT_LL, LA_CAT_LM,
    LA_CAT_LO, LA_CAT_LT, LA_CAT_LU, LA_CAT_MC, LA_CAT_ME, LA_CAT_MN, LA_CAT_ND,
    LA_CAT_NL, LA_CAT_NO, LA_CAT_PC, LA_CAT_PD, LA_CAT_PE, LA_CAT_PF, LA_CAT_PI,
    LA_CAT_PO, LA_CAT_PS, LA_CAT_SC, LA_CAT_SK, LA_CAT_SM, LA_CAT_SO, LA_CAT_ZL,
    LA_CAT_ZP, LA_CAT_ZS, LA_CATEGORIES
} la_letter_kind;

/* The bytes of the character at 'at', which is before 'end'; its code. */
int la_utf8_next(const char *at, const char *end, uint32_t *code);
/* The begin of the character that ends at 'at', behind 'begin'. */
const char *la_utf8_before(const char *begin, const char *at);
void la_utf8_put(la_bytes *out, uint32_t code);

la_letter_kind la_unicode_category(uint32_t code);
bool la_unicode_is_space(uint32_t code);
/* Append the text in small letters. */
void la_unicode_put_lower(la_bytes *out, const char *text, size_t n);
/* Append the text in a normal form: compatible (K) or canonical, composed (C)
** or not. LA_ENOMEM. */
la_status la_unicode_normalize(la_bytes *out, const char *text, size_t n,
                               bool compatible, bool composed);

#endif
