/*
** A vocabulary, and the ways to write a word with its tokens: merging pairs by
** rank (BPE) or by score (SentencePiece), the most probable path (Unigram), the
** longest ones from the left (WordPiece). Ids count from 0, as files have them.
*/
#ifndef LA_TOKENIZER_VOCAB_H
#define LA_TOKENIZER_VOCAB_H

#include <stdbool.h>
#include <stdint.h>

#include "io/bytes.h"

typedef enum la_vocab_kind {
    LA_VOCAB_BPE, LA_VOCAB_SPM, LA_VOCAB_UNIGRAM, LA_VOCAB_WORDPIECE
} la_vocab_kind;

typedef struct la_vocab {
    la_vocab_kind kind;
    int64_t n;
    la_bytes text;            /* of all tokens */
    la_bytes starts;          /* uint32 [n + 1] */
    la_bytes scores;          /* float [n], or nothing */
    la_bytes slots;           /* uint32: id + 1 by hash; a power of two */
    la_bytes pairs;           /* la_vocab_pair by hash; a power of two */
    int32_t bytes[256];       /* ids of <0x00> ..., -1 for none */
    int32_t unknown;          /* id, -1: none */
    int32_t longest;          /* bytes of a token */
    bool ignore_merges;       /* words that are tokens are these */
    bool byte_fallback, fuse_unknown;
    float least;              /* of the scores */
    char suffix[16], start[16], next[16];   /* of words, of their parts */
    int32_t most;             /* characters of a word (WordPiece) */
} la_vocab;

typedef struct la_vocab_pair {
    uint32_t left, right;
    int32_t rank, id;         /* id -1: free */
} la_vocab_pair;

/* Makes a vocabulary for n tokens and m merges, which the caller adds.
** LA_ENOMEM. */
la_status la_vocab_begin(la_vocab *, int64_t n, int64_t m);
/* The next token. LA_EARG for one too many. */
la_status la_vocab_add(la_vocab *, const char *text, size_t n, float score);
/* All tokens are there: finds those of bytes. */
void la_vocab_finish(la_vocab *);
/* A merge of what two texts say; one of unknown tokens is passed over. */
void la_vocab_merge(la_vocab *, const char *left, size_t n, const char *right,
                    size_t m, int32_t rank);
void la_vocab_free(la_vocab *);

/* -1: no such token. */
int32_t la_vocab_id(const la_vocab *, const char *text, size_t n);
const char *la_vocab_text(const la_vocab *, int32_t id, size_t *n);
/* The merge of two tokens next to each other; NULL: none. */
const la_vocab_pair *la_vocab_pair_of(const la_vocab *, int32_t left,
                                      int32_t right);
/* Append the ids (int32) of a word. LA_ENOMEM, LA_EINTR. */
la_status la_vocab_encode(const la_vocab *, const char *text, size_t n,
                          la_bytes *out);

#endif
