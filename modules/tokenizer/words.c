/*
** The tokens of a word. Merging takes n log n steps for n characters, whatever
** they are: candidates lie in a heap, and those that are out of date are passed
** over when they come up.
*/
#include <math.h>
#include <string.h>

#include "base/runtime/interrupt.h"
#include "modules/tokenizer/unicode.h"
#include "modules/tokenizer/vocab.h"

/* Ids are appended as 32-bit integers. */
static void put_id(la_bytes *out, int32_t id)
{
    la_bytes_put(out, &id, sizeof id);
}

/* Is the last id of this word the unknown one? */
static bool ends_unknown(const la_vocab *v, const la_bytes *out, size_t from)
{
    int32_t last = -1;
    if (out->n < from + sizeof last) return false;
    memcpy(&last, out->data + out->n - sizeof last, sizeof last);
    return last == v->unknown;
}

/* Characters without a token: bytes, where all have one, or the unknown one,
** once for a run. */
static void put_unknown(const la_vocab *v, const char *text, size_t n,
                        size_t from, la_bytes *out)
{
    bool bytes = v->byte_fallback;
    for (size_t k = 0; bytes && k < n; k++)
        bytes = v->bytes[(uint8_t)text[k]] >= 0;
    for (size_t k = 0; bytes && k < n; k++)
        put_id(out, v->bytes[(uint8_t)text[k]]);
    if (!bytes && v->unknown >= 0
        && !(v->fuse_unknown && ends_unknown(v, out, from)))
        put_id(out, v->unknown);
}

/* ---- merging ---- */

typedef struct symbol {
    uint32_t at, n;           /* bytes of the word; n 0: merged into another */
    int32_t before, next, id;
} symbol;

typedef struct candidate {
    double key;               /* the least one first, of equal ones the left */
    int32_t left, id;
    uint32_t n;               /* bytes of both */
} candidate;

typedef struct merging {
    const la_vocab *v;
    const char *text;
    la_bytes symbols, heap;
} merging;

static symbol *symbols_of(const merging *m)
{
    return (symbol *)(void *)m->symbols.data;
}

static bool goes_before(const candidate *a, const candidate *b)
{
    return a->key < b->key || (a->key == b->key && a->left < b->left);
}

/* The heap's order is that of goes_before; a candidate may be in it twice. */
static void heap_put(merging *m, candidate c)
{
    la_bytes_put(&m->heap, &c, sizeof c);
    if (m->heap.status) return;
    candidate *h = (candidate *)(void *)m->heap.data;
    size_t i = m->heap.n / sizeof c - 1;
    for (; i > 0 && goes_before(&c, &h[(i - 1) / 2]); i = (i - 1) / 2)
        h[i] = h[(i - 1) / 2];
    h[i] = c;
}

/* The best candidate; false for an empty heap. */
static bool heap_take(merging *m, candidate *out)
{
    if (m->heap.n == 0) return false;
    candidate *h = (candidate *)(void *)m->heap.data;
    size_t n = m->heap.n / sizeof *h - 1, i = 0;
    candidate last = h[n];
    *out = h[0];
    m->heap.n -= sizeof *h;
    for (size_t k; (k = 2 * i + 1) < n; i = k) {
        if (k + 1 < n && goes_before(&h[k + 1], &h[k])) k++;
        if (!goes_before(&h[k], &last)) break;
        h[i] = h[k];
    }
    if (n > 0) h[i] = last;
    return true;
}

/* The merge of symbol 'left' with the one behind it; false: none. */
static bool candidate_of(const merging *m, int32_t left, candidate *out)
{
    const symbol *s = symbols_of(m);
    if (left < 0 || s[left].next < 0) return false;
    const symbol *a = &s[left], *b = &s[a->next];
    *out = (candidate){.left = left, .n = a->n + b->n};
    if (m->v->kind == LA_VOCAB_BPE) {
        const la_vocab_pair *p = la_vocab_pair_of(m->v, a->id, b->id);
        if (!p) return false;
        out->key = p->rank;
        out->id = p->id;
        return true;
    }
    if (out->n > (uint32_t)m->v->longest) return false;
    out->id = la_vocab_id(m->v, m->text + a->at, out->n);
    if (out->id < 0) return false;
    out->key = -(double)((const float *)(const void *)m->v->scores.data)
        [out->id];
    return true;
}

/* The merge of symbol 'left' joins the heap, if there is one. */
static void consider(merging *m, int32_t left)
{
    candidate c;
    if (candidate_of(m, left, &c)) heap_put(m, c);
}

/* A character each; the last one takes the suffix of words, too. */
static void split_symbols(merging *m, size_t n, size_t suffix)
{
    const char *at = m->text, *end = m->text + n;
    uint32_t code;
    for (int32_t i = 0; at < end; i++) {
        size_t k = (size_t)la_utf8_next(at, end, &code);
        if (suffix > 0 && (size_t)(end - at) <= k + suffix)
            k = (size_t)(end - at);
        symbol s = {(uint32_t)(at - m->text), (uint32_t)k, i - 1, i + 1,
                    la_vocab_id(m->v, at, k)};
        at += k;
        if (at == end) s.next = -1;
        la_bytes_put(&m->symbols, &s, sizeof s);
    }
}

/* Merges the best candidate again and again. One is out of date when one of its
** symbols has been merged since: what they would become has another length. */
static la_status merge_all(merging *m)
{
    candidate c, now;
    symbol *s = symbols_of(m);
    for (int steps = 0; heap_take(m, &c); steps++) {
        if (steps % 4096 == 0) LA_TRY(la_poll());
        symbol *a = &s[c.left];
        if (a->n == 0 || !candidate_of(m, c.left, &now) || now.n != c.n
            || now.id != c.id) continue;
        symbol *b = &s[a->next];
        a->n = c.n;
        a->id = c.id;
        a->next = b->next;
        b->n = 0;
        if (a->next >= 0) s[a->next].before = c.left;
        consider(m, a->before);
        consider(m, c.left);
    }
    return m->heap.status;
}

/* The symbols of a word, merged, as ids. */
static la_status merge_word(const la_vocab *v, merging *m, size_t n,
                            size_t suffix, la_bytes *out)
{
    size_t from = out->n;
    if (n > INT32_MAX) return la_error(LA_EARG, "the text is too long");
    split_symbols(m, n, suffix);
    LA_TRY(m->symbols.status);
    int32_t count = (int32_t)(m->symbols.n / sizeof(symbol));
    for (int32_t i = 0; i + 1 < count; i++) consider(m, i);
    LA_TRY(merge_all(m));
    const symbol *s = symbols_of(m);
    for (int32_t i = count > 0 ? 0 : -1; i >= 0; i = s[i].next)
        if (s[i].id >= 0) put_id(out, s[i].id);
        else put_unknown(v, m->text + s[i].at, s[i].n, from, out);
    return out->status;
}

static la_status words_merge(const la_vocab *v, const char *text, size_t n,
                             la_bytes *out)
{
    merging m = {.v = v, .text = text};
    LA_BYTES whole = {0};
    size_t suffix = strlen(v->suffix);
    if (v->ignore_merges && la_vocab_id(v, text, n) >= 0) {
        put_id(out, la_vocab_id(v, text, n));
        return out->status;
    }
    if (suffix > 0) {
        la_bytes_put(&whole, text, n);
        la_bytes_put(&whole, v->suffix, suffix);
        if (whole.status) return whole.status;
        m.text = (const char *)whole.data;
    }
    la_status status = merge_word(v, &m, n + suffix, suffix, out);
    la_bytes_free(&m.symbols);
    la_bytes_free(&m.heap);
    return status;
}

/* ---- the most probable path ---- */

typedef struct path {
    double score;
    int32_t id;               /* that ends here; -1: unknown */
    uint32_t from;
} path;

/* The best path to each byte, by the paths to earlier ones. A character that no
** token begins with costs more than any token. */
static la_status find_paths(const la_vocab *v, const char *text, size_t n,
                            path *best)
{
    const float *scores = (const float *)(const void *)v->scores.data;
    uint32_t code;
    for (size_t i = 0, k; i < n; i += k) {
        k = (size_t)la_utf8_next(text + i, text + n, &code);
        bool single = false;
        if (i % 4096 < k) LA_TRY(la_poll());
        for (size_t j = 1; j <= (size_t)v->longest && i + j <= n; j++) {
            int32_t id = la_vocab_id(v, text + i, j);
            if (id < 0) continue;
            single |= j == k;
            double score = best[i].score + (double)scores[id];
            if (score > best[i + j].score)
                best[i + j] = (path){score, id, (uint32_t)i};
        }
        double score = best[i].score + (double)v->least - 10;
        if (!single && score > best[i + k].score)
            best[i + k] = (path){score, -1, (uint32_t)i};
    }
    return LA_OK;
}

/* The best path is walked from the end, its links are reversed on the way. */
static la_status words_path(const la_vocab *v, const char *text, size_t n,
                            la_bytes *out)
{
    LA_BYTES all = {0};
    size_t from = out->n;
    if (n > INT32_MAX) return la_error(LA_EARG, "the text is too long");
    for (size_t i = 0; i <= n && !all.status; i++) {
        path p = {i ? -INFINITY : 0, -1, 0};
        la_bytes_put(&all, &p, sizeof p);
    }
    LA_TRY(all.status);
    path *best = (path *)(void *)all.data;
    LA_TRY(find_paths(v, text, n, best));
    for (size_t i = n, next = 0; i > 0; ) {         /* from the begin now */
        size_t before = best[i].from;
        best[i].from = (uint32_t)next;
        next = i;
        i = before;
        if (i == 0) best[0].from = (uint32_t)next;
    }
    for (size_t i = 0; n > 0 && i < n; i = best[i].from) {
        size_t end = best[i].from;
        if (best[end].id >= 0) put_id(out, best[end].id);
        else put_unknown(v, text + i, end - i, from, out);
    }
    return out->status;
}

/* ---- the longest from the left ---- */

/* The number of characters, by the bytes that begin one. */
static int64_t characters(const char *text, size_t n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i++) count += ((uint8_t)text[i] & 0xc0) != 0x80;
    return count;
}

/* The longest token at 'i', with the prefix of parts where it is no first one.
** Its bytes in *length. */
static int32_t longest_at(const la_vocab *v, const char *text, size_t n,
                          size_t i, size_t *length)
{
    char word[1024];
    const char *prefix = i > 0 ? v->next : "";
    size_t p = strlen(prefix), most = n - i;
    if (most + p > sizeof word) most = sizeof word - p;
    if (most > (size_t)v->longest) most = (size_t)v->longest;
    memcpy(word, prefix, p);
    memcpy(word + p, text + i, most);
    for (size_t k = most; k > 0; k--) {
        int32_t id = la_vocab_id(v, word, p + k);
        *length = k;
        if (id >= 0) return id;
    }
    return -1;
}

static la_status words_longest(const la_vocab *v, const char *text, size_t n,
                               la_bytes *out)
{
    LA_BYTES word = {0};
    size_t from = out->n, k = 0;
    la_bytes_put(&word, v->start, strlen(v->start));
    la_bytes_put(&word, text, n);
    LA_TRY(word.status);
    bool known = characters(text, n) <= v->most;
    for (size_t i = 0; known && i < word.n; i += k) {
        if (i % 4096 < k) LA_TRY(la_poll());
        int32_t id = longest_at(v, (const char *)word.data, word.n, i, &k);
        known = id >= 0;
        if (known) put_id(out, id);
    }
    if (known) return out->status;
    out->n = from;
    if (v->unknown >= 0) put_id(out, v->unknown);
    return out->status;
}

la_status la_vocab_encode(const la_vocab *v, const char *text, size_t n,
                          la_bytes *out)
{
    if (n == 0) return LA_OK;
    if (v->kind == LA_VOCAB_UNIGRAM) return words_path(v, text, n, out);
    if (v->kind == LA_VOCAB_WORDPIECE) return words_longest(v, text, n, out);
    return words_merge(v, text, n, out);
}
