/* Vocabularies: tokens and pairs by hash. */
#include "modules/tokenizer/vocab.h"

#include <string.h>

/* ---- hashes ---- */

/* Mixes all bits into all others. */
static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

/* Eight bytes at a time; the length is part of it, so that zeros at the end
** count. */
static uint64_t text_hash(const char *text, size_t n)
{
    uint64_t h = n, word;
    for (; n >= 8; n -= 8, text += 8) {
        memcpy(&word, text, 8);
        h = mix(h ^ word);
    }
    word = 0;
    memcpy(&word, text, n);
    return mix(h ^ word);
}

/* How many slots for n things: the least power of two that leaves half of
** them free, so that a search ends soon. */
static size_t capacity_for(int64_t n)
{
    size_t p = 16;
    while (p < 2 * (size_t)n) p *= 2;
    return p;
}

/* Zeros for a table whose size is known from the file's counts, which were
** compared with what the file can hold. */
static la_status put_zeros(la_bytes *b, size_t n)
{
    static char zeros[4096];   /* constant ones would be bytes of the file */
    for (size_t k; n > 0 && !b->status; n -= k) {
        k = n < sizeof zeros ? n : sizeof zeros;
        la_bytes_put(b, zeros, k);
    }
    return b->status;
}

/* The hash table of tokens: an id and 1, or 0 for a free slot. */
static uint32_t *slots_of(const la_vocab *v)
{
    return (uint32_t *)(void *)v->slots.data;
}

/* The begins of all tokens in the text, and the end of the last one. */
static const uint32_t *starts_of(const la_vocab *v)
{
    return (const uint32_t *)(const void *)v->starts.data;
}

/* ---- tokens ---- */

la_status la_vocab_begin(la_vocab *v, int64_t n, int64_t m)
{
    static const la_vocab_pair none = {0, 0, 0, -1};
    uint32_t zero = 0;
    la_bytes_put(&v->starts, &zero, sizeof zero);
    LA_TRY(put_zeros(&v->slots, capacity_for(n) * sizeof zero));
    for (size_t k = m > 0 ? capacity_for(m) : 0; k > 0 && !v->pairs.status; k--)
        la_bytes_put(&v->pairs, &none, sizeof none);
    return v->pairs.status;
}

const char *la_vocab_text(const la_vocab *v, int32_t id, size_t *n)
{
    const uint32_t *s = starts_of(v);
    *n = s[id + 1] - s[id];
    return (const char *)v->text.data + s[id];
}

int32_t la_vocab_id(const la_vocab *v, const char *text, size_t n)
{
    size_t mask = v->slots.n / sizeof(uint32_t) - 1, length;
    for (size_t at = text_hash(text, n) & mask; slots_of(v)[at];
         at = (at + 1) & mask) {
        int32_t id = (int32_t)slots_of(v)[at] - 1;
        const char *have = la_vocab_text(v, id, &length);
        if (length == n && memcmp(have, text, n) == 0) return id;
    }
    return -1;
}

/* The first one of equal tokens is found. */
la_status la_vocab_add(la_vocab *v, const char *text, size_t n, float score)
{
    size_t mask = v->slots.n / sizeof(uint32_t) - 1;
    if (2 * (size_t)v->n > mask || v->text.n + n > UINT32_MAX / 2)
        return la_error(LA_EARG, "too many tokens");
    bool twice = la_vocab_id(v, text, n) >= 0;
    la_bytes_put(&v->text, text, n);
    uint32_t end = (uint32_t)v->text.n;
    la_bytes_put(&v->starts, &end, sizeof end);
    la_bytes_put(&v->scores, &score, sizeof score);
    if (v->text.status || v->starts.status || v->scores.status)
        return LA_ENOMEM;
    if ((int32_t)n > v->longest) v->longest = (int32_t)n;
    if (v->n == 0 || score < v->least) v->least = score;
    size_t at = text_hash(text, n) & mask;
    while (slots_of(v)[at]) at = (at + 1) & mask;
    v->n++;
    if (!twice) slots_of(v)[at] = (uint32_t)v->n;
    return LA_OK;
}

void la_vocab_finish(la_vocab *v)
{
    static const char digits[] = "0123456789ABCDEF";
    char word[6] = "<0x00>";
    for (int b = 0; b < 256; b++) {
        word[3] = digits[b >> 4];
        word[4] = digits[b & 15];
        v->bytes[b] = la_vocab_id(v, word, sizeof word);
    }
}

void la_vocab_free(la_vocab *v)
{
    la_bytes_free(&v->text);
    la_bytes_free(&v->starts);
    la_bytes_free(&v->scores);
    la_bytes_free(&v->slots);
    la_bytes_free(&v->pairs);
}

/* ---- merges ---- */

/* The slot of a pair, or the free one where it would be. */
static la_vocab_pair *find_pair(const la_vocab *v, uint32_t left,
                                uint32_t right)
{
    la_vocab_pair *list = (la_vocab_pair *)(void *)v->pairs.data;
    size_t mask = v->pairs.n / sizeof *list - 1;
    size_t at = mix((uint64_t)left << 32 | right) & mask;
    while (list[at].id >= 0
           && (list[at].left != left || list[at].right != right))
        at = (at + 1) & mask;
    return &list[at];
}

void la_vocab_merge(la_vocab *v, const char *left, size_t n, const char *right,
                    size_t m, int32_t rank)
{
    char both[512];
    int32_t a = la_vocab_id(v, left, n), b = la_vocab_id(v, right, m);
    if (a < 0 || b < 0 || n + m > sizeof both) return;
    memcpy(both, left, n);
    memcpy(both + n, right, m);
    int32_t id = la_vocab_id(v, both, n + m);
    la_vocab_pair *p = find_pair(v, (uint32_t)a, (uint32_t)b);
    if (id >= 0 && p->id < 0)
        *p = (la_vocab_pair){(uint32_t)a, (uint32_t)b, rank, id};
}

const la_vocab_pair *la_vocab_pair_of(const la_vocab *v, int32_t left,
                                      int32_t right)
{
    if (left < 0 || right < 0 || v->pairs.n == 0) return NULL;
    const la_vocab_pair *p = find_pair(v, (uint32_t)left, (uint32_t)right);
    return p->id >= 0 ? p : NULL;
}
