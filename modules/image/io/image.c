/* Images of any format: which one it is, and numbers of channels. */
#include "modules/image/io/image.h"

#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"

/* ---- reading ---- */

/* Format by the first bytes; TGA has none of its own and is what is left,
** checked by its reader. */
static la_status find_format(const la_reader *source, la_image_format *out)
{
    static const struct { const char *bytes; la_image_format format; }
    known[] = {{"\x89PNG", LA_IMAGE_PNG}, {"\xff\xd8\xff", LA_IMAGE_JPEG},
               {"BM", LA_IMAGE_BMP}, {"GIF8", LA_IMAGE_GIF},
               {"8BPS", LA_IMAGE_PSD}, {"#?RADIANCE\n", LA_IMAGE_HDR},
               {"#?RGBE\n", LA_IMAGE_HDR}};
    enum { LONGEST = 18, KNOWN = sizeof known / sizeof *known };
    char b[LONGEST + 1] = {0};
    bool whole = source->size >= LONGEST;
    LA_TRY(la_reader_read(source, 0, b, whole ? LONGEST
                                              : (size_t)source->size));
    for (int k = 0; k < KNOWN; k++)
        if (strncmp(b, known[k].bytes, strlen(known[k].bytes)) == 0) {
            *out = known[k].format;
            return LA_OK;
        }
    bool pnm = b[0] == 'P' && b[1] >= '1' && b[1] <= '6';
    *out = pnm ? LA_IMAGE_PNM : LA_IMAGE_TGA;
    return pnm || whole ? LA_OK
        : la_error(LA_EIO, "not an image (%lld bytes)",
                   (long long)source->size);
}

/* A source whose bytes are in memory: most readers take small pieces. */
typedef struct image_source {
    la_reader reader;
    char *bytes;                /* owned; NULL where they were there */
    size_t n;
} image_source;

static void image_source_close(image_source *s)
{
    la_mem_free(s->bytes, s->n);
}

static la_status image_source_open(const la_reader *source, image_source *out)
{
    *out = (image_source){.reader = *source, .n = (size_t)source->size};
    if (source->memory) return LA_OK;
    out->bytes = la_mem_alloc(out->n);
    if (!out->bytes) return LA_ENOMEM;
    la_reader_of_memory(out->bytes, out->n, &out->reader);
    return la_reader_read(source, 0, out->bytes, out->n);
}
#define IMAGE_SOURCE __attribute__((cleanup(image_source_close))) image_source

la_status la_image_info_read(const la_reader *source, la_image_info *out)
{
    IMAGE_SOURCE s = {.bytes = NULL};
    *out = (la_image_info){.frames = 1};
    LA_TRY(find_format(source, &out->format));
    switch (out->format) {
    case LA_IMAGE_PNG: return la_png_info(source, out);
    case LA_IMAGE_GIF:
        LA_TRY(image_source_open(source, &s));
        return la_gif_info(&s.reader, out);
    case LA_IMAGE_PNM:
        LA_TRY(image_source_open(source, &s));
        return la_pnm_info(&s.reader, out);
    default: return la_stb_info(source, out);
    }
}

/* All frames of a GIF, or the first one as {height, width, 4} without
** 'seconds'. Codes of 12 bits stand for strings of less than 4,096 pixels:
** fewer bytes than that can't fill the first frame. */
static la_status read_gif(const la_reader *source, const la_image_info *info,
                          la_tensor **out, double *seconds)
{
    int64_t frames = seconds ? info->frames : 1;
    int64_t sizes[4] = {frames, info->height, info->width, 4};
    int skipped = seconds ? 0 : 1;
    if (info->width * info->height / 4096 > source->size)
        return la_error(LA_EIO, "malformed image (too few bytes for its width"
                        " and height)");
    LA_LET(t, la_tensor_empty(4 - skipped, sizes + skipped, LA_UINT8, &t));
    LA_TRY(la_gif_read(source, frames, (unsigned char *)la_data(t), seconds));
    return la_tensor_hand(&t, out);
}


/* ---- channels ---- */

/* Sample i of a row whose items are of one or two bytes, or float32. */
static double io_image_load(const unsigned char *p, int64_t i, size_t item)
{
    uint16_t wide = 0;
    float real = 0;
    if (item == 1) return p[i];
    if (item == 2) memcpy(&wide, p + 2 * i, 2);
    else memcpy(&real, p + 4 * i, 4);
    return item == 2 ? wide : real;
}

static void image_store(unsigned char *p, int64_t i, size_t item, double v)
{
    const uint16_t wide = item == 2 ? (uint16_t)v : 0;
    const float real = (float)v;
    if (item == 1) p[i] = (unsigned char)v;
    else if (item == 2) memcpy(p + 2 * i, &wide, 2);
    else memcpy(p + 4 * i, &real, 4);
}

/* n pixels of 'c' channels to 'want': grey as image.rgb_to_gray, alpha full
** where there was none. */
static void convert_row(const unsigned char *in, int c, unsigned char *out,
                        int want, int64_t n, size_t item)
{
    double full = item == 1 ? 255 : item == 2 ? 65535 : 1;
    for (int64_t x = 0; x < n; x++) {
        double v[4] = {0}, alpha = full;
        for (int k = 0; k < c; k++) v[k] = io_image_load(in, x * c + k, item);
        if (c == 2 || c == 4) alpha = v[c - 1];
        if (c < 3) v[1] = v[2] = v[0];
        else if (want < 3) {
            v[0] = 0.299 * v[0] + 0.587 * v[1] + 0.114 * v[2];
            if (item < 4) v[0] = (double)(int64_t)(v[0] + 0.5);
        }
        if (want == 2 || want == 4) v[want - 1] = alpha;
        for (int k = 0; k < want; k++) image_store(out, x * want + k, item,
                                                   v[k]);
    }
}

/* {..., height, width, channels} with so many channels, 0 as it is; takes over
** 't'. */
static la_status image_convert(la_tensor **t, int want, la_tensor **out)
{
    int last = (*t)->ndim - 1;
    int64_t wanted[4], width = la_sizes(*t)[last - 1];
    int have = (int)la_sizes(*t)[last];
    if (!want || want == have) return la_tensor_hand(t, out);
    size_t item = la_itemsize(*t);
    memcpy(wanted, la_sizes(*t), sizeof *wanted * (size_t)last);
    wanted[last] = want;
    LA_LET(result, la_tensor_empty(last + 1, wanted, (la_dtype)(*t)->dtype,
                                   &result));
    const unsigned char *from = (unsigned char *)la_data(*t);
    unsigned char *to = (unsigned char *)la_data(result);
    for (int64_t left = (*t)->numel; left > 0; left -= width * have) {
        LA_TRY(la_poll());
        convert_row(from, have, to, want, width, item);
        from += (size_t)(width * have) * item;
        to += (size_t)(width * want) * item;
    }
    return la_tensor_hand(&result, out);
}

la_status la_image_read(const la_reader *source, int channels, la_tensor **out)
{
    la_image_info info;
    IMAGE_SOURCE s = {.bytes = NULL};
    LA_OWNED t = NULL;
    LA_TRY(la_image_info_read(source, &info));
    if (info.format == LA_IMAGE_PNG) LA_TRY(la_png_read(source, &t));
    else {
        LA_TRY(image_source_open(source, &s));
        LA_TRY(info.format == LA_IMAGE_GIF
               ? read_gif(&s.reader, &info, &t, NULL)
               : info.format == LA_IMAGE_PNM ? la_pnm_read(&s.reader, &t)
               : la_stb_read(&s.reader, &info, &t));
    }
    return image_convert(&t, channels, out);
}

la_status la_image_read_frames(const la_reader *source, int channels,
                               la_tensor **out, la_tensor **seconds)
{
    la_image_info info;
    IMAGE_SOURCE s = {.bytes = NULL};
    LA_TRY(la_image_info_read(source, &info));
    LA_LET(delays, la_tensor_empty(1, &info.frames, LA_FLOAT64, &delays));
    LA_TRY(image_source_open(source, &s));
    LA_LET(t, read_gif(&s.reader, &info, &t, (double *)la_data(delays)));
    LA_TRY(image_convert(&t, channels, out));
    return la_tensor_hand(&delays, seconds);
}

/* ---- writing ---- */

/* Sizes, channels and dtype that the format can hold. */
static la_status check_image(const la_tensor *t, la_image_format format)
{
    static const struct { const char *name; int64_t most; int channels; }
    limits[LA_IMAGE_WRITTEN] = {{"PNG", 0x7fffffff, 4}, {"JPEG", 65535, 3},
                                {"BMP", 0x7fffffff, 3}, {"TGA", 65535, 4}};
    const char *name = limits[format].name;
    int64_t h = la_sizes(t)[0], w = la_sizes(t)[1], c = la_sizes(t)[2];
    if (h < 1 || w < 1)
        return la_error(LA_ESHAPE, "an image of %lld x %lld pixels cannot be"
                        " written", (long long)h, (long long)w);
    if (h > limits[format].most || w > limits[format].most)
        return la_error(LA_ESHAPE, "%lld x %lld pixels: %s holds at most %lld"
                        " each way", (long long)h, (long long)w, name,
                        (long long)limits[format].most);
    if (c < 1 || c > 4 || (limits[format].channels == 3 && c % 2 == 0))
        return la_error(LA_ESHAPE, "%lld channels: %s holds %s", (long long)c,
                        name, limits[format].channels == 4
                        ? "1 (grey), 2, 3 (RGB) or 4 (RGBA)"
                        : "1 (grey) or 3 (RGB)");
    if (format == LA_IMAGE_BMP && t->numel > 0x7fffffff)
        return la_error(LA_ESHAPE, "too many pixels for BMP: use PNG");
    if (t->dtype == LA_UINT16 && format != LA_IMAGE_PNG)
        return la_error(LA_EDTYPE, "%s has no 16-bit samples: write PNG, or"
                        " convert to uint8", name);
    return LA_OK;
}

la_status la_image_write(const la_tensor *t, la_image_format format,
                         int quality, la_bytes *out)
{
    LA_TRY(check_image(t, format));
    switch (format) {
    case LA_IMAGE_PNG: LA_TRY(la_png_write(t, out)); break;
    case LA_IMAGE_JPEG: la_jpeg_write(t, quality, out); break;
    case LA_IMAGE_BMP: la_bmp_write(t, out); break;
    default: la_tga_write(t, out); break;
    }
    return out->status;
}
