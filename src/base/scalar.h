/* A number with a kind; see tensor/scalar.h for what can be done with it. */
#ifndef LA_BASE_SCALAR_H
#define LA_BASE_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

typedef enum la_kind { LA_KBOOL, LA_KINT, LA_KFLOAT, LA_KCOMPLEX } la_kind;

typedef struct la_scalar {
    la_kind kind;
    int64_t i;      /* LA_KBOOL, LA_KINT */
    double re, im;  /* LA_KFLOAT (im 0), LA_KCOMPLEX */
} la_scalar;

static inline la_scalar la_scalar_int(int64_t v)
{
    return (la_scalar){LA_KINT, v, (double)v, 0};
}
static inline la_scalar la_scalar_float(double v)
{
    return (la_scalar){LA_KFLOAT, 0, v, 0};
}
static inline la_scalar la_scalar_bool(bool v)
{
    return (la_scalar){LA_KBOOL, v, v, 0};
}
static inline la_scalar la_scalar_complex(double re, double im)
{
    return (la_scalar){LA_KCOMPLEX, 0, re, im};
}
/* 're' is valid for every kind, 'i' for the two integer kinds only. Of a uint64
** above int64 'i' has the bits and 're' the value, which tells it from a
** negative number. */
static inline la_scalar la_scalar_unsigned(uint64_t v)
{
    return (la_scalar){LA_KINT, (int64_t)v, (double)v, 0};
}
static inline bool la_scalar_above_int(const la_scalar *s)
{
    return s->kind == LA_KINT && s->i < 0 && s->re > 0;
}

#endif
