/*
** Functions of one complex number by those of base/libm/libm.h: the same bits
** on every machine. Branch cuts and special values are those of Annex G of the
** C standard; errors are a few units in the last place of the larger part, as
** of C libraries.
*/
#ifndef LA_BASE_LIBM_LIBM_COMPLEX_H
#define LA_BASE_LIBM_LIBM_COMPLEX_H

typedef struct la_m_complex { double re, im; } la_m_complex;

/* X(name) for each function of one complex number. */
#define LA_LIBM_COMPLEX(X) \
    X(exp) X(log) X(sqrt) X(sin) X(cos) X(tan) X(sinh) X(cosh) X(tanh) \
    X(asin) X(acos) X(atan) X(asinh) X(acosh) X(atanh)
#define LA_LIBM_DECLARE(name) la_m_complex la_m_c##name(la_m_complex z);
LA_LIBM_COMPLEX(LA_LIBM_DECLARE)
#undef LA_LIBM_DECLARE

/* e^(b log a); 0 to a power with a positive real part is 0 */
la_m_complex la_m_cpow(la_m_complex a, la_m_complex b);

#endif
