/*
** Fields of comma-separated values, and what they say. Numbers are read here,
** and not by strtod, as that follows the locale, takes hexadecimal ones and is
** slow.
*/
#include "modules/csv/io/csv.h"

#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"

/* ---- fields ---- */

/* The high bit of each byte that is zero, up to the first such byte. */
static uint64_t zero_bytes(uint64_t v)
{
    return (v - UINT64_C(0x0101010101010101)) & ~v
        & UINT64_C(0x8080808080808080);
}

const char *la_csv_find(const char *p, const char *end, char a, char b)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t both[2] = {ones * (unsigned char)a, ones * (unsigned char)b}, v;
    for (; end - p >= 8; p += 8) {
        memcpy(&v, p, sizeof v);
        if (zero_bytes(v ^ both[0]) | zero_bytes(v ^ both[1])) break;
    }
    while (p < end && *p != a && *p != b) p++;
    return p;
}

const char *la_csv_closing(const char *p, const char *end, bool *doubled)
{
    for (;; p += 2) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p || p + 1 == end || p[1] != '"') return p;
        if (doubled) *doubled = true;
    }
}

/* CRLF or LF at 'p'? Its length, or 0. */
static size_t line_end(const la_csv *c, const char *p)
{
    if (p < c->end && *p == '\n') return 1;
    return p + 1 < c->end && p[0] == '\r' && p[1] == '\n' ? 2 : 0;
}

bool la_csv_more(la_csv *c)
{
    for (size_t n; (n = line_end(c, c->at)); c->line++) c->at += n;
    return c->at < c->end;
}

/* Quotes are none here: what is passed over need not be of the grammar. */
void la_csv_skip(la_csv *c, int64_t n)
{
    for (; n > 0 && c->at < c->end; n--, c->line++) {
        const char *p = la_csv_find(c->at, c->end, '\n', '\r');
        p += p < c->end && *p == '\r' && p[1] == '\n';
        c->at = p < c->end ? p + 1 : c->end;
    }
}

/* ---- lone CRs ---- */

/* The bytes of 'v' that are 'byte', as ones in their lowest bits. */
static uint64_t bytes_of(uint64_t v, unsigned char byte)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    v ^= UINT64_C(0x0101010101010101) * byte;
    return ~((((v & low) + low) | v) | low) >> 7;
}

/* Text that threads look through for a CR without its LF. */
typedef struct lookout { const char *text; atomic_bool found; } lookout;

static void look_for_lone(int64_t begin, int64_t end, void *context)
{
    lookout *job = context;
    uint64_t lone = 0, v, next;
    const char *p = job->text + 8 * begin;
    if (!memchr(p, '\r', (size_t)(8 * (end - begin)))) return;
    for (int64_t k = begin; k < end; k++) {     /* no branch: in vectors */
        memcpy(&v, job->text + 8 * k, sizeof v);
        memcpy(&next, job->text + 8 * k + 1, sizeof next);
        lone |= bytes_of(v, '\r') & ~bytes_of(next, '\n');
    }
    if (lone) atomic_store_explicit(&job->found, true, memory_order_relaxed);
}

/* A quote opens a field where one begins. */
la_status la_csv_unify(const la_csv *c, char *p)
{
    char *end = p + (c->end - c->at), *poll = p;
    lookout job = {.text = p};
    la_parallel_for((end - p + 7) / 8, 1 << 12, look_for_lone, &job);
    if (!atomic_load(&job.found)) return LA_OK;
    for (bool begins = true; p < end; ) {
        if (p >= poll) {
            LA_TRY(la_poll());
            poll = p + (1 << 20);
        }
        if (begins && *p == '"') {
            const char *closing = la_csv_closing(p + 1, end, NULL);
            p = closing ? p + (closing + 1 - p) : end;
            begins = false;
            continue;
        }
        if (*p == '\r' && (p + 1 == end || p[1] != '\n')) *p = '\n';
        begins = *p == '\n' || *p == c->separator;
        p++;
    }
    return LA_OK;
}

/* Behind a field there is a separator, or the row ends. */
static la_status end_field(la_csv *c, la_csv_field *out)
{
    size_t n = line_end(c, c->at);
    out->last = n || c->at == c->end;
    if (n) c->line++;
    else if (!out->last && *c->at != c->separator) {
        char byte[8];
        return la_error(LA_EIO, "line %lld: '%s' behind a closing quote",
                        (long long)c->line, la_quote(c->at, 1, byte,
                                                     sizeof byte));
    }
    c->at += n ? n : !out->last;
    return LA_OK;
}

/* The text up to the closing quote; doubled ones are halved in scratch. */
static la_status next_quoted(la_csv *c, la_csv_field *out)
{
    const char *from = ++c->at, *begin = from;
    int64_t line = c->line;
    bool doubled = false;
    c->scratch->n = 0;
    for (;; c->at++) {
        const char *p = memchr(c->at, '"', (size_t)(c->end - c->at));
        if (!p)
            return la_error(LA_EIO, "line %lld: a quote without its end",
                            (long long)line);
        for (const char *q = c->at; q < p; q++)
            c->line += *q == '\n' || (*q == '\r' && q[1] != '\n');
        c->at = p;
        bool more = p + 1 < c->end && p[1] == '"';
        if (!more && !doubled) break;
        la_bytes_put(c->scratch, from, (size_t)(p + more - from));
        if (!more) break;
        doubled = true;
        c->at++;
        from = c->at + 1;
    }
    *out = (la_csv_field){from, (size_t)(c->at - from), false, true, begin,
                          (size_t)(c->at - begin), doubled};
    if (doubled) {
        out->text = (const char *)c->scratch->data;
        out->n = c->scratch->n;
    }
    c->at++;
    if (doubled && c->scratch->status) return c->scratch->status;
    return end_field(c, out);
}

la_status la_csv_next(la_csv *c, la_csv_field *out)
{
    if (c->at < c->end && *c->at == '"') return next_quoted(c, out);
    const char *p = c->at;
    p = la_csv_find(p, c->end, c->separator, '\n');
    if (p > c->at && p < c->end && *p == '\n' && p[-1] == '\r') p--;
    size_t n = (size_t)(p - c->at);
    *out = (la_csv_field){c->at, n, false, false, c->at, n, false};
    c->at = p;
    return end_field(c, out);
}

/* ---- numbers ---- */

enum { LONGEST = 800 };         /* bytes of a number */

/* Are the n bytes that word, in any case? */
static bool is_word(const char *p, size_t n, const char *word)
{
    return n == strlen(word) && la_same_letters(p, word, n);
}

/* Magnitude of all digits where it is below 2^64. */
static bool csv_whole(const char *p, const char *end, uint64_t *out)
{
    *out = 0;
    for (; p < end; p++)
        if (__builtin_mul_overflow(*out, 10, out)
            || __builtin_add_overflow(*out, (uint64_t)(*p - '0'), out))
            return false;
    return true;
}

/* A number without its sign, from p to end. */
static bool read_number(const char *p, const char *end, la_csv_value *out)
{
    la_decimal_text t = la_decimal_read(p, end);
    if (t.end == p || t.end != end) return false;
    bool integer = t.whole && csv_whole(p, end, &out->magnitude);
    out->kind = integer ? LA_CSV_INTEGER : LA_CSV_FLOAT;
    out->number = integer ? (double)out->magnitude : t.value;
    return true;
}

/* true or false as they are usually written. */
static bool read_bool(const char *p, size_t n, la_csv_value *out)
{
    static const char *const words[] = {"false", "true", "False", "True",
                                        "FALSE", "TRUE"};
    for (unsigned k = 0; k < 6; k++)
        if (n == strlen(words[k]) && memcmp(p, words[k], n) == 0) {
            out->kind = LA_CSV_BOOL;
            out->magnitude = k & 1;
            return true;
        }
    return false;
}

void la_csv_read(const char *text, size_t n, la_csv_value *out)
{
    const char *p = text, *end = text + n;
    *out = (la_csv_value){.kind = LA_CSV_TEXT};
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t')) end--;
    if (p == end || end - p > LONGEST) return;
    if (read_bool(p, (size_t)(end - p), out)) return;
    bool minus = *p == '-';
    p += minus || *p == '+';
    n = (size_t)(end - p);
    if (is_word(p, n, "inf") || is_word(p, n, "infinity")) {
        out->kind = LA_CSV_FLOAT;
        out->number = INFINITY;
    } else if (is_word(p, n, "nan")) {
        out->kind = LA_CSV_FLOAT;
        out->number = NAN;
    } else if (!read_number(p, end, out)) {
        return;
    }
    out->negative = minus;
    if (minus) out->number = -out->number;
}

/* The number with a point and without marks of thousands, which stand between
** digits of the whole part; 0 for what is none. */
static size_t csv_plain(const char *p, size_t n, la_csv_marks m, char *out)
{
    size_t k = 0;
    bool whole = true;
    for (size_t i = 0; i < n; i++) {
        bool between = i > 0 && i + 1 < n && (unsigned)(p[i - 1] - '0') <= 9
            && (unsigned)(p[i + 1] - '0') <= 9;
        if (m.thousands && p[i] == m.thousands && whole && between) continue;
        if (p[i] == m.decimal || p[i] == 'e' || p[i] == 'E') whole = false;
        if (p[i] == '.' && m.decimal != '.') return 0;
        out[k++] = p[i] == m.decimal ? '.' : p[i];
    }
    return k;
}

void la_csv_read_as(const char *text, size_t n, la_csv_marks m,
                    la_csv_value *out)
{
    char plain[LONGEST + 1];
    la_csv_read(text, n, out);
    if ((m.decimal == '.' && !m.thousands) || n > LONGEST
        || out->kind == LA_CSV_BOOL) return;
    *out = (la_csv_value){.kind = LA_CSV_TEXT};
    n = csv_plain(text, n, m, plain);
    if (n) la_csv_read(plain, n, out);
}
