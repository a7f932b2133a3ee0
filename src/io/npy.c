/*
** Reading and writing .npy.
**
** Nothing is allocated before the header agrees with the number of bytes that
** are there. Data in the other byte order or in Fortran order is copied to
** ours.
*/
#include "io/npy.h"

#include <stdio.h>
#include <string.h>

#include "base/runtime/memory.h"
#include "tensor/shape.h"

#define MAGIC "\x93NUMPY"
enum { MAGIC_BYTES = 6, HEADER_LIMIT = 1 << 16, ALIGN = 64 };

/* ---- the header ---- */

/* Magic, version and the length of the header behind them: two bytes in version
** 1.0, four from 2.0 on, little-endian. 3.0 only allows UTF-8 in names of
** fields, which are not read here (NumPy enhancement proposal 1). */
static la_status read_length(la_stream *in, uint32_t *n)
{
    unsigned char start[MAGIC_BYTES + 2], b[4];
    LA_TRY(in->read(in, start, 1));     /* a short text is not truncated */
    bool begins = start[0] == (unsigned char)MAGIC[0];
    if (begins) LA_TRY(in->read(in, start + 1, sizeof start - 1));
    if (!begins || memcmp(start, MAGIC, MAGIC_BYTES))
        return la_error(LA_EIO, "not an .npy file (the first bytes are"
                        " wrong)");
    int major = start[MAGIC_BYTES], minor = start[MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor)
        return la_error(LA_EIO, ".npy version %d.%d is not known (1.0 to 3.0"
                        " are)", major, minor);
    LA_TRY(in->read(in, b, major == 1 ? 2 : 4));
    *n = b[0] | (uint32_t)b[1] << 8;
    if (major > 1) *n |= (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    if (*n > HEADER_LIMIT)
        return la_error(LA_EIO, ".npy header of %u bytes (at most %d)", *n,
                        HEADER_LIMIT);
    return LA_OK;
}

/* The length is limited before the buffer is made, so that a damaged one cannot
** ask for gigabytes. */
static la_status read_header(la_stream *in, la_npy_header *out)
{
    uint32_t n = 0;
    LA_TRY(read_length(in, &n));
    size_t capacity = n ? n : 1;
    char *text = la_mem_alloc(capacity);
    if (!text) return LA_ENOMEM;
    la_status status = in->read(in, text, n);
    if (!status) status = la_npy_parse(text, n, out);
    la_mem_free(text, capacity);
    return status;
}

/* The data's size in bytes, which must be what is left. */
static la_status check_size(const la_stream *in, const la_npy_header *h)
{
    int64_t numel, bytes;
    LA_TRY(la_numel(h->ndim, h->sizes, &numel));
    if (!la_mul_ok(numel, (int64_t)la_dtype_size(h->dtype), &bytes)
        || bytes > LA_MAX_BYTES)
        return la_error(LA_EIO, "size overflow");
    if (bytes < in->left)
        return la_error(LA_EIO, "%lld bytes behind the data",
                        (long long)(in->left - bytes));
    return LA_OK;  /* fewer: the read tells where it is truncated */
}

/* ---- the data ---- */

static void swap_bytes(unsigned char *p, size_t item)
{
    for (size_t i = 0, j = item - 1; i < j; i++, j--) {
        unsigned char b = p[i];
        p[i] = p[j];
        p[j] = b;
    }
}

/* Converts in place, after the read: each half of a complex element is swapped
** by itself, and a bool byte other than 0 and 1 becomes 1, since kernels rely
** on those two. */
static void to_native(const la_npy_header *h, char *data, int64_t bytes)
{
    size_t item = la_dtype_size(h->dtype);
    if (la_is_complex(h->dtype)) item /= 2;
    if (h->swapped)
        for (int64_t i = 0; i < bytes; i += (int64_t)item)
            swap_bytes((unsigned char *)data + i, item);
    if (h->dtype == LA_BOOL)
        for (int64_t i = 0; i < bytes; i++) data[i] = data[i] != 0;
}

/* Row-major 'to' from column-major 'from': walks 'to' in order and keeps the
** position in 'from' by strides, without a division. */
static void from_fortran(const la_npy_header *h, const char *from, char *to,
                         int64_t numel)
{
    int64_t step[LA_MAX_DIMS], index[LA_MAX_DIMS] = {0};
    int64_t item = (int64_t)la_dtype_size(h->dtype), stride = item;
    for (int d = 0; d < h->ndim; d++) {
        step[d] = stride;
        stride *= h->sizes[d];
    }
    for (int64_t i = 0; i < numel; i++) {
        memcpy(to, from, (size_t)item);
        to += item;
        int d = h->ndim - 1;
        while (d >= 0 && ++index[d] == h->sizes[d]) {
            from -= step[d] * (h->sizes[d] - 1);
            index[d--] = 0;
        }
        if (d >= 0) from += step[d];
    }
}

/* Column-major data needs a second buffer: a permutation in place would follow
** cycles, and the file is read at disk speed anyway. */
static la_status read_fortran(la_stream *in, const la_npy_header *h,
                              la_tensor *t, int64_t bytes)
{
    char *raw = la_mem_alloc((size_t)bytes);
    if (!raw) return LA_ENOMEM;
    la_status status = in->read(in, raw, (size_t)bytes);
    if (!status) from_fortran(h, raw, la_data(t), t->numel);
    la_mem_free(raw, (size_t)bytes);
    return status;
}

/* The data must be there before the tensor is allocated, so that a header of a
** few bytes cannot claim the memory of a shape. */
la_status la_npy_read(la_stream *in, la_tensor **out)
{
    la_npy_header h;
    int64_t whole = in->left;
    LA_TRY(read_header(in, &h));
    LA_TRY(check_size(in, &h));
    int64_t numel, bytes;
    LA_TRY(la_numel(h.ndim, h.sizes, &numel));
    bytes = numel * (int64_t)la_dtype_size(h.dtype);
    if (bytes > in->left)
        return la_error(LA_EIO, "truncated at byte %lld", (long long)whole);
    LA_LET(t, la_tensor_empty(h.ndim, h.sizes, h.dtype, &t));
    if (bytes && h.fortran && h.ndim > 1)
        LA_TRY(read_fortran(in, &h, t, bytes));
    else if (bytes)
        LA_TRY(in->read(in, la_data(t), (size_t)bytes));
    if (bytes) to_native(&h, la_data(t), bytes);
    return la_tensor_hand(&t, out);
}

/* Column-major files are mapped as they are, by strides; swapped ones are not,
** as the mapping is read-only. */
la_status la_npy_map(const la_reader *source, la_mapping *m, la_tensor **out)
{
    la_npy_header h;
    la_range_stream in;
    la_range_stream_init(&in, source, 0, source->size);
    LA_TRY(read_header(&in.stream, &h));
    LA_TRY(check_size(&in.stream, &h));
    if (h.swapped)
        return la_error(LA_EIO, "data in the other order of bytes cannot be"
                        " mapped: use load");
    return la_mapping_tensor(m, in.at, h.dtype, h.ndim, h.sizes, h.fortran,
                             out);
}

/* ---- writing ---- */

/* NumPy has neither a bfloat16 nor a complex of two halves. */
static bool has_numpy_dtype(la_dtype d)
{
    return d != LA_BFLOAT16 && d != LA_COMPLEX32 && d != LA_UNDEFINED;
}

/* The header with magic and padding; at most 64 dims of 20 digits. */
static size_t make_header(const la_tensor *t, char out[2048])
{
    const uint16_t one = 1;
    la_dtype dtype = (la_dtype)t->dtype;
    char *text = out + MAGIC_BYTES + 4;
    size_t capacity = 2048 - MAGIC_BYTES - 4, item = la_dtype_size(dtype);
    char order = item == 1 ? '|' : *(const char *)&one ? '<' : '>';
    int n = snprintf(text, capacity, "{'descr': '%c%c%zu',"
                     " 'fortran_order': False, 'shape': (", order,
                     la_dtype_kind(dtype), item);
    for (int d = 0; d < t->ndim; d++)
        n += snprintf(text + n, capacity - (size_t)n, "%lld%s",
                      (long long)la_sizes(t)[d],
                      t->ndim == 1 ? "," : d + 1 < t->ndim ? ", " : "");
    n += snprintf(text + n, capacity - (size_t)n, "), }");
    size_t whole = MAGIC_BYTES + 4 + (size_t)n + 1;
    size_t padded = (whole + ALIGN - 1) / ALIGN * ALIGN;
    memset(text + n, ' ', padded - whole);
    out[padded - 1] = '\n';
    size_t length = padded - MAGIC_BYTES - 4;
    memcpy(out, MAGIC "\x01\x00", MAGIC_BYTES + 2);
    out[MAGIC_BYTES + 2] = (char)(length & 0xff);
    out[MAGIC_BYTES + 3] = (char)(length >> 8);
    return padded;
}

static la_status check_writable_dtype(const la_tensor *t)
{
    if (has_numpy_dtype((la_dtype)t->dtype)) return LA_OK;
    return la_error(LA_EDTYPE, "NumPy has no %s: convert with x:to(\"%s\")",
                    la_dtype_name((la_dtype)t->dtype),
                    t->dtype == LA_BFLOAT16 ? "float32" : "complex64");
}

la_status la_npy_size(const la_tensor *t, int64_t *bytes)
{
    char header[2048];
    LA_TRY(check_writable_dtype(t));
    *bytes = (int64_t)make_header(t, header)
        + t->numel * (int64_t)la_itemsize(t);
    return LA_OK;
}

/* Always version 1.0: 64 dims of 20 digits stay far below its 64 KiB. */
la_status la_npy_write(const la_tensor *t, la_write_fn write, void *to)
{
    char header[2048];
    LA_TRY(check_writable_dtype(t));
    LA_TRY(write(to, header, make_header(t, header)));
    if (!t->numel) return LA_OK;
    return write(to, la_data(t), (size_t)t->numel * la_itemsize(t));
}
