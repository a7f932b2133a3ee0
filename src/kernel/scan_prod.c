/* Running products; floats and complex numbers in double, integers in int64. */
#include "kernel/scan_load.h"

#define COMB(a, b) ((a) * (b))
#define IDENT 1

/* Each lane with all lanes before it. */
static inline x4 scan4(x4 v)
{
    const x4 none = (x4){0} + IDENT;
    v = COMB(__builtin_shufflevector(none, v, 0, 4, 5, 6), v);
    return COMB(__builtin_shufflevector(none, v, 0, 1, 4, 5), v);
}

#define ID f32
#define T float
#define LOAD1(p) reduce_load_f32(p)
#define STORE1(p, x) put_f32(p, x)
#define LOAD4(p) load4_f32(p)
#define STORE4(p, v) store4_f32(p, v)
#include "kernel/scan_float.inc"

#define ID f64
#define T double
#define LOAD1(p) reduce_load_f64(p)
#define STORE1(p, x) put_f64(p, x)
#define LOAD4(p) load4_f64(p)
#define STORE4(p, v) store4_f64(p, v)
#include "kernel/scan_float.inc"

#define ID f16
#define T la_f16
#define LOAD1(p) reduce_load_f16(p)
#define STORE1(p, x) put_f16(p, x)
#define LOAD4(p) load4_f16(p)
#define STORE4(p, v) store4_f16(p, v)
#include "kernel/scan_float.inc"

#define ID bf16
#define T la_bf16
#define LOAD1(p) reduce_load_bf16(p)
#define STORE1(p, x) put_bf16(p, x)
#define LOAD4(p) load4_bf16(p)
#define STORE4(p, v) store4_bf16(p, v)
#include "kernel/scan_float.inc"

/* Integers wrap; unsigned numbers do so by definition. */
#define ID u64
#define T uint64_t
#define A uint64_t
#define LOAD1(p) reduce_load_u64(p)
#define STORE1(p, x) put_u64(p, x)
#include "kernel/scan_plain.inc"
#define ID c32
#define T la_c32
#define A double _Complex
#define LOAD1(p) get_c32(p)
#define STORE1(p, x) put_c32(p, x)
#include "kernel/scan_plain.inc"
#define ID c64
#define T float _Complex
#define A double _Complex
#define LOAD1(p) get_c64(p)
#define STORE1(p, x) put_c64(p, x)
#include "kernel/scan_plain.inc"
#define ID c128
#define T double _Complex
#define A double _Complex
#define LOAD1(p) get_c128(p)
#define STORE1(p, x) put_c128(p, x)
#include "kernel/scan_plain.inc"

const la_scans LA_KERNEL(scan_prod) = {
    [LA_INT64] = SCAN_ENTRY(u64, uint64_t),
    [LA_FLOAT16] = SCAN_ENTRY(f16, double),
    [LA_BFLOAT16] = SCAN_ENTRY(bf16, double),
    [LA_FLOAT32] = SCAN_ENTRY(f32, double),
    [LA_FLOAT64] = SCAN_ENTRY(f64, double),
    [LA_COMPLEX32] = SCAN_ENTRY(c32, double _Complex),
    [LA_COMPLEX64] = SCAN_ENTRY(c64, double _Complex),
    [LA_COMPLEX128] = SCAN_ENTRY(c128, double _Complex)
};
