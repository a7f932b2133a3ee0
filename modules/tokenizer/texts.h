/*
** What tokenizers do to texts before and behind their words: bytes as visible
** characters (GPT-2), cleaning and words of BERT, the maps of SentencePiece.
** All append to 'out' and leave failures in its status.
*/
#ifndef LA_TOKENIZER_TEXTS_H
#define LA_TOKENIZER_TEXTS_H

#include <stdbool.h>

#include "io/bytes.h"

/* Each byte as the character that stands for it; back, where characters that
** stand for none are left as they are. */
void la_text_put_bytes(la_bytes *out, const char *text, size_t n);
void la_text_from_bytes(la_bytes *out, const char *text, size_t n);

/* No control characters, plain spaces, marks taken off, Chinese characters with
** spaces around. */
typedef struct la_text_cleaning {
    bool clean, chinese, accents, lower;
} la_text_cleaning;
void la_text_clean(la_bytes *out, const char *text, size_t n,
                   la_text_cleaning how);
/* The end of BERT's word at 'at', which is no space: a run of letters or one
** punctuation. */
const char *la_text_word(const char *at, const char *end);

/* A map of SentencePiece: a double array of prefixes, then texts. LA_EARG where
** it is none. */
la_status la_text_map(la_bytes *out, const char *map, size_t size,
                      const char *text, size_t n);

#endif
