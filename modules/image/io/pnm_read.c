/*
** Reading PBM, PGM and PPM (Netpbm's P1 to P6), as text or bytes. Samples
** below the full value of 8 or 16 bits are scaled to it.
*/
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/size.h"
#include "modules/image/io/image.h"

typedef struct pnm {
    const unsigned char *bytes;
    int64_t n, at;
    int kind;                   /* 1 to 6 */
    int64_t width, height, most;        /* most: the value of white */
} pnm;

static la_status pnm_truncated(const pnm *p)
{
    return la_error(LA_EIO, "truncated at byte %lld", (long long)p->n);
}

static bool pnm_is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Spaces, and comments up to the end of their line. */
static void pnm_skip(pnm *p)
{
    while (p->at < p->n) {
        if (p->bytes[p->at] == '#')
            while (p->at < p->n && p->bytes[p->at] != '\n') p->at++;
        else if (!pnm_is_space(p->bytes[p->at])) return;
        else p->at++;
    }
}

/* The next number; a bit of P1 is one digit, and needs no space behind it. */
static la_status pnm_number(pnm *p, bool digit, int64_t *out)
{
    int64_t v = 0, digits = 0;
    pnm_skip(p);
    while (p->at < p->n && p->bytes[p->at] >= '0' && p->bytes[p->at] <= '9'
           && (!digit || !digits)) {
        v = 10 * v + (p->bytes[p->at++] - '0');
        digits++;
        if (v > INT32_MAX)
            return la_error(LA_EIO, "malformed image (a number too large)");
    }
    if (!digits)
        return p->at >= p->n ? pnm_truncated(p)
            : la_error(LA_EIO, "malformed image (a number expected at byte"
                       " %lld)", (long long)p->at);
    *out = v;
    return LA_OK;
}

static bool pnm_is_text(const pnm *p) { return p->kind <= 3; }
static bool pnm_is_bits(const pnm *p) { return p->kind % 3 == 1; }
static int pnm_channels(const pnm *p) { return p->kind % 3 == 0 ? 3 : 1; }

/* Reads the header. */
static la_status pnm_open(const la_reader *source, pnm *p)
{
    *p = (pnm){.bytes = (const unsigned char *)source->memory,
               .n = source->size, .at = 2, .most = 1};
    p->kind = p->bytes[1] - '0';
    LA_TRY(pnm_number(p, false, &p->width));
    LA_TRY(pnm_number(p, false, &p->height));
    if (!pnm_is_bits(p)) LA_TRY(pnm_number(p, false, &p->most));
    if (!p->width || !p->height || p->most < 1 || p->most > 65535)
        return la_error(LA_EIO, "malformed image (%lld x %lld, most %lld)",
                        (long long)p->width, (long long)p->height,
                        (long long)p->most);
    if (!pnm_is_text(p)) p->at++;       /* exactly one space */
    return LA_OK;
}

la_status la_pnm_info(const la_reader *source, la_image_info *out)
{
    pnm p;
    LA_TRY(pnm_open(source, &p));
    out->width = p.width;
    out->height = p.height;
    out->channels = pnm_channels(&p);
    out->bits = p.most > 255 ? 16 : 8;
    return LA_OK;
}

/* Bytes that a row of so many samples takes; as text at least. */
static int64_t pnm_row_bytes(const pnm *p, int64_t row)
{
    return pnm_is_text(p) ? row
        : pnm_is_bits(p) ? (row + 7) / 8 : row * (p->most > 255 ? 2 : 1);
}

/* Sample k of a row that begins at 'row'. */
static la_status pnm_sample(pnm *p, const unsigned char *row, int64_t k,
                            int64_t *v)
{
    if (pnm_is_text(p)) LA_TRY(pnm_number(p, pnm_is_bits(p), v));
    else if (pnm_is_bits(p)) *v = row[k / 8] >> (7 - k % 8) & 1;
    else if (p->most > 255) *v = row[2 * k] << 8 | row[2 * k + 1];
    else *v = row[k];
    if (*v > p->most)
        return la_error(LA_EIO, "malformed image (%lld, where %lld is the"
                        " most)", (long long)*v, (long long)p->most);
    if (pnm_is_bits(p)) *v = 1 - *v;    /* 1 is black */
    return LA_OK;
}

la_status la_pnm_read(const la_reader *source, la_tensor **out)
{
    pnm p;
    LA_TRY(pnm_open(source, &p));
    int channels = pnm_channels(&p);
    int64_t row = p.width * channels, sizes[3] = {p.height, p.width, channels};
    bool wide = p.most > 255;
    int64_t full = wide ? 65535 : 255, least = 0;
    if (!la_mul_ok(pnm_row_bytes(&p, row), p.height, &least)
        || least > p.n - p.at)
        return pnm_truncated(&p);
    LA_LET(t, la_tensor_empty(3, sizes, wide ? LA_UINT16 : LA_UINT8, &t));
    for (int64_t y = 0; y < p.height; y++) {
        const unsigned char *from = p.bytes + p.at;
        int64_t at = y * row;
        LA_TRY(la_poll());
        for (int64_t k = 0; k < row; k++) {
            int64_t v = 0;
            LA_TRY(pnm_sample(&p, from, k, &v));
            v = (v * full + p.most / 2) / p.most;
            if (wide) ((uint16_t *)la_data(t))[at + k] = (uint16_t)v;
            else ((uint8_t *)la_data(t))[at + k] = (uint8_t)v;
        }
        if (!pnm_is_text(&p)) p.at += pnm_row_bytes(&p, row);
    }
    return la_tensor_hand(&t, out);
}
