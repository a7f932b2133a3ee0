/*
** Parts of vectors of 16-bit floats, as float32: f16_load_part(p, n, pad),
** f16_store_part(p, n, v), and the same for bf16. AVX2 has no masks for lanes
** of 16 bits, so there they take dozens of instructions, which are kept out of
** line.
*/
#ifndef LA_KERNEL_ROWS_PART16_H
#define LA_KERNEL_ROWS_PART16_H

#include "simd/vec.h"

#if VEC_BYTES == 32
#define PART static __attribute__((noinline, unused))
#else
#define PART static inline
#endif
PART f32v f16_load_part(const void *p, int64_t n, float pad)
{
    return f16_load_pad(p, n, pad);
}
PART f32v bf16_load_part(const void *p, int64_t n, float pad)
{
    return bf16_load_pad(p, n, pad);
}
PART void f16_store_part(void *p, int64_t n, f32v v)
{
    f16_store_n(p, n, v);
}
PART void bf16_store_part(void *p, int64_t n, f32v v)
{
    bf16_store_n(p, n, v);
}
#undef PART

#endif
