/*
** Images: PNG, JPEG, BMP and TGA, to and from tensors {height, width,
** channels} of uint8 or uint16; GIF, PBM, PGM, PPM, PSD and Radiance's HDR
** (float32) are read. Channels are grey, grey and alpha, RGB, or RGBA.
**
** Whatever a file says about itself is checked before it is used: hostile bytes
** give LA_EIO, and no header claims memory that its file cannot fill.
*/
#ifndef LA_IO_IMAGE_H
#define LA_IO_IMAGE_H

#include "io/bytes.h"
#include "io/stream.h"
#include "tensor/tensor.h"

typedef enum la_image_format {
    LA_IMAGE_PNG, LA_IMAGE_JPEG, LA_IMAGE_BMP, LA_IMAGE_TGA,
    LA_IMAGE_WRITTEN,           /* formats before it are written, too */
    LA_IMAGE_GIF = LA_IMAGE_WRITTEN, LA_IMAGE_PNM, LA_IMAGE_PSD, LA_IMAGE_HDR
} la_image_format;

typedef struct la_image_info {
    la_image_format format;
    int64_t width, height;      /* at least 1 */
    int channels, bits;         /* 1 to 4; of a sample, 8, 16 or (HDR) 32 */
    int64_t frames;             /* at least 1; more in an animated GIF */
} la_image_info;

/* Information in the header; the pixels are not looked at. LA_EIO for what is
** none of these formats, or not of a kind that is read. */
la_status la_image_info_read(const la_reader *, la_image_info *out);

/* The orientation of a JPEG, as EXIF counts it: 1 (as it is) to 8. 1 for
** other formats and for what is malformed. A status where reading fails. */
la_status la_jpeg_orientation(const la_reader *, int *out);

/* The image, new and owned by the caller, contiguous. 'channels' 1 to 4
** converts, 0 leaves as many as the file has. LA_EIO, LA_ENOMEM, LA_EINTR. */
la_status la_image_read(const la_reader *, int channels, la_tensor **out);
/* All frames of a GIF, {frames, height, width, channels}, and how many seconds
** each is shown, {frames} of float64. */
la_status la_image_read_frames(const la_reader *, int channels,
                               la_tensor **out, la_tensor **seconds);

/* Append a contiguous tensor {height, width, channels} as a whole file. LA_EARG
** with the reason for sizes, channels or a dtype that the format does not have.
** 'quality' is JPEG's, 1 to 100: up to 90 colours have half the resolution. */
la_status la_image_write(const la_tensor *, la_image_format, int quality,
                         la_bytes *out);

/* ---- inside of this folder: one format each ---- */

/* GIF and PNM; the source is in memory. la_gif_read draws the first 'frames'
** ones into pixels of RGBA; 'seconds' may be NULL. */
la_status la_gif_info(const la_reader *, la_image_info *out);
la_status la_gif_read(const la_reader *, int64_t frames, unsigned char *pixels,
                      double *seconds);
la_status la_pnm_info(const la_reader *, la_image_info *out);
la_status la_pnm_read(const la_reader *, la_tensor **out);

/* la_image_info_read and la_image_read of a source that begins as PNG. */
la_status la_png_info(const la_reader *, la_image_info *out);
la_status la_png_read(const la_reader *, la_tensor **out);
/* la_image_write; what the format can't hold was refused before. */
la_status la_png_write(const la_tensor *, la_bytes *out);
void la_jpeg_write(const la_tensor *, int quality, la_bytes *out);
void la_bmp_write(const la_tensor *, la_bytes *out);
void la_tga_write(const la_tensor *, la_bytes *out);

/* PNG's predictor of a byte from those to the left, above, and above to the
** left: the one that is nearest to left + above - corner. */
static inline int la_png_paeth(int left, int above, int corner)
{
    int a = above - corner, b = left - corner, c = a + b;
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    c = c < 0 ? -c : c;
    return a <= b && a <= c ? left : b <= c ? above : corner;
}

/* Do the Huffman tables of a JPEG have at most 256 codes? stb_image 2.27 relies
** on it. LA_EIO where one has more. Looks through the whole source, which is in
** memory, or (whole = false) up to the frame header, for la_stb_info. */
la_status la_jpeg_check(const la_reader *, bool whole);

/* JPEG, BMP, TGA, PSD and HDR by stb_image; out->format says which. */
la_status la_stb_info(const la_reader *, la_image_info *out);
la_status la_stb_read(const la_reader *, const la_image_info *,
                      la_tensor **out);

#endif
