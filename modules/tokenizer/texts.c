/* Texts before and behind their words. */
#include "modules/tokenizer/texts.h"

#include <string.h>

#include "modules/tokenizer/unicode.h"

/* ---- bytes as characters ---- */

/* Visible characters of Latin-1 stand for themselves, all other bytes for the
** characters from 256 on, in order. */
static bool stands_for_itself(unsigned b)
{
    return (b > 32 && b < 127) || (b > 160 && b != 173);
}

/* Counts the bytes before that have no visible character. */
static uint32_t character_of(unsigned byte)
{
    uint32_t n = 256;
    if (stands_for_itself(byte)) return byte;
    for (unsigned b = 0; b < byte; b++) n += !stands_for_itself(b);
    return n;
}

void la_text_put_bytes(la_bytes *out, const char *text, size_t n)
{
    uint32_t table[256];
    for (unsigned b = 0; b < 256; b++) table[b] = character_of(b);
    for (size_t i = 0; i < n; i++) la_utf8_put(out, table[(uint8_t)text[i]]);
}

void la_text_from_bytes(la_bytes *out, const char *text, size_t n)
{
    const char *end = text + n;
    uint8_t table[512];
    bool known[512] = {false};
    uint32_t c;
    for (unsigned b = 0; b < 256; b++) {
        table[character_of(b)] = (uint8_t)b;
        known[character_of(b)] = true;
    }
    for (int k; text < end; text += k) {
        k = la_utf8_next(text, end, &c);
        if (c < 512 && known[c]) la_bytes_put_byte(out, table[c]);
        else la_bytes_put(out, text, (size_t)k);
    }
}

/* ---- BERT ---- */

/* The blocks of ideographs that BERT takes for words of their own. */
static bool is_chinese(uint32_t c)
{
    return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf)
        || (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2b73f)
        || (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf)
        || (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

/* One character, as the cleaning says. */
static void put_clean(la_bytes *out, uint32_t c, const char *at, int k,
                      la_text_cleaning how)
{
    la_letter_kind kind = la_unicode_category(c);
    bool control = kind >= LA_CAT_CC && kind <= LA_CAT_CS;
    bool space = la_unicode_is_space(c);
    if (how.clean && !space && (c == 0 || c == 0xfffd || control))
        return;
    if (how.accents && kind == LA_CAT_MN) return;
    bool apart = how.chinese && is_chinese(c);
    if (apart) la_bytes_put_byte(out, ' ');
    if (how.clean && space) la_bytes_put_byte(out, ' ');
    else if (how.lower) la_unicode_put_lower(out, at, (size_t)k);
    else la_bytes_put(out, at, (size_t)k);
    if (apart) la_bytes_put_byte(out, ' ');
}

void la_text_clean(la_bytes *out, const char *text, size_t n,
                   la_text_cleaning how)
{
    LA_BYTES apart = {0};
    uint32_t c;
    if (how.accents) {
        out->status = la_unicode_normalize(&apart, text, n, false, false);
        if (out->status) return;
        text = (const char *)apart.data;
        n = apart.n;
    }
    for (size_t i = 0, k; i < n; i += k) {
        k = (size_t)la_utf8_next(text + i, text + n, &c);
        put_clean(out, c, text + i, (int)k, how);
    }
}

/* All signs of ASCII, and punctuation elsewhere. */
static bool is_punctuation(uint32_t c)
{
    if (c < 128) return c > 32 && c < 127 && !(c >= '0' && c <= '9')
        && !((c | 32) >= 'a' && (c | 32) <= 'z');
    la_letter_kind k = la_unicode_category(c);
    return k >= LA_CAT_PC && k <= LA_CAT_PS;
}

const char *la_text_word(const char *at, const char *end)
{
    uint32_t c;
    int k = la_utf8_next(at, end, &c);
    if (is_punctuation(c)) return at + k;
    while (at < end) {
        k = la_utf8_next(at, end, &c);
        if (is_punctuation(c) || la_unicode_is_space(c)) break;
        at += k;
    }
    return at;
}

/* ---- maps of SentencePiece ---- */

/* Units of the array are 32 bits, not aligned in the file. */
static uint32_t unit_at(const char *units, size_t i)
{
    const uint8_t *p = (const uint8_t *)units + 4 * i;
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16
        | (uint32_t)p[3] << 24;
}

/* The distance to the children of a node; bit 9 says that it is in units of
** 256. */
static uint32_t unit_offset(uint32_t unit)
{
    return unit >> 10 << ((unit & 1u << 9) >> 6);
}

/* The longest prefix of the text that the array has; its bytes, 0 for none, and
** the number that it leads to. */
static size_t longest_prefix(const char *units, size_t count, const char *text,
                             size_t n, uint32_t *value)
{
    size_t at = unit_offset(unit_at(units, 0)), found = 0;
    for (size_t k = 0; k < n; k++) {
        uint8_t c = (uint8_t)text[k];
        at ^= c;
        if (at >= count) break;
        uint32_t unit = unit_at(units, at);
        if ((unit & (1u << 31 | 0xff)) != c) break;
        at ^= unit_offset(unit);
        if (unit >> 8 & 1) {
            if (at >= count) break;
            *value = unit_at(units, at) & 0x7fffffff;
            found = k + 1;
        }
    }
    return found;
}

la_status la_text_map(la_bytes *out, const char *map, size_t size,
                      const char *text, size_t n)
{
    size_t bytes = size >= 4 ? unit_at(map, 0) : 0;
    if (bytes < 4 || bytes % 4 || bytes > size - 4)
        return la_error(LA_EARG, "a map of %zu bytes is damaged", size);
    const char *texts = map + 4 + bytes;
    size_t left = size - 4 - bytes;
    for (size_t i = 0, k; i < n; i += k) {
        uint32_t code, value = 0;
        k = longest_prefix(map + 4, bytes / 4, text + i, n - i, &value);
        if (k > 0 && value < left) {
            const char *end = memchr(texts + value, 0, left - value);
            la_bytes_put(out, texts + value, end ? (size_t)(end - texts - value)
                                                 : left - value);
            continue;
        }
        k = (size_t)la_utf8_next(text + i, text + n, &code);
        if (code == 0xfffd) la_utf8_put(out, code);
        else la_bytes_put(out, text + i, k);
    }
    return out->status;
}
