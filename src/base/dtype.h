/*
** Element types. One row in dtype.def is one dtype; sizes, names and kinds
** follow from it. LA_UNDEFINED: none is chosen yet (an option, an output).
*/
#ifndef LA_BASE_DTYPE_H
#define LA_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct { uint16_t bits; } la_f16;   /* IEEE binary16 */
typedef struct { uint16_t bits; } la_bf16;  /* upper half of a binary32 */
typedef struct { la_f16 re, im; } la_c32;

typedef enum la_dtype {
#define DTYPE(ID, name, ctype, kind, tag, title) LA_##ID,
#include "base/dtype.def"
#undef DTYPE
    LA_NDTYPES,
    LA_UNDEFINED = LA_NDTYPES
} la_dtype;

typedef struct la_dtype_info {
    const char *name;
    uint8_t size;   /* bytes of one element */
    char kind;      /* 'b', 'u', 'i', 'f', 'c' */
} la_dtype_info;

extern const la_dtype_info la_dtype_table[LA_NDTYPES + 1];

static inline size_t la_dtype_size(la_dtype d)
{
    return la_dtype_table[d].size;
}
static inline const char *la_dtype_name(la_dtype d)
{
    return la_dtype_table[d].name;
}
static inline char la_dtype_kind(la_dtype d) { return la_dtype_table[d].kind; }
static inline bool la_is_float(la_dtype d) { return la_dtype_kind(d) == 'f'; }
static inline bool la_is_half(la_dtype d)     /* a float of 16 bits */
{
    return d == LA_FLOAT16 || d == LA_BFLOAT16;
}
static inline bool la_is_complex(la_dtype d) { return la_dtype_kind(d) == 'c'; }
static inline bool la_is_inexact(la_dtype d)  /* with fractions */
{
    return la_is_float(d) || la_is_complex(d);
}
static inline bool la_is_integral(la_dtype d)  /* without bool */
{
    return la_dtype_kind(d) == 'i' || la_dtype_kind(d) == 'u';
}

/* LA_UNDEFINED when 'name' (of 'n' bytes) is no dtype; PyTorch's aliases
** ("float", "double", "half", "long", "int", ...) are understood. */
la_dtype la_dtype_parse(const char *name, size_t n);
extern const char *const la_known_dtypes;   /* "bool, uint8, ..." */

/* complex64 -> float32 and back; else the same, or LA_UNDEFINED if integral. */
la_dtype la_dtype_to_real(la_dtype d);
la_dtype la_dtype_to_complex(la_dtype d);

#endif
