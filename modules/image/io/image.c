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
    unsigned char b[18];
    if (source->size < (int64_t)sizeof b)
        return la_error(LA_EIO, "not an image (%lld bytes)",
                        (long long)source->size);
    LA_TRY(la_reader_read(source, 0, b, sizeof b));
    *out = memcmp(b, "\x89PNG", 4) == 0 ? LA_IMAGE_PNG
        : memcmp(b, "\xff\xd8\xff", 3) == 0 ? LA_IMAGE_JPEG
        : memcmp(b, "BM", 2) == 0 ? LA_IMAGE_BMP : LA_IMAGE_TGA;
    return LA_OK;
}

la_status la_image_info_read(const la_reader *source, la_image_info *out)
{
    LA_TRY(find_format(source, &out->format));
    return out->format == LA_IMAGE_PNG ? la_png_info(source, out)
                                       : la_stb_info(source, out);
}

/* 'source' is in memory: stb reads in small pieces. */
static la_status read_whole(const la_reader *source, const la_image_info *info,
                            la_tensor **out)
{
    la_reader memory;
    if (source->memory) return la_stb_read(source, info, out);
    size_t n = (size_t)source->size;
    char *bytes = la_mem_alloc(n);
    if (!bytes) return LA_ENOMEM;
    la_reader_of_memory(bytes, n, &memory);
    la_status status = la_reader_read(source, 0, bytes, n);
    if (!status) status = la_stb_read(&memory, info, out);
    la_mem_free(bytes, n);
    return status;
}

/* ---- channels ---- */

/* Sample i of a row whose items are of one or two bytes. */
static double io_image_load(const unsigned char *p, int64_t i, size_t item)
{
    uint16_t v;
    if (item == 1) return p[i];
    memcpy(&v, p + 2 * i, 2);
    return v;
}

static void image_store(unsigned char *p, int64_t i, size_t item, double v)
{
    const uint16_t wide = (uint16_t)v;
    if (item == 1) p[i] = (unsigned char)v;
    else memcpy(p + 2 * i, &wide, 2);
}

/* n pixels of 'c' channels to 'want': grey as image.rgb_to_gray, alpha full
** where there was none. */
static void convert_row(const unsigned char *in, int c, unsigned char *out,
                        int want, int64_t n, size_t item)
{
    double full = item == 1 ? 255 : 65535;
    for (int64_t x = 0; x < n; x++) {
        double v[4], alpha = full;
        for (int k = 0; k < c; k++) v[k] = io_image_load(in, x * c + k, item);
        if (c == 2 || c == 4) alpha = v[c - 1];
        if (c < 3) v[1] = v[2] = v[0];
        else if (want < 3)
            v[0] = (double)(int64_t)(0.299 * v[0] + 0.587 * v[1]
                                     + 0.114 * v[2] + 0.5);
        if (want == 2 || want == 4) v[want - 1] = alpha;
        for (int k = 0; k < want; k++) image_store(out, x * want + k, item,
                                                   v[k]);
    }
}

/* A copy with so many channels. */
static la_status image_convert(const la_tensor *t, int want, la_tensor **out)
{
    const int64_t *sizes = la_sizes(t);
    int64_t wanted[3] = {sizes[0], sizes[1], want};
    size_t item = la_itemsize(t);
    LA_LET(result, la_tensor_empty(3, wanted, (la_dtype)t->dtype, &result));
    const unsigned char *from = (unsigned char *)la_data(t);
    unsigned char *to = (unsigned char *)la_data(result);
    for (int64_t y = 0; y < sizes[0]; y++) {
        LA_TRY(la_poll());
        convert_row(from, (int)sizes[2], to, want, sizes[1], item);
        from += (size_t)(sizes[1] * sizes[2]) * item;
        to += (size_t)(sizes[1] * want) * item;
    }
    return la_tensor_hand(&result, out);
}

la_status la_image_read(const la_reader *source, int channels, la_tensor **out)
{
    la_image_info info;
    LA_TRY(la_image_info_read(source, &info));
    LA_LET(t, info.format == LA_IMAGE_PNG ? la_png_read(source, &t)
           : read_whole(source, &info, &t));
    if (channels && channels != la_sizes(t)[2])
        return image_convert(t, channels, out);
    return la_tensor_hand(&t, out);
}

/* ---- writing ---- */

/* Sizes, channels and dtype that the format can hold. */
static la_status check_image(const la_tensor *t, la_image_format format)
{
    static const struct { const char *name; int64_t most; int channels; }
    limits[LA_IMAGE_FORMATS] = {{"PNG", 0x7fffffff, 4}, {"JPEG", 65535, 3},
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
