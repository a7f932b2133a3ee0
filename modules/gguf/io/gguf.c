/* The grammar of GGUF files. */
#include "modules/gguf/io/gguf.h"

#include <string.h>

#include "base/size.h"

/* ---- bytes ---- */

static la_status gguf_take(la_gguf *g, int64_t n, const uint8_t **out)
{
    if (n > g->size - g->at)
        return la_error(LA_EIO, "truncated at byte %lld", (long long)g->size);
    *out = g->base + g->at;
    g->at += n;
    return LA_OK;
}

static la_status gguf_little(la_gguf *g, int bytes, uint64_t *out)
{
    const uint8_t *p = NULL;
    LA_TRY(gguf_take(g, bytes, &p));
    *out = 0;
    for (int k = bytes - 1; k >= 0; k--) *out = *out << 8 | p[k];
    return LA_OK;
}

/* A number of things, of which each takes at least 'least' bytes. */
static la_status gguf_count(la_gguf *g, int64_t least, const char *what,
                            int64_t *out)
{
    uint64_t n;
    int64_t at = g->at;
    LA_TRY(gguf_little(g, 8, &n));
    if (n > (uint64_t)((g->size - g->at) / least))
        return la_error(LA_EIO, "%llu %s at byte %lld are more than the file "
                        "can hold", (unsigned long long)n, what,
                        (long long)at);
    *out = (int64_t)n;
    return LA_OK;
}

static la_status gguf_text(la_gguf *g, la_gguf_text *out)
{
    int64_t n = 0;
    const uint8_t *p = NULL;
    LA_TRY(gguf_count(g, 1, "bytes of a string", &n));
    LA_TRY(gguf_take(g, n, &p));
    *out = (la_gguf_text){(const char *)p, (size_t)n};
    return LA_OK;
}

static la_status gguf_kind(la_gguf *g, la_gguf_kind *out)
{
    uint64_t kind;
    int64_t at = g->at;
    LA_TRY(gguf_little(g, 4, &kind));
    if (kind >= LA_GGUF_KINDS)
        return la_error(LA_EIO, "there is no type of values %llu (at byte "
                        "%lld)", (unsigned long long)kind, (long long)at);
    *out = (la_gguf_kind)kind;
    return LA_OK;
}

/* ---- the header ---- */

static la_status check_version(la_gguf *g)
{
    uint64_t version;
    LA_TRY(gguf_little(g, 4, &version));
    if (version == 0x02000000 || version == 0x03000000)
        return la_error(LA_EIO, "a big-endian GGUF file; little-endian ones are"
                        " read");
    if (version != 2 && version != 3)
        return la_error(LA_EIO, "GGUF of version %llu; 2 and 3 are read",
                        (unsigned long long)version);
    g->version = (int)version;
    return LA_OK;
}

/* A tensor takes a name, dims, a type and an offset; a value a key and a
** type. */
la_status la_gguf_begin(la_gguf *g, const void *bytes, int64_t n)
{
    const uint8_t *magic = NULL;
    *g = (la_gguf){.base = bytes, .size = n, .alignment = 32};
    LA_TRY(gguf_take(g, 4, &magic));
    if (memcmp(magic, "GGUF", 4) != 0)
        return la_error(LA_EIO, "no GGUF file: it begins with other bytes");
    LA_TRY(check_version(g));
    LA_TRY(gguf_count(g, 8 + 4 + 4 + 8, "tensors", &g->ntensors));
    return gguf_count(g, 8 + 4 + 1, "values", &g->nvalues);
}

/* ---- values ---- */

la_status la_gguf_key(la_gguf *g, la_gguf_text *key, la_gguf_kind *kind)
{
    LA_TRY(gguf_text(g, key));
    return gguf_kind(g, kind);
}

static int64_t least_bytes(la_gguf_kind kind)
{
    static const uint8_t bytes[LA_GGUF_KINDS] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12,
                                                 8, 8, 8};
    return bytes[kind];
}

la_status la_gguf_array(la_gguf *g, la_gguf_kind *kind, int64_t *n)
{
    LA_TRY(gguf_kind(g, kind));
    return gguf_count(g, least_bytes(*kind), "elements", n);
}

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static la_status read_bool(const la_gguf *g, uint64_t bits, la_gguf_value *out)
{
    out->i = (int64_t)bits;
    if (bits <= 1) return LA_OK;
    return la_error(LA_EIO, "a boolean %llu at byte %lld; 0 or 1 expected",
                    (unsigned long long)bits, (long long)(g->at - 1));
}

la_status la_gguf_read(la_gguf *g, la_gguf_kind kind, la_gguf_value *out)
{
    uint64_t bits = 0;
    *out = (la_gguf_value){.kind = kind};
    if (kind == LA_GGUF_STRING) return gguf_text(g, &out->s);
    LA_TRY(gguf_little(g, (int)least_bytes(kind), &bits));
    out->i = (int64_t)bits;
    switch (kind) {
    case LA_GGUF_I8: out->i = (int8_t)bits; break;
    case LA_GGUF_I16: out->i = (int16_t)bits; break;
    case LA_GGUF_I32: out->i = (int32_t)bits; break;
    case LA_GGUF_U64:
        out->large = bits > INT64_MAX;
        out->d = (double)bits;
        break;
    case LA_GGUF_BOOL: return read_bool(g, bits, out);
    case LA_GGUF_F32: out->d = (double)float_of((uint32_t)bits); break;
    case LA_GGUF_F64: memcpy(&out->d, &bits, sizeof out->d); break;
    default: break;
    }
    return LA_OK;
}

/* ---- tensors ---- */

/* The first number of a file is the size of the fastest dim. The product must
** fit without the zeros among the sizes, too. */
static la_status read_sizes(la_gguf *g, la_gguf_tensor *t)
{
    uint64_t ndim, size;
    int64_t whole = 1;
    t->numel = 1;
    LA_TRY(gguf_little(g, 4, &ndim));
    if (ndim > LA_GGUF_DIMS)
        return la_error(LA_EIO, "%llu dims; at most %d expected",
                        (unsigned long long)ndim, LA_GGUF_DIMS);
    t->ndim = (int)ndim;
    for (int d = t->ndim - 1; d >= 0; d--) {
        LA_TRY(gguf_little(g, 8, &size));
        if (size > INT64_MAX
            || !la_mul_ok(whole, size ? (int64_t)size : 1, &whole))
            return la_error(LA_EIO, "the product of the sizes overflows");
        t->sizes[d] = (int64_t)size;
        t->numel *= (int64_t)size;
    }
    return LA_OK;
}

static la_status check_rows(la_gguf_tensor *t)
{
    int64_t last = t->ndim > 0 ? t->sizes[t->ndim - 1] : 1;
    if (last % t->type->size)
        return la_error(LA_EIO, "rows of %lld numbers are no blocks of %lld "
                        "(%s)", (long long)last, (long long)t->type->size,
                        t->type->name);
    if (!la_mul_ok(t->numel / t->type->size, t->type->bytes, &t->bytes)
        || !la_mul_ok(last / t->type->size, t->type->bytes, &last))
        return la_error(LA_EIO, "the number of bytes overflows");
    return LA_OK;
}

la_status la_gguf_tensor_read(la_gguf *g, la_gguf_tensor *t)
{
    uint64_t type, offset;
    *t = (la_gguf_tensor){.ndim = 0};
    LA_TRY(gguf_text(g, &t->name));
    LA_TRY(read_sizes(g, t));
    LA_TRY(gguf_little(g, 4, &type));
    LA_TRY(gguf_little(g, 8, &offset));
    t->type = la_gguf_type_of((int64_t)type);
    if (!t->type)
        return la_error(LA_EIO, "tensors of type %llu are not known",
                        (unsigned long long)type);
    if (offset > INT64_MAX || (int64_t)offset % g->alignment)
        return la_error(LA_EIO, "the offset %llu is no multiple of %lld",
                        (unsigned long long)offset, (long long)g->alignment);
    t->offset = (int64_t)offset;
    return check_rows(t);
}

la_status la_gguf_data(la_gguf *g, int64_t *out)
{
    int64_t a = g->alignment, over = g->at % a;
    *out = over ? g->at + (a - over) : g->at;
    if (g->ntensors > 0 && *out > g->size)
        return la_error(LA_EIO, "truncated at byte %lld", (long long)g->size);
    return LA_OK;
}

la_status la_gguf_check(const la_gguf *g, int64_t data,
                        const la_gguf_tensor *t)
{
    if (t->offset <= g->size - data && t->bytes <= g->size - data - t->offset)
        return LA_OK;
    return la_error(LA_EIO, "truncated at byte %lld: %lld bytes from byte %lld "
                    "on are expected", (long long)g->size, (long long)t->bytes,
                    (long long)t->offset);
}
