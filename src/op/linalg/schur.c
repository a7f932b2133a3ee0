/*
** Schur forms and eigenvectors of general matrices, for each dtype.
*/
#include "op/linalg/schur.h"

#include <math.h>

#include "base/libm/libm.h"
#include "base/runtime/interrupt.h"
#include "base/size.h"
#include "op/value.h"

enum {
    BULGES = 10,              /* pairs of shifts of a sweep at most */
    WINDOW = 80,              /* rows in which they move before products */
    SMALL_BLOCK = 64,         /* rows up to which pairs go one by one */
    MOST_ROUNDS = 60,         /* for a value, or two */
    BACK_BLOCK = 32,          /* rows of a step of back substitution */
    ASK_AFTER = 1 << 20       /* elements */
};

typedef struct schur_number { double re, im; } schur_number;

static inline schur_number schur_mul(schur_number a, schur_number b)
{
    return (schur_number){a.re * b.re - a.im * b.im,
                          a.re * b.im + a.im * b.re};
}

static double schur_size(schur_number a) { return fabs(a.re) + fabs(a.im); }

static double schur_norm(double a, double b, double c, double d)
{
    return la_m_hypot(la_m_hypot(a, b), la_m_hypot(c, d));
}

/* Scaled by the larger part of b. */
static schur_number schur_div(schur_number a, schur_number b)
{
    double s = 1 / fmax(fabs(b.re), fabs(b.im));
    double re = b.re * s, im = b.im * s, d = s / (re * re + im * im);
    return (schur_number){(a.re * re + a.im * im) * d,
                          (a.im * re - a.re * im) * d};
}

static schur_number schur_root(schur_number a)
{
    double r = la_m_hypot(a.re, a.im), x = sqrt((r + fabs(a.re)) / 2);
    if (x == 0) return (schur_number){0, 0};
    double y = a.im / (2 * x);
    if (a.re >= 0) return (schur_number){x, y};
    return (schur_number){fabs(y), copysign(x, a.im)};
}

/* The values of [[a, b], [c, d]]: of real ones conjugate pairs are exact, the
** one with the positive imaginary part first. */
static void schur_pair(schur_number a, schur_number b, schur_number c,
                       schur_number d, schur_number *first,
                       schur_number *second)
{
    double scale = fmax(fmax(schur_size(a), schur_size(b)),
                        fmax(schur_size(c), schur_size(d)));
    *first = *second = (schur_number){0, 0};
    if (scale == 0) return;
    schur_number p = {(a.re - d.re) / 2 / scale, (a.im - d.im) / 2 / scale};
    schur_number bc = schur_mul((schur_number){b.re / scale, b.im / scale},
                                (schur_number){c.re / scale, c.im / scale});
    schur_number disc = schur_mul(p, p);
    disc.re += bc.re;
    disc.im += bc.im;
    bool real = a.im == 0 && b.im == 0 && c.im == 0 && d.im == 0;
    if (real && disc.re < 0) {
        double im = sqrt(-disc.re) * scale, re = d.re + p.re * scale;
        *first = (schur_number){re, im};
        *second = (schur_number){re, -im};
        return;
    }
    /* d + p +- root: the one without cancellation first */
    schur_number root = schur_root(disc);
    if (p.re * root.re + p.im * root.im < 0)
        root = (schur_number){-root.re, -root.im};
    schur_number far = {p.re + root.re, p.im + root.im};
    *first = (schur_number){d.re + far.re * scale, d.im + far.im * scale};
    *second = d;
    if (schur_size(far) == 0) return;
    schur_number near = schur_div(bc, far);
    *second = (schur_number){d.re - near.re * scale, d.im - near.im * scale};
}

#define SCHUR_AT(t, i) \
    ((schur_number){(double)(t)[2 * (i)], (double)(t)[2 * (i) + 1]})

#define JOIN__(a, b) a##_##b
#define JOIN_(a, b) JOIN__(a, b)
#define FN(name) JOIN_(name, TAG)
#define FN_REDUCER la_reducer_of(f->dtype)

#define REAL float
#define PARTS 1
#define TAG f32
#include "op/linalg/schur.inc"
#undef PARTS
#undef TAG
#define PARTS 2
#define TAG c64
#include "op/linalg/schur.inc"
#undef REAL
#undef PARTS
#undef TAG
#define REAL double
#define PARTS 1
#define TAG f64
#include "op/linalg/schur.inc"
#undef PARTS
#undef TAG
#define PARTS 2
#define TAG c128
#include "op/linalg/schur.inc"
#undef REAL
#undef PARTS
#undef TAG
#undef FN
#undef FN_REDUCER
#undef JOIN_
#undef JOIN__
#undef SCHUR_AT

size_t la_general_work(const la_field *f, int64_t n)
{
    int64_t real = la_real_size(f);
    size_t square = la_whole_lines(n * n * 2 * real);
    size_t qr = la_qr_work(f, n, n);
    return la_whole_lines(sizeof(large_c128))
        + la_whole_lines(5 * n * (int64_t)sizeof(double))
        + la_whole_lines(2 * WINDOW * WINDOW * f->size)
        + la_whole_lines(n * WINDOW * f->size) + 2 * square
        + (square > qr ? square : qr);
}

la_status la_general_solve(la_reduction *r, char *values, char *vectors,
                           char *scratch, int32_t *info)
{
    switch (r->f->dtype) {
    case LA_FLOAT32: return general_f32(r, values, vectors, scratch, info);
    case LA_FLOAT64: return general_f64(r, values, vectors, scratch, info);
    case LA_COMPLEX64: return general_c64(r, values, vectors, scratch, info);
    default: return general_c128(r, values, vectors, scratch, info);
    }
}
