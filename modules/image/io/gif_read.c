/*
** Reading GIF. Frames are drawn one over the other on a canvas of RGBA that is
** transparent at first, as browsers do it. LZW is decoded with a stack of its
** own: stb_image's calls itself for each byte of a string, which a thread of an
** engine has no stack for.
**
** Specification: GIF89a (CompuServe, 1990).
*/
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "modules/image/io/image.h"

enum { GIF_CODES = 4096, GIF_COLOURS = 256 };

typedef struct gif_palette {
    int n;
    unsigned char colours[GIF_COLOURS][3];
} gif_palette;

/* The graphic control extension of the next frame. */
typedef struct gif_control {
    int dispose;                /* 2: to transparent, 3: to what was before */
    int transparent;            /* a colour; -1: none */
    int delay;                  /* hundredths of a second */
} gif_control;

typedef struct gif {
    const unsigned char *bytes;
    int64_t n, at;
    int64_t width, height;
    gif_palette global;
    gif_control control;
    unsigned char *canvas, *before;     /* of 4 * width * height bytes */
} gif;

/* The rectangle of a frame. */
typedef struct gif_frame {
    int64_t x, y, width, height;
    bool interlaced;
    gif_palette local;
} gif_frame;

/* Codes of a frame, which stand in blocks of at most 255 bytes. */
typedef struct gif_codes {
    gif *g;
    int left;                   /* bytes of the block */
    uint32_t bits;
    int bit_count;
    uint16_t prefix[GIF_CODES];
    unsigned char suffix[GIF_CODES], stack[GIF_CODES + 1];
} gif_codes;

static la_status gif_truncated(const gif *g)
{
    return la_error(LA_EIO, "truncated at byte %lld", (long long)g->n);
}

/* 'n' bytes in front, or NULL. */
static const unsigned char *gif_take(gif *g, int64_t n)
{
    if (n > g->n - g->at) return NULL;
    g->at += n;
    return g->bytes + g->at - n;
}

static int gif_short(const unsigned char *p) { return p[0] | p[1] << 8; }

static la_status gif_read_palette(gif *g, int flags, gif_palette *p)
{
    p->n = 0;
    if (!(flags & 0x80)) return LA_OK;
    int n = 2 << (flags & 7);
    const unsigned char *from = gif_take(g, 3 * n);
    if (!from) return gif_truncated(g);
    memcpy(p->colours, from, 3 * (size_t)n);
    p->n = n;
    return LA_OK;
}

static la_status gif_header(gif *g)
{
    const unsigned char *p = gif_take(g, 13);
    if (!p) return gif_truncated(g);
    if (memcmp(p, "GIF87a", 6) != 0 && memcmp(p, "GIF89a", 6) != 0)
        return la_error(LA_EIO, "malformed image (GIF's version)");
    g->width = gif_short(p + 6);
    g->height = gif_short(p + 8);
    if (!g->width || !g->height)
        return la_error(LA_EIO, "malformed image (its size)");
    g->control.transparent = -1;
    return gif_read_palette(g, p[10], &g->global);
}

/* The blocks of an extension or of codes that nobody reads. */
static la_status gif_skip_blocks(gif *g)
{
    for (;;) {
        const unsigned char *size = gif_take(g, 1);
        if (!size || !gif_take(g, *size)) return gif_truncated(g);
        if (!*size) return LA_OK;
    }
}

static la_status gif_extension(gif *g)
{
    const unsigned char *kind = gif_take(g, 1);
    if (!kind) return gif_truncated(g);
    if (*kind == 0xf9 && g->n - g->at >= 5 && g->bytes[g->at] == 4) {
        const unsigned char *p = gif_take(g, 5);
        g->control = (gif_control){p[1] >> 2 & 7, p[1] & 1 ? p[4] : -1,
                                   gif_short(p + 2)};
    }
    return gif_skip_blocks(g);
}

/* To the next frame's description; false in 'found' at the end. */
static la_status gif_next(gif *g, gif_frame *f, bool *found)
{
    *found = false;
    for (;;) {
        const unsigned char *kind = gif_take(g, 1);
        /* Many files lack the trailer. */
        if (!kind || *kind == ';') return LA_OK;
        if (*kind == '!') {
            LA_TRY(gif_extension(g));
            continue;
        }
        const unsigned char *p = *kind == ',' ? gif_take(g, 9) : NULL;
        if (!p)
            return *kind == ',' ? gif_truncated(g)
                : la_error(LA_EIO, "malformed image (a block of GIF)");
        *f = (gif_frame){.x = gif_short(p), .y = gif_short(p + 2),
                         .width = gif_short(p + 4), .height = gif_short(p + 6),
                         .interlaced = p[8] & 0x40};
        if (f->x + f->width > g->width || f->y + f->height > g->height)
            return la_error(LA_EIO, "malformed image (a frame beyond the"
                            " image)");
        *found = true;
        return gif_read_palette(g, p[8], &f->local);
    }
}

/* ---- codes ---- */

/* The next code of 'width' bits; -1 where the blocks end. */
static int gif_next_code(gif_codes *c, int width)
{
    while (c->bit_count < width) {
        if (!c->left) {
            const unsigned char *size = gif_take(c->g, 1);
            if (!size || !*size) {
                if (size) c->g->at--;   /* for gif_skip_blocks */
                return -1;
            }
            c->left = *size;
        }
        const unsigned char *byte = gif_take(c->g, 1);
        if (!byte) return -1;
        c->left--;
        c->bits |= (uint32_t)*byte << c->bit_count;
        c->bit_count += 8;
    }
    int code = (int)(c->bits & ((1u << width) - 1));
    c->bits >>= width;
    c->bit_count -= width;
    return code;
}

/* The position of the next pixel of a frame, in the order of the file. */
typedef struct gif_pen {
    gif *g;
    const gif_frame *f;
    const gif_palette *palette;
    int64_t x, y;               /* within the frame */
    int pass;
} gif_pen;

/* Rows of an interlaced frame come in four passes. */
static void gif_next_row(gif_pen *pen)
{
    static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    pen->x = 0;
    if (!pen->f->interlaced) {
        pen->y++;
        return;
    }
    pen->y += step[pen->pass];
    while (pen->y >= pen->f->height && pen->pass < 3)
        pen->y = first[++pen->pass];
}

static void gif_put(gif_pen *pen, int colour)
{
    const gif_frame *f = pen->f;
    if (pen->y >= f->height) return;
    if (colour != pen->g->control.transparent && colour < pen->palette->n) {
        int64_t pixel = (f->y + pen->y) * pen->g->width + f->x + pen->x;
        unsigned char *to = pen->g->canvas + 4 * pixel;
        memcpy(to, pen->palette->colours[colour], 3);
        to[3] = 255;
    }
    if (++pen->x == f->width) gif_next_row(pen);
}

/* The string of a code, whose last byte is found first. Its first byte. */
static int gif_put_string(gif_codes *c, gif_pen *pen, int code, int roots,
                          int extra)
{
    int n = 0;
    if (extra >= 0) c->stack[n++] = (unsigned char)extra;
    for (; code >= roots; code = c->prefix[code])
        c->stack[n++] = c->suffix[code];
    c->stack[n++] = (unsigned char)code;
    for (int k = n; k-- > 0; ) gif_put(pen, c->stack[k]);
    return code;
}

static int gif_first_of(const gif_codes *c, int code, int roots)
{
    while (code >= roots) code = c->prefix[code];
    return code;
}

/* The pixels of a frame. A prefix is always a smaller code than its own, so
** that each string ends. */
static la_status gif_decode(gif_codes *c, gif_pen *pen, int root_bits)
{
    int roots = 1 << root_bits, clear = roots, end = roots + 1;
    int next = end + 1, width = root_bits + 1, previous = -1, code;
    int64_t calls = 0;
    while ((code = gif_next_code(c, width)) >= 0 && code != end) {
        if (++calls % 1024 == 0) LA_TRY(la_poll());
        if (code == clear) {
            next = end + 1;
            width = root_bits + 1;
            previous = -1;
            continue;
        }
        if (code > next || (previous < 0 && code >= roots)
            || (code == next && (previous < 0 || next == GIF_CODES)))
            return la_error(LA_EIO, "malformed image (a code of GIF)");
        int first = code == next
            ? gif_put_string(c, pen, previous, roots,
                             gif_first_of(c, previous, roots))
            : gif_put_string(c, pen, code, roots, -1);
        if (previous >= 0 && next < GIF_CODES) {
            c->prefix[next] = (uint16_t)previous;
            c->suffix[next++] = (unsigned char)first;
            if (next == 1 << width && width < 12) width++;
        }
        previous = code;
    }
    return LA_OK;
}

static la_status gif_draw(gif *g, const gif_frame *f, gif_codes *c)
{
    const unsigned char *bits = gif_take(g, 1);
    if (!bits) return gif_truncated(g);
    if (*bits < 1 || *bits > 8)
        return la_error(LA_EIO, "malformed image (bits of GIF's codes)");
    gif_pen pen = {g, f, f->local.n ? &f->local : &g->global, 0, 0, 0};
    *c = (gif_codes){.g = g};
    if (f->width) LA_TRY(gif_decode(c, &pen, *bits));
    if (!gif_take(g, c->left)) return gif_truncated(g);
    return gif_skip_blocks(g);
}

/* ---- frames ---- */

/* A frame's rectangle is cleared, or put back, before the next frame. */
static void gif_dispose(gif *g, const gif_frame *f)
{
    if (g->control.dispose != 2 && g->control.dispose != 3) return;
    for (int64_t y = f->y; y < f->y + f->height; y++) {
        size_t at = 4 * (size_t)(y * g->width + f->x);
        size_t n = 4 * (size_t)f->width;
        if (g->control.dispose == 2) memset(g->canvas + at, 0, n);
        else memcpy(g->canvas + at, g->before + at, n);
    }
}

/* Frames one after the other into 'pixels', at most 'most'. */
static la_status gif_draw_all(gif *g, gif_codes *c, int64_t most,
                              unsigned char *pixels, double *seconds)
{
    size_t bytes = 4 * (size_t)(g->width * g->height);
    gif_frame f;
    for (int64_t k = 0; k < most; k++) {
        bool found;
        LA_TRY(la_poll());
        LA_TRY(gif_next(g, &f, &found));
        if (!found) return gif_truncated(g);
        if (g->control.dispose == 3) memcpy(g->before, g->canvas, bytes);
        LA_TRY(gif_draw(g, &f, c));
        memcpy(pixels + (size_t)k * bytes, g->canvas, bytes);
        if (seconds) seconds[k] = g->control.delay / 100.0;
        gif_dispose(g, &f);
        g->control = (gif_control){.transparent = -1};
    }
    return LA_OK;
}

static la_status gif_count(gif g, int64_t *frames)
{
    gif_frame f;
    bool found;
    *frames = 0;
    do {
        LA_TRY(gif_next(&g, &f, &found));
        if (!found) continue;
        if (++*frames % 1024 == 0) LA_TRY(la_poll());
        if (!gif_take(&g, 1)) return gif_truncated(&g);
        LA_TRY(gif_skip_blocks(&g));
    } while (found);
    return *frames ? LA_OK : la_error(LA_EIO, "a GIF without an image");
}

static la_status gif_open(const la_reader *source, gif *g)
{
    *g = (gif){.bytes = (const unsigned char *)source->memory,
               .n = source->size};
    return gif_header(g);
}

la_status la_gif_info(const la_reader *source, la_image_info *out)
{
    gif g;
    LA_TRY(gif_open(source, &g));
    out->width = g.width;
    out->height = g.height;
    out->channels = 4;
    out->bits = 8;
    return gif_count(g, &out->frames);
}

la_status la_gif_read(const la_reader *source, int64_t frames,
                      unsigned char *pixels, double *seconds)
{
    gif g;
    LA_TRY(gif_open(source, &g));
    size_t bytes = 4 * (size_t)(g.width * g.height);
    gif_codes *codes = la_mem_alloc(sizeof *codes);
    g.canvas = la_mem_zalloc(2 * bytes);
    la_status status = codes && g.canvas ? LA_OK : LA_ENOMEM;
    g.before = g.canvas ? g.canvas + bytes : NULL;
    if (!status) status = gif_draw_all(&g, codes, frames, pixels, seconds);
    la_mem_free(g.canvas, 2 * bytes);
    la_mem_free(codes, sizeof *codes);
    return status;
}
