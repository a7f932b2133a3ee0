/*
** Reading JPEG, BMP, TGA, PSD and HDR with stb_image.
**
** stb allocates, reads and calls back through us, so that memory is counted and
** limited, long images answer an interruption, and the first failure of any
** kind leaves stb by longjmp: it holds nothing but memory, which is on the
** job's list. Memory is zeroed, as it may come out as pixels. The Makefile has
** signed overflow wrap here, since stb computes with what hostile headers say,
** and automatic variables set, since a palette may be shorter than its use.
*/
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "modules/image/io/image.h"

/* A block of stb's, in front of its bytes. */
typedef struct block {
    struct block *next, **link;
    size_t bytes;               /* with this record */
} block;
enum { RECORD = 64 };

typedef struct job {
    const la_reader *source;
    int64_t at;
    const void *small;          /* stb's own buffer, whose reads may be short */
    block *blocks;
    int64_t calls;              /* of kernels, since the last poll */
    void (*idct)(unsigned char *, int, short *);
    void (*colour)(unsigned char *, const unsigned char *,
                   const unsigned char *, const unsigned char *, int, int);
    la_status status;
    jmp_buf out;
} job;

static _Thread_local job *current;

/* Leave stb. */
__attribute__((noreturn)) static void fail(la_status status)
{
    current->status = status;
    longjmp(current->out, 1);
}

static void *stb_alloc(size_t n)
{
    size_t bytes = n + RECORD;
    block *b = bytes > n ? la_mem_zalloc(bytes) : NULL;
    if (!b) fail(bytes > n ? LA_ENOMEM
                 : la_error(LA_EIO, "malformed image (its size)"));
    *b = (block){current->blocks, &current->blocks, bytes};
    if (b->next) b->next->link = &b->next;
    current->blocks = b;
    return (char *)b + RECORD;
}

static void stb_free(void *p)
{
    if (!p) return;
    block *b = (block *)((char *)p - RECORD);
    *b->link = b->next;
    if (b->next) b->next->link = b->link;
    la_mem_free(b, b->bytes);
}

/* Nothing of what is compiled here asks for it. */
static void *stb_realloc(void *p, size_t n)
{
    stb_free(p);
    return stb_alloc(n);
}

/* A broken promise of stb's to itself is the file's fault. */
static void stb_assert(bool holds)
{
    if (!holds) fail(la_error(LA_EIO, "malformed image"));
}

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_TGA
#define STBI_ONLY_PSD
#define STBI_ONLY_HDR
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_MALLOC(n) stb_alloc(n)
#define STBI_REALLOC(p, n) stb_realloc(p, n)
#define STBI_FREE(p) stb_free(p)
#define STBI_ASSERT(x) stb_assert(x)
#include <stb/stb_image.h>

/* ---- reading ---- */

/* stb takes zeros for bytes that are not there: a read that needs them is the
** end. Into its own buffer it reads ahead. */
static int stb_read(void *user, char *out, int n)
{
    job *j = user;
    int64_t left = j->source->size - j->at;
    if (left <= 0 || (n > left && out != j->small))
        fail(la_error(LA_EIO, "truncated at byte %lld",
                      (long long)j->source->size));
    if (la_poll()) fail(LA_EINTR);
    if (n > left) n = (int)left;
    la_status status = la_reader_read(j->source, j->at, out, (size_t)n);
    if (status) fail(status);
    j->at += n;
    return n;
}

static void stb_skip(void *user, int n)
{
    job *j = user;
    if (n < 0 && -(int64_t)n > j->at)
        fail(la_error(LA_EIO, "malformed image (an offset)"));
    j->at += n;
}

/* Has stb read all? */
static int stb_eof(void *user)
{
    const job *j = user;
    return j->at >= j->source->size;
}

/* JPEG's kernels also ask for an interruption: an image can be large with few
** bytes behind it. */
static void ask(int64_t every)
{
    if (++current->calls < every) return;
    current->calls = 0;
    if (la_poll()) fail(LA_EINTR);
}

static void polled_idct(stbi_uc *out, int stride, short data[64])
{
    ask(1 << 14);
    current->idct(out, stride, data);
}

static void polled_colour(stbi_uc *out, const stbi_uc *y, const stbi_uc *b,
                          const stbi_uc *r, int n, int step)
{
    ask(16);
    current->colour(out, y, b, r, n, step);
}

/* stbi__jpeg_load with kernels that ask. */
static stbi_uc *load_jpeg(job *j, stbi__context *s, int *w, int *h, int *c)
{
    stbi__jpeg *jpeg = stbi__malloc(sizeof *jpeg);
    jpeg->s = s;
    stbi__setup_jpeg(jpeg);
    j->idct = jpeg->idct_block_kernel;
    j->colour = jpeg->YCbCr_to_RGB_kernel;
    jpeg->idct_block_kernel = polled_idct;
    jpeg->YCbCr_to_RGB_kernel = polled_colour;
    return load_jpeg_image(jpeg, w, h, c, 0);
}

/* ---- jobs ---- */

typedef int (*work_fn)(job *, stbi__context *, la_image_info *, stbi_uc **);

/* Heights of BMP are negative where rows come from above. PSD is read as 8
** bits. */
static int info_of(job *j, stbi__context *s, la_image_info *info,
                   stbi_uc **unused)
{
    int w = 0, h = 0, c = 0, good = 0;
    switch (info->format) {
    case LA_IMAGE_JPEG: good = stbi__jpeg_info(s, &w, &h, &c); break;
    case LA_IMAGE_BMP: good = stbi__bmp_info(s, &w, &h, &c); break;
    case LA_IMAGE_PSD: good = stbi__psd_info(s, &w, &h, &c) && h > 0; break;
    case LA_IMAGE_HDR: good = stbi__hdr_info(s, &w, &h, &c) && h > 0; break;
    default: good = stbi__tga_test(s) && stbi__tga_info(s, &w, &h, &c);
    }
    info->width = w;
    info->height = h < 0 ? -(int64_t)h : h;
    info->channels = c;
    info->bits = info->format == LA_IMAGE_HDR ? 32 : 8;
    return good && w > 0 && h && c > 0 && c <= 4;
}

static int pixels_of(job *j, stbi__context *s, la_image_info *info,
                     stbi_uc **pixels)
{
    stbi__result_info unused = {.bits_per_channel = 8};
    int w = 0, h = 0, c = 0;
    switch (info->format) {
    case LA_IMAGE_JPEG: *pixels = load_jpeg(j, s, &w, &h, &c); break;
    case LA_IMAGE_BMP:
        *pixels = stbi__bmp_load(s, &w, &h, &c, 0, &unused);
        break;
    case LA_IMAGE_PSD:
        *pixels = stbi__psd_load(s, &w, &h, &c, 0, &unused, 8);
        break;
    case LA_IMAGE_HDR:
        *pixels = (stbi_uc *)stbi__hdr_load(s, &w, &h, &c, 0, &unused);
        break;
    default: *pixels = stbi__tga_load(s, &w, &h, &c, 0, &unused);
    }
    return *pixels && w == info->width && h == info->height
        && c == info->channels;
}

/* Run 'work' on a source; what stb says of a failure is the reason. The caller
** frees the blocks. */
static la_status stb_run(job *j, work_fn work, la_image_info *info,
                         stbi_uc **pixels)
{
    stbi__context s;
    stbi_io_callbacks io = {stb_read, stb_skip, stb_eof};
    job *outer = current;
    j->small = s.buffer_start;
    current = j;
    if (!setjmp(j->out)) {
        stbi__g_failure_reason = NULL;
        stbi__start_callbacks(&s, &io, j);
        if (!work(j, &s, info, pixels)) {
            const char *reason = stbi_failure_reason();
            j->status = info->format == LA_IMAGE_TGA && !reason
                ? la_error(LA_EIO, "not an image (PNG, JPEG, BMP, TGA, GIF,"
                           " PNM, PSD, HDR)")
                : la_error(LA_EIO, "malformed image (%s)",
                           reason ? reason : "header");
        }
    }
    current = outer;
    return j->status;
}

/* Frees blocks that a longjmp, or stb itself, has left. */
static void free_blocks(job *j)
{
    while (j->blocks) {
        block *b = j->blocks;
        j->blocks = b->next;
        la_mem_free(b, b->bytes);
    }
}

la_status la_stb_info(const la_reader *source, la_image_info *out)
{
    job j = {.source = source};
    if (out->format == LA_IMAGE_JPEG) LA_TRY(la_jpeg_check(source, false));
    la_status status = stb_run(&j, info_of, out, NULL);
    free_blocks(&j);
    return status;
}

/* Pixels that a byte of a file can stand for, and more: blocks of 64 take a bit
** each, a run of TGA 128 pixels two bytes. */
static bool is_plausible(const la_reader *source, const la_image_info *info)
{
    enum { PIXELS_PER_BYTE = 2048 };
    int64_t pixels;
    return la_mul_ok(info->width, info->height, &pixels)
        && pixels / PIXELS_PER_BYTE <= source->size;
}

la_status la_stb_read(const la_reader *source, const la_image_info *info,
                      la_tensor **out)
{
    job j = {.source = source};
    la_image_info asked = *info;
    stbi_uc *pixels = NULL;
    int64_t sizes[3] = {info->height, info->width, info->channels};
    la_tensor *t = NULL;
    if (!is_plausible(source, info))
        return la_error(LA_EIO, "malformed image (too few bytes for its width"
                        " and height)");
    if (info->format == LA_IMAGE_JPEG) LA_TRY(la_jpeg_check(source, true));
    la_status status = stb_run(&j, pixels_of, &asked, &pixels);
    la_dtype dtype = info->format == LA_IMAGE_HDR ? LA_FLOAT32 : LA_UINT8;
    if (!status) status = la_tensor_empty(3, sizes, dtype, &t);
    if (!status)
        memcpy(la_data(t), pixels, (size_t)t->numel * la_itemsize(t));
    free_blocks(&j);
    if (!status) *out = t;
    return status;
}
