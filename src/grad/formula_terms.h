/*
** The terms of derivative formulas, as macros over a formula that is called x:
**
**   G, GR(k)      the gradient of result 0, of result k
**   A(k), RES(k)  a saved argument, a saved result
**   VAL(k)        an argument that is no tensor, by value
**   SIZES(k)      the sizes of argument k
**   C(t)          the conjugate; t itself when it is real
**   R(op, ...)    a call of an operation on tensors and C values
**
** Included last, and only by derivatives.c and the files formulas_*.c: names
** this short are for files in which nothing else is written.
*/
#ifndef LA_GRAD_FORMULA_TERMS_H
#define LA_GRAD_FORMULA_TERMS_H

#include "grad/formula.h"

static inline la_value la_v_tensor(la_tensor *t) { return LA_T(t); }
static inline la_value la_v_int(int i) { return LA_I(i); }
static inline la_value la_v_int64(int64_t i) { return LA_I(i); }
static inline la_value la_v_float(double d)
{
    return LA_S(la_scalar_float(d));
}
static inline la_value la_v_bool(bool b) { return LA_B(b); }
static inline la_value la_v_scalar(la_scalar s) { return LA_S(s); }
static inline la_value la_v_value(la_value v) { return v; }
static inline la_value la_v_text(const char *s) { return LA_STR(s); }

/* A C value as an argument of an operation. */
#define LA_V(a) _Generic((a), la_tensor *: la_v_tensor, int: la_v_int, \
    int64_t: la_v_int64, double: la_v_float, float: la_v_float, \
    bool: la_v_bool, \
    la_scalar: la_v_scalar, la_value: la_v_value, char *: la_v_text, \
    const char *: la_v_text)(a)

#define LA_MAP1(a) LA_V(a)
#define LA_MAP2(a, ...) LA_V(a), LA_MAP1(__VA_ARGS__)
#define LA_MAP3(a, ...) LA_V(a), LA_MAP2(__VA_ARGS__)
#define LA_MAP4(a, ...) LA_V(a), LA_MAP3(__VA_ARGS__)
#define LA_MAP5(a, ...) LA_V(a), LA_MAP4(__VA_ARGS__)
#define LA_MAP6(a, ...) LA_V(a), LA_MAP5(__VA_ARGS__)
#define LA_MAP7(a, ...) LA_V(a), LA_MAP6(__VA_ARGS__)
#define LA_MAP8(a, ...) LA_V(a), LA_MAP7(__VA_ARGS__)
#define LA_PICK(_1, _2, _3, _4, _5, _6, _7, _8, NAME, ...) NAME
#define LA_MAP(...) LA_PICK(__VA_ARGS__, LA_MAP8, LA_MAP7, LA_MAP6, LA_MAP5, \
    LA_MAP4, LA_MAP3, LA_MAP2, LA_MAP1)(__VA_ARGS__)

#define R(name, ...) la_x_run(x, LA_OP(name), \
    (int)(sizeof((la_value[]){LA_MAP(__VA_ARGS__)}) / sizeof(la_value)), \
    (const la_value[]){LA_MAP(__VA_ARGS__)})
#define G la_x_grad(x, 0)
#define GR(k) la_x_grad(x, k)
#define A(k) la_x_arg(x, k)
#define RES(k) la_x_result(x, k)
#define VAL(k) la_x_value(x, k)
#define C(t) la_x_conj(x, t)
#define SIZES(k) la_x_sizes(x, k)
#define SAVE(k) (1u << (k))
#define SAVE_R(k) (1u << (16 + (k)))

#endif
