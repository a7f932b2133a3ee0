/*
** Reading and writing WAV. A file is a list of chunks, each with a name of four
** letters and a length: "fmt " says what the samples are, "data" holds them,
** others are passed over.
*/
#include "modules/audio/io/wav.h"

#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "io/zip.h"

const la_wav_kind la_wav_kinds[LA_WAV_FORMATS] = {
    {"uint8", LA_UINT8, 1, 128, 128},
    {"int16", LA_INT16, 2, 32768, 0},
    {"int24", LA_INT32, 3, 8388608, 0},
    {"int32", LA_INT32, 4, 2147483648.0, 0},
    {"float32", LA_FLOAT32, 4, 1, 0},
    {"float64", LA_FLOAT64, 8, 1, 0}};

enum { PCM = 1, REAL = 3, A_LAW = 6, MU_LAW = 7, EXTENSIBLE = 0xfffe };
enum { RIFF_BYTES = 12, CHUNK_BYTES = 8, WHOLE_FORMAT = 40 };
#define UNKNOWN_SIZE 0xffffffffu

/* ---- reading ---- */

typedef struct chunk {
    char name[4];
    int64_t begin, size;
} chunk;

/* A format's tag and sizes as one of ours. */
static la_status find_format(unsigned tag, unsigned bits, la_wav_info *out)
{
    unsigned bytes = (bits + 7) / 8;
    if (tag != PCM && tag != REAL)
        return la_error(LA_EIO, "WAV samples of kind %u%s are not read: convert"
                        " the file to PCM", tag, tag == A_LAW ? " (A-law)"
                        : tag == MU_LAW ? " (mu-law)" : "");
    for (int k = 0; k < LA_WAV_FORMATS; k++) {
        bool real = k >= LA_WAV_FLOAT32;
        if (real != (tag == REAL) || la_wav_kinds[k].bytes != (int)bytes)
            continue;
        out->format = (la_wav_format)k;
        return LA_OK;
    }
    return la_error(LA_EIO, "WAV samples of %u bits are not read (%s)", bits,
                    tag == PCM ? "8, 16, 24 and 32 are" : "floats of 32 and 64"
                    " are");
}

static la_status read_format(const la_reader *source, const chunk *c,
                             la_wav_info *out)
{
    unsigned char b[WHOLE_FORMAT] = {0};
    if (c->size < 16)
        return la_error(LA_EIO, "WAV format of %lld bytes (at least 16)",
                        (long long)c->size);
    size_t n = c->size < WHOLE_FORMAT ? (size_t)c->size : WHOLE_FORMAT;
    LA_TRY(la_reader_read(source, c->begin, b, n));
    unsigned tag = (unsigned)la_little(b, 2);
    unsigned bits = (unsigned)la_little(b + 14, 2);
    unsigned frame = (unsigned)la_little(b + 12, 2);
    out->channels = (int)la_little(b + 2, 2);
    out->rate = (uint32_t)la_little(b + 4, 4);
    /* the tag proper begins the GUID, behind valid bits and speakers */
    if (tag == EXTENSIBLE && n == WHOLE_FORMAT)
        tag = (unsigned)la_little(b + 24, 2);
    LA_TRY(find_format(tag, bits, out));
    if (!out->channels || !out->rate)
        return la_error(LA_EIO, "WAV file of %d channels at %u Hz",
                        out->channels, out->rate);
    int64_t bytes = (int64_t)out->channels * la_wav_kinds[out->format].bytes;
    if (frame == bytes) return LA_OK;
    return la_error(LA_EIO, "WAV frames of %u bytes: %d channels of %s take "
                    "%lld", frame, out->channels,
                    la_wav_kinds[out->format].name, (long long)bytes);
}

/* The samples' chunk. A size of all ones is that of a stream whose end was not
** known (they go to the end of the file), or in RF64 stands in 'wide'. */
static la_status take_data(const la_reader *source, chunk *c, bool rf64,
                           uint64_t wide, la_wav_info *out)
{
    int64_t left = source->size - c->begin;
    uint64_t size = (uint64_t)c->size;
    if (c->size == UNKNOWN_SIZE) size = rf64 ? wide : (uint64_t)left;
    if (size > (uint64_t)left)
        return la_error(LA_EIO, "truncated: %llu bytes of samples said, %lld "
                        "are there", (unsigned long long)size, (long long)left);
    int64_t frame = (int64_t)out->channels * la_wav_kinds[out->format].bytes;
    out->begin = c->begin;
    out->frames = (int64_t)size / frame;
    return LA_OK;
}

static la_status read_start(const la_reader *source, bool *rf64)
{
    char b[RIFF_BYTES];
    if (source->size < RIFF_BYTES)
        return la_error(LA_EIO, "not a WAV file (%lld bytes)",
                        (long long)source->size);
    LA_TRY(la_reader_read(source, 0, b, sizeof b));
    *rf64 = memcmp(b, "RF64", 4) == 0;
    if ((*rf64 || memcmp(b, "RIFF", 4) == 0) && memcmp(b + 8, "WAVE", 4) == 0)
        return LA_OK;
    return la_error(LA_EIO, "not a WAV file (the first bytes are wrong)");
}

la_status la_wav_info_read(const la_reader *source, la_wav_info *out)
{
    bool rf64 = false, known = false;
    uint64_t wide = 0;
    LA_TRY(read_start(source, &rf64));
    for (int64_t at = RIFF_BYTES; source->size - at >= CHUNK_BYTES;) {
        unsigned char b[24];
        chunk c;
        LA_TRY(la_poll());
        LA_TRY(la_reader_read(source, at, b, CHUNK_BYTES));
        memcpy(c.name, b, 4);
        c.begin = at + CHUNK_BYTES;
        c.size = (int64_t)la_little(b + 4, 4);
        if (memcmp(c.name, "ds64", 4) == 0 && c.size >= (int64_t)sizeof b) {
            LA_TRY(la_reader_read(source, c.begin, b, sizeof b));
            wide = la_little(b + 8, 8);     /* behind the file's own size */
        } else if (memcmp(c.name, "fmt ", 4) == 0) {
            LA_TRY(read_format(source, &c, out));
            known = true;
        } else if (memcmp(c.name, "data", 4) == 0) {
            if (!known)
                return la_error(LA_EIO, "WAV samples before their format");
            return take_data(source, &c, rf64, wide, out);
        }
        at = c.begin + c.size + c.size % 2;     /* chunks begin at even bytes */
    }
    return la_error(LA_EIO, "truncated: a WAV file without samples");
}

/* n samples of three bytes, in place: they stand at the end of the memory that
** the result fills. */
static void wav_widen(unsigned char *out, const unsigned char *in, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t v = (int32_t)((uint32_t)la_little(in + 3 * i, 3) << 8) / 256;
        memcpy(out + 4 * i, &v, 4);
    }
}

enum { PIECE = 1 << 16 };       /* samples between polls; a multiple of 4 */

la_status la_wav_read(const la_reader *source, const la_wav_info *info,
                      int64_t first, int64_t frames, la_tensor **out)
{
    const la_wav_kind *kind = &la_wav_kinds[info->format];
    int64_t sizes[2] = {frames, info->channels};
    int64_t at = info->begin + first * info->channels * kind->bytes;
    LA_LET(t, la_tensor_empty(2, sizes, kind->dtype, &t));
    unsigned char *to = (unsigned char *)la_data(t);
    size_t item = la_itemsize(t), bytes = (size_t)kind->bytes;
    for (int64_t i = 0; i < t->numel; i += PIECE) {
        int64_t n = t->numel - i < PIECE ? t->numel - i : PIECE;
        unsigned char *end = to + (size_t)n * item;
        LA_TRY(la_poll());
        LA_TRY(la_reader_read(source, at, end - (size_t)n * bytes,
                              (size_t)n * bytes));
        if (bytes != item) wav_widen(to, end - (size_t)n * bytes, n);
        at += n * kind->bytes;
        to = end;
    }
    return la_tensor_hand(&t, out);
}

/* ---- writing ---- */

enum { PLAIN_HEADER = 44, WIDE_HEADER = 80 };

/* The header of a file with so many bytes of samples; its length. RF64 where 32
** bits do not hold them. */
static size_t put_header(unsigned char *b, const la_wav_kind *kind,
                         int64_t channels, uint32_t rate, uint64_t bytes,
                         uint64_t frames)
{
    bool wide = bytes > UNKNOWN_SIZE - WIDE_HEADER;
    size_t n = wide ? WIDE_HEADER : PLAIN_HEADER;
    uint64_t whole = n + bytes + bytes % 2 - CHUNK_BYTES;
    memcpy(b, wide ? "RF64" : "RIFF", 4);
    la_put_little(b + 4, wide ? UNKNOWN_SIZE : whole, 4);
    memcpy(b + 8, "WAVE", 4);
    b += RIFF_BYTES;
    if (wide) {
        memcpy(b, "ds64", 4);
        la_put_little(b + 4, WIDE_HEADER - PLAIN_HEADER - CHUNK_BYTES, 4);
        la_put_little(b + 8, whole, 8);
        la_put_little(b + 16, bytes, 8);
        la_put_little(b + 24, frames, 8);
        la_put_little(b + 32, 0, 4);        /* no table of other chunks */
        b += WIDE_HEADER - PLAIN_HEADER;
    }
    uint64_t frame = (uint64_t)channels * (uint64_t)kind->bytes;
    memcpy(b, "fmt ", 4);
    la_put_little(b + 4, 16, 4);
    la_put_little(b + 8, la_is_float(kind->dtype) ? REAL : PCM, 2);
    la_put_little(b + 10, (uint64_t)channels, 2);
    la_put_little(b + 12, rate, 4);
    la_put_little(b + 16, (rate * frame) & UNKNOWN_SIZE, 4);
    la_put_little(b + 20, frame, 2);
    la_put_little(b + 22, 8 * (uint64_t)kind->bytes, 2);
    memcpy(b + 24, "data", 4);
    la_put_little(b + 28, wide ? UNKNOWN_SIZE : bytes, 4);
    return n;
}

/* int32 samples as three bytes each. */
static la_status write_narrow(const la_tensor *t, la_writer *out)
{
    const unsigned char *from = (unsigned char *)la_data(t);
    size_t capacity = 3 * PIECE;
    unsigned char *piece = la_mem_alloc(capacity);
    la_status status = piece ? LA_OK : LA_ENOMEM;
    for (int64_t i = 0; !status && i < t->numel; i += PIECE) {
        int64_t n = t->numel - i < PIECE ? t->numel - i : PIECE;
        for (int64_t k = 0; k < n; k++)
            memcpy(piece + 3 * k, from + 4 * (i + k), 3);
        status = la_writer_write(out, piece, 3 * (size_t)n);
    }
    la_mem_free(piece, capacity);
    return status;
}

la_status la_wav_write(const la_tensor *t, la_wav_format format, uint32_t rate,
                       la_writer *out)
{
    const la_wav_kind *kind = &la_wav_kinds[format];
    unsigned char header[WIDE_HEADER];
    int64_t channels = la_sizes(t)[1];
    if (channels < 1 || channels * kind->bytes > 0xffff)
        return la_error(LA_ESHAPE, "%lld channels of %s: a WAV file holds 1 to"
                        " %d", (long long)channels, kind->name,
                        0xffff / kind->bytes);
    uint64_t bytes = (uint64_t)t->numel * (uint64_t)kind->bytes;
    size_t n = put_header(header, kind, channels, rate, bytes,
                          (uint64_t)la_sizes(t)[0]);
    LA_TRY(la_writer_write(out, header, n));
    if (format == LA_WAV_INT24) LA_TRY(write_narrow(t, out));
    else if (bytes)
        LA_TRY(la_writer_write(out, (const char *)la_data(t), (size_t)bytes));
    return bytes % 2 ? la_writer_write(out, "", 1) : LA_OK;
}
