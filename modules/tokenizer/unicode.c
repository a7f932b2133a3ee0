/* Characters and normal forms (Unicode Standard Annex 15). */
#include "modules/tokenizer/unicode.h"

#include <string.h>

#include "modules/tokenizer/unicode_tables.h"

/* ---- UTF-8 ---- */

/* Is it a byte inside of a character? */
static bool continues(const char *at) { return ((uint8_t)*at & 0xc0) == 0x80; }

int la_utf8_next(const char *at, const char *end, uint32_t *code)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t c = (uint8_t)*at;
    int n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3
        : c < 0xf5 ? 4 : 0;
    uint32_t v = n == 1 ? c : c & (0xffu >> (n + 1));
    bool ok = n > 0 && end - at >= n;
    for (int k = 1; ok && k < n; k++) {
        ok = continues(at + k);
        v = v << 6 | ((uint8_t)at[k] & 63);
    }
    ok = ok && v >= least[n] && v <= 0x10ffff && (v < 0xd800 || v > 0xdfff);
    *code = ok ? v : 0xfffd;
    return ok ? n : 1;
}

const char *la_utf8_before(const char *begin, const char *at)
{
    uint32_t code;
    for (int k = 2; k <= 4 && at - begin >= k; k++) {
        if (!continues(at - k + 1)) break;
        if (!continues(at - k) && la_utf8_next(at - k, at, &code) == k)
            return at - k;
    }
    return at - 1;
}

void la_utf8_put(la_bytes *out, uint32_t c)
{
    if (c < 0x80) {
        la_bytes_put_byte(out, c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t lead[4] = {0, 0xc0, 0xe0, 0xf0};
    la_bytes_put_byte(out, lead[more] | c >> 6 * more);
    while (more-- > 0) la_bytes_put_byte(out, 0x80 | (c >> 6 * more & 63));
}

/* ---- properties ---- */

/* The last of n sorted numbers that is at most 'x'; -1: none. */
static int find_last(const uint32_t *list, int n, uint32_t x)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (list[middle] <= x) low = middle + 1;
        else high = middle;
    }
    return low - 1;
}

/* The index of 'x' among them; -1: none. */
static int find_code(const uint32_t *list, int n, uint32_t x)
{
    int k = find_last(list, n, x);
    return k >= 0 && list[k] == x ? k : -1;
}

la_letter_kind la_unicode_category(uint32_t code)
{
    const la_unicode_tables *t = la_unicode_tables_here();
    int k = find_last(t->categories, t->ncategories, code << 8 | 0xff);
    return (la_letter_kind)(t->categories[k] & 0xff);
}

bool la_unicode_is_space(uint32_t c)
{
    if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13);
    la_letter_kind k = la_unicode_category(c);
    return c == 0x85 || k == LA_CAT_ZS || k == LA_CAT_ZL || k == LA_CAT_ZP;
}

static uint32_t unicode_lower(uint32_t c)
{
    if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
    const la_unicode_tables *t = la_unicode_tables_here();
    for (int k = 0; k < t->nlower; k++) {
        const la_small_letters *run = t->lower + k;
        if (c >= run->first && c <= run->last
            && (c - run->first) % run->step == 0)
            return (uint32_t)((int32_t)c + run->difference);
    }
    return c;
}

/* The capital I with a dot is the only letter that two stand for. */
void la_unicode_put_lower(la_bytes *out, const char *text, size_t n)
{
    const char *end = text + n;
    uint32_t c;
    for (int k; text < end; text += k) {
        k = la_utf8_next(text, end, &c);
        if (c == 0xfffd) la_bytes_put(out, text, (size_t)k);
        else la_utf8_put(out, c == 0x130 ? 'i' : unicode_lower(c));
        if (c == 0x130) la_utf8_put(out, 0x307);
    }
}

/* ---- normal forms ---- */

/* The combining class: 0 for starters, which no mark passes. */
static unsigned class_of(uint32_t c)
{
    if (c < 0x300) return 0;
    const la_unicode_tables *t = la_unicode_tables_here();
    int k = find_last(t->classes, t->nclasses, c << 8 | 0xff);
    return k >= 0 && t->classes[k] >> 8 == c ? t->classes[k] & 0xff : 0;
}

/* Codes are kept as 32-bit numbers until they are in order. */
static void put_code(la_bytes *out, uint32_t c)
{
    la_bytes_put(out, &c, sizeof c);
}

/* Hangul syllables are made of 19 * 21 * 28 parts. */
enum { SYLLABLE = 0xac00, LEAD = 0x1100, VOWEL = 0x1161, TAIL = 0x11a7,
       VOWELS = 21, TAILS = 28, SYLLABLES = 19 * VOWELS * TAILS };

/* A character that has no canonical parts, or its compatible ones. */
static void put_part(la_bytes *out, const la_unicode_tables *t, uint32_t c,
                     bool compatible)
{
    int k = compatible ? find_code(t->compatible, t->ncompatible, c) : -1;
    if (k < 0) {
        put_code(out, c);
        return;
    }
    int from = t->starts[k], n = t->starts[k + 1] - from;
    la_bytes_put(out, t->parts + from, (size_t)n * sizeof *t->parts);
}

/* The parts of a character, in the end: first parts are taken apart again, the
** second ones wait for them. */
static void put_decomposed(la_bytes *out, uint32_t c, bool compatible)
{
    enum { DEEPEST = 8 };
    uint32_t s = c - SYLLABLE, behind[DEEPEST];
    if (c < 0xa0) {
        put_code(out, c);
        return;
    }
    if (s < SYLLABLES) {
        put_code(out, LEAD + s / (VOWELS * TAILS));
        put_code(out, VOWEL + s / TAILS % VOWELS);
        if (s % TAILS) put_code(out, TAIL + s % TAILS);
        return;
    }
    const la_unicode_tables *t = la_unicode_tables_here();
    int n = 0;
    for (int k; n < DEEPEST; c = t->first[k]) {
        k = find_code(t->canonical, t->ncanonical, c);
        if (k < 0) break;
        if (t->second[k]) behind[n++] = t->second[k];
    }
    put_part(out, t, c, compatible);
    while (n > 0) put_part(out, t, behind[--n], compatible);
}

/* Marks in a row are sorted by class, those of one class stay in order: a pass
** for each class, as a text may be a million marks. */
static void sort_marks(uint32_t *c, size_t n, la_bytes *spare)
{
    spare->n = 0;
    for (unsigned k = 1; k < 256; k++)
        for (size_t i = 0; i < n; i++)
            if (class_of(c[i]) == k) put_code(spare, c[i]);
    if (!spare->status) memcpy(c, spare->data, n * sizeof *c);
}

/* The canonical order: runs of marks, each for itself. Most are in order. */
static void sort_all_marks(la_bytes *codes)
{
    LA_BYTES spare = {0};
    uint32_t *c = (uint32_t *)(void *)codes->data;
    size_t n = codes->n / sizeof *c;
    for (size_t i = 0; i < n; i++) {
        size_t first = i;
        bool sorted = true;
        for (; i < n && class_of(c[i]); i++)
            if (i > first && class_of(c[i]) < class_of(c[i - 1]))
                sorted = false;
        if (!sorted) sort_marks(c + first, i - first, &spare);
    }
    if (spare.status) codes->status = spare.status;
}

/* The code of a and b together; 0: none. */
static uint32_t composed_of(uint32_t a, uint32_t b)
{
    uint32_t l = a - LEAD, v = b - VOWEL, s = a - SYLLABLE, t = b - TAIL;
    if (l < 19 && v < VOWELS) return SYLLABLE + (l * VOWELS + v) * TAILS;
    if (s < SYLLABLES && s % TAILS == 0 && t > 0 && t < TAILS) return a + t;
    const la_unicode_tables *all = la_unicode_tables_here();
    int k = find_last(all->composing, all->ncompositions, a);
    for (; k >= 0 && all->composing[k] == a; k--) {
        int index = all->compositions[k];
        if (all->second[index] == b) return all->canonical[index];
    }
    return 0;
}

/* Characters join the last starter before them, where no mark of their class or
** a higher one stands between. The new length. */
static size_t compose(uint32_t *c, size_t n)
{
    size_t out = 0, starter = 0;
    unsigned last = 256;                /* no starter so far */
    for (size_t i = 0; i < n; i++) {
        unsigned k = class_of(c[i]);
        bool free = last < k || (last == 0 && out == starter + 1);
        uint32_t both = free ? composed_of(c[starter], c[i]) : 0;
        if (both) {
            c[starter] = both;
            continue;
        }
        if (k == 0) starter = out;
        last = k == 0 ? 0 : last == 256 ? 256 : k;
        c[out++] = c[i];
    }
    return out;
}

la_status la_unicode_normalize(la_bytes *out, const char *text, size_t n,
                               bool compatible, bool composed)
{
    LA_BYTES codes = {0};
    const char *end = text + n;
    uint32_t c;
    for (int k; text < end; text += k) {
        k = la_utf8_next(text, end, &c);
        put_decomposed(&codes, c, compatible);
    }
    if (!codes.status) sort_all_marks(&codes);
    if (codes.status) return codes.status;
    uint32_t *list = (uint32_t *)(void *)codes.data;
    n = codes.n / sizeof *list;
    if (composed) n = compose(list, n);
    for (size_t i = 0; i < n; i++) la_utf8_put(out, list[i]);
    return out->status;
}
