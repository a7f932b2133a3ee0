/*
** Numbers outside tensors: reading and writing one element of any dtype.
*/
#include "tensor/scalar.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/runtime/context.h"
#include "base/half.h"

/* A double as an integer, as the processor converts: what lies outside int64
** gives the smallest number; narrower types take the low bits of that. Above
** int64 the values of uint64 are kept. */
static int64_t truncate(double v)
{
    if (v >= -0x1p63 && v < 0x1p63)
        return (int64_t)v;
    if (v >= 0x1p63 && v < 0x1p64)
        return (int64_t)(uint64_t)v;
    return INT64_MIN;
}

static bool is_whole(const la_scalar *s)
{
    return s->kind == LA_KBOOL || s->kind == LA_KINT;
}

static int64_t as_integer(const la_scalar *s)
{
    return is_whole(s) ? s->i : truncate(s->re);
}

static double as_real(const la_scalar *s)
{
    return is_whole(s) && !la_scalar_above_int(s) ? (double)s->i : s->re;
}

static float as_float(const la_scalar *s)
{
    if (la_scalar_above_int(s)) return (float)(uint64_t)s->i;
    return is_whole(s) ? (float)s->i : (float)s->re;
}

static bool is_nonzero(const la_scalar *s)
{
    return is_whole(s) ? s->i != 0 : s->re != 0 || s->im != 0;
}

/* Integers of all widths by their low bytes (the machine is little-endian). */
static void put_integer(void *out, int64_t v, size_t size)
{
    memcpy(out, &v, size);
}

/* 'narrow' for halves and float32, 'wide' for float64: the same value twice,
** since an integer may round differently by way of a double. */
static void put_real(la_dtype dtype, void *out, float narrow, double wide)
{
    la_f16 h;
    la_bf16 b;
    switch (dtype) {
    case LA_FLOAT16: h = la_f32_to_f16(narrow); memcpy(out, &h, 2); break;
    case LA_BFLOAT16: b = la_f32_to_bf16(narrow); memcpy(out, &b, 2); break;
    case LA_FLOAT32: memcpy(out, &narrow, 4); break;
    default: memcpy(out, &wide, 8); break;
    }
}

/* Unchecked, as C casts: integers wrap, floats round, a real value has no
** imaginary part. Bytes, because 'out' may be unaligned. */
void la_scalar_cast(const la_scalar *s, la_dtype dtype, void *out)
{
    size_t size = la_dtype_size(dtype);
    la_dtype real = la_dtype_to_real(dtype);
    switch (la_dtype_kind(dtype)) {
    case 'b':
        put_integer(out, is_nonzero(s), 1);
        break;
    case 'u': case 'i':
        put_integer(out, as_integer(s), size);
        break;
    case 'f':
        put_real(dtype, out, as_float(s), as_real(s));
        break;
    default:
        put_real(real, out, as_float(s), as_real(s));
        put_real(real, (char *)out + size / 2,
                 s->kind == LA_KCOMPLEX ? (float)s->im : 0,
                 s->kind == LA_KCOMPLEX ? s->im : 0);
    }
}

/* --- checked --- */

/* The value as it was given, so that the user finds it in his list. */
static la_status conversion_error(const la_scalar *s, la_dtype dtype)
{
    const char *to = la_dtype_name(dtype);
    if (la_scalar_above_int(s))
        return la_error(LA_EDTYPE, "value %llu cannot be converted to type %s "
                        "without overflow", (unsigned long long)s->i, to);
    if (is_whole(s))
        return la_error(LA_EDTYPE, "value %lld cannot be converted to type %s "
                        "without overflow", (long long)s->i, to);
    if (s->kind == LA_KCOMPLEX)
        return la_error(LA_EDTYPE, "a complex value cannot be converted to "
                        "type %s", to);
    return la_error(LA_EDTYPE, "value %.17g cannot be converted to type %s "
                    "without overflow or loss", s->re, to);
}

static bool integer_fits(int64_t v, la_dtype dtype)
{
    int bits = (int)la_dtype_size(dtype) * 8;
    if (la_dtype_kind(dtype) == 'u')
        return v >= 0 && (bits == 64 || v >> bits == 0);
    return bits == 64 || (v >> (bits - 1) == 0 || v >> (bits - 1) == -1);
}

static bool whole_double_fits(double v, la_dtype dtype)
{
    if (v != trunc(v))  /* also NaN */
        return false;
    if (dtype == LA_UINT64)
        return v >= 0 && v < 0x1p64;
    return v >= -0x1p63 && v < 0x1p63 && integer_fits((int64_t)v, dtype);
}

/* Infinities and NaN exist in every floating type; another value fits
** unless it rounds to infinity: from half a step above the largest on. */
static bool double_fits(double v, la_dtype real)
{
    double limit = real == LA_FLOAT16 ? 65520.0
        : real == LA_BFLOAT16 ? 0x1.ffp127
        : real == LA_FLOAT32 ? 0x1.ffffffp127 : INFINITY;
    return !(fabs(v) >= limit) || isinf(v);
}

/* Floats take integers (rounded) up to their range; integers take floats only
** when whole and in range; only complex dtypes take an imaginary part. */
static bool scalar_fits(const la_scalar *s, la_dtype dtype)
{
    char kind = la_dtype_kind(dtype);
    la_dtype real = la_dtype_to_real(dtype);
    if (s->kind == LA_KCOMPLEX && s->im != 0 && kind != 'c')
        return false;
    if (kind == 'b')
        return true;
    if ((kind == 'i' || kind == 'u') && la_scalar_above_int(s))
        return dtype == LA_UINT64;
    if (kind == 'i' || kind == 'u')
        return is_whole(s) ? integer_fits(s->i, dtype)
                           : whole_double_fits(s->re, dtype);
    return double_fits(as_real(s), real)
        && (s->kind != LA_KCOMPLEX || double_fits(s->im, real));
}

/* Most scalars are floats for float32 tensors: they skip the general path. */
la_status la_scalar_store(const la_scalar *s, la_dtype dtype, void *out)
{
    if (dtype == LA_FLOAT32 && s->kind == LA_KFLOAT && fabs(s->re) < FLT_MAX) {
        float f = (float)s->re;     /* most of all that is stored */
        memcpy(out, &f, sizeof f);
        return LA_OK;
    }
    if (!scalar_fits(s, dtype))
        return conversion_error(s, dtype);
    la_scalar_cast(s, dtype, out);
    return LA_OK;
}

/* --- reading --- */

static double get_real(la_dtype dtype, const void *in)
{
    la_f16 h;
    la_bf16 b;
    float f;
    double d;
    switch (dtype) {
    case LA_FLOAT16: memcpy(&h, in, 2); return (double)la_f16_to_f32(h);
    case LA_BFLOAT16: memcpy(&b, in, 2); return (double)la_bf16_to_f32(b);
    case LA_FLOAT32: memcpy(&f, in, 4); return (double)f;
    default: memcpy(&d, in, 8); return d;
    }
}

static la_scalar get_unsigned(const void *in, size_t size)
{
    uint64_t v = 0;
    memcpy(&v, in, size);
    return la_scalar_unsigned(v);
}

static la_scalar get_signed(const void *in, size_t size)
{
    uint64_t v = 0;
    int unused = 64 - (int)size * 8;
    memcpy(&v, in, size);
    return la_scalar_int((int64_t)(v << unused) >> unused);
}

la_scalar la_scalar_load(la_dtype dtype, const void *in)
{
    size_t size = la_dtype_size(dtype);
    la_dtype real = la_dtype_to_real(dtype);
    switch (la_dtype_kind(dtype)) {
    case 'b': return la_scalar_bool(*(const uint8_t *)in != 0);
    case 'u': return get_unsigned(in, size);
    case 'i': return get_signed(in, size);
    case 'f': return la_scalar_float(get_real(dtype, in));
    default:
        return la_scalar_complex(
            get_real(real, in), get_real(real, (const char *)in + size / 2));
    }
}

la_dtype la_scalar_dtype(const la_scalar *s)
{
    switch (s->kind) {
    case LA_KBOOL: return LA_BOOL;
    case LA_KINT: return LA_INT64;
    case LA_KFLOAT: return la_ctx()->default_dtype;
    default: return la_dtype_to_complex(la_ctx()->default_dtype);
    }
}
